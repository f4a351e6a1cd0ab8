# Tests a start that lacks a resource: the exit code that lets systemd try again, a sentence, and no files left.
#
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import unittest

from harness import SANITIZED, SMALL, STIXELD, Instance

CASES = [  # call that fails, exit code, message
    ("timerfd_create", 70, "no descriptor for the pace of pairs: Too many open files"),
    ("signalfd", 70, "cannot create descriptors for signals and events: Too many open files in system"),
    ("open_null", 70, "/dev/null: Too many open files"),
    ("open_conf", 70, "Too many open files"),
    ("chmod", 73, "status.sock: Input/output error"),
    ("listen", 73, "status.sock: Input/output error"),
]


@unittest.skipIf(SANITIZED, "a sanitizer has these calls")
class StartFails(unittest.TestCase):
    def test_calls(self):
        for call, code, text in CASES:
            with self.subTest(call):
                i = Instance()
                self.addCleanup(i.close)
                conf = os.path.join(i.top, "a.conf")
                with open(conf, "w", encoding="utf-8") as f:
                    f.write("[source]\nkind = synthetic\n")
                p = subprocess.run([STIXELD, "-i", i.name, "-c", conf, *SMALL, "--frames", "2"], timeout=60,
                                   capture_output=True, text=True, check=False,
                                   env=i.environment({"LD_PRELOAD": os.environ["STIXELD_FAIL_CALL"],
                                                      "FAIL_CALL": call}))
                self.assertEqual(p.returncode, code, p.stderr)
                self.assertIn(text, p.stderr)
                os.remove(conf)
                self.assertEqual(i.leftovers(), [])

    def test_help_lists_every_code(self):
        out = subprocess.run([STIXELD, "--help"], capture_output=True, text=True, check=True).stdout
        for code in (64, 65, 69, 70, 71, 73, 78):
            self.assertRegex(out, r";\s+%d\s+[a-z]" % code)


if __name__ == "__main__":
    unittest.main()
