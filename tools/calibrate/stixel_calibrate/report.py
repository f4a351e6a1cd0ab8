"""Texts for the user: the progress of the collection, and the errors of a result.

SPDX-License-Identifier: Apache-2.0
"""
import shutil
import sys
import threading
import time

from . import solve, views

REDRAW_S = 0.2
LINE_S = 10  # seconds between lines about a long step if stdout is no terminal


def _cell(count):
    return "." if count == 0 else "o" if count < 3 else "#"


def coverage(c):
    """Returns lines that show both images side by side, one character for each part: . no view, o one or two views,
    # more."""
    rows = ["  ".join(" ".join(_cell(n) for n in c.cells[side, y]) for side in (0, 1)) for y in range(views.GRID[1])]
    gap = " " * (2 * views.GRID[0] - 8)
    title = " left %2.0f %% %sright %2.0f %%" % (100 * c.covered(0), gap, 100 * c.covered(1))
    return [title] + [" " + row for row in rows]


def spread(c):
    """Returns one line with views, distances and tilts."""
    near_far = c.distances()
    if near_far is None:
        return "no view yet"
    return ("%d views, board at %.2f to %.2f m, at most %.0f %% of the image, tilted left %.0f, right %.0f, up %.0f, "
            "down %.0f deg" % (len(c.views), *near_far, 100 * c.nearest(), *c.tilts()))


def left_out(c):
    """Returns one line about the pairs that were not kept."""
    return ", ".join("%d %s" % (n, why) for why, n in c.left_out.items() if n) or "none left out"


def next_step(c):
    """Returns one line that says what to do next."""
    missing = c.missing()
    return "enough" if not missing else "missing: " + "; ".join(missing)


def too_few(c, size):
    """Returns why there are too few views. size: size of the board seen in the pairs without the wanted board, or
    None."""
    text = "%d good view%s of the board in %d pairs (%s), at least %d are needed" % (
        len(c.views), "" if len(c.views) == 1 else "s", c.pairs, left_out(c), solve.VIEWS_LEAST)
    if not c.views:
        text = "no %s in %d pairs (%s)" % (c.board, c.pairs, left_out(c))
    if size and size != (max(c.board.columns, c.board.rows), min(c.board.columns, c.board.rows)):
        return text + ": they show a board of %dx%d inner corners: --board %dx%d" % (size + size)
    return text + ("" if c.views else ": see --board, which counts inner corners")


class Screen:
    """Shows the state of the collection on stdout: redrawn in a terminal, else as lines. guide: a person holds the
    board."""

    def __init__(self, guide, out=None):
        self.guide, self.out, self.lines, self.drawn = guide, out or sys.stdout, 0, time.monotonic()
        self.live = self.out.isatty()

    def show(self, c, pair, why):
        """Shows the state after each pair."""
        now = time.monotonic()
        if not self.live:
            if not self.guide or why is None or now - self.drawn >= LINE_S:
                self.drawn = now
                word = "view %d" % len(c.views) if why is None else why
                self.out.write("%s: %s%s\n" % (pair.name, word, "; " + next_step(c) if self.guide else ""))
                self.out.flush()
            return
        if why is not None and now - self.drawn < REDRAW_S:
            return
        self.drawn = now
        text = coverage(c) + [" " + spread(c), " this pair: %s; so far %s" % (why or "kept", left_out(c))]
        text.append(" " + next_step(c))
        width = shutil.get_terminal_size().columns - 1  # a line that wraps could not be overwritten
        back = "\x1b[%dA" % self.lines if self.lines else ""
        self.out.write(back + "".join("\x1b[2K%s\n" % line[:width] for line in text))
        self.out.flush()
        self.lines = len(text)

    def end(self, c):
        """Shows the state once before calibrating."""
        if not self.live and c.views:
            self.out.write("\n".join(coverage(c) + [" " + spread(c)]) + "\n")
        self.out.write("%d pairs: %d views kept, %s; calibrating\n" % (c.pairs, len(c.views), left_out(c)))
        self.out.flush()


class Working:
    """Shows on stdout that a step is still running while it prints nothing: `with Working("calibrating"): ...`"""

    def __init__(self, what, out=None):
        self.what, self.out, self.began = what, out or sys.stdout, time.monotonic()
        self.live, self.over = self.out.isatty(), threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while not self.over.wait(REDRAW_S if self.live else LINE_S):
            text = "%s, %.0f s" % (self.what, time.monotonic() - self.began)
            self.out.write("\r%s\x1b[K" % text if self.live else text + "\n")
            self.out.flush()

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        if self.live:
            self.out.write("\r\x1b[K")


def _row(name, reprojection, rows):
    return "%-22s %15s %16.2f %12.2f" % (name, "%.2f" % reprojection if reprojection is not None else "", *rows)


def errors(result, all_views, earlier=None):
    """Returns lines: a table of errors before and after, px."""
    lines = ["%-22s %15s %16s %12s" % ("errors, px", "reprojection", "rows, median", "rows, 95 %"),
             _row("raw images", None, solve.raw_rows(all_views))]
    if earlier is not None:
        e = solve.rows_of(_joined(earlier, all_views))
        lines.append(_row("file that was there", None, e))
    first, after = result.first, result.errors
    lines.append(_row("all %d views" % len(all_views), first.reprojection, (first.row_median, first.row_95)))
    if result.dropped:
        lines.append(_row("%d views" % len(result.used), after.reprojection, (after.row_median, after.row_95)))
        lines += ["dropped %s: %.2f px, rows %.2f px off" % d for d in result.dropped]
    return lines


def _joined(rig, all_views):
    return [e for v in all_views for e in rig.row_errors(v)]


def cameras(rig):
    """Returns lines that describe the cameras found."""
    return ["%s camera: f %.1f %.1f, centre %.1f %.1f px" % (side, k[0, 0], k[1, 1], k[0, 2], k[1, 2])
            for side, k in zip(("left", "right"), rig.k)] + ["baseline %.1f mm" % (1000 * rig.baseline_m)]


def verdict(result, force):
    """Returns a short verdict on a result."""
    beyond = result.beyond()
    if beyond:
        return ("written all the same: " if force else "not written: ") + beyond[0]
    return "good: rows within %.2f px (95 %% of them within %.2f)" % (result.errors.row_median, result.errors.row_95)


def comments(result, board, lens):
    """Returns the comment lines of the file."""
    e = result.errors
    return ["stixel-calibrate, %s: %s, %s" % (time.strftime("%Y-%m-%d %H:%M"), board, lens),
            "%d views, %d dropped; reprojection error %.3f px, rows of rectified corners apart: median %.3f px, "
            "95 %% %.3f px" % (len(result.used), len(result.dropped), e.reprojection, e.row_median, e.row_95)]
