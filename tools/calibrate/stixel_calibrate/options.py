"""Parses the command line. docs/man/program.py makes the man page from the parser.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import re

from .fail import EXITS, USAGE  # noqa: F401

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


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(USAGE, "%s: %s\n" % (self.prog, re.sub(r"^argument (\S+/)?", "", message)))


def parser(version):
    """Returns the parser of the options, which also prints their help."""
    p = _Parser(prog=PROGRAM, description=ABOUT, allow_abbrev=False)
    add = p.add_argument
    add("-i", "--instance", metavar="NAME", help="instance of stixeld that provides the pairs (default: default)")
    add("--left", metavar="PATTERN",
        help="left image files, instead of an instance; *, ? and [..] as in the shell; sorted by name")
    add("--right", metavar="PATTERN", help="right image files, the same number in the same order")
    add("--board", metavar="COLUMNSxROWS", type=_board, default=(9, 6),
        help="number of inner corners of the board (default: 9x6)")
    add("--square", metavar="MM", type=_mm, default=25.0,
        help="edge of a printed square: measure it (default: 25)")
    add("--charuco", action="store_true",
        help="use a ChArUco board, which may be partly out of sight, instead of a checkerboard")
    add("--marker", metavar="MM", type=_mm,
        help="edge of a ChArUco board's markers (default: three quarters of the square)")
    add("--dictionary", metavar="NAME", default="5X5_100",
        help="dictionary of a ChArUco board's markers, by OpenCV's name (default: 5X5_100)")
    add("--lens", metavar="MODEL", choices=LENSES, default="plumb_bob",
        help="lens model: plumb_bob, 5 coefficients; rational, 8, for wide angles; equidistant, 4, for fisheyes "
        "(default: plumb_bob)")
    add("-o", "--output", metavar="FILE", default="stereo.yaml",
        help="result (default: stereo.yaml); an existing file is renamed FILE.1")
    add("--page", metavar="FILE.html",
        help="keep a page for a browser that shows the pictures and the views that are still missing")
    add("--save", metavar="FOLDER",
        help="write the pairs of the views that are used as PNG files, to calibrate again with --left, --right")
    add("--print-board", metavar="FILE", help="write a board to print, .svg or .png in its size in mm, and exit")
    add("--force", action="store_true", help="write the result even if it exceeds the limits")
    add("--no-apply", action="store_true",
        help="only write the file; the instance keeps its present calibration")
    add("--version", action="version", version="%s %s" % (PROGRAM, version))
    return p


def parse(arguments, version):
    """Returns the options. Ends the program if they contradict each other."""
    p = parser(version)
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
