/*
 * Rectification on the CPU.
 *
 * Work:   one pixel at a time. Its four neighbours are two loads of two bytes each, and these loads limit the
 *         speed. Only a vector unit with gathers loads them faster.
 * Ranges: sums of four products are below 2^24.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/rectify.h"

#include <string.h>

/* Loads two neighbours, the left one into the low byte. */
static inline uint32_t load_two(const uint8_t *p)
{
	uint16_t both;

	memcpy(&both, p, sizeof(both));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	both = (uint16_t)(both << 8 | both >> 8);
#endif
	return both;
}

static inline uint32_t blend_two(uint32_t both, uint32_t part)
{
	return (both & 0xff) * (256 - part) + (both >> 8) * part;
}

static inline uint8_t blend_four(const uint8_t *at, size_t pitch, uint32_t part)
{
	const uint32_t a = part & 0xff, b = part >> 8;

	return (uint8_t)((blend_two(load_two(at), a) * (256 - b) + blend_two(load_two(at + pitch), a) * b +
			  32768) >>
			 16);
}

static void rectify_row(const uint8_t *raw, size_t pitch, const uint32_t *place, const uint16_t *part,
			uint8_t *grey, int width)
{
	for (int x = 0; x < width; x++) {
		const size_t column = place[x] & 0xffff, row = place[x] >> 16;

		grey[x] = place[x] == SX_RECTIFY_OUTSIDE
				  ? 0
				  : blend_four(raw + row * pitch + column, pitch, part[x]);
	}
}

void sx_rectify_rows(const struct sx_image *raw, const struct sx_image *grey,
		     const struct sx_rectify_map *map, int y0, int y1)
{
	for (int y = y0; y < y1; y++) {
		const size_t row = (size_t)y * (size_t)map->stride;

		rectify_row(raw->data, raw->pitch, map->place + row, map->part + row, sx_image_row(grey, y),
			    map->width);
	}
}
