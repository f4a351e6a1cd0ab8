# Tests how scores.py compares and chooses, and how make_scores.py spoils scores, on small cases with known results.
# SPDX-License-Identifier: Apache-2.0
import os
import sys
import tempfile
import unittest

try:
    import numpy as np

    import make_scores
    import scores
except ImportError:
    sys.exit(77)

FIGURES = len(scores.NAMES)


class Compare(unittest.TestCase):
    def test_difference_and_its_error(self):
        without = np.zeros((4, FIGURES))
        given = without + np.array([0.0, 1, 0, 1])[:, None]
        given[:, -1] = [np.nan, np.nan, 2, 2]  # no white sky in two pairs
        mean, d, error = scores.compare(given, without)
        self.assertEqual([mean[0], d[0], d[-1], error[-1]], [0.5, 0.5, 2, 0])
        self.assertAlmostEqual(error[0], np.sqrt(1 / 3) / 2)

    def test_worse_costs_more_than_better_gains(self):
        without = np.full((3, FIGURES), 5.0)
        better, worse = without.copy(), without.copy()
        better[:, 0] -= 1
        worse[:, 0] += 1
        same = scores.cost(without[None], without)
        self.assertAlmostEqual(same - scores.cost(better[None], without), 1)
        self.assertAlmostEqual(scores.cost(worse[None], without) - same, 11)

    def test_a_fold_is_measured_with_the_choice_of_the_others(self):
        without = np.ones((4, FIGURES))
        a, b = np.zeros((1, 4, FIGURES)), np.full((1, 4, FIGURES), 0.5)
        a[0, 3] = 9  # settings a are best, except for the last pair
        choices, figures = scores.choose({"a": a, "b": b}, without, 4)
        self.assertEqual(choices, ["b", "b", "b", "a"])
        self.assertEqual(figures[0, :, 0].tolist(), [0.5, 0.5, 0.5, 9])

    def test_share_of_majority(self):
        planes = np.zeros((2, 4, 2), np.uint8)
        planes[0, :2], planes[1, 2:] = 200, 200
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.csv")
            with open(path, "w") as f:
                f.write("column,row_top,row_bottom,label\n0,0,7,0\n0,8,15,0\n1,0,11,0\n1,12,15,\n")
            self.assertAlmostEqual(scores.share_of_majority(path, planes), 200 / 3)


class Make(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(1)
        self.p = rng.random((3, 96, 130)).astype(np.float32)

    def test_cells(self):
        cells = make_scores.to_scores(self.p)
        self.assertEqual(cells.shape, (3, 24, 33))
        self.assertAlmostEqual(int(cells[1, 2, 3]), 255 * self.p[1, 8:12, 12:16].mean(), delta=0.51)
        self.assertAlmostEqual(int(cells[2, 0, 32]), 255 * self.p[2, :4, [128, 129, 129, 129]].mean(), delta=0.51)

    def test_patches(self):
        rng = np.random.default_rng(2)
        np.testing.assert_array_equal(make_scores.with_patches(self.p, 0, rng), self.p)
        changed = (make_scores.with_patches(self.p, 1, rng) != self.p).any(0)
        self.assertTrue(changed[:96, :128].mean() > 0.99 and not changed[:, 128:].any())

    def test_an_earlier_image(self):
        camera = (100.0, 100.0, 60.0, 40.0, 0.5)
        far = np.zeros(self.p.shape[1:])
        np.testing.assert_allclose(make_scores.as_before(self.p, far, camera, degrees=0), self.p, atol=1e-6)
        # a place 2 m away that was 3 m away: what is 30 px from the centre now was 20 px from it
        near = np.full(self.p.shape[1:], 100 * 0.5 / 2)
        before = make_scores.as_before(self.p, near, camera, degrees=0)
        np.testing.assert_allclose(before[:, 40 + 20, 60 - 20], self.p[:, 40 + 30, 60 - 30], atol=1e-5)


if __name__ == "__main__":
    unittest.main()
