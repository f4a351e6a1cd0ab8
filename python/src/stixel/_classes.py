"""Names of semantic classes: those of a publisher, and the bits of labels that libstixel takes.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import ctypes
import errno
import json
import time
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, Tuple, Union

from ._daemon import ask
from ._layout import CLASSES_MAX
from ._library import library

if TYPE_CHECKING:
    Names = Optional[Tuple[str, ...]]
    Kind = Union[None, int, str, Sequence[Union[int, str]]]

_AGAIN_S = 1.0  # a daemon that did not answer is not asked again within this time


def names_in(status: Any) -> Names:
    """Returns the names of the classes in a daemon's /status; None: it has none."""
    semantics = status.get("semantics") if isinstance(status, dict) else None
    classes = semantics.get("classes") if isinstance(semantics, dict) else None
    if not isinstance(classes, list):
        return None
    return tuple(str(one["name"]) for one in classes if isinstance(one, dict) and "name" in one) or None


class PublisherClasses:
    """The names of the classes of one run of a publisher, as its /status reports them."""

    def __init__(self) -> None:
        self._known: Tuple[int, Names] = (0, None)  # epoch of the publisher, and its names

    def take(self, status: Any) -> None:
        """Takes a /status."""
        try:
            self._known = int(status["epoch"], 16), names_in(status)
        except (ValueError, KeyError, TypeError):
            pass

    def of(self, epoch: int) -> Names:
        """Returns the names of the run with this epoch; None: not known."""
        known = self._known
        return known[1] if known[0] == epoch else None


class DaemonClasses(PublisherClasses):
    """The names of the classes of an instance on this machine. Asks its daemon once for each of its runs."""

    def __init__(self, instance: str) -> None:
        super().__init__()
        self._instance = instance
        self._again = 0.0  # time of the next question, s, monotonic

    def of(self, epoch: int) -> Names:
        if self._known[0] != epoch and time.monotonic() >= self._again:
            answer = ask(self._instance, "/status")
            self._again = time.monotonic() + _AGAIN_S
            if answer and answer[0] == 200:
                try:
                    self.take(json.loads(answer[1]))
                except ValueError:
                    pass
        return super().of(epoch)


def labels_of(kind: Kind, names: Callable[[], Optional[Sequence[str]]]) -> int:
    """Returns the bits of labels. kind: a name, names in one text or in a sequence, or labels.

    names: returns the names of the classes by label; called only if kind has a name. Raises ValueError.
    """
    given = [kind] if isinstance(kind, (int, str)) else list(kind or ())
    bits, words = 0, []
    for one in given:
        if isinstance(one, str):
            words.append(one)
        elif 0 <= one < CLASSES_MAX:
            bits |= 1 << one
        else:
            raise ValueError("kind %r: labels are 0 to %d" % (one, CLASSES_MAX - 1))
    if not words:
        if not bits:
            raise ValueError("kind %r names no class" % (kind,))
        return bits
    classes = names()
    if classes is None:
        raise ValueError("kind %r: the names of the frame's classes are not known: pass classes=, or labels" % (kind,))
    found = ctypes.c_uint32()
    code = library().labels_of(" ".join(classes).encode(), ",".join(words).encode(), ctypes.byref(found))
    if code == -errno.ENOENT:
        raise ValueError("kind %r: there are %s" % (kind, ", ".join(classes)))
    if code < 0:
        raise ValueError("kind %r names no class, or there are more than %d classes" % (kind, CLASSES_MAX))
    return bits | found.value
