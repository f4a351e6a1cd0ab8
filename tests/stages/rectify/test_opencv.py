# Rectification against OpenCV: aligned rigs, maps and images of random rigs. Skips without OpenCV.
# Usage: test_opencv.py RIG-MAPS (tests/stages/rectify/rig_maps.c)
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import cv2
    import numpy as np
except ImportError as e:
    print("no OpenCV for Python: %s (Debian package python3-opencv)" % e)
    sys.exit(77)

RIG_MAPS = sys.argv[1]
LENSES = ["plumb_bob", "rational_polynomial", "equidistant"]
ALPHAS = [-1, 0, 0.5, 1]
SIZES = [((640, 480), (640, 480)), ((800, 600), (640, 400)), ((643, 401), (720, 500)), ((1280, 720), (1024, 640))]
SEEDS = 12 if os.environ.get("SX_EMULATED") else 24
OUTSIDE = 0xffffffff
RADIUS = 4, 3  # radius of views, as in rig_maps.c
OPENCV = tuple(int(n) for n in cv2.__version__.split(".")[:2])


class Rig:
    """Random rig. The seed selects the lens, alpha and sizes, so that a few seeds cover all of them."""

    def __init__(self, seed):
        rng = self.rng = np.random.default_rng(seed)
        self.lens = LENSES[seed % 3]
        self.alpha = ALPHAS[seed // 3 % 4]
        self.raw, self.size = SIZES[seed // 2 % 4]
        self.k = [self.camera() for _ in range(2)]
        self.d = [self.distortion() for _ in range(2)]
        self.r = cv2.Rodrigues(rng.uniform(-0.04, 0.04, 3))[0]
        self.t = np.array([-rng.uniform(0.05, 0.6), *rng.uniform(-0.01, 0.01, 2)])

    def camera(self):
        w, h = self.raw
        f = w * self.rng.uniform(0.7, 1.1)
        off = self.rng.uniform(-0.02, 0.02, 2) * w
        return np.array([[f, 0, w / 2 + off[0]], [0, f * self.rng.uniform(0.99, 1.01), h / 2 + off[1]], [0, 0, 1]])

    def distortion(self):
        u = self.rng.uniform
        if self.lens == "plumb_bob":
            return np.array([u(-0.3, 0.1), u(0, 0.1), *u(-0.002, 0.002, 2), u(-0.02, 0.02)])
        if self.lens == "rational_polynomial":
            return np.array([u(0.5, 0.7), u(0.05, 0.2), *u(-0.001, 0.001, 2), u(0, 0.02), u(0.5, 0.9), u(0, 0.2),
                             u(0, 0.02)])
        return u(-0.02, 0.02, 4)

    def text(self):
        words = [*self.raw, *self.size, self.alpha]
        for k, d in zip(self.k, self.d):
            words += [k[0, 0], k[1, 1], k[0, 2], k[1, 2], self.lens, *d, *[0] * (8 - len(d))]
        words += [*self.r.ravel(), *self.t]
        return " ".join(w if isinstance(w, str) else repr(float(w)) for w in words)


class Made:
    """Output of rig-maps for a rig and two raw images."""

    def __init__(self, rig, raws):
        w, h = rig.size
        stride = (w + 31) // 32 * 32
        with tempfile.TemporaryDirectory() as folder:
            for side in range(2):
                raws[side].tofile(os.path.join(folder, "raw%d" % side))
            out = subprocess.run([RIG_MAPS, folder], input=rig.text(), capture_output=True, text=True, check=False)
            if out.returncode:
                raise AssertionError(out.stderr)

            def load(name, side, kind, columns):
                return np.fromfile(os.path.join(folder, "%s%d" % (name, side)), kind).reshape(h, columns)

            self.place = [load("place", s, np.uint32, stride)[:, :w] for s in range(2)]
            self.part = [load("part", s, np.uint16, stride)[:, :w] for s in range(2)]
            self.view = [load("view", s, np.uint16, 2) for s in range(2)]
            self.grey = [load("grey", s, np.uint8, w) for s in range(2)]
        n = [float(v) for v in out.stdout.split()]
        self.fx, self.fy, self.cx, self.cy, self.baseline = n[:5]
        self.rotation = [np.array(n[5:14]).reshape(3, 3), np.array(n[14:23]).reshape(3, 3)]
        self.ms = n[23:]

    def p(self):
        return np.array([[self.fx, 0, self.cx], [0, self.fy, self.cy], [0, 0, 1]])

    def inside(self, side):
        return self.place[side] != OUTSIDE

    def positions(self, side):
        """Returns raw x and y for each pixel. Pixels outside the view have undefined values."""
        place, part = self.place[side], self.part[side]
        return (place & 0xffff) + (part & 255) / 256, (place >> 16) + (part >> 8) / 256


def smooth(rng, size):
    """Returns an image without sharp steps, as a lens produces."""
    w, h = size
    coarse = rng.uniform(0, 255, (h // 16 + 4, w // 16 + 4)).astype(np.float32)
    return np.clip(cv2.resize(coarse, (w, h), interpolation=cv2.INTER_CUBIC), 0, 255).astype(np.uint8)


def opencv_maps(rig, made, side):
    if rig.lens == "equidistant":
        maps = cv2.fisheye.initUndistortRectifyMap(rig.k[side], rig.d[side], made.rotation[side], made.p(), rig.size,
                                                   cv2.CV_32FC1)
    else:
        maps = cv2.initUndistortRectifyMap(rig.k[side], rig.d[side], made.rotation[side], made.p(), rig.size,
                                           cv2.CV_32FC1)
    return [m.astype(np.float64) for m in maps]


def bilinear(raw, x, y):
    """Interpolates in double precision. x and y must lie inside the image."""
    h, w = raw.shape
    raw = raw.astype(np.float64)
    i = np.clip(np.floor(x).astype(int), 0, w - 2)
    j = np.clip(np.floor(y).astype(int), 0, h - 2)
    a, b = x - i, y - j
    return (1 - b) * ((1 - a) * raw[j, i] + a * raw[j, i + 1]) + b * ((1 - a) * raw[j + 1, i] + a * raw[j + 1, i + 1])


def has_its_inverse(rig, made, side, pixels, raw):
    """Returns a mask of the raw positions that map back to their pixels. The mask excludes positions beyond the point
    where a model turns back and shows an area again."""
    points = raw.reshape(-1, 1, 2)
    if rig.lens == "equidistant":
        back = cv2.fisheye.undistortPoints(points, rig.k[side], rig.d[side], R=made.rotation[side], P=made.p())
    else:
        back = cv2.undistortPointsIter(points, rig.k[side], rig.d[side], made.rotation[side], made.p(),
                                       (cv2.TERM_CRITERIA_COUNT, 60, 0))
    return np.hypot(*(back[:, 0] - pixels).T) < 0.5


class Rectify(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rigs = [Rig(seed) for seed in range(SEEDS)]
        cls.raws = [[smooth(rig.rng, rig.raw) for _ in range(2)] for rig in cls.rigs]
        cls.made = [Made(rig, raws) for rig, raws in zip(cls.rigs, cls.raws)]

    def each(self):
        for seed, (rig, made) in enumerate(zip(self.rigs, self.made)):
            for side in range(2):
                self.where = "seed %d, %s, alpha %g, side %d" % (seed, rig.lens, rig.alpha, side)
                yield rig, made, side, self.raws[seed][side]

    def test_rigs_are_those_of_stereo_rectify(self):
        worst = 0
        for rig, made, side, _ in self.each():
            self.assertAlmostEqual(made.baseline, np.linalg.norm(rig.t), delta=1e-12)
            if rig.lens == "equidistant":
                continue
            out = cv2.stereoRectify(rig.k[0], rig.d[0], rig.k[1], rig.d[1], rig.raw, rig.r, rig.t,
                                    flags=cv2.CALIB_ZERO_DISPARITY, alpha=rig.alpha, newImageSize=rig.size)
            p = out[2 + side]
            self.assertLess(abs(out[side] - made.rotation[side]).max(), 1e-9, self.where)
            off = [abs(a / b - 1) for a, b in ((made.cx, p[0, 2]), (made.cy, p[1, 2]), (made.fx, p[0, 0]),
                                               (made.fy, p[1, 1]))]
            self.assertLess(max(off[:2]), 1e-6, self.where)
            # OpenCV 4.7 and 4.10 moved the image borders by up to 1 px for sizes of little more than 200 px
            self.assertLess(max(off[2:]), 1e-6 if OPENCV < (4, 7) or rig.alpha < 0 else 0.01, self.where)
            worst = max(worst, *off)
            if side == 1:
                self.assertAlmostEqual(-p[0, 3] / p[0, 0], made.baseline, delta=1e-9, msg=self.where)
        print("P: within %.1e" % worst)

    def test_maps_are_those_of_opencv(self):
        worst, at_end = 0, 0
        for rig, made, side, _ in self.each():
            x, y = opencv_maps(rig, made, side)
            u, v = made.positions(side)
            inside = made.inside(side)
            self.assertGreater(inside.mean(), 0.1, self.where)
            off = np.maximum(abs(u - x), abs(v - y))
            ends = (x > rig.raw[0] - 1 - 1 / 128) | (y > rig.raw[1] - 1 - 1 / 128)
            worst = max(worst, off[inside & ~ends].max())
            at_end = max(at_end, off[inside & ends].max(initial=0))
            # a pixel well inside OpenCV's view must be inside our view
            slack = 0.01
            seen = (x > slack) & (y > slack) & (x < rig.raw[0] - 1 - slack) & (y < rig.raw[1] - 1 - slack)
            lost = np.argwhere(seen & ~inside)
            if len(lost):
                raw = np.array([[x[v, u], y[v, u]] for v, u in lost])
                self.assertFalse(has_its_inverse(rig, made, side, lost[:, ::-1], raw).any(), self.where)
        print("maps: within 1/%.0f px, at the right and lower end 1/%.0f px" % (1 / worst, 1 / max(at_end, 1e-9)))
        self.assertLess(worst, 1 / 512 + 2e-4)  # OpenCV's maps are 32-bit floats
        self.assertLess(at_end, 1 / 512 + 1 / 256 + 2e-4)
        self.assertGreater(worst, 1 / 1024)

    def test_images_are_those_of_remap(self):
        differ, count, worst, exact = 0, 0, 0, 0
        for rig, made, side, raw in self.each():
            x, y = opencv_maps(rig, made, side)
            inside = made.inside(side)
            grey = made.grey[side].astype(int)
            off = abs(grey - cv2.remap(raw, x.astype(np.float32), y.astype(np.float32), cv2.INTER_LINEAR))[inside]
            worst = max(worst, off.max())
            differ += (off > 0).sum()
            count += off.size
            exact = max(exact, abs(grey - bilinear(raw, x, y))[inside].max())
            self.assertFalse(grey[~inside].any(), self.where)
        print("images: %.1f %% of pixels differ from remap, by %d at most; from exact ones by %.2f"
              % (100 * differ / count, worst, exact))
        self.assertLessEqual(worst, 1)
        self.assertLessEqual(exact, 1)

    def test_views_are_runs_that_can_be_matched(self):
        for rig, made, side, _ in self.each():
            outside = (~made.inside(side)).astype(np.uint8)
            near = cv2.dilate(outside, np.ones((2 * RADIUS[1] + 1, 2 * RADIUS[0] + 1), np.uint8),
                              borderType=cv2.BORDER_CONSTANT, borderValue=0)
            for row, (first, end) in zip(near, made.view[side].astype(int)):
                edges = np.flatnonzero(np.diff(np.concatenate([[1], row, [1]]).astype(int)))
                runs = [(b - a, -a) for a, b in zip(edges[::2], edges[1::2])]
                most, start = max(runs, default=(0, 0))
                self.assertEqual((first, end), (-start, most - start) if most else (0, 0), self.where)

    def test_time(self):
        """Prints the measured time. There is no limit, because a busy machine would exceed it."""
        each = [ms / (rig.size[0] * rig.size[1]) * 1280 * 720 for rig, m in zip(self.rigs, self.made) for ms in m.ms]
        self.assertEqual(len(each), 2 * SEEDS)
        print("a map of 1280x720: %.0f ms, %.0f at most" % (sorted(each)[SEEDS], max(each)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
