# Tests the measurement against lidar, on few points with a known result.
# SPDX-License-Identifier: Apache-2.0
import sys
import unittest

try:
    import numpy as np

    import lidar
except ImportError:
    sys.exit(77)

FX, BASELINE = 700.0, 0.5


class Lidar(unittest.TestCase):
    def test_plane_under_outliers(self):
        rng = np.random.default_rng(3)
        x, y = rng.uniform(0, 1200, 3000), rng.uniform(200, 370, 3000)
        d = 0.3 * y + 0.01 * x - 55
        d[:900] += rng.uniform(2, 30, 900)
        p = lidar.road_plane(d, y, x, BASELINE)
        np.testing.assert_allclose(p, (0.3, 0.01, -55), rtol=1e-3)

    def test_upright_and_its_foot(self):
        # points of a post at 10 m, 0.1, 0.5 and 1 m high; a point of the road; two points of a slope of one in two
        x = np.array([5, 5, 6, 20, 40, 40])
        z = np.array([10, 10, 10, 10, 10, 10.8])
        h = np.array([0.1, 0.5, 1.0, 0, 0.1, 0.5])
        upright, foot = lidar.find_upright(x, z, h, 50, FX * BASELINE)
        self.assertEqual(upright.tolist(), [True, True, True, False, False, False])
        self.assertEqual(foot.tolist(), [True, True, False, False, False, False])

    def test_figures(self):
        t = lidar.Truth.__new__(lidar.Truth)
        t.height, t.width, t.fb, t.horizon = 40, 20, FX * BASELINE, 5
        t.x, t.y = np.repeat(np.arange(20), 4), np.tile([20, 25, 30, 35], 20)
        t.d = np.full(80, 35.0)
        t.z = t.fb / t.d
        t.ground = t.y >= 30
        t.obstacle = t.y < 30
        t.sky = t.things = np.zeros((40, 20), bool)
        kind, disparity = np.full((40, 20), 1), np.full((40, 20), 35.0)
        kind[30:] = 0
        self.assertEqual(t.figures(kind, disparity)[:6], [0] * 6)
        kind[30:, :10] = 1  # half of the ground is in objects
        kind[20, :] = 2  # half of the obstacles are in the sky
        disparity[25, :5] = 31  # a quarter of the rest is off
        self.assertEqual(t.figures(kind, disparity)[:4], [50, 50, 0, 25])
        self.assertEqual(t.figures(kind, disparity / 2)[5], 100)  # all obstacles are too far
        self.assertTrue(np.isnan(t.figures(kind, disparity)[7:]).all())
        t.sky = np.arange(40)[:, None] < np.full(20, 4)
        t.things = ~t.sky & (np.arange(40)[:, None] < 6)
        kind[:3, 5:], disparity[:3, :5] = 2, t.fb / 61
        kind[4:6, :4] = 2
        self.assertEqual(t.figures(kind, disparity)[7:], [25, 20])

    def test_white_sky(self):
        grey = np.full((30, 40), 60, np.uint8)
        grey[:12, 10:] = 255  # sky with a wire across it and a lamp in front of it; a white wall, and white road
        grey[5] = 60
        grey[5, 39] = 255
        grey[8:10, 20:22] = 100
        grey[3:8, 2:5] = 255
        grey[20:] = 255
        sky = lidar.white_sky(grey, 15)
        self.assertTrue(sky[:5, 10:].all() and sky[6:8, 10:].all() and sky[5, 39])
        self.assertEqual(sky.sum(), 12 * 30 - 29 - 4)
        things = lidar.things_before(sky, grey, 15)
        self.assertTrue(things[5, 10:39].all() and things[8:10, 20:22].all() and things[0, 2:10].all())
        self.assertFalse(things[0, 1] or things[15:].any() or things[sky].any() or things[3:8, 2:5].any())


if __name__ == "__main__":
    unittest.main()
