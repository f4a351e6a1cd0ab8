"""Sends unchanged frames over zenoh, with keys stixeld/HOST/INSTANCE/... that stixel.open("zenoh:...") reads.

See docs/use/bridge.md.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

from typing import Any, Dict, FrozenSet, List, Mapping, Optional, Sequence

from stixel import StixelError
from stixel import _zenoh_session as session

from ..fail import CONFIG, Fail, SinkError
from ..options import Option, together
from ..sink import NO_IMAGES, Instance, Report, Work
from ..sink import Sink as Base
from .zenoh_instance import Published

PRIORITIES = ("real-time", "interactive-high", "interactive-low", "data-high", "data", "data-low", "background")
_CONNECT_MS = 2000


class Sink(Base):
    """Uses one session for all instances."""

    OPTIONS = [
        Option("mode", "choice", "peer", "peer: connects to others and accepts connections; client: connects to one "
               "router or peer only; router: also forwards data between its connections",
               choices=("peer", "client", "router")),
        Option("connect", "list", [], "endpoints to connect to, such as tcp/router:7447 or tls/router:7447"),
        Option("listen", "list", [], "endpoints that accept connections, such as tcp/0.0.0.0:7447; without users_file "
               "or tls_clients, everyone who can reach them sees everything"),
        Option("multicast", "switch", False, "discovery by multicast in the local network"),
        Option("user", "text", None, "user name for its connections"),
        Option("password_file", "file", None, "file with the password of user; only its owner may read it"),
        Option("users_file", "file", None, "users that may connect: lines USER:PASSWORD; only its owner may read it"),
        Option("tls_ca", "file", None, "certificates of the authorities that sign the peers' certificates, PEM"),
        Option("tls_certificate", "file", None, "certificate of the bridge, PEM"),
        Option("tls_key", "file", None, "private key of tls_certificate, PEM; only its owner may read it"),
        Option("tls_clients", "switch", False, "both sides of a connection must show a certificate signed by tls_ca"),
        Option("priority", "choice", "real-time", "priority of frames; images have data-low", choices=PRIORITIES),
        Option("congestion", "choice", "drop", "if a connection is too slow: drop frames, or block until there is "
               "room; images are always dropped", choices=("drop", "block")),
        Option("reliability", "choice", "reliable", "reliability of frames, if an endpoint offers both, such as UDP "
               "and TCP together",
               choices=("reliable", "best-effort")),
        Option("express", "switch", True, "send each frame at once, not in batches"),
        Option("compression", "switch", False, "compress (LZ4) if both sides want it"),
        Option("configuration", "file", None, "configuration file of zenoh (JSON5) for everything else; mode and the "
               "keys above that are set override it"),
    ]
    PACKAGES = ("zenoh",)
    HELP = "frames as published, for stixel.open(\"zenoh:tcp/HOST:7447/INSTANCE\")"

    def __init__(self, name: str, options: Mapping[str, Any], host: str, instances: Sequence[Instance]) -> None:
        super().__init__(name, options, host, instances)
        self._session: Any = None
        self._published: Dict[str, Published] = {}
        self._connections = 0
        self._check()

    # -- options --
    def _check(self) -> None:
        o = self.options
        if not (o["connect"] or o["listen"] or o["multicast"] or o["configuration"]):
            raise Fail(CONFIG, "neither connect nor listen nor multicast is given: the sink could not send anything")
        if o["mode"] == "client" and o["listen"]:
            raise Fail(CONFIG, "listen: a client does not listen (mode = peer does)")
        together(o, ("user", "password_file"), ("tls_certificate", "tls_key"))
        if o["tls_clients"] and not (o["tls_ca"] and o["tls_certificate"]):
            raise Fail(CONFIG, "tls_clients needs tls_ca, tls_certificate and tls_key")
        bare = [endpoint for endpoint in o["listen"] if not endpoint.startswith(("tls/", "quic/"))]
        if o["tls_clients"] and bare:
            raise Fail(CONFIG, "listen: %s asks for no certificate, but tls_clients requires one of each client: use "
                       "tls/ or quic/" % bare[0])
        if o["tls_clients"] and o["multicast"] and not o["listen"]:
            raise Fail(CONFIG, "multicast accepts connections at a tcp/ endpoint, which asks for no certificate, but "
                       "tls_clients requires one of each client: give listen = tls/...")
        if o["users_file"] and not (o["listen"] or o["multicast"] or o["configuration"]):
            raise Fail(CONFIG, "users_file is for clients that connect to this bridge, but listen is not given")
        if o["user"] and not (o["connect"] or o["multicast"] or o["configuration"]):
            raise Fail(CONFIG, "user is for connect, which is not given")
        if len(bare) < len(o["listen"]) and not o["tls_certificate"]:
            raise Fail(CONFIG, "listen: an endpoint of TLS needs tls_certificate and tls_key")

    def _listen(self) -> Optional[List[str]]:
        """Returns zenoh's endpoints to listen on.

        Without the option listen, a peer accepts connections only with multicast, at any port.
        """
        if self.options["listen"] or self.options["mode"] != "client":
            listen: List[str] = self.options["listen"]
            return listen or (["tcp/[::]:0"] if self.options["multicast"] else [])
        return None

    def _values(self) -> Dict[str, Any]:
        """Returns the options by zenoh's own keys."""
        o, auth, tls = self.options, "transport/auth/usrpwd/", "transport/link/tls/"
        values: Dict[str, Any] = {
            "mode": o["mode"], "connect/endpoints": o["connect"], "connect/timeout_ms": _CONNECT_MS,
            "connect/exit_on_failure": True, "listen/endpoints": self._listen(),
            "scouting/multicast/enabled": o["multicast"] or None,
            "transport/unicast/compression/enabled": o["compression"] or None,
            tls + "root_ca_certificate": o["tls_ca"], tls + "enable_mtls": o["tls_clients"] or None,
            tls + "listen_certificate": o["tls_certificate"], tls + "listen_private_key": o["tls_key"],
            tls + "connect_certificate": o["tls_certificate"], tls + "connect_private_key": o["tls_key"],
            auth + "user": o["user"], auth + "dictionary_file": o["users_file"]}
        for name in ("users_file", "tls_key"):
            if o[name]:
                session.secret(o[name])  # checks only that other users cannot read it
        if o["password_file"]:
            values[auth + "password"] = session.secret(o["password_file"])
        if o["configuration"]:  # the file sets the endpoints that the options leave open
            for key in ("connect/endpoints", "listen/endpoints"):
                values[key] = values[key] or None
        return {key: value for key, value in values.items() if value is not None}

    # -- methods of the contract (sink.py) --
    def open(self) -> None:
        try:
            config = session.configuration(self._values(), self.options["configuration"])
            self._session = session.opened(config)
            for instance in self.instances:
                self._published[instance.name] = Published(self._session, self.host, instance, self.options)
        except (StixelError, ValueError) as e:
            raise SinkError(str(e)) from None
        except session.package().ZError as e:
            raise SinkError(session.sentence(e)) from None

    def send(self, work: Work) -> int:
        try:
            return self._published[work.instance.name].send(work)
        except session.package().ZError as e:
            raise SinkError(session.sentence(e)) from None

    def report(self, report: Report) -> int:
        try:
            info = self._session.info
            found = len(info.routers_zid()) + len(info.peers_zid())
            # older packages do not report clients that have connected here
            self._connections = len(info.transports()) if hasattr(info, "transports") else found
            if self.options["connect"] and not found:
                raise SinkError("the connection to %s is lost" % ", ".join(self.options["connect"]))
            return self._published[report.instance.name].report(report)
        except session.package().ZError as e:
            raise SinkError(session.sentence(e)) from None

    def images(self, instance: Instance) -> FrozenSet[str]:
        published = self._published.get(instance.name)
        return published.images() if published else NO_IMAGES

    def figures(self) -> Dict[str, float]:
        published = list(self._published.values())
        return {"connections": self._connections, "queries": sum(p.queries for p in published),
                "image_bytes": sum(p.image_bytes for p in published)}

    def close(self) -> None:
        opened, self._session = self._session, None
        self._published = {}
        self._connections = 0
        if opened is not None:
            try:
                opened.close()
            except session.package().ZError:
                pass  # the session was lost before
