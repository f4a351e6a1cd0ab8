/*
 * Conversion of the map of another process to the form of the winner.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/external.h"

#include <string.h>

static void row_of(const uint16_t *map, uint16_t *left, int width, struct sx_external_range r)
{
	for (int x = 0; x < width; x++) {
		const int q = (map[x] + 8) / 16 - r.shift;

		left[x] = (uint16_t)(map[x] && q >= 0 && q <= r.last ? q : (int)SX_DISPARITY_INVALID);
	}
}

void sx_external_rows(const struct sx_disparity *map, const struct sx_image *left,
		      const struct sx_image *confidence, const struct sx_stereo_params *p, int y0, int y1)
{
	const size_t width = (size_t)left->width;

	for (int y = y0; y < y1; y++) {
		uint16_t *to = sx_image_row(left, y);

		if (!map)
			memset(to, 0xff, width * sizeof(*to));
		else
			row_of((const uint16_t *)((const char *)map->data + (size_t)y * map->pitch), to,
			       left->width, sx_external_range(p));
		if (map && map->confidence)
			memcpy(sx_image_row(confidence, y),
			       map->confidence + (size_t)y * map->confidence_pitch, width);
		else
			memset(sx_image_row(confidence, y), SX_EXTERNAL_CONFIDENCE, width);
	}
}

void sx_external(const struct sx_disparity *map, const struct sx_image *left,
		 const struct sx_image *confidence, const struct sx_stereo_params *p)
{
	sx_external_rows(map, left, confidence, p, 0, left->height);
}
