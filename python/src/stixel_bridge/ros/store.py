"""Makes and serialises messages, and has the hashes of their types. Only this module uses rosbags (Python 3.10 on).

The format is plain CDR (XCDR version 1), little endian, after the four bytes of the encapsulation. All RMWs use it.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import functools
from typing import Any, List, Tuple

LASER_SCAN = "sensor_msgs/msg/LaserScan"
POINT_CLOUD = "sensor_msgs/msg/PointCloud2"
STIXEL_FRAME = "stixel_msgs/msg/StixelFrame"
CAMERA_INFO = "sensor_msgs/msg/CameraInfo"
IMAGE = "sensor_msgs/msg/Image"
COMPRESSED_IMAGE = "sensor_msgs/msg/CompressedImage"
DISPARITY_IMAGE = "stereo_msgs/msg/DisparityImage"
LABEL_INFO = "vision_msgs/msg/LabelInfo"
DIAGNOSTICS = "diagnostic_msgs/msg/DiagnosticArray"
MARKERS = "visualization_msgs/msg/MarkerArray"
TRANSFORMS = "tf2_msgs/msg/TFMessage"

# Hashes of the types that are sent (RIHS01, REP 2011). Hashes of the common types are the same from Humble to Lyrical,
# because their definitions are. Humble itself has no hashes. Its rmw_zenoh writes HUMBLE_HASH instead.
HASHES = {
    LASER_SCAN: "RIHS01_64c191398013af96509d518dac71d5164f9382553fce5c1f8cca5be7924bd828",
    POINT_CLOUD: "RIHS01_9198cabf7da3796ae6fe19c4cb3bdd3525492988c70522628af5daa124bae2b5",
    STIXEL_FRAME: "RIHS01_716d0326c95a385ddefd140eef9c3b5a9c540e7c426518d09e4d59912e99644e",
    CAMERA_INFO: "RIHS01_b3dfd68ff46c9d56c80fd3bd4ed22c7a4ddce8c8348f2f59c299e73118e7e275",
    IMAGE: "RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47",
    COMPRESSED_IMAGE: "RIHS01_15640771531571185e2efc8a100baf923961a4d15d5569652e6cb6691e8e371a",
    DISPARITY_IMAGE: "RIHS01_1ec1ff6b5bace919e4544a37f2d96ead9f81783701b7b7a4d97a09325ecf2711",
    LABEL_INFO: "RIHS01_3d37df4015cdf660cc851c51897f2acd957e1ca6205ba0a99aebffb9406b0783",
    DIAGNOSTICS: "RIHS01_5a8a36efb05fb25070fa0fb3810290c0e6cd4862b54a8fb975a1ee8dc55a333e",
    MARKERS: "RIHS01_86cb8800b6fb05b5eff1abd7a56f62a5641d3ae9a1c29e78e67e704f1d067dcf",
    TRANSFORMS: "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087",
}
HUMBLE_HASH = "TypeHashNotSupported"

# Fields of types that rosbags does not have: of vision_msgs 4, and of ros/stixel_msgs/msg/*.msg, which have the
# constants and comments.
_OWN = {
    "vision_msgs/msg/VisionClass": """
        uint16 class_id
        string class_name""",
    LABEL_INFO: """
        std_msgs/Header header
        vision_msgs/VisionClass[] class_map
        float32 threshold""",
    "stixel_msgs/msg/Road": """
        uint8 origin
        uint32 age
        uint32 inliers
        float64 slope
        float64 offset
        float64 cross
        float64 axis
        float64 bend
        float64 bend_row
        float64 horizon_row
        float64 pitch
        float64 roll
        float64 height
        float64 pitch_sigma
        float64 roll_sigma
        float64 height_sigma""",
    STIXEL_FRAME: """
        std_msgs/Header header
        uint64 epoch
        uint64 number
        uint32 frame_flags
        float32 latency
        uint32 image_width
        uint32 image_height
        uint32 column_width
        float64 fx
        float64 fy
        float64 cx
        float64 cy
        float64 baseline
        stixel_msgs/Road road
        uint32[] offsets
        uint16[] column
        uint16[] row_top
        uint16[] row_bottom
        uint16[] support
        uint16[] disparity_q7
        int16[] slope_q14
        uint8[] kind
        uint8[] label
        uint8[] confidence
        uint8[] flags
        string[] classes""",
}


@functools.lru_cache(maxsize=1)
def store() -> Any:
    """Returns rosbags' store of types: types of Humble, which later releases did not change, and those of _OWN."""
    # imported here, so that options can be shown without it
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore
    found = get_typestore(Stores.ROS2_HUMBLE)
    for name, text in _OWN.items():
        found.register(get_types_from_msg(text, name))
    return found


def make(what: str, **fields: Any) -> Any:
    """Makes a message of this type."""
    return store().types[what](**fields)


def encode(message: Any) -> bytes:
    """Serialises a message, with the encapsulation first."""
    return bytes(store().serialize_cdr(message, message.__msgtype__, little_endian=True))


def decode(kind: str, cdr: bytes) -> Any:
    """Parses a serialised message."""
    return store().deserialize_cdr(cdr, kind)


def type_hash(kind: str) -> str:
    """Returns the hash of a type that is sent, in the form of rmw_zenoh and rmw_cyclonedds: "RIHS01_" and 64 digits."""
    return HASHES[kind]


def definition(kind: str) -> List[Tuple[str, Any]]:
    """Returns the fields of a type in order: (name, (node, ...)) in the form of rosbags.interfaces.Nodetype."""
    fields: List[Tuple[str, Any]] = store().fielddefs[kind][1]
    return fields
