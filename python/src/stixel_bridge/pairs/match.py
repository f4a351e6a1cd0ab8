"""Finds the left and the right image that were taken at the same time.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import collections
from typing import Deque, List, Optional, Tuple

LEFT, RIGHT = 0, 1
KEPT = 8  # images of a side that wait for the other one
JUMP_NS = 1_000_000_000  # stamps that go back further belong to a new run of a simulator or a recording

Stamped = Tuple[int, bytes]  # stamp, ns; message


class Matcher:
    """Matches messages by their stamps. Both images of a match are newer than both of the last match."""

    def __init__(self, tolerance_ns: int) -> None:
        self.images = [0, 0]  #: number of messages by side
        self.unmatched = [0, 0]  #: number of these messages without a partner
        self._tolerance_ns = tolerance_ns
        self._waiting: List[Deque[Stamped]] = [collections.deque(), collections.deque()]
        self._last = [-JUMP_NS, -JUMP_NS]  # stamps of the last match

    def add(self, side: int, stamp_ns: int, message: bytes) -> Optional[Tuple[Stamped, Stamped]]:
        """Adds a message of a side. Returns (left, right) if the nearest of the other side is within the tolerance."""
        self.images[side] += 1
        if stamp_ns < self._last[side] - JUMP_NS:
            self.forget()
        if stamp_ns <= self._last[side]:
            self.unmatched[side] += 1
            return None
        new = stamp_ns, message
        partner = min(self._waiting[1 - side], key=lambda other: abs(other[0] - stamp_ns), default=None)
        if partner is None or abs(partner[0] - stamp_ns) > self._tolerance_ns:
            self._wait(side, new)
            return None
        found = (new, partner) if side == LEFT else (partner, new)
        for s, (stamp, _) in enumerate(found):
            self._last[s] = stamp
            self._drop(s, stamp)
        self.unmatched[1 - side] -= 1  # _drop() counted the partner
        return found

    def _wait(self, side: int, new: Stamped) -> None:
        waiting = self._waiting[side]
        waiting.append(new)
        if len(waiting) > KEPT:
            waiting.popleft()
            self.unmatched[side] += 1

    def _drop(self, side: int, stamp_ns: int) -> None:
        """Drops the messages up to a stamp: they are older than the last match."""
        kept = [m for m in self._waiting[side] if m[0] > stamp_ns]
        self.unmatched[side] += len(self._waiting[side]) - len(kept)
        self._waiting[side] = collections.deque(kept)

    def forget(self) -> None:
        """Drops the messages that wait, because the stamps went back or the messages end."""
        for side in (LEFT, RIGHT):
            self._drop(side, 1 << 63)
        self._last = [-JUMP_NS, -JUMP_NS]
