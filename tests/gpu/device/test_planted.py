# check_device with an engine one of whose variants is wrong: it finds the fault, and in no other variant.
# Arguments: check_device, the module with the planted fault.
# SPDX-License-Identifier: Apache-2.0
import os
import re
import subprocess
import sys
import unittest

CHECK_DEVICE, PLANTED = sys.argv[1:3]


class Planted(unittest.TestCase):
    def check(self, *words, planted=True):
        path = PLANTED if planted else os.environ["STIXEL_PLANTED_MODULE"]
        return subprocess.run([CHECK_DEVICE, *map(str, words)], env=dict(os.environ, STIXEL_MODULE_PATH=path),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def test_the_wrong_variant_is_named(self):
        words = ["--quick", "--part", 38, 60]
        r = self.check(*words, planted=False)
        self.assertEqual(r.returncode, 0, r.stderr)
        checks = re.findall(r"^# .*, volume (\w+): (\d+) checks, 0 failed$", r.stdout, re.M)
        self.assertEqual([name for name, _ in checks], ["stored", "checkpoint", "stored"])
        self.assertGreater(min(int(n) for _, n in checks), 0, "this part has no case")
        for threads in (1, 3):
            r = self.check(*words, "--threads", threads)
            self.assertEqual(r.returncode, 1, r.stderr)
            failed = re.findall(r"^# .*, volume (\w+): (\d+) checks, (\d+) failed$", r.stdout, re.M)
            self.assertEqual([(name, n) for name, n, _ in failed], checks)  # all others are still checked
            self.assertEqual([int(bad) > 0 for _, _, bad in failed], [False, True, False])
            self.assertIn("volume checkpoint, input mapped: disparity", r.stderr)
            self.assertNotIn("volume stored", r.stderr)

    def test_a_random_setting_can_be_repeated(self):
        r = self.check("--random", 1, 6, "--cells", 50000, "--threads", 2)
        self.assertEqual(r.returncode, 1, r.stderr)
        # of the two checkpoint variants, the device that was opened last is wrong: that of seeds 3, 9, ...
        again = re.findall(r"^again by: check_device (.*)$", r.stderr, re.M)
        self.assertEqual(again, ["--random 3 1 --cells 50000"])
        r = self.check(*again[0].split())
        self.assertEqual(r.returncode, 1)
        self.assertIn("\n2 checks, 1 failed\n", r.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
