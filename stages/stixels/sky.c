/*
 * Sky, see sky.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/sky.h"

#include <string.h>

#include "stages/stixels/cells.h"

bool sx_cell_is_bright(const struct sx_image *left, int u, int v, const struct sx_stixel_params *p,
		       int bright, int range)
{
	const int rows = sx_cell_height(p), y0 = left->height - (v + 1) * rows;
	int least = 255, most = 0;

	for (int y = y0; y < y0 + rows; y++) {
		const uint8_t *grey = (const uint8_t *)sx_image_row(left, y) + u * p->width;

		for (int x = 0; x < p->width; x++) {
			least = grey[x] < least ? grey[x] : least;
			most = grey[x] > most ? grey[x] : most;
		}
	}
	return least >= bright && most - least <= range;
}

static bool is_blank(const struct sx_image *left, int u, int v, const struct sx_stixel_params *p)
{
	return sx_cell_is_bright(left, u, v, p, p->sky_grey, SX_BLANK_RANGE);
}

static uint8_t *cell(const struct sx_image *sky, int u, int v)
{
	return (uint8_t *)sx_image_row(sky, u) + v;
}

/*
 * Finds sky from the top down. full: number of non-blank cells to assume above the image. With 2, no sky can
 * start at the top edge.
 */
static void go_down(const struct sx_image *left, const struct sx_stixel_params *p, const struct sx_image *sky,
		    int full)
{
	for (int u = 0; u < sky->height; u++) {
		int others = full; /* consecutive cells that are not blank */

		for (int v = sky->width - 1; v >= 0; v--) {
			if (*cell(sky, u, v) || (others < 2 && is_blank(left, u, v, p))) {
				*cell(sky, u, v) = 1;
				others = 0;
			} else if (others < 2) {
				others++;
			}
		}
	}
}

static void join(const struct sx_image *left, const struct sx_stixel_params *p, const struct sx_image *sky,
		 int from, int to, int v)
{
	if (*cell(sky, from, v) && !*cell(sky, to, v) && is_blank(left, to, v, p))
		*cell(sky, to, v) = 1;
}

static void go_along(const struct sx_image *left, const struct sx_stixel_params *p,
		     const struct sx_image *sky)
{
	for (int v = 0; v < sky->width; v++) {
		for (int u = 1; u < sky->height; u++)
			join(left, p, sky, u - 1, u, v);
		for (int u = sky->height - 1; u > 0; u--)
			join(left, p, sky, u, u - 1, v);
	}
}

void sx_sky_find(const struct sx_image *left, const struct sx_stixel_params *p, struct sx_image *sky)
{
	for (int u = 0; u < sky->height; u++)
		memset(sx_image_row(sky, u), 0, (size_t)sky->width);
	go_down(left, p, sky, 0);
	for (int i = 0; i < SX_SKY_ROUNDS; i++) {
		go_along(left, p, sky);
		go_down(left, p, sky, 2);
	}
}
