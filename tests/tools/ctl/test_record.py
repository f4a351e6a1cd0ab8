# Tests stixelctl record, replay and info. A recording that is replayed and recorded again is the same. After any
# damage, the intact part can be read.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import pty
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import time
import unittest

import recordings
from support import BUILD, Folder, program, run, until

CTL = program("stixelctl")
TORTURE = os.path.join(BUILD, "tests", "torture", "torture-stixelctl")
MAKE = os.path.join(BUILD, "tests", "recording", "make-recording")
SANITIZED = bool(os.environ.get("SX_SANITIZED"))  # the sanitizer keeps freed memory
SMALL = ("plain", 12, 0)  # encoding, columns, width of the image


def line_of(pipe, seconds=60):
    """Returns the next line, without the buffered data after it. After the timeout, returns the part that has come."""
    end, line = time.monotonic() + seconds, b""
    while not line.endswith(b"\n") and select.select([pipe], [], [], max(0, end - time.monotonic()))[0]:
        part = os.read(pipe.fileno(), 1)
        if not part:
            break
        line += part
    return line


frames_of = recordings.frames


def record_of(frame):
    """Returns the parts that replay keeps: columns, stixels and images, without the header."""
    return frame[struct.unpack_from("<I", frame, 8)[0]:]


def number_of(frame):
    return struct.unpack_from("<Q", frame, 32)[0]


def times_of(frame):
    """Returns left, right, submitted, published."""
    return struct.unpack_from("<4q", frame, 40)


def rss_kb(pid):
    with open("/proc/%d/status" % pid, encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


class Recordings(Folder):
    def setUp(self):
        super().setUp()
        self.env = dict(os.environ, RUNTIME_DIRECTORY=self.path("run"))
        self.count = 0
        self.started = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for p in self.started:
            p.terminate()  # a player then removes its ring
            try:
                p.wait(5)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
            for f in (p.stdin, p.stdout, p.stderr):
                if f:
                    f.close()

    def name(self):
        """Returns the name of an instance that does not exist."""
        self.count += 1
        return "rec-%d-%d" % (os.getpid(), self.count)

    def ring(self, name):
        return os.path.exists("/dev/shm/stixeld." + name)

    def make(self, frames, fps=100, lives=1, kind=SMALL, version=()):
        path = self.path("made-%d-%d.rec" % (frames, lives))
        with open(path, "wb") as f:
            subprocess.run([MAKE, *map(str, (frames, fps, kind[1], kind[2], lives, kind[0], *version))], stdout=f,
                           check=True)
        return path

    def start(self, *args, **more):
        more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        p = subprocess.Popen([CTL, *map(str, args)], env=self.env, **more)
        self.started.append(p)
        return p

    def ctl(self, *args, want=0, **more):
        r = run("stixelctl", *args, env=self.env, **more)
        self.assertEqual(r.returncode, want, r.stderr + r.stdout)
        return r

    def start_recorder(self, name, path, *args):
        """Starts a recorder of frames without loss and waits until it says that it waits for its instance."""
        p = self.start("-i", name, "record", path, *(args if "--stixels-only" in args else ("--raw", *args)))
        self.assertIn(b"waiting for it", line_of(p.stderr))
        return p

    def ended(self, p, want=0):
        out, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, want, err)
        return (out or b"").decode(), (err or b"").decode()

    def info(self, path, want=0):
        return json.loads(self.ctl("info", "--json", path, want=want).stdout)

    # ---- recording and replay ----

    def there_and_back(self, made, *options, images="left,right"):
        name, path = self.name(), self.path("again.rec")
        want = frames_of(made)
        recorder = self.start_recorder(name, path, "--frames", len(want), "--images", images)
        self.ctl("-i", name, "replay", made, *options)
        out, _ = self.ended(recorder)
        self.assertIn("%d frames" % len(want), out)
        self.assertFalse(self.ring(name))
        got = frames_of(path)
        self.assertEqual([record_of(f) for f in got], [record_of(f) for f in want])
        self.assertTrue(any(len(recordings.stixels(f)) for f in got))
        return want, got, self.info(path)

    def test_equal_stixels(self):
        want, got, info = self.there_and_back(self.make(80), "--slots", 128)
        self.assertEqual([number_of(f) for f in got], list(range(1, 81)))
        self.assertEqual((info["frames"], info["lost"], info["complete"]), (80, 0, True))
        for a, b in zip(want, got):
            # ages and durations are as recorded; the times are current
            self.assertEqual([t - times_of(a)[3] for t in times_of(a)], [t - times_of(b)[3] for t in times_of(b)])
            self.assertLess(abs(time.monotonic_ns() - times_of(b)[3]), 120e9)
        # 80 frames at 100 per second take 0.79 s. A busy machine may take longer, but never less.
        self.assertGreater(times_of(got[-1])[3] - times_of(got[0])[3], 0.7e9)

    def test_equal_images(self):
        made = self.make(30, kind=("plain", 20, 64))
        _, got, info = self.there_and_back(made, "--slots", 64, images="disparity")
        self.assertEqual((info["images"], info["jpeg_images"]), ("disparity", 0))
        for f in got:
            self.assertEqual({k: v[:3] for k, v in recordings.images(f).items()}, {1: (64, 32, 128)})

    def test_images_apart_from_their_frames(self):
        """The file is sorted by topic. No frame gets the image of another frame, and info counts them."""
        made, path = self.make(22, kind=("plain", 20, 64)), self.path("sorted.mcap")
        for backwards in (False, True):  # images before the frames, and after them
            recordings.sorted_by_topic(made, path, backwards)
            info = self.info(path)
            self.assertEqual((info["frames"], info["images"], info["images_apart"], info["damaged_places"]),
                             (22, "none", 22, 0))
            self.assertIn("22 images do not follow their frames", self.ctl("info", path).stdout)
        self.assertEqual(self.info(made)["images_apart"], 0)

    def test_a_restart_is_played_as_one(self):
        made = self.make(60, lives=3)
        self.assertEqual([p["frames"] for p in self.info(made)["publishers"]], [20, 20, 20])
        self.assertEqual(self.info(made)["lost"], 2)
        _, got, info = self.there_and_back(made, "--slots", 64, "--rate", 0.25)
        self.assertEqual([number_of(f) for f in got], list(range(1, 21)) * 3)
        self.assertEqual([p["frames"] for p in info["publishers"]], [20, 20, 20])

    def test_from_an_older_publisher(self):
        want, got, _ = self.there_and_back(self.make(40, version=["1.2"]), "--slots", 64)
        for f in want + got:
            self.assertEqual(struct.unpack_from("<HI", f, 6), (2, 696))

    def test_compressed(self):
        if "without zstd" in run("stixelctl", "record", "/dev", "--compress").stderr:
            self.skipTest("built without zstd")
        made = self.make(20, kind=("zstd", 12, 0))
        plain = self.make(20, lives=2)
        if self.info(made)["bytes"] >= self.info(plain)["bytes"]:
            self.fail("compression does not pay")
        name, path = self.name(), self.path("z.rec")
        recorder = self.start_recorder(name, path, "--frames", 20, "--compress")
        self.ctl("-i", name, "replay", made, "--slots", 64)
        self.ended(recorder)
        self.assertEqual(self.info(path)["frames"], 20)
        self.assertLess(os.path.getsize(path), os.path.getsize(plain))

    def test_images_are_left_out(self):
        made = self.make(30, kind=("plain", 20, 64))
        name, path = self.name(), self.path("bare.rec")
        recorder = self.start_recorder(name, path, "--frames", 30, "--images", "none")
        self.ctl("-i", name, "replay", made, "--slots", 64)
        self.ended(recorder)
        self.assertEqual(self.info(path)["images"], "none")
        for a, b in zip(frames_of(made), frames_of(path)):
            self.assertEqual(recordings.stixels(a), recordings.stixels(b))

    def test_the_first_frame_was_published_after_the_request(self):
        """A frame in the ring may have images that another reader requested; the next frame may then lack them."""
        name, path, seen = self.name(), self.path("late.rec"), self.path("seen.rec")
        with open(self.path("c.conf"), "w", encoding="ascii") as f:
            f.write("[source]\nkind = synthetic\nsize = 160x96\nfps = 1\n[stereo]\ndisparities = 32\n"
                    "[output]\nplanes_when = always\n")
        daemon = subprocess.Popen([program("stixeld"), "-c", self.path("c.conf"), "--instance", name],
                                  env=dict(self.env, RUNTIME_DIRECTORY=self.path("run")), stderr=subprocess.DEVNULL)
        self.started.append(daemon)
        self.ctl("-i", name, "record", seen, "--images", "left", "--raw", "--frames", 1)
        asked = time.monotonic_ns()
        self.ctl("-i", name, "record", path, "--images", "left", "--raw", "--frames", 1)
        first = frames_of(path)[0]
        self.assertGreater(number_of(first), number_of(frames_of(seen)[0]))
        self.assertGreater(times_of(first)[3], asked)
        self.assertEqual(set(recordings.images(first)), {2})

    def test_what_is_recorded_is_said_first(self):
        """The recorder forecasts the size of the recording about right. With --stixels-only the size is smallest."""
        name = self.name()
        self.start("-i", name, "replay", self.make(500, fps=50), "--loop")
        until(lambda: self.ring(name), "the ring")
        sizes = []
        for i, options in enumerate(([], ["--no-scene"], ["--stixels-only"])):
            path = self.path("said-%d" % i)
            r = self.ctl("-i", name, "record", path, "--frames", 150, *options)
            said = re.search(r"(\S+) frames a second, no image: about (\S+) MB a minute; the disk has room", r.stderr)
            self.assertTrue(said, r.stderr)
            info = self.info(path)
            rate = float(said.group(1))  # of the first frames; a busy machine delays some of them
            self.assertTrue(15 < rate < 60, r.stderr)
            took = info["bytes"] / info["frames"] * rate * 60 / 1e6
            self.assertTrue(0.6 * took < float(said.group(2)) < 1.6 * took + 0.1, (r.stderr, took))
            self.assertEqual((info["frames"], info["images"], info["jpeg_images"]), (150, "none", 0))
            sizes.append(info["bytes"])
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertLess(sizes[2] * 1.2, sizes[0])

    def test_a_recording_of_jpeg_is_replayed(self):
        """Images of a recording with JPEG are published, and the player says that they are not the camera's."""
        made = self.make(20, kind=("jpeg", 20, 64))
        info = self.info(made)
        if info["images"] == "none":
            self.assertIn("built without libjpeg", self.ctl("info", made).stdout)
            self.skipTest("built without libjpeg")
        self.assertEqual((info["images"], info["jpeg_images"]), ("left, disparity", 20))
        name, path = self.name(), self.path("raw.rec")
        recorder = self.start_recorder(name, path, "--frames", 20)
        r = self.ctl("-i", name, "replay", made, "--slots", 64)
        self.assertIn("its images are JPEG", r.stderr)
        self.ended(recorder)
        self.assertEqual((self.info(path)["images"], self.info(path)["jpeg_images"]), ("left", 0))
        for f in frames_of(path):
            kind, (width, height, pitch, data) = next(iter(recordings.images(f).items()))
            self.assertEqual((kind, width, height), (2, 64, 32))
            for y in range(height):
                for x in range(width):
                    self.assertLess(abs(data[y * pitch + x] - (2 * x + 3 * y)), 6, (x, y))

    def test_through_the_socket_and_the_library(self):
        made = self.make(400)
        name = self.name()
        player = self.start("-i", name, "replay", made, "--loop")
        until(lambda: self.ring(name), "the ring")
        frame = json.loads(self.ctl("-i", name, "dump", "--json", "--timeout", 20).stdout)
        want = recordings.stixels(frames_of(made)[(frame["number"] - 1) % 400])
        got = [(s["column"], s["row_top"], s["row_bottom"], s["support"]) for s in frame["stixels"]]
        self.assertEqual(got, [s[:4] for s in want])
        self.assertTrue(os.path.exists(self.path("run", name, "frames.sock")))
        player.send_signal(signal.SIGINT)
        out, _ = self.ended(player)
        self.assertIn("replayed as", out)
        self.assertFalse(self.ring(name))
        self.assertFalse(os.path.exists(self.path("run", name, "frames.sock")))

    def test_start_and_frames(self):
        """Starts in the second life, and after a change of the realtime clock."""
        made = self.make(1200, fps=1000, lives=2, version=["set"])
        with open(made, "rb") as f:
            data = f.read()
        # the player reads the file without chunk indexes up to the start
        for i, part in enumerate((data, data[:-1], without_chunk_indexes(data))):
            path = self.path("part.rec")
            with open(path, "wb") as f:
                f.write(part)
            name, again = self.name(), self.path("again-%d.rec" % i)
            recorder = self.start_recorder(name, again, "--frames", 5)
            self.ctl("-i", name, "replay", path, "--start", 0.7, "--frames", 5, "--slots", 64, "--rate", 0.01)
            self.ended(recorder)
            want = frames_of(made)[700:705]
            # the first frame at or after the time
            self.assertEqual([record_of(f) for f in frames_of(again)], [record_of(f) for f in want])

    def test_a_pipe_without_frames_yet(self):
        """While no frame comes, clients are served and the heartbeat continues. A signal ends the player."""
        with open(self.make(30), "rb") as f:
            data = f.read()
        name = self.name()
        player = self.start("-i", name, "replay", "-", stdin=subprocess.PIPE)
        player.stdin.write(data[:len(data) // 2])
        player.stdin.flush()
        until(lambda: self.ring(name), "the ring")
        with open("/dev/shm/stixeld." + name, "rb") as f:
            def beat():
                return struct.unpack("<q", os.pread(f.fileno(), 8, 1024 + 16))[0]
            first = beat()
            until(lambda: beat() > first + 1e9, "the heart")
        self.ctl("-i", name, "dump", "--timeout", 20)
        player.send_signal(signal.SIGTERM)
        self.assertIn("frames of instance 'front'", self.ended(player)[0])

    def test_room_for_motion_of_later_frames(self):
        """The end of a recording from a pipe is not known, so its frames may have motion and objects later."""
        made, name = self.make(30), self.name()
        with open(made, "rb") as f:
            data = f.read()
        columns, = struct.unpack_from("<I", frames_of(made)[0], 104)
        player = self.start("-i", name, "replay", "-", stdin=subprocess.PIPE)
        player.stdin.write(data[:len(data) // 2])
        player.stdin.flush()
        until(lambda: self.ring(name), "the ring")
        with open("/dev/shm/stixeld." + name, "rb") as f:
            capacity, = struct.unpack("<I", os.pread(f.fileno(), 4, 40))
        # header, offsets, 64 objects, and in each column 64 stixels with their records and numbers of objects
        self.assertGreaterEqual(capacity, 872 + 4 * (columns + 1) + 64 * 80 + 64 * columns * (16 + 8 + 1))

    @unittest.skipUnless(os.path.exists(TORTURE), "this build has no tests/torture")
    def test_a_ring_read_in_parts(self):
        """A read that is interrupted, or gives half, changes nothing of what `stixelctl doctor` says of a ring."""
        name, report, faults = self.name(), self.path("report"), {"EINTR": 1, "half": 2}
        self.start("-i", name, "replay", self.make(500, fps=50), "--loop")
        until(lambda: self.ring(name), "the ring")
        with open("/dev/shm/stixeld." + name, "rb") as f:  # `doctor` reads each slot that has a frame
            until(lambda: struct.unpack("<Q", os.pread(f.fileno(), 8, 1024))[0] > 8, "frames in all slots")

        def doctor(**env):
            r = subprocess.run([TORTURE, "-i", name, "doctor"], env=dict(self.env, **env), stdout=subprocess.PIPE,
                               text=True, timeout=60, check=False)
            return [line for line in r.stdout.splitlines()
                    if re.match(r"\w+ +(instance|shared memory) ", line) and " MB are free" not in line]
        want = doctor(TORTURE_REPORT=report)
        self.assertIn("is a replay of a recording", want[0])
        with open(report, encoding="ascii") as f:
            reads = re.findall(r"^call read (\d+) pread64 ", f.read(), re.MULTILINE)
        self.assertGreater(len(reads), 5)
        for nth in reads:
            for fault, number in faults.items():
                with self.subTest(read=nth, fault=fault):
                    self.assertEqual(doctor(TORTURE="read:%s/%d" % (nth, number)), want)

    # ---- errors ----

    def test_a_daemon_is_not_replaced(self):
        made, name = self.make(50), self.name()
        first = self.start("-i", name, "replay", made, "--loop")
        until(lambda: self.ring(name), "the ring")
        r = self.ctl("-i", name, "replay", made, want=73)
        self.assertIn("process %d" % first.pid, r.stderr)
        self.env["RUNTIME_DIRECTORY"] = self.path("elsewhere")  # another lock, but the same name of the ring
        r = self.ctl("-i", name, "replay", made, want=73)
        self.assertIn("belongs to process %d, which is running" % first.pid, r.stderr)
        self.assertIsNone(first.poll())
        self.assertTrue(self.ring(name))
        first.send_signal(signal.SIGTERM)
        self.ended(first)

    def test_the_publisher_is_killed(self):
        made, name, path = self.make(1000), self.name(), self.path("two.rec")
        recorder = self.start_recorder(name, path)
        for life in range(2):
            player = self.start("-i", name, "replay", made)
            if life:
                self.assertIn(b"restarted", line_of(recorder.stderr))
            before = os.path.getsize(path)
            until(lambda: os.path.getsize(path) > before + 20000, "frames in the file")
            player.kill()
            player.wait()
            line = line_of(recorder.stderr)
            while b" frames a second, " in line or b"no image" in line:
                line = line_of(recorder.stderr)
            self.assertIn(b"has ended", line)
        recorder.send_signal(signal.SIGINT)
        self.ended(recorder)
        info = self.info(path)
        self.assertEqual((len(info["publishers"]), info["complete"]), (2, True))
        self.assertTrue(all(p["frames"] > 5 for p in info["publishers"]))
        os.unlink("/dev/shm/stixeld." + name)

    def test_the_recorder_is_killed(self):
        made, name, path = self.make(2000, fps=1000), self.name(), self.path("cut.rec")
        recorder = self.start_recorder(name, path)
        player = self.start("-i", name, "replay", made, "--loop", "--slots", 64)
        until(lambda: os.path.exists(path) and os.path.getsize(path) > 100000, "frames in the file")
        # at least one chunk is complete
        until(lambda: json.loads(run("stixelctl", "info", "--json", path).stdout or '{"frames": 0}')["frames"] > 50,
              "readable frames")
        recorder.kill()
        recorder.wait()
        player.send_signal(signal.SIGINT)
        self.ended(player)
        r = run("stixelctl", "info", "--json", path)
        info = json.loads(r.stdout)
        self.assertEqual(r.returncode, 65 if info["damaged_places"] else 0)
        self.assertFalse(info["complete"])
        self.assertGreater(info["frames"], 50)
        self.assertEqual(len(frames_of(path)), info["frames"])
        # the cut file can be played
        self.assertIn("%d frames" % info["frames"], self.ctl("-i", name, "replay", path, "--max").stdout)

    def test_the_disk_is_full(self):
        made, name, path = self.make(2000, fps=1000), self.name(), self.path("full.rec")
        most = 2000000  # one chunk per second

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        recorder = self.start("-i", name, "record", path, "--raw", "--no-scene", preexec_fn=limit)
        self.assertIn(b"waiting for it", line_of(recorder.stderr))
        player = self.start("-i", name, "replay", made, "--loop")
        _, err = self.ended(recorder, 73)
        self.assertIn(path, err)
        self.assertEqual(os.path.getsize(path), most)
        info = self.info(path, want=65 if is_cut(path) else 0)
        self.assertEqual(info["frames"], len(frames_of(path)))
        self.assertGreater(info["frames"], 100)
        player.send_signal(signal.SIGINT)
        self.ended(player)

    def test_no_space(self):
        made, name = self.make(500), self.name()
        player = self.start("-i", name, "replay", made, "--loop")
        until(lambda: self.ring(name), "the ring")
        r = self.ctl("-i", name, "record", "/dev/full", "--frames", 50, want=73)
        self.assertIn("No space left", r.stderr)
        r = self.ctl("-i", name, "record", self.path("none", "x.rec"), want=73)
        self.assertIn("x.rec", r.stderr)
        old = self.path("old.rec")
        with open(old, "wb") as f:
            f.write(bytes(1 << 20))
        r = self.ctl("-i", name, "record", old, want=73)
        self.assertIn("old.rec already exists", r.stderr)
        with open(old, "rb") as f:
            self.assertEqual(f.read(), bytes(1 << 20))
        self.ctl("-i", name, "record", old, "--frames", 3, "--force")
        self.assertEqual(self.info(old)["frames"], 3)
        player.send_signal(signal.SIGINT)
        self.ended(player)

    # ---- each loss is reported ----

    def start_writing(self, name, path, *args):
        """Starts a recorder of an endless replay and waits until its file has frames."""
        player = self.start("-i", name, "replay", self.make(500, fps=1000), "--loop", "--slots", 64)
        until(lambda: self.ring(name), "the ring")
        recorder = self.start("-i", name, "record", path, *args)
        until(lambda: os.path.exists(path) and os.path.getsize(path) > 20000, "frames in the file")
        return player, recorder

    def test_one_recorder_at_a_time(self):
        name, path = self.name(), self.path("two.rec")
        _, recorder = self.start_writing(name, path)
        link = self.path("link.rec")
        os.symlink(path, link)
        for second in (path, link):
            r = self.ctl("-i", name, "record", second, "--force", "--frames", 5, want=73)
            self.assertIn("%s is being written by another recorder" % second, r.stderr)
        time.sleep(1.2)  # time for another chunk
        recorder.send_signal(signal.SIGINT)
        out, _ = self.ended(recorder)
        info = self.info(path)
        self.assertIn("%d frames" % info["frames"], out)
        self.assertTrue(info["complete"])
        # the recorder has ended: now its file may be replaced, also through the link
        self.ctl("-i", name, "record", link, "--force", "--frames", 3)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(self.info(path)["frames"], 3)
        self.assertEqual(sorted(n for n in os.listdir(self.folder) if n.endswith(".rec") or ".rec." in n),
                         ["link.rec", "made-500-1.rec", "two.rec"])

    def test_forced_recorders_exclude_each_other(self):
        name, path = self.name(), self.path("forced.rec")
        with open(path, "wb") as f:
            f.write(bytes(100))
        waiting = self.start("-i", name, "record", path, "--force")
        self.assertIn(b"waiting for it", line_of(waiting.stderr))
        r = self.ctl("-i", self.name(), "record", path, "--force", want=73)
        self.assertIn("another recorder", r.stderr)
        waiting.send_signal(signal.SIGINT)
        self.ended(waiting, 1)

    def test_force_keeps_the_old_file_until_there_are_frames(self):
        old, name = self.make(20), self.name()
        os.chmod(old, 0o640)
        with open(old, "rb") as f:
            before = f.read()

        def unchanged():
            with open(old, "rb") as f:
                self.assertEqual(f.read(), before)
            self.assertEqual([n for n in os.listdir(self.folder) if ".rec." in n], [])

        # no frame comes
        recorder = self.start("-i", name, "record", old, "--force")
        self.assertIn(b"waiting for it", line_of(recorder.stderr))
        recorder.send_signal(signal.SIGINT)
        _, err = self.ended(recorder, 1)
        self.assertIn("no frame came: %s is unchanged" % old, err)
        unchanged()

        # no room for a frame
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        player = self.start("-i", name, "replay", self.make(500), "--loop")
        until(lambda: self.ring(name), "the ring")
        recorder = self.start("-i", name, "record", old, "--force", preexec_fn=limit)
        _, err = self.ended(recorder, 73)
        self.assertIn("the file that was there is kept", err)
        unchanged()
        # a process that has the old file open can still read it
        with open(old, "rb") as f:
            recorder = self.start("-i", name, "record", old, "--force")
            until(lambda: os.stat(old).st_ino != os.fstat(f.fileno()).st_ino, "the new file")
            self.assertEqual(f.read(), before)
        recorder.kill()  # the new file is as readable as any cut file
        recorder.wait()
        self.assertGreater(self.info(old)["frames"], 0)
        self.assertEqual(os.stat(old).st_mode & 0o777, 0o640)
        self.assertEqual([n for n in os.listdir(self.folder) if ".rec." in n], [])
        player.send_signal(signal.SIGINT)
        self.ended(player)

    def test_a_file_that_others_remove_or_change(self):
        def other_writes(path):
            with open(path, "r+b") as f:
                f.seek(10000)
                f.write(b"\xff" * 64)

        def replaces(path):
            with open(path + ".other", "wb") as f:
                f.write(b"x")
            os.rename(path + ".other", path)

        def copies_over(path):
            with open(path, "wb") as f:
                f.write(bytes(5000000))

        def appends(path):
            with open(path, "ab") as f:
                f.write(b"x")

        name = self.name()
        for what, does, says in (("unlinked", os.unlink, "was removed or replaced"),
                                 ("replaced", replaces, "was removed or replaced"),
                                 ("cut", lambda path: os.truncate(path, 10), "truncated or overwrote"),
                                 ("emptied", lambda path: os.truncate(path, 0), "truncated or overwrote"),
                                 ("copied over", copies_over, "truncated or overwrote"),
                                 ("appended to", appends, "truncated or overwrote"),
                                 ("written to", other_writes, "truncated or overwrote")):
            for after_s in (0, 1.3):  # the recorder ends before its next write, or at it
                with self.subTest(what, after_s=after_s):
                    path = self.path("changed.rec")
                    player, recorder = self.start_writing(name, path)
                    does(path)
                    time.sleep(after_s)
                    if recorder.poll() is None:
                        recorder.send_signal(signal.SIGINT)
                    out, err = self.ended(recorder, 73)
                    self.assertIn(says, err)
                    self.assertIn(path, err)
                    self.assertNotIn("0 lost", out)
                    player.send_signal(signal.SIGINT)
                    self.ended(player)
                    if os.path.exists(path):
                        os.unlink(path)

    def test_what_does_no_harm_to_a_file(self):
        name, path = self.name(), self.path("moved.rec")
        _, recorder = self.start_writing(name, path)
        other = self.path("elsewhere.rec")
        os.link(path, self.path("second.rec"))
        os.rename(path, other)
        os.utime(other)  # the file looks modified: it is read again, and is good
        recorder.send_signal(signal.SIGINT)
        out, _ = self.ended(recorder)
        info = self.info(other)
        self.assertTrue(info["complete"])
        self.assertIn("%d frames" % info["frames"], out)

    def test_damage_is_told_and_passed_over(self):
        made, name = self.make(40, fps=1000), self.name()
        with open(made, "r+b") as f:
            f.seek(os.path.getsize(made) // 2)
            f.write(b"\xff" * 40)
        info = self.info(made, want=65)
        self.assertIn(info["frames"], (19, 20))  # one chunk is lost
        self.assertEqual(len(info["damage"]), 1)
        r = self.ctl("info", made, want=65)
        self.assertIn("damage     ", r.stdout)
        r = self.ctl("-i", name, "replay", made)
        self.assertIn("not a whole record", r.stderr)
        self.assertIn("%d frames" % info["frames"], r.stdout)

    def test_what_is_no_recording(self):
        for content, words in ((b"", "empty"), (b"hello, world" * 50, "not a recording"),
                               (recordings.MAGIC, "header"), (b"STIXREC\n" * 50, "older stixelctl")):
            path = self.path("x.rec")
            with open(path, "wb") as f:
                f.write(content)
            for command in (["info", path], ["replay", path], ["export", path, self.path("x.mcap")]):
                r = run("stixelctl", "-i", self.name(), *command, env=self.env)
                if command[0] == "export" and "built without" in r.stderr:
                    continue
                self.assertEqual(r.returncode, 65, r.stderr)
                self.assertIn(words, r.stderr)
                self.assertIn("x.rec", r.stderr)
        self.assertEqual(self.listing(), ["x.rec"])

    def test_a_file_without_frames(self):
        made = self.make(0)
        self.assertEqual(self.info(made)["frames"], 0)
        r = self.ctl("-i", self.name(), "replay", "--loop", made, want=65)
        self.assertIn("no frame", r.stderr)

    def test_usage(self):
        """Tests usage while instances run. With two instances and no name, none is taken. This is reported only for
        valid words."""
        made = self.make(3)
        names = [self.name(), self.name()]
        players = [self.start("-i", name, "replay", made, "--loop") for name in names]
        until(lambda: all(map(self.ring, names)), "the rings")
        for args in (["record"], ["replay"], ["info"], ["record", "x", "--images", "up"],
                     ["record", "x", "--raw", "--quality", "80"], ["record", "x", "--quality", "0"],
                     ["record", "x", "--stixels-only", "--raw"], ["record", "x", "--stixels-only", "--images", "left"],
                     ["replay", "x", "--rate", "0"],
                     ["replay", "x", "--rate", "2", "--max"], ["info", "x", "--loop"],
                     ["record", "x", "--duration", "x"],
                     ["replay", "x", "--slots", "1"], ["replay", "x", "--slots", "7"], ["record", "x", "y"],
                     ["status", "--frames", "3"], ["set", "fps"], ["snapshot", "x.gif"],
                     ["endurance", "--minutes", "1", "--duration", "1"]):
            with self.subTest(args):
                r = self.ctl(*args, want=64)
                self.assertTrue(r.stderr.strip())
        self.assertIn("running: ", self.ctl("record", "x", want=1).stderr)
        for player in players:
            player.send_signal(signal.SIGINT)
            self.ended(player)

    # ---- long runs ----

    def test_a_line_on_a_terminal(self):
        made, name = self.make(600), self.name()
        player = self.start("-i", name, "replay", made, "--loop")
        until(lambda: self.ring(name), "the ring")
        master, slave = pty.openpty()
        env = dict(self.env, TERM="xterm")
        p = subprocess.Popen([CTL, "-i", name, "record", self.path("t.rec"), "--duration", "1.5",
                              "--stixels-only"], env=env, stdin=slave,
                             stdout=slave, stderr=slave)
        self.started.append(p)
        os.close(slave)
        text = b""
        while p.poll() is None or select.select([master], [], [], 0)[0]:
            try:
                text += os.read(master, 1000) if select.select([master], [], [], 0.1)[0] else b""
            except OSError:
                break
        os.close(master)
        self.assertEqual(p.wait(), 0)
        lines = text.decode().split("\r")
        self.assertTrue(any("MB/s" in line and "lost" in line and "#" in line for line in lines), text)
        self.assertIn("t.rec: ", lines[-2] + lines[-1])
        player.send_signal(signal.SIGINT)
        self.ended(player)

    def test_memory_does_not_grow(self):
        """Sends frames through every part: a pipe, replay, record into a pipe, replay. A day at 30 frames per second
        has 2592000."""
        a, b, frames = self.name(), self.name(), int(os.environ.get("SX_RECORD_FRAMES", 20000 if SANITIZED else 200000))
        began = time.monotonic()
        recorder = self.start_recorder(a, "-")
        second = self.start("-i", b, "replay", "-", "--max", stdin=recorder.stdout)
        source = subprocess.Popen([MAKE, str(frames), "1000", "1", "0", "1", "plain"], stdout=subprocess.PIPE)
        self.started.append(source)
        first = self.start("-i", a, "replay", "-", "--max", "--slots", 1024, stdin=source.stdout)
        until(lambda: self.ring(a), "the first ring")
        head = open("/dev/shm/stixeld." + a, "rb")
        self.addCleanup(head.close)

        def published():
            return struct.unpack("<Q", os.pread(head.fileno(), 8, 1024))[0]

        parts = {"replay from a file": first, "record": recorder, "replay from a pipe": second}
        until(lambda: published() > frames // 10 or first.poll() is not None, "a tenth of the frames", 600)
        early = {k: rss_kb(p.pid) for k, p in parts.items()}
        late = early
        while first.poll() is None and published() < frames:
            late = {k: rss_kb(p.pid) for k, p in parts.items()} if recorder.poll() is None else late
            time.sleep(0.05)
        self.ended(first)
        recorder.send_signal(signal.SIGINT)
        recorder.wait(timeout=120)
        err = recorder.stderr.read().decode()
        self.assertRegex(err, r"standard output: \d+ frames")
        out, _ = self.ended(second)
        self.assertGreater(int(out.split()[0]), 1000)
        print("# %d frames in %.0f s; %s; %s" % (frames, time.monotonic() - began, err.strip(), "; ".join(
            "%s: %d kB after a tenth, %d kB at the end" % (k, early[k], late[k]) for k in parts)), file=sys.stderr)
        got, lost = map(int, re.search(r"(\d+) frames in .* (\d+) lost", err).groups())
        self.assertLessEqual(got + lost, frames)
        for k in parts if not SANITIZED else ():
            self.assertLess(late[k] - early[k], 4000, "%s: %d kB, then %d kB" % (k, early[k], late[k]))


def without_chunk_indexes(data):
    """Returns the same file with a summary that has no chunk positions and no checksum."""
    parts = [(op, content[:8] + bytes(12) if op == recordings.FOOTER else content)
             for op, content in recordings.parts(data[8:]) if op != recordings.CHUNK_INDEX]
    records = [struct.pack("<BQ", op, len(content)) + content for op, content in parts]
    return recordings.MAGIC + b"".join(records) + recordings.MAGIC


def is_cut(path):
    """Returns true if the file does not end at the end of a record."""
    with open(path, "rb") as f:
        data = f.read()
    return 8 + sum(9 + len(content) for _, content in recordings.parts(data[8:])) != len(data)


if __name__ == "__main__":
    unittest.main()
