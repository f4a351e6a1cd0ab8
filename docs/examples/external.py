#!/usr/bin/env python3
"""Matches for stixeld with OpenCV's SGBM: external.py front

stixeld needs stereo.matcher = external, external.source = front and external.pairs = yes. Then it publishes the
images of each pair before the frame is computed. SGBM can be replaced by any other matcher, such as a network or an
accelerator.

SPDX-License-Identifier: Apache-2.0
"""
import signal
import sys

import numpy as np

import stixel

writer = None
signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C, so that the ring is removed
try:
    import cv2
    matcher = cv2.StereoSGBM_create(numDisparities=128, blockSize=5, P1=200, P2=800, disp12MaxDiff=1, uniquenessRatio=5)
    with stixel.open(sys.argv[1] + ".pairs", follow=True) as pairs:
        while True:
            pair = pairs.latest(timeout=None)  # the pair that stixeld waits for; it gives up after external.wait_ms
            if pair is None or pair.left is None:
                continue
            if writer is None:
                height, width = pair.left.shape
                writer = stixel.DisparityWriter(sys.argv[1], size=(width, height))
            disparity = matcher.compute(np.ascontiguousarray(pair.left), np.ascontiguousarray(pair.right))
            writer.write(disparity.astype(np.float32) / 16, pair)  # disparities of 0 and below are invalid
except IndexError:
    sys.exit("usage: external.py INSTANCE")
except (ImportError, stixel.StixelError, ValueError) as e:
    sys.exit(str(e))
except KeyboardInterrupt:
    pass
finally:
    if writer:
        writer.close()
