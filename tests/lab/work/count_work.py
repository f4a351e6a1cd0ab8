#!/usr/bin/env python3
"""Makes predict/work_table.c: the work of each stage of the CUDA engine, from which times on boards are predicted.

Usage: count_work.py counts FILE...            tests/lab/work/counts.csv from Nsight Compute's CSV
       count_work.py sass OBJECT...            tests/lab/work/sass.csv from compiled kernels
       count_work.py slices STIXEL-BENCH       tests/lab/work/slices.csv: measures slices of a GPU
       count_work.py table [--check]           predict/work_table.c from the three; --check: compares

The first three commands print the content of the named file. The three files were made on an H200 like this:

counts: one run for each size and way to keep path costs (stored, checkpoint), such as
    ncu --csv --metrics smsp__inst_executed.sum,dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum \\
        stixel-bench -s engine.backend=cuda -s engine.volume=stored -s engine.contexts=1 -s stereo.disparities=128 \\
        --size 2048x1024 --frames 1 --warm-up 1 --json > ncu_2048x1024_stored.csv
    The JSON line of stixel-bench stays in the file: it has the size, the disparities and the way. The black frame that
    warms up a context is left out. The other frames are averaged.
sass: objects of all kernels with code for 75, 87, 90 and 110:
    nvcc -O3 (the other arguments of gpu/meson.build) -gencode arch=compute_75,code=sm_75 ... -c gpu/stereo/sgm.cu
slices: needs CUDA 12.5. The driver grants multiprocessors in multiples of eight (sm_90): the file has the granted
    number. CLOCK_HZ below is the clock during the measurement (nvidia-smi --query-gpu=clocks.sm). The errors of the fit
    do not reveal a wrong CLOCK_HZ.

The fit: a stage takes sqrt(issue^2 + floor^2), or the time of its bytes, whichever is longer. issue: warp instructions
/ (4 per clock and multiprocessor) / efficiency. floor: cycles of sequential work, proportional to rows or columns, or
constant. Efficiency and floor are the values that fit the measured slices best (least squares of the ratio's
logarithm). The error for a size is computed by a fit without the counts and times of this size, if other sizes remain.
SPDX-License-Identifier: Apache-2.0
"""
import csv
import io
import json
import math
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
TABLE = os.path.join(TOP, "predict", "work_table.c")
CLOCK_HZ = 1.98e9  # clock of the H200 when its slices were timed, by nvidia-smi
BYTES_A_SECOND = 4.8e12
BANDWIDTH_SHARE = 0.75  # same as in predict/predict.c
ISSUES = 4  # warp instructions per clock and multiprocessor
CELL = 4  # px, size of the stixel cells in the counts
ARCHS = ("75", "87", "90", "110")
SLICES = (24, 16, 8)
# Stage of each kernel, and the code that is compared between architectures: the innermost loops, if these take all the
# time, or the whole kernel.
KERNELS = {
    "census": ("census", "whole"),
    "product_kernel": ("sgm", "whole"), "count_kernel": ("sgm", "whole"), "stored_kernel": ("sgm", "loops"),
    "spread_kernel": ("sgm", "whole"), "down_kernel": ("sgm", "loops"), "up_left_kernel": ("sgm", "loops"),
    "down_diagonal_kernel": ("sgm", "loops"), "up_diagonal_kernel": ("sgm", "loops"),
    "rows_kernel": ("winner", "loops"), "winner_kernel": ("winner", "loops"),
    "filter_kernel": ("median", "whole"),
    "erase": ("smooth", "whole"), "smooth_tile": ("smooth", "whole"),
    "find_plane": ("road", "whole"), "judge_bends": ("road", "whole"), "finish_road": ("road", "whole"),
    "medians": ("reduce", "whole"), "weigh_cells": ("reduce", "whole"), "find_blank": ("reduce", "whole"),
    "spread_sky": ("reduce", "whole"),
    "weigh_sky": ("segment", "whole"), "slanted_set_road": ("segment", "whole"),
    "slanted_columns": ("segment", "whole"),
    "slanted_group_columns": ("segment", "whole"),
    "compact": ("compact", "whole"),
}
BESIDE = ("probe_kernel", "stamp_kernel", "deliver_kernel", "diagnostics_images", "diagnostics_map")
STAGES = ("census", "sgm", "winner", "median", "smooth", "road", "reduce", "segment", "compact")
# Quantity to which a stage's floor is proportional: paths are walked along rows or down columns, stixels by cells of a
# column.
FLOOR = {"census": "constant", "smooth": "constant", "road": "constant", "reduce": "constant", "compact": "constant",
         "median": "row", "segment": "row", ("sgm", "stored"): "column", ("winner", "stored"): "column",
         ("sgm", "checkpoint"): "row", ("winner", "checkpoint"): "column"}


def fail(text):
    sys.exit("count_work.py: " + text)


# Counts.

def short(name):
    """Returns ("stored_kernel", "stored_kernel<4, 8, 0>") from a kernel's name as profilers and c++filt print it."""
    name = name.replace("<unnamed>::", "").replace("(anonymous namespace)::", "").replace("void ", "", 1)
    name = re.sub(r"\((?:\w+|unsigned char|unsigned int)\)(?=[\w-])", "", name)  # remove casts in front of numbers
    name = name.replace("false", "0").replace("true", "1")
    m = re.match(r"(\w+)(<[^(]*>)?", name)
    return m.group(1), m.group(0)


def profile(path):
    """Reads one file. Returns (settings, [frame: [kernel]]). A kernel is {"kernel":, "word":, metric: value}."""
    with open(path) as f:
        lines = f.readlines()
    settings = next((json.loads(line) for line in lines if line.startswith("{")), None)
    if not settings:
        fail(path + " has no JSON line of stixel-bench")
    rows = {}
    for r in csv.DictReader(line for line in lines if line.startswith('"')):
        word, kernel = short(r["Kernel Name"])
        row = rows.setdefault(int(r["ID"]), {"word": word, "kernel": kernel})
        row[r["Metric Name"]] = float(r["Metric Value"].replace(",", ""))
    frames = []
    for row in rows.values():
        if row["word"] in BESIDE:
            continue
        if row["word"] not in KERNELS:
            fail("%s: kernel %s is in no stage: give it one in KERNELS" % (path, row["kernel"]))
        if row["word"] == "census":
            frames.append([])
        frames[-1].append(row)
    return settings, frames


def flow_of(frame):
    return "stored" if any(k["word"] == "stored_kernel" for k in frame) else "checkpoint"


def counts(paths):
    print("size,disparities,flow,kernel,instructions,memory_bytes,l2_bytes")
    for path in paths:
        settings, frames = profile(path)
        road = [sum(k["smsp__inst_executed.sum"] for k in f if KERNELS[k["word"]][0] == "road") for f in frames]
        # leave out black frames, whose road stage finds nothing and does little
        frames = [f for f, n in zip(frames, road) if n > max(road) / 2]
        flow = flow_of(frames[0])
        frames = [f for f in frames if flow_of(f) == flow]
        for same in zip(*frames):
            mean = {m: sum(k[m] for k in same) / len(same) for m in same[0] if "__" in m}
            print('%s,%d,%s,"%s",%.0f,%.0f,%.0f' % (
                settings["size"], settings["disparities"], flow, same[0]["kernel"], mean["smsp__inst_executed.sum"],
                mean["dram__bytes_read.sum"] + mean["dram__bytes_write.sum"], mean["lts__t_bytes.sum"]))


# Code for other architectures.

def sass(paths):
    sys.path.insert(0, os.path.join(TOP, "tests", "gpu"))
    import count_sass
    tool = count_sass.find("cuobjdump")
    if not tool:
        fail("no cuobjdump: neither PATH nor /usr/local/cuda/bin nor $CUOBJDUMP has it")
    found = {}
    for path in paths:
        for arch in ARCHS:
            code = count_sass.kernels(tool, path, arch)
            names = count_sass.plain(list(code))
            for mangled, lines in code.items():
                word, kernel = short(names[mangled])
                if word in KERNELS:
                    found.setdefault(kernel, {})[arch] = length(lines, KERNELS[word][1])
    wanted = {r["kernel"] for r in read("counts.csv")}
    print("kernel," + ",".join("sm_" + a for a in ARCHS))
    for kernel in sorted(wanted):
        if kernel not in found:
            fail("no object has the kernel " + kernel)
        print('"%s",%s' % (kernel, ",".join(str(found[kernel][a]) for a in ARCHS)))


def length(lines, what):
    """Returns the number of instructions of a kernel, or of its innermost loops."""
    if what == "whole":
        return sum(op != "NOP" for _, op, _ in lines)
    loops = [(target, at) for at, _, target in lines if target is not None and target < at]
    inner = [a for a in loops if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    return sum(sum(first <= at <= last and op != "NOP" for at, op, _ in lines) for first, last in inner)


# Times.

CASES = [("1242x375", 128, 1), ("960x540", 64, 1), ("1024x440", 128, 0), ("2048x1024", 128, 0)]  # 1: speckle filter


def slices(program):
    print("size,disparities,speckle,flow,sms,chain," + ",".join(STAGES))
    for size, disparities, speckle in CASES:
        for sms in (0, *SLICES):
            for flow in ("stored", "checkpoint"):
                args = [program, "-s", "engine.backend=cuda", "-s", "engine.volume=" + flow, "--json", "--size", size,
                        "-s", "stereo.disparities=%d" % disparities, "--frames", "200"]
                args += [] if speckle else ["-s", "filters.speckle_size=0"]
                args += ["--sms", str(sms)] if sms else []
                r = subprocess.run(args, capture_output=True, text=True, check=False)
                if r.returncode:
                    fail(r.stderr.strip())
                j = json.loads(r.stdout)
                given = re.search(r"(\d+)(?: of \d+)? SMs", j["device"])
                times = [j["stages"].get(s, {"median": 0})["median"] for s in STAGES]
                print("%s,%d,%d,%s,%s,%.3f,%s" % (size, disparities, speckle, flow, given.group(1),
                                                  j["chain_ms"]["median"], ",".join("%.3f" % t for t in times)))


# The table.

def read(name):
    with open(os.path.join(HERE, name), newline="") as f:
        return list(csv.DictReader(f))


def pixels(size):
    width, height = map(int, size.split("x"))
    return width, height


def stixel_cells(size):
    """Returns the number of stixel columns, and the number of cells in each."""
    width, height = pixels(size)
    return (width + CELL - 1) // CELL, height // CELL


def sum_counts(rows, form, size=None, key="instructions"):
    """Sums the counts of the kernels of a form's stage. Returns {size: sum}."""
    sums = {}
    for r in rows:
        word, _ = short(r["kernel"])
        if KERNELS[word][0] != form["stage"] or (size and r["size"] != size):
            continue
        if form["flow"] and (r["flow"] != form["flow"] or int(r["disparities"]) != form["disparities"]):
            continue
        if not form["flow"] and r["flow"] != "stored":
            continue
        if form["speckle"] == 0 and word == "erase":
            continue
        sums[r["size"]] = sums.get(r["size"], 0) + float(r[key])
    return sums


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def per_unit(form, counted):
    """Returns the instructions per (matching cell, pixel, cell of a column, pair of such cells)."""
    if form["stage"] in ("road", "compact"):
        return 0, 0, 0, 0
    if form["stage"] == "median" and form["speckle"] == 0:
        return 0, 1, 0, 0  # not counted; the fitted efficiency gives the number of issue slots
    sums = sum_counts(counted, form)
    if form["stage"] == "segment":
        return (0, 0, *two_terms([(stixel_cells(s), n) for s, n in sums.items()]))
    if form["flow"]:
        return mean(n / (math.prod(pixels(s)) * form["disparities"]) for s, n in sums.items()), 0, 0, 0
    return 0, mean(n / math.prod(pixels(s)) for s, n in sums.items()), 0, 0


def two_terms(samples):
    """Fits n = columns (a cells + b cells^2) by least squares of the relative error. Returns a and b."""
    saa = sab = sbb = sa = sb = 0
    for (columns, cells), n in samples:
        x, y = columns * cells / n, columns * cells * cells / n
        saa, sab, sbb, sa, sb = saa + x * x, sab + x * y, sbb + y * y, sa + x, sb + y
    det = saa * sbb - sab * sab
    return (sa * sbb - sb * sab) / det, (sb * saa - sa * sab) / det


def per_unit_bytes(form, counted):
    """Returns the bytes of memory per matching cell and per pixel. Bytes per cell were counted at 2048x1024, far
    beyond the H200's cache. Bytes per pixel are the traffic of its second-level cache, which is an upper limit:
    images are small beside that cache, so the traffic of the H200's memory is not that of a board."""
    if form["stage"] in ("road", "compact", "segment"):
        return 0, 0
    if form["stage"] == "median" and form["speckle"] == 0:
        return 0, 8  # not counted: reads two maps of 2 bytes, writes one, and the confidence
    if not form["flow"]:
        return 0, sum_counts(counted, form, "2048x1024", "l2_bytes")["2048x1024"] / (2048 * 1024)
    if form["disparities"] == 128:
        return sum_counts(counted, form, "2048x1024", "memory_bytes")["2048x1024"] / (2048 * 1024 * 128), 0
    # the counts fit into the cache here, so use the bytes of the layout (sx_sgm_cuda_traffic(),
    # sx_checkpoint_cuda_traffic())
    descriptors = 8 / form["disparities"]
    moved = {("sgm", "stored"): 9, ("winner", "stored"): 4,
             ("sgm", "checkpoint"): 4 * descriptors + 3 / 8 + 1,
             ("winner", "checkpoint"): descriptors + 1 / 8 + 1 + 2}
    return moved[form["stage"], form["flow"]], 0


def instructions(unit, size, disparities):
    width, height = pixels(size)
    columns, cells = stixel_cells(size)
    return (unit[0] * width * height * disparities + unit[1] * width * height +
            unit[2] * columns * cells + unit[3] * columns * cells * cells)


def floor_length(form, size):
    width, height = pixels(size)
    kind = FLOOR.get(form["stage"]) or FLOOR[form["stage"], form["flow"]]
    return {"row": height, "column": width, "constant": 1}[kind]


def stage_ms(form, work, size, disparities, sms):
    width, height = pixels(size)
    issue = instructions(work["unit"], size, disparities) / (ISSUES * sms * CLOCK_HZ * work["efficiency"])
    floor = work["floor"] * floor_length(form, size) / CLOCK_HZ
    moved = (work["bytes"][0] * disparities + work["bytes"][1]) * width * height
    return 1e3 * max(math.hypot(issue, floor), moved / (BYTES_A_SECOND * BANDWIDTH_SHARE))


def fit(form, counted, moved, timed):
    """Fits one form to these times. Returns {"unit":, "bytes":, "efficiency":, "floor":}."""
    work = {"unit": per_unit(form, counted), "bytes": moved, "efficiency": 0.5,
            "floor": 1e5 / floor_length(form, timed[0]["size"])}

    def badness():
        return sum(math.log(stage_ms(form, work, r["size"], int(r["disparities"]), int(r["sms"])) /
                            float(r[form["stage"]])) ** 2 for r in timed)

    least, step = badness(), 2.0
    while step > 1.0001:
        better = False
        for key in ("efficiency", "floor"):
            for factor in (step, 1 / step):
                before = work[key]
                work[key] *= factor
                now = badness()
                if now < least:
                    least, better = now, True
                    break
                work[key] = before
        if not better:
            step = math.sqrt(step)
    if work["floor"] * floor_length(form, timed[0]["size"]) < 1000:
        work["floor"] = 0  # less than a launch, so there is no floor
    return work


def all_forms():
    """Returns every kind of work with separate figures. flow None: any way to keep path costs; disparities 0,
    speckle -1: any."""
    forms = []
    for stage in STAGES:
        if stage in ("sgm", "winner"):
            forms += [{"stage": stage, "flow": f, "disparities": d, "speckle": -1}
                      for f in ("stored", "checkpoint") for d in (128, 64)]
        elif stage in ("median", "smooth"):
            forms += [{"stage": stage, "flow": None, "disparities": 0, "speckle": s} for s in (1, 0)]
        else:
            forms.append({"stage": stage, "flow": None, "disparities": 0, "speckle": -1})
    return forms


def is_of(form, r):
    return ((not form["flow"] or (form["flow"] == r["flow"] and form["disparities"] == int(r["disparities"]))) and
            form["speckle"] in (-1, int(r["speckle"])))


def fit_all(counted, timed, without=None):
    """Fits all forms. Returns [work]. Leaves out a size if times of others remain; work["whole"]: none remained."""
    works = []
    for form in all_forms():
        rows = [r for r in timed if is_of(form, r)]
        others = [r for r in rows if r["size"] != without]
        some = [r for r in counted if r["size"] != without or int(r["disparities"]) != 128]
        if form["stage"] == "segment":
            some = counted  # two unknowns need all three sizes
        elif form["flow"] or form["stage"] in ("median", "smooth", "census", "reduce"):
            some = some if sum_counts(some, form) else counted
        # the bytes always come from 2048x1024, even if that size is left out
        work = fit(form, some, per_unit_bytes(form, counted), others or rows)
        work["whole"] = not others
        works.append(work)
    return works


def besides(timed):
    """Returns (constant, per pixel), ms: the time of the chain outside of its stages, including a copy of both
    images."""
    samples = [(math.prod(pixels(r["size"])), float(r["chain"]) - chain_of({s: float(r[s]) for s in STAGES}))
               for r in timed if int(r["sms"]) in SLICES]
    n, sx, sy = len(samples), sum(x for x, _ in samples), sum(y for _, y in samples)
    slope = ((n * sum(x * y for x, y in samples) - sx * sy) / (n * sum(x * x for x, _ in samples) - sx * sx))
    return (sy - slope * sx) / n, slope


def chain_of(ms):
    """Returns the time of the chain. The road stage runs in parallel with smoothing and reduction."""
    return sum(ms.values()) - min(ms["smooth"] + ms["reduce"], ms["road"])


def predicted(works, beside, r):
    ms = {}
    for form, work in zip(all_forms(), works):
        if is_of(form, r):
            ms[form["stage"]] = stage_ms(form, work, r["size"], int(r["disparities"]), int(r["sms"]))
    return ms, chain_of(ms) + beside[0] + beside[1] * math.prod(pixels(r["size"]))


def errors(counted, timed):
    """Returns {form index or (flow, disparities): [percent]}: the errors on slices. Each size is predicted without
    its own data."""
    found = {}
    for size in sorted({r["size"] for r in timed}):
        others = [r for r in timed if r["size"] != size]
        works, beside = fit_all(counted, timed, size), besides(others)
        for r in timed:
            if r["size"] != size or int(r["sms"]) not in SLICES:
                continue
            ms, chain = predicted(works, beside, r)
            found.setdefault((r["flow"], int(r["disparities"])), []).append(100 * (chain / float(r["chain"]) - 1))
            for i, form in enumerate(all_forms()):
                if is_of(form, r):
                    found.setdefault(i, []).append(100 * (ms[form["stage"]] / float(r[form["stage"]]) - 1))
    return found


def factors(form, counted, code):
    """Returns the instructions of other architectures relative to sm_90's. Kernels are weighted by the instructions
    that they execute on sm_90."""
    lengths = {r["kernel"]: r for r in code}
    rows = [r for r in counted if r["kernel"] in lengths]
    weights = {}
    for r in rows:
        one = sum_counts([r], form)
        if one:
            weights[r["kernel"]] = weights.get(r["kernel"], 0) + sum(one.values())
    total = sum(weights.values())
    return [sum(w * float(lengths[k]["sm_" + a]) / float(lengths[k]["sm_90"]) for k, w in weights.items()) / total
            for a in ARCHS]


def row_text(form, work, off, factor):
    kind = FLOOR.get(form["stage"]) or FLOOR[form["stage"], form["flow"]]
    slots_only = form["stage"] == "median" and form["speckle"] == 0
    unit = [u / work["efficiency"] if slots_only else u for u in work["unit"]]
    fields = ["SX_STAGE_" + form["stage"].upper(), "SX_VOLUME_" + (form["flow"] or "auto").upper(),
              str(form["disparities"]), str(form["speckle"])]
    text = "\t{" + ", ".join(fields) + ",\n"
    text += "\t .instructions = {%.5g, %.5g, %.5g, %.5g},\n" % tuple(unit)
    text += "\t .counted = %s,\n\t .efficiency = %.3f,\n" % (
        "false" if slots_only else "true", 1 if slots_only or not any(unit) else work["efficiency"])
    if work["floor"]:
        text += "\t .floor_%s = %.4g,\n" % (kind, work["floor"])
    text += "\t .bytes = {%.4g, %.4g},\n" % work["bytes"]
    text += "\t .factor = {%s},\n" % ", ".join("%.3f" % f for f in factor)
    text += "\t .off = {%.0f, %.0f},\n\t .own = %s},\n" % (
        min(off), max(off), "true" if work["whole"] else "false")
    return text


def table():
    counted, timed, code = read("counts.csv"), read("slices.csv"), read("sass.csv")
    works, beside, off = fit_all(counted, timed), besides(timed), errors(counted, timed)
    # a form that was timed in a single size has no data when this size is left out
    for form, work in zip(all_forms(), works):
        work["whole"] = len({r["size"] for r in timed if is_of(form, r)}) < 2
    out = io.StringIO()
    out.write("/*\n * Work of the stages of the CUDA engine. Made by tests/lab/work/count_work.py from tests/lab/work; "
              "not to be\n * edited.\n *\n * SPDX-License-Identifier: Apache-2.0\n */\n#include \"predict/work.h\"\n\n"
              "const struct sx_work sx_work_table[] = {\n")
    for i, (form, work) in enumerate(zip(all_forms(), works)):
        out.write(row_text(form, work, off[i], factors(form, counted, code)))
    out.write("};\nconst int sx_work_count = sizeof(sx_work_table) / sizeof(sx_work_table[0]);\n\n"
              "const struct sx_work_chain sx_work_chains[] = {\n")
    for (flow, disparities), values in sorted((k, v) for k, v in off.items() if isinstance(k, tuple)):
        own = len({r["size"] for r in timed if int(r["disparities"]) == disparities}) < 2
        out.write("\t{SX_VOLUME_%s, %d, {%d, %d}, %s},\n" % (
            flow.upper(), disparities, round(min(values)), round(max(values)), "true" if own else "false"))
    out.write("};\nconst int sx_work_chain_count = sizeof(sx_work_chains) / sizeof(sx_work_chains[0]);\n\n")
    out.write("const double sx_work_host_ms = %.4f;\nconst double sx_work_copy_ms = %.4g;\n" % beside)
    return out.getvalue()


def main():
    args = sys.argv[1:]
    if len(args) > 1 and args[0] == "counts":
        counts(args[1:])
    elif len(args) > 1 and args[0] == "sass":
        sass(args[1:])
    elif len(args) == 2 and args[0] == "slices":
        slices(args[1])
    elif args == ["table"]:
        sys.stdout.write(table())
    elif args == ["table", "--check"]:
        with open(TABLE) as f:
            if "".join(f.read().split()) != "".join(table().split()):  # clang-format breaks lines
                fail("predict/work_table.c is not what `count_work.py table` makes of tests/lab/work")
    else:
        sys.exit(__doc__.split("\n\n")[1])


if __name__ == "__main__":
    main()
