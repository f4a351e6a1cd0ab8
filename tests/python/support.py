# Helpers shared by the tests of the Python module: running instances and publishers, and hand-made frames.
# SPDX-License-Identifier: Apache-2.0
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["STIXEL_SOURCE"]
MODULE = os.path.join(SOURCE, "python", "src")
sys.path[:0] = [MODULE, os.path.join(SOURCE, "tests", "daemon")]
try:
    import numpy as np
except ImportError:  # tools/test installs NumPy, so its absence is a failure there
    print("NumPy is not installed (Debian package python3-numpy)")
    sys.exit(1 if os.environ.get("CI") else 77)

import harness  # noqa: E402
import stixel  # noqa: E402

PUBLISHER = os.environ["STIXEL_PUBLISHER"]
STIXELCTL = os.environ["STIXELCTL"]
SMALL = harness.SMALL
SLOW = 3 if harness.SANITIZED else 1
until = harness.until


def examples():
    """Returns the paths of the examples in docs/ that use the module."""
    found = []
    for path in sorted(glob.glob(os.path.join(SOURCE, "docs", "examples", "*.py"))):
        with open(path, encoding="utf-8") as f:
            if "\nimport stixel\n" in f.read():
                found.append(path)
    return found


class Daemon(harness.Instance):
    """A daemon that is found by its name: its ring lies in /dev/shm, its sockets in a separate folder, like those of an
    ordinary user."""

    count = 0

    def __init__(self, label):
        Daemon.count += 1
        super().__init__("test-python-%s-%d-%d" % (label, os.getpid(), Daemon.count))
        self.user = self.run
        self.run = os.path.join(self.user, "stixeld")
        os.mkdir(self.run)
        self.shm = "/dev/shm"
        self.status_path = os.path.join(self.run, self.name, "status.sock")
        self.stream_path = os.path.join(self.run, self.name, "frames.sock")

    def places(self):
        """Returns the folders of an ordinary user, whose clients write below the same folder."""
        return {"XDG_RUNTIME_DIR": self.user}

    def client(self, **more):
        """Returns the environment of a program that reads this daemon."""
        return dict(os.environ, PYTHONPATH=MODULE, XDG_RUNTIME_DIR=self.user, PYTHONDONTWRITEBYTECODE="1", **more)

    def close(self):
        super().close()
        if os.path.exists(self.ring_path):  # left by a killed daemon
            os.unlink(self.ring_path)


class Publisher:
    """tests/ipc/publisher: publishes small frames without a daemon, numbered from 1."""

    count = 0

    def __init__(self, frames, fps, name=None, held=False):
        Publisher.count += 1
        self.name = name or "test-python-pub-%d-%d" % (os.getpid(), Publisher.count)
        self.top = tempfile.mkdtemp(prefix="stixel-")
        self.process = subprocess.Popen([PUBLISHER, self.name, str(frames), str(fps), *["held"] * held],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=dict(os.environ, RUNTIME_DIRECTORY=self.top))
        if self.process.stdout.readline() != "ready\n":
            raise AssertionError("no publisher")

    def go(self):
        """Starts a publisher that was created with held: it publishes from now on."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        self.kill()
        self.process.stdout.close()
        self.process.stdin.close()
        shutil.rmtree(self.top, ignore_errors=True)
        if os.path.exists("/dev/shm/stixeld." + self.name):
            os.unlink("/dev/shm/stixeld." + self.name)


class TestCase(unittest.TestCase):
    def daemon(self, label, *args, **more):
        d = Daemon(label)
        self.addCleanup(d.close)
        d.start(*args, **more)
        until(lambda: os.path.exists(d.ring_path) or d.process.poll() is not None, 30, "ring")
        return d

    def publisher(self, frames, fps, name=None, held=False):
        p = Publisher(frames, fps, name, held)
        self.addCleanup(p.close)
        return p

    def open(self, *args, **more):
        r = stixel.open(*args, **more)
        self.addCleanup(r.close)
        return r

    def use_runtime_dir(self, path):
        """Sets the folder in which stixel.open(stream=True) looks for an ordinary user's sockets."""
        before = os.environ.get("XDG_RUNTIME_DIR")
        os.environ["XDG_RUNTIME_DIR"] = path

        def back():
            del os.environ["XDG_RUNTIME_DIR"]
            if before is not None:
                os.environ["XDG_RUNTIME_DIR"] = before
        self.addCleanup(back)


def written(file):
    """Returns the path of a writer's ring, in the first folder that this user may write."""
    own = os.environ.get("XDG_RUNTIME_DIR") or "/run/user/%d" % os.geteuid()
    paths = [os.path.join(folder, file) for folder in ("/run/stixel-feed", own + "/stixel-feed", "/dev/shm")]
    return next((path for path in paths if os.path.exists(path)), paths[-1])


def pack(columns, images=(), **header):
    """Returns the bytes of a frame. columns: a list of stixels (dicts) for each column. images: (Plane, array) pairs
    with rows of 8 n bytes."""
    stixels = np.zeros(sum(map(len, columns)), stixel.STIXEL)
    offsets = np.zeros(len(columns) + 1, "<u4")
    i = 0
    for u, column in enumerate(columns):
        for s in column:
            values = dict({"column": u, "label": 255, "kind": stixel.Kind.OBJECT}, **s)
            for name, value in values.items():
                stixels[name][i] = value
            i += 1
        offsets[u + 1] = i
    h = np.zeros((), stixel.HEADER)
    h["magic"], h["abi_major"], h["abi_minor"], h["header_bytes"] = 0x46585453, 1, 3, h.itemsize
    h["epoch"], h["number"], h["image_width"], h["image_height"], h["column_width"] = 7, 1, 640, 480, 5
    h["columns"], h["stixel_count"] = len(columns), len(stixels)
    h["stixels_offset"] = (h.itemsize + offsets.nbytes + 7) // 8 * 8
    for name, value in header.items():
        h[name] = value
    body = offsets.tobytes().ljust(int(h["stixels_offset"]) - h.itemsize, b"\0") + stixels.tobytes()
    for name, (kind, image) in zip(("plane", "plane2"), images):
        h[name + "_kind"], h[name + "_offset"], h[name + "_bytes"] = kind, h.itemsize + len(body), image.nbytes
        h[name + "_height"], h[name + "_width"] = image.shape
        h[name + "_pitch"] = image.strides[0]
        body += image.tobytes()
    h["frame_bytes"] = h.itemsize + len(body)
    data = h.tobytes() + body
    return seal(data)


def of_before(data, minor, header_bytes):
    """Returns the same frame without images, as from a publisher of an earlier ABI with a shorter header."""
    h = np.frombuffer(data, stixel.HEADER, 1).copy()
    cut = h.itemsize - header_bytes
    body = data[h.itemsize:]
    h["abi_minor"], h["header_bytes"] = minor, header_bytes
    h["frame_bytes"] -= cut
    h["stixels_offset"] -= cut
    return seal(h.tobytes()[:header_bytes] + body)


def of_1_2(data):
    """Returns the frame in ABI 1.2, whose header ends before road_cross."""
    return of_before(data, 2, 696)


def entry(n):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    return n


ENTRIES = [entry(n) for n in range(256)]


def crc32c(data):
    """Computes the checksum (Castagnoli) from its definition, byte by byte."""
    state = 0xFFFFFFFF
    for byte in data:
        state = state >> 8 ^ ENTRIES[(state ^ byte) & 255]
    return state ^ 0xFFFFFFFF


def seal(data):
    """Returns the same frame with the correct checksum."""
    h = np.frombuffer(data.ljust(stixel.HEADER.itemsize, b"\0"), stixel.HEADER, 1)[0]
    end = int(h["plane_offset"]) if h["plane_kind"] else int(h["frame_bytes"])
    crc = crc32c(data[:12] + b"\0\0\0\0" + data[16:end])
    return data[:12] + crc.to_bytes(4, "little") + data[16:]
