# stixel-segment as a program: from a daemon's images to frames with their scores; --check, --show; wrong use.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from support_segment import STAND_IN, Case, harness, instances, support, until

import networks  # noqa: E402
import numpy as np  # noqa: E402
import stixel  # noqa: E402

CAR = 13


class WholeWay(Case):
    def test_frames_have_the_scores_of_their_own_image(self):
        d = self.with_scores("-s", "semantics.wait_ms=1000")
        networks.pixelwise(os.path.join(self.top, "grey.onnx"), 19)
        s = self.segment(d, os.path.join(self.top, "grey.onnx"), "-s", "table=cityscapes-19", stand_in=False)
        s.until(lambda x: x["written"] > 10, "scores")
        before = d.status()["semantics"]["frames"]
        s.until(lambda x: x["written"] > 20, "scores")
        after = d.status()["semantics"]["frames"]
        self.assertGreater(after["matched"] - before["matched"], 5)
        with stixel.open(d.name) as reader:
            frame = until(lambda: (lambda f: f if f and f.scores_ns else None)(reader.next(timeout=10)), 30, "scores")
        self.assertEqual(frame.scores_ns, frame.capture_left_ns)
        self.assertEqual(s.ask("/healthz"), "ok\n")
        listed = subprocess.run([os.environ["STIXELCTL"], "list"], capture_output=True, text=True, env=d.client(),
                                check=True).stdout
        self.assertRegex(listed, r"(?m)^%s +running +\d+\.\d +\d+ +0 +0 +0 +\d+\.\d$" % d.name)
        listed = json.loads(subprocess.run([os.environ["STIXELCTL"], "--json", "list"], capture_output=True, text=True,
                                           env=d.client(), check=True).stdout)
        mine = [x for x in listed if (x["instance"], x["kind"]) == (d.name, "network")]
        self.assertEqual((mine[0]["pid"], mine[0]["network"]["bad"]), (s.process.pid, 0))
        self.assertRegex(s.ask("/metrics"), r'\nstixel_segment_images_total{instance="%s",fate="written"} \d' %
                         d.name)
        code, text = s.end()
        self.assertEqual(code, 0)
        self.assertRegex(text, r"^stixel-segment: grey.onnx by onnxruntime \S+, cpu, classes of cityscapes-19\n$")
        self.assertFalse(os.path.exists(instances.written("stixel-scores." + d.name)))
        self.assertFalse(os.path.exists(os.path.join(s.runtime, d.name)))

    def test_a_late_network_costs_labels_and_no_frame(self):
        d = self.with_scores("-s", "semantics.max_age_ms=2000", "-s", "source.fps=20")
        s = self.segment(d, self.model(delay_s=0.1, **{"class": CAR}))
        s.until(lambda x: x["written"] > 3, "scores")
        before = d.status()
        x = s.until(lambda x: x["written"] > 13, "scores")
        after = d.status()
        frames = after["frames"]["published"] - before["frames"]["published"]
        older = after["semantics"]["frames"]["older"] - before["semantics"]["frames"]["older"]
        self.assertGreater(older, frames / 2)
        self.assertGreater(x["skipped"], 5)  # the newest image is taken, and those between are left out
        self.assertGreaterEqual(x["network_ms"]["p50"], 100)
        self.assertEqual(x["restarts"], {"died": 0, "hung": 0})
        self.assertGreater(frames, 12)  # more than images that got scores meanwhile

    def test_a_daemon_that_comes_later_and_goes(self):
        d = instances.Daemon("segment")
        self.addCleanup(d.close)
        s = self.segment(d, self.model())
        s.until(lambda x: x["state"] == "waiting", "a wait")
        arguments = [*harness.SMALL, "-s", "source.fps=10", "-s", "external.pairs=yes", "-s",
                     "semantics.source=" + d.name]
        for _ in range(2):
            d.start(*arguments)
            count = s.status()["written"]
            s.until(lambda x, n=count: x["written"] > n + 3, "scores")
            d.process.kill()
            d.process.wait()
            x = s.until(lambda x: x["state"] == "waiting", "no images")
            self.assertEqual(x["why"], "no image comes from instance '%s'" % d.name)
            self.assertEqual(s.ask("/healthz"), "waiting: %s\n" % x["why"])
        self.assertEqual(s.end()[0], 0)
        for path in (d.ring_path + ".pairs",):
            os.unlink(path)

    def test_where_the_configuration_differs_it_says_the_lines(self):
        d = self.daemon("segment", *harness.SMALL, "-s", "source.fps=10")
        model = self.model(classes=65, table="mapillary")
        s = self.segment(d, model)
        x = s.until(lambda x: x["state"] == "waiting" and "needs" in x["why"], "lines")
        self.assertRegex(x["why"], r"needs\n +\[semantics\]\n +source = %s\n +classes = road:ground sidewalk:ground "
                         r"curb:ground .* thing\n +\[external\]\n +pairs = yes$" % d.name)
        self.assertIn("the configuration of instance '%s' needs" % d.name, s.text())
        d.close()
        d = self.with_scores()
        s = self.segment(d, model)
        x = s.until(lambda x: "needs" in x["why"], "lines")
        self.assertRegex(x["why"], r"needs\n +\[semantics\]\n +classes = road:ground [^\n]* thing$")
        self.assertEqual((x["written"], s.ask("/healthz")[:7]), (0, "waiting"))
        d.close()
        d = self.with_scores("-s", re.search("classes = .*", x["why"]).group().replace(" = ", "=", 1).replace(
            "classes", "semantics.classes"))
        s = self.segment(d, model)
        s.until(lambda x: x["written"] > 1, "scores")


class Alone(Case):
    def run_it(self, *words, stand_in=False):
        path = os.pathsep.join([STAND_IN] * stand_in + [support.MODULE])
        return subprocess.run([sys.executable, "-m", "stixel_segment", *words], capture_output=True, text=True,
                              timeout=60, check=False, env=dict(os.environ, PYTHONPATH=path))

    def picture(self):
        import cv2
        path = os.path.join(self.top, "left.png")
        cv2.imwrite(path, np.repeat(np.linspace(0, 255, 160).astype(np.uint8)[None], 96, 0))
        return path

    def test_check(self):
        networks.pixelwise(os.path.join(self.top, "grey.onnx"), 20)
        r = self.run_it("--check", "-m", os.path.join(self.top, "grey.onnx"), "-s", "table=cityscapes-20", "--image",
                        self.picture())
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertRegex(r.stdout, r"network +/\S+/grey.onnx, by onnxruntime .*\n(.*\n)*input +160x96, rgb, for images "
                                   r"of 160x96\noutput +1x20x96x160, logits\n"
                                   r"classes +cityscapes-20: 20 classes in 19 labels\n"
                                   r" +ground +road sidewalk terrain\n(.*\n)* +moves +person (.*\n)* +sky +sky\n"
                                   r"time +\d+\.\d ms, ")

    def test_check_with_an_instance(self):
        networks.pixelwise(os.path.join(self.top, "grey.onnx"), 19)
        command = ["--check", "-m", os.path.join(self.top, "grey.onnx"), "-s"]
        d = self.with_scores()
        os.environ["XDG_RUNTIME_DIR"], before = d.user, os.environ.get("XDG_RUNTIME_DIR")
        self.addCleanup(lambda: os.environ.update(XDG_RUNTIME_DIR=before) if before else os.environ.pop(
            "XDG_RUNTIME_DIR"))
        r = self.run_it(*command, "table=bdd100k", "-i", d.name)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertIn("instance  '%s' has the same classes\n" % d.name, r.stdout)
        with open(os.path.join(self.top, "t.ini"), "w", encoding="utf-8") as f:
            f.write("[labels]\nall = object\n[classes]\n" + "".join("c%d = all\n" % i for i in range(19)))
        r = self.run_it(*command, "table=" + os.path.join(self.top, "t.ini"), "-i", d.name)
        self.assertEqual((r.returncode, r.stderr), (78, ""))
        self.assertIn("needs in its configuration:\n\n    [semantics]\n    classes = all\n", r.stdout)

    def test_show(self):
        import cv2
        networks.pixelwise(os.path.join(self.top, "grey.onnx"), 19)
        out = os.path.join(self.top, "out.png")
        command = ["-m", os.path.join(self.top, "grey.onnx"), "-s", "table=cityscapes-19", "--image", self.picture()]
        r = self.run_it(*command, "--show", out)
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "", ""))
        drawn = cv2.imread(out)
        self.assertEqual((drawn.shape[1], drawn.shape[0] > 96 + 10), (160, True))
        np.testing.assert_allclose(drawn[50, 1], np.array([128, 64, 128]) / 2, atol=2)  # road, on black
        for name in (os.path.join(self.top, "none", "out.png"), out + ".strange"):
            r = self.run_it(*command, "--show", name)
            self.assertEqual((r.returncode, r.stdout), (73, ""))
            self.assertRegex(r.stderr, r"stixel-segment: \S+: cannot be written\n$")

    def test_faults(self):
        networks.pixelwise(os.path.join(self.top, "nan.onnx"), 19, output="nan")
        model = os.path.join(self.top, "nan.onnx")
        for words, code, wanted in (
                (("--nonsense",), 64, "-m/--model"), (("-m", model, "--limit", "1"), 64, "3 to 3600 s"),
                (("-m", model, "-s", "table"), 64, "'table' is not KEY=VALUE"),
                (("-m", model, "-s", "table=bdd100k", "--check"), 65, "no numbers (NaN)"),
                (("-m", model, "-s", "table=bdd100k", "--check", "--image", model), 66, "no image that OpenCV"),
                (("-m", model, "-s", "table=none", "--check"), 78, "table 'none': no such file")):
            r = self.run_it(*words)
            self.assertEqual((r.returncode, r.stdout), (code, ""), words)
            self.assertRegex(r.stderr, r"^stixel-segment: [^\n]*\n$")
            self.assertIn(wanted, r.stderr)

    def test_in_the_sandbox_of_the_service(self):
        """With only the allowed system calls and no code generated at run time, both back ends run."""
        filtered = [sys.executable, os.path.join(support.SOURCE, "tests", "systemd", "filtered.py"), "--no-new-code",
                    os.environ["STIXEL_SEGMENT_UNIT"]]
        if not shutil.which("systemd-analyze") or subprocess.run([*filtered, "--", "true"], capture_output=True,
                                                                 check=False).returncode:
            self.skipTest("no systemd-analyze, or no filter and no refusal of new code here")
        d = self.with_scores()
        networks.pixelwise(os.path.join(self.top, "grey.onnx"), 19)
        for back_end in ("onnxruntime", "opencv"):
            s = self.segment(d, os.path.join(self.top, "grey.onnx"), "-s", "table=cityscapes-19", "-s",
                             "back_end=" + back_end, stand_in=False, before=[*filtered, "--"])
            x = s.until(lambda x: x["written"] > 3, "scores by " + back_end)
            self.assertEqual(x["restarts"], {"died": 0, "hung": 0})
            self.assertEqual(s.end()[0], 0)


if __name__ == "__main__":
    unittest.main()
