# Nights with played programs in place of the fuzzer, the simulator, the torture and the compilers: what is done next,
# what adds up, and that nothing is lost or counted twice.
#
# SPDX-License-Identifier: Apache-2.0
import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import goals  # noqa: E402
import record  # noqa: E402
import seeds  # noqa: E402
import sources  # noqa: E402

OWN = ["goals.py", "record.py", "run", "seeds.py", "sources.py", "work.py"]
PLACE = "# Nights\n\n<!-- nights: made by tests/night/run -->\n<!-- end of nights -->\n\nMore.\n"
WAIT_S = 60  # for another process, on a machine that does other things
# tests/{fuzz,simulate,torture}/run. PLAYED: a file with the plan, {"KIND/TARGET": word or seconds of a core}, and after
# how many slices the night gets a signal; each slice adds a line to PLAYED.calls.
RUNNER = """#!%s
import json, os, signal, sys, time
kind, words = os.path.basename(os.path.dirname(os.path.abspath(__file__))), sys.argv[1:]
with open(os.environ["PLAYED"]) as f:
    plan = json.load(f)
build = words[words.index("--build") + 1]
if "--list" in words:
    for name in {"fuzz": ["frame", "image"], "torture": ["start", "web"]}[kind]:
        print(name, os.path.join(build, name))
    sys.exit(0)
if "--keep" in words:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus", words[-1] + ".tar.xz"), "w") as f:
        f.write("kept")
    sys.exit(0)
target = words[-1] if kind == "fuzz" else ("quiet" if "--quiet" in words else "storms") if kind == "simulate" else \\
    os.path.basename(build) + "/" + words[words.index("--phase") + 1]
how, told = plan.get(kind + "/" + target, "good"), []
signal.signal(signal.SIGTERM, lambda *_: told.append(1))
with open(os.environ["PLAYED"] + ".calls", "a+") as f:
    f.write(kind + "/" + target + " " + " ".join(words) + "\\n")
    f.seek(0)
    calls = len(f.readlines())
if how == "fails":
    sys.exit("it failed")
while how == "waits" and not told and os.path.exists(os.environ["PLAYED"]):
    time.sleep(0.02)
while len(open(os.environ["PLAYED"] + ".calls").readlines()) < plan.get("beside", 0):
    time.sleep(0.02)
if how == "damages":
    with open(plan["record"], "a") as f:
        f.write("half a li")
found = ["heap-buffer-overflow"] if how == "finding" else ["libFuzzer: timeout"] if how == "late" else None
seed = int(words[words.index("--seed") + 1]) if kind == "simulate" else 0
again = [{"said": "seed %%d: wrong" %% seed, "again": "tests/simulate/run --seed %%d" %% seed}]
lives = [{"said": "FINDING", "again": "tests/torture/run --one malloc:1", "late": how == "late"}]
result = {"fuzz": [{"target": target, "executions": 1000, "edges": 50 + calls, "core_seconds": 600.0,
                    "input": found and "crash-1", "report": found}],
          "simulate": {"totals": [{"seed": seed, "histories": 10, "core_s": 60.0, "simulated_s": 72000.0,
                                   "frames": 9000000}], "found": again if how == "finding" else []},
          "torture": {"lives": 10, "reached": 10 * calls, "possible": 1000, "left": how in ("good", "early"),
                      "found": lives if how in ("early", "finding", "late") else []}}[kind]
if how == "nothing":
    result = {"totals": [], "found": []}
if calls >= plan.get("calls", 1 << 30):
    os.kill(os.getppid(), signal.SIGTERM)
with open(words[words.index("--json") + 1], "w") as f:
    f.write(json.dumps(result)[:30 if how == "half" else None])
sys.exit(how in ("early", "finding", "late", "nothing"))
""" % sys.executable
NINJA = """#!/bin/sh
test -e "$PLAYED.slow" && : >"$PLAYED.begun" && exec sleep 60
case "$4" in
deps) echo "one.o: #deps 3, deps mtime 1 (VALID)"
	echo "    ../tree/base/$(basename "$2").c"
	echo "    ../tree/base/one.h"
	echo "    /usr/include/a.h" ;;
commands) echo "cc -include ../tree/base/first.h -o one.o -c ../tree/base/$(basename "$2").c"
	echo "cc -o program one.o -Wl,--dynamic-list=../tree/base/one.list" ;;
esac
"""
MESON = "#!/bin/sh\nfor at; do last=$before before=$at; done\nmkdir -p \"$last\" && : >\"$last/build.ninja\"\n"
TREE = {"docs/testing/nights.md": PLACE, "tests/fuzz/targets.py": "TARGETS = {'frame': 1, 'image': 1}\n",
        "tests/torture/house.py": "NAMES = ['start', 'web']\n", "tests/torture/lives.py": "", "README": "",
        "tests/torture/cuda_lives.py": "", "tests/fuzz/corpus/frame.tar.xz": "was",
        "tests/fuzz/corpus/image.tar.xz": "",
        **{"base/" + name: name for name in ("fuzz.c", "plain.c", "asan.c", "one.h", "first.h", "one.list", "other.c")}}


def wait_for(what):
    end = time.monotonic() + WAIT_S
    while not what():
        if time.monotonic() > end:
            raise AssertionError("it did not come")
        time.sleep(0.02)


def line(kind="fuzz", target="frame", digest="0" * 12, when="2026-11-26 23:00", machine="0" * 8, minutes=1.0, **counts):
    return record.Line(kind, target, digest, when, machine, "1234abcd", "A processor", minutes, counts)


def lines_of(*lines):
    found = {}
    for one in lines:
        record.add(found, one)
    return found


class Choice(unittest.TestCase):
    def choose(self, running=(), passed_over=(), **progresses):
        every = {("fuzz", "a"): 0.5, ("fuzz", "b"): 0.4, ("simulate", "quiet"): 0.6, ("simulate", "storms"): 0.7,
                 ("torture", "asan/a"): 0.9, ("torture", "asan/b"): 0.1}
        every.update({at: progresses[at[1].replace("/", "_")] for at in every if at[1].replace("/", "_") in progresses})
        return goals.choose(every, running, passed_over)

    def test_least_is_next(self):
        self.assertEqual(self.choose(), ("fuzz", "b"))
        self.assertEqual(self.choose(a=3, b=1), ("torture", "asan/a"))
        self.assertEqual(self.choose(quiet=0.1, storms=0.2), ("simulate", "quiet"))

    def test_much_of_one_makes_up_for_nothing(self):
        self.assertEqual(self.choose(a=50, b=0.1), ("torture", "asan/a"))
        self.assertEqual(self.choose(a=50, b=0.1, asan_b=0.3), ("fuzz", "b"))

    def test_what_runs_is_not_begun_again(self):
        self.assertEqual(self.choose(running=[("fuzz", "b")]), ("fuzz", "a"))
        self.assertEqual(self.choose(running=[("fuzz", "b")], a=0.6), ("torture", "asan/a"))

    def test_histories_of_one_target_at_once(self):
        one = [("simulate", "quiet")]
        self.assertEqual(self.choose(quiet=0.1, storms=0.2, running=one), ("simulate", "quiet"))
        self.assertEqual(self.choose(quiet=0.1, storms=0.1, running=one), ("simulate", "storms"))
        self.assertEqual(self.choose(quiet=0.1, storms=0.2, running=one, passed_over=one), ("simulate", "storms"))

    def test_what_failed_is_passed_over(self):
        self.assertEqual(self.choose(passed_over={("fuzz", "a"), ("fuzz", "b")}), ("torture", "asan/a"))

    def test_phases_are_made_whole_one_by_one(self):
        fuzz = {"a": 1, "b": 1, "quiet": 1, "storms": 1}
        self.assertEqual(self.choose(**fuzz), ("torture", "asan/a"))
        self.assertEqual(self.choose(**fuzz, asan_a=1), ("torture", "asan/b"))

    def test_beyond_the_goals_it_goes_on(self):
        self.assertEqual(self.choose(a=2, b=1.5, quiet=3, storms=2, asan_a=1, asan_b=1), ("fuzz", "b"))

    def test_nothing_is_left(self):
        self.assertIsNone(goals.choose({("torture", "asan/a"): 1}, [], []))
        self.assertIsNone(goals.choose({("fuzz", "a"): 0}, [("fuzz", "a")], []))


class Record(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="stixel-night-")
        self.addCleanup(shutil.rmtree, self.top)
        self.path = os.path.join(self.top, "record.txt")

    def test_a_day_of_a_machine_is_a_line(self):
        for one in (line(executions=5, edges=70, findings=0), line(executions=3, edges=60, findings=1),
                    line(machine="1" * 8, executions=100), line(when="2026-11-27 00:10", executions=1000),
                    line(digest="f" * 12, executions=10000)):
            record.update(self.path, [one])
        lines = record.read(self.path)
        self.assertEqual(sorted((one.minutes, one.counts.get("executions")) for one in lines.values()),
                         [(1, 100), (1, 1000), (1, 10000), (2, 8)])
        self.assertEqual([one.counts["edges"] for one in lines.values() if one.minutes == 2], [70])
        everything = goals.sum_of(lines.values())
        self.assertEqual((everything.minutes, everything.counts["executions"], everything.counts["findings"]),
                         (5, 11108, 1))

    def test_what_is_written_is_read(self):
        one = line("simulate", "quiet", histories=20, frames=7, simulated_s=3, findings=0, seeds=[(1, 20)])
        lines = record.update(self.path, [one])
        self.assertEqual(record.read(self.path), lines)
        two = record.update(self.path, [one._replace(counts={**one.counts, "seeds": [(40, 50), (21, 22)]})])
        self.assertEqual(list(two.values())[0].counts["seeds"], [(1, 22), (40, 50)])

    def test_a_merge_loses_and_doubles_nothing(self):
        ours, theirs = lines_of(line(executions=5)), lines_of(line(executions=5), line(executions=2),
                                                              line(machine="1" * 8, executions=1))
        texts = [[record.text_of(one) + "\n" for one in side.values()] for side in (ours, theirs)]
        both = record.lines_of("".join(["<<<<<<< HEAD\n", *texts[0], "=======\n", *texts[1], ">>>>>>> b\n"]), "r")
        self.assertEqual(both, theirs)

    def test_a_damaged_line_is_named_and_nothing_is_written(self):
        good = record.text_of(line(executions=5)) + "\n"
        for bad, words in ((good[:30] + "\n", "4 words"), (good.replace("fuzz", "fuzz!"), "no kind"),
                           (good.replace("=5", "=5x"), "no counts"), (good.replace("1.00", "1,00"), "no minutes"),
                           (good.replace("executions", "seeds").replace("=5", "=9-5"), "no counts"),
                           (good.replace("executions", "other"), "no counts")):
            with open(self.path, "w") as f:
                f.write(good + bad)
            with self.assertRaisesRegex(record.Damaged, "record.txt:2: .*" + words):
                record.update(self.path, [line()])
            with open(self.path) as f:
                self.assertEqual(f.read(), good + bad)
        with self.assertRaisesRegex(record.Damaged, "half a line"):
            record.lines_of(good[:-1], "r")

    def test_lives_of_two_machines_are_the_same_lives(self):
        done = goals.sum_of([line("torture", "asan/web", reached=300, possible=400, lives=300),
                             line("torture", "asan/web", machine="1" * 8, reached=200, possible=400, lives=200)])
        self.assertEqual((done.counts["reached"], done.counts["lives"]), (300, 500))
        self.assertEqual(goals.progress("torture", "asan/web", done), 0.75)
        whole = goals.sum_of([line("torture", "asan/web", whole=1, reached=400, possible=400),
                              line("torture", "asan/web", machine="1" * 8, reached=399, possible=500)])
        self.assertEqual(goals.progress("torture", "asan/web", whole), 1)
        self.assertLess(goals.progress("torture", "asan/web", goals.sum_of(
            [line("torture", "asan/web", whole=0, reached=400, possible=400)])), 1)

    def test_missing_hours(self):
        def missing(kind, target, one):
            return goals.missing_hours(kind, target, goals.sum_of([one]), goals.sum_of([one]))
        self.assertAlmostEqual(missing("fuzz", "a", line(minutes=15)), 0.75)
        self.assertEqual(missing("fuzz", "a", line(minutes=70)), 0)
        a_year = int(goals.A_YEAR)
        self.assertAlmostEqual(missing("simulate", "quiet", line(minutes=60, frames=a_year)), 9, 3)
        self.assertAlmostEqual(missing("torture", "asan/web", line(minutes=30, lives=100, reached=100, possible=400)),
                               1.5)


class Seeds(unittest.TestCase):
    def test_never_twice(self):
        with tempfile.TemporaryDirectory() as here, tempfile.TemporaryDirectory() as there:
            lines, taken = {}, []
            for day in (26, 27):
                for build, machine in ((here, "0000000a"), (there, "0000000b"), (here, "0000000a")):
                    date = datetime.date(2026, 11, day)
                    first = seeds.reserve(build, machine, lines, date)
                    used = first, first + 99
                    self.assertTrue(all(used[1] < begin or last < used[0] for begin, last in taken), (used, taken))
                    taken.append(used)
                    record.add(lines, line("simulate", "quiet", when="2026-11-%d 10:00" % day, machine=machine,
                                           seeds=[used]))
            os.remove(os.path.join(here, "seeds.txt"))  # a new build folder: the record still knows
            first = seeds.reserve(here, "0000000a", lines, datetime.date(2026, 11, 27))
            self.assertTrue(all(first + 99 < begin or last < first for begin, last in taken))
            self.assertGreater(first, 1 << 48)  # far from seeds that people choose


class Whole(unittest.TestCase):
    """tests/night/run in a tree of its own."""

    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="stixel-night-")
        self.addCleanup(shutil.rmtree, self.top)
        for name in ["tests/night/" + name for name in OWN] + ["tests/torture/done.py"]:
            self.write(name, self.read(os.path.join(TOP, name)))
        for kind in goals.KINDS:
            self.write("tests/%s/run" % kind, RUNNER)
        for name, text in TREE.items():
            self.write(name, text)
        # not part of the tree
        self.bin = tempfile.mkdtemp(prefix="stixel-night-")
        self.addCleanup(shutil.rmtree, self.bin)
        self.write(os.path.join(self.bin, "ninja"), NINJA)
        self.write(os.path.join(self.bin, "meson"), MESON)
        self.env = dict(os.environ, PATH=self.bin + ":" + os.environ["PATH"], PLAYED=os.path.join(self.bin, "plan"),
                        PYTHONDONTWRITEBYTECODE="1")

    def path(self, name):
        return os.path.join(self.top, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as f:
            f.write(text)
        if text.startswith("#!"):
            os.chmod(self.path(name), 0o755)

    def read(self, name):
        with open(self.path(name)) as f:
            return f.read()

    def plan(self, **plan):
        self.write(self.env["PLAYED"], json.dumps({k.replace("__", "/"): v for k, v in plan.items()}))
        if os.path.exists(self.env["PLAYED"] + ".calls"):
            os.remove(self.env["PLAYED"] + ".calls")

    def calls(self):
        path = self.env["PLAYED"] + ".calls"
        return [text.split()[0] for text in self.read(path).splitlines()] if os.path.exists(path) else []

    def start(self, *words):
        return subprocess.Popen([sys.executable, self.path("tests/night/run"), *words], env=self.env, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def night(self, *words, code=0):
        process = self.start(*words)
        said = process.communicate(timeout=WAIT_S)[0]
        self.assertEqual(process.returncode, code, said)
        return said

    def rows(self, text):
        """{kind/target: cells} of --show."""
        return {"/".join(line.split()[:2]): line for line in text.splitlines() if line.split()[:1] and
                line.split()[0] in goals.KINDS}

    def lines(self):
        return record.read(self.path("tests/night/record.txt"))

    def test_nights_add_up(self):
        self.plan(calls=7)
        said = self.night()
        self.assertIn("SIGTERM: ", said)
        # each kind in turn, from nothing; in a kind that which has least, and the phase that was begun
        self.assertEqual({c.split("/")[0] for c in self.calls()[:3]}, {"fuzz", "simulate", "torture"})
        self.assertEqual(len(self.calls()), 7)
        first = goals.sum_of(self.lines().values())
        self.assertEqual(first.counts["executions"], 1000 * len([c for c in self.calls() if c.startswith("fuzz")]))
        self.night("--check")
        self.plan(calls=3)
        self.night("--jobs", "1")
        second = goals.sum_of(self.lines().values())
        self.assertGreater(second.minutes, first.minutes)
        self.assertLessEqual(len(self.lines()), 8)
        self.night("--check")
        self.assertIn("More.", self.read("docs/testing/nights.md"))
        self.assertIn("| fuzz | frame | 60 core minutes |", self.read("docs/testing/nights.md"))

    def test_histories_of_one_target_at_once(self):
        self.plan(beside=2, calls=2)
        self.night("--jobs", "2", "simulate/quiet")
        self.assertEqual(self.calls(), 2 * ["simulate/quiet"])
        counts = goals.sum_of(self.lines().values()).counts
        ranges = [r for one in self.lines().values() for r in one.counts[record.RANGES]]
        self.assertEqual((counts["histories"], [last - first for first, last in ranges]), (20, [9, 9]))  # two seeds

    def test_the_document_must_have_the_table(self):
        self.plan(calls=1)
        self.night("fuzz")
        text = self.read("docs/testing/nights.md")
        self.write("docs/testing/nights.md", text.replace("10.0 minutes", "60.0 minutes"))
        self.assertIn("tests/night/run --write", self.night("--check", code=1))
        self.night("--write")
        self.night("--check")

    def test_only_what_is_judged_counts(self):
        self.plan(calls=2)
        self.night("fuzz/frame", "fuzz/image")
        self.write("base/other.c", "edited")
        self.assertIn("10.0 minutes, 1.0 k executions, 5", self.rows(self.night("--show"))["fuzz/frame"])
        for name in ("base/fuzz.c", "base/one.h", "base/first.h", "base/one.list"):
            was = self.read(name)
            self.write(name, "edited")
            row = self.rows(self.night("--show"))["fuzz/frame"]
            self.assertRegex(row, r"- +- +10.0 minutes, 1.0 k executions +0 +1.00$", name)
            self.write(name, was)
        self.write("base/fuzz.c", "edited")  # the next night begins anew, and what was done is in all
        self.plan(calls=1)
        self.assertIn("core minutes; 10.0 minutes, 1.0 k executions, 51 edges of these", self.night("fuzz/frame"))
        self.assertIn("20.0 minutes, 2.0 k executions", self.rows(self.night("--show"))["fuzz/frame"])
        os.remove(self.path("base/one.h"))
        self.assertRegex(self.rows(self.night("--show"))["fuzz/frame"], " - +- ")

    def test_what_is_not_built_here_is_not_known_to_have_changed(self):
        self.plan(calls=1)
        self.night("fuzz/frame")
        other = self.path("build/other")
        self.plan(calls=1)
        self.night("--build", other, "torture/plain")
        said = self.night("--show", "--build", other)
        self.assertIn("2 of fuzz not built in %s:" % other, said)
        self.assertIn("10.0 minutes, 1.0 k executions, 5", self.rows(said)["fuzz/frame"])
        self.assertIn("4 of torture not built", self.night("--show"))  # by the first build
        self.write("base/fuzz.c", "edited")
        said = self.night("--show")
        self.assertNotIn("of fuzz not built", said)
        self.assertRegex(self.rows(said)["fuzz/frame"], " - +- ")

    def key(self, program):
        """By which --resume of the tree's tests/torture/run knows a life of this program."""
        done = types.ModuleType("done")
        done.__file__ = self.path("tests/torture/done.py")
        exec(compile(self.read(done.__file__), done.__file__, "exec"), done.__dict__)  # pylint: disable=exec-used
        life = types.SimpleNamespace(name="start", parts=lambda: [program])
        return done.Done(self.top).key(life, "malloc:1")

    def test_an_edited_judge_begins_anew(self):
        """Both what the night counts and what --resume passes over: one alone would make a phase whole by no life."""
        self.plan(calls=1)
        self.night("torture/plain/start")
        judges = {n for n in os.listdir(os.path.join(TOP, "tests/torture")) if n.endswith(".py")} | {"run"}
        for name in sorted(judges - {"done.py"}):
            path, key = self.path("tests/torture/" + name), self.key(self.path("README"))
            self.assertIn("10 of 1000 lives", self.rows(self.night("--show"))["torture/plain/start"])
            was = self.read(path)
            self.write(path, was + "# edited\n")
            self.assertRegex(self.rows(self.night("--show"))["torture/plain/start"], r"once +- +- +10 lives", name)
            self.assertNotEqual(self.key(self.path("README")), key, name)
            self.write(path, was)

    def test_an_edited_tree_is_not_what_runs(self):
        """Neither is what was begun counted for sources that came later."""
        self.plan(fuzz__frame="waits")
        process = self.start("fuzz/frame")
        wait_for(lambda: self.calls())
        self.write("base/fuzz.c", "edited")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=WAIT_S)
        self.assertRegex(self.rows(self.night("--show"))["fuzz/frame"], r" - +- +10.0 minutes")
        self.write("base/fuzz.c", TREE["base/fuzz.c"])
        self.assertRegex(self.rows(self.night("--show"))["fuzz/frame"], r"10.0 minutes.*10.0 minutes")

    def test_a_finding(self):
        self.plan(calls=12, fuzz__frame="finding", simulate__quiet="finding", torture__plain__start="finding")
        said = self.night(code=1)
        for words in ("FINDING: fuzz/frame", "heap-buffer-overflow", "fuzz_frame crash-1", "FINDING: simulate/quiet",
                      "tests/simulate/run --seed", "FINDING: torture/plain/start", "--one malloc:1", "3 findings"):
            self.assertIn(words, said)
        for at in ("fuzz/frame", "simulate/quiet", "torture/plain/start"):  # once; the others go on
            self.assertEqual(self.calls().count(at), 1, at)
        self.assertEqual(len(self.calls()), 12)
        self.assertIn("crash-1", self.read("build/night/findings.txt"))
        self.assertEqual(goals.sum_of(self.lines().values()).counts["findings"], 3)
        self.plan(fuzz__frame="finding")
        self.assertIn("a finding: ", self.night("--stop", "fuzz/frame", code=1))

    def test_a_finding_before_a_phase_is_whole(self):
        self.plan(calls=4, torture__plain__start="early")
        self.assertIn("1 findings", self.night("torture/plain", code=1))
        self.assertEqual(self.calls(), ["torture/plain/start"] + 3 * ["torture/plain/web"])
        self.assertEqual(goals.sum_of(self.lines().values()).counts["findings"], 1)

    def test_what_a_busy_machine_may_have_done(self):
        self.plan(calls=4, fuzz__frame="late", torture__plain__start="late")
        said = self.night("fuzz", "torture")
        self.assertIn("LATE: fuzz/frame", said)
        self.assertIn("LATE: torture/plain/start", said)
        done = goals.sum_of(goals.of_target(self.lines(), "torture", "plain/start"))
        self.assertEqual((done.counts["late"], done.counts["findings"], done.counts["whole"]), (1, 0, 0))

    def test_a_runner_that_fails(self):
        self.plan(calls=3, fuzz__frame="fails")
        said = self.night("fuzz", code=1)
        self.assertIn("FAILED: fuzz/frame", said)
        self.assertIn("it failed", said)
        self.assertEqual({one.target for one in self.lines().values()}, {"image"})
        self.plan(simulate__quiet="nothing")
        said = self.night("simulate/quiet", code=1)
        self.assertIn("FAILED: simulate/quiet: its runner failed and has no finding", said)
        self.assertIn("there is nothing left to do", said)

    def test_figures_that_cannot_be_read(self):
        self.plan(calls=3, fuzz__frame="half")
        said = self.night("fuzz", code=1)
        self.assertIn("FAILED: fuzz/frame: its figures cannot be read", said)
        self.assertEqual(self.calls(), ["fuzz/frame"] + 2 * ["fuzz/image"])
        self.assertEqual({one.target for one in self.lines().values()}, {"image"})

    def test_an_error_leaves_no_runner_behind(self):
        self.plan(beside=2, fuzz__frame="waits", fuzz__image="finding")
        os.makedirs(self.path("build/night/findings.txt"))  # so that no finding can be kept
        self.assertIn("Is a directory", self.night("--jobs", "2", "fuzz", code=1))
        self.assertEqual(sorted(self.calls()), ["fuzz/frame", "fuzz/image"])
        self.assertTrue(os.path.exists(self.path("build/night/slices/fuzz-frame.json")))  # it was told, and waited for

    def test_ended_in_the_middle(self):
        self.plan(fuzz__frame="waits", fuzz__image="waits")
        process = self.start("--jobs", "2", "fuzz")
        wait_for(lambda: len(self.calls()) == 2)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=WAIT_S)[0]
        self.assertEqual(process.returncode, 0, said)
        self.assertIn("SIGINT: 20.0 core minutes", said)
        self.assertEqual(goals.sum_of(self.lines().values()).counts["executions"], 2000)

    def test_ended_while_it_builds(self):
        self.plan()
        self.write(self.env["PLAYED"] + ".slow", "")
        process = self.start("simulate")
        wait_for(lambda: os.path.exists(self.env["PLAYED"] + ".begun"))
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=WAIT_S / 2)[0]
        self.assertEqual((process.returncode, self.calls()), (0, []), said)
        self.assertIn("nothing was run", said)

    def test_its_time(self):
        self.plan(fuzz__frame="waits")
        said = self.night("--minutes", "0.02", "--slice", "0.01", "fuzz/frame")
        self.assertIn("its time is over: ", said)  # Parts has which slices there are: here none may come so far
        self.plan()
        self.night("--minutes", "0.02", "fuzz/frame")  # too little for a slice
        self.assertEqual(self.calls(), [])

    def test_one_night_at_a_time(self):
        self.plan(fuzz__frame="waits")
        process = self.start("fuzz/frame")
        wait_for(lambda: self.calls())
        self.assertIn("another night runs in", self.night("fuzz/image", code=75))
        self.assertEqual(self.calls(), ["fuzz/frame"])
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=WAIT_S)
        self.plan(calls=1)
        self.night("fuzz/image")

    def test_a_damaged_record(self):
        self.plan(calls=4, fuzz__frame="damages", record=self.path("tests/night/record.txt"))
        self.write("tests/night/record.txt", "no line\n")
        self.assertIn("record.txt:1: 1 words, not 9", self.night("fuzz", code=1))
        self.assertEqual(self.calls(), [])
        self.write("tests/night/record.txt", "")
        said = self.night("fuzz")  # damaged by each other slice of it
        self.assertIn("not added, it stays in", said)
        self.assertIn("half a li", self.read("tests/night/record.txt"))
        text = self.read("tests/night/record.txt")
        self.assertEqual(self.calls(), ["fuzz/frame", "fuzz/image"] * 2)
        self.write("tests/night/record.txt", text.replace("half a li", ""))
        before = goals.sum_of(self.lines().values()).counts["executions"]
        self.plan(calls=1)
        self.night("fuzz/image")
        self.assertEqual((before, goals.sum_of(self.lines().values()).counts["executions"]), (0, 5000))
        self.assertEqual(self.read("build/night/unrecorded.txt"), "")

    def test_two_build_folders(self):
        """Nights side by side, that write one record."""
        self.plan(calls=4)
        nights = [self.start("--build", self.path("build/" + name), "fuzz") for name in ("one", "two")]
        said = [night.communicate(timeout=WAIT_S)[0] for night in nights]
        done = [len([line for line in text.splitlines() if " of these sources" in line]) for text in said]
        self.assertEqual(goals.sum_of(self.lines().values()).counts["executions"], 1000 * sum(done), said)
        self.assertEqual(len({one.machine for one in self.lines().values()}), sum(map(bool, done)))
        self.night("--check")

    def test_a_document_without_a_place(self):
        self.plan(calls=2)
        self.write("docs/testing/nights.md", "# Nights\n")
        self.assertIn("has no place for the table", self.night("fuzz"))
        self.assertEqual(goals.sum_of(self.lines().values()).counts["executions"], 2000)
        self.assertEqual(self.read("build/night/unrecorded.txt"), "")

    def test_corpora_that_grew(self):
        self.plan(calls=2)
        self.night("--keep", "fuzz")
        self.assertEqual(self.read("tests/fuzz/corpus/frame.tar.xz"), "kept")

    def test_a_corpus_of_another_hand_stays(self):
        self.plan(fuzz__frame="waits")
        process = self.start("--keep", "fuzz/frame")
        wait_for(lambda: self.calls())
        self.write("tests/fuzz/corpus/frame.tar.xz", "another")
        process.send_signal(signal.SIGTERM)
        self.assertIn("is another one now", process.communicate(timeout=WAIT_S)[0])
        self.assertEqual(self.read("tests/fuzz/corpus/frame.tar.xz"), "another")

    def test_wrong_usage(self):
        for words in (["--nothing"], ["--minutes", "ten"], ["--show", "--write"]):
            self.assertIn("usage: ", self.night(*words, code=64))

    def test_no_such_target(self):
        self.assertIn("there is no fuzz/nothing", self.night("fuzz/nothing", code=64))


class Sources(unittest.TestCase):
    def test_a_copy(self):
        with tempfile.TemporaryDirectory() as top, tempfile.TemporaryDirectory() as to:
            for name in ("a", "b/c"):
                os.makedirs(os.path.dirname(os.path.join(top, name)), exist_ok=True)
                with open(os.path.join(top, name), "w") as f:
                    f.write(name)
            sources.copy(top, to)
            os.utime(os.path.join(to, "a"), (1, 1))
            with open(os.path.join(top, "b/d"), "w") as f:
                f.write("new")
            os.remove(os.path.join(top, "b/c"))
            sources.copy(top, to)
            self.assertEqual(sorted(sources.names_of(to)), ["a", "b/d"])
            self.assertEqual(os.stat(os.path.join(to, "a")).st_mtime, 1)  # what is the same is not built again


    @unittest.skipUnless(shutil.which("git"), "needs git")
    def test_a_revision(self):
        with tempfile.TemporaryDirectory() as top:
            plain, bare = os.path.join(top, "plain"), os.path.join(top, "bin")
            for folder in (plain, bare, os.path.join(top, "docs")):
                os.makedirs(folder)

            def git(*words):
                subprocess.run(["git", "-C", top, "-c", "user.name=A", "-c", "user.email=a@b", *words], check=True,
                               stdout=subprocess.DEVNULL)

            def edit(name, text="edited"):
                with open(os.path.join(top, name), "w") as f:
                    f.write(text)

            edit("a")
            git("init", "-q")
            git("add", "a")
            git("commit", "-q", "-m", "a")
            edit("docs/nights.md")  # by nights
            self.assertRegex(sources.revision(top), r"^[0-9a-f]{8}$")
            edit("b")
            self.assertRegex(sources.revision(top), r"^[0-9a-f]{8}\+changed$")
            os.remove(os.path.join(top, "b"))
            edit("a", "again")
            self.assertRegex(sources.revision(top), r"^[0-9a-f]{8}\+changed$")
            edit("plain/c")
            self.assertEqual((sources.revision(plain), sources.names_of(plain)), ("-", ["c"]))
            with unittest.mock.patch.dict(os.environ, PATH=bare):  # no git
                self.assertEqual((sources.revision(top), sorted(sources.names_of(top))),
                                 ("-", ["a", "docs/nights.md", "plain/c"]))


if __name__ == "__main__":
    unittest.main()
