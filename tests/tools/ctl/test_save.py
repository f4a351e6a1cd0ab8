# Tests stixelctl save with a hostile status socket: root runs the command, and the answering process belongs to another
# user.
# SPDX-License-Identifier: Apache-2.0
import ctypes
import json
import os
import shutil
import socket
import stat
import tempfile
import threading
import unittest

from support import run

OTHER = 65534
KEYS = {"road.top": {"value": "40", "live": True}}
MAIN = "[source]\nkind = synthetic\n"


class Liar:
    """A status socket that sends one answer to every request."""

    def __init__(self, folder, name):
        os.makedirs(os.path.join(folder, "stixeld", name))
        self.answer, self.on_ask = b"", None
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(os.path.join(folder, "stixeld", name, "status.sock"))
        self.socket.listen(5)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                c, _ = self.socket.accept()
            except OSError:
                return
            with c:
                c.recv(4096)
                if self.on_ask:
                    self.on_ask()
                try:
                    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
                              b"Content-Length: %d\r\n\r\n%s" % (len(self.answer), self.answer))
                except OSError:
                    pass

    def stop(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()


class Starting(unittest.TestCase):
    """A starting daemon serves its status before it has a ring."""

    def test_it_starts(self):
        top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, top)
        name = "starts-%d" % os.getpid()
        liar = Liar(top, name)
        self.addCleanup(liar.stop)
        for state, sentence in (("starting", "instance '%s' starts, and has no frames yet: try again"),
                                ("running", r"instance '%s' runs \(running\), but has no ring")):
            liar.answer = json.dumps({"instance": name, "state": state, "version": "0", "pid": 1}).encode()
            r = run("stixelctl", "-i", name, "dump", "--timeout", "0.2", env=dict(os.environ, XDG_RUNTIME_DIR=top))
            self.assertEqual((r.returncode, r.stdout), (1, ""), r.stderr)
            self.assertRegex(r.stderr, sentence % name)
            self.assertNotIn("no stixeld runs", r.stderr)


class NoJson(unittest.TestCase):
    def test_every_command_says_the_same(self):
        top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, top)
        name = "garbled-%d" % os.getpid()
        liar = Liar(top, name)
        self.addCleanup(liar.stop)
        for liar.answer, sentence in ((b'{"state": "run', r"is no object of JSON: .+\n$"),
                                      (b"[1]", r"is no object of JSON\n$")):
            for command in (["status"], ["status", "--json"], ["get"], ["endurance", "--duration", "1"]):
                r = run("stixelctl", "-i", name, *command, env=dict(os.environ, XDG_RUNTIME_DIR=top))
                self.assertEqual((r.returncode, r.stdout), (65, ""), command)
                self.assertRegex(r.stderr, "^stixelctl: '%s' answered GET /s[a-z]+ with what " % name + sentence)


class Save(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, self.top)
        os.chmod(self.top, 0o755)
        self.name = "liar-%d" % os.getpid()
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.top)
        self.liar = Liar(self.top, self.name)
        self.addCleanup(self.liar.stop)
        self.victim = self.make("victim.d")
        self.mine = self.make("mine")  # a folder of the answering user, as /run/stixeld/NAME is
        os.chown(self.mine, OTHER, OTHER)

    def make(self, *names):
        path = os.path.join(self.top, *names)
        os.makedirs(path)
        return path

    def write(self, path, text=MAIN):
        with open(path, "w") as f:
            f.write(text)
        return path

    def tree(self):
        """Returns all files with their content, to check that nothing has changed."""
        found = {}
        for folder, folders, files in os.walk(self.top):
            for name in [*folders, *files]:
                path = os.path.join(folder, name)
                st = os.lstat(path)
                found[path] = [st.st_mode, st.st_uid, st.st_ino]
                if stat.S_ISREG(st.st_mode):
                    with open(path, encoding="utf-8") as f:
                        found[path].append(f.read())
        return found

    def save(self, file, *operands, keys=None, overrides=(), umask=0o022):
        self.liar.answer = json.dumps({"file": file, "overrides": list(overrides), "keys": KEYS if keys is None
                                       else keys}).encode()
        before = os.umask(umask)
        try:
            return run("stixelctl", "-i", self.name, "save", *operands, env=self.env)
        finally:
            os.umask(before)

    def refused(self, code, sentence, *args, **more):
        before = self.tree()
        r = self.save(*args, **more)
        self.assertEqual((r.returncode, r.stdout), (code, ""), r.stderr)
        self.assertRegex(r.stderr, sentence)
        self.assertTrue(r.stderr.replace("\n", "").isprintable(), r.stderr)
        self.assertEqual(self.tree(), before)

    def test_values_pass_the_option_table(self):
        main = self.write(self.top + "/main.conf")

        def key(name, value, code=65, sentence="was set live: "):
            self.refused(code, sentence, main, keys={**KEYS, name: {"value": value, "live": True}})

        for text in ("\n[Service]\nExecStart=/bin/sh", "a\rb", "a\tb", "\x1b[2J", "\u009b31m", "\u202egnp.exe", "x ;y",
                     " x", "x" * 512, "\ufeff"):
            key("source.controls", text, sentence="set live: found .*nothing was written")
        for text in ("", "high", "1e9", "40\n[source]\nkind = files", "40 # 41", 40, None, ["40"], True):
            key("road.top", text)
        for name in ("Service.ExecStart", "road.top\n[Service]\nExecStart", "[road]", "road", ".", "", "road.top ",
                     "no.key", "road.\u202etop"):
            key(name, "40", sentence="knows no such key")
        key("source.left", "/etc/shadow", sentence="needs a restart")
        key("output.slots", "8", sentence="needs a restart")

    def test_answers_that_are_none(self):
        main = self.write(self.top + "/main.conf")
        self.refused(65, "not what was expected", main, keys=["road.top"])
        long = {"x%d" % i: {"value": "y" * 1000, "live": True} for i in range(1200)}
        self.refused(65, "more than|too long|MiB|bytes", main, keys=long)
        self.refused(65, "knows no such key", main, keys={"x%d" % i: {"value": "1", "live": True} for i in range(9999)})
        for file in ("relative.conf", "", "/", self.top + "/", self.top + "/..", self.top + "/\x1b[2J.conf",
                     "/" + "x/" * 3000 + "a.conf", "/etc/stixeld/other-%s.conf" % self.name):
            r = self.save(file)
            self.assertIn(r.returncode, (65, 73, 77, 78), (file, r.stderr))
            self.assertTrue(r.stderr.rstrip("\n").isprintable(), r.stderr)

    def test_only_files_of_root_and_the_caller_are_believed(self):
        foreign = self.write(self.mine + "/a")
        os.symlink(self.victim, foreign + ".d")
        # refused even if root, the caller, owns the file in the folder
        self.refused(77, "folder 'mine' belongs to user %d" % OTHER, foreign)
        os.chown(foreign, OTHER, OTHER)
        self.refused(77, "folder 'mine' belongs to user %d" % OTHER, foreign)
        main = self.write(self.top + "/main.conf")
        os.chown(main, OTHER, OTHER)
        self.refused(77, "the file '.*main.conf' belongs to user %d" % OTHER, main)
        os.chown(main, 0, 0)
        os.chmod(main, 0o666)
        self.refused(77, "may be written by others", main)
        os.chmod(main, 0o644)
        folder = self.make("main.conf.d")
        for uid, gid, mode in ((OTHER, 0, 0o755), (0, OTHER, 0o775), (0, 0, 0o757), (0, 0, 0o1777)):
            os.chown(folder, uid, gid)
            os.chmod(folder, mode)
            self.refused(77, "folder 'main.conf.d' (belongs to user|may be written by others)", main)
        os.chown(folder, 0, 0)
        os.chmod(folder, 0o755)
        live = self.write(folder + "/90-live.conf", "# Written by stixelctl save: what was set live\n")
        os.chown(live, OTHER, OTHER)
        self.refused(77, "90-live.conf' belongs to user", main)

    def test_links_at_each_level(self):
        real = self.make("real")
        main = self.write(real + "/main.conf")
        os.symlink(real, self.top + "/link")
        self.refused(77, "'link' on the way of the file that the daemon names is a link", self.top + "/link/main.conf")
        os.symlink(main, real + "/other.conf")
        self.refused(77, "other.conf, which the daemon says it reads, is a link", real + "/other.conf")
        os.symlink(self.victim, main + ".d")
        self.refused(73, "main.conf.d is a link", main)
        os.unlink(main + ".d")
        os.mkdir(main + ".d")
        os.symlink(self.victim + "/shadow", main + ".d/90-live.conf")
        self.refused(73, "90-live.conf exists, and is no regular file", main)
        self.write(self.victim + "/shadow", "# Written by stixelctl save: what was set live\n")
        self.refused(73, "90-live.conf exists, and is no regular file", main)
        # The caller chose the operand, but links of other users must not be followed.
        os.symlink(self.victim, self.mine + "/link")
        os.chown(self.mine + "/link", OTHER, OTHER, follow_symlinks=False)
        self.refused(77, "the link 'link' belongs to user", main, self.mine + "/link/x.conf")
        self.refused(73, "no regular file", main, main + ".d/90-live.conf")
        for operand in (self.top + "/real/", self.top + "/real/..", "."):
            self.refused(73, "Is a directory", main, operand)
        self.assertEqual(self.save(main, self.top + "/link/x.conf").returncode, 0)  # the caller's own link
        self.assertTrue(os.path.isfile(real + "/x.conf"))

    def test_neither_file_nor_folder(self):
        fifo = self.top + "/fifo.conf"
        os.mkfifo(fifo)
        self.refused(77, "no regular file", fifo)
        self.refused(73, "no regular file", fifo, fifo)
        main = self.write(self.top + "/main.conf")
        os.mkfifo(main + ".d")
        self.refused(73, "main.conf.d is no folder", main)
        os.unlink(main + ".d")
        os.mkdir(main + ".d")
        os.mkfifo(main + ".d/90-live.conf")
        self.refused(73, "no regular file", main)
        os.unlink(main + ".d/90-live.conf")
        os.mkdir(main + ".d/90-live.conf")
        self.refused(73, "no regular file", main)

    def test_a_hard_link_keeps_its_text(self):
        main = self.write(self.top + "/main.conf")
        os.mkdir(main + ".d")
        text = "# Written by stixelctl save: what was set live\n"
        self.write(self.victim + "/kept", text)
        os.link(self.victim + "/kept", main + ".d/90-live.conf")
        self.assertEqual(self.save(main).returncode, 0)
        with open(self.victim + "/kept") as f:
            self.assertEqual(f.read(), text)

    def test_a_folder_that_is_exchanged_meanwhile(self):
        main = self.write(self.mine + "/main.conf")
        os.mkdir(main + ".d")

        def swap():
            os.rename(main + ".d", main + ".was")
            os.symlink(self.victim, main + ".d")
        self.liar.on_ask = swap
        r = self.save(main)
        self.assertEqual((r.returncode, os.listdir(self.victim)), (77, []), r.stderr)

    def test_the_whole_is_checked_before(self):
        main = self.write(self.top + "/main.conf", MAIN + "[stixels]\nwidth = 4\n")
        self.refused(78, "a restart would fail: nothing was written", main,
                     keys={"camera.calibration": {"value": self.top + "/none.yml", "live": True}})
        self.assertFalse(os.path.exists(main + ".d"))
        self.write(main, "[source]\nkind = syntetic\n")
        self.refused(78, "as it lies on disk is refused: nothing was written", main)

    def test_a_device_is_not_opened(self):
        """Opening a device may already have an effect, such as starting a watchdog."""
        main = self.write(self.top + "/main.conf")
        pipe = self.top + "/pipe"
        os.mkfifo(pipe)
        libc = ctypes.CDLL(None, use_errno=True)
        watch = libc.inotify_init1(os.O_NONBLOCK)
        self.addCleanup(os.close, watch)
        self.assertGreater(libc.inotify_add_watch(watch, os.fsencode(pipe), 0x20), 0)  # IN_OPEN
        self.refused(78, "not a regular file", main, overrides=["camera.calibration=" + pipe])
        self.assertRaises(BlockingIOError, os.read, watch, 100)

    def test_good(self):
        main = self.write(self.top + "/main.conf")
        keys = {"stixels.width": {"value": "8", "live": True}, "source.controls": {"value": "gain=3", "live": True},
                "road.top": {"value": "040", "live": True}, "road.bottom": {"value": "\n[x]", "live": False}}
        r = self.save(main, keys=keys, umask=0o077)
        live = main + ".d/90-live.conf"
        self.assertEqual((r.returncode, r.stdout), (0, "3 keys in %s\n" % live), r.stderr)
        with open(live) as f:
            self.assertEqual(f.read().split("\n", 1)[1], "\n[source]\ncontrols = gain=3\n\n[road]\ntop = 40\n\n"
                                                         "[stixels]\nwidth = 8\n")
        self.assertEqual([oct(os.stat(p).st_mode & 0o777) for p in (main + ".d", live)], ["0o755", "0o644"])
        self.assertEqual(os.listdir(main + ".d"), ["90-live.conf"])


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: needs root, as who runs save, and to give files to another user")
        raise SystemExit(77)
    unittest.main()
