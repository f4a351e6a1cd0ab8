"""External disparity maps: input that the writer refuses, and the whole way from an offered pair to a frame with its
map.

SPDX-License-Identifier: Apache-2.0
"""
import os
import shutil
import signal
import struct
import subprocess
import sys
import unittest

import support
import stixel
from support import np, until

WIDTH, HEIGHT = 160, 96
EXAMPLE = os.path.join(support.SOURCE, "docs", "examples", "external.py")


def path_of(name):
    return support.written("stixel-disparity." + name)


class Writers(support.TestCase):
    count = 0

    def writer(self, **more):
        Writers.count += 1
        self.name = "test-python-external-%d-%d" % (os.getpid(), Writers.count)
        w = stixel.DisparityWriter(self.name, **dict({"size": (WIDTH, HEIGHT)}, **more))
        self.addCleanup(w.close)
        return w

    def newest(self):
        """Returns (capture_ns, map, confidence or None) of the newest map, by the layout of docs/use/shm.md."""
        with open(path_of(self.name), "rb") as f:
            data = f.read()
        self.assertEqual(data[:8], b"STIXDISP")
        count, stride, first, header = struct.unpack_from("<4I", data, 24)
        n, = struct.unpack_from("<Q", data, 1024)
        at = first + n % count * stride + header
        self.assertEqual(data[at:at + 4], b"STXD")
        offset, = struct.unpack_from("<I", data, at + 12)
        capture, = struct.unpack_from("<q", data, at + 40)
        width, height, pitch, confidence_pitch, confidence = struct.unpack_from("<5I", data, at + 72)
        rows = np.frombuffer(data, np.uint8, pitch * height, at + offset).reshape(height, pitch)
        weights = None
        if confidence:
            weights = np.frombuffer(data, np.uint8, confidence_pitch * height, at + confidence)
            weights = weights.reshape(height, confidence_pitch)[:, :width]
        return capture, np.ascontiguousarray(rows[:, :2 * width]).view("<u2"), weights

    def test_what_is_written(self):
        maps = np.random.default_rng(1).integers(0, 65536, (HEIGHT, WIDTH), dtype=np.uint16)
        with self.writer(confidence=True) as w:
            w.write(maps, confidence=(maps >> 8).astype(np.uint8), capture_ns=12345)
            capture, got, weights = self.newest()
            self.assertEqual(capture, 12345)
            np.testing.assert_array_equal(got, maps)
            np.testing.assert_array_equal(weights, maps >> 8)
        self.assertFalse(os.path.exists(path_of(self.name)))
        w = self.writer()
        px = np.full(w.shape, 7.5, np.float32)
        px[0, :7] = [-1, 0, np.nan, np.inf, 0.0001, 255.998, 300]
        w.write(px, capture_ns=1)
        _, got, weights = self.newest()
        self.assertEqual((list(got[0, :8]), weights), ([0, 0, 0, 0, 1, 65535, 65535, 1920], None))
        disparity, confidence = w.map()  # written in place, without a copy
        self.assertIsNone(confidence)
        disparity[...] = 256
        w.commit(capture_ns=2)
        self.assertTrue((self.newest()[1] == 256).all())

    def test_what_is_refused(self):
        w = self.writer()
        good = np.zeros(w.shape, np.uint16)
        for args, kind, text in (((good[1:],), ValueError, "disparities of shape"),
                                 ((good.astype(np.int32),), TypeError, "disparities of int32, expected uint16")):
            with self.assertRaisesRegex(kind, text):
                w.write(*args, capture_ns=1)
        with self.assertRaisesRegex(ValueError, "confidence comes with every map of a writer made with it"):
            w.write(good, confidence=good.astype(np.uint8), capture_ns=1)
        with self.assertRaisesRegex(TypeError, "either a frame or capture_ns"):
            w.write(good)
        with self.assertRaisesRegex(ValueError, r"disparity '.*': commit\(\) without map\(\)"):
            w.commit(capture_ns=1)
        with self.assertRaisesRegex(ValueError, "width: 5000, allowed 1 to 4096"):
            self.writer(size=(5000, 10))
        with self.assertRaisesRegex(ValueError, r"slots: 1, allowed 0 \(the default\) or a power of two from 2 to 64"):
            self.writer(slots=1)
        w.close()
        with self.assertRaisesRegex(ValueError, "disparity '.*': this writer is closed"):
            w.map()


class WholeWay(support.TestCase):
    def daemon(self, *more):
        d = support.Daemon("external")
        self.addCleanup(d.close)
        d.start(*support.SMALL, "-s", "source.fps=10", "-s", "stereo.matcher=external", "-s", "external.pairs=yes",
                "-s", "external.source=" + d.name, "-s", "external.wait_ms=1000", *more)
        for path in (path_of(d.name), d.ring_path + ".pairs"):  # a killed daemon leaves its rings
            self.addCleanup(lambda p=path: os.path.exists(p) and os.unlink(p))
        until(lambda: os.path.exists(d.ring_path + ".pairs"), 30, "ring of pairs")
        return d

    def test_pairs_become_frames_by_their_maps(self):
        self.check_frames()

    def test_raw_pairs_are_offered_rectified(self):
        self.check_frames("-s", "source.lenses=wide")

    def check_frames(self, *more):
        d = self.daemon(*more, "-s", "output.planes=both", "-s", "output.planes_when=always", "-s", "filters.smooth=no",
                        "-s", "filters.speckle_size=0")
        seen = {}
        with stixel.open(d.name + ".pairs") as pairs, stixel.open(d.name) as reader, \
                stixel.DisparityWriter(d.name, size=(WIDTH, HEIGHT)) as writer:
            while len(seen) < 5:
                pair = pairs.latest(timeout=30)
                self.assertEqual((pair.left.shape, pair.right.shape), ((HEIGHT, WIDTH), (HEIGHT, WIDTH)))
                self.assertEqual((len(pair.stixels), pair.flags & stixel.FrameFlag.EXTERNAL), (0, 0))
                px = 1 + len(seen) + np.arange(WIDTH * HEIGHT).reshape(HEIGHT, WIDTH) % 32 / 16
                seen[pair.capture_left_ns] = px, pair.left.copy()
                writer.write(px, pair)
            frames = []
            while True:
                frame = reader.latest(timeout=1)
                if frame is None:
                    break
                frames.append(frame.capture_left_ns)
                px, left = seen[frame.capture_left_ns]  # every frame belongs to one of these pairs
                self.assertTrue(frame.flags & stixel.FrameFlag.EXTERNAL)
                np.testing.assert_array_equal(frame.left, left)
                seen_by_both = np.isfinite(frame.disparity)
                self.assertGreater(seen_by_both.mean(), 0.5)
                np.testing.assert_array_equal(frame.disparity[seen_by_both], px[seen_by_both])
                if not more:
                    self.assertTrue(seen_by_both.all())
        self.assertGreater(len(frames), 0)
        s = d.status()
        self.assertEqual((s["external"]["maps"]["refused"], s["external"]["maps"]["lost"]), (0, 0))
        self.assertGreater(s["frames"]["published"], 1)

    def test_example(self):
        found = [p for p in (sys.executable, shutil.which("python3", path="/usr/bin:/bin")) if p]
        python = next((p for p in found if subprocess.run([p, "-c", "import cv2, numpy"], capture_output=True,
                                                          check=False).returncode == 0), None)
        if not python:
            self.skipTest("no Python here has OpenCV (python3-opencv)")
        d = self.daemon("-s", "stereo.disparities=128")
        p = subprocess.Popen([python, EXAMPLE, d.name], env=d.client(), stderr=subprocess.PIPE)
        try:
            until(lambda: d.status()["frames"]["published"] > 3 or p.poll() is not None, 30, "frames")
        finally:
            p.send_signal(signal.SIGTERM)
            err = p.communicate(timeout=60)[1].decode()
        self.assertEqual((p.returncode, err), (0, ""))
        self.assertFalse(os.path.exists(path_of(d.name)))
        self.assertGreater(d.status()["pictures"]["density"], 0.1)  # 32 of 160 columns are out of view


if __name__ == "__main__":
    unittest.main()
