"""Makes nav_msgs/Odometry of the pose of a camera, and the same pose as a transform.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import numpy as np

from ..trajectory import cross
from . import frames, store
from .frames import Names, header, quaternion, stamp_ns, transform, vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stixel import Road

    from ..sink import Instance, Work
    from ..trajectory import Pose

    Floats = NDArray[np.float64]


class _Base(NamedTuple):
    """Pose of the vehicle in the frame of the odometry, and its velocity along its own axes."""

    place: Floats
    turn: Floats
    covariance: Floats  #: (6, 6) of the place and of the turn as a rotation vector, along the axes of the odometry
    velocity: Floats  #: (6,)
    velocity_covariance: Floats


def _tilt(instance: Instance, road: Optional[Road]) -> Floats:
    """Returns the covariance (3, 3) of the rotation of the camera on the vehicle: of what the road tells of it."""
    if road is None:
        return np.zeros((3, 3))
    sigma = [0.0 if instance.options.get(key) is not None else value for key, value in (
        ("roll_deg", road.roll_sigma_rad), ("pitch_deg", road.pitch_sigma_rad))]
    yaw = frames.turned(math.radians(instance.options.get("yaw_deg") or 0.0), 0.0, 0.0)
    tilt: Floats = yaw @ np.diag([sigma[0] ** 2, sigma[1] ** 2, 0.0]) @ yaw.T
    return tilt


def _base(instance: Instance, pose: Pose) -> Optional[_Base]:
    """Moves a pose from the camera to the vehicle. None: how the camera is mounted is not known yet."""
    given = frames.mounted(instance)
    if not given and pose.last_road is None:
        return None
    (first_at, first), (at, link) = (
        (np.array(place), turn @ frames.OPTICAL) for place, turn in (
            frames.mount(instance, None if given else road) for road in (pose.first_road, pose.last_road)))
    tilt = _tilt(instance, None if given else pose.last_road)
    turn = first @ pose.turn @ link.T
    lever = -turn @ at  # from the camera to the vehicle, along the axes of the odometry
    move, axes = np.eye(6), np.kron(np.eye(2), first)
    move[:3, 3:] = -cross(lever)
    covariance = move @ axes @ pose.covariance @ axes.T @ move.T
    covariance[3:, 3:] += turn @ tilt @ turn.T
    if not given and instance.options.get("z_m") is None and pose.last_road is not None:
        covariance[:3, :3] += np.outer(turn[:, 2], turn[:, 2]) * pose.last_road.height_sigma_m ** 2
    carry = np.kron(np.eye(2), link)
    carry[:3, 3:] = cross(at) @ link
    velocity = carry @ pose.velocity
    velocity_covariance = carry @ pose.velocity_covariance @ carry.T
    sway = cross(velocity[:3])
    velocity_covariance[:3, :3] += sway @ tilt @ sway.T
    return _Base(first_at + first @ pose.place + lever, turn, covariance, velocity, velocity_covariance)


def _once(work: Work) -> Optional[_Base]:
    """Returns the pose of the vehicle. The message and the transform share it."""
    pose = work.pose
    if pose is None:
        return None
    found: Optional[_Base] = work.once("base in odom", functools.partial(_base, work.instance, pose))
    return found


def odometry(work: Work, names: Names, odom_frame: str) -> Optional[Any]:
    """Makes nav_msgs/Odometry of the vehicle. None: its motion is not known, or how the camera is mounted."""
    base = _once(work)
    if base is None:
        return None
    return store.make(
        store.ODOMETRY, header=header(stamp_ns(work.frame), odom_frame), child_frame_id=names.base,
        pose=store.make(
            "geometry_msgs/msg/PoseWithCovariance", covariance=base.covariance.reshape(36), pose=store.make(
                "geometry_msgs/msg/Pose", position=frames.point(*base.place), orientation=quaternion(base.turn))),
        twist=store.make(
            "geometry_msgs/msg/TwistWithCovariance", covariance=base.velocity_covariance.reshape(36),
            twist=store.make("geometry_msgs/msg/Twist", linear=vector(*base.velocity[:3]),
                             angular=vector(*base.velocity[3:]))))


def of_base(work: Work, names: Names, odom_frame: str) -> Optional[Any]:
    """Makes the transform of the vehicle in the frame of the odometry. None as for odometry()."""
    base = _once(work)
    if base is None:
        return None
    return transform(stamp_ns(work.frame), odom_frame, names.base, base.place.tolist(), base.turn)
