#!/usr/bin/env python3
"""Prints the obstacles of each frame as boxes with distance, width and height: boxes.py front, or boxes.py drive.mcap

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys
from typing import Iterator

import stixel

NEAREST = 5  # boxes to print of a frame


def frames_of(name: str) -> Iterator[stixel.Frame]:
    """Yields the frames of a recording, or of a running instance."""
    yield from iter(stixel.Recording(name)) if os.path.isfile(name) else iter(stixel.open(name))


try:
    for frame in frames_of(sys.argv[1] if len(sys.argv) > 1 else "default"):
        boxes = frame.boxes()  # the nearest box first; boxes(gap=0.5) also joins obstacles that are farther apart
        print("frame %d: %d boxes" % (frame.number, len(boxes)))
        for b in boxes[:NEAREST]:
            print("  %6.2f m ahead, %6.2f m to the left: %.2f m wide, %.2f m high" % (
                b["x_min"], (b["y_min"] + b["y_max"]) / 2, b["y_max"] - b["y_min"], b["z_max"] - b["z_min"]))
except stixel.StixelError as e:
    sys.exit(str(e))
except KeyboardInterrupt:
    pass
