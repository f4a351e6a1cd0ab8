"""Records of a recording other than frames.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import enum
from typing import Any, NamedTuple, Optional, Tuple, Union

from ._frame import Frame


class GapReason(enum.IntEnum):
    """Reason why frames are missing."""

    UNKNOWN = -1
    OVERRUN = 0
    DAMAGED = 1

    @classmethod
    def _missing_(cls, value: object) -> Any:
        return cls.UNKNOWN


GAP_REASONS = (GapReason.UNKNOWN, GapReason.OVERRUN, GapReason.DAMAGED)  # index: enum stixel_gap_reason


class Life(NamedTuple):
    """Start of a publisher's run: the frames that follow are of this publisher."""

    epoch: int
    pid: int
    version: str
    classes: Optional[Tuple[str, ...]] = None  #: names of its semantic classes by label; None: not known


class Gap(NamedTuple):
    """Frames are missing here, and the recorder noticed it."""

    epoch: int
    number: int  #: number of the first missing frame; 0: not known
    lost: int  #: number of missing frames
    reason: GapReason


class Damage(NamedTuple):
    """Bytes that are not a whole record."""

    offset: int  #: offset in the file, bytes
    bytes: int
    why: str
    at_end: bool  #: the damage reaches the end of the file: it was cut, or is still being written


class End(NamedTuple):
    """Summary at the end of a finished recording."""

    frames: int
    lost: int  #: sum of all gaps
    publishers: int
    first_ns: int  #: published_ns of the first frame (first_ns) and of the last frame (last_ns)
    last_ns: int


Record = Union[Frame, Life, Gap, Damage]
