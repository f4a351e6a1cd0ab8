"""docs/use/first-camera.md, step by step: runs the commands as written on the page, with simulated cameras.

Two raw cameras look at a street, at a board, and at the street again. The street is the synthetic one, scaled to their
baseline. Only the simulated cameras know their pose.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import support
import stixel
from support import until

try:
    import cv2
except ImportError:
    print("OpenCV for Python is not installed (Debian package python3-opencv)")
    sys.exit(1 if os.environ.get("CI") else 77)

sys.path.insert(0, os.path.join(support.SOURCE, "tests"))
sys.path.insert(0, os.path.join(support.SOURCE, "tools", "calibrate"))
import board_scene  # noqa: E402
import doc_steps  # noqa: E402
from stixel_calibrate import board  # noqa: E402

PAGE = os.path.join(support.SOURCE, "docs", "use", "first-camera.md")
CALIBRATE = os.path.join(support.SOURCE, "tools", "calibrate", "stixel_calibrate")
STREET, STREET_FRAMES = (1280, 960), 6
BASELINE_M, HEIGHT_M = 0.54, 1.65  # baseline and camera height of the street, m
VIEWS = 40
FPS = 8
CHEAP = ["-s", "engine.threads=1", "-s", "stereo.disparities=64"]


def rectified_axes(rig):
    """Returns rotations from the axes of both raw cameras to the axes of a rectified pair."""
    x = -rig.r.T @ rig.t
    x /= np.linalg.norm(x)
    z = np.array([0, 0, 1]) + rig.r[2]
    y = np.cross(z, x)
    y /= np.linalg.norm(y)
    r = np.stack([x, y, np.cross(x, y)])
    return r, r @ rig.r.T


class PlayedCameras:
    """Simulated cameras: files of the images that they see, in the folders street and board of TOP."""

    def __init__(self, top, square_mm):
        self.top, self.square_mm = top, square_mm
        self.rig = board_scene.rig("plumb_bob")
        self.scale = np.linalg.norm(self.rig.t) / BASELINE_M
        self.random = np.random.default_rng(3)

    def write(self, what, number, pair):
        os.makedirs(os.path.join(self.top, what), exist_ok=True)
        for side, image in zip(("left", "right"), pair):
            cv2.imwrite("%s/%s/%s_%02d.png" % (self.top, what, side, number), image)

    def see_street(self, number, ideal):
        """Makes raw images of the street. ideal: (left, right, camera)."""
        left, right, camera = ideal
        raw = []
        for image, seen_by, r in zip((left, right), (self.rig.left, self.rig.right), rectified_axes(self.rig)):
            w, h = seen_by.size
            rays = seen_by._rays(np.stack(np.meshgrid(np.arange(w), np.arange(h)), -1).astype(float)) @ r.T
            x, y = (f * rays[..., i] / rays[..., 2] + c for i, (f, c) in enumerate(
                ((camera.fx, camera.cx), (camera.fy, camera.cy))))
            grey = cv2.remap(image, x.astype(np.float32), y.astype(np.float32), cv2.INTER_LINEAR)
            raw.append((grey + self.random.normal(0, 1, grey.shape)).clip(0, 255).astype(np.uint8))
        self.write("street", number, raw)

    def see_board(self):
        scene = board_scene.Scene(self.rig, board.Checkerboard((9, 6), self.square_mm), 11)
        for i in range(VIEWS):
            self.write("board", i, scene.pair(*scene.pose(0.4, 0.8, 35)))

    def source(self, what):
        """Returns a replacement for the lines of [source] that name cameras."""
        return "[source]\nkind = files\nleft = %s/%s/left_*.png\nright = %s/%s/right_*.png\nfps = %d\nloop = yes\n" % (
            self.top, what, self.top, what, FPS)


class FirstCamera(support.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, self.top)
        self.steps = doc_steps.blocks(PAGE)
        self.bin = os.path.join(self.top, "bin")
        os.mkdir(self.bin)
        os.symlink(support.STIXELCTL, self.bin + "/stixelctl")
        with open(self.bin + "/stixel-calibrate", "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\nexec %s %s \"$@\"\n" % (sys.executable, CALIBRATE))
        os.chmod(self.bin + "/stixel-calibrate", 0o755)
        calibrate = doc_steps.commands(self.steps[5])[1]
        self.cameras = PlayedCameras(self.top, float(re.search(r"--square ([\d.]+)", calibrate).group(1)))
        self.front = None

    def draw(self):
        d = self.daemon("street", "-s", "source.kind=synthetic", "-s", "source.size=%dx%d" % STREET, "-s",
                        "source.fps=1", "-s", "output.planes=pair", "-s", "output.planes_when=always",
                        "-s", "stereo.disparities=32", "-s", "stereo.paths=2")
        with stixel.open(d.name, images=["left", "right"]) as reader:
            for i in range(STREET_FRAMES):
                frame = reader.next(60)
                self.cameras.see_street(i, (frame.left, frame.right, frame.camera))
        d.stop()
        self.cameras.see_board()

    def shell(self, command, code=0):
        """Runs a command of the page in the folder of its files. Returns its output."""
        r = subprocess.run(["sh", "-c", command.replace("-i front", "-i " + self.front.name)], cwd=self.top, text=True,
                           capture_output=True, check=False, timeout=120,
                           env=self.front.client(PATH=self.bin + ":" + os.environ["PATH"], TERM="dumb"))
        self.assertEqual(r.returncode, code, "%s: %s%s" % (command, r.stdout, r.stderr))
        return r.stdout + r.stderr

    def configure(self, what, camera):
        with open(self.top + "/front.conf", "w", encoding="utf-8") as f:
            f.write(self.cameras.source(what) + camera)

    def start(self, command):
        """Starts the daemon with the page's command."""
        words = command.split()
        self.assertEqual(words[:3], ["stixeld", "-i", "front"])
        self.front.start(*[self.top + "/" + w if w == "front.conf" else w for w in words[3:]], *CHEAP)

    def pictures(self):
        """Waits for a picture with a known row error and returns its status. The row error of a third may be unknown.
        The state may change later."""
        def known():
            s = self.front.status()
            return s["pictures"]["row_error_px"]["all"] is not None and s["state"] != "starting" and s["pictures"]
        return until(known, 30, "row error")

    def test_the_page(self):
        self.front = support.Daemon("front")
        self.addCleanup(self.front.close)
        self.draw()
        two_cameras, side_by_side = doc_steps.configurations(self.steps[2])
        camera = two_cameras.partition("\n\n")[2]
        self.assertRegex(camera, r"^\[camera\]\nfx = 0\n")
        with open(self.top + "/one.conf", "w", encoding="utf-8") as f:
            f.write(side_by_side + camera)
        self.assertEqual(self.front.run_once("-c", self.top + "/one.conf", "--check-config"), (0, "", ""))

        # 2, 3: see what the cameras offer, and look at the picture
        self.configure("street", camera)
        self.assertIn("front.conf", self.shell(doc_steps.commands(self.steps[2])[-1]))
        begin, status, doctor, snapshot = doc_steps.commands(self.steps[3])
        self.start(begin)
        raw = self.pictures()
        self.assertLess(raw["density"], 0.5)
        self.assertRegex(self.shell(status), "row error")
        self.assertRegex(self.shell(doctor), "warning +pictures +.*rows")
        self.shell(snapshot)
        self.front.stop()

        # 5: the board; the program ends on its own (played cameras have no exposure, the subject of 4)
        self.configure("board", camera)
        self.start(begin)
        for command in doc_steps.commands(self.steps[5]):
            said = self.shell(command)
        self.assertRegex(said, "(?m)front.yaml is written.$")
        with stixel.open(self.front.name) as reader:  # already in use
            # the newest frame may still be the last one of the previous calibration
            frames = [reader.next(30) for _ in range(2)]
            self.assertTrue(frames[1].flags & stixel.FrameFlag.RECTIFIED)
        self.assertTrue({"board.svg", "calibrate.html", "front.yaml"} <= set(os.listdir(self.top)))

        # 6, 7: saved, so that the next start rectifies too
        for command in doc_steps.commands(self.steps[6]):
            said = self.shell(re.sub("height_m=.*", "height_m=%.3f" % (HEIGHT_M * self.cameras.scale), command))
        self.assertRegex(said, "^3 keys in .*/front.conf.d/90-live.conf\n$")
        self.front.stop()
        self.configure("street", camera)
        self.start(begin)
        good = self.pictures()
        self.assertIn("as they are raw by %s/front.yaml" % self.top, self.front.text())
        self.assertLess(max(abs(e) for e in good["row_error_px"].values() if e is not None), 0.3, good)
        self.assertGreater(good["density"], 0.7)
        self.assertGreater(good["density"], raw["density"] + 0.2)
        with stixel.open(self.front.name) as reader:
            # one height per picture: a single height may be off by a hundredth
            heights = [until(lambda: (lambda r: r.height_m if r.origin == stixel.RoadOrigin.MEASURED else None)(
                reader.next(10).road), 30, "a road") for _ in range(STREET_FRAMES)]
        self.assertAlmostEqual(np.median(heights) / (HEIGHT_M * self.cameras.scale), 1, delta=0.05)
        said = "".join(map(self.shell, doc_steps.commands(self.steps[7])))
        self.assertRegex(said, "ok +pictures")
        self.assertTrue(os.path.exists(self.top + "/now.png"))

        # 8: tuned and saved
        for command in doc_steps.commands(self.steps[8]):
            said = self.shell(command)
        self.assertIn("front.conf.d", said)
        self.front.stop()
        self.start(begin)
        self.assertRegex(self.shell("stixelctl -i front get stixels.width"), "= 8 ")
        self.assertEqual(self.front.stop(), 0)

        # 9: as a service, with its files in another folder
        etc = self.top + "/etc"
        os.mkdir(etc)
        *moves, check, enable, _ = doc_steps.commands(self.steps[9][:1])
        for command in moves:
            self.shell(command.replace("sudo ", "").replace("/etc/stixeld", etc))
        with open(etc + "/front.conf.d/90-live.conf", encoding="utf-8") as f:
            self.assertIn("calibration = %s/front.yaml\n" % etc, f.read())
        os.rename(self.top + "/front.yaml", self.top + "/moved.yaml")
        self.assertEqual(check, "stixeld -i front --check-config")
        self.assertEqual(self.front.run_once("-c", etc + "/front.conf", "--check-config"), (0, "", ""))
        self.assertEqual(enable, "sudo systemctl enable --now stixeld@front")


if __name__ == "__main__":
    unittest.main()
