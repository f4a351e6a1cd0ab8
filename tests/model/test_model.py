# Runs the explorer. Every scenario must be good, and every weakened operation must cause a violation, except for those
# listed below.
# Usage: test_model.py STIXEL-MODEL [--deep]
# SPDX-License-Identifier: Apache-2.0
import collections
import re
import subprocess
import sys

SCENARIO = re.compile(r"scenario (\S+): (good|bad)(?:, executions (\d+), pruned (\d+), operations (\d+), "
                      r"seconds ([\d.]+))?(.*)")
WEAKENED = re.compile(r"weakened 0x(\w+) (\w+) (\w+) (\S+): (good|bad)")

VALUE = "the value alone is looked at: nothing is reached by it"
DEFAULT = "seq_cst is what an atomic has that says nothing: acquire and release would do, and each of them is noticed"
EARLY = "written by main before there are other threads, and it is the number of a descriptor"
CLAIM = "the claim that follows acquires"
LOCKED = "taken back with the mutex held: who reads the old value signals once too often"
OWN = "what comes back is what this thread put there, and nobody else has had it"

# Key: file, function, index among the function's ordered operations, order, weaker order. Value: why the weakening
# causes no violation.
NOT_NEEDED = {
    ("base/log.c", "drain_ring", 1, "seq_cst", "acquire"): DEFAULT,
    ("base/log.c", "drain_ring", 2, "seq_cst", "release"): DEFAULT,
    ("base/log.c", "put_in_ring", 1, "acquire", "relaxed"): EARLY,
    ("base/log.c", "sx_log_drain", 1, "seq_cst", "acquire"): EARLY,
    ("base/log.c", "sx_log_drain", 1, "seq_cst", "relaxed"): EARLY,
    ("base/log.c", "sx_log_fd", 1, "seq_cst", "acquire"): EARLY,
    ("base/log.c", "sx_log_fd", 1, "seq_cst", "relaxed"): EARLY,
    ("base/log.c", "sx_log_realtime_begin", 1, "seq_cst", "acq_rel"): DEFAULT,
    ("base/log.c", "sx_log_realtime_begin", 1, "seq_cst", "acquire"): DEFAULT,
    ("base/log.c", "sx_log_realtime_begin", 2, "seq_cst", "release"): DEFAULT,
    ("base/log.c", "sx_log_realtime_end", 1, "seq_cst", "release"): DEFAULT,
    ("base/spsc.c", "sx_spsc_count", 2, "acquire", "relaxed"): VALUE,
    ("cpu/pool.c", "run_tasks", 1, "acquire", "relaxed"): CLAIM,
    ("cpu/pool.c", "run_tasks", 2, "acq_rel", "acquire"): "a claim tells nothing of its own",
    ("cpu/pool.c", "run_tasks", 4, "acquire", "relaxed"): CLAIM,
    ("cpu/pool.c", "sx_pool_for", 1, "seq_cst", "release"): "the store to ticket behind it tells of it",
    ("cpu/pool.c", "sx_pool_for", 1, "seq_cst", "relaxed"): "the store to ticket behind it tells of it",
    ("cpu/pool.c", "wait_for_loop", 3, "seq_cst", "acq_rel"): LOCKED,
    ("cpu/pool.c", "wait_for_loop", 3, "seq_cst", "acquire"): LOCKED,
    ("cpu/pool.c", "wait_for_loop", 3, "seq_cst", "release"): LOCKED,
    ("cpu/pool.c", "wait_for_others", 1, "seq_cst", "acquire"): DEFAULT,
    ("cpu/pool.c", "wait_for_others", 4, "seq_cst", "release"): LOCKED,
    ("cpu/pool.c", "wait_for_others", 4, "seq_cst", "relaxed"): LOCKED,
    ("daemon/channels/control_channel.c", "sx_control_channel_take_returned_controls", 2, "acquire", "relaxed"): OWN,
    ("daemon/channels/mailbox.c", "sx_mailbox_put", 1, "acq_rel", "release"): OWN,
    ("daemon/channels/mailbox.c", "sx_mailbox_take", 1, "acq_rel", "acquire"):
        "it leaves NULL, which tells of nothing",
    ("daemon/channels/mailbox.c", "sx_mailbox_waits", 1, "acquire", "relaxed"): VALUE,
    ("ipc/client/ring.c", "sx_map_beat_ns", 1, "acquire", "relaxed"): VALUE,
    ("ipc/feed/feed.c", "read_header", 1, "acquire", "relaxed"): "the fence of sx_feed_look(), behind head, does it",
    ("ipc/ring.c", "sx_ring_beat", 1, "release", "relaxed"): VALUE,
    ("ipc/ring.c", "sx_ring_replaced", 1, "acquire", "relaxed"): VALUE,
}


def symbols(program, places):
    """Returns {place: (file, function, line)} of the calls that return to these places."""
    places = sorted(places)
    lines = subprocess.run(["addr2line", "-fe", program] + ["%#x" % (p - 1) for p in places], check=True,
                           stdout=subprocess.PIPE, universal_newlines=True).stdout.splitlines()
    names = {}
    for place, function, line in zip(places, lines[::2], lines[1::2]):
        m = re.search(r"((?:\w+/)*\w+\.[ch]):(\d+)", line)
        names[place] = (m[1], function, int(m[2])) if m else (line, function, 0)
    return names


def operations(program, lines):
    """Returns {(file, function, which, from, to): set of the scenarios that found it}, of the code under test."""
    found = collections.defaultdict(set)
    for line in lines:
        m = WEAKENED.match(line)
        if m:
            found[int(m[1], 16), m[2], m[3]] |= {m[4]} if m[5] == "bad" else set()
    names = symbols(program, {place for place, _, _ in found})
    which = collections.defaultdict(list)
    for place in sorted(names, key=lambda place: (names[place], place)):
        which[names[place][:2]].append(place)
    return {names[place][:2] + (which[names[place][:2]].index(place) + 1, before, after): scenarios
            for (place, before, after), scenarios in found.items() if not names[place][0].startswith("tests/")}


def judge(program, lines):
    """Returns sentences about results that are wrong."""
    wrong = []
    wrong += [line for line in lines if re.match(r"litmus \S+: bad", line)]
    for line in lines:
        m = SCENARIO.match(line)
        if m and (m[2] == "bad" or int(m[3]) < 2):
            wrong.append(line)
    if not any(SCENARIO.match(line) for line in lines) or not any(line.startswith("litmus") for line in lines):
        wrong.append("no scenario was run")
    found = operations(program, lines)
    for operation, scenarios in sorted(found.items()):
        if not scenarios and operation not in NOT_NEEDED:
            wrong.append("%s, %s, ordered operation %d, weakened from %s to %s: no scenario notices" % operation)
        if scenarios and operation in NOT_NEEDED:
            wrong.append("%s, %s, %d, %s to %s: is noticed, and in the list of those that are not" % operation)
    wrong += ["%s, %s, %d, %s to %s: is in the list, and there is none" % o for o in NOT_NEEDED if o not in found]
    noticed = sum(1 for scenarios in found.values() if scenarios)
    print("%d weakened operations: %d noticed, %d need not be" % (len(found), noticed, len(found) - noticed))
    return wrong


def main():
    program = sys.argv[1]
    run = subprocess.run([program] + sys.argv[2:], stdout=subprocess.PIPE, universal_newlines=True)
    lines = run.stdout.splitlines()
    print("\n".join(line for line in lines if line.startswith(("scenario", "litmus"))))
    wrong = judge(program, lines)
    print("\n".join(wrong))
    sys.exit(bool(wrong) or run.returncode)


if __name__ == "__main__":
    main()
