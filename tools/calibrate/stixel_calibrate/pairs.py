"""Sources of raw pairs: a running instance of stixeld, or image files.

SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import time

import cv2
import numpy as np

from .fail import CONFIG, DATA, NOTHING, UNAVAILABLE, USAGE, Fail, missing_module

FRAME_S = 10.0  # how long to wait for a frame, s
IMAGES_S = 5.0  # s from the last frame with images until missing images count as an error


class Pair:
    """A pair of grey images. captured_ns: capture time of the left image. apart_s: time between both captures. Both
    are 0 for files."""

    def __init__(self, name, left, right, captured_ns=0, apart_s=0.0):
        self.name, self.left, self.right = name, left, right
        self.captured_ns, self.apart_s = captured_ns, apart_s


def _read(path):
    image = cv2.imread(path, cv2.IMREAD_GRAYSCALE)
    if image is None:
        why = "no image that OpenCV can read" if os.access(path, os.R_OK) else "cannot be read"
        raise Fail(DATA, "%s: %s" % (path, why))
    return image


def files(left, right):
    """Yields pairs of the files that match two patterns. Raises Fail at the first pair that does not fit."""
    paths = []
    for option, pattern in (("left", left), ("right", right)):
        found = sorted(p for p in glob.glob(os.path.expanduser(pattern)) if os.path.isfile(p))
        if not found:
            raise Fail(DATA, "--%s %s: no such file" % (option, pattern))
        paths.append(found)
    if len(paths[0]) != len(paths[1]):
        raise Fail(DATA, "%d left and %d right images: each pair needs both" % (len(paths[0]), len(paths[1])))
    size = None
    for l, r in zip(*paths):
        pair = Pair(os.path.basename(l), _read(l), _read(r))
        size = size or pair.left.shape
        for path, image in ((l, pair.left), (r, pair.right)):
            if image.shape != size:
                raise Fail(DATA, "%s is %dx%d, %s %dx%d: all images must have one size" % (
                    path, *image.shape[::-1], paths[0][0], *size[::-1]))
        yield pair


def how_to(instance):
    """Returns the advice how to start the instance so that it publishes raw pairs."""
    return ("start it with: stixeld -i %s -s camera.calibration= -s camera.fx=0 -s camera.fy=0 -s camera.baseline_m=0 "
            "-s camera.rectify=no -s output.planes=pair" % instance)


def how_to_raw(instance):
    """Returns the advice how a rectifying instance publishes raw pairs. With the calibration it rectifies again."""
    return ("turn that off with: stixelctl -i %s set camera.rectify=no (and camera.row_correction=off, where it is "
            "auto)" % instance)


def _frames(stixel, reader, instance):
    while True:
        try:
            frame = reader.latest(FRAME_S)
        except stixel.Damaged:
            continue
        if frame is None:
            state = reader.status().state.name.lower()
            raise Fail(NOTHING, "instance '%s': no frame for %g s (%s)" % (instance, FRAME_S, state))
        yield frame


def live(instance):
    """Yields pairs of an instance without end. Pairs that arrive while the caller works are skipped."""
    try:
        import stixel
    except ImportError as e:
        raise missing_module(e) from None
    try:
        with stixel.open(instance, images=["left", "right"]) as reader:
            begin, images = time.monotonic(), False
            for frame in _frames(stixel, reader, instance):
                if frame.flags & stixel.FrameFlag.RECTIFIED:
                    raise Fail(CONFIG, "instance '%s' rectifies its images: %s" % (instance, how_to_raw(instance)))
                if frame.left is None or frame.right is None:
                    if time.monotonic() - begin > IMAGES_S:
                        what = "stops to publish both images" if images else "does not publish both images"
                        raise Fail(CONFIG, "instance '%s' %s: %s" % (instance, what, how_to(instance)))
                    continue
                begin, images = time.monotonic(), True
                left, right = np.ascontiguousarray(frame.left), np.ascontiguousarray(frame.right)
                apart_s = abs(frame.capture_right_ns - frame.capture_left_ns) / 1e9
                yield Pair("frame %d" % frame.number, left, right, frame.capture_left_ns, apart_s)
    except stixel.BadName as e:
        raise Fail(USAGE, str(e)) from None
    except stixel.LibraryError as e:
        raise Fail(UNAVAILABLE, str(e)) from None
    except stixel.NotConnected:
        raise Fail(CONFIG, "instance '%s' has no frames.sock, by which images are asked for: output.stream = yes"
                   % instance) from None
    except stixel.StixelError as e:
        raise Fail(NOTHING, str(e)) from None
