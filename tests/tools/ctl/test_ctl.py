# Tests stixelctl with a running stixeld, and without one.
# SPDX-License-Identifier: Apache-2.0
import grp
import json
import os
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

from support import LEGEND, WIDE_LEGEND, Folder, Png, program, run

CSV_HEADER = "column,row_top,row_bottom,class,disparity,depth_m,slope,confidence,support,label,filled"


class Daemon:
    """A stixeld with a small synthetic scene, in its own runtime folder."""

    def __init__(self, name, *settings, run=None):
        """`run` is a runtime folder that several daemons share."""
        self.work = tempfile.mkdtemp(prefix="stixel-")
        self.name = name if run else "%s-%d" % (name, os.getpid())
        run = run or self.work
        self.env = dict(os.environ, RUNTIME_DIRECTORY=run + "/stixeld", XDG_RUNTIME_DIR=run)
        os.makedirs(self.env["RUNTIME_DIRECTORY"], exist_ok=True)
        # the engine takes ten times as long with a sanitizer
        fps = 3 if os.environ.get("SX_SANITIZED") else 20
        words = ["source.kind=synthetic", "source.size=320x160", "source.fps=%d" % fps, "stereo.disparities=32"]
        args = [w for s in [*words, *settings] for w in ("-s", s)]
        self.log = open(self.work + "/log", "w+")
        open(self.work + "/empty.conf", "w").close()
        self.command = [program("stixeld"), "-c", self.work + "/empty.conf", "--instance", self.name, *args]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, cwd=self.work, env=self.env, stdout=self.log, stderr=self.log)

    def ctl(self, *args, **more):
        return run("stixelctl", "-i", self.name, *args, env=self.env, **more)

    def wait(self):
        for _ in range(60):
            if self.process.poll() is not None:
                break
            if self.ctl("wait", "--timeout", 1).returncode == 0:
                return
        self.log.seek(0)
        raise RuntimeError("no frame: " + self.log.read())

    def stop(self):
        self.process.terminate()
        code = self.process.wait(timeout=60)
        self.log.close()
        shutil.rmtree(self.work)
        return code


class Running(Folder):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("left")
        cls.daemon.wait()

    @classmethod
    def tearDownClass(cls):
        if cls.daemon.stop() != 0:
            raise RuntimeError("stixeld did not end in order")

    def ctl(self, *args, want=0, **more):
        r = self.daemon.ctl(*args, **more)
        self.assertEqual(r.returncode, want, r.stderr)
        return r

    def test_status(self):
        r = self.ctl("status")
        lines = r.stdout.splitlines()
        self.assertLessEqual(len(lines), 24)
        self.assertTrue(all(len(line) <= 80 for line in lines), r.stdout)
        self.assertRegex(lines[0], r" (running|degraded), up ")  # a busy machine may deliver too few pairs
        for word in ("320 x 160", "capture to publish", "synthetic", str(self.daemon.process.pid)):
            self.assertIn(word, r.stdout)
        self.assertRegex(r.stdout, r"measured, horizon [\d.]+, camera 1\.\d\d \+-0\.\d\d m high,\n"
                         r" +pitch -?[\d.]+ \+-0\.\d\d deg, roll -?[\d.]+ \+-0\.\d\d deg\n")
        self.assertRegex(r.stdout, "sgm|stages below")  # a short stage may have no row
        self.assertNotIn("\033", r.stdout)

    def test_status_json(self):
        j = json.loads(self.ctl("status", "--json").stdout)
        self.assertEqual(j["instance"], self.daemon.name)
        self.assertEqual(j["pid"], self.daemon.process.pid)

    def test_watch_prints_lines(self):
        r = self.ctl("status", "--watch", "--frames", 3, "--interval", 0.2)
        self.assertEqual(len(r.stdout.splitlines()), 3)
        self.assertIn("fps", r.stdout)

    def test_watch_ends_by_signal(self):
        p = subprocess.Popen(
            [program("stixelctl"), "-i", self.daemon.name, "status", "--watch", "--interval", "30"],
            env=self.daemon.env,
            stdout=subprocess.PIPE,
            text=True,
        )
        p.stdout.readline()
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=60)
        self.assertEqual(p.returncode, 0)

    def test_dump(self):
        lines = self.ctl("dump").stdout.splitlines()
        self.assertRegex(lines[0], r"^# frame \d+ epoch [0-9a-f]{16} .* size 320x160 columns 80 stixels \d+ road ")
        self.assertEqual(lines[1], CSV_HEADER)
        self.assertEqual(len(lines) - 2, int(lines[0].split("stixels ")[1].split()[0]))

    def test_dump_json_next_frames(self):
        frames = [json.loads(line) for line in self.ctl("dump", "--json", "--frames", 3).stdout.splitlines()]
        self.assertEqual(len(frames), 3)
        numbers = [f["number"] for f in frames]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + 3)))
        for f in frames:
            self.assertEqual((f["width"], f["height"], f["columns"], f["column_width"]), (320, 160, 80, 4))
            below = {}
            for s in f["stixels"]:
                self.assertEqual(s["row_bottom"], below.get(s["column"], 160) - 1)
                below[s["column"]] = s["row_top"]
            self.assertEqual(below, dict.fromkeys(range(80), 0))

    def test_dump_into_a_closed_pipe(self):
        p = subprocess.Popen(
            [program("stixelctl"), "-i", self.daemon.name, "dump", "--frames", "0"],
            env=self.daemon.env,
            stdout=subprocess.PIPE,
        )
        p.stdout.readline()
        p.stdout.close()
        self.assertIn(p.wait(timeout=20), (0, -signal.SIGPIPE))

    def test_wait(self):
        self.assertRegex(self.ctl("wait", "--timeout", 20).stdout, r"^frame \d+\n$")

    def test_snapshot(self):
        r = self.ctl("snapshot", self.path("s.png"))
        s = Png(self.path("s.png"))
        self.assertEqual((s.width, s.height, s.channels), (320, 160 + LEGEND, 3))
        self.assertGreater(len({p for row in s.rows for p in row}), 200)
        self.assertEqual(r.stderr, "")
        self.assertEqual(self.listing(), ["s.png"])

    def test_snapshot_as_jpeg(self):
        r = self.ctl("snapshot", self.path("s.png"), "--image", "none")
        for name in ("s.jpg", "s.JPEG"):
            r = self.daemon.ctl("snapshot", self.path(name), "--image", "none")
            if r.returncode == 64 and "without libjpeg" in r.stderr:
                self.assertEqual(self.listing(), ["s.png"])
                self.skipTest("built without libjpeg")
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            with open(self.path(name), "rb") as f:
                data = f.read()
            self.assertEqual((data[:3], data[-2:]), (b"\xff\xd8\xff", b"\xff\xd9"))
            frame = data.index(b"\xff\xc0")  # baseline: bytes, bits, height, width, colours, each with its sampling
            self.assertEqual(struct.unpack(">HBHHB", data[frame + 2 : frame + 10]), (17, 8, 160 + LEGEND, 320, 3))
            self.assertEqual(data[frame + 11 : frame + 19 : 3], b"\x11\x11\x11")

    def test_snapshot_into_a_pipe(self):
        command = [program("stixelctl"), "-i", self.daemon.name, "snapshot", "-"]
        r = subprocess.run(command, env=self.daemon.env, capture_output=True, timeout=60, cwd=self.folder)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertRegex(r.stderr.decode(), r"^standard output: frame \d+, 320x160, ")
        with open(self.path("got"), "wb") as f:
            f.write(r.stdout)
        self.assertEqual(Png(self.path("got")).height, 160 + LEGEND)
        self.assertEqual(self.listing(), ["got"])
        with open("/dev/full", "wb") as full:
            r = subprocess.run(command, env=self.daemon.env, stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(r.returncode, 73)
        self.assertIn(b"cannot write standard output: No space", r.stderr)

    def test_snapshot_of_another_format(self):
        for name in ("s.bmp", "s", "s.png.old", "a.png/s", ".jpgx"):
            r = self.ctl("snapshot", self.path(name), want=64)
            self.assertIn(".png, .jpg or .jpeg", r.stderr)
        self.assertEqual(self.listing(), [])

    def test_snapshot_over_a_file(self):
        with open(self.path("s.png"), "w") as f:
            f.write("old")
        r = self.ctl("snapshot", self.path("s.png"), want=73)
        self.assertIn("s.png already exists", r.stderr)
        with open(self.path("s.png")) as f:
            self.assertEqual(f.read(), "old")
        self.ctl("snapshot", "--force", self.path("s.png"))
        self.assertEqual(Png(self.path("s.png")).width, 320)
        os.remove(self.path("s.png"))
        os.symlink("nowhere", self.path("s.png"))
        self.ctl("snapshot", self.path("s.png"), want=73)
        self.assertEqual(self.listing(), ["s.png"])

    def test_snapshot_that_cannot_be_written(self):
        r = self.ctl("snapshot", self.path("none", "s.png"), want=73)
        self.assertIn("s.png", r.stderr)
        self.assertEqual(self.listing(), [])

    def test_snapshot_of_other_images(self):
        colours = {}
        for which in ("left", "disparity", "none"):
            r = self.ctl("snapshot", self.path(which + ".png"), "--image", which)
            self.assertEqual(r.stderr, "")
            picture = Png(self.path(which + ".png"))
            # a disparity image has the colours of distances everywhere, and its legend no other
            legend = WIDE_LEGEND if which == "disparity" else LEGEND
            self.assertEqual((picture.width, picture.height), (320, 160 + legend))
            colours[which] = {p for row in picture.rows for p in row}
        self.assertLess(len(colours["none"]), len(colours["left"]))
        self.assertNotEqual(colours["disparity"], colours["left"])
        self.ctl("snapshot", self.path("x.png"), "--image", "right", want=64)

    def test_snapshot_in_given_colours(self):
        def legend(*ends):
            self.ctl("snapshot", "--force", self.path("c.png"), *ends)
            return Png(self.path("c.png")).rows[160:]
        self.assertEqual(legend("--near", 1, "--far", 7), legend("--near", 1, "--far", 7))
        self.assertNotEqual(legend("--near", 1, "--far", 7), legend("--near", 1, "--far", 9))
        for command in (("snapshot", self.path("d.png")), ("top", "--once"), ("export", "a", "b")):
            r = self.ctl(*command, "--near", 3, "--far", 3, want=64)
            self.assertIn("--far must be", r.stderr)

    def test_snapshot_from_above(self):
        self.ctl("snapshot", self.path("b.png"), "--image", "none", "--bird")
        picture = Png(self.path("b.png"))
        self.assertEqual((picture.width, picture.height), (320 + 4 + 106, 160 + LEGEND))
        self.assertGreater(len({p for row in picture.rows for p in row[324:]}), 5)

    def test_metrics_in_a_file(self):
        path = self.path("stixeld.prom")
        with open(path, "w") as f:
            f.write("old")
        os.chmod(path, 0o600)
        r = self.ctl("metrics", "--textfile", path)
        self.assertEqual((r.stdout, r.stderr), ("", ""))
        with open(path) as f:
            text = f.read()
        # test_metrics checks more
        self.assertTrue(text.startswith("# TYPE stixeld_info gauge\n") and text.endswith("\n"))
        self.assertNotIn("# EOF", text)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o644)
        self.assertEqual(self.listing(), ["stixeld.prom"])
        r = self.ctl("metrics", "--textfile", self.path("none", "x.prom"), want=73)
        self.assertIn("x.prom", r.stderr)

    def test_metrics(self):
        self.assertTrue(self.ctl("metrics").stdout.endswith("# EOF\n"))

    def test_demo(self):
        picture = self.path("demo.png")
        env = {k: v for k, v in os.environ.items() if k not in ("XDG_RUNTIME_DIR", "RUNTIME_DIRECTORY")}
        before = set(os.listdir("/dev/shm"))
        # a size that sanitized programs compute at the demo's 20 fps beside other tests
        r = subprocess.run(
            [os.environ["STIXEL_SOURCE"] + "/tools/demo", "--seconds", "3", "--picture", picture]
            + ["--size", "160x120", "--build", os.environ["STIXEL_BUILD"]],
            capture_output=True,
            text=True,
            timeout=120,
            env=env,
        )
        self.assertEqual(r.returncode, 0, r.stderr)
        lines = r.stdout.splitlines()
        self.assertRegex(lines[0], r"^engine (cpu|cuda) \(.+\): .")
        # The daemon may still be starting in the first line. A sanitized engine may be slower than the street's 20 fps.
        self.assertRegex(lines[-2], "running|degraded" if os.environ.get("SX_SANITIZED") else "running")
        self.assertIn(picture, lines[-1])
        picture = Png(picture)
        self.assertEqual((picture.width, picture.height), (160, 120 + LEGEND))
        left = {n for n in set(os.listdir("/dev/shm")) - before if "demo-" in n}
        self.assertEqual(left, set())


class Others(Folder):
    def test_a_signal_ends_the_demo_with_all_it_started(self):
        demo = [os.environ["STIXEL_SOURCE"] + "/tools/demo", "--seconds", "600"]
        p = subprocess.Popen(
            [*demo, "--build", os.environ["STIXEL_BUILD"], "--picture", self.path("x.png")],
            env=dict(os.environ, TMPDIR=self.folder),
            stdout=subprocess.PIPE,
            text=True,
        )
        self.assertIn("engine", p.stdout.readline())
        self.assertIn("fps", p.stdout.readline())
        ring = "stixeld.demo-%d" % p.pid
        self.assertIn(ring, os.listdir("/dev/shm"))
        p.terminate()
        p.communicate(timeout=20)
        self.assertEqual(p.returncode, 143)
        self.assertNotIn(ring, os.listdir("/dev/shm"))
        self.assertEqual(self.listing(), [])

    def test_classes(self):
        """A network gives every class the same score: ground is road, and objects are of the first class of objects."""
        name = "ctl-%d" % os.getpid()
        daemon = Daemon("classes", "semantics.source=" + name, "semantics.max_age_ms=10000")
        self.addCleanup(daemon.stop)
        network = subprocess.Popen([os.environ["STIXEL_SEGMENTER"], "/dev/shm", name, "19", "320x160", "4"], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(network.communicate)  # ends with its input, and removes its ring

        def shown():
            print(time.monotonic_ns(), 100, file=network.stdin, flush=True)
            network.stdout.readline()
            text = daemon.ctl("top", "--once").stdout
            return re.search("(?m)^classes +(.*road.*)$", text)
        daemon.wait()
        end = time.monotonic() + 60
        while not (line := shown()):
            self.assertLess(time.monotonic(), end, "no classes in stixelctl top")
        self.assertRegex(line[1], r"(^| )building \d+ %( |$)")
        for more, width in (((), 320), (("--bird",), 320 + 4 + 106)):
            r = daemon.ctl("snapshot", "--force", "--classes", *more, self.path("s.png"))
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            picture = Png(self.path("s.png"))
            self.assertEqual(picture.width, width)
            legend = {p for row in picture.rows[160:] for p in row}
            self.assertLess({(128, 64, 128), (70, 70, 70)}, legend)  # road and building, as Cityscapes shows them
        r = daemon.ctl("record", "--raw", "--frames", 1, self.path("r.mcap"))
        self.assertEqual(r.returncode, 0, r.stderr)
        with open(self.path("r.mcap"), "rb") as f:
            self.assertIn(b"road sidewalk building wall fence pole traffic-light traffic-sign vegetation", f.read())

    def test_dark_ground_and_the_end(self):
        daemon = Daemon("dark", "output.planes=none")
        try:
            daemon.wait()
            r = daemon.ctl("snapshot", self.path("s.png"))
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertIn("output.planes", r.stderr)
            self.assertEqual(Png(self.path("s.png")).height, 160 + LEGEND)
            p = subprocess.Popen(
                [program("stixelctl"), "-i", daemon.name, "dump", "--frames", "0"],
                env=daemon.env,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            time.sleep(0.5)
            daemon.process.terminate()
            _, text = p.communicate(timeout=20)
            self.assertEqual(p.returncode, 1, text)
            self.assertIn(daemon.name, text)
        finally:
            daemon.stop()

    def test_why_there_is_no_camera(self):
        settings = ["source.kind=v4l2", "source.left=/dev/none-left", "source.right=/dev/none-right"]
        daemon = Daemon("absent", *settings, *("camera.%s=0" % k for k in ("fx", "fy", "cx", "cy", "baseline_m")))
        try:
            for _ in range(100):
                r = daemon.ctl("status")
                if "no_camera" in r.stdout:
                    break
                time.sleep(0.1)
            self.assertRegex(r.stdout, "  no_camera, .*\n {10}/dev/none-left: No such file or directory\n", r.stderr)
            self.assertTrue(all(len(line) <= 80 for line in r.stdout.splitlines()), r.stdout)
        finally:
            self.assertEqual(daemon.stop(), 0)

    def test_nobody_there(self):
        for command in (["status"], ["metrics"], ["dump"], ["snapshot", self.path("x.png")]):
            r = run("stixelctl", "-i", "nobody-%d" % os.getpid(), *command)
            self.assertEqual(r.returncode, 1, command)
            self.assertIn("nobody-", r.stderr)
            self.assertEqual(r.stdout, "")
        self.assertEqual(self.listing(), [])

    def test_another_layout(self):
        """The message names both versions and which program to update."""
        source = Daemon("layout")
        self.addCleanup(source.stop)
        source.wait()
        with open("/dev/shm/stixeld." + source.name, "rb") as f:
            ring = bytearray(f.read())
        ring_version = bytes(ring[8:12])
        name = "layout-other-%d" % os.getpid()
        self.addCleanup(os.remove, "/dev/shm/stixeld." + name)
        for major, what in ((7, "stixelctl and libstixel"), (0, "the daemon")):
            struct.pack_into("<HH", ring, 8, major, 3)
            with open("/dev/shm/stixeld." + name, "wb") as f:
                f.write(ring)
            said = "instance '%s': its ring has layout %d.3, this program reads 1.x: update %s\n" % (name, major, what)
            for command in (["dump"], ["status"], ["top", "--once"], ["record", self.path("x.mcap")], ["wait"]):
                r = run("stixelctl", "-i", name, *command)
                self.assertEqual(r.returncode, 65, r.stderr)
                self.assertIn(said, r.stderr)
            listed = run("stixelctl", "list").stdout
            self.assertRegex(listed, r"(?m)^%s +daemon +unreadable +- +- +-$" % name)
            self.assertIn(said, listed)
            listed = [i for i in json.loads(run("stixelctl", "list", "--json").stdout) if i["instance"] == name]
            self.assertEqual((listed[0]["runs"], listed[0]["layout"]), (False, said.split(": ", 1)[1].strip()))
        self.assertEqual(self.listing(), [])
        # A daemon of another version answers on its socket. top has no picture and says why.
        with open("/dev/shm/stixeld." + source.name, "r+b", 0) as f:
            f.seek(8)
            f.write(struct.pack("<HH", 7, 3))
            try:
                self.assertIn("no picture: its ring has layout 7.3, this program reads 1.x",
                              source.ctl("top", "--once").stdout)
            finally:
                f.seek(8)
                f.write(ring_version)

    @unittest.skipUnless(os.geteuid() == 0, "is another user, so it needs to be root")
    def test_which_group(self):
        group = grp.getgrgid(1).gr_name  # any group without this user
        source = Daemon("group")
        self.addCleanup(source.stop)
        source.wait()
        for folder in (source.work, source.work + "/stixeld", source.work + "/stixeld/" + source.name):
            os.chmod(folder, 0o755)
        for path in (source.work + "/stixeld/%s/status.sock" % source.name, "/dev/shm/stixeld." + source.name):
            os.chown(path, 0, 1)
            os.chmod(path, 0o660)

        def nobody():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

        def ask(*command):
            return subprocess.run([program("stixelctl"), "-i", source.name, *command], env=source.env,
                                  capture_output=True, text=True, preexec_fn=nobody)
        hint = "(members of group %s may: sudo usermod -aG %s YOU, then log in again)" % (group, group)
        for command in (["status"], ["dump"], ["record", "-"]):
            self.assertIn(hint, ask(*command).stderr)
        # doctor names this group, and no other group in that line
        said = [line for line in ask("doctor").stdout.splitlines() if "cannot connect to" in line]
        self.assertEqual((len(said), hint in said[0], said[0].count("usermod")), (1, True, 1), said)
        # a parent folder may refuse access as well
        folder = source.work + "/stixeld/" + source.name
        os.chown(folder, 0, 1)
        os.chmod(folder, 0o750)
        self.assertIn(hint, ask("status").stderr)
        # root started the daemon by hand, so its files belong to root
        for path in (folder, "/dev/shm/stixeld." + source.name):
            os.chown(path, 0, 0)
        for command in ("status", "dump"):
            self.assertIn("(root alone may: ask by sudo; what the service stixeld@ makes is open to a group)",
                          ask(command).stderr)

    def test_who_waits_says_so(self):
        name = "nobody-%d" % os.getpid()
        r = run("stixelctl", "-i", name, "wait", "--timeout", 2.5)
        self.assertEqual(r.returncode, 1)
        self.assertTrue(r.stderr.startswith("stixelctl: instance '%s' does not run: waiting for it\n" % name), r.stderr)
        self.assertEqual(r.stderr.count("waiting"), 1)

    def test_wait_gives_up(self):
        began = time.monotonic()
        r = run("stixelctl", "-i", "nobody-%d" % os.getpid(), "wait", "--timeout", 0.5)
        self.assertEqual(r.returncode, 1)
        self.assertLess(time.monotonic() - began, 10)

    def test_usage(self):
        for args in (
            [],
            ["nonsense"],
            ["--nonsense"],
            ["status", "stray"],
            ["status", "--frames", "3"],
            ["snapshot"],
            ["dump", "--watch"],
            ["dump", "--frames", "x"],
            ["wait", "--timeout", "-1"],
            ["status", "--watch", "--interval", "0"],
            ["-i", "../etc", "status"],
            ["-i", "", "dump"],
        ):
            with self.subTest(args):
                r = run("stixelctl", *args)
                self.assertEqual(r.returncode, 64)
                self.assertTrue(r.stderr.strip())

    def test_help_lists_commands(self):
        r = run("stixelctl", "--help")
        self.assertEqual(r.returncode, 0)
        for word in ("status", "dump", "wait", "snapshot", "metrics"):
            self.assertIn(word, r.stdout)


class Told(Folder):
    """Tests the page of a made-up status."""

    def page(self, status):
        """Returns the printed lines. `status` is the answer to GET /status, sent once."""
        place = self.path("run/stixeld/told")
        os.makedirs(place, exist_ok=True)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(place + "/status.sock")
            listener.listen(1)
            thread = threading.Thread(target=self.answer, args=(listener, json.dumps(status).encode()))
            thread.start()
            env = dict(os.environ, RUNTIME_DIRECTORY=self.path("run/stixeld"), XDG_RUNTIME_DIR=self.path("run"))
            r = run("stixelctl", "-i", "told", "status", env=env)
            thread.join()
        os.remove(place + "/status.sock")
        self.assertEqual(r.returncode, 0, r.stderr)
        return r.stdout.splitlines()

    @staticmethod
    def answer(listener, body):
        s, _ = listener.accept()
        with s:
            s.recv(65536)
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
                      b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    @staticmethod
    def busy(stages):
        """Returns a status with many facts: two cameras with drops, power, a reason, the GPU's choice, and stages
        (us)."""
        camera = {"width": 1280, "height": 720, "path": "/dev/video0", "format": "GREY", "captured": 100,
                  "sequence_gaps": 3, "dropped": {"late": 7}}
        times = dict(capture_to_publish=10000, capture_to_engine=1000, engine_to_result=8900, result_to_publish=100)
        times.update(stages)
        return {
            "instance": "told", "state": "degraded", "uptime_s": 100, "version": "1", "pid": 7,
            "reason": "engine too slow: 440 of the last 4000 pairs dropped by overload",
            "engine": {"backend": "cuda", "device": "some GPU",
                       "volume": "engine.volume = stored"},
            "source": {"kind": "v4l2", "memory": "mmap",
                       "cameras": [dict(camera, side="left"), dict(camera, side="right")]},
            "power": {"watts": 7.5, "scope": "module", "joules_per_frame": 0.1, "fps_per_watt": 10, "stale": False},
            "latency_10s_us": {k: {"p50": v, "p99": v, "max": v} for k, v in times.items()},
        }

    def stages_in(self, page, stages):
        table = page[next(i for i, line in enumerate(page) if line.startswith("last 10 s")) :]
        return [k for k in stages if any(line.startswith(k.replace("_", " ") + " ") for line in table)]

    def test_more_than_a_page(self):
        stages = {"census": 700, "sgm": 3000, "winner": 900, "median": 300, "road": 310, "reduce": 320, "smooth": 330,
                  "segment": 800, "compact": 100, "ingest": 150, "left_right": 340, "speckle": 350, "confidence": 360}
        page = self.page(self.busy(stages))
        self.assertLessEqual(len(page), 23, "\n".join(page))
        self.assertFalse([line for line in page if line.startswith("rows")])  # row correction is off
        shown = self.stages_in(page, stages)
        self.assertGreater(len(shown), 2, "\n".join(page))
        longest = sorted(stages, key=stages.get, reverse=True)[: len(shown)]
        self.assertEqual(set(shown), set(longest))
        left = [v for k, v in stages.items() if k not in shown]
        said = re.fullmatch(r"and (\d+) stages below (\d+) %", page[-1])
        self.assertEqual(int(said.group(1)), len(left))
        self.assertLess(max(left) / 10000, int(said.group(2)) / 100)

    def test_more_than_any_page(self):
        status = self.busy({"census": 700, "sgm": 3000, "winner": 900, "segment": 800, "road": 300})
        status["semantics"] = {"source": "shm", "state": "late", "reason": "no scores for 3.0 s"}
        status["reason"] = "words that go on " * 10
        status["pictures"] = {"density": 0.8,
                              "row_correction": {"shift_px": 1.234, "rotation_deg": -0.1428, "changes": 2}}
        page = self.page(status)
        self.assertIn("rows      right image corrected by 1.23 px and -0.143 degrees, changes 2", page)
        shown = self.stages_in(page, ("sgm", "winner", "segment", "census", "road"))
        self.assertEqual(shown, ["sgm", "winner", "segment"])
        self.assertEqual(page[-1], "and 2 stages below 8 %")

    def test_stages_that_take_as_long(self):
        names = ("census", "sgm", "winner", "median", "road", "reduce", "smooth", "segment", "ingest")
        stages = {k: 500 for k in names}
        page = self.page(self.busy(stages))
        self.assertLessEqual(len(page), 23)
        shown = self.stages_in(page, stages)
        self.assertGreater(len(shown), 2)
        self.assertEqual(shown, list(names[: len(shown)]))  # the stages at the top
        self.assertEqual(page[-1], "and %d stages below 6 %%" % (len(names) - len(shown)))

    def test_before_the_first_frame(self):
        status = self.busy({"census": 0, "sgm": 0})
        status["latency_10s_us"]["capture_to_publish"] = {"p50": 0, "p99": 0, "max": 0}
        self.assertEqual(self.stages_in(self.page(status), ("census", "sgm")), ["census", "sgm"])
        status["latency_10s_us"].update({"stage%d" % i: {"p50": 0, "p99": 0, "max": 0} for i in range(20)})
        page = self.page(status)
        self.assertLessEqual(len(page), 23)
        self.assertRegex(page[-1], r"^and \d+ stages$")

    def test_what_distances_rest_on(self):
        status = self.busy({"sgm": 5000})
        status["camera"] = {
            "text": "camera: fx 707.091 px, baseline 53.27 m, images are taken as rectified, distances from 297 m "
                    "(127 px) to 3.77e+04 m (1 px); by OpenCV YAML /etc/stixeld/c.yaml",
            "questions": ["baseline 53.27 m: is it in metres? The file may be in centimetres", "fx 9 px: really?"]}
        page = self.page(status)
        at = next(i for i, line in enumerate(page) if line.startswith("camera    fx 707.091 px, baseline 53.27 m, "))
        self.assertEqual(page[at + 1 : at + 4], [
            "          distances from 297 m (127 px) to 3.77e+04 m (1 px)",
            "question  baseline 53.27 m: is it in metres? The file may be in centimetres",
            "          fx 9 px: really?"])

    def test_what_to_do(self):
        """The status and the log have the same advice for an engine that is too slow. Other reasons have none."""
        status = self.busy({"sgm": 5000})
        remedy = "lower source.fps, source.size or stereo.disparities"
        self.assertIn(remedy, "\n".join(self.page(status)))
        status["reason"] = "both images are black"
        self.assertNotIn(remedy, "\n".join(self.page(status)))

    def test_room_for_all(self):
        page = self.page(self.busy({"sgm": 5000, "segment": 200, "compact": 199}))
        self.assertEqual(self.stages_in(page, ("sgm", "segment", "compact")), ["sgm", "segment"])
        self.assertEqual(page[-1], "and 1 stages below 2 %")


class Power(Folder):
    """A board measures power. The page shows it, and says when the sensor no longer answers."""

    def test_page(self):
        hwmon = self.path("sys/class/hwmon/hwmon0")
        os.makedirs(hwmon)
        for name, text in (("name", "ina3221"), ("in1_label", "VDD_IN"), ("in1_input", "5000"),
                           ("curr1_input", "1500")):
            with open(os.path.join(hwmon, name), "w") as f:
                f.write(text + "\n")
        daemon = Daemon("power", "power.root=" + self.folder)
        self.addCleanup(daemon.stop)
        daemon.wait()
        line = self.until(daemon, r"(?m)^power     7\.5 W \(module\), \d+\.\d{3} J a frame, \d+\.\d{3} fps/W$")
        self.assertLessEqual(len(line), 80)
        shutil.rmtree(hwmon)
        line = self.until(daemon, r"(?m)^power     unknown for \d+ s: .+$")
        self.assertLessEqual(len(line), 80)

    def until(self, daemon, pattern):
        for _ in range(300):
            page = daemon.ctl("status").stdout
            self.assertLessEqual(len(page.splitlines()), 24, page)
            found = re.search(pattern, page)
            if found:
                return found.group(0)
            time.sleep(0.1)
        self.fail("%s is not in:\n%s" % (pattern, page))


if __name__ == "__main__":
    unittest.main()
