# Tests stixelctl record and export with the public MCAP packages: compares every message of an export with the
# recording, and checks every checksum. The packages come once from PyPI into a folder of the build. Without them the
# test is skipped, unless SX_REQUIRE_PYPI is set.
# SPDX-License-Identifier: Apache-2.0
import ctypes
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import unittest
import zlib

PACKAGES = ["mcap>=1.2,<2", "mcap-protobuf-support>=0.5,<1", "foxglove-schemas-protobuf>=0.3,<1"]
VENV = os.path.join(os.environ["STIXEL_BUILD"], "tests", "tools", "venv-mcap")


def skip(why):
    print("test_export: %s: %s" % ("FAILED, SX_REQUIRE_PYPI is set" if os.environ.get("SX_REQUIRE_PYPI") else "skipped",
                                   why))
    sys.exit(1 if os.environ.get("SX_REQUIRE_PYPI") else 77)


def run_in_venv():
    """Creates the virtual environment unless it is complete, then restarts this script in it."""
    done = os.path.join(VENV, "complete")
    if not os.path.exists(done):
        shutil.rmtree(VENV, ignore_errors=True)
        for command in ([sys.executable, "-m", "venv", VENV],
                        [VENV + "/bin/pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "2",
                         "--timeout",
                         "20", *PACKAGES]):
            try:
                r = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False)
            except (OSError, subprocess.TimeoutExpired) as e:
                skip(str(e))
            if r.returncode:
                skip("the packages of PyPI cannot be had: " + (r.stderr.strip() or r.stdout.strip()).splitlines()[-1])
        with open(done, "w", encoding="ascii"):
            pass
    os.environ["SX_IN_VENV"] = "1"
    os.execv(VENV + "/bin/python", [VENV + "/bin/python", *sys.argv])


if not os.environ.get("SX_IN_VENV"):
    if subprocess.run([os.path.join(os.environ["STIXEL_BUILD"], "tools", "stixelctl"), "export", "/dev/null",
                       "/dev/null"],
                      capture_output=True, text=True, check=False).stderr.count("built without"):
        skip("stixelctl was built without export")
    run_in_venv()

from mcap.reader import make_reader  # noqa: E402
from mcap.stream_reader import StreamReader  # noqa: E402
from mcap_protobuf.decoder import DecoderFactory  # noqa: E402

import recordings  # noqa: E402
from support import BUILD, Folder, program, run  # noqa: E402

MAKE = os.path.join(BUILD, "tests", "recording", "make-recording")
FAR_M = 200.0
GRID_M = 0.5 / 1024 + 1e-9  # coordinates of a scene are rounded to 1/1024 m
# libstixel computes free space and obstacles. With a sanitizer in it, Python cannot load it.
LIBRARY = None if os.environ.get("SX_SANITIZED") else ctypes.CDLL(BUILD + "/ipc/client/libstixel.so.1")
KINDS = ["GROUND", "OBJECT", "SKY", "UNKNOWN"]


class Header:
    """Fields of struct stixel_frame_header that the test needs, at the offsets of include/stixel.h."""

    def __init__(self, f):
        self.epoch, self.number = struct.unpack_from("<QQ", f, 24)
        self.left_ns, self.right_ns, self.submitted_ns, self.published_ns, self.monotonic_ns, self.realtime_ns = (
            struct.unpack_from("<6q", f, 40))
        self.clock, self.stamp, self.road_origin, self.stages = f[88:92]
        self.flags, self.width, self.height, self.columns, self.column_width, self.disparities = struct.unpack_from(
            "<6I", f, 92)
        self.min_disparity, self.count, self.inliers = struct.unpack_from("<iII", f, 116)
        (self.fx, self.fy, self.cx, self.cy, self.baseline_m, self.slope, self.offset, self.horizon, self.pitch,
         self.height_m) = struct.unpack_from("<10d", f, 128)
        (self.road_age, _, self.captured, self.published, self.overload, self.unpaired,
         self.corrupt) = struct.unpack_from("<II5Q", f, 208)
        self.cross, self.axis, self.bend, self.bend_row, self.roll, *self.sigmas = (
            struct.unpack_from("<8d", f, 696) if struct.unpack_from("<I", f, 8)[0] >= 760 else (0,) * 8)
        self.stage_ns = struct.unpack_from("<16q", f, 280)[:self.stages]
        self.stage_names = [f[408 + 16 * i:424 + 16 * i].rstrip(b"\0").decode() for i in range(self.stages)]

    def real(self, ns):
        return self.realtime_ns + ns - self.monotonic_ns


def parsed(frame):
    """Returns struct stixel_frame and the bytes that it points to."""
    data, made = ctypes.create_string_buffer(frame, len(frame)), (ctypes.c_void_p * 8)()
    assert LIBRARY.stixel_parse(made, data, ctypes.c_size_t(len(frame))) == 0
    return made, data


def shown(frame):
    """Returns the numbers of the stixels that a scene may show: ground, and objects that are obstacles in some
    column."""
    stixels = recordings.stixels(frame)
    made, data = parsed(frame)
    room = 2 * len(stixels)
    points, options = ctypes.create_string_buffer(20 * room + 1), struct.pack("<2I2f", 0, 0, 0, 0)
    LIBRARY.stixel_points.restype = ctypes.c_int64
    count = LIBRARY.stixel_points(made, options, ctypes.c_size_t(16), points, ctypes.c_uint64(room))
    stands = {struct.unpack_from("<I", points, 20 * i + 16)[0] for i in range(count)}
    return {i for i, s in enumerate(stixels) if s[6] == 0} | stands


def free_columns(frame, columns):
    """Returns (from_m, to_m, end) of each column."""
    made, data = parsed(frame)
    found = ctypes.create_string_buffer(16 * columns + 1)
    LIBRARY.stixel_free_space.restype = ctypes.c_int64
    assert LIBRARY.stixel_free_space(made, None, ctypes.c_size_t(0), found, ctypes.c_uint32(columns)) == columns
    return [struct.unpack_from("<2fI", found, 16 * u) for u in range(columns)]


def rotate(q, v):
    """Rotates v by the quaternion (x, y, z, w): v + 2 u x (u x v + w v)."""
    def cross(a, b):
        return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    u, w = q[:3], q[3]
    inner = [c + w * x for c, x in zip(cross(u, v), v)]
    return [x + 2 * c for x, c in zip(v, cross(u, inner))]


class Export(Folder):
    def near(self, a, b, what="", most=1e-9):
        for x, y in zip(a, b, strict=True):
            self.assertTrue(math.isclose(x, y, rel_tol=1e-9, abs_tol=most), (what, a, b))

    def make(self, frames, columns, plane, lives, encoding="plain", version=()):
        path = self.path("a.rec")
        with open(path, "wb") as f:
            subprocess.run([MAKE, *map(str, (frames, 30, columns, plane, lives, encoding, *version))], stdout=f,
                           check=True)
        return path, recordings.frames(path)

    def zstd(self):
        return "without zstd" not in run("stixelctl", "record", "/dev", "--compress").stderr

    def export(self, source, *options, want=0):
        out = self.path("a.mcap")
        r = run("stixelctl", "export", "--force", source, out, *options)
        self.assertEqual(r.returncode, want, r.stderr)
        return out, r

    def read(self, path):
        """Returns topic -> [(message, decoded)] without the bytes of the frames. Checks all checksums."""
        found = {}
        with open(path, "rb") as f:
            self.assertGreater(sum(1 for _ in StreamReader(f, validate_crcs=True).records), 10)
        with open(path, "rb") as f:
            reader = make_reader(f, validate_crcs=True, decoder_factories=[DecoderFactory()])
            self.summary = reader.get_summary()
            self.schemas = {c.topic: self.summary.schemas[c.schema_id] for c in self.summary.channels.values()}
            topics = [t for t in self.schemas if t.split("/")[2] != "stixel"]
            for _, channel, message, decoded in reader.iter_decoded_messages(topics=topics):
                found.setdefault(channel.topic, []).append((message, decoded))
        counts = {c.topic: self.summary.statistics.channel_message_counts[i] for i, c in self.summary.channels.items()}
        self.assertEqual({k: v for k, v in counts.items() if v and k in topics},
                         {k: len(v) for k, v in found.items()})
        self.assertEqual(self.summary.statistics.message_count, sum(counts.values()))
        self.assertEqual(self.summary.statistics.chunk_count, len(self.summary.chunk_indexes))
        return found

    def check_frame(self, h, frame, m):
        pairs = [(m.epoch, h.epoch), (m.number, h.number), (m.capture_left_ns, h.left_ns),
                 (m.capture_right_ns, h.right_ns),
                 (m.submitted_ns, h.submitted_ns), (m.published_ns, h.published_ns),
                 (m.anchor_monotonic_ns, h.monotonic_ns), (m.anchor_realtime_ns, h.realtime_ns), (m.clock, h.clock),
                 (m.stamp, h.stamp), (m.flags, h.flags), (m.image_width, h.width), (m.image_height, h.height),
                 (m.columns, h.columns), (m.column_width, h.column_width), (m.disparities, h.disparities),
                 (m.min_disparity, h.min_disparity), (m.camera.fx, h.fx), (m.camera.fy, h.fy), (m.camera.cx, h.cx),
                 (m.camera.cy, h.cy), (m.camera.baseline_m, h.baseline_m), (m.road.origin, h.road_origin),
                 (m.road.slope, h.slope), (m.road.offset, h.offset), (m.road.horizon_row, h.horizon),
                 (m.road.pitch_rad, h.pitch), (m.road.height_m, h.height_m), (m.road.inliers, h.inliers),
                 (m.road.cross, h.cross), (m.road.axis, h.axis), (m.road.bend, h.bend), (m.road.bend_row, h.bend_row),
                 (m.road.roll_rad, h.roll),
                 ([m.road.pitch_sigma_rad, m.road.roll_sigma_rad, m.road.height_sigma_m], h.sigmas),
                 (m.road.age, h.road_age), (m.captured, h.captured),
                 (m.published, h.published),
                 (m.dropped_overload, h.overload), (m.dropped_unpaired, h.unpaired), (m.dropped_corrupt, h.corrupt),
                 ([s.name for s in m.stages], h.stage_names), (tuple(s.ns for s in m.stages), h.stage_ns)]
        for got, want in pairs:
            self.assertEqual(got, want)
        self.assertEqual(len(m.free), h.columns)
        for got, (first, last, end) in zip(m.free, free_columns(frame, h.columns) if LIBRARY else ()):
            self.assertEqual((repr(got.from_m), got.to_m, got.end), (repr(first), last, end))
        stixels = recordings.stixels(frame)
        self.assertEqual(len(m.stixels), len(stixels))
        for got, s in zip(m.stixels, stixels):
            column, top, bottom, support, q7, slope, kind, label, confidence, flags = s
            self.assertEqual((got.column, got.row_top, got.row_bottom, got.support, got.kind, got.label, got.confidence,
                              got.flags), (column, top, bottom, support, kind, label, confidence, flags))
            self.assertEqual(got.disparity_px, -1.0 if q7 == 0xffff else q7 / 128)
            self.assertEqual(got.slope, slope / 16384)
            depth = h.fx * h.baseline_m / (q7 / 128) if q7 not in (0, 0xffff) else 0.0
            self.assertAlmostEqual(got.depth_m, depth, delta=1e-6 * depth + 1e-12)

    def expected_scene(self, h, frame):
        """Computes boxes (centre, size) and corners independently."""
        boxes, corners = [], []

        def place(x, y, d):
            z = h.fx * h.baseline_m / d
            return ((x - h.cx) * z / h.fx, (y - h.cy) * z / h.fy, z)

        drawn = shown(frame)
        for i, (column, top, bottom, _, q7, slope, kind, *_) in enumerate(recordings.stixels(frame)):
            d, slope = q7 / 128, slope / 16384
            if i not in drawn or q7 in (0, 0xffff) or kind > 1 or h.fx * h.baseline_m / d > FAR_M:
                continue
            left = column * h.column_width - 0.5
            right = min((column + 1) * h.column_width, h.width) - 0.5
            y0, y1 = top - 0.5, bottom + 0.5
            if kind == 1 and slope == 0:
                a, b = place(left, y0, d), place(right, y1, d)
                boxes.append([(p + q) / 2 for p, q in zip(a, b)] + [b[0] - a[0], b[1] - a[1], 0.05])
                continue
            least = h.fx * h.baseline_m / FAR_M
            d1, d0 = d - 0.5 * slope, d + slope * (bottom - y0)
            if d1 <= least:
                continue
            if d0 < least:
                y0, d0 = y1 - (d1 - least) / -slope, least
            corners += [place(left, y1, d1), place(right, y1, d1), place(right, y0, d0), place(left, y0, d0)]
        return boxes, corners

    def check_scene(self, h, frame, m):
        entity, moving = m.entities
        self.assertEqual((entity.frame_id, entity.id), ("front/camera", "stixels"))
        self.assertEqual((moving.frame_id, moving.id), ("front/camera", "moving"))  # empties what a viewer kept of it
        self.assertEqual((len(moving.cubes), len(moving.arrows), len(moving.texts)), (0, 0, 0))
        if not LIBRARY:
            return len(entity.cubes), sum(len(t.points) for t in entity.triangles)
        boxes, corners = self.expected_scene(h, frame)
        self.assertEqual(len(entity.cubes), len(boxes))
        for cube, want in zip(entity.cubes, boxes):
            p, s, q = cube.pose.position, cube.size, cube.pose.orientation
            self.near((p.x, p.y, p.z, s.x, s.y, s.z), want, "box", GRID_M)
            self.assertEqual((q.x, q.y, q.z, q.w), (0, 0, 0, 1))
            self.assertTrue(all(0 <= c <= 1 for c in (cube.color.r, cube.color.g, cube.color.b)) and cube.color.a > 0.5)
        self.assertEqual(len(entity.triangles), bool(corners))
        for t in entity.triangles:
            self.assertEqual(len(t.points), len(corners))
            for p, want in zip(t.points, corners):
                self.near((p.x, p.y, p.z), want, "corner", GRID_M)
            quads = [t.indices[i:i + 6] for i in range(0, len(t.indices), 6)]
            self.assertEqual([list(q) for q in quads], [[4 * i + k for k in (0, 1, 2, 0, 2, 3)] for i
                                                        in range(len(corners) // 4)])
        return len(boxes), len(corners)

    def check_points(self, h, frame, m):
        """Checks that points lie along the middle of each stixel, from bottom to top, and have its colour."""
        self.assertEqual((m.frame_id, m.point_stride), ("front/camera", 16))
        names = [(f.name, f.offset, f.type) for f in m.fields]
        self.assertEqual(names,
                         [("x", 0, 7), ("y", 4, 7), ("z", 8, 7), ("red", 12, 1), ("green", 13, 1), ("blue", 14, 1),
                                 ("alpha", 15, 1)])
        if not LIBRARY:
            return
        want, ground = [], []
        drawn = shown(frame)
        for i, (column, top, bottom, _, q7, slope, kind, *_) in enumerate(recordings.stixels(frame)):
            if i not in drawn or q7 in (0, 0xffff) or kind > 1 or h.fx * h.baseline_m / (q7 / 128) > FAR_M:
                continue
            middle = (column * h.column_width + min((column + 1) * h.column_width, h.width)) / 2 - 0.5
            for row in range(bottom, top - 1, -2 * h.column_width * (2 - kind)):
                d = q7 / 128 + slope / 16384 * (bottom - row)
                if d * FAR_M < h.fx * h.baseline_m:
                    break
                z = h.fx * h.baseline_m / d
                want.append(((middle - h.cx) * z / h.fx, (row - h.cy) * z / h.fy, z))
                ground.append(kind == 0)
        got = list(struct.iter_unpack("<3f4B", m.data))
        self.assertEqual(len(got), len(want))
        for g, w, road in zip(got, want, ground):
            for a, b in zip(g[:3], w):
                self.assertTrue(math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6), (g, w))
            self.assertEqual(g[3:] == (120, 255, 215, 255), road)

    def check_transform(self, h, m):
        self.assertEqual((m.parent_frame_id, m.child_frame_id), ("front/road", "front/camera"))
        t, q = m.translation, (m.rotation.x, m.rotation.y, m.rotation.z, m.rotation.w)
        self.near((t.x, t.y, t.z), (0, 0, h.height_m))
        # The optical axis points ahead and down. The direction straight down follows from pitch and roll in the camera.
        down = (math.tan(h.roll), 1, math.tan(h.pitch))
        length = math.hypot(*down)
        self.near(rotate(q, tuple(x / length for x in down)), (0, 0, -1))
        sine = math.tan(h.pitch) / length
        self.near(rotate(q, (0, 0, 1)), (math.sqrt(1 - sine * sine), 0, -sine))

    def check_scan(self, frame, m):
        """Compares a scan with that of libstixel."""
        self.assertEqual(m.frame_id, "front/road")
        if not LIBRARY:
            return
        made, data = parsed(frame)
        options = ctypes.create_string_buffer(44)
        self.assertEqual(LIBRARY.stixel_scan_defaults(made, options, ctypes.c_size_t(44)), 1)
        begin, step, count = struct.unpack_from("<2fI", options)
        ranges = (ctypes.c_float * count)()
        self.assertEqual(LIBRARY.stixel_scan(made, options, ctypes.c_size_t(44), ranges), 1)
        self.assertEqual(struct.pack("<%dd" % count, *m.ranges), struct.pack("<%dd" % count, *ranges))  # nan is equal
        self.near((m.start_angle, m.end_angle), (begin, begin + step * (count - 1)), "angles")

    def check_all(self, frames, found, plane):
        boxes = corners = 0
        for i, frame in enumerate(frames):
            h = Header(frame)
            for topic in ("frame", "scene", "points", "transform", "scan") + (("disparity",) if plane else ()):
                message, m = found["/front/" + topic][i]
                self.assertEqual((message.log_time, message.publish_time), (h.real(h.published_ns),) * 2)
                self.assertEqual(message.sequence, i)
                stamp = m.entities[0].timestamp if topic == "scene" else m.timestamp if topic != "frame" else None
                if stamp:
                    self.assertEqual(stamp.seconds * 10**9 + stamp.nanos, h.real(h.left_ns))
            self.check_frame(h, frame, found["/front/frame"][i][1])
            n = self.check_scene(h, frame, found["/front/scene"][i][1])
            boxes, corners = boxes + n[0], corners + n[1]
            self.check_points(h, frame, found["/front/points"][i][1])
            self.check_transform(h, found["/front/transform"][i][1])
            self.check_scan(frame, found["/front/scan"][i][1])
            if plane:
                width, height, pitch, pixels = recordings.images(frame)[1]
                m = found["/front/disparity"][i][1]
                self.assertEqual((m.width, m.height, m.step, m.encoding, m.frame_id),
                                 (width, height, pitch, "16UC1", "front/camera"))
                self.assertEqual(m.data, pixels)
        return boxes, corners

    def test_everything(self):
        source, frames = self.make(24, 40, 64, 2)
        found = self.read(self.export(source)[0])
        boxes, corners = self.check_all(frames, found, True)
        self.assertGreater(corners, 100)
        self.check_calibrations(frames, *([m for _, m in found["/front/" + t]]  # one per life
                                          for t in ("calibration", "calibration_right")))
        self.assertNotIn("/front/left", found)

    def check_calibrations(self, frames, left, right):
        for h, c, d in zip((Header(frames[0]), Header(frames[-1])), left, right, strict=True):
            for m in (c, d):
                self.assertEqual(list(m.K), [h.fx, 0, h.cx, 0, h.fy, h.cy, 0, 0, 1])
                self.assertEqual((m.width, m.height, list(m.D), list(m.R), m.frame_id, m.distortion_model),
                                 (h.width, h.height, [0] * 5, [1, 0, 0, 0, 1, 0, 0, 0, 1], "front/camera", "plumb_bob"))
            self.assertEqual(list(c.P), [h.fx, 0, h.cx, 0, 0, h.fy, h.cy, 0, 0, 0, 1, 0])
            self.assertEqual(list(d.P), [h.fx, 0, h.cx, -h.fx * h.baseline_m, 0, h.fy, h.cy, 0, 0, 0, 1, 0])

    def check_sums(self, path):
        """Checks the checksums that the packages ignore: of the data and of the summary."""
        with open(path, "rb") as f:
            data = f.read()
        self.assertEqual(data[-37], 2)
        start, offsets, crc = struct.unpack("<QQI", data[-28:-8])
        self.assertTrue(0 < start < offsets < len(data))
        self.assertEqual(crc, zlib.crc32(data[start:-12]))
        self.assertEqual(data[start - 13:start], struct.pack("<BQI", 15, 4, zlib.crc32(data[:start - 13])))

    def test_the_recording_itself(self):
        for encoding in ("plain", "zstd" if self.zstd() else "plain"):
            source, frames = self.make(24, 40, 64, 2, encoding)
            self.check_sums(source)
            found = self.read(source)
            self.assertEqual({c.compression for c in self.summary.chunk_indexes} - {""}, {encoding} - {"plain"})
            with open(source, "rb") as f:
                reader = make_reader(f, validate_crcs=True)
                self.assertRegex(reader.get_header().library, "^stixelctl [0-9.]+$")
                metadata = [(m.name, m.metadata) for m in reader.iter_metadata()]
                messages = list(reader.iter_messages(topics=["/front/stixel"]))
            self.assertEqual([name for name, _ in metadata],
                             ["stixel.recording", "stixel.publisher", "stixel.publisher"])
            self.assertEqual(metadata[0][1]["instance"], "front")
            self.assertEqual(metadata[2][1],
                             {"epoch": "00000000000003e9", "pid": "77", "version": "0.0.test", "config": "{}"})
            _, channel, _ = messages[0]
            self.assertEqual((channel.message_encoding, channel.metadata["stixel"]), ("stixel", "stixel"))
            self.assertRegex(channel.metadata["abi"], r"^1\.\d+$")
            for frame, (_, _, m), (message, image) in zip(frames, messages, found["/front/disparity"], strict=True):
                h = Header(frame)
                width, height, pitch, pixels = recordings.images(frame)[1]
                self.assertEqual(m.data + image.data, frame)
                self.assertEqual((image.width, image.height, image.step, image.encoding, image.data),
                                 (width, height, pitch, "16UC1", pixels))
                self.assertEqual((m.log_time, m.publish_time, message.log_time), (h.real(h.published_ns),) * 3)
            self.check_calibrations(frames, *([m for _, m in found["/front/" + t]]
                                              for t in ("calibration", "calibration_right")))
            events = [m for _, m in found["/front/events"]]
            self.assertEqual([e.kind for e in events], ["publisher", "publisher", "gap", "end"])
            self.assertEqual([e.epoch for e in events], [1000, 1001, 1001, 0])
            self.assertEqual((events[2].lost, events[2].reason), (1, "overrun"))
            self.assertEqual((events[3].frames, events[3].lost, events[3].publishers, events[3].frame_bytes_max),
                             (24, 1, 2, max(map(len, frames))))

    def test_an_export_is_a_recording(self):
        source, frames = self.make(24, 40, 64, 2)
        path, _ = self.export(source)
        self.assertEqual(recordings.frames(path), frames)
        events = [[(t, data) for t, _, data in recordings.messages(p) if t == "/front/events"] for p in (source, path)]
        self.assertEqual(*events)
        again = self.path("again.mcap")
        self.assertEqual(run("stixelctl", "export", path, again).returncode, 0)
        with open(path, "rb") as f, open(again, "rb") as g:
            a, b = ([(c.topic, m.log_time, m.data) for _, c, m in make_reader(h).iter_messages()] for h in (f, g))
        self.assertEqual(a, b)

    def test_from_an_older_publisher(self):
        source, frames = self.make(10, 40, 64, 1, version=["1.2"])
        found = self.read(self.export(source)[0])
        self.check_all(frames, found, True)
        self.assertEqual({m.road.cross for _, m in found["/front/frame"]}, {0.0})

    def test_from_a_compressed_recording_and_many_chunks(self):
        source, frames = self.make(700, 250, 0, 1, "zstd" if self.zstd() else "plain")
        path, r = self.export(source)
        found = self.read(path)
        self.check_all(frames[:3], {k: v[:3] for k, v in found.items()}, False)
        self.assertEqual(len(found["/front/frame"]), 700)
        self.assertGreater(self.summary.statistics.chunk_count, 3)
        self.assertIn("700 frames", r.stdout)
        # reads by the index, from the middle on
        middle = found["/front/frame"][350][0].log_time
        with open(path, "rb") as f:
            part = list(make_reader(f, validate_crcs=True).iter_messages(topics=["/front/frame"], start_time=middle))
        self.assertEqual([m.log_time for _, _, m in part], [m.log_time for m, _ in found["/front/frame"][350:]])

    def test_a_real_scene(self):
        """Runs the synthetic street through the daemon. Boxes must stand on the road that the transform describes."""
        name = "export-%d" % os.getpid()
        env = dict(os.environ, RUNTIME_DIRECTORY=self.path("stixeld"), XDG_RUNTIME_DIR=self.folder)
        os.mkdir(env["RUNTIME_DIRECTORY"])
        with open(self.path("c.conf"), "w", encoding="ascii") as f:
            f.write("[source]\nkind = synthetic\nsize = 320x160\nfps = 20\n[stereo]\ndisparities = 64\n"
                    "[semantics]\nsource = nobody\nclasses = road:ground tree\n")
        with subprocess.Popen([program("stixeld"), "-c", self.path("c.conf"), "--instance", name], env=env,
                              stderr=subprocess.DEVNULL) as daemon:
            try:
                r = run("stixelctl", "-i", name, "record", self.path("s.rec"), "--frames", 12, "--images",
                        "left,disparity", "--raw", "--duration", 60, env=env)
                self.assertEqual(r.returncode, 0, r.stderr)
                r = run("stixelctl", "-i", name, "record", self.path("usual.mcap"), "--frames", 12, env=env)
                self.assertEqual(r.returncode, 0, r.stderr)
            finally:
                daemon.terminate()
        self.check_usual(self.path("usual.mcap"), "/%s/" % name, "built without libjpeg" not in r.stderr)
        config = json.loads(dict(recordings.metadata(self.path("s.rec")))["stixel.publisher"]["config"])
        self.assertEqual(config["stereo"]["disparities"]["value"], 64)
        for frame in recordings.frames(self.path("s.rec")):  # includes the first frame
            self.assertEqual(set(recordings.images(frame)), {1, 2})
        found = self.read(self.export(self.path("s.rec"))[0])
        prefix = "/%s/" % name
        self.assertGreater(len(found[prefix + "left"]), 0)
        self.assertEqual({tuple(m.classes) for _, m in found[prefix + "frame"]}, {("road", "tree")})
        image = found[prefix + "left"][-1][1]
        self.assertEqual((image.width, image.height, image.encoding), (320, 160, "mono8"))
        self.assertGreater(len(set(image.data)), 50)
        scene, transform = found[prefix + "scene"][-1][1], found[prefix + "transform"][-1][1]
        q = (transform.rotation.x, transform.rotation.y, transform.rotation.z, transform.rotation.w)
        heights = []
        for p in scene.entities[0].triangles[0].points:
            if p.z < 20:
                heights.append(rotate(q, (p.x, p.y, p.z))[2] + transform.translation.z)
        self.assertGreater(len(heights), 50)
        heights.sort()
        # ground lies on the road: the middle half of the points is within 20 cm
        self.assertLess(abs(heights[len(heights) // 4]), 0.2)
        self.assertLess(abs(heights[3 * len(heights) // 4]), 0.2)
        self.assertGreater(len(scene.entities[0].cubes), 10)

    def check_usual(self, path, prefix, jpeg):
        """Reads a recording with the usual options as others do: with mcap and Foxglove's own schemas."""
        import importlib

        names = {"scene": "SceneUpdate", "scan": "LaserScan", "transform": "FrameTransform",
                 "calibration": "CameraCalibration", "calibration_right": "CameraCalibration"}
        names["left/compressed" if jpeg else "left"] = "CompressedImage" if jpeg else "RawImage"
        found = {}
        with open(path, "rb") as f:
            for schema, channel, message in make_reader(f, validate_crcs=True).iter_messages():
                name = names.get(channel.topic[len(prefix):])
                if name:
                    self.assertEqual(schema.name, "foxglove." + name)
                    m = getattr(importlib.import_module("foxglove_schemas_protobuf.%s_pb2" % name), name)()
                    m.ParseFromString(message.data)
                    found.setdefault(name, []).append(m)
        self.assertEqual(set(found), set(names.values()))
        for name in set(names.values()) - {"CameraCalibration"}:
            self.assertEqual(len(found[name]), 12, name)
        for m in found.get("CompressedImage", ()):
            self.assertEqual((m.format, m.frame_id, m.data[:3], m.data[-2:]),
                             ("jpeg", prefix[1:] + "camera", b"\xff\xd8\xff", b"\xff\xd9"))
        self.assertGreater(len(found["SceneUpdate"][-1].entities[0].cubes), 10)
        self.assertTrue(any(math.isfinite(x) for x in found["LaserScan"][-1].ranges))

    def test_jpeg_is_copied(self):
        source = self.path("jpeg.rec")
        with open(source, "wb") as f:
            subprocess.run([MAKE, "9", "20", "20", "64", "1", "jpeg"], stdout=f, check=True)
        if subprocess.run([program("stixelctl"), "info", source], capture_output=True, text=True,
                          check=False).stdout.count("built without"):
            self.skipTest("built without libjpeg")
        before = self.read(source)
        after = self.read(self.export(source)[0])
        for topic in ("left/compressed", "disparity"):
            data = [[m.data for _, m in found["/front/" + topic]] for found in (before, after)]
            self.assertEqual(len(data[0]), 9)
            self.assertEqual(*data)
        self.assertNotIn("/front/left", after)

    def test_schemas_are_foxgloves(self):
        """Compares names, numbers and types of all fields with the official package."""
        import importlib

        from google.protobuf import descriptor_pb2
        source, _ = self.make(2, 4, 16, 1)
        self.read(self.export(source)[0])
        self.assertEqual(self.schemas.pop("/front/stixel").encoding, "stixel")
        messages = 0
        for schema in self.schemas.values():
            self.assertEqual(schema.encoding, "protobuf")
            files = descriptor_pb2.FileDescriptorSet.FromString(schema.data)
            for file in files.file:
                if file.package != "foxglove":
                    continue
                for message in file.message_type:
                    module = importlib.import_module("foxglove_schemas_protobuf.%s_pb2" % message.name)
                    official = module.DESCRIPTOR.message_types_by_name[message.name]
                    want = descriptor_pb2.DescriptorProto()
                    official.CopyToProto(want)
                    key = [(f.number, f.name, f.type, f.label, f.type_name) for f in message.field]
                    self.assertEqual(sorted(key),
                                     sorted((f.number, f.name, f.type, f.label, f.type_name) for f in want.field),
                                     message.name)
                    messages += 1
        self.assertGreater(messages, 20)
        self.assertIn("/front/disparity", self.schemas)
        self.assertEqual(self.schemas["/front/frame"].name, "stixel.Frame")

    def test_without_scene(self):
        source, frames = self.make(9, 20, 0, 1)
        whole = os.path.getsize(self.export(source)[0])
        found = self.read(self.export(source, "--no-scene")[0])
        self.assertEqual(set(self.schemas),
                         {"/front/" + t for t in ("stixel", "events", "frame", "transform", "scan", "calibration",
                                            "calibration_right")})
        self.assertEqual(len(found["/front/frame"]), 9)
        self.assertLess(os.path.getsize(self.path("a.mcap")), whole * 0.7)

    def test_given_colours(self):
        source, _ = self.make(3, 20, 0, 1)

        def colours(*ends):
            found = self.read(self.export(source, *ends)[0])["/front/points"]
            return {dot[3:] for _, m in found for dot in struct.iter_unpack("<3f4B", m.data)} - {(120, 255, 215, 255)}
        self.assertGreater(len(colours()), 5)
        if LIBRARY:
            self.assertEqual(colours("--near", 0.01, "--far", 0.02), {(80, 2, 162, 255)})  # every point is farther
            self.assertEqual(colours("--near", 5000, "--far", 9000), {(240, 249, 33, 255)})

    def test_checksums(self):
        source, _ = self.make(3, 4, 0, 1)
        self.check_sums(self.export(source)[0])

    def test_damage_and_an_end_that_is_missing(self):
        source, frames = self.make(40, 10, 0, 1)
        with open(source, "r+b") as f:
            f.seek(os.path.getsize(source) // 2)
            f.write(b"\xff" * 64)
            f.truncate(os.path.getsize(source) * 3 // 4)
        path, r = self.export(source, want=65)
        self.assertIn("not a whole record", r.stderr)
        self.assertIn("ends within a record", r.stderr)
        numbers = [m.number for _, m in self.read(path)["/front/frame"]]
        self.assertGreater(len(numbers), 20)
        self.assertLess(len(numbers), 32)
        self.assertEqual(numbers, sorted(numbers))

    def test_damage_alone_and_an_end_alone(self):
        for cut in (False, True):
            source, _ = self.make(40, 10, 0, 1)
            with open(source, "r+b") as f:
                f.seek(os.path.getsize(source) // 2)
                if cut:
                    f.truncate(os.path.getsize(source) // 2 + 5)
                else:
                    f.write(b"\xff" * 64)
            path, r = self.export(source, want=65)
            self.assertIn("ends within a record" if cut else "not a whole record", r.stderr)
            self.assertGreater(len(self.read(path)["/front/frame"]), 10)

    def test_the_end_is_missing_behind_a_whole_record(self):
        source, _ = self.make(40, 10, 0, 1)
        with open(source, "r+b") as f:
            data = f.read()
            records = list(recordings.parts(data[8:]))
            last = max(i for i, (op, _) in enumerate(records) if op == recordings.CHUNK)  # the last chunk
            f.truncate(8 + sum(9 + len(content) for _, content in records[:last]))
        path, r = self.export(source)
        self.assertIn("the end of the recording is missing", r.stderr)
        self.assertEqual(len(self.read(path)["/front/frame"]), 40)

    def test_an_existing_file(self):
        source, _ = self.make(2, 4, 0, 1)
        out = self.path("old.mcap")
        with open(out, "w", encoding="ascii") as f:
            f.write("old")
        r = run("stixelctl", "export", source, out)
        self.assertEqual((r.returncode, r.stdout), (73, ""))
        self.assertIn("old.mcap already exists", r.stderr)
        with open(out, encoding="ascii") as f:
            self.assertEqual(f.read(), "old")
        self.assertEqual(self.listing(), ["a.rec", "old.mcap"])
        self.assertEqual(run("stixelctl", "export", source, out, "--force").returncode, 0)
        self.assertEqual(len(self.read(out)["/front/frame"]), 2)

    def test_a_recording_without_frames(self):
        source, _ = self.make(0, 4, 0, 1)
        path, r = self.export(source)
        self.assertIn("no frame", r.stdout)
        with open(path, "rb") as f:
            self.assertEqual([c.topic for _, c, _ in make_reader(f).iter_messages()], ["/front/events"])

    def test_a_file_that_cannot_be_written(self):
        source, _ = self.make(40, 10, 0, 1)
        r = run("stixelctl", "export", source, self.path("none", "x.mcap"))
        self.assertEqual(r.returncode, 73)
        self.assertIn("x.mcap", r.stderr)
        self.assertEqual(self.listing(), ["a.rec"])


if __name__ == "__main__":
    unittest.main()
