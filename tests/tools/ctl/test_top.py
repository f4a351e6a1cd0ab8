# Tests stixelctl top on many kinds of terminals, which an emulator (pyte) plays, and as text.
# SPDX-License-Identifier: Apache-2.0
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

try:
    import pyte
except ImportError:
    sys.exit(77)  # Debian package python3-pyte

from support import program
from test_ctl import Daemon

WAIT_S = 60


class Terminal:
    """Runs stixelctl top on a terminal of that size."""

    def __init__(self, case, daemon, width, height, *args, term="screen-256color", lang="C.UTF-8"):
        env = dict(daemon.env, TERM=term, LC_ALL=lang)
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            env.pop(name, None)
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.process = subprocess.Popen([program("stixelctl"), "-i", daemon.name, "top", "--interval", "0.2", *args],
                                        env=env, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.fd, self.slave = master, slave
        self.screen = pyte.Screen(width, height)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.case = case
        case.addCleanup(self.close)

    def close(self):
        self.process.kill()
        self.process.wait()
        for fd in (self.fd, self.slave):
            os.close(fd)

    def read(self, seconds):
        """Reads one part of the output. Returns false if none comes within that time."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        part = os.read(self.fd, 65536)
        self.raw += part
        self.stream.feed(part)
        return True

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def until(self, *words, absent=()):
        """Waits until all words (patterns) are on the screen, and none of `absent`."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            text = "\n".join(self.lines)
            if all(re.search(w, text) for w in words) and not any(re.search(w, text) for w in absent):
                return text
            self.read(0.05)
            self.case.assertIsNone(self.process.poll(), "it has ended: %r" % self.raw[-2000:])
        raise AssertionError("not seen: %s; the screen:\n%s" % (words, "\n".join(self.lines)))

    def key(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        """Reads until the program has ended. Returns its exit code."""
        end = time.monotonic() + WAIT_S
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.05)
        while self.read(0):  # the program writes lines; each line may be one part
            pass
        return self.process.wait(timeout=1)

    def resize(self, width, height):
        self.screen.resize(height, width)
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))


class Running(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("one")
        cls.addClassCleanup(cls.daemon.stop)
        cls.daemon.wait()

    def terminal(self, *args, **more):
        return Terminal(self, self.daemon, *args, **more)

    def test_sizes(self):
        for width, height in ((80, 24), (40, 10), (200, 60), (20, 4), (3, 2)):
            with self.subTest("%dx%d" % (width, height)):
                t = self.terminal(width, height)
                if width < 20:
                    t.until("s")
                else:
                    text = t.until(r"stixeld one-")
                if width >= 40:
                    text = t.until(r"frames +[\d.]+/s", r"end to end +[\d.]+", r"(?m)^ q quit")
                    self.assertEqual(t.lines[-1][:7], " q quit")
                if width >= 80:
                    text = t.until("▀{20}", r"free", r"left +captured")
                    for word in ("latency", "dropped", "power", "pictures", "road", "stixels", "engine", "source",
                                 " sgm "):
                        self.assertIn(word, text)
                t.key("q")
                self.assertEqual(t.end(), 0, t.raw[-500:])
                self.assertEqual(termios.tcgetattr(t.slave), t.before)

    def test_figures_are_the_daemons(self):
        t = self.terminal(100, 40)
        text = t.until(r"published \d+ of \d+", r"(?m)^ segment +[\d.]+ +[\d.]+ +[\d.]+", "free: left")
        shown = int(re.search(r"published (\d+) of", text).group(1))
        now = int(re.search(r"(\d+) published of", self.daemon.ctl("status").stdout).group(1))
        self.assertLessEqual(shown, now)
        t.until(r"published (?!%d )\d+ of" % shown)  # the display continues
        rows = re.findall(r"(?m)^ ?(end to end|engine|sgm|segment) +([\d.]+) +([\d.]+) +([\d.]+)", text)
        self.assertGreaterEqual(len(rows), 4, text)
        for name, p50, p99, most in rows:
            self.assertLessEqual(float(p50), float(p99) * 1.02, name)
            self.assertLessEqual(float(p99), float(most) * 1.02, name)
        t.until(r"(?m)^ *pictures", absent=(r"(?m)^ *rows ",))
        self.daemon.ctl("set", "camera.row_correction=auto")
        t.until(r"(?m)^ *rows +right image corrected by -?0.00 px and -?0.000 degrees, changes 0")
        self.daemon.ctl("set", "camera.row_correction=off")
        t.until(r"(?m)^ *pictures", absent=(r"(?m)^ *rows ",))

    def test_ascii(self):
        t = self.terminal(80, 50, lang="C")
        t.until(r"end to end.*=", r"road", r"free")
        self.assertTrue(all(b < 128 for b in t.raw))
        # the coloured picture consists of spaces with background colours
        colours = {cell.bg for row in t.screen.buffer.values() for cell in row.values()}
        self.assertGreater(len(colours), 3, colours)
        t = self.terminal(80, 50, term="vt100", lang="C")
        t.until(r"end to end", r"free", "[#@%*+=]{6}")
        self.assertNotRegex(t.raw.decode(), r"\033\[[0-9;]*3[0-7]m")

    def test_keys(self):
        t = self.terminal(100, 40)
        t.until("last 10 s")
        t.key("w")
        t.until("since start")
        t.key("w")
        t.until("last 1 s")
        t.key("?")
        t.until("q, Esc +quit", "nearest object in each third")
        t.key("\033")
        t.until("end to end", absent=["nearest object"])
        self.assertIsNone(t.process.poll())
        t.key("p")
        text = t.until("paused")
        shown = re.search(r"published \d+", text).group(0)
        for _ in range(20):
            t.read(0.05)
        self.assertIn(shown, "\n".join(t.lines))
        t.key("p")
        t.until(r"published", absent=["paused", shown])
        t.key("\033")
        self.assertEqual(t.end(), 0)

    def test_resize(self):
        t = self.terminal(80, 24)
        t.until(r"(?m)^ q quit")
        t.resize(120, 45)
        t.until(r"\A(.*\n){44} q quit")
        t.resize(50, 12)
        t.until(r"\A(.*\n){11} q quit", "frames")

    def test_signal_leaves_the_terminal_as_it_was(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            t = self.terminal(80, 24)
            t.until("frames")
            t.process.send_signal(number)
            self.assertEqual(t.end(), 0)
            self.assertEqual(termios.tcgetattr(t.slave), t.before)

    def test_the_terminal_goes_away(self):
        # nohup and similar programs leave a child with SIGHUP ignored
        for told in (signal.SIG_DFL, signal.SIG_IGN):
            before = signal.signal(signal.SIGHUP, told)
            t = self.terminal(80, 24)
            signal.signal(signal.SIGHUP, before)
            t.until("frames")
            master, t.fd = t.fd, os.dup(t.slave)
            os.close(master)
            t.process.wait(timeout=WAIT_S)

    def test_a_terminal_without_a_cursor_gets_one_page(self):
        t = self.terminal(80, 24, term="dumb")
        self.assertEqual(t.end(), 0)
        self.assertIn(b"end to end", t.raw)
        self.assertNotIn(b"\033", t.raw)

    def test_text(self):
        for lang in ("C", "C.UTF-8"):
            for args in ([], ["--once"]):
                r = subprocess.run([program("stixelctl"), "-i", self.daemon.name, "top", *args], capture_output=True,
                                   env=dict(self.daemon.env, LC_ALL=lang), timeout=60)
                text = r.stdout.decode()
                self.assertEqual((r.returncode, r.stderr), (0, b""))
                self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
                self.assertEqual(text.isascii(), lang == "C")
                # a busy machine may have dropped a pair and is then degraded for a while
                for word in ("one-", "end to end", "overload ", "free: left"):
                    self.assertIn(word, text)
                self.assertNotIn("\033", text)
                self.assertNotIn("q quit", text)

    def test_another_instance(self):
        t = self.terminal(80, 24)
        t.until("stixeld one-")
        other = Daemon("two")
        try:
            other.wait()
            # both daemons use one folder, as daemons of one user do
            os.makedirs(self.daemon.work + "/stixeld/" + other.name)
            here = self.daemon.work + "/stixeld/%s/status.sock" % other.name
            os.symlink(find_socket(other), here)
            t.key("\t")
            t.until("stixeld two-", "running")
            t.key("\033[Z")
            t.until("stixeld one-", "running")
        finally:
            other.stop()


def find_socket(daemon):
    for folder, _, files in os.walk(daemon.work):
        if "status.sock" in files:
            return os.path.join(folder, "status.sock")
    raise AssertionError("no status.sock below " + daemon.work)


class DeathAndReturn(unittest.TestCase):
    def test_it(self):
        daemon = Daemon("mortal")
        self.addCleanup(daemon.stop)
        daemon.wait()
        t = Terminal(self, daemon, 90, 40)
        t.until("running", "▀{20}")
        daemon.process.kill()
        daemon.process.wait()
        t.until("not there", "no stixeld runs as instance", r"what it said \d+ s ago", "end to end")
        self.assertEqual({c.bg for c in (t.screen.buffer[5][x] for x in range(80))}, {"default"})
        daemon.start()
        t.until("running", r"published \d+ of", "▀{20}", absent=["not there"])
        daemon.process.send_signal(signal.SIGSTOP)
        try:
            t.until("not there", "answer")
            t.key("q")
            self.assertEqual(t.end(), 0)
        finally:
            daemon.process.send_signal(signal.SIGCONT)

    def test_nobody(self):
        r = subprocess.run([program("stixelctl"), "-i", "nobody-%d" % os.getpid(), "top", "--once"],
                           capture_output=True,
                           text=True, timeout=60)
        self.assertEqual((r.returncode, r.stdout), (1, ""))
        self.assertIn("nobody-", r.stderr)


if __name__ == "__main__":
    unittest.main()
