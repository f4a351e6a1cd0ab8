"""Recordings written by stixelctl: the published frames, and for a damaged file the same frames and damage as in
stixelctl.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import support
import stixel
from support import SLOW, SMALL, until

sys.path.append(os.path.join(support.SOURCE, "tests", "tools"))
import recordings  # noqa: E402

LONG = 30 * SLOW


class Case(support.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, self.top)

    def path(self, name):
        return os.path.join(self.top, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)

    def start(self, name, instance, *args, env=None, raw=True):
        args = ("--raw", *args) if raw else args
        recorder = subprocess.Popen([support.STIXELCTL, "-i", instance, "record", *args, self.path(name)], text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        self.addCleanup(lambda: (recorder.kill(), recorder.communicate()))
        return recorder

    def finish(self, name, recorder):
        out, err = recorder.communicate(timeout=LONG)
        self.assertEqual(recorder.returncode, 0, out + err)
        return self.path(name)

    def record(self, name, instance, *args, env=None):
        return self.finish(name, self.start(name, instance, *args, env=env))

    def info(self, path):
        r = subprocess.run([support.STIXELCTL, "info", "--json", path], capture_output=True, text=True, check=False)
        return json.loads(r.stdout) if r.stdout else r.stderr

    def compare(self, path, text=""):
        """Compares the result of the module with that of stixelctl."""
        info = self.info(path)
        with stixel.Recording(path) as recording:
            records = list(recording.records())
            whole = recording.end is not None
        damage = [r for r in records if isinstance(r, stixel.Damage)]
        self.assertEqual(sum(isinstance(r, stixel.Frame) for r in records), info["frames"], text)
        self.assertEqual(sum(r.lost for r in records if isinstance(r, stixel.Gap)), info["lost"], text)
        self.assertEqual(len(damage), info["damaged_places"], text)
        told = [(d["offset"], d["bytes"], d["why"]) for d in info["damage"]]  # only the first ones if there are many
        # about a file's last bytes stixelctl says only that the file was cut
        self.assertEqual([(d.offset, d.bytes, "the file ends within a record" if d.at_end else d.why)
                          for d in damage][:len(told)], told, text)
        if not damage:
            self.assertEqual(whole, info["complete"], text)
        return records


class Recordings(Case):
    def test_both_images_of_pairs(self):
        """Raw pairs are recorded for a later calibration or inspection."""
        d = self.daemon("pairs", *SMALL, "-s", "source.fps=20", "-s", "output.planes=pair")
        path = self.finish("pairs", self.start("pairs", d.name, "--frames", "5", "--images", "left,right",
                                               env=d.client()))
        with stixel.Recording(path) as recording:
            frames = list(recording)
        self.assertEqual(len(frames), 5)
        for frame in frames:
            self.assertEqual((frame.left.shape, frame.right.shape), ((96, 160), (96, 160)))
            self.assertTrue((frame.left != frame.right).any())
        # sorted by topic: no frame gets the image of another one. If images come after all frames, the last frame gets
        # its own
        for backwards, apart in ((False, 10), (True, 8)):
            recordings.sorted_by_topic(path, self.path("sorted"), backwards)
            with stixel.Recording(self.path("sorted")) as recording:
                again = list(recording)
            self.assertEqual([f.left is None and f.right is None for f in again], 4 * [True] + [not backwards])
            if backwards:
                self.assertTrue((again[4].left == frames[4].left).all() and (again[4].right == frames[4].right).all())
            self.assertEqual(self.info(self.path("sorted"))["images_apart"], apart)

    @staticmethod
    def inside(data):
        """Yields (kind, content) of consecutive MCAP records."""
        at = 0
        while at + 9 <= len(data):
            op, size = struct.unpack_from("<BQ", data, at)
            yield op, data[at + 9:at + 9 + size]
            at += 9 + size

    def calibrations(self, path, topic):
        """Returns fx of the topic's messages, in order: 9 doubles follow the tag of field 6 (K) and a length."""
        found, wanted = [], None
        with open(path, "rb") as f:
            data = f.read()
        for chunk in (content for op, content in self.inside(data[8:-8]) if op == 6):
            for kind, record in self.inside(chunk[40:]):  # the chunk is not compressed
                if kind == 4 and b"/" + topic + struct.pack("<I", 8) + b"protobuf" in record:
                    wanted = record[:2]
                elif kind == 5 and record[:2] == wanted:
                    found.append(struct.unpack_from("<d", record, record.index(b"\x32\x48") + 2)[0])
        return found

    def test_a_calibration_that_changes(self):
        """Each frame has its own calibration. Viewers find each calibration in the channels beside the images, and they
        find the point from which there is none."""
        for side in ("left", "right"):
            self.write(side + ".pgm", b"P5\n64 48\n255\n" + random.Random(side).randbytes(64 * 48))
        d = self.daemon("moved", "-s", "source.kind=files", "-s", "source.left=" + self.path("left.pgm"), "-s",
                        "source.right=" + self.path("right.pgm"), "-s", "source.loop=yes", "-s", "source.fps=30", "-s",
                        "stereo.disparities=32", "-s", "engine.threads=1")
        recorder = self.start("moved", d.name, env=d.client())
        self.write("cal", b"fx: 60\nfy: 60\ncx: 32\ncy: 24\nbaseline_m: 0.25\n")
        until(lambda: os.path.exists(self.path("moved")), LONG, "file")
        changes = [(0, 721.5)]
        for fx, order in ((60, ["calibration=" + self.path("cal")]),
                          (0, ["calibration=", "fx=0", "fy=0", "baseline_m=0"]),
                          (50, ["fx=50", "fy=50", "baseline_m=1"])):
            seen = d.status()["frames"]["published"]
            d.until_published(seen + 3)
            code, said = d.order(*("camera." + o for o in order))
            self.assertEqual(code, 200, said)
            changes.append((int(said.rpartition("from frame ")[2].split()[0]), fx))
        d.until_published(changes[-1][0] + 3)
        recorder.send_signal(signal.SIGINT)
        path = self.finish("moved", recorder)
        records = self.compare(path)
        frames = [r for r in records if isinstance(r, stixel.Frame)]
        for f in frames:
            self.assertEqual((f.number, f.camera.fx), (f.number, [fx for n, fx in changes if n <= f.number][-1]))
        self.assertLess(frames[0].number, changes[1][0])
        for topic in (b"calibration", b"calibration_right"):
            self.assertEqual(self.calibrations(path, topic), [fx for _, fx in changes])

    def test_images_as_jpeg(self):
        """The usual recording has the same frames as one without loss, and images that differ by little."""
        d = self.daemon("jpeg", *SMALL, "-s", "source.fps=20", "-s", "output.planes=pair")
        recorders = {name: self.start(name, d.name, "--frames", "15", env=d.client(), raw=name == "raw")
                     for name in ("raw", "jpeg")}
        found = {}
        for name, recorder in recorders.items():
            path = self.finish(name, recorder)
            with stixel.Recording(path) as recording:
                found[name] = {f.number: f for f in recording}
        if not self.info(self.path("jpeg"))["jpeg_images"]:
            self.skipTest("built without libjpeg")
        self.assertEqual(self.info(self.path("jpeg"))["jpeg_images"], 30)
        self.assertLess(os.path.getsize(self.path("jpeg")) * 3, os.path.getsize(self.path("raw")))
        both = found["raw"].keys() & found["jpeg"].keys()
        self.assertGreater(len(both), 5)
        for number in both:
            a, b = found["raw"][number], found["jpeg"][number]
            self.assertEqual((a.stixels.tobytes(), a.header["checksum"]), (b.stixels.tobytes(), b.header["checksum"]))
            for which in ("left", "right"):
                before, after = getattr(a, which).astype(int), getattr(b, which).astype(int)
                self.assertTrue((before != after).any())
                self.assertLess(abs(before - after).mean(), 4)

        try:
            import PIL  # noqa: F401
        except ImportError:
            return
        # the library of a wheel has no decoder
        with unittest.mock.patch.object(stixel._recording._Walk, "_has_decoder", lambda self: False):
            with stixel.Recording(self.path("jpeg")) as recording:
                for frame in recording:
                    known = found["jpeg"][frame.number]
                    self.assertLess(abs(frame.left.astype(int) - known.left).max(), 3)
                    self.assertLess(abs(frame.right.astype(int) - known.right).max(), 3)

    def test_the_frames_that_were_published(self):
        d = self.daemon("record", *SMALL, "-s", "source.fps=20")
        plain = self.start("plain", d.name, "--frames", "20", env=d.client())
        packed = self.start("packed", d.name, "--frames", "20", "--compress", "--images", "left,disparity",
                            env=d.client())
        seen = {}
        with stixel.open(d.name) as reader:
            for frame in reader:
                seen[frame.number] = frame
                if plain.poll() is not None and packed.poll() is not None:
                    break
        for name, recorder in (("plain", plain), ("packed", packed)):
            path = self.finish(name, recorder)
            self.compare(path)
            with stixel.Recording(path) as recording:
                self.assertEqual((recording.instance, recording.recorder),
                                 (d.name, "stixelctl " + os.environ["STIXEL_VERSION"]))
                self.assertIn(d.name, repr(recording))
                frames = list(recording)
                self.assertEqual(len(frames), 20)
                next(iter(recording))  # iteration that stops early
                # iteration from the start again
                self.assertEqual([f.number for f in recording], [f.number for f in frames])
                self.assertTrue(all(a.raw == b.raw == c.raw for a, b, c in zip(recording, recording, frames)))
                lost = sum(r.lost for r in recording.records() if isinstance(r, stixel.Gap))
                # frames lost at the end are not followed by a frame
                self.assertLessEqual(sum(f.missed for f in frames), lost)
                self.assertEqual(recording.end, (20, lost, 1, frames[0].published_ns, frames[-1].published_ns))
                life, = (r for r in recording.records() if isinstance(r, stixel.Life))
                self.assertEqual(life, (frames[0].epoch, d.process.pid, os.environ["STIXEL_VERSION"], None))
                self.assertLess(abs(recording.anchor_realtime_ns - frames[0].captured_at.timestamp() * 1e9), 60e9)
            both = [f for f in frames if f.number in seen]
            self.assertGreater(len(both), 10)
            for f in both:
                self.assertEqual(f.stixels.tobytes(), seen[f.number].stixels.tobytes())
            if name == "packed":
                self.assertIsNotNone(frames[-1].left)
                self.assertEqual(frames[-1].disparity.shape, (96, 160))
                self.without_images(frames[-1])

    def without_images(self, frame):
        """Returns the bytes of the frame after a tool has removed its images."""
        data = frame.raw[:struct.unpack_from("<I", frame.raw, 272)[0]]
        pair = struct.pack("<I6sI6s", 6, b"stixel", 6, b"stixel")
        channel = struct.pack("<HHI9sI6sI", 1, 0, 9, b"/x/stixel", 6, b"stixel", len(pair)) + pair
        message = struct.pack("<HIQQ", 1, 0, 1, 1) + data
        head = b"".join([b"\x89MCAP0\r\n", struct.pack("<BQQ", 1, 8, 0), struct.pack("<BQ", 4, len(channel)), channel])
        data = head + struct.pack("<BQ", 5, len(message)) + message
        bare, = self.compare(self.write("bare", data))
        self.assertEqual(bare.stixels.tobytes(), frame.stixels.tobytes())
        self.assertIsNone(bare.left)
        self.assertEqual(bare.number, frame.number)
        # damage after the frame does not remove the frame, and damage inside the frame is reported at the frame's
        # position
        before, damage = self.compare(self.write("before", data + bytes(50)))
        self.assertEqual((before.raw, damage[:2]), (bare.raw, (len(data), 50)))
        odd, = self.compare(self.write("odd", data[:-1] + bytes([data[-1] ^ 1])))
        self.assertEqual(odd, (len(head), 9 + len(message), "a frame contradicts itself", False))

    def test_two_lives_and_what_was_lost(self):
        name = "test-python-lives-%d" % os.getpid()
        first = self.publisher(100000, 200, name)
        recorder = self.start("lives", name)
        until(lambda: len(self.so_far("lives")) > 20, LONG, "frames of the first")
        first.kill()
        second = self.publisher(300, 3000, name)  # published in bursts that eight slots cannot hold
        until(lambda: self.so_far("lives")[-1].number == 300, LONG, "the last frame of the second")
        recorder.send_signal(signal.SIGINT)
        path = self.finish("lives", recorder)
        second.kill()
        records = self.compare(path)
        with stixel.Recording(path) as recording:
            frames = list(recording)
        self.assertEqual(len({f.epoch for f in frames}), 2)
        last = [f for f in frames if f.epoch == frames[-1].epoch]
        self.assertEqual(last[-1].number, 300)
        self.assertEqual(sum(f.missed + 1 for f in last[1:]), 300 - last[0].number)
        for r in records:
            if isinstance(r, stixel.Gap):
                self.assertEqual(r.reason, stixel.GapReason.OVERRUN)

    def so_far(self, name):
        """Returns everything that can be read while the recording is being written."""
        try:
            with stixel.Recording(self.path(name)) as recording:
                return list(recording)
        except (FileNotFoundError, stixel.NotStixel):  # the file does not exist yet, or has no header yet
            return []

    def test_by_time(self):
        p = self.publisher(100000, 1000)
        path = self.record("long", p.name, "--frames", "1200")
        with stixel.Recording(path) as recording:
            frames = list(recording)
            times = [f.published_ns for f in frames]
            self.assertEqual(len(frames), 1200)
            # times of these frames are random. Tested are the times that the index can decide: the first one, and a
            # time after all frames
            self.assertEqual(next(recording.frames(min(times) - 1)).raw, frames[0].raw)
            self.assertEqual([f.raw for f in recording.frames(max(times) + 1)], [frames[-1].raw])
        with open(path, "rb") as f:
            data = f.read()
        with stixel.Recording(self.write("cut", data[:-8])) as recording:
            self.assertIsNone(recording.end)
            with self.assertRaisesRegex(stixel.StixelError, "cut has no index: it was not finished"):
                next(recording.frames(5))
            self.assertEqual(len(list(recording)), 1200)

    def test_by_time_of_a_daemon(self):
        d = self.daemon("seek", *SMALL, "-s", "source.fps=60", "-s", "semantics.source=nobody", "-s",
                        "semantics.classes=road:ground tree")
        path = self.record("seek", d.name, "--frames", "90", env=d.client())
        with stixel.Recording(path) as recording:
            later = next(recording.frames(1 << 62))
            self.assertEqual(later.classes, ("road", "tree"))
            lives = [r for r in recording.records() if isinstance(r, stixel.Life)]
            self.assertEqual([life.classes for life in lives], [("road", "tree")])
            frames = list(recording)
            self.assertEqual({f.classes for f in frames}, {("road", "tree")})
            for n in (0, 1, 50, 89):
                self.assertEqual(next(recording.frames(frames[n].published_ns)).number, frames[n].number)
            self.assertEqual(next(recording.frames(frames[50].published_ns - 1)).number, frames[49].number)
            self.assertEqual(len(list(recording.frames(frames[70].published_ns))), 20)
            self.assertEqual(next(recording.frames(0)).number, frames[0].number)
            self.assertEqual(next(recording.frames(1 << 62)).number, frames[-1].number)


class Damage(Case):
    def setUp(self):
        super().setUp()
        p = self.publisher(100000, 150)
        # a pipe, into which a chunk is written every tenth of a second
        recorder = subprocess.run([support.STIXELCTL, "-i", p.name, "record", "-", "--frames", "60"],
                                  capture_output=True, check=True)
        self.data = recorder.stdout
        self.places = [at for at, op, _ in self.heads() if op == 6]
        self.assertGreater(len(self.places), 3)

    def heads(self):
        at = 8
        while at + 9 <= len(self.data) - 8:
            op, size = struct.unpack_from("<BQ", self.data, at)
            yield at, op, size
            at += 9 + size

    def test_cut_anywhere(self):
        lot = random.Random(3)
        ends = [at + 9 + size for at, _, size in self.heads()]
        for size in [len(self.data) - n for n in (1, 8, 9, 36, 37, 38)] + ends[::5] + [
                lot.randrange(300, len(self.data)) for _ in range(25)]:
            records = self.compare(self.write("cut", self.data[:size]), size)
            if size not in ends:
                self.assertTrue(records[-1].at_end, size)

    def test_rubbish_between(self):
        at = self.places[1]
        rubbish = b"x" * 400000 + b"\x06" * 100
        records = self.compare(self.write("between", self.data[:at] + rubbish + self.data[at:]))
        self.assertEqual([r for r in records if isinstance(r, stixel.Damage)],
                         [(at, 400100, "the head of a record is damaged", False)])

    def test_long_damage_is_left_when_asked_to(self):
        path = self.write("long", self.data[:-8])
        os.truncate(path, 200 << 30)  # takes no disk space, but minutes to read
        program = ("import sys, stixel\ntry: print(len(list(stixel.Recording(sys.argv[1]))))\n"
                   "except KeyboardInterrupt: sys.exit('stopped')")
        for command in ([support.STIXELCTL, "info", path], [support.STIXELCTL, "export", path, self.path("out.mcap")],
                        [sys.executable, "-c", program, path]):
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env=dict(os.environ, PYTHONPATH=support.MODULE)) as p:
                self.addCleanup(p.kill)
                until(lambda pid=p.pid: self.has_read(pid, len(self.data) + (64 << 20)), LONG, "long damage")
                p.send_signal(signal.SIGINT)
                err = p.communicate(timeout=LONG)[1]
            self.assertEqual(p.returncode, 1, err)
            self.assertIn("stopped", err)

    @staticmethod
    def has_read(pid, count):
        with open("/proc/%d/io" % pid, encoding="ascii") as f:
            return int(f.readline().split()[1]) > count

    def test_names_that_are_no_text(self):
        at = self.data.index(b"stixelctl ") + 10
        data = self.data[:at] + b"\x1b[\xff" + self.data[at + 3:]
        path = os.path.join(os.fsencode(self.top), b"odd-\xe9.mcap")
        with open(path, "wb") as f:
            f.write(data)
        info = self.info(path)
        self.assertEqual((info["frames"], info["recorder"]), (60, "stixelctl ?[?" + os.environ["STIXEL_VERSION"][3:]))
        self.assertTrue(info["file"].endswith("/odd-?.mcap"), info)
        told = subprocess.run([support.STIXELCTL, "info", path], capture_output=True, check=False).stdout
        self.assertNotIn(b"\x1b", told)

    def test_two_in_one(self):
        path = self.write("two", self.data + self.data)
        with stixel.Recording(path) as recording:
            records = list(recording.records())
        self.assertEqual(sum(isinstance(r, stixel.Frame) for r in records), 120)
        self.assertFalse(any(isinstance(r, stixel.Damage) for r in records))
        self.assertEqual((self.info(path)["frames"], self.info(path)["complete"]), (120, True))

    def test_no_recordings(self):
        foreign = b"\x89MCAP0\r\n" + struct.pack("<BQII", 1, 8, 0, 0) + struct.pack("<BQI", 15, 4, 0)
        start = len(foreign)
        foreign += struct.pack("<BQHHI4sII", 4, 20, 1, 0, 4, b"/car", 0, 0)
        foreign += struct.pack("<BQQQI", 2, 20, start, 0, 0) + b"\x89MCAP0\r\n"
        for name, data, kind, text in (
                ("empty", b"", stixel.NotStixel, "empty is empty: not a recording"),
                ("text", b"x" * 5000, stixel.NotStixel, "text is not a recording: no MCAP file"),
                ("short", self.data[:30], stixel.NotStixel, "ends within its header"),
                ("old", b"STIXREC\n" + bytes(500), stixel.NotStixel, "of an older stixelctl"),
                ("foreign", foreign, stixel.NotStixel, "an MCAP file without frames of stixeld")):
            with self.assertRaisesRegex(kind, text):
                stixel.Recording(self.write(name, data))
            told = subprocess.run([support.STIXELCTL, "info", self.path(name)], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(told.returncode, 65)
            self.assertRegex(told.stderr, text)
        with self.assertRaises(FileNotFoundError):
            stixel.Recording(self.path("nowhere"))
        os.mkfifo(self.path("pipe"))
        with self.assertRaisesRegex(stixel.NotSupported, "pipe is not a plain file"):
            stixel.Recording(self.path("pipe"))


class Library(support.TestCase):
    def test_its_absence_is_said(self):
        program = ("import sys, stixel\ntry: stixel.Recording(sys.executable)\n"
                   "except stixel.LibraryError as e: print(e)")
        out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                             env=dict(os.environ, STIXEL_RECORDING_LIBRARY="/nowhere.so", PYTHONPATH=support.MODULE))
        self.assertRegex(out.stdout, "^/nowhere.so cannot be loaded .* in the environment as STIXEL_RECORDING_LIBRARY="
                                     "/path/to/libstixel-recording.so.1\n$")


if __name__ == "__main__":
    unittest.main()
