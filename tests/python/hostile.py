"""Recordings of any size that are made to keep a reader busy. For each kind a reader did, or would, take time
proportional to the square of the size.

SPDX-License-Identifier: Apache-2.0
"""
import struct
import zlib

import numpy as np

import support  # import support before stixel, because it sets the path of stixel
import stixel
from stixel._layout import offset_of

MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, CHANNEL, MESSAGE, CHUNK, CHUNK_INDEX, DATA_END = 1, 2, 4, 5, 6, 8, 15
HEAD = struct.Struct("<BQ")  # record head: kind of the record, bytes of its content
FOOTER_OF = struct.Struct("<QQI")
MESSAGE_OF = struct.Struct("<HIQQ")
UNKNOWN, CHUNK_HEAD = 0x80, 49  # an unknown kind of record; bytes before the records of an uncompressed chunk
ZERO_BLOCK = 128 << 10
BOMB = 300 << 20


def record(op, content):
    return HEAD.pack(op, len(content)) + content


def text(data):
    return struct.pack("<I", len(data)) + data


def chunk_head(plain, stored, crc=0, compression=b""):
    content = struct.pack("<QQQI", 0, 0, plain, crc) + text(compression) + struct.pack("<Q", stored)
    return HEAD.pack(CHUNK, len(content) + stored) + content


def chunk(records, crc=None):
    return chunk_head(len(records), len(records), zlib.crc32(records) if crc is None else crc) + records


def channel(number, topic, encoding):
    return record(CHANNEL, struct.pack("<HH", number, 0) + text(b"/front/" + topic) + text(encoding)
                  + text(text(b"stixel") + text(topic)))


def message(number, data):
    return record(MESSAGE, MESSAGE_OF.pack(number, 0, 1, 1) + data)


CHANNELS = channel(1, b"stixel", b"stixel") + channel(2, b"left", b"protobuf")


def zstd(*parts):
    """Returns one zstd frame. Parts are bytes, or a number of zeros, in blocks of 128 KiB."""
    blocks = []
    for part in parts:
        if isinstance(part, bytes):
            pieces = [part[i:i + ZERO_BLOCK] for i in range(0, len(part), ZERO_BLOCK)]
            blocks += [(piece, len(piece), 0) for piece in pieces]
        else:
            blocks += [(b"\0", min(ZERO_BLOCK, part - i), 1) for i in range(0, part, ZERO_BLOCK)]
    total = sum(size for _, size, _ in blocks)
    out = [struct.pack("<IBQ", 0xFD2FB528, 0xE0, total)]
    for i, (data, size, kind) in enumerate(blocks):
        out.append(struct.pack("<I", size << 3 | kind << 1 | (i == len(blocks) - 1))[:3] + data)
    return b"".join(out)


def begin():
    return MAGIC + record(HEADER, text(b"") + text(b"somebody"))


def end(places, channels=CHANNELS):
    """Returns a function that makes a summary with these chunk positions."""
    index = channels + b"".join(record(CHUNK_INDEX, struct.pack("<QQQQ", 0, 0, at, 57) + bytes(28))
                                for at in places)
    footer = HEAD.pack(FOOTER, 20)
    return lambda at: index + footer + FOOTER_OF.pack(at, 0, 0) + MAGIC


def nested(size, filler=b"", tail=b"", **head):
    """Returns nested chunk heads. Each chunk contains the rest of the file."""
    one = CHUNK_HEAD + len(filler)
    count = size // one
    out = [begin()]
    for i in range(count):
        rest = one * (count - i) - CHUNK_HEAD + len(tail)
        out.append(chunk_head(rest, rest, **head) + filler)
    return b"".join(out) + tail


def wrong_sums(size):
    return nested(size, crc=1)


def contradictions(size):
    """Each chunk is whole except for its last record. A reader walks through all earlier records, and the next chunk
    contains the same records."""
    one = HEAD.size + CHUNK_HEAD
    count = size // one
    out = [begin()]
    for i in range(count):
        rest = one * (count - i) - one + 4
        out.append(HEAD.pack(UNKNOWN, CHUNK_HEAD) + chunk_head(rest, rest))
    rest = one * count + 4
    out.insert(1, chunk_head(rest, rest))
    return b"".join(out) + b"\x80\xff\xff\xff"


def lengths(size, op=UNKNOWN):
    """Each chunk is empty and whole. The record after it has an impossible length."""
    one = CHUNK_HEAD + HEAD.size + 8
    count = size // one
    out = [begin()]
    for i in range(count):
        out.append(chunk(b"") + HEAD.pack(op, one * (count - i - 1) + 8) + bytes(8))
    return b"".join(out) + b"\x80"


def long_messages(size):
    return lengths(size, MESSAGE)


def cut(size):
    """Each chunk is longer than the rest of the file."""
    return begin() + chunk_head(1 << 28, 1 << 28) * (size // CHUNK_HEAD)


def shared_bomb(size):
    """The heads share one compressed frame. Each skips the heads after it and ends at the same large frame with the
    wrong content."""
    bomb = zstd(BOMB)
    one = CHUNK_HEAD + len(b"zstd") + 8
    count = max(1, (size - len(bomb)) // one)
    out = [begin()]
    for i in range(count):
        rest = one * (count - i - 1) + 8 + len(bomb)
        out.append(chunk_head(BOMB, rest, 1, b"zstd") + struct.pack("<II", 0x184D2A50, one - 8 if i < count - 1 else 0))
    return b"".join(out) + bomb


def bombs(size):
    """Whole chunks one after the other, each with only a record of an unknown kind."""
    one = zstd(HEAD.pack(UNKNOWN, BOMB - HEAD.size), BOMB - HEAD.size)
    return begin() + (chunk_head(BOMB, len(one), 0, b"zstd") + one) * (size // len(one))


def black_frames(size):
    """Whole frames with images so black that a few bytes expand to a full chunk."""
    width, height = 8192, 4096
    frame = support.pack([[]], [(stixel.Plane.LEFT, np.zeros((height, width), np.uint8))])
    bare = frame[:len(frame) - width * height]
    image = (b"\x15" + struct.pack("<I", width) + b"\x1d" + struct.pack("<I", height) + b"\x2d"
             + struct.pack("<I", width) + b"\x32" + b"\x80\x80\x80\x10")
    head = (HEAD.pack(MESSAGE, MESSAGE_OF.size + len(image) + width * height)
            + MESSAGE_OF.pack(2, 0, 1, 1) + image)
    parts = [CHANNELS] + [message(1, bare) + head, width * height] * 8
    plain = sum(p if isinstance(p, int) else len(p) for p in parts)
    one = zstd(*parts)
    one = chunk_head(plain, len(one), 0, b"zstd") + one
    return begin() + one * max(1, size // len(one))


def images_to_come(size):
    """Small frames. Each announces an image of 128 MiB that never comes."""
    width, height = 16384, 8192
    bare = claiming(width, height)
    return begin() + chunk(CHANNELS + message(1, bare) * (size // len(bare)))


def claiming(width, height):
    """Returns the message of a frame that announces an image of this size."""
    frame = bytearray(support.pack([[]], [(stixel.Plane.LEFT, np.zeros((8, 8), np.uint8))])[:-64])
    for name, value in (("plane_width", width), ("plane_height", height), ("plane_pitch", width),
                        ("plane_bytes", width * height), ("frame_bytes", len(frame) + width * height)):
        at = offset_of(name)
        frame[at:at + 4] = struct.pack("<I", value)
    return support.seal(bytes(frame))


def frames_of(count):
    """Returns frames that each belong to a new life."""
    frames = [support.pack([[]], epoch=i + 1, published_ns=i) for i in range(count)]
    return begin() + chunk(CHANNELS + b"".join(message(1, f) for f in frames))


def lives(size):
    """Each frame belongs to a new life, so that --start looks into the index. Every index entry leads to the same large
    chunk."""
    first = frames_of(size // 1600)
    large = chunk(record(UNKNOWN, bytes(size // 2)))
    return finish(first + large, [len(first)] * 1000)


def finish(data, places):
    return data + end(places)(len(data))


def everywhere(size):
    """An index with entries all over the file, including the index itself."""
    data = nested(size // 4, crc=1)
    return finish(data, range(0, size * 3 // 4, 80))


def beside_grids(count):
    """Recording of a correct writer: each frame with its image in a separate chunk, next to a map of 64 MB with one
    value."""
    grid, noise = 64 << 20, np.random.default_rng(1)
    channels = CHANNELS + channel(3, b"grid", b"cdr").replace(b"stixel", b"others")
    frames = [support.pack([[]], [(stixel.Plane.LEFT, noise.integers(0, 256, (256, 288), np.uint8))], published_ns=i)
              for i in range(count)]
    out = [begin()]
    for frame in frames:
        head = HEAD.pack(MESSAGE, MESSAGE_OF.size + grid) + MESSAGE_OF.pack(3, 0, 1, 1)
        plain = channels + message(1, frame) + head
        stored = zstd(plain, grid)
        out.append(chunk_head(len(plain) + grid, len(stored), 0, b"zstd") + stored)
    data = b"".join(out) + record(DATA_END, bytes(4))
    return data + record(FOOTER, bytes(20)) + MAGIC


def summary_of(size):
    """Returns one frame and a summary of `size` bytes, most of which are a hole in the file: the data before the hole,
    the length of the hole, and the data after it."""
    data = frames_of(1) + record(DATA_END, bytes(4))
    tail = HEAD.pack(FOOTER, 20) + FOOTER_OF.pack(len(data), 0, 0) + MAGIC
    index = record(CHUNK_INDEX, struct.pack("<QQQQ", 0, 0, len(begin()), 57) + bytes(28))
    hole = size - len(CHANNELS + index) - HEAD.size
    return data + CHANNELS + index + HEAD.pack(UNKNOWN, hole), hole, tail


BOMBS = [shared_bomb, bombs]
KINDS = [*BOMBS, wrong_sums, contradictions, lengths, long_messages, cut, images_to_come, lives, everywhere]
