# Helpers shared by the tests of stixel-web: a small daemon, the dashboard, and a client that stands for a browser.
# SPDX-License-Identifier: Apache-2.0
import base64
import ctypes
import json
import os
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import tempfile
import time

STIXELD = os.environ["STIXELD"]
STIXEL_WEB = os.environ["STIXEL_WEB"]
SLOW = 4 if os.environ.get("SX_SANITIZED") else 1
# Pairs per second of a daemon under test. With sanitizers, one pair more per second takes a whole processor.
FPS = {"": 20, "thread": 1}.get(os.environ.get("SX_SANITIZED", ""), 5)
# True when set by hand, on an idle machine (CONTRIBUTING.md): tests then judge wall times too.
IDLE = bool(os.environ.get("STIXEL_IDLE"))
KINDS = {1: "frame", 2: "left", 3: "disparity", 4: "notice", 5: "free", 6: "scale"}
LEGEND = 46  # height of the legend below a picture of 320 px, px


def until(condition, seconds=30.0, what="condition"):
    """Polls condition() and returns its first true value. Fails after the time, which is generous because machines are
    busy. what: the words of the failure, or a function that returns them."""
    end = time.monotonic() + seconds * SLOW
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("%s: not within %.0f s" % (what() if callable(what) else what, seconds * SLOW))
        time.sleep(0.02)


class Place:
    """A separate runtime folder for daemons and dashboard, and the processes that run in it."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="stixel-")
        self.env = dict(os.environ, RUNTIME_DIRECTORY=self.top + "/stixeld", XDG_RUNTIME_DIR=self.top)
        os.mkdir(self.top + "/stixeld")
        self.running = []

    def start(self, log, *args):
        path = os.path.join(self.top, log)
        with open(path, "ab") as f:
            process = subprocess.Popen(args, env=self.env, stdout=f, stderr=f)
        self.running.append(process)
        return process, path

    def close(self):
        for process in self.running:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in self.running:
            try:
                process.wait(20 * SLOW)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        logs = ""
        for name in os.listdir(self.top):
            if name.endswith(".log"):
                with open(os.path.join(self.top, name), errors="replace") as f:
                    logs += f.read()
        for _ in range(50):  # the last process of a browser may still be writing
            shutil.rmtree(self.top, ignore_errors=True)
            if not os.path.exists(self.top):
                break
            time.sleep(0.1)
        if re.search(r"Sanitizer|runtime error:", logs):
            raise AssertionError(logs)


class Daemon:
    """A stixeld. It may be started repeatedly."""

    def __init__(self, place, name, *settings):
        self.place = place
        self.name = "web-%s-%d" % (name, os.getpid())
        self.settings = settings or ("source.kind=synthetic", "source.size=320x160", "source.fps=%d" % FPS)
        self.process = None
        self.ring = "/dev/shm/stixeld." + self.name

    def start(self):
        words = [w for s in (*self.settings, "stereo.disparities=32", "engine.threads=1") for w in ("-s", s)]
        self.process, self.log = self.place.start("daemon.log", STIXELD, "--instance", self.name, *words)
        until(lambda: self.process.poll() is not None or os.path.exists(self.ring), what="ring")
        return self

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait(30 * SLOW)

    def forget(self):
        """Removes the ring that a killed daemon leaves behind."""
        if self.process and self.process.poll() is not None and os.path.exists(self.ring):
            os.unlink(self.ring)


class Web:
    """The dashboard. certificate: with access control it speaks TLS. login: USER:PASSWORD to send."""

    def __init__(self, place, *args, certificate=None, login=None):
        self.place, self.login, self.source = place, login, None
        self.tls = certificate and ssl.create_default_context(cafile=certificate)
        self.process, self.log = place.start("web-%d.log" % len(place.running), STIXEL_WEB, "--listen", "127.0.0.1:0",
                                             *args)
        until(lambda: self.process.poll() is not None or re.search(r"https?://\S+/", self.text()), what="address")
        self.port = int(re.findall(r"https?://127\.0\.0\.1:(\d+)/", self.text())[-1])

    def text(self):
        with open(self.log, errors="replace") as f:
            return f.read()

    def connect(self, receive_bytes=0):
        s = socket.socket()
        if receive_bytes:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        s.settimeout(20 * SLOW)
        if self.source:  # the server accepts a limited number of connections from each address of 127.0.0.0/8
            s.bind((self.source, 0))
        s.connect(("127.0.0.1", self.port))
        return self.tls.wrap_socket(s, server_hostname="127.0.0.1") if self.tls else s

    def header(self):
        """Returns the header of the login."""
        return ["Authorization: Basic " + base64.b64encode(self.login.encode()).decode()] if self.login else []

    def raw(self, data):
        """Sends data. Returns everything that comes back until the other side closes."""
        with self.connect() as s:
            reply = b""
            try:
                s.sendall(data)
                while True:
                    part = s.recv(65536)
                    if not part:
                        return reply
                    reply += part
            except (ConnectionResetError, BrokenPipeError):
                return reply

    def ask(self, path, method="GET", headers=(), host=None, body=None):
        """Sends a request. Returns (status, headers, body)."""
        if body is not None:
            headers = [*headers, "Content-Length: %d" % len(body)]
        lines = ["%s %s HTTP/1.1" % (method, path), "Connection: close", *self.header(), *headers]
        if host != "":
            lines.append("Host: " + (host or "127.0.0.1:%d" % self.port))
        head, _, reply = self.raw("\r\n".join(lines + ["", ""]).encode() + (body or b"")).partition(b"\r\n\r\n")
        first, *rest = head.decode().split("\r\n")
        return int(first.split()[1]), {k.lower(): v.strip() for k, v in (r.split(":", 1) for r in rest)}, reply

    def json(self, path):
        code, _, body = self.ask(path)
        return json.loads(body) if code == 200 else None

    def status(self, daemon):
        return self.json("/api/%s/status" % daemon.name)

    def stream(self, daemon, query="", **more):
        return Stream(self, "/api/%s/stream%s" % (daemon if isinstance(daemon, str) else daemon.name, query), **more)

    def threads(self):
        return len(os.listdir("/proc/%d/task" % self.process.pid))

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def end(self):
        self.process.terminate()
        return self.process.wait(20 * SLOW)


# salts of libxcrypt, a cheap one of each kind
HASHES = {"bcrypt": b"$2y$04$abcdefghijklmnopqrstuu", "yescrypt": b"$y$j75$abcdefgh", "sha512": b"$6$rounds=1000$abc"}


def hash_of(password, setting):
    crypt = ctypes.CDLL("libcrypt.so.1").crypt
    crypt.restype = ctypes.c_char_p
    return crypt(password.encode(), setting).decode()


class Keys:
    """Files of passwords and certificates in a folder."""

    def __init__(self, folder):
        self.folder = folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o600):
        with open(self.path(name), "w") as f:
            f.write(text)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def users(self, name="users", **passwords):
        """Writes a password file with a hash of another kind for each user."""
        lines = ["%s:%s\n" % (user, hash_of(word, setting))
                 for (user, word), setting in zip(passwords.items(), HASHES.values())]
        return self.write(name, "# who may look\n\n" + "".join(lines))

    def openssl(self, *words):
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def pair(self, name, *more):
        """Makes files NAME.pem and NAME.key. Returns --certificate and --key with their paths."""
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-days", "30", "-subj",
                     "/CN=" + name, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", name + ".key",
                     "-out", name + ".pem", *(more or ("-nodes",)))
        return self.words(name)

    def words(self, name, key=""):
        return "--certificate", self.path(name + ".pem"), "--key", self.path((key or name) + ".key")

    def expired(self, name):
        self.pair(name)
        self.write("ca.conf", "[ca]\ndefault_ca=x\n[x]\ndatabase=index\nserial=serial\nnew_certs_dir=.\n"
                              "default_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n")
        self.write("index", "")
        self.write("serial", "01")
        self.openssl("req", "-new", "-key", name + ".key", "-subj", "/CN=" + name, "-out", name + ".csr")
        self.openssl("ca", "-batch", "-config", "ca.conf", "-selfsign", "-keyfile", name + ".key", "-in", name + ".csr",
                     "-startdate", "200101000000Z", "-enddate", "200201000000Z", "-out", name + ".pem")
        return self.words(name)


class Message:
    def __init__(self, data, payload):
        self.magic, kind, self.bytes, self.skipped, self.number, self.age_us, _ = struct.unpack("<4IQ2I", data)
        assert self.magic == 0x57585453
        self.kind, self.payload = KINDS[kind], payload

    def notice(self):
        return json.loads(self.payload)


def picture(stream):
    """Returns the next part of a stream.mjpg: (headers, JPEG)."""
    def line():
        text = b""
        while not text.endswith(b"\r\n"):
            text += stream.take(1)
        return text[:-2].decode()
    assert line() == "--" + stream.headers["content-type"].partition("boundary=")[2]
    headers = dict(text.lower().split(": ") for text in iter(line, ""))
    data = stream.take(int(headers["content-length"]))
    assert line() == ""
    return headers, data


class Stream:
    """A viewer. Splits the chunks of a stream into messages."""

    def __init__(self, web, path, receive_bytes=0):
        self.socket = web.connect(receive_bytes)
        lines = ["GET %s HTTP/1.1" % path, "Host: localhost", *web.header(), "", ""]
        self.socket.sendall("\r\n".join(lines).encode())
        self.file = self.socket.makefile("rb")
        self.code = int(self.file.readline().split()[1])
        self.headers = {}
        for line in iter(self.file.readline, b"\r\n"):
            name, _, value = line.decode().partition(":")
            self.headers[name.lower()] = value.strip()
        self.rest = b""

    def take(self, count):
        while len(self.rest) < count:
            size = int(self.file.readline() or b"0", 16)
            if size == 0:
                raise EOFError
            self.rest += self.file.read(size)
            self.file.readline()
        data, self.rest = self.rest[:count], self.rest[count:]
        return data

    def next(self, *kinds):
        while True:
            head = self.take(32)
            message = Message(head, self.take(struct.unpack_from("<I", head, 8)[0]))
            if not kinds or message.kind in kinds:
                return message

    def until(self, condition, seconds=30.0, what="message"):
        end = time.monotonic() + seconds * SLOW
        while time.monotonic() < end:
            message = self.next()
            if condition(message):
                return message
        raise AssertionError("%s: not within %.0f s" % (what, seconds * SLOW))

    def until_publisher(self, word):
        return self.until(lambda m: m.kind == "notice" and m.notice()["publisher"] == word, what="publisher " + word)

    def close(self):
        self.file.close()
        self.socket.close()
