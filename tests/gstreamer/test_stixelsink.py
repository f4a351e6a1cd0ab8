# Tests the GStreamer element stixelsink with real pipelines and a daemon.
#
# SPDX-License-Identifier: Apache-2.0
import os
import queue
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import unittest
import zlib

import harness

PIPELINE = os.environ.get("STIXEL_PIPELINE", "")
PLUGIN = os.environ.get("STIXEL_PLUGIN", "")
NEEDED = ["videotestsrc", "multifilesrc", "pngdec", "capsfilter", "identity"]
RAW = "video/x-raw,format=%s,width=%d,height=%d,framerate=%d/1"
FPS = 50
PERIOD_NS = 10**9 // FPS
SHARED = ["-s", "source.kind=shared", "-s", "stereo.disparities=32", "-s", "engine.threads=1",
          "-s", "source.timeout_ms=20000"]


def camera(side, caps, more="", source="videotestsrc is-live=true"):
    """Returns one camera of a pipeline: snow, which differs between both sides."""
    return "%s pattern=snow name=%s_camera ! capsfilter name=%s_caps caps=%s %s ! s.%s" % (
        source, side, side, caps, more, side)


def cameras(caps, right_caps=None, source="videotestsrc is-live=true", sink="", left="", right=""):
    return " ".join(["stixelsink name=s instance=front", sink, camera("left", caps, left, source),
                     camera("right", right_caps or caps, right, source)])


class Daemon(harness.Instance):
    """A daemon whose folder a program finds by XDG_RUNTIME_DIR."""

    def __init__(self):
        super().__init__("front")
        self.run = os.path.join(self.top, "stixeld")
        os.mkdir(self.run)
        self.status_path = os.path.join(self.run, self.name, "status.sock")
        self.stream_path = os.path.join(self.run, self.name, "frames.sock")


class Pipeline:
    """A process with a pipeline."""

    def __init__(self, daemon, description, *options):
        env = dict(os.environ, XDG_RUNTIME_DIR=daemon.top, GST_PLUGIN_PATH=os.path.dirname(PLUGIN),
                   GST_REGISTRY=os.path.join(daemon.top, "registry"), GST_REGISTRY_FORK="no",
                   GST_TRACERS="leaks", GST_DEBUG="GST_TRACER:7", GST_DEBUG_NO_COLOR="1",
                   G_DEBUG="fatal-criticals")
        self.errors = os.path.join(daemon.top, "errors")
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen([PIPELINE, *options, description], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=errors, env=env, text=True)
        self.lines = []
        self.new = queue.SimpleQueue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.new.put(line.rstrip("\n"))

    def found(self, start):
        while not self.new.empty():
            self.lines.append(self.new.get())
        return [line for line in self.lines if line.startswith(start)]

    def until(self, start, count=1):
        harness.until(lambda: len(self.found(start)) >= count, 30, "message " + start)
        return self.found(start)[-1]

    def tell(self, *lines):
        self.process.stdin.write("".join(line + "\n" for line in lines))
        self.process.stdin.flush()

    def end(self, tell="eos"):
        """Ends the stream, and returns (exit code, counters). Every object must be free."""
        if tell:
            self.tell(tell)
        code = self.process.wait(30)
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()
        stats = {name: int(value) for _, name, value in map(str.split, self.found("stats"))}
        with open(self.errors, encoding="utf-8", errors="replace") as f:
            text = f.read()
        assert not re.search(r"object-alive, type-name=\(string\)\w", text), text
        assert code >= 0, text
        return code, stats


class Case(harness.TestCase):
    def daemon(self, *args):
        d = Daemon()
        self.addCleanup(d.close)
        return d.start(*SHARED, *args)

    def pipeline(self, daemon, description, *options):
        p = Pipeline(daemon, description, *options)
        self.addCleanup(lambda: p.process.poll() is None and p.process.kill())
        return p


def write_png(path, rows):
    """Writes rows of grey levels."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">2I5B", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b""))


class Formats(Case):
    def test_every_format(self):
        d = self.daemon()
        formats = [(RAW % (name, 160, 96, FPS), pixel) for name, pixel in [
            ("GRAY8", "GREY8"), ("GRAY16_LE", "GREY16"), ("RGB", "RGB24"), ("YUY2", "YUYV"), ("UYVY", "UYVY"),
            ("NV12", "NV12")]]
        formats += [(RAW.replace("x-raw", "x-bayer") % (name, 160, 96, FPS), name.upper() + "8")
                    for name in ("rggb", "grbg", "gbrg", "bggr")]
        for caps, pixel in formats:
            with self.subTest(pixel):
                p = self.pipeline(d, cameras(caps))
                self.assertRegex(p.until("info"), "stixeld takes pairs of 160x96 .*no copy.*no copy")
                harness.until(lambda: [(c["format"], c["width"], c["height"]) for c in
                                       d.status()["source"]["cameras"]] == 2 * [(pixel, 160, 96)], 20, "the format")
                d.until_published(d.status()["frames"]["published"] + 2)
                code, stats = p.end()
                self.assertEqual((code, stats["copied-left"], stats["copied-right"]), (0, 0, 0))
                self.assertGreaterEqual(stats["queued"], 2)
                self.assertEqual((stats["bad"], stats["connections"]), (0, 1))

    def test_widths_that_rows_are_padded_for(self):
        d = self.daemon()
        p = self.pipeline(d, cameras(RAW % ("RGB", 130, 98, FPS)))
        d.until_published(3)
        frame = d.ring().frames()[-1]
        self.assertEqual((frame.width, frame.height), (130, 98))
        self.assertEqual(p.end()[0], 0)

    def test_files_give_the_same_stixels_as_the_source_of_files(self):
        noise = random.Random(5)
        d = Daemon()
        self.addCleanup(d.close)
        wide = [bytes(noise.randrange(256) for _ in range(168)) for _ in range(96)]
        for side, shift in (("left", 0), ("right", 8)):
            write_png(os.path.join(d.top, side + ".png"), [row[shift:shift + 160] for row in wide])
        size = ["-s", "stereo.disparities=32", "-s", "engine.threads=1"]
        rig = ["-s", "camera.fx=200", "-s", "camera.fy=200", "-s", "camera.cx=80", "-s", "camera.cy=48",
               "-s", "camera.baseline_m=0.1"]
        d.start("-s", "source.kind=files", "-s", "source.left=" + d.top + "/left.png", "-s",
                "source.right=" + d.top + "/right.png", "-s", "source.loop=yes", "-s", "source.fps=20", *size, *rig)
        d.until_published(5)
        expected = {f.record for f in d.ring().frames()}
        d.stop()
        d.start(*SHARED, *rig)
        p = self.pipeline(d, "stixelsink name=s instance=front simulated=true " + " ".join(
            "multifilesrc location=%s/%s.png loop=true caps=image/png,framerate=20/1 ! pngdec ! s.%s" % (
                d.top, side, side) for side in ("left", "right")))
        d.until_published(5)
        records = {f.record for f in d.ring().frames()}
        self.assertEqual(p.end()[0], 0)
        self.assertEqual(len(expected), 1)
        self.assertEqual(records, expected)

    def test_images_that_lie_elsewhere_are_copied(self):
        d = self.daemon()
        alone = "! identity drop-allocation=true"  # the camera finds no memory of the sink
        p = self.pipeline(d, cameras(RAW % ("RGB", 162, 96, FPS), left=alone, right=alone))
        self.assertRegex(p.until("info"), "162x96 .*left images: copied, right images: copied")
        d.until_published(3)
        code, stats = p.end()
        self.assertEqual((code, stats["copied-left"], stats["copied-right"]), (0, stats["queued"], stats["queued"]))
        self.assertEqual(stats["no-slot-left"] + stats["no-slot-right"], 0)

    def test_camera_of_the_pipeline(self):
        d = self.daemon()
        p = self.pipeline(d, cameras(RAW % ("GRAY8", 160, 96, FPS), sink="fx=200 fy=201 cx=80 cy=48 baseline=0.1"))
        d.until_published(2)
        self.assertEqual(d.ring().frames()[-1].camera, (200, 201, 80, 48, 0.1))
        self.assertEqual(p.end()[0], 0)

    def test_different_caps_are_refused(self):
        d = self.daemon()
        p = self.pipeline(d, cameras(RAW % ("GRAY8", 160, 96, FPS), RAW % ("GRAY8", 96, 64, FPS)))
        code, stats = p.end(None)
        self.assertEqual(p.found("error")[0], "error left has images of 160x96 GRAY8 and right of 96x64 GRAY8: "
                                              "both must have the same size and format")
        self.assertEqual((code, stats["queued"]), (1, 0))

    def test_bad_name_of_an_instance(self):
        d = self.daemon()
        p = self.pipeline(d, cameras(RAW % ("GRAY8", 160, 96, FPS)).replace("instance=front", "instance=a\\ b"))
        self.assertEqual(p.end(None)[0], 1)
        self.assertIn('instance "a b"', p.found("error")[0])


class Times(Case):
    def frames(self, *options, source="videotestsrc num-buffers=1000", **parts):
        d = self.daemon()
        p = self.pipeline(d, cameras(RAW % ("GRAY8", 160, 96, FPS), source=source, **parts), *options)
        begin = time.monotonic_ns()
        d.until_published(8)
        frames = d.ring().frames()
        code, stats = p.end()
        self.assertEqual(code, 0)
        for f in frames:  # a time of another clock would lie far outside
            self.assertLess(begin - 10**9, f.left_ns)
            self.assertLess(f.left_ns, f.published_ns)
        return frames, stats

    def test_default_clock(self):
        frames, stats = self.frames()
        first = frames[0].left_ns
        for f in frames:
            self.assertEqual(f.left_ns, f.right_ns)
            self.assertLess(abs((f.left_ns - first + PERIOD_NS // 2) % PERIOD_NS - PERIOD_NS // 2), 1000)
        self.assertEqual(stats["bad"], 0)
        if harness.IDLE:  # a side that waits for a processor comes too late
            self.assertEqual(stats["unpaired-left"] + stats["unpaired-right"], 0)

    def test_another_clock(self):
        frames, _ = self.frames("--realtime")
        for f in frames:  # both sides read the difference of the clocks
            self.assertLess(abs(f.left_ns - f.right_ns), PERIOD_NS // 2)

    def test_files_are_paced(self):
        d = self.daemon()
        begin = time.monotonic_ns()
        p = self.pipeline(d, cameras(RAW % ("GRAY8", 160, 96, FPS), source="videotestsrc num-buffers=25"))
        code, stats = p.end(None)
        self.assertGreater(time.monotonic_ns() - begin, 24 * PERIOD_NS)
        self.assertEqual(code, 0)
        self.assertEqual(sum(stats[k] for k in ("queued", "no-daemon", "busy")), 25)

    def test_latency_of_the_pipeline_is_not_added(self):
        # the queue waits for 0.1 s of images and says so, as the buffer of an RTSP camera does
        slow = "! queue min-threshold-time=100000000 max-size-time=1000000000"
        frames, _ = self.frames(source="videotestsrc is-live=true", left=slow, right=slow)
        ages = [f.submitted_ns - f.left_ns for f in frames]
        self.assertLess(100000000 - PERIOD_NS, min(ages))
        self.assertLess(min(ages), 100000000 + PERIOD_NS)

    def test_nearest_image_is_the_partner(self):
        for offset, apart in ((8000000, 8000000), (13000000, 13000000 - PERIOD_NS)):
            source = "videotestsrc num-buffers=1000 timestamp-offset=%d"
            d = self.daemon()
            caps = RAW % ("GRAY8", 160, 96, FPS)
            p = self.pipeline(d, " ".join(["stixelsink name=s", camera("left", caps, "", source % 0),
                                           camera("right", caps, "", source % offset)]))
            d.until_published(3)
            self.assertEqual({f.right_ns - f.left_ns for f in d.ring().frames()}, {apart})
            self.assertEqual(p.end()[0], 0)
            d.stop()

    def test_images_without_partner_are_counted(self):
        d = self.daemon()
        p = self.pipeline(d, cameras(RAW % ("GRAY8", 160, 96, FPS), RAW % ("GRAY8", 160, 96, FPS // 2),
                                     source="videotestsrc num-buffers=1000"))
        d.until_published(40)
        code, stats = p.end()
        pairs = stats["queued"] + stats["no-daemon"] + stats["busy"]
        self.assertEqual(code, 0)
        self.assertGreaterEqual(pairs, 40)
        # left has two images for each image of right, whichever of them found a partner; a side may lag at the end
        left, right = pairs + stats["unpaired-left"], pairs + stats["unpaired-right"]
        self.assertLessEqual(abs(left - 2 * right), FPS // 2)
        self.assertLess(2 * stats["unpaired-right"], pairs)
        if harness.IDLE:  # a side that waits for a processor comes too late
            self.assertEqual(stats["unpaired-right"], 0)
            self.assertLess(abs(stats["unpaired-left"] - pairs), 4)


class Changes(Case):
    def test_new_caps(self):
        d = self.daemon()
        p = self.pipeline(d, cameras(RAW % ("GRAY8", 160, 96, FPS)))
        d.until_published(3)
        for name, width, height in (("GRAY8", 96, 64), ("NV12", 160, 96)):
            p.tell(*("%s_caps caps %s" % (side, RAW % (name, width, height, FPS)) for side in ("left", "right")))
            harness.until(lambda: d.ring().frames()[-1:] and d.ring().frames()[-1].width == width, 30, "new size")
        self.assertRegex(p.until("info", 3), "160x96 NV12.*no copy.*no copy")
        code, stats = p.end()
        self.assertEqual((code, stats["connections"], p.found("warning")), (0, 3, []))

    def test_one_side_changes_for_good(self):
        d = self.daemon()
        p = self.pipeline(d, cameras(RAW % ("GRAY8", 160, 96, FPS)))
        d.until_published(3)
        p.tell("right_caps caps " + RAW % ("GRAY8", 96, 64, FPS))
        code, stats = p.end(None)
        self.assertEqual(code, 1)
        self.assertIn("both must have the same size", p.found("error")[0])
        self.assertGreater(stats["different-caps"], FPS // 4)

    def test_flush(self):
        d = self.daemon()
        p = self.pipeline(d, cameras(RAW % ("GRAY8", 160, 96, FPS), source="videotestsrc num-buffers=1000"))
        d.until_published(5)
        p.tell("flush")
        d.until_published(d.status()["frames"]["published"] + 5)
        code, stats = p.end()
        self.assertEqual((code, stats["bad"], stats["connections"]), (0, 0, 1))


class Daemons(Case):
    def test_restart(self):
        d = self.daemon()
        p = self.pipeline(d, cameras(RAW % ("GRAY8", 160, 96, FPS)))
        d.until_published(3)
        d.stop()
        self.assertIn("is stixeld@front running with source.kind = shared?", p.until("warning"))
        d.start(*SHARED)
        p.until("info", 2)
        d.until_published(3)
        code, stats = p.end()
        self.assertEqual((code, stats["connections"], len(p.found("warning"))), (0, 2, 1))
        self.assertGreater(stats["no-daemon"], 0)

    def test_no_daemon(self):
        d = Daemon()
        self.addCleanup(d.close)
        p = self.pipeline(d, cameras(RAW % ("GRAY8", 160, 96, FPS), source="videotestsrc num-buffers=100"))
        code, stats = p.end(None)
        self.assertEqual((code, stats["queued"], len(p.found("warning"))), (0, 0, 1))
        for side in ("left", "right"):  # on a busy machine an image may have no partner
            self.assertEqual(stats["no-daemon"] + stats["unpaired-" + side], 100, stats)

    def test_daemon_that_hangs(self):
        d = self.daemon()
        p = self.pipeline(d, cameras(RAW % ("GRAY8", 160, 96, FPS)))
        d.until_published(3)
        d.process.send_signal(signal.SIGSTOP)
        self.addCleanup(d.process.send_signal, signal.SIGCONT)
        time.sleep(0.5)
        d.process.send_signal(signal.SIGCONT)
        d.until_published(d.status()["frames"]["published"] + 3)
        code, stats = p.end()
        self.assertEqual((code, stats["connections"]), (0, 1))
        self.assertGreater(stats["busy"], FPS // 5)

    def test_refusal(self):
        d = self.daemon("-s", "source.size=320x240")
        p = self.pipeline(d, cameras(RAW % ("GRAY8", 160, 96, FPS)))
        self.assertIn("source.size is 320x240", p.until("warning"))
        code, stats = p.end()
        self.assertEqual((code, stats["queued"]), (0, 0))


if __name__ == "__main__":
    inspect = shutil.which("gst-inspect-1.0")
    if not PIPELINE or not inspect or any(subprocess.call([inspect, "--exists", name]) for name in NEEDED):
        print("GStreamer or one of %s is not installed" % ", ".join(NEEDED))
        sys.exit(77)
    unittest.main()
