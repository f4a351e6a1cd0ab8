"""The command line: one table, from which parser, --help and man page are made.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import re
import sys

from .fail import EXITS, USAGE

PROGRAM = "stixel-calibrate"
LENSES = ("plumb_bob", "rational", "equidistant")
BOARD_MOST = 40

ABOUT = ("Calibrates two raw cameras with a checkerboard or a ChArUco board, from a running stixeld or image files, "
         "and writes the file that camera.calibration reads.")


def _board(text):
    found = re.fullmatch(r"(\d+)x(\d+)", text)
    size = tuple(map(int, found.groups())) if found else (0, 0)
    if not all(3 <= n <= BOARD_MOST for n in size) or size[0] == size[1]:
        raise argparse.ArgumentTypeError("'%s' is not COLUMNSxROWS of inner corners, 3 to %d, not the same number twice"
                                         % (text, BOARD_MOST))
    return size


def _mm(text):
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value <= 1000:
        raise argparse.ArgumentTypeError("'%s' is not a length of 1 to 1000 mm" % text)
    return value


# names, argument (None: a flag), more for argparse, what it does with its default
OPTIONS = [
    (["-i", "--instance"], "NAME", {}, "instance of stixeld that gives the pairs (default: default)"),
    (["--left"], "PATTERN", {}, "left images, files instead of an instance; *, ?, [..] as in the shell, by name"),
    (["--right"], "PATTERN", {}, "right images, as many and in the same order"),
    (["--board"], "COLUMNSxROWS", {"type": _board, "default": (9, 6)}, "inner corners of the board (default: 9x6)"),
    (["--square"], "MM", {"type": _mm, "default": 25.0}, "edge of a square as printed: measure it (default: 25)"),
    (["--charuco"], None, {}, "a ChArUco board, of which a part may be out of sight, instead of a checkerboard"),
    (["--marker"], "MM", {"type": _mm}, "edge of a ChArUco board's markers (default: three quarters of the square)"),
    (["--dictionary"], "NAME", {"default": "5X5_100"},
     "of a ChArUco board's markers, as OpenCV names it (default: 5X5_100)"),
    (["--lens"], "MODEL", {"choices": LENSES, "default": "plumb_bob"},
     "model: plumb_bob, 5 coefficients; rational, 8, for wide angles; equidistant, 4, fisheye (default: plumb_bob)"),
    (["-o", "--output"], "FILE", {"default": "stereo.yaml"},
     "result (default: stereo.yaml); one that is there becomes FILE.1"),
    (["--page"], "FILE.html", {}, "keep a page for a browser there that shows the pictures and what is missing"),
    (["--save"], "FOLDER", {}, "write the pairs of kept views there as PNG, to calibrate again with --left, --right"),
    (["--print-board"], "FILE", {}, "write the board to print instead, .svg or .png in its size in mm"),
    (["--force"], None, {}, "write a result beyond the limits too"),
    (["--no-apply"], None, {}, "write the file only: the instance goes on with the calibration that it has"),
]


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(USAGE, "%s: %s\n" % (self.prog, re.sub(r"^argument (\S+/)?", "", message)))


def _parser(version):
    p = _Parser(prog=PROGRAM, description=ABOUT, allow_abbrev=False)
    for names, argument, more, text in OPTIONS:
        if argument is None:
            p.add_argument(*names, action="store_true", help=text)
        else:
            p.add_argument(*names, metavar=argument, help=text, **more)
    p.add_argument("--version", action="version", version="%s %s" % (PROGRAM, version))
    return p


def parse(arguments, version):
    """The options; ends the program where they contradict each other."""
    p = _parser(version)
    o = p.parse_args(arguments)
    if bool(o.left) != bool(o.right):
        p.error("--left and --right go together")
    if o.left and o.instance:
        p.error("--instance and --left: either an instance or files")
    if o.marker is not None and not o.charuco:
        p.error("--marker is of a ChArUco board: say --charuco as well")
    if o.marker is None:
        o.marker = 0.75 * o.square
    if o.charuco and o.marker >= o.square:
        p.error("--marker %g must be smaller than --square %g" % (o.marker, o.square))
    if o.print_board and not o.print_board.endswith((".svg", ".png")):
        p.error("--print-board %s: must end in .svg or .png" % o.print_board)
    o.instance = o.instance or "default"
    return o


def _scdoc(text):
    return re.sub(r"([_*\\<>#\[\]`])", r"\\\1", text)


def _man_options():
    lines = []
    for names, argument, _, text in OPTIONS + [(["-h", "--help"], None, {}, "say all this"),
                                               (["--version"], None, {}, "say which version this is")]:
        lines += [", ".join("*%s*" % n for n in names) + (" _%s_" % _scdoc(argument) if argument else ""),
                  "\t" + _scdoc(text[0].upper() + text[1:] + "."), ""]
    return "\n".join(lines).rstrip()


def _man_exits():
    return "\n\n".join("*%d*\n\t%s." % (code, _scdoc(text[0].upper() + text[1:])) for code, text in EXITS)


def man(path, out=sys.stdout):
    """Prints a page in scdoc, its placeholders filled."""
    filled = {"@SYNOPSIS@": "*%s* [_options_]" % PROGRAM, "@OPTIONS@": _man_options(), "@EXITS@": _man_exits()}
    with open(path, encoding="utf-8") as f:
        for line in f:
            out.write(filled.get(line.strip(), line.rstrip("\n")) + "\n")
