"""tests/results.py: what tools/test counts, and what it prints at the end.

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
        """Writes a log as Meson does. Each entry is (suite and name, command, result, output)."""
        path = self.path(name)
        with open(path, "w") as f:
            for test, command, result, said in entries:
                json.dump({"name": "stixeld:" + test, "command": command.split(), "result": result, "stdout": said,
                           "stderr": ""}, f)
                f.write("\n")
        return path

    def lines(self, *words):
        return subprocess.run([sys.executable, os.path.join(SOURCE, "tests/results.py"), *words], capture_output=True,
                              text=True, check=True).stdout.splitlines()

    def results(self, *words):
        return " ".join(self.lines(*words)).split()

    def test_two_tests_of_one_name_are_two(self):
        for results in (["FAIL", "OK"], ["OK", "FAIL"]):
            log = self.log("a.json", *[("daemon / pictures", command, result, "")
                                  for command, result in zip(("python a.py", "./pictures"), results)])
            self.assertEqual(self.results("count", log), ["1", "1", "0"])

    def test_results_are_counted(self):
        log = self.log("a.json", ("ipc / a", "a", "OK", ""), ("ipc / b", "b", "FAIL", ""),
                       ("ipc / c", "c", "SKIP", ""), ("ipc / b", "other", "TIMEOUT", ""),
                       ("ipc / d", "d", "EXPECTEDFAIL", ""), ("ipc / e", "e", "ERROR", ""))
        self.assertEqual(self.results("count", log), ["2", "3", "1"])

    def text(self, name, lines):
        path = self.path(name)
        with open(path, "w") as f:
            f.write("\n".join(lines) + "\n")
        return path

    def test_what_failed_by_name_and_its_last_words(self):
        said = "\n".join(["ok 1 - good", "test_it ... ok"] + ["line %d" % n for n in range(40)] + ["FAILED: no name"])
        log = self.log("a.json", ("ipc / good", "g", "OK", "well"), ("ipc+threads / slow", "s", "TIMEOUT", "late"),
                       ("ipc / bad", "b", "FAIL", said), ("ipc / pair", "1", "OK", ""))
        told = self.lines("failed", "gcc", log)
        self.assertEqual(told[:3], ["FAILED: gcc: ipc+threads / slow: TIMEOUT after 0.0 s", "\tlate",
                                    "FAILED: gcc: ipc / bad: FAIL after 0.0 s"])
        self.assertEqual(told[3:], ["\tline %d" % n for n in range(16, 40)] + ["\tFAILED: no name"])
        self.assertEqual(self.lines("failed", "gcc", self.log("c.json", ("ipc / good", "g", "OK", ""))), [])

    def test_a_script_is_counted_and_told(self):
        output = ["FAILED: the build", "\tno compiler", "ok all else", "\tnot of it", "3 passed, 1 failed, 0 skipped"]
        path = self.text("a.log", output)
        self.assertEqual(self.results("count", path), ["3", "1", "0"])
        self.assertEqual(self.lines("failed", "cuda", path),
                         ["FAILED: cuda: the build", "\tno compiler"])

    def test_a_script_that_does_not_say_what_failed(self):
        path = self.text("a.log", ["FAILED: a", "words", "0 passed, 3 failed, 0 skipped"])
        self.assertEqual(self.lines("failed", "fuzz", path),
                         ["FAILED: fuzz: a", "FAILED: fuzz: 2 not named", "\tFAILED: a", "\twords",
                          "\t0 passed, 3 failed, 0 skipped"])
        path = self.text("b.log", ["half of it"])
        self.assertEqual(self.results("count", path), ["0", "1", "0"])
        self.assertEqual(self.lines("failed", "fuzz", path), ["FAILED: fuzz: it ended early", "\thalf of it"])

    def test_the_end_tells_all_names_and_is_short(self):
        for number in (1, 3, 12, 31, 200):
            lines = []
            for n in range(number):
                lines += ["FAILED: gcc: test %d" % n, *("\t%d %s" % (k, "x" * 300) for k in range(25))]
            told = self.lines("tell", self.text("all", lines), str(number))
            self.assertLessEqual(len(told), 100, number)
            self.assertLessEqual(max(map(len, told)), 200, number)
            names = [line for line in told if line.startswith("failed: gcc: test")]
            self.assertEqual(len(names), min(number, 32), number)
            self.assertEqual(told[-1], "failed: gcc: test %d" % (number - 1) if number <= 33 else "and 168 more")
            # the first failed test comes last
            self.assertEqual([line for line in told if line.endswith("said:")][-1:], ["gcc: test 0 said:"])
            # the end of each output, for as many tests as fit; the whole output if few tests failed
            ends = [n for n, line in enumerate(told) if line.startswith("    24 x")]
            self.assertEqual(len(ends), min(number, 12 if number <= 12 else 11), number)
            if number == 3:
                self.assertEqual(ends, [25, 51, 77])

    def test_more_failed_than_has_a_name(self):
        path = self.text("all", ["FAILED: gcc: a"])
        self.assertEqual(self.lines("tell", path, "1"), ["failed: gcc: a"])
        self.assertEqual(self.lines("tell", path, "3"),
                         ["failed: gcc: a", "failed: 2 more, of which nothing is known"])
        self.assertEqual(self.lines("tell", self.text("none", []), "0"), [])

    def test_targets(self):
        """Lists the targets of suites with the programs that their tests start, and the targets of an installation
        without tests."""
        build = os.environ["STIXEL_BUILD"]
        installed, ipc = self.lines("targets", build, "installed"), self.lines("targets", build, "ipc")
        for name in ("daemon/stixeld", "tools/stixelctl"):
            self.assertIn(name, installed)
        self.assertEqual([name for name in installed if name.startswith("tests/")], [])
        self.assertTrue([name for name in ipc if name.startswith("tests/ipc/")])
        self.assertEqual(self.lines("targets", build, "installed", "ipc"), sorted({*installed, *ipc}))
        self.assertEqual(self.lines("targets", build, "no such suite"), [])
        one = self.lines("targets", build, "test=exitcodes", "ipc", "-ipc")
        self.assertIn("daemon/stixeld", one)
        self.assertEqual([name for name in one if name.startswith("tests/ipc/test")], [])


if __name__ == "__main__":
    unittest.main()
