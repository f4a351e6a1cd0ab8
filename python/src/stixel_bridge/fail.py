"""Errors that end the program or a connection, each with a sentence; exit codes of sysexits.h.

SPDX-License-Identifier: Apache-2.0
"""
import traceback

USAGE = 64
DATA = 65
UNAVAILABLE = 69
FAILED = 70
CANNOT_CREATE = 73
PERMISSION = 77
CONFIG = 78

# threads survive all other exceptions, including panics of Rust packages, which are not of class Exception
ENDS = (SystemExit, KeyboardInterrupt)

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


class Fail(Exception):
    """Ends the program. The user gets its sentence."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class SinkError(Exception):
    """A sink lost its connection, or got none. The sink is opened again later.

    Carries one sentence without the sink's name.
    """


def sentence(error: BaseException) -> str:
    """Returns the text of a package's exception as one printable line."""
    text = " ".join(str(error).split())
    return "".join(c if c.isprintable() else "?" for c in text)[:300] or type(error).__name__


def described(error: BaseException) -> str:
    """Returns an unexpected error as text: its type, its message, and the place where it was raised."""
    text = "%s: %s" % (type(error).__name__, sentence(error))
    frames = traceback.extract_tb(error.__traceback__)
    return "%s (%s, line %d)" % (text, frames[-1].filename, frames[-1].lineno or 0) if frames else text
