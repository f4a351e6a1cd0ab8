"""The kinds of sinks, each a module whose class is called Sink. What it needs of others is imported by Sink alone.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import importlib
import importlib.util
from typing import Type

from ..fail import UNAVAILABLE, Fail
from ..sink import Sink

# kind: its module here
KINDS = {
    "zenoh": "zenoh",  # native keys: the frame's own bytes
    "ros-zenoh": "ros_zenoh",  # ROS 2 messages for rmw_zenoh
    "ros-dds": "ros_dds",  # ROS 2 messages for rmw_cyclonedds, rmw_fastrtps
    "foxglove": "foxglove",  # WebSocket of Foxglove
}
# names of packages at PyPI that are not those under which they are imported
PYPI = {"zenoh": "eclipse-zenoh", "foxglove": "foxglove-sdk"}


def load(kind: str) -> Type[Sink]:
    """The class of this kind, whether its packages are there or not: what its options are can be said without."""
    found: Type[Sink] = importlib.import_module("%s.%s" % (__name__, KINDS[kind])).Sink
    return found


def check(kind: str) -> None:
    """Fail with what to install where a package of this kind is missing."""
    maker = load(kind)
    missing = [name for name in maker.PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise Fail(UNAVAILABLE, "sinks of kind %s need %s, which cannot be imported: pip install %s" % (
            kind, " and ".join(missing), " ".join(PYPI.get(name, name) for name in maker.PACKAGES)))
