# Tests stixeld as a service: the installed unit under its service manager.
#
# SPDX-License-Identifier: Apache-2.0
import ctypes
import glob
import grp
import http.client
import json
import os
import pwd
import shutil
import signal
import stat
import struct
import subprocess
import time

import harness
from guest import (CAMERA, CHEAP, HERE, SMALL_IMAGES, TestCase, camera, load_vivid, nodes, run, unload, until,
                   until_flows)

PAIRS = "/usr/local/share/pairs"  # the service has no access to the host's folder
UNIT = "stixeld@test.service"
DROP_INS = "/run/systemd/system/" + UNIT + ".d"
EXAMPLES = "/usr/local/share/doc/stixeld/examples"
# Highest accepted exposure level of the unit from systemd-analyze. docs/use/service.md states the figure.
EXPOSURE_MAX = 1.0
# A busy host may give the guest no processor time for two seconds.
WATCHDOG_S = 4


def ini(settings):
    lines, section = [], None
    for key in sorted(settings):
        name, option = key.split(".")
        if name != section:
            lines.append("[%s]" % name)
            section = name
        lines.append("%s = %s" % (option, settings[key]))
    return "\n".join(lines) + "\n"


class Frame(ctypes.Structure):
    _fields_ = [("header", ctypes.c_void_p), ("columns", ctypes.c_void_p), ("stixels", ctypes.c_void_p),
                ("plane", ctypes.c_void_p)]


class Reader:
    """A reader on libstixel that follows its publisher through restarts."""

    FOLLOW = 1

    def __init__(self, instance):
        self.lib = ctypes.CDLL("libstixel.so.1")
        self.reader = ctypes.c_void_p()
        r = self.lib.stixel_open(ctypes.byref(self.reader), instance.encode(), self.FOLLOW)
        assert r >= 0, r

    def next(self, timeout_ms=10000):
        """Waits and returns (epoch, number) of the newest frame; None if none came."""
        frame = ctypes.POINTER(Frame)()
        if self.lib.stixel_wait(self.reader, timeout_ms) <= 0:
            return None
        if self.lib.stixel_latest(self.reader, ctypes.byref(frame)) != 1:
            return None
        return struct.unpack_from("<QQ", ctypes.string_at(frame.contents.header, 40), 24)

    def close(self):
        self.lib.stixel_close(self.reader)


class UnitCase(TestCase):
    """systemd's view of the unit, and the daemon's own view in its status."""

    # the synthetic street is drawn in floating point, which is slow when emulated
    FILES = {"source.kind": "files", "source.left": PAIRS + "/left-*.pgm", "source.right": PAIRS + "/right-*.pgm",
             "source.loop": "yes", "source.fps": 5, **CHEAP}
    CAMERAS = {"source.kind": "v4l2", "source.left": "/dev/video0", "source.right": "/dev/video1",
               "source.size": "320x180",
               "source.fps": 5, "stixels.width": 16, **CHEAP}

    @classmethod
    def setUpClass(cls):
        os.makedirs(PAIRS, exist_ok=True)
        for path in glob.glob(SMALL_IMAGES + "/*.pgm"):
            shutil.copy(path, PAIRS)

    def setUp(self):
        super().setUp()
        # used only for its requests; systemd starts and stops the daemon
        self.i = harness.Instance("test")
        self.i.status_path, self.i.shm = "/run/stixeld/test/status.sock", "/dev/shm"
        self.addCleanup(shutil.rmtree, self.i.top)
        self.addCleanup(self.reset)
        os.makedirs(DROP_INS, exist_ok=True)

    def reset(self):
        run("systemctl", "stop", UNIT, "stixeld@test.socket")
        run("systemctl", "reset-failed")
        shutil.rmtree(DROP_INS, ignore_errors=True)

    def evidence(self):
        return self.journal() + (str(self.i.status()) if self.i.answers() else "")

    def configure(self, settings, drop_in=""):
        with open("/etc/stixeld/test.conf", "w") as f:
            f.write(ini(settings))
            with open(CAMERA) as g:
                f.write(g.read())
        with open(DROP_INS + "/test.conf", "w") as f:
            f.write("[Service]\n" + drop_in)
        run("systemctl", "daemon-reload")

    def start(self, settings, drop_in=""):
        self.configure(settings, drop_in)
        run("systemctl", "start", UNIT)

    def show(self, name):
        return run("systemctl", "show", "-P", name, UNIT).strip()

    def journal(self):
        return run("journalctl", "-u", UNIT, "-o", "cat", "--no-pager", "-n", "60")

    def stop_seconds(self):
        """Returns the time from the end of the active state to the end of the process, by systemd's clock."""
        run("systemctl", "stop", UNIT)
        begin, end = (int(self.show(s + "TimestampMonotonic")) for s in ("ActiveExit", "InactiveEnter"))
        return (end - begin) / 1e6

    def until_restarted(self, times, limit=20):
        until(lambda: set(run("systemctl", "show", "-P", "NRestarts", "-P", "SubState", UNIT).split()) == {
            str(times), "running"}, limit, "%d restarts" % times)


class Service(UnitCase):
    # -- life --
    def test_ready(self):
        self.start(self.FILES)
        # when the unit is started, ring and sockets exist
        self.assertEqual(self.show("ActiveState"), "active")
        self.assertIn(self.i.status()["state"], ("starting", "running"))
        self.assertEqual(self.i.ring().live()[0] in ("starting", "running"), True)
        self.assertEqual(str(self.i.status()["pid"]), self.show("MainPID"))
        until_flows(self.i)
        until(lambda: "fps" in self.show("StatusText") or "frames" in self.show("StatusText"), 5, "a text for status")

    def test_rights(self):
        self.start(self.FILES)
        pid = self.show("MainPID")
        with open("/proc/%s/status" % pid) as f:
            status = dict(line.strip().split(":\t", 1) for line in f if ":\t" in line)
        self.assertEqual(status["Uid"].split()[0], str(pwd.getpwnam("stixeld").pw_uid))
        self.assertEqual(status["Gid"].split()[0], str(grp.getgrnam("stixel").gr_gid))
        for capabilities in ("CapEff", "CapPrm", "CapBnd", "CapAmb"):
            self.assertEqual(int(status[capabilities], 16), 0)
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
        # only the group may read
        for path, mode in (("/dev/shm/stixeld.test", 0o640), ("/run/stixeld/test/status.sock", 0o660),
                           ("/run/stixeld/test/frames.sock", 0o660), ("/run/stixeld/test", 0o751)):
            s = os.stat(path)
            self.assertEqual((stat.S_IMODE(s.st_mode), s.st_gid), (mode, grp.getgrnam("stixel").gr_gid), path)
        nobody = ["setpriv", "--reuid", "nobody", "--clear-groups", "--regid"]
        run(*nobody, "stixel", "stixelctl", "-i", "test", "wait", "--timeout", "5")
        self.assertNotEqual(subprocess.run([*nobody, "nogroup", "stixelctl", "-i", "test", "wait", "--timeout", "1"],
                                           capture_output=True, check=False).returncode, 0)

    def test_stops_within_a_second(self):
        self.start(self.FILES)
        until_flows(self.i)
        ring = self.i.ring()
        self.assertLess(self.stop_seconds(), 1.0)
        self.assertEqual((self.show("Result"), self.show("ExecMainStatus")), ("success", "0"))
        self.assertEqual(ring.live()[0], "closed")
        for path in ("/dev/shm/stixeld.test", "/run/stixeld/test/status.sock", "/run/stixeld/test/frames.sock"):
            self.assertFalse(os.path.exists(path), path)

    def test_reload(self):
        self.start({**self.FILES, "log.levels": "info"})
        until_flows(self.i)
        pid = self.show("MainPID")
        self.configure({**self.FILES, "log.levels": "debug", "stereo.paths": "8"})
        run("systemctl", "reload", UNIT)
        until(lambda: "reloaded, changed: log.levels" in self.journal(), 5, "the reload in the journal")
        self.assertIn("stereo.paths", self.journal())  # the log names it, because it needs a restart
        # a wrong file changes nothing
        with open("/etc/stixeld/test.conf", "a") as f:
            f.write("[source]\nno_such_key = 1\n")
        run("systemctl", "reload", UNIT)
        until(lambda: "reload refused" in self.journal(), 5, "the refusal in the journal")
        self.assertIn("no_such_key", self.journal())
        self.assertEqual((self.show("MainPID"), self.show("ActiveState")), (pid, "active"))
        self.i.until_published(self.i.status()["frames"]["published"] + 2)

    def test_wrong_configuration_is_not_restarted(self):
        self.configure({**self.FILES, "source.fps": "-3"})
        self.assertNotEqual(subprocess.run(["systemctl", "start", UNIT], capture_output=True, check=False).returncode,
                            0)
        self.assertEqual((self.show("ActiveState"), self.show("ExecMainStatus")), ("failed", "78"))
        time.sleep(2.5)  # RestartSec=2
        self.assertEqual((self.show("ActiveState"), self.show("NRestarts")), ("failed", "0"))
        self.assertIn("fps", self.journal())

    # -- crash and restart --
    def test_crash_while_a_reader_waits(self):
        self.start(self.FILES, "RestartSec=300ms\n")
        reader = Reader("test")
        self.addCleanup(reader.close)
        epoch, _ = until(reader.next, 10, "a frame")
        os.kill(int(self.show("MainPID")), signal.SIGSEGV)
        new = until(lambda: (lambda f: f if f and f[0] != epoch else None)(reader.next()), 20,
                    "a frame of the next life")
        self.assertEqual("%016x" % new[0], self.i.status()["epoch"])
        self.until_restarted(1)
        self.assertEqual(self.show("Result"), "success")

    def test_watchdog_finds_a_stopped_process(self):
        self.start(self.FILES, "WatchdogSec=%d\nRestartSec=300ms\n" % WATCHDOG_S)
        until_flows(self.i)
        epoch = self.i.status()["epoch"]
        time.sleep(WATCHDOG_S + 1)  # pings come
        self.assertEqual(self.show("NRestarts"), "0")
        os.kill(int(self.show("MainPID")), signal.SIGSTOP)
        self.until_restarted(1)
        self.assertIn("Watchdog timeout", self.journal())
        self.assertNotEqual(until_flows(self.i)["epoch"], epoch)

    def test_watchdog_finds_a_hung_engine(self):
        # The main thread lives and answers, but no frames come. The tests' engine hangs on request.
        shutil.copy(HERE + "/stixeld-fake", "/usr/local/bin/stixeld-fake")
        self.start({"source.kind": "synthetic"},
                   "WatchdogSec=%d\nRestartSec=300ms\nEnvironment=FAKE_INTERVAL_US=50000 FAKE_HANG_AT=20\n"
                   "ExecStart=\nExecStart=/usr/local/bin/stixeld-fake --instance %%i -c /etc/stixeld/%%i.conf\n"
                   % WATCHDOG_S)
        self.i.until_published(10)
        self.until_restarted(1)
        self.assertIn("Watchdog timeout", self.journal())
        self.i.until_published(10)

    # -- cameras --
    def test_cameras_absent_and_then_there(self):
        self.start(self.CAMERAS, "WatchdogSec=%d\n" % WATCHDOG_S)
        status = self.i.until_state("no_camera", 5)
        self.assertIn("/dev/video0: No such", status["reason"])
        self.assertIn("no_camera", self.show("StatusText"))
        time.sleep(2 * WATCHDOG_S)  # an absent camera does not count as a hang
        pid = self.show("MainPID")
        load_vivid(2)
        self.addCleanup(unload, "vivid")
        self.addCleanup(run, "systemctl", "stop", UNIT)
        until_flows(self.i, 15)
        self.assertEqual((self.show("NRestarts"), self.show("MainPID")), ("0", pid))
        status = self.i.until_published(5)
        self.assertEqual((status["source"]["memory"], camera(status, "left")["format"]), ("userptr", "GREY"))
        self.assertGreaterEqual(camera(status, "left")["captured"], 5)
        self.assertLess(self.stop_seconds(), 1.0)

    def test_drop_in_for_the_processor_captures_too(self):
        load_vivid(2)
        self.addCleanup(unload, "vivid")
        self.addCleanup(run, "systemctl", "stop", UNIT)
        shutil.copy(EXAMPLES + "/cpu.conf", DROP_INS + "/cpu.conf")
        self.start({**self.CAMERAS, "engine.backend": "cpu"})
        self.assertEqual(self.i.until_published(3, 30)["source"]["memory"], "userptr")

    def test_without_leave_for_cameras(self):
        # DeviceAllow permits the camera. Without it, the kernel refuses the camera, and the daemon reports this and
        # lives on.
        load_vivid(2)
        self.addCleanup(unload, "vivid")
        self.addCleanup(run, "systemctl", "stop", UNIT)
        self.start(self.CAMERAS, "DeviceAllow=\n")
        until(lambda: "/dev/video0: Operation not permitted" in self.journal(), 10, "the reason")
        self.assertIn(self.show("ActiveState"), ("active", "failed", "activating"))

    def test_names_for_cameras(self):
        """A udev rule of the user names a camera, and the installed rules create the link."""
        rules = "/run/udev/rules.d/65-cameras.rules"
        os.makedirs(os.path.dirname(rules), exist_ok=True)
        with open(rules, "w") as f:
            for n, side in enumerate(("left", "right")):
                f.write('SUBSYSTEM=="video4linux", KERNEL=="video%d", ENV{STIXELD_CAMERA}="front-%s"\n' % (n, side))
        self.addCleanup(os.unlink, rules)
        run("udevadm", "control", "--reload")
        load_vivid(2)
        self.addCleanup(unload, "vivid")
        self.addCleanup(run, "systemctl", "stop", UNIT)
        self.assertEqual([os.path.realpath("/dev/stixeld/front-" + side) for side in ("left", "right")], nodes())
        self.start({**self.CAMERAS, "source.left": "/dev/stixeld/front-left",
                    "source.right": "/dev/stixeld/front-right"})
        status = self.i.until_published(2, 20)
        self.assertEqual(camera(status, "right")["path"], "/dev/stixeld/front-right")

    # -- the files --
    def test_status_socket_starts_it(self):
        self.configure(self.FILES)
        run("systemctl", "start", "stixeld@test.socket")
        self.assertEqual(self.show("ActiveState"), "inactive")
        self.assertIn(self.i.status()["state"], ("starting", "running"))  # a request to its socket starts it
        until(lambda: self.show("ActiveState") == "active", 5, "active")
        run("systemctl", "restart", UNIT)
        self.assertIn(self.i.status()["state"], ("starting", "running"))

    def test_verify_and_exposure(self):
        files = glob.glob("/lib/systemd/system/stixeld@*")
        self.assertEqual(len(files), 2)
        for f in files:
            shown = subprocess.run(["systemd-analyze", "verify", "--man=no", f.replace("@.", "@test.")],
                                   capture_output=True, text=True,
                                   check=False)
            self.assertEqual((shown.returncode, shown.stdout + shown.stderr), (0, ""))
        self.start(self.FILES)
        last = run("systemd-analyze", "security", "--no-pager", UNIT).strip().splitlines()[-1]
        figure = float(last.split("level for")[1].split(":")[1].split()[0])
        self.assertLessEqual(figure, EXPOSURE_MAX, last)


class Dashboard(UnitCase):
    """The installed stixel-web reads what the hardened daemon publishes. It runs as its own user, in its sandbox."""

    WEB = "stixel-web.service"
    ADDRESS = "127.0.0.1", 8470

    def setUp(self):
        super().setUp()
        self.addCleanup(run, "systemctl", "stop", self.WEB)

    def get(self, path):
        c = http.client.HTTPConnection(*self.ADDRESS, timeout=30)
        self.addCleanup(c.close)
        c.request("GET", path)
        response = c.getresponse()
        response.connection = c  # the response also holds the socket
        return response

    def answers(self):
        try:
            return self.get("/healthz").status == 200
        except OSError:
            return False

    def images(self):
        return self.i.status()["images"]["left"]

    def test_it_shows_what_the_service_publishes(self):
        self.start(self.FILES)
        until_flows(self.i)
        run("systemctl", "start", self.WEB)
        until(self.answers, 20, "the dashboard")
        pid = run("systemctl", "show", "-P", "MainPID", self.WEB).strip()
        self.assertEqual(os.stat("/proc/" + pid).st_uid, pwd.getpwnam("stixel-web").pw_uid)
        names = {i["name"]: i["publisher"] for i in json.load(self.get("/api/instances"))["instances"]}
        self.assertEqual(names.get("test"), "alive", names)
        status = json.load(self.get("/api/test/status"))
        self.assertEqual(str(status["pid"]), self.show("MainPID"))
        self.assertIn(b"<title>", self.get("/").read())
        # The user of stixel-web may ask for images. They are published while a viewer watches, and no longer.
        self.assertEqual(self.images(), "idle")
        stream = self.get("/api/test/stream?images=left")
        kinds = set()
        until(lambda: kinds.add(self.message(stream)) or {1, 2} <= kinds, 30, "a frame and its image")
        until(lambda: self.images() == "published", 20, "a status of now: it is as old as the last tick")
        stream.close()
        stream.connection.close()
        until(lambda: self.images() == "idle", 20, "nobody looks")

    def message(self, stream):
        """Returns the kind of the next message: 1 frame, 2 left image."""
        magic, kind, count = struct.unpack_from("<3I", stream.read(32))
        self.assertEqual(magic, 0x57585453)
        self.assertEqual(len(stream.read(count)), count)
        return kind
