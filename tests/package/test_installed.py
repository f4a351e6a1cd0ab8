"""Tests that each file that Meson installs is in exactly one Debian package: test_installed.py BUILD-FOLDER.

Without this test only the build of the packages notices it, with dh_missing, and takes minutes.
SPDX-License-Identifier: Apache-2.0
"""
import glob
import json
import os
import re
import sys
import unittest

SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = sys.argv.pop() if len(sys.argv) > 1 else os.environ["STIXEL_BUILD"]
# turn a path of this build, with any prefix, into the path in a package
PLACES = [(r"^/usr/(local/)?", "usr/"), (r"^/lib/", "usr/lib/"), (r"^/", ""), (r"/python3\.\d+/", "/python3/"),
          (r"/(site|dist)-packages/", "/dist-packages/")]


def patterns():
    """Returns {package: [(line, expression)]} of packaging/debian/*.install."""
    result = {}
    for path in glob.glob(os.path.join(SOURCE, "packaging", "debian", "*.install")):
        with open(path, encoding="utf-8") as f:
            lines = [line.strip() for line in f if line.strip() and not line.startswith("#")]
        result[os.path.basename(path)[:-8]] = [
            (line, re.compile(re.escape(line).replace(r"\*", "[^/]*") + "(/.*)?$")) for line in lines]
    return result


class Installed(unittest.TestCase):
    def test_each_file_is_in_one_package(self):
        with open(os.path.join(BUILD, "meson-info", "intro-installed.json"), encoding="utf-8") as f:
            files = sorted(set(json.load(f).values()))
        with open(os.path.join(BUILD, "meson-info", "intro-buildoptions.json"), encoding="utf-8") as f:
            prefix, = [o["value"] for o in json.load(f) if o["name"] == "prefix"]
        if prefix not in ("/usr", "/usr/local"):
            self.skipTest("the prefix of this build is %s" % prefix)
        self.assertGreater(len(files), 50)
        packages = patterns()
        for path in files:
            for place, name in PLACES:
                path = re.sub(place, name, path)
            found = [p for p, lines in packages.items() if any(e.match(path) for _, e in lines)]
            self.assertEqual(len(found), 1, "%s is in the packages %s: see packaging/debian/*.install" % (path, found))


if __name__ == "__main__":
    unittest.main(verbosity=2)
