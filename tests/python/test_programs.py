"""python3 -m stixel and the examples of docs/, as a user runs them.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import io
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import support
import stixel.__main__
from support import SLOW, SMALL

EXAMPLES = os.path.join(support.SOURCE, "docs", "examples")
LONG = 30 * SLOW
PACED = [*SMALL, "-s", "source.fps=20"]


class Program(support.TestCase):
    def run_it(self, d, *args, timeout=LONG, **more):
        return subprocess.run([sys.executable, *args], capture_output=True, text=True, timeout=timeout, env=d.client(),
                              **more)

    @staticmethod
    def interrupt(child):
        child.send_signal(signal.SIGINT)

    def lines_until(self, then, d, enough, *args):
        """Starts the program, reads lines until enough(lines), then calls then(child). Returns (lines, exit code,
        stderr)."""
        with subprocess.Popen([sys.executable, "-u", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=d.client()) as child:
            self.addCleanup(child.kill)
            lines, end = [], time.monotonic() + LONG
            while not enough(lines):
                if not select.select([child.stdout], [], [], max(0, end - time.monotonic()))[0]:
                    self.fail("only %s" % lines)
                line = child.stdout.readline()
                if not line:
                    self.fail("ended: %s %s" % (lines, child.stderr.read()))
                lines.append(line.rstrip("\n"))
            then(child)
            _, err = child.communicate(timeout=LONG)
            return lines, child.returncode, err


class Module(Program):
    LINE = (r"^\d\d:\d\d:\d\d\.\d{3}  frame \d+: \d+ stixels, "
            r"(nearest +\d+\.\d\d m in column \d+|no obstacle|nothing seen), "
            r"\d+\.\d ms old(, \d+ lost)?$")

    def test_lines_until_interrupted(self):
        d = self.daemon("module", *PACED)
        lines, code, err = self.lines_until(self.interrupt, d, lambda x: len(x) > 2, "-m", "stixel", d.name)
        self.assertEqual((code, err), (0, ""))
        for line in lines:
            self.assertRegex(line, self.LINE)

    def test_so_many_lines_through_the_socket(self):
        d = self.daemon("stream", *PACED)
        r = self.run_it(d, "-m", "stixel", d.name, "--frames", "3", "--stream", "--follow")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        for line in r.stdout.splitlines():
            self.assertRegex(line, self.LINE)
        self.assertEqual(len(r.stdout.splitlines()), 3)

    def test_end_of_the_publisher(self):
        d = self.daemon("end", *PACED)
        _, code, err = self.lines_until(lambda _: d.stop(), d, lambda x: x, "-m", "stixel", d.name)
        self.assertEqual((code, err), (0, ""))

    def test_death_of_the_publisher(self):
        d = self.daemon("death", *PACED)
        pid = d.process.pid
        _, code, err = self.lines_until(lambda _: d.stop(signal.SIGKILL), d, lambda x: x, "-m", "stixel", d.name)
        text = "python3 -m stixel: instance '%s': the publisher (process %d) died\n" % (d.name, pid)
        self.assertEqual((code, err), (1, text))

    def test_nobody_reads_it(self):
        d = self.daemon("pipe", *PACED)
        r = subprocess.run(["bash", "-c", 'set -o pipefail; "$0" -m stixel "$1" | head -n 1', sys.executable, d.name],
                           capture_output=True, text=True, timeout=LONG, env=d.client(), check=False)
        self.assertEqual((r.returncode, r.stderr), (0, ""))

    def main(self, *args):
        """Does the same without a process. Returns (exit code, stdout, stderr)."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = stixel.__main__.main(list(args))
            except SystemExit as e:
                code = e.code
        return code, out.getvalue(), err.getvalue()

    def test_errors(self):
        d = support.Daemon("nobody")
        self.addCleanup(d.close)
        for args, code, text in (
                ([d.name], 1, "instance '%s': no stixel publisher of this name is running" % d.name),
                ([".x"], 64, "instance '.x': not a name"), (["--frames", "-1"], 64, "--frames -1: 0 or more"),
                (["--frames", "x"], 64, "invalid int value"), (["a", "b"], 64, "unrecognized arguments: b"),
                (["--bad"], 64, "unrecognized arguments: --bad")):
            got = self.main(*args)
            self.assertEqual(got[:2], (code, ""), args)
            self.assertIn(text, got[2])
        with open(d.ring_path, "wb") as f:
            f.write(b"x" * 8192)
        code, _, err = self.main(d.name)
        self.assertEqual((code, "not a stixel ring" in err), (65, True), err)
        code, out, _ = self.main("--version")
        self.assertEqual((code, out[:7]), (0, "stixel "))


class Examples(Program):
    def example(self, name):
        return os.path.join(EXAMPLES, name)

    def test_all_are_short_and_tested(self):
        names = set(map(os.path.basename, support.examples()))
        self.assertEqual(names, {"reader.py", "free_space.py", "two_cameras.py", "plot.py", "scores.py", "external.py",
                                 "pairs.py", "depthai_pairs.py", "realsense_pairs.py", "zed_pairs.py", "robot.py",
                                 "repeat.py", "images.py", "stop.py", "boxes.py", "open3d_view.py", "rerun_log.py",
                                 "scan_bag.py"})
        for name in names - {"robot.py"}:  # a whole robot; test_robot.py drives it
            with open(self.example(name), encoding="utf-8") as f:
                lines = f.readlines()
            self.assertLess(len(lines), 41, name)
            self.assertLess(max(map(len, lines)), 122, name)

    def test_reader(self):
        d = self.daemon("reader", *PACED)
        lines, code, err = self.lines_until(lambda _: d.stop(), d, lambda x: len(x) > 2, self.example("reader.py"),
                                            d.name)
        self.assertEqual((code, err), (0, ""))
        for line in lines:
            self.assertRegex(line, r"^frame \d+, \d+ missed, \d+ stixels, nearest \S+ m, \d+\.\d ms old$")
        r = self.run_it(d, self.example("reader.py"), d.name)
        text = "instance '%s': no stixel publisher of this name is running: start it (stixeld -i %s), " \
            "or name one of those that stixelctl list shows\n" % (d.name, d.name)
        self.assertEqual((r.returncode, r.stderr), (1, text))

    def test_free_space(self):
        d = self.daemon("free", *PACED)
        lines, code, err = self.lines_until(self.interrupt, d, lambda x: len(x) > 2, self.example("free_space.py"),
                                            d.name)
        self.assertEqual((code, err), (0, ""))
        for line in lines:
            self.assertRegex(line, r"^frame \d+: left +\S+ m, ahead +\S+ m, right +\S+ m, \d+ % not seen$")
        ahead = [float(re.search(r"ahead +(\S+)", line).group(1)) for line in lines]
        self.assertTrue(all(2 < m for m in ahead), lines)
        d.stop()

    def test_two_cameras(self):
        d = self.daemon("two", *PACED)
        p = self.publisher(100000, 20)
        both = r"^(%s|%s): frame \d+, free ahead \S+ m$" % (d.name, p.name)
        lines, code, err = self.lines_until(
            self.interrupt, d, lambda x: len({line.split(":")[0] for line in x}) == 2 and len(x) > 8,
            self.example("two_cameras.py"), d.name, p.name)
        self.assertEqual((code, err), (0, ""))
        for line in lines:
            self.assertRegex(line, both)

    def record(self, d, frames, path):
        r = subprocess.run([support.STIXELCTL, "record", "--raw", "--frames", str(frames), "-i", d.name, path],
                           env=d.client(), capture_output=True, text=True, timeout=LONG)
        self.assertEqual(r.returncode, 0, r.stderr)

    def test_repeat(self):
        """A daemon that gets the pairs of a recording without loss computes the stixels of that recording again."""
        top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, top)
        d = self.daemon("first", *SMALL, "-s", "source.fps=10", "-s", "output.planes=pair")
        self.record(d, 8, top + "/first.mcap")
        again = self.daemon("again", *SMALL, "-s", "source.kind=shared", "-s", "output.planes=pair", "-s",
                            "output.planes_when=always")
        want = {f.left.tobytes(): f.stixels.tobytes() for f in stixel.Recording(top + "/first.mcap")}
        reader, got = self.open(again.name, images=["left"], follow=True), {}

        def read():
            for f in reader:
                got[f.left.tobytes()] = f.stixels.tobytes()
                if f.left.tobytes() == list(want)[-1]:
                    return

        reading = threading.Thread(target=read, daemon=True)
        reading.start()
        r = self.run_it(again, self.example("repeat.py"), top + "/first.mcap", again.name)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertEqual(r.stdout, "8 pairs of %s given to %s\n" % (top + "/first.mcap", again.name))
        reading.join(LONG)
        # a reader that follows may come late to the first frames of a publisher
        self.assertTrue(len(got) >= 4 and got.keys() <= want.keys(), len(got))
        # the first frame has no previous road, so its stixels may differ
        self.assertGreaterEqual(sum(got[k] == want[k] for k in got), len(got) - 1)
        r = self.run_it(again, self.example("repeat.py"), "/dev/null", again.name)
        self.assertEqual((r.returncode, "not a plain file" in r.stderr), (1, True))

    def test_images(self):
        top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, top)
        d = self.daemon("images", *SMALL, "-s", "source.fps=10", "-s", "output.planes=pair")
        self.record(d, 4, top + "/drive.mcap")
        r = self.run_it(d, self.example("images.py"), top + "/drive.mcap", top + "/drive")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertRegex(r.stdout, r"^4 pairs: stixel-process --motion --fps [\d.]+ %s/drive\n$" % re.escape(top))
        frames = list(stixel.Recording(top + "/drive.mcap"))
        for k, f in enumerate(frames):
            for side, image in (("image_0", f.left), ("image_1", f.right)):
                with open("%s/drive/%s/%06d.pgm" % (top, side, k), "rb") as file:
                    self.assertEqual(file.read(), b"P5 %d %d 255\n" % image.shape[::-1] + image.tobytes())
        # stixeld knows the layout, and takes the camera from it
        again = self.daemon("drive", "-s", "source.kind=files", "-s", "source.path=%s/drive" % top)
        frame = self.open(again.name).latest(timeout=LONG)
        for got, want in zip(frame.camera, frames[0].camera):
            self.assertAlmostEqual(got, want, places=6)
        r = self.run_it(d, self.example("images.py"), "/dev/null", top + "/none")
        self.assertEqual((r.returncode, "not a plain file" in r.stderr), (1, True))

    def test_plot(self):
        if subprocess.run([sys.executable, "-c", "import matplotlib"], capture_output=True).returncode:
            if os.environ.get("CI"):
                self.fail("matplotlib is not installed (Debian package python3-matplotlib)")
            self.skipTest("matplotlib is not installed")
        d = self.daemon("plot", "-s", "source.kind=synthetic", "-s", "source.size=640x240", "-s", "source.fps=10")
        top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, top)
        env = dict(d.client(), MPLCONFIGDIR=top)
        r = subprocess.run([sys.executable, self.example("plot.py"), d.name, top + "/frame.png"], capture_output=True,
                           text=True, timeout=LONG * 2, env=env)
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "", ""))
        with open(top + "/frame.png", "rb") as f:
            data = f.read()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreater(len(data), 20000)
        keep = os.environ.get("STIXEL_KEEP_PLOT")  # keeps the plot for inspection
        if keep:
            shutil.copy(top + "/frame.png", keep)


if __name__ == "__main__":
    unittest.main()
