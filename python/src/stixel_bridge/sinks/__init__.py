"""The kinds of sinks, each in a module that is loaded when a configuration names it, with the packages it needs.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import importlib
from typing import Type

from ..fail import UNAVAILABLE, Fail
from ..sink import Sink

# kind: its module here, whose class is called Sink too
KINDS = {
    "zenoh": "zenoh",  # native keys: the frame's own bytes
    "ros-zenoh": "ros_zenoh",  # ROS 2 messages for rmw_zenoh
    "ros-dds": "ros_dds",  # ROS 2 messages for rmw_cyclonedds, rmw_fastrtps
    "foxglove": "foxglove",  # WebSocket of Foxglove
}


def load(kind: str) -> Type[Sink]:
    """The class of this kind; Fail with what to install when a package is missing."""
    module = "%s.%s" % (__name__, KINDS[kind])
    try:
        found: Type[Sink] = importlib.import_module(module).Sink
    except ImportError as e:
        missing = e.name or str(e)
        if missing.startswith(__name__):
            raise
        raise Fail(UNAVAILABLE, "sinks of kind %s need the Python package %s: pip install 'stixel[%s]'" % (
            kind, missing, kind.split("-")[-1])) from None
    return found
