# Which sources were validated on a GPU: one SHA-256 for each file of stages/ and gpu/ that decides what is computed.
# SPDX-License-Identifier: Apache-2.0
import hashlib
import os
import re

FOLDERS = ("gpu", "stages")
KINDS = (".c", ".h", ".cu", ".cuh", "meson.build", ".map")
RECORD = os.path.join("tests", "gpu", "validated.txt")


def digests(top):
    """{name: SHA-256}, of the files as they lie there."""
    found = {}
    for folder in FOLDERS:
        for here, _, names in os.walk(os.path.join(top, folder)):
            for name in names:
                if name.endswith(KINDS):
                    path = os.path.join(here, name)
                    with open(path, "rb") as f:
                        found[os.path.relpath(path, top)] = hashlib.sha256(f.read()).hexdigest()
    return found


def recorded(top):
    """(device, date, {name: SHA-256}) of the record, or None."""
    try:
        with open(os.path.join(top, RECORD)) as f:
            text = f.read()
    except FileNotFoundError:
        return None
    line = {k: re.search("^%s: (.*)$" % k, text, re.M) for k in ("device", "date")}
    if not all(line.values()):
        return None
    return line["device"].group(1), line["date"].group(1), {
        m[1]: m[0] for m in re.findall(r"^([0-9a-f]{64})  (\S+)$", text, re.M)}


def sentence(top):
    """How the sources relate to those that were validated."""
    was, now = recorded(top), digests(top)
    if not was:
        return "gpu: the sources were not validated on a GPU yet (tests/gpu/validate)"
    device, date, then = was
    changed = sorted(n for n in set(now) | set(then) if now.get(n) != then.get(n))
    if not changed:
        return "gpu: sources are those validated on %s, %s" % (device, date)
    more = ", and %d more" % (len(changed) - 5) if len(changed) > 5 else ""
    return "gpu: sources have changed since they were validated on %s, %s (%s%s)" % (
        device, date, ", ".join(changed[:5]), more)


if __name__ == "__main__":
    print(sentence(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")))
