"""The HTML page: the newest pair with its corners, the covered parts, and what is missing. Plain HTML with pictures
inside and no script.

SPDX-License-Identifier: Apache-2.0
"""
import base64
import html
import time

import cv2
import numpy as np

from . import report, views
from .files import write

PERIOD_S = 0.5
WIDTH = 640
GREEN, RED = (80, 200, 60), (60, 60, 230)  # BGR


def _picture(image, found, wanted):
    """Returns a JPEG of the image with its corners. Parts that need corners are red."""
    scale = WIDTH / image.shape[1]
    small = cv2.cvtColor(cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), cv2.COLOR_GRAY2BGR)
    h, w = small.shape[:2]
    tint = np.zeros_like(small)
    for y, x in zip(*np.nonzero(wanted)):
        a, b = (int(x * w / views.GRID[0]), int(y * h / views.GRID[1])), (
            int((x + 1) * w / views.GRID[0]) - 1, int((y + 1) * h / views.GRID[1]) - 1)
        cv2.rectangle(tint, a, b, RED, -1)
    small = cv2.addWeighted(small, 1, tint, 0.35, 0)
    for x, y in found.points if found is not None else ():
        cv2.circle(small, (int((x + 0.5) * scale), int((y + 0.5) * scale)), 3, GREEN, -1, cv2.LINE_AA)
    return base64.b64encode(cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, 80])[1]).decode()


class Page:
    """A page that writes itself to path, at most twice a second."""

    def __init__(self, path):
        self.path, self.written, self.pictures = path, 0.0, ""

    def show(self, c, pair, found, why):
        """Writes the page after each pair."""
        if why is not None and time.monotonic() - self.written < PERIOD_S:
            return
        self.pictures = "".join('<img width="48%%" alt="%s" src="data:image/jpeg;base64,%s">\n' % (
            side, _picture(image, f, c.wanted(i))) for i, (side, image, f) in enumerate(
                (("left", pair.left, found[0]), ("right", pair.right, found[1]))))
        told = ["this pair: " + (why or "kept"), "left out so far: " + report.left_out(c)]
        self._write(c, report.next_step(c), told, True)

    def end(self, c, title, lines):
        """Writes the result. The page no longer refreshes itself."""
        self._write(c, title, lines, False)

    def _write(self, c, title, lines, goes_on):
        # the title is large, because the user reads it from a distance while holding the board
        page = ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>stixel-calibrate</title>\n%s'
                '<style>body{font:16px sans-serif;margin:1em}h1{font-size:2em}</style></head>\n<body><h1>%s</h1>\n%s'
                "<pre>%s</pre></body></html>\n" % (
                    '<meta http-equiv="refresh" content="1">\n' if goes_on else "", html.escape(title), self.pictures,
                    html.escape("\n".join([report.spread(c), *report.coverage(c), *lines]))))
        write(self.path, page.encode())
        self.written = time.monotonic()
