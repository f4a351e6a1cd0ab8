# What ROS 2 gets of motion: odometry, the transform of it, objects. Against definitions and truth that share no code
# with the bridge.
# SPDX-License-Identifier: Apache-2.0
import math
import os
import re
import types
import unittest
import unittest.mock
import uuid

import support

support.need("rosbags", "mcap_ros2")

import numpy as np  # noqa: E402
from mcap.records import Schema  # noqa: E402
from mcap_ros2.decoder import DecoderFactory  # noqa: E402
from rosbags.typesys import Stores, get_types_from_msg, get_typestore  # noqa: E402

import stixel  # noqa: E402
from stixel import MotionState  # noqa: E402
from stixel_bridge import config, instances, trajectory  # noqa: E402
from stixel_bridge.fail import Fail  # noqa: E402
from stixel_bridge.ros import objects, store, topics  # noqa: E402
from stixel_bridge.sink import NO_IMAGES, Instance, Work  # noqa: E402
from support_frames import ANCHOR_NS, objects_frame, street, table  # noqa: E402

OPTIONS = {option.name: option.default for option in topics.OPTIONS}
KINDS = ["autoware", "derived", "derived_covariance", "nav2"]
OBJECT_TOPICS = frozenset(["tracked_objects", "objects", "objects_with_covariance", "dynamic_obstacles"])
RELEASES = ("ROS2_HUMBLE", "ROS2_IRON", "ROS2_JAZZY", "ROS2_KILTED", "ROS2_LYRICAL")
DEFINITIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "object_messages.txt")
FRONT = {option.name: option.default for option in config.INSTANCE}
UNMEASURED = 1e6


def definitions():
    """Returns the messages of objects as their packages define them: {name: text}."""
    with open(DEFINITIONS, encoding="utf-8") as f:
        parts = re.split(r"(?m)^MSG (\S+) .*\n", f.read())
    return dict(zip(parts[1::2], parts[2::2]))


def foreign_store(release="ROS2_JAZZY"):
    """Returns the types of a release and those of the packages of objects."""
    found = get_typestore(getattr(Stores, release))
    for name, text in definitions().items():
        found.register(get_types_from_msg(text, name))
    return found


FOREIGN = foreign_store()


def decoded(message):
    """Returns a message as mcap-ros2-support reads it, by the packages' own definition."""
    text = FOREIGN.generate_msgdef(message.topic.type, ros_version=2)[0]
    schema = Schema(1, text.encode(), "ros2msg", message.topic.type)
    return DecoderFactory().decoder_for("cdr", schema)(message.cdr)


def constants(name):
    return {key: value for key, _, value in FOREIGN.fielddefs[name][0]}


def messages(work, wanted=OBJECT_TOPICS, **options):
    """Returns the messages of a frame by topic, read by both decoders."""
    found = list(topics.of_frame(work, dict(OPTIONS, **dict({"objects": KINDS}, **options)), wanted))
    return {m.topic.name: decoded(m) for m in found}, {
        m.topic.name: FOREIGN.deserialize_cdr(m.cdr, m.topic.type) for m in found}


def stamp(message):
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


def vec(v):
    return np.array([v.x, v.y, v.z])


def turn_of(q):
    """Returns the rotation (3, 3) of a quaternion by its definition."""
    w, v = q.w, np.array([q.x, q.y, q.z])
    k = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * k


def turned(v):
    """Returns the rotation of a rotation vector, by the series of the exponential."""
    k = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    found, term = np.eye(3), np.eye(3)
    for n in range(1, 30):
        term = term @ k / n
        found = found + term
    return found


def vector_of(turn):
    """Returns the rotation vector of a small rotation."""
    v = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
    sine = np.linalg.norm(v)
    return v if sine < 1e-9 else v / sine * math.atan2(sine, (np.trace(turn) - 1) / 2)


def pose(turn, place):
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = turn, place
    return found


ROAD = types.SimpleNamespace(known=False)


def frame_at(seconds, before, now, span, epoch=7, sigma=(0.001, 0.002, 0.003, 1e-4, 2e-4, 3e-4), noise=None):
    """Returns a frame whose step leads from one pose (4, 4) to another, with an error (6,)."""
    step = np.linalg.inv(before) @ now
    noise = np.zeros(6) if noise is None else noise
    ego = stixel._frame.Ego(span, tuple(vector_of(turned(noise[3:]) @ step[:3, :3])), tuple(step[:3, 3] + noise[:3]),
                            tuple(sigma[3:]), tuple(sigma[:3]))
    return types.SimpleNamespace(epoch=epoch, capture_left_ns=10**12 + round(seconds * 1e9), ego=ego, road=ROAD)


def unknown(seconds, epoch=7):
    return types.SimpleNamespace(epoch=epoch, capture_left_ns=10**12 + round(seconds * 1e9), ego=None, road=ROAD)


def drive(t):
    """Returns the pose of a camera at a time: a bend, while it speeds up, with some pitch."""
    yaw, way = 0.25 * t + 0.1 * math.sin(t), 3 * t + 0.5 * t * t
    return pose(turned([0, yaw, 0]) @ turned([0.02 * math.sin(2 * t), 0, 0]),
                [way * math.sin(0.4 * yaw), -0.1 * math.sin(t), way * math.cos(0.4 * yaw)])


class Trajectories(unittest.TestCase):
    def follow(self, fps, span, seconds=6.0, drop=lambda k: False, lost=lambda k: False):
        """Returns (frame number, time, pose) of a drive. drop: frames that do not come. lost: their step is unknown."""
        way, found, back = trajectory.Trajectory(), [], round(span * fps)
        for k in range(1, int(seconds * fps)):
            t = k / fps
            if drop(k):
                continue
            if k < back or lost(k):
                self.assertIsNone(way.take(unknown(t)))
                continue
            found.append((k, t, way.take(frame_at(t, drive(t - span), drive(t), span))))
        return found

    def check(self, found, start, place, turn):
        for _, t, p in found:
            truth = np.linalg.inv(drive(start)) @ drive(t)
            self.assertLess(np.linalg.norm(p.place - truth[:3, 3]), place, t)
            self.assertLess(np.linalg.norm(vector_of(p.turn.T @ truth[:3, :3])), turn, t)

    def test_steps_are_added_up(self):
        self.check(self.follow(10, 0.1), 0.0, 1e-9, 1e-9)

    def test_steps_that_overlap(self):
        """At 30 frames a second a step leads over three frames. The poses between lie on the way, too."""
        found = self.follow(30, 0.1)
        self.assertEqual(len(found), 177)
        self.check(found, 0.0, 0.02, 1e-3)
        self.check([one for one in found if one[0] % 3 == 0], 0.0, 1e-9, 1e-9)

    def test_frames_that_do_not_come(self):
        found = self.follow(30, 0.1, drop=lambda k: k % 7 == 0)
        self.check(found, 0.0, 0.1, 0.01)

    def test_velocity_is_the_mean_of_the_step(self):
        """A camera on a circle: 5 m/s ahead, 0.5 rad/s to the right, exactly."""
        way = trajectory.Trajectory()
        def at(t):
            return pose(turned([0, 0.5 * t, 0]), [10 - 10 * math.cos(0.5 * t), 0, 10 * math.sin(0.5 * t)])
        for k in range(1, 20):
            p = way.take(frame_at(k / 10, at(k / 10 - 0.1), at(k / 10), 0.1))
            np.testing.assert_allclose(p.velocity, [0, 0, 5, 0, 0.5, 0], atol=1e-9)
        sigma = np.sqrt(np.diag(p.velocity_covariance))
        np.testing.assert_allclose(sigma[3:], [1e-3, 2e-3, 3e-3])
        np.testing.assert_allclose(sigma[:3], [0.01, 0.02, math.hypot(0.03, 0.01 * 5)])

    def test_an_unknown_step_is_never_standing(self):
        """The camera goes on through a gap. Then its place is about where it should be, and the covariance says how
        unsure that is."""
        for gap in (3, 10, 40):
            found = self.follow(30, 0.1, lost=lambda k: 90 <= k < 90 + gap)
            before = [p for k, _, p in found if k < 90][-1]
            k, t, after = next(one for one in found if one[0] >= 90)
            truth = np.linalg.inv(drive(0)) @ drive(t)
            off = after.place - truth[:3, 3]
            sigma = math.sqrt(np.linalg.eigvalsh(after.covariance[:3, :3])[0])
            if gap == 3:
                self.assertLess(np.linalg.norm(off), 0.05)
            else:
                self.assertGreater(sigma, 1.4 * (gap / 30 - 0.1) ** 2)
                self.assertLess(off @ np.linalg.solve(after.covariance[:3, :3], off), 12)
            grown = np.linalg.eigvalsh(after.covariance - before.covariance)
            self.assertGreater(grown.max(), 0)
            self.assertGreater(np.linalg.norm(after.place - before.place), 1.5 * (t - 3))  # not where it was

    def test_an_epoch_or_an_earlier_time_begins_anew(self):
        way = trajectory.Trajectory()
        for k in range(1, 30):
            p = way.take(frame_at(k / 10, drive(k / 10 - 0.1), drive(k / 10), 0.1))
        self.assertGreater(np.linalg.norm(p.place), 5)
        for frame in (frame_at(3.0, drive(2.9), drive(3.0), 0.1, epoch=8),
                      frame_at(2.0, drive(1.9), drive(2.0), 0.1, epoch=8)):
            p = way.take(frame)
            truth = np.linalg.inv(drive((frame.capture_left_ns - 10**12) / 1e9 - 0.1)) @ drive(
                (frame.capture_left_ns - 10**12) / 1e9)
            np.testing.assert_allclose(p.place, truth[:3, 3], atol=1e-9)
        self.assertIsNone(way.take(unknown(9, epoch=9)))

    def test_forged_numbers(self):
        way = trajectory.Trajectory()
        for bad in (float("nan"), float("inf"), 1e30):
            frame = frame_at(1.0, drive(0.9), drive(1.0), 0.1)
            for field in ("way_m", "turn_rad", "way_sigma_m"):
                frame.ego = frame_at(1.0, drive(0.9), drive(1.0), 0.1).ego._replace(**{field: (0.1, bad, 0.1)})
                self.assertIsNone(way.take(frame), (field, bad))

    def test_covariance_is_that_of_the_errors(self):
        """Of many drives with errors of the steps as their sigmas say: the mean of the squared distance of Mahalanobis
        is 6 without overlap. With it the steps of other frames are not used up, so that the covariance is right, too.
        """
        rng = np.random.default_rng(5)
        sigma = np.array([0.01, 0.02, 0.03, 1e-3, 2e-3, 1.5e-3])
        for fps in (10, 30):
            back, squares = round(0.1 * fps), []
            for _ in range(60):
                way = trajectory.Trajectory()
                with unittest.mock.patch.object(trajectory, "SCALE_SIGMA", 0.0):
                    for k in range(back, 3 * fps + 1):
                        t = k / fps
                        p = way.take(frame_at(t, drive(t - 0.1), drive(t), 0.1, sigma=tuple(sigma),
                                              noise=sigma * rng.standard_normal(6)))
                truth = np.linalg.inv(drive(0)) @ drive(3.0)
                off = np.concatenate([p.place - truth[:3, 3], vector_of(p.turn @ truth[:3, :3].T)])
                squares.append(off @ np.linalg.solve(p.covariance, off))
            self.assertTrue(4.5 < np.mean(squares) < 7.5, (fps, np.mean(squares)))

    def test_the_share_of_the_way_that_all_steps_have_in_common(self):
        """Lengths that are all 1 % too long make an error that grows with the way."""
        way = trajectory.Trajectory()
        for k in range(1, 200):
            p = way.take(frame_at(k / 10, *(pose(np.eye(3), [0, 0, 0.5 * n]) for n in (k - 1, k)), 0.1))
        self.assertAlmostEqual(math.sqrt(p.covariance[2, 2]), 0.01 * 99.5, delta=0.05)

    def test_the_thread_of_an_instance_follows_every_frame(self):
        """Also those that no sink wants, and those before a node subscribes."""
        frames = [frame_at(k / 10, drive(k / 10 - 0.1), drive(k / 10), 0.1) for k in range(1, 8)]
        frames[3] = unknown(0.4)
        for frame in frames:
            frame.missed, frame.number = 0, 1
        reader = types.SimpleNamespace(
            status=lambda: types.SimpleNamespace(publisher=stixel.Publisher.ALIVE, state=stixel.State.RUNNING,
                                                 restarts=0),
            next=lambda timeout: frames.pop(0) if frames else source.stop())
        got = []
        runner = types.SimpleNamespace(images=lambda instance: NO_IMAGES, put=got.append)
        source = instances.Source(Instance("front", {}), [runner], print)
        source._read(reader)
        self.assertEqual([work.pose is None for work in got], [False] * 3 + [True] + [False] * 3)
        truth = np.linalg.inv(drive(0)) @ drive(0.7)
        np.testing.assert_allclose(got[-1].pose.place, truth[:3, 3], atol=0.1)


CAMERA = np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0]])  # axes of the camera in those of REP 103


def mounted(x=0.0, y=0.0, z=0.0, yaw=0.0, pitch=0.0, roll=0.0):
    """Returns the pose of a camera in base_link, by the definition of roll, pitch and yaw."""
    roll, pitch, yaw = (turned([roll, 0, 0]), turned([0, pitch, 0]), turned([0, 0, yaw]))
    return pose(yaw @ pitch @ roll @ CAMERA, [x, y, z])


def circle(t):
    """Returns the pose of a vehicle that drives 3 m/s and turns 0.3 rad/s to the left."""
    return pose(turned([0, 0, 0.3 * t]), [10 * math.sin(0.3 * t), 10 - 10 * math.cos(0.3 * t), 0])


class Odometry(unittest.TestCase):
    MOUNT = dict(FRONT, x_m=1.5, y_m=-0.4, z_m=1.2, yaw_deg=90.0, pitch_deg=10.0, roll_deg=-3.0)
    PLACE = mounted(1.5, -0.4, 1.2, math.pi / 2, math.radians(10), math.radians(-3))

    def messages(self, p, instance, frame=None, wanted=("odometry",), **options):
        return messages(Work(instance, frame or street(), 0, p), frozenset(wanted), **options)

    def way(self, base, place, times, span=0.1, road=ROAD):
        """Returns the last pose of a camera on a vehicle, which moves as base(t) says."""
        found = trajectory.Trajectory()
        for t in times:
            frame = frame_at(t, base(t - span) @ place, base(t) @ place, span)
            frame.road = road
            p = found.take(frame)
        return p

    def test_the_vehicle_moves_and_not_the_camera(self):
        """A robot that turns on the spot, with a camera beside its middle that looks to the left."""
        p = self.way(lambda t: pose(turned([0, 0, 0.5 * t]), [0, 0, 0]), self.PLACE, [k / 10 for k in range(1, 31)])
        other, made = self.messages(p, Instance("front", self.MOUNT))
        made, other = made["odometry"], other["odometry"]
        self.assertEqual((made.header.frame_id, made.child_frame_id), ("odom", "base_link"))
        self.assertEqual(stamp(made), ANCHOR_NS + 123_456_789)
        np.testing.assert_allclose(vec(made.pose.pose.position), [0, 0, 0], atol=1e-9)
        np.testing.assert_allclose(turn_of(made.pose.pose.orientation), turned([0, 0, 1.5]), atol=1e-9)
        np.testing.assert_allclose(vec(made.twist.twist.linear), [0, 0, 0], atol=1e-9)
        np.testing.assert_allclose(vec(made.twist.twist.angular), [0, 0, 0.5], atol=1e-9)
        np.testing.assert_array_equal(made.pose.covariance, other.pose.covariance)
        np.testing.assert_array_equal(made.twist.covariance, other.twist.covariance)

    def test_a_drive(self):
        p = self.way(circle, self.PLACE, [k / 10 for k in range(1, 31)])
        made = self.messages(p, Instance("front", self.MOUNT), odom_frame="map_of_odom", base_frame="vehicle")[1]
        made = made["odometry"]
        self.assertEqual((made.header.frame_id, made.child_frame_id), ("map_of_odom", "vehicle"))
        np.testing.assert_allclose(vec(made.pose.pose.position), circle(3)[:3, 3], atol=1e-9)
        np.testing.assert_allclose(vec(made.twist.twist.linear), [3, 0, 0], atol=1e-9)

    def test_covariances_by_samples(self):
        """The same errors, drawn at the camera and moved to the vehicle one by one, have the covariances of the
        message: rows and columns x, y, z, then about x, y, z, pose in odom, twist in base_link."""
        p = self.way(circle, self.PLACE, [k / 10 for k in range(1, 31)])
        made = self.messages(p, Instance("front", self.MOUNT))[1]["odometry"]
        rng = np.random.default_rng(2)
        back, begin, now = np.linalg.inv(self.PLACE), self.PLACE, made.pose.pose
        offs, moves = [], []
        for off in rng.multivariate_normal(np.zeros(6), p.covariance, 4000):
            there = begin @ pose(turned(off[3:]) @ p.turn, p.place + off[:3]) @ back
            offs.append(np.concatenate([there[:3, 3] - vec(now.position),
                                        vector_of(there[:3, :3] @ turn_of(now.orientation).T)]))
        for v in rng.multivariate_normal(p.velocity, p.velocity_covariance, 4000):
            a_little = back @ np.eye(4)
            step = begin @ pose(turned(1e-6 * v[3:]), 1e-6 * v[:3]) @ a_little
            moves.append(np.concatenate([step[:3, 3], vector_of(step[:3, :3])]) / 1e-6)
        for drawn, said in ((np.cov(np.array(offs).T), made.pose.covariance),
                            (np.cov(np.array(moves).T), made.twist.covariance)):
            said = said.reshape(6, 6)
            np.testing.assert_allclose(said, said.T, rtol=1e-9, atol=1e-15)
            self.assertGreater(np.linalg.eigvalsh(said)[0], 0)
            scale = np.sqrt(np.outer(np.diag(said), np.diag(said)))
            np.testing.assert_allclose(drawn / scale, said / scale, atol=0.08)

    def test_a_mount_that_is_measured(self):
        """The road says how the camera is mounted: odom is the plane of the road where the way begins. Its sigmas are
        a part of the covariances."""
        road = street(pitch_rad=0.1, roll_rad=0.0, height_m=1.2, pitch_sigma_rad=0.01, roll_sigma_rad=0.02,
                      height_sigma_m=0.03).road
        place = mounted(2.0, 0.5, 1.2, 0.0, 0.1, 0.0)
        p = self.way(lambda t: pose(np.eye(3), [10 * t, 0, 0]), place, [k / 10 for k in range(1, 11)], road=road)
        made = self.messages(p, Instance("front", dict(FRONT, x_m=2.0, y_m=0.5)))[1]["odometry"]
        np.testing.assert_allclose(vec(made.pose.pose.position), [10, 0, 0], atol=1e-7)
        np.testing.assert_allclose(vec(made.twist.twist.linear), [10, 0, 0], atol=1e-7)
        given = self.messages(p, Instance("front", dict(FRONT, x_m=2.0, y_m=0.5, z_m=1.2, pitch_deg=math.degrees(0.1),
                                                        roll_deg=0.0)))[1]["odometry"]
        more = (made.pose.covariance - given.pose.covariance).reshape(6, 6)
        np.testing.assert_allclose(np.diag(more), [0, 0, 0.03**2, 0.02**2, 0.01**2, 0], atol=1e-9)
        more = (made.twist.covariance - given.twist.covariance).reshape(6, 6)
        np.testing.assert_allclose(np.diag(more), [0, 0, (10 * 0.01)**2, 0, 0, 0], atol=1e-7)

    def test_what_is_not_known_is_not_sent(self):
        p = self.way(drive, np.eye(4), [0.1, 0.2])
        front = Instance("front", FRONT)
        self.assertEqual(self.messages(None, front)[1], {})
        self.assertEqual(self.messages(p, front)[1], {})  # no road was seen, and no mount is given
        self.assertEqual(self.messages(None, Instance("front", self.MOUNT), wanted=["odometry", "/tf"],
                                       odometry_tf="front", frame=street(road_origin=0))[1], {})

    def test_the_transform(self):
        p = self.way(drive, np.eye(4), [0.1, 0.2])
        front = Instance("front", self.MOUNT)
        both = self.messages(p, front, wanted=["odometry", "/tf"], odometry_tf="front")[1]
        *others, base = both["/tf"].transforms
        self.assertEqual([(t.header.frame_id, t.child_frame_id) for t in (*others, base)],
                         [("front_optical_frame", "front_road"), ("odom", "base_link")])
        said = both["odometry"].pose.pose
        np.testing.assert_array_equal(vec(base.transform.translation), vec(said.position))
        np.testing.assert_array_equal(turn_of(base.transform.rotation), turn_of(said.orientation))
        self.assertEqual(stamp(base), stamp(both["odometry"]))
        for other in (None, "rear"):
            found = self.messages(p, front, wanted=["/tf"], odometry_tf=other)[1]["/tf"].transforms
            self.assertEqual([t.child_frame_id for t in found], ["front_road"])
        alone = self.messages(p, front, wanted=["/tf"], odometry_tf="front", frame=street(road_origin=0))[1]
        self.assertEqual([t.child_frame_id for t in alone["/tf"].transforms], ["base_link"])

    def test_options(self):
        front, rig = Instance("front", FRONT), Instance("all", {"instances": ["front"]})
        topics.check(dict(OPTIONS, odometry_tf="front"), [front, rig])
        for options, says in (({"odometry_tf": "rear"}, "odometry_tf = rear: the sink has no such instance"),
                              ({"odometry_tf": "all"}, "a rig has no odometry"),
                              ({"odometry_tf": "front", "topics": ["scan"]}, "needs /tf among the topics"),
                              ({"odom_frame": "base_link"}, "odom_frame and base_frame are both 'base_link'"),
                              ({"odom_frame": "/odom"}, "'/odom' is no frame id")):
            with self.assertRaisesRegex(Fail, re.escape(says)):
                topics.check(dict(OPTIONS, **options), [front, rig])


class Types(unittest.TestCase):
    def test_definitions_and_hashes_are_those_of_the_packages(self):
        kinds = [store.TRACKED_OBJECTS, store.OBJECTS, store.OBJECTS_WITH_COVARIANCE, store.DYNAMIC_OBSTACLES]
        self.assertLessEqual(set(kinds), set(definitions()))
        for release in RELEASES:
            found = foreign_store(release)
            for kind in kinds:
                self.assertEqual(topics.type_hash(kind), found.hash_rihs01(kind), (release, kind))
        for kind in definitions():
            self.assertEqual(topics.definition(kind), FOREIGN.fielddefs[kind][1], kind)

    @unittest.skipIf(support.missing("rosidl_adapter"), support.missing("rosidl_adapter"))
    def test_definitions_as_ros_reads_them(self):
        from rosidl_adapter.parser import parse_message_string
        for kind, text in definitions().items():
            package, _, name = kind.split("/")
            message = parse_message_string(package, name, text)
            self.assertEqual([field.name for field in message.fields], [name for name, _ in topics.definition(kind)])

    def test_objects_are_offered_by_their_option(self):
        self.assertFalse({t.name for t in topics.topics(OPTIONS)} & OBJECT_TOPICS)
        for kind, name in zip(KINDS, ("tracked_objects", "objects", "objects_with_covariance", "dynamic_obstacles")):
            found = {t.name: t for t in topics.topics(dict(OPTIONS, objects=[kind]))}
            self.assertEqual(set(found) & OBJECT_TOPICS, {name})
            self.assertEqual(found[name][2:], (True, False, 5))
        self.assertEqual(next(t for t in topics.topics(OPTIONS) if t.name == "odometry")[2:], (True, False, 10))


class Objects(unittest.TestCase):
    def of(self, frame, pose=None, **options):
        return messages(Work(Instance("front", FRONT), frame, 0, pose), **options)

    def both(self, frame, **options):
        """Returns the messages, after both decoders agreed on some fields."""
        other, made = self.of(frame, **options)
        for name, m in made.items():
            them = other[name]
            self.assertEqual((m.header.frame_id, stamp(m), stamp(them)), ("front_road", stamp(m), stamp(m)))
            self.assertEqual(stamp(m), ANCHOR_NS + 123_456_789)
        return made

    def test_a_car_ahead(self):
        """A level camera 1 m above the road: 10 m ahead, 5 m/s away, from the road up to 1.5 m."""
        made = self.both(objects_frame(table({"x": 2.0, "vx": 0.0})))
        self.assertEqual(set(made), OBJECT_TOPICS)
        (o,), (d,), (c,), (n,) = (made[name].obstacles if name == "dynamic_obstacles" else made[name].objects
                                  for name in ("tracked_objects", "objects", "objects_with_covariance",
                                               "dynamic_obstacles"))
        k = o.kinematics
        middle = [10, -2, 0.75]
        for place in (k.pose_with_covariance.pose.position, d.pose.position, c.pose.pose.position, n.position):
            np.testing.assert_allclose(vec(place), middle, atol=1e-6)
        for velocity in (k.twist_with_covariance.twist.linear, d.twist.linear, c.twist.twist.linear, n.velocity):
            np.testing.assert_allclose(vec(velocity), [5, 0, 0], atol=1e-6)
        row = 0.1 * 0.2 + 10 / 500  # x ahead, y left: the signs of the camera's x axis change
        place = np.array(c.pose.covariance).reshape(6, 6)
        np.testing.assert_allclose(place[:2, :2], [[0.04, -0.002], [-0.002, 0.01]], atol=1e-6)
        self.assertAlmostEqual(math.sqrt(place[2, 2]), math.hypot(0.1 * 0.2, 10 / 500), 6, row)
        np.testing.assert_array_equal(np.diag(place)[3:5], [UNMEASURED] * 2)
        self.assertAlmostEqual(place[5, 5], 0.09 / 25, 6)  # heading: sideways over speed
        moves = np.array(c.twist.covariance).reshape(6, 6)
        np.testing.assert_allclose(moves[:2, :2], [[0.25, -0.03], [-0.03, 0.09]], atol=1e-6)
        np.testing.assert_array_equal(np.diag(moves)[2:], [UNMEASURED] * 4)
        np.testing.assert_allclose(np.array(n.velocity_covariance).reshape(3, 3), moves[:3, :3])
        np.testing.assert_allclose(np.array(n.position_covariance).reshape(3, 3), place[:3, :3])
        np.testing.assert_allclose(k.twist_with_covariance.covariance, moves.reshape(36), atol=1e-6)
        np.testing.assert_allclose(turn_of(d.pose.orientation), np.eye(3), atol=1e-6)
        np.testing.assert_allclose(vec(o.shape.dimensions), [0.2, 1.8, 1.5], atol=1e-6)
        np.testing.assert_allclose(d.shape.dimensions, [0.2, 1.8, 1.5], atol=1e-6)
        np.testing.assert_allclose(vec(n.size), [0.2, 1.8, 1.5], atol=1e-6)
        np.testing.assert_allclose([[p.x, p.y, p.z] for p in d.polygon.points],
                                   [[10.1, -1.1, 0], [9.9, -1.1, 0], [9.9, -2.9, 0], [10.1, -2.9, 0]], atol=1e-5)
        accel = np.diag(np.array(c.accel.covariance).reshape(6, 6))
        np.testing.assert_array_equal(accel, [9, 9, UNMEASURED, UNMEASURED, UNMEASURED, UNMEASURED])
        self.assertEqual((o.shape.type, k.orientation_availability, k.is_stationary), (
            constants("autoware_perception_msgs/msg/Shape")["BOUNDING_BOX"],
            constants("autoware_perception_msgs/msg/TrackedObjectKinematics")["SIGN_UNKNOWN"], False))
        self.assertEqual((d.detection_level, c.shape.type, d.shape.type, d.id), (
            constants("derived_object_msgs/msg/Object")["OBJECT_TRACKED"],
            constants("derived_object_msgs/msg/SolidPrimitiveWithCovariance")["BOX"],
            constants("shape_msgs/msg/SolidPrimitive")["BOX"], 1))

    def test_one_who_crosses(self):
        """2 m/s to the left, seen from the side: its heading is that of the velocity, its twist is its own in Autoware
        and the road's elsewhere."""
        made = self.both(objects_frame(table({"vx": -2.0, "vz": 0.0, "width": 0.5, "sxx": 0.04, "szz": 0.16,
                                              "sxz": 0.02})))
        k = made["tracked_objects"].objects[0].kinematics
        turn = turn_of(k.pose_with_covariance.pose.orientation)
        np.testing.assert_allclose(turn, turned([0, 0, math.pi / 2]), atol=1e-6)
        np.testing.assert_allclose(vec(k.twist_with_covariance.twist.linear), [2, 0, 0], atol=1e-6)
        own = np.array(k.twist_with_covariance.covariance).reshape(6, 6)[:2, :2]
        np.testing.assert_allclose(own, [[0.04, 0.02], [0.02, 0.16]], atol=1e-6)
        sides = vec(made["tracked_objects"].objects[0].shape.dimensions)
        np.testing.assert_allclose(sides, [0.5, 0.2, 1.5], atol=1e-6)
        d = made["objects_with_covariance"].objects[0]
        np.testing.assert_allclose(vec(d.twist.twist.linear), [0, 2, 0], atol=1e-6)
        road = np.array(d.twist.covariance).reshape(6, 6)[:2, :2]
        np.testing.assert_allclose(road, turn[:2, :2] @ own @ turn[:2, :2].T, atol=1e-6)
        self.assertAlmostEqual(np.array(d.pose.covariance).reshape(6, 6)[5, 5], 0.16 / 4, 5)
        np.testing.assert_allclose(vec(made["dynamic_obstacles"].obstacles[0].size), [0.2, 0.5, 1.5], atol=1e-6)

    def test_a_camera_that_looks_down_and_leans(self):
        """A thing on the road, whose velocity along the road is known: what the camera measures of it, and back."""
        header = {"pitch_rad": 0.2, "roll_rad": -0.1, "height_m": 1.3}
        frame = street(**header)
        turn = frame.road.turn()
        foot, velocity = np.array([8.0, 1.5, 0.0]), np.array([-1.0, 3.0, 0.0])
        x, y, z = turn.T @ (foot - [0, 0, 1.3])
        vx, _, vz = turn.T @ velocity
        made = self.both(objects_frame(table({"x": x, "y": y, "z": z, "vx": vx, "vz": vz, "height": 0.0}), **header))
        d = made["objects"].objects[0]
        np.testing.assert_allclose(vec(d.pose.position), foot, atol=1e-5)
        np.testing.assert_allclose(vec(d.twist.linear), velocity, atol=1e-5)

    def test_states(self):
        """What stands is said to stand, with the velocity that was measured. What is unknown is not there."""
        made = self.both(objects_frame(table({"state": 1, "vz": 0.3}, {"state": 0}, {"state": 7}, {})))
        self.assertEqual([o.id for o in made["objects"].objects], [1, 4])
        stands = made["tracked_objects"].objects[0].kinematics
        self.assertEqual((stands.is_stationary, stands.orientation_availability), (
            True, constants("autoware_perception_msgs/msg/TrackedObjectKinematics")["UNAVAILABLE"]))
        self.assertAlmostEqual(stands.twist_with_covariance.twist.linear.x, 0.3, 6)
        self.assertEqual(np.array(stands.pose_with_covariance.covariance)[35], UNMEASURED)

    def test_nothing_is_sent_where_nothing_is_known(self):
        some = table({})
        for header in ({"ego_way_sigma_m": (0, 0, 0)}, {"motion_span_ns": 0}, {"road_origin": 0}, {"fx": 0.0}):
            self.assertEqual(self.of(objects_frame(some, **header))[1], {}, header)
        self.assertEqual(self.of(street(motion_span_ns=100_000_000, ego_way_sigma_m=(0.01, 0.01, 0.01)))[1], {})
        none = self.both(objects_frame(table()))  # objects are followed, and there are none
        self.assertEqual([len(m.objects) for name, m in none.items() if name != "dynamic_obstacles"], [0, 0, 0])

    def test_what_is_not_seen_now_or_stands_is_less_likely(self):
        made = self.both(objects_frame(table({}, {"unseen_s": 0.2}, {"state": 1})))
        for found in ([o.existence_probability for o in made["tracked_objects"].objects],
                      [o.score for o in made["dynamic_obstacles"].obstacles]):
            np.testing.assert_allclose(found, [0.9, 0.5, 0.2], rtol=1e-6)

    def test_identities(self):
        """The same in each frame and form, another in another epoch, and valid (RFC 9562)."""
        one, two = (self.both(objects_frame(table({}, {}), number=n)) for n in (1, 2))
        ids = [bytes(o.object_id.uuid) for o in one["tracked_objects"].objects]
        self.assertEqual(ids, [bytes(o.object_id.uuid) for o in two["tracked_objects"].objects])
        self.assertEqual(ids, [bytes(o.uuid.uuid) for o in one["dynamic_obstacles"].obstacles])
        other = self.both(objects_frame(table({}, {}), epoch=8))["tracked_objects"].objects
        self.assertEqual(len({*ids, *(bytes(o.object_id.uuid) for o in other)}), 4)
        self.assertTrue(all(uuid.UUID(bytes=i).version == 5 and uuid.UUID(bytes=i).variant == uuid.RFC_4122
                            for i in ids))

    def test_classes(self):
        """Three quarters of the rows of its stixels are a person, and one quarter a bicycle."""
        column = [{"kind": stixel.Kind.OBJECT, "row_top": 200, "row_bottom": 274, "disparity_q7": 1280, "label": 1},
                  {"kind": stixel.Kind.OBJECT, "row_top": 175, "row_bottom": 199, "disparity_q7": 1280, "label": 2}]
        frame = objects_frame(table({"label": 1}, {}, {}), [1, 1, 2, 0], columns=[column, column])
        label = constants("autoware_perception_msgs/msg/ObjectClassification")
        derived = constants("derived_object_msgs/msg/Object")
        for names, found, kind in ((("road", "Person", "bicycle"), [("PEDESTRIAN", 0.75), ("BICYCLE", 0.25)],
                                    ("CLASSIFICATION_PEDESTRIAN", 191)),
                                   (("road", "kangaroo", "bicycle"), [("UNKNOWN", 0.75), ("BICYCLE", 0.25)],
                                    ("CLASSIFICATION_BIKE", 64)),
                                   (("road",), [("UNKNOWN", 1.0)], ("CLASSIFICATION_UNKNOWN", 0)),
                                   (None, [("UNKNOWN", 1.0)], ("CLASSIFICATION_UNKNOWN", 0))):
            made = self.both(stixel.Frame(frame.raw, classes=names))
            first, second, third = made["tracked_objects"].objects
            self.assertEqual([(c.label, round(c.probability, 6)) for c in first.classification],
                             [(label[name], share) for name, share in found])
            self.assertEqual([c.label for c in third.classification], [0])  # no stixel of this frame belongs to it
            o = made["objects"].objects[0]
            self.assertEqual((o.classification, o.classification_certainty, o.object_classified),
                             (derived[kind[0]], kind[1], kind[1] > 0))
        for name, (autoware, other) in objects._CLASSES.items():
            self.assertTrue(autoware in label.values() and other in derived.values(), name)
        self.assertEqual(objects._CLASSES["car"], (label["CAR"], derived["CLASSIFICATION_CAR"]))
        self.assertEqual(objects._CLASSES["bus"], (label["BUS"], derived["CLASSIFICATION_OTHER_VEHICLE"]))
        self.assertEqual(objects._CLASSES["truck"], (label["TRUCK"], derived["CLASSIFICATION_TRUCK"]))
        self.assertEqual(objects._CLASSES["animal"][0], label["ANIMAL"])
        self.assertEqual(objects._CLASSES["trailer"][0], label["TRAILER"])
        self.assertEqual(objects._CLASSES["motorcycle"],
                         (label["MOTORCYCLE"], derived["CLASSIFICATION_MOTORCYCLE"]))


class Street(unittest.TestCase):
    """A daemon that follows what moves in a drawn street, read as the bridge does it."""

    @classmethod
    def setUpClass(cls):
        programs = support.instances()
        daemon = programs.Daemon("rosmotion")
        cls.addClassCleanup(daemon.close)
        daemon.start("-s", "source.kind=synthetic", "-s", "source.scene=traffic", "-s", "source.size=560x180", "-s",
                     "source.fps=8", "-s", "motion.mode=filter", "-s", "engine.backend=cpu", "-s", "engine.threads=2",
                     "-s", "stereo.disparities=64")
        cls.instance = Instance(daemon.name, dict(Odometry.MOUNT, frame_prefix="cam"))
        cls.works = []
        runner = types.SimpleNamespace(images=lambda instance: NO_IMAGES, put=cls.works.append)
        with unittest.mock.patch.dict(os.environ, XDG_RUNTIME_DIR=daemon.user):
            source = instances.Source(cls.instance, [runner], print)
            source.start()
            try:
                programs.until(lambda: len(cls.works) >= 16 and sum(map(cls.moving, list(cls.works))) >= 4, 90,
                               "objects that move")
            finally:
                source.stop()
                source.join(10)

    @staticmethod
    def moving(work):
        found = work.frame.objects
        return 0 if found is None or work.frame.ego is None else int((found["state"] == MotionState.MOVES).sum())

    def test_objects_are_those_of_the_frame(self):
        seen = 0
        for work in self.works:
            frame = work.frame
            _, made = messages(work)
            if frame.ego is None:
                self.assertEqual(made, {})
                continue
            known = [o for o in frame.objects if o["state"] in (1, 2)]
            self.assertEqual(set(made), OBJECT_TOPICS)
            lists = [made[name].objects for name in ("tracked_objects", "objects", "objects_with_covariance")]
            lists.append(made["dynamic_obstacles"].obstacles)
            self.assertEqual({len(found) for found in lists}, {len(known)})
            road, ids = frame.road, frame.objects["id"].tolist()
            for o, t, d, c, n in zip(known, *lists):
                seen += 1
                self.assertEqual((made["objects"].header.frame_id, d.id, c.id), ("cam_road", o["id"], o["id"]))
                foot = road.turn() @ [o["x"], o["y"], o["z"]] + [0, 0, road.height_m]
                middle = foot + road.turn() @ [0, -o["height"] / 2, 0]
                for place in (t.kinematics.pose_with_covariance.pose.position, d.pose.position, n.position):
                    np.testing.assert_allclose(vec(place), middle, atol=1e-4)
                # the camera looks along the road but for a degree: ahead is x, and the right is -y
                np.testing.assert_allclose(vec(d.twist.linear), [o["vz"], -o["vx"], 0], atol=0.05 * (1 + abs(o["vz"])))
                self.assertAlmostEqual(math.hypot(*vec(t.kinematics.twist_with_covariance.twist.linear)),
                                       math.hypot(*vec(d.twist.linear)), 5)
                np.testing.assert_allclose(np.array(n.velocity_covariance).reshape(3, 3)[:2, :2],
                                           [[o["szz"], -o["sxz"]], [-o["sxz"], o["sxx"]]],
                                           atol=0.06 * (o["sxx"] + o["szz"]))
                mine = frame.object_of == ids.index(o["id"])
                if o["state"] == MotionState.MOVES and mine.sum() > 3:  # they are where the obstacles of the frame are
                    points = frame.obstacle_points()
                    there = points[mine[points["id"]]]
                    self.assertLess(abs(np.median(there["x"]) - d.pose.position.x), 0.05 * o["z"] + 0.3)
                    self.assertLess(abs(np.median(there["y"]) - d.pose.position.y), o["width"] + 0.5)
        self.assertGreaterEqual(seen, 4)

    def test_odometry_is_the_way_of_the_frames(self):
        """Two poses differ by the step of the frame, where it leads from one to the other."""
        last, steps, place = None, 0, Odometry.PLACE
        for work in self.works:
            frame, made = work.frame, messages(work, frozenset(["odometry"]))[1]
            if frame.ego is None:
                self.assertEqual(made, {})
                continue
            said = made["odometry"]
            now = pose(turn_of(said.pose.pose.orientation), vec(said.pose.pose.position))
            span = frame.ego.seconds
            if last is not None and abs((frame.capture_left_ns - last[0]) / 1e9 - span) < 1e-6:
                step = place @ pose(turned(frame.ego.turn_rad), frame.ego.way_m) @ np.linalg.inv(place)
                np.testing.assert_allclose(np.linalg.inv(last[1]) @ now, step, atol=1e-6)
                self.assertGreater(np.trace(np.array(said.pose.covariance).reshape(6, 6)), last[2])
                steps += 1
            speed = np.linalg.norm(vec(said.twist.twist.linear) - np.cross(  # at the camera: the vehicle may turn
                Odometry.PLACE[:3, 3], vec(said.twist.twist.angular)))
            self.assertAlmostEqual(speed, np.linalg.norm(frame.ego.way_m) / span, delta=0.01 * speed)
            last = frame.capture_left_ns, now, np.trace(np.array(said.pose.covariance).reshape(6, 6))
        self.assertGreaterEqual(steps, 4)


if __name__ == "__main__":
    unittest.main()
