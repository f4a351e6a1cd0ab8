"""What planners take: sensor_msgs/LaserScan and PointCloud2. What a range or a point means is libstixel's (convert.md).

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import store
from .frames import Names, header, stamp_ns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stixel import Frame

# datatypes of sensor_msgs/PointField by those of NumPy
_DATATYPES = {"|u1": 2, "<u4": 6, "<f4": 7}


def cloud(frame: Frame, frame_id: str, points: NDArray[Any]) -> Any:
    """sensor_msgs/PointCloud2 of structured points, one row, each of its fields as NumPy names it."""
    fields = [store.make("sensor_msgs/msg/PointField", name=name, offset=at, datatype=_DATATYPES[kind.str], count=1)
              for name, (kind, at) in ((name, points.dtype.fields[name][:2]) for name in points.dtype.names)]
    return store.make(
        store.POINT_CLOUD, header=header(stamp_ns(frame), frame_id), height=1, width=len(points), fields=fields,
        is_bigendian=False, point_step=points.itemsize, row_step=points.itemsize * len(points),
        data=np.ascontiguousarray(points).view(np.uint8), is_dense=bool(np.isfinite(points["x"]).all()))


def laser_scan(frame: Frame, names: Names, options: Mapping[str, Any]) -> Optional[Any]:
    """sensor_msgs/LaserScan by REP 117: inf is free, nan is not seen, -inf is nearer than range_min. All of its rays
    are of one moment. None without a camera model or a road."""
    if not frame.camera.known or not frame.road.known:
        return None
    scan = frame.scan(**_scan_options(options))
    last = scan.angle_min + scan.angle_increment * (len(scan.ranges) - 1)
    return store.make(
        store.LASER_SCAN, header=header(stamp_ns(frame), names.road), angle_min=scan.angle_min, angle_max=last,
        angle_increment=scan.angle_increment, time_increment=0.0, scan_time=0.0, range_min=scan.range_min,
        range_max=scan.range_max, ranges=scan.ranges, intensities=np.zeros(0, np.float32))


def obstacle_cloud(frame: Frame, names: Names, options: Mapping[str, Any]) -> Optional[Any]:
    """sensor_msgs/PointCloud2: of each object its foot and its top."""
    if not frame.camera.known or not frame.road.known:
        return None
    return cloud(frame, names.road, frame.obstacle_points("vehicle", step=options["obstacle_step_m"]))


def ground_cloud(frame: Frame, names: Names, options: Mapping[str, Any]) -> Optional[Any]:
    """sensor_msgs/PointCloud2: along the ground that is seen, to clear a map with."""
    if not frame.camera.known or not frame.road.known:
        return None
    points = frame.ground_points("vehicle", step=options["ground_step_m"], range_max=options["ground_range_m"])
    return cloud(frame, names.road, points)
