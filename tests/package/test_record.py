"""Tests the tables of what was tried: tests/package/record on an output folder of tools/package, and
tests/toolchains/table.py.

SPDX-License-Identifier: Apache-2.0
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
FILES = ["tests/package/record", "tests/toolchains/table.py", "tests/gpu/validated.txt"]
PACKAGES = "# Packages\n\n%s\n%s\n" % tuple(
    "<!-- %s: made by tests/package/record -->\n<!-- end of %s -->" % (n, n) for n in ("tried", "sizes"))
PLACES = "# Where\n\n<!-- tried: made by tests/toolchains/table.py -->\n<!-- end of tried -->\n\nMore.\n"
INFO = """Architecture: amd64
Installed-Build-Depends:
 gcc (= 4:12.2.0-3),
 gcc-12 (= 12.2.0-14+deb12u1),
 gcc-12-base (= 12.2.0-14+deb12u1),
 libc6 (= 2.36-9+deb12u10),
"""


class Tables(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, self.top)
        for name in FILES:
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            shutil.copy(os.path.join(SOURCE, name), self.path(name))
        self.write("docs/use/packages.md", PACKAGES)
        self.write("docs/use/portability.md", PLACES)

    def path(self, name):
        return os.path.join(self.top, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as f:
            f.write(text)

    def read(self, name):
        with open(self.path(name)) as f:
            return f.read()

    def run_it(self, name, *args, code=0):
        r = subprocess.run([sys.executable, self.path(name), *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, check=False)
        self.assertEqual(r.returncode, code, r.stdout)
        return r.stdout

    def add(self, *entry):
        self.run_it("tests/toolchains/table.py", "add", *entry)
        self.run_it("tests/toolchains/table.py", "write")

    def row(self, *begins):
        """Returns the cells after distribution, glibc and compiler of the row that begins with these cells."""
        rows = [line.strip("| ").split(" | ") for line in self.read("docs/use/portability.md").splitlines()]
        found, = [r for r in rows if r[:len(begins)] == list(begins)]
        return found[3:]

    def packages(self, folder, version, *result):
        self.write(folder + "/result", "".join("%s\t%s\n" % pair for pair in result))
        self.write(folder + "/stixeld_%s_amd64.buildinfo" % version, INFO)
        names = ["stixeld_%s_amd64.deb" % version, "stixeld-dbgsym_%s_amd64.ddeb" % version, "stixeld_%s.dsc" % version]
        for name in names:
            self.write(folder + "/" + name, name)
        self.write(folder + "/SHA256SUMS", "".join("%064x  %s\n" % (i, name) for i, name in enumerate(names)))
        return self.path(folder)

    def test_the_furthest_of_a_place(self):
        gcc = ("Debian 12", "2.36", "gcc 12.2.0")
        self.add(*gcc, "amd64", "-", "one", "tested", "93", "more")
        self.add(*gcc, "amd64", "-", "two", "built", "", "")
        self.add(*gcc, "amd64", "12.9", "three", "compiled", "host side", "")
        self.add("Debian 12", "2.36", "gcc 9.3.0", "arm64", "-", "one", "failed", "", "")
        cells = self.row(*gcc)
        self.assertEqual((cells[0], cells[1], cells[5]), ("tested (93)", "not tried", "compiled (host side)"))
        self.assertEqual(self.row("Debian 12", "2.36", "gcc 9.3.0")[1], "**failed**")
        self.assertLess(*(self.read("docs/use/portability.md").index(c) for c in ("gcc 9.3.0", "gcc 12.2.0")))
        # an entry of another minor version replaces the old one
        self.add("Debian 12", "2.36", "gcc 12.3.0", "amd64", "-", "one", "tested", "92, **1 failed**", "")
        self.assertEqual(self.row("Debian 12", "2.36", "gcc 12.3.0")[0], "tested (92, **1 failed**)")
        self.assertEqual(self.row(*gcc)[0], "built")
        self.assertTrue(self.read("docs/use/portability.md").endswith("-->\n\nMore.\n"))

    def test_the_document_is_of_the_record(self):
        self.add("Debian 12", "2.36", "gcc 12.2.0", "amd64", "-", "one", "tested", "93", "")
        self.run_it("tests/toolchains/table.py", "check")
        self.write("docs/use/portability.md", self.read("docs/use/portability.md").replace("tested (93)", "installed"))
        self.assertIn("table.py write", self.run_it("tests/toolchains/table.py", "check", code=1))

    def test_what_the_packages_say(self):
        life = "a reader across the upgrade got 173 and 10 frames; installed, run, upgraded and purged"
        folder = self.packages("a", "0.2.0-1~deb12", ("seconds to build", "90"), ("seconds to build", "80"),
                               ("the same files", "10"), ("remarks of lintian", "0"), ("life", life))
        self.write("a/vm.log", "upgrade took 22.1 s; a reader got 44 frames of the old daemon and 7 of the new, 1.8 s "
                   "without\n")
        self.run_it("tests/package/record", folder)
        self.assertEqual(self.row("Debian 12", "2.36", "gcc 12.2.0")[0], "installed")
        text = self.read("docs/use/packages.md")
        self.assertIn("| Debian 12 | amd64 | 0.2.0-1~deb12 | 90 and 80 | 10 files, the same bytes | no remark | yes; a "
                      "reader got 173 frames of the old daemon and 10 of the new | yes; an upgrade of 22.1 s, 44 and 7 "
                      "frames, 1.8 s without |\n", text)
        self.assertIn("| stixeld | Debian 12 | amd64 | 31 | %064x |\n" % 0, text)
        self.assertIn("| stixeld-dbgsym | Debian 12 | amd64 |", text)
        # another release gets its own row; the same release again replaces its row
        other = self.packages("b", "0.2.0-1~deb13", ("seconds to build", "70"))
        self.run_it("tests/package/record", other)
        self.run_it("tests/package/record", other)
        text = self.read("docs/use/packages.md")
        self.assertEqual([text.count("| Debian 12 | amd64 |"), text.count("| Debian 13 | amd64 |")], [3, 3])
        self.assertIn("| Debian 13 | amd64 | 0.2.0-1~deb13 | 70 | one build | not run | no | no |\n", text)
        self.assertEqual(self.row("Debian 13", "2.36", "gcc 12.2.0")[0], "built")


if __name__ == "__main__":
    unittest.main(verbosity=2)
