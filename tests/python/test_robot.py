"""The robot of docs/examples/robot.py drives through a simulated room by what stixeld sees, and touches nothing. Needs
OSMesa, and MuJoCo in this Python or in that of STIXEL_BRIDGE_PYTHON, which tools/test makes.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes.util
import os
import subprocess
import sys
import unittest

import support

PYTHON = os.environ.get("STIXEL_BRIDGE_PYTHON", sys.executable)
if not ctypes.util.find_library("OSMesa") or subprocess.run([PYTHON, "-c", "import mujoco"], check=False,
                                                            stderr=subprocess.DEVNULL).returncode:
    print("no MuJoCo (pip install mujoco), or no OSMesa (apt install libosmesa6): the robot does not drive")
    sys.exit(77)


class Robot(unittest.TestCase):
    def test_drives(self):
        d = support.Daemon("robot")
        self.addCleanup(d.close)
        d.start("-s", "source.kind=shared", "-s", "camera.height_m=0.25")
        program = os.path.join(support.SOURCE, "docs", "examples", "robot.py")
        env = d.client(MUJOCO_GL="osmesa")
        env["PYTHONPATH"] = os.pathsep.join(filter(None, (env["PYTHONPATH"], os.environ.get("PYTHONPATH"))))
        r = subprocess.run([PYTHON, program, d.name, "--metres", "5"], env=env, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, timeout=300)
        self.assertEqual((r.returncode, r.stdout[-16:]), (0, "touched nothing\n"), r.stdout + r.stderr)


if __name__ == "__main__":
    unittest.main()
