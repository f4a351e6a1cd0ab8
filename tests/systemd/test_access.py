# Tests access rights: the daemon as the unit starts it (its user, group stixel, UMask=0077), readers inside and outside
# of that group, and users that write class scores.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
import time
import unittest

BUILD = os.environ["STIXEL_BUILD"]
DAEMON, READERS, READER, FEED, WRITER, TUNE, WEB = 61001, 61002, 61003, 61004, 61005, 61006, 61007
SKIP = 77
SYSUSERS = os.path.join(os.environ["STIXEL_SOURCE"], "systemd/stixeld.sysusers")
# 1000 members, so that the usual buffer for a group's entry is too small
GROUPS = "stixel:x:%d:\nstixel-tune:x:%d:\nstixel-feed:x:%d:%s\n" % (READERS, TUNE, FEED, ",".join(
    "member%04d" % i for i in range(1000)))
NUMBERS = {"stixel": READERS, "stixel-tune": TUNE, "stixel-feed": FEED, "stixel-web": WEB, "stixel-bridge": WEB,
           "stixel-segment": WEB}
with open(os.path.join(os.environ["STIXEL_SOURCE"], "systemd/stixeld.tmpfiles")) as rules:
    TMPFILES = rules.read()
SCORES = """
import ctypes, struct, sys, time
lib, writer, planes = ctypes.CDLL("libstixel.so.1"), ctypes.c_void_p(), ctypes.create_string_buffer(64)
e = lib.stixel_scores_create(ctypes.byref(writer), sys.argv[1].encode(),
                             struct.pack("<6IQ", 19, 160, 96, 4, 0, 0, 0), ctypes.c_size_t(32))
while e == 0:
    e = lib.stixel_scores_begin(writer, planes) or lib.stixel_scores_commit(
        writer, ctypes.c_int64(time.monotonic_ns()), ctypes.c_uint64(0), ctypes.c_uint64(0))
    time.sleep(0.02)
sys.exit("error %d" % e)
"""


class Access(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Copies programs to a place where every user may run them. Makes the folder of the sockets as
        RuntimeDirectory= would."""
        cls.name = "access-%d" % os.getpid()
        cls.shared = "/dev/shm/stixel-scores." + cls.name
        cls.top = tempfile.mkdtemp(prefix="stixel-")
        os.chmod(cls.top, 0o755)
        cls.bin = cls.top + "/bin"
        os.mkdir(cls.bin)
        for name in ("daemon/stixeld", "tools/stixelctl", "ipc/client/libstixel.so.1"):
            shutil.copy(os.path.join(BUILD, name), cls.bin)
        # in /run itself: readers trust a ring if its owner also owns this folder, and only root can give that owner the
        # folder
        cls.sockets = "/run/stixeld/" + cls.name
        os.makedirs("/run/stixeld", exist_ok=True)
        os.mkdir(cls.sockets, 0o750)
        os.chown(cls.sockets, DAEMON, READERS)
        with open(cls.top + "/group", "w") as group:
            group.write(GROUPS)
        cls.feed = cls.top + "/feed"
        os.mkdir(cls.feed)  # mode as in stixeld.tmpfiles; mounted below at the real place, in namespaces of this test
        os.chown(cls.feed, 0, FEED)
        os.chmod(cls.feed, int(re.search(r"(?m)^d /run/stixel-feed (\d+) root stixel-feed -$", TMPFILES).group(1), 8))
        cls.private = ["unshare", "-m", "sh", "-c", 'mount --bind "$0"/group /etc/group && '
                       'mkdir -p /run/stixel-feed && mount --bind "$0"/feed /run/stixel-feed && exec "$@"', cls.top]
        cls.known = subprocess.run([*cls.private, "true"], stderr=subprocess.DEVNULL).returncode == 0
        cls.private = cls.private if cls.known else []
        with open(SYSUSERS) as f:
            more = [NUMBERS[group] for group in re.findall(r"(?m)^m stixeld (\S+)$", f.read())]
        cls.env = {k: v for k, v in os.environ.items() if not k.startswith(("NOTIFY", "WATCHDOG", "LISTEN_"))}
        cls.env.update(LD_LIBRARY_PATH=cls.bin, RUNTIME_DIRECTORY=cls.sockets)
        settings = ["source.kind=synthetic", "source.size=160x96", "source.fps=20", "stereo.disparities=32",
                    "engine.threads=1", "engine.backend=cpu",
                    "semantics.source=" + cls.name, "external.pairs=yes"]
        with open(cls.top + "/log", "w") as log:
            cls.daemon = subprocess.Popen(
                [*cls.private, *cls.as_user(DAEMON, READERS, *more), cls.bin + "/stixeld", "--instance", cls.name,
                 *[w for s in settings for w in ("-s", s)]],
                env=cls.env, stdout=log, stderr=log, preexec_fn=lambda: os.umask(0o077))
        for _ in range(200):
            if cls.read_by(READERS, "wait", "--timeout", "1").returncode == 0 or cls.daemon.poll() is not None:
                break
            time.sleep(0.1)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.terminate()
        code = cls.daemon.wait(30)
        left = os.path.exists("/dev/shm/stixeld." + cls.name)
        shutil.rmtree(cls.top)
        shutil.rmtree(cls.sockets)
        if code != 0 or left:
            raise RuntimeError("stixeld ended with %d, ring left: %s" % (code, left))

    @staticmethod
    def as_user(uid, gid, *more):
        groups = "--groups=" + ",".join(map(str, more)) if more else "--clear-groups"
        return ["setpriv", "--reuid=%d" % uid, "--regid=%d" % gid, groups, "--no-new-privs"]

    @classmethod
    def read_by(cls, group, *args, uid=READER, name=None):
        """Runs stixelctl as a user that has another primary group and is a member of the given group, if any."""
        return subprocess.run([*cls.as_user(uid, uid, *([group] if group else [])), cls.bin + "/stixelctl", "-i",
                               name or cls.name, *args], env=cls.env, capture_output=True, text=True, timeout=60)

    def mode(self, path):
        st = os.stat(path)
        return st.st_uid, st.st_gid, oct(stat.S_IMODE(st.st_mode))

    def test_modes_do_not_depend_on_the_mask(self):
        self.assertEqual(self.mode("/dev/shm/stixeld." + self.name), (DAEMON, READERS, "0o640"))
        for name in ("status.sock", "frames.sock"):
            self.assertEqual(self.mode(self.sockets + "/" + name), (DAEMON, READERS, "0o660"), name)
        self.assertEqual(self.mode(self.sockets + "/lock"), (DAEMON, READERS, "0o600"))

    def test_a_member_of_the_group_reads_all(self):
        for args in (["dump", "--frames", "2"], ["status", "--json"], ["metrics"]):
            r = self.read_by(READERS, *args)
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertTrue(r.stdout)

    def test_a_member_of_the_group_reads_offered_pairs(self):
        """Their ring has the daemon's user as its owner, and no folder of its own."""
        r = self.read_by(READERS, "dump", "--frames", "1", name=self.name + ".pairs")
        self.assertEqual(r.returncode, 0, r.stderr)
        r = self.read_by(None, "dump", "--timeout", "2", name=self.name + ".pairs")
        self.assertEqual((r.returncode, r.stdout), (1, ""))
        self.assertRegex(r.stderr, "join its group|ermission denied")

    def test_the_map_is_for_reading_only(self):
        script = "import os,sys\ntry: os.open(sys.argv[1], os.O_RDWR)\nexcept PermissionError: sys.exit(7)"
        r = subprocess.run([*self.as_user(READER, READER, READERS), "/usr/bin/python3", "-c", script,
                            "/dev/shm/stixeld." + self.name], env=self.env)
        self.assertEqual(r.returncode, 7)

    def test_others_are_told_why_not(self):
        for args in (["dump", "--timeout", "2"], ["status"], ["metrics"]):
            r = self.read_by(None, *args)
            self.assertEqual((r.returncode, r.stdout), (1, ""), args)
            self.assertRegex(r.stderr, "join its group|ermission denied", args)

    def set_by(self, *groups, uid=READER):
        """Changes a setting as a user of these groups. Returns exit status and output."""
        r = subprocess.run([*self.as_user(uid, uid, *groups), self.bin + "/stixelctl", "-i", self.name, "set",
                            "road.top=33"], env=self.env, capture_output=True, text=True, timeout=60)
        return r.returncode, r.stdout + r.stderr

    def test_reading_is_not_changing(self):
        """Members of the socket's group can read. Changing settings needs another group as well; with that group
        alone a user cannot read."""
        if not self.known:
            self.skipTest("/etc/group cannot be another here")
        code, said = self.set_by(READERS)
        self.assertEqual(code, 77, said)
        self.assertIn("root, the daemon's own user and members of group stixel-tune change settings (usermod -aG "
                      "stixel-tune NAME", said)
        self.assertEqual(self.set_by(READERS, FEED)[0], 77)
        code, said = self.set_by(TUNE)
        self.assertEqual(code, 1, said)  # the folder of the socket belongs to the readers' group
        self.assertEqual(self.set_by(READERS, TUNE)[0], 0)
        self.assertEqual(self.set_by(TUNE, READERS)[0], 0)
        self.assertEqual(self.set_by(READERS, uid=DAEMON)[0], 0)
        self.assertEqual(subprocess.run([self.bin + "/stixelctl", "-i", self.name, "set", "road.top=33"], env=self.env,
                                        capture_output=True, timeout=60).returncode, 0)

    def test_no_other_service_may_change_settings(self):
        """Runs programs as the users of the units, with all groups that sysusers.d gives them."""
        if not self.known:
            self.skipTest("/etc/group cannot be another here")
        for name, unit, wanted in (("stixel-web", "stixel-web", ["stixel"]),
                                   ("stixel-bridge", "stixel-bridge", ["stixel"]),
                                   ("stixel-segment", "stixel-segment@", ["stixel", "stixel-feed"])):
            with open(os.path.join(os.path.dirname(SYSUSERS), unit + ".service.in")) as f:
                unit = f.read()
            with open(os.path.join(os.path.dirname(SYSUSERS), name + ".sysusers")) as f:
                groups = re.findall(r"(?m)^m %s (\S+)$" % name, f.read())
            groups += re.findall(r"(?m)^(?:Supplementary)?Groups?=(.*)$", unit)
            self.assertEqual(groups, wanted, name)
            self.assertEqual(self.set_by(*[NUMBERS[g] for g in groups], uid=WEB)[0], 77, name)

    def semantics_in(self, *states):
        for _ in range(200):
            said = json.loads(self.read_by(READERS, "status", "--json").stdout)["semantics"]
            if said["state"] in states:
                return said
            time.sleep(0.05)
        self.fail("never %s: %s" % (states, said))

    def semantics_of(self, *groups, first="absent"):
        """Returns the daemon's status about class scores that a user of these groups writes."""
        if not self.known:
            self.skipTest("/etc/group cannot be another here")
        self.semantics_in(first)
        writer = subprocess.Popen([*self.private, *self.as_user(WRITER, WRITER, *groups), "/usr/bin/python3", "-c",
                                   SCORES, self.name], env=self.env)
        try:
            return self.semantics_in(*{"refused", "reading"} - {first})
        finally:
            writer.kill()
            writer.wait()
            for path in (self.shared, self.feed + "/stixel-scores." + self.name):
                if os.path.exists(path):
                    os.unlink(path)

    # a library with a sanitizer cannot be loaded into python3
    @unittest.skipIf(os.environ["STIXEL_SANITIZED"], "python3 has no sanitizer")
    def test_scores_are_read_of_their_group(self):
        """Readers get the reason, with the group that is needed."""
        said = self.semantics_of(READERS)
        self.assertEqual(said["state"], "refused")
        self.assertIn("owner %d, group %d, mode 640: " % (WRITER, WRITER), said["reason"])
        self.assertIn("(make the writer a member: usermod -aG stixel-feed NAME), and only", said["reason"])
        self.assertEqual(self.semantics_of(READERS, FEED)["state"], "reading")

    @unittest.skipIf(os.environ["STIXEL_SANITIZED"], "python3 has no sanitizer")
    def test_scores_of_a_name_that_others_hold(self):
        """Any user may create files in /dev/shm. Such a file must not keep a member's scores from the daemon."""
        for path in (self.shared, "%s/stixel-scores.%s" % (self.feed, self.name)):
            r = subprocess.run([*self.as_user(READER, READER, READERS), "sh", "-c", 'umask 077; : > "$0"', path],
                               capture_output=True, text=True)
            self.assertEqual(r.returncode == 0, path == self.shared, r.stderr)
        self.addCleanup(lambda: os.path.exists(self.shared) and os.unlink(self.shared))
        self.assertEqual(self.semantics_of(FEED, first="silent")["state"], "reading")

    @unittest.skipIf(os.environ["STIXEL_SANITIZED"], "python3 has no sanitizer")
    def test_members_do_not_remove_each_others_rings(self):
        ring = "%s/stixel-scores.other" % self.feed
        subprocess.run([*self.as_user(WRITER, WRITER, FEED), "touch", ring], check=True)
        self.assertEqual((os.stat(ring).st_uid, os.stat(ring).st_gid), (WRITER, FEED))
        r = subprocess.run([*self.as_user(READER, READER, FEED), "rm", "-f", ring], stderr=subprocess.DEVNULL)
        self.assertNotEqual(r.returncode, 0)
        os.unlink(ring)


if __name__ == "__main__":
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        print("skipped: takes the identity of other users, so it needs to be root and setpriv (Debian package "
              "util-linux)")
        raise SystemExit(SKIP)
    unittest.main()
