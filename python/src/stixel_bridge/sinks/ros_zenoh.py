"""ROS 2 over zenoh, to nodes that use rmw_zenoh. How it names things is in ros/rmw_zenoh.py.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import json
import threading
import time
from typing import Any, Dict, List, Mapping, Sequence, Set, Tuple

from ..fail import CONFIG, Fail, SinkError, sentence
from ..options import Option
from ..ros import graph, rmw_zenoh, topics
from ..sink import Instance

ROUTER = ["tcp/localhost:7447"]  # where rmw_zenohd listens
LOCAL = ["tcp/localhost:0"]
REACH_S = 5.0  # open() waits so long for a router or a peer
HEARTBEAT_S = 0.5  # of what later ones get, as rmw_zenoh has it


class _Publisher:
    """Of one topic."""

    def __init__(self, publisher: Any, gid: bytes) -> None:
        self._publisher = publisher
        self._gid = gid
        self._number = 0

    def put(self, cdr: bytes) -> None:
        self._number += 1
        self._publisher.put(cdr, attachment=rmw_zenoh.attachment(self._number, time.time_ns(), self._gid))


class Sink(graph.RosSink):
    """Each topic is a publisher of zenoh and a token; tokens of subscriptions say who wants what.

    A zenoh subscriber that is no ROS node has no token: it gets what is small. Images are made for nodes alone, so that
    a recorder of everything does not keep them running.
    """

    OPTIONS = [
        *graph.OPTIONS,
        Option("mode", "choice", "peer", "peer: nodes of this machine connect directly; client: all goes over the "
               "router", choices=("peer", "client")),
        Option("connect", "list", None, "endpoints of routers or peers; without: tcp/localhost:7447, the router of "
               "this machine"),
        Option("listen", "list", None, "endpoints for peers; without: tcp/localhost:0, any port of loopback"),
        Option("configuration", "file", None, "zenoh's own configuration (JSON5), for TLS and users; mode, connect and "
               "listen of this section go over it where they are given"),
        *topics.OPTIONS,
    ]
    PACKAGES = ("zenoh", "rosbags", "xxhash")
    NEEDS = "ros"
    HELP = "ROS 2 over zenoh: LaserScan, PointCloud2 and others for nodes with rmw_zenoh"

    def __init__(self, name: str, options: Mapping[str, Any], host: str, instances: Sequence[Instance]) -> None:
        super().__init__(name, options, host, instances)
        if options["mode"] == "client" and options["listen"]:
            raise Fail(CONFIG, "listen: a client of zenoh cannot listen; say mode = peer")
        self._session: Any = None
        self._leads = False  # there is an endpoint to go to
        self._kept: List[Any] = []  # tokens and subscriptions, which end with their objects
        self._publishers: Dict[str, _Publisher] = {}
        self._for_all: Dict[str, Any] = {}  # zenoh's publishers of what goes to subscribers without a token too
        self._lock = threading.Lock()
        self._tokens: Dict[str, rmw_zenoh.Seen] = {}  # of subscriptions, by zenoh's threads
        self._keys: Dict[str, Tuple[str, str]] = {}  # by an offer's name: its type and hash
        self._figures: Dict[str, float] = {}

    def _config(self) -> Any:
        import zenoh
        options, path = self.options, self.options["configuration"]
        try:
            config = zenoh.Config.from_file(path) if path else zenoh.Config()
            given: Dict[str, Any] = {"mode": options["mode"], "timestamping/enabled": True}
            if not path:
                given["scouting/multicast/enabled"] = False
                given["transport/shared_memory/enabled"] = False
            if options["connect"] is not None or not path:
                given["connect/endpoints"] = ROUTER if options["connect"] is None else options["connect"]
            if options["mode"] == "peer" and (options["listen"] is not None or not path):
                given["listen/endpoints"] = options["listen"] or LOCAL
            for key, value in given.items():
                config.insert_json5(key, json.dumps(value))
            return config
        except zenoh.ZError as e:
            raise SinkError("the configuration %sis refused: %s" % (path + " " if path else "", sentence(e))) from None

    def connect(self) -> None:
        import zenoh
        config = self._config()
        endpoints = json.loads(config.get_json("connect/endpoints"))
        try:
            self._session = zenoh.open(config)
            self._reach(endpoints)
            self._declare()
        except zenoh.ZError as e:
            raise SinkError("zenoh at %s: %s" % (_words(endpoints), sentence(e))) from None

    def _reach(self, endpoints: Any) -> None:
        """Waits for the first router or peer, where there is one to go to."""
        end = time.monotonic() + REACH_S
        while endpoints and not self._neighbours():
            if time.monotonic() > end:
                raise SinkError("nobody answers at %s: is the router there (ros2 run rmw_zenoh_cpp rmw_zenohd)?" %
                                _words(endpoints))
            time.sleep(0.02)
        self._leads = bool(endpoints)

    def _neighbours(self) -> int:
        info = self._session.info
        return len(info.routers_zid()) + len(info.peers_zid())

    def _declare(self) -> None:
        session, options = self._session, self.options
        node = rmw_zenoh.Node(options["domain"], str(session.info.zid()), options["namespace"], options["node"])
        liveliness = session.liveliness()
        self._kept.append(liveliness.declare_token(node.token()))
        for entity, offer in enumerate(self.offers(), 1):
            kind = offer.topic.type
            type_hash = graph.hash_of(kind, options["distro"])
            self._keys[offer.name] = graph.dds_type(kind), type_hash
            token = node.publisher(entity, offer.name, offer.topic, type_hash)
            made = _publisher(session, rmw_zenoh.key(node.domain, offer.name, kind, type_hash), offer.topic)
            self._publishers[offer.name] = _Publisher(made, rmw_zenoh.gid(token))
            if offer.topic.name not in topics.DEMAND and not offer.topic.transient_local:
                self._for_all[offer.name] = made
            self._kept += [made, liveliness.declare_token(token)]
        everyone = "%s/%d/*/*/*/%s/**" % (rmw_zenoh.SPACE, node.domain, rmw_zenoh.SUBSCRIPTION)
        self._kept.append(liveliness.declare_subscriber(everyone, self._heard, history=True))

    def _heard(self, sample: Any) -> None:
        """A token that comes or goes. From a thread of zenoh."""
        import zenoh
        token = str(sample.key_expr)
        seen = rmw_zenoh.of_token(token)
        with self._lock:
            if sample.kind == zenoh.SampleKind.DELETE:
                self._tokens.pop(token, None)
            elif seen is not None:
                self._tokens[token] = seen

    def look(self) -> Set[str]:
        neighbours = self._neighbours()
        if self._leads and not neighbours:
            raise SinkError("the connection to the last router or peer is lost")
        with self._lock:
            tokens = [seen for seen in self._tokens.values() if seen.name in self._keys]
        ours = [seen for seen in tokens if self._keys[seen.name] == (seen.type, seen.hash)]
        self._figures = {"neighbours": neighbours, "subscriptions": len(ours),
                         "subscriptions_of_other_types": len(tokens) - len(ours)}
        plain = {name for name, publisher in self._for_all.items() if publisher.matching_status.matching}
        return plain | {seen.name for seen in ours}

    def publish(self, name: str, cdr: bytes) -> int:
        import zenoh
        try:
            self._publishers[name].put(cdr)
        except zenoh.ZError as e:
            raise SinkError("a message of %s was not taken: %s" % (name, sentence(e))) from None
        return len(cdr)

    def figures(self) -> Dict[str, float]:
        return {**super().figures(), **self._figures}

    def close(self) -> None:
        self.forget()
        session, self._session = self._session, None
        self._kept, self._publishers, self._for_all, self._keys, self._figures = [], {}, {}, {}, {}
        if session is not None:
            session.close()
        with self._lock:
            self._tokens.clear()


def _words(endpoints: Any) -> str:
    return ", ".join(endpoints) if isinstance(endpoints, list) else json.dumps(endpoints)


def _publisher(session: Any, key: str, topic: topics.Topic) -> Any:
    """A publisher as rmw_zenoh makes it: never waits; keeps the last ones for those who come later, if so asked."""
    import zenoh
    from zenoh import ext
    more: Dict[str, Any] = {
        "congestion_control": zenoh.CongestionControl.DROP,
        "reliability": zenoh.Reliability.RELIABLE if topic.reliable else zenoh.Reliability.BEST_EFFORT,
    }
    if not topic.transient_local:
        return session.declare_publisher(key, **more)
    if topic.reliable:
        more["sample_miss_detection"] = ext.MissDetectionConfig(heartbeat=None, sporadic_heartbeat=HEARTBEAT_S)
    return ext.declare_advanced_publisher(
        session, key, cache=ext.CacheConfig(topic.depth), publisher_detection=True, **more)
