# Shared functions of the style checks: the files of the tree, and a proof that each check can fail.
# SPDX-License-Identifier: Apache-2.0
"""A check is a function from a root folder to a list of findings ("FILE:LINE: sentence").

rule.main(check, sound, planted) runs it on the folder given on the command line and exits with 1 if there are
findings. With --self-check it runs on trees made for this purpose: `sound` (name -> text) must give no finding, and
each of `planted` ((name -> text), words of the finding) must give a finding that contains all the words.
"""
import os
import re
import subprocess
import sys
import tempfile

SKIP = {".git", "build", "__pycache__", ".cache"}


def files(root, *suffixes):
    """Returns the paths of files that are tracked or will be, relative to root, sorted. Without git: all files of
    the folder."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True,
                            text=True, check=False)
    if listed.returncode == 0 and os.path.exists(os.path.join(root, ".git")):
        names = [n for n in listed.stdout.split("\0") if n]
    else:
        names = []
        for folder, folders, here in os.walk(root):
            folders[:] = [f for f in folders if f not in SKIP]
            names += [os.path.relpath(os.path.join(folder, n), root) for n in here]
    names = [n for n in names if os.path.isfile(os.path.join(root, n)) and not os.path.islink(os.path.join(root, n))]
    return sorted(n for n in names if not suffixes or n.endswith(suffixes))


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8", errors="replace") as f:
        return f.read()


NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def code(text):
    """Returns C code without comments and without the content of strings. Every line keeps its number."""
    def blank(match):
        part = match.group(0)
        return '""' if part[0] == '"' else "\n" * part.count("\n") or " "

    return NOT_CODE.sub(blank, text)


def make_tree(root, tree):
    for name, text in tree.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def findings_in(check, tree):
    with tempfile.TemporaryDirectory() as root:
        make_tree(root, tree)
        return check(root)


def self_check(check, sound, planted):
    wrong = ["a sound tree is refused: " + f for f in findings_in(check, sound)]
    for tree, words in planted:
        found = findings_in(check, {**sound, **tree})
        if not any(all(w in f for w in words) for f in found):
            wrong.append("not found: %s in %s; found %s" % (words, sorted(tree), found))
    return wrong


def main(check, sound, planted):
    if len(sys.argv) != 2:
        sys.exit("usage: %s ROOT | --self-check" % sys.argv[0])
    if sys.argv[1] == "--self-check":
        findings = self_check(check, sound, planted)
    else:
        if not files(sys.argv[1], ".c"):
            sys.exit("%s: no source file there" % sys.argv[1])
        findings = check(sys.argv[1])
    for f in findings:
        print(f)
    sys.exit(1 if findings else 0)
