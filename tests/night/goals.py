# What nights are to reach, how far they are, what is done next, and the table of it.
#
# SPDX-License-Identifier: Apache-2.0
import collections

FUZZ_MINUTES = 60  # of a core, for each target
A_YEAR = 30 * 86400 * 365.25  # frames of a 30 Hz camera
YEARS = {"quiet": 10, "storms": 0.5}
# Where nothing is recorded yet: frames a second of a core; lives of a phase, and seconds of a core for each
FRAMES_A_SECOND = {"quiet": 165000, "storms": 66000}
LIVES, LIFE_S = 480, {"plain": 0.15, "asan": 0.3}
KINDS = ("fuzz", "simulate", "torture")
HEAD = ("kind", "target", "goal", "sources", "for these sources", "in all", "findings", "missing core hours")

# counts summed over lines; minutes
Sum = collections.namedtuple("Sum", "minutes counts")


def sum_of(lines):
    counts = collections.Counter()
    for line in lines:
        for name, value in line.counts.items():
            if name in ("edges", "whole"):
                counts[name] = max(counts[name], value)
            elif isinstance(value, int) and name not in ("reached", "possible"):
                counts[name] += value
    furthest = max((line.counts for line in lines if line.counts.get("possible")), key=furthest_of, default={})
    counts.update({name: furthest[name] for name in ("reached", "possible") if name in furthest})
    return Sum(sum(line.minutes for line in lines), counts)


def furthest_of(counts):
    """Lives of one torture phase are the same ones on each machine: they do not add up."""
    return counts.get("whole", 0), counts.get("reached", 0) / counts["possible"]


def of_target(lines, kind, target, digest=None):
    return [line for line in lines.values()
            if (line.kind, line.target) == (kind, target) and digest in (None, line.digest)]


def progress(kind, target, done):
    """done: a Sum of these sources. 1: the goal is reached."""
    if kind == "fuzz":
        return done.minutes / FUZZ_MINUTES
    if kind == "simulate":
        return done.counts["frames"] / (A_YEAR * YEARS[target])
    if done.counts["whole"] or not done.counts["possible"]:
        return float(done.counts["whole"])
    # not whole: there may be lives that no run has counted yet
    return min(done.counts["reached"] / done.counts["possible"], 0.99)


def missing_hours(kind, target, done, in_all):
    """Of a core, by what was needed so far."""
    left = max(0.0, 1 - progress(kind, target, done))
    if kind == "fuzz":
        return left * FUZZ_MINUTES / 60
    if kind == "simulate":
        frames, minutes = in_all.counts["frames"], in_all.minutes
        a_second = frames / minutes / 60 if frames and minutes else FRAMES_A_SECOND[target]
        return left * A_YEAR * YEARS[target] / a_second / 3600
    lives = in_all.counts["lives"]
    seconds = in_all.minutes * 60 / lives if lives else LIFE_S[target.split("/")[0]]
    return left * (in_all.counts["possible"] or LIVES) * seconds / 3600


def choose(progresses, running, passed_over):
    """The next target, (kind, target): of the kind of which least was done in relation to its goals that of which least
    was done. A phase of torture that was begun is made whole first, as only a whole one says something. Histories have
    their own seeds, so that a simulation may run several times at once; others have a folder for each target. None:
    there is nothing that may be done now. progresses: {(kind, target): progress}; running: [(kind, target)]"""
    def mean(kind):
        of_kind = [min(p, 1) for (k, _), p in progresses.items() if k == kind]
        return sum(of_kind) / len(of_kind)

    free = [at for at in progresses if (at[0] == "simulate" or at not in running) and at not in passed_over and
            (at[0] != "torture" or progresses[at] < 1)]
    if not free:
        return None
    kind = min(dict.fromkeys(k for k, _ in free),
               key=lambda kind: (mean(kind), sum(k == kind for k, _ in running)))
    of_kind = [at for at in free if at[0] == kind]
    if kind == "torture":
        return max(of_kind, key=progresses.get)
    return min(of_kind, key=lambda at: (progresses[at], running.count(at)))


def number(value):
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= 10 * size:
            return "%.0f%s" % (value / size, letter)
        if value >= size:
            return "%.1f%s" % (value / size, letter)
    return "%d" % value


def goal_text(kind, target):
    if kind == "fuzz":
        return "%d core minutes" % FUZZ_MINUTES
    return "%g years" % YEARS[target] if kind == "simulate" else "each life once"


def done_text(kind, done, in_all=False):
    counts = done.counts
    if not done.minutes and not any(counts.values()):
        return "-"
    if kind == "fuzz":
        return "%.1f minutes, %s executions%s" % (done.minutes, number(counts["executions"]), "" if in_all else
                                                  ", %d edges" % counts["edges"])
    if kind == "simulate":
        return "%.4f years, %s frames, %s histories" % (counts["frames"] / A_YEAR, number(counts["frames"]),
                                                       number(counts["histories"]))
    if in_all:
        return "%s lives" % number(counts["lives"])
    return "whole, %d lives" % counts["possible"] if counts["whole"] else "%d of %d lives" % (
        counts["reached"], counts["possible"])


def newest(lines):
    """The last line of a target, whose sources are its newest."""
    return max(lines, key=lambda line: line.when, default=None)


def rows(lines, targets, digests):
    """[cells] of a table, the last ones of sums. digests: {(kind, target): digest} of the sources as they are; of a
    target without one those are meant of which something was recorded last."""
    found, sums = [], {kind: [] for kind in (*dict.fromkeys(kind for kind, _ in targets), "all")}
    for kind, target in targets:
        everything = of_target(lines, kind, target)
        last = newest(everything)
        digest = digests.get((kind, target)) or (last.digest if last else "")
        these = [line for line in everything if line.digest == digest]
        done, in_all = sum_of(these), sum_of(everything)
        missing = missing_hours(kind, target, done, in_all)
        for of_all in (kind, "all"):
            sums[of_all].append((progress(kind, target, done) >= 1 and not done.counts["findings"], in_all, missing))
        found.append([kind, target, goal_text(kind, target), newest(these).revision if these else "-",
                      done_text(kind, done), done_text(kind, in_all, True),
                      "%d" % in_all.counts["findings"], "%.2f" % missing])
    return found + [sum_row(*one) for one in sums.items()]


def sum_row(kind, of_targets):
    """of_targets: of each whether its goal is reached and nothing was found, a Sum of all, and missing hours."""
    reached, in_all, missing = zip(*of_targets)
    return [kind, "all" if kind != "all" else "", "", "", "%d of %d reached" % (sum(reached), len(reached)),
            "%.1f core hours" % (sum(one.minutes for one in in_all) / 60),
            "%d" % sum(one.counts["findings"] for one in in_all), "%.1f" % sum(missing)]


def plain_table(cells):
    cells = [list(HEAD)] + cells
    widths = [max(len(row[i]) for row in cells) for i in range(len(HEAD))]
    return "\n".join("  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip() for row in cells)


def document_table(cells):
    return "\n".join(["| " + " | ".join(HEAD) + " |", "|---" * len(HEAD) + "|"] +
                     ["| " + " | ".join(row) + " |" for row in cells])
