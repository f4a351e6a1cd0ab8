"""What ends the program: a sentence and an exit code, as of sysexits.h.

SPDX-License-Identifier: Apache-2.0
"""
NOTHING = 1
USAGE = 64
DATA = 65
UNAVAILABLE = 69
CANNOT_CREATE = 73
CONFIG = 78

EXITS = [
    (0, "done"),
    (NOTHING, "no such instance, it ended, or no frame came in time"),
    (USAGE, "wrong usage"),
    (DATA, "images cannot be read or do not fit together, too few views of the board, or a result beyond the limits"),
    (UNAVAILABLE, "OpenCV (Debian package python3-opencv), NumPy or libstixel is missing"),
    (CANNOT_CREATE, "a file cannot be written"),
    (CONFIG, "the instance is not configured to give raw pairs"),
]


class Fail(Exception):
    """Told to the user as one sentence."""

    def __init__(self, code, sentence):
        super().__init__(sentence)
        self.code = code
