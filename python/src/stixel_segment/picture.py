"""Draws the labels of an image over it, with a legend.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import colorsys
from typing import Any, Tuple

import cv2
import numpy as np

from .tables import Table

CITYSCAPES = {  # colours of Cityscapes, red, green, blue
    "road": (128, 64, 128), "sidewalk": (244, 35, 232), "building": (70, 70, 70), "wall": (102, 102, 156),
    "fence": (190, 153, 153), "pole": (153, 153, 153), "traffic-light": (250, 170, 30), "traffic-sign": (220, 220, 0),
    "vegetation": (107, 142, 35), "terrain": (152, 251, 152), "sky": (70, 130, 180), "person": (220, 20, 60),
    "rider": (255, 0, 0), "car": (0, 0, 142), "truck": (0, 0, 70), "bus": (0, 60, 100), "train": (0, 80, 100),
    "motorcycle": (0, 0, 230), "bicycle": (119, 11, 32),
}
GOLDEN = 0.618034
ENTRY = 138, 18  # width and height of an entry of the legend, px
LEAST = 0.5  # part of the probability under which a pixel has no label


def colour_of(name: str, number: int) -> Tuple[int, int, int]:
    """Returns the colour of a label as blue, green, red."""
    red, green, blue = CITYSCAPES.get(name) or tuple(
        round(255 * x) for x in colorsys.hsv_to_rgb(number * GOLDEN % 1, 0.7, 0.9))
    return blue, green, red


def draw(left: Any, scores: Any, table: Table) -> Any:
    """Returns the image, as OpenCV has it, with the colours of its labels and a legend of those that it has."""
    height, width = left.shape
    labels = np.where(scores.max(0) >= 255 * LEAST, scores.argmax(0), len(table.labels))
    colours = [colour_of(label.name, i) for i, label in enumerate(table.labels)]
    palette = np.array([*colours, (0, 0, 0)], np.uint8)
    large = cv2.resize(labels.astype(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST)
    base = cv2.merge([left] * 3)
    mixed = np.where((large == len(table.labels))[..., None], base, cv2.addWeighted(base, 0.5, palette[large], 0.5, 0))
    parts = np.bincount(labels.ravel(), minlength=len(table.labels))[:len(table.labels)] / labels.size
    seen = [i for i in np.argsort(-parts) if parts[i] > 0]
    columns = max(1, width // ENTRY[0])
    legend = np.full((ENTRY[1] * -(-len(seen) // columns), width, 3), 255, np.uint8)
    for place, i in enumerate(seen):
        x, y = place % columns * ENTRY[0], place // columns * ENTRY[1]
        cv2.rectangle(legend, (x + 3, y + 4), (x + 15, y + 14), colours[i], cv2.FILLED)
        cv2.putText(legend, "%s %.1f%%" % (table.labels[i].name[:15], 100 * parts[i]), (x + 19, y + 13),
                    cv2.FONT_HERSHEY_SIMPLEX, 0.33, (0, 0, 0), 1, cv2.LINE_AA)
    return np.vstack([mixed, legend])
