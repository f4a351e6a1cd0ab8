# Tests the image checks of the daemon. Pairs with a fault degrade it, pairs without a fault restore it, and a vertical
# disparity is corrected.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import math
import os
import random
import re
import signal
import struct
import unittest

from harness import IDLE, SANITIZED, TestCase, until

# The daemon examines a frame four times a second.
WIDTH, HEIGHT, SHIFT, FPS = 240, 120, 8, 5


def lattice(step):
    """Returns smooth noise: random grey levels `step` pixels apart, interpolated."""
    values = random.Random(step)
    wide = (WIDTH + 100) // step + 2
    nodes = [[values.randrange(256) for _ in range(wide)] for _ in range((HEIGHT + 100) // step + 2)]

    def at(x, y):
        i, j = int((x + 50) // step), int((y + 50) // step)
        a, b = x + 50 - i * step, y + 50 - j * step
        up, low = (n[i] * (step - a) + n[i + 1] * a for n in (nodes[j], nodes[j + 1]))
        return (up * (step - b) + low * b) / step ** 2
    return at


COARSE, FINE = lattice(9), lattice(4)


def grey(x, y):
    return int(0.6 * COARSE(x, y) + 0.4 * FINE(x, y))


@functools.lru_cache(maxsize=None)
def image(right=0, down=0, slope=0):
    """Returns the camera's image, shifted by `right` columns and, in its middle, by `down` rows. `slope` is the turn
    in rows per column."""
    return b"P5\n%d %d\n255\n" % (WIDTH, HEIGHT) + bytes(
        grey(x - right, y - down - slope * (x - (WIDTH - 1) / 2)) for y in range(HEIGHT) for x in range(WIDTH))


@functools.lru_cache(maxsize=None)
def street(right, baseline=0.54, height=1.65, horizon=40):
    """Returns a flat road below the horizon, as the left or the right camera sees it."""
    return image()[:-WIDTH * HEIGHT] + bytes(
        grey(x + right * max(1, (y - horizon) * baseline / height), y) for y in range(HEIGHT) for x in range(WIDTH))


BLACK = b"P5\n%d %d\n255\n" % (WIDTH, HEIGHT) + bytes(WIDTH * HEIGHT)
NOISE = BLACK[:-WIDTH * HEIGHT] + random.Random(1).randbytes(WIDTH * HEIGHT)
WHITE = BLACK[:-WIDTH * HEIGHT] + b"\xff" * (WIDTH * HEIGHT)
BLIND = 64  # STIXEL_FRAME_BLIND
# Reason to skip tests with a sanitizer, which makes a frame take ten times as long.
JUDGED_ELSEWHERE = "test_image_stats.c has these faults, and test_each_frame_that_shows_nothing these pictures"


@functools.lru_cache(maxsize=None)
def cover(mean, sigma, seed):
    """Returns the image of a camera behind its cap."""
    r = random.Random(seed)
    return BLACK[:-WIDTH * HEIGHT] + bytes(
        min(max(round(r.gauss(mean, sigma)), 0), 255) for _ in range(WIDTH * HEIGHT))


def light(data, more):
    """Returns the image in other light: the same objects, but every pixel differs."""
    head, pixels = data[:-WIDTH * HEIGHT], data[-WIDTH * HEIGHT:]
    return head + pixels.translate(bytes(min(v + more, 255) for v in range(256)))


class Pairs(TestCase):
    def write(self, folder, spans):
        """Writes pairs one after the other. Each span is (seconds, left, right) of one image or of several images
        that alternate. Names with the same content are links to one file.
        """
        number = 0
        for side in ("left", "right"):
            os.makedirs(os.path.join(folder, side))
        for at, (seconds, *images) in enumerate(spans):
            turns = [i if isinstance(i, list) else [i] for i in images]
            for side, several in zip(("left", "right"), turns):
                for turn, data in enumerate(several):
                    with open(os.path.join(folder, "%s%d.%d" % (side, at, turn)), "wb") as f:
                        f.write(data)
            for _ in range(int(seconds * FPS)):
                for side, several in zip(("left", "right"), turns):
                    os.link(os.path.join(folder, "%s%d.%d" % (side, at, number % len(several))),
                            os.path.join(folder, side, "%05d.pgm" % number))
                number += 1

    def run_with(self, *spans, settings=(), name="test"):
        i = self.instance(name)
        folder = os.path.join(i.top, "pairs")
        self.write(folder, spans)
        i.start("-s", "source.kind=files", "-s", "source.path=%s/{left|right}/*.pgm" % folder, "-s", "source.loop=yes",
                "-s", "source.fps=%d" % FPS, "-s", "stereo.disparities=32", "-s", "engine.threads=1",
                *(word for s in settings for word in ("-s", s)))
        return i

    def until_degraded(self, i, why, seconds=120 if SANITIZED else 30, seen=lambda pictures: True):
        """Waits until the state is degraded for the reason `why`. `seen` checks the pictures of the newest frame:
        with a slow engine, that frame may already show good pictures again."""
        def look():
            s = i.status()
            return s if why in (s["reason"] or "") and seen(s["pictures"]) else None
        status = until(look, seconds, why)
        self.assertEqual(status["state"], "degraded")
        code, text = i.health()
        self.assertEqual((code, text.split(":")[0]), (200, "degraded"))
        return status


class Pictures(Pairs):
    def test_rows_out_of_line(self):
        sound = (8, image(), image(-SHIFT))
        i = self.run_with(sound, (8, image(), image(-SHIFT, 2)))
        s = i.until_state("running")
        self.assertLess(abs(s["pictures"]["row_error_px"]["all"]), 0.2)
        self.assertGreater(s["pictures"]["density"], 0.5)
        parts = ("left", "middle", "right", "all")
        s = self.until_degraded(i, "rows out of line",
                                seen=lambda p: all(abs((p["row_error_px"][part] or 0) - 2) < 0.3 for part in parts))
        self.assertIn("calibrate again", s["reason"])
        _, _, metrics = i.http("/metrics")
        self.assertRegex(metrics, r'stixeld_row_error_pixels\{part="middle"\} [12](\.|\n)')
        ring = i.ring()
        q4 = struct.unpack_from("<Hh", ring.map, ring.first + ring.header + 212)
        self.assertGreater(q4[0], 65535 * 0.3)
        i.until_state("running", 30)
        i.stop()
        self.assertIn("degraded: images are up to 2.", i.text())

    def test_baseline_in_decimetres(self):
        """The disparity map shows a wrong unit of the baseline. No viewer has to receive the map."""
        left, right = street(0), street(1)
        camera = ["camera.%s=%s" % c for c in (("fx", 200), ("fy", 200), ("cx", 120), ("cy", 40), ("baseline_m", 5.4))]
        i = self.run_with((4, [left, light(left, 9)], [right, light(right, 9)]),
                          settings=camera + ["output.planes=none", "source.fps=%d" % (20 if SANITIZED else 100)])
        s = self.until_degraded(i, "below the camera")
        self.assertRegex(s["reason"], r"the road lies 1[5-8](\.\d)? m below the camera, (9\.|10|11).* times "
                                      r"camera.height_m \(1.65 m\): is the baseline of 5.4 m in decimetres\?")
        i.stop()

    @unittest.skipIf(SANITIZED, JUDGED_ELSEWHERE)
    def test_black_and_the_same(self):
        sound = (5, image(), image(-SHIFT))
        i = self.run_with(sound, (5, image(), BLACK), sound, (5, image(), image()))
        i.until_state("running")
        self.until_degraded(i, "the right image is black", seen=lambda p: p["dark"] == {"left": 0, "right": 1} and
                            p["sharpness"]["right"] == 0)
        i.until_state("running", 30)
        self.until_degraded(i, "both images are the same")
        i.until_state("running", 30)

    @unittest.skipIf(SANITIZED, JUDGED_ELSEWHERE)
    def test_white_covered_and_frozen(self):
        sound = (5, image(), image(-SHIFT))
        i = self.run_with(sound, (5, WHITE, WHITE), sound, (5, cover(60, 2, 1), image(-SHIFT)), sound,
                          (5, image(), [light(image(-SHIFT), n) for n in range(3)]))
        i.until_state("running")
        self.until_degraded(i, "both images are white",
                            seen=lambda p: p["saturated"] == p["flat"] == {"left": 1, "right": 1})
        i.until_state("running", 30)
        self.until_degraded(i, "the left image shows nothing (", seen=lambda p: p["flat"]["left"] > 0.98 and
                            p["flat"]["right"] < 0.5)
        _, _, metrics = i.http("/metrics")
        self.assertRegex(metrics, r'\nstixeld_flat_ratio\{side="left"\} (0\.9[89]|1)')
        self.assertGreater(int(re.search(r"\nstixeld_frames_blind_total (\d+)", metrics).group(1)), 20)
        i.until_state("running", 30)
        self.until_degraded(i, "the left camera repeats the same image")
        i.until_state("running", 30)

    def test_each_frame_that_shows_nothing(self):
        """Frames are marked from the first blind frame on, and not a frame longer. A still picture is not blind."""
        left, right = image(), image(-SHIFT)
        good = [(light(left, n), light(right, n), False) for n in range(4)]
        pairs = [good[0], good[0], good[1]]
        for name, *bad in (
                ("left black", BLACK, right), ("right black", left, BLACK), ("both black", BLACK, BLACK),
                ("left white", WHITE, right), ("right white", left, WHITE), ("both white", WHITE, WHITE),
                ("left cap", cover(3, 2, 1), right), ("right cap", left, cover(3, 2, 2)),
                ("both caps", cover(3, 2, 1), cover(3, 2, 2)),
                ("left covered", cover(90, 2, 1), right), ("right covered", left, cover(90, 3, 2)),
                ("both covered", cover(90, 2, 1), cover(90, 2, 2)), ("one twice", left, left)):
            pairs += [(*bad, name), (*bad, name), good[2], good[3]]
        pairs += [(light(left, 3), light(right, n), "left frozen") for n in range(3)] + [good[1]]
        pairs += [(light(left, n), light(right, 1), "right frozen") for n in (2, 3, 0)] + [good[2]]
        i = self.run_with(*((1 / FPS, a, b) for a, b, _ in pairs), settings=("source.fps=0", "output.slots=512"))
        i.until_published(2 * len(pairs))
        ring = i.ring()
        self.assertEqual(i.stop(), 0)
        frames = ring.frames()
        self.assertGreaterEqual(len(frames), len(pairs))
        for f in frames:
            pair = pairs[(f.number - 1) % len(pairs)]
            self.assertEqual(bool(f.flags & BLIND), bool(pair[2]), (f.number, pair[2]))

    @unittest.skipIf(SANITIZED, JUDGED_ELSEWHERE)
    def test_density_that_falls(self):
        i = self.run_with((14, image(), image(-SHIFT)), (6, image(), NOISE))
        i.until_state("running")
        self.until_degraded(i, "of the pixels are measured, usually", seen=lambda p: (p["density"] or 1) < 0.4)
        i.until_state("running", 30)


# Calibration of raw cameras, exact except for R2. The right camera is turned by given angles around z, then around x.
CALIBRATION = """%YAML:1.0
image_width: 240
image_height: 120
K1: !!opencv-matrix {{ rows: 3, cols: 3, dt: d, data: [ 500, 0, 120, 0, 500, 60, 0, 0, 1 ] }}
D1: !!opencv-matrix {{ rows: 1, cols: 5, dt: d, data: [ 0, 0, 0, 0, 0 ] }}
K2: !!opencv-matrix {{ rows: 3, cols: 3, dt: d, data: [ 500, 0, 120, 0, 500, 60, 0, 0, 1 ] }}
D2: !!opencv-matrix {{ rows: 1, cols: 5, dt: d, data: [ 0, 0, 0, 0, 0 ] }}
R1: !!opencv-matrix {{ rows: 3, cols: 3, dt: d, data: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ] }}
R2: !!opencv-matrix {{ rows: 3, cols: 3, dt: d, data: [ {} ] }}
P1: !!opencv-matrix {{ rows: 3, cols: 4, dt: d, data: [ 500, 0, 120, 0, 0, 500, 60, 0, 0, 0, 1, 0 ] }}
P2: !!opencv-matrix {{ rows: 3, cols: 4, dt: d, data: [ 500, 0, 120, -60, 0, 500, 60, 0, 0, 0, 1, 0 ] }}
"""


def turn(x, z):
    """Returns R2. The angles are in degrees."""
    cx, sx, cz, sz = (f(math.radians(a)) for a in (x, z) for f in (math.cos, math.sin))
    return "%.12f, %.12f, 0, %.12f, %.12f, %.12f, %.12f, %.12f, %.12f" % (
        cz, -sz, cx * sz, cx * cz, -sx, sx * sz, sx * cz, cx)


class Rows(Pairs):
    """camera.row_correction with rectified and with raw pairs. The daemons run at the same time, as most of the test
    is waiting."""

    # Each tick gets one new frame and no more, because overload would degrade the state.
    AUTO = ("camera.row_correction=auto", "output.planes=none", "output.slots=512", "source.fps=5")

    def errors(self, i):
        """Returns the row errors of the thirds; None: not known yet."""
        rows = i.status()["pictures"]["row_error_px"]
        return [rows[part] for part in ("left", "middle", "right")]

    def until_error(self, i, holds, seconds, what):
        return until(lambda: (lambda e: e if None not in e and holds(max(map(abs, e))) else None)(self.errors(i)),
                     seconds, what)

    def check_corrected(self, i, shift, rotation):
        self.until_error(i, lambda e: e < 0.15, 30, "rows in line")
        found = i.status()["pictures"]["row_correction"]
        self.assertAlmostEqual(found["shift_px"], shift, delta=0.15)
        self.assertAlmostEqual(found["rotation_deg"], rotation, delta=0.12)
        self.assertIn(found["changes"], (1, 2))
        # before, nothing was corrected; a busy machine may ask for the status only later
        self.assertRegex(i.text(),
                         r"rows of the right image are corrected by [^\n]* \(was \+0.00, \+0.000\), from frame")
        _, _, metrics = i.http("/metrics")
        shift_px = re.search(r"\nstixeld_row_correction_shift_pixels (\S+)\n", metrics).group(1)
        self.assertAlmostEqual(float(shift_px), found["shift_px"], delta=1e-4)
        self.assertRegex(metrics, r"stixeld_row_corrections_total %d\n" % found["changes"])
        self.assertEqual(i.text().count("rows of the right image are corrected by"), found["changes"])

    def check_frames(self, i):
        """Checks that the earlier frames are still in the ring and none is missing."""
        frames = i.ring().frames()
        self.assertEqual([f.number for f in frames], list(range(1, len(frames) + 1)))
        self.assertEqual(len({f.epoch for f in frames}), 1)
        first = int(re.search(r"corrected by .* from frame (\d+) on", i.text()).group(1))
        self.assertTrue(1 < first <= len(frames))
        if IDLE:
            self.assertLess(frames[-1].overload, 3)

    def test_corrected(self):
        slope = math.tan(math.radians(0.3))
        ready = self.run_with((1, image(), image(-SHIFT, 1.3, slope)), settings=self.AUTO, name="ready")
        file = os.path.join(ready.top, "turned.yaml")
        with open(file, "w") as f:
            f.write(CALIBRATION.format(turn(-0.15, 0.3)))
        raw = self.run_with((1, image(), image(-SHIFT)), name="raw",
                            settings=self.AUTO + ("camera.calibration=" + file,))
        far = self.run_with((1, image(), image(-SHIFT, 3.6)), settings=self.AUTO, name="far")
        blind = self.run_with((1, image(), image(-SHIFT, 1.3)), name="blind",
                              settings=self.AUTO + tuple("camera.%s=0" % k for k in ("fx", "fy", "baseline_m")))
        until(lambda: "rows are not corrected: camera.row_correction needs a camera model" in blind.text(), 30, "word")
        self.assertEqual(blind.status()["pictures"]["row_correction"]["shift_px"], None)
        self.assertEqual(blind.stop(), 0)
        self.check_corrected(ready, 1.3, 0.3)
        self.check_corrected(raw, 500 * math.tan(math.radians(0.15)), 0.3)
        self.until_degraded(far, "further out of line than camera.row_correction may correct (+3.")
        self.assertEqual(far.status()["pictures"]["row_correction"]["shift_px"], 3)
        # the row error under another calibration is not known yet
        self.assertEqual(far.order("camera.baseline_m=0.5")[0], 200)
        self.assertRegex(far.text(), r"corrected by \+0.00 px and \+0.000 degrees \(was \+3.00, .*\), from frame \d+ "
                                     "on; those of another calibration begin at 0")
        until(lambda: far.status()["pictures"]["row_correction"]["shift_px"] == 0, 30, "nothing corrected yet")
        self.assertEqual(far.stop(), 0)
        for i in (ready, raw):
            # a busy machine may have another reason to be degraded
            until(lambda: "rows" not in (i.status()["reason"] or ""), 30, "rows that are no reason to be degraded")
            code, text = i.order("stixels.width=8")
            self.assertEqual(code, 200, text)
            self.check_frames(i)
            # other changes keep the correction
            found = i.status()["pictures"]["row_correction"]
            i.process.send_signal(signal.SIGHUP)
            last = int(until(lambda: re.search(r"reloaded, changed: stixels.width, from frame (\d+) on", i.text()), 10,
                             "reload").group(1))
            self.assertGreaterEqual(last, int(re.search(r"from frame (\d+) on", text).group(1)))
            i.until_published(last + 5)
            self.assertLess(max(map(abs, self.errors(i))), 0.15)
            self.assertEqual(i.status()["pictures"]["row_correction"], found)
            code, text = i.order("camera.row_correction=off")
            self.assertRegex(text, r"camera.row_correction = off \(was auto\)\nfrom frame \d+ on")
            self.until_error(i, lambda e: e > 1, 30, "rows out of line again")
            until(lambda: i.status()["pictures"]["row_correction"]["shift_px"] is None, 30, "nothing corrected")
            self.assertIn("corrected by +0.00 px and +0.000 degrees", i.text())
            # a new `auto` alone changes nothing
            self.assertEqual(i.order("camera.row_correction=auto"),
                             (200, "camera.row_correction = auto (was off)\n"))
            until(lambda: i.status()["pictures"]["row_correction"]["shift_px"] == 0, 30, "nothing to correct yet")
            self.assertEqual(i.stop(), 0)


if __name__ == "__main__":
    unittest.main()
