"""The C++ header: compiled by g++ and clang++ as C++17 and C++20, and run against live daemons; the examples in C++.

SPDX-License-Identifier: Apache-2.0
"""
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import support
import stixel
from support import SLOW, SMALL

INCLUDE = os.path.join(support.SOURCE, "include")
LIBRARY = os.environ["STIXEL_LIBRARY"]
CLIENT = os.path.join(support.SOURCE, "tests", "python", "client.cpp")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wold-style-cast", "-Werror", "-I", INCLUDE]
COMPILERS = [c for c in ("g++", "clang++") if shutil.which(c)]
LONG = 60 * SLOW


@unittest.skipUnless(COMPILERS, "no C++ compiler is installed (g++, clang++)")
class Header(support.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.mkdtemp(prefix="stixel-")
        cls.addClassCleanup(shutil.rmtree, cls.top)

    def compile(self, source, compiler, standard, *flags):
        """Returns the program."""
        program = os.path.join(self.top, "-".join((os.path.basename(source), compiler, standard)))
        if not os.path.exists(program):
            r = subprocess.run([compiler, "-std=" + standard, *WARNINGS, *flags, source, "-o", program, LIBRARY,
                                "-Wl,-rpath," + os.path.dirname(LIBRARY)], capture_output=True, text=True, timeout=LONG)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
        return program

    def programs(self):
        return [self.compile(CLIENT, c, standard) for c in COMPILERS for standard in ("c++17", "c++20")]

    def run_it(self, program, *args, d=None, code=0):
        r = subprocess.run([program, *args], capture_output=True, text=True, timeout=LONG,
                           env=d.client() if d else None)
        self.assertEqual((r.returncode, r.stderr), (code, ""))
        return r.stdout

    def test_frames_are_those_of_python(self):
        d = self.daemon("cpp", *SMALL, "-s", "source.fps=10", "-s", "output.planes=left", "-s",
                        "output.planes_when=always")
        for program in self.programs():
            with subprocess.Popen([program, "read", d.name, "4"], stdout=subprocess.PIPE, text=True,
                                  env=d.client()) as client:
                self.addCleanup(client.kill)
                seen = {}
                with stixel.open(d.name) as reader:
                    for frame in reader:
                        seen[frame.number] = frame
                        if client.poll() is not None:
                            break
                lines = client.stdout.read().splitlines()
            self.assertEqual((client.returncode, len(lines)), (0, 4))
            compared = 0
            for line in lines:
                number, count, objects, nearest, pixels, free, middle, scan, points = line.split()
                frame = seen.get(int(number))
                if frame is None:
                    continue
                compared += 1
                found = frame.stixels["kind"] == stixel.Kind.OBJECT
                self.assertEqual((int(count), int(objects)), (len(frame.stixels), int(found.sum())))
                depth = frame.depth[found]
                self.assertAlmostEqual(float(nearest), depth[depth > 0].min(initial=math.inf), delta=1e-6)
                self.assertEqual(int(pixels), int(frame.left.sum()))
                columns = frame.free_columns()
                self.assertEqual(int(free), len(columns))
                self.assertAlmostEqual(float(middle), float(columns["to_m"][len(columns) // 2]), delta=1e-4)
                self.assertEqual(int(scan), len(frame.scan().ranges))
                self.assertGreater(int(points), 0)
            self.assertGreater(compared, 1)

    def test_pairs(self):
        d = self.daemon("cpp-pairs", "-s", "source.kind=shared", "-s", "stereo.disparities=64", "-s",
                        "engine.threads=1")
        for program in self.programs():
            self.assertEqual(self.run_it(program, "write", d.name, "5", d=d), "5\n")
        with stixel.open(d.name) as reader:
            frame = reader.latest(timeout=LONG)
            known = frame.depth[(frame.stixels["kind"] == stixel.Kind.OBJECT) & (frame.depth > 0)]
            self.assertAlmostEqual(float(sorted(known)[len(known) // 2]), 200 * 0.06 / 20, delta=0.03)

    def test_errors(self):
        for program in self.programs():
            lines = self.run_it(program, "errors", "no-such-instance").splitlines()
            self.assertRegex(lines[0], "^instance 'no-such-instance': no stixel publisher of this name is running")
            self.assertRegex(lines[1], r"^instance '\.\./x': .")

    def test_without_exceptions(self):
        source = os.path.join(self.top, "plain.cpp")
        with open(source, "w", encoding="ascii") as f:
            f.write("#include <stixel.hpp>\nint main()\n{\n\tstd::error_code ec;\n\tstixels::reader r(\"no-such\", 0, "
                    "ec);\n\n\tif (!ec)\n\t\treturn 1;\n\tstixels::reader(\"no-such\");\n}\n")
        for compiler in COMPILERS:
            program = self.compile(source, compiler, "c++17", "-fno-exceptions", "-fno-rtti")
            r = subprocess.run([program], capture_output=True, text=True, check=False)
            self.assertEqual(r.returncode, -signal.SIGABRT)
            self.assertIn("instance 'no-such': no stixel publisher", r.stderr)

    # ---- examples ----

    def example(self, name):
        path = os.path.join(support.SOURCE, "docs", "examples", name)
        with open(path, encoding="utf-8") as f:
            self.assertLess(len(f.readlines()), 66, name)
        return self.compile(path, COMPILERS[0], "c++17")

    def test_boxes(self):
        d = self.daemon("cpp-boxes", *SMALL, "-s", "source.fps=10")
        with subprocess.Popen([self.example("boxes.cpp"), d.name], stdout=subprocess.PIPE, text=True,
                              env=d.client()) as child:
            self.addCleanup(child.kill)
            lines = [child.stdout.readline() for _ in range(12)]
            d.stop()
            self.assertEqual(child.wait(LONG), 0)  # the publisher ended in order
        for line in lines:
            self.assertRegex(line, r"^(frame \d+: \d+ boxes| +\S+ m ahead, +\S+ m to the left: \S+ m wide, "
                             r"\S+ m high)$")

    def test_stop(self):
        d = self.daemon("cpp-stop", *SMALL, "-s", "source.fps=10")
        with subprocess.Popen([self.example("stop.cpp"), d.name], stdout=subprocess.PIPE, text=True,
                              env=d.client()) as child:
            self.addCleanup(child.kill)
            lines = [child.stdout.readline() for _ in range(4)]
            for line in lines:
                self.assertRegex(line, r"^go: free for (\d+\.\d\d|inf) m$")
            d.stop()
            until = time.monotonic() + LONG
            while not line.startswith("stop: no frame") and time.monotonic() < until:
                line = child.stdout.readline()
            self.assertEqual(line, "stop: no frame\n")
            child.terminate()
        d = self.daemon("cpp-near", "-s", "source.kind=shared", "-s", "stereo.disparities=64", "-s", "engine.threads=1")
        self.run_it(self.programs()[0], "write", d.name, "5", d=d)  # a wall at 0.6 m
        with subprocess.Popen([self.example("stop.cpp"), d.name], stdout=subprocess.PIPE, text=True,
                              env=d.client()) as child:
            self.addCleanup(child.kill)
            self.assertTrue(re.match(r"^stop: free for 0\.\d\d m$", child.stdout.readline()))
            child.terminate()


if __name__ == "__main__":
    unittest.main()
