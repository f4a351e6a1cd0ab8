"""Describes the structures of <stixel.h> for NumPy and ctypes. tests/python compares every field with the header.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import enum
from typing import Any

import numpy as np

ABI_MAJOR = 1
HEADER_BYTES_LEAST = 696
STAGES = 16
STAGE_NAME_BYTES = 16
DISPARITY_UNKNOWN = 0xFFFF
CLASSES_MAX = 32
DISPARITY_PER_PX = 128
SLOPE_PER_PX = 16384
IMAGE_DISPARITY_PER_PX = 16
IMAGE_DISPARITY_INVALID = 0xFFFF


class Kind(enum.IntEnum):
    """Class of a stixel: the values of its field "kind"."""

    GROUND = 0
    OBJECT = 1
    SKY = 2
    UNKNOWN = 3


class Pixel(enum.IntEnum):
    """Pixels of the images that a writer gives."""

    GREY8 = 1
    GREY16 = 2
    RGB24 = 3
    YUYV = 4
    UYVY = 5
    NV12 = 6
    RGGB8 = 16
    GRBG8 = 17
    GBRG8 = 18
    BGGR8 = 19
    RGGB16 = 20
    GRBG16 = 21
    GBRG16 = 22
    BGGR16 = 23


class Lens(enum.IntEnum):
    """Models of a raw camera's lens."""

    PLUMB_BOB = 0
    RATIONAL = 1
    EQUIDISTANT = 2


class Flag(enum.IntFlag):
    """Bits of a stixel's field "flags"."""

    CUT = 1
    ROAD_FALLBACK = 2
    RDP = 4
    SLANTED = 8
    FILLED = 16


class FrameFlag(enum.IntFlag):
    """Bits of a frame's flags.

    They say which parts did not fit into a packet of frames.sock, whether class scores were used or missing, whether
    the publisher has rectified raw images, whether another process has matched, whether the images show nothing, and
    whether the camera's settings changed within the last 10 s.
    """

    PLANE_LEFT_OUT = 1
    STIXELS_LEFT_OUT = 2
    SCORES = 4
    SCORES_MISSING = 8
    RECTIFIED = 16
    EXTERNAL = 32
    BLIND = 64
    CAMERA_CHANGED = 128


class _Growing(enum.IntEnum):
    """An enumeration that a newer publisher may extend: an unknown value becomes UNKNOWN, without an error."""

    @classmethod
    def _missing_(cls, value: object) -> Any:
        return cls.__members__["UNKNOWN"]


class Clock(_Growing):
    """Clock that the camera used for its time stamps, before conversion."""

    MONOTONIC = 0
    REALTIME = 1
    UNKNOWN = 2


class Stamp(_Growing):
    """Moment of the exposure that the capture times describe."""

    UNKNOWN = -1
    EXPOSURE_START = 0
    FRAME_END = 1
    SOFTWARE = 2


class MotionState(_Growing):
    """State of motion of a stixel. Unknown is not standing."""

    UNKNOWN = 0
    STANDS = 1
    MOVES = 2


class RoadOrigin(_Growing):
    """Source of the road model."""

    UNKNOWN = -1
    NONE = 0
    MEASURED = 1
    PREVIOUS = 2
    CALIBRATION = 3


class Plane(enum.IntEnum):
    """Kinds of image planes."""

    NONE = 0
    DISPARITY = 1
    LEFT = 2
    RIGHT = 3


class State(_Growing):
    """State that a publisher reports of itself."""

    UNKNOWN = -1
    STARTING = 0
    RUNNING = 1
    NO_CAMERA = 2
    DEGRADED = 3
    STOPPING = 4
    CLOSED = 5
    REPLACED = 6


class Publisher(_Growing):
    """State of the publisher as a reader sees it."""

    UNKNOWN = -1
    ABSENT = 0
    ALIVE = 1
    STALLED = 2
    ENDED = 3
    DIED = 4
    REPLACED = 5


class Open(enum.IntFlag):
    """Flags of stixel_open()."""

    FOLLOW = 1
    STREAM = 2
    LEFTOVER = 4
    ANY_OWNER = 8


class ScanAs(enum.IntEnum):
    """Meaning of a part of the picture in a scan."""

    FREE = 0
    OBSTACLE = 1
    UNSEEN = 2


class Free(_Growing):
    """End of the free space of a column."""

    UNKNOWN = -1
    UNSEEN = 0
    GROUND = 1
    OBJECT = 2
    DROP = 3
    OTHER = 4


class PointsOf(enum.IntEnum):
    """Source of points."""

    OBSTACLES = 0
    GROUND = 1


class Coordinates(enum.IntEnum):
    """Coordinate system of points."""

    CAMERA = 0
    VEHICLE = 1


class Part(enum.IntEnum):
    """Part of the stixel that a point represents: the values of the field "part"."""

    FOOT = 0
    BETWEEN = 1
    TOP = 2
    GROUND = 3


class MessageKind(enum.IntEnum):
    """Kinds of messages for viewers. The topics have these names in lower case."""

    FRAME = 0
    SCENE = 1
    POINTS = 2
    TRANSFORM = 3
    CALIBRATION = 4
    CALIBRATION_RIGHT = 5
    LEFT = 6
    RIGHT = 7
    DISPARITY = 8
    EVENTS = 9
    STIXEL = 10
    SCAN = 11


class RecordKind(enum.IntEnum):
    """Kinds of records in a recording."""

    FRAME = 0
    PUBLISHER = 1
    GAP = 2
    DAMAGE = 3
    CUT = 4


#: One point, 20 bytes, in the layout that sensor_msgs/PointCloud2 takes: the dtype of Frame.obstacle_points().
POINT = np.dtype([("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("kind", "u1"), ("label", "u1"), ("confidence", "u1"),
                  ("part", "u1"), ("id", "<u4")])

#: An obstacle as a box, 48 bytes: the dtype of Frame.boxes().
BOX = np.dtype([("x_min", "<f4"), ("x_max", "<f4"), ("y_min", "<f4"), ("y_max", "<f4"), ("z_min", "<f4"),
                ("z_max", "<f4"), ("column_first", "<u4"), ("column_last", "<u4"), ("row_top", "<u4"),
                ("row_bottom", "<u4"), ("stixels", "<u4"), ("reserved", "<u4")])
#: Free space of one column, 16 bytes: the dtype of Frame.free_columns().
FREE_COLUMN = np.dtype([("from_m", "<f4"), ("to_m", "<f4"), ("end", "<u4"), ("stixel", "<u4")])

#: One stixel, 16 bytes: the dtype of Frame.stixels.
STIXEL = np.dtype([
    ("column", "<u2"), ("row_top", "<u2"), ("row_bottom", "<u2"), ("support", "<u2"), ("disparity_q7", "<u2"),
    ("slope_q14", "<i2"), ("kind", "u1"), ("label", "u1"), ("confidence", "u1"), ("flags", "u1")])

#: The frame header: the dtype of Frame.header.
HEADER = np.dtype([
    ("magic", "<u4"), ("abi_major", "<u2"), ("abi_minor", "<u2"), ("header_bytes", "<u4"), ("checksum", "<u4"),
    ("frame_bytes", "<u4"), ("stixels_offset", "<u4"), ("epoch", "<u8"), ("number", "<u8"),
    ("capture_left_ns", "<i8"), ("capture_right_ns", "<i8"), ("submitted_ns", "<i8"), ("published_ns", "<i8"),
    ("anchor_monotonic_ns", "<i8"), ("anchor_realtime_ns", "<i8"),
    ("clock", "u1"), ("stamp", "u1"), ("road_origin", "u1"), ("stage_count", "u1"), ("flags", "<u4"),
    ("image_width", "<u4"), ("image_height", "<u4"), ("columns", "<u4"), ("column_width", "<u4"),
    ("disparities", "<u4"), ("min_disparity", "<i4"), ("stixel_count", "<u4"), ("road_inliers", "<u4"),
    ("fx", "<f8"), ("fy", "<f8"), ("cx", "<f8"), ("cy", "<f8"), ("baseline_m", "<f8"),
    ("road_slope", "<f8"), ("road_offset", "<f8"), ("horizon_row", "<f8"), ("pitch_rad", "<f8"), ("height_m", "<f8"),
    ("road_age", "<u4"), ("measured", "<u2"), ("row_error_q4", "<i2"),
    ("captured", "<u8"), ("published", "<u8"), ("dropped_overload", "<u8"), ("dropped_unpaired", "<u8"),
    ("dropped_corrupt", "<u8"),
    ("plane_kind", "<u4"), ("plane_width", "<u4"), ("plane_height", "<u4"), ("plane_pitch", "<u4"),
    ("plane_offset", "<u4"), ("plane_bytes", "<u4"),
    ("stage_ns", "<i8", (STAGES,)), ("stage_name", "S%d" % STAGE_NAME_BYTES, (STAGES,)),
    ("plane2_kind", "<u4"), ("plane2_width", "<u4"), ("plane2_height", "<u4"), ("plane2_pitch", "<u4"),
    ("plane2_offset", "<u4"), ("plane2_bytes", "<u4"), ("scores_ns", "<i8"),
    ("road_cross", "<f8"), ("road_axis", "<f8"), ("road_bend", "<f8"), ("road_bend_row", "<f8"), ("roll_rad", "<f8"),
    ("pitch_sigma_rad", "<f8"), ("roll_sigma_rad", "<f8"), ("height_sigma_m", "<f8"),
    ("vehicle_low_m", "<f8"), ("vehicle_high_m", "<f8"),
    ("motion_span_ns", "<i8"), ("ego_turn_rad", "<f4", (3,)), ("ego_way_m", "<f4", (3,)),
    ("ego_turn_sigma_rad", "<f4", (3,)), ("ego_way_sigma_m", "<f4", (3,)),
    ("range_offset_px", "<f4"), ("range_offset_sigma_px", "<f4"), ("motion_features", "<u4"), ("motion_inliers", "<u4"),
    ("motion_offset", "<u4"), ("range_applied_px", "<f4"), ("objects_offset", "<u4"), ("object_of_offset", "<u4"),
    ("object_count", "<u2"), ("object_bytes", "<u2"), ("motion_reserved", "<u4")])

#: Velocity of one stixel: the dtype of Frame.velocities.
VELOCITY = np.dtype([("vx", "<f4"), ("vz", "<f4"), ("sxx", "<f4"), ("sxz", "<f4"), ("szz", "<f4"), ("state", "u1")])
#: A place with its covariance, 40 bytes: the dtype of Frame.ahead().
PLACE = np.dtype([("x", "<f8"), ("z", "<f8"), ("sxx", "<f8"), ("sxz", "<f8"), ("szz", "<f8")])
#: Motion of one stixel, 8 bytes, as published.
MOTION_RECORD = np.dtype([("vx", "<i2"), ("vz", "<i2"), ("sigma_x", "u1"), ("sigma_z", "u1"), ("correlation", "i1"),
                          ("state", "u1")])

#: One object, 80 bytes: the dtype of Frame.objects.
OBJECT = np.dtype([
    ("id", "<u4"), ("state", "u1"), ("label", "u1"), ("frames", "<u2"), ("x", "<f4"), ("y", "<f4"), ("z", "<f4"),
    ("pxx", "<f4"), ("pxz", "<f4"), ("pzz", "<f4"), ("width", "<f4"), ("height", "<f4"), ("vx", "<f4"), ("vz", "<f4"),
    ("sxx", "<f4"), ("sxz", "<f4"), ("szz", "<f4"), ("age_s", "<f4"), ("unseen_s", "<f4"),
    ("left", "<u2"), ("right", "<u2"), ("top", "<u2"), ("bottom", "<u2"), ("stixels", "<u2"), ("reserved", "<u2")])


def offset_of(field: str) -> int:
    """Returns the offset of a field in a frame's header, bytes."""
    assert HEADER.fields is not None
    return int(HEADER.fields[field][1])


def header_of(data: bytes) -> Any:
    """Returns the header of a frame of any version. Fields that the version lacks are 0.

    data: at least HEADER_BYTES_LEAST bytes.
    """
    if len(data) >= HEADER.itemsize:
        h = np.frombuffer(data, HEADER, 1)[0]
        if h["header_bytes"] >= HEADER.itemsize:
            return h
    bytes_there = int.from_bytes(data[offset_of("header_bytes"):offset_of("header_bytes") + 4], "little")
    known = max(HEADER_BYTES_LEAST, min(bytes_there, HEADER.itemsize))
    return np.frombuffer(data[:known].ljust(HEADER.itemsize, b"\0"), HEADER, 1)[0]


def objects_at(header: Any) -> int:
    """Returns where a frame has its table of objects, bytes; 0: it has none, or its header ends before the fields."""
    return int(header["objects_offset"]) if header["header_bytes"] >= offset_of("motion_reserved") + 4 else 0


class CFrame(ctypes.Structure):
    """struct stixel_frame"""

    _fields_ = [("header", ctypes.c_void_p), ("offsets", ctypes.c_void_p), ("stixels", ctypes.c_void_p),
                ("plane", ctypes.c_void_p), ("bytes", ctypes.c_void_p), ("reserved", ctypes.c_void_p * 3)]


class CScoresFormat(ctypes.Structure):
    """struct stixel_scores_format"""

    _fields_ = [("classes", ctypes.c_uint32), ("image_width", ctypes.c_uint32), ("image_height", ctypes.c_uint32),
                ("scale", ctypes.c_uint32), ("slots", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("folder", ctypes.c_char_p)]


class CScoresPlanes(ctypes.Structure):
    """struct stixel_scores_planes"""

    _fields_ = [("data", ctypes.c_void_p), ("classes", ctypes.c_uint32), ("width", ctypes.c_uint32),
                ("height", ctypes.c_uint32), ("pitch", ctypes.c_uint32), ("plane_bytes", ctypes.c_uint64)]


class CDisparityFormat(ctypes.Structure):
    """struct stixel_disparity_format"""

    _fields_ = [("width", ctypes.c_uint32), ("height", ctypes.c_uint32), ("confidence", ctypes.c_uint32),
                ("slots", ctypes.c_uint32), ("folder", ctypes.c_char_p)]


class CDisparityMap(ctypes.Structure):
    """struct stixel_disparity_map"""

    _fields_ = [("data", ctypes.c_void_p), ("confidence", ctypes.c_void_p), ("width", ctypes.c_uint32),
                ("height", ctypes.c_uint32), ("pitch", ctypes.c_uint32), ("confidence_pitch", ctypes.c_uint32)]


class CRawCamera(ctypes.Structure):
    """struct stixel_raw_camera"""

    _fields_ = [("lens", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("fx", ctypes.c_double),
                ("fy", ctypes.c_double), ("cx", ctypes.c_double), ("cy", ctypes.c_double),
                ("distortion", ctypes.c_double * 8), ("rotation", ctypes.c_double * 9)]


class CPairsFormat(ctypes.Structure):
    """struct stixel_pairs_format"""

    _fields_ = [("width", ctypes.c_uint32), ("height", ctypes.c_uint32), ("pixel", ctypes.c_uint32),
                ("pitch", ctypes.c_uint32), ("buffers", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("clock", ctypes.c_uint32), ("stamp", ctypes.c_uint32), ("fps", ctypes.c_double),
                ("fx", ctypes.c_double), ("fy", ctypes.c_double), ("cx", ctypes.c_double), ("cy", ctypes.c_double),
                ("baseline_m", ctypes.c_double), ("rectified_width", ctypes.c_uint32),
                ("rectified_height", ctypes.c_uint32), ("raw", CRawCamera * 2), ("name", ctypes.c_char * 64)]


class CPairsImages(ctypes.Structure):
    """struct stixel_pairs_images"""

    _fields_ = [("left", ctypes.c_void_p), ("right", ctypes.c_void_p), ("pitch", ctypes.c_uint32),
                ("buffer", ctypes.c_uint32)]


class CPairsCounters(ctypes.Structure):
    """struct stixel_pairs_counters"""

    _fields_ = [("queued", ctypes.c_uint64), ("returned", ctypes.c_uint64 * 3), ("lost", ctypes.c_uint64),
                ("dropped", ctypes.c_uint64), ("connections", ctypes.c_uint64)]


class CScanOptions(ctypes.Structure):
    """struct stixel_scan_options"""

    _fields_ = [("angle_min", ctypes.c_float), ("angle_increment", ctypes.c_float), ("count", ctypes.c_uint32),
                ("range_min", ctypes.c_float), ("range_max", ctypes.c_float), ("height_min", ctypes.c_float),
                ("height_max", ctypes.c_float), ("above", ctypes.c_uint32), ("below", ctypes.c_uint32),
                ("unknown", ctypes.c_uint32), ("drop", ctypes.c_uint32), ("filled", ctypes.c_uint32),
                ("ground_labels", ctypes.c_uint32), ("other_ground", ctypes.c_uint32)]


class CFreeOptions(ctypes.Structure):
    """struct stixel_free_options"""

    _fields_ = [("height_min", ctypes.c_float), ("height_max", ctypes.c_float), ("ground_labels", ctypes.c_uint32),
                ("reserved", ctypes.c_uint32)]


class CBoxesOptions(ctypes.Structure):
    """struct stixel_boxes_options"""

    _fields_ = [("height_min", ctypes.c_float), ("height_max", ctypes.c_float), ("gap", ctypes.c_float),
                ("columns", ctypes.c_uint32), ("reserved", ctypes.c_uint32 * 4)]


class CPointsOptions(ctypes.Structure):
    """struct stixel_points_options"""

    _fields_ = [("of", ctypes.c_uint32), ("coordinates", ctypes.c_uint32), ("step", ctypes.c_float),
                ("range_max", ctypes.c_float)]


class CStatus(ctypes.Structure):
    """struct stixel_status"""

    _fields_ = [("publisher", ctypes.c_uint32), ("state", ctypes.c_uint32), ("epoch", ctypes.c_uint64),
                ("head", ctypes.c_uint64), ("pid", ctypes.c_uint64), ("heartbeat_age_ns", ctypes.c_int64),
                ("taken", ctypes.c_uint64), ("lost", ctypes.c_uint64), ("skipped", ctypes.c_uint64),
                ("overruns", ctypes.c_uint64), ("corrupt", ctypes.c_uint64), ("restarts", ctypes.c_uint64),
                ("version", ctypes.c_char * 32)]


class CRecord(ctypes.Structure):
    """struct stixel_record"""

    _fields_ = [("kind", ctypes.c_uint32), ("reason", ctypes.c_uint32), ("offset", ctypes.c_uint64),
                ("bytes", ctypes.c_uint64), ("frame", ctypes.c_void_p), ("epoch", ctypes.c_uint64),
                ("number", ctypes.c_uint64), ("lost", ctypes.c_uint64), ("pid", ctypes.c_uint64),
                ("version", ctypes.c_char * 32), ("why", ctypes.c_char_p), ("classes", ctypes.c_char_p)]


class CMessageTopic(ctypes.Structure):
    """struct stixel_message_topic"""

    _fields_ = [("name", ctypes.c_char_p), ("schema", ctypes.c_char_p), ("encoding", ctypes.c_char_p),
                ("descriptor", ctypes.c_void_p), ("descriptor_bytes", ctypes.c_uint64)]


class CMessage(ctypes.Structure):
    """struct stixel_message"""

    _fields_ = [("head", ctypes.c_void_p), ("head_bytes", ctypes.c_uint64), ("data", ctypes.c_void_p),
                ("data_bytes", ctypes.c_uint64)]


class CRecordingInfo(ctypes.Structure):
    """struct stixel_recording_info"""

    _fields_ = [("instance", ctypes.c_char * 72), ("recorder", ctypes.c_char * 64),
                ("anchor_monotonic_ns", ctypes.c_int64), ("anchor_realtime_ns", ctypes.c_int64),
                ("indexed", ctypes.c_uint32), ("ended", ctypes.c_uint32), ("frames", ctypes.c_uint64),
                ("lost", ctypes.c_uint64), ("publishers", ctypes.c_uint64), ("first_ns", ctypes.c_int64),
                ("last_ns", ctypes.c_int64)]
