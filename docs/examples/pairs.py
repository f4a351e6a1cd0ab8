#!/usr/bin/env python3
"""Gives stixeld 20 pairs a second of a road with a box, which it draws: pairs.py front

stixeld needs source.kind = shared. Put the images of your camera or simulator in the place of the drawing.

SPDX-License-Identifier: Apache-2.0
"""
import itertools
import math
import sys
import time

import numpy as np

import stixel

WIDTH, HEIGHT, FPS = 640, 480, 20
CAMERA = (400.0, 400.0, 319.5, 239.5, 0.12)  # fx, fy, cx, cy in px, distance of the cameras in m
TEXTURE = np.random.default_rng(1).integers(0, 256, (2, HEIGHT, 2 * WIDTH), dtype=np.uint8)

try:
    with stixel.PairWriter(sys.argv[1], WIDTH, HEIGHT, "grey8", fps=FPS, camera=CAMERA, simulated=True) as writer:
        if not writer.connect(timeout=10):
            sys.exit(writer.why)
        for number in itertools.count():
            now = time.monotonic_ns()
            with writer.pair(left_ns=now, right_ns=now) as (left, right):  # arrays in shared memory
                for y in range(HEIGHT):
                    px = max(0, (y - 240) // 4)  # disparity of the road, 0.48 m below the cameras; of the sky 0
                    left[y], right[y] = TEXTURE[0, y, :WIDTH], TEXTURE[0, y, px:px + WIDTH]
                x = int(280 + 180 * math.sin(number / 20))
                left[260:400, x:x + 80] = right[260:400, x - 40:x + 40] = TEXTURE[1, :140, :80]  # 40 px: in 1.2 m
            time.sleep(1 / FPS)
except (IndexError, KeyboardInterrupt):
    sys.exit(None if sys.argv[1:] else "usage: pairs.py INSTANCE")
except (stixel.StixelError, TimeoutError) as e:
    sys.exit(str(e))
