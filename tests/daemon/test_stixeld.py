# Tests stixeld from outside: start, signals, every exit code by a real cause, and an engine that is too slow.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import time
import unittest

from harness import FREE, IDLE, SANITIZED, SMALL, STIXELD, TestCase, receive, until, write_pair


class Life(TestCase):
    def test_publishes_and_ends(self):
        i = self.instance()
        code, out, err = i.run_once(*SMALL, *FREE, "--frames", "20", "-s", "engine.backend=reference")
        self.assertEqual((code, out), (0, ""), err)
        self.assertIn("engine reference", err)
        self.assertIn("20 frames published, 0 pairs dropped", err)
        self.assertEqual(i.leftovers(), [])

    def test_engines_publish_the_same(self):
        records = {}
        for engine in ("reference", "cpu"):
            i = self.instance()
            i.start(*SMALL, *FREE, "-s", "engine.backend=" + engine, "-s", "output.slots=256",
                    "-s", "engine.contexts=1")
            ring = i.ring()
            until(lambda: ring.live()[2] >= 12, 30, "twelve frames")
            i.process.kill()
            i.process.wait()
            records[engine] = {f.number: f.record for f in ring.frames()}
        common = sorted(set(records["reference"]) & set(records["cpu"]))
        self.assertGreaterEqual(len(common), 10)
        for n in common:
            self.assertEqual(records["reference"][n], records["cpu"][n], "frame %d" % n)
        self.assertGreater(len({records["cpu"][n] for n in common}), 6)

    def test_sigterm_and_sigint(self):
        for how in (signal.SIGTERM, signal.SIGINT):
            i = self.instance()
            i.start(*SMALL)
            i.until_published(3)
            ring = i.ring()
            self.assertEqual(i.stop(how), 0)
            self.assertEqual(ring.live()[0], "closed")
            self.assertEqual(i.leftovers(), [])
            self.assertIn("stopping", i.text())
    
    def test_stray_signals_change_nothing(self):
        i = self.instance()
        i.start(*SMALL)
        i.until_published(1)
        for s in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE):
            i.process.send_signal(s)
        n = i.status()["frames"]["published"]
        i.until_published(n + 3)
        i.process.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        i.process.send_signal(signal.SIGCONT)
        i.until_published(n + 6)
        self.assertEqual(i.stop(), 0)

    def test_sigabrt_ends_it(self):
        # the watchdog's signal must not be blocked
        i = self.instance()
        i.start(*SMALL)
        self.assertEqual(i.stop(signal.SIGABRT), -signal.SIGABRT)

    def test_killed_and_restarted(self):
        i = self.instance()
        i.start(*SMALL)
        i.until_published(2)
        old = i.ring()
        epoch = i.status()["epoch"]
        i.process.kill()
        i.process.wait()
        self.assertTrue(os.path.exists(i.ring_path))
        i.start(*SMALL)
        i.until_published(2)
        self.assertEqual(old.live()[0], "replaced")
        self.assertNotEqual(i.status()["epoch"], epoch)
        self.assertEqual(os.listdir(i.shm), ["stixeld.test"])
        self.assertEqual(i.stop(), 0)
        self.assertEqual(i.leftovers(), [])

    def test_second_instance_is_refused(self):
        i = self.instance()
        i.start(*SMALL)
        i.until_published(1)
        before = i.leftovers()
        code, _, err = i.run_once(*SMALL)
        self.assertEqual(code, 73)
        self.assertIn(str(i.process.pid), err)
        self.assertEqual(i.leftovers(), before)
        n = i.status()["frames"]["published"]
        i.until_published(n + 2)
        # another name makes another instance
        self.assertEqual(subprocess.run([STIXELD, "--instance", "other", *SMALL, *FREE, "--frames", "2"],
                                        env=i.environment(), capture_output=True).returncode, 0)
        self.assertEqual(i.stop(), 0)

    def test_fifty_rounds_leave_nothing(self):
        i = self.instance()
        rounds = 5 if SANITIZED else 50
        for _ in range(rounds):
            code, _, err = i.run_once(*SMALL, *FREE, "-s", "source.size=64x48", "--frames", "2")
            self.assertEqual(code, 0, err)
        self.assertEqual(i.leftovers(), [])

    def test_descriptors_and_memory_do_not_grow(self):
        i = self.instance()
        i.start(*SMALL)
        i.until_published(5)
        i.http("/status")
        folder = "/proc/%d/fd" % i.process.pid

        def memory():
            with open("/proc/%d/status" % i.process.pid) as f:
                return int([line for line in f if line.startswith("VmRSS")][0].split()[1])
        fds, rss = len(os.listdir(folder)), memory()
        for _ in range(100):
            i.http("/metrics")
            i.http("/status")
            i.stream().close()
        until(lambda: i.status()["stream"]["clients"] == 0, 30, "no clients")
        until(lambda: len(os.listdir(folder)) <= fds + 1, 30, "descriptors closed")
        if not SANITIZED:
            self.assertLess(memory() - rss, 2000)
        self.assertEqual(i.stop(), 0)

    def test_closed_standard_descriptors(self):
        # descriptors 0, 1 and 2 must not become sockets, or the daemon would log into one
        i = self.instance()
        p = subprocess.Popen(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", STIXELD, "--instance", "test", *SMALL],
                             env=i.environment())
        i.process = p
        until(i.answers, 30, "status")
        self.assertEqual([os.readlink("/proc/%d/fd/%d" % (p.pid, fd)) for fd in range(3)], ["/dev/null"] * 3)
        i.until_published(3)
        self.assertEqual(i.stop(), 0)

    def test_sockets_passed_by_systemd(self):
        i = self.instance()
        i.start_activated(*SMALL)
        self.assertEqual(len(receive(self.stream(i), 3)), 3)
        self.assertEqual(os.listdir(i.run + "/test"), ["lock"])
        self.assertEqual(i.stop(), 0)
        # the manager's sockets stay for the next start
        self.assertTrue(os.path.exists(i.status_path) and os.path.exists(i.stream_path))

    def test_priority_and_locked_memory(self):
        i = self.instance()
        i.start(*SMALL, "-s", "realtime.priority=7", "-s", "realtime.lock_memory=yes")
        i.until_published(1)
        with open("/proc/%d/status" % i.process.pid) as f:
            locked = int([line for line in f if line.startswith("VmLck")][0].split()[1])
        # ThreadSanitizer swallows mlockall()
        self.assertTrue(locked > 1000 or SANITIZED or "realtime.lock_memory is not permitted" in i.text(), i.text())
        policies = {name: os.sched_getscheduler(thread) for name, thread in i.threads().items()}
        if "realtime.priority = 7 is not permitted" not in i.text():
            self.assertEqual(policies.pop("capture"), os.SCHED_FIFO)
        self.assertEqual(set(policies.values()), {os.SCHED_OTHER}, policies)
        self.assertEqual(i.stop(), 0)

    def test_log_levels(self):
        i = self.instance()
        code, _, err = i.run_once(*SMALL, *FREE, "--frames", "2", "-s", "log.levels=error")
        self.assertEqual((code, err), (0, ""))


class ExitCodes(TestCase):
    def check(self, code, args, *words, i=None, env=None):
        i = i or self.instance()
        before = i.leftovers()
        got, _, err = i.run_once(*args, env=env)
        self.assertEqual(got, code, err)
        for word in words:
            self.assertIn(word, err)
        self.assertEqual(i.leftovers(), before)
        return err

    def test_usage_64(self):
        self.check(64, ["--nonsense"], "nonsense", "--help")
        self.check(64, ["-s"], "--set needs SECTION.KEY=VALUE")
        self.check(64, ["stray"], "'stray'")
        for n in ("0", "-1", "x", "1x", "", "99999999999999999999999"):
            self.check(64, [*SMALL, "--frames", n], "--frames")
        for n in ("", "a/b", "..", "x" * 65):
            self.check(64, ["--instance", n], "--instance")

    def test_help_and_version(self):
        i = self.instance()
        code, out, err = i.run_once("--help")
        self.assertEqual((code, err), (0, ""))
        for word in ("--instance", "--frames", "--help-keys", "SIGHUP", "73"):
            self.assertIn(word, out)
        self.assertRegex(i.run_once("--version")[1], r"^stixeld \d+\.\d+\.\d+\n$")

    def test_data_65(self):
        i = self.instance()
        files = ["-s", "source.kind=files", "-s", "stereo.disparities=32", "-s", "engine.threads=1", *FREE]
        self.check(65, [*files, "-s", "source.path=" + i.top + "/nowhere"], "nowhere", i=i)
        empty = os.path.join(i.top, "empty")
        os.mkdir(empty)
        self.check(65, [*files, "-s", "source.path=" + empty], "empty", i=i)
        broken = os.path.join(i.top, "broken")
        write_pair(broken, "a.pgm", 1)
        with open(broken + "/left/a.pgm", "wb") as f:
            f.write(b"P5\nrubbish")
        self.check(65, [*files, "-s", "source.path=" + broken], "a.pgm", i=i)

    def test_gpu_69(self):
        self.check(69, [*SMALL, "-s", "engine.backend=cuda"], "engine.backend = cuda: ")

    def test_shared_memory_73(self):
        i = self.instance()
        self.check(73, SMALL, i.top + "/missing", i=i, env={"STIXELD_SHM_DIR": i.top + "/missing"})

    def test_full_shared_memory_73(self):
        i = self.instance()
        full = os.path.join(i.top, "full")
        os.mkdir(full)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", full], capture_output=True).returncode:
            self.skipTest("may not mount a small tmpfs")
        try:
            err = self.check(73, [*SMALL, "-s", "output.slots=256"], env={"STIXELD_SHM_DIR": full})
            self.assertIn("full", err)
            self.assertEqual(os.listdir(full), [])
        finally:
            subprocess.run(["umount", full], check=True)

    def test_runtime_directory_73(self):
        i = self.instance()
        blocked = os.path.join(i.top, "file")
        with open(blocked, "w"):
            pass
        self.check(73, SMALL, blocked, i=i, env={"RUNTIME_DIRECTORY": blocked})
        deep = os.path.join(i.top, "d" * 120)
        os.mkdir(deep)
        self.check(73, SMALL, env={"RUNTIME_DIRECTORY": deep})

    def test_configuration_78(self):
        i = self.instance()
        path = os.path.join(i.top, "bad.conf")
        with open(path, "w") as f:
            f.write("[source]\nkind = synthetic\nfps = fast\n[stereo]\ndisparities = 100\ncolour = blue\n"
                    "[nowhere]\nx = 1\n")
        for check in ([], ["--check-config"]):
            err = self.check(78, ["-c", path, *check, "-s", "stereo.paths=5"], "bad.conf:3", "bad.conf:5", "bad.conf:6",
                             "nowhere", "paths", i=i)
            self.assertGreaterEqual(len(err.splitlines()), 5)
        self.check(78, ["-c", i.top + "/missing.conf"], "missing.conf", i=i)
        self.check(78, [], "kind", i=i)
        # values that are valid alone, but not together
        self.check(78, [*SMALL, "-s", "stereo.p1=100", "-s", "stereo.p2=200"], "stereo.p1 = 100", "stereo.p2 = 200",
                   i=i)
        # a file of raw cameras without their positions
        raw = os.path.join(i.top, "raw.yaml")
        with open(raw, "w") as f:
            f.write("%YAML:1.0\n---\nK1: [500, 0, 320, 0, 500, 240, 0, 0, 1]\nD1: [0.1, 0, 0, 0]\n"
                    "K2: [500, 0, 320, 0, 500, 240, 0, 0, 1]\nD2: [0.1, 0, 0, 0]\n")
        for more in (["--check-config"], ["--check-config", "-s", "camera.rectify=yes"]):
            self.check(78, [*SMALL, "-s", "camera.calibration=" + raw, *more], raw, "without R and T", i=i)
        self.check(78, [*SMALL, "-s", "camera.rectify=yes"], "camera.rectify=yes", "no calibration file", i=i)
        # a setting that this engine does not compute
        self.check(78, [*SMALL, "-s", "engine.backend=cpu", "-s", "stereo.aggregation=fastdt", "-s",
                        "stereo.fastdt=float"],
                   "stereo.fastdt = float: only engine.backend = reference computes it", i=i)

    def test_lost_runtime_environment(self):
        # a notify socket that is missing or invalid is no error
        i = self.instance()
        for where in ("/nowhere/notify", "nonsense", "@" + "x" * 200):
            code, _, err = i.run_once(*SMALL, *FREE, "--frames", "1", env={"NOTIFY_SOCKET": where})
            self.assertEqual(code, 0, err)


class SlowEngine(TestCase):
    # image sizes at which the reference engine is too slow for the source; smaller with sanitizers, which make it ten
    # times slower
    SOME, MANY = ("480x160", "480x320") if SANITIZED else ("640x240", "1280x960")

    def test_newest_wins_with_the_reference_engine(self):
        i = self.instance()
        # a frame of the reference engine takes far longer than the 20 ms between pairs
        i.start("-s", "source.kind=synthetic", "-s", "source.size=" + self.SOME, "-s", "stereo.disparities=64", "-s",
                "engine.backend=reference", "-s", "source.fps=50", "-s", "output.slots=64")
        ring = i.ring()
        i.until_published(6, 60)
        self.assertEqual(i.stop(), 0)
        frames = ring.frames()[1:]
        self.assertGreater(frames[-1].overload, 5)
        for f in frames:
            compute = sum(f.stage_ns)
            waited = f.submitted_ns - f.left_ns
            # the submitted pair is the newest one: younger than two computations
            if IDLE:
                self.assertLess(waited, compute + 100e6, (waited, compute))

    def test_pings_stop_while_one_frame_takes_too_long(self):
        i = self.instance()
        i.start("-s", "source.kind=synthetic", "-s", "source.size=" + self.MANY, "-s", "stereo.disparities=256", "-s",
                "engine.backend=reference", "-s", "engine.contexts=1", "-s", "output.stream=no", notify=True,
                env={"WATCHDOG_USEC": 200000})
        i.until_message("READY=1", 60)
        until(lambda: i.health()[0] == 503 and "no frame finished" in i.health()[1], 60, "healthz 503")
        for _ in range(2):  # the second SIGTERM ends the daemon without waiting for the frame
            i.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
        self.assertEqual(i.wait(5), 0)
        self.assertEqual(i.leftovers(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
