# Lines of Markdown have at most 100 characters, except in tables and code; lines of Python and Meson have 120. The
# check of the format limits lines of C.
# SPDX-License-Identifier: Apache-2.0
import rule
from links import FENCE, blank

WIDTH = {".md": 100, ".py": 120, "meson.build": 120, "meson_options.txt": 120}
FREE = ("    ", "\t", "<!--")  # a line of Markdown that begins so is code, or a mark of a generated part


def lines_of(root, name):
    """Yields the number and the text of each line that the rule looks at."""
    text = rule.read(root, name)
    if not name.endswith(".md"):
        yield from enumerate(text.split("\n"), 1)
        return
    for number, line in enumerate(FENCE.sub(blank, text).split("\n"), 1):
        if not line.startswith(FREE) and not line.lstrip().startswith("|") and len(line.split()) != 1:
            yield number, line.rstrip()


def check(root):
    found = []
    for suffix, width in WIDTH.items():
        for name in rule.files(root, suffix):
            found += ["%s:%d: %d characters, more than %d" % (name, number, len(line), width)
                      for number, line in lines_of(root, name) if len(line) > width]
    return found


LONG = "word " * 20 + "words"
SOUND = {"a.md": "# A\n\n%s\n\n| %s |\n\n    %s\n\n```\n%s\n```\n\n%s\n" % (LONG[:100], LONG, LONG, LONG, "x" * 120),
         "a.py": "x" * 120 + "\n", "base/meson.build": "x" * 120 + "\n"}
PLANTED = [({"b.md": "# B\n\n" + LONG + "\n"}, ["b.md:3:", "105", "100"]),
           ({"docs/b.md": "* item\n  " + LONG + "\n"}, ["docs/b.md:2:", "107"]),
           ({"python/b.py": "\n" + "x" * 121 + "\n"}, ["python/b.py:2:", "121", "120"]),
           ({"tests/b/meson.build": "    " + "x" * 117 + "\n"}, ["tests/b/meson.build:1:", "121"]),
           ({"meson_options.txt": "x" * 121 + "\n"}, ["meson_options.txt:1:", "121"])]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
