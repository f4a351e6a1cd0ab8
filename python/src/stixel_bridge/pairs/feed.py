"""The thread of an input: receives images through its transport, matches them, and gives them to a daemon.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import stixel

from ..fail import sentence
from ..ros import store
from ..runner import Connected
from .give import Giver
from .match import LEFT, RIGHT, Matcher, Stamped
from .topics import Input, image_type, info_topics, stamp_ns

INFO_S = 2.0  # longest wait of the first pair for the calibrations
LOOK_S = 1.0
SLICE_S = 0.25
_HEADER = 12  # number of bytes before the frame id, which differ in each CameraInfo


class _Arrived(NamedTuple):
    left: Stamped
    right: Stamped
    when_ns: int  #: CLOCK_MONOTONIC


class Feed(Connected):
    """Runs one input. Threads of the transport call put(). This thread decodes, and calls the writer."""

    def __init__(self, source: Input, say: Callable[[str], None]) -> None:
        super().__init__("pairs " + source.name, say)
        options = source.options
        self.input = source
        self.instance: str = options["instance"] or source.name
        self.replaced = 0  #: pairs that were dropped because a newer one came first
        self.damaged = 0  #: messages that could not be parsed
        self.no_info = 0  #: pairs dropped at the start, while the calibrations had not come
        self.matcher = Matcher(int(options["tolerance_ms"] * 1e6))
        self._logged = ""  # the last damage that was logged
        self._arrival = options["stamps"] == "arrival"
        self.giver = Giver(self.instance, "%s %s" % (options["kind"], options["left"]), options,
                           lambda text: say("%s: %s" % (self.name, text)),
                           clock=stixel.Clock.MONOTONIC if self._arrival else stixel.Clock.REALTIME)
        self._sides = {options["left"]: LEFT, options["right"]: RIGHT}
        self._info_sides: Dict[str, List[int]] = {}  # sides by topic; one CameraInfo may be for both sides
        for side, topic in enumerate(info_topics(options)):
            self._info_sides.setdefault(topic, []).append(side)
        self._newest: Optional[_Arrived] = None
        self._infos: Dict[str, bytes] = {}  # last CameraInfo by topic that is not read yet
        self._seen: Dict[str, bytes] = {}  # last CameraInfo by topic that was read
        self._first = 0.0  # time.monotonic() of the first pair without calibrations

    # -- called by threads of the transport --
    def put(self, topic: str, message: bytes) -> None:
        """Takes a message of a topic. The newest pair waits for this thread; an older one is dropped."""
        now = time.monotonic_ns()
        with self._ready:
            side = self._sides.get(topic)
            if side is None:
                if message[_HEADER:] != self._seen.get(topic):
                    self._infos[topic] = message
                return
            try:
                found = self.matcher.add(side, stamp_ns(message), message)
            except ValueError:
                self.damaged += 1
                return
            if found:
                self.replaced += self._newest is not None
                self._newest = _Arrived(*found, when_ns=now)
                self._ready.notify()

    # -- this thread --
    def connect(self) -> None:
        self.input.open(self.put)

    def disconnect(self) -> None:
        self.input.close()

    def forget(self) -> None:
        self.replaced += self._newest is not None
        self._newest = None
        self.matcher.forget()

    def serve(self) -> None:
        looked = time.monotonic()
        try:
            while True:
                with self._ready:
                    self._ready.wait_for(lambda: self._ending or self._newest is not None, SLICE_S)
                    if self._ending:
                        return
                    arrived, self._newest = self._newest, None
                    infos, self._infos = self._infos, {}
                self._inform(infos)
                if arrived:
                    self._give(arrived)
                if time.monotonic() - looked >= LOOK_S:
                    looked = time.monotonic()
                    self.input.look()
                    self._look_at_daemon()
        finally:
            self.giver.close()

    def _look_at_daemon(self) -> None:
        try:
            self.giver.connect(0)
        except (stixel.StixelError, OSError):
            pass  # giver.why has the reason: the daemon refuses the writer, or the socket is not permitted

    def _inform(self, infos: Dict[str, bytes]) -> None:
        for topic, message in infos.items():
            try:
                found = store.decode(store.CAMERA_INFO, message)
                for side in self._info_sides[topic]:
                    self.giver.inform(side, found)
            except Exception as e:  # rosbags raises many types on damaged bytes
                self._damage(topic, e)
            self._seen[topic] = message[_HEADER:]

    def _give(self, arrived: _Arrived) -> None:
        if not self.giver.informed():
            self._first = self._first or time.monotonic()
            if time.monotonic() - self._first < INFO_S:
                self.no_info += 1
                return
        messages: List[Any] = []
        for side, (_, message) in ((LEFT, arrived.left), (RIGHT, arrived.right)):
            topic = self.input.options[("left", "right")[side]]
            try:
                messages.append(store.decode(image_type(topic), message))
            except Exception as e:  # rosbags raises many types on damaged bytes
                self._damage(topic, e)
                return
        left_ns, right_ns = self._times(arrived)
        self.giver.give(messages[LEFT], messages[RIGHT], left_ns, right_ns)

    def _times(self, arrived: _Arrived) -> Tuple[int, int]:
        left, right = arrived.left[0], arrived.right[0]
        return (arrived.when_ns, arrived.when_ns + right - left) if self._arrival else (left, right)

    def _damage(self, topic: str, error: Exception) -> None:
        self.damaged += 1
        text = "%s: %s: a message cannot be parsed: %s" % (self.name, topic, sentence(error))
        if text != self._logged:
            self._logged = text
            self._say(text)
