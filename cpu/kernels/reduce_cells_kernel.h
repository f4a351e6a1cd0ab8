/*
 * Reduction to cells of several rows, on lanes. stages/stixels/reduce.h defines the result.
 *
 * Work:   16 cells at a time, 8 neighbours in each of two rows of cells. Lanes are cells: one array holds
 *         their first pixels, another their second pixels, and so on. A network of exchanges sorts them
 *         (merge exchange, which takes any number of values). Shuffles separate cells of 4 columns; others
 *         are separated pixel by pixel. Class scores: the rows of a band of cells are added up first, each as
 *         often as image rows show it, then the columns of every cell. The compiler vectorises loops over
 *         lanes and rows.
 * Ranges: sums of 1024 pixels: disparity < 2^26, confidence and scores < 2^18; of 32 rows of scores < 2^13.
 * Shapes: any width, height and pitch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_REDUCE_CELLS_KERNEL_H
#define SX_CPU_KERNELS_REDUCE_CELLS_KERNEL_H

#include <string.h>

#include "cpu/vec/vec_inline.h"
#include "stages/stixels/reduce.h"

#define RC_LANES 16
#define RC_SIDE (RC_LANES / 2) /* cells side by side */
#define RC_PIXELS (32 * 32)

struct cells_block {
	uint16_t d[RC_PIXELS][RC_LANES];
	uint8_t c[RC_PIXELS][RC_LANES]; /* confidence */
	uint32_t sum[RC_LANES], confidence[RC_LANES];
	uint16_t valid[RC_LANES], out[RC_LANES];
};

/*
 * Load row i of the pixels of RC_SIDE cells that are 4 px wide into the cells' lanes: disparities,
 * confidence.
 */
static inline void load_row_4(struct cells_block *b, int i, int lane, const uint16_t *d, const uint8_t *c)
{
	for (int l = 0; l < RC_SIDE; l++) {
		b->d[i][lane + l] = d[4 * l];
		b->d[i + 1][lane + l] = d[4 * l + 1];
		b->d[i + 2][lane + l] = d[4 * l + 2];
		b->d[i + 3][lane + l] = d[4 * l + 3];
	}
	for (int l = 0; c && l < RC_SIDE; l++) {
		b->c[i][lane + l] = c[4 * l];
		b->c[i + 1][lane + l] = c[4 * l + 1];
		b->c[i + 2][lane + l] = c[4 * l + 2];
		b->c[i + 3][lane + l] = c[4 * l + 3];
	}
}

/* Loads row i of the pixels of n cells of any width. The last cell fills the lanes after it. */
static inline void load_row(struct cells_block *b, int i, int lane, const uint16_t *d, const uint8_t *c,
			    int n, int width)
{
	for (int l = 0; l < RC_SIDE; l++) {
		const int x = (l < n ? l : n - 1) * width;

		for (int k = 0; k < width; k++) {
			b->d[i + k][lane + l] = d[x + k];
			b->c[i + k][lane + l] = c ? c[x + k] : 0;
		}
	}
}

static inline void count_cells(struct cells_block *b, int pixels)
{
	memset(b->sum, 0, sizeof(b->sum));
	memset(b->valid, 0, sizeof(b->valid));
	memset(b->confidence, 0, sizeof(b->confidence));
	for (int i = 0; i < pixels; i++) {
		for (int l = 0; l < RC_LANES; l++) {
			const uint16_t mask = b->d[i][l] == SX_DISPARITY_INVALID ? 0 : 0xffff;

			b->valid[l] = (uint16_t)(b->valid[l] - mask);
			b->sum[l] += b->d[i][l] & mask;
			b->confidence[l] += b->c[i][l] & mask;
		}
	}
	for (int l = 0; l < RC_LANES; l++)
		b->confidence[l] = (2 * b->confidence[l] + (uint32_t)pixels) / (2 * (uint32_t)pixels);
}

static inline void exchange_cells(uint16_t *restrict low, uint16_t *restrict high)
{
	for (int l = 0; l < RC_LANES; l++) {
		const uint16_t a = low[l], b = high[l];

		low[l] = a < b ? a : b;
		high[l] = a < b ? b : a;
	}
}

/* Sorts n rows of lanes, invalid pixels last, by Batcher's merge exchange (Knuth 5.2.2 M). */
static inline void sort_cells(struct cells_block *b, int n)
{
	int half = 1;

	while (2 * half < n)
		half *= 2;
	for (int p = half; p > 0; p /= 2) {
		int q = half, r = 0, d = p;

		for (;;) {
			for (int i = 0; i + d < n; i++)
				if ((i & p) == r)
					exchange_cells(b->d[i], b->d[i + d]);
			if (q == p)
				break;
			d = q - p;
			q /= 2;
			r = p;
		}
	}
}

static inline void pick_cells(struct cells_block *b, int pixels, enum sx_reduction how)
{
	if (how == SX_REDUCTION_MEDIAN)
		sort_cells(b, pixels);
	for (int l = 0; l < RC_LANES; l++) {
		const uint32_t n = b->valid[l];

		if (2 * n < (uint32_t)pixels)
			b->out[l] = SX_DISPARITY_INVALID;
		else if (how == SX_REDUCTION_MEDIAN)
			b->out[l] = b->d[n / 2][l];
		else
			b->out[l] = (uint16_t)((2 * b->sum[l] + n) / (2 * n));
	}
}

/* Source and destination of cells. */
struct cells_map {
	const struct sx_image *disparity, *confidence; /* confidence may be NULL */
	struct sx_image *columns, *columns_confidence;
	int width, rows;
};

/* Loads n cells of row v of cells, from column u on, into lanes from `lane` on. */
static inline void load_cells(struct cells_block *b, const struct cells_map *m, int lane, int u, int v, int n)
{
	const int y0 = m->disparity->height - (v + 1) * m->rows, x = u * m->width;

	for (int y = y0, i = 0; y < y0 + m->rows; y++, i += m->width) {
		const uint16_t *d = (const uint16_t *)sx_image_row(m->disparity, y) + x;
		const uint8_t *c = m->confidence ? (const uint8_t *)sx_image_row(m->confidence, y) + x : NULL;

		if (n == RC_SIDE && m->width == 4)
			load_row_4(b, i, lane, d, c);
		else
			load_row(b, i, lane, d, c, n, m->width);
	}
}

static inline void store_cells(const struct cells_block *b, const struct cells_map *m, int lane, int u, int v,
			       int n)
{
	for (int l = 0; l < n; l++)
		((uint16_t *)sx_image_row(m->columns, u + l))[v] = b->out[lane + l];
	for (int l = 0; m->confidence && l < n; l++)
		((uint8_t *)sx_image_row(m->columns_confidence, u + l))[v] = (uint8_t)b->confidence[lane + l];
}

static void reduce_cells(const struct sx_image *disparity, const struct sx_image *confidence, int width_px,
			 int cell_height, enum sx_reduction how, struct sx_image *columns,
			 struct sx_image *columns_confidence)
{
	const struct cells_map m = {disparity,		confidence, columns,
				    columns_confidence, width_px,   cell_height};
	const int w = sx_reduce_columns(disparity->width, width_px), cells = disparity->height / cell_height;
	const int pixels = width_px * cell_height;
	struct cells_block b;

	memset(b.d, 0, sizeof(b.d[0]) * (size_t)pixels);
	memset(b.c, 0, sizeof(b.c[0]) * (size_t)pixels);
	for (int u = 0; u < w; u += RC_SIDE) {
		const int n = w - u < RC_SIDE ? w - u : RC_SIDE;

		for (int v = 0; v < cells; v += 2) {
			load_cells(&b, &m, 0, u, v, n);
			if (v + 1 < cells)
				load_cells(&b, &m, RC_SIDE, u, v + 1, n);
			count_cells(&b, pixels);
			pick_cells(&b, pixels, how);
			store_cells(&b, &m, 0, u, v, n);
			if (v + 1 < cells)
				store_cells(&b, &m, RC_SIDE, u, v + 1, n);
		}
	}
}

/* Sums the rows of one class that image rows y0 .. y0 + rows - 1 show. */
static inline void add_rows(const struct sx_scores *s, const uint8_t *plane, int y0, int rows, uint16_t *sum)
{
	const int width = s->width;

	memset(sum, 0, sizeof(*sum) * (size_t)width);
	for (int y = y0; y < y0 + rows;) {
		const uint8_t *p = plane + (size_t)(y / s->scale) * s->pitch;
		const int next = (y / s->scale + 1) * s->scale, end = next < y0 + rows ? next : y0 + rows;
		const uint16_t times = (uint16_t)(end - y);

		for (int x = 0; x < width; x++)
			sum[x] = (uint16_t)(sum[x] + p[x] * times);
		y = end;
	}
}

static inline uint32_t add_columns(const uint16_t *sum, int x0, int width, int scale)
{
	uint32_t all = 0;

	if (scale == 1) {
		for (int x = x0; x < x0 + width; x++)
			all += sum[x];
		return all;
	}
	for (int x = x0; x < x0 + width;) {
		const int next = (x / scale + 1) * scale, end = next < x0 + width ? next : x0 + width;

		all += sum[x / scale] * (uint32_t)(end - x);
		x = end;
	}
	return all;
}

/* Reduces the scores of cells v0 .. v1 - 1 of all columns. */
static void reduce_scores(const struct sx_scores *scores, int image_width, int image_height, int width_px,
			  int cell_height, int v0, int v1, struct sx_image *columns)
{
	const int w = sx_reduce_columns(image_width, width_px), n = scores->classes;
	const uint32_t pixels = (uint32_t)(width_px * cell_height);
	uint16_t sum[4096];

	for (int v = v0; v < v1; v++)
		for (int k = 0; k < n; k++) {
			add_rows(scores, scores->data + (size_t)k * scores->plane_bytes,
				 image_height - (v + 1) * cell_height, cell_height, sum);
			for (int u = 0; u < w; u++)
				((uint8_t *)sx_image_row(columns, u))[v * n + k] =
					(uint8_t)((2 * add_columns(sum, u * width_px, width_px,
								   scores->scale) +
						   pixels) /
						  (2 * pixels));
		}
}

#endif
