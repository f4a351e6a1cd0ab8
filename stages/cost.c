/*
 * Matching cost: Hamming distance of census descriptors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/cost.h"

static uint64_t descriptor_at(const struct sx_image *img, int x, int y)
{
	const void *row = sx_image_row(img, y);

	return img->pixel == SX_PIXEL_U32 ? ((const uint32_t *)row)[x] : ((const uint64_t *)row)[x];
}

static uint8_t hamming(uint64_t a, uint64_t b)
{
	return (uint8_t)__builtin_popcountll(a ^ b);
}

static uint8_t cost_at(const struct sx_image *left, const struct sx_image *right, int x, int y, int d,
		       const struct sx_stereo_params *p)
{
	uint64_t a = descriptor_at(left, x, y);
	int partner = x - d - p->min_disparity;

	if (partner >= 0 && partner < right->width)
		return hamming(a, descriptor_at(right, partner, y));
	return p->out_of_view == SX_OUT_OF_VIEW_ZERO ? hamming(a, 0) : (uint8_t)sx_cost_max(p->cost);
}

void sx_cost_row(const struct sx_image *left, const struct sx_image *right, int y,
		 const struct sx_stereo_params *p, uint8_t *cost)
{
	for (int x = 0; x < left->width; x++)
		for (int d = 0; d < p->disparities; d++)
			cost[(size_t)x * (size_t)p->disparities + (size_t)d] =
				cost_at(left, right, x, y, d, p);
}
