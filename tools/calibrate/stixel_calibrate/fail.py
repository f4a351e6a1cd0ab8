"""Errors that end the program: a sentence and an exit code of sysexits.h.

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

PACKAGES = {  # Debian packages of the modules that the program loads
    "cv2": "OpenCV for Python, 4.6 to 5 (Debian package python3-opencv; pip: opencv-python-headless)",
    "numpy": "NumPy (Debian package python3-numpy; pip: numpy)",
    "stixel": "stixeld's Python module (Debian package python3-stixel; from its source: pip install ./python)",
}

EXITS = [
    (0, "done"),
    (NOTHING, "no such instance, it ended, no frame came in time, or it takes no settings now"),
    (USAGE, "wrong usage"),
    (DATA, "images cannot be read or do not fit together, too few views of the board, or a result beyond the limits"),
    (UNAVAILABLE, "OpenCV 4.6 to 5 (Debian package python3-opencv), NumPy, the Python module stixel (python3-stixel), "
                  "libstixel or stixelctl is missing"),
    (FAILED, "the instance failed to use the result, which is written"),
    (CANNOT_CREATE, "a file cannot be written"),
    (NOT_ALLOWED, "the instance takes no settings from this user; the result is written"),
    (CONFIG, "the instance is not configured to give raw pairs, or refuses the result, which is written"),
]


def missing_module(e):
    """Returns the Fail for an ImportError."""
    name = (e.name or "").split(".")[0]
    if name in PACKAGES:
        return Fail(UNAVAILABLE, "the Python module %s cannot be loaded: install %s" % (name, PACKAGES[name]))
    return Fail(UNAVAILABLE, "a Python module cannot be loaded: %s" % e)


class Fail(Exception):
    """An error that the user sees as one sentence."""

    def __init__(self, code, sentence):
        super().__init__(sentence)
        self.code = code
