"""The process that runs the network. It writes what it does to a pipe, one JSON object a line, for supervisor.py.

    {"state": "loading" | "building" | "waiting" | "running", "why": "..."}
    {"network": {...}}                      what was loaded
    {"busy": true}                          the network has an image
    {"written": {"ms": 41.2, "age_ms": 45.0, "skipped": 1}}, or {"bad": "why", "skipped": 1}
    {}                                      still there

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any, List, Optional

import stixel
from stixel._program import CANNOT_CREATE, FAILED, PERMISSION, Fail, log_of, log_warnings, sentence

from . import instance, model
from .text import PROGRAM

BEAT_S = 0.5
AGAIN_S = 2.0  # interval of asking a daemon whose configuration does not fit


class Worker:
    """Reads, segments, writes."""

    def __init__(self, pipe: int, name: str, about: model.Model) -> None:
        self._pipe, self._name, self._model = pipe, name, about
        self._writer: Optional[stixel.ScoreWriter] = None
        self._last = (0, 0)  # epoch and number of the last pair
        self._running = False  # whether the supervisor knows that images come

    def tell(self, **what: Any) -> None:
        """Tells the supervisor. If it is gone, BrokenPipeError ends this process."""
        os.write(self._pipe, (json.dumps(what) + "\n").encode())

    def _fits(self, offers: bool) -> bool:
        lines = instance.changes(self._name, instance.status(self._name), self._model.table, offers)
        if lines:
            self.tell(state="waiting", why="the configuration of instance '%s' needs\n    %s" % (
                self._name, "\n    ".join(lines)))
        return not lines

    def _open_writer(self, pair: stixel.Frame) -> None:
        """Makes the ring for images of this size."""
        height, width = pair.left.shape  # type: ignore[union-attr]
        if self._writer:
            self._writer.close()
        source = instance.source_of(self._name, instance.status(self._name))
        try:
            self._writer = stixel.ScoreWriter(source, len(self._model.table.labels), (width, height),
                                              self._model.options["scale"])
        except stixel.NotAllowed as e:
            raise Fail(PERMISSION, sentence(e)) from None

    def _segment(self, network: Any, pair: stixel.Frame) -> None:
        from .network import BadOutput
        epoch, number = self._last
        skipped = pair.number - number - 1 if pair.epoch == epoch else 0
        self._last = pair.epoch, pair.number
        self.tell(busy=True)
        began = time.monotonic()
        try:
            scores = network.scores(pair.left)
        except BadOutput as e:
            self.tell(bad=str(e), skipped=skipped)
            return
        assert self._writer
        try:
            self._writer.write(scores, pair)
        except stixel.Restarted as e:
            raise Fail(CANNOT_CREATE, sentence(e)) from None
        self.tell(written={"ms": (time.monotonic() - began) * 1e3, "age_ms": pair.age() * 1e3, "skipped": skipped})

    def _wait(self, offers: bool) -> None:
        """Tells why no image comes. offers: the instance has a ring of pairs."""
        self._running = False
        if offers or self._fits(False):
            self.tell(state="waiting", why="no image comes from instance '%s'" % self._name)

    def _serve(self, network: Any) -> None:
        since = time.monotonic()  # of the last image, or of the last word about none
        with stixel.open(self._name + ".pairs", follow=True) as pairs:
            while True:
                pair = pairs.latest(timeout=BEAT_S)
                if pair is None or pair.left is None:
                    self.tell()
                    if time.monotonic() - since > AGAIN_S:
                        since = time.monotonic()
                        self._wait(pairs.status().publisher == stixel.Publisher.ALIVE)
                    continue
                if pair.epoch != self._last[0]:  # another daemon, perhaps with another configuration
                    if not self._fits(True):
                        time.sleep(AGAIN_S)
                        continue
                    self._open_writer(pair)
                if not self._running:
                    self._running = True
                    self.tell(state="running", why="")
                self._segment(network, pair)
                since = time.monotonic()

    def run(self) -> None:
        """Works until a signal."""
        from .network import Network
        self.tell(state="loading", why="")
        network = Network(self._model, lambda text: self.tell(state="building", why=text))
        self.tell(network={"back_end": network.back_end.name, "model": self._model.path,
                           "table": self._model.table.name})
        try:
            self._serve(network)
        finally:
            if self._writer:
                self._writer.close()


def main(arguments: List[str]) -> int:
    """Runs the worker: PIPE FOLDER INSTANCE MODEL [KEY=VALUE]... FOLDER: the supervisor's working folder."""
    pipe, folder, name, path, *settings = arguments
    os.chdir(folder)  # this process starts in /, because "python -m" finds modules where it starts
    say = log_of(PROGRAM)
    log_warnings(say)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C, so that the ring is removed
    try:
        Worker(int(pipe), name, model.load(path, settings)).run()
    except KeyboardInterrupt:
        return 0
    except BrokenPipeError:
        return FAILED
    except Fail as e:
        say(str(e))
        return e.code
    except stixel.StixelError as e:
        say(sentence(e))
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
