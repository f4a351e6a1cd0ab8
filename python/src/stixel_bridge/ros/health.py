"""Makes diagnostic_msgs/DiagnosticArray of an instance from the daemon's /status, in three parts.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Tuple

from . import store
from .frames import header

if TYPE_CHECKING:
    from ..sink import Report

OK, WARN, ERROR, STALE = 0, 1, 2, 3  # levels of diagnostic_msgs/DiagnosticStatus

_STATES = {"running": OK, "starting": WARN, "degraded": WARN, "stopping": WARN}  # other states: ERROR
# Values of /status: name in the message, and path in the JSON. Null values are left out.
_DAEMON = [
    ("version", "version"), ("process", "pid"), ("uptime, s", "uptime_s"), ("engine", "engine.backend"),
    ("device", "engine.device"), ("frames a second, last second", "fps.last_1s"),
    ("captured", "frames.captured"), ("published", "frames.published"),
    ("dropped, overload", "frames.dropped.overload"), ("dropped, unpaired", "frames.dropped.unpaired"),
    ("dropped, corrupt", "frames.dropped.corrupt"),
    ("latency p50, us", "latency_10s_us.capture_to_publish.p50"),
    ("latency p99, us", "latency_10s_us.capture_to_publish.p99"), ("stixels a frame", "stixels.per_frame"),
    ("power, W", "power.watts"), ("power mode", "board.power_mode.name"),
]
_PICTURES = [
    ("density", "pictures.density"), ("at infinity", "pictures.at_infinity"),
    ("row error, px", "pictures.row_error_px.all"), ("dark, left", "pictures.dark.left"),
    ("dark, right", "pictures.dark.right"), ("saturated, left", "pictures.saturated.left"),
    ("saturated, right", "pictures.saturated.right"), ("sharpness, left", "pictures.sharpness.left"),
    ("sharpness, right", "pictures.sharpness.right"), ("pair skew p99, us", "source.pair_skew_us.p99"),
]
_ROAD = [
    ("origin", "road.origin"), ("pitch, deg", "road.pitch_deg"), ("roll, deg", "road.roll_deg"),
    ("height, m", "road.height_m"), ("inliers", "road.inliers"), ("age, frames", "road.age_frames"),
]
_CAMERA = [("format", "format"), ("captured", "captured"), ("errors", "errors"), ("sequence gaps", "sequence_gaps"),
           ("reconnects", "reconnects")]


def _find(tree: Any, way: str) -> Any:
    for key in way.split("."):
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def _values(tree: Any, ways: List[Tuple[str, str]], side: str = "") -> List[Any]:
    found = []
    for name, way in ways:
        value = _find(tree, way)
        if value is not None and not isinstance(value, (dict, list)):
            text = "%.6g" % value if isinstance(value, float) else str(value)
            found.append(store.make("diagnostic_msgs/msg/KeyValue", key=side + name, value=text))
    return found


def _part(name: str, level: int, message: str, hardware: str, values: List[Any]) -> Any:
    return store.make("diagnostic_msgs/msg/DiagnosticStatus", level=level, name=name, message=message,
                      hardware_id=hardware, values=values)


def _level(report: Report) -> Tuple[int, str]:
    if report.publisher != "alive":
        return STALE, "no frames: the publisher is " + report.publisher
    reason = _find(report.status, "reason")
    return _STATES.get(report.state, ERROR), report.state + (": " + reason if isinstance(reason, str) else "")


def _cameras(status: Dict[str, Any]) -> List[Dict[str, Any]]:
    cameras = _find(status, "source.cameras")
    return [c for c in cameras if isinstance(c, dict)] if isinstance(cameras, list) else []


def _limit(status: Dict[str, Any]) -> Tuple[int, str]:
    """Returns a level, and whether the images are within the limits of the daemon's configuration."""
    for name, worse in (("density", -1), ("at_infinity", 1), ("row_error_px", 1), ("dark", 1)):
        limit, value = _find(status, "pictures.limits." + name), _find(status, "pictures." + name)
        values = value.values() if isinstance(value, dict) else [value]
        numbers = [abs(v) for v in values if isinstance(v, (int, float))]
        if isinstance(limit, (int, float)) and any(worse * v > worse * limit for v in numbers):
            return WARN, "%s is out of its limit %g" % (name, limit)
    return OK, "within their limits"


def diagnostics(report: Report, ns: int) -> Any:
    """Makes diagnostic_msgs/DiagnosticArray at a time of the wall clock, ns.

    Without an answer of the daemon, it has only the first part. A replayed recording has no daemon.
    """
    name, status = report.instance.name, report.status
    level, message = _level(report)
    cameras = _cameras(status) if status is not None else []
    hardware = ", ".join(str(c["path"]) for c in cameras if c.get("path"))
    parts = [_part(name + ": stixeld", level, message, hardware, _values(status, _DAEMON))]
    if status is not None and level != STALE:
        values = _values(status, _PICTURES)
        for camera in cameras:
            values += _values(camera, _CAMERA, "%s " % camera.get("side", "?"))
        parts.append(_part(name + ": pictures", *_limit(status), hardware, values))
        origin = _find(status, "road.origin")
        parts.append(_part(name + ": road", OK if origin in ("measured", "calibration") else WARN,
                           str(origin) if origin else "none", hardware, _values(status, _ROAD)))
    return store.make(store.DIAGNOSTICS, header=header(ns, ""), status=parts)
