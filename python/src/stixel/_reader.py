"""A reader of one instance: what all of them share. _ring.py reads on this machine, _remote.py from elsewhere.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import asyncio
import logging
import math
import os
import threading
import time
from typing import TYPE_CHECKING, Any, FrozenSet, Iterable, NamedTuple, Optional, Set

from ._errors import Damaged, Died, Ended, StixelError
from ._frame import Frame
from ._layout import Plane, Publisher, State

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Type

# Longest sleep at once: then signals and close() are looked at. A signal that comes just before the sleep begins would
# else be seen with the next frame only.
_SLICE_S = 0.25
# A reader that waits says so after this time. Without a handler of the program's own logging prints it to stderr.
_TELL_S = 1.0
_logger = logging.getLogger("stixel")
IMAGES = {"left": Plane.LEFT, "right": Plane.RIGHT, "disparity": Plane.DISPARITY}


class Status(NamedTuple):
    """What a reader knows of its publisher and of itself."""

    publisher: Publisher  #: how it is
    state: State  #: what it says of itself
    epoch: int
    head: int  #: number of the newest frame, 0 none
    pid: int
    heartbeat_age: Optional[float]  #: s; None: not known
    taken: int  #: frames, by this reader since it was opened; likewise below
    lost: int  #: overwritten before next() took them
    skipped: int  #: passed over by latest()
    overruns: int  #: copies thrown away because the publisher came round
    corrupt: int  #: frames that failed the check; from other machines also those that cannot be, by epoch and number
    restarts: int  #: changes of epoch
    version: str  #: of the publisher; empty on a stream
    clock_offset: Optional[float] = 0.0  #: s, its CLOCK_MONOTONIC less that of this machine; None: not measured yet
    clock_uncertainty: Optional[float] = 0.0  #: s: the offset is right to so much, either way


def _deadline(timeout: Optional[float]) -> Optional[float]:
    if timeout is None:
        return None
    if math.isnan(timeout):
        raise ValueError("a timeout of nan")
    return time.monotonic() + timeout


def _left(deadline: Optional[float]) -> float:
    """Seconds to sleep at once."""
    return _SLICE_S if deadline is None else max(0.0, min(_SLICE_S, deadline - time.monotonic()))


def wish(images: Iterable[str]) -> FrozenSet[str]:
    """Names of images, looked at."""
    names = [images] if isinstance(images, str) else list(images)
    for name in names:
        if name not in IMAGES:
            raise ValueError("image %r: there are 'left', 'right' and 'disparity'" % (name,))
    return frozenset(names)


class Reader:
    """Frames of one instance. Made by stixel.open() and its like.

    Iteration gives every frame in order, waits for each, passes over damaged ones, and ends when the publisher ends in
    order; Died and Restarted are raised. `async for` does the same without a thread.

    A reader is for one thread at a time (a second one gets RuntimeError, as does a child after fork()); close() may be
    called from any.
    """

    def __init__(self, what: str) -> None:
        """what: the instance, in sentences."""
        self._handle: Any = None  # what it reads from; None: closed
        self._lock = threading.Lock()
        self._closing = False
        self._what = what
        self._pid = os.getpid()
        self._waits_since: Optional[float] = None  # s, monotonic: for the frame that comes next; None: not yet
        self._waits_told: Set[str] = set()  # sentences since the last frame

    # -- what each kind has of its own; handle is what _enter() gave --
    def _take(self, handle: Any, newest: bool) -> Optional[Frame]:
        """A frame that is there, at once."""
        raise NotImplementedError

    def _sleep(self, handle: Any, seconds: float) -> bool:
        """Waits for a frame, so long at most; signals may end it before."""
        raise NotImplementedError

    def _descriptor(self, handle: Any) -> int:
        """For fileno(); NotConnected when there is none."""
        raise NotImplementedError

    def _want(self, handle: Any, images: FrozenSet[str]) -> None:
        raise NotImplementedError

    def _ask(self, handle: Any) -> Status:
        raise NotImplementedError

    def _again(self, handle: Any) -> None:
        """For reopen()."""
        raise NotImplementedError

    def _release(self, handle: Any) -> None:
        """For close()."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return "<stixel.Reader of %s%s>" % (self._what, "" if self._handle else ", closed")

    # -- who may use it --
    def _enter(self) -> Any:
        if self._handle is None or self._closing:
            raise ValueError("%s: the reader is closed" % self._what)
        if self._pid != os.getpid():
            raise RuntimeError("%s: the reader was opened before fork(): open one in the child" % self._what)
        if not self._lock.acquire(False):
            raise RuntimeError("%s: the reader is in use by another thread or task: open one for each" % self._what)
        if self._handle is None:
            self._lock.release()
            raise ValueError("%s: the reader is closed" % self._what)
        return self._handle

    def _leave(self) -> None:
        while True:
            if self._closing and self._handle is not None:
                handle, self._handle = self._handle, None
                self._release(handle)
            self._lock.release()
            # close() may have come between the look and the release
            if not self._closing or self._handle is None or not self._lock.acquire(False):
                return

    def close(self) -> None:
        """Gives everything back. Whoever waits in another thread gets ValueError within a quarter of a second."""
        self._closing = True
        if self._handle is not None and self._lock.acquire(False):
            self._leave()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._closing

    # -- frames --
    def _tell_wait(self, handle: Any) -> None:
        """Logs why no frame comes, once a second has gone, and once until the next frame."""
        if self._waits_since is None:
            self._waits_since = time.monotonic()
        if time.monotonic() - self._waits_since < _TELL_S:
            return
        status = self._ask(handle)
        why = ""
        if status.publisher == Publisher.STALLED:
            why = "its publisher (process %d) hangs" % status.pid
        elif status.publisher != Publisher.ALIVE:
            why = "nothing publishes under this name"
        elif status.state != State.RUNNING:
            why = "no frame comes, its state is %s" % status.state.name.lower()
        if why and why not in self._waits_told:
            self._waits_told.add(why)
            _logger.warning("%s: %s; waiting", self._what, why)

    def _took(self, frame: Optional[Frame]) -> Optional[Frame]:
        if frame is not None:
            self._waits_since = None
            self._waits_told.clear()
        return frame

    def _wait(self, handle: Any, deadline: Optional[float]) -> bool:
        while True:
            if self._sleep(handle, _left(deadline)):
                return True
            self._tell_wait(handle)
            if self._closing:
                raise ValueError("%s: the reader was closed while it waited" % self._what)
            if deadline is not None and time.monotonic() >= deadline:
                return False

    def _get(self, newest: bool, timeout: Optional[float]) -> Optional[Frame]:
        deadline = _deadline(timeout)
        handle = self._enter()
        try:
            while True:
                frame = self._took(self._take(handle, newest))
                if frame is not None or timeout == 0 or not self._wait(handle, deadline):
                    return frame
        finally:
            self._leave()

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Waits for a frame that was not taken yet, s (None: no limit). False: none within the time.

        Raises Ended, Died, Restarted. Other threads run meanwhile, and KeyboardInterrupt comes through.
        """
        deadline = _deadline(timeout)
        handle = self._enter()
        try:
            return self._wait(handle, deadline)
        finally:
            self._leave()

    def latest(self, timeout: Optional[float] = 0) -> Optional[Frame]:
        """The newest frame if it was not taken yet, passing over older ones; else waits up to timeout s for one.

        None: none within the time. Raises Damaged, Ended, Died, Restarted.
        """
        return self._get(True, timeout)

    def next(self, timeout: Optional[float] = 0) -> Optional[Frame]:
        """The frame after the one taken last; else waits up to timeout s for one. Frame.missed: overwritten in between.

        None: none within the time. Raises Damaged, Ended, Died, Restarted.
        """
        return self._get(False, timeout)

    def __iter__(self) -> Reader:
        return self

    def __next__(self) -> Frame:
        while True:
            try:
                frame = self._get(False, None)
            except Damaged:
                continue  # counted in status().corrupt
            except Ended as e:
                if isinstance(e, Died):
                    raise
                raise StopIteration from None
            if frame is not None:
                return frame

    def __aiter__(self) -> Reader:
        return self

    async def __anext__(self) -> Frame:
        handle = self._enter()
        try:
            while True:
                try:
                    frame = self._took(self._take(handle, False))
                except Damaged:
                    continue
                except Ended as e:
                    if isinstance(e, Died):
                        raise
                    raise StopAsyncIteration from None
                if frame is not None:
                    return frame
                await self._readable(handle)
                self._tell_wait(handle)
                if self._closing:
                    raise ValueError("%s: the reader was closed while it waited" % self._what)
        finally:
            self._leave()

    async def _readable(self, handle: Any) -> None:
        """Until the descriptor has something, a slice at most."""
        try:
            fd = self._descriptor(handle)
        except StixelError:  # no publisher, or one without a socket: look again by and by
            await asyncio.sleep(0.01)
            return
        loop = asyncio.get_running_loop()
        ready = loop.create_future()

        def wake() -> None:
            if not ready.done():
                ready.set_result(None)

        loop.add_reader(fd, wake)
        try:
            await asyncio.wait([ready], timeout=_SLICE_S)
        finally:
            loop.remove_reader(fd)
            ready.cancel()

    # -- beside other descriptors --
    def fileno(self) -> int:
        """For select() and selectors: readable when it is time to call latest() or next() until they give None.

        Never read from it. It changes when the publisher does, so ask before each select(). NotConnected when there is
        no publisher or it has no frame socket.
        """
        handle = self._enter()
        try:
            return self._descriptor(handle)
        finally:
            self._leave()

    # -- the rest --
    def want_images(self, *images: str) -> None:
        """Asks the publisher for "left", "right", "disparity" with the frames to come; without a name for none.

        They cost the publisher a copy of each, and come for as long as this reader is open. NotSupported on a stream,
        NotConnected when the publisher has no frame socket.
        """
        names = wish(images)
        handle = self._enter()
        try:
            self._want(handle, names)
        finally:
            self._leave()

    def status(self) -> Status:
        """What is known of the publisher, now, and what this reader has counted."""
        handle = self._enter()
        try:
            return self._ask(handle)
        finally:
            self._leave()

    def reopen(self) -> None:
        """Leaves the present publisher and opens the one that has the name now: after Restarted, Ended, Died."""
        handle = self._enter()
        try:
            self._again(handle)
        finally:
            self._leave()
