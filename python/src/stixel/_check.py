"""Checks a frame from its bytes alone: what stixel_parse() does, for machines without libstixel.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import ctypes
import errno
from typing import Any, Optional

import numpy as np

from ._crc32c import crc32c
from ._errors import error_of
from ._layout import (ABI_MAJOR, COLUMNS_MAX, FRAME_MAGIC, HEADER, HEADER_BYTES_LEAST, STAGES, STIXEL, CFrame, Plane,
                      header_of)
from ._library import library_or_none

SIDE_MAX = 65536  # of an image, each way


def _plane_fits(h: Any, name: str, before: int) -> bool:
    kind, width, height, pitch, offset, size = (
        int(h[name + f]) for f in ("_kind", "_width", "_height", "_pitch", "_offset", "_bytes"))
    if kind == Plane.NONE:
        return offset == 0 and size == 0
    pixel = 2 if kind == Plane.DISPARITY else 1
    return (offset % 8 == 0 and before <= offset <= int(h["frame_bytes"]) and size <= int(h["frame_bytes"]) - offset
            and pitch * height == size and 1 <= width <= SIDE_MAX and 1 <= height <= SIDE_MAX
            and width * pixel <= pitch and pitch % pixel == 0)


def _planes_fit(h: Any) -> bool:
    first, second = int(h["plane_kind"]), int(h["plane2_kind"])
    if second and (not first or first == second):
        return False
    return (_plane_fits(h, "plane", int(h["stixels_offset"]))
            and _plane_fits(h, "plane2", int(h["plane_offset"]) + int(h["plane_bytes"])))


def _sizes_fit(h: Any, size: int) -> bool:
    header, total, columns = int(h["header_bytes"]), int(h["frame_bytes"]), int(h["columns"])
    start = int(h["stixels_offset"])
    end = start + int(h["stixel_count"]) * STIXEL.itemsize
    return (total <= size and total % 8 == 0 and header >= HEADER_BYTES_LEAST and header % 8 == 0
            and columns <= COLUMNS_MAX and header + (columns + 1) * 4 <= start and start % 8 == 0 and _planes_fit(h)
            and end <= (int(h["plane_offset"]) if h["plane_kind"] else total))


def _checksum(data: bytes, h: Any) -> int:
    at = HEADER.fields["checksum"][1]  # type: ignore[index]
    end = int(h["plane_offset"]) if h["plane_kind"] else int(h["frame_bytes"])
    return crc32c(data[:at] + b"\0\0\0\0" + data[at + 4:end])


def _names_end(data: bytes, h: Any) -> bool:
    at = HEADER.fields["stage_name"][1]  # type: ignore[index]
    return int(h["stage_count"]) <= STAGES and not any(data[at + 16 * i + 15] for i in range(STAGES))


def _lists_agree(data: bytes, h: Any) -> bool:
    offsets = np.frombuffer(data, "<u4", int(h["columns"]) + 1, int(h["header_bytes"]))
    if offsets[0] != 0 or offsets[-1] != h["stixel_count"] or np.any(offsets[:-1] > offsets[1:]):
        return False
    s = np.frombuffer(data, STIXEL, int(h["stixel_count"]), int(h["stixels_offset"]))
    return bool(np.all(s["column"] == np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)))
                and np.all(s["row_top"] <= s["row_bottom"]) and np.all(s["row_bottom"] < h["image_height"]))


def verdict_in_python(data: bytes, claimed: Optional[int] = None) -> int:
    """0 for a whole frame, or the negative errno that stixel_parse() gives.

    claimed: so many bytes are there with its images, which are not in data and need not be.
    """
    if len(data) < HEADER_BYTES_LEAST:
        return -errno.EBADMSG
    h = header_of(data)
    if h["magic"] != FRAME_MAGIC:
        return -errno.EBADMSG
    if h["abi_major"] != ABI_MAJOR:
        return -errno.EPROTONOSUPPORT
    if not (_sizes_fit(h, claimed or len(data)) and _checksum(data, h) == h["checksum"] and _names_end(data, h)
            and _lists_agree(data, h)):
        return -errno.EBADMSG
    return 0


def verdict(data: bytes) -> int:
    """The same from libstixel where there is one: a hundred times as fast."""
    lib = library_or_none()
    if lib is None:
        return verdict_in_python(data)
    frame = CFrame()
    # the library wants 8-byte alignment, which CPython's bytes have; whoever has not gets a copy that has
    address = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0
    if address % 8:
        words = (ctypes.c_uint64 * (len(data) // 8 + 1))()
        ctypes.memmove(words, data, len(data))
        return int(lib.parse(ctypes.byref(frame), words, len(data)))
    return int(lib.parse(ctypes.byref(frame), address, len(data)))


def check(data: bytes, what: str) -> None:
    """Raises Damaged or OtherVersion, naming what it is about."""
    code = verdict(data)
    if code == -errno.EPROTONOSUPPORT:
        raise error_of(code, "%s: a frame of another major version of the layout" % what)
    if code < 0:
        raise error_of(-errno.EBADMSG, "%s: a damaged frame, or none at all (sizes, order or checksum)" % what)
