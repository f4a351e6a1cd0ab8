"""Checks a frame from its bytes alone and renews its checksum, through libstixel.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import ctypes
import errno
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import error_of
from ._layout import CFrame
from ._library import library

if TYPE_CHECKING:
    from numpy.typing import NDArray


def aligned(data: bytes) -> NDArray[np.uint8]:
    """Returns the bytes of a frame at a multiple of 8, as libstixel takes them. A view if possible, else a copy."""
    found = np.frombuffer(data, np.uint8)
    return found if found.ctypes.data % 8 == 0 else _copy(data)


def _copy(data: Any) -> NDArray[np.uint8]:
    copy = np.empty((len(data) + 7) // 8, np.uint64).view(np.uint8)[:len(data)]
    copy[:] = np.frombuffer(data, np.uint8)
    return copy


def verdict(data: bytes) -> int:
    """Returns the result of stixel_parse(): 0, or a negative errno. Raises LibraryError."""
    parse = library().parse
    frame = CFrame()
    # CPython's bytes are aligned, and an address costs less than an array
    address = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0
    if address % 8:
        copy = _copy(data)
        return int(parse(ctypes.byref(frame), copy.ctypes.data, len(data)))
    return int(parse(ctypes.byref(frame), address, len(data)))


def check(data: bytes, what: str) -> None:
    """Checks a frame. Raises Damaged or OtherVersion, with a sentence that begins with `what`. Raises LibraryError."""
    code = verdict(data)
    if code == -errno.EPROTONOSUPPORT:
        raise error_of(code, "%s: a frame of another major version of the layout" % what)
    if code < 0:
        raise error_of(-errno.EBADMSG, "%s: a damaged frame, or none at all (sizes, order or checksum)" % what)


def sealed(data: bytearray) -> bytes:
    """Returns the frame with the right checksum. Its images may be missing, but sizes and offsets must be right."""
    copy = _copy(data)
    code = library().seal(copy.ctypes.data, len(data))
    if code < 0:
        raise error_of(code, "a frame whose sizes contradict each other")
    return copy.tobytes()
