# Tests the steps of docs/use/first-camera.md in the order of a new user, until the service runs. The test reads every
# command from the page, and has two USB cameras that uvcvideo drives. It skips commands that the page marks as
# impossible here. Calibration needs OpenCV: instead of it, the test uses the cameras' true calibration file
# (tests/python/test_first_camera.py calibrates).
#
# SPDX-License-Identifier: Apache-2.0
import glob
import http.client
import os
import pwd
import shutil
import signal
import subprocess

import doc_steps
import harness
from guest import CHEAP, HERE, TestCase, images, load, run, unload, until

PAGE = HERE + "/first-camera.md"
RAW = "/host/images/raw"
USER = "walker"
FPS = 2  # the lowest rate of these cameras; an emulated processor on a busy machine takes a second for a frame
# Replaced text of the page: values that its reader chooses, or that these cameras need.
OURS = {"1280x720": "320x160", "= 30": "= %d" % FPS, "height_m=1.2": "height_m=1.65"}
# The daemon is always busy, and there is one processor. So other programs have a higher priority, and the watchdog
# waits longer.
DROP_INS = "/run/systemd/system/stixeld@front.service.d"
LIMIT_S = 180  # timeout of a command
MARKED = 3  # commands that need a network or OpenCV


class FirstCamera(TestCase):
    def setUp(self):
        super().setUp()
        load("vhci_hcd")
        load("uvcvideo")
        self.addCleanup(lambda: (unload("uvcvideo"), unload("vhci_hcd")))
        for port, side in enumerate(("left", "right")):
            files = [f for both in zip(images(side, "jpg", RAW), images(side, "yuyv", RAW)) for f in both]
            self.start(HERE + "/uvc-camera", port, side, OURS["1280x720"], FPS, *files, stdin=subprocess.PIPE)
        until(lambda: len(self.ports()) == 2, 20, "two cameras")
        run("udevadm", "settle")
        self.make_user()
        self.steps = doc_steps.blocks(PAGE)
        self.ran = []

    def evidence(self):
        return super().evidence() + run("journalctl", "-q", "-o", "cat", "-u", "stixeld@front", "-n", "40", check=False)

    def make_user(self):
        """Makes the user and her runtime folder, which logind would make."""
        run("useradd", "--create-home", USER)
        self.addCleanup(run, "userdel", "--remove", USER)
        self.user = pwd.getpwnam(USER)
        self.runtime = "/run/user/%d" % self.user.pw_uid
        os.makedirs(self.runtime)
        os.chown(self.runtime, self.user.pw_uid, self.user.pw_gid)
        self.addCleanup(shutil.rmtree, self.runtime)
        self.folder = self.user.pw_dir
        self.addCleanup(lambda: [os.unlink(f) for f in glob.glob("/etc/stixeld/front.*") if os.path.isfile(f)])
        self.addCleanup(shutil.rmtree, "/etc/stixeld/front.conf.d", True)

    def ports(self):
        """Returns the names of the images of both cameras, left first."""
        return sorted(glob.glob("/dev/v4l/by-path/*-video-index0"))

    def ours(self, text):
        left, right = self.ports()
        for was, now in (*OURS.items(), ("/dev/v4l/by-path/...left...", left), ("/dev/v4l/by-path/...right...", right)):
            text = text.replace(was, now)
        return text

    def words(self, command):
        """Returns the arguments that run a command of the page as the user, or as root if it begins with sudo. Each
        command has the groups that a new login of the user would have."""
        self.ran.append(command)
        command = self.ours(command)
        if command.startswith("sudo "):
            return ["env", "USER=" + USER, "sh", "-c", command[len("sudo "):]]
        return ["setpriv", "--reuid", USER, "--regid", USER, "--init-groups", "env", "USER=" + USER,
                "HOME=" + self.folder, "XDG_RUNTIME_DIR=" + self.runtime, "sh", "-c", "exec " + command]

    def step(self, number):
        """Runs the commands of a step that can run here. Returns the output of each."""
        blocks = [b for b in self.steps[number] if not b.marked]
        return [run(*self.words(c), cwd=self.folder, timeout=LIMIT_S) for c in doc_steps.commands(blocks)]

    def begin(self, command):
        """Starts the daemon of the page in the foreground. Returns its instance."""
        i = self.instance("front")
        i.shm, i.status_path = "/dev/shm", self.runtime + "/stixeld/front/status.sock"
        self.daemons.append(i)
        with open(i.log, "ab") as log:
            i.process = subprocess.Popen(["nice", "-n", "10", *self.words(command)], cwd=self.folder, stdout=log,
                                         stderr=log)
        until(lambda: i.process.poll() is not None or i.answers(), 20, "status socket")
        self.assertIsNone(i.process.poll(), i.text())
        return i

    def pictures(self, i):
        return until(lambda: (lambda p: p if p["row_error_px"]["all"] is not None else None)(
            i.status()["pictures"]), 60, "a row error")

    def worst_row(self, pictures):
        return max(abs(e) for e in pictures["row_error_px"].values() if e is not None)

    def configure(self):
        """Writes the page's configuration, with a small search because the processor is emulated, and with a long
        timeout because cameras on a busy machine send late."""
        two_cameras, side_by_side = doc_steps.configurations(self.steps[2])
        self.assertIn("layout = side-by-side", side_by_side)
        with open(self.folder + "/front.conf", "w") as f:
            f.write(self.ours(two_cameras))
            for key, value in {**CHEAP, "source.timeout_ms": "20000"}.items():
                f.write("[%s]\n%s = %s\n" % (*key.split("."), value))

    def test_the_page(self):
        # steps 1 and 2: rights, names, modes
        self.step(1)
        self.configure()
        names, modes = self.step(2)
        self.assertEqual(names.count("video-index0"), 2)
        self.assertRegex(modes, "ok +camera modes +both offer YUYV 320x160")

        # steps 3 and 4: look at a picture, expose alike
        begin, *_ = doc_steps.commands(self.steps[3])
        i = self.begin(begin)
        raw = self.pictures(i)
        self.assertGreater(self.worst_row(raw), 1)
        self.steps[3] = [b for b in self.steps[3] if begin not in b]
        status, doctor, _ = self.step(3)
        self.assertRegex(status, r"row error [1-9]")
        self.assertRegex(doctor, "warning +pictures +.*rows")
        self.assertIn("exposure_time_absolute", self.step(4)[0])
        for camera in self.ports():
            values = run("v4l2-ctl", "-d", camera, "-C", "exposure_time_absolute,gain")
            self.assertEqual([int(line.split()[1]) for line in values.splitlines()], [16, 80])

        # steps 5 to 7: rectify as stixel-calibrate would, and keep it for the next start
        self.assertEqual(self.step(5), [])
        front = self.folder + "/front.yaml"
        shutil.copy(RAW + "/stereo.yaml", front)
        run(*self.words("stixelctl -i front set camera.calibration=%s camera.rectify=auto" % front))
        self.ran.pop()
        self.assertIn("90-live.conf", self.step(6)[-1])
        self.assertEqual(i.stop(signal.SIGINT), 0)
        i = self.begin(begin)
        self.ran.pop()
        good = self.pictures(i)
        self.assertIn("as they are raw by", i.text())
        self.assertLess(self.worst_row(good), 0.3)
        self.assertGreater(good["density"], max(0.7, raw["density"]))
        self.assertRegex("".join(self.step(7)), "ok +pictures")
        self.assertTrue(os.path.exists(self.folder + "/now.png"))

        # step 8: tune, and keep the values
        self.assertIn("front.conf.d", self.step(8)[-1])
        self.assertEqual(i.stop(signal.SIGINT), 0)
        self.check_service()
        self.assertEqual([c for c in doc_steps.commands(b for n in self.steps for b in self.steps[n])
                          if c not in self.ran], self.marked())

    def marked(self):
        commands = doc_steps.commands(b for n in self.steps for b in self.steps[n] if b.marked)
        self.assertEqual(len(commands), MARKED)
        return commands

    def check_service(self):
        """Steps 9 and 10: a service that rectifies, has the exposure and the settings, and starts at boot."""
        self.addCleanup(run, "systemctl", "disable", "--now", "stixeld@front", "stixel-web")
        os.makedirs(DROP_INS, exist_ok=True)
        self.addCleanup(shutil.rmtree, DROP_INS)
        with open(DROP_INS + "/nice.conf", "w") as f:
            f.write("[Service]\nNice=10\nWatchdogSec=90\n")
        said = self.step(9)
        self.assertIn("/etc/stixeld/front.conf.d/90-live.conf", said[-2])
        i = harness.Instance("front")
        self.addCleanup(shutil.rmtree, i.top)
        i.status_path = "/run/stixeld/front/status.sock"
        until(i.answers, 60, "the service's status")
        status = i.until_published(3, 90)
        self.assertLess(self.worst_row(self.pictures(i)), 0.3)
        self.assertIn("by OpenCV YAML /etc/stixeld/front.yaml", status["camera"]["text"])
        self.assertEqual([c["path"] for c in status["source"]["cameras"]], self.ports())
        log = self.step(10)
        self.assertIn("active (running)", log[0])
        self.assertIn("exposure 8 ms", log[1])
        self.assertRegex(log[2], "instance +'front' runs as process %d" % status["pid"])
        until(self.web_answers, 60, "stixel-web")

        # the targets of a boot start it again
        run("systemctl", "stop", "stixeld@front")
        run("systemctl", "start", "multi-user.target")
        until(lambda: run("systemctl", "is-active", "stixeld@front", check=False).strip() == "active", 60,
              "the service")
        with open("/etc/stixeld/front.conf.d/90-live.conf") as f:
            kept = f.read()
        self.assertRegex(kept, r"width = 8\b")
        self.assertRegex(kept, r"speckle_size = 100\b")

    def web_answers(self):
        c = http.client.HTTPConnection("127.0.0.1", 8470, timeout=10)
        try:
            c.request("GET", "/healthz")
            return c.getresponse().status == 200
        except OSError:
            return False
        finally:
            c.close()
