"""The node stixel: reads instances of stixeld and publishes what sinks of stixel-bridge send to ROS 2, byte for byte.

The messages are made, serialised, by stixel_bridge.ros, and published as they are: rclpy takes bytes. A message that
nobody subscribes to is not made, and an image that nobody wants is not asked for.

Parameters: instances, a list of names; those of stixel_bridge.ros.topics.OPTIONS; and where each camera is, as
INSTANCE.x_m and the others of stixel_bridge.config.INSTANCE. They are read once.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import importlib
import sys
from typing import Any, Callable, Dict, FrozenSet, List, Mapping, Optional, Sequence, Set

import rclpy
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from stixel_bridge.config import INSTANCE
from stixel_bridge.fail import CONFIG, UNAVAILABLE, Fail
from stixel_bridge.instances import Reports, Source
from stixel_bridge.options import Option, parse, shown
from stixel_bridge.ros import topics
from stixel_bridge.sink import Instance, Report, Work

INSTANCES = Option("instances", "list", ["front"], "instances of stixeld that it reads")
STOP_S = 2.0


def quality(topic: topics.Topic) -> QoSProfile:
    """The quality of service that a topic is offered with."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST, depth=topic.depth,
        reliability=ReliabilityPolicy.RELIABLE if topic.reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if topic.transient_local else DurabilityPolicy.VOLATILE)


def message_class(kind: str) -> Optional[Any]:
    """Of "PACKAGE/msg/NAME"; None: the package is not there."""
    package, _, name = kind.split("/")
    try:
        return getattr(importlib.import_module(package + ".msg"), name)
    except (ImportError, AttributeError):
        return None


def text_of(value: Any) -> str:
    """The value of a parameter as it stands in a configuration file of stixel-bridge."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(str(word) for word in value)
    return str(value)


class Publishers:
    """All publishers. Threads of instances call what Source of stixel_bridge.instances calls: images() and put()."""

    def __init__(self, node: Node, options: Mapping[str, Any], instances: Sequence[Instance],
                 say: Callable[[str], None]) -> None:
        self.counts = {instance.name: None for instance in instances}  # whom Reports tells about
        self._options = options
        self._instances = list(instances)
        self._publishers: Dict[str, Any] = {}
        missing: Set[str] = set()
        for instance in instances:
            for topic in topics.topics(options, instance):
                name = topics.full_name(topic, instance)
                if name in self._publishers:  # one for all instances at the root
                    continue
                kind = message_class(topic.type)
                if kind:
                    self._publishers[name] = node.create_publisher(kind, name, quality(topic))
                else:
                    missing.add(name)
        for name in sorted(missing):
            say("topic %s is not published: the ROS package of its messages is not there" % name)
        if not self._publishers:
            raise Fail(UNAVAILABLE, "no topic can be published: no ROS package of messages is there")

    def _publish(self, message: topics.Message, instance: Instance) -> None:
        publisher = self._publishers.get(topics.full_name(message.topic, instance))
        if not publisher:
            return
        try:
            publisher.publish(message.cdr)
        except Exception:  # of a publisher whose context was shut down while a frame came
            if rclpy.ok():
                raise

    def _wanted(self, instance: Instance) -> FrozenSet[str]:
        return frozenset(
            topic.name for topic in topics.topics(self._options, instance)
            if self._subscriptions(topics.full_name(topic, instance)) > 0)

    def _subscriptions(self, name: str) -> int:
        publisher = self._publishers.get(name)
        try:
            return publisher.get_subscription_count() if publisher else 0
        except Exception:  # as of publish()
            if rclpy.ok():
                raise
            return 0

    def begin(self) -> None:
        """What is published once."""
        for message in topics.of_instances(self._instances, self._options):
            self._publish(message, self._instances[0])

    def images(self, instance: Instance) -> FrozenSet[str]:
        """Which images the daemon has to give."""
        return topics.planes(self._wanted(instance))

    def put(self, work: Work) -> None:
        """Publishes a frame."""
        for message in topics.of_frame(work, self._options, self._wanted(work.instance)):
            self._publish(message, work.instance)

    def report(self, report: Report) -> None:
        """Publishes how an instance is."""
        for message in topics.of_report(report, self._options):
            self._publish(message, report.instance)


class StixelNode(Node):
    """The node. Fail: a parameter that cannot be used."""

    def __init__(self) -> None:
        super().__init__("stixel")
        names = self._value("", INSTANCES)
        if not names:
            raise Fail(CONFIG, "parameter instances: names no instance")
        options = {option.name: self._value("", option) for option in topics.OPTIONS}
        instances = [Instance(name, {option.name: self._value(name + ".", option) for option in INSTANCE})
                     for name in names]
        topics.check(options, instances)
        self._all = Publishers(self, options, instances, self._say)
        runners: List[Any] = [self._all]
        self._sources = [Source(instance, runners, self._say) for instance in instances]
        self._reports = [Reports(source, runners, self._say) for source in self._sources]

    def _value(self, prefix: str, option: Option) -> Any:
        name = prefix + option.name
        value = self.declare_parameter(
            name, option.default, ParameterDescriptor(description=option.help, dynamic_typing=True)).value
        if value is None or value == option.default:
            return option.default
        try:
            return parse(option, text_of(value))
        except ValueError as e:
            raise Fail(CONFIG, "parameter %s: %s (default: %s)" % (
                name, e, shown(option, option.default) or "none")) from None

    def _say(self, text: str) -> None:
        self.get_logger().warning(text)

    def start(self) -> None:
        """Begins to publish."""
        self._all.begin()
        for thread in (*self._sources, *self._reports):
            thread.start()

    def stop(self) -> None:
        """Ends all threads."""
        for thread in (*self._sources, *self._reports):
            thread.stop()
        for thread in (*self._sources, *self._reports):
            thread.join(STOP_S)


def main(args: Optional[List[str]] = None) -> None:
    """The program stixel_node."""
    rclpy.init(args=args)
    try:
        node = StixelNode()
    except Fail as e:
        rclpy.shutdown()
        print("stixel_node: %s" % e, file=sys.stderr)
        sys.exit(e.code)
    node.start()
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        node.stop()
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
