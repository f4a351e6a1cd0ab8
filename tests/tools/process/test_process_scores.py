# Tests stixel-process --semantics: scores and maps of class numbers from files, their effect on the stixels, and the
# messages about unsuitable files.
# SPDX-License-Identifier: Apache-2.0
import csv
import os
import struct
import unittest

from support import Folder, Png, run, shifted_pair, write_pgm, write_png

WIDTH, HEIGHT, DISPARITY = 150, 98, 11
CLASSES = 19
# The reference engine with slanted stixels, the only method that reads scores.
SLANTED = ["-s", "stereo.disparities=32", "-s", "stixels.method=slanted", "-s", "stixels.width=8", "-s",
           "engine.backend=reference"]


def npy(planes, descr="|u1", fortran=False, version=1, shape=None, data=None, length=None):
    """Returns the bytes of a NumPy file. `planes` is [class][row] bytes."""
    shape = shape or "(%d, %d, %d)" % (len(planes), len(planes[0]), len(planes[0][0]))
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape)
    start = 8 + (2 if version == 1 else 4)
    header = header.encode() + b" " * (-(start + len(header) + 1) % 64) + b"\n"
    length = len(header) if length is None else length
    body = b"".join(bytes(row) for plane in planes for row in plane) if data is None else data
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", length) + header + body


def one_hot(rows, classes=CLASSES):
    return [[bytes(255 * (x == c) for x in row) for row in rows] for c in range(classes)]


class Scores(Folder):
    def setUp(self):
        super().setUp()
        self.left, self.right = self.path("in", "left.pgm"), self.path("in", "right.pgm")
        for path, rows in zip((self.left, self.right), shifted_pair(WIDTH, HEIGHT, DISPARITY)):
            write_pgm(path, rows)

    def file(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)

    def process(self, *args, want=0, more=SLANTED):
        r = run("stixel-process", *more, "-o", self.path("out"), *args)
        self.assertEqual(r.returncode, want, r.stderr)
        return r.stderr

    def stixels(self, scores, *args):
        self.process("--semantics", scores, *args, self.left, self.right)
        with open(self.path("out", "left.stixels.csv"), encoding="utf-8") as f:
            return list(csv.DictReader(f))

    def test_overlay_by_class(self):
        write_png(self.path("map.png"), [[13] * WIDTH for _ in range(HEIGHT)])
        self.process("--classes", "--semantics", self.path("map.png"), self.left, self.right)
        picture = Png(self.path("out", "left.overlay.png"))
        self.assertIn((0, 0, 142), {p for row in picture.rows[HEIGHT:] for p in row})  # a car, in the legend
        # seen pixels are grey under the class's colour
        self.assertGreater(sum(p[2] > p[0] + 40 for row in picture.rows[:HEIGHT] for p in row), HEIGHT * WIDTH // 4)
        self.assertIn("--classes needs the scores of --semantics",
                      self.process("--classes", self.left, self.right, want=64))

    def test_labels_come_from_the_file(self):
        rows = [[13 if x < 80 else 5 for x in range(WIDTH)] for _ in range(HEIGHT)]
        write_png(self.path("map.png"), rows)
        found = self.stixels(self.path("map.png"))
        objects = [s for s in found if s["class"] == "object"]
        self.assertGreater(len(objects), 5)
        for s in objects:
            self.assertEqual(s["label"], "13" if int(s["column"]) < 10 else "5", s)
        # scores with the same content give the same stixels
        self.assertEqual(self.stixels(self.file("map.npy", npy(one_hot(rows)))), found)
        # a network's own resolution: cells of 8 px see the same content at a quarter of the size
        coarse = [row[::4] for row in rows[::4]]
        for version in (1, 2, 3):
            self.assertEqual(self.stixels(self.file("coarse.npy", npy(one_hot(coarse), version=version))), found)
        write_png(self.path("coarse.png"), coarse)
        self.assertEqual(self.stixels(self.path("coarse.png")), found)

    def test_unknown_everywhere(self):
        write_png(self.path("map.png"), [[255] * WIDTH] * HEIGHT)
        found = self.stixels(self.path("map.png"))
        self.assertEqual(self.stixels(self.file("none.npy", npy([[bytes(WIDTH)] * HEIGHT] * CLASSES))), found)

    def test_own_table_of_classes(self):
        rows = [[1] * WIDTH] * HEIGHT
        write_png(self.path("map.png"), rows)
        found = self.stixels(self.path("map.png"), "-s", "semantics.classes=road:ground thing")
        self.assertEqual({s["label"] for s in found if s["class"] == "object"}, {"1"})
        write_png(self.path("map.png"), [[2] * WIDTH] * HEIGHT)
        self.assertIn("map.png: class 2 at row 0, column 0, but semantics.classes has 2 (0 to 1; 255: unknown)",
                      self.process("--semantics", self.path("map.png"), "-s", "semantics.classes=road:ground thing",
                                   self.left, self.right, want=65))

    def test_files_that_do_not_fit(self):
        plane = [bytes(38)] * 25
        good = [plane] * CLASSES
        self.stixels(self.file("good.npy", npy(good)))
        for name, data, text in (
                ("float.npy", npy(good, descr="<f4"), "are of type '<f4', expected uint8 ('|u1'): np.rint(255 * p)"),
                ("fortran.npy", npy(good, fortran=True), "is in Fortran order, expected C order"),
                ("two.npy", npy(good, shape="(25, 38)"), "shape (25, 38), expected (classes, rows, columns)"),
                ("four.npy", npy(good, shape="(19, 25, 38, 1)"), "shape (19, 25, 38, 1), expected"),
                ("minus.npy", npy(good, shape="(19, -25, 38)"), "expected (classes, rows, columns)"),
                ("classes.npy", npy(good[1:]), "has 18 classes, but semantics.classes has 19"),
                ("size.npy", npy([[bytes(39)] * 25] * CLASSES),
                 "39x25 scores for an image of 150x98: its size divided"),
                ("empty.npy", npy(good, shape="(19, 0, 0)"), "0x0 scores for an image of 150x98"),
                ("huge.npy", npy(good, shape="(19, 99999999, 99999999)"), "99999999x99999999 scores are too many"),
                ("cut.npy", npy(good)[:-1], "cut short"), ("cut2.npy", npy(good)[:9], "cut short"),
                ("cut3.npy", npy(good)[:30], "cut short"), ("long.npy", npy(good) + b"x", "after the last score"),
                ("version.npy", npy(good, version=4), "a NumPy file of version 4"),
                ("header.npy", npy(good, version=2, length=1 << 30), "a header of 1073741824 bytes"),
                ("none.npy", npy(good).replace(b"descr", b"decsr"), "whose header cannot be read"),
                ("text.npy", b"class,score\n" * 9, "neither a NumPy file (.npy) of scores nor a PNG of class numbers"),
                ("nothing.npy", b"", "neither a NumPy file"), ("cut.png", b"\x89PNG\r\n\x1a\n", "cut.png: broken PNG")):
            err = self.process("--semantics", self.file(name, data), self.left, self.right, want=65)
            self.assertIn("%s: " % self.path(name), err)
            self.assertIn(text, err)
        write_png(self.path("deep.png"), [[1] * WIDTH] * HEIGHT, bits=16)
        self.assertIn("grey of 16 bits; class numbers are grey or indexed, of up to 8 bits",
                      self.process("--semantics", self.path("deep.png"), self.left, self.right, want=65))
        self.assertIn("No such file", self.process("--semantics", self.path("no.npy"), self.left, self.right, want=65))
        write_png(self.path("size.png"), [[0] * (WIDTH + 1)] * HEIGHT)
        self.assertIn("151x98 scores",
                      self.process("--semantics", self.path("size.png"), self.left, self.right, want=65))
        # outputs of the good pair, and none of the others
        self.assertEqual(self.listing("out"), ["left.disparity.png", "left.overlay.png", "left.stixels.csv"])

    def test_one_for_each_pair(self):
        scores = [self.file("%d.npy" % i, npy(one_hot([[c] * 38] * 25))) for i, c in enumerate((5, 13))]
        pairs = [self.left, self.right] * 2
        given = [w for s in scores for w in ("--semantics", s)]
        err = self.process(*given[:2], *pairs, want=64)
        self.assertIn("--semantics is given 1 times for 2 pairs", err)
        other = self.path("in", "other.pgm")
        os.link(self.left, other)
        self.process(*given, self.left, self.right, other, self.right)
        for name, label in (("left", "5"), ("other", "13")):
            with open(self.path("out", name + ".stixels.csv"), encoding="utf-8") as f:
                self.assertEqual({s["label"] for s in csv.DictReader(f) if s["class"] == "object"}, {label})
        # a wrong file costs only its own pair
        err = self.process("--semantics", self.path("none.npy"), *given[2:], *pairs, want=65)
        self.assertIn("1 of 2 pairs failed", err)

    def test_a_method_that_does_not_read_them_is_told(self):
        good = self.file("good.npy", npy([[bytes(38)] * 25] * CLASSES))
        for method in ("dp", "rdp"):
            err = self.process("--semantics", good, self.left, self.right,
                               more=["-s", "stereo.disparities=32", "-s", "stixels.method=" + method])
            self.assertIn("stixels.method = %s does not read class scores" % method, err)


if __name__ == "__main__":
    unittest.main()
