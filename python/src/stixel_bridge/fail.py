"""What ends the program or a connection: a sentence; exit codes of sysexits.h.

SPDX-License-Identifier: Apache-2.0
"""
import traceback

USAGE = 64
DATA = 65
UNAVAILABLE = 69
FAILED = 70
CANNOT_CREATE = 73
CONFIG = 78

ENDS = (SystemExit, KeyboardInterrupt)  # all else a thread survives: panics of packages in Rust are no Exception

EXITS = [
    (0, "ended by a signal"),
    (USAGE, "wrong usage"),
    (UNAVAILABLE, "a Python package or libstixel is missing"),
    (FAILED, "an error of the program itself"),
    (CANNOT_CREATE, "its status socket cannot be made, or another bridge of this name runs"),
    (CONFIG, "the configuration cannot be used"),
]


class Fail(Exception):
    """Ends the program: told to the user as one sentence."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class SinkError(Exception):
    """A sink lost its connection, or did not get one: one sentence, without its name. It is opened again later."""


def sentence(error: BaseException) -> str:
    """An exception of a package in one line that can be printed."""
    text = " ".join(str(error).split())
    return "".join(c if c.isprintable() else "?" for c in text)[:300] or type(error).__name__


def described(error: BaseException) -> str:
    """An error that nobody expected: its type, what it says, and where it was raised."""
    text = "%s: %s" % (type(error).__name__, sentence(error))
    frames = traceback.extract_tb(error.__traceback__)
    return "%s (%s, line %d)" % (text, frames[-1].filename, frames[-1].lineno or 0) if frames else text
