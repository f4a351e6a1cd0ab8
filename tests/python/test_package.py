"""The wheel, in a separate virtual environment without network; an incompatible libstixel; types; docs.

SPDX-License-Identifier: Apache-2.0
"""
import ast
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import support
import stixel
from support import SMALL

PACKAGE = os.path.join(support.SOURCE, "python")
VERSION = os.environ["STIXEL_VERSION"]
IN_CI = bool(os.environ.get("CI"))


def have(*command):
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


class Package(support.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, self.top)

    def need(self, good, what):
        if not good and IN_CI:
            self.fail(what + " is not installed")
        if not good:
            self.skipTest(what + " is not installed")

    def run_it(self, *command, **more):
        r = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **more)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        return r.stdout

    def test_places_are_those_of_the_library(self):
        program = ("import os\nfrom stixel._library import places\n"
                   "print(*places('stixeld'))\nos.environ['XDG_RUNTIME_DIR'] = '/somewhere/\xe9'\n"
                   "print(*places('stixel-bridge'))\nos.environ['XDG_RUNTIME_DIR'] = 'relative'\n"
                   "print(*places('x' * 4096))")
        env = dict(os.environ, PYTHONPATH=support.MODULE, PYTHONUTF8="1")
        env.pop("XDG_RUNTIME_DIR", None)
        own = "/run/user/%d/" % os.geteuid()
        self.assertEqual(self.run_it(sys.executable, "-c", program, env=env).split("\n"),
                         ["/run/stixeld %sstixeld" % own,
                          "/run/stixel-bridge /somewhere/\xe9/stixel-bridge %sstixel-bridge" % own, "", ""])

    def test_wheel(self):
        self.need(have(sys.executable, "-c", "import setuptools, pip, wheel, venv"),
                  "pip, setuptools, wheel or venv (Debian: python3-pip python3-setuptools python3-wheel python3-venv)")
        env = self.without_network()
        # a copy, so that nothing is left in the tree, with the tree's meson.build in the place where setup.py looks for
        # it
        shutil.copytree(PACKAGE, self.top + "/tree/python",
                        ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
        shutil.copy(os.path.join(support.SOURCE, "meson.build"), self.top + "/tree")
        self.run_it(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "-w", self.top,
                    self.top + "/tree/python", env=env)
        wheel, = glob.glob(self.top + "/*.whl")
        # pure Python: one wheel for all platforms
        self.assertEqual(os.path.basename(wheel), "stixel-%s-py3-none-any.whl" % VERSION)
        sources = {os.path.relpath(p, PACKAGE + "/src") for p in glob.glob(PACKAGE + "/src/**", recursive=True)
                   if os.path.isfile(p) and "__pycache__" not in p and ".egg-info" not in p}
        with zipfile.ZipFile(wheel) as z:
            names = {n for n in z.namelist() if ".dist-info/" not in n}
        self.assertEqual(names, sources)
        # simulates a library in a folder of the system
        env["LD_LIBRARY_PATH"] = os.path.dirname(os.environ["STIXEL_LIBRARY"])
        self.assertEqual(self.install_and_read(wheel, env), "libstixel.so.1")

    def test_wheel_that_brings_the_library(self):
        self.need(have(sys.executable, "-c", "import setuptools, pip, wheel, venv") and have("meson", "--version"),
                  "pip, setuptools, wheel, venv or meson")
        env = self.without_network()
        self.run_it(os.path.join(support.SOURCE, "tools", "wheel"), "--here", "--output", self.top, env=env)
        wheel, = glob.glob(self.top + "/*.whl")
        self.assertRegex(os.path.basename(wheel), r"^stixel-%s-py3-none-manylinux_2_\d+_%s.whl$" % (
            re.escape(VERSION), os.uname().machine))
        with zipfile.ZipFile(wheel) as z:
            for name in ("stixel/libstixel.so.1", "stixel/libstixel-recording.so.1"):
                self.assertIn(name, z.namelist())
                self.assertNotIn(os.fsencode(support.SOURCE), z.read(name))
        self.assertIn("/venv/", self.install_and_read(wheel, env))
        self.audited(wheel)
        program = "import sys, stixel\ntry: stixel.Recording(sys.executable)\nexcept stixel.NotStixel as e: print(e)"
        self.assertIn("is not a recording", self.run_it(self.top + "/venv/bin/python", "-c", program, env=env, cwd="/"))

    def audited(self, wheel):
        """Compares the glibc of the wheel's tag with what auditwheel finds. auditwheel knows not every version."""
        python = os.environ.get("STIXEL_BRIDGE_PYTHON", "")
        if python and have(python, "-c", "import auditwheel"):
            said = " ".join(self.run_it(python, "-m", "auditwheel", "show", wheel).split())
            found = re.search(r'consistent with the following platform tag: "manylinux_2_(\d+)_', said)
            self.assertTrue(found, said)
            own = int(re.search(r"manylinux_2_(\d+)_", wheel).group(1))
            self.assertIn(int(found.group(1)) - own, (0, 1), said)

    def without_network(self):
        env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "STIXEL_LIBRARY",
                                                             "STIXEL_RECORDING_LIBRARY")}
        env.update(PIP_NO_INDEX="1", PIP_NO_DEPS="1", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_ROOT_USER_ACTION="ignore")
        return env

    def install_and_read(self, wheel, env):
        """Installs the wheel in a virtual environment and reads a frame of a daemon. Returns the library's path."""
        # NumPy and pip are those of the system, because there is no network
        self.run_it(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", self.top + "/venv")
        python = self.top + "/venv/bin/python"
        self.run_it(python, "-m", "pip", "install", wheel, env=env)
        d = self.daemon("wheel", *SMALL, "-s", "source.fps=20")
        out = self.run_it(python, "-c", "import sys, stixel; f = next(iter(stixel.open(sys.argv[1]))); print("
                          "stixel.__version__, stixel.library_version(), len(f.stixels) > 0, stixel.__file__, "
                          "stixel._library.library().path)", d.name, env=env, cwd="/")
        self.assertEqual(out.split()[:3], [VERSION, VERSION, "True"])
        self.assertIn("/venv/", out.split()[3])
        self.assertEqual(self.run_it(python, "-m", "stixel", "--version", env=env, cwd="/"), "stixel %s\n" % VERSION)
        return out.split()[4]

    def test_listed_for_meson(self):
        with open(PACKAGE + "/meson.build", encoding="utf-8") as f:
            text = f.read()
        sources = re.search(r"foreach name : \[(.*?)\]", text, re.S).group(1)
        listed = set(re.findall(r"'(_\w+)'", sources))
        self.assertEqual(listed, {os.path.basename(p)[:-3] for p in glob.glob(PACKAGE + "/src/stixel/*.py")})
        with open(PACKAGE + "/METADATA.in", encoding="utf-8") as f:
            metadata = f.read()
        with open(PACKAGE + "/setup.cfg", encoding="utf-8") as f:
            setup = f.read()
        for text, pattern in (("Summary: ", r"description = (.*)"), ("Requires-Python: ", r"python_requires = (.*)"),
                              ("Requires-Dist: ", r"install_requires =\n    (.*)"), ("License: ", r"license = (.*)")):
            self.assertIn(text + re.search("(?m)^" + pattern + "$", setup).group(1) + "\n", metadata)

    def test_a_library_that_is_too_old(self):
        with open(self.top + "/old.c", "w", encoding="utf-8") as f:
            f.write('const char *stixel_version(void) { return "0.0.9"; }\nint stixel_open(void) { return 0; }\n')
        self.run_it(*os.environ["STIXEL_CC"].split(), "-shared", "-fPIC", self.top + "/old.c", "-o",
                    self.top + "/old.so")
        program = "import stixel\ntry: stixel.open('x')\nexcept stixel.LibraryError as e: print(e)"
        out = self.run_it(sys.executable, "-c", program, env=dict(os.environ, STIXEL_LIBRARY=self.top + "/old.so",
                                                                  PYTHONPATH=support.MODULE))
        self.assertRegex(out, r"^/\S+/old.so \(libstixel 0\.0\.9\) lacks what this module needs "
                              r"\(.*stixel_open_path.*\): install the libstixel of the module's release, or a newer "
                              "one\n$")

    def test_types(self):
        mypy = shutil.which("mypy")
        self.need(mypy, "mypy (Debian package mypy)")
        # checked for the oldest supported Python; some examples need modules that have no types or are not installed
        untyped = ("plot.py", "external.py", "_pairs.py", "robot.py", "_bag.py", "rerun_log.py", "open3d_view.py")
        typed = [p for p in support.examples() if not p.endswith(untyped)]
        out = self.run_it(mypy, "--strict", "--python-version", "3.8", "--cache-dir", self.top + "/cache",
                          "--explicit-package-bases", support.MODULE + "/stixel", *typed,
                          env=dict(os.environ, MYPYPATH=support.MODULE), cwd=self.top)
        sources = len(glob.glob(support.MODULE + "/stixel/*.py")) + len(typed)
        self.assertEqual(out, "Success: no issues found in %d source files\n" % sources)

    def test_python_3_8_can_read_it(self):
        for path in glob.glob(PACKAGE + "/src/stixel/*.py"):
            with open(path, encoding="utf-8") as f:
                ast.parse(f.read(), path, feature_version=(3, 8))

    def test_every_public_thing_is_explained(self):
        for name in stixel.__all__:
            thing = getattr(stixel, name)
            if not isinstance(thing, type) and not callable(thing):
                continue  # the dtypes
            self.assertTrue((thing.__doc__ or "").strip(), name)
            for member in vars(thing) if isinstance(thing, type) and thing.__module__.startswith("stixel") else ():
                if not member.startswith("_") and isinstance(vars(thing)[member], (property, type(have))):
                    self.assertTrue((getattr(thing, member).__doc__ or "").strip(), "%s.%s" % (name, member))

    def test_docs_speak_of_what_there_is(self):
        with open(os.path.join(support.SOURCE, "docs", "use", "python.md"), encoding="utf-8") as f:
            text = f.read()
        for kind, names in ((stixel, re.findall(r"`stixel\.(\w+)", text)),
                            (stixel.Frame, re.findall(r"`frame\.(\w+)", text)),
                            (stixel.Reader, re.findall(r"`reader\.(\w+)", text)),
                            (stixel.Recording, re.findall(r"`recording\.(\w+)\(", text) * 2)):
            self.assertGreater(len(names), 3)
            for name in names:
                self.assertTrue(hasattr(kind, name), "%s.%s" % (kind.__name__, name))
        for name in stixel.__all__:  # the documentation names every exception and every method of a reader
            if isinstance(getattr(stixel, name), type) and issubclass(getattr(stixel, name), stixel.StixelError):
                self.assertIn("`%s`" % name, text)
        for member in vars(stixel.Reader):
            if not member.startswith("_"):
                self.assertIn(member, text)
        for member in vars(stixel.Frame):
            if not member.startswith("_"):
                self.assertIn(member, text)


if __name__ == "__main__":
    unittest.main()
