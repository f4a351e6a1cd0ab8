/*
 * Draws a frame as one picture.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/web/draw.h"

#include <string.h>

#include "tools/draw/overlay.h"

int web_draw(struct sx_image *rgb, const struct stixel_frame_header *h, const struct stixel *stixels,
	     const struct sx_image *left, const struct sx_scale *scale)
{
	const bool over_image =
		left && left->width == (int)h->image_width && left->height == (int)h->image_height;
	struct sx_overlay_params params = {
		.column_width = (int)h->column_width,
		.scale = *scale,
		.opaque = !over_image,
	};
	const int width = (int)h->image_width, height = (int)h->image_height;
	struct sx_legend legend;
	struct sx_image above;
	int r;

	sx_legend_distances(&legend, scale, true);
	r = sx_image_init(rgb, SX_PIXEL_RGB24, width, height + sx_legend_height(&legend, width));
	if (r < 0)
		return r;
	above = *rgb;
	above.height = height;
	sx_overlay_frame(&params, h);
	r = sx_overlay_background(&above, over_image ? left : NULL);
	if (r == 0)
		r = sx_overlay_draw(&above, stixels, h->stixel_count, &params);
	sx_legend_draw(rgb, height, &legend);
	return r;
}

void web_draw_stale(struct sx_image *rgb)
{
	for (int y = 0; y < rgb->height; y++) {
		uint8_t *p = sx_image_row(rgb, y);

		for (int x = 0; x < rgb->width; x++, p += 3)
			memset(p, (p[0] + 2 * p[1] + p[2]) / 8, 3);
	}
}
