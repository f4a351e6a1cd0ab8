# Compares the metrics of /status and /metrics with independent measurements: of a client that counts frames and reads
# its own clock, and of a source and an engine (fake.c) with known delays. The table SHOWN names the test that raises
# each counter. A counter without a test fails.
#
# SPDX-License-Identifier: Apache-2.0
import math
import os
import re
import socket
import threading
import time
import unittest

import openmetrics
from harness import FAKE, IDLE, SMALL, Frame, TestCase, receive, until

BUCKET = 1.017  # half a bucket of the histogram, and the rounding of nanoseconds
ARGS = ["-s", "source.kind=synthetic", "-s", "stixels.width=4"]
CAMERAS = ["-s", "source.kind=v4l2", "-s", "source.left=/dev/left", "-s", "source.right=/dev/right",
           "-s", "camera.fx=0", "-s", "camera.fy=0", "-s", "camera.baseline_m=0", "-s", "stixels.width=4"]
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
METRICS_DEF = os.path.join(TESTS, "..", "ipc", "metrics.def")

HERE = "daemon/test_metrics.py:"
SHOWN = {
    "INPUT_COPIES_IN": "daemon/test_module.py:test_computes",
    "INPUT_COPIES_OUT": "daemon/test_module.py:test_computes",
    "INPUT_STAGED": "daemon/test_module.py:test_memory_that_cannot_be_pinned",
    "FRAMES_CAPTURED": HERE + "test_pairs_that_were_captured_and_published",
    "FRAMES_PUBLISHED": HERE + "test_pairs_that_were_captured_and_published",
    "FRAMES_BLIND": "daemon/test_image_stats.py:test_white_covered_and_frozen",
    "DROPPED_OVERLOAD": HERE + "test_overload",
    "DROPPED_UNPAIRED": HERE + "test_what_cameras_lose",
    "DROPPED_CORRUPT": HERE + "test_unreadable",
    "DROPPED_NO_MAP": HERE + "test_no_map",
    "DROPPED_TEARDOWN": HERE + "test_teardown",
    "MOTION_KNOWN": "quality/motion/test_daemon.py:test_right_range",
    "MOTION_UNKNOWN": "quality/motion/test_daemon.py:test_right_range",
    "ROW_CORRECTIONS": "daemon/test_image_stats.py:test_corrected",
    "SCORES_MATCHED": "daemon/test_semantics.py:test_matched",
    "SCORES_OLDER": "daemon/test_semantics.py:test_older_ones_stand_in",
    "SCORES_MISSING": "daemon/test_semantics.py:test_nobody_writes",
    "SCORES_RECEIVED": "daemon/test_semantics.py:test_late",
    "SCORES_IN_TIME": "daemon/test_semantics.py:test_late",
    "SCORES_LATE": "daemon/test_semantics.py:test_late",
    "SCORES_LOST": "ipc/test_scores.c:late_and_lost_are_counted",
    "SCORES_REFUSED": "daemon/test_semantics.py:test_wrong_writers_then_a_right_one",
    "SCORES_RESTARTS": "daemon/test_semantics.py:test_killed_in_the_middle",
    "MAPS_RECEIVED": "daemon/test_external.py:test_wrong_writer_then_killed_ones",
    "MAPS_IN_TIME": "daemon/test_external.py:test_matched",
    "MAPS_LATE": "daemon/test_external.py:test_a_pair_waits_for_its_map",
    "MAPS_LOST": "daemon/test_telemetry.c:counters_of_a_feed_outlive_it",
    "MAPS_REFUSED": "daemon/test_external.py:test_wrong_writer_then_killed_ones",
    "MAPS_RESTARTS": "daemon/test_external.py:test_wrong_writer_then_killed_ones",
    "ENERGY_JOULES": "daemon/test_power.py:test_a_ramp",
    "ENERGY_FRAMES": "daemon/test_power.py:test_a_ramp",
    "STREAM_DROPPED": HERE + "test_clients_of_the_stream",
    "STREAM_SENT": HERE + "test_clients_of_the_stream",
    "STREAM_ACCEPTED": HERE + "test_clients_of_the_stream",
    "STREAM_REFUSED": HERE + "test_clients_of_the_stream",
    "STREAM_GARBAGE": HERE + "test_clients_of_the_stream",
    "LOG_LINES": HERE + "test_log_lines",
    "LOG_LOST": "base/test_log.c:a_full_ring_counts_what_it_loses",
    "CAMERA_CAPTURED": HERE + "test_what_cameras_lose",
    "CAMERA_ERRORS": HERE + "test_what_cameras_lose",
    "CAMERA_GAPS": HERE + "test_what_cameras_lose",
    "CAMERA_RECONNECTS": HERE + "test_a_camera_that_came_back",
}


def rank(values, permille):
    """Returns the value of rank ceil(n * permille / 1000), as base/statistics/histogram.h defines it."""
    return sorted(values)[max(1, math.ceil(len(values) * permille / 1000)) - 1]


class Client(threading.Thread):
    """Receives frames as packets. Notes the arrival time of each frame on this process's clock."""

    def __init__(self, test, instance):
        super().__init__(daemon=True)
        self.socket = test.stream(instance)
        self.socket.settimeout(0.2)
        self.frames, self.stopped = [], False
        self.start()

    def run(self):
        while not self.stopped:
            try:
                data = self.socket.recv(1 << 20)
            except socket.timeout:
                continue
            now = time.monotonic_ns()
            if not data:
                return
            self.frames.append((now, Frame(data)))

    def end(self):
        self.stopped = True
        self.join()
        return self.frames


class Metrics(TestCase):
    def fake(self, *args, **env):
        i = self.instance(binary=FAKE)
        i.start("-s", "source.kind=synthetic", "-s", "stixels.width=4", "-s", "output.slots=1024", *args,
                env={"FAKE_" + k.upper(): v for k, v in env.items()})
        return i

    def test_frames_per_second(self):
        """The rate is what a client counts, and 0 after frames have stopped."""
        i = self.fake(interval_us=20000, compute_us=1000, silent_at=200)
        client = Client(self, i)
        until(lambda: len(client.frames) >= 120, 30, "frames")
        now, status = time.monotonic_ns(), i.status()
        times = [t for t, _ in client.frames]
        for window, key in ((1, "last_1s"), (10, "last_10s")):
            seen = [t for t in times if now - window * 10**9 <= t <= now]
            counted = (len(seen) - 1) / (seen[-1] - seen[0]) * 1e9
            self.assertGreater(status["fps"][key], 0)
            if IDLE:
                self.assertAlmostEqual(status["fps"][key] / counted, 1, delta=0.08, msg=key)
        until(lambda: i.status()["frames"]["captured"] == 199, 30, "the last pair")
        until(lambda: i.status()["fps"]["last_1s"] < 1, 30, "a rate that sinks")
        self.assertGreater(i.status()["fps"]["last_10s"], 1)
        client.end()
        families = openmetrics.parse(i.http("/metrics")[2])
        self.assertLess(openmetrics.value(families, "stixeld_frames_per_second", window="1s"), 1)
        i.stop()

    def test_latency_of_known_delays(self):
        """A pair comes 30 ms after its capture, and the engine takes 40 ms. The reported latency is at least the sum
        and at most what a client sees."""
        late, compute = 30000, 40000
        i = self.fake("-s", "engine.contexts=1", interval_us=100000, late_us=late, compute_us=compute, pairs=30,
                      skew_us=700)
        client = Client(self, i)
        until(lambda: len(client.frames) >= 25, 30, "frames")
        status, frames = i.status(), client.end()
        table = status["latency_us"]
        whole = table["capture_to_publish"]
        self.assertGreater(whole["p50"] * BUCKET, late + compute)
        self.assertGreater(table["capture_to_engine"]["p50"] * BUCKET, late)
        self.assertGreater(table["engine_to_result"]["p50"] * BUCKET, compute)
        # A frame arrives at the client one wake-up after its entry in the ring. On a busy machine the slowest frames
        # are not compared.
        arrived = rank([(t - min(f.left_ns, f.right_ns)) / 1000 for t, f in frames], 500)
        self.assertLess(whole["p50"] / BUCKET, arrived)
        self.assertLess(arrived - whole["p50"], 20000)
        parts = sum(table[k]["p50"] for k in ("capture_to_engine", "engine_to_result", "result_to_publish"))
        self.assertAlmostEqual(parts / whole["p50"], 1, delta=0.1)
        self.assertAlmostEqual(status["source"]["pair_skew_us"]["p50"] / 700, 1, delta=BUCKET - 1)
        self.assertEqual(table["result_to_publish"]["n"], whole["n"])

    def test_asked_for_in_time(self):
        """The frame thread polls for a frame around its expected end. If the frame takes longer, the thread sleeps
        until it is done."""
        compute, longer, late = 20000, 30000, 60000
        for nearly in (0, 3000):
            i = self.fake("-s", "engine.contexts=1", interval_us=150000, compute_us=compute, jitter_us=longer,
                          tell_late_us=late, nearly_us=nearly, pairs=12)
            until(lambda i=i: i.status()["frames"]["published"] >= 10, 30, "frames")
            spent = [((f.published_ns - f.submitted_ns) / 1000, f.number % 2) for f in i.ring().frames()]
            for us, is_longer in spent:
                self.assertGreaterEqual(us, compute + is_longer * longer)
                if not nearly:
                    self.assertGreaterEqual(us, compute + late)
            if nearly:
                self.assertLess(rank([us for us, is_longer in spent if not is_longer], 500), compute + late / 2)
                # on a busy machine most frames: a poll may itself be so late that the frame is done
                self.assertGreaterEqual(rank([us for us, is_longer in spent if is_longer], 1 if IDLE else 500),
                                        compute + late)
            i.stop()

    def test_quantiles_of_all_frames(self):
        """The ring still holds every frame. The quantiles and the sums match the values in the frame headers."""
        i = self.fake(interval_us=3000, compute_us=500, jitter_us=4000, silent_at=300)
        until(lambda: (lambda f: f["captured"] == 299 and
                       f["published"] + sum(f["dropped"].values()) == 299)(i.status()["frames"]), 30, "all frames")
        status, metrics = i.status(), openmetrics.parse(i.http("/metrics")[2])
        frames = i.ring().frames()
        self.assertEqual(len(frames), status["latency_us"]["engine_to_result"]["n"])
        self.assertGreater(len(frames), 200)
        spent = [(f.published_ns - f.submitted_ns) / 1000 for f in frames]
        told = status["latency_us"]["engine_to_result"]
        for key, permille in (("p50", 500), ("p90", 900), ("p99", 990)):
            want = rank(spent, permille)
            self.assertTrue(want / BUCKET <= told[key] <= want * BUCKET, (key, told[key], want))
        self.assertAlmostEqual(told["max"], max(spent), delta=0.001)
        total = openmetrics.value(metrics, "stixeld_latency_part_seconds", "_sum", part="engine_to_result")
        count = openmetrics.value(metrics, "stixeld_latency_part_seconds", "_count", part="engine_to_result")
        self.assertAlmostEqual(total * 1e6 / sum(spent), 1, delta=1e-6)
        self.assertEqual(count, len(frames))
        i.stop()


class Counters(TestCase):
    def fake(self, *args, **env):
        i = self.instance(binary=FAKE)
        i.start(*args, env={"FAKE_" + k.upper(): v for k, v in env.items()})
        return i

    def metric(self, i, family, **labels):
        """Returns the total of a counter in /metrics."""
        return int(openmetrics.value(openmetrics.parse(i.http("/metrics")[2]), family, "_total", **labels))

    def dropped(self, i, reason):
        """Returns the number of dropped pairs of a quiet daemon. /status and /metrics must agree."""
        status = i.status()["frames"]["dropped"][reason]
        self.assertEqual(self.metric(i, "stixeld_frames_dropped", reason=reason), status)
        return status

    def quiet(self, i):
        """Returns the frame counters of a status that no longer changes."""
        return until(lambda: (lambda a, b: a if a == b and a["published"] else None)(
            i.status()["frames"], (time.sleep(0.3), i.status()["frames"])[1]), 20, "no more pairs")

    def test_pairs_that_were_captured_and_published(self):
        i = self.fake(*ARGS, interval_us=5000, compute_us=500, silent_at=41)
        f = self.quiet(i)
        self.assertEqual(f["captured"], 40)
        self.assertEqual(f["published"] + f["dropped"]["overload"], 40)
        self.assertEqual(self.metric(i, "stixeld_pairs_captured"), 40)
        self.assertEqual(self.metric(i, "stixeld_frames_published"), f["published"])

    def test_overload(self):
        """overload counts each pair that a newer pair replaced, and no other pair."""
        i = self.fake(*ARGS, "-s", "engine.contexts=1", interval_us=4000, compute_us=20000, silent_at=201)
        f = self.quiet(i)
        self.assertEqual((f["captured"], f["published"] + f["dropped"]["overload"]), (200, 200))
        self.assertGreater(self.dropped(i, "overload"), 100)
        self.assertEqual([f["dropped"][k] for k in ("unpaired", "corrupt", "no_map", "teardown")], [0] * 4)

    def test_teardown(self):
        """A pair waits while a ring is created again. No newer pair replaced it, so it does not count as overload."""
        i = self.fake(*ARGS, "-s", "engine.contexts=1", interval_us=40000, compute_us=100000)
        i.until_published(2)  # a pair waits most of the time from here on
        for _ in range(20):
            old = i.ring()
            os.unlink(i.ring_path)
            until(lambda: old.live()[0] == "closed" and os.path.exists(i.ring_path), 30, "another ring")
            time.sleep(0.15)
            if i.status()["frames"]["dropped"]["teardown"]:
                break
        f = i.status()["frames"]
        self.assertGreater(f["dropped"]["teardown"], 0)
        self.assertGreaterEqual(self.metric(i, "stixeld_frames_dropped", reason="teardown"), f["dropped"]["teardown"])
        # at most three pairs: in the engine, waiting, and held by the capture thread
        held = f["captured"] - f["published"] - sum(f["dropped"][k] for k in ("overload", "teardown"))
        self.assertIn(held, range(4))

    def test_unreadable(self):
        i = self.fake(*ARGS, interval_us=5000, compute_us=500, corrupt_every=4, silent_at=41)
        f = self.quiet(i)
        self.assertEqual(self.dropped(i, "corrupt"), 10)
        self.assertEqual(f["captured"], 30)  # an unreadable pair does not count as captured

    def test_no_map(self):
        i = self.fake(*ARGS, "-s", "stereo.matcher=external", "-s", "external.source=nobody", interval_us=10000)
        until(lambda: i.status()["frames"]["dropped"]["no_map"] > 3, 30, "pairs without a map")
        at_least = i.status()["frames"]["dropped"]["no_map"]
        self.assertGreaterEqual(self.metric(i, "stixeld_frames_dropped", reason="no_map"), at_least)

    def test_what_cameras_lose(self):
        """Shows what the source counts for each side. The tests of capture/v4l2 show the causes."""
        i = self.fake(*CAMERAS, interval_us=5000, compute_us=500, lose_every=10, silent_at=41)
        f = self.quiet(i)
        self.assertEqual(self.dropped(i, "unpaired"), 8)
        self.assertEqual(f["captured"], 40 + 5 * 4)  # includes pairs that the source itself dropped as overload
        for side, c in zip(("left", "right"), i.status()["source"]["cameras"]):
            of = {k: self.metric(i, "stixeld_camera_" + k, side=side) for k in ("captured", "errors", "sequence_gaps")}
            self.assertEqual((c["captured"], c["errors"], c["sequence_gaps"]), (40 + 4 * 21, 4 * (1 + 2 + 3), 4))
            self.assertEqual(of, {k: c[k] for k in of})
            self.assertEqual(c["dropped"], {"drop%d" % k: 4 * (k + 1) for k in range(6)})
            for reason, images in c["dropped"].items():
                self.assertEqual(self.metric(i, "stixeld_camera_dropped", side=side, reason=reason), images)

    def test_a_camera_that_came_back(self):
        i = self.fake(*CAMERAS, interval_us=5000, compute_us=500, lose_at=10)
        until(lambda: [c["reconnects"] for c in i.status()["source"]["cameras"]] == [1, 1], 30, "the camera")
        self.assertEqual(self.metric(i, "stixeld_camera_reconnects", side="right"), 1)

    def test_clients_of_the_stream(self):
        i = self.fake(*ARGS, interval_us=2000, compute_us=200)
        slow, good, wrong = (i.stream() for _ in range(3))
        self.addCleanup(slow.close)
        for s in (good, wrong):
            self.addCleanup(s.close)
        wrong.send(b"x")
        self.assertEqual(len(receive(good, 15)), 15)
        until(lambda: i.status()["stream"]["dropped"] > 0, 30, "frames that the slow client missed")
        many = [i.stream() for _ in range(16)]
        until(lambda: i.status()["stream"]["refused"] > 0, 30, "a client too many")
        for s in many:
            s.close()
        found = i.status()["stream"]
        self.assertGreaterEqual(found["accepted"], 3 + 13)
        self.assertGreaterEqual(found["sent"], 15)
        self.assertEqual(found["garbage"], 1)
        for key, family in (("sent", "frames_sent"), ("dropped", "frames_dropped"), ("refused", "clients_refused")):
            self.assertGreaterEqual(self.metric(i, "stixeld_stream_" + family), found[key])

    def test_log_lines(self):
        i = self.instance()
        i.start(*SMALL)
        i.until_published(2)
        until(lambda: i.status()["log"]["lines"] == len(i.text().splitlines()), 30, "all lines")
        self.assertEqual(self.metric(i, "stixeld_log_lines"), len(i.text().splitlines()))
        self.assertEqual((i.status()["log"]["lost"], self.metric(i, "stixeld_log_lines_lost")), (0, 0))


class Table(unittest.TestCase):
    def test_every_counter_has_its_test(self):
        with open(METRICS_DEF, encoding="utf-8") as f:
            text = f.read()
        counters = set(re.findall(r"(?m)^FAMILY\((\w+), \"\w+\", COUNTER,", text))
        wanted = {name for name, kind, family in re.findall(
            r"(?m)^METRIC\((\w+), (\w+), \"[^\"]*\", [^,]+, (\w+)", text) if kind == "COUNTED" or family in counters}
        wanted |= {"STREAM_ACCEPTED", "STREAM_GARBAGE"}  # in /status alone
        wanted |= {"CAMERA_" + name for name in re.findall(r"(?m)^CAMERA_METRIC\((\w+),", text)}
        self.assertEqual(set(SHOWN), wanted)
        for name, place in SHOWN.items():
            path, test = place.split(":")
            with open(os.path.join(TESTS, path), encoding="utf-8") as f:
                self.assertRegex(f.read(), r"(?m)^( +def %s\(|static void %s\()" % (test, test), name)


if __name__ == "__main__":
    unittest.main()
