"""Makes the topics of an instance, and the messages of a frame or a report. Sinks of ROS 2 call this module.

A name without a leading slash is below /INSTANCE/, where namespace() converts INSTANCE. Other names are shared by all
instances.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import functools
import re
import time
from typing import (TYPE_CHECKING, AbstractSet, Any, Callable, Dict, FrozenSet, Iterator, List, Mapping, NamedTuple,
                    Optional, Sequence, Tuple, Union)

from stixel._classes import labels_of, names_in

from ..fail import CONFIG, Fail, SinkError
from ..options import Option
from . import frames, health, images, markers, objects, obstacles, odometry, stixels, store
from .store import HUMBLE_HASH, definition, type_hash

if TYPE_CHECKING:
    from ..sink import Instance, Report, Work

__all__ = ["DEMAND", "HUMBLE_HASH", "OPTIONS", "RIG", "Message", "Topic", "check", "definition", "full_name",
           "namespace", "of_frame", "of_instances", "of_report", "planes", "topics", "type_hash"]


class Topic(NamedTuple):
    """A topic and its QoS. History is "keep last" with this depth; deadline, lifespan and lease are infinite."""

    name: str  #: below /INSTANCE/; with a leading slash at the root
    type: str  #: "sensor_msgs/msg/LaserScan"
    reliable: bool  #: false: best effort
    transient_local: bool  #: false: volatile
    depth: int


class Message(NamedTuple):
    """A serialised message."""

    topic: Topic
    cdr: bytes  #: little endian, with the four bytes of encapsulation


def _sensor(name: str, kind: str) -> Topic:
    return Topic(name, kind, False, False, 5)  # the QoS profile "sensor data"


def _tracks(name: str, kind: str) -> Topic:
    return Topic(name, kind, True, False, 5)  # reliable, since the readers of these types ask for that


_OBJECTS = {  # by the names that the option objects has
    "autoware": _tracks("tracked_objects", store.TRACKED_OBJECTS),
    "derived": _tracks("objects", store.OBJECTS),
    "derived_covariance": _tracks("objects_with_covariance", store.OBJECTS_WITH_COVARIANCE),
    "nav2": _tracks("dynamic_obstacles", store.DYNAMIC_OBSTACLES),
}
_TOPICS = [  # the order is that of sending
    Topic("/tf", store.TRANSFORMS, True, False, 100),  # QoS of tf2_ros; sent before the messages that use its frames
    _sensor("scan", store.LASER_SCAN),
    _sensor("obstacles", store.POINT_CLOUD),
    _sensor("ground", store.POINT_CLOUD),
    _sensor("stixels", store.STIXEL_FRAME),
    Topic("odometry", store.ODOMETRY, True, False, 10),  # reliable, as nav2 asks for
    *_OBJECTS.values(),
    _sensor("left/camera_info", store.CAMERA_INFO),
    _sensor("right/camera_info", store.CAMERA_INFO),
    _sensor("left/image_rect", store.IMAGE),
    _sensor("left/image_rect/compressed", store.COMPRESSED_IMAGE),
    _sensor("right/image_rect", store.IMAGE),
    _sensor("right/image_rect/compressed", store.COMPRESSED_IMAGE),
    _sensor("disparity", store.DISPARITY_IMAGE),
    Topic("markers", store.MARKERS, True, False, 5),  # reliable, since rviz asks for that
    Topic("/tf_static", store.TRANSFORMS, True, True, 1),  # QoS of tf2_ros
    Topic("classes", store.LABEL_INFO, True, True, 1),  # once a second, and kept for late subscribers
    Topic("/diagnostics", store.DIAGNOSTICS, True, False, 1),
]
_PLANES = {
    "left/image_rect": "left", "left/image_rect/compressed": "left", "right/image_rect": "right",
    "right/image_rect/compressed": "right", "disparity": "disparity",
}
#: large topics: made only while there is a subscriber; not made if a sink cannot find that out
DEMAND: FrozenSet[str] = frozenset(_PLANES) | {"markers"}
#: topics of a rig; they are in the vehicle's frame
RIG = frozenset(["scan", "obstacles", "ground"])
_NAMES = tuple(topic.name for topic in _TOPICS if topic not in _OBJECTS.values())
STEPS_MOST = 65536  # limit of libstixel's points
_AS = ("free", "obstacle", "unseen")

OPTIONS: Sequence[Option] = [
    Option("topics", "list", list(_NAMES), "topics that the sink offers", choices=_NAMES),
    Option("objects", "list", [], "messages of objects that move: topics tracked_objects (autoware_perception_msgs), "
           "objects and objects_with_covariance (derived_object_msgs), dynamic_obstacles (nav2_dynamic_msgs)",
           choices=tuple(_OBJECTS)),
    Option("base_frame", "text", "base_link", "frame of the vehicle that carries the cameras"),
    Option("odom_frame", "text", "odom", "frame in which odometry has the pose of base_frame"),
    Option("odometry_tf", "name", None, "instance whose odometry is sent in /tf, too, as the transform from odom_frame "
           "to base_frame; default: none, as another node may send this transform"),
    Option("scan_height_min_m", "number", None, "scan: things that reach higher above the road are obstacles; "
           "default: vehicle.step_m of the instance", -10, 100, unit="m"),
    Option("scan_height_max_m", "number", None, "scan: things that begin lower above the road are obstacles; default: "
           "vehicle.height_m of the instance", -10, 100, unit="m"),
    Option("scan_range_min_m", "number", None, "smallest range of a camera's scan; default: first visible ground, or "
           "a nearer obstacle", 0, 1000, unit="m"),
    Option("scan_range_max_m", "number", None, "largest range of a scan; default: the distance at which disparity is "
           "4 px, or at which the image ends on the road", 0, 1000, unit="m"),
    Option("scan_step_deg", "number", None, "step between the angles of a camera's scan; default: the narrowest "
           "column",
           0.01, 10, unit="degrees"),
    Option("scan_above", "choice", "free", "meaning of things above the largest height", choices=_AS),
    Option("scan_below", "choice", "free", "meaning of things below the smallest height", choices=_AS),
    Option("scan_unknown", "choice", "unseen", "meaning of space that was not measured", choices=_AS),
    Option("scan_drop", "choice", "obstacle", "meaning of the end of the ground before a drop", choices=_AS),
    Option("scan_filled", "choice", "obstacle", "meaning of an object that was hardly measured; unseen: for rooms with "
           "plain walls", choices=_AS[1:]),
    Option("ground_classes", "list", [], "scan and ground: only ground of these classes is free, by the names in the "
           "daemon's semantics.classes; default: all ground"),
    Option("scan_other_ground", "choice", "obstacle", "meaning of ground of other classes, with ground_classes",
           choices=_AS[1:]),
    Option("obstacle_range_m", "number", 50.0, "largest distance of the points of obstacles; 0: no limit",
           0, 1000, unit="m"),
    Option("obstacle_step_m", "number", 0.0, "distance between the points of an obstacle; 0: only its foot and its "
           "top", 0, 100,
           unit="m"),
    Option("ground_step_m", "number", 1.0, "distance between points of the ground", 0.05, 100, unit="m"),
    Option("ground_range_m", "number", 10.0, "largest distance of the points of the ground", 0.05, 1000, unit="m"),
    Option("jpeg_quality", "integer", 80, "quality of compressed images", 1, 95),
]
_FRAME_ID = re.compile(r"[!-.0-~][!-~]{0,127}")  # printable, without a leading slash, which tf2 refuses
_BY_NAME = {topic.name: topic for topic in _TOPICS}
_Made = Union[None, bytes, Any]  # None (no message), a serialised message, or a message not yet serialised
_Maker = Callable[["Work", frames.Names, Mapping[str, Any]], _Made]


def _transforms(work: Work, names: frames.Names, options: Mapping[str, Any]) -> _Made:
    found = frames.measured(work.instance, names.base, work.frame)
    if options["odometry_tf"] == work.instance.name:
        base = odometry.of_base(work, names, options["odom_frame"])
        found += [base] if base is not None else []
    return frames.message(found) if found else None


_MAKERS: Dict[str, _Maker] = {
    "scan": lambda work, names, options: obstacles.laser_scan(work.frame, names, options),
    "obstacles": lambda work, names, options: obstacles.obstacle_cloud(work.frame, names, options),
    "ground": lambda work, names, options: obstacles.ground_cloud(work.frame, names, options),
    "stixels": lambda work, names, options: stixels.stixel_frame(work.frame, names),
    "odometry": lambda work, names, options: odometry.odometry(work, names, options["odom_frame"]),
    "tracked_objects": lambda work, names, options: objects.tracked_objects(work, names),
    "objects": lambda work, names, options: objects.derived_objects(work, names, False),
    "objects_with_covariance": lambda work, names, options: objects.derived_objects(work, names, True),
    "dynamic_obstacles": lambda work, names, options: objects.dynamic_obstacles(work, names),
    "left/camera_info": lambda work, names, options: images.camera_info(work.frame, names, False),
    "right/camera_info": lambda work, names, options: images.camera_info(work.frame, names, True),
    "left/image_rect": lambda work, names, options: images.image(work.frame, names, False),
    "right/image_rect": lambda work, names, options: images.image(work.frame, names, True),
    "left/image_rect/compressed": lambda work, names, options: images.compressed(
        work.frame, names, False, options["jpeg_quality"]),
    "right/image_rect/compressed": lambda work, names, options: images.compressed(
        work.frame, names, True, options["jpeg_quality"]),
    "disparity": lambda work, names, options: images.disparity(work.frame, names),
    "markers": lambda work, names, options: markers.marker_array(work.frame, names, work.instance),
    "/tf": _transforms,
}


def namespace(instance: str) -> str:
    """Converts an instance's name to one that ROS allows: letters, digits and _, no digit first."""
    word = re.sub("[^A-Za-z0-9_]", "_", instance)
    return "camera_" + word if word[0].isdigit() else word


def full_name(topic: Topic, instance: Instance) -> str:
    """Returns the topic's name with a leading slash."""
    return topic.name if topic.name.startswith("/") else "/%s/%s" % (namespace(instance.name), topic.name)


def _check_odometry(options: Mapping[str, Any], instances: Sequence[Instance]) -> None:
    """Checks the options of the odometry. Raises Fail."""
    if options["odom_frame"] == options["base_frame"]:
        raise Fail(CONFIG, "odom_frame and base_frame are both '%s'" % options["odom_frame"])
    name = options["odometry_tf"]
    if name is not None and name not in [i.name for i in instances if not frames.is_rig(i)]:
        raise Fail(CONFIG, "odometry_tf = %s: the sink has no such instance (a rig has no odometry)" % name)
    if name is not None and "/tf" not in options["topics"]:
        raise Fail(CONFIG, "odometry_tf = %s needs /tf among the topics" % name)


def check(options: Mapping[str, Any], instances: Sequence[Instance]) -> None:
    """Checks whether options and instances are consistent. Raises Fail."""
    for what in ("height", "range"):
        least, most = (options["scan_%s_%s_m" % (what, end)] for end in ("min", "max"))
        if least is not None and most is not None and least > most:
            raise Fail(CONFIG, "scan_%s_min_m = %g is more than scan_%s_max_m = %g" % (what, least, what, most))
    if options["obstacle_step_m"] and not options["obstacle_range_m"]:
        raise Fail(CONFIG, "obstacle_step_m = %g needs an obstacle_range_m" % options["obstacle_step_m"])
    if 0 < options["obstacle_step_m"] < 0.01:
        raise Fail(CONFIG, "obstacle_step_m = %g: 0, or 0.01 and more" % options["obstacle_step_m"])
    for what in ("obstacle", "ground"):
        step, reach = options[what + "_step_m"], options[what + "_range_m"]
        if step and reach / step > STEPS_MOST:
            raise Fail(CONFIG, "%s_range_m = %g has more than %d steps of %g m" % (what, reach, STEPS_MOST, step))
    _check_odometry(options, instances)
    seen: Dict[str, str] = {}
    for instance in instances:
        other = seen.setdefault(namespace(instance.name), instance.name)
        if other != instance.name:
            raise Fail(CONFIG, "instances %s and %s both have topics below /%s: names in ROS have letters, digits and "
                       "_ alone" % (other, instance.name, namespace(instance.name)))
        for frame_id in (*frames.names(instance, options["base_frame"]), options["odom_frame"]):
            if not _FRAME_ID.fullmatch(frame_id):
                raise Fail(CONFIG, "'%s' is no frame id: 1 to 128 printable characters without space, no slash in front"
                           % "".join(c if c.isprintable() else "?" for c in frame_id))


def topics(options: Mapping[str, Any], instance: Optional[Instance] = None) -> List[Topic]:
    """Returns the offered topics of an instance, or of any camera. Compressed images need Pillow."""
    rig = instance is not None and frames.is_rig(instance)
    names = {*options["topics"], *(_OBJECTS[kind].name for kind in options["objects"])}
    return [topic for topic in _TOPICS if topic.name in names and (not rig or topic.name in RIG) and (
        images.HAS_JPEG or topic.type != store.COMPRESSED_IMAGE)]


def planes(wanted: AbstractSet[str]) -> FrozenSet[str]:
    """Returns the images that these topics need, in the form of Sink.images()."""
    return frozenset(plane for name, plane in _PLANES.items() if name in wanted)


def _key(name: str, options: Mapping[str, Any]) -> Tuple[Any, ...]:
    """Returns the values other than the frame that a message depends on."""
    return ("ros", name) + tuple(tuple(options[option.name]) if option.kind == "list" else options[option.name]
                                 for option in OPTIONS if option.name != "topics")


def _of_topic(work: Work, topic: Topic, names: frames.Names, options: Mapping[str, Any]) -> Optional[Message]:
    made = _MAKERS[topic.name](work, names, options)
    if made is None:
        return None
    return Message(topic, made if isinstance(made, bytes) else store.encode(made))


def of_frame(work: Work, options: Mapping[str, Any], wanted: AbstractSet[str],
             failed: Optional[Callable[[Exception], None]] = None) -> Iterator[Message]:
    """Yields the messages of a frame. wanted: names of topics that have a subscriber, or are always sent.

    A topic has no message if the frame lacks its image or the camera model. scan, obstacles, ground, markers and /tf
    also need a road, because they use the frame PREFIX_road, which has no place without one. scan, obstacles and
    ground have no message if the frame's images show nothing (stixel.FrameFlag.BLIND). odometry and the topics of
    objects have none if the motion of the camera is not known.

    failed: called when the message of a topic cannot be made; the topic then has no message.
    """
    names = frames.names(work.instance, options["base_frame"])
    for topic in topics(options, work.instance):
        if topic.name in wanted and topic.name in _MAKERS:
            try:
                message = work.once(_key(topic.name, options),
                                    functools.partial(_of_topic, work, topic, names, options))
            except Exception as e:  # this topic has no message of the frame; the others are sent
                if failed is None:
                    raise
                failed(e)
                continue
            if message is not None:
                yield message


def of_instances(instances: Sequence[Instance], options: Mapping[str, Any]) -> Iterator[Message]:
    """Yields /tf_static of all instances in one message, since only the last message is kept for late subscribers."""
    topic = _BY_NAME["/tf_static"]
    if topic in topics(options):
        now = time.time_ns()
        found = [t for instance in instances for t in frames.fixed(instance, options["base_frame"], now)]
        yield Message(topic, store.encode(frames.message(found)))


def check_classes(report: Report, options: Mapping[str, Any]) -> None:
    """Checks that the daemon has the classes of ground_classes, if its classes are known. Raises SinkError."""
    names = names_in(report.status)
    if options["ground_classes"] and names is not None:
        try:
            labels_of(options["ground_classes"], lambda: names)
        except ValueError as e:
            raise SinkError("instance %s: ground_classes: %s" % (report.instance.name, e)) from None


def of_report(report: Report, options: Mapping[str, Any]) -> Iterator[Message]:
    """Yields /diagnostics of an instance, and its classes, if it reads class scores. Raises as check_classes()."""
    check_classes(report, options)
    ns, offered = time.time_ns(), topics(options)
    names = frames.names(report.instance, options["base_frame"])
    made = {"/diagnostics": health.diagnostics(report, ns), "classes": stixels.label_info(report.status, ns, names)}
    for name, message in made.items():
        if message is not None and _BY_NAME[name] in offered:
            yield Message(_BY_NAME[name], store.encode(message))
