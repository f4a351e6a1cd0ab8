# Tests disparity maps from another process with a fake source and engine (fake.c): which pairs become frames, which are
# dropped, the counters and messages, and a writer that dies, writes nonsense, or truncates its memory.
#
# SPDX-License-Identifier: Apache-2.0
import itertools
import os
import signal
import time
import unittest

import openmetrics
from harness import FAKE, IDLE, Ring, TestCase, until
from test_semantics import SLOW, Segmenter, Steady

ARGS = ["-s", "source.kind=synthetic", "-s", "stixels.width=4", "-s", "output.slots=1024",
        "-s", "stereo.matcher=external", "-s", "external.source=net"]


class External(TestCase):
    def fake(self, *args, **env):
        i = self.instance(binary=FAKE)
        i.start(*ARGS, *args, env={"FAKE_" + k.upper(): v for k, v in env.items()})
        return i

    def matcher(self, i, size="64x48", confidence=1):
        s = Segmenter(i, classes="map", size=size, scale=confidence)
        self.addCleanup(s.close)
        return s

    def steady(self, *args, **more):
        s = Steady(*args, **more)
        self.addCleanup(s.close)
        return s

    def until_state(self, i, condition, what):
        return until(lambda: (lambda s: s if condition(s) else None)(i.status()), 30, what)

    def until_frame(self, i, condition, what):
        ring = i.ring()
        return until(lambda: next((f for f in ring.frames() if condition(f)), None), 30, what)

    def test_nobody_writes(self):
        i = self.fake(interval_us=5000)
        s = self.until_state(i, lambda s: s["frames"]["dropped"]["no_map"] > 40 and s["state"] == "degraded", "drops")
        self.assertEqual(s["external"]["state"], "absent")
        why = "no process writes disparity maps: there is no %s/stixel-disparity.net" % i.shm
        self.assertEqual(s["external"]["reason"], why)
        self.assertRegex(s["reason"],
                         r"^\d+ of the last \d+ pairs had no disparity map: no process writes disparity maps")
        self.assertEqual(s["frames"]["published"], 0)  # newer pairs may replace some on a busy machine
        self.assertEqual(i.http("/healthz")[0], 503)
        # now a matcher starts
        self.steady(self.matcher(i), 0, 7)
        self.assertEqual(self.until_frame(i, lambda f: True, "frame").label, 7)
        until(lambda: i.http("/healthz")[0] == 200, 30, "healthy answer")
        self.assertEqual(i.stop(), 0)
        given_up = "pair given up without its disparity map: no process writes disparity maps"
        self.assertEqual(i.text().count(given_up), 1, i.text())

    def test_matched(self):
        # 4 ms between maps, half of 40 ms is the tolerance
        i = self.fake("-s", "source.fps=25", interval_us=40000)
        self.steady(self.matcher(i, confidence=0), 0, 77)
        s = self.until_state(i, lambda s: s["frames"]["published"] > 5, "frames")
        self.assertTrue(all(f.label == 77 and f.flags == 32 for f in i.ring().frames()))
        e = s["external"]
        self.assertEqual((e["source"], e["state"], e["reason"], e["maps"]["refused"], e["maps"]["restarts"]),
                         ("net", "reading", None, 0, 0))
        m = openmetrics.parse(i.http("/metrics")[2])
        value = openmetrics.value
        self.assertEqual(value(m, "stixeld_disparity_maps_state", stixeld_disparity_maps_state="reading"), 1)
        self.assertGreater(value(m, "stixeld_disparity_maps", "_total", fate="in_time"), 5)
        self.assertEqual(value(m, "stixeld_disparity_maps_restarts", "_total"), 0)
        self.assertGreaterEqual(value(m, "stixeld_frames_dropped", "_total", reason="no_map"), 0)
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "use", "metrics.md")) as f:
            documented = f.read()
        for name in m:
            self.assertIn("`%s`" % name, documented)

    def test_a_pair_waits_for_its_map(self):
        # Matching takes 30 ms. A map belongs to the picture within 10 ms.
        i = self.fake("-s", "source.fps=50", "-s", "external.wait_ms=%d" % (200 * SLOW), interval_us=250000 * SLOW)
        net = self.matcher(i)
        steady = self.steady(net, 0.03, 5)
        self.until_state(i, lambda s: s["frames"]["published"] > 6, "frames")
        waited = [f.submitted_ns - f.left_ns for f in i.ring().frames()]
        self.assertGreater(min(waited), 10e6)
        if IDLE:
            self.assertLess(max(waited), 200e6 * SLOW + 50e6)
        steady.close()
        # The writer works, but never reaches this picture. The wait ends, and the pair is dropped.
        dropped = i.status()["frames"]["dropped"]["no_map"]
        behind = self.steady(net, 2, 6)
        self.until_state(i, lambda s: s["frames"]["dropped"]["no_map"] > dropped + 1, "pairs without a map")
        self.assertTrue(all(f.label == 5 for f in i.ring().frames()))
        self.until_state(i, lambda s: s["external"]["maps"]["late"] > 0, "a map of a pair that was given up")
        behind.close()
        begun = time.monotonic()
        self.assertEqual(i.stop(), 0)
        if IDLE:
            self.assertLess(time.monotonic() - begun, 2 * SLOW)
        self.assertEqual(i.leftovers(), ["shm/stixel-disparity.net"])

    def test_scores_are_kept_while_the_map_is_waited_for(self):
        # Maps come 100 ms after their picture. Scores come in time, and their ring keeps the last 32 ms.
        i = self.fake("-s", "source.fps=50", "-s", "external.wait_ms=%d" % (300 * SLOW), "-s", "semantics.source=net",
                      interval_us=250000 * SLOW)
        network = Segmenter(i)
        self.addCleanup(network.close)
        self.steady(network, 0, 3)
        self.steady(self.matcher(i), 0.1, 5)
        s = self.until_state(i, lambda s: s["semantics"]["frames"]["matched"] > 4, "frames with scores and map")
        ring = i.ring()

        def with_both():  # a frame is counted before it is in the ring
            frames = [f for f in ring.frames() if f.flags == 32 | 4]
            return frames if len(frames) > 4 else None
        for f in until(with_both, 30, "frames with scores and map in the ring"):
            self.assertLessEqual(abs(f.scores_ns - f.left_ns), 10e6)
            self.assertGreater(f.submitted_ns - f.left_ns, 80e6)
        # the counters of scores count frames, not pairs
        by_scores = s["semantics"]["frames"]
        self.assertLessEqual(abs(sum(by_scores.values()) - s["frames"]["published"]), 1)

    def test_with_pairs_offered_times_are_the_same(self):
        i = self.fake("-s", "source.fps=4", "-s", "external.pairs=yes", "-s", "external.wait_ms=%d" % (150 * SLOW),
                      interval_us=250000 * SLOW)
        net = self.matcher(i)
        until(lambda: os.path.exists(i.ring_path + ".pairs"), 30, "ring of pairs")
        offered = Ring(i.ring_path + ".pairs")

        def next_pair(number):
            return until(lambda: offered.frame(offered.live()[2]) if offered.live()[2] > number else None, 30, "pair")
        def published():
            return i.status()["frames"]["published"]
        pair = next_pair(0)
        for byte in (1, 2, 3):  # map 2 has the time of 1 ms later: it belongs to no pair
            before = published()
            while True:  # on a busy machine a map may miss its pair: then the next pair gets one
                net.give(pair.left_ns + (byte == 2) * 1000000, byte)
                pair = next_pair(pair.number)
                if byte == 2 or published() > before:
                    break
        self.until_state(i, lambda s: s["frames"]["dropped"]["no_map"] > 0, "a pair without a map")
        until(lambda: [label for label, _ in itertools.groupby(f.label for f in i.ring().frames())] == [1, 3], 30,
              "frames of maps 1 and 3 alone")
        until(lambda: i.ring_state()[0] == "running" == offered.live()[0], 30, "state of both rings")
        net.close()
        self.until_state(i, lambda s: s["state"] == "degraded", "degraded")
        until(lambda: offered.live()[0] == "degraded", 30, "state of the offered ring")

    def test_wrong_writer_then_killed_ones(self):
        i = self.fake("-s", "source.fps=2", interval_us=10000)
        wrong = self.matcher(i, size="65x48")
        wrong.give(time.monotonic_ns(), 1)
        s = self.until_state(i, lambda s: s["external"]["state"] == "refused", "refusal")
        self.assertEqual(s["external"]["reason"],
                         "disparity maps of 65x48 pixels: expected are 64x48, as the left image has")
        wrong.close()
        for life in range(1, 5):
            net = self.matcher(i)
            net.give(time.monotonic_ns(), life)
            self.until_frame(i, lambda f, b=life: f.label == b, "frame of life %d" % life)
            if life % 2:
                self.assertEqual(net.tell("begin 99"), "ok")
            net.kill()
        s = i.status()["external"]["maps"]
        self.assertEqual((s["received"], s["refused"], s["restarts"]), (4, 1, 4))
        self.assertTrue(all(f.label != 99 for f in i.ring().frames()))

    def test_a_ring_that_is_cut_short_or_filled_with_garbage(self):
        i = self.fake("-s", "source.fps=2", interval_us=20000)
        path = os.path.join(i.shm, "stixel-disparity.net")
        for round in range(4):
            net = self.matcher(i)
            for _ in range(9):  # one for each slot
                net.give(time.monotonic_ns(), round + 1)
            self.until_frame(i, lambda f, b=round + 1: f.label == b, "frame with a map")
            os.kill(net.process.pid, signal.SIGSTOP)  # keep it from touching files that are gone
            dropped = i.status()["frames"]["dropped"]["no_map"]
            if round % 2:
                with open(path, "r+b") as f:
                    f.seek(8 if round == 3 else 1024)
                    f.write(bytes(range(1, 251)) * 36)  # garbage, the same each time
            else:
                os.truncate(path, [0, 5000][round // 2])
            self.until_state(i, lambda s, d=dropped: s["frames"]["dropped"]["no_map"] > d, "pairs without a map")
            net.close()
        net = self.matcher(i)
        self.steady(net, 0, 8)
        self.until_frame(i, lambda f: f.label == 8, "frame with a map")

    def test_settings_that_contradict(self):
        for args, text in ((ARGS[:-2], "matcher: found 'external', but no source in [external] says whose maps"),
                           ([*ARGS, "-s", "external.source=a/b"], "[external] source: found 'a/b', allowed 1 to 64")):
            code, _, err = self.instance(binary=FAKE).run_once(*args)
            self.assertEqual(code, 78, err)
            self.assertIn(text, err)


if __name__ == "__main__":
    unittest.main()
