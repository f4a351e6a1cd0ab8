"""The command line, and the text of all keys. docs/man/program.py makes the man page from both.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import argparse
import sys
import textwrap
from typing import Any, Callable, Iterator, Sequence, TextIO, Tuple

from stixel._program import Parser

from . import config, pairs, sinks
from .fail import EXITS  # noqa: F401
from .options import Option, parse, range_of, shown

PROGRAM = "stixel-bridge"
FILE = "/etc/stixel-bridge.conf"
PLAY = "give the stereo images of a recording to an instance"
PLAY_MORE = ("Gives the stereo images of a recording of ROS 2 (or a .bag of ROS 1) to an instance of stixeld, with the "
             "calibration that it has.")
INSTANCE = Option("instance", "name", "default", "")
RATE = Option("rate", "number", 1.0, "", 0, 100)
RECORDED = {  # help that differs from that of a live topic
    "left": "topic of the left images, sensor_msgs/Image or CompressedImage; default: that of the only pair whose "
            "names differ in left and right, infra1 and infra2, or cam0 and cam1",
    "right": "topic of the right images; default: that of the left ones, with this difference",
}
ABOUT = ("Sends the frames of stixeld to other machines and programs: zenoh, ROS 2, Foxglove. Gives stereo images "
         "of ROS 2 to stixeld.")


def parser(version: str) -> argparse.ArgumentParser:
    """Makes the parser of the options, with their help."""
    p = Parser(prog=PROGRAM, description=ABOUT, allow_abbrev=False)
    p.add_argument("-c", "--config", metavar="FILE", default=FILE, help="configuration (default: %s)" % FILE)
    p.add_argument("--check", action="store_true", help="say whether the configuration can be used, and end")
    p.add_argument("--print-config", action="store_true",
                   help="print every section and key with its range and default, and end")
    p.add_argument("--version", action="version", version="%s %s" % (PROGRAM, version))
    commands = p.add_subparsers(dest="command", title="commands", metavar="", prog=PROGRAM)
    _add_play(commands.add_parser("play", help=PLAY, description=PLAY_MORE, allow_abbrev=False))
    return p


def _add_play(p: argparse.ArgumentParser) -> None:
    p.add_argument("recording", metavar="RECORDING", help="folder of rosbag2, or a file .mcap, .db3 or .bag")
    p.add_argument("-i", "--instance", metavar="NAME", default="default", type=_typed(INSTANCE),
                   help="instance of stixeld that gets the pairs, with source.kind = shared (default: default)")
    p.add_argument("--rate", metavar="FACTOR", default=1.0, type=_typed(RATE),
                   help="speed; 1: as recorded; 0: as fast as the daemon reads, and every pair (default: 1)")
    p.add_argument("--loop", action="store_true", help="begin again at the end, until a signal")
    for option in pairs.PAIR:
        default = shown(option, option.default)
        p.add_argument("--" + option.name.replace("_", "-"), metavar="TOPIC" if option.kind == "text" else "VALUE",
                       default=option.default, type=_typed(option), help="%s%s%s" % (
                           RECORDED.get(option.name, option.help), "" if option.kind == "text" else
                           "; " + range_of(option), " (default: %s)" % default if default else ""))


def _typed(option: Option) -> Callable[[str], Any]:
    """Returns the parser of an option's values, with errors as argparse wants them."""
    def of(text: str) -> Any:
        try:
            return parse(option, text)
        except ValueError as e:
            raise argparse.ArgumentTypeError(str(e)) from None
    return of


def sections() -> Iterator[Tuple[str, str, Sequence[Option]]]:
    """Yields each section: head, description, options."""
    yield "bridge", "the bridge itself", config.BRIDGE
    yield "instance NAME", "an instance of stixeld; without any: 'default'", config.INSTANCE
    yield "rig NAME", "several instances as one", config.RIG
    yield "sink NAME", "where frames go; what all kinds have", config.COMMON
    for kind in sinks.KINDS:
        maker = sinks.load(kind)
        yield "sink NAME, kind = " + kind, maker.HELP, maker.OPTIONS
    yield "pairs NAME", "stereo images that become pairs of an instance; what all kinds have", config.PAIRS
    for kind in pairs.KINDS:
        source = pairs.load(kind)
        yield "pairs NAME, kind = " + kind, source.HELP, source.OPTIONS


def in_words(option: Option) -> Tuple[str, str]:
    """Returns the range of a key, and its default as a file would have it."""
    return range_of(option), shown(option, option.default)


def print_config(out: TextIO = sys.stdout) -> None:
    """Prints every section and key. Keys of kinds are comments, since a sink has one kind; so are those of pairs, which
    need a kind."""
    for head, about, options in sections():
        extra = "kind =" in head or head.startswith("pairs")
        out.write("# %s\n%s[%s]\n" % (about[:1].upper() + about[1:], "#" if extra else "", head))
        for option in options:
            for line in textwrap.wrap("%s; %s" % (option.help, range_of(option)), 108):
                out.write("# %s\n" % line)
            mark = "#" if extra or option.default in (None, []) else ""
            out.write("%s%s = %s\n" % (mark, option.name, shown(option, option.default)))
        out.write("\n")
