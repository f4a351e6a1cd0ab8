"""Draws the labels of an image over it, with a legend.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from stixel import class_colour

from .tables import Table

ENTRY = 138, 18  # width and height of an entry of the legend, px
LEAST = 0.5  # part of the probability under which a pixel has no label


def draw(left: Any, scores: Any, table: Table) -> Any:
    """Returns the image, as OpenCV has it, with the colours of its labels and a legend of those that it has."""
    height, width = left.shape
    labels = np.where(scores.max(0) >= 255 * LEAST, scores.argmax(0), len(table.labels))
    colours = [class_colour(label.name, i)[::-1] for i, label in enumerate(table.labels)]  # blue, green, red
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
