/*
 * Helpers shared by the tests of filters on disparity maps: sizes to try, and the pixels of a U16 map.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_STAGES_STEREO_MAP_CASE_H
#define SX_TESTS_STAGES_STEREO_MAP_CASE_H

#include "tests/check.h"

/* Sizes to try: width, height, bytes of padding after a row. */
static const int shapes[][3] = {{1, 1, 0},  {1, 6, 2},	{6, 1, 0},  {2, 2, 1},	  {3, 3, 0},
				{7, 5, 13}, {33, 4, 0}, {64, 9, 1}, {101, 31, 27}};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static inline uint16_t at(const struct sx_image *img, int x, int y)
{
	return ((const uint16_t *)sx_image_row(img, y))[x];
}

static inline void put(const struct sx_image *img, int x, int y, uint16_t v)
{
	((uint16_t *)sx_image_row(img, y))[x] = v;
}

#endif
