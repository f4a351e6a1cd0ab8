#!/usr/bin/env python3
"""Prints each frame's nearest obstacle, until the publisher ends: python3 reader.py front

SPDX-License-Identifier: Apache-2.0
"""
import sys

import stixel

try:
    with stixel.open(sys.argv[1] if len(sys.argv) > 1 else "default") as reader:
        for frame in reader:  # waits for each frame; frames come in order
            objects = frame.stixels["kind"] == stixel.Kind.OBJECT
            nearest_m = frame.depth[objects].min(initial=float("inf"))
            print("frame %d, %d missed, %d stixels, nearest %.2f m, %.1f ms old"
                  % (frame.number, frame.missed, len(frame.stixels), nearest_m, frame.age() * 1e3))
except stixel.StixelError as e:  # publisher missing, ended, restarted, ...: each has its own class
    sys.exit(str(e))
except KeyboardInterrupt:
    pass
