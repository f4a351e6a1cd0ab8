"""Topics of `stixelctl export`: names, schemas, encodings (docs/recording.md). Needs no package of others.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

from typing import Dict, NamedTuple


class Topic(NamedTuple):
    """Behind "/INSTANCE/"."""

    name: str
    schema: str
    encoding: str = "protobuf"  #: of message and schema


TOPICS: Dict[str, Topic] = {topic.name: topic for topic in (
    Topic("frame", "stixel.Frame"), Topic("scene", "foxglove.SceneUpdate"), Topic("points", "foxglove.PointCloud"),
    Topic("transform", "foxglove.FrameTransform"), Topic("calibration", "foxglove.CameraCalibration"),
    Topic("calibration_right", "foxglove.CameraCalibration"), Topic("left", "foxglove.RawImage"),
    Topic("right", "foxglove.RawImage"), Topic("disparity", "foxglove.RawImage"), Topic("events", "stixel.Event"),
    Topic("stixel", "stixel.Bytes", "stixel"))}
IMAGES = ("left", "right", "disparity")  #: of them, those that a frame has only if somebody asks
CALIBRATIONS = ("calibration", "calibration_right")
