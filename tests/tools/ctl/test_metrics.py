# Tests stixelctl metrics --textfile as the node exporter reads it, and the examples for Prometheus and Grafana:
# promtool accepts them, and the daemon prints every metric that they name.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import shutil
import subprocess
import time
import unittest

from support import Folder, SOURCE
from test_ctl import Daemon

PROMTOOL = shutil.which("promtool")
EXAMPLES = os.path.join(SOURCE, "docs/examples")
RULES = os.path.join(EXAMPLES, "prometheus-rules.yml")
DASHBOARD = os.path.join(EXAMPLES, "grafana-dashboard.json")
NAME = r"[a-zA-Z_][a-zA-Z0-9_]*"
LABEL = NAME + r'="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(r"(%s)(?:\{(%s(?:,%s)*)\})? ([-+]?[\d.]+(?:e[-+]?\d+)?)" % (NAME, LABEL, LABEL))
FIGURE = re.compile(r"\bstixeld_\w+")
FOLLOWS = {"gauge": [""], "counter": [""], "summary": ["", "_sum", "_count"]}  # suffixes of a family's name


def series(text):
    """Returns {(name, labels)} of the samples in a Prometheus text."""
    return {m.group(1, 2) for m in map(SAMPLE.fullmatch, text.splitlines()) if m}


def names(text):
    return {name for name, _ in series(text)}


def promtool(*args, **more):
    return subprocess.run([PROMTOOL, *args], capture_output=True, text=True, timeout=60, **more)


class Metrics(Folder):
    @classmethod
    def setUpClass(cls):
        """Starts a daemon that measures power and waits for class scores, and a daemon whose cameras are absent."""
        super().setUpClass()
        cls.daemons = []
        cls.addClassCleanup(lambda: [d.stop() for d in cls.daemons])
        root = cls.board()
        cls.daemons.append(Daemon("full", "semantics.source=none-%d" % os.getpid(), "power.source=ina",
                                  "power.root=" + root))
        cls.daemons[0].wait()
        camera = ["camera.%s=0" % k for k in ("fx", "fy", "cx", "cy", "baseline_m")]
        cls.daemons.append(Daemon("blind", "source.kind=v4l2", "source.left=/dev/none-left",
                                  "source.right=/dev/none-right", *camera))
        for which, figure in ((0, "stixeld_power_watts"), (0, "stixeld_frames_per_second"),
                              (1, "stixeld_camera_dropped_total")):
            for _ in range(300):
                if figure in names(cls.daemons[which].ctl("metrics").stdout):
                    break
                time.sleep(0.1)
            else:
                raise RuntimeError("never printed: " + figure)

    @classmethod
    def board(cls):
        """Creates the sensors of a board below a folder."""
        root = os.path.join(os.environ.get("TMPDIR", "/tmp"), "stixel-board-%d" % os.getpid())
        cls.addClassCleanup(shutil.rmtree, root, ignore_errors=True)
        files = {"firmware/devicetree/base/model": "NVIDIA Jetson AGX Orin Developer Kit\0",
                 "class/hwmon/hwmon1/name": "ina3221", "devices/system/cpu/cpufreq/policy0/scaling_cur_freq": "1728000"}
        for n, label in enumerate(("VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0"), 1):
            for key, value in (("in%d_label", label), ("in%d_input", "5000"), ("curr%d_input", "400")):
                files["class/hwmon/hwmon1/" + key % n] = value
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, "sys", name)), exist_ok=True)
            with open(os.path.join(root, "sys", name), "w") as f:
                f.write(text + "\n")
        return root

    @classmethod
    def told(cls, which):
        """Returns the daemon's page, in OpenMetrics format."""
        r = cls.daemons[which].ctl("metrics")
        assert r.returncode == 0, r.stderr
        return r.stdout

    def textfile(self, which):
        path = self.path("%d.prom" % which)
        r = self.daemons[which].ctl("metrics", "--textfile", path)
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "", ""))
        with open(path) as f:
            return f.read()

    def test_classic_format(self):
        """The collector can read every line, and no sample is lost. The textfile only adds the label `instance`."""
        def page_series(which):
            own = 'instance="%s"' % self.daemons[which].name
            return {(n, labels.replace(own + ",", "") if labels else None) for n, labels in series(self.told(which))}

        for which, daemon in enumerate(self.daemons):
            before = page_series(which)
            text, types, helped, family = self.textfile(which), {}, set(), None
            self.assertTrue(text.endswith("\n"))
            for line in text.splitlines():
                comment = re.fullmatch(r"# (TYPE|HELP) (%s) (.+)" % NAME, line)
                sample = SAMPLE.fullmatch(line)
                self.assertTrue(comment or sample, line)
                if comment and comment.group(1) == "TYPE":
                    family = comment.group(2)
                    self.assertNotIn(family, types)
                    types[family] = comment.group(3)
                    self.assertIn(types[family], FOLLOWS)
                elif comment:
                    self.assertEqual(comment.group(2), family)
                    helped.add(family)
                else:
                    self.assertIn(sample.group(1), [family + s for s in FOLLOWS[types[family]]])
                    self.assertTrue(sample.group(2).startswith('instance="%s"' % daemon.name), line)
                    self.assertEqual(sample.group(2).count(' instance="') + sample.group(2).count(',instance="'), 0)
            self.assertEqual(set(types), helped)
            self.assertEqual(types["stixeld_info"], "gauge")
            self.assertEqual(types["stixeld_state"], "gauge")
            self.assertEqual(types["stixeld_frames_published_total"], "counter")
            own = 'instance="%s"' % daemon.name
            without = {(n, labels[len(own) + 1 :] or None) for n, labels in series(text)}
            # some figures come only after a while: what was there before is in the file, and stays
            self.assertTrue(before <= without <= page_series(which), before ^ without)

    def test_files_of_two_instances(self):
        """The collector reads all files as one. No series may be in two of them."""
        self.assertEqual(series(self.textfile(0)) & series(self.textfile(1)), set())

    @unittest.skipUnless(PROMTOOL, "no promtool (Debian's package prometheus)")
    def test_promtool_on_the_file(self):
        for which in range(2):
            r = promtool("check", "metrics", input=self.textfile(which))
            self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "", ""))
        # the reason for the classic format: promtool cannot read this page
        r = promtool("check", "metrics", input=self.told(0))
        self.assertNotEqual(r.returncode, 0)

    @unittest.skipUnless(PROMTOOL, "no promtool (Debian's package prometheus)")
    def test_rules(self):
        r = promtool("check", "rules", "--lint-fatal", RULES)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        test = os.path.join(SOURCE, "tests/tools/ctl/prometheus_rules_test.yml")
        r = promtool("test", "rules", test)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        with open(RULES) as rules, open(test) as cases:
            alerts, tested = re.findall(r"- alert: (\w+)", rules.read()), cases.read()
        self.assertGreater(len(alerts), 5)
        for alert in alerts:  # each alert fires once, and stays silent once
            self.assertGreater(len(re.findall(r"alertname: %s\b" % alert, tested)), 1, alert)
            self.assertRegex(tested, r"alertname: %s\n +exp_alerts:" % alert)

    def test_figures_of_rules(self):
        with open(RULES) as f:
            wanted = set(FIGURE.findall(re.sub(r"stixeld_state[=}]|by.*stixeld_state\)", "", f.read())))
        self.assertGreater(len(wanted), 8)
        self.assertEqual(wanted - names(self.textfile(0)) - names(self.textfile(1)), set())

    def test_dashboard(self):
        with open(DASHBOARD) as f:
            dashboard = json.load(f)
        expressions = [t["expr"] for p in dashboard["panels"] for t in p["targets"]]
        queries = [v["query"]["query"] for v in dashboard["templating"]["list"] if v["type"] == "query"]
        printed = names(self.textfile(0)) | names(self.textfile(1))
        wanted = set()
        for expression in expressions + queries:
            bare = re.sub(r"\{[^}]*\}", "", expression)
            found = set(FIGURE.findall(bare))
            self.assertTrue(found, expression)
            self.assertTrue(expression in queries or expression.count('instance=~"$instance"') == len(re.findall(
                FIGURE, bare)), expression)
            wanted |= found
        self.assertGreater(len(wanted), 15)
        self.assertEqual(wanted - printed, set())
        ids = [p["id"] for p in dashboard["panels"]]
        self.assertEqual(len(ids), len(set(ids)))
        cells = [(x, y) for p in dashboard["panels"] for x in range(p["gridPos"]["x"], p["gridPos"]["x"] +
                 p["gridPos"]["w"]) for y in range(p["gridPos"]["y"], p["gridPos"]["y"] + p["gridPos"]["h"])]
        self.assertEqual(len(cells), len(set(cells)), "panels overlap")
        self.assertLessEqual(max(x for x, _ in cells), 23)

    @unittest.skipUnless(PROMTOOL, "no promtool (Debian's package prometheus)")
    def test_expressions_of_the_dashboard(self):
        """The expressions are valid PromQL: promtool parses them as recording rules."""
        with open(DASHBOARD) as f:
            expressions = [t["expr"] for p in json.load(f)["panels"] for t in p["targets"]]
        rules = [{"record": "panel:%d" % i, "expr": e.replace("$__rate_interval", "1m")}
                 for i, e in enumerate(expressions)]
        with open(self.path("panels.yml"), "w") as f:
            json.dump({"groups": [{"name": "panels", "rules": rules}]}, f)
        r = promtool("check", "rules", self.path("panels.yml"))
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        self.assertIn("%d rules found" % len(rules), r.stdout)


if __name__ == "__main__":
    unittest.main()
