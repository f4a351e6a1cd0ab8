# Runs the daemon under the unit's system call filter. A call that the filter does not allow ends the daemon.
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.environ["STIXEL_SOURCE"]
UNIT = os.environ["STIXEL_UNIT"]
STIXELD = os.environ["STIXELD"]
CTL = os.path.join(os.environ["STIXEL_BUILD"], "tools/stixelctl")
REALTIME = SOURCE + "/systemd/drop-ins/realtime.conf"
SKIP = 77
FILTERED = [sys.executable, SOURCE + "/tests/systemd/filtered.py"]
SMALL = ["source.kind=synthetic", "source.size=160x96", "source.fps=20", "stereo.disparities=32", "engine.backend=cpu",
         "engine.threads=2"]


class Filter(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.mkdir(self.folder + "/stixeld")
        self.env = dict(os.environ, RUNTIME_DIRECTORY=self.folder + "/stixeld", XDG_RUNTIME_DIR=self.folder)
        self.name = "filter-%d" % os.getpid()
        with open(self.folder + "/a.conf", "w") as f:
            f.write("[log]\nlevels = info\n")

    def command(self, filter_arguments, settings=(), *more):
        words = [w for s in (*SMALL, *settings) for w in ("-s", s)]
        return [*FILTERED, *filter_arguments, "--", STIXELD, "-i", self.name, "-c", self.folder + "/a.conf", *words,
                *more]

    def run_it(self, filter_arguments, settings=()):
        r = subprocess.run(self.command(filter_arguments, settings, "--frames", "5"), env=self.env, capture_output=True,
                           text=True, timeout=60)
        return r.returncode, r.stderr

    def test_a_whole_life(self):
        """Tests start, frames, readers, status, reload and end."""
        with open(self.folder + "/log", "w") as log:
            p = subprocess.Popen(self.command(["--kill", UNIT], ["output.planes_when=always"]), env=self.env,
                                 stderr=log)
        self.addCleanup(p.kill)
        for args in (["wait", "--timeout", "1"], ["status"], ["metrics"], ["snapshot", self.folder + "/a.png"]):
            for _ in range(50):
                r = subprocess.run([CTL, "-i", self.name, *args], env=self.env, capture_output=True, text=True)
                if r.returncode == 0 or p.poll() is not None:
                    break
                time.sleep(0.2)
            self.assertEqual(r.returncode, 0, (args, r.stderr))
        p.send_signal(signal.SIGHUP)
        for _ in range(50):
            with open(self.folder + "/log") as f:
                if "reloaded" in f.read():
                    break
            time.sleep(0.1)
        else:
            self.fail("no reload")
        p.terminate()
        self.assertEqual(p.wait(20), 0)

    def test_real_time_priority_needs_the_drop_in(self):
        wish = ["realtime.priority=1"]
        self.assertEqual(self.run_it(["--kill", UNIT], wish)[0], -signal.SIGSYS)
        code, log = self.run_it([UNIT], wish)
        self.assertEqual(code, 0, log)
        self.assertIn("realtime.priority = 1 is not permitted", log)
        code, log = self.run_it(["--kill", UNIT, REALTIME], [*wish, "realtime.lock_memory=yes"])
        self.assertEqual(code, 0, log)

    def test_the_cpu_engine_makes_no_code(self):
        code, log = self.run_it(["--kill", "--no-new-code", UNIT])
        if "prctl(65)" in log:
            self.skipTest("this kernel cannot refuse new code (before 6.3)")
        self.assertEqual(code, 0, log)

    def test_the_filter_filters(self):
        r = subprocess.run([*FILTERED, UNIT, "--", "chown", "1:1", self.folder], capture_output=True, text=True)
        self.assertEqual(r.returncode, 1)
        self.assertIn("not permitted", r.stderr)
        r = subprocess.run([*FILTERED, "--kill", UNIT, "--", "chown", "1:1", self.folder])
        self.assertEqual(r.returncode, -signal.SIGSYS)

    def test_a_filter_that_was_saved(self):
        saved = self.folder + "/filter"
        subprocess.run([*FILTERED, "--kill", "--save", saved, UNIT], check=True)
        self.assertEqual(self.run_it(["--load", saved])[0], 0)


if __name__ == "__main__":
    if not shutil.which("systemd-analyze"):
        print("skipped: systemd-analyze is not installed (Debian package systemd)")
        raise SystemExit(SKIP)
    if subprocess.run([*FILTERED, UNIT, "--", "true"], capture_output=True).returncode == 125:
        print("skipped: this machine lets nobody set a system call filter, or is of another architecture")
        raise SystemExit(SKIP)
    unittest.main()
