"""What lies in a recording, and what its messages mean.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import enum
import errno
import struct
from typing import Any, Dict, Iterable, Iterator, NamedTuple, Optional, Tuple, Union

from . import _mcap as mcap
from ._check import verdict
from ._frame import Frame
from ._layout import HEADER_BYTES_LEAST, Plane, header_of, offset_of
from ._planes import FIELDS, PLACES, select

_FRAME_MAX = 256 << 20
_EVENTS, _FRAMES = -1, -2  # what a channel has; images: their kind
_ROLES = {b"stixel": (b"stixel", _FRAMES), b"events": (b"protobuf", _EVENTS),
          b"disparity": (b"protobuf", int(Plane.DISPARITY)), b"left": (b"protobuf", int(Plane.LEFT)),
          b"right": (b"protobuf", int(Plane.RIGHT))}


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


def _told(place: Tuple[int, int], found: Iterable[Union[Frame, Life, Gap, str]]) -> Iterator[Record]:
    """A text, which says what is wrong, becomes damage."""
    for one in found:
        yield Damage(*place, one, False) if isinstance(one, str) else one


class Content:
    """What the channels and messages mean. A frame's images come behind it, in channels of their own."""

    def __init__(self) -> None:
        self.roles: Dict[int, int] = {}
        self.topics = b""  # how they begin: /INSTANCE/
        self.channels = 0
        self.given = 0  # bytes of frames
        self.end: Optional[End] = None
        self.parts: Dict[int, bytes] = {}  # of the frame being put together: itself at 0, images at their kind
        self.missing: Dict[int, Tuple[int, ...]] = {}  # its images that have not come
        self.place = (0, 0)  # of the message before: where it lies, and its bytes

    def anew(self) -> Content:
        """With the same channels, for another way through the file."""
        other = Content()
        other.roles, other.topics = dict(self.roles), self.topics
        return other

    def channel(self, content: bytes) -> None:
        """Ours say so in their metadata; those of the first instance count."""
        try:
            c = mcap.channel(content)
        except mcap.Malformed:
            return
        self.channels += 1
        name = c.metadata.get(b"stixel", b"")
        encoding, role = _ROLES.get(name, (b"", 0))
        begins = c.topic[:len(c.topic) - len(name)]
        if not role or encoding != c.encoding or not 3 <= len(begins) < 72:
            return
        self.topics = self.topics or begins
        if self.topics == begins:
            self.roles[c.id] = role

    def first_published_ns(self, records: bytes) -> Optional[int]:
        """Of the first frame among these records; None without one. Malformed."""
        for op, content in mcap.inside(records):
            if op == mcap.CHANNEL:
                self.channel(content)
            elif (op == mcap.MESSAGE and self.roles.get(int.from_bytes(content[:2], "little")) == _FRAMES
                  and len(content) >= mcap.MESSAGE_OF.size + HEADER_BYTES_LEAST):
                return int(struct.unpack_from("<q", content, mcap.MESSAGE_OF.size + offset_of("published_ns"))[0])
        return None

    def message(self, begin: int, content: bytes) -> Iterator[Record]:
        """What it gives. begin: of the chunk it lies in."""
        role = self.role(content)
        if role < 0 and len(content) >= mcap.MESSAGE_OF.size:
            yield from self.rest()
        place = begin, mcap.HEAD.size + len(content)
        if role == _FRAMES:
            self.place = place
        yield from _told(place, self._found(role, content))

    def role(self, content: bytes) -> int:
        """Of a message's channel; 0: none of ours."""
        return self.roles.get(int.from_bytes(content[:2], "little"), 0) if len(content) >= 2 else 0

    def look_for_end(self, content: bytes) -> None:
        """In a message; whatever else it may be is passed over."""
        if self.role(content) == _EVENTS:
            for _ in self._found(_EVENTS, content):
                pass

    def _found(self, role: int, content: bytes) -> Iterator[Union[Frame, Life, Gap, str]]:
        """A text says what is wrong with it."""
        if role and len(content) < mcap.MESSAGE_OF.size:
            self.missing = {}
            yield "a message contradicts itself"
        elif role:
            data = content[mcap.MESSAGE_OF.size:]
            yield from (self._image(role, data) if role > 0 else
                        self._event(data) if role == _EVENTS else self._frame(data))

    def _frame(self, data: bytes) -> Iterator[Union[Frame, str]]:
        if len(data) < HEADER_BYTES_LEAST:
            yield "a frame contradicts itself"
            return
        total, at = int(struct.unpack_from("<I", data, offset_of("frame_bytes"))[0]), len(data)
        if total != at:
            missing: Dict[int, Tuple[int, ...]] = {}
            for place in PLACES:
                kind, width, height, pitch, offset, size = FIELDS.unpack_from(data, place)
                if not kind:
                    break
                if kind > Plane.RIGHT or offset != at or kind in missing:
                    at = -1
                    break
                missing[kind] = (width, height, pitch, size)
                at += size
            if not missing or at != total or at > _FRAME_MAX:
                yield "a frame contradicts itself"
                return
            self.missing = missing
            self.parts = {0: data, **dict.fromkeys(missing, b"")}
            return
        yield self._whole(data)

    def _whole(self, data: bytes) -> Union[Frame, str]:
        code = verdict(data)
        if code:
            return ("a frame is of another major version" if code == -errno.EPROTONOSUPPORT
                    else "a frame contradicts itself")
        self.given += len(data)
        return Frame(data[:int(header_of(data)["frame_bytes"])])

    def rest(self) -> Iterator[Record]:
        """Images that should have come did not: somebody has left out their channels. The frame without them."""
        if self.missing:
            yield from _told(self.place, self._bare())

    def _bare(self) -> Iterator[Union[Frame, str]]:
        self.missing = {}
        data = self.parts[0]
        if verdict(data.ljust(int(header_of(data)["frame_bytes"]), b"\0")):  # images are not in the checksum
            yield "a frame contradicts itself"
            return
        yield self._whole(select(data, ()))

    def _image(self, kind: int, data: bytes) -> Iterator[Union[Frame, str]]:
        if kind not in self.missing:
            return
        want = self.missing.pop(kind)
        try:
            f = mcap.fields(data)
        except mcap.Malformed:
            f = {}
        pixels = f.get(6, b"")
        if not isinstance(pixels, bytes) or (f.get(2, 0), f.get(3, 0), f.get(5, 0), len(pixels)) != want:
            self.missing = {}
            yield "an image is not the one of its frame"
            return
        self.parts[kind] = pixels
        if not self.missing:
            yield self._whole(b"".join(self.parts.values()))

    def _event(self, data: bytes) -> Iterator[Union[Life, Gap, str]]:
        try:
            f = mcap.fields(data)
        except mcap.Malformed:
            yield "an event contradicts itself"
            return

        def number(field: int) -> int:
            n = f.get(field, 0)
            return n if isinstance(n, int) else 0

        def word(field: int) -> str:
            b = f.get(field, b"")
            return b.decode("ascii", "replace") if isinstance(b, bytes) else ""

        def time(field: int) -> int:
            return (number(field) ^ 1 << 63) - (1 << 63)

        if word(1) == "publisher":
            yield Life(number(2), number(3), word(4))
        elif word(1) == "gap":
            reason = {"overrun": GapReason.OVERRUN, "damaged": GapReason.DAMAGED}.get(word(7), GapReason.UNKNOWN)
            yield Gap(number(2), number(5), number(6), reason)
        elif word(1) == "end":
            self.end = End(number(8), number(6), number(9), time(12), time(13))
