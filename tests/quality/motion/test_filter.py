# Tests stixel-process --motion-filter on a drawn street that people and cyclists cross: more is known than pairs know,
# no more of what stands is called moving, and the table of objects agrees with that of the stixels.
# usage: test_filter.py MOTION_FRAMES STIXEL_PROCESS
# SPDX-License-Identifier: Apache-2.0
import csv
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np

    import measure
except ImportError:
    sys.exit(77)

# (key, least, most) on this street; in brackets: pairs, and the filter when the limits were set
LIMITS = [
    ("near_known", 75, 100),  # (27, 84)
    ("near_error", 0, 0.2),  # (0.22, 0.09)
    ("far_known", 50, 100),  # (32, 66)
    ("false_near_true", 0, 0.5),  # (0.02, 0.12)
    ("false_far_true", 0, 0.5),  # (0.02, 0.03)
    ("missed", 0, 4),  # (2.2, 2.5)
    ("ahead_median", 0, 0.25),  # (0.25, 0.15)
    ("things_false_true", 0, 5),  # (0, 0)
]
programs = None


class Filter(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.sequence = os.path.join(cls.folder.name, "sequence")
        options = next(o for _, name, o in measure.sequences() if name == "crossing-10-14")
        subprocess.run([programs[0]] + options + [cls.sequence], check=True)
        cls.results = []
        for find in (measure.process, measure.process_filtered):
            cls.results.append(os.path.join(cls.folder.name, find.__name__))
            os.makedirs(cls.results[-1])
            find(programs[1], {"SEQUENCE": cls.sequence, "RESULT": cls.results[-1]})

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def read(self, n, what):
        with open(os.path.join(self.results[1], f"{n:04d}.{what}")) as f:
            return list(csv.DictReader(f))

    def test_figures(self):
        figures = []
        for result in self.results:
            tally = measure.Tally()
            tally.add(measure.Sequence(self.sequence), result)
            figures.append(tally.figures())
        for key, least, most in LIMITS:
            self.assertGreaterEqual(figures[1][key], least, key)
            self.assertLessEqual(figures[1][key], most, key)
        self.assertGreater(figures[1]["near_known"], figures[0]["near_known"] + 20)
        self.assertGreater(figures[1]["far_known"], figures[0]["far_known"] + 10)

    def test_steps_are_those_of_the_pairs(self):
        for n in range(24):
            said = []
            for result in self.results:
                with open(os.path.join(result, f"{n:04d}.ego.txt"), "rb") as f:
                    said.append(f.read())
            self.assertEqual(said[0], said[1])

    def test_first_frame_says_nothing(self):
        self.assertEqual({s["state"] for s in self.read(0, "motion.csv")}, {"0"})
        self.assertEqual(self.read(0, "objects.csv"), [])

    def test_objects_and_stixels_agree(self):
        first = {}
        for n in range(24):
            stixels, objects = self.read(n, "motion.csv"), {o["object"]: o for o in self.read(n, "objects.csv")}
            self.assertLessEqual(len(objects), 64)
            for name, o in objects.items():
                self.assertEqual(len([s for s in stixels if s["object"] == name]), int(o["stixels"]))
                self.assertLess(float(o["unseen"]), 0.6)
                # the object was there when the filter says so
                born = n - round(10 * float(o["age"]))
                self.assertEqual(first.setdefault(name, born), born)
                c = np.array([[float(o["sxx"]), float(o["sxz"])], [float(o["sxz"]), float(o["szz"])]])
                self.assertTrue(np.all(np.linalg.eigvalsh(c) > 0))
                for a, b in (("x", "vx"), ("z", "vz")):
                    self.assertAlmostEqual(float(o["ahead_" + a]), float(o[a]) + 0.5 * float(o[b]), 2)
                for a in ("xx", "zz"):
                    self.assertGreater(float(o["a" + a]), float(o["p" + a]))
            for s in stixels:
                if s["object"] != "0":
                    self.assertIn(s["object"], objects)
                if s["state"] == "2":
                    self.assertNotEqual(s["object"], "0")
                    self.assertEqual(objects[s["object"]]["vx"], s["vx"])
        self.assertGreaterEqual(len(first), 3)


if __name__ == "__main__":
    programs = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
