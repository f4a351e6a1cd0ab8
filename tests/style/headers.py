# Each header compiles alone as C11. The public header also compiles as C++17, the headers of gpu/ also as C++14 on the
# emulator. If the first directive of a C source includes a header, the build already shows that the header needs no
# other header before it. This rule does not compile such a header again as C. It only checks the header's guard.
# SPDX-License-Identifier: Apache-2.0
import concurrent.futures
import fnmatch
import itertools
import os
import platform
import re
import shutil
import subprocess
import sys

import rule

COMMON = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-D_GNU_SOURCE", '-DSX_VERSION="0"']
C = COMMON + ["-std=c11", "-Wpedantic", "-Wstrict-prototypes", "-Wno-unused-parameter", "-x", "c"]
CXX = COMMON + ["-std=c++17", "-Wpedantic", "-x", "c++"]
# Additional flags of headers. Headers with instructions of another machine are left out.
NEEDS = [("*avx2*", ["-mavx2"], ("x86_64", "AMD64")), ("*neon*", [], ("aarch64", "arm64"))]
# Headers of kernel files compile as C++ of the emulator here. Headers that C files of gpu/ share with them compile as
# both.
EMULATE = "tests/gpu/emulate"
KERNEL_CXX = COMMON + ["-std=c++14", "-Wno-unknown-pragmas", "-Wno-unused-parameter", "-x", "c++", "-DSX_EMULATE"]
C_ONLY = {"gpu/host/device.h", "gpu/host/engine.h", "gpu/host/engine_priv.h"}  # host code that uses C atomics
CXX_ONLY = ["*.cuh", EMULATE + "/sx_emulate.h", EMULATE + "/device.h", EMULATE + "/faults.h", EMULATE + "/order.h"]
# Sources that are compiled only if their libraries are installed.
NOT_ALWAYS_BUILT = ("tests/lab/", "gstreamer/", "gpu/", "tests/gpu/device/")
# Bodies that are included several times with different macros. They are not independent headers.
BODIES = ["cpu/kernels/*_kernel.h", "cpu/vec/*.h", "cpu/kernels/*_kernels.h", "cpu/pyramid/*_kernel*.h",
          "cpu/motion/*_kernel*.h", EMULATE + "/cuda_functions.h", EMULATE + "/sx_emulate_math.h"]


def compilers():
    c, cxx = os.environ.get("CC", "cc").split(), os.environ.get("CXX", "c++").split()
    for tool in (c[0], cxx[0]):
        if not shutil.which(tool):
            sys.exit("%s is not installed" % tool)
    return c, cxx


def gstreamer():
    """Returns the flags of programs with GStreamer, or nothing if it is not installed."""
    out = subprocess.run(["pkg-config", "--cflags", "gstreamer-base-1.0", "gstreamer-video-1.0"], check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
    return out.stdout.replace("-I", "-isystem").split()


def compile_one(root, command, name):
    source = '#include "%s"\n#include "%s"\n' % (name, name)  # twice, to test the include guard
    out = subprocess.run([*command, "-I", root, "-I", os.path.join(root, "include"), "-I",
                          os.path.join(root, EMULATE), "-"], input=source, cwd=root,
                         capture_output=True, text=True, check=False)
    if out.returncode == 0:
        return []
    first = [line for line in out.stderr.splitlines() if "error" in line] or [out.stderr.strip()[:200] or "killed"]
    compiler = " ".join(itertools.takewhile(lambda word: not word.startswith("-"), command))
    return ["%s:1: does not compile alone with %s: %s" % (name, compiler, first[0])]


def commands(c, cxx, name, shown=frozenset()):
    """Returns the compilations of a header. shown: headers that need not be compiled as C."""
    options = []
    if name.startswith("gstreamer/"):
        options = gstreamer()
        if not options:
            return []
    for pattern, flags, machines in NEEDS:
        if fnmatch.fnmatch(name, pattern):
            if platform.machine() not in machines:
                return []
            options += flags
    if any(fnmatch.fnmatch(name, p) for p in CXX_ONLY):
        return [[*cxx, *KERNEL_CXX, *options]]
    both = [] if name in shown else [[*c, *C, *options]]
    if name.startswith("gpu/") and name not in C_ONLY:
        both.append([*cxx, *KERNEL_CXX, *options])
    if name.startswith("include/"):
        both.append([*cxx, *CXX, *options])
    return both


# the first directive of a source, and the guard around a header
FIRST = re.compile(r'\s*#\s*include "([^"]+)"')
GUARD = re.compile(r"\s*#ifndef (\w+)\n#define \1\n.*#endif\s*\Z", re.S)
COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def shown_by_sources(root):
    """Returns the guarded headers that a C source of every build includes before anything else. Public headers are not
    among them, because the build has extensions of GNU C."""
    def bare(name):
        return COMMENTS.sub("", rule.read(root, name))

    first = [FIRST.match(bare(name)) for name in rule.files(root, ".c") if not name.startswith(NOT_ALWAYS_BUILT)]
    return {name for name in {m.group(1) for m in first if m} if not name.startswith("include/") and
            os.path.isfile(os.path.join(root, name)) and GUARD.match(bare(name))}


def check(root):
    c, cxx = compilers()
    shown = shown_by_sources(root)
    jobs = [(command, name) for name in rule.files(root, ".h", ".cuh")
            if not any(fnmatch.fnmatch(name, b) for b in BODIES)
            for command in commands(c, cxx, name, shown)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        return sum(pool.map(lambda job: compile_one(root, *job), jobs), [])


GUARDED = "#ifndef %s_H\n#define %s_H\n%s\n#endif\n"
SOUND = {
    "base/a.h": GUARDED % ("A", "A", "struct a {\n\tint x;\n};"),
    "base/b.h": GUARDED % ("B", "B", '#include "base/a.h"\nstruct b {\n\tstruct a a;\n};'),
    "include/stixel.h": GUARDED % ("S", "S", "struct stixel {\n\tint x;\n};"),
}
PLANTED = [
    ({"base/c.c": '#include "base/c.h"\n', "base/c.h": "struct c {\n\tint x;\n};\n"}, ["base/c.h:1:", "redefinition"]),
    ({"base/c.c": '#include <stdint.h>\n#include "base/c.h"\n',
      "base/c.h": GUARDED % ("C", "C", "static inline uint32_t f(void)\n{\n\treturn 0;\n}")}, ["uint32_t"]),
    ({"base/c.h": GUARDED % ("C", "C", "struct c {\n\tstruct a a;\n};")}, ["base/c.h:1:", "alone"]),
    ({"base/c.h": "struct c {\n\tint x;\n};\n"}, ["base/c.h:1:", "redefinition"]),
    ({"base/c.h": GUARDED % ("C", "C", "static inline uint32_t f(void)\n{\n\treturn 0;\n}")}, ["uint32_t"]),
    ({"include/stixel.h": GUARDED % ("S", "S", "int f(int *restrict x);")}, ["include/stixel.h:1:", "++:"]),
]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
