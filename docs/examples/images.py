#!/usr/bin/env python3
"""Writes the pairs of a recording as files in the layout of KITTI's odometry data: images.py drive.mcap FOLDER

stixel-process --motion FOLDER then says what the drive shows about the distances. The recording needs both images
(output.planes = pair); with --raw they are exact.

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys

import stixel

if len(sys.argv) != 3:
    sys.exit("usage: images.py RECORDING FOLDER")
folder, count, first = sys.argv[2], 0, 0
try:
    for side in ("image_0", "image_1"):
        os.makedirs(os.path.join(folder, side), exist_ok=True)
    with stixel.Recording(sys.argv[1]) as recording, open(os.path.join(folder, "times.txt"), "w") as times:
        for frame in recording:
            if frame.left is None or frame.right is None:
                sys.exit("%s: frame %d has no pair: record with output.planes = pair" % (sys.argv[1], frame.number))
            for side, image in (("image_0", frame.left), ("image_1", frame.right)):
                with open(os.path.join(folder, side, "%06d.pgm" % count), "wb") as f:
                    f.write(b"P5 %d %d 255\n" % image.shape[::-1] + image.tobytes())
            count, first = count + 1, first or frame.capture_left_ns
            times.write("%.6f\n" % ((frame.capture_left_ns - first) / 1e9))
    if not count:
        sys.exit("%s: no frame" % sys.argv[1])
    c, seconds = frame.camera, (frame.capture_left_ns - first) / 1e9
    with open(os.path.join(folder, "calib.txt"), "w") as calibration:
        for k in range(2):
            calibration.write("P%d: %.9g 0 %.9g %.9g 0 %.9g %.9g 0 0 0 1 0\n" % (
                k, c.fx, c.cx, -k * c.fx * c.baseline_m, c.fy, c.cy))
    rate = (count - 1) / seconds if seconds > 0 else 10
    print("%d pairs: stixel-process --motion --fps %.3g %s" % (count, rate, folder))
except (stixel.StixelError, OSError) as e:
    sys.exit(str(e))
