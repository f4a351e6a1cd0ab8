"""Exit codes of the bridge, and the errors that end a connection. Errors that end the program are in stixel._program.

SPDX-License-Identifier: Apache-2.0
"""
from stixel._program import (CANNOT_CREATE, CONFIG, DATA, ENDS, FAILED, PERMISSION, UNAVAILABLE, USAGE, Fail,
                             described, sentence)

__all__ = ["CANNOT_CREATE", "CONFIG", "DATA", "ENDS", "EXITS", "FAILED", "Fail", "PERMISSION", "SinkError",
           "UNAVAILABLE", "USAGE", "described", "sentence"]

EXITS = [
    (0, "ended by a signal; play: also at the end of the recording"),
    (USAGE, "wrong usage"),
    (DATA, "play: the recording cannot be read, or has no pair of images"),
    (UNAVAILABLE, "a Python package or libstixel is missing; play: the daemon refuses the pairs"),
    (FAILED, "an error of the program itself"),
    (CANNOT_CREATE, "its status socket cannot be made, or another bridge of this name runs"),
    (PERMISSION, "play: this user may not give pairs; join group stixel-feed"),
    (CONFIG, "the configuration cannot be used"),
]


class SinkError(Exception):
    """A sink lost its connection, or got none. The sink is opened again later.

    Carries one sentence without the sink's name.
    """
