# Checks the Debian packages: every installed file is in exactly one of them, every listed file is installed, and the
# version is that of NEWS.md. The list of installed files is in tests/systemd/test_install.py, which compares it with an
# installation.
# SPDX-License-Identifier: Apache-2.0
import fnmatch
import os
import re

import rule

INSTALLED = "tests/systemd/test_install.py"
LISTS = "packaging/debian/"
FOLDERS = {"bindir": "usr/bin", "libdir": "usr/lib/TRIPLET", "includedir": "usr/include", "mandir": "usr/share/man",
           "datadir": "usr/share", "unitdir": "usr/lib/systemd/system", "sysusersdir": "usr/lib/sysusers.d",
           "tmpfilesdir": "usr/lib/tmpfiles.d", "udevdir": "usr/lib/udev",
           "pythondir": "usr/lib/python3/dist-packages"}


def installed(root, version):
    m = re.search(r'^WANTED = """\n(.*?)^"""', rule.read(root, INSTALLED), re.M | re.S)
    lines = m.group(1).splitlines() if m else []
    return [line.split()[0].format(version=version, **FOLDERS).lstrip("/") for line in lines]


def takes(pattern, path):
    """Matches a path like dh_install: a * does not match a slash, and a folder includes everything below."""
    words, parts = pattern.split("/"), path.split("/")
    return len(words) <= len(parts) and all(fnmatch.fnmatchcase(a, b) for a, b in zip(parts, words))


def patterns(root):
    """Returns (file, line, package, pattern) of every line of the lists."""
    found = []
    for name in rule.files(root, ".install"):
        if name.startswith(LISTS):
            for number, line in enumerate(rule.read(root, name).splitlines(), 1):
                if line.strip() and not line.startswith("#"):
                    found.append((name, number, os.path.basename(name)[:-len(".install")], line.split()[0]))
    return found


def version_of(root):
    m = re.search(r"(?m)^  version: '([0-9.]+)',$", rule.read(root, "meson.build"))
    return m.group(1) if m else None


def check(root):
    version, lists, found = version_of(root), patterns(root), []
    if not version or not lists:
        return ["%s:1: no version in meson.build, or no list of files" % LISTS]
    heading = re.search(r"(?m)^## (\S+?),? ", rule.read(root, "NEWS.md"))
    if not heading or heading.group(1) != version:
        found.append("NEWS.md:1: its newest version is not the %s of meson.build" % version)
    paths = installed(root, version)
    for path in paths:
        owners = sorted({package for _, _, package, pattern in lists if takes(pattern, path)})
        if len(owners) != 1:
            found.append("%s:1: /%s is in %s" % (LISTS, path, " and ".join(owners) or "no package"))
    for name, number, _, pattern in lists:
        if not any(takes(pattern, path) for path in paths):
            found.append("%s:%d: %s is not installed" % (name, number, pattern))
    packages = re.findall(r"(?m)^Package: (\S+)$", rule.read(root, LISTS + "control"))
    for name in sorted({package for _, _, package, _ in lists} ^ set(packages)):
        found.append("%scontrol:1: package %s has no list, or a list no package" % (LISTS, name))
    return found


SOUND = {
    "meson.build": "project('a', 'c',\n  version: '1.2.0',\n", "NEWS.md": "# News\n\n## 1.2.0, not yet released\n",
    INSTALLED: 'WANTED = """\n{bindir}/a\n{libdir}/liba.so.1   x\n{unitdir}/a.service\n{datadir}/a/b/c\n"""\n',
    LISTS + "a.install": "# list\nusr/bin/a\nusr/lib/systemd/system/a.service\nusr/share/a\n",
    LISTS + "liba.install": "usr/lib/*/liba.so.*\n",
    LISTS + "control": "Source: a\n\nPackage: a\n\nPackage: liba\n",
}
PLANTED = [
    ({LISTS + "liba.install": "usr/lib/*/liba.so\n"}, ["/usr/lib/TRIPLET/liba.so.1 is in no package"]),
    ({LISTS + "liba.install": "usr/lib/*/liba.so\n"}, ["liba.install:1:", "is not installed"]),
    ({LISTS + "liba.install": "usr/lib/*/liba.so.*\nusr/*/a\n"}, ["/usr/bin/a is in a and liba"]),
    ({"NEWS.md": "# News\n\n## 1.1.0, of today\n"}, ["NEWS.md:1:", "1.2.0"]),
    ({LISTS + "control": "Package: a\n"}, ["package liba"]),
]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
