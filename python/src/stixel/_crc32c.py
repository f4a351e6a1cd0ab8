"""CRC-32C (Castagnoli), for machines without libstixel and for what the library does not sum up.

Bytes depend on those before, so the data is cut into lanes of equal length that NumPy takes through the table together,
and the sums of neighbours are joined: the sum is linear, and what n more bytes do to it is a matrix of 32 bits.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, List

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint32]

_POLYNOMIAL = 0x82F63B78
_LANE_BYTES = 128
_LANES_MAX = 4096
_BITS = np.arange(32, dtype=np.uint32)


def _entry(n: int) -> int:
    for _ in range(8):
        n = n >> 1 ^ (_POLYNOMIAL if n & 1 else 0)
    return n


_LIST: List[int] = [_entry(n) for n in range(256)]
_TABLE: Words = np.array(_LIST, np.uint32)


def _apply(matrix: Words, sums: Words) -> Words:
    product: Words = np.bitwise_xor.reduce(np.where(sums[:, None] >> _BITS & 1, matrix, np.uint32(0)), axis=1)
    return product


@functools.lru_cache(maxsize=256)
def _zeros(count: int) -> Any:
    """The matrix of so many zero bytes, count >= 1: column n is what becomes of bit n."""
    if count == 1:
        bits = np.uint32(1) << _BITS
        return _TABLE[bits & 255] ^ bits >> np.uint32(8)
    half = _zeros(count // 2)
    whole = _apply(half, half)
    return _apply(_zeros(1), whole) if count % 2 else whole


@functools.lru_cache(maxsize=1)
def _tables() -> Any:
    """What four more bytes do to the lower and to the upper half of a sum."""
    half = np.arange(65536, dtype=np.uint32)
    return _apply(_zeros(4), half), _apply(_zeros(4), half << np.uint32(16))


def _register(data: bytes, state: int) -> int:
    table = _LIST
    for byte in data:
        state = state >> 8 ^ table[(state ^ byte) & 255]
    return state


def crc32c(data: bytes, crc: int = 0) -> int:
    """The sum of data, continued from crc."""
    state = crc ^ 0xFFFFFFFF
    lanes = min(_LANES_MAX, 1 << max(0, (len(data) // _LANE_BYTES).bit_length() - 1))
    if lanes < 16:  # not worth it
        return _register(data, state) ^ 0xFFFFFFFF
    words = len(data) // lanes // 4
    length = words * 4
    rows = np.ascontiguousarray(np.frombuffer(data, "<u4", lanes * words).reshape(lanes, words).T)
    sums = np.zeros(lanes, np.uint32)
    low, high = _tables()
    for row in rows:
        sums ^= row
        sums = low[sums & np.uint32(0xFFFF)] ^ high[sums >> np.uint32(16)]
    while len(sums) > 1:
        sums = _apply(_zeros(length), sums[::2]) ^ sums[1::2]
        length *= 2
    state = int((_apply(_zeros(length), np.array([state], np.uint32)) ^ sums)[0])
    return _register(data[length:], state) ^ 0xFFFFFFFF
