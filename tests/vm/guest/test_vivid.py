# Tests two vivid cameras: every format and kind of memory, and 600 pictures whose losses are all counted.
#
# SPDX-License-Identifier: Apache-2.0
import os
import struct
import time

from guest import TestCase, camera, camera_settings, control, left_image, load_vivid, run, unload, until

WIDTH, HEIGHT = 320, 180  # the smallest size of vivid
FPS = 5
RAW = 24  # frames to examine first: the number that passes until three are published
MOVE_RIGHT_FAST = 6
MEMORIES = ("mmap", "userptr", "dmabuf")
# Formats with grey alone, with chroma beside it, and with chroma after it. These matter for buffers. The other formats
# are tested with one kind of memory.
EACH_MEMORY = ("GREY", "YUYV", "NV12")


def by_rows(raw, row_bytes, convert):
    """Converts each different row once, because most rows of a test picture are equal."""
    rows = [raw[i:i + row_bytes] for i in range(0, len(raw), row_bytes)]
    known = {row: convert(row) for row in set(rows)}
    return [known[row] for row in rows]


def range_of(rows):
    """Returns min and max as stages/stereo/stretch.h does, of a pair in which both images have these rows."""
    each = {row: [sorted(three)[1] for three in zip(row, row[4:], row[8:])] for row in set(rows)}
    medians = sorted(m for row in rows for m in each[row])
    tail = max(2 * len(medians) // 1000, 32)
    low, high = medians[tail // 2], medians[(2 * len(medians) - 1 - tail) // 2]
    step = 1
    while 32 * step <= high - low + 1:
        step *= 2
    return low // step * step, high // step * step + step - 1


def stretched(raw):
    """Converts 16-bit words to 8 bits over their range: docs/develop/algorithm.md, pixels of more than 8 bits."""
    rows = by_rows(raw, 2 * WIDTH, lambda row: struct.unpack("<%dH" % WIDTH, row))
    low, high = range_of(rows)
    table = {n: (2 * 255 * (min(max(n, low), high) - low) + (high - low)) // (2 * (high - low))
             for row in set(rows) for n in row}
    known = {row: bytes(table[n] for n in row) for row in set(rows)}
    return b"".join(known[row] for row in rows)


def weighted(raw):
    return b"".join(by_rows(raw, 3 * WIDTH, lambda row: bytes(
        (77 * row[i] + 150 * row[i + 1] + 29 * row[i + 2] + 128) >> 8 for i in range(0, len(row), 3))))


def mirrored(row):
    """Returns the sums of the two neighbours of each element."""
    return [a + b for a, b in zip(row[1:2] + row[:-1], row[1:] + row[-2:-1])]


def mosaic(rows, order):
    """Returns grey rows of a Bayer pattern, by the sums of capture/v4l2/raw.h."""
    weights = {"R": 77, "B": 29}
    known = {}

    def grey(up, here, down, colours):
        at = colours.find("G") ^ 1
        own, other = weights[colours[at]], weights["B" if colours[at] == "R" else "R"]
        column = [a + b for a, b in zip(up, down)]
        places = list(zip(here, mirrored(here), column, mirrored(column)))
        out = [0] * WIDTH
        out[at::2] = [4 * own * p + 150 * (h + v) + other * d + 512 >> 10 for p, h, v, d in places[at::2]]
        out[1 - at::2] = [600 * p + 2 * own * h + 2 * other * v + 512 >> 10 for p, h, v, _ in places[1 - at::2]]
        return tuple(out)

    def row_of(y):
        key = rows[abs(y - 1)], rows[y], rows[HEIGHT - 2 if y + 1 == HEIGHT else y + 1], order[y % 2 * 2:][:2]
        if key not in known:
            known[key] = grey(*key)
        return known[key]

    return [row_of(y) for y in range(HEIGHT)]


# Bytes of a frame per pixel, and the conversion to grey.
FORMATS = {
    "GREY": (1, lambda raw: raw),
    "YUYV": (2, lambda raw: raw[0::2]),
    "UYVY": (2, lambda raw: raw[1::2]),
    "NV12": (1.5, lambda raw: raw[:WIDTH * HEIGHT]),
    "Y16": (2, stretched),
    "Y12": (2, stretched),
    "Y10": (2, stretched),
    "RGB3": (3, weighted),
    "SGBRG8": (1, lambda raw: b"".join(map(bytes, mosaic(by_rows(raw, WIDTH, tuple), "GBRG")))),
}
CODES = {"SGBRG8": "GBRG"}  # formats whose four characters in the driver differ from the name


class Formats(TestCase):
    """The picture published beside the stixels equals the picture that v4l2-ctl reads from the same camera."""

    @classmethod
    def setUpClass(cls):
        load_vivid(3)
        for device in ("/dev/video0", "/dev/video1"):  # moving, so that all pictures differ
            control(device, horizontal_movement=MOVE_RIGHT_FAST)

    @classmethod
    def tearDownClass(cls):
        unload("vivid")

    def raw_frames(self, name):
        """Returns the first frames of a stream from the driver. On a busy machine the driver skips some."""
        fourcc = CODES.get(name, name).ljust(4)
        run("v4l2-ctl", "-d", "/dev/video0", "-v", "width=%d,height=%d,pixelformat=%s" % (WIDTH, HEIGHT, fourcc))
        run("v4l2-ctl", "-d", "/dev/video0", "-p", "25")
        run("v4l2-ctl", "-d", "/dev/video0", "--stream-mmap", "--stream-count=%d" % RAW, "--stream-to=/tmp/raw")
        with open("/tmp/raw", "rb") as f:
            data = f.read()
        os.unlink("/tmp/raw")
        each = int(WIDTH * HEIGHT * FORMATS[name][0])
        self.assertEqual(len(data), RAW * each)
        return [data[i:i + each] for i in range(0, len(data), each)]

    def check(self, name):
        grey = FORMATS[name][1]
        known = set(map(grey, self.raw_frames(name)))
        for memory in MEMORIES if name in EACH_MEMORY else MEMORIES[:1]:
            with self.subTest(memory=memory):
                i = self.daemon(camera_settings("/dev/video0", "/dev/video1", format=name, memory=memory, fps=FPS,
                                                size="%dx%d" % (WIDTH, HEIGHT), dmabuf_from="/dev/video2",
                                                **{"output.planes": "left", "output.planes_when": "always",
                                                   "output.slots": "64"}))
                status = i.until_published(3, 30)
                ring = i.ring()
                i.process.kill()
                i.process.wait()
                self.assertEqual(status["source"]["memory"], memory)
                self.assertEqual(camera(status, "left")["format"], name)
                self.assertEqual(camera(status, "left")["dropped"]["first"], 1)
                pictures = {left_image(ring, n) for n in (1, 2, 3)}
                self.assertEqual(len(pictures), 3)
                for _ in range(3):
                    if not pictures <= known:
                        known |= set(map(grey, self.raw_frames(name)))
                self.assertTrue(pictures <= known, "a picture that the driver did not make")
                i.close()


for each_name in FORMATS:
    setattr(Formats, "test_" + each_name.lower(), lambda self, name=each_name: self.check(name))


class Layouts(TestCase):
    @classmethod
    def setUpClass(cls):
        load_vivid(2)

    @classmethod
    def tearDownClass(cls):
        unload("vivid")

    def test_automatic(self):
        # the cheapest format, the best kind of memory
        i = self.daemon(camera_settings("/dev/video0", "/dev/video1", size="%dx%d" % (WIDTH, HEIGHT), fps=FPS))
        status = i.until_published(1)
        self.assertEqual(camera(status, "right")["format"], "GREY")
        self.assertEqual(status["source"]["memory"], "userptr")
        self.assertEqual(status["source"]["stamp"], "end of frame")
        self.assertEqual(i.stop(), 0)

    def test_one_camera_with_both_images(self):
        # 640x360: two of 320x360 side by side, or two of 640x180 above each other
        for layout, size in (("side-by-side", "320x360"), ("top-bottom", "640x180")):
            i = self.daemon(camera_settings("/dev/video0", "", layout=layout, size=size, fps=FPS, format="GREY"))
            status = i.until_published(1, 30)
            self.assertEqual([c["side"] for c in status["source"]["cameras"]], ["both"])
            frame = i.ring().frames()[-1]
            self.assertEqual("%dx%d" % (frame.width, frame.height), size)
            self.assertEqual(frame.left_ns, frame.right_ns)
            self.assertEqual(i.stop(), 0)

    def test_what_cameras_do_not_have(self):
        for more, said in (({"size": "333x181"}, "333x181"), ({"size": "320x180", "format": "MJPG"}, "MJPG")):
            code, err = self.refused(camera_settings("/dev/video0", "/dev/video1", **more))
            self.assertEqual(code, 78, err)
            self.assertIn(said, err)
        # one camera under two names
        os.symlink("/dev/video0", "/dev/also-video0")
        self.addCleanup(os.unlink, "/dev/also-video0")
        code, err = self.refused(camera_settings("/dev/video0", "/dev/also-video0"))
        self.assertEqual(code, 78, err)
        self.assertIn("are the same device", err)
        # a device that is not a camera
        code, err = self.refused(camera_settings("/dev/null", "/dev/video1"))
        self.assertEqual(code, 78, err)
        self.assertIn("/dev/null", err)


class Rate(TestCase):
    SECONDS = 10  # time during which the engine uses the whole processor

    def test_two_cameras_640x360_at_30(self):
        load_vivid(2)
        self.addCleanup(unload, "vivid")
        # Before the first image and after the last one, a late image looks the same as a lost image.
        i = self.daemon(camera_settings("/dev/video0", "/dev/video1", size="640x360", fps=30, format="GREY",
                                        **{"stixels.width": "32"}))
        until(lambda: i.status()["frames"]["captured"] > 0, 20, "a pair")
        began, first = time.monotonic(), i.status()
        time.sleep(self.SECONDS)
        took, last = time.monotonic() - began, i.status()
        self.assert_accounted(last)
        for side in ("left", "right"):
            a, b = camera(first, side), camera(last, side)
            given = b["captured"] - a["captured"] + b["sequence_gaps"] - a["sequence_gaps"]
            self.assertLess(abs(given - 30 * took), 30, (side, took, a, b))
            for reason in ("error_flag", "short", "broken"):
                self.assertEqual(b["dropped"][reason], 0)
            self.assertEqual(b["reconnects"], 0)
        self.assertIn(last["state"], ("running", "degraded"))  # the engine is slow here, and the state says so
        self.assertGreater(last["frames"]["published"], 3)
        self.assertEqual(i.stop(), 0)


