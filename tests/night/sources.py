# The sources of a night: a copy of the tree, so that it judges what it began with while the tree is edited; and a
# digest of the files that a program is made of, so that an edit of others voids nothing.
#
# SPDX-License-Identifier: Apache-2.0
import filecmp
import hashlib
import os
import re
import shlex
import shutil
import subprocess


def git(top, *words):
    return subprocess.run(["git", "-C", top, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout


def is_checkout(top):
    """Not so is a plain folder inside of another project's."""
    return os.path.exists(os.path.join(top, ".git")) and shutil.which("git")


def revision(top):
    """The commit, and whether the tree has changed since, but for what nights write themselves; - of a plain folder."""
    if not is_checkout(top):
        return "-"
    changed = git(top, "status", "--porcelain", "-unormal", "--", ".", ":!tests/night/record.txt", ":!docs")
    return (git(top, "rev-parse", "--short=8", "HEAD").strip() or "-") + ("+changed" if changed else "")


def names_of(top):
    """What is or will be tracked; of a plain folder all but what is built."""
    if is_checkout(top):
        listed = git(top, "ls-files", "-co", "--exclude-standard", "-z").split("\0")
        return [n for n in listed if n and os.path.isfile(os.path.join(top, n))]
    found = []
    for folder, folders, here in os.walk(top):
        folders[:] = [f for f in folders if f not in (".git", "build", "__pycache__")]
        found += [os.path.relpath(os.path.join(folder, n), top) for n in here]
    return found


def copy(top, to):
    """What is the same already keeps its time, so that Ninja builds only what is new."""
    names = names_of(top)
    for name in names:
        source, target = os.path.join(top, name), os.path.join(to, name)
        if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)
    keep = set(names)
    for folder, _, here in os.walk(to):
        for name in (os.path.relpath(os.path.join(folder, n), to) for n in here):
            if name not in keep and not name.endswith(".pyc"):
                os.remove(os.path.join(to, name))


def ninja(folder, *words):
    return subprocess.run(["ninja", "-C", folder, "-t", *words], stdout=subprocess.PIPE, text=True, check=True).stdout


def dependencies(folder):
    """{object: files that its compiler read}"""
    found, files = {}, []
    for line in ninja(folder, "deps").splitlines():
        head = re.match(r"(\S.*): #deps \d+", line)
        if head:
            files = found[head[1]] = []
        elif line.startswith(" "):
            files.append(line.strip())
    return found


def files_of(folder, programs, tree, known):
    """Files of the tree that these programs are made of: what the commands that make them name, and what their
    compilers read. known: dependencies(folder)."""
    words = set()
    for command in ninja(folder, "commands", *(os.path.relpath(p, folder) for p in programs)).splitlines():
        words.update(part for word in shlex.split(command) for part in re.split("[=,]", word))
    read = words.union(*(known[word] for word in words if word in known))
    paths = {os.path.normpath(os.path.join(folder, word)) for word in read if "/" in word}
    return sorted(os.path.relpath(p, tree) for p in paths if p.startswith(tree + os.sep) and os.path.isfile(p))


def digest(top, names):
    """Twelve digits. Paths count, contents count; a file that is no longer there is another source."""
    both = hashlib.sha256()
    for name in names:
        path = os.path.join(top, name)
        content = b"-"
        if os.path.exists(path):
            with open(path, "rb") as f:
                content = hashlib.sha256(f.read()).hexdigest().encode()
        both.update(name.encode() + b"\0" + content + b"\n")
    return both.hexdigest()[:12]
