"""Stixels in space, as viewers draw them: what tools/ctl/export/export_scene.c has, the same to the last bit.

Camera coordinates: left rectified camera, x right, y down, z along the optical axis, m.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Tuple

import numpy as np
from stixel import Frame, FrameFlag, Kind
from stixel._layout import DISPARITY_UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FAR_M = 200.0  #: nothing is drawn beyond
THICKNESS_M = 0.05  #: of a box
ROAD_COLOUR = (150, 92, 168)
DOT = np.dtype([("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("colour", "u1", (4,))])

# the colours of the pictures: a polynomial each (tools/draw/palette.c)
_TURBO = np.array([
    [0.13572138, 4.61539260, -42.66032258, 132.13108234, -152.94239396, 59.28637943],
    [0.09140261, 2.19418839, 4.84296658, -14.18503333, 4.27729857, 2.82956604],
    [0.10667330, 12.64194608, -60.58204836, 110.36276771, -89.90310912, 27.34824973]])
_NEAR_M, _FAR_COLOUR_M = 4.0, 60.0


class Scene(NamedTuple):
    """All of a frame that has a place."""

    centres: Floats  #: (boxes, 3): upright objects
    sizes: Floats  #: (boxes, 3)
    colours: NDArray[np.uint8]  #: (boxes, 3)
    corners: Floats  #: (quads, 4, 3): ground, and objects that lean: bottom left, bottom right, top right, top left
    dots: NDArray[Any]  #: DOT: the same stixels for viewers of points


def has_camera(header: Any) -> bool:
    """Distances are known."""
    return bool(header["fx"] > 0.0 and header["fy"] > 0.0 and header["baseline_m"] > 0.0)


def colours(focal_baseline: float, disparity: Floats) -> NDArray[np.uint8]:
    """(n, 3): of distances, by their disparities, px."""
    near, far = focal_baseline / _NEAR_M, focal_baseline / _FAR_COLOUR_M
    place = np.log(np.maximum(disparity, far) / far) / np.log(near / far)
    t = 0.10 + 0.80 * np.minimum(place, 1.0)
    out = np.empty((len(t), 3), np.uint8)
    for channel, factors in enumerate(_TURBO):
        v = np.full(len(t), factors[5])
        for factor in factors[4::-1]:
            v = v * t + factor
        out[:, channel] = np.clip(v, 0.0, 1.0) * 255.0 + 0.5
    return out


def _place(h: Any, column: Any, row: Any, disparity: Any) -> Tuple[Any, Any, Any]:
    z = h["fx"] * h["baseline_m"] / disparity
    return (column - h["cx"]) * z / h["fx"], (row - h["cy"]) * z / h["fy"], z


class _Stixels:
    """Those with a place, and their edges, px: the borders of the outer pixels."""

    def __init__(self, frame: Frame) -> None:
        h, s = frame.header, frame.stixels
        q7 = s["disparity_q7"]
        # of the rest the distance is known; ">" as in C, where a camera may be anything
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            far = h["fx"] * h["baseline_m"] / (q7 / 128.0) > FAR_M
        shown = np.zeros(len(s), bool)
        shown[frame.obstacle_points("camera")["id"]] = True
        if not h["flags"] & FrameFlag.BLIND:
            shown |= s["kind"] == Kind.GROUND
        s = s[(q7 != 0) & (q7 != DISPARITY_UNKNOWN) & ~far & shown]
        self.kind = s["kind"]
        self.disparity = s["disparity_q7"] / 128.0
        self.slope = s["slope_q14"] / 16384.0
        self.row_top, self.row_bottom = s["row_top"].astype(np.int64), s["row_bottom"].astype(np.int64)
        left = s["column"] * float(h["column_width"])
        self.left = left - 0.5
        self.right = np.minimum(left + float(h["column_width"]), float(h["image_width"])) - 0.5
        self.top, self.bottom = self.row_top - 0.5, self.row_bottom + 0.5
        self.box = (self.kind == Kind.OBJECT) & (s["slope_q14"] == 0)
        self.colour = np.empty((len(s), 3), np.uint8)  # of boxes and ground
        self.colour[:] = ROAD_COLOUR
        self.colour[self.box] = colours(h["fx"] * h["baseline_m"], self.disparity[self.box])


def _boxes(h: Any, s: _Stixels) -> Tuple[Floats, Floats, NDArray[np.uint8]]:
    at, d = s.box, s.disparity[s.box]
    ax, ay, z = _place(h, s.left[at], s.top[at], d)
    bx, by, _ = _place(h, s.right[at], s.bottom[at], d)
    return (np.stack([(ax + bx) / 2.0, (ay + by) / 2.0, z], 1),
            np.stack([bx - ax, by - ay, np.full(len(d), THICKNESS_M)], 1),
            s.colour[at])


def _quads(h: Any, s: _Stixels) -> Floats:
    """Their disparity changes from row to row; what is farther than can be drawn is cut off."""
    least = h["fx"] * h["baseline_m"] / FAR_M
    d, slope = s.disparity, s.slope
    bottom, top = d - 0.5 * slope, d + slope * (s.row_bottom - s.top)
    at = ~s.box & (bottom > least)
    d, slope, bottom, top = d[at], slope[at], bottom[at], top[at]
    left, right, row_top, row_bottom = s.left[at], s.right[at], s.top[at], s.bottom[at]
    cut = top < least
    with np.errstate(divide="ignore", invalid="ignore"):
        row_top = np.where(cut, row_bottom - (bottom - least) / -slope, row_top)
    top = np.where(cut, least, top)
    return np.stack([np.stack(_place(h, x, y, near), 1) for x, y, near in (
        (left, row_bottom, bottom), (right, row_bottom, bottom), (right, row_top, top), (left, row_top, top))], 1)


def _dots(h: Any, s: _Stixels) -> NDArray[Any]:
    """Up the middle of each stixel, two widths of a column apart; on the ground four."""
    ground = s.kind == Kind.GROUND
    step = 2 * min(max(int(h["column_width"]), 1), 65535) * np.where(ground, 2, 1)
    counts = np.maximum((s.row_bottom - s.row_top) // step + 1, 0)
    of = np.repeat(np.arange(len(counts)), counts)
    up = (np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)) * step[of]
    disparity = s.disparity[of] + s.slope[of] * up
    focal_baseline = h["fx"] * h["baseline_m"]
    # once it is too far it stays so: it is the slope that takes it there
    seen = (disparity * FAR_M >= focal_baseline) & (s.disparity * FAR_M >= focal_baseline)[of]
    of, up, disparity = of[seen], up[seen], disparity[seen]
    dots = np.empty(len(of), DOT)
    dots["x"], dots["y"], dots["z"] = _place(h, ((s.left + s.right) / 2.0)[of], s.row_bottom[of] - up, disparity)
    colour = dots["colour"]
    colour[:, :3], colour[:, 3] = s.colour[of], 255
    leans = ~(ground | s.box)[of]
    colour[leans, :3] = colours(focal_baseline, disparity[leans])
    return dots


def scene(frame: Frame) -> Scene:
    """Of a frame that has_camera()."""
    s = _Stixels(frame)
    return Scene(*_boxes(frame.header, s), _quads(frame.header, s), _dots(frame.header, s))


def camera_pose(header: Any) -> Tuple[float, Tuple[float, float, float, float]]:
    """Of the camera over the road: height, m, and the turn of its coordinates into those of the road (x, y, z, w).

    The road's: below the camera, x forward, y left, z up.
    """
    road = header["road_origin"] != 0
    roll = float(header["roll_rad"]) if road else 0.0
    # the optical axis goes down by this, once the roll is taken out
    pitch = math.atan(math.tan(header["pitch_rad"]) * math.cos(roll)) if road else 0.0
    s, c = 0.5 * math.sin(pitch / 2.0), 0.5 * math.cos(pitch / 2.0)
    roll_s, roll_c = math.sin(roll / 2.0), math.cos(roll / 2.0)
    x, y, z, w = -c - s, c + s, -c + s, c - s
    return float(header["height_m"]) if road else 0.0, (
        x * roll_c + y * roll_s, y * roll_c - x * roll_s, z * roll_c + w * roll_s, w * roll_c - z * roll_s)
