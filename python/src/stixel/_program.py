"""What the programs stixel-bridge and stixel-segment share: errors with exit codes of sysexits.h, the log, systemd.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import argparse
import contextlib
import logging
import os
import re
import socket
import sys
import traceback
from typing import Callable, NoReturn

USAGE = 64
DATA = 65
NO_INPUT = 66
UNAVAILABLE = 69
FAILED = 70
CANNOT_CREATE = 73
PERMISSION = 77
CONFIG = 78

# threads survive all other exceptions, including panics of Rust packages, which are not of class Exception
ENDS = (SystemExit, KeyboardInterrupt)


class Fail(Exception):
    """Ends the program. The user gets its sentence."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def sentence(error: BaseException) -> str:
    """Returns the text of a package's exception as one printable line."""
    text = " ".join(str(error).split())
    return "".join(c if c.isprintable() else "?" for c in text)[:300] or type(error).__name__


def described(error: BaseException) -> str:
    """Returns an unexpected error as text: its type, its message, and the place where it was raised."""
    text = "%s: %s" % (type(error).__name__, sentence(error))
    frames = traceback.extract_tb(error.__traceback__)
    return "%s (%s, line %d)" % (text, frames[-1].filename, frames[-1].lineno or 0) if frames else text


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, with the exit code of sysexits.h."""

    def error(self, message: str) -> NoReturn:
        """Ends the program."""
        self.exit(USAGE, "%s: %s\n" % (self.prog, re.sub(r"^argument (\S+/)?", "", message)))


def log_of(program: str) -> Callable[[str], None]:
    """Returns a function that writes a line to the log.

    Errors are ignored: a full disk or a closed log must not end the program.
    """
    def say(text: str) -> None:
        with contextlib.suppress(OSError):
            print("%s: %s" % (program, text), file=sys.stderr, flush=True)

    return say


def log_warnings(say: Callable[[str], None]) -> None:
    """Writes warnings of the module stixel (such as a waiting reader) to the log like all other lines."""
    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            say(record.getMessage())

    library = logging.getLogger("stixel")
    library.addHandler(Handler(logging.WARNING))
    library.propagate = False


def version() -> str:
    """Returns the version of the module stixel, which is that of its programs."""
    import stixel
    return str(stixel.__version__)


def notify(text: str) -> None:
    """Notifies systemd, if it started us (sd_notify(3))."""
    path = os.environ.get("NOTIFY_SOCKET", "")
    if not path:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as s:
        try:
            s.sendto(text.encode(), "\0" + path[1:] if path[0] == "@" else path)
        except OSError:
            pass
