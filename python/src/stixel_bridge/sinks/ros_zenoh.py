"""Sends ROS 2 messages over zenoh to nodes with rmw_zenoh. ros/rmw_zenoh.py forms the names.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import json
import threading
import time
from typing import Any, Dict, List, Mapping, Sequence, Set, Tuple

from stixel import NotRunning, StixelError
from stixel import _zenoh_session as session

from ..fail import CONFIG, Fail, SinkError
from ..options import Option, together
from ..ros import graph, rmw_zenoh, topics
from ..sink import Instance

ROUTER = ["tcp/localhost:7447"]  # address of rmw_zenohd
LOCAL = ["tcp/localhost:0"]
CONNECT_MS = 5000
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
        Option("mode", "choice", "peer", "peer: nodes of this machine connect directly; client: all data goes through "
               "the router", choices=("peer", "client")),
        Option("connect", "list", None, "endpoints of routers or peers; default: tcp/localhost:7447, the router of "
               "this machine"),
        Option("listen", "list", None, "endpoints for peers; default: tcp/localhost:0, any port of loopback"),
        Option("user", "text", None, "user name for its connections"),
        Option("password_file", "file", None, "file with the password of user; only its owner may read it"),
        Option("tls_ca", "file", None, "certificates of the authorities that sign the peers' certificates, PEM"),
        Option("tls_certificate", "file", None, "certificate of the bridge for its connections, PEM"),
        Option("tls_key", "file", None, "private key of tls_certificate, PEM"),
        Option("configuration", "file", None, "configuration file of zenoh (JSON5) for everything else, as the nodes "
               "have; the keys above override it"),
        *topics.OPTIONS,
    ]
    PACKAGES = ("zenoh", "rosbags", "xxhash")
    HELP = "ROS 2 over zenoh: LaserScan, PointCloud2 and others for nodes with rmw_zenoh"

    def __init__(self, name: str, options: Mapping[str, Any], host: str, instances: Sequence[Instance]) -> None:
        super().__init__(name, options, host, instances)
        if options["mode"] == "client" and options["listen"]:
            raise Fail(CONFIG, "listen: a client does not listen (mode = peer does)")
        together(options, ("user", "password_file"), ("tls_certificate", "tls_key"))
        self._session: Any = None
        self._leads = False  # there is an endpoint to connect to
        self._kept: List[Any] = []  # tokens and subscriptions, which end when these objects are deleted
        self._publishers: Dict[str, _Publisher] = {}
        self._for_all: Dict[str, Any] = {}  # zenoh publishers that also serve subscribers without a token
        self._lock = threading.Lock()
        self._tokens: Dict[str, rmw_zenoh.Seen] = {}  # tokens of subscriptions; zenoh's threads write them
        self._keys: Dict[str, Tuple[str, str]] = {}  # type and hash, by an offer's name
        self._figures: Dict[str, float] = {}

    def _values(self) -> Dict[str, Any]:
        """Returns the options by zenoh's own keys, and rmw_zenoh's defaults if there is no configuration file."""
        o, tls = self.options, "transport/link/tls/"
        bare = not o["configuration"]
        values: Dict[str, Any] = {
            "mode": o["mode"], "timestamping/enabled": True,
            "connect/endpoints": ROUTER if bare and o["connect"] is None else o["connect"],
            "connect/timeout_ms": CONNECT_MS, "connect/exit_on_failure": True,
            "listen/endpoints": LOCAL if bare and o["listen"] is None and o["mode"] == "peer" else o["listen"],
            "transport/auth/usrpwd/user": o["user"], tls + "root_ca_certificate": o["tls_ca"],
            tls + "connect_certificate": o["tls_certificate"], tls + "connect_private_key": o["tls_key"],
            tls + "enable_mtls": True if o["tls_certificate"] else None,
        }
        if o["password_file"]:
            values["transport/auth/usrpwd/password"] = session.secret(o["password_file"])
        if o["tls_key"]:
            session.secret(o["tls_key"])  # checks only that other users cannot read it
        return {key: value for key, value in values.items() if value is not None}

    def connect(self) -> None:
        try:
            config = session.configuration(self._values(), self.options["configuration"])
            self._leads = bool(json.loads(config.get_json("connect/endpoints")))
            self._session = session.opened(config)
            self._declare()
        except NotRunning as e:
            raise SinkError("%s: is the router there (ros2 run rmw_zenoh_cpp rmw_zenohd)?" % e) from None
        except (StixelError, ValueError) as e:
            raise SinkError(str(e)) from None
        except session.package().ZError as e:
            raise SinkError(session.sentence(e)) from None

    def _neighbours(self) -> int:
        info = self._session.info
        return len(info.routers_zid()) + len(info.peers_zid())

    def _declare(self) -> None:
        opened, options = self._session, self.options
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
        everyone = "%s/%d/*/*/*/%s/**" % (rmw_zenoh.SPACE, node.domain, rmw_zenoh.SUBSCRIPTION)
        self._kept.append(liveliness.declare_subscriber(everyone, self._heard, history=True))

    def _heard(self, sample: Any) -> None:
        """Handles a token that comes or goes. A thread of zenoh calls it."""
        token = str(sample.key_expr)
        seen = rmw_zenoh.of_token(token)
        with self._lock:
            if sample.kind == session.package().SampleKind.DELETE:
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
        try:
            self._publishers[name].put(cdr)
        except session.package().ZError as e:
            raise SinkError("a message of %s was not taken: %s" % (name, session.sentence(e))) from None
        return len(cdr)

    def figures(self) -> Dict[str, float]:
        return {**super().figures(), **self._figures}

    def close(self) -> None:
        self.forget()
        opened, self._session = self._session, None
        self._kept, self._publishers, self._for_all, self._keys, self._figures = [], {}, {}, {}, {}
        if opened is not None:
            try:
                opened.close()
            except session.package().ZError:
                pass  # the session was lost before
        with self._lock:
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
