# Tests stixelctl list, the choice of the only running instance, and the status of a replay. The test has its own
# /dev/shm and /run without other instances.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from support import Folder, program, run, until
from test_ctl import Daemon

MOUNT = "mount -t tmpfs none /dev/shm && mount -t tmpfs none /run && mkdir /run/stixeld && exec \"$@\""


def begin_in_private():
    """Restarts the script with an empty /dev/shm. Exits with 77, a skip, if the system does not allow that."""
    for unshare in (["unshare", "-m"], ["unshare", "-r", "-m"]):
        if shutil.which("unshare") and not subprocess.run([*unshare, "sh", "-c", MOUNT, "sh", "true"],
                                                          capture_output=True, check=False).returncode:
            os.environ["SX_PRIVATE"] = "1"
            os.execvp(unshare[0], [*unshare, "sh", "-c", MOUNT, "sh", sys.executable, *sys.argv])
    print("a mount namespace with a /dev/shm of its own is not allowed here", file=sys.stderr)
    sys.exit(77)


class Instances(Folder):
    def setUp(self):
        super().setUp()
        self.env = dict(os.environ, RUNTIME_DIRECTORY=self.path("stixeld"), XDG_RUNTIME_DIR=self.folder)
        os.mkdir(self.env["RUNTIME_DIRECTORY"])
        self.assertEqual(os.listdir("/dev/shm"), [])
        self.addCleanup(self.leave_nothing)

    @staticmethod
    def leave_nothing():
        """Removes what a failed test left, so that the next test does not see it."""
        for name in os.listdir("/dev/shm"):
            os.remove("/dev/shm/" + name)

    def daemon(self, name):
        d = Daemon(name, run=self.folder)
        self.addCleanup(self.clean, d)
        for _ in range(300):
            if d.ctl("status", "--json").returncode == 0 and "running" in d.ctl("status").stdout:
                return d
            time.sleep(0.1)
        raise RuntimeError("does not run: " + name)

    @staticmethod
    def clean(d):
        if d.process.poll() is None:
            d.process.kill()
            d.process.wait()
        d.log.close()
        shutil.rmtree(d.work, ignore_errors=True)

    def end(self, d):
        self.assertEqual(d.stop(), 0)

    def replay(self, name, d):
        """Replays a few frames of a daemon in an endless loop."""
        recording = self.path("r.rec")
        self.assertEqual(d.ctl("record", recording, "--frames", 12).returncode, 0)
        p = subprocess.Popen([program("stixelctl"), "-i", name, "replay", recording, "--loop"], env=self.env,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        self.assertEqual(self.ctl("-i", name, "wait", "--timeout", 20).returncode, 0)
        time.sleep(1.5)  # wait until the ring is full
        return p

    def ctl(self, *args):
        return run("stixelctl", *args, env=self.env)

    def list(self):
        r = self.ctl("list", "--json")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        return {i["instance"]: i for i in json.loads(r.stdout)}

    def rates(self, *names):
        """Waits until the rates of running instances are plausible. They cover a few frames, because a machine that
        paused for a moment shows a burst first."""
        rate, seen = 3 if os.environ.get("SX_SANITIZED") else 20, []
        for _ in range(30):
            found = self.list()
            seen.append([found[name]["fps"] for name in names])
            if all(fps and fps < 1.5 * rate for fps in seen[-1]):
                return
            time.sleep(0.3)
        self.fail(seen)

    def test_nothing(self):
        r = self.ctl("list")
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "no instance runs\n", ""))
        self.assertEqual(self.list(), {})
        for command in (["status"], ["metrics"], ["dump"], ["snapshot", self.path("x.png")]):
            r = self.ctl(*command)
            self.assertEqual((r.returncode, r.stdout), (1, ""))
            self.assertTrue(r.stderr.endswith("no stixeld runs as instance 'default'; running: none; "
                                              "start it: stixeld -i default\n"), r.stderr)

    def configurations(self, front):
        """Doctor gets a file while several instances run. It takes the instance that runs with this file, otherwise
        the instance with its name."""
        files = {"link.conf": "front', which runs with that file", "side.conf": "side', by the file's name"}
        os.symlink(front.work + "/empty.conf", self.path("link.conf"))
        shutil.copy(front.work + "/empty.conf", self.path("side.conf"))
        shutil.copy(front.work + "/empty.conf", self.path("side"))
        env = dict(self.env, STIXEL_DOCTOR_ROOT=self.path("root"))  # no facts of this machine
        for file, instance in files.items():
            r = run("stixelctl", "doctor", "--json", "-c", self.path(file), env=env)
            self.assertEqual(r.stderr, "stixelctl: instance '%s\n" % instance)
            answer = json.loads(r.stdout)
            self.assertEqual((answer["instance"], answer["file"]), (instance.split("'")[0], self.path(file)))
            said = [c["text"] for c in answer["checks"] if c["check"] == "instance"]
            self.assertRegex(said[0], "^'front' runs as process %d" % front.process.pid if "front" in instance
                             else "^no stixeld runs as 'side'$")
        r = run("stixelctl", "doctor", "-c", self.path("side"), env=env)
        self.assertEqual((r.returncode, r.stdout), (1, ""))
        self.assertTrue(r.stderr.endswith("instance 'default'; running: bench, front\n"), r.stderr)
        self.assertIn("several instances run: name one with -i\n", r.stderr)

    def test_all_kinds(self):
        front, rear = self.daemon("front"), self.daemon("a-rear-with-a-long-name")
        bench = self.replay("bench", front)
        rear.process.kill()
        rear.process.wait()
        with open("/dev/shm/stixeld.junk", "w") as f:
            f.write("not a ring")
        with open("/dev/shm/stixeld..dot", "w") as f:
            f.write("not a name")
        # a daemon is degraded for a while if a busy machine made it drop pairs
        until(lambda: self.list()["front"]["state"] == "running", "a daemon that runs")
        found = self.list()
        self.assertEqual({k: (v["kind"], v["runs"], v["state"], v["pid"]) for k, v in found.items()}, {
            "front": ("daemon", True, "running", front.process.pid),
            "bench": ("replay", True, "running", bench.pid),
            "a-rear-with-a-long-name": ("left over", False, "died", rear.process.pid)})
        self.rates("front", "bench")
        self.assertIsNone(found["a-rear-with-a-long-name"]["fps"])
        # wrong usage is reported before an ambiguous instance
        r = self.ctl("status", "--frames", "3")
        self.assertEqual((r.returncode, r.stderr), (64, "stixelctl: status takes --frames only with --watch\n"))
        self.assertEqual(self.ctl("status").returncode, 1)
        lines = self.ctl("list").stdout.splitlines()
        self.assertRegex(lines[0], r"^INSTANCE +KIND +STATE +FPS +PID +VERSION$")
        self.assertEqual([line.split()[0] for line in lines[1:]], sorted(found))
        for word in ("KIND", "STATE", "VERSION"):
            at = lines[0].index(word)
            self.assertTrue(all(line[at - 1] == " " != line[at] for line in lines[1:]), lines)
        # The ring of pairs beside an instance's ring is not an instance. Without that instance, it counts as a ring of
        # its own.
        for name in ("front", "side"):
            shutil.copy("/dev/shm/stixeld.front", "/dev/shm/stixeld.%s.pairs" % name)
        self.assertEqual(set(self.list()) - set(found), {"side.pairs"})
        for name in ("front", "side"):
            os.remove("/dev/shm/stixeld.%s.pairs" % name)
        # several instances run, and none is named
        for command in (["status"], ["metrics"], ["dump"], ["wait"], ["record", self.path("x.rec")], ["doctor"]):
            r = self.ctl(*command)
            self.assertEqual((r.returncode, r.stdout), (1, ""))
            self.assertTrue(r.stderr.endswith("instance 'default'; running: bench, front\n"), r.stderr)
        self.configurations(front)
        r = self.ctl("-i", "side", "status")
        self.assertEqual(r.returncode, 1)
        self.assertEqual(r.stderr, "stixelctl: no stixeld runs as instance 'side'; running: bench, front\n")
        os.remove("/dev/shm/stixeld.junk")
        os.remove("/dev/shm/stixeld..dot")
        os.remove("/dev/shm/stixeld.a-rear-with-a-long-name")
        bench.send_signal(signal.SIGINT)
        self.assertEqual(bench.wait(timeout=20), 0)
        self.end(front)

    def test_the_only_one(self):
        front = self.daemon("front")
        r = self.ctl("status")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertTrue(r.stdout.startswith("stixeld 'front'  running"), r.stdout)
        said = {}
        for command in (["status", "--json"], ["metrics"], ["dump"], ["wait"], ["snapshot", self.path("x.png")]):
            r = self.ctl(*command)
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertEqual(r.stderr, "stixelctl: instance 'front', the only one that runs\n")
            said[command[0]] = r.stdout
        self.assertEqual(json.loads(said["status"])["instance"], "front")
        self.assertTrue(said["metrics"].endswith("# EOF\n"))
        default = self.daemon("default")  # the name that commands use if none is given
        self.assertTrue(self.ctl("status").stdout.startswith("stixeld 'default'"))
        self.assertEqual(self.ctl("wait").stderr, "")
        self.end(default)
        self.end(front)

    def test_status_of_a_replay(self):
        front = self.daemon("front")
        bench = self.replay("bench", front)
        self.end(front)
        r = self.ctl("status")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertTrue(all(len(line) <= 80 for line in r.stdout.splitlines()), r.stdout)
        self.assertRegex(r.stdout, r"^replay 'bench'  running, up [\d:]+, version \S+, pid %d\n" % bench.pid)
        self.assertRegex(r.stdout, r"\nframes    [\d.]+ a second, \d+ published, the newest [\d.]+ ms old\n")
        self.assertIn("\nimages    320 x 160\n", r.stdout)
        self.assertRegex(r.stdout, r"\nroad      \w+, horizon [\d.]+, camera 1\.\d\d \+-")
        self.assertRegex(r.stdout, r"\nstixels   \d+ a frame, \d+ pixels each, 80 columns\n")
        j = json.loads(self.ctl("-i", "bench", "status", "--json").stdout)
        self.assertEqual((j["instance"], j["replay"], j["pid"], j["state"]), ("bench", True, bench.pid, "running"))
        self.assertEqual(j["ring"]["path"], "/dev/shm/stixeld.bench")
        dump = json.loads(self.ctl("-i", "bench", "dump", "--json").stdout)
        self.assertEqual(j["road"]["origin"], dump["road"]["origin"])
        self.assertAlmostEqual(j["stixels"]["per_frame"], len(dump["stixels"]), delta=len(dump["stixels"]) / 4)
        lines = self.ctl("-i", "bench", "status", "--watch", "--frames", 2, "--interval", 0.2).stdout.splitlines()
        self.assertEqual([bool(re.search(r" running +[\d.]+ fps ", line)) for line in lines], [True, True])
        r = self.ctl("-i", "bench", "metrics")
        self.assertEqual((r.returncode, r.stdout), (1, ""))
        self.assertIn("'bench' is a replay", r.stderr)
        self.assertIn("'bench' is a replay of a recording", self.ctl("-i", "bench", "doctor").stdout)
        bench.send_signal(signal.SIGSTOP)
        for _ in range(100):
            if self.list()["bench"]["state"] == "stalled":
                break
            time.sleep(0.1)
        self.assertEqual(self.list()["bench"]["state"], "stalled")
        bench.send_signal(signal.SIGKILL)
        bench.wait()
        self.assertEqual((self.list()["bench"]["kind"], self.list()["bench"]["state"]), ("left over", "died"))
        r = self.ctl("-i", "bench", "status")
        self.assertEqual(r.returncode, 1)
        self.assertTrue(r.stderr.endswith("running: none; start it: stixeld -i bench\n"), r.stderr)
        os.remove("/dev/shm/stixeld.bench")


if __name__ == "__main__":
    if not os.environ.get("SX_PRIVATE"):
        begin_in_private()
    unittest.main()
