"""Makes messages for planners: sensor_msgs/LaserScan and PointCloud2. libstixel defines the ranges and points.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Union

import numpy as np
from stixel import FrameFlag
from stixel._classes import labels_of

from ..rig import RigFrame
from . import store
from .frames import Names, header, stamp_ns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stixel import Frame, Scan

    Seen = Union[Frame, RigFrame]

# datatypes of sensor_msgs/PointField by NumPy's types
_DATATYPES = {"|u1": 2, "<u4": 6, "<f4": 7}


def _fields(kind: np.dtype[Any]) -> List[Any]:
    """Makes sensor_msgs/PointField of each field of a structured type that has no gaps."""
    found, at = [], 0
    for name in kind.names or ():
        one = kind[name]
        found.append(store.make("sensor_msgs/msg/PointField", name=name, offset=at, datatype=_DATATYPES[one.str],
                                count=1))
        at += one.itemsize
    return found


def cloud(frame: Seen, frame_id: str, points: NDArray[Any]) -> Any:
    """Makes sensor_msgs/PointCloud2 of points (stixel.POINT), in one row."""
    return store.make(
        store.POINT_CLOUD, header=header(stamp_ns(frame), frame_id), height=1, width=len(points),
        fields=_fields(points.dtype), is_bigendian=False, point_step=points.itemsize,
        row_step=points.itemsize * len(points), data=points.view(np.uint8), is_dense=True)


def _known(frame: Seen) -> bool:
    """Returns whether the frame has a camera model and a road, and is not blind. For a rig: whether any camera has."""
    if isinstance(frame, RigFrame):
        return any(_known(part.frame) for part in frame.parts)
    return frame.camera.known and frame.road.known and not frame.header["flags"] & FrameFlag.BLIND


def _by_class(options: Mapping[str, Any]) -> Dict[str, Any]:
    """Returns the options of libstixel for ground_classes."""
    return {"kind": options["ground_classes"]} if options["ground_classes"] else {}


def _has_classes(frame: Seen, options: Mapping[str, Any]) -> bool:
    """Returns whether ground_classes are among the classes of the daemon, whose names are not known at first."""
    if not options["ground_classes"]:
        return True
    if isinstance(frame, RigFrame):
        return all(_has_classes(part.frame, options) for part in frame.parts)
    names = frame.classes
    try:
        return names is not None and labels_of(options["ground_classes"], lambda: names) > 0
    except ValueError:  # topics.check_classes() reports it
        return False


def _scan(frame: Seen, options: Mapping[str, Any]) -> Scan:
    """Computes libstixel's scan. Missing options are the frame's defaults. A rig sets its own angles and range_min."""
    values = {key: options["scan_" + key] for key in ("above", "below", "unknown", "drop", "filled", "other_ground")}
    values.update(_by_class(options))
    values.update((key, options["scan_%s_m" % key]) for key in ("height_min", "height_max")
                  if options["scan_%s_m" % key] is not None)
    least, most, step_deg = (options["scan_" + key] for key in ("range_min_m", "range_max_m", "step_deg"))
    if isinstance(frame, RigFrame):
        return frame.scan(**values) if most is None else frame.scan(range_max=most, **values)
    usual = frame.scan(**values)
    if least is None and most is None and step_deg is None:
        return usual
    if least is not None or most is not None:  # an end that is given alone may lie beyond the default of the other end
        values["range_min"] = min(usual.range_min, most) if least is None else least
        values["range_max"] = max(usual.range_max, least) if most is None else most
    if step_deg is not None:
        step = math.radians(step_deg)
        steps = math.floor((usual.angle_max - usual.angle_min) / step)
        centre = (usual.angle_min + usual.angle_max) / 2
        values.update(angle_min=centre - steps * step / 2, angle_increment=step, count=steps + 1)
    return frame.scan(**values)


def laser_scan(frame: Seen, names: Names, options: Mapping[str, Any]) -> Optional[Any]:
    """Makes sensor_msgs/LaserScan by REP 117: inf is free, nan is not seen, -inf is nearer than range_min.

    All rays are of one moment. None without a camera model or a road, and for a blind frame: consumers treat a scan in
    which nothing is seen as free space, but stop when no scan comes. With ground_classes None, too, as long as the
    names of the daemon's classes are not known.
    """
    if not _known(frame) or not _has_classes(frame, options):
        return None
    scan = _scan(frame, options)
    return store.make(
        store.LASER_SCAN, header=header(stamp_ns(frame), names.road), angle_min=scan.angle_min,
        angle_max=scan.angle_max, angle_increment=scan.angle_increment, time_increment=0.0, scan_time=0.0,
        range_min=scan.range_min, range_max=scan.range_max, ranges=scan.ranges, intensities=np.zeros(0, np.float32))


def obstacle_cloud(frame: Seen, names: Names, options: Mapping[str, Any]) -> Optional[Any]:
    """Makes sensor_msgs/PointCloud2 with foot and top of each object."""
    if not _known(frame):
        return None
    return cloud(frame, names.road, frame.obstacle_points(
        step=options["obstacle_step_m"], range_max=options["obstacle_range_m"]))


def ground_cloud(frame: Seen, names: Names, options: Mapping[str, Any]) -> Optional[Any]:
    """Makes sensor_msgs/PointCloud2 along the visible ground, to clear a map."""
    if not _known(frame) or not _has_classes(frame, options):
        return None
    return cloud(frame, names.road, frame.ground_points(
        step=options["ground_step_m"], range_max=options["ground_range_m"], **_by_class(options)))
