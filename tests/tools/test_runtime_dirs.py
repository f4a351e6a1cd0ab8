# Tests that every program finds an instance in each of the runtime directories. If two instances have one name, all
# programs take the same one. The programs are stixelctl (status, metrics, top, doctor), stixel-web, and libstixel with
# the Python module. The sockets are fakes that only answer.
#
# SPDX-License-Identifier: Apache-2.0
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading
import unittest

from support import BUILD, Folder, program, run

WEB = os.path.join(BUILD, "tools/web/stixel-web")
LIBRARY = os.path.join(BUILD, "ipc/client/libstixel.so.1")
# A library with a sanitizer cannot be loaded into a Python without one.
LOADABLE = not os.environ.get("SX_SANITIZED")
STREAM = 2  # STIXEL_OPEN_STREAM
OPEN = """
import ctypes, sys
lib, r = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p()
sys.exit(-lib.stixel_open(ctypes.byref(r), sys.argv[2].encode(), %d))
""" % STREAM


class Fake:
    """Serves both sockets of an instance in one place. The answer names this place."""

    def __init__(self, folder, name, listens=True):
        self.folder, self.readers, self.place = os.path.join(folder, name), 0, os.path.dirname(folder)
        os.makedirs(self.folder)
        self.sockets, self.kept = [], []
        for file, kind in (("status.sock", socket.SOCK_STREAM), ("frames.sock", socket.SOCK_SEQPACKET)):
            s = socket.socket(socket.AF_UNIX, kind)
            s.bind(os.path.join(self.folder, file))
            self.sockets.append(s)
            if not listens:  # the sockets of a killed daemon
                s.close()
                continue
            s.listen(8)
            threading.Thread(target=self.status if kind == socket.SOCK_STREAM else self.frames, args=(s,),
                             daemon=True).start()

    def status(self, listening):
        while True:
            try:
                c, _ = listening.accept()
            except OSError:
                return
            with c:
                target = c.recv(4096).split()[1]
                body = json.dumps({"schema": 1, "instance": "x", "pid": 1, "state": "running", "version": self.place})
                if target == b"/metrics":
                    body = '# TYPE place info\n# HELP place Here.\nplace_info{place="%s"} 1\n# EOF\n' % self.place
                c.sendall(("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(body),
                                                                                                     body)).encode())

    def frames(self, listening):
        while True:
            try:
                self.kept.append(listening.accept()[0])
            except OSError:
                return
            self.readers += 1

    def close(self):
        for s in self.sockets + self.kept:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()
        for file in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, file))
        os.rmdir(self.folder)


class Places(Folder):
    def setUp(self):
        super().setUp()
        self.name = "places-%d" % os.getpid()
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.folder, STIXEL_DOCTOR_ROOT=self.folder)
        user = "/run/user/%d" % os.geteuid()
        if os.geteuid() == 0 and not os.path.exists(user):
            self.made(user)
        wanted = ["/run/stixeld", self.path("stixeld"), user + "/stixeld"]  # in the order in which programs try them
        self.places = [p for p in wanted if os.path.isdir(p) and os.access(p, os.W_OK) or self.made(p)]

    def made(self, folder):
        try:
            os.mkdir(folder)
        except OSError:
            return False
        self.addCleanup(self.unmake, folder)
        return True

    @staticmethod
    def unmake(folder):
        try:
            os.rmdir(folder)
        except OSError:
            pass  # another process uses it by now

    def fake(self, place, **more):
        f = Fake(place, self.name, **more)
        self.addCleanup(f.close)
        return f

    def web(self):
        """Returns the answers of stixel-web: names of all instances, and status and metrics of this instance."""
        with open(self.path("web.log"), "w+b") as log:
            p = subprocess.Popen([WEB, "--listen", "127.0.0.1:0"], stdout=log, stderr=log, env=self.env)
            try:
                text = ""
                while p.poll() is None and not re.search(r"http://\S+:(\d+)/", text):
                    with open(self.path("web.log"), errors="replace") as f:
                        text = f.read()
                port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", text).group(1))
                answers = []
                for target in ("/api/instances", "/api/%s/status" % self.name, "/metrics"):
                    c = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                    c.request("GET", target)
                    answers.append(c.getresponse().read().decode())
                    c.close()
                return answers
            finally:
                p.terminate()
                p.wait()

    def everyone(self, fake):
        """Checks that all programs connect to this instance."""
        def ctl(*args):
            return run("stixelctl", *args, "-i", self.name, env=self.env).stdout

        self.assertEqual(json.loads(ctl("status", "--json"))["version"], fake.place)
        self.assertIn('place="%s"' % fake.place, ctl("metrics"))
        self.assertIn(self.name, ctl("top", "--once"))
        self.assertIn("the daemon is version %s," % fake.place, " ".join(ctl("doctor").split()))
        if os.path.exists(WEB):
            names, status, metrics = self.web()
            self.assertEqual(names.count(self.name), 1, names)
            self.assertEqual(json.loads(status)["version"], fake.place)
            self.assertIn('place="%s"' % fake.place, metrics)
        if not LOADABLE:
            return
        before = fake.readers
        r = subprocess.run([sys.executable, "-c", OPEN, LIBRARY, self.name], env=self.env, timeout=60)
        self.assertEqual(r.returncode, 0)
        for _ in range(500):
            if fake.readers > before:
                break
            threading.Event().wait(0.01)
        self.assertEqual(fake.readers, before + 1)

    def test_each_place(self):
        self.assertIn(self.path("stixeld"), self.places)
        for place in self.places:
            with self.subTest(place):
                fake = Fake(place, self.name)
                try:
                    self.everyone(fake)
                finally:
                    fake.close()

    def test_all_take_the_same_one(self):
        fakes = [self.fake(p) for p in self.places]
        self.everyone(fakes[0])

    def test_what_a_killed_one_left_is_passed(self):
        if len(self.places) < 2:
            self.skipTest("only one place can be written here")
        self.fake(self.places[0], listens=False)
        self.everyone(self.fake(self.places[1]))

    def test_a_relative_variable_is_no_place(self):
        self.fake(self.path("stixeld"))
        self.env["XDG_RUNTIME_DIR"] = "."
        r = run("stixelctl", "status", "-i", self.name, env=self.env, cwd=self.folder)
        self.assertEqual(r.returncode, 1)
        self.assertIn("no stixeld runs as instance '%s'" % self.name, r.stderr)
        if LOADABLE:
            r = subprocess.run([sys.executable, "-c", OPEN, LIBRARY, self.name], env=self.env, cwd=self.folder)
            self.assertEqual(r.returncode, 2)  # -ENOENT

    def test_nobody(self):
        self.assertEqual(run("stixelctl", "status", "-i", self.name, env=self.env).returncode, 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
