# Tests the measurement of camera faults: the visible parts of a view that it computes, and its counts.
# SPDX-License-Identifier: Apache-2.0
import sys
import types
import unittest

try:
    import numpy as np

    import camera_faults
    import faults
except ImportError:
    sys.exit(77)

WIDTH, HEIGHT, HORIZON = 400, 240, 100
RAYS = np.arange(0, WIDTH, 4)


class Road:
    @staticmethod
    def disparity(row, column=None):
        return 0.3 * (np.asarray(row, float) - HORIZON) + 0 * np.asarray(0 if column is None else column)


class Scan:
    def __init__(self, ranges, range_min):
        self.ranges, self.range_min, self.range_max = ranges, range_min, 50.0


class Frame:
    """A frame of a free road, except for changes by a test."""

    def __init__(self, range_min):
        self.columns, self.column_width = WIDTH // 4, 4
        self.ranges, self.range_min = np.full(len(RAYS), np.inf), range_min

    def scan(self):
        return Scan(self.ranges, self.range_min)

    def free_space(self):
        return np.full(self.columns, np.inf)

    def ground_points(self, *_):
        """Returns a row of ground points at 10 m."""
        x = (RAYS - 200) / 400 * 10
        return {"x": x, "y": np.full(len(x), (HORIZON + 20 / 0.3 - 100) / 400 * 10), "z": np.full(len(x), 10.0)}


def points(frame):
    p = frame.ground_points()
    return np.rec.fromarrays(list(p.values()), names=list(p))


def view():
    v = faults.View.__new__(faults.View)
    v.frame = Frame(5.0)
    v.camera = types.SimpleNamespace(fx=400.0, fy=400.0, cx=200.0, cy=100.0, baseline_m=0.5)
    v.road, v.width, v.height, v.fb, v.range_max = Road(), WIDTH, HEIGHT, 200.0, 50.0
    v.ray_x, v.column_x = RAYS, RAYS + 2
    v.range = np.full(len(RAYS), np.nan)
    v.disparity = v.fb / v.range
    v.free = np.full(len(RAYS), True)
    v.obstacle_rows = lambda ray: (60, 160)
    return v


def truth(left=None, right=None, v=None):
    nothing = np.zeros((HEIGHT, WIDTH))
    return faults.Truth(v or view(), (nothing if left is None else left, nothing if right is None else right))


def area(rows, columns):
    mask = np.zeros((HEIGHT, WIDTH))
    mask[rows, columns] = 1
    return mask


class Gaps(unittest.TestCase):
    def test_what_the_right_camera_does_not_see_comes_into_view_later(self):
        t = truth()
        self.assertFalse(t.blind.any())
        z = t.begins[RAYS >= 60]
        np.testing.assert_allclose(z, 200 / (0.3 * 139))
        self.assertGreater(t.begins[RAYS == 24][0], 1.2 * z[0])

    def test_a_bar_and_its_margin(self):
        t = truth(area(np.s_[:], np.s_[360:]))
        self.assertEqual(RAYS[t.blind].tolist(), list(range(368, 400, 4)))

    def test_a_bonnet_is_no_gap(self):
        t = truth(area(np.s_[200:], np.s_[:]), area(np.s_[200:], np.s_[:]))
        self.assertFalse(t.blind[RAYS >= 60].any())
        np.testing.assert_allclose(t.begins[RAYS >= 60], 200 / (0.3 * (207 - HORIZON)))

    def test_tape_in_the_right_image_hides_what_is_seen_beside_it(self):
        t = truth(right=area(np.s_[140:180], np.s_[200:230]))
        where = RAYS[t.blind]  # disparities of the road are 12 to 24 there
        self.assertTrue(where.min() >= 216 and where.max() <= 254 and len(where) >= 3)

    def test_dead_rows_are_no_gap(self):
        self.assertFalse(truth(area(np.s_[150:153], np.s_[:])).blind[RAYS >= 60].any())

    def test_a_veil_is_no_gap(self):
        self.assertFalse(truth(0.9 * area(np.s_[120:200], np.s_[200:260])).blind[RAYS >= 60].any())


class Counts(unittest.TestCase):
    def judge(self, t, ranges=None, range_min=5.0):
        frame = Frame(range_min)
        frame.ground_points = lambda *_: points(Frame(5.0))
        if ranges is not None:
            frame.ranges = ranges
        return t.judge(frame)

    def test_free_and_ground_in_a_patch(self):
        c = self.judge(truth(area(np.s_[60:220], np.s_[200:280])))
        self.assertEqual((c["blind"], c["ground"]), (16, 16))
        self.assertGreaterEqual(c["space"], 16)

    def test_early(self):
        self.assertGreater(self.judge(truth(), range_min=3.0)["early"], 80)
        masked = truth(area(np.s_[200:], np.s_[:]))
        self.assertGreater(self.judge(masked)["early"], 80)
        self.assertEqual(self.judge(masked, range_min=6.5)["early"], self.judge(truth(), range_min=6.5)["early"])

    def test_rays_that_are_shut(self):
        r = np.full(len(RAYS), np.nan)
        above, foot = area(np.s_[110:130], np.s_[:]), area(np.s_[180:], np.s_[:])
        for lost, among in ((np.zeros((HEIGHT, WIDTH)), len(RAYS)), (foot, len(RAYS)), (above, 0), (above + foot, 0)):
            c = self.judge(truth(lost), r)
            self.assertEqual((c["shut"], c["among"]), (among, among))
        self.assertEqual(self.judge(truth(foot))["shut"], 0)

    def obstacle_at(self, ranges, lost):
        """Judges a frame with an obstacle at 10 m in the middle of the view. ranges: what the frame reports there."""
        v = view()
        v.range[50:60] = 10
        v.disparity = v.fb / v.range
        v.free &= np.isnan(v.range)
        r = np.where(np.isnan(v.range), np.inf, v.range)
        r[50:60] = ranges
        return self.judge(truth(lost, v=v), r)

    def test_obstacles_that_go(self):
        nothing, other = np.zeros((HEIGHT, WIDTH)), area(np.s_[:], np.s_[300:])
        upper = area(np.s_[:100], np.s_[:])  # less than half of the obstacle
        for lost in (nothing, other):
            for gone in (np.inf, np.nan, 20.0):
                c = self.obstacle_at(gone, lost)
                self.assertEqual((c["lost"], c["of"]), (10, 10))
        self.assertEqual(self.obstacle_at(11.0, nothing)["lost"], 0)
        self.assertEqual(self.obstacle_at(np.inf, upper)["lost"], 10)
        self.assertEqual(self.obstacle_at(np.nan, upper)["lost"], 0)
        self.assertEqual(self.obstacle_at(np.inf, area(np.s_[:], np.s_[180:260]))["of"], 0)

    def test_walls(self):
        r = np.full(len(RAYS), np.inf)
        r[30:40] = 8
        self.assertEqual(self.judge(truth(), r)["walls"], 10)


class Pictures(unittest.TestCase):
    def street(self):
        rng = np.random.default_rng(2)
        image = camera_faults.blur(rng.uniform(0, 255, (HEIGHT, WIDTH)), 2) * 2 - 128
        return camera_faults.Street([(image, image)], HORIZON, (np.full(image.shape, 20.0),) * 2)

    def test_jpeg(self):
        image = camera_faults.to_grey(self.street().pairs[0][0])
        loss = [np.abs(camera_faults.jpeg(image, q) - image).mean() for q in (30, 60, 90, 100)]
        self.assertTrue(10 > loss[0] > loss[1] > loss[2] > loss[3] and loss[3] < 0.5)

    def test_each_fault_says_what_it_takes(self):
        s = self.street()
        for name, fault in camera_faults.FAULTS.items():
            planted = fault(s, np.random.default_rng(3))
            still = [im for pair in planted.pairs for im in pair]
            self.assertTrue(all(im.shape == (HEIGHT, WIDTH) for im in still), name)
            for side in (0, 1):
                lost = planted.lost[side]
                self.assertTrue(0 <= lost.min() and lost.max() <= 1, name)
                if "JPEG" not in name:
                    change = np.abs(planted.pairs[0][side] - s.pairs[0][side])
                    self.assertLess(change[lost == 0].max(initial=0), 6 * camera_faults.SENSOR_NOISE, name)


if __name__ == "__main__":
    unittest.main()
