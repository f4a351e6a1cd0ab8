"""Pairs from this process: what PairWriter puts into shared memory, and its life with daemons that this file plays.

SPDX-License-Identifier: Apache-2.0
"""
import array
import gc
import mmap
import os
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import unittest.mock

import support
import stixel
from support import np

MAGIC = 0x50585453
HELLO, BUFFER, PAIR, WELCOME, RETURNED, REFUSED = range(1, 7)
WIDTH, HEIGHT = 100, 40
CAMERA = (90.5, 91.5, 50.25, 20.75, 0.0625)
EXAMPLES = os.path.join(support.SOURCE, "docs", "examples")


class Peer:
    """The daemon's end of a connection, by the layout of <stixel_pairs.h>."""

    def __init__(self, connection):
        self.connection = connection
        self.maps = []

    def receive(self):
        data, control, _, _ = self.connection.recvmsg(4096, 64)
        fds = array.array("i")
        for _, _, bytes_ in control:
            fds.frombytes(bytes_)
        return data, list(fds)

    def greet(self):
        """Receives hello and buffers, and maps them."""
        hello, _ = self.receive()
        self.magic, kind, major, _, size, count, _ = struct.unpack_from("<IIHHIII", hello)
        assert (self.magic, kind, major, size) == (MAGIC, HELLO, 1, len(hello))
        (self.width, self.height, self.pixel, self.pitch, _, self.flags, self.clock, self.stamp, self.fps,
         *camera) = struct.unpack_from("<8I6d", hello, 24)
        self.camera = tuple(camera)
        self.rectified = struct.unpack_from("<2I", hello, 24 + 80)
        self.raw = [struct.unpack_from("<2I21d", hello, 24 + 88 + 176 * i) for i in range(2)]
        self.name = hello[24 + 440:].split(b"\0")[0].decode()
        for i in range(count):
            data, (fd,) = self.receive()
            assert struct.unpack_from("<III", data) == (MAGIC, BUFFER, i)
            self.maps.append(mmap.mmap(fd, struct.unpack_from("<Q", data, 16)[0], prot=mmap.PROT_READ))
            os.close(fd)

    def answer(self, kind, number=0, fate=0, text=""):
        self.connection.send(struct.pack("<IIQII", MAGIC, kind, number, fate, len(text)) + text.encode())

    def welcome(self):
        self.greet()
        self.answer(WELCOME, 4)

    def pair(self):
        """Returns the next pair: (number, left_ns, right_ns, left rows, right rows), rows of bytes with their pitch."""
        data, _ = self.receive()
        magic, kind, number, left, right, left_at, right_at, *times = struct.unpack("<IIQIIQQqq", data)
        assert (magic, kind) == (MAGIC, PAIR)
        rows = [np.frombuffer(self.maps[b], np.uint8, self.pitch * self.height, at).reshape(self.height, -1)
                for b, at in ((left, left_at), (right, right_at))]
        return (number, *times, *rows)

    def close(self):
        self.connection.close()
        self.maps.clear()


class Case(support.TestCase):
    count = 0

    def setUp(self):
        Case.count += 1
        self.name = "test-python-pairs-%d-%d" % (os.getpid(), Case.count)
        self.top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(support.shutil.rmtree, self.top)
        self.use_runtime_dir(self.top)
        self.path = os.path.join(self.top, "stixeld", self.name, "pairs.sock")
        os.makedirs(os.path.dirname(self.path))
        self.listener = None

    def listen(self):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(self.listener.close)
        self.listener.bind(self.path)
        self.listener.listen(4)
        self.listener.settimeout(20)

    def accept(self):
        connection, _ = self.listener.accept()
        connection.settimeout(20)
        peer = Peer(connection)
        self.addCleanup(peer.close)
        return peer

    def writer(self, *args, **more):
        w = stixel.PairWriter(self.name, WIDTH, HEIGHT, *args, **more)
        self.addCleanup(w.close)
        return w

    def joined(self, *args, **more):
        """Returns a writer and its peer, which has accepted it."""
        w = self.writer(*args, **more)
        self.assertFalse(w.connect(0))
        peer = self.accept()
        peer.welcome()
        self.assertTrue(w.connect(20))
        return w, peer


class Writing(Case):
    def test_every_kind_of_pixels(self):
        self.listen()
        rng = np.random.default_rng(1)
        for pixel, number, kind, inner in (
                ("grey8", 1, np.uint8, ()), ("grey16", 2, np.uint16, ()), ("rgb24", 3, np.uint8, (3,)),
                ("yuyv", 4, np.uint8, (2,)), ("uyvy", 5, np.uint8, (2,)), ("nv12", 6, np.uint8, ()),
                ("rggb8", 16, np.uint8, ()), ("bggr16", 23, np.uint16, ())):
            w, peer = self.joined(pixel, fps=25)
            self.assertEqual((w.shape, w.dtype), ((HEIGHT, WIDTH, *inner), np.dtype(kind)))
            self.assertEqual((peer.width, peer.height, peer.pixel, peer.fps), (WIDTH, HEIGHT, number, 25))
            left, right = rng.integers(0, 256, (2, *w.shape)).astype(kind)
            self.assertTrue(w.write(left, right, 7, 8))
            _, left_ns, right_ns, *rows = peer.pair()
            self.assertEqual((left_ns, right_ns), (7, 8))
            for image, got in zip((left, right), rows):
                row = image[0].nbytes
                self.assertEqual(got[:, :row].tobytes(), image.tobytes(), pixel)
            w.close()
            peer.close()

    def test_shapes_that_mean_the_same(self):
        self.listen()
        w, peer = self.joined("yuyv")
        flat = np.arange(HEIGHT * 2 * WIDTH, dtype=np.uint8).reshape(HEIGHT, 2 * WIDTH)
        self.assertTrue(w.write(flat, flat[::-1]))
        self.assertEqual(peer.pair()[4][:, :2 * WIDTH].tobytes(), flat[::-1].tobytes())
        w.close()
        w, peer = self.joined("nv12")
        whole = np.arange(HEIGHT * WIDTH * 3 // 2, dtype=np.uint16).astype(np.uint8).reshape(-1, WIDTH)
        self.assertTrue(w.write(whole, whole))
        self.assertEqual(peer.pair()[3][:, :WIDTH].tobytes(), whole[:HEIGHT].tobytes())
        w.close()
        w, peer = self.joined("rgb24")
        bgr = np.arange(HEIGHT * WIDTH * 3, dtype=np.uint16).astype(np.uint8).reshape(HEIGHT, WIDTH, 3)
        self.assertTrue(w.write(bgr[..., ::-1], bgr))  # a view of OpenCV's colours as RGB: the caller makes no copy
        self.assertEqual(peer.pair()[3][0, :3].tolist(), [2, 1, 0])

    def test_in_place(self):
        self.listen()
        w, peer = self.joined()
        with w.pair(1, left_ns=3) as (left, right):
            left[...] = 5
            right[...] = 6
        number, left_ns, right_ns, *rows = peer.pair()
        self.assertEqual((number, left_ns, right_ns), (1, 3, 0))
        self.assertEqual([int(r[HEIGHT - 1, WIDTH - 1]) for r in rows], [5, 6])
        with w.pair() as pair:
            pair.left_ns, pair.right_ns = 11, 12
        self.assertTrue(pair.given)
        self.assertEqual(peer.pair()[:3], (2, 11, 12))
        with self.assertRaises(ZeroDivisionError), w.pair():
            raise ZeroDivisionError
        with self.assertRaisesRegex(stixel.StixelError, "within the block of another"), w.pair():
            self.assertTrue(w.write(left, right))
        self.assertEqual(peer.pair()[0], 3)
        self.assertEqual(w.counts.queued, 3)

    def test_memory_outlives_the_writer(self):
        self.listen()
        w, peer = self.joined()
        with w.pair() as (left, right):
            pass
        peer.pair()
        w.close()
        self.assertEqual(peer.connection.recv(1), b"")  # the connection has ended, although the arrays live
        left[...] = 1
        right[...] = 2
        self.assertEqual(int(left[3, 4] + right[3, 4]), 3)
        del left, right
        gc.collect()
        with self.assertRaisesRegex(ValueError, "closed"):
            w.connect(0)
        self.assertTrue(w.closed)
        w.close()

    def test_buffers_come_back(self):
        self.listen()
        w, peer = self.joined(buffers=2)
        image = np.zeros(w.shape, np.uint8)
        for n in (1, 2):
            self.assertTrue(w.write(image, image))
            self.assertEqual(peer.pair()[0], n)
        begin = time.monotonic()
        self.assertFalse(w.write(image, image))
        self.assertGreater(time.monotonic() - begin, 0.09)
        with self.assertRaisesRegex(TimeoutError, "uses all buffers"), w.pair(0):
            pass
        threading.Timer(0.2, lambda: peer.answer(RETURNED, 1, 1)).start()
        with w.pair(20) as pair:
            pass
        self.assertTrue(pair.given)
        self.assertEqual(w.counts, stixel.PairCounts(3, 0, 1, 0, 0, 2, 1))

    def test_a_signal_ends_the_wait(self):
        self.listen()
        w, _ = self.joined(buffers=2)
        image = np.zeros(w.shape, np.uint8)
        w.write(image, image)
        w.write(image, image)
        for wait in (lambda: w.pair(None).__enter__(), lambda: self.writer().connect(None)):
            timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                wait()
            timer.join()

    def test_camera(self):
        self.listen()
        raw = (stixel.RawCamera(81, 82, 49, 19, (0.1, 0.2, 0.3, 0.4, 0.5)),
               stixel.RawCamera(83, 84, 48, 18, np.arange(1, 5) / 8, np.eye(3)[::-1], "equidistant"))
        w, peer = self.joined(camera=CAMERA, raw=raw, rectified=(96, 48), name="oak", stamp=stixel.Stamp.FRAME_END,
                              clock=stixel.Clock.REALTIME, simulated=True)
        self.assertEqual((peer.camera, peer.flags, peer.rectified, peer.name), (CAMERA, 6, (96, 48), "oak"))
        self.assertEqual((peer.stamp, peer.clock), (1, 1))
        self.assertEqual(peer.raw[0], (0, 0, 81, 82, 49, 19, 0.1, 0.2, 0.3, 0.4, 0.5, 0, 0, 0,
                                       1, 0, 0, 0, 1, 0, 0, 0, 1))
        self.assertEqual(peer.raw[1], (2, 0, 83, 84, 48, 18, 0.125, 0.25, 0.375, 0.5, 0, 0, 0, 0,
                                       0, 0, 1, 0, 1, 0, 1, 0, 0))
        w.close()
        _, peer = self.joined()
        self.assertEqual((peer.camera, peer.flags), ((0,) * 5, 0))
        self.assertTrue(peer.name.startswith("python"), peer.name)

    def test_input_that_is_refused(self):
        left = stixel.RawCamera(81, 82, 49, 19)
        for error, text, args, more in (
                (stixel.BadName, "not a name", ("../a", 64, 48), {}), (TypeError, "not bytes", (b"a", 64, 48), {}),
                (ValueError, "width: 31, allowed 32 to 4096", ("a", 31, 48), {}),
                (ValueError, "height: 2161", ("a", 64, 2161), {}), (ValueError, "width: 64.5", ("a", 64.5, 48), {}),
                (ValueError, "pixel: 'bgr24', allowed grey8", ("a", 64, 48, "bgr24"), {}),
                (ValueError, "even width", ("a", 65, 48, "yuyv"), {}),
                (ValueError, "buffers: 1", ("a", 64, 48), {"buffers": 1}),
                (ValueError, "pass camera=", ("a", 64, 48), {"raw": (left, left)}),
                (ValueError, "lens: 'kannala'", ("a", 64, 48), {"camera": CAMERA,
                                                               "raw": (left._replace(lens="kannala"), left)}),
                (ValueError, "9 coefficients, lens plumb_bob has 5",
                 ("a", 64, 48), {"camera": CAMERA, "raw": (left, left._replace(distortion=range(9)))}),
                (ValueError, "rotation: 8 numbers", ("a", 64, 48),
                 {"camera": CAMERA, "raw": (left, left._replace(rotation=range(8)))}),
                (ValueError, "name: 64 bytes", ("a", 64, 48), {"name": "x" * 64}),
                (OSError, "too long", ("a", 64, 48), {"path": "/" * 108})):
            with self.assertRaisesRegex(error, text):
                stixel.PairWriter(*args, **more)
        w = self.writer()
        good = np.zeros(w.shape, np.uint8)
        with self.assertRaisesRegex(ValueError, r"right image of shape \(3, 4\), expected \(40, 100\)"):
            w.write(good, good[:3, :4])
        with self.assertRaisesRegex(TypeError, "left image of float64, expected uint8"):
            w.write(np.zeros(w.shape), good)

    def test_daemons_that_come_and_go(self):
        w = self.writer()
        image = np.zeros(w.shape, np.uint8)
        self.assertFalse(w.write(image, image))
        self.assertFalse(w.connected)
        self.assertEqual(w.why, "no daemon takes pairs at /run/stixeld/%s/pairs.sock: is stixeld@%s running with "
                         "source.kind = shared?" % (self.name, self.name))
        for life in (1, 2):
            self.listen()
            time.sleep(0.25)
            self.assertFalse(w.write(image, image))  # connects
            peer = self.accept()
            peer.welcome()
            self.assertTrue(w.write(image, image))
            self.assertEqual((w.connected, w.why, w.counts.connections), (True, "", life))
            peer.close()
            self.listener.close()
            os.unlink(self.path)
            self.assertFalse(w.write(image, image))
            self.assertEqual(w.counts.lost, life)
        with self.writer(path=self.path) as other:
            self.assertFalse(other.connect(0.3))
            self.assertIn("at %s: is stixeld running" % self.path, other.why)

    def test_a_refusal(self):
        self.listen()
        w = self.writer()
        self.assertFalse(w.connect(0))
        peer = self.accept()
        peer.answer(REFUSED, text="the images are too small")
        peer.close()
        with self.assertRaisesRegex(stixel.Refused, "pairs '%s': the images are too small" % self.name):
            w.connect(20)
        self.assertEqual(w.why, "the images are too small")

    def test_nothing_is_left(self):
        self.listen()
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            w, peer = self.joined()
            w.write(np.zeros(w.shape, np.uint8), np.zeros(w.shape, np.uint8))
            peer.close()
            w.close()
            del w
        gc.collect()
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)


class Examples(Case):
    def run_it(self, *command):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=dict(os.environ, PYTHONPATH=support.MODULE, PYTHONDONTWRITEBYTECODE="1"))
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def moving(self, *command):
        """Runs an example against a daemon, and checks that its squares move, nearer by 20 px than the ground."""
        self.listen()
        process = self.run_it(*command)
        peer = self.accept()
        peer.welcome()
        seen = [peer.pair() for _ in range(1)]
        for _ in range(3):
            peer.answer(RETURNED, seen[-1][0])
            seen.append(peer.pair())
        self.assertEqual((peer.width, peer.height, peer.pixel), (640, 480, 1))
        self.assertTrue(peer.camera[0] > 0 and peer.camera[4] > 0)
        for a, b in zip(seen, seen[1:]):
            self.assertGreater(b[0], a[0])
            self.assertGreater(b[1], a[1])
        _, _, _, left, right = seen[-1]
        self.assertGreater(left.std(), 10)  # has texture
        self.assertFalse((left == right).all())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(err, "")
        return process.returncode, out

    def test_python(self):
        self.assertEqual(self.moving(support.sys.executable, os.path.join(EXAMPLES, "pairs.py"), self.name), (0, ""))

    def test_c(self):
        self.assertEqual(self.moving(os.environ["STIXEL_EXAMPLE_PAIRS"], self.name)[0], -signal.SIGINT)


# Stand-ins for the modules of cameras. Images have the values 10 (left) and 20 (right).
STAND_INS = {
    "depthai": """
image = lambda value, ms: Mock(getFrame=lambda: np.full((400, 640), value, np.uint8),
                               getTimestamp=lambda offset: datetime.timedelta(milliseconds=ms))
Pipeline = MagicMock()
pipeline = Pipeline.return_value.__enter__.return_value
device = pipeline.getDefaultDevice.return_value.readCalibration.return_value
device.getCameraIntrinsics.return_value = [[450.0, 0, 320.0], [0, 451.0, 200.0], [0, 0, 1]]
device.getBaselineDistance.return_value = 0.075
queue = pipeline.create.return_value.out.createOutputQueue.return_value
queue.get.return_value = {"left": image(10, 5000), "right": image(20, 5001)}
CameraExposureOffset = LengthUnit = node = MagicMock()
""",
    "pyrealsense2": """
image = lambda value, ms: Mock(get_data=lambda: np.full((480, 848), value, np.uint8),
                               get_timestamp=lambda: ms, get_frame_timestamp_domain=lambda: "global_time")
config = stream = format = timestamp_domain = MagicMock()
pipeline = MagicMock()
video = (pipeline.return_value.start.return_value.get_stream.return_value
         .as_video_stream_profile.return_value)
video.get_intrinsics.return_value = Mock(fx=450.0, fy=451.0, ppx=320.0, ppy=200.0)
video.get_extrinsics_to.return_value.translation = [-0.075, 0.0, 0.0]
frames = pipeline.return_value.wait_for_frames.return_value
frames.get_infrared_frame = lambda side: image(10 * side, 4999.0 + side)
""",
    "pyzed": """
sl = MagicMock()
sl.ERROR_CODE.SUCCESS = 0
camera = sl.Camera.return_value
camera.open.return_value = camera.grab.return_value = 0
setup = camera.get_camera_information.return_value.camera_configuration
setup.resolution = Mock(width=1280, height=720)
setup.calibration_parameters.left_cam = Mock(fx=450.0, fy=451.0, cx=320.0, cy=200.0)
setup.calibration_parameters.get_camera_baseline.return_value = 0.075
camera.get_timestamp.return_value.get_nanoseconds.return_value = 5 * 10 ** 9
mats = [Mock(get_data=lambda: np.full((720, 1280), 10, np.uint8)),
        Mock(get_data=lambda: np.full((720, 1280), 20, np.uint8))]
sl.Mat.side_effect = mats
sys.modules["pyzed.sl"] = sl
""",
}


class Cameras(Case):
    """The examples for cameras, which were never at hand, with stand-ins for their modules."""

    run_it = Examples.run_it

    def camera(self, example, module, size, clock, times):
        with open(os.path.join(self.top, module + ".py"), "w", encoding="utf-8") as f:
            f.write("import datetime\nimport sys\nfrom unittest.mock import MagicMock, Mock\nimport numpy as np\n"
                    + STAND_INS[module])
        self.listen()
        with unittest.mock.patch.dict(os.environ, {"STAND_IN": self.top}):
            process = self.run_it(support.sys.executable, "-c",
                                  "import os, runpy, sys; sys.path.insert(0, os.environ['STAND_IN']); "
                                  "sys.argv[:] = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')",
                                  os.path.join(EXAMPLES, example), self.name)
        peer = self.accept()
        peer.welcome()
        number, left_ns, right_ns, left, right = peer.pair()
        self.assertEqual(((peer.width, peer.height), peer.pixel, peer.clock), (size, 1, clock))
        self.assertEqual(peer.camera, (450, 451, 320, 200, 0.075))
        self.assertEqual((left_ns, right_ns), times)
        self.assertEqual((int(left[5, 5]), int(right[5, 5])), (10, 20))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.communicate(timeout=60), ("", ""))
        self.assertEqual(process.returncode, 0)

    def test_depthai(self):
        self.camera("depthai_pairs.py", "depthai", (640, 400), 0, (5000 * 10**6, 5001 * 10**6))

    def test_realsense(self):
        self.camera("realsense_pairs.py", "pyrealsense2", (848, 480), 1, (5000 * 10**6, 5001 * 10**6))

    def test_zed(self):
        self.camera("zed_pairs.py", "pyzed", (1280, 720), 1, (5 * 10**9, 5 * 10**9))


class Daemons(support.TestCase):
    """The whole way: pairs from this process, frames from stixeld."""

    SIZE = (320, 240)
    PX = 20  # disparity of the whole scene: 200 * 0.06 / 20 m = 0.6 m
    CAMERA = (200.0, 200.0, 159.5, 119.5, 0.06)
    ARGS = ["-s", "source.kind=shared", "-s", "stereo.disparities=64", "-s", "engine.threads=1"]

    def start(self, label, *args):
        d = self.daemon(label, *self.ARGS, *args)
        self.use_runtime_dir(d.user)
        return d

    def writer(self, d, *args, **more):
        w = stixel.PairWriter(d.name, *self.SIZE, *args, **dict({"camera": self.CAMERA, "simulated": True}, **more))
        self.addCleanup(w.close)
        return w

    def scene(self):
        width, height = self.SIZE
        texture = np.random.default_rng(2).integers(16, 236, (height, width + self.PX), dtype=np.uint8)
        return texture[:, :width], texture[:, self.PX:]

    def frame(self, reader, w, left, right):
        """Writes pairs until a frame comes that belongs to one of them, and returns it."""
        sent = set()
        for _ in range(200):
            now = time.monotonic_ns()
            if w.write(left, right, now, now + 1000):
                sent.add(now)
            frame = reader.latest(timeout=0.1)
            if frame is not None and frame.capture_left_ns in sent:
                self.assertEqual(frame.capture_right_ns, frame.capture_left_ns + 1000)
                return frame
        raise AssertionError("no frame of 200 pairs: " + w.why)

    def test_every_kind_of_pixels(self):
        d = self.start("pixels")
        grey = self.scene()
        wide = [image.astype(np.uint16) << 4 for image in grey]
        kinds = {"grey8": grey, "nv12": grey, "rgb24": [np.repeat(image[..., None], 3, 2) for image in grey],
                 "yuyv": [np.stack([image, image // 2], 2) for image in grey],
                 "uyvy": [np.stack([image // 2, image], 2) for image in grey], "grey16": wide, "rggb8": grey,
                 "bggr16": wide}
        frames = {}
        with stixel.open(d.name, follow=True) as reader:
            for kind, images in kinds.items():
                with self.writer(d, kind) as w:
                    frames[kind] = f = self.frame(reader, w, *images)
                self.assertEqual((f.width, f.height), self.SIZE)
                self.assertEqual((f.camera.fx, f.camera.baseline_m), (200, 0.06), kind)
                self.assertAlmostEqual(float(np.nanmedian(f.depth)), 0.6, delta=0.02, msg=kind)
        for kind in ("nv12", "rgb24", "yuyv", "uyvy"):  # the same grey levels
            self.assertEqual(frames[kind].stixels.tobytes(), frames["grey8"].stixels.tobytes(), kind)

    def test_raw_images(self):
        d = self.start("raw")
        raw = stixel.RawCamera(200, 200, 159.5, 119.5, (0.02, 0, 0, 0))
        with stixel.open(d.name, follow=True) as reader:
            with self.writer(d, raw=(raw, raw), rectified=(288, 208)) as w:
                f = self.frame(reader, w, *self.scene())
        self.assertTrue(f.flags & stixel.FrameFlag.RECTIFIED)
        self.assertEqual((f.width, f.height), (288, 208))

    def test_refusals(self):
        d = self.start("refuses", "-s", "source.size=320x240")
        with self.writer(d, name="the first") as w:
            self.assertTrue(w.connect(20))
            with self.assertRaisesRegex(stixel.Refused, r"the first \(process %d\)" % os.getpid()):
                self.writer(d).connect(20)
        for size, more, text in (((160, 120), {}, "160x120, source.size is 320x240"),
                                 ((320, 240), {"camera": (-1, 1, 1, 1, 1)}, "must be above 0"),
                                 ((320, 240), {"fps": 1e9}, "pairs a second")):
            with stixel.PairWriter(d.name, *size, **more) as w:
                with self.assertRaisesRegex(stixel.Refused, text):
                    w.connect(20)

    def test_a_daemon_that_is_killed(self):
        d = self.start("killed")
        scene = self.scene()
        w = self.writer(d)
        with stixel.open(d.name, follow=True) as reader:
            first = self.frame(reader, w, *scene)
            d.stop(signal.SIGKILL)
            self.assertFalse(w.write(*scene))
            self.assertRegex(w.why, "no daemon takes pairs|has ended the connection")
            d.start(*self.ARGS)
            self.assertNotEqual(self.frame(reader, w, *scene).epoch, first.epoch)
        self.assertEqual(w.counts.connections, 2)

    def test_examples(self):
        d = self.start("examples")
        for command in ([support.sys.executable, os.path.join(EXAMPLES, "pairs.py")],
                        [os.environ["STIXEL_EXAMPLE_PAIRS"]]):
            process = Examples.run_it(self, *command, d.name)
            with stixel.open(d.name, follow=True) as reader:
                found = []
                for _ in range(100):
                    f = reader.next(timeout=30)
                    box = (f.stixels["kind"] == stixel.Kind.OBJECT) & (abs(f.depth - 1.2) < 0.05)
                    if len(set(f.stixels["column"][box])) * f.column_width >= 60:
                        found.append(f)
                    if len(found) == 3:
                        break
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.communicate(timeout=60)[1], "")
            self.assertEqual(len(found), 3, "the box of 80 px at 1.2 m")


if __name__ == "__main__":
    unittest.main()
