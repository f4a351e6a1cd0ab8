"""Makes lines of the obstacles for rviz: visualization_msgs/MarkerArray with one marker.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence

import numpy as np

from stixel import StixelError
from stixel._messages import Messages

from . import store
from .frames import Names, header, stamp_ns, vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stixel import Frame

    from ..sink import Instance

LINE_LIST = 5
ADD = 0
LINE_WIDTH_M = 0.03
LIFETIME_NS = 500_000_000  # lifetime of a marker that no newer marker replaces
_scales: Dict[str, Optional[Messages]] = {}  # scales by instance; each follows the frames of its instance
_lock = threading.Lock()  # each sink has a thread


def _scale(instance: Instance) -> Optional[Messages]:
    if instance.name not in _scales:
        try:
            scale = Messages(instance.name)
            scale.scale(*instance.colours())
            _scales[instance.name] = scale
        except StixelError:  # there is no libstixel-recording, or it was built without protobuf
            _scales[instance.name] = None
    return _scales[instance.name]


def _colours(frame: Frame, instance: Instance, distance: NDArray[np.float64]) -> NDArray[np.float32]:
    """Returns the colours (n, 4) of distances that all programs show, or grey without libstixel-recording."""
    rgba = np.full((len(distance), 4), 0.5, "<f4")
    rgba[:, 3] = 1
    with _lock:
        scale = _scale(instance)
        if scale:
            scale.take(frame)
            rgba[:, :3] = scale.colours(distance) / 255
    return rgba


def _sequence(values: NDArray[Any], count: int, at: int) -> bytes:
    """Serialises a sequence of count structs in CDR; each has fields of one numeric type.

    at: offset of the sequence behind the encapsulation, bytes.
    """
    gap = -(at + 4) % values.itemsize if count else 0
    return count.to_bytes(4, "little") + bytes(gap) + values.tobytes()


def _marker(ns: int, frame_id: str, points: Sequence[Any]) -> bytes:
    """Serialises the message with these points. Its other sequences, and strings behind the points, are empty."""
    blank = header(0, "")
    grey = store.make("std_msgs/msg/ColorRGBA", r=0.5, g=0.5, b=0.5, a=1.0)
    pose = store.make("geometry_msgs/msg/Pose", position=store.make("geometry_msgs/msg/Point", x=0.0, y=0.0, z=0.0),
                      orientation=store.make("geometry_msgs/msg/Quaternion", x=0.0, y=0.0, z=0.0, w=1.0))
    marker = store.make(
        "visualization_msgs/msg/Marker", header=header(ns, frame_id), ns="obstacles", id=0, type=LINE_LIST, action=ADD,
        pose=pose, scale=vector(LINE_WIDTH_M, 0, 0), color=grey,
        lifetime=store.make("builtin_interfaces/msg/Duration", sec=0, nanosec=LIFETIME_NS), frame_locked=False,
        points=points, colors=[], texture_resource="",
        texture=store.make(store.COMPRESSED_IMAGE, header=blank, format="", data=np.zeros(0, np.uint8)),
        uv_coordinates=[], text="", mesh_resource="",
        mesh_file=store.make("visualization_msgs/msg/MeshFile", filename="", data=np.zeros(0, np.uint8)),
        mesh_use_embedded_materials=False)
    return store.encode(store.make(store.MARKERS, markers=[marker]))


def marker_array(frame: Frame, names: Names, instance: Instance) -> Optional[bytes]:
    """Makes visualization_msgs/MarkerArray, serialised: a line from foot to top of each obstacle, coloured by distance.

    None without a camera model or a road. rosbags serialises points one by one, which takes longer than the rest of a
    frame. So the marker is serialised without points. Then its sequences of points and colours, which are adjacent, are
    inserted. The data behind the sequences needs an alignment of at most four bytes, and the sequences end at a
    multiple of four. So the data behind them stays unchanged."""
    if not frame.camera.known or not frame.road.known:
        return None
    points = frame.points("vehicle")[np.unique(frame.obstacle_points()["id"])]
    points = points[np.isfinite(points).all((1, 2))].astype("<f8")
    colours = np.repeat(_colours(frame, instance, points[:, 0, 0]), 2, 0)
    count = 2 * len(points)
    ns = stamp_ns(frame)
    empty = _marker(ns, names.road, [])
    one = _marker(ns, names.road, [vector(0, 0, 0)])
    at = next(i for i, (a, b) in enumerate(zip(empty, one)) if a != b)  # offset of the number of points
    middle = _sequence(points, count, at - 4)
    middle += _sequence(colours, count, at - 4 + len(middle))
    return empty[:at] + middle + empty[at + 8:]
