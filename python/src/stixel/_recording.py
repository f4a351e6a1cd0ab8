"""Reads recordings of "stixelctl record", which are MCAP files (docs/use/recording.md), through libstixel-recording.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import ctypes
import errno
import importlib
import io
import os
import stat
from typing import TYPE_CHECKING, Any, Dict, Iterator, Optional, Tuple, Union

from ._errors import NotStixel, NotSupported, StixelError
from ._frame import Frame
from ._layout import CRecord, CRecordingInfo, RecordKind
from ._library import JPEG_FUNCTION, recording_library
from ._recorded import GAP_REASONS, Damage, End, Gap, Life, Record

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Type

    PathLike = Union[str, "os.PathLike[str]"]

_WHY_BYTES = 512


def _pillow_decode(image: Any, jpeg: int, jpeg_bytes: int, pixels: int, width: int, height: int, pitch: int) -> int:
    """Decodes a JPEG by Pillow (image: PIL.Image) to memory. Returns 0 or a negative errno value."""
    try:
        decoded = image.open(io.BytesIO(ctypes.string_at(jpeg, jpeg_bytes)), formats=["JPEG"])
        if decoded.size != (width, height):
            return -errno.EBADMSG
        rows = decoded.convert("L").tobytes()
    except (OSError, ValueError, SyntaxError, MemoryError):  # Pillow raises these if the image is damaged
        return -errno.EBADMSG
    for y in range(height):
        ctypes.memmove(pixels + y * pitch, rows[y * width:(y + 1) * width], width)
    return 0


class _Walk:
    """One pass through a file: a struct stixel_recording with its own open file description."""

    def __init__(self, file: int, path: str) -> None:
        """Opens the file again. Raises NotStixel, NotSupported and OSError."""
        self._handle: Optional[ctypes.c_void_p] = None
        self._path = path
        self._lib = recording_library()
        why = ctypes.create_string_buffer(_WHY_BYTES)
        handle = ctypes.c_void_p()
        # opened again, because a duplicate descriptor would share the offset
        code = self._lib.open(ctypes.byref(handle), os.open("/proc/self/fd/%d" % file, os.O_RDONLY | os.O_CLOEXEC),
                              os.fsencode(path), why, len(why))
        if code in (-errno.EBADMSG, -errno.ENODATA, -errno.ENOMSG):
            raise NotStixel(-code, os.fsdecode(why.value))
        if code < 0:
            raise OSError(-code, os.fsdecode(why.value) or os.strerror(-code))
        self._handle = handle
        self._decode: Any = None
        if not self._has_decoder():
            self._use_pillow()

    def _has_decoder(self) -> bool:
        return bool(self._lib.on_jpeg(self._handle, JPEG_FUNCTION(0), None))

    def _use_pillow(self) -> None:
        """Makes the library decode JPEG images with Pillow, if Pillow is installed. The library of a wheel has no
        decoder."""
        try:
            pillow = importlib.import_module("PIL.Image")
        except ImportError:
            return
        self._decode = JPEG_FUNCTION(lambda user, *image: _pillow_decode(pillow, *image))
        self._lib.on_jpeg(self._handle, self._decode, None)

    def __del__(self) -> None:
        if self._handle:
            self._lib.close(self._handle)

    def info(self) -> CRecordingInfo:
        """Returns the library's present knowledge of the file."""
        info = CRecordingInfo()
        self._lib.info(self._handle, ctypes.byref(info), ctypes.sizeof(info))
        return info

    def seek(self, since_ns: int) -> None:
        """Goes to the last chunk whose first frame was published at or before this time, or to the first one."""
        code = self._lib.seek(self._handle, since_ns)
        if code == -errno.ESPIPE:
            raise StixelError(errno.ESPIPE, "%s has no index: it was not finished; read it from the beginning"
                              % self._path)
        if code < 0:
            raise self._error(code)

    def _error(self, code: int) -> StixelError:
        text = "%s: %s" % (self._path, self._lib.strerror(code).decode())
        return (NotSupported if code in (-errno.ENOTSUP, -errno.ENOPKG) else StixelError)(-code, text)

    def records(self) -> Iterator[Record]:
        """Yields all records from here on."""
        record = CRecord()
        to, size = ctypes.byref(record), ctypes.sizeof(record)
        while True:
            code = self._lib.next(self._handle, to, size)
            if code == -errno.EAGAIN:  # the library has worked for long; the interpreter may handle a signal here
                continue
            if code < 0:
                raise self._error(code)
            if code == 0:
                return
            yield _made(record)


def _made(record: CRecord) -> Record:
    if record.kind == RecordKind.FRAME:
        return Frame(ctypes.string_at(record.frame, record.bytes))
    if record.kind == RecordKind.PUBLISHER:
        return Life(record.epoch, record.pid, record.version.decode("ascii", "replace"),
                    tuple(record.classes.decode("utf-8", "replace").split()) if record.classes else None)
    if record.kind == RecordKind.GAP:
        return Gap(record.epoch, record.number, record.lost, GAP_REASONS[record.reason])
    return Damage(record.offset, record.bytes, record.why.decode(), record.kind == RecordKind.CUT)


class Recording:
    """A recording in a file. Each iteration returns its frames from the beginning.

    Images of the usual recordings are JPEG. The library of a wheel cannot decode them; then Pillow does, and without
    it frames come without images. If the file is damaged, whole chunks are read and the rest is passed over; records()
    reports the damage. Needs libstixel-recording.
    """

    def __init__(self, path: PathLike) -> None:
        """Opens a file.

        Raises NotStixel for other files and for MCAP files without frames of stixeld; LibraryError; OSError.
        """
        self._path = os.fspath(path)
        if not stat.S_ISREG(os.stat(self._path).st_mode):  # checked before opening, because opening a pipe waits
            raise NotSupported(errno.ESPIPE, "%s is not a plain file" % self._path)
        self._file = open(self._path, "rb", buffering=0)
        try:
            info = self._walk().info()
        except BaseException:
            self._file.close()
            raise
        self._instance: bytes = info.instance
        self._end = (End(info.frames, info.lost, info.publishers, info.first_ns, info.last_ns)
                     if info.indexed and info.ended else None)
        self._classes: Dict[int, Optional[Tuple[str, ...]]] = {}  # names of the classes by epoch
        #: Name and version of the program that wrote the file; empty in a damaged header.
        self.recorder: str = info.recorder.decode("utf-8", "replace")
        #: The moment when the recording began, on both clocks; 0: not known.
        self.anchor_monotonic_ns: int = info.anchor_monotonic_ns
        self.anchor_realtime_ns: int = info.anchor_realtime_ns

    def __repr__(self) -> str:
        return "<stixel.Recording %r of instance %r>" % (self._path, self.instance)

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _walk(self) -> _Walk:
        return _Walk(self._file.fileno(), self._path)

    @property
    def instance(self) -> str:
        """Name of the recorded instance; empty if the file does not contain it, or it was not read yet."""
        return self._instance.decode("ascii", "replace")

    @property
    def end(self) -> Optional[End]:
        """Summary that the recorder wrote when it finished; None for a file that was cut, or is still being written."""
        return self._end

    # -- reading --
    def _records(self, walk: _Walk) -> Iterator[Record]:
        for record in walk.records():
            self._instance = self._instance or walk.info().instance
            if isinstance(record, Life):
                self._classes[record.epoch] = record.classes
            elif isinstance(record, Frame):
                record._classes = self._classes.get(record.epoch)
            yield record

    def records(self, since_ns: Optional[int] = None) -> Iterator[Record]:
        """Yields all records in order: Frame, Life, Gap and Damage. since_ns: see frames()."""
        walk = self._walk()
        if since_ns is None:
            yield from self._records(walk)
            return
        if not self._classes:  # the beginning of the file has the names of the classes
            next((r for r in self._records(self._walk()) if isinstance(r, (Life, Frame))), None)
        walk.seek(since_ns)
        held: Optional[Frame] = None
        found = self._records(walk)
        for record in found:
            if not isinstance(record, Frame):
                continue
            if record.published_ns > since_ns:
                if held is not None:
                    yield held
                yield record
                yield from found
                return
            held = record
        if held is not None:
            yield held

    def frames(self, since_ns: Optional[int] = None) -> Iterator[Frame]:
        """Yields the frames.

        since_ns: begin with the last frame published at or before this time (CLOCK_MONOTONIC, ns); needs the index.
        """
        last: Tuple[int, int] = (0, 0)
        for record in self.records(since_ns):
            if isinstance(record, Frame):
                if last[0] == record.epoch:
                    record._missed = max(0, record.number - last[1] - 1)
                last = record.epoch, record.number
                yield record

    def __iter__(self) -> Iterator[Frame]:
        return self.frames()
