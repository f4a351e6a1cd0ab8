"""Writes class scores of a segmentation network for stixeld to shared memory.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
from typing import Any, Optional, Tuple

import numpy as np

from ._frame import Frame
from ._layout import CLASSES_MAX, CScoresFormat, CScoresPlanes
from ._library import library
from ._writer import Writer, number_in, slots_of

SCALE_MAX = 32


class ScoreWriter(Writer):
    """Writes scores for the daemons whose semantics.source is this name. Creates the ring and removes it.

        with stixel.open("front", images=["left"]) as reader, \\
                stixel.ScoreWriter("front", classes=19, size=(1280, 720), scale=4) as writer:
            for frame in reader:
                if frame.left is not None:
                    writer.write(network(frame.left), frame)

    classes: number of score planes, in the order of semantics.classes. size: width and height of the left image, px.
    scale: image pixels per score, in both directions. Scores have the shape (classes, ceil(height / scale),
    ceil(width / scale)), which is writer.shape.

    One thread at a time may use a writer. No reader can delay it.
    """

    _place = "planes"

    def __init__(self, name: str, classes: int, size: Tuple[int, int], scale: int = 4, slots: int = 0,
                 folder: Optional[str] = None) -> None:
        width, height = size
        layout = CScoresFormat(number_in("classes", classes, 1, CLASSES_MAX), number_in("width", width, 1, 16384),
                               number_in("height", height, 1, 16384), number_in("scale", scale, 1, SCALE_MAX),
                               slots_of(slots), 0, folder.encode() if folder else None)
        super().__init__("scores", name, layout)
        self.shape = (layout.classes, -(-layout.image_height // layout.scale), -(-layout.image_width // layout.scale))

    def planes(self) -> "np.ndarray[Any, Any]":
        """Returns the memory of the next scores: uint8 of the writer's shape, in shared memory, with old content.

        Fill all of it, then call commit(). Raises Restarted when another writer took the name.
        """
        planes = CScoresPlanes()
        self._begin(planes)
        return self._view(planes.data, "|u1", (planes.classes, planes.height, planes.width),
                          (planes.plane_bytes, planes.pitch, 1))

    def write(self, scores: Any, frame: Optional[Frame] = None, *, capture_ns: Optional[int] = None) -> None:
        """Writes scores: calls planes(), copies once, and calls commit().

        scores: an array of the writer's shape, uint8 (1/255), or floating point 0..1, which is rounded. Convert a label
        map (class numbers) with one_hot() first.
        """
        given = np.asarray(scores)
        if given.shape != self.shape:
            raise ValueError("scores of shape %s, expected %s" % (given.shape, self.shape))
        if given.dtype.kind == "f":
            if not (np.min(given) >= 0 and np.max(given) <= 1):
                raise ValueError("scores from %g to %g, expected 0 to 1" % (np.min(given), np.max(given)))
            given = np.rint(given * 255)
        elif given.dtype != np.uint8:
            raise TypeError("scores of %s, expected uint8 or floating point" % given.dtype)
        self._one_of(frame, capture_ns)
        np.copyto(self.planes(), given, casting="unsafe")
        self.commit(frame, capture_ns=capture_ns)


def one_hot(labels: Any, classes: int) -> "np.ndarray[Any, Any]":
    """Converts class numbers to scores: 255 in the plane of a pixel's class. Unknown pixels (255) have only 0."""
    given = np.asarray(labels)
    if given.ndim != 2 or given.dtype.kind not in "iu":
        raise TypeError("labels: expected whole numbers in two dimensions, not %s in %d" % (given.dtype, given.ndim))
    wrong = (given != 255) & ((given < 0) | (given >= classes))
    if wrong.any():
        raise ValueError("labels: class %d, allowed 0 to %d and 255" % (given[wrong][0], classes - 1))
    return np.where(given[None] == np.arange(classes)[:, None, None], np.uint8(255), np.uint8(0))


def class_colour(name: Optional[str], label: int) -> Tuple[int, int, int]:
    """Returns the colour of a semantic class in all pictures of stixeld, red, green, blue. name: None: unknown."""
    rgb = (ctypes.c_uint8 * 3)()
    library().class_colour(name.encode() if name else None, label, rgb)
    return rgb[0], rgb[1], rgb[2]
