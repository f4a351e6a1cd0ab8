"""A reader of an instance on another machine: what does not depend on how its frames travel.

A Transport brings frames from threads of its own into an Inbox, which looks at each; a RemoteReader takes them out, and
keeps the offset between both machines' clocks.

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
from ._clock import Offsets
from ._errors import Died, Ended, NotRunning, Restarted, StixelError, error_of
from ._frame import Frame
from ._layout import Publisher, State, header_of
from ._library import library
from ._reader import Reader, Status, wish

_FRAMES_MAX = 8  # that wait to be taken: as many as a ring has
_EPOCHS_MAX = 16  # of earlier publishers that are known again
_SILENCE_S = 3.0  # a publisher of which nothing was heard so long is stalled
_RATE_MAX = 10_000  # frames a second: more no camera gives
_CLOCK_FIRST = 8  # round trips when a reader is opened, at most
_CLOCK_AGAIN = 4
_CLOCK_SOON_S = 1.0  # until there are some
_CLOCK_LATER_S = 10.0
_STOP_S = 3.0
THREADS = "stixel-"  #: names of all threads of readers begin so


class Order:
    """Which of the frames that come are new, by epoch and number. Others may send wrong ones, by mistake or not.

    So nothing is refused for good: once no new frame has come for a while, one that counted as old is new again.
    """

    def __init__(self) -> None:
        self.head = (0, 0)  #: epoch and number of the newest
        self._at = 0.0  # when it came
        self._anew = True
        self._earlier: Deque[int] = collections.deque(maxlen=_EPOCHS_MAX)

    def begin(self) -> None:
        """The next frame is new, though it be of an earlier epoch."""
        self._anew = True

    def old(self, epoch: int, number: int) -> bool:
        """Whether it came before, or something newer of its publisher did."""
        ahead = number - self.head[1]
        return epoch == self.head[0] and (ahead == 0 or (ahead < 0 and not self._silent()))

    def strange(self, epoch: int, number: int) -> bool:
        """Whether it cannot be: of a publisher that another has followed, or too far ahead for the time."""
        if epoch != self.head[0]:
            return epoch in self._earlier and not self._silent()
        # those that waited on the way come at once
        return number - self.head[1] > _RATE_MAX * (time.monotonic() - self._at + _SILENCE_S)

    def take(self, epoch: int, number: int) -> None:
        """It is the newest from now on."""
        if epoch != self.head[0]:
            if epoch in self._earlier:
                self._earlier.remove(epoch)
            if self.head[0]:
                self._earlier.append(self.head[0])
        self.head, self._at, self._anew = (epoch, number), time.monotonic(), False

    def _silent(self) -> bool:
        return self._anew or time.monotonic() - self._at > _SILENCE_S


class Inbox:
    """What has come and was not taken yet. A transport calls the methods of the first half, from any thread."""

    def __init__(self, what: str, follow: bool) -> None:
        self.what = what
        self.follow = follow
        self.pid = os.getpid()
        self.offsets = Offsets()
        self.ask_clock = threading.Event()  # now, not by and by
        self._changed = threading.Condition()
        self._pipe: Optional[Tuple[int, int]] = None
        self._ringing = False
        self._frames: Deque[Frame] = collections.deque()
        self._order = Order()
        self._present: Optional[bool] = None  # None: never was
        self._died = False
        self._error: Optional[StixelError] = None  # that no waiting cures
        self._bad: Optional[int] = None  # errno of a frame that was no good, not told yet
        self._told = Publisher.ALIVE
        self._state = State.UNKNOWN
        self._version = ""
        self._heard: Optional[float] = None
        # of who takes
        self._last = (0, 0)
        self._numbers: Dict[int, int] = {}  # what was taken last of each epoch, the latest ones
        self._over: Optional[StixelError] = None
        self._taken = self._lost = self._skipped = self._corrupt = self._restarts = 0

    # -- from the transport --
    def push(self, data: bytes) -> None:
        """A frame as it came. What is damaged or cannot be is counted and passed over; so is what came before."""
        code = verdict(data)
        frame = Frame(data[:int(header_of(data)["frame_bytes"])]) if code == 0 else None
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
            self.ask_clock.set()  # its machine may have been started anew, too
        self._order.take(frame.epoch, frame.number)
        self._heard = time.monotonic()
        if len(self._frames) == _FRAMES_MAX:
            self._frames.popleft()
        self._frames.append(frame)

    def arrived(self) -> None:
        """The publisher is there."""
        with self._changed:
            self._heard = time.monotonic()
            self._present, self._told = True, Publisher.ALIVE
            self._order.begin()
            self._ring()
        self.ask_clock.set()

    def left(self, died: bool) -> None:
        """The publisher has ended in order, or the way to it broke off. Nothing, if it was not there."""
        with self._changed:
            if not self._present:
                return
            self._present, self._died = False, died
            self._ring()
        self.offsets.reset()

    def told(self, publisher: Publisher, state: State, version: str) -> None:
        """What the other side says of it."""
        with self._changed:
            self._heard = time.monotonic()
            self._told, self._state, self._version = publisher, state, version

    def broke(self, error: StixelError) -> None:
        """The transport cannot go on: told to whoever asks for frames from now on."""
        with self._changed:
            self._error = error
            self._ring()

    # -- from the reader --
    @property
    def present(self) -> bool:
        """Whether there is a publisher, now."""
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
        """Readable while there is something to take or to tell."""
        with self._changed:
            if self._pipe is None:
                self._pipe = os.pipe()
                self._ringing = True  # something may have come before
                os.write(self._pipe[1], b"\0")
            return self._pipe[0]

    def _end(self) -> Optional[StixelError]:
        """What is said when nothing is left."""
        if self._error is None and not self.follow and self._present is False:
            self._over = (Died(errno.EPIPE, "%s: the publisher died, or the way to it broke off" % self.what)
                          if self._died else Ended(errno.EPIPE, "%s: the publisher has ended" % self.what))
        return self._over or self._error

    def _restarted(self) -> bool:
        """Whether the next frame is of another publisher, which only a reader that follows goes over to."""
        return not self.follow and self._last[0] not in (0, self._frames[0].epoch)

    def _check(self) -> bool:
        """Whether there is a frame; raises what else is to be told."""
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
        """Until there is something for take(), so long at most."""
        with self._changed:
            if not self._check() and self._bad is None:
                self._changed.wait(seconds)
            return self._check() or self._bad is not None

    def take(self, newest: bool) -> Optional[Frame]:
        """The next frame, or the newest of the same publisher."""
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
        """For reopen()."""
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
        if self._told == Publisher.ALIVE and age is not None and age > _SILENCE_S:
            return Publisher.STALLED
        return self._told

    def status(self) -> Status:
        """How the publisher is, now, and what was counted."""
        now_ns = time.monotonic_ns()
        offset = self.offsets.at(now_ns)
        with self._changed:
            age = None if self._heard is None else now_ns / 1e9 - self._heard
            return Status(self._publisher(age), self._state, *self._order.head, 0, age, self._taken,
                          self._lost, self._skipped, 0, self._corrupt, self._restarts, self._version,
                          offset.offset_ns / 1e9 if offset else None, offset.uncertainty_ns / 1e9 if offset else None)

    def close(self) -> None:
        """Gives the descriptor back."""
        with self._changed:
            pipe, self._pipe = self._pipe, None
        for fd in pipe or ():
            os.close(fd)


def clock_of(said: Any) -> int:
    """CLOCK_MONOTONIC of another machine, ns, in what it says; ValueError where that is none."""
    value = said.get("monotonic_ns") if isinstance(said, dict) else None
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError("not a time of CLOCK_MONOTONIC")
    return int(value)


class Transport:
    """How the frames of one instance travel. One RemoteReader uses it."""

    def __init__(self, what: str) -> None:
        self.what = what  #: the instance and where it is, in sentences: "instance 'front' at robot:7447"

    def start(self, inbox: Inbox) -> None:
        """Connects; from then on brings what comes to the inbox, and connects again when it was cut off.

        Returns when it is known whether there is a publisher: arrived() was called, or not. StixelError when it cannot
        connect, or may not; where inbox.follow is set only for what no waiting cures.
        """
        raise NotImplementedError

    def want(self, images: FrozenSet[str]) -> None:
        """Which of "left", "right", "disparity" are to come with the frames from now on. NotSupported."""
        raise NotImplementedError

    def clock_ns(self) -> Optional[int]:
        """CLOCK_MONOTONIC of the publisher's machine, read during this call; None: no answer within a second.

        Called from a thread of its own.
        """
        raise NotImplementedError

    def stop(self) -> None:
        """Ends what start() began, also after it failed. Nothing comes to the inbox from then on. Never raises."""


class _ClockKeeper(threading.Thread):
    """Asks for the other machine's clock by and by."""

    def __init__(self, transport: Transport, inbox: Inbox) -> None:
        super().__init__(name=THREADS + "clock", daemon=True)
        self._transport = transport
        self._inbox = inbox
        self._ended = False

    def ask(self, times: int) -> bool:
        """Some round trips, one after the other; False: no answer."""
        for _ in range(times):
            life = self._inbox.offsets.life
            asked_ns = time.monotonic_ns()
            theirs_ns = self._transport.clock_ns()
            if theirs_ns is None:
                return False
            self._inbox.offsets.add(life, asked_ns, theirs_ns, time.monotonic_ns())
        return True

    def run(self) -> None:
        """Often at first, then seldom; at once when there is reason."""
        soon = _CLOCK_FIRST
        while not self._ended:
            self._inbox.ask_clock.wait(_CLOCK_SOON_S if soon else _CLOCK_LATER_S)
            if self._inbox.ask_clock.is_set():
                self._inbox.ask_clock.clear()
                soon = _CLOCK_FIRST
            if not self._ended and self._inbox.present and self.ask(_CLOCK_AGAIN):
                soon = max(0, soon - 1)

    def end(self) -> None:
        """Soon."""
        self._ended = True
        self._inbox.ask_clock.set()


def _end(keeper: _ClockKeeper, transport: Transport, inbox: Inbox) -> None:
    if os.getpid() == inbox.pid:  # a child after fork() has none of the threads
        keeper.end()
        transport.stop()
        keeper.join(_STOP_S)
    inbox.close()


def _end_elsewhere(keeper: _ClockKeeper, transport: Transport, inbox: Inbox) -> None:
    """_end(), for the garbage collector may run in a thread that holds the locks, or is to be waited for."""
    if threading.current_thread().name.startswith(THREADS):
        # takes no lock, as Thread.start() does
        _thread.start_new_thread(
            lambda: threading.Thread(target=_end, args=(keeper, transport, inbox), daemon=True).start(), ())
    else:
        _end(keeper, transport, inbox)


class RemoteReader(Reader):
    """A reader over a transport: next(), latest(), iteration and the rest are as on the publisher's own machine.

    Frames that come while as many wait as a ring has push the oldest out: Frame.missed. Damaged ones are counted, also
    those that somebody else sent. status() says how far the clocks are apart, and how sure that is.
    """

    def __init__(self, transport: Transport, follow: bool = False, images: Iterable[str] = ()) -> None:
        super().__init__(transport.what)
        library()  # it checks frames: raises LibraryError here if it is missing
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
                self._keeper.ask(_CLOCK_FIRST)  # so that the first frame has its age
        except BaseException:
            transport.stop()
            raise
        self._handle = inbox
        self._keeper.start()
        # also when the program ends without close(): threads of packages must not outlive the interpreter
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
