"""Combines several instances into one rig: frames captured together, in the vehicle's frame (base_link of REP 105).

What a camera sees is placed by the mounting of its instance (x_m, y_m, yaw_deg). All cameras stand on one plane, the
road. Frames belong together by their capture times on this machine's clock. They are not corrected for the vehicle's
motion between captures; window_ms bounds that error.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Sequence, Tuple

import numpy as np

import stixel

from .sink import Instance, Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .runner import Runner

    Floats = NDArray[np.float64]

STEP_LEAST = math.radians(0.5)  # least angular step of a rig's scan
SAMPLES = 24  # points along a ray at which visibility is tested
ALIVE_S = 1.0  # a camera without a frame for this time is not waited for
_PART_SHIFT = 24  # id of a point: the instance above this bit, the stixel below


class Part(NamedTuple):
    """A frame of a rig, and the place of its camera."""

    instance: Instance
    frame: stixel.Frame

    def place(self) -> Tuple[float, float, float]:
        """Returns x, y (m) and yaw (rad) of the camera in the vehicle's frame."""
        o = self.instance.options
        return float(o["x_m"]), float(o["y_m"]), math.radians(o["yaw_deg"])

    def to_base(self, x: Any, y: Any) -> Tuple[Any, Any]:
        """Converts coordinates on the road relative to this camera to vehicle coordinates, m."""
        at_x, at_y, yaw = self.place()
        c, s = math.cos(yaw), math.sin(yaw)
        return at_x + c * x - s * y, at_y + s * x + c * y

    def from_base(self, x: Any, y: Any) -> Tuple[Any, Any]:
        """Converts vehicle coordinates to coordinates on the road relative to this camera, m."""
        at_x, at_y, yaw = self.place()
        c, s = math.cos(yaw), math.sin(yaw)
        return c * (x - at_x) + s * (y - at_y), -s * (x - at_x) + c * (y - at_y)


def _ends(part: Part, scan: stixel.Scan) -> Tuple[Floats, Floats, Floats, Floats]:
    """Returns both ends of the obstacle that each ray of a camera hit, seen from the vehicle: angles and ranges.

    An obstacle nearer than range_min is placed at range_min, since it is at most that far away.
    """
    met = np.flatnonzero(np.isfinite(scan.ranges) | np.isneginf(scan.ranges))
    ranges = np.maximum(scan.ranges[met].astype(float), scan.range_min)
    found: List[Floats] = []
    for side in (-0.5, 0.5):
        angles = scan.angle_min + (met + side) * scan.angle_increment
        x, y = part.to_base(ranges * np.cos(angles), ranges * np.sin(angles))
        found += [np.arctan2(y, x), np.hypot(x, y)]
    return found[0], found[1], found[2], found[3]


def _nearest(ranges: Floats, step: float, ends: Tuple[Floats, Floats, Floats, Floats]) -> None:
    """Enters each obstacle into all rays that it covers.

    Each ray gets the nearer end, so that no obstacle is left out.
    """
    first, near, second, far = ends
    turn = np.remainder(second - first + np.pi, 2 * np.pi) - np.pi  # the shorter turn
    start = np.where(turn >= 0, first, second)
    count = np.ceil(np.abs(turn) / step).astype(int) + 1
    index = np.repeat(np.floor((start + np.pi) / step + 0.5).astype(int), count)
    index = (index + np.arange(len(index)) - np.repeat(np.cumsum(count) - count, count)) % len(ranges)
    np.minimum.at(ranges, index, np.repeat(np.minimum(near, far), count))


def _sees(part: Part, scan: stixel.Scan, x: Floats, y: Floats) -> Tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Returns whether this camera saw each point free, and whether it lies in the blind zone before free space."""
    px, py = part.from_base(x, y)
    index = np.rint((np.arctan2(py, px) - scan.angle_min) / scan.angle_increment).astype(int)
    inside = (index >= 0) & (index < len(scan.ranges))
    index = np.clip(index, 0, len(scan.ranges) - 1)
    reach, begin = scan.ranges[index], scan.begins[index]
    distance = np.hypot(px, py)
    with np.errstate(invalid="ignore"):
        # nan and -inf compare false; a ray whose begin is its end was not seen at all
        free = inside & (distance <= scan.range_max) & (reach > distance) & (begin < reach)
        return free & (distance >= begin), free & (distance < begin)


def _nearest_ground(part: Part, scan: stixel.Scan) -> float:
    """Returns the distance from the vehicle's origin to the nearest ground that this camera saw, m."""
    with np.errstate(invalid="ignore"):
        seen = scan.begins < scan.ranges
    x, y = part.to_base(scan.begins[seen] * np.cos(scan.angles[seen]), scan.begins[seen] * np.sin(scan.angles[seen]))
    return float(np.hypot(x, y).min(initial=np.inf))


class RigFrame:
    """Frames that were captured together."""

    def __init__(self, parts: Sequence[Part], missing: Sequence[str], unseen_m: float) -> None:
        self.parts = list(parts)
        self._order = sorted({part.instance.name for part in parts} | set(missing))
        self._unseen_m = unseen_m
        self.missing = list(missing)  #: instances of the rig without a frame here
        first = min(self.parts, key=lambda part: part.frame.captured_ns).frame
        self.number = max(part.frame.number for part in self.parts)
        self.captured_ns = first.captured_ns  #: capture time of the oldest image
        h = first.header
        #: captured_ns on the wall clock, ns since 1970
        self.stamp_ns = self.captured_ns - int(h["anchor_monotonic_ns"]) + int(h["anchor_realtime_ns"])

    def scan(self, **options: Any) -> stixel.Scan:
        """Returns one scan around the vehicle, from -pi on. Takes the options of Frame.scan() without the angles.

        A ray that hit nothing is inf if cameras saw all of it beyond unseen_m free, apart from the blind zone of a
        camera before its first ground. Otherwise it is nan. A number is the distance of the nearest hit; the space
        before it need not have been seen completely. Each ray that an obstacle covers gets the obstacle's nearer end.
        The rays end where the shortest ray of a camera ends. range_min is the distance of the nearest visible ground,
        or of a nearer obstacle.
        """
        pairs = [(part, part.frame.scan(**options)) for part in self.parts
                 if part.frame.camera.known and part.frame.road.known]
        pairs = [(part, scan) for part, scan in pairs if len(scan.ranges)]
        count = round(2 * math.pi / max(STEP_LEAST, min([scan.angle_increment for _, scan in pairs] or [STEP_LEAST])))
        step = 2 * math.pi / count
        ranges = np.full(count, np.inf)
        reach = min([scan.range_max - math.hypot(*part.place()[:2]) for part, scan in pairs] or [0.0])
        for part, scan in pairs:
            _nearest(ranges, step, _ends(part, scan))
        ranges[ranges > reach] = np.inf
        free = np.isinf(ranges)
        begins = ranges.copy()
        begins[free] = self._begins(pairs, np.flatnonzero(free) * step - np.pi, reach)
        ranges[free] = np.where(np.isnan(begins[free]), np.nan, np.inf)
        reach = max(reach, 0.0)
        least = min([ranges.min(initial=reach, where=np.isfinite(ranges))]
                    + [_nearest_ground(part, scan) for part, scan in pairs])
        return stixel.Scan(ranges.astype(np.float32), -math.pi, step, float(least), reach, begins.astype(np.float32))

    def _begins(self, pairs: Sequence[Tuple[Part, stixel.Scan]], angles: Floats, reach: float) -> Floats:
        """Returns from where on the rays at these angles were seen free to their end, m; nan: they were not."""
        distances = np.linspace(min(self._unseen_m, reach / 2), reach * (1 - 1e-6), SAMPLES)
        x, y = np.outer(np.cos(angles), distances), np.outer(np.sin(angles), distances)
        seen, blind = np.zeros(x.shape, bool), np.zeros(x.shape, bool)
        for part, scan in pairs if reach > 0 else ():
            both = _sees(part, scan, x, y)
            seen |= both[0]
            blind |= both[1]
        before = ~np.logical_or.accumulate(seen, 1)
        free = (seen | (blind & before)).all(1) & seen.any(1)
        return np.where(free, distances[seen.argmax(1)], np.nan)

    def _points(self, which: str, options: Dict[str, Any]) -> NDArray[Any]:
        found = []
        for part in self.parts:
            at = self._order.index(part.instance.name)
            points = getattr(part.frame, which)("vehicle", **options).copy()
            points["x"], points["y"] = part.to_base(points["x"].astype(float), points["y"].astype(float))
            points["id"] |= np.uint32(at << _PART_SHIFT)
            found.append(points)
        return np.concatenate(found)

    def obstacle_points(self, **options: Any) -> NDArray[Any]:
        """Returns Frame.obstacle_points() of all instances, one instance after the other.

        id: 2^24 * N + the stixel, where N is the position of the instance in the sorted names of the rig. N does not
        depend on missing instances.
        """
        return self._points("obstacle_points", options)

    def ground_points(self, **options: Any) -> NDArray[Any]:
        """Returns Frame.ground_points() of all instances; ids are as in obstacle_points()."""
        return self._points("ground_points", options)


class Rig:
    """Combines frames of its instances and passes them to the runners. The instances' threads call put()."""

    def __init__(self, instance: Instance, members: Sequence[Instance], runners: Sequence[Runner]) -> None:
        self.instance = instance  #: options: RIG of config.py
        self.together = 0  #: rig frames with all members
        self.partial = 0  #: rig frames without some members
        self.late = 0  #: frames of instances that came after their rig frame, or whose companions never came
        self.missing: Dict[str, int] = {member.name: 0 for member in members}  #: rig frames without this instance
        self._members = {member.name for member in members}
        self._window_ns = int(instance.options["window_ms"] * 1e6)
        self._runners = list(runners)
        self._lock = threading.Lock()
        self._waiting: Dict[str, Work] = {}
        self._heard: Dict[str, float] = {}

    def has(self, name: str) -> bool:
        """Returns whether an instance belongs to the rig."""
        return name in self._members

    def _give(self) -> None:
        missing = sorted(self._members - set(self._waiting))
        parts = [Part(work.instance, work.frame) for _, work in sorted(self._waiting.items())]
        self.together += not missing
        self.partial += bool(missing)
        for name in missing:
            self.missing[name] += 1
        frame: Any = RigFrame(parts, missing, self.instance.options["unseen_m"])
        made = Work(self.instance, frame, time.monotonic_ns())
        self._waiting.clear()
        for runner in self._runners:
            runner.put(made)

    def put(self, work: Work) -> None:
        """Takes a frame of one of its instances."""
        with self._lock:
            name, now = work.instance.name, time.monotonic()
            self._heard[name] = now
            for other in [n for n, w in self._waiting.items() if work.taken_ns - w.taken_ns > ALIVE_S * 1e9]:
                del self._waiting[other]  # too old: no further camera of the rig has sent a frame that belongs to it
                self.late += 1
            times = [other.frame.captured_ns for other in self._waiting.values()]
            if times and (name in self._waiting or work.frame.captured_ns - min(times) > self._window_ns):
                self._give()  # sends the rig frame without the missing frames
            elif times and max(times) - work.frame.captured_ns > self._window_ns:
                self.late += 1  # the rig frame of this frame has been sent already
                return
            self._waiting[name] = work
            alive = {member for member, heard in self._heard.items() if now - heard < ALIVE_S}
            if alive <= set(self._waiting):
                self._give()
