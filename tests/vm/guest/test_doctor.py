# Tests stixelctl doctor with real cameras, and the names that udev gives them.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import pwd
import subprocess

import guest

CONF = "/etc/stixeld/doctor.conf"


class TestCase(guest.TestCase):
    @classmethod
    def setUpClass(cls):
        guest.load_vivid(2)

    @classmethod
    def tearDownClass(cls):
        guest.unload("vivid")

    def doctor(self, want, left="/dev/video0", right="/dev/video1", before=(), **more):
        """Runs doctor and returns {check: [(level, text; advice)]}."""
        keys = {"kind": "v4l2", "left": left, "right": right, **more}
        with open(CONF, "w") as f:
            f.write("[source]\n%s[camera]\nfx=300\nfy=300\ncx=160\ncy=90\nbaseline_m=0.1\n[engine]\nbackend=cpu\n"
                    % "".join("%s = %s\n" % k for k in keys.items()))
        self.addCleanup(guest.run, "rm", "-f", CONF)
        r = subprocess.run([*before, "stixelctl", "-i", "doctor", "doctor", "--json"], capture_output=True, text=True,
                           timeout=60, check=False)
        self.assertEqual((r.returncode, r.stderr), (want, ""), r.stdout)
        found = {}
        for c in json.loads(r.stdout)["checks"]:
            found.setdefault(c["check"], []).append((c["level"], c["text"] + "; " + c.get("advice", "")))
        return found

    def assert_found(self, found, check, level, *words):
        self.assertTrue(any(f[0] == level and all(w in f[1] for w in words) for f in found.get(check, [])), found)


class Cameras(TestCase):
    def test_two_that_are_well(self):
        found = self.doctor(0, size="640x360", fps=30)
        self.assert_found(found, "left camera", "ok", "/dev/video0 is vivid: GREY, ")
        self.assert_found(found, "right camera", "ok", "/dev/video1")
        self.assert_found(found, "camera modes", "ok", "both offer GREY 640x360 at up to 40 fps", "640x360 at 30 fps")

    def test_a_size_that_they_lack(self):
        found = self.doctor(1, size="640x362")
        self.assert_found(found,
                          "camera modes", "problem", "/dev/video0 does not offer 640x362, but GREY 320x180 at 60")

    def test_a_rate_that_they_do_not_reach(self):
        found = self.doctor(0, size="1280x720", fps=30)
        self.assert_found(found, "camera modes", "warning", "1280x720 at 12.5 fps at most")

    def test_a_format_that_they_lack(self):
        self.assert_found(self.doctor(1, format="MJPG"), "camera modes", "problem", "does not offer MJPG")

    def test_both_images_in_one_picture(self):
        found = self.doctor(0, right="", layout="side-by-side", size="960x1080", fps=5)
        self.assert_found(found, "camera modes", "ok", "GREY 1920x1080")

    def test_absent(self):
        found = self.doctor(1, right="/dev/video9")
        self.assert_found(found, "right camera", "problem", "/dev/video9: No such file",
                          "/dev/video1 (vivid-001-vid-cap)")

    def test_open_elsewhere(self):
        p = self.start("v4l2-ctl", "-d", "/dev/video1", "--stream-mmap", stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        guest.until(lambda: any(f[0] == "warning" for f in self.doctor(0)["right camera"]), 10, "the other program")
        self.assert_found(self.doctor(0), "right camera", "warning", "open in process %d (v4l2-ctl)" % p.pid)

    def test_a_daemon_that_uses_them(self):
        i = self.daemon(guest.camera_settings("/dev/video0", "/dev/video1", size="320x180", fps=5), name="doctor")
        i.until_published(3)

        def look():
            """Returns state and findings, unless the state has changed meanwhile."""
            state, found = i.status()["state"], self.doctor(0)
            return (state, found) if i.status()["state"] == state else None

        state, found = guest.until(look, 30, "a state that stays")
        self.assert_found(found, "instance", "ok" if state == "running" else "warning",
                          "runs as process %d" % i.process.pid)
        self.assert_found(found, "time stamps", "ok", "monotonic: end of frame")
        for check in ("left camera", "right camera"):
            self.assert_found(found, check, "ok", "in use by this instance's daemon")


class Rights(TestCase):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chmod, "/dev/video0", 0o660)

    def test_the_service_may_not(self):
        os.chmod("/dev/video0", 0o600)
        self.assert_found(self.doctor(1), "left camera", "problem",
                          "group video, mode 600: user stixeld, as the service")

    def test_the_service_may_and_you_may_not(self):
        found = self.doctor(0, before=["setpriv", "--reuid=1234", "--regid=1234", "--clear-groups"])
        self.assert_found(found, "left camera", "warning", "you are not allowed to open it", "usermod -aG video")
        self.assert_found(found, "readers", "warning", "usermod -aG stixel")

    def test_the_user_is_there(self):
        self.assertIn("nologin", pwd.getpwnam("stixeld").pw_shell)


class Names(TestCase):
    RULES = "/etc/udev/rules.d/65-cameras.rules"

    def test_names_for_cameras(self):
        """The installed rules name the cameras, with one rule of the user for each camera."""
        with open(self.RULES, "w") as f:
            for n, name in enumerate(("left", "right")):
                f.write('SUBSYSTEM=="video4linux", ATTR{name}=="vivid-%03d-vid-cap", ENV{STIXELD_CAMERA}="front-%s"\n'
                        % (n, name))
        self.addCleanup(self.trigger)
        self.addCleanup(os.unlink, self.RULES)
        self.trigger()
        self.assertEqual(os.path.realpath("/dev/stixeld/front-left"), "/dev/video0")
        self.assertEqual(os.path.realpath("/dev/stixeld/front-right"), "/dev/video1")
        self.doctor(0, left="/dev/stixeld/front-left", right="/dev/stixeld/front-right")
        found = self.doctor(1, left="/dev/stixeld/front-left", right="/dev/video0")
        self.assert_found(found, "camera modes", "problem", "the same device")

    def trigger(self):
        guest.run("udevadm", "control", "--reload")
        guest.run("udevadm", "trigger", "--settle", "--subsystem-match=video4linux")
