# Recordings that are made, played and deleted from the page. They must stay inside their folder and its limits.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import signal
import subprocess
import time
import unittest

from support import SLOW, STIXEL_WEB, Daemon, Place, Stream, Web, until

TUNE = "X-Stixel-Tune: 1"
STIXELCTL = os.environ["STIXELCTL"]
# ThreadSanitizer skips tests of orders that are refused, of names and of damaged files. The other tests start and end
# the same threads, and other builds run all of them.
no_threads = unittest.skipIf(os.environ.get("SX_SANITIZED") == "thread", "the same threads as in other tests")


def info(path):
    """Returns what stixelctl info says of a recording, and its exit code."""
    done = subprocess.run([STIXELCTL, "info", "--json", path], stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout), done.returncode


class Case(unittest.TestCase):
    ARGS = ("--tune",)

    def setUp(self):
        self.place = Place()
        self.addCleanup(self.place.close)
        self.folder = os.path.join(self.place.top, "recordings")
        os.mkdir(self.folder, 0o750)
        self.daemon = Daemon(self.place, "rec").start()
        self.addCleanup(self.daemon.forget)
        self.web = self.start_web()

    def start_web(self, *more):
        return Web(self.place, "-i", self.daemon.name, "--recordings", self.folder, *self.ARGS, *more)

    def order(self, path, body, headers=(TUNE,), web=None):
        code, _, text = (web or self.web).ask(path, "POST", headers, body=body.encode())
        return code, text.decode().strip()

    def record(self, body, **more):
        return self.order("/api/%s/record" % self.daemon.name, body, **more)

    def listed(self, web=None):
        return (web or self.web).json("/api/recordings")

    def running(self):
        return self.web.json("/api/instances")["instances"][0].get("recording")

    def until_bytes(self, count=1):
        until(lambda: (self.running() or {}).get("bytes", 0) > count, 30, "bytes in the file")

    def children(self):
        with open("/proc/%d/task/%d/children" % (self.web.process.pid, self.web.process.pid)) as f:
            first = f.read().split()
        return first + [c for t in os.listdir("/proc/%d/task" % self.web.process.pid)
                        for c in self.read("/proc/%d/task/%s/children" % (self.web.process.pid, t)).split()]

    @staticmethod
    def read(path):
        try:
            with open(path) as f:
                return f.read()
        except OSError:
            return ""

    def make(self, seconds=1.0):
        """Makes a recording of several frames. Returns its name."""
        code, name = self.record("start")
        self.assertEqual(code, 200, name)
        self.until_bytes(200000)
        time.sleep(seconds)
        code, text = self.record("stop")
        self.assertEqual(code, 200, text)
        return name


class Recordings(Case):
    def test_start_and_stop(self):
        before = self.web.descriptors()
        code, name = self.record("start")
        self.assertEqual(code, 200)
        self.assertRegex(name, r"^%s-\d{8}-\d{6}Z\.mcap$" % self.daemon.name)
        code, text = self.record("start")
        self.assertEqual((code, text),
                         (409, "instance '%s' is being recorded already, to %s" % (self.daemon.name, name)))
        self.until_bytes(60000)  # with a frame
        self.assertEqual(self.running()["name"], name)
        self.assertEqual([r["recording"] for r in self.listed()["recordings"]], [True])
        self.assertEqual(self.order("/api/recordings/" + name, "delete")[0], 409)
        code, text = self.record("stop")
        self.assertEqual(code, 200)
        self.assertRegex(text, r"^%s: \d+ frames in [\d.]+ s, [\d.]+ MB, 0 lost$" % re.escape(name))
        self.assertEqual(self.record("stop"), (409, "instance '%s' is not being recorded" % self.daemon.name))
        self.assertIsNone(self.running())
        told, code = info(os.path.join(self.folder, name))
        self.assertEqual((code, told["complete"], told["instance"]), (0, True, self.daemon.name))
        listed, = self.listed()["recordings"]
        self.assertEqual([listed[key] for key in ("name", "frames", "instance")],
                         [name, told["frames"], self.daemon.name])
        self.assertEqual(os.stat(os.path.join(self.folder, name)).st_mode & 0o777, 0o640)
        # the file, as it is; then it is deleted
        code, headers, data = self.web.ask("/api/recordings/" + name)
        with open(os.path.join(self.folder, name), "rb") as f:
            self.assertEqual((code, data), (200, f.read()))
        self.assertEqual(headers["content-disposition"], 'attachment; filename="%s"' % name)
        self.assertEqual(self.order("/api/recordings/" + name, "delete"), (200, name + " was deleted"))
        self.assertEqual((os.listdir(self.folder), self.listed()["recordings"]), ([], []))
        self.assertEqual(self.children(), [])
        until(lambda: self.web.descriptors() <= before, what="all files closed")

    @no_threads
    def test_wrong_orders(self):
        for body in ("", "begin", "start\n", "stop stop"):
            self.assertEqual(self.record(body), (422, "expected: start or stop"), body)
        self.assertEqual(self.order("/api/nobody/record", "start")[0], 404)
        self.assertEqual(self.web.ask("/api/%s/record" % self.daemon.name)[0], 404)
        self.daemon.kill(signal.SIGTERM)
        code, text = self.record("start")
        self.assertEqual((code, text), (404, "no stixeld runs as instance '%s'" % self.daemon.name))
        self.assertEqual(os.listdir(self.folder), [])

    @no_threads
    def test_who_may(self):
        """The right is that of settings: --tune, the header, and no page of another site."""
        open(os.path.join(self.folder, "a.mcap"), "w").close()
        host = "http://127.0.0.1:%d" % self.web.port
        readers = Web(self.place, "-i", self.daemon.name, "--recordings", self.folder)
        nowhere = Web(self.place, "-i", self.daemon.name, "--tune")
        for path, body in (("/api/%s/record" % self.daemon.name, "start"), ("/api/recordings/a.mcap", "delete")):
            for headers in ((), (TUNE, "Origin: http://evil.example"), (TUNE, "Sec-Fetch-Site: cross-site"),
                            (TUNE, "Sec-Fetch-Site: same-site", "Origin: " + host)):
                self.assertEqual(self.order(path, body, headers)[0], 403, headers)
            self.assertEqual(self.order(path, body, web=readers),
                             (403, "nothing can be changed here: stixel-web was started without --tune"))
        self.assertEqual(self.record("start", web=nowhere)[0], 403)
        self.assertEqual(self.order("/api/recordings/a.mcap", "delete", web=nowhere)[0], 404)
        self.assertEqual(nowhere.ask("/api/recordings")[0], 404)
        self.assertEqual([web.json("/api/instances")["recordings"] for web in (readers, nowhere)], [True, False])
        self.assertEqual(os.listdir(self.folder), ["a.mcap"])
        # a link on another site's page does not load a recording
        link = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"]
        self.assertEqual(self.web.ask("/api/recordings/a.mcap", headers=link)[0], 403)

    @no_threads
    def test_names_that_lead_elsewhere(self):
        secret = os.path.join(self.place.top, "secret.mcap")
        with open(secret, "w") as f:
            f.write("secret")
        os.symlink(secret, os.path.join(self.folder, "link.mcap"))
        os.symlink(self.place.top, os.path.join(self.folder, "up.mcap"))
        os.mkdir(os.path.join(self.folder, "folder.mcap"))
        os.mkfifo(os.path.join(self.folder, "pipe.mcap"))
        for name in (".hidden.mcap", "other.txt", "a b.mcap"):
            open(os.path.join(self.folder, name), "w").close()
        there = sorted(os.listdir(self.folder))
        for name in ("link.mcap", "up.mcap", "up.mcap/secret.mcap", "folder.mcap", "pipe.mcap", ".hidden.mcap",
                     "other.txt", "../secret.mcap", "..%2fsecret.mcap", "%2e%2e/secret.mcap",
                     "folder.mcap/../../secret.mcap", "a%20b.mcap", "none.mcap", ".mcap", "a" * 200 + ".mcap",
                     "link.mcap%00.mcap", "/secret.mcap", "%0a.mcap"):
            for end in ("", "/info", "/stream"):
                code, _, body = self.web.ask("/api/recordings/" + name + end)
                self.assertIn(code, (400, 404), name + end)
                self.assertNotIn(b"secret\n", body)
                self.assertNotEqual(body, b"secret")
            self.assertIn(self.order("/api/recordings/" + name, "delete")[0], (400, 404, 405), name)
        self.assertEqual(self.listed()["recordings"], [])
        self.assertEqual(sorted(os.listdir(self.folder)), there)
        with open(secret) as f:
            self.assertEqual(f.read(), "secret")

    def test_play(self):
        name = self.make(2.0)
        told = self.web.json("/api/recordings/%s/info" % name)
        self.assertEqual((told["instance"], told["whole"]), (self.daemon.name, True))
        everything = self.frames(name, "")
        self.assertEqual(len(everything), told["frames"])
        self.assertEqual([n for n, _ in everything], sorted(n for n, _ in everything))
        self.assertTrue(all(left.startswith(b"\xff\xd8") for _, left in everything))  # JPEG
        half = int(500 * told["seconds"])
        first, rest = self.frames(name, "&to=%d" % half), self.frames(name, "&from=%d" % half)
        self.assertEqual(first + rest, everything)
        self.assertTrue(first and rest)
        self.assertEqual(self.frames(name, "&from=100000000"), [])
        planes = Stream(self.web, "/api/recordings/%s/stream?planes=left" % name)
        self.assertGreater(len(set(planes.next("frame").payload[-320 * 100:])), 20)  # pixels, not zeros
        planes.close()
        for wrong in ("from=-1", "to=x", "free=maybe", "images=right"):
            self.assertEqual(self.web.ask("/api/recordings/%s/stream?%s" % (name, wrong))[0], 400, wrong)

    def frames(self, name, more):
        """Returns (number, left image) of each frame."""
        code, _, _ = self.web.ask("/api/recordings/%s/stream" % name, "HEAD")
        self.assertEqual(code, 200)
        got, left = [], {}
        played = Stream(self.web, "/api/recordings/%s/stream?images=left&scale=yes&free=yes%s" % (name, more))
        try:
            while True:
                message = played.next()
                if message.kind == "left":
                    left[message.number] = message.payload
                if message.kind == "frame":
                    got.append((message.number, left.get(message.number, b"")))
        except EOFError:
            played.close()
        return got

    @no_threads
    def test_damaged_files(self):
        name = self.make()
        with open(os.path.join(self.folder, name), "rb") as f:
            data = f.read()
        files = {"empty.mcap": b"", "noise.mcap": os.urandom(5000), "cut.mcap": data[:len(data) * 2 // 3],
                 "hole.mcap": data[:5000] + bytes(3000) + data[8000:]}
        for other, content in files.items():
            with open(os.path.join(self.folder, other), "wb") as f:
                f.write(content)
        self.assertEqual(len(self.listed()["recordings"]), 5)
        for other in ("empty.mcap", "noise.mcap"):
            for end in ("/info", "/stream"):
                self.assertEqual(self.web.ask("/api/recordings/" + other + end)[0], 422, other)
        cut = self.web.json("/api/recordings/cut.mcap/info")
        self.assertFalse(cut["whole"])
        self.assertEqual(len(self.frames("cut.mcap", "")), cut["frames"])
        self.frames("hole.mcap", "")

    def test_the_daemon_restarts(self):
        _, name = self.record("start")
        self.until_bytes(20000)
        self.daemon.kill(signal.SIGKILL)
        self.daemon.forget()
        time.sleep(1.5)  # what waits for the file reaches it after a second
        before = self.running()["bytes"]
        self.daemon.start()
        self.until_bytes(before + 20000)
        code, text = self.record("stop")
        self.assertEqual(code, 200)
        self.assertIn("the instance was restarted in between", text)
        self.assertEqual(len(info(os.path.join(self.folder, name))[0]["publishers"]), 2)

    def test_the_end_of_stixel_web(self):
        """Whatever ends stixel-web, the recorder ends in order and leaves a whole file."""
        for how in (signal.SIGTERM, signal.SIGKILL):
            _, name = self.record("start")
            self.until_bytes(20000)
            recorder = int(self.children()[0])
            self.web.process.send_signal(how)
            self.web.process.wait(20 * SLOW)
            until(lambda: not re.search(r"\(stixelctl\) [^Z]", self.read("/proc/%d/stat" % recorder)), 20,
                  "the end of the recorder")
            told, code = info(os.path.join(self.folder, name))
            self.assertEqual((code, told["complete"]), (0, True))
            self.web = self.start_web()

    def test_a_browser_that_leaves(self):
        """The recording goes on, and a later visitor stops it."""
        self.record("start")
        stream = self.web.stream(self.daemon)
        stream.next("frame")
        stream.close()
        self.until_bytes(20000)
        self.assertEqual(self.record("stop")[0], 200)

    def test_a_recorder_that_dies(self):
        self.record("start")
        self.until_bytes()
        os.kill(int(self.children()[0]), signal.SIGKILL)
        until(lambda: self.running() is None, what="the end")
        ended, = self.listed()["ended"]
        self.assertEqual((ended["failed"], ended["said"]), (True, "stixelctl record ended with signal 9"))
        self.assertEqual(self.children(), [])  # no zombie
        self.make(0)


class Limits(Case):
    ARGS = ("--tune", "--recordings-mb", "10")

    def test_the_folder_is_full(self):
        _, name = self.record("start")
        self.until_bytes(20000)
        with open(os.path.join(self.folder, "other"), "wb") as f:
            f.truncate(10**7)
        until(lambda: self.running() is None, 20, "the end")
        limit = "the recordings take 10 MB, the most that --recordings-mb allows"
        ended, = self.listed()["ended"]
        self.assertEqual((ended["failed"], ended["said"]), (False, "ended: " + limit))
        self.assertTrue(info(os.path.join(self.folder, name))[0]["complete"])
        self.assertEqual(self.record("start"), (507, limit))

    @no_threads
    def test_the_disk_is_full(self):
        """The recording ends before the disk is full; if another program fills it, what was written can be read."""
        disk = os.path.join(self.place.top, "disk")
        os.mkdir(disk)
        mount = ["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "none", disk]
        if subprocess.run(mount, stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("no right to mount a file system")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        self.folder = disk
        self.web = self.start_web()
        _, name = self.record("start")
        self.until_bytes(20000)
        with open(os.path.join(disk, "other"), "wb") as f:
            try:
                f.write(bytes(10**7))
            except OSError:
                pass
        until(lambda: self.running() is None, 20, "the end")
        ended, = self.listed()["ended"]
        self.assertRegex(ended["said"], "^ended: the disk is nearly full|No space left on device")
        self.assertGreater(info(os.path.join(disk, name))[0]["frames"], 0)
        self.assertEqual(self.record("start"), (507, "the disk is nearly full"))

    @no_threads
    def test_folders_that_do_not_suit(self):
        start = lambda *args: subprocess.run([STIXEL_WEB, "--listen", "127.0.0.1:0", *args],
                                             stderr=subprocess.PIPE, check=False)
        os.chmod(self.folder, 0o777)
        done = start("--recordings", self.folder)
        self.assertEqual((done.returncode, done.stderr.decode()),
                         (77, "stixel-web: %s: every user may write to this folder; run chmod o-w\n" % self.folder))
        for path in (self.folder + "/none", STIXEL_WEB):
            done = start("--recordings", path)
            self.assertEqual(done.returncode, 73)
            self.assertIn("cannot write to the folder " + path, done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
