# Links of the documents must have targets: relative links must point to files and folders of the tree, #anchors to
# headings. The README.md of docs/use and of docs/develop must link to each page below its folder.
# SPDX-License-Identifier: Apache-2.0
import os
import re
import urllib.parse

import rule

FENCE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[^\n]*$|\Z)", re.M | re.S)
SPAN = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
LINK = re.compile(r"""\]\(\s*(<[^>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+"[^"]*"|\s+'[^']*')?\s*\)""")
DEFINED = re.compile(r"""^ {0,3}\[[^\]\n]+\]:[ \t]*(\S+)(?:[ \t]+["'(][^\n]*)?[ \t]*$""", re.M)
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$", re.M)
OWN_ANCHOR = re.compile(r"""<a\s+(?:id|name)=["']([^"']+)["']""")
OTHER_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:|^//")


def blank(match):
    """Returns blanks on the same number of lines, so that later text keeps its line numbers."""
    return re.sub(r"[^\n]", " ", match.group(0))


def prose(text):
    return SPAN.sub(blank, FENCE.sub(blank, text))


def anchors(text):
    """Returns the anchor of each heading, by GitHub's rules: lower case, no punctuation, dashes for blanks, a number
    if repeated."""
    text = FENCE.sub(blank, text)
    found, seen = set(OWN_ANCHOR.findall(text)), {}
    for heading in HEADING.findall(text):
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        again = seen[slug] = seen.get(slug, -1) + 1
        found.add("%s-%d" % (slug, again) if again else slug)
    return found


def fault(root, tree, name, link):
    """Returns what is wrong with a link of a document. None: the link is good."""
    if OTHER_SCHEME.match(link):
        return None
    path, _, anchor = urllib.parse.unquote(link).partition("#")
    if path.startswith("/"):
        return "'%s' is not relative" % link
    target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
    if target not in tree:
        return "'%s': there is no %s" % (link, target)
    if anchor and target.endswith(".md") and anchor not in anchors(rule.read(root, target)):
        return "'%s': %s has no such heading" % (link, target)
    return None


def unlisted(root):
    """Returns a fault for each page to which the index of its shelf has no link."""
    found, names = [], list(rule.files(root, ".md"))
    for shelf in ("docs/use/", "docs/develop/"):
        pages = {name for name in names if name.startswith(shelf)} - {shelf + "README.md"}
        if pages:
            index = prose(rule.read(root, shelf + "README.md")) if shelf + "README.md" in names else ""
            listed = {os.path.normpath(shelf + m.group(1).partition("#")[0]) for m in LINK.finditer(index)}
            found += ["%s:1: %sREADME.md does not list this page" % (name, shelf) for name in sorted(pages - listed)]
    return found


def check(root):
    found, tree = unlisted(root), set()
    for name in rule.files(root):
        while name not in tree:
            tree.add(name or ".")
            name = os.path.dirname(name) or "."
    for name in rule.files(root, ".md"):
        text = prose(rule.read(root, name))
        for match in sorted([*LINK.finditer(text), *DEFINED.finditer(text)], key=lambda m: m.start()):
            why = fault(root, tree, name, match.group(1).strip("<>"))
            if why:
                found.append("%s:%d: link %s" % (name, text.count("\n", 0, match.start(1)) + 1, why))
    return found


SOUND = {
    "README.md": "# One\n\n[a](docs/a.md), [its part](docs/a.md#what-it-isnt-two-words),\n"
                 "[here](#one), [far](https://x.y/z#q),\n"
                 "[folder](docs), ![p](docs/p.svg \"t\"), [wrapped\nwords](docs/a.md), `[code](none.md)`\n\n"
                 "```\n[code](none.md)\n# no heading\n```\n\n[b]: docs/a.md\n\n"
                 "[NAME]: no definition, as words follow\n",
    "docs/a.md": "# What it isn't: `two` words\n\n[up](../README.md#one) [again](#part-1)\n\n## Part\n\n## Part\n",
    "docs/p.svg": "<svg/>\n",
    "docs/use/README.md": "[c](c.md#c) [d](d/d.md)\n",
    "docs/use/c.md": "# C\n",
    "docs/use/d/d.md": "# D\n",
}
PLANTED = [
    ({"docs/b.md": "text\n\n[x](c.md)\n"}, ["docs/b.md:3:", "there is no docs/c.md"]),
    ({"docs/b.md": "[x](docs/a.md)\n"}, ["docs/b.md:1:", "there is no docs/docs/a.md"]),
    ({"docs/b.md": "`code` and [x](A.md)\n"}, ["docs/b.md:1:", "docs/A.md"]),
    ({"docs/b.md": "[x](a.md#parts)\n"}, ["docs/b.md:1:", "docs/a.md has no such heading"]),
    ({"docs/b.md": "```\n# B\n```\n[x](#b)\n"}, ["docs/b.md:4:", "docs/b.md has no such heading"]),
    ({"docs/b.md": "[x](a.md#part-2)\n"}, ["docs/b.md:1:", "no such heading"]),
    ({"docs/b.md": "[x](/docs/a.md)\n"}, ["docs/b.md:1:", "not relative"]),
    ({"docs/b.md": "[x](../../a.md)\n"}, ["docs/b.md:1:", "there is no"]),
    ({"docs/b.md": "![x](q.svg 'title')\n"}, ["docs/b.md:1:", "q.svg"]),
    ({"docs/b.md": "[x]\n\n[x]: c.md 'title'\n"}, ["docs/b.md:3:", "c.md"]),
    ({"docs/use/e.md": "# E\n"}, ["docs/use/e.md:1:", "docs/use/README.md does not list"]),
    ({"docs/develop/e.md": "# E\n"}, ["docs/develop/e.md:1:", "docs/develop/README.md does not list"]),
]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
