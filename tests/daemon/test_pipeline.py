# Tests the pipeline with a source and an engine that the test controls (fake.c): order, newest wins, lost cameras, hung
# and failing engines, the watchdog.
#
# SPDX-License-Identifier: Apache-2.0
import ctypes
import math
import os
import re
import signal
import socket
import struct
import time
import unittest

from harness import FAKE, IDLE, SANITIZED, TestCase, receive, until

ARGS = ["-s", "source.kind=synthetic", "-s", "stixels.width=4", "-s", "output.slots=1024"]


class Pipeline(TestCase):
    def fake(self, *args, **env):
        """Starts the daemon. Pairs come at once. With a gate, they come after self.ring() has mapped the ring, so
        that no frame is missed."""
        i = self.instance(binary=FAKE)
        env = {"FAKE_" + k.upper(): v for k, v in env.items()}
        if env.pop("FAKE_GATED", False):
            env["FAKE_GATE"] = i.top + "/gate"
        i.start(*ARGS, *args, env=env, notify=True)
        return i

    def ring(self, i):
        ring = i.ring()
        with open(i.top + "/gate", "w"):
            pass
        return ring

    def test_frames_leave_in_order_although_they_finish_out_of_order(self):
        for contexts in (1, 2, 3, 4):
            with self.subTest(contexts=contexts):
                i = self.fake("-s", "engine.contexts=%d" % contexts, gated=True, interval_us=4000, compute_us=1000,
                              jitter_us=5000, pairs=150)
                ring = self.ring(i)
                self.assertEqual(i.wait(), 0, i.text())
                frames = ring.frames()
                self.assertEqual([f.number for f in frames], list(range(1, len(frames) + 1)))
                self.assertGreater(len(frames), 30)
                self.assertEqual(ring.live()[0], "closed")
                for a, b in zip(frames, frames[1:]):
                    self.assertGreater(b.pair, a.pair)
                    self.assertGreaterEqual(b.published_ns, a.published_ns)
                for f in frames:
                    self.assertLessEqual(f.left_ns, f.submitted_ns)
                    self.assertLess(f.submitted_ns, f.published_ns)
                    self.assertEqual(f.stage_ns[2], (1000 + 5000 * (f.number % 2)) * 1000 + 1)
                    self.assertEqual(f.stage_names[2], "sgm")
                self.assertEqual(i.leftovers(), ["gate"])

    def test_a_source_that_gives_a_fraction_of_its_rate(self):
        # The pictures are those of a camera in the dark, then out of it. Ten seconds of the daemon last two seconds
        # here.
        i = self.instance(binary=FAKE)
        bright = os.path.join(i.top, "bright")
        i.start(*ARGS, "-s", "source.fps=60", notify=True,
                env={"FAKE_INTERVAL_US": 16667, "FAKE_DARK_US": 250000, "FAKE_BRIGHT": bright, "FAKE_TIMES": 5})
        i.until_state("running")
        s = i.until_state("degraded", 30)
        said = re.fullmatch(r"source gives (\d\.\d) of 60 pairs a second", s["reason"])
        self.assertTrue(said, s["reason"])
        self.assertLessEqual(float(said[1]), 4.2, s["reason"])
        if IDLE:
            self.assertGreaterEqual(float(said[1]), 3.0, s["reason"])
        self.assertGreater(s["uptime_s"], 10)  # the source is slow for many seconds, not for one
        self.assertTrue(i.until_message("STATUS=degraded: source gives "))
        self.assertEqual(i.health()[0], 200)  # frames come, and are good
        with open(bright, "w"):
            pass
        s = i.until_state("running", 30)
        self.assertIsNone(s["reason"])
        self.assertEqual(i.stop(), 0)

    def test_newest_wins(self):
        # Pairs come every 2 ms, and a frame takes 20 ms. Nine of ten pairs are dropped, and no published pair is old.
        i = self.fake("-s", "engine.contexts=1", gated=True, interval_us=2000, compute_us=20000, pairs=600)
        ring = self.ring(i)
        self.assertEqual(i.wait(), 0)
        frames = ring.frames()
        ages = sorted(f.submitted_ns - f.left_ns for f in frames)
        # A pair waits at most until the next pair replaces it. A submitted pair is therefore about one interval old.
        if IDLE:
            self.assertLess(ages[len(ages) // 2], 6e6)
        last = frames[-1]
        self.assertGreater(last.overload, 400)
        # each pair became a frame or was counted as dropped
        self.assertEqual(last.captured, 600)
        self.assertEqual(last.captured, last.published + last.overload)

    def test_without_a_pace_nothing_is_lost(self):
        i = self.fake("-s", "engine.contexts=2", gated=True, interval_us=0, compute_us=3000, jitter_us=2000, pairs=200)
        ring = self.ring(i)
        self.assertEqual(i.wait(), 0)
        frames = ring.frames()
        self.assertEqual([f.number for f in frames], list(range(1, 201)))
        self.assertTrue(all(f.pair == f.number for f in frames))
        self.assertEqual((frames[-1].captured, frames[-1].overload), (200, 0))

    def test_images_go_back_while_their_frame_is_computed(self):
        for interval in (0, 2000):
            i = self.fake("-s", "engine.contexts=2", gated=True, interval_us=interval, compute_us=3000, jitter_us=2000,
                          pairs=200, read_early=1)
            ring = self.ring(i)
            self.assertEqual(i.wait(), 0, i.text())
            frames = ring.frames()
            last = frames[-1]
            self.assertEqual((last.captured, last.published + last.overload), (200, 200))
            for a, b in zip(frames, frames[1:]):
                self.assertGreater(b.pair, a.pair)
                self.assertGreater(b.left_ns, a.left_ns)

    def test_frames_option_is_exact(self):
        for interval in (0, 1000):
            i = self.fake("--frames", "25", "-s", "engine.contexts=3", gated=True, interval_us=interval,
                          compute_us=2000)
            ring = self.ring(i)
            self.assertEqual(i.wait(), 0)
            self.assertEqual(ring.live()[2], 25)

    def test_the_whole_road_is_published(self):
        i = self.fake(gated=True, interval_us=10000, compute_us=1000)
        ring = self.ring(i)
        road = until(lambda: (lambda s: s["road"] if s["road"]["slope"] else None)(i.status()), 30, "a road")
        self.assertEqual([road[k] for k in ("slope", "offset", "cross", "axis", "bend", "bend_row", "horizon_row")],
                         [0.25, -5, 0.0625, 30, 0.125, 25, 20])
        self.assertAlmostEqual(road["roll_deg"], math.degrees(0.03125), places=5)
        self.assertAlmostEqual(road["pitch_sigma_deg"], math.degrees(0.0078125), places=5)
        self.assertAlmostEqual(road["roll_sigma_deg"], math.degrees(0.015625), places=5)
        self.assertEqual(road["height_sigma_m"], 0.25)
        self.assertIn("stixeld_road_roll_degrees 1.79", i.http("/metrics")[2])
        self.assertIn("stixeld_road_height_sigma_meters 0.25", i.http("/metrics")[2])
        i.stop()
        self.assertEqual({f.road for f in ring.frames()}, {(0.25, -5, 20, 0.0625, 30, 0.125, 25, 0.03125,
                                                           0.0078125, 0.015625, 0.25)})

    def test_age_of_the_road_counts_frames(self):
        for contexts in (1, 2, 4):
            i = self.fake("-s", "engine.contexts=%d" % contexts, gated=True, interval_us=0, compute_us=2000, pairs=60,
                          measure_every=20)
            ring = self.ring(i)
            self.assertEqual(i.wait(), 0)
            frames = ring.frames()
            self.assertEqual(len(frames), 60)
            for f in frames:
                since = (f.number - 1) % 20
                measured = f.number - since
                # frames submitted after a measured road was collected know this road
                if f.number > contexts and since == 0:
                    self.assertEqual((f.road_origin, f.road_age), (1, 0))
                elif since >= contexts:
                    self.assertEqual((f.road_origin, f.road_age), (2, since), (contexts, f.number, measured))

    def test_lost_camera_comes_back(self):
        i = self.fake(gated=True, interval_us=5000, compute_us=1000, lose_at=60)
        ring = self.ring(i)
        lost = i.until_state("no_camera")
        self.assertEqual(i.health()[0], 503)
        self.assertIn("camera", i.health()[1])
        until(lambda: i.ring_state()[0] == "no_camera", 30, "ring says no_camera")
        # the heartbeat continues at 2 Hz
        beats = set()
        end = time.monotonic() + 1.6
        while time.monotonic() < end:
            beats.add(i.ring_state()[1])
            time.sleep(0.02)
        self.assertGreaterEqual(len(beats), 3)
        s = i.until_state("running")
        self.assertEqual(s["pid"], lost["pid"])
        self.assertGreaterEqual(s["source"]["cameras"][0]["reconnects"], 1)
        i.until_published(lost["frames"]["published"] + 80)
        self.assertEqual(i.stop(), 0)
        frames = ring.frames()
        first = frames[0].number  # above 1 if the ring went round on a busy machine
        self.assertEqual([f.number for f in frames], list(range(first, first + len(frames))))
        self.assertEqual(len({f.epoch for f in frames}), 1)
        # the picture numbers of the new source start again, while `captured` continues
        self.assertTrue(all(b.captured >= a.captured for a, b in zip(frames, frames[1:])))
        self.assertIn("camera lost: fake: unplugged", i.text())
        self.assertEqual(i.leftovers(), ["gate"])

    def test_camera_comes_back_with_another_size(self):
        i = self.fake(gated=True, interval_us=5000, compute_us=1000, lose_at=60, width_after=128)
        self.ring(i)
        old = i.until_state("no_camera")
        os.unlink(i.top + "/gate")
        until(lambda: i.status()["epoch"] != old["epoch"], 30, "new epoch")
        # The device is back but delivers nothing. The state stays no_camera for that time.
        end = time.monotonic() + 0.6
        while time.monotonic() < end:
            s = i.status()
            self.assertEqual((s["state"], s["reason"]), ("no_camera", "fake: unplugged"))
        self.assertEqual(i.text().count(" running"), 1)
        open(i.top + "/gate", "w").close()
        s = i.until_state("running")
        self.assertEqual([c["width"] for c in s["source"]["cameras"]], [128, 128])
        self.assertEqual(s["pid"], old["pid"])
        f = receive(self.stream(i), 3)[-1]
        self.assertEqual((f.width, f.columns), (128, 32))
        # the counters of the previous camera outlive its pipeline
        for c in i.status()["source"]["cameras"]:
            self.assertGreater(c["captured"], 59)
            self.assertEqual(c["reconnects"], 1)
        self.assertEqual(i.stop(), 0)
        self.assertEqual(i.leftovers(), ["gate"])

    def test_sockets_of_the_manager_outlive_a_pipeline(self):
        i = self.instance(binary=FAKE)
        i.start_activated(*ARGS, env={"FAKE_INTERVAL_US": 5000, "FAKE_LOSE_AT": 40, "FAKE_WIDTH_AFTER": 128})
        i.until_published(1)
        until(lambda: i.process.poll() is not None or i.status()["source"]["cameras"][0]["width"] == 128, 15,
              "the other camera")
        self.assertEqual(receive(self.stream(i), 3)[-1].width, 128)
        self.assertEqual(i.stop(), 0)

    def test_camera_absent_at_start(self):
        i = self.fake("-s", "source.size=64x48", interval_us=5000, absent=2)
        i.until_state("no_camera")
        self.assertTrue(i.until_message("READY=1"))
        self.assertEqual(i.ring_state()[0], "no_camera")
        i.until_state("running", 30)
        self.assertEqual(i.stop(), 0)

    def test_stop_while_the_camera_is_absent(self):
        i = self.fake("-s", "source.size=64x48", interval_us=5000, absent=1000)
        i.until_state("no_camera")
        began = time.monotonic()
        self.assertEqual(i.stop(), 0)
        self.assertLess(time.monotonic() - began, 3)
        self.assertEqual(i.leftovers(), [])

    def test_unreadable_pairs_are_counted(self):
        i = self.fake("--frames", "90", gated=True, interval_us=0, compute_us=500, corrupt_every=3)
        ring = self.ring(i)
        self.assertEqual(i.wait(), 0)
        last = ring.frames()[-1]
        self.assertEqual(last.number, 90)
        self.assertAlmostEqual(last.corrupt, 45, delta=2)
        # logged once, not for each pair
        self.assertEqual(i.text().count("unreadable pair"), 1)
        self.assertIn("is garbage", i.text())

    def test_only_unreadable_pairs_do_not_spin(self):
        i = self.fake(interval_us=0, corrupt_every=1)
        until(lambda: i.status()["frames"]["dropped"]["corrupt"] > 30, 30, "corrupt pairs")
        ticks = os.sysconf("SC_CLK_TCK")

        def cpu():
            with open("/proc/%d/stat" % i.process.pid) as f:
                fields = f.read().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / ticks
        before = cpu()
        time.sleep(1)
        self.assertLess(cpu() - before, 0.5)
        self.assertIn(i.status()["state"], ("starting", "degraded"))
        self.assertEqual(i.stop(), 0)

    def test_the_log_hears_of_another_reason(self):
        # the engine is first too slow, then hangs
        i = self.fake("-s", "engine.contexts=1", interval_us=5000, compute_us=20000, hang_at=100)
        until(lambda: "no frame finished for" in i.text(), 30, "the reason in the log")
        log = i.text()
        self.assertIn("degraded: engine too slow: ", log)  # with advice
        self.assertIn("lower source.fps", log)
        self.assertRegex(log, r"degraded: no frame finished for 1\.\d s while one is in flight")
        self.assertEqual(i.health()[0], 200)  # healthy until the limit of ten seconds
        # the numbers change with every tick, but the message is logged once
        self.assertEqual(log.count("no frame finished"), 1)
        self.assertEqual(log.count("engine too slow"), 1)

    def test_an_engine_that_hangs_is_not_too_slow(self):
        # a pair every 100 ms: a busy machine loses few of them before the engine hangs
        i = self.fake(interval_us=100000, compute_us=1000, hang_at=30)
        s = i.until_state("degraded", 30)
        self.assertRegex(s["reason"], r"^no frame finished for [1-4]\.\d s while one is in flight$")
        self.assertGreater(s["frames"]["dropped"]["overload"], 10)
        self.assertNotIn("too slow", i.text())

    def test_pairs_behind_the_last_one_are_not_overload(self):
        # One frame takes 500 ms, and a pair comes every 10 ms. About fifty pairs come while it is computed, and all of
        # them are superfluous.
        i = self.fake("--frames", "1", "-s", "engine.contexts=1", gated=True, interval_us=10000, compute_us=500000)
        self.ring(i)
        self.assertEqual(i.wait(), 0)
        dropped = re.search(r"1 frames published, (\d+) pairs dropped by overload", i.text())
        self.assertTrue(dropped, i.text())
        if IDLE:
            self.assertLess(int(dropped[1]), 20)

    def test_overload_is_degraded_but_serving(self):
        i = self.fake("-s", "engine.contexts=1", interval_us=4000, compute_us=20000)
        s = i.until_state("degraded")
        self.assertIn("overload", s["reason"])
        code, text = i.health()
        self.assertEqual(code, 200)
        self.assertTrue(text.startswith("degraded: engine too slow"), text)
        self.assertEqual(i.stop(), 0)

    def test_engine_failure_ends_with_70(self):
        i = self.fake("-s", "engine.contexts=3", gated=True, interval_us=2000, compute_us=5000, fail_at=30)
        ring = self.ring(i)
        self.assertEqual(i.wait(), 70)
        self.assertEqual(ring.live()[2], 29)
        self.assertIn("frame 30: the engine failed: Input/output error", i.text())
        self.assertEqual(i.leftovers(), ["gate"])

    def test_a_broken_contract_ends_with_70(self):
        """The frame thread ends the daemon at once, as SIGKILL would. Readers see the end, and the next start cleans
        up."""
        i = self.fake(gated=True, interval_us=2000, break_at=7)
        ring = self.ring(i)
        self.assertEqual(i.wait(), 70)
        # the last line, unless the main thread is just writing another line
        self.assertRegex("\n".join(i.text().splitlines()[-2:]),
                         r"(?m)^error base: daemon/frame_thread\.c:\d+: contract broken: "
                         r"result->diagnostics\.measured <= .*, with 4294967295 and 3072$")
        self.assertEqual(ring.live()[2], 6)
        self.assertNotEqual(ring.live()[0], "closed")
        self.assertIn("shm/stixeld." + i.name, i.leftovers())
        os.truncate(i.log, 0)
        i.start(*ARGS)
        i.until_published(2)
        self.assertEqual(ring.live()[0], "replaced")
        self.assertEqual(i.stop(), 0)
        self.assertEqual(i.leftovers(), ["gate"])

    def test_missing_plane_is_named(self):
        i = self.fake("-s", "output.planes=disparity", "-s", "output.planes_when=always", interval_us=2000)
        self.assertEqual(i.wait(), 70)
        self.assertIn("frame 1", i.text())

    def test_plane_is_published(self):
        i = self.fake("-s", "output.planes=left", "-s", "output.planes_when=always", gated=True, interval_us=2000)
        ring = self.ring(i)
        i.until_published(3)
        self.assertEqual(i.stop(), 0)
        for f in ring.frames():
            self.assertEqual((f.plane_kind, f.plane_width, f.plane_height), (2, 64, 48))

    def test_images_only_while_somebody_asks(self):
        i = self.fake("-s", "output.slots=4", gated=True, interval_us=2000)
        ring = self.ring(i)
        i.until_published(6)
        self.assertEqual(i.status()["images"], {"left": "idle", "right": "off", "disparity": "idle"})
        self.assertEqual({f.plane_kind for f in ring.frames()}, {0})
        viewer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(viewer.close)
        viewer.connect(i.stream_path)
        viewer.send(struct.pack("<2I", 0x48585453, 8 | 16))
        # this engine has no disparity map; the left image comes anyway
        until(lambda: i.status()["images"] ==
              {"left": "published", "right": "off", "disparity": "idle"}, 10, "the image")
        until(lambda: {f.plane_kind for f in ring.frames()} == {2}, 30, "frames with it")
        viewer.close()
        until(lambda: i.status()["images"]["left"] == "idle", 30, "nobody to ask")
        until(lambda: {f.plane_kind for f in ring.frames()} == {0}, 30, "frames without it")
        self.assertEqual(i.stop(), 0)

    def test_images_that_there_is_no_room_for(self):
        i = self.fake("-s", "output.planes=none", gated=True, interval_us=2000)
        self.ring(i)
        i.until_published(1)
        self.assertEqual(i.status()["images"], {"left": "off", "right": "off", "disparity": "off"})
        self.assertEqual(i.stop(), 0)

    def test_steady_state_allocates_nothing(self):
        library = os.environ.get("STIXELD_COUNT_MALLOC")
        if SANITIZED or not library:
            self.skipTest("needs malloc to itself")

        def count(pairs):
            i = self.instance(binary=FAKE)
            path = os.path.join(i.top, "count")
            code, _, text = i.run_once(*ARGS, env={"FAKE_INTERVAL_US": 1000, "FAKE_COMPUTE_US": 1500,
                                                   "FAKE_PAIRS": pairs, "LD_PRELOAD": library, "COUNT_MALLOC": path})
            self.assertEqual(code, 0, text)
            counts = {}
            with open(path) as f:
                for name, n in (line.split() for line in f):
                    counts[name] = counts.get(name, 0) + int(n)
            return counts
        short, long = count(50), count(1050)
        main = os.path.basename(FAKE)[:15]
        self.assertGreater(short[main], 100)  # the counting works
        for thread in ("frame", "capture"):
            self.assertEqual((short.get(thread, 0), long.get(thread, 0)), (0, 0), "allocations of thread " + thread)
        self.assertEqual(long[main], short[main], "allocations of main while it serves")


class Watchdog(TestCase):
    WATCHDOG_US = 500000 * (2 if SANITIZED else 1)

    def fake(self, *args, **env):
        i = self.instance(binary=FAKE)
        env = {"FAKE_" + k.upper(): v for k, v in env.items()}
        env["WATCHDOG_USEC"] = self.WATCHDOG_US
        i.start(*ARGS, *args, env=env, notify=True)
        return i

    def pings(self, i, seconds):
        i.messages()
        time.sleep(seconds)
        return sum("WATCHDOG=1" in m for m in i.messages())

    @property
    def three_periods(self):
        return 3 * self.WATCHDOG_US / 1e6

    def test_pings_with_frames(self):
        i = self.fake(interval_us=5000, compute_us=1000)
        self.assertTrue(i.until_message("READY=1"))
        i.until_state("running")
        # the ping period is WATCHDOG_USEC / 4: at least one ping in each half of WATCHDOG_USEC
        self.assertGreaterEqual(self.pings(i, self.three_periods), 6)
        self.assertTrue(i.until_message("STATUS=running"))
        self.assertTrue(until(lambda: [s for s in i.until_message("STATUS=running") if " fps" in s], 30, "fps"))
        i.stop()
        self.assertTrue(i.until_message("STOPPING=1"))

    def test_pings_while_the_camera_is_absent(self):
        i = self.fake("-s", "source.size=64x48", interval_us=5000, absent=1000)
        i.until_state("no_camera")
        self.assertGreaterEqual(self.pings(i, self.three_periods), 6)
        self.assertTrue(i.until_message("STATUS=no_camera"))

    def test_hung_engine_gets_no_pings(self):
        i = self.fake(interval_us=5000, compute_us=1000, hang_at=50)
        i.until_published(49)
        s = until(lambda: (lambda s: s if "no frame finished" in (s["reason"] or "") else None)(i.status()), 30, "hang")
        self.assertEqual(s["state"], "degraded")
        self.assertEqual(i.health()[0], 503)
        beat = i.ring_state()[1]
        self.assertEqual(self.pings(i, self.three_periods), 0)
        self.assertEqual(i.ring_state()[1], beat, "a hung engine must not have a heartbeat")
        self.assertEqual(s["frames"]["published"], 49)
        # after the second SIGTERM, the daemon no longer waits for the frame that never comes
        began = time.monotonic()
        i.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        self.assertIsNone(i.process.poll())
        i.process.send_signal(signal.SIGTERM)
        self.assertEqual(i.wait(), 0)
        self.assertLess(time.monotonic() - began, 3)
        self.assertEqual(i.leftovers(), [])

    def test_a_failed_engine_is_no_clean_end(self):
        # The source does not come back either. A signal also speeds up an end that the daemon began.
        i = self.fake(interval_us=5000, compute_us=50000, fail_at=5, stuck=1)
        self.assertTrue(i.until_message("STOPPING=1"))
        time.sleep(0.3)
        self.assertIsNone(i.process.poll())
        self.assertEqual(i.stop(), 70)
        self.assertIn("did not finish: exiting without it", i.text())
        self.assertEqual(i.leftovers(), [])

    def test_silent_camera_gets_no_pings(self):
        i = self.fake(interval_us=5000, compute_us=1000, silent_at=50)
        # the state may first say that the engine is too slow on a busy machine
        s = until(lambda: (lambda s: s if "no pair from the source" in (s["reason"] or "") else None)(i.status()), 10,
                  "no pair from the source")
        self.assertEqual(s["state"], "degraded")
        self.assertEqual(i.health()[0], 503)
        self.assertEqual(self.pings(i, self.three_periods), 0)
        self.assertEqual(i.stop(), 0)

    def test_stopped_frame_thread_gets_no_pings_and_recovers(self):
        i = self.fake(interval_us=5000, compute_us=1000)
        i.until_published(10)
        thread = i.threads()["frame"]
        libc = ctypes.CDLL(None, use_errno=True)
        libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
        seize, interrupt, detach = 0x4206, 0x4207, 17
        if libc.ptrace(seize, thread, None, None) < 0:
            self.skipTest("ptrace is not allowed here")
        self.assertEqual(libc.ptrace(interrupt, thread, None, None), 0)
        os.waitpid(thread, 0x40000000)  # __WALL
        time.sleep(self.WATCHDOG_US / 1e6)
        published = i.status()["frames"]["published"]
        self.assertEqual(self.pings(i, self.three_periods), 0)
        self.assertEqual(i.status()["frames"]["published"], published)
        self.assertEqual(libc.ptrace(detach, thread, None, None), 0)
        i.until_published(published + 10)
        self.assertGreaterEqual(self.pings(i, self.three_periods), 6)
        self.assertEqual(i.stop(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
