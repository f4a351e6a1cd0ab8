# Tests tests/bench/gate: its verdicts on made-up figures, and on programs with known times.
# SPDX-License-Identifier: Apache-2.0
import importlib.machinery
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

GATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gate")
loader = importlib.machinery.SourceFileLoader("gate", GATE)
gate = importlib.util.module_from_spec(importlib.util.spec_from_loader("gate", loader))
sys.dont_write_bytecode = True
loader.exec_module(gate)

# Prints like stixel-bench. Call n prints line n of the file beside the program, and starts again after the last line.
PROGRAM = """#!/bin/sh
n=$(cat "$0.calls" 2>/dev/null || echo 0)
echo $((n + 1)) >"$0.calls"
sed -n "$((n %% %d + 1))p" "$0.lines"
"""


def line(k):
    stages = {"sgm": 1.0 * k, "road": 2.0, "compact": 0.002 * k}
    return json.dumps({"stages": {name: {"median": ms} for name, ms in stages.items()},
                       "chain_ms": {"median": 3.0 * k}, "pipelined_ms": 3.0})


def rounds(*values):
    return [{"sgm": v} for v in values]


class Judge(unittest.TestCase):
    def verdict(self, base, work, limit=5.0):
        row, = gate.judge(rounds(*base), rounds(*work), limit)
        return row[-1]

    def noisy(self, middle, noise, seed, n=9):
        lot = random.Random(seed)
        return [middle * (1 + lot.uniform(-noise, noise)) for _ in range(n)]

    def test_verdicts(self):
        for seed in range(50):
            base = self.noisy(1.0, 0.005, seed)
            self.assertEqual(self.verdict(base, self.noisy(1.08, 0.005, seed + 100)), "SLOWER")
            self.assertEqual(self.verdict(base, self.noisy(1.03, 0.005, seed + 100)), "same")
            self.assertEqual(self.verdict(base, self.noisy(0.90, 0.005, seed + 100)), "faster")
            # with other work on the machine no verdict is possible, so the program is not called good
            self.assertIn(self.verdict(self.noisy(1.0, 0.3, seed), self.noisy(1.08, 0.3, seed + 100)),
                          ("restless", "same", "SLOWER"))
        self.assertEqual(self.verdict([1.0] * 9, [1.2, 0.9] * 4 + [1.2]), "restless")
        # the ratios lie slightly below and slightly above the limit
        self.assertEqual(self.verdict([1.0] * 9, [1.04, 1.07] * 4 + [1.07]), "near")
        self.assertEqual(self.verdict([0.05] * 9, [0.052, 0.054] * 4 + [0.054]), "same")
        # one disturbed round has no effect
        self.assertEqual(self.verdict([1.0] * 9, [1.08] * 8 + [0.9]), "SLOWER")
        self.assertEqual(self.verdict([1.0] * 9, [1.0] * 8 + [3.0]), "same")
        # the requested limit is used
        self.assertEqual(self.verdict([1.0] * 9, [1.08] * 9, limit=10.0), "same")

    def test_too_short_to_be_told(self):
        # two steps of the printed resolution are 5 % here
        self.assertEqual(self.verdict([0.038] * 9, [0.040] * 9), "short")
        self.assertEqual(self.verdict([0.038] * 9, [0.043] * 9), "SLOWER")

    def test_left_out(self):
        self.assertEqual(gate.judge(rounds(*[0.004] * 5), rounds(*[0.008] * 5), 5.0), [])
        self.assertEqual(gate.judge([{"old": 1.0}] * 5, [{"new": 1.0}] * 5, 5.0), [])

    def test_interval(self):
        self.assertEqual(gate.interval([3, 1, 2, 5, 4]), (1, 5))
        self.assertEqual(gate.interval(list(range(9))), (1, 7))


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, self.folder)

    def program(self, name, *factors):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            f.write(PROGRAM % len(factors))
        with open(path + ".lines", "w") as f:
            f.write("".join(line(k) + "\n" for k in factors))
        os.chmod(path, 0o755)
        return path

    def gate(self, *words, cwd=None):
        r = subprocess.run([GATE, *words], capture_output=True, text=True, check=False, cwd=cwd)
        return r.returncode, r.stdout, r.stderr

    def self_check(self, program):
        return self.gate("--self-check", "--rounds", "5", "--programs", "/nowhere", program)

    def test_slower_and_not(self):
        base, saved = self.program("base", 1.0, 1.004), os.path.join(self.folder, "json")
        code, out, err = self.gate("--programs", base, self.program("same", 1.0, 1.01), "--json", saved)
        self.assertEqual((code, err), (0, ""), out)
        self.assertIn("slower by more than 5 %: nothing", out)
        with open(saved) as f:
            self.assertEqual([s["stage"] for s in json.load(f)["stages"]], ["sgm", "road", "chain", "pipelined"])
        code, out, _ = self.gate("--programs", base, self.program("slow", 1.08, 1.09), "--rounds", "5")
        self.assertEqual(code, 1, out)
        self.assertIn("slower by more than 5 %: sgm, chain", out)

    def test_nothing_was_measured(self):
        base = self.program("base", 1.0)
        code, out, err = self.gate("--programs", base, self.program("wild", 0.8, 1.3), "--rounds", "5")
        self.assertEqual(code, 75, out + err)
        self.assertIn("not to be told on this machine just now: sgm, chain", out)
        self.assertIn("nothing was compared", err)
        with open(base + ".calls") as f:
            self.assertEqual(int(f.read()), 3 * 6)  # including the warm-up runs
        # a restless program that settles is judged by all rounds together
        calls = [1.0, 0.8, 1.3, 0.8, 1.3, 0.8] + [1.0] * 100
        code, out, err = self.gate("--programs", base, self.program("rests", *calls), "--rounds", "5")
        self.assertEqual(code, 0, out + err)
        self.assertIn("once more", err)
        # a program that is always slower is found although another stage is restless
        code, out, _ = self.gate("--programs", base, self.program("slow", 1.2, 1.3), "--rounds", "5")
        self.assertEqual(code, 1, out)

    def test_near_the_limit(self):
        base = self.program("base", 1.0)
        # five rounds are not enough for a verdict, fifteen are: in both directions
        calls = [1.0, 1.04, 1.07, 1.07, 1.07, 1.07]
        code, out, err = self.gate("--programs", base, self.program("slow", *calls, *[1.07] * 100), "--rounds", "5")
        self.assertEqual(code, 1, out + err)
        self.assertIn("sgm, chain near the limit: once more", err)
        calls = [1.0, 1.04, 1.07, 1.04, 1.04, 1.04]
        code, out, err = self.gate("--programs", base, self.program("good", *calls, *[1.04] * 100), "--rounds", "5")
        self.assertEqual(code, 0, out + err)
        self.assertIn("once more", err)
        # a stage that stays near the limit is reported, and is not called slower
        code, out, err = self.gate("--programs", base, self.program("near", 1.04, 1.07), "--rounds", "5")
        self.assertEqual(code, 0, out + err)
        self.assertEqual(err.count("once more"), 2)
        self.assertIn("too near the limit to be told: sgm, chain", out)

    def test_programs_of_the_current_folder(self):
        self.program("base", 1.0)
        self.program("same", 1.0)
        code, out, err = self.gate("--programs", "base", "./same", "--rounds", "5", cwd=self.folder)
        self.assertEqual((code, err), (0, ""), out)

    def test_self_check_wants_both(self):
        # a program that does not get slower with more work: the self-check must fail
        code, _, err = self.self_check(self.program("work", 1.0))
        self.assertEqual(code, 1)
        self.assertIn("was not found", err)
        # a program that gets slower with any settings
        calls = [1.0] + [1.0] + [1.0, 1.3, 1.3, 1.0] * 20
        code, _, err = self.self_check(self.program("worse", *calls))
        self.assertEqual(code, 1)
        self.assertIn("against itself it is slower in sgm, chain", err)

    def test_nothing_to_compare_with(self):
        tree = os.path.join(self.folder, "tests", "bench")
        os.makedirs(tree)
        shutil.copy(GATE, tree)
        env = dict(os.environ, GIT_CEILING_DIRECTORIES=self.folder)
        r = subprocess.run([os.path.join(tree, "gate")], capture_output=True, text=True, check=False, env=env)
        self.assertEqual(r.returncode, 77, r.stderr)
        self.assertIn("no git history: nothing was compared", r.stderr)

    def test_usage(self):
        for words in (["--rounds", "4"], ["--engine", "x"], ["stray"]):
            self.assertEqual(self.gate(*words)[0], 64, words)
        code, _, err = self.gate("--programs", "/nowhere", "/nowhere")
        self.assertEqual((code, err), (1, "gate: /nowhere: No such file or directory\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
