# Warnings stop no release, whose compiler may be newer than the project; they stop every build of tools/test, but those
# with sanitizers, whose own code warns.
# SPDX-License-Identifier: Apache-2.0
import re

import rule

# options begin with a dash: words of a sentence do not
PART = re.compile(r'\bpart "?[\w$]+"? ("-[^"]*"|""|-\S+)')


def check(root):
    found = []
    for name in rule.files(root, "meson.build", "tools/test"):
        text = rule.read(root, name)
        if name == "meson.build" and "werror=true" in text:
            found.append("meson.build: werror is the default, so that a warning stops a release")
        for m in PART.finditer(text) if name == "tools/test" else ():
            sanitizer = "b_sanitize" in m.group(1)
            if "-Dwerror=" + ("false" if sanitizer else "true") not in m.group(1):
                found.append("%s:%d: say -Dwerror=true, or false with a sanitizer: %s" % (
                    name, text.count("\n", 0, m.start()) + 1, m.group(0)))
    return found


GCC = 'part gcc "-Dwerror=true" ""\n'
SOUND = {
    "meson.build": "project('x', 'c', default_options: ['warning_level=3'])\n",
    "a/meson.build": "x = 'werror=true'\n",
    "tools/test": '# part NAME "OPTIONS"\n' + GCC + 'part tsan "-Db_sanitize=thread -Dwerror=false" "-t 8"\n',
}
PLANTED = [
    ({"meson.build": "project('x', 'c', default_options: ['werror=true'])\n"}, ["meson.build:", "default"]),
    ({"tools/test": GCC + 'part clang "-Dcuda=disabled" ""\n'}, ["tools/test:2:", "part clang"]),
    ({"tools/test": GCC + 'CC=x part "$name" --buildtype=debug "-Dwerror=true"\n'}, ["tools/test:2:", "$name"]),
    ({"tools/test": GCC + 'part asan "-Dwerror=true -Db_sanitize=address" ""\n'}, ["tools/test:2:", "part asan"]),
]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
