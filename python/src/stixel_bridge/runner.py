"""Threads that keep a connection, and that of a sink, which sends frames and counts everything.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import collections
import threading
import time
from typing import Callable, Deque, Dict, FrozenSet, NamedTuple

from stixel._status import Recent

from .fail import ENDS, SinkError, described, sentence
from .sink import NO_IMAGES, Instance, Report, Sink, Work

BACKOFF_LEAST_S = 0.5
BACKOFF_MOST_S = 30.0
SETTLED_S = 10.0  # after a connection of this length, the waiting time starts again at the least value


class Counts(Recent):
    """Counters of one instance at one sink, since start, and the delays from capture to sending."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = 0  #: frames sent
        self.bytes = 0
        self.dropped_busy = 0  #: frames replaced by newer ones while the sink was busy
        self.dropped_closed = 0  #: frames dropped without a connection, or whose sending lost the connection
        self.unwanted = 0  #: frames passed to the sink without any subscriber
        self.skipped = 0  #: frames left out by rate_hz


class State(NamedTuple):
    """State of a connection."""

    name: str  #: "connecting", "connected", "waiting", "ended"
    why: str  #: reason of "waiting"
    since: float  #: time.monotonic()
    failures: int  #: connections lost or not made, since start
    internal: int  #: internal errors of the program or of a package


class Connected(threading.Thread):
    """Keeps a connection: opens it, serves it, and opens it again after an error.

    A derived class has connect(), serve() and disconnect(); this thread calls them.
    """

    def __init__(self, name: str, say: Callable[[str], None]) -> None:
        super().__init__(name=name, daemon=True)
        self.state = State("connecting", "", time.monotonic(), 0, 0)
        self._say = say
        self._ready = threading.Condition()
        self._ending = False
        self._beside = ""  # the last error that did not concern the connection
        self._connected = 0.0  # time.monotonic() of the connection; 0: this attempt has not connected

    # -- methods of the derived class --
    def connect(self) -> None:
        """Opens the connection. SinkError: there is none; disconnect() follows."""
        raise NotImplementedError

    def serve(self) -> None:
        """Uses the connection until stop() is called. SinkError: it is lost."""
        raise NotImplementedError

    def disconnect(self) -> None:
        """Frees what connect() took, even if it failed."""
        raise NotImplementedError

    def forget(self) -> None:
        """Drops what waits for the connection. The caller holds _ready."""

    # -- common methods --
    def stop(self) -> None:
        """Ends the thread after what it is doing."""
        with self._ready:
            self._ending = True
            self._ready.notify()

    def _internal(self, why: str) -> None:
        """Counts an error that leaves the connection open. Logs it unless it repeats the last one."""
        with self._ready:
            self.state = self.state._replace(internal=self.state.internal + 1)
            again, self._beside = why == self._beside, why
        if not again:
            self._say("%s: %s" % (self.name, why))

    def _go(self, name: str, why: str = "", failed: bool = False, internal: bool = False) -> None:
        with self._ready:
            s = self.state
            self.state = State(name, why, time.monotonic(), s.failures + failed, s.internal + internal)
            if name != "connected":
                self.forget()

    def _attempt(self) -> bool:
        """Opens a connection and serves it to its end; False: it failed."""
        self._go("connecting")
        why, internal, self._connected = "", False, 0.0
        try:
            self.connect()
            self._connected = time.monotonic()
            self._go("connected")
            self._say("%s: connected" % self.name)
            self.serve()
        except SinkError as e:
            why = sentence(e)
        except ENDS:
            raise
        except BaseException as e:  # an error or a panic of a package, or our own; the other connections continue
            why, internal = described(e), True
        finally:
            self._close(why, internal)
        return not why

    def _close(self, why: str, internal: bool) -> None:
        self._go("waiting" if why else "ended", why, failed=bool(why), internal=internal)
        try:
            self.disconnect()
        except ENDS:
            raise
        except BaseException as e:
            self._say("%s: %s: %s while it was closed" % (self.name, type(e).__name__, sentence(e)))

    def run(self) -> None:
        wait, said = BACKOFF_LEAST_S, ""
        while True:
            if self._attempt():
                return
            if self._connected and time.monotonic() - self._connected > SETTLED_S:
                wait, said = BACKOFF_LEAST_S, ""
            if self.state.why != said:  # a repeated error is only counted
                said = self.state.why
                self._say("%s: %s; tried again, after %g s and ever longer, %g s at most" % (
                    self.name, said, wait, BACKOFF_MOST_S))
            with self._ready:
                if self._ready.wait_for(lambda: self._ending, wait):
                    return
            wait = min(BACKOFF_MOST_S, 2 * wait)


class Runner(Connected):
    """Runs one sink. The instances' threads call put() and report(). This thread calls all methods of the sink."""

    def __init__(self, sink: Sink, say: Callable[[str], None]) -> None:
        super().__init__("sink " + sink.name, say)
        self.sink = sink
        self.counts: Dict[str, Counts] = {i.name: Counts() for i in sink.instances}
        self._work: Dict[str, Deque[Work]] = {name: collections.deque() for name in self.counts}
        self._reports: Dict[str, Report] = {}
        self._order: Deque[str] = collections.deque()  # names of the instances with waiting frames, oldest frame first
        self._due_ns: Dict[str, int] = {}

    # -- called by the instances' threads --
    def put(self, work: Work) -> None:
        """Queues a frame. If the queue is full, drops the oldest waiting frame."""
        name = work.instance.name
        counts, waiting = self.counts[name], self._work[name]
        rate = self.sink.options["rate_hz"]
        with self._ready:
            if rate and not self._due(name, work.taken_ns, int(1e9 / rate)):
                counts.skipped += 1
                return
            if self.state.name != "connected":
                counts.dropped_closed += 1
                return
            while len(waiting) >= self.sink.options["queue"]:
                waiting.popleft()
                self._order.remove(name)
                counts.dropped_busy += 1
            waiting.append(work)
            self._order.append(name)
            self._ready.notify()

    def _due(self, name: str, taken_ns: int, period_ns: int) -> bool:
        """Returns whether rate_hz lets this frame pass. A frame may be early by a quarter of the period."""
        due = self._due_ns.get(name, taken_ns)
        if taken_ns < due - period_ns // 4:
            return False
        self._due_ns[name] = max(due, taken_ns - period_ns) + period_ns
        return True

    def report(self, report: Report) -> None:
        """Stores the state of an instance. A newer report replaces an older one."""
        with self._ready:
            self._reports[report.instance.name] = report
            self._ready.notify()

    def images(self, instance: Instance) -> FrozenSet[str]:
        """Returns the images that the sink wants with the frames of an instance."""
        if self.state.name != "connected":
            return NO_IMAGES
        try:
            return self.sink.images(instance)
        except ENDS:
            raise
        except BaseException as e:  # an error of the sink must not end the instance's thread, which runs this
            self._internal("images: " + described(e))
            return NO_IMAGES

    # -- the thread --
    def connect(self) -> None:
        self.sink.open()

    def disconnect(self) -> None:
        self.sink.close()

    def forget(self) -> None:
        for instance, waiting in self._work.items():
            self.counts[instance].dropped_closed += len(waiting)
            waiting.clear()
        self._order.clear()

    def serve(self) -> None:
        """Sends frames and reports until stop() is called."""
        while True:
            with self._ready:
                while not self._ending and not self._order and not self._reports:
                    self._ready.wait()
                if self._ending:
                    return
                reports, self._reports = self._reports, {}
                name = self._order.popleft() if self._order else ""
                work = self._work[name].popleft() if name else None
            if work:
                self._send(work, self.counts[name])
            for report in reports.values():
                self.sink.report(report)

    def _send(self, work: Work, counts: Counts) -> None:
        try:
            size = self.sink.send(work)
        except BaseException:
            counts.dropped_closed += 1
            raise
        if not size:
            counts.unwanted += 1
            return
        now = time.monotonic_ns()
        counts.sent += 1
        counts.bytes += size
        counts.latencies.append((now, now - work.frame.captured_ns))
