# A short soak passes, and one of a daemon that leaks does not.
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 2.0


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
        self.assertRegex(leaks[0], r"(?m)^WRONG: files: memory grew by \d+ KiB$")
        self.assertRegex(leaks[0], r"(?m)^WRONG: files: \d+ descriptors became \d+$")
        self.assertEqual(leaks[0].count("WRONG"), 2, leaks[0])

    def test_usage(self):
        for words, code in ((["--frames", "x"], 64), (["--build", "/nowhere"], 77)):
            p = subprocess.run([os.path.join(HERE, "run"), *words], capture_output=True, text=True, check=False)
            self.assertEqual(p.returncode, code, p.stdout + p.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
