# Tests two USB cameras made of software (uvc_camera.c) and driven by uvcvideo: formats, controls, faults,
# disconnection.
#
# SPDX-License-Identifier: Apache-2.0
import glob
import os
import subprocess
import time

from guest import (HERE, SMALL_IMAGES, SMALL_SIZE, TestCase, camera, camera_settings, flows, images, left_image, load,
                   run, unload, until, until_flows)

FPS = 10
SIDES = ("left", "right")
NODE = "/dev/v4l/by-id/usb-1d6b_Camera_of_the_tests_%s-video-index0"


class Camera:
    """A camera, connected or not."""

    def __init__(self, test, side):
        self.node = NODE % side
        self.side = side
        self.process = None
        test.addCleanup(self.unplug)

    def plug(self, wait=True):
        files = [f for both in zip(images(self.side, "jpg", SMALL_IMAGES), images(self.side, "yuyv", SMALL_IMAGES))
                 for f in both]
        self.process = subprocess.Popen([HERE + "/uvc-camera", str(SIDES.index(self.side)), self.side, SMALL_SIZE,
                                         str(FPS), *files], stdin=subprocess.PIPE)
        if wait:
            until(lambda: os.path.exists(self.node), 10, self.node)

    def unplug(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process = None

    def tell(self, word):
        self.process.stdin.write(word.encode() + b"\n")
        self.process.stdin.flush()


class Uvc(TestCase):
    def setUp(self):
        super().setUp()
        load("vhci_hcd")
        load("uvcvideo", "nodrop=1")  # damaged pictures arrive with their flag; otherwise the driver drops them
        self.addCleanup(lambda: (unload("uvcvideo"), unload("vhci_hcd")))
        self.cameras = {side: Camera(self, side) for side in SIDES}

    def plug(self):
        for c in self.cameras.values():
            c.plug()
        run("udevadm", "settle")

    def settings(self, **more):
        s = {"fps": FPS, "stixels.width": 16, "timeout_ms": 1000}
        s.update(more)
        return camera_settings(self.cameras["left"].node, self.cameras["right"].node, **s)

    def begin(self, env=None, **more):
        self.plug()
        self.i = self.daemon(self.settings(**more), SMALL_IMAGES, env=env)
        return until_flows(self.i, 20)

    def end(self):
        self.assert_accounted(self.i.status())
        self.assertEqual(self.i.stop(), 0)

    def check_pictures(self, fourcc, light):
        """Checks that the published left pictures are those of the files, in order."""
        self.begin(format=fourcc, **{"output.planes": "left", "output.planes_when": "always", "output.slots": "64"})
        status = self.i.until_published(6, 20)
        ring = self.i.ring()
        seen = [light.index(left_image(ring, n)) for n in range(1, 7)]
        self.assertGreater(len(set(seen)), 2)
        self.assertEqual(camera(status, "left")["format"], fourcc)
        self.assertEqual(status["source"]["stamp"], "start of exposure")
        self.assertEqual(status["frames"]["dropped"]["corrupt"], 0)
        self.end()

    def test_yuyv(self):
        light = []
        for path in images("left", "yuyv", SMALL_IMAGES):
            with open(path, "rb") as f:
                light.append(f.read()[0::2])
        self.check_pictures("YUYV", light)

    def test_mjpeg(self):
        # the reference comes from another decoder: a daemon that reads the pictures as files
        self.check_pictures("MJPG", self.decoded(images("left", "jpg", SMALL_IMAGES)))

    def decoded(self, paths):
        light = []
        for path in paths:
            i = self.daemon({"source.kind": "files", "source.left": path, "source.right": path, "source.fps": 1,
                             "source.loop": "yes", "output.planes": "left", "output.planes_when": "always"},
                            SMALL_IMAGES, name="decoder")
            i.until_published(1)
            light.append(left_image(i.ring(), 1))
            i.stop()
        return light

    def test_exposure_and_gain(self):
        self.begin(exposure_ms="12.5", gain="77")
        for c in self.cameras.values():
            values = run("v4l2-ctl", "-d", c.node, "-C", "gain,auto_exposure,exposure_time_absolute")
            self.assertEqual([int(line.split()[1]) for line in values.splitlines()], [77, 1, 125])
        self.end()

    def check_damage(self, fourcc, word, reason):
        # A busy machine may be silent for a second. Damage must not look like silence.
        self.begin(format=fourcc, timeout_ms=5000)
        for _ in range(20):
            # uvcvideo itself flags a picture that is too short. A JPEG without a partner is dropped before it is
            # decoded.
            self.cameras["right"].tell(word)
            time.sleep(0.3)
            status = self.i.status()
            if camera(status, "right")["errors"] >= 3:
                break
        self.assertGreaterEqual(camera(status, "right")["dropped"][reason], 3, status)
        self.assertEqual(camera(status, "right")["dropped"][reason], camera(status, "right")["errors"], status)
        self.assertEqual(camera(status, "left")["errors"], 0, status)
        self.i.until_published(status["frames"]["published"] + 3)
        status = self.i.status()
        self.assertEqual((flows(status), camera(status, "right")["reconnects"]), (True, 0))
        self.end()

    def test_damaged_pictures(self):
        """Damages pictures one by one. Each is counted with its reason, and no camera is reopened."""
        for fourcc, word, reason in (("MJPG", "short", "broken"), ("YUYV", "error", "error_flag"),
                                     ("YUYV", "short", "error_flag")):
            with self.subTest(format=fourcc, fault=word):
                try:
                    self.check_damage(fourcc, word, reason)
                finally:
                    for c in self.cameras.values():
                        c.unplug()

    def test_hangs_and_goes_on(self):
        self.begin()
        self.cameras["left"].tell("hang")
        status = self.i.until_state("no_camera", 5)
        self.assertIn("no image for", status["reason"])
        time.sleep(2)
        self.cameras["left"].tell("go")
        until_flows(self.i, 12)
        self.end()

    def test_absent_at_start(self):
        self.i = self.daemon(self.settings(), SMALL_IMAGES)
        status = self.i.until_state("no_camera", 5)
        self.assertIn("%s: No such" % self.cameras["left"].node, status["reason"])
        self.cameras["left"].plug()
        time.sleep(0.5)
        self.assertIn(self.cameras["right"].node, self.i.status()["reason"])
        self.cameras["right"].plug()
        until_flows(self.i)
        self.end()

    def test_thirty_times_unplugged(self):
        # The memory of several arenas varies by chance. So do pages that the kernel joins to a huge page.
        with open("/sys/kernel/mm/transparent_hugepage/enabled", "w") as f:
            f.write("never")
        # A busy machine may be silent for a second. Each unplugging, and nothing else, must be a loss of a camera.
        self.begin({"MALLOC_ARENA_MAX": "1"}, format="MJPG", timeout_ms=5000)
        pid = self.i.process.pid

        def open_files():
            return len(os.listdir("/proc/%d/fd" % pid))

        def memory_kb():
            with open("/proc/%d/status" % pid) as f:
                return int(next(line for line in f if line.startswith("RssAnon")).split()[1])

        # A leak grows all the time. Deeper stacks, or blocks that do not fit, grow only for a while.
        files, memory, grown = open_files(), [], []
        for n in range(1, 111):
            c = self.cameras[SIDES[n % 2]]
            c.unplug()
            self.i.until_state("no_camera", 5)
            until(lambda: not os.path.exists(c.node), 5, "the node to go")
            c.plug()
            status = until(lambda: (lambda s: s if flows(s) and
                                    camera(s, c.side)["reconnects"] == n else None)(self.i.status()), 10,
                           "running after %d times" % n)
            if n % 10 == 0:  # from 10 on, the allocator has most of its memory
                memory.append(memory_kb())
                grown = [after - before for before, after in zip(memory, memory[1:])]
                if n >= 30 and min(grown) < 125:
                    break
        self.assertLessEqual(open_files(), files + 1)  # one more while a status request is being closed
        self.assertLess(min(grown), 125, "kB in 10 times; after 10, 20, 30, ... there were %s" % memory)
        self.assertEqual(status["pid"], pid)
        self.assertEqual(len(glob.glob("/dev/video*")), 4)
        self.end()


class FirstRate(TestCase):
    """No camera reaches the requested rate. The daemon takes the fastest rate and reports it."""

    def test_rate(self):
        load("vhci_hcd")
        load("uvcvideo")
        self.addCleanup(lambda: (unload("uvcvideo"), unload("vhci_hcd")))
        for side in SIDES:
            Camera(self, side).plug()
        i = self.daemon(camera_settings(NODE % "left", NODE % "right", fps=60, **{"stixels.width": 16}), SMALL_IMAGES)
        status = i.until_published(2, 20)
        self.assertEqual(camera(status, "left")["format"], "YUYV")
        self.assertEqual(i.stop(), 0)
