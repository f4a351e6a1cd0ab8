# Parts of tests/night/run by themselves, with a clock that is played, and what tests/fuzz/run and tests/simulate/run do
# when a night tells them to end.
#
# SPDX-License-Identifier: Apache-2.0
import contextlib
import importlib.machinery
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import types
import unittest
import unittest.mock

from test_night import HERE, WAIT_S, wait_for


def load(kind):
    """tests/KIND/run, as a module."""
    folder, others = os.path.join(os.path.dirname(HERE), kind), ("planted", "targets")
    loader = importlib.machinery.SourceFileLoader("run_" + kind, os.path.join(folder, "run"))
    module = types.ModuleType(loader.name)
    module.__file__ = loader.path
    sys.path.insert(0, folder)
    try:
        loader.exec_module(module)
    finally:
        sys.path.remove(folder)
        for name in others:  # each folder has its own
            sys.modules.pop(name, None)
    return module


class Parts(unittest.TestCase):
    """Of tests/night/run, in this process."""

    def setUp(self):
        self.run = load("night")
        self.night = self.run.Night.__new__(self.run.Night)

    def slices(self, minutes, of_slice, jobs, early=False):
        """[seconds that are left at the start] of the slices of a night by a played clock, whose slices end after
        their time, or each other one early, after a second; and why it ended."""
        night, clock, begun = self.night, types.SimpleNamespace(now=100.0), []
        night.o = types.SimpleNamespace(minutes=minutes, slice=of_slice, jobs=jobs)
        night.running, night.passed_over, night.ending = [], set(), None
        targets = [("fuzz", "abcdefgh"[n]) for n in range(8)]
        night.progresses = lambda: dict.fromkeys(targets, 0)

        def sleep(seconds):
            clock.now += seconds

        def start(at, until):
            seconds = min(60 * of_slice, until - clock.now)
            begun.append(seconds)
            one = self.run.Slice(at, None, clock.now + (1 if early and len(begun) % 2 else seconds), "", "")
            night.running.append(one)

        def look():
            night.running = [one for one in night.running if clock.now < one.until]

        night.start, night.look = start, look
        night.hurry = lambda: setattr(night, "running", [])
        self.run.time = types.SimpleNamespace(monotonic=lambda: clock.now, sleep=sleep)
        night.go()
        self.assertLessEqual(clock.now, 100 + 60 * minutes + 1)
        return begun, night.ending

    def test_its_slices(self):
        begun, why = self.slices(minutes=12, of_slice=5, jobs=1)
        self.assertEqual(([round(s, -1) for s in begun], why), ([300, 300, 120], "its time is over"))
        for slices in ((2, 5, 1, True), (2, 5, 4, True), (7, 5, 3, True), (0.1, 0.05, 2, True)):
            begun, why = self.slices(*slices)
            self.assertGreater(len(begun), slices[2])
            self.assertGreaterEqual(min(begun), min(20, 60 * slices[1]), slices)
            self.assertEqual(why, "its time is over")
        self.assertEqual(self.slices(minutes=0.2, of_slice=5, jobs=2), ([], "its time is over"))

    def test_what_does_not_end_is_killed(self):
        self.run.GRACE_S = 0.1
        children = [subprocess.Popen(["sh", "-c", "trap '' TERM; echo; sleep 60 & wait; wait"],
                                     stdout=subprocess.PIPE, start_new_session=True) for _ in range(2)]
        for child in children:
            child.stdout.readline()  # it ignores SIGTERM by now
        self.night.running = [self.run.Slice(("fuzz", "a"), child, 0, "", "") for child in children]
        self.night.end_all()
        self.assertEqual([child.returncode for child in children], 2 * [-signal.SIGKILL])
        for child in children:
            self.assertEqual(child.stdout.read(), b"")  # those that it had started are gone, too
            child.stdout.close()


class Runners(unittest.TestCase):
    """Of tests/fuzz and tests/simulate, with programs that do nothing."""

    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="stixel-night-")
        self.addCleanup(shutil.rmtree, self.top)

    def program(self, name, text):
        path = os.path.join(self.top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)
        return path

    def fuzz(self, text):
        """What is said of a target that gets SIGTERM's signal while it runs; a second one, that waited for it, too."""
        fuzz, results = load("fuzz"), []
        program = self.program("program", text)
        fuzz.targets.unpack = lambda *_: None
        fuzz.command = lambda *_: [program]
        thread = threading.Thread(target=lambda: results.append(fuzz.run(self.top, "frame", 20)))
        thread.start()
        wait_for(lambda: os.path.exists(program + ".begun"))
        fuzz.Running.end()
        thread.join(WAIT_S)
        os.remove(program + ".begun")
        results.append(fuzz.run(self.top, "image", 20))
        self.assertFalse(os.path.exists(program + ".begun"), "it was started")
        return [found for _, _, found in results]

    def test_a_target_that_is_ended_as_it_starts(self):
        self.assertEqual(self.fuzz(": >$0.begun\nexec sleep 60\n"), [None, None])
        self.assertEqual(self.fuzz("trap 'exit 0' USR1\n: >$0.begun\nwhile :; do sleep 0.02; done\n"), [None, None])

    def test_a_target_that_has_had_its_seconds_of_a_core(self):
        fuzz = load("fuzz")
        program = self.program("program", "trap 'echo stat::number_of_executed_units: 7; exit 0' USR1\n"
                               "sleep 0.5\nwhile :; do :; done\n")
        fuzz.targets.unpack = lambda *_: None
        fuzz.command = lambda *_: [program]
        _, figures, found = fuzz.run(self.top, "frame", 20, 0.2)
        self.assertIsNone(found)
        self.assertEqual(figures["number_of_executed_units"], 7)
        self.assertTrue(0.2 <= figures["core_seconds"] < 5, figures)
        self.assertGreater(figures["seconds"], 0.6)  # it slept, and that is not counted

    def test_a_history_that_begins_as_all_end(self):
        simulate = load("simulate")
        self.program("tests/simulate/stixel-simulate", "exec sleep 60\n")
        usual, runs = subprocess.Popen, []

        def start(*words, **more):
            runs.append(usual(*words, **more))
            os.kill(os.getpid(), signal.SIGTERM)
            return runs[-1]

        self.addCleanup(signal.signal, signal.SIGTERM, signal.getsignal(signal.SIGTERM))
        with unittest.mock.patch.object(simulate.subprocess, "Popen", start), \
                contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(simulate.histories(self.top, [], 2, 1, 1, 1), 0)
        self.assertIn("total after 0.0 minutes", said.getvalue())
        for run in runs:
            run.stdout.close()
            run.wait()

    def test_a_finding_at_the_end_is_one(self):
        found = self.fuzz("trap 'echo ERROR: wrong; exit 1' USR1\n: >$0.begun\nwhile :; do sleep 0.02; done\n")
        self.assertEqual(found, [(None, ["ERROR: wrong"]), None])
        found = self.fuzz("trap 'exit 1' USR1\n: >$0.begun\nwhile :; do sleep 0.02; done\n")
        self.assertEqual(found, [(None, ["it ended with status 256 and said nothing"]), None])


if __name__ == "__main__":
    unittest.main()
