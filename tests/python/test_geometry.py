"""Metres: against values worked out by hand, and against the synthetic street, whose geometry is known.

SPDX-License-Identifier: Apache-2.0
"""
import json
import math
import os
import subprocess
import unittest

import numpy as np
import support
import stixel
from stixel import Kind, Plane
from support import pack

# f B = 250 px m: a disparity of 10 px is 25 m
CAMERA = {"fx": 500, "fy": 400, "cx": 320, "cy": 240, "baseline_m": 0.5}
UNKNOWN = 0xFFFF


class ByHand(unittest.TestCase):
    def frame(self, columns, **header):
        return stixel.load(pack(columns, **dict(CAMERA, **header)))

    def same(self, got, want):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-9)

    def test_depth(self):
        f = self.frame([[{"row_bottom": y, "row_top": y, "disparity_q7": d} for y, d in
                         ((4, 1280), (3, 1), (2, 0), (1, UNKNOWN))]])
        self.same(f.stixel_disparity, [10, 1 / 128, 0, np.nan])
        self.same(f.depth, [25, 32000, np.inf, np.nan])

    def test_corners_of_an_upright_stixel(self):
        # column 64 of 5 px: image columns 320..324, edges 319.5 and 324.5; rows 201..280, edges 200.5 and 280.5
        f = self.frame([[]] * 64 + [[{"row_bottom": 280, "row_top": 201, "disparity_q7": 1280}]])
        left, right = -0.5 * 25 / 500, 4.5 * 25 / 500
        bottom, top = 40.5 * 25 / 400, -39.5 * 25 / 400
        self.same(f.quads(), [[[left, bottom, 25], [right, bottom, 25], [right, top, 25], [left, top, 25]]])
        middle = 2 * 25 / 500  # the middle of pixels 320..324 is 322
        self.same(f.points(), [[[middle, bottom, 25], [middle, top, 25]]])

    def test_ground_lies_on_the_road(self):
        # a level camera 1.5 m above the road: d = f B / z, y = cy + f h / z: slope B/h * fx/fy, horizon at cy
        slope = 0.5 / 1.5 * 500 / 400
        road = {"road_origin": 1, "road_slope": slope, "road_offset": -slope * 240, "horizon_row": 240, "height_m": 1.5}
        d = slope * (400 - 240)
        f = self.frame([[{"row_bottom": 400, "row_top": 300, "kind": 0, "disparity_q7": round(d * 128),
                          "slope_q14": round(-slope * 16384)}]], **road)
        low, high = f.points("vehicle")[0]
        self.assertAlmostEqual(low[2], 0, delta=0.003)  # tolerance: 1/128 px of disparity
        self.assertAlmostEqual(high[2], 0, delta=0.003)
        self.assertAlmostEqual(low[0], 400 * 1.5 / 160.5, delta=0.01)
        self.assertAlmostEqual(high[0], 400 * 1.5 / 59.5, delta=0.02)
        self.same(f.road.disparity([240, 241]), [0, slope])

    def test_vehicle_coordinates(self):
        a = math.radians(10)
        road = {"road_origin": 3, "pitch_rad": a, "height_m": 2.0}
        f = self.frame([[]], **road)
        # the camera itself; a point on its axis, which points down; a point to its right; a point straight below
        self.same(f.road.to_vehicle([[0, 0, 0], [0, 0, 10], [3, 0, 0], [0, 1, 0]]),
                  [[0, 0, 2], [10 * math.cos(a), 0, 2 - 10 * math.sin(a)], [0, -3, 2],
                   [-math.sin(a), 0, 2 - math.cos(a)]])

    def test_roll(self):
        # a road given by its plane in camera coordinates: n P = height, with n pointing down into the road
        roll, pitch, height = math.radians(4), math.radians(3), 1.5
        normal = np.array([math.tan(roll), 1, math.tan(pitch)])
        length = np.linalg.norm(normal)
        slope = 0.5 * 500 / 400 / (height * length)
        cross = math.tan(roll) * slope * 400 / 500
        road = {"road_origin": 1, "road_slope": slope, "road_offset": slope * (math.tan(pitch) * 400 - 240),
                "road_cross": cross, "road_axis": 320, "pitch_rad": pitch, "roll_rad": roll, "height_m": height}
        disparity = np.full((24, 40), 160, "<u2")
        f = stixel.load(pack([[]], [(Plane.DISPARITY, disparity)], **road, **CAMERA))
        x, y = np.array([100, 320, 600]), np.array([300, 400, 479])
        d = f.road.disparity(y, x)
        self.same(d, slope * y + road["road_offset"] + cross * (x - 320))
        self.same(f.road.disparity(y), slope * y + road["road_offset"])
        points = f.camera.point(x, y, d)
        self.same(points @ normal / length, [height] * 3)  # check of the road's numbers against the plane
        vehicle = f.road.to_vehicle(points)
        self.same(vehicle[:, 2], [0, 0, 0])
        turn = f.road.turn()
        self.same(turn @ turn.T, np.eye(3))
        self.assertAlmostEqual(np.linalg.det(turn), 1, places=12)
        self.same(turn[2], -normal / length)
        axis = turn @ [0, 0, 1]
        self.assertGreater(axis[0], 0.9)
        self.assertAlmostEqual(axis[1], 0, places=12)
        np.testing.assert_allclose(f.cloud("vehicle"), f.road.to_vehicle(f.cloud()), rtol=1e-5, atol=1e-5)

    def test_a_road_that_bends(self):
        f = self.frame([[]], road_origin=1, road_slope=0.5, road_offset=-50, road_cross=0.01, road_axis=320,
                       road_bend=0.25, road_bend_row=120)
        self.same(f.road.disparity([200, 120, 100]), [50, 10, 5])
        self.same(f.road.disparity(np.array([200, 100]), 220), [49, 4])
        self.same(f.road.disparity(100, [220, 320]), [4, 5])

    def test_what_is_not_known_is_nan(self):
        columns = [[{"row_bottom": 9, "row_top": 5, "disparity_q7": UNKNOWN, "kind": 3},
                    {"row_bottom": 4, "row_top": 0, "disparity_q7": 0, "kind": 2}]]
        f = self.frame(columns)
        for points in (f.points(), f.quads()):
            self.assertTrue(np.isnan(points).all())
        f = self.frame([[{"row_bottom": 9, "row_top": 5, "disparity_q7": 1280}]])
        self.assertFalse(f.road.known)
        self.assertTrue(np.isnan(f.points("vehicle")).all())  # no road in the frame
        f = self.frame([[{"row_bottom": 9, "row_top": 5, "disparity_q7": 1280}]], fx=0)
        self.assertFalse(f.camera.known)
        for values in (f.points(), f.depth, f.free_space()):
            self.assertTrue(np.isnan(values).all())
        with self.assertRaisesRegex(ValueError, "coordinates 'world': there are 'camera' and 'vehicle'"):
            f.points("world")

    def test_no_warnings(self):
        columns = [[{"row_bottom": 9, "row_top": 5, "disparity_q7": d, "slope_q14": s}] for d in (0, 1, UNKNOWN)
                   for s in (-32768, 0, 32767)]
        with np.errstate(all="raise"):
            for header in ({}, {"fx": 0, "fy": 0, "baseline_m": 0}, {"road_origin": 1, "height_m": 1}):
                f = self.frame(columns, **header)
                f.quads("vehicle"), f.depth, f.free_space()

    def test_free_space(self):
        """tests/ipc/convert/test_free.c tests the rules themselves."""
        road = {"road_origin": 1, "road_slope": 0.625 / 1.5, "road_offset": -100, "height_m": 1.5}

        def seen(bottom, top, kind=Kind.OBJECT, px=0.0):
            return {"row_bottom": bottom, "row_top": top, "disparity_q7": int(px * 128), "kind": kind}
        ground = seen(479, 265, Kind.GROUND, 99)  # up to 25 m: disparity 10 px is in row 264
        unknown = seen(264, 0, Kind.UNKNOWN)
        columns = [[seen(479, 240, Kind.GROUND, 99), seen(239, 0, Kind.SKY)], [ground, seen(264, 0, px=10)], [],
                   [seen(479, 360, Kind.GROUND, 99), seen(359, 0, px=25)], [ground, unknown], [seen(479, 0, px=0)]]
        f = self.frame(columns, **road)
        got = f.free_columns()
        self.assertEqual(got["end"].tolist(), [stixel.Free.GROUND, stixel.Free.OBJECT, stixel.Free.UNSEEN,
                                               stixel.Free.DROP, stixel.Free.UNSEEN, stixel.Free.UNSEEN])
        near, edge = 250 / (239.5 * 0.625 / 1.5), 250 / 50
        np.testing.assert_allclose(got["from_m"], [near, near, np.nan, near, near, np.nan], rtol=1e-6)
        np.testing.assert_allclose(got["to_m"], [np.inf, 25, 0, edge, 24, 0], rtol=1e-6)
        self.assertEqual(f.first_obstacles().tolist(), [-1, 3, -1, 5, 7, 8])
        np.testing.assert_allclose(f.free_space(), [np.inf, 25, np.nan, edge, np.nan, np.nan], rtol=1e-6)
        self.assertEqual(f.free_columns(height_min=20, height_max=21)["end"][1], stixel.Free.GROUND)
        with self.assertRaisesRegex(ValueError, "height_min 3 and height_max 2 are out of their limits"):
            f.free_columns(height_min=3)
        with self.assertRaisesRegex(TypeError, "free space has no option 'high': there are classes, ground_labels, "
                                    "height_max, height_min, kind"):
            f.free_columns(high=3)

    def test_cloud(self):
        disparity = np.full((24, 40), 160, "<u2")
        disparity[2, 3] = UNKNOWN
        disparity[4, 4] = 0
        f = stixel.load(pack([[]], [(Plane.DISPARITY, disparity)], **CAMERA))
        cloud = f.cloud()
        self.assertEqual((cloud.shape, cloud.dtype), ((24, 40, 3), np.float32))
        np.testing.assert_allclose(cloud[10, 20], [(20 - 320) * 25 / 500, (10 - 240) * 25 / 400, 25], rtol=1e-6)
        self.assertEqual(np.argwhere(np.isnan(cloud).any(axis=2)).tolist(), [[2, 3], [4, 4]])
        self.assertTrue(np.isnan(f.cloud("vehicle")).all())  # no road in the frame
        road = {"road_origin": 1, "pitch_rad": 0.1, "height_m": 1.5}
        f = stixel.load(pack([[]], [(Plane.DISPARITY, disparity)], **road, **CAMERA))
        np.testing.assert_allclose(f.cloud("vehicle"), f.road.to_vehicle(cloud), rtol=1e-5, atol=1e-5)


class Street(support.TestCase):
    """Compares a daemon that sees the synthetic street with the known truth of the street."""

    SIZE, WIDTH = "640x240", 5

    def truth(self, frame):
        out = subprocess.run([os.environ["STIXEL_TRUTH"], self.SIZE, str(frame), str(self.WIDTH)], check=True,
                             capture_output=True, text=True).stdout
        return json.loads(out)

    def test_distances_and_road(self):
        d = support.Daemon("street")
        self.addCleanup(d.close)
        errors, heights, compared = [], [], 0
        with stixel.open(d.name, follow=True) as reader:
            # no frame rate, so that no picture is dropped: frame n is the street's picture n - 1
            d.start("-s", "source.kind=synthetic", "-s", "source.size=" + self.SIZE, "-s", "source.seed=1",
                    "-s", "source.fps=0", "-s", "stixels.width=%d" % self.WIDTH, "-s", "output.slots=16",
                    "--frames", "6")
            for n in range(1, 7):
                frame = reader.next(60)
                self.assertEqual((frame.number, sum(frame.counts[2:])), (n, 0))
                t = self.truth(n - 1)
                self.assertEqual(frame.camera, (t["fx"], t["fy"], t["cx"], t["cy"], t["baseline_m"]))
                self.assertEqual(frame.road.origin, stixel.RoadOrigin.MEASURED)
                self.assertAlmostEqual(math.degrees(frame.road.pitch_rad), t["pitch_deg"], delta=0.15)
                self.assertAlmostEqual(frame.road.height_m, t["height_m"], delta=0.06)
                true = np.array(t["first"])
                free, true_free = frame.free_space(), frame.camera.depth(true)
                self.assertEqual(len(free), len(true))
                both = np.isfinite(free) & (true > 0)
                errors.append(np.abs(free[both] - true_free[both]) / true_free[both])
                compared += len(true)
                # obstacles within 30 m stand on the road or the pavement
                feet = frame.points("vehicle")[frame.first_obstacles()[both], 0]
                heights.append(feet[feet[:, 0] < 30, 2])
        errors, heights = np.concatenate(errors), np.concatenate(heights)
        self.assertGreater(len(errors), 0.7 * compared)
        self.assertLess(np.median(errors), 0.03)
        self.assertLess(np.quantile(errors, 0.8), 0.15)
        self.assertGreater(len(heights), 100)
        self.assertLess(abs(np.median(heights)), 0.15)


if __name__ == "__main__":
    unittest.main()
