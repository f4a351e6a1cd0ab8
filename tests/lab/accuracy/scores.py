#!/usr/bin/env python3
"""Measures what class scores change in stixels of real roads, against lidar, and chooses settings by folds of pairs.

Usage: tests/lab/accuracy/scores.py STIXEL_PROCESS TRAINING SCORES... [-s KEY=VALUE]... [--try "KEY=VALUE ..."]...
           [--white FILE] [--names FILE] [--folds N] [-v]

STIXEL_PROCESS, TRAINING, -s, --white and --names: as for lidar.py. SCORES: folders with NAME.npy of every pair, as
make_scores.py writes them. Prints, for each folder, the mean over the pairs with these scores, its difference from the
mean without scores, and the standard error of this difference over the pairs. A difference is marked by ! if it is
worse than without scores by more than one standard error. missed includes obstacles published as unknown. label is the
share of stixels with a label whose label is the most probable class of more of their pixels than any other class is;
it has no value without scores.
  --try     measures these settings on top of those of -s; may be repeated. With two or more, --folds chooses among them
  --folds   splits the pairs into N folds, chooses the best settings by the pairs of all other folds, and prints what
            the pairs of each fold have with the settings that were chosen without them (5)
  -v        prints a line for every pair

The best settings have the lowest sum of all figures, each divided by its aim (AIMS), over all folders; a figure that is
worse than without scores by more than a standard error counts ten times that excess in addition.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import csv
import multiprocessing
import os
import subprocess
import sys
import tempfile

import numpy as np

import lidar

NAMES = ("false", "missed", "dist", "near", "far", "white")
AIMS = np.array([1.0, 0.9, 8.0, 2.0, 3.6, 1.2])
SCALE, WIDTH = 4, 4

truths = {}  # name: its truth, shared with the workers


def settings_of(words, camera):
    """Returns the arguments of stixel-process for settings, with the camera of a pair."""
    for key, value in zip(("fx", "fy", "cx", "cy", "baseline_m"), camera):
        words = words + ("camera.%s=%.9g" % (key, value),)
    return [w for word in words for w in ("-s", word)]


def share_of_majority(path, scores):
    """Returns the share of stixels with a label, percent, whose label no other class exceeds among their pixels."""
    most, right, count = scores.argmax(0), 0, 0
    with open(path, newline="") as f:
        for s in csv.DictReader(f):
            if s["label"] == "":
                continue
            rows = np.arange(int(s["row_top"]), int(s["row_bottom"]) + 1) // SCALE
            votes = np.bincount(most[rows, int(s["column"]) * WIDTH // SCALE], minlength=len(scores))
            right += votes[int(s["label"])] == votes.max()
            count += 1
    return 100 * right / count if count else np.nan


def measure(job):
    """Returns the figures of a pair in the order of NAMES, then label."""
    program, training, name, words, folder = job
    truth = truths[name]
    command = [program] + settings_of(words + ("stixels.width=%d" % WIDTH,), truth.camera)
    scores = os.path.join(folder, name + ".npy") if folder else None
    if scores:
        command += ["--semantics", scores]
    with tempfile.TemporaryDirectory() as out:
        command += ["-o", out] + [os.path.join(training, side, name + ".png") for side in ("image_2", "image_3")]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        path = os.path.join(out, name + ".stixels.csv")
        figures = dict(zip(lidar.NAMES, truth.figures(*lidar.paint(path, truth, WIDTH))))
        label = share_of_majority(path, np.load(scores)) if scores else np.nan
    figures["missed"] += figures["unknown"]
    return [figures[n] for n in NAMES] + [label]


class Bench:
    """The pairs with their truth, and workers that measure them."""

    def __init__(self, program, training, names, white):
        self.program, self.training, self.names = program, training, names
        for name in names:
            truths[name] = lidar.Truth(training, name, name in white)
        self.pool = multiprocessing.Pool()

    def run(self, words, folder=None):
        """Returns the figures of all pairs, [pair][figure]."""
        jobs = [(self.program, self.training, name, tuple(words), folder) for name in self.names]
        return np.array(self.pool.map(measure, jobs, chunksize=1))


def compare(given, without):
    """Returns mean, difference and its standard error, each by figure; given, without: [pair][figure]."""
    d = given - without
    n = (~np.isnan(d)).sum(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nanmean(given, 0), np.nanmean(d, 0), np.nanstd(d, 0, ddof=1) / np.sqrt(n)


def cost(sets, without):
    """Returns the cost of settings by the figures with each set of scores, [set][pair][figure]."""
    total = 0
    for given in sets:
        mean, d, error = compare(given, without)
        total += (mean / AIMS).sum() + 10 * (np.maximum(d - error, 0) / AIMS).sum()
    return total / len(sets)


def folds_of(count, n):
    """Returns n arrays with the numbers of the pairs of each fold; neighbours, which show the same places, together."""
    return np.array_split(np.arange(count), n)


def choose(measured, without, n):
    """Returns the choice of each fold, and the figures of all pairs with the settings chosen without them.
    measured: settings: [set][pair][figure]."""
    choices, figures = [], np.full(next(iter(measured.values())).shape, np.nan)
    for fold in folds_of(len(without), n):
        rest = np.setdiff1d(np.arange(len(without)), fold)
        best = min(measured, key=lambda words: cost(measured[words][:, rest], without[rest]))
        choices.append(best)
        figures[:, fold] = measured[best][:, fold]
    return choices, figures


def print_table(title, folders, sets, without, label):
    head = ["%8s %6s %5s " % (n, "diff", "error") for n in NAMES]
    print("%-34s" % title, *head, "label" if label is not None else "")
    for i, folder in enumerate(folders):
        cells = ("%8.2f %+6.2f %5.2f%s" % (m, d, e, "!" if d > e else " ")
                 for m, d, e in zip(*compare(sets[i], without)))
        print("%-34s" % os.path.basename(os.path.normpath(folder)), *cells,
              "%5.1f" % np.nanmean(label[i]) if label is not None else "", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("training")
    p.add_argument("scores", nargs="+")
    p.add_argument("-s", action="append", default=[], metavar="KEY=VALUE")
    p.add_argument("--try", action="append", default=[], metavar="SETTINGS", dest="tries")
    p.add_argument("--white")
    p.add_argument("--names")
    p.add_argument("--folds", type=int, default=5)
    p.add_argument("-v", action="store_true")
    a = p.parse_args()
    names = lidar.names_in(a.names) if a.names else lidar.pairs_of(a.training)
    if not names:
        sys.exit("scores.py: no pairs in %s" % a.training)
    bench = Bench(a.program, a.training, names, lidar.names_in(a.white) if a.white else [])
    without = bench.run(a.s)[:, :-1]
    print("without scores:", *("%s %.2f" % f for f in zip(NAMES, np.nanmean(without, 0))), flush=True)
    measured = {}
    for words in a.tries or [""]:
        sets = np.array([bench.run(a.s + words.split(), folder) for folder in a.scores])
        measured[words] = sets[:, :, :-1]
        print_table(words or "with scores", a.scores, measured[words], without, sets[:, :, -1])
        print("  cost %.3f" % cost(measured[words], without))
        if a.v:
            for i, folder in enumerate(a.scores):
                for name, row in zip(names, sets[i]):
                    print("  ", os.path.basename(folder), name, *("%s %.2f" % f for f in zip(NAMES + ("label",), row)))
    if len(measured) > 1:
        choices, figures = choose(measured, without, a.folds)
        print("chosen in %d folds:" % a.folds,
              *("%s (%d)" % c for c in collections.Counter(choices).most_common()), sep="\n  ")
        print_table("pairs left out", a.scores, figures, without, None)


if __name__ == "__main__":
    main()
