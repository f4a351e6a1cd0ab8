"""Recordings of "stixelctl record": stixel-recording(5) has the format. Needs no libstixel.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import ctypes
import enum
import errno
import os
import stat
import struct
from typing import TYPE_CHECKING, Any, Iterator, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from ._check import verdict
from ._crc32c import crc32c
from ._errors import NotStixel, NotSupported, OtherVersion, StixelError
from ._frame import Frame
from ._layout import header_of

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Type

    PathLike = Union[str, "os.PathLike[str]"]

_MAGIC = b"STIXREC\n"
_ENDIAN = 0x01020304
_MAJOR = 1
_HEADER = struct.Struct("<8sHHIIIqq72s32s112x")
_HEADER_MAX = 4096
_RECORD_MAGIC = b"STXR"
_HEAD = struct.Struct("<4sHHIIqII")
_CONTENT_MAX = 256 << 20
_FRAME, _PUBLISHER, _GAP, _INDEX, _END = 1, 2, 3, 4, 5
_PLAIN, _ZSTD = 0, 1
_LIFE_OF = struct.Struct("<QQ32s")
_GAP_OF = struct.Struct("<QQQI4x")
_INDEX_OF = struct.Struct("<QQ")
_ENTRIES = 512
_END_OF = struct.Struct("<QQQQQQQqqQ32x")
_WINDOW = 1 << 18  # looked through at once for the next whole record


class GapReason(enum.IntEnum):
    """Why frames are missing."""

    UNKNOWN = -1
    OVERRUN = 0
    DAMAGED = 1

    @classmethod
    def _missing_(cls, value: object) -> Any:
        return cls.UNKNOWN


class Life(NamedTuple):
    """The frames that follow are of this publisher."""

    epoch: int
    pid: int
    version: str


class Gap(NamedTuple):
    """Frames are missing here, and the recorder knew."""

    epoch: int
    number: int  #: of the first that is missing; 0: not known
    lost: int  #: frames
    reason: GapReason


class Damage(NamedTuple):
    """Bytes that are no whole record."""

    offset: int  #: in the file
    bytes: int
    why: str
    at_end: bool  #: the file ends with it: it was cut, or is still being written


class End(NamedTuple):
    """What stands at the end of a recording that was finished."""

    frames: int
    lost: int  #: sum of all gaps
    publishers: int
    first_ns: int  #: published_ns of the first frame, of the last one
    last_ns: int


Record = Union[Frame, Life, Gap, Damage]


def _zstd(content: bytes, plain_bytes: int) -> Optional[bytes]:
    """Decoded, or None when it cannot be."""
    try:
        lib = ctypes.CDLL("libzstd.so.1")
    except OSError as e:
        raise NotSupported(errno.ENOTSUP, "frames are compressed, and libzstd.so.1 cannot be loaded (%s)" % e) from None
    lib.ZSTD_decompress.restype = ctypes.c_size_t
    lib.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    room = ctypes.create_string_buffer(plain_bytes)
    n = lib.ZSTD_decompress(room, plain_bytes, content, len(content))
    return room.raw if n == plain_bytes else None  # an error is larger than any size


class Recording:
    """A recording in a file. Iteration gives its frames, again from the beginning each time.

    Whatever the file has been through, whole records are read and the rest is passed over: records() tells of it.
    """

    def __init__(self, path: PathLike) -> None:
        """Raises NotStixel for other files, OtherVersion for those of another major version, OSError."""
        self._path = os.fspath(path)
        if not stat.S_ISREG(os.stat(self._path).st_mode):  # before it is opened: that of a pipe waits
            raise NotSupported(errno.ESPIPE, "%s is not a plain file" % self._path)
        self._file = open(self._path, "rb", buffering=0)
        try:
            self._read_header()
            self._end: Optional[Tuple[int, ...]] = self._read_end()
        except BaseException:
            self._file.close()
            raise

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

    def _at(self, offset: int, count: int) -> bytes:
        """Up to count bytes; fewer at the end of the file."""
        parts: List[bytes] = []
        while count:
            part = os.pread(self._file.fileno(), count, offset)
            if not part:
                break
            parts.append(part)
            offset, count = offset + len(part), count - len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read_header(self) -> None:
        data = self._at(0, _HEADER_MAX)
        if not data:
            raise NotStixel(errno.ENODATA, "%s is empty: not a recording" % self._path)
        if data[:8] != _MAGIC:
            raise NotStixel(errno.EBADMSG, "%s is not a recording of stixelctl" % self._path)
        if len(data) < _HEADER.size:
            raise NotStixel(errno.EBADMSG, "%s ends within the header of the recording: there is no frame in it"
                            % self._path)
        _, major, minor, size, endian, checksum, monotonic, realtime, instance, recorder = _HEADER.unpack_from(data)
        if major != _MAJOR:
            raise OtherVersion(errno.EPROTONOSUPPORT, "%s is a recording of version %d.%d, this module reads version %d"
                               % (self._path, major, minor, _MAJOR))
        self._start = 0  # with a damaged header: the records behind it are none the worse
        if (_HEADER.size <= size <= len(data) and size % 8 == 0 and endian == _ENDIAN
                and crc32c(data[:20] + b"\0\0\0\0" + data[24:size]) == checksum):
            self._start = size
        else:
            monotonic = realtime = 0
            instance = recorder = b""
        #: Whose frames these are, the version of the program that wrote them; empty in a damaged header.
        self.instance: str = instance.split(b"\0")[0].decode("ascii", "replace")
        self.recorder: str = recorder.split(b"\0")[0].decode("ascii", "replace")
        #: The same moment on both clocks: when it began.
        self.anchor_monotonic_ns: int = monotonic
        self.anchor_realtime_ns: int = realtime

    def _head(self, data: bytes) -> Optional[Tuple[Any, ...]]:
        """kind, encoding, bytes, plain_bytes, time_ns, content_crc of a whole head."""
        if len(data) < _HEAD.size:
            return None
        magic, kind, encoding, size, plain, time_ns, content_crc, head_crc = _HEAD.unpack_from(data)
        if magic != _RECORD_MAGIC or crc32c(data[:28]) != head_crc or max(size, plain) > _CONTENT_MAX:
            return None
        return kind, encoding, size, plain, time_ns, content_crc

    def _content(self, offset: int, kind: int) -> bytes:
        """Of a plain record of this kind that is whole; else nothing."""
        head = self._head(self._at(offset, _HEAD.size))
        if head is None or head[0] != kind or head[1] != _PLAIN:
            return b""
        content = self._at(offset + _HEAD.size, head[2])
        return content if len(content) == head[2] and crc32c(content) == head[5] else b""

    def _read_end(self) -> Optional[Tuple[int, ...]]:
        size = os.fstat(self._file.fileno()).st_size
        content = self._content(max(0, size - _HEAD.size - _END_OF.size), _END)
        if len(content) != _END_OF.size:
            return None
        end = _END_OF.unpack(content)
        return end if end[1] == size else None

    @property
    def end(self) -> Optional[End]:
        """What the recorder noted when it finished; None for a file that was cut, or is still being written."""
        e = self._end
        return None if e is None else End(e[2], e[3], e[4], e[7], e[8])

    # -- reading --
    def _next_place(self, offset: int) -> int:
        """Where the next record may begin, at offset or behind it; the end of the file without one."""
        while True:
            window = self._at(offset, _WINDOW)
            at = window.find(_RECORD_MAGIC)
            while at >= 0 and at % 8:
                at = window.find(_RECORD_MAGIC, at + 1)
            if at >= 0:
                return offset + at
            if len(window) < _WINDOW:
                return offset + len(window)
            offset += _WINDOW

    def _take(self, kind: int, encoding: int, plain: int, content: bytes) -> Union[None, str, Frame, Life, Gap]:
        """A record; None: pass over it; or why it is none."""
        if kind == _FRAME:
            if encoding == _ZSTD:
                decoded = _zstd(content, plain)
                if decoded is None:
                    return "a frame contradicts itself"
                content = decoded
            elif encoding != _PLAIN:
                raise NotSupported(errno.ENOTSUP, "%s: frames are compressed in a way that this module does not know"
                                   % self._path)
            code = verdict(content)
            if code:
                return ("a frame is of another major version" if code == -errno.EPROTONOSUPPORT
                        else "a frame contradicts itself")
            return Frame(content[:int(header_of(content)["frame_bytes"])])
        if kind == _PUBLISHER and len(content) >= _LIFE_OF.size:
            epoch, pid, version = _LIFE_OF.unpack_from(content)
            return Life(epoch, pid, version.split(b"\0")[0].decode("ascii", "replace"))
        if kind == _GAP and len(content) >= _GAP_OF.size:
            epoch, number, lost, reason = _GAP_OF.unpack_from(content)
            return Gap(epoch, number, lost, GapReason(reason))
        return None

    def _one(self, offset: int) -> Tuple[int, Union[None, str, Frame, Life, Gap]]:
        """Bytes of the record at offset, and what it is; 0 bytes: none, and why."""
        data = self._at(offset, _HEAD.size)
        if len(data) < _HEAD.size:
            return 0, "the file ends within a record"
        head = self._head(data)
        if head is None:
            return 0, "the head of a record is damaged"
        kind, encoding, size, plain, _, content_crc = head
        padded = (size + 7) // 8 * 8
        content = self._at(offset + _HEAD.size, padded)
        if len(content) < padded:
            return 0, "the file ends within a record"
        content = content[:size]
        if crc32c(content) != content_crc:
            return 0, "the content of a record is damaged"
        found = self._take(kind, encoding, plain, content)
        return (0 if isinstance(found, str) else _HEAD.size + padded), found

    def records(self, since_ns: Optional[int] = None) -> Iterator[Record]:
        """All there is, in order: Frame, Life, Gap and Damage. since_ns: see frames()."""
        offset = self._start if since_ns is None else self._seek(since_ns)
        bad, why = 0, ""
        while True:
            size, found = self._one(offset)
            if size:
                if why:
                    yield Damage(bad, offset - bad, why, False)
                    why = ""
                offset += size
                if found is not None and not isinstance(found, str):
                    yield found
                continue
            if not why and not self._at(offset, 1):
                return
            if not why:
                bad, why = offset, str(found)
            # every place is tried, so that none that is whole is lost, whatever a damaged length says
            offset = self._next_place(offset + 8)
            if not self._at(offset, 1):
                yield Damage(bad, os.fstat(self._file.fileno()).st_size - bad, why, True)
                return

    def frames(self, since_ns: Optional[int] = None) -> Iterator[Frame]:
        """The frames; from the last one published at or before since_ns (CLOCK_MONOTONIC) on, by the index."""
        last: Tuple[int, int] = (0, 0)
        for record in self.records(since_ns):
            if isinstance(record, Frame):
                if last[0] == record.epoch:
                    record._missed = max(0, record.number - last[1] - 1)
                last = record.epoch, record.number
                yield record

    def __iter__(self) -> Iterator[Frame]:
        return self.frames()

    def _seek(self, since_ns: int) -> int:
        if self._end is None:
            raise StixelError(errno.ESPIPE, "%s has no index: it was not finished; read it from the beginning"
                              % self._path)
        at, best = self._end[0], self._start
        while at:
            content = self._content(at, _INDEX)
            if len(content) < _INDEX_OF.size:
                raise StixelError(errno.EBADMSG, "%s: the index is damaged; read it from the beginning" % self._path)
            previous, count = _INDEX_OF.unpack_from(content)
            if not 0 < count <= _ENTRIES or previous >= at or len(content) < _INDEX_OF.size + 16 * count:
                raise StixelError(errno.EBADMSG, "%s: the index is damaged; read it from the beginning" % self._path)
            entries = np.frombuffer(content, [("offset", "<u8"), ("time_ns", "<i8")], count, _INDEX_OF.size)
            if entries["time_ns"][0] <= since_ns or not previous:
                before = np.flatnonzero(entries["time_ns"] <= since_ns)
                best = int(entries["offset"][before[-1] if len(before) else 0])
                break
            at = previous
        return best
