/*
 * Column reduction, see reduce.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/reduce.h"

/* Inserts v into the sorted list of n values. */
static void insert(uint16_t *sorted, int n, uint16_t v)
{
	while (n > 0 && sorted[n - 1] > v) {
		sorted[n] = sorted[n - 1];
		n--;
	}
	sorted[n] = v;
}

/* A cell of the map: `rows` rows, the first at d or c, each next one pitch elements further on. */
struct cell {
	const uint16_t *d;
	const uint8_t *c;
	size_t d_pitch, c_pitch;
	int width, rows;
};

static uint16_t reduce_cell(const struct cell *cell, enum sx_reduction how)
{
	const int pixels = cell->width * cell->rows;
	uint16_t sorted[32 * 32];
	int n = 0, sum = 0;

	for (int y = 0; y < cell->rows; y++)
		for (int x = 0; x < cell->width; x++) {
			const uint16_t d = cell->d[(size_t)y * cell->d_pitch + (size_t)x];

			if (d == SX_DISPARITY_INVALID)
				continue;
			insert(sorted, n++, d);
			sum += d;
		}
	if (2 * n < pixels)
		return SX_DISPARITY_INVALID;
	return how == SX_REDUCTION_MEDIAN ? sorted[n / 2] : (uint16_t)((2 * sum + n) / (2 * n));
}

static uint8_t reduce_confidence(const struct cell *cell)
{
	const int pixels = cell->width * cell->rows;
	int sum = 0;

	for (int y = 0; y < cell->rows; y++)
		for (int x = 0; x < cell->width; x++)
			if (cell->d[(size_t)y * cell->d_pitch + (size_t)x] != SX_DISPARITY_INVALID)
				sum += cell->c[(size_t)y * cell->c_pitch + (size_t)x];
	return (uint8_t)((2 * sum + pixels) / (2 * pixels));
}

void sx_reduce_cells(const struct sx_image *disparity, const struct sx_image *confidence, int width_px,
		     int cell_height, enum sx_reduction how, struct sx_image *columns,
		     struct sx_image *columns_confidence)
{
	const int h = disparity->height, w = sx_reduce_columns(disparity->width, width_px);

	for (int v = 0; v < h / cell_height; v++) {
		const int y = h - (v + 1) * cell_height;
		const uint16_t *d = sx_image_row(disparity, y);
		const uint8_t *c = confidence ? sx_image_row(confidence, y) : NULL;

		for (int u = 0; u < w; u++) {
			const int x = u * width_px;
			const struct cell cell = {
				.d = d + x,
				.c = c ? c + x : NULL,
				.d_pitch = disparity->pitch / sizeof(*d),
				.c_pitch = c ? confidence->pitch : 0,
				.width = width_px,
				.rows = cell_height,
			};

			((uint16_t *)sx_image_row(columns, u))[v] = reduce_cell(&cell, how);
			if (c)
				((uint8_t *)sx_image_row(columns_confidence, u))[v] =
					reduce_confidence(&cell);
		}
	}
}

void sx_reduce(const struct sx_image *disparity, const struct sx_image *confidence, int width_px,
	       enum sx_reduction how, struct sx_image *columns, struct sx_image *columns_confidence)
{
	sx_reduce_cells(disparity, confidence, width_px, 1, how, columns, columns_confidence);
}

static uint8_t reduce_scores_cell(const struct sx_scores *s, const uint8_t *plane, int x0, int y0, int width,
				  int rows)
{
	const int pixels = width * rows;
	int sum = 0;

	for (int y = y0; y < y0 + rows; y++)
		for (int x = x0; x < x0 + width; x++)
			sum += plane[(size_t)(y / s->scale) * s->pitch + (size_t)(x / s->scale)];
	return (uint8_t)((2 * sum + pixels) / (2 * pixels));
}

void sx_reduce_scores(const struct sx_scores *scores, int image_width, int image_height, int width_px,
		      int cell_height, struct sx_image *columns)
{
	const int w = sx_reduce_columns(image_width, width_px), n = scores->classes;

	for (int u = 0; u < w; u++) {
		uint8_t *out = sx_image_row(columns, u);

		for (int v = 0; v < image_height / cell_height; v++)
			for (int k = 0; k < n; k++)
				out[v * n + k] = reduce_scores_cell(
					scores, scores->data + (size_t)k * scores->plane_bytes, u * width_px,
					image_height - (v + 1) * cell_height, width_px, cell_height);
	}
}
