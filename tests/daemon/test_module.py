# Tests the daemon with an engine in a module (fake_module.c instead of the CUDA engine): its messages without a module,
# with a wrong module or a broken device, the memory that the engine may read, and its end after a failed frame.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import subprocess
import unittest

from harness import FAKE, HEIGHT, SMALL, STIXELD, THREADS_ONLY, WIDTH, TestCase, until

MODULES = os.environ.get("STIXELD_MODULES", "")
CUDA = ["-s", "engine.backend=cuda"]
FREE = ["-s", "source.fps=0"]
STRIDE = (WIDTH + 63) // 64 * 64


def module(name="good"):
    return os.path.join(MODULES, "fake-module-%s.so" % name)


class Module(TestCase):
    """Threads exchange data with a module."""

    def test_computes(self):
        i = self.instance()
        report = i.top + "/report"
        i.start(*SMALL, *CUDA, "-s", "source.fps=50",
                env={"STIXEL_MODULE_PATH": module(), "FAKE_MODULE_REPORT": report})
        i.until_published(10)
        s = i.status()["engine"]
        self.assertEqual((s["backend"], s["device"], s["reason"]),
                         ("cuda", "fake device", "asked for by engine.backend"))
        self.assertEqual(s["memory_bytes"], 123456789)
        self.assertEqual(s["volume"], "engine.volume = auto: stored, as this is a fake")
        self.assertIn(s["volume"], i.text())
        self.assertEqual(s["input"], {"path": "copy", "copies_per_frame": 2, "bytes_per_frame": 2 * HEIGHT * STRIDE,
                                      "results_per_frame": 1, "staged": 0})
        body = i.http("/metrics")[2]
        self.assertRegex(body, r'\nstixeld_engine_copies_total\{direction="in"\} [1-9]')
        self.assertIn("\nstixeld_engine_staged_images_total 0\n", body)
        self.assertIn('input="copy"', body)
        self.assertEqual(i.stop(), 0, i.text())
        # two pairs in flight, one waiting and one being captured: four blocks, each pinned and unpinned once
        with open(report) as f:
            self.assertRegex(f.read(), r"^frames \d+ pins 4 unpins 4 staged 0\n$")
        os.remove(report)
        self.assertEqual(i.leftovers(), [])

    def test_a_frame_that_fails_ends_the_daemon(self):
        for contexts in (2,) if THREADS_ONLY else (1, 2, 4):
            i = self.instance()
            report = i.top + "/report"
            i.start(*SMALL, *CUDA, "-s", "source.fps=50", "-s", "engine.contexts=%d" % contexts, notify=True,
                    env={"STIXEL_MODULE_PATH": module(), "FAKE_MODULE_FAIL_AT": 20, "FAKE_MODULE_REPORT": report})
            ring = i.ring()
            self.assertEqual(i.wait(), 70)
            self.assertEqual(ring.live()[0], "closed")
            self.assertEqual([f.number for f in ring.frames()][-1], 19)
            self.assertRegex(i.text(), "frame 20: the engine failed: Input/output error")
            i.until_message("STOPPING=1")
            with open(report) as f:
                self.assertRegex(f.read(), r"^frames \d+ pins (\d) unpins \1 staged 0\n$")
            os.remove(report)
            self.assertEqual(i.leftovers(), [])

    def test_memory_that_cannot_be_pinned(self):
        i = self.instance()
        i.start(*SMALL, *CUDA, "-s", "source.fps=50",
                env={"STIXEL_MODULE_PATH": module(), "FAKE_MODULE_PIN": "no"})
        i.until_published(5)
        self.assertGreaterEqual(i.status()["engine"]["input"]["staged"], 10)
        self.assertEqual(i.stop(), 0)
        self.assertIn("4 buffers of pairs cannot be pinned (Operation not permitted)", i.text())


class Choice(TestCase):
    """Tests which engine is chosen, or refused, at the start."""

    def once(self, *args, path=None, **env):
        env = {"FAKE_MODULE_" + k.upper(): v for k, v in env.items()}
        env["STIXEL_MODULE_PATH"] = path or module()
        i = self.instance()
        code, _, err = i.run_once(*SMALL, *FREE, "--frames", "5", *args, env=env)
        self.assertEqual(i.leftovers(), [])
        return code, err

    def refused(self, want, *sentences, args=(), **how):
        code, err = self.once(*CUDA, *args, **how)
        self.assertEqual(code, want, err)
        for s in sentences:
            self.assertIn(s, err)
        self.assertEqual(err.count("engine.backend = cuda"), 1 if want == 69 else err.count("engine.backend = cuda"))

    def test_publishes_what_others_publish(self):
        records = []
        for args, env in ((["-s", "engine.backend=reference"], {}), (CUDA, {"STIXEL_MODULE_PATH": module()})):
            i = self.instance()
            i.start(*SMALL, *FREE, *args, "-s", "output.slots=256", "-s", "engine.contexts=1", env=env)
            ring = i.ring()
            i.until_published(8)
            self.assertEqual(i.stop(), 0)
            records.append({f.number: f.record for f in ring.frames()})
        both = records[0].keys() & records[1].keys()
        self.assertGreaterEqual(len(both), 8)
        for n in both:
            self.assertEqual(records[0][n], records[1][n], n)

    def test_auto(self):
        i = self.instance()
        env = {"STIXEL_MODULE_PATH": module()}
        i.start(*SMALL, env=env)
        self.assertEqual(i.status()["engine"]["backend"], "cuda")
        self.assertIn("auto: a CUDA device is usable", i.status()["engine"]["reason"])
        self.assertEqual(i.stop(), 0)
        i.start(*SMALL, env=dict(env, FAKE_MODULE_OPEN="none"))
        s = i.status()["engine"]
        self.assertEqual((s["backend"], s["reason"]), ("cpu", "engine.backend = auto: no CUDA device; cpu"))
        self.assertIn("engine.backend = auto: no CUDA device; cpu", i.text())
        self.assertEqual(i.stop(), 0)
        code, err = self.once(path="/nowhere/stixel-cuda.so")
        self.assertEqual(code, 0)
        self.assertIn("auto: the CUDA engine is not installed (/nowhere/stixel-cuda.so: No such file or directory); "
                      "cpu", err)

    def test_first_line_without_a_module(self):
        """The log says in a few words that no module is configured. The status has the whole
        sentence."""
        if os.path.exists(os.path.join(os.path.dirname(STIXELD), "..", "gpu", "stixel-cuda.so")):
            self.skipTest("this build has the CUDA engine")
        i = self.instance()
        i.start(*SMALL)
        self.assertRegex(i.text().splitlines()[0], r"info +daemon: engine cpu \(.+\); no CUDA engine installed$")
        self.assertIn("auto: the CUDA engine is not installed (", i.status()["engine"]["reason"])
        self.assertEqual(i.stop(), 0)
        code, _, err = i.run_once(*SMALL, "-s", "engine.backend=cuda")
        self.assertEqual(code, 69)
        self.assertIn("install package stixeld-cuda, or let it be auto", err)

    def test_refusals(self):
        self.refused(69, "engine.backend = cuda: the CUDA engine is not installed", path="/nowhere/x.so")
        self.refused(69, "no CUDA device", open="none")
        self.refused(70, "1 MB of 2 MB are free", open="memory")
        self.refused(78, "engine.device = 3: there is one", open="wrong", args=["-s", "engine.device=3"])
        self.refused(70, "a frame of %dx%d needs more memory" % (WIDTH, HEIGHT), create="memory")
        self.refused(78, "the cuda engine has no zncc", create="cannot")

    def test_what_cuda_does_not_compute(self):
        """A setting that CUDA does not compute is refused under auto, too, if a device is usable. The engine chosen
        at the start stays."""
        exact = ("-s", "stixels.method=slanted-exact")
        for backend in ("cuda", "auto"):
            code, err = self.once("-s", "engine.backend=" + backend, *exact)
            self.assertEqual(code, 78, err)
            self.assertIn("stixels.method = slanted-exact: only engine.backend = cpu or reference computes it", err)
        for args, env in ((["-s", "engine.backend=cpu"], {}), ([], {"open": "none"})):
            code, err = self.once(*args, *exact, **env)
            self.assertEqual(code, 0, err)

    def test_wrong_modules(self):
        self.refused(69, "version 0.0.9-other, this is ", path=module("other-version"))
        self.refused(69, "built from other sources of version", path=module("other-sizes"))
        self.refused(69, "has no sx_module_cuda", path=os.environ["STIXELD_COUNT_MALLOC"])
        text = self.instance().top + "/text.so"
        with open(text, "w") as f:
            f.write("no library\n")
        self.refused(69, "the CUDA engine cannot be loaded: " + text, path=text)

    def test_never_loaded_for_other_engines(self):
        for backend in ("cpu", "reference"):
            i = self.instance()
            i.start(*SMALL, "-s", "engine.backend=" + backend, env={"STIXEL_MODULE_PATH": module()})
            with open("/proc/%d/maps" % i.process.pid) as f:
                maps = f.read()
            self.assertNotIn("fake-module", maps)
            self.assertNotIn("stixel-cuda", maps)
            self.assertEqual(i.stop(), 0)

    def test_shows_two_symbols(self):
        out = subprocess.run(["nm", "-D", "--defined-only", module()], capture_output=True, text=True, check=True)
        names = sorted(re.sub(r"@.*", "", line.split()[-1]) for line in out.stdout.splitlines())
        self.assertEqual([n for n in names if "asan" not in n], ["sx_backend_cuda", "sx_module_cuda"])


if __name__ == "__main__":
    unittest.main()
