# The configuration of stixel-bridge: its keys are read, and every error is reported with its line.
# SPDX-License-Identifier: Apache-2.0
import io
import os
import re
import tempfile
import unittest
from unittest import mock

import support  # noqa: F401

from stixel_bridge import config, program, sinks, text
from stixel_bridge.fail import CONFIG, UNAVAILABLE, Fail
from stixel_bridge.options import Option, parse, shown
from stixel_bridge.sink import Sink

GOOD = """# comment
[bridge]
name = site ; behind
host = robot

[instance front]
x_m = 1.5
[instance rear]
yaw_deg = 180
[rig around]
instances = front, rear
window_ms = 20
[sink a]
kind = plain
port = 7
rate_hz = 10
[sink b]
kind = plain
instances = rear
"""


class Plain(Sink):
    OPTIONS = [Option("port", "integer", 1, "a port", 1, 65535), Option("where", "file", None, "a file")]


class Needy(Sink):
    PACKAGES = ("no_such_package_at_all", "json", "zenoh_of_nobody")


class Config(unittest.TestCase):
    def setUp(self):
        known = {"plain": Plain, "needy": Needy}
        for patch in (mock.patch.dict(sinks.KINDS, {name: name for name in known}, clear=True),
                      mock.patch.object(sinks, "load", known.get)):
            patch.start()
            self.addCleanup(patch.stop)

    def faults(self, content):
        with self.assertRaises(Fail) as caught:
            config.parse_text("f", content)
        return caught.exception.code, str(caught.exception).splitlines()

    def test_everything_is_read(self):
        c = config.parse_text("f", GOOD)
        self.assertEqual((c.bridge["name"], c.bridge["host"]), ("site", "robot"))
        self.assertEqual((list(c.instances), c.instances["front"]["x_m"], c.instances["rear"]["yaw_deg"]),
                         (["front", "rear"], 1.5, 180))
        self.assertEqual(dict(c.rigs["around"]), {"instances": ["front", "rear"], "window_ms": 20, "unseen_m": 5})
        a, b = c.sinks
        self.assertEqual((a.name, a.where, a.options["port"], a.options["rate_hz"], a.options["queue"]),
                         ("a", "f:13", 7, 10, 1))
        self.assertEqual(b.options["instances"], ["rear"])

    def test_without_an_instance_there_is_the_default_one(self):
        c = config.parse_text("f", "[sink a]\nkind = plain\n")
        self.assertEqual(list(c.instances), ["default"])
        self.assertTrue(c.bridge["host"])

    def test_every_fault_has_its_line(self):
        code, lines = self.faults("""x = 1
[bridge
[bridge]
hots = a
name = ../etc
[instance a/b]
[instance front]
x_m = far
x_m = 1
yaw_deg = nan
[instance front]
[rig all]
[rig some]
instances = front, rare
[sink]
[sink one]
[sink two]
kind = plane
[sink three]
kind = plain
port = 70000
where = relative
instances = frnt
nonsense
[other x]
y = 2
""")
        self.assertEqual(code, CONFIG)
        expected = ["1: 'x = 1' stands before", "2: '[bridge' is not a section",
                    "4: 'hots' is no key of [bridge] (do you mean 'host'?)", "5: name: '../etc' is not 1 to 64",
                    "6: [instance NAME]: 'a/b' is no name",
                    "8: x_m: 'far' is not a number from -100 to 100 m", "9: 'x_m' is given in line 8 already",
                    "10: yaw_deg: 'nan' is not", "11: [instance front] stands in line 7 already",
                    "12: [rig all] has no instances", "14: instances: there is no [instance rare]",
                    "15: [sink NAME]: '' is no name", "16: [sink one] has no kind",
                    "18: kind: 'plane' is not known (do you mean 'plain'?)",
                    "21: port: '70000' is not a whole number from 1 to 65535",
                    "22: where: 'relative' is not an absolute path",
                    "23: instances: there is no [instance frnt] (do you mean 'front'?)",
                    "24: 'nonsense' is neither", "25: section 'other x' is not known"]
        for line, want in zip(lines, expected):
            self.assertIn("f:" + want, line)
        self.assertEqual(len(lines), len(expected))

    def test_colours_have_two_ends(self):
        code, lines = self.faults("[instance front]\ncolour_far_m = 2\ncolour_near_m = 2\n[sink a]\nkind = plain\n")
        self.assertEqual(code, CONFIG)
        self.assertEqual([line.split(": ", 1)[1] for line in lines],
                         ["colour_far_m: 2 is not beyond colour_near_m, which is 2"])

    def test_an_unknown_kind_hides_nothing(self):
        """The keys of a section with a misspelt kind are checked against the intended kind. If the kind is near no
        known kind, only the keys that all kinds have are checked."""
        _, lines = self.faults("[instance front]\n[sink a]\nkind = plian\nprot = 7\nrate_hz = fast\ninstances = frnt\n"
                               "[sink b]\nkind = quite-different\nport = 7\nrate_hz = fast\n")
        expected = ["3: kind: 'plian' is not known (do you mean 'plain'?)",
                    "4: 'prot' is no key of [sink a] (do you mean 'port'?)", "5: rate_hz: ",
                    "6: instances: there is no [instance frnt]",
                    "8: kind: 'quite-different' is not known; there are", "10: rate_hz: "]
        for line, want in zip(lines, expected):
            self.assertIn("f:" + want, line)
        self.assertEqual(len(lines), len(expected), lines)

    def test_nothing_to_send_to(self):
        self.assertIn("there is no [sink NAME]", self.faults("[instance front]\n")[1][0])

    def test_a_missing_package_is_named(self):
        code, lines = self.faults("[sink a]\nkind = needy\n")
        self.assertEqual(code, UNAVAILABLE)
        self.assertEqual(lines, ["f:2: sinks of kind needy need no_such_package_at_all and zenoh_of_nobody, which "
                                 "cannot be imported: pip install no_such_package_at_all json zenoh_of_nobody"])

    def test_files_that_cannot_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            binary = os.path.join(folder, "b.conf")
            with open(binary, "wb") as f:
                f.write(b"[sink a]\n\xff\n")
            for path, want in ((os.path.join(folder, "none"), "cannot be read: No such file"),
                               (folder, "Is a directory"), (binary, ":2: is not UTF-8"),
                               ("/dev/zero", "is longer than")):
                with self.assertRaises(Fail) as caught:
                    config.load(path)
                self.assertEqual(caught.exception.code, CONFIG)
                self.assertIn(want, str(caught.exception))

    def test_what_is_printed_can_be_read(self):
        out = io.StringIO()
        text.print_config(out)
        printed = out.getvalue().replace("NAME", "front").replace("[sink front]", "[sink front]\nkind = plain", 1)
        printed = printed.replace("[rig front]", "[rig r]\ninstances = front")
        c = config.parse_text("f", printed)
        for option in config.INSTANCE:
            self.assertEqual(c.instances["front"][option.name], option.default, option.name)

    def test_defaults_are_within_their_ranges(self):
        for _, _, options in text.sections():
            for option in options:
                if option.default is not None:
                    self.assertEqual(parse(option, shown(option, option.default)), option.default, option.name)


class Documents(unittest.TestCase):
    """Checks that every configuration in the documents can be used."""

    @staticmethod
    def blocks(path):
        """Returns the indented blocks of a document that have sections, or, for a man page, the blocks between lines of
        ```."""
        with open(os.path.join(support.SOURCE, path), encoding="utf-8") as f:
            text_ = f.read()
        if path.endswith(".scd"):
            found = text_.split("```")[1::2]
        else:
            found = re.findall(r"(?:(?:^    .*)?\n)+", text_, re.M)
        return [re.sub(r"(?m)^    ", "", block) for block in found if re.search(r"(?m)^(    )?\[sink ", block)]

    @unittest.skipIf(support.missing("zenoh", "rosbags"), support.missing("zenoh", "rosbags"))
    def test_documents(self):
        count = 0
        for path in ("docs/use/bridge.md", "docs/man/stixel-bridge.1.scd"):
            for block in self.blocks(path):
                count += 1
                known = re.findall(r"(?m)^\[(?:instance|rig) (.*)\]", block)
                # the block may be a part of a longer configuration
                for names in re.findall(r"(?m)^instances = ([^;\n]*)", block):
                    for name in names.replace(" ", "").split(","):
                        if name not in known:
                            known.append(name)
                            block += "\n[instance %s]\n" % name
                with mock.patch.object(sinks, "check", lambda kind: None):
                    c = config.parse_text(path, block)
                    self.assertEqual(len(program.make_sinks(c)), len(c.sinks), block)
        self.assertGreaterEqual(count, 6)

    @unittest.skipIf(support.missing("rosbags"), support.missing("rosbags"))
    def test_what_only_one_may_have(self):
        for kind, more in (("ros-dds", "domain = 3"), ("foxglove", "port = 9000")):
            with mock.patch.object(sinks, "check", lambda kind: None), self.assertRaises(Fail) as caught:
                program.make_sinks(config.parse_text("f", "[sink a]\nkind = %s\n%s\n[sink b]\nkind = %s\n%s\n" % (
                    kind, more, kind, more)))
            self.assertRegex(str(caught.exception), r"^f:4: \[sink a\] has (domain 3|port 9000) of .* already$")
        with mock.patch.object(sinks, "check", lambda kind: None), self.assertRaises(Fail) as caught:
            program.make_sinks(config.parse_text("f", "[instance a]\nframe_prefix = x\n[instance b]\nframe_prefix = x\n"
                                                 "[sink b]\nkind = foxglove\n"))
        self.assertIn("[instance a] and [instance b] have one frame_prefix", str(caught.exception))


class Kinds(unittest.TestCase):
    def test_every_kind_says_its_options_without_its_packages(self):
        for kind in sinks.KINDS:
            maker = sinks.load(kind)
            self.assertTrue(maker.PACKAGES and maker.HELP, kind)
            for option in maker.OPTIONS:
                self.assertNotIn(option.name, [o.name for o in config.COMMON], kind)
                if option.default is not None:
                    self.assertEqual(parse(option, shown(option, option.default)), option.default, option.name)


if __name__ == "__main__":
    unittest.main()
