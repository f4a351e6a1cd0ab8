"""Class scores for stixeld: what a segmentation network makes of a left image, written to shared memory.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import errno
from types import TracebackType
from typing import Any, Optional, Tuple, Type

import numpy as np

from ._errors import BadName, StixelError, error_of
from ._frame import Frame
from ._layout import CScoresFormat, CScoresPlanes
from ._library import Library, library

CLASSES_MAX = 32
SCALE_MAX = 32


class _Ring:
    """The library's writer. Arrays that show its memory keep it: what they show must not go away under them."""

    def __init__(self, lib: Library, name: str, layout: CScoresFormat) -> None:
        self.handle: Any = ctypes.c_void_p()
        self.lib = lib
        code = lib.scores_create(ctypes.byref(self.handle), name.encode(), ctypes.byref(layout), ctypes.sizeof(layout))
        if code < 0:
            self.handle = None
            raise _error(lib, name, code)

    def __del__(self) -> None:
        if self.handle:
            self.lib.scores_close(self.handle)


class _Memory:
    """NumPy's view of a ring's memory."""

    def __init__(self, ring: _Ring, planes: CScoresPlanes) -> None:
        self.ring = ring
        self.__array_interface__ = {
            "version": 3, "typestr": "|u1", "data": (planes.data, False),
            "shape": (planes.classes, planes.height, planes.width), "strides": (planes.plane_bytes, planes.pitch, 1)}


def _error(lib: Library, name: str, code: int) -> StixelError:
    what = "scores '%s': " % name
    if code == -errno.EINVAL:
        return BadName(-code, what + "not a name (1 to 64 of A-Z a-z 0-9 _ . -, no dot in front), or more than 256 MB")
    if code == -errno.EPERM:
        return error_of(code, what + "the name belongs to another user")
    if code == -errno.ESTALE:
        return error_of(code, what + "another writer took the name")
    text: bytes = lib.strerror(code)
    return error_of(code, what + text.decode())


def _number(what: str, value: Any, least: int, most: int) -> int:
    number = int(value)
    if number != value or not least <= number <= most:
        raise ValueError("%s: %r, allowed %d to %d" % (what, value, least, most))
    return number


class ScoreWriter:
    """Gives scores to the daemons whose semantics.source is this name. The writer makes the ring and takes it away.

        with stixel.open("front", images=["left"]) as reader, \\
                stixel.ScoreWriter("front", classes=19, size=(1280, 720), scale=4) as writer:
            for frame in reader:
                if frame.left is not None:
                    writer.write(network(frame.left), frame)

    classes: planes of scores, in the order of semantics.classes; size: width and height of the left image; scale: image
    pixels a score, each way. Scores have the shape (classes, ceil(height / scale), ceil(width / scale)): writer.shape.

    For one thread at a time. Nobody who reads can delay it.
    """

    def __init__(self, name: str, classes: int, size: Tuple[int, int], scale: int = 4, slots: int = 0,
                 folder: Optional[str] = None) -> None:
        width, height = size
        layout = CScoresFormat(_number("classes", classes, 1, CLASSES_MAX), _number("width", width, 1, 16384),
                               _number("height", height, 1, 16384), _number("scale", scale, 1, SCALE_MAX),
                               _number("slots", slots, 0, 64), 0, folder.encode() if folder else None)
        if not isinstance(name, str):
            raise TypeError("a name is text, not %s" % type(name).__name__)
        self._name = name
        self._ring: Optional[_Ring] = _Ring(library(), name, layout)
        self.shape = (layout.classes, -(-layout.image_height // layout.scale), -(-layout.image_width // layout.scale))

    def _open(self) -> _Ring:
        if self._ring is None:
            raise ValueError("scores '%s': this writer is closed" % self._name)
        return self._ring

    def planes(self) -> "np.ndarray[Any, Any]":
        """Where the next scores go: uint8 of the writer's shape, in shared memory, with what was there before. Fill all
        of it, then commit(). Restarted: another writer took the name."""
        ring, planes = self._open(), CScoresPlanes()
        code = ring.lib.scores_begin(ring.handle, ctypes.byref(planes))
        if code < 0:
            raise _error(ring.lib, self._name, code)
        return np.asarray(_Memory(ring, planes))

    def commit(self, frame: Optional[Frame] = None, *, capture_ns: Optional[int] = None) -> None:
        """The planes are complete, and of this frame's left image, or of the one captured at capture_ns
        (CLOCK_MONOTONIC, ns)."""
        if (frame is None) == (capture_ns is None):
            raise TypeError("commit() takes either a frame or capture_ns")
        ring = self._open()
        epoch, number = (frame.epoch, frame.number) if frame is not None else (0, 0)
        when = frame.capture_left_ns if frame is not None else capture_ns
        code = ring.lib.scores_commit(ring.handle, when, epoch, number)
        if code < 0:
            raise ValueError("scores '%s': commit() without planes()" % self._name)

    def write(self, scores: Any, frame: Optional[Frame] = None, *, capture_ns: Optional[int] = None) -> None:
        """planes(), one copy, commit(). scores: an array of the writer's shape, uint8 (1/255), or floating point 0..1,
        which is rounded. A label map (class numbers) is one_hot() first."""
        given = np.asarray(scores)
        if given.shape != self.shape:
            raise ValueError("scores of shape %s, expected %s" % (given.shape, self.shape))
        if given.dtype.kind == "f":
            if not (np.min(given) >= 0 and np.max(given) <= 1):
                raise ValueError("scores from %g to %g, expected 0 to 1" % (np.min(given), np.max(given)))
            given = np.rint(given * 255)
        elif given.dtype != np.uint8:
            raise TypeError("scores of %s, expected uint8 or floating point" % given.dtype)
        if (frame is None) == (capture_ns is None):
            raise TypeError("write() takes either a frame or capture_ns")
        np.copyto(self.planes(), given, casting="unsafe")
        self.commit(frame, capture_ns=capture_ns)

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._ring is None

    def close(self) -> None:
        """Takes the ring away, as soon as no array from planes() is left."""
        self._ring = None

    def __enter__(self) -> "ScoreWriter":
        self._open()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


def one_hot(labels: Any, classes: int) -> "np.ndarray[Any, Any]":
    """Scores from a map of class numbers: 255 in the plane of a pixel's class; unknown ones (255) have 0 everywhere."""
    given = np.asarray(labels)
    if given.ndim != 2 or given.dtype.kind not in "iu":
        raise TypeError("labels: expected whole numbers in two dimensions, not %s in %d" % (given.dtype, given.ndim))
    wrong = (given != 255) & ((given < 0) | (given >= classes))
    if wrong.any():
        raise ValueError("labels: class %d, allowed 0 to %d and 255" % (given[wrong][0], classes - 1))
    return np.where(given[None] == np.arange(classes)[:, None, None], np.uint8(255), np.uint8(0))
