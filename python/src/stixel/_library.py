"""Calls libstixel and libstixel-recording through ctypes.

The module uses ctypes instead of cffi, because ctypes is part of Python. So the module needs nothing but NumPy on any
machine and is plain Python, with one wheel for all. A frame costs four calls of about a microsecond each, so a compiled
module would gain nothing.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import errno
import itertools
import os
import threading
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ._errors import LibraryError
from ._layout import (CBoxesOptions, CDisparityFormat, CDisparityMap, CFrame, CFreeOptions, CMessage, CMessageTopic,
                      CPairsCounters, CPairsFormat, CPairsImages, CPointsOptions,
                      CRecord, CRecordingInfo, CScanOptions, CScoresFormat, CScoresPlanes, CStatus)

SONAME = "libstixel.so.1"
VARIABLE = "STIXEL_LIBRARY"
RECORDING_SONAME = "libstixel-recording.so.1"
RECORDING_VARIABLE = "STIXEL_RECORDING_LIBRARY"
_PATH_BYTES = 4096

_reader = ctypes.c_void_p
_scores = ctypes.c_void_p
_disparity = ctypes.c_void_p
_pairs = ctypes.c_void_p
_frame = ctypes.POINTER(CFrame)
_FUNCTIONS: List[Tuple[str, Any, List[Any]]] = [
    ("stixel_open", ctypes.c_int, [ctypes.POINTER(_reader), ctypes.c_char_p, ctypes.c_uint]),
    ("stixel_open_path", ctypes.c_int, [ctypes.POINTER(_reader), ctypes.c_char_p, ctypes.c_uint]),
    ("stixel_close", None, [_reader]),
    ("stixel_reopen", ctypes.c_int, [_reader]),
    ("stixel_latest", ctypes.c_int, [_reader, ctypes.POINTER(_frame)]),
    ("stixel_next", ctypes.c_int, [_reader, ctypes.POINTER(_frame), ctypes.POINTER(ctypes.c_uint64)]),
    ("stixel_fd", ctypes.c_int, [_reader]),
    ("stixel_want_images", ctypes.c_int, [_reader, ctypes.c_uint]),
    ("stixel_status", ctypes.c_int, [_reader, ctypes.POINTER(CStatus), ctypes.c_size_t]),
    ("stixel_parse", ctypes.c_int, [ctypes.POINTER(CFrame), ctypes.c_void_p, ctypes.c_size_t]),
    ("stixel_seal", ctypes.c_int, [ctypes.c_void_p, ctypes.c_size_t]),
    ("stixel_free_defaults", ctypes.c_int,
     [ctypes.POINTER(CFrame), ctypes.POINTER(CFreeOptions), ctypes.c_size_t]),
    ("stixel_free_space", ctypes.c_int64,
     [ctypes.POINTER(CFrame), ctypes.POINTER(CFreeOptions), ctypes.c_size_t, ctypes.c_void_p, ctypes.c_uint32]),
    ("stixel_ahead", ctypes.c_int64, [ctypes.POINTER(CFrame), ctypes.c_double, ctypes.c_void_p, ctypes.c_uint32]),
    ("stixel_object_ahead", ctypes.c_int64,
     [ctypes.POINTER(CFrame), ctypes.c_double, ctypes.c_void_p, ctypes.c_uint32]),
    ("stixel_scan_defaults", ctypes.c_int,
     [ctypes.POINTER(CFrame), ctypes.POINTER(CScanOptions), ctypes.c_size_t]),
    ("stixel_scan_speeds", ctypes.c_int,
     [ctypes.POINTER(CFrame), ctypes.POINTER(CScanOptions), ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p,
      ctypes.c_void_p]),
    ("stixel_boxes_defaults", ctypes.c_int,
     [ctypes.POINTER(CFrame), ctypes.POINTER(CBoxesOptions), ctypes.c_size_t]),
    ("stixel_boxes", ctypes.c_int64,
     [ctypes.POINTER(CFrame), ctypes.POINTER(CBoxesOptions), ctypes.c_size_t, ctypes.c_void_p, ctypes.c_uint64]),
    ("stixel_points", ctypes.c_int64,
     [ctypes.POINTER(CFrame), ctypes.POINTER(CPointsOptions), ctypes.c_size_t, ctypes.c_void_p, ctypes.c_uint64]),
    ("stixel_scores_create", ctypes.c_int,
     [ctypes.POINTER(_scores), ctypes.c_char_p, ctypes.POINTER(CScoresFormat), ctypes.c_size_t]),
    ("stixel_scores_begin", ctypes.c_int, [_scores, ctypes.POINTER(CScoresPlanes)]),
    ("stixel_scores_commit", ctypes.c_int, [_scores, ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64]),
    ("stixel_scores_close", None, [_scores]),
    ("stixel_disparity_create", ctypes.c_int,
     [ctypes.POINTER(_disparity), ctypes.c_char_p, ctypes.POINTER(CDisparityFormat), ctypes.c_size_t]),
    ("stixel_disparity_begin", ctypes.c_int, [_disparity, ctypes.POINTER(CDisparityMap)]),
    ("stixel_disparity_commit", ctypes.c_int, [_disparity, ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64]),
    ("stixel_disparity_close", None, [_disparity]),
    ("stixel_pairs_create", ctypes.c_int,
     [ctypes.POINTER(_pairs), ctypes.c_char_p, ctypes.POINTER(CPairsFormat), ctypes.c_size_t]),
    ("stixel_pairs_create_path", ctypes.c_int,
     [ctypes.POINTER(_pairs), ctypes.c_char_p, ctypes.POINTER(CPairsFormat), ctypes.c_size_t]),
    ("stixel_pairs_begin", ctypes.c_int, [_pairs, ctypes.POINTER(CPairsImages), ctypes.c_int]),
    ("stixel_pairs_commit", ctypes.c_int,
     [_pairs, ctypes.POINTER(CPairsImages), ctypes.c_int64, ctypes.c_int64]),
    ("stixel_pairs_fd", ctypes.c_int, [_pairs]),
    ("stixel_pairs_counters", ctypes.c_int, [_pairs, ctypes.POINTER(CPairsCounters), ctypes.c_size_t]),
    ("stixel_pairs_why", ctypes.c_char_p, [_pairs]),
    ("stixel_pairs_close", None, [_pairs]),
    ("stixel_place", ctypes.c_int, [ctypes.c_uint, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]),
    ("stixel_class_colour", None, [ctypes.c_char_p, ctypes.c_uint32, ctypes.POINTER(ctypes.c_uint8)]),
    ("stixel_labels_of", ctypes.c_int, [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint32)]),
    ("stixel_strerror", ctypes.c_char_p, [ctypes.c_int]),
    ("stixel_version", ctypes.c_char_p, []),
]
_WAITING: List[Tuple[str, Any, List[Any]]] = [
    ("stixel_wait", ctypes.c_int, [_reader, ctypes.c_int]),
    ("stixel_pairs_connect", ctypes.c_int, [_pairs, ctypes.c_int])]
_recording = ctypes.c_void_p
JPEG_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p,
                                 ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32)
# A file may be large and its disk slow, so these functions let other threads run.
_RECORDING_FUNCTIONS: List[Tuple[str, Any, List[Any]]] = [
    ("stixel_recording_open", ctypes.c_int,
     [ctypes.POINTER(_recording), ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]),
    ("stixel_recording_close", None, [_recording]),
    ("stixel_recording_info", ctypes.c_int, [_recording, ctypes.POINTER(CRecordingInfo), ctypes.c_size_t]),
    ("stixel_recording_next", ctypes.c_int, [_recording, ctypes.POINTER(CRecord), ctypes.c_size_t]),
    ("stixel_recording_on_jpeg", ctypes.c_int, [_recording, JPEG_FUNCTION, ctypes.c_void_p]),
    ("stixel_recording_seek", ctypes.c_int, [_recording, ctypes.c_int64]),
    ("stixel_recording_strerror", ctypes.c_char_p, [ctypes.c_int]),
]
_messages = ctypes.c_void_p
_MESSAGES_FUNCTIONS: List[Tuple[str, Any, List[Any]]] = [
    ("stixel_messages_create", ctypes.c_int, [ctypes.POINTER(_messages), ctypes.c_char_p]),
    ("stixel_messages_destroy", None, [_messages]),
    ("stixel_messages_topic", ctypes.c_int,
     [_messages, ctypes.c_uint, ctypes.POINTER(CMessageTopic), ctypes.c_size_t]),
    ("stixel_messages_frame", ctypes.c_int, [_messages, _frame]),
    ("stixel_messages_scale", ctypes.c_int, [_messages, ctypes.c_double, ctypes.c_double]),
    ("stixel_messages_classes", ctypes.c_int, [_messages, ctypes.c_char_p]),
    ("stixel_messages_colours", ctypes.c_int,
     [_messages, ctypes.POINTER(ctypes.c_double), ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint8)]),
    ("stixel_messages_make", ctypes.c_int, [_messages, ctypes.c_uint, ctypes.POINTER(CMessage), ctypes.c_size_t]),
    ("stixel_messages_event", ctypes.c_int,
     [_messages, ctypes.POINTER(CRecord), ctypes.c_size_t, ctypes.POINTER(CMessage), ctypes.c_size_t]),
]


class Library:
    """The functions of a library, as attributes without the prefix of its functions.

    brief_functions never wait; waiting_functions may. soname: name of the library. variable: environment variable with
    its path.
    """

    def __init__(self, path: str, soname: str, variable: str, prefix: str, brief_functions: List[Tuple[str, Any, Any]],
                 waiting_functions: List[Tuple[str, Any, Any]]) -> None:
        self._prefix = prefix
        try:
            # Functions that never wait keep the interpreter lock. Releasing it costs up to 5 ms (the switch interval)
            # when another thread computes. Functions that wait release it.
            brief, waiting = ctypes.PyDLL(path), ctypes.CDLL(path)
        except OSError as e:
            raise LibraryError(errno.ELIBACC, "%s cannot be loaded (%s): it comes with stixeld; where the system does "
                               "not look for it, name it in the environment as %s=/path/to/%s"
                               % (path, e, variable, soname)) from None
        try:
            for name, result, arguments in brief_functions:
                self._add(brief, name, result, arguments)
            for name, result, arguments in waiting_functions:
                self._add(waiting, name, result, arguments)
        except AttributeError as e:
            version = ctypes.PyDLL(path)
            text = "not libstixel"
            if hasattr(version, "stixel_version"):
                version.stixel_version.restype = ctypes.c_char_p
                text = "libstixel " + version.stixel_version().decode()
            raise LibraryError(errno.ELIBBAD, "%s (%s) lacks what this module needs (%s): install the libstixel of the "
                               "module's release, or a newer one" % (path, text, e)) from None
        self.path = path

    def _add(self, dll: Any, name: str, result: Any, arguments: List[Any]) -> None:
        function = dll[name]
        function.restype, function.argtypes = result, arguments
        setattr(self, name[len(self._prefix):], function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)  # exists so that type checkers accept the functions above


def _beside(folder: str, soname: str) -> Optional[str]:
    path = os.path.join(folder, soname)
    return path if os.path.exists(path) else None


def _path(soname: str, variable: str) -> str:
    """Returns the path of a library.

    It comes from the library's environment variable, the folder of the named libstixel, the wheel, or the system.
    """
    named = os.environ.get(VARIABLE)
    return (os.environ.get(variable) or (named and _beside(os.path.dirname(named), soname))
            or _beside(os.path.dirname(os.path.abspath(__file__)), soname) or soname)


_lock = threading.Lock()
_loaded: Dict[str, Library] = {}  # libraries by the prefix of their functions


def _load(prefix: str, soname: str, variable: str, brief: List[Tuple[str, Any, Any]],
          waiting: List[Tuple[str, Any, Any]]) -> Library:
    """Returns the functions with this prefix, loaded at the first call. Raises LibraryError."""
    if prefix not in _loaded:
        with _lock:
            if prefix not in _loaded:
                _loaded[prefix] = Library(_path(soname, variable), soname, variable, prefix, brief, waiting)
    return _loaded[prefix]


def library() -> Library:
    """Returns libstixel. Raises LibraryError when it cannot be used."""
    return _load("stixel_", SONAME, VARIABLE, _FUNCTIONS, _WAITING)


def recording_library() -> Library:
    """Returns the reader of recordings in libstixel-recording. Raises LibraryError."""
    return _load("stixel_recording_", RECORDING_SONAME, RECORDING_VARIABLE, [], _RECORDING_FUNCTIONS)


def messages_library() -> Library:
    """Returns the messages for viewers in libstixel-recording. Raises LibraryError."""
    return _load("stixel_messages_", RECORDING_SONAME, RECORDING_VARIABLE, _MESSAGES_FUNCTIONS, [])


def places(program: str) -> Iterator[str]:
    """Yields the folders in which this program's sockets may lie, in search order. Raises LibraryError."""
    folder = ctypes.create_string_buffer(_PATH_BYTES)
    for place in itertools.count():
        found = library().place(place, program.encode(), folder, len(folder))
        if found < 0:
            return
        if found:
            yield os.fsdecode(folder.value)


def library_version() -> str:
    """Returns the version of libstixel, such as "0.1.0". Loads the library: LibraryError."""
    version: bytes = library().version()
    return version.decode()
