"""A sink's thread: frames to it, connections opened again, everything counted.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import collections
import threading
import time
from typing import Callable, Deque, Dict, FrozenSet, List, NamedTuple, Optional, Tuple

from .fail import ENDS, SinkError, described, sentence
from .sink import NO_IMAGES, Instance, Report, Sink, Work

BACKOFF_LEAST_S = 0.5
BACKOFF_MOST_S = 30.0
SETTLED_S = 10.0  # a connection that held so long begins anew with the shortest wait
LATENCIES = 1024
WINDOW_NS = 10_000_000_000


class Counts:
    """Of one instance at one sink, since start."""

    def __init__(self) -> None:
        self.sent = 0  #: frames
        self.bytes = 0
        self.dropped_busy = 0  #: a newer one came while the sink was busy
        self.dropped_closed = 0  #: there was no connection, or it was lost over the frame
        self.unwanted = 0  #: given to the sink, of which nobody wanted anything
        self.skipped = 0  #: left out by rate_hz
        self.latencies: Deque[Tuple[int, int]] = collections.deque(maxlen=LATENCIES)  # when; since capture; ns

    def quantiles(self, wanted: List[float]) -> Optional[List[float]]:
        """Of the last ten seconds, s; None: nothing was sent."""
        since = time.monotonic_ns() - WINDOW_NS
        recent = sorted(ns for when, ns in list(self.latencies) if when >= since)
        if not recent:
            return None
        return [recent[min(len(recent) - 1, int(q * len(recent)))] / 1e9 for q in wanted]

    def per_second(self) -> float:
        """Frames sent, over the last ten seconds."""
        since = time.monotonic_ns() - WINDOW_NS
        recent = [when for when, _ in list(self.latencies) if when >= since]
        return (len(recent) - 1) * 1e9 / (recent[-1] - recent[0]) if len(recent) > 1 else 0.0


class State(NamedTuple):
    """Of a sink's connection."""

    name: str  #: "connecting", "connected", "waiting", "ended"
    why: str  #: of "waiting": what went wrong
    since: float  #: time.monotonic()
    failures: int  #: connections that were lost or not made, since start
    internal: int  #: errors of the program's own, or of a package


class Runner(threading.Thread):
    """Runs one sink. put() and report() are called by the instances' threads, everything of the sink by this one."""

    def __init__(self, sink: Sink, say: Callable[[str], None]) -> None:
        super().__init__(name="sink " + sink.name, daemon=True)
        self.sink = sink
        self.counts: Dict[str, Counts] = {i.name: Counts() for i in sink.instances}
        self.state = State("connecting", "", time.monotonic(), 0, 0)
        self._say = say
        self._ready = threading.Condition()
        self._work: Dict[str, Deque[Work]] = {name: collections.deque() for name in self.counts}
        self._reports: Dict[str, Report] = {}
        self._order: Deque[str] = collections.deque()  # of instances that have work
        self._due_ns: Dict[str, int] = {}
        self._ending = False
        self._beside = ""  # the last error beside the connection
        self._connected = 0.0  # since when; 0: this attempt did not come so far

    # -- from the instances' threads --
    def put(self, work: Work) -> None:
        """A frame; takes the place of the oldest that waits where there is no room."""
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
        """Whether rate_hz lets this frame through; it may be early by a quarter of the period."""
        due = self._due_ns.get(name, taken_ns)
        if taken_ns < due - period_ns // 4:
            return False
        self._due_ns[name] = max(due, taken_ns - period_ns) + period_ns
        return True

    def report(self, report: Report) -> None:
        """How an instance is; the newest one counts."""
        with self._ready:
            self._reports[report.instance.name] = report
            self._ready.notify()

    def images(self, instance: Instance) -> FrozenSet[str]:
        """What the sink wants with the frames of an instance."""
        if self.state.name != "connected":
            return NO_IMAGES
        try:
            return self.sink.images(instance)
        except ENDS:
            raise
        except BaseException as e:  # it is no fault of the instance, whose thread this is
            self._internal("images: " + described(e))
            return NO_IMAGES

    def _internal(self, why: str) -> None:
        """An error beside the connection, which stays: counted, and the same again is not said."""
        with self._ready:
            self.state = self.state._replace(internal=self.state.internal + 1)
            again, self._beside = why == self._beside, why
        if not again:
            self._say("sink %s: %s" % (self.sink.name, why))

    def stop(self) -> None:
        """Ends the thread, after the frame that is being sent."""
        with self._ready:
            self._ending = True
            self._ready.notify()

    # -- the thread --
    def _go(self, name: str, why: str = "", failed: bool = False, internal: bool = False) -> None:
        with self._ready:
            s = self.state
            self.state = State(name, why, time.monotonic(), s.failures + failed, s.internal + internal)
            if name != "connected":
                for instance, waiting in self._work.items():
                    self.counts[instance].dropped_closed += len(waiting)
                    waiting.clear()
                self._order.clear()

    def _serve(self) -> None:
        """Sends what comes until it ends."""
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

    def _attempt(self) -> bool:
        """A connection from its opening to its end; False: it failed."""
        self._go("connecting")
        why, internal, self._connected = "", False, 0.0
        try:
            self.sink.open()
            self._connected = time.monotonic()
            self._go("connected")
            self._say("sink %s: connected" % self.sink.name)
            self._serve()
        except SinkError as e:
            why = sentence(e)
        except ENDS:
            raise
        except BaseException as e:  # a package's, a panic of it even, or our own: the others go on
            why, internal = described(e), True
        finally:
            self._close(why, internal)
        return not why

    def _close(self, why: str, internal: bool) -> None:
        self._go("waiting" if why else "ended", why, failed=bool(why), internal=internal)
        try:
            self.sink.close()
        except ENDS:
            raise
        except BaseException as e:
            self._say("sink %s: %s: %s while it was closed" % (self.sink.name, type(e).__name__, sentence(e)))

    def run(self) -> None:
        wait, said = BACKOFF_LEAST_S, ""
        while True:
            if self._attempt():
                return
            if self._connected and time.monotonic() - self._connected > SETTLED_S:
                wait, said = BACKOFF_LEAST_S, ""
            if self.state.why != said:  # the same again is counted, not said
                said = self.state.why
                self._say("sink %s: %s; tried again, after %g s and ever longer, %g s at most" % (
                    self.sink.name, said, wait, BACKOFF_MOST_S))
            with self._ready:
                if self._ready.wait_for(lambda: self._ending, wait):
                    return
            wait = min(BACKOFF_MOST_S, 2 * wait)
