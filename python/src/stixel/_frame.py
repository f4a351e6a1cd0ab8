"""A frame: the result of one stereo pair.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import datetime
import math
import time
from typing import TYPE_CHECKING, Any, Dict, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._check import check
from ._classes import PublisherClasses, labels_of
from ._convert import Scan, ahead_of, boxes_of, free_of, object_ahead_of, points_of, scan_of
from ._geometry import Camera, Road, disparity_cloud, stixel_disparity, stixel_quads
from ._layout import (CLASSES_MAX, IMAGE_DISPARITY_INVALID, IMAGE_DISPARITY_PER_PX, MOTION_RECORD, OBJECT, STIXEL,
                      VELOCITY, Clock, FrameFlag, Free, MotionState, Plane, PointsOf, RoadOrigin, Stamp, header_of,
                      objects_at)

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import NDArray

    from ._geometry import Floats

    Coordinates = Literal["camera", "vehicle"]
    BytesLike = Union[bytes, bytearray, memoryview, NDArray[Any]]


_NO_STIXEL = 0xFFFFFFFF


class Counts(NamedTuple):
    """Counters of the publisher since it started."""

    captured: int  #: pairs captured
    published: int  #: frames published
    dropped_overload: int  #: pairs replaced by newer ones because the engine was busy
    dropped_unpaired: int
    dropped_corrupt: int


class Ego(NamedTuple):
    """Motion of the camera since the frame before, which is about 0.1 s older.

    It is the pose of this frame's left camera in that of the frame before: x to the right, y down, z ahead.
    """

    seconds: float  #: time since the frame before
    turn_rad: Tuple[float, float, float]  #: rotation vector
    way_m: Tuple[float, float, float]
    turn_sigma_rad: Tuple[float, float, float]  #: standard deviations
    way_sigma_m: Tuple[float, float, float]


class RangeOffset(NamedTuple):
    """Offset that is missing in the disparities of stixels and road, as the motion of the camera so far shows."""

    px: float
    sigma_px: float  #: standard deviation


class Frame:
    """A frame, which owns its memory and never changes. You may keep it, pickle it, and pass it to other threads.

    Arrays are read-only views into that memory; use copy() to get an array that you can change. Times are nanoseconds
    of CLOCK_MONOTONIC of the publisher's machine (time.monotonic_ns() there) unless stated otherwise.
    """

    __slots__ = ("_data", "_missed", "_header", "_offset_ns", "_classes")

    def __init__(self, data: bytes, missed: int = 0, offset_ns: Optional[int] = 0,
                 classes: Union[None, Tuple[str, ...], PublisherClasses] = None) -> None:
        """Takes a frame that has been checked as data. Use stixel.load() for other bytes."""
        self._data = data
        self._missed = missed
        self._offset_ns = offset_ns
        self._header = header_of(data)
        self._classes = classes

    def __reduce__(self) -> Tuple[Any, ...]:
        return Frame, (self._data, self._missed, self._offset_ns, self._classes)

    def __repr__(self) -> str:
        h = self._header
        return "<stixel.Frame %d of epoch %016x: %d stixels in %d columns, image %dx%d>" % (
            h["number"], h["epoch"], h["stixel_count"], h["columns"], h["image_width"], h["image_height"])

    @property
    def raw(self) -> bytes:
        """The whole frame as published. It can be recorded, and stixel.load() takes it."""
        return self._data

    @property
    def header(self) -> Any:
        """Fields of the header, by their names in <stixel.h>: frame.header["fx"]."""
        return self._header

    # -- identity --
    @property
    def number(self) -> int:
        """Number of the frame, from 1 in each epoch, without gaps."""
        return int(self._header["number"])

    @property
    def epoch(self) -> int:
        """Identifies one run of the publisher. (epoch, number) identifies a frame for ever."""
        return int(self._header["epoch"])

    @property
    def missed(self) -> int:
        """Number of frames that the reader missed between its previous frame and this one."""
        return self._missed

    @property
    def flags(self) -> FrameFlag:
        """Flags of the frame, such as parts left out of a packet of frames.sock, class scores, rectified images."""
        return FrameFlag(int(self._header["flags"]) & sum(FrameFlag))

    @property
    def counts(self) -> Counts:
        """Counters of the publisher since it started."""
        return Counts(*(int(self._header[name]) for name in Counts._fields))

    # -- times --
    @property
    def capture_left_ns(self) -> int:
        """Capture time of the left image, ns."""
        return int(self._header["capture_left_ns"])

    @property
    def capture_right_ns(self) -> int:
        """Capture time of the right image, ns."""
        return int(self._header["capture_right_ns"])

    @property
    def scores_ns(self) -> Optional[int]:
        """Capture time of the image that the class scores belong to, ns; None without scores."""
        return int(self._header["scores_ns"]) if self.flags & FrameFlag.SCORES else None

    @property
    def captured_ns(self) -> int:
        """Capture time of the older of the two images, ns."""
        return min(self.capture_left_ns, self.capture_right_ns)

    @property
    def submitted_ns(self) -> int:
        """Time when the pair was handed to the engine, ns."""
        return int(self._header["submitted_ns"])

    @property
    def published_ns(self) -> int:
        """Time when the frame was complete and about to be sent to the readers, ns."""
        return int(self._header["published_ns"])

    @property
    def captured_at(self) -> datetime.datetime:
        """Capture time of the older image on the wall clock of the publisher's machine (UTC, to the us)."""
        return self.wall_time(self.captured_ns)

    @property
    def published_at(self) -> datetime.datetime:
        """Publication time on the wall clock of the publisher's machine (UTC, to the us)."""
        return self.wall_time(self.published_ns)

    def wall_time(self, monotonic_ns: int) -> datetime.datetime:
        """Converts a time of this frame to the wall clock of the publisher's machine, UTC."""
        ns = monotonic_ns - int(self._header["anchor_monotonic_ns"]) + int(self._header["anchor_realtime_ns"])
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return epoch + datetime.timedelta(microseconds=ns // 1000)

    @property
    def clock_offset_ns(self) -> Optional[int]:
        """CLOCK_MONOTONIC of the publisher's machine minus that of the reader's machine, ns, at the time of reading.

        A time of this frame minus this offset is a time of the reader's machine. It is 0 for frames of the same machine
        and of recordings. None: not known.
        """
        return self._offset_ns

    def age(self) -> float:
        """Returns the seconds from the older image until now, on the machine that read the frame.

        nan: clock_offset_ns is not known. The age is meaningless for recordings and for frames from before the machine
        was started.
        """
        if self._offset_ns is None:
            return math.nan
        return (time.monotonic_ns() + self._offset_ns - self.captured_ns) / 1e9

    @property
    def latency(self) -> float:
        """Seconds from the capture of the older image to publication."""
        return (self.published_ns - self.captured_ns) / 1e9

    @property
    def clock(self) -> Clock:
        """Clock that the camera used for its time stamps, before conversion."""
        return Clock(int(self._header["clock"]))

    @property
    def stamp(self) -> Stamp:
        """Moment of the exposure that the capture times describe."""
        return Stamp(int(self._header["stamp"]))

    @property
    def stages(self) -> Dict[str, int]:
        """Duration of each stage in running order, ns; 0: the stage did not run."""
        h = self._header
        names, ns = h["stage_name"], h["stage_ns"]
        return {names[i].decode("ascii", "replace"): int(ns[i]) for i in range(int(h["stage_count"]))}

    # -- content --
    @property
    def width(self) -> int:
        """Width of the image, px."""
        return int(self._header["image_width"])

    @property
    def height(self) -> int:
        """Height of the image, px."""
        return int(self._header["image_height"])

    @property
    def columns(self) -> int:
        """Number of stixel columns."""
        return int(self._header["columns"])

    @property
    def column_width(self) -> int:
        """Width of a stixel column, px: column u covers image columns [u * width, (u + 1) * width)."""
        return int(self._header["column_width"])

    @property
    def camera(self) -> Camera:
        """Model of the rectified left camera."""
        return Camera(*(float(self._header[name]) for name in Camera._fields))

    @property
    def road(self) -> Road:
        """Road model of this frame."""
        h = self._header
        return Road(RoadOrigin(int(h["road_origin"])), float(h["road_slope"]), float(h["road_offset"]),
                    float(h["horizon_row"]), float(h["pitch_rad"]), float(h["height_m"]), int(h["road_age"]),
                    int(h["road_inliers"]), float(h["road_cross"]), float(h["road_axis"]), float(h["road_bend"]),
                    float(h["road_bend_row"]), float(h["roll_rad"]), float(h["pitch_sigma_rad"]),
                    float(h["roll_sigma_rad"]), float(h["height_sigma_m"]))

    @property
    def stixels(self) -> NDArray[Any]:
        """Stixels of the frame (dtype stixel.STIXEL), column by column, each column from bottom to top."""
        return np.frombuffer(self._data, STIXEL, int(self._header["stixel_count"]), int(self._header["stixels_offset"]))

    @property
    def offsets(self) -> NDArray[np.uint32]:
        """Indices (columns + 1 numbers): the stixels of column u are stixels[offsets[u]:offsets[u + 1]]."""
        return np.frombuffer(self._data, "<u4", self.columns + 1, int(self._header["header_bytes"]))

    def column(self, u: int) -> NDArray[Any]:
        """Returns the stixels of column u, bottom to top.

        Negative u counts from the right. Raises IndexError if there is no such column.
        """
        columns = self.columns
        if not -columns <= u < columns:
            raise IndexError("column %d: the frame has %d" % (u, columns))
        offsets = self.offsets
        u %= columns
        return self.stixels[int(offsets[u]):int(offsets[u + 1])]

    @property
    def classes(self) -> Optional[Tuple[str, ...]]:
        """Names of the semantic classes: classes[label] is the name of a stixel's label. None: not known.

        Recordings contain the names. For a frame of stixel.open() on this machine, the first use asks the publisher's
        status, once for each of its runs; a publisher that has ended meanwhile, or reads no class scores, has none.
        """
        if self._classes is None or isinstance(self._classes, tuple):
            return self._classes
        return self._classes.of(self.epoch)

    # -- motion --
    @property
    def ego(self) -> Optional[Ego]:
        """Motion of the camera since the frame before. None: not known, or not measured (motion.mode)."""
        h = self._header
        if h["motion_span_ns"] <= 0 or not h["ego_way_sigma_m"][2] > 0:
            return None
        turn, way, turn_sigma, way_sigma = (
            (float(v[0]), float(v[1]), float(v[2])) for v in (h["ego_" + name] for name in Ego._fields[1:]))
        return Ego(float(h["motion_span_ns"]) / 1e9, turn, way, turn_sigma, way_sigma)

    @property
    def range_offset(self) -> Optional[RangeOffset]:
        """Offset that is missing in the disparities of stixels and road. None: not known."""
        px, sigma = float(self._header["range_offset_px"]), float(self._header["range_offset_sigma_px"])
        return RangeOffset(px, sigma) if sigma > 0 else None

    @property
    def velocities(self) -> Optional[NDArray[Any]]:
        """Velocity of each stixel over the ground (dtype stixel.VELOCITY), in the order of the stixels.

        None: motion is not measured, or the velocities did not fit into the frame. vx, vz: m/s along the axes of this
        frame's left camera, to the right and ahead; nan: not measured. sxx, sxz, szz: covariance. state:
        stixel.MotionState. Each call computes a new array.
        """
        h = self._header
        if not h["motion_offset"]:
            return None
        record = np.frombuffer(self._data, MOTION_RECORD, int(h["stixel_count"]), int(h["motion_offset"]))
        measured = (record["sigma_x"] > 0) & (record["sigma_z"] > 0)
        x, z = (np.where(measured, (16 + code % 16) * 2.0 ** (code // 16) / 1600, np.nan)
                for code in (record["sigma_x"].astype(np.int64), record["sigma_z"].astype(np.int64)))
        found = np.zeros(len(record), VELOCITY)
        found["vx"] = np.where(measured, record["vx"] / 100, np.nan)
        found["vz"] = np.where(measured, record["vz"] / 100, np.nan)
        found["sxx"], found["szz"] = x * x, z * z
        found["sxz"] = record["correlation"] / 127 * x * z
        found["state"] = np.where(record["state"] <= MotionState.MOVES, record["state"], MotionState.UNKNOWN)
        return found

    def ahead(self, seconds: float) -> NDArray[Any]:
        """Returns where each stixel will be after this time (dtype stixel.PLACE), as stixel_ahead() of <stixel.h> does.

        x, z: m to the right and ahead of the left camera in this frame; sxx, sxz, szz: covariance. All are
        nan where it is not known. ValueError: seconds is negative or not finite. Needs libstixel.
        """
        return ahead_of(self._data, self._header, seconds)

    @property
    def objects(self) -> Optional[NDArray[Any]]:
        """Things that move, with an identity that lasts (dtype stixel.OBJECT, struct stixel_object of <stixel.h>).

        They are in the order of their id. None: the publisher does not follow objects (motion.mode = filter does), or
        they did not fit into the frame.
        x, y, z: m to the right, down and ahead of the left camera; vx, vz: m/s over the ground; state:
        stixel.MotionState, and greater values mean UNKNOWN.
        """
        h = self._header
        at = objects_at(h)
        if not at:
            return None
        count, each = int(h["object_count"]), int(h["object_bytes"])
        return np.ndarray((count,), OBJECT, self._data, at if count else 0, (each,))

    @property
    def object_of(self) -> Optional[NDArray[np.intp]]:
        """For each stixel the index of its object in objects, -1: none. None: as objects."""
        h = self._header
        if not objects_at(h):
            return None
        if not h["object_count"]:
            return np.full(int(h["stixel_count"]), -1, np.intp)
        return np.frombuffer(self._data, np.uint8, int(h["stixel_count"]),
                             int(h["object_of_offset"])).astype(np.intp) - 1

    def object_ahead(self, seconds: float) -> NDArray[Any]:
        """Returns where each object will be after this time (dtype stixel.PLACE), as ahead() does for stixels.

        All fields are nan where the state of the object is unknown. The array is empty without objects. ValueError:
        seconds is negative or not finite. Needs libstixel.
        """
        return object_ahead_of(self._data, self._header, seconds)

    # -- images --
    def image(self, kind: Plane) -> Optional[NDArray[Any]]:
        """Returns an image plane as published, or None. Planes come only on request: stixel.open(images=...)."""
        h = self._header
        for name in ("plane", "plane2"):
            if kind != Plane.NONE and h[name + "_kind"] == kind:
                height, width, pitch = (int(h[name + f]) for f in ("_height", "_width", "_pitch"))
                dtype = np.dtype("<u2" if kind == Plane.DISPARITY else "u1")
                return np.ndarray((height, width), dtype, self._data, int(h[name + "_offset"]), (pitch, dtype.itemsize))
        return None

    @property
    def left(self) -> Optional[NDArray[np.uint8]]:
        """Left image (height, width) as it was matched: rectified, or raw if it was not rectified. None without it."""
        return self.image(Plane.LEFT)

    @property
    def right(self) -> Optional[NDArray[np.uint8]]:
        """Right image (height, width) as it was matched, or None. Needs a publisher with output.planes = pair."""
        return self.image(Plane.RIGHT)

    @property
    def disparity_q4(self) -> Optional[NDArray[np.uint16]]:
        """Disparity image (height, width) as published: 1/16 px, 0xffff invalid. None without it."""
        return self.image(Plane.DISPARITY)

    @property
    def disparity(self) -> Optional[NDArray[np.float32]]:
        """Disparity image (height, width), px, nan where invalid. None without it. Each call computes a new array."""
        q4 = self.disparity_q4
        if q4 is None:
            return None
        px = q4 * np.float32(1 / IMAGE_DISPARITY_PER_PX)
        px[q4 == IMAGE_DISPARITY_INVALID] = np.nan
        return px

    # -- metres --
    @property
    def stixel_disparity(self) -> Floats:
        """Disparity of each stixel at its row_bottom, px; nan: not known."""
        return stixel_disparity(self.stixels, self.stixels["row_bottom"])

    @property
    def depth(self) -> Floats:
        """Depth of each stixel at its row_bottom, along the optical axis, m; inf: infinitely far; nan: not known."""
        return self.camera.depth(self.stixel_disparity)

    def quads(self, coordinates: Coordinates = "camera") -> Floats:
        """Returns the corners of each stixel (n, 4, 3), m: bottom left, bottom right, top right, top left.

        The corners lie on the outer edges, half a pixel beyond the pixel centres. nan: not known, or infinitely far.
        """
        return self._in(coordinates, stixel_quads(self.stixels, self.column_width, self.camera))

    def points(self, coordinates: Coordinates = "camera") -> Floats:
        """Returns the middle of the lower and of the upper edge of each stixel, as points (n, 2, 3), m."""
        q = stixel_quads(self.stixels, self.column_width, self.camera)
        return self._in(coordinates, np.stack([(q[:, 0] + q[:, 1]) / 2, (q[:, 3] + q[:, 2]) / 2], 1))

    def cloud(self, coordinates: Coordinates = "camera") -> Optional[NDArray[np.float32]]:
        """Returns the disparity image as points (height, width, 3), m, nan where invalid; None without an image."""
        d = self.disparity
        return None if d is None else disparity_cloud(d, self.camera, self._road_of(coordinates))

    def _road_of(self, coordinates: Coordinates) -> Optional[Road]:
        """Returns the road for vehicle coordinates, or None for camera coordinates."""
        if coordinates not in ("camera", "vehicle"):
            raise ValueError("coordinates %r: there are 'camera' and 'vehicle'" % (coordinates,))
        return self.road if coordinates == "vehicle" else None

    def _in(self, coordinates: Coordinates, points: Floats) -> Floats:
        road = self._road_of(coordinates)
        return points if road is None else road.to_vehicle(points)

    def free_columns(self, **options: Any) -> NDArray[Any]:
        """Returns how far each column is known to be free (dtype stixel.FREE_COLUMN).

        stixel_free_space() of <stixel.h> defines the rules. Fields: from_m and to_m (m along the optical axis),
        end (stixel.Free), stixel (its number, 2**32 - 1: none). Needs libstixel.

        options: height_min and height_max, m over the road. Anything that reaches between both heights is an obstacle.
        The defaults describe the publisher's vehicle. kind: only ground of these classes is free: a name ("road"),
        several names ("road, sidewalk", or a sequence), or labels. classes: the names of all classes by label, if
        Frame.classes does not know them. ValueError: no class has such a name.
        """
        return free_of(self._data, self._header, options, lambda: self.classes)

    def first_obstacles(self) -> NDArray[np.intp]:
        """Returns for each column the index (into stixels) of the stixel that ends its free space, -1 without one.

        Such a stixel is an object, the lower floor behind a drop, or an unseen region: see free_columns(). Needs
        libstixel.
        """
        stixel = self.free_columns()["stixel"]
        return np.where(stixel == _NO_STIXEL, -1, stixel.astype(np.intp))

    def free_space(self, kind: Any = None, **options: Any) -> Floats:
        """Returns for each column how far it is free along the optical axis, m: to the nearest obstacle, or to a drop.

        kind and options: as for free_columns(). With kind="road", the free space also ends where the ground is known to
        be of another class, and where the class is not known it is not seen.

        inf: neither is seen. nan: the end of the free space is not seen, or nothing is; also without a camera model or
        a road, and where the images show nothing (stixel.FrameFlag.BLIND). Nothing was seen nearer than from_m of
        free_columns(). Needs libstixel.
        """
        columns = self.free_columns(kind=kind, **options)
        far = np.where(columns["end"] == Free.GROUND, np.inf, columns["to_m"].astype(np.float64))
        return np.where(columns["end"] == Free.UNSEEN, np.nan, far)

    # -- conversions for other programs --
    def scan(self, **options: Any) -> Scan:
        """Returns the nearest obstacle at each angle, as stixel_scan() of <stixel_convert.h> defines it.

        options: fields of struct stixel_scan_options, by name: angle_min, angle_increment (rad), count, range_min,
        range_max, height_min, height_max (m), above, below, unknown, drop ("free", "obstacle", "unseen"), filled
        ("obstacle", "unseen"). With kind, only ground of these classes is free (as for free_columns(), with classes);
        other_ground ("obstacle", "unseen") is what ground of other classes counts as. Missing options have the defaults
        of the frame (stixel_scan_defaults()). Without a camera model there are no angles unless you pass them. All
        ranges are then nan, as they are without a road. Needs libstixel.
        """
        return scan_of(self._data, self._header, options, lambda: self.classes)

    def boxes(self, **options: Any) -> NDArray[Any]:
        """Returns the obstacles as boxes in vehicle coordinates, the nearest first (dtype stixel.BOX).

        stixel_boxes() of <stixel_convert.h> defines which stixels belong together. Fields: x_min, x_max, y_min, y_max,
        z_min, z_max (m), column_first, column_last, row_top, row_bottom (px), stixels. The width of a box is
        y_max - y_min. options: height_min, height_max, gap (m), columns. Empty without a camera model or a road. Needs
        libstixel.
        """
        return boxes_of(self._data, self._header, options)

    def obstacle_points(self, coordinates: Coordinates = "vehicle", step: float = 0.0,
                        range_max: float = 0.0) -> NDArray[Any]:
        """Returns feet and tops of all objects (dtype stixel.POINT).

        stixel_points() of <stixel_convert.h> defines the points. step: distance of additional points between foot
        and top, m. range_max: limit along the optical axis, m, 0 for no limit; a step needs a limit. The result is
        empty without a camera model, or for vehicle coordinates without a road. ValueError: more than 4 million points.
        Needs libstixel.
        """
        return points_of(self._data, self._header, PointsOf.OBSTACLES, coordinates, step, range_max)

    def ground_points(self, coordinates: Coordinates = "vehicle", step: float = 0.5, range_max: float = 20.0,
                      kind: Any = None, classes: Optional[Sequence[str]] = None) -> NDArray[Any]:
        """Returns points of the ground (dtype stixel.POINT), as stixel_points() of <stixel_convert.h> defines them.

        Each ground stixel gives a point at each multiple of step (m) up to range_max (m). The result is empty where the
        images show nothing (stixel.FrameFlag.BLIND). With kind, only ground of these classes has points: see
        free_columns().
        """
        points = points_of(self._data, self._header, PointsOf.GROUND, coordinates, step, range_max)
        if kind is None:
            return points
        bits = labels_of(kind, lambda: self.classes if classes is None else classes)
        return points[np.isin(points["label"], [label for label in range(CLASSES_MAX) if bits >> label & 1])]


def load(data: BytesLike) -> Frame:
    """Checks the bytes of a frame (Frame.raw, a packet of frames.sock, a recording) and returns a Frame.

    Raises Damaged, OtherVersion.
    """
    copy = bytes(data)
    check(copy, "load")
    return Frame(copy[:int(header_of(copy)["frame_bytes"])])
