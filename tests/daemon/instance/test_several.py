# Tests several instances in one process: each has its ring, sockets and status, and a fault in one leaves the others
# alone.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import signal
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import FAKE, SANITIZED, SMALL, STIXELD, TestCase, need_libsystemd, until, write_pair  # noqa: E402

ARGS = ["-s", "source.kind=synthetic", "-s", "stixels.width=4", "-s", "output.slots=64", "-s", "source.size=64x48"]
CAMERA = "[camera]\nfx = 500\nfy = 500\ncx = 320\ncy = 240\nbaseline_m = 0.12\n"


class Several(TestCase):
    WATCHDOG_US = 500000 * (2 if SANITIZED else 1)

    def pair(self, *args, notify=False, **env):
        """Starts front and rear in one process. FAKE_NAME_rear is for rear only."""
        front = self.instance("front", FAKE)
        env = {"FAKE_" + re.sub("_REAR$", "_rear", k.upper()): v for k, v in env.items()}
        env.setdefault("FAKE_INTERVAL_US", 5000)
        env.setdefault("FAKE_COMPUTE_US", 1000)
        if notify:
            env["WATCHDOG_USEC"] = self.WATCHDOG_US
        front.start("-i", "rear", *ARGS, *args, env=env, notify=notify)
        return front, front.beside("rear")

    def files(self, i, front, rear):
        """Writes front.conf and rear.conf with these lines."""
        for name, text in ("front", front), ("rear", rear):
            with open(os.path.join(i.top, name + ".conf"), "w") as f:
                f.write("[source]\nkind = synthetic\nsize = 64x48\n" + text)

    def left(self, front):
        """Returns what the process left behind."""
        return sorted(set(front.leftovers()) - {"front.conf", "rear.conf", "run/rear", "run/rear/lock"})

    def goes_on(self, i, frames=20):
        i.until_published(i.status()["frames"]["published"] + frames)

    def started(self, i):
        """Returns the status as soon as the instance answers."""
        until(i.answers, what="status of " + i.name)
        return i.status()

    def epoch(self, i):
        """Returns the epoch of an instance as soon as it has a ring. It answers before."""
        self.started(i)
        until(lambda: i.status()["epoch"], what="ring of " + i.name)
        return i.status()["epoch"]

    # -- life --
    def test_both_publish(self):
        front, rear = self.pair("-s", "rear:stixels.width=8")
        self.started(rear)
        for i in (front, rear):
            i.until_published(20)
        a, b = front.status(), rear.status()
        self.assertEqual((a["instance"], b["instance"]), ("front", "rear"))
        self.assertEqual((a["pid"], b["pid"]), (front.process.pid, front.process.pid))
        self.assertNotEqual(a["epoch"], b["epoch"])
        self.assertEqual([b["config"]["overrides"][-1], a["config"]["overrides"][-1]],
                         ["stixels.width=8", "source.size=64x48"])
        rings = front.ring(), rear.ring()
        frames = [until(r.frames, what="frames")[-1] for r in rings]
        self.assertEqual([f.column_width for f in frames], [4, 8])
        for word in ("front: daemon: running", "rear: daemon: running"):
            self.assertIn(word, front.text())
        self.assertIn("front", front.threads())
        self.assertEqual(front.stop(), 0)
        self.assertEqual([r.live()[0] for r in rings], ["closed", "closed"])
        self.assertEqual(self.left(front), [])

    def test_real_sources_and_engines(self):
        front = self.instance("front", STIXELD)
        for n in range(3):
            write_pair(front.top, "%d.pgm" % n, n, 96, 64)
        front.start("-i", "rear", "-i", "side", *SMALL, "-s", "side:source.kind=files", "-s", "source.loop=yes", "-s",
                    "side:source.path=" + front.top, "-s", "source.fps=20", "-s", "rear:engine.backend=reference", "-s",
                    "stereo.disparities=32", "-s", "source.size=96x64")
        for i in (front, front.beside("rear"), front.beside("side")):
            self.started(i)
            i.until_published(10)
        self.assertEqual(front.beside("rear").status()["engine"]["backend"], "reference")
        self.assertEqual(front.beside("side").status()["source"]["kind"], "files")
        self.assertEqual(front.stop(), 0)
        self.assertEqual(os.listdir(front.shm), [])

    def test_contexts_are_made_one_at_a_time(self):
        # engines share properties of kernels; the fake engine aborts if two instances create contexts at once
        front, rear = self.pair("-s", "engine.contexts=4", build_us=100000)
        for i in (front, rear):
            self.started(i)
            i.until_published(5)
        self.assertEqual(front.stop(), 0)

    def test_messages_of_one_process(self):
        front, rear = self.pair(notify=True)
        front.until_message("READY=1")
        self.assertEqual([os.path.exists(i.ring_path) for i in (front, rear)], [True, True])
        front.until_message("WATCHDOG=1")
        until(lambda: [s for s in front.until_message("STATUS=front: running") if "rear: running" in s], what="status")
        front.process.send_signal(signal.SIGHUP)
        front.until_message("RELOADING=1")
        until(lambda: len(front.until_message("READY=1")) >= 2, what="READY=1 after the reload")
        self.assertEqual(front.stop(), 0)
        front.until_message("STOPPING=1")
        lines = [line for m in front.pending for line in m]
        self.assertEqual([sum(line == w for line in lines) for w in ("READY=1", "RELOADING=1", "STOPPING=1")],
                         [2, 1, 1])

    def test_frames_end_each(self):
        front, _ = self.pair("--frames", "30")
        self.assertEqual(front.wait(), 0)
        self.assertEqual(front.text().count("30 frames published"), 2)
        self.assertEqual(self.left(front), [])

    def test_log_levels_of_one(self):
        front, _ = self.pair("--frames", "5", "-s", "rear:log.levels=error")
        self.assertEqual(front.wait(), 0)
        self.assertIn("front: daemon: 5 frames published", front.text())
        self.assertNotIn("rear: ", front.text())

    def test_sockets_of_the_manager_are_not_used(self):
        need_libsystemd()
        front = self.instance("front", FAKE)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
            s.bind(front.top + "/status")
            env = front.environment({"LISTEN_FDS": 1, "LISTEN_FDNAMES": "status", "FAKE_INTERVAL_US": 5000})
            r = subprocess.run(["sh", "-c", 'LISTEN_PID=$$ exec "$@" 3<&%d' % s.fileno(), "sh", FAKE, "-i", "front",
                                "-i", "rear", *ARGS, "--frames", "5"], env=env, pass_fds=[s.fileno()],
                               capture_output=True, text=True, timeout=60)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("sockets of the service manager are not used", r.stderr)

    def test_source_of_one_ends(self):
        front, rear = self.pair(pairs_rear=20)
        until(lambda: "rear has ended in order" in front.text(), what="end of rear")
        self.goes_on(front)
        self.assertFalse(os.path.exists(rear.ring_path))
        self.assertEqual(front.stop(), 0)
        self.assertEqual(self.left(front), [])

    # -- faults --
    def test_camera_of_one_is_lost_and_returns(self):
        front, rear = self.pair(lose_at_rear=30)
        until(lambda: "rear: daemon: no_camera" in front.text(), what="lost camera")
        epoch = front.status()["epoch"]
        self.goes_on(front)
        rear.until_state("running")
        self.goes_on(rear)
        self.assertEqual(front.until_state("running")["epoch"], epoch)
        self.assertNotIn("front: daemon: no_camera", front.text())
        self.assertEqual(front.stop(), 0)

    def test_engine_of_one_hangs(self):
        front, rear = self.pair(hang_at_rear=20, notify=True)
        front.until_message("READY=1")
        self.started(rear)
        until(lambda: "no frame finished" in (rear.status()["reason"] or ""), what="hang")
        self.assertEqual((rear.status()["state"], rear.health()[0]), ("degraded", 503))
        beat = rear.ring_state()[1]
        front.messages()
        time.sleep(3 * self.WATCHDOG_US / 1e6)
        self.assertGreaterEqual(sum("WATCHDOG=1" in m for m in front.messages()), 6)
        self.assertEqual(rear.ring_state()[1], beat)
        self.assertEqual(front.health()[0], 200)
        until(lambda: "rear makes no progress" in front.text(), what="log line")
        self.goes_on(front)
        ring = front.ring()
        front.process.send_signal(signal.SIGTERM)  # front does not wait for rear
        until(lambda: ring.live()[0] == "closed", what="end of front")
        self.assertIsNone(front.process.poll())
        self.assertEqual(front.stop(), 0)  # the second signal: the frame of rear is given up
        self.assertEqual(self.left(front), [])

    def test_engines_of_all_hang(self):
        front, rear = self.pair(hang_at=20, notify=True)
        self.started(rear)
        for i in (front, rear):
            until(lambda: "no frame finished" in (i.status()["reason"] or ""), what="hang of " + i.name)
        time.sleep(self.WATCHDOG_US / 1e6)
        front.messages()
        time.sleep(2 * self.WATCHDOG_US / 1e6)
        self.assertEqual(sum("WATCHDOG=1" in m for m in front.messages()), 0)

    def test_engine_of_one_fails(self):
        front, rear = self.pair("-s", "rear:engine.contexts=1", fail_at_rear=200)
        epoch = self.epoch(rear)
        until(lambda: "rear has ended with exit code 70: it starts again in 2 s" in front.text(), what="failure")
        self.goes_on(front)
        fds = len(os.listdir("/proc/%d/fd" % front.process.pid))
        self.assertNotEqual(self.epoch(rear), epoch)
        self.goes_on(rear)
        until(lambda: "it starts again in 4 s" in front.text(), what="second failure")
        self.assertLessEqual(len(os.listdir("/proc/%d/fd" % front.process.pid)), fds)
        front.until_state("running")  # a busy machine drops pairs and is degraded for a while
        self.assertEqual(front.stop(), 0)
        self.assertEqual(self.left(front), [])

    def test_engines_of_all_fail(self):
        front, _ = self.pair(fail_at=20)
        self.assertEqual(front.wait(), 70)
        self.assertEqual(self.left(front), [])

    def test_what_hangs_at_its_end_is_given_up(self):
        # the engine fails, and the source does not come back: no new start in this process
        front, rear = self.pair(compute_us_rear=50000, fail_at_rear=5, stuck_rear=1)
        until(lambda: "rear has ended with exit code 70, and a frame in flight did not finish" in front.text(),
              what="end of rear")
        self.assertFalse(os.path.exists(rear.ring_path) or os.path.exists(rear.status_path))
        self.goes_on(front)
        self.assertEqual(front.stop(), 0)
        self.assertEqual(self.left(front), [])

    def test_ring_of_one_cannot_be_made(self):
        front = self.instance("front", FAKE)
        os.makedirs(front.shm + "/stixeld.rear/taken")
        front.start("-i", "rear", *ARGS, env={"FAKE_INTERVAL_US": 5000}, notify=True)
        front.until_message("READY=1")
        rear = front.beside("rear")
        until(lambda: "rear has ended with exit code 73" in front.text(), what="failure")
        self.goes_on(front)
        os.removedirs(front.shm + "/stixeld.rear/taken")
        self.assertEqual(self.started(rear)["instance"], "rear")
        self.goes_on(rear)
        self.assertEqual(front.stop(), 0)

    # -- configuration --
    def from_files(self, notify=False, **env):
        front = self.instance("front", FAKE)
        self.files(front, front="", rear="")
        env = dict({"FAKE_INTERVAL_US": 5000}, **env)
        paths = [os.path.join(front.top, n + ".conf") for n in ("front", "rear")]
        front.start("-i", "rear", "-c", paths[0], "-c", paths[1], env=env, notify=notify)
        return front, front.beside("rear")

    def width(self, i):
        return i.ring().frames()[-1].column_width

    def test_reload_changes_one(self):
        front, rear = self.from_files()
        self.started(rear)
        for i in (front, rear):
            i.until_published(5)
        epochs = [i.status()["epoch"] for i in (front, rear)]
        self.files(front, front="", rear="[stixels]\nwidth = 8\n")
        front.process.send_signal(signal.SIGHUP)
        until(lambda: self.width(rear) == 8, what="new width")
        until(lambda: "front: config: reloaded, nothing changed" in front.text(), what="reload of front")
        # a file that is wrong changes nothing, and the other one counts
        self.files(front, front="[stixels]\nwidth = 16\n", rear="[stixels]\nwidth = wide\n")
        front.process.send_signal(signal.SIGHUP)
        until(lambda: self.width(front) == 16, what="new width")
        until(lambda: "rear: config: reload refused" in front.text(), what="refusal")
        self.goes_on(rear)
        self.assertEqual(self.width(rear), 8)
        self.assertEqual([i.status()["epoch"] for i in (front, rear)], epochs)
        self.assertEqual(front.stop(), 0)

    def test_reload_of_a_hung_instance(self):
        # the manager must not wait for it for ever
        front, rear = self.from_files(notify=True, FAKE_HANG_AT_rear=20, FAKE_TIMES=5)
        self.started(rear)
        until(lambda: "no frame finished" in (rear.status()["reason"] or ""), what="hang")
        front.until_message("READY=1")
        self.files(front, front="", rear="[stixels]\nwidth = 8\n")
        front.process.send_signal(signal.SIGHUP)
        until(lambda: len(front.until_message("READY=1")) >= 2, what="READY=1 after the reload")
        self.assertIn("1 of the instances have not reread", front.text())

    def test_wrong_file_at_a_new_start(self):
        front, rear = self.from_files(FAKE_FAIL_AT_rear=100)
        self.started(rear)
        self.files(front, front="", rear="[stixels]\nwidth = wide\n")
        until(lambda: "rear has ended with exit code 78: a reload (SIGHUP) starts it again" in front.text(), what="78")
        self.assertIn("rear: config: %s/rear.conf:5" % front.top, front.text())
        self.files(front, front="", rear="[stixels]\nwidth = 8\n")
        front.process.send_signal(signal.SIGHUP)
        self.started(rear)
        rear.until_published(1)
        self.assertEqual(self.width(rear), 8)
        self.assertEqual(front.stop(), 0)


class SeveralRefused(TestCase):
    def refused(self, code, *args):
        i = self.instance("front")
        r = subprocess.run([STIXELD, *args], env=i.environment(), capture_output=True, text=True, timeout=60)
        self.assertEqual(r.returncode, code, r.stderr)
        self.assertEqual([os.listdir(i.shm), os.listdir(i.run)], [[], []])
        return r.stderr

    def file(self, name, text):
        top = self.instance("files").top
        with open(os.path.join(top, name), "w") as f:
            f.write(text)
        return os.path.join(top, name)

    def test_usage_64(self):
        self.assertIn("2 times --instance and 3 times --config",
                      self.refused(64, "-i", "a", "-i", "b", "-c", "x", "-c", "y", "-c", "z"))
        self.assertIn("one of each", self.refused(64, "-i", "a", "-i", "b", "-c", "x"))
        self.assertIn("no instance is named 'c'", self.refused(64, "-i", "a", "-i", "b", "-s", "c:source.fps=3"))
        self.assertIn("one instance at a time", self.refused(64, "-i", "a", "-i", "b", "--print-config"))
        self.assertIn("name the instances by --instance", self.refused(64, "-c", "/x/a b.conf", "-c", "/x/c.conf"))
        self.assertIn("64", self.refused(64, "-c", "/x/%s.conf" % ("n" * 65), "-c", "/x/c.conf"))
        self.assertIn("may be given 16 times", self.refused(64, *["-i", "a"] * 17))

    def test_names_and_cameras_78(self):
        self.assertIn("two instances are named 'a'", self.refused(78, "-c", "/x/a.conf", "-c", "/y/a.conf"))
        self.assertIn("two instances are named 'a'", self.refused(78, "-i", "a", "-i", "b", "-i", "a"))
        link = os.path.join(self.instance("link").top, "camera")
        os.symlink("/dev/null", link)
        for device in ("/dev/null", link):
            camera = "[source]\nkind = v4l2\nleft = %s\nright = %s\nsize = 640x480\n" + CAMERA
            one, two = (self.file(n, camera % d) for n, d in (("one.conf", ("/dev/zero", device)),
                                                              ("two.conf", ("/dev/null", "/dev/full"))))
            for check in ([], ["--check-config"]):
                self.assertIn("instances one and two have the same camera: /dev/null",
                              self.refused(78, "-c", one, "-c", two, *check))

    def test_all_wrong_files_are_named_78(self):
        one, two = (self.file(n, "[source]\nkind = synthetic\nfps = fast\n") for n in ("one.conf", "two.conf"))
        err = self.refused(78, "-c", one, "-c", two)
        for word in (one + ":3", two + ":3", "instance one cannot start", "instance two cannot start"):
            self.assertIn(word, err)

    def test_check_config(self):
        good = self.file("good.conf", "[source]\nkind = synthetic\n")
        bad = self.file("bad.conf", "[source]\nkind = files\npath = /nowhere\n")
        self.refused(0, "-i", "a", "-i", "b", "-c", good, "-c", good, "--check-config")
        self.assertIn("/nowhere", self.refused(78, "-c", good, "-c", bad, "--check-config"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
