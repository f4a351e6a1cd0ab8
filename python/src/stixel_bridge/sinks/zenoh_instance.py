"""Publishes one instance over zenoh under its keys, and answers queries there.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import json
import threading
import time
from typing import Any, Callable, Dict, FrozenSet, Mapping, Optional, Tuple

from stixel import FrameFlag, Plane, _daemon
from stixel import _zenoh_session as session
from stixel._planes import select

from ..sink import Instance, Report, Work

KINDS = {"left": Plane.LEFT, "right": Plane.RIGHT, "disparity": Plane.DISPARITY}
THERE = ("alive", "stalled")  # states of a publisher that readers may wait for
CALIBRATION = ("image_width", "image_height", "fx", "fy", "cx", "cy", "baseline_m", "pitch_rad", "roll_rad", "height_m")
_DAEMON_S = 2.0
_SILENCE_NS = 2_000_000_000
_FRAME, _JSON = "application/octet-stream", "application/json"


def _frame_of(work: Work, *kinds: Plane) -> bytes:
    """Returns the frame's bytes with only these planes, made once for all sinks."""
    made: bytes = work.once(("zenoh frame", kinds), lambda: select(work.frame.raw, kinds))
    return made


class _Key:
    """A publisher of a key, and whether it has a subscriber."""

    def __init__(self, opened: Any, key: str, **more: Any) -> None:
        self._publisher = opened.declare_publisher(key, **more)
        self.wanted = False
        self._listener = self._publisher.declare_matching_listener(self._on_matching)
        self.look()

    def _on_matching(self, status: Any) -> None:
        self.wanted = status.matching

    def look(self) -> None:
        """Queries the subscriptions, in case that a change was missed."""
        self.wanted = self._publisher.matching_status.matching

    def put(self, data: bytes) -> int:
        self._publisher.put(data)
        return len(data)


class Published:
    """Publishers and answers of one instance. Made when the sink is opened; ends with its session."""

    def __init__(self, opened: Any, host: str, instance: Instance, options: Mapping[str, Any]) -> None:
        zenoh = session.package()
        self._session = opened
        self._name = instance.name
        self._base = "%s/%s/%s" % (session.ROOT, host, instance.name)
        self._token: Any = None
        self._lock = threading.Lock()  # guards the number of queries
        self._last: Optional[Work] = None
        self._ended = 0  # epoch of the publisher that ended last
        self._status = b""
        self.queries = 0  #: queries answered
        self.image_bytes = 0
        drop = zenoh.CongestionControl.DROP
        self._frame = _Key(
            opened, self._base + "/frame", encoding=_FRAME, express=options["express"],
            congestion_control=zenoh.CongestionControl.BLOCK if options["congestion"] == "block" else drop,
            priority=getattr(zenoh.Priority, options["priority"].replace("-", "_").upper()),
            reliability=getattr(zenoh.Reliability, options["reliability"].replace("-", "_").upper()))
        self._images = {kind: _Key(opened, "%s/%s" % (self._base, kind), encoding=_FRAME, congestion_control=drop,
                                   priority=zenoh.Priority.DATA_LOW) for kind in KINDS}
        self._reports = _Key(opened, self._base + "/status", encoding=_JSON, congestion_control=drop)
        self._answer("clock", lambda: (_JSON, b'{"monotonic_ns": %d, "realtime_ns": %d}' % (
            time.monotonic_ns(), time.time_ns())))
        self._answer("frame", self._last_frame)
        self._answer("status", lambda: (_JSON, self._status) if self._status else None)
        self._answer("configuration", self._configuration)
        self._answer("calibration", self._calibration)

    # -- queries, in threads of zenoh --
    def _answer(self, what: str, make: Callable[[], Optional[Tuple[str, bytes]]]) -> None:
        key = "%s/%s" % (self._base, what)

        def answer(query: Any) -> None:
            with query:
                made = make()
                if made:
                    query.reply(key, made[1], encoding=made[0])
                else:
                    query.reply_err("%s: not known now" % key)
            with self._lock:
                self.queries += 1

        self._session.declare_queryable(key, answer)

    def _last_frame(self) -> Optional[Tuple[str, bytes]]:
        last = self._last
        return (_FRAME, _frame_of(last)) if last else None

    def _configuration(self) -> Optional[Tuple[str, bytes]]:
        answer = _daemon.ask(self._name, "/settings", _DAEMON_S)
        return (_JSON, answer[1]) if answer and answer[0] == 200 else None

    def _calibration(self) -> Optional[Tuple[str, bytes]]:
        last = self._last
        if not last:
            return None
        said: Dict[str, Any] = {name: last.frame.header[name].item() for name in CALIBRATION}
        said["rectified"] = bool(last.frame.flags & FrameFlag.RECTIFIED)
        return _JSON, json.dumps(said).encode()

    # -- the sink's thread --
    def _come(self) -> None:
        if self._token is None:
            self._status = b""  # removes the status of the previous publisher
            self._token = self._session.liveliness().declare_token(self._base)

    def _go(self) -> None:
        token, self._token = self._token, None
        if token is not None:
            self._ended = self._last.frame.epoch if self._last else 0
            self._last = None
            token.undeclare()

    def send(self, work: Work) -> int:
        """Sends a frame to its subscribers. Returns the bytes; 0 for a frame that waited while its publisher ended."""
        if work.frame.epoch == self._ended:
            return 0
        self._come()
        self._last = work
        sent = self._frame.put(_frame_of(work)) if self._frame.wanted else 0
        for kind, key in self._images.items():
            if key.wanted:  # also a frame without this image, so that readers do not wait for it
                size = key.put(_frame_of(work, KINDS[kind]))
                self.image_bytes += size
                sent += size
        return sent

    def report(self, report: Report) -> int:
        """Sends the state once a second, because readers treat a silent publisher as stalled. Returns the bytes."""
        publisher, status = report.publisher, report.status or {}
        if publisher not in THERE and not self._is_gone(report):
            publisher = "stalled"
        if publisher in THERE:
            self._come()
        self._status = json.dumps({
            "publisher": publisher, "state": report.state, "version": str(status.get("version", "")),
            "status": report.status}).encode()
        for key in (self._frame, *self._images.values(), self._reports):
            key.look()
        sent = self._reports.put(self._status) if self._reports.wanted else 0
        if publisher not in THERE:
            self._go()
        return sent

    def _is_gone(self, report: Report) -> bool:
        """Returns whether the publisher has gone.

        A report may be older than a successor whose frames have already come.
        """
        silence_ns = time.monotonic_ns() - self._last.taken_ns if self._last else _SILENCE_NS
        return report.status is None or silence_ns >= _SILENCE_NS

    def images(self) -> FrozenSet[str]:
        """Returns the images with a subscriber."""
        return frozenset(kind for kind, key in self._images.items() if key.wanted)
