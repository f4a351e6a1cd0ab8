"""How far the clock of another machine is from this one's: CLOCK_MONOTONIC, by questions and answers.

An answer was given at some moment between question and receipt, so the middle is right to half the time in between
(Cristian). Of the last samples counts the one whose bound is the smallest now: half its time, and what the clocks may
have drifted since.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import collections
import threading
from typing import Deque, NamedTuple, Optional

_SAMPLES = 16
_DRIFT = 1.1e-3  # how much faster one clock may be: NTP slews each by up to 500 ppm; two crystals of 50 ppm


class _Sample(NamedTuple):
    offset_ns: int  # theirs less ours
    half_ns: int  # of the time between question and receipt
    at_ns: int  # ours

    def bound_ns(self, now_ns: int) -> int:
        return self.half_ns + int(abs(now_ns - self.at_ns) * _DRIFT) + 1


def _agree(a: _Sample, b: _Sample, now_ns: int) -> bool:
    return abs(a.offset_ns - b.offset_ns) <= a.bound_ns(now_ns) + b.bound_ns(now_ns)


class Offset(NamedTuple):
    """An estimate: their clock is ours + offset_ns, give or take uncertainty_ns."""

    offset_ns: int
    uncertainty_ns: int


class Offsets:
    """The samples of one other machine. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._samples: Deque[_Sample] = collections.deque(maxlen=_SAMPLES)
        self._life = 0

    @property
    def life(self) -> int:
        """To be handed to add(): a sample that was asked for before reset() does not count after it."""
        return self._life

    def reset(self) -> None:
        """Nothing is known any more: the other machine may have been started anew."""
        with self._lock:
            self._life += 1
            self._samples.clear()

    def add(self, life: int, asked_ns: int, theirs_ns: int, answered_ns: int) -> None:
        """A sample: their clock, read between two readings of ours."""
        middle = (asked_ns + answered_ns) // 2
        new = _Sample(theirs_ns - middle, (answered_ns - asked_ns + 1) // 2, middle)
        with self._lock:
            if life != self._life or answered_ns < asked_ns:
                return
            best = self._best(answered_ns)
            if best is not None and not _agree(best, new, answered_ns):
                self._samples.clear()  # one of them has jumped
            self._samples.append(new)

    def _best(self, now_ns: int) -> Optional[_Sample]:
        return min(self._samples, key=lambda sample: sample.bound_ns(now_ns)) if self._samples else None

    def at(self, now_ns: int) -> Optional[Offset]:
        """The estimate at a time of this machine; None: not known."""
        with self._lock:
            best = self._best(now_ns)
        return None if best is None else Offset(best.offset_ns, best.bound_ns(now_ns))
