# Lines of Markdown have at most 100 characters, except in tables and code.
# SPDX-License-Identifier: Apache-2.0
import rule
from links import FENCE, blank

WIDTH = 100
FREE = ("    ", "\t", "<!--")  # a line that begins so is code, or a mark of a generated part


def check(root):
    found = []
    for name in rule.files(root, ".md"):
        for number, line in enumerate(FENCE.sub(blank, rule.read(root, name)).split("\n"), 1):
            words = line.split()
            free = line.startswith(FREE) or line.lstrip().startswith("|") or len(words) == 1
            if len(line.rstrip()) > WIDTH and not free:
                found.append("%s:%d: %d characters, more than %d" % (name, number, len(line), WIDTH))
    return found


LONG = "word " * 20 + "words"
SOUND = {"a.md": "# A\n\n%s\n\n| %s |\n\n    %s\n\n```\n%s\n```\n\n%s\n" % (LONG[:WIDTH], LONG, LONG, LONG, "x" * 120)}
PLANTED = [({"b.md": "# B\n\n" + LONG + "\n"}, ["b.md:3:", "105"]),
           ({"docs/b.md": "* item\n  " + LONG + "\n"}, ["docs/b.md:2:", "107"])]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
