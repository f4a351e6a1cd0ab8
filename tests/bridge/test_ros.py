# Messages of ROS 2: each is read by rosbags and by another decoder (mcap-ros2-support), and has the content of the
# frame.
# SPDX-License-Identifier: Apache-2.0
import io
import math
import os
import unittest
import unittest.mock

import support

support.need("rosbags", "mcap_ros2")

import numpy as np  # noqa: E402
from mcap.records import Schema  # noqa: E402
from mcap_ros2.decoder import DecoderFactory  # noqa: E402
from rosbags.interfaces import Nodetype  # noqa: E402
from rosbags.typesys import Stores, get_types_from_msg, get_typestore  # noqa: E402

import stixel  # noqa: E402
from stixel import Kind  # noqa: E402
from stixel._messages import Messages  # noqa: E402
from stixel_bridge import rig  # noqa: E402
from stixel_bridge.fail import Fail, SinkError  # noqa: E402
from stixel_bridge.ros import health, images, markers, store, topics  # noqa: E402
from stixel_bridge.sink import Instance, Report, Work  # noqa: E402
from support_frames import ANCHOR_NS, frame_of, street  # noqa: E402

OPTIONS = {option.name: option.default for option in topics.OPTIONS}
ALL = frozenset(topic.name for topic in topics.topics(OPTIONS))
MESSAGES = os.path.join(support.SOURCE, "ros", "stixel_msgs", "msg")


def schema_decoder():
    """Returns decoders that are independent of rosbags, made from the text of a definition."""
    made = {}

    def decode(kind, cdr):
        if kind not in made:
            text = store.store().generate_msgdef(kind, ros_version=2)[0]
            made[kind] = DecoderFactory().decoder_for("cdr", Schema(1, text.encode(), "ros2msg", kind))
        return made[kind](cdr)
    return decode


other_decoder = schema_decoder()


def messages(frame, instance=Instance("front", {}), wanted=ALL, **options):
    """Returns the messages of a frame by topic."""
    return {m.topic.name: m for m in topics.of_frame(Work(instance, frame, 0), dict(OPTIONS, **options), wanted)}


def read(message):
    return store.decode(message.topic.type, message.cdr)


def matrix(transform):
    """Returns the (4, 4) matrix of geometry_msgs/Transform from the definition of a quaternion, independent of the code
    under test."""
    q, t = transform.rotation, transform.translation
    w, v = q.w, np.array([q.x, q.y, q.z])
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    found = np.eye(4)
    found[:3, :3] = (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * cross
    found[:3, 3] = t.x, t.y, t.z
    return found


class Case(unittest.TestCase):
    def same(self, one, two, where):
        """Compares the results of both decoders field by field."""
        if hasattr(one, "__msgtype__"):
            for name, _ in store.store().fielddefs[one.__msgtype__][1]:
                self.same(getattr(one, name), getattr(two, name), where + "." + name)
        elif isinstance(one, str) or np.isscalar(one):
            self.assertEqual(one, two, where)
        elif len(one) and hasattr(one[0], "__msgtype__"):
            self.assertEqual(len(one), len(two), where)
            for i, pair in enumerate(zip(one, two)):
                self.same(*pair, "%s[%d]" % (where, i))
        else:
            two = list(two) if not isinstance(two, (bytes, memoryview)) else np.frombuffer(two, np.uint8)
            np.testing.assert_array_equal(np.asarray(one), np.asarray(two), where)

    def both(self, found):
        """Reads each message with both decoders and compares them. Returns the results of rosbags."""
        made = {}
        for message in found:
            self.assertIsInstance(message.cdr, bytes)
            self.assertEqual(message.cdr[:4], b"\0\1\0\0", message.topic.name)
            made[message.topic.name] = read(message)
            self.same(made[message.topic.name], other_decoder(message.topic.type, message.cdr), message.topic.name)
        return made


class Types(unittest.TestCase):
    def test_hashes_are_those_of_the_definitions_in_each_release(self):
        for release in ("ROS2_HUMBLE", "ROS2_IRON", "ROS2_JAZZY", "ROS2_KILTED", "ROS2_LYRICAL"):
            found = get_typestore(getattr(Stores, release))
            for kind in store.HASHES:  # test_ros_motion.py has those of objects
                if kind in found.fielddefs:
                    self.assertEqual(topics.type_hash(kind), found.hash_rihs01(kind), (release, kind))

    def test_own_types_are_those_of_the_ros_package(self):
        found = get_typestore(Stores.ROS2_JAZZY)
        files = sorted(os.listdir(MESSAGES))
        self.assertEqual(files, ["Road.msg", "StixelFrame.msg"])
        for name in files:
            with open(os.path.join(MESSAGES, name), encoding="utf-8") as f:
                found.register(get_types_from_msg(f.read(), "stixel_msgs/msg/" + name[:-4]))
            kind = "stixel_msgs/msg/" + name[:-4]
            self.assertEqual(found.fielddefs[kind][1], store.store().fielddefs[kind][1], kind)
        self.assertEqual(topics.type_hash(store.STIXEL_FRAME), found.hash_rihs01(store.STIXEL_FRAME))
        # of vision_msgs 4.0 (Humble) to 4.1.1, which rosbags does not have
        found.register(get_types_from_msg("uint16 class_id\nstring class_name", "vision_msgs/msg/VisionClass"))
        found.register(get_types_from_msg("std_msgs/Header header\nvision_msgs/VisionClass[] class_map\n"
                                          "float32 threshold", store.LABEL_INFO))
        self.assertEqual(topics.type_hash(store.LABEL_INFO), found.hash_rihs01(store.LABEL_INFO))
        constants = {name: value for name, _, value in found.fielddefs[store.STIXEL_FRAME][0]}
        for kind in stixel.Kind:
            self.assertEqual(constants[kind.name], kind)
        for flag in stixel.Flag:
            self.assertEqual(constants[flag.name], flag)

    def test_every_topic_has_a_hash_and_a_definition(self):
        for topic in topics.topics(OPTIONS):
            self.assertRegex(topics.type_hash(topic.type), "^RIHS01_[0-9a-f]{64}$")
            self.assertTrue(topics.definition(topic.type))
        self.assertEqual(topics.definition(store.LASER_SCAN)[0], ("header", (Nodetype.NAME, "std_msgs/msg/Header")))

    def test_quality_of_service(self):
        by_name = {topic.name: topic for topic in topics.topics(OPTIONS)}
        for name in ("scan", "obstacles", "ground", "stixels", "left/camera_info", "left/image_rect"):
            self.assertEqual(by_name[name][2:], (False, False, 5), name)
        for name in ("/tf_static", "classes"):
            self.assertEqual(by_name[name][2:], (True, True, 1))
        self.assertEqual(by_name["/tf"][2:], (True, False, 100))


class Frames(Case):
    def test_both_decoders_agree_at_every_alignment(self):
        frame = street(planes=("left", "disparity"))
        for length in range(1, 10):
            found = messages(frame, Instance("x" * length, {}))
            self.assertEqual(set(found), ALL - {"/tf_static", "/diagnostics", "classes", "right/image_rect",
                                                "right/image_rect/compressed", "odometry"})
            self.both(found.values())

    def test_what_a_frame_lacks_is_not_sent(self):
        metric = {"scan", "obstacles", "ground", "markers", "/tf"}
        always = {"stixels", "left/camera_info", "right/camera_info"}
        self.assertEqual(set(messages(street())), metric | always)
        self.assertEqual(set(messages(street(road_origin=0))), always)
        without = messages(street(fx=0.0))
        self.assertEqual(set(without), always | {"/tf"})
        info = read(without["left/camera_info"])
        # the camera is not calibrated
        self.assertEqual((list(info.k), list(info.p), len(info.d)), ([0] * 9, [0] * 12, 0))

    def test_frames_without_stixels(self):
        for columns in ([[]] * 4, []):
            made = self.both(messages(frame_of(columns)).values())
            self.assertEqual(len(made["stixels"].offsets), len(columns) + 1)
            self.assertEqual((made["obstacles"].width, made["ground"].width), (0, 0))
            self.assertTrue(np.isnan(made["scan"].ranges).all())
            self.assertEqual(len(made["markers"].markers[0].points), 0)

    def test_only_what_is_wanted_and_offered(self):
        self.assertEqual(set(messages(street(), wanted={"scan", "/tf"})), {"scan", "/tf"})
        self.assertEqual(set(messages(street(), topics=["scan", "stixels"])), {"scan", "stixels"})
        self.assertEqual(topics.planes({"scan", "left/image_rect/compressed", "disparity"}), {"left", "disparity"})

    def test_transforms_are_sent_before_what_needs_them(self):
        self.assertEqual(list(messages(street()))[0], "/tf")

    def test_a_topic_that_fails_is_left_out(self):
        work, told = Work(Instance("front", {}), street(), 0), []
        broken = dict(topics._MAKERS, scan=lambda *_: 1 // 0)
        with unittest.mock.patch.object(topics, "_MAKERS", broken):
            found = list(topics.of_frame(work, OPTIONS, {"scan", "obstacles"}, told.append))
            self.assertRaises(ZeroDivisionError, list, topics.of_frame(work, OPTIONS, {"scan", "obstacles"}))
        self.assertEqual([m.topic.name for m in found], ["obstacles"])
        self.assertEqual([type(e) for e in told], [ZeroDivisionError])

    def test_conversions_are_shared_unless_options_differ(self):
        work = Work(Instance("front", {}), street(), 0)
        first, again = (list(topics.of_frame(work, OPTIONS, {"scan"}))[0] for _ in range(2))
        other = list(topics.of_frame(work, dict(OPTIONS, scan_height_max_m=1.0), {"scan"}))[0]
        self.assertIs(first, again)
        self.assertIsNot(first, other)

    def test_stamps_are_the_left_capture_by_the_wall_clock(self):
        frame = street()
        for name, made in ((name, read(m)) for name, m in messages(frame).items()):
            header = made.transforms[0].header if name == "/tf" else (
                made.markers[0].header if name == "markers" else made.header)
            self.assertEqual(header.stamp.sec * 10**9 + header.stamp.nanosec, ANCHOR_NS + 123_456_789, name)

    def test_stixels_are_those_of_the_frame(self):
        frame = street(pitch_rad=0.1, roll_rad=-0.2, road_cross=0.01, road_axis=319.5, road_bend=0.3,
                       road_bend_row=250.0, pitch_sigma_rad=0.4, roll_sigma_rad=0.5, height_sigma_m=0.6, road_age=2)
        made = read(messages(frame)["stixels"])
        for name in stixel.STIXEL.names:
            np.testing.assert_array_equal(getattr(made, name), frame.stixels[name])
        np.testing.assert_array_equal(made.offsets, frame.offsets)
        self.assertEqual((made.epoch, made.number, made.image_width, made.column_width), (7, 1, 640, 5))
        self.assertEqual((made.fx, made.baseline), (500.0, 0.2))
        r = made.road
        self.assertEqual((r.origin, r.age, r.inliers, r.horizon_row), (1, 2, 500, 240.0))
        self.assertEqual((r.slope, r.offset), (0.2, -48.0))
        self.assertEqual((r.cross, r.axis, r.bend, r.bend_row), (0.01, 319.5, 0.3, 250.0))
        self.assertEqual((r.pitch, r.roll, r.height, r.pitch_sigma, r.roll_sigma, r.height_sigma),
                         (0.1, -0.2, 1.0, 0.4, 0.5, 0.6))
        self.assertAlmostEqual(made.latency, 0.01, 6)
        self.assertEqual(made.header.frame_id, "front_optical_frame")
        self.assertEqual(made.classes, [])
        named = stixel.Frame(frame.raw, classes=("road", "traffic-light"))
        self.assertEqual(read(messages(named)["stixels"]).classes, ["road", "traffic-light"])


class Planners(Case):
    """Inputs of nav2: scan and clouds of the constructed street, whose truth is known."""

    def at(self, made, degrees):
        """Returns the range of the angle nearest to this one. Positive angles are to the left."""
        return float(made.ranges[round((math.radians(degrees) - made.angle_min) / made.angle_increment)])

    def scan(self, **options):
        return read(messages(street(), **options)["scan"])

    def test_scan_by_rep_117(self):
        made = self.scan()
        self.assertEqual(made.header.frame_id, "front_road")
        self.assertAlmostEqual(math.degrees(made.angle_max), math.degrees(math.atan(320 / 500)), delta=0.6)
        self.assertAlmostEqual(made.angle_min + made.angle_increment * (len(made.ranges) - 1), made.angle_max, 4)
        self.assertAlmostEqual(made.range_max, 25.0, 4)  # 500 px * 0.2 m / 4 px
        for degrees in (-5, 0, 5):
            self.assertAlmostEqual(self.at(made, degrees), 10 / math.cos(math.radians(degrees)), delta=0.1)
        self.assertEqual(self.at(made, 20), math.inf)  # ground to the limit of view
        self.assertTrue(math.isnan(self.at(made, 31)))  # columns of unknown stixels
        self.assertEqual(self.at(made, -20), math.inf)  # a gate that a vehicle can drive below
        self.assertEqual(self.at(self.scan(scan_range_min_m=12.0), 0), -math.inf)

    def test_a_range_that_is_given_alone(self):
        near = self.scan(scan_range_max_m=1.0)  # smaller than the usual minimum
        self.assertEqual((near.range_min, near.range_max, self.at(near, 0)), (1.0, 1.0, math.inf))
        far = self.scan(scan_range_min_m=30.0)
        self.assertEqual((far.range_min, far.range_max, self.at(far, 0)), (30.0, 30.0, -math.inf))
        both = self.scan(scan_range_min_m=0.5, scan_range_max_m=15.0)
        self.assertEqual((both.range_min, both.range_max), (0.5, 15.0))

    def test_height_band(self):
        self.assertEqual(self.at(self.scan(scan_height_min_m=1.6), 0), math.inf)
        self.assertAlmostEqual(self.at(self.scan(scan_height_min_m=1.6, scan_below="obstacle"), 0), 10, delta=0.1)
        for options in ({"scan_above": "obstacle"}, {"scan_height_max_m": 3.0}):
            self.assertAlmostEqual(self.at(self.scan(**options), -20), 10 / math.cos(math.radians(20)), delta=0.2)

    def of(self, *stixels, wanted="scan", header=None, **options):
        """Returns a message of a frame whose columns all have these stixels: (kind, row_top, row_bottom, disparity in
        px or None)."""
        column = [{"kind": kind, "row_top": top, "row_bottom": bottom,
                   "disparity_q7": 0xFFFF if px is None else round(128 * px)} for kind, top, bottom, px in stixels]
        return read(messages(frame_of([column] * 128, **(header or {})), **options)[wanted])

    def test_heights_are_those_of_the_vehicle(self):
        # 2.1 m above the road
        bar = [(Kind.GROUND, 241, 479, 47.8), (Kind.OBJECT, 140, 185, 10), (Kind.SKY, 0, 139, 0)]
        self.assertEqual(self.at(self.of(*bar), 10), math.inf)
        tall = {"vehicle_low_m": 0.1, "vehicle_high_m": 2.5}
        self.assertAlmostEqual(self.at(self.of(*bar, header=tall), 0), 10, delta=0.1)
        self.assertEqual(self.at(self.of(*bar, header=tall, scan_height_max_m=1.9), 10), math.inf)

    def test_the_blind_zone(self):
        """The ground is visible from 2.1 m on. range_min is this distance, or that of a nearer obstacle."""
        free = [(Kind.GROUND, 241, 479, 47.8), (Kind.SKY, 0, 240, 0)]
        self.assertAlmostEqual(self.of(*free).range_min, 2.1, delta=0.1)
        self.assertAlmostEqual(self.of((Kind.OBJECT, 0, 479, 60)).range_min, 1.67, delta=0.05)

    def test_a_drop(self):
        """The ground ends 4 m ahead. A floor a metre lower is visible from 9 m on."""
        columns = [(Kind.GROUND, 366, 479, 47.8), (Kind.OBJECT, 320, 365, 11), (Kind.SKY, 0, 319, 0)]
        self.assertAlmostEqual(self.at(self.of(*columns), 0), 4, delta=0.2)
        self.assertTrue(math.isnan(self.at(self.of(*columns, scan_drop="unseen"), 0)))
        self.assertEqual(self.of(*columns, wanted="obstacles").width, 0)

    def test_a_seat_over_a_free_floor(self):
        columns = [(Kind.GROUND, 266, 479, 47.8), (Kind.OBJECT, 241, 265, 5), (Kind.OBJECT, 220, 240, 40),
                   (Kind.OBJECT, 0, 219, 5)]
        self.assertAlmostEqual(self.at(self.of(*columns), 0), 2.5, delta=0.1)

    def test_what_is_nowhere_is_not_seen(self):
        """An object at 500 m that reaches down to the vehicle, as a covered camera reports."""
        columns = [(Kind.OBJECT, 0, 479, 0.2)]
        self.assertTrue(np.isnan(self.of(*columns).ranges).all())
        self.assertEqual(self.of(*columns, wanted="obstacles").width, 0)
        self.assertEqual(len(self.of(*columns, wanted="markers").markers[0].points), 0)

    def test_a_blind_frame(self):
        """A blind camera sends no scan. A scan without obstacles would mean free space, so its readers must notice the
        missing scan."""
        blind = street(flags=stixel.FrameFlag.BLIND)
        self.assertFalse({"scan", "obstacles", "ground"} & set(messages(blind)))
        self.assertIn("/tf", messages(blind))
        place = {"x_m": 0.0, "y_m": 0.0, "yaw_deg": 0.0}
        whole = Instance("all", {"instances": ["front", "rear"], "window_ms": 50.0, "unseen_m": 5.0})

        def rig_of(*frames):
            return messages(rig.RigFrame([rig.Part(Instance(str(i), dict(place, yaw_deg=180.0 * i)), frame)
                                          for i, frame in enumerate(frames)], [], 5.0), whole)
        self.assertFalse(rig_of(blind, blind))
        made = read(rig_of(street(), blind)["scan"])
        self.assertAlmostEqual(self.at(made, 0), 10, delta=0.2)
        behind = np.abs(made.angle_min + made.angle_increment * np.arange(len(made.ranges))) > 2
        self.assertFalse(np.isposinf(made.ranges[behind]).any())

    def test_step_of_the_scan(self):
        made = self.scan(scan_step_deg=1.0)
        self.assertAlmostEqual(math.degrees(made.angle_increment), 1.0, 4)
        self.assertEqual(len(made.ranges), 65)
        usual = self.scan()
        self.assertAlmostEqual(made.angle_min + made.angle_max, usual.angle_min + usual.angle_max, 5)
        self.assertAlmostEqual(self.at(made, 0), 10, delta=0.1)

    def test_clouds(self):
        frame = street()
        found = messages(frame)
        for name, points in (("obstacles", frame.obstacle_points(range_max=50.0)),
                             ("ground", frame.ground_points(step=1.0, range_max=10.0))):
            made = read(found[name])
            self.assertGreater(len(points), 100)
            self.assertEqual((made.header.frame_id, made.height, made.width, made.is_bigendian, made.is_dense),
                             ("front_road", 1, len(points), False, True))
            self.assertEqual((made.point_step, made.row_step, made.data.nbytes), (20, points.nbytes, points.nbytes))
            dtype = np.dtype({"names": [f.name for f in made.fields], "offsets": [f.offset for f in made.fields],
                              "formats": [{2: "u1", 6: "<u4", 7: "<f4"}[f.datatype] for f in made.fields]})
            self.assertEqual(dtype.names, ("x", "y", "z", "kind", "label", "confidence", "part", "id"))
            np.testing.assert_array_equal(made.data.view(dtype), points)
        feet = frame.obstacle_points()
        ahead = feet[(frame.stixels["column"][feet["id"]] == 64) & (feet["part"] == stixel.Part.FOOT)][0]
        self.assertAlmostEqual(float(ahead["x"]), 10, delta=0.1)
        self.assertAlmostEqual(float(ahead["z"]), 0, delta=0.02)

    def test_ground_of_classes(self):
        column = [{"kind": stixel.Kind.GROUND, "row_top": 341, "row_bottom": 479, "disparity_q7": 6118,
                   "slope_q14": -3277, "label": 0},
                  {"kind": stixel.Kind.GROUND, "row_top": 241, "row_bottom": 340, "disparity_q7": 2560,
                   "slope_q14": -3277, "label": 1}]
        raw = frame_of([column] * 128).raw
        named = stixel.Frame(raw, classes=("road", "sidewalk"))
        limit = 100 / (0.2 * (341 - 240))  # where the road ends, m
        wanted = frozenset(["scan", "ground"])
        road = messages(named, wanted=wanted, ground_classes=["road"])
        self.assertAlmostEqual(self.at(read(road["scan"]), 0), limit, delta=0.01)
        points = np.frombuffer(bytes(read(road["ground"]).data), stixel.POINT)
        self.assertEqual(set(points["label"]), {0})
        unseen = messages(named, wanted=wanted, ground_classes=["road"], scan_other_ground="unseen")
        self.assertTrue(math.isnan(self.at(read(unseen["scan"]), 0)))
        both = messages(named, wanted=wanted, ground_classes=["road", "sidewalk"])
        self.assertEqual(self.at(read(both["scan"]), 0), math.inf)
        for frame, classes in ((stixel.load(raw), ["road"]), (named, ["grass"])):
            self.assertEqual(messages(frame, wanted=wanted, ground_classes=classes), {})
        whole = Instance("all", {"instances": ["front"], "window_ms": 50.0, "unseen_m": 5.0})
        part = rig.Part(Instance("front", {"x_m": 0.0, "y_m": 0.0, "yaw_deg": 0.0}), named)
        made = messages(rig.RigFrame([part], [], 5.0), whole, wanted=wanted, ground_classes=["road"])
        self.assertAlmostEqual(self.at(read(made["scan"]), 0), limit, delta=0.1)

    def test_classes_that_the_daemon_does_not_have(self):
        status = {"semantics": {"classes": [{"name": "road", "kind": "ground"}]}}
        report = Report(Instance("front", {}), "alive", "running", status)
        for good in ([], ["road"], ["ROAD"]):
            topics.check_classes(report, dict(OPTIONS, ground_classes=good))
        with self.assertRaisesRegex(SinkError, "instance front: ground_classes: kind .*'grass'.*: there are road"):
            list(topics.of_report(report, dict(OPTIONS, ground_classes=["grass"])))
        topics.check_classes(report._replace(status=None), dict(OPTIONS, ground_classes=["grass"]))

    def test_rigs_are_of_the_vehicle(self):
        parts = [rig.Part(Instance(name, {"x_m": x, "y_m": 0.0, "yaw_deg": yaw}), street())
                 for name, x, yaw in (("front", 1.0, 0.0), ("rear", -1.0, 180.0))]
        whole = Instance("all", {"instances": ["front", "rear"], "window_ms": 50.0, "unseen_m": 5.0})
        found = messages(rig.RigFrame(parts, [], 5.0), whole)
        self.assertEqual(set(found), set(topics.RIG))
        self.assertEqual({t.name for t in topics.topics(OPTIONS, whole)}, set(topics.RIG))
        made = self.both(found.values())
        self.assertEqual({m.header.frame_id for m in made.values()}, {"base_link"})
        self.assertAlmostEqual(self.at(made["scan"], 0), 11, delta=0.2)
        self.assertAlmostEqual(self.at(made["scan"], 179), 11, delta=0.2)
        within = read(messages(rig.RigFrame(parts, [], 5.0), whole, scan_range_max_m=8.0)["scan"])
        self.assertEqual(within.range_max, 7.0)  # cameras that stand a metre from the middle
        stamp = made["scan"].header.stamp
        self.assertEqual(stamp.sec * 10**9 + stamp.nanosec, ANCHOR_NS + 123_456_789)

    def test_markers_stand_on_the_road(self):
        frame = street()
        with unittest.mock.patch.dict(markers._scales, clear=True):
            marker = read(messages(frame)["markers"]).markers[0]
        found = np.flatnonzero(frame.stixels["kind"] == stixel.Kind.OBJECT)
        np.testing.assert_array_equal(np.array([[p.x, p.y, p.z] for p in marker.points]).reshape(-1, 2, 3),
                                      frame.points("vehicle")[found])
        self.assertEqual((marker.type, marker.action, len(marker.colors)), (5, 0, 2 * len(found)))
        self.assertTrue(all(0 <= c.r <= 1 and 0 <= c.g <= 1 and 0 <= c.b <= 1 and c.a == 1 for c in marker.colors))
        # Foxglove shows the same colours
        scale = Messages("front")
        scale.take(frame)
        want = scale.colours(np.array([p.x for p in marker.points])) / 255
        np.testing.assert_allclose([[c.r, c.g, c.b] for c in marker.colors], want, atol=1e-6)
        self.assertGreater(np.ptp(want, 1).min(), 0.3)  # colours, because only a library without protobuf gives grey

    def test_fixed_colours_of_markers(self):
        """Every obstacle is nearer than the near end of the colours."""
        frame = street()
        with unittest.mock.patch.dict(markers._scales, clear=True):
            front = Instance("front", {"colour_near_m": 900.0, "colour_far_m": 1000.0})
            marker = read(messages(frame, front)["markers"]).markers[0]
        scale = Messages("front")
        scale.scale(900.0, 1000.0)
        scale.take(frame)
        np.testing.assert_allclose(np.unique([[c.r, c.g, c.b] for c in marker.colors], axis=0),
                                   scale.colours(np.array([1.0])) / 255, atol=1e-6)


class Transforms(Case):
    TILTED = {"pitch_rad": 0.12, "roll_rad": -0.05, "height_m": 1.3}

    def tree(self, frame, **options):
        """Returns {(parent, child): matrix} of static and measured transforms."""
        instance = Instance("cam", options)
        found = list(topics.of_instances([instance], OPTIONS)) + list(messages(frame, instance, {"/tf"}).values())
        self.both(found)
        return {(t.header.frame_id, t.child_frame_id): matrix(t.transform) for m in found for t in read(m).transforms}

    def test_road_and_optical_frame(self):
        frame = street(**self.TILTED)
        tree = self.tree(frame)
        p = np.array([[0.3, 1.2, 8.0], [-4.0, -1.0, 20.0]])
        seen = np.hstack([p, np.ones((2, 1))]) @ np.linalg.inv(tree["cam_optical_frame", "cam_road"]).T
        np.testing.assert_allclose(seen[:, :3], frame.road.to_vehicle(p), atol=1e-12)
        np.testing.assert_allclose(tree["cam_link", "cam_optical_frame"][:3, :3] @ np.eye(3),
                                   [[0, 0, 1], [-1, 0, 0], [0, -1, 0]], atol=1e-15)

    def whole(self, tree):
        return (tree["base_link", "cam_link"] @ tree["cam_link", "cam_optical_frame"]
                @ tree["cam_optical_frame", "cam_road"])

    def test_without_a_mount_the_road_is_the_plane_of_the_vehicle(self):
        expected = np.array([[0, -1, 0, 2.0], [1, 0, 0, -0.5], [0, 0, 1, 0], [0, 0, 0, 1]])
        tree = self.tree(street(**self.TILTED), x_m=2.0, y_m=-0.5, yaw_deg=90.0, z_m=None, pitch_deg=None,
                         roll_deg=None)
        np.testing.assert_allclose(self.whole(tree), expected, atol=1e-12)

    def test_a_given_mount_is_static_and_the_road_shows_what_it_lacks(self):
        mount = {"x_m": 2.0, "y_m": 0.0, "z_m": 1.3, "yaw_deg": 0.0, "pitch_deg": 5.0, "roll_deg": 0.0}
        frame = street(pitch_rad=math.radians(7.0), roll_rad=0.0, height_m=1.3)
        statics = read(next(topics.of_instances([Instance("cam", mount)], OPTIONS))).transforms
        self.assertEqual([t.child_frame_id for t in statics], ["cam_link", "cam_optical_frame"])
        self.assertEqual(len(read(messages(frame, Instance("cam", mount), {"/tf"})["/tf"]).transforms), 1)
        tree = self.tree(frame, **mount)
        down = tree["base_link", "cam_link"] @ [1, 0, 0, 0]
        np.testing.assert_allclose(down[:3], [math.cos(math.radians(5)), 0, -math.sin(math.radians(5))], atol=1e-12)
        slope = self.whole(tree) @ [1, 0, 0, 0]  # the camera looks down more than it is mounted, so the road climbs
        np.testing.assert_allclose(slope[:3], [math.cos(math.radians(2)), 0, math.sin(math.radians(2))], atol=1e-12)

    def test_roll_is_positive_where_the_right_side_is_lower(self):
        tree = self.tree(street(), x_m=0.0, y_m=0.0, z_m=1.0, yaw_deg=0.0, pitch_deg=0.0, roll_deg=10.0)
        self.assertLess((tree["base_link", "cam_link"] @ [0, -1, 0, 0])[2], 0)

    def test_one_message_has_the_static_frames_of_all(self):
        found = list(topics.of_instances([Instance("a", {}), Instance("b", {"frame_prefix": "rear"})], OPTIONS))
        self.assertEqual([t.child_frame_id for t in read(found[0]).transforms],
                         ["a_optical_frame", "rear_optical_frame"])


class Images(Case):
    def test_calibrations(self):
        made = self.both(messages(street()).values())
        left, right = made["left/camera_info"], made["right/camera_info"]
        for info in (left, right):
            self.assertEqual((info.width, info.height, info.header.frame_id), (640, 480, "front_optical_frame"))
            np.testing.assert_array_equal(info.k.reshape(3, 3), [[500, 0, 320], [0, 500, 240], [0, 0, 1]])
            np.testing.assert_array_equal(info.p.reshape(3, 4)[:, :3], info.k.reshape(3, 3))
        self.assertEqual((left.p[3], right.p[3]), (0.0, -100.0))  # -fx * baseline

    def test_pictures(self):
        for side in ("left", "right"):
            frame = street(planes=(side,))
            found = messages(frame)
            made, grey = read(found[side + "/image_rect"]), getattr(frame, side)
            self.assertEqual((made.encoding, made.step, made.height, made.width), ("mono8", 640, 480, 640))
            np.testing.assert_array_equal(made.data.reshape(480, 640), grey)
            if images.HAS_JPEG:
                from PIL import Image
                small = read(found[side + "/image_rect/compressed"])
                self.assertEqual(small.format, "mono8; jpeg compressed ")
                shown = np.asarray(Image.open(io.BytesIO(small.data.tobytes())))
                self.assertLess(np.abs(shown.astype(int) - grey).mean(), 3)

    def test_disparities(self):
        frame = street(planes=("disparity",))
        made = read(messages(frame)["disparity"])
        self.assertEqual((made.f, made.min_disparity, made.max_disparity, made.delta_d), (500.0, 0.0, 63.0, 0.0625))
        self.assertAlmostEqual(made.t, 0.2, 6)
        px = made.image.data.view("<f4").reshape(480, 640)
        self.assertEqual((made.image.encoding, made.image.step), ("32FC1", 2560))
        valid = np.isfinite(frame.disparity)
        np.testing.assert_array_equal(px[valid], frame.disparity[valid])
        self.assertEqual(set(px[~valid].tolist()), {-1.0})
        self.assertTrue(0 < (~valid).sum() < valid.sum())


class Health(Case):
    STATUS = {
        "version": "0.2.0", "pid": 7, "reason": "slow", "engine": {"backend": "cpu"}, "fps": {"last_1s": 29.5},
        "frames": {"captured": 10, "dropped": {"overload": 2}}, "road": {"origin": "measured", "pitch_deg": 1.25},
        "source": {"cameras": [{"side": "left", "path": "/dev/video0", "captured": 10, "errors": None}]},
        "pictures": {"row_error_px": {"all": 0.5, "left": -1.5}, "density": 0.9, "at_infinity": 0.1,
                     "dark": {"left": 0.0},
                     "limits": {"density": None, "at_infinity": 0.98, "row_error_px": 1, "dark": 0.98}},
    }

    def of(self, publisher, state, status):
        found = list(topics.of_report(Report(Instance("front", {}), publisher, state, status), OPTIONS))
        return self.both(found)["/diagnostics"].status

    def test_classes(self):
        status = dict(self.STATUS, semantics={"source": "net", "classes": [{"name": "road", "kind": "ground"},
                                                                           {"name": "car", "kind": "object"}]})
        found = self.both(topics.of_report(Report(Instance("front", {}), "alive", "running", status), OPTIONS))
        self.assertEqual([(c.class_id, c.class_name) for c in found["classes"].class_map], [(0, "road"), (1, "car")])
        self.assertEqual(found["classes"].header.frame_id, "front_optical_frame")
        for without in (self.STATUS, None, dict(self.STATUS, semantics={"source": None})):
            report = Report(Instance("front", {}), "alive", "running", without)
            self.assertEqual([m.topic.name for m in topics.of_report(report, OPTIONS)], ["/diagnostics"])

    def test_levels(self):
        for state, level in (("running", 0), ("starting", 1), ("degraded", 1), ("no_camera", 2), ("unknown", 2)):
            self.assertEqual(self.of("alive", state, None)[0].level, level, state)
        gone = self.of("died", "running", self.STATUS)
        self.assertEqual((len(gone), gone[0].level), (1, 3))
        self.assertIn("died", gone[0].message)

    def test_values_are_those_of_the_status(self):
        daemon, pictures, road = self.of("alive", "degraded", self.STATUS)
        self.assertEqual((daemon.name, daemon.message, daemon.hardware_id),
                         ("front: stixeld", "degraded: slow", "/dev/video0"))
        values = {v.key: v.value for v in daemon.values}
        self.assertEqual((values["captured"], values["dropped, overload"], values["frames a second, last second"]),
                         ("10", "2", "29.5"))
        self.assertEqual((pictures.level, pictures.message), (1, "row_error_px is out of its limit 1"))
        self.assertEqual({v.key for v in pictures.values if v.key.startswith("left")}, {"left captured"})
        self.assertEqual((road.level, {v.key: v.value for v in road.values}["pitch, deg"]), (0, "1.25"))

    def test_names_of_values_are_in_the_status_of_a_daemon(self):
        programs = support.instances()
        daemon = programs.Daemon("ros")
        self.addCleanup(daemon.close)
        daemon.start(*programs.SMALL)
        daemon.until_published(1)
        status = daemon.until_state("running")
        ways = [way for _, way in health._DAEMON + health._PICTURES + health._ROAD]
        ways += ["source.cameras.0." + way for _, way in health._CAMERA]
        for way in ways:
            tree = status
            for key in way.split("."):
                self.assertIn(int(key) if key == "0" else key, range(len(tree)) if key == "0" else tree, way)
                tree = tree[0 if key == "0" else key]
        parts = self.of("alive", status["state"], status)
        self.assertEqual([part.name for part in parts], ["front: " + name for name in ("stixeld", "pictures", "road")])
        self.assertEqual((parts[0].level, parts[0].message, parts[2].message), (0, "running", status["road"]["origin"]))

    def test_a_status_of_another_shape_is_no_error(self):
        for status in ({}, {"source": 3, "pictures": [], "road": None, "frames": {"captured": {}}}):
            self.assertEqual(len(self.of("alive", "running", status)), 3)


class Options(unittest.TestCase):
    def fails(self, says, instances=(), **options):
        with self.assertRaises(Fail) as caught:
            topics.check(dict(OPTIONS, **options), instances)
        self.assertEqual(caught.exception.code, 78)
        self.assertIn(says, str(caught.exception))

    def test_what_does_not_go_together(self):
        topics.check(OPTIONS, [Instance("front", {}), Instance("rear", {})])
        self.fails("scan_height_min_m = 3 is more", scan_height_min_m=3.0, scan_height_max_m=2.0)
        self.fails("scan_range_min_m = 3 is more", scan_range_min_m=3.0, scan_range_max_m=2.0)
        self.fails("needs an obstacle_range_m", obstacle_step_m=0.5, obstacle_range_m=0.0)
        self.fails("0.01 and more", obstacle_step_m=0.001)
        self.fails("'/map' is no frame id", [Instance("front", {})], base_frame="/map")
        self.fails("front.left and front-left both have topics below /front_left",
                   [Instance("front.left", {}), Instance("front-left", {})])

    def test_names(self):
        scan = next(topic for topic in topics.topics(OPTIONS) if topic.name == "scan")
        self.assertEqual(topics.full_name(scan, Instance("front-left.2", {})), "/front_left_2/scan")
        self.assertEqual(topics.full_name(scan, Instance("2", {})), "/camera_2/scan")


if __name__ == "__main__":
    unittest.main()
