# Functions shared by the tests of the programs: they make and read images with the standard library alone.
# SPDX-License-Identifier: Apache-2.0
import os
import random
import shutil
import struct
import subprocess
import tempfile
import time
import unittest
import zlib

BUILD = os.environ["STIXEL_BUILD"]
SOURCE = os.environ["STIXEL_SOURCE"]
# Set by hand on an idle machine (CONTRIBUTING.md). Tests then judge wall times, too.
IDLE = bool(os.environ.get("STIXEL_IDLE"))

#: heights of the legend below pictures of up to 400 px and of 401 to 1119 px, px
LEGEND, WIDE_LEGEND = 46, 30


def program(name):
    return os.path.join(BUILD, "daemon" if name == "stixeld" else "tools", name)


def run(name, *args, timeout=120, **more):
    return subprocess.run([program(name), *map(str, args)], capture_output=True, text=True, timeout=timeout, **more)


def until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("not within %d s: %s" % (seconds, what))
        time.sleep(0.02)


class Folder(unittest.TestCase):
    """A test with its own folder. self.path(name) is a path in it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def listing(self, *parts):
        return sorted(os.listdir(self.path(*parts)))


def texture(width, height, seed):
    """Returns grey noise with a structure of 2 px, which matches well at every disparity."""
    lot = random.Random(seed)
    coarse = [[lot.randrange(256) for _ in range(width // 2 + 1)] for _ in range(height // 2 + 1)]
    return [[(coarse[y // 2][x // 2] * 3 + lot.randrange(256)) // 4 for x in range(width)] for y in range(height)]


def shifted_pair(width, height, disparity, seed=1):
    """Returns the left and right image of a plane at this disparity: left(x) = right(x - disparity)."""
    whole = texture(width + disparity, height, seed)
    return [row[:width] for row in whole], [row[disparity:] for row in whole]


def write_pgm(path, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(b"P5\n%d %d\n255\n" % (len(rows[0]), len(rows)))
        for row in rows:
            f.write(bytes(row))


def write_png(path, rows, bits=8):
    """Writes a grey PNG without filters."""
    pack = (lambda r: bytes(r)) if bits == 8 else (lambda r: struct.pack(">%dH" % len(r), *r))
    raw = b"".join(b"\0" + pack(r) for r in rows)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR",
                                             struct.pack(">IIBBBBB", len(rows[0]), len(rows), bits, 0, 0, 0, 0)))
        f.write(chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


def unfilter(kind, line, above, step):
    out = bytearray(line)
    for i in range(len(out)):
        a = out[i - step] if i >= step else 0
        b = above[i]
        c = above[i - step] if i >= step else 0
        if kind == 1:
            out[i] = (out[i] + a) & 255
        elif kind == 2:
            out[i] = (out[i] + b) & 255
        elif kind == 3:
            out[i] = (out[i] + (a + b) // 2) & 255
        elif kind == 4:
            p = a + b - c
            nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            out[i] = (out[i] + nearest) & 255
    return out


class Png:
    """A PNG image: width, height, bits, channels, and rows of numbers or of (r, g, b)."""

    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        assert data[:8] == b"\x89PNG\r\n\x1a\n", path
        at, packed, ended = 8, b"", False
        while at < len(data):
            length, kind = struct.unpack(">I4s", data[at : at + 8])
            body = data[at + 8 : at + 8 + length]
            assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
            if kind == b"IHDR":
                self.width, self.height, self.bits, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
                assert interlaced == 0
                self.channels = {0: 1, 2: 3}[colour]
            packed += body if kind == b"IDAT" else b""
            ended = kind == b"IEND"
            at += 12 + length
        assert ended, path
        self.rows = self._rows(zlib.decompress(packed))

    def _rows(self, raw):
        step = self.channels * self.bits // 8
        length = self.width * step
        assert len(raw) == (length + 1) * self.height
        above, rows = bytearray(length), []
        for y in range(self.height):
            line = raw[y * (length + 1) : (y + 1) * (length + 1)]
            above = unfilter(line[0], line[1:], above, step)
            if self.channels == 3:
                rows.append([tuple(above[i : i + 3]) for i in range(0, length, 3)])
            elif self.bits == 16:
                rows.append(list(struct.unpack(">%dH" % self.width, above)))
            else:
                rows.append(list(above))
        return rows
