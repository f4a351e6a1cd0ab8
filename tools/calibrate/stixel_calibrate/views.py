"""Decides which views of the board are kept, and what is still missing.

SPDX-License-Identifier: Apache-2.0
"""
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np

# A view is blurred if an edge at a corner rises over more px than this, or than 1/320 of the image's width if that is
# more.
EDGE_MOST_PX = 4.0
EDGE_CORNERS = 20  # number of corners at which the edge width is measured
# If the board moved more px than this between the exposures of left and right, they show two poses.
MOTION_MOST_PX = 0.2
# A view is new if its corners are on average this far from the corners of each kept view, in image widths.
NEW_WIDTHS = 0.04
# The collection is complete when the following limits are reached.
ENOUGH_VIEWS = 15
VIEWS_MOST = 80
WITHOUT_MOST = 8
GRID = (8, 5)
COVERED = 0.65  # share of each image; near boards leave out the edge that the other camera does not see
REGION_COVERED = 0.5
NEAREST = 0.08  # share of the image's area inside the board's corners
DISTANCES = 1.5  # farthest distance divided by the nearest
TILT_DEG = 15
TILTED_VIEWS = 2

REGIONS = [["upper left", "top", "upper right"], ["left", "middle", "right"], ["lower left", "bottom", "lower right"]]


class View:
    """A pair with the board. ids: corners that both images have. left, right: their positions (n, 2), px. seen: all
    corners of each side."""

    def __init__(self, name, ids, left, right, seen, edge_px, motion_px):
        self.name, self.ids, self.left, self.right = name, ids, left, right
        self.seen, self.edge_px, self.motion_px = seen, edge_px, motion_px


def edge_width(image, found):
    """Returns the width over which an edge rises, px: contrast divided by the steepest step, median of some corners."""
    widths = []
    some = np.linspace(0, len(found.points) - 1, min(EDGE_CORNERS, len(found.points))).astype(int)
    for (x, y), spacing in zip(found.points[some], found.spacing[some]):
        half = int(np.clip(0.3 * spacing, 3, 16))
        x0, y0 = int(round(x)) - half, int(round(y)) - half
        patch = image[max(0, y0):y0 + 2 * half + 1, max(0, x0):x0 + 2 * half + 1].astype(np.float32)
        if min(patch.shape) < 5:
            continue
        low, high = np.percentile(patch, (10, 90))
        gx, gy = cv2.Sobel(patch, cv2.CV_32F, 1, 0, scale=1 / 8), cv2.Sobel(patch, cv2.CV_32F, 0, 1, scale=1 / 8)
        steepest = np.percentile(np.hypot(gx, gy)[1:-1, 1:-1], 98)
        widths.append((high - low) / max(steepest, 1e-3))
    return float(np.median(widths)) if widths else np.inf


class Collection:
    """Views that are kept, and counters of pairs that are not."""

    def __init__(self, board, lens):
        self.board, self.lens = board, lens
        self.size = None
        self.views = []
        self.pairs = 0
        self.left_out = dict.fromkeys(("no board", "one side only", "blurred", "moving", "like another"), 0)
        self.poses = np.zeros((0, 3))
        self.last = None
        self.without = deque(maxlen=WITHOUT_MOST)  # left images of pairs without the board
        self.cells = np.zeros((2, GRID[1], GRID[0]), int)
        self._pool = ThreadPoolExecutor(2)

    # -- a pair --
    def look(self, pair, anew=True):
        """Takes a pair. Returns ((left, right) Found or None, the reason why it is not kept, or None). anew: keep
        only a view that is unlike the others."""
        self.pairs += 1
        self.size = pair.left.shape[::-1]
        found = tuple(self._pool.map(self.board.find, (pair.left, pair.right)))
        # while a person holds the board, a quick answer is worth more than one more view
        if not anew or any(found):
            found = tuple(self._pool.map(lambda image, f: f or self.board.find_hidden(image), (pair.left, pair.right),
                                         found))
        why = self._verdict(pair, found, anew)
        if why:
            self.left_out[why] += 1
        return found, why

    def _verdict(self, pair, found, anew):
        left, right = found
        before, self.last = self.last, (pair, left)
        if left is None or right is None:
            self.without.append(pair.left)
            return "no board" if left is right else "one side only"
        matched = self.board.match(left, right)
        if matched is None:
            return "one side only"
        edge = max(edge_width(pair.left, left), edge_width(pair.right, right))
        motion = self._motion(before, pair, left)
        view = View(pair.name, *matched, (left.points, right.points), edge, motion)
        if edge > max(EDGE_MOST_PX, self.size[0] / 320):
            return "blurred"
        if motion > MOTION_MOST_PX:
            return "moving"
        if anew and self._like_another(view):
            return "like another"
        self._keep(view)
        return None

    def _motion(self, before, pair, left):
        """Returns the px that the board moved between the exposures of both images, from its speed since the
        previous pair."""
        if before is None or before[1] is None or not pair.apart_s:
            return 0.0
        _, i, j = np.intersect1d(before[1].ids, left.ids, return_indices=True)
        passed_s = (pair.captured_ns - before[0].captured_ns) / 1e9
        if not len(i) or not 0 < passed_s < 0.5:
            return 0.0
        way = np.linalg.norm(before[1].points[i] - left.points[j], axis=1).mean()
        return float(way / passed_s * pair.apart_s)

    def _like_another(self, view):
        for other in self.views:
            _, i, j = np.intersect1d(view.ids, other.ids, return_indices=True)
            if len(i) >= len(view.ids) / 2:
                if np.linalg.norm(view.left[i] - other.left[j], axis=1).mean() < NEW_WIDTHS * self.size[0]:
                    return True
        return False

    def _keep(self, view):
        self.views.append(view)
        for side in (0, 1):
            at = (view.seen[side] / self.size * GRID).astype(int)
            inside = ((at >= 0) & (at < GRID)).all(axis=1)
            for x, y in set(map(tuple, at[inside])):
                self.cells[side, y, x] += 1
        self._find_poses()

    # -- poses, roughly: f is estimated from the views --
    def _find_poses(self):
        w, h = self.size
        f = 0.5 * w if self.lens == "equidistant" else 0.8 * w
        if self.lens != "equidistant" and len(self.views) >= 3:
            points = [self.board.points[v.ids] for v in self.views]
            try:
                k = cv2.initCameraMatrix2D(points, [np.float32(v.left) for v in self.views], self.size, 1)
                f = k[0, 0] if 0.3 * w < k[0, 0] < 4 * w else f
            except cv2.error:
                pass
        k = np.array([[f, 0, (w - 1) / 2], [0, f, (h - 1) / 2], [0, 0, 1]])
        self.poses = np.array([self._pose(v, k) for v in self.views])

    def _pose(self, view, k):
        """Returns the distance of the board's middle, m, and its tilts, degrees. The tilts are positive if the left
        or upper edge is nearer."""
        px = view.left.astype(np.float64).reshape(-1, 1, 2)
        if self.lens == "equidistant":
            px = cv2.fisheye.undistortPoints(px, k, np.zeros(4))
        else:
            px = cv2.undistortPoints(px, k, None)
        points = self.board.points[view.ids].astype(np.float64)
        _, rvec, tvec = cv2.solvePnP(points, px, np.eye(3), None)
        r = cv2.Rodrigues(rvec)[0]
        n = r[:, 2] * (1 if r[2, 2] > 0 else -1)
        return float(np.linalg.norm(r @ points.mean(axis=0) + tvec.ravel())), *np.degrees(np.arctan2(-n[:2], n[2]))

    # -- what is missing --
    def covered(self, side):
        """Returns the share of the image's cells that have had a corner."""
        return float((self.cells[side] > 0).mean())

    def nearest(self):
        """Returns the share of the image that the board fills in the view that shows it largest."""
        areas = [cv2.contourArea(cv2.convexHull(np.float32(v.seen[0]))) for v in self.views]
        return max(areas, default=0.0) / (self.size[0] * self.size[1]) if areas else 0.0

    def distances(self):
        """Returns the nearest and farthest distance, m; None without a view."""
        return (self.poses[:, 0].min(), self.poses[:, 0].max()) if len(self.poses) else None

    def tilts(self):
        """Returns the largest tilt in each direction, degrees: left, right, upper, lower edge nearer."""
        if not len(self.poses):
            return (0, 0, 0, 0)
        across, down = self.poses[:, 1], self.poses[:, 2]
        return tuple(max(0.0, float(v)) for v in (across.max(), -across.min(), down.max(), -down.min()))

    def _regions(self):
        """Yields for each region its name, its part of the cells' rows and columns, and the share of it that has had
        corners."""
        w, h = GRID
        for j, row in enumerate(REGIONS):
            for i, word in enumerate(row):
                at = slice(h * j // 3, -(-h * (j + 1) // 3)), slice(w * i // 3, -(-w * (i + 1) // 3))
                part = self.cells[(slice(None), *at)] > 0
                # the left edge of the left image and the right edge of the right one are outside of the common view
                yield word, at, max(part.mean(axis=(1, 2))) if word.endswith(("left", "right")) else part.mean()

    def _empty_region(self):
        """Returns the name of the region that needs corners most. None: all regions have enough."""
        word, _, got = min(self._regions(), key=lambda r: r[2])
        return word if got < REGION_COVERED else None

    def wanted(self, side):
        """Returns which cells (rows, columns) of an image lack corners. No cell if the collection is complete."""
        empty = self.cells[side] == 0
        if self.covered(side) < COVERED:
            return empty
        poor = np.zeros_like(empty)
        for _, at, got in self._regions():
            poor[at] |= got < REGION_COVERED
        return empty & poor

    def missing(self):
        """Returns what to do next, in words. Empty if the collection is complete."""
        out = []
        if not self.views:
            return ["hold the board in front of both cameras"]
        region = self._empty_region()
        low = min((0, 1), key=self.covered)
        if region:
            out.append("hold it to the " + region)
        elif self.covered(low) < COVERED:
            out.append("hold it to where the %s image is still empty" % ("left", "right")[low])
        if self.nearest() < NEAREST:
            out.append("closer")
        elif self.poses[:, 0].max() < DISTANCES * self.poses[:, 0].min():
            out.append("farther away")
        across, down = self.poses[:, 1], self.poses[:, 2]
        for lean, words in ((across, "its left edge nearer"), (-across, "its right edge nearer"),
                            (down, "its upper edge nearer"), (-down, "its lower edge nearer")):
            if (lean >= TILT_DEG).sum() < TILTED_VIEWS:
                out.append("tilt it, " + words)
        if not out and len(self.views) < ENOUGH_VIEWS:
            out.append("%d more views from other places" % (ENOUGH_VIEWS - len(self.views)))
        return out
