#!/usr/bin/env python3
"""Prints how far the way is free to the left, ahead and to the right, ten times a second: free_space.py front

SPDX-License-Identifier: Apache-2.0
"""
import sys
import time

import numpy as np

import stixel

WIDTH_M = 2.0  # width of the vehicle
LANES = {"left": 1.0, "ahead": 0.0, "right": -1.0}  # middle of each lane, in vehicle widths

try:
    with stixel.open(sys.argv[1] if len(sys.argv) > 1 else "default", follow=True) as reader:
        while True:
            frame = reader.latest(timeout=1.0)
            if frame is None:
                print("no frame for a second: the publisher is", reader.status().publisher.name)
                continue
            ahead = frame.free_space()  # free distance of each column along the optical axis; nan: not seen
            middle = (np.arange(frame.columns) + 0.5) * frame.column_width - 0.5
            left = (frame.camera.cx - middle) / frame.camera.fx * np.where(np.isinf(ahead), np.nan, ahead)
            free, unseen = [], np.isnan(ahead).mean()
            for name, lane in LANES.items():
                inside = np.abs(left - lane * WIDTH_M) < WIDTH_M / 2  # nan compares as false
                free.append("%s %5.1f m" % (name, ahead[inside].min(initial=np.inf)))
            print("frame %d: %s, %.0f %% not seen" % (frame.number, ", ".join(free), 100 * unseen), flush=True)
            time.sleep(0.1)  # frames in between are skipped and counted in frame.missed
except stixel.StixelError as e:
    sys.exit(str(e))
except KeyboardInterrupt:
    pass
