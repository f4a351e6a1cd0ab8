/*
 * Column reduction, see reduce.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/reduce.h"

/* Inserts v into the sorted list of n values. */
static void insert(uint16_t *sorted, int n, uint16_t v)
{
	while (n > 0 && sorted[n - 1] > v) {
		sorted[n] = sorted[n - 1];
		n--;
	}
	sorted[n] = v;
}

static uint16_t reduce_cell(const uint16_t *d, int width, enum sx_reduction how)
{
	uint16_t sorted[32];
	int n = 0, sum = 0;

	for (int i = 0; i < width; i++) {
		if (d[i] == SX_DISPARITY_INVALID)
			continue;
		insert(sorted, n++, d[i]);
		sum += d[i];
	}
	if (2 * n < width)
		return SX_DISPARITY_INVALID;
	return how == SX_REDUCTION_MEDIAN ? sorted[n / 2] : (uint16_t)((2 * sum + n) / (2 * n));
}

static uint8_t reduce_confidence(const uint8_t *c, const uint16_t *d, int width)
{
	int sum = 0;

	for (int i = 0; i < width; i++)
		sum += d[i] == SX_DISPARITY_INVALID ? 0 : c[i];
	return (uint8_t)((2 * sum + width) / (2 * width));
}

void sx_reduce(const struct sx_image *disparity, const struct sx_image *confidence, int width_px,
	       enum sx_reduction how, struct sx_image *columns, struct sx_image *columns_confidence)
{
	const int h = disparity->height, w = sx_reduce_columns(disparity->width, width_px);

	for (int v = 0; v < h; v++) {
		const uint16_t *d = sx_image_row(disparity, h - 1 - v);
		const uint8_t *c = confidence ? sx_image_row(confidence, h - 1 - v) : NULL;

		for (int u = 0; u < w; u++) {
			const int x = u * width_px;

			((uint16_t *)sx_image_row(columns, u))[v] = reduce_cell(d + x, width_px, how);
			if (c)
				((uint8_t *)sx_image_row(columns_confidence, u))[v] =
					reduce_confidence(c + x, d + x, width_px);
		}
	}
}
