"""The kinds of inputs: topics of ROS 2 that become pairs for an instance of stixeld, and the parts that they share.

Each kind is a module whose class is called Input; only that class imports foreign packages.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import importlib
from typing import Type

from .. import sinks
from .topics import PAIR, Input

__all__ = ["KINDS", "PAIR", "Input", "check", "load"]

# kind: module in this folder
KINDS = {
    "ros-zenoh": "ros_zenoh",  # topics of nodes with rmw_zenoh
    "ros-dds": "ros_dds",  # topics of nodes with rmw_cyclonedds, rmw_fastrtps
}


def load(kind: str) -> Type[Input]:
    """Returns the class of this kind, even without its packages, so that its options can be listed."""
    found: Type[Input] = importlib.import_module("%s.%s" % (__name__, KINDS[kind])).Input
    return found


def check(kind: str) -> None:
    """Raises Fail, which says what to install, if a package of this kind is missing."""
    sinks.need("pairs of kind " + kind, load(kind).PACKAGES)
