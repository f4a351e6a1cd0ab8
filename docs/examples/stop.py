#!/usr/bin/env python3
"""Says stop when something is nearer than 1 m, or when nothing is known, and go otherwise: stop.py front

SPDX-License-Identifier: Apache-2.0
"""
import sys

import numpy as np

import stixel

STOP_M = 1.0  # distance from the camera at which to stop
HALF_WIDTH_M = 0.3  # half of the vehicle's width: columns beside it do not matter
LATE_S = 0.5  # timeout: a frame that takes longer counts as missing


def free_ahead(frame: stixel.Frame) -> float:
    """Returns how far the way ahead is known to be free, m; 0: that is not known."""
    if not frame.camera.fx:
        return 0.0
    middle = (np.arange(frame.columns) + 0.5) * frame.column_width - 0.5
    left_m = (frame.camera.cx - middle) / frame.camera.fx * STOP_M  # offset of each column at STOP_M
    ahead = frame.free_columns()["to_m"][abs(left_m) < HALF_WIDTH_M]  # 0 where nothing was seen
    return float(ahead.min(initial=np.inf)) if len(ahead) else 0.0


try:
    with stixel.open(sys.argv[1] if len(sys.argv) > 1 else "default", follow=True) as reader:
        while True:
            frame = reader.latest(timeout=LATE_S)  # skips older frames
            ahead_m = free_ahead(frame) if frame else 0.0
            print("%s: free for %.2f m" % ("stop" if ahead_m < STOP_M else "go", ahead_m) if frame
                  else "stop: no frame", flush=True)
except stixel.StixelError as e:
    sys.exit(str(e))
except KeyboardInterrupt:
    pass
