# Tests the measure of motion: by results without error, and by results with errors of known number and size.
# usage: test_measure.py [MOTION_FRAMES]
# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
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

WIDTH, HEIGHT, STEP, FRAMES, FPS = 480, 60, 4, 12, 10.0
# Columns of each thing, and its place and velocity in the world at frame 0: x, z, vx, vz. 0: the standing world.
THINGS = {
    1: (0, 120, -3.0, 9.0, 3.0, 1.0),
    2: (120, 240, 3.0, 28.0, -1.0, 6.0),
    3: (240, 260, 1.0, 14.0, 0.0, 0.0),  # stands
    4: (260, 280, 1.0, 14.0, 0.6, 0.0),  # neither stands nor moves
}
STANDING = {280: 12.0, 380: 30.0}  # from these columns on, at this distance
program = None


def pose(n):
    """Returns the camera of frame n: it goes ahead by 0.8 m a frame, and turns by 2 degrees."""
    a = np.radians(2.0 * n)
    m = np.eye(4)
    m[:3, :3] = [[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]]
    m[:3, 3] = [0.02 * n * n, -1.6, 0.8 * n]
    return m


def state_of(n, i):
    """Returns x, z, vx, vz of a thing in the axes of frame n."""
    x, z, vx, vz = THINGS[i][2:]
    back = np.linalg.inv(pose(n))
    at = back @ [x + vx * n / FPS, 0, z + vz * n / FPS, 1]
    v = back[:3, :3] @ [vx, 0, vz]
    return at[0], at[2], v[0], v[2]


def numbers(values):
    return " ".join("%.12g" % v for v in values)


def write_sequence(folder):
    os.makedirs(folder)
    with open(os.path.join(folder, "calib.txt"), "w") as f:
        f.write("fx: 700\nfy: 700\ncx: 239.5\ncy: 29.5\nbaseline_m: 0.5\nfps: %g\ndisparity_offset_px: 0.5\n" % FPS)
    shown = np.zeros((HEIGHT, WIDTH), ">u2")
    for i, (left, right, *_) in THINGS.items():
        shown[:, left:right] = i
    with open(os.path.join(folder, "poses.txt"), "w") as poses, open(os.path.join(folder, "objects.txt"), "w") as f:
        for n in range(FRAMES):
            poses.write(numbers((np.linalg.inv(pose(0)) @ pose(n))[:3].ravel()) + "\n")
            for i in THINGS:
                f.write("%d %d %s 1000 0 car 4 2 1.5\n" % (n, i, numbers(state_of(n, i))))
            with open(os.path.join(folder, "%04d_thing.pgm" % n), "wb") as image:
                image.write(b"P5\n%d %d\n65535\n" % (WIDTH, HEIGHT) + shown.tobytes())


def right_answers():
    """Returns a result without error: a table per frame, the camera's steps, and the offsets."""
    tables = []
    for n in range(FRAMES):
        t = {k: np.zeros(WIDTH // STEP) for k in measure.COLUMNS}
        t["left"] = np.arange(0, WIDTH, STEP)
        t["right"], t["top"], t["bottom"] = t["left"] + STEP, t["top"] + 10, t["bottom"] + 50
        t["sxx"], t["szz"] = t["sxx"] + 1e-6, t["szz"] + 1e-6
        for first, z in STANDING.items():
            t["z"][t["left"] >= first] = z
        t["state"][:] = 1
        for i, (left, right, *_) in THINGS.items():
            mine = (t["left"] >= left) & (t["left"] < right)
            x, z, vx, vz = state_of(n, i)
            t["x"][mine], t["z"][mine], t["vx"][mine], t["vz"][mine] = x, z, vx, vz
            if i < 3:
                t["state"][mine], t["object"][mine] = 2, i
        tables.append(t)
    steps = [None] + [np.linalg.inv(pose(n - 1)) @ pose(n) for n in range(1, FRAMES)]
    return tables, steps, [0.5] * FRAMES


def write_result(folder, tables, steps, offsets):
    os.makedirs(folder)
    for n, t in enumerate(tables):
        with open(os.path.join(folder, "%04d.motion.csv" % n), "w") as f:
            f.write(",".join(measure.COLUMNS) + "\n")
            for k in range(len(t["left"])):
                f.write(",".join("" if np.isnan(t[c][k]) else "%.9g" % t[c][k] for c in measure.COLUMNS) + "\n")
        if steps[n] is not None:
            with open(os.path.join(folder, "%04d.ego.txt" % n), "w") as f:
                f.write(numbers(steps[n][:3].ravel()))
        if offsets[n] is not None:
            with open(os.path.join(folder, "%04d.offset.txt" % n), "w") as f:
                f.write("%g" % offsets[n])


class Measure(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.sequence = os.path.join(self.folder.name, "sequence")
        write_sequence(self.sequence)
        self.answers = right_answers()
        self.count = 0

    def tearDown(self):
        self.folder.cleanup()

    def judge(self):
        """Returns the figures, the rows over their limits, and the tally."""
        self.count += 1
        result = os.path.join(self.folder.name, "result%d" % self.count)
        write_result(result, *self.answers)
        tally = measure.Tally()
        tally.add(measure.Sequence(self.sequence), result)
        figures = tally.figures()
        return figures, [r.key for r in measure.ROWS if not measure.is_within(r, figures[r.key])], tally

    def stixels(self, of, n=None):
        """Returns (table, indices) for the stixels of a thing, or of the standing world from a column on."""
        first, last = THINGS[of][:2] if of in THINGS else (of, min([c for c in STANDING if c > of] + [WIDTH]))
        every = range(FRAMES) if n is None else [n]
        return [(self.answers[0][k], np.arange(first // STEP, last // STEP)) for k in every]

    def test_the_truth_has_no_error(self):
        f, over, tally = self.judge()
        for key in ("near_error", "far_error", "missed", "false_near", "false_far", "ahead_median", "ahead_mean",
                    "things_missed", "things_false", "things_switched", "chain", "offset"):
            self.assertAlmostEqual(f[key], 0, 5, key)
        for key in ("near_known", "far_known", "sigma_1", "sigma_2", "sigma_3"):
            self.assertEqual(f[key], 100, key)
        self.assertEqual(over, ["sigma_1"])  # it could have been surer
        self.assertEqual(tally.things, 2 * FRAMES)
        self.assertEqual(len(tally.moving), 60 * FRAMES)
        self.assertEqual(len(tally.standing), (5 + 25 + 25) * FRAMES)  # thing 4 is missing
        self.assertEqual(len(tally.ahead), 60 * (FRAMES - 5))

    def test_noise_of_known_size(self):
        random = np.random.default_rng(1)
        c = np.array([[0.04, 0.03], [0.03, 0.09]])
        for i in (1, 2):
            for t, k in self.stixels(i):
                noise = random.multivariate_normal([0, 0], c, len(k))
                t["vx"][k] += noise[:, 0]
                t["vz"][k] += noise[:, 1]
                t["sxx"][k], t["sxz"][k], t["szz"][k] = c[0, 0], c[0, 1], c[1, 1]
        f, over, _ = self.judge()
        for key, share in (("sigma_1", 39.3), ("sigma_2", 86.5), ("sigma_3", 98.9)):
            self.assertAlmostEqual(f[key], share, delta=5, msg=key)
        self.assertEqual(over, [])
        for i in (1, 2):  # covariances a quarter as large as they are
            for t, k in self.stixels(i):
                for name in ("sxx", "sxz", "szz"):
                    t[name][k] /= 4
        f, over, _ = self.judge()
        self.assertAlmostEqual(f["sigma_2"], 39.3, delta=5)
        self.assertEqual(over, ["sigma_1", "sigma_2"] if f["sigma_1"] < 35 else ["sigma_2"])

    def test_a_covariance_that_is_none(self):
        for t, k in self.stixels(1):
            t["sxx"][k] = np.nan
        for t, k in self.stixels(2):
            t["sxz"][k] = 1
        f, _, _ = self.judge()
        self.assertEqual([f["sigma_%d" % k] for k in (1, 2, 3)], [0, 0, 0])

    def test_a_wrong_velocity(self):
        for t, k in self.stixels(1):
            t["vx"][k] += 0.6
            t["vz"][k] -= 0.8
        for t, k in self.stixels(2):
            t["vz"][k] += 2
        f, over, _ = self.judge()
        self.assertAlmostEqual(f["near_error"], 1, 4)
        self.assertAlmostEqual(f["far_error"], 2, 4)
        self.assertAlmostEqual(f["ahead_mean"], 0.75, 4)
        self.assertEqual(f["near_known"], 100)
        for key in ("near_error", "far_error", "ahead_median", "ahead_mean", "sigma_2"):
            self.assertIn(key, over)

    def test_missed_movers(self):
        for t, k in self.stixels(1):
            t["state"][k[:6]] = 1  # of 60 that are faster than 2 m/s
        f, over, _ = self.judge()
        self.assertEqual(f["missed"], 10)
        self.assertEqual(f["things_missed"], 0)
        self.assertEqual([k for k in over if k != "sigma_1"], ["missed"])

    def test_missed_things(self):
        for t, k in self.stixels(2):
            t["object"][k[:16]] = 0
        f, over, tally = self.judge()
        self.assertEqual(tally.missed, FRAMES)
        self.assertEqual(f["things_missed"], 50)
        self.assertIn("things_missed", over)

    def test_things_without_stixels(self):
        for t in self.answers[0][:5]:
            gone = t["left"] < 120
            for name in measure.COLUMNS:
                t[name] = t[name][~gone]
        f, over, tally = self.judge()
        self.assertEqual((tally.things, tally.missed), (2 * FRAMES, 5))
        self.assertIn("things_missed", over)

    def test_false_movers_at_wrong_distances(self):
        """Half of the world's near stixels move by the result; most of them are not at the distance of their pixels."""
        disparity = np.zeros((HEIGHT, WIDTH), ">u2")
        for first, z in STANDING.items():
            disparity[:, first:] = int(256 * 700 * 0.5 / z)
        disparity[:, 296:380] = int(256 * 700 * 0.5 / 25)
        for n in range(FRAMES):
            with open(os.path.join(self.sequence, "%04d_truth.pgm" % n), "wb") as image:
                image.write(b"P5\n%d %d\n65535\n" % (WIDTH, HEIGHT) + disparity.tobytes())
        for t, k in self.stixels(280):  # 25 stixels; the first 4 of them are at their distance
            t["state"][k[2:14]], t["object"][k[2:14]] = 2, 7
        f, over, _ = self.judge()
        self.assertAlmostEqual(f["false_near"], 100 * 12 / 30)
        self.assertAlmostEqual(f["false_near_true"], 100 * 2 / 4)
        self.assertEqual((f["things_false"], f["things_false_true"]), (50, 0))  # 2 stixels are too few for an object
        self.assertIn("false_near", over)
        self.assertNotIn("false_near_true", over)

    def test_false_movers(self):
        for t, k in self.stixels(280, 3) + self.stixels(280, 4):
            t["state"][k[:3]] = 2
        t, k = self.stixels(380, 5)[0]
        t["state"][k] = 2
        t["object"][k[:4]] = 77
        t["object"][k[4:6]] = 78  # too few stixels to be judged
        f, over, tally = self.judge()
        self.assertAlmostEqual(f["false_near"], 100 * 6 / (30 * FRAMES))
        self.assertAlmostEqual(f["false_far"], 100 / FRAMES)
        self.assertEqual(tally.false, 1)
        self.assertAlmostEqual(f["things_false"], 100 / (2 * FRAMES))
        self.assertEqual([k for k in over if k != "sigma_1"], ["false_near", "false_far"])

    def test_switched_identities(self):
        for n in range(6, FRAMES):
            for i in (1, 2):
                t, k = self.stixels(i, n)[0]
                t["object"][k] = 3 - i
        f, over, tally = self.judge()
        self.assertEqual(tally.switched, 2)
        self.assertAlmostEqual(f["things_switched"], 100 * 2 / (2 * FRAMES))
        self.assertIn("things_switched", over)

    def test_an_identity_that_another_thing_had(self):
        for n in range(FRAMES):
            (t, k), (_, other) = self.stixels(1, n)[0], self.stixels(2, n)[0]
            t["object"][k if n >= 6 else other] = 0  # thing 1 until frame 5, thing 2 after it
            t["object"][other] = 0 if n < 6 else 1
        _, _, tally = self.judge()
        self.assertEqual((tally.switched, tally.missed), (1, FRAMES))

    def test_everything_stands_still(self):
        for t in self.answers[0]:
            t["state"][:], t["object"][:] = 1, 0
            t["vx"][:], t["vz"][:] = 0, 0
        self.answers = (self.answers[0], [None] + [np.eye(4)] * (FRAMES - 1), [0] * FRAMES)
        f, over, _ = self.judge()
        self.assertEqual((f["missed"], f["things_missed"]), (100, 100))
        self.assertEqual((f["false_near"], f["false_far"]), (0, 0))
        self.assertGreater(f["chain"], 90)
        for key in ("near_error", "far_error", "missed", "ahead_median", "ahead_mean", "things_missed", "chain",
                    "offset"):
            self.assertIn(key, over)

    def test_unknown_answers_are_never_right(self):
        for t in self.answers[0]:
            t["state"][:] = 0
        f, over, tally = self.judge()
        self.assertEqual((f["near_known"], f["far_known"], f["missed"], f["false_near"]), (0, 0, 0, 0))
        self.assertEqual((f["near_error"], f["far_error"]), (np.inf, np.inf))
        self.assertEqual((len(tally.moving), len(tally.ahead)), (60 * FRAMES, 0))
        for key in ("near_known", "near_error", "far_known", "far_error", "sigma_1", "sigma_2", "ahead_median"):
            self.assertIn(key, over)

    def test_an_empty_velocity_is_unknown_whatever_its_state(self):
        for t, k in self.stixels(1):
            t["vx"][k[:15]] = np.nan
        for t, k in self.stixels(280):
            t["vz"][k[:5]], t["state"][k[:5]] = np.nan, 2
        f, over, _ = self.judge()
        self.assertEqual((f["near_known"], f["false_near"]), (50, 0))
        self.assertIn("near_known", over)

    def test_an_unknown_camera_has_not_moved(self):
        steps = list(self.answers[1])
        steps[4] = None
        self.answers = (self.answers[0], steps, self.answers[2])
        f, over, tally = self.judge()
        self.assertEqual((tally.steps, tally.steps_known), (FRAMES - 1, FRAMES - 2))
        self.assertGreater(f["chain"], 5)
        self.assertIn("chain", over)

    def test_steps_that_are_too_long(self):
        steps = [None]
        for s in self.answers[1][1:]:
            s = s.copy()
            s[:3, 3] *= 1.01
            steps.append(s)
        self.answers = (self.answers[0], steps, self.answers[2])
        f, over, _ = self.judge()
        self.assertAlmostEqual(f["chain"], 1, delta=0.03)
        self.assertIn("chain", over)

    def test_the_offset(self):
        for found, error in (([0.6] * FRAMES, 0.1), ([0] * 7 + [0.45] * 5, 0.05), ([0.2] * FRAMES, 0.3),
                             ([None] * FRAMES, np.inf), ([0.5] * 9 + [None] * 3, np.inf)):
            self.answers = (self.answers[0], self.answers[1], found)
            f, over, _ = self.judge()
            self.assertAlmostEqual(f["offset"], error)
            self.assertEqual("offset" in over, error > 0.15)

    def test_no_result_at_all(self):
        tally = measure.Tally()
        tally.add(measure.Sequence(self.sequence), os.path.join(self.folder.name, "none"))
        f = tally.figures()
        # there is nothing false in no result
        self.assertEqual([r.key for r in measure.ROWS if measure.is_within(r, f[r.key])],
                         ["things_false", "things_false_true", "things_switched"])

    def test_stixels_of_two_things_are_not_judged(self):
        for t in self.answers[0]:
            t["left"][29], t["right"][29] = 116, 124  # half thing 1, half thing 2
            t["left"][30], t["right"][30] = 118, 123  # three fifths thing 2
        _, _, tally = self.judge()
        self.assertEqual(len(tally.moving), 59 * FRAMES)

    def test_a_thing_that_turns(self):
        with open(os.path.join(self.sequence, "objects.txt")) as f:
            lines = f.read().split("\n")
        with open(os.path.join(self.sequence, "objects.txt"), "w") as f:
            for line in lines[:-1]:
                v = line.split()
                v[7] = "0.5" if v[1] == "1" else v[7]
                f.write(" ".join(v) + "\n")
        for t, k in self.stixels(1):  # points 2 m ahead and 1 m to the right of its middle
            t["x"][k] += 1
            t["z"][k] += 2
            t["vx"][k] += 0.5 * 2
            t["vz"][k] -= 0.5 * 1
        f, _, _ = self.judge()
        self.assertAlmostEqual(f["near_error"], 0, 5)

    def test_a_table_without_a_column(self):
        path = os.path.join(self.folder.name, "0000.motion.csv")
        with open(path, "w") as f:
            f.write("left,right,top,bottom,x,z,vx,vz,state,object\n")
        with self.assertRaisesRegex(ValueError, "no column sxx, sxz, szz"):
            measure.read_stixels(path)


class Sequences(unittest.TestCase):
    def test_arguments_of_stixel_process(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("0001_left.png", "0001_right.png", "0000_left.png", "0000_right.png", "poses.txt",
                         "objects.txt"):
                open(os.path.join(folder, name), "w").close()
            with open(os.path.join(folder, "calib.txt"), "w") as f:
                f.write("fx: 430\nfy: 431\ncx: 319.5\ncy: 2\nbaseline_m: 0.075\nheight_m: 0.31\nfps: 30\n")
            args = measure.process_arguments("process", folder, "out")
        self.assertEqual(args[:8], ["process", "-o", "out", "--motion", "--fps", "30", "-s", "engine.backend=cpu"])
        self.assertEqual(args[9:20:2], ["camera.fx=430.000001", "camera.fy=431", "camera.cx=319.5", "camera.cy=2",
                                        "camera.baseline_m=0.075", "camera.height_m=0.31"])
        self.assertEqual([os.path.basename(a) for a in args[20:]],
                         ["0000_left.png", "0000_right.png", "0001_left.png", "0001_right.png"])

    def test_forty_seeds_at_both_rates(self):
        every = measure.sequences()
        names = [s[1] for s in every]
        self.assertEqual(len(names), len(set(names)))
        for scene in ("traffic", "crossing", "bend", "yard"):
            for fps in (10, 30):
                mine = [s[2] for s in every if s[0] == "%s %d" % (scene, fps)]
                self.assertEqual({o[o.index("--seed") + 1] for o in mine}, {str(k) for k in range(1, 41)})
        self.assertEqual(len(measure.chosen("bend shift")), 3)

    def test_programs_that_draw_and_judge(self):
        """A sequence of motion-frames, judged by its own answers: no error, and an error if they are turned off."""
        if not program:
            self.skipTest("without motion-frames")
        with tempfile.TemporaryDirectory() as folder:
            sequence, answers = os.path.join(folder, "s"), os.path.join(folder, "a")
            subprocess.run([program, "--scene", "bend", "--seed", "3", "--start", "5", "-n", "8", "--size", "414x125",
                            "--fps", "10", "--shift", "0.5", "--answers", answers, sequence], check=True)
            tally = measure.Tally()
            tally.add(measure.Sequence(sequence), answers)
            f = tally.figures()
            self.assertGreater(len(tally.moving), 100)
            self.assertGreater(len(tally.standing), 1000)
            # distances of stixels have steps of 1/128 px, which matters where things turn
            for key in ("near_error", "far_error", "missed", "false_near", "false_far", "things_missed", "things_false",
                        "things_switched", "chain", "offset"):
                self.assertLess(f[key], 0.01, key)
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                self.assertEqual(measure.main(["judge", sequence, os.path.join(folder, "none")]), 1)
            self.assertEqual(printed.getvalue().count("OVER"), len(measure.ROWS) - 3)

    def test_a_command_for_each_sequence(self):
        if not program:
            self.skipTest("without motion-frames")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            # a result that knows nothing
            status = measure.main(["run", program, "test -f $SEQUENCE/0023_right.png -a -d $RESULT", "--only",
                                   "yard 10 01"])
        self.assertEqual(status, 1)
        self.assertIn("0 of 23 steps known", printed.getvalue())
        self.assertRegex(printed.getvalue(), r"yard 10: 0 moving and 0 standing stixels, [1-9]")
        with self.assertRaises(subprocess.CalledProcessError):
            measure.main(["run", program, "exit 3", "--only", "yard 10 01"])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        program = sys.argv.pop(1)
    unittest.main()
