"""The topics of an input, and the contract of a transport that receives them.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import struct
from typing import Any, Callable, Dict, List, Mapping, Sequence

from ..fail import CONFIG, Fail
from ..options import Option
from ..ros import store

COMPRESSED = "/compressed"

# options of the topics and of what is made of them, for every kind of input and for recordings
PAIR: Sequence[Option] = [
    Option("left", "text", None, "topic of the left images: sensor_msgs/Image, or CompressedImage if its name ends "
           "with /compressed"),
    Option("right", "text", None, "topic of the right images"),
    Option("left_info", "text", None, "topic of the left camera's CameraInfo; default: camera_info beside the images"),
    Option("right_info", "text", None, "topic of the right camera's CameraInfo; default: camera_info beside the "
           "images"),
    Option("calibration", "switch", True, "pass the calibration of CameraInfo to the daemon, which uses it if its "
           "configuration has none"),
    Option("rectified", "choice", "auto", "whether the images are rectified; auto: yes if the names of their topics "
           "say rect, or if CameraInfo does not distort", choices=("auto", "yes", "no")),
    Option("tolerance_ms", "number", 5.0, "largest difference between the stamps of a pair; less than half of the "
           "time between two images of a camera", 0, 500, unit="ms"),
    Option("simulated", "switch", False, "the images have no noise, so equal images are no sign of a frozen camera"),
]
LIVE: Sequence[Option] = [
    Option("instance", "name", None, "instance that gets the pairs; default: the section's name"),
    *PAIR,
    Option("stamps", "choice", "header", "capture times; header: stamps of the messages, by the wall clock; arrival: "
           "when the pair arrives, for stamps of a simulator or of another clock", choices=("header", "arrival")),
]
_STAMP = {True: struct.Struct("<iI"), False: struct.Struct(">iI")}  # layout of a stamp by whether it is little endian


def stamp_ns(message: bytes) -> int:
    """Returns header.stamp of a serialised message that begins with a header. ValueError: it is too short."""
    if len(message) < 12:
        raise ValueError("a message of %d bytes" % len(message))
    sec, nanosec = _STAMP[bool(message[1] & 1)].unpack_from(message, 4)
    return int(sec) * 1_000_000_000 + int(nanosec)


def image_type(topic: str) -> str:
    """Returns the type of the images of a topic, by its name, as image_transport chooses it."""
    return store.COMPRESSED_IMAGE if topic.endswith(COMPRESSED) else store.IMAGE


def info_topic(topic: str) -> str:
    """Returns the topic of the CameraInfo of a topic of images: camera_info beside it."""
    base = topic[:-len(COMPRESSED)] if topic.endswith(COMPRESSED) else topic
    return base.rpartition("/")[0] + "/camera_info"


def info_topics(options: Mapping[str, Any]) -> List[str]:
    """Returns the topics of CameraInfo, left and right; none if no calibration is wanted."""
    return [options[side + "_info"] or info_topic(options[side]) for side in ("left", "right")] \
        if options["calibration"] else []


class Input:
    """Base class of the transports. __init__ does not connect. It raises Fail for contradictory options.

    The thread of its feed (feed.py) calls all methods. Messages may arrive on any thread.
    """

    OPTIONS: Sequence[Option] = ()  #: options of its section, in addition to the options in config.py
    PACKAGES: Sequence[str] = ()  #: foreign packages by import name; imported only in methods
    HELP = ""  #: description in one line

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        self.name = name
        self.options = options
        for key in ("left", "right"):
            if not options[key]:
                raise Fail(CONFIG, "%s is missing: the topic of the %s images" % (key, key))
        for key in ("left", "right", "left_info", "right_info"):
            if options[key] and not options[key].startswith("/"):
                raise Fail(CONFIG, "%s = %s is no whole name of a topic: /%s" % (key, options[key], options[key]))
        if options["left"] == options["right"]:
            raise Fail(CONFIG, "left and right are the same topic")

    def topics(self) -> Dict[str, str]:
        """Returns the types of the topics to receive, by name."""
        found = {self.options[side]: image_type(self.options[side]) for side in ("left", "right")}
        found.update(dict.fromkeys(info_topics(self.options), store.CAMERA_INFO))
        return found

    def open(self, put: Callable[[str, bytes], None]) -> None:
        """Connects and subscribes. put(topic, message) gets the messages, in CDR with its four bytes in front.

        SinkError: there is no connection.
        """
        raise NotImplementedError

    def look(self) -> None:
        """Checks the connection. SinkError: it is lost."""

    def figures(self) -> Dict[str, float]:
        """Returns own figures for the status. Any thread may call it."""
        return {}

    def close(self) -> None:
        """Frees what open() took, even if open() failed. Never raises."""
