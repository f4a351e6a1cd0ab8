#!/usr/bin/env python3
# Tests that other programs can read the output of the option table: JSON, INI, the man page.
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
        # Keys that the help shows: all except those of [model] and their earlier names.
        self.all = [(s, k) for s, keys in self.json.items() for k, row in keys.items() if "now" not in row]
        self.keys = [(s, k) for s, k in self.all if s != "model"]

    def test_json_has_every_value(self):
        self.assertGreater(len(self.keys), 60)
        self.assertEqual(list(self.json),
                         ["preset", "source", "camera", "stereo", "filters", "road", "vehicle", "stixels", "motion",
                          "semantics", "external", "engine", "output", "power", "realtime", "log", "model"])
        self.assertEqual(self.json["output"]["slots"], {"value": 8, "default": 8, "unit": "frames",
                                                          "restart": True})
        self.assertEqual(self.json["source"]["kind"], {"value": "synthetic", "default": None, "restart": True})
        self.assertEqual(self.json["camera"]["baseline_m"]["unit"], "m")
        self.assertIs(self.json["filters"]["smooth"]["value"], True)
        self.assertIs(self.json["log"]["levels"]["restart"], False)

    def test_what_changes_live(self):
        """The JSON of values, the JSON of options and the help agree for each key."""
        live = ["%s.%s" % k for k in self.keys if not self.json[k[0]][k[1]]["restart"]]
        options = json.loads(dump("options"))
        for section, keys in self.json.items():
            for key, row in keys.items():
                self.assertEqual(options["%s.%s" % (section, key)]["change"] == "restart", row["restart"])
        self.assertEqual(" ".join(dump("help").split()).count("; changes live"), len(live))  # the line may wrap

    def test_constants_of_the_models(self):
        """A constant works once under its own name and once under its earlier name, with one value. It is printed if
        it is not the default."""
        before = {row["now"]: (s, k) for s, keys in self.json.items() for k, row in keys.items() if "now" in row}
        self.assertEqual(["model." + k for k in self.json["model"]], list(before))
        for name, (section, key) in before.items():
            self.assertEqual("model." + key, name)
            self.assertNotEqual(section, "model")
            row = dict(self.json[section][key])
            self.assertEqual((row.pop("now"), row), (name, self.json["model"][key]))
        for order in ("stixels.p_order=0.3", "model.p_order=0.3"):
            text = dump("config", order)
            self.assertIn("\n[model]\n", text)
            self.assertEqual(re.findall(r"(?m)^(\w+) = ", text[text.index("[model]"):]), ["p_order"])
            changed = json.loads(dump("json", order))
            self.assertEqual([changed[s]["p_order"]["value"] for s in ("model", "stixels")], [0.3, 0.3])


    def test_json_escapes(self):
        changed = json.loads(dump("json", "source.path=" + NASTY, "camera.cx=0.1", "stereo.min_disparity=-128"))
        self.assertEqual(changed["source"]["path"]["value"], NASTY)
        self.assertEqual(changed["camera"]["cx"]["value"], 0.1)
        self.assertEqual(changed["stereo"]["min_disparity"]["value"], -128)

    def test_configuration_is_ini(self):
        for what, keys in (("all", self.all), ("config", self.keys)):
            ini = configparser.ConfigParser(interpolation=None, comment_prefixes=("#", ";"))
            ini.read_string(dump(what, "source.path=" + NASTY))
            self.assertEqual([(s, k) for s in ini.sections() for k in ini[s]], keys)
        self.assertEqual(ini["source"]["path"], NASTY)
        self.assertEqual(ini["camera"]["baseline_m"], "0.54")

    def test_help_names_every_key_once(self):
        help_text = dump("help")
        for section in self.json:
            self.assertEqual(help_text.count("[%s] " % section) >= 1, section != "model")
        named = re.findall(r"^  ([a-z]\w*) ", help_text, re.M)
        self.assertEqual(named, [k for _, k in self.keys])
        self.assertIn("2..1024 frames, a power of two; default 8", help_text)
        self.assertLess(max(map(len, help_text.splitlines())), 80)

    def test_help_says_what_a_default_stands_for(self):
        text = " ".join(dump("help").split())
        for key in ("p1", "p2", "p1_vertical", "p2_vertical"):
            self.assertRegex(text, r" %s [^\[;]*;[^;]*; default 0 \([1-9]\d* with the other defaults\)" % key)

    @unittest.skipUnless(shutil.which("scdoc"), "scdoc is not installed")
    def test_man_page(self):
        roff = subprocess.run(["scdoc"], input=dump("man"), capture_output=True, text=True, check=True)
        self.assertEqual(roff.stderr, "")
        text = re.sub(r"\\f[BIRP]|\\&", "", roff.stdout).replace("\\-", "-")
        self.assertNotRegex(text, r"\\\[\w*\\")  # matches a broken escape
        for section in self.json:
            self.assertIn("[%s]" % section, text)
        self.assertEqual(sorted(re.findall(r"(?m)^(\w+) = ", text)), sorted(key for _, key in self.keys))


unittest.main(verbosity=2)
