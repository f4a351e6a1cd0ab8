"""The contract of a sink, to which frames are sent. The thread of its runner (runner.py) calls all its methods.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, FrozenSet, Mapping, NamedTuple, Optional, Sequence, Tuple

from .options import Option

if TYPE_CHECKING:
    from stixel import Frame

    from .trajectory import Pose

NO_IMAGES: FrozenSet[str] = frozenset()


class Instance(NamedTuple):
    """An instance as configured: section [instance NAME]."""

    name: str
    options: Mapping[str, Any]  #: options INSTANCE of config.py: frame ids, mounting, colours

    def colours(self) -> Tuple[float, float]:
        """Returns the ends of the colours of distances, m; 0: an end follows the scene."""
        return self.options.get("colour_near_m", 0.0), self.options.get("colour_far_m", 0.0)


class Work:
    """A frame on its way to the sinks."""

    def __init__(self, instance: Instance, frame: Frame, taken_ns: int, pose: Optional[Pose] = None) -> None:
        self.instance = instance
        self.frame = frame
        self.taken_ns = taken_ns  #: CLOCK_MONOTONIC, when the bridge took the frame
        self.pose = pose  #: of the camera; None: its motion is not known
        self._made: Dict[Any, Any] = {}
        # locks by key: a sink waits only if another sink makes the same message
        self._locks: Dict[Any, threading.Lock] = {}
        self._lock = threading.Lock()  # guards that table

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Returns make(). The first sink that asks computes it, and the result is kept for the other sinks."""
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]


class Report(NamedTuple):
    """State of an instance. Sent once a second, and when the publisher comes or goes."""

    instance: Instance
    publisher: str  #: name in stixel.Publisher: "alive", "stalled", "absent", ...
    state: str  #: name in stixel.State: "running", "degraded", ...
    status: Optional[Dict[str, Any]]  #: /status of the daemon; None: no answer


class Sink:
    """Base class of all sinks. __init__ does not connect. It raises Fail for contradictory options.

    Every method but images() runs in the sink's own thread. If a frame comes while the sink is busy, it replaces an
    older waiting frame of its instance, which is counted as dropped.
    """

    OPTIONS: Sequence[Option] = ()  #: options of its section, in addition to COMMON of config.py
    PACKAGES: Sequence[str] = ()  #: foreign packages by import name; imported only in methods
    HELP = ""  #: description in one line
    RIGS = False  #: whether it can send frames of rigs (rig.py)

    def __init__(self, name: str, options: Mapping[str, Any], host: str, instances: Sequence[Instance]) -> None:
        self.name = name
        self.options = options
        self.host = host  #: name of this machine in keys and topics
        self.instances = instances  #: instances whose frames it gets

    def exclusive(self) -> str:
        """Returns a name of the resource that no other sink of this bridge may have: "domain 0 of DDS"; empty: none."""
        return ""

    def open(self) -> None:
        """Connects within 10 s. On SinkError the runner tries again, after a longer time each time, 30 s at most."""

    def send(self, work: Work) -> int:
        """Sends a frame. Returns the bytes given to the network.

        SinkError: the connection is lost; close() and open() follow.
        """
        raise NotImplementedError

    def report(self, report: Report) -> int:
        """Sends the state of an instance. Returns the bytes, and raises SinkError, as send() does."""
        return 0

    def images(self, instance: Instance) -> FrozenSet[str]:
        """Returns which of "left", "right", "disparity" have subscribers.

        Any thread may call it; it does not wait.
        """
        return NO_IMAGES

    def figures(self) -> Dict[str, float]:
        """Returns own counters for the status, by names of metrics (a_b_c).

        Any thread may call it; it does not wait.
        """
        return {}

    def close(self) -> None:
        """Frees what open() took, even if open() failed. Never raises."""
