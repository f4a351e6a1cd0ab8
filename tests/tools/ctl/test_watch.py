# Compares the figures of stixelctl watch with known delays, and with a second reader that measures independently.
# SPDX-License-Identifier: Apache-2.0
import json
import mmap
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from support import IDLE, program, run

PUBLISHER = os.environ["STIXEL_DELAYED_PUBLISHER"]
SLACK_MS = 15  # at the median


def quantile(values, share):
    values = sorted(values)
    return values[max(0, -(-int(len(values) * share * 1000) // 1000) - 1)]


def told(lines):
    """Returns the number of frames that watch reported in all seconds."""
    seconds = (re.match(r"\d\d:\d\d:\d\d +(\d+) ", line) for line in lines)
    return sum(int(m.group(1)) for m in seconds if m)


class Spinning(threading.Thread):
    """Polls the ring without libstixel and without sleeping. Stores {frame: (published, seen)}."""

    def __init__(self, path):
        super().__init__()
        with open(path, "rb") as f:
            self.map = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        self.slots, self.stride, self.first, self.header = struct.unpack_from("<4I", self.map, 24)
        self.seen, self.stopped = {}, False

    def run(self):
        last = 0
        while not self.stopped:
            head, = struct.unpack_from("<Q", self.map, 1024)
            now = time.monotonic_ns()
            if head == last:
                time.sleep(0.0002)
                continue
            last = head
            at = self.first + (head & (self.slots - 1)) * self.stride + self.header
            self.seen[head] = struct.unpack_from("<q", self.map, at + 64)[0], now


class Publisher:
    def __init__(self, case, name, *figures):
        self.name = "%s-%d" % (name, os.getpid())
        self.work = tempfile.mkdtemp(prefix="stixel-")
        case.addCleanup(shutil.rmtree, self.work, ignore_errors=True)
        self.env = dict(os.environ, RUNTIME_DIRECTORY=self.work + "/stixeld", XDG_RUNTIME_DIR=self.work)
        os.makedirs(self.work + "/stixeld", exist_ok=True)
        self.figures = [str(f) for f in figures]
        self.case = case
        self.process = None
        self.begin()

    def begin(self):
        self.process = subprocess.Popen([PUBLISHER, self.name, *self.figures], env=self.env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.case.addCleanup(self.end)
        self.case.assertEqual(self.process.stdout.readline(), "ready\n")

    def go(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def done(self):
        self.case.assertEqual(self.process.stdout.readline(), "done\n")

    def end(self):
        if self.process.poll() is None:
            self.process.communicate("end\n", timeout=60)
        for f in (self.process.stdin, self.process.stdout):
            f.close()

    def watch(self, *args):
        p = subprocess.Popen([program("stixelctl"), "-i", self.name, "watch", *map(str, args)], env=self.env,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def finish():
            p.kill()
            p.communicate()
        self.case.addCleanup(finish)
        return p

    def until_watched(self, p):
        """Waits until p has mapped the ring, so that it cannot miss later frames."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            with open("/proc/%d/maps" % p.pid) as f:
                if "/stixeld." + self.name in f.read():
                    return
            time.sleep(0.01)
        raise AssertionError("the ring was never opened")


class Watch(unittest.TestCase):
    def test_known_delays(self):
        # Capture is 40 ms before publication. The wake-up comes 30 ms later, in every tenth frame 90 ms later.
        publisher = Publisher(self, "delays", 40, 100, 40, 30, 90, 10)
        spin = Spinning("/dev/shm/stixeld." + publisher.name)
        p = publisher.watch("--json", "--frames", 40)
        publisher.until_watched(p)
        spin.start()
        try:
            publisher.go()
            out, err = p.communicate(timeout=120)
        finally:
            spin.stopped = True
            spin.join()
        self.assertEqual(p.returncode, 0, err)
        events = [json.loads(line) for line in out.splitlines()]
        summary = events[-1]
        self.assertEqual((summary["event"], summary["frames"], summary["lost"], summary["restarts"]),
                         ("summary", 40, 0, 0))
        self.assertEqual({e["event"] for e in events[:-1]}, {"second"})
        self.assertLessEqual(sum(e["frames"] for e in events[:-1]), 40)
        latency = summary["latency_us"]
        self.assertEqual([latency[k]["n"] for k in latency], [40, 40, 40])
        # at least the known delay, and only slightly more
        exact = latency["capture_to_result"]
        self.assertAlmostEqual(exact["p50"] / 1000, 40, delta=40 * 0.016 + 0.01)
        self.assertAlmostEqual(exact["max"] / 1000, 40, delta=0.001)
        awake, age = latency["result_to_awake"], latency["age_when_read"]
        for got, least in ((awake["p50"], 30), (awake["p99"], 90), (age["p50"], 70), (age["p99"], 130)):
            self.assertGreaterEqual(got / 1000, least * 0.984)
        if IDLE:
            self.assertLess(awake["p50"] / 1000, 30 + SLACK_MS)
            self.assertLess(age["p50"] / 1000, 70 + SLACK_MS)
        self.assertLessEqual(awake["p90"] / 1000, awake["max"] / 1000)
        # the values that another reader measured on the same frames
        mine = [(seen - published) / 1e6 for published, seen in spin.seen.values()]
        self.assertGreater(len(mine), 30)
        if IDLE:
            self.assertAlmostEqual(awake["p50"] / 1000, quantile(mine, 0.5), delta=SLACK_MS)

    def test_text_and_a_restart(self):
        publisher = Publisher(self, "anew", 15, 100, 5, 0, 0, 1)
        p = publisher.watch()
        publisher.until_watched(p)
        publisher.go()
        publisher.done()
        publisher.end()
        first = [p.stdout.readline() for _ in range(3)]
        publisher.begin()
        seen = []
        publisher.until_watched(p)
        publisher.go()
        while not any("restarted" in line for line in seen[-1:]):
            seen.append(p.stdout.readline())
            self.assertNotEqual(seen[-1], "", seen)
        publisher.done()
        # published frames may not be read yet: continue until every frame is reported
        while told(first + seen) < 30:
            seen.append(p.stdout.readline())
            self.assertNotEqual(seen[-1], "", seen)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=60)
        self.assertEqual((p.returncode, err), (0, ""))
        self.assertIn("fps", first[2])
        self.assertRegex(out, r"30 frames, 0 lost, [\d.]+ a second, 1 restarts")
        for word in ("capture to result ", "result to awake", "age when read"):
            self.assertIn(word, out)
        self.assertTrue(all(len(line) < 80 for line in out.splitlines()), out)
        self.assertEqual(len({len(line) for line in first}), 1, first)

    def test_silence_is_told(self):
        publisher = Publisher(self, "silent", 1, 1, 1, 0, 0, 1)
        p = publisher.watch("--duration", 1.2)
        out, err = p.communicate(timeout=60)
        self.assertIn("no frames; state", out)
        self.assertEqual(p.returncode, 1)
        self.assertIn("published no frame", err)

    def test_nobody_there(self):
        r = run("stixelctl", "-i", "nobody-%d" % os.getpid(), "watch", "--duration", "1.1")
        self.assertEqual(r.returncode, 1)
        self.assertIn("no stixeld runs", r.stdout)
        self.assertIn("nobody-", r.stderr)

    def test_usage(self):
        for args in (["--duration", "0"], ["--frames", "-1"], ["stray"], ["--interval", "1"]):
            self.assertEqual(run("stixelctl", "watch", *args).returncode, 64, args)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
