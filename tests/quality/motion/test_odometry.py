# The pose that stixel-bridge adds up from the steps of a real daemon (odometry of ROS 2), against the truth of drawn
# drives. Pairs have exact capture times, and the daemon gets each when it has published the one before, so that a busy
# machine changes nothing.
#
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import time

sys.path.insert(0, os.path.join(os.environ["STIXEL_SOURCE"], "tests", "python"))
import support  # noqa: E402

import numpy as np  # noqa: E402
try:
    from PIL import Image
except ImportError:
    print("Pillow is not installed (Debian package python3-pil)")
    sys.exit(77)

import measure  # noqa: E402
import stixel  # noqa: E402
from stixel_bridge.trajectory import Trajectory  # noqa: E402

FRAMES = os.environ["STIXEL_MOTION_FRAMES"]
SIZE = (560, 180)
SETTINGS = ["-s", "source.kind=shared", "-s", "motion.mode=filter", "-s", "engine.backend=cpu", "-s",
            "engine.threads=2", "-s", "stereo.disparities=64"]
SURE = 16.8  # 99 % of the squared distances of Mahalanobis with six degrees of freedom are below


def turn_of(rotation):
    """Returns the rotation vector of a small rotation."""
    return np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0],
                     rotation[1, 0] - rotation[0, 1]]) / 2


class Drives(support.TestCase):
    def poses(self, scene, seed, fps, count, missing=(), covered=()):
        """Returns (number, frame, pose or None) of each frame of a drive, and the truth."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([FRAMES, "--scene", scene, "--seed", str(seed), "--fps", str(fps), "--size", "%dx%d" % SIZE,
                            "-n", str(count), folder], check=True)
            truth = measure.Sequence(folder)
            pairs = [[np.asarray(Image.open(os.path.join(folder, "%04d_%s.png" % (k, side))))
                      for side in ("left", "right")] for k in range(count)]
        c = truth.calibration
        daemon = support.Daemon("odometry")
        self.addCleanup(daemon.close)
        daemon.start(*SETTINGS, "-s", "camera.height_m=%r" % c["height_m"])
        patch = unittest.mock.patch.dict(os.environ, XDG_RUNTIME_DIR=daemon.user)
        patch.start()
        self.addCleanup(patch.stop)
        writer = stixel.PairWriter(daemon.name, *SIZE, fps=fps, simulated=True,
                                   camera=[c[key] for key in ("fx", "fy", "cx", "cy", "baseline_m")])
        self.addCleanup(writer.close)
        self.assertTrue(writer.connect(30))
        way, found, reader, begin = Trajectory(), [], None, time.monotonic_ns() - 30 * 10**9
        for k in range(count):
            if k in missing:
                continue
            at = begin + round(k * 1e9 / fps)
            left, right = [image * (k not in covered) for image in pairs[k]]
            self.assertTrue(writer.write(left, right, at, at, timeout=30))
            if reader is None:
                daemon.until_published(1)
                reader = stixel.open(daemon.name)
                self.addCleanup(reader.close)
            frame = reader.next(30)
            self.assertEqual(frame.capture_left_ns, at)
            found.append((k, frame, way.take(frame)))
        return found, truth.poses

    def errors(self, found, poses, fps):
        """Returns (number, way from the first, error of place, m, and turn, degrees, squared distance, pose)."""
        known = [one for one in found if one[2] is not None]
        first = known[0][0] - round(known[0][1].ego.seconds * fps)
        made = []
        for k, _, p in known:
            truth = np.linalg.inv(poses[first]) @ poses[k]
            place, turn = p.place - truth[:3, 3], turn_of(p.turn @ truth[:3, :3].T)
            off = np.concatenate([place, turn])
            made.append((k, np.linalg.norm(truth[:3, 3]), np.linalg.norm(place), np.degrees(np.linalg.norm(turn)),
                         off @ np.linalg.solve(p.covariance, off), p))
        return made

    def check(self, made, poses):
        for k, way, place, turn, square, _ in made:
            self.assertLess(place, 0.03 + 0.004 * way, k)
            self.assertLess(turn, 0.4, k)
            self.assertLess(square, SURE, k)
        for (k, *_, before), (n, *_, p) in zip(made, made[1:]):  # steps that overlap do not make the pose jump
            truth = (np.linalg.inv(poses[k]) @ poses[n])[:3, 3]
            self.assertLess(np.linalg.norm(before.turn.T @ (p.place - before.place) - truth), 0.03, n)

    def test_drives(self):
        for scene, seed, fps, count in (("traffic", 2, 10, 24), ("bend", 4, 30, 60), ("traffic", 3, 20, 40)):
            with self.subTest(scene, fps=fps):
                found, poses = self.poses(scene, seed, fps, count)
                made = self.errors(found, poses, fps)
                self.assertGreaterEqual(len(made), count - 3)
                self.assertGreater(made[-1][1], 15)
                self.check(made, poses)
                p, span = made[-1][-1], found[-1][1].ego.seconds
                truth = np.linalg.inv(poses[-1 - round(span * fps)]) @ poses[-1]
                self.assertLess(np.linalg.norm(p.velocity[:3] - truth[:3, 3] / span), 0.5)  # it turned meanwhile

    def test_frames_that_are_missing(self):
        found, poses = self.poses("bend", 4, 30, 60, missing=range(6, 60, 7))
        made = self.errors(found, poses, 30)
        self.assertGreater(len(made), 45)
        self.check(made, poses)

    def test_a_covered_camera(self):
        """No pose while the images are black. The first pose afterwards is off by no more than its covariance says."""
        covered = range(24, 36)
        found, poses = self.poses("bend", 4, 30, 54, covered=covered)
        self.assertEqual([k for k, _, p in found if p is not None and k in covered], [])
        made = self.errors(found, poses, 30)
        before, after = ([one for one in made if (one[0] > covered[0]) == later] for later in (False, True))
        self.assertGreaterEqual(min(len(before), len(after)), 12)
        self.check(before, poses)
        for k, _, place, _, square, p in after:
            self.assertLess(square, SURE, k)
            self.assertLess(place, 0.5, k)
            self.assertGreater(np.trace(p.covariance), 2 * np.trace(before[-1][-1].covariance))


if __name__ == "__main__":
    unittest.main()
