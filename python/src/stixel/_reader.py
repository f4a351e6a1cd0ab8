"""A reader of one instance.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import asyncio
import ctypes
import errno
import math
import os
import threading
import time
from typing import TYPE_CHECKING, Iterable, NamedTuple, Optional, Tuple

from ._errors import BadName, Damaged, Died, Ended, NotConnected, StixelError, error_of
from ._frame import Frame
from ._layout import HEADER, CFrame, CStatus, Open, Plane, Publisher, State
from ._library import Library, library

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Callable, Type, Union

    PathLike = Union[str, "os.PathLike[str]"]

# Longest sleep inside the library: then signals and close() are looked at. A signal that comes just before the sleep
# begins would else be seen with the next frame only.
_SLICE_S = 0.25
_NEVER_NS = (1 << 63) - 1
_FRAME_BYTES_AT = HEADER.fields["frame_bytes"][1]  # type: ignore[index]
_IMAGES = {"left": Plane.LEFT, "right": Plane.RIGHT, "disparity": Plane.DISPARITY}


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
    corrupt: int  #: frames that failed the check
    restarts: int  #: changes of epoch
    version: str  #: of the publisher; empty on a stream


def _deadline(timeout: Optional[float]) -> Optional[float]:
    if timeout is None:
        return None
    if math.isnan(timeout):
        raise ValueError("a timeout of nan")
    return time.monotonic() + timeout


def _left(deadline: Optional[float]) -> float:
    """Seconds to sleep at once."""
    return _SLICE_S if deadline is None else max(0.0, min(_SLICE_S, deadline - time.monotonic()))


def _wish(images: Iterable[str]) -> int:
    names = [images] if isinstance(images, str) else list(images)
    for name in names:
        if name not in _IMAGES:
            raise ValueError("image %r: there are 'left', 'right' and 'disparity'" % (name,))
    return sum({1 << _IMAGES[name] for name in names})


class Reader:
    """Frames of one instance. Made by stixel.open().

    Iteration gives every frame in order, waits for each, passes over damaged ones, and ends when the publisher ends in
    order; Died and Restarted are raised. `async for` does the same without a thread.

    A reader is for one thread at a time (a second one gets RuntimeError, as does a child after fork()); close() may be
    called from any.
    """

    def __init__(self, lib: Library, opener: Callable[..., int], what: str, where: str, flags: Open,
                 images: int) -> None:
        self._handle: Optional[ctypes.c_void_p] = None
        self._lock = threading.Lock()
        self._closing = False
        self._lib = lib
        self._what = what
        self._pid = os.getpid()
        self._last: Tuple[int, int] = (0, 0)
        self._frame = ctypes.POINTER(CFrame)()
        self._frame_ref = ctypes.byref(self._frame)
        self._lost = ctypes.c_uint64()
        self._lost_ref = ctypes.byref(self._lost)
        handle = ctypes.c_void_p()
        r = opener(ctypes.byref(handle), os.fsencode(where), int(flags))
        if r < 0:
            raise self._error(r)
        self._handle = handle
        if images:
            try:
                self._want(images)
            except StixelError:
                self.close()
                raise

    def __repr__(self) -> str:
        return "<stixel.Reader of %s%s>" % (self._what, "" if self._handle else ", closed")

    # -- who may use it --
    def _enter(self) -> ctypes.c_void_p:
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
                self._lib.close(handle)
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

    # -- errors --
    def _error(self, code: int) -> StixelError:
        text: bytes = self._lib.strerror(code)
        if code == -errno.EPIPE and self._handle is not None:
            status = self._ask(self._handle)
            if status.publisher == Publisher.DIED:
                # on a stream it also looks so to one who was too slow to hear the last word
                who = "the publisher (process %d) died" % status.pid if status.pid else "the connection broke off"
                return Died(errno.EPIPE, "%s: %s" % (self._what, who))
            return Ended(errno.EPIPE, "%s: the publisher has ended" % self._what)
        if code == -errno.EINVAL and self._handle is None:
            return error_of(code, "%s: not a name: 1 to 64 of A-Z a-z 0-9 _ . -, no dot in front" % self._what)
        return error_of(code, "%s: %s" % (self._what, text.decode()))

    # -- frames --
    def _take(self, handle: ctypes.c_void_p, newest: bool) -> Optional[Frame]:
        if newest:
            r = self._lib.latest(handle, self._frame_ref)
        else:
            r = self._lib.next(handle, self._frame_ref, self._lost_ref)
        if r < 0:
            raise self._error(r)
        if r == 0:
            return None
        # The library's memory is good until the next call only. A copy makes a frame a value like any other.
        at = self._frame.contents.bytes
        frame = Frame(ctypes.string_at(at, ctypes.c_uint32.from_address(at + _FRAME_BYTES_AT).value))
        name = frame.epoch, frame.number
        if not newest:
            frame._missed = self._lost.value
        elif self._last[0]:
            frame._missed = name[1] - 1 - (self._last[1] if self._last[0] == name[0] else 0)
        else:
            frame._missed = self._ask(handle).skipped
        self._last = name
        return frame

    def _wait(self, handle: ctypes.c_void_p, deadline: Optional[float]) -> bool:
        while True:
            r = self._lib.wait(handle, math.ceil(_left(deadline) * 1000))
            if r == 1:
                return True
            if r < 0 and r != -errno.EINTR:  # a handler that raised has done so by now
                raise self._error(r)
            if self._closing:
                raise ValueError("%s: the reader was closed while it waited" % self._what)
            if deadline is not None and time.monotonic() >= deadline:
                return False

    def _get(self, newest: bool, timeout: Optional[float]) -> Optional[Frame]:
        deadline = _deadline(timeout)
        handle = self._enter()
        try:
            while True:
                frame = self._take(handle, newest)
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
                    frame = self._take(handle, False)
                except Damaged:
                    continue
                except Ended as e:
                    if isinstance(e, Died):
                        raise
                    raise StopAsyncIteration from None
                if frame is not None:
                    return frame
                await self._readable(handle)
                if self._closing:
                    raise ValueError("%s: the reader was closed while it waited" % self._what)
        finally:
            self._leave()

    async def _readable(self, handle: ctypes.c_void_p) -> None:
        """Until the publisher's socket has something, a slice at most."""
        fd = self._lib.fd(handle)
        if fd < 0:  # no publisher, or one without a socket: look again by and by
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
            fd: int = self._lib.fd(handle)
            if fd == -errno.ENOTCONN:
                raise NotConnected(errno.ENOTCONN, "%s: no frame socket to wait on" % self._what)
            if fd < 0:
                raise self._error(fd)
            return fd
        finally:
            self._leave()

    # -- the rest --
    def want_images(self, *images: str) -> None:
        """Asks the publisher for "left", "right", "disparity" with the frames to come; without a name for none.

        They cost the publisher a copy of each, and come for as long as this reader is open. NotSupported on a stream,
        NotConnected when the publisher has no frame socket.
        """
        kinds = _wish(images)
        self._enter()
        try:
            self._want(kinds)
        finally:
            self._leave()

    def _want(self, kinds: int) -> None:
        r = self._lib.want_images(self._handle, kinds)
        if r == -errno.ENOTSUP:
            raise error_of(r, "%s: a stream has no images: read from shared memory (stream=False)" % self._what)
        if r < 0:
            raise self._error(r)

    def _ask(self, handle: ctypes.c_void_p) -> Status:
        s = CStatus()
        r = self._lib.status(handle, ctypes.byref(s), ctypes.sizeof(s))
        if r < 0:
            raise error_of(r, "%s: no status" % self._what)
        age = None if s.heartbeat_age_ns == _NEVER_NS else s.heartbeat_age_ns / 1e9
        return Status(Publisher(s.publisher), State(s.state), s.epoch, s.head, s.pid, age, s.taken, s.lost, s.skipped,
                      s.overruns, s.corrupt, s.restarts, s.version.decode("ascii", "replace"))

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
            r = self._lib.reopen(handle)
            if r < 0:
                raise self._error(r)
        finally:
            self._leave()


def _flags(follow: bool, stream: bool, leftover: bool, any_owner: bool) -> Open:
    return (Open(0) | (Open.FOLLOW if follow else 0) | (Open.STREAM if stream else 0)
            | (Open.LEFTOVER if leftover else 0) | (Open.ANY_OWNER if any_owner else 0))


def open(instance: str, follow: bool = False, stream: bool = False, images: Iterable[str] = (), *,
         leftover: bool = False, any_owner: bool = False) -> Reader:
    """Opens a running instance by its name; the newest frame that is there counts as new.

    follow: no publisher is no error: wait for one, and go over to each new one. stream: through frames.sock instead of
    shared memory. images: "left", "right", "disparity": ask for these planes. leftover: also read what a dead publisher
    left. any_owner: trust shared memory of any user.

    Raises BadName, NotRunning, NotAllowed, NotStixel, OtherVersion, Busy, LibraryError.
    """
    lib = library()
    if not isinstance(instance, str):
        raise TypeError("the name of an instance is text, not %s" % type(instance).__name__)
    if "\0" in instance:
        raise BadName(errno.EINVAL, "instance %r: a name has no zero byte" % (instance,))
    return Reader(lib, lib.open, "instance %r" % instance, instance, _flags(follow, stream, leftover, any_owner),
                  _wish(images))


def open_path(path: PathLike, follow: bool = False, stream: bool = False, images: Iterable[str] = (), *,
              leftover: bool = False, any_owner: bool = False) -> Reader:
    """The same for a ring object, or with stream=True a socket, that lies elsewhere."""
    lib = library()
    where = os.fspath(path)
    if "\0" in where:
        raise BadName(errno.EINVAL, "%r: a path has no zero byte" % (where,))
    return Reader(lib, lib.open_path, where, where, _flags(follow, stream, leftover, any_owner), _wish(images))
