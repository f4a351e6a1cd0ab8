# What nights did: record.txt. A line is what one machine did on one day for one target with one state of its sources,
# words between tabs:
#
#   kind, target, digest of the sources it judged, day and time (UTC) of the last of it, machine, revision, processor,
#   core minutes, counts
#
# digest: of the files that the target's program is made of (sources.py), not of the whole tree. machine: a hash of
# machine, boot and build folder. counts: NAME=VALUE. Lines of other machines and branches may stand between them in any
# order, and twice: of two lines of one machine, day, target and digest the one with more minutes is the later one and
# has the other. A merge takes all lines of both sides; markers of conflicts do no harm.
#
# SPDX-License-Identifier: Apache-2.0
import collections
import fcntl
import os
import re

HEAD = "# Written by tests/night/run, not to be edited; tests/night/record.py says what a line is.\n"
Line = collections.namedtuple("Line", "kind target digest when machine revision processor minutes counts")
ADDED = ("executions", "histories", "frames", "simulated_s", "lives", "late", "findings")
GREATEST = ("edges", "reached", "possible", "whole")
RANGES = "seeds"
CONFLICT = re.compile(r"(<{7}|={7}|>{7}|\|{7})( |$)")
SHAPES = dict(kind=r"[a-z]+", target=r"[\w/-]+", digest=r"[0-9a-f]{12}", when=r"\d{4}-\d\d-\d\d \d\d:\d\d",
              machine=r"[0-9a-f]{8}", revision=r"[0-9a-f]+(\+changed)?|-", processor=r"[^\t]+", minutes=r"\d+\.\d\d")


class Damaged(Exception):
    pass


def key(line):
    return line.kind, line.target, line.digest, line.when[:10], line.machine


def count_of(word):
    """(name, value) of NAME=VALUE; a ValueError where it is none."""
    name, _, value = word.partition("=")
    if name == RANGES:
        return name, [tuple(map(int, part.split("-"))) for part in value.split(",")]
    if name not in ADDED + GREATEST:
        raise ValueError(name)
    return name, int(value)


def parse(text):
    words = text.split("\t")
    if len(words) != len(Line._fields):
        raise ValueError("%d words, not %d" % (len(words), len(Line._fields)))
    for name, word in zip(Line._fields, words):
        if name in SHAPES and not re.fullmatch(SHAPES[name], word):
            raise ValueError("'%s' is no %s" % (word, name))
    try:
        counts = dict(count_of(word) for word in words[-1].split())
        if any(len(r) != 2 or r[0] > r[1] for r in counts.get(RANGES, [])):
            raise ValueError(RANGES)
    except ValueError:
        raise ValueError("'%s' are no counts" % words[-1]) from None
    return Line(*words[:7], float(words[7]), counts)


def text_of(line):
    counts = ["%s=%d" % (name, line.counts[name]) for name in ADDED + GREATEST if name in line.counts]
    if line.counts.get(RANGES):
        counts.append("%s=%s" % (RANGES, ",".join("%d-%d" % r for r in line.counts[RANGES])))
    return "\t".join([*line[:7], "%.2f" % line.minutes, " ".join(counts)])


def lines_of(text, name):
    """{key: line}. A line that is none is not guessed at: what it counted would be lost with the next writing."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#") or CONFLICT.match(line):
            continue
        try:
            one = parse(line)
        except ValueError as e:
            raise Damaged("%s:%d: %s" % (name, number, e)) from None
        there = found.get(key(one))
        if not there or one.minutes > there.minutes:
            found[key(one)] = one
    if text and not text.endswith("\n"):
        raise Damaged("%s: its last line is half a line" % name)
    return found


def read(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8", errors="replace") as f:
        return lines_of(f.read(), path)


def joined(ranges):
    """Ranges of seeds in order, neighbours as one."""
    found = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found


def add(lines, line):
    """Adds what was done just now to what its machine did before on this day."""
    there = lines.get(key(line))
    if there:
        counts = {name: there.counts.get(name, 0) + line.counts.get(name, 0)
                  for name in ADDED if name in there.counts or name in line.counts}
        counts.update((name, max(there.counts.get(name, 0), line.counts.get(name, 0)))
                      for name in GREATEST if name in there.counts or name in line.counts)
        if RANGES in there.counts or RANGES in line.counts:
            counts[RANGES] = joined(there.counts.get(RANGES, []) + line.counts.get(RANGES, []))
        line = line._replace(when=max(there.when, line.when), revision=there.revision,
                             minutes=there.minutes + line.minutes, counts=counts)
    lines[key(line)] = line


def write(path, lines):
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(HEAD + "".join(text_of(line) + "\n" for _, line in sorted(lines.items())))
    os.rename(path + ".new", path)


def update(path, more, then=None):
    """Adds lines to the file; of nights side by side each finds what the other has written. then: is given all lines
    while no one else writes."""
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        lines = read(path)
        for line in more:
            add(lines, line)
        write(path, lines)
        if then:
            then(lines)
    finally:
        os.close(folder)
    return lines
