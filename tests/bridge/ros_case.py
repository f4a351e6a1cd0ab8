# What the tests of both transports of ROS 2 share: a sink by its defaults, frames of a wall on a level road.
# SPDX-License-Identifier: Apache-2.0
import socket
import time

import support

instances = support.instances()  # before stixel: NumPy or none
import numpy as np  # noqa: E402
import stixel  # noqa: E402
from stixel_bridge import config  # noqa: E402
from stixel_bridge.sink import Instance, Report, Work  # noqa: E402

FRONT = Instance("front", {option.name: option.default for option in config.INSTANCE})
HEIGHT, BASELINE, FOCAL = 1.2, 0.2, 500.0
CAMERA = {
    "fx": FOCAL, "fy": FOCAL, "cx": 319.5, "cy": 239.5, "baseline_m": BASELINE, "disparities": 64,
    "road_origin": stixel.RoadOrigin.MEASURED, "road_slope": BASELINE / HEIGHT, "road_offset": -239.5 * BASELINE / HEIGHT,
    "horizon_row": 239.5, "height_m": HEIGHT, "road_inliers": 1000,
    "anchor_realtime_ns": 1_700_000_000_000_000_000, "anchor_monotonic_ns": 5_000_000_000,
    "capture_left_ns": 6_000_000_000, "capture_right_ns": 6_000_000_000,
}


def sink(module, *instances, **options):
    """One of this module, connected to nothing."""
    values = {option.name: option.default for option in [*config.COMMON, *module.Sink.OPTIONS]}
    unknown = set(options) - set(values)
    if unknown:
        raise AssertionError("no such options: %s" % unknown)
    return module.Sink("ros", dict(values, **options), "host", list(instances or (FRONT,)))


def frame(number=1):
    """A wall 10 m ahead, in 64 columns, with the left image."""
    top, foot = 140, round(239.5 + FOCAL * HEIGHT / 10)
    wall = [{"row_top": top, "row_bottom": foot, "disparity_q7": round(FOCAL * BASELINE / 10 * 128), "support": 500,
             "confidence": 200}]
    left = np.arange(480 * 640, dtype=np.uint32).astype(np.uint8).reshape(480, 640)
    return stixel.load(instances.pack([wall] * 64, [(stixel.Plane.LEFT, left)], column_width=10, number=number, **CAMERA))


def work(number=1, instance=FRONT):
    return Work(instance, frame(number), time.monotonic_ns())


def report(instance=FRONT):
    return Report(instance, "alive", "running", None)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
