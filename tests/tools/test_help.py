# Tests --help and --help-keys of the programs that take a configuration: short, narrow, and every key in its section.
# SPDX-License-Identifier: Apache-2.0
import configparser
import re
import unittest

from support import run

ALL = ["preset", "source", "camera", "stereo", "filters", "road", "vehicle", "stixels", "motion", "semantics",
       "external", "engine", "output", "power", "realtime", "log"]
# Sections that each program uses.
READS = {
    "stixeld": ALL,
    "stixel-process": ["preset", "camera", "stereo", "filters", "road", "stixels", "semantics", "engine"],
    "stixel-bench": ["preset", "source", "camera", "stereo", "filters", "road", "stixels", "motion", "engine", "power"],
}


def sections_of(text):
    return re.findall(r"(?m)^\[(\w+)\]", text)


def keys_of(text):
    return re.findall(r"(?m)^  ([a-z]\w*)(?:  |$)", text)


class Help(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        ini = configparser.ConfigParser(interpolation=None, comment_prefixes=("#", ";"))
        ini.read_string(run("stixeld", "--print-config", "-s", "source.kind=synthetic").stdout)
        cls.keys = {s: list(ini[s]) for s in ini.sections()}

    def ask(self, *args, code=0):
        r = run(*args)
        self.assertEqual(r.returncode, code, r.stderr)
        for line in r.stdout.splitlines():
            self.assertLessEqual(len(line), 80, line)
        return r.stderr if code else r.stdout

    def test_help_fits(self):
        for name, sections in READS.items():
            with self.subTest(name):
                text = self.ask(name, "--help")
                self.assertLessEqual(len(text.splitlines()), 60)
                self.assertIn("--help-keys [SECTION]", text)
                self.assertIn("of the sections " + ", ".join(sections), re.sub(r"\s+", " ", text))
                self.assertNotIn("p_gravity", text)

    def test_all_keys(self):
        self.assertEqual(list(self.keys), ALL)
        for name, sections in READS.items():
            with self.subTest(name):
                text = self.ask(name, "--help-keys")
                self.assertEqual(sections_of(text), sections)
                self.assertEqual(keys_of(text), [k for s in sections for k in self.keys[s]])
                unused = ", ".join(s for s in ALL if s not in sections)
                self.assertEqual("not used by %s: %s" % (name, unused) in re.sub(r"\s+", " ", text), name != "stixeld")

    def test_one_section(self):
        for name, sections in READS.items():
            for section in ALL:
                for args in (["--help-keys", section], ["--help-keys=" + section]):
                    text = self.ask(name, *args)
                    self.assertEqual(sections_of(text), [section])
                    self.assertEqual(keys_of(text), self.keys[section])
                    self.assertEqual("not used by" in text, section not in sections)
        # a long list of allowed values is broken between its words
        text = re.sub(r"\s+", " ", self.ask("stixeld", "--help-keys", "semantics"))
        self.assertIn("default road:ground sidewalk:ground building", text)
        self.assertIn("motorcycle bicycle", text)

    def test_constants_of_the_models(self):
        """The constants are in no list of keys or sections. A user gets them by asking for their section by name."""
        for name in READS:
            self.assertNotIn("model", sections_of(self.ask(name, "--help-keys")))
            self.assertNotRegex(self.ask(name, "--help-keys", "sterio", code=64), r"allowed .*\bmodel\b")
            text = self.ask(name, "--help-keys", "model")
            self.assertEqual(sections_of(text), ["model"])
            self.assertIn("p_gravity", keys_of(text))
            self.assertNotIn("not used by", text)

    def test_unknown_section(self):
        sections = "allowed preset, source, camera,"
        for args, said in ((["sterio"], "unknown section 'sterio' (did you mean 'stereo'?), " + sections),
                           (["p_gravity"], "unknown section 'p_gravity' (did you mean 'model'?), " + sections),
                           (["xyzzyx"], "unknown section 'xyzzyx', " + sections),
                           (["road", "log"], "--help-keys: unexpected argument 'log'; try ")):
            for name in READS:
                self.assertIn(said, self.ask(name, "--help-keys", *args, code=64))
        self.assertIn("unexpected argument 'road'", self.ask("stixeld", "--help-keys=log", "road", code=64))

    def test_programs_without_keys(self):
        self.assertIn("unknown option --help-keys", self.ask("stixelctl", "--help-keys", code=64))
        self.assertNotIn("--help-keys", self.ask("stixelctl", "--help"))


if __name__ == "__main__":
    unittest.main()
