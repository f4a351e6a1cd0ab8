"""What ends the program: a sentence and an exit code, as of sysexits.h.

SPDX-License-Identifier: Apache-2.0
"""
NOTHING = 1
USAGE = 64
DATA = 65
UNAVAILABLE = 69
FAILED = 70
CANNOT_CREATE = 73
NOT_ALLOWED = 77
CONFIG = 78

EXITS = [
    (0, "done"),
    (NOTHING, "no such instance, it ended, no frame came in time, or it takes no settings now"),
    (USAGE, "wrong usage"),
    (DATA, "images cannot be read or do not fit together, too few views of the board, or a result beyond the limits"),
    (UNAVAILABLE, "OpenCV (Debian package python3-opencv), NumPy, libstixel or stixelctl is missing"),
    (FAILED, "the instance failed to use the result, which is written"),
    (CANNOT_CREATE, "a file cannot be written"),
    (NOT_ALLOWED, "the instance takes no settings from this user; the result is written"),
    (CONFIG, "the instance is not configured to give raw pairs, or refuses the result, which is written"),
]


class Fail(Exception):
    """Told to the user as one sentence."""

    def __init__(self, code, sentence):
        super().__init__(sentence)
        self.code = code
