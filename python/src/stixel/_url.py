"""Reads the stream of an instance from a stixel-web on another machine, over HTTP. docs/use/web.md has the format.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import base64
import contextlib
import errno
import http.client
import json
import os
import re
import socket
import ssl
import struct
import threading
import time
import urllib.parse
from typing import TYPE_CHECKING, Any, Dict, FrozenSet, Iterable, Iterator, NamedTuple, Optional

from ._errors import BadName, Busy, NotAllowed, NotRunning, NotStixel, StixelError
from ._layout import Publisher, State
from ._remote import THREADS, Inbox, RemoteReader, Transport, clock_of

if TYPE_CHECKING:
    from typing import Union

    PathLike = Union[str, "os.PathLike[str]"]

_NAME = re.compile(r"(?!\.)[A-Za-z0-9_.-]{1,64}")
_HEADER = struct.Struct("<4IQ2I")  # magic, kind, bytes, skipped, number, age_us, reserved
_MAGIC = 0x57585453
_FRAME, _NOTICE = 1, 4
_MESSAGE_MOST = 64 << 20
_LIST_MOST = 1 << 20
_PATIENCE_S = 5.0  # limit of a connection, s; a stream has a message twice a second
_CLOCK_S = 1.0
_LOOK_S = 3.0  # limit for the first notice of the publisher's state, s
_BACKOFF_S = (0.5, 1.0, 2.0, 4.0, 8.0)
# errors that end a connection; another connection may follow
_BROKEN = (OSError, http.client.HTTPException)


def _printable(text: str) -> str:
    """Returns text of another machine for a sentence, without characters that control a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _json(data: bytes) -> Any:
    """Parses JSON. Raises ValueError, also if it is nested too deeply."""
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _shut(sock: Optional[socket.socket]) -> None:
    """Shuts a socket down, which wakes the thread that reads from it. That thread closes the descriptor later."""
    if sock is not None:
        try:
            socket.socket.shutdown(sock, socket.SHUT_RDWR)
        except OSError:
            pass  # the socket is down already


@contextlib.contextmanager
def _within(seconds: float, sock: Optional[socket.socket]) -> Iterator[None]:
    """Limits the total time of several reads, and then shuts the socket down. A socket's own timeout is per read."""
    timer = threading.Timer(seconds, _shut, (sock,))
    timer.name, timer.daemon = THREADS + "limit", True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Address(NamedTuple):
    """The parts of a URL."""

    secure: bool
    host: str
    port: int
    folder: str  #: path before /api behind a proxy: "" or "/robot"
    instance: str
    login: Optional[str]  #: USER:PASSWORD

    def __str__(self) -> str:
        return "instance '%s' at %s" % (self.instance, self.place)

    @property
    def place(self) -> str:
        """Host and port."""
        return "%s:%d" % ("[%s]" % self.host if ":" in self.host else self.host, self.port)


def parse(url: str) -> Address:
    """Parses http[s]://[USER:PASSWORD@]HOST[:PORT][/FOLDER]/INSTANCE. Raises BadName, whose text has no password."""
    try:
        parts = urllib.parse.urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urllib.parse.urlsplit(""), None
    folder, _, instance = parts.path.rpartition("/")
    if (parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or port == 0
            or not _NAME.fullmatch(instance)):
        raise BadName(errno.EINVAL, "%s: not http[s]://[USER:PASSWORD@]HOST[:PORT]/INSTANCE, as in "
                      "http://robot:8470/front" % _printable(re.sub(r"(?s)^.*@", "...@", url)))
    login = None
    if parts.username is not None:
        login = urllib.parse.unquote("%s:%s" % (parts.username, parts.password or ""))
    return Address(parts.scheme == "https", parts.hostname, port or (443 if parts.scheme == "https" else 80),
                   urllib.parse.quote(folder, safe="/%"), instance, login)


class UrlTransport(Transport):
    """Reads a stream in a thread, and has a second connection for questions."""

    def __init__(self, address: Address, context: Optional[ssl.SSLContext]) -> None:
        super().__init__(str(address))
        self._address = address
        self._context = context
        self._lock = threading.Lock()
        self._wanted: FrozenSet[str] = frozenset()
        self._stopping = threading.Event()
        self._again = False  # leave the stream and open another one of the same publisher
        self._stream: Optional[http.client.HTTPConnection] = None
        self._socket: Optional[socket.socket] = None  # socket of the stream
        self._answer: Any = None
        self._asking = threading.Lock()  # lock of the connection for questions
        self._question: Optional[http.client.HTTPConnection] = None

    # -- HTTP --
    def _connection(self, seconds: float) -> http.client.HTTPConnection:
        a = self._address
        if self._context is not None:
            return http.client.HTTPSConnection(a.host, a.port, timeout=seconds, context=self._context)
        return http.client.HTTPConnection(a.host, a.port, timeout=seconds)

    def _ask(self, connection: http.client.HTTPConnection, path: str) -> http.client.HTTPResponse:
        headers: Dict[str, str] = {}
        if self._address.login is not None:
            headers["Authorization"] = "Basic " + base64.b64encode(self._address.login.encode()).decode()
        connection.request("GET", self._address.folder + path, headers=headers)
        return connection.getresponse()

    def _refusal(self, answer: http.client.HTTPResponse) -> StixelError:
        """Converts an HTTP answer other than 200 to an exception of this module."""
        said = _printable(answer.read(300).decode("utf-8", "replace").strip())
        if answer.status in (401, 403):
            why = "wrong user or password" if self._address.login is not None else said
            return NotAllowed(errno.EACCES, "%s: %s" % (self.what, why if answer.status == 401 else said))
        if answer.status in (429, 503):
            return Busy(errno.EAGAIN, "%s: %s" % (self.what, said))
        if answer.status == 404 and "'" in said:
            return NotRunning(errno.ENOENT, "%s: %s" % (self.what, said))
        return NotStixel(errno.EPROTO, "%s: no stixel-web there: HTTP %d" % (self.what, answer.status))

    def _error(self, e: BaseException) -> StixelError:
        """Converts an error of connecting to an exception of this module."""
        if isinstance(e, ssl.SSLCertVerificationError):
            return NotAllowed(errno.EACCES, "%s: its certificate is not trusted: %s" % (self.what, e.verify_message))
        if isinstance(e, (ssl.SSLError, http.client.HTTPException)):
            return NotStixel(errno.EPROTO, "%s: no %s there" % (self.what, "TLS" if self._context else "HTTP"))
        text = e.strerror if isinstance(e, OSError) and e.strerror else str(e)
        return NotRunning(errno.ENOENT, "%s: no answer: %s" % (self.what, _printable(text)))

    # -- the stream --
    def start(self, inbox: Inbox) -> None:
        self._inbox = inbox
        try:
            self._open()
            self._look()
        except _BROKEN as e:
            error = e if isinstance(e, StixelError) else self._error(e)
            self._close()
            if not inbox.follow or isinstance(error, NotAllowed):
                raise error from None
        if not inbox.present and not inbox.follow:
            self._close()
            raise NotRunning(errno.ENOENT, "%s: no publisher of this name%s" % (self.what, self._others()))
        threading.Thread(target=self._run, name=THREADS + "url", daemon=True).start()

    def _open(self) -> None:
        with self._lock:  # reset before connecting, so that an unreachable server does not cause an immediate retry
            self._again = False
            planes = ",".join(sorted(self._wanted)) or "none"
        connection = self._connection(_PATIENCE_S)
        connection.connect()
        with self._lock:
            self._stream, self._socket = connection, connection.sock
            if self._stopping.is_set():
                _shut(self._socket)
        with _within(_PATIENCE_S, connection.sock):
            self._answer = self._ask(connection, "/api/%s/stream?planes=%s" % (self._address.instance, planes))
            if self._answer.status != 200:
                raise self._refusal(self._answer)
        if self._answer.getheader("Content-Type") != "application/x-stixel-stream":
            raise NotStixel(errno.EPROTO, "%s: no stixel-web there" % self.what)

    def _look(self) -> None:
        """Reads until it is known whether there is a publisher."""
        end = time.monotonic() + _LOOK_S
        with _within(_LOOK_S + _PATIENCE_S, self._socket):
            while not self._inbox.present and time.monotonic() < end:
                if self._message() in (Publisher.ENDED, Publisher.DIED, Publisher.ABSENT):
                    return

    def _others(self) -> str:
        """Returns text that lists the instances of this stixel-web."""
        connection = self._connection(_PATIENCE_S)
        try:
            connection.connect()
            with _within(_PATIENCE_S, connection.sock):
                listed = _json(self._ask(connection, "/api/instances").read(_LIST_MOST))["instances"]
            names = [_printable(str(i["name"])) for i in listed if i["publisher"] in ("alive", "stalled")]
        except (*_BROKEN, ValueError, KeyError, TypeError):
            names = []
        finally:
            connection.close()
        return "; there are %s" % ", ".join(names[:20]) if names else ""

    def _read(self, count: int) -> bytes:
        parts = []
        while count:
            part = self._answer.read(min(count, 1 << 20))
            if not part:
                raise ConnectionResetError(errno.ECONNRESET, "the stream ended")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _message(self) -> Optional[Publisher]:
        """Takes in one message. Returns the state of the publisher if the message has it."""
        magic, kind, size, _, _, _, _ = _HEADER.unpack(self._read(_HEADER.size))
        if magic != _MAGIC or size > _MESSAGE_MOST:
            raise http.client.HTTPException("not a message of stixel-web")
        data = self._read(size)
        with self._lock:  # after stop() has returned, nothing reaches the inbox
            if self._stopping.is_set():
                return None
            if kind == _FRAME:
                self._inbox.push(data)
            return self._notice(data) if kind == _NOTICE else None

    def _notice(self, data: bytes) -> Optional[Publisher]:
        try:
            said = _json(data)
            publisher, state, version = str(said["publisher"]), str(said["state"]), str(said.get("version") or "")
        except (ValueError, KeyError, TypeError, AttributeError):
            raise http.client.HTTPException("not a notice of stixel-web") from None
        found = Publisher.__members__.get(publisher.upper())
        if found is None or found == Publisher.UNKNOWN:
            return None  # the state is not known yet
        self._inbox.reported(found, State.__members__.get(state.upper(), State.UNKNOWN), version[:64])
        if found in (Publisher.ALIVE, Publisher.STALLED):
            if not self._inbox.present:
                self._inbox.arrived()
        elif found != Publisher.REPLACED:  # the frames of the new publisher show a replacement
            self._inbox.left(died=found == Publisher.DIED)
        return found

    def _run(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            error: Optional[StixelError] = None
            try:
                if self._answer is None:
                    self._open()
                while not (self._again or self._stopping.is_set()):
                    self._message()
                    failures = 0
            except _BROKEN as e:
                error = e if isinstance(e, StixelError) else self._error(e)
            self._close()
            if not self._lost(error):
                return
            if not self._again and self._stopping.wait(_BACKOFF_S[min(failures, len(_BACKOFF_S) - 1)]):
                return
            failures += 1

    def _close(self) -> None:
        """Closes the stream."""
        with self._lock:
            for what in (self._answer, self._stream):
                if what is not None:
                    what.close()
            self._stream = self._socket = self._answer = None

    def _lost(self, error: Optional[StixelError]) -> bool:
        """Handles the loss of the stream, or a failure to open it. Returns False if no other stream will be opened."""
        with self._lock:
            if self._stopping.is_set():
                return False
            if self._again:
                return True
            self._inbox.left(died=True)
            if isinstance(error, NotAllowed):
                self._inbox.broke(error)
                return False
            return self._inbox.follow

    # -- requests --
    def want(self, images: FrozenSet[str]) -> None:
        with self._lock:
            if images == self._wanted:
                return
            self._wanted = images
            self._again = True
            _shut(self._socket)

    def clock_ns(self) -> Optional[int]:
        with self._asking:
            for _ in range(2):  # a kept connection may have ended
                if self._stopping.is_set():
                    break
                try:
                    return self._clock_once()
                except _BROKEN:
                    continue
                except ValueError:
                    break
            return None

    def _clock_once(self) -> int:
        if self._question is None:
            self._question = self._connection(_CLOCK_S)
        try:
            if self._question.sock is None:
                self._question.connect()
            with _within(_CLOCK_S, self._question.sock):
                return clock_of(_json(self._ask(self._question, "/api/clock").read(1000)))
        except BaseException:
            self._question.close()
            raise

    def stop(self) -> None:
        with self._lock:
            self._stopping.set()
            _shut(self._socket)
            if self._question is not None:  # a thread that asks holds the other lock
                _shut(self._question.sock)
        with self._asking:
            if self._question is not None:
                self._question.close()


def open_url(url: str, follow: bool = False, images: Iterable[str] = (), *,
             certificate: Optional[PathLike] = None) -> RemoteReader:
    """Opens an instance that a stixel-web on another machine shows: http[s]://[USER:PASSWORD@]HOST[:PORT]/INSTANCE.

    The frames are the same as stixel.open() returns on that machine. status() has the offset between its clock and this
    machine's clock. follow: a missing publisher or stixel-web is no error. The reader waits for one, and connects again
    when the connection broke off. images: planes to send as well, of "left", "right", "disparity". certificate: PEM
    file of certificates to trust instead of the system's authorities. For a self-signed certificate it is the
    certificate itself.

    Raises BadName, NotRunning, NotAllowed (password, certificate), NotStixel, Busy; OSError and ValueError when the
    certificate's file cannot be read.
    """
    address = parse(url)
    context = None
    if address.secure:
        try:
            context = ssl.create_default_context(cafile=None if certificate is None else os.fspath(certificate))
        except ssl.SSLError as e:
            raise ValueError("%s: no certificate as PEM: %s" % (certificate, e.reason)) from None
    elif certificate is not None:
        raise ValueError("a certificate is for https://, not http://")
    return RemoteReader(UrlTransport(address, context), follow, images)
