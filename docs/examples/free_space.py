#!/usr/bin/env python3
"""How far is it free to the left, ahead and to the right? The newest frame ten times a second: free_space.py front

SPDX-License-Identifier: Apache-2.0
"""
import sys
import time

import numpy as np

import stixel

WIDTH_M = 2.0  # of the vehicle
LANES = {"left": 1.0, "ahead": 0.0, "right": -1.0}  # middle of each, in widths

try:
    with stixel.open(sys.argv[1] if len(sys.argv) > 1 else "default", follow=True) as reader:
        while True:
            frame = reader.latest(timeout=1.0)
            if frame is None:
                print("no frame for a second: the publisher is", reader.status().publisher.name)
                continue
            first = frame.first_obstacles()
            feet = frame.points("vehicle")[first[first >= 0], 0]  # X forward, Y left, Z up: their lower ends
            free, unseen = [], np.isnan(frame.free_space()).mean()
            for name, lane in LANES.items():
                inside = np.abs(feet[:, 1] - lane * WIDTH_M) < WIDTH_M / 2  # nan, not seen: is not
                free.append("%s %5.1f m" % (name, feet[inside, 0].min(initial=np.inf)))
            print("frame %d: %s, %.0f %% not seen" % (frame.number, ", ".join(free), 100 * unseen), flush=True)
            time.sleep(0.1)  # frames in between are passed over: frame.missed
except stixel.StixelError as e:
    sys.exit(str(e))
except KeyboardInterrupt:
    pass
