"""Gives matched images to a daemon: makes the writer of pairs that fits them, and a new one when they change.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import contextlib
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np

import stixel

from . import camera as cameras
from . import images
from .images import Picture, Unusable
from .match import LEFT, RIGHT

WAIT_S = 0.1  # longest wait for memory that the daemon does not use

COUNTS = stixel.PairCounts(0, 0, 0, 0, 0, 0, 0)


class _Format(NamedTuple):
    """Format and cameras of a writer. Other pairs need a new writer."""

    pixel: str
    width: int
    height: int
    geometry: cameras.Geometry


class Giver:
    """Gives pairs to an instance. One thread calls all methods; counts and why may be read by any."""

    def __init__(self, instance: str, name: str, options: Mapping[str, Any], say: Callable[[str], None], *,
                 clock: stixel.Clock = stixel.Clock.MONOTONIC, fps: float = 0) -> None:
        self.unusable = 0  #: pairs that could not become images, or whose calibration cannot be used
        self.given = 0  #: pairs that a daemon got
        self.why = ""  #: why no daemon takes pairs, or why the last pair was unusable
        self.counts = COUNTS  #: the writers' counters, all together
        self._instance, self._name, self._options, self._say = instance, name, options, say
        self._more: Dict[str, Any] = {"clock": clock, "fps": fps, "simulated": options["simulated"]}
        self._infos: List[Optional[cameras.Info]] = [None, None]
        self._writer: Optional[stixel.PairWriter] = None
        self._format: Optional[_Format] = None
        self._before = COUNTS  # counters of the writers before this one
        self._said = ""

    # -- calibration --
    def inform(self, side: int, message: Any) -> None:
        """Takes a CameraInfo of a side, for the pairs that follow."""
        self._infos[side] = cameras.info(message)

    def informed(self) -> bool:
        """Returns whether both cameras are known, or need not be."""
        return not self._options["calibration"] or None not in self._infos

    def _rectified(self) -> bool:
        wanted: str = self._options["rectified"]
        if wanted != "auto":
            return wanted == "yes"
        return all(any("rect" in word for word in topic.split("/")[-2:]) for topic in (
            self._options["left"], self._options["right"]))

    def _geometry(self, width: int, height: int) -> cameras.Geometry:
        if not self._options["calibration"]:
            return cameras.Geometry()
        for side, camera in enumerate(self._infos):
            if camera and camera.p[0] and (camera.width, camera.height) != (width, height):
                raise Unusable("the %s image has %dx%d px, but its CameraInfo is of %dx%d px" % (
                    ("left", "right")[side], width, height, camera.width, camera.height))
        return cameras.geometry(self._infos[LEFT], self._infos[RIGHT], self._rectified())

    # -- pairs --
    def prepare(self, left: Any, right: Any) -> None:
        """Makes the writer for these messages, Image or CompressedImage. It begins to connect. Raises Unusable."""
        self._fit((_picture("left", left), _picture("right", right)))

    def give(self, left: Any, right: Any, left_ns: int, right_ns: int) -> bool:
        """Gives two messages, Image or CompressedImage. False: they were dropped and counted."""
        try:
            pair = _picture("left", left), _picture("right", right)
            self._fit(pair)
        except Unusable as e:
            self.unusable += 1
            self._note(str(e))
            return False
        given = self._write(pair, left_ns, right_ns)
        self.given += given
        self.look()
        return given

    def _write(self, pair: Tuple[Picture, Picture], left_ns: int, right_ns: int) -> bool:
        assert self._writer
        try:
            with self._writer.pair(WAIT_S, left_ns, right_ns) as memory:
                for to, picture in zip(memory, pair):
                    np.copyto(to, picture.array)
        except TimeoutError:  # counted by the writer
            return False
        return memory.given

    def _fit(self, pair: Tuple[Picture, Picture]) -> None:
        """Makes a writer, unless the present writer fits. Raises Unusable."""
        left, right = pair
        if left[:3] != right[:3]:
            raise Unusable("the left image has %dx%d px in %s, the right one %dx%d px in %s" % (
                left.width, left.height, left.pixel, right.width, right.height, right.pixel))
        wanted = _Format(left.pixel, left.width, left.height, self._geometry(left.width, left.height))
        if wanted == self._format:
            return
        self.close()
        geometry = wanted.geometry
        try:
            self._writer = stixel.PairWriter(self._instance, left.width, left.height, left.pixel,
                                             camera=geometry.camera, raw=geometry.raw, name=self._name, **self._more)
        except ValueError as e:
            raise Unusable(str(e)) from None
        self._format = wanted
        self._say("%dx%d px in %s, %s" % (left.width, left.height, left.pixel, (
            "raw, with calibration" if geometry.raw else "rectified, with calibration") if geometry.camera else
            "without calibration: the daemon's configuration must have it"))
        with contextlib.suppress(stixel.StixelError, OSError):  # connect() or look() reports a refusal
            self._writer.connect(0)

    def connect(self, timeout: float) -> bool:
        """Waits until a daemon takes pairs. Raises StixelError if it refuses them. True also without a writer."""
        try:
            return self._writer is None or self._writer.connect(timeout)
        finally:
            self.look()

    def look(self) -> None:
        """Updates counts and why."""
        if self._writer is not None:
            self.counts = _sum(self._before, self._writer.counts)
            if self.counts.bad > self._before.bad and self._more["clock"] == stixel.Clock.REALTIME:
                self._say_once("the daemon refuses the times of pairs: are the stamps those of this machine's clock? "
                               "If not, say stamps = arrival")
            self._note(self._writer.why)

    def _note(self, why: str) -> None:
        """Keeps a reason, and logs it unless it is the last one that was logged."""
        self.why = why
        if why:
            self._say_once(why)

    def _say_once(self, text: str) -> None:
        if text != self._said:
            self._said = text
            self._say(text)

    def close(self) -> None:
        """Ends the connection to the daemon."""
        if self._writer is not None:
            self.look()
            self._before = self.counts
            self._writer.close()
        self._writer, self._format = None, None


def _picture(what: str, message: Any) -> Picture:
    try:
        return images.compressed(message) if hasattr(message, "format") else images.raw(message)
    except Unusable as e:
        raise Unusable("%s: %s" % (what, e)) from None


def _sum(a: stixel.PairCounts, b: stixel.PairCounts) -> stixel.PairCounts:
    return stixel.PairCounts(*(x + y for x, y in zip(a, b)))
