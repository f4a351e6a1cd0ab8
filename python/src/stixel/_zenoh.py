"""Reads instances that a stixel-bridge on another machine publishes over zenoh. docs/use/bridge.md has the keys.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import errno
import functools
import json
import re
import threading
import time
from typing import Any, Callable, Dict, FrozenSet, Iterable, List, NamedTuple, Optional

from . import _zenoh_session as session
from ._check import verdict
from ._errors import BadName, NotAllowed, NotRunning, StixelError
from ._layout import Publisher, State, header_of
from ._planes import join
from ._remote import THREADS, Inbox, Order, RemoteReader, Transport, clock_of

SCHEME = "zenoh:"
_NAME = re.compile(r"(?!\.)[A-Za-z0-9_.-]{1,64}")
_ANSWER_S = 1.0
_LOOK_S = 1.0  # time after connecting until a missing instance counts as not there, s
_RETRY_S = 2.0
_REFUSALS = 3
_STOP_S = 3.0
_WAITING_MOST = 8  # messages of a key that wait to be read; older ones are dropped


class Address(NamedTuple):
    """The part of an instance's name after "zenoh:"."""

    endpoint: Optional[str]  #: "tcp/robot:7447"; None: taken from the configuration
    host: Optional[str]
    instance: str

    def __str__(self) -> str:
        name = "instance '%s'" % self.instance + (" of %s" % self.host if self.host else "")
        return name + (" at %s" % self.endpoint if self.endpoint else "")


def _host(key: str) -> Optional[str]:
    """Returns the host in the key of a token; None: not a key of a bridge."""
    parts = key.split("/")
    return parts[1] if len(parts) == 3 and all(_NAME.fullmatch(part) for part in parts) else None


def _said(data: bytes, **wanted: type) -> Optional[Dict[str, Any]]:
    """Parses a bridge's JSON. None if it lacks the wanted fields, since other programs may publish under its keys."""
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or not all(isinstance(said.get(name), kind) for name, kind in wanted.items()):
        return None
    return said


def parse(text: str) -> Address:
    """Parses zenoh:[PROTOCOL/ADDRESS/][HOST/]INSTANCE. Raises BadName."""
    parts = text[len(SCHEME):].split("/")
    endpoint = None
    if len(parts) > 2:
        endpoint = "/".join(parts[:2])
        parts = parts[2:]
    named = len(parts) <= 2 and all(_NAME.fullmatch(part) for part in parts)
    if not named or (endpoint and not all(endpoint.split("/"))):
        raise BadName(errno.EINVAL, "%s: not zenoh:PROTOCOL/ADDRESS/INSTANCE or zenoh:PROTOCOL/ADDRESS/HOST/INSTANCE, "
                      "as in zenoh:tcp/robot:7447/front" % text)
    return Address(endpoint, parts[0] if len(parts) == 2 else None, parts[-1])


class _Joiner:
    """Joins frames with their images, which come under different keys.

    A frame is passed on when all wanted images have come, or when a part of a later frame has come. So it is late by at
    most one frame, and lacks the images that did not come.
    """

    def __init__(self, push: Callable[[bytes], None]) -> None:
        self._push = push
        self._lock = threading.Lock()
        self._wanted: FrozenSet[str] = frozenset()
        self._parts: Dict[str, bytes] = {}
        self._order = Order()  # the head is the frame of the parts

    def want(self, images: FrozenSet[str]) -> None:
        """Sets the images wanted from now on. Passes the waiting frame on."""
        with self._lock:
            self._wanted = images
            self._flush()

    def _flush(self) -> None:
        parts, self._parts = self._parts, {}
        if parts:
            self._push(join(list(parts.values())))

    def add(self, kind: str, data: bytes) -> None:
        """Takes a message of a key: kind is "frame", or the name of an image."""
        with self._lock:
            if not self._wanted or verdict(data):
                self._push(data)  # the receiver reports the error
                return
            header = header_of(data)
            name = int(header["epoch"]), int(header["number"])
            if name != self._order.head:
                if self._order.old(*name):
                    return  # the frame of this message was passed on
                if self._order.strange(*name):
                    self._push(data)  # the receiver counts it
                    return
                self._flush()
                self._order.take(*name)
            elif not self._parts:
                return
            self._parts[kind] = data
            if self._wanted <= set(self._parts):
                self._flush()


class ZenohTransport(Transport):
    """Brings frames over zenoh, with a separate session for each reader."""

    def __init__(self, address: Address, config: Any) -> None:
        super().__init__(str(address))
        self._address = address
        self._config = config
        self._lock = threading.RLock()  # guards all declarations
        self._session: Any = None
        self._base = ""  # stixeld/HOST/INSTANCE, once the host is known
        self._images: Dict[str, Any] = {}
        self._wanted: FrozenSet[str] = frozenset()
        self._stopping = threading.Event()
        self._threads: List[threading.Thread] = []
        self._ended = False  # last state from the bridge: no publisher, or one that ended in order

    def start(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._joiner = _Joiner(inbox.push)
        try:
            self._connect()
        except NotRunning:
            if not inbox.follow:
                raise
            self._run(self._connect_later)

    # -- connecting --
    def _connect(self) -> None:
        opened = session.opened(self._config)
        with self._lock:
            if self._stopping.is_set():
                opened.close()
                return
            self._session = opened
        hosts = self._look(opened)
        if len(hosts) > 1:
            raise BadName(errno.EINVAL, "%s: there are several, of the hosts %s: say which, as in %s" % (
                self.what, ", ".join(hosts), SCHEME + "/".join(filter(None, (self._address.endpoint, hosts[0],
                                                                            self._address.instance)))))
        if not hosts and not self._inbox.follow:
            raise NotRunning(errno.ENOENT, "%s: no publisher of this name%s" % (self.what, self._others(opened)))
        # reports when a publisher comes or goes; an existing publisher is reported at once
        self._pump(opened.liveliness().declare_subscriber(self._key(hosts[0] if hosts else None), history=True),
                   self._on_token)
        end = time.monotonic() + 3 * _ANSWER_S
        while hosts and not self._inbox.present and time.monotonic() < end:
            time.sleep(0.001)

    def _connect_later(self) -> None:
        refused = 0
        while not self._stopping.wait(_RETRY_S):
            try:
                self._connect()
                return
            except NotRunning:
                refused = 0
            except StixelError as e:
                refused += 1
                if not isinstance(e, NotAllowed) or refused == _REFUSALS:  # the server may be starting or ending
                    self._inbox.broke(e)
                    return
            except session.package().ZError:
                if not self._stopping.is_set():  # stop() closes the session
                    raise
                return

    def _key(self, host: Optional[str]) -> str:
        return "%s/%s/%s" % (session.ROOT, host or self._address.host or "*", self._address.instance)

    def _look(self, opened: Any) -> List[str]:
        """Returns the hosts that have the instance. Hosts behind a router may become known a little later."""
        end = time.monotonic() + _LOOK_S
        while True:
            keys = self._tokens(opened, self._key(None))
            hosts = sorted({key.split("/")[1] for key in keys})
            if hosts or self._inbox.follow or time.monotonic() > end or self._stopping.wait(0.05):
                return hosts

    def _others(self, opened: Any) -> str:
        """Returns text that lists the other instances."""
        keys = self._tokens(opened, session.ROOT + "/*/*")
        return "; there are HOST/INSTANCE %s" % ", ".join(key.split("/", 1)[1] for key in keys[:20]) if keys else ""

    @staticmethod
    def _tokens(opened: Any, selector: str) -> List[str]:
        replies = opened.liveliness().get(selector, timeout=_ANSWER_S)
        return sorted({str(reply.ok.key_expr) for reply in replies if reply.ok and _host(str(reply.ok.key_expr))})

    # -- incoming data, each in a thread of this module: threads of zenoh's callbacks would keep a program from ending
    # --
    def _pump(self, subscriber: Any, take: Callable[[Any], None]) -> None:
        """Passes samples on until the subscriber or the session ends."""
        def run() -> None:
            for sample in subscriber:
                take(sample)

        self._run(run)

    def _run(self, what: Callable[[], None]) -> None:
        thread = threading.Thread(target=what, name=THREADS + "zenoh", daemon=True)
        with self._lock:
            thread.start()
            self._threads = [t for t in self._threads if t.is_alive()] + [thread]

    def _on_token(self, sample: Any) -> None:
        """Handles a publisher that has come or gone."""
        key = str(sample.key_expr)
        if not _host(key) or (self._base and key != self._base):
            return
        if sample.kind == session.package().SampleKind.DELETE:
            # The bridge reports how the publisher ended, if the bridge itself still runs. Otherwise its connection has
            # ended, too.
            self._ask("status", self._on_status)
            self._inbox.left(died=not self._ended)
            return
        self._ended = False
        with self._lock:
            if self._stopping.is_set():
                return
            if not self._base:
                self._base = key
                self._subscribe("frame", functools.partial(self._add, "frame"))
                self._subscribe("status", self._on_status)
                self._declare_images()
        self._ask("frame", lambda sample: self._inbox.push(sample.payload.to_bytes()))
        self._inbox.arrived()
        self._ask("status", self._on_status)

    def _add(self, kind: str, sample: Any) -> None:
        self._joiner.add(kind, sample.payload.to_bytes())

    def _ask(self, what: str, take: Callable[[Any], None]) -> None:
        """Queries the last value of a key, if another session has one."""
        opened = self._session
        if opened is None:
            return
        try:
            for reply in opened.get("%s/%s" % (self._base, what), timeout=_ANSWER_S):
                if reply.ok:
                    take(reply.ok)
        except session.package().ZError:
            if not self._stopping.is_set():  # stop() closes the session
                raise

    def _subscribe(self, kind: str, take: Callable[[Any], None]) -> Any:
        subscriber = self._session.declare_subscriber(
            "%s/%s" % (self._base, kind), session.package().handlers.RingChannel(_WAITING_MOST))
        self._pump(subscriber, take)
        return subscriber

    def _on_status(self, sample: Any) -> None:
        said = _said(sample.payload.to_bytes(), publisher=str, state=str, version=str)
        if said is None:
            return
        found = Publisher.__members__.get(said["publisher"].upper(), Publisher.UNKNOWN)
        state = State.__members__.get(said["state"].upper(), State.UNKNOWN)
        self._inbox.reported(found, state, said["version"][:64])
        self._inbox.classes.take(said.get("status"))
        # only the token decides whether the publisher is present: the status comes another way, earlier or later
        self._ended = found not in (Publisher.ALIVE, Publisher.STALLED, Publisher.DIED)

    # -- requests --
    def want(self, images: FrozenSet[str]) -> None:
        with self._lock:
            self._wanted = images
            if self._base:
                self._declare_images()

    def _declare_images(self) -> None:
        for kind in set(self._images) - self._wanted:
            self._images.pop(kind).undeclare()
        for kind in self._wanted - set(self._images):
            self._images[kind] = self._subscribe(kind, functools.partial(self._add, kind))
        self._joiner.want(self._wanted)

    def clock_ns(self) -> Optional[int]:
        opened, base, zenoh = self._session, self._base, session.package()
        if not base or opened is None:
            return None
        try:
            for reply in opened.get(base + "/clock", timeout=_ANSWER_S, priority=zenoh.Priority.REAL_TIME,
                                    express=True):
                if reply.ok:
                    return clock_of(_said(reply.ok.payload.to_bytes()))
        except (zenoh.ZError, ValueError):
            pass  # closed meanwhile, or the answer has no time
        return None

    def stop(self) -> None:
        self._stopping.set()
        with self._lock:
            opened, self._session = self._session, None
        if opened is not None:
            opened.close()
        for thread in self._threads:  # a thread inside zenoh when the interpreter ends would crash the process
            if thread is not threading.current_thread():
                thread.join(_STOP_S)


def _values(address: Address, user: Optional[str], password: Optional[str], ca: Optional[str]) -> Dict[str, Any]:
    """Returns the arguments of open_zenoh() as values of zenoh's configuration. A reader does not listen."""
    values: Dict[str, Any] = {}
    if address.endpoint:
        values.update({"mode": "client", "connect/endpoints": [address.endpoint]})
    if (user is None) != (password is None):
        raise ValueError("user and password: one without the other")
    if user is not None:
        values.update({"transport/auth/usrpwd/user": user, "transport/auth/usrpwd/password": password})
    if ca is not None:
        values["transport/link/tls/root_ca_certificate"] = ca
    return values


def open_zenoh(name: str, follow: bool, images: Iterable[str], user: Optional[str], password: Optional[str],
               ca: Optional[str], config: Optional[str]) -> RemoteReader:
    """Opens an instance for stixel.open("zenoh:...")."""
    address = parse(name)
    if address.endpoint is None and config is None:
        raise BadName(errno.EINVAL, "%s: where? zenoh:PROTOCOL/ADDRESS/INSTANCE, or config=: a file of zenoh's" % name)
    made = session.configuration(_values(address, user, password, ca), config)
    return RemoteReader(ZenohTransport(address, made), follow, images)
