# Tests stixel-bench --report on a board made of files: what the report contains, and that it contains nothing about the
# owner.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import socket
import subprocess
import unittest

from support import Folder, program, run

MODULE = os.environ["STIXEL_FAKE_MODULE"]  # computes what the reference does, under the name cuda
SIZE = ["--size", "128x64", "-s", "stereo.disparities=64"]
PLANTED = {
    "/sys/firmware/devicetree/base/model": "NVIDIA Jetson Orin NX Engineering Reference Developer Kit\0",
    "/etc/nv_tegra_release": "# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64\nmore\n",
    "/etc/os-release": 'NAME="Ubuntu"\nPRETTY_NAME="Ubuntu 22.04.5 LTS"\n',
    "/proc/sys/kernel/osrelease": "5.15.148-tegra\n",
    "/proc/cpuinfo": "".join("processor\t: %d\nmodel name\t: ARMv8 Processor rev 1 (v8l)\nCPU implementer\t: 0x41\n"
                             "CPU part\t: 0xd42\n\n" % n for n in range(8)) + "Serial\t\t: 0000planted-serial-1\n",
    "/proc/meminfo": "MemTotal:       15657000 kB\nMemFree: 1 kB\n",
    "/var/lib/nvpmodel/status": "pmode:0003\n",
    "/etc/nvpmodel.conf": "< POWER_MODEL ID=3 NAME=25W >\n",
    "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "performance\n",
    "/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq": "1984000\n",
    "/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq": "1984000\n",
    "/sys/class/devfreq/17000000.gpu/cur_freq": "306000000\n",
    "/sys/class/devfreq/17000000.gpu/max_freq": "918000000\n",
    "/sys/class/thermal/thermal_zone0/type": "cpu-thermal\n",
    "/sys/class/thermal/thermal_zone0/temp": "47250\n",
    "/sys/class/thermal/thermal_zone1/type": "cv0-thermal\n",  # switched off: it has a type but no temperature
    "/sys/class/hwmon/hwmon1/name": "ina3221\n",
    "/sys/class/hwmon/hwmon1/in1_label": "VDD_IN\n",
    "/sys/class/hwmon/hwmon1/in1_input": "5000\n",
    "/sys/class/hwmon/hwmon1/curr1_input": "2400\n",
}
# Private data about the computer's owner, in each place that a program might read.
PRIVATE = {
    "/sys/firmware/devicetree/base/serial-number": "planted-serial-2\0",
    "/sys/class/dmi/id/product_serial": "planted-serial-3\n",
    "/sys/class/dmi/id/product_uuid": "planted-serial-4\n",
    "/sys/class/net/eth0/address": "48:b0:2d:pl:an:ed\n",
    "/etc/hostname": "planted-host-1\n",
    "/proc/sys/kernel/hostname": "planted-host-2\n",
    "/etc/machine-id": "planted-machine\n",
    "/etc/passwd": "planted-user:x:1000:1000::/planted/user:/bin/sh\n",
}
OWNER = {"USER": "planted-user", "LOGNAME": "planted-user", "HOME": "/planted/home", "HOSTNAME": "planted-host-3"}


def in_another_host(command):
    """Returns the command on a host that is called planted-host-4, if the system allows that."""
    prefix = ["unshare", "--uts", "sh", "-c", 'echo planted-host-4 >/proc/sys/kernel/hostname && exec "$@"', "sh"]
    try:
        allowed = subprocess.run(prefix + ["true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        allowed = False
    return prefix + command if allowed else command


class Report(Folder):
    def setUp(self):
        super().setUp()
        self.root, self.file = self.path("planted-root"), self.path("report.json")

    def plant(self, files):
        for path, text in files.items():
            os.makedirs(os.path.dirname(self.root + path), exist_ok=True)
            with open(self.root + path, "w") as f:
                f.write(text)

    def report(self, *args, want=0, module="/nowhere", **env):
        r = run("stixel-bench", "--report", self.file, "--warm-up", 0, *args,
                env=dict(os.environ, STIXEL_MODULE_PATH=module, **env))
        self.assertEqual(r.returncode, want, r.stderr + r.stdout)
        self.assertEqual([n for n in self.listing() if n.startswith("report.json.")], [])
        return r

    def read(self):
        with open(self.file) as f:
            return json.load(f)

    def test_a_board(self):
        self.plant({**PLANTED, **PRIVATE})
        settings = ["engine.threads=2", "power.root=" + self.root, "power.interval_ms=20", "power.gpu=GPU-planted-uuid",
                    "source.path=/planted/home/street"]
        command = [program("stixel-bench"), "--report", self.file, *SIZE, "--frames", "6", "--warm-up", "0"]
        r = subprocess.run(in_another_host(command + [w for s in settings for w in ("-s", s)]), text=True, timeout=120,
                           env=dict(os.environ, STIXEL_MODULE_PATH=MODULE, FAKE_MODULE_FACTS="8 87",
                                    FAKE_MODULE_DEVICE="Orin", **OWNER), capture_output=True)
        self.assertEqual((r.returncode, r.stderr), (0, ""), r.stdout)
        self.check_board(self.read())
        with open(self.file) as f:
            text = f.read()
        self.assertNotIn("plant", text)
        self.assertNotIn(self.folder, text)
        self.assertNotIn("48:b0", text)
        for name in (os.path.expanduser("~") + "/", socket.gethostname()):
            if len(name) > 5:
                self.assertNotIn(name, text)

    def check_board(self, j):
        self.assertEqual(list(j), ["report", "program", "board", "settings", "engines", "clocks", "temperatures_c"])
        self.assertEqual(j["report"], 1)
        self.assertRegex(j["program"]["compiler"], r"^(gcc|clang) \d+\.\d+\.\d+$")
        self.assertEqual(j["board"], {
            "model": "NVIDIA Jetson Orin NX Engineering Reference Developer Kit",
            "tegra_release": PLANTED["/etc/nv_tegra_release"].split("\n")[0], "system": "Ubuntu 22.04.5 LTS",
            "kernel": "5.15.148-tegra", "mode_id": 3, "mode": "25W", "cpu": "ARMv8 Processor rev 1 (v8l)",
            "cpu_implementer": "0x41", "cpu_part": "0xd42", "cpus": 8, "memory_bytes": 15657000 * 1024,
            "governor": "performance"})
        self.assertEqual(j["settings"], ["stereo.disparities=64", "engine.threads=2"])
        clocks = {"cpu_hz": 1984000000, "cpu_max_hz": 1984000000, "gpu_hz": 306000000, "gpu_max_hz": 918000000,
                  "memory_hz": None}
        self.assertEqual(j["clocks"], {"before": clocks, "after": clocks})
        self.assertEqual(j["temperatures_c"], [{"zone": "cpu-thermal", "before": 47.25, "after": 47.25},
                                               {"zone": "cv0-thermal", "before": None, "after": None}])
        self.assertEqual([e["engine"] for e in j["engines"]], ["cuda", "cpu"])
        for e in j["engines"]:
            self.check_engine(e)
        self.assertEqual(j["engines"][0]["gpu"], {
            "name": "Orin", "capability": 87, "sms": 8, "integrated": True, "max_hz": 918000000,
            "memory_bytes": 8 << 30, "memory_bytes_per_s": None, "cuda_of_build": "11.4", "cuda_of_driver": "12.6",
            "code": "sm_87"})
        predicted = j["engines"][0]["results"][0]["predicted"]
        self.assertEqual((predicted["board"], predicted["clock_ghz"], predicted["size"]),
                         ("Jetson Orin NX 16 GB", 0.918, "128x64"))
        self.assertGreater(predicted["chain_ms"], predicted["stages"]["sgm"]["ms"])
        self.assertIsNone(j["engines"][1]["results"][0]["predicted"])

    def check_engine(self, e):
        self.assertIsNone(e["unusable"])
        [r] = e["results"]
        self.assertEqual((r["engine"], r["case"], r["size"], r["frames"]), (e["engine"], "default 128x64", "128x64", 6))
        self.assertGreater(r["chain_ms"]["median"], 0)
        for s in r["stages"].values():
            self.assertLessEqual(s["median"], s["p99"])
        load = e["load"]
        self.assertAlmostEqual(load["fps"], load["frames"] / load["seconds"], delta=0.01 * load["fps"])
        self.assertEqual((load["cpu_hz"], load["gpu_hz"], load["memory_hz"]),
                         ([1984000000] * 2, [306000000] * 2, None))
        self.assertEqual(load["temperatures_c"][0], {"zone": "cpu-thermal", "end": 47.25})
        power = load["power"]
        self.assertEqual((power["source"], power["scope"], power["device"]),
                         ("ina3221", "module", "VDD_IN at hwmon1"))
        self.assertEqual((power["idle_watts"], power["watts"]), (12, 12))
        self.assertAlmostEqual(power["joules_per_frame"] * load["fps"], 12, delta=0.1)
        self.assertAlmostEqual(power["fps_per_watt"] * 12, load["fps"], delta=0.01 * load["fps"])

    def test_without_anything(self):
        os.mkdir(self.root)
        self.report(*SIZE, "--frames", 1, "-s", "power.root=" + self.root)
        j = self.read()
        self.assertEqual({v for k, v in j["board"].items()}, {None})
        self.assertEqual(j["temperatures_c"], [])
        self.assertEqual(j["engines"][0], {"engine": "cuda", "unusable": "the CUDA engine is not installed"})
        self.assertIsNone(j["engines"][1]["load"]["power"])

    def test_a_module_of_another_build(self):
        with open(self.path("planted.so"), "w") as f:
            f.write("no library\n")
        r = self.report(*SIZE, "--frames", 1, module=self.path("planted.so"))
        self.assertIn("planted.so", r.stdout)  # the terminal shows it, but the file does not
        self.assertEqual(self.read()["engines"][0]["unusable"],
                         "the CUDA engine cannot be loaded, or is of another build")

    def test_a_device_that_does_not_open(self):
        self.report(*SIZE, "--frames", 1, module=MODULE, FAKE_MODULE_OPEN="none")
        self.assertEqual(self.read()["engines"][0]["unusable"], "engine.backend = cuda: no CUDA device")

    def test_a_case_that_fails(self):
        r = self.report(*SIZE, "--frames", 1, module=MODULE, FAKE_MODULE_CREATE="memory")
        self.assertIn("needs more memory", r.stderr)
        cuda, cpu = self.read()["engines"]
        self.assertEqual(cuda["results"], [{"case": "default 128x64", "failed": 70}])
        self.assertEqual((cuda["load"], len(cpu["results"])), (None, 1))

    def test_standard_cases(self):
        with subprocess.Popen([program("stixel-bench"), "--report", self.file], stdout=subprocess.PIPE, text=True) as p:
            line = p.stdout.readline()
            p.terminate()
        self.assertRegex(line, r"^11 cases, 100 frames each: default 1242x375; default 1280x720; chain 1024x440; "
                               r"chain 2048x1024; matcher [^;]+; stixels by dp[^;]+; stixels by rdp[^;]+; "
                               r"S1 [^;]+; S2 [^;]+; S3 [^;]+; S4 [^;]+$")
        self.assertEqual(self.listing(), [])

    def test_refused(self):
        for more in (["--table"], ["--json"], ["--sms", 4], ["--asleep"], ["--pair", "a", "b"], ["--timeline", "x"],
                     ["-c", "x"]):
            with self.subTest(more):
                self.assertIn("--report", self.report(*more, want=64).stderr)
        self.report("-s", "stereo.paths=3", want=78)
        self.report("--size", "8x8", want=64)
        self.assertIn("not installed", self.report(*SIZE, "-s", "engine.backend=cuda", want=69).stderr)
        self.assertEqual(self.listing(), [])
        with open(self.file, "w") as f:
            f.write("mine")
        self.assertIn("report.json: already exists: choose another name", self.report(*SIZE, want=73).stderr)
        with open(self.file) as f:
            self.assertEqual(f.read(), "mine")
        self.file = self.path("no", "where")
        self.assertIn("No such file", self.report(*SIZE, want=73).stderr)


if __name__ == "__main__":
    unittest.main()
