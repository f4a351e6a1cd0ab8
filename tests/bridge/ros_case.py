# Helpers shared by the tests of both transports of ROS 2: a sink with its defaults, and frames of a box on the street.
# SPDX-License-Identifier: Apache-2.0
import socket
import time
import unittest

import support_frames

import numpy as np
import stixel
from stixel_bridge import config, trajectory
from stixel_bridge.sink import Instance, Report, Work

FRONT = Instance("front", {option.name: option.default for option in config.INSTANCE})


def sink(module, *instances, **options):
    """Creates a sink of this module, connected to nothing."""
    values = {option.name: option.default for option in [*config.COMMON, *module.Sink.OPTIONS]}
    unknown = set(options) - set(values)
    if unknown:
        raise AssertionError("no such options: %s" % unknown)
    return module.Sink("ros", dict(values, **options), "host", list(instances or (FRONT,)))


def frame(number=1):
    """Returns a frame with a box 10 m ahead on the street, over all columns, with the left image."""
    box = [{"row_top": support_frames.BOX_ROWS[0], "row_bottom": support_frames.BOX_ROWS[1], "support": 200,
            "confidence": 230, "disparity_q7": 10 * 128}]
    left = np.arange(480 * 640, dtype=np.uint32).astype(np.uint8).reshape(480, 640)
    return support_frames.frame_of([box] * (640 // support_frames.COLUMN), [(stixel.Plane.LEFT, left)], number=number)


def work(number=1, instance=FRONT):
    return Work(instance, frame(number), time.monotonic_ns())


def moving_work(number=1, instance=FRONT):
    """Returns a frame with a car that drives away, 10 m ahead, from a camera that drives 10 m/s and has come 7 m."""
    pose = trajectory.Pose(np.array([0.0, 0.0, 7.0]), np.eye(3), 1e-4 * np.eye(6), np.array([0, 0, 10.0, 0, 0, 0]),
                           1e-2 * np.eye(6), *2 * [support_frames.street().road])
    return Work(instance, support_frames.objects_frame(support_frames.table({}), number=number), time.monotonic_ns(),
                pose)


def report(instance=FRONT):
    return Report(instance, "alive", "running", None)


class Sending(unittest.TestCase):
    """Base of tests that send() repeatedly until the expected effect is seen."""

    def until(self, fits, what):
        end = time.monotonic() + 10
        while not fits():
            self.assertLess(time.monotonic(), end, what)
            self.send()
            time.sleep(0.02)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
