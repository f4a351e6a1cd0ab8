"""Computes metres from image positions and disparities.

Image coordinates: x to the right, y down, pixel centres at integers. Camera coordinates: origin in the left camera, X
right, Y down, Z along the optical axis. Vehicle coordinates: origin on the road below the left camera, X forward along
the road, Y left, Z up (ISO 8855, ROS REP 103). Units are metres. Points that are not known, or infinitely far away, are
nan.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import numpy as np

from ._layout import DISPARITY_PER_PX, DISPARITY_UNKNOWN, SLOPE_PER_PX, RoadOrigin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Camera(NamedTuple):
    """The rectified left camera. Without a camera model all fields are 0, and no metric values are available."""

    fx: float  #: focal length, px
    fy: float
    cx: float  #: principal point, px
    cy: float
    baseline_m: float  #: distance from the left camera to the right one, m

    @property
    def known(self) -> bool:
        """Whether there is a camera model."""
        return self.fx > 0 and self.fy > 0 and self.baseline_m > 0

    def depth(self, disparity: Any) -> Floats:
        """Returns the depth along the optical axis, m, of disparities in px.

        inf: the disparity is 0. nan: the disparity is nan, or there is no camera model.
        """
        d = np.asarray(disparity, np.float64)
        if not self.known:
            return np.full(d.shape, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(d >= 0, self.fx * self.baseline_m / d, np.nan)

    def point(self, x: Any, y: Any, disparity: Any) -> Floats:
        """Returns points (..., 3) in camera coordinates, m, of image points (px) with disparities (px)."""
        depth = self.depth(disparity)
        depth = np.where(np.isfinite(depth), depth, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.stack(np.broadcast_arrays((np.asarray(x, np.float64) - self.cx) * depth / self.fx,
                                                (np.asarray(y, np.float64) - self.cy) * depth / self.fy, depth), -1)


class Road(NamedTuple):
    """The road model of a frame: a plane, with a bend where the road begins to climb or to fall.

    Ground disparity of pixel x, y: slope * y + offset + cross * (x - axis), and in rows above bend_row (y < bend_row) +
    bend * (bend_row - y). Heights and vehicle coordinates refer to the plane.
    """

    origin: RoadOrigin  #: source of the model; NONE: all fields are 0
    slope: float  #: ground disparity of image row y at column axis is slope * y + offset, px
    offset: float
    horizon_row: float  #: row of the horizon at column axis, px
    pitch_rad: float  #: positive: the camera looks down
    height_m: float  #: height of the camera above the road, m
    age: int  #: frames since it was measured
    inliers: int  #: measurements on the plane
    #: px per column: the road is tilted sideways relative to the camera. This and all later fields are 0 before ABI 1.3
    cross: float = 0.0
    axis: float = 0.0  #: image column, px
    bend: float = 0.0  #: px per row: the road climbs (> 0) or falls (< 0); 0: a plane as far as the camera sees
    bend_row: float = 0.0  #: px
    roll_rad: float = 0.0  #: positive: the road comes nearer to the right
    pitch_sigma_rad: float = 0.0  #: standard deviation; 0: not known, for example of a road from the calibration
    roll_sigma_rad: float = 0.0
    height_sigma_m: float = 0.0

    @property
    def known(self) -> bool:
        """Whether there is a road model."""
        return self.origin != RoadOrigin.NONE

    def disparity(self, row: Any, column: Any = None) -> Any:
        """Returns the ground disparity at image rows and columns, px; negative above the horizon.

        Without a column, it is the disparity at the axis.
        """
        y = np.asarray(row, np.float64)
        d = self.slope * y + self.offset + self.bend * np.maximum(self.bend_row - y, 0.0)
        return d if column is None else d + self.cross * (np.asarray(column, np.float64) - self.axis)

    def turn(self) -> Floats:
        """Returns the rotation (3, 3) from camera to vehicle coordinates: roll about the optical axis, then pitch."""
        pitch = np.arctan(np.tan(self.pitch_rad) * np.cos(self.roll_rad))  # pitch of the optical axis over the plane
        cos, sin, roll_cos, roll_sin = np.cos(pitch), np.sin(pitch), np.cos(self.roll_rad), np.sin(self.roll_rad)
        return np.array([[-sin * roll_sin, -sin * roll_cos, cos], [-roll_cos, roll_sin, 0.0],
                         [-cos * roll_sin, -cos * roll_cos, -sin]])

    def to_vehicle(self, points: Any) -> Floats:
        """Converts points (..., 3) from camera to vehicle coordinates, m; nan without a road model."""
        p = np.asarray(points, np.float64)
        if not self.known:
            return np.full(p.shape, np.nan)
        turned = p @ self.turn().T
        turned[..., 2] += self.height_m
        return turned


def stixel_disparity(stixels: Any, rows: Any) -> Floats:
    """Returns the disparity of each stixel at an image row (one row for each stixel), px; nan: not known."""
    d = stixels["disparity_q7"] / DISPARITY_PER_PX + stixels["slope_q14"] / SLOPE_PER_PX * (
        stixels["row_bottom"].astype(np.float64) - rows)
    return np.where(stixels["disparity_q7"] == DISPARITY_UNKNOWN, np.nan, d)


def stixel_quads(stixels: Any, column_width: int, camera: Camera) -> Floats:
    """Returns corners (n, 4, 3) in camera coordinates: bottom left, bottom right, top right, top left.

    The corners lie on the outer edges of the pixels.
    """
    left = stixels["column"].astype(np.float64) * column_width - 0.5
    right = left + column_width
    bottom = stixels["row_bottom"] + 0.5
    top = stixels["row_top"] - 0.5
    d_bottom, d_top = stixel_disparity(stixels, bottom), stixel_disparity(stixels, top)
    return np.stack([camera.point(left, bottom, d_bottom), camera.point(right, bottom, d_bottom),
                     camera.point(right, top, d_top), camera.point(left, top, d_top)], 1)


def disparity_cloud(disparity: NDArray[np.float32], camera: Camera, road: Optional[Road]) -> NDArray[np.float32]:
    """Returns points (height, width, 3) of a disparity image (px, nan invalid), with a road in vehicle coordinates.

    Each coordinate is the depth times the sum of a term of the row and a term of the column.
    """
    points = np.full(disparity.shape + (3,), np.nan, np.float32)
    if not camera.known or road is not None and not road.known:
        return points
    y, x = np.ogrid[:disparity.shape[0], :disparity.shape[1]]
    right = ((x - camera.cx) / camera.fx).astype(np.float32)
    down = ((y - camera.cy) / camera.fy).astype(np.float32)
    with np.errstate(divide="ignore"):
        depth = np.float32(camera.fx * camera.baseline_m) / disparity
    depth[np.isinf(depth)] = np.nan
    if road is None:
        np.multiply(depth, right, out=points[..., 0])
        np.multiply(depth, down, out=points[..., 1])
        points[..., 2] = depth
    else:
        for i, (a, b, c) in enumerate(road.turn().astype(np.float32)):
            np.multiply(depth, a * right + (b * down + c), out=points[..., i])
        points[..., 2] += np.float32(road.height_m)
    return points
