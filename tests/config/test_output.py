#!/usr/bin/env python3
# What the option table prints, read by other programs than ours: JSON, INI, the man page.
# SPDX-License-Identifier: Apache-2.0
import configparser
import json
import re
import shutil
import subprocess
import sys
import unittest

DUMP = sys.argv.pop(1)
NASTY = '/data/a "b" \\c\u00e9 #d'


def dump(what, *overrides):
    out = subprocess.run([DUMP, what, "source.kind=synthetic", *overrides], capture_output=True, text=True, check=True)
    return out.stdout


class Output(unittest.TestCase):
    def setUp(self):
        self.json = json.loads(dump("json"))
        self.keys = [(s, k) for s, keys in self.json.items() for k in keys]

    def test_json_has_every_value(self):
        self.assertGreater(len(self.keys), 60)
        self.assertEqual(list(self.json),
                         ["source", "camera", "stereo", "filters", "road", "vehicle", "stixels", "semantics",
                          "external", "engine", "output", "power", "realtime", "log"])
        self.assertEqual(self.json["output"]["slots"], {"value": 8, "default": 8, "unit": "frames",
                                                          "restart": True})
        self.assertEqual(self.json["source"]["kind"], {"value": "synthetic", "default": None, "restart": True})
        self.assertEqual(self.json["camera"]["baseline_m"]["unit"], "m")
        self.assertIs(self.json["filters"]["smooth"]["value"], True)
        self.assertIs(self.json["log"]["levels"]["restart"], False)

    def test_what_changes_live(self):
        """Of each key the JSON of values, the JSON of options and the help say the same."""
        live = ["%s.%s" % k for k in self.keys if not self.json[k[0]][k[1]]["restart"]]
        self.assertEqual([k for k, o in json.loads(dump("options")).items() if o["change"] != "restart"], live)
        self.assertEqual(" ".join(dump("help").split()).count("; changes live"), len(live))  # it may wrap

    def test_json_escapes(self):
        changed = json.loads(dump("json", "source.path=" + NASTY, "camera.cx=0.1", "stereo.min_disparity=-128"))
        self.assertEqual(changed["source"]["path"]["value"], NASTY)
        self.assertEqual(changed["camera"]["cx"]["value"], 0.1)
        self.assertEqual(changed["stereo"]["min_disparity"]["value"], -128)

    def test_configuration_is_ini(self):
        ini = configparser.ConfigParser(interpolation=None, comment_prefixes=("#", ";"))
        ini.read_string(dump("config", "source.path=" + NASTY))
        self.assertEqual([(s, k) for s in ini.sections() for k in ini[s]], self.keys)
        self.assertEqual(ini["source"]["path"], NASTY)
        self.assertEqual(ini["camera"]["baseline_m"], "0.54")

    def test_help_names_every_key_once(self):
        help_text = dump("help")
        for section in self.json:
            self.assertEqual(help_text.count("[%s] " % section) >= 1, True)
        named = re.findall(r"^  ([a-z]\w*) ", help_text, re.M)
        self.assertEqual(named, [k for _, k in self.keys])
        self.assertIn("2..1024 frames, a power of two; default 8", help_text)
        self.assertLess(max(map(len, help_text.splitlines())), 80)

    def test_help_says_what_a_default_stands_for(self):
        text = " ".join(dump("help").split())
        for key in ("p1", "p2", "p1_vertical", "p2_vertical", "sigma_space", "sigma_range"):
            self.assertRegex(text, r" %s [^\[;]*;[^;]*; default 0 \([1-9]\d* with the other defaults\)" % key)

    @unittest.skipUnless(shutil.which("scdoc"), "scdoc is not installed")
    def test_man_page(self):
        roff = subprocess.run(["scdoc"], input=dump("man"), capture_output=True, text=True, check=True)
        self.assertEqual(roff.stderr, "")
        text = re.sub(r"\\f[BIRP]|\\&", "", roff.stdout).replace("\\-", "-")
        self.assertNotRegex(text, r"\\\[\w*\\")  # a broken escape
        for section in self.json:
            self.assertIn("[%s]" % section, text)
        for _, key in self.keys:
            self.assertRegex(text, r"(?m)^%s = " % key)


unittest.main(verbosity=2)
