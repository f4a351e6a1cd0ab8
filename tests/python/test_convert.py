"""Scans and points against a second implementation of the same formulas in NumPy, with angles from libm.

SPDX-License-Identifier: Apache-2.0
"""
import math
import pickle
import unittest

import numpy as np
import support
import stixel
from stixel import Kind, Part, ScanAs, _layout
from support import of_1_2, pack, seal

CAMERA = {"fx": 500, "fy": 480, "cx": 160, "cy": 236, "baseline_m": 0.5, "disparities": 128}
UNKNOWN = 0xFFFF


def road_of(pitch, roll, height=1.5, bend=0.0):
    """Returns header fields of a plane with this pose relative to the camera and a bend in row 300."""
    slope = 0.5 * 500 / 480 / (height * math.sqrt(1 + math.tan(pitch) ** 2 + math.tan(roll) ** 2))
    return {"road_origin": 1, "road_slope": slope, "road_offset": slope * (math.tan(pitch) * 480 - 236),
            "road_cross": math.tan(roll) * slope * 480 / 500, "road_axis": 160, "road_bend": bend * slope,
            "road_bend_row": 300, "pitch_rad": pitch, "roll_rad": roll, "height_m": height}


def foot_of(road, x, d):
    """Returns the row of the road that has disparity d in image column x, and the height of a row there, m."""
    across = road.offset + road.cross * (x - road.axis)
    row = (d - across) / road.slope
    if row < road.bend_row and road.slope > road.bend:
        row = (d - across - road.bend * road.bend_row) / (road.slope - road.bend)
    return row, road.height_m * road.slope / d


def random_columns(rng, road, columns=60):
    """Returns columns of three kinds: ground with an object on or above it, ground alone, and nothing seen. Their
    meaning is unambiguous."""
    made = []
    for u in range(columns):
        def stixel_of(bottom, top, kind, q7, slope=0):
            return {"row_bottom": bottom, "row_top": top, "kind": kind, "disparity_q7": q7, "slope_q14": slope,
                    "label": int(rng.integers(0, 20)), "confidence": int(rng.integers(0, 256))}

        def ground(bottom, top):
            return stixel_of(bottom, top, 0, int(rng.integers(300, 9000)), int(rng.integers(-6000, -1000)))
        what = rng.random()
        if what < 0.15:
            made.append([stixel_of(479, 0, 3, UNKNOWN)])
            continue
        if what < 0.3:
            made.append([ground(479, 0)])
            continue
        while True:
            q7 = int(rng.integers(600, 9000))
            foot = int(foot_of(road, u * 5 + 2, q7 / 128)[0])
            bottom = foot - int(rng.choice([0, 0, 0, 30, 200]))
            if 20 < bottom and foot < 470:
                break
        top = max(1, bottom - int(rng.choice([1, 5, 40, 200, 400])))
        made.append([ground(479, bottom + 1), stixel_of(bottom, top, 1, q7), ground(top - 1, 0)])
    return made


class TwinScan:
    """Second implementation of a scan. Each angle looks at all columns, instead of each column filling its angles."""

    def __init__(self, frame, o):
        self.f, self.o = frame, o
        self.c, self.turn = frame.camera, frame.road.turn()
        # hits: right and left end in the plane of the road, distance of the middle. hidden: azimuths (from, to), and
        # the azimuths (from, to) that are exempt, or None
        self.hits, self.hidden = [], []
        for u in range(frame.columns):
            self.look_along(u)

    def ray(self, x, y):
        a, b = (x - self.c.cx) / self.c.fx, (y - self.c.cy) / self.c.fy
        t = self.turn
        return np.array([(t[0, 0] * a + t[0, 1] * b) + t[0, 2], (t[1, 0] * a + t[1, 1] * b) + t[1, 2]])

    def azimuth(self, x, y):
        return np.arctan2(*self.ray(x, y)[::-1])

    def far(self, x):
        t = self.turn
        down = -(t[2, 0] * ((x - self.c.cx) / self.c.fx) + t[2, 2]) / t[2, 1]
        return self.azimuth(x, self.c.cy + self.c.fy * down)

    def distance(self, x, y, d):
        r = self.ray(x, y)
        return self.c.fx * self.c.baseline_m / d * np.sqrt(r[0] * r[0] + r[1] * r[1])

    def hide(self, u, y, but_itself=False):
        left, right = u * 5 - 0.5, u * 5 + 4.5
        near = [self.azimuth(left, y), self.azimuth(right, y)]
        beyond = [*near, self.far(left), self.far(right)]
        self.hidden.append(((min(beyond), max(beyond)), (min(near), max(near)) if but_itself else None))

    def take(self, u, how, y, d):
        if how == ScanAs.OBSTACLE:
            z = self.c.fx * self.c.baseline_m / d
            self.hits.append((self.ray(u * 5 + 4.5, y) * z, self.ray(u * 5 - 0.5, y) * z,
                              self.distance(u * 5 + 2, y, d)))
            if self.hits[-1][2] <= self.o["range_max"]:
                self.hide(u, y, but_itself=True)
        elif how == ScanAs.UNSEEN:
            self.hide(u, y)

    def look_along(self, u):
        x, o = u * 5 + 2, self.o
        for s in self.f.column(u):
            bottom, top = s["row_bottom"] + 0.5, s["row_top"] - 0.5
            d = s["disparity_q7"] / 128
            if s["kind"] == Kind.OBJECT:
                row, metres = foot_of(self.f.road, x, d)
                low, high = row - o["height_min"] / metres, row - o["height_max"] / metres
                how = o["below"] if top >= low else o["above"] if bottom <= high else None
                y = bottom if how is not None else min(bottom, low)
                how = ScanAs.OBSTACLE if how is None else how
                if how == ScanAs.OBSTACLE or self.distance(x, y, d) <= o["range_max"]:
                    self.take(u, how, y, d)
            elif s["kind"] == Kind.UNKNOWN:
                y = self.f.height - 0.5
                self.take(u, o["unknown"], y, float(self.f.road.disparity(y, x)))

    def covers(self, right, left):
        """Returns the angles between two azimuths, or the angle nearest to their middle."""
        o = self.o
        a, b = ((v - o["angle_min"]) / o["angle_increment"] for v in (right, left))
        i = np.arange(o["count"])
        inside = (i >= a) & (i <= b)
        return inside, inside if inside.any() or b < 0 or a > o["count"] - 1 else i == np.floor((a + b) / 2 + 0.5)

    def ranges(self):
        o = self.o
        angles = o["angle_min"] + np.arange(o["count"]) * o["angle_increment"]
        found = np.full(o["count"], np.inf)
        known = self.covers(self.far(self.f.columns * 5 - 0.5), self.far(-0.5))[1]
        for span, but in self.hidden:
            known &= ~self.covers(*span)[1] if but is None else ~self.covers(*span)[1] | self.covers(*but)[1]
        for right, left, middle in self.hits:
            a = [np.arctan2(p[1], p[0]) for p in (right, left)]
            inside, at = self.covers(min(a), max(a))
            along = left - right
            meets = (right[0] * left[1] - right[1] * left[0]) / (np.cos(angles) * along[1] - np.sin(angles) * along[0])
            r = np.where(inside, meets, middle)
            found = np.where(at & (r <= o["range_max"]) & (r < found), r, found)
        found[np.isinf(found) & ~known] = np.nan
        near = found < o["range_min"]
        found = found.astype(np.float32)
        found[near] = -np.inf
        return found


def twin_points(frame, ground, coordinates, step, range_max):
    points, c = [], frame.camera
    fb = c.fx * c.baseline_m
    limit = range_max or math.inf
    for i, s in enumerate(frame.stixels):
        if s["disparity_q7"] == UNKNOWN or s["kind"] != (Kind.GROUND if ground else Kind.OBJECT):
            continue
        x, d0, slope = float(s["column"]) * 5 + 2, s["disparity_q7"] / 128, s["slope_q14"] / 16384

        def at(y, z):
            return np.array([(x - c.cx) / c.fx * z, (y - c.cy) / c.fy * z, z])
        ends = []
        lowest = s["row_bottom"] + 0.5
        if not ground and frame.road.known:
            lowest = min(lowest, foot_of(frame.road, x, d0)[0])
        for y in (lowest, s["row_top"] - 0.5):
            d = d0 + slope * (float(s["row_bottom"]) - y)
            ends.append((y, fb / d if d > 0 else math.inf))
        (_, near), (_, far) = ends
        if ground:
            if near < math.inf and far > near:
                ks = np.arange(0, int(limit / step) + 2)
                points += [(at(float(s["row_bottom"]) - (fb / (k * step) - d0) / slope, k * step), Part.GROUND, i, s)
                           for k in ks if k and near <= k * step <= min(far, limit)]
            continue
        foot, top = (at(y, z) if z < math.inf and z <= limit else None for y, z in ends)
        if foot is not None:
            points.append((foot, Part.FOOT, i, s))
        if foot is not None and top is not None and step:
            v = top - foot
            length = np.sqrt((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2])
            points += [(foot + k * step / length * v, Part.BETWEEN, i, s)
                       for k in range(1, int(length / step) + 2) if k * step < length]
        if top is not None:
            points.append((top, Part.TOP, i, s))
    made = np.zeros(len(points), stixel.POINT)
    t = frame.road.turn()
    for m, (p, part, i, s) in zip(made, points):
        if coordinates == "vehicle":
            p = np.array([(row[0] * p[0] + row[1] * p[1]) + row[2] * p[2] for row in t])
            p[2] += frame.road.height_m
        m["x"], m["y"], m["z"] = p
        m["kind"], m["label"], m["confidence"], m["part"], m["id"] = s["kind"], s["label"], s["confidence"], part, i
    return made


class Speeds(unittest.TestCase):
    def test_speeds(self):
        """A scan has the speed of obstacles along its rays; without records of motion it has none."""
        rng = np.random.default_rng(5)
        plain = pack(random_columns(rng, stixel.load(pack([[]], **CAMERA, **road_of(0, 0))).road), **CAMERA,
                     **road_of(0, 0))
        still = stixel.load(plain).scan()
        self.assertIsNone(still.speeds)
        header = np.frombuffer(plain, stixel.HEADER, 1).copy()
        records = np.zeros(int(header["stixel_count"][0]), _layout.MOTION_RECORD)
        records["vx"], records["vz"], records["sigma_x"], records["sigma_z"], records["state"] = 300, -800, 9, 9, 2
        header["motion_offset"], header["frame_bytes"] = len(plain), len(plain) + records.nbytes
        frame = stixel.load(seal(header.tobytes() + plain[header.itemsize:] + records.tobytes()))
        scan = frame.scan()
        np.testing.assert_array_equal(scan.ranges, still.ranges)
        known = np.isfinite(scan.speeds)
        self.assertGreater(known.sum(), 5)
        self.assertTrue(np.isfinite(scan.ranges[known]).all())
        # x ahead and y to the left: 3 m/s to the right is against an angle to the left
        want = -8 * np.cos(scan.angles) - 3 * np.sin(scan.angles)
        np.testing.assert_allclose(scan.speeds[known], want[known], atol=1e-4)


class Twin(unittest.TestCase):
    """Compares the results to the last bit of every float."""

    ROADS = [(0.0, 0.0, 0.0), (0.02, -0.01, 0.0), (0.25, 0.06, 0.3), (-0.05, -0.1, -0.4)]

    def frames(self, seed):
        rng = np.random.default_rng(seed)
        for pitch, roll, bend in self.ROADS:
            road = road_of(pitch, roll, bend=bend)
            columns = random_columns(rng, stixel.load(pack([[]], **CAMERA, **road)).road)
            yield stixel.load(pack(columns, **CAMERA, **road))

    def test_scan(self):
        kinds = np.zeros(4, int)
        f32 = np.float32
        for n, frame in enumerate(self.frames(20)):
            for given in ({}, {"above": "obstacle", "below": "unseen", "unknown": "free", "height_min": 0.5},
                          {"above": "unseen", "below": "obstacle", "unknown": "obstacle", "range_min": 6.0,
                           "height_min": 0.3},
                          {"angle_min": -1.2, "angle_increment": 0.06, "count": 41, "range_max": 20.0},
                          {"angle_min": -0.4, "angle_increment": 0.0007, "count": 1000}):
                scan = frame.scan(**given)
                o = {"height_min": 0.15 * 1.5 / 1.65, "height_max": 2.0, "above": ScanAs.FREE, "below": ScanAs.FREE,
                     "unknown": ScanAs.UNSEEN, "angle_min": scan.angle_min, "angle_increment": scan.angle_increment,
                     "count": len(scan.ranges), "range_min": scan.range_min, "range_max": scan.range_max}
                o.update({k: ScanAs[v.upper()] if isinstance(v, str) else v for k, v in given.items()})
                o.update({k: float(f32(v)) for k, v in o.items() if isinstance(v, float)})
                want = TwinScan(frame, o).ranges()
                np.testing.assert_array_equal(scan.ranges, want, "frame %d, %s" % (n, given))
                kinds += [np.isfinite(want).sum(), (want == np.inf).sum(), (want == -np.inf).sum(),
                          np.isnan(want).sum()]
        self.assertTrue((kinds > 50).all(), kinds)

    def test_points(self):
        for frame in self.frames(21):
            for coordinates in ("camera", "vehicle"):
                for step, range_max in ((0.0, 0.0), (0.0, 12.5), (0.75, 40.0)):
                    got = frame.obstacle_points(coordinates, step, range_max)
                    want = twin_points(frame, False, coordinates, step, range_max)
                    on_road = (np.abs(want["z"]) < 1e-12) & (np.abs(got["z"]) < 1e-12)  # rounding error of 0
                    got["z"][on_road] = want["z"][on_road] = 0
                    np.testing.assert_array_equal(got, want)
                    self.assertGreater(len(got), 50)
                got = frame.ground_points(coordinates)
                np.testing.assert_array_equal(got, twin_points(frame, True, coordinates, 0.5, 20.0))
                self.assertGreater(len(got), 50)

    def test_points_are_those_of_the_module(self):
        for frame in self.frames(22):
            points = frame.obstacle_points()
            ends = frame.points("vehicle")
            for part, end in ((Part.FOOT, 0), (Part.TOP, 1)):
                some = points[points["part"] == part]
                s = frame.stixels[some["id"]]
                if part == Part.FOOT:  # other objects begin above the road
                    foot = [foot_of(frame.road, t["column"] * 5.0 + 2, t["disparity_q7"] / 128)[0] for t in s]
                    some = some[s["row_bottom"] + 0.5 <= foot]
                self.assertGreater(len(some), 10)
                np.testing.assert_allclose(np.stack([some[n] for n in "xyz"], 1), ends[some["id"], end], rtol=1e-6,
                                           atol=1e-5)


class Frames(unittest.TestCase):
    def frame(self, **header):
        wall = [{"row_bottom": 479, "row_top": 308, "disparity_q7": 9000, "kind": 0, "slope_q14": -5461},
                {"row_bottom": 307, "row_top": 100, "disparity_q7": 3200}]
        return pack([wall] * 128, **{**CAMERA, **road_of(0.0, 0.0), **header})

    def test_what_a_scan_says(self):
        scan = stixel.load(self.frame()).scan()
        self.assertEqual(scan.ranges.dtype, np.float32)
        self.assertEqual(len(scan.angles), len(scan.ranges))
        self.assertAlmostEqual(scan.angles[-1], scan.angle_max, places=6)
        # distance at which the lowest row sees the road
        self.assertAlmostEqual(scan.range_min, 1.5 / (243.5 / 480), delta=1e-4)
        np.testing.assert_allclose(scan.begins * np.cos(scan.angles), scan.range_min, rtol=5e-3)
        self.assertAlmostEqual(scan.range_max, 62.5)
        np.testing.assert_allclose(scan.ranges * np.cos(scan.angles), 10, rtol=1e-6)

    def test_frames_that_say_little(self):
        self.assertEqual(len(stixel.load(self.frame(fx=0)).scan().ranges), 0)
        given = {"angle_min": -0.5, "angle_increment": 0.1, "count": 11, "range_max": 30}
        for header in ({"fx": 0}, {"road_origin": 0}):
            frame = stixel.load(pack([[]], **{**CAMERA, **road_of(0.0, 0.0), **header}))
            self.assertTrue(np.isnan(frame.scan(**given).ranges).all())
            self.assertEqual((len(frame.obstacle_points()), len(frame.ground_points())), (0, 0))
        blind = stixel.load(self.frame(flags=stixel.FrameFlag.BLIND))
        self.assertTrue(np.isfinite(blind.scan().ranges).all())  # the wall stays visible
        self.assertTrue(np.isnan(blind.scan(range_max=5).ranges).all() and np.isnan(blind.free_space()).all())
        self.assertTrue(np.isposinf(stixel.load(self.frame()).scan(range_max=5).ranges).all())
        old = stixel.load(of_1_2(self.frame()))
        new = stixel.load(self.frame(road_cross=0, road_axis=0, road_bend_row=0))
        np.testing.assert_array_equal(old.scan().ranges, new.scan().ranges)
        np.testing.assert_array_equal(old.obstacle_points(), new.obstacle_points())

    def test_mistakes(self):
        frame = stixel.load(self.frame())
        with self.assertRaisesRegex(TypeError, "a scan has no option 'bellow': there are above, angle_increment, "):
            frame.scan(bellow="free")
        with self.assertRaisesRegex(ValueError, "below 'kerb': there are 'free' and 'obstacle' and 'unseen'"):
            frame.scan(below="kerb")
        with self.assertRaisesRegex(ValueError, "options out of their limits.*range_max -1"):
            frame.scan(range_max=-1)
        with self.assertRaisesRegex(ValueError, "coordinates 'world': there are 'camera' and 'vehicle'"):
            frame.obstacle_points("world")
        with self.assertRaisesRegex(ValueError, "step 0 or range_max 20"):
            frame.ground_points(step=0)
        ground = {"row_bottom": 479, "row_top": 0, "kind": 0, "disparity_q7": 65000, "slope_q14": -32000}
        frame = stixel.load(pack([[ground] * 80], **CAMERA, **road_of(0.0, 0.0)))
        with self.assertRaisesRegex(ValueError, "give [0-9]+ points, more than 4000000: take a larger step"):
            frame.ground_points(step=0.01, range_max=650)


class GroundOfClasses(unittest.TestCase):
    NAMES = ("road", "sidewalk", "traffic-light")

    def setUp(self):
        ground = {"kind": 0, "slope_q14": -5461}
        column = [dict(ground, row_bottom=479, row_top=360, disparity_q7=round(239.5 / 3 * 128), label=0),
                  dict(ground, row_bottom=359, row_top=240, disparity_q7=round(119.5 / 3 * 128), label=1),
                  {"kind": 2, "row_bottom": 239, "row_top": 0, "disparity_q7": 0}]
        self.frame = stixel.load(pack([column] * 128, **{**CAMERA, **road_of(0.0, 0.0)}))
        self.limit = float(self.frame.camera.depth(self.frame.road.disparity(360, 0)))  # where the road ends

    def test_free_space(self):
        f = self.frame
        self.assertTrue(np.isposinf(f.free_space()).all())
        columns = f.free_columns(kind="road", classes=self.NAMES)
        self.assertEqual(set(columns["end"]), {stixel.Free.OTHER})
        np.testing.assert_allclose(f.free_space(kind="road", classes=self.NAMES), self.limit, rtol=1e-4)
        for both in ("road, sidewalk", ["Road", "SIDEWALK"], (0, 1), ["road", 1]):
            self.assertTrue(np.isposinf(f.free_space(both, classes=self.NAMES)).all(), both)
        np.testing.assert_array_equal(f.free_space(0), f.free_space("road", classes=self.NAMES))
        self.assertEqual(set(f.free_space("sidewalk", classes=self.NAMES)), {0.0})
        np.testing.assert_array_equal(f.free_columns(ground_labels=1), columns)

    def test_scan_and_points(self):
        scan = self.frame.scan(kind="road", classes=self.NAMES)
        np.testing.assert_allclose(scan.ranges * np.cos(scan.angles), self.limit, rtol=1e-4)
        self.assertTrue(np.isnan(self.frame.scan(kind=0, other_ground="unseen").ranges).all())
        points = self.frame.ground_points(kind="sidewalk", classes=self.NAMES)
        self.assertEqual(set(points["label"]), {1})
        self.assertEqual(len(points) + len(self.frame.ground_points(kind=0)), len(self.frame.ground_points()))

    def test_names(self):
        f = stixel.Frame(self.frame.raw, classes=self.NAMES)
        self.assertEqual(pickle.loads(pickle.dumps(f)).classes, self.NAMES)
        np.testing.assert_array_equal(f.free_space("road"), f.free_space(0))
        self.assertIsNone(self.frame.classes)
        with self.assertRaisesRegex(ValueError, "'road': the names of the frame's classes are not known: "):
            self.frame.free_space("road")
        with self.assertRaisesRegex(ValueError, "'grass': there are road, sidewalk, traffic-light"):
            f.scan(kind="grass")
        for nothing in ("", [], " , "):
            with self.assertRaisesRegex(ValueError, "names no class"):
                f.free_space(nothing)
        with self.assertRaisesRegex(ValueError, "labels are 0 to 31"):
            f.free_space(32)
        with self.assertRaisesRegex(TypeError, "free space has no option 'kinds': there are classes, ground_"):
            f.free_space(kinds="road")


class Boxes(unittest.TestCase):
    @staticmethod
    def expected(frame, gap, columns, low, high):
        """Groups the obstacles by comparing all of them with each other."""
        points = frame.obstacle_points("vehicle")
        feet, tops = points[0::2], points[1::2]
        assert (feet["part"] == Part.FOOT).all() and (tops["part"] == Part.TOP).all()
        keep = (tops["z"] > low) & (feet["z"] < high) & (feet["x"] > 0)
        feet, tops = feet[keep], tops[keep]
        column = frame.stixels["column"][feet["id"]].astype(int)
        x = feet["x"].astype(float)
        far = np.maximum(x[:, None], x[None, :])
        pixel = far ** 2 / (frame.camera.fx * frame.camera.baseline_m)
        near = np.abs(x[:, None] - x[None, :]) <= np.float32(gap) + pixel
        touch = near & (abs(column[:, None] - column[None, :]) <= 1)
        group = np.arange(len(x))
        while True:
            least = np.where(touch, group[None, :], len(x)).min(1)
            if (least == group).all():
                break
            group = least
        found = []
        for g in np.unique(group):
            inside = group == g
            if np.ptp(column[inside]) + 1 >= columns:
                half = 0.5 * frame.column_width * frame.depth[feet["id"][inside]] / frame.camera.fx
                found.append((x[inside].min(), x[inside].max(), (feet["y"][inside] - half).min(),
                              (feet["y"][inside] + half).max(), feet["z"][inside].min(), tops["z"][inside].max(),
                              column[inside].min(), column[inside].max(), inside.sum()))
        return sorted(found)

    def test_against_all_pairs(self):
        rng = np.random.default_rng(7)
        several = 0
        for _ in range(40):
            road_fields = road_of(rng.uniform(-0.05, 0.1), rng.uniform(-0.05, 0.05))
            frame = stixel.load(pack(random_columns(rng, stixel.load(pack([[]], **CAMERA, **road_fields)).road),
                                     **CAMERA, **road_fields))
            gap, columns, low, high = rng.uniform(0, 3), int(rng.integers(1, 4)), 0.3, rng.uniform(0.5, 3)
            want = self.expected(frame, gap, columns, np.float32(low), np.float32(high))
            got = frame.boxes(gap=gap, columns=columns, height_min=low, height_max=high)
            self.assertEqual(len(got), len(want))
            several += len(want) > 2
            names = ["x_min", "x_max", "y_min", "y_max", "z_min", "z_max", "column_first", "column_last", "stixels"]
            for box, w in zip(sorted([float(b[n]) for n in names] for b in got), want):
                np.testing.assert_allclose(box, w, rtol=1e-4, atol=1e-4)
            self.assertTrue((np.diff(got["x_min"]) >= 0).all())
        self.assertGreater(several, 10)

    def test_usual_options_and_wrong_ones(self):
        frame = stixel.load(pack([[]], **CAMERA))
        self.assertEqual(len(frame.boxes()), 0)  # no road
        for wrong in ({"gap": -1}, {"gap": math.nan}, {"height_min": 2, "height_max": 1}):
            with self.assertRaises(ValueError):
                frame.boxes(**wrong)
        with self.assertRaises(TypeError):
            frame.boxes(depth=1)

    def test_forged_frame_with_one_full_column(self):
        one = {"row_top": 200, "row_bottom": 300, "disparity_q7": 20 * 128}
        frame = stixel.load(pack([[one] * 15000], **CAMERA, **road_of(0, 0)))
        with self.assertRaisesRegex(ValueError, "far too many obstacles in one column"):
            frame.boxes()
        frame = stixel.load(pack([[one] * 500, [one] * 500], **CAMERA, **road_of(0, 0)))
        self.assertEqual([int(b["stixels"]) for b in frame.boxes()], [1000])


if __name__ == "__main__":
    unittest.main()
