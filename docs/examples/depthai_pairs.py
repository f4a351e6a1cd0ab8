#!/usr/bin/env python3
"""Gives stixeld the rectified pairs of an OAK camera: pip install depthai; depthai_pairs.py front

The camera rectifies. stixeld needs source.kind = shared. No device was at hand: the names are those of depthai 3.12
from PyPI, and a test runs this file with a stand-in for it.

SPDX-License-Identifier: Apache-2.0
"""
import datetime
import sys

import depthai as dai

import stixel

WIDTH, HEIGHT, FPS = 640, 400, 30
MICROSECOND = datetime.timedelta(microseconds=1)

try:
    with dai.Pipeline() as pipeline:
        device = pipeline.getDefaultDevice().readCalibration()
        # rectified images of both sides have the matrix of the right camera
        (fx, _, cx), (_, fy, cy), _ = device.getCameraIntrinsics(device.getStereoRightCameraId(), WIDTH, HEIGHT)
        baseline_m = device.getBaselineDistance(useSpecTranslation=False, unit=dai.LengthUnit.METER)
        stereo = pipeline.create(dai.node.StereoDepth).build(autoCreateCameras=True, size=(WIDTH, HEIGHT), fps=FPS)
        sync = pipeline.create(dai.node.Sync)
        stereo.rectifiedLeft.link(sync.inputs["left"])
        stereo.rectifiedRight.link(sync.inputs["right"])
        queue = sync.out.createOutputQueue(maxSize=2, blocking=False)
        pipeline.start()
        with stixel.PairWriter(sys.argv[1], WIDTH, HEIGHT, fps=FPS, camera=(fx, fy, cx, cy, baseline_m)) as writer:
            while pipeline.isRunning():
                pair = queue.get()
                images = [pair["left"], pair["right"]]  # their times: the host's monotonic clock
                times = [i.getTimestamp(dai.CameraExposureOffset.START) // MICROSECOND * 1000 for i in images]
                writer.write(images[0].getFrame(), images[1].getFrame(), *times)
except KeyboardInterrupt:
    pass
except (stixel.StixelError, RuntimeError, IndexError) as e:
    sys.exit(str(e) if sys.argv[1:] else "usage: depthai_pairs.py INSTANCE")
