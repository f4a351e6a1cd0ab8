# Tests a simulation that is ended early: it prints what it has done, and leaves no processes or files.
# SPDX-License-Identifier: Apache-2.0
import os
import re
import signal
import subprocess
import sys
import time
import unittest

PROGRAM = sys.argv.pop(1)
TIMEOUT_S = 30


def folders(pid):
    """Returns the folders of the current history. Its process, a child of this one, has mapped them."""
    found = set()
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="utf-8") as f:
        children = f.read().split()
    for child in children:
        try:
            with open("/proc/%s/maps" % child, encoding="utf-8") as f:
                found.update(re.findall(r"/\S+/stixel-simulate\.\w{6}(?=/)", f.read()))
        except OSError:
            pass  # the child has ended
    return found


def end_group(group):
    """Kills the group: a history that still runs would go on for minutes."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


class End(unittest.TestCase):
    def ended(self, number, *words, after_s=0.0):
        """Runs the program, ends it with a signal and returns its output."""
        run = subprocess.Popen([PROGRAM, "--totals", *words], stdout=subprocess.PIPE, universal_newlines=True,
                               start_new_session=True)
        self.addCleanup(run.stdout.close)
        self.addCleanup(end_group, run.pid)
        began, found = time.monotonic(), set()
        while not found or time.monotonic() - began < after_s:
            self.assertLess(time.monotonic() - began, TIMEOUT_S, "no history began")
            time.sleep(0.01)
            found = folders(run.pid)
        run.send_signal(number)
        self.assertEqual(run.wait(TIMEOUT_S), -number)
        self.assertEqual([f for f in found if os.path.exists(f)], [])
        return run.stdout.read()

    def test_it_ends_at_once(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            began = time.monotonic()
            said = self.ended(number, "--lasting", "--length", "315576000")
            self.assertLess(time.monotonic() - began, 2 * TIMEOUT_S)
            self.assertRegex(said, r"^totals 1 0 0 \S+ 0\.0 ")

    def test_what_was_done_before_is_told(self):
        said = self.ended(signal.SIGTERM, "--seed", "3", "--minutes", "5", "--length", "20", after_s=1)
        self.assertRegex(said, r"^totals 3 \d+ 0 ")
        words = said.split()
        self.assertGreater(int(words[2]), 0)
        self.assertEqual(float(words[5]), 20.0 * int(words[2]))  # only whole histories count


if __name__ == "__main__":
    unittest.main(verbosity=2)
