# Tests settings that change while frames continue, by requests to the status socket and by SIGHUP. Uses the source and
# the engine of fake.c, and the cpu engine.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

from harness import FAKE, IDLE, SANITIZED, SMALL, TestCase, receive, until

ARGS = ["-s", "source.kind=synthetic", "-s", "stixels.width=4", "-s", "output.slots=1024"]
# EASY has no pace and runs as fast as frames are computed, so no load of the machine makes it drop a pair. PACED may
# drop pairs.
EASY = {"interval_us": 0, "compute_us": 4000}
PACED = {"interval_us": 150000, "compute_us": 1000}


class Live(TestCase):
    def fake(self, *args, **env):
        i = self.instance(binary=FAKE)
        i.start(*ARGS, *args, env={"FAKE_" + k.upper(): v for k, v in dict(EASY, **env).items()})
        return i

    def changed(self, i, *changes):
        """Requests the changes and returns the first frame with them."""
        code, text = i.order(*changes)
        self.assertEqual(code, 200, text)
        return int(re.search(r"from frame (\d+) on", text).group(1))

    def settings(self, i):
        return json.loads(i.http("/settings")[2])

    def value(self, i, key):
        row = self.settings(i)["keys"][key]
        return row["value"], row["from"]

    def without_gap(self, frames):
        """Checks that frame numbers and pair numbers have no gap: no pair was lost."""
        self.assertEqual([f.number for f in frames], list(range(frames[0].number, frames[0].number + len(frames))))
        self.assertEqual([f.pair for f in frames], list(range(frames[0].pair, frames[0].pair + len(frames))))
        self.assertEqual(len({f.epoch for f in frames}), 1)


class Changes(Live):
    def test_at_one_frame_boundary(self):
        for contexts in (1, 2, 4):
            with self.subTest(contexts=contexts):
                # Frames in flight finish out of order with jitter. Still no frame mixes both settings.
                i = self.fake("-s", "engine.contexts=%d" % contexts, compute_us=2000 if contexts == 1 else 6000,
                              jitter_us=0 if contexts == 1 else 8000)
                i.until_published(5)
                ring = i.ring()
                first = self.changed(i, "stixels.width=8")
                second = self.changed(i, "stixels.width=16", "filters.median=yes")
                i.until_published(second + 5)
                self.assertEqual(i.stop(), 0)
                frames = ring.frames()
                self.without_gap(frames)
                for f in frames:
                    width = 4 if f.number < first else 8 if f.number < second else 16
                    self.assertEqual((f.number, f.column_width, f.columns), (f.number, width, 64 // width))
                self.assertGreater(second, first)

    def test_vehicle(self):
        """Each frame has the vehicle's limits (step and height). Without a setting, the step follows the camera's
        height."""
        i = self.fake()
        i.until_published(3)
        ring = i.ring()
        low = self.changed(i, "camera.height_m=0.55")
        given = self.changed(i, "vehicle.step_m=0.12", "vehicle.height_m=0.7")
        code, text = i.order("vehicle.step_m=0.8")
        self.assertEqual((code, "vehicle.step_m = 0.8 must be below vehicle.height_m = 0.7" in text), (422, True), text)
        i.until_published(given + 3)
        self.assertEqual(i.stop(), 0)
        for f in ring.frames():
            want = (0.15, 2.0) if f.number < low else (0.05, 2.0) if f.number < given else (0.12, 0.7)
            for got, number in zip(f.vehicle, want):
                self.assertAlmostEqual(got, number, 12)

    def test_many_in_a_row(self):
        i = self.fake("-s", "engine.contexts=3", compute_us=6000, jitter_us=6000)
        ring = i.ring()
        stream = self.stream(i)
        i.until_published(3)
        widths = {}
        for n in range(30):
            width = (8, 16, 32, 4)[n % 4]
            widths[self.changed(i, "stixels.width=%d" % width)] = width
        self.assertEqual(i.stop(), 0)
        frames = ring.frames()
        self.without_gap(frames)
        width = 4
        for f in frames:
            width = widths.get(f.number, width)
            self.assertEqual((f.number, f.column_width), (f.number, width))
        self.assertGreater(len(widths), 10)  # several changes may fall between two frames
        # readers of the stream see the same frames
        for f in receive(stream):
            self.assertEqual(f.columns * f.column_width, 64)

    def test_no_pair_of_a_camera_is_dropped(self):
        i = self.fake(build_us=100000, **PACED)
        ring = i.ring()
        i.until_published(3)
        for n in range(6):
            self.changed(i, "stixels.width=%d" % (8, 4)[n % 2])
        self.assertEqual(i.stop(), 0)
        self.without_gap(ring.frames())
        self.assertEqual(ring.frames()[-1].overload, 0)

    def test_served_while_contexts_are_made(self):
        i = self.fake("-s", "engine.contexts=2", build_us=250000)
        i.until_published(3)
        ring, answers = i.ring(), []
        threads = [threading.Thread(target=lambda w=w: answers.append(i.order("stixels.width=%d" % w)))
                   for w in (8, 16)]
        began = i.status()["frames"]["published"]
        for t in threads:
            t.start()
        asked = 0
        while any(t.is_alive() for t in threads):
            before = time.monotonic()
            i.status()
            if IDLE:
                self.assertLess(time.monotonic() - before, 0.2)
            asked += 1
            time.sleep(0.02)
        self.assertGreater(asked, 5)
        self.assertEqual([code for code, _ in answers], [200, 200])  # requests are processed one after the other
        after = i.status()["frames"]["published"]
        self.assertGreater(after, began + 20)
        i.until_published(after + 3)
        self.assertEqual(i.stop(), 0)
        frames = ring.frames()
        self.without_gap(frames)
        self.assertEqual(len({f.column_width for f in frames}), 3)

    def test_ended_while_contexts_are_made(self):
        i = self.fake(build_us=700000)
        i.until_published(3)
        answers = []
        t = threading.Thread(target=lambda: answers.append(i.order("stixels.width=8")))
        t.start()
        until(lambda: "contexts" in i.threads(), 30, "contexts that are made")
        self.assertEqual(i.stop(), 0)
        t.join()
        code, text = answers[0]
        self.assertTrue(code in (200, 503), (code, text))
        if code == 503:
            self.assertIn("nothing was changed", text)
        self.assertEqual(i.leftovers(), [])

    def test_without_a_camera(self):
        i = self.fake(absent=1000000)
        code, text = i.order("stixels.width=8")
        self.assertEqual((code, text), (200, "stixels.width = 8 (was 4)\nfrom frame 1 on\n"))
        code, text = i.order("source.gain=5", "stixels.width=16")
        self.assertEqual((code, text), (503, "the camera is absent, and only it can tell what it takes\n"))
        self.assertEqual(self.value(i, "stixels.width")[0], "8")
        self.assertEqual(i.stop(), 0)

    def test_camera_comes_back(self):
        # A lost camera reopens with the current controls. If its size has changed, the pipeline is created for the
        # current settings.
        i = self.fake("-s", "source.gain=1", lose_at=100, width_after=128)
        ring = i.ring()
        i.until_published(3)
        self.assertEqual(i.order("stixels.width=8", "source.gain=7", "log.levels=debug")[0], 200)
        until(lambda: "rebuilding the pipeline" in i.text(), 30, "another camera")
        i.until_published(120)
        frames = [f for f in ring.frames()] + i.ring().frames()
        self.assertEqual({(f.width, f.columns) for f in frames if f.column_width == 8}, {(64, 8), (128, 16)})
        self.changed(i, "stixels.width=16")
        self.assertEqual(i.stop(), 0)

    def test_controls(self):
        i = self.fake()
        i.until_published(2)
        code, text = i.order("source.exposure_ms=8", "source.gain=4", "source.controls=brightness=7, hue=1")
        self.assertEqual((code, text), (200, "source.exposure_ms = 8 (was -1)\nsource.gain = 4 (was -1)\n"
                                             "source.controls = brightness=7, hue=1 (was empty)\n"))
        self.assertIn("fake: exposure 8, gain 4, controls 'brightness=7, hue=1'", i.text())
        code, text = i.order("source.gain=666", "stixels.width=8")
        self.assertEqual((code, text), (422, "fake: gain = 666: the camera takes 0 to 100\n"))
        self.assertEqual(self.value(i, "source.gain"), ("4", "set source.gain=4"))
        self.assertEqual(self.value(i, "stixels.width")[0], "4")
        n = i.status()["frames"]["published"]
        i.until_published(n + 3)
        self.assertEqual({f.column_width for f in i.ring().frames()}, {4})
        # this change builds nothing and sends nothing to the camera
        before = i.text().count("fake: exposure")
        code, text = i.order("log.levels=debug")
        self.assertEqual((code, text), (200, "log.levels = debug (was info)\n"))
        self.assertEqual(i.text().count("fake: exposure"), before)
        self.assertEqual(i.stop(), 0)

    def test_each_class_of_keys(self):
        """The daemon applies each key's change in the way that /settings states. The test takes one key of each
        class."""
        i = self.fake()
        i.until_published(2)
        for change, order in (("nothing", "log.levels=debug"), ("controls", "source.gain=5"),
                              ("contexts", "filters.median=yes"), ("rows", "camera.row_correction=auto"),
                              ("calibration", "camera.cx=600"), ("camera", "camera.pitch_deg=1"),
                              ("restart", "output.slots=4")):
            with self.subTest(change):
                self.assertEqual(self.settings(i)["options"][order.split("=")[0]]["change"], change)
                told = i.text().count("fake: exposure")
                code, text = i.order(order)
                self.assertEqual(code, 422 if change == "restart" else 200, text)
                self.assertEqual("from frame" in text, change in ("contexts", "camera", "calibration"), text)
                self.assertEqual(i.text().count("fake: exposure") - told, 1 if change == "controls" else 0)
                mark = "the camera was changed (%s)" % order.split("=")[0]
                if change in ("camera", "calibration", "rows"):
                    until(lambda m=mark: m in str(i.status()["reason"]), 30, mark)
                else:
                    self.assertNotIn(mark, str(i.status()["reason"]))
        self.assertEqual(i.order("camera.row_correction=off")[0], 200)
        self.assertEqual(i.stop(), 0)

    def test_controls_when_the_source_has_ended(self):
        i = self.fake("--frames", "1000", pairs=5)
        self.assertEqual(i.wait(), 0)
        i = self.fake(interval_us=0, compute_us=400000, pairs=5)
        i.until_published(1)
        time.sleep(0.1)
        self.assertIn(i.order("source.gain=3")[0], (200, 503))
        self.assertEqual(i.wait(), 0)

    def test_by_the_files(self):
        i = self.instance(binary=FAKE)
        path = os.path.join(i.top, "c.conf")

        def write(text):
            with open(path, "w") as f:
                f.write("[source]\nkind = synthetic\n" + text)
        write("[stixels]\nwidth = 4\n[output]\nslots = 1024\n")
        i.start("-c", path, env={"FAKE_" + k.upper(): v for k, v in EASY.items()},
                notify=True)
        ring = i.ring()
        i.until_published(3)
        self.changed(i, "filters.median=yes", "stixels.width=16")
        self.assertEqual(self.value(i, "stixels.width"), ("16", "set stixels.width=16"))
        config = json.loads(i.http("/config")[2])
        self.assertEqual([k for s in config.values() for k, v in s.items() if v["live"]], ["median", "width"])
        self.assertEqual(self.settings(i)["configured"], {"filters.median": "no", "stixels.width": "4"})
        write("[filters]\nsmooth = no\n[stixels]\nwidth = 8\n[output]\nslots = 4\n")
        i.process.send_signal(signal.SIGHUP)
        text = until(lambda: "needs a restart" in i.text() and i.text(), 30, "reloaded")
        self.assertIn("reloaded, changed: filters.median, filters.smooth, stixels.width, from frame ", text)
        self.assertIn("not applied, needs a restart: output.slots", text)
        # the reload drops live settings: the files apply
        self.assertEqual(self.value(i, "stixels.width"), ("8", path + ":6"))
        self.assertEqual(self.value(i, "filters.median"), ("no", "default"))
        self.assertEqual(self.value(i, "output.slots")[0], "1024")
        self.assertEqual(self.settings(i)["configured"], {})
        config = json.loads(i.http("/config")[2])
        self.assertEqual([k for s in config.values() for k, v in s.items() if v["live"]], [])
        # later live settings apply on top of this file
        self.assertEqual(i.order("road.top=20")[0], 200)
        self.assertEqual(i.order("filters.smooth=yes")[0], 200)
        self.assertEqual(self.settings(i)["configured"], {"filters.smooth": "no", "road.top": "33"})
        self.assertEqual(i.order("filters.smooth=no")[0], 200)
        # the settings are too large for the ring, so none of the file's settings apply
        write("[filters]\nsmooth = yes\n[stixels]\nwidth = 1\n")
        i.process.send_signal(signal.SIGHUP)
        until(lambda: "reload refused" in i.text(), 30, "refused")
        self.assertIn("stixels.width = 1 and stixels.max_per_column = 128 need a restart", i.text())
        self.assertEqual(self.value(i, "filters.smooth")[0], "no")
        n = i.status()["frames"]["published"]
        i.until_published(n + 3)
        self.assertEqual(i.stop(), 0)
        self.without_gap(ring.frames())
        self.assertEqual({f.column_width for f in ring.frames()}, {4, 16, 8})

    def test_what_it_says_of_keys(self):
        """/settings has what a program needs to show the keys. The answer lists every key, and each default is
        allowed."""
        answer = self.settings(self.fake())
        options, keys = answer["options"], answer["keys"]
        self.assertEqual(list(options), list(keys))
        self.assertEqual(list(answer["sections"]), list(dict.fromkeys(k.split(".")[0] for k in keys)))
        self.assertEqual(options["stixels.width"], {"kind": "int", "allowed": "1..32 px", "min": 1, "max": 32,
                                                    "unit": "px", "change": "contexts",
                                                    "help": "width of a stixel column"})
        self.assertEqual(options["stixels.reduction"]["words"], ["median", "mean"])
        self.assertEqual(options["source.seed"]["max"], 4294967295)
        for key, o in options.items():
            initial = keys[key]["default"]
            self.assertTrue(o["help"], key)
            self.assertIn(o["kind"], ("bool", "int", "real", "text", "choice", "size"))
            if o["kind"] == "choice":
                self.assertIn(initial or o["words"][0], o["words"], key)
            elif o["kind"] in ("int", "real"):
                self.assertTrue(o["min"] <= float(initial) <= o["max"], key)


class Refusals(Live):
    def setUp(self):
        self.i = self.fake("-s", "log.levels=debug", contexts_most=4)
        self.i.until_published(2)

    def refused(self, code, sentences, *changes):
        before = json.loads(self.i.http("/settings")[2])
        self.assertEqual(self.i.order(*changes), (code, "".join(s + "\n" for s in sentences)))
        self.assertEqual(json.loads(self.i.http("/settings")[2]), before)
        n = self.i.status()["frames"]["published"]
        self.i.until_published(n + 3)
        self.assertEqual({f.column_width for f in self.i.ring().frames()}, {4})

    def tearDown(self):
        ring = self.i.ring()
        self.assertEqual(self.i.stop(), 0)
        self.without_gap(ring.frames())

    def test_values(self):
        # the refusal has all sentences that a file would get; the valid changes do not apply either
        self.refused(422, [
            "set stixels.width=33: [stixels] width: found '33', allowed 1..32 px",
            "set stixels.p_order=x: [stixels] p_order: found 'x' (not a number), allowed 1e-06..0.999999",
            "set stixels.widht=3: [stixels] widht: unknown key, did you mean width?",
            "set stixel.width=3: unknown section [stixel], did you mean [stixels]?",
            "set width=3: expected SECTION.KEY=VALUE, did you mean stixels.width?",
            "set rubbish: expected SECTION.KEY=VALUE"],
            "filters.median=yes", "stixels.width=33", "stixels.p_order=x", "stixels.widht=3", "stixel.width=3",
            "width=3", "rubbish")

    def test_values_that_contradict(self):
        self.refused(422, ["stereo.p1 = 100 and stereo.p2 = 60: p1 must be at least 1 and at most p2"],
                     "stereo.p1=100", "stixels.width=8")
        self.refused(422, ["set source.gain=-0.5: [source] gain: found -0.5, allowed -1 (unchanged), 0 or more"],
                     "source.gain=-0.5")
        self.refused(422, ["set log.levels=loud: [log] levels: " + self.log_words()], "log.levels=loud")

    def log_words(self):
        r = self.i.run_once("-s", "source.kind=synthetic", "-s", "log.levels=loud", "--check-config")
        return r[2].split("[log] levels: ")[1].strip()

    def test_keys_that_need_a_restart(self):
        self.refused(422, ["set output.slots=4: [output] slots: needs a restart: change it in a file",
                           "set stereo.disparities=64: [stereo] disparities: needs a restart: change it in a file"],
                     "stixels.width=8", "output.slots=4", "stereo.disparities=64")

    def test_frames_that_the_ring_has_no_room_for(self):
        code, text = self.i.order("stixels.width=2")
        self.assertEqual(code, 409)
        self.assertRegex(text, r"^stixels.width = 2 and stixels.max_per_column = 128 need a restart: a frame could "
                               r"have 32 columns and \d+ bytes, and the ring was made for \d+\n$")
        # the ring has room for the same number of stixels on more columns
        self.assertEqual(self.i.order("stixels.width=3", "stixels.max_per_column=24")[0], 200)
        self.assertEqual(self.i.order("stixels.width=4")[0], 200)

    def test_what_the_engine_has_not(self):
        self.refused(422, ["fake: no slanted-exact"], "stixels.method=slanted-exact", "stixels.width=8")

    def test_no_memory(self):
        self.i.close()
        # two contexts run, and there is room for one more
        self.i = self.fake("-s", "engine.contexts=2", contexts_most=3)
        self.i.until_published(2)
        self.refused(507, ["fake: no memory for 64x48"], "stixels.width=8")

    def test_bodies(self):
        self.refused(422, ["set: expected SECTION.KEY=VALUE, one a line"])
        self.refused(413, ["the request is too long"], "stixels.width=" + "8" * 20000)
        self.refused(422, ["set: more than 256 keys at once"], *["stixels.width=8"] * 257)
        text = self.i.order("stixels.width=" + "8" * 2000)
        self.assertEqual(text[0], 422)
        self.i.raw(b"POST /settings HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nstixels", 7)  # never the rest
        self.assertEqual(self.i.http("/settings", "PUT")[0], 405)
        self.assertEqual(self.i.http("/status", "POST")[0], 405)
        # a client that leaves before its answer changes nothing for the other clients
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
            s.connect(self.i.status_path)
            s.sendall(b"POST /settings HTTP/1.1\r\nHost: x\r\nContent-Length: 17\r\n\r\nfilters.median=no")
        self.assertEqual(self.i.order("filters.left_right=3")[0], 200)


class Rights(Live):
    OTHER = 65534

    def ask(self, i, uid, gid, groups):
        """Sends a request from a process of this user and these groups. Returns (status, body)."""
        code = ("import os, socket, sys; os.setgroups([int(g) for g in sys.argv[4].split()]); "
                "os.setgid(int(sys.argv[3])); os.setuid(int(sys.argv[2])); "
                "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); "
                "s.sendall(b'POST /settings HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n"
                "Content-Length: 16\\r\\n\\r\\nfilters.median=1'); d = b''.join(iter(lambda: s.recv(4096), b'')); "
                "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(b'GET /healthz HTTP/1.1\\r\\n"
                "Host: x\\r\\nConnection: close\\r\\n\\r\\n'); assert b' 200 ' in s.recv(4096); "
                "sys.stdout.buffer.write(d)")
        r = subprocess.run([sys.executable, "-c", code, i.status_path, str(uid), str(gid), groups],
                           stdout=subprocess.PIPE, check=True, timeout=30)
        head, _, body = r.stdout.partition(b"\r\n\r\n")
        return int(head.split()[1]), body.decode()

    @unittest.skipIf(os.getuid() != 0, "needs root, to be somebody else")
    def test_who_may(self):
        i = self.fake()
        i.until_published(2)
        # The permissions are as if the socket were open to all users. Permission to read does not include permission to
        # change settings.
        for folder in (i.top, i.run, os.path.dirname(i.status_path)):
            os.chmod(folder, 0o755)
        os.chmod(i.status_path, 0o666)
        own = os.stat(i.status_path).st_gid
        code, text = self.ask(i, self.OTHER, self.OTHER, "")
        self.assertEqual(code, 403)
        self.assertRegex(text, r"^not allowed: only root(,| and) the daemon's own user .*stixel-tune.*\n$")
        self.assertEqual(self.value(i, "filters.median")[0], "no")
        self.assertEqual(self.ask(i, self.OTHER, self.OTHER, "7 12 %d" % (own + 1))[0], 403)
        # The socket's group is the readers' group. For other members of a known group, see tests/systemd.
        self.assertEqual(self.ask(i, self.OTHER, own, "")[0], 403)
        self.assertEqual(self.ask(i, self.OTHER, self.OTHER, "7 %d 12" % own)[0], 403)
        self.assertEqual(self.ask(i, 0, self.OTHER, "")[0], 200)
        self.assertEqual(i.stop(), 0)


class Cgroup:
    """A memory cgroup for one test, version 1 or 2. None if the test cannot create one."""

    @classmethod
    def make(cls):
        with open("/proc/self/cgroup") as f:
            rows = [line.rstrip("\n").split(":", 2) for line in f]
        for _, controllers, path in rows:
            version_1 = "memory" in controllers.split(",")
            if not version_1 and controllers:
                continue
            top = "/sys/fs/cgroup/memory" if version_1 else "/sys/fs/cgroup"
            for above in (top + path, top):
                group = cls(os.path.join(above, "stixel-test-%d" % os.getpid()), version_1)
                if group.works():
                    return group
        return None

    def __init__(self, path, version_1):
        self.path, self.limit, self.usage = path, "memory.max", "memory.current"
        if version_1:
            self.limit, self.usage = "memory.limit_in_bytes", "memory.usage_in_bytes"

    def works(self):
        try:
            os.mkdir(self.path)
        except OSError:
            return False
        try:
            self.leave(1 << 30)
            return True
        except OSError:
            self.remove()
            return False

    def leave(self, more):
        """Sets a limit that leaves `more` bytes."""
        with open(os.path.join(self.path, self.usage)) as f:
            used = int(f.read())
        with open(os.path.join(self.path, self.limit), "w") as f:
            f.write(str(used + more))

    def enter(self):
        with open(os.path.join(self.path, "cgroup.procs"), "w") as f:
            f.write("0")

    def remove(self):
        os.rmdir(self.path)


class Engine(Live):
    """Tests with the real cpu engine."""

    @unittest.skipIf(SANITIZED, "sanitizers take memory of their own, and a frame takes seconds")
    def test_memory_cgroup(self):
        """A change that has no room in memory is refused. Otherwise the kernel would kill the daemon without a
        message."""
        group = Cgroup.make()
        if not group:
            self.skipTest("no memory cgroup can be made here")
        self.addCleanup(group.remove)
        # contexts share memory that is not allocated again, so one context needs less than two
        one, two = (self.needed_megabytes(group, contexts) for contexts in (1, 2))
        self.assertLess(one, two)

    def needed_megabytes(self, group, contexts):
        """Returns the amount of memory in the text of a refusal. With this amount the change succeeds."""
        i = self.instance("contexts%d" % contexts)
        i.start(*SMALL, "-s", "source.size=1280x720", "-s", "source.fps=3", "-s", "output.slots=4",
                "-s", "engine.contexts=%d" % contexts, preexec_fn=group.enter)
        try:
            i.until_published(3)
            group.leave(10 << 20)
            code, text = i.order("stixels.width=10", "filters.median=yes")
            self.assertEqual(code, 507, text)
            self.assertRegex(text, r"^old and new contexts at once need about \d+ MB more, and memory cgroup \S+ "
                                   r"\(memory\.\w+\) has \d+ MB left: ")
            self.assertEqual(self.value(i, "filters.median")[0], "no")
            published = i.status()["frames"]["published"]
            i.until_published(published + 2)
            needed = int(re.search(r"about (\d+) MB", text).group(1))
            group.leave(needed << 20)
            self.changed(i, "stixels.width=10", "filters.median=yes")
            self.assertEqual(i.stop(), 0)
        finally:
            i.process.kill()
            i.process.wait()
            group.leave(1 << 30)
        return needed

    def real(self, *args):
        i = self.instance()
        i.start(*SMALL, "-s", "output.slots=1024", "-s", "road.mode=calibrated", "-s", "engine.threads=2", *args)
        i.until_published(3)
        return i

    def test_what_is_computed(self):
        """Frames after a change equal the frames of a daemon that was started with the changed settings."""
        changes = ["stixels.width=8", "stixels.max_per_column=3", "stixels.method=dp", "filters.speckle_size=20",
                   "stereo.p1=9", "stereo.uniqueness=90", "stereo.p2_edge=30", "road.top=40"]
        records = []
        first = 0
        for live in (True, False):
            options = [] if live else [w for c in changes for w in ("-s", c)]
            i = self.real("-s", "source.fps=0", *options)
            ring = i.ring()
            first = self.changed(i, *changes) if live else first
            i.until_published(first + 12)
            i.process.kill()
            i.process.wait()
            frames = ring.frames()
            records.append({f.number: f.record for f in frames if f.number >= first})
            if live:
                numbers = [f.number for f in frames]
                self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
                self.assertLess(numbers[0], first)
                self.assertLess(max(max(f.stixels_of) for f in frames if f.number >= first), 4)
                self.assertGreater(max(max(f.stixels_of) for f in frames if f.number < first), 3)
        common = sorted(set(records[0]) & set(records[1]))
        self.assertGreater(len(common), 5)
        for n in common:  # no pair is dropped without a pace, so frame and pair numbers are equal
            self.assertEqual(records[0][n], records[1][n], "pair %d" % n)
        self.assertGreater(len({records[0][n] for n in common}), 4)

    def test_without_a_drop(self):
        i = self.real("-s", "source.fps=4")
        ring = i.ring()
        for n in range(6):
            self.changed(i, "stixels.width=%d" % (8 if n % 2 else 5), "filters.median=%s" % ("yes" if n % 2 else "no"))
        s = i.status()
        self.assertEqual(i.stop(), 0)
        numbers = [f.number for f in ring.frames()]
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
        if not SANITIZED:
            self.assertEqual(s["frames"]["dropped"], dict.fromkeys(s["frames"]["dropped"], 0))

    @unittest.skipIf(SANITIZED, "a frame takes seconds with any settings")
    def test_frames_that_the_watchdog_would_not_wait_for(self):
        """The daemon predicts frames that take too long. It refuses with a sentence and changes nothing. A smaller
        slowdown is accepted."""
        i = self.real("-s", "source.fps=2", "-s", "source.size=1280x720", "-s", "output.slots=8")
        for order in ("stixels.method=slanted-exact\nstixels.cell_height=1",
                      "stixels.cell_height=1\nfilters.median=yes\nstixels.method=slanted-exact"):
            code, text = i.order(order)
            self.assertEqual(code, 422, text)
            self.assertRegex(text, r"^stixels.method = slanted-exact, stixels.width = 4, cells of 1 rows: a frame of "
                                   r"1280x720 would take (\d+ s|more than 100 s), now it takes [\d.]+ m?s, and "
                                   r"after 10 s without one the watchdog ends the daemon: .*\n$")
        self.assertEqual([self.value(i, k)[0] for k in ("stixels.method", "stixels.cell_height", "filters.median")],
                         ["slanted", "0", "no"])
        self.changed(i, "stixels.method=slanted-exact", "stixels.width=16")
        code, text = i.order("stixels.width=4\nstixels.cell_height=1")  # two steps give the same result
        self.assertEqual(code, 422, text)
        self.changed(i, "stixels.method=slanted", "stixels.width=8")
        self.assertEqual(i.stop(), 0)

    def test_fifty_changes_leave_memory_flat(self):
        i = self.real("-s", "source.fps=0")  # no pace: the engine runs under load

        def memory():
            with open("/proc/%d/status" % i.process.pid) as f:
                return int([line for line in f if line.startswith("VmRSS")][0].split()[1])
        folder = "/proc/%d/fd" % i.process.pid
        changes = [("stixels.width=8", "filters.median=yes"), ("stixels.width=4", "stixels.method=dp"),
                   ("stixels.method=slanted", "filters.median=no"), ("stereo.p2_edge=20", "filters.speckle_size=0"),
                   ("stereo.p2_edge=0", "filters.speckle_size=100")]
        for c in changes * 2:
            self.changed(i, *c)
        rss, bytes_of_engine, fds = memory(), i.status()["engine"]["memory_bytes"], len(os.listdir(folder))
        for c in changes * (2 if SANITIZED else 10):
            self.changed(i, *c)
        self.assertEqual(i.status()["engine"]["memory_bytes"], bytes_of_engine)
        self.assertLessEqual(len(os.listdir(folder)), fds + 1)
        if not SANITIZED:
            self.assertLess(memory() - rss, 3000)
        numbers = [f.number for f in i.ring().frames()]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        self.assertEqual(i.stop(), 0)


if __name__ == "__main__":
    unittest.main()
