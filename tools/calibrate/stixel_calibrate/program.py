"""The program: reads options, takes pairs, keeps views, writes the result.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import shlex
import sys

from . import options as command_line
from .fail import DATA, PACKAGES, UNAVAILABLE, Fail, missing_module


OPENCV_LEAST, OPENCV_BEFORE = (4, 6), (6,)  # tested with 4.6, 4.8, 4.11 and 5.0; 5 had lost functions of 4


def _need_opencv():
    """Checks OpenCV before any image is read."""
    try:
        import numpy  # noqa: F401
        import cv2
    except ImportError as e:
        raise missing_module(e) from None
    if not OPENCV_LEAST <= tuple(map(int, re.findall(r"\d+", cv2.__version__)[:2])) < OPENCV_BEFORE:
        raise Fail(UNAVAILABLE, "OpenCV %s is not supported: install %s" % (cv2.__version__, PACKAGES["cv2"]))
    cv2.setNumThreads(2)


def _collect(o, board):
    """Collects the views. With files every pair counts. With an instance only new views count, until there are
    enough or the user presses Ctrl-C."""
    from . import output, pairs, report, views
    from .page import Page
    collection, screen = views.Collection(board, o.lens), report.Screen(guide=not o.left)
    page = Page(o.page) if o.page else None
    source = pairs.files(o.left, o.right) if o.left else pairs.live(o.instance)
    try:
        for pair in source:
            if collection.size and collection.size != pair.left.shape[::-1]:
                raise Fail(DATA, "%s: images are %dx%d, those before were %dx%d" % (
                    pair.name, *pair.left.shape[::-1], *collection.size))
            found, why = collection.look(pair, anew=not o.left)
            if why is None and o.save:
                output.save_pair(o.save, len(collection.views), pair)
            screen.show(collection, pair, why)
            if page:
                page.show(collection, pair, found, why)
            if not o.left and (not collection.missing() or len(collection.views) >= views.VIEWS_MOST):
                break
    except KeyboardInterrupt:
        if o.left:
            raise
        print()
    finally:
        source.close()
    screen.end(collection)
    return collection, page


def _calibrate(o):
    from . import apply, files, output, report, solve
    from . import board as boards
    board = boards.make(o)
    if not o.left and not o.no_apply:
        apply.check_name(o.output)
    for path in (o.output, o.page):
        if path:
            files.check_place(path)
    collection, page = _collect(o, board)
    if collection.pairs and len(collection.views) < solve.VIEWS_LEAST:
        raise Fail(DATA, report.too_few(collection, boards.size_seen(collection.without) if not o.charuco else None))
    with report.Working("calibrating"):
        result = solve.solve(o.lens, board, collection.views, collection.size)
    earlier = output.earlier(o.output, collection.size)
    lines = report.errors(result, collection.views, earlier) + report.cameras(result.rig)
    print("\n".join(lines))
    unseen = collection.missing()
    if unseen:
        print("not all was seen (%s): the lens is a guess there" % "; ".join(unseen))
    beyond = result.beyond()
    if page:
        page.end(collection, report.verdict(result, o.force), lines)
    if beyond and not o.force:
        raise Fail(DATA, "not written to %s: %s" % (o.output, "; ".join(beyond)))
    if beyond:
        print("written all the same (--force): %s" % "; ".join(beyond))
    kept = os.path.exists(o.output)
    files.write(o.output, output.calibration(result.rig, report.comments(result, board, o.lens)), keep=True)
    _tell_what_next(o, kept)


def _tell_what_next(o, kept):
    from . import apply
    print("%s is written%s." % (o.output, ", the one before is %s.1" % o.output if kept else ""))
    if o.left or o.no_apply:
        print("An instance that runs uses it after\n\n    %s\n\nand each one that starts with\n\n    [camera]\n"
              "    calibration = %s\n\nand without rectify = no in its configuration." % (
                  apply.command(None if o.left else o.instance, o.output), os.path.abspath(o.output)))
        return
    sys.stdout.flush()
    for line in apply.apply(o.instance, o.output):
        print("instance '%s': %s" % (o.instance, line))
    print("It is in use until the instance is started again; to keep it: stixelctl -i %s save"
          % shlex.quote(o.instance))


def _print_board(o):
    from . import files, paper
    if o.charuco:  # OpenCV draws the markers
        _need_opencv()
        from . import board as boards
        board = boards.make(o)
    else:
        board = paper.Checkers(o.board, o.square)
    files.write(o.print_board, paper.printed(board, o.print_board))
    print("%s: %s; print it at 100 %% and measure a square" % (o.print_board, board))


def main(arguments, version):
    """Runs the program. Returns its exit code."""
    o = command_line.parse(arguments, version)
    try:
        if o.print_board:
            _print_board(o)
        else:
            _need_opencv()
            _calibrate(o)
    except Fail as e:
        sys.stdout.flush()
        print("%s: %s" % (command_line.PROGRAM, e), file=sys.stderr)
        return e.code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return 0
