# Finds out whether the sources are those validated on a GPU, by one SHA-256 for each file of stages/ and gpu/ that
# affects the results. The hash covers code and string literals, but no comments and no line breaks. Two passes write
# the record: one with code for the device, one with compute_75 PTX, whose lines begin with that name. Both are in one
# record only if they validated the same sources.
# SPDX-License-Identifier: Apache-2.0
import hashlib
import os
import re
import sys

FOLDERS = ("gpu", "stages")
KINDS = (".c", ".h", ".cu", ".cuh", "meson.build", ".map")
RECORD = os.path.join("tests", "gpu", "validated.txt")
PTX = "compute_75 PTX"


# Tokens of C and CUDA C; the first that fits counts: comments; texts; numbers and names; operators, the longest first.
PIECES = re.compile(r"""(?P<comment>/\*.*?\*/|//[^\n]*)
    |(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<word>\.?\d(?:[eEpP][+-]|[\w.])*|\w+)
    |(?P<operator><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|::|\#\#|[^\s\w])
    |(?P<end>\n)|(?P<blank>[^\S\n]+)""", re.S | re.X)


def c_code(text):
    """Returns the tokens that a compiler sees. Line ends count only in lines that begin with #."""
    code, directive, after, fresh = [], False, "blank", True
    for m in PIECES.finditer(text.replace("\\\n", "")):
        kind, piece = m.lastgroup, m.group()
        if kind == "operator" and piece == "#" and fresh:
            directive = True
            code.append("\n")
        if kind == "end":
            if directive:
                code.append("\n")
            directive, fresh = False, True
        elif kind not in ("comment", "blank"):
            # a macro takes arguments only if its ( follows directly
            defines = directive and len(code) > 2 and code[-2] == "define" and code[-3] == "#"
            code.append("glued (" if piece == "(" and defines and after == "word" else piece)
            fresh = False
        after = kind
    return code


def other_code(text):
    """Returns the lines, without comment lines and without surrounding blanks."""
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def digest_of(name, data):
    text = data.decode("utf-8", "surrogateescape")
    code = c_code(text) if name.endswith((".c", ".h", ".cc", ".cu", ".cuh")) else other_code(text)
    return hashlib.sha256("\0".join(code).encode("utf-8", "surrogateescape")).hexdigest()


def digests(top, folders=FOLDERS, kinds=KINDS):
    """Returns {name: SHA-256} of the code of the files in the tree."""
    found = {}
    for folder in folders:
        for here, _, names in os.walk(os.path.join(top, folder)):
            for name in names:
                if name.endswith(kinds):
                    path = os.path.join(here, name)
                    with open(path, "rb") as f:
                        found[os.path.relpath(path, top)] = digest_of(name, f.read())
    return found


def sums(text):
    """Returns {name: SHA-256} of a record."""
    return {m[1]: m[0] for m in re.findall(r"^([0-9a-f]{64})  (\S+)$", text, re.M)}


def sum_lines(found):
    return ["%s  %s" % (digest, path) for path, digest in sorted(found.items())]


def ptx_lines(text):
    return [line for line in text.splitlines() if line.startswith(PTX)]


def with_ptx(text, other):
    """Returns a record whose PTX lines are replaced by those of another record. None if the two are of different
    sources."""
    if not sums(text) or sums(text) != sums(other):
        return None
    title, head, rest = text.split("\n\n", 2)
    lines = [line for line in head.splitlines() if not line.startswith(PTX)] + ptx_lines(other)
    return "\n\n".join([title, "\n".join(lines), rest])


def recorded(top):
    """Returns (device, date, whether PTX was validated too, {name: SHA-256}) of the record, or None."""
    try:
        with open(os.path.join(top, RECORD)) as f:
            text = f.read()
    except FileNotFoundError:
        return None
    line = {k: re.search("^%s: (.*)$" % k, text, re.M) for k in ("device", "date")}
    if not all(line.values()):
        return None
    return line["device"].group(1), line["date"].group(1), bool(ptx_lines(text)), sums(text)


def sentence(top):
    """Returns a sentence that compares the sources with the validated ones, and whether they are the same."""
    was, now = recorded(top), digests(top)
    if not was:
        return "gpu: the sources were not validated on a GPU yet (tests/gpu/validate)", False
    device, date, ptx, then = was
    changed = sorted(n for n in set(now) | set(then) if now.get(n) != then.get(n))
    if not changed:
        return "gpu: sources are those validated on %s, %s%s" % (
            device, date, "" if ptx else ", but not as %s (tests/gpu/validate --ptx75)" % PTX), True
    more = ", and %d more" % (len(changed) - 5) if len(changed) > 5 else ""
    return "gpu: sources have changed since they were validated on %s, %s (%s%s)" % (
        device, date, ", ".join(changed[:5]), more), False


if __name__ == "__main__":
    said, good = sentence(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    print(said)
    sys.exit(0 if good else 1)
