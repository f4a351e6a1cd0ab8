"""Images of ROS as arrays with the pixels of stixel.PairWriter: sensor_msgs/Image without a copy, and CompressedImage.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Dict, NamedTuple, Tuple

import numpy as np

from stixel._disparity import HEIGHT_MAX, WIDTH_MAX

try:
    from PIL import Image as Pillow
    HAS_PILLOW = True
except ImportError:  # compressed images are then refused
    HAS_PILLOW = False

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Unusable(Exception):
    """A message cannot become an image or a calibration. Carries one sentence without the topic's name."""


class Picture(NamedTuple):
    """An image for a writer of pairs."""

    pixel: str  #: pixels by the name in stixel.PairWriter
    width: int
    height: int
    array: NDArray[Any]  #: shape of the writer's array; may be a view of the message


class _Encoding(NamedTuple):
    pixel: str  #: name in stixel.PairWriter
    item: int  #: size of a value, bytes
    channels: int  #: number of values of a pixel in the message
    part: slice = slice(None)  #: values of a pixel that the writer takes


_ALL = slice(None)
_RGBA, _BGR, _BGRA = slice(0, 3), slice(None, None, -1), slice(2, None, -1)
# Names of sensor_msgs/image_encodings. 8UC3 and 8UC4 are OpenCV's, in its order. yuv422 is UYVY.
ENCODINGS: Dict[str, _Encoding] = {
    **dict.fromkeys(("mono8", "8UC1"), _Encoding("grey8", 1, 1)),
    **dict.fromkeys(("mono16", "16UC1"), _Encoding("grey16", 2, 1)),
    "rgb8": _Encoding("rgb24", 1, 3), "rgba8": _Encoding("rgb24", 1, 4, _RGBA),
    **dict.fromkeys(("bgr8", "8UC3"), _Encoding("rgb24", 1, 3, _BGR)),
    **dict.fromkeys(("bgra8", "8UC4"), _Encoding("rgb24", 1, 4, _BGRA)),
    **dict.fromkeys(("yuv422", "uyvy"), _Encoding("uyvy", 1, 2)),
    **dict.fromkeys(("yuv422_yuy2", "yuyv"), _Encoding("yuyv", 1, 2)),
    **dict.fromkeys(("nv12", "nv21", "nv24"), _Encoding("nv12", 1, 1)),  # only the plane of Y is read
    **{"bayer_%s%d" % (order, 8 * item): _Encoding("%s%d" % (order, 8 * item), item, 1)
       for order in ("rggb", "grbg", "gbrg", "bggr") for item in (1, 2)},
}


def raw(message: Any) -> Picture:
    """Returns the image of a sensor_msgs/Image, as a view of its data. Raises Unusable."""
    found = ENCODINGS.get(message.encoding)
    if found is None:
        raise Unusable("images of encoding '%s' cannot be used; those of %s can" % (
            str(message.encoding)[:40], ", ".join(ENCODINGS)))
    width, height, step = int(message.width), int(message.height), int(message.step)
    _check_size(width, height)
    row = width * found.channels * found.item
    data = np.asarray(message.data, np.uint8)
    if step < row or data.size < step * (height - 1) + row:
        raise Unusable("an image of %dx%d px in %s has %d bytes in rows of %d: too few" % (
            width, height, message.encoding, data.size, step))
    shape: Tuple[int, ...] = (height, width)
    strides: Tuple[int, ...] = (step, found.channels * found.item)
    if found.channels > 1:
        shape, strides = (*shape, found.channels), (*strides, found.item)
    kind = np.dtype("u1" if found.item == 1 else ">u2" if message.is_bigendian else "<u2")
    whole: NDArray[Any] = np.ndarray(shape, kind, data, 0, strides)
    return Picture(found.pixel, width, height, whole if found.part == _ALL else whole[:, :, found.part])


def compressed(message: Any) -> Picture:
    """Decodes a sensor_msgs/CompressedImage, JPEG or PNG, to grey; a Bayer pattern, to its values.

    Decodes only the brightness of a JPEG image. Raises Unusable.
    """
    if not HAS_PILLOW:
        raise Unusable("compressed images need Pillow, which cannot be imported (Debian package python3-pil)")
    form = str(message.format)
    if "compressedDepth" in form:
        raise Unusable("compressed depth images cannot be used")
    try:
        with Pillow.open(io.BytesIO(np.asarray(message.data, np.uint8).tobytes()), formats=("JPEG", "PNG")) as image:
            width, height = image.size
            _check_size(width, height)
            image.draft("L", image.size)  # JPEG: decodes no colours
            wide = image.mode.startswith("I")
            array: NDArray[Any] = np.asarray(image if wide else image.convert("L"))
    except Unusable:
        raise
    except Exception as e:  # Pillow has errors of many types
        raise Unusable("a compressed image of format '%s' cannot be decoded: %s" % (form[:60], e)) from None
    if wide:
        array = array.astype(np.uint16)
    return Picture(_pixel_of_format(form, wide), width, height, array)


def _pixel_of_format(form: str, wide: bool) -> str:
    """Returns the pixels of a decoded image. First argument: "ENCODING; png compressed [ENCODING]" or "png"."""
    original, _, how = form.partition(";")
    found = ENCODINGS.get(original.strip())
    if found is not None and original.startswith("bayer_") and "png" in how and not how.split("compressed")[-1].strip():
        if (found.item == 2) == wide:
            return found.pixel
    return "grey16" if wide else "grey8"


def _check_size(width: int, height: int) -> None:
    if not (0 < width <= WIDTH_MAX and 0 < height <= HEIGHT_MAX):
        raise Unusable("an image of %dx%d px cannot be used: up to %dx%d px" % (width, height, WIDTH_MAX, HEIGHT_MAX))
