/*
 * Pairs and disparity maps for tests of the image diagnostics.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/diagnostics_case.h"

void diagnostics_case_init(struct diagnostics_case *c, int width, int height, int padding)
{
	for (int side = 0; side < 2; side++) {
		check_image_init(&c->grey[side], SX_PIXEL_U8, width, height, padding + side);
		c->pair[side] = c->grey[side].image;
	}
	check_image_init(&c->checked, SX_PIXEL_U16, width, height, padding);
	check_image_init(&c->finished, SX_PIXEL_U16, width, height, padding + 2);
	check_image_init(&c->columns, SX_PIXEL_U16, height, width / 5, padding);
	c->in = (struct sx_diagnostics_input){c->pair, &c->checked.image, &c->finished.image,
					      &c->columns.image};
}

bool diagnostics_case_finish(struct diagnostics_case *c)
{
	bool whole = check_guards(&c->checked, "checked map");

	whole &= check_guards(&c->grey[0], "left image");
	whole &= check_guards(&c->grey[1], "right image");
	whole &= check_guards(&c->finished, "finished map");
	whole &= check_guards(&c->columns, "columns");
	check_image_finish(&c->grey[0]);
	check_image_finish(&c->grey[1]);
	check_image_finish(&c->checked);
	check_image_finish(&c->finished);
	check_image_finish(&c->columns);
	return whole;
}

static uint8_t *grey(const struct sx_image *img, int x, int y)
{
	return (uint8_t *)sx_image_row(img, y) + x;
}

static uint16_t *cell(const struct sx_image *img, int x, int y)
{
	return (uint16_t *)sx_image_row(img, y) + x;
}

static void fill_columns(const struct sx_image *columns, struct check_rng *r)
{
	for (int u = 0; u < columns->height; u++) {
		const int holes = check_below(r, 3);

		for (int v = 0; v < columns->width; v++)
			*cell(columns, v, u) =
				(uint16_t)(holes == 0 || (holes == 1 && v != columns->width - 1) ? 0xffff
												 : v);
	}
}

void diagnostics_case_fill(struct diagnostics_case *c, enum check_fill how, struct check_rng *r)
{
	const int width = c->pair[0].width, height = c->pair[0].height;
	const int shift = check_below(r, 12), down = check_below(r, 21) - 10;

	check_fill_pair(&c->pair[0], &c->pair[1], how, 0, 0, r);
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++) {
			const int u = x + shift, v = y - down, wild = check_below(r, 27);

			if (u < width && v >= 0 && v < height && check_below(r, 12))
				*grey(&c->pair[1], x, y) = *grey(&c->pair[0], u, v);
			*cell(&c->checked.image, x, y) = (uint16_t)(wild > 2 ? 16 * shift + check_below(r, 33)
								    : wild == 2 ? 0xffff
										: check_below(r, 16 * width));
			*cell(&c->finished.image, x, y) =
				(uint16_t)(check_below(r, 3) ? check_below(r, 40) : 0xffff);
		}
	fill_columns(&c->columns.image, r);
}
