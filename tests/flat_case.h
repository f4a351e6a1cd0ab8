/*
 * Images with flat areas, for tests of stages/stereo/flat.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_FLAT_CASE_H
#define SX_TESTS_FLAT_CASE_H

#include "tests/check.h"

/*
 * Fills the part of a rectangle that lies in the image with levels base .. base + range. In each row the base
 * is raised by a random 0 .. down levels.
 */
static inline void flat_case_area(const struct sx_image *grey, int x0, int y0, int width, int height,
				  int base, int range, int down, struct check_rng *r)
{
	for (int y = y0 < 0 ? 0 : y0; y < y0 + height && y < grey->height; y++) {
		const int level = base + check_below(r, down + 1);

		for (int x = x0 < 0 ? 0 : x0; x < x0 + width && x < grey->width; x++)
			((uint8_t *)sx_image_row(grey, y))[x] = (uint8_t)(level + check_below(r, range + 1));
	}
}

/*
 * Fills noise with some flat and some nearly flat areas. The areas are about as large as the smallest that
 * counts as flat.
 */
static inline void flat_case_fill(const struct sx_image *grey, struct check_rng *r)
{
	check_fill(grey, CHECK_NOISE, r);
	for (int i = 2 + check_below(r, 8); i > 0; i--)
		flat_case_area(grey, check_below(r, grey->width + 20) - 20,
			       check_below(r, grey->height + 20) - 20, 8 + check_below(r, 60),
			       8 + check_below(r, 60), check_below(r, 3) ? check_below(r, 230) : 0,
			       check_below(r, check_below(r, 2) ? 6 : 3),
			       check_below(r, 2) ? check_below(r, 20) : 0, r);
}

#endif
