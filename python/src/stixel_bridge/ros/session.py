"""A session of zenoh among nodes with rmw_zenoh, as the sinks and inputs of ROS 2 open it.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import json
import threading
from typing import Any, Callable, Dict, List, Mapping, Sequence

from stixel import NotRunning, StixelError
from stixel import _zenoh_session as session

from ..fail import CONFIG, Fail, SinkError
from ..options import Option, together
from . import rmw_zenoh

ROUTER = ["tcp/localhost:7447"]  # address of rmw_zenohd
LOCAL = ["tcp/localhost:0"]
CONNECT_MS = 5000

OPTIONS: Sequence[Option] = [
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
]


class RosSession:
    """A session with OPTIONS. Fail: they contradict each other."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        if options["mode"] == "client" and options["listen"]:
            raise Fail(CONFIG, "listen: a client does not listen (mode = peer does)")
        together(options, ("user", "password_file"), ("tls_certificate", "tls_key"))
        self.zenoh: Any = None  #: zenoh's session; None: closed
        self._options = options
        self._leads = False  # there is an endpoint to connect to

    def _values(self) -> Dict[str, Any]:
        """Returns the options by zenoh's own keys, and rmw_zenoh's defaults if there is no configuration file."""
        o, tls = self._options, "transport/link/tls/"
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

    def open(self, declare: Callable[[], None]) -> None:
        """Opens the session and calls declare(). Raises SinkError."""
        try:
            config = session.configuration(self._values(), self._options["configuration"])
            self._leads = bool(json.loads(config.get_json("connect/endpoints")))
            self.zenoh = session.opened(config)
            declare()
        except NotRunning as e:
            raise SinkError("%s: is the router there (ros2 run rmw_zenoh_cpp rmw_zenohd)?" % e) from None
        except (StixelError, ValueError) as e:
            raise SinkError(str(e)) from None
        except session.package().ZError as e:
            raise SinkError(session.sentence(e)) from None

    def neighbours(self) -> int:
        """Returns the number of routers and peers. SinkError: all that it connected to are gone."""
        info = self.zenoh.info
        found = len(info.routers_zid()) + len(info.peers_zid())
        if self._leads and not found:
            raise SinkError("the connection to the last router or peer is lost")
        return found

    def close(self) -> None:
        """Closes the session, if it is open."""
        opened, self.zenoh = self.zenoh, None
        if opened is not None:
            try:
                opened.close()
            except session.package().ZError:
                pass  # the session was lost before


class Tokens:
    """The subscriptions or the publishers of a domain, by their tokens. Threads of zenoh write them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: Dict[str, rmw_zenoh.Seen] = {}

    def watch(self, liveliness: Any, domain: int, kind: str) -> Any:
        """Returns the subscription to the tokens of a kind, which the caller keeps."""
        everyone = "%s/%d/*/*/*/%s/**" % (rmw_zenoh.SPACE, domain, kind)
        return liveliness.declare_subscriber(everyone, self._heard, history=True)

    def _heard(self, sample: Any) -> None:
        """Handles a token that comes or goes."""
        token = str(sample.key_expr)
        seen = rmw_zenoh.of_token(token)
        with self._lock:
            if sample.kind == session.package().SampleKind.DELETE:
                self._seen.pop(token, None)
            elif seen is not None:
                self._seen[token] = seen

    def seen(self) -> List[rmw_zenoh.Seen]:
        """Returns the topics of all tokens."""
        with self._lock:
            return list(self._seen.values())

    def clear(self) -> None:
        """Forgets all tokens, with the session."""
        with self._lock:
            self._seen.clear()
