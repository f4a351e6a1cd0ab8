"""Serves the state of a program at a Unix socket: HTTP, and the text of OpenMetrics.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import collections
import fcntl
import http.server
import io
import os
import socket
import socketserver
import struct
import threading
import time
from typing import Any, Deque, List, Mapping, Optional, Sequence, Tuple

from ._library import places
from ._program import CANNOT_CREATE, Fail

CLIENTS_MOST = 16
CLIENTS_EACH = 4  # connections of one user
CLIENT_S = 2.0  # limit from the connection to the end of the answer
LATENCIES = 1024
WINDOW_NS = 10_000_000_000
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
_PEER = struct.Struct("=iII")  # struct ucred: process, user, group


class Recent:
    """Durations of the last ten seconds."""

    def __init__(self) -> None:
        # (time of its end, duration), ns
        self.latencies: Deque[Tuple[int, int]] = collections.deque(maxlen=LATENCIES)

    def add(self, seconds: float) -> None:
        """Adds a duration that ends now."""
        self.latencies.append((time.monotonic_ns(), int(seconds * 1e9)))

    def quantiles(self, wanted: Sequence[float]) -> Optional[List[float]]:
        """Returns quantiles of the durations, s; None: there are none."""
        since = time.monotonic_ns() - WINDOW_NS
        recent = sorted(ns for when, ns in list(self.latencies) if when >= since)
        if not recent:
            return None
        return [recent[min(len(recent) - 1, int(q * len(recent)))] / 1e9 for q in wanted]

    def per_second(self) -> float:
        """Returns the number of durations per second."""
        since = time.monotonic_ns() - WINDOW_NS
        recent = [when for when, _ in list(self.latencies) if when >= since]
        return (len(recent) - 1) * 1e9 / (recent[-1] - recent[0]) if len(recent) > 1 else 0.0


def place(program: str, name: str) -> str:
    """Returns the folder for files of this process: systemd's RuntimeDirectory, else NAME in root's folder or the
    user's."""
    given = os.environ.get("RUNTIME_DIRECTORY", "").split(":")[0]
    if given:  # the unit of an instance has a folder of its own
        return given if os.path.basename(given) == name else os.path.join(given, name)
    found = list(places(program))
    return os.path.join(found[0] if os.getuid() == 0 else found[1], name)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


class Metrics:
    """Formats OpenMetrics, family by family."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._labels = labels  #: of all samples
        self._lines: List[str] = []

    def family(self, name: str, kind: str, help_: str, samples: Sequence[Tuple[str, Mapping[str, str], Any]]) -> None:
        """Adds a family. samples: suffix of the name, labels, value. Writes nothing if there are none."""
        if not samples:
            return
        self._lines += ["# TYPE %s %s" % (name, kind), "# HELP %s %s" % (name, help_)]
        for behind, labels, value in samples:
            label = ",".join('%s="%s"' % (k, _escaped(v)) for k, v in {**self._labels, **labels}.items())
            text = "%.9g" % value if isinstance(value, float) else str(value)
            self._lines.append("%s%s{%s} %s" % (name, behind, label, text))

    def end(self) -> str:
        """Returns the whole text."""
        return "\n".join([*self._lines, "# EOF", ""])


class _Until(io.RawIOBase):
    """Reads from a socket until a deadline. A timeout per read would not stop a client that sends slowly."""

    def __init__(self, connection: socket.socket, end: float) -> None:
        super().__init__()
        self._connection, self._end = connection, end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connection.settimeout(max(self._end - time.monotonic(), 0.001))
        return self._connection.recv_into(buffer)


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def setup(self) -> None:
        """Sets one deadline for the whole request."""
        super().setup()
        self._end = time.monotonic() + CLIENT_S
        self.rfile = io.BufferedReader(_Until(self.connection, self._end))

    def address_string(self) -> str:
        return "local"

    def log_message(self, format: str, *args: Any) -> None:  # requests are not logged
        pass

    def do_GET(self) -> None:
        """Answers one request."""
        code, kind, body = self.server.answer(self.path.split("?")[0])
        data = body.encode()
        self.connection.settimeout(max(self._end - time.monotonic(), 0.001))
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class _Client:
    """A connection, with its process and user."""

    def __init__(self, connection: socket.socket) -> None:
        said = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
        self.connection = connection
        self.process, self.user, _ = _PEER.unpack(said)

    def let_go(self) -> None:
        """Shuts the connection down, so that its thread reads the end of the stream."""
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the connection has ended


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Serves FOLDER/NAME/status.sock for the group.

    A derived class has answer(). Fail: another process of this program has the name, or the socket cannot be made.
    """

    daemon_threads = True
    # the kernel refuses connections beyond; many connections of one user would fill a short queue
    request_queue_size = 256

    def __init__(self, program: str, name: str) -> None:
        self._guard = threading.Lock()
        self._clients: List[_Client] = []  #: connections, the oldest first
        self.folder = place(program, name)
        self._lock = -1
        path = os.path.join(self.folder, "status.sock")
        try:
            os.makedirs(self.folder, exist_ok=True)
            os.chmod(self.folder, 0o755)  # independent of the umask, so that the group can reach the socket
            self._lock = os.open(os.path.join(self.folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.exists(path):
                os.unlink(path)
            super().__init__(path, _Handler)
            os.chmod(path, 0o660)
        except BlockingIOError:
            os.close(self._lock)
            raise Fail(CANNOT_CREATE, "another %s runs as '%s' (%s)" % (program, name, self.folder)) from None
        except OSError as e:
            raise Fail(CANNOT_CREATE, "%s: cannot be made: %s" % (path, e.strerror or e)) from None

    def server_bind(self) -> None:
        """Binds the socket."""
        self.socket.bind(self.server_address)

    def _make_room(self, new: _Client) -> None:
        """Closes a connection if the new one exceeds a limit. The caller holds the guard.

        If the new connection's user has CLIENTS_EACH connections, the connection is one of that user. Else, if there
        are CLIENTS_MOST connections, it is one of the user with the most. Among them, it is the oldest of the process
        with the most connections. So no user keeps another one out.
        """
        users = collections.Counter(c.user for c in self._clients)
        busiest = new.user if users[new.user] >= CLIENTS_EACH else users.most_common(1)[0][0] if len(
            self._clients) >= CLIENTS_MOST else None
        if busiest is None:
            return
        theirs = [c for c in [*self._clients, new] if c.user == busiest]
        process = collections.Counter(c.process for c in theirs).most_common(1)[0][0]
        for client in self._clients:
            if client.user == busiest and client.process == process:
                client.let_go()
                self._clients.remove(client)
                return

    def process_request(self, request: Any, client_address: Any) -> None:
        try:
            client = _Client(request)
        except OSError:  # the client has gone already
            self.shutdown_request(request)
            return
        with self._guard:
            self._make_room(client)
            self._clients.append(client)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._guard:
                self._clients = [c for c in self._clients if c.connection is not request]

    def handle_error(self, request: Any, client_address: Any) -> None:  # a client that went away
        pass

    def answer(self, path: str) -> Tuple[int, str, str]:
        """Returns code, content type and body."""
        raise NotImplementedError

    def close(self) -> None:
        """Removes the socket."""
        self.shutdown()
        self.server_close()
        for name in ("status.sock", "lock"):
            try:
                os.unlink(os.path.join(self.folder, name))
            except OSError:
                pass
        try:
            os.rmdir(self.folder)
        except OSError:
            pass
        os.close(self._lock)
