/*
 * Fills holes of a disparity map, see filled.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/process/filled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stixel.h"

/*
 * Values of a pixel: FILLED_GROUND is the bit for ground, next to a disparity in Q4. FILLED_NOTHING: unknown.
 */
#define FILLED_GROUND 0x8000u
#define FILLED_MOST 0x7ffeu
#define FILLED_NOTHING 0xffffu

/* Returns the disparity of a ground stixel in a row, Q4. */
static unsigned ground_q4(const struct stixel *s, int row)
{
	const int64_t q14 = s->disparity_q7 * INT64_C(128) + s->slope_q14 * (int64_t)(s->row_bottom - row);
	const int64_t q4 = q14 > 0 ? (q14 + 512) / 1024 : 0;

	return q4 < FILLED_MOST ? (unsigned)q4 : FILLED_MOST;
}

/* Writes the stixel's disparity and kind to its pixels in `said`. */
static void say(struct sx_image *said, const struct stixel *s, int column_width)
{
	const int from = s->column * column_width;
	const unsigned object = (s->disparity_q7 + 4u) / 8u;

	if (s->disparity_q7 == STIXEL_DISPARITY_UNKNOWN ||
	    (s->kind != STIXEL_GROUND && s->kind != STIXEL_OBJECT))
		return;
	for (int y = s->row_top; y <= s->row_bottom && y < said->height; y++) {
		uint16_t *row = sx_image_row(said, y);
		const unsigned v = s->kind == STIXEL_GROUND ? FILLED_GROUND | ground_q4(s, y) : object;

		for (int x = from; x < from + column_width && x < said->width; x++)
			row[x] = (uint16_t)v;
	}
}

/*
 * Returns the disparity of a hole. left, right: the nearest valid disparities in its row;
 * SX_DISPARITY_INVALID, the largest value, if there is none.
 */
static unsigned filled_of(unsigned said, unsigned left, unsigned right)
{
	const unsigned least = left < right ? left : right, most = left < right ? right : left;

	if (said == FILLED_NOTHING)
		return least;
	if (said & FILLED_GROUND)
		return said & ~FILLED_GROUND;
	if (most == SX_DISPARITY_INVALID)
		return least == SX_DISPARITY_INVALID ? said : least;
	return abs((int)said - (int)most) < abs((int)said - (int)least) ? most : least;
}

/* Fills the holes of a row. right: scratch. */
static void fill_row(uint16_t *d, const uint16_t *said, uint16_t *right, int width)
{
	unsigned last = SX_DISPARITY_INVALID;

	for (int x = width - 1; x >= 0; x--) {
		last = d[x] != SX_DISPARITY_INVALID ? d[x] : last;
		right[x] = (uint16_t)last;
	}
	last = SX_DISPARITY_INVALID;
	for (int x = 0; x < width; x++) {
		if (d[x] != SX_DISPARITY_INVALID)
			last = d[x];
		else
			d[x] = (uint16_t)filled_of(said[x], last, right[x]);
	}
}

int sx_filled(struct sx_image *map, const struct stixel *stixels, uint32_t count, int column_width)
{
	struct sx_image said;
	uint16_t *right = malloc((size_t)map->width * sizeof(*right));

	if (!right || sx_image_init(&said, SX_PIXEL_U16, map->width, map->height) < 0) {
		free(right);
		return -ENOMEM;
	}
	for (int y = 0; y < said.height; y++)
		memset(sx_image_row(&said, y), 0xff, (size_t)said.width * sizeof(uint16_t));
	for (uint32_t i = 0; i < count; i++)
		say(&said, &stixels[i], column_width);
	for (int y = 0; y < map->height; y++)
		fill_row(sx_image_row(map, y), sx_image_row(&said, y), right, map->width);
	sx_image_finish(&said);
	free(right);
	return 0;
}
