# Tests the rules of D1 on maps small enough to count by hand.
# SPDX-License-Identifier: Apache-2.0
import unittest

import d1
import stixel_map


class D1(unittest.TestCase):
    def test_both_limits_count(self):
        self.assertFalse(d1.is_wrong(104 * 256, 100 * 256))  # 4 px, but only 4 %
        self.assertTrue(d1.is_wrong(106 * 256, 100 * 256))
        self.assertFalse(d1.is_wrong(13 * 256, 10 * 256))  # 30 %, but only 3 px
        self.assertTrue(d1.is_wrong(13 * 256 + 1, 10 * 256))
        self.assertTrue(d1.is_wrong(6 * 256, 10 * 256))

    def test_holes_take_the_smaller_neighbour(self):
        self.assertEqual(d1.fill_row([0, 0, 7, 0, 0, 5, 9, 0]), [7, 7, 7, 5, 5, 5, 9, 9])
        self.assertIsNone(d1.fill_row([0, 0]))

    def test_empty_rows_take_the_row_above_or_the_first(self):
        self.assertEqual(d1.fill([[0, 0], [1, 2], [0, 0], [3, 0]]), [[1, 2], [1, 2], [1, 2], [3, 3]])
        self.assertEqual(d1.fill([[0, 0], [0, 0]]), [[0, 0], [0, 0]])

    def test_measure(self):
        px = 256
        truth = [[10 * px, 0, 20 * px, 30 * px, 40 * px]]
        rows = [[10 * px, 99 * px, 0, 30 * px, 60 * px]]
        # filled: 10 is right, the hole gets min(99, 30) = 30, which is wrong, 30 is right, 60 is wrong
        self.assertEqual(tuple(map(round, d1.measure(rows, truth))), (50, 50, 33, 75))
        self.assertEqual(d1.measure([[0] * 5], truth), (100, 100, 0, 0))


def stixel(column, top, bottom, kind, disparity="", slope="0"):
    return {"column": str(column), "row_top": str(top), "row_bottom": str(bottom), "class": kind,
            "disparity": disparity, "slope": slope}


class Stixels(unittest.TestCase):
    def test_paint(self):
        rows = stixel_map.paint(
            [stixel(0, 2, 4, "ground", "3.0", "-0.5"), stixel(0, 1, 1, "object", "2.5", "-0.5"), stixel(0, 0, 0, "sky"),
             stixel(1, 0, 4, "unknown")], 5, 5)
        # columns of 2 px, one pixel remains; the ground's disparity decreases upwards, an object's is constant, sky has
        # 0 px
        self.assertEqual([r[0] for r in rows], [1, 640, 512, 640, 768])
        self.assertEqual([r[1] for r in rows], [r[0] for r in rows])
        self.assertEqual([r[2:] for r in rows], [[0, 0, 0]] * 5)

    def test_ground_beyond_the_horizon_is_at_infinity(self):
        rows = stixel_map.paint([stixel(0, 0, 3, "ground", "1.0", "-0.5")], 1, 4)
        self.assertEqual([r[0] for r in rows], [1, 1, 128, 256])

    def test_width_of_columns(self):
        self.assertEqual(stixel_map.column_width([stixel(247, 0, 0, "sky")], 1242), 5)
        self.assertEqual(stixel_map.column_width([stixel(412, 0, 0, "sky")], 1241), 3)
        self.assertRaises(ValueError, stixel_map.column_width, [stixel(9, 0, 0, "sky")], 9)

    def test_empty_list(self):
        self.assertEqual(stixel_map.paint([], 2, 1), [[0, 0]])


if __name__ == "__main__":
    unittest.main()
