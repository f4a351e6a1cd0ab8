"""stixel.open_url(): an instance read through stixel-web is the same as on its own machine, and what goes wrong is one
of the module's exceptions.

SPDX-License-Identifier: Apache-2.0
"""
import gc
import os
import signal
import socket
import struct
import sys
import threading
import time
import unittest
from unittest import mock

from support import SLOW, Daemon, Keys, Place, Web, until

sys.path.insert(0, os.path.join(os.environ["STIXEL_SOURCE"], "python", "src"))
try:
    import stixel
except ImportError:  # tools/test installs NumPy, so its absence is a failure there
    print("NumPy is not installed (Debian package python3-numpy)")
    sys.exit(1 if os.environ.get("CI") else 77)

WAIT_S = 20 * SLOW


class Case(unittest.TestCase):
    def setUp(self):
        self.place = Place()
        self.addCleanup(self.place.close)
        self.daemon = Daemon(self.place, "url", "source.kind=synthetic", "source.size=320x160", "source.fps=20",
                             "output.planes=pair")
        self.addCleanup(self.daemon.forget)
        threads = threading.active_count()
        self.addCleanup(lambda: until(lambda: threading.active_count() <= threads, what="no thread is left"))

    def url(self, web, login=""):
        return "http%s://%s127.0.0.1:%d/%s" % ("s" if web.tls else "", login, web.port, self.daemon.name)

    def opened(self, web, **more):
        reader = stixel.open_url(self.url(web), **more)
        self.addCleanup(reader.close)
        return reader

    def next(self, reader):
        frame = reader.next(WAIT_S)
        self.assertIsNotNone(frame)
        return frame

    def refused(self, kind, words, url, **more):
        with self.assertRaises(kind) as caught:
            stixel.open_url(url, **more)
        self.assertIn(words, str(caught.exception))
        self.assertNotIn("geheim", str(caught.exception))


class Frames(Case):
    def test_the_same_frames(self):
        self.daemon.start()
        web = Web(self.place)
        reader = self.opened(web)
        self.assertIsNone(self.next(reader).left)
        reader.want_images("left", "right")
        until(lambda: web.status(self.daemon)["images"]["right"] == "published", what="the daemon is asked")
        os.environ.update({name: self.place.env[name] for name in ("XDG_RUNTIME_DIR", "RUNTIME_DIRECTORY")})
        with stixel.open(self.daemon.name) as ring:
            here = {f.number: f for f in (self.next(ring) for _ in range(16))}
            there = {}
            while not there or max(there) < max(here):
                frame = self.next(reader)
                there[frame.number] = frame
                for frame in iter(ring.next, None):
                    here[frame.number] = frame
        both = sorted(set(here) & set(there))
        self.assertGreater(len(both), 5)
        for number in both:
            self.assertEqual(here[number].raw, there[number].raw, number)
        self.assertEqual((there[both[-1]].left.shape, there[both[-1]].right.shape), ((160, 320), (160, 320)))
        # the clocks are the same, so the offset is within the claimed bound
        status = reader.status()
        self.assertLessEqual(abs(status.clock_offset), status.clock_uncertainty)
        self.assertLess(status.clock_uncertainty, 0.05 * SLOW)
        self.assertEqual((status.publisher, status.state, status.version != ""),
                         (stixel.Publisher.ALIVE, stixel.State.RUNNING, True))
        self.assertTrue(0 < there[both[-1]].age() < 60)
        # a slow reader loses frames, and their number is reported
        last, lost = self.next(reader), reader.status().lost
        until(lambda: reader.status().head > last.number + 14, what="more frames than wait")
        frames = [last] + [self.next(reader) for _ in range(10)]
        gaps = [b.number - a.number - 1 for a, b in zip(frames, frames[1:])]
        self.assertEqual([f.missed for f in frames[1:]], gaps)
        self.assertGreater(sum(gaps), 3)
        self.assertEqual(reader.status().lost, lost + sum(gaps))

    def test_what_ends_and_comes_again(self):
        web = Web(self.place)
        self.refused(stixel.NotRunning, "no publisher of this name", self.url(web))
        follow = self.opened(web, follow=True)
        self.assertIsNone(follow.next(0.1))
        self.daemon.start()
        first, once = self.next(follow), self.opened(web)
        self.next(once)
        self.daemon.kill(signal.SIGKILL)
        with self.assertRaises(stixel.Died):
            while True:
                self.next(once)
        self.daemon.start()
        second = until(lambda: [f for f in [self.next(follow)] if f.epoch != first.epoch], what="the new publisher")[0]
        self.assertEqual(follow.status().restarts, 1)
        # the connection breaks
        once = self.opened(web)
        self.next(once)
        web.process.kill()
        web.process.wait()
        with self.assertRaisesRegex(stixel.Died, "the way to it broke off"):
            while True:
                self.next(once)
        until(lambda: follow.status().publisher == stixel.Publisher.DIED, what="it is noticed")
        Web(self.place, "--listen", "127.0.0.1:%d" % web.port)
        self.assertIsNotNone(follow.latest(0) or self.next(follow))
        until(lambda: self.next(follow).number > second.number + 10, what="frames again")
        self.assertEqual((follow.status().restarts, follow.status().publisher), (1, stixel.Publisher.ALIVE))
        # the daemon ends without an error, and the next ring has the same name
        once = self.opened(web)
        self.daemon.kill(signal.SIGTERM)
        with self.assertRaises(stixel.Ended) as caught:
            while True:
                self.next(once)
        self.assertNotIsInstance(caught.exception, stixel.Died)

    @unittest.skipUnless(os.environ.get("SX_WEB_ACCESS"), "this build has neither passwords nor TLS")
    def test_password_and_certificate(self):
        keys = Keys(self.place.top)
        self.daemon.start()
        files = keys.users(anna="geheim @/:\u00fc"), *keys.pair("robot")
        web = Web(self.place, "-i", self.daemon.name, "--password-file", *files, login="anna:geheim @/:\u00fc",
                  certificate=files[2])
        right = self.url(web, "anna:geheim%20%40%2F%3A%C3%BC@")
        with stixel.open_url(right, certificate=files[2], images="left") as reader:
            until(lambda: self.next(reader).left is not None, what="the image")
        self.refused(stixel.NotAllowed, "wrong user or password", self.url(web, "anna:geheim@"), certificate=files[2])
        self.refused(stixel.NotAllowed, "are needed", self.url(web), certificate=files[2], follow=True)
        self.refused(stixel.NotAllowed, "its certificate is not trusted", right)
        keys.pair("other")
        self.refused(stixel.NotAllowed, "is not trusted", right, certificate=keys.path("other.pem"), follow=True)
        self.refused(stixel.NotRunning, "'%sx' is not shown here" % self.daemon.name, right + "x", certificate=files[2])
        self.refused(stixel.NotStixel, "no HTTP there", right.replace("https", "http"))
        self.refused(ValueError, "no certificate as PEM", right, certificate=keys.path("robot.key"))
        self.refused(FileNotFoundError, "No such file", right, certificate=keys.path("none"))


class Odd:
    """A server made by this test: a stream of notices, and a clock."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d/front" % self.listener.getsockname()[1]
        self.said = self.notice = self.clock_said = None
        self.drips = False
        self.streams = 0
        self.over = threading.Event()
        self.threads = [threading.Thread(target=self.accept)]
        self.threads[0].start()

    def accept(self):
        while not self.over.is_set():
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.threads.append(threading.Thread(target=self.one, args=(connection,)))
            self.threads[-1].start()

    def one(self, connection):
        with connection:
            connection.settimeout(30)
            try:
                while not self.over.is_set():
                    asked = connection.recv(4096)
                    if not asked or self.said:
                        connection.sendall(self.said or b"")
                        return
                    if b"/api/clock" in asked:
                        self.clock(connection)
                    else:
                        self.stream(connection)
            except OSError:
                pass  # the client has gone

    def clock(self, connection):
        body = self.clock_said or b'{"monotonic_ns": %d}' % time.monotonic_ns()
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        for byte in answer if self.drips else ():
            connection.sendall(bytes([byte]))
            if self.over.wait(0.5):
                return
        connection.sendall(answer)

    def stream(self, connection):
        self.streams += 1
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-stixel-stream\r\n\r\n")
        while not self.over.wait(0.05) and self.listener.fileno() >= 0:
            notice, self.notice = self.notice or b'{"publisher": "alive", "state": "running"}', None
            connection.sendall(struct.pack("<4IQ2I", 0x57585453, 4, len(notice), 0, 0, 0, 0) + notice)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.over.set()
        if self.listener.fileno() >= 0:
            self.listener.shutdown(socket.SHUT_RDWR)
            self.listener.close()


class Wrong(Case):
    def test_urls(self):
        for url in ("front", "http://robot", "http://robot:8470/", "ftp://robot/front", "http://anna:geheim@robot:1/.x",
                    "http://robot:99999/front", "anna:geheim@robot:8470/front", "http:/anna:geheim@robot/front",
                    "http://anna:geheim\n@robot:x/front", "http:///front", "http://anna:geheim@robot/front?x=1"):
            self.refused(stixel.BadName, "as in http://robot:8470/front", url)
        self.refused(ValueError, "is for https://", "http://robot/front", certificate="x")

    def test_what_is_no_stixel_web(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            url = "http://127.0.0.1:%d/front" % s.getsockname()[1]
            self.refused(stixel.NotRunning, "no answer: Connection refused", url)
            s.listen()
            chunk = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-stixel-stream\r\nContent-Length: 100\r\n\r\n"
            for kind, words, said in (
                    (stixel.NotStixel, "no HTTP there", b"SSH-2.0-x\r\n"),
                    (stixel.NotStixel, "HTTP 404", b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone"),
                    (stixel.NotStixel, "no stixel-web there", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage"),
                    (stixel.Busy, "too many viewers", b"HTTP/1.1 503 No\r\nContent-Length: 16\r\n\r\ntoo many viewers"),
                    (stixel.NotStixel, "no HTTP there", chunk + b"x" * 100),
                    (stixel.NotRunning, "no answer", chunk + b"x" * 31)):
                answers = threading.Thread(target=self.answer, args=(s, said))
                answers.start()
                self.refused(kind, words, url)
                answers.join()

    def test_one_that_misbehaves(self):
        with Odd() as odd:
            odd.said = b"HTTP/1.1 404 X\r\nContent-Length: 9\r\n\r\n\x1b]0;x\x07 ''"
            with self.assertRaises(stixel.NotRunning) as caught:
                stixel.open_url(odd.url)
            self.assertTrue(str(caught.exception).isprintable())
            odd.said = None
            odd.drips = True  # opened all the same, without its clock
            began = time.monotonic()
            reader = stixel.open_url(odd.url, follow=True)
            self.addCleanup(reader.close)
            self.assertLess(time.monotonic() - began, 8)
            self.assertIsNone(reader.status().clock_offset)
            odd.drips = False
            asked = odd.streams
            odd.notice = b"[" * 100000  # the reader leaves the stream and opens another one
            until(lambda: odd.streams > asked and reader.status().publisher == stixel.Publisher.ALIVE, what="on")
            # the server has gone: this is reported, without thousands of attempts
            odd.listener.shutdown(socket.SHUT_RDWR)
            odd.listener.close()
            with mock.patch.object(socket, "create_connection", side_effect=ConnectionRefusedError(111, "x")) as tries:
                reader.want_images("left")
                until(lambda: reader.status().publisher == stixel.Publisher.DIED, what="it is told")
                time.sleep(0.2)
                self.assertLess(tries.call_count, 20)

    def test_a_clock_that_is_none(self):
        """The server's clock gives values of any size and type. The reader is opened all the same, without an
        offset."""
        for said in (b"Infinity", b"-Infinity", b"NaN", b"1e999", b"9" * 900, b"9" * 20, b"-1", b"9223372036854775808",
                     b"1.5", b"true", b"null", b'"5"', b"[5]", b"{}"):
            with self.subTest(said[:30]), Odd() as odd:
                odd.clock_said = b'{"monotonic_ns": %s}' % said
                reader = stixel.open_url(odd.url, follow=True)
                until(lambda: reader.status().publisher == stixel.Publisher.ALIVE, what="a notice")
                self.assertIsNone(reader.status().clock_offset)
                self.assertIsNone(reader.next(0.05))
                reader.close()
        for said in (b"[1]", b"5", b"Infinity", b"[" * 900, b"nonsense"):
            with self.subTest(said[:30]), Odd() as odd:
                odd.clock_said = said
                with stixel.open_url(odd.url, follow=True) as reader:
                    self.assertIsNone(reader.status().clock_offset)
        with Odd() as odd:
            odd.clock_said = b'{"monotonic_ns": 9223372036854775807}'  # a valid number, if an unusual one
            with stixel.open_url(odd.url, follow=True) as reader:
                until(lambda: reader.status().publisher == stixel.Publisher.ALIVE, what="a notice")

    def test_collected_in_a_thread_of_its_own(self):
        with Odd() as odd:
            reader = stixel.open_url(odd.url, follow=True)
            inbox = reader._transport._inbox
            told = inbox.reported

            def collects(*words):
                told(*words)
                gc.collect()  # garbage collection may run at any point

            inbox.reported = collects
            reader.itself = reader
            gc.disable()
            self.addCleanup(gc.enable)
            del reader, inbox
            until(lambda: not [t for t in threading.enumerate() if t.name.startswith("stixel-")], what="it ends")

    @staticmethod
    def answer(listener, said):
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(said)


if __name__ == "__main__":
    unittest.main()
