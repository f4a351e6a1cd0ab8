"""Serves the state of the bridge: /status (JSON), /metrics (OpenMetrics) and /healthz at its own Unix socket.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import json
import os
import threading
import time
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Sequence, Tuple

from stixel import _status
from stixel._status import OPENMETRICS, Metrics

if TYPE_CHECKING:
    from .instances import Source
    from .pairs.feed import Feed
    from .rig import Rig
    from .runner import Runner

QUANTILES = [0.5, 0.9, 0.99]
SIDES = ("left", "right")
FATES = ("taken", "overload", "bad", "lost")


def _instance(source: Source) -> Dict[str, Any]:
    return {"instance": source.instance.name, "publisher": source.publisher, "state": source.state, "why": source.why,
            "frames": source.frames, "lost": source.lost, "damaged": source.damaged, "restarts": source.restarts,
            "internal_errors": source.internal}


def _way(runner: Runner, name: str) -> Dict[str, Any]:
    counts = runner.counts[name]
    found = counts.quantiles(QUANTILES)
    return {"instance": name, "sent": counts.sent, "bytes": counts.bytes, "per_second": round(counts.per_second(), 2),
            "dropped": {"busy": counts.dropped_busy, "not_connected": counts.dropped_closed},
            "skipped": counts.skipped, "unwanted": counts.unwanted,
            "latency_ms": dict(zip(("p50", "p90", "p99"), (round(s * 1e3, 3) for s in found))) if found else None}


def _sink(runner: Runner) -> Dict[str, Any]:
    state = runner.state
    return {"sink": runner.sink.name, "kind": runner.sink.options["kind"], "state": state.name, "why": state.why,
            "since_s": round(time.monotonic() - state.since, 1), "failures": state.failures,
            "internal_errors": state.internal, "instances": [_way(runner, name) for name in runner.counts],
            "figures": runner.sink.figures()}


def _rig(rig: Rig) -> Dict[str, Any]:
    return {"rig": rig.instance.name, "frames": rig.together + rig.partial, "partial": rig.partial, "late": rig.late,
            "missing": dict(rig.missing)}


def _pairs(feed: Feed) -> Dict[str, Any]:
    state, giver, matcher = feed.state, feed.giver, feed.matcher
    return {"pairs": feed.input.name, "instance": feed.instance, "kind": feed.input.options["kind"],
            "state": state.name, "why": state.why, "since_s": round(time.monotonic() - state.since, 1),
            "failures": state.failures, "internal_errors": state.internal,
            "images": dict(zip(SIDES, matcher.images)), "unmatched": dict(zip(SIDES, matcher.unmatched)),
            "damaged": feed.damaged, "dropped": _dropped(feed), "given": giver.given, "daemon_why": giver.why,
            "returned": {name: getattr(giver.counts, name) for name in FATES},
            "daemons": giver.counts.connections, "figures": feed.input.figures()}


def _dropped(feed: Feed) -> Dict[str, int]:
    """Returns the pairs that no daemon got, by reason."""
    return {"busy": feed.replaced, "no_camera_info": feed.no_info, "unusable": feed.giver.unusable,
            "no_daemon": feed.giver.counts.dropped}


def status(bridge: Mapping[str, Any], sources: Sequence[Source], runners: Sequence[Runner],
           rigs: Sequence[Rig], feeds: Sequence[Feed] = ()) -> Dict[str, Any]:
    """Returns the content of /status."""
    return {"bridge": bridge["name"], "host": bridge["host"], "version": bridge["version"], "pid": os.getpid(),
            "uptime_s": round(time.monotonic() - bridge["started"], 1),
            "instances": [_instance(source) for source in sources], "rigs": [_rig(rig) for rig in rigs],
            "sinks": [_sink(runner) for runner in runners], "pairs": [_pairs(feed) for feed in feeds]}


def _ways(runners: Sequence[Runner]) -> List[Tuple[Dict[str, str], Any]]:
    return [({"sink": r.sink.name, "instance": name}, counts) for r in runners for name, counts in r.counts.items()]


def _latencies(ways: Sequence[Tuple[Dict[str, str], Any]]) -> List[Tuple[str, Dict[str, str], float]]:
    samples = []
    for labels, counts in ways:
        found = counts.quantiles(QUANTILES)
        samples += [("", {**labels, "quantile": "%g" % q}, s) for q, s in zip(QUANTILES, found or [])]
    return samples


def _pairs_metrics(t: Metrics, feeds: Sequence[Feed]) -> None:
    ways = [({"pairs": f.input.name, "instance": f.instance}, f) for f in feeds]
    t.family("stixel_bridge_pairs_connected", "gauge", "1 while the input has its connection.",
             [("", labels, int(f.state.name == "connected")) for labels, f in ways])
    t.family("stixel_bridge_pairs_failures", "counter", "Connections of an input lost, or not made.",
             [("_total", labels, f.state.failures) for labels, f in ways])
    t.family("stixel_bridge_pairs_images", "counter", "Images received.",
             [("_total", {**labels, "side": s}, n) for labels, f in ways for s, n in zip(SIDES, f.matcher.images)])
    t.family("stixel_bridge_pairs_unmatched", "counter", "Images without an image of the other side.", [
        ("_total", {**labels, "side": side}, n) for labels, f in ways for side, n in zip(SIDES, f.matcher.unmatched)])
    t.family("stixel_bridge_pairs_damaged", "counter", "Messages that could not be parsed.",
             [("_total", labels, f.damaged) for labels, f in ways])
    t.family("stixel_bridge_pairs_given", "counter", "Pairs given to a daemon.",
             [("_total", labels, f.giver.given) for labels, f in ways])
    t.family("stixel_bridge_pairs_dropped", "counter", "Pairs that were given to no daemon.", [
        ("_total", {**labels, "reason": reason}, n) for labels, f in ways for reason, n in _dropped(f).items()])
    t.family("stixel_bridge_pairs_returned", "counter", "Pairs that came back from a daemon.", [
        ("_total", {**labels, "fate": name}, getattr(f.giver.counts, name)) for labels, f in ways for name in FATES])


def metrics(bridge: Mapping[str, Any], sources: Sequence[Source], runners: Sequence[Runner],
            rigs: Sequence[Rig], feeds: Sequence[Feed] = ()) -> str:
    """Returns the text of /metrics."""
    t, ways = Metrics({"bridge": bridge["name"]}), _ways(runners)
    t.family("stixel_bridge", "info", "What runs.", [
        ("_info", {"host": bridge["host"], "version": bridge["version"]}, 1)])
    t.family("stixel_bridge_uptime_seconds", "gauge", "Since the bridge started.",
             [("", {}, time.monotonic() - bridge["started"])])
    t.family("stixel_bridge_instance_frames", "counter", "Frames read from an instance.",
             [("_total", {"instance": s.instance.name}, s.frames) for s in sources])
    t.family("stixel_bridge_instance_lost", "counter", "Frames overwritten before they were read, or damaged.",
             [("_total", {"instance": s.instance.name}, s.lost + s.damaged) for s in sources])
    t.family("stixel_bridge_rig_frames", "counter", "Frames of a rig.",
             [("_total", {"rig": rig.instance.name}, rig.together + rig.partial) for rig in rigs])
    t.family("stixel_bridge_rig_missing", "counter", "Frames of a rig without this instance.", [
        ("_total", {"rig": rig.instance.name, "instance": name}, count)
        for rig in rigs for name, count in rig.missing.items()])
    t.family("stixel_bridge_rig_late", "counter", "Frames of instances that were in no frame of the rig.",
             [("_total", {"rig": rig.instance.name}, rig.late) for rig in rigs])
    t.family("stixel_bridge_connected", "gauge", "1 while the sink has its connection.",
             [("", {"sink": r.sink.name, "kind": r.sink.options["kind"]}, int(r.state.name == "connected"))
              for r in runners])
    t.family("stixel_bridge_failures", "counter", "Connections lost, or not made.",
             [("_total", {"sink": r.sink.name}, r.state.failures) for r in runners])
    t.family("stixel_bridge_sent", "counter", "Frames given to the network.",
             [("_total", labels, c.sent) for labels, c in ways])
    t.family("stixel_bridge_sent_bytes", "counter", "Bytes of these frames.",
             [("_total", labels, c.bytes) for labels, c in ways])
    t.family("stixel_bridge_dropped", "counter", "Frames that were not sent.", [
        ("_total", {**labels, "reason": reason}, value) for labels, c in ways
        for reason, value in (("busy", c.dropped_busy), ("not_connected", c.dropped_closed), ("rate", c.skipped))])
    t.family("stixel_bridge_unwanted", "counter", "Frames that no sink wanted.",
             [("_total", labels, c.unwanted) for labels, c in ways])
    t.family("stixel_bridge_latency_seconds", "summary", "From capture until given away, of the last ten seconds.",
             _latencies(ways))
    names = sorted({name for r in runners for name in r.sink.figures()})
    for name in names:
        t.family("stixel_bridge_sink_" + name, "gauge", "The sink's own figure %s." % name,
                 [("", {"sink": r.sink.name}, float(r.sink.figures()[name])) for r in runners
                  if name in r.sink.figures()])
    _pairs_metrics(t, feeds)
    return t.end()


class Server(_status.Server):
    """Serves the state of the bridge."""

    def __init__(self, bridge: Mapping[str, Any], sources: Sequence[Source], runners: Sequence[Runner],
                 threads: Sequence[threading.Thread] = (), rigs: Sequence[Rig] = (),
                 feeds: Sequence[Feed] = ()) -> None:
        self._bridge, self._sources, self._runners, self._rigs = bridge, sources, runners, rigs
        self._feeds = feeds
        self._watched = threads  #: threads that must run as long as the server answers
        super().__init__("stixel-bridge", bridge["name"])

    def answer(self, path: str) -> Tuple[int, str, str]:
        """Returns code, content type and body."""
        if path == "/status":
            said = status(self._bridge, self._sources, self._runners, self._rigs, self._feeds)
            return 200, "application/json", json.dumps(said) + "\n"
        if path == "/metrics":
            text = metrics(self._bridge, self._sources, self._runners, self._rigs, self._feeds)
            return 200, OPENMETRICS, text
        if path == "/healthz":
            bad = [r for r in (*self._runners, *self._feeds) if r.state.name != "connected"]
            lines = "".join("%s: %s %s\n" % (r.name, r.state.name, r.state.why) for r in bad)
            lines += "".join("thread %s: has ended\n" % t.name for t in self._watched if not t.is_alive())
            return 503 if lines else 200, "text/plain; charset=utf-8", lines or "ok\n"
        return 404, "text/plain; charset=utf-8", "there are /status, /metrics and /healthz\n"
