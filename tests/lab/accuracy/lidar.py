#!/usr/bin/env python3
"""Measures stixels on real roads against lidar: KITTI 2015 (https://www.cvlibs.net/datasets/kitti).

Usage: tests/lab/accuracy/lidar.py STIXEL_PROCESS TRAINING [-s KEY=VALUE]... [--names FILE] [--white FILE] [-v]

TRAINING: the folder with image_2, image_3, disp_noc_0 and calib_cam_to_cam. --names: a file with the names of the
pairs to use, one per line, such as 000001_10; default: all pairs. --white: a file with the names of pairs whose white
area at the upper edge is only sky, as a person has checked. -v: prints a line for every pair.

The true road is the plane with most lidar points within 6 cm, among the points in the camera's corridor (4 m to each
side, up to 40 m ahead). It is found by RANSAC, then by least squares. A point is upright if another point lies 0.25 to
1 m above or below it, at most 2 columns beside it and at nearly the same distance. Ground: points within 0.15 m of the
road that are not the foot of an upright thing higher than 0.4 m. Obstacle: upright points 0.4 to 3 m above the road.
Both within 60 m. Prints means over the pairs, percent:
  false   ground in object stixels
  missed  obstacle in ground or sky: a vehicle would drive into it
  unknown obstacle that is published as unknown, which is neither free nor an obstacle
  dist    obstacle in objects whose disparity is off by more than 3 px and 5 %
  near    columns whose first obstacle is nearer than 0.7 times the true one, where the truth is mostly ground
  far     columns whose first obstacle is farther than 1.43 times the true one
  edge    columns 0 to 7 below the horizon in objects: nothing can be matched there
For the pairs of --white, the truth about the sky comes from the picture, because lidar does not see the sky:
  white   white sky (250 and more, joined to the upper edge, above the horizon) in objects nearer than 60 m
  things  things in front of the white sky (darker than 128, above the horizon, at most 8 px from it) in sky stixels
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import csv
import os
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

KINDS = {"ground": 0, "object": 1, "sky": 2, "unknown": 3}
NAMES = ("false", "missed", "unknown", "dist", "near", "far", "edge", "white", "things")


def calibration(path):
    """Returns fx, fy, cx, cy in px and the baseline in m of the rectified colour cameras."""
    lines = dict(line.split(":", 1) for line in open(path) if ":" in line)
    left, right = (np.array(lines["P_rect_0%d" % i].split(), float).reshape(3, 4) for i in (2, 3))
    return left[0, 0], left[1, 1], left[0, 2], left[1, 2], (left[0, 3] - right[0, 3]) / left[0, 0]


def road_plane(d, y, x, baseline):
    """Returns slope, cross and offset of the road plane d = slope y + cross x + offset. Inliers are chosen by their
    height above the plane."""
    rng, best, best_count = np.random.default_rng(1), None, -1
    some = rng.integers(0, len(d), 4000)

    def height(p, d, y, x):
        return ((d - p[1] * x - p[2]) / p[0] - y) * baseline / d

    for _ in range(1500):
        i = rng.integers(0, len(d), 3)
        try:
            p = np.linalg.solve(np.c_[y[i], x[i], np.ones(3)], d[i])
        except np.linalg.LinAlgError:
            continue
        if not baseline / 3.5 < p[0] < baseline / 0.7 or abs(p[1]) > 0.06 * baseline:
            continue
        count = (np.abs(height(p, d[some], y[some], x[some])) < 0.06).sum()
        if count > best_count:
            best, best_count = p, count
    for _ in range(5):
        on = np.abs(height(best, d, y, x)) < 0.06
        best = np.linalg.lstsq(np.c_[y[on], x[on], np.ones(on.sum())] / d[on, None], np.ones(on.sum()), rcond=None)[0]
    return best


def find_upright(x, z, h, width, fb):
    """Returns which points are upright, and which are the feet of an upright thing."""
    upright, foot = np.zeros(len(h), bool), np.zeros(len(h), bool)
    order = np.argsort(x, kind="stable")
    by_column = x[order]
    noise = 0.3 * z * z / fb  # m; depth error that 0.3 px of disparity cause
    for column in range(width):
        first, end, low, high = np.searchsorted(by_column, [column, column + 1, column - 2, column + 3])
        mine, near = order[first:end], order[low:high]
        if not len(mine):
            continue
        dh = h[near][None] - h[mine][:, None]
        dz = np.abs(z[near][None] - z[mine][:, None])
        one = (np.abs(dh) >= 0.25) & (np.abs(dh) < 1) & (dz <= np.abs(dh) + noise[mine][:, None])
        upright[mine] = one.any(1)
        foot[mine] = (one & (dh > 0) & (h[near][None] > 0.4)).any(1)
    return upright, foot


def white_sky(grey, horizon):
    """Returns the white pixels that are connected to the upper edge: from there downwards and to the sides."""
    white = grey >= 250
    white[max(0, int(horizon)):] = False
    sky, before = white & (np.arange(len(grey)) == 0)[:, None], None
    while before is None or (sky != before).any():
        before = sky.copy()
        sky[1:] |= before[:-1]
        sky[:, 1:] |= before[:, :-1]
        sky[:, :-1] |= before[:, 1:]
        sky &= white
    return sky


def things_before(sky, grey, horizon):
    """Returns dark pixels at most 8 px, along rows and columns, from the white sky."""
    near = sky.copy()
    for _ in range(8):
        before = near.copy()
        near[1:] |= before[:-1]
        near[:-1] |= before[1:]
        near[:, 1:] |= before[:, :-1]
        near[:, :-1] |= before[:, 1:]
    near &= grey < 128
    near[max(0, int(horizon)):] = False
    return near


class Truth:
    """The truth of a pair from lidar, and of its white sky from the picture."""

    def __init__(self, training, name, white=False):
        self.camera = fx, _, cx, _, baseline = calibration(
            os.path.join(training, "calib_cam_to_cam", name.split("_")[0] + ".txt"))
        disparity = np.asarray(Image.open(os.path.join(training, "disp_noc_0", name + ".png")), float) / 256
        self.height, self.width = disparity.shape
        self.fb = fx * baseline
        self.y, self.x = np.nonzero(disparity > 0)
        self.d = disparity[self.y, self.x]
        self.z = self.fb / self.d
        corridor = (self.y > 0.5 * self.height) & (np.abs((self.x - cx) * self.z / fx) < 4) & (self.z < 40)
        p = road_plane(self.d[corridor], self.y[corridor].astype(float), self.x[corridor].astype(float), baseline)
        h = ((self.d - p[1] * self.x - p[2]) / p[0] - self.y) * self.z / fx
        upright, foot = find_upright(self.x, self.z, h, self.width, self.fb)
        self.ground = (self.z < 60) & (np.abs(h) < 0.15) & ~foot
        self.obstacle = (self.z < 60) & upright & (h > 0.4) & (h < 3)
        self.horizon = (-p[2] - p[1] * cx) / p[0]
        self.sky = self.things = np.zeros(disparity.shape, bool)
        if white:
            grey = np.asarray(Image.open(os.path.join(training, "image_2", name + ".png")).convert("L"))
            self.sky = white_sky(grey, self.horizon)
            self.things = things_before(self.sky, grey, self.horizon)

    def figures(self, kind, disparity):
        """Returns the figures in the order of NAMES, percent. kind, disparity: of every pixel, from stixels; kind is
        -1 without a stixel."""
        k, q = kind[self.y, self.x], disparity[self.y, self.x]
        ground, obstacle = self.ground & (k >= 0), self.obstacle & (k >= 0)
        off = np.abs(q - self.d)
        near, far = self.first_obstacles(kind, disparity, k, q, obstacle)
        missed = (k[obstacle] == KINDS["ground"]) | (k[obstacle] == KINDS["sky"])
        return [percent(k[ground] == 1), percent(missed), percent(k[obstacle] == KINDS["unknown"]),
                percent(((off > 3) & (off > 0.05 * self.d))[obstacle & (k == 1)]), near, far,
                percent(kind[int(self.horizon) + 10:, :8] == 1),
                percent(((kind == 1) & (disparity > self.fb / 60))[self.sky], np.nan),
                percent(kind[self.things] == 2, np.nan)]

    def first_obstacles(self, kind, disparity, k, q, obstacle):
        """Returns near and far."""
        order = np.argsort(self.x, kind="stable")
        by_column = self.x[order]
        near, far = [], []
        for column in range(2, self.width - 2, 5):
            mine = order[slice(*np.searchsorted(by_column, [column - 2, column + 3]))]
            obstacles = mine[obstacle[mine]]
            if len(obstacles) < 3:
                continue
            first = np.sort(self.z[obstacles])[len(obstacles) // 10]
            nearer = mine[(k[mine] == 1) & (q[mine] * 0.7 * first > self.fb)]
            near.append(len(nearer) >= 3 and self.ground[nearer].mean() > 0.5)
            rows = np.nonzero((kind[:, column] == 1) & (disparity[:, column] > 0.5))[0]
            rows = rows[rows > 0.3 * self.height]
            far.append(not len(rows) or self.fb / disparity[rows, column].max() > 1.43 * first)
        return percent(np.array(near)), percent(np.array(far))


def percent(which, of_none=0.0):
    return 100 * np.mean(which) if np.size(which) else of_none


def paint(path, truth, width):
    """Returns kind and disparity of every pixel."""
    kind = np.full((truth.height, truth.width), -1)
    disparity = np.zeros(kind.shape)
    with open(path, newline="") as f:
        for s in csv.DictReader(f):
            x = int(s["column"]) * width
            where = np.s_[int(s["row_top"]):int(s["row_bottom"]) + 1, x:x + width]
            kind[where] = KINDS[s["class"]]
            disparity[where] = float(s["disparity"] or 0)
    return kind, disparity


def measure(program, training, name, white, settings, width):
    truth = Truth(training, name, white)
    words = ["-s", "stixels.width=%d" % width]
    for key, value in zip(("fx", "fy", "cx", "cy", "baseline_m"), truth.camera):
        words += ["-s", "camera.%s=%.9g" % (key, value)]
    for setting in settings:
        words += ["-s", setting]
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([program] + words + ["-o", out] + [os.path.join(training, side, name + ".png")
                                                          for side in ("image_2", "image_3")],
                       check=True, stdout=subprocess.DEVNULL)
        return truth.figures(*paint(os.path.join(out, name + ".stixels.csv"), truth, width))


def pairs_of(training):
    """Returns the names of all pairs that have lidar."""
    return sorted(f[:-4] for f in os.listdir(os.path.join(training, "disp_noc_0")) if f.endswith(".png"))


def names_in(path):
    with open(path) as f:
        return f.read().split()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("training")
    p.add_argument("-s", action="append", default=[], metavar="KEY=VALUE")
    p.add_argument("--names")
    p.add_argument("--white")
    p.add_argument("-v", action="store_true")
    a = p.parse_args()
    names = names_in(a.names) if a.names else pairs_of(a.training)
    white = names_in(a.white) if a.white else []
    if not names:
        sys.exit("lidar.py: no pairs in %s" % a.training)
    width = next((int(s.split("=")[1]) for s in reversed(a.s) if s.startswith("stixels.width=")), 4)
    rows = []
    for name in names:
        rows.append(measure(a.program, a.training, name, name in white, a.s, width))
        if a.v:
            print(name, *("%s %.2f" % f for f in zip(NAMES, rows[-1])), flush=True)
    shown = [i for i in range(len(NAMES)) if not np.isnan(np.array(rows)[:, i]).all()]
    print("%d pairs:" % len(rows), *("%s %.2f" % (NAMES[i], np.nanmean(rows, 0)[i]) for i in shown))


if __name__ == "__main__":
    main()
