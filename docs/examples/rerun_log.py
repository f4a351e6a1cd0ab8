#!/usr/bin/env python3
"""Logs frames to rerun (pip install rerun-sdk): rerun_log.py front opens its viewer; rerun_log.py drive.mcap drive.rrd
writes a file for it.

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys

import numpy as np
import rerun as rr

import stixel

try:
    name = sys.argv[1] if len(sys.argv) > 1 else "default"
    rr.init("stixels", spawn=len(sys.argv) < 3)
    if len(sys.argv) > 2:
        rr.save(sys.argv[2])
    rr.log("road", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    frames = stixel.Recording(name) if os.path.isfile(name) else stixel.open(name, images=("left",))
    for frame in frames:
        rr.set_time("frame", sequence=frame.number)
        rr.set_time("time", timestamp=frame.wall_time(frame.capture_left_ns))
        for what, points, colour in (("obstacles", frame.obstacle_points(step=0.2, range_max=60.0), (255, 160, 60)),
                                     ("ground", frame.ground_points(), (100, 160, 100))):
            rr.log("road/" + what, rr.Points3D(np.stack([points[k] for k in "xyz"], 1), colors=colour, radii=0.05))
        b = frame.boxes()
        low, high = (np.stack([b[k + end] for k in "xyz"], 1).astype(float) for end in ("_min", "_max"))
        rr.log("road/boxes", rr.Boxes3D(mins=low, sizes=high - low, labels=["%.1f m" % x for x in b["x_min"]]))
        if frame.left is not None:
            rr.log("left", rr.Image(frame.left, color_model="L").compress(jpeg_quality=90))
except stixel.StixelError as e:
    sys.exit(str(e))
except KeyboardInterrupt:
    pass
