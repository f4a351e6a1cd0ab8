"""Asks the daemon of an instance whether its configuration fits a class table.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import json
from typing import Any, Dict, List, Optional

from stixel import _daemon

from . import tables
from .tables import Table

DEFAULT = "cityscapes-19"  #: table of semantics.classes in a configuration that does not say them


def status(instance: str) -> Optional[Dict[str, Any]]:
    """Returns /status of the instance's daemon; None: no answer."""
    answer = _daemon.ask(instance, "/status")
    if not answer or answer[0] != 200:
        return None
    try:
        found = json.loads(answer[1])
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def source_of(instance: str, found: Optional[Dict[str, Any]]) -> str:
    """Returns the name under which the daemon wants scores."""
    semantics = (found or {}).get("semantics")
    name = semantics.get("source") if isinstance(semantics, dict) else None
    return name if isinstance(name, str) else instance


def changes(instance: str, found: Optional[Dict[str, Any]], table: Table, offers: bool) -> List[str]:
    """Returns the lines that the configuration of the daemon lacks; none: it fits, or it did not answer.

    offers: it publishes its pairs.
    """
    if not found:
        return []
    lines = []
    semantics = found.get("semantics")
    given = semantics if isinstance(semantics, dict) else {}
    if not given.get("source"):
        lines.append("source = %s" % instance)
    try:
        classes = [(c["name"], c["kind"]) for c in given.get("classes", [])]
    except (KeyError, TypeError):
        classes = []
    if (classes or [x[:2] for x in tables.load(DEFAULT).labels]) != [x[:2] for x in table.labels]:
        lines.append("classes = " + table.line())
    if lines:
        lines.insert(0, "[semantics]")
    return lines + ([] if offers else ["[external]", "pairs = yes"])
