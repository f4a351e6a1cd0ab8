# Tests the steps of docs/use/first-camera.md with cameras: the commands of the page, and two raw cameras behind a real
# driver. The fourth step, which needs OpenCV, is missing: the cameras' file is the true one
# (tests/python/test_first_camera.py calibrates).
#
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import tempfile

import doc_steps
from guest import CHEAP, HERE, TestCase, images, load, run, unload, until

RAW = "/host/images/raw"
SIZE, FPS = "320x160", 5
LEFT, RIGHT = "/dev/video20", "/dev/video21"


class FirstCamera(TestCase):
    def setUp(self):
        super().setUp()
        load("v4l2loopback", "devices=2", "video_nr=20,21", "exclusive_caps=1,1")
        self.addCleanup(unload, "v4l2loopback")
        self.start(HERE + "/feeder", "YUYV", SIZE, FPS, LEFT, *images("left", "yuyv", RAW), "--", RIGHT,
                   *images("right", "yuyv", RAW))
        for device in (LEFT, RIGHT):
            until(lambda: "Video Capture" in run("v4l2-ctl", "-d", device, "-D"), 5, "feeder")
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.steps = doc_steps.blocks(HERE + "/first-camera.md")

    def configure(self, camera):
        """Writes the page's [source] with these cameras, and its [camera]."""
        source = doc_steps.configuration(self.steps[2]).partition("\n\n")[0]
        for was, now in (("/dev/v4l/by-path/...left...", LEFT), ("/dev/v4l/by-path/...right...", RIGHT),
                         ("1280x720", SIZE), ("= 30", "= %d" % FPS)):
            self.assertEqual(source.count(was), 1, was)
            source = source.replace(was, now)
        with open(self.folder + "/front.conf", "w") as f:
            f.write(source + "\n" + camera)

    def begin(self, command):
        args = command.split()
        self.assertEqual(args[:5], ["stixeld", "-i", "front", "-c", "front.conf"])
        return self.daemon(CHEAP, self.folder, name="front", config="front.conf", more=args[5:])

    def shell(self, command):
        return run("sh", "-c", command, cwd=self.folder)

    def pictures(self, i):
        return until(lambda: (lambda p: p if p["row_error_px"]["all"] is not None else None)(
            i.status()["pictures"]), 30, "a row error")

    def test_the_page(self):
        camera = doc_steps.configuration(self.steps[2]).partition("\n\n")[2]
        begin, status, doctor = doc_steps.commands(self.steps[3])

        # steps 2 and 3: list the modes, and look at a picture
        self.configure(camera)
        self.assertIn("YUYV", self.shell(*doc_steps.commands(self.steps[2])))
        i = self.begin(begin)
        raw = self.pictures(i)
        self.assertGreater(max(abs(e) for e in raw["row_error_px"].values() if e is not None), 1)
        i.until_state("degraded", 60)
        self.assertIn("calibrate again", " ".join(self.shell(status).split()))
        self.assertRegex(self.shell(doctor), "warning +pictures +.*rows")

        # steps 5 and 6: rectify as stixel-calibrate advises, and keep it for the next start
        shutil.copy(RAW + "/stereo.yaml", self.folder + "/front.yaml")
        self.shell("stixelctl -i front set camera.calibration=%s/front.yaml camera.rectify=auto" % self.folder)
        for command in doc_steps.commands(self.steps[5]):
            said = self.shell(command.replace("height_m=1.2", "height_m=1.65"))
        self.assertIn("90-live.conf", said)
        self.assertEqual(i.stop(), 0)
        i = self.begin(begin)
        good = self.pictures(i)
        self.assertIn("as they are raw by", i.text())
        self.assertLess(max(abs(e) for e in good["row_error_px"].values() if e is not None), 0.3)
        self.assertGreater(good["density"], max(0.7, raw["density"]))
        said = "".join(map(self.shell, doc_steps.commands(self.steps[6])))
        self.assertRegex(said, "ok +pictures")
        self.assertTrue(os.path.exists(self.folder + "/now.png"))

        # step 7: tune, and keep the values
        for command in doc_steps.commands(self.steps[7]):
            said = self.shell(command)
        self.assertIn("front.conf.d", said)
        self.assertEqual(i.stop(), 0)
        printed = run("stixeld", "-c", self.folder + "/front.conf", "-i", "front", "--print-config")
        self.assertRegex(printed, r"width = 8\b")
