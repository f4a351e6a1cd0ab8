# Tests stixel-process --motion: a camera that moves to the right before two planes, files, refusals, missing pairs.
# SPDX-License-Identifier: Apache-2.0
import csv
import math
import os
import random
import unittest

from support import Folder, run, texture, write_pgm

WIDTH, HEIGHT, FX, BASELINE = 320, 160, 300, 0.5
FAR, NEAR = 8, 16  # px: disparities of the upper and the lower half
CAMERA = ["-s", f"camera.fx={FX}", "-s", f"camera.fy={FX}", "-s", f"camera.cx={WIDTH / 2}", "-s",
          f"camera.cy={HEIGHT / 2}", "-s", f"camera.baseline_m={BASELINE}", "-s", "stereo.disparities=32"]
HEADER = "left,right,top,bottom,x,z,vx,vz,sxx,sxz,szz,state,object"


def smooth(rows):
    """Mean of 2x2, so that corners are where they seem to be."""
    pairs = zip(rows, rows[1:] + rows[:1])
    return [[(a[i] + a[i - 1] + b[i] + b[i - 1]) // 4 for i in range(len(a))] for a, b in pairs]


class Sequence(Folder):
    @classmethod
    def setUpClass(cls):
        cls.whole = smooth(texture(WIDTH + 200, HEIGHT, 5))

    def frame(self, number, baselines, noise=2):
        """Writes the pair of a camera that is this far to the right."""
        noises = random.Random(number)
        paths = []
        for side, at in (("left", baselines), ("right", baselines + 1)):
            rows = []
            for y, row in enumerate(self.whole):
                first = 50 + round(at * (FAR if y < HEIGHT // 2 else NEAR))
                rows.append([min(255, max(0, v + noises.randint(-noise, noise))) for v in row[first:first + WIDTH]])
            paths.append(self.path("in", f"{number:04d}_{side}.pgm"))
            write_pgm(paths[-1], rows)
        return paths

    def process(self, *args, want=0):
        r = run("stixel-process", *CAMERA, "-o", self.path("out"), *args)
        self.assertEqual(r.returncode, want, r.stderr)
        return r

    def ego(self, number):
        with open(self.path("out", f"{number:04d}.ego.txt")) as f:
            return [float(v) for v in f.read().split()]

    def line(self, r, number):
        lines = [i for i in r.stdout.splitlines() if i.startswith(f"{number:04d}_left: ")]
        self.assertEqual(len(lines), 2 if "unknown" in lines[1] else 3, r.stdout)
        return "\n".join(lines[1:])


class Motion(Sequence):
    def test_way_of_each_step(self):
        # steps of half a baseline and of one: 4 and 8 px far, 8 and 16 px near
        files = [f for n, at in enumerate([0, 0.5, 1, 2]) for f in self.frame(n, at)]
        r = self.process("--motion", *files)
        self.assertEqual(self.ego(0), [])
        self.assertIn("motion unknown: there is no pair before", self.line(r, 0))
        for n, way in ((1, 0.25), (2, 0.25), (3, 0.5)):
            pose = self.ego(n)
            self.assertEqual(len(pose), 12)
            for i, v in enumerate((way, 0, 0)):
                self.assertLess(abs(pose[4 * i + 3] - v), 0.03, pose)
            turn = math.degrees(math.acos(min(1, (pose[0] + pose[5] + pose[10] - 1) / 2)))
            self.assertLess(turn, 0.1)
            self.assertIn("features agree", self.line(r, n))
            self.assertIn("offset not measured: it needs 60 of the near road", self.line(r, n))
            with open(self.path("out", f"{n:04d}.offset.txt")) as f:
                self.assertEqual(f.read(), "")
        self.assertIn("range: not checked: too few features of the near road", r.stdout)

    def test_table_of_velocities(self):
        files = [f for n, at in enumerate([0, 0.5]) for f in self.frame(n, at)]
        self.process("--motion", *files)
        for n in (0, 1):
            with open(self.path("out", f"{n:04d}.motion.csv")) as f:
                self.assertEqual(f.readline().rstrip("\n"), HEADER)
                rows = [dict(zip(HEADER.split(","), row)) for row in csv.reader(f)]
            with open(self.path("out", f"{n:04d}_left.stixels.csv")) as f:
                objects = [r for r in csv.DictReader(f) if r["class"] == "object" and r["disparity"]]
            self.assertEqual(len(rows), len(objects))
            self.assertGreater(len(rows), 20)
            for row, stixel in zip(rows, objects):
                self.assertEqual((row["top"], row["bottom"]), (stixel["row_top"], stixel["row_bottom"]))
                known = row["vx"] != ""
                self.assertEqual(known, row["szz"] != "")
                self.assertIn(row["state"], ("0", "1", "2") if known else ("0",))
                self.assertNotEqual((n, known), (0, True))
                self.assertNotEqual(row["state"], "2")

    def test_reference_says_the_same(self):
        files = [f for n, at in enumerate([0, 0.5, 1]) for f in self.frame(n, at)]
        said = []
        for engine in ("cpu", "reference"):
            self.process("--motion", "-s", f"engine.backend={engine}", *files)
            for name in [f"{n:04d}.{what}" for n in range(3) for what in ("ego.txt", "motion.csv")]:
                with open(self.path("out", name)) as f:
                    said.append(f.read())
        self.assertEqual(said[:6], said[6:])
        self.assertEqual(len(self.ego(2)), 12)

    def test_repeated_image_is_refused(self):
        first, second = self.frame(0, 0), self.frame(1, 0.5)
        r = self.process("--motion", *first, *first, *second)
        self.assertIn("equal to the one before, byte by byte", r.stdout)
        self.assertEqual(len(self.ego(1)), 12)  # the pair after it is measured against the repeated one

    def test_pair_after_a_missing_one_looks_farther_back(self):
        files = [self.frame(n, 0.5 * n) for n in range(3)]
        os.remove(files[1][0])
        r = self.process("--motion", *(f for pair in files for f in pair), want=65)
        self.assertLess(abs(self.ego(2)[3] - 0.5), 0.03)
        self.assertIn("features agree", self.line(r, 2))

    def test_more_frames_per_second_look_farther_back(self):
        files = [f for n in range(5) for f in self.frame(n, 0.25 * n)]
        r = self.process("--motion", "--fps", "20", *files)
        for n in (0, 1):
            self.assertIn("there is no pair before", self.line(r, n))
        for n in (2, 3, 4):
            self.assertLess(abs(self.ego(n)[3] - 0.25), 0.03)

    def test_filter(self):
        """A thing that stands is no object, and the engines agree."""
        files = [f for n, at in enumerate([0, 0.5, 1, 1.5, 2]) for f in self.frame(n, at)]
        said, known = [], []
        for args in (["--motion"], ["--motion", "--motion-filter"],
                     ["--motion", "--motion-filter", "-s", "engine.backend=reference"]):
            self.process(*args, *files)
            with open(self.path("out", "0004.motion.csv")) as f:
                said.append(f.read())
            rows = list(csv.DictReader(said[-1].splitlines()))
            self.assertEqual(said[-1].splitlines()[0], HEADER)
            self.assertEqual({r["object"] for r in rows}, {"0"})
            self.assertNotIn("2", {r["state"] for r in rows})
            known.append(sum(r["state"] == "1" for r in rows))
            self.assertEqual(os.path.exists(self.path("out", "0004.objects.csv")), len(args) > 1)
        self.assertEqual(said[1], said[2])
        self.assertGreater(min(known), 100)
        with open(self.path("out", "0004.objects.csv")) as f:
            lines = f.read().splitlines()
        self.assertEqual(len(lines), 1)
        self.assertTrue(lines[0].startswith("object,state,x,y,z,"))
        self.assertEqual(len(self.ego(4)), 12)

    def test_no_camera(self):
        r = run("stixel-process", "--motion", "-o", self.path("out"), *self.frame(0, 0))
        self.assertEqual((r.returncode, r.stdout), (78, ""))
        self.assertIn("--motion needs the camera", r.stderr)

    def test_options(self):
        left, right = self.frame(0, 0)
        self.assertIn("--fps needs --motion", self.process("--fps", "10", left, right, want=64).stderr)
        self.assertIn("--motion-filter needs --motion",
                      self.process("--motion-filter", left, right, want=64).stderr)
        self.assertIn("--fps", self.process("--motion", "--fps", "0", left, right, want=64).stderr)
        self.process(left, right)
        self.assertFalse(os.path.exists(self.path("out", "0000.ego.txt")))
        # a daemon's configuration measures motion: the program does so only if it is asked to
        r = run("stixel-process", "-s", "motion.mode=filter", "-o", self.path("out"), left, right)
        self.assertEqual(r.returncode, 0, r.stderr)


if __name__ == "__main__":
    unittest.main()
