"""Tests packaging/sbom.py: its output for packages made here, and that the validator of the SPDX project accepts it.

The validator, spdx-tools, is downloaded once from PyPI into ~/.cache/stixeld-spdx (STIXEL_SPDX_CACHE). STIXEL_SPDX can
name another SPDX file, such as that of a release, which is validated as well.
SPDX-License-Identifier: Apache-2.0
"""
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
WANTED = "spdx-tools>=0.8.2,<0.9"
NAMES = {
    "stixeld": "libc6 (>= 2.34), libinih1 (>= 53), libpng16-16 (>= 1.6.2), systemd | systemd-sysusers",
    "stixeld-cuda": "stixeld (= 0.2.0-1), libc6:any (>= 2.34)",
    "libstixel1": "libc6 (>= 2.34)",
}


def validator():
    """Returns (path of pyspdxtools, ''), or (None, reason why it is missing)."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME") or "/var/tmp", ".cache")
    cache = os.environ.get("STIXEL_SPDX_CACHE") or os.path.join(home, "stixeld-spdx")
    folder = os.path.join(cache, "%s-%d.%d" % (WANTED.split(">=")[1].split(",")[0], *sys.version_info[:2]))
    program = os.path.join(folder, "bin", "pyspdxtools")
    os.makedirs(cache, exist_ok=True)
    with open(os.path.join(cache, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(program):
            shutil.rmtree(folder, ignore_errors=True)
            for command in ([sys.executable, "-m", "venv", folder],
                            [folder + "/bin/pip", "-q", "--disable-pip-version-check", "--retries", "1", "install",
                             "--only-binary=:all:", WANTED]):
                r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                if r.returncode:
                    shutil.rmtree(folder, ignore_errors=True)
                    return None, "spdx-tools cannot be had: " + (r.stdout.strip().splitlines() or ["-"])[-1]
    return program, ""


@unittest.skipUnless(shutil.which("dpkg-deb"), "packages are made with dpkg-deb")
class Sbom(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, self.top)

    def path(self, name):
        return os.path.join(self.top, name)

    def package(self, name, depends):
        os.makedirs(self.path(name + "/DEBIAN"))
        with open(self.path(name + "/DEBIAN/control"), "w") as f:
            f.write("Package: %s\nVersion: 0.2.0-1\nArchitecture: amd64\nDepends: %s\nMaintainer: nobody\n"
                    "Description: none\n" % (name, depends))
        path = self.path(name + "_0.2.0-1_amd64.deb")
        subprocess.run(["dpkg-deb", "-Znone", "-b", self.path(name), path], check=True, stdout=subprocess.DEVNULL)
        return path

    def document(self):
        files = [self.package(*item) for item in NAMES.items()]
        for name in ("stixel-0.2.0-py3-none-manylinux_2_25_aarch64.whl", "stixeld-0.2.0.tar.xz"):
            files.append(self.path(name))
            with open(files[-1], "w") as f:
                f.write(name)
        return subprocess.run([sys.executable, os.path.join(SOURCE, "packaging", "sbom.py"), "0.2.0", *files],
                              check=True, stdout=subprocess.PIPE, text=True,
                              env=dict(os.environ, SOURCE_DATE_EPOCH="1795673551")).stdout

    def refused(self, program, text):
        """Returns the validator's complaints about a text, or '' if it is valid."""
        with open(self.path("of.spdx.json"), "w") as f:
            f.write(text)
        r = subprocess.run([program, "--infile", self.path("of.spdx.json")], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, check=False)
        self.assertIn(r.returncode, (0, 1), r.stdout)
        return r.stdout if r.returncode else ""

    def test_what_depends_on_what(self):
        said = json.loads(self.document())
        names = {p["SPDXID"]: p["name"] for p in said["packages"]}
        related = {(names.get(r["spdxElementId"], "document"), r["relationshipType"], names[r["relatedSpdxElement"]])
                   for r in said["relationships"]}
        cuda = "stixeld-cuda_0.2.0-1_amd64.deb"
        for one in [("document", "DESCRIBES", "stixeld-0.2.0.tar.xz"), (cuda, "DEPENDS_ON", "stixeld"),
                    (cuda, "DEPENDS_ON", "libc6"), (cuda, "STATIC_LINK", "cudart"),
                    ("stixeld_0.2.0-1_amd64.deb", "DEPENDS_ON", "libpng16-16"),
                    ("stixeld_0.2.0-1_amd64.deb", "DEPENDS_ON", "systemd")]:
            self.assertIn(one, related)
        self.assertEqual({r[1] for r in related if r[0] == "document"}, {"DESCRIBES"})

    def test_the_validator_takes_it(self):
        program, why = validator()
        if not program:
            self.skipTest(why)
        text = self.document()
        self.assertEqual(self.refused(program, text), "")
        # the validator finds faults: an element that is not defined, an invalid date
        self.assertIn("SPDXRef-nowhere", self.refused(program, text.replace(
            '"relatedSpdxElement": "SPDXRef-Package-cudart', '"relatedSpdxElement": "SPDXRef-nowhere')))
        self.assertIn("2026", self.refused(program, text.replace("2026-11-26T", "2026-11-26 ")))
        if "STIXEL_SPDX" in os.environ:
            with open(os.environ["STIXEL_SPDX"]) as f:
                self.assertEqual(self.refused(program, f.read()), "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
