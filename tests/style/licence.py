# Every file states its licence (REUSE 3.0): by a tag in its first lines, or in .reuse/dep5 if it cannot contain a tag.
# SPDX-License-Identifier: Apache-2.0
import fnmatch
import os
import re

import rule

TAG = re.compile(r"SPDX-License-Identifie[r]: *([\w.+-]+)")
HEAD_LINES = 40
# Source files must contain the tag, even if dep5 lists them.
SOURCE = (".c", ".h", ".cu", ".cuh", ".cc", ".py", ".sh", "meson.build", "meson_options.txt")
TEXTS = ("LICENSE", "LICENSES/")


def dep5_patterns(root):
    path = os.path.join(root, ".reuse/dep5")
    if not os.path.exists(path):
        return []
    patterns = []
    for paragraph in rule.read(root, ".reuse/dep5").split("\n\n"):
        m = re.search(r"^Files:((?:.|\n[ \t])*)", paragraph, re.M)
        if m and re.search(r"^License: *\S", paragraph, re.M):
            patterns += m.group(1).split()
    return patterns


def check(root):
    found, patterns, licences = [], dep5_patterns(root), {"Apache-2.0"}
    for name in rule.files(root):
        if name.startswith(TEXTS) or name == ".reuse/dep5":
            continue
        head = "\n".join(rule.read(root, name).split("\n")[:HEAD_LINES])
        m = TAG.search(head)
        if m:
            licences.add(m.group(1))
        elif name.endswith(SOURCE):
            found.append("%s:1: no SPDX licence tag in the first %d lines" % (name, HEAD_LINES))
        elif not any(fnmatch.fnmatch(name, p) for p in patterns):
            found.append("%s:1: no SPDX licence tag, and .reuse/dep5 does not name it" % name)
    for licence in sorted(licences):
        if not os.path.exists(os.path.join(root, "LICENSES", licence + ".txt")):
            found.append("LICENSES/%s.txt: the text of a licence that is used is missing" % licence)
    return found


TAG_LINE = "SPDX-License-Identifie" + "r: Apache-2.0\n"
SOUND = {
    "LICENSES/Apache-2.0.txt": "text\n", "LICENSE": "text\n", "base/a.c": "/*\n * What.\n *\n * %s */\n" % TAG_LINE,
    "docs/a.png": "\x89PNG\n", ".reuse/dep5": "Format: x\n\nFiles: docs/*\n *.csv\nCopyright: a\nLicense: Apache-2.0\n",
    "tests/a.csv": "1,2\n",
}
PLANTED = [
    ({"base/b.c": "int x;\n"}, ["base/b.c:1:"]),
    ({"docs/b.h": "int x;\n"}, ["docs/b.h:1:"]),
    ({"base/b.c": "\n" * 50 + "/* %s */" % TAG_LINE}, ["base/b.c:1:"]),
    ({"tests/b.bin": "x"}, ["tests/b.bin:1:", "dep5"]),
    ({"base/b.c": "/* SPDX-License-Identifie" + "r: MIT */\n"}, ["LICENSES/MIT.txt"]),
]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
