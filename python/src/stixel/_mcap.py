"""MCAP, as much as a recording needs: mcap.dev/spec.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import ctypes
import errno
import struct
import zlib
from typing import Dict, Iterator, NamedTuple, Optional, Tuple, Union

from ._errors import NotSupported

MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX, METADATA, DATA_END = 1, 2, 4, 5, 6, 7, 8, 12, 15
HEAD = struct.Struct("<BQ")  # kind of the record, bytes of its content
FOOTER_OF = struct.Struct("<QQI")
MESSAGE_OF = struct.Struct("<HIQQ")
_CHUNK_OF = struct.Struct("<QQQI")
CHUNK_LEAST = 40  # a chunk's content, before its records, with no name of a compression
CHUNK_MAX = 320 << 20
_ZSTD_SIZE_UNKNOWN = 2**64 - 1


class Malformed(ValueError):
    """Bytes that are not what they should be."""


def text(data: bytes, at: int) -> Tuple[bytes, int]:
    """What stands at at behind its length, and where it ends."""
    if at + 4 > len(data):
        raise Malformed
    end = at + 4 + int(struct.unpack_from("<I", data, at)[0])
    if end > len(data):
        raise Malformed
    return data[at + 4:end], end


def pairs(data: bytes) -> Dict[bytes, bytes]:
    """A map of texts; what is whole of it."""
    found, at = {}, 0
    try:
        while at < len(data):
            key, at = text(data, at)
            found[key], at = text(data, at)
    except Malformed:
        pass
    return found


class Channel(NamedTuple):
    """What a channel record says."""

    id: int
    topic: bytes
    encoding: bytes
    metadata: Dict[bytes, bytes]


def channel(content: bytes) -> Channel:
    """Of a channel's content; Malformed."""
    topic, at = text(content, 4)
    encoding, at = text(content, at)
    return Channel(int.from_bytes(content[:2], "little"), topic, encoding, pairs(text(content, at)[0]))


def _may_expand(size: int, plain_bytes: int) -> bool:
    """A block of zstd is 4 bytes at least, and 128 KiB when it is decoded."""
    return plain_bytes <= CHUNK_MAX and plain_bytes // 32768 <= size


def _zstd(content: bytes, plain_bytes: int) -> bytes:
    if not _may_expand(len(content), plain_bytes):
        raise Malformed
    try:
        lib = ctypes.CDLL("libzstd.so.1")
    except OSError as e:
        raise NotSupported(errno.ENOTSUP, "frames are compressed, and libzstd.so.1 cannot be loaded (%s)" % e) from None
    lib.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    lib.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    # before there is memory for it; who writes front to back does not say
    if lib.ZSTD_getFrameContentSize(content, len(content)) not in (plain_bytes, _ZSTD_SIZE_UNKNOWN):
        raise Malformed
    lib.ZSTD_decompress.restype = ctypes.c_size_t
    lib.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    room = ctypes.create_string_buffer(plain_bytes)
    if lib.ZSTD_decompress(room, plain_bytes, content, len(content)) != plain_bytes:  # an error is larger than any size
        raise Malformed
    return room.raw


class Chunk(NamedTuple):
    """The parts of a chunk."""

    plain_bytes: int
    crc: int
    compression: bytes
    records: bytes
    exact: bool  #: nothing is behind the records


def chunk(content: bytes) -> Chunk:
    """Of a chunk's content; Malformed."""
    if len(content) < CHUNK_LEAST:
        raise Malformed
    _, _, plain, crc = _CHUNK_OF.unpack_from(content)
    compression, at = text(content, _CHUNK_OF.size)
    if at + 8 > len(content):
        raise Malformed
    end = at + 8 + int(struct.unpack_from("<Q", content, at)[0])
    if end > len(content):
        raise Malformed
    return Chunk(plain, crc, compression, content[at + 8:end], end == len(content))


def expands_to(c: Chunk) -> int:
    """Memory that records_of() takes, bytes; 0 for a plain chunk, or one that is refused before."""
    return c.plain_bytes if c.compression == b"zstd" and _may_expand(len(c.records), c.plain_bytes) else 0


def records_of(c: Chunk) -> bytes:
    """The records of a chunk, decoded, their checksum looked at; Malformed, NotSupported."""
    records = c.records
    if c.plain_bytes > CHUNK_MAX:
        raise Malformed
    if c.compression == b"lz4":
        raise NotSupported(errno.ENOTSUP, "chunks are compressed by lz4, which is not supported: zstd and none are")
    if c.compression:
        if c.compression != b"zstd":
            raise Malformed
        records = _zstd(records, c.plain_bytes)
    if len(records) != c.plain_bytes or (c.crc and zlib.crc32(records) != c.crc):
        raise Malformed
    return records


def resembles_chunk(data: bytes) -> bool:
    """Whether these bytes may well be the beginning of a chunk, for those who look for one among others."""
    op, size = HEAD.unpack_from(data)
    name, = struct.unpack_from("<I", data, HEAD.size + _CHUNK_OF.size)
    return bool(op == CHUNK and size >= CHUNK_LEAST and name <= 8
                and struct.unpack_from("<Q", data, HEAD.size + 32 + name)[0] == size - CHUNK_LEAST - name)


def inside(data: bytes) -> Iterator[Tuple[int, bytes]]:
    """(kind, content) of the records in a chunk; Malformed."""
    at = 0
    while at < len(data):
        if at + HEAD.size > len(data):
            raise Malformed
        op, size = HEAD.unpack_from(data, at)
        at += HEAD.size
        if size > len(data) - at:
            raise Malformed
        yield op, data[at:at + size]
        at += size


def _varint(data: bytes, at: int) -> Tuple[int, int]:
    n = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        n |= (data[at] & 127) << shift
        at += 1
        if not data[at - 1] & 128:
            return n & 0xffffffffffffffff, at
    raise Malformed


def fields(data: bytes) -> Dict[int, Union[int, bytes]]:
    """The fields of a protobuf message by their number, the last where there are several; Malformed."""
    found: Dict[int, Union[int, bytes]] = {}
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        size: Optional[int] = {1: 8, 5: 4}.get(key & 7)
        if key & 7 == 0:
            found[key >> 3], at = _varint(data, at)
            continue
        if key & 7 == 2:
            size, at = _varint(data, at)
        if size is None or size > len(data) - at:
            raise Malformed
        part = data[at:at + size]
        found[key >> 3] = part if key & 7 == 2 else int.from_bytes(part, "little")
        at += size
    return found
