"""An instance's thread: its frames to the sinks that want them. And one that asks how all instances are.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, FrozenSet, Optional, Sequence

import stixel

from . import daemon
from .fail import sentence
from .sink import NO_IMAGES, Instance, Report, Work

if TYPE_CHECKING:
    from .runner import Runner

SLICE_S = 0.1  # longest sleep: then wishes for images and the end are looked at
RETRY_S = 2.0
REPORT_S = 1.0


class Source(threading.Thread):
    """Reads one instance, through all its restarts, and hands every frame to its sinks and to more()."""

    def __init__(self, instance: Instance, runners: Sequence[Runner], say: Callable[[str], None],
                 more: Optional[Callable[[Work], None]] = None) -> None:
        super().__init__(name="instance " + instance.name, daemon=True)
        self.instance = instance
        self.frames = 0
        self.lost = 0  #: overwritten before they were read
        self.damaged = 0
        self.restarts = 0
        self.publisher = "absent"
        self.state = ""
        self.why = ""  #: why it cannot be read
        self._runners = list(runners)
        self._say = say
        self._more = more
        self._end = threading.Event()
        self._images = NO_IMAGES

    def stop(self) -> None:
        """Ends the thread within a tenth of a second."""
        self._end.set()

    def _wanted(self) -> FrozenSet[str]:
        return NO_IMAGES.union(*(runner.images(self.instance) for runner in self._runners))

    def _look(self, reader: Any) -> None:
        status = reader.status()
        self.publisher, self.state = status.publisher.name.lower(), status.state.name.lower()
        self.restarts = status.restarts

    def _read(self, reader: Any) -> None:
        looked = 0.0
        while not self._end.is_set():
            wanted = self._wanted()
            if wanted != self._images:
                reader.want_images(*wanted)
                self._images = wanted
            if time.monotonic() - looked > REPORT_S / 2:
                self._look(reader)
                looked = time.monotonic()
            try:
                frame = reader.next(SLICE_S)
            except stixel.Damaged:
                self.damaged += 1
                continue
            if frame is None:
                continue
            self.frames += 1
            self.lost += frame.missed
            work = Work(self.instance, frame, time.monotonic_ns())
            for runner in self._runners:
                runner.put(work)
            if self._more:
                self._more(work)

    def run(self) -> None:
        while not self._end.is_set():
            self._images = NO_IMAGES
            try:
                with stixel.open(self.instance.name, follow=True) as reader:
                    self.why = ""
                    self._read(reader)
            except (stixel.StixelError, OSError) as e:
                why = sentence(e)
                if why != self.why:
                    self._say("instance %s: %s; tried again every %g s" % (self.instance.name, why, RETRY_S))
                self.why = why
                self._end.wait(RETRY_S)


class Reports(threading.Thread):
    """Asks each daemon once a second how it is, and tells the sinks."""

    def __init__(self, sources: Sequence[Source], runners: Sequence[Runner]) -> None:
        super().__init__(name="reports", daemon=True)
        self._sources = list(sources)
        self._runners = list(runners)
        self._end = threading.Event()

    def stop(self) -> None:
        """Ends the thread, after the answer that it waits for."""
        self._end.set()

    def _report(self, source: Source) -> Report:
        status: Optional[Dict[str, Any]] = None
        answer = daemon.ask(source.instance.name, "/status")
        if answer and answer[0] == 200:
            try:
                found = json.loads(answer[1])
                status = found if isinstance(found, dict) else None
            except ValueError:
                pass
        return Report(source.instance, source.publisher, source.state, status)

    def run(self) -> None:
        while not self._end.wait(REPORT_S):
            for source in self._sources:
                report = self._report(source)
                for runner in self._runners:
                    if source.instance.name in runner.counts:
                        runner.report(report)
