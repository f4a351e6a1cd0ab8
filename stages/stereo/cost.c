/*
 * Matching cost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/cost.h"

#include <stdbool.h>

#include "stages/stereo/census.h"
#include "stages/stereo/zncc.h"

enum sx_pixel sx_descriptor_pixel(enum sx_cost cost)
{
	return cost == SX_COST_ZNCC ? SX_PIXEL_U64 : sx_census_pixel(cost);
}

void sx_describe(const struct sx_image *grey, const struct sx_image *descriptors,
		 const struct sx_stereo_params *p)
{
	if (p->cost == SX_COST_ZNCC)
		sx_zncc_windows(grey, descriptors, p->zncc_window);
	else
		sx_census(grey, descriptors, p->cost);
}

static uint64_t descriptor_at(const struct sx_image *img, int x, int y)
{
	const void *row = sx_image_row(img, y);

	return img->pixel == SX_PIXEL_U32 ? ((const uint32_t *)row)[x] : ((const uint64_t *)row)[x];
}

/* Computes the right column of a candidate. False: the column is out of view. */
static bool partner_of(const struct sx_cost_input *in, int x, int d, const struct sx_stereo_params *p,
		       int *partner)
{
	*partner = x - d - p->min_disparity;
	return *partner >= 0 && *partner < in->descriptor[1].width;
}

static uint8_t hamming_at(const struct sx_cost_input *in, int x, int y, int d,
			  const struct sx_stereo_params *p)
{
	uint64_t a = descriptor_at(&in->descriptor[0], x, y), b = 0;
	int partner;

	if (partner_of(in, x, d, p, &partner))
		b = descriptor_at(&in->descriptor[1], partner, y);
	else if (p->out_of_view == SX_OUT_OF_VIEW_MAX)
		return (uint8_t)sx_cost_max(p->cost);
	return (uint8_t)__builtin_popcountll(a ^ b);
}

static float correlation_at(const struct sx_cost_input *in, int x, int y, int d,
			    const struct sx_stereo_params *p)
{
	int partner;

	if (partner_of(in, x, d, p, &partner))
		return sx_zncc(in->grey, in->descriptor, x, partner, y, p->zncc_window);
	return p->out_of_view == SX_OUT_OF_VIEW_MAX ? -1.0f : 0.0f;
}

void sx_cost_row(const struct sx_cost_input *in, int y, const struct sx_stereo_params *p, uint8_t *cost)
{
	for (int x = 0; x < in->descriptor[0].width; x++)
		for (int d = 0; d < p->disparities; d++)
			*cost++ = p->cost == SX_COST_ZNCC ? sx_zncc_cost(correlation_at(in, x, y, d, p))
							  : hamming_at(in, x, y, d, p);
}

void sx_cost_row_float(const struct sx_cost_input *in, int y, const struct sx_stereo_params *p, float *cost)
{
	for (int x = 0; x < in->descriptor[0].width; x++)
		for (int d = 0; d < p->disparities; d++)
			*cost++ = p->cost == SX_COST_ZNCC ? 1.0f - correlation_at(in, x, y, d, p)
							  : (float)hamming_at(in, x, y, d, p);
}
