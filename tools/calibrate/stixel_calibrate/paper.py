"""Boards on paper: their squares, and the file to print. Uses only Python's own modules, so that a board can be
printed before OpenCV is installed.

SPDX-License-Identifier: Apache-2.0
"""
import struct
import zlib

PRINT_PX_PER_MM = 300 / 25.4
SQUARE_LEAST_PX = 8
SIDE_MOST_PX = 20000
MARGIN_SQUARES = 0.6  # white margin; 9x6 squares of 25 mm then fit on A4


class Checkers:
    """A checkerboard of columns x rows inner corners. The first square is black."""

    kind = "checkerboard"

    def __init__(self, size, square_mm):
        self.columns, self.rows = size
        self.square_mm = square_mm

    def __str__(self):
        return "checkerboard of %dx%d inner corners, squares of %g mm" % (self.columns, self.rows, self.square_mm)

    def rectangles(self):
        """Returns the black squares: x, y, width, height, mm."""
        s = self.square_mm
        return [(x * s, y * s, s, s) for y in range(self.rows + 1) for x in range(self.columns + 1) if (x + y) % 2 == 0]


def _svg(board):
    s, margin = board.square_mm, MARGIN_SQUARES * board.square_mm
    width, height = (board.columns + 1) * s + 2 * margin, (board.rows + 1) * s + 2 * margin
    # the rectangles are one path, so that no hairline shows between neighbours
    path = "".join("M%.4f %.4fh%.4fv%.4fh-%.4fz" % (x + margin, y + margin, w, h, w)
                   for x, y, w, h in board.rectangles())
    text = "%s. Print at 100 %%, glue it to something flat, measure a square." % board
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%gmm" height="%gmm" viewBox="0 0 %g %g">\n'
            '<rect width="%g" height="%g" fill="white"/>\n<path d="%s" fill="black" shape-rendering="crispEdges"/>\n'
            '<text x="%g" y="%g" font-family="sans-serif" font-size="%g">%s</text>\n</svg>\n'
            % (width, height, width, height, width, height, path, margin, height - margin / 4,
               min(4.0, margin / 4, width / 60), text)).encode()


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png(board):
    squares = max(board.columns, board.rows) + 1 + 2 * MARGIN_SQUARES
    dots = max(SQUARE_LEAST_PX, min(round(board.square_mm * PRINT_PX_PER_MM), int(SIDE_MOST_PX / squares)))
    margin = round(MARGIN_SQUARES * dots)
    width, height = ((n + 1) * dots + 2 * margin for n in (board.columns, board.rows))
    scale = dots / board.square_mm
    black = [[margin + round(v * scale) for v in (x, y, x + w, y + h)] for x, y, w, h in board.rectangles()]
    # rows between two edges are equal
    edges = sorted({0, height, *(y for _, y0, _, y1 in black for y in (y0, y1))})
    pack, pixels = zlib.compressobj(), []
    for top, bottom in zip(edges, edges[1:]):
        row = bytearray(b"\xff" * width)
        for x0, y0, x1, y1 in black:
            if y0 <= top < y1:
                row[x0:x1] = bytes(x1 - x0)
        pixels += [pack.compress(b"\0" + row) for _ in range(top, bottom)]
    per_metre = round(scale * 1000)
    return b"".join((b"\x89PNG\r\n\x1a\n", _chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 0, 0, 0, 0)),
                     _chunk(b"pHYs", struct.pack(">2IB", per_metre, per_metre, 1)),
                     _chunk(b"IDAT", b"".join(pixels) + pack.flush()), _chunk(b"IEND", b"")))


def printed(board, path):
    """Returns the bytes of the file to print."""
    return _svg(board) if path.endswith(".svg") else _png(board)
