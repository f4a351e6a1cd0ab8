/*
 * Winner-takes-all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/winner.h"

#include <stdbool.h>
#include <stdlib.h>

#include "stages/stereo/sgm.h"

static int lowest_minimum(const uint16_t *s, int disparities)
{
	int best = 0;

	for (int d = 1; d < disparities; d++)
		if (s[d] < s[best])
			best = d;
	return best;
}

/* FastDT searches all cells, and its S may have any value. */
static bool is_absent(uint16_t s, const struct sx_stereo_params *p)
{
	return s == SX_SUM_ABSENT && p->aggregation == SX_AGGREGATION_SGM;
}

static bool has_rival(const uint16_t *s, int d0, const struct sx_stereo_params *p)
{
	for (int k = 0; k < p->disparities; k++)
		if (abs(k - d0) > 1 && !is_absent(s[k], p) && 100 * s[d0] >= p->uniqueness * s[k])
			return true;
	return false;
}

static bool lacks_neighbour(const uint16_t *s, int d0, const struct sx_stereo_params *p)
{
	return d0 == 0 || d0 == p->disparities - 1 || is_absent(s[d0 - 1], p) || is_absent(s[d0 + 1], p);
}

static int floor_division(int a, int b)
{
	return a >= 0 ? a / b : -((-a + b - 1) / b);
}

static int refined(const uint16_t *s, int d0, enum sx_subpixel how)
{
	int num = s[d0 - 1] - s[d0 + 1];
	int den = s[d0 - 1] - 2 * s[d0] + s[d0 + 1]; /* >= 1: s[d0 - 1] > s[d0], as ties go to the lowest d */
	int a = 16 * num + den, b = 2 * den;

	return 16 * d0 + (how == SX_SUBPIXEL_FLOOR ? floor_division(a, b) : a / b);
}

static uint16_t left_disparity(const uint16_t *s, int d0, const struct sx_stereo_params *p)
{
	if (has_rival(s, d0, p))
		return SX_DISPARITY_INVALID;
	if (lacks_neighbour(s, d0, p) || p->subpixel == SX_SUBPIXEL_OFF)
		return (uint16_t)(16 * d0);
	return (uint16_t)refined(s, d0, p->subpixel);
}

static uint8_t confidence_of(const uint16_t *s, int d0, const struct sx_stereo_params *p)
{
	int rise;

	if (d0 == 0 && p->aggregation == SX_AGGREGATION_FASTDT && s[1] == s[0])
		return 0;
	if (lacks_neighbour(s, d0, p))
		return SX_WINNER_CONFIDENCE_END;
	rise = (s[d0 - 1] > s[d0 + 1] ? s[d0 - 1] : s[d0 + 1]) - s[d0];
	rise = rise * 255 / sx_winner_rise(p);
	return (uint8_t)(rise < 255 ? rise : 255);
}

/*
 * Returns the disparity of a pixel of the right image. S(x+d, d) lies d pixels and d disparities further on:
 * a diagonal of the row.
 */
static uint16_t right_disparity(const uint16_t *row, int x, int width, int disparities)
{
	size_t diagonal = (size_t)disparities + 1;
	const uint16_t *s = row + (size_t)x * (size_t)disparities;
	int best = 0;

	for (int d = 1; d < disparities && x + d < width; d++)
		if (s[(size_t)d * diagonal] < s[(size_t)best * diagonal])
			best = d;
	return (uint16_t)best;
}

void sx_winner(const struct sx_image *sum, const struct sx_image *left, const struct sx_image *right,
	       const struct sx_image *confidence, const struct sx_stereo_params *p)
{
	for (int y = 0; y < left->height; y++) {
		const uint16_t *row = sx_image_row(sum, y);
		uint16_t *l = sx_image_row(left, y), *r = sx_image_row(right, y);
		uint8_t *c = sx_image_row(confidence, y);

		for (int x = 0; x < left->width; x++) {
			const uint16_t *s = row + (size_t)x * (size_t)p->disparities;
			int d0 = lowest_minimum(s, p->disparities);

			l[x] = left_disparity(s, d0, p);
			r[x] = right_disparity(row, x, left->width, p->disparities);
			c[x] = confidence_of(s, d0, p);
		}
	}
}
