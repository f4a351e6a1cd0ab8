#!/usr/bin/env python3
"""Sends stixeld class scores of its own left images: scores.py front my_network

my_network is your own module: segment(left) returns an array of (19, ceil(h / 4), ceil(w / 4)), uint8 or 0 to 1.
stixeld needs semantics.source = front, and semantics.max_age_ms, because these scores arrive after the frame of
their picture.

SPDX-License-Identifier: Apache-2.0
"""
import importlib
import signal
import sys

import stixel

writer = None
signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C, so that the ring is removed
try:
    network = importlib.import_module(sys.argv[2])
    with stixel.open(sys.argv[1], follow=True, images=["left"]) as reader:
        while True:
            frame = reader.latest(timeout=None)  # a network is slower than a camera, so take the newest frame
            if frame is None or frame.left is None:
                continue  # images start one frame after the request
            if writer is None:
                height, width = frame.left.shape
                writer = stixel.ScoreWriter(sys.argv[1], classes=19, size=(width, height), scale=4)
            writer.write(network.segment(frame.left), frame)
except IndexError:
    sys.exit("usage: scores.py INSTANCE MODULE")
except (ImportError, stixel.StixelError, ValueError) as e:
    sys.exit(str(e))
except KeyboardInterrupt:
    pass
finally:
    if writer:
        writer.close()
