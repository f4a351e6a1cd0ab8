"""A frame: what one pair of pictures became.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import datetime
import math
import time
from typing import TYPE_CHECKING, Any, Dict, NamedTuple, Optional, Tuple, Union

import numpy as np

from ._check import check
from ._convert import Scan, free_of, points_of, scan_of
from ._geometry import Camera, Road, disparity_cloud, stixel_disparity, stixel_quads
from ._layout import (IMAGE_DISPARITY_INVALID, IMAGE_DISPARITY_PER_PX, STIXEL, Clock, FrameFlag, Free, Plane, PointsOf,
                      RoadOrigin, Stamp, header_of)

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import NDArray

    from ._geometry import Floats

    Coordinates = Literal["camera", "vehicle"]
    BytesLike = Union[bytes, bytearray, memoryview, NDArray[Any]]


_NO_STIXEL = 0xFFFFFFFF


class Counts(NamedTuple):
    """What the publisher has counted since it started."""

    captured: int  #: pairs
    published: int  #: frames
    dropped_overload: int  #: pairs replaced by newer ones because the engine was busy
    dropped_unpaired: int
    dropped_corrupt: int


class Frame:
    """One frame. It owns its memory and never changes: keep it, give it to other threads, pickle it.

    Arrays are views into that memory, read-only; copy() one to change it. Times are nanoseconds of CLOCK_MONOTONIC
    of the publisher's machine (time.monotonic_ns() there) unless they say otherwise.
    """

    __slots__ = ("_data", "_missed", "_header", "_offset_ns")

    def __init__(self, data: bytes, missed: int = 0, offset_ns: Optional[int] = 0) -> None:
        """data: a frame that has been checked. Use stixel.load() for others."""
        self._data = data
        self._missed = missed
        self._offset_ns = offset_ns
        self._header = header_of(data)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Frame, (self._data, self._missed, self._offset_ns)

    def __repr__(self) -> str:
        h = self._header
        return "<stixel.Frame %d of epoch %016x: %d stixels in %d columns, image %dx%d>" % (
            h["number"], h["epoch"], h["stixel_count"], h["columns"], h["image_width"], h["image_height"])

    @property
    def raw(self) -> bytes:
        """The whole frame as it was published, fit for a recording and for stixel.load()."""
        return self._data

    @property
    def header(self) -> Any:
        """All fields of the header by their names in <stixel.h>: frame.header["fx"]."""
        return self._header

    # -- which one --
    @property
    def number(self) -> int:
        """From 1 in each epoch, without gaps."""
        return int(self._header["number"])

    @property
    def epoch(self) -> int:
        """One life of the publisher; (epoch, number) names a frame for ever."""
        return int(self._header["epoch"])

    @property
    def missed(self) -> int:
        """Frames that its reader did not get between the one before and this one."""
        return self._missed

    @property
    def flags(self) -> FrameFlag:
        """What was left out of a packet of frames.sock; whether class scores were there, and images rectified."""
        return FrameFlag(int(self._header["flags"]) & sum(FrameFlag))

    @property
    def counts(self) -> Counts:
        """What the publisher has counted since it started."""
        return Counts(*(int(self._header[name]) for name in Counts._fields))

    # -- when --
    @property
    def capture_left_ns(self) -> int:
        """When the left picture was taken."""
        return int(self._header["capture_left_ns"])

    @property
    def capture_right_ns(self) -> int:
        """When the right picture was taken."""
        return int(self._header["capture_right_ns"])

    @property
    def scores_ns(self) -> Optional[int]:
        """When the picture was taken that its class scores are of; None without scores."""
        return int(self._header["scores_ns"]) if self.flags & FrameFlag.SCORES else None

    @property
    def captured_ns(self) -> int:
        """When the older of both pictures was taken."""
        return min(self.capture_left_ns, self.capture_right_ns)

    @property
    def submitted_ns(self) -> int:
        """When it was handed to the engine."""
        return int(self._header["submitted_ns"])

    @property
    def published_ns(self) -> int:
        """When it was complete, on its way to the readers."""
        return int(self._header["published_ns"])

    @property
    def captured_at(self) -> datetime.datetime:
        """When the older of both pictures was taken, by the wall clock of the publisher's machine (UTC, to the us)."""
        return self.wall_time(self.captured_ns)

    @property
    def published_at(self) -> datetime.datetime:
        """When it was published, by the wall clock of the publisher's machine (UTC, to the us)."""
        return self.wall_time(self.published_ns)

    def wall_time(self, monotonic_ns: int) -> datetime.datetime:
        """A time of this frame by the wall clock, UTC."""
        ns = monotonic_ns - int(self._header["anchor_monotonic_ns"]) + int(self._header["anchor_realtime_ns"])
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return epoch + datetime.timedelta(microseconds=ns // 1000)

    @property
    def clock_offset_ns(self) -> Optional[int]:
        """CLOCK_MONOTONIC of the publisher's machine less that of the reader's when it was read: its times minus this
        are times of the reader's machine. 0 for frames of one's own machine and of recordings; None: not known.
        """
        return self._offset_ns

    def age(self) -> float:
        """Seconds from the older picture until now, on the machine that read it; nan: clock_offset_ns is not known.

        Not for recordings, nor for frames from before the machine was started.
        """
        if self._offset_ns is None:
            return math.nan
        return (time.monotonic_ns() + self._offset_ns - self.captured_ns) / 1e9

    @property
    def latency(self) -> float:
        """Seconds from the older picture to publication."""
        return (self.published_ns - self.captured_ns) / 1e9

    @property
    def clock(self) -> Clock:
        """What the camera stamped with, before conversion."""
        return Clock(int(self._header["clock"]))

    @property
    def stamp(self) -> Stamp:
        """What the capture times stand for."""
        return Stamp(int(self._header["stamp"]))

    @property
    def stages(self) -> Dict[str, int]:
        """Duration of each stage in their order, ns; 0: did not run."""
        h = self._header
        names, ns = h["stage_name"], h["stage_ns"]
        return {names[i].decode("ascii", "replace"): int(ns[i]) for i in range(int(h["stage_count"]))}

    # -- what was seen --
    @property
    def width(self) -> int:
        """Of the image, px."""
        return int(self._header["image_width"])

    @property
    def height(self) -> int:
        """Of the image, px."""
        return int(self._header["image_height"])

    @property
    def columns(self) -> int:
        """Stixel columns."""
        return int(self._header["columns"])

    @property
    def column_width(self) -> int:
        """Of a stixel column, px: column u covers image columns [u * width, (u + 1) * width)."""
        return int(self._header["column_width"])

    @property
    def camera(self) -> Camera:
        """The rectified left camera."""
        return Camera(*(float(self._header[name]) for name in Camera._fields))

    @property
    def road(self) -> Road:
        """The road model."""
        h = self._header
        return Road(RoadOrigin(int(h["road_origin"])), float(h["road_slope"]), float(h["road_offset"]),
                    float(h["horizon_row"]), float(h["pitch_rad"]), float(h["height_m"]), int(h["road_age"]),
                    int(h["road_inliers"]), float(h["road_cross"]), float(h["road_axis"]), float(h["road_bend"]),
                    float(h["road_bend_row"]), float(h["roll_rad"]), float(h["pitch_sigma_rad"]),
                    float(h["roll_sigma_rad"]), float(h["height_sigma_m"]))

    @property
    def stixels(self) -> NDArray[Any]:
        """All stixels (dtype stixel.STIXEL), column by column, each from bottom to top."""
        return np.frombuffer(self._data, STIXEL, int(self._header["stixel_count"]), int(self._header["stixels_offset"]))

    @property
    def offsets(self) -> NDArray[np.uint32]:
        """columns + 1 numbers: the stixels of column u are stixels[offsets[u]:offsets[u + 1]]."""
        return np.frombuffer(self._data, "<u4", self.columns + 1, int(self._header["header_bytes"]))

    def column(self, u: int) -> NDArray[Any]:
        """The stixels of a column, bottom to top. IndexError when there is none; negative ones count from the right."""
        columns = self.columns
        if not -columns <= u < columns:
            raise IndexError("column %d: the frame has %d" % (u, columns))
        offsets = self.offsets
        u %= columns
        return self.stixels[int(offsets[u]):int(offsets[u + 1])]

    # -- images --
    def image(self, kind: Plane) -> Optional[NDArray[Any]]:
        """The image plane as it was published, or None. Planes come when somebody asks: stixel.open(images=...)."""
        h = self._header
        for name in ("plane", "plane2"):
            if kind != Plane.NONE and h[name + "_kind"] == kind:
                height, width, pitch = (int(h[name + f]) for f in ("_height", "_width", "_pitch"))
                dtype = np.dtype("<u2" if kind == Plane.DISPARITY else "u1")
                return np.ndarray((height, width), dtype, self._data, int(h[name + "_offset"]), (pitch, dtype.itemsize))
        return None

    @property
    def left(self) -> Optional[NDArray[np.uint8]]:
        """The left image (height, width) as it was matched: rectified, or raw if nobody did so; or None."""
        return self.image(Plane.LEFT)

    @property
    def right(self) -> Optional[NDArray[np.uint8]]:
        """The right image likewise, or None: only of a publisher with output.planes = pair."""
        return self.image(Plane.RIGHT)

    @property
    def disparity_q4(self) -> Optional[NDArray[np.uint16]]:
        """The disparity image (height, width) as published: 1/16 px, 0xffff invalid; or None."""
        return self.image(Plane.DISPARITY)

    @property
    def disparity(self) -> Optional[NDArray[np.float32]]:
        """The disparity image (height, width), px, nan where invalid; or None. Made anew with each call."""
        q4 = self.disparity_q4
        if q4 is None:
            return None
        px = q4 * np.float32(1 / IMAGE_DISPARITY_PER_PX)
        px[q4 == IMAGE_DISPARITY_INVALID] = np.nan
        return px

    # -- metres --
    @property
    def stixel_disparity(self) -> Floats:
        """Of each stixel at its row_bottom, px; nan when unknown."""
        return stixel_disparity(self.stixels, self.stixels["row_bottom"])

    @property
    def depth(self) -> Floats:
        """Of each stixel at its row_bottom, along the optical axis, m; inf: infinitely far; nan: not known."""
        return self.camera.depth(self.stixel_disparity)

    def quads(self, coordinates: Coordinates = "camera") -> Floats:
        """Corners of each stixel (n, 4, 3), m: bottom left, bottom right, top right, top left.

        Its outermost edges: half a pixel beyond the pixel centres. nan: not known, or infinitely far.
        """
        return self._in(coordinates, stixel_quads(self.stixels, self.column_width, self.camera))

    def points(self, coordinates: Coordinates = "camera") -> Floats:
        """Lower and upper end of each stixel (n, 2, 3), m: the middle of its lower and of its upper edge."""
        q = stixel_quads(self.stixels, self.column_width, self.camera)
        return self._in(coordinates, np.stack([(q[:, 0] + q[:, 1]) / 2, (q[:, 3] + q[:, 2]) / 2], 1))

    def cloud(self, coordinates: Coordinates = "camera") -> Optional[NDArray[np.float32]]:
        """The disparity image as points (height, width, 3), m, nan where invalid; None without one."""
        d = self.disparity
        return None if d is None else disparity_cloud(d, self.camera, self._road_of(coordinates))

    def _road_of(self, coordinates: Coordinates) -> Optional[Road]:
        """None: camera coordinates."""
        if coordinates not in ("camera", "vehicle"):
            raise ValueError("coordinates %r: there are 'camera' and 'vehicle'" % (coordinates,))
        return self.road if coordinates == "vehicle" else None

    def _in(self, coordinates: Coordinates, points: Floats) -> Floats:
        road = self._road_of(coordinates)
        return points if road is None else road.to_vehicle(points)

    def free_columns(self, **options: Any) -> NDArray[Any]:
        """Say how far each column is known to be free (dtype stixel.FREE_COLUMN), by stixel_free_space() of <stixel.h>:
        from_m and to_m (m along the optical axis), end (stixel.Free), stixel (its number, 2**32 - 1: none).
        Needs libstixel.

        options: height_min, height_max, m over the road: what reaches between both is an obstacle. The usual ones are
        those of the publisher's vehicle.
        """
        return free_of(self._data, self._header, options)

    def first_obstacles(self) -> NDArray[np.intp]:
        """For each column the index (into stixels) of the stixel that ends its free space, -1 without one.

        That is an object, the lower floor behind a drop, or what was not seen: see free_columns(). Needs libstixel.
        """
        stixel = self.free_columns()["stixel"]
        return np.where(stixel == _NO_STIXEL, -1, stixel.astype(np.intp))

    def free_space(self) -> Floats:
        """For each column how far it is free along the optical axis, m: to the nearest obstacle, or to a drop.

        inf: neither is seen; nan: what ends it is not seen, or nothing was; also without a camera model or a road, and
        where the pictures show nothing (stixel.FrameFlag.BLIND). Nearer than the from_m of free_columns() nothing was
        seen. Needs libstixel.
        """
        columns = self.free_columns()
        far = np.where(columns["end"] == Free.GROUND, np.inf, columns["to_m"].astype(np.float64))
        return np.where(columns["end"] == Free.UNSEEN, np.nan, far)

    # -- for programs that do not know stixels --
    def scan(self, **options: Any) -> Scan:
        """The nearest obstacle of each angle, as stixel_scan() of <stixel_convert.h> has it. Needs libstixel.

        options: those of struct stixel_scan_options, by their names: angle_min, angle_increment (rad), count,
        range_min, range_max, height_min, height_max (m), above, below, unknown, drop ("free", "obstacle", "unseen").
        Those that are left out are the usual ones of the frame (stixel_scan_defaults()). Without a camera model
        there are no angles, unless they are given: then, and without a road, all is nan.
        """
        return scan_of(self._data, self._header, options)

    def obstacle_points(self, coordinates: Coordinates = "vehicle", step: float = 0.0,
                        range_max: float = 0.0) -> NDArray[Any]:
        """Feet and tops of all objects (dtype stixel.POINT), as stixel_points() of <stixel_convert.h> has them.

        step: with points between them, m. range_max: m along the optical axis, 0 no limit; a step needs one. Empty
        without a camera model, or for vehicle coordinates without a road. ValueError beyond 4 million points. Needs
        libstixel.
        """
        return points_of(self._data, self._header, PointsOf.OBSTACLES, coordinates, step, range_max)

    def ground_points(self, coordinates: Coordinates = "vehicle", step: float = 0.5,
                      range_max: float = 20.0) -> NDArray[Any]:
        """The ground, likewise: a point of each ground stixel at each multiple of step (m) up to range_max.

        Empty where the pictures show nothing (stixel.FrameFlag.BLIND).
        """
        return points_of(self._data, self._header, PointsOf.GROUND, coordinates, step, range_max)


def load(data: BytesLike) -> Frame:
    """A frame from its bytes: Frame.raw, a packet of frames.sock, a recording. Checked; Damaged, OtherVersion."""
    copy = bytes(data)
    check(copy, "load")
    return Frame(copy[:int(header_of(copy)["frame_bytes"])])
