# The daemon looks at its own pictures: pairs with a planted fault make it degraded, pairs without bring it back.
#
# SPDX-License-Identifier: Apache-2.0
import os
import random
import struct
import unittest

from harness import TestCase, until

WIDTH, HEIGHT, SHIFT, FPS = 240, 120, 8, 20


def lattice(step):
    """Smooth noise: random grey levels so many pixels apart, interpolated."""
    values = random.Random(step)
    wide = (WIDTH + 100) // step + 2
    nodes = [[values.randrange(256) for _ in range(wide)] for _ in range((HEIGHT + 100) // step + 2)]

    def at(x, y):
        (i, a), (j, b) = divmod(x + 50, step), divmod(y + 50, step)
        up, low = (n[i] * (step - a) + n[i + 1] * a for n in (nodes[j], nodes[j + 1]))
        return (up * (step - b) + low * b) / step ** 2
    return at


COARSE, FINE = lattice(9), lattice(4)


def grey(x, y):
    return int(0.6 * COARSE(x, y) + 0.4 * FINE(x, y))


def image(right=0, down=0):
    """What the camera sees, moved by so many columns and rows."""
    return b"P5\n%d %d\n255\n" % (WIDTH, HEIGHT) + bytes(
        grey(x - right, y - down) for y in range(HEIGHT) for x in range(WIDTH))


BLACK = b"P5\n%d %d\n255\n" % (WIDTH, HEIGHT) + bytes(WIDTH * HEIGHT)
NOISE = BLACK[:-WIDTH * HEIGHT] + random.Random(1).randbytes(WIDTH * HEIGHT)


class Pictures(TestCase):
    def write(self, folder, spans):
        """Pairs one after the other: (seconds, left, right) each. Names of one content are links to one file."""
        number = 0
        for side in ("left", "right"):
            os.makedirs(os.path.join(folder, side))
        for at, (seconds, *images) in enumerate(spans):
            for side, data in zip(("left", "right"), images):
                with open(os.path.join(folder, "%s%d" % (side, at)), "wb") as f:
                    f.write(data)
            for _ in range(int(seconds * FPS)):
                for side in ("left", "right"):
                    os.link(os.path.join(folder, "%s%d" % (side, at)), os.path.join(folder, side, "%05d.pgm" % number))
                number += 1

    def run_with(self, *spans):
        i = self.instance()
        folder = os.path.join(i.top, "pairs")
        self.write(folder, spans)
        i.start("-s", "source.kind=files", "-s", "source.path=%s/{left|right}/*.pgm" % folder, "-s", "source.loop=yes",
                "-s", "source.fps=%d" % FPS, "-s", "stereo.disparities=32", "-s", "engine.threads=1")
        return i

    def until_degraded(self, i, why, seconds=30):
        status = until(lambda: (lambda s: s if why in (s["reason"] or "") else None)(i.status()), seconds, why)
        self.assertEqual(status["state"], "degraded")
        code, text = i.health()
        self.assertEqual((code, text.split(":")[0]), (200, "degraded"))
        return status

    def test_rows_out_of_line(self):
        sound = (8, image(), image(-SHIFT))
        i = self.run_with(sound, (8, image(), image(-SHIFT, 2)))
        s = i.until_state("running")
        self.assertLess(abs(s["pictures"]["row_error_px"]["all"]), 0.2)
        self.assertGreater(s["pictures"]["density"], 0.5)
        s = self.until_degraded(i, "rows out of line")
        self.assertIn("calibrate anew", s["reason"])
        for part in ("left", "middle", "right", "all"):
            self.assertLess(abs(s["pictures"]["row_error_px"][part] - 2), 0.3, s["pictures"])
        _, _, metrics = i.http("/metrics")
        self.assertRegex(metrics, r'stixeld_row_error_pixels\{part="middle"\} [12](\.|\n)')
        ring = i.ring()
        q4 = struct.unpack_from("<Hh", ring.map, ring.first + ring.header + 212)
        self.assertGreater(q4[0], 65535 * 0.3)
        i.until_state("running", 30)
        i.stop()
        self.assertIn("degraded: images are up to 2.", i.text())

    def test_black_and_the_same(self):
        sound = (5, image(), image(-SHIFT))
        i = self.run_with(sound, (5, image(), BLACK), sound, (5, image(), image()))
        i.until_state("running")
        s = self.until_degraded(i, "the right image is black")
        self.assertEqual(s["pictures"]["dark"]["right"], 1)
        self.assertEqual(s["pictures"]["dark"]["left"], 0)
        self.assertEqual(s["pictures"]["sharpness"]["right"], 0)
        i.until_state("running", 30)
        self.until_degraded(i, "both images are the same")
        i.until_state("running", 30)

    def test_density_that_falls(self):
        i = self.run_with((14, image(), image(-SHIFT)), (6, image(), NOISE))
        i.until_state("running")
        s = self.until_degraded(i, "of the pixels are measured, usually")
        self.assertLess(s["pictures"]["density"], 0.4)
        i.until_state("running", 30)


if __name__ == "__main__":
    unittest.main()
