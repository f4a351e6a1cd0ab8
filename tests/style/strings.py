# A string over several lines fills them: what a formatter once cut into pieces ("Three " "times " "are ...") is joined.
# SPDX-License-Identifier: Apache-2.0
import re

import rule

COLUMNS = 110
SPARE = 12  # what a line may be shorter than it must, so that clauses can stay together
LITERAL = r'"(?:\\.|[^"\\\n])*"'
ENDS = re.compile(r"(%s)[ \t]*$" % LITERAL)
BEGINS = re.compile(r"[ \t]*(%s)" % LITERAL)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|(%s)|'(?:\\.|[^'\\\n])*'" % LITERAL, re.S)


def check(root):
    found = []
    for name in rule.files(root, ".c", ".h", ".cu", ".cuh", ".cc"):
        text = COMMENT.sub(lambda m: m.group(0) if m.group(0)[0] != "/" else "\n" * m.group(0).count("\n") + "/",
                           rule.read(root, name))
        lines = text.split("\n")
        for i, (line, after) in enumerate(zip(lines, lines[1:])):
            ends, begins = ENDS.search(line), BEGINS.match(after)
            if not ends or not begins or re.search(r"(?:\\n|[.:;!?] ?)$", ends.group(1)[1:-1]):
                continue
            word = re.match(r"\S*\s?", begins.group(1)[1:-1]).group(0)
            if len(line.expandtabs(8)) + len(word) + SPARE <= COLUMNS:
                found.append("%s:%d: the string goes on on the next line, but '%s' has room here"
                             % (name, i + 1, word.strip()))
    return found


SOUND = {
    "base/a.c": 'int f(void)\n{\n\treturn g("%s "\n\t\t "there",\n\t\t "a sentence. "\n\t\t "b\\n"\n\t\t "c", "d",\n'
                '\t\t "e");\n}\n' % ("x" * 84) + '/* "a "\n   "b" */\n',
}
PLANTED = [
    ({"base/b.c": 'const char *a = "Three "\n\t"times ";\n'}, ["base/b.c:1:", "'times'"]),
    ({"base/b.c": '/* x */\nconst char *a = "%s "\n\t"is ";\n' % ("x" * 74)}, ["base/b.c:2:", "'is'"]),
]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
