#!/usr/bin/env python3
"""Measures what readers get when cameras fail. Plants faults into pairs (camera_faults.py), lets stixeld read them as
image files, and reads its frames as users do.

Usage: tests/quality/faults.py BUILD [-s KEY=VALUE]... [--each KEY=VALUE]... [--only TEXT]... [--jobs N] [PATH]...

BUILD: a build folder. PATH: pairs in the form of source.path, with a calib.txt in their folder. If a PATH has several
pairs, the first one is the standing street, and all of them are the drive. Without PATH: two synthetic streets. --only:
only faults whose name begins with TEXT. --each: measures once with each of these settings, with the same pictures.
STIXEL_LIBRARY and PYTHONPATH select another library and module than those of BUILD and of this source.

Prints a Markdown table with a line for each fault. Counts are sums over the pairs. The first three are those of the
last frame of a fault, the other ones those of its worst frame:
  free, unseen, obstacle    rays of scan()
  blind     free rays (+inf) that cross a gap: a part of the road that is lost in one image or in both, or that lies
            outside of the right image, and that is large enough to hide a thing of 0.3 m
  early     other free rays that begin (Scan.begins; in older versions range_min) before the distance at which the
            ground that they cross comes into view
  space     columns of free_space() that continue beyond such a gap
  ground    points of ground_points() in such a gap
  lost      obstacles within 40 m, at least 0.5 m high, that scan() no longer has within 8 px and 1.3 times their
            distance, although the fault does not touch them or the road before them. An obstacle of which half is left
            counts as lost if its ray is free or ends farther away.
  of        number of obstacles that were compared
  shut      rays that were free and are unseen now, although their ground is left from some row up to its end
  among     number of such rays that were compared
  walls     rays with an obstacle within 40 m that is nearer than 0.7 times the distance of the real thing
  state     state of the daemon at the end, or its reason
Fails if a count is over its limit: blind, early, space, ground: 0; lost: 1 %, shut: 10 % of what was compared; walls:
10 % of the rays if a lens is covered, or if all is black beyond the headlights. Also fails if frames of images that are
covered, white, frozen or equal are not BLIND and do not degrade the state in time, or if a ray is free in them.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import functools
import os
import sys
import tempfile
import time
import zlib

try:
    import numpy as np
except ImportError:
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests", "daemon")]
sys.path.append(os.path.join(ROOT, "python", "src"))

import camera_faults  # noqa: E402
import harness  # noqa: E402

FPS = 5
SECONDS = 2.5  # s of frames without a fault, whose ranges have to be steady
FAULT_SECONDS = 1.4  # s of frames with a fault: two rounds of its pairs (camera_faults.VARIANTS)
SECONDS_MOST = 12.0  # s until the daemon has to report bad images
MOVING = 8  # number of moving pairs
FIRST = 12  # number of the first frame that is used of a synthetic street
RUNS_MOST = 10  # number of runs to get them
WINDOW, COLUMN = 4, 4  # px: reach of a pixel's matching window, and width of a stixel
HIDDEN_M, HIDDEN_ROWS = 0.3, 12  # m and px; the least gap that could hide a thing; matching windows bridge smaller gaps
OBSTACLE_M, OBSTACLE_HIGH_M = 40.0, 0.5  # m, largest distance, least height; lower ones may be road
FARTHER, NEARER, EARLIER = 1.3, 0.7, 0.9
BESIDE = 8  # px to the side in which an obstacle may be found
LOST_MOST, SHUT_MOST = 0.01, 0.1  # shares of the candidates
WALLS_MOST = 0.1  # share of all rays
COUNTS = ("blind", "early", "space", "ground", "lost", "of", "shut", "among", "walls")
COVERED = ("both covered", "left covered", "right covered", "both white", "right white", "both grey")
BAD = COVERED + ("one image", "left frozen", "right frozen")
NO_WALLS = COVERED + ("dark",)


def grown(mask, by, shape_of=np.maximum):
    """Returns the largest value in each pixel's neighbourhood, or the smallest with np.minimum."""
    for axis in (0, 1):
        mask = np.moveaxis(mask, axis, 0)
        mask, reach, left = np.pad(mask, [(by, by), (0, 0)], "edge"), 1, 2 * by
        while left:  # mask[i] is the result for pixels i .. i + reach - 1
            step = min(reach, left)
            mask, reach, left = shape_of(mask[:-step], mask[step:]), reach + step, left - step
        mask = np.moveaxis(mask, 0, axis)
    return mask


class View:
    """The directions of rays and columns of a clean frame, and what they see there."""

    def __init__(self, frames):
        self.frame = frames[-1]
        self.camera, self.road = self.frame.camera, self.frame.road
        self.width, self.height = self.frame.width, self.frame.height
        self.fb = self.camera.fx * self.camera.baseline_m
        scan = self.frame.scan()
        self.range_max = scan.range_max
        self.ray_x = self.inside(self.camera.cx - self.camera.fx * np.tan(scan.angles))
        self.column_x = self.inside((np.arange(self.frame.columns) + 0.5) * self.frame.column_width)
        ranges = np.array([f.scan().ranges for f in frames])
        with np.errstate(invalid="ignore"):
            steady = np.isfinite(ranges).all(0) & (ranges.max(0) < 1.15 * ranges.min(0))
        self.range = np.where(steady, ranges.max(0), np.nan)
        self.free = np.isposinf(ranges).all(0)
        self.disparity = self.fb / (self.range * np.cos(scan.angles))

    def inside(self, x):
        return np.clip(np.rint(x).astype(int), 0, self.width - 1)

    @functools.cached_property
    def beside(self):
        """For each ray, which rays are at most BESIDE px to its side."""
        return np.abs(self.ray_x[:, None] - self.ray_x[None]) <= BESIDE

    @functools.lru_cache(maxsize=None)
    def obstacle_rows(self, ray):
        """Returns the first and last row of the obstacle that a ray meets, by the stixels of its column. None: the
        obstacle is low."""
        s = self.frame.column(min(self.ray_x[ray] // self.frame.column_width, self.frame.columns - 1))
        d = s["disparity_q7"] / 128
        mine = s[(s["kind"] == 1) & (np.abs(d - self.disparity[ray]) < 0.1 * self.disparity[ray])]
        if not len(mine):
            return None
        top, bottom = int(mine["row_top"].min()), int(mine["row_bottom"].max())
        high_m = (bottom + 1 - top) * self.fb / self.disparity[ray] / self.camera.fy
        return (top, bottom) if high_m >= OBSTACLE_HIGH_M else None

    def depth(self):
        """Returns the depth of each pixel of the left and of the right image according to the stixels, m. inf above
        the horizon."""
        d = np.zeros((self.height, self.width))
        y = np.arange(self.height)[:, None]
        d[:] = np.maximum(self.road.disparity(y, np.arange(self.width)[None]), 0)
        for s in self.frame.stixels:
            if s["kind"] == 1 and s["disparity_q7"] != 0xFFFF:
                x = int(s["column"]) * self.frame.column_width
                d[s["row_top"]:s["row_bottom"] + 1, x:x + self.frame.column_width] = s["disparity_q7"] / 128
        right = np.zeros(d.shape)
        for x in range(self.width):  # the nearer thing hides the farther one
            to = np.rint(x - d[:, x]).astype(int)
            rows = np.flatnonzero(to >= 0)
            np.maximum.at(right, (rows, to[rows]), d[rows, x])
        for x in range(1, self.width):
            right[:, x] = np.where(right[:, x] > 0, right[:, x], right[:, x - 1])
        with np.errstate(divide="ignore"):
            return self.fb / d, self.fb / right


class Lost:
    """Lost share of the light of a left pixel: the larger of its share in the left image and at the matching pixel
    of the right image."""

    def __init__(self, lost, outside):
        """outside: lost share beyond the border of the right image."""
        self.left = lost[0]
        self.pad = self.left.shape[1]
        self.right = np.pad(lost[1], ((0, 0), (self.pad, 0)), constant_values=outside)

    def filtered(self, by, shape_of):
        other = Lost.__new__(Lost)
        other.left, other.right = grown(self.left, by, shape_of), grown(self.right, by, shape_of)
        other.pad = self.pad
        return other

    def at(self, y, x, d):
        x = np.clip(np.rint(x).astype(int), 0, self.pad - 1)
        y = np.clip(np.rint(y).astype(int), 0, len(self.left) - 1)
        there = np.clip(np.rint(x - np.minimum(d, self.pad)).astype(int) + self.pad, 0, 2 * self.pad - 1)
        return np.maximum(self.left[y, x], self.right[y, there])


class Truth:
    """The parts of a view that a fault leaves visible."""

    def __init__(self, view, lost):
        self.view = view
        self.gone = Lost(lost, 1.0).filtered(WINDOW + COLUMN, np.minimum)
        self.touched = Lost(lost, 0.0).filtered(WINDOW + 1, np.maximum)
        self.any = any(m.any() for m in lost)
        over, self.begins = self.gaps(view.ray_x)
        self.blind = np.isfinite(over)
        self.over, _ = self.gaps(view.column_x)
        self.whole, self.half = self.obstacles()
        self.open = self.opened()

    def gaps(self, columns):
        """For each image column returns two distances, m: the end of the nearest gap that could hide a thing (inf
        without a gap), and where its ground comes into view."""
        view = self.view
        y = np.arange(view.height)[:, None]
        d = view.road.disparity(y, columns[None])
        far = view.fb / view.range_max
        gone = (self.gone.at(y, columns[None], d) >= camera_faults.GONE) & (d >= far)
        over, begins = np.full(len(columns), np.inf), np.zeros(len(columns))
        for i in range(len(columns)):
            edges = np.flatnonzero(np.diff(np.concatenate([[0], gone[:, i].astype(int), [0]])))
            seen = np.flatnonzero(~gone[:, i] & (d[:, i] >= far))
            if not len(seen):
                over[i] = 0
                continue
            begins[i] = view.fb / d[seen[-1], i]
            for top, end in edges.reshape(-1, 2):
                hidden = (end - top) * view.fb / d[end - 1, i] / view.camera.fy
                if end < seen[-1] and end - top >= HIDDEN_ROWS and hidden >= HIDDEN_M:
                    over[i] = view.fb / d[top, i]  # the last gap is the nearest
        return over, begins

    def obstacles(self):
        """Returns two masks of rays: those whose obstacle and road before it are untouched by the fault, and those
        with half of the obstacle left."""
        view = self.view
        whole, half = np.zeros(len(view.range), bool), np.zeros(len(view.range), bool)
        for ray in np.flatnonzero(view.range <= OBSTACLE_M):
            rows = view.obstacle_rows(ray)
            if rows is None:
                continue
            x, d = view.ray_x[ray], view.disparity[ray]
            y = np.arange(rows[0], rows[1] + 1)
            road = np.arange(rows[1] + 1, view.height)
            touched = self.touched.at(y, x, d)
            whole[ray] = not touched.any() and not self.touched.at(road, x, view.road.disparity(road, x)).any()
            left = touched < camera_faults.VISIBLE
            half[ray] = not whole[ray] and left.mean() >= 0.5 and left.sum() >= HIDDEN_ROWS
        return whole, half

    def opened(self):
        """Returns the rays that are free in the clean view and whose ground is untouched, except at its lower end."""
        view = self.view
        y = np.arange(view.height)[:, None]
        d = view.road.disparity(y, view.ray_x[None])
        touched = (self.touched.at(y, view.ray_x[None], d) > 0) & (d > 0)
        left = ~touched & (d > 0)
        return view.free & left.any(0) & ~(touched[:-1] & left[1:]).any(0)

    def judge(self, frame):
        """Returns the counts of a frame by their names."""
        view = self.view
        scan = frame.scan()
        r, begins = scan.ranges, getattr(scan, "begins", scan.range_min)
        free = np.isposinf(r)
        nearest = np.where(view.beside, np.where(np.isnan(r), np.inf, r), np.inf).min(1)
        seen_near = nearest <= FARTHER * view.range
        beyond = free | (r > FARTHER * view.range)
        walls = (r < OBSTACLE_M) & ((r < NEARER * view.range) | view.free)
        return {"blind": (free & self.blind).sum(),
                "early": (free & ~self.blind & (begins < EARLIER * self.begins)).sum(),
                "space": (frame.free_space() > FARTHER * self.over).sum(),
                "ground": self.points_on_nothing(frame),
                "lost": (~seen_near & (self.whole | (self.half & beyond))).sum(),
                "of": (self.whole | self.half).sum(),
                "shut": (self.open & np.isnan(r)).sum(),
                "among": self.open.sum(),
                "walls": walls.sum()}

    def points_on_nothing(self, frame):
        p = frame.ground_points("camera", 0.5, OBSTACLE_M)
        p = p[p["z"] > 0]
        c, z = self.view.camera, p["z"].astype(float)
        x, y = c.cx + c.fx * p["x"] / z, c.cy + c.fy * p["y"] / z
        at = (x > -0.5) & (x < self.view.width - 0.5) & (y > -0.5) & (y < self.view.height - 0.5)
        gone = self.gone.at(y[at], x[at], self.view.fb / z[at]) >= camera_faults.GONE
        return (gone & np.isfinite(self.over[self.column_of(x[at])])).sum()

    def column_of(self, x):
        return np.clip((x / self.view.frame.column_width).astype(int), 0, self.view.frame.columns - 1)


def read(daemon, seconds, seconds_most=0.0):
    """Reads frames for some seconds, or until the daemon reports bad images. Returns the frames, whether it reports
    bad images, and its reason or state."""
    import stixel
    daemon.until_published(1, 60)
    frames = []
    with stixel.open_path(daemon.ring_path) as reader:
        begin = time.monotonic()
        while True:
            frame = reader.next(1.0)
            if frame:
                frames.append(frame)
            status = daemon.status()
            late = time.monotonic() - begin
            if late >= seconds and (late >= seconds_most or is_degraded(status)):
                break
    frames.append(reader_last(daemon, frames[-1]))
    status = daemon.status()
    known = is_degraded(status) or bool(frames[-1].flags & stixel.FrameFlag.BLIND)
    return frames, known, status["reason"] or status["state"]


def is_degraded(status):
    """Returns whether the daemon's state reports bad images. On a busy machine it may also report that its engine is
    slow."""
    others = [part for part in (status["reason"] or "").split("; ") if part and "too slow" not in part]
    return status["state"] == "degraded" and others != []


def reader_last(daemon, before):
    """Returns a frame that was published after the given one."""
    import stixel
    with stixel.open_path(daemon.ring_path) as reader:
        while True:
            frame = reader.next(5.0)
            if frame is None or frame.number > before.number + 1:
                return frame or before


def run(program, settings, seconds, seconds_most=0.0):
    words = [w for s in settings for w in ("-s", s)]
    daemon = harness.Instance("faults", program)
    try:
        daemon.start(*words)
        return read(daemon, seconds, seconds_most)
    finally:
        daemon.close()


def write_pgm(path, image):
    image = camera_faults.to_grey(image)
    with open(path, "wb") as f:
        f.write(b"P5 %d %d 255\n" % image.shape[::-1] + image.tobytes())


def run_files(program, settings, pairs, seconds=SECONDS, seconds_most=0.0):
    with tempfile.TemporaryDirectory() as folder:
        for i, pair in enumerate(pairs):
            for side, image in zip(("left", "right"), pair):
                write_pgm(os.path.join(folder, "%s%02d.pgm" % (side, i)), image)
        return run(program, ["source.kind=files", "source.path=" + folder, "source.loop=yes",
                             "source.fps=%d" % FPS] + settings, seconds, seconds_most)


def frames_of_files(program, source, settings, seconds=(FIRST + MOVING) / FPS):
    """Returns frames with their pictures."""
    return run(program, source + settings + ["source.fps=%d" % FPS, "output.planes=pair",
                                             "output.planes_when=always"], seconds)[0]


def frames_of_street(program, source, settings):
    """Returns the frames FIRST to FIRST + MOVING - 1 of a synthetic street. A frame's number gives its picture only if
    no pair was dropped before it. On a busy machine a run drops some, or its reader comes late: more runs give the
    rest."""
    found = {}
    for _ in range(RUNS_MOST):
        for f in frames_of_files(program, source, settings):
            if not f.counts.dropped_overload and FIRST <= f.number < FIRST + MOVING:
                found[f.number] = f
        if len(found) == MOVING:
            return [found[n] for n in sorted(found)]
    sys.exit("faults.py: this machine is too busy: %d of %d frames of the street were drawn in %d runs" %
             (len(found), MOVING, RUNS_MOST))


class Drawn:
    """Pairs of a source, and the camera that sees them."""

    def __init__(self, program, source, settings):
        frames = frames_of_files(program, source, settings) if "source.kind=files" in source else frames_of_street(
            program, source, settings)
        first = frames[0]
        of_files = [s for s in source + settings if not s.startswith(("source.", "camera.calibration"))]
        self.settings = of_files + ["camera.%s=%.9g" % (k, getattr(first.camera, k)) for k in first.camera._fields]
        again = [i for i, f in enumerate(frames) if i and (f.left == first.left).all()]  # the files repeat in a loop
        self.pairs = [(f.left.astype(float), f.right.astype(float)) for f in frames[:min([MOVING] + again)]]
        self.horizon = first.road.horizon_row


class Case:
    """A street, and the result for a clean pair with some settings."""

    def __init__(self, program, drawn, settings):
        self.program = program
        self.settings = drawn.settings + settings
        self.street = camera_faults.Street(drawn.pairs, drawn.horizon)
        clean = camera_faults.FAULTS["clean"](self.street, np.random.default_rng(1))
        frames, _, _ = run_files(program, self.settings, clean.pairs)
        self.view = View(frames[1:])
        self.street.depth = self.view.depth()

    def measure(self, name):
        """Returns the numbers of rays that are free, unseen, obstacles; the counts; the state; whether the images
        are bad without a report."""
        planted = camera_faults.FAULTS[name](self.street, np.random.default_rng(zlib.crc32(name.encode())))
        bad = name.startswith(BAD)
        truth = Truth(self.view, planted.lost)
        frames, known, state = run_files(self.program, self.settings, planted.pairs, FAULT_SECONDS,
                                         SECONDS_MOST if bad else 0)
        counts = [truth.judge(f) for f in frames]
        r = frames[-1].scan().ranges
        rays = np.array([np.isposinf(r).sum(), np.isnan(r).sum(), (np.isfinite(r) | np.isneginf(r)).sum()])
        worst = np.array([max(c[k] for c in counts) for k in COUNTS])
        return rays, worst, state, bad and (not known or rays[0] > 0)


# Known excesses over the limits on the two synthetic streets (docs/use/accuracy.md, "When cameras fail"). The truth of
# fog and darkness begins where 3 % of the contrast is left, which can still be matched. The two points beside a patch
# lie in the row of cells at its edge.
KNOWN = {
    "": {"patch before the road": "ground", "fog, sight": "ground", "dark from": "ground walls"},
    "stereo.cost=census": {"patch, grey, noise 5": "space ground"},
    "stereo.cost=census48": {"patch, grey, noise 5": "space ground"},
    "stereo.cost=census63": {"patch, grey, noise 5": "space ground"},
    "stereo.cost=zncc": {"patch, grey, noise": "space ground"},
    "stixels.method=dp": {"bonnet masked, black": "shut", "patch, grey, noise": "space ground",
                          "patch, black, right": "space"},
    "stixels.method=rdp": {"bonnet masked, black": "shut", "patch": "space ground shut lost"},
}


def known(name, settings):
    """Returns the names of the known excesses."""
    return {k for s in ["", *settings] for n, over in KNOWN.get(s, {}).items() if name.startswith(n)
            for k in over.split()}


def over_limits(name, rays, counts, unknown):
    """Returns the names of the figures over their limits."""
    c = dict(zip(COUNTS, counts))
    over = [k for k in ("blind", "early", "space", "ground") if c[k]]
    over += ["lost"] * bool(c["lost"] > LOST_MOST * c["of"]) + ["shut"] * bool(c["shut"] > SHUT_MOST * c["among"])
    over += ["walls"] * bool(name.startswith(NO_WALLS) and c["walls"] > WALLS_MOST * sum(rays))
    return over + ["not known as bad"] * bool(unknown)


def files_of(path):
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    return ["source.kind=files", "source.loop=yes", "source.path=" + path,
            "camera.calibration=" + os.path.join(folder, "calib.txt")]


def street_of(scene):
    return ["source.kind=synthetic", "source.size=640x240", "source.scene=" + scene, "stereo.disparities=64"]


def table(pool, cases, names, known_here):
    """Measures all faults and prints their table. Returns the number of faults over a limit.

    known_here: function of a fault's name that returns the names of its known excesses."""
    failed, still = [], []
    print("| fault | free | unseen | obstacle | %s | state |\n|%s" % (" | ".join(COUNTS), "---|" * (len(COUNTS) + 5)))
    found = {n: [pool.submit(case.measure, n) for case in cases if len(case.street.pairs) > 1 or "frozen" not in n]
             for n in names}
    for name, results in found.items():
        results = [f.result() for f in results]
        if not results:
            continue
        rays, counts = (sum(r[i] for r in results) for i in (0, 1))
        over = over_limits(name, rays, counts, any(r[3] for r in results))
        old = [k for k in over if k in known_here(name)]
        still += ["%s: %s" % (name, ", ".join(old))] if old else []
        over = [k for k in over if k not in old]
        print("| %s | %s | %s |" % (name, " | ".join(map(str, [*rays, *counts])),
                                   "; ".join(sorted({r[2] for r in results}))), flush=True)
        failed += ["%s: %s" % (name, ", ".join(over))] if over else []
    if still:
        print("\nknown to be over a limit:", *still, sep="\n")
    print("\n%d of %d faults are over a limit" % (len(failed), len(names)), *failed, sep="\n")
    return len(failed)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build")
    p.add_argument("path", nargs="*")
    p.add_argument("-s", action="append", default=[], metavar="KEY=VALUE")
    p.add_argument("--each", action="append", default=[], metavar="KEY=VALUE")
    p.add_argument("--only", action="append", default=[], metavar="TEXT")
    p.add_argument("--jobs", type=int, default=8)
    a = p.parse_intermixed_args()
    os.environ.setdefault("STIXEL_LIBRARY", os.path.join(a.build, "ipc", "client", "libstixel.so.1"))
    program = os.path.join(a.build, "daemon", "stixeld")
    sources = [files_of(path) for path in a.path] or [street_of(scene) for scene in ("street", "open")]
    names = [n for n in camera_faults.FAULTS if not a.only or n.startswith(tuple(a.only))]
    if not names:
        p.error("no fault begins with %s" % " or ".join(a.only))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        drawn = list(pool.map(lambda source: Drawn(program, source, a.s), sources))
        for each in a.each or [None]:
            more = [each] if each else []
            cases = list(pool.map(lambda d, more=more: Case(program, d, more), drawn))
            print("%s\n" % each if each else "", end="")
            failed += table(pool, cases, names, known_here=lambda name, s=a.s + more: () if a.path else known(name, s))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
