# Warnings stop no release, whose compiler may be newer than the project; they stop every build of tools/test; one
# with sanitizers may say that it does not stop, as their own code makes a compiler warn.
# SPDX-License-Identifier: Apache-2.0
import re

import rule

# options of Meson, in a variable or where a part is built
SET = re.compile(r'^(\w+)\+?="(\s*-[^"]*)"', re.M)
BUILD = re.compile(r'^[^#\n]*\b(build "?[\w$]+"? "([^"]*)")', re.M)

# one cell of other compilers: options of all, then those of its kind
CELL, CELL_OPTIONS = "tests/toolchains/cell", re.compile(r"^options=\(.*-Dwerror=true\b", re.M)


def check(root):
    found = []
    for name in rule.files(root, "meson.build", "tools/test", CELL):
        text = rule.read(root, name)
        if name == CELL and not CELL_OPTIONS.search(text):
            found.append("%s: the options of every cell have no -Dwerror=true" % CELL)
        if name == "meson.build" and "werror=true" in text:
            found.append("meson.build: werror is the default, so that a warning stops a release")
        known = {}
        for variable, more in SET.findall(text):
            known[variable] = known.get(variable, "") + more
        for m in BUILD.finditer(text) if name == "tools/test" else ():
            options = re.sub(r"\$(\w+)", lambda v: known.get(v.group(1), ""), m.group(2))
            if "-Dwerror=true" not in options and not ("b_sanitize" in options and "-Dwerror=false" in options):
                found.append("%s:%d: say -Dwerror=true, or false with a sanitizer: %s" % (
                    name, text.count("\n", 0, m.start(1)) + 1, m.group(1)))
    return found


GCC = 'plain="-Dwerror=true"\nhas gcc && build gcc "$plain -Dcuda=disabled"\n'
SOUND = {
    "meson.build": "project('x', 'c', default_options: ['warning_level=3'])\n",
    "a/meson.build": "x = 'werror=true'\n",
    "tools/test": '# build NAME "OPTIONS"\n' + GCC + 'build tsan "-Db_sanitize=thread -Dwerror=false" base\n' +
                  'build asan "-Db_sanitize=address -Dwerror=true"\n',
    "tests/toolchains/cell": "options=(-Dcuda=disabled -Dwerror=true)\n",
}
PLANTED = [
    ({"meson.build": "project('x', 'c', default_options: ['werror=true'])\n"}, ["meson.build:", "default"]),
    ({"tools/test": GCC + 'build clang "-Dcuda=disabled"\n'}, ["tools/test:3:", "build clang"]),
    ({"tools/test": GCC + 'CC=x build "$name" "$other -Dcuda=disabled"\n'}, ["tools/test:3:", "$name"]),
    ({"tests/toolchains/cell": "# -Dwerror=true\noptions=(-Dwerror=false)\n"}, ["toolchains/cell:", "every cell"]),
    ({"tools/test": GCC + 'build asan "-Db_sanitize=address"\n'}, ["tools/test:3:", "build asan"]),
]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
