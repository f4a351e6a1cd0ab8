# A constructed street with known geometry: 500 px focal length, 0.2 m baseline, a level camera 1 m above a flat road.
# SPDX-License-Identifier: Apache-2.0
import support

import numpy as np

import stixel
from stixel import Kind, Plane

pack = support.instances().pack

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
