# Functions that a header offers and nobody calls: a sx_* declared in a header is called by the product (what only tests
# call is dead) and by a file other than the one that defines it, its test included (else it is static).
# SPDX-License-Identifier: Apache-2.0
import re

import rule

SUFFIXES = (".c", ".cc", ".cu", ".cuh", ".h")
# Whom tests alone call, or nobody by name, and why.
EXCEPTIONS = {
    "sx_histogram_quantile": "any quantile: the test compares them with sorted values, the product takes three at once",
    "sx_log_to": "the log's descriptor, for tests that read what was logged",
    "sx_stream_clients": "who is connected, for tests of the socket's limits",
    "sx_stream_packet_bytes": "what fits into a packet here, for tests of frames that do not",
    "sx_view_draw_ground": "the ground alone, for the truth of the synthetic street (tests/scene_truth.c)",
    # the definition of a stage, step by step: the fast engines are written and tested against it
    "sx_reduce": "columns of a whole image",
    "sx_rdp_label": "segments of cuts",
    "sx_rdp_ground_slope": "an argument of sx_rdp_label()",
}
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
NAME = re.compile(r"\bsx_\w+")
# A line that is no statement: type and name at the left edge, or a macro of attributes before them.
DECLARED = re.compile(r"^(?!static\b|typedef\b|#|\})(?:[A-Za-z_][\w \t*]*[ \t*\n])\**(sx_\w+)\(", re.M)


def text_of(root, name):
    """Code with its strings (dlsym() has names in them), without comments; lines keep their numbers."""
    def blank(match):
        part = match.group(0)
        return part if part[0] in "\"'" else "\n" * part.count("\n") or " "

    return COMMENT.sub(blank, rule.read(root, name))


def end_of(text, at):
    """What ends the parenthesis at text[at]: ';' a declaration, '{' a definition."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0 and text[i] in ";{":
            return text[i]
    return ""


def check(root):
    declared, uses, home = {}, {}, {}  # name -> where; name -> files that use it; name -> files that define it
    for name in rule.files(root, *SUFFIXES):
        text = text_of(root, name)
        left = {}
        for word in NAME.findall(text):
            left[word] = left.get(word, 0) + 1
        for m in DECLARED.finditer(text):
            end = end_of(text, m.end() - 1)
            left[m.group(1)] -= end != ""
            if end == ";" and name.endswith((".h", ".cuh")):
                declared.setdefault(m.group(1), "%s:%d" % (name, text.count("\n", 0, m.start(1)) + 1))
            if end == "{":
                home.setdefault(m.group(1), set()).add(name)
        for word in left:
            if left[word] > 0:
                uses.setdefault(word, set()).add(name)
    found = []
    for word, where in sorted(declared.items()):
        files = uses.get(word, set())
        product = files if where.startswith("tests/") else {f for f in files if not f.startswith("tests/")}
        why = None
        if not product:
            why = "tests alone" if files else "nobody"
        elif files <= home.get(word, set()):
            why = "its own file alone: static"
        if why and word not in EXCEPTIONS:
            found.append("%s: %s is used by %s" % (where, word, why))
        if not why and word in EXCEPTIONS:
            found.append("tests/style/unused.py:1: %s is no exception any more" % word)
    return found


SOUND = {
    "a/one.h": "int sx_one_go(int a);\n/* sx_one_stop() */\nstatic inline int sx_one_in(void)\n{\n\treturn 1;\n}\n"
               "char *sx_one_text(\n\tvoid);\n",
    "a/one.c": "int sx_one_go(int a)\n{\n\treturn a;\n}\nchar *sx_one_text(void)\n{\n\treturn 0;\n}\n",
    "a/two.c": "int main(void)\n{\n\treturn sx_one_go(2) + !sx_one_text();\n}\n",
    "a/unit.h": "int sx_unit(void);\n",
    "a/unit.c": "int sx_unit(void)\n{\n\treturn 1;\n}\nint unit = sx_unit();\n",
    "tests/test_unit.c": "int u = sx_unit();\n",
    "tests/help.h": "void sx_help(void);\n",
    "tests/test_a.c": "int main(void)\n{\n\tsx_help();\n}\n",
}
PLANTED = [
    ({"a/two.c": "/* sx_one_go() */\nint main(void)\n{\n\treturn !sx_one_text();\n}\n"},
     ["a/one.h:1:", "sx_one_go", "nobody"]),
    ({"a/two.c": "int main(void)\n{\n\treturn sx_one_go(1);\n}\n"}, ["a/one.h:7:", "sx_one_text", "nobody"]),
    ({"a/two.c": "int main(void)\n{\n\treturn !sx_one_text();\n}\n", "tests/test_b.c": "int b = sx_one_go(1);\n"},
     ["a/one.h:1:", "sx_one_go", "tests alone"]),
    ({"a/two.h": "int sx_one_go(int a);\n", "a/two.c": "int main(void)\n{\n\treturn !sx_one_text();\n}\n"},
     ["sx_one_go", "nobody"]),
    ({"a/one.c": SOUND["a/one.c"] + "int a = sx_one_go(1);\n",
      "a/two.c": "int main(void)\n{\n\treturn !sx_one_text();\n}\n"},
     ["a/one.h:1:", "sx_one_go", "static"]),
    ({"a/three.cuh": "__device__ void sx_three(void);\n"}, ["a/three.cuh:1:", "sx_three"]),
    ({"tests/help.h": "void sx_help(void);\nvoid sx_more(void);\n"}, ["tests/help.h:2:", "sx_more"]),
]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
