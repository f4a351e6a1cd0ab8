# Stereo images of a wall 0.6 m in front of the cameras, as messages of ROS, and recordings of them. rosbags gives the
# types and the bytes, from its definitions of Jazzy. mcap-ros2-support writes the MCAP files.
# SPDX-License-Identifier: Apache-2.0
import pathlib

import numpy as np
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_JAZZY)
IMAGE, COMPRESSED, INFO = ("sensor_msgs/msg/" + name for name in ("Image", "CompressedImage", "CameraInfo"))
WIDTH, HEIGHT = 320, 240
PX = 20  # disparity
FOCAL, BASELINE_M = 200.0, 0.06
DEPTH_M = FOCAL * BASELINE_M / PX
START_NS = 1_700_000_000 * 10**9
PERIOD_NS = 40_000_000
LEFT, RIGHT = "/stereo/left/image_rect", "/stereo/right/image_rect"


def scene():
    texture = np.random.default_rng(2).integers(16, 236, (HEIGHT, WIDTH + PX), dtype=np.uint8)
    return texture[:, :WIDTH], texture[:, PX:]


def make(kind, types=STORE, **fields):
    return types.types[kind](**fields)


def header(ns, types=STORE):
    more = {"seq": 0} if "seq" in types.types["std_msgs/msg/Header"].__dataclass_fields__ else {}
    return make("std_msgs/msg/Header", types, frame_id="cam", stamp=make(
        "builtin_interfaces/msg/Time", types, sec=ns // 10**9, nanosec=ns % 10**9), **more)


def image(ns, pixels, encoding="mono8", types=STORE, **fields):
    pixels = np.ascontiguousarray(pixels)
    return make(IMAGE, types, **{**dict(
        header=header(ns, types), height=pixels.shape[0], width=pixels.shape[1], encoding=encoding, is_bigendian=0,
        step=pixels.strides[0], data=pixels.reshape(-1).view(np.uint8)), **fields})


def compressed(ns, data, format_):
    return make(COMPRESSED, header=header(ns), format=format_, data=np.frombuffer(data, np.uint8))


def info(ns, right, types=STORE, **fields):
    """Returns the CameraInfo of a rectified camera. fields: others, by the names of ROS 2."""
    cx, cy = (WIDTH - 1) / 2, (HEIGHT - 1) / 2
    values = dict(d=np.zeros(5), k=np.array([FOCAL, 0, cx, 0, FOCAL, cy, 0, 0, 1]), r=np.eye(3).ravel(),
                  p=np.array([FOCAL, 0, cx, -FOCAL * BASELINE_M if right else 0, 0, FOCAL, cy, 0, 0, 0, 1, 0]))
    values.update({key: fields.pop(key) for key in list(fields) if key in values})
    if types is not STORE:
        values = {key.upper(): value for key, value in values.items()}
    return make(INFO, types, **{**dict(
        header=header(ns, types), height=HEIGHT, width=WIDTH, distortion_model="plumb_bob", binning_x=0, binning_y=0,
        roi=make("sensor_msgs/msg/RegionOfInterest", types, x_offset=0, y_offset=0, height=0, width=0,
                 do_rectify=False)), **values, **fields})


def cdr(message):
    return bytes(STORE.serialize_cdr(message, message.__msgtype__))


def messages(count, left=LEFT, right=RIGHT, types=STORE, right_late_ns=0):
    """Yields (topic, time of recording, message) of images and calibrations."""
    for number in range(count):
        ns = START_NS + number * PERIOD_NS
        for topic, pixels, later in zip((left, right), scene(), (0, right_late_ns)):
            yield topic.rpartition("/")[0] + "/camera_info", ns + 1000, info(ns + later, topic == right, types)
            yield topic, ns + 2000, image(ns + later, pixels, types=types)


def rosbag2(path, found, storage="sqlite3"):
    """Writes a recording with rosbags: a folder."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
    with Writer(pathlib.Path(path), version=9, storage_plugin=plugin) as w:
        connections = {}
        for topic, ns, message in found:
            if topic not in connections:
                connections[topic] = w.add_connection(topic, message.__msgtype__, typestore=STORE)
            w.write(connections[topic], ns, cdr(message))


def rosbag1(path, found):
    """Writes a recording of ROS 1: a file. found: messages of types1()."""
    from rosbags.rosbag1 import Writer
    with Writer(pathlib.Path(path)) as w:
        connections = {}
        for topic, ns, message in found:
            if topic not in connections:
                connections[topic] = w.add_connection(topic, message.__msgtype__, typestore=types1())
            w.write(connections[topic], ns, types1().serialize_ros1(message, message.__msgtype__))


def types1():
    return get_typestore(Stores.ROS1_NOETIC)


def mcap(path, found):
    """Writes an MCAP file with mcap-ros2-support, which serialises the messages itself."""
    from mcap_ros2.writer import Writer
    with open(path, "wb") as f:
        w, schemas = Writer(f), {}
        for topic, ns, message in found:
            kind = message.__msgtype__
            if kind not in schemas:
                text, _ = STORE.generate_msgdef(kind, ros_version=2)
                schemas[kind] = w.register_msgdef(kind, text)
            w.write_message(topic, schemas[kind], plain(message), log_time=ns, publish_time=ns)
        w.finish()


def plain(message):
    """Returns a message as dictionaries, lists and bytes."""
    if isinstance(message, np.ndarray):
        return message.tobytes() if message.dtype == np.uint8 else message.tolist()
    if hasattr(message, "__dataclass_fields__"):
        return {name: plain(getattr(message, name)) for name in message.__dataclass_fields__ if name != "__msgtype__"}
    return message
