"""Makes stixel_msgs/StixelFrame of a frame: all its stixels, and the values that convert them to metres. Makes
vision_msgs/LabelInfo, which names the classes of the stixels.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional

import numpy as np

from stixel._classes import names_in

from . import store
from .frames import Names, header, stamp_ns

if TYPE_CHECKING:
    from stixel import Frame, Road

_ARRAYS = ("column", "row_top", "row_bottom", "support", "disparity_q7", "slope_q14", "kind", "label", "confidence",
           "flags")


def _road(road: Road) -> Any:
    return store.make(
        "stixel_msgs/msg/Road", origin=max(0, int(road.origin)), age=road.age, inliers=road.inliers, slope=road.slope,
        offset=road.offset, cross=road.cross, axis=road.axis, bend=road.bend, bend_row=road.bend_row,
        horizon_row=road.horizon_row, pitch=road.pitch_rad, roll=road.roll_rad, height=road.height_m,
        pitch_sigma=road.pitch_sigma_rad, roll_sigma=road.roll_sigma_rad, height_sigma=road.height_sigma_m)


def stixel_frame(frame: Frame, names: Names) -> Any:
    """Makes stixel_msgs/StixelFrame."""
    stixels, camera = frame.stixels, frame.camera
    return store.make(
        store.STIXEL_FRAME, header=header(stamp_ns(frame), names.optical), epoch=frame.epoch, number=frame.number,
        frame_flags=int(frame.header["flags"]), latency=frame.latency, image_width=frame.width,
        image_height=frame.height, column_width=frame.column_width, fx=camera.fx, fy=camera.fy, cx=camera.cx,
        cy=camera.cy, baseline=camera.baseline_m, road=_road(frame.road),
        offsets=frame.offsets, classes=list(frame.classes or ()),
        **{name: np.ascontiguousarray(stixels[name]) for name in _ARRAYS})


def label_info(status: Optional[Dict[str, Any]], ns: int, names: Names) -> Any:
    """Makes vision_msgs/LabelInfo of a daemon's /status; None: it has no classes. Label 255 is none, as there."""
    classes = names_in(status)
    if not classes:
        return None
    return store.make(store.LABEL_INFO, header=header(ns, names.optical), threshold=0.0, class_map=[
        store.make("vision_msgs/msg/VisionClass", class_id=label, class_name=name)
        for label, name in enumerate(classes)])
