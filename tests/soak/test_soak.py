# Tests tests/soak/run: a short soak passes, and a soak of a daemon that leaks fails.
# SPDX-License-Identifier: Apache-2.0
import collections
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
loader = importlib.machinery.SourceFileLoader("soak", os.path.join(HERE, "run"))
rules = importlib.util.module_from_spec(importlib.util.spec_from_loader("soak", loader))
sys.dont_write_bytecode = True
loader.exec_module(rules)
SECONDS = 3.0


def soak(folder, *args, **environment):
    return subprocess.Popen([os.path.join(HERE, "run"), "--build", os.environ["STIXEL_BUILD"], "--minutes",
                             str(SECONDS / 60), "--seed", "1", *args],
                            env=dict(os.environ, TMPDIR=folder, **environment), stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


class Soak(unittest.TestCase):
    def test_short(self):
        folder = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, folder)
        runs = [soak(folder, "--only", "files", LD_PRELOAD=os.environ["STIXEL_LEAK"], LEAK_KIB="100", LEAK_FILES="1"),
                soak(folder)]
        leaks, good = [(p.communicate(timeout=170)[0], p.returncode) for p in runs]
        self.assertEqual(good[1], 0, good[0])
        self.assertRegex(good[0], r"(?m)^files: [1-9]\d* frames in ")
        self.assertRegex(good[0], r"(?m)^replay: [1-9]\d* frames in ")
        self.assertRegex(good[0], r"(?m)^soak: good$")
        self.assertEqual(leaks[1], 1, leaks[0])
        self.assertRegex(leaks[0], r"(?m)^WRONG: files: memory +bad +\+\d+ KiB in ")
        self.assertRegex(leaks[0], r"(?m)^WRONG: files: descriptors +bad +\d+, then \d+,")
        self.assertEqual(leaks[0].count("WRONG"), 2, leaks[0])

    def test_what_nobody_used_was_not_tried(self):
        every = collections.Counter({page: 1 for page in rules.PAGES})
        without = every - collections.Counter(["status"])
        for numbers, wrong in ((("files", 1, 1, every), None), (("replay", 1, 1, without), None),
                               (("files", 0, 1, every), "nothing was published"),
                               (("files", 1, 0, every), "no reader got a frame"),
                               (("files", 1, 1, without), "stixel-web never gave status")):
            judge = unittest.mock.Mock()
            rules.judge_use(judge, *numbers)
            said = [call.args[0] for call in judge.fail.call_args_list]
            self.assertEqual(len(said), wrong is not None, said)
            self.assertIn(wrong or "", "".join(said))

    def test_what_endurance_found(self):
        for check, verdict, wrong in (("memory", "good", 0), ("memory", "bad", 1), ("memory", "not judged", 1),
                                      ("rate", "not judged", 0), ("log", "bad", 1), ("silence", "bad", 0)):
            out = json.dumps({"checks": [{"check": check, "verdict": verdict, "figure": "of this run"}]})
            endurance = unittest.mock.Mock(returncode=0, **{"communicate.return_value": (out, "")})
            judge = unittest.mock.Mock()
            with contextlib.redirect_stdout(io.StringIO()), \
                    unittest.mock.patch.object(rules, "TIMELY", {"answers", "heartbeat", "silence"}):
                rules.judge_endurance(judge, endurance)
            self.assertEqual(judge.fail.call_count, wrong, (check, verdict))
        endurance = unittest.mock.Mock(returncode=70, **{"communicate.return_value": ("", "no memory")})
        judge = unittest.mock.Mock()
        rules.judge_endurance(judge, endurance)
        judge.fail.assert_called_once_with("stixelctl endurance ended with 70: no memory")

    def test_a_daemon_that_publishes_nothing(self):
        folder = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, folder)
        for path in ("daemon/stixeld", "tools/stixelctl", "tools/web/stixel-web"):
            path = os.path.join(folder, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write("#!/bin/sh\necho running\nexec sleep 100\n")
            os.chmod(path, 0o755)
        said = io.StringIO()
        with unittest.mock.patch.object(sys, "argv", ["run", "--build", folder, "--minutes", "0.01"]), \
                unittest.mock.patch.object(rules, "READY_S", 0.3), \
                unittest.mock.patch.object(tempfile, "tempdir", folder), contextlib.redirect_stdout(said):
            self.assertEqual(rules.main(), 1)
        self.assertRegex(said.getvalue(), r"(?m)^WRONG: ring of soak-\d+: not within 0.3 s$")
        logs = re.search(r"logs are in (.*)", said.getvalue()).group(1)
        with open(os.path.join(logs, "stixeld.log")) as f:
            self.assertEqual(f.read(), "running\n")

    def test_usage(self):
        folder = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, folder)
        for words, code in ((["--minutes", "x"], 64), (["--build", "/nowhere"], 77)):
            p = subprocess.run([os.path.join(HERE, "run"), *words], env=dict(os.environ, TMPDIR=folder),
                               capture_output=True, text=True, check=False)
            self.assertEqual(p.returncode, code, p.stdout + p.stderr)
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
