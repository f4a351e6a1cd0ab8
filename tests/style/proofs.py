# docs/safety.md: each promise names tests, and each test that is named exists, in a file that runs it.
# A test is written `tests/FILE:name`, a function of that file; or `tests/FILE`, all of it.
# SPDX-License-Identifier: Apache-2.0
import os
import re

import rule

DOCUMENT, MARK = "docs/safety.md", "<!-- proofs:"
NAMED = re.compile(r"`(tests/[^`:\s]+)(?::(\w+))?`")
PLACE = re.compile(r"`((?!tests/)[\w@./-]+)`")


def defines(path, text, name):
    """Is there a function of this name that is more than mentioned? In C it is also used."""
    if path.endswith((".c", ".h", ".cc")):
        code = rule.code(text)
        return bool(re.search(r"^(?:static )?\w[\w *]*\b%s\([^;]*?\)\s*\{" % name, code, re.M)) and len(
            re.findall(r"\b%s\b" % name, code)) > 1
    return bool(re.search(r"^\s*def %s\(" % name, text, re.M))


def rows(text):
    """(line, cells) of the table behind the mark."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith(MARK)), len(lines))
    for number, line in enumerate(lines[begin + 3:], begin + 4):
        if not line.startswith("|"):
            break
        yield number, [cell.strip() for cell in line.strip("|").split("|")]


def check(root):
    if not os.path.exists(os.path.join(root, DOCUMENT)):
        return []
    found, count = [], 0
    for number, cells in rows(rule.read(root, DOCUMENT)):
        where = "%s:%d: " % (DOCUMENT, number)
        count += 1
        if len(cells) != 3:
            found.append(where + "%d cells, not promise, place and tests" % len(cells))
            continue
        found += [where + "there is no %s" % p for p in PLACE.findall(cells[1])
                  if not os.path.exists(os.path.join(root, p))]
        named = NAMED.findall(cells[2])
        if not named:
            found.append(where + "no test shows it")
        for path, name in named:
            if not os.path.isfile(os.path.join(root, path)):
                found.append(where + "there is no %s" % path)
            elif name and not defines(path, rule.read(root, path), name):
                found.append(where + "%s has no test %s" % (path, name))
    if not count:
        found.append("%s:1: there is no table of promises behind %s" % (DOCUMENT, MARK))
    return found


HEAD = "# Promises\n\n" + MARK + " -->\n| promise | where | shown by |\n|---|---|---|\n"
TEST_C = "static void one(void **state)\n{\n}\n\nint main(void)\n{\n\treturn T(one);\n}\n"
SOUND = {
    "a/b.c": "int x;\n",
    "tests/t.c": TEST_C,
    "tests/t.py": "class T:\n    def test_x(self):\n        pass\n",
    DOCUMENT: HEAD + "| A | `a/b.c`, `a/` | `tests/t.c:one` (words), `tests/t.py:test_x`, `tests/t.py` |\n",
}
PLANTED = [
    ({DOCUMENT: HEAD + "| A | `a/b.c` | `tests/t.c:two` |\n"}, [DOCUMENT + ":6:", "no test two"]),
    ({DOCUMENT: HEAD + "| A | `a/b.c` | `tests/t.py:x` |\n"}, [DOCUMENT + ":6:", "no test x"]),
    ({DOCUMENT: HEAD + "| A | `a/b.c` | `tests/gone.c:one` |\n"}, [DOCUMENT + ":6:", "tests/gone.c"]),
    ({DOCUMENT: HEAD + "| A | `a/c.c` | `tests/t.c:one` |\n"}, [DOCUMENT + ":6:", "no a/c.c"]),
    ({DOCUMENT: HEAD + "| A | `a/b.c` | believe it |\n"}, [DOCUMENT + ":6:", "no test shows it"]),
    ({DOCUMENT: HEAD + "| A | `a/b.c` |\n"}, [DOCUMENT + ":6:", "2 cells"]),
    ({"tests/t.c": TEST_C.replace("T(one)", "0")}, [DOCUMENT + ":6:", "no test one"]),
    ({"tests/t.c": "/* one(void) { one */\n"}, [DOCUMENT + ":6:", "no test one"]),
    ({DOCUMENT: "# Promises\n"}, [DOCUMENT + ":1:", "no table"]),
]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
