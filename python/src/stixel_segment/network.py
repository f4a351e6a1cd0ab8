"""From a left image to class scores: what surrounds the network.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

from typing import Any, Callable, Tuple

import numpy as np

from stixel._program import DATA, UNAVAILABLE, Fail

from . import backends
from .model import Model
from .tables import UNLABELLED

try:
    import cv2
except ImportError:
    raise Fail(UNAVAILABLE, "OpenCV cannot be imported: install it (Debian package python3-opencv; pip: "
               "opencv-python-headless)") from None

Array = Any  # np.ndarray has no parameters in NumPy 1.17
NORMALISED = 1e-3  # probabilities of a pixel have the sum 1, up to this


class BadOutput(Exception):
    """What the network gave for an image cannot be used. The next image may do."""


class Network:
    """A loaded network with its model file."""

    def __init__(self, model: Model, say: Callable[[str], None]) -> None:
        self.model = model
        self.back_end = backends.load(model, say)
        fixed, wanted = self.back_end.size, model.options["input"]
        if fixed and wanted and fixed != wanted:
            raise Fail(DATA, "%s: its input is %dx%d, but %s says input = %dx%d" % (
                model.path, *fixed, model.described_by or "the command line", *wanted))
        self._size = wanted or fixed
        self.output = model.options["output"]  #: what the output is; "auto" until the first image
        self.shape: Tuple[int, ...] = ()  #: of the output, for images of one size
        self._image: Tuple[int, ...] = ()  # rows and columns of these images
        count = len(model.table.labels)
        self._merge = np.zeros((count, len(model.table.classes)), np.float32)  # labels by classes
        for i, label in enumerate(model.table.label_of):
            if label != UNLABELLED:
                self._merge[label, i] = 1

    def input_size(self, width: int, height: int) -> Tuple[int, int]:
        """Returns the size of the network's input for images of this size."""
        step = self.model.options["multiple"]
        return self._size or (max(1, round(width / step)) * step, max(1, round(height / step)) * step)

    def _blob(self, left: Array) -> Array:
        height, width = left.shape
        size = self.input_size(width, height)
        shrinks = size[0] < width
        image = left if size == (width, height) else cv2.resize(
            left, size, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)
        scaled = image.astype(np.float32) * (self.model.options["white"] / 255)
        planes = [(scaled - mean) / std for mean, std in zip(self.model.per_channel("mean"),
                                                             self.model.per_channel("std"))]
        blob = np.stack(planes, -1 if self.back_end.channels_last else 0)[None]
        return blob.astype(self.back_end.dtype)

    def _planes(self, output: Array) -> Array:
        """Returns the output with its classes first, or a map of class numbers. Fail: it does not fit the table."""
        table, given = self.model.table, output.shape
        if output.ndim == 4 and given[0] == 1:
            output = output[0]
        if output.ndim == 3 and 1 in (output.shape[0], output.shape[2]):
            output = output[0] if output.shape[0] == 1 else output[..., 0]
        if output.ndim == 2 and self.output in ("auto", "classes"):
            self.output = "classes"
            return output
        if output.ndim != 3 or len(table.classes) not in (output.shape[0], output.shape[2]):
            raise Fail(DATA, "%s: its output has the shape %s, but table %s has %d classes" % (
                self.model.path, "x".join(map(str, given)), table.name, len(table.classes)))
        last = output.shape[0] != len(table.classes)
        return np.moveaxis(output, 2, 0) if last else output

    def _find_out(self, planes: Array) -> None:
        """Finds out whether the classes of a pixel have the sum 1."""
        sums = planes.sum(0, dtype=np.float64)
        probabilities = planes.min() >= 0 and abs(sums - 1).max() < NORMALISED
        self.output = "probabilities" if probabilities else "logits"

    def scores(self, left: Array) -> Array:
        """Returns the scores of a grey image: uint8, of labels x rows x columns.

        BadOutput: there are none for this image. Fail: the network does not fit its model file.
        """
        try:
            output = self.back_end.run(self._blob(left))
        except Exception as e:  # the classes of onnxruntime's errors are no public part of it
            size = self.input_size(*left.shape[::-1])
            raise Fail(DATA, "%s: it cannot be run with an input of %dx%d: %s" % (
                self.model.path, *size, backends.reason(e))) from None
        if self._image == left.shape and output.shape != self.shape:
            raise BadOutput("its output has the shape %s, before it had %s" % (
                "x".join(map(str, output.shape)), "x".join(map(str, self.shape))))
        planes = self._planes(output)
        step = self.model.options["scale"]
        size = -(-left.shape[1] // step), -(-left.shape[0] // step)
        if self.output == "classes":
            found = self._of_map(planes, size)
        else:
            if self.output == "auto" and np.isfinite(planes).all():
                self._find_out(planes)
            found = self._of_planes(planes.astype(np.float32, copy=False), size)
        self.shape, self._image = output.shape, left.shape
        return found

    def _of_planes(self, planes: Array, size: Tuple[int, int]) -> Array:
        area = planes.shape[2] > size[0]
        small = np.stack([cv2.resize(plane, size, interpolation=cv2.INTER_AREA if area else cv2.INTER_LINEAR)
                          for plane in planes])
        if self.output != "probabilities":
            small = np.exp(small - small.max(0))
            small /= small.sum(0)
        if not np.isfinite(small).all():
            raise BadOutput("its output has values that are no numbers (NaN)")
        merged = np.tensordot(self._merge, small, 1)
        return np.clip(np.rint(merged * 255), 0, 255).astype(np.uint8)

    def _of_map(self, classes: Array, size: Tuple[int, int]) -> Array:
        table = self.model.table
        if not np.isfinite(classes).all():
            raise BadOutput("its output has values that are no numbers (NaN)")
        numbers = classes.astype(np.int64)
        if numbers.min() < 0 or (numbers[numbers != 255] >= len(table.classes)).any():
            raise BadOutput("its output has class %d, table %s has 0 to %d" % (
                numbers.max(), table.name, len(table.classes) - 1))
        labels = np.array([*table.label_of, UNLABELLED])[np.minimum(numbers, len(table.classes))]
        return np.stack([cv2.resize((labels == i).astype(np.uint8) * 255, size, interpolation=cv2.INTER_AREA)
                         for i in range(len(table.labels))])
