# What `stixelctl doctor` says of pairs that come through a real driver: cameras in each other's place, one image twice,
# a cap, a camera that has sunk. The other faults are planted into the synthetic street (tests/tools/ctl).
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import tempfile

from guest import HERE, SIZE, TestCase, camera_settings, images, load, run, unload
from harness import until

LEFT, RIGHT = "/dev/video20", "/dev/video21"
FPS = 5
WIDTH = int(SIZE.partition("x")[0])
LOWER = 4  # rows


class Faults(TestCase):
    def setUp(self):
        super().setUp()
        load("v4l2loopback", "devices=2", "video_nr=20,21", "exclusive_caps=1,1")
        self.addCleanup(unload, "v4l2loopback")

    def changed(self, change):
        """The right images, each with its bytes changed."""
        folder, paths = tempfile.mkdtemp(), []
        for path in images("right", "grey"):
            paths.append(os.path.join(folder, os.path.basename(path)))
            with open(path, "rb") as f, open(paths[-1], "wb") as g:
                g.write(change(f.read()))
        return paths

    def check(self, left, right, level, said):
        feeder = self.start(HERE + "/feeder", "GREY", SIZE, FPS, LEFT, *left, "--", RIGHT, *right)
        for device in (LEFT, RIGHT):
            until(lambda: "Video Capture" in run("v4l2-ctl", "-d", device, "-D"), 5, "feeder")
        i = self.daemon(camera_settings(LEFT, RIGHT, fps=FPS, **{"output.planes": "pair"}))
        i.until_published(2, 20)
        checks = json.loads(run("stixelctl", "-i", "test", "doctor", "--json", check=False))["checks"]
        pictures = [(c["level"], c["text"]) for c in checks if c["check"] == "pictures"]
        self.assertEqual([p[0] for p in pictures], [level], pictures)
        self.assertRegex(pictures[0][1], said)
        self.assertEqual(i.stop(), 0)
        feeder.kill()
        feeder.wait()

    def test_sound_and_not(self):
        left, right = images("left", "grey"), images("right", "grey")
        self.check(left, right, "ok", "rows within 0")
        self.check(right, left, "problem", "left and right are exchanged")
        self.check(left, left, "problem", "both images are the same")
        self.check(left, self.changed(lambda i: bytes(len(i))), "problem", "the right image is black")
        self.check(left, self.changed(lambda i: i[:LOWER * WIDTH] + i[:-LOWER * WIDTH]), "warning",
                   r"rows are out of line: the right image is [34]\.\d px lower")
