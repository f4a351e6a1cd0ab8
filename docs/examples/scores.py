#!/usr/bin/env python3
"""Gives stixeld the class scores of its own left images: scores.py front my_network

my_network is a module of yours: segment(left) gives an array of (19, ceil(h / 4), ceil(w / 4)), uint8 or 0 to 1.
stixeld needs semantics.source = front, and semantics.max_age_ms: these scores come after the frame of their picture.

SPDX-License-Identifier: Apache-2.0
"""
import importlib
import signal
import sys

import stixel

writer = None
signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as by Ctrl-C, which takes the ring away
try:
    network = importlib.import_module(sys.argv[2])
    with stixel.open(sys.argv[1], follow=True, images=["left"]) as reader:
        while True:
            frame = reader.latest(timeout=None)  # a network is slower than a camera: the newest, always
            if frame is None or frame.left is None:
                continue  # images come a frame after they were asked for
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
