# Tests the ring's name and other processes: the name is removed or taken, and a reader has thousands of threads.
#
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import signal
import struct
import subprocess
import time
import unittest

from harness import FAKE, IDLE, SANITIZED, SMALL, TestCase, until

PID_OFFSET = 52  # offset in the ring's header, bytes
TIMEOUT_S = 30  # time allowed to a busy machine
FPS = 10
SLEEPERS = os.environ.get("STIXELD_SLEEPERS", "")
PAIRS = ["-s", "stereo.matcher=external", "-s", "external.source=nobody", "-s", "external.pairs=yes"]


class RingNames(TestCase):
    def test_a_ring_made_anew_has_room_for_the_files(self):
        """The running settings may need a smaller ring than the settings of the start, which a reload restores. A
        new ring has room for both."""
        i = self.instance()
        i.start(*SMALL)
        i.until_published(2)
        self.assertEqual(i.order("stixels.width=16")[0], 200)
        os.unlink(i.ring_path)
        until(lambda: "rebuilding the pipeline" in i.text() and os.path.exists(i.ring_path), 30, "a ring made anew")
        i.until_published(i.status()["frames"]["published"] + 2)
        i.process.send_signal(signal.SIGHUP)
        until(lambda: "reloaded, changed: stixels.width" in i.text(), 30, "reload")
        self.assertNotIn("reload refused", i.text())
        self.assertEqual(i.stop(), 0)

    def test_a_name_that_was_removed_comes_back(self):
        i = self.instance()
        i.start(*SMALL, *PAIRS)
        old, offered = i.ring(), i.ring_path + ".pairs"
        for path in (i.ring_path, offered):  # only the rings matter: a pair without its map makes no frame
            os.unlink(path)
            until(lambda: os.path.exists(path), TIMEOUT_S, path)
            until(lambda: old.live()[0] == "closed", TIMEOUT_S, "the end for readers of the ring without a name")
            until(lambda: os.path.exists(i.ring_path) and os.path.exists(offered), TIMEOUT_S, "both rings")
            old = i.ring()
            self.assertIn("%s was removed: rebuilding the pipeline" % path, i.text())
        self.assertEqual(i.stop(), 0)
        self.assertEqual(i.leftovers(), [])

    def test_frames_go_on_in_the_new_ring(self):
        i = self.instance()
        i.start(*SMALL)
        i.until_published(3)
        os.unlink(i.ring_path)
        until(lambda: os.path.exists(i.ring_path), TIMEOUT_S, "a ring")
        ring = i.ring()
        until(lambda: ring.live()[2] >= 3 and ring.live()[0] == "running", TIMEOUT_S, "frames in it")
        i.until_state("running")

    def test_the_folder_is_made_anew_with_the_name(self):
        """A logout removes everything from /dev/shm and the user's runtime folder."""
        i = self.instance()
        i.start(*SMALL)
        i.until_published(2)
        old, folder = i.ring(), os.path.join(i.run, i.name)
        shutil.rmtree(folder)
        with open(folder, "wb"):  # the daemon cannot create the folder either
            pass
        os.unlink(i.ring_path)
        reason = "degraded: %s was removed, and cannot be created again: cannot use the runtime folder" % i.ring_path
        until(lambda: reason in i.text(), 3, "the reason")
        number = old.live()[2]
        until(lambda: old.live()[2] > number + 2 and old.live()[0] == "degraded", 30, "frames for who has the old ring")
        os.unlink(folder)
        until(lambda: os.path.exists(i.ring_path) and os.path.exists(i.stream_path), 30, "ring and socket")
        self.assertEqual(old.live()[0], "closed")
        until(lambda: i.status()["state"] == "running", 30, "the status socket")
        code, _, err = i.run_once(*SMALL, "--frames", "1")
        self.assertEqual(code, 73, err)
        self.assertIn("already running as process %d" % i.process.pid, err)
        self.assertEqual(i.stop(), 0)
        self.assertEqual(i.leftovers(), [])

    def test_sockets_of_who_came_after_stay(self):
        """The folder was removed while the daemon was stopped, and another process created it again. The sockets of
        that process stay."""
        first = self.instance()
        first.start(*SMALL)
        first.until_published(1)
        first.process.send_signal(signal.SIGSTOP)
        shutil.rmtree(os.path.join(first.run, first.name))
        os.unlink(first.ring_path)
        second = self.instance()
        second.__dict__.update({k: getattr(first, k) for k in ("run", "shm", "status_path", "stream_path")})
        second.start(*SMALL)
        second.until_published(1)
        first.process.send_signal(signal.SIGCONT)
        self.assertEqual(first.wait(), 73)
        second.until_published(second.status()["frames"]["published"] + 1)
        self.assertTrue(os.path.exists(second.stream_path))
        self.assertEqual(second.stop(), 0)

    def open_pairs(self, i):
        s = i.status()["frames"]
        return s["captured"] - s["published"] - s["dropped"]["overload"] - s["dropped"]["teardown"]

    def test_no_pair_is_lost_uncounted(self):
        """The engine is slow. At any time one pair is in it and another pair waits."""
        i = self.instance(binary=FAKE)
        i.start("--frames", "30", "-s", "source.kind=synthetic", "-s", "engine.contexts=1",
                env={"FAKE_INTERVAL_US": 40000, "FAKE_COMPUTE_US": 100000})
        for _ in range(2):
            old = i.ring()
            os.unlink(i.ring_path)
            until(lambda: old.live()[0] == "closed" and os.path.exists(i.ring_path), 30, "another ring")
            self.assertLessEqual(self.open_pairs(i), 2)
        i.until_published(24)
        self.assertLessEqual(self.open_pairs(i), 2)  # one in the engine, one waiting
        self.assertEqual(i.wait(), 0)
        self.assertIn("30 frames published", i.text())

    def test_who_loses_its_name_to_another_ends(self):
        i = self.instance()
        i.start(*SMALL)
        i.until_published(1)
        other = os.path.join(i.top, "other")
        shutil.copy(i.ring_path, other)
        with open(other, "r+b") as f:
            f.seek(PID_OFFSET)
            self.assertEqual(struct.unpack("<I", f.read(4))[0], i.process.pid)
            f.seek(PID_OFFSET)
            f.write(struct.pack("<I", 4711))
        os.rename(other, i.ring_path)
        self.assertEqual(i.wait(TIMEOUT_S), 73)
        self.assertIn("%s was taken by process 4711: ending" % i.ring_path, i.text())
        self.assertEqual(i.leftovers(), ["shm/stixeld.test"])  # the file of the other process

    def test_another_runtime_folder_is_no_way_to_the_name(self):
        i = self.instance()
        i.start(*SMALL)
        i.until_published(1)
        folder = os.path.join(i.top, "elsewhere")
        os.mkdir(folder)
        code, _, err = i.run_once(*SMALL, "--frames", "1", env={"RUNTIME_DIRECTORY": folder})
        self.assertEqual(code, 73, err)
        self.assertIn("belongs to process %d, which is running" % i.process.pid, err)
        n = i.status()["frames"]["published"]
        i.until_published(n + 2)


@unittest.skipIf(SANITIZED, "a sanitizer's engine is slow by itself")
@unittest.skipUnless(IDLE, "what sleepers cost is judged by the clock, on an idle machine")
class Sleepers(TestCase):
    def test_three_thousand_sleepers_do_not_slow_the_frame_thread(self):
        i, one = self.instance(), {min(os.sched_getaffinity(0))}
        i.start(*SMALL, "-s", "source.fps=%d" % FPS, preexec_fn=lambda: os.sched_setaffinity(0, one))
        i.until_published(2)
        sleepers = subprocess.Popen([SLEEPERS, i.ring_path, "3000"], stdout=subprocess.PIPE, text=True)
        try:
            self.assertGreaterEqual(int(sleepers.stdout.readline()), 300)
            before, began = i.status()["frames"], time.monotonic()
            i.until_published(before["published"] + 30)
            took, status = time.monotonic() - began, i.status()
            # The scheduler may make one frame late. After ten seconds the figure no longer includes it.
            until(lambda: i.status()["latency_10s_us"]["result_to_publish"]["p99"] < 200, TIMEOUT_S, "0.2 ms at p99")
        finally:
            sleepers.kill()
            sleepers.wait()
            sleepers.stdout.close()
        self.assertEqual(status["frames"]["dropped"]["overload"], before["dropped"]["overload"])
        # Pairs that were due while every slot was taken are in no count. A slow frame thread therefore shows here.
        self.assertGreaterEqual(status["frames"]["captured"] - before["captured"], 0.8 * took * FPS - 2)
        self.assertLess(status["latency_10s_us"]["result_to_publish"]["p50"], 200)
        self.assertEqual(status["state"], "running")


if __name__ == "__main__":
    unittest.main()
