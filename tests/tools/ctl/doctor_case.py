# Makes a machine of files, and runs stixelctl doctor on it.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import shutil
import subprocess

from support import Folder, program

UNIT = {"LoadState": "loaded", "ActiveState": "active", "SubState": "running", "Result": "success", "NRestarts": "0",
        "ExecMainStatus": "0", "UnitFileState": "enabled", "StatusText": "running, 30.0 fps",
        "LimitRTPRIO": "0", "LimitMEMLOCK": "67108864", "DevicePolicy": "closed", "PrivateDevices": "no",
        "DeviceAllow": "char-video4linux rw\nDeviceAllow=char-nvidia rw"}
CAMERA = "[camera]\nfx=0\nfy=0\nbaseline_m=0\n"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def library(folder):
    """Copies the library to a folder in which all users may read it."""
    built = os.path.join(os.environ["STIXEL_BUILD"], "ipc", "client")
    for name in os.listdir(built):
        if name.startswith("libstixel.so") and os.path.isfile(os.path.join(built, name)):
            shutil.copy(os.path.join(built, name), os.path.join(folder, name))
    return folder


class Doctor(Folder):
    """A machine made of files. Doctor reads self.root as / and takes only self.bin as PATH."""

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
        """Replaces systemctl. The unit is healthy except for the given properties."""
        lines = "\n".join("%s=%s" % p for p in dict(UNIT, **properties).items())
        with open(self.bin + "/systemctl", "w") as f:
            f.write("#!/bin/sh\n[ \"$*\" = 'show --no-pager stixeld@front.service' ] || exit 9\n"
                    "echo '%s'\nexit %d\n" % (lines, code))
        os.chmod(self.bin + "/systemctl", 0o755)

    def doctor(self, *args, want=1, before=(), env=None, instance="front", binary=None):
        """Returns {check: [(level, text, advice)]} of one run with --json. The plain output must have the same
        content."""
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
        """Checks that this check has exactly one finding, with `words` in its sentence or its advice."""
        bad = [f for f in found.get(check, []) if f[0] != "ok"]
        self.assertEqual([f[0] for f in bad], [level], found)
        for word in words:
            self.assertIn(word, bad[0][1] + "; " + bad[0][2])
