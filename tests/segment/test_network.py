# stixel-segment's networks without a daemon: model files, class tables, forms of output by both back ends, faults.
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "bridge")]
import support  # noqa: E402

support.need("cv2", "onnx", "onnxruntime")

import cv2  # noqa: E402
import networks  # noqa: E402
import numpy as np  # noqa: E402
from stixel._program import CONFIG, DATA, NO_INPUT, UNAVAILABLE, Fail  # noqa: E402
from stixel_segment import model, tables  # noqa: E402
from stixel_segment.network import Network  # noqa: E402

SHAPE = 48, 64  # rows and columns of an image
CITYSCAPES = tables.load("cityscapes-19")


def stripes(classes, count=4):
    """Returns an image of vertical stripes of these classes, and the class of each of its columns."""
    wanted = np.linspace(0, classes - 1, count).astype(int)
    columns = np.repeat(wanted, SHAPE[1] // count)
    grey = np.rint(255 * np.array(networks.levels(classes))[columns]).astype(np.uint8)
    return np.broadcast_to(grey, SHAPE).copy(), columns


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="stixel-")
        self.addCleanup(folder.cleanup)
        self.top = folder.name

    def path(self, name):
        return os.path.join(self.top, name)

    def network(self, *settings, name="n.onnx", classes=19, table="cityscapes-19", **more):
        networks.pixelwise(self.path(name), classes, **more)
        return Network(model.load(self.path(name), ["table=" + table, *settings]), print)

    def fails(self, code, pattern, call, *args):
        with self.assertRaisesRegex(Fail, pattern) as caught:
            call(*args)
        self.assertEqual(caught.exception.code, code)


class Outputs(Case):
    def check(self, network, classes=19):
        image, columns = stripes(classes)
        scores = network.scores(image)
        table = network.model.table
        self.assertEqual((scores.dtype, scores.shape), (np.uint8, (len(table.labels), 12, 16)))
        wanted = np.array(table.label_of)[columns[::4]]
        labels = np.where(scores.max(0) > 127, scores.argmax(0), tables.UNLABELLED)
        np.testing.assert_array_equal(labels, np.broadcast_to(wanted, labels.shape))
        return scores

    def test_all_forms_by_both_back_ends(self):
        for back_end in ("onnxruntime", "opencv"):
            for output in ("logits", "probabilities", "classes"):
                with self.subTest(back_end=back_end, output=output):
                    if (back_end, output) == ("opencv", "classes") and cv2.__version__ < "4.7":
                        continue  # its dnn has no ArgMax for this model
                    network = self.network("back_end=" + back_end, output=output, stride=2)
                    self.check(network)
                    self.assertEqual(network.output, output)
                    self.assertIn({"onnxruntime": "onnxruntime", "opencv": "OpenCV"}[back_end], network.back_end.name)

    def test_inputs(self):
        for settings, more in (([], {"last": True}), (["channels=grey"], {"channels": 1}),
                               (["white=255", "mean=0", "std=255"], {}), ([], {"size": (48, 64)}),
                               (["white=255"], {"kind": "uint8"}), (["input=128x96"], {}), (["input=32x24"], {}),
                               ([], {"size": (96, 128), "last": True})):
            with self.subTest(settings=settings, **more):
                network = self.network(*settings, **more)
                image, columns = stripes(19)
                scores = network.scores(image)
                middle = slice(2, None, 4)  # scores at the edges of stripes are mixed
                np.testing.assert_array_equal(scores.argmax(0)[:, middle][0], columns[::4][middle])

    def test_mean_and_deviation_are_those_of_red_green_and_blue(self):
        for channels, order in (("rgb", [0, 1, 2]), ("bgr", [2, 1, 0])):
            network = self.network("channels=" + channels, "mean=0.1 0.2 0.3", "std=0.5 0.25 1")
            blob = network._blob(np.full(SHAPE, 255, np.uint8))
            np.testing.assert_allclose(blob[0, :, 0, 0], np.array([1.8, 3.2, 0.7])[order], rtol=1e-6)
        network = self.network("multiple=20")
        self.assertEqual(network._blob(np.zeros((47, 71), np.uint8)).shape, (1, 3, 40, 80))

    def test_images_of_another_size(self):
        """OpenCV 4.6 gives a wrong output for some networks if the size changes, so the network is read again."""
        for back_end in ("onnxruntime", "opencv"):
            network = self.network("back_end=" + back_end)
            with mock.patch.object(cv2.dnn, "readNet", wraps=cv2.dnn.readNet) as read:
                for size in ((64, 48), (64, 48), (128, 96), (64, 48)):
                    image = cv2.resize(stripes(19)[0], size, interpolation=cv2.INTER_NEAREST)
                    self.assertEqual(network.scores(image)[:, 0, 1].argmax(), 0)
                    self.assertEqual(network.scores(image)[:, 0, -1].argmax(), 18)
            self.assertEqual(read.call_count, 2 * (back_end == "opencv"))

    def test_classes_of_one_label_are_added(self):
        network = self.network(classes=150, table="ade20k", steep=1e5)
        self.check(network, 150)
        uniform = self.network(classes=150, table="ade20k", steep=0)
        scores = uniform.scores(np.zeros(SHAPE, np.uint8))[:, 0, 0]
        wanted = np.bincount(uniform.model.table.label_of, minlength=32) * 255 / 150
        self.assertLessEqual(abs(scores - wanted).max(), 0.5)

    def test_unlabelled_classes_get_no_scores(self):
        scores = self.check(self.network(classes=20, table="cityscapes-20"), 20)
        self.assertEqual(int(scores[:, :, :4].max()), 0)  # class 0 is "unlabeled"


class Faults(Case):
    def test_output_with_other_classes(self):
        image = np.zeros(SHAPE, np.uint8)
        self.fails(DATA, r"shape 1x19x64x64, but table ade20k has 150 classes",
                   self.network("input=64x64", table="ade20k").scores, image)
        network = self.network(output="classes", classes=150)
        from stixel_segment.network import BadOutput
        with self.assertRaisesRegex(BadOutput, "its output has class 149, table cityscapes-19 has 0 to 18"):
            network.scores(np.full(SHAPE, 255, np.uint8))

    def test_no_numbers(self):
        from stixel_segment.network import BadOutput
        for back_end in ("onnxruntime", "opencv"):
            network = self.network("back_end=" + back_end, output="nan")
            with self.assertRaisesRegex(BadOutput, "no numbers"):
                network.scores(np.zeros(SHAPE, np.uint8))

    def test_sizes(self):
        self.fails(DATA, "its input is 64x48, but the command line says input = 128x96",
                   lambda: self.network("input=128x96", size=(48, 64)))

    def test_files(self):
        self.fails(NO_INPUT, "none.onnx: no such file", model.load, self.path("none.onnx"))
        for name in ("junk.onnx", "junk.net"):
            with open(self.path(name), "w", encoding="utf-8") as f:
                f.write("no network")
            self.fails(CONFIG, "nothing says which classes its output has", model.load, self.path(name))
            self.fails(DATA, "cannot read it",
                       lambda n=name: Network(model.load(self.path(n), ["table=cityscapes-19"]), print))
        self.fails(DATA, "onnxruntime reads files .onnx only", lambda: Network(model.load(self.path("junk.net"), [
            "table=cityscapes-19", "back_end=onnxruntime"]), print))
        self.fails(UNAVAILABLE, "provider = tensorrt: the onnxruntime that is installed has only",
                   self.network, "provider=tensorrt")
        self.fails(UNAVAILABLE, "OpenCV's dnn runs on the processor", self.network, "provider=cuda", "back_end=opencv")


class ModelFiles(Case):
    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def test_beside_the_network_and_alone(self):
        networks.pixelwise(self.path("n.onnx"), 19)
        ini = self.write("n.ini", "[model]\ntable = bdd100k\nmean = 0.5 ; all channels\n")
        for path in (ini, self.path("n.onnx")):
            found = model.load(path)
            self.assertEqual((found.path, found.described_by), (self.path("n.onnx"), ini))
            self.assertEqual(found.options["mean"], (0.5,))
        self.assertEqual(model.load(ini, ["mean=1 2 3"]).options["mean"], (1, 2, 3))
        other = self.write("other.ini", "[model]\nfile = n.onnx\ntable = t.ini\n")
        self.write("t.ini", "[labels]\nfloor = ground\nall = object moves\n[classes]\na = floor\nb = all\nc =\n")
        found = model.load(other)
        self.assertEqual((found.path, found.table.label_of), (self.path("n.onnx"), [0, 1, -1]))
        self.assertEqual(found.table.line(), "floor:ground all")
        self.assertTrue(found.table.labels[1].moves)

    def test_model_files_that_come_with_the_program(self):
        for name in os.listdir(model.MODELS):
            network = self.write(os.path.splitext(name)[0] + ".net", "")
            self.assertEqual(model.load(network).described_by, os.path.join(model.MODELS, name))

    def test_wrong_ones(self):
        networks.pixelwise(self.path("n.onnx"), 19)
        for text, wanted in (("table = bdd100k", "File contains no section headers"), ("[models]\n", "one section"),
                             ("[model]\ntabel = x", "there is no key tabel; there are file, table, "),
                             ("[model]\ntable = x", "table 'x': no such file, nor one of ade20k, bdd100k,"),
                             ("[model]\ntable=bdd100k\nstd = 0", "std = 0: allowed is as mean"),
                             ("[model]\ntable=bdd100k\nmean = 1 2", "mean = 1 2: allowed is one number, or three"),
                             ("[model]\ntable=bdd100k\ninput = 5", "input = 5: allowed is auto or WIDTHxHEIGHT")):
            self.fails(CONFIG, wanted, model.load, self.write("n.ini", text))
        self.fails(NO_INPUT, "gone.onnx: no such file", model.load, self.write("n.ini", "[model]\nfile = gone.onnx\n"))
        self.fails(NO_INPUT, "beside it is no lone with one of .onnx", model.load, self.write("lone.ini", "[model]\n"))
        for text, wanted in (("[labels]\n", "0 labels in"),
                             ("[labels]\na = floor", "a = floor: allowed is ground or"),
                             ("[labels]\na = sky moved", "a = sky moved"),
                             ("[labels]\na = sky\n[classes]\nx = b", "x = b: there is no such label")):
            self.fails(CONFIG, wanted, tables.load, self.write("t.ini", text))

    def test_tables(self):
        for name, classes, labels in (("cityscapes-19", 19, 19), ("cityscapes-20", 20, 19), ("ade20k", 150, 32),
                                      ("mapillary", 65, 26), ("bdd100k", 19, 19), ("coco-stuff", 171, 31)):
            table = tables.load(name)
            self.assertEqual((len(table.classes), len(table.labels)), (classes, labels), name)
            self.assertEqual({label.kind for label in table.labels}, {"ground", "object", "sky"})
            r = subprocess.run([os.environ["STIXELD"], "--check-config", "-s", "source.kind=synthetic", "-s",
                                "semantics.classes=" + table.line()], capture_output=True, text=True, check=False)
            self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(set(tables.names()), {"cityscapes-19", "cityscapes-20", "ade20k", "mapillary", "bdd100k",
                                               "coco-stuff"})

    def test_the_default_of_the_daemon_is_one_of_them(self):
        r = subprocess.run([os.environ["STIXELD"], "--print-config"], capture_output=True, text=True, check=True)
        self.assertIn("\nclasses = %s\n" % CITYSCAPES.line(), r.stdout)


if __name__ == "__main__":
    unittest.main()
