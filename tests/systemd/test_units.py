# Tests the service's files: systemd accepts them, each line has a reason, and the documentation names all directives
# that are newer than the oldest supported systemd.
# SPDX-License-Identifier: Apache-2.0
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = os.environ["STIXEL_SOURCE"]
FOLDER = os.path.join(SOURCE, "systemd")
UNIT = os.environ["STIXEL_UNIT"]
STIXELD = os.environ["STIXELD"]
WEB, WEB_UNIT = os.environ.get("STIXEL_WEB"), os.environ.get("STIXEL_WEB_UNIT")  # None if the build has no stixel-web
BRIDGE_UNIT, SEGMENT_UNIT = os.environ.get("STIXEL_BRIDGE_UNIT"), os.environ.get("STIXEL_SEGMENT_UNIT")
UNITS = [UNIT, FOLDER + "/stixeld@.socket"] + [unit for unit in (WEB_UNIT, BRIDGE_UNIT, SEGMENT_UNIT) if unit]
ALL_DROP_INS = sorted(glob.glob(FOLDER + "/drop-ins/*.conf"))
DROP_INS = [p for p in ALL_DROP_INS if not os.path.basename(p).startswith(("web-", "bridge-", "segment-"))]

# Directives in use that systemd 245 (Ubuntu 20.04, JetPack 5) knows.
KNOWN_245 = set("""Description Documentation After Wants StartLimitIntervalSec StartLimitBurst Type NotifyAccess
ExecStart ExecStartPre ExecReload WatchdogSec TimeoutStartSec TimeoutStopSec Restart RestartSec
RestartPreventExitStatus OOMScoreAdjust User Group SupplementaryGroups RuntimeDirectory RuntimeDirectoryMode
RuntimeDirectoryPreserve CacheDirectory CacheDirectoryMode StateDirectory StateDirectoryMode Environment UMask
LimitMEMLOCK LimitRTPRIO RemoveIPC ReadWritePaths
DevicePolicy DeviceAllow CapabilityBoundingSet AmbientCapabilities NoNewPrivileges RestrictSUIDSGID ProtectSystem
ProtectHome PrivateTmp PrivateMounts PrivateUsers PrivateDevices ProtectKernelTunables ProtectKernelModules
ProtectKernelLogs ProtectControlGroups ProtectClock ProtectHostname PrivateNetwork IPAddressDeny
RestrictAddressFamilies RestrictNamespaces LockPersonality KeyringMode SystemCallArchitectures RestrictRealtime
SystemCallFilter SystemCallErrorNumber MemoryDenyWriteExecute LogRateLimitIntervalSec LogRateLimitBurst
EnvironmentFile Nice MemoryMax TasksMax IPAddressAllow WantedBy ListenStream FileDescriptorName SocketUser SocketGroup
SocketMode RemoveOnStop""".split())
# Newer directives and their systemd versions. docs/use/service.md must name them.
NEWER = {"ProtectProc": 247, "ProcSubset": 247}
# Directives that need no reason.
PLAIN = {"Description", "Documentation"}


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def directives(text):
    return re.findall(r"^([A-Z]\w*)=", text, re.M)


def without_reason(text):
    """Returns the directives outside of blocks that begin with a comment."""
    found, reason = [], False
    for line in text.split("\n"):
        if not line.strip() or line.startswith("["):
            reason = False
        elif line.startswith("#"):
            reason = True
        elif not reason and line.split("=")[0] not in PLAIN:
            found.append(line)
    return found


def systemd_version():
    r = subprocess.run(["systemd-analyze", "--version"], capture_output=True, text=True)
    return int(re.search(r"systemd (\d+)", r.stdout).group(1))


def needs(program, version=0):
    if not shutil.which(program):
        return unittest.skip("%s is not installed (Debian package systemd)" % program)
    if version and systemd_version() < version:
        return unittest.skip("this is systemd %d, the check came with %d" % (systemd_version(), version))
    return lambda test: test


class Files(unittest.TestCase):
    def test_every_line_has_its_reason(self):
        for path in [*UNITS, *ALL_DROP_INS]:
            self.assertEqual(without_reason(read(path)), [], path)
        self.assertEqual(without_reason("[Service]\nUser=x\n# why\nGroup=y\n\nUMask=0\n"), ["User=x", "UMask=0"])

    def test_what_is_newer_is_documented(self):
        document = read(SOURCE + "/docs/use/service.md")
        for path in [*UNITS, *ALL_DROP_INS]:
            for name in directives(read(path)):
                if name in NEWER:
                    self.assertRegex(document, r"`%s=`.*\b%d\b" % (name, NEWER[name]), path)
                else:
                    self.assertIn(name, KNOWN_245, "%s: since which systemd? Put it into a list above" % path)

    def test_all_drop_ins_are_documented(self):
        document = read(SOURCE + "/docs/use/service.md")
        self.assertGreater(len(DROP_INS), 4)
        for path in ALL_DROP_INS:
            self.assertIn("`%s`" % os.path.basename(path), document)

    def test_the_unit_starts_what_is_installed(self):
        self.assertRegex(read(UNIT), r"(?m)^ExecStart=/\S+/stixeld --instance %i -c /etc/stixeld/%i\.conf$")
        self.assertNotIn("@bindir@", read(UNIT))


class Systemd(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, self.folder)

    def unit(self, *drop_ins, more=""):
        """Writes the unit with drop-ins appended, as systemd reads them, and with an existing program."""
        text = read(UNIT)
        for name in drop_ins:
            text += "\n" + read(FOLDER + "/drop-ins/%s.conf" % name)
        text = re.sub(r"(?m)^ExecStart=\S+", "ExecStart=" + STIXELD, text)
        path = self.folder + "/stixeld@front.service"
        with open(path, "w") as f:
            f.write(text + more)
        return path

    def verify(self, path):
        r = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True)
        return r.returncode, r.stderr

    @staticmethod
    def exposure_of(path):
        r = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=100", path],
                           capture_output=True, text=True)
        return float(re.search(r"Overall exposure level for \S+: ([0-9.]+)", r.stdout).group(1))

    def exposure(self, *drop_ins, more=""):
        return self.exposure_of(self.unit(*drop_ins, more=more))

    @needs("systemd-analyze")
    def test_verify(self):
        names = [os.path.basename(p)[:-5] for p in DROP_INS]
        for drop_ins in [[], *[[n] for n in names], ["cuda", "realtime", "dmabuf"], ["jetson", "realtime"]]:
            self.assertEqual(self.verify(self.unit(*drop_ins)), (0, ""), drop_ins)
        for planted in ("Nonsense=1", "WatchdogSec=soon"):
            self.assertNotEqual(self.verify(self.unit(more="[Service]\n%s\n" % planted))[1], "", planted)

    def test_command_of_several(self):
        """stixeld takes the command of the drop-in, and each of its instances has a folder."""
        text = read(FOLDER + "/drop-ins/several.conf")
        words = re.search(r"(?m)^ExecStart=\S+ (.*)$", text)[1].split()
        names = [b for a, b in zip(words, words[1:]) if a == "-i"]
        self.assertEqual(re.search(r"(?m)^RuntimeDirectory=(\S.*)$", text)[1], " ".join("stixeld/" + n for n in names))
        for name in names:
            with open("%s/%s.conf" % (self.folder, name), "w") as f:
                f.write("[source]\nkind = synthetic\n")
        words = [w.replace("/etc/stixeld", self.folder) for w in words]
        r = subprocess.run([STIXELD, *words, "--check-config"], capture_output=True, text=True)
        self.assertEqual(r.returncode, 0, r.stderr)

    @needs("systemd-analyze")
    def test_verify_socket(self):
        self.unit()
        path = self.folder + "/stixeld@front.socket"
        shutil.copy(FOLDER + "/stixeld@.socket", path)
        self.assertEqual(self.verify(path), (0, ""))

    @needs("systemd-analyze", 250)
    def test_security(self):
        """The limit is 1.0 for a daemon with GPU and cameras, and lower without a GPU."""
        whole = self.exposure()
        self.assertLessEqual(whole, 1.0)
        for name in ("cuda", "jetson", "dmabuf", "realtime"):
            self.assertLessEqual(self.exposure(name), 1.0, name)
        self.assertLess(self.exposure("cpu"), whole)
        self.assertLessEqual(self.exposure("files"), self.exposure("cpu"))
        self.assertGreater(self.exposure(more="[Service]\nUser=root\nPrivateNetwork=no\nRestrictAddressFamilies=\n"),
                           1.0)

    def web_unit(self, drop_in="", more=""):
        text = re.sub(r"(?m)^ExecStart=\S+", "ExecStart=" + WEB, read(WEB_UNIT))
        text += "\n" + read(FOLDER + "/drop-ins/%s.conf" % drop_in) if drop_in else ""
        with open(self.folder + "/stixel-web.service", "w") as f:
            f.write(text + more)
        return f.name

    @needs("systemd-analyze")
    def test_verify_metrics(self):
        for kind in ("service", "timer"):
            text = re.sub(r"(?m)^ExecStart=\S+", "ExecStart=" + STIXELD, read(FOLDER + "/stixel-metrics@." + kind))
            with open(self.folder + "/stixel-metrics@front." + kind, "w") as f:
                f.write(text)
        paths = [self.folder + "/stixel-metrics@front." + kind for kind in ("timer", "service")]
        for path in paths:
            self.assertEqual(self.verify(path), (0, ""))
        for path in paths:
            with open(path, "a") as f:
                f.write("[Unit]\nNonsense=1\n")
            self.assertNotEqual(self.verify(path)[1], "")

    @unittest.skipUnless(WEB, "stixel-web is not part of this build")
    @needs("systemd-analyze")
    def test_verify_web(self):
        for drop_in in ("", "web-lan"):
            self.assertEqual(self.verify(self.web_unit(drop_in)), (0, ""), drop_in)
        self.assertNotEqual(self.verify(self.web_unit(more="[Service]\nNonsense=1\n"))[1], "")

    @unittest.skipUnless(WEB, "stixel-web is not part of this build")
    @needs("systemd-analyze", 250)
    def test_security_web(self):
        """The limit is 1.5 for a service on the network. If other machines can reach it, the value is a little worse
        but below 2."""
        self.assertLessEqual(self.exposure_of(self.web_unit()), 1.5)
        self.assertLessEqual(self.exposure_of(self.web_unit("web-lan")), 2.0)
        self.assertGreater(self.exposure_of(self.web_unit(more="[Service]\nUser=root\nSystemCallFilter=\n")), 1.5)

    @unittest.skipUnless(WEB, "stixel-web is not part of this build")
    def test_web_options(self):
        """The line of /etc/default starts the program, and so does each example line in that file."""
        text = read(FOLDER + "/stixel-web.default")
        lines = re.findall(r'(?m)^(?:#   )?STIXEL_WEB_OPTIONS="(.*)"$', text)
        self.assertEqual(len(lines), 5)
        state = "/var/lib/" + re.search(r"(?m)^StateDirectory=(\S+)$", read(WEB_UNIT))[1]  # systemd makes it
        for line in lines:
            words = [self.folder if w == state else re.sub(r":\d+$", ":0", w) for w in line.split()]
            p = subprocess.Popen([WEB, *words], stderr=subprocess.PIPE, text=True)
            try:
                self.assertIn("http://", p.stderr.readline(), line)
            finally:
                p.terminate()
                p.communicate()
                self.assertEqual(p.returncode, 0, line)
        self.assertRegex(read(WEB_UNIT), r"(?m)^ExecStart=/\S+/stixel-web \$STIXEL_WEB_OPTIONS$")

    def unit_file(self, unit, name, drop_in="", more=""):
        """Makes a unit that starts /bin/true, with a drop-in and further lines. Returns its path."""
        text = re.sub(r"(?m)^ExecStart=\S+", "ExecStart=/bin/true", read(unit))
        text += "\n" + read(FOLDER + "/drop-ins/%s.conf" % drop_in) if drop_in else ""
        with open(self.folder + "/" + name, "w") as f:
            f.write(text + more)
        return f.name

    def bridge_unit(self, drop_in="", more=""):
        return self.unit_file(BRIDGE_UNIT, "stixel-bridge.service", drop_in, more)

    @unittest.skipUnless(BRIDGE_UNIT, "stixel-bridge is not part of this build")
    @needs("systemd-analyze")
    def test_verify_bridge(self):
        for drop_in in ("", "bridge-lan", "bridge-pairs"):
            self.assertEqual(self.verify(self.bridge_unit(drop_in)), (0, ""), drop_in)
        self.assertNotEqual(self.verify(self.bridge_unit(more="[Service]\nNonsense=1\n"))[1], "")

    @unittest.skipUnless(BRIDGE_UNIT, "stixel-bridge is not part of this build")
    @needs("systemd-analyze", 250)
    def test_security_bridge(self):
        """Same kind of limits as for the dashboard, because the bridge is on the network, too."""
        self.assertLessEqual(self.exposure_of(self.bridge_unit()), 1.6)
        self.assertLessEqual(self.exposure_of(self.bridge_unit("bridge-lan")), 2.0)
        self.assertGreater(self.exposure_of(self.bridge_unit(more="[Service]\nUser=root\nSystemCallFilter=\n")), 1.6)

    def segment_unit(self, drop_in=""):
        return self.unit_file(SEGMENT_UNIT, "stixel-segment@front.service", drop_in)

    @unittest.skipUnless(SEGMENT_UNIT, "stixel-segment is not part of this build")
    @needs("systemd-analyze")
    def test_verify_segment(self):
        for drop_in in ("", "segment-gpu"):
            self.assertEqual(self.verify(self.segment_unit(drop_in)), (0, ""), drop_in)

    @unittest.skipUnless(SEGMENT_UNIT, "stixel-segment is not part of this build")
    @needs("systemd-analyze", 250)
    def test_security_segment(self):
        """The service has no network, and with a GPU its devices."""
        self.assertLessEqual(self.exposure_of(self.segment_unit()), 1.2)
        self.assertLessEqual(self.exposure_of(self.segment_unit("segment-gpu")), 2.2)

    @needs("systemd-sysusers")
    def test_users(self):
        os.mkdir(self.folder + "/etc")
        r = subprocess.run(["systemd-sysusers", "--root=" + self.folder, *sorted(glob.glob(FOLDER + "/*.sysusers"))],
                           capture_output=True, text=True)
        self.assertEqual((r.returncode, "onflict" in r.stderr), (0, False), r.stderr)
        users = {line.split(":")[0]: line.split(":") for line in read(self.folder + "/etc/passwd").splitlines()}
        groups = {line.split(":")[0]: line.split(":")[3] for line in read(self.folder + "/etc/group").splitlines()}
        self.assertEqual(groups["stixel-feed"], "stixeld")  # stixeld may read what members of the group write
        self.assertEqual(groups["stixel-tune"], "")  # an administrator adds members by hand
        self.assertIn("nologin", users["stixeld"][6])
        if os.geteuid() == 0 and shutil.which("systemd-tmpfiles"):
            rules = os.path.join(FOLDER, "stixeld.tmpfiles")
            r = subprocess.run(["systemd-tmpfiles", "--root=" + self.folder, "--create", rules], capture_output=True,
                               text=True)
            self.assertEqual(r.returncode, 0, r.stderr)
            made = os.stat(self.folder + "/run/stixel-feed")
            feed = next(int(line.split(":")[2]) for line in read(self.folder + "/etc/group").splitlines()
                        if line.startswith("stixel-feed:"))
            self.assertEqual((made.st_uid, made.st_gid, oct(made.st_mode & 0o7777)), (0, feed, "0o3775"))
        self.assertLess(int(users["stixeld"][2]), 1000)
        units = [unit for unit in (UNIT, WEB_UNIT, BRIDGE_UNIT) if unit]
        named = [n for u in units for n in re.findall(r"(?m)^(?:User|Group)=(.*)$", read(u))]
        self.assertEqual(len(named), 2 * len(units))
        self.assertLessEqual(set(named), set(groups) | set(users))


MATCH = re.compile(r'(?:ACTION|KERNEL|SUBSYSTEM|ATTRS?\{\w+\}|ENV\{\w+\})(?:==|!=)"[^"]+"$')
ASSIGN = re.compile(r'(?:ENV\{\w+\}=|SYMLINK\+=|GROUP=|MODE=|GOTO=|LABEL=)"[^"]+"$')


def wrong_rules(text):
    """Returns rules that udev would not understand. Knows only the kinds of words in use here."""
    rules = [line for line in text.split("\n") if line and not line.startswith("#")]
    labels = set(re.findall(r'LABEL="(\w+)"', text))
    found = [r for r in rules if not all(MATCH.match(w) or ASSIGN.match(w) for w in re.split(r", (?=[A-Z])", r))]
    return found + [g for g in re.findall(r'GOTO="(\w+)"', text) if g not in labels]


class Rules(unittest.TestCase):
    def test_rules(self):
        for name in ("70-stixeld.rules", "65-cameras.rules"):
            text = read(os.path.join(FOLDER, name))
            self.assertEqual(wrong_rules(text), [])
            examples = re.sub(r'(?m)^#(?=(ENV|ATTR|SUBSYSTEM|KERNEL)\W)', "", text)
            self.assertEqual(wrong_rules(examples), [])
        self.assertGreater(examples.count("STIXELD_CAMERA"), 5)
        self.assertTrue(wrong_rules('SUBSYSTEM=="x" GROUP="y"'))
        self.assertTrue(wrong_rules('GOTO="nowhere"'))
        self.assertTrue(wrong_rules('SYMLINK="a'))

    def test_udev_takes_them(self):
        there = shutil.which("udevadm")
        if not there or subprocess.run([there, "verify", "--help"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no udevadm verify, which came with systemd 254")
        for name in ("70-stixeld.rules", "65-cameras.rules"):
            r = subprocess.run(["udevadm", "verify", os.path.join(FOLDER, name)], capture_output=True, text=True)
            self.assertEqual(r.returncode, 0, r.stdout + r.stderr)


class Example(unittest.TestCase):
    """Tests the installed example configuration: unchanged, and with its lines for cameras enabled."""

    def run_stixeld(self, text, *args):
        folder = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, folder)
        with open(folder + "/a.conf", "w") as f:
            f.write(text.replace("/etc/stixeld/front.yaml", folder + "/c.txt"))
        with open(folder + "/c.txt", "w") as f:
            f.write("fx = 700\nfy = 700\ncx = 320\ncy = 120\nbaseline_m = 0.12\n")
        os.mkdir(folder + "/shm")
        env = dict(os.environ, RUNTIME_DIRECTORY=folder, STIXELD_SHM_DIR=folder + "/shm")
        return subprocess.run([STIXELD, "--instance", "example", "-c", folder + "/a.conf", *args], capture_output=True,
                              text=True, env=env, timeout=60)

    def test_it_loads_and_runs(self):
        text = read(FOLDER + "/example.conf")
        r = self.run_stixeld(text, "--check-config")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        r = self.run_stixeld(text, "--frames", "3")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("3 frames published", r.stderr)

    def test_the_lines_for_cameras_load(self):
        text = read(FOLDER + "/example.conf").replace("kind = synthetic\n", "")
        text = re.sub(r"(?m)^#(?=\w+ = )", "", text)
        self.assertIn("\nkind = v4l2\n", text)
        r = self.run_stixeld(text, "--check-config")
        self.assertEqual((r.returncode, r.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
