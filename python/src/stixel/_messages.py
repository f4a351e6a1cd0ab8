"""Makes messages of frames for viewers, through libstixel-recording (<stixel_messages.h>). stixel-bridge uses them.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import ctypes
import errno
import os
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Sequence

import numpy as np

from ._convert import c_frame
from ._errors import NotSupported, StixelError
from ._layout import CMessage, CMessageTopic, CRecord, MessageKind, RecordKind
from ._library import messages_library
from ._recorded import GAP_REASONS, GapReason

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._frame import Frame


_CLASSES_BYTES = 1024  # limit of stixel_messages_classes()


class Topic(NamedTuple):
    """Description of a kind of message, which a viewer gets once."""

    schema: str
    encoding: str  #: encoding of the messages and of the schema
    descriptor: bytes


def _bytes(message: CMessage) -> bytes:
    head = ctypes.string_at(message.head, message.head_bytes)
    if not message.data_bytes:
        return head
    return b"".join((head, (ctypes.c_char * message.data_bytes).from_address(message.data)))  # copies the pixels once


def _text_of(classes: Optional[Sequence[str]]) -> Optional[bytes]:
    """Returns names of classes in the library's form; None: not known, or longer than any daemon's."""
    text = " ".join(classes or ()).encode()
    return text if 0 < len(text) < _CLASSES_BYTES else None


class Messages:
    """Makes messages of the frames of one instance. One thread at a time may use it."""

    def __init__(self, instance: str) -> None:
        """Raises LibraryError, and NotSupported if the library was built without protobuf."""
        self._handle: Optional[ctypes.c_void_p] = None
        self._lib = messages_library()
        handle = ctypes.c_void_p()
        code = self._lib.create(ctypes.byref(handle), instance.encode())
        if code == -errno.ENOTSUP:
            raise NotSupported(-code, "libstixel-recording was built without protobuf: it makes no messages")
        self._check(code)
        self._handle = handle
        self._frame: Any = None  # keeps the memory of the frame alive

    def __del__(self) -> None:
        if self._handle:
            self._lib.destroy(self._handle)

    @staticmethod
    def _check(code: int) -> int:
        if code < 0:
            raise StixelError(-code, "messages of a frame: %s" % os.strerror(-code))
        return code

    def topic(self, kind: MessageKind) -> Topic:
        """Returns the description of a kind of message."""
        topic = CMessageTopic()
        self._check(self._lib.topic(self._handle, kind, ctypes.byref(topic), ctypes.sizeof(topic)))
        return Topic(topic.schema.decode(), topic.encoding.decode(),
                     ctypes.string_at(topic.descriptor, topic.descriptor_bytes))

    def take(self, frame: Frame) -> bool:
        """Takes the frame for the next messages. Returns True if calibrations are to be sent."""
        taken = c_frame(frame.raw, frame.header)
        due = self._check(self._lib.frame(self._handle, ctypes.byref(taken[0])))
        self._frame = taken
        return bool(due)

    def scale(self, near_m: float = 0.0, far_m: float = 0.0) -> None:
        """Gives the ends of the colour scale of distances, m; 0: an end follows the scene."""
        self._check(self._lib.scale(self._handle, near_m, far_m))

    def classes(self, names: Optional[Sequence[str]]) -> None:
        """Gives the names of the semantic classes by label to the following frames; None: not known."""
        self._check(self._lib.classes(self._handle, _text_of(names)))

    def colours(self, distances_m: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Returns the colours (n, 3) of distances (n,) by the scale of the frame, which needs a camera model."""
        distances = np.ascontiguousarray(distances_m, np.float64)
        rgb = np.zeros((len(distances), 3), np.uint8)
        self._check(self._lib.colours(self._handle, distances.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
                                      len(distances), rgb.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))))
        return rgb

    def make(self, kind: MessageKind) -> Optional[bytes]:
        """Makes a message of the frame. Returns None if the frame has no message of this kind."""
        message = CMessage()
        if not self._check(self._lib.make(self._handle, kind, ctypes.byref(message), ctypes.sizeof(message))):
            return None
        return _bytes(message)

    def _event(self, record: CRecord) -> bytes:
        message = CMessage()
        self._check(self._lib.event(self._handle, ctypes.byref(record), ctypes.sizeof(record), ctypes.byref(message),
                                    ctypes.sizeof(message)))
        return _bytes(message)

    def publisher(self, epoch: int, pid: int, version: str, classes: Optional[Sequence[str]] = None) -> bytes:
        """Makes the event of a publisher's run, to which the following frames belong. pid 0, version "", classes None:
        not known."""
        return self._event(CRecord(kind=RecordKind.PUBLISHER, epoch=epoch, pid=pid, version=version.encode()[:31],
                                   classes=_text_of(classes)))

    def gap(self, epoch: int, number: int, lost: int) -> bytes:
        """Makes the event of frames that were not sent, beginning with a number."""
        return self._event(CRecord(kind=RecordKind.GAP, reason=GAP_REASONS.index(GapReason.OVERRUN), epoch=epoch,
                                   number=number, lost=lost))
