"""What is said of the options: --print-config and the man page, from the same tables.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import re
import sys
import textwrap
from typing import Any, Iterator, List, Sequence, TextIO, Tuple

from . import config, sinks
from .fail import EXITS
from .options import Option, range_of, shown

PROGRAM = "stixel-bridge"


def sections() -> Iterator[Tuple[str, str, Sequence[Option]]]:
    """Head, what it is, options."""
    yield "bridge", "the bridge itself", config.BRIDGE
    yield "instance NAME", "an instance of stixeld; without any: 'default'", config.INSTANCE
    yield "rig NAME", "several instances as one", config.RIG
    yield "sink NAME", "where frames go; what all kinds have", config.COMMON
    for kind in sinks.KINDS:
        maker = sinks.load(kind)
        yield "sink NAME, kind = " + kind, maker.HELP, maker.OPTIONS


def print_config(out: TextIO = sys.stdout) -> None:
    """Every section and key: those of kinds are printed as comments, since a sink is of one kind."""
    for head, about, options in sections():
        extra = "kind =" in head
        out.write("# %s\n%s[%s]\n" % (about[:1].upper() + about[1:], "#" if extra else "", head))
        for option in options:
            for line in textwrap.wrap("%s; %s" % (option.help, range_of(option)), 108):
                out.write("# %s\n" % line)
            mark = "#" if extra or option.default in (None, []) else ""
            out.write("%s%s = %s\n" % (mark, option.name, shown(option, option.default)))
        out.write("\n")


def _scdoc(text: str) -> str:
    return re.sub(r"([_*\\<>#\[\]`])", r"\\\1", text)


def _man_options(table: Sequence[Any]) -> str:
    lines: List[str] = []
    for names, argument, _, text in [*table, (["-h", "--help"], None, {}, "say all this"),
                                     (["--version"], None, {}, "say which version this is")]:
        lines += [", ".join("*%s*" % n for n in names) + (" _%s_" % argument if argument else ""),
                  "\t" + _scdoc(text[0].upper() + text[1:] + "."), ""]
    return "\n".join(lines).rstrip()


def _man_sections() -> str:
    lines: List[str] = []
    for head, about, options in sections():
        lines += ["## [%s]" % _scdoc(head), "", _scdoc(about[:1].upper() + about[1:] + "."), ""]
        for option in options:
            default = shown(option, option.default)
            limits = range_of(option)
            lines += ["*%s*" % _scdoc(option.name), "\t%s. %s%s." % (
                _scdoc(option.help[:1].upper() + option.help[1:]), _scdoc(limits[:1].upper() + limits[1:]),
                "; default " + _scdoc(default) if default else ""), ""]
    return "\n".join(lines).rstrip()


def man(path: str, table: Sequence[Any], out: TextIO = sys.stdout) -> None:
    """Prints a page in scdoc, its placeholders filled."""
    exits = "\n\n".join("*%d*\n\t%s." % (code, _scdoc(text[0].upper() + text[1:])) for code, text in EXITS)
    filled = {"@SYNOPSIS@": "*%s* [_options_]" % PROGRAM, "@OPTIONS@": _man_options(table), "@EXITS@": exits,
              "@SECTIONS@": _man_sections()}
    with open(path, encoding="utf-8") as f:
        for line in f:
            out.write(filled.get(line.strip(), line.rstrip("\n")) + "\n")
