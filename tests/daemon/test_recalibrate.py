# Tests a change of the calibration while frames continue: the camera of each frame is that of the contexts that
# computed it. Uses the source and the engine of fake.c, whose pairs have 64x48 px, and the raw street.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import signal
import threading
import time
import unittest

from harness import FAKE, Ring, SMALL, until
from test_live import ARGS, EASY, Live
from test_semantics import SLOW, Segmenter

RECTIFIED = 16
ROAD_MEASURED, ROAD_PREVIOUS, ROAD_CALIBRATION = 1, 2, 3
PLAIN = "fx: %g\nfy: 60\ncx: 32\ncy: 24\nbaseline_m: 0.25\nwidth: %d\nheight: 48\n"
RAW = """%%YAML:1.0
---
image_width: %d
image_height: 48
K1: [50, 0, 32, 0, 50, 24, 0, 0, 1]
D1: [%g, 0, 0, 0, 0]
K2: [50, 0, 32, 0, 50, 24, 0, 0, 1]
D2: [0, 0, 0, 0, 0]
R1: [1, 0, 0, 0, 1, 0, 0, 0, 1]
R2: [1, 0, 0, 0, 1, 0, 0, 0, 1]
P1: [55, 0, 32, 0, 0, 55, 24, 0, 0, 0, 1, 0]
P2: [55, 0, 32, -11, 0, 55, 24, 0, 0, 0, 1, 0]
"""
CHANGED = 128  # STIXEL_FRAME_CAMERA_CHANGED
PLAIN_CAMERA, RAW_CAMERA = (50, 60, 32, 24, 0.25), (55, 55, 32, 24, 0.2)


class Recalibrate(Live):
    def prepare(self, *args, conf="", **env):
        """Returns (instance, function that writes its calibration file)."""
        i = self.instance(binary=FAKE)
        path = os.path.join(i.top, "c.conf")
        with open(path, "w") as f:
            f.write("[source]\nkind = synthetic\n" + conf)
        i.file = os.path.join(i.top, "cal")

        def write(text):
            with open(i.file, "w") as f:
                f.write(text)
        write(PLAIN % (50, 64))
        i.start("-c", path, *ARGS[2:], *args, env={"FAKE_" + k.upper(): v for k, v in dict(EASY, **env).items()})
        return i, write

    def reload(self, i, word):
        """Sends SIGHUP. Returns the log's text after the newest `word`."""
        said = i.text().count(word)
        i.process.send_signal(signal.SIGHUP)
        return until(lambda: i.text().count(word) > said and i.text().rpartition(word)[2], 30, word)

    def test_marked_for_ten_seconds(self):
        """The state and each frame report that distances have jumped. After ten seconds all is as before."""
        i, _ = self.prepare()
        i.until_published(3)
        ring = i.ring()
        i.until_state("running")
        first = self.changed(i, "filters.median=yes")
        i.until_state("running")
        began = time.monotonic()
        moved = self.changed(i, "camera.height_m=1.3")
        said = until(lambda: (lambda s: s if s["state"] == "degraded" else None)(i.status()), 30, "the mark")
        self.assertEqual(said["reason"], "the camera was changed (camera.height_m): from frame %d on the same "
                                         "disparity may be another distance" % moved)
        self.assertEqual(i.http("/healthz")[0], 200)
        until(lambda: i.status()["state"] == "running", 20, "the end of the mark")
        self.assertGreater(time.monotonic() - began, 9)
        last = i.status()["frames"]["published"]
        i.until_published(last + 3)
        flags = {f.number: f.flags & CHANGED for f in ring.frames()}
        self.assertTrue(all(not flag for n, flag in flags.items() if n < moved or n > last))
        self.assertTrue(flags.get(moved, CHANGED) and first <= moved)
        self.assertEqual(i.stop(), 0)

    def test_at_one_frame(self):
        i, write = self.prepare("-s", "engine.contexts=3", compute_us=6000, jitter_us=8000)
        i.until_published(3)
        ring, cameras = i.ring(), [(1, (721.5, 721.5, 609.5, 172.9, 0.54), 0)]

        def now(number, camera, flags):
            cameras.append((number, camera, flags))
        now(self.changed(i, "camera.calibration=" + i.file), PLAIN_CAMERA, 0)
        config = json.loads(i.http("/config")[2])["camera"]
        self.assertEqual((config["calibration"]["value"], config["fx"]["value"], config["fx"]["live"]),
                         (i.file, 50, False))
        # the file has the same name and new content
        write(RAW % (64, 0.1))
        code, text = i.order("camera.calibration=" + i.file, "camera.rectify=auto")
        self.assertEqual((code, text.splitlines()[-2]), (200, i.file + " was read again"))
        now(int(re.search(r"from frame (\d+) on", text).group(1)), RAW_CAMERA, RECTIFIED)
        self.assertIn("images of 64x48 are rectified to 64x48 (fx 55 px, baseline 0.2 m), as they are raw by " + i.file,
                      i.text())
        now(self.changed(i, "camera.rectify=no"), RAW_CAMERA, 0)
        self.assertIn("images are rectified no longer\n", i.text())
        # everything but the lens is as before
        now(self.changed(i, "camera.rectify=auto", "stixels.width=8"), RAW_CAMERA, RECTIFIED)
        write(RAW % (64, 0.2))
        now(self.changed(i, "camera.calibration=" + i.file), RAW_CAMERA, RECTIFIED)
        self.assertEqual(i.order("camera.calibration=" + i.file), (200, "nothing changed: so it was already\n"))
        now(self.changed(i, "camera.calibration=", "camera.fx=9", "camera.cx=3"), (9, 721.5, 3, 172.9, 0.54), 0)
        i.until_published(cameras[-1][0] + 3)
        self.assertEqual(i.stop(), 0)
        self.without_gap(ring.frames())
        for f in ring.frames():
            _, camera, flags = [c for c in cameras if c[0] <= f.number][-1]
            self.assertEqual((f.number, f.camera, f.flags & ~CHANGED), (f.number, camera, flags))
            if f.number < cameras[1][0] or f.number in [c[0] for c in cameras[1:]]:  # marked from here on
                self.assertEqual(f.flags & CHANGED != 0, f.number >= cameras[1][0], f.number)

    def test_refused(self):
        i, write = self.prepare()
        self.changed(i, "camera.calibration=" + i.file)
        before = self.settings(i)
        for text, change, code, why in (
                (None, "camera.calibration=%s/none" % i.top, 422, "/none does not exist, though "),
                ("fx: 50\n", "camera.calibration=" + i.file, 422, "/cal: calibration text: 'fy' is missing"),
                (RAW[:90], "camera.rectify=yes", 422, "/cal"),
                (PLAIN % (50, 32), "camera.calibration=" + i.file, 422,
                 "images are 64x48, but calibration %s was made for 32x48" % i.file),
                (RAW % (128, 0.1), "camera.rectify=auto", 422,
                 "images are 64x48, but calibration %s was made for 128x48" % i.file),
                (PLAIN % (50, 64), "camera.fx=3", 422, "fx: is also in the calibration file"),
                (None, "camera.rectify_size=32x48", 422, "rectify_size: needs a restart")):
            if text:
                write(text)
            got = i.order("stixels.width=8", change)
            self.assertEqual(got[0], code, got)
            self.assertRegex(got[1], "^[^\n]*%s[^\n]*\n$" % re.escape(why))
            self.assertEqual(self.settings(i), before)
        n = i.status()["frames"]["published"]
        i.until_published(n + 3)
        self.assertEqual({(f.camera, f.column_width) for f in i.ring().frames() if f.number >= before["frame"]},
                         {(PLAIN_CAMERA, 4)})
        self.assertEqual(i.stop(), 0)

    def test_by_the_files(self):
        i, write = self.prepare(conf="[camera]\ncalibration = cal\n")
        i.until_published(2)
        ring = i.ring()
        self.assertEqual(ring.frame(1).camera, PLAIN_CAMERA)
        write("fx: 50\n")
        self.reload(i, "reload refused: the settings stay as they were")
        self.assertIn("c.conf:4: [camera] calibration: %s: calibration text: 'fy' is missing" % i.file, i.text())
        self.assertEqual(self.settings(i)["changes"], 0)
        write(PLAIN % (51, 64))
        first = int(re.search(r"(\d+) on", self.reload(i, "reloaded, changed: camera.fx, from frame ")).group(1))
        i.until_published(first + 2)
        self.assertEqual([ring.frame(n).camera[0] for n in (first - 1, first)], [50, 51])
        # the reload replaces live settings by the current content of the files
        write(RAW % (64, 0.1))
        second = self.changed(i, "camera.rectify=no")
        with open(os.path.join(i.top, "c.conf"), "a") as f:
            f.write("rectify_size = 32x48\n")
        self.reload(i, "need a restart: images would have 32x48 px, and the ring was made for 64x48\n")
        self.assertEqual(i.stop(), 0)
        self.without_gap(ring.frames())
        self.assertGreater(second, first)

    def test_questions(self):
        """Log and status say which values distances depend on, and ask about unlikely values."""
        i, write = self.prepare(conf="[camera]\ncalibration = cal\n")
        i.until_published(2)
        said = "camera: fx 50 px, baseline 0.25 m, images are taken as rectified, distances from 0.0984 m " \
            "(127 px) to 12.5 m (1 px); by calibration text %s\n" % i.file
        until(lambda: said in i.text(), what=said)
        self.assertEqual(i.status()["camera"]["questions"], [])
        write("fx: 50\nfy: 50\ncx: 62\ncy: 46\nbaseline_m: 7.5\n")
        self.changed(i, "camera.calibration=" + i.file)
        asked = i.status()["camera"]["questions"]
        self.assertRegex(asked[0], "^baseline 7.5 m: is it in metres\\? The file may be in centimetres, inches")
        self.assertRegex(asked[1], "62, 46 of the camera is far from the middle of images of 64x48: it fits images of "
                         "about 2 times their width and height, 128x96")
        for text in asked:
            self.assertIn("warning config: %s\n" % text, i.text())
        # baseline_m replaces the baseline of the file from one frame on
        first = self.changed(i, "camera.baseline_m=0.075")
        i.until_published(first)
        self.assertEqual(i.ring().frame(first).camera, (50, 50, 62, 46, 0.075))
        self.assertIn("baseline 0.075 m by camera.baseline_m (the file says 7.5 m), ", i.status()["camera"]["text"])
        self.assertEqual(len(i.status()["camera"]["questions"]), 1)
        write("fx: 50\nfy: 50\ncx: 128\ncy: 96\nbaseline_m: 0.1\n")
        code, text = i.order("camera.calibration=" + i.file)
        self.assertEqual(code, 422)
        self.assertIn("principal point 128, 96 is outside of images of 64x48: it fits images of about 4 times", text)
        self.assertEqual(i.stop(), 0)

    def test_road_of_another_camera(self):
        i, _ = self.prepare(measure_every=100000)
        i.until_published(3)
        ring = i.ring()
        mount = self.changed(i, "camera.height_m=2")
        first = self.changed(i, "camera.calibration=" + i.file)
        i.until_published(first + 3)
        self.assertEqual(i.stop(), 0)
        for f in ring.frames()[mount - 1:]:
            self.assertEqual((f.number, f.road_origin),
                             (f.number, ROAD_PREVIOUS if f.number < first else ROAD_CALIBRATION))
        self.assertEqual(ring.frame(1).road_origin, ROAD_MEASURED)
        self.assertTrue(1 < mount < first)

    def test_pairs_that_are_offered(self):
        """A frame reports the camera with which its pair was offered, because the map belongs to that camera."""
        i, write = self.prepare("-s", "stereo.matcher=external", "-s", "external.source=net", "-s",
                                "external.pairs=yes", "-s", "external.wait_ms=%d" % (60 * SLOW), interval_us=10000)
        until(lambda: os.path.exists(i.ring_path + ".pairs"), 30, "ring of pairs")
        offered, ring = Ring(i.ring_path + ".pairs"), i.ring()
        s = Segmenter(i, classes="map", scale=1)
        self.addCleanup(s.close)
        ended = threading.Event()

        def match():  # each pair waits for its map
            done = set()
            while not ended.wait(0.005):
                for f in offered.frames():
                    if f.left_ns not in done:
                        done.add(f.left_ns)
                        s.give(f.left_ns, 7)
        thread = threading.Thread(target=match)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(ended.set)
        i.until_published(3)
        seen = {}

        def look():
            seen.update({f.left_ns: (f.camera, f.flags & RECTIFIED) for f in offered.frames()})
            return len(seen)
        cameras = [self.changed(i, "camera.calibration=" + i.file)]
        for n in range(8):
            write(RAW % (64, 0.1) if n % 2 else PLAIN % (52 + n, 64))
            cameras.append(self.changed(i, "camera.calibration=" + i.file))
            published = i.status()["frames"]["published"]
            until(lambda n=published: look() and i.status()["frames"]["published"] > n, 30, "frames")
        look()
        self.assertEqual(i.stop(), 0)
        both = [(f.number, (f.camera, f.flags & RECTIFIED), seen[f.left_ns]) for f in ring.frames()
                if f.left_ns in seen]
        self.assertGreater(len(both), 8)
        self.assertGreater(len({b[1] for b in both}), 3)
        for number, frame, pair in both:
            self.assertEqual(frame, pair, number)

    def test_the_raw_street(self):
        """All frames, from the one that the answer names on, equal those of a daemon started with the new settings."""
        first, frames = 0, []
        for live in (True, False):
            i = self.instance()
            i.start(*SMALL, "-s", "output.slots=1024", "-s", "road.mode=calibrated", "-s", "source.lenses=wide", "-s",
                    "source.fps=0", "-s", "camera.rectify=" + ("no" if live else "auto"))
            i.until_published(3)
            ring = i.ring()
            if live:
                for more in ((), ("camera.rectify=auto",)):
                    self.assertEqual(i.order("camera.fx=300", *more),
                                     (422, "camera.fx: the synthetic source sets its own cameras\n"))
                first = self.changed(i, "camera.rectify=auto")
            i.until_published(first + 8)
            self.assertEqual(i.stop(), 0)
            frames.append({f.number: f for f in ring.frames()})
        live, started = frames
        common = [n for n in live if n >= first and n in started]
        self.assertGreater(len(common), 5)
        for n in common:
            self.assertEqual((n, live[n].flags & ~CHANGED, live[n].record), (n, RECTIFIED, started[n].record))
        self.assertEqual(live[first - 1].flags, 0)
        self.assertNotEqual(live[first - 1].record, started[first - 1].record)


if __name__ == "__main__":
    unittest.main()
