"""The base class of all readers of one instance. _ring.py reads on this machine, _remote.py from other machines.

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

# Longest single sleep. After each one, the reader checks for signals and close(). Without this limit, a signal that
# comes just before the sleep begins would be seen only with the next frame.
_SLICE_S = 0.25
# Time after which a waiting reader logs a warning. If the program has no logging handler, Python prints it to stderr.
_TELL_S = 1.0
_logger = logging.getLogger("stixel")
IMAGES = {"left": Plane.LEFT, "right": Plane.RIGHT, "disparity": Plane.DISPARITY}


class Status(NamedTuple):
    """State of the publisher and counters of the reader."""

    publisher: Publisher  #: state of the publisher, as the reader sees it
    state: State  #: state that the publisher reports of itself
    epoch: int
    head: int  #: number of the newest frame, 0: none
    pid: int
    heartbeat_age: Optional[float]  #: age of the last heartbeat, s; None: not known
    taken: int  #: frames taken by this reader since it was opened. The counters below count from then, too
    lost: int  #: frames overwritten before next() took them
    skipped: int  #: frames passed over by latest()
    overruns: int  #: copies discarded because the publisher overwrote the slot meanwhile
    corrupt: int  #: frames that failed the check; from other machines also those with an impossible epoch or number
    restarts: int  #: number of changes of epoch
    version: str  #: version of the publisher; empty on a stream
    #: s, CLOCK_MONOTONIC of the publisher minus that of this machine; None: not measured yet
    clock_offset: Optional[float] = 0.0
    clock_uncertainty: Optional[float] = 0.0  #: s: largest error of clock_offset, in either direction


def _deadline(timeout: Optional[float]) -> Optional[float]:
    if timeout is None:
        return None
    if math.isnan(timeout):
        raise ValueError("a timeout of nan")
    return time.monotonic() + timeout


def _left(deadline: Optional[float]) -> float:
    """Returns the length of the next sleep, s."""
    return _SLICE_S if deadline is None else max(0.0, min(_SLICE_S, deadline - time.monotonic()))


def wish(images: Iterable[str]) -> FrozenSet[str]:
    """Checks names of images. Returns them as a set. Raises ValueError."""
    names = [images] if isinstance(images, str) else list(images)
    for name in names:
        if name not in IMAGES:
            raise ValueError("image %r: there are 'left', 'right' and 'disparity'" % (name,))
    return frozenset(names)


class Reader:
    """Reads the frames of one instance. stixel.open() and similar functions make readers.

    Iteration returns every frame in order and waits for each. It passes over damaged frames, and ends when the
    publisher ends in order. It raises Died and Restarted. `async for` does the same without a thread.

    One thread at a time may use a reader. A second thread gets RuntimeError, and so does a child after fork(). Any
    thread may call close().
    """

    def __init__(self, what: str) -> None:
        """Takes a description of the instance for sentences."""
        self._handle: Any = None  # source of the frames; None: closed
        self._lock = threading.Lock()
        self._closing = False
        self._what = what
        self._pid = os.getpid()
        # time when waiting for the next frame began, s, monotonic; None: not waiting
        self._waits_since: Optional[float] = None
        self._waits_logged: Set[str] = set()  # sentences logged since the last frame

    # -- methods of each kind of reader; handle is the result of _enter() --
    def _take(self, handle: Any, newest: bool) -> Optional[Frame]:
        """Returns an available frame without waiting, or None."""
        raise NotImplementedError

    def _sleep(self, handle: Any, seconds: float) -> bool:
        """Waits for a frame for at most this time; a signal may end the wait earlier."""
        raise NotImplementedError

    def _descriptor(self, handle: Any) -> int:
        """Returns the descriptor for fileno(). Raises NotConnected when there is none."""
        raise NotImplementedError

    def _want(self, handle: Any, images: FrozenSet[str]) -> None:
        raise NotImplementedError

    def _ask(self, handle: Any) -> Status:
        raise NotImplementedError

    def _again(self, handle: Any) -> None:
        """Implements reopen()."""
        raise NotImplementedError

    def _release(self, handle: Any) -> None:
        """Implements close()."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return "<stixel.Reader of %s%s>" % (self._what, "" if self._handle else ", closed")

    # -- exclusive use --
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
            # close() may have been called between the check and the release
            if not self._closing or self._handle is None or not self._lock.acquire(False):
                return

    def close(self) -> None:
        """Closes the reader and frees its resources.

        If another thread waits in the reader, it gets ValueError within a quarter of a second.
        """
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
        """True after close() was called."""
        return self._closing

    # -- frames --
    def _tell_wait(self, handle: Any) -> None:
        """Logs the reason for a wait after one second. Logs each reason at most once until the next frame."""
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
        if why and why not in self._waits_logged:
            self._waits_logged.add(why)
            _logger.warning("%s: %s; waiting", self._what, why)

    def _took(self, frame: Optional[Frame]) -> Optional[Frame]:
        if frame is not None:
            self._waits_since = None
            self._waits_logged.clear()
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
        """Waits for a frame that was not taken yet, for at most timeout s (None: no limit). False: there was none.

        Raises Ended, Died, Restarted. Other threads run meanwhile, and KeyboardInterrupt ends the wait.
        """
        deadline = _deadline(timeout)
        handle = self._enter()
        try:
            return self._wait(handle, deadline)
        finally:
            self._leave()

    def latest(self, timeout: Optional[float] = 0) -> Optional[Frame]:
        """Returns the newest frame if it was not taken yet, else waits up to timeout s for one. Skips older frames.

        Returns None if none comes within the time. Raises Damaged, Ended, Died, Restarted.
        """
        return self._get(True, timeout)

    def next(self, timeout: Optional[float] = 0) -> Optional[Frame]:
        """Returns the frame after the last one taken, or waits up to timeout s for one.

        Frame.missed is the number of frames overwritten in between. Returns None if none comes within the time. Raises
        Damaged, Ended, Died, Restarted.
        """
        return self._get(False, timeout)

    def __iter__(self) -> Reader:
        return self

    def __next__(self) -> Frame:
        while True:
            try:
                frame = self._get(False, None)
            except Damaged:
                continue  # status().corrupt counts it
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
        """Waits until the descriptor is readable, for at most one slice."""
        try:
            fd = self._descriptor(handle)
        except StixelError:  # no publisher, or one without a socket: check again after a short sleep
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

    # -- use with other descriptors --
    def fileno(self) -> int:
        """Returns a descriptor for select() and selectors. Readable: call latest() or next() until they return None.

        Never read from it. It changes when the publisher changes, so call fileno() before each select(). Raises
        NotConnected when there is no publisher, or it has no frame socket.
        """
        handle = self._enter()
        try:
            return self._descriptor(handle)
        finally:
            self._leave()

    # -- other methods --
    def want_images(self, *images: str) -> None:
        """Asks the publisher for "left", "right", "disparity" with the next frames. No name: asks for none.

        Each image costs the publisher a copy. The request holds as long as this reader is open. Raises NotSupported on
        a stream, NotConnected when the publisher has no frame socket.
        """
        names = wish(images)
        handle = self._enter()
        try:
            self._want(handle, names)
        finally:
            self._leave()

    def status(self) -> Status:
        """Returns the current state of the publisher and the counters of this reader."""
        handle = self._enter()
        try:
            return self._ask(handle)
        finally:
            self._leave()

    def reopen(self) -> None:
        """Leaves the present publisher and opens the current one of the name. Use it after Restarted, Ended, Died."""
        handle = self._enter()
        try:
            self._again(handle)
        finally:
            self._leave()
