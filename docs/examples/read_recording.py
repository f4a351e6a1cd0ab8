#!/usr/bin/env python3
"""Reads a recording of stixelctl: python3 read_recording.py FILE. Standard library alone; docs/recording.md explains.

SPDX-License-Identifier: Apache-2.0
"""
import struct
import sys

FRAME, PUBLISHER, GAP = 1, 2, 3
HEAD = struct.Struct("<IHHIIqII")  # magic, kind, encoding, bytes, plain_bytes, time_ns, content_crc, head_crc
STIXEL = struct.Struct("<5HhBBBB")  # column, row_top, row_bottom, support, disparity_q7, slope_q14, kind, label, ...


def records(path):
    """(kind, time_ns, content) of every record; ends before one that is not whole."""
    with open(path, "rb") as f:
        magic, major, _, header_bytes = struct.unpack("<8sHHI", f.read(16))
        if magic != b"STIXREC\n" or major != 1:
            raise ValueError(path + " is no recording of version 1")
        f.seek(header_bytes)
        while len(head := f.read(HEAD.size)) == HEAD.size:
            magic, kind, encoding, count, plain_count, time_ns, _, _ = HEAD.unpack(head)
            content = f.read(count + -count % 8)
            if magic != 0x52585453 or len(content) < count:
                return
            content = content[:count]
            if encoding == 1:
                import zstandard  # python3-zstandard, for recordings that were made with --compress
                content = zstandard.ZstdDecompressor().decompress(content, plain_count)
            yield kind, time_ns, content


def stixels(frame):
    """The stixels of a frame, as tuples."""
    offset, count = struct.unpack_from("<I", frame, 20)[0], struct.unpack_from("<I", frame, 120)[0]
    return list(STIXEL.iter_unpack(frame[offset:offset + count * STIXEL.size]))


def images(frame):
    """{kind: (width, height, pitch, bytes)}; kind 1: disparity, uint16 in 1/16 px; 2: left image, uint8."""
    found = {}
    for at in (256, 664):
        kind, width, height, pitch, offset, count = struct.unpack_from("<6I", frame, at)
        if kind:
            found[kind] = width, height, pitch, frame[offset:offset + count]
    return found


if __name__ == "__main__":
    for kind, time_ns, content in records(sys.argv[1]):
        if kind == FRAME:
            number = struct.unpack_from("<Q", content, 32)[0]
            print("frame %d at %d ns: %d stixels, images %s" % (number, time_ns, len(stixels(content)),
                                                             sorted(images(content))))
