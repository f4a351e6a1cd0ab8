"""Protobuf, as much as messages of a frame need: single fields, thousands of small messages at once, descriptions.

Single fields are bytes that are put together with +. Fields of many messages are arrays: Rows where what is 0 is left
out, as protobuf does; a Block where all have the same length, and zeros are written.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, List, Mapping, NamedTuple, Sequence, Tuple, Union

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5  # wire types
_DOUBLE = struct.Struct("<d")


def varint(n: int) -> bytes:
    """A number; negative ones as int64 has them."""
    n &= 0xffffffffffffffff
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def key(field: int, wire: int) -> bytes:
    """What stands before a field's value."""
    return varint(field << 3 | wire)


def number(field: int, n: int) -> bytes:
    """int64, uint64, uint32, enum; int32 too, which is sent as int64."""
    return key(field, VARINT) + varint(n) if n else b""


def double(field: int, value: float) -> bytes:
    """A double."""
    return key(field, FIXED64) + _DOUBLE.pack(value) if value else b""


def doubles(field: int, values: Sequence[float]) -> bytes:
    """A repeated double."""
    return chunk(field, struct.pack("<%dd" % len(values), *values))


def fixed32(field: int, n: int) -> bytes:
    """A fixed32."""
    return key(field, FIXED32) + n.to_bytes(4, "little") if n else b""


def fixed64(field: int, n: int) -> bytes:
    """A fixed64."""
    return key(field, FIXED64) + n.to_bytes(8, "little") if n else b""


def head(field: int, count: int) -> bytes:
    """What stands before count bytes of a message, a text or bytes."""
    return key(field, LENGTH) + varint(count)


def chunk(field: int, content: bytes) -> bytes:
    """A message, bytes, or what is repeated and packed; also an empty one."""
    return head(field, len(content)) + content


def text(field: int, content: str) -> bytes:
    """A string."""
    return chunk(field, content.encode("utf-8")) if content else b""


class Rows:
    """Messages of one kind, a field of all after the other, in the order of their numbers."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._bytes: List[NDArray[np.uint8]] = []
        self._there: List[NDArray[np.bool_]] = []

    def _add(self, data: NDArray[np.uint8], there: NDArray[np.bool_]) -> None:
        self._bytes.append(data)
        self._there.append(there)

    def _key(self, field: int, wire: int, there: NDArray[np.bool_]) -> None:
        word = np.frombuffer(key(field, wire), np.uint8)
        self._add(np.broadcast_to(word, (self._count, len(word))),
                  np.broadcast_to(there[:, None], (self._count, len(word))))

    def _varint(self, values: NDArray[Any], there: NDArray[np.bool_]) -> None:
        """Of less than 2^21."""
        v = values.astype(np.uint32)
        size = 1 if not len(v) else max(1, -(-int(v.max()).bit_length() // 7))
        data = np.empty((self._count, size), np.uint8)
        present = np.empty((self._count, size), np.bool_)
        present[:, 0] = there
        for i in range(size):
            rest = v >> np.uint32(7 * (i + 1))
            data[:, i] = v >> np.uint32(7 * i) & np.uint32(127)
            data[:, i] |= (rest > 0).astype(np.uint8) << np.uint8(7)
            if i + 1 < size:
                present[:, i + 1] = rest > 0
        self._add(data, present)

    def number(self, field: int, values: NDArray[Any]) -> None:
        """Whole numbers from 0 to less than 2^21."""
        there = values != 0
        self._key(field, VARINT, there)
        self._varint(values, there)

    def float32(self, field: int, values: NDArray[Any]) -> None:
        """Floats."""
        v = np.ascontiguousarray(values, "<f4")
        there = v != 0
        self._key(field, FIXED32, there)
        self._add(v.view(np.uint8).reshape(self._count, 4), np.broadcast_to(there[:, None], (self._count, 4)))

    def pack(self, field: int) -> bytes:
        """All of them as a repeated field of the message around."""
        there = np.concatenate(self._there, 1)
        data = np.concatenate(self._bytes, 1)
        whole = Rows(self._count)
        every = np.ones(self._count, np.bool_)
        whole._key(field, LENGTH, every)
        whole._varint(np.count_nonzero(there, 1), every)
        data = np.concatenate([*whole._bytes, data], 1)
        return bytes(data[np.concatenate([*whole._there, there], 1)])


Part = Union[bytes, str]
Layout = List[Part]  # bytes as they stand, and names of doubles


def value(field: int, name: str) -> Layout:
    """A double that every message has."""
    return [key(field, FIXED64), name]


def same(field: int, constant: float) -> Layout:
    """A double that is the same in all of them."""
    return [key(field, FIXED64) + _DOUBLE.pack(constant)]


def inner(field: int, *parts: Layout) -> Layout:
    """A message of these."""
    layout = [part for some in parts for part in some]
    return [head(field, sum(8 if isinstance(part, str) else len(part) for part in layout)), *layout]


class Block:
    """A message that differs from the next in doubles alone."""

    def __init__(self, layout: Layout) -> None:
        fields: List[Tuple[str, str]] = []
        fixed: List[Tuple[str, bytes]] = []
        for part in layout:
            if isinstance(part, str):
                fields.append((part, "<f8"))
            else:
                fixed.append(("_%d" % len(fields), part))
                fields.append((fixed[-1][0], "V%d" % len(part)))
        self._one = np.zeros(1, np.dtype(fields))
        for name, part in fixed:
            self._one[name] = np.void(part)

    def pack(self, count: int, columns: Mapping[str, Any]) -> bytes:
        """So many of them, one behind the other."""
        rows = np.repeat(self._one, count)
        for name, values in columns.items():
            rows[name] = values
        return rows.tobytes()


# ---- descriptions: field numbers of descriptor.proto ----

TYPES = {"double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "fixed64": 6, "fixed32": 7, "bool": 8,
         "string": 9, "bytes": 12, "uint32": 13}
_MESSAGE, _ENUM = 11, 14


class Field(NamedTuple):
    """Of a message, as its .proto has it; type: one of TYPES, or the name of another message or enum of the file."""

    number: int
    type: str
    name: str
    repeated: bool = False


def _field(package: str, enums: Sequence[str], field: Field) -> bytes:
    other = field.type not in TYPES
    kind = (_ENUM if field.type in enums else _MESSAGE) if other else TYPES[field.type]
    return (text(1, field.name) + number(3, field.number) + number(4, 3 if field.repeated else 1) + number(5, kind)
            + text(6, ".%s.%s" % (package, field.type) if other else ""))


def describe(path: str, package: str, messages: Mapping[str, Sequence[Field]],
             enums: Mapping[str, Sequence[str]]) -> bytes:
    """A FileDescriptorSet of one proto3 file; values of enums count from 0."""
    file = text(1, path) + text(2, package)
    for name, fields in messages.items():
        file += chunk(4, text(1, name) + b"".join(chunk(2, _field(package, list(enums), field)) for field in fields))
    for name, words in enums.items():
        file += chunk(5, text(1, name) + b"".join(chunk(2, text(1, word) + key(2, VARINT) + varint(i))
                                                  for i, word in enumerate(words)))
    return chunk(1, file + text(12, "proto3"))
