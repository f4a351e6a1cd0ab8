"""Recordings of "stixelctl record", which are MCAP files: docs/recording.md. Needs no libstixel.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import errno
import os
import stat
import zlib
from typing import TYPE_CHECKING, Generator, Iterator, List, Optional, Tuple, Union

from . import _mcap as mcap
from ._errors import NotStixel, NotSupported, StixelError
from ._frame import Frame
from ._recorded import Content, Damage, End, Record

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Type

    PathLike = Union[str, "os.PathLike[str]"]

_HEADER_MAX = 4096
_CUT = "the file ends within a record"
_BAD_HEAD = "the head of a record is damaged"
_VAIN = "chunks expand to far more than their frames"
_SUMMARY_MAX = 64 << 20
_WINDOW = 1 << 18  # looked at at once
_VAIN_FOLD = 64  # what may be read for nothing: so many times what the file has, and a chunk
_EXPANDED_FOLD = 1024  # what chunks may expand to
_VAIN_RECORD = 256  # what a record in a chunk counts for there: many that are small take time, too


class _Walk:
    """Through a file from one record to the next, with the same words for the same damage as stixelctl."""

    def __init__(self, recording: Recording, offset: int) -> None:
        self.at = recording._at
        self.size = recording._size()
        self.offset = offset
        self.known = recording._content
        self.content = self.known.anew()
        self.before = 0  # the record before begins here, and its length may be wrong; 0: it is sure
        self.after_chunk = self.lost = False
        self.sum: Optional[int] = 0 if offset == 0 else None  # None: something is missing in it
        self.summary = 0  # begins there
        self.bad: Optional[Tuple[int, str]] = None  # what is being passed over: from where on, and why
        self.bad_before = 0  # or from here, if a chunk is found
        self.checked_to = 0  # bytes were looked at up to here
        self.vain = 0  # bytes that were looked at once more, and records in chunks
        self.expanded = 0  # bytes that chunks were expanded to
        self.window, self.window_at = b"", 0  # what is being looked through for chunks

    def _pass(self, count: int) -> None:
        end = self.offset + count
        while self.offset < end:
            part = min(end - self.offset, 1 << 22)
            if self.sum is not None:
                self.sum = zlib.crc32(self.at(self.offset, part), self.sum)
            self.offset += part

    def _damaged(self, why: str) -> None:
        """Here is no record: a whole chunk is looked for, from the next byte on, or behind a length not believed."""
        if not self.lost:
            self.lost, self.after_chunk, self.sum = True, False, None
            self.bad = self.bad or (self.offset, why)
            before, self.before, self.bad_before = self.before, 0, 0
            if before and self._affordable(0, self.offset - before):
                self.vain += self.offset - before
                self.bad_before = self.offset = before
        self.offset += 1

    def _told(self) -> Iterator[Damage]:
        """What was passed over lies before something whole."""
        if self.bad:
            at, why = self.bad_before or self.bad[0], self.bad[1]
            self.bad, self.bad_before = None, 0
            yield Damage(at, self.offset - at, why, False)

    def _end(self) -> Iterator[Damage]:
        if not self.bad:
            return
        at = self.bad[0]
        if self.size - at >= 8 and self.at(self.size - 8, 8) == mcap.MAGIC:
            self.offset = self.size
            yield from self._told()
        else:
            yield Damage(at, self.size - at, self.bad[1], True)

    def records(self) -> Iterator[Record]:
        """All there is."""
        fresh = self.offset == 0
        while self.offset < self.size:
            if fresh:
                fresh = False
                self._magic()
                continue
            if self.lost:
                yield from self.content.rest()  # a frame without its images, before what is damaged
                if not self._look():
                    break
            head = self.at(self.offset, mcap.HEAD.size)
            if len(head) < mcap.HEAD.size:
                self._damaged(_CUT)
                continue
            op, size = mcap.HEAD.unpack(head)
            if op == mcap.CHUNK:
                yield from self._chunk(size)
            else:
                fresh = yield from self._other(op, size)
        yield from self.content.rest()
        yield from self._end()

    def _magic(self) -> None:
        if self.at(self.offset, 8) != mcap.MAGIC:
            self._damaged("there are bytes behind the end")
            return
        if self.offset:  # another file lies behind the first
            self.content.roles, self.content.topics = {}, b""
        self.sum, self.summary = 0, 0
        self._pass(8)

    def _look(self) -> bool:
        """For what may be a chunk, here or behind; False: there is none."""
        least = mcap.HEAD.size + mcap.CHUNK_LEAST + 8
        while True:
            begin = self.offset - self.window_at
            if not 0 <= begin <= len(self.window) - least:
                self.window, self.window_at, begin = self.at(self.offset, _WINDOW), self.offset, 0
            places = len(self.window) - least + 1
            if places <= begin:
                return False
            at = self.window.find(b"\x06", begin, places)
            while at >= 0 and not mcap.resembles_chunk(self.window[at:at + least]):
                at = self.window.find(b"\x06", at + 1, places)
            self.offset = self.window_at + (at if at >= 0 else places)
            if at >= 0:
                return True

    def _again(self, end: int) -> int:
        return max(0, min(end, self.checked_to) - self.offset)

    def _affordable(self, end: int, more: int) -> bool:
        """Whether the bytes up to end are worth a look, and so many more that were looked at before.

        Only a file that was made for it has its bytes looked at over and over, or expands to far more than it has:
        this bounds the work by its size. Chunks that do not overlap cost nothing here as long as they are plain.
        """
        return self.vain + self._again(end) + more <= self._most(self.offset, _VAIN_FOLD)

    def _affords_expansion(self, plain: int) -> bool:
        return self.expanded + plain <= self._most(self.offset, _EXPANDED_FOLD)

    def _most(self, offset: int, fold: int) -> int:
        return fold * offset + mcap.CHUNK_MAX + self.content.given

    def _spent(self, end: int, plain: int) -> None:
        self.vain += self._again(end)
        self.expanded += plain
        self.checked_to = max(self.checked_to, end)

    def _chunk(self, size: int) -> Iterator[Record]:
        begin = self.offset
        if size > self.size - begin - mcap.HEAD.size or size > mcap.CHUNK_MAX:
            self._damaged(_CUT if size > self.size - begin - mcap.HEAD.size else _BAD_HEAD)
            return
        end = begin + mcap.HEAD.size + size
        if not self._affordable(end, 0):
            self._damaged(_BAD_HEAD)
            return
        try:
            content = self.at(begin + mcap.HEAD.size, size)
            parts = mcap.chunk(content)
        except mcap.Malformed:
            self._damaged(_BAD_HEAD)
            return
        plain = mcap.expands_to(parts)
        if not self._affords_expansion(plain):
            self._damaged(_VAIN)
            return
        self._spent(end, plain)
        try:
            records = mcap.records_of(parts)
        except mcap.Malformed:
            self._damaged("the content of a chunk is damaged")
            return
        yield from self._told()
        self.lost = False
        self.before = 0 if parts.exact else begin
        try:
            for op, record in mcap.inside(records):
                if self.vain + _VAIN_RECORD > self._most(end, _VAIN_FOLD):
                    self._damaged(_VAIN)
                    return
                if op == mcap.CHANNEL:
                    self.content.channel(record)
                elif op == mcap.MESSAGE:
                    yield from self.content.message(begin, record)
                self.vain += _VAIN_RECORD
        except mcap.Malformed:
            self._damaged("a chunk contradicts itself")
            return
        self.known.topics = self.known.topics or self.content.topics
        self._pass(mcap.HEAD.size)
        if self.sum is not None:
            self.sum = zlib.crc32(content, self.sum)
        self.offset = end
        self.after_chunk = True

    def _sure(self, op: int, size: int) -> bool:
        """The length of what recordings have between chunks also follows from what is in it."""
        first = {mcap.MESSAGE_INDEX: 2, mcap.METADATA: 4}.get(op, 0)
        content = self.at(self.offset + mcap.HEAD.size, _HEADER_MAX + 4)
        end = first + (int.from_bytes(content[:4], "little") if op == mcap.METADATA else 0)
        return bool(first and end + 4 <= len(content) and end <= _HEADER_MAX
                    and end + 4 + int.from_bytes(content[end:end + 4], "little") == size)

    def _other(self, op: int, size: int) -> Generator[Record, None, bool]:
        """Also returns whether a file has ended behind it, in order."""
        begin = self.offset
        good = op != 0 and {mcap.FOOTER: size == 20, mcap.DATA_END: 4 <= size < _HEADER_MAX,
                            mcap.MESSAGE_INDEX: 6 <= size <= mcap.CHUNK_MAX and (size - 6) % 16 == 0,
                            mcap.CHANNEL: size <= mcap.CHUNK_MAX, mcap.MESSAGE: size <= mcap.CHUNK_MAX}.get(
                                op, size < 1 << 56)
        if not good or size > self.size - begin - mcap.HEAD.size:
            self._damaged(_CUT if good else _BAD_HEAD)
            return False
        end = begin + mcap.HEAD.size + size
        if not self._affordable(end, 0):
            self._damaged(_BAD_HEAD)
            return False
        if op == mcap.MESSAGE_INDEX and not self.after_chunk:  # what lies before it was a chunk
            self.bad = self.bad or (self.before or begin, _BAD_HEAD)
            self.sum = None
        yield from self._told()
        self._spent(end, 0)
        self.before = 0 if self._sure(op, size) else begin
        self.after_chunk = op == mcap.MESSAGE_INDEX
        content = self.at(begin + mcap.HEAD.size, size) if op in (
            mcap.FOOTER, mcap.DATA_END, mcap.CHANNEL, mcap.MESSAGE) else b""
        if op == mcap.FOOTER:
            return (yield from self._footer(content))
        if op == mcap.DATA_END:
            yield from self._data_end(begin, size, content)
            return False
        if op == mcap.CHANNEL:
            self.content.channel(content)
        elif op == mcap.MESSAGE:  # of a writer without chunks
            yield from self.content.message(begin, content)
        self._pass(mcap.HEAD.size + size)
        return False

    def _data_end(self, begin: int, size: int, content: bytes) -> Iterator[Damage]:
        crc = int.from_bytes(content[:4], "little")
        wrong = crc and self.sum not in (None, crc)
        self._pass(mcap.HEAD.size + size)
        self.sum, self.summary = 0, self.offset
        if wrong:
            yield Damage(begin, self.offset - begin, "the data do not add up to their checksum", False)

    def _footer(self, content: bytes) -> Generator[Damage, None, bool]:
        begin = self.offset
        summary, _, crc = mcap.FOOTER_OF.unpack(content)
        self._pass(mcap.HEAD.size + 16)
        if summary:  # there must have been an end of the data before it
            wrong = not self.summary or (crc and self.sum not in (None, crc))
        else:
            wrong = self.summary not in (0, begin)
        self._pass(4)
        ended = self.at(self.offset, 8) == mcap.MAGIC
        if ended:
            self._pass(8)
        if wrong:
            yield Damage(begin, self.offset - begin, "the summary does not add up to its checksum", False)
        return ended


class Recording:
    """A recording in a file. Iteration gives its frames, again from the beginning each time.

    Whatever the file has been through, whole chunks are read and the rest is passed over: records() tells of it.
    """

    def __init__(self, path: PathLike) -> None:
        """Raises NotStixel for other files, and for MCAP files without frames of stixeld; OSError."""
        self._path = os.fspath(path)
        if not stat.S_ISREG(os.stat(self._path).st_mode):  # before it is opened: that of a pipe waits
            raise NotSupported(errno.ESPIPE, "%s is not a plain file" % self._path)
        self._file = open(self._path, "rb", buffering=0)
        try:
            self._content = Content()
            self._places: Optional[List[int]] = None  # of chunks
            self._read_header()
            self._read_summary()
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

    def _size(self) -> int:
        return os.fstat(self._file.fileno()).st_size

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

    def _record(self, offset: int, kind: int) -> Optional[bytes]:
        """Content of a record of this kind that is no longer than a header may be; None: there is none."""
        head = self._at(offset, mcap.HEAD.size)
        if len(head) < mcap.HEAD.size:
            return None
        op, size = mcap.HEAD.unpack(head)
        content = self._at(offset + mcap.HEAD.size, size) if op == kind and size <= _HEADER_MAX else b""
        return content if op == kind and len(content) == size else None

    def _read_header(self) -> None:
        data = self._at(0, _HEADER_MAX)
        if not data:
            raise NotStixel(errno.ENODATA, "%s is empty: not a recording" % self._path)
        if data[:8] == b"STIXREC\n":
            raise NotStixel(errno.EBADMSG, "%s is a recording of an older stixelctl, from before recordings were MCAP: "
                            "that one can replay it" % self._path)
        if data[:8] != mcap.MAGIC:
            raise NotStixel(errno.EBADMSG, "%s is not a recording: no MCAP file" % self._path)
        header = self._record(8, mcap.HEADER)
        size = len(header or b"")
        if header is None and (len(data) < 17 or len(data) < _HEADER_MAX and data[8] == mcap.HEADER and len(
                data) - 17 < mcap.HEAD.unpack_from(data, 8)[1] <= _HEADER_MAX):
            raise NotStixel(errno.EBADMSG, "%s ends within its header: there is no frame in it" % self._path)
        recorder, known = b"", {}
        try:
            recorder = mcap.text(header or b"", mcap.text(header or b"", 0)[1])[0]
            metadata = self._record(17 + size, mcap.METADATA) or b""
            name, at = mcap.text(metadata, 0)
            if recorder.startswith(b"stixelctl ") and name == b"stixel.recording":
                known = mcap.pairs(mcap.text(metadata, at)[0])
        except mcap.Malformed:  # told by records()
            pass
        self._instance = known.get(b"instance", b"")
        #: The program that wrote the file, and its version; empty in a damaged header.
        self.recorder: str = recorder.decode("utf-8", "replace")
        #: The same moment on both clocks: when it began; 0: not known.
        self.anchor_monotonic_ns: int = _number(known.get(b"anchor_monotonic_ns", b""))
        self.anchor_realtime_ns: int = _number(known.get(b"anchor_realtime_ns", b""))

    def _read_summary(self) -> None:
        size = self._size()
        tail = self._at(max(0, size - 37), 37)
        if len(tail) < 37 or tail[:9] != mcap.HEAD.pack(mcap.FOOTER, 20) or tail[29:] != mcap.MAGIC:
            return
        start, _, crc = mcap.FOOTER_OF.unpack_from(tail, mcap.HEAD.size)
        if not 0 < start <= size - 37 or size - 12 - start > _SUMMARY_MAX:
            return
        summary = self._at(start, size - 12 - start)
        if crc and zlib.crc32(summary) != crc:
            return
        places: List[int] = []
        try:
            for op, content in mcap.inside(summary[:-25]):
                if op == mcap.CHANNEL:
                    self._content.channel(content)
                elif op == mcap.CHUNK_INDEX:
                    places.append(int.from_bytes(content[16:24], "little"))
                    if len(content) < 24 or places[-1] >= size:
                        return
        except mcap.Malformed:
            return
        if self._content.channels and not self._content.topics:
            raise NotStixel(errno.ENOMSG, "%s is an MCAP file without frames of stixeld" % self._path)
        places = sorted(set(places))  # the index may have any order
        self._places = places
        for op, content in mcap.inside(self._records_at(places[-1], 65536) or b"") if places else ():
            if op == mcap.MESSAGE and not self._content.end:  # it has a chunk of its own
                self._content.look_for_end(content)

    def _records_at(self, offset: int, most: int = mcap.CHUNK_MAX) -> Optional[bytes]:
        """The records of the chunk there, no more than so many bytes; None: it is not whole."""
        head = self._at(offset, mcap.HEAD.size)
        try:
            op, size = mcap.HEAD.unpack(head) if len(head) == mcap.HEAD.size else (0, 0)
            if op != mcap.CHUNK or size > most:
                return None
            parts = mcap.chunk(self._at(offset + mcap.HEAD.size, size))
            if parts.plain_bytes > most:
                return None
            records = mcap.records_of(parts)
            for _ in mcap.inside(records):
                pass
            return records
        except mcap.Malformed:
            return None

    @property
    def instance(self) -> str:
        """Whose frames these are; empty where the file does not say so, or not yet."""
        return (self._content.topics[1:-1] or self._instance).decode("ascii", "replace")

    @property
    def end(self) -> Optional[End]:
        """What the recorder noted when it finished; None for a file that was cut, or is still being written."""
        return self._content.end if self._places is not None else None

    # -- reading --
    def records(self, since_ns: Optional[int] = None) -> Iterator[Record]:
        """All there is, in order: Frame, Life, Gap and Damage. since_ns: see frames()."""
        if since_ns is None:
            yield from _Walk(self, 0).records()
            return
        held: Optional[Frame] = None
        walk = _Walk(self, self._seek(since_ns)).records()
        for record in walk:
            if not isinstance(record, Frame):
                continue
            if record.published_ns > since_ns:
                if held is not None:
                    yield held
                yield record
                yield from walk
                return
            held = record
        if held is not None:
            yield held

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
        """The last chunk whose first frame was published at or before this time, or the first one."""
        if self._places is None:
            raise StixelError(errno.ESPIPE, "%s has no index: it was not finished; read it from the beginning"
                              % self._path)
        low, high = 0, len(self._places)
        while high - low > 1:
            middle = (low + high) // 2
            records = self._records_at(self._places[middle])
            if records is None:
                raise StixelError(errno.EBADMSG, "%s: the index is damaged; read it from the beginning" % self._path)
            first = self._content.first_published_ns(records)
            low, high = (low, middle) if first is None or first > since_ns else (middle, high)
        return self._places[low] if self._places else 0


def _number(text: bytes) -> int:
    return int(text) if text.isdigit() else 0
