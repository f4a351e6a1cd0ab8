# Tests stixeld with cameras that are absent, or devices that are not cameras.
#
# SPDX-License-Identifier: Apache-2.0
import os
import time
import unittest

from harness import IDLE, TestCase, until

CAMERA = ["-s", "camera.fx=0", "-s", "camera.fy=0", "-s", "camera.baseline_m=0", "-s", "camera.cx=0",
          "-s", "camera.cy=0", "-s", "engine.threads=1", "-s", "stereo.disparities=32"]


class Absent(TestCase):
    def v4l2(self, i, *args, left="left", right="right", **more):
        """Starts a daemon with cameras in the instance's own folder. The names are relative to the folder."""
        left, right = (os.path.join(i.top, "dev", n) for n in (left, right))
        return i.start("-s", "source.kind=v4l2", "-s", "source.left=" + left, "-s", "source.right=" + right, *CAMERA,
                       *args, notify=True, **more)

    def check_absent(self, *args):
        i = self.v4l2(self.instance(), *args)
        s = i.until_state("no_camera")
        path = i.top + "/dev/left"
        self.assertEqual(s["reason"], path + ": No such file or directory")
        self.assertTrue(i.until_message("READY=1"))
        self.assertTrue(i.until_message("STATUS=no_camera: " + path))
        code, text = i.health()
        self.assertEqual(code, 503)
        self.assertIn(path, text)
        self.assertEqual(s["source"]["kind"], "v4l2")
        self.assertEqual(s["frames"]["captured"], 0)
        began = time.monotonic()
        self.assertEqual(i.stop(), 0)
        self.assertLess(time.monotonic() - began, 1 if IDLE else 3)
        self.assertEqual([f for f in i.leftovers() if not f.startswith("dev")], [])

    def test_absent(self):
        self.check_absent("-s", "source.size=160x96")

    def test_absent_and_of_any_size(self):
        self.check_absent()

    def test_the_heart_beats(self):
        i = self.v4l2(self.instance(), env={"WATCHDOG_USEC": "400000"})
        i.until_state("no_camera")
        i.until_message("READY=1")
        i.messages()
        time.sleep(1.0)
        self.assertGreaterEqual(sum("WATCHDOG=1" in m for m in i.messages()), 4)
        self.assertEqual(i.stop(), 0)

    def test_what_appears_is_tried_at_once(self):
        i = self.instance()
        os.mkdir(i.top + "/dev")
        self.v4l2(i)
        i.until_state("no_camera")
        time.sleep(3.3)  # attempts after 1 and 3 s; the next one is at 7 s
        with open(i.top + "/dev/left", "w"):
            pass
        began = time.monotonic()
        until(lambda: "left: not a V4L2 device" in i.status()["reason"], 30, "another reason")
        self.assertLess(time.monotonic() - began, 1 if IDLE else 3)
        # A later error does not end the daemon: the camera was right before, or may become right.
        self.assertEqual(i.status()["state"], "no_camera")
        self.assertEqual(i.stop(), 0)


class NoCameras(TestCase):
    def check(self, word, *args):
        i = self.instance()
        code, _, err = i.run_once("-s", "source.kind=v4l2", *CAMERA, *args)
        self.assertEqual(code, 78, err)
        self.assertIn(word, err)
        self.assertEqual([f for f in i.leftovers() if f != "file"], [])

    def test_devices_that_are_none(self):
        i = self.instance()
        path = os.path.join(i.top, "file")
        with open(path, "w"):
            pass
        self.check(path + ": not a V4L2 device", "-s", "source.left=" + path, "-s", "source.right=/dev/null")
        self.check("/dev/null: not a V4L2 device", "-s", "source.left=/dev/null", "-s", "source.layout=side-by-side")
        # the error must be reported before the daemon looks for the other camera
        self.check(path + ": not a V4L2 device", "-s", "source.left=" + path, "-s", "source.right=/dev/not-there")


if __name__ == "__main__":
    unittest.main()
