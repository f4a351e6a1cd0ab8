# Comments and documents speak of functions and files that exist: names of what was renamed or removed go with it.
# SPDX-License-Identifier: Apache-2.0
"""A function is a word with (), a file a word that ends like one; sx_... and SX_... are names wherever they stand, and
in comments of C so is a word with an underscore.

Known are the words of the tree's code (of strings those of scripts, where made files have their names, and in C the
names of variables of the environment), stems of file names, the headers that code includes with <>, and OUTSIDE. A
function that is static in .c files is known in their folder, in documents, and where the comment names the file, unless
a header has the word too. What a file calls sx_engine_unpin_all, its comments may call unpin_all. A name with * is a
pattern of known ones; a path counts from the root, from the folder of the file that names it, or as the end of a longer
one.
"""
import fnmatch
import io
import os
import re
import tokenize

import rule

C = (".c", ".h", ".cu", ".cuh", ".cc")
SCRIPTS = (".py", ".sh", "meson.build", "meson_options.txt", ".conf", ".rules", ".service", ".yml", ".in")
CODE = C + SCRIPTS + (".js", ".map", ".proto")
# Names of other projects, symbols of formulas, names that stand for any, and folders of examples.
OUTSIDE = """
    camera_info projection_matrix white_balance_automatic ini_reader mkstemp sd_* shm_open stixeld_info
    sm_[0-9]* sigma_[a-z]* d_[a-z]* min_k frame[12]_left a.b.c OUT.c sx_schema_FILE* test_gpu_*_device
""".split()

PAST = ("docs/lab-", "NEWS.md")  # what was tried, and what was changed

CALL = re.compile(r"(?<![\w.>/-])([A-Za-z_*][\w*]*(?:(?:\.|->|::)[A-Za-z_]\w*)*)\(\)")
PREFIXED = re.compile(r"(?<![\w./-])((?:sx|SX)_[\w*]+)(?![\w*]|\.\.\.|\(\))")
UNDERSCORE = re.compile(r"(?<![\w./*-])((?!sx_)[a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?![\w/*]|\(\)|\.[a-z])")
FILE = re.compile(r"(?<![\w./*<$-])(?:\./)?([A-Za-z_*][\w.*/-]*?\.(?:cuh|cu|cc|c|h|py|sh|md))(?![\w*/-]|\.\w)")
IN_FILE = re.compile(r"\b(\w+)\(\)`?,?\s+(?:\*\s+)?(?:(?:of|in)\s+(?:\*\s+)?|\()`?([\w/.-]+\.(?:cuh|cu|cc|c|h|py))\b")
PATTERNS = [("no function %s()", CALL), ("no name %s", PREFIXED), ("no name %s", UNDERSCORE), ("no file %s", FILE)]
NEAR = 80
WORD = re.compile(r"[A-Za-z_]\w*")
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.S)
HASH = re.compile(r"(?:^|(?<=\s))#[^\n]*")
VARIABLE = re.compile(r'"(SX_[A-Z_]+)"')
INCLUDED = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.M)
STATIC = re.compile(r"^(?:template\b[^;{]*\n)?static\b[^;={]*?\b(\w+)\(", re.M)


def python_comments(text):
    """Comments and docstrings."""
    starts = [0]
    for line in text.splitlines(True):
        starts.append(starts[-1] + len(line))
    spans, fresh = [], True
    try:
        for t in tokenize.generate_tokens(io.StringIO(text).readline):
            if t.type == tokenize.COMMENT or (t.type == tokenize.STRING and fresh and '"""' in t.string):
                spans.append((starts[t.start[0] - 1] + t.start[1], starts[t.end[0] - 1] + t.end[1]))
            fresh = t.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT) or (
                fresh and t.type in (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING))
    except (tokenize.TokenError, SyntaxError):
        pass
    return spans


def spans_of(name, text):
    """Where the comments are."""
    if name.endswith(".md"):
        return [(0, len(text))]
    if name.endswith(C):
        return [m.span() for m in COMMENT.finditer(text) if m.group(1) is None]
    if name.endswith(".py"):
        return python_comments(text)
    return [m.span() for m in HASH.finditer(text)]


def split(name, text):
    """The code of a file with its strings, and its comments with their lines' numbers kept."""
    rest, said, at = [], [], 0
    for a, b in spans_of(name, text):
        rest += [text[at:a], " "]
        said += ["\n" * text.count("\n", at, a), " ", text[a:b]]
        at = b
    rest.append(text[at:])
    return "".join(rest), "".join(said)


class Known:
    """Words of the code and files of the tree."""

    def __init__(self, paths, included, variables, codes):
        self.paths, self.words, self.files = set(paths), set(variables), set()
        self.folders, self.own, shared, statics = {}, {}, set(), set()
        self.outside = re.compile("|".join(fnmatch.translate(o) for o in OUTSIDE)).match
        for name, text in codes.items():
            words = self.own[name] = set(WORD.findall(text))
            self.words |= words
            self.folders.setdefault(os.path.dirname(name), set()).update(words)
            if name.endswith((".h", ".cuh")):
                shared |= words
            elif name.endswith(C):
                statics |= set(STATIC.findall(text))
            elif name.endswith("meson.build"):
                self.files |= set(re.findall(r"'([\w.]+)'", text))
        self.private = statics - shared
        for p in self.paths | included:
            self.files |= {"/".join(p.split("/")[i:]) for i in range(p.count("/") + 1)}
            self.words.add(os.path.basename(p).split(".")[0])

    def one_of(self, what, among):
        if "*" not in what:
            return what in among or self.outside(what)
        match = re.compile(fnmatch.translate(what)).match
        return any(match(w) for w in among)

    def word(self, what, name, near):
        """near: what the comment says around it."""
        if what in self.private and not name.endswith(".md"):
            files = [f for m in FILE.finditer(near) for f in self.own if f.endswith(m.group(1))]
            return what in self.folders.get(os.path.dirname(name), ()) or any(what in self.own[f] for f in files)
        return self.one_of(what, self.words) or any(w.endswith("_" + what) for w in self.own.get(name, ()))

    def file(self, what, name):
        beside = os.path.normpath(os.path.join(os.path.dirname(name), what))
        return beside in self.paths or self.one_of("*" + what if what[0] == "_" else what, self.files)


def check(root):
    names = rule.files(root)
    codes, said, included, variables = {}, {}, set(), set()
    for name in names:
        program = "." not in os.path.basename(name) and not name.startswith("LICENSE")
        if (name.endswith(CODE + (".md",)) or program) and not name.startswith(PAST):
            codes[name], said[name] = split(name, rule.read(root, name))
        if name in codes and name.endswith(C):
            included |= set(INCLUDED.findall(codes[name]))
            variables |= set(VARIABLE.findall(codes[name]))
            codes[name] = rule.code(codes[name])
        if name.startswith(("tests/style/", "docs/")) or name.endswith(".md"):
            codes.pop(name, None)
    known, found = Known(names, included, variables, codes), []
    for name, text in said.items():
        at = []
        for words, pattern in PATTERNS:
            if pattern is UNDERSCORE and not name.endswith(C):
                continue
            for m in pattern.finditer(text):
                near = text[max(m.start() - NEAR, 0):m.end() + NEAR]
                parts = re.split(r"\.|->|::", m.group(1)) if pattern is CALL else [m.group(1)]
                if not (known.file(m.group(1), name) if pattern is FILE else
                        all(known.word(w, name, near) for w in parts)):
                    at.append((words, m))
        for m in IN_FILE.finditer(text):
            homes = [f for f in known.own if f == m.group(2) or f.endswith("/" + m.group(2))]
            if homes and not any(m.group(1) in known.own[f] for f in homes):
                found.append((name, text.count("\n", 0, m.start()) + 1, "no function %s() in %s" % m.groups()))
        found += [(name, text.count("\n", 0, m.start()) + 1, words % m.group(1)) for words, m in at]
    return ["%s:%d: %s" % f for f in sorted(found)]


SOUND = {
    "base/a.h": "/* See sx_a_run() and sx_a_*(); file base/a.c, a.c, <sys/x.h>. Not one: 0..h, a/b, f(x). */\n"
                "int sx_a_run(int a_b);\n",
    "base/a.c": '#include "base/a.h"\n#include <sys/y.h>\n/* step() of y.h; a_b is of a.h; test_a too. */\n'
                "static int step(void)\n{\n\treturn poll();\n}\n",
    "base/b.c": "/* step() in the same folder; poll() anywhere. x->a_b(), sm_80. */\nint b;\n",
    "tests/test_a.c": "/* made.h of meson.build */\nint main(void)\n{\n}\n",
    "meson.build": "configure_file(output: 'made.h') # base/*.c, run_target()\nrun_target('x')\n",
    "tests/x.py": '"""Says main() of test_a.c."""\nX = "# no_function() in a string"\n',
    "docs/x.md": "`step()` of [a](../base/a.c), `sx_a_...`, `step()` in `base/a.c`, poll() in `a.c`, `_a.h`\n",
    "docs/lab-x.md": "see gone.cu and `gone()`\n",
    "base/x_a.h": "int x_a;\n",
}
PLANTED = [
    ({"base/c.c": "/* a\n * sees taps_init() */\nint x;\n"}, ["base/c.c:2:", "taps_init()"]),
    ({"cpu/c.c": "/* step() is of another folder */\nint x;\n"}, ["cpu/c.c:1:", "step()"]),
    ({"base/c.h": "int x; // as sx_b_run says\n"}, ["base/c.h:1:", "sx_b_run"]),
    ({"base/c.c": 'const char *x = "sx_gone";\n/* sx_gone */\n'}, ["base/c.c:2:", "sx_gone"]),
    ({"base/c.c": "/* sx_b_*() */\n"}, ["sx_b_*"]),
    ({"base/c.c": "/* x->gone() */\nint x;\n"}, ["x->gone()"]),
    ({"base/c.c": "/* words of sum_pitch */\nint x;\n"}, ["sum_pitch"]),
    ({"base/c.c": "/* see gone.cuh. */\nint x;\n"}, ["gone.cuh"]),
    ({"base/c.c": "/* see cpu/a.c. */\nint x;\n"}, ["cpu/a.c"]),
    ({"meson.build": "# gone.c\n"}, ["meson.build:1:", "gone.c"]),
    ({"tests/x.py": 'def f():\n    """Calls gone()."""\n'}, ["tests/x.py:2:", "gone()"]),
    ({"docs/x.md": "see [x](x/gone.md), \n`gone()`\n"}, ["docs/x.md:2:", "gone()"]),
    ({"docs/x.md": "see [x](x/gone.md)\n"}, ["docs/x.md:1:", "x/gone.md"]),
    ({"docs/x.md": "see `poll()` of\n`base/b.c`\n"}, ["docs/x.md:1:", "no function poll() in base/b.c"]),
    ({"base/c.c": "/* poll() in\n * b.c */\n"}, ["base/c.c:1:", "no function poll() in b.c"]),
    ({"tools/x": "#!/bin/sh\n# as gone.sh does\n"}, ["tools/x:2:", "gone.sh"]),
]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
