"""Reads recordings of ROS: rosbag2 (MCAP and SQLite) and ROS 1 bags, and finds a stereo pair of topics in them.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import functools
import struct
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from ..fail import DATA, Fail, sentence
from ..ros import store
from .topics import COMPRESSED, stamp_ns

IMAGES = (store.IMAGE, store.COMPRESSED_IMAGE)
# words in the name of a left topic, and of its right one
SIDES = (("left", "right"), ("Left", "Right"), ("infra1", "infra2"), ("cam0", "cam1"))
_STAMP_1 = struct.Struct("<II")  # stamp of ROS 1, behind the header's sequence number


@functools.lru_cache(maxsize=1)
def _store_1() -> Any:
    from rosbags.typesys import Stores, get_typestore
    return get_typestore(Stores.ROS1_NOETIC)


class Recording:
    """An open recording. Fail: it cannot be read."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._old = path.endswith(".bag")  # a recording of ROS 1
        try:
            if self._old:
                from rosbags.rosbag1 import Reader as Old
                self._reader: Any = Old(Path(path))
            else:
                from rosbags.rosbag2 import Reader as New
                self._reader = New(Path(path))
            self._reader.open()
        except Exception as e:  # errors of rosbags, of SQLite, of the system
            raise self._fail(e) from None
        #: types by name; the first releases of ROS 2 wrote sensor_msgs/Image
        self.topics: Dict[str, str] = {c.topic: c.msgtype if "/msg/" in c.msgtype else c.msgtype.replace("/", "/msg/")
                                       for c in self._reader.connections}
        counts: Dict[str, int] = {}
        for c in self._reader.connections:
            counts[c.topic] = counts.get(c.topic, 0) + c.msgcount
        self.counts = counts  #: number of messages by topic

    def _fail(self, error: Exception) -> Fail:
        return Fail(DATA, "%s: cannot be read as a recording of ROS: %s (one of stixelctl record is played by "
                    "stixelctl replay; docs/examples/repeat.py gives its pairs)" % (self._path, sentence(error)))

    def messages(self, topics: Sequence[str]) -> Iterator[Tuple[str, int, bytes]]:
        """Yields (topic, header.stamp or else the time of recording in ns, message) in the order of recording."""
        wanted = [c for c in self._reader.connections if c.topic in topics]
        if not wanted:
            return
        try:
            for connection, recorded_ns, message in self._reader.messages(wanted):
                yield connection.topic, self._stamp_ns(message) or recorded_ns, message
        except Exception as e:
            raise self._fail(e) from None

    def _stamp_ns(self, message: bytes) -> int:
        if not self._old:
            return stamp_ns(message)
        sec, nanosec = _STAMP_1.unpack_from(message, 4)
        return int(sec) * 1_000_000_000 + int(nanosec)

    def decode(self, topic: str, message: bytes) -> Any:
        """Parses a message of a topic. Fail: its bytes are damaged."""
        kind = self.topics[topic]
        try:
            return _store_1().deserialize_ros1(message, kind) if self._old else store.decode(kind, message)
        except Exception as e:
            raise self._fail(e) from None

    def close(self) -> None:
        """Closes the files."""
        self._reader.close()

    def described(self) -> str:
        """Returns the topics of images, for a message."""
        found = ["%s (%d)" % (name, self.counts[name]) for name, kind in sorted(self.topics.items()) if kind in IMAGES]
        return "topics of images: " + ", ".join(found) if found else "it has no topic of images, only %s" % (
            ", ".join(sorted(self.topics)[:20]) or "nothing")


def _partner(topic: str, topics: Mapping[str, str], back: bool = False) -> Optional[str]:
    """Returns the topic of the other side, if there is one. back: topic is a right one."""
    for words in SIDES:
        here, there = words[::-1] if back else words
        other = topic.replace(here, there)
        if other != topic and topics.get(other) == topics[topic]:
            return other
    return None


def find_pair(recording: Recording, left: Optional[str], right: Optional[str]) -> Tuple[str, str]:
    """Returns the topics of images: those given, or the only pair of left and right. Fail: no pair, or several."""
    images = {name: kind for name, kind in recording.topics.items() if kind in IMAGES}
    for name in filter(None, (left, right)):
        if name not in images:
            raise Fail(DATA, "there is no topic of images '%s'; %s" % (name, recording.described()))
    if left and right:
        return left, right
    found: List[Tuple[str, str]] = []
    for one in [left or right] if left or right else images:
        assert one
        other = _partner(one, images, back=one == right)
        if other:
            found.append((other, one) if one == right else (one, other))
    # the same images are often recorded twice
    found = [p for p in found if len(found) == 1 or not p[0].endswith(COMPRESSED) or (
        p[0][:-len(COMPRESSED)], p[1][:-len(COMPRESSED)]) not in found]
    if len(found) == 1:
        return found[0]
    if not found:
        raise Fail(DATA, "no pair of topics differs in left and right: say --left and --right; " +
                   recording.described())
    raise Fail(DATA, "there are several pairs, say --left with one: " + ", ".join(pair[0] for pair in found))
