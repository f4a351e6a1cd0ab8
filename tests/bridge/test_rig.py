# Rigs: which frames belong together, and one scan of several cameras against what each camera saw.
# SPDX-License-Identifier: Apache-2.0
import math
import time
import types
import unittest

import support  # noqa: F401

import numpy as np

import stixel
from stixel_bridge import rig
from stixel_bridge.sink import Instance, Work

POINT = getattr(stixel, "POINT", None)


def instance(name, x=0.0, y=0.0, yaw=0.0):
    return Instance(name, {"x_m": x, "y_m": y, "yaw_deg": yaw})


class Frame:
    """The parts of a frame that a rig uses: a scan that the test makes, and points."""

    def __init__(self, number=1, ns=0, ranges=None, points=(), begins=1.0):
        self.number, self.captured_ns = number, ns
        self.header = {"anchor_monotonic_ns": 100, "anchor_realtime_ns": 1_000_000_100}
        self.camera = self.road = types.SimpleNamespace(known=ranges is not None)
        self.ranges, self.points, self.begins = ranges, points, begins

    def scan(self, **options):
        n = len(self.ranges)
        step = math.radians(90) / n
        ranges = np.array(self.ranges, np.float32)
        begins = np.where(ranges > -math.inf, np.minimum(ranges, self.begins), np.nan).astype(np.float32)
        return stixel.Scan(ranges, -math.radians(45) + step / 2, step, 1.0, 20.0, begins)

    def obstacle_points(self, coordinates, **options):
        made = np.zeros(len(self.points), POINT)
        for at, (x, y, z) in enumerate(self.points):
            made[at]["x"], made[at]["y"], made[at]["z"], made[at]["id"] = x, y, z, at
        return made

    ground_points = obstacle_points


def at(scan, degrees):
    """Returns the range at an angle."""
    return float(scan.ranges[round((math.radians(degrees) - scan.angle_min) / scan.angle_increment) % len(scan.ranges)])


FREE = [math.inf] * 180


class Scan(unittest.TestCase):
    def one(self, ranges, **place):
        return rig.RigFrame([rig.Part(instance("a", **place), Frame(ranges=ranges))], [], 2.0).scan()

    def test_one_camera_in_the_middle_keeps_its_scan(self):
        ranges = list(FREE)
        ranges[90:100] = [8.0] * 10
        ranges[20:40] = [math.nan] * 20
        s = self.one(ranges)
        self.assertAlmostEqual(at(s, 2.25), 8.0, 4)
        self.assertEqual(at(s, 20), math.inf)
        self.assertTrue(math.isnan(at(s, -30)))
        self.assertTrue(math.isnan(at(s, 90)) and math.isnan(at(s, 180)))

    def test_a_camera_that_looks_back_is_behind(self):
        ranges = list(FREE)
        ranges[85:95] = [5.0] * 10
        s = self.one(ranges, x=-2.0, yaw=180.0)
        self.assertAlmostEqual(at(s, 180), 7.0, 2)
        self.assertAlmostEqual(at(s, -179), 7.0, 1)
        self.assertTrue(math.isnan(at(s, 0)))

    def test_an_obstacle_lies_where_it_is_and_nothing_of_it_is_farther(self):
        """A wall 10 m ahead of a camera that stands 3 m ahead and 1 m to the left of the vehicle's middle."""
        angles = -math.radians(45) + (np.arange(180) + 0.5) * math.radians(0.5)
        s = self.one(10 / np.cos(angles), x=3.0, y=1.0)
        for degrees in (-30, -10, 0, 10, 30):
            self.assertAlmostEqual(at(s, degrees), 13 / math.cos(math.radians(degrees)), delta=0.15)

    def test_the_nearest_of_two_cameras_counts_and_both_clear(self):
        far, near = list(FREE), list(FREE)
        far[:], near[80:100] = [9.0] * 180, [4.0] * 20
        parts = [rig.Part(instance("a"), Frame(ranges=far)), rig.Part(instance("b"), Frame(ranges=near)),
                 rig.Part(instance("c", yaw=90.0), Frame(ranges=FREE))]
        s = rig.RigFrame(parts, [], 2.0).scan()
        self.assertAlmostEqual(at(s, 0), 4.0, 4)
        self.assertAlmostEqual(at(s, 30), 9.0, 4)
        self.assertEqual(at(s, 90), math.inf)

    def test_the_blind_zone(self):
        """Each of two cameras sees its first ground 6 m away. Rays still count as free, with the distance from which on
        they are free."""
        places = instance("a", 1.0), instance("b", -1.0, 0.0, 180.0)
        s = rig.RigFrame([rig.Part(place, Frame(ranges=FREE, begins=6.0)) for place in places], [], 2.0).scan()
        self.assertEqual((at(s, 0), at(s, 180)), (math.inf, math.inf))
        begins = s._replace(ranges=s.begins)
        for degrees in (0, 180, 20):
            self.assertTrue(6.8 < at(begins, degrees) < 8, degrees)
        self.assertTrue(math.isnan(at(begins, 90)))
        self.assertAlmostEqual(s.range_min, math.hypot(1 + 6 / math.sqrt(2), 6 / math.sqrt(2)), delta=0.1)
        # an obstacle nearer than the first visible ground keeps its range
        ranges = list(FREE)
        ranges[85:95] = [3.0] * 10
        s = rig.RigFrame([rig.Part(places[0], Frame(ranges=ranges, begins=6.0))], [], 2.0).scan()
        self.assertAlmostEqual(at(s, 0), 4.0, 2)
        self.assertLessEqual(s.range_min, s.ranges[np.isfinite(s.ranges)].min())

    def test_nearer_than_the_least_range_is_not_farther_than_it(self):
        s = self.one([-math.inf] * 180)
        self.assertAlmostEqual(at(s, 0), 1.0, 4)

    def test_a_ray_that_nobody_followed_is_not_free(self):
        """A ray is not free if the camera beside it sees only the near or only the far end of the ray."""
        for place, degrees in ((instance("b", 0.0, -8.0, 90.0), (0, 10)), (instance("b", 10.0, -4.0, 90.0), (0, -5))):
            parts = [rig.Part(instance("a"), Frame(ranges=[math.nan] * 180)), rig.Part(place, Frame(ranges=FREE))]
            s = rig.RigFrame(parts, [], 2.0).scan()
            for angle in degrees:
                self.assertTrue(math.isnan(at(s, angle)), (place, angle))
            self.assertTrue(np.isposinf(s.ranges).any() or place.options["x_m"])

    def test_without_a_road_nothing_is_seen(self):
        s = rig.RigFrame([rig.Part(instance("a"), Frame())], ["b"], 2.0).scan()
        self.assertTrue(np.isnan(s.ranges).all() and len(s.ranges))

    def test_random_worlds(self):
        """Circles seen by three cameras: every range is one of a circle, no range of a camera is lost, and no free ray
        meets a circle."""
        rng = np.random.default_rng(7)
        for _ in range(20):
            circles = [(r * math.cos(a), r * math.sin(a), rng.uniform(0.3, 1.0))
                       for r, a in zip(rng.uniform(5, 15, 6), rng.uniform(-math.pi, math.pi, 6))]
            places = [instance("a", 1.0, 0.0, 0.0), instance("b", 0.0, 0.8, 85.0), instance("c", -1.0, 0.0, 180.0)]
            parts = [rig.Part(place, Frame(ranges=cast(rig.Part(place, None), circles))) for place in places]
            s = rig.RigFrame(parts, [], 2.0).scan()
            seen = np.flatnonzero(np.isfinite(s.ranges))
            x, y = s.ranges[seen] * np.cos(s.angles[seen]), s.ranges[seen] * np.sin(s.angles[seen])
            off = np.min([abs(np.hypot(x - cx, y - cy) - r) for cx, cy, r in circles], 0)
            self.assertLess(off.max(), 0.4)
            for part in parts:
                scan = part.frame.scan()
                met = np.flatnonzero(scan.ranges <= s.range_max - 1)
                there = scan.ranges[met]
                x, y = part.to_base(there * np.cos(scan.angles[met]), there * np.sin(scan.angles[met]))
                rays = np.rint((np.arctan2(y, x) + math.pi) / s.angle_increment).astype(int) % len(s.ranges)
                self.assertTrue((s.ranges[rays] <= np.hypot(x, y) + 1e-3).all())
            free = np.isposinf(s.ranges)
            self.assertGreater(free.mean(), 0.2)
            true = np.array([hit(0.0, 0.0, a, circles) for a in s.angles[free]])
            # a free ray may graze a circle that passes between two of the camera's own rays, half a step wide
            self.assertLess((true < s.range_max - 0.5).mean(), 0.02)


def hit(x, y, angle, circles):
    """Returns the distance at which a ray first meets a circle."""
    found = math.inf
    for cx, cy, r in circles:
        along = (cx - x) * math.cos(angle) + (cy - y) * math.sin(angle)
        across = -(cx - x) * math.sin(angle) + (cy - y) * math.cos(angle)
        if abs(across) <= r and along > 0:
            found = min(found, along - math.sqrt(r * r - across * across))
    return found


def cast(part, circles):
    x, y, yaw = part.place()
    angles = -math.radians(45) + (np.arange(180) + 0.5) * math.radians(0.5)
    found = np.array([hit(x, y, yaw + a, circles) for a in angles])
    return np.where(found <= 20.0, found, math.inf)


class Points(unittest.TestCase):
    def test_they_are_turned_and_say_whose_they_are(self):
        parts = [rig.Part(instance("a", 1.0, 0.0, 90.0), Frame(ranges=FREE, points=[(5, 1, 0.5)])),
                 rig.Part(instance("b"), Frame(ranges=FREE, points=[(2, 3, 0), (4, 5, 6)]))]
        for points in (rig.RigFrame(parts, [], 2.0).obstacle_points(), rig.RigFrame(parts, [], 2.0).ground_points()):
            found = [tuple(round(float(p[f]), 5) for f in "xyz") + (int(p["id"]),) for p in points]
            self.assertEqual(found, [(0.0, 5.0, 0.5, 0), (2.0, 3.0, 0.0, 1 << 24), (4.0, 5.0, 6.0, (1 << 24) + 1)])


    def test_whose_they_are_does_not_depend_on_who_is_there(self):
        frame = rig.RigFrame([rig.Part(instance("b"), Frame(ranges=FREE, points=[(2, 3, 0)]))], ["a", "c"], 2.0)
        self.assertEqual([int(p["id"]) for p in frame.obstacle_points()], [1 << 24])


class Together(unittest.TestCase):
    def setUp(self):
        self.given = []
        runner = types.SimpleNamespace(put=lambda work: self.given.append(work.frame))
        self.members = [instance("a"), instance("b")]
        self.rig = rig.Rig(Instance("around", {"window_ms": 20.0, "unseen_m": 2.0}), self.members, [runner])
        self.now = time.monotonic_ns()

    def put(self, member, number, ms):
        self.rig.put(Work(self.members[member], Frame(number, self.now + int(ms * 1e6), FREE), self.now))

    def heard(self):
        """Marks both cameras as recently heard."""
        self.rig._heard = {"a": time.monotonic(), "b": time.monotonic()}

    def test_frames_of_one_moment_are_one(self):
        self.heard()
        for n in range(3):
            self.put(0, n, 33 * n)
            self.put(1, n, 33 * n + 5)
        self.assertEqual([(len(f.parts), f.missing) for f in self.given], [(2, [])] * 3)
        self.assertEqual(self.given[1].captured_ns, self.now + 33_000_000)
        self.assertEqual(self.given[1].stamp_ns, self.now + 33_000_000 + 1_000_000_000)

    def test_one_that_does_not_come_is_missing(self):
        self.heard()
        self.put(0, 1, 0)
        self.assertEqual(self.given, [])
        self.put(0, 2, 33)
        self.assertEqual([f.missing for f in self.given], [["b"]])
        self.put(1, 1, 34)
        self.assertEqual([len(f.parts) for f in self.given], [1, 2])
        self.assertEqual((self.rig.together, self.rig.partial), (1, 1))

    def test_one_that_is_gone_is_not_waited_for(self):
        self.rig._heard = {"b": time.monotonic() - 5}
        self.put(0, 1, 0)
        self.assertEqual([f.missing for f in self.given], [["b"]])

    def test_what_waits_too_long_is_dropped(self):
        self.heard()
        self.put(0, 1, 0)
        self.now += 5_000_000_000
        self.rig._heard = {}
        self.put(0, 2, 0)
        self.assertEqual([(f.number, f.missing) for f in self.given], [(2, ["b"])])
        self.assertEqual((self.rig.late, self.rig.missing), (1, {"a": 0, "b": 1}))

    def test_late_ones_are_left_out(self):
        self.heard()
        self.put(0, 5, 100)
        self.put(1, 1, 10)
        self.assertEqual(self.given, [])
        self.put(1, 2, 101)
        self.assertEqual([f.number for f in self.given], [5])
        self.assertEqual(self.rig.late, 1)


if __name__ == "__main__":
    unittest.main()
