"""The module and a daemon: the same figures as in stixelctl, images on demand, restarts, streams.

SPDX-License-Identifier: Apache-2.0
"""
import asyncio
import json
import math
import os
import signal
import subprocess
import time
import unittest

import numpy as np
import support
import stixel
from support import SLOW, SMALL, until

LONG = 30 * SLOW
PACED = [*SMALL, "-s", "source.fps=20"]


class Figures(support.TestCase):
    def test_the_same_as_stixelctl_dumps(self):
        d = self.daemon("dump", *SMALL, "-s", "source.fps=5", "-s", "output.slots=64")
        with stixel.open(d.name) as reader:
            reader.wait(LONG)
            out = subprocess.run([support.STIXELCTL, "-i", d.name, "dump", "--frames", "3", "--json"], check=True,
                                 capture_output=True, text=True, timeout=LONG, env=d.client()).stdout
            dumped = {f["number"]: f for f in map(json.loads, out.splitlines())}
            self.assertEqual(len(dumped), 3)
            for frame in reader:
                if frame.number in dumped:
                    self.compare(frame, dumped.pop(frame.number))
                if not dumped:
                    break

    def compare(self, frame, want):
        self.assertEqual("%016x" % frame.epoch, want["epoch"])
        self.assertEqual([frame.capture_left_ns, frame.capture_right_ns, frame.published_ns],
                         [want[k] for k in ("capture_left_ns", "capture_right_ns", "published_ns")])
        self.assertEqual([frame.width, frame.height, frame.columns, frame.column_width],
                         [want[k] for k in ("width", "height", "columns", "column_width")])
        self.assertEqual(frame.road.origin.name.lower(), want["road"]["origin"])
        self.assertAlmostEqual(frame.road.slope, want["road"]["slope"], places=7)
        self.assertAlmostEqual(frame.road.offset, want["road"]["offset"], places=5)
        self.assertEqual({k: round(v / 1e3, 3) for k, v in frame.stages.items()}, want["stage_us"])
        self.assertEqual(len(frame.stixels), len(want["stixels"]))
        self.assertGreater(len(frame.stixels), 20)
        for s, disparity, depth, w in zip(frame.stixels, frame.stixel_disparity, frame.depth, want["stixels"]):
            self.assertEqual([s[k] for k in ("column", "row_top", "row_bottom", "confidence", "support")],
                             [w[k] for k in ("column", "row_top", "row_bottom", "confidence", "support")])
            self.assertEqual(stixel.Kind(s["kind"]).name.lower(), w["class"])
            self.assertEqual(None if s["label"] == 255 else s["label"], w["label"])
            self.assertEqual(float("%.6f" % (s["slope_q14"] / 16384)), w["slope"])
            self.assertEqual(None if math.isnan(disparity) else round(disparity, 4), w["disparity"])
            if not np.isfinite(depth):
                self.assertIsNone(w["depth_m"])
            else:
                self.assertAlmostEqual(depth, w["depth_m"], delta=0.00051)

    def test_times_are_of_now(self):
        d = self.daemon("times", *PACED)
        with stixel.open(d.name) as reader:
            frame = reader.latest(LONG)
            reader.wait(LONG)
            frame = reader.latest(LONG)
            self.assertTrue(0 < frame.age() < LONG)
            self.assertTrue(0 < frame.latency < frame.age())
            self.assertLess(abs(frame.captured_at.timestamp() - time.time() + frame.age()), 5)
            status = reader.status()
            self.assertEqual((status.publisher, status.state, status.pid, status.epoch),
                             (stixel.Publisher.ALIVE, stixel.State.RUNNING, d.process.pid, frame.epoch))
            self.assertEqual(status.version, os.environ["STIXEL_VERSION"])
            self.assertLess(status.heartbeat_age, LONG)
        self.assertEqual(stixel.library_version(), os.environ["STIXEL_VERSION"])

    def test_stream_and_ring_are_the_same(self):
        d = self.daemon("stream", *PACED)
        self.use_runtime_dir(d.user)
        with stixel.open(d.name) as ring, stixel.open(d.name, stream=True) as stream:
            a, b = {}, {}
            while len(set(a) & set(b)) < 5:
                for reader, found in ((ring, a), (stream, b)):
                    frame = reader.next(LONG)
                    found[frame.number] = frame.raw
            for number in set(a) & set(b):
                self.assertEqual(a[number], b[number])


class Images(support.TestCase):
    def image(self, reader, name):
        return until(lambda: (lambda f: f and getattr(f, name) is not None and f)(reader.next(LONG)), LONG, name)

    def test_they_come_when_asked(self):
        d = self.daemon("images", *PACED)
        with stixel.open(d.name) as reader:
            frame = reader.next(LONG)
            self.assertIsNone(frame.left)
            self.assertIsNone(frame.disparity)
            reader.want_images("left", "disparity")
            frame = self.image(reader, "left")
            frame = frame if frame.disparity is not None else self.image(reader, "disparity")
            self.assertEqual((frame.left.shape, frame.left.dtype), ((96, 160), np.uint8))
            self.assertGreater(frame.left.std(), 5)  # a real picture, not one value
            # the disparity of each stixel is close to that of its pixels
            px, close = frame.disparity, []
            for s, d_px in zip(frame.stixels, frame.stixel_disparity):
                rows = px[s["row_top"]:s["row_bottom"] + 1, s["column"] * 4:s["column"] * 4 + 4]
                if s["kind"] == stixel.Kind.OBJECT and np.isfinite(rows).sum() > 20:
                    close.append(abs(np.nanmedian(rows) - d_px) < 1)
            self.assertGreater(len(close), 5)
            self.assertGreater(np.mean(close), 0.8)
            self.assertEqual(stixel.load(frame.raw).left.tobytes(), frame.left.tobytes())
            reader.want_images()
            until(lambda: reader.next(LONG).left is None, LONG)

    def test_one_of_them_from_the_start_and_after_a_restart(self):
        d = self.daemon("again", *PACED)
        with stixel.open(d.name, images=["left"], follow=True) as reader:
            frame = self.image(reader, "left")
            self.assertIsNone(frame.disparity)
            epoch = frame.epoch
            d.stop()
            d.start(*PACED)
            until(lambda: self.image(reader, "left").epoch != epoch, LONG)

    def test_without_a_socket(self):
        d = self.daemon("socketless", *PACED, "-s", "output.stream=no")
        with self.assertRaisesRegex(stixel.NotConnected, "no frame socket"):
            stixel.open(d.name, images=["left"])
        with stixel.open(d.name) as reader:
            with self.assertRaisesRegex(stixel.NotConnected, "no frame socket"):
                reader.fileno()

            async def read():
                return [(await reader.__anext__()).number for _ in range(4)]
            self.assertEqual(len(asyncio.run(asyncio.wait_for(read(), LONG))), 4)


class Restarts(support.TestCase):
    def test_ended_killed_and_followed(self):
        d = self.daemon("restart", *PACED)
        with stixel.open(d.name) as reader, stixel.open(d.name, follow=True) as follower:
            first = follower.next(LONG)
            reader.next(LONG)
            d.stop()
            list(reader)  # ends without an error
            with self.assertRaises(stixel.Ended):
                reader.wait(0)
            epochs = [first.epoch]
            for how in (signal.SIGKILL, signal.SIGTERM):
                d.start(*PACED)
                frame = until(lambda: (lambda f: f and f.epoch not in epochs and f)(follower.next(LONG)), LONG)
                epochs.append(frame.epoch)
                reader.reopen()
                self.assertEqual(reader.next(LONG).epoch, frame.epoch)
                d.stop(how)
                if how == signal.SIGKILL:
                    with self.assertRaises(stixel.Died):
                        list(reader)
            self.assertEqual(follower.status().restarts, 2)

    @unittest.skipIf(os.environ.get("SX_EMULATED"), "not with an emulator: start times in /proc are another's, "
                     "so that a publisher that is silent counts as gone")
    def test_stopped_for_a_while(self):
        d = self.daemon("stopped", *PACED)
        with stixel.open(d.name) as reader:
            reader.next(LONG)
            d.process.send_signal(signal.SIGSTOP)
            try:
                until(lambda: reader.status().publisher == stixel.Publisher.STALLED, LONG)
            finally:
                d.process.send_signal(signal.SIGCONT)
            number = reader.status().head
            until(lambda: reader.next(LONG).number > number, LONG)
            self.assertEqual(reader.status().publisher, stixel.Publisher.ALIVE)


if __name__ == "__main__":
    unittest.main()
