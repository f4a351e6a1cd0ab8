"""Makes messages of the objects of a frame (stixel.Frame.objects), in the forms that Autoware, nav2 and others read.

All are in the frame PREFIX_road: x ahead along the road, y to the left, z up. What is published is in
docs/use/bridge.md.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import math
import uuid
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from stixel import MotionState

from . import store
from .frames import Names, header, point, quaternion, stamp_ns, turned, vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stixel import Frame

    from ..sink import Work

    Floats = NDArray[np.float64]

NOT_MEASURED = 1e6  # variance of what is not measured, in m, m/s, rad and their squares
DEPTH_M = 0.2  # A box has this depth, because the camera sees the front of an object alone.
ROW_SIGMA_PX = 1.0  # The lowest row of an object has this standard deviation.
# probabilities that an object is real: of one that moves and is seen in this frame, is not seen, or stands
EXISTS, EXISTS_UNSEEN, EXISTS_STANDING = 0.9, 0.5, 0.2
ACCELERATION = 3.0  # m/s^2: an object keeps its velocity but for this standard deviation (docs/develop/motion.md)
_SPACE = uuid.UUID("6e8c53d4-1c5b-5b0e-9d6e-0f6a2f1d7c11")  # UUIDs of objects are made from this name space.

# constants of the messages
_SIGN_UNKNOWN, _UNAVAILABLE, _BOUNDING_BOX = 1, 0, 0  # autoware_perception_msgs defines these.
_TRACKED, _BOX = 1, 1  # derived_object_msgs and shape_msgs define these.

# classes by their usual names: labels of autoware_perception_msgs, and of derived_object_msgs
_PEDESTRIAN, _BICYCLE, _MOTORCYCLE, _CAR, _ANIMAL, _TRAILER = (7, 4), (6, 5), (5, 8), (1, 6), (8, 0), (4, 9)
_UNKNOWN = (0, 0)
_CLASSES: Dict[str, Tuple[int, int]] = {
    "person": _PEDESTRIAN, "pedestrian": _PEDESTRIAN, "people": _PEDESTRIAN, "human": _PEDESTRIAN,
    "bicycle": _BICYCLE, "bike": _BICYCLE, "cyclist": _BICYCLE, "bicyclist": _BICYCLE,
    "motorcycle": _MOTORCYCLE, "motorbike": _MOTORCYCLE, "motorcyclist": _MOTORCYCLE,
    "car": _CAR, "van": _CAR, "truck": (2, 7), "bus": (3, 9), "trailer": _TRAILER, "caravan": _TRAILER,
    "train": (0, 9), "tram": (0, 9), "animal": _ANIMAL, "dog": _ANIMAL, "cat": _ANIMAL,
}


class Thing(NamedTuple):
    """An object in the frame PREFIX_road."""

    id: int
    uuid: bytes  #: 16
    probability: float  #: that it is a thing that moves, or did
    place: Floats  #: (3,) middle of what is seen of it, m
    place_covariance: Floats  #: (3, 3)
    velocity: Floats  #: (3,) over the ground, m/s; z is 0
    velocity_covariance: Floats  #: (3, 3)
    moves: bool  #: False: it stands
    across: float  #: direction of the camera's x axis, rad about z
    width: float  #: of its extent along that axis, m
    height: float
    classes: Sequence[Tuple[Tuple[int, int], float]]  #: labels as in _CLASSES and their shares, the greatest first

    def yaw(self) -> Tuple[float, float]:
        """Returns the direction of its velocity, rad, and the variance; of what stands 0 and NOT_MEASURED."""
        vx, vy = self.velocity[:2]
        speed = math.hypot(vx, vy)
        if not self.moves or speed == 0.0:
            return 0.0, NOT_MEASURED
        beside = np.array([-vy, vx]) / speed
        sideways = float(beside @ self.velocity_covariance[:2, :2] @ beside)
        return math.atan2(vy, vx), min(sideways / speed ** 2, math.pi ** 2 / 3)  # the variance of any direction

    def box(self) -> Tuple[float, float]:
        """Returns length and width of the box along its yaw that contains what is seen, at least DEPTH_M each."""
        angle = self.yaw()[0] - self.across
        return (max(DEPTH_M, self.width * abs(math.cos(angle))), max(DEPTH_M, self.width * abs(math.sin(angle))))


def _probability(o: Any) -> float:
    if o["state"] != MotionState.MOVES:
        return EXISTS_STANDING
    return EXISTS_UNSEEN if o["unseen_s"] > 0 else EXISTS


def _uuid(epoch: int, number: int) -> bytes:
    """Returns an identity that is the same in all frames and messages, and of no other object."""
    return uuid.uuid5(_SPACE, "%016x/%d" % (epoch, number)).bytes


def _classes(frame: Frame, index: int, of: NDArray[np.intp]) -> List[Tuple[Tuple[int, int], float]]:
    """Returns the classes of an object, by the rows of its stixels."""
    names = frame.classes
    mine = frame.stixels[of == index]
    if not names or not len(mine):
        return [(_UNKNOWN, 1.0)]
    rows: Dict[Tuple[int, int], float] = {}
    for label, count in zip(mine["label"], mine["row_bottom"] - mine["row_top"].astype(np.int64) + 1):
        name = names[label].lower() if label < len(names) else ""
        kind = _CLASSES.get(name, _UNKNOWN)
        rows[kind] = rows.get(kind, 0.0) + float(count)
    whole = sum(rows.values())
    return sorted(((kind, count / whole) for kind, count in rows.items()), key=lambda one: -one[1])


def _thing(frame: Frame, index: int, o: Any, of: NDArray[np.intp]) -> Thing:
    road, turn = frame.road, frame.road.turn()
    x, y, z, height = (float(o[name]) for name in ("x", "y", "z", "height"))
    slope = y / z  # An object keeps its lowest row whatever its distance is.
    pxz, pzz = float(o["pxz"]), float(o["pzz"])
    row = z / frame.camera.fy * ROW_SIGMA_PX
    place_covariance = np.array([[float(o["pxx"]), slope * pxz, pxz],
                                 [slope * pxz, slope * slope * pzz + row * row, slope * pzz],
                                 [pxz, slope * pzz, pzz]])
    up = turn[2]
    # An object moves along the road.
    level = turn @ np.array([[1.0, 0.0], [-up[0] / up[1], -up[2] / up[1]], [0.0, 1.0]])
    sxz = float(o["sxz"])
    velocity_covariance = level @ np.array([[float(o["sxx"]), sxz], [sxz, float(o["szz"])]]) @ level.T
    velocity_covariance[2, 2] = NOT_MEASURED
    return Thing(
        int(o["id"]), _uuid(frame.epoch, int(o["id"])), _probability(o),
        road.to_vehicle([x, y - height / 2, z]), turn @ place_covariance @ turn.T,
        level @ np.array([float(o["vx"]), float(o["vz"])]), velocity_covariance,
        bool(o["state"] == MotionState.MOVES), math.atan2(turn[1, 0], turn[0, 0]), float(o["width"]), height,
        _classes(frame, index, of))


def things(work: Work) -> Optional[List[Thing]]:
    """Returns the objects whose motion is known. None: nothing is known of objects in this frame.

    That is so without motion.mode = filter, a camera model, a road, or if the step of the camera is not known.
    """
    frame = work.frame
    objects, of = frame.objects, frame.object_of
    if objects is None or of is None or frame.ego is None or not frame.camera.known or not frame.road.known:
        return None
    return [_thing(frame, index, o, of) for index, o in enumerate(objects)
            if o["state"] in (MotionState.STANDS, MotionState.MOVES)]


def _all(work: Work) -> Optional[List[Thing]]:
    found: Optional[List[Thing]] = work.once("objects", lambda: things(work))
    return found


def _covariance(linear: Floats, angular: Sequence[float]) -> Floats:
    """Returns 36 numbers: covariance of x, y, z, and variances about these axes."""
    found = np.diag([0.0, 0.0, 0.0, *angular])
    found[:3, :3] = linear
    return found.reshape(36)


def _uuid_message(thing: Thing) -> Any:
    return store.make("unique_identifier_msgs/msg/UUID", uuid=np.frombuffer(thing.uuid, np.uint8))


def _pose(thing: Thing) -> Any:
    return store.make("geometry_msgs/msg/Pose", position=point(*thing.place),
                      orientation=quaternion(turned(thing.yaw()[0], 0.0, 0.0)))


def _pose_with_covariance(thing: Thing) -> Any:
    return store.make("geometry_msgs/msg/PoseWithCovariance", pose=_pose(thing), covariance=_covariance(
        thing.place_covariance, [NOT_MEASURED, NOT_MEASURED, thing.yaw()[1]]))


def _twist(velocity: Floats) -> Any:
    return store.make("geometry_msgs/msg/Twist", linear=vector(*velocity), angular=vector(0, 0, 0))


def _twist_with_covariance(velocity: Floats, covariance: Floats) -> Any:
    return store.make("geometry_msgs/msg/TwistWithCovariance", twist=_twist(velocity),
                      covariance=_covariance(covariance, [NOT_MEASURED] * 3))


def _accel() -> Any:
    return store.make("geometry_msgs/msg/Accel", linear=vector(0, 0, 0), angular=vector(0, 0, 0))


def _accel_with_covariance() -> Any:
    a = ACCELERATION ** 2
    return store.make("geometry_msgs/msg/AccelWithCovariance", accel=_accel(), covariance=_covariance(
        np.diag([a, a, NOT_MEASURED]), [NOT_MEASURED] * 3))


def _tracked(thing: Thing) -> Any:
    """Makes autoware_perception_msgs/TrackedObject. Its twist is along the axes of the object."""
    length, width = thing.box()
    axes = turned(thing.yaw()[0], 0.0, 0.0).T
    package = "autoware_perception_msgs/msg/"
    return store.make(
        package + "TrackedObject", object_id=_uuid_message(thing), existence_probability=thing.probability,
        classification=[store.make(package + "ObjectClassification", label=kind[0], probability=share)
                        for kind, share in thing.classes],
        kinematics=store.make(
            package + "TrackedObjectKinematics", pose_with_covariance=_pose_with_covariance(thing),
            twist_with_covariance=_twist_with_covariance(
                axes @ thing.velocity, axes @ thing.velocity_covariance @ axes.T),
            acceleration_with_covariance=_accel_with_covariance(),
            orientation_availability=_SIGN_UNKNOWN if thing.moves else _UNAVAILABLE, is_stationary=not thing.moves),
        shape=store.make(
            package + "Shape", type=_BOUNDING_BOX, footprint=store.make("geometry_msgs/msg/Polygon", points=[]),
            dimensions=vector(length, width, max(DEPTH_M, thing.height))))


def tracked_objects(work: Work, names: Names) -> Optional[Any]:
    """Makes autoware_perception_msgs/TrackedObjects. None: nothing is known of objects."""
    found = _all(work)
    if found is None:
        return None
    return store.make(store.TRACKED_OBJECTS, header=header(stamp_ns(work.frame), names.road),
                      objects=[_tracked(thing) for thing in found])


def _footprint(thing: Thing) -> Any:
    """Makes geometry_msgs/Polygon of the corners of the box on the road."""
    length, width = thing.box()
    corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * [length / 2, width / 2]
    foot = thing.place[2] - thing.height / 2
    placed = corners @ turned(thing.yaw()[0], 0.0, 0.0)[:2, :2].T + thing.place[:2]
    return store.make("geometry_msgs/msg/Polygon", points=[
        store.make("geometry_msgs/msg/Point32", x=float(x), y=float(y), z=float(foot)) for x, y in placed])


def _derived(thing: Thing, head: Any, covariances: bool) -> Any:
    """Makes derived_object_msgs/Object or ObjectWithCovariance. Its twist is along the axes of the frame."""
    length, width = thing.box()
    sides = np.array([length, width, max(DEPTH_M, thing.height)])
    kind, share = max(((kind[1], share) for kind, share in thing.classes), key=lambda one: (one[0] > 0, one[1]))
    common = {"header": head, "id": thing.id, "detection_level": _TRACKED, "object_classified": kind > 0,
              "polygon": _footprint(thing), "classification": kind,
              "classification_certainty": round(255 * share) if kind > 0 else 0, "classification_age": 0}
    if covariances:
        return store.make(
            "derived_object_msgs/msg/ObjectWithCovariance", pose=_pose_with_covariance(thing),
            twist=_twist_with_covariance(thing.velocity, thing.velocity_covariance), accel=_accel_with_covariance(),
            shape=store.make("derived_object_msgs/msg/SolidPrimitiveWithCovariance", type=_BOX, dimensions=sides,
                             covariance=np.zeros(0)), **common)
    return store.make(
        "derived_object_msgs/msg/Object", pose=_pose(thing), twist=_twist(thing.velocity), accel=_accel(),
        shape=store.make("shape_msgs/msg/SolidPrimitive", type=_BOX, dimensions=sides,
                         polygon=store.make("geometry_msgs/msg/Polygon", points=[])), **common)


def derived_objects(work: Work, names: Names, covariances: bool) -> Optional[Any]:
    """Makes derived_object_msgs/ObjectArray or ObjectWithCovarianceArray. None: nothing is known of objects."""
    found = _all(work)
    if found is None:
        return None
    head = header(stamp_ns(work.frame), names.road)
    return store.make(store.OBJECTS_WITH_COVARIANCE if covariances else store.OBJECTS, header=head,
                      objects=[_derived(thing, head, covariances) for thing in found])


def _obstacle(thing: Thing) -> Any:
    """Makes nav2_dynamic_msgs/Obstacle. Its size is along the axes of the frame."""
    return store.make(
        "nav2_dynamic_msgs/msg/Obstacle", uuid=_uuid_message(thing), score=thing.probability,
        position=point(*thing.place), velocity=vector(*thing.velocity),
        size=vector(*(max(DEPTH_M, side) for side in (
            thing.width * abs(math.cos(thing.across)), thing.width * abs(math.sin(thing.across)), thing.height))),
        position_covariance=thing.place_covariance.reshape(9),
        velocity_covariance=thing.velocity_covariance.reshape(9))


def dynamic_obstacles(work: Work, names: Names) -> Optional[Any]:
    """Makes nav2_dynamic_msgs/ObstacleArray. None: nothing is known of objects."""
    found = _all(work)
    if found is None:
        return None
    return store.make(store.DYNAMIC_OBSTACLES, header=header(stamp_ns(work.frame), names.road),
                      obstacles=[_obstacle(thing) for thing in found])
