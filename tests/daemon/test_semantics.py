# Tests class scores from another process with a fake source and engine (fake.c): which frames get them, which do not,
# the counters, and a writer that dies, writes nonsense, or truncates its memory.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import threading
import time
import unittest

import openmetrics
from harness import FAKE, IDLE, SANITIZED, TestCase, until

SEGMENTER = os.environ["STIXEL_SEGMENTER"]
SLOW = 3 if SANITIZED else 1
ARGS = ["-s", "source.kind=synthetic", "-s", "stixels.width=4", "-s", "output.slots=1024", "-s", "semantics.source=net"]
SCORES, MISSING = 4, 8


class Segmenter:
    """Runs tests/ipc/segmenter in the folder of an instance."""

    def __init__(self, i, classes=19, size="64x48", scale=4):
        self.process = subprocess.Popen([SEGMENTER, i.shm, "net", str(classes), size, str(scale)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lock = threading.Lock()
        assert self.process.stdout.readline() == "ready\n"

    def tell(self, line):
        with self.lock:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            return self.process.stdout.readline().strip()

    def give(self, capture_ns, byte):
        assert self.tell("%d %d" % (capture_ns, byte)) == "ok"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        self.kill()
        self.process.stdin.close()
        self.process.stdout.close()


class Steady:
    """Gives scores all the time. They belong to the picture of delay_s ago, as from a network with this delay."""

    def __init__(self, segmenter, delay_s, byte, every_s=0.004):
        self.stop = threading.Event()

        def run():
            while not self.stop.wait(every_s):
                segmenter.give(time.monotonic_ns() - int(delay_s * 1e9), byte)
        self.thread = threading.Thread(target=run)
        self.thread.start()

    def close(self):
        self.stop.set()
        self.thread.join()


class Semantics(TestCase):
    def fake(self, *args, **env):
        i = self.instance(binary=FAKE)
        i.start(*ARGS, *args, env={"FAKE_" + k.upper(): v for k, v in env.items()})
        return i

    def segmenter(self, i, **more):
        s = Segmenter(i, **more)
        self.addCleanup(s.close)
        return s

    def steady(self, *args, **more):
        s = Steady(*args, **more)
        self.addCleanup(s.close)
        return s

    def state(self, i):
        return i.status()["semantics"]

    def until_frame(self, i, condition, what, seconds=30, before=lambda: None):
        """Returns the first new frame that meets the condition. `before` runs before each look."""
        ring = i.ring()
        first = ring.live()[2] + 1

        def look():
            before()
            return next((f for f in ring.frames() if f.number >= first and condition(f)), None)
        return until(look, seconds, what)

    def until_scored(self, i, net, byte):
        """Waits for a frame with these scores of net. They are given again and again, because scores that come too
        late for the nearest image are used for no other image."""
        given = 0.0

        def give():
            nonlocal given
            if time.monotonic() - given > 0.3:
                given = time.monotonic()
                net.give(time.monotonic_ns(), byte)
        self.until_frame(i, lambda f: f.flags == SCORES and f.label == byte, "frame with scores", before=give)

    def until_taken(self, i, net):
        """Returns a frame with the scores of net, which go into every slot. They are given again if the frame left
        the ring before they came."""
        given = 0

        def give():
            nonlocal given
            if time.monotonic() - given > 2:
                given = time.monotonic()
                for _ in range(9):
                    net.give(time.monotonic_ns(), 1)
        return self.until_frame(i, lambda f: f.flags == SCORES, "frame with scores", before=give)

    def test_without_a_source_nothing_is_said(self):
        i = self.instance(binary=FAKE)
        i.start(*ARGS[:-2], env={"FAKE_INTERVAL_US": 5000})
        i.until_published(5)
        self.assertEqual(self.state(i), {"source": None})
        self.assertNotIn("stixeld_scores", i.http("/metrics")[2])
        self.assertTrue(all((f.flags, f.scores_ns, f.label) == (0, 0, 255) for f in i.ring().frames()))

    def test_nobody_writes(self):
        i = self.fake("-s", "semantics.wait_ms=1000", "-s", "stixels.method=dp", interval_us=5000)
        i.until_published(20)
        i.until_state("running")  # the daemon waits for no scores
        s = self.state(i)
        self.assertEqual((s["source"], s["state"]), ("net", "absent"))
        self.assertEqual(s["reason"], "no process writes scores: there is no %s/stixel-scores.net" % i.shm)
        self.assertEqual((s["frames"]["matched"], s["frames"]["older"], s["scores"]["received"]), (0, 0, 0))
        self.assertGreaterEqual(s["frames"]["missing"], 20)
        self.assertEqual((len(s["classes"]), s["classes"][0], s["classes"][10], s["classes"][13]),
                         (19, {"name": "road", "kind": "ground"}, {"name": "sky", "kind": "sky"},
                          {"name": "car", "kind": "object"}))
        self.assertTrue(all((f.flags, f.scores_ns, f.label) == (MISSING, 0, 255) for f in i.ring().frames()))
        self.assertEqual(i.stop(), 0)
        self.assertEqual(i.text().count("frame without class scores: no process writes scores"), 1, i.text())
        self.assertIn("stixels.method = dp does not read them", i.text())

    def test_matched(self):
        # scores come every 4 ms; the tolerance is half of 40 ms
        i = self.fake("-s", "source.fps=25", interval_us=40000)
        net = self.segmenter(i)
        self.steady(net, 0, 77)
        f = self.until_frame(i, lambda f: f.flags == SCORES, "frame with scores")
        self.assertEqual(f.label, 77)
        self.assertLessEqual(abs(f.scores_ns - f.left_ns), 20e6)
        s = until(lambda: (lambda s: s if s["frames"]["matched"] > 5 else None)(self.state(i)), 30, "matched frames")
        self.assertEqual((s["state"], s["reason"], s["scores"]["refused"], s["frames"]["older"]),
                         ("reading", None, 0, 0))
        m = openmetrics.parse(i.http("/metrics")[2])
        value = openmetrics.value
        self.assertEqual(value(m, "stixeld_scores_state", stixeld_scores_state="reading"), 1)
        self.assertGreater(value(m, "stixeld_frames_by_scores", "_total", scores="matched"), 5)
        self.assertGreater(value(m, "stixeld_scores", "_total", fate="in_time"), 5)
        self.assertEqual(value(m, "stixeld_scores_restarts", "_total"), 0)
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "use", "metrics.md")) as f:
            documented = f.read()
        for name in m:
            self.assertIn("`%s`" % name, documented)

    def test_late(self):
        # the tolerance is half of 10 ms, so that the next picture, 40 ms later, is another picture even on a busy
        # machine
        i = self.fake("-s", "source.fps=100", interval_us=40000)
        net = self.segmenter(i)
        ring = i.ring()
        for byte in range(5):
            f = self.until_frame(i, lambda f: True, "frame")
            net.give(f.left_ns, byte)
        s = until(lambda: (lambda s: s if s["scores"]["received"] == 5 else None)(self.state(i)), 30, "scores")
        self.assertEqual((s["scores"]["late"], s["scores"]["lost"], s["frames"]["matched"]), (5, 0, 0))
        self.assertTrue(all(f.flags == MISSING and f.label == 255 for f in ring.frames()))

    def test_older_ones_stand_in(self):
        i = self.fake("-s", "source.fps=100", "-s", "semantics.max_age_ms=%d" % (300 * SLOW), interval_us=40000)
        net = self.segmenter(i)
        f = self.until_frame(i, lambda f: True, "frame")
        self.assertEqual(f.flags, MISSING)
        net.give(f.left_ns, 9)
        g = self.until_frame(i, lambda f: f.flags == SCORES, "frame with older scores")
        self.assertEqual((g.scores_ns, g.label), (f.left_ns, 9))
        self.assertLessEqual(g.left_ns - g.scores_ns, 300e6 * SLOW)
        late = self.until_frame(i, lambda f: f.flags == MISSING, "frame that they are too old for")
        self.assertGreater(late.left_ns - f.left_ns, 300e6 * SLOW)
        s = self.state(i)
        self.assertGreaterEqual(s["frames"]["older"], 1)
        self.assertEqual((s["frames"]["matched"], s["scores"]["received"], s["scores"]["late"]), (0, 1, 1))

    def test_a_frame_waits_for_its_scores(self):
        # the network takes 30 ms; scores belong to a picture within 10 ms
        i = self.fake("-s", "source.fps=50", "-s", "semantics.wait_ms=%d" % (200 * SLOW), interval_us=250000 * SLOW)
        net = self.segmenter(i)
        steady = self.steady(net, 0.03, 5)
        self.until_frame(i, lambda f: True, "frame")
        ring = i.ring()
        first = ring.live()[2] + 1
        until(lambda: ring.live()[2] >= first + 6, 30, "frames")
        frames = [f for f in ring.frames() if f.number >= first]
        good = [f for f in frames if f.flags == SCORES]
        self.assertTrue(good)
        if IDLE:
            self.assertGreaterEqual(len(good), len(frames) - 2)
        for f in good:
            self.assertLessEqual(abs(f.scores_ns - f.left_ns), 10e6)
            self.assertGreater(f.submitted_ns - f.left_ns, 10e6)
            if IDLE:
                self.assertLess(f.submitted_ns - f.left_ns, 200e6 * SLOW + 50e6)
        steady.close()
        # the writer works, but never reaches this picture: the wait ends
        behind = self.steady(net, 2, 6)
        f = self.until_frame(i, lambda f: f.flags == MISSING, "frame that waited in vain")
        g = self.until_frame(i, lambda f: f.flags == MISSING and f.number > 1, "another")
        self.assertGreaterEqual(g.submitted_ns - g.left_ns, 200e6 * SLOW)
        behind.close()
        # after a second of silence, the daemon no longer waits
        time.sleep(1.2)
        f = self.until_frame(i, lambda f: f.flags == MISSING, "frame without")
        f = self.until_frame(i, lambda g: g.number > f.number + 1, "another")
        if IDLE:
            self.assertLess(f.submitted_ns - f.left_ns, 150e6 * SLOW)
        self.assertEqual(i.status()["semantics"]["state"], "silent")

    def test_stopped_while_a_frame_waits(self):
        i = self.fake("-s", "source.fps=50", "-s", "semantics.wait_ms=1000", interval_us=100000)
        self.steady(self.segmenter(i), 2, 6)
        until(lambda: self.state(i)["scores"]["received"] > 0, 30, "scores")
        time.sleep(0.3)
        begun = time.monotonic()
        self.assertEqual(i.stop(), 0)
        if IDLE:
            self.assertLess(time.monotonic() - begun, 2 * SLOW)
        self.assertEqual(i.leftovers(), ["shm/stixel-scores.net"])

    def test_wrong_writers_then_a_right_one(self):
        # frames wait, because a busy machine gives many a frame no scores in time, and the log then speaks of no end
        i = self.fake("-s", "source.fps=25", "-s", "semantics.wait_ms=1000", interval_us=20000)
        for more, text in (({"classes": 18}, "18 classes"), ({"size": "65x48"}, "65x48"), ({"scale": 2}, "scale 2")):
            wrong = self.segmenter(i, **more)
            wrong.give(time.monotonic_ns(), 1)
            s = until(lambda t=text: (lambda s: s if t in (s["reason"] or "") else None)(self.state(i)), 30, text)
            self.assertEqual(s["state"], "refused")
            self.assertIn("expected are 19 classes, 64x48, scale 4 or coarser", s["reason"])
            wrong.close()
        self.assertEqual((s["scores"]["refused"], s["scores"]["received"]), (3, 0))
        self.steady(self.segmenter(i, scale=7), 0, 3)
        f = self.until_frame(i, lambda f: f.flags == SCORES, "frame with scores")
        self.assertEqual(f.label, 3)
        s = self.state(i)
        self.assertEqual((s["state"], s["reason"], s["scores"]["restarts"]), ("reading", None, 3))
        self.assertIn("class scores are available again", until(
            lambda: (lambda t: t if "again" in t else None)(i.text()), 30, "end of the condition in the log"))

    def test_killed_in_the_middle(self):
        i = self.fake("-s", "source.fps=2", interval_us=10000)
        for life in range(4):
            net = self.segmenter(i)
            self.until_scored(i, net, life)
            if life % 2:
                self.assertEqual(net.tell("begin 99"), "ok")
            net.kill()
            self.until_frame(i, lambda f: f.flags == MISSING, "frame without")
        s = self.state(i)
        self.assertEqual((s["scores"]["received"], s["scores"]["refused"], s["scores"]["restarts"]), (4, 0, 3))
        self.assertTrue(all(f.label != 99 for f in i.ring().frames()))

    def test_a_ring_that_is_cut_short_or_filled_with_garbage(self):
        i = self.fake("-s", "source.fps=2", interval_us=20000)
        path = os.path.join(i.shm, "stixel-scores.net")
        for round in range(6):
            net = self.segmenter(i)
            self.until_taken(i, net)
            os.kill(net.process.pid, signal.SIGSTOP)  # keep it from touching files that are gone
            if round % 2:
                with open(path, "r+b") as f:
                    f.seek(8 if round == 3 else 1024)
                    f.write(bytes(range(1, 251)) * 36)  # garbage, the same each time
            else:
                os.truncate(path, [0, 1000, 5000][round // 2])
            self.until_frame(i, lambda f: f.flags == MISSING, "frame without")
            net.close()
        self.assertIn(i.status()["state"], ("running", "degraded"))  # degraded: a busy machine drops pairs
        net = self.segmenter(i)
        self.steady(net, 0, 8)
        self.until_frame(i, lambda f: f.flags == SCORES and f.label == 8, "frame with scores")
        self.assertEqual(i.stop(), 0)

    def test_daemon_before_and_after_the_writer(self):
        i = self.instance(binary=FAKE)
        env = {"FAKE_INTERVAL_US": 10000}
        net = None
        for _ in range(2):  # the second time, the writer starts before the daemon
            i.start(*ARGS, "-s", "source.fps=25", env=env)
            if not net:
                net = self.segmenter(i)
                self.steady(net, 0, 4)
            self.until_frame(i, lambda f: f.flags == SCORES and f.label == 4, "frame with scores")
            self.assertEqual(i.stop(), 0)

    def test_lost_camera(self):
        # The memory of scores is pinned and unpinned with the memory of the source, even if the source was absent at
        # first.
        for env in ({"lose_at": 30}, {"absent": 1}):
            i = self.fake("-s", "source.fps=25", "-s", "source.size=64x48", interval_us=10000, **env)
            self.steady(self.segmenter(i), 0, 4)
            if "lose_at" in env:
                i.until_state("no_camera")
            i.until_state("running")
            self.until_frame(i, lambda f: f.flags == SCORES and f.label == 4, "frame with scores")
            self.assertEqual(i.stop(), 0)


if __name__ == "__main__":
    unittest.main()
