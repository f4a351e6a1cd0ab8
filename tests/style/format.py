# Files must be formatted by .clang-format with clang-format 14. Other versions format differently.
# SPDX-License-Identifier: Apache-2.0
import os
import re
import shutil
import subprocess
import sys

import rule

STYLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".clang-format")


def tool():
    for name in ("clang-format-14", "clang-format"):
        if shutil.which(name):
            version = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
            if re.search(r"version 14\.", version):
                return name
    sys.exit("clang-format 14 is not installed (Debian package clang-format-14)")


def check(root):
    names = rule.files(root, ".c", ".h", ".cu", ".cuh", ".cc")
    out = subprocess.run([tool(), "--dry-run", "-Werror", "--style=file:" + STYLE, *names], cwd=root,
                         capture_output=True, text=True, check=False)
    found = re.findall(r"^(\S+:\d+:\d+: error: .*)$", out.stderr, re.M)
    if out.returncode and not found:
        found = ["clang-format failed: " + out.stderr.strip()]
    return found


SOUND = {"base/a.c": "int f(int x)\n{\n\tif (x)\n\t\treturn 1;\n\treturn 0;\n}\n"}
PLANTED = [
    ({"base/b.c": "int f(int x) {\n\treturn x;\n}\n"}, ["base/b.c:1:"]),
    ({"cpu/b.h": "int f(int x)\n{\n        return x;\n}\n"}, ["cpu/b.h:2:"]),
]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
