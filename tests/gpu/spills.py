# Reads the resources of kernels from the output of ptxas -v: registers, and bytes of registers that a thread spills to
# local memory (stored or loaded, whichever is more). Compares them with tests/gpu/spills.txt, where each line allows
#
#   RELEASE ARCHITECTURE FILE KERNELS BYTES
#
# This means: at most KERNELS kernels of FILE spill, and each spills at most BYTES bytes. Files without a line may not
# spill. A line "# compiled: HASH" names the sources from which nvcc 11.8 compiled the kernels of each push.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re

RECORD = os.path.join("tests", "gpu", "spills.txt")
COMPILED = "# compiled: "
LINE = re.compile(r"Compiling entry function '(?P<name>\S+)' for '(?P<arch>\w+)'|"
                  r"(?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads|"
                  r"Used (?P<registers>\d+) registers")


def resources(text):
    """Returns {architecture: {kernel: (registers, bytes)}} from the output of ptxas -v."""
    found, kernels, name, spilled = {}, None, None, 0
    for m in LINE.finditer(text):
        if m["name"]:
            kernels, name, spilled = found.setdefault(m["arch"], {}), m["name"], 0
        elif m["stores"]:  # spills of the kernel and of functions that are not inlined
            spilled = max(spilled, int(m["stores"]), int(m["loads"]))
        elif name:
            kernels[name], name = (int(m["registers"]), spilled), None
    return found


def spilling(kernels):
    """Returns (number of kernels that spill, most bytes)."""
    spilled = [used[1] for used in kernels.values() if used[1]]
    return len(spilled), max(spilled, default=0)


def allowed(text):
    """Returns {(release, architecture, file): (kernels, bytes)} of the record."""
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {tuple(row[:3]): (int(row[3]), int(row[4])) for row in rows}


def compiled(text):
    """Returns the hash of the sources that were compiled, or None."""
    found = [line[len(COMPILED):] for line in text.splitlines() if line.startswith(COMPILED)]
    return found[0] if found else None


def with_compiled(text, digest):
    """Returns the record with the hash of the sources that were compiled now."""
    return "".join(line for line in text.splitlines(True) if not line.startswith(COMPILED)) + COMPILED + digest + "\n"


def complaints(limits, release, file, archs, used):
    """Returns sentences about a file that exceeds its limits. used: resources()."""
    said = []
    for arch in archs:
        if not used.get(arch):
            said.append("%s, CUDA %s: ptxas reported no kernel for %s" % (file, release, arch))
            continue
        count, worst = spilling(used[arch])
        kernels, most = limits.get((release, arch, file), (0, 0))
        if count > kernels or worst > most:
            said.append("%s, CUDA %s, %s: %d kernels spill, up to %d bytes; %s allows %d, up to %d" % (
                file, release, arch, count, worst, RECORD, kernels, most))
    return said
