"""A reader of this machine, through libstixel: reads shared memory or frames.sock.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import ctypes
import errno
import grp
import math
import os
import struct
from typing import TYPE_CHECKING, FrozenSet, Optional, Tuple

from ._classes import DaemonClasses
from ._errors import Died, Ended, NotConnected, StixelError, error_of
from ._frame import Frame
from ._layout import HEADER, CFrame, CStatus, Open, Publisher, State
from ._library import Library
from ._reader import IMAGES, Reader, Status

if TYPE_CHECKING:
    from typing import Callable

_NEVER_NS = (1 << 63) - 1
_FRAME_BYTES_AT = HEADER.fields["frame_bytes"][1]  # type: ignore[index]


class RingReader(Reader):
    """Reads with a struct stixel_reader."""

    def __init__(self, lib: Library, opener: Callable[..., int], what: str, where: str, flags: Open,
                 images: FrozenSet[str]) -> None:
        super().__init__(what)
        self._lib = lib
        self._where = where
        self._classes = None if "/" in where else DaemonClasses(where)  # an object at a path has no known daemon
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
                self._want(handle, images)
            except StixelError:
                self.close()
                raise

    def _error(self, code: int) -> StixelError:
        text: bytes = self._lib.strerror(code)
        if code == -errno.EPIPE and self._handle is not None:
            status = self._ask(self._handle)
            if status.publisher == Publisher.DIED:
                # a stream's reader that was too slow to get the last notice sees the same state
                who = "the publisher (process %d) died" % status.pid if status.pid else "the connection broke off"
                return Died(errno.EPIPE, "%s: %s" % (self._what, who))
            return Ended(errno.EPIPE, "%s: the publisher has ended" % self._what)
        if code == -errno.EINVAL and self._handle is None:
            return error_of(code, "%s: not a name: 1 to 64 of A-Z a-z 0-9 _ . -, no dot in front" % self._what)
        return error_of(code, "%s: %s%s" % (self._what, text.decode(), self._detail(code)))

    def _detail(self, code: int) -> str:
        """Returns details that the library's sentence lacks: the group, the versions, or the remedy."""
        if code == -errno.ENOENT and "/" not in self._where:
            return ": start it (stixeld -i %s), or name one of those that stixelctl list shows" % self._where
        path = self._where if "/" in self._where else "/dev/shm/stixeld." + self._where
        try:
            if code == -errno.EACCES:
                found = os.stat(path)
                group = grp.getgrgid(found.st_gid).gr_name
                return ": %s" % group if found.st_mode & 0o40 and found.st_gid else ""
            if code == -errno.EPROTONOSUPPORT:
                with open(path, "rb") as f:
                    major, minor = struct.unpack_from("<8xHH", f.read(12))
                return " (its layout is %d.%d)" % (major, minor)
        except (OSError, KeyError, struct.error):
            pass
        return ""

    def _take(self, handle: ctypes.c_void_p, newest: bool) -> Optional[Frame]:
        if newest:
            r = self._lib.latest(handle, self._frame_ref)
        else:
            r = self._lib.next(handle, self._frame_ref, self._lost_ref)
        if r < 0:
            raise self._error(r)
        if r == 0:
            return None
        # The library's memory is valid only until the next call. A copy makes the frame an independent value.
        at = self._frame.contents.bytes
        frame = Frame(ctypes.string_at(at, ctypes.c_uint32.from_address(at + _FRAME_BYTES_AT).value),
                      classes=self._classes)
        name = frame.epoch, frame.number
        if not newest:
            frame._missed = self._lost.value
        elif self._last[0]:
            frame._missed = name[1] - 1 - (self._last[1] if self._last[0] == name[0] else 0)
        else:
            frame._missed = self._ask(handle).skipped
        self._last = name
        return frame

    def _sleep(self, handle: ctypes.c_void_p, seconds: float) -> bool:
        r = self._lib.wait(handle, math.ceil(seconds * 1000))
        if r < 0 and r != -errno.EINTR:  # if a signal handler raised an exception, it has done so by now
            raise self._error(r)
        return bool(r == 1)

    def _descriptor(self, handle: ctypes.c_void_p) -> int:
        fd: int = self._lib.fd(handle)
        if fd == -errno.ENOTCONN:
            raise NotConnected(errno.ENOTCONN, "%s: no frame socket to wait on" % self._what)
        if fd < 0:
            raise self._error(fd)
        return fd

    def _want(self, handle: ctypes.c_void_p, images: FrozenSet[str]) -> None:
        r = self._lib.want_images(handle, sum(1 << IMAGES[name] for name in images))
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

    def _again(self, handle: ctypes.c_void_p) -> None:
        r = self._lib.reopen(handle)
        if r < 0:
            raise self._error(r)

    def _release(self, handle: ctypes.c_void_p) -> None:
        self._lib.close(handle)
