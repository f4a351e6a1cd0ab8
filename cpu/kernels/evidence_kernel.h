/*
 * Evidence of cells beside the matched disparity, on lanes. stages/stixels/evidence.h defines the result.
 *
 * Work:   rows of cells first: the least and the largest grey level of pixels in one column, then of 1, 2, 4
 *         and so on neighbouring columns, wherever a cell begins; one byte per cell. Then parts of columns:
 *         the last valid disparity and its distance, for all rows of a column at once, from the left. It
 *         begins some columns before the part. Then saturated cells. The compiler vectorises loops over
 *         pixels and rows. Sky comes last, in cpu/sky.c.
 * Ranges: ages are integers up to the number of columns plus 513.
 * Shapes: any width, height and pitch; up to 2160 rows of cells, images up to 4096 px wide.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_EVIDENCE_KERNEL_H
#define SX_CPU_KERNELS_EVIDENCE_KERNEL_H

#include <string.h>

#include "cpu/kernel_sets.h"
#include "cpu/vec/vec_inline.h"
#include "stages/stixels/evidence.h"
#include "stages/stixels/sky.h"

#define EV_WIDTH 4096
#define EV_ROWS 2160

/* Joins the levels of each column with the levels `step` columns further on. */
static inline void ev_join(uint8_t *least, uint8_t *most, int n, int step)
{
	for (int x = 0; x + step < n; x++)
		least[x] = least[x + step] < least[x] ? least[x + step] : least[x];
	for (int x = 0; x + step < n; x++)
		most[x] = most[x + step] > most[x] ? most[x + step] : most[x];
}

/* Classifies the cells of row v. bright: one byte per column. */
static void bright_cells(const struct sx_image *left, const struct sx_stixel_params *p, int v, int columns,
			 uint8_t *bright)
{
	const int rows = sx_cell_height(p), y0 = left->height - (v + 1) * rows, width = columns * p->width;
	uint8_t least[EV_WIDTH], most[EV_WIDTH];
	int joined = 1; /* number of neighbouring pixels joined */

	memcpy(least, sx_image_row(left, y0), (size_t)width);
	memcpy(most, least, (size_t)width);
	for (int y = y0 + 1; y < y0 + rows; y++) {
		const uint8_t *grey = sx_image_row(left, y);

		for (int x = 0; x < width; x++) {
			least[x] = grey[x] < least[x] ? grey[x] : least[x];
			most[x] = grey[x] > most[x] ? grey[x] : most[x];
		}
	}
	for (; 2 * joined <= p->width; joined *= 2)
		ev_join(least, most, width, joined);
	if (joined < p->width)
		ev_join(least, most, width, p->width - joined);
	for (int u = 0; u < columns; u++) {
		const int low = least[u * p->width], high = most[u * p->width];

		bright[u] = (low >= p->sky_grey && high - low <= SX_BLANK_RANGE ? SX_CELL_BLANK : 0) |
			    (low >= p->saturated ? SX_CELL_SATURATED : 0);
	}
}

/* The last valid disparity so far in every row, and its distance in columns. */
struct ev_last {
	uint16_t d[EV_ROWS];
	int16_t age[EV_ROWS];
};

static inline void ev_start(struct ev_last *s, int rows, int reach)
{
	memset(s->d, 0xff, sizeof(*s->d) * (size_t)rows);
	for (int v = 0; v < rows; v++)
		s->age[v] = (int16_t)(reach + 1);
}

/* All bits if the condition holds, else 0. Compilers vectorise masks more often than conditions. */
#define EV_MASK(condition) ((uint16_t) - (condition))

static inline void ev_next(struct ev_last *restrict s, const uint16_t *restrict d, int rows)
{
	for (int v = 0; v < rows; v++) {
		const uint16_t hole = EV_MASK(d[v] == SX_DISPARITY_INVALID);

		s->d[v] = (uint16_t)((s->d[v] & hole) | (d[v] & ~hole));
		s->age[v] = (int16_t)((s->age[v] + 1) & hole);
	}
}

/* Fills holes. An invalid disparity has all bits set. */
static inline void ev_fill(const struct ev_last *restrict s, int rows, int16_t reach, uint16_t *restrict to)
{
	for (int v = 0; v < rows; v++)
		to[v] = s->d[v] | EV_MASK(s->age[v] > reach);
}

/* Sets the confidence. d: disparities before filling. filled: disparities after it. */
static inline void ev_confidence(const uint16_t *restrict d, const uint16_t *restrict filled,
				 const uint8_t *restrict confidence, int rows, uint8_t *restrict to)
{
	for (int v = 0; v < rows; v++) {
		const uint8_t same = (uint8_t)EV_MASK(d[v] == filled[v]);

		to[v] = (uint8_t)((confidence[v] & same) | (SX_FILL_CONFIDENCE & ~same));
	}
}

/* Marks saturated cells. bright: [row][columns] from bright_cells(). */
static inline void ev_saturated(const uint8_t *bright, int columns, int rows, uint16_t *to,
				uint8_t *to_confidence)
{
	for (int v = 0; 2 * v < rows; v++) {
		if (bright[(size_t)v * (size_t)columns] & SX_CELL_SATURATED) {
			to[v] = SX_DISPARITY_INVALID;
			to_confidence[v] = 0;
		}
	}
}

/* Weighs columns u0 .. u1 - 1. */
static void weigh_columns(const struct sx_image *columns, const struct sx_image *confidence,
			  const struct sx_stixel_params *p, const uint8_t *bright, int u0, int u1,
			  struct sx_image *cells, struct sx_image *cells_confidence)
{
	const int rows = columns->width, n = columns->height;
	const int16_t reach = (int16_t)sx_fill_reach(p);
	struct ev_last s;

	ev_start(&s, rows, reach);
	for (int u = u0 > reach ? u0 - reach : 0; u < u1; u++) {
		ev_next(&s, sx_image_row(columns, u), rows);
		if (u < u0)
			continue;
		ev_fill(&s, rows, reach, sx_image_row(cells, u));
		ev_confidence(sx_image_row(columns, u), sx_image_row(cells, u), sx_image_row(confidence, u),
			      rows, sx_image_row(cells_confidence, u));
	}
	for (int u = u0; u < u1; u++)
		ev_saturated(bright + u, n, rows, sx_image_row(cells, u), sx_image_row(cells_confidence, u));
}

#endif
