"""A frame from its bytes: its content, that it is immutable, and that damaged bytes are refused.

SPDX-License-Identifier: Apache-2.0
"""
import copy
import datetime
import errno
import os
import pickle
import subprocess
import sys
import unittest

import numpy as np
import support
import stixel
from stixel import Kind, Plane, _check, _layout
from stixel._planes import join, select
from support import of_1_2, of_before, pack, seal

COLUMNS = [[{"row_bottom": 400, "row_top": 300, "disparity_q7": 640, "kind": 0, "slope_q14": -100},
            {"row_bottom": 299, "row_top": 200, "disparity_q7": 1280}],
           [],
           [{"row_bottom": 479, "row_top": 0, "disparity_q7": 0xFFFF, "kind": 3}]]
LEFT = np.arange(40 * 24, dtype=np.uint8).reshape(24, 40)
DISPARITY = np.arange(24 * 40, dtype="<u2").reshape(24, 40)
DISPARITY[3, 5] = 0xFFFF


class Values(unittest.TestCase):
    def frame(self, **header):
        return stixel.load(pack(COLUMNS, **header))

    def test_lists(self):
        f = self.frame()
        self.assertEqual((f.columns, f.column_width, f.width, f.height), (3, 5, 640, 480))
        self.assertEqual(f.offsets.tolist(), [0, 2, 2, 3])
        self.assertEqual([len(f.column(u)) for u in range(3)], [2, 0, 1])
        self.assertEqual(f.column(0)["row_top"].tolist(), [300, 200])
        self.assertEqual(f.column(-1)["kind"].tolist(), [Kind.UNKNOWN])
        for u in (3, -4):
            with self.assertRaisesRegex(IndexError, "column %d: the frame has 3" % u):
                f.column(u)
        self.assertEqual(f.stixels.dtype, stixel.STIXEL)
        self.assertEqual(f.stixels["slope_q14"].tolist(), [-100, 0, 0])
        self.assertIn("Frame 1 of epoch 0000000000000007: 3 stixels in 3 columns, image 640x480", repr(f))

    def test_an_empty_frame(self):
        f = stixel.load(pack([]))
        self.assertEqual((len(f.stixels), f.offsets.tolist(), f.free_space().shape, f.points().shape),
                         (0, [0], (0,), (0, 2, 3)))

    def test_header(self):
        f = self.frame(number=9, captured=12, published=9, dropped_overload=1, dropped_unpaired=2, dropped_corrupt=3,
                       clock=1, stamp=2, road_origin=2, road_slope=0.25, road_offset=-50, horizon_row=200,
                       pitch_rad=0.01, height_m=1.5, road_age=4, road_inliers=99, road_cross=0.01,
                       road_axis=320, road_bend=0.125, road_bend_row=230, roll_rad=0.02, pitch_sigma_rad=0.003,
                       roll_sigma_rad=0.004, height_sigma_m=0.05, fx=500, fy=501, cx=320, cy=240, baseline_m=0.5,
                       disparities=128, flags=1, stage_count=2,
                       stage_name=[b"census", b"sgm"] + [b""] * 14, stage_ns=[1000, 2000] + [0] * 14)
        self.assertEqual((f.number, f.epoch, f.missed), (9, 7, 0))
        self.assertEqual(f.counts, (12, 9, 1, 2, 3))
        self.assertEqual((f.clock, f.stamp), (stixel.Clock.REALTIME, stixel.Stamp.SOFTWARE))
        self.assertEqual(f.road, (stixel.RoadOrigin.PREVIOUS, 0.25, -50, 200, 0.01, 1.5, 4, 99, 0.01, 320, 0.125, 230,
                                  0.02, 0.003, 0.004, 0.05))
        self.assertEqual(f.camera, (500, 501, 320, 240, 0.5))
        self.assertEqual(f.stages, {"census": 1000, "sgm": 2000})
        self.assertEqual(f.flags, stixel.FrameFlag.PLANE_LEFT_OUT)
        self.assertEqual(f.header["disparities"], 128)

    def test_times(self):
        ns = 10 ** 9
        f = self.frame(capture_left_ns=50 * ns, capture_right_ns=50 * ns - 1000, submitted_ns=51 * ns,
                       published_ns=52 * ns, anchor_monotonic_ns=40 * ns, anchor_realtime_ns=1_000_000_040 * ns)
        self.assertEqual((f.captured_ns, f.submitted_ns, f.published_ns), (50 * ns - 1000, 51 * ns, 52 * ns))
        utc = datetime.timezone.utc
        self.assertEqual(f.captured_at, datetime.datetime(2001, 9, 9, 1, 47, 29, 999999, utc))
        self.assertEqual(f.published_at, datetime.datetime(2001, 9, 9, 1, 47, 32, 0, utc))
        self.assertEqual(f.captured_at.tzinfo, utc)
        self.assertAlmostEqual(f.latency, 2.000001, places=9)
        self.assertGreater(self.frame(capture_left_ns=1, capture_right_ns=1).age(), 0)

    def test_images(self):
        for images in ([(Plane.LEFT, LEFT)], [(Plane.DISPARITY, DISPARITY)],
                       [(Plane.LEFT, LEFT), (Plane.DISPARITY, DISPARITY)],
                       [(Plane.DISPARITY, DISPARITY), (Plane.LEFT, LEFT)]):
            f = stixel.load(pack(COLUMNS, images))
            kinds = [kind for kind, _ in images]
            if Plane.LEFT in kinds:
                self.assertTrue(np.array_equal(f.left, LEFT))
            else:
                self.assertIsNone(f.left)
            if Plane.DISPARITY in kinds:
                self.assertTrue(np.array_equal(f.disparity_q4, DISPARITY))
                px = f.disparity
                self.assertEqual((px.dtype, px[0, 16], px[3, 4]), (np.float32, 1.0, 124 / 16))
                self.assertEqual(np.argwhere(np.isnan(px)).tolist(), [[3, 5]])
            else:
                self.assertIsNone(f.disparity)
                self.assertIsNone(f.disparity_q4)
                self.assertIsNone(f.cloud())
            self.assertIsNone(f.image(Plane.NONE))

    def test_padded_rows(self):
        for kind, whole in ((Plane.LEFT, LEFT), (Plane.DISPARITY, DISPARITY)):
            data = bytearray(pack(COLUMNS, [(kind, whole)]))
            at = stixel.HEADER.fields["plane_width"][1]
            data[at:at + 4] = (37).to_bytes(4, "little")
            image = stixel.load(seal(bytes(data))).image(kind)
            self.assertTrue(np.array_equal(image, whole[:, :37]))

    def test_it_is_a_value(self):
        f = self.frame()
        for array in (f.stixels, f.offsets, f.header):
            with self.assertRaises(ValueError):
                array[0] = 0
        with self.assertRaises(AttributeError):
            f.number = 3
        for g in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f), stixel.load(f.raw), stixel.load(memoryview(f.raw)),
                  stixel.load(bytearray(f.raw)), stixel.load(np.frombuffer(f.raw, np.uint8))):
            self.assertEqual((g.raw, g.missed), (f.raw, f.missed))
        stixels = f.stixels
        want = stixels.tobytes()
        del f  # the memory lives as long as an array refers to it
        self.assertEqual(stixels.tobytes(), want)

    def test_motion(self):
        f = self.frame()
        self.assertEqual((f.ego, f.range_offset, f.velocities), (None, None, None))
        plain = pack(COLUMNS, motion_span_ns=100000000, ego_way_m=(0.5, 0, 1.5), ego_way_sigma_m=(0.01, 0.02, 0.25),
                     ego_turn_rad=(0, 0.25, 0), range_offset_px=0.5, range_offset_sigma_px=0.125)
        f = stixel.load(plain)
        self.assertEqual((f.ego.seconds, f.ego.way_m, f.ego.turn_rad), (0.1, (0.5, 0, 1.5), (0, 0.25, 0)))
        self.assertEqual((f.ego.way_sigma_m[2], f.range_offset), (0.25, (0.5, 0.125)))
        self.assertIsNone(f.velocities)
        records = np.zeros(3, _layout.MOTION_RECORD)
        records[0] = (-150, 1234, 17, 32, -127, 2)
        records[1]["state"] = 1
        records[2] = (7, 0, 3, 3, 0, 9)
        h = np.frombuffer(plain, stixel.HEADER, 1).copy()
        h["motion_offset"] = len(plain)
        h["frame_bytes"] += records.nbytes
        f = stixel.load(seal(h.tobytes() + plain[h.itemsize:] + records.tobytes()))
        v = f.velocities
        self.assertEqual((v.dtype, len(v)), (stixel.VELOCITY, 3))
        self.assertEqual(v["vx"].tolist()[0], -1.5)
        self.assertAlmostEqual(float(v["vz"][0]), 12.34, 5)
        x, z = 34 / 1600, 16 * 4 / 1600
        for name, want in (("sxx", x * x), ("sxz", -x * z), ("szz", z * z)):
            self.assertAlmostEqual(float(v[name][0]), want, 6)
        self.assertTrue(np.isnan([v["vx"][1], v["szz"][1]]).all())
        self.assertEqual(v["state"].tolist(), [stixel.MotionState.MOVES, stixel.MotionState.STANDS, 0])
        self.assertTrue(np.isnan(f.ahead(0.5)["x"]).all())  # no camera model
        h["fx"], h["cx"], h["baseline_m"] = 500, 52, 0.4
        p = stixel.load(seal(h.tobytes() + plain[h.itemsize:] + records.tobytes())).ahead(0.5)
        self.assertEqual((p.dtype, len(p)), (stixel.PLACE, 3))
        self.assertAlmostEqual(p["x"][0], -50 / 500 * 40 - 0.75)  # 5 px of disparity: 40 m
        self.assertAlmostEqual(p["z"][0], 40 + 6.17)
        self.assertTrue(p["szz"][0] > 0 and np.isnan(p["z"][1:]).all())
        for seconds in (-1, float("nan")):
            with self.assertRaises(ValueError):
                f.ahead(seconds)
        with self.assertRaises(stixel.Damaged):
            h["motion_offset"] += 8
            stixel.load(seal(h.tobytes() + plain[h.itemsize:] + records.tobytes()))

    def objects_frame(self, objects, of, each=stixel.OBJECT.itemsize, **fields):
        """Returns the bytes of a frame with this table behind its stixels."""
        plain = pack(COLUMNS, **fields)
        h = np.frombuffer(plain, stixel.HEADER, 1).copy()
        table = b"".join(o.tobytes().ljust(each, b"x") for o in objects)
        h["objects_offset"], h["object_count"], h["object_bytes"] = len(plain), len(objects), each
        h["object_of_offset"] = len(plain) + len(table) if len(objects) else 0
        tail = table + (bytes(of).ljust(8, b"\0") if len(objects) else b"")
        h["frame_bytes"] += len(tail)
        return seal(h.tobytes() + plain[h.itemsize:] + tail)

    def test_objects(self):
        f = self.frame()
        self.assertEqual((f.objects, f.object_of, len(f.object_ahead(0.5))), (None, None, 0))
        f = stixel.load(self.objects_frame(np.zeros(0, stixel.OBJECT), []))
        self.assertEqual((len(f.objects), f.object_of.tolist(), len(f.object_ahead(0.5))), (0, [-1] * 3, 0))
        objects = np.zeros(3, stixel.OBJECT)
        for name in ("pxx", "pzz", "sxx", "szz", "z"):
            objects[name] = 0.25
        objects["id"], objects["state"], objects["z"] = [3, 4, 9], [2, 1, 0], 8
        objects[0]["x"], objects[0]["vx"], objects[0]["vz"] = -2, 4, -6
        for each in (80, 96):  # a newer publisher has larger records
            f = stixel.load(self.objects_frame(objects, [0, 1, 3], each))
            self.assertEqual((f.objects.dtype, f.objects.tolist()), (stixel.OBJECT, objects.tolist()))
            self.assertEqual(f.object_of.tolist(), [-1, 0, 2])
            with self.assertRaises(ValueError):
                f.objects["id"][0] = 7
            p = f.object_ahead(0.5)
            self.assertEqual((p.dtype, p["x"].tolist()[:2], p["z"].tolist()[:2]), (stixel.PLACE, [0, 0], [5, 8]))
            self.assertTrue(np.isnan(p["z"][2]) and p["sxx"][0] > 0.25)
        for seconds in (-1, float("nan")):
            with self.assertRaises(ValueError):
                f.object_ahead(seconds)
        for name, value in (("id", [3, 3, 9]), ("z", [8, 0, 8]), ("vx", [np.nan, 0, 0]), ("pxz", [0, 0.25, 0]),
                            ("right", [0, 0, 5000])):
            wrong = objects.copy()
            wrong[name] = value
            with self.assertRaises(stixel.Damaged):
                stixel.load(self.objects_frame(wrong, [0, 1, 3]))
        with self.assertRaises(stixel.Damaged):
            stixel.load(self.objects_frame(objects, [0, 1, 4]))
        # the header ends before the number of objects
        f = stixel.load(of_before(self.objects_frame(objects, [0, 1, 3]), 8, 864))
        self.assertNotEqual(f.header["objects_offset"], 0)
        self.assertEqual((f.objects, f.object_of, len(f.object_ahead(0.5))), (None, None, 0))

    def test_an_older_publisher(self):
        old = stixel.load(of_1_2(pack(COLUMNS, road_origin=1, road_slope=0.25, road_offset=-50, height_m=1.5,
                                      road_cross=0.01, roll_rad=0.02, height_sigma_m=0.05)))
        self.assertEqual(old.header["abi_minor"], 2)
        self.assertEqual(old.road, (stixel.RoadOrigin.MEASURED, 0.25, -50, 0, 0, 1.5) + (0,) * 10)
        self.assertEqual(old.stixels.tobytes(), self.frame().stixels.tobytes())
        self.assertEqual(old.offsets.tolist(), [0, 2, 2, 3])
        after = stixel.load(of_before(pack(COLUMNS, road_origin=1, road_cross=0.01, vehicle_low_m=0.3), 5, 760))
        self.assertEqual((after.header["abi_minor"], after.road.cross, after.header["vehicle_low_m"]), (5, 0.01, 0))
        self.assertEqual(after.stixels.tobytes(), self.frame().stixels.tobytes())
        empty = stixel.load(of_1_2(pack([])))
        self.assertEqual((len(empty.raw), empty.road.roll_rad), (704, 0))

    def test_what_follows_a_frame_is_not_its(self):
        f = self.frame()
        self.assertEqual(stixel.load(f.raw + b"x" * 64).raw, f.raw)


# field, value: each value alone makes a frame that contradicts itself, although its checksum is correct
WRONG = [("frame_bytes", 1 << 31), ("frame_bytes", 700), ("header_bytes", 688), ("header_bytes", 4294967288),
         ("columns", 70000), ("columns", 4), ("columns", 2), ("stixels_offset", 700), ("stixels_offset", 4294967288),
         ("stixel_count", 4), ("stixel_count", 2), ("stixel_count", 4294967295), ("image_height", 479),
         ("stage_count", 17), ("stage_name", [b"x" * 16] + [b""] * 15), ("plane_kind", 2), ("plane_offset", 8),
         ("plane_bytes", 8), ("plane2_kind", 1), ("plane2_offset", 8), ("plane2_bytes", 1)]
WRONG_PLANES = [("plane_offset", 696), ("plane_offset", 4294967288), ("plane_bytes", 4294967295), ("plane_pitch", 39),
                ("plane_height", 25), ("plane_width", 41), ("plane2_kind", 2), ("plane2_offset", 800),
                ("plane2_width", 41), ("plane2_pitch", 4294967295), ("plane2_bytes", 0), ("plane_kind", 0),
                ("plane_width", 0), ("plane2_width", 0)]


def put(data, field, value):
    h = np.frombuffer(data, stixel.HEADER, 1).copy()
    h[field][0] = value
    return h.tobytes() + data[stixel.HEADER.itemsize:]


class Damage(unittest.TestCase):
    """The module passes bytes unchanged to libstixel and reports libstixel's result."""

    def setUp(self):
        self.plain = pack(COLUMNS)
        self.images = pack(COLUMNS, [(Plane.LEFT, LEFT), (Plane.DISPARITY, DISPARITY)])

    def test_sound(self):
        for data in (self.plain, self.images, pack([]), pack([[]] * 300), of_1_2(self.plain), of_1_2(pack([]))):
            self.assertEqual(_check.verdict(data), 0)

    def test_every_byte_before_the_images_counts(self):
        for at in range(len(self.plain)):
            data = self.plain[:at] + bytes([self.plain[at] ^ 1 << at % 8]) + self.plain[at + 1:]
            self.assertLess(_check.verdict(data), 0, at)

    def test_cut_short(self):
        for size in range(0, len(self.images), 41):
            self.assertEqual(_check.verdict(self.images[:size]), -errno.EBADMSG)

    def test_contradictions(self):
        for base, cases in ((self.plain, WRONG), (self.images, WRONG_PLANES)):
            for field, value in cases:
                data = put(base, field, value)
                try:
                    data = seal(data)
                except (IndexError, ValueError):  # the range has no end to sum up to
                    pass
                self.assertEqual(_check.verdict(data), -errno.EBADMSG, (field, value))

    def test_images_without_pixels(self):
        data = pack(COLUMNS, [(Plane.DISPARITY, DISPARITY)])  # 24 rows of 80 bytes
        for width, height, pitch, size, code in ((40, 24, 80, 1920, 0), (31, 30, 64, 1920, 0), (0, 4294967295, 0, 0, 1),
                                                 (0, 24, 80, 1920, 1), (40, 0, 80, 0, 1), (7, 128, 15, 1920, 1)):
            changed = data
            for field, value in (("width", width), ("height", height), ("pitch", pitch), ("bytes", size)):
                changed = put(changed, "plane_" + field, value)
            self.assertEqual(_check.verdict(seal(changed)), -errno.EBADMSG if code else 0, (width, height))

    def test_stixels_that_cannot_be(self):
        for values in ({"column": 1}, {"row_top": 301, "row_bottom": 300}, {"row_bottom": 480}):
            data = pack([[dict({"row_bottom": 400, "row_top": 300}, **values)], []])
            self.assertEqual(_check.verdict(data), -errno.EBADMSG, values)
        for offsets in ([0, 2, 1, 3], [1, 2, 2, 3], [0, 2, 2, 2], [0, 4, 2, 3]):
            end = stixel.HEADER.itemsize
            data = self.plain[:end] + np.array(offsets, "<u4").tobytes() + self.plain[end + 16:]
            self.assertEqual(_check.verdict(seal(data)), -errno.EBADMSG, offsets)

    def test_sentences(self):
        with self.assertRaisesRegex(stixel.Damaged, "load: a damaged frame, or none at all"):
            stixel.load(b"")
        with self.assertRaisesRegex(stixel.OtherVersion, "another major version"):
            stixel.load(put(self.plain, "abi_major", 2))
        with self.assertRaises(ValueError):  # the exception that a caller without knowledge of this module may catch
            stixel.load(self.plain[:-8])

    def test_not_aligned(self):
        # the result is the same at any address
        for shift in range(9):
            self.assertEqual(stixel.load(memoryview(b"x" * shift + self.plain)[shift:]).raw, self.plain)

    def test_frames_without_some_of_their_images(self):
        """Sizes, flag and checksum equal those of a publisher, and both parts together give the whole frame again."""
        left, disparity, none = (select(self.images, kinds) for kinds in ((Plane.LEFT,), (Plane.DISPARITY,), ()))
        for data, images in ((left, (True, False)), (disparity, (False, True)), (none, (False, False))):
            f = stixel.load(data)
            self.assertEqual((f.left is not None, f.disparity_q4 is not None), images)
            self.assertIn(stixel.FrameFlag.PLANE_LEFT_OUT, f.flags)
            self.assertEqual(f.stixels.tolist(), stixel.load(self.plain).stixels.tolist())
            self.assertEqual(seal(data), data)
        self.assertTrue((stixel.load(left).left == LEFT).all())
        self.assertIs(select(self.images, (Plane.LEFT, Plane.DISPARITY)), self.images)
        whole = stixel.load(join([left, disparity]))
        self.assertNotIn(stixel.FrameFlag.PLANE_LEFT_OUT, whole.flags)
        self.assertEqual(whole.raw, self.images)

    def test_without_the_library(self):
        program = ("import sys, stixel\n"
                   "for read in (lambda: stixel.load(sys.stdin.buffer.read()), lambda: stixel.open('front'),\n"
                   "             lambda: stixel.open_url('http://localhost:1/front', follow=True)):\n"
                   "    try: print(read())\n"
                   "    except stixel.LibraryError as e: print(e)")
        r = subprocess.run([sys.executable, "-c", program], input=self.images, capture_output=True, check=True,
                           env=dict(os.environ, STIXEL_LIBRARY="/nowhere/libstixel.so.1", PYTHONPATH=support.MODULE))
        lines = r.stdout.decode().splitlines()
        self.assertEqual(len(lines), 3)
        for line in lines:
            self.assertRegex(line, "^/nowhere/libstixel.so.1 cannot be loaded .*: it comes with stixeld; where the "
                                   "system does not look for it, name it in the environment as STIXEL_LIBRARY=/path/")


if __name__ == "__main__":
    unittest.main()
