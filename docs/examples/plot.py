#!/usr/bin/env python3
"""Draws a frame, image and bird's eye view: plot.py front frame.png (needs matplotlib)

SPDX-License-Identifier: Apache-2.0
"""
import sys

import numpy as np
from matplotlib import colors, pyplot
from matplotlib.collections import PolyCollection

import stixel

try:
    with stixel.open(sys.argv[1], images=["left"]) as reader:
        frame = next(f for f in reader if f.left is not None)
except (stixel.StixelError, StopIteration) as e:
    sys.exit(str(e) or "the publisher ended before it published an image")

s = frame.stixels[frame.stixels["kind"] == stixel.Kind.OBJECT]
near_m = frame.depth[frame.stixels["kind"] == stixel.Kind.OBJECT]
x, y, w = s["column"] * frame.column_width - 0.5, s["row_top"] - 0.5, frame.column_width
boxes = [[(a, t), (a + w, t), (a + w, b), (a, b)] for a, t, b in zip(x, y, s["row_bottom"] + 0.5)]
figure, (image, map_) = pyplot.subplots(2, 1, figsize=(9, 10), layout="constrained")
image.imshow(frame.left, cmap="gray")
shown = image.add_collection(PolyCollection(boxes, array=near_m, cmap="plasma_r", alpha=0.6, norm=colors.LogNorm()))
figure.colorbar(shown, ax=image, label="depth, m")
image.set_title("frame %d, %s" % (frame.number, frame.captured_at.strftime("%Y-%m-%d %H:%M:%S UTC")))

free = frame.free_columns()  # range of visible ground in each column, and what ends it
left = (frame.camera.cx - (np.arange(frame.columns) + 0.5) * frame.column_width + 0.5) / frame.camera.fx  # at 1 m
near, far = np.nan_to_num(free["from_m"], nan=1e3), np.minimum(free["to_m"], 1e3)
edges = np.stack([near, near, far, far], 1) * (near < far)[:, None]
sides = left[:, None] * edges + np.array([1, -1, -1, 1]) * edges * frame.column_width / 2 / frame.camera.fx
map_.add_collection(PolyCollection(np.stack([sides, edges], 2), color="tab:green", alpha=0.2, label="free"))
stops = free["end"] >= stixel.Free.OBJECT
map_.plot((left * far)[stops], far[stops], ".", color="tab:red", label="obstacle or drop")
map_.set(xlim=(15, -15), ylim=(0, 40), xlabel="left, m", ylabel="ahead, m", aspect="equal")
map_.legend()
figure.savefig(sys.argv[2])
