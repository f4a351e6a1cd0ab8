#!/usr/bin/env python3
"""Gives stixeld both infrared images of a RealSense D400: pip install pyrealsense2; realsense_pairs.py front

The camera rectifies Y8 images. stixeld needs source.kind = shared. No device was at hand: the names are those of
pyrealsense2 2.59 from PyPI, and a test runs this file with a stand-in for it.

SPDX-License-Identifier: Apache-2.0
"""
import sys

import numpy as np
import pyrealsense2 as rs

import stixel

WIDTH, HEIGHT, FPS = 848, 480, 30

config, pipeline = rs.config(), rs.pipeline()
for side in (1, 2):
    config.enable_stream(rs.stream.infrared, side, WIDTH, HEIGHT, rs.format.y8, FPS)
try:
    profile = pipeline.start(config)
    left, right = (profile.get_stream(rs.stream.infrared, side).as_video_stream_profile() for side in (1, 2))
    lens = left.get_intrinsics()
    baseline_m = abs(left.get_extrinsics_to(right).translation[0])
    with stixel.PairWriter(sys.argv[1], WIDTH, HEIGHT, fps=FPS, clock=stixel.Clock.REALTIME,
                           camera=(lens.fx, lens.fy, lens.ppx, lens.ppy, baseline_m)) as writer:
        while True:
            frames = pipeline.wait_for_frames()
            images = [frames.get_infrared_frame(side) for side in (1, 2)]
            # ms since 1970, unless the kernel driver lacks the metadata; 0: the daemon takes its own clock
            on_host = images[0].get_frame_timestamp_domain() != rs.timestamp_domain.hardware_clock
            times = [int(image.get_timestamp() * 1e6) if on_host else 0 for image in images]
            writer.write(*(np.asanyarray(image.get_data()) for image in images), *times)
except KeyboardInterrupt:
    pass
except (stixel.StixelError, RuntimeError, IndexError) as e:
    sys.exit(str(e) if sys.argv[1:] else "usage: realsense_pairs.py INSTANCE")
