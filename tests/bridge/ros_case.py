# What the tests of both transports of ROS 2 share: a sink by its defaults, and a frame of a hand-made street.
# SPDX-License-Identifier: Apache-2.0
import socket
import time

import support  # noqa: F401 (paths, and the Python with the packages)
import numpy as np
import stixel
from stixel_bridge import config
from stixel_bridge.sink import Instance, Report, Work

KIND, PLANE = stixel.Kind, stixel.Plane
FRONT = Instance("front", {option.name: option.default for option in config.INSTANCE})


def sink(kind, *instances, **options):
    """One of this module, connected to nothing."""
    values = {option.name: option.default for option in [*config.COMMON, *kind.Sink.OPTIONS]}
    unknown = set(options) - set(values)
    if unknown:
        raise AssertionError("no options: %s" % unknown)
    return kind.Sink("ros", dict(values, **options), "host", list(instances or (FRONT,)))


def frame(columns=40):
    """Of a wall 10 m ahead on a level road, seen from 1.2 m; with the left image."""
    import support_frames
    left = np.arange(480 * 640, dtype=np.uint32).astype(np.uint8).reshape(480, 640)
    wall = [{"row_top": 180, "row_bottom": 299, "disparity_q7": 6 * 128, "support": 500, "confidence": 200}]
    data = support_frames.pack([wall] * columns, [(PLANE.LEFT, left)], column_width=640 // columns, **support_frames.CAMERA)
    return stixel.load(data)


def work(of, instance=FRONT):
    return Work(instance, of, time.monotonic_ns())


def report(instance=FRONT):
    return Report(instance, "alive", "running", None)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
