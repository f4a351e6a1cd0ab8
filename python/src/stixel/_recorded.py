"""What lies in a recording beside frames.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import enum
from typing import Any, NamedTuple, Union

from ._frame import Frame


class GapReason(enum.IntEnum):
    """Why frames are missing."""

    UNKNOWN = -1
    OVERRUN = 0
    DAMAGED = 1

    @classmethod
    def _missing_(cls, value: object) -> Any:
        return cls.UNKNOWN


GAP_REASONS = (GapReason.UNKNOWN, GapReason.OVERRUN, GapReason.DAMAGED)  # index: enum stixel_gap_reason


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
