"""Writes disparity maps of another matcher for a stixeld with stereo.matcher = external.

SPDX-License-Identifier: Apache-2.0
"""
from typing import Any, Optional, Tuple

import numpy as np

from ._frame import Frame
from ._layout import CDisparityFormat, CDisparityMap
from ._writer import Writer, number_in, slots_of

WIDTH_MAX, HEIGHT_MAX = 4096, 2160
_LARGEST = 65535  # 1/256 px


class DisparityWriter(Writer):
    """Writes disparity maps for the daemons whose external.source is this name. Creates the ring and removes it.

        with stixel.open("front.pairs") as pairs, stixel.DisparityWriter("front", size=(1280, 720)) as writer:
            while True:
                pair = pairs.latest(timeout=None)  # the newest pair; the daemon has given up older ones
                writer.write(match(pair.left, pair.right), pair)

    size: width and height of the rectified left image, px. confidence: whether each map has a confidence map. Maps
    have the shape (height, width), which is writer.shape.

    One thread at a time may use a writer. No reader can delay it.
    """

    _place = "map"

    def __init__(self, name: str, size: Tuple[int, int], confidence: bool = False, slots: int = 0,
                 folder: Optional[str] = None) -> None:
        width, height = size
        layout = CDisparityFormat(number_in("width", width, 1, WIDTH_MAX), number_in("height", height, 1, HEIGHT_MAX),
                                  bool(confidence), slots_of(slots),
                                  folder.encode() if folder else None)
        super().__init__("disparity", name, layout)
        self.shape = (layout.height, layout.width)
        self._confidence = bool(confidence)

    def map(self) -> "Tuple[np.ndarray[Any, Any], Optional[np.ndarray[Any, Any]]]":
        """Returns the memory of the next map and of its confidence map (None for a writer without confidence).

        The map is uint16 in 1/256 px with 0 for invalid, the confidence is uint8. Both lie in shared memory and hold
        old content. Fill all of it, then call commit(). Raises Restarted when another writer took the name.
        """
        m = CDisparityMap()
        self._begin(m)
        disparity = self._view(m.data, "<u2", self.shape, (m.pitch, 2))
        return disparity, self._view(m.confidence, "|u1", self.shape, (m.confidence_pitch, 1)) if m.confidence else None

    def write(self, disparity: Any, frame: Optional[Frame] = None, *, confidence: Any = None,
              capture_ns: Optional[int] = None) -> None:
        """Writes one disparity map: calls map(), copies once, and calls commit().

        disparity: an array of the writer's shape, either uint16 in 1/256 px with 0 for invalid, or floating point in
        px. In floating point, values that are nan, infinite, or not above 0 are invalid. A valid value is never written
        as 0. confidence: uint8 of the same shape; only for a writer that was made with confidence.
        """
        self._one_of(frame, capture_ns)
        values = _fixed(np.asarray(disparity))
        weights = None if confidence is None else np.asarray(confidence)
        for what, given, kind in (("disparities", values, np.uint16), ("confidence", weights, np.uint8)):
            if given is not None and given.shape != self.shape:
                raise ValueError("%s of shape %s, expected %s" % (what, given.shape, self.shape))
            if given is not None and given.dtype != kind:
                raise TypeError("%s of %s, expected %s" % (what, given.dtype, np.dtype(kind).name))
        if (weights is not None) != self._confidence:
            raise ValueError("confidence comes with every map of a writer made with it, and with none of others")
        to, to_confidence = self.map()
        np.copyto(to, values)
        if to_confidence is not None and weights is not None:
            np.copyto(to_confidence, weights)
        self.commit(frame, capture_ns=capture_ns)


def _fixed(px: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Converts floating point to 1/256 px. Returns other types unchanged."""
    if px.dtype.kind != "f":
        return px
    with np.errstate(invalid="ignore"):
        valid = np.isfinite(px) & (px > 0)
        return np.where(valid, np.clip(np.rint(np.where(valid, px, 0) * 256), 1, _LARGEST), 0).astype(np.uint16)
