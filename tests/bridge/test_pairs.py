# Stereo images of ROS 2 become pairs of a daemon: live, over zenoh and DDS, and from recordings.
# SPDX-License-Identifier: Apache-2.0
import base64
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from types import SimpleNamespace
from unittest import mock

import support

support.need("rosbags")
instances = support.instances()

import harness  # noqa: E402
import numpy as np  # noqa: E402
import ros_case  # noqa: E402
import stereo  # noqa: E402
import stixel  # noqa: E402
from child import Child  # noqa: E402
from stixel import _daemon as daemon  # noqa: E402
from stixel_bridge import config, pairs, program  # noqa: E402
from stixel_bridge.fail import CONFIG, DATA, PERMISSION, UNAVAILABLE, USAGE, Fail  # noqa: E402
from stixel_bridge.pairs import camera, images  # noqa: E402
from stixel_bridge.pairs.match import LEFT, RIGHT, Matcher  # noqa: E402
from stixel_bridge.ros import graph, topics  # noqa: E402

until = harness.until
ARGS = ["-s", "source.kind=shared", "-s", "stereo.disparities=64", "-s", "engine.threads=1"]


class Images(unittest.TestCase):
    def test_every_encoding(self):
        rng = np.random.default_rng(1)
        grey = rng.integers(0, 256, (40, 50), dtype=np.uint8)
        colours = rng.integers(0, 256, (40, 50, 4), dtype=np.uint8)
        wide = rng.integers(0, 1 << 16, (40, 50), dtype=np.uint16)
        rgb, two = colours[:, :, :3], colours[:, :, :2]
        for encoding, sent, pixel, want in (
                ("mono8", grey, "grey8", grey), ("8UC1", grey, "grey8", grey), ("mono16", wide, "grey16", wide),
                ("16UC1", wide, "grey16", wide), ("rgb8", rgb, "rgb24", rgb), ("bgr8", rgb, "rgb24", rgb[:, :, ::-1]),
                ("8UC3", rgb, "rgb24", rgb[:, :, ::-1]), ("rgba8", colours, "rgb24", rgb),
                ("bgra8", colours, "rgb24", rgb[:, :, ::-1]), ("bayer_rggb8", grey, "rggb8", grey),
                ("bayer_gbrg16", wide, "gbrg16", wide), ("yuv422", two, "uyvy", two), ("uyvy", two, "uyvy", two),
                ("yuv422_yuy2", two, "yuyv", two), ("nv12", np.vstack([grey, grey[:20]]), "nv12", grey)):
            message = stereo.image(0, sent, encoding, height=40)
            found = images.raw(message)
            self.assertEqual(found[:3], (pixel, 50, 40), encoding)
            np.testing.assert_array_equal(found.array, want, encoding)
            self.assertTrue(np.shares_memory(found.array, message.data), encoding)  # no copy
            with stixel.PairWriter("x", 50, 40, pixel) as writer:
                self.assertEqual(writer.shape, found.array.shape)

    def test_rows_with_a_rest_and_the_other_byte_order(self):
        wide = np.arange(40 * 64, dtype=np.uint16).reshape(40, 64)
        found = images.raw(stereo.image(0, wide, "mono16", width=50))
        np.testing.assert_array_equal(found.array, wide[:, :50])
        found = images.raw(stereo.image(0, wide.byteswap(), "mono16", is_bigendian=1))
        np.testing.assert_array_equal(found.array, wide)

    def test_what_cannot_be_used(self):
        grey = np.zeros((40, 50), np.uint8)
        for fields, want in ((dict(encoding="32FC1"), "encoding '32FC1' cannot be used; those of mono8"),
                             (dict(encoding="rgb8"), "too few"), (dict(height=41), "too few"),
                             (dict(step=0), "too few"), (dict(width=0, step=0), "0x40 px"),
                             (dict(width=1 << 31, step=1 << 31), "cannot be used")):
            with self.assertRaisesRegex(images.Unusable, want):
                images.raw(stereo.image(0, grey, **{"encoding": "mono8", **fields}))

    @unittest.skipIf(support.missing("PIL"), "no Pillow")
    def test_compressed(self):
        from PIL import Image
        grey = (np.add.outer(np.arange(40), np.arange(50)) * 2).astype(np.uint8)

        def data(array, kind):
            out = io.BytesIO()
            Image.fromarray(array).save(out, kind, **({"quality": 95} if kind == "JPEG" else {}))
            return out.getvalue()
        colours = data(np.dstack([grey] * 3), "JPEG")
        found = images.compressed(stereo.compressed(0, colours, "bgr8; jpeg compressed bgr8"))
        self.assertEqual(found[:3], ("grey8", 50, 40))
        self.assertLess(abs(found.array.astype(int) - grey).max(), 4)
        for format_, array, pixel in (("png", grey, "grey8"), ("bayer_rggb8; png compressed ", grey, "rggb8"),
                                      ("mono16; png compressed ", grey.astype(np.uint16) * 200, "grey16"),
                                      ("bayer_grbg16; png compressed ", grey.astype(np.uint16), "grbg16")):
            found = images.compressed(stereo.compressed(0, data(array, "PNG"), format_))
            self.assertEqual(found.pixel, pixel)
            np.testing.assert_array_equal(found.array, array)
        good = data(grey, "PNG")
        for bytes_, format_, want in ((good[:60], "png", "cannot be decoded"),
                                      (b"GIF89a" + bytes(50), "png", "cannot be decoded"),
                                      (good, "16UC1; compressedDepth png", "depth images cannot"),
                                      # a width of 2^30 px in the header
                                      (good[:16] + b"\x40\0\0\0" + good[20:], "png", "cannot be")):
            with self.assertRaisesRegex(images.Unusable, want):
                images.compressed(stereo.compressed(0, bytes_, format_))


class Cameras(unittest.TestCase):
    def geometry(self, rectified=False, left=None, right=None):
        return camera.geometry(camera.info(stereo.info(0, False, **(left or {}))),
                               camera.info(stereo.info(0, True, **(right or {}))), rectified)

    def test_rectified(self):
        for rectified in (False, True):  # no distortion shows that the images are rectified, even without the argument
            found = self.geometry(rectified)
            self.assertEqual(found.camera[:4], (200, 200, 159.5, 119.5))
            self.assertAlmostEqual(found.camera[4], 0.06)
            self.assertIsNone(found.raw)

    def test_raw(self):
        turned = np.array([1, 0, 0, 0, 0, -1, 0, 1, 0.0])
        bent = dict(d=np.array([0.1, 0.2, 0.3, 0.4, 0.5]), r=turned, k=np.array([210, 0, 160, 0, 220, 120, 0, 0, 1.0]))
        found = self.geometry(False, bent, dict(bent, distortion_model="equidistant", d=np.array([1, 2, 3, 4.0])))
        self.assertEqual(found.raw[0], stixel.RawCamera(210, 220, 160, 120, (0.1, 0.2, 0.3, 0.4, 0.5), tuple(turned)))
        self.assertEqual((found.raw[1].lens, found.raw[1].distortion), ("equidistant", (1, 2, 3, 4)))
        self.assertEqual(found.camera[0], 200)
        self.assertIsNone(self.geometry(True, bent, bent).raw)  # the topic says that the images are rectified

    def test_a_part_of_the_sensor(self):
        found = camera.info(stereo.info(0, True, binning_x=2, binning_y=2, roi=stereo.make(
            "sensor_msgs/msg/RegionOfInterest", x_offset=20, y_offset=10, width=200, height=160, do_rectify=False)))
        self.assertEqual((found.width, found.height, found.p), (100, 80, (100, 100, 69.75, 54.75)))
        self.assertAlmostEqual(found.shift, 0.06)

    def test_without_a_calibration(self):
        self.assertEqual(camera.geometry(None, None, False), camera.Geometry())
        self.assertEqual(self.geometry(left={"k": np.zeros(9), "p": np.zeros(12)}), camera.Geometry())
        alone = camera.info(stereo.info(0, False))
        self.assertEqual(camera.geometry(alone, alone, False), camera.Geometry())

    def test_what_cannot_be_used(self):
        one, other = (camera.info(stereo.info(0, right)) for right in (False, True))
        with self.assertRaisesRegex(images.Unusable, "swapped"):
            camera.geometry(other, one, False)
        with self.assertRaisesRegex(images.Unusable, "'fov' cannot be rectified"):
            self.geometry(left={"d": np.ones(1), "distortion_model": "fov"})


class Matching(unittest.TestCase):
    def test_the_nearest_within_the_tolerance(self):
        m = Matcher(5)
        self.assertIsNone(m.add(LEFT, 100, b"a"))
        self.assertIsNone(m.add(LEFT, 110, b"b"))
        self.assertIsNone(m.add(RIGHT, 94, b"x"))
        self.assertEqual(m.add(RIGHT, 107, b"c"), ((110, b"b"), (107, b"c")))
        self.assertEqual((m.images, m.unmatched), ([2, 2], [1, 1]))
        self.assertIsNone(m.add(RIGHT, 101, b"late"))
        self.assertEqual(m.unmatched, [1, 2])

    def test_exact(self):
        m = Matcher(0)
        m.add(RIGHT, 7, b"r")
        self.assertIsNone(m.add(LEFT, 8, b"a"))
        self.assertEqual(m.add(RIGHT, 8, b"b"), ((8, b"a"), (8, b"b")))

    def test_a_camera_alone(self):
        m = Matcher(5)
        for stamp in range(0, 3000, 100):
            self.assertIsNone(m.add(LEFT, stamp, b""))
        m.forget()
        self.assertEqual((m.images, m.unmatched), ([30, 0], [30, 0]))

    def test_time_that_begins_again(self):
        m = Matcher(5)
        for begin in (10**12, 10**10, 0):  # a simulator was restarted
            m.add(LEFT, begin, b"")
            self.assertTrue(m.add(RIGHT, begin + 1, b""), begin)


def faults(text):
    with mock.patch.object(pairs, "check", lambda kind: None):
        try:
            return program.make_inputs(config.parse_text("f", text))
        except Fail as e:
            return e.code, str(e)


class Configuration(unittest.TestCase):
    GOOD = "[pairs front]\nkind = ros-zenoh\nleft = /l/image_raw\nright = /r/image_raw/compressed\n"

    def test_pairs_alone_are_enough(self):
        source, = faults(self.GOOD)
        self.assertEqual(source.topics(), {
            "/l/image_raw": stereo.IMAGE, "/r/image_raw/compressed": stereo.COMPRESSED, "/l/camera_info": stereo.INFO,
            "/r/camera_info": stereo.INFO})
        with mock.patch.object(pairs, "check", lambda kind: None):
            self.assertEqual(config.parse_text("f", self.GOOD).instances, {})

    def test_faults(self):
        for old, new, want in (
                ("left = /l/image_raw\n", "", "f:1: left is missing"), ("= /l", "= l", "no whole name of a topic: /l/"),
                ("/r/image_raw/compressed", "/l/image_raw", "the same topic"),
                ("ros-zenoh", "ros-dsd", r"f:2: kind: 'ros-dsd' is not known \(do you mean 'ros-dds'\?\)"),
                ("kind = ros-zenoh\n", "", "f:1: .pairs front. has no kind"),
                ("kind", "lift = /x\nkind", r"'lift' is no key of \[pairs front\] \(do you mean 'left'"),
                ("[pairs front]", self.GOOD.replace("front", "other") + "instance = front\n[pairs front]",
                 r"f:6: \[pairs other\] gives pairs to instance front already"),
                ("kind", "mode = client\nlisten = tcp/localhost:1\nkind", "f:1: listen: a client does not listen")):
            code, text = faults(self.GOOD.replace(old, new, 1))
            self.assertEqual(code, CONFIG)
            self.assertRegex(text, want)

    def test_every_kind_says_its_options_without_its_packages(self):
        common = {o.name for o in config.PAIRS}
        for kind in pairs.KINDS:
            maker = pairs.load(kind)
            self.assertTrue(maker.PACKAGES and maker.HELP, kind)
            self.assertFalse(common & {o.name for o in maker.OPTIONS}, kind)


class WithDaemon(instances.TestCase):
    def start(self, label, *args):
        d = self.daemon(label, *ARGS, *args)
        self.use_runtime_dir(d.user)
        return d

    def folder(self):
        top = tempfile.TemporaryDirectory(prefix="stixel-")
        self.addCleanup(top.cleanup)
        return top.name

    def check_frame(self, frame):
        self.assertEqual((frame.width, frame.height), (stereo.WIDTH, stereo.HEIGHT))
        self.assertEqual(frame.camera.fx, stereo.FOCAL)
        self.assertAlmostEqual(frame.camera.baseline_m, stereo.BASELINE_M)
        self.assertAlmostEqual(float(np.nanmedian(frame.depth)), stereo.DEPTH_M, delta=0.02)


class Recordings(WithDaemon):
    def play(self, *args, d=None, code=0):
        """Runs the program to its end and returns its log."""
        env = d.client() if d else dict(os.environ, PYTHONPATH=support.MODULE, XDG_RUNTIME_DIR=self.folder())
        done = subprocess.run([sys.executable, "-m", "stixel_bridge", "play", *args], env=env, stderr=subprocess.PIPE,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def test_every_kind_of_recording(self):
        d = self.start("bags")
        top = self.folder()
        kinds = {"db3": lambda path: stereo.rosbag2(path, stereo.messages(5)),
                 "folder": lambda path: stereo.rosbag2(path, stereo.messages(5), "mcap"),
                 "bag": lambda path: stereo.rosbag1(path, stereo.messages(5, types=stereo.types1()))}
        if not support.missing("mcap_ros2"):
            kinds["mcap"] = lambda path: stereo.mcap(path, stereo.messages(5))
        with stixel.open(d.name, follow=True) as reader:
            for kind, write in kinds.items():
                path = os.path.join(top, "a." + kind)
                write(path)
                log = self.play(path, "-i", d.name, "--rate", "0", "--simulated", "yes", d=d)
                self.assertIn("%s and %s to instance %s" % (stereo.LEFT, stereo.RIGHT, d.name), log)
                self.assertIn("320x240 px in grey8, rectified, with calibration", log)
                self.assertRegex(log, r"5 of 5 pairs given in [0-9.]+ s \([0-9.]+ a second\)\n$")
                got = [reader.next(timeout=30) for _ in range(5)]
                self.assertEqual([f.capture_left_ns for f in got], [
                    stereo.START_NS + n * stereo.PERIOD_NS for n in range(5)], kind)  # the recorded times
                self.check_frame(got[-1])

    def test_raw_images(self):
        d = self.start("raw")
        path = os.path.join(self.folder(), "a")
        raw = {topic: stereo.info(stereo.START_NS, "right" in topic, d=np.array([0.02, 0, 0, 0, 0]))
               for topic in ("/left/camera_info", "/right/camera_info")}
        stereo.rosbag2(path, [(topic, ns, raw.get(topic, message)) for topic, ns, message in stereo.messages(
            3, "/left/image_raw", "/right/image_raw")])
        with stixel.open(d.name, follow=True) as reader:
            for more, rectified in ((), True), (("--rectified", "yes"), False):
                log = self.play(path, "-i", d.name, "--rate", "0", "--simulated", "yes", *more, d=d)
                self.assertIn("rectified, with calibration" if more else "raw, with calibration", log)
                frames = [reader.next(timeout=30) for _ in range(3)]
                self.check_frame(frames[-1])
                self.assertEqual(bool(frames[-1].flags & stixel.FrameFlag.RECTIFIED), rectified)

    def test_recorded_time(self):
        d = self.start("time")
        path = os.path.join(self.folder(), "a")
        stereo.rosbag2(path, stereo.messages(6, right_late_ns=2_000_000))
        with stixel.open(d.name, follow=True) as reader:
            self.play(path, "-i", d.name, "--rate", "0.5", "--simulated", "yes", d=d)
            frame = reader.latest(timeout=30)
        self.assertLess(abs(time.monotonic_ns() - frame.capture_left_ns), 30 * 10**9)  # the present time
        self.assertEqual(frame.capture_right_ns - frame.capture_left_ns, 4_000_000)
        log = self.play(path, "-i", d.name, "--tolerance-ms", "1", d=d, code=DATA)
        self.assertIn("6 left images without a right one; 6 right images without a left one", log)
        self.assertIn("no images of %s and %s within tolerance_ms = 1" % (stereo.LEFT, stereo.RIGHT), log)

    def test_it_waits_for_the_daemon_and_ends_with_a_signal(self):
        path = os.path.join(self.folder(), "a")
        stereo.rosbag2(path, stereo.messages(5))
        d = self.start("waits")
        d.stop()
        process = subprocess.Popen([sys.executable, "-m", "stixel_bridge", "play", path, "-i", d.name, "--loop",
                                    "--simulated", "yes"], env=d.client(), stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        for line in process.stderr:
            if "no daemon takes pairs" in line:
                break
        d.start(*ARGS)
        with stixel.open(d.name, follow=True) as reader:
            for _ in range(8):  # more than the recording has
                self.check_frame(reader.next(timeout=30))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 0)
        self.assertRegex(process.stderr.read(), r"pairs given in")

    def test_wrong_use(self):
        top = self.folder()
        path = os.path.join(top, "a")
        stereo.rosbag2(path, [*stereo.messages(2), *stereo.messages(1, "/b/left/x", "/b/right/x"),
                              *stereo.messages(1, "/c/mono", "/c/other")])
        text = os.path.join(top, "a.mcap")
        with open(text, "w", encoding="ascii") as f:
            f.write("no recording")
        for args, code, want in (
                ([path], DATA, r"a: there are several pairs, say --left with one: /\S+, /\S+\n"),
                ([path, "--left", "/c/mono"], DATA, r"topics of images: /b/left/x \(1\), .*%s \(2\)" % stereo.LEFT),
                ([path, "--left", "/no"], DATA, "there is no topic of images '/no'"),
                ([text], DATA, "a.mcap: cannot be read as a recording of ROS"),
                ([os.path.join(top, "none")], DATA, "none: cannot be read"),
                ([path, "--rate", "fast"], USAGE, "--rate: 'fast' is not a number from 0 to 100"),
                ([path, "--rectified", "maybe"], USAGE, "not one of auto, yes, no")):
            self.assertRegex(self.play(*args, code=code), want)

    def test_what_the_daemon_refuses(self):
        d = self.start("refuses", "-s", "source.size=640x480")
        path = os.path.join(self.folder(), "a")
        stereo.rosbag2(path, stereo.messages(2))
        self.assertIn("320x240", self.play(path, "-i", d.name, d=d, code=UNAVAILABLE))
        if os.geteuid() == 0:
            return  # may write to every socket
        os.chmod(os.path.join(d.run, d.name, "pairs.sock"), 0)
        self.play(path, "-i", d.name, d=d, code=PERMISSION)

    def test_sides(self):
        from stixel_bridge.pairs.recording import find_pair
        for names, want in ((["/infra1/image_rect_raw", "/infra2/image_rect_raw"], 0),
                            (["/cam0/image_raw", "/cam1/image_raw"], 0),
                            (["/zed/left_raw/image/compressed", "/zed/right_raw/image/compressed"], 0),
                            (["/left/image", "/right/image", "/left/image/compressed", "/right/image/compressed"], 0)):
            types = {name: stereo.COMPRESSED if "compressed" in name else stereo.IMAGE for name in names}
            found = SimpleNamespace(topics={**types, "/imu_left": "x", "/imu_right": "x"}, described=str)
            self.assertEqual(find_pair(found, None, None), (names[want], names[want + 1]))
            self.assertEqual(find_pair(found, None, names[1]), (names[0], names[1]))


class Live(WithDaemon):
    """The program with an independent node that publishes, and a daemon that starts later."""

    def bridge(self, d, text):
        folder = self.folder()
        self.conf = os.path.join(folder, "b.conf")
        with open(self.conf, "w", encoding="utf-8") as f:
            f.write(text)
        self.log = open(os.path.join(folder, "log"), "w+", encoding="utf-8")
        self.addCleanup(self.log.close)
        self.runtime = folder
        process = subprocess.Popen([sys.executable, "-m", "stixel_bridge", "-c", self.conf], stderr=self.log,
                                   env=d.client(RUNTIME_DIRECTORY=folder))
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.process = process

    def ask(self, target="/status"):
        try:
            return daemon.ask_path(os.path.join(self.runtime, "default", "status.sock"), target)[1].decode()
        except OSError:
            return ""

    def pairs(self):
        text = self.ask()
        return json.loads(text)["pairs"][0] if text else {"state": "", "images": {"left": 0}, "given": 0,
                                                          "dropped": {"no_daemon": 0}}

    def topics(self, ns):
        left, right = stereo.scene()
        return (("/l/camera_info", stereo.info(ns, False)), ("/r/camera_info", stereo.info(ns, True)),
                ("/l/image_rect", stereo.image(ns, left)), ("/r/image_rect", stereo.image(ns, right)))

    def until(self, send, fits, what):
        end = time.monotonic() + 30
        while not fits():
            self.assertLess(time.monotonic(), end, "%s: %s" % (what, self.ask()))
            send()
            time.sleep(0.05)

    def whole_way(self, label, conf, send):
        """Sends until the bridge receives, then until frames come, and again with a new daemon."""
        d = self.start(label)
        d.stop()
        self.bridge(d, conf % d.name)
        self.until(send, lambda: self.pairs()["dropped"]["no_daemon"] >= 1, "pairs without a daemon are counted")
        self.assertIn("no daemon takes pairs", self.pairs()["daemon_why"])
        for life in (1, 2):
            d.start(*ARGS)
            with stixel.open(d.name, follow=True) as reader:
                frames = []

                def enough():
                    frame = reader.latest(timeout=0)
                    frames.extend([frame] if frame is not None else [])
                    return frames
                self.until(send, enough, "a frame")
            self.check_frame(frames[0])
            self.assertLess(abs(time.monotonic_ns() - frames[0].capture_left_ns), 10**10)
            if life == 1:
                d.stop(signal.SIGKILL)
        until(lambda: self.pairs()["figures"].get("publishers") == 4, 30, "publishers in the status")
        found = self.pairs()
        self.assertEqual((found["state"], found["instance"], found["daemons"]), ("connected", d.name, 2))
        self.assertGreaterEqual(found["given"], 2)
        self.assertEqual((found["damaged"], found["dropped"]["unusable"]), (0, 0))
        metrics = self.ask("/metrics")
        for name in ("given_total", "images_total", "dropped_total", "returned_total", "connected"):
            self.assertIn("stixel_bridge_pairs_%s{bridge=\"default\",pairs=\"front\"" % name, metrics)
        self.assertEqual(self.ask("/healthz"), "ok\n")
        os.symlink(self.runtime, os.path.join(d.user, "stixel-bridge"))
        listed = subprocess.run([os.environ["STIXELCTL"], "list"], capture_output=True, text=True, env=d.client(),
                                check=True).stdout
        self.assertRegex(listed, r"(?m)^BRIDGE +PAIRS +KIND +INSTANCE +STATE +GIVEN +DROPPED\n"
                                 r"default +front +%s +%s +connected +[1-9]\d* +[1-9]" % (found["kind"], d.name))
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(60), 0)
        self.log.seek(0)
        self.assertIn("320x240 px in grey8, rectified, with calibration", self.log.read())

    @unittest.skipIf(support.missing("zenoh"), support.missing("zenoh"))
    def test_zenoh(self):
        endpoint = "tcp/127.0.0.1:%d" % ros_case.free_port()
        router = Child("zenoh_node.py", "router", endpoint)
        self.addCleanup(router.close)
        router.until(lambda m: m["event"] == "ready")
        node = Child("zenoh_node.py", "node", endpoint, "3")
        self.addCleanup(node.close)
        node.until(lambda m: m["event"] == "ready")

        def send():
            for topic, message in self.topics(time.time_ns()):
                kind = message.__msgtype__
                node.tell(do="publish", topic=topic, type=graph.dds_type(kind), hash=topics.type_hash(kind),
                          cdr=base64.b64encode(stereo.cdr(message)).decode())
        self.whole_way("zenoh", "[pairs front]\ninstance = %%s\nkind = ros-zenoh\ndomain = 3\nconnect = %s\n"
                       "left = /l/image_rect\nright = /r/image_rect\nsimulated = yes\n" % endpoint, send)
        token = next(m for m in node.said + [node.until(lambda m: m.get("topic") == "/l/image_rect" and m.get(
            "kind") == "MS")] if m.get("kind") == "MS" and m["topic"] == "/l/image_rect")
        self.assertEqual((token["name"], token["type"], token["qos"]["depth"]), (
            "stixel_pairs", graph.dds_type(stereo.IMAGE), 5))

    @unittest.skipIf(support.missing("cyclonedds"), support.missing("cyclonedds"))
    def test_dds(self):
        number = 100 + os.getpid() % 100
        xml = ('<CycloneDDS><Domain Id="any"><General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>'
               '</General><Discovery><ParticipantIndex>auto</ParticipantIndex><Peers><Peer address="127.0.0.1"/>'
               '</Peers></Discovery></Domain></CycloneDDS>')
        node = Child("dds_node.py", str(number), env={"NODE_CONFIG": xml})
        self.addCleanup(node.close)
        node.until(lambda m: m["event"] == "ready")

        def send():  # stamps of a simulator; stamps = arrival replaces them by the time of arrival
            for topic, message in self.topics(time.monotonic_ns() // 1000):
                node.tell(do="publish", topic="rt" + topic, type=message.__msgtype__.rpartition("/")[2],
                          cdr=base64.b64encode(stereo.cdr(message)).decode())
        # a sink in the same domain shares it
        self.whole_way("dds", "[pairs front]\ninstance = %%s\nkind = ros-dds\ndomain = %d\nleft = /l/image_rect\n"
                       "right = /r/image_rect\nsimulated = yes\nstamps = arrival\n"
                       "[sink robot]\nkind = ros-dds\ndomain = %d\n" % (number, number), send)


class Feeds(WithDaemon):
    """The thread of an input, with messages of the test."""

    def feed(self, name, **options):
        from stixel_bridge.pairs.feed import Feed
        values = {o.name: o.default for o in config.PAIRS}
        values.update(kind="test", left="/l/image_raw", right="/r/image_raw", simulated=True, **options)
        self.said = []
        feed = Feed(SimpleInput(name, values), self.said.append)
        feed.start()
        self.addCleanup(feed.join)
        self.addCleanup(feed.stop)
        until(lambda: feed.state.name == "connected", 30, "connected")
        return feed

    def put(self, feed, ns, left=None, right=None):
        scene = stereo.scene()
        feed.put("/l/image_raw", left or stereo.cdr(stereo.image(ns, scene[0])))
        feed.put("/r/image_raw", right or stereo.cdr(stereo.image(ns, scene[1])))

    def test_pairs_wait_for_the_calibration_and_follow_it(self):
        d = self.start("follow", "-s", "camera.height_m=1")
        feed = self.feed(d.name)
        self.put(feed, time.time_ns())
        until(lambda: feed.no_info == 1, 30, "a pair without a calibration")
        bent = dict(d=np.array([0.02, 0, 0, 0, 0]))
        for more, want in (({}, "320x240 px in grey8, rectified, with calibration"), (bent, "raw, with calibration")):
            for side, topic in enumerate(("/l/camera_info", "/r/camera_info")):
                feed.put(topic, stereo.cdr(stereo.info(time.time_ns(), bool(side), **more)))

            def seen():
                self.put(feed, time.time_ns())
                return any(want in text for text in self.said)
            until(seen, 30, want)
        self.assertEqual((feed.giver.unusable, feed.damaged), (0, 0))

    def test_without_calibration(self):
        feed = self.feed("test-nobody-%d" % os.getpid(), calibration=False)
        self.put(feed, time.time_ns())
        until(lambda: feed.giver.counts.dropped == 1, 30, "dropped")
        self.assertIn("without calibration: the daemon's configuration must have it", self.said[-2])
        self.assertIn("no daemon takes pairs", feed.giver.why)

    def test_bad_messages_are_counted(self):
        feed = self.feed("test-nobody-%d" % os.getpid(), calibration=False)
        ns = time.time_ns()
        good = stereo.cdr(stereo.image(ns, stereo.scene()[0]))
        feed.put("/l/image_raw", b"\0\1")
        self.assertEqual(feed.damaged, 1)
        self.put(feed, ns, left=good[:100])
        until(lambda: feed.damaged == 2, 30, "a message that is cut")
        ns += 10**8
        self.put(feed, ns, right=stereo.cdr(stereo.image(ns, np.zeros((30, 40), np.uint8))))
        until(lambda: feed.giver.unusable == 1, 30, "two sizes")
        self.assertIn("the left image has 320x240 px in grey8, the right one 40x30 px", feed.giver.why)
        ns += 10**8
        self.put(feed, ns)
        until(lambda: feed.giver.counts.dropped == 1, 30, "the next pair")

    def test_times_of_another_clock_are_explained(self):
        d = self.start("clock", "-s", "camera.height_m=1")
        feed = self.feed(d.name)
        for side, topic in enumerate(("/l/camera_info", "/r/camera_info")):
            feed.put(topic, stereo.cdr(stereo.info(0, bool(side))))
        stamps = iter(range(10**9, 10**12, 10**9))  # stamps of a simulator

        def refused():
            self.put(feed, next(stamps))
            return any("stamps = arrival" in text for text in self.said)
        until(refused, 30, "the hint")


class SimpleInput:
    def __init__(self, name, options):
        self.name, self.options = name, options

    def open(self, put):
        pass

    def look(self):
        pass

    def figures(self):
        return {}

    def close(self):
        pass


class Help(unittest.TestCase):
    def test_options_are_those_of_the_section(self):
        out = io.StringIO()
        with mock.patch("sys.stdout", out), self.assertRaises(SystemExit):
            program.main(["play", "--help"], "1")
        for option in pairs.PAIR:
            self.assertRegex(out.getvalue(), re.escape("--" + option.name.replace("_", "-")))


if __name__ == "__main__":
    unittest.main()
