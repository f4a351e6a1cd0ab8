# Tests real stereo images through v4l2loopback. In every form of the images, the stixels in shared memory equal those
# of stixel-process for the same images. Also tests a feeder that dies or hangs.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import tempfile

from guest import (CAMERA, CHEAP, HERE, IMAGES, PAIRS, SIZE, TestCase, camera, camera_settings, images, load, run,
                   unload, until, until_flows, words)

LEFT, RIGHT = "/dev/video20", "/dev/video21"
FPS = 5  # the highest rate that the emulated processor can compute
# The daemon gets the images in the first form. stixel-process gets the second one.
FORMS = {"GREY": ("grey", "pgm"), "YUYV": ("yuyv", "pgm"), "UYVY": ("uyvy", "pgm"), "NV12": ("nv12", "pgm"),
         "MJPG": ("jpg", "jpg")}


class Loopback(TestCase):
    def setUp(self):
        super().setUp()
        load("v4l2loopback", "devices=2", "video_nr=20,21", "exclusive_caps=1,1")
        self.addCleanup(unload, "v4l2loopback")

    def feed(self, fourcc, left, right=None, size=SIZE, fps=FPS):
        p = self.start(HERE + "/feeder", fourcc, size, fps, LEFT, *left, *(["--", RIGHT, *right] if right else []))
        for device in [LEFT] + ([RIGHT] if right else []):
            until(lambda: "Video Capture" in run("v4l2-ctl", "-d", device, "-D"), 5, "feeder")
        return p

    def expected(self, form):
        """Returns what stixel-process prints for each pair with the same settings."""
        with tempfile.TemporaryDirectory() as out:
            pairs = [p for both in zip(images("left", form), images("right", form)) for p in both]
            run("stixel-process", "-c", CAMERA, *words(CHEAP), "-o", out, *pairs)
            results = []
            for n in range(PAIRS):
                with open("%s/left-%d.stixels.csv" % (out, n)) as f:
                    results.append(f.read())
        self.assertEqual(len(set(results)), PAIRS)
        return results

    def check(self, fourcc, settings, expected):
        """Checks that each frame has the stixels of one pair. A frame of two unrelated pictures would differ."""
        i = self.daemon(settings)
        i.until_published(1, 20)
        dump = run("stixelctl", "-i", "test", "dump", "--frames", 2 * PAIRS, "--timeout", 20)
        frames = ["".join(f.splitlines(True)[1:]) for f in dump.split("# frame ")[1:]]
        self.assertEqual(len(frames), 2 * PAIRS)
        seen = [expected.index(f) if f in expected else None for f in frames]
        self.assertNotIn(None, seen, "%s: stixels that stixel-process does not give" % fourcc)
        self.assertGreaterEqual(len(set(seen)), 2, seen)
        status = i.status()
        self.assertEqual({c["format"] for c in status["source"]["cameras"]}, {fourcc})
        self.assertEqual(status["source"]["memory"], "mmap")
        self.assertEqual(status["frames"]["dropped"]["corrupt"], 0)
        self.assert_accounted(status)
        self.assertEqual(i.stop(), 0)

    def check_form(self, fourcc):
        camera_form, file_form = FORMS[fourcc]
        self.feed(fourcc, images("left", camera_form), images("right", camera_form))
        self.check(fourcc, camera_settings(LEFT, RIGHT, fps=FPS), self.expected(file_form))

    def test_side_by_side_and_top_bottom(self):
        width, height = map(int, SIZE.split("x"))
        joined = {"side-by-side": [], "top-bottom": []}
        folder = tempfile.mkdtemp()
        for n, (left, right) in enumerate(zip(images("left", "grey"), images("right", "grey"))):
            with open(left, "rb") as f, open(right, "rb") as g:
                left, right = f.read(), g.read()
            rows = [left[y:y + width] + right[y:y + width] for y in range(0, width * height, width)]
            for layout, data in (("side-by-side", b"".join(rows)), ("top-bottom", left + right)):
                joined[layout].append("%s/%s-%d" % (folder, layout, n))
                with open(joined[layout][-1], "wb") as f:
                    f.write(data)
        expected = self.expected("pgm")
        for layout, size in (("side-by-side", "%dx%d" % (2 * width, height)),
                             ("top-bottom", "%dx%d" % (width, 2 * height))):
            feeder = self.feed("GREY", joined[layout], size=size)
            self.check("GREY", camera_settings(LEFT, "", layout=layout, fps=FPS), expected)
            feeder.kill()
            feeder.wait()

    def test_cameras_that_differ(self):
        # two feeders, because the second camera has twice the height
        self.start(HERE + "/feeder", "GREY", SIZE, FPS, LEFT, *images("left", "grey"))
        self.start(HERE + "/feeder", "GREY", "160x160", FPS, RIGHT, IMAGES + "/small/left-0.jpg")
        for device in (LEFT, RIGHT):
            until(lambda: "Video Capture" in run("v4l2-ctl", "-d", device, "-D"), 5, "feeder")
        code, err = self.refused(camera_settings(LEFT, RIGHT, fps=FPS))
        self.assertEqual(code, 78, err)
        for word in (SIZE, "160x160", LEFT, RIGHT):
            self.assertIn(word, err)

    def running(self):
        self.feeder = self.feed("GREY", images("left", "grey"), images("right", "grey"))
        i = self.daemon(camera_settings(LEFT, RIGHT, fps=FPS, timeout_ms=700))
        until_flows(i, 20)
        return i

    def lost(self, i, seconds=5):
        status = i.until_state("no_camera", seconds)
        self.assertIn("no image for", status["reason"])
        self.assertIsNone(i.process.poll())
        return status["frames"]["published"]

    def test_feeder_dies(self):
        i = self.running()
        self.feeder.kill()
        self.feeder.wait()
        n = self.lost(i)
        until(lambda: "is not a video capture device" in i.status()["reason"], 10, "no camera without its feeder")
        self.feeder = self.feed("GREY", images("left", "grey"), images("right", "grey"))
        # the node stays, so no event reaches the daemon, which looks every few seconds
        until_flows(i, 15)
        i.until_published(n + 3)
        self.assertEqual({c["reconnects"] for c in i.status()["source"]["cameras"]}, {1})
        self.assertEqual(i.stop(), 0)

    def test_feeder_hangs(self):
        i = self.running()
        self.feeder.send_signal(signal.SIGSTOP)
        n = self.lost(i)
        self.feeder.send_signal(signal.SIGCONT)
        until_flows(i, 15)
        i.until_published(n + 3)
        self.assertEqual(i.stop(), 0)

    def test_daemon_sleeps(self):
        # The driver writes on in its ring of buffers, also into buffers that the daemon has. No pair is dropped for
        # that.
        i = self.running()
        for _ in range(3):
            i.process.send_signal(signal.SIGSTOP)
            until(lambda: "T" in open("/proc/%d/stat" % i.process.pid).read().split()[2], 5, "stopped")
            run("sleep", 0.9 + 1 / FPS)
            i.process.send_signal(signal.SIGCONT)
            n = i.status()["frames"]["published"]
            i.until_published(n + 2)
        status = i.status()
        self.assertNotIn("which it does not have", i.text())
        self.assert_accounted(status)
        self.assertEqual(i.stop(), 0)


for each in FORMS:
    setattr(Loopback, "test_stixels_" + each.lower(), lambda self, fourcc=each: self.check_form(fourcc))
