# Calls and options that have a safer or an exact sibling, and folders of people's machines.
# SPDX-License-Identifier: Apache-2.0
import re

import rule

CALLS = {
    "strcpy": "snprintf or memcpy", "strcat": "snprintf", "strncpy": "snprintf", "strncat": "snprintf",
    "sprintf": "snprintf", "vsprintf": "vsnprintf", "gets": "fgets", "atoi": "strtol and its end",
    "atol": "strtol and its end", "atoll": "strtoll and its end", "atof": "strtod and its end", "strtok": "strcspn",
    "system": "posix_spawn", "popen": "posix_spawn", "alloca": "a bounded array", "mktemp": "mkstemp",
    "tmpnam": "mkstemp", "rand": "a generator with a seed", "srand": "a generator with a seed",
}
CALL = re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join(CALLS))
DEVICE_SYNC = re.compile(r"\bcudaDeviceSynchronize\s*\(")
FAST_MATH = re.compile(r"-ffast-mat[h]|--use_fast_mat[h]|-Ofas[t]")
# The lookbehind lets documents speak of folders of other systems, as in /sys/root/
PATHS = re.compile(r"(?<![\w./])/(?:hom[e]/\w|roo[t]/|wor[k]/|tmp/[b]/)")


def lines(text, pattern):
    for m in pattern.finditer(text):
        yield text.count("\n", 0, m.start()) + 1, m


def check(root):
    found = []
    for name in rule.files(root, ".c", ".h", ".cu", ".cuh", ".cc"):
        text = rule.code(rule.read(root, name))
        for line, m in lines(text, CALL):
            found.append("%s:%d: %s is banned, use %s" % (name, line, m.group(1), CALLS[m.group(1)]))
        if name != "gpu/host/device.c" and not name.startswith("tests/gpu/"):
            for line, m in lines(text, DEVICE_SYNC):
                found.append("%s:%d: only gpu/host/device.c waits for the whole device" % (name, line))
    for name in rule.files(root):
        text = rule.read(root, name)
        if name.endswith(("meson.build", ".sh", ".py", ".c", ".h", ".cu", ".cuh", ".cc")):
            for line, m in lines(text, FAST_MATH):
                found.append("%s:%d: %s breaks exactness" % (name, line, m.group(0)))
        for line, m in lines(text, PATHS):
            found.append("%s:%d: a folder of somebody's machine: %s" % (name, line, m.group(0)))
    return found


SOUND = {
    "base/a.c": '/* strcpy(a, b) */\nint f(void);\nint g(char *s)\n{\n'
                '\treturn f("sprintf(1)") + my_system(1) + x->rand(2);\n}\n'
                "// gets(x)\n",
    "gpu/host/device.c": "void f(void) { cudaDeviceSynchronize(); }\n",
    "meson.build": "add_project_arguments('-ffp-contract=off')\n",
    "README.md": "see /etc/stixeld, /sys/root/x and a/home/b\n",
}
PLANTED = [
    ({"base/b.c": "/* x\n */\nvoid f(char *a) { strcpy (a, \"b\"); }\n"}, ["base/b.c:3:", "strcpy is banned"]),
    ({"cpu/b.h": "int n = atoi(\"3\");\n"}, ["cpu/b.h:1:", "atoi"]),
    ({"tools/b.c": "int f(void) { return system(\"ls\"); }\n"}, ["system is banned"]),
    ({"gpu/b.cu": "void f(void) { cudaDeviceSynchronize(); }\n"}, ["gpu/b.cu:1:"]),
    ({"cpu/meson.build": "x = ['-ffast-" + "math']\n"}, ["exactness"]),
    ({"docs/b.md": "run /hom" + "e/me/x\n"}, ["docs/b.md:1:", "somebody's machine"]),
    ({"tests/b.py": "p = '/wor" + "k/x'\n"}, ["somebody's machine"]),
]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
