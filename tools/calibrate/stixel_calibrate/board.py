"""Boards: where their corners are, finding them in an image, and drawing them for a printer.

Both have columns x rows inner corners, numbered row by row; the first square is black. A ChArUco board has markers in
its white squares, numbered row by row, as OpenCV since 4.7 and calib.io lay them out.

SPDX-License-Identifier: Apache-2.0
"""
import struct
import zlib

import cv2
import numpy as np

from .fail import CANNOT_CREATE, UNAVAILABLE, USAGE, Fail

SUBPIXEL = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 40, 0.001)
WINDOW_MOST = 11  # px, half of it
SEARCH_WIDTH = 960  # px
POINTS_LEAST = 12  # of a ChArUco board, seen by both cameras
PRINT_PX_PER_MM = 300 / 25.4
MARGIN_SQUARES = 0.6  # white around it; 9x6 squares of 25 mm then fit on A4


class Found:
    """Corners in one image: ids (n), points (n, 2) px, spacing (n): px to the nearest neighbour."""

    def __init__(self, ids, points, spacing):
        self.ids, self.points, self.spacing = ids, points, spacing


def refine(image, points, half_windows):
    """Corners to a fraction of a pixel, each in a window of its own."""
    out = points.astype(np.float32).reshape(-1, 1, 2)
    for half in np.unique(half_windows):
        of = np.flatnonzero(half_windows == half)
        out[of] = cv2.cornerSubPix(image, np.ascontiguousarray(out[of]), (int(half), int(half)), (-1, -1), SUBPIXEL)
    return out[:, 0]


def _half_windows(reach):
    """From the px around each corner in which there is no other corner."""
    return np.clip(np.floor(0.45 * reach), 2, WINDOW_MOST).astype(int)


class Checkerboard:
    """Only seen when all of it is."""

    kind = "checkerboard"

    def __init__(self, size, square_mm):
        self.columns, self.rows = size
        self.square_mm = square_mm
        at = np.mgrid[1:self.columns + 1, 1:self.rows + 1].T.reshape(-1, 2)
        self.points = np.c_[at, np.zeros(len(at))].astype(np.float32) * np.float32(square_mm / 1000)  # m

    def __str__(self):
        return "checkerboard of %dx%d inner corners, squares of %g mm" % (self.columns, self.rows, self.square_mm)

    def spacing(self, points):
        """px from each corner of a whole board to the nearest neighbour."""
        grid = points.reshape(self.rows, self.columns, 2)
        least = np.full((self.rows, self.columns), np.inf)
        across, down = (np.linalg.norm(np.diff(grid, axis=a), axis=2) for a in (1, 0))
        for part, step in ((least[:, 1:], across), (least[:, :-1], across), (least[1:], down), (least[:-1], down)):
            np.minimum(part, step, out=part)
        return least.ravel()

    def find(self, image):
        """Found, or None."""
        size = (self.columns, self.rows)
        # in a smaller image the search takes a quarter of the time; the places come from the whole one
        scale = min(1.0, SEARCH_WIDTH / image.shape[1])
        small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 0.8 else image
        ok, corners = cv2.findChessboardCornersSB(small, size, flags=cv2.CALIB_CB_NORMALIZE_IMAGE)
        if not ok:
            return None
        points = self._upright((corners.reshape(-1, 2) + 0.5) * (image.shape[1] / small.shape[1]) - 0.5)
        points = refine(image, points, _half_windows(self.spacing(points)))
        return Found(np.arange(len(points)), points, self.spacing(points))

    def _upright(self, points):
        """Not mirrored: columns to the right of rows' direction, as the board is printed."""
        grid = points.reshape(self.rows, self.columns, 2)
        along, down = grid[0, -1] - grid[0, 0], grid[-1, 0] - grid[0, 0]
        if along[0] * down[1] - along[1] * down[0] < 0:
            grid = grid[:, ::-1]
        return grid.reshape(-1, 2)

    def match(self, left, right):
        """Corners that both images have: (ids, left points, right points), or None. A checkerboard does not say where
        its first corner is: the right one begins where it does in the left."""
        if np.dot(left.points[-1] - left.points[0], right.points[-1] - right.points[0]) < 0:
            right.points, right.spacing = right.points[::-1].copy(), right.spacing[::-1].copy()
        return left.ids, left.points, right.points

    def draw(self, dots):
        """Grey image of the squares, dots px each."""
        y, x = np.mgrid[0:(self.rows + 1) * dots, 0:(self.columns + 1) * dots] // dots
        return np.where((x + y) % 2, 255, 0).astype(np.uint8)

    def rectangles(self):
        """Black ones, in mm: x, y, width, height."""
        s = self.square_mm
        return [(x * s, y * s, s, s) for y in range(self.rows + 1) for x in range(self.columns + 1) if (x + y) % 2 == 0]


def _dictionary(name):
    if not hasattr(cv2, "aruco"):
        raise Fail(UNAVAILABLE, "OpenCV %s is built without aruco, which finds ChArUco boards (python3-opencv has it)"
                   % cv2.__version__)
    number = getattr(cv2.aruco, "DICT_" + name.upper().replace("DICT_", ""), None)
    if number is None:
        raise Fail(USAGE, "--dictionary %s: OpenCV %s has none of this name, such as 4X4_50, 5X5_100, 6X6_250"
                   % (name, cv2.__version__))
    return cv2.aruco.getPredefinedDictionary(number)


class Charuco(Checkerboard):
    """A part of it is enough."""

    kind = "ChArUco board"

    def __init__(self, size, square_mm, marker_mm, dictionary):
        super().__init__(size, square_mm)
        self.marker_mm = marker_mm
        self.dictionary_name = dictionary.upper().replace("DICT_", "")
        self.dictionary = _dictionary(dictionary)
        self.squares = [(x, y) for y in range(self.rows + 1) for x in range(self.columns + 1) if (x + y) % 2]
        have = len(self.dictionary.bytesList)
        if len(self.squares) > have:
            raise Fail(USAGE, "--board %dx%d needs %d markers, dictionary %s has %d" % (
                *size, len(self.squares), dictionary, have))
        edge = (square_mm - marker_mm) / 2
        self.marker_points = np.array([[(x * square_mm + a, y * square_mm + b) for a, b in (
            (edge, edge), (square_mm - edge, edge), (square_mm - edge, square_mm - edge), (edge, square_mm - edge))]
            for x, y in self.squares], np.float32)
        number = {square: i for i, square in enumerate(self.squares)}
        # the two white squares at each inner corner
        self.beside = [[number[s] for s in ((i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1)) if s in number]
                       for j in range(self.rows) for i in range(self.columns)]
        if hasattr(cv2.aruco, "ArucoDetector"):  # since OpenCV 4.7
            detector = cv2.aruco.ArucoDetector(self.dictionary, cv2.aruco.DetectorParameters())
            self._detect = detector.detectMarkers
        else:
            parameters = cv2.aruco.DetectorParameters_create()
            self._detect = lambda image: cv2.aruco.detectMarkers(image, self.dictionary, parameters=parameters)

    def __str__(self):
        return "ChArUco board of %dx%d inner corners, squares of %g mm, markers %s of %g mm" % (
            self.columns, self.rows, self.square_mm, self.dictionary_name, self.marker_mm)

    def find(self, image):
        corners, ids, _ = self._detect(image)
        if ids is None:
            return None
        seen = {int(i): c.reshape(4, 2) for i, c in zip(np.ravel(ids), corners) if i < len(self.squares)}
        found = []
        for corner, beside in enumerate(self.beside):
            # of one marker alone the place is guessed too far away
            if all(m in seen for m in beside):
                found += self._place(image, corner, [(m, seen[m]) for m in beside])
        if len(found) < POINTS_LEAST:
            return None
        ids, points, reach = (np.array(list(v)) for v in zip(*found))
        # no other edge than the corner's own is as near as the markers
        points = refine(image, points, np.clip(np.floor(0.7 * reach), 2, WINDOW_MOST).astype(int))
        return Found(ids, points, reach * self.square_mm / (self.square_mm - self.marker_mm) * 2 ** 0.5)

    def _place(self, image, corner, markers):
        """[(corner, its place, px to the nearest marker)], or [] outside of the image."""
        flat = np.concatenate([self.marker_points[m] for m, _ in markers])
        seen = np.concatenate([c for _, c in markers]).astype(np.float32)
        h, _ = cv2.findHomography(flat, seen)
        if h is None:
            return []
        p = h @ [*(self.points[corner, :2] * 1000), 1]
        at = p[:2] / p[2]
        reach = np.linalg.norm(seen - at, axis=1).min()
        if not (at >= reach).all() or not (at < np.array(image.shape[::-1]) - reach).all():
            return []
        return [(corner, at, reach)]

    def match(self, left, right):
        ids, i, j = np.intersect1d(left.ids, right.ids, return_indices=True)
        if len(ids) < POINTS_LEAST or len(set(ids // self.columns)) < 3 or len(set(ids % self.columns)) < 3:
            return None
        return ids, left.points[i], right.points[j]

    def _bits(self, number):
        side = self.dictionary.markerSize + 2
        if hasattr(cv2.aruco, "generateImageMarker"):
            return cv2.aruco.generateImageMarker(self.dictionary, number, side)
        return cv2.aruco.drawMarker(self.dictionary, number, side)

    def draw(self, dots):
        image = super().draw(dots)
        side = round(dots * self.marker_mm / self.square_mm)
        edge = (dots - side) // 2
        for number, (x, y) in enumerate(self.squares):
            marker = cv2.resize(self._bits(number), (side, side), interpolation=cv2.INTER_NEAREST)
            image[y * dots + edge:y * dots + edge + side, x * dots + edge:x * dots + edge + side] = marker
        return image

    def rectangles(self):
        out = super().rectangles()
        edge = (self.square_mm - self.marker_mm) / 2
        for number, (x, y) in enumerate(self.squares):
            bits = self._bits(number)
            b = self.marker_mm / len(bits)
            for v, u in zip(*np.nonzero(bits == 0)):
                out.append((x * self.square_mm + edge + u * b, y * self.square_mm + edge + v * b, b, b))
        return out


def make(options):
    """The board of the options."""
    if options.charuco:
        return Charuco(options.board, options.square, options.marker, options.dictionary)
    return Checkerboard(options.board, options.square)


# -- to print --
def _svg(board):
    s, margin = board.square_mm, MARGIN_SQUARES * board.square_mm
    width, height = (board.columns + 1) * s + 2 * margin, (board.rows + 1) * s + 2 * margin
    # rectangles of one path: neighbours leave no hairline between them
    path = "".join("M%.4f %.4fh%.4fv%.4fh-%.4fz" % (x + margin, y + margin, w, h, w)
                   for x, y, w, h in board.rectangles())
    text = "%s. Print at 100 %%, glue it to something flat, measure a square." % board
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%gmm" height="%gmm" viewBox="0 0 %g %g">\n'
            '<rect width="%g" height="%g" fill="white"/>\n<path d="%s" fill="black" shape-rendering="crispEdges"/>\n'
            '<text x="%g" y="%g" font-family="sans-serif" font-size="%g">%s</text>\n</svg>\n'
            % (width, height, width, height, width, height, path, margin, height - margin / 4,
               min(4.0, margin / 4, width / 60), text)).encode()


def _png(board):
    dots = max(8, round(board.square_mm * PRINT_PX_PER_MM))
    margin = round(MARGIN_SQUARES * dots)
    ok, data = cv2.imencode(".png", cv2.copyMakeBorder(board.draw(dots), *[margin] * 4, cv2.BORDER_CONSTANT, value=255))
    if not ok:
        raise Fail(CANNOT_CREATE, "OpenCV cannot make a PNG")
    # pHYs, before the pixels: so many dots a metre
    per_metre = round(dots / board.square_mm * 1000)
    chunk = b"pHYs" + struct.pack(">2IB", per_metre, per_metre, 1)
    data, ihdr_end = data.tobytes(), 8 + 25
    return data[:ihdr_end] + struct.pack(">I", 9) + chunk + struct.pack(">I", zlib.crc32(chunk)) + data[ihdr_end:]


def printed(board, path):
    """The bytes of the file to print."""
    return _svg(board) if path.endswith(".svg") else _png(board)
