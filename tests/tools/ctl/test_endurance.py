# Tests stixelctl endurance: a healthy daemon passes, and each fault is found in its own line.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import signal
import socket
import struct
import subprocess
import threading
import time
import unittest

from support import Folder, program, run, shifted_pair, until, write_pgm
from test_ctl import Daemon

SANITIZED = os.environ["SX_SANITIZED"]
LEAK = os.environ["STIXEL_LEAK"]
# Limits for a busy machine. The limits under test stay strict.
WIDE = ["--rate", "90", "--jitter", "1000", "--dropped", "100000", "--lost", "100000", "--log", "100",
        *(["--memory", "100000"] if SANITIZED else [])]  # a sanitizer keeps freed memory
HEAD_AT = 1024  # offset of head in the ring
# Checks that a busy machine may fail.
TIMELY = {"silence", "answers"}


class Quiet(Daemon):
    """A daemon with few and small frames."""

    def __init__(self, name, *settings, env=None, before=()):
        """`before` is a program that starts the daemon."""
        super().__init__("endure-" + name, "source.size=160x96", "engine.threads=1", *settings)
        if env or before:
            self.process.kill()
            self.process.wait()
            self.env.update(env or {})
            self.command[:0] = before
            self.start()
        self.wait()

    def watched(self, *args, seconds=2.0, env=None):
        """Starts stixelctl endurance and waits until it has read a frame and requested the status."""
        p = subprocess.Popen([program("stixelctl"), "-i", self.name, "endurance", "--duration", str(seconds),
                              "--interval", "0.1", *args], env=dict(self.env, **(env or {})), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        # the thread that requests the status starts after the reader
        until(lambda: p.poll() is not None or len(os.listdir("/proc/%d/task" % p.pid)) > 1, "a thread")
        n = self.published()
        until(lambda: p.poll() is not None or self.published() > n + 1, "frames")
        return p

    def published(self):
        with open("/dev/shm/stixeld." + self.name, "rb") as f:
            f.seek(HEAD_AT)
            return struct.unpack("<Q", f.read(8))[0]


class StatusServer(threading.Thread):
    """Sends one answer to all requests."""

    def __init__(self, path, body):
        super().__init__(daemon=True)
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(body), body)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(8)
        self.start()

    def run(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            with s:
                s.recv(4096)
                s.sendall(self.answer)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.join()


class Endurance(Folder):
    def daemon(self, *args, **more):
        d = Quiet(*args, **more)
        self.addCleanup(d.stop)
        return d

    def report(self, p, want):
        """Returns {check: row} and the whole report of a run with --json."""
        out, err = p.communicate(timeout=120)
        self.assertEqual(p.returncode, want, out + err)
        whole = json.loads(out)
        self.assertEqual(whole["passed"], want == 0)
        return {r["check"]: r for r in whole["checks"]}, whole

    def judge(self, d, *args, want=0, seconds=2.0, meanwhile=None, env=None):
        p = d.watched("--json", *WIDE, *args, seconds=seconds, env=env)
        if meanwhile:
            meanwhile()
        return self.report(p, want)

    def bad(self, rows):
        """Returns the bad checks, except for checks that depend on the load of the machine."""
        return {name for name, row in rows.items() if row["verdict"] == "bad"} - TIMELY

    def test_a_daemon_that_is_well(self):
        d = self.daemon("well")
        rows, whole = self.judge(d, seconds=6.0 if SANITIZED else 2.0)
        self.assertEqual(self.bad(rows), set())
        self.assertGreaterEqual(whole["frames"], 3)
        self.assertFalse(whole["ended_early"])
        # a very slow machine has too few intervals
        self.assertLessEqual({name for name, r in rows.items() if r["verdict"] == "not judged"},
                             {"jitter p99", "jitter max", "latency p99"})
        self.assertGreater(rows["memory"]["value"], -1e6)
        self.assertGreater(rows["cpu"]["value"], 0)
        self.assertLess(rows["first frame"]["value"], 5)

        # text output, with each limit that is too small
        p = d.watched(*WIDE, "--cpu", "0", "--latency", "1", seconds=1)
        out, err = p.communicate(timeout=60)
        self.assertEqual((p.returncode, err), (1, ""))
        self.assertRegex(out, r"(?m)^BAD        cpu          0 % of a core       [\d.]+ %, of \d+ cores$")
        self.assertRegex(out, r"(?m)^BAD        latency p99  1 ms                [\d.]+ ms from capture to result")
        self.assertRegex(out, r"(?m)^good       state        running             running in \d+ of \d+ answers$")
        self.assertIn("FAILED: ", out)
        self.assertTrue(all(len(line) <= 80 for line in out.splitlines()), out)

        # Ctrl-C prints the results so far, and that the run was interrupted
        p = d.watched(*WIDE, seconds=1000)
        n = d.published()  # the rate of a few frames, which a busy machine gives in a row, is no rate
        until(lambda: d.published() > n + (5 if SANITIZED else 20), "frames")
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=60)
        self.assertEqual((p.returncode, err), (0, ""), out)
        self.assertIn("ended early by a signal: 1000.0 s were asked for", out)
        self.assertIn("passed: ", out)

        # the daemon logs each reload: more lines than allowed per second
        def reload():
            for _ in range(20):
                d.process.send_signal(signal.SIGHUP)
                time.sleep(0.05)
        rows, _ = self.judge(d, "--log", "1", seconds=1.5, meanwhile=reload, want=1)
        self.assertEqual(self.bad(rows), {"log"})
        self.assertEqual(rows["log"]["budget"], 1)

    def test_a_daemon_that_stands_still(self):
        d = self.daemon("still")

        def stop():
            d.process.send_signal(signal.SIGSTOP)
            time.sleep(1.5)
            d.process.send_signal(signal.SIGCONT)
        rows, _ = self.judge(d, "--jitter", "20", seconds=2.5, meanwhile=stop, want=1)
        self.assertEqual({rows[name]["verdict"] for name in TIMELY}, {"bad"})
        self.assertGreater(rows["silence"]["value"], 1.4)
        self.assertEqual((rows["restarts"]["verdict"], rows["numbers"]["verdict"]), ("good", "good"))

    def test_a_daemon_that_drops_pairs(self):
        # far more pairs than the engine can compute: a frame of the reference takes longer than ten of the reader
        for side, rows in zip(("left", "right"), shifted_pair(160, 96, 4)):
            write_pgm(self.path(side + ".pgm"), rows)
        d = self.daemon("slow", "source.kind=files", "source.size=auto", "source.fps=1000", "source.loop=yes",
                        "source.path=" + self.path("{left|right}.pgm"), "engine.backend=reference")
        rows, _ = self.judge(d, "--dropped", "5", seconds=3, want=1)
        self.assertIn("dropped", self.bad(rows))
        self.assertGreater(rows["dropped"]["value"], 5)
        self.assertRegex(rows["dropped"]["figure"], r"^[1-9]\d* overload, 0 unpaired, 0 corrupt$")
        # the daemon counts them: no number is missing, and the counts add up
        self.assertEqual((rows["numbers"]["verdict"], rows["counts"]["verdict"]), ("good", "good"))

    def test_a_daemon_that_leaks(self):
        if SANITIZED:
            self.skipTest("nothing can be loaded before AddressSanitizer")
        d = self.daemon("leak", env={"LD_PRELOAD": LEAK, "LEAK_KIB": "200", "LEAK_FILES": "1"})
        for seconds in (2, 6, 20):  # a busy machine may give no answer in the first third
            rows, _ = self.judge(d, want=1, seconds=seconds)
            if rows["descriptors"]["verdict"] != "not judged":
                break
        self.assertEqual(self.bad(rows), {"memory", "descriptors"})
        self.assertGreater(rows["memory"]["value"], 0)
        self.assertGreater(rows["descriptors"]["value"], 0)

    def test_a_daemon_that_starts_again(self):
        d = self.daemon("again")

        p = d.watched("--json", *WIDE, seconds=1000)
        d.process.kill()
        d.process.wait()
        d.start()
        d.wait()
        ring = os.stat("/dev/shm/stixeld." + d.name).st_ino

        def follows():
            with open("/proc/%d/maps" % p.pid) as f:
                return " %d " % ring in f.read()
        until(follows, "a reader that follows")
        n = d.published()
        until(lambda: d.published() > n + 5, "frames")
        p.send_signal(signal.SIGINT)
        rows, _ = self.report(p, 1)
        self.assertIn("restarts", self.bad(rows))
        self.assertEqual(rows["restarts"]["value"], 1)
        self.assertEqual(rows["numbers"]["verdict"], "good")

    def test_a_daemon_that_ends(self):
        d = self.daemon("ends")

        def end():
            d.process.terminate()
            d.process.wait()
        rows, _ = self.judge(d, meanwhile=end, want=1, seconds=5.0 if SANITIZED else 2.0)  # the daemon's end takes time
        self.assertEqual({rows[name]["verdict"] for name in TIMELY}, {"bad"})

    def test_another_process_is_not_judged(self):
        # The daemon runs in its own PID namespace. Its process number there belongs to another process here.
        probe = subprocess.run(["unshare", "-pf", "--mount-proc", "true"], capture_output=True, check=False)
        if probe.returncode != 0:
            self.skipTest("no PID namespaces here")
        d = self.daemon("away", before=["unshare", "-pf", "--mount-proc"])
        with open("/proc/%d/task/%d/children" % (d.process.pid, d.process.pid)) as f:
            self.addCleanup(os.kill, int(f.read()), signal.SIGTERM)  # unshare itself reacts to no signal
        rows, _ = self.judge(d)
        for name in ("cpu", "memory", "descriptors"):
            self.assertEqual(rows[name]["verdict"], "not judged", rows[name])
            self.assertRegex(rows[name]["figure"], "of another PID namespace")

    def test_what_an_answer_says(self):
        # A real ring and a made-up status: one hour after a slow start, with a reason that is too long.
        d = self.daemon("says")
        status = json.loads(d.ctl("status", "--json").stdout)
        status.update(uptime_s=3600.0, first_frame_s=61.0, state="degraded", reason="x" + "\u00fc" * 300)
        folder = self.path("stixeld", d.name)
        os.makedirs(folder)
        server = StatusServer(folder + "/status.sock", json.dumps(status).encode())
        self.addCleanup(server.close)
        env = {"RUNTIME_DIRECTORY": self.folder, "XDG_RUNTIME_DIR": self.folder}
        rows, whole = self.judge(d, seconds=1.0, env=env, want=1)
        self.assertIn("state", rows)
        self.assertRegex(rows["state"]["figure"], "degraded: x\u00fc+$")
        self.assertEqual(rows["first frame"]["verdict"], "not judged")
        self.assertIn("long after the start", rows["first frame"]["figure"])
        self.assertIn("state", self.bad(rows))
        rows, _ = self.judge(d, "--first", "60", seconds=1.0, env=env, want=1)
        self.assertEqual(rows["first frame"]["verdict"], "bad")

    def test_nobody_there(self):
        r = run("stixelctl", "-i", "nobody-%d" % os.getpid(), "endurance")
        self.assertEqual((r.returncode, r.stdout), (1, ""))
        self.assertIn("nobody-", r.stderr)

    def test_usage(self):
        for args in (["--minutes", "1", "--duration", "2"],):
            d = run("stixelctl", "-i", "x", "endurance", *args)
            self.assertEqual(d.returncode, 64, d.stderr)
            self.assertIn("--minutes or --duration", d.stderr)
        for args in (["--duration", "0"], ["--cpu", "-1"], ["stray"], ["--minutes", "x"]):
            self.assertEqual(run("stixelctl", "endurance", *args).returncode, 64, args)


def together():
    """Runs all at the same time, because they wait most of the time."""
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Endurance)
    results = []

    def one(test):
        result = unittest.TestResult()
        test(result)
        results.append((test, result))
    threads = [threading.Thread(target=one, args=(test,)) for test in suite]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for test, result in results:
        for _, text in result.failures + result.errors:
            print("FAILED %s\n%s" % (test, text))
        for _, why in result.skipped:
            print("skipped %s: %s" % (test, why))
    return all(result.wasSuccessful() for _, result in results) and len(results) == suite.countTestCases()


if __name__ == "__main__":
    raise SystemExit(0 if together() else 1)
