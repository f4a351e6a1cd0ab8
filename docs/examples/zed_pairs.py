#!/usr/bin/env python3
"""Gives stixeld the rectified pairs of a ZED camera: zed_pairs.py front

It needs the ZED SDK with its module pyzed, and stixeld with source.kind = shared. Neither device nor SDK was at hand:
the names are those of the documentation of SDK 4, and a test runs this file with a stand-in for it.

SPDX-License-Identifier: Apache-2.0
"""
import sys

import pyzed.sl as sl

import stixel

FPS = 30
init = sl.InitParameters()
init.camera_resolution, init.camera_fps = sl.RESOLUTION.HD720, FPS
init.depth_mode, init.coordinate_units = sl.DEPTH_MODE.NONE, sl.UNIT.METER
camera, left, right = sl.Camera(), sl.Mat(), sl.Mat()
try:
    if camera.open(init) != sl.ERROR_CODE.SUCCESS:
        sys.exit("no ZED camera can be opened")
    setup = camera.get_camera_information().camera_configuration
    lens = setup.calibration_parameters.left_cam  # camera of the rectified images
    baseline_m = setup.calibration_parameters.get_camera_baseline()
    with stixel.PairWriter(sys.argv[1], setup.resolution.width, setup.resolution.height, fps=FPS,
                           camera=(lens.fx, lens.fy, lens.cx, lens.cy, baseline_m),
                           clock=stixel.Clock.REALTIME) as writer:
        while camera.grab() == sl.ERROR_CODE.SUCCESS:
            camera.retrieve_image(left, sl.VIEW.LEFT_GRAY)
            camera.retrieve_image(right, sl.VIEW.RIGHT_GRAY)
            ns = camera.get_timestamp(sl.TIME_REFERENCE.IMAGE).get_nanoseconds()  # both images; since 1970
            writer.write(left.get_data().reshape(writer.shape), right.get_data().reshape(writer.shape), ns, ns)
except KeyboardInterrupt:
    pass
except (stixel.StixelError, IndexError) as e:
    sys.exit(str(e) if sys.argv[1:] else "usage: zed_pairs.py INSTANCE")
finally:
    camera.close()
