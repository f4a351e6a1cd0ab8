#!/usr/bin/env python3
"""Judges estimates of motion against the truth of drawn scenes (motion_frames.c has the format of the truth).

usage: measure.py judge SEQUENCE RESULT [SEQUENCE RESULT]...
       measure.py list
       measure.py make PROGRAM FOLDER [--only WORDS] [--answers FOLDER]
       measure.py all FOLDER RESULTS [--only WORDS]
       measure.py run PROGRAM COMMAND [--only WORDS]
       measure.py pair PROGRAM STIXEL_PROCESS [--only WORDS]
       measure.py filter PROGRAM STIXEL_PROCESS [--only WORDS]

judge: prints the figures of these sequences; exit 1 if one is over its limit. list: prints the sequences on which
an implementation is judged. make: writes them, with PROGRAM = motion-frames, into FOLDER/NAME (56 MB each);
--answers: and a result without error. all: judges FOLDER/NAME by RESULTS/NAME, by scene and rate, and all together.
run: the same with one sequence at a time, which it deletes again: COMMAND finds it in $SEQUENCE and writes its result
to $RESULT. pair: the same with stixel-process --motion. filter: and with its --motion-filter. --only: sequences
whose name has all of these words.

A RESULT has, for each frame NNNN:
  NNNN.motion.csv  a line with the names of the columns, then one line per stixel of an object:
    left, right, top, bottom   columns [left, right), rows top..bottom
    x, z                       place to the right and ahead, in the axes of the left camera of the frame, m
    vx, vz                     velocity over ground in the same axes, m/s; empty: unknown
    sxx, sxz, szz              its covariance, (m/s)^2
    state                      0 unknown, 1 stands, 2 moves
    object                     identity, 0: none
  NNNN.ego.txt     12 numbers, rows of [R|t]: from this left camera to that of the frame before, m
  NNNN.offset.txt  what disparities lack, px: found so far
What is missing or empty is unknown. An unknown answer is never counted as a right one.

Rows "at its true distance" leave out stixels of the standing world half of whose pixels, or more, are not at the
stixel's distance: the road that is seen through a wheel with the distance of the wheel, or a wall beside a thing with
the thing's distance. Stereo gave them to the thing, and no program for motion can know better. They have no limits.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np

STANDS, MOVES, FAST = 0.3, 1.0, 2.0  # m/s: slower things stand, faster ones move; what is between is not judged
AHEAD_S = 0.5  # time of predictions, s
FAR_M = 40.0  # farthest things whose identity is judged, m
TRUE_PX, TRUE_SHARE = 1.0, 0.05  # a pixel is at a stixel's distance if its disparity differs by less: px and share
PURE = 0.6  # share of the pixels of a stixel that must show one thing
FEWEST = 3  # fewest stixels of a thing or of an object whose identity is judged
CLEAR = 400  # a thing with this many pixels, or more, must have as many stixels

# Name, unit, least, most, goal. None: no limit on this side.
Row = collections.namedtuple("Row", "key name unit least most goal")
ROWS = [
    Row("near_known", "moving, 0 to 20 m: known", "%", 85, None, 95),
    Row("near_error", "moving, 0 to 20 m: median error", "m/s", None, 0.30, 0.15),
    Row("far_known", "moving, 20 to 40 m: known", "%", 70, None, 85),
    Row("far_error", "moving, 20 to 40 m: median error", "m/s", None, 0.80, 0.40),
    Row("missed", "faster than 2 m/s, to 40 m: called standing", "%", None, 1.5, 0.5),
    Row("false_near", "standing, 0 to 20 m: called moving", "%", None, 0.5, 0.1),
    Row("false_far", "standing, 20 to 40 m: called moving", "%", None, 0.5, 0.2),
    Row("false_near_true", "the same at its true distance, 0 to 20 m", "%", None, None, 0.1),
    Row("false_far_true", "the same at its true distance, 20 to 40 m", "%", None, None, 0.2),
    Row("sigma_1", "moving: errors within 1 sigma (39.3)", "%", 35, 75, 50),
    Row("sigma_2", "moving: errors within 2 sigma (86.5)", "%", 85, None, 92),
    Row("sigma_3", "moving: errors within 3 sigma (98.9)", "%", None, None, 98.9),
    Row("ahead_median", "0.5 s ahead, known: median error", "m", None, 0.25, 0.12),
    Row("ahead_mean", "0.5 s ahead, known: mean error", "m", None, 0.40, 0.20),
    Row("things_missed", "things to 40 m: missed", "%", None, 10, 5),
    Row("things_false", "things to 40 m: false", "%", None, 5, 1),
    Row("things_false_true", "things to 40 m: false, at their true distance", "%", None, None, 1),
    Row("things_switched", "things to 40 m: identity switched", "%", None, 1, 0.5),
    Row("chain", "camera: error of the way", "%", None, 0.2, 0.1),
    Row("offset", "offset of disparities: largest error", "px", None, 0.15, 0.07),
]

COLUMNS = ("left", "right", "top", "bottom", "x", "z", "vx", "vz", "sxx", "sxz", "szz", "state", "object")
Thing = collections.namedtuple("Thing", "x z vx vz pixels turning")


def read_pgm(path):
    """Reads a PGM of 16 bits."""
    with open(path, "rb") as f:
        data = f.read()
    head = data.split(maxsplit=4)
    if head[0] != b"P5" or head[3] != b"65535":
        raise ValueError("%s is no PGM of 16 bits" % path)
    width, height = int(head[1]), int(head[2])
    return np.frombuffer(data, ">u2", width * height, len(data) - 2 * width * height).reshape(height, width)


def matrix(numbers):
    """Makes a 4x4 matrix of 12 numbers."""
    m = np.eye(4)
    m[:3] = np.array(numbers, float).reshape(3, 4)
    return m


def read_numbers(path, count):
    """Returns the first numbers of a file; None: they are unknown."""
    try:
        with open(path) as f:
            numbers = [float(word) for word in f.read().split()[:count]]
    except (OSError, ValueError):
        return None
    return numbers if len(numbers) == count and np.all(np.isfinite(numbers)) else None


class Sequence:
    """Images with truth, as motion-frames writes them."""

    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "calib.txt")) as f:
            self.calibration = {k: float(v) for k, v in (line.split(":") for line in f)}
        self.fps = self.calibration["fps"]
        self.offset = self.calibration.get("disparity_offset_px", 0)
        with open(os.path.join(folder, "poses.txt")) as f:
            self.poses = [matrix(line.split()) for line in f]
        self.things = [{} for _ in self.poses]
        with open(os.path.join(folder, "objects.txt")) as f:
            for line in f:
                v = line.split()
                numbers = [float(x) for x in v[2:7]] + [float(v[7]) if len(v) > 7 else 0.0]
                self.things[int(v[0])][int(v[1])] = Thing(*numbers)

    def step(self, n):
        """Returns the pose of frame n in the frame before."""
        return np.linalg.inv(self.poses[n - 1]) @ self.poses[n]

    def shown(self, n):
        """Returns the identity of the thing at each pixel, 0 for the standing world."""
        return read_pgm(os.path.join(self.folder, "%04d_thing.pgm" % n))

    def is_true(self, n, s):
        """Returns for each stixel whether half of its pixels are at its distance. Without that truth all are."""
        path = os.path.join(self.folder, "%04d_truth.pgm" % n)
        if not os.path.exists(path):
            return np.ones(len(s["left"]), bool)
        truth = read_pgm(path) / 256.0
        wanted = self.calibration["fx"] * self.calibration["baseline_m"] / s["z"]
        shares = []
        for k, d in enumerate(wanted):
            part = truth[int(s["top"][k]):int(s["bottom"][k]) + 1, int(s["left"][k]):int(s["right"][k])]
            shares.append(np.mean(np.abs(part - d) < TRUE_PX + TRUE_SHARE * d) if part.size else 0.0)
        return np.array(shares) >= 0.5

    def displacement(self, n, identity):
        """Returns where a thing will be AHEAD_S later, less where it is: axes of frame n. None: not known."""
        later = n + int(round(AHEAD_S * self.fps))
        if later >= len(self.poses) or identity not in self.things[later]:
            return None
        a, b = self.things[n][identity], self.things[later][identity]
        # x and z belong to a level camera, whose axes differ from the camera's own by less than a degree
        move = level(self.poses[n]).T @ (self.poses[later][[0, 2], 3] - self.poses[n][[0, 2], 3]
                                         + level(self.poses[later]) @ [b.x, b.z])
        return move - [a.x, a.z]


def level(pose):
    """Returns the 2x2 rotation of x and z from a camera, without its pitch and roll."""
    ahead = pose[[0, 2], 2] / np.hypot(*pose[[0, 2], 2])
    return np.array([[ahead[1], ahead[0]], [-ahead[0], ahead[1]]])


def read_stixels(path):
    """Returns an array for each column of NNNN.motion.csv. NaN: empty."""
    empty = {k: np.zeros(0) for k in COLUMNS}
    try:
        with open(path) as f:
            lines = f.read().split("\n")
    except OSError:
        return empty
    names = lines[0].strip().split(",")
    missing = set(COLUMNS) - set(names)
    if missing:
        raise ValueError("%s has no column %s" % (path, ", ".join(sorted(missing))))
    rows = [[float(v) if v.strip() else np.nan for v in line.split(",")] for line in lines[1:] if line.strip()]
    if not rows:
        return empty
    table = np.array(rows)
    return {k: table[:, names.index(k)] for k in COLUMNS}


def assign(shown, s):
    """Returns for each stixel the identity of the thing that most of it shows, 0: none, -1: it is not judged."""
    identities, compact = np.unique(shown, return_inverse=True)
    compact = compact.reshape(shown.shape)
    found = np.full(len(s["left"]), -1)
    for k in range(len(found)):
        part = compact[int(s["top"][k]):int(s["bottom"][k]) + 1, int(s["left"][k]):int(s["right"][k])].ravel()
        if not len(part):
            continue
        votes = np.bincount(part)
        if votes.max() >= PURE * len(part):
            found[k] = identities[votes.argmax()]
    return found


class Tally:
    """Sums over sequences."""

    def __init__(self):
        self.moving = []  # distance, speed, state, error, squared Mahalanobis distance; NaN: unknown
        self.standing = []  # distance, state, whether the distance is true
        self.ahead = []  # error of the displacement, of stixels whose velocity is known
        self.things = self.missed = self.false = self.false_true = self.switched = 0
        self.steps = self.steps_known = 0
        self.way = self.astray = 0.0
        self.offsets = []

    def add(self, sequence, folder):
        """Judges a result."""
        last, owner = {}, {}
        for n, things in enumerate(sequence.things):
            s = read_stixels(os.path.join(folder, "%04d.motion.csv" % n))
            of = assign(sequence.shown(n), s)
            known = ~np.isnan(s["vx"]) & ~np.isnan(s["vz"]) & np.isin(s["state"], (1, 2))
            state = np.where(known, s["state"], 0)
            speed = {i: np.hypot(t.vx, t.vz) for i, t in things.items()}
            of = np.array([i if i <= 0 or i in things else -1 for i in of], int)
            true = sequence.is_true(n, s)
            for k, i in enumerate(of):
                if i >= 0:
                    self.add_stixel(sequence, n, s, k, i, speed.get(i, 0.0), state[k], true[k])
            self.add_identities(s, of, state, speed, last, owner)
            self.false += self.count_false(s, of, state, speed)
            self.false_true += self.count_false(s, np.where((of == 0) & ~true, -1, of), state, speed)
            self.add_things_without_stixels(things, of, speed)
        self.add_camera(sequence, folder)
        self.add_offset(sequence, folder)

    def add_stixel(self, sequence, n, s, k, i, speed, state, true):
        """Judges one stixel of thing i, or of the standing world."""
        if speed < STANDS:
            self.standing.append((s["z"][k], state, true))
        if speed < MOVES:
            return
        t = sequence.things[n][i]
        truth = np.array([t.vx + t.turning * (s["z"][k] - t.z), t.vz - t.turning * (s["x"][k] - t.x)])
        error = far = np.nan
        if state:
            found = np.array([s["vx"][k], s["vz"][k]])
            off = found - truth
            error = np.hypot(*off)
            c = np.array([[s["sxx"][k], s["sxz"][k]], [s["sxz"][k], s["szz"][k]]])
            # an error without a covariance is outside of it
            far = off @ np.linalg.solve(c, off) if np.all(np.isfinite(c)) and np.linalg.det(c) > 0 else np.inf
            displacement = sequence.displacement(n, i)
            if displacement is not None:
                self.ahead.append(np.hypot(*(found * AHEAD_S * (state == 2) - displacement)))
        self.moving.append((s["z"][k], speed, state, error, far))

    def add_identities(self, s, of, state, speed, last, owner):
        """Judges which things have one identity, the same as before. last, owner: of things and identities so far."""
        for i in np.unique(of[of > 0]):
            mine = of == i
            if speed[i] < MOVES or mine.sum() < FEWEST or np.median(s["z"][mine]) > FAR_M:
                continue
            self.things += 1
            names, votes = np.unique(s["object"][mine & (s["object"] > 0)], return_counts=True)
            if not len(names) or 2 * votes.max() < mine.sum():
                self.missed += 1
                continue
            name = names[votes.argmax()]
            self.switched += last.get(i, name) != name or owner.get(name, i) != i
            last[i], owner[name] = name, i

    def count_false(self, s, of, state, speed):
        """Returns the number of objects that move by the result, and whose stixels show what stands."""
        false = 0
        shown = (s["object"] > 0) & (state == 2) & (s["z"] < FAR_M) & (of >= 0)
        for name in np.unique(s["object"][shown]):
            those = of[shown & (s["object"] == name)]
            stands = np.array([i == 0 or speed[i] < STANDS for i in those])
            false += bool(len(those) >= FEWEST and stands.mean() > 0.7)
        return false

    def add_things_without_stixels(self, things, of, speed):
        """Counts things as missed that the images show clearly, but for which a result has no stixels."""
        for i, t in things.items():
            if speed[i] >= MOVES and t.pixels >= CLEAR and t.z <= FAR_M and (of == i).sum() < FEWEST:
                self.things += 1
                self.missed += 1

    def add_camera(self, sequence, folder):
        """Judges the steps of the camera, one after the other. An unknown step counts as none."""
        truth, found = np.eye(4), np.eye(4)
        for n in range(1, len(sequence.poses)):
            step = sequence.step(n)
            numbers = read_numbers(os.path.join(folder, "%04d.ego.txt" % n), 12)
            truth = truth @ step
            self.way += np.linalg.norm(step[:3, 3])
            self.steps += 1
            if numbers:
                self.steps_known += 1
                found = found @ matrix(numbers)
        self.astray += np.linalg.norm((np.linalg.inv(truth) @ found)[:3, 3])

    def add_offset(self, sequence, folder):
        """Judges the offset of disparities that a result had found in the middle of its second half."""
        count = len(sequence.poses)
        found = [read_numbers(os.path.join(folder, "%04d.offset.txt" % n), 1) for n in range(count // 2, count)]
        known = [v[0] for v in found if v]
        # the offset is unknown if as many frames are unknown as known
        self.offsets.append(abs(np.median(known) - sequence.offset) if 2 * len(known) > len(found) else np.inf)

    def figures(self):
        """Returns the value of each row. NaN: there was nothing to judge."""
        moving = np.array(self.moving, float).reshape(-1, 5)
        standing = np.array(self.standing, float).reshape(-1, 3)
        r = {}
        for band, low, high in (("near", 0, 20), ("far", 20, 40)):
            there = moving[(moving[:, 0] >= low) & (moving[:, 0] < high)]
            r[band + "_known"] = percent(there[:, 2] > 0)
            errors = there[there[:, 2] > 0, 3]
            r[band + "_error"] = np.median(errors) if len(errors) else np.inf if len(there) else np.nan
            there = standing[(standing[:, 0] >= low) & (standing[:, 0] < high)]
            r["false_" + band] = percent(there[:, 1] == 2)
            r["false_%s_true" % band] = percent(there[there[:, 2] > 0, 1] == 2)
        within = moving[moving[:, 0] < FAR_M]
        r["missed"] = percent(within[within[:, 1] > FAST, 2] == 1)
        sure = within[within[:, 2] > 0, 4]
        for k in (1, 2, 3):
            r["sigma_%d" % k] = percent(sure < k * k)
        r["ahead_median"] = np.median(self.ahead) if self.ahead else np.nan
        r["ahead_mean"] = np.mean(self.ahead) if self.ahead else np.nan
        for key, count in (("missed", self.missed), ("false", self.false), ("false_true", self.false_true),
                           ("switched", self.switched)):
            r["things_" + key] = 100 * count / self.things if self.things else np.nan
        r["chain"] = 100 * self.astray / self.way if self.way > 0 else np.nan
        r["offset"] = max(self.offsets) if self.offsets else np.nan
        return r


def percent(hits):
    return 100 * float(np.mean(hits)) if len(hits) else np.nan


def is_within(row, value):
    """Returns whether a value keeps the limits of its row. Nothing to judge is not enough."""
    return bool(np.isfinite(value) and (row.least is None or value >= row.least)
                and (row.most is None or value <= row.most))


def print_table(title, tally):
    """Prints all rows. Returns the keys of the rows that are over their limits."""
    figures, over = tally.figures(), []
    print("%s: %d moving and %d standing stixels, %d things in frames, %d of %d steps known"
          % (title, len(tally.moving), len(tally.standing), tally.things, tally.steps_known, tally.steps))
    for row in ROWS:
        value = figures[row.key]
        fine = is_within(row, value)
        limits = ["%s %g" % (word, v) for word, v in (("at least", row.least), ("at most", row.most)) if v is not None]
        print("  %-46s %8.2f %-4s %-26s goal %5g%s"
              % (row.name, value, row.unit, ", ".join(limits), row.goal, "" if fine else "   OVER"))
        over += [] if fine else [row.key]
    return over


def sequences():
    """Returns (group, name, options of motion-frames) of all sequences on which motion is judged."""
    every = []
    for scene in ("traffic", "crossing", "bend", "yard"):
        for fps in (10, 30):
            for seed in range(1, 41):
                # different moments, so that the frames at both rates begin with the same world
                options = ["--scene", scene, "--seed", str(seed), "--fps", str(fps), "--start", "%g" % start(seed)]
                every.append(("%s %d" % (scene, fps), "%s-%d-%02d" % (scene, fps, seed), options))
        for seed, (word, wrong) in enumerate((
                ("shift", ["--shift", "0.5"]), ("shift", ["--shift", "1"]), ("shift", ["--shift", "2"]),
                ("turn", ["--turn", "0,0.06,0"]), ("turn", ["--turn", "0.03,-0.08,0.05"]),
                ("lens", ["--lenses", "plain"]), ("lens", ["--lenses", "wide"])), 41):
            options = ["--scene", scene, "--seed", str(seed), "--fps", "10", "--start", "%g" % start(seed)]
            every.append(("rig", "%s-%s-%02d" % (scene, word, seed), options + wrong))
    return every


def start(seed):
    return 1.5 + seed * 7 % 20


def chosen(only):
    words = only.split() if only else []
    return [s for s in sequences() if all(w in s[1] for w in words)]


def make(program, folder, only, answers):
    for _, name, options in chosen(only):
        more = ["--answers", os.path.join(answers, name)] if answers else []
        for path in (folder, answers):
            if path:
                os.makedirs(path, exist_ok=True)
        subprocess.run([program] + options + more + [os.path.join(folder, name)], check=True)


def judge_all(folder, results, only):
    groups, everything = {}, Tally()
    for group, name, _ in chosen(only):
        if not glob.glob(os.path.join(results, name, "*")):
            raise SystemExit("measure.py: there is no result %s" % os.path.join(results, name))
        sequence = Sequence(os.path.join(folder, name))
        for tally in (groups.setdefault(group, Tally()), everything):
            tally.add(sequence, os.path.join(results, name))
    return print_groups(groups, everything)


def process_arguments(program, sequence, result):
    """Returns the arguments with which stixel-process measures the motion of a sequence."""
    c = Sequence(sequence).calibration
    c["fx"] += 1e-6  # scenes have the camera of the defaults, which stixel-process takes for none
    args = [program, "-o", result, "--motion", "--fps", "%g" % c["fps"], "-s", "engine.backend=cpu"]
    for key in ("fx", "fy", "cx", "cy", "baseline_m", "height_m"):
        args += ["-s", "camera.%s=%.9g" % (key, c[key])]
    for left in sorted(glob.glob(os.path.join(sequence, "*_left.png"))):
        args += [left, left[:-len("left.png")] + "right.png"]
    return args


def call(command, paths):
    """Lets a command of the shell find the motion of a sequence."""
    subprocess.run(command, shell=True, check=True, env=dict(os.environ, **paths))


def process(program, paths):
    """Lets stixel-process find the motion of a sequence."""
    subprocess.run(process_arguments(program, paths["SEQUENCE"], paths["RESULT"]), check=True,
                   stdout=subprocess.DEVNULL)


def process_filtered(program, paths):
    """The same with a memory over the pairs."""
    subprocess.run(process_arguments(program, paths["SEQUENCE"], paths["RESULT"]) + ["--motion-filter"], check=True,
                   stdout=subprocess.DEVNULL)


def run_all(program, find, with_what, only):
    groups, everything = {}, Tally()
    for group, name, options in chosen(only):
        with tempfile.TemporaryDirectory() as folder:
            paths = {k: os.path.join(folder, k.lower()) for k in ("SEQUENCE", "RESULT")}
            subprocess.run([program] + options + [paths["SEQUENCE"]], check=True)
            os.makedirs(paths["RESULT"])
            find(with_what, paths)
            sequence = Sequence(paths["SEQUENCE"])
            for tally in (groups.setdefault(group, Tally()), everything):
                tally.add(sequence, paths["RESULT"])
    return print_groups(groups, everything)


def print_groups(groups, everything):
    """Prints the tables of all groups. Returns the exit status."""
    for group, tally in groups.items():
        print_table(group, tally)
    over = print_table("all", everything)
    return 1 if over or not groups else 0


def main(args):
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("judge")
    command.add_argument("paths", nargs="+")
    commands.add_parser("list")
    command = commands.add_parser("make")
    command.add_argument("program")
    command.add_argument("folder")
    command.add_argument("--only")
    command.add_argument("--answers")
    command = commands.add_parser("all")
    command.add_argument("folder")
    command.add_argument("results")
    command.add_argument("--only")
    for name, what in (("run", "COMMAND"), ("pair", "STIXEL_PROCESS"), ("filter", "STIXEL_PROCESS")):
        command = commands.add_parser(name)
        command.add_argument("program")
        command.add_argument("find", metavar=what)
        command.add_argument("--only")
    o = parser.parse_args(args)
    if o.command == "list":
        for group, name, options in sequences():
            print("%-12s %-18s %s" % (group, name, " ".join(options)))
        return 0
    if o.command == "make":
        make(o.program, o.folder, o.only, o.answers)
        return 0
    ways = {"run": call, "pair": process, "filter": process_filtered}
    if o.command in ways:
        return run_all(o.program, ways[o.command], o.find, o.only)
    if o.command == "all":
        return judge_all(o.folder, o.results, o.only)
    if len(o.paths) % 2:
        parser.error("judge takes pairs of folders")
    tally = Tally()
    for sequence, result in zip(o.paths[::2], o.paths[1::2]):
        tally.add(Sequence(sequence), result)
    return 1 if print_table("judged", tally) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
