"""Recordings made to keep a reader busy are read in time linear in their size, and a signal ends the reading at once.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import support
import hostile
import stixel
from support import SLOW

KIB = 1 << 10
# CPU time, s: allowance for a busy machine, and the maximum for a file of a few MB
MARGIN, MOST = 0.5 * SLOW, 6.0 * SLOW
MEMORY_KIB = 1 << 20


class Hostile(support.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, self.top)
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=self.top)

    def write(self, data):
        path = os.path.join(self.top, "hostile.mcap")
        with open(path, "wb") as f:
            f.write(data)
        return path

    def start(self, *args):
        with open(os.path.join(self.top, "out"), "wb") as out, open(os.path.join(self.top, "err"), "wb") as err:
            return subprocess.Popen([support.STIXELCTL, *args], stdout=out, stderr=err, env=self.environment)

    def end_of(self, process):
        """Returns the exit status and the CPU time of a process, s."""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        self.assertLess(used.ru_maxrss, MEMORY_KIB, process.args)
        return process.returncode, used.ru_utime + used.ru_stime

    def cpu_of(self, *args):
        status, seconds = self.end_of(self.start(*args))
        self.assertGreaterEqual(status, 0, args)
        return seconds

    def linear(self, small, large, what):
        self.assertLess(large, 4 * 1.5 * small + MARGIN, what)
        self.assertLess(large, MOST, what)

    def test_stixelctl_takes_linear_time(self):
        for kind in hostile.KINDS:
            small = (256 if kind in hostile.BOMBS else 512) * KIB
            seconds = [self.cpu_of("info", self.write(kind(size))) for size in (small, 4 * small)]
            self.linear(*seconds, kind.__name__)

    def test_replay_looks_into_the_index_no_more_than_it_is_worth(self):
        seconds = [self.cpu_of("-i", "hostile", "replay", "--max", "--start", "1000", self.write(hostile.lives(size)))
                   for size in (1024 * KIB, 4096 * KIB)]
        self.linear(*seconds, "replay --start")

    def test_frames_beside_maps_that_are_all_the_same(self):
        """The maps expand to far more bytes than the frames, but the recording is valid."""
        path = self.write(hostile.beside_grids(6))
        status, _ = self.end_of(self.start("info", "--json", path))
        with open(os.path.join(self.top, "out"), encoding="utf-8") as f:
            info = json.load(f)
        self.assertEqual((status, info["frames"], info["damage"]), (0, 6, []))
        with stixel.Recording(path) as recording:
            self.assertEqual([type(r) for r in recording.records()], [stixel.Frame] * 6)

    def test_a_summary_is_read_up_to_64_mib(self):
        for more, indexed in ((0, True), (1, False)):
            # including the footer up to its checksum, as the checksum covers it
            data, hole, tail = hostile.summary_of((64 << 20) - 25 + more)
            path = self.write(data)
            with open(path, "r+b") as f:
                f.seek(len(data) + hole)
                f.write(tail)
            with stixel.Recording(path) as recording:
                if indexed:
                    self.assertEqual(len(list(recording.frames(since_ns=1))), 1)
                else:
                    with self.assertRaisesRegex(stixel.StixelError, "has no index"):
                        list(recording.frames(since_ns=1))

    def test_a_signal_ends_it_at_once(self):
        # some seconds of work, and more for commands that export or replay
        path = self.write(hostile.black_frames(1024 * KIB))
        for args, number in ((("info", path), signal.SIGINT), (("info", path), signal.SIGTERM),
                             (("export", path, os.path.join(self.top, "to.mcap")), signal.SIGINT),
                             (("-i", "hostile", "replay", "--max", path), signal.SIGTERM)):
            process = self.start(*args)
            time.sleep(0.3)
            self.assertIsNone(process.poll(), args)
            with open("/proc/%d/stat" % process.pid, encoding="ascii") as f:
                ticks = sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13]))
            process.send_signal(number)
            status, seconds = self.end_of(process)
            self.assertIn(status, (0, 1), args)
            self.assertLess(seconds - ticks / os.sysconf("SC_CLK_TCK"), 1.0 * SLOW, args)

    def test_an_index_that_leads_out_of_the_file(self):
        data = hostile.frames_of(8)
        for place in (len(data) + 1000, 1 << 63, (1 << 64) - 1):
            with stixel.Recording(self.write(hostile.finish(data, [8, place]))) as recording:
                self.assertEqual(len(list(recording.frames())), 8)
                self.assertIsNone(recording.end)
                with self.assertRaises(stixel.StixelError):
                    list(recording.frames(since_ns=1 << 61))


if __name__ == "__main__":
    unittest.main()
