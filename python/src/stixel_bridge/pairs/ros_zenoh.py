"""Receives topics of ROS 2 nodes with rmw_zenoh.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Tuple

from ..options import Option
from ..ros import graph, rmw_zenoh, session
from ..ros.topics import Topic
from . import topics

NODE = "stixel_pairs"


class Input(topics.Input):
    """Subscribes to each topic, and announces a node with the subscriptions."""

    OPTIONS = [
        *(option._replace(default=NODE) if option.name == "node" else option
          for option in graph.OPTIONS if option.name != "namespace"),
        Option("namespace", "text", "", "namespace of the node, such as /robot1; topics are given as whole names"),
        *session.OPTIONS,
    ]
    PACKAGES = ("zenoh", "rosbags")
    HELP = "topics of nodes with rmw_zenoh"

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        super().__init__(name, options)
        graph.check_node(options)
        self._session = session.RosSession(options)
        self._kept: List[Any] = []  # tokens and subscriptions, which end when these objects are deleted
        self._tokens = session.Tokens()  # tokens of publishers
        self._types: Dict[str, Tuple[str, str]] = {}  # type and hash, by topic
        self._figures: Dict[str, float] = {}

    def open(self, put: Callable[[str, bytes], None]) -> None:
        self._session.open(lambda: self._declare(put))

    def _declare(self, put: Callable[[str, bytes], None]) -> None:
        opened, options = self._session.zenoh, self.options
        node = rmw_zenoh.Node(options["domain"], str(opened.info.zid()), options["namespace"], options["node"])
        liveliness = opened.liveliness()
        self._kept.append(liveliness.declare_token(node.token()))
        for entity, (name, kind) in enumerate(self.topics().items(), 1):
            type_hash = graph.hash_of(kind, options["distro"])
            self._types[name] = graph.dds_type(kind), type_hash
            key = rmw_zenoh.key(node.domain, name, kind, type_hash)
            self._kept.append(opened.declare_subscriber(key, _receiver(put, name)))
            token = node.subscription(entity, name, Topic(name, kind, False, False, 5), type_hash)
            self._kept.append(liveliness.declare_token(token))
        self._kept.append(self._tokens.watch(liveliness, node.domain, rmw_zenoh.PUBLISHER))

    def look(self) -> None:
        neighbours = self._session.neighbours()
        found = [seen for seen in self._tokens.seen() if seen.name in self._types]
        ours = [seen for seen in found if self._types[seen.name] == (seen.type, seen.hash)]
        self._figures = {"neighbours": float(neighbours), "publishers": float(len(ours)),
                         "publishers_of_other_types": float(len(found) - len(ours))}

    def figures(self) -> Dict[str, float]:
        return self._figures

    def close(self) -> None:
        self._kept, self._types, self._figures = [], {}, {}
        self._session.close()
        self._tokens.clear()


def _receiver(put: Callable[[str, bytes], None], name: str) -> Callable[[Any], None]:
    return lambda sample: put(name, bytes(sample.payload))
