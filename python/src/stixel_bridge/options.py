"""Options of the sections. The parser, the help and the man page are made from one table per section.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import math
import os
import re
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .fail import CONFIG, Fail

NAME = re.compile(r"(?!\.)[A-Za-z0-9_.-]{1,64}")


class Option(NamedTuple):
    """A key of a section.

    kind is one of KINDS. The default is a value as parse() returns it; None: there is no default.
    """

    name: str
    kind: str
    default: Any
    help: str
    least: float = -math.inf
    most: float = math.inf
    choices: Tuple[str, ...] = ()
    unit: str = ""


def _number(option: Option, text: str) -> float:
    value = float(text)  # parse() reports the ValueError
    if not option.least <= value <= option.most:  # nan fails, too
        raise ValueError
    return value


def _integer(option: Option, text: str) -> int:
    value = int(text, 10)
    if not option.least <= value <= option.most:
        raise ValueError
    return value


def _switch(option: Option, text: str) -> bool:
    return {"yes": True, "no": False}[text]


def _choice(option: Option, text: str) -> str:
    if text not in option.choices:
        raise ValueError
    return text


def _list(option: Option, text: str) -> List[str]:
    words = [word.strip() for word in text.split(",")] if text else []
    if not all(words) or len(set(words)) != len(words) or (option.choices and not set(words) <= set(option.choices)):
        raise ValueError
    return words


def _name(option: Option, text: str) -> str:
    if not NAME.fullmatch(text):
        raise ValueError
    return text


def _file(option: Option, text: str) -> str:
    if not os.path.isabs(text):
        raise ValueError
    return text


KINDS = {
    "text": lambda option, text: text,
    "name": _name,
    "number": _number,
    "integer": _integer,
    "switch": _switch,
    "choice": _choice,
    "list": _list,
    "file": _file,
}


def range_of(option: Option) -> str:
    """Returns the allowed values of an option, in words."""
    if option.kind == "switch":
        return "yes or no"
    if option.kind == "choice":
        return "one of " + ", ".join(option.choices)
    if option.kind == "list":
        return "a list with commas" + (" of " + ", ".join(option.choices) if option.choices else "")
    if option.kind == "name":
        return "1 to 64 of A-Z a-z 0-9 _ . -, no dot in front"
    if option.kind == "file":
        return "an absolute path"
    if option.kind in ("number", "integer"):
        unit = " " + option.unit if option.unit else ""
        what = "a whole number" if option.kind == "integer" else "a number"
        if math.isinf(option.most):
            return what + unit if math.isinf(option.least) else "%s%s from %g on" % (what, unit, option.least)
        return "%s from %g to %g%s" % (what, option.least, option.most, unit)
    return "any text"


def parse(option: Option, text: str) -> Any:
    """Parses a value of an option. ValueError names the allowed values."""
    try:
        return KINDS[option.kind](option, text)
    except (ValueError, KeyError, OverflowError):
        raise ValueError("'%s' is not %s" % (text, range_of(option))) from None


def shown(option: Option, value: Any) -> str:
    """Returns a value as a configuration file contains it."""
    if value is None:
        return ""
    if option.kind == "switch":
        return "yes" if value else "no"
    if option.kind == "list":
        return ", ".join(value)
    return "%.12g" % value if option.kind == "number" else str(value)


def together(values: Mapping[str, Any], *pairs: Tuple[str, str]) -> None:
    """Raises Fail if one option of a pair is given without the other."""
    for one, other in pairs:
        if bool(values[one]) != bool(values[other]):
            raise Fail(CONFIG, "one of %s and %s is given: it needs both" % (one, other))


def find(options: Sequence[Option], name: str) -> Optional[Option]:
    """Returns the option of this name, or None."""
    return next((option for option in options if option.name == name), None)
