"""Lens models, over OpenCV's two families of functions: plumb_bob and rational in cv2, equidistant in cv2.fisheye.

SPDX-License-Identifier: Apache-2.0
"""
import cv2
import numpy as np

COEFFICIENTS = {"plumb_bob": 5, "rational": 8, "equidistant": 4}
TURN_STEPS = 400


def project(lens, points, rvec, tvec, k, d):
    """Projects points (n, 3). Returns pixels (n, 2) and their derivatives by rvec and tvec (2 n, 6)."""
    points = np.asarray(points, np.float64).reshape(-1, 1, 3)
    if lens == "equidistant":
        px, j = cv2.fisheye.projectPoints(points, rvec, tvec, k, d)
        return px.reshape(-1, 2), j[:, 8:14]
    px, j = cv2.projectPoints(points, rvec, tvec, k, d)
    return px.reshape(-1, 2), j[:, :6]


def normalise(lens, px, k, d):
    """Returns where the rays of pixels meet the plane z = 1, (n, 2). nan: the model has no ray for the pixel."""
    px = np.asarray(px, np.float64).reshape(-1, 1, 2)
    if lens == "equidistant":
        out = cv2.fisheye.undistortPoints(px, k, d).reshape(-1, 2)
        out[np.abs(out).max(axis=1) > 1e5] = np.nan
        return out
    criteria = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 100, 1e-9)
    # OpenCV 5 merged two functions of 4.x into one
    undistort = getattr(cv2, "undistortPointsIter", cv2.undistortPoints)
    return undistort(px, k, d, R=None, P=None, criteria=criteria).reshape(-1, 2)


def turns_back(lens, k, d, size):
    """Returns whether the model stops growing before the farthest corner of the image. Such a model would show
    points twice."""
    w, h = size
    corners = np.array([[0, 0], [w - 1, 0], [0, h - 1], [w - 1, h - 1]], np.float64)
    wanted = np.hypot((corners[:, 0] - k[0, 2]) / k[0, 0], (corners[:, 1] - k[1, 2]) / k[1, 1]).max()
    d = np.ravel(d)
    if lens == "equidistant":
        r = np.linspace(0, np.pi, TURN_STEPS * 8)
        s = r * r
        seen = r * (1 + s * (d[0] + s * (d[1] + s * (d[2] + s * d[3]))))
    else:
        d = np.r_[d, np.zeros(8 - len(d))]
        r = np.tan(np.linspace(0, np.radians(89.5), TURN_STEPS * 8))
        s = r * r
        below = 1 + s * (d[5] + s * (d[6] + s * d[7]))
        seen = r * (1 + s * (d[0] + s * (d[1] + s * d[4]))) / np.where(below > 0, below, np.nan)
    with np.errstate(invalid="ignore"):
        grows = np.diff(seen) > 0
    until = len(grows) if grows.all() else int(np.argmin(grows))
    return bool(seen[until] < wanted)


def halves(r, t):
    """Returns the rotations of both cameras to the rectified pair, as OpenCV's stereoRectify() defines them: each
    takes half of r, then both turn so that t lies along x."""
    om = cv2.Rodrigues(r)[0]
    half = cv2.Rodrigues(-om / 2)[0]
    moved = (half @ np.ravel(t))
    x = np.array([1.0 if moved[0] > 0 else -1.0, 0, 0])
    axis = np.cross(moved, x)
    length = np.linalg.norm(axis)
    turn = np.eye(3)
    if length > 0:
        angle = np.arccos(np.clip(abs(moved[0]) / np.linalg.norm(moved), -1, 1))
        turn = cv2.Rodrigues(axis / length * angle)[0]
    return turn @ half.T, turn @ half


class Rig:
    """Two raw cameras. k, d: of the left and right camera. r, t: a point x in the left camera's axes is r x + t in
    the right camera's."""

    def __init__(self, lens, size, k, d, r, t):
        self.lens, self.size, self.r, self.t = lens, size, np.asarray(r, np.float64), np.ravel(t).astype(np.float64)
        self.k = [np.asarray(m, np.float64) for m in k]
        self.d = [np.ravel(m)[:COEFFICIENTS[lens]].astype(np.float64) for m in d]

    @property
    def baseline_m(self):
        return float(np.linalg.norm(self.t))

    def rectified(self, side, px):
        """Returns rectified positions (n, 2), in px of the raw cameras' mean focal length. nan: no position, or more
        than 80 degrees off the axis."""
        rays = np.c_[normalise(self.lens, px, self.k[side], self.d[side]), np.ones(len(px))]
        rays = rays @ halves(self.r, self.t)[side].T
        f = (self.k[0][1, 1] + self.k[1][1, 1]) / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            out = np.where(rays[:, 2:] > 0.17, rays[:, :2] / rays[:, 2:] * f, np.nan)
        return out

    def row_errors(self, view):
        """Returns the vertical distance of the two rectified positions of each corner of a view, px."""
        e = np.abs(self.rectified(0, view.left)[:, 1] - self.rectified(1, view.right)[:, 1])
        return e[np.isfinite(e)]

    def place(self, points, view):
        """Finds the pose of the board that fits both images of a view best. Returns the distances of its corners (2
        n), px."""
        flat = normalise(self.lens, view.left, self.k[0], self.d[0])
        _, rvec, tvec = cv2.solvePnP(points, flat, np.eye(3), None, flags=cv2.SOLVEPNP_ITERATIVE)
        om = cv2.Rodrigues(self.r)[0]
        for _ in range(8):
            off, jacobian = self._off(points, view, rvec, tvec, om)
            step = np.linalg.lstsq(jacobian, off, rcond=None)[0].reshape(2, 3, 1)
            rvec, tvec = rvec + step[0], tvec + step[1]
            if np.abs(step).max() < 1e-9:
                break
        off, _ = self._off(points, view, rvec, tvec, om)
        return np.linalg.norm(off.reshape(-1, 2), axis=1)

    def _off(self, points, view, rvec, tvec, om):
        """Returns the differences to the corners in both images (4 n), and their derivatives by rvec and tvec."""
        seen, j_left = project(self.lens, points, rvec, tvec, self.k[0], self.d[0])
        r2, t2, r2_r, _, _, _, t2_r, t2_t, _, _ = cv2.composeRT(rvec, tvec, om, self.t.reshape(3, 1))
        there, j = project(self.lens, points, r2, t2, self.k[1], self.d[1])
        j_right = np.c_[j[:, :3] @ r2_r + j[:, 3:] @ t2_r, j[:, 3:] @ t2_t]
        return np.r_[(view.left - seen).ravel(), (view.right - there).ravel()], np.r_[j_left, j_right]
