"""Takes image planes out of frames, and puts them back.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import struct
from typing import Collection, List, NamedTuple, Sequence

from ._check import sealed
from ._layout import FrameFlag, Plane, header_of, offset_of

_ORDER = (Plane.LEFT, Plane.RIGHT, Plane.DISPARITY)  # order in which the daemon puts planes into a frame
FIELDS = struct.Struct("<6I")  #: fields of a plane in the header: kind, width, height, pitch, offset, bytes
PLACES = offset_of("plane_kind"), offset_of("plane2_kind")  #: offsets of FIELDS in the header


class _Image(NamedTuple):
    kind: int
    width: int
    height: int
    pitch: int
    data: memoryview


def _images(data: bytes) -> List[_Image]:
    found = []
    for place in PLACES:
        kind, width, height, pitch, offset, size = FIELDS.unpack_from(data, place)
        if kind != Plane.NONE:
            found.append(_Image(kind, width, height, pitch, memoryview(data)[offset:offset + size]))
    return found


def _with(data: bytes, images: Sequence[_Image], left_out: bool) -> bytes:
    """Returns the frame with other planes. Sizes, flag and checksum are as the publisher would set them."""
    h = header_of(data)
    bare = bytearray(data[:int(h["plane_offset"] if h["plane_kind"] else h["frame_bytes"])])
    end = len(bare)
    for i, place in enumerate(PLACES):
        fields = bytes(FIELDS.size)
        if i < len(images):
            image = images[i]
            fields = FIELDS.pack(image.kind, image.width, image.height, image.pitch, end, len(image.data))
            end += len(image.data)
        bare[place:place + FIELDS.size] = fields
    flags = int(h["flags"]) & ~FrameFlag.PLANE_LEFT_OUT | (FrameFlag.PLANE_LEFT_OUT if left_out else 0)
    struct.pack_into("<I", bare, offset_of("frame_bytes"), end)
    struct.pack_into("<I", bare, offset_of("flags"), flags)
    return b"".join([sealed(bare), *(image.data for image in images)])


def select(data: bytes, kinds: Collection[int]) -> bytes:
    """Returns a frame with only the planes of these kinds, flagged PLANE_LEFT_OUT; the same bytes if it has no others.

    data: a frame that has been checked. If no plane is selected, data may end before the planes.
    """
    images = _images(data)
    chosen = [image for image in images if image.kind in kinds]
    return data if len(chosen) == len(images) else _with(data, chosen, True)


def join(parts: Sequence[bytes]) -> bytes:
    """Joins the results of select() into one frame with all planes found. A whole frame has its original bytes."""
    for part in parts:
        if not header_of(part)["flags"] & FrameFlag.PLANE_LEFT_OUT:
            return part
    images = {image.kind: image for part in parts for image in _images(part)}
    found = [images[kind] for kind in _ORDER if kind in images][:len(PLACES)]
    return _with(parts[0], found, len(found) < len(PLACES))
