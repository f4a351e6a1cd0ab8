# Opens 500 hostile connections to the status socket. A client that asks for /healthz must still get its answer in time.
#
# SPDX-License-Identifier: Apache-2.0
import os
import select
import signal
import socket
import struct
import sys
import time
import unittest

from harness import IDLE, SANITIZED, SMALL, Instance

CONNECTIONS = 100 if SANITIZED else 500  # a sanitizer run looks for races, not for times
PROCESSES = 4  # number of attackers, except where one holds all connections
ASKINGS = 200
LEAST, ENOUGH_S = 20, 2.0  # a busy machine gets LEAST requests, then as many as fit into ENOUGH_S
LIMIT_S = 30.0 if SANITIZED else 2.0  # with sanitizers; without, the worst answer takes below 0.1 s
MEDIAN_S = 30.0 if SANITIZED else 0.1
NOBODY = 65534
PAUSE_S = 0.001  # pause of an attacker that was cut off: it should hold connections, not load the processor

HALF = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
METRICS = HALF.replace(b"healthz", b"metrics") + b"\r\n"


class Attacker:
    """Holds `count` connections. Opens a connection again if the daemon closes it."""

    def __init__(self, path, count, first, drip):
        self.path, self.first, self.drip = path, first, drip
        self.epoll, self.sockets, self.count = select.epoll(), {}, count
        self.run()

    def open(self):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        s.setblocking(False)
        try:
            s.connect(self.path)
            if self.first:
                s.send(self.first)
        except OSError:  # its queue is full, or the daemon has cut it off
            s.close()
            return False
        self.sockets[s.fileno()] = s
        self.epoll.register(s, 0)  # reports the cut-off, although this client never reads
        return True

    def drop(self, fd):
        self.epoll.unregister(fd)
        self.sockets.pop(fd).close()

    def send(self, byte):
        for fd, s in list(self.sockets.items()):
            try:
                s.send(byte)
            except BlockingIOError:
                pass
            except OSError:
                self.drop(fd)

    def run(self):
        due = time.monotonic()
        while True:
            while len(self.sockets) < self.count and self.open():
                pass
            if self.drip and time.monotonic() > due:
                due += 0.5
                self.send(b"G")
            for fd, _ in self.epoll.poll(0.01):
                self.drop(fd)
            time.sleep(PAUSE_S)


def storm(path):
    while True:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
            s.connect(path)


def ask(path):
    """Returns the time that an answer of /healthz took, in seconds."""
    start = time.monotonic()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
        # Blocking with the kernel's own time limits, so that a full queue is awaited.
        for option in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):
            s.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", 30, 0))
        s.connect(path)
        s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = b""
        while True:
            data = s.recv(65536)
            if not data:
                break
            answer += data
    if not answer.startswith(b"HTTP/1.1 200 "):
        raise AssertionError("answer %r" % answer[:80])
    return time.monotonic() - start


class StatusCrowd(unittest.TestCase):
    def setUp(self):
        self.pids = []
        self.instance = Instance()
        self.addCleanup(self.instance.close)
        self.addCleanup(self.end)
        self.instance.start(*SMALL, "-s", "source.fps=20")
        self.instance.until_published(2)
        self.path = self.instance.status_path
        for folder in (self.instance.top, self.instance.run, os.path.dirname(self.path)):
            os.chmod(folder, 0o755)
        os.chmod(self.path, 0o666)

    def end(self):
        for pid in self.pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self.pids = []

    def attack(self, call, *args, processes=PROCESSES, uid=None):
        for _ in range(processes):
            pid = os.fork()
            if pid == 0:
                try:
                    if uid:
                        os.setuid(uid)
                    call(self.path, *args)
                finally:
                    os._exit(1)
            self.pids.append(pid)

    def hold(self, first=b"", drip=False, processes=PROCESSES, uid=None):
        self.attack(Attacker, CONNECTIONS // processes, first, drip, processes=processes, uid=uid)

    def check(self, name):
        time.sleep(0.2)  # all attackers run, and hold their connections
        took, start = [], time.monotonic()
        while len(took) < LEAST or (len(took) < ASKINGS and time.monotonic() - start < ENOUGH_S):
            took.append(ask(self.path))
        took.sort()
        for pid in self.pids:
            self.assertEqual(os.waitpid(pid, os.WNOHANG), (0, 0), "an attacker has ended")
        self.end()
        print("%s: worst of %d %.1f ms, median %.2f ms" % (name, len(took), took[-1] * 1e3, took[len(took) // 2] * 1e3),
              file=sys.stderr)
        if IDLE:
            self.assertLess(took[-1], LIMIT_S, name)
            self.assertLess(took[len(took) // 2], MEDIAN_S, name)

    def test_answers(self):
        self.hold()
        self.check("silent")
        self.hold(processes=1)
        self.check("silent, of one process")
        self.hold(drip=True)
        self.check("a byte in half a second")
        self.hold(HALF)
        self.check("half requests")
        if not SANITIZED:  # each page takes a sanitizer so long that the deadline for all others passes
            self.hold(METRICS)
            self.check("requests, answers never read")
        self.attack(storm)
        self.check("connect and close")
        if os.geteuid() == 0:
            self.hold(HALF, uid=NOBODY)
            self.check("half requests of another user")


if __name__ == "__main__":
    unittest.main()
