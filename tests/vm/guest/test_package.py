# Tests Debian packages under systemd: the steps of a user after "apt install", an upgrade while a daemon and a reader
# run, and purge. The script `prepare` has installed the packages. Packages of a higher version are in newer/.
#
# SPDX-License-Identifier: Apache-2.0
import glob
import grp
import os
import pwd
import shutil
import subprocess
import threading
import time

import harness
from guest import TestCase, run, until, until_flows
from test_systemd import Reader

UNIT = "stixeld@front.service"


def units(kind, state="active"):
    return run("systemctl", "list-units", "--plain", "--no-legend", "--state=" + state, kind).split("\n")[:-1]


class Follower(threading.Thread):
    """A reader that runs through all steps. It stores when each frame came, and its (epoch, number)."""

    def __init__(self, instance):
        super().__init__(daemon=True)
        self.reader, self.frames, self.done = Reader(instance), [], False
        self.start()

    def run(self):
        while not self.done:
            frame = self.reader.next(500)
            if frame:
                self.frames.append((time.monotonic(), *frame))

    def of(self, epoch):
        return [f for f in self.frames if f[1] == epoch]

    def finish(self):
        self.done = True
        self.join()
        self.reader.close()


class Package(TestCase):
    def setUp(self):
        super().setUp()
        # used only for its requests; systemd starts and stops the daemon
        self.i = harness.Instance("front")
        self.addCleanup(shutil.rmtree, self.i.top)
        self.i.status_path, self.i.shm = "/run/stixeld/front/status.sock", "/dev/shm"

    def evidence(self):
        return run("journalctl", "-u", "stixeld@*", "-o", "cat", "--no-pager", "-n", "60", check=False)

    def show(self, name):
        return run("systemctl", "show", "-P", name, UNIT).strip()

    def version(self):
        return run("dpkg-query", "-W", "-f", "${Version}", "stixeld")

    def installed(self):
        """Users and units exist, and no service runs that was not requested."""
        for user in ("stixeld", "stixel-web"):
            self.assertLess(pwd.getpwnam(user).pw_uid, 1000)
        grp.getgrnam("stixel")
        self.assertEqual(units("stixel*"), [])
        self.assertEqual(run("systemctl", "is-enabled", "stixel-web.service", check=False).strip(), "disabled")

    def started(self):
        """Starts the service by one edited file and one command."""
        with open("/etc/stixeld/example.conf") as f:
            text = f.read()
        edited = text
        for line, other in (("size = 640x240\nfps = 20", "size = 96x64\nfps = 2"),
                            ("backend = auto", "backend = auto\nthreads = 1")):
            self.assertIn("\n" + line + "\n", edited)
            edited = edited.replace(line, other)
        with open("/etc/stixeld/front.conf", "w") as f:
            f.write(edited + "[stereo]\ndisparities = 32\npaths = 2\n")
        run("systemctl", "enable", "--now", UNIT)
        self.assertEqual(self.show("ActiveState"), "active")
        until_flows(self.i)

    def upgraded(self):
        """The upgrade restarts both running instances, but not a stopped one. The reader continues."""
        follower = Follower("front")
        self.addCleanup(follower.finish)
        before, pid = self.version(), self.show("MainPID")
        first = until(lambda: follower.frames and follower.frames[-1], 20, "a frame")[1]
        with open("/etc/stixeld/front.conf") as f, open("/etc/stixeld/idle.conf", "w") as g:
            g.write(f.read())
        run("systemctl", "enable", "stixeld@idle.service")
        began = time.monotonic()
        print("upgrade: " + run("dpkg", "-i", *sorted(glob.glob("/host/tests/newer/*.deb")), timeout=400), flush=True)
        took = time.monotonic() - began
        self.assertNotEqual(self.version(), before)
        self.assertNotEqual(self.show("MainPID"), pid)
        self.assertEqual(self.show("ActiveState"), "active")
        self.assertEqual(self.show("NRestarts"), "0")  # no failure in between
        self.assertEqual(run("systemctl", "show", "-P", "ActiveState", "stixeld@idle.service").strip(), "inactive")
        second = until(lambda: (lambda f: f if f[1] != first else None)(follower.frames[-1]), 30,
                       "a frame of the next life")[1]
        until(lambda: len(follower.of(second)) >= 5, 20, "5 frames of the next life")
        self.assertEqual({f[1] for f in follower.frames}, {first, second})  # one restart
        self.assertEqual("%016x" % second, self.i.status()["epoch"])
        gap = follower.of(second)[0][0] - follower.of(first)[-1][0]
        print("upgrade took %.1f s; a reader got %d frames of the old daemon and %d of the new, %.1f s without" %
              (took, len(follower.of(first)), len(follower.of(second)), gap), flush=True)

    def purged(self):
        run("dpkg", "--purge", *run("sh", "-c", "dpkg-query -W -f '${Package}\\n' | grep stixel").split(), timeout=400)
        self.assertEqual(units("stixel*"), [])
        self.assertEqual(subprocess.run(["pgrep", "-x", "stixeld"], capture_output=True, check=False).returncode, 1)
        self.assertEqual(sorted(os.listdir("/etc/stixeld")), ["front.conf", "idle.conf"])  # the user's own files stay
        left = run("find", "/", "-xdev", "-name", "*stixel*", "-not", "-path", "/host/*", "-not", "-path", "/proc/*",
                   "-not", "-path", "/etc/stixeld", "-not", "-path", self.i.top)
        self.assertEqual(left.split(), [])
        self.assertEqual(os.listdir("/dev/shm"), [])

    def test_life(self):
        self.installed()
        self.started()
        self.upgraded()
        self.purged()
