# Reads recordings independently, for tests that compare: by the specification of MCAP, with the standard library alone
# (and zstandard for compressed ones). Checks every checksum of a chunk.
# SPDX-License-Identifier: Apache-2.0
import struct
import zlib

MAGIC = b"\x89MCAP0\r\n"
FOOTER, CHANNEL, MESSAGE, CHUNK, CHUNK_INDEX, METADATA = 2, 4, 5, 6, 8, 12
STIXEL = struct.Struct("<5HhBBBB")  # column, row_top, row_bottom, support, disparity_q7, slope_q14, kind, label, ...


def parts(data):
    """Yields (op, content) of the records in data. Stops before an incomplete record."""
    at = 0
    while at + 9 <= len(data):
        op, size = struct.unpack_from("<BQ", data, at)
        if at + 9 + size > len(data):
            return
        yield op, data[at + 9:at + 9 + size]
        at += 9 + size


def text(data, at):
    size, = struct.unpack_from("<I", data, at)
    return data[at + 4:at + 4 + size], at + 4 + size


def chunk(content):
    """Returns the decoded records of a chunk."""
    plain, crc = struct.unpack_from("<QI", content, 16)
    compression, at = text(content, 28)
    records = content[at + 8:]
    assert len(records) == struct.unpack_from("<Q", content, at)[0]
    if compression == b"zstd":
        import zstandard
        records = zstandard.ZstdDecompressor().decompress(records, plain)
    else:
        assert compression == b""
    assert zlib.crc32(records) == crc
    return records


def messages(path):
    """Yields (topic, time, data) of the messages in all chunks. Stops at the end of the file or at an incomplete
    record."""
    topics = {}
    with open(path, "rb") as f:
        data = f.read()
    assert data[:8] == MAGIC
    for op, content in parts(data[8:]):
        for inner, record in parts(chunk(content)) if op == CHUNK else ():
            channel, = struct.unpack_from("<H", record, 0)
            if inner == CHANNEL:
                topics[channel] = text(record, 4)[0].decode()
            elif inner == MESSAGE:
                yield topics[channel], struct.unpack_from("<Q", record, 6)[0], record[22:]


def sorted_by_topic(path, to, backwards):
    """Writes the messages again, without chunks, sorted by topic."""
    def record(op, content):
        return struct.pack("<BQ", op, len(content)) + content
    channels, found = {}, []
    with open(path, "rb") as f:
        data = f.read()
    for op, content in parts(data[8:]):
        for inner, part in parts(chunk(content)) if op == CHUNK else ():
            if inner == CHANNEL:
                channels[part[:2]] = part
            elif inner == MESSAGE:
                found.append(part)
    found.sort(key=lambda part: text(channels[part[:2]], 4)[0], reverse=backwards)  # the sort is stable
    with open(to, "wb") as f:
        f.write(MAGIC + record(1, bytes(8)) + b"".join(record(CHANNEL, c) for c in channels.values()))
        f.write(b"".join(record(MESSAGE, part) for part in found))
        f.write(record(15, bytes(4)) + record(FOOTER, bytes(20)) + MAGIC)


def metadata(path):
    """Returns (name, {key: value}) of the metadata records."""
    found = []
    with open(path, "rb") as f:
        data = f.read()
    for op, content in parts(data[8:]):
        if op == METADATA:
            name, at = text(content, 0)
            at += 4
            pairs = {}
            while at < len(content):
                key, at = text(content, at)
                value, at = text(content, at)
                pairs[key.decode()] = value.decode()
            found.append((name.decode(), pairs))
    return found


def pixels(data):
    """Returns the data of a RawImage, which is its field 6."""
    at = 0
    while True:
        key = data[at]
        at += 1
        if key & 7 == 5:
            at += 4
            continue
        size = shift = 0
        while True:
            size |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if not data[at - 1] & 128:
                break
        if key >> 3 == 6:
            return data[at:at + size]
        at += size


def frames(path):
    """Returns the bytes of every frame, with its images in their places."""
    found = []
    for topic, _, data in messages(path):
        name = topic.split("/", 2)[2]
        if name == "stixel":
            found.append(data)
        elif name in ("left", "right", "disparity"):
            found[-1] += pixels(data)
    for f in found:
        assert len(f) == struct.unpack_from("<I", f, 16)[0]
    return found


def stixels(frame):
    """Returns the stixels of a frame as tuples."""
    offset, count = struct.unpack_from("<I", frame, 20)[0], struct.unpack_from("<I", frame, 120)[0]
    return list(STIXEL.iter_unpack(frame[offset:offset + count * STIXEL.size]))


def images(frame):
    """Returns {kind: (width, height, pitch, bytes)}. Kind 1: disparity, uint16 in 1/16 px. Kind 2: left image,
    uint8."""
    found = {}
    for at in (256, 664):
        kind, width, height, pitch, offset, count = struct.unpack_from("<6I", frame, at)
        if kind:
            found[kind] = width, height, pitch, frame[offset:offset + count]
    return found
