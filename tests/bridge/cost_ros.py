# Cost of the sinks of ROS 2: cost.py with receivers for the keys of rmw_zenoh and for DDS. Both subscribe at least to
# "stixels", the only message that says when its frame was published.
# SPDX-License-Identifier: Apache-2.0
import json
import threading

import cost  # sets the paths

from stixel_bridge.ros import rmw_zenoh, store, topics

DOMAIN = 77
BY_NAME = {topic.name: topic for topic in topics.topics({option.name: option.default for option in topics.OPTIONS})}
NAV = ["scan", "obstacles", "ground", "stixels", "/tf"]  # the topics that nav2 uses, and the frame


class Raw(bytes):
    """A sample that is not decoded, because decoding is no cost of the bridge."""


class Receiver:
    """Receiver of these topics. Subclasses deliver their messages."""

    def __init__(self, names):
        self.topics = [BY_NAME[name] for name in names]
        self.ended = threading.Event()
        self._before = 0  # bytes of a frame that arrived before its stixels

    def name(self, topic):
        return topic.name if topic.name.startswith("/") else "/%s/%s" % (cost.INSTANCE, topic.name)

    def took(self, topic, cdr, got):
        self._before += len(cdr)
        if topic.type == store.STIXEL_FRAME:
            made = store.decode(topic.type, cdr)
            stamp = made.header.stamp
            got(self._before, stamp.sec * 10**9 + stamp.nanosec + round(float(made.latency) * 1e9))
            self._before = 0

    def stop(self):
        self.ended.set()


class Zenoh(Receiver):
    def __init__(self, names):
        super().__init__(names)
        self.endpoint = "tcp/127.0.0.1:%d" % cost.free_port()

    def config(self):
        return "kind = ros-zenoh\ndomain = %d\nconnect = %s\n" % (DOMAIN, self.endpoint)

    def receive(self, got):
        import zenoh
        config = zenoh.Config()
        for key, value in (("mode", "router"), ("listen/endpoints", [self.endpoint]),
                           ("scouting/multicast/enabled", False)):
            config.insert_json5(key, json.dumps(value))
        with zenoh.open(config) as session:
            node = rmw_zenoh.Node(DOMAIN, str(session.info.zid()), "", "cost")
            kept = []
            for n, topic in enumerate(self.topics, 1):
                name, type_hash = self.name(topic), topics.type_hash(topic.type)
                token = node.publisher(n, name, topic, type_hash).replace("/MP/", "/MS/")
                kept.append(session.liveliness().declare_token(token))
                kept.append(session.declare_subscriber(
                    rmw_zenoh.key(DOMAIN, name, topic.type, type_hash),
                    lambda sample, topic=topic: self.took(topic, bytes(sample.payload), got)))
            self.ended.wait()


class Dds(Receiver):
    def config(self):
        return "kind = ros-dds\ndomain = %d\n" % DOMAIN

    def receive(self, got):
        from cyclonedds.core import Policy, Qos, ReadCondition, SampleState, InstanceState, ViewState, WaitSet
        from cyclonedds.domain import Domain, DomainParticipant
        from cyclonedds.sub import DataReader
        from cyclonedds.topic import Topic

        from stixel_bridge.ros import dds_raw
        from stixel_bridge.ros import domain as ros_domain
        from stixel_bridge.sinks import ros_dds
        options = {option.name: option.default for option in ros_dds.Sink.OPTIONS}
        domain = Domain(DOMAIN, ros_domain.configuration(dict(options, domain=DOMAIN)))
        participant = DomainParticipant(DOMAIN)
        types, readers, wait = {}, [], WaitSet(participant)
        for topic in self.topics:
            kind = dds_raw.struct(topic.type, topics.definition, types)
            kind.deserialize = lambda data, **more: Raw(data)
            qos = Qos(Policy.Reliability.BestEffort, Policy.History.KeepLast(10),
                      Policy.DataRepresentation(use_cdrv0_representation=True))
            reader = DataReader(participant, Topic(participant, "rt" + self.name(topic), kind), qos)
            wait.attach(ReadCondition(reader, SampleState.Any | InstanceState.Any | ViewState.Any))
            readers.append((topic, reader))
        while not self.ended.is_set():
            wait.wait(50_000_000)
            for topic, reader in readers:
                for data in reader.take(10):
                    self.took(topic, data, got)
        del domain


cost.KINDS.clear()
for _kind, _class in (("ros-zenoh", Zenoh), ("ros-dds", Dds)):
    cost.KINDS[_kind + " stixels"] = lambda made=_class: made(["stixels"])
    cost.KINDS[_kind + " nav"] = lambda made=_class: made(NAV)
    cost.KINDS[_kind + " nav, markers"] = lambda made=_class: made([*NAV, "markers"])
    cost.KINDS[_kind + " nav, image"] = lambda made=_class: made([*NAV, "left/image_rect"])

if __name__ == "__main__":
    cost.main()
