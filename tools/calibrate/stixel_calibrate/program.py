"""The program: options, pairs, views, result.

SPDX-License-Identifier: Apache-2.0
"""
import os
import shlex
import sys

from . import options as command_line
from .fail import DATA, UNAVAILABLE, Fail


def _need_opencv():
    try:
        import numpy  # noqa: F401
        import cv2
    except ImportError as e:
        raise Fail(UNAVAILABLE, "%s cannot be loaded: install OpenCV for Python (Debian package python3-opencv)"
                   % (e.name or e)) from None
    cv2.setNumThreads(2)


def _collect(o, board):
    """The views; in files every pair counts, of an instance those that are new, until it is enough or Ctrl-C."""
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
    from . import apply, output, report, solve
    from . import board as boards
    board = boards.make(o)
    if not o.left and not o.no_apply:
        apply.check_name(o.output)
    for path in (o.output, o.page):
        if path:
            output.check_place(path)
    collection, page = _collect(o, board)
    if collection.views or not collection.pairs:
        result = solve.solve(o.lens, board, collection.views, collection.size)
    else:
        raise Fail(DATA, "no %s in %d pairs (%s): see --board, which counts inner corners" % (
            board, collection.pairs, report.left_out(collection)))
    earlier = output.earlier(o.output, collection.size)
    lines = report.errors(result, collection.views, earlier) + report.cameras(result.rig)
    print("\n".join(lines))
    unseen = collection.missing()
    if unseen:
        print("not all was seen (%s): the lens is a guess there" % "; ".join(unseen))
    beyond = result.beyond()
    if page:
        page.end(collection, "not written: " + beyond[0] if beyond and not o.force else "done", lines)
    if beyond and not o.force:
        raise Fail(DATA, "not written to %s: %s" % (o.output, "; ".join(beyond)))
    if beyond:
        print("written all the same (--force): %s" % "; ".join(beyond))
    kept = os.path.exists(o.output)
    output.write(o.output, output.calibration(result.rig, report.comments(result, board, o.lens)), keep=True)
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
    from . import board as boards
    from . import output
    board = boards.make(o)
    output.write(o.print_board, boards.printed(board, o.print_board))
    print("%s: %s; print it at 100 %% and measure a square" % (o.print_board, board))


def main(arguments, version):
    """Exit code."""
    if arguments[:2] == ["--generate", "man"] and len(arguments) == 3:
        command_line.man(arguments[2])
        return 0
    o = command_line.parse(arguments, version)
    try:
        _need_opencv()
        if o.print_board:
            _print_board(o)
        else:
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
