# Tests stixelctl doctor: each problem is found once, and a sound machine gives no finding.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import shutil
import subprocess
import time
import unittest

from doctor_case import CAMERA, Doctor, NOBODY, library
from support import program
from test_ctl import Daemon
from test_endurance import StatusServer


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
        """Doctor compares the calibration with the size of the first pair, as a start does."""
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
                self.assertIn("distances from 0.126 m (127 px) to 16 m (1 px)", found["distances"][0][1])
                continue
            self.only(self.doctor("-c", path, want=0 if level == "warning" else 1), check, level, *words)

    def test_a_data_set_is_named(self):
        for side, name in enumerate(("image_0", "image_1")):
            for n in range(2):
                self.put("/kitti/%s/%06d.pgm" % (name, n), "P5\n160 96\n255\n" + "".join(
                    chr(32 + (x * 7 + n + side) % 90) for x in range(160)) * 96)
        folder = os.path.dirname(self.put("/kitti/times.txt", "0.000000e+00\n1.036224e-01\n"))
        self.put("/kitti/calib.txt", "P0: 150 0 80 0 0 150 48 0 0 0 1 0\nP1: 150 0 80 -30 0 150 48 0 0 0 1 0\n")
        path = self.put("/etc/a.conf", "[source]\nkind=files\npath=%s\n" % folder)
        self.assertIn("pairs of 160x96 in %s; KITTI: 2 pairs at 9.65 pairs/s" % folder,
                      str(self.doctor("-c", path, want=0)))


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
    """Doctor predicts the speed only if a GPU computes, on a board of the table, with known size and rate."""

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


class Running(Doctor):
    def run_daemon(self, *settings):
        self.daemon = Daemon("doctor", *settings)
        self.addCleanup(self.daemon.stop)
        self.daemon.wait()
        for _ in range(100):  # the state changes after the first frame
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

    def test_pairs_of_another_process(self):
        path = self.put("/etc/p.conf", "[source]\nkind=shared\n[engine]\nbackend=cpu\n")
        found = self.doctor("-c", path, want=0)
        said = found["configuration"][0][1]
        self.assertTrue(said.endswith("pairs from another process, camera by the writer"), found)
        self.assertIn("another process writes them to pairs.sock", found["pairs"][0][1])
        self.assertFalse({"left camera", "camera", "cameras", "distances"} & set(found))
        daemon = self.daemon = Daemon("doctor", "engine.backend=cpu", "source.kind=shared")
        self.addCleanup(daemon.stop)
        for _ in range(100):  # no frame will come; the socket is there when the daemon has started
            status = daemon.ctl("status", "--json")
            if status.returncode == 0 and json.loads(status.stdout)["state"] != "starting":
                break
            time.sleep(0.1)
        self.put("/proc/%d/status" % daemon.process.pid,
                 "Name:\tstixeld\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t0\n")
        self.put("/etc/group", "stixel-feed:x:%d:\n" % 61003)
        found = self.ask(want=1)  # there is no frame
        self.only(found, "pairs", "warning", "may write pairs to ", "/pairs.sock", "join group stixel-feed")
        self.only(found, "writer", "warning", "no process writes pairs to", "docs/use/pairs.md")
        self.assertEqual(found["writers"][0][0], "ok")
        socket = json.loads(daemon.ctl("status", "--json").stdout)["source"]["cameras"][0]["path"]
        os.chown(socket, 0, 61003)
        os.chmod(socket, 0o660)
        self.assertEqual(self.ask(want=1)["pairs"], [
            ("ok", "members of group stixel-feed may write pairs to " + socket, "")])
        os.unlink(socket)

    def test_a_daemon_that_refuses(self):
        """The daemon's answer counts, even if the file looks different to doctor."""
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
        """Doctor names each kind of deviation. None is a fault."""
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
        """Doctor without -c uses the daemon's own file and arguments. No file below /etc has its name."""
        with open(self.path("c.txt"), "w") as f:
            f.write("P0: 300 0 160 0 0 300 80 0 0 0 1 0\nP1: 300 0 160 -120 0 300 80 0 0 0 1 0\n")
        name = "../%s/c.txt" % os.path.basename(self.folder)  # relative to the folder in which the daemon was started
        daemon = self.run_daemon("engine.backend=cpu", "camera.calibration=" + name)
        file = daemon.work + "/empty.conf"
        found = self.look()
        self.assertIn("images are taken as rectified, distances from ", found["distances"][0][1])
        found = found["configuration"]
        self.assertEqual(found, [("ok", "%s and 6 settings by -s: pairs from a generated street, camera by %s" %
                                  (file, os.path.join(daemon.work, name)), "")])
        with open(file, "w") as f:
            f.write("[stereo]\ncots = 3\n")
        self.only(self.look(want=1), "configuration", "problem", "%s:2" % file, "unknown key")
        os.remove(file)
        self.only(self.look(), "configuration", "warning", file, "No such file", "when it starts again")


if __name__ == "__main__":
    unittest.main()
