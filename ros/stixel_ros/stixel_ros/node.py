"""The node stixel: reads instances of stixeld and publishes the same bytes as the ROS 2 sinks of stixel-bridge.

stixel_bridge.ros makes serialised messages, and the node publishes them unchanged, since rclpy takes bytes. Messages
without a subscriber are not made, and images without a subscriber are not requested.

Parameters, read once: instances (a list of names), all of stixel_bridge.ros.topics.OPTIONS, and the place of each
camera as INSTANCE.x_m and the other options of stixel_bridge.config.INSTANCE.

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
    """Returns the quality of service of a topic."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST, depth=topic.depth,
        reliability=ReliabilityPolicy.RELIABLE if topic.reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if topic.transient_local else DurabilityPolicy.VOLATILE)


def message_class(kind: str) -> Optional[Any]:
    """Returns the class of "PACKAGE/msg/NAME"; None: the package is not installed."""
    package, _, name = kind.split("/")
    try:
        return getattr(importlib.import_module(package + ".msg"), name)
    except (ImportError, AttributeError):
        return None


def text_of(value: Any) -> str:
    """Returns the value of a parameter in the form of a configuration file of stixel-bridge."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(str(word) for word in value)
    return str(value)


class Publishers:
    """The publishers of the node.

    The thread of each instance (stixel_bridge.instances.Source) calls images() and put().
    """

    def __init__(self, node: Node, options: Mapping[str, Any], instances: Sequence[Instance],
                 say: Callable[[str], None]) -> None:
        self.counts = {instance.name: None for instance in instances}  # names of the instances for Reports
        self._options = options
        self._instances = list(instances)
        self._publishers: Dict[str, Any] = {}
        missing: Set[str] = set()
        for instance in instances:
            for topic in topics.topics(options, instance):
                name = topics.full_name(topic, instance)
                if name in self._publishers:  # topics at the root have one publisher for all instances
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
        except Exception:  # the context was shut down while a frame came
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
        except Exception:  # the context was shut down meanwhile
            if rclpy.ok():
                raise
            return 0

    def begin(self) -> None:
        """Publishes the messages that are sent once."""
        for message in topics.of_instances(self._instances, self._options):
            self._publish(message, self._instances[0])

    def images(self, instance: Instance) -> FrozenSet[str]:
        """Returns the images that the daemon has to send."""
        return topics.planes(self._wanted(instance))

    def put(self, work: Work) -> None:
        """Publishes a frame."""
        for message in topics.of_frame(work, self._options, self._wanted(work.instance)):
            self._publish(message, work.instance)

    def report(self, report: Report) -> None:
        """Publishes the state of an instance."""
        for message in topics.of_report(report, self._options):
            self._publish(message, report.instance)


class StixelNode(Node):
    """The node. Fail: a parameter has an invalid value."""

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
        """Starts publishing."""
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
    """Runs the program stixel_node."""
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
