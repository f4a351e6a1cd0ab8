"""Makes calibrations and images: messages of the left and the right image, and the disparity of each pixel.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import functools
import io
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import store
from .frames import Names, header, stamp_ns

try:
    from PIL import Image
    HAS_JPEG = True
except ImportError:  # compressed images are then not offered
    HAS_JPEG = False

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stixel import Frame

_PER_PX, _INVALID = 16, 0xFFFF  # scale and invalid value of a frame's disparity image
_INVALID_BELOW = 1.0  # px below the least disparity: stereo_image_proc writes this value where nothing was matched


def _region(width: int = 0, height: int = 0) -> Any:
    return store.make("sensor_msgs/msg/RegionOfInterest", x_offset=0, y_offset=0, height=height, width=width,
                      do_rectify=False)


def camera_info(frame: Frame, names: Names, right: bool) -> Any:
    """Makes sensor_msgs/CameraInfo of a rectified camera.

    Both cameras use the left camera's optical frame. P of the right camera contains the baseline, as image_geometry
    expects. Without a camera model K and P are 0, which means not calibrated.
    """
    c = frame.camera
    known = c.known
    k, p = np.zeros((3, 3)), np.zeros((3, 4))
    if known:
        k[:] = [[c.fx, 0.0, c.cx], [0.0, c.fy, c.cy], [0.0, 0.0, 1.0]]
        p[:, :3] = k
        p[0, 3] = -c.fx * c.baseline_m if right else 0.0
    return store.make(
        store.CAMERA_INFO, header=header(stamp_ns(frame), names.optical), height=frame.height, width=frame.width,
        distortion_model="plumb_bob" if known else "", d=np.zeros(5 if known else 0), k=k.ravel(),
        r=np.eye(3).ravel(), p=p.ravel(), binning_x=0, binning_y=0, roi=_region())


def _pixels(ns: int, names: Names, encoding: str, pixels: NDArray[Any]) -> Any:
    rows = np.ascontiguousarray(pixels)
    return store.make(
        store.IMAGE, header=header(ns, names.optical), height=rows.shape[0], width=rows.shape[1], encoding=encoding,
        is_bigendian=0, step=rows.strides[0], data=rows.reshape(-1).view(np.uint8))


def image(frame: Frame, names: Names, right: bool) -> Optional[Any]:
    """Makes sensor_msgs/Image, grey. None if the frame lacks the image."""
    grey = frame.right if right else frame.left
    return None if grey is None else _pixels(stamp_ns(frame), names, "mono8", grey)


def compressed(frame: Frame, names: Names, right: bool, quality: int) -> Optional[Any]:
    """Makes sensor_msgs/CompressedImage, JPEG, grey. None if the frame lacks the image."""
    grey = frame.right if right else frame.left
    if grey is None:
        return None
    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(grey)).save(out, "JPEG", quality=quality)
    return store.make(
        store.COMPRESSED_IMAGE, header=header(stamp_ns(frame), names.optical), format="mono8; jpeg compressed ",
        data=np.frombuffer(out.getvalue(), np.uint8))


@functools.lru_cache(maxsize=4)
def _px_of(least: float) -> NDArray[np.float32]:
    """Returns a table of the disparity for each value in a frame's image, px."""
    px = np.arange(1 << 16, dtype=np.float32) / np.float32(_PER_PX)
    px[_INVALID] = least - _INVALID_BELOW
    return px


def disparity(frame: Frame, names: Names) -> Optional[Any]:
    """Makes stereo_msgs/DisparityImage, px as float32. None: the frame has no disparity image.

    Pixels that were not matched are below the least disparity.
    """
    q4 = frame.disparity_q4
    if q4 is None:
        return None
    h, c = frame.header, frame.camera
    least = float(h["min_disparity"])
    ns = stamp_ns(frame)
    return store.make(
        store.DISPARITY_IMAGE, header=header(ns, names.optical),
        image=_pixels(ns, names, "32FC1", np.take(_px_of(least), q4)), f=c.fx, t=c.baseline_m,
        valid_window=_region(q4.shape[1], q4.shape[0]), min_disparity=least,
        max_disparity=least + max(0, int(h["disparities"]) - 1), delta_d=1 / _PER_PX)
