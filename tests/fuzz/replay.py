# Replays the corpus of a fuzz target (docs/develop/testing/fuzzing.md) with a program of replay.c.
#
#   replay.py NAME PROGRAM         replays the corpus of the target NAME
#   replay.py --self-check PROGRAM checks that replays find the faults of the planted target
#
# SPDX-License-Identifier: Apache-2.0
"""Usage: replay.py NAME PROGRAM, or replay.py --self-check PROGRAM. Exit code 1 if there is a finding. The program then
names the input that causes it."""
import base64
import os
import re
import subprocess
import sys
import tempfile

import targets

BEGUN = re.compile(r"^Running: (\S+)$", re.M)
DONE = re.compile(r"^Executed \S+", re.M)
REPORT = re.compile(r"^(.*(?:ERROR: |runtime error: |SUMMARY: ).*)$", re.M)
SMALL = 2400  # largest input that is printed, bytes
# Inputs of the planted target, and a word that each report must contain. No word: there must be no finding.
PLANTED = {"endless": "seconds of a processor", "leak": "LeakSanitizer", "length": "heap-buffer-overflow", "sound": ""}


def report_of(status, text):
    """Returns the lines of the output that describe a finding: the report of a sanitizer, else the last lines."""
    report = REPORT.findall(text) or text.splitlines()[-10:] or ["it ended with status %d and said nothing" % status]
    if re.search(r"deadly signal|ABRT", text):  # the target's own message is in the line before
        said = re.split(r"^==|^Aborted", text, 1, re.M)[0].splitlines()
        report = said[-1:] + report
    return report[:6]


def replay(program, paths, **more):
    """Runs each input once. Returns (number of inputs, seconds of CPU time, finding). The finding is None, or (path of
    the input, its report)."""
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        child = subprocess.Popen([program, *paths], stdout=log, stderr=log,
                                 env={**os.environ, **targets.ENVIRONMENT, **targets.REPLAY, **more})
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = status
        log.seek(0)
        text = log.read()
    done, begun = len(DONE.findall(text)), BEGUN.findall(text)
    seconds = used.ru_utime + used.ru_stime
    if status == 0 and done == len(paths):
        return done, seconds, None
    return done, seconds, (begun[-1] if begun else None, report_of(status, text.rpartition("Running: ")[2]))


def tell(name, found):
    """Prints a finding in the form that tests/results.py reads. Prints a small input, too, because the log of a build
    server may be all that is left."""
    path, report = found
    lines = [line[:160] for line in report] + ["input: %s" % (path or "none is known")]
    if path and os.path.getsize(path) <= SMALL:
        with open(path, "rb") as f:
            text = base64.b64encode(f.read()).decode()
        lines += ["base64 of it:"] + [text[at:at + 160] for at in range(0, len(text), 160)]
    print("\n".join(["FAILED: %s: %s" % (name, report[0].strip()[:120])] + ["\t" + line for line in lines]), flush=True)


def replay_corpus(name, program):
    with tempfile.TemporaryDirectory() as folder:
        corpus = os.path.join(folder, name)
        targets.unpack(name, corpus)
        paths = [os.path.join(corpus, file) for file in sorted(os.listdir(corpus))]
        done, seconds, found = replay(program, paths)
        print("%s: %d of %d inputs, %.1f s of a processor" % (name, done, len(paths), seconds))
        if found:
            tell(name, found)
        return 1 if found or not paths else 0


def self_check(program):
    """Replays a valid input before each planted fault, so that the fault's own input must be named."""
    missed, folder = 0, os.path.join(targets.HERE, "found", targets.PLANTED)
    for file, word in PLANTED.items():
        path = os.path.join(folder, file)
        _, _, found = replay(program, [os.path.join(folder, "sound"), path], FUZZ_INPUT_S="1")
        good = found and found[0] == path and any(word in line for line in found[1]) if word else not found
        print("%s: %s" % (file, "as it must be" if good else "MISSED: %s" % (found,)))
        missed += not good
    return 1 if missed else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(self_check(sys.argv[2]) if sys.argv[1] == "--self-check" else replay_corpus(*sys.argv[1:]))
