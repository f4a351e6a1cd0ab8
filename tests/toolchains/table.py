# The table of what was built with which compiler, from the rows that cell and run write: one line of tabs, which are
# distribution, glibc, compiler, Meson, flags, seconds of the build, seconds of the tests, passed, failed, skipped,
# suites.
#
#   table.py line ROW                      one row as a sentence
#   table.py write DOCUMENT CELL=ROW...    puts the table into the document; a row that does not exist was not tried,
#                                          or, with a file "failed" in its place, did not build
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys

BEGIN, END = "<!-- toolchains: made by tests/toolchains/run -->", "<!-- end of toolchains -->"
HEAD = ("| distribution | glibc | compiler | Meson | build | s | tests | passed | failed | skipped | s |",
        "|---|---|---|---|---|---|---|---|---|---|---|")


def read(path):
    with open(path) as f:
        return f.read().rstrip("\n").split("\t")


def line(row):
    _, _, compiler, meson, _, build_s, test_s, passed, failed, skipped, suites = row
    return "%s, Meson %s: built in %s s; %s: %s passed, %s failed, %s skipped in %s s" % (
        compiler, meson, build_s, suites, passed, failed, skipped, test_s)


def cells(name, path):
    if not os.path.exists(path):
        distribution, compiler = name.split(":")
        failed = os.path.exists(os.path.join(os.path.dirname(path), "failed"))
        return (distribution, "", compiler, "", "**failed**" if failed else "not tried") + ("",) * 6
    distribution, glibc, compiler, meson, flags, build_s, test_s, passed, failed, skipped, suites = read(path)
    build = "built" if flags == "package" else "built, -O1"
    return (distribution, glibc, compiler, meson, build, build_s, suites.replace(",", ", "), passed, failed, skipped,
            test_s)


def write(document, rows):
    with open(document) as f:
        text = f.read()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit("%s has no place for the table: %s" % (document, BEGIN))
    table = [*HEAD] + ["| %s |" % " | ".join(cells(*row.split("=", 1))) for row in rows]
    with open(document, "w") as f:
        f.write(before + "\n".join([BEGIN, *table, END]) + after)


if __name__ == "__main__":
    if sys.argv[1] == "line":
        print(line(read(sys.argv[2])))
    else:
        write(sys.argv[2], sys.argv[3:])
