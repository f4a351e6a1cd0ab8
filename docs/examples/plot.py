#!/usr/bin/env python3
"""Draws a frame, image and bird's eye view: plot.py front frame.png (needs matplotlib)

SPDX-License-Identifier: Apache-2.0
"""
import sys

import numpy as np
from matplotlib import pyplot
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
shown = image.add_collection(PolyCollection(boxes, array=near_m, cmap="turbo_r", alpha=0.5, clim=(2, 50)))
figure.colorbar(shown, ax=image, label="depth, m")
image.set_title("frame %d, %s" % (frame.number, frame.captured_at.strftime("%Y-%m-%d %H:%M:%S UTC")))

first = frame.first_obstacles()
feet = frame.points("vehicle")[first[first >= 0], 0]  # X forward, Y left, Z up
free = np.nan_to_num(feet)  # what is not seen is not free: back to the camera
map_.fill([0, *free[:, 1]], [0, *free[:, 0]], color="tab:green", alpha=0.2, label="free")
map_.plot(feet[:, 1], feet[:, 0], ".", color="tab:red", label="first obstacle")
map_.set(xlim=(15, -15), ylim=(0, 40), xlabel="left, m", ylabel="ahead, m", aspect="equal")
map_.legend()
figure.savefig(sys.argv[2])
