# Lines fit a window: 110 columns of C with its comments and strings, which the formatter leaves alone, 120 of scripts.
# SPDX-License-Identifier: Apache-2.0
import os

import rule

C = (".c", ".h", ".cu", ".cuh", ".cc")
SCRIPTS = (".py", ".sh", "meson.build", "meson_options.txt")


def most(root, name):
    """Columns that a line of the file may have, None: it is no program."""
    if name.endswith(C):
        return 110
    if name.endswith(SCRIPTS) or ("." not in os.path.basename(name) and rule.read(root, name)[:2] == "#!"):
        return 120
    return None


def check(root):
    found = []
    for name in rule.files(root):
        limit = most(root, name)
        if limit:
            for i, line in enumerate(rule.read(root, name).split("\n")):
                columns = len(line.expandtabs(8))
                if columns > limit:
                    found.append("%s:%d: %d columns, at most %d" % (name, i + 1, columns, limit))
    return found


SOUND = {
    "base/a.c": "\t/* %s */\n\"%s\"\n" % ("x" * 96, "\u00e9" * 108),
    "tools/a": "#!/bin/sh\n" + "x" * 120 + "\n",
    "tests/a.py": "x" * 120 + "\n",
    "docs/a.md": "| " * 100 + "\n",
    "LICENSE": "x" * 200 + "\n",
}
PLANTED = [
    ({"base/b.c": "\n\t/* %s */\n" % ("x" * 97)}, ["base/b.c:2:", "111 columns, at most 110"]),
    ({"gpu/b.cuh": "x" * 111}, ["gpu/b.cuh:1:"]),
    ({"tests/meson.build": "# " + "x" * 119 + "\n"}, ["tests/meson.build:1:", "121 columns, at most 120"]),
    ({"tools/b": "#!/bin/sh\n" + "\t" * 15 + "x\n"}, ["tools/b:2:"]),
    ({"tests/b.py": "x" * 121 + "\n"}, ["tests/b.py:1:"]),
]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
