"""The command "play": gives the stereo images of a recording to a daemon, in their recorded time.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import contextlib
import itertools
import signal
import time
from typing import Any, Callable, Dict, Iterator, Mapping, Tuple

import stixel

from . import sinks
from .fail import DATA, PERMISSION, UNAVAILABLE, Fail, sentence
from .pairs.give import Giver
from .pairs.images import Unusable
from .pairs.match import LEFT, RIGHT, Matcher, Stamped
from .pairs.recording import Recording, find_pair
from .pairs.topics import info_topics

LATE_NS = 500_000_000  # a pair that is late by more than this delays all following pairs
GAP_NS = 5_000_000_000  # longest gap that is played; a longer one means a pause of the recording, or a set clock
SLICE_S = 0.25
POLL_S = 0.001
FINISH_S = 2.0
FPS_MOST = 240.0
FIRST_IMAGES = 30


class Player:
    """Plays one recording."""

    def __init__(self, recording: Recording, instance: str, options: Mapping[str, Any], rate: float,
                 say: Callable[[str], None]) -> None:
        self._recording, self._options, self._rate, self._say = recording, options, rate, say
        self._matcher = Matcher(int(options["tolerance_ms"] * 1e6))
        self._late = 0
        self._waited = False  # the first pair has waited for the daemon
        self._infos: Dict[str, Tuple[int, ...]] = {}
        for side, topic in enumerate(info_topics(options)):
            if topic in recording.topics:
                self._infos[topic] = (*self._infos.get(topic, ()), side)
        # rate 0 keeps the recorded times: their differences give speeds, but they are no present times
        self.giver = Giver(instance, "stixel-bridge play", options, say, fps=self._fps(),
                           clock=stixel.Clock.MONOTONIC if rate else stixel.Clock.UNKNOWN)

    def _fps(self) -> float:
        """Returns the pairs per second of this play, from the first left images; 0: unknown."""
        stamps = [stamp for _, stamp, _ in itertools.islice(
            self._recording.messages([self._options["left"]]), FIRST_IMAGES)]
        if not self._rate or len(stamps) < 2 or stamps[-1] <= stamps[0]:
            return 0.0
        return min(FPS_MOST, (len(stamps) - 1) * 1e9 / (stamps[-1] - stamps[0]) * self._rate)

    def inform(self) -> None:
        """Takes the first CameraInfo of each side, which may have been recorded after the first images."""
        for topic, sides in self._infos.items():
            for _, _, message in self._recording.messages([topic]):
                for side in sides:
                    self.giver.inform(side, self._recording.decode(topic, message))
                break

    def _pairs(self) -> Iterator[Tuple[Stamped, Stamped]]:
        sides = {self._options["left"]: LEFT, self._options["right"]: RIGHT}
        for topic, stamp, message in self._recording.messages(list(sides)):
            found = self._matcher.add(sides[topic], stamp, message)
            if found:
                yield found
        self._matcher.forget()

    def once(self) -> int:
        """Plays the recording once. Returns the number of its pairs."""
        count, base_ns, first_ns = 0, 0, 0
        for left, right in self._pairs():
            images = (self._recording.decode(self._options["left"], left[1]),
                      self._recording.decode(self._options["right"], right[1]))
            if not self._waited or not self._rate:
                self._wait_for_daemon(*images)
            if not self._rate:
                self.giver.give(*images, left[0], right[0])
                self._wait_until_read()
            else:
                if not count:
                    base_ns, first_ns = time.monotonic_ns(), left[0]
                due = base_ns + int((left[0] - first_ns) / self._rate)
                late = time.monotonic_ns() - due
                if late > LATE_NS or late < -GAP_NS:
                    base_ns, due, self._late = base_ns + late, due + late, self._late + (late > 0)
                _sleep_until(due)
                self.giver.give(*images, due, due + int((right[0] - left[0]) / self._rate))
            count += 1
        return count

    def _wait_for_daemon(self, left: Any, right: Any) -> None:
        """Waits until a daemon takes pairs, so that none of the recording is lost. Raises Fail."""
        if not self._waited:
            try:
                self.giver.prepare(left, right)
            except Unusable as e:
                raise Fail(DATA, "%s and %s: %s" % (self._options["left"], self._options["right"], e)) from None
        self._waited = True
        try:
            while not self.giver.connect(SLICE_S):
                pass
        except stixel.NotAllowed as e:
            raise Fail(PERMISSION, sentence(e)) from None
        except (stixel.StixelError, OSError) as e:
            raise Fail(UNAVAILABLE, sentence(e)) from None

    def finish(self) -> None:
        """Waits a moment until the daemon has read the last pair."""
        until = time.monotonic() + FINISH_S
        while not self._all_back() and time.monotonic() < until:
            time.sleep(POLL_S)

    def _wait_until_read(self) -> None:
        """Waits until the daemon has read all pairs, or its connection has ended."""
        while not self._all_back():
            time.sleep(POLL_S)

    def _all_back(self) -> bool:
        with contextlib.suppress(stixel.StixelError, OSError):
            self.giver.connect(0)  # takes what came back
        c = self.giver.counts
        return c.taken + c.overload + c.bad + c.lost >= c.queued

    def summary(self, pairs: int, seconds: float) -> str:
        """Returns what was played, in one line."""
        c, giver, unmatched = self.giver.counts, self.giver, self._matcher.unmatched
        parts = ["%d of %d pairs given in %.1f s (%.1f a second)" % (
            giver.given, pairs, seconds, giver.given / seconds if seconds > 0 else 0.0)]
        for count, what in ((c.overload, "of them dropped by the daemon: a newer one came"),
                            (c.bad, "of them refused by the daemon"), (c.lost, "of them lost with the daemon"),
                            (c.dropped, "dropped: no daemon, or no memory"), (giver.unusable, "unusable"),
                            (unmatched[LEFT], "left images without a right one"),
                            (unmatched[RIGHT], "right images without a left one"),
                            (self._late, "times later than recorded")):
            if count:
                parts.append("%d %s" % (count, what))
        return "; ".join(parts)


def _sleep_until(when_ns: int) -> None:
    left = when_ns - time.monotonic_ns()
    if left > 0:
        time.sleep(left / 1e9)


def _stop(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def run(path: str, instance: str, options: Dict[str, Any], rate: float, loop: bool,
        say: Callable[[str], None]) -> int:
    """Plays a recording until it ends or a signal comes. options: by the names of PAIR. Raises Fail."""
    sinks.need("recordings", ("rosbags",))
    signal.signal(signal.SIGTERM, _stop)
    recording = Recording(path)
    try:
        options["left"], options["right"] = find_pair(recording, options["left"], options["right"])
    except Fail as e:
        raise Fail(e.code, "%s: %s" % (path, e)) from None
    say("%s and %s to instance %s" % (options["left"], options["right"], instance))
    player = Player(recording, instance, options, rate, say)
    pairs, begin = 0, time.monotonic()
    try:
        player.inform()
        while True:
            found = player.once()
            pairs += found
            if not loop or not found:
                break
        if rate:
            player.finish()
    except KeyboardInterrupt:
        pass
    finally:
        player.giver.close()
        recording.close()
    say(player.summary(pairs, time.monotonic() - begin))
    if not pairs:
        raise Fail(DATA, "%s: no images of %s and %s within tolerance_ms = %g" % (
            path, options["left"], options["right"], options["tolerance_ms"]))
    return 0
