# Records about the CUDA engine that are read later: spilled registers and validated sources. Also checks that toolkits
# are laid out completely or not at all.
# SPDX-License-Identifier: Apache-2.0
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import sources  # noqa: E402
import spills  # noqa: E402

PTXAS = """ptxas info    : 0 bytes gmem, 128 bytes cmem[4]
ptxas info    : Compiling entry function '_Z3oneILi4EEvv' for 'sm_72'
ptxas info    : Function properties for _Z3oneILi4EEvv
    160 bytes stack frame, 132 bytes spill stores, 164 bytes spill loads
ptxas info    : Used 64 registers, 544 bytes cmem[0]
ptxas info    : Compiling entry function '_Z3twov' for 'sm_72'
ptxas info    : Function properties for _Z3twov
    104 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for _Z6calledv
    8 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 40 registers
ptxas info    : Compiling entry function '_Z3twov' for 'sm_87'
ptxas info    : Function properties for _Z3twov
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 38 registers
"""


class Spills(unittest.TestCase):
    ARCHS = ["sm_72", "sm_87"]

    def test_what_ptxas_says(self):
        self.assertEqual(spills.resources(PTXAS), {
            "sm_72": {"_Z3oneILi4EEvv": (64, 164), "_Z3twov": (40, 8)}, "sm_87": {"_Z3twov": (38, 0)}})

    def complain(self, record, text=PTXAS):
        return spills.complaints(spills.allowed(record), "11.8", "a/b", self.ARCHS, spills.resources(text))

    def test_as_recorded(self):
        self.assertEqual(self.complain("# a comment\n11.8 sm_72 a/b 2 164\n"), [])

    def test_more_than_recorded(self):
        for record in ("", "11.8 sm_72 a/b 1 164", "11.8 sm_72 a/b 2 163", "12.4 sm_72 a/b 2 164",
                       "11.8 sm_87 a/b 2 164", "11.8 sm_72 a/c 2 164"):
            said = self.complain(record)
            self.assertEqual(len(said), 1, record)
            self.assertIn("a/b, CUDA 11.8, sm_72: 2 kernels spill, up to 164 bytes; ", said[0])

    def test_nothing_reported(self):
        said = self.complain("11.8 sm_72 a/b 2 164", PTXAS.replace("sm_87", "sm_90"))
        self.assertEqual(said, ["a/b, CUDA 11.8: ptxas reported no kernel for sm_87"])
        self.assertEqual(len(self.complain("", "")), 2)

    def test_sources_that_were_compiled(self):
        record = "# a comment\n11.8 sm_72 a/b 2 164\n"
        self.assertIsNone(spills.compiled(record))
        for digest in ("12ab", "34cd"):
            record = spills.with_compiled(record, digest)
            self.assertEqual(spills.compiled(record), digest)
        self.assertEqual(record.count("\n"), 3)
        self.assertEqual(self.complain(record), [])

    def test_the_record_can_be_read(self):
        with open(os.path.join(HERE, "spills.txt")) as f:
            limits = spills.allowed(f.read())
        self.assertTrue(limits)
        for (_, arch, file), (kernels, most) in limits.items():
            self.assertIn(arch, self.ARCHS)
            self.assertTrue(os.path.exists(os.path.join(HERE, "..", "..", "gpu", file + ".cu")), file)
            self.assertTrue(kernels > 0 and most > 0)


class Validated(unittest.TestCase):
    def record(self, digest, *lines):
        head = ["device: D", "date: 2026-01-02", "checks: 9, 0 failed", *lines]
        return "\n".join(["Title.", "", *head, "", "engine", "", "ms   1.0", "", digest * 64 + "  gpu/a.cu", ""])

    def test_lines_of_the_same_sources_are_taken(self):
        mine, other = self.record("a", "compute_75 PTX on D: old"), self.record("a", "compute_75 PTX on D: new",
                                                                                "compute_75 PTX, memcheck: clean")
        self.assertEqual(sources.with_ptx(mine, other), other)
        self.assertEqual(sources.with_ptx(self.record("a"), other), other)
        # a separate record, as --ptx75 writes it
        part = "compute_75 PTX on D: new\ncompute_75 PTX, memcheck: clean\n\n%s  gpu/a.cu\n" % ("a" * 64)
        self.assertEqual(sources.with_ptx(mine, part), other)

    def test_lines_of_other_sources_are_not(self):
        mine = self.record("a")
        for other in ("", "compute_75 PTX on D: 1\n", self.record("b", "compute_75 PTX on D: 1"),
                      self.record("a", "compute_75 PTX on D: 1") + "c" * 64 + "  gpu/b.cu\n"):
            self.assertIsNone(sources.with_ptx(mine, other))

    def test_the_sentence(self):
        with tempfile.TemporaryDirectory() as top:
            os.makedirs(top + "/tests/gpu")
            os.makedirs(top + "/gpu")
            os.mkdir(top + "/stages")
            with open(top + "/gpu/a.cu", "w") as f:
                f.write("kernel\n")
            sums = "\n".join(sources.sum_lines(sources.digests(top)))
            for lines, want in (([], "D, 2026-01-02, but not as compute_75 PTX (tests/gpu/validate --ptx75)"),
                                (["compute_75 PTX on D: 9 checks"], "D, 2026-01-02")):
                with open(top + "/tests/gpu/validated.txt", "w") as f:
                    f.write(self.record("a", *lines).replace("a" * 64 + "  gpu/a.cu", sums))
                self.assertEqual(sources.sentence(top), ("gpu: sources are those validated on " + want, True))
            with open(top + "/gpu/a.cu", "a") as f:
                f.write("\n/* a word on it */\n")
            self.assertTrue(sources.sentence(top)[1])
            with open(top + "/gpu/a.cu", "a") as f:
                f.write("more\n")
            said, good = sources.sentence(top)
            self.assertIn("have changed", said)
            self.assertFalse(good)


class Code(unittest.TestCase):
    """The parts of a source that count, and the parts that do not."""

    def same(self, a, b, name="a.cu"):
        return sources.digest_of(name, a.encode()) == sources.digest_of(name, b.encode())

    def test_prose_and_layout_do_not_count(self):
        for a, b in (("int a; /* one */\nint b;", "/* other */ int a;\n\n\tint b; // more\n"),
                     ("f(a,\n  b)", "f(a, b)"),
                     ("#define A(x) \\\n\t(x) /* why */\nint a;", "#define A(x) (x)\nint a;"),
                     ("a/**/b", "a b"), ("x=1;", "x = 1;"), ("'\\''/*a*/", "'\\''"),
                     ("# include <a.h>\n", "#include <a.h>\n")):
            self.assertTrue(self.same(a, b), (a, b))
        self.assertTrue(self.same("a = 1 # no\n# prose\n\n  b", "a = 1 # no\nb\n# other", "meson.build"))

    def test_code_counts(self):
        for a, b in (("int a;", "int b;"), ('"a  b"', '"a b"'), ('"/* a */"', '"/* b */"'), ('"// a"', '"// b"'),
                     ("a+ +b", "a++b"), ("a b", "ab"), ("1.0 f", "1.0f"), ("#define A 1\nint b;", "#define A 1 int b;"),
                     ("#define F (x)", "#define F(x)"), ("'a'", "'b'"), ("int a; /* */ b", "int a; /* b"),
                     ("x > >y", "x >>y"), ("1e-3", "1e - 3"), ("#if A\nB", "#if A B")):
            self.assertFalse(self.same(a, b), (a, b))
        self.assertFalse(self.same("a = 1", "a = 2", "meson.build"))
        self.assertFalse(self.same("local: *;", "local: a;", "module.map"))

    def test_every_source_is_read(self):
        top = os.path.join(HERE, "..", "..")
        found = sources.digests(top)
        self.assertEqual(len(set(found.values())), len(found))
        for name in found:
            if name.endswith((".c", ".h", ".cu", ".cuh")):
                with open(os.path.join(top, name)) as f:
                    code = "".join(sources.c_code(f.read()))
                self.assertNotIn("SPDX", code, name)
                self.assertNotIn("\n\n\n", code, name)


CHECK = """case $0 in *-ptx75/*)
	[ -z "$CUDA_DISABLE_PTX_JIT" ] || [ -e has_sass ] || { echo "engine cuda: no code"; exit 77; } ;;
esac
echo "$0 $*${CUDA_VISIBLE_DEVICES:+ on $CUDA_VISIBLE_DEVICES}" >>ran
if [ -e bad ] && echo "$0 $*" | grep -q -e "$(cat bad)"; then
	echo "volume checkpoint, input mapped: speckle differs"
	echo "5 checks, 1 failed"
	exit 1
fi
echo "# D, sm_90: 5 checks, 0 failed"
echo "5 checks, 0 failed"
"""
PROGRAMS = {
    "nvidia-smi": "echo 'D, 580.1, 9.0'",
    "nvcc": "echo 'release 13.0, V13.0.1'",
    "strip": "true",
    "compute-sanitizer": 'shift; echo "sanitizer $*" >>ran; shift 3; o=$("$@") || { echo "$o"; exit 1; }; '
                         'echo "ERROR SUMMARY: 0 errors"; echo "3 checks, 0 failed"',
    "meson": "while [ $# -gt 1 ]; do case $1 in -D*|setup|configure) ;; *) mkdir -p $1;; esac; shift; done; echo $*",
    "ninja": "mkdir -p $2/tests/gpu/device $2/tools $2/gpu; touch $2/gpu/stixel-cuda.so; "
             "cp check $2/tests/gpu/device/check_device; "
             "cp check $2/tests/gpu/device/check_intrinsics; "
             "cp bench $2/tools/stixel-bench",
    "check": CHECK,
    "gate": "echo gate >>ran; echo 'gate: base abc'; echo 'slower by more than 5 %: nothing'; "
            "exit $(cat gate_exit 2>/dev/null || echo 0)",
    "bench": "echo bench >>ran; case \"$*\" in *json*) echo '{\"memory_bytes\": 1}';; *) echo table;; esac",
}


class Passes(unittest.TestCase):
    """Runs tests/gpu/validate in a separate tree, with programs that find no errors."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = folder.name
        for name in ("tests/gpu", "tests/bench", "gpu", "stages", "bin"):
            os.makedirs(os.path.join(self.top, name))
        for name in ("validate", "sources.py"):
            shutil.copy(os.path.join(HERE, name), os.path.join(self.top, "tests/gpu"))
        for name, text in PROGRAMS.items():
            path = os.path.join(self.top, {"check": "", "bench": "", "gate": "tests/bench"}.get(name, "bin"), name)
            with open(path, "w") as f:
                f.write("#!/bin/sh\n" + text + "\n")
            os.chmod(path, 0o755)
        self.source("one")

    def source(self, text):
        with open(self.top + "/gpu/a.cu", "w") as f:
            f.write(text)

    def validate(self, *args, code=0):
        r = subprocess.run([sys.executable, "tests/gpu/validate", *args], cwd=self.top, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, check=False,
                           env=dict(os.environ, PATH=self.top + "/bin:/usr/bin:/bin"))
        self.assertEqual(r.returncode, code, r.stderr)
        return r.stderr

    def record(self):
        """Returns (the whole record, its PTX lines)."""
        with open(self.top + "/tests/gpu/validated.txt") as f:
            text = f.read()
        return text, sources.ptx_lines(text)

    def assert_both(self):
        text, ptx = self.record()
        self.assertRegex(ptx[0], r"^compute_75 PTX on D: 15, 0 failed; 0 real pairs; driver 580.1, CUDA 13.0, 20")
        self.assertEqual(len(ptx), 1 + 3 + 7)  # variants, random settings, the emulator's functions; sanitizers
        self.assertIn("compute_75 PTX, memcheck: ERROR SUMMARY: 0 errors in 3 checks", ptx)
        for checks in ("9 checks of variant 0", "9 checks of variant 1", "6 checks of random settings"):
            self.assertIn("compute_75 PTX, racecheck: ERROR SUMMARY: 0 errors in " + checks, ptx)
            self.assertIn("\nracecheck: ERROR SUMMARY: 0 errors in %s\n" % checks, text)
        self.assertEqual(text.count("15, 0 failed"), 2)
        self.assertIn("table\n\n" + "\n".join(sources.sum_lines(sources.digests(self.top))), text)
        self.assertEqual(sources.sentence(self.top), ("gpu: sources are those validated on D, " +
                                                      re.search("^date: (.*)", text, re.M).group(1), True))

    def test_in_either_order(self):
        self.assertIn("takes these lines when", self.validate("--ptx75"))
        self.assertFalse(os.path.exists(self.top + "/tests/gpu/validated.txt"))
        self.validate()
        self.assert_both()
        shutil.rmtree(self.top + "/build")
        self.validate("--ptx75")
        self.assert_both()
        shutil.rmtree(self.top + "/build")
        self.validate()  # a new run keeps the lines of the same sources
        self.assert_both()

    def test_both_at_once(self):
        self.validate("--both")
        self.assert_both()
        with open(self.top + "/ran") as f:
            ran = f.read().splitlines()
        compared = [n for n, line in enumerate(ran) if "check_device --" in line and "--threads" in line]
        cleaned = [n for n, line in enumerate(ran) if line.startswith("sanitizer")]
        self.assertEqual((len(compared), len(cleaned)), (4, 2 * 12))
        self.assertLess(max(compared), min(cleaned))  # alone on the GPU
        self.assertLess(max(cleaned), ran.index("gate"))
        self.assertEqual(ran.count("gate"), 1)

    def test_two_devices(self):
        with open(self.top + "/bin/nvidia-smi", "a") as f:
            f.write("echo 'D, 580.1, 9.0'\n")
        self.validate("--both")
        self.assert_both()
        with open(self.top + "/ran") as f:
            ran = f.read().splitlines()
        self.assertEqual({line.endswith(" on 1") for line in ran if "--threads" in line}, {True})
        self.assertEqual(sum(" on " in line for line in ran), 4 + 2)  # and the functions of the emulator
        self.assertLess(max(n for n, line in enumerate(ran) if "--threads" in line), ran.index("gate"))

    def test_a_failure_is_shown_and_not_recorded(self):
        for program in ("validate/.*check_device --threads", "ptx75/.*--random 1 480", "ptx75/.*check_intrinsics",
                        "--quick --variant 1 --part 1 3"):
            with open(self.top + "/bad", "w") as f:
                f.write(program)
            said = self.validate("--both", code=1)
            self.assertIn("volume checkpoint, input mapped: speckle differs", said, program)
            self.assertIn("FAILED with 1", said)
            self.assertFalse(os.path.exists(self.top + "/tests/gpu/validated.txt"))
        os.unlink(self.top + "/bad")
        self.validate("--both")
        self.assert_both()

    def test_compiled_elsewhere(self):
        os.rename(self.top + "/bin/nvidia-smi", self.top + "/smi")
        self.validate("--both", "--compile", "90")
        self.assertFalse(os.path.exists(self.top + "/ran"))
        os.rename(self.top + "/smi", self.top + "/bin/nvidia-smi")
        for name in ("meson", "ninja"):
            os.unlink(self.top + "/bin/" + name)
        for folder in ("validate", "validate-ptx75"):  # only the compiled programs travel
            os.rename(self.top + "/build/%s/compiled" % folder, self.top + "/" + folder)
        shutil.rmtree(self.top + "/build")
        for folder in ("validate", "validate-ptx75"):
            os.makedirs(self.top + "/build/" + folder)
            os.rename(self.top + "/" + folder, self.top + "/build/%s/compiled" % folder)
        self.validate("--both", "--compiled")
        self.assert_both()
        os.unlink(self.top + "/tests/gpu/validated.txt")
        with open(self.top + "/bin/nvcc", "w") as f:
            f.write("#!/bin/sh\necho 'release 12.9, V12.9.1'\n")
        self.assertIn("build/validate/compiled: no programs of these sources, for sm_90 by CUDA 12.9",
                      self.validate("--both", "--compiled", code=1))
        self.source("two")
        with open(self.top + "/bin/nvcc", "w") as f:
            f.write("#!/bin/sh\necho 'release 13.0, V13.0.1'\n")
        self.assertIn("no programs of these sources", self.validate("--both", "--compiled", code=1))
        self.assertFalse(os.path.exists(self.top + "/tests/gpu/validated.txt"))

    def test_sources_of_both(self):
        self.validate("--ptx75")
        self.validate()
        self.source("two")
        self.validate()
        self.assertEqual(self.record()[1], [])
        self.source("three")
        before = self.record()
        self.assertIn("takes these lines when", self.validate("--ptx75"))
        self.assertEqual(self.record(), before)

    def test_slower_or_not_to_be_said_is_not_recorded(self):
        for code, exit_status in (("1", 1), ("75", 1), ("77", 0), ("0", 0)):
            with open(self.top + "/gate_exit", "w") as f:
                f.write(code)
            self.validate(code=exit_status)
            self.assertEqual(os.path.exists(self.top + "/tests/gpu/validated.txt"), exit_status == 0)
        self.assertIn("speed against a release: base abc; slower by more than 5 %: nothing\n", self.record()[0])

    def test_what_runs_without_translation_is_none(self):
        open(self.top + "/has_sass", "w").close()
        self.assertIn("without translation FAILED with 0", self.validate("--ptx75", code=1))


APT = """#!/bin/sh
case " $* " in
*" indextargets "*) . /etc/os-release; echo "Packages $VERSION_CODENAME main http://mirror/debian/";;
*" update "*) cat "${APT_LISTS:?}";;
*" download "*) cp "$APT_PACKAGE" . ;;
esac
"""


@unittest.skipUnless(importlib.util.find_spec("pip"), "there is no pip")
class Toolkit(unittest.TestCase):
    """Runs tests/gpu/toolkit with a mirror and wheels that look like the real ones."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.env = dict(os.environ, STIXEL_CUDA_CACHE=self.folder + "/cache", PIP_NO_INDEX="1",
                        PIP_FIND_LINKS=self.folder, PATH=self.folder + ":" + os.environ["PATH"],
                        APT_LISTS=os.devnull,
                        APT_PACKAGE=self.folder + "/toolkit/nvidia-cuda-toolkit_11.8.89_amd64.deb")
        with open(self.folder + "/apt-get", "w") as f:
            f.write(APT)
        os.chmod(self.folder + "/apt-get", 0o755)
        self.wheel("nvidia_cuda_runtime_cu11", "nvidia/cuda_runtime/include/cuda.h",
                   "nvidia/cuda_runtime/include/cuda_runtime_api.h", "nvidia/cuda_runtime/lib/libcudart.so.11.0")
        self.wheel("nvidia_cuda_nvcc_cu11", "nvidia/cuda_nvcc/include/crt/host_defines.h", "nvidia/cuda_nvcc/bin/ptxas")

    def wheel(self, name, *members):
        about = "%s-11.8.89.dist-info/" % name
        with zipfile.ZipFile("%s/%s-11.8.89-py3-none-any.whl" % (self.folder, name), "w") as z:
            z.writestr(about + "METADATA", "Metadata-Version: 2.1\nName: %s\nVersion: 11.8.89\n" % name)
            z.writestr(about + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            for member in members:
                z.writestr(member, member)

    def package(self, *without):
        inside = self.folder + "/toolkit/package"
        private = "usr/lib/nvidia-cuda-toolkit/"
        names = ["usr/bin/" + n for n in ("cudafe++", "fatbinary", "ptxas", "nvlink", "bin2c", "cuobjdump", "nvdisasm")]
        names += [private + n for n in ("bin/nvcc", "bin/cicc", "bin/crt/link.stub", "libdevice/libdevice.10.bc")]
        for name in set(names) - set(without):
            os.makedirs(os.path.dirname(os.path.join(inside, name)), exist_ok=True)
            with open(os.path.join(inside, name), "w") as f:
                f.write(name)
        os.makedirs(inside + "/DEBIAN")
        with open(inside + "/DEBIAN/control", "w") as f:
            f.write("Package: nvidia-cuda-toolkit\nVersion: 11.8.89\nArchitecture: amd64\nMaintainer: nobody\n"
                    "Description: none\n")
        subprocess.run(["dpkg-deb", "-b", "-Znone", inside, self.env["APT_PACKAGE"]], check=True,
                       stdout=subprocess.DEVNULL)

    def ask(self, *args, code=0):
        r = subprocess.run([os.path.join(HERE, "toolkit"), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True, env=self.env, check=False)
        self.assertEqual(r.returncode, code, r.stderr)
        return r.stdout.strip() if code == 0 else r.stderr.strip().splitlines()[-1]

    def cached(self):
        return [n for n in os.listdir(self.env["STIXEL_CUDA_CACHE"]) if not n.startswith(("lock", "fetched"))]

    def test_headers(self):
        folder = self.ask("--headers", "11.8")
        found = sorted(os.path.relpath(os.path.join(d, n), folder) for d, _, names in os.walk(folder) for n in names)
        self.assertEqual(found, ["include/crt/host_defines.h", "include/cuda.h", "include/cuda_runtime_api.h"])
        self.env["PIP_FIND_LINKS"] = "/nowhere"  # the toolkit is installed now
        self.assertEqual(self.ask("--headers", "11.8"), folder)
        self.assertEqual(self.cached(), [os.path.basename(folder)])

    def test_what_cannot_be_had(self):
        os.unlink(self.folder + "/nvidia_cuda_nvcc_cu11-11.8.89-py3-none-any.whl")
        self.assertRegex(self.ask("--headers", "11.8", code=77),
                         "CUDA 11.8 cannot be had: wheel nvidia-cuda-nvcc-cu11==11.8.89: .*No matching distribution")
        self.assertEqual(self.cached(), [])
        self.assertIn("no release 10.2", self.ask("10.2", code=64))
        self.assertIn("no release 12.9", self.ask("12.9", code=64))

    @unittest.skipUnless(os.path.exists("/etc/debian_version") and "ID=debian" in open("/etc/os-release").read(),
                         "packages come from Debian")
    def test_with_nvcc(self):
        self.package("usr/bin/ptxas")
        self.assertIn("has no /usr/bin/ptxas", self.ask("11.8", code=77))
        self.assertEqual(self.cached(), [])
        subprocess.run(["rm", "-r", self.folder + "/toolkit"], check=True)
        self.package()
        folder = self.ask("11.8")
        for name in ("bin/nvcc", "bin/crt/link.stub", "bin/ptxas", "nvvm/bin/cicc", "nvvm/libdevice/libdevice.10.bc",
                     "bin/nvcc.profile", "include/cuda.h", "lib64/libcudart_static.a"):
            self.assertTrue(os.path.exists(os.path.join(folder, name)), name)
        self.env["APT_LISTS"] = "/nowhere"
        self.assertEqual(self.ask("11.8"), folder)
        subprocess.run(["rm", "-r", folder], check=True)
        self.assertIn("CUDA 11.8 cannot be had: lists of Debian bookworm: ", self.ask("11.8", code=77))


if __name__ == "__main__":
    unittest.main(verbosity=2)
