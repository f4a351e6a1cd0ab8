# Reads Meson's logs of a test run (testlog.json), the output of test scripts, and Meson's description of a build
# folder, for tools/test.
#
#   results.py count LOG                prints "passed failed skipped"; LOG may be a script's output, see below
#   results.py failed PART LOG          prints the failed tests, in the form of a script's output
#   results.py tell FILE FAILED         prints the same for a reader: FILE has such lines of all parts, in which FAILED
#                                       tests failed
#   results.py targets FOLDER WORD...   prints the Ninja targets that tests start, one per line. WORD: a suite; -SUITE:
#                                       except the tests of this suite; test=NAME: a test; installed: installed files
#
# A test runs once. A script prints "FAILED: NAME" for each failed test, below it the test's last lines, each after a
# tab, and at its end "N passed, N failed, N skipped".
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import subprocess
import sys

COUNTED = re.compile(r"(?m)^(\d+) passed, (\d+) failed, (\d+) skipped$")
PASSED = re.compile(r"^(ok \d|1\.\.\d)|\.\.\. ok$")
MARK = re.compile(r"FAILED: (.*)")
# limits of the report, because a build server keeps only the end of the output: lines of one test, lines of all tests,
# columns of a line
LINES, ALL_LINES, COLUMNS = 25, 100, 200


def read(path):
    """Returns {(name, command): entry}. The command is part of the key because two tests of a suite may have one name;
    see split()."""
    with open(path) as f:
        return {(e["name"], *e["command"]): e for e in map(json.loads, f)}


def text_of(path):
    with open(path, errors="replace") as f:
        return f.read()


def kind(entry):
    return {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}.get(entry["result"], "failed")


def count(entries):
    kinds = [kind(e) for e in entries.values()]
    return [kinds.count(k) for k in ("passed", "failed", "skipped")]


def count_script(text):
    """Reads the counts from the last line of a script's output. A script without that line has failed."""
    counted = COUNTED.findall(text)
    return [int(n) for n in counted[-1]] if counted else [0, 1, 0]


def split(entry):
    """Returns suites and name of "project:suite+suite / name", or of "suite+suite - project:name", as newer Mesons
    write it."""
    first, slash, last = entry["name"].partition(" / ")
    if slash:
        return set(first.partition(":")[2].split("+")), last
    first, dash, last = entry["name"].partition(" - ")
    return (set(first.split("+")), last.partition(":")[2]) if dash else (set(), entry["name"])


def said(entry):
    """Returns the end of a test's output, without the lines of passed cases."""
    lines = (entry.get("stdout", "") + "\n" + entry.get("stderr", "")).splitlines()
    return [text for text in lines if text.strip() and not PASSED.search(text)][-LINES:]


def line_of(name, lines):
    return "\n".join(["FAILED: " + name, *("\t" + text for text in lines)])


def failed(part, entries):
    """Returns the failed tests of a Meson log as lines in the form of a script's output."""
    lines = []
    for entry in entries.values():
        if kind(entry) == "failed":
            suites, name = split(entry)
            lines.append(line_of("%s: %s / %s: %s after %.1f s" % (
                part, "+".join(sorted(suites)), name, entry["result"], entry.get("duration", 0)), said(entry)))
    return lines


def marked(text):
    """Returns [(name, lines)] of the failed tests in a script's output."""
    found, inside = [], False
    for line in text.splitlines():
        mark = MARK.match(line)
        if mark:
            found.append((mark.group(1), []))
        elif inside and line.startswith("\t"):
            found[-1][1].append(line[1:])
        inside = bool(mark) or (inside and line.startswith("\t"))
    return found


def failed_of_script(part, text):
    """Returns the same lines with the part's name. If failures were counted but not named, the end of the output stands
    for them."""
    found = marked(text)
    lines = [line_of(part + ": " + name, said_there) for name, said_there in found]
    unnamed = count_script(text)[1] - len(found)
    if unnamed > 0:
        what = "%d not named" % unnamed if COUNTED.search(text) else "it ended early"
        lines.append(line_of(part + ": " + what, text.splitlines()[-LINES:]))
    return lines


def tell(text, number):
    """Returns at most ALL_LINES lines: the last lines of each failed test, then all names. The names come last because
    a build server keeps the end."""
    found = marked(text)
    names = ["failed: " + name for name, _ in found]
    unnamed = number - len(found)
    if unnamed > 0:
        names.append("failed: %d more, of which nothing is known" % unnamed)
    if len(names) > ALL_LINES // 3:
        names[ALL_LINES // 3 - 1:] = ["and %d more" % (len(names) - ALL_LINES // 3 + 1)]
    lines = []
    for n, (name, said_there) in enumerate(found):
        room = ALL_LINES - len(names) - len(lines)
        share = min(LINES, max(5, room // (len(found) - n) - 1))
        if said_there and room > share:
            lines[:0] = ["%s said:" % name, *("    " + text for text in said_there[-share:])]
    return [line[:COLUMNS] for line in lines + names]


def introspect(folder, what):
    return json.loads(subprocess.check_output(["meson", "introspect", folder, "--" + what]))


def targets(folder, wanted):
    """Returns the files below `folder` that the wanted tests need. A test's "depends" holds the identifiers of the
    targets of its program and arguments."""
    every = introspect(folder, "targets")
    suites, without = ({"stixeld:" + word.lstrip("-") for word in wanted if word.startswith("-") == minus}
                       for minus in (False, True))
    needed = {i for t in introspect(folder, "tests") for i in t["depends"]
              if (suites & set(t["suite"]) or "test=" + t["name"] in wanted) and not without & set(t["suite"])}
    needed |= {t["id"] for t in every if "installed" in wanted and t["installed"]}
    return sorted(os.path.relpath(f, os.path.realpath(folder)) for t in every if t["id"] in needed
                  for f in t["filename"])


def lines_of(verb, first, *more):
    """Returns the lines to print."""
    if verb == "targets":
        return targets(first, more)
    if verb == "tell":
        return tell(text_of(first), int(more[0]))
    if verb == "count":
        numbers = count(read(first)) if first.endswith(".json") else count_script(text_of(first))
        return [" ".join(map(str, numbers))]
    if verb == "failed":
        log = more[0]
        return failed(first, read(log)) if log.endswith(".json") else failed_of_script(first, text_of(log))
    sys.exit("results.py: what is %s?" % verb)


if __name__ == "__main__":
    for what in lines_of(*sys.argv[1:]):
        print(what)
