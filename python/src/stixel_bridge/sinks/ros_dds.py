"""Sends ROS 2 messages over DDS to nodes with rmw_cyclonedds or rmw_fastrtps: topics rt/..., written with Cyclone DDS.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, Tuple

from ..fail import SinkError, sentence
from ..ros import domain, graph, topics
from ..sink import Instance
from ..ros.dds_raw import Fields, Types, Writer

BLOCK_NS = 20_000_000  # longest time that a write waits for slow readers
GRAPH = "rmw_dds_common/msg/ParticipantEntitiesInfo"
GRAPH_TOPIC = topics.Topic("ros_discovery_info", GRAPH, True, True, 1)


class Sink(graph.RosSink):
    """Writes each topic with one DDS writer. The matched readers show which topics are wanted."""

    OPTIONS = [
        *graph.OPTIONS,
        *domain.OPTIONS,
        *topics.OPTIONS,
    ]
    PACKAGES = ("cyclonedds", "rosbags")
    HELP = "ROS 2 over DDS: LaserScan, PointCloud2 and others for nodes with rmw_cyclonedds or rmw_fastrtps"

    def __init__(self, name: str, options: Mapping[str, Any], host: str, instances: Sequence[Instance]) -> None:
        super().__init__(name, options, host, instances)
        self._domain: Any = None
        self._participant: Any = None
        self._types = Types(self._fields)
        self._writers: Dict[str, Writer] = {}
        self._graph: Optional[Writer] = None
        self._full = 0  # messages not written, because readers are slow
        self._figures: Dict[str, float] = {}

    def exclusive(self) -> str:
        return "domain %d of DDS" % self.options["domain"]

    def connect(self) -> None:
        from cyclonedds.core import DDSException, Policy
        self._domain = domain.Participant(self.options, True, Policy.Userdata(b"enclave=/;"))
        self._participant = self._domain.entity
        try:
            self._declare()
        except DDSException as e:
            raise SinkError("domain %d of DDS: %s" % (self.options["domain"], sentence(e))) from None

    def _fields(self, kind: str) -> Fields:
        return _graph_fields(kind, self.options["distro"]) if kind.startswith("rmw_dds_common/") else \
            topics.definition(kind)

    def _declare(self) -> None:
        for offer in self.offers():
            topic = self._types.topic(self._participant, "rt" + offer.name, offer.topic.type)
            self._writers[offer.name] = Writer(self._participant, topic, _qos(offer.topic, self.options["distro"]))
        topic = self._types.topic(self._participant, GRAPH_TOPIC.name, GRAPH)
        self._graph = Writer(self._participant, topic, _qos(GRAPH_TOPIC, "humble"))
        self._graph.write(self._node())

    def _node(self) -> bytes:
        """Makes the message from which nodes learn which node owns these writers."""
        gid, node, participant = (self._types.struct("rmw_dds_common/msg/" + name) for name in (
            "Gid", "NodeEntitiesInfo", "ParticipantEntitiesInfo"))
        size = _gid_bytes(self.options["distro"])

        def of(entity: Any) -> Any:
            return gid(list(entity.guid.bytes.ljust(size, b"\0")))
        mine = node(self.options["namespace"] or "/", self.options["node"], [], [
            of(writer.writer) for writer in self._writers.values()])
        return bytes(participant(of(self._participant), [mine]).serialize(use_version_2=False))

    def look(self) -> Set[str]:
        readers = {name: writer.readers() for name, writer in self._writers.items()}
        self._figures = {"subscriptions": float(sum(readers.values())), "messages_full": float(self._full),
                         "subscriptions_refused": float(sum(w.refused() for w in self._writers.values()))}
        return {name for name, count in readers.items() if count}

    def publish(self, name: str, cdr: bytes) -> int:
        from cyclonedds.core import DDSException
        try:
            self._writers[name].write(cdr)
        except DDSException as e:
            if e.code != DDSException.DDS_RETCODE_TIMEOUT:
                raise SinkError("a message of %s was not written: %s" % (name, sentence(e))) from None
            self._full += 1
            return 0
        return len(cdr)

    def figures(self) -> Dict[str, float]:
        return {**super().figures(), **self._figures}

    def close(self) -> None:
        self.forget()
        self._figures = {}
        self._writers, self._graph, self._participant = {}, None, None
        if self._domain is not None:
            self._domain.close()
        self._domain = None


def _qos(topic: topics.Topic, distro: str) -> Any:
    """Returns the QoS of rmw_cyclonedds, except that a write waits only a moment for slow readers."""
    from cyclonedds.core import Policy, Qos
    history = Policy.History.KeepLast(topic.depth)
    policies: List[Any] = [
        Policy.Reliability.Reliable(BLOCK_NS) if topic.reliable else Policy.Reliability.BestEffort,
        Policy.Durability.TransientLocal if topic.transient_local else Policy.Durability.Volatile,
        history,
        Policy.DataRepresentation(use_cdrv0_representation=True),  # the only one that ROS knows
        Policy.WriterDataLifecycle(autodispose=False),
    ]
    if topic.transient_local:
        policies.append(Policy.DurabilityService(0, history, -1, -1, -1))
    if distro != "humble":
        policies.append(Policy.Userdata(("typehash=%s;" % topics.type_hash(topic.type)).encode()))
    return Qos(*policies)


def _gid_bytes(distro: str) -> int:
    """Returns the bytes of a gid. Humble has more room than DDS needs."""
    return 24 if distro == "humble" else 16


def _graph_fields(kind: str, distro: str) -> List[Tuple[str, Any]]:
    """Returns the fields of the node graph's types (rmw_dds_common). Only Humble's store has Humble's form of them."""
    from rosbags.interfaces import Nodetype as N
    gids = N.SEQUENCE, ((N.NAME, "rmw_dds_common/msg/Gid"), 0)
    name = N.BASE, ("string", 256)
    fields: Dict[str, List[Tuple[str, Any]]] = {
        "Gid": [("data", (N.ARRAY, ((N.BASE, ("uint8", 0)), _gid_bytes(distro))))],
        "NodeEntitiesInfo": [("node_namespace", name), ("node_name", name), ("reader_gid_seq", gids),
                             ("writer_gid_seq", gids)],
        "ParticipantEntitiesInfo": [("gid", (N.NAME, "rmw_dds_common/msg/Gid")), ("node_entities_info_seq", (
            N.SEQUENCE, ((N.NAME, "rmw_dds_common/msg/NodeEntitiesInfo"), 0)))],
    }
    return fields[kind.rpartition("/")[2]]
