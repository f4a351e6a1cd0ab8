"""Writes pairs, and the calibration that stixeld reads.

SPDX-License-Identifier: Apache-2.0
"""
import os

import cv2
import numpy as np

from .files import refuse, write
from .lens import COEFFICIENTS, Rig

MODELS = {"plumb_bob": "plumb_bob", "rational": "rational_polynomial", "equidistant": "equidistant"}


def save_pair(folder, number, pair):
    """Writes left_0001.png and right_0001.png to the folder."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as e:
        refuse(folder, e)
    for side, image in (("left", pair.left), ("right", pair.right)):
        write(os.path.join(folder, "%s_%04d.png" % (side, number)), cv2.imencode(".png", image)[1].tobytes())


def _matrix(name, m):
    m = np.atleast_2d(m)
    numbers = ", ".join("%.12g" % v for v in m.ravel())
    return "%s: !!opencv-matrix\n   rows: %d\n   cols: %d\n   dt: d\n   data: [ %s ]\n" % (name, *m.shape, numbers)


def calibration(rig, comments):
    """Returns the OpenCV YAML of a rig. comments: its comment lines."""
    text = "%YAML:1.0\n---\n" + "".join("# %s\n" % " ".join(line.split()) for line in comments)
    text += "image_width: %d\nimage_height: %d\n" % rig.size
    text += "distortion_model: %s\n" % MODELS[rig.lens]
    for i in (0, 1):
        text += _matrix("K%d" % (i + 1), rig.k[i]) + _matrix("D%d" % (i + 1), rig.d[i])
    return (text + _matrix("R", rig.r) + _matrix("T", rig.t.reshape(3, 1))).encode()


def earlier(path, size):
    """Reads a file that calibration() wrote for images of this size. Returns its Rig, or None."""
    if not os.path.isfile(path):
        return None
    try:
        f = cv2.FileStorage(path, cv2.FILE_STORAGE_READ)
        word = f.getNode("distortion_model").string()
        lens = next((k for k, v in MODELS.items() if v == word), None)
        k1, d1, k2, d2, r, t = (f.getNode(n).mat() for n in ("K1", "D1", "K2", "D2", "R", "T"))
        f.release()
        if lens is None or (f_size(path) != size) or any(m is None for m in (k1, d1, k2, d2, r, t)):
            return None
        if any(np.size(d) < COEFFICIENTS[lens] for d in (d1, d2)):
            return None
        return Rig(lens, size, (k1, k2), (d1, d2), r, t)
    except (cv2.error, SystemError):  # not YAML, so another program wrote the file and it is ignored
        return None


def f_size(path):
    """Returns (width, height) according to the file."""
    f = cv2.FileStorage(path, cv2.FILE_STORAGE_READ)
    size = int(f.getNode("image_width").real()), int(f.getNode("image_height").real())
    f.release()
    return size
