#!/usr/bin/env python3
"""Computes D1 of disparity maps as KITTI 2015 defines it: d1.py MAP TRUTH [MAP TRUTH]...

A map is a 16-bit grey PNG (disparity * 256, 0 = none), or a stixels.csv, from which a map is painted first. The truth
is a PNG. Prints one line for each pair, and the mean of all pairs:
  filled   share of wrong pixels after holes are filled as KITTI's development kit does
  all      the same without filling: a hole is wrong
  given    share of wrong pixels among those that the map gives
  density  share of the true pixels that the map gives
  per stixel  pixels of the picture per stixel, of a stixels.csv
Wrong: off by more than 3 px and by more than 5 %.
"""
# SPDX-License-Identifier: Apache-2.0
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                                "tools"))
for name in ("STIXEL_BUILD", "STIXEL_SOURCE"):  # support.py needs them to run programs
    os.environ.setdefault(name, "")
from support import Png  # noqa: E402

import stixel_map  # noqa: E402


def fill_row(row):
    """Fills the holes of a row. A hole takes the smaller of its two neighbours, or at an end of the row the single
    one. Returns None if the row is empty."""
    known = [x for x, d in enumerate(row) if d]
    if not known:
        return None
    out = [row[known[0]]] * known[0]
    for a, b in zip(known, known[1:]):
        out += [row[a]] + [min(row[a], row[b])] * (b - a - 1)
    return out + [row[known[-1]]] * (len(row) - known[-1])


def fill(rows):
    filled = [fill_row(r) for r in rows]
    last = next((r for r in filled if r), [0] * len(rows[0]))
    for y, r in enumerate(filled):
        last = filled[y] = r or last
    return filled


def is_wrong(given, true):
    return abs(given - true) > 3 * 256 and abs(given - true) > 0.05 * true


def measure(rows, truth):
    """Returns filled, all, given, density, in percent."""
    cells = [
        (d, f, t)
        for row, filled, true in zip(rows, fill(rows), truth)
        for d, f, t in zip(row, filled, true)
        if t
    ]
    given = sum(1 for d, _, _ in cells if d)
    wrong = sum(1 for d, _, t in cells if d and is_wrong(d, t))
    filled = sum(1 for _, f, t in cells if not f or is_wrong(f, t))
    n = max(len(cells), 1)
    return tuple(100 * v for v in (filled / n, (wrong + n - given) / n, wrong / max(given, 1), given / n))


def measure_files(path, truth):
    """Measures a map or a stixels.csv. Returns (filled, all, given, density, pixels per stixel or 0)."""
    b = Png(truth)
    if path.endswith(".csv"):
        stixels = stixel_map.read(path)
        rows, each = stixel_map.paint(stixels, b.width, b.height), b.width * b.height / max(len(stixels), 1)
        given = (b.width, b.height, 16)
    else:
        a = Png(path)
        rows, each = a.rows, 0
        given = (a.width, a.height, a.bits)
    if given != (b.width, b.height, 16) or b.bits != 16:
        sys.exit("%s: %dx%d, %d bit; %s: %dx%d, %d bit: must be of one size, 16 bit"
                 % ((path,) + given + (truth, b.width, b.height, b.bits)))
    return measure(rows, b.rows) + (each,)


def line(result, what):
    each = "per stixel %4.0f px  " % result[4] if result[4] else ""
    return "filled %5.2f %%  all %5.2f %%  given %5.2f %%  density %5.2f %%  " % result[:4] + each + what


def main(files):
    if not files or len(files) % 2 or files[0].startswith("-"):
        sys.exit(__doc__)
    results = []
    for path, truth in zip(files[::2], files[1::2]):
        results.append(measure_files(path, truth))
        print(line(results[-1], path))
    print(line(tuple(sum(c) / len(results) for c in zip(*results)), "mean of %d" % len(results)))


if __name__ == "__main__":
    main(sys.argv[1:])
