# Lines of parsers that no input of a fuzz target can reach, and why (tests/fuzz/coverage).
# SPDX-License-Identifier: Apache-2.0
"""Each is a function of a file; a line that is reached all the same counts as such."""
import os
import re

import targets

SYSTEM = "the system fails: tests/torture has every call of it fail"
PLACE = "looks for files and sockets: a target takes nothing from the disk"
UNREACHED = {
}
# A function's first line, as clang-format leaves it.
BEGIN = re.compile(r"^(?!static const|struct [^(]*{|enum|#|\t| |/|}|{)[^;]*?\b(\w+)\(")


def functions(file):
    """{line: name of the function that it is in}"""
    found, name = {}, None
    with open(os.path.join(targets.TOP, file), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            begins = BEGIN.match(line)
            name = begins.group(1) if begins else name
            found[number] = name
    return found


def without(file, lines):
    """The lines without those that are listed here and not reached."""
    names, listed = functions(file), UNREACHED.get(file, {})
    for name in listed:
        if name not in names.values():
            raise SystemExit("unreached.py: there is no %s() in %s" % (name, file))
    return {line: reached for line, reached in lines.items() if reached or names[line] not in listed}
