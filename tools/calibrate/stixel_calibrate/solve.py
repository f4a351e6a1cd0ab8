"""Computes cameras from views: runs OpenCV's calibration, drops views that do not fit, and computes the remaining
errors.

SPDX-License-Identifier: Apache-2.0
"""
import cv2
import numpy as np

from .fail import DATA, Fail
from .lens import Rig, turns_back

VIEWS_LEAST = 10
# A view is dropped if its error is OUTLIER times that of the median view and larger than OUTLIER_PX.
OUTLIER = 3.0
OUTLIER_PX = 0.3
DROPPED_MOST = 0.25
# Limits of a result. A result beyond one of them is not written without --force.
REPROJECTION_MOST_PX = 0.5
ROW_MEDIAN_MOST_PX = 0.25
ROW_95_MOST_PX = 0.75

CRITERIA = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 100, 1e-7)
# Guesses of a fisheye's focal length, divided by the longer side of the image. A lens with 180 degrees across it has
# 0.32, one with 115 degrees 0.5.
FISHEYE_WIDTHS = (0.32, 0.42, 0.55)
SETTLE_STEPS = 60  # upper limit; 10 to 20 steps are typical
FLAGS = {"plumb_bob": 0, "rational": cv2.CALIB_RATIONAL_MODEL}


NO_CAMERAS = ("OpenCV finds no cameras that fit these views%s: more views, nearer and tilted more, or another --lens")


def _bundle(board, views):
    points = [board.points[v.ids].reshape(-1, 1, 3) for v in views]
    return points, [v.left.reshape(-1, 1, 2) for v in views], [v.right.reshape(-1, 1, 2) for v in views]


def _one_camera(lens, points, side, size):
    """Calibrates one camera, first with the fewest coefficients. Without a start 8 coefficients converge to a wrong
    minimum."""
    few = cv2.CALIB_FIX_K3 | cv2.CALIB_ZERO_TANGENT_DIST
    _, k, d, _, _ = cv2.calibrateCamera(points, side, size, None, None, flags=few, criteria=CRITERIA)
    flags = FLAGS[lens] | cv2.CALIB_USE_INTRINSIC_GUESS
    return cv2.calibrateCamera(points, side, size, k, d, flags=flags, criteria=CRITERIA)[1:3]


def _flat_lens(lens, board, views, size):
    points, left, right = (([np.float32(p) for p in side]) for side in _bundle(board, views))
    (k1, d1), (k2, d2) = (_one_camera(lens, points, side, size) for side in (left, right))
    _, k1, d1, k2, d2, r, t, _, _ = cv2.stereoCalibrate(
        points, left, right, k1, d1, k2, d2, size, flags=FLAGS[lens] | cv2.CALIB_USE_INTRINSIC_GUESS, criteria=CRITERIA)
    return settle(Rig(lens, size, (k1, k2), (d1, d2), r, t), board, views)


def _view_terms(board, view, pose, cameras, om, t):
    """Returns three things for one view: the differences to its corners (4 n), their derivatives by both cameras' f,
    c and d and by om and t, and their derivatives by the pose."""
    points = np.float64(board.points[view.ids]).reshape(-1, 1, 3)
    rvec, tvec = pose
    r2, t2, r2_r, _, r2_om, _, t2_r, t2_t, t2_om, t2_t2 = cv2.composeRT(rvec, tvec, om, t)
    (left, j), (right, i) = (cv2.projectPoints(points, *at, k, d)
                             for at, (k, d) in zip(((rvec, tvec), (r2, t2)), cameras))
    none = np.zeros((len(j), j.shape[1] - 6))
    moves = i[:, :3] @ r2_om + i[:, 3:6] @ t2_om, i[:, 3:6] @ t2_t2
    by_pose = np.c_[i[:, :3] @ r2_r + i[:, 3:6] @ t2_r, i[:, 3:6] @ t2_t]
    off = np.r_[(view.left - left.reshape(-1, 2)).ravel(), (view.right - right.reshape(-1, 2)).ravel()]
    return off, np.r_[np.c_[j[:, 6:], none, np.zeros((len(j), 6))], np.c_[none, i[:, 6:], moves[0], moves[1]]], np.r_[
        j[:, :6], by_pose]


def settle(rig, board, views):
    """Solves the least squares of stereoCalibrate() by Levenberg-Marquardt, from where OpenCV ended. OpenCV 4.11 and
    4.12 end early, with focal lengths that are half a percent off."""
    om, t = cv2.Rodrigues(rig.r)[0], rig.t.reshape(3, 1)
    cameras = [(k, d.copy()) for k, d in zip(rig.k, rig.d)]
    poses = [cv2.solvePnP(board.points[v.ids], v.left, *cameras[0])[1:] for v in views]
    coefficients = len(rig.d[0])
    side = 4 + coefficients
    damping, cost, best = 1e-3, np.inf, None
    for _ in range(SETTLE_STEPS):
        terms = [_view_terms(board, v, pose, cameras, om, t) for v, pose in zip(views, poses)]
        now = sum(float(off @ off) for off, _, _ in terms)
        if now < cost:
            done, cost, best, damping = cost - now < 1e-9 * now, now, (cameras, om, t, poses, terms), damping / 10
            if done:
                break
        elif best is None:  # the error is not a number
            return rig
        else:
            damping *= 10
        cameras, om, t, poses, terms = best
        # eliminate the poses: each belongs to one view
        whole, target, back = np.zeros((2 * side + 6,) * 2), np.zeros(2 * side + 6), []
        for off, shared, own in terms:
            square = own.T @ own
            inverse = np.linalg.inv(square + damping * np.diag(np.diag(square)))
            cross = shared.T @ own
            back.append((inverse, cross, own.T @ off))
            part = shared.T @ shared
            whole += part + damping * np.diag(np.diag(part)) - cross @ inverse @ cross.T
            target += shared.T @ off - cross @ inverse @ back[-1][2]
        step = np.linalg.solve(whole, target)
        cameras = [_moved(k, d, step[n * side:(n + 1) * side]) for n, (k, d) in enumerate(cameras)]
        om, t = om + step[-6:-3, None], t + step[-3:, None]
        own = [(inverse @ (v - cross.T @ step)).reshape(2, 3, 1) for inverse, cross, v in back]
        poses = [(rvec + s[0], tvec + s[1]) for (rvec, tvec), s in zip(poses, own)]
    cameras, om, t = best[:3]
    return Rig(rig.lens, rig.size, *zip(*cameras), cv2.Rodrigues(om)[0], t)


def _moved(k, d, step):
    return k + [[step[0], 0, step[2]], [0, step[1], step[3]], [0, 0, 0]], d + step[4:]


def _one_fisheye(points, side, size, flags):
    """Calibrates one fisheye camera from several guesses and returns the best. If the guessed focal length is too
    small, OpenCV finds no start, or another minimum."""
    best, why = None, None
    for guess in FISHEYE_WIDTHS:
        f = guess * max(size)
        k = np.array([[f, 0, (size[0] - 1) / 2], [0, f, (size[1] - 1) / 2], [0, 0, 1]])
        try:
            rms, k, d, _, _ = cv2.fisheye.calibrate(points, side, size, k, np.zeros((4, 1)), flags=flags,
                                                    criteria=CRITERIA)
        except cv2.error as e:
            why = e
            continue
        if np.isfinite(rms) and (best is None or rms < best[0]):
            best = rms, k, d
    if best is None:
        raise why or cv2.error("no start")
    return best[1:]


def _fisheye(board, views, size):
    # fisheye.stereoCalibrate() needs the same number of points in every view, so shorter views repeat some of their
    # points
    most = max(len(v.ids) for v in views)
    points, left, right = (
        [np.float64(np.take(p, np.arange(most) * len(p) // most, axis=0)).reshape(1, -1, p.shape[-1]) for p in side]
        for side in _bundle(board, views))
    of = cv2.fisheye if hasattr(cv2.fisheye, "CALIB_FIX_SKEW") else cv2  # since OpenCV 5
    flags = of.CALIB_RECOMPUTE_EXTRINSIC | of.CALIB_FIX_SKEW | of.CALIB_USE_INTRINSIC_GUESS
    (k1, d1), (k2, d2) = (_one_fisheye(points, side, size, flags) for side in (left, right))
    answer = cv2.fisheye.stereoCalibrate(points, left, right, k1, d1, k2, d2, size, flags=flags, criteria=CRITERIA)
    return Rig("equidistant", size, answer[1:5:2], answer[2:6:2], answer[5], answer[6])


def rig_of(lens, board, views, size):
    """Calibrates a rig. Raises Fail if OpenCV cannot."""
    try:
        rig = _fisheye(board, views, size) if lens == "equidistant" else _flat_lens(lens, board, views, size)
    except (cv2.error, np.linalg.LinAlgError) as e:
        raise Fail(DATA, NO_CAMERAS % (" (%s)" % " ".join(str(getattr(e, "err", None) or e).split()))) from None
    if not all(np.isfinite(m).all() for m in (*rig.k, *rig.d, rig.r, rig.t)):
        raise Fail(DATA, NO_CAMERAS % "")
    return rig


class Errors:
    """Errors of some views, px. reprojection: mean distance of corners. row_median, row_95: median and 95th
    percentile of the row errors after rectification."""

    def __init__(self, rig, board, views):
        per_view = [rig.place(board.points[v.ids], v) for v in views]
        rows = [rig.row_errors(v) for v in views]
        # a view without any rectified corner gets an infinite error
        self.views = [(float(np.sqrt(np.mean(e ** 2))), float(np.median(r)) if len(r) else np.inf)
                      for e, r in zip(per_view, rows)]
        self.reprojection = float(np.mean(np.concatenate(per_view)))
        self.row_median, self.row_95 = rows_of(np.concatenate(rows))


def rows_of(errors):
    """Returns median and 95th percentile."""
    return (float(np.median(errors)), float(np.percentile(errors, 95))) if len(errors) else (np.inf, np.inf)


def raw_rows(views):
    """Returns median and 95th percentile of the row errors in the raw images."""
    return rows_of(np.concatenate([np.abs(v.left[:, 1] - v.right[:, 1]) for v in views]))


def _outliers(some, among):
    """Returns which views have much larger errors than the others, and the ratio of error to limit. The arguments are
    lists such as Errors.views."""
    table = np.array(some)
    most = np.maximum(OUTLIER * np.median(among, axis=0), OUTLIER_PX)
    return (table > most).any(axis=1), (table / most).max(axis=1)


def check_sides(rig):
    """Raises Fail if the right camera does not stand to the right of the left one."""
    x, y, _ = rig.t
    if abs(y) > abs(x):
        raise Fail(DATA, "the cameras stand one above the other (T = %.3f %.3f %.3f m): stixeld needs them side by side"
                   % tuple(rig.t))
    if x > 0:
        raise Fail(DATA, "left and right are exchanged: the right camera stands %.3f m to the left of the left one" % x)


class Result:
    """rig, errors: the result. first: errors before views were dropped. used: views. dropped: [(name, reprojection
    px, row px)]."""

    def __init__(self, rig, first, errors, used, dropped):
        self.rig, self.first, self.errors, self.used, self.dropped = rig, first, errors, used, dropped

    def beyond(self):
        """Returns sentences about the limits that the result exceeds."""
        e, out = self.errors, []
        for value, most, what in ((e.reprojection, REPROJECTION_MOST_PX, "mean reprojection error"),
                                  (e.row_median, ROW_MEDIAN_MOST_PX, "median row error"),
                                  (e.row_95, ROW_95_MOST_PX, "95th percentile of row errors")):
            if not value <= most:
                out.append("%s %.2f px, at most %.2f" % (what, value, most))
        for side, k, d in zip(("left", "right"), self.rig.k, self.rig.d):
            if turns_back(self.rig.lens, k, d, self.rig.size):
                out.append("the lens model of the %s camera turns back before the image ends: another --lens, or views "
                           "nearer to the corners" % side)
            if not (0 <= k[0, 2] <= self.rig.size[0] and 0 <= k[1, 2] <= self.rig.size[1]):
                out.append("the principal point of the %s camera, %.0f %.0f, is outside of the image" % (
                    side, k[0, 2], k[1, 2]))
        return out


def solve(lens, board, views, size):
    """Computes the cameras from at least VIEWS_LEAST views."""
    if len(views) < VIEWS_LEAST:
        raise Fail(DATA, "%d good view%s of the board, at least %d are needed" % (
            len(views), "" if len(views) == 1 else "s", VIEWS_LEAST))
    used, out = list(views), []
    rig = rig_of(lens, board, used, size)
    first = errors = Errors(rig, board, used)
    most = min(int(DROPPED_MOST * len(views)), len(views) - VIEWS_LEAST)
    while len(out) < most:
        bad, how_bad = _outliers(errors.views, errors.views)
        # drop only the worst third at a time, because one bad view makes other views look worse than they are
        go = [i for i in np.argsort(-how_bad) if bad[i]][:int(bad.sum() + 2) // 3][:most - len(out)]
        if not go:
            break
        out += [used[i] for i in go]
        used = [v for i, v in enumerate(used) if i not in go]
        rig = rig_of(lens, board, used, size)
        errors = Errors(rig, board, used)
    if out:
        # take back the views that are no outliers any more
        bad, _ = _outliers(Errors(rig, board, out).views, errors.views)
        back = [v for v, b in zip(out, bad) if not b]
        if back:
            out = [v for v in out if v not in back]
            used = [v for v in views if v not in out]
            rig = rig_of(lens, board, used, size)
            errors = Errors(rig, board, used)
    check_sides(rig)
    return Result(rig, first, errors, used, [(v.name, *Errors(rig, board, [v]).views[0]) for v in out])
