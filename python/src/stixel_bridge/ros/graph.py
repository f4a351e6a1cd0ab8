"""Common part of the sinks of ROS 2, in class RosSink: nodes, names of topics and types, and subscriptions.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import re
import time
from typing import Any, Dict, FrozenSet, List, Mapping, NamedTuple, Sequence, Set

from ..fail import CONFIG, Fail
from ..options import Option
from ..sink import Instance, Report, Sink, Work
from . import topics
from .topics import Topic

DISTROS = ("humble", "jazzy", "kilted")
LOOK_S = 0.1  # shortest time between two checks of the subscriptions, s

OPTIONS: Sequence[Option] = [
    Option("domain", "integer", 0, "ROS_DOMAIN_ID of the nodes", 0, 232),
    Option("distro", "choice", "jazzy", "release of ROS 2 of the nodes", choices=DISTROS),
    Option("node", "text", "stixel_bridge", "node name of the bridge: letters, digits and _"),
    Option("namespace", "text", "", "namespace of the node and of all topics except those at the root, such as "
           "/robot1"),
]
_NODE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
_NAMESPACE = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]{0,63}){0,8}")


class Offer(NamedTuple):
    """A topic of an instance, or one at the root, that the bridge publishes."""

    name: str  #: fully qualified, with a leading slash
    topic: Topic


def dds_type(kind: str) -> str:
    """Returns a type's name in the form of the RMWs: "std_msgs/msg/String" is std_msgs::msg::dds_::String_."""
    *package, name = kind.split("/")
    return "::".join([*package, "dds_", name + "_"])


def hash_of(kind: str, distro: str) -> str:
    """Returns the hash of a type in the form of this ROS release."""
    return topics.HUMBLE_HASH if distro == "humble" else topics.type_hash(kind)


def check_node(options: Mapping[str, Any]) -> None:
    """Checks node and namespace. Raises Fail."""
    if not _NODE.fullmatch(options["node"]):
        raise Fail(CONFIG, "node = '%s' is no name of a node: letters, digits and _, no digit in front" %
                   options["node"])
    if not _NAMESPACE.fullmatch(options["namespace"]):
        raise Fail(CONFIG, "namespace = '%s' is none: /NAME or /NAME/NAME, each of letters, digits and _" %
                   options["namespace"])


class RosSink(Sink):
    """Base class of the sinks of ROS 2. A derived class adds the transport: connect(), look(), publish(), close()."""

    RIGS = True

    def __init__(self, name: str, options: Mapping[str, Any], host: str, instances: Sequence[Instance]) -> None:
        super().__init__(name, options, host, instances)
        topics.check(options, instances)
        check_node(options)
        self._wanted: Dict[str, FrozenSet[str]] = {}  # wanted topics by instance; replaced as a whole
        self._looked = 0.0
        self._failed = 0  # messages that could not be made

    # -- methods of the transport --
    def connect(self) -> None:
        """Connects, and announces the node and its publishers, one for each of offers(). Raises SinkError."""
        raise NotImplementedError

    def look(self) -> Set[str]:
        """Returns the names of the offers with a subscriber. SinkError: the connection is lost."""
        raise NotImplementedError

    def publish(self, name: str, cdr: bytes) -> int:
        """Sends a message of the offer with this name. Returns the number of bytes."""
        raise NotImplementedError

    # -- common methods --
    def full_name(self, topic: Topic, instance: Instance) -> str:
        """Returns a topic's name with namespaces and a leading slash."""
        name = topics.full_name(topic, instance)
        return name if topic.name.startswith("/") else self.options["namespace"] + name

    def offers(self) -> List[Offer]:
        """Returns all offered topics of the instances and at the root, each once."""
        found: Dict[str, Offer] = {}
        for instance in self.instances:
            for topic in topics.topics(self.options, instance):
                name = self.full_name(topic, instance)
                found.setdefault(name, Offer(name, topic))
        return list(found.values())

    def open(self) -> None:
        self.connect()
        self._look()
        offered = {offer.name for offer in self.offers()}
        for message in topics.of_instances(self.instances, self.options):
            if message.topic.name in offered:  # false if all instances are rigs
                self.publish(message.topic.name, message.cdr)

    def _look(self) -> None:
        """Updates the topics that have a subscriber. Checks at most every LOOK_S."""
        now = time.monotonic()
        if now - self._looked < LOOK_S:
            return
        names = self.look()
        self._looked = now
        self._wanted = {instance.name: frozenset(
            topic.name for topic in topics.topics(self.options, instance) if self.full_name(topic, instance) in names)
            for instance in self.instances}

    def forget(self) -> None:
        """Clears the subscriptions; called by close()."""
        self._wanted = {}
        self._looked = 0.0

    def send(self, work: Work) -> int:
        self._look()
        wanted = self._wanted.get(work.instance.name, frozenset())
        return sum(self.publish(self.full_name(message.topic, work.instance), message.cdr)
                   for message in topics.of_frame(work, self.options, wanted, self._count_failed))

    def _count_failed(self, error: Exception) -> None:
        self._failed += 1

    def report(self, report: Report) -> int:
        self._look()
        return sum(self.publish(self.full_name(message.topic, report.instance), message.cdr)
                   for message in topics.of_report(report, self.options))

    def images(self, instance: Instance) -> FrozenSet[str]:
        return topics.planes(self._wanted.get(instance.name, frozenset()))

    def figures(self) -> Dict[str, float]:
        return {"topics_wanted": float(sum(len(wanted) for wanted in self._wanted.values())),
                "messages_failed": float(self._failed)}
