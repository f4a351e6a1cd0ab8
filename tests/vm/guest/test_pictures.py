# Tests `stixelctl doctor` on pairs that come through a real driver, from a rig with one fault after another: one fault
# of each kind. tests/tools/ctl/test_doctor_pictures.py has every fault of the synthetic source
# (capture/scene/scene_fault.h). ../stereo_images.c has drawn the pairs.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import signal
import tempfile

from guest import HERE, IMAGES, TestCase, camera_settings, load, run, unload, until

LEFT, RIGHT = "/dev/video20", "/dev/video21"
SIZE = "256x128"
PAIRS = 16
FPS = 2

SAYS = {
    "none": ("ok", "4 pairs: rows within 0"),
    "swapped": ("problem", "left and right are exchanged"),
    "dark-right:0": ("problem", "the right image is black"),
    "rows:4": ("warning", r"rows are out of line: the right image is (3\.9|4\.[01]) px lower$"),
    "late-right:1": ("warning", r"images are not of the same time: things that move show the right one [1-9]\d\d "
                     "ms later"),
}


class Faults(TestCase):
    def setUp(self):
        super().setUp()
        load("v4l2loopback", "devices=2", "video_nr=20,21", "exclusive_caps=1,1")
        self.addCleanup(unload, "v4l2loopback")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.now = folder.name + "/now"  # a link to the current fault
        self.empty = folder.name + "/root"
        self.faults = folder.name + "/faults"  # in memory: a change of the fault delays no camera
        for new in (self.empty, self.faults):
            os.mkdir(new)
        run("tar", "-C", self.faults, "-xf", IMAGES + "/faults.tar")

    def play(self, fault):
        os.symlink(os.path.join(self.faults, fault), self.now + ".new")
        os.rename(self.now + ".new", self.now)

    def images(self, side):
        return ["%s/%s-%d.grey" % (self.now, side, n) for n in range(PAIRS)]

    def doctor(self):
        """Returns levels and sentences about pictures. No check of this machine takes time."""
        answer = run("stixelctl", "-i", "test", "doctor", "--json", check=False,
                     env=dict(os.environ, STIXEL_DOCTOR_ROOT=self.empty))
        return [(c["level"], c["text"]) for c in json.loads(answer)["checks"] if c["check"] == "pictures"]

    def test_each(self):
        self.assertEqual(sorted(next(os.walk(self.faults))[1]), sorted(SAYS))
        self.play("none")
        feeder = self.start(HERE + "/feeder", "GREY", SIZE, FPS, LEFT, *self.images("left"), "--",
                            RIGHT, *self.images("right"))
        for device in (LEFT, RIGHT):
            until(lambda: "Video Capture" in run("v4l2-ctl", "-d", device, "-D"), 5, "feeder")
        i = self.daemon(camera_settings(LEFT, RIGHT, fps=FPS, **{"output.planes": "pair"}), self.faults)
        for fault, (level, said) in SAYS.items():
            with self.subTest(fault):
                self.play(fault)
                feeder.send_signal(signal.SIGHUP)
                # wait until earlier pictures on their way are published
                i.until_published(i.status()["frames"]["published"] + 4, 60)
                found = self.doctor()
                self.assertEqual([f[0] for f in found], [level], found)
                self.assertRegex(found[0][1], "^" + said)
        self.assertEqual(i.stop(), 0)
