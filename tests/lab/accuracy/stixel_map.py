"""Paints the disparity map that stixels represent: everything that a reader of the list can know about the picture.

The map has rows of numbers as in a disparity PNG: disparity * 256, 0 = none. An object has its disparity, ground has
its line. Sky has 1/256 px, because 0 px is the measured value of sky, but 0 means none here. Unknown stixels and the
columns that remain at the right border have none.
"""
# SPDX-License-Identifier: Apache-2.0
import csv


def read(path):
    """Returns the lines of a stixels.csv that stixel-process wrote."""
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def column_width(stixels, width):
    """Returns the column width of a list that covers all columns, px. Exact for pictures at least as wide as the
    square of it."""
    columns = max(int(s["column"]) for s in stixels) + 1
    if columns > width:
        raise ValueError("%d stixel columns do not fit in %d pixels" % (columns, width))
    return width // columns


def at_row(stixel, y):
    """Returns the disparity * 256 of a stixel in image row y."""
    if stixel["class"] == "unknown":
        return 0
    if stixel["class"] == "sky":
        return 1
    up = int(stixel["row_bottom"]) - y
    slope = float(stixel["slope"]) if stixel["class"] == "ground" else 0
    return min(max(round(256 * (float(stixel["disparity"]) + slope * up)), 1), 65535)


def paint(stixels, width, height):
    rows = [[0] * width for _ in range(height)]
    if not stixels:
        return rows
    px = column_width(stixels, width)
    for s in stixels:
        x = int(s["column"]) * px
        for y in range(int(s["row_top"]), int(s["row_bottom"]) + 1):
            rows[y][x : x + px] = [at_row(s, y)] * px
    return rows
