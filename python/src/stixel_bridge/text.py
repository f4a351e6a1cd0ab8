"""The command line, and the text of all keys. docs/man/program.py makes the man page from both.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import argparse
import re
import sys
import textwrap
from typing import Iterator, NoReturn, Sequence, TextIO, Tuple

from . import config, sinks
from .fail import EXITS, USAGE  # noqa: F401
from .options import Option, range_of, shown

PROGRAM = "stixel-bridge"
FILE = "/etc/stixel-bridge.conf"
ABOUT = "Sends the frames of stixeld to other machines and programs: zenoh, ROS 2, Foxglove."


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, "%s: %s\n" % (self.prog, re.sub(r"^argument (\S+/)?", "", message)))


def parser(version: str) -> argparse.ArgumentParser:
    """Makes the parser of the options, with their help."""
    p = _Parser(prog=PROGRAM, description=ABOUT, allow_abbrev=False)
    p.add_argument("-c", "--config", metavar="FILE", default=FILE, help="configuration (default: %s)" % FILE)
    p.add_argument("--check", action="store_true", help="say whether the configuration can be used, and end")
    p.add_argument("--print-config", action="store_true",
                   help="print every section and key with its range and default, and end")
    p.add_argument("--version", action="version", version="%s %s" % (PROGRAM, version))
    return p


def sections() -> Iterator[Tuple[str, str, Sequence[Option]]]:
    """Yields each section: head, description, options."""
    yield "bridge", "the bridge itself", config.BRIDGE
    yield "instance NAME", "an instance of stixeld; without any: 'default'", config.INSTANCE
    yield "rig NAME", "several instances as one", config.RIG
    yield "sink NAME", "where frames go; what all kinds have", config.COMMON
    for kind in sinks.KINDS:
        maker = sinks.load(kind)
        yield "sink NAME, kind = " + kind, maker.HELP, maker.OPTIONS


def in_words(option: Option) -> Tuple[str, str]:
    """Returns the range of a key, and its default as a file would have it."""
    return range_of(option), shown(option, option.default)


def print_config(out: TextIO = sys.stdout) -> None:
    """Prints every section and key. Keys of kinds are comments, since a sink has one kind."""
    for head, about, options in sections():
        extra = "kind =" in head
        out.write("# %s\n%s[%s]\n" % (about[:1].upper() + about[1:], "#" if extra else "", head))
        for option in options:
            for line in textwrap.wrap("%s; %s" % (option.help, range_of(option)), 108):
                out.write("# %s\n" % line)
            mark = "#" if extra or option.default in (None, []) else ""
            out.write("%s%s = %s\n" % (mark, option.name, shown(option, option.default)))
        out.write("\n")
