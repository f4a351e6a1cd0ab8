# Tests --preset of stixel-process, and stixelctl presets.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import unittest

from support import Folder, run, shifted_pair, write_pgm


class Presets(Folder):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("presets"))
        self.write("presets/wide.conf", "# Wide columns\n[stixels]\nwidth = 16\n[stereo]\ndisparities = 32\n")
        self.env = dict(os.environ, STIXEL_PRESET_PATH=self.path("presets"))

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)

    def ask(self, *args, code=0):
        r = run(*args, env=self.env)
        self.assertEqual(r.returncode, code, r.stderr)
        return r.stderr if code else r.stdout

    def columns(self, *args):
        self.ask("stixel-process", "-o", self.path("out"), *args, self.path("l.pgm"), self.path("r.pgm"))
        with open(self.path("out/l.stixels.csv")) as f:
            return 1 + max(int(line.split(",")[0]) for line in list(f)[1:])

    def test_process(self):
        for side, rows in zip("lr", shifted_pair(128, 96, 5)):
            write_pgm(self.path(side + ".pgm"), rows)
        self.assertEqual(self.columns("--preset", "wide"), 8)
        self.assertEqual(self.columns("--preset", "wide", "-s", "stixels.width=8"), 16)
        self.assertEqual(self.columns("--preset", self.path("presets/wide.conf")), 8)
        said = self.ask("stixel-process", "--preset", "wild", "l", "r", code=64)
        self.assertIn("--preset needs wide of %s, or a path such as ./FILE, not 'wild'" % self.path("presets"), said)
        self.write("presets/wide.conf", "[stixels]\nwidht = 16\n")
        said = self.ask("stixel-process", "--preset", "wide", self.path("l.pgm"), self.path("r.pgm"), code=78)
        self.assertIn("presets/wide.conf:2: [stixels] widht: unknown key, did you mean width?", said)

    def test_list(self):
        path = self.path("presets/wide.conf")
        self.assertEqual(self.ask("stixelctl", "presets"),
                         "wide: Wide columns\n    stereo.disparities=32\n    stixels.width=16\n")
        self.assertEqual(json.loads(self.ask("stixelctl", "presets", "--json")),
                         [{"name": "wide", "path": path, "help": "Wide columns",
                           "keys": {"stereo.disparities": "32", "stixels.width": "16"}}])
        del self.env["STIXEL_PRESET_PATH"]
        self.assertEqual([p["name"] for p in json.loads(self.ask("stixelctl", "presets", "--json"))],
                         ["car", "fast", "indoor", "robot"])


if __name__ == "__main__":
    unittest.main()
