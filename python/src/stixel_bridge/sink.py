"""What a sink is: where frames go to. One thread calls all of its methods, that of its runner (runner.py).

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, FrozenSet, Mapping, NamedTuple, Optional, Sequence

from .options import Option

if TYPE_CHECKING:
    from stixel import Frame

NO_IMAGES: FrozenSet[str] = frozenset()


class Instance(NamedTuple):
    """A camera as the configuration names it: section [instance NAME]."""

    name: str
    options: Mapping[str, Any]  #: INSTANCE of config.py: frame ids, where it is mounted


class Work:
    """A frame on its way to the sinks."""

    def __init__(self, instance: Instance, frame: Frame, taken_ns: int) -> None:
        self.instance = instance
        self.frame = frame
        self.taken_ns = taken_ns  #: CLOCK_MONOTONIC, when the bridge took it
        self._made: Dict[Any, Any] = {}
        self._locks: Dict[Any, threading.Lock] = {}  # one a key: who makes one thing delays none that wants another
        self._lock = threading.Lock()  # of that table

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """make(), computed by the first sink that asks and kept for the others: what several of them send."""
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]


class Report(NamedTuple):
    """How an instance is: once a second, and when it comes or goes."""

    instance: Instance
    publisher: str  #: as stixel.Publisher names it: "alive", "stalled", "absent", ...
    state: str  #: as stixel.State names it: "running", "degraded", ...
    status: Optional[Dict[str, Any]]  #: /status of its daemon; None: it did not answer


class Sink:
    """The contract. Nothing is connected by __init__, which raises Fail for options that do not go together.

    Every method but images() runs in the sink's own thread. A frame that comes while the sink is busy replaces an older
    one of its instance that waits, which is counted as dropped.
    """

    OPTIONS: Sequence[Option] = ()  #: of its section, beside COMMON of config.py
    PACKAGES: Sequence[str] = ()  #: of others, by the names under which they are imported, in its methods only
    HELP = ""  #: one line
    RIGS = False  #: whether frames of rigs (rig.py) can be sent

    def __init__(self, name: str, options: Mapping[str, Any], host: str, instances: Sequence[Instance]) -> None:
        self.name = name
        self.options = options
        self.host = host  #: of the bridge: the name of this machine in keys and topics
        self.instances = instances  #: those that it gets

    def exclusive(self) -> str:
        """What no other sink of this bridge may have, in words: "domain 0 of DDS"; empty: nothing."""
        return ""

    def open(self) -> None:
        """Connects, within 10 s. SinkError: not now; asked again after a while, longer each time, 30 s at most."""

    def send(self, work: Work) -> int:
        """Gives a frame away; bytes given to the network. SinkError: the connection is lost; close(), open() follow."""
        raise NotImplementedError

    def report(self, report: Report) -> int:
        """How an instance is; bytes, and SinkError as of send()."""
        return 0

    def images(self, instance: Instance) -> FrozenSet[str]:
        """Which of "left", "right", "disparity" it wants with the frames: while somebody asks. Any thread; at once."""
        return NO_IMAGES

    def figures(self) -> Dict[str, float]:
        """Own counters for the status, by names of metrics (a_b_c). Any thread; at once."""
        return {}

    def close(self) -> None:
        """Gives back what open() took, whatever came of it. Never raises."""
