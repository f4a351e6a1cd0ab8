"""Writers and readers of Cyclone DDS for serialised messages, of a type that is known by its name alone.

Each RMW describes the same ROS type in another way (members with or without "_" at the end, or not at all). Readers
with another description do not match. Without a description, a reader matches by the type's name, and the readers of
all RMWs do so. The Python package cannot leave the description out. So this module does it through ctypes, with the C
library that the package contains.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import ctypes
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

Fields = Sequence[Tuple[str, Any]]  # fields of a message: (name, node) in the form of rosbags

_XTYPES_METADATA = 1 << 6  # flag of a descriptor: type_information and type_mapping are set
_LOCAL_DOMAIN = 1  # scope of a search
_ANY_STATE = 0x7F  # mask: a reader takes samples in any state
_DATA = 2  # kind of serialised data: a whole sample


class _Meta(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_uint32)]


class _Descriptor(ctypes.Structure):
    """Mirrors dds_topic_descriptor_t of Cyclone DDS 11."""

    _fields_ = [
        ("size", ctypes.c_uint32), ("align", ctypes.c_uint32), ("flags", ctypes.c_uint32),
        ("key_count", ctypes.c_uint32), ("type_name", ctypes.c_char_p), ("keys", ctypes.c_void_p),
        ("op_count", ctypes.c_uint32), ("ops", ctypes.c_void_p), ("meta", ctypes.c_char_p),
        ("type_information", _Meta), ("type_mapping", _Meta), ("representations", ctypes.c_uint32),
    ]


class _Info(ctypes.Structure):
    """Mirrors dds_sample_info_t."""

    _fields_ = [
        ("states", ctypes.c_uint32 * 3), ("valid_data", ctypes.c_bool), ("source_timestamp", ctypes.c_int64),
        ("handles", ctypes.c_uint64 * 2), ("counts", ctypes.c_uint32 * 5),
    ]


class _Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_char_p), ("bytes", ctypes.c_size_t)]


def _library() -> Any:
    """Returns the C library that the package has loaded, which is never one of the system."""
    from cyclonedds.core import Entity
    lib = Entity._dll_handle
    entity, pointer = ctypes.c_int32, ctypes.c_void_p
    lib.dds_get_typeinfo.argtypes = [entity, ctypes.POINTER(pointer)]
    lib.dds_free_typeinfo.argtypes = [pointer]
    lib.dds_create_topic_descriptor.argtypes = [
        ctypes.c_int, entity, pointer, ctypes.c_int64, ctypes.POINTER(ctypes.POINTER(_Descriptor))]
    lib.dds_delete_topic_descriptor.argtypes = [ctypes.POINTER(_Descriptor)]
    lib.dds_create_topic.argtypes = [entity, ctypes.POINTER(_Descriptor), ctypes.c_char_p, pointer, pointer]
    lib.dds_get_entity_sertype.argtypes = [entity, ctypes.POINTER(pointer)]
    lib.ddsi_serdata_from_ser_iov.argtypes = [
        pointer, ctypes.c_int, ctypes.c_size_t, ctypes.POINTER(_Part), ctypes.c_size_t]
    lib.ddsi_serdata_from_ser_iov.restype = pointer
    lib.dds_writecdr.argtypes = [entity, pointer]
    lib.dds_takecdr.argtypes = [entity, ctypes.POINTER(pointer), ctypes.c_uint32, ctypes.POINTER(_Info),
                                ctypes.c_uint32]
    lib.ddsi_serdata_size.argtypes = [pointer]
    lib.ddsi_serdata_size.restype = ctypes.c_uint32
    lib.ddsi_serdata_to_ser.argtypes = [pointer, ctypes.c_size_t, ctypes.c_size_t, pointer]
    lib.ddsi_serdata_to_ser.restype = None
    lib.ddsi_serdata_unref.argtypes = [pointer]
    lib.ddsi_serdata_unref.restype = None
    return lib


def _checked(result: int, what: str) -> int:
    from cyclonedds.core import DDSException
    if result < 0:
        raise DDSException(result, what)
    return result


def struct(name: str, fields_of: Callable[[str], Fields], made: Dict[str, Any]) -> Any:
    """Returns the IdlStruct of a message type, and makes those within it. made: existing ones, by name."""
    from cyclonedds.idl import make_idl_struct

    from .graph import dds_type
    if name not in made:
        fields = {field: _type(node, fields_of, made) for field, node in fields_of(name)}
        full = dds_type(name)
        made[name] = make_idl_struct(full.split("::")[-1], full.replace("::", "."), fields)
    return made[name]


def _type(node: Any, fields_of: Callable[[str], Fields], made: Dict[str, Any]) -> Any:
    """Returns Cyclone's type of a field."""
    from cyclonedds.idl import types
    from rosbags.interfaces import Nodetype
    kind, what = node
    if kind == Nodetype.NAME:
        return struct(what, fields_of, made)
    if kind == Nodetype.BASE:
        base, bound = what
        if base == "string":
            return types.bounded_str[bound] if bound else str
        return {"bool": bool, "float32": types.float32, "float64": types.float64, "byte": types.uint8,
                "char": types.uint8, "octet": types.uint8}.get(base) or getattr(types, base)
    inner, count = what
    item = _type(inner, fields_of, made)
    if kind == Nodetype.ARRAY:
        return types.array[item, count]
    return types.sequence[item, count] if count else types.sequence[item]


class Types:
    """Makes DDS topics by the names of their types. Each type is made once, because the package never frees one."""

    def __init__(self, fields_of: Callable[[str], Fields]) -> None:
        self._fields_of = fields_of
        self._structs: Dict[str, Any] = {}

    def struct(self, kind: str) -> Any:
        """Returns the IdlStruct of a type."""
        return struct(kind, self._fields_of, self._structs)

    def topic(self, participant: Any, name: str, kind: str) -> Any:
        """Makes a DDS topic for messages of this type, without a type description for other participants."""
        from cyclonedds.core import Entity
        from cyclonedds.topic import Topic
        lib = _library()
        described = Topic(participant, "_" + name, self.struct(kind))
        info, descriptor = ctypes.c_void_p(), ctypes.POINTER(_Descriptor)()
        _checked(lib.dds_get_typeinfo(described._ref, ctypes.byref(info)), "of the type " + kind)
        try:
            _checked(lib.dds_create_topic_descriptor(
                _LOCAL_DOMAIN, participant._ref, info, 0, ctypes.byref(descriptor)), "describing " + kind)
        finally:
            lib.dds_free_typeinfo(info)
        try:
            bare = _Descriptor.from_buffer_copy(descriptor.contents)
            bare.flags &= ~_XTYPES_METADATA
            bare.type_information = bare.type_mapping = _Meta()
            found = _checked(lib.dds_create_topic(
                participant._ref, ctypes.byref(bare), name.encode(), None, None), "making the topic " + name)
        finally:
            lib.dds_delete_topic_descriptor(descriptor)
        topic = Topic.__new__(Topic)
        Entity.__init__(topic, found)
        topic.data_type = described.data_type
        return topic


class Writer:
    """Writes messages of one topic."""

    def __init__(self, participant: Any, topic: Any, qos: Any) -> None:
        from cyclonedds.pub import DataWriter
        self.writer = DataWriter(participant, topic, qos)
        self._library = _library()
        self._sertype = ctypes.c_void_p()
        _checked(self._library.dds_get_entity_sertype(
            self.writer._ref, ctypes.byref(self._sertype)), "of a writer's type")

    def write(self, cdr: bytes) -> None:
        """Writes a message, which begins with the four bytes of encapsulation. Raises DDSException."""
        data = cdr + bytes(-len(cdr) % 4)
        part = _Part(data, len(data))
        sample = self._library.ddsi_serdata_from_ser_iov(self._sertype, _DATA, 1, ctypes.byref(part), len(data))
        if not sample:
            raise ValueError("what is serialised does not fit the type of its topic")
        _checked(self._library.dds_writecdr(self.writer._ref, sample), "writing")

    def readers(self) -> int:
        """Returns the present number of readers."""
        return int(self.writer.get_publication_matched_status().current_count)

    def refused(self) -> int:
        """Returns how often readers of this writer have asked for a stronger QoS than offered, such as reliable."""
        return int(self.writer.get_offered_incompatible_qos_status().total_count)


class Reader:
    """Reads messages of one topic."""

    def __init__(self, participant: Any, topic: Any, qos: Any) -> None:
        from cyclonedds.sub import DataReader
        self.reader = DataReader(participant, topic, qos)
        self._library = _library()

    def take(self) -> Optional[bytes]:
        """Returns the oldest message that has come, which begins with the four bytes of encapsulation; None: there is
        none. Raises DDSException.
        """
        info, sample = _Info(), ctypes.c_void_p()
        while _checked(self._library.dds_takecdr(
                self.reader._ref, ctypes.byref(sample), 1, ctypes.byref(info), _ANY_STATE), "reading"):
            try:
                if info.valid_data:  # otherwise it says only that a writer is gone
                    size = self._library.ddsi_serdata_size(sample)
                    data = bytearray(size)
                    self._library.ddsi_serdata_to_ser(sample, 0, size, (ctypes.c_char * size).from_buffer(data))
                    return data
            finally:
                self._library.ddsi_serdata_unref(sample)
                sample.value = None
        return None

    def writers(self) -> int:
        """Returns the present number of writers."""
        return int(self.reader.get_subscription_matched_status().current_count)
