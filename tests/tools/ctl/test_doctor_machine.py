# Tests stixelctl doctor: service, shared memory, clocks, power sensors, and processes that write scores and maps.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import shutil
import struct
import subprocess
import threading
import time
import unittest

from doctor_case import CAMERA, Doctor, NOBODY, library
from support import program


class Service(Doctor):
    def test_failed(self):
        for code, word in ((78, "configuration is wrong"), (69, "no usable GPU"), (73, "another daemon"),
                           (9, "journalctl")):
            self.systemctl(ActiveState="failed", SubState="failed", Result="exit-code", ExecMainStatus=code,
                           NRestarts=3)
            self.only(self.doctor(), "unit", "problem", "failed (exit-code, exit status %d) after 3 restarts" % code,
                      word,
                      "journalctl -u stixeld@front")

    def test_restarting(self):
        self.systemctl(ActiveState="activating", SubState="auto-restart", Result="watchdog", ExecMainStatus=6,
                       NRestarts=4)
        self.only(self.doctor(), "unit", "problem", "restarted, attempt 5 (watchdog")

    def test_restarted(self):
        self.systemctl(ActiveState="inactive", SubState="dead", NRestarts=2)
        self.only(self.doctor(want=0), "unit", "warning", "restarted 2 times")

    def test_active_but_silent(self):
        self.systemctl()
        self.only(self.doctor(), "instance", "problem", "no stixeld runs as 'front'")

    def test_jetson_without_its_drop_in(self):
        module = {"STIXEL_MODULE_PATH": os.environ["STIXEL_FAKE_MODULE"]}
        path = self.put("/etc/j.conf", "[source]\nkind=synthetic\n")
        self.put("/etc/nv_tegra_release", "# R36 (release), REVISION: 2.0\n")
        self.systemctl(ActiveState="inactive", SubState="dead")
        self.only(self.doctor("-c", path, env=module, want=0), "engine", "warning", "hides the GPU", "jetson.conf")
        self.systemctl(ActiveState="inactive", SubState="dead",
                       DeviceAllow="char-video4linux rw\nDeviceAllow=/dev/nvmap rw")
        self.assertEqual([f[0] for f in self.doctor("-c", path, env=module, want=0)["engine"]], ["ok"])

    def test_drop_ins_that_take_too_much(self):
        module = {"STIXEL_MODULE_PATH": os.environ["STIXEL_FAKE_MODULE"]}
        self.put("/proc/driver/nvidia/version", "NVRM version: 550\n")
        self.systemctl(ActiveState="inactive", SubState="dead", DeviceAllow="char-video4linux rw")
        path = self.put("/etc/g.conf", "[source]\nkind=synthetic\n[engine]\nbackend=cuda\n")
        self.only(self.doctor("-c", path, env=module), "engine", "problem", "hides the GPU", "cpu.conf")
        path = self.put("/etc/g.conf", "[source]\nkind=v4l2\nleft=/dev/none-l\nright=/dev/none-r\n%s" % CAMERA)
        self.assertFalse(any("hides cameras" in f[1] for f in self.doctor("-c", path)["unit"]))
        self.systemctl(ActiveState="inactive", SubState="dead", PrivateDevices="yes")
        self.only(self.doctor("-c", path), "unit", "problem", "hides cameras", "files.conf")
        self.systemctl(ActiveState="inactive", SubState="dead", DevicePolicy="auto", DeviceAllow="")
        self.assertFalse(any("hides cameras" in f[1] for f in self.doctor("-c", path)["unit"]))

    def test_limits(self):
        path = self.put("/etc/l.conf",
                        "[source]\nkind=synthetic\n[engine]\nbackend=cpu\n[realtime]\npriority=20\nlock_memory=yes\n")
        self.systemctl(ActiveState="inactive", SubState="dead")
        bad = [f for f in self.doctor("-c", path)["limits"] if f[0] == "problem"]
        self.assertEqual(len(bad), 2)
        self.assertIn("LimitRTPRIO is 0", bad[0][1])
        self.assertIn("LimitMEMLOCK is 67108864", bad[1][1])
        self.assertIn("realtime.conf", bad[0][2])
        self.systemctl(ActiveState="inactive", SubState="dead", LimitRTPRIO="20", LimitMEMLOCK="infinity")
        self.assertEqual([f[0] for f in self.doctor("-c", path, want=0)["limits"]], ["ok", "ok"])

    def test_no_user(self):
        self.put("/etc/passwd", "root:x:0:0::/:/bin/sh\n")
        self.systemctl(ActiveState="inactive", SubState="dead")
        self.only(self.doctor(), "unit", "problem", "user stixeld", "systemd-sysusers")

    def test_what_the_service_may_not_see(self):
        self.systemctl(ActiveState="inactive", SubState="dead")
        path = self.put("/var/tmp/front.conf", "[source]\nkind=synthetic\n[engine]\nbackend=cpu\n")
        self.only(self.doctor("-c", path, want=0), "unit", "warning", "/var/tmp/front.conf", "PrivateTmp=")
        path = self.put("/etc/stixeld/front.conf", "[source]\nkind=synthetic\n[engine]\nbackend=cpu\n", 0o600)
        self.only(self.doctor("-c", path), "unit", "problem", "cannot be read by user stixeld (mode 600)")

    @unittest.skipUnless(os.geteuid() == 0, "gives files to groups, so it needs to be root")
    def test_nodes_that_the_service_may_not_open(self):
        module = {"STIXEL_MODULE_PATH": os.environ["STIXEL_FAKE_MODULE"]}
        path = self.put("/etc/e.conf", "[source]\nkind=synthetic\n[engine]\nbackend=cuda\n")
        self.systemctl(ActiveState="inactive", SubState="dead")
        node = self.put("/dev/nvidia0", "", 0o660)
        self.only(self.doctor("-c", path, env=module), "engine", "problem", "/dev/nvidia0", "group root, mode 660")
        os.chown(node, 0, 44)
        self.doctor("-c", path, env=module, want=0)


class Machine(Doctor):
    def ring(self, name, pid):
        """Writes the first bytes of a ring: magic and the owner's pid."""
        header = bytearray(4096)
        with open(os.path.join(os.environ["STIXEL_SOURCE"], "include/stixel.h")) as f:
            magic = re.search(r"STIXEL_RING_MAGIC\s+UINT64_C\((0x[0-9a-fA-F]+)\)", f.read())
        struct.pack_into("<Q", header, 0, int(magic.group(1), 16))
        struct.pack_into("<I", header, 52, pid)
        self.put("/dev/shm/" + name, bytes(header), 0o640)

    def test_rings_of_the_dead(self):
        self.ring("stixeld.front", 4711)
        self.ring("stixeld.rear", 4712)
        self.put("/proc/4712/comm", "stixeld\n")
        self.put("/dev/shm/other", "x")
        self.only(self.doctor(want=0), "shared memory", "warning", "stixeld.front", "4711")

    def test_rings_of_other_instances(self):
        """A file of another instance does not affect the answer about the requested instance."""
        self.ring("stixeld.rear", 4711)
        self.put("/dev/shm/stixeld.side", "not a ring")
        self.assertNotIn("stixeld.", json.dumps(self.doctor(want=0)))

    def test_something_else_under_the_name(self):
        self.put("/dev/shm/stixeld.front", "not a ring")
        self.only(self.doctor(), "shared memory", "problem", "stixeld.front is no ring")

    def test_no_shared_memory(self):
        shutil.rmtree(self.root + "/dev/shm")
        self.only(self.doctor(), "shared memory", "problem", "/dev/shm: No such file")

    @unittest.skipUnless(os.geteuid() == 0, "mounts a small tmpfs, so it needs to be root")
    def test_little_shared_memory(self):
        shm = self.root + "/dev/shm"
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", shm], capture_output=True).returncode:
            self.skipTest("may not mount a small tmpfs")
        self.addCleanup(subprocess.run, ["umount", shm], check=True)
        self.only(self.doctor(), "shared memory", "problem", "has room for 0.1 MB", "output.slots")

    def test_clocks(self):
        for n, governor in enumerate(("performance", "schedutil")):
            self.put("/sys/devices/system/cpu/cpufreq/policy%d/scaling_governor" % n, governor + "\n")
        self.only(self.doctor(want=0), "clocks", "warning", "'schedutil'", "cpupower")
        self.put("/sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "performance\n")
        self.assertEqual(self.doctor(want=0)["clocks"][0][0], "ok")

    def test_power_mode(self):
        self.put("/var/lib/nvpmodel/status", "pmode:0002\n")
        self.assertIn("nvpmodel 2 (without a name)", self.doctor(want=0)["power mode"][0][1])
        self.put("/etc/nvpmodel.conf", "# modes\n< POWER_MODEL ID=0 NAME=MAXN >\n< POWER_MODEL ID=2 NAME=MODE_15W >\n")
        self.assertIn("nvpmodel 2 (MODE_15W)", self.doctor(want=0)["power mode"][0][1])


class Power(Doctor):
    def power(self, more=""):
        return self.put("/etc/p.conf", "[source]\nkind=synthetic\n[engine]\nbackend=cpu\n[power]\n" + more)

    def board(self, labels=("VDD_IN", "VDD_CPU_GPU_CV", "VDD_SOC")):
        self.put("/sys/class/hwmon/hwmon1/name", "ina3221\n")
        for n, label in enumerate(labels, 1):
            self.put("/sys/class/hwmon/hwmon1/in%d_label" % n, label + "\n")
            self.put("/sys/class/hwmon/hwmon1/in%d_input" % n, "5000\n")
            self.put("/sys/class/hwmon/hwmon1/curr%d_input" % n, "%d\n" % (1500 * n))

    def counter(self, uj, mode=0o644):
        self.put("/sys/class/powercap/intel-rapl:0/name", "package-0\n")
        return self.put("/sys/class/powercap/intel-rapl:0/energy_uj", "%d\n" % uj, mode)

    def test_none(self):
        found = self.doctor(want=0)["power"]
        self.assertEqual(found[0][0], "ok")
        self.assertIn("nothing measures it here: the processor's energy counter (RAPL) is not in", found[0][1])
        self.assertIn("switches it off", self.doctor("-c", self.power("source=none\n"), want=0)["power"][0][1])
        for source, words in (("ina", "no INA power monitor"), ("rapl", "RAPL"), ("nvml", "NVML cannot be loaded")):
            found = self.doctor("-c", self.power("source=%s\n" % source), want=0)
            self.only(found, "power", "warning", words, "power.source = auto")

    def test_no_folder(self):
        found = self.doctor("-c", self.power("root = %s\n" % self.path("none")), want=0)
        self.only(found, "power", "warning", "power.root: %s: No such file or directory" % self.path("none"))

    def test_a_board(self):
        self.board()
        found = self.doctor(want=0)["power"]
        self.assertEqual(found, [("ok", "7.50 W: module, by ina3221 (VDD_IN at hwmon1)", "")])
        found = self.doctor("-c", self.power("rails = VDD_IN VDD_MUX\n"), want=0)
        self.only(found, "power", "warning", "unknown rail 'VDD_MUX', available: VDD_IN, VDD_CPU_GPU_CV, VDD_SOC")
        self.put("/sys/class/hwmon/hwmon1/curr1_input", "broken\n")
        self.only(self.doctor(want=0), "power", "warning", "curr1_input: found 'broken'")

    def test_an_orin(self):
        model = "/sys/firmware/devicetree/base/model"
        self.put(model, "NVIDIA Jetson AGX Orin Developer Kit\0")
        self.only(self.doctor(want=0), "power", "warning", "an Orin has INA3221 monitors, and none is in /sys",
                  "NVML has no power reading there (the processor's energy counter", "power.root")
        found = self.doctor("-c", self.power("source=nvml\n"), want=0)
        self.only(found, "power", "warning", "NVML has no power reading on an Orin (", "set power.source = auto")
        found = self.doctor("-c", self.power("source=ina\n"), want=0)
        self.only(found, "power", "warning", "not measured: this board has no INA power monitor")
        self.board(("A", "B", "C"))
        self.only(self.doctor(want=0), "power", "warning", "set power.rails; available: A, B, C")
        self.board(("VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0"))
        told = ("ok", "NVML has no power reading on an Orin: the board's ina3221 is read, from hwmon", "")
        found = self.doctor(want=0)["power"]
        self.assertEqual(found[0][1], "45.00 W: sum of 3 rails, by ina3221 (VDD_GPU_SOC, VDD_CPU_CV, VIN_SYS_5V0 at "
                                      "hwmon1)")
        self.assertEqual(found[1:], [told])
        # the GPU identifies the board if the device tree has no name
        self.put(model, "A Carrier Board\0")
        self.assertNotIn(told, self.doctor(want=0)["power"])
        module = {"STIXEL_MODULE_PATH": os.environ["STIXEL_FAKE_MODULE"],
                  "FAKE_MODULE_FACTS": "8 87"}
        path = self.put("/etc/o.conf", "[source]\nkind=synthetic\n[engine]\nbackend=cuda\n")
        self.assertIn(told, self.doctor("-c", path, env=module, want=0)["power"])

    def test_a_board_that_nobody_knows(self):
        self.board(("A", "B", "C"))
        self.only(self.doctor(want=0), "power", "warning", "set power.rails; available: A, B, C")
        found = self.doctor("-c", self.power("rails = A, C\n"), want=0)["power"]
        self.assertEqual(found, [("ok", "30.00 W: sum of 2 rails, by ina3221 (A, C at hwmon1)", "")])

    def test_a_counter(self):
        path = self.counter(1000000)
        found = self.doctor(want=0)
        self.only(found, "power", "warning", "processor by rapl", "stands still")

        def count():
            began = time.monotonic()
            while not done.wait(0.01):
                fd = os.open(path, os.O_WRONLY)
                os.pwrite(fd, b"%012d\n" % (2e6 + 35e6 * (time.monotonic() - began)), 0)
                os.close(fd)
        done = threading.Event()
        thread = threading.Thread(target=count)
        thread.start()
        found = self.doctor(want=0)["power"]
        done.set()
        thread.join()
        self.assertEqual(found[0][0], "ok")
        self.assertRegex(found[0][1], r"W: processor, by rapl \(1 counter of powercap\)")
        self.assertAlmostEqual(float(found[0][1].split()[0]), 35, delta=10)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "gives up root, so it needs to be root first")
    def test_a_counter_that_is_closed(self):
        binary = self.path("stixelctl")
        shutil.copy(program("stixelctl"), binary)
        path = self.counter(1000000, 0o400)
        found = self.doctor("-c", self.power(), want=0, before=NOBODY, binary=binary,
                            env={"LD_LIBRARY_PATH": library(self.folder)})
        self.only(found, "power", "warning", "only root may read it since Linux 5.10", "power.conf")
        # Root may read the file. The service may not, unless it owns the file.
        self.systemctl(ActiveState="inactive", SubState="dead")
        bad = [f for f in self.doctor(want=0)["power"] if "user stixeld, as the service, is not allowed" in f[1]]
        self.assertEqual(len(bad), 1)
        self.assertIn("power.conf", bad[0][2])
        os.chown(path, 61001, 0)
        self.assertFalse([f for f in self.doctor(want=0)["power"] if "as the service" in f[1]])


class Feeds(Doctor):
    """Tests files that other processes write for the service: class scores and disparity maps."""

    SCORES = "[semantics]\nsource = net\n"

    def setUp(self):
        super().setUp()
        self.systemctl(ActiveState="inactive", SubState="dead")

    def feeds(self, more=SCORES, want=0, members=("stixeld",)):
        if members is not None:
            self.put("/etc/group", "video:x:44:\nstixel:x:61002:\nstixeld:x:61001:\nstixel-feed:x:61003:%s\n" %
                     ",".join(members))
        path = self.put("/etc/f.conf", "[source]\nkind=synthetic\n[engine]\nbackend=cpu\n" + more)
        return self.doctor("-c", path, want=want)

    def ring(self, uid, gid, mode=0o640, name="stixel-scores.net", folder="/run/stixel-feed/"):
        path = self.put(folder + name, "", mode)
        if folder == "/run/stixel-feed/":
            os.chown(self.root + folder, 0, 61003)
            os.chmod(self.root + folder, 0o3775)
        os.chown(path, uid, gid)
        return path

    def test_nobody_writes_for_it(self):
        self.assertFalse({"scores", "disparity maps", "writers"} & set(self.feeds("", members=())))

    def test_member(self):
        found = self.feeds()
        self.assertEqual(found["writers"],
                         [("ok", "user stixeld, as the service, is a member of group stixel-feed", "")])
        self.assertEqual(found["scores"][0][0], "ok")
        self.assertIn("no process writes scores yet: there is no %s/run/stixel-feed/stixel-scores.net" % self.root,
                      found["scores"][0][1])

    def test_no_member(self):
        self.only(self.feeds(want=1, members=("stixel", "stixeld2")), "writers", "problem",
                  "user stixeld, as the service, is not a member of group stixel-feed",
                  "usermod -aG stixel-feed stixeld, then start it again")

    def test_no_such_group(self):
        self.only(self.feeds(members=None), "writers", "warning", "there is no group stixel-feed", "systemd-sysusers")

    def test_started_by_hand(self):
        self.systemctl(LoadState="not-found", ActiveState="inactive", SubState="dead")
        found = self.feeds(members=())
        if os.geteuid() == 0:  # root may read any file
            self.assertEqual(found["writers"][0][0], "ok")
            self.assertIn("as root, may read", found["writers"][0][1])
        else:
            self.only(found, "writers", "warning", "is not a member of group stixel-feed")

    @unittest.skipUnless(os.geteuid() == 0, "gives files away")
    def test_whose_ring_it_is(self):
        self.ring(61009, 61009)
        self.only(self.feeds(want=1), "scores", "problem", "has owner 61009, group 61009, mode 640",
                  "make the writer a member: usermod -aG stixel-feed NAME", "start the writer again")
        self.ring(61009, 61003, 0o642)
        self.only(self.feeds(want=1), "scores", "problem", "mode 642", "only they may write")
        self.ring(61009, 61003, 0o600)
        self.only(self.feeds(want=1), "scores", "problem",
                  "belongs to group stixel-feed, mode 600: user stixeld, as the service, may not read it",
                  "let others read it")
        self.ring(61009, 61003)
        self.assertEqual(self.feeds()["scores"][0][0], "ok")
        found = self.feeds(want=1, members=())
        self.only(found, "scores", "problem", "may not read it")
        self.only(found, "writers", "problem", "usermod -aG stixel-feed stixeld")
        self.ring(61001, 61001)  # the service's own user writes, so no group is needed
        self.assertNotIn("writers", self.feeds(members=()))

    @unittest.skipUnless(os.geteuid() == 0, "gives files away")
    def test_where_it_lies(self):
        shared = self.ring(61009, 61003, folder="/dev/shm/")
        self.only(self.feeds(), "scores", "warning", "lies where any user may take its name", "libstixel 0.2")
        self.only(self.feeds(), "feed folder", "warning", "there is no %s/run/stixel-feed" % self.root,
                  "systemd-tmpfiles --create")
        # a file of another user in /dev/shm does not matter
        os.chown(shared, 61009, 61009)
        self.ring(61009, 61003)
        folder = self.root + "/run/stixel-feed"
        found = self.feeds()
        self.assertEqual(found["scores"][0][0], "ok")
        self.assertNotIn("feed folder", found)
        for uid, gid, mode in ((61009, 61003, 0o3775), (0, 61009, 0o3775), (0, 61003, 0o1777), (0, 61003, 0o775)):
            os.chown(folder, uid, gid)
            os.chmod(folder, mode)
            self.only(self.feeds(want=1), "feed folder", "problem", "owner %d, group %d, mode %o" % (uid, gid, mode),
                      "mode 3775", "systemd-tmpfiles")

    @unittest.skipUnless(os.geteuid() == 0, "gives files away")
    def test_disparity_maps(self):
        more = "[stereo]\nmatcher = external\n[external]\nsource = net\n"
        self.ring(61009, 61009, name="stixel-disparity.net")
        found = self.feeds(more, want=1)
        self.only(found, "disparity maps", "problem", "stixel-disparity.net has owner 61009")
        self.assertNotIn("scores", found)
        os.remove(self.root + "/run/stixel-feed/stixel-disparity.net")
        os.mkdir(self.root + "/run/stixel-feed/stixel-disparity.net")
        self.only(self.feeds(more, want=1), "disparity maps", "problem", "is not a regular file")


if __name__ == "__main__":
    unittest.main()
