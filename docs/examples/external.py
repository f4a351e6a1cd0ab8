#!/usr/bin/env python3
"""Matches for stixeld with OpenCV's SGBM: external.py front

stixeld needs stereo.matcher = external, external.source = front and external.pairs = yes, which offers the images of
each pair before there is a frame. Any other matcher goes in place of SGBM: a network, an accelerator.

SPDX-License-Identifier: Apache-2.0
"""
import signal
import sys

import numpy as np

import stixel

writer = None
signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as by Ctrl-C, which takes the ring away
try:
    import cv2
    matcher = cv2.StereoSGBM_create(numDisparities=128, blockSize=5, P1=200, P2=800, disp12MaxDiff=1, uniquenessRatio=5)
    with stixel.open(sys.argv[1] + ".pairs", follow=True) as pairs:
        while True:
            pair = pairs.latest(timeout=None)  # the pair that waits: it is given up after external.wait_ms
            if pair is None or pair.left is None:
                continue
            if writer is None:
                height, width = pair.left.shape
                writer = stixel.DisparityWriter(sys.argv[1], size=(width, height))
            disparity = matcher.compute(np.ascontiguousarray(pair.left), np.ascontiguousarray(pair.right))
            writer.write(disparity.astype(np.float32) / 16, pair)  # what is not above 0 is invalid
except IndexError:
    sys.exit("usage: external.py INSTANCE")
except (ImportError, stixel.StixelError, ValueError) as e:
    sys.exit(str(e))
except KeyboardInterrupt:
    pass
finally:
    if writer:
        writer.close()
