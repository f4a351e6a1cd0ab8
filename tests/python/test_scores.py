"""Class scores: input that the writer refuses, and the whole way from a left image to a frame that used its scores.

SPDX-License-Identifier: Apache-2.0
"""
import errno
import gc
import os
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import support
import stixel
from support import SLOW, np, until

FORMAT = {"classes": 19, "size": (160, 96), "scale": 4}
SHAPE = (19, 24, 40)
PACED = [*support.SMALL, "-s", "source.fps=20"]
EXAMPLES = os.path.join(support.SOURCE, "docs", "examples")


def path_of(name):
    return support.written("stixel-scores." + name)


class Writers(support.TestCase):
    count = 0

    def name(self):
        Writers.count += 1
        name = "test-python-scores-%d-%d" % (os.getpid(), Writers.count)
        self.addCleanup(lambda: os.path.exists(path_of(name)) and os.unlink(path_of(name)))
        return name

    def writer(self, name=None, **more):
        w = stixel.ScoreWriter(name or self.name(), **dict(FORMAT, **more))
        self.addCleanup(w.close)
        return w

    def newest(self, path):
        """Returns (capture_ns, frame_epoch, frame_number, scores) of the newest scores, by the layout of
        docs/use/shm.md."""
        with open(path, "rb") as f:
            data = f.read()
        self.assertEqual(data[:8], b"STIXSCOR")
        count, stride, first, header = struct.unpack_from("<4I", data, 24)
        n, = struct.unpack_from("<Q", data, 1024)
        at = first + n % count * stride
        self.assertEqual(struct.unpack_from("<Q", data, at)[0], 2 * n)
        at += header
        self.assertEqual(data[at:at + 4], b"STXC")
        offset, = struct.unpack_from("<I", data, at + 12)
        capture, _, epoch, number = struct.unpack_from("<qqQQ", data, at + 40)
        classes, _, _, _, width, height, pitch = struct.unpack_from("<7I", data, at + 72)
        plane, = struct.unpack_from("<Q", data, at + 104)
        bytes_ = np.frombuffer(data, np.uint8, classes * plane, at + offset)
        return capture, epoch, number, bytes_.reshape(classes, height, pitch)[:, :, :width]

    def test_what_is_written_lies_there(self):
        name = self.name()
        with self.writer(name, size=(157, 93)) as w:
            self.assertEqual(w.shape, SHAPE)
            scores = np.random.default_rng(1).integers(0, 256, SHAPE, dtype=np.uint8)
            w.write(scores, capture_ns=12345)
            capture, epoch, number, got = self.newest(path_of(name))
            self.assertEqual((capture, epoch, number), (12345, 0, 0))
            np.testing.assert_array_equal(got, scores)
            for kind in (np.float32, np.float64):  # 0..1 is scaled and rounded
                w.write((scores / 255).astype(kind), capture_ns=1)
                np.testing.assert_array_equal(self.newest(path_of(name))[3], scores)
            w.planes()[...] = scores.transpose(0, 1, 2)[::-1]  # written in place, without a copy
            w.commit(capture_ns=2)
            np.testing.assert_array_equal(self.newest(path_of(name))[3], scores[::-1])
        self.assertFalse(os.path.exists(path_of(name)))
        self.assertTrue(w.closed)
        with self.assertRaisesRegex(ValueError, "closed"):
            w.planes()

    def test_of_a_frame(self):
        d = self.daemon("scores", *PACED)
        frame = self.open(d.name).next(timeout=30)
        w = self.writer()
        w.write(np.zeros(SHAPE, np.uint8), frame)
        self.assertEqual(self.newest(path_of(w._name))[:3], (frame.capture_left_ns, frame.epoch, frame.number))

    def test_mistakes(self):
        for more, text in (({"classes": 0}, "classes: 0, allowed 1 to 32"), ({"classes": 33}, "classes: 33"),
                           ({"scale": 2.5}, "scale: 2.5, allowed 1 to 32"), ({"size": (0, 5)}, "width: 0"),
                           ({"size": (5, 99999)}, "height: 99999"), ({"slots": 65}, "slots: 65"),
                           ({"slots": 3}, r"slots: 3, allowed 0 \(the default\) or a power of two from 2 to 64")):
            with self.assertRaisesRegex(ValueError, text):
                self.writer(**more)
        for more in ({"name": "a/b"}, {"classes": 32, "size": (4096, 4096), "scale": 1}):
            with self.assertRaisesRegex(stixel.BadName, "scores '.*': not a name .* or more than 256 MB"):
                self.writer(**more)
        with self.assertRaises(stixel.StixelError) as e:
            self.writer(folder="/nowhere")
        self.assertEqual(e.exception.errno, errno.ENOENT)
        w, good = self.writer(), np.zeros(SHAPE, np.uint8)
        for bad, kind, text in ((good[1:], ValueError, r"shape \(18, 24, 40\), expected \(19, 24, 40\)"),
                                (good.astype(np.int32), TypeError, "scores of int32"),
                                (good + 1.5, ValueError, "scores from 1.5 to 1.5, expected 0 to 1"),
                                (good - 0.1, ValueError, "from -0.1"), (good + np.nan, ValueError, "nan")):
            with self.assertRaisesRegex(kind, text):
                w.write(bad, capture_ns=1)
        with self.assertRaisesRegex(ValueError, "without planes"):
            w.commit(capture_ns=1)
        for call in (lambda: w.write(good), lambda: w.commit()):
            with self.assertRaisesRegex(TypeError, "either a frame or capture_ns"):
                call()

    def test_one_hot(self):
        labels = np.array([[0, 2], [255, 1]], np.uint8)
        want = np.zeros((3, 2, 2), np.uint8)
        want[0, 0, 0] = want[2, 0, 1] = want[1, 1, 1] = 255
        got = stixel.one_hot(labels, 3)
        np.testing.assert_array_equal(got, want)
        self.assertEqual(got.dtype, np.uint8)
        for bad, kind, text in ((labels, ValueError, "class 2, allowed 0 to 1 and 255"),
                                (labels - 1.0, TypeError, "whole"), (labels[0], TypeError, "two dimensions")):
            with self.assertRaisesRegex(kind, text):
                stixel.one_hot(bad, 2)

    def test_second_writer(self):
        first = self.writer()
        second = self.writer(first._name)
        with self.assertRaisesRegex(stixel.Restarted, "another writer took the name"):
            first.planes()
        first.close()
        second.write(np.ones(SHAPE, np.uint8), capture_ns=3)
        self.assertEqual(self.newest(path_of(first._name))[0], 3)

    def test_a_name_that_another_user_holds(self):
        """The error says how to get a folder in which no other user can take names."""
        with tempfile.TemporaryDirectory() as folder:
            for place, remedy in ((folder + "/none", "which systemd-tmpfiles --create stixeld.conf makes"),
                                  (folder, "")):
                with unittest.mock.patch("stixel._writer.FOLDER", place):
                    error = stixel._writer._error(None, "scores", "x", -errno.EPERM)
                self.assertIsInstance(error, PermissionError)
                self.assertTrue(str(error).endswith(remedy or "the name belongs to another user"), error)
            with unittest.mock.patch("os.access", return_value=False), \
                    unittest.mock.patch("stixel._writer.FOLDER", folder):
                self.assertIn("usermod -aG stixel-feed NAME",
                              str(stixel._writer._error(None, "scores", "x", -errno.EPERM)))

    def test_an_array_outlives_its_writer(self):
        w = self.writer()
        planes = w.planes()
        w.close()
        gc.collect()
        planes[...] = 7  # the memory still exists, and is freed with the array
        self.assertEqual(int(planes.sum()), 7 * planes.size)
        del planes
        gc.collect()
        self.assertFalse(os.path.exists(path_of(w._name)))


class WholeWay(support.TestCase):
    def test_scores_of_its_own_left_images(self):
        d = self.sem("-s", "semantics.max_age_ms=%d" % (2000 * SLOW))
        given = set()
        with stixel.open(d.name, images=["left"]) as reader, stixel.ScoreWriter(d.name, **FORMAT) as writer:
            end = time.monotonic() + 20 * SLOW
            while time.monotonic() < end:
                frame = reader.next(timeout=30)
                if frame.scores_ns:
                    break
                self.assertEqual(frame.flags, stixel.FrameFlag.SCORES_MISSING)
                if frame.left is not None:
                    bright = frame.left[::4, ::4] >= 128
                    writer.write(stixel.one_hot(np.where(bright, 10, 0), 19), frame)
                    given.add(frame.capture_left_ns)
            self.assertEqual(frame.flags, stixel.FrameFlag.SCORES)
            self.assertIn(frame.scores_ns, given)
            self.assertLess(frame.scores_ns, frame.capture_left_ns)
        s = d.status()["semantics"]
        # mostly older; on a busy machine two pictures may be less than half a frame apart
        self.assertGreaterEqual(s["frames"]["older"] + s["frames"]["matched"], 1)
        self.assertEqual((s["scores"]["refused"], s["reason"]), (0, None))
        r = subprocess.run([support.STIXELCTL, "-i", d.name, "status"], env=d.client(), capture_output=True, text=True,
                           check=True)
        self.assertRegex(r.stdout, r"\nscores    %s: (reading|silent|absent); frames \d+ matched, \d+ older, \d+ "
                                   r"without; \d+ late\n" % d.name)

    def test_labels_of_stixels_come_from_the_scores(self):
        d = self.sem("-s", "semantics.max_age_ms=%d" % (5000 * SLOW), "-s", "stixels.method=slanted", "-s",
                     "engine.backend=reference", "-s", "stixels.width=8", "-s", "source.fps=10")
        # both classes have the same kind over the full height, so a column's labels do not depend on its cuts
        left, right = 13, 5
        scores = stixel.one_hot(np.broadcast_to(np.where(np.arange(SHAPE[2]) < 20, left, right), SHAPE[1:]), 19)
        with stixel.open(d.name) as reader, stixel.ScoreWriter(d.name, **FORMAT) as writer:
            writer.write(scores, reader.next(timeout=30))
            frame = until(lambda: (lambda f: f if f and f.scores_ns else None)(reader.next(timeout=30)), 30, "scores")
        objects = frame.stixels[frame.stixels["kind"] == stixel.Kind.OBJECT]
        self.assertGreater(len(objects), 5)
        np.testing.assert_array_equal(objects["label"], np.where(objects["column"] < 10, left, right))
        self.assertIsNone(frame.classes)  # the daemon's runtime directory is not that of the test
        with stixel.open(d.name) as reader, unittest.mock.patch.dict(os.environ, d.client()):
            frame = reader.next(timeout=30)
            self.assertEqual((len(frame.classes), frame.classes[left]), (19, "car"))
            self.assertEqual(pickle.loads(pickle.dumps(frame)).classes, frame.classes)
            self.assertTrue((frame.free_columns()["to_m"] >= frame.free_columns(kind="road")["to_m"]).all())
            of_before = stixel.Frame(support.seal(frame.raw.replace(frame.epoch.to_bytes(8, "little"), bytes(8))),
                                     classes=frame._classes)
            self.assertIsNone(of_before.classes)  # a frame of another run

    def test_frames_that_wait_for_the_scores_of_their_own_pair(self):
        """With external.pairs the images come before the frame, also if the daemon matches itself."""
        d = self.sem("-s", "external.pairs=yes", "-s", "semantics.wait_ms=1000", "-s", "source.fps=10")
        self.addCleanup(lambda: os.path.exists(d.ring_path + ".pairs") and os.unlink(d.ring_path + ".pairs"))
        label, wanted = 13, 10
        scores = stixel.one_hot(np.full(SHAPE[1:], label), 19)
        given, frames = set(), []
        with stixel.open(d.name + ".pairs") as pairs, stixel.open(d.name) as reader, \
                stixel.ScoreWriter(d.name, **FORMAT) as writer:
            while len(frames) < wanted:
                pair = pairs.latest(timeout=1)
                if pair is not None:
                    writer.write(scores, pair)
                    given.add(pair.capture_left_ns)
                frame = reader.latest(timeout=1)
                # no frame waits before the first scores of a writer
                if frame is not None and frame.capture_left_ns in given and (frames or frame.scores_ns):
                    frames.append(frame)
        self.assertEqual([f.scores_ns for f in frames], [f.capture_left_ns for f in frames])
        self.assertGreaterEqual(d.status()["semantics"]["frames"]["matched"], wanted)

    def run_example(self, d, command, end=signal.SIGINT, **more):
        before = d.status()["semantics"]["scores"]["received"]
        p = subprocess.Popen(command, env=d.client(), stderr=subprocess.PIPE, **more)
        try:
            until(lambda: d.status()["semantics"]["scores"]["received"] > before + 2 or p.poll() is not None, 20,
                  "scores")
        finally:
            p.send_signal(end)
            err = p.communicate(timeout=60)[1]
        return p.returncode, err.decode()

    def sem(self, *more):
        d = support.Daemon("net")
        self.addCleanup(d.close)
        d.start(*PACED, "-s", "semantics.source=" + d.name, *more)
        self.addCleanup(lambda: os.path.exists(path_of(d.name)) and os.unlink(path_of(d.name)))
        until(lambda: os.path.exists(d.ring_path), 30, "ring")
        return d

    def test_python_example(self):
        d = self.sem("-s", "semantics.max_age_ms=1000")
        with tempfile.TemporaryDirectory(prefix="stixel-") as top:
            with open(top + "/tiny_network.py", "w", encoding="utf-8") as f:
                f.write("import numpy as np\ndef segment(left):\n"
                        "    return np.broadcast_to(left[::4, ::4] / 255, (19,) + left[::4, ::4].shape)\n")
            env = dict(d.client(), PYTHONPATH=d.client()["PYTHONPATH"] + ":" + top)
            d.client = lambda: env
            for end in (signal.SIGINT, signal.SIGTERM):
                code, err = self.run_example(d, [sys.executable, os.path.join(EXAMPLES, "scores.py"), d.name,
                                                 "tiny_network"], end)
                self.assertEqual((code, err), (0, ""), end)
                self.assertFalse(os.path.exists(path_of(d.name)), end)
            frames = d.status()["semantics"]["frames"]
            self.assertGreater(frames["older"] + frames["matched"], 0)
        r = subprocess.run([sys.executable, os.path.join(EXAMPLES, "scores.py"), d.name, "no_such_network"],
                           env=d.client(), capture_output=True, text=True)
        self.assertEqual((r.returncode, "no_such_network" in r.stderr), (1, True), r.stderr)

    def test_c_example(self):
        d = self.sem()
        pictures = b"".join(struct.pack("<q", time.monotonic_ns()) + bytes([n]) * (19 * 24 * 40) for n in range(5))
        with tempfile.TemporaryFile() as f:
            f.write(pictures)
            f.seek(0)
            keep, feed = os.pipe()  # keeps the process alive until its output was read
            cat = subprocess.Popen(["sh", "-c", "cat; cat <&%d" % keep], stdin=f, stdout=subprocess.PIPE,
                                   pass_fds=[keep])
            code, err = self.run_example(d, [os.environ["STIXEL_EXAMPLE_SCORES"], d.name, "19", "160", "96", "4"],
                                         stdin=cat.stdout)
            os.close(feed)
            os.close(keep)
            cat.kill()
            cat.wait()
            cat.stdout.close()
        self.assertEqual((code, err), (-signal.SIGINT, ""))
        r = subprocess.run([os.environ["STIXEL_EXAMPLE_SCORES"], d.name, "19", "160", "96", "0"], capture_output=True,
                           text=True, stdin=subprocess.DEVNULL)
        self.assertEqual((r.returncode, r.stderr), (1, "not a valid instance name or argument\n"))


if __name__ == "__main__":
    unittest.main()
