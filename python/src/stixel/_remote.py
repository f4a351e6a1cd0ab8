"""A reader of an instance on another machine: the part that does not depend on the transport of the frames.

A Transport brings frames from its own threads into an Inbox, which checks each. A RemoteReader takes them out, and
measures the offset between the clocks of both machines.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import _thread
import collections
import errno
import os
import threading
import time
import weakref
from typing import Any, Deque, Dict, FrozenSet, Iterable, Optional, Tuple

from ._check import verdict
from ._classes import PublisherClasses
from ._clock import Offsets
from ._errors import Died, Ended, NotRunning, Restarted, StixelError, error_of
from ._frame import Frame
from ._layout import Publisher, State, header_of
from ._library import library
from ._reader import Reader, Status, wish

_FRAMES_MAX = 8  # frames that wait to be taken, as many as a ring has
_EPOCHS_MAX = 16  # earlier publishers that are remembered
_SILENCE_S = 3.0  # a publisher that was silent for this time is stalled
_RATE_MAX = 10_000  # frames per second; no camera is faster
_CLOCK_FIRST = 8  # most round trips when a reader is opened; also the number of rounds at the short interval
_CLOCK_AGAIN = 4
_CLOCK_SOON_S = 1.0  # interval of the first rounds
_CLOCK_LATER_S = 10.0
_STOP_S = 3.0
THREADS = "stixel-"  #: prefix of the names of all threads of readers


class Order:
    """Decides by epoch and number which incoming frames are new.

    Other programs may send wrong frames, by mistake or on purpose. So no frame is refused for good: after some time
    without a new frame, a frame that counted as old is new again.
    """

    def __init__(self) -> None:
        self.head = (0, 0)  #: epoch and number of the newest frame
        self._at = 0.0  # time when the newest frame came
        self._anew = True
        self._earlier: Deque[int] = collections.deque(maxlen=_EPOCHS_MAX)

    def begin(self) -> None:
        """Makes the next frame count as new, even if it has an earlier epoch."""
        self._anew = True

    def old(self, epoch: int, number: int) -> bool:
        """Returns whether this frame, or a newer one of its publisher, came before."""
        ahead = number - self.head[1]
        return epoch == self.head[0] and (ahead == 0 or (ahead < 0 and not self._silent()))

    def strange(self, epoch: int, number: int) -> bool:
        """Returns whether the frame is impossible: from a replaced publisher, or too far ahead for the elapsed time."""
        if epoch != self.head[0]:
            return epoch in self._earlier and not self._silent()
        # frames that were delayed on the way may come all at once
        return number - self.head[1] > _RATE_MAX * (time.monotonic() - self._at + _SILENCE_S)

    def take(self, epoch: int, number: int) -> None:
        """Makes this frame the newest one."""
        if epoch != self.head[0]:
            if epoch in self._earlier:
                self._earlier.remove(epoch)
            if self.head[0]:
                self._earlier.append(self.head[0])
        self.head, self._at, self._anew = (epoch, number), time.monotonic(), False

    def _silent(self) -> bool:
        return self._anew or time.monotonic() - self._at > _SILENCE_S


class Inbox:
    """Frames that have come and were not taken yet.

    A transport calls the methods of the first half, from any thread.
    """

    def __init__(self, what: str, follow: bool) -> None:
        self.what = what
        self.follow = follow
        self.pid = os.getpid()
        self.offsets = Offsets()
        self.ask_clock = threading.Event()  # set: query the clock at once
        self.classes = PublisherClasses()  # transports that get a /status give it
        self._changed = threading.Condition()
        self._pipe: Optional[Tuple[int, int]] = None
        self._ringing = False
        self._frames: Deque[Frame] = collections.deque()
        self._order = Order()
        self._present: Optional[bool] = None  # None: no publisher has come yet
        self._died = False
        self._error: Optional[StixelError] = None  # error that stays, however long the reader waits
        self._bad: Optional[int] = None  # errno of a bad frame that was not reported yet
        self._reported = Publisher.ALIVE
        self._state = State.UNKNOWN
        self._version = ""
        self._heard: Optional[float] = None
        # state of the reader that takes the frames
        self._last = (0, 0)
        self._numbers: Dict[int, int] = {}  # number of the last frame taken, for each of the latest epochs
        self._over: Optional[StixelError] = None
        self._taken = self._lost = self._skipped = self._corrupt = self._restarts = 0

    # -- called by the transport --
    def push(self, data: bytes) -> None:
        """Adds a received frame.

        Damaged and impossible frames are counted and dropped. Frames that came before are dropped.
        """
        code = verdict(data)
        frame = Frame(data[:int(header_of(data)["frame_bytes"])], classes=self.classes) if code == 0 else None
        with self._changed:
            if frame is None:
                self._corrupt += 1
                self._bad = code if code == -errno.EPROTONOSUPPORT else -errno.EBADMSG
            elif self._order.old(frame.epoch, frame.number):
                return
            elif self._order.strange(frame.epoch, frame.number):
                self._corrupt += 1
                return
            else:
                self._put(frame)
            self._ring()

    def _put(self, frame: Frame) -> None:
        if self._order.head[0] not in (0, frame.epoch):
            self.ask_clock.set()  # the publisher's machine may have been restarted, too
        self._order.take(frame.epoch, frame.number)
        self._heard = time.monotonic()
        if len(self._frames) == _FRAMES_MAX:
            self._frames.popleft()
        self._frames.append(frame)

    def arrived(self) -> None:
        """Notes that the publisher is present."""
        with self._changed:
            self._heard = time.monotonic()
            self._present, self._reported = True, Publisher.ALIVE
            self._order.begin()
            self._ring()
        self.ask_clock.set()

    def left(self, died: bool) -> None:
        """Notes that the publisher has ended in order, or that the connection broke off.

        Does nothing if the publisher was not present.
        """
        with self._changed:
            if not self._present:
                return
            self._present, self._died = False, died
            self._ring()
        self.offsets.reset()

    def reported(self, publisher: Publisher, state: State, version: str) -> None:
        """Stores the state that the other side reports."""
        with self._changed:
            self._heard = time.monotonic()
            self._reported, self._state, self._version = publisher, state, version

    def broke(self, error: StixelError) -> None:
        """Stores the error that stops the transport. Later calls for frames raise it."""
        with self._changed:
            self._error = error
            self._ring()

    # -- called by the reader --
    @property
    def present(self) -> bool:
        """Whether there is a publisher at the moment."""
        return bool(self._present)

    def _ring(self) -> None:
        self._changed.notify_all()
        if self._pipe and not self._ringing:
            self._ringing = True
            os.write(self._pipe[1], b"\0")

    def _quiet(self) -> None:
        if self._pipe and self._ringing:
            self._ringing = False
            os.read(self._pipe[0], 1)

    def descriptor(self) -> int:
        """Returns a descriptor that is readable while there is a frame to take or an error to raise."""
        with self._changed:
            if self._pipe is None:
                self._pipe = os.pipe()
                self._ringing = True  # a frame may have come before
                os.write(self._pipe[1], b"\0")
            return self._pipe[0]

    def _end(self) -> Optional[StixelError]:
        """Returns the error to raise when no frame is left, or None."""
        if self._error is None and not self.follow and self._present is False:
            self._over = (Died(errno.EPIPE, "%s: the publisher died, or the way to it broke off" % self.what)
                          if self._died else Ended(errno.EPIPE, "%s: the publisher has ended" % self.what))
        return self._over or self._error

    def _restarted(self) -> bool:
        """Returns whether the next frame is of another publisher and the reader does not follow to it."""
        return not self.follow and self._last[0] not in (0, self._frames[0].epoch)

    def _check(self) -> bool:
        """Returns whether there is a frame. Raises any pending error."""
        if self._over:
            raise self._over
        if not self._frames:
            error = self._end()
            if error:
                raise error
            return False
        if self._restarted():
            raise Restarted(errno.ESTALE, "%s: another publisher has taken the name" % self.what)
        return True

    def wait(self, seconds: float) -> bool:
        """Waits until there is something for take(), for at most this time."""
        with self._changed:
            if not self._check() and self._bad is None:
                self._changed.wait(seconds)
            return self._check() or self._bad is not None

    def take(self, newest: bool) -> Optional[Frame]:
        """Returns the next frame, or the newest of the same publisher."""
        with self._changed:
            if self._bad is not None:
                code, self._bad = self._bad, None
                raise error_of(code, "%s: %s" % (self.what, "a frame of another major version of the layout"
                               if code == -errno.EPROTONOSUPPORT else "a damaged frame (sizes, order or checksum)"))
            if not self._check():
                self._quiet()
                return None
            frame = self._frames.popleft()
            while newest and self._frames and (self.follow or self._frames[0].epoch == frame.epoch):
                frame = self._frames.popleft()
            self._count(frame, newest)
        now = self.offsets.at(time.monotonic_ns())
        frame._offset_ns = now.offset_ns if now else None
        return frame

    def _count(self, frame: Frame, newest: bool) -> None:
        epoch, number = frame.epoch, frame.number
        if self._last[0]:
            frame._missed = max(0, number - 1 - self._numbers.get(epoch, 0))
            self._restarts += self._last[0] != epoch
        self._taken += 1
        if newest:
            self._skipped += frame._missed
        else:
            self._lost += frame._missed
        self._last = epoch, number
        self._numbers.pop(epoch, None)
        self._numbers[epoch] = number
        if len(self._numbers) > _EPOCHS_MAX:
            del self._numbers[next(iter(self._numbers))]

    def again(self) -> None:
        """Implements reopen()."""
        with self._changed:
            if not self._present:
                raise NotRunning(errno.ENOENT, "%s: no publisher of this name" % self.what)
            self._over = None
            self._restarts += bool(self._frames and self._restarted())
            self._last = 0, 0

    def _publisher(self, age: Optional[float]) -> Publisher:
        if self._present is None:
            return Publisher.ABSENT
        if not self._present:
            return Publisher.DIED if self._died else Publisher.ENDED
        if self._reported == Publisher.ALIVE and age is not None and age > _SILENCE_S:
            return Publisher.STALLED
        return self._reported

    def status(self) -> Status:
        """Returns the current state of the publisher, and the counters."""
        now_ns = time.monotonic_ns()
        offset = self.offsets.at(now_ns)
        with self._changed:
            age = None if self._heard is None else now_ns / 1e9 - self._heard
            return Status(self._publisher(age), self._state, *self._order.head, 0, age, self._taken,
                          self._lost, self._skipped, 0, self._corrupt, self._restarts, self._version,
                          offset.offset_ns / 1e9 if offset else None, offset.uncertainty_ns / 1e9 if offset else None)

    def close(self) -> None:
        """Closes the descriptor."""
        with self._changed:
            pipe, self._pipe = self._pipe, None
        for fd in pipe or ():
            os.close(fd)


def clock_of(said: Any) -> int:
    """Returns CLOCK_MONOTONIC of another machine, ns, from its answer. Raises ValueError if it has none."""
    value = said.get("monotonic_ns") if isinstance(said, dict) else None
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError("not a time of CLOCK_MONOTONIC")
    return int(value)


class Transport:
    """Brings the frames of one instance. One RemoteReader uses it."""

    def __init__(self, what: str) -> None:
        self.what = what  #: the instance and its place, for sentences: "instance 'front' at robot:7447"

    def start(self, inbox: Inbox) -> None:
        """Connects, then brings all that comes to the inbox, and connects again when the connection was cut.

        Returns when it is known whether there is a publisher: arrived() was called, or not. Raises StixelError when it
        cannot or may not connect. If inbox.follow is set, raises only errors that waiting cannot cure.
        """
        raise NotImplementedError

    def want(self, images: FrozenSet[str]) -> None:
        """Sets which of "left", "right", "disparity" come with the next frames. Raises NotSupported."""
        raise NotImplementedError

    def clock_ns(self) -> Optional[int]:
        """Returns CLOCK_MONOTONIC of the publisher's machine, read during this call; None: no answer within a second.

        A separate thread calls it.
        """
        raise NotImplementedError

    def stop(self) -> None:
        """Ends the work of start(), even if start() failed. Nothing comes to the inbox afterwards. Never raises."""


class _ClockKeeper(threading.Thread):
    """Queries the other machine's clock from time to time."""

    def __init__(self, transport: Transport, inbox: Inbox) -> None:
        super().__init__(name=THREADS + "clock", daemon=True)
        self._transport = transport
        self._inbox = inbox
        self._ended = False

    def ask(self, times: int) -> bool:
        """Queries the clock this number of times, one after the other; False: no answer."""
        for _ in range(times):
            life = self._inbox.offsets.life
            asked_ns = time.monotonic_ns()
            theirs_ns = self._transport.clock_ns()
            if theirs_ns is None:
                return False
            self._inbox.offsets.add(life, asked_ns, theirs_ns, time.monotonic_ns())
        return True

    def run(self) -> None:
        """Queries often at first, then seldom, and at once when ask_clock is set."""
        soon = _CLOCK_FIRST
        while not self._ended:
            self._inbox.ask_clock.wait(_CLOCK_SOON_S if soon else _CLOCK_LATER_S)
            if self._inbox.ask_clock.is_set():
                self._inbox.ask_clock.clear()
                soon = _CLOCK_FIRST
            if not self._ended and self._inbox.present and self.ask(_CLOCK_AGAIN):
                soon = max(0, soon - 1)

    def end(self) -> None:
        """Asks the thread to end soon."""
        self._ended = True
        self._inbox.ask_clock.set()


def _end(keeper: _ClockKeeper, transport: Transport, inbox: Inbox) -> None:
    if os.getpid() == inbox.pid:  # a child after fork() has none of the threads
        keeper.end()
        transport.stop()
        keeper.join(_STOP_S)
    inbox.close()


def _end_elsewhere(keeper: _ClockKeeper, transport: Transport, inbox: Inbox) -> None:
    """Calls _end(), in another thread if necessary.

    The garbage collector may run in a thread that holds the locks, or for which _end() waits.
    """
    if threading.current_thread().name.startswith(THREADS):
        # takes no lock, unlike Thread.start()
        _thread.start_new_thread(
            lambda: threading.Thread(target=_end, args=(keeper, transport, inbox), daemon=True).start(), ())
    else:
        _end(keeper, transport, inbox)


class RemoteReader(Reader):
    """A reader over a transport. next(), latest(), iteration and the rest work as on the publisher's own machine.

    If as many frames wait as a ring has slots, a new frame pushes the oldest out: see Frame.missed. Damaged frames are
    counted, including frames of other programs. status() has the offset of the clocks and its uncertainty.
    """

    def __init__(self, transport: Transport, follow: bool = False, images: Iterable[str] = ()) -> None:
        super().__init__(transport.what)
        library()  # the library checks frames: raises LibraryError here if it is missing
        names = wish(images)
        inbox = Inbox(transport.what, follow)
        self._transport = transport
        self._keeper = _ClockKeeper(transport, inbox)
        try:
            if names:
                transport.want(names)
            transport.start(inbox)
            if not follow and not inbox.present:
                raise NotRunning(errno.ENOENT, "%s: no publisher of this name" % self._what)
            if inbox.present:
                self._keeper.ask(_CLOCK_FIRST)  # gives the first frame its age
        except BaseException:
            transport.stop()
            raise
        self._handle = inbox
        self._keeper.start()
        # also runs when the program ends without close(): threads of packages must not outlive the interpreter
        self._end = weakref.finalize(self, _end_elsewhere, self._keeper, transport, inbox)

    def _take(self, handle: Inbox, newest: bool) -> Optional[Frame]:
        return handle.take(newest)

    def _sleep(self, handle: Inbox, seconds: float) -> bool:
        return handle.wait(seconds)

    def _descriptor(self, handle: Inbox) -> int:
        return handle.descriptor()

    def _want(self, handle: Inbox, images: FrozenSet[str]) -> None:
        self._transport.want(images)

    def _ask(self, handle: Inbox) -> Status:
        return handle.status()

    def _again(self, handle: Inbox) -> None:
        handle.again()

    def _release(self, handle: Inbox) -> None:
        self._end()
