# Tests stixel-process --disparity: maps of other matchers from files, and the messages about unsuitable files.
# SPDX-License-Identifier: Apache-2.0
import unittest

from support import Folder, run, shifted_pair, write_pgm

WIDTH, HEIGHT, DISPARITY = 150, 98, 11
# The reference engine, without filters that change a finished map.
PLAIN = ["-s", "stereo.disparities=32", "-s", "filters.smooth=no", "-s", "filters.speckle_size=0", "-s",
         "engine.backend=reference"]


class Maps(Folder):
    def setUp(self):
        super().setUp()
        self.left, self.right = self.path("in", "left.pgm"), self.path("in", "right.pgm")
        for path, rows in zip((self.left, self.right), shifted_pair(WIDTH, HEIGHT, DISPARITY)):
            write_pgm(path, rows)

    def process(self, *args, folder="out"):
        return run("stixel-process", *PLAIN, "-o", self.path(folder), *args, self.left, self.right)

    def read(self, folder, name):
        with open(self.path(folder, name), "rb") as f:
            return f.read()

    def test_what_is_written_can_be_read(self):
        first = self.process()
        self.assertEqual(first.returncode, 0, first.stderr)
        again = self.process("--disparity", self.path("out", "left.disparity.png"), folder="again")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.read("again", "left.disparity.png"), self.read("out", "left.disparity.png"))
        self.assertGreater(len(self.read("again", "left.stixels.csv").splitlines()), 20)

    def test_files_that_do_not_fit(self):
        self.assertEqual(self.process().returncode, 0)
        small = self.path("in", "small.pgm")
        write_pgm(small, [bytes(20)] * 10)
        for args, code, text in (
                (["--disparity", self.left], 65, "left.pgm: grey8 of 150x98, expected a disparity map, 16 bit grey, of "
                                                 "150x98"),
                (["--disparity", small], 65, "small.pgm: grey8 of 20x10, expected a disparity map"),
                (["--disparity", self.path("none.png")], 65, "none.png: No such file"),
                (["--disparity", self.left, "--disparity", self.left], 64, "--disparity is given 2 times for 1 pairs"),
                (["-s", "stereo.matcher=external"], 78, "stereo.matcher = external: --disparity says whose maps")):
            r = self.process(*args, folder="wrong")
            self.assertEqual((r.returncode, r.stdout), (code, ""), r.stderr)
            self.assertIn(text, r.stderr)


if __name__ == "__main__":
    unittest.main()
