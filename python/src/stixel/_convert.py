"""Computes the free space of a frame, and converts a frame to a laser scan and to points for other programs.

libstixel computes all of it, so that each rule of free space exists once.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import ctypes
import errno
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Tuple

import numpy as np

from ._check import aligned
from ._classes import labels_of
from ._layout import (BOX, FREE_COLUMN, PLACE, POINT, CBoxesOptions, CFrame, CFreeOptions, Coordinates, CPointsOptions,
                      CScanOptions, PointsOf, ScanAs, objects_at)
from ._library import library

if TYPE_CHECKING:
    from typing import Callable, Dict, Sequence

    from numpy.typing import NDArray

    Names = Callable[[], Optional[Sequence[str]]]


# 80 MB; a frame from another machine may ask for thousands of times as many points as it has bytes
POINTS_MOST = 4_000_000


class Scan(NamedTuple):
    """A frame as a sensor_msgs/LaserScan, in the plane of the road, from the point below the left camera."""

    ranges: NDArray[np.float32]  #: m; inf: free as far as range_max; -inf: nearer than range_min; nan: not seen
    angle_min: float  #: rad, angle of ranges[0]: 0 straight ahead, positive to the left
    angle_increment: float  #: rad
    range_min: float  #: m
    range_max: float  #: m
    #: m; the camera saw the space from begins to ranges, which may be cleared; nan: saw nothing at this angle; None:
    #: not known
    begins: Optional[NDArray[np.float32]] = None
    #: m/s over the ground, of the obstacle that ranges is of, along the ray, positive away; nan: not known; None:
    #: motion is not measured
    speeds: Optional[NDArray[np.float32]] = None

    @property
    def angle_max(self) -> float:
        """Angle of the last range, rad."""
        return float(np.float32(self.angle_min + (len(self.ranges) - 1) * self.angle_increment))

    @property
    def angles(self) -> NDArray[np.float64]:
        """Angle of each range, rad."""
        return self.angle_min + np.arange(len(self.ranges)) * self.angle_increment


def c_frame(data: bytes, header: Any) -> Tuple[CFrame, Any]:
    """Returns the frame as a C struct, and the memory that must live as long as the struct."""
    words = aligned(data)
    at = words.ctypes.data
    return CFrame(at, at + int(header["header_bytes"]), at + int(header["stixels_offset"]), None, at), words


def _set(options: Any, values: Any, what: str) -> None:
    """Sets the options that the caller named."""
    names = {name for name, *_ in options._fields_} - {"reserved"}
    shown = names | ({"kind", "classes"} if "ground_labels" in names else set())
    for name, value in values.items():
        if name not in names:
            raise TypeError("%s has no option %r: there are %s" % (what, name, ", ".join(sorted(shown))))
        if isinstance(value, str):
            value = _choice(ScanAs, name, value)
        setattr(options, name, value)


def _by_class(values: Dict[str, Any], names: Names) -> Dict[str, Any]:
    """Replaces the options kind and classes by ground_labels. names: returns the frame's own classes."""
    rest = {name: value for name, value in values.items() if name not in ("kind", "classes")}
    classes = values.get("classes")
    if values.get("kind") is not None:
        rest["ground_labels"] = labels_of(values["kind"], names if classes is None else lambda: classes)
    return rest


def _choice(kind: Any, what: str, value: str) -> int:
    """Returns the number of a name."""
    names = {m.name.lower(): m for m in kind}
    if value not in names:
        raise ValueError("%s %r: there are %s" % (what, value, " and ".join(map(repr, names))))
    return int(names[value])


def free_of(data: bytes, header: Any, values: Any, names: Names) -> NDArray[Any]:
    """Implements Frame.free_columns()."""
    frame, words = c_frame(data, header)
    o = CFreeOptions()
    library().free_defaults(ctypes.byref(frame), ctypes.byref(o), ctypes.sizeof(o))
    _set(o, _by_class(values, names), "free space")
    columns = np.empty(int(header["columns"]), FREE_COLUMN)
    if library().free_space(ctypes.byref(frame), ctypes.byref(o), ctypes.sizeof(o), columns.ctypes.data,
                            len(columns)) < 0:
        raise ValueError("free space: height_min %g and height_max %g are out of their limits, see <stixel.h>"
                         % (o.height_min, o.height_max))
    return columns


def ahead_of(data: bytes, header: Any, seconds: float) -> NDArray[Any]:
    """Implements Frame.ahead()."""
    frame, words = c_frame(data, header)
    places = np.empty(int(header["stixel_count"]), PLACE)
    if library().ahead(ctypes.byref(frame), seconds, places.ctypes.data, len(places)) < 0:
        raise ValueError("ahead: %r s is not a time of 0 s or more" % (seconds,))
    return places


def object_ahead_of(data: bytes, header: Any, seconds: float) -> NDArray[Any]:
    """Implements Frame.object_ahead()."""
    frame, words = c_frame(data, header)
    places = np.empty(int(header["object_count"]) if objects_at(header) else 0, PLACE)
    if library().object_ahead(ctypes.byref(frame), seconds, places.ctypes.data, len(places)) < 0:
        raise ValueError("object_ahead: %r s is not a time of 0 s or more" % (seconds,))
    return places


def scan_of(data: bytes, header: Any, values: Any, names: Names) -> Scan:
    """Implements Frame.scan()."""
    frame, words = c_frame(data, header)
    o = CScanOptions()
    library().scan_defaults(ctypes.byref(frame), ctypes.byref(o), ctypes.sizeof(o))
    _set(o, _by_class(values, names), "a scan")
    if "range_min" not in values:  # the default is the frame's range_min, which may lie beyond the caller's range_max
        o.range_min = min(o.range_min, max(o.range_max, 0))
    ranges, begins = (np.empty(o.count, np.float32) for _ in range(2))
    speeds = np.empty(o.count, np.float32) if header["motion_offset"] else None
    if library().scan_speeds(ctypes.byref(frame), ctypes.byref(o), ctypes.sizeof(o), ranges.ctypes.data,
                             begins.ctypes.data, None if speeds is None else speeds.ctypes.data) < 0:
        raise ValueError("scan: options out of their limits, see <stixel_convert.h>: %s"
                         % ", ".join("%s %g" % (name, getattr(o, name)) for name, *_ in o._fields_))
    return Scan(ranges, o.angle_min, o.angle_increment, o.range_min, o.range_max, begins, speeds)


def boxes_of(data: bytes, header: Any, values: Any) -> NDArray[Any]:
    """Implements Frame.boxes()."""
    frame, words = c_frame(data, header)
    o = CBoxesOptions()
    library().boxes_defaults(ctypes.byref(frame), ctypes.byref(o), ctypes.sizeof(o))
    _set(o, values, "boxes")
    boxes = np.empty(int(header["stixel_count"]), BOX)
    count = library().boxes(ctypes.byref(frame), ctypes.byref(o), ctypes.sizeof(o), boxes.ctypes.data, len(boxes))
    if count == -errno.E2BIG:
        raise ValueError("boxes: the frame has far too many obstacles in one column: is it damaged?")
    if count < 0:
        raise ValueError("boxes: options out of their limits, see <stixel_convert.h>")
    return boxes[:count]


def points_of(data: bytes, header: Any, of: PointsOf, coordinates: str, step: float,
              range_max: float) -> NDArray[Any]:
    """Implements Frame.obstacle_points() and Frame.ground_points()."""
    frame, words = c_frame(data, header)
    o = CPointsOptions(of, _choice(Coordinates, "coordinates", coordinates), step, range_max)
    points = np.empty(2 * int(header["stixel_count"]) if of == PointsOf.OBSTACLES else 0, POINT)
    while True:
        count = library().points(ctypes.byref(frame), ctypes.byref(o), ctypes.sizeof(o), points.ctypes.data,
                                 len(points))
        if count < 0:
            raise ValueError("points: step %g or range_max %g is out of its limits, see <stixel_convert.h>"
                             % (step, range_max))
        if count <= len(points):
            return points[:count]
        if count > POINTS_MOST:
            raise ValueError("points: step %g and range_max %g give %d points, more than %d: take a larger step"
                             % (step, range_max, count, POINTS_MOST))
        points = np.empty(count, POINT)
