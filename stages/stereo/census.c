/*
 * Census transforms.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/census.h"

#include <stdbool.h>

#define RX SX_CENSUS_RADIUS_X
#define RY SX_CENSUS_RADIUS_Y

static int grey_at(const struct sx_image *grey, int x, int y)
{
	return ((const uint8_t *)sx_image_row(grey, y))[x];
}

static bool window_inside(const struct sx_image *grey, int x, int y)
{
	return x >= RX && x < grey->width - RX && y >= RY && y < grey->height - RY;
}

static uint32_t csct(const struct sx_image *grey, int x, int y)
{
	uint32_t bits = 0;

	for (int dy = -RY; dy <= 0; dy++)
		for (int dx = -RX; dx <= (dy < 0 ? RX : -1); dx++)
			bits = bits << 1 | (grey_at(grey, x + dx, y + dy) > grey_at(grey, x - dx, y - dy));
	return bits;
}

static bool is_compared(enum sx_cost cost, int dx, int dy)
{
	switch (cost) {
	case SX_COST_CENSUS48:
		return dx && dy;
	case SX_COST_CENSUS63:
		return true;
	default:
		return dx || dy;
	}
}

static uint64_t census(const struct sx_image *grey, int x, int y, enum sx_cost cost)
{
	int centre = grey_at(grey, x, y);
	uint64_t bits = 0;

	for (int dy = -RY; dy <= RY; dy++)
		for (int dx = -RX; dx <= RX; dx++)
			if (is_compared(cost, dx, dy))
				bits = bits << 1 | (centre > grey_at(grey, x + dx, y + dy));
	return bits;
}

enum sx_pixel sx_census_pixel(enum sx_cost cost)
{
	return cost == SX_COST_CSCT ? SX_PIXEL_U32 : SX_PIXEL_U64;
}

void sx_census(const struct sx_image *grey, const struct sx_image *descriptors, enum sx_cost cost)
{
	for (int y = 0; y < grey->height; y++) {
		void *row = sx_image_row(descriptors, y);

		for (int x = 0; x < grey->width; x++) {
			bool inside = window_inside(grey, x, y);

			if (cost == SX_COST_CSCT)
				((uint32_t *)row)[x] = inside ? csct(grey, x, y) : 0;
			else
				((uint64_t *)row)[x] = inside ? census(grey, x, y, cost) : 0;
		}
	}
}
