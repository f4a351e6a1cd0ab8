"""Boards: the places of their corners, and the search for these in an image.

Both kinds have columns x rows inner corners, numbered row by row; the first square is black. A ChArUco board has
markers in its white squares, numbered row by row, as OpenCV since 4.7 and calib.io lay them out.

SPDX-License-Identifier: Apache-2.0
"""
import cv2
import numpy as np

from .fail import UNAVAILABLE, USAGE, Fail
from .paper import Checkers

SUBPIXEL = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 40, 0.001)
WINDOW_MOST = 11  # px, half the side of the largest refinement window
SEARCH_WIDTH = 960  # px, width of the reduced image for the first search
POINTS_LEAST = 12  # least number of corners of a ChArUco board that both cameras see
GOES_ON = 0.75  # share of corners that fit one row or column further out, above which the board is larger than found
BESIDE = 0.2  # squares; distance along and down from a corner at which the grey levels of its four squares are sampled


class Found:
    """Corners in one image: ids (n), points (n, 2) px, spacing (n): px to the nearest neighbour."""

    def __init__(self, ids, points, spacing):
        self.ids, self.points, self.spacing = ids, points, spacing


def refine(image, points, half_windows):
    """Refines corners to a fraction of a pixel, each with its own window size."""
    out = points.astype(np.float32).reshape(-1, 1, 2)
    for half in np.unique(half_windows):
        of = np.flatnonzero(half_windows == half)
        out[of] = cv2.cornerSubPix(image, np.ascontiguousarray(out[of]), (int(half), int(half)), (-1, -1), SUBPIXEL)
    return out[:, 0]


def _half_windows(reach):
    """Returns half the window side of each corner, px. reach: distance to the next corner, px."""
    return np.clip(np.floor(0.45 * reach), 2, WINDOW_MOST).astype(int)


def _smaller(image):
    """Returns a smaller image, in which a search takes a quarter of the time. Final corner positions come from the
    full image."""
    scale = SEARCH_WIDTH / image.shape[1]
    return cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 0.8 else image


def _by_sectors(image, size, flags):
    """Finds corners by OpenCV's sector search. Returns an array (n, 2), or None."""
    ok, corners = cv2.findChessboardCornersSB(image, size, flags=flags)
    return corners.reshape(-1, 2) if ok else None


def _by_squares(image, size, flags):
    """Finds corners by OpenCV's classic search. It tolerates blur and glare better, but its positions are less
    exact. Returns an array (n, 2), or None."""
    ok, corners = cv2.findChessboardCorners(image, size, flags=flags | cv2.CALIB_CB_ADAPTIVE_THRESH)
    return corners.reshape(-1, 2) if ok else None


def size_seen(images):
    """Returns (columns, rows) of the checkerboard that most of the images show, or None."""
    seen = []
    for image in images:
        ok, _, squares = cv2.findChessboardCornersSBWithMeta(
            _smaller(image), (3, 3), flags=cv2.CALIB_CB_LARGER | cv2.CALIB_CB_EXHAUSTIVE)
        if ok:
            seen.append((max(squares.shape), min(squares.shape)))
    most = max(set(seen), key=seen.count, default=None)
    return most if most and 2 * seen.count(most) > len(seen) else None


class Checkerboard(Checkers):
    """A checkerboard. It is found only if it is visible as a whole."""

    def __init__(self, size, square_mm):
        super().__init__(size, square_mm)
        at = np.mgrid[1:self.columns + 1, 1:self.rows + 1].T.reshape(-1, 2)
        self.points = np.c_[at, np.zeros(len(at))].astype(np.float32) * np.float32(square_mm / 1000)  # m

    def spacing(self, points):
        """Returns the distance of each corner of a whole board to its nearest neighbour, px."""
        grid = points.reshape(self.rows, self.columns, 2)
        least = np.full((self.rows, self.columns), np.inf)
        across, down = (np.linalg.norm(np.diff(grid, axis=a), axis=2) for a in (1, 0))
        for part, step in ((least[:, 1:], across), (least[:, :-1], across), (least[1:], down), (least[:-1], down)):
            np.minimum(part, step, out=part)
        return least.ravel()

    def find(self, image):
        """Searches for the board. Returns Found, or None."""
        small = _smaller(image)
        return self._first(image, ((small, _by_sectors, 0), (small, _by_sectors, cv2.CALIB_CB_EXHAUSTIVE)))

    def find_hidden(self, image):
        """Searches harder, where find() has found no board. Takes several times as long. Returns Found, or None."""
        small = _smaller(image)
        flat = cv2.CALIB_CB_NORMALIZE_IMAGE
        searches = [(small, _by_sectors, cv2.CALIB_CB_EXHAUSTIVE | flat), (small, _by_squares, flat)]
        if small is not image:
            searches += [(image, _by_sectors, cv2.CALIB_CB_EXHAUSTIVE), (image, _by_squares, flat)]
        return self._first(image, searches)

    def _first(self, image, searches):
        """Returns the first result that passes _alternates(). Some searches report a board where there is none, or
        one of another size."""
        for where, search, flags in searches:
            corners = search(where, (self.columns, self.rows), flags)
            if corners is None:
                continue
            points = self._upright((corners + 0.5) * (image.shape[1] / where.shape[1]) - 0.5)
            if self._alternates(image, points):
                points = refine(image, points, _half_windows(self.spacing(points)))
                return Found(np.arange(len(points)), points, self.spacing(points))
        return None

    def _alternates(self, image, points):
        """Returns whether two black and two white squares meet, in turn, at most corners of each row and column, and
        do not do so one row or column further out. In a board that a search made up few corners are right. Glare
        hides some corners."""
        # extrapolate the lines of the edge by one step
        grid = np.pad(points.reshape(self.rows, self.columns, 2), ((1, 1), (1, 1), (0, 0)), "reflect",
                      reflect_type="odd")
        along, down = np.gradient(grid, axis=1), np.gradient(grid, axis=0)
        a, b, c, d = (cv2.remap(image, np.float32(grid + BESIDE * step), None, cv2.INTER_LINEAR,
                                borderMode=cv2.BORDER_REPLICATE).astype(int)
                      for step in (along + down, -along - down, along - down, down - along))
        even = np.add.outer(np.arange(self.rows + 2), np.arange(self.columns + 2)) % 2 == 0
        # least difference in grey levels between the two squares of one colour and the two of the other
        brighter, darker = np.minimum(a, b) - np.maximum(c, d), np.minimum(c, d) - np.maximum(a, b)
        apart = max(np.where(even, brighter, darker), np.where(even, darker, brighter),
                    key=lambda s: np.median(s[1:-1, 1:-1]))
        right = apart[1:-1, 1:-1] > 0
        if min(right.mean(axis=0).min(), right.mean(axis=1).min()) <= 0.5:
            return False
        like = apart > 0.5 * np.median(apart[1:-1, 1:-1])
        return max(side.mean() for side in (like[0, 1:-1], like[-1, 1:-1], like[1:-1, 0], like[1:-1, -1])) < GOES_ON

    def _upright(self, points):
        """Mirrors the grid if necessary, so that columns run to the right of the rows' direction, as on the printed
        board."""
        grid = points.reshape(self.rows, self.columns, 2)
        along, down = grid[0, -1] - grid[0, 0], grid[-1, 0] - grid[0, 0]
        if along[0] * down[1] - along[1] * down[0] < 0:
            grid = grid[:, ::-1]
        return grid.reshape(-1, 2)

    def match(self, left, right):
        """Returns the corners that both images have: (ids, left points, right points), or None. A checkerboard does
        not show which corner is its first, so the right grid is turned to begin where the left one does."""
        if np.dot(left.points[-1] - left.points[0], right.points[-1] - right.points[0]) < 0:
            right.points, right.spacing = right.points[::-1].copy(), right.spacing[::-1].copy()
        return left.ids, left.points, right.points


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
    """A ChArUco board. A visible part of it is enough."""

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
        # the markers of the two white squares at each inner corner
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
            # a position from one marker alone would be too far off
            if all(m in seen for m in beside):
                found += self._place(image, corner, [(m, seen[m]) for m in beside])
        if len(found) < POINTS_LEAST:
            return None
        ids, points, reach = (np.array(list(v)) for v in zip(*found))
        # no other edge than the corner's own is nearer than the markers, so `reach` limits the window
        points = refine(image, points, np.clip(np.floor(0.7 * reach), 2, WINDOW_MOST).astype(int))
        return Found(ids, points, reach * self.square_mm / (self.square_mm - self.marker_mm) * 2 ** 0.5)

    def _place(self, image, corner, markers):
        """Predicts the position of a corner from its markers. Returns [(corner, its position, px to the nearest
        marker)], or [] outside of the image."""
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

    def find_hidden(self, image):
        return None

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
    """Returns the board that the options describe."""
    if options.charuco:
        return Charuco(options.board, options.square, options.marker, options.dictionary)
    return Checkerboard(options.board, options.square)
