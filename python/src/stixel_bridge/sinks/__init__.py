"""The kinds of sinks. Each is a module whose class is called Sink; only that class imports foreign packages.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import importlib
import importlib.util
from typing import Sequence, Type

from ..fail import UNAVAILABLE, Fail
from ..sink import Sink

# kind: module in this folder
KINDS = {
    "zenoh": "zenoh",  # native keys: the bytes of the frame
    "ros-zenoh": "ros_zenoh",  # ROS 2 messages for rmw_zenoh
    "ros-dds": "ros_dds",  # ROS 2 messages for rmw_cyclonedds, rmw_fastrtps
    "foxglove": "foxglove",  # WebSocket server for Foxglove
}
# names at PyPI of packages that are imported under another name
PYPI = {"zenoh": "eclipse-zenoh", "foxglove": "foxglove-sdk"}


def load(kind: str) -> Type[Sink]:
    """Returns the class of this kind, even without its packages, so that its options can be listed."""
    found: Type[Sink] = importlib.import_module("%s.%s" % (__name__, KINDS[kind])).Sink
    return found


def check(kind: str) -> None:
    """Raises Fail, which says what to install, if a package of this kind is missing."""
    need("sinks of kind " + kind, load(kind).PACKAGES)


def need(what: str, packages: Sequence[str]) -> None:
    """Raises Fail, which says what to install, if a package that something needs is missing."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise Fail(UNAVAILABLE, "%s need %s, which cannot be imported: pip install %s" % (
            what, " and ".join(missing), " ".join(PYPI.get(name, name) for name in packages)))
