# stixel-segment with networks that die, hang, give nonsense, do not fit, or are built for TensorRT.
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import unittest

from support_segment import Case

import stixel  # noqa: E402


class Faults(Case):
    def test_killed(self):
        d = self.with_scores()
        s = self.segment(d, self.model())
        for times in (1, 2):
            x = s.until(lambda x, n=times: x["written"] > 3 * n, "scores")
            os.kill(x["worker_pid"], signal.SIGKILL)
            x = s.until(lambda x, n=times: x["restarts"]["died"] == n, "a restart")
        s.until(lambda x: x["written"] > 9, "scores again")
        self.assertEqual(s.status()["restarts"], {"died": 2, "hung": 0})
        code, text = s.end()
        self.assertEqual(code, 0)
        self.assertRegex(text, r"process \d+: it was ended by SIGKILL; starts again in 0.5 s \(died 1 times")
        self.assertEqual(d.status()["semantics"]["scores"]["refused"], 0)

    def test_frozen_and_hung(self):
        d = self.with_scores()
        s = self.segment(d, self.model(hang_at=4), "--limit", "3")
        x = s.until(lambda x: x["restarts"]["hung"] == 1, "a network that hangs")
        self.assertGreaterEqual(x["written"], 4)
        self.model()  # the next one does not hang
        x = s.until(lambda x: x["written"] > 6 and x["state"] == "running", "scores again")
        os.kill(x["worker_pid"], signal.SIGSTOP)
        s.until(lambda x: x["restarts"]["hung"] == 2, "a frozen one")
        x = s.until(lambda x: x["state"] == "running", "scores again")
        published = d.status()["frames"]["published"]
        s.until(lambda x, n=x["written"]: x["written"] > n + 3, "scores again")
        self.assertGreater(d.status()["frames"]["published"], published)
        code, text = s.end()
        self.assertEqual(code, 0)
        self.assertRegex(text, r"nothing came from it for 3 s; starts again in 0.5 s \(died 0 times, hung 1 times\)")

    def test_no_numbers_and_another_shape(self):
        d = self.with_scores()
        s = self.segment(d, self.model(nan_at=[2, 3, 6], shape_at=[5]))
        x = s.until(lambda x: x["written"] > 9, "scores")
        self.assertEqual((x["bad"], x["restarts"], x["state"]), (4, {"died": 0, "hung": 0}, "running"))
        self.assertGreaterEqual(d.status()["frames"]["published"], x["written"])
        code, text = s.end()
        self.assertEqual(code, 0)
        self.assertEqual(text.count("no numbers (NaN)"), 2)  # it was usable in between
        self.assertRegex(text, r"its output has the shape 1x19x48x160, before it had 1x19x96x160")
        self.assertEqual(text.count("can be used again"), 2)

    def test_what_a_restart_does_not_mend(self):
        d = self.with_scores()
        junk = os.path.join(self.top, "junk.net")
        with open(junk, "w", encoding="utf-8") as f:
            f.write("no network")
        stixel.ScoreWriter(d.name, 19, (160, 96)).close()
        for model, more, code, wanted in (
                (os.path.join(self.top, "none.onnx"), (), 66, "none.onnx: no such file"),
                (junk, (), 78, "nothing says"),
                (junk, ("-s", "table=bdd100k"), 65, "OpenCV cannot read it"),
                (self.model("few.onnx", classes=7), (), 65, "shape 1x7x96x160, but table cityscapes-19 has 19"),
                (self.model(), ("-s", "provider=cuda"), 69, "provider = cuda: the onnxruntime that is installed"),
                (self.model("cpu.onnx", providers=["CPUExecutionProvider"]), ("-s", "provider=tensorrt"), 69,
                 "cannot be loaded here")):
            s = self.segment(d, model, *more, STAND_IN_PROVIDERS="CPUExecutionProvider" + (
                " TensorrtExecutionProvider" if "cpu.onnx" in model else ""), XDG_CACHE_HOME=self.top)
            self.assertEqual(s.process.wait(60), code, s.text())
            self.assertIn(wanted, s.text())
            self.assertNotIn("Traceback", s.text())

    def test_another_writer_takes_the_name(self):
        d = self.with_scores()
        s = self.segment(d, self.model())
        s.until(lambda x: x["written"] > 2, "scores")
        second = self.segment(d, self.model())
        self.assertEqual(second.process.wait(60), 73)
        self.assertIn("another stixel-segment runs as '%s'" % d.name, second.text())
        with stixel.ScoreWriter(d.name, 19, (160, 96)):
            self.assertEqual(s.process.wait(60), 73)
        self.assertIn("another writer took the name", s.text())

    def test_a_tensorrt_engine_is_built_once(self):
        d = self.with_scores()
        for word in ("builds a TensorRT engine in %s/stixel-segment/n-" % self.top, None):
            s = self.segment(d, self.model(engine_s=1, providers=["TensorrtExecutionProvider"]), "-s",
                             "provider=tensorrt", XDG_CACHE_HOME=self.top, STAND_IN_PROVIDERS="CPUExecutionProvider "
                             "CUDAExecutionProvider TensorrtExecutionProvider")
            s.until(lambda x: x["written"] > 2, "scores")
            code, text = s.end()
            self.assertEqual((code, "TensorRT engine" in text), (0, bool(word)), text)
            if word:
                self.assertIn(word, text)
                self.assertRegex(text, "the TensorRT engine is built, in [12] s")


if __name__ == "__main__":
    unittest.main()
