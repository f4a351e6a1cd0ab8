"""stixel-calibrate: rendered boards and known cameras, from files and from a daemon, and refused input.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import numpy as np
import support
import stixel
from support import SLOW, until

try:
    import cv2
except ImportError:
    print("OpenCV for Python is not installed (Debian package python3-opencv)")
    sys.exit(1 if os.environ.get("CI") else 77)

import board_scene

PROGRAM = os.path.join(support.SOURCE, "tools", "calibrate", "stixel_calibrate")
sys.path.insert(0, os.path.dirname(PROGRAM))
from stixel_calibrate import apply, board, fail, lens, options, output, pairs  # noqa: E402
from stixel_calibrate import program, report, solve, views  # noqa: E402

LONG = 60 * SLOW
PAIRS = 14
FAST = ["-s", "stereo.disparities=32", "-s", "engine.threads=1"]
found_before = {}


def remember(find):
    """Wraps a board search so that each image is searched only once."""
    def found(self, image):
        key = str(self), image.tobytes()
        if key not in found_before:
            found_before[key] = find(self, image)
        f = found_before[key]
        return f and board.Found(f.ids, f.points.copy(), f.spacing)
    return found


class Scenes:
    """Rendered sets as files in folders, each made at its first use."""

    made = {}
    top = tempfile.mkdtemp(prefix="stixel-")

    @classmethod
    def get(cls, model, charuco=False):
        """Returns (folder, rig, board)."""
        if (model, charuco) not in cls.made:
            b = board.Charuco((7, 5), 60, 45, "4X4_50") if charuco else board.Checkerboard((9, 6), 25)
            rig = board_scene.rig(model)
            scene = board_scene.Scene(rig, b, 11)
            folder = os.path.join(cls.top, model + "-charuco" * charuco)
            os.mkdir(folder)
            near = {"plumb_bob": 0.4, "equidistant": 0.25}[model]
            for i in range(PAIRS):
                pose = scene.pose(near, 2 * near, 35, 0.6 if charuco else 1)
                for side, image in zip(("left", "right"), scene.pair(*pose)):
                    cv2.imwrite("%s/%s_%02d.png" % (folder, side, i), image)
            cls.made[model, charuco] = folder, rig, b
        return cls.made[model, charuco]


def tearDownModule():
    shutil.rmtree(Scenes.top)


def source(folder):
    """Returns daemon arguments for these images."""
    return ["-s", "source.kind=files", "-s", "source.left=%s/left_*.png" % folder, "-s",
            "source.right=%s/right_*.png" % folder]


def files(folder):
    """Returns program arguments for these images."""
    return ["--left", folder + "/left_*.png", "--right", folder + "/right_*.png"]


class Case(support.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, self.top)
        self.out = os.path.join(self.top, "stereo.yaml")
        for kind in (board.Checkerboard, board.Charuco):
            patch = mock.patch.object(kind, "find", remember(kind.find))
            patch.start()
            self.addCleanup(patch.stop)

    def main(self, *arguments):
        """Runs the program. Returns (exit code, stdout, stderr)."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = program.main(["-o", self.out, *arguments], "0")
            except SystemExit as e:
                code = e.code
        return code, out.getvalue(), err.getvalue()

    def good(self, *arguments):
        code, out, err = self.main(*arguments)
        self.assertEqual((code, err), (0, ""), out)
        return out

    def refused(self, code, sentence, *arguments):
        """Checks that the program prints one sentence and writes nothing."""
        before = sorted(os.listdir(self.top))
        got = self.main(*arguments)
        self.assertEqual(got[0], code, got)
        self.assertRegex(got[2], r"^stixel-calibrate: [^\n]*%s[^\n]*\n$" % sentence)
        self.assertEqual(sorted(os.listdir(self.top)), before)
        return got[1]

    def without(self, *modules):
        """Returns the environment of a Python in which these modules cannot be imported."""
        for name in modules:
            with open(self.top + "/%s.py" % name, "w", encoding="utf-8") as f:
                f.write("raise ImportError('gone', name='%s')\n" % name)
        return dict(os.environ, PYTHONPATH=self.top)

    def run_without(self, modules, *arguments):
        r = subprocess.run([sys.executable, PROGRAM, *arguments], capture_output=True, text=True, check=False,
                           env=self.without(*modules))
        return r.returncode, r.stdout, r.stderr

    def collect(self, folder, b, model):
        c = views.Collection(b, model)
        for pair in pairs.files(folder + "/left_*.png", folder + "/right_*.png"):
            c.look(pair, anew=False)
        return c


class Accuracy(Case):
    def close_to(self, rig, lens_name):
        got = output.earlier(self.out, rig.left.size)
        self.assertEqual(got.lens, lens_name)
        for camera, k in zip((rig.left, rig.right), got.k):
            np.testing.assert_allclose((k[0, 0], k[1, 1]), camera.f, rtol=0.003)
            np.testing.assert_allclose(k[:2, 2], camera.c, atol=1.5)
        self.assertAlmostEqual(got.baseline_m / np.linalg.norm(rig.t), 1, delta=0.005)
        np.testing.assert_allclose(got.r, rig.r, atol=0.002)
        return got

    def true_rows(self, rig, got):
        """Projects points with exactly known positions in both images through the found rectification. Returns the row
        differences, px."""
        random = np.random.default_rng(5)
        points = np.c_[random.uniform(-0.4, 0.4, (400, 2)), np.ones(400)] * random.uniform(0.5, 5, (400, 1))
        left, right = rig.left.project(points), rig.right.project(points @ rig.r.T + rig.t)
        return np.abs(got.rectified(0, left)[:, 1] - got.rectified(1, right)[:, 1])

    def check_config(self, folder):
        r = subprocess.run([os.environ["STIXELD"], "--check-config", *source(folder), "-s", "camera.rectify=yes", "-s",
                            "camera.calibration=" + self.out], capture_output=True, text=True, check=False)
        self.assertEqual(r.returncode, 0, r.stderr)

    def test_checkerboard(self):
        folder, rig, _ = Scenes.get("plumb_bob")
        out = self.good(*files(folder), "--page", self.top + "/page.html")
        got = self.close_to(rig, "plumb_bob")
        self.assertLess(np.percentile(self.true_rows(rig, got), 95), 0.2)
        self.assertLess(float(re.search(r"(?m)^all \d+ views .* ([\d.]+)$", out).group(1)), 0.2)
        self.assertGreater(float(re.search(r"(?m)^raw images .* ([\d.]+)$", out).group(1)), 5)
        self.assertIn("    stixelctl -i NAME set camera.calibration=%s camera.rectify=auto\n" % self.out, out)
        self.assertIn("    [camera]\n    calibration = %s\n" % self.out, out)
        with open(self.out, encoding="utf-8") as f:
            text = f.read()
        self.assertRegex(text, r"(?m)^# stixel-calibrate, \d{4}-\d\d-\d\d .*checkerboard of 9x6 .* 25 mm, plumb_bob\n"
                               r"# \d+ views, 0 dropped; reprojection error 0\.\d+ px, .* median 0\.\d+ px, 95 % 0")
        with open(self.top + "/page.html", encoding="utf-8") as f:
            page = f.read()
        self.assertEqual(len(re.findall('src="data:image/jpeg;base64,/9j/', page)), 2)
        self.assertNotIn("refresh", page)
        self.assertRegex(page, r"<h1>good: rows within 0\.\d\d px \(95 % of them within 0\.\d\d\)</h1>")
        self.check_config(folder)
        # second run: the old file is kept, and its errors are reported
        with open(self.out, "rb") as f:
            first = f.read()
        out = self.good(*files(folder))
        self.assertRegex(out, r"(?m)^file that was there +0\.\d+ +0\.\d+$")
        self.assertIn("the one before is %s.1" % self.out, out)
        with open(self.out + ".1", "rb") as f:
            self.assertEqual(f.read(), first)
        self.assertEqual(sorted(os.listdir(self.top)), ["page.html", "stereo.yaml", "stereo.yaml.1"])

    def test_fisheye_with_a_charuco_board_partly_out_of_sight(self):
        folder, rig, _ = Scenes.get("equidistant", charuco=True)
        self.good(*files(folder), "--lens", "equidistant", "--charuco", "--board", "7x5", "--square",
                  "60", "--dictionary", "4X4_50")
        got = self.close_to(rig, "equidistant")
        self.assertLess(np.percentile(self.true_rows(rig, got), 95), 0.2)
        self.check_config(folder)

    def test_the_lens_models_are_those_of_the_scene(self):
        for model, charuco in (("plumb_bob", False), ("equidistant", True)):
            _, rig, _ = Scenes.get(model, charuco)
            made = lens.Rig(model, rig.left.size, (rig.left.k, rig.right.k), (rig.left.d, rig.right.d), rig.r, rig.t)
            self.assertLess(self.true_rows(rig, made).max(), 0.001)
            self.assertFalse(lens.turns_back(model, rig.left.k, made.d[0], rig.left.size))
        self.assertTrue(lens.turns_back("plumb_bob", rig.left.k, (-0.5, 0, 0, 0, 0), rig.left.size))
        self.assertTrue(lens.turns_back("equidistant", rig.left.k, (-0.3, 0, 0, 0), rig.left.size))


    def test_the_names_of_opencv_5(self):
        """OpenCV 5 has no undistortPointsIter(), and has the flags of fisheye in cv2."""
        folder, rig, b = Scenes.get("equidistant", charuco=True)
        c = self.collect(folder, b, "equidistant")
        flags = ("CALIB_FIX_SKEW", "CALIB_RECOMPUTE_EXTRINSIC", "CALIB_USE_INTRINSIC_GUESS")
        with contextlib.ExitStack() as stack:
            if hasattr(cv2, "undistortPointsIter"):
                stack.enter_context(mock.patch.object(cv2, "undistortPoints", cv2.undistortPointsIter))
                stack.enter_context(mock.patch.object(cv2, "undistortPointsIter", None))
                del cv2.undistortPointsIter
                for name in flags:
                    value = getattr(cv2.fisheye, name)
                    stack.enter_context(mock.patch.object(cv2, name, value, create=True))
                    stack.enter_context(mock.patch.object(cv2.fisheye, name, value))
                    delattr(cv2.fisheye, name)
            result = solve.solve("equidistant", b, c.views, c.size)
            self.assertTrue(np.isfinite(lens.normalise("plumb_bob", [(9, 9)], rig.left.k, np.zeros(5))).all())
        self.assertAlmostEqual(result.rig.baseline_m / np.linalg.norm(rig.t), 1, delta=0.005)


class Files(Case):
    def test_refused(self):
        folder, _, _ = Scenes.get("plumb_bob")
        with open(self.out, "w", encoding="utf-8") as f:
            f.write("mine")
        self.refused(65, "left and right are exchanged: .* 0.1[12].* m to the left",
                     "--left", folder + "/right_*.png", "--right", folder + "/left_*.png")
        self.refused(65, "4 good views of the board in 4 pairs .none left out., at least 10 are needed",
                     "--left", folder + "/left_0[0-3].png", "--right", folder + "/right_0[0-3].png")
        self.refused(65, "no checkerboard of 8x5 .* in 2 pairs .* show a board of 9x6 inner corners: --board 9x6",
                     "--left", folder + "/left_0[0-1].png", "--right", folder + "/right_0[0-1].png", "--board", "8x5")
        cv2.imwrite(self.top + "/none.png", np.full((480, 640), 90, np.uint8))
        self.refused(65, r"no checkerboard of 9x6 .* in 1 pairs \(1 no board\): see --board", "--left",
                     self.top + "/none.png", "--right", self.top + "/none.png")
        self.refused(65, "%d left and 1 right images" % PAIRS, "--left", folder + "/left_*.png", "--right",
                     folder + "/right_00.png")
        self.refused(65, "no such file", "--left", folder + "/none_*.png", "--right", folder + "/right_*.png")
        cv2.imwrite(self.top + "/left.png", np.zeros((480, 641), np.uint8))
        self.refused(65, "right_00.png is 640x480, .*left.png 641x480", "--left", self.top + "/left.png", "--right",
                     folder + "/right_00.png")
        with open(self.top + "/left.png", "wb") as f:
            f.write(b"no picture")
        self.refused(65, "left.png: no image", "--left", self.top + "/left.png", "--right", folder + "/right_00.png")
        # refused before the work, not after it
        self.refused(73, "/nowhere/x.yaml cannot be written: No such file", *files(folder), "-o",
                     self.top + "/nowhere/x.yaml")
        self.refused(73, "cannot be written: Is a directory", *files(folder), "--page", self.top)
        with open(self.out, encoding="utf-8") as f:
            self.assertEqual(f.read(), "mine")

    def test_beyond_the_limits(self):
        folder, _, _ = Scenes.get("plumb_bob")
        random = np.random.default_rng(3)
        match = board.Checkerboard.match

        def shaken(self, left, right):
            ids, l, r = match(self, left, right)
            return ids, l + random.normal(0, 1.2, l.shape).astype(np.float32), r
        with mock.patch.object(board.Checkerboard, "match", shaken):
            out = self.refused(65, "not written to .*yaml: mean reprojection error .* at most 0.50", *files(folder))
            self.assertRegex(out, r"(?m)^all %d views +[01]\." % PAIRS)
            self.assertIn("written all the same", self.good(*files(folder), "--force"))
        self.assertTrue(os.path.exists(self.out))

    def test_usage(self):
        printed = ["--print-board", self.top + "/b.svg", "--charuco"]
        for arguments, text in (
                (["--left", "x"], "--left and --right go together"), (["--board", "9"], "is not COLUMNSxROWS"),
                (["--board", "6x6"], "not the same number twice"), (["--lens", "flat"], "invalid choice: 'flat'"),
                (["--square", "0"], "1 to 1000 mm"), (["--marker", "9"], "say --charuco"),
                (["--charuco", "--marker", "25"], "must be smaller"), (["x"], "unrecognized arguments: x"),
                (["--print-board", "b.pdf"], "must end in .svg or .png"), (["-i", ".x"], "not a name"),
                ([*printed, "--dictionary", "9"], "has none of this name"),
                ([*printed, "--dictionary", "4X4_50", "--board", "20x9"], "needs 105 markers, dictionary 4X4_50 has")):
            code, out, err = self.main(*arguments)
            self.assertEqual((code, out, err.count("\n")), (64, "", 1), arguments)
            self.assertIn(text, err)

    def test_modules_that_are_missing(self):
        for module, arguments, package in (("cv2", ["--left", "a", "--right", "b"], "python3-opencv"),
                                           ("numpy", ["--left", "a", "--right", "b"], "python3-numpy"),
                                           ("stixel", ["-i", "x", "--no-apply"], "python3-stixel")):
            code, out, err = self.run_without([module], *arguments, "-o", self.top + "/x.yaml")
            self.assertEqual((code, out), (69, ""))
            self.assertRegex(err, r"^stixel-calibrate: the Python module %s cannot be loaded: install .*"
                                  r"\(Debian package %s; .*\)\n$" % (module, package))
            os.unlink(self.top + "/%s.py" % module)

    def test_other_versions_of_opencv(self):
        for version, code in (("4.5.4", 69), ("3.4.20", 69), ("6.0.0", 69), ("4.6.0", 65), ("4.11.0-dev", 65),
                              ("5.0.0", 65)):
            with mock.patch.object(cv2, "__version__", version):
                self.refused(code, "OpenCV %s is not supported: install OpenCV for Python, 4.6 to 5 " % version
                             if code == 69 else "no such file", "--left", self.top + "/none", "--right", "x")

    def test_from_the_build_tree(self):
        env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "STIXEL_LIBRARY")}
        r = subprocess.run([os.environ["STIXEL_CALIBRATE"], "-i", "none-of-this-name"], capture_output=True, text=True,
                           check=False, env=env)
        self.assertEqual((r.returncode, r.stderr), (1, "stixel-calibrate: instance 'none-of-this-name': no stixel "
                                                       "publisher of this name is running: start it (stixeld -i "
                                                       "none-of-this-name), or name one of those that stixelctl "
                                                       "list shows\n"))

    def test_a_long_step_shows_that_it_goes_on(self):
        class Out(io.StringIO):
            terminal = False

            def isatty(self):
                return self.terminal

        for terminal, texts in ((False, ["calibrating, 0 s\n"]), (True, ["\rcalibrating, 0 s\x1b[K", "\r\x1b[K"])):
            out = Out()
            out.terminal = terminal
            with mock.patch.multiple(report, REDRAW_S=0.01, LINE_S=0.01), report.Working("calibrating", out):
                until(lambda o=out: "calibrating" in o.getvalue(), 30, "a line")
            self.assertTrue(out.getvalue().startswith(texts[0]), out.getvalue())
            self.assertTrue(out.getvalue().endswith(texts[-1]), out.getvalue())
        out = Out()
        with report.Working("calibrating", out):
            pass
        self.assertEqual(out.getvalue(), "")  # a short step shows nothing

    def test_listed_for_meson(self):
        with open(os.path.join(os.path.dirname(PROGRAM), "meson.build"), encoding="utf-8") as f:
            listed = set(re.findall(r"'(\w+)'", re.search(r"\['.*?\]", f.read(), re.S).group(0)))
        self.assertEqual(listed, {n[:-3] for n in os.listdir(PROGRAM) if n.endswith(".py")})

    def test_man_page_knows_every_option(self):
        pages = os.path.join(support.SOURCE, "docs", "man")
        page = subprocess.run([sys.executable, os.path.join(pages, "program.py"), "stixel_calibrate.options",
                               os.path.join(pages, "stixel-calibrate.1.scd")], capture_output=True, text=True,
                              check=True, env=dict(os.environ, PYTHONPATH=os.path.dirname(PROGRAM))).stdout
        names = set(re.findall(r"--[a-z-]+", options.parser("").format_help()))
        self.assertGreater(len(names), 15)
        for name in names:
            self.assertIn("*%s*" % name, page)
        self.assertNotIn("@", page)


class Photos(Case):
    def test_dark_blurred_and_cluttered(self):
        b, rig = board.Checkerboard((9, 6), 25), board_scene.rig("plumb_bob")
        scene, random = board_scene.Scene(rig, b, 7), np.random.default_rng(2)
        scene.clutter()
        for i in range(12):
            for side, image in zip(("left", "right"), scene.pair(*scene.pose(0.35, 0.7, 35))):
                cv2.imwrite("%s/%s_%02d.png" % (self.top, side, i), board_scene.as_photo(image, random))
        out = self.good(*files(self.top))
        self.assertIn("12 pairs: 12 views kept, none left out", out)
        got = output.earlier(self.out, rig.left.size)
        for camera, k in zip((rig.left, rig.right), got.k):
            np.testing.assert_allclose((k[0, 0], k[1, 1]), camera.f, rtol=0.006)
        self.assertAlmostEqual(got.baseline_m / np.linalg.norm(rig.t), 1, delta=0.005)

    def test_what_is_no_board_of_this_size(self):
        folder, _, b = Scenes.get("plumb_bob")
        image = cv2.imread(folder + "/left_00.png", cv2.IMREAD_GRAYSCALE)
        points = b.find(image).points
        self.assertTrue(b._alternates(image, points))
        grid = points.reshape(6, 9, 2)
        # a part of the grid, the grid shifted by half a square, and the grid with one invented row
        for size, found in (((8, 6), grid[:, :8]), ((9, 5), grid[1:]),
                            ((9, 6), grid + (grid[:, 4:5] - grid[:, 3:4]) / 2),
                            ((9, 7), np.concatenate([grid, 2 * grid[-1:] - grid[-2:-1]]))):
            other = board.Checkerboard(size, 25)
            self.assertFalse(other._alternates(image, found.reshape(-1, 2)), size)
        # the check does not depend on the search
        with mock.patch.object(cv2, "findChessboardCornersSB", lambda *_, **__: (True, grid[:, :8].reshape(-1, 1, 2))):
            self.assertIsNone(board.Checkerboard((8, 6), 25).find(image))


class Views(Case):
    def test_what_is_missing(self):
        folder, _, b = Scenes.get("plumb_bob")
        whole = self.collect(folder, b, "plumb_bob")
        self.assertEqual(len(whole.views), PAIRS)
        c = views.Collection(b, "plumb_bob")
        self.assertEqual(c.missing(), ["hold the board in front of both cameras"])
        c.size = whole.size
        for v in whole.views:
            if v.left[:, 0].max() < 400 and v.left[:, 1].max() < 400:
                c._keep(v)
        self.assertRegex(c.missing()[0], "^hold it to the (upper|lower)? ?right$|^hold it to the (bottom|lower left)$")
        for v in whole.views * 2:
            c._keep(v)
        self.assertNotIn("hold it to the right", c.missing())
        # the red parts of the page are the parts that the program asks for
        self.assertEqual(any(text.startswith("hold it") for text in c.missing()),
                         bool(c.wanted(0).any() or c.wanted(1).any()))
        first = views.Collection(b, "plumb_bob")
        self.assertTrue(first.wanted(0).all() and first.wanted(1).all())
        first.cells[:] = 1
        first.cells[0, :, 0] = first.cells[1, :, -1] = 0  # area that the other camera does not see
        self.assertFalse(first.wanted(0).any() or first.wanted(1).any())
        near, far = c.distances()
        self.assertTrue(0.4 < near < far < 1.1)

    def test_poses_say_which_edge_is_nearer(self):
        _, rig, b = Scenes.get("plumb_bob")
        middle = b.points.mean(axis=0)
        for turn, index in (((0, 0.5, 0), 1), ((0, -0.5, 0), 0), ((0.5, 0, 0), 2), ((-0.5, 0, 0), 3)):
            r = board_scene.rotation(turn)
            points = (b.points - middle) @ r.T + (0, 0, 0.6)
            edges = points.reshape(6, 9, 3)[..., 2]
            nearer = [edges[:, 0].mean() < edges[:, -1].mean() - 0.01, edges[:, -1].mean() < edges[:, 0].mean() - 0.01,
                      edges[0].mean() < edges[-1].mean() - 0.01, edges[-1].mean() < edges[0].mean() - 0.01]
            c = views.Collection(b, "plumb_bob")
            c.size = rig.left.size
            px = rig.left.project(points).astype(np.float32)
            c._keep(views.View("", np.arange(54), px, px, (px, px), 1, 0))
            self.assertEqual([t > 15 for t in c.tilts()], nearer)
            self.assertEqual(nearer.index(True), {1: 1, 0: 0, 2: 2, 3: 3}[nearer.index(True)], index)

    def test_blurred_and_moving(self):
        folder, _, b = Scenes.get("plumb_bob")
        images = [cv2.imread("%s/%s_00.png" % (folder, side), cv2.IMREAD_GRAYSCALE) for side in ("left", "right")]
        moved = [np.roll(i, 4, axis=1) for i in images]
        for apart_s, why in ((0.0, None), (0.001, None), (0.01, "moving")):
            c = views.Collection(b, "plumb_bob")
            self.assertIsNone(c.look(pairs.Pair("a", *images, 10 ** 9, apart_s))[1])
            # 4 px in 0.1 s: 0.04 px and 0.4 px between the exposures
            self.assertEqual(c.look(pairs.Pair("b", *moved, 11 * 10 ** 8, apart_s), anew=False)[1], why)
        self.assertEqual(c.look(pairs.Pair("c", *images, 12 * 10 ** 8, 0.0))[1], "like another")
        blurred = cv2.GaussianBlur(images[1], (0, 0), 2.5)
        self.assertEqual(c.look(pairs.Pair("d", images[0], blurred))[1], "blurred")
        self.assertEqual(c.look(pairs.Pair("e", images[0], images[0] * 0))[1], "one side only")

    def test_a_start_half_a_percent_off_settles(self):
        """Start values as OpenCV 4.11 and 4.12 return them."""
        folder, _, b = Scenes.get("plumb_bob")
        c = self.collect(folder, b, "plumb_bob")
        good = solve.rig_of("plumb_bob", b, c.views, c.size)
        off = lens.Rig("plumb_bob", c.size, [k * [[0.995], [0.995], [1]] for k in good.k], [d * 1.1 for d in good.d],
                       good.r, good.t * 1.01)
        settled = solve.settle(off, b, c.views)
        for k, wanted in zip(settled.k, good.k):
            np.testing.assert_allclose(k, wanted, atol=0.01)
        self.assertAlmostEqual(settled.baseline_m, good.baseline_m, places=6)
        nothing = lens.Rig("plumb_bob", c.size, off.k, off.d, good.r, good.t * np.nan)
        self.assertIs(solve.settle(nothing, b, c.views), nothing)

    def test_a_view_that_does_not_fit_is_dropped(self):
        folder, _, b = Scenes.get("plumb_bob")
        c = self.collect(folder, b, "plumb_bob")
        # simulates a board that moved down between the exposures
        c.views[5].right = c.views[5].right + np.float32((0, 2.5))
        result = solve.solve("plumb_bob", b, c.views, c.size)
        self.assertEqual([name for name, _, _ in result.dropped], ["left_05.png"])
        self.assertEqual(len(result.used), PAIRS - 1)
        self.assertLess(result.errors.row_95, 0.2)
        self.assertGreater(result.first.reprojection, 2 * result.errors.reprojection)
        self.assertEqual(result.beyond(), [])


class Print(Case):
    def test_boards(self):
        for more, kind in (([], board.Checkerboard((5, 4), 20)),
                           (["--charuco"], board.Charuco((5, 4), 20, 15, "5X5_100"))):
            path = self.top + "/board.png"
            self.good("--print-board", path, "--board", "5x4", "--square", "20", *more)
            with open(path, "rb") as f:
                data = f.read()
            at = data.index(b"pHYs") + 4
            per_m, again, unit = struct.unpack_from(">2IB", data, at)
            image = cv2.imread(path, cv2.IMREAD_GRAYSCALE)
            self.assertEqual((per_m, unit), (again, 1))
            # 80 mm from the first to the last column
            self.see(kind, image, per_m / 1000)
            path = self.top + "/board.svg"
            self.good("--print-board", path, "--board", "5x4", "--square", "20", *more)
            with open(path, encoding="utf-8") as f:
                text = f.read()
            size = re.search(r'width="([\d.]+)mm" height="([\d.]+)mm" viewBox="0 0 \1 \2"', text)
            width, height = map(float, size.groups())
            image = np.full((round(height * 10), round(width * 10)), 255, np.uint8)
            for x, y, w, h in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z", text):
                x, y, w, h = (float(v) * 10 for v in (x, y, w, h))
                image[round(y):round(y + h), round(x):round(x + w)] = 0
            self.see(kind, image, 10)

    def test_needs_neither_numpy_nor_opencv(self):
        for path in (self.top + "/b.svg", self.top + "/b.png"):
            code, _, err = self.run_without(["numpy", "cv2"], "--print-board", path)
            self.assertEqual((code, err), (0, ""))
            self.assertGreater(os.path.getsize(path), 1000)

    def see(self, kind, image, per_mm):
        f = kind.find(cv2.GaussianBlur(image, (0, 0), 1.5))
        self.assertEqual(list(f.ids), list(range(20)))
        apart = f.points[4] - f.points[0]
        np.testing.assert_allclose(np.abs(apart), (80 * per_mm, 0), atol=1)


class Live(Case):
    path = os.path.dirname(support.STIXELCTL) + ":" + os.environ["PATH"]

    def feed(self, label, *more):
        folder, _, _ = Scenes.get("plumb_bob")
        return self.daemon(label, *source(folder), "-s", "source.fps=8", "-s", "source.loop=yes", *FAST, *more)

    def start(self, d, *more):
        p = subprocess.Popen([sys.executable, PROGRAM, "-i", d.name, "-o", self.out, *more], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, env=d.client(PATH=self.path))
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.kill)
        return p

    def test_from_a_daemon_and_back_into_it(self):
        raw = ["-s", "camera.fx=0", "-s", "camera.fy=0", "-s", "camera.baseline_m=0"]
        d = self.feed("calibrate", "-s", "output.planes=pair", *raw)
        frames = d.ring()
        p = self.start(d, "--save", self.top + "/saved", "--page", self.top + "/page.html")
        # the set of rendered views is finite: a view that the program missed does not come again
        until(lambda: p.poll() is not None or len(os.listdir(self.top + "/saved")) >= 2 * 10
              if os.path.exists(self.top + "/saved") else False, LONG, "views")
        with open(self.top + "/page.html", encoding="utf-8") as f:
            self.assertIn('http-equiv="refresh"', f.read())
        p.send_signal(2)
        out, err = p.communicate(timeout=LONG)
        self.assertEqual((p.returncode, err), (0, ""), out)
        self.assertRegex(out, r"frame \d+: view 1; missing: ")
        # the daemon uses the calibration from the announced frame on
        self.assertIn("instance '%s': camera.calibration = %s (was empty)\n" % (d.name, self.out), out)
        self.assertRegex(out, r"camera.fx = \d+\.\d{1,3} \(was 0\)\n")
        self.assertIn("to keep it: stixelctl -i %s save\n" % d.name, out)
        first = int(re.search(r"': from frame (\d+) on\n", out).group(1))
        self.same_rows(d, first)
        got = output.earlier(self.out, (640, 480))
        for f in frames.frames():
            rectified = f.number >= first
            self.assertEqual((f.number, bool(f.flags & stixel.FrameFlag.RECTIFIED)), (f.number, rectified))
            self.assertAlmostEqual(f.camera[4], got.baseline_m if rectified else 0, places=6)
        # an unsuitable calibration is refused in the daemon's own words, and the daemon continues with the old one
        with mock.patch.dict(os.environ, PATH=self.path, XDG_RUNTIME_DIR=d.user):
            self.assertRegex(self.not_applied(78, d.name, self.top + "/none.yaml"),
                             "^instance '%s' does not use .*/none.yaml yet: .*none.yaml does not exist.* .the daemon "
                             "has to be able to read it: as a service it sees neither /home nor /tmp" % d.name)
            with open(self.top + "/small.yaml", "w", encoding="utf-8") as f:
                f.write("fx: 9\nfy: 9\ncx: 9\ncy: 9\nbaseline_m: 1\nwidth: 64\nheight: 48\n")
            self.assertRegex(self.not_applied(78, d.name, self.top + "/small.yaml"),
                             "images are 640x480, but calibration .* was made for 64x48 .once more: stixelctl -i %s "
                             "set camera.calibration=/" % d.name)
        self.assertIn("turn that off with: stixelctl -i x set camera.rectify=no ", pairs.how_to_raw("x"))
        self.assertEqual(pairs.how_to("x"), "start it with: stixeld -i x -s camera.calibration= -s camera.fx=0 "
                         "-s camera.fy=0 -s camera.baseline_m=0 -s camera.rectify=no -s output.planes=pair")
        with mock.patch.object(views, "VIEWS_MOST", 1):
            self.refused(78, "rectifies its images: turn that off with: stixelctl -i %s set camera.rectify=no "
                         % d.name, "-i", d.name)

    def not_applied(self, code, instance, path):
        with self.assertRaises(fail.Fail) as e:
            apply.apply(instance, path)
        self.assertEqual(e.exception.code, code)
        return str(e.exception)

    def test_what_to_do_where_it_is_not_applied(self):
        with open(self.top + "/stixelctl", "w", encoding="utf-8") as f:
            f.write('#!/bin/sh\necho "stixelctl: $SAID" >&2\nexit $CODE\n')
        os.chmod(self.top + "/stixelctl", 0o755)
        path = self.top + "/a b.yaml"
        order = "stixelctl -i x set 'camera.calibration=%s' camera.rectify=auto" % path
        for code, said, what in (
                (77, "not allowed: only root", "(sudo %s)" % order),
                (78, "set camera.calibration=: [camera] calibration: needs a restart: change it in a file",
                 "(put camera.calibration = %s into its configuration, and restart it)" % path),
                (1, "cannot connect to /run/stixeld/x/status.sock: Permission denied", "(sudo %s)" % order),
                (1, "no stixeld runs as instance 'x'", "(once more: %s)" % order)):
            with mock.patch.dict(os.environ, PATH=self.top, SAID=said, CODE=str(code)):
                self.assertEqual(self.not_applied(code, "x", path),
                                 "instance 'x' does not use %s yet: %s %s" % (path, said, what))
        with mock.patch.dict(os.environ, PATH=self.top + "/none"):
            self.assertIn("stixelctl is not there to tell instance 'x'", self.not_applied(69, "x", path))
        self.refused(64, "a,b.yaml: no name that camera.calibration can have", "-i", "x", "-o", self.top + "/a,b.yaml")

    def same_rows(self, d, first):
        """Checks that corners lie in the same rows of the pairs that the daemon rectified, from that frame on."""
        b, apart = board.Checkerboard((9, 6), 25), []
        with stixel.open(d.name, images=["left", "right"]) as reader:
            end = time.monotonic() + LONG
            while len(apart) < 3 and time.monotonic() < end:
                frame = reader.latest(LONG)
                if frame.right is not None and frame.number >= first:
                    self.assertTrue(frame.flags & stixel.FrameFlag.RECTIFIED)
                    left, right = (b.find(np.ascontiguousarray(i)) for i in (frame.left, frame.right))
                    if left and right:
                        _, l, r = b.match(left, right)
                        apart.append(np.abs(l[:, 1] - r[:, 1]))
                        self.assertGreater((l - r)[:, 0].min(), 20)
        self.assertEqual(len(apart), 3)
        self.assertLess(np.percentile(np.concatenate(apart), 95), 0.3)

    def test_daemon_without_right_images_and_gone(self):
        with mock.patch.object(pairs, "IMAGES_S", 0.5):
            d = self.feed("onlyleft")
            self.refused(78, "does not publish both images: start it with: stixeld -i %s " % d.name, "-i", d.name)
            d.stop()
        self.refused(1, "no stixel publisher of this name is running", "-i", d.name)
        d = self.feed("gone", "-s", "output.planes=pair")
        p = self.start(d)
        self.assertRegex(p.stdout.readline(), "view 1; missing")
        d.process.kill()
        _, err = p.communicate(timeout=LONG)
        self.assertEqual(p.returncode, 1)
        self.assertRegex(err, r"^stixel-calibrate: instance '%s': the publisher \(process \d+\) died\n$" % d.name)
        self.assertFalse(os.path.exists(self.out))


if __name__ == "__main__":
    unittest.main()
