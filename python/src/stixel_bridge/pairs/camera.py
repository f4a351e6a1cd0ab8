"""The calibration of a pair of cameras, from two messages sensor_msgs/CameraInfo.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence, Tuple

from stixel import RawCamera

from .images import Unusable

_LENSES = {"": "plumb_bob", "plumb_bob": "plumb_bob", "rational_polynomial": "rational_polynomial",
           "equidistant": "equidistant", "fisheye": "equidistant"}
_NEAR = 1e-9
_Lens = Tuple[float, float, float, float]  # fx, fy, cx, cy


class Info(NamedTuple):
    """A CameraInfo, in pixels of the image that is sent with it. Two are equal if they mean the same camera."""

    width: int
    height: int
    model: str
    d: Tuple[float, ...]
    k: _Lens  #: matrix of the raw image, px
    r: Tuple[float, ...]
    p: _Lens  #: matrix of the rectified image, px
    shift: float  #: position of the camera along the pair's x axis, m

    def is_rectified(self) -> bool:
        """Returns whether raw and rectified image are the same."""
        straight = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        return not any(self.d) and _same(self.k, self.p) and _same(self.r, straight)


class Geometry(NamedTuple):
    """The cameras of a pair, for stixel.PairWriter."""

    camera: Optional[Tuple[float, float, float, float, float]] = None  #: fx, fy, cx, cy, baseline_m; None: unknown
    raw: Optional[Tuple[RawCamera, RawCamera]] = None  #: None: the images are rectified, or camera is None


def _same(a: Sequence[float], b: Sequence[float]) -> bool:
    return all(abs(x - y) <= _NEAR * max(1.0, abs(x)) for x, y in zip(a, b))


def info(message: Any) -> Info:
    """Reads a sensor_msgs/CameraInfo of ROS 2 (k, d, r, p) or ROS 1 (K, D, R, P)."""
    def of(name: str) -> Tuple[float, ...]:
        found = getattr(message, name, None)
        return tuple(float(x) for x in (getattr(message, name.upper()) if found is None else found))
    k, p = of("k"), of("p")
    roi, across, down = message.roi, max(1, int(message.binning_x)), max(1, int(message.binning_y))

    def here(fx: float, fy: float, cx: float, cy: float) -> _Lens:
        """Converts from pixels of the whole sensor, as image_geometry does."""
        return fx / across, fy / down, (cx - roi.x_offset) / across, (cy - roi.y_offset) / down
    return Info((roi.width or message.width) // across, (roi.height or message.height) // down,
                str(message.distortion_model), of("d"), here(k[0], k[4], k[2], k[5]), of("r"),
                here(p[0], p[5], p[2], p[6]), -p[3] / p[0] if p[0] else 0.0)


def geometry(left: Optional[Info], right: Optional[Info], rectified: bool) -> Geometry:
    """Returns the calibration of the pair; none: a camera is not calibrated. rectified: the images are.

    Raises Unusable.
    """
    if left is None or right is None or not (left.p[0] and right.p[0]):
        return Geometry()
    baseline = right.shift - left.shift
    if baseline == 0:
        return Geometry()  # each camera was calibrated alone
    if baseline < 0:
        raise Unusable("the right camera is %g m left of the left one: are the topics swapped?" % -baseline)
    camera = (*left.p, baseline)
    if rectified or (left.is_rectified() and right.is_rectified()):
        return Geometry(camera)
    return Geometry(camera, (_raw(left), _raw(right)))


def _raw(camera: Info) -> RawCamera:
    if camera.model not in _LENSES:
        raise Unusable("images with distortion model '%s' cannot be rectified; those with %s can" % (
            camera.model[:40], ", ".join(name for name in _LENSES if name)))
    fx, fy, cx, cy = camera.k
    return RawCamera(fx, fy, cx, cy, camera.d, camera.r, _LENSES[camera.model])
