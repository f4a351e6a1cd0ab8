# Tests stixel-process: compares its files with each other and with images of known disparity; names, errors, exit
# codes.
# SPDX-License-Identifier: Apache-2.0
import csv
import os
import re
import signal
import statistics
import struct
import subprocess
import time
import unittest
import zlib

from support import LEGEND, Folder, Png, program, run, shifted_pair, write_pgm, write_png

WIDTH, HEIGHT, DISPARITY = 160, 96, 11
HEADER = "column,row_top,row_bottom,class,disparity,depth_m,slope,confidence,support,label,filled"
SMALL = ["-s", "stereo.disparities=32"]


class Outputs(Folder):
    def setUp(self):
        super().setUp()
        self.left, self.right = self.pair("in")

    def pair(self, folder, disparity=DISPARITY, seed=1, suffix="pgm"):
        left, right = shifted_pair(WIDTH, HEIGHT, disparity, seed)
        paths = self.path(folder, "left." + suffix), self.path(folder, "right." + suffix)
        for path, rows in zip(paths, (left, right)):
            (write_pgm if suffix == "pgm" else write_png)(path, rows)
        return paths

    def process(self, *args, want=0):
        r = run("stixel-process", *SMALL, "-o", self.path("out"), *args)
        self.assertEqual(r.returncode, want, r.stderr)
        return r

    def stixels(self, name="left"):
        with open(self.path("out", name + ".stixels.csv")) as f:
            self.assertEqual(f.readline().rstrip("\n"), HEADER)
            return [dict(zip(HEADER.split(","), row)) for row in csv.reader(f)]


class Results(Outputs):
    def test_disparity_is_the_known_one(self):
        self.process(self.left, self.right)
        d = Png(self.path("out", "left.disparity.png"))
        self.assertEqual((d.width, d.height, d.bits, d.channels), (WIDTH, HEIGHT, 16, 1))
        inner = [v for row in d.rows[8:-8] for v in row[40:-8]]
        right = [v for v in inner if abs(v - DISPARITY * 256) <= 32]
        self.assertGreater(len(right), 0.95 * len(inner))
        self.assertTrue(all(v % 16 == 0 or v == 1 for row in d.rows for v in row))

    def test_measured_zero_is_not_invalid(self):
        self.process(self.left, self.left)
        d = Png(self.path("out", "left.disparity.png"))
        inner = [v for row in d.rows[8:-8] for v in row[8:-8]]
        self.assertGreater(inner.count(1), 0.95 * len(inner))

    def test_an_unknown_camera_is_told(self):
        self.assertIn("no camera given", self.process(self.left, self.right).stderr)
        camera = [w for k, v in (("fx", 300), ("fy", 300), ("cx", 80), ("cy", 48), ("baseline_m", 0.2))
                  for w in ("-s", f"camera.{k}={v}")]
        self.assertEqual(self.process(*camera, self.left, self.right).stderr, "")

    def test_stixels_fill_every_column(self):
        self.process(self.left, self.right)
        columns = {}
        for s in self.stixels():
            columns.setdefault(int(s["column"]), []).append(s)
        self.assertEqual(sorted(columns), list(range(WIDTH // 4)))
        for stixels in columns.values():
            below = HEIGHT
            for s in stixels:
                self.assertEqual(int(s["row_bottom"]), below - 1)
                self.assertLessEqual(int(s["row_top"]), int(s["row_bottom"]))
                self.assertIn(s["class"], ("ground", "object", "sky", "unknown"))
                self.assertLessEqual(int(s["confidence"]), 255)
                below = int(s["row_top"])
            self.assertEqual(below, 0)

    def test_stixels_agree_with_disparity(self):
        self.process("-s", "stixels.method=dp", "-s", "stixels.width=5", self.left, self.right)
        d = Png(self.path("out", "left.disparity.png"))
        compared = 0
        for s in self.stixels():
            if s["class"] != "object" or not s["disparity"] or int(s["support"]) < 8:
                continue
            x = int(s["column"]) * 5
            rows = d.rows[int(s["row_top"]) : int(s["row_bottom"]) + 1]
            # Follows the definitions: a cell is the upper median of a row's valid pixels if at least half are valid,
            # and the stixel is the mean of its cells.
            valid = [[v / 256 for v in row[x : x + 5] if v] for row in rows]
            cells = [statistics.median_high(row) for row in valid if 2 * len(row) >= 5]
            self.assertEqual(len(cells), int(s["support"]))
            self.assertAlmostEqual(statistics.mean(cells), float(s["disparity"]), delta=1 / 16)
            compared += 1
        self.assertGreater(compared, 10)

    def test_depth_follows_the_camera(self):
        camera = ["-s", "camera.fx=400", "-s", "camera.fy=400", "-s", "camera.baseline_m=0.25"]
        self.process(*camera, self.left, self.right)
        seen = 0
        for s in self.stixels():
            if s["depth_m"]:
                self.assertAlmostEqual(float(s["depth_m"]), 100 / float(s["disparity"]), delta=0.001)
                seen += 1
        self.assertGreater(seen, 10)

    def test_without_camera_no_depth(self):
        none = [w for k in ("fx", "fy", "baseline_m") for w in ("-s", "camera.%s=0" % k)]
        r = self.process(*none, self.left, self.right)
        self.assertTrue(all(s["depth_m"] == "" for s in self.stixels()))
        self.assertIn("road none", r.stdout)

    def test_overlay_shows_the_image(self):
        self.process(self.left, self.right)
        o = Png(self.path("out", "left.overlay.png"))
        self.assertEqual((o.width, o.height, o.bits, o.channels), (WIDTH, HEIGHT + LEGEND, 8, 3))
        colours = {p for row in o.rows for p in row}
        self.assertGreater(len(colours), 100)
        self.assertTrue(any(r != g or g != b for r, g, b in colours))

    def test_colours_of_given_distances(self):
        def overlay(*options):
            self.process(*options, self.left, self.right)
            return Png(self.path("out", "left.overlay.png")).rows
        scene, near, far = overlay(), overlay("--near", 0.5, "--far", 1), overlay("--near", 1000, "--far", 2000)
        self.assertEqual(overlay("--near", 0.5, "--far", "1.0"), near)
        # given ends make everything far or near: other colours than the scene's, and other numbers in the legend
        self.assertEqual(len({str(rows[:HEIGHT]) for rows in (scene, near, far)}), 3)
        self.assertEqual(len({str(rows[HEIGHT:]) for rows in (scene, near, far)}), 3)
        self.assertGreater(*(sum(g for row in rows[:HEIGHT] for _, g, _ in row) for rows in (far, near)))
        for ends in (("--near", 5, "--far", 5), ("--near", 5, "--far", 1), ("--near", 0), ("--far", "x"),
                     ("--far", "nan")):
            r = run("stixel-process", *ends, self.left, self.right)
            self.assertEqual(r.returncode, 64, r.stderr)

    def test_more_pictures_only_when_asked(self):
        self.process(self.left, self.right)
        self.assertEqual(self.listing("out"), ["left.disparity.png", "left.overlay.png", "left.stixels.csv"])
        self.process("--disparity-colour", "--disparity-filled", self.left, self.right)
        # measured pixels stay, and unmeasured pixels are closed
        d, filled = (Png(self.path("out", "left.disparity%s.png" % s)) for s in ("", "-filled"))
        both = [(a, b) for x, y in zip(d.rows, filled.rows) for a, b in zip(x, y)]
        self.assertTrue(all(a == b for a, b in both if a))
        self.assertGreater(sum(a == 0 for a, _ in both), 100)
        self.assertLess(sum(b == 0 for _, b in both), sum(a == 0 for a, _ in both) / 10)
        self.assertEqual(Png(self.path("out", "left.disparity-colour.png")).channels, 3)

    def test_line(self):
        r = self.process(self.left, self.right)
        self.assertRegex(r.stdout, r"^left: 160x96, [0-9.]+ ms, density [0-9.]+ %, \d+ stixels, road .+\n$")
        self.assertEqual(len(self.stixels()), int(re.search(r"(\d+) stixels", r.stdout)[1]))

    def test_engines_and_formats_give_the_same_bytes(self):
        def contents():
            out = []
            for name in self.listing("out"):
                with open(self.path("out", name), "rb") as f:
                    out.append(f.read())
            return out

        self.process("-s", "engine.backend=reference", self.left, self.right)
        reference = contents()
        self.process("-s", "engine.backend=cpu", self.left, self.right)
        self.assertEqual(contents(), reference)
        self.process(*self.pair("in2", suffix="png"))
        self.assertEqual(contents(), reference)

    def test_sixteen_bit_images(self):
        left, right = shifted_pair(WIDTH, HEIGHT, DISPARITY)
        paths = self.path("w", "left.png"), self.path("w", "right.png")
        for path, rows in zip(paths, (left, right)):
            write_png(path, [[v * 200 for v in row] for row in rows], bits=16)
        self.process(*paths)
        d = Png(self.path("out", "left.disparity.png"))
        inner = [v for row in d.rows[8:-8] for v in row[40:-8]]
        self.assertGreater(sum(abs(v - DISPARITY * 256) <= 32 for v in inner), 0.9 * len(inner))

    def test_other_sizes_in_one_run(self):
        left, right = shifted_pair(97, 61, 5)
        write_pgm(self.path("odd", "a.pgm"), left)
        write_pgm(self.path("odd", "b.pgm"), right)
        self.process(self.left, self.right, self.path("odd", "a.pgm"), self.path("odd", "b.pgm"), self.left, self.right)
        self.assertEqual(Png(self.path("out", "a.overlay.png")).width, 97)


class Pinned(Outputs):
    """Tests an engine that reads pairs in place. The module counts frames and pinned blocks, and aborts if pinned
    memory is freed."""

    def report(self, **env):
        small = [self.path("small", n + ".pgm") for n in ("left", "right")]
        for path, rows in zip(small, shifted_pair(WIDTH // 2, HEIGHT, 3, 1)):
            write_pgm(path, rows)
        env = dict(os.environ, STIXEL_MODULE_PATH=os.environ["STIXEL_FAKE_MODULE"],
                   FAKE_MODULE_REPORT=self.path("report"), **env)
        r = run("stixel-process", *SMALL, "-s", "engine.backend=cuda", "-o", self.path("out"), self.left, self.right,
                self.left, self.right, *small, env=env)
        self.assertEqual(r.returncode, 0, r.stderr)
        with open(self.path("report")) as f:
            return f.read().strip()

    def test_pairs_lie_in_pinned_memory(self):
        self.assertEqual(self.report(), "frames 3 pins 2 unpins 2 staged 0")

    def test_what_the_engine_does_not_compute(self):
        r = run("stixel-process", *SMALL, "-s", "engine.backend=cuda", "-s", "stixels.method=slanted-exact", "-o",
                self.path("out"), self.left, self.right,
                env=dict(os.environ, STIXEL_MODULE_PATH=os.environ["STIXEL_FAKE_MODULE"]))
        self.assertEqual(r.returncode, 78, r.stderr)
        self.assertIn("stixels.method = slanted-exact: only engine.backend = cpu or reference computes it", r.stderr)
        self.assertEqual(self.listing("out"), [])

    def test_memory_that_cannot_be_pinned(self):
        self.assertEqual(self.report(FAKE_MODULE_PIN="no"), "frames 3 pins 0 unpins 0 staged 6")


class Folders(Outputs):
    def setUp(self):
        super().setUp()
        for n in range(3):
            for side, image in (("image_0", self.left), ("image_1", self.right)):
                os.makedirs(self.path("seq", side), exist_ok=True)
                os.symlink(image, self.path("seq", side, "%06d.pgm" % n))

    def test_a_data_set_brings_its_pairs_and_its_calibration(self):
        with open(self.path("seq", "calib.txt"), "w") as f:
            f.write("P0: 150 0 80 0 0 150 48 0 0 0 1 0\nP1: 150 0 80 -30 0 150 48 0 0 0 1 0\n")
        with open(self.path("seq", "times.txt"), "w") as f:
            f.write("0\n50\n100\n")  # pairs do not wait for their time
        r = self.process(self.path("seq"))
        self.assertIn("stixel-process: KITTI: 3 pairs; calibration of calib.txt\n", r.stderr)
        self.assertIn("taken are P0 and P1, the grey cameras", r.stderr)
        self.assertEqual([line.split(":")[0] for line in r.stdout.splitlines()], ["000000", "000001", "000002"])
        near = [float(s["depth_m"]) * float(s["disparity"]) for s in self.stixels("000002") if s["depth_m"]]
        self.assertTrue(near and all(abs(z - 30) < 0.1 for z in near), near)  # fx * baseline of the file
        # -c of a camera does not replace the folder, and --semantics counts its pairs
        with open(self.path("camera.conf"), "w") as f:
            f.write("[source]\nkind = v4l2\nleft = /dev/video0\nright = /dev/video1\n")
        self.assertEqual(self.process(self.path("seq"), "-c", self.path("camera.conf")).stderr, r.stderr)
        self.assertIn("--semantics is given 1 times for 3 pairs",
                      self.process(self.path("seq"), "--semantics", "x.npy", want=64).stderr)

    def test_folders_that_do_not_serve(self):
        self.assertIn("seq/image_0: no pairs found", self.process(self.path("seq", "image_0"), want=65).stderr)
        self.assertIn("/none is no folder", self.process(self.path("none"), want=64).stderr)
        self.assertIn("left.pgm is no folder, and an image needs a RIGHT", self.process(self.left, want=64).stderr)


class Names(Outputs):
    def test_same_names_get_their_folder(self):
        second = self.pair("second", disparity=4)
        r = self.process(self.left, self.right, *second)
        self.assertEqual([line.split(":")[0] for line in r.stdout.splitlines()], ["in_left", "second_left"])
        self.assertEqual(len(self.listing("out")), 6)
        first = Png(self.path("out", "in_left.disparity.png")).rows[50][80]
        other = Png(self.path("out", "second_left.disparity.png")).rows[50][80]
        self.assertEqual((round(first / 256), round(other / 256)), (DISPARITY, 4))

    def test_the_same_pair_twice(self):
        self.process(self.left, self.right, self.left, self.right)
        self.assertEqual(len(self.listing("out")), 6)


class Sparse(Outputs):
    LIKELY = "; likely left and right are swapped, the rows of both images are off against each other, or the images " \
        "are not rectified\n"
    CAMERA = [w for k, v in (("fx", 300), ("fy", 300), ("cx", 80), ("cy", 48), ("baseline_m", 0.2))
              for w in ("-s", f"camera.{k}={v}")]

    def density(self, r):
        return [float(d) for d in re.findall(r"density ([0-9.]+) %", r.stdout)]

    def test_swapped(self):
        self.assertEqual(self.process(*self.CAMERA, self.left, self.right).stderr, "")
        r = self.process(*self.CAMERA, self.right, self.left)
        percent, = self.density(r)
        self.assertLess(percent, 40)
        match = re.fullmatch(r"stixel-process: right: only ([0-9.]+) % of the pixels have a disparity; left and "
                             r"right are exchanged: density (\d+) % as it is, (\d+) % exchanged\n", r.stderr)
        self.assertTrue(match, r.stderr)
        self.assertEqual((float(match.group(1)), int(match.group(2))), (percent, round(percent)))
        self.assertGreater(int(match.group(3)), 60)

    def rows(self, path, move):
        """Writes the image to a new file with its rows shifted by `move`."""
        with open(path, "rb") as f:
            whole = f.read()
        head, data = whole[:-WIDTH * HEIGHT], whole[-WIDTH * HEIGHT:]
        other = path.replace(".pgm", "-moved.pgm")
        with open(other, "wb") as f:
            f.write(head + data[-move * WIDTH:] + data[:-move * WIDTH])
        return other

    def test_rows_off(self):
        r = self.process(*self.CAMERA, self.left, self.rows(self.right, 6))
        self.assertRegex(r.stderr,
                         r"have a disparity; rows are out of line: the right image is (6\.[01]|5\.9) px lower\n$")

    def test_in_line_all_the_same(self):
        """The filter removes islands of up to a million pixels. The message must not blame the images."""
        r = self.process(*self.CAMERA, "-s", "filters.speckle_size=1000000", self.left, self.right)
        self.assertIn("; its images are neither exchanged nor out of line: likely there is too little texture, or",
                      r.stderr)

    def test_nothing_is_found_again(self):
        left, _ = self.pair("a", seed=1)
        _, right = self.pair("b", seed=2)
        r = self.process(*self.CAMERA, left, right)
        self.assertEqual(r.stderr, "stixel-process: left: only %.1f %% of the pixels have a disparity%s"
                         % (*self.density(r), self.LIKELY))

    def test_some_of_several(self):
        r = self.process(*self.CAMERA, self.left, self.right, self.right, self.left, self.path("none.pgm"), self.right,
                         want=65)
        self.assertIn("stixel-process: 1 of 2 pairs have a disparity for less than 40 %% of their pixels (right: "
                      "%.1f %%); left and right are exchanged: density " % self.density(r)[1], r.stderr)


class Errors(Outputs):
    def test_error_stands_alone(self):
        """Notes about results appear only together with results."""
        scores = ["--semantics", self.path("no.npy"), "-s", "stixels.method=dp"]
        for args in ([self.path("none.pgm"), self.right], [*scores, self.left, self.right],
                     ["-s", "stereo.fastdt=int32", "-s", "stereo.aggregation=fastdt", self.left, self.right]):
            r = run("stixel-process", *SMALL, "-o", self.path("out"), *args)
            self.assertNotEqual(r.returncode, 0)
            self.assertEqual(r.stderr.count("\n"), 1, r.stderr)
        # after an error, once
        r = self.process(self.path("none.pgm"), self.right, self.left, self.right, self.left, self.right, want=65)
        self.assertRegex(r.stderr, r"none.pgm.*\n.*no camera given.*\n.*1 of 3 pairs failed\n$")
        self.assertEqual(r.stderr.count("no camera given"), 1)

    def test_missing_image_is_named_and_others_run(self):
        r = self.process(self.path("none.pgm"), self.right, self.left, self.right, want=65)
        self.assertIn(self.path("none.pgm"), r.stderr)
        self.assertIn("1 of 2 pairs failed", r.stderr)
        self.assertEqual(self.listing("out"), ["left.disparity.png", "left.overlay.png", "left.stixels.csv"])

    def test_sizes_differ(self):
        left, _ = shifted_pair(WIDTH, HEIGHT - 2, 3)
        write_pgm(self.path("x", "short.pgm"), left)
        r = self.process(self.left, self.path("x", "short.pgm"), want=65)
        self.assertIn("160x96", r.stderr)
        self.assertIn("160x94", r.stderr)
        self.assertEqual(self.listing("out"), [])

    def test_not_an_image(self):
        with open(self.path("text.png"), "w") as f:
            f.write("no picture at all\n" * 40)
        r = self.process(self.path("text.png"), self.right, want=65)
        self.assertIn("text.png", r.stderr)
        self.assertEqual(self.listing("out"), [])

    def test_orientation_is_told_once_and_not_applied(self):
        exif = b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 0x112, 3, 1, 3, 0, 0)
        left, right = self.pair("tagged", suffix="png")
        for path in (left, right):
            with open(path, "rb") as f:
                data = f.read()
            chunk = b"eXIf" + exif
            with open(path, "wb") as f:
                f.write(data[:33] + struct.pack(">I", len(exif)) + chunk + struct.pack(">I", zlib.crc32(chunk)))
                f.write(data[33:])
        r = self.process(left, right)
        self.assertEqual(r.stderr.count("EXIF"), 1, r.stderr)
        self.assertIn(left + ": its EXIF orientation tag (3) says that it is stored upside down; "
                      "the tag is not applied", r.stderr)
        d = Png(self.path("out", "left.disparity.png"))
        inner = [v for row in d.rows[8:-8] for v in row[40:-8]]
        self.assertGreater(sum(abs(v - DISPARITY * 256) <= 32 for v in inner), 0.95 * len(inner))

    def test_cut_image(self):
        with open(self.left, "rb") as f:
            data = f.read()
        with open(self.path("cut.pgm"), "wb") as f:
            f.write(data[: len(data) // 2])
        self.process(self.path("cut.pgm"), self.right, want=65)

    def test_too_small_for_the_engine(self):
        write_pgm(self.path("x", "a.pgm"), [[0] * 8] * 8)
        r = self.process(self.path("x", "a.pgm"), self.path("x", "a.pgm"), self.left, self.right, want=65)
        self.assertIn("a.pgm", r.stderr)
        self.assertIn("left.stixels.csv", self.listing("out"))

    def test_usage(self):
        for args in ([], [self.left], ["--nonsense"], [self.left, self.right, self.left]):
            r = run("stixel-process", *args)
            self.assertEqual(r.returncode, 64, args)
            self.assertTrue(r.stderr.strip())

    def test_wrong_configuration_names_all(self):
        r = self.process("-s", "stereo.disparities=33", "-s", "no.such=1", self.left, self.right, want=78)
        self.assertIn("disparities", r.stderr)
        self.assertIn("no.such", r.stderr)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_what_the_engine_does_not_compute(self):
        fastdt = ["-s", "stereo.aggregation=fastdt", "-s", "stereo.fastdt=int32", self.left, self.right]
        r = self.process("-s", "engine.backend=cpu", *fastdt, want=78)
        self.assertIn("stereo.fastdt = int32: only engine.backend = reference computes it", r.stderr)
        self.process("-s", "engine.backend=reference", *fastdt)

    def test_missing_configuration_file(self):
        r = self.process("-c", self.path("none.conf"), self.left, self.right, want=78)
        self.assertIn("none.conf", r.stderr)

    def test_cuda_is_refused(self):
        r = self.process("-s", "engine.backend=cuda", self.left, self.right, want=69)
        self.assertIn("cuda", r.stderr.lower())

    def test_output_below_a_file(self):
        r = run("stixel-process", *SMALL, "-o", self.left, self.left, self.right)
        self.assertEqual(r.returncode, 73)
        self.assertIn(self.left, r.stderr)

    def test_result_that_cannot_be_written_leaves_nothing(self):
        os.makedirs(self.path("out", "left.overlay.png"))
        r = self.process(self.left, self.right, want=73)
        self.assertIn("left.overlay.png", r.stderr)
        self.assertFalse([n for n in self.listing("out") if re.search(r"\.[A-Za-z0-9]{6}$", n)], self.listing("out"))

    def test_signal_finishes_the_pair(self):
        p = subprocess.Popen(
            [program("stixel-process"), *SMALL, "-o", self.path("out")] + [self.left, self.right] * 2000,
            stdout=subprocess.PIPE,
            text=True,
        )
        p.stdout.readline()
        p.send_signal(signal.SIGTERM)
        p.communicate(timeout=60)
        self.assertEqual(p.returncode, -signal.SIGTERM)
        names = self.listing("out")
        self.assertEqual(len(names) % 3, 0, names)
        self.assertTrue(all(n.endswith((".png", ".csv")) for n in names))

    def test_help(self):
        r = run("stixel-process", "--help")
        self.assertEqual(r.returncode, 0)
        for word in ("--set", "--help-keys", "folder", "NAME.stixels.csv"):
            self.assertIn(word, r.stdout)


if __name__ == "__main__":
    unittest.main()
