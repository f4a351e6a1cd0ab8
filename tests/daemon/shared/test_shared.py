# Tests source.kind = shared with writers that live, die, hang, lie and come back, and with the rights of the socket.
#
# SPDX-License-Identifier: Apache-2.0
import array
import grp
import os
import random
import re
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import HEIGHT, SANITIZED, THREADS_ONLY, WIDTH, TestCase, until  # noqa: E402
from pair_writer import BAD, OVERLOAD, RAW, SIMULATED, TAKEN, Writer, raw_camera, texture  # noqa: E402

SHARED = ["-s", "source.kind=shared", "-s", "stereo.disparities=32", "-s", "engine.threads=1"]
CAMERA = (100.0, 100.0, WIDTH / 2, HEIGHT / 2, 0.2)
OWN = ["-s", "camera.fx=110", "-s", "camera.fy=110", "-s", "camera.cx=%d" % (WIDTH // 2), "-s",
       "camera.cy=%d" % (HEIGHT // 2), "-s", "camera.baseline_m=0.3"]
CALIBRATION = """%%YAML:1.0
---
image_width: %d
image_height: %d
K1: [100, 0, %d, 0, 100, %d, 0, 0, 1]
D1: [-0.1, 0.01, 0, 0, 0]
K2: [101, 0, %d, 0, 101, %d, 0, 0, 1]
D2: [0.05, 0, 0, 0, 0]
R1: [1, 0, 0, 0, 1, 0, 0, 0, 1]
R2: [1, 0, 0, 0, 1, 0, 0, 0, 1]
P1: [100, 0, %d, 0, 0, 100, %d, 0, 0, 0, 1, 0]
P2: [100, 0, %d, -20, 0, 100, %d, 0, 0, 0, 1, 0]
""" % ((WIDTH, HEIGHT) + 4 * (WIDTH // 2, HEIGHT // 2))
# With sanitizers the images of the example take a second each. Its tests are not about the engine.
CHEAP = ["-s", "stereo.paths=2"] if SANITIZED else []
IMAGES = [texture(WIDTH, HEIGHT, seed) for seed in range(4)]


def is_stopped(pid):
    with open("/proc/%d/stat" % pid) as f:
        return f.read().rpartition(")")[2].split()[0] == "T"


def some(r, count):
    return bytes(r.getrandbits(8) for _ in range(count))


class Shared(TestCase):
    def daemon(self, *args, instance=None, **more):
        i = instance or self.instance()
        i.start(*SHARED, *args, **more)
        i.pairs = os.path.join(i.run, i.name, "pairs.sock")
        return i

    def writer(self, i, width=WIDTH, height=HEIGHT, welcome=True, **more):
        w = Writer(i.pairs, width, height, **more)
        self.addCleanup(w.close)
        return w.welcome() if welcome else w

    def program(self, i, fps=20):
        """Starts a writer as another process."""
        p = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(__file__), "pair_writer.py"), i.pairs,
                              str(WIDTH), str(HEIGHT), str(fps)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p

    def give(self, w, count=3):
        """Gives pairs, one after the other."""
        for _ in range(count):
            now = time.monotonic_ns()
            self.assertEqual(w.wait(w.queue(*IMAGES[w.numbers % 4], now, now)), TAKEN)

    def until_reason(self, i, text):
        return until(lambda: (lambda s: s if text in (s["reason"] or "") else None)(i.status()), 30, text)


class SharedPairs(Shared):
    def test_times_places_and_end(self):
        i = self.daemon()
        s = i.until_state("no_camera")
        self.assertEqual(s["reason"], "no process writes pairs to %s: start the writer, as a member of group "
                         "stixel-feed" % i.pairs)
        self.assertIsNone(s["source"]["writer"])
        self.assertEqual(s["source"]["cameras"][0]["path"], i.pairs)
        w = self.writer(i, fps=25, name=b"grab")
        times = []
        for n in range(5):
            now = time.monotonic_ns() - 1000000
            times.append((now, now - 1000 * n))
            self.assertEqual(w.wait(w.queue(*IMAGES[n % 4], *times[-1])), TAKEN)
        i.until_published(5)
        self.assertEqual([(f.left_ns, f.right_ns) for f in i.ring().frames()], times)
        s = i.status()
        self.assertEqual((s["source"]["kind"], s["source"]["memory"], s["source"]["cameras"][0]["format"],
                          s["source"]["cameras"][1]["path"], s["source"]["writer"]),
                         ("shared", "memfd", "GREY8", i.pairs, "grab (process %d)" % os.getpid()))
        until(lambda: "pairs come from grab (process %d)" % os.getpid() in i.text(), 30, "the log's line")
        self.assertEqual(i.stop(), 0)
        self.assertEqual(i.leftovers(), [])
        self.assertIsNone(w.take())

    @unittest.skipIf(SANITIZED, "a frame of this size takes minutes")
    def test_contexts_for_large_images(self):
        # The manager must not end the daemon while it makes contexts for a writer's images.
        i = self.instance()
        self.daemon(instance=i, notify=True, env={"WATCHDOG_USEC": 2000000})
        i.until_message("READY=1")
        w = self.writer(i)
        self.give(w)
        w.close()
        self.until_reason(i, "has ended")
        w = self.writer(i, 1920, 1080, buffers=1)
        longer = int(i.until_message("WATCHDOG_USEC=", 60)[0].partition("=")[2])
        self.assertGreater(longer, 4000000)
        i.until_message("WATCHDOG_USEC=2000000", longer / 1e6)
        image = os.urandom(1920 * 1080)
        self.assertEqual(w.wait(w.queue(image, image)), TAKEN)
        i.until_published(4, 60)

    def test_drops_are_counted(self):
        i = self.daemon()
        w = self.writer(i)
        self.give(w)
        i.process.send_signal(signal.SIGSTOP)
        until(lambda: is_stopped(i.process.pid), what="stop")
        for n in range(20):
            w.queue(*IMAGES[n % 4])
        i.process.send_signal(signal.SIGCONT)
        w.wait(w.numbers)
        w.queue(*IMAGES[0], time.monotonic_ns() + 10 ** 11, time.monotonic_ns())
        self.assertEqual(w.wait(w.numbers), BAD)
        while len(w.returned) < w.numbers:
            w.take()
        fates = [fate for _, fate in w.returned]
        self.assertEqual(sorted(n for n, _ in w.returned), list(range(1, w.numbers + 1)))  # each one once
        self.assertGreaterEqual(fates.count(OVERLOAD), 15)

        # a pair that waited for the engine until a newer one came was taken, and is no frame; the daemon counts a bad
        # pair after the writer got it back
        def counted():
            frames = i.status()["frames"]
            done = frames["published"] + frames["dropped"]["overload"]
            return frames if (done, frames["dropped"]["corrupt"]) == (w.numbers - 1, 1) else None

        frames = until(counted, 30, "all pairs")
        self.assertGreaterEqual(frames["dropped"]["overload"], fates.count(OVERLOAD))
        self.assertEqual(frames["captured"], w.numbers - 1)
        text = "test (process %d): the capture times of pair %d" % (os.getpid(), w.numbers)
        until(lambda: text in i.text(), 30, "the log's line")

    def test_an_unchanged_image(self):
        for flags in (SIMULATED, 0):
            i = self.daemon()
            w = self.writer(i, flags=flags)
            for n in range(40):
                w.wait(w.queue(*IMAGES[0]))
                time.sleep(0.05)
            if flags:
                self.assertNotIn("repeat the same images", str(i.status()["reason"]))
            else:
                self.until_reason(i, "both cameras repeat the same images")
            i.close()

    def test_rate_that_the_writer_promises(self):
        i = self.daemon()
        w = self.writer(i, fps=20)

        def late():
            self.give(w, 1)
            time.sleep(0.2)
            return re.match(r"source gives [\d.]+ of 20 pairs a second", i.status()["reason"] or "")
        until(late, 30, "the missing pairs in the status")


class SharedLives(Shared):
    def test_killed_in_any_order(self):
        i = self.daemon()
        for _ in range(3):
            w = self.program(i)
            self.assertEqual(w.stdout.readline(), b"welcome\n")
            before = i.status()["frames"]["published"]
            i.until_published(before + 3)
            self.assertEqual(i.status()["source"]["writer"], "pair_writer (process %d)" % w.pid)
            w.kill()
            w.wait()
            self.until_reason(i, "has ended")
            self.assertIsNone(i.status()["source"]["writer"])
        w = self.program(i)
        self.assertEqual(w.stdout.readline(), b"welcome\n")
        i.process.kill()
        i.process.wait()
        self.assertNotEqual(w.wait(20), 0)
        self.daemon(instance=i)
        w = self.program(i)
        self.assertEqual(w.stdout.readline(), b"welcome\n")
        i.until_published(3)
        self.assertEqual(i.stop(), 0)
        self.assertEqual(i.leftovers(), [])

    def test_a_stopped_writer_is_lost(self):
        i = self.daemon("-s", "source.timeout_ms=300")
        w = self.program(i, fps=50)
        self.assertEqual(w.stdout.readline(), b"welcome\n")
        i.until_published(3)
        w.send_signal(signal.SIGSTOP)
        self.until_reason(i, "has given no pair for 0.")
        second = self.writer(i)  # the place is free
        self.give(second)
        i.until_state("running")
        w.send_signal(signal.SIGCONT)
        self.assertNotEqual(w.wait(20), 0)
        self.give(second)

    def test_other_sizes(self):
        i = self.daemon()
        for width, height in ((WIDTH, HEIGHT), (WIDTH + 16, HEIGHT), (WIDTH, HEIGHT + 16), (WIDTH, HEIGHT)):
            w = self.writer(i, width, height)
            images = texture(width, height, 1)
            before = i.status()["frames"]["published"]
            for _ in range(3):
                w.wait(w.queue(*images))
            i.until_published(before + 1)
            self.assertEqual(i.ring().frames()[-1].width, width)
            w.close()
            self.until_reason(i, "has ended")
        self.assertEqual(i.stop(), 0)

    def test_the_size_of_the_configuration(self):
        i = self.daemon("-s", "source.size=%dx%d" % (WIDTH, HEIGHT))
        w = self.writer(i, WIDTH + 16, welcome=False)
        self.assertIsNotNone(w.take())
        self.assertEqual(w.refused, "the writer has images of %dx%d, source.size is %dx%d" % (
            WIDTH + 16, HEIGHT, WIDTH, HEIGHT))
        self.until_reason(i, w.refused)
        until(lambda: "writer refused: " + w.refused in i.text(), 30, "the log's line")
        self.give(self.writer(i))

    def test_refused_while_the_daemon_starts(self):
        i = self.instance()
        self.daemon("-s", "source.size=%dx%d" % (WIDTH, HEIGHT), instance=i, wait=False)

        def connected():
            try:
                return self.writer(i, WIDTH + 16, welcome=False)
            except OSError:
                return None

        w = until(connected, what="the socket of pairs")
        self.assertIsNotNone(w.take())
        until(lambda: "writer refused: " + w.refused in i.text(), 30, "the log's line")

    def test_images_that_the_settings_do_not_allow(self):
        i = self.instance()
        file = os.path.join(i.top, "cal.yaml")
        with open(file, "w") as f:
            f.write(CALIBRATION)
        self.daemon("-s", "camera.calibration=" + file, instance=i)
        for _ in range(3):
            w = self.writer(i, WIDTH + 16, HEIGHT, welcome=False)
            while w.take() is not None:
                pass
            self.assertIn("%dx%d" % (WIDTH + 16, HEIGHT), w.refused)
            self.until_reason(i, w.refused)
        self.assertIsNone(i.process.poll())
        self.give(self.writer(i))
        i.until_published(1)
        self.assertEqual(i.stop(), 0)

    def test_a_writer_that_lies_again_and_again(self):
        i = self.daemon()
        for _ in range(30):
            w = self.writer(i, welcome=False, connect=False)
            w.socket.send(b"garbage" * 100)
            while w.take() is not None:
                pass
            self.assertIn("another message than a hello", w.refused)
        self.give(self.writer(i))
        self.assertEqual(i.stop(), 0)
        self.assertEqual(i.text().count("writer refused"), 1)

    def test_a_second_writer(self):
        i = self.daemon()
        w = self.writer(i, name=b"first")
        self.give(w)
        second = self.writer(i, welcome=False)
        self.give(w)
        second.take()
        second.close()
        self.assertEqual(second.refused, "another writer has this instance: first (process %d)" % os.getpid())

    def test_stop_with_a_writer_that_says_nothing(self):
        i = self.daemon()
        self.writer(i, welcome=False, connect=False)
        time.sleep(0.05)
        self.assertEqual(i.stop(), 0)


class SharedCameras(Shared):
    def text_of(self, i):
        return i.status()["camera"]["text"]

    def frame(self, i, w):
        before = i.status()["frames"]["published"]
        self.give(w)
        i.until_published(before + 1)
        return i.ring().frames()[-1]

    def test_of_the_writer(self):
        i = self.daemon("-s", "camera.height_m=1.2")
        w = self.writer(i, camera=CAMERA)
        self.assertEqual(self.frame(i, w).camera, CAMERA)
        self.assertIn("by the writer", self.text_of(i))
        code, text = i.order("camera.height_m=1.4")
        self.assertEqual(code, 200, text)
        self.assertEqual(self.frame(i, w).camera, CAMERA)
        # now the configuration knows the camera
        code, text = i.order("camera.fx=110", "camera.fy=110", "camera.cx=%d" % (WIDTH // 2),
                             "camera.cy=%d" % (HEIGHT // 2), "camera.baseline_m=0.3")
        self.assertEqual(code, 200, text)
        until(lambda: self.frame(i, w).camera == (110, 110, WIDTH // 2, HEIGHT // 2, 0.3), 30, "the other camera")
        w.close()
        self.until_reason(i, "has ended")
        w = self.writer(i, camera=CAMERA)
        self.assertEqual(self.frame(i, w).camera[0], 110)

    def test_of_the_configuration(self):
        i = self.daemon(*OWN)
        w = self.writer(i, camera=CAMERA)
        self.assertEqual(self.frame(i, w).camera[0], 110)
        self.assertNotIn("by the writer", self.text_of(i))

    def test_of_nobody(self):
        i = self.daemon()
        self.assertEqual(self.frame(i, self.writer(i)).camera[0], 0)
        self.assertIn("no camera model", self.text_of(i))

    def test_a_calibrated_road(self):
        calibrated = ["-s", "road.mode=calibrated", "-s", "camera.pitch_deg=2"]
        code, _, err = self.instance().run_once(*SHARED, *calibrated)
        self.assertEqual(code, 78, err)
        self.assertIn("[road] mode: calibrated needs camera.height_m", err)
        self.assertNotIn("camera.fx", err)
        # the frame of a daemon whose configuration has the same camera
        camera = zip(("fx", "fy", "cx", "cy", "baseline_m"), CAMERA)
        known = [word for key, value in camera for word in ("-s", "camera.%s=%g" % (key, value))]
        expected = self.first_frame(self.daemon(*calibrated, "-s", "camera.height_m=1.2", *known))
        self.assertEqual(expected.road_origin, 3)
        i = self.daemon(*calibrated, "-s", "camera.height_m=1.2", "-s", "source.size=%dx%d" % (WIDTH, HEIGHT))
        i.until_state("no_camera")
        # of the size and format that the daemon expects, so only its camera is missing
        sentence = "road.mode = calibrated needs a camera, and neither the writer nor [camera] gives one"
        for flags in (SIMULATED, 0):
            w = self.writer(i, flags=flags)
            while w.take() is not None:
                pass
            self.assertIn(sentence, w.refused)
            self.until_reason(i, sentence)
            w.close()
        for _ in range(2):
            frame = self.first_frame(i, camera=CAMERA)
            self.assertEqual((frame.camera, frame.road, frame.road_origin, frame.record),
                             (CAMERA, expected.road, expected.road_origin, expected.record))
            self.assertEqual(i.order("stereo.uniqueness=90")[0], 200)
            self.assertEqual(i.order("stereo.uniqueness=95")[0], 200)
        self.assertIn("writer refused: " + sentence, i.text())
        self.assertEqual(i.stop(), 0)

    def first_frame(self, i, **more):
        """Returns the frame of the first pair of a writer, which then ends."""
        before = i.status()["frames"]["published"]
        w = self.writer(i, **more)
        w.wait(w.queue(*IMAGES[0]))
        i.until_published(before + 1)
        w.close()
        self.until_reason(i, "has ended")
        return i.ring().frames()[-1]

    def test_a_calibrated_road_live(self):
        i = self.daemon()
        code, text = i.order("road.mode=calibrated")
        self.assertEqual(code, 422, text)
        self.assertIn("calibrated needs camera.height_m", text)
        w = self.writer(i)
        self.frame(i, w)
        code, text = i.order("road.mode=calibrated", "camera.height_m=1.2")
        self.assertEqual(code, 422, text)
        self.assertIn("neither the writer nor [camera] gives one", text)
        self.frame(i, w)
        w.close()
        self.until_reason(i, "has ended")
        w = self.writer(i, camera=CAMERA)
        measured = self.frame(i, w).road
        code, text = i.order("road.mode=calibrated", "camera.height_m=1.2")
        self.assertEqual(code, 200, text)
        until(lambda: self.frame(i, w).road != measured, 10, "the calibrated road")
        # the next writer has to give a camera, too
        w.close()
        self.until_reason(i, "has ended")
        w = self.writer(i)
        self.until_reason(i, "neither the writer nor [camera] gives one")
        self.frame(i, self.writer(i, camera=CAMERA))

    def test_another_camera(self):
        i = self.daemon()
        for fx in (100.0, 120.0):
            w = self.writer(i, camera=(fx,) + CAMERA[1:])
            self.assertEqual(self.frame(i, w).camera[0], fx)
            w.close()
            self.until_reason(i, "has ended")

    def test_a_rig_of_the_writer_is_the_calibration_file(self):
        places = self.instance()
        folder = os.path.join(places.top, "images")
        for side, image in zip(("left", "right"), IMAGES[0]):
            os.makedirs(os.path.join(folder, side))
            with open(os.path.join(folder, side, "0.pgm"), "wb") as f:
                f.write(b"P5\n%d %d\n255\n" % (WIDTH, HEIGHT) + image)
        file = os.path.join(places.top, "cal.yaml")
        with open(file, "w") as f:
            f.write(CALIBRATION)
        places.start("-s", "source.kind=files", "-s", "source.path=" + folder, *SHARED[2:],
                     "-s", "camera.calibration=" + file, "-s", "source.fps=5", "-s", "source.loop=yes")
        places.until_published(1)
        expected = places.ring().frames()[0]
        self.assertEqual(places.stop(), 0)
        raw = (raw_camera(k=(100, 100, WIDTH // 2, HEIGHT // 2), distortion=(-0.1, 0.01))
               + raw_camera(k=(101, 101, WIDTH // 2, HEIGHT // 2), distortion=(0.05,)))
        for args, more in (((), {"flags": RAW, "camera": CAMERA, "raw": raw}),
                           (("-s", "camera.calibration=" + file), {})):
            i = self.daemon(*args)
            w = self.writer(i, **more)
            w.wait(w.queue(*IMAGES[0]))
            i.until_published(1)
            frame = i.ring().frames()[0]
            self.assertEqual(frame.camera, expected.camera)
            self.assertEqual(frame.record, expected.record)
            if more:
                until(lambda: "as they are raw by the writer" in i.text(), 30, "the log's line")
            w.close()
            self.assertEqual(i.stop(), 0)


class SharedLies(Shared):
    """Writers that lie at random. STIXEL_LIVES: their number, for a longer run by hand."""

    LIVES = int(os.environ.get("STIXEL_LIVES", 60))

    def spoil(self, r, data):
        """Changes up to three places of a message, or its length."""
        data = bytearray(data)
        for _ in range(r.choice((0, 0, 0, 1, 1, 3))):
            at = r.randrange(len(data) // 4) * 4
            data[at:at + 4] = r.choice((bytes(4), b"\xff" * 4, b"\0\0\xf0\x7f", some(r, 4), struct.pack(
                "<I", r.randrange(300))))
        return bytes(data) if r.random() < 0.9 else bytes(data)[:r.randrange(len(data))] + some(r, r.randrange(99))

    def live(self, r, i):
        """Runs one writer: it introduces itself, gives pairs, and ends in some state."""
        size = r.choice(((WIDTH, HEIGHT), (WIDTH, HEIGHT), (32, 32), (4096, 64), (WIDTH + 1, HEIGHT)))
        w = Writer(i.pairs, *size, buffers=r.choice((1, 2, 6)), camera=r.choice((CAMERA, (0,) * 5)), connect=False,
                   pixel=r.choice((1, 1, 2, 6, 16, 20)), bytes_of=2)
        w.socket.settimeout(2)
        try:
            if r.random() < 0.05:
                return
            w.socket.send(self.spoil(r, w.hello))
            for k, (fd, _) in enumerate(w.buffers):
                message = struct.pack("<4IQ", 0x50585453, 2, k, 0, 2 * w.right)
                given = r.choice((fd,) * 30 + (w.socket.fileno(),))
                fds = array.array("i", [given] * r.choice((1,) * 30 + (0, 2)))
                w.socket.sendmsg([self.spoil(r, message) if r.random() < 0.2 else message],
                                 [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)] if fds else [])
            for n in range(r.randrange(30)):
                now = time.monotonic_ns()
                pair = struct.pack("<2IQ2I2Q2q", 0x50585453, 3, n, r.randrange(len(w.buffers)), 0, 0, w.right, now, now)
                w.socket.send(self.spoil(r, pair) if r.random() < 0.3 else pair)
                if r.random() < 0.2:
                    r.choice(w.buffers)[1].write(some(r, 64))
                    r.choice(w.buffers)[1].seek(0)
                if r.random() < 0.1:
                    w.take()
        except OSError:
            pass  # the daemon has refused the writer
        finally:
            w.close()

    def owned(self, i):
        """Returns the numbers of the daemon's descriptors and mapped buffers."""
        with open("/proc/%d/maps" % i.process.pid) as f:
            return len(os.listdir("/proc/%d/fd" % i.process.pid)), f.read().count("memfd:pairs")

    def test_any_writer(self):
        i = self.daemon("-s", "stixels.width=16")
        self.give(self.writer(i))
        i.until_published(1)
        for w in range(self.LIVES):
            r = random.Random(w)
            self.live(r, i)
            self.assertIsNone(i.process.poll(), "seed %d" % w)
        last = until(lambda: self.try_writer(i), 30, "a writer that is right")
        self.give(last)
        before = i.status()["frames"]["published"]
        self.give(last)
        i.until_published(before + 1)
        last.close()
        self.until_reason(i, "has ended")
        until(lambda: self.owned(i)[1] == 0, 30, "no mapped buffers")
        self.assertLess(self.owned(i)[0], 40)
        self.assertEqual(i.stop(), 0)

    def try_writer(self, i):
        try:
            return self.writer(i)
        except (AssertionError, OSError):
            return None


class SharedLibrary(Shared):
    """A writer that uses the library (docs/examples/pairs.c): 20 pairs of 640x480 a second."""

    def example(self, i):
        place = os.path.join(i.top, "stixeld")
        if not os.path.islink(place):
            os.symlink(i.run, place)
        p = subprocess.Popen([os.environ["STIXEL_EXAMPLE_PAIRS"], i.name],
                             env=dict(os.environ, XDG_RUNTIME_DIR=i.top))
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p

    def until_more(self, i, count=2):
        before = i.status()["frames"]["published"]
        i.until_published(before + count, 30)

    def test_either_side_ends_and_comes_back(self):
        i = self.instance()
        w = self.example(i)  # before the daemon
        args = ["-s", "source.timeout_ms=500", "-s", "stixels.width=16", *CHEAP]
        self.daemon(*args, instance=i)
        self.until_more(i)
        self.assertEqual(i.status()["source"]["writer"], "example-pairs (process %d)" % w.pid)
        self.assertIn("by the writer", i.status()["camera"]["text"])
        for how in (signal.SIGKILL, signal.SIGTERM):
            i.process.send_signal(how)
            i.process.wait()
            self.assertIsNone(w.poll())
            self.daemon(*args, instance=i)
            self.until_more(i)
        w.send_signal(signal.SIGSTOP)
        self.until_reason(i, "has given no pair for ")
        w.send_signal(signal.SIGCONT)
        self.until_more(i)
        w.kill()
        w.wait()
        self.until_reason(i, "has ended")
        self.example(i)
        self.until_more(i)
        self.assertEqual(i.stop(), 0)

    @unittest.skipIf(THREADS_ONLY, "the same threads as in the test above")
    def test_a_calibrated_road(self):
        i = self.instance()
        self.example(i)
        self.daemon(*CHEAP, "-s", "stixels.width=16", "-s", "road.mode=calibrated", "-s", "camera.height_m=1.2",
                    instance=i)
        i.until_published(1, 30)
        self.assertEqual(i.ring().frames()[0].road_origin, 3)
        self.assertEqual(i.stop(), 0)


class SharedSocket(Shared):
    def test_configuration(self):
        for args, text in ((["-s", "source.left=a"], "layout, path, left and right have no meaning"),
                           (["-s", "source.path=a"], "layout, path, left and right have no meaning"),
                           (["-s", "source.layout=side-by-side"], "layout, path, left and right have no meaning"),
                           (["-s", "camera.fx=100"], "give fy, cx, cy, baseline_m, too, or none of these keys")):
            code, _, err = self.instance().run_once(*SHARED, *args)
            self.assertEqual(code, 78, err)
            self.assertIn("[source] kind: shared ", err)
            self.assertIn(text, err)

    def test_rights(self):
        i = self.daemon()
        try:
            group = grp.getgrnam("stixel-feed").gr_gid
        except KeyError:
            group = None
        member = group is not None and (os.geteuid() == 0 or group in os.getgroups())
        s = os.stat(i.pairs)
        self.assertTrue(stat.S_ISSOCK(s.st_mode))
        self.assertEqual(stat.S_IMODE(s.st_mode), 0o660 if member else 0o600)
        if member:
            self.assertEqual(s.st_gid, group)

    def test_a_second_daemon(self):
        i = self.daemon()
        w = self.writer(i)
        self.give(w)
        code, _, err = i.run_once(*SHARED)
        self.assertNotEqual(code, 0, err)
        self.give(w)  # the second daemon took nothing away
        self.assertTrue(os.path.exists(i.pairs))

    def test_a_removed_socket_is_made_again(self):
        i = self.daemon()
        os.unlink(i.pairs)
        until(lambda: os.path.exists(i.pairs), 30, "pairs.sock")

        def connected():
            try:
                return self.writer(i)  # accepted although nothing was connected when the socket changed
            except ConnectionRefusedError:  # the new socket is there, but does not listen yet
                return None
        w = until(connected, 30, "a socket that listens")
        self.give(w)
        os.unlink(i.pairs)
        until(lambda: os.path.exists(i.pairs), 30, "pairs.sock")
        self.give(w)
        w.close()
        self.until_reason(i, "has ended")
        self.give(self.writer(i))
        self.assertEqual(i.stop(), 0)
        self.assertEqual(i.leftovers(), [])

    def test_other_sources_have_no_socket(self):
        i = self.instance()
        i.start("-s", "source.kind=synthetic", "-s", "source.size=%dx%d" % (WIDTH, HEIGHT), *SHARED[2:])
        self.assertFalse(os.path.exists(os.path.join(i.run, i.name, "pairs.sock")))


if __name__ == "__main__":
    unittest.main()
