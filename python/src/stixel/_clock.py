"""Estimates the offset between CLOCK_MONOTONIC of another machine and of this one, by questions and answers.

The other machine reads its clock at some moment between question and receipt. So the middle is right to half of the
time in between (Cristian). Of the last samples, the one with the smallest bound now is used. The bound is half of its
time plus the drift of the clocks since then.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import collections
import threading
from typing import Deque, NamedTuple, Optional

_SAMPLES = 16
# largest rate difference of two clocks: NTP slews each by up to 500 ppm, and each crystal may be off by 50 ppm
_DRIFT = 1.1e-3


class _Sample(NamedTuple):
    offset_ns: int  # clock of the other machine minus ours
    half_ns: int  # half of the time between question and receipt
    at_ns: int  # middle between question and receipt, on our clock

    def bound_ns(self, now_ns: int) -> int:
        return self.half_ns + int(abs(now_ns - self.at_ns) * _DRIFT) + 1


def _agree(a: _Sample, b: _Sample, now_ns: int) -> bool:
    return abs(a.offset_ns - b.offset_ns) <= a.bound_ns(now_ns) + b.bound_ns(now_ns)


class Offset(NamedTuple):
    """An estimate: the clock of the other machine is ours + offset_ns, plus or minus uncertainty_ns."""

    offset_ns: int
    uncertainty_ns: int


class Offsets:
    """The clock samples of one other machine. Any thread may call the methods."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._samples: Deque[_Sample] = collections.deque(maxlen=_SAMPLES)
        self._life = 0

    @property
    def life(self) -> int:
        """Number to pass to add(). A sample that was asked for before reset() does not count after it."""
        return self._life

    def reset(self) -> None:
        """Forgets all samples, because the other machine may have been restarted."""
        with self._lock:
            self._life += 1
            self._samples.clear()

    def add(self, life: int, asked_ns: int, theirs_ns: int, answered_ns: int) -> None:
        """Adds a sample: the other machine's clock, read between two readings of ours."""
        middle = (asked_ns + answered_ns) // 2
        new = _Sample(theirs_ns - middle, (answered_ns - asked_ns + 1) // 2, middle)
        with self._lock:
            if life != self._life or answered_ns < asked_ns:
                return
            best = self._best(answered_ns)
            if best is not None and not _agree(best, new, answered_ns):
                self._samples.clear()  # one of the clocks has jumped
            self._samples.append(new)

    def _best(self, now_ns: int) -> Optional[_Sample]:
        return min(self._samples, key=lambda sample: sample.bound_ns(now_ns)) if self._samples else None

    def at(self, now_ns: int) -> Optional[Offset]:
        """Returns the estimate at a time of this machine; None: not known."""
        with self._lock:
            best = self._best(now_ns)
        return None if best is None else Offset(best.offset_ns, best.bound_ns(now_ns))
