# What a night runs: how it is built, how a slice of it is started, and what that did.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import shlex
import subprocess
import sys

import sources

LENGTH_S = {"quiet": 7200, "storms": 1200}  # of a history
LEAN = ["-Dcuda=disabled", "-Dman=disabled", "-Dsystemd=disabled", "-Dpython=false", "-Ddebug=false",
        "--buildtype=debugoptimized"]
# folder: compilers, options, what Ninja builds
BUILDS = {
    # for this processor: a simulation has an eighth more frames a second
    "plain": (("gcc", "g++"), LEAN + ["-Doptimization=3", "-Dc_args=-march=native"],
              ["torture", "tests/simulate/stixel-simulate"]),
    "asan": (("clang", "clang++"), LEAN + ["-Doptimization=1", "-Dc_args=-g1", "-Dcpp_args=-g1", "-Db_lundef=false",
                                           "-Db_sanitize=address,undefined"], ["torture"]),
}


class Failed(Exception):
    pass


def targets_of(top):
    """[(kind, target)] of a tree, all that there is to be done."""
    sys.path[:0] = [os.path.join(top, "tests/fuzz"), os.path.join(top, "tests/torture")]
    import house  # pylint: disable=import-outside-toplevel,import-error
    import targets  # pylint: disable=import-outside-toplevel,import-error
    del sys.path[:2]
    return ([("fuzz", name) for name in targets.TARGETS] + [("simulate", name) for name in LENGTH_S] +
            [("torture", "%s/%s" % (folder, name)) for folder in BUILDS for name in house.NAMES])


def judges():
    """Of torture, by their paths in the tree: those by which --resume knows whether a life would be the same."""
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path.insert(0, os.path.join(top, "tests/torture"))
    import done  # pylint: disable=import-outside-toplevel,import-error
    del sys.path[0]
    return [os.path.relpath(path, top) for path in done.JUDGES]


def command(words, log, **more):
    """Output of a command, whose errors go to the log; it ends the night when it fails."""
    with open(log, "a", encoding="utf-8") as out:
        r = subprocess.run(words, stdout=subprocess.PIPE, stderr=out, text=True, check=False, **more)
        out.write(r.stdout)
    if r.returncode:
        raise Failed("%s failed; all that was said is in %s" % (" ".join(words[:4]), log))
    return r.stdout


def build(folder, tree, targets):
    """{(kind, target): (build folder, programs)} of what these targets need, and of more where that costs nothing."""
    made, log = {}, os.path.join(folder, "build.log")
    needs = {target.split("/")[0] if kind == "torture" else kind for kind, target in targets}
    if os.path.exists(log):
        os.remove(log)
    if "fuzz" in needs:
        at = os.path.join(folder, "fuzz")
        for line in command([os.path.join(tree, "tests/fuzz/run"), "--build", at, "--list"], log).splitlines():
            name, program = line.split()
            made["fuzz", name] = at, [program]
    for name, (compilers, options, wanted) in BUILDS.items():
        wanted = [w for w in wanted if (name if w == "torture" else "simulate") in needs]
        if not wanted:
            continue
        at, environment = os.path.join(folder, name), dict(os.environ)
        for variable, compiler in zip(("CC", "CXX"), compilers):
            said = shlex.split(environment.get(variable, "cc" if name == "asan" else compiler))
            if not os.path.basename(said[-1]).startswith(compiler):
                environment[variable] = compiler
        if not os.path.exists(os.path.join(at, "build.ninja")):
            command(["meson", "setup", *options, at, tree], log, env=environment)
        command(["ninja", "-C", at, *wanted], log, env=environment)
        if "torture" in wanted:
            for line in command([os.path.join(tree, "tests/torture/run"), "--build", at, "--list"], log).splitlines():
                phase, *programs = line.split()
                made["torture", "%s/%s" % (name, phase)] = at, programs
        if len(wanted) > ("torture" in wanted):
            for target in LENGTH_S:
                made["simulate", target] = at, [os.path.join(at, "tests/simulate/stixel-simulate")]
    return made


def files_of(made, tree):
    """{(kind, target): files that it is made of and judged by}"""
    known, found = {}, {}
    for at, (folder, programs) in made.items():
        known[folder] = known.get(folder) or sources.dependencies(folder)
        one = (folder, *programs)
        found[one] = found.get(one) or sources.files_of(folder, programs, tree, known[folder])
        if not found[one]:
            raise Failed("nothing is known of what %s is made of" % " ".join(programs))
    return {at: sorted(found[(folder, *programs)] + (judges() if at[0] == "torture" else []))
            for at, (folder, programs) in made.items()}


def slice_command(at, folder, tree, seconds, result, seed):
    """The runner of this kind, for so many seconds; its figures go to the file result."""
    kind, target = at
    words = [os.path.join(tree, "tests", kind, "run"), "--build", folder, "--json", result]
    if kind == "fuzz":
        return words + ["--seconds", "%d" % seconds, target]
    if kind == "simulate":
        return words + ["--seed", "%d" % seed, "--minutes", "%g" % (seconds / 60)] + ["--quiet"] * (target == "quiet")
    return words + ["--phase", target.split("/")[1], "--resume", "--jobs", "1", "--seconds", "%d" % seconds]


def fuzz_figures(row, folder):
    found = []
    if row["report"] is not None:
        program = os.path.join(folder, "tests/fuzz/fuzz_" + row["target"])
        found = [{"said": " | ".join(row["report"]), "again": "%s %s" % (program, row["input"] or "(no input written)"),
                  "late": any("libFuzzer: timeout" in line for line in row["report"])}]
    return row["core_seconds"], {name: row[name] for name in ("executions", "edges")}, found


def simulate_figures(result, folder):
    counts, core_s = {"histories": 0, "frames": 0, "simulated_s": 0, "seeds": []}, 0.0
    for one in result["totals"]:
        core_s += one["core_s"]
        for name in ("histories", "frames", "simulated_s"):
            counts[name] += int(one[name])
        if one["histories"]:
            counts["seeds"].append((int(one["seed"]), int(one["seed"]) + int(one["histories"]) - 1))
    return core_s, counts, [{"said": f["said"], "again": "%s --build %s" % (f["again"], folder), "late": False}
                            for f in result["found"]]


def torture_figures(result, core_s):
    whole = int(not result["left"] and not result["found"])
    return core_s, {"lives": result["lives"], "reached": result["reached"], "possible": result["possible"],
                    "whole": whole}, result["found"]


def figures(at, folder, path, core_s):
    """(seconds of a core, counts, findings) of a slice that wrote its figures; core_s: as the system counted them."""
    kind = at[0]
    try:
        with open(path, encoding="utf-8") as f:
            result = json.load(f)
        core_s, counts, found = (fuzz_figures(result[0], folder) if kind == "fuzz" else
                                 simulate_figures(result, folder) if kind == "simulate" else
                                 torture_figures(result, core_s))
    except (ValueError, LookupError, TypeError) as e:
        raise Failed("its figures cannot be read: %r" % e) from None
    counts["late"] = sum(f["late"] for f in found)
    counts["findings"] = len(found) - counts["late"]
    return core_s, counts, found
