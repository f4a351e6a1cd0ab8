# Tests check_power on a board made of files, and without a sensor.
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)


class Check(unittest.TestCase):
    def run_it(self, *args):
        env = {k: v for k, v in os.environ.items() if k != "SX_REQUIRE_GPU"}
        r = subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=60, env=env)
        return r.returncode, r.stdout, r.stderr

    def put(self, root, path, text):
        path = root + path
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text + "\n")

    def test_it(self):
        with tempfile.TemporaryDirectory() as root:
            code, out, _ = self.run_it("auto", "2", root)
            self.assertEqual(code, 77)
            self.assertIn("no sensor: the processor's energy counter (RAPL) is not in", out)
            self.put(root, "/sys/firmware/devicetree/base/model", "Jetson")
            for name, text in (("in1_label", "VDD_IN"), ("in1_input", "5000"), ("curr1_input", "2000"),
                               ("name", "ina3221")):
                self.put(root, "/sys/class/hwmon/hwmon0/" + name, text)
            code, out, _ = self.run_it("ina", "2", root)
            self.assertIn("board     Jetson\n", out)
            self.assertIn("sensor    ina3221: module, VDD_IN at hwmon0, every 100 ms", out)
            self.assertRegex(out, r"  2 s  10\.000 W \(10 s: 10\.000\)  0\.3")
            self.assertEqual((code, out.count("NOT OK"), out.count("\nok ")), (0, 0, 4), out)
            self.put(root, "/sys/class/hwmon/hwmon0/curr1_input", "0")  # 0 W: two checks fail
            code, out, _ = self.run_it("ina", "2", root)
            self.assertEqual((code, out.count("NOT OK")), (1, 2), out)

    def test_usage(self):
        for args in (["sun"], ["auto", "1"], ["auto", "x"], ["auto", "2", "/", "more"]):
            code, _, err = self.run_it(*args)
            self.assertEqual(code, 1)
            self.assertIn("usage:", err)


if __name__ == "__main__":
    unittest.main()
