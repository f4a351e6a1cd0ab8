"""tests/results.py: what tools/test counts, and what runs a second time.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import subprocess
import sys
import unittest

from support import Folder, SOURCE


class Results(Folder):
    def log(self, name, *entries):
        """Of Meson: (suite and name, command, result, what it said)."""
        path = self.path(name)
        with open(path, "w") as f:
            for test, command, result, said in entries:
                json.dump({"name": "stixeld:" + test, "command": command.split(), "result": result, "stdout": said,
                           "stderr": ""}, f)
                f.write("\n")
        return path

    def results(self, *words):
        return subprocess.run([sys.executable, os.path.join(SOURCE, "tests/results.py"), *words], capture_output=True,
                              text=True, check=True).stdout.split()

    def test_two_tests_of_one_name_are_two(self):
        for results in (["FAIL", "OK"], ["OK", "FAIL"]):
            log = self.log("a", *[("daemon / pictures", command, result, "")
                                  for command, result in zip(("python a.py", "./pictures"), results)])
            self.assertEqual(self.results("count", log, "none"), ["1", "1", "0"])
            self.assertEqual(self.results("again", log), ["pictures"])

    def test_the_second_run_counts(self):
        first = self.log("a", ("ipc / a", "a", "OK", ""), ("ipc / b", "b", "FAIL", ""), ("ipc / c", "c", "SKIP", ""),
                         ("ipc / b", "other", "TIMEOUT", ""))
        second = self.log("b", ("ipc / b", "other", "FAIL", ""), ("ipc / b", "b", "OK", ""))
        self.assertEqual(self.results("count", first, "none"), ["1", "2", "1"])
        self.assertEqual(self.results("count", first, second), ["2", "1", "1"])

    def test_what_gets_no_second_run(self):
        for entry in (("cpu / a", "a", "FAIL", ""), ("ipc / a", "a", "FAIL", "ERROR: AddressSanitizer: heap")):
            self.assertEqual(self.results("again", self.log("a", entry)), [], entry)
        many = [("ipc / %d" % n, "%d" % n, "FAIL", "") for n in range(4)]
        self.assertEqual(self.results("again", self.log("a", *many)), [])
        self.assertEqual(self.results("again", self.log("a", *many[:3])), ["0", "1", "2"])


if __name__ == "__main__":
    unittest.main()
