# Functions that can be followed (cyclomatic complexity, by pmccabe) and files that can be read in one go.
# SPDX-License-Identifier: Apache-2.0
import fnmatch
import os
import subprocess
import sys

import rule

COMPLEXITY_MAX = 30
EXCEPTIONS = 4  # of LINES_MAX, single files
# Lines of a file, first pattern that fits. A smell rather than a law: an exception stands here with its reason.
LINES_MAX = [
    ("include/stixel.h", 850, "the public header: one file on purpose"),
    ("include/stixel_convert.h", 180, "what scans and points promise"),
    ("stages/engine.h", 200, "the engine interface in one piece"),
    ("ipc/stream.c", 620, "one state machine of clients"),
    ("tests/*", 700, "cases lie side by side"),
    ("cpu/*.h", 600, "kernels, compiled once for each instruction set"),
    ("gpu/*.cu", 800, "all kernels of one stage, for every shape"),
    ("gpu/*.h", 300, "device code that several kernels share"),
    ("*.h", 150, "headers are contracts"),
    ("*", 500, "files are read in one go"),
]


def complexity(root, names):
    try:
        out = subprocess.run(["pmccabe", *names], cwd=root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit("pmccabe is not installed (Debian package pmccabe)")
    if not out.stdout:
        return ["pmccabe found no function: %s" % out.stderr.strip()]
    found = []
    for row in out.stdout.splitlines():
        _, traditional, _, line, _, where = row.split("\t")[:6]
        if int(traditional) > COMPLEXITY_MAX:
            name, function = where.rsplit(": ", 1)
            found.append("%s:%s: %s has complexity %s, at most %d" % (name.split("(")[0], line, function, traditional,
                                                                      COMPLEXITY_MAX))
    return found


def check(root):
    names = rule.files(root, ".c", ".h", ".cu", ".cuh", ".cc")
    found = complexity(root, names)
    for name in names:
        lines = rule.read(root, name).count("\n")
        for pattern, most, why in LINES_MAX:
            if fnmatch.fnmatch(name, pattern):
                if lines > most:
                    found.append("%s:%d: %d lines, at most %d: %s" % (name, most, lines, most, why))
                break
    for pattern, most, _ in LINES_MAX[:EXCEPTIONS]:  # an exception that is no longer needed goes
        path = os.path.join(root, pattern)
        if os.path.exists(path) and rule.read(root, pattern).count("\n") <= (150 if pattern.endswith(".h") else 500):
            found.append("tests/style/size.py: %s needs no exception any more" % pattern)
    return found


def branches(n):
    return "int f(int x)\n{\n" + "\tif (x)\n\t\tx++;\n" * n + "\treturn x;\n}\n"


SOUND = {"base/a.c": branches(29) + "\n" * 300, "base/a.h": "int x;\n" * 150}
PLANTED = [
    ({"base/b.c": branches(30)}, ["base/b.c", "f has complexity 31"]),
    ({"gpu/b.cu": branches(40)}, ["gpu/b.cu", "complexity 41"]),
    ({"base/b.c": "int x;\n" * 501}, ["base/b.c:500:", "501 lines"]),
    ({"base/b.h": "int x;\n" * 151}, ["base/b.h", "151 lines"]),
    ({"ipc/stream.c": "int x;\n" * 100}, ["no exception any more"]),
]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
