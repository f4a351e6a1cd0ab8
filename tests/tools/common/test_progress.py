# Tests the progress line of a batch: on a terminal of any width, removed at the end, and absent elsewhere.
# SPDX-License-Identifier: Apache-2.0
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import unittest

from support import Folder, program, run, shifted_pair, write_pgm

SMALL = ["-s", "stereo.disparities=32", "-s", "engine.threads=1"]


class Progress(Folder):
    PAIRS = 70

    def setUp(self):
        super().setUp()
        # a sanitized batch of small images takes as long as a plain batch of large ones
        left, right = shifted_pair(*((96, 64) if os.environ["SX_SANITIZED"] else (320, 160)), 5)
        write_pgm(self.path("left.pgm"), left)
        write_pgm(self.path("right.pgm"), right)
        self.args = [*SMALL, "-o", self.path("out")]
        self.pairs = [self.path("left.pgm"), self.path("right.pgm")]

    def on_terminal(self, columns, args, term="xterm"):
        """Returns (exit code, what a terminal of that width received from stderr)."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        p = subprocess.Popen([program("stixel-process"), *args], stdout=subprocess.DEVNULL, stderr=slave,
                             env=dict(os.environ, TERM=term))
        os.close(slave)
        got = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                part = b""
            if not part:
                break
            got += part
        os.close(master)
        return p.wait(timeout=60), got.decode()

    def test_every_width(self):
        for columns in (20, 80):
            with self.subTest(columns):
                code, got = self.on_terminal(columns, [*self.args, *self.pairs * self.PAIRS])
                self.assertEqual(code, 0, got)
                drawn = [d.replace("\033[K", "") for d in got.split("\r") if "%" in d]
                self.assertTrue(drawn, "a batch of %d pairs showed nothing" % self.PAIRS)
                for d in drawn:
                    self.assertLess(len(d), columns)
                shares = [int(re.search(r"(\d+) %", d).group(1)) for d in drawn]
                self.assertEqual(shares, sorted(shares))
                self.assertEqual("[" in drawn[-1], columns >= 80)
                if columns >= 80:
                    self.assertRegex(drawn[-1], r"^\[#*\.*\] +\d+ %  \d+ of 70 pairs, [\d.]+ a second, \d+:\d\d left$")
                self.assertTrue(got.endswith("\r\033[K"), repr(got[-40:]))

    def test_messages_stand_on_lines_of_their_own(self):
        broken = [self.path("none.pgm"), self.path("right.pgm")]
        code, got = self.on_terminal(120, [*self.args, *(self.pairs * 20 + broken) * 3])
        self.assertEqual(code, 65)
        for line in re.split(r"\r\n|\r", got.replace("\033[K", "")):
            self.assertFalse("none.pgm" in line and not line.startswith("stixel-process: "), repr(line))

    def test_nothing_where_nobody_looks(self):
        self.assertEqual(run("stixel-process", *self.args, *self.pairs * self.PAIRS).stderr.count("\r"), 0)
        self.assertNotIn("\r\033", self.on_terminal(80, [*self.args, *self.pairs * self.PAIRS], term="dumb")[1])
        self.assertNotIn("%", self.on_terminal(80, [*self.args, *self.pairs])[1].split("default one")[-1])


if __name__ == "__main__":
    unittest.main()
