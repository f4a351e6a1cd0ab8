/*
 * Evidence of cells, see evidence.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/evidence.h"

#include "stages/stixels/sky.h"

static uint16_t filled(const struct sx_image *columns, int u, int v, int reach)
{
	for (int i = u - 1; i >= 0 && i >= u - reach; i--) {
		const uint16_t d = ((const uint16_t *)sx_image_row(columns, i))[v];

		if (d != SX_DISPARITY_INVALID)
			return d;
	}
	return SX_DISPARITY_INVALID;
}

/* Computes disparity and confidence of a cell that is not sky. */
static void weigh(const struct sx_image *left, const struct sx_image *columns,
		  const struct sx_stixel_params *p, int u, int v, uint16_t *d, uint8_t *confidence)
{
	if (2 * v < columns->width && sx_cell_is_bright(left, u, v, p, p->saturated, 255)) {
		*d = SX_DISPARITY_INVALID;
		*confidence = 0;
	} else if (*d == SX_DISPARITY_INVALID) {
		*d = filled(columns, u, v, sx_fill_reach(p));
		*confidence = *d == SX_DISPARITY_INVALID ? *confidence : SX_FILL_CONFIDENCE;
	}
}

void sx_evidence(const struct sx_image *left, const struct sx_image *columns,
		 const struct sx_image *confidence, const struct sx_params *p, const struct sx_road *road,
		 struct sx_image *cells, struct sx_image *cells_confidence)
{
	const int32_t rise = sx_sky_rise_q8(road->slope, sx_sky_metres(&p->camera));
	const int rows = sx_cell_height(&p->stixels);

	sx_sky_find(left, &p->stixels, cells_confidence);
	for (int u = 0; u < columns->height; u++) {
		const int32_t shift = sx_road_shift_q4(road->cross, road->axis, u, p->stixels.width);
		uint16_t *to = sx_image_row(cells, u);
		uint8_t *to_confidence = sx_image_row(cells_confidence, u);

		for (int v = 0; v < columns->width; v++) {
			const int32_t axis = sx_road_row_ground_q4(road, left->height - 1 - v * rows);
			const bool sky = to_confidence[v];

			to[v] = ((const uint16_t *)sx_image_row(columns, u))[v];
			to_confidence[v] = ((const uint8_t *)sx_image_row(confidence, u))[v];
			weigh(left, columns, &p->stixels, u, v, &to[v], &to_confidence[v]);
			if (sky && sx_sky_is_above(axis + shift, to[v], rise)) {
				to[v] = 0;
				to_confidence[v] = SX_SKY_CONFIDENCE;
			}
		}
	}
}
