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
ODOMETRY = "nav_msgs/msg/Odometry"
TRACKED_OBJECTS = "autoware_perception_msgs/msg/TrackedObjects"
OBJECTS = "derived_object_msgs/msg/ObjectArray"
OBJECTS_WITH_COVARIANCE = "derived_object_msgs/msg/ObjectWithCovarianceArray"
DYNAMIC_OBSTACLES = "nav2_dynamic_msgs/msg/ObstacleArray"

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
    ODOMETRY: "RIHS01_3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0",
    TRACKED_OBJECTS: "RIHS01_3559bd4e62ce8a4d96e32720c02bbe656cc090bb2b3f3f91f52a7c3ab095417a",
    OBJECTS: "RIHS01_90aaca381d0f1793679b5397bd2cd37a9e83cd980af5f8abb516d7b7da3b3285",
    OBJECTS_WITH_COVARIANCE: "RIHS01_7c76c20bf64f7833c1ef862b9c2ebfd9d720049d048b1c4a8629bdb86695ddd8",
    DYNAMIC_OBSTACLES: "RIHS01_30bef8eb1da85ccb8d8fd860be402b7710dd81b368d1622325aa617436b0cb2a",
}
HUMBLE_HASH = "TypeHashNotSupported"

# Fields of types that rosbags does not have: of vision_msgs 4, of the packages of objects (the tests name the
# repositories), and of ros/stixel_msgs/msg/*.msg, which have the constants and comments.
_OWN = {
    "vision_msgs/msg/VisionClass": """
        uint16 class_id
        string class_name""",
    LABEL_INFO: """
        std_msgs/Header header
        vision_msgs/VisionClass[] class_map
        float32 threshold""",
    "autoware_perception_msgs/msg/ObjectClassification": """
        uint8 label
        float32 probability""",
    "autoware_perception_msgs/msg/Shape": """
        uint8 type
        geometry_msgs/Polygon footprint
        geometry_msgs/Vector3 dimensions""",
    "autoware_perception_msgs/msg/TrackedObjectKinematics": """
        geometry_msgs/PoseWithCovariance pose_with_covariance
        geometry_msgs/TwistWithCovariance twist_with_covariance
        geometry_msgs/AccelWithCovariance acceleration_with_covariance
        uint8 orientation_availability
        bool is_stationary""",
    "autoware_perception_msgs/msg/TrackedObject": """
        unique_identifier_msgs/UUID object_id
        float32 existence_probability
        autoware_perception_msgs/ObjectClassification[] classification
        autoware_perception_msgs/TrackedObjectKinematics kinematics
        autoware_perception_msgs/Shape shape""",
    TRACKED_OBJECTS: """
        std_msgs/Header header
        autoware_perception_msgs/TrackedObject[] objects""",
    "derived_object_msgs/msg/Object": """
        std_msgs/Header header
        uint32 id
        uint8 detection_level
        bool object_classified
        geometry_msgs/Pose pose
        geometry_msgs/Twist twist
        geometry_msgs/Accel accel
        geometry_msgs/Polygon polygon
        shape_msgs/SolidPrimitive shape
        uint8 classification
        uint8 classification_certainty
        uint32 classification_age""",
    OBJECTS: """
        std_msgs/Header header
        derived_object_msgs/Object[] objects""",
    "derived_object_msgs/msg/SolidPrimitiveWithCovariance": """
        uint8 type
        float64[] dimensions
        float64[] covariance""",
    "derived_object_msgs/msg/ObjectWithCovariance": """
        std_msgs/Header header
        uint32 id
        uint8 detection_level
        bool object_classified
        geometry_msgs/PoseWithCovariance pose
        geometry_msgs/TwistWithCovariance twist
        geometry_msgs/AccelWithCovariance accel
        geometry_msgs/Polygon polygon
        derived_object_msgs/SolidPrimitiveWithCovariance shape
        uint8 classification
        uint8 classification_certainty
        uint32 classification_age""",
    OBJECTS_WITH_COVARIANCE: """
        std_msgs/Header header
        derived_object_msgs/ObjectWithCovariance[] objects""",
    "nav2_dynamic_msgs/msg/Obstacle": """
        unique_identifier_msgs/UUID uuid
        float32 score
        geometry_msgs/Point position
        geometry_msgs/Vector3 velocity
        geometry_msgs/Vector3 size
        float64[9] position_covariance
        float64[9] velocity_covariance""",
    DYNAMIC_OBSTACLES: """
        std_msgs/Header header
        nav2_dynamic_msgs/Obstacle[] obstacles""",
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
