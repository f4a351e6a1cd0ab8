# Records what was tried on which system, and generates the table in docs/use/portability.md from the record. A line of
# tried.tsv is the latest result of one script with one compiler of one distribution, for one architecture and one
# release of CUDA:
#
#   distribution, glibc, compiler, architecture, CUDA or -, script, state, details, more, date, commit
#
# States: failed, compiled (into objects, not linked), built, tested, installed. The table shows details after the
# state; more is in the record only.
#
#   table.py line ROW                    prints a row of toolchains/cell as a sentence
#   table.py row ROW                     adds that row to the record
#   table.py add DISTRIBUTION GLIBC COMPILER ARCHITECTURE CUDA SCRIPT STATE DETAILS MORE
#   table.py counted PASSED FAILED SKIPPED  prints the details of tests
#   table.py write                       writes the table to the document
#   table.py check                       checks that the document has the table of this record
# SPDX-License-Identifier: Apache-2.0
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
RECORD, DOCUMENT = os.path.join(HERE, "tried.tsv"), os.path.join(TOP, "docs", "use", "portability.md")
BEGIN, END = "<!-- tried: made by tests/toolchains/table.py -->", "<!-- end of tried -->"
STATES = ("failed", "compiled", "built", "tested", "installed")
# architecture and CUDA of each column; fixed, so that a release that was never tried is shown as well
COLUMNS = [("amd64", "-"), ("arm64", "-"), ("amd64", "11.4"), ("amd64", "11.8"), ("amd64", "12.4"), ("amd64", "12.9"),
           ("amd64", "13.0"), ("arm64", "any")]
# systems of boards, not available here and so never tried, each with the row that is nearest by compiler and C library
UNTRIED = [(("Ubuntu 20.04, JetPack 5", "2.31", "gcc 9.4"), "Debian 11, gcc 9.3.0"),
           (("Ubuntu 22.04, JetPack 6", "2.35", "gcc 11.4"), "Debian 12, gcc 11.3.0"),
           (("Ubuntu 24.04, JetPack 7", "2.39", "gcc 13.2"), "Debian 13, gcc 13.3.0")]


def cell_row(path):
    """Returns the fields that toolchains/cell and run write: distribution, glibc, compiler, Meson, flags, seconds of
    the build, seconds of the tests, passed, failed, skipped, suites."""
    with open(path) as f:
        return f.read().rstrip("\n").split("\t")


def line(path):
    _, _, compiler, meson, _, build_s, test_s, passed, failed, skipped, suites = cell_row(path)
    return "%s, Meson %s: built in %s s; %s: %s passed, %s failed, %s skipped in %s s" % (
        compiler, meson, build_s, suites, passed, failed, skipped, test_s)


def counted(passed, failed, skipped):
    return passed + (", **%s failed**" % failed if failed != "0" else "") + (
        ", %s skipped" % skipped if skipped != "0" else "")


def entry_of_cell(path):
    distribution, glibc, compiler, meson, flags, build_s, test_s, passed, failed, skipped, suites = cell_row(path)
    return [distribution, glibc, compiler, "amd64", "-", "tests/toolchains/run", "tested",
            counted(passed, failed, skipped), "Meson %s, %s; built in %s s; %s in %s s" % (
                meson, "flags of packages" if flags == "package" else "-O1", build_s, suites, test_s)]


def read():
    if not os.path.exists(RECORD):
        return []
    with open(RECORD) as f:
        return [text.rstrip("\n").split("\t") for text in f if not text.startswith("#")]


def place(entry):
    """Returns the key of an entry. Of two entries with one key the newer counts. Compilers with the same major
    version have one key."""
    return (entry[0], entry[2].split(".")[0], *entry[3:6])


def commit():
    """Returns the commit of this tree, with a mark if the tree has changed since. Files that this script writes do
    not count."""
    def git(*words):
        return subprocess.run(["git", "-C", TOP, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False).stdout.strip()
    return (git("rev-parse", "--short", "HEAD") or "-") + (
        "+changed" if git("status", "--porcelain", "-uno", "--", ".", ":!tests/toolchains/tried.tsv", ":!docs") else "")


def add(*entry):
    assert len(entry) == 9 and entry[6] in STATES, entry
    entry = [re.sub(r"\s+", " ", word) for word in entry]
    entry += [time.strftime("%Y-%m-%d", time.gmtime()), commit()]
    entries = [e for e in read() if place(e) != place(entry)] + [entry]
    with open(RECORD, "w") as f:
        f.write("# Written by tests/toolchains/table.py, which says what a line is.\n")
        for e in sorted(entries, key=order):
            f.write("\t".join(e) + "\n")


def order(entry):
    """Returns the sort key: distributions by name and age, compilers by name and version."""
    def numbers(text):
        return [int(n) for n in re.findall(r"\d+", text)]
    return (re.sub(r"\d.*", "", entry[0]), numbers(entry[0]), entry[2].split(" ")[0] != "gcc", numbers(entry[2]),
            entry[3:])


def cell(entries):
    """Returns a cell of the table: the states that its scripts reached, the furthest first, and failures."""
    if not entries:
        return "not tried"
    best = {}
    for e in entries:
        state = best.setdefault(e[6], [])
        if e[7] and e[7] not in state:
            state.append(e[7])
    states = [s for s in reversed(STATES) if s in best]
    # a tested or installed program was also built
    if {"tested", "installed"} & set(states):
        states = [s for s in states if s not in ("compiled", "built")]
    elif "built" in states:
        states = [s for s in states if s != "compiled"]
    return ", ".join(("**%s**" % s if s == "failed" else s) + (" (%s)" % "; ".join(best[s]) if best[s] else "")
                     for s in states)


def on_a_gpu():
    """Returns the record of tests/gpu/validate as a row, its column and the cell. It does not contain the compiler."""
    with open(os.path.join(TOP, "tests", "gpu", "validated.txt")) as f:
        text = f.read()

    def word(name):
        return re.search("(?m)^%s: (.*)$" % name, text).group(1)
    ptx = re.search(r"(?m)^(compute_75 PTX) on [^:]*: (\d+), (\d+) failed", text)
    good = "sm_%s: %s" % (word("architectures"), word("checks").split(";")[0])
    return (("%s, driver %s" % (word("device"), word("driver")), "-", "-"), ("amd64", word("CUDA")),
            "tested (%s)" % "; ".join([good] + (["%s: %s checks, %s failed" % ptx.groups()] if ptx else [])))


def table(entries):
    names = [architecture if cuda == "-" else "CUDA" if cuda == "any" else "CUDA " + cuda
             for architecture, cuda in COLUMNS]
    names = [n if c[0] == "amd64" or c[1] == "-" else c[0] + ", " + n for n, c in zip(names, COLUMNS)]
    lines = ["| distribution | glibc | compiler | " + " | ".join(names) + " |", "|---" * (3 + len(names)) + "|"]
    rows = []
    for e in entries:
        if tuple(e[:3]) not in rows:
            rows.append(tuple(e[:3]))
    for row in rows:
        cells = [cell([e for e in entries if tuple(e[:3]) == row and tuple(e[3:5]) == c]) for c in COLUMNS]
        lines.append("| %s | %s |" % (" | ".join(row), " | ".join(cells)))
    row, column, said = on_a_gpu()
    lines.append("| %s | %s |" % (" | ".join(row), " | ".join(said if c == column else "not tried" for c in COLUMNS)))
    for row, near in UNTRIED:
        lines.append("| %s | %s |" % (" | ".join(row), " | ".join(
            ["not tried; nearest is " + near] + ["not tried"] * (len(COLUMNS) - 1))))
    return lines


def text_with_table():
    """Returns (text of the document, text with the table of the record)."""
    with open(DOCUMENT) as f:
        text = f.read()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit("%s has no place for the table: %s" % (DOCUMENT, BEGIN))
    entries = read()
    strange = sorted({"%s, CUDA %s" % (e[3], e[4]) for e in entries if tuple(e[3:5]) not in COLUMNS})
    if strange:
        sys.exit("tried.tsv has what no column of table.py shows: " + "; ".join(strange))
    return text, before + "\n".join([BEGIN, *table(entries), END]) + after


def main(command, *words):
    if command == "line":
        print(line(*words))
    elif command == "row":
        add(*entry_of_cell(*words))
    elif command == "counted":
        print(counted(*words))
    elif command == "add":
        add(*words)
    elif command == "write":
        text = text_with_table()[1]
        with open(DOCUMENT, "w") as f:
            f.write(text)
    elif command == "check":
        was, is_now = text_with_table()
        if was != is_now:
            sys.exit("docs/use/portability.md: its table is not that of tests/toolchains/tried.tsv: table.py write")
    else:
        sys.exit("table.py: what is %s?" % command)


if __name__ == "__main__":
    main(*sys.argv[1:])
