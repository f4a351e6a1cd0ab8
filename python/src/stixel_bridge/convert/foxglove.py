"""A frame as the messages of `stixelctl export`: its topics, schemas and content (docs/recording.md).

tests/bridge/test_foxglove.py compares each field with the export's.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple

import numpy as np
from stixel import Frame, Plane
from stixel._layout import DISPARITY_UNKNOWN

from ..sink import Work
from . import protobuf as pb
from .scene import DOT, Scene, camera_pose, scene

NS_PER_S = 1_000_000_000
_PLANES = {"left": Plane.LEFT, "right": Plane.RIGHT, "disparity": Plane.DISPARITY}

# ---- our own schemas: proto/stixel/Frame.proto has the units; those of foxglove.* its package brings ----

_F = pb.Field
_STIXEL = [_F(1, "uint32", "column"), _F(2, "uint32", "row_top"), _F(3, "uint32", "row_bottom"), _F(4, "Kind", "kind"),
           _F(5, "float", "disparity_px"), _F(6, "float", "slope"), _F(7, "float", "depth_m"),
           _F(8, "uint32", "support"), _F(9, "uint32", "confidence"), _F(10, "uint32", "label"),
           _F(11, "uint32", "flags")]
_FREE = [_F(1, "float", "from_m"), _F(2, "float", "to_m"), _F(3, "FreeEnd", "end")]
_ROAD = [_F(1, "RoadOrigin", "origin"), _F(2, "double", "slope"), _F(3, "double", "offset"),
         _F(4, "double", "horizon_row"), _F(5, "double", "pitch_rad"), _F(6, "double", "height_m"),
         _F(7, "uint32", "inliers"), _F(8, "uint32", "age"), _F(9, "double", "cross"), _F(10, "double", "axis"),
         _F(11, "double", "bend"), _F(12, "double", "bend_row"), _F(13, "double", "roll_rad"),
         _F(14, "double", "pitch_sigma_rad"), _F(15, "double", "roll_sigma_rad"), _F(16, "double", "height_sigma_m")]
_CAMERA = [_F(i + 1, "double", name) for i, name in enumerate(("fx", "fy", "cx", "cy", "baseline_m"))]
_FRAME = [
    _F(1, "fixed64", "epoch"), _F(2, "uint64", "number"), _F(3, "int64", "capture_left_ns"),
    _F(4, "int64", "capture_right_ns"), _F(5, "int64", "submitted_ns"), _F(6, "int64", "published_ns"),
    _F(7, "int64", "anchor_monotonic_ns"), _F(8, "int64", "anchor_realtime_ns"), _F(9, "uint32", "clock"),
    _F(10, "uint32", "stamp"), _F(11, "uint32", "flags"), _F(12, "uint32", "image_width"),
    _F(13, "uint32", "image_height"), _F(14, "uint32", "columns"), _F(15, "uint32", "column_width"),
    _F(16, "uint32", "disparities"), _F(17, "int32", "min_disparity"), _F(18, "Camera", "camera"),
    _F(19, "Road", "road"), _F(20, "uint64", "captured"), _F(21, "uint64", "published"),
    _F(22, "uint64", "dropped_overload"), _F(23, "uint64", "dropped_unpaired"), _F(24, "uint64", "dropped_corrupt"),
    _F(25, "Stage", "stages", True), _F(26, "Stixel", "stixels", True), _F(27, "Free", "free", True)]
_EVENT = [_F(1, "string", "kind"), _F(2, "fixed64", "epoch"), _F(3, "uint64", "pid"), _F(4, "string", "version"),
          _F(5, "uint64", "number"), _F(6, "uint64", "lost"), _F(7, "string", "reason"), _F(8, "uint64", "frames"),
          _F(9, "uint64", "publishers"), _F(10, "uint64", "frame_bytes_max"), _F(11, "uint64", "frame_bytes_max_bare"),
          _F(12, "int64", "first_ns"), _F(13, "int64", "last_ns"), _F(14, "uint64", "planes")]

SCHEMAS: Dict[str, bytes] = {
    "stixel.Frame": pb.describe(
        "stixel/Frame.proto", "stixel",
        {"Stixel": _STIXEL, "Free": _FREE, "Road": _ROAD, "Camera": _CAMERA,
         "Stage": [_F(1, "string", "name"), _F(2, "int64", "ns")], "Frame": _FRAME},
        {"Kind": ("GROUND", "OBJECT", "SKY", "UNKNOWN"),
         "FreeEnd": ("FREE_UNSEEN", "FREE_GROUND", "FREE_OBJECT", "FREE_DROP"),
         "RoadOrigin": ("ROAD_NONE", "ROAD_MEASURED", "ROAD_PREVIOUS", "ROAD_CALIBRATION")}),
    "stixel.Event": pb.describe("stixel/Event.proto", "stixel", {"Event": _EVENT}, {}),
    "stixel.Bytes": b"struct stixel_frame_header, offsets, stixels as in stixel.h; images lie in channels beside"}

# ---- stixel.Frame ----

_OF_ROAD = ("origin", "slope", "offset", "inliers", "age", "cross", "axis", "bend", "bend_row")  # road_ in the header


def _of_header(h: Any, fields: Sequence[pb.Field], prefixed: Sequence[str] = ()) -> bytes:
    """Fields that the header has, as they stand in it."""
    made = []
    for field in fields:
        name = "road_" + field.name if field.name in prefixed else field.name
        if field.type == "double":
            made.append(pb.double(field.number, float(h[name])))
        elif field.type == "fixed64":
            made.append(pb.fixed64(field.number, int(h[name])))
        else:
            made.append(pb.number(field.number, int(h[name])))
    return b"".join(made)


def _stages(h: Any) -> bytes:
    names, ns = h["stage_name"], h["stage_ns"]
    return b"".join(pb.chunk(25, (pb.chunk(1, bytes(names[i])) if names[i] else b"") + pb.number(2, int(ns[i])))
                    for i in range(min(int(h["stage_count"]), len(ns))))


def _stixels(frame: Frame) -> bytes:
    h, s = frame.header, frame.stixels
    q7 = s["disparity_q7"]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        depth = np.where((q7 != 0) & (q7 != DISPARITY_UNKNOWN), h["fx"] * h["baseline_m"] / (q7 / 128.0), 0.0)
        depth = depth.astype(np.float32)
    rows = pb.Rows(len(s))
    for field in _STIXEL:
        if field.type != "float":
            rows.number(field.number, s[field.name])
        elif field.name == "disparity_px":
            rows.float32(field.number, np.where(q7 == DISPARITY_UNKNOWN, -1.0, q7 / 128.0))
        else:
            rows.float32(field.number, depth if field.name == "depth_m" else s["slope_q14"] / 16384.0)
    return rows.pack(26)


def _free(frame: Frame) -> bytes:
    columns = frame.free_columns()
    rows = pb.Rows(len(columns))
    rows.float32(1, columns["from_m"])
    rows.float32(2, columns["to_m"])
    rows.number(3, columns["end"])
    return rows.pack(27)


def frame_message(frame: Frame) -> bytes:
    """stixel.Frame."""
    h = frame.header
    return b"".join((_of_header(h, _FRAME[:17]), pb.chunk(18, _of_header(h, _CAMERA)),
                     pb.chunk(19, _of_header(h, _ROAD, _OF_ROAD)), _of_header(h, _FRAME[19:24]),
                     _stages(h), _stixels(frame), _free(frame)))


# ---- foxglove.* ----

def realtime_ns(h: Any, monotonic_ns: int) -> int:
    """CLOCK_REALTIME of a moment of the frame, by its own anchor."""
    ns = int(h["anchor_realtime_ns"]) + monotonic_ns - int(h["anchor_monotonic_ns"])
    return (ns + (1 << 63)) % (1 << 64) - (1 << 63)  # a replayed file may say anything


def _stamp(h: Any, field: int) -> bytes:
    seconds, ns = divmod(realtime_ns(h, int(h["capture_left_ns"])), NS_PER_S)
    return pb.chunk(field, pb.number(1, seconds) + pb.number(2, ns))


def _xyz(name: str) -> pb.Layout:
    return [part for i, axis in enumerate("xyz") for part in pb.value(i + 1, name + axis)]


_UPRIGHT = pb.double(4, 1.0)  # a Quaternion that does not turn
_HERE = pb.chunk(1, b"") + pb.chunk(2, _UPRIGHT)  # a Pose
_CUBE = pb.Block(pb.inner(
    8, pb.inner(1, pb.inner(1, _xyz("centre_")), [pb.chunk(2, _UPRIGHT)]), pb.inner(2, _xyz("size_")),
    pb.inner(3, pb.value(1, "red"), pb.value(2, "green"), pb.value(3, "blue"), pb.same(4, 0.9))))
_POINT = pb.Block(pb.inner(2, _xyz("")))
_VIOLET = pb.double(1, 150 / 255.0) + pb.double(2, 92 / 255.0) + pb.double(3, 168 / 255.0) + pb.double(4, 0.5)
_FLOAT32, _UINT8 = 7, 1  # PackedElementField.NumericType
_CLOUD_FIELDS = b"".join(
    pb.chunk(5, pb.text(1, name) + pb.fixed32(2, offset) + pb.number(3, kind)) for name, offset, kind in (
        ("x", 0, _FLOAT32), ("y", 4, _FLOAT32), ("z", 8, _FLOAT32),
        ("red", 12, _UINT8), ("green", 13, _UINT8), ("blue", 14, _UINT8), ("alpha", 15, _UINT8)))


def _cubes(s: Scene) -> bytes:
    columns = {name + axis: values[:, i] for name, values in (("centre_", s.centres), ("size_", s.sizes))
               for i, axis in enumerate("xyz")}
    columns.update({name: s.colours[:, i] / 255.0 for i, name in enumerate(("red", "green", "blue"))})
    return _CUBE.pack(len(s.centres), columns)


def _triangles(s: Scene) -> bytes:
    count = len(s.corners)
    if not count:
        return b""
    corners = s.corners.reshape(-1, 3)
    order = (4 * np.arange(count, dtype="<u4")[:, None] + np.array([0, 1, 2, 0, 2, 3], "<u4")).astype("<u4")
    return pb.chunk(12, b"".join((
        pb.chunk(1, _HERE), _POINT.pack(4 * count, {axis: corners[:, i] for i, axis in enumerate("xyz")}),
        pb.chunk(3, _VIOLET), pb.chunk(5, order.tobytes()))))


def scene_of(work: Work) -> Scene:
    """Of a frame that has_camera(), made once."""
    made: Scene = work.once("scene", lambda: scene(work.frame))
    return made


def scene_message(frame: Frame, s: Scene, instance: str) -> bytes:
    """foxglove.SceneUpdate: one entity, which replaces that of the frame before."""
    return pb.chunk(2, b"".join((_stamp(frame.header, 1), pb.text(2, instance + "/camera"), pb.text(3, "stixels"),
                                 _cubes(s), _triangles(s))))


def points_message(frame: Frame, s: Scene, instance: str) -> bytes:
    """foxglove.PointCloud."""
    data = s.dots.tobytes()
    return b"".join((_stamp(frame.header, 1), pb.text(2, instance + "/camera"), pb.chunk(3, _HERE),
                     pb.fixed32(4, DOT.itemsize), _CLOUD_FIELDS, pb.chunk(6, data) if data else b""))


def transform_message(frame: Frame, instance: str) -> bytes:
    """foxglove.FrameTransform: the camera over the road."""
    height, turn = camera_pose(frame.header)
    rotation = b"".join(pb.double(i + 1, q) for i, q in enumerate(turn))
    return b"".join((_stamp(frame.header, 1), pb.text(2, instance + "/road"), pb.text(3, instance + "/camera"),
                     pb.chunk(4, pb.double(3, height)), pb.chunk(5, rotation)))


def image_message(frame: Frame, topic: str, instance: str) -> Optional[bytes]:
    """foxglove.RawImage of one of IMAGES; None: the frame does not have it."""
    h = frame.header
    for plane in ("plane", "plane2"):
        width, height, pitch, offset = (int(h[plane + of]) for of in ("_width", "_height", "_pitch", "_offset"))
        if h[plane + "_kind"] == _PLANES[topic]:
            return b"".join((
                _stamp(h, 1), pb.text(7, instance + "/camera"), pb.fixed32(2, width), pb.fixed32(3, height),
                pb.text(4, "16UC1" if topic == "disparity" else "mono8"), pb.fixed32(5, pitch),
                pb.chunk(6, frame.raw[offset:offset + pitch * height])))
    return None


def calibration_key(h: Any) -> Tuple[Any, ...]:
    """What a new calibration is sent for, when it is another than before."""
    return tuple(h[name].item() for name in ("fx", "fy", "cx", "cy", "baseline_m", "image_width", "image_height",
                                             "epoch"))


def calibration_message(frame: Frame, instance: str, right: bool) -> bytes:
    """foxglove.CameraCalibration of the rectified pair; a K of zeros: there is no camera model any more."""
    h = frame.header
    fx, fy, cx, cy, baseline = (float(h[name]) for name in ("fx", "fy", "cx", "cy", "baseline_m"))
    return b"".join((
        _stamp(h, 1), pb.text(9, instance + "/camera"), pb.fixed32(2, int(h["image_width"])),
        pb.fixed32(3, int(h["image_height"])),
        pb.text(4, "plumb_bob"),  # images are rectified: D is all zero
        pb.doubles(5, [0.0] * 5), pb.doubles(6, [fx, 0, cx, 0, fy, cy, 0, 0, 1]),
        pb.doubles(7, [1, 0, 0, 0, 1, 0, 0, 0, 1]),
        pb.doubles(8, [fx, 0, cx, -fx * baseline if right else 0, 0, fy, cy, 0, 0, 0, 1, 0])))


# ---- beside ----

def frame_bytes(frame: Frame) -> bytes:
    """A frame's own bytes, before its images."""
    h = frame.header
    return frame.raw[:int(h["plane_offset"])] if h["plane_kind"] else frame.raw


def publisher_event(epoch: int, pid: int, version: str) -> bytes:
    """stixel.Event: the frames that follow are of this life of the publisher."""
    return pb.text(1, "publisher") + pb.fixed64(2, epoch) + pb.number(3, pid) + pb.text(4, version)


def gap_event(epoch: int, number: int, lost: int) -> bytes:
    """stixel.Event: so many frames from this number on were not sent."""
    return (pb.text(1, "gap") + pb.fixed64(2, epoch) + pb.number(5, number) + pb.number(6, lost)
            + pb.text(7, "overrun"))
