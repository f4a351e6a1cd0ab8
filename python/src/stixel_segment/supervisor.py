"""Runs the worker in a process of its own, starts it again if it hangs or dies, and counts.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

import stixel
from stixel import _status
from stixel._program import FAILED, notify
from stixel._status import OPENMETRICS, Metrics, Recent

from .text import PROGRAM

BACKOFF_LEAST_S = 0.5
BACKOFF_MOST_S = 30.0
SETTLED_S = 10.0  # after a worker of this age, the waiting time starts again at the least value
LOAD_S = 120.0  # limit of loading a network, and of its first image
BUILD_S = 3600.0  # limit of building a TensorRT engine
STOP_S = 3.0
REPORT_S = 30.0  # interval of lines about building
QUANTILES = [0.5, 0.9, 0.99]


class State:
    """What is known of the worker. The main thread writes it, the status server reads it."""

    def __init__(self) -> None:
        self.name = "loading"  #: loading, building, waiting, running, restarting
        self.why = ""
        self.since = time.monotonic()
        self.network: Dict[str, str] = {}
        self.pid = 0
        self.written = 0
        self.skipped = 0  #: images replaced by newer ones while the network was busy
        self.bad = 0  #: images for which the network gave nothing usable
        self.died = 0
        self.hung = 0
        self.took = Recent()
        self.age = Recent()

    def go(self, name: str, why: str = "") -> None:
        """Changes the state."""
        self.name, self.why, self.since = name, why, time.monotonic()


class Server(_status.Server):
    """Serves the state: /status, /metrics, /healthz."""

    def __init__(self, instance: str, state: State) -> None:
        self._instance, self._state, self._began = instance, state, time.monotonic()
        super().__init__(PROGRAM, instance)

    def _json(self) -> Dict[str, Any]:
        s = self._state

        def of(recent: Recent) -> Optional[Dict[str, float]]:
            found = recent.quantiles(QUANTILES)
            return dict(zip(("p50", "p90", "p99"), (round(x * 1e3, 2) for x in found))) if found else None
        return {"segment": self._instance, "version": stixel.__version__, "pid": os.getpid(), "worker_pid": s.pid,
                "uptime_s": round(time.monotonic() - self._began, 1), "network": s.network, "state": s.name,
                "why": s.why, "since_s": round(time.monotonic() - s.since, 1), "written": s.written,
                "skipped": s.skipped, "bad": s.bad, "restarts": {"died": s.died, "hung": s.hung},
                "per_second": round(s.took.per_second(), 2), "network_ms": of(s.took), "age_ms": of(s.age)}

    def _metrics(self) -> str:
        s, t = self._state, Metrics({"instance": self._instance})
        t.family("stixel_segment", "info", "What runs.", [("_info", {"version": stixel.__version__, **s.network}, 1)])
        t.family("stixel_segment_running", "gauge", "1 while the network gets images.",
                 [("", {}, int(s.name == "running"))])
        t.family("stixel_segment_images", "counter", "Images of the instance, by what became of them.", [
            ("_total", {"fate": name}, getattr(s, name)) for name in ("written", "skipped", "bad")])
        t.family("stixel_segment_restarts", "counter", "Starts of the network after it died or hung.", [
            ("_total", {"reason": name}, getattr(s, name)) for name in ("died", "hung")])
        for name, help_, recent in (("network", "From image to scores", s.took),
                                    ("age", "From capture to scores", s.age)):
            found = recent.quantiles(QUANTILES)
            t.family("stixel_segment_%s_seconds" % name, "summary", help_ + ", of the last ten seconds.", [
                ("", {"quantile": "%g" % q}, x) for q, x in zip(QUANTILES, found or [])])
        return t.end()

    def answer(self, path: str) -> Tuple[int, str, str]:
        """Returns code, content type and body."""
        if path == "/status":
            return 200, "application/json", json.dumps(self._json()) + "\n"
        if path == "/metrics":
            return 200, OPENMETRICS, self._metrics()
        if path == "/healthz":
            s = self._state
            bad = "" if s.name == "running" else "%s: %s\n" % (s.name, s.why)
            return 503 if bad else 200, "text/plain; charset=utf-8", bad or "ok\n"
        return 404, "text/plain; charset=utf-8", "there are /status, /metrics and /healthz\n"


class Supervisor:
    """Keeps a worker. arguments: of worker.main() after the instance. limit_s: limit of one image."""

    def __init__(self, instance: str, arguments: List[str], limit_s: float, say: Callable[[str], None]) -> None:
        self._arguments, self._limit_s, self._say = [instance, *arguments], limit_s, say
        self.state = State()
        self._server = Server(instance, self.state)
        self._ends, self._wake = os.pipe()  # readable after stop()
        self._child: Optional["subprocess.Popen[bytes]"] = None
        self._images = 0  # finished by this worker
        self._bad = ""  # last reason of a bad output

    def stop(self, *_: Any) -> None:
        """Ends run(). May be called from a signal handler."""
        os.write(self._wake, b".")

    def _sleep(self, seconds: float) -> bool:
        """Sleeps; True: stop() was called."""
        return bool(select.select([self._ends], [], [], seconds)[0])

    def _start(self) -> int:
        """Starts a worker. Returns the descriptor of its pipe."""
        reads, writes = os.pipe()
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(os.path.abspath(p) for p in sys.path if p))
        environment.pop("NOTIFY_SOCKET", None)
        self._child = subprocess.Popen(
            [sys.executable, "-m", "stixel_segment.worker", str(writes), os.getcwd(), *self._arguments],
            pass_fds=[writes], env=environment, stdin=subprocess.DEVNULL, cwd="/")
        os.close(writes)
        self._images, self.state.pid = 0, self._child.pid
        return reads

    def _take(self, what: Dict[str, Any]) -> None:
        s = self.state
        if "state" in what:
            if (what["state"], what["why"]) != (s.name, s.why):
                s.go(what["state"], what["why"])
                if s.why:
                    self._say(s.why)
        if "network" in what:
            s.network = what["network"]
            s.go("waiting", "for the first image")
            self._say("%s by %s, classes of %s" % (s.network["model"], s.network["back_end"], s.network["table"]))
        done = what.get("written")
        if done:
            s.written += 1
            s.skipped += done["skipped"]
            s.took.add(done["ms"] / 1e3)
            s.age.add(done["age_ms"] / 1e3)
            if self._bad:
                self._say("its output can be used again")
            self._bad = ""
        if "bad" in what:
            s.bad += 1
            s.skipped += what["skipped"]
            if what["bad"] != self._bad:
                self._say("an image gets no scores: the network's fault: " + what["bad"])
            self._bad = what["bad"]
        self._images += bool(done or "bad" in what)

    def _limit(self) -> float:
        if self.state.name == "building":
            return BUILD_S
        return self._limit_s if self._images else max(LOAD_S, self._limit_s)

    def _report(self, last: float) -> float:
        """Writes to the log, and to systemd, now and then. Returns the time of the last line."""
        s, now = self.state, time.monotonic()
        if now - last < REPORT_S:
            return last
        if s.name == "building":
            self._say("still builds the TensorRT engine, for %.0f s" % (now - s.since))
        notify("STATUS=%s: %d written, %d skipped, %d bad; %d died, %d hung" % (
            s.name, s.written, s.skipped, s.bad, s.died, s.hung))
        return now

    def _watch(self, pipe: int) -> Optional[str]:
        """Reads a worker's pipe until it ends. Returns why it is to be ended, "" if it ended itself, None after
        stop()."""
        rest, heard, reported = b"", time.monotonic(), 0.0
        while True:
            ready = select.select([pipe, self._ends], [], [], 0.2)[0]
            if self._ends in ready:
                return None
            if pipe in ready:
                data = os.read(pipe, 65536)
                if not data:
                    return ""
                heard = time.monotonic()
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self._take(json.loads(line))
            elif time.monotonic() - heard > self._limit():
                return "nothing came from it for %g s" % self._limit()
            reported = self._report(reported)

    def _end_child(self, kindly: bool) -> int:
        """Ends the worker, if it has not ended. Returns its exit code."""
        assert self._child
        if kindly:
            self._child.terminate()
            try:
                return self._child.wait(STOP_S)
            except subprocess.TimeoutExpired:
                pass
        self._child.kill()
        return self._child.wait()

    def run(self) -> int:
        """Runs until stop() is called, or until an error that a restart does not mend. Returns the exit code."""
        threading.Thread(target=self._server.serve_forever, args=(0.1,), name="status", daemon=True).start()
        notify("READY=1")
        wait_s, s = BACKOFF_LEAST_S, self.state
        try:
            while True:
                s.go("loading")
                began = time.monotonic()
                pipe = self._start()
                why = self._watch(pipe)
                if why is None:
                    self._end_child(True)
                    os.close(pipe)
                    return 0
                if why:
                    s.hung += 1
                    self._end_child(False)
                else:
                    assert self._child
                    code = self._child.wait()
                    if code >= 64 and code != FAILED:  # the worker has said why
                        return code
                    s.died += 1
                    why = "it was ended by %s" % signal.Signals(-code).name if code < 0 else "it ended with %d" % code
                os.close(pipe)
                if time.monotonic() - began > SETTLED_S:
                    wait_s = BACKOFF_LEAST_S
                s.go("restarting", "the network's process %d: %s" % (s.pid, why))
                self._say("%s; starts again in %g s (died %d times, hung %d times)" % (s.why, wait_s, s.died, s.hung))
                if self._sleep(wait_s):
                    return 0
                wait_s = min(2 * wait_s, BACKOFF_MOST_S)
        finally:
            notify("STOPPING=1")
            self._server.close()
