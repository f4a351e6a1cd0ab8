#!/usr/bin/env python3
# Checks that keys named in messages exist: compares the texts of the product's C sources with the option table.
# Usage: test_key_names.py CONFIG_DUMP ROOT
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import subprocess
import sys
import unittest

DUMP, ROOT = sys.argv.pop(1), sys.argv.pop(1)
FOLDERS = ("stages", "config", "cpu", "gpu", "engines", "predict", "capture", "daemon")
# A C string with all its adjacent pieces. A string after #include also matches, with that word in front.
TEXT = re.compile(r'(#\s*include\s*)?"((?:[^"\\\n]|\\.)*(?:"\s*"(?:[^"\\\n]|\\.)*)*)"')
FILES = re.compile(r"\.(md|conf|h)$")


def wrong_names(text, sections):
    """Finds keys that the text names and the table does not have: SECTION.KEY, also followed by KEY = %, and
    [SECTION] KEY:."""
    section, wrong = None, []
    names = "|".join(sections)
    for m in re.finditer(r"(?<![\w/.%%])(?:(%s)\.)?([a-z]\w*)( = %%|)" % names, text):
        if m[1] and not FILES.search(m[0].strip(" =%")):
            section = m[1]
        elif not (section and m[3]):
            continue
        if m[2] not in sections[section]:
            wrong.append("%s.%s" % (section, m[2]))
    return wrong + [".".join(m) for m in re.findall(r"\[(%s)\] ([a-z]\w*):" % names, text)
                    if m[1] not in sections[m[0]]]


class KeyNames(unittest.TestCase):
    def setUp(self):
        out = subprocess.run([DUMP, "json", "source.kind=synthetic"], capture_output=True, text=True, check=True)
        self.sections = {section: {k for k, row in keys.items() if "now" not in row}
                         for section, keys in json.loads(out.stdout).items()}

    def test_the_search_finds_wrong_names(self):
        for text, wrong in (("stereo.p1%s = %d and stereo.p2%s = %d", []), ("see docs/develop/model.md", []),
                            ("camera.fx = %g, fy = %g: found %s = %d", []), ("wants stereo.disparities = 64", []),
                            ("stixels.p_gravity = %g and p_below_ground = %g", ["stixels.p_gravity",
                                                                                "stixels.p_below_ground"]),
                            ("model.sky_grey = %d, saturated = %d", ["model.saturated"]),
                            ("%s: [log] levels: %s", []), ("%s: [stixels] cut: %s", ["stixels.cut"])):
            self.assertEqual(wrong_names(text, self.sections), wrong)

    def test_keys_in_messages_exist(self):
        wrong, named = [], 0
        for folder in FOLDERS:
            for here, _, names in os.walk(os.path.join(ROOT, folder)):
                for name in sorted(names):
                    if not name.endswith((".c", ".h", ".def", ".cu", ".cuh")):
                        continue
                    with open(os.path.join(here, name), encoding="utf-8") as f:
                        source = f.read()
                    for include, text in TEXT.findall(source):
                        text = "" if include else re.sub(r'"\s*"', "", text)
                        named += any(s + "." in text for s in self.sections)
                        wrong += ["%s: %s in '%s'" % (name, key, text) for key in wrong_names(text, self.sections)]
        self.assertEqual(wrong, [])
        self.assertGreater(named, 50)


unittest.main(verbosity=2)
