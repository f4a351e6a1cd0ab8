# stixel-web for remote clients: passwords, TLS, and pictures as a stream like that of a network camera.
# SPDX-License-Identifier: Apache-2.0
import concurrent.futures
import copy
import os
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import unittest
import warnings

from support import FPS, HASHES, IDLE, LEGEND, SLOW, STIXEL_WEB, Daemon, Keys, Place, Web, hash_of, picture, until

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemon"))
import openmetrics  # noqa: E402


class Files(unittest.TestCase):
    """An error in a file is reported at once, in one sentence."""

    def setUp(self):
        self.place = Place()
        self.addCleanup(self.place.close)
        self.keys = Keys(self.place.top)

    def refused(self, code, words, *args):
        r = subprocess.run([STIXEL_WEB, "--listen", "127.0.0.1:0", *args], capture_output=True, text=True, timeout=60)
        self.assertEqual((r.returncode, r.stdout, r.stderr.count("\n")), (code, "", 1), r.stderr)
        self.assertIn(words, r.stderr)
        return r.stderr

    def test_passwords(self):
        good = "a:" + hash_of("x", HASHES["sha512"])
        for text, words in (("", "no user"), ("# none\n", "no user"), ("geheim\n", ":1: expected USER:HASH"),
                            (":" + good, ":1: expected USER:HASH"), ("\na:geheim\n", ":2: not a hash"),
                            ("a:$apr1$abcdefgh$NXuoAO1nRRnvTqB2hUhRP1", "htpasswd -B"), ("a:$1$a$b", "mkpasswd"),
                            # complete, but weak: MD5, SHA-256, DES
                            *(("a:" + hash_of("x", salt), ":1: not a hash of a strong kind")
                              for salt in ("$1$abcdefgh$", "$5$abcdefgh$", "ab")),
                            ("a:$2y$04$abcdefghijklmnopqrstuu", "not a hash"), (good[:-1], "not a hash"),
                            ("%s\n%s\n" % (good, good), ":2: this user was there before"),
                            ("u" * 65 + good[1:], "expected USER:HASH"),
                            ("".join("u%d%s\n" % (i, good[1:]) for i in range(33)), ":33: more users"),
                            ("a" * 300000, "not a text of at most 256 kB"), (good + "\0", "not a text")):
            self.assertNotIn("geheim", self.refused(65, words, "--password-file", self.keys.write("users", text)))
        self.refused(66, "No such file", "--password-file", self.keys.path("none"))
        self.refused(66, "Is a directory", "--password-file", self.keys.folder)
        for mode in (0o604, 0o602):
            self.refused(77, "every user may read or change it", "--password-file",
                         self.keys.write("users", good, mode))

    def test_certificates(self):
        good, other = self.keys.pair("good"), self.keys.pair("other")
        self.keys.pair("locked", "-passout", "pass:geheim")
        self.refused(64, "need each other", *good[:2])
        self.refused(64, "need each other", *good[2:])
        self.refused(65, "not the key of the certificate", *good[:2], *other[2:])
        self.refused(65, "locked.key: no private key as PEM, without a password", *self.keys.words("locked"))
        self.refused(65, "good.key: no certificate as PEM", "--certificate", good[3], *good[2:])
        self.refused(65, "expired on 2020-02-01 00:00:00 UTC", *self.keys.expired("old"))
        self.refused(66, "none.key: No such file", *self.keys.words("good", "none"))
        os.chmod(good[3], 0o644)
        self.refused(77, "good.key: every user may read or change it", *good)


class Without(unittest.TestCase):
    """A build without libcrypt and GnuTLS."""

    def test_it_says_so(self):
        for words in (["--password-file", "x"], ["--certificate", "x", "--key", "x"]):
            r = subprocess.run([STIXEL_WEB, *words], capture_output=True, text=True, timeout=60)
            self.assertEqual(r.returncode, 64)
            self.assertIn(words[0] + ": this stixel-web was built without", r.stderr)


class Locked(unittest.TestCase):
    """Access with password and certificate."""

    @classmethod
    def setUpClass(cls):
        cls.place = Place()
        cls.addClassCleanup(cls.place.close)
        cls.keys = Keys(cls.place.top)
        cls.daemon = Daemon(cls.place, "locked", "source.kind=synthetic", "source.size=320x160", "source.fps=%d" % FPS,
                            "road.top=30")
        cls.addClassCleanup(cls.daemon.forget)
        cls.daemon.start()
        cls.users = dict(anna="geheim", bert="caf\u00e9 :x", carl="z" * 60)
        cls.args = ("-i", cls.daemon.name, "--password-file", cls.keys.users(**cls.users), *cls.keys.pair("first"))
        cls.web = cls.start()

    @classmethod
    def start(cls, *more, login="anna:geheim", certificate="first"):
        return Web(cls.place, *cls.args, *more, login=login, certificate=cls.keys.path(certificate + ".pem"))

    def asked(self, path, login, web=None, **more):
        """Sends a request with another login. Returns the answer and the seconds that it took."""
        other, began = copy.copy(web or self.web), time.monotonic()
        other.login = login
        return (*other.ask(path, **more), time.monotonic() - began)

    def test_what_is_open(self):
        self.assertEqual(self.asked("/healthz", None)[0], 200)
        for path in ("/", "/app.js", "/metrics", "/api/instances", "/nothing",
                     *("/api/%s/%s" % (self.daemon.name, w) for w in ("stream", "stream.mjpg", "settings"))):
            code, headers, body, _ = self.asked(path, None)
            self.assertEqual((code, body), (401, b"a user and a password are needed\n"), path)
            self.assertEqual(headers["www-authenticate"], 'Basic realm="stixeld", charset="UTF-8"')
        for user, password in self.users.items():  # one user for each kind of hash
            self.assertEqual(self.asked("/", "%s:%s" % (user, password))[0], 200, user)

    def test_what_is_wrong_takes_a_second(self):
        logins = ("anna:geheim2", "anna:", "nobody:geheim", "bert:geheim", ":")
        with concurrent.futures.ThreadPoolExecutor(len(logins)) as pool:
            for code, _, _, seconds in pool.map(lambda login: self.asked("/", login), logins):
                self.assertEqual(code, 401)
                self.assertGreater(seconds, 0.95)
        self.assertIn("wrong user or password from 127.0.0.1", self.web.text())
        self.assertNotIn("geheim2", self.web.text())

    def test_guessing_holds_up_nobody(self):
        web = self.start()
        self.assertEqual(web.ask("/")[0], 200)
        web.source = "127.0.0.2"
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            began = time.monotonic()
            guesses = [pool.submit(self.asked, "/", "anna:guess", web) for _ in range(20)]
            time.sleep(0.3)
            web.source = None
            self.assertEqual(web.ask("/")[0], 200)  # a user with a login that was accepted before
            self.assertEqual(self.asked("/", "carl:" + "z" * 60, web)[0], 200)  # and a user that logs in now
            if IDLE:
                self.assertLess(time.monotonic() - began, 0.95)
            self.assertEqual({g.result()[0] for g in guesses}, {401})
        # eight logins at once, each for a second
        self.assertGreater(time.monotonic() - began, 2.9)
        text = web.ask("/metrics")[2].decode()
        openmetrics.parse(text)
        self.assertRegex(text, r"(?m)^stixel_web_logins_refused_total 20$")
        expires = float(re.search(r"(?m)^stixel_web_certificate_expiry_seconds (\d+)$", text).group(1))
        self.assertAlmostEqual(expires - time.time(), 30 * 86400, delta=3600)
        self.assertEqual(web.end(), 0)

    def test_guessing_from_many_addresses(self):
        """A user without an accepted login can log in while guessing clients use all possible connections."""
        web = self.start()
        stop = threading.Event()

        def guess(source):
            guesser = copy.copy(web)
            guesser.source, guesser.login = source, "bert:guess"
            while not stop.is_set():
                try:
                    guesser.ask("/")
                except (OSError, ValueError, IndexError):  # no place for another connection
                    time.sleep(0.05)

        threads = [threading.Thread(target=guess, args=("127.0.0.%d" % (2 + i // 16),)) for i in range(64)]
        for t in threads:
            t.start()
        try:
            time.sleep(1)
            web.source = "127.0.0.9"
            for login in ("anna:geheim", "bert:" + self.users["bert"], "carl:" + "z" * 60):
                code, _, _, seconds = self.asked("/", login, web)
                self.assertEqual(code, 200)
                if IDLE:
                    self.assertLess(seconds, 3 * SLOW)
        finally:
            stop.set()
            for t in threads:
                t.join()
        web.end()

    def test_who_is_not_in_keeps_no_place(self):
        """A client without login keeps no connection, not even for pages without password or for refused requests."""
        for request in (b"GET /healthz", b"GET /", b"PUT /", b"GET /?" + b"&" * 50):
            with self.web.connect() as s:
                s.sendall(request + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
                reply = b""
                while True:
                    part = s.recv(4096)
                    if not part:
                        break
                    reply += part
                self.assertIn(b"\r\nConnection: close\r\n", reply)
        with self.web.connect() as s:  # a client that is logged in keeps its connection
            for _ in range(3):
                s.sendall(b"\r\n".join([b"GET /api/clock HTTP/1.1", b"Host: localhost", self.web.header()[0].encode(),
                                        b"", b""]))
                reply = b""
                while not reply.endswith(b"}\n"):
                    part = s.recv(4096)
                    self.assertTrue(part)
                    reply += part

    def test_a_byte_0_in_a_password(self):
        for login, code in (("anna:geheim", 200), ("anna:geheim\0", 401), ("anna:geheim\0x", 401),
                            ("anna\0x:geheim", 401), ("anna\0:geheim", 401)):
            self.assertEqual(self.asked("/", login)[0], code, repr(login))

    def test_only_by_tls(self):
        for path in ("/", "/nothing", "/healthz"):
            self.assertEqual(self.web.ask(path)[1].get("strict-transport-security"), "max-age=31536000", path)
        self.assertIn("strict-transport-security", self.asked("/", None)[1])
        plain = Web(self.place, "-i", self.daemon.name)
        self.assertNotIn("strict-transport-security", plain.ask("/")[1])

    def test_time_does_not_tell_who_is_there(self):
        """The hash of one user takes a hundred times as long as that of the other. A busy machine only adds time, so
        that the shortest times of several tries come together unless they differ by a hash."""
        users = self.keys.write("uneven", "quick:%s\nslow:%s\n" % (
            hash_of("a", b"$6$rounds=1000$abc"), hash_of("a", b"$2y$11$abcdefghijklmnopqrstuu")))
        web = Web(self.place, "-i", self.daemon.name, "--password-file", users)
        took = dict.fromkeys(("quick", "slow", "none"), float("inf"))
        for _ in range(15):
            took = {name: min(best, self.asked("/", name + ":wrong", web)[3]) for name, best in took.items()}
            if max(took.values()) - min(took.values()) < 0.06 * SLOW:
                break
        else:
            self.fail(took)
        web.end()

    def test_orders(self):
        web, path = self.start("--tune"), "/api/%s/settings" % self.daemon.name
        order = {"method": "POST", "headers": ["X-Stixel-Tune: 1"], "body": b"road.top=40"}
        self.assertEqual(self.asked(path, None, web, **order)[0], 401)
        self.assertEqual(web.json(path)["keys"]["road.top"]["value"], "30")
        self.assertEqual(web.ask(path, **order)[0], 200)
        web.end()

    def test_streams(self):
        s = self.web.stream(self.daemon, "?images=left")
        self.addCleanup(s.close)
        s.until(lambda m: m.kind == "left")
        numbers = [s.next("frame").number for _ in range(3)]
        self.assertEqual(numbers, sorted(set(numbers)))
        pictures = self.web.stream(self.daemon, ".mjpg")
        self.addCleanup(pictures.close)
        self.assertEqual(pictures.code, 200)

    def test_protocols(self):
        self.assertEqual(self.web.tls.verify_mode, ssl.CERT_REQUIRED)
        with self.web.connect() as s:
            self.assertIn(s.version(), ("TLSv1.3", "TLSv1.2"))
        old = ssl.create_default_context(cafile=self.keys.path("first.pem"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        old.set_ciphers("ALL:@SECLEVEL=0")
        with socket.create_connection(("127.0.0.1", self.web.port)) as s, self.assertRaises((ssl.SSLError, OSError)):
            old.wrap_socket(s, server_hostname="localhost")

    def test_bad_handshakes(self):
        """A client that sends nothing, sends byte by byte, or does not read its answer is cut off. Other clients do not
        notice."""
        descriptors = self.web.descriptors()
        plain = [socket.create_connection(("127.0.0.1", self.web.port)) for _ in range(4)]
        plain[0].sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        plain[1].sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")  # a TLS hello that never becomes complete
        hello = self.hello()
        stuck = self.web.stream(self.daemon, ".mjpg", receive_bytes=4096)
        other = self.web.stream(self.daemon, "?fps=10")
        open_, end, sent = set(plain), time.monotonic() + 40 * SLOW, 0
        while open_ and time.monotonic() < end:
            other.next("frame")
            for s in list(open_):
                s.settimeout(0.02)
                try:
                    if s is plain[2] and sent < len(hello) - 1:
                        sent += s.send(hello[sent:sent + 1])
                    if s.recv(100) == b"":
                        open_.discard(s)
                except TimeoutError:
                    pass
                except OSError:
                    open_.discard(s)
        self.assertEqual(open_, set())
        self.assertEqual(self.web.ask("/healthz")[0], 200)
        other.close()
        until(lambda: self.web.descriptors() <= descriptors, 30, "the stuck viewer is gone")
        for s in (*plain, stuck):
            s.close()

    def hello(self):
        """Returns the first bytes of a TLS client."""
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        with self.assertRaises(ssl.SSLWantReadError):
            self.web.tls.wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
        return outgoing.read()

    def test_files_are_read_again(self):
        shutil.copytree(self.keys.folder, self.keys.path("again"), ignore=lambda d, n: [x for x in n if x[:5] not in (
            "users", "first")])
        keys = Keys(self.keys.path("again"))
        web = Web(self.place, "-i", self.daemon.name, "--password-file", keys.path("users"), *keys.words("first"),
                  login="anna:geheim", certificate=keys.path("first.pem"))
        stream = web.stream(self.daemon)
        self.addCleanup(stream.close)
        # after an error the earlier content stays
        keys.write("users", "nonsense")
        web.process.send_signal(signal.SIGHUP)
        until(lambda: "expected USER:HASH; what was read before stays" in web.text(), what="the warning")
        self.assertEqual(web.ask("/")[0], 200)
        # a removed user loses access even if the certificate is broken
        with open(keys.path("first.pem"), "r+") as f:
            good = f.read()
            f.seek(0)
            f.write("x")
        keys.users(bert="geheim")
        web.process.send_signal(signal.SIGHUP)
        until(lambda: "first.pem: " in web.text(), what="the warning")
        until(lambda: self.asked("/", "bert:geheim", web)[0] == 200, what="the new user")
        self.assertEqual(web.ask("/")[0], 401)
        with open(keys.path("first.pem"), "w") as f:
            f.write(good)
        keys.users(anna="neu")
        keys.pair("first")
        web.process.send_signal(signal.SIGHUP)
        until(lambda: "were read again" in web.text(), what="the new files")
        with self.assertRaises(ssl.SSLError):
            web.ask("/")
        web.tls = ssl.create_default_context(cafile=keys.path("first.pem"))
        self.assertEqual(web.ask("/")[0], 401)
        self.assertEqual(self.asked("/", "anna:neu", web)[0], 200)
        stream.next("frame")  # an existing stream goes on
        web.end()

    def test_what_it_warns_of(self):
        web = Web(self.place, "--listen", "0.0.0.0:0", *self.args[:4])
        until(lambda: "without encryption" in web.text(), what="the warning")
        both = Web(self.place, "--listen", "0.0.0.0:0", *self.args)
        until(lambda: "https://0.0.0.0" in both.text(), what="the address")
        self.assertNotIn("warning", both.text())


class Pictures(unittest.TestCase):
    """/api/NAME/stream.mjpg"""

    def setUp(self):
        self.place = Place()
        self.addCleanup(self.place.close)
        self.daemon = Daemon(self.place, "pictures", "source.kind=synthetic", "source.size=320x160",
                             "source.fps=%d" % FPS)
        self.addCleanup(self.daemon.forget)
        self.web = Web(self.place)

    def stream(self, query="", **more):
        s = self.web.stream(self.daemon, ".mjpg" + query, **more)
        self.addCleanup(s.close)
        return s

    def size(self, jpeg):
        self.assertEqual((jpeg[:2], jpeg[-2:]), (b"\xff\xd8", b"\xff\xd9"))
        height, width = struct.unpack_from(">HH", jpeg, jpeg.index(b"\xff\xc0") + 5)
        return width, height

    def test_pictures(self):
        path = "/api/%s/stream.mjpg" % self.daemon.name
        code, _, body = self.web.ask(path)
        self.assertEqual((code, body), (404, b"no stixeld runs as instance '%s'\n" % self.daemon.name.encode()))
        self.assertEqual(self.web.ask(path, "HEAD")[0], 404)
        self.daemon.start()
        self.assertEqual(self.web.ask(path + "?fps=0")[0], 400)
        self.assertRegex(self.web.ask(path, "HEAD")[1]["content-type"], "^multipart/x-mixed-replace; boundary=")
        s = self.stream()
        self.assertEqual((s.code, s.headers["x-content-type-options"]), (200, "nosniff"))
        seen = [picture(s) for _ in range(6)]
        numbers = [int(h["x-stixel-frame"]) for h, _ in seen]
        # a very slow daemon repeats an old picture in between
        self.assertEqual(numbers, sorted(set(numbers) if SLOW == 1 else numbers))
        self.assertGreater(numbers[-1], numbers[0])
        for headers, jpeg in seen:
            self.assertEqual((headers["content-type"], self.size(jpeg)), ("image/jpeg", (320, 160 + LEGEND)))
        self.assertRegex(self.web.ask("/metrics")[2].decode(), r"(?m)^stixel_web_viewers 1$")
        # a limited rate
        slow = self.stream("?fps=4")
        for _ in range(2):
            picture(slow)
        began = time.monotonic()
        for _ in range(3):
            picture(slow)
        self.assertGreater(time.monotonic() - began, 0.6)
        slow.close()
        if SLOW == 1:
            self.slow_viewer(s)
        # a publisher that hangs: the last picture is sent again and marked as old
        self.daemon.process.send_signal(signal.SIGSTOP)
        until(lambda: int(picture(s)[0]["x-stixel-age-us"]) > 1500000, what="an old picture")
        headers, old = picture(s)
        self.assertEqual(self.size(old), (320, 160 + LEGEND))
        self.daemon.process.send_signal(signal.SIGCONT)
        until(lambda: int(picture(s)[0]["x-stixel-frame"]) > int(headers["x-stixel-frame"]), what="a new picture")

    def slow_viewer(self, other):
        """A client that reads nothing for a while then gets the newest picture. Other clients get pictures all the
        time."""
        stuck = self.stream(receive_bytes=4096)
        last = first = int(picture(stuck)[0]["x-stixel-frame"])
        while last < first + 40:
            last = int(picture(other)[0]["x-stixel-frame"])
        behind = [int(picture(stuck)[0]["x-stixel-frame"]) for _ in range(20)]
        self.assertGreater(max(b - a for a, b in zip(behind, behind[1:])), 3)
        self.assertGreater(behind[-1], last)
        self.assertRegex(self.web.ask("/metrics")[2].decode(), r"(?m)^stixel_web_frames_skipped_total [1-9]")


if __name__ == "__main__":
    unittest.main()
