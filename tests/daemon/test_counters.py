# What raises each counter of /status and /metrics: a cause, and that the counter has it in both documents. The table at the
# end says which test shows it; a counter without one fails.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import time
import unittest

import openmetrics
from harness import FAKE, SMALL, TestCase, receive, until

ARGS = ["-s", "source.kind=synthetic", "-s", "stixels.width=4"]
CAMERAS = ["-s", "source.kind=v4l2", "-s", "source.left=/dev/left", "-s", "source.right=/dev/right", "-s", "camera.fx=0",
           "-s", "camera.fy=0", "-s", "camera.baseline_m=0", "-s", "stixels.width=4"]
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIGURES = os.path.join(TESTS, "..", "ipc", "figures.def")

HERE = "daemon/test_counters.py:"
SHOWN = {
    "INPUT_COPIES_IN": "daemon/test_module.py:test_computes",
    "INPUT_COPIES_OUT": "daemon/test_module.py:test_computes",
    "INPUT_STAGED": "daemon/test_module.py:test_memory_that_cannot_be_pinned",
    "FRAMES_CAPTURED": HERE + "test_pairs_that_were_captured_and_published",
    "FRAMES_PUBLISHED": HERE + "test_pairs_that_were_captured_and_published",
    "FRAMES_BLIND": "daemon/test_pictures.py:test_white_covered_and_frozen",
    "DROPPED_OVERLOAD": HERE + "test_overload",
    "DROPPED_UNPAIRED": HERE + "test_what_cameras_lose",
    "DROPPED_CORRUPT": HERE + "test_unreadable",
    "DROPPED_NO_MAP": HERE + "test_no_map",
    "DROPPED_TEARDOWN": HERE + "test_teardown",
    "ROW_CORRECTIONS": "daemon/test_pictures.py:test_corrected",
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
    "MAPS_LATE": "daemon/test_external.py:test_matched",
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


class Counters(TestCase):
    def fake(self, *args, **env):
        i = self.instance(binary=FAKE)
        i.start(*args, env={"FAKE_" + k.upper(): v for k, v in env.items()})
        return i

    def metric(self, i, family, **labels):
        """The total of a counter in /metrics."""
        return int(openmetrics.value(openmetrics.parse(i.http("/metrics")[2]), family, "_total", **labels))

    def dropped(self, i, reason):
        """The same number in both documents, of a daemon that is quiet."""
        status = i.status()["frames"]["dropped"][reason]
        self.assertEqual(self.metric(i, "stixeld_frames_dropped", reason=reason), status)
        return status

    def quiet(self, i):
        """The frames of a status that does not change any more."""
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
        """Each pair that a newer one replaced, and no other."""
        i = self.fake(*ARGS, "-s", "engine.contexts=1", interval_us=4000, compute_us=20000, silent_at=201)
        f = self.quiet(i)
        self.assertEqual((f["captured"], f["published"] + f["dropped"]["overload"]), (200, 200))
        self.assertGreater(self.dropped(i, "overload"), 100)
        self.assertEqual([f["dropped"][k] for k in ("unpaired", "corrupt", "no_map", "teardown")], [0] * 4)

    def test_teardown(self):
        """The pair that waits when a ring is made anew; the engine keeps up until then, and goes on to."""
        i = self.fake(*ARGS, "-s", "engine.contexts=1", interval_us=60000, compute_us=50000)
        i.until_published(3)
        before = i.status()["frames"]["dropped"]["overload"]
        for _ in range(40):
            old = i.ring()
            os.unlink(i.ring_path)
            until(lambda: old.live()[0] == "closed" and os.path.exists(i.ring_path), 5, "another ring")
            if i.status()["frames"]["dropped"]["teardown"]:
                break
        f = i.status()["frames"]
        self.assertGreater(f["dropped"]["teardown"], 0)
        self.assertEqual(self.metric(i, "stixeld_frames_dropped", reason="teardown"), f["dropped"]["teardown"])
        # a busy machine makes the engine late now and then, by itself
        self.assertLess(f["dropped"]["overload"] - before, 5)
        self.assertIn(f["captured"] - f["published"] - sum(f["dropped"][k] for k in ("overload", "teardown")), range(3))

    def test_unreadable(self):
        i = self.fake(*ARGS, interval_us=5000, compute_us=500, corrupt_every=4, silent_at=41)
        f = self.quiet(i)
        self.assertEqual(self.dropped(i, "corrupt"), 10)
        self.assertEqual(f["captured"], 30)  # an unreadable one was captured as no pair

    def test_no_map(self):
        i = self.fake(*ARGS, "-s", "stereo.matcher=external", "-s", "external.source=nobody", interval_us=10000)
        until(lambda: i.status()["frames"]["dropped"]["no_map"] > 3, 10, "pairs without a map")
        at_least = i.status()["frames"]["dropped"]["no_map"]
        self.assertGreaterEqual(self.metric(i, "stixeld_frames_dropped", reason="no_map"), at_least)

    def test_what_cameras_lose(self):
        """What the source counts of each side, which the tests of capture/v4l2 show by its causes."""
        i = self.fake(*CAMERAS, interval_us=5000, compute_us=500, lose_every=10, silent_at=41)
        f = self.quiet(i)
        self.assertEqual(self.dropped(i, "unpaired"), 8)
        self.assertEqual(f["captured"], 40 + 5 * 4)  # pairs that the source itself dropped by overload are among them
        for side, c in zip(("left", "right"), i.status()["source"]["cameras"]):
            of = {k: self.metric(i, "stixeld_camera_" + k, side=side) for k in ("captured", "errors", "sequence_gaps")}
            self.assertEqual((c["captured"], c["errors"], c["sequence_gaps"]), (40 + 4 * 21, 4 * (1 + 2 + 3), 4))
            self.assertEqual(of, {k: c[k] for k in of})
            self.assertEqual(c["dropped"], {"drop%d" % k: 4 * (k + 1) for k in range(6)})
            for reason, images in c["dropped"].items():
                self.assertEqual(self.metric(i, "stixeld_camera_dropped", side=side, reason=reason), images)

    def test_a_camera_that_came_back(self):
        i = self.fake(*CAMERAS, interval_us=5000, compute_us=500, lose_at=10)
        until(lambda: i.status()["source"]["cameras"][1]["reconnects"] == 1, 15, "the camera")
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
        until(lambda: i.status()["stream"]["refused"] > 0, 10, "a client too many")
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
        until(lambda: i.status()["log"]["lines"] == len(i.text().splitlines()), 10, "all lines")
        self.assertEqual(self.metric(i, "stixeld_log_lines"), len(i.text().splitlines()))
        self.assertEqual((i.status()["log"]["lost"], self.metric(i, "stixeld_log_lines_lost")), (0, 0))


class Table(unittest.TestCase):
    def test_every_counter_has_its_test(self):
        with open(FIGURES, encoding="utf-8") as f:
            text = f.read()
        counters = set(re.findall(r"(?m)^FAMILY\((\w+), \"\w+\", COUNTER,", text))
        wanted = {name for name, kind, family in re.findall(
            r"(?m)^FIGURE\((\w+), (\w+), \"[^\"]*\", [^,]+, (\w+)", text) if kind == "COUNTED" or family in counters}
        wanted |= {"STREAM_ACCEPTED", "STREAM_GARBAGE"}  # in /status alone
        wanted |= {"CAMERA_" + name for name in re.findall(r"(?m)^CAMERA_FIGURE\((\w+),", text)}
        self.assertEqual(set(SHOWN), wanted)
        for name, place in SHOWN.items():
            path, test = place.split(":")
            with open(os.path.join(TESTS, path), encoding="utf-8") as f:
                self.assertRegex(f.read(), r"(?m)^( +def %s\(|static void %s\()" % (test, test), name)


if __name__ == "__main__":
    unittest.main()
