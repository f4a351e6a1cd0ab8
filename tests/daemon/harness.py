# Runs stixeld in its own folder and talks to it as a monitor or a reader does. Uses the standard library only.
#
# SPDX-License-Identifier: Apache-2.0
import copy
import json
import mmap
import os
import queue
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

STIXELD = os.environ.get("STIXELD", "")
FAKE = os.environ.get("STIXELD_FAKE", "")
SANITIZED = bool(os.environ.get("SX_SANITIZED"))
# With ThreadSanitizer, which judges data that threads exchange, only one of several cases with the same path through
# the threads runs. Other builds run all cases.
THREADS_ONLY = os.environ.get("SX_SANITIZED") == "thread"
# Set by hand on an idle machine (CONTRIBUTING.md). Tests then judge wall times, too.
IDLE = bool(os.environ.get("STIXEL_IDLE"))
# True if built with libsystemd. The daemon then notifies the service manager and accepts its sockets.
LIBSYSTEMD = bool(os.environ.get("SX_LIBSYSTEMD"))

# Small pairs and a small search: a frame takes a few milliseconds. Sanitizers take ten to thirty times as long for each
# frame that a daemon computes while its test waits. With sanitizers, pairs are therefore smaller and rarer.
WIDTH, HEIGHT = (96, 64) if SANITIZED else (160, 96)
SMALL = ["-s", "source.kind=synthetic", "-s", "source.size=%dx%d" % (WIDTH, HEIGHT), "-s", "stereo.disparities=32",
         "-s", "engine.threads=1", *(["-s", "source.fps=5"] if SANITIZED else [])]
FREE = ["-s", "source.fps=0"]
# A sanitized daemon needs milliseconds for an answer, and other tests wait for the processor.
# Patience for something that takes a second on an idle machine. A machine that builds beside its tests takes longer.
PATIENCE_S = 30.0
POLL_S = 0.05 if SANITIZED else 0.01
STATES = ["starting", "running", "no_camera", "degraded", "stopping", "closed", "replaced"]


def until(condition, seconds=PATIENCE_S, what="condition"):
    """Polls condition() and returns its first true value. Fails after the timeout."""
    end = time.monotonic() + seconds * (3 if SANITIZED else 1)
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("%s: not within %.1f s" % (what, seconds))
        time.sleep(POLL_S)


def need_libsystemd():
    if not LIBSYSTEMD:
        raise unittest.SkipTest("built without libsystemd")


def connect(s, path, seconds=PATIENCE_S):
    """Connects a socket that has a timeout. Python makes such a socket non-blocking, so a full queue refuses at
    once. A socket that has its name but does not listen yet also refuses."""
    def try_once():
        try:
            s.connect(path)
        except (BlockingIOError, ConnectionRefusedError):
            return False
        return True
    until(try_once, seconds, "room in the queue of " + path)


class Frame:
    """Fields of a packet or slot that the tests need, at the offsets of stixel.h."""

    def __init__(self, data):
        self.bytes = len(data)
        self.magic, self.major = struct.unpack_from("<IH", data, 0)
        self.epoch, self.number = struct.unpack_from("<QQ", data, 24)
        self.left_ns, self.right_ns, self.submitted_ns, self.published_ns = struct.unpack_from("<4q", data, 40)
        self.flags, = struct.unpack_from("<I", data, 92)
        self.scores_ns, = struct.unpack_from("<q", data, 688)
        self.road_origin, self.stage_count = data[90], data[91]
        self.width, self.height, self.columns = struct.unpack_from("<3I", data, 96)
        self.column_width, = struct.unpack_from("<I", data, 108)
        self.count, = struct.unpack_from("<I", data, 120)
        self.camera = struct.unpack_from("<5d", data, 128)  # fx, fy, cx, cy, baseline
        self.road = struct.unpack_from("<3d", data, 168) + struct.unpack_from("<8d", data, 696)
        self.vehicle = struct.unpack_from("<2d", data, 760)  # low, high
        self.motion_span_ns, = struct.unpack_from("<q", data, 776)
        self.ego_known = struct.unpack_from("<f", data, 828)[0] > 0
        at, self.range_applied = struct.unpack_from("<If", data, 848)
        self.motion = list(struct.iter_unpack("<hhBBbB", data[at:at + 8 * self.count])) if at else []
        at, of, count, each = struct.unpack_from("<IIHH", data, 856)
        # None: objects are not followed; else (id, state) of each, and the number of the object of each stixel
        self.objects = [struct.unpack_from("<IB", data, at + each * k) for k in range(count)] if at else None
        self.object_of = list(data[of:of + self.count]) if of else [0] * self.count
        self.road_age, = struct.unpack_from("<I", data, 208)
        self.captured, self.published, self.overload, self.unpaired, self.corrupt = struct.unpack_from(
            "<5Q", data, 216)
        self.plane_kind, self.plane_width, self.plane_height = struct.unpack_from("<3I", data, 256)
        self.stage_ns = struct.unpack_from("<16q", data, 280)
        self.stage_names = [data[408 + 16 * i:424 + 16 * i].rstrip(b"\0").decode() for i in range(16)]
        offset, = struct.unpack_from("<I", data, 20)
        offsets = struct.unpack_from("<%dI" % (self.columns + 1), data, struct.unpack_from("<I", data, 8)[0])
        self.stixels_of = [b - a for a, b in zip(offsets, offsets[1:])]  # stixels of each column
        # columns and stixels: these bytes must be the same from every engine
        self.record = data[struct.unpack_from("<I", data, 8)[0]:offset + 16 * self.count]
        # support of the first stixel: the fake engine puts the pair's number there
        self.label = data[offset + 13] if self.count else None
        self.pair = struct.unpack_from("<H", data, offset + 6)[0] if self.count else None


class Ring:
    """The mapped ring of an instance. It stays readable to the end after the daemon has exited."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.map = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        self.slots, self.stride, self.first, self.header = struct.unpack_from("<4I", self.map, 24)

    def live(self):
        """Returns (state, heartbeat_ns, head) of the ring."""
        head, _, state, beat = struct.unpack_from("<QIIq", self.map, 1024)
        return STATES[state], beat, head

    def frame(self, number):
        """Returns the frame, or None if its slot holds another frame."""
        at = self.first + (number & (self.slots - 1)) * self.stride
        sequence, count = struct.unpack_from("<QQ", self.map, at)
        data = self.map[at + self.header:at + self.header + count]
        if sequence != 2 * number or struct.unpack_from("<Q", self.map, at)[0] != sequence:
            return None
        return Frame(data)

    def frames(self):
        """Returns all frames that the ring still holds, oldest first."""
        head = self.live()[2]
        return [f for f in map(self.frame, range(max(1, head - self.slots + 1), head + 1)) if f]


class Manager(threading.Thread):
    """The service manager's end of NOTIFY_SOCKET. Its thread always reads, because sd_notify() waits for room in a
    full queue."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.received = queue.SimpleQueue()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.start()

    def run(self):
        while True:
            data = self.socket.recv(4096)
            if not data:
                return
            self.received.put(data.decode().split("\n"))

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.join()
        self.socket.close()

    def take(self):
        """Returns the messages that came since the last call."""
        return [self.received.get() for _ in range(self.received.qsize())]


class Instance:
    """A folder for one instance. A test may start the daemon in it several times."""

    def __init__(self, name="test", binary=None):
        self.name = name
        self.binary = binary or STIXELD
        self.top = tempfile.mkdtemp(prefix="stixeld-test-")
        self.shm = os.path.join(self.top, "shm")
        self.run = os.path.join(self.top, "run")
        self.log = os.path.join(self.top, "log")
        os.mkdir(self.shm)
        os.mkdir(self.run)
        self.status_path = os.path.join(self.run, name, "status.sock")
        self.stream_path = os.path.join(self.run, name, "frames.sock")
        self.process = None
        self.notify = None
        self.pending = []

    def beside(self, name):
        """Returns another instance in the same folders, for a process that runs both. Call it after start()."""
        other = copy.copy(self)
        other.name = name
        other.status_path = os.path.join(self.run, name, "status.sock")
        other.stream_path = os.path.join(self.run, name, "frames.sock")
        return other

    # -- life --
    def places(self):
        """Returns the environment variables by which the daemon finds the folders of its rings."""
        return {"STIXELD_SHM_DIR": self.shm}

    def environment(self, extra=None):
        e = {k: v for k, v in os.environ.items()
             if not k.startswith(("FAKE_", "STIXEL_MODULE", "NOTIFY", "WATCHDOG", "LISTEN_", "JOURNAL"))}
        e.update(RUNTIME_DIRECTORY=self.run, **self.places())
        e.update({k: str(v) for k, v in (extra or {}).items()})
        return e

    def start(self, *args, env=None, notify=False, wait=True, **popen):
        extra = dict(env or {})
        if notify:
            path = os.path.join(self.top, "notify")
            if self.notify:
                self.notify.close()
                os.unlink(path)
            self.notify = Manager(path)
            extra["NOTIFY_SOCKET"] = path
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([self.binary, "--instance", self.name, *args], stdout=log, stderr=log,
                                            env=self.environment(extra), **popen)
        if wait:
            until(lambda: self.process.poll() is not None or self.answers(), what="status socket")
        return self

    def start_activated(self, *args, env=None):
        """Starts the daemon with both sockets created before and passed to it, as systemd does."""
        need_libsystemd()
        sockets = []
        for name, kind in (("status", socket.SOCK_STREAM), ("frames", socket.SOCK_SEQPACKET)):
            s = socket.socket(socket.AF_UNIX, kind)
            s.bind(os.path.join(self.top, name))
            s.listen()
            sockets.append(s)
        self.status_path, self.stream_path = (s.getsockname() for s in sockets)

        def pass_on():  # over unused numbers: either socket may already have 3 or 4
            high = [os.dup2(s.fileno(), 100 + n) for n, s in enumerate(sockets)]
            for n, fd in enumerate(high):
                os.dup2(fd, 3 + n)
        extra = dict(env or {}, LISTEN_FDS="2", LISTEN_FDNAMES="status:frames")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", self.binary, "--instance", self.name, *args],
                env=self.environment(extra), stdout=log, stderr=log, preexec_fn=pass_on, close_fds=False)
        for s in sockets:
            s.close()
        until(lambda: self.process.poll() is not None or self.answers(), what="status socket")
        return self

    def run_once(self, *args, env=None, timeout=60):
        """Runs the daemon to its end and returns (exit code, stdout, stderr)."""
        r = subprocess.run([self.binary, "--instance", self.name, *args], env=self.environment(env),
                           capture_output=True, text=True, timeout=timeout)
        return r.returncode, r.stdout, r.stderr

    def wait(self, seconds=PATIENCE_S):
        return self.process.wait(seconds * (3 if SANITIZED else 1))

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
        return self.wait()

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.notify:
            self.notify.close()
        log = self.text() if os.path.exists(self.log) else ""
        shutil.rmtree(self.top, ignore_errors=True)
        # Sanitizers, the fake engine and the contracts must have no complaint in any test.
        for word in ("Sanitizer", "runtime error:", "contract broken"):
            if word in log:
                raise AssertionError(log)

    def text(self):
        with open(self.log, errors="replace") as f:
            return f.read()

    # -- files in the folders --
    @property
    def ring_path(self):
        return os.path.join(self.shm, "stixeld." + self.name)

    def leftovers(self):
        """Returns everything in both folders except the lock file."""
        found = []
        for folder, _, files in os.walk(self.top):
            found += [os.path.join(folder, f) for f in files]
        for folder in (self.run, self.shm):
            for f in os.listdir(folder):
                found.append(os.path.join(folder, f))
        return sorted({os.path.relpath(f, self.top) for f in found}
                      - {"log", "notify", "run/" + self.name, "run/%s/lock" % self.name})

    # -- the status socket --
    def raw(self, data, seconds=PATIENCE_S, path=None):
        """Sends bytes and returns everything that comes back until the other side closes."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
            s.settimeout(seconds * (3 if SANITIZED else 1))
            connect(s, path or self.status_path)
            reply = b""
            try:
                s.sendall(data)
                while True:
                    part = s.recv(65536)
                    if not part:
                        break
                    reply += part
            except (ConnectionResetError, BrokenPipeError):
                pass
            return reply

    def http(self, page, method="GET"):
        """Requests a page over HTTP and returns (status, headers, body)."""
        request = b"%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % (method.encode(), page.encode())
        # Ask again: the daemon closes a client that is silent for a while, and on an emulated machine this side may be
        # late.
        reply = self.raw(request) or self.raw(request)
        head, _, body = reply.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        headers = {k.strip().lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}
        return int(lines[0].split()[1]), headers, body.decode()

    def order(self, *changes, seconds=PATIENCE_S):
        """Sends POST /settings with one line for each change and returns (status, body)."""
        body = "".join(c + "\n" for c in changes).encode()
        reply = self.raw(b"POST /settings HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
                         % len(body) + body, seconds)
        head, _, text = reply.partition(b"\r\n\r\n")
        return int(head.split()[1]), text.decode()

    def answers(self):
        try:
            return self.http("/healthz")[0] in (200, 503)
        except (OSError, IndexError, ValueError):
            return False

    def status(self):
        code, _, body = self.http("/status")
        assert code == 200, (code, body)
        return json.loads(body)

    def health(self):
        code, _, body = self.http("/healthz")
        return code, body.strip()

    def until_state(self, state, seconds=PATIENCE_S):
        return until(lambda: (lambda s: s if s["state"] == state else None)(self.status()), seconds, "state " + state)

    def threads(self):
        """Returns {name: number} of the daemon's threads."""
        found = {}
        for tid in os.listdir("/proc/%d/task" % self.process.pid):
            try:
                with open("/proc/%d/task/%s/comm" % (self.process.pid, tid)) as f:
                    found[f.read().strip()] = int(tid)
            except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
                continue
        return found

    def until_published(self, count, seconds=PATIENCE_S):
        return until(lambda: (lambda s: s if s["frames"]["published"] >= count else None)(self.status()), seconds,
                     "%d frames" % count)

    # -- readers --
    def stream(self):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.settimeout(PATIENCE_S)
        until(lambda: os.path.exists(self.stream_path), what="frames.sock")
        connect(s, self.stream_path)
        return s

    def ring(self):
        until(lambda: os.path.exists(self.ring_path), what="ring")
        return Ring(self.ring_path)

    def ring_state(self):
        return self.ring().live()

    # -- the manager --
    def messages(self):
        """Returns what was sent to the manager since the last call, as lists of lines."""
        need_libsystemd()
        return self.notify.take()

    def until_message(self, start, seconds=PATIENCE_S):
        def look():
            self.pending += self.messages()
            return [line for m in self.pending for line in m if line.startswith(start)]
        return until(look, seconds, "message " + start)


def without_origins(printed):
    """Returns a printed configuration without its remarks from where each value comes."""
    return re.sub("(?m)^(# .*); from .*", r"\1", printed)


def write_pair(folder, name, seed, width=160, height=96):
    """Writes a pair of PGM images as left/NAME and right/NAME. Both show one texture, shifted by 8 px."""
    noise = random.Random(seed)
    for side, shift in (("left", 0), ("right", 8)):
        os.makedirs(os.path.join(folder, side), exist_ok=True)
        noise.seed(seed)
        rows = [bytes(noise.randrange(256) for _ in range(width + 8))[shift:shift + width] for _ in range(height)]
        with open(os.path.join(folder, side, name), "wb") as f:
            f.write(b"P5\n%d %d\n255\n" % (width, height) + b"".join(rows))


class TestCase(unittest.TestCase):
    def stream(self, i):
        s = i.stream()
        self.addCleanup(s.close)
        return s

    def instance(self, name="test", binary=None):
        i = Instance(name, binary)
        self.addCleanup(i.close)
        return i


def receive(stream, count=None, seconds=PATIENCE_S):
    """Returns `count` frames from frames.sock, or all frames until the daemon closes it."""
    frames = []
    end = time.monotonic() + seconds * (3 if SANITIZED else 1)
    while count is None or len(frames) < count:
        stream.settimeout(max(0.01, end - time.monotonic()))
        try:
            data = stream.recv(1 << 22)
        except ConnectionResetError:
            break
        if not data:
            break
        if data[:4] == b"STXF":
            frames.append(Frame(data))
    return frames
