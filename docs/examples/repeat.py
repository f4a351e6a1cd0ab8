#!/usr/bin/env python3
"""Gives the pairs of a recording to a stixeld with source.kind = shared: repeat.py drive.mcap front

The daemon matches them again. The recording needs both images (output.planes = pair); with --raw they are exact.

SPDX-License-Identifier: Apache-2.0
"""
import sys
import time

import stixel

if len(sys.argv) != 3:
    sys.exit("usage: repeat.py RECORDING INSTANCE")
try:
    writer = None
    with stixel.Recording(sys.argv[1]) as recording:
        for frame in recording:
            left, right = frame.left, frame.right
            if left is None or right is None:
                sys.exit("%s: frame %d has no pair: record with output.planes = pair" % (sys.argv[1], frame.number))
            if writer is None:
                camera = (frame.camera.fx, frame.camera.fy, frame.camera.cx, frame.camera.cy, frame.camera.baseline_m)
                writer = stixel.PairWriter(sys.argv[2], left.shape[1], left.shape[0], camera=camera)
                if not writer.connect(timeout=10):
                    sys.exit(writer.why)
            now = time.monotonic_ns()
            writer.write(left, right, now, now, timeout=1.0)
            while writer.connect(timeout=0) and writer.counts.taken < writer.counts.queued:
                time.sleep(0.001)  # the daemon drops no pair: the next pair comes after it has read this one
    if writer:
        print("%d pairs of %s given to %s" % (writer.counts.taken, sys.argv[1], sys.argv[2]))
        writer.close()
except KeyboardInterrupt:
    pass
except (stixel.StixelError, OSError) as e:
    sys.exit(str(e))
