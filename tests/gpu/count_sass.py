#!/usr/bin/env python3
"""Counts what the compiled kernels of path aggregation cost, and looks for spilled registers.

Usage: count_sass.py [--arch 87,110]... [--kernel REGEX] [--cells N] [--ceiling X] [--list] FILE

FILE: object, module or cubin. In every kernel whose name matches, finds the innermost loop that stores most, and counts
its instructions by class. A cell of a path is stored as one byte (gpu/stereo/volume.cuh), so the bytes that a lane
stores in one iteration are the cells that it computes: instructions / bytes = lane-instructions per path-cell. --cells
states the cells per lane and iteration for a kernel that does not store them. Code that a branch may skip counts as
executed, so the result is an upper limit. --list: prints registers and local memory of all kernels.

Exit code: 0; 1: a kernel is above the ceiling, or a kernel of FILE spills; 2: nothing to count; 77: no disassembler
(cuobjdump and nvdisasm of the CUDA toolkit, or of the Python packages nvidia-cuda-cuobjdump and nvidia-cuda-nvdisasm).
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys

CLASSES = [
    ("min/max", r"HMNMX2|VIMNMX|VHMNMX|IMNMX|VIADDMNMX|FMNMX"),
    ("fp16", r"HADD2|HFMA2|HMUL2|HSET2|HSETP2"),
    ("integer", r"IADD|IMAD|LEA|IABS|ISETP|SHF|ISCADD|UIADD|UIMAD|ULEA|USHF|UISETP|VIADD|POPC|SEL|USEL|FADD|FMUL|FFMA|"
                r"IDP|I2F[A-Z]*"),
    ("logic/permute", r"LOP3|PRMT|ULOP3|UPRMT|PLOP3|BMSK|SGXT|LOP"),
    ("shuffle", r"SHFL|VOTE|REDUX|MATCH"),
    ("memory", r"LDG|STG|LDS|STS|LDL|STL|LDC|ULDC|LDGSTS|LD|ST|ATOM|RED|LDGDEPBAR|DEPBAR|LDCU"),
    ("move", r"MOV|UMOV|R2UR|S2R|CS2R|S2UR|P2R|R2P"),
    ("control", r".*"),
]
LOOP_THAT_WORKS = 48  # instructions of a loop
STORE_BYTES = {"8": 1, "U8": 1, "S8": 1, "16": 2, "U16": 2, "S16": 2, "64": 8, "128": 16}


def find(name):
    """Returns the path of a tool of the toolkit, or None."""
    told = os.environ.get(name.upper())
    nvcc = shutil.which("nvcc")
    folders = [os.path.dirname(os.path.realpath(nvcc))] if nvcc else []
    for path in [told, shutil.which(name)] + [os.path.join(d, name) for d in folders + ["/usr/local/cuda/bin"]]:
        if path and os.access(path, os.X_OK):
            return path
    return None


def run(tool, *args):
    environment = dict(os.environ, PATH=os.path.dirname(tool) + os.pathsep + os.environ["PATH"])
    r = subprocess.run([tool, *args], capture_output=True, text=True, env=environment, check=False)
    if r.returncode:
        sys.exit("%s: %s" % (tool, (r.stderr or r.stdout).strip()[:500]))
    return r.stdout


def plain(names):
    """Returns the demangled names, or the names unchanged if c++filt is missing."""
    if not shutil.which("c++filt"):
        return {n: n for n in names}
    out = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return dict(zip(names, out.replace("(anonymous namespace)::", "").splitlines()))


def kernels(tool, path, arch):
    """Returns {name: [(address, opcode with suffixes, branch target or None)]}."""
    found, name = {}, None
    for line in run(tool, "-sass", "-arch", "sm_" + arch, path).splitlines():
        m = re.match(r"\s*Function : (\S+)", line)
        if m:
            name = m.group(1)
            found[name] = []
            continue
        m = re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P[0-9T]\s+)?([A-Z][A-Z0-9_.]*)([^;]*);", line)
        if m and name:
            target = re.search(r"\b0x([0-9a-f]+)\s*$", m.group(3).strip()) if m.group(2).startswith("BRA") else None
            found[name].append((int(m.group(1), 16), m.group(2), int(target.group(1), 16) if target else None))
    return found


def class_of(opcode):
    base = opcode.split(".")[0]
    return next(name for name, pattern in CLASSES if re.fullmatch(pattern + r"[0-9A-Z]*", base))


def stored(opcode):
    parts = opcode.split(".")
    if parts[0] not in ("STG", "ST"):
        return 0
    return next((STORE_BYTES[p] for p in parts[1:] if p in STORE_BYTES), 4)


def inner_loop(code):
    """Returns the instructions of the innermost loop that stores most, or None."""
    loops = [(target, at) for at, _, target in code if target is not None and target < at]
    innermost = [a for a in loops if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    bodies = [[op for at, op, _ in code if first <= at <= last and op != "NOP"] for first, last in innermost]
    bodies = [b for b in bodies if sum(map(stored, b))]
    return max(bodies, key=lambda b: sum(map(stored, b))) if bodies else None


def resources(tool, path, arch):
    """Returns {kernel: (registers, stack bytes, local bytes)}."""
    out = run(tool, "-res-usage", "-arch", "sm_" + arch, path)
    return {m[0]: (int(m[1]), int(m[2]), int(m[3])) for m in
            re.findall(r"Function (\S+):\s*\n\s*REG:(\d+) STACK:(\d+) SHARED:\d+ LOCAL:(\d+)", out)}


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--arch", default="87,110", help="compute capabilities, as 87,110")
    p.add_argument("--kernel", default="aggregate_paths|sgm_path", help="regular expression of names")
    p.add_argument("--cells", type=float, help="cells of a lane in one turn of the loop")
    p.add_argument("--ceiling", type=float, help="most lane-instructions per path-cell")
    p.add_argument("--list", action="store_true", help="registers and local memory of all kernels")
    p.add_argument("file")
    return p.parse_args()


def count(o, arch, code, names):
    """Prints a line for each kernel that matches. Returns the greatest figure, or None."""
    worst = None
    for name in sorted(code, key=lambda n: names[n]):
        body = inner_loop(code[name]) if re.search(o.kernel, names[name]) else None
        if not body:
            continue
        cells = o.cells or sum(map(stored, body))
        classes = collections.Counter(map(class_of, body))
        print("sm_%s %s\n    %.2f lane-instructions a path-cell: %d for %g cells a lane; %s" % (
            arch, names[name].split("(")[0], len(body) / cells, len(body), cells,
            ", ".join("%s %d" % (c, classes[c]) for c, _ in CLASSES if classes[c])))
        worst = max(worst or 0, len(body) / cells)
    return worst


def spilled(code):
    """Returns loads and stores of local memory in working loops. A table that is indexed once may lie in local
    memory."""
    loops = [(target, at) for at, _, target in code if target is not None and 16 * LOOP_THAT_WORKS < at - target]
    return sum(op.split(".")[0] in ("LDL", "STL") and any(a <= at <= b for a, b in loops) for at, op, _ in code)


def spills(o, arch, code, names, used):
    bad = 0
    for name in sorted(code, key=lambda n: names[n]):
        local = spilled(code[name])
        bad += local > 0
        if o.list or local:
            registers, stack, _ = used.get(name, (0, 0, 0))
            print("sm_%s %-70s %3d registers, %d bytes of stack%s" % (
                arch, names[name].split("(")[0], registers, stack,
                "; SPILLS: %d loads and stores of local memory in loops" % local if local else ""))
    return bad


def main():
    o = options()
    tool = find("cuobjdump")
    if not tool or not (find("nvdisasm") or os.access(os.path.join(os.path.dirname(tool), "nvdisasm"), os.X_OK)):
        print("no disassembler: neither PATH nor /usr/local/cuda/bin has cuobjdump and nvdisasm, nothing was counted")
        return 77
    worst, bad, seen = None, 0, 0
    for arch in o.arch.split(","):
        code = kernels(tool, o.file, arch)
        if not code:
            sys.exit("%s has no code for sm_%s" % (o.file, arch))
        names = plain(list(code))
        figure = count(o, arch, code, names)
        seen += figure is not None
        worst = max(worst or 0, figure or 0)
        bad += spills(o, arch, code, names, resources(tool, o.file, arch))
    if not seen:
        print("no kernel of %s matches %s and stores in a loop" % (o.file, o.kernel))
    if bad:
        print("%d kernels spill registers" % bad)
    if o.ceiling and worst > o.ceiling:
        print("%.2f lane-instructions a path-cell, at most %g" % (worst, o.ceiling))
        bad += 1
    return 1 if bad else 0 if seen else 2


if __name__ == "__main__":
    sys.exit(main())
