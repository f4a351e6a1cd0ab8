"""The thread of an instance, which passes its frames to the sinks, and a thread that queries the daemon's state.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, FrozenSet, Optional, Sequence, Set

import stixel
from stixel import _daemon
from stixel._classes import PublisherClasses

from .fail import ENDS, described, sentence
from .sink import NO_IMAGES, Instance, Report, Work
from .trajectory import Trajectory

if TYPE_CHECKING:
    from .runner import Runner

SLICE_S = 0.1  # longest sleep, s: after it, the thread checks for wanted images and the end
RETRY_S = 2.0
REPORT_S = 1.0


class Source(threading.Thread):
    """Reads one instance through all its restarts, and passes every frame to its sinks and to more()."""

    def __init__(self, instance: Instance, runners: Sequence[Runner], say: Callable[[str], None],
                 more: Optional[Callable[[Work], None]] = None) -> None:
        super().__init__(name="instance " + instance.name, daemon=True)
        self.instance = instance
        self.frames = 0
        self.lost = 0  #: frames overwritten before they were read
        self.damaged = 0
        self.restarts = 0
        self.publisher = "absent"
        self.state = ""
        self.why = ""  #: reason why the instance cannot be read
        self.classes = PublisherClasses()  #: names of the daemon's classes; Reports sets them
        self.internal = 0  #: internal errors of the program
        self._runners = list(runners)
        self._trajectory = Trajectory()
        self._say = say
        self._more = more
        self._end = threading.Event()
        self._images = NO_IMAGES
        self._said: Set[str] = set()  # messages already logged about errors other than reading

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
            frame._classes = self.classes
            self.frames += 1
            self.lost += frame.missed
            work = Work(self.instance, frame, time.monotonic_ns(), self._trajectory.take(frame))
            for runner in self._runners:
                runner.put(work)
            if self._more:
                self._hand_more(work)

    def _hand_more(self, work: Work) -> None:
        assert self._more
        try:
            self._more(work)
        except ENDS:
            raise
        except BaseException as e:  # an error of a rig; the sinks have got the frame already
            self.internal += 1
            self._say_once("a rig: " + described(e))

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._say("instance %s: %s" % (self.instance.name, text))

    def _absent(self, why: str) -> None:
        """Marks the instance as absent, so that it does not count as alive, and waits before the next attempt."""
        if why != self.why:
            self._say("instance %s: %s; tried again every %g s" % (self.instance.name, why, RETRY_S))
        self.publisher, self.state, self.why = "absent", "", why
        self._end.wait(RETRY_S)

    def run(self) -> None:
        while not self._end.is_set():
            self._images = NO_IMAGES
            try:
                with stixel.open(self.instance.name, follow=True) as reader:
                    self.why = ""
                    self._read(reader)
            except (stixel.StixelError, OSError) as e:
                self._absent(sentence(e))
            except ENDS:
                raise
            except BaseException as e:
                self.internal += 1
                self._absent(described(e))


class Reports(threading.Thread):
    """Queries one daemon once a second and passes the report to the sinks.

    A daemon that hangs delays only its own report.
    """

    def __init__(self, source: Source, runners: Sequence[Runner], say: Callable[[str], None]) -> None:
        super().__init__(name="reports of " + source.instance.name, daemon=True)
        self._source = source
        self._runners = list(runners)
        self._say = say
        self._said = ""
        self._end = threading.Event()

    def stop(self) -> None:
        """Ends the thread after the answer that it waits for: at most one second for each runtime directory."""
        self._end.set()

    def _report(self) -> Report:
        source = self._source
        status: Optional[Dict[str, Any]] = None
        answer = _daemon.ask(source.instance.name, "/status")
        if answer and answer[0] == 200:
            try:
                found = json.loads(answer[1])
                status = found if isinstance(found, dict) else None
            except ValueError:
                pass
        source.classes.take(status)
        return Report(source.instance, source.publisher, source.state, status)

    def run(self) -> None:
        while not self._end.wait(REPORT_S):
            try:
                report = self._report()
                for runner in self._runners:
                    runner.report(report)
            except ENDS:
                raise
            except BaseException as e:  # the next report may succeed
                self._source.internal += 1
                again, self._said = described(e) == self._said, described(e)
                if not again:
                    self._say("%s: %s" % (self.name, self._said))
