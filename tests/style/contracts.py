# Contracts (base/contract.h): at least one for every second function of the folders below.
#
#   contracts.py ROOT            a finding for each folder that has fewer
#   contracts.py ROOT --table    functions and contracts of each folder and its rooms
#   contracts.py ROOT --without  functions without one, FILE:LINE NAME, the longest first
#
# Counted are functions with bodies in .c and .h. Those of a single statement are not: they have no place for one.
# SPDX-License-Identifier: Apache-2.0
import collections
import re
import sys

import rule

FOLDERS = ("capture", "daemon", "ipc", "recording")
CONTRACT = re.compile(r"\bsx_must(?:_index|_be|_or)?\(")
BODY = re.compile(r"^\{\n(.*?)^\}", re.M | re.S)
NAME = re.compile(r"(\w+)\s*\([^;{}=]*\)[^;{}()=]*\Z")

Function = collections.namedtuple("Function", "file line name statements contracts")


def functions(name, text):
    """Those with a body in text, which is code without comments."""
    for m in BODY.finditer(text):
        head = NAME.search(text, 0, m.start())
        if head:
            statements = m.group(1).count(";") - 2 * len(re.findall(r"\bfor \(", m.group(1)))
            yield Function(name, text.count("\n", 0, head.start()) + 1, head.group(1), statements,
                           len(CONTRACT.findall(m.group(1))))


def counted(root, folders=FOLDERS):
    return [f for name in rule.files(root, ".c", ".h") if name.split("/")[0] in folders
            for f in functions(name, rule.code(rule.read(root, name))) if f.statements > 1]


def check(root):
    found = []
    all_of = counted(root)
    for folder in FOLDERS:
        here = [f for f in all_of if f.file.startswith(folder + "/")]
        contracts = sum(f.contracts for f in here)
        if 2 * contracts < len(here):
            found.append("%s/: %d contracts in %d functions, at least %d: say what must hold" %
                         (folder, contracts, len(here), (len(here) + 1) // 2))
    return found


def table(root):
    rows = collections.defaultdict(lambda: [0, 0, 0])
    for f in counted(root):
        parts = f.file.split("/")
        for room in {parts[0] + "/", "/".join(parts[:-1]) + "/", "all"}:
            for i, n in enumerate((1, f.contracts, f.contracts > 0)):
                rows[room][i] += n
    print("%-20s %10s %10s %8s %12s" % ("folder", "functions", "contracts", "ratio", "without one"))
    for room in sorted(rows, key=lambda r: (r == "all", r)):
        n, contracts, having = rows[room]
        print("%-20s %10d %10d %8.2f %12d" % (room, n, contracts, contracts / n, n - having))


def body(contracts):
    says = "\tsx_must(x, <, 3);\n" * contracts
    return "static int add(int x,\n\t\tint y)\n{\n%s\tx++;\n\treturn x + y;\n}\n" % says


GETTER = "int get(void)\n{\n\treturn 1;\n}\n"
SOUND = {f + "/a.c": body(1) + body(0) + 5 * GETTER + "/*\n" + body(0) + "*/\n" for f in FOLDERS}
PLANTED = [
    ({"ipc/feed/b.c": body(0)}, ["ipc/", "1 contracts in 3 functions", "at least 2"]),
    ({"daemon/b.h": body(0).replace("static", "static inline")}, ["daemon/", "1 contracts in 3 functions"]),
    ({"capture/a.c": body(0) + "/* sx_must(x, <, 3); */\n"}, ["capture/", "0 contracts in 1 functions"]),
    ({"recording/a.c": body(0) + "static int a[] =\n{\n\tsx_must(1, <, 2);\n};\n"}, ["recording/", "0 contracts"]),
]

if __name__ == "__main__":
    if sys.argv[2:] == ["--table"]:
        table(sys.argv[1])
    elif sys.argv[2:] == ["--without"]:
        for fun in sorted(counted(sys.argv[1]), key=lambda f: -f.statements):
            if not fun.contracts:
                print("%s:%d %s %d" % (fun[:4]))
    else:
        rule.main(check, SOUND, PLANTED)
