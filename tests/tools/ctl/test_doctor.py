# stixelctl doctor: each thing that it is to find, found once; and nothing found where nothing is wrong.
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

from support import Folder, program
from test_ctl import Daemon
from test_endurance import StatusServer

UNIT = {"LoadState": "loaded", "ActiveState": "active", "SubState": "running", "Result": "success", "NRestarts": "0",
        "ExecMainStatus": "0", "UnitFileState": "enabled", "StatusText": "running, 30.0 fps",
        "LimitRTPRIO": "0", "LimitMEMLOCK": "67108864", "DevicePolicy": "closed", "PrivateDevices": "no",
        "DeviceAllow": "char-video4linux rw\nDeviceAllow=char-nvidia rw"}
CAMERA = "[camera]\nfx=0\nfy=0\nbaseline_m=0\n"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def library(folder):
    """A copy of the library in folder, where everybody may read it."""
    built = os.path.join(os.environ["STIXEL_BUILD"], "ipc", "client")
    for name in os.listdir(built):
        if name.startswith("libstixel.so") and os.path.isfile(os.path.join(built, name)):
            shutil.copy(os.path.join(built, name), os.path.join(folder, name))
    return folder


class Doctor(Folder):
    """A machine made of files: self.root stands for / where doctor looks, self.bin is all of PATH."""

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.root = self.path("root")
        self.bin = self.path("bin")
        for folder in (self.bin, self.root + "/dev/shm", self.root + "/proc", self.root + "/etc/stixeld"):
            os.makedirs(folder)
        self.put("/etc/passwd", "root:x:0:0::/:/bin/sh\nstixeld:x:61001:61001::/:/bin/false\n")
        self.put("/etc/group", "video:x:44:\nstixel:x:61002:\nstixeld:x:61001:\n")
        self.put("/etc/stixeld/front.conf", "[source]\nkind = synthetic\n[engine]\nbackend = cpu\n")

    def put(self, path, text, mode=0o644):
        path = self.root + path
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb" if isinstance(text, bytes) else "w") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def systemctl(self, code=0, **properties):
        """In place of systemctl: answers with a unit that is well, but for what is given."""
        lines = "\n".join("%s=%s" % p for p in dict(UNIT, **properties).items())
        with open(self.bin + "/systemctl", "w") as f:
            f.write("#!/bin/sh\n[ \"$*\" = 'show --no-pager stixeld@front.service' ] || exit 9\n"
                    "echo '%s'\nexit %d\n" % (lines, code))
        os.chmod(self.bin + "/systemctl", 0o755)

    def doctor(self, *args, want=1, before=(), env=None, instance="front", binary=None):
        """{check: [(level, text, advice)]} of one run, by --json; the plain output must say the same."""
        env = dict(os.environ, STIXEL_DOCTOR_ROOT=self.root, PATH=self.bin, XDG_RUNTIME_DIR=self.folder, **(env or {}))
        before = [shutil.which(before[0]), *before[1:]] if before else []
        command = [*before, binary or program("stixelctl"), "-i", instance, "doctor", *args]
        plain = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120)
        r = subprocess.run([*command, "--json"], capture_output=True, text=True, env=env, timeout=120)
        self.assertEqual((r.returncode, r.stderr), (want, ""), r.stdout)
        self.assertEqual((plain.returncode, plain.stderr), (want, ""), plain.stdout)
        answer = json.loads(r.stdout)
        levels = [c["level"] for c in answer["checks"]]
        self.assertEqual(answer["result"], max(levels, key=["ok", "warning", "problem"].index))
        self.assertEqual(want, int("problem" in levels))
        lines = plain.stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines[:-1]], levels, plain.stdout)
        if answer["result"] == "ok":
            self.assertEqual(lines[-1], "nothing is wrong")
        else:
            self.assertRegex(lines[-1],
                             r"^%d problems?, %d warnings?$" % (levels.count("problem"), levels.count("warning")))
        found = {}
        for c in answer["checks"]:
            found.setdefault(c["check"], []).append((c["level"], c["text"], c.get("advice", "")))
        return found

    def only(self, found, check, level, *words):
        """The check found this one thing that is not in order; words are in its sentence or its advice."""
        bad = [f for f in found.get(check, []) if f[0] != "ok"]
        self.assertEqual([f[0] for f in bad], [level], found)
        for word in words:
            self.assertIn(word, bad[0][1] + "; " + bad[0][2])


class Nothing(Doctor):
    def test_nothing_is_wrong(self):
        self.systemctl(ActiveState="inactive", SubState="dead", StatusText="")
        found = self.doctor(want=0)
        self.assertEqual(sorted(found),
                         ["clocks", "configuration", "engine", "instance", "limits", "power", "shared memory", "unit"])
        self.assertIn("cpu (", found["engine"][0][1])
        self.assertIn("started at boot", found["unit"][0][1])

    def test_no_systemctl_is_fine(self):
        self.assertIn("systemd does not answer", self.doctor(want=0)["unit"][0][1])

    def test_a_manager_that_does_not_answer_is_fine(self):
        self.systemctl(code=1)
        self.assertIn("systemd does not answer", self.doctor(want=0)["unit"][0][1])

    def test_usage(self):
        for args in (["doctor", "stray"], ["doctor", "--watch"], ["status", "-c", "x"], ["-i", "../x", "doctor"]):
            r = subprocess.run([program("stixelctl"), *args], capture_output=True, text=True)
            self.assertEqual(r.returncode, 64, args)


class Configuration(Doctor):
    def test_absent(self):
        found = self.doctor(instance="rear")
        self.only(found, "configuration", "problem", "rear.conf: No such file", "-i front", "example.conf")
        self.assertIn("no video device", found["cameras"][0][1])

    def test_errors_are_all_listed(self):
        path = self.put("/etc/bad.conf", "[source]\nkind = v4l3\nnonsense = 1\n")
        found = self.doctor("-c", path)
        texts = [f[1] for f in found["configuration"] if f[0] == "problem"]
        self.assertEqual(len(texts), 2)
        self.assertIn("bad.conf:2", texts[0])
        self.assertIn("nonsense", texts[1])

    def test_size_and_calibration_differ(self):
        calibration = self.put("/etc/c.yaml",
                               "image_width: 640\nimage_height: 480\nprojection_matrix:\n  rows: 3\n  cols: 4\n"
                               "  data: [700, 0, 320, -84, 0, 700, 240, 0, 0, 0, 1, 0]\n")
        path = self.put("/etc/a.conf",
                        "[source]\nkind=synthetic\nsize=800x600\n[camera]\ncalibration=%s\n" % calibration)
        self.only(self.doctor("-c", path), "configuration", "problem", "640x480", "800x600")

    def test_images(self):
        path = self.put("/etc/a.conf", "[source]\nkind=files\npath=%s\n" % self.path("none"))
        self.only(self.doctor("-c", path), "images", "problem", "none does not exist, though ")
        os.mkdir(self.path("none"))
        self.only(self.doctor("-c", path), "images", "problem", "no pairs found")

    def test_dev_null(self):
        """An empty file, in which only the source is missing."""
        self.only(self.doctor("-c", "/dev/null"), "configuration", "problem", "[source] kind: not given")

    def test_image_files_and_the_camera(self):
        """The size of the first pair is that which a start holds against the calibration."""
        text = "[source]\nkind=files\npath=%s\n[camera]\ncalibration=%s\n"
        calibration = self.path("c.txt")
        path = self.put("/etc/a.conf", text % (self.path("pairs"), calibration))
        for side in ("left", "right"):
            os.makedirs(self.path("pairs/" + side))
            with open(self.path("pairs/" + side + "/0.pgm"), "wb") as f:
                f.write(b"P5\n160 96\n255\n" + bytes(range(160)) * 96)
        numbers = "fx: %d\nfy: %d\ncx: %d\ncy: %d\nbaseline_m: 0.1\n"
        for values, check, level, words in (
                ((160, 160, 80, 48), None, None, ()),
                ((700, 700, 320, 192), "configuration", "problem", ("principal point 320, 192", "outside of images")),
                ((320, 320, 130, 80), "camera", "warning", ("principal point 130, 80", "far from the middle"))):
            with open(calibration, "w") as f:
                f.write(numbers % values)
            if not check:
                found = self.doctor("-c", path, want=0)
                self.assertIn("pairs of 160x96", str(found))
                continue
            self.only(self.doctor("-c", path, want=0 if level == "warning" else 1), check, level, *words)


class Cameras(Doctor):
    def cameras(self, left, right, more=""):
        return self.put("/etc/c.conf", "[source]\nkind=v4l2\nleft=%s\nright=%s\n%s%s[engine]\nbackend=cpu\n" %
                        (left, right, more, CAMERA))

    def test_absent_device(self):
        self.put("/sys/class/video4linux/video7/name", "Some Camera\n")
        found = self.doctor("-c", self.cameras("/dev/none-left", "/dev/none-right"))
        self.only(found, "left camera", "problem", "/dev/none-left", "No such file", "source.left",
                  "/dev/video7 (Some Camera)")
        self.only(found, "right camera", "problem", "/dev/none-right")

    def test_names_that_are_no_text(self):
        self.put("/sys/class/video4linux/video7/name", b"Cam\x1b[31m\xff\n")
        found = self.doctor("-c", self.cameras("/dev/none-left", "/dev/none-right"))
        self.only(found, "left camera", "problem", "(Cam?[31m?)")

    def test_no_device_at_all(self):
        found = self.doctor("-c", self.cameras("/dev/none-left", "/dev/none-right"))
        self.only(found, "left camera", "problem", "no video device")

    def test_not_a_camera(self):
        found = self.doctor("-c", self.cameras(self.put("/etc/file", "x"), "/dev/null"))
        self.only(found, "left camera", "problem", "/etc/file")
        self.only(found, "right camera", "problem", "/dev/null")

    def test_one_device_for_both_sides(self):
        os.symlink("/dev/null", self.path("left"))
        found = self.doctor("-c", self.cameras(self.path("left"), "/dev/null"))
        self.only(found, "camera modes", "problem", "same device")

    def test_one_camera_with_both_images(self):
        found = self.doctor("-c", self.cameras("/dev/none", "", "layout=side-by-side\n"))
        self.only(found, "camera", "problem", "/dev/none")
        self.assertNotIn("right camera", found)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "gives up root, so it needs to be root first")
    def test_no_permission(self):
        binary = self.path("stixelctl")
        shutil.copy(program("stixelctl"), binary)
        for mode, answer in (
            (0o660, ("warning", "not allowed to open it (group video, mode 660), the service is", "usermod -aG video")),
            (0o600, ("problem", "mode 600: user stixeld, as the service, cannot open it", "udev rule")),
        ):
            node = self.put("/dev/camera", "x", mode)
            os.chown(node, 0, 44)
            found = self.doctor("-c", self.cameras(node, "/dev/none"), before=NOBODY, binary=binary,
                                env={"LD_LIBRARY_PATH": library(self.folder)})
            self.only(found, "left camera", *answer)
            self.only(found, "readers", "warning", "usermod -aG stixel")


class Engine(Doctor):
    def engine(self, backend):
        return self.put("/etc/e.conf", "[source]\nkind=synthetic\n[engine]\nbackend=%s\n" % backend)

    def test_cuda_without_a_module(self):
        env = {"STIXEL_MODULE_PATH": "/none.so"}
        found = self.doctor("-c", self.engine("cuda"), env=env)
        self.only(found, "engine", "problem", "not installed", "no NVIDIA driver")
        self.assertEqual(self.doctor("-c", self.engine("auto"), env=env, want=0)["engine"][0][0], "ok")

    def test_a_driver_that_auto_does_not_use(self):
        self.put("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54\n")
        found = self.doctor("-c", self.engine("auto"), env={"STIXEL_MODULE_PATH": "/none.so"}, want=0)
        self.only(found, "engine", "warning", "/none.so", "engine.backend = cuda")
        self.assertIn("550.54", found["GPU driver"][0][1])

    def test_a_module_that_works(self):
        found = self.doctor("-c", self.engine("auto"), env={"STIXEL_MODULE_PATH": os.environ["STIXEL_FAKE_MODULE"]},
                            want=0)
        self.assertIn("cuda (", found["engine"][0][1])


class Speed(Doctor):
    """Predictions: only where a GPU computes, on a board of the table, for a size and a rate that are known."""

    def speed(self, source, more="", model="NVIDIA Jetson Orin Nano Developer Kit", hz=624750000, backend="auto",
              facts="8 87"):
        self.put("/sys/firmware/devicetree/base/model", model + "\0")
        self.put("/sys/class/devfreq/17000000.gpu/max_freq", "%d\n" % hz)
        text = "[source]\nkind=synthetic\n%s[engine]\nbackend=%s\n%s" % (source, backend, more)
        module = {"STIXEL_MODULE_PATH": os.environ["STIXEL_FAKE_MODULE"], "FAKE_MODULE_FACTS": facts}
        return self.doctor("-c", self.put("/etc/s.conf", text), env=module, want=0)

    def test_out_of_reach(self):
        found = self.speed("size=2048x1024\nfps=60\n")
        self.only(found, "speed", "warning", "predicted, not measured", "2048x1024", "Orin Nano 8 GB at 0.62 GHz",
                  "source.fps = 60", "out of reach", "lower source.fps")
        self.assertRegex(found["speed"][0][1], r"predictions were [-+]\d+ to [-+]\d+ % off on slices of an H200\)")

    def test_nearly(self):
        found = self.speed("size=1280x720\nfps=55\n")
        self.assertEqual(found["speed"][0][0], "ok")
        self.assertIn("little remains", found["speed"][0][1])

    def test_within_reach(self):
        found = self.speed("size=1280x720\nfps=30\n")
        self.assertEqual(found["speed"][0][0], "ok")
        self.assertNotIn("little remains", found["speed"][0][1])

    def test_a_faster_mode(self):
        slow = float(re.search(r"([\d.]+) ms", self.speed("size=1280x720\nfps=30\n")["speed"][0][1]).group(1))
        found = self.speed("size=1280x720\nfps=30\n", hz=1020000000)
        fast = float(re.search(r"([\d.]+) ms", found["speed"][0][1]).group(1))
        self.assertAlmostEqual(slow / fast, 1020 / 624.75, delta=0.1)

    def test_not_counted(self):
        found = self.speed("size=1280x720\nfps=30\n", "[stereo]\npaths=8\n")
        text = "not predicted for a Jetson Orin Nano 8 GB: stereo.paths = 8: counted for 4"
        self.assertEqual(found["speed"], [("ok", text, "")])

    def test_a_smaller_module_of_the_same_name(self):
        for facts, is_told in (("4 87", False), ("0 0", True)):
            found = self.speed("size=1280x720\nfps=30\n", facts=facts)
            self.assertEqual("speed" in found, is_told, facts)

    def test_nothing_to_say(self):
        for source, model, backend in (("size=1280x720\nfps=0\n", "NVIDIA Jetson Orin NX", "auto"),
                                       ("fps=30\n", "NVIDIA Jetson Orin NX", "auto"),
                                       ("size=1280x720\nfps=30\n", "Some Other Board", "auto"),
                                       ("size=1280x720\nfps=30\n", "NVIDIA Jetson Orin NX", "cpu")):
            self.assertNotIn("speed", self.speed(source, model=model, backend=backend), (source, model, backend))


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
        """The first bytes of a ring: magic, and its owner's pid."""
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
        """What another one left is no answer about the one that is asked for."""
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
        # where no device tree says so, its GPU does
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
        # root may; the service may not, unless it owns the file
        self.systemctl(ActiveState="inactive", SubState="dead")
        bad = [f for f in self.doctor(want=0)["power"] if "user stixeld, as the service, is not allowed" in f[1]]
        self.assertEqual(len(bad), 1)
        self.assertIn("power.conf", bad[0][2])
        os.chown(path, 61001, 0)
        self.assertFalse([f for f in self.doctor(want=0)["power"] if "as the service" in f[1]])


class Feeds(Doctor):
    """What others write for the service: class scores and disparity maps."""

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
        self.assertIn("nobody writes scores yet: there is no %s/run/stixel-feed/stixel-scores.net" % self.root,
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
        if os.geteuid() == 0:  # who may read anything
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
        self.ring(61001, 61001)  # the service's own user writes: no group is needed
        self.assertNotIn("writers", self.feeds(members=()))

    @unittest.skipUnless(os.geteuid() == 0, "gives files away")
    def test_where_it_lies(self):
        shared = self.ring(61009, 61003, folder="/dev/shm/")
        self.only(self.feeds(), "scores", "warning", "lies where any user may take its name", "libstixel 0.2")
        self.only(self.feeds(), "feed folder", "warning", "there is no %s/run/stixel-feed" % self.root,
                  "systemd-tmpfiles --create")
        # a file of another user in /dev/shm is in nobody's way
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


class Running(Doctor):
    def run_daemon(self, *settings):
        self.daemon = Daemon("doctor", *settings)
        self.addCleanup(self.daemon.stop)
        self.daemon.wait()
        for _ in range(100):  # the state follows the first frame
            if json.loads(self.daemon.ctl("status", "--json").stdout)["state"] == "running":
                break
            time.sleep(0.1)
        return self.daemon

    def ask(self, *args, want=0):
        self.folder, folder = self.daemon.work, self.folder
        found = self.doctor(*args, want=want, instance=self.daemon.name)
        self.folder = folder
        return found

    def look(self, *args, want=0):
        found = self.ask(*args, want=want)
        self.assertIn("runs as process %d: running" % self.daemon.process.pid, found["instance"][0][1])
        return found

    def test_a_daemon_that_runs(self):
        self.run_daemon()
        self.look("-c", self.put("/etc/s.conf", "[source]\nkind=synthetic\n[engine]\nbackend=cpu\n"))

    def test_a_daemon_from_before_its_user_became_a_writer(self):
        daemon = self.run_daemon("engine.backend=cpu", "semantics.source=net", "source.fps=2")
        for groups, members, answer in (
            ("61002", "stixeld", ("problem", "user stixeld is not a member", "start it again: its user became one")),
            ("61002", "", ("problem", "user stixeld is not a member", "usermod -aG stixel-feed stixeld")),
            ("44 61003 ", "stixeld", None),
        ):
            self.put("/proc/%d/status" % daemon.process.pid,
                     "Name:\tstixeld\nUid:\t61001\t61001\t61001\t61001\nGid:\t61001\t61001\t61001\t61001\n"
                     "Groups:\t%s\n" % groups)
            self.put("/etc/group", "stixel:x:61002:\nstixel-feed:x:61003:%s\n" % members)
            found = self.ask(want=int(answer is not None))
            if answer:
                self.only(found, "writers", *answer)
            else:
                self.assertEqual(found["writers"], [
                    ("ok", "process %d of user stixeld is a member of group stixel-feed" % daemon.process.pid, "")])

    def test_a_daemon_that_refuses(self):
        """What the daemon says counts, whatever the file looks like from here."""
        self.run_daemon("engine.backend=cpu", "semantics.source=net", "source.fps=20")
        ring = "/dev/shm/stixel-scores.net"
        self.addCleanup(lambda: os.path.exists(ring) and os.remove(ring))
        with open(ring, "w") as f:
            f.write("no ring\n" * 1000)
        shutil.copy(ring, self.put(ring, ""))
        for _ in range(100):
            if json.loads(self.daemon.ctl("status", "--json").stdout)["semantics"]["state"] == "refused":
                break
            time.sleep(0.1)
        found = self.ask(want=1)
        self.only(found, "scores", "problem", "the daemon refuses scores: ", "PrivateUsers=")

    def test_a_camera_that_writes_odd_jpegs(self):
        """The doctor names each kind; it is no fault."""
        status = json.loads(self.run_daemon("engine.backend=cpu").ctl("status", "--json").stdout)
        camera = dict(status["source"]["cameras"][0], path="/dev/front-left", captured=900)
        status["source"]["cameras"] = [
            dict(camera, odd_jpeg={"padding": 0, "header_bytes": 880, "scan_header": 3, "other": 0}),
            dict(camera, path="/dev/front-right", odd_jpeg={"padding": 0})]
        path = os.path.join(self.daemon.env["RUNTIME_DIRECTORY"], self.daemon.name, "status.sock")
        os.remove(path)
        self.addCleanup(StatusServer(path, json.dumps(status).encode()).close)
        found = self.look()
        self.assertEqual(found["JPEG"], [
            ("ok", "/dev/front-left writes odd JPEGs, which are used all the same: bytes between the segments of the "
                   "header, in 880 of 900 images", ""),
            ("ok", "/dev/front-left writes odd JPEGs, which are used all the same: numbers in the scan header that do "
                   "not belong there, in 3 of 900 images", "")])

    def test_its_own_file_and_settings(self):
        """Without -c: what the daemon was started with; nothing below /etc has its name."""
        with open(self.path("c.txt"), "w") as f:
            f.write("P0: 300 0 160 0 0 300 80 0 0 0 1 0\nP1: 300 0 160 -120 0 300 80 0 0 0 1 0\n")
        name = "../%s/c.txt" % os.path.basename(self.folder)  # as seen from where the daemon was started
        daemon = self.run_daemon("engine.backend=cpu", "camera.calibration=" + name)
        file = daemon.work + "/empty.conf"
        found = self.look()["configuration"]
        self.assertEqual(found, [("ok", "%s and 6 settings by -s: pairs from a generated street, camera by %s" %
                                  (file, os.path.join(daemon.work, name)), "")])
        with open(file, "w") as f:
            f.write("[stereo]\ncots = 3\n")
        self.only(self.look(want=1), "configuration", "problem", "%s:2" % file, "unknown key")
        os.remove(file)
        self.only(self.look(), "configuration", "warning", file, "No such file", "when it starts again")


if __name__ == "__main__":
    unittest.main()
