"""Coordinate frames, with axes by REP 103 and base_link by REP 105, and headers of messages.

base_link (x forward, y left, z up)
  PREFIX_link             the left camera, axes of base_link turned with it
    PREFIX_optical_frame  the same place; x right, y down, z along the optical axis
      PREFIX_road         on the road below it; x forward along the road, y left, z up; measured in each frame

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ..rig import RigFrame
from . import store

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stixel import Frame, Road

    from ..sink import Instance

    Floats = NDArray[np.float64]

# rotates optical coordinates (z forward, x to the right, y down) into coordinates of the link
OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])


class Names(NamedTuple):
    """Names of the coordinate frames of an instance."""

    base: str
    link: str
    optical: str
    road: str


def is_rig(instance: Instance) -> bool:
    """Returns whether it is a rig: several cameras as one (rig.py)."""
    return "instances" in instance.options


def names(instance: Instance, base: str) -> Names:
    """Returns the frame names of an instance mounted on base. A rig uses base for all frames."""
    if is_rig(instance):
        return Names(base, base, base, base)
    prefix = instance.options.get("frame_prefix") or instance.name
    return Names(base, prefix + "_link", prefix + "_optical_frame", prefix + "_road")


def stamp_ns(frame: Union[Frame, RigFrame]) -> int:
    """Returns the capture time of the left image on the publisher's wall clock, ns since 1970.

    For a rig it is the capture time of its oldest image.
    """
    if isinstance(frame, RigFrame):
        return frame.stamp_ns
    h = frame.header
    return frame.capture_left_ns - int(h["anchor_monotonic_ns"]) + int(h["anchor_realtime_ns"])


def time(ns: int) -> Any:
    """Makes builtin_interfaces/Time. Its seconds end in 2038, so a time out of range is limited instead of refused."""
    return store.make("builtin_interfaces/msg/Time", sec=min(max(ns // 10**9, 0), 2**31 - 1), nanosec=ns % 10**9)


def header(ns: int, frame_id: str) -> Any:
    """Makes std_msgs/Header."""
    return store.make("std_msgs/msg/Header", stamp=time(ns), frame_id=frame_id)


def vector(x: float, y: float, z: float) -> Any:
    """Makes geometry_msgs/Vector3."""
    return store.make("geometry_msgs/msg/Vector3", x=float(x), y=float(y), z=float(z))


def point(x: float, y: float, z: float) -> Any:
    """Makes geometry_msgs/Point."""
    return store.make("geometry_msgs/msg/Point", x=float(x), y=float(y), z=float(z))


def quaternion(r: Floats) -> Any:
    """Makes geometry_msgs/Quaternion of a rotation (3, 3), w >= 0.

    Starts from the largest component, because the others are divided by it.
    """
    squares = np.array([1 + r[0, 0] + r[1, 1] + r[2, 2], 1 + r[0, 0] - r[1, 1] - r[2, 2],
                        1 - r[0, 0] + r[1, 1] - r[2, 2], 1 - r[0, 0] - r[1, 1] + r[2, 2]])
    largest = int(np.argmax(squares))
    q = np.array([
        [squares[0], r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]],
        [r[2, 1] - r[1, 2], squares[1], r[0, 1] + r[1, 0], r[0, 2] + r[2, 0]],
        [r[0, 2] - r[2, 0], r[0, 1] + r[1, 0], squares[2], r[1, 2] + r[2, 1]],
        [r[1, 0] - r[0, 1], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], squares[3]]])[largest]
    w, x, y, z = q / math.copysign(math.sqrt(float(q @ q)), q[0])
    return store.make("geometry_msgs/msg/Quaternion", x=float(x), y=float(y), z=float(z), w=float(w))


def turned(yaw: float, pitch: float, roll: float) -> Floats:
    """Returns the rotation (3, 3) of angles about the axes of REP 103, rad: roll (x), then pitch (y), then yaw (z)."""
    (cy, cp, cr), (sy, sp, sr) = np.cos([yaw, pitch, roll]), np.sin([yaw, pitch, roll])
    return np.array([[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                     [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr], [-sp, cp * sr, cp * cr]])


def transform(ns: int, parent: str, child: str, place: Sequence[float], rotation: Floats) -> Any:
    """Makes geometry_msgs/TransformStamped of the place and the rotation (3, 3) of a child in its parent."""
    return store.make(
        "geometry_msgs/msg/TransformStamped", header=header(ns, parent), child_frame_id=child,
        transform=store.make("geometry_msgs/msg/Transform", translation=vector(*place),
                             rotation=quaternion(rotation)))


def message(transforms: List[Any]) -> Any:
    """Makes tf2_msgs/TFMessage."""
    return store.make(store.TRANSFORMS, transforms=transforms)


def mounted(instance: Instance) -> bool:
    """Returns whether the configuration has the camera's whole pose over the road. Missing parts are measured."""
    return all(instance.options.get(key) is not None for key in ("z_m", "pitch_deg", "roll_deg"))


def mount(instance: Instance, road: Optional[Road]) -> Tuple[List[float], Floats]:
    """Returns the place and the rotation (3, 3) of the link on the base.

    Missing values come from the road, whose plane then is that of base_link; without a road they are 0.
    """
    height, pitch, roll = 0.0, 0.0, 0.0
    if road is not None:
        level = road.turn() @ OPTICAL.T
        height, pitch, roll = road.height_m, -math.asin(level[2, 0]), math.atan2(level[2, 1], level[2, 2])

    def given(key: str, without: float) -> float:
        value = instance.options.get(key)
        return without if value is None else math.radians(value) if key.endswith("_deg") else float(value)

    return ([given("x_m", 0.0), given("y_m", 0.0), given("z_m", height)],
            turned(given("yaw_deg", 0.0), given("pitch_deg", pitch), given("roll_deg", roll)))


def _mount(ns: int, instance: Instance, n: Names, road: Optional[Road]) -> Any:
    """Makes the transform of the link."""
    return transform(ns, n.base, n.link, *mount(instance, road))


def fixed(instance: Instance, base: str, ns: int) -> List[Any]:
    """Returns the transforms that do not change, with that of the link if its whole pose is given. A rig has none."""
    if is_rig(instance):
        return []
    n = names(instance, base)
    link = [_mount(ns, instance, n, None)] if mounted(instance) else []
    return link + [transform(ns, n.link, n.optical, [0.0, 0.0, 0.0], OPTICAL)]


def measured(instance: Instance, base: str, frame: Frame) -> List[Any]:
    """Returns the transforms of this frame; none without a road."""
    road = frame.road
    if not road.known:
        return []
    n, ns = names(instance, base), stamp_ns(frame)
    turn = road.turn()  # rotates from camera to vehicle coordinates; the height is added to z afterwards
    found = [transform(ns, n.optical, n.road, -road.height_m * turn[2], turn.T)]
    return found if mounted(instance) else [_mount(ns, instance, n, road)] + found
