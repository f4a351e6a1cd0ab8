"""Sends ROS 2 messages over zenoh to nodes with rmw_zenoh. ros/rmw_zenoh.py forms the names.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import time
from typing import Any, Dict, List, Mapping, Sequence, Set, Tuple

from stixel._zenoh_session import package, sentence

from ..fail import SinkError
from ..ros import graph, rmw_zenoh, session, topics
from ..sink import Instance

HEARTBEAT_S = 0.5  # heartbeat of the cache for late subscribers; value of rmw_zenoh


class _Publisher:
    """A publisher of one topic."""

    def __init__(self, publisher: Any, gid: bytes) -> None:
        self._publisher = publisher
        self._gid = gid
        self._number = 0

    def put(self, cdr: bytes) -> None:
        self._number += 1
        self._publisher.put(cdr, attachment=rmw_zenoh.attachment(self._number, time.time_ns(), self._gid))


class Sink(graph.RosSink):
    """Publishes each topic with a zenoh publisher and a token. Tokens of subscriptions show which topics are wanted.

    A zenoh subscriber that is no ROS node has no token. It gets the small topics. Images are made for ROS nodes only,
    so that a recorder of all keys does not keep them running.
    """

    OPTIONS = [
        *graph.OPTIONS,
        *session.OPTIONS,
        *topics.OPTIONS,
    ]
    PACKAGES = ("zenoh", "rosbags", "xxhash")
    HELP = "ROS 2 over zenoh: LaserScan, PointCloud2 and others for nodes with rmw_zenoh"

    def __init__(self, name: str, options: Mapping[str, Any], host: str, instances: Sequence[Instance]) -> None:
        super().__init__(name, options, host, instances)
        self._session = session.RosSession(options)
        self._kept: List[Any] = []  # tokens and subscriptions, which end when these objects are deleted
        self._publishers: Dict[str, _Publisher] = {}
        self._for_all: Dict[str, Any] = {}  # zenoh publishers that also serve subscribers without a token
        self._tokens = session.Tokens()  # tokens of subscriptions
        self._keys: Dict[str, Tuple[str, str]] = {}  # type and hash, by an offer's name
        self._figures: Dict[str, float] = {}

    def connect(self) -> None:
        self._session.open(self._declare)

    def _declare(self) -> None:
        opened, options = self._session.zenoh, self.options
        node = rmw_zenoh.Node(options["domain"], str(opened.info.zid()), options["namespace"], options["node"])
        liveliness = opened.liveliness()
        self._kept.append(liveliness.declare_token(node.token()))
        for entity, offer in enumerate(self.offers(), 1):
            kind = offer.topic.type
            type_hash = graph.hash_of(kind, options["distro"])
            self._keys[offer.name] = graph.dds_type(kind), type_hash
            token = node.publisher(entity, offer.name, offer.topic, type_hash)
            made = _publisher(opened, rmw_zenoh.key(node.domain, offer.name, kind, type_hash), offer.topic)
            self._publishers[offer.name] = _Publisher(made, rmw_zenoh.gid(token))
            if offer.topic.name not in topics.DEMAND and not offer.topic.transient_local:
                self._for_all[offer.name] = made
            self._kept += [made, liveliness.declare_token(token)]
        self._kept.append(self._tokens.watch(liveliness, node.domain, rmw_zenoh.SUBSCRIPTION))

    def look(self) -> Set[str]:
        neighbours = self._session.neighbours()
        tokens = [seen for seen in self._tokens.seen() if seen.name in self._keys]
        ours = [seen for seen in tokens if self._keys[seen.name] == (seen.type, seen.hash)]
        self._figures = {"neighbours": neighbours, "subscriptions": len(ours),
                         "subscriptions_of_other_types": len(tokens) - len(ours)}
        plain = {name for name, publisher in self._for_all.items() if publisher.matching_status.matching}
        return plain | {seen.name for seen in ours}

    def publish(self, name: str, cdr: bytes) -> int:
        try:
            self._publishers[name].put(cdr)
        except package().ZError as e:
            raise SinkError("a message of %s was not taken: %s" % (name, sentence(e))) from None
        return len(cdr)

    def figures(self) -> Dict[str, float]:
        return {**super().figures(), **self._figures}

    def close(self) -> None:
        self.forget()
        self._kept, self._publishers, self._for_all, self._keys, self._figures = [], {}, {}, {}, {}
        self._session.close()
        self._tokens.clear()


def _publisher(opened: Any, key: str, topic: topics.Topic) -> Any:
    """Declares a publisher like rmw_zenoh's, which never waits.

    If the topic is transient_local, the publisher keeps the last messages for late subscribers.
    """
    import zenoh
    from zenoh import ext
    more: Dict[str, Any] = {
        "congestion_control": zenoh.CongestionControl.DROP,
        "reliability": zenoh.Reliability.RELIABLE if topic.reliable else zenoh.Reliability.BEST_EFFORT,
    }
    if not topic.transient_local:
        return opened.declare_publisher(key, **more)
    if topic.reliable:
        more["sample_miss_detection"] = ext.MissDetectionConfig(heartbeat=None, sporadic_heartbeat=HEARTBEAT_S)
    return ext.declare_advanced_publisher(
        opened, key, cache=ext.CacheConfig(topic.depth), publisher_detection=True, **more)
