# The lives that tests/torture/run tests: which program starts, with which files, what is done to it, and what a good
# end is.
# SPDX-License-Identifier: Apache-2.0
import http.client
import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

HANG_S = 10  # limit on an idle machine; up to four times as long if other programs use it
LASTS_S = 1  # duration of a permanent failure in a driver
AFTER_S = 2  # time until a server answers all requests again
# Exit codes that report a user's error, by sysexits.h. A failing call must not be reported as one.
CODES_OF_THE_USER = {64, 65, 66, 77, 78}
# Errors that mean missing rights, a missing or an unsuitable object: EPERM, ENOENT, EACCES, EINVAL.
ERRORS_OF_THE_USER = {1, 2, 13, 22}
# A line of the daemon's log. The last line of all has no time.
LOG_LINE = re.compile(r"(?:[\d:.]+ )?(error|warning|notice|info|debug) +[\w-]+: ")
# Marks that phases.c writes when a daemon has got that far. Without the mark an exit status of 0 is an early end.
MARKS = {"start": "frames 2", "steady": "terminated", "reload": "terminated", "order": "terminated",
         "camera": "terminated", "stop": "terminated"}
CONFIG = """[source]
kind = %(kind)s
size = 64x48
fps = 0
[stereo]
disparities = 32
[engine]
threads = 1
[camera]
fx = 60
fy = 60
cx = 32
cy = 20
baseline_m = 0.5
[output]
planes = both
[stixels]
width = %(width)d
"""


class Result:
    """Output of a run, and the files that it left."""

    def __init__(self, code, stderr, report, left, hung, status=None):
        self.code, self.stderr, self.left, self.hung, self.status = code, stderr, left, hung, status
        self.report = report
        self.counts, self.calls, self.notes, self.marks = {}, [], [], set()
        self.failed, self.site = None, None
        self.sees_no_files = False  # files are invisible after the failing call
        self.bytes, self.info = None, None  # size of out.mcap in bytes, and the result of reading it
        self.first = {}  # the first call of each name
        self.lost = None  # error with which a simulated CUDA device was lost
        for line in report:
            word, _, rest = line.partition(" ")
            fields = rest.split()
            if word == "count":
                self.counts[fields[0]] = int(fields[1])
            elif word == "call":
                self.calls.append((fields[0], int(fields[1]), int(fields[3]), fields[4]))
                self.first.setdefault(fields[2], "%s@%s:1" % (fields[0], fields[4]))
            elif word == "failed":
                self.failed = (fields[0], int(fields[1]), " ".join([fields[2], *fields[4:]]))
                self.site = fields[3]
            elif word == "lost":
                self.lost = int(fields[0])
            elif word == "mark":
                self.marks.add(rest)
            elif word in ("wrong", "allocation", "answer"):
                self.notes.append(line)
        self.sentences = [s for s in stderr.splitlines() if s.strip() and not re.match(r"torture: ", s)]

    @property
    def told(self):
        """True if the run reports why it ended: an error or a warning in the log, or a tool's message as last line."""
        lines = [LOG_LINE.match(s) for s in self.sentences]
        return any(m and m[1] in ("error", "warning") for m in lines) or \
            bool(lines) and not lines[-1] and ": " in self.sentences[-1]

    @property
    def lost_clock(self):
        """True if the run ended at once and left what SIGKILL leaves, as base/clock.h says."""
        return self.failed and self.failed[0] == "clock_gettime" and self.code == 70 and \
            "CLOCK_MONOTONIC cannot be read" in self.stderr

    @property
    def outcome(self):
        if not self.failed:
            return "not reached"
        if self.code != 0:
            return "exit"
        if any(n.startswith("answer") and n != "answer 200" for n in self.notes) or "reload" in self.stderr and \
                re.search(r"nothing (was|is) changed|not reloaded|stay", self.stderr):
            return "refused"
        dropped = self.status and sum(self.status["frames"]["dropped"].values())
        return "dropped" if dropped else "went on"


class Life:
    """One life: a program from start to end. house.py supplies the options of the phase."""
    codes = {0, 70, 71, 73}  # 71: no memory for the program's own arguments
    phase = None
    goes_on = False  # repeats the same calls
    kinds = None  # kinds of calls that fail in this life; None: all kinds
    at = None  # for a planted fault: name of the call that must fail to show it
    modules = ()  # modules that the program loads, and whose calls fail

    def __init__(self, name, house, program):
        self.name, self.house, self.program = name, house, program

    def parts(self):
        """Returns the programs and modules that the life consists of."""
        return (self.program, *self.modules)

    def fails(self, kinds):
        """Returns the kinds that fail in this life: only CUDA calls if a CUDA runtime is simulated, otherwise all
        others."""
        return [k for k in kinds if (k in self.kinds if self.kinds else k != "cuda")]

    def prepare(self, folder):
        """Returns argv and environment."""
        raise NotImplementedError

    def meanwhile(self, process, folder):
        """Sends requests to the running program. The program ends alone or here. Returns more lines of the report."""

    def left(self, folder):
        return []

    def run(self, order, top):
        folder = tempfile.mkdtemp(dir=top)
        try:
            return self.run_in(order, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def run_in(self, order, folder):
        report, log = os.path.join(folder, "report"), os.path.join(folder, "log")
        argv, more = self.prepare(folder)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("TORTURE", "NOTIFY", "LISTEN_", "JOURNAL"))}
        env.update(more, TORTURE_REPORT=report, TORTURE_MENDED=os.path.join(folder, "mended"),
                   ASAN_OPTIONS="detect_leaks=1:abort_on_error=0:exitcode=99:handle_abort=0",
                   UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1:exitcode=99")
        if order:
            env["TORTURE"] = order
        with open(log, "wb") as out:
            process = subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL, stderr=out, cwd=folder)
        more = []
        try:
            more = self.meanwhile(process, folder) or []
            busy = os.getloadavg()[0] / (os.cpu_count() or 1)
            code, hung = process.wait(HANG_S * min(max(busy, 1), 4)), False
        except subprocess.TimeoutExpired:
            process.kill()
            code, hung = process.wait(), True
        with open(log, errors="replace") as f:
            said = f.read()
        lines = open(report, errors="replace").read().splitlines() if os.path.exists(report) else []
        status = None
        if os.path.exists(os.path.join(folder, "status")):
            with open(os.path.join(folder, "status")) as f:
                status = json.load(f)
        r = Result(code, said, lines + more, self.left(folder), hung, status)
        r.sees_no_files = bool(order) and re.match("file[:@]", order) and order.endswith("+")
        out = os.path.join(folder, "out.mcap")
        if os.path.exists(out):
            r.bytes = os.path.getsize(out)
            r.info = self.house.info(out) if r.bytes else None
        return r

    def judge(self, r):
        """Returns sentences about what is wrong."""
        bad = []
        if r.hung:
            return ["late: hangs for more than %d s" % HANG_S]
        for word in ("AddressSanitizer", "runtime error:", "LeakSanitizer", "contract broken"):
            if word in r.stderr:
                bad.append("leak" if word == "LeakSanitizer" else "memory: " + word)
        if any(n.startswith("allocation") for n in r.notes):
            bad.append("the steady state allocates")
        elif r.code < 0:
            bad.append("crash: signal %d" % -r.code)
        elif not bad and (r.code not in self.codes or r.code in CODES_OF_THE_USER) and not (
                r.code in CODES_OF_THE_USER and r.failed and r.failed[1] in ERRORS_OF_THE_USER and
                not r.failed[0].startswith("cuda")):
            bad.append("code %d" % r.code)
        if r.code > 0 and not r.told:
            bad.append("no sentence")
        if r.code == 0 and self.phase and MARKS[self.phase] not in r.marks and not self.ran_out(r):
            bad.append("ended by itself with 0")
        # Without lstat the daemon cannot find the owner of a ring, nor without stat the owner of a socket. Both stay,
        # and the next start replaces them.
        blind = r.failed and r.failed[0] == "lstat64" or r.sees_no_files
        stays = ("shm/", "run/t/frames.sock", "run/t/status.sock") if r.sees_no_files else ("shm/",)
        bad += ["left behind: " + f for f in r.left if not (blind and f.startswith(stays) or r.lost_clock)]
        bad += [("late " if "not within" in n else "") + n for n in r.notes if n.startswith("wrong")]
        return bad + self.judge_more(r)

    def judge_more(self, r):
        return []

    def ran_out(self, r):
        """True if the program ended because there was nothing more to do."""
        return False


class Daemon(Life):
    def __init__(self, name, house, program="torture-stixeld", phase=None, kind="synthetic", arguments=()):
        super().__init__(name, house, house.program(program))
        self.phase, self.kind, self.arguments = phase or name, kind, list(arguments)
        self.goes_on = self.phase in ("steady", "camera")

    def prepare(self, folder):
        for name in ("run", "shm"):
            os.mkdir(os.path.join(folder, name))
        config, following = os.path.join(folder, "t.conf"), os.path.join(folder, "next.conf")
        for path, width in ((config, 4), (following, 8)):
            with open(path, "w") as f:
                f.write(CONFIG % {"kind": self.kind, "width": width})
        argv = [self.program, "-i", "t", "-c", config] + self.arguments
        return argv, {"RUNTIME_DIRECTORY": os.path.join(folder, "run"), "STIXELD_SHM_DIR": os.path.join(folder, "shm"),
                      "TORTURE_INSTANCE": "t", "TORTURE_PHASE": self.phase, "TORTURE_CONFIG": config,
                      "TORTURE_NEXT": following, "TORTURE_STATUS": os.path.join(folder, "status")}

    def left(self, folder):
        found = []
        for top in ("run", "shm"):
            for where, folders, files in os.walk(os.path.join(folder, top)):
                names = [os.path.relpath(os.path.join(where, f), folder) for f in files]
                found += [n for n in names if n != "run/t/lock"]
                found += [os.path.relpath(os.path.join(where, f), folder) for f in folders
                          if f != "t" or "lock" not in os.listdir(os.path.join(where, f))]
        return found

    def ran_out(self, r):
        """True if three of four pairs cannot be read, and are counted. Then fewer frames came than requested."""
        return self.kind == "files" and " 1 frames published, 0 pairs dropped by overload, 3 unreadable" in r.stderr

    def judge_more(self, r):
        if r.code != 0 or not r.status:
            return []
        frames = r.status["frames"]
        dropped = frames["dropped"]  # unpaired or unreadable images were not captured as a pair
        gone = sum(dropped[k] for k in ("overload", "no_map", "teardown"))
        open_pairs = frames["captured"] - frames["published"] - gone
        # pairs in two contexts, one waiting pair, and one in the capture thread
        return [] if 0 <= open_pairs <= 4 else ["frames: %s" % json.dumps(frames)]


class Cameras(Daemon):
    """A daemon with cameras whose driver is simulated: tests/torture/cameras.c."""

    def __init__(self, name, house, **more):
        super().__init__(name, house, program="torture-cameras", kind="v4l2", **more)
        keys = ("left=/dev/fake-left", "right=/dev/fake-right", "size=48x34", "fps=30", "timeout_ms=20000")
        self.arguments += itertools.chain.from_iterable(("-s", "source." + k) for k in keys)

    def meanwhile(self, process, folder):
        """A daemon that waits for a driver which fails for ever may wait for ever. So the driver is repaired, and the
        cameras return."""
        try:
            process.wait(LASTS_S)
        except subprocess.TimeoutExpired:
            open(os.path.join(folder, "mended"), "w").close()

    def judge(self, r):
        """Accepts another number of descriptors if the log reports another kind of memory, because its buffers have
        other descriptors."""
        if "memory is " in r.stderr:
            r.notes = [n for n in r.notes if not n.startswith("wrong descriptors")]
        return super().judge(r)


class Tool(Life):
    """A program beside a working daemon. Any call of the program may fail."""

    def __init__(self, name, house, program):
        super().__init__(name, house, house.program(program))

    def argv(self, folder):
        raise NotImplementedError

    def parts(self):
        return (*super().parts(), self.house.stixeld, self.house.stixelctl)

    def prepare(self, folder):
        return [self.program] + self.argv(folder), self.house.environment()


class Record(Tool):
    codes = {0, 1, 70, 71, 73}  # 1: reading from the instance fails

    def argv(self, folder):
        return ["-i", self.house.instance, "record", "--frames", "2", "--compress", os.path.join(folder, "out.mcap")]

    def left(self, folder):
        return [f for f in sorted(os.listdir(folder)) if f not in ("log", "report", "out.mcap")]

    def judge_more(self, r):
        """Checks that the recording can be read, to its end or to where it stopped. An empty file was only created."""
        if r.code == 0 and (not r.info or " 2 frames" not in r.info[1]):
            return ["recording: %s" % (r.info,)]
        return ["recording: %s" % (r.info,)] if r.info and r.info[0] not in (0, 65) else []


class Export(Tool):
    codes = {0, 1, 70, 71, 73}  # 1: interrupted

    def argv(self, folder):
        return ["export", self.house.recording(), os.path.join(folder, "out.mcap")]

    def judge_more(self, r):
        if r.code != 0:
            return ["half a file"] if r.bytes is not None and not r.lost_clock else []
        same = r.info and r.info[0] == 0 and r.bytes == self.house.exported
        return [] if same else ["not what is exported when nothing fails"]

    def left(self, folder):
        return [f for f in sorted(os.listdir(folder)) if f not in ("log", "report", "out.mcap")]


class Web(Tool):
    """A web server that is asked for each page, then ended."""
    pages = ["/", "/api/instances", "/api/%s/status", "/api/%s/metrics", "/api/%s/settings", "/api/%s/snapshot.jpg",
             "/metrics", "/healthz", "/api/clock", "/api/recordings", "/api/%s/stream?images=left"]
    stream_bytes = 2000

    def prepare(self, folder):
        argv, env = super().prepare(folder)
        stixelctl = os.path.join(self.house.build, "tools")  # records
        return argv, dict(env, PATH="%s:%s" % (stixelctl, os.environ["PATH"]))

    def argv(self, folder):
        return ["-i", self.house.instance, "--listen", "127.0.0.1:0", "--recordings", folder]

    def meanwhile(self, process, folder):
        port, pages = port_of(process), [page.replace("%s", self.house.instance) for page in self.pages]
        if not port:
            return []
        said = [self.judge_answer(page, *self.ask(port, page), failing=True) for page in pages]
        open(os.path.join(folder, "mended"), "w").close()
        end = time.monotonic() + AFTER_S
        for page in pages:
            # No call fails any more, or one fails for the last time. The server keeps failed pages for a while.
            while wrong := self.judge_answer(page, *self.ask(port, page)):
                if process.poll() is not None or time.monotonic() > end:
                    break
                time.sleep(0.02)
            said.append(wrong if process.poll() is None else None)
        if process.poll() is None:
            process.terminate()
        return [s for s in said if s]

    @classmethod
    def ask(cls, port, page):
        """Returns the status, or 0 if there is no whole answer, and the body."""
        try:
            c = http.client.HTTPConnection("127.0.0.1", port, timeout=4)
            c.request("GET", page)
            answer = c.getresponse()
            body = answer.read(cls.stream_bytes) if "/stream" in page else answer.read()
            c.close()
        except (OSError, http.client.HTTPException):
            return 0, b""
        return answer.status, body

    @classmethod
    def judge_answer(cls, page, status, body, failing=False):
        """Returns a line of the report if the answer is wrong. While calls fail, a server may report that it cannot
        answer or that no daemon runs, or it may close the connection."""
        if status != 200:
            fine = failing and (status == 0 or 500 <= status < 600 or (status == 404 and page.startswith("/api/")))
            # no whole answer, or the daemon did not answer in time
            late = "" if status and status != 504 else " not within its time"
            return None if fine else "wrong answer of %s: %s%s" % (page, status or "none", late)
        path = page.partition("?")[0]
        if path.endswith("/stream"):
            # a failing call may end the stream of a daemon early
            whole = failing or len(body) == cls.stream_bytes
        elif path.endswith(".jpg"):
            whole = body[:2] == b"\xff\xd8" and body[-2:] == b"\xff\xd9"
        elif path == "/":
            whole = body.rstrip().endswith(b"</html>")
        elif path.endswith("metrics") or path == "/healthz":
            whole = body.endswith(b"\n")
        else:
            whole = is_json(body)
        return None if whole else "wrong answer of %s: 200 with half a body, %r" % (page, body[-20:])


def is_json(body):
    try:
        json.loads(body)
    except ValueError:
        return False
    return True


def port_of(process):
    """Returns the port on which the process listens, or None if it ends before. The kernel gives the port, because a
    call that prints the address may fail."""
    end = time.monotonic() + HANG_S
    while process.poll() is None and time.monotonic() < end:
        try:
            top = "/proc/%d/" % process.pid
            own = [os.readlink(top + "fd/" + n) for n in os.listdir(top + "fd")]
            with open(top + "net/tcp") as f:
                rows = [line.split() for line in f.readlines()[1:]]
        except OSError:  # a descriptor that was closed meanwhile, or the process has ended
            continue
        for row in rows:
            if row[3] == "0A" and "socket:[%s]" % row[9] in own:
                return int(row[1].split(":")[1], 16)
        time.sleep(0.002)
    return None


class Planted(Tool):
    """A program with a planted fault. found_by: a word of the finding, or none if the program is right."""

    def __init__(self, how, house, found_by):
        super().__init__(how, house, "torture-planted")
        self.found_by = found_by
        self.phase = "steady" if how == "ends" else None
        self.goes_on = how == "rare"

    def prepare(self, folder):
        return [self.program, self.name], {}

    def left(self, folder):
        return [f for f in os.listdir(folder) if f not in ("log", "report")]


def place(program, offset):
    """Returns function, file and line of an offset in the program, or in the module that the report names after it."""
    offset, _, module = offset.partition(" ")
    program = module or program
    try:
        said = subprocess.run(["addr2line", "-pfe", program, hex(int(offset, 16) - 1)], capture_output=True, text=True)
    except (OSError, ValueError):
        return offset
    return re.sub(r" at \S*?/((?:[\w.-]+/)?[\w.-]+:)", r" at \1", said.stdout.strip()) or offset
