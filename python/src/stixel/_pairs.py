"""Gives stereo pairs to a stixeld with source.kind = shared: from a camera's library, a simulator, a network.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import ctypes
import errno
import math
import os
import select
import socket
import time
from types import TracebackType
from typing import Any, Dict, Iterator, NamedTuple, Optional, Sequence, Tuple, Type

import numpy as np

from ._disparity import HEIGHT_MAX, WIDTH_MAX
from ._errors import BadName, StixelError, error_of
from ._layout import Clock, CPairsCounters, CPairsFormat, CPairsImages, CRawCamera, Lens, Pixel, Stamp
from ._library import Library, library
from ._writer import Memory, number_in

_SIZE_LEAST = 32
_BUFFERS = 6
_NAME_BYTES = 64
_RAW, _SIMULATED = 2, 4  # STIXEL_PAIRS_*
_SLICE_S = 0.25  # longest single sleep: a signal that comes just before it is noticed after it

# For each kind of pixels: type, and shape of a row's pixel.
_ARRAYS: Dict[Pixel, Tuple[str, Tuple[int, ...]]] = {
    Pixel.GREY16: ("<u2", ()), Pixel.RGB24: ("|u1", (3,)), Pixel.YUYV: ("|u1", (2,)), Pixel.UYVY: ("|u1", (2,)),
    **{p: ("<u2", ()) for p in (Pixel.RGGB16, Pixel.GRBG16, Pixel.GBRG16, Pixel.BGGR16)}}
_LENSES = {"plumb_bob": (Lens.PLUMB_BOB, 5), "rational_polynomial": (Lens.RATIONAL, 8),
           "equidistant": (Lens.EQUIDISTANT, 4)}


class RawCamera(NamedTuple):
    """A camera whose images are not rectified, as in ROS's CameraInfo: K, D and R.

    distortion: the coefficients in OpenCV's order. lens: "plumb_bob" (k1 k2 p1 p2 k3), "rational_polynomial" (and k4
    k5 k6) or "equidistant" (fisheye: k1 k2 k3 k4). rotation: from this camera's axes to the axes of the rectified
    pair (R1 and R2 of OpenCV's stereoRectify()), 3x3 or nine numbers.
    """

    fx: float
    fy: float
    cx: float
    cy: float
    distortion: Sequence[float] = ()
    rotation: Any = (1, 0, 0, 0, 1, 0, 0, 0, 1)
    lens: str = "plumb_bob"


class PairCounts(NamedTuple):
    """Numbers of pairs since the writer was created."""

    queued: int  #: pairs given to a daemon
    taken: int  #: number of these pairs that an engine has read, or that a newer pair replaced before it
    overload: int  #: number of these pairs that the daemon dropped, because a newer pair came first
    bad: int  #: number of these pairs that the daemon refused: impossible capture times
    lost: int  #: number of these pairs that a daemon had when its connection ended
    dropped: int  #: pairs that were given to no daemon: there was none, or all buffers were in use
    connections: int  #: number of daemons that accepted the writer


class Pair:
    """The memory of a pair. Iterates as (left, right). The capture times may be set until the end of the block."""

    def __init__(self, left: "np.ndarray[Any, Any]", right: "np.ndarray[Any, Any]", left_ns: int,
                 right_ns: int) -> None:
        self.left, self.right, self.left_ns, self.right_ns = left, right, left_ns, right_ns
        self.given = False  #: after the block: whether a daemon has the pair

    def __iter__(self) -> "Iterator[np.ndarray[Any, Any]]":
        return iter((self.left, self.right))


class _Handle:
    """The library's writer. Arrays that show its memory hold a reference to it, so that the memory stays mapped."""

    def __init__(self, lib: Library, name: str, layout: CPairsFormat, path: Optional[str]) -> None:
        self.lib = lib
        self.writer: Any = ctypes.c_void_p()
        self.images = CPairsImages()
        create = lib.pairs_create if path is None else lib.pairs_create_path
        code = create(ctypes.byref(self.writer), os.fsencode(path or name), ctypes.byref(layout),
                      ctypes.sizeof(layout))
        if code < 0:
            self.writer = None
            if code == -errno.EINVAL:
                raise BadName(-code, "pairs '%s': not a name (1 to 64 of A-Z a-z 0-9 _ . -, no dot in front)"
                              % (path or name))
            text: bytes = lib.strerror(code)
            raise error_of(code, "pairs '%s': %s" % (path or name, text.decode()))

    def why(self) -> str:
        text: bytes = self.lib.pairs_why(self.writer)
        return text.decode(errors="replace")

    def hang_up(self) -> None:
        """Ends the connection, while arrays may still show the memory."""
        fd = self.lib.pairs_fd(self.writer)
        if fd >= 0:
            with contextlib.suppress(OSError), socket.socket(fileno=os.dup(fd)) as connection:
                connection.shutdown(socket.SHUT_RDWR)

    def __del__(self) -> None:
        if self.writer:
            self.lib.pairs_close(self.writer)


class _Block:
    """The block of PairWriter.pair()."""

    def __init__(self, writer: "PairWriter", timeout: Optional[float], left_ns: int, right_ns: int) -> None:
        self._writer, self._timeout, self._times = writer, timeout, (left_ns, right_ns)
        self._pair: Optional[Pair] = None

    def __enter__(self) -> Pair:
        self._pair = self._writer._begin(self._timeout, *self._times)
        if self._pair is None:
            raise TimeoutError(errno.ETIMEDOUT, "pairs '%s': the daemon uses all buffers" % self._writer.instance)
        return self._pair

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if kind is None and self._pair is not None:
            self._pair.given = self._writer._commit(self._pair)


class PairWriter:
    """Gives pairs to an instance of stixeld with source.kind = shared. The daemon need not run yet.

        with stixel.PairWriter("front", 1280, 720, "grey8", fps=30, camera=(fx, fy, cx, cy, baseline_m)) as writer:
            while True:
                left, right, captured_ns = grab()
                writer.write(left, right, captured_ns, captured_ns)

    width, height: size of one image, px. pixel: "grey8", "grey16", "rgb24", "yuyv", "uyvy", "nv12", or a Bayer pattern,
    "rggb8" to "bggr16". fps: pairs per second, 0 unknown. camera: the rectified left camera in px, and the distance of
    the cameras in m; None: the daemon's configuration has the camera. raw: None for rectified images, else two
    RawCamera, left and right. rectified: size of the rectified images of raw cameras, px; (0, 0): width, height. name:
    name of the writer in the daemon's log; empty: the program's name. buffers: number of pairs in memory, 0: 6. clock,
    stamp: clock and meaning of the capture times. simulated: images without noise, so that equal images are no sign of
    a frozen camera. path: path of a pairs.sock, which replaces the instance's.

    The writer connects automatically, also to each new daemon. Until then it drops and counts pairs. One thread at a
    time may use a writer.
    """

    def __init__(self, instance: str, width: int, height: int, pixel: str = "grey8", fps: float = 0,
                 camera: Optional[Sequence[float]] = None,
                 raw: Optional[Sequence[RawCamera]] = None, name: str = "", *,
                 rectified: Tuple[int, int] = (0, 0), buffers: int = 0, clock: Clock = Clock.MONOTONIC,
                 stamp: Stamp = Stamp.EXPOSURE_START, simulated: bool = False,
                 path: Optional[str] = None) -> None:
        if not isinstance(instance, str):
            raise TypeError("the name of an instance is text, not %s" % type(instance).__name__)
        layout = CPairsFormat(width=number_in("width", width, _SIZE_LEAST, WIDTH_MAX),
                              height=number_in("height", height, _SIZE_LEAST, HEIGHT_MAX),
                              pixel=_pixel_of(pixel), buffers=number_in("buffers", buffers or _BUFFERS, 2, 64),
                              flags=_SIMULATED if simulated else 0, clock=clock, stamp=stamp, fps=fps,
                              name=_name_of(name))
        if layout.pixel in (Pixel.YUYV, Pixel.UYVY) and layout.width % 2:
            raise ValueError("width: %d, but images of %s have an even width" % (layout.width, pixel))
        if camera is not None:
            layout.fx, layout.fy, layout.cx, layout.cy, layout.baseline_m = camera
        if raw is not None:
            if camera is None:
                raise ValueError("raw cameras without a camera: pass camera=, the rectified left camera")
            left, right = raw
            layout.flags |= _RAW
            layout.raw = (CRawCamera * 2)(_raw_of(left), _raw_of(right))
            layout.rectified_width, layout.rectified_height = rectified
        self.instance = instance
        self.pixel = Pixel(layout.pixel)
        typestr, inner = _ARRAYS.get(self.pixel, ("|u1", ()))
        self._typestr = typestr
        self.shape = (layout.height, layout.width, *inner)  #: shape of the array of an image
        self.dtype = np.dtype(typestr)  #: type of the array of an image
        self._no_buffer = 0
        self._handle: Optional[_Handle] = _Handle(library(), instance, layout, path)

    def _open(self) -> _Handle:
        if self._handle is None:
            raise ValueError("pairs '%s': this writer is closed" % self.instance)
        return self._handle

    # ---- connection ----

    def connect(self, timeout: Optional[float] = None) -> bool:
        """Waits until a daemon has accepted the writer, at most timeout s (None: no limit). No program must call it.

        False: none did so in time; see why. Raises NotAllowed (join group stixel-feed) and Refused.
        """
        handle = self._open()
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _SLICE_S if deadline is None else max(0.0, min(_SLICE_S, deadline - time.monotonic()))
            code: int = handle.lib.pairs_connect(handle.writer, math.ceil(left * 1000))
            if code < 0 and code != -errno.EINTR:
                raise error_of(code, "pairs '%s': %s" % (self.instance, handle.why()))
            if code == 1 or (deadline is not None and time.monotonic() >= deadline):
                return code == 1

    @property
    def connected(self) -> bool:
        """Whether a daemon took pairs at the last call."""
        return not self.why

    @property
    def why(self) -> str:
        """Why no daemon takes pairs: a sentence. Empty while one does."""
        return self._open().why()

    @property
    def counts(self) -> PairCounts:
        """Numbers of pairs."""
        handle = self._open()
        c = CPairsCounters()
        handle.lib.pairs_counters(handle.writer, ctypes.byref(c), ctypes.sizeof(c))
        taken, overload, bad = c.returned
        return PairCounts(c.queued, taken, overload, bad, c.lost, c.dropped + self._no_buffer, c.connections)

    # ---- pairs ----

    def _view(self, handle: _Handle, address: int) -> "np.ndarray[Any, Any]":
        item = self.dtype.itemsize
        pixel = self.shape[2] if len(self.shape) == 3 else 1
        strides = (handle.images.pitch, pixel * item, item)[:len(self.shape)]
        return np.asarray(Memory(handle, address, self._typestr, self.shape, strides))

    def _begin(self, timeout: Optional[float], left_ns: int, right_ns: int) -> Optional[Pair]:
        handle = self._open()
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            code = handle.lib.pairs_begin(handle.writer, ctypes.byref(handle.images), 0)
            if code == 1:
                return Pair(self._view(handle, handle.images.left), self._view(handle, handle.images.right), left_ns,
                            right_ns)
            left = _SLICE_S if deadline is None else min(_SLICE_S, deadline - time.monotonic())
            if left <= 0:
                self._no_buffer += 1
                return None
            fd = handle.lib.pairs_fd(handle.writer)
            if fd >= 0:
                poll = select.poll()
                poll.register(fd, select.POLLIN)
                poll.poll(math.ceil(left * 1000))

    def _commit(self, pair: Pair) -> bool:
        handle = self._open()
        code: int = handle.lib.pairs_commit(handle.writer, ctypes.byref(handle.images), pair.left_ns, pair.right_ns)
        if code not in (0, -errno.ENOTCONN, -errno.EAGAIN):
            raise StixelError(-code, "pairs '%s': a pair was begun within the block of another" % self.instance)
        return code == 0

    def pair(self, timeout: Optional[float] = 1.0, left_ns: int = 0, right_ns: int = 0) -> _Block:
        """Returns a block that fills a pair in shared memory, and gives it to the daemon at its end.

            with writer.pair() as (left, right):
                left[...] = render(LEFT)

        The arrays have the writer's shape and dtype and hold old content. They are the daemon's after the block. An
        exception in the block drops the pair. Waits up to timeout s for memory that the daemon does not use (None: no
        limit), then raises TimeoutError. left_ns, right_ns: capture times as for write().
        """
        return _Block(self, timeout, left_ns, right_ns)

    def write(self, left: Any, right: Any, left_ns: int = 0, right_ns: int = 0, timeout: float = 0.1) -> bool:
        """Copies a pair once, into shared memory, and gives it to the daemon. False: it was dropped and counted.

        left, right: arrays of the writer's shape and dtype: (height, width) of uint8 or uint16, with "rgb24" (height,
        width, 3), with "yuyv" and "uyvy" (height, width, 2) or (height, 2 * width). "nv12": the rows of Y; rows that
        follow are ignored. left_ns, right_ns: capture times, CLOCK_MONOTONIC, ns; both 0: now. timeout: how long to
        wait for memory that the daemon does not use, s.
        """
        images = [self._image(what, image) for what, image in (("left", left), ("right", right))]
        pair = self._begin(timeout, left_ns, right_ns)
        if pair is None:
            return False
        for to, image in zip(pair, images):
            np.copyto(to, image)
        return self._commit(pair)

    def _image(self, what: str, image: Any) -> "np.ndarray[Any, Any]":
        given = np.asarray(image)
        if self.pixel == Pixel.NV12 and given.ndim == 2:
            given = given[:self.shape[0]]
        if self.pixel in (Pixel.YUYV, Pixel.UYVY) and given.shape == (self.shape[0], 2 * self.shape[1]):
            given = given.reshape(self.shape)
        if given.shape != self.shape:
            raise ValueError("%s image of shape %s, expected %s" % (what, given.shape, self.shape))
        if given.dtype != self.dtype:
            raise TypeError("%s image of %s, expected %s" % (what, given.dtype, self.dtype.name))
        return given

    # ---- end ----

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._handle is None

    def close(self) -> None:
        """Ends the connection. The memory is freed as soon as no array that shows it is left."""
        if self._handle is not None:
            self._handle.hang_up()
        self._handle = None

    def __enter__(self) -> "PairWriter":
        self._open()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


def _pixel_of(name: str) -> Pixel:
    found = {pixel.name.lower(): pixel for pixel in Pixel}.get(name)
    if found is None:
        raise ValueError("pixel: %r, allowed %s" % (name, ", ".join(pixel.name.lower() for pixel in Pixel)))
    return found


def _name_of(name: str) -> bytes:
    encoded = name.encode()
    if len(encoded) >= _NAME_BYTES:
        raise ValueError("name: %d bytes, allowed %d" % (len(encoded), _NAME_BYTES - 1))
    return encoded


def _raw_of(camera: RawCamera) -> CRawCamera:
    if camera.lens not in _LENSES:
        raise ValueError("lens: %r, allowed %s" % (camera.lens, ", ".join(_LENSES)))
    lens, most = _LENSES[camera.lens]
    coefficients = [float(c) for c in np.ravel(camera.distortion)]
    if any(coefficients[most:]):
        raise ValueError("distortion: %d coefficients, lens %s has %d" % (len(coefficients), camera.lens, most))
    rotation = [float(r) for r in np.ravel(camera.rotation)]
    if len(rotation) != 9:
        raise ValueError("rotation: %d numbers, expected 9" % len(rotation))
    layout = CRawCamera(lens, 0, camera.fx, camera.fy, camera.cx, camera.cy)
    layout.distortion[:] = (coefficients[:most] + [0.0] * 8)[:8]
    layout.rotation[:] = rotation
    return layout
