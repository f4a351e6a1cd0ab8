# Seeds of histories that no night had before: a number has the day, the machine (record.py), and how many went before
# on that day there. What the record or the build folder knows to be taken is passed over all the same.
#
# SPDX-License-Identifier: Apache-2.0
import datetime
import os

import record

EPOCH = datetime.date(2020, 1, 1)
A_DAY, A_MACHINE = 48, 24  # bits below the number of the day, and below the machine's
AHEAD = 1 << 13  # more than a slice has time for


def first_of(day, machine):
    return (day - EPOCH).days << A_DAY | (int(machine, 16) & ((1 << A_DAY - A_MACHINE) - 1)) << A_MACHINE


def free_from(first, taken):
    """The first seed, not below this one, from which AHEAD are free."""
    for begin, last in record.joined(taken):
        if begin < first + AHEAD and last >= first:
            first = last + 1
    return first


def reserve(build, machine, lines, day=None):
    """The first of AHEAD seeds, which nobody else gets. The file keeps it for runs that end without a record."""
    path = os.path.join(build, "seeds.txt")
    taken = [r for line in lines.values() for r in line.counts.get(record.RANGES, [])]
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            taken += [tuple(map(int, words)) for words in map(str.split, f) if len(words) == 2]
    first = free_from(first_of(day or datetime.datetime.now(datetime.timezone.utc).date(), machine), taken)
    with open(path, "a", encoding="utf-8") as f:
        f.write("%d %d\n" % (first, first + AHEAD - 1))
    return first
