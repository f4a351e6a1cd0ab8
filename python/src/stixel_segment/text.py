"""The command line. docs/man/program.py makes the man page from it and from the keys of model files.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import argparse
from typing import Tuple

from stixel._program import (CANNOT_CREATE, CONFIG, DATA, FAILED, NO_INPUT, PERMISSION, UNAVAILABLE, USAGE,
                             Parser)

from .model import Key, sections  # noqa: F401

PROGRAM = "stixel-segment"
LIMIT_S = 5.0
ABOUT = ("Runs a segmentation network on the left images of an instance of stixeld, and writes the class scores that "
         "the instance uses for its stixels.")
EXITS = [
    (0, "ended by a signal; --check, --show: done"),
    (USAGE, "wrong usage"),
    (DATA, "the network cannot be read or run, or its output does not fit the class table; --check, --show: it gives "
           "values that are no numbers"),
    (NO_INPUT, "there is no such model or image, or no image comes from the instance"),
    (UNAVAILABLE, "OpenCV, onnxruntime, NumPy, libstixel or the provider is missing"),
    (FAILED, "an error of the program itself"),
    (CANNOT_CREATE, "a file or the status socket cannot be made, or another program writes scores under this name"),
    (PERMISSION, "this user may not write scores; join group stixel-feed"),
    (CONFIG, "the model file or the class table cannot be used; --check with -i: the instance's configuration does "
             "not fit"),
]


def _limit(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 3 <= value <= 3600:
        raise argparse.ArgumentTypeError("'%s' is not a time from 3 to 3600 s" % text)
    return value


def _setting(text: str) -> str:
    if "=" not in text:
        raise argparse.ArgumentTypeError("'%s' is not KEY=VALUE" % text)
    return text


def parser(version: str) -> argparse.ArgumentParser:
    """Makes the parser of the options, with their help."""
    p = Parser(prog=PROGRAM, description=ABOUT, allow_abbrev=False)
    add = p.add_argument
    add("-m", "--model", metavar="FILE", required=True,
        help="the network, or its model file; a network has a model file of its name beside it, or its options are set "
        "by -s")
    add("-i", "--instance", metavar="NAME", help="instance of stixeld (default: default)")
    add("-s", "--set", metavar="KEY=VALUE", action="append", default=[], type=_setting,
        help="set a key of the model file; may be given several times")
    add("--limit", metavar="SECONDS", type=_limit, default=LIMIT_S,
        help="start the network again if an image takes longer (default: %g)" % LIMIT_S)
    add("--check", action="store_true",
        help="describe the network and its classes, measure its time, and exit; with -i also say what the "
        "instance's configuration lacks")
    add("--show", metavar="FILE.png", help="draw the labels of one image into a file, and exit")
    add("--image", metavar="FILE", help="the image for --check and --show, instead of one of the instance")
    add("--version", action="version", version="%s %s" % (PROGRAM, version))
    return p


def in_words(key: Key) -> Tuple[str, str]:
    """Returns the range of a key, and its default."""
    return key.range, key.default
