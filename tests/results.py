# Reads Meson's logs of a test run (testlog.json), and what it knows of a build folder, for tools/test.
#
#   results.py count LOG SECOND    "passed failed skipped"; a test that SECOND has (it need not exist) counts as there
#   results.py again LOG           what may run a second time, by name, one a line
#   results.py targets FOLDER SUITE...   what the tests of these suites start, as Ninja names it, one a line
#
# Tests of programs that wait for each other fail on a machine that does something else for seconds. Up to three of
# those may run once more, alone; whoever calls says so. Nothing that computes gets a second run, and nothing that a
# sanitizer spoke about.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import subprocess
import sys

WITH_CLOCKS = {"daemon", "ipc", "power", "tools", "python", "web", "systemd", "vm", "capture"}
REPORT = re.compile(r"(Address|Thread|Leak|UndefinedBehavior)Sanitizer|runtime error:")
MOST = 3


def read(path):
    """{(name, command): entry}: two tests of a suite may have one name; see split()."""
    with open(path) as f:
        return {(e["name"], *e["command"]): e for e in map(json.loads, f)}


def kind(entry):
    return {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}.get(entry["result"], "failed")


def count(entries):
    kinds = [kind(e) for e in entries.values()]
    return [kinds.count(k) for k in ("passed", "failed", "skipped")]


def split(entry):
    """Suites and name of "project:suite+suite / name", or "suite+suite - project:name", as newer Mesons write it."""
    first, slash, last = entry["name"].partition(" / ")
    if slash:
        return set(first.partition(":")[2].split("+")), last
    first, dash, last = entry["name"].partition(" - ")
    return (set(first.split("+")), last.partition(":")[2]) if dash else (set(), entry["name"])


def again(entries):
    failed = [e for e in entries.values() if kind(e) == "failed"]
    if len(failed) > MOST or not all(split(e)[0] & WITH_CLOCKS for e in failed):
        return []
    if any(REPORT.search(e.get("stdout", "") + e.get("stderr", "")) for e in failed):
        return []
    return sorted({split(e)[1] for e in failed})


def introspect(folder, what):
    return json.loads(subprocess.check_output(["meson", "introspect", folder, "--" + what]))


def targets(folder, wanted):
    """Files below folder; a test's "depends" are the identifiers of the targets of its program and arguments."""
    wanted = {"stixeld:" + suite for suite in wanted}
    needed = {i for t in introspect(folder, "tests") if wanted & set(t["suite"]) for i in t["depends"]}
    return sorted(os.path.relpath(f, os.path.realpath(folder))
                  for t in introspect(folder, "targets") if t["id"] in needed for f in t["filename"])


def main(verb, first, *more):
    if verb == "targets":
        print(*targets(first, more), sep="\n")
        return
    entries = read(first)
    second = more[0] if more else ""
    if verb == "again":
        print(*again(entries), sep="\n")
    else:
        print(*count({**entries, **(read(second) if os.path.exists(second) else {})}))


if __name__ == "__main__":
    main(*sys.argv[1:])
