"""The robot of docs/examples/robot.py drives through a simulated room by what stixeld sees, and touches nothing. Needs
OSMesa, and MuJoCo in Python's own folders or in STIXEL_MUJOCO, where tools/test puts it.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes.util
import importlib.util
import os
import subprocess
import sys
import unittest

import support

MODULES = os.environ.get("STIXEL_MUJOCO", "")
if not (MODULES or importlib.util.find_spec("mujoco")) or not ctypes.util.find_library("OSMesa"):
    print("no MuJoCo (pip install mujoco), or no OSMesa (apt install libosmesa6): the robot does not drive")
    sys.exit(77)

class Robot(unittest.TestCase):
    def test_drives(self):
        d = support.Daemon("robot")
        self.addCleanup(d.close)
        d.start("-s", "source.kind=shared", "-s", "camera.height_m=0.25")
        program = os.path.join(support.SOURCE, "docs", "examples", "robot.py")
        env = d.client(MUJOCO_GL="osmesa")
        env["PYTHONPATH"] = os.pathsep.join(filter(None, (MODULES, env["PYTHONPATH"])))
        r = subprocess.run([sys.executable, program, d.name, "--metres", "5"], env=env, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, timeout=300)
        self.assertEqual((r.returncode, r.stdout[-16:]), (0, "touched nothing\n"), r.stdout + r.stderr)


if __name__ == "__main__":
    unittest.main()
