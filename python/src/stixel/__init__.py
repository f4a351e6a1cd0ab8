"""Reads the frames of stixels that stixeld publishes, as NumPy arrays.

    import stixel

    for frame in stixel.open("front"):
        objects = frame.stixels["kind"] == stixel.Kind.OBJECT
        print(frame.number, frame.depth[objects].min(initial=float("inf")))

The rest is in docs/use/python.md. Needs libstixel.so.1.

SPDX-License-Identifier: Apache-2.0
"""
from ._convert import Scan
from ._disparity import DisparityWriter
from ._errors import (BadName, Busy, Damaged, Died, Ended, LibraryError, NotAllowed, NotConnected, NotRunning,
                      NotStixel, NotSupported, OtherVersion, Refused, Restarted, StixelError)
from ._frame import Counts, Ego, Frame, RangeOffset, load
from ._geometry import Camera, Road
from ._layout import (BOX, FREE_COLUMN, HEADER, OBJECT, PLACE, POINT, STIXEL, VELOCITY, Clock, Flag, FrameFlag, Free,
                      Kind, MotionState, Part, Plane, Publisher, RoadOrigin, ScanAs, Stamp, State)
from ._library import library_version
from ._open import open, open_path
from ._pairs import Pair, PairCounts, PairWriter, RawCamera
from ._reader import Reader, Status
from ._recorded import Damage, End, Gap, GapReason, Life
from ._recording import Recording
from ._scores import ScoreWriter, class_colour, one_hot
from ._url import open_url

__all__ = [
    "BOX", "BadName", "Busy", "Camera", "Clock", "Counts", "Damage", "Damaged", "Died", "DisparityWriter", "End",
    "Ego", "Ended", "FREE_COLUMN", "Flag", "Frame", "FrameFlag", "Free", "Gap", "GapReason", "HEADER", "Kind",
    "LibraryError", "Life", "MotionState", "NotAllowed", "NotConnected", "NotRunning", "NotStixel", "NotSupported",
    "OBJECT", "OtherVersion", "PLACE", "POINT", "Pair", "PairCounts", "PairWriter", "Part", "Plane", "Publisher",
    "RangeOffset", "RawCamera", "Reader", "Recording", "Refused", "Restarted", "Road", "RoadOrigin", "STIXEL", "Scan",
    "ScanAs", "ScoreWriter", "Stamp", "State", "Status", "StixelError", "VELOCITY", "class_colour", "library_version",
    "load", "one_hot", "open", "open_path", "open_url"]


def __getattr__(name: str) -> str:
    if name == "__version__":  # version of the installed package; a source tree has none
        from importlib import metadata
        try:
            return metadata.version("stixel")
        except metadata.PackageNotFoundError:
            return "unknown"
    raise AttributeError("module 'stixel' has no attribute %r" % name)
