# A constructed street with known geometry: 500 px focal length, 0.2 m baseline, a level camera 1 m above a flat road.
# SPDX-License-Identifier: Apache-2.0
import support

import numpy as np

import stixel
from stixel import Kind, Plane

pack, seal = support.instances().pack, support.instances().seal

WIDTH, HEIGHT, COLUMN = 640, 480, 5
ANCHOR_NS = 1_795_676_874_250_000_000  # wall clock time at 0 of the monotonic clock
BOX_ROWS = (216, 289)  # a box 10 m ahead, from the road up to 1.5 m
GATE_ROWS = (100, 164)  # a gate 10 m ahead, from 2.5 m up
CAMERA = {"fx": 500.0, "fy": 500.0, "cx": 320.0, "cy": 240.0, "baseline_m": 0.2}
ROAD = {"road_origin": 1, "road_slope": 0.2, "road_offset": -48.0, "horizon_row": 240.0, "height_m": 1.0,
        "road_inliers": 500}


def frame_of(columns, images=(), **header):
    """Returns a frame of these columns with the camera and the road of the street."""
    values = dict(CAMERA, column_width=COLUMN, disparities=64, capture_left_ns=123_456_789,
                  capture_right_ns=123_456_789, submitted_ns=125_000_000, published_ns=133_456_789,
                  anchor_realtime_ns=ANCHOR_NS, **ROAD)
    return stixel.load(pack(columns, images, **dict(values, **header)))


def _ground(top):
    slope = 0.2  # px per row
    return {"kind": Kind.GROUND, "row_top": top, "row_bottom": HEIGHT - 1, "support": 900, "confidence": 200,
            "disparity_q7": round((HEIGHT - 1 - 240) * slope * 128), "slope_q14": -round(slope * 16384)}


def _object(rows, label):
    return {"kind": Kind.OBJECT, "row_top": rows[0], "row_bottom": rows[1], "support": 200, "confidence": 230,
            "disparity_q7": 10 * 128, "label": label}


def _columns():
    sky = {"kind": Kind.SKY, "row_top": 0, "disparity_q7": 0}
    for u in range(WIDTH // COLUMN):
        if u < 10:  # columns out of the right camera's view
            yield [{"kind": Kind.UNKNOWN, "row_top": 0, "row_bottom": HEIGHT - 1, "disparity_q7": 0xFFFF}]
        elif 40 <= u < 88:  # the box
            yield [_ground(BOX_ROWS[1] + 1), _object(BOX_ROWS, 3), dict(sky, row_bottom=BOX_ROWS[0] - 1)]
        elif 96 <= u < 110:  # a gate that a vehicle can drive below
            yield [_ground(241), _object(GATE_ROWS, 4), dict(sky, row_bottom=GATE_ROWS[0] - 1)]
        else:
            yield [_ground(241), dict(sky, row_bottom=240)]


def _plane(name):
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    if name == "disparity":
        q4 = np.where(y > 240, (y - 240) * 0.2 * 16, 0xFFFF).astype("<u2")
        q4[:, :20] = 0xFFFF
        q4[:240, 200:440] = 160
        return Plane.DISPARITY, q4
    return getattr(Plane, name.upper()), ((x // 4 + y // 3) % 200 + 20).astype("u1")


def street(planes=(), **header):
    """Returns a frame of the street, with images of these names."""
    return frame_of(list(_columns()), [_plane(name) for name in planes], **header)


def objects_frame(found, of=None, columns=None, **header):
    """Returns the bytes of a street whose table has these objects. of: an object's number + 1 for each stixel."""
    values = dict({"motion_span_ns": 100_000_000, "ego_way_m": (0, 0, 1), "ego_way_sigma_m": (0.01, 0.01, 0.01)},
                  **header)
    plain = (frame_of(columns, **values) if columns else street(**values)).raw
    h = np.frombuffer(plain, stixel.HEADER, 1).copy()
    count = int(h["stixel_count"][0])
    h["objects_offset"], h["object_count"], h["object_bytes"] = len(plain), len(found), found.itemsize
    tail = found.tobytes()
    if len(found):
        h["object_of_offset"] = len(plain) + len(tail)
        tail += bytes(of if of is not None else count)
    h["frame_bytes"] += len(tail) + -len(tail) % 8
    return stixel.load(seal(h.tobytes() + plain[h.itemsize:] + tail + bytes(-len(tail) % 8)))


def table(*rows):
    """Returns a table of objects, the values of each over some of a car that drives away, 10 m ahead."""
    found = np.zeros(len(rows), stixel.OBJECT)
    for i, row in enumerate(rows):
        values = dict({"id": i + 1, "state": 2, "label": 255, "frames": 20, "x": 0, "y": 1, "z": 10, "pxx": 0.01,
                       "pxz": 0.002, "pzz": 0.04, "width": 1.8, "height": 1.5, "vx": 0, "vz": 5, "sxx": 0.09,
                       "sxz": 0.03, "szz": 0.25, "age_s": 2, "unseen_s": 0, "left": 300, "right": 340, "top": 200,
                       "bottom": 289, "stixels": 8}, **row)
        for name, value in values.items():
            found[name][i] = value
    return found
