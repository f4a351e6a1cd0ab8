"""The server of a sink of kind foxglove, with foxglove-sdk.

Only topics with a subscriber are made. Messages that seldom change (calibrations, runs of the publisher) are sent again
when a new client subscribes.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import collections
import heapq
import json
import logging
import threading
import time
from typing import TYPE_CHECKING, Any, Deque, Dict, FrozenSet, List, Mapping, Optional, Sequence, Set, Tuple

import foxglove
import foxglove.messages
from foxglove.websocket import Capability
from stixel import _daemon
from stixel._classes import names_in
from stixel._layout import MessageKind
from stixel._messages import Messages

from ..fail import SinkError, sentence
from ..sink import NO_IMAGES, Instance, Report, Work
from . import connections

if TYPE_CHECKING:
    from foxglove.websocket import ChannelView, Client, WebSocketServer
    from stixel import Frame

SETTINGS_S = 2.0  # interval of asking the daemons for their settings
LEFT_S = 2.0  # the port may be taken for this time by our own stopped server
# shortest interval of checking the data that waits for clients; each instance's reports cause such a check
LOOK_S = 0.5
MB = 10**6
BEHIND_BYTES = 256 << 10  # a client with more unsent bytes in the kernel, twice in a row, does not keep up
IMAGES = (MessageKind.LEFT, MessageKind.RIGHT, MessageKind.DISPARITY)  # a frame has them only on request
CALIBRATIONS = (MessageKind.CALIBRATION, MessageKind.CALIBRATION_RIGHT)
_INT64 = 1 << 64


class _Log(logging.Handler):
    """Counts the package's messages about its clients instead of logging them. A client could fill a log with them."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.count = 0
        logger = logging.getLogger("foxglove")
        logger.addHandler(self)
        logger.propagate = False

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1


_log = _Log()


def _channel(messages: Messages, instance: str, kind: MessageKind, context: foxglove.Context) -> foxglove.Channel:
    """Opens the channel of a topic."""
    topic = messages.topic(kind)
    package, name = topic.schema.split(".")
    if package == "foxglove":  # the package has its own schemas, with comments
        schema = getattr(foxglove.messages, name).get_schema()
    else:
        schema = foxglove.Schema(name=topic.schema, encoding=topic.encoding, data=topic.descriptor)
    return foxglove.Channel(_name(instance, kind), schema=schema, message_encoding=topic.encoding, context=context)


def _name(instance: str, kind: MessageKind) -> str:
    """Returns the whole name of a topic."""
    return "/%s/%s" % (instance, kind.name.lower())


def _published_ns(frame: Frame) -> int:
    """Returns CLOCK_REALTIME of the publication by the frame's own anchor. A replayed file may contain any values."""
    h = frame.header
    ns = int(h["anchor_realtime_ns"]) + frame.published_ns - int(h["anchor_monotonic_ns"])
    return max(0, (ns + _INT64 // 2) % _INT64 - _INT64 // 2)


def _value(kind: Optional[str], text: Any) -> Any:
    """Converts a setting's text to a number or a switch if it is one."""
    try:
        if kind == "bool":
            return {"yes": True, "no": False}[text]
        return {"int": int, "real": float}.get(kind or "", str)(text)
    except (KeyError, TypeError, ValueError):
        return str(text)


def _parameters(instance: str, settings: Mapping[str, Any]) -> List[foxglove.Parameter]:
    """Makes parameters of a daemon's /settings."""
    options = settings["options"]
    return [foxglove.Parameter("/%s/%s" % (instance, key), value=_value(options.get(key, {}).get("kind"), of["value"]))
            for key, of in settings["keys"].items()]


class Settings(threading.Thread):
    """Queries the daemons' settings, so that a client never waits for a daemon that does not answer."""

    def __init__(self, instances: Sequence[str]) -> None:
        super().__init__(name="foxglove settings", daemon=True)
        self.found: Dict[str, List[foxglove.Parameter]] = {name: [] for name in instances}
        self._answers: Dict[str, bytes] = {}
        self._end = threading.Event()

    def stop(self) -> None:
        """Ends the thread after the answer that it waits for."""
        self._end.set()

    def _ask(self, instance: str) -> None:
        answer = _daemon.ask(instance, "/settings")
        body = answer[1] if answer and answer[0] == 200 else b""
        if body == self._answers.get(instance):
            return
        self._answers[instance] = body
        try:
            self.found[instance] = _parameters(instance, json.loads(body)) if body else []
        except (AttributeError, KeyError, TypeError, ValueError):  # the answer has an unknown form
            self.found[instance] = []

    def run(self) -> None:
        while True:
            for instance in list(self.found):
                self._ask(instance)
            if self._end.wait(SETTINGS_S):
                return


class Listener:
    """Handles requests of clients, in threads of the package."""

    def __init__(self, instances: Sequence[str], backlog: int) -> None:
        self.lock = threading.Lock()
        self._backlog = backlog
        self.subscribers: Dict[str, Set[int]] = {}  #: ids of clients, by topic
        self.fresh: Set[str] = set()  #: topics with a new subscriber that has got no message yet
        self._given: Dict[int, Deque[int]] = {}  # by client: sizes of messages that may wait
        self.changed = True  #: true: subscribers have changed since the last connection graph
        self.followed: Set[str] = set()  #: names of parameters that clients follow
        self.refused = 0  #: parameters that clients tried to set
        self.settings = Settings(instances)  #: not started yet

    def on_subscribe(self, client: Client, channel: ChannelView) -> None:
        with self.lock:
            self.subscribers.setdefault(channel.topic, set()).add(client.id)
            self._given.setdefault(client.id, collections.deque(maxlen=self._backlog))
            self.fresh.add(channel.topic)
            self.changed = True

    def on_unsubscribe(self, client: Client, channel: ChannelView) -> None:
        with self.lock:
            clients = self.subscribers.get(channel.topic, set())
            clients.discard(client.id)
            if not clients:
                self.subscribers.pop(channel.topic, None)
            if not any(client.id in ids for ids in self.subscribers.values()):
                self._given.pop(client.id, None)
            self.changed = True

    def _named(self, names: Sequence[str]) -> List[foxglove.Parameter]:
        """Returns the parameters with these names, or all if there are no names."""
        wanted = set(names)
        return [p for found in list(self.settings.found.values()) for p in found if not wanted or p.name in wanted]

    def on_get_parameters(self, client: Client, param_names: List[str],
                          request_id: Optional[str] = None) -> List[foxglove.Parameter]:
        return self._named(param_names)

    def on_set_parameters(self, client: Client, parameters: List[foxglove.Parameter],
                          request_id: Optional[str] = None) -> List[foxglove.Parameter]:
        """Sets nothing. Answers with the unchanged parameters."""
        with self.lock:
            self.refused += len(parameters)
        return self._named([p.name for p in parameters]) if parameters else []

    def on_parameters_subscribe(self, param_names: List[str]) -> None:
        # unknown names are ignored, since a client could otherwise add any number of them for good
        known = {p.name for p in self._named(())}
        with self.lock:
            self.followed.update(known.intersection(param_names))

    def on_parameters_unsubscribe(self, param_names: List[str]) -> None:
        with self.lock:
            self.followed.difference_update(param_names)

    def on_connection_graph_subscribe(self) -> None:
        """Does nothing: the graph is always published."""

    def on_connection_graph_unsubscribe(self) -> None:
        """Does nothing: the graph is always published."""

    def take_fresh(self, topic: str) -> bool:
        """Returns once whether a new subscriber of this topic has got no message yet."""
        with self.lock:
            found = topic in self.fresh
            self.fresh.discard(topic)
            return found

    def given(self, topic: str, size: int) -> int:
        """Notes that a message was passed to the package. Returns the number of clients for it.

        The number is at least 1, because has_sinks() may know a subscriber before on_subscribe() is called.
        """
        with self.lock:
            clients = self.subscribers.get(topic, ())
            for number in clients:
                self._given[number].append(size)
            return len(clients) or 1

    def clients(self) -> int:
        """Returns the number of clients with a subscription."""
        with self.lock:
            return len(self._given)

    def waiting(self, clients: Optional[int] = None) -> int:
        """Returns the most bytes that may wait in the package, if data waits for at most this number of clients."""
        with self.lock:
            sums = [sum(sizes) for sizes in self._given.values()]
        return sum(sums if clients is None else heapq.nlargest(clients, sums))

    def forget(self) -> None:
        """Forgets all sizes, because no data waits for any client."""
        with self.lock:
            for sizes in self._given.values():
                sizes.clear()

    def clear(self) -> None:
        """Forgets all clients, after the server has ended."""
        with self.lock:
            self.subscribers.clear()
            self._given.clear()
            self.followed.clear()
            self.fresh.clear()
            self.changed = True


class _Life:
    """The messages last sent for an instance, and the object that makes its messages."""

    def __init__(self, instance: Instance) -> None:
        self.messages = Messages(instance.name)
        self.messages.scale(*instance.colours())
        self.epoch = self.number = self.pid = 0
        self.version = ""
        self.classes: Optional[Tuple[str, ...]] = None
        self.reported = False  #: whether pid and version belong to this epoch
        self.publisher = b""  #: event of the publisher
        self.calibrations: Dict[MessageKind, Optional[bytes]] = {}
        self.sent: Dict[str, Any] = {}  #: last sent values of parameters, by name


class Service:
    """Channels of all instances, and the server while it runs."""

    def __init__(self, options: Mapping[str, Any], host: str, instances: Sequence[Instance]) -> None:
        self._options = options
        self._name = "stixeld " + host
        self._listener = Listener([instance.name for instance in instances], options["backlog"])
        self._limit = connections.Limit(options["clients"])
        self._server: Optional[WebSocketServer] = None
        self._left = 0  # port of the previous server
        self._context = foxglove.Context()
        self._kinds = [MessageKind[topic.upper()] for topic in options["topics"]]
        self._lives = {instance.name: _Life(instance) for instance in instances}
        self._channels = {(name, kind): _channel(life.messages, name, kind, self._context)
                          for name, life in self._lives.items() for kind in self._kinds}
        self._warned: Set[str] = set()  # instances with a warning shown to clients
        self._looked = -LOOK_S
        self._full: Set[str] = set()  # peers that had more than BEHIND_BYTES in the kernel at the last check
        self._messages = self._clients = self._behind = self._frames_behind = 0
        self._frames_withheld = self._images_left_out = 0

    # -- connection --
    @property
    def port(self) -> int:
        """Port on which the server listens; 0: it does not listen."""
        server = self._server
        return int(server.port) if server else 0

    def start(self, certificate: Optional[bytes], key: Optional[bytes]) -> None:
        """Starts the server. Raises SinkError.

        A stopped server of ours frees its port some milliseconds later, so this function waits.
        """
        end = time.monotonic() + (LEFT_S if self._left and self._left == self._options["port"] else 0)
        while not self._server:
            try:
                self._server = self._listen(certificate, key)
            except (RuntimeError, ValueError) as e:
                why = sentence(e).replace("FoxgloveError: ", "").replace("Failed to bind port: ", "")
                if "in use" not in why or time.monotonic() >= end:
                    raise SinkError("cannot listen on %s, port %d: %s%s" % (
                        self._options["host"], self._options["port"], why,
                        " (key port takes another)" if "in use" in why else "")) from None
                time.sleep(0.02)
        self._listener.settings = Settings(list(self._lives))
        self._listener.settings.start()

    def _listen(self, certificate: Optional[bytes], key: Optional[bytes]) -> WebSocketServer:
        # a ServerListener without the methods for services that this server does not offer
        listener: Any = self._listener
        return foxglove.start_server(
            name=self._name, host=self._options["host"], port=self._options["port"],
            capabilities=[Capability.Parameters, Capability.ConnectionGraph], server_listener=listener,
            context=self._context, message_backlog_size=self._options["backlog"], tls_cert=certificate, tls_key=key)

    def stop(self) -> None:
        """Ends all connections."""
        self._left = self.port or self._left
        server, self._server = self._server, None
        self._listener.settings.stop()
        if server:
            server.stop()
        self._listener.clear()
        self._warned.clear()
        self._clients = self._behind = 0

    # -- frames --
    def _wanted(self, instance: str, kind: MessageKind) -> bool:
        channel = self._channels.get((instance, kind))
        return bool(channel and channel.has_sinks())

    def images(self, instance: str) -> FrozenSet[str]:
        """Returns the images with a subscriber."""
        if not self._server:
            return NO_IMAGES
        return frozenset(kind.name.lower() for kind in IMAGES if self._wanted(instance, kind))

    def _log(self, work: Work, kind: MessageKind, message: Optional[bytes]) -> int:
        if not message:
            return 0
        name = work.instance.name
        self._channels[name, kind].log(message, log_time=_published_ns(work.frame))
        clients = self._listener.given(_name(name, kind), len(message))
        self._messages += clients
        return clients * len(message)

    def _due(self, name: str, kind: MessageKind, new: bool) -> bool:
        """Returns whether a message that seldom changes is sent now."""
        return self._wanted(name, kind) and (self._listener.take_fresh(_name(name, kind)) or new)

    def _events(self, work: Work, life: _Life) -> int:
        frame, name, sent = work.frame, work.instance.name, 0
        lost = frame.number - life.number - 1
        if frame.epoch != life.epoch:
            # sent with the next report, because the known values are of the previous run
            life.publisher, life.reported = b"", False
            life.pid, life.version, life.classes = 0, "", None
        elif lost > 0 and not self._options["rate_hz"] and self._wanted(name, MessageKind.EVENTS):
            sent += self._log(work, MessageKind.EVENTS, life.messages.gap(frame.epoch, life.number + 1, lost))
        life.epoch, life.number = frame.epoch, frame.number
        publisher = life.messages.publisher(
            life.epoch, life.pid, life.version, life.classes) if life.reported else b""
        new, life.publisher = publisher != life.publisher, publisher
        if publisher and self._due(name, MessageKind.EVENTS, new):
            sent += self._log(work, MessageKind.EVENTS, publisher)
        return sent

    def _calibrations(self, work: Work, life: _Life) -> int:
        new, sent = life.messages.take(work.frame), 0
        life.messages.classes(work.frame.classes)
        if new:
            life.calibrations = {kind: life.messages.make(kind) for kind in CALIBRATIONS}
        for kind in CALIBRATIONS:
            if self._due(work.instance.name, kind, new):
                sent += self._log(work, kind, life.calibrations.get(kind))
        return sent

    def _too_many(self) -> bool:
        """Returns whether there are more clients than allowed, and turns the newest away."""
        if self._listener.clients() <= int(self._options["clients"]):
            return False
        self._limit.keep(self.port)
        return True

    def _no_room(self, size: int) -> bool:
        """Returns whether the waiting data could exceed the budget with an image of this size for each client."""
        listener = self._listener
        most: int = self._options["budget_mb"] * MB - self._options["clients"] * size
        if listener.waiting() <= most // 2:  # early enough to see clients between two of their acknowledgements
            return False
        unsent = connections.unsent(self.port)
        # if the kernel has nothing for a client, nothing waits in the package, either
        slow = sum(count > 0 for count in unsent.values())
        if unsent and not slow:
            listener.forget()
        return listener.waiting(slow if unsent else None) > most

    def send(self, work: Work) -> int:
        """Sends a frame to its subscribers. Returns the bytes."""
        if self._too_many():
            self._frames_withheld += 1
            return 0
        name = work.instance.name
        life = self._lives[name]
        sent = self._events(work, life) + self._calibrations(work, life)
        for kind in self._kinds:
            if kind == MessageKind.EVENTS or kind in CALIBRATIONS or not self._wanted(name, kind):
                continue
            message = life.messages.make(kind)
            if message and kind in IMAGES and self._no_room(len(message)):
                self._images_left_out += 1
            else:
                sent += self._log(work, kind, message)
        self._frames_behind += self._behind
        return sent

    # -- state --
    def report(self, report: Report) -> None:
        """Sends the state of an instance to all clients."""
        server, name = self._server, report.instance.name
        if not server:
            return
        if time.monotonic() - self._looked > LOOK_S:
            self._looked = time.monotonic()
            self._limit.keep(server.port)
            waiting, before = connections.unsent(server.port), self._full
            self._full = {peer for peer, count in waiting.items() if count > BEHIND_BYTES}
            # a client counts only at the second check: one frame alone may fill its buffer
            self._clients, self._behind = len(waiting), len(self._full & before)
        life = self._lives[name]
        life.reported = True
        if report.status:
            life.pid = int(report.status.get("pid") or 0)
            life.version = str(report.status.get("version") or "")
            life.classes = names_in(report.status)
        self._tell_state(server, report)
        self._tell_parameters(server, name, life)
        self._tell_graph(server)

    def _tell_state(self, server: WebSocketServer, report: Report) -> None:
        """Shows the state as a problem until it is good again. Clients that connect later see it, too."""
        name = report.instance.name
        if (report.publisher, report.state) != ("alive", "running"):
            what = report.state if report.publisher == "alive" else "publisher is " + report.publisher
            server.publish_status("%s: %s" % (name, what), foxglove.StatusLevel.Warning, name)
            self._warned.add(name)
        elif name in self._warned:
            server.remove_status([name])
            self._warned.discard(name)

    def _tell_parameters(self, server: WebSocketServer, instance: str, life: _Life) -> None:
        with self._listener.lock:
            followed = {name for name in self._listener.followed if name.startswith("/%s/" % instance)}
        now = {p.name: p for p in self._listener.settings.found[instance] if p.name in followed}
        changed = [p for name, p in now.items() if life.sent.get(name) != p.get_value()]
        life.sent = {name: p.get_value() for name, p in now.items()}
        if changed:
            server.publish_parameter_values(changed)

    def _tell_graph(self, server: WebSocketServer) -> None:
        """Publishes which topics exist and which clients subscribe to them, if that has changed."""
        with self._listener.lock:
            if not self._listener.changed:
                return
            self._listener.changed = False
            subscribers = {topic: sorted(ids) for topic, ids in self._listener.subscribers.items()}
        graph = foxglove.ConnectionGraph()
        for instance, kind in self._channels:
            graph.set_published_topic(_name(instance, kind), [instance])
        for topic, ids in subscribers.items():
            graph.set_subscribed_topic(topic, ["client %d" % number for number in ids])
        server.publish_connection_graph(graph)

    def figures(self) -> Dict[str, float]:
        """Returns counters.

        frames_behind: frames sent while clients were behind, once per client. client_errors: of all sinks of this kind.
        """
        with self._listener.lock:
            subscriptions, refused = sum(map(len, self._listener.subscribers.values())), self._listener.refused
        return {"clients": self._clients, "clients_behind": self._behind, "subscriptions": subscriptions,
                "messages": self._messages, "frames_behind": self._frames_behind, "parameters_refused": refused,
                "client_errors": _log.count,
                "clients_refused": self._limit.ended, "frames_withheld": self._frames_withheld,
                "images_left_out": self._images_left_out}
