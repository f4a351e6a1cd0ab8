"""The common part of the writers of scores and of disparity maps.

It wraps libstixel's writers and gives NumPy a view of their memory.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import errno
import os
from types import TracebackType
from typing import Any, Optional, Tuple, Type, TypeVar

import numpy as np

from ._errors import BadName, StixelError, error_of
from ._frame import Frame
from ._library import Library, library

_Self = TypeVar("_Self", bound="Writer")
FOLDER = "/run/stixel-feed"  # folder of writers' rings: docs/use/semantics.md


class _Ring:
    """The library's writer. Arrays that show its memory hold a reference to it, so that the memory stays mapped."""

    def __init__(self, lib: Library, kind: str, name: str, layout: ctypes.Structure) -> None:
        self.handle: Any = ctypes.c_void_p()
        self.lib, self.kind = lib, kind
        code = self.call("create", ctypes.byref(self.handle), name.encode(), ctypes.byref(layout),
                         ctypes.sizeof(layout))
        if code < 0:
            self.handle = None
            raise _error(lib, kind, name, code)

    def call(self, function: str, *args: Any) -> int:
        code: int = getattr(self.lib, "%s_%s" % (self.kind, function))(*args)
        return code

    def __del__(self) -> None:
        if self.handle:
            getattr(self.lib, self.kind + "_close")(self.handle)


class Memory:
    """NumPy's view of a writer's memory."""

    def __init__(self, owner: object, address: int, typestr: str, shape: Tuple[int, ...],
                 strides: Tuple[int, ...]) -> None:
        self.owner = owner  # keeps the memory mapped
        self.__array_interface__ = {
            "version": 3, "typestr": typestr, "data": (address, False), "shape": shape, "strides": strides}


def _remedy() -> str:
    """Returns what to do if another user holds a name in /dev/shm."""
    if not os.path.isdir(FOLDER):
        return ": in /dev/shm any user can take one, none but members of group stixel-feed in %s, which %s makes" % (
            FOLDER, "systemd-tmpfiles --create stixeld.conf")
    if not os.access(FOLDER, os.W_OK):
        return ": none can take one in %s but members of group stixel-feed (usermod -aG stixel-feed NAME)" % FOLDER
    return ""


def _error(lib: Library, kind: str, name: str, code: int) -> StixelError:
    what = "%s '%s': " % (kind, name)
    if code == -errno.EINVAL:
        return BadName(-code, what + "not a name (1 to 64 of A-Z a-z 0-9 _ . -, no dot in front), or more than 256 MB")
    if code == -errno.EPERM:
        return error_of(code, what + "the name belongs to another user" + _remedy())
    if code == -errno.ESTALE:
        return error_of(code, what + "another writer took the name")
    text: bytes = lib.strerror(code)
    return error_of(code, what + text.decode())


def slots_of(value: Any) -> int:
    """Checks the number of slots of a ring and returns it. Raises ValueError."""
    slots = int(value)
    if slots != value or slots not in (0, 2, 4, 8, 16, 32, 64):
        raise ValueError("slots: %r, allowed 0 (the default) or a power of two from 2 to 64" % (value,))
    return slots


def number_in(what: str, value: Any, least: int, most: int) -> int:
    """Checks a whole number against a range and returns it. Raises ValueError."""
    number = int(value)
    if number != value or not least <= number <= most:
        raise ValueError("%s: %r, allowed %d to %d" % (what, value, least, most))
    return number


class Writer:
    """A ring that this process writes. One thread at a time may use it. No reader can delay it."""

    def __init__(self, kind: str, name: str, layout: ctypes.Structure) -> None:
        if not isinstance(name, str):
            raise TypeError("a name is text, not %s" % type(name).__name__)
        self._name, self._kind = name, kind
        self._ring: Optional[_Ring] = _Ring(library(), kind, name, layout)

    def _open(self) -> _Ring:
        if self._ring is None:
            raise ValueError("%s '%s': this writer is closed" % (self._kind, self._name))
        return self._ring

    def _begin(self, place: ctypes.Structure) -> None:
        """Sets the fields of place to the memory of the next scores or map. Restarted: another writer took the name."""
        ring = self._open()
        code = ring.call("begin", ring.handle, ctypes.byref(place))
        if code < 0:
            raise _error(ring.lib, self._kind, self._name, code)

    def _view(self, address: int, typestr: str, shape: Tuple[int, ...],
              strides: Tuple[int, ...]) -> "np.ndarray[Any, Any]":
        return np.asarray(Memory(self._open(), address, typestr, shape, strides))

    def commit(self, frame: Optional[Frame] = None, *, capture_ns: Optional[int] = None) -> None:
        """Publishes the item that was filled in, as belonging to an image.

        The image is the left image of frame, or the one captured at capture_ns (CLOCK_MONOTONIC, ns).
        """
        self._one_of(frame, capture_ns)
        ring = self._open()
        epoch, number = (frame.epoch, frame.number) if frame is not None else (0, 0)
        when = frame.capture_left_ns if frame is not None else capture_ns
        if ring.call("commit", ring.handle, when, epoch, number) < 0:
            raise ValueError("%s '%s': commit() without %s()" % (self._kind, self._name, self._place))

    _place = "begin"

    @staticmethod
    def _one_of(frame: Optional[Frame], capture_ns: Optional[int]) -> None:
        if (frame is None) == (capture_ns is None):
            raise TypeError("a writer takes either a frame or capture_ns")

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._ring is None

    def close(self) -> None:
        """Removes the ring, as soon as no array that shows its memory is left."""
        self._ring = None

    def __enter__(self: _Self) -> _Self:
        self._open()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()
