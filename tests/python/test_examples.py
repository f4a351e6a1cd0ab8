"""The examples of docs/ that show frames as obstacles, in other programs' formats, or to other programs.

Those that need packages of PyPI skip without them. STIXEL_EXAMPLE_PYTHON names an interpreter that has them (open3d,
rerun-sdk, rosbags, PyYAML).

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

import support
import stixel
from support import SLOW

EXAMPLES = os.path.join(support.SOURCE, "docs", "examples")
PYTHON = os.environ.get("STIXEL_EXAMPLE_PYTHON", sys.executable)
SCENE = ["-s", "source.kind=synthetic", "-s", "source.size=640x240", "-s", "source.fps=10", "-s",
         "stereo.disparities=64"]
LONG = 90 * SLOW


def needs(*modules):
    """Skips a test if the interpreter lacks a module."""
    for module in modules:
        if subprocess.run([PYTHON, "-c", "import " + module], capture_output=True, check=False).returncode:
            return unittest.skip("%s is not installed (PyPI)" % module)
    return lambda test: test


class Examples(support.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, self.top)

    def path(self, name):
        return os.path.join(self.top, name)

    def run_it(self, d, name, *args, python=sys.executable):
        r = subprocess.run([python, os.path.join(EXAMPLES, name), *args], capture_output=True, text=True, timeout=LONG,
                           env=d.client())
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        return r.stdout

    def recorded(self, label, *args):
        """Returns a daemon that draws a street, and a recording of eight of its frames."""
        d = self.daemon(label, *SCENE, *args)
        r = subprocess.run([support.STIXELCTL, "-i", d.name, "record", self.path("drive.mcap"), "--frames", "8"],
                           capture_output=True, text=True, timeout=LONG, env=d.client(), check=False)
        self.assertEqual(r.returncode, 0, r.stderr)
        return d, self.path("drive.mcap")

    def test_stop(self):
        d = self.daemon("stop", *SCENE)
        with subprocess.Popen([sys.executable, os.path.join(EXAMPLES, "stop.py"), d.name], stdout=subprocess.PIPE,
                              text=True, env=d.client()) as child:
            self.addCleanup(child.kill)
            for _ in range(4):
                self.assertRegex(child.stdout.readline(), r"^go: free for (\d+\.\d\d|inf) m$")
            d.stop()
            line = "go"
            while line.startswith("go"):
                line = child.stdout.readline()
            self.assertEqual(line, "stop: no frame\n")
            child.terminate()

    def test_stop_before_a_wall(self):
        """The program says stop before a wall at 0.6 m, as in test_cpp.py, and for black images, where nothing can be
        matched."""
        d = self.daemon("wall", "-s", "source.kind=shared", "-s", "stereo.disparities=64", "-s", "engine.threads=1")
        import numpy as np
        self.use_runtime_dir(d.user)
        wall = np.random.default_rng(1).integers(0, 256, (240, 340), dtype=np.uint8)
        with stixel.PairWriter(d.name, 320, 240, camera=(200.0, 200.0, 159.5, 119.5, 0.06), simulated=True) as writer, \
                subprocess.Popen([sys.executable, os.path.join(EXAMPLES, "stop.py"), d.name], stdout=subprocess.PIPE,
                                 text=True, env=d.client()) as child:
            self.addCleanup(child.kill)
            self.assertTrue(writer.connect(timeout=LONG))
            for left, right in ((wall[:, :320], wall[:, 20:]), (np.zeros((240, 320), np.uint8),) * 2):
                found = ""
                for _ in range(100):
                    writer.write(left, right)
                    found = child.stdout.readline()
                    if re.match(r"^stop: free for 0\.\d\d m$", found):
                        break
                self.assertRegex(found, r"^stop: free for 0\.\d\d m$")
            child.terminate()

    def test_boxes(self):
        d, path = self.recorded("boxes")
        out = self.run_it(d, "boxes.py", path)
        heads = re.findall(r"^frame \d+: (\d+) boxes$", out, re.M)
        self.assertEqual(len(heads), 8)
        found = re.findall(r"^ +(\S+) m ahead, +(\S+) m to the left: (\S+) m wide, (\S+) m high$", out, re.M)
        self.assertEqual(len(found), sum(min(int(n), 5) for n in heads))
        self.assertGreater(len(found), 8)
        # the street has an object of about 2.4 m by 2.7 m at its side
        self.assertTrue(any(2 < float(wide) < 2.8 and 2.3 < float(high) < 3.1 for _, _, wide, high in found), out)

    @needs("open3d")
    def test_open3d(self):
        d, path = self.recorded("open3d")
        out = self.run_it(d, "open3d_view.py", path, self.path("frame.ply"), python=PYTHON)
        points = int(re.match(r"^frame \d+: (\d+) points, \d+ boxes$", out).group(1))
        with open(self.path("frame.ply"), "rb") as f:
            self.assertIn(b"element vertex %d\n" % points, f.read(500))
        self.assertGreater(points, 1000)

    @needs("rerun")
    def test_rerun(self):
        d, path = self.recorded("rerun")
        self.run_it(d, "rerun_log.py", path, self.path("drive.rrd"), python=PYTHON)
        with open(self.path("drive.rrd"), "rb") as f:
            data = f.read()
        self.assertEqual(data[:3], b"RRF")
        self.assertGreater(len(data), 50000)
        for entity in (b"road/obstacles", b"road/ground", b"road/boxes", b"left"):
            self.assertIn(entity, data)

    @needs("rosbags")
    def test_scan_bag(self):
        """The bag has the scan of each frame of the recording, as rosbags reads it."""
        d, path = self.recorded("scan")
        out = self.run_it(d, "scan_bag.py", path, self.path("bag"), python=PYTHON)
        self.assertEqual(out, "8 scans of /%s/scan\n" % d.name)
        read = ("import sys; from pathlib import Path; from rosbags.highlevel import AnyReader\n"
                "with AnyReader([Path(sys.argv[1])]) as r:\n"
                "    for c, ns, raw in r.messages():\n"
                "        m = r.deserialize(raw, c.msgtype)\n"
                "        stamp = m.header.stamp.sec * 10**9 + m.header.stamp.nanosec == ns\n"
                "        print(c.topic, c.msgtype, m.header.frame_id, stamp, m.ranges.tobytes().hex(), m.range_min, "
                "m.angle_min)\n")
        r = subprocess.run([PYTHON, "-c", read, self.path("bag")], capture_output=True, text=True, timeout=LONG)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        with stixel.Recording(path) as recording:
            scans = [frame.scan() for frame in recording]
        for line, scan in zip(r.stdout.splitlines(), scans):
            topic, kind, frame_id, stamp, ranges, range_min, angle_min = line.split()
            self.assertEqual((topic, kind, frame_id, stamp, ranges),
                             ("/%s/scan" % d.name, "sensor_msgs/msg/LaserScan", d.name + "/road", "True",
                              scan.ranges.tobytes().hex()))
            self.assertAlmostEqual(float(range_min), scan.range_min, places=5)
            self.assertAlmostEqual(float(angle_min), scan.angle_min, places=5)
        self.assertEqual(len(r.stdout.splitlines()), 8)

    def test_the_launch_file(self):
        """The launch file uses the parameters of stixel_ros. Modules made here replace the modules of ROS."""
        try:
            import yaml  # noqa: F401
        except ImportError:
            self.skipTest("PyYAML is not installed (Debian package python3-yaml)")
        share = os.path.join(support.SOURCE, "ros", "stixel_ros")
        nodes = []

        def node(**what):
            nodes.append(what)
            return what
        made = {name: types.ModuleType(name) for name in (
            "ament_index_python", "ament_index_python.packages", "launch", "launch.actions", "launch.substitutions",
            "launch_ros", "launch_ros.actions")}
        made["ament_index_python.packages"].get_package_share_directory = lambda package: share
        made["launch"].LaunchDescription = list
        made["launch.actions"].DeclareLaunchArgument = made["launch.actions"].ExecuteProcess = lambda *a, **k: (a, k)
        made["launch.substitutions"].LaunchConfiguration = str
        made["launch_ros.actions"].Node = node
        with mock.patch.dict(sys.modules, made):
            space = {}
            with open(os.path.join(EXAMPLES, "nav2_bag.launch.py"), encoding="utf-8") as f:
                text = f.read()
            self.assertLess(len(text.splitlines()), 45)
            exec(compile(text, "nav2_bag.launch.py", "exec"), space)  # the file is ours
            self.assertEqual(len(space["generate_launch_description"]()), 6)
        costmap = [n for n in nodes if n["package"] == "nav2_costmap_2d"][0]["parameters"][0]
        self.assertEqual(costmap["obstacle_layer"]["scan"]["topic"], "/front/scan")
        self.assertEqual([n["arguments"][3] for n in nodes if n["package"] == "tf2_ros"], ["base_link", "front/road"])


if __name__ == "__main__":
    unittest.main()
