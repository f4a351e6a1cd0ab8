/*
 * The best pixel of each cell. stages/motion/corners.h defines the result.
 *
 * Work:   scores of CORNERS_ROWS by CORNERS_WIDTH pixels at a time: sums over columns, then over rows. The
 *         compiler makes vectors of the loops. The quotient is that of doubles: both are whole numbers below
 *         2^42 and 2^22, so that it cannot be rounded up to the next whole number. Disparities are computed
 *         only where the score is better than the best one before.
 * Memory: sums and scores stay in the first-level cache.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_MOTION_CORNERS_KERNEL_H
#define SX_CPU_MOTION_CORNERS_KERNEL_H

#include "cpu/motion/find_kernel.h"
#include "stages/motion/corners.h"
#include "stages/motion/view.h"

#define CORNERS_R 2 /* px: the structure tensor sums over 5x5 */
#define CORNERS_ROWS 8
#define CORNERS_WIDTH 64
#define CORNERS_SUMS (CORNERS_WIDTH + 2 * CORNERS_R)

/* Products of gradients of a piece, summed over the rows of the window. */
struct corners_sums {
	int32_t xx[CORNERS_SUMS], yy[CORNERS_SUMS], xy[CORNERS_SUMS];
};

/* Adds the products of a row to the sums (sign 1), or takes them out again (-1). */
static ALWAYS_INLINE void corners_add(struct corners_sums *s, const struct sx_image *grey, int x, int y,
				      int width, int32_t sign)
{
	const uint8_t *above = (const uint8_t *)sx_image_row(grey, y - 1) + x;
	const uint8_t *row = (const uint8_t *)sx_image_row(grey, y) + x;
	const uint8_t *below = (const uint8_t *)sx_image_row(grey, y + 1) + x;

	for (int i = 0; i < width; i++) {
		const int32_t gx = row[i + 1] - row[i - 1], gy = below[i] - above[i];

		s->xx[i] += sign * (gx * gx);
		s->yy[i] += sign * (gy * gy);
		s->xy[i] += sign * (gx * gy);
	}
}

static ALWAYS_INLINE void corners_score(const struct corners_sums *s, int width, int32_t *score)
{
	for (int i = 0; i < width; i++) {
		const int32_t *a = &s->xx[i], *b = &s->yy[i], *c = &s->xy[i];
		const double xx = (double)(a[0] + a[1] + a[2] + a[3] + a[4]);
		const double yy = (double)(b[0] + b[1] + b[2] + b[3] + b[4]);
		const double xy = (double)(c[0] + c[1] + c[2] + c[3] + c[4]);

		score[i] = (int32_t)((xx * yy - xy * xy) / (xx + yy + 1.0));
	}
}

/* Looks for better pixels of a cell in a row of scores of pixels x0 .. x1 - 1. */
static ALWAYS_INLINE void corners_choose(const struct sx_motion_view *view, const int32_t *score, int x0,
					 int x1, int y, struct sx_motion_feature *best)
{
	for (int x = x0; x < x1; x++) {
		const uint32_t all = (uint32_t)score[x - x0];
		const uint32_t s = all < SX_MOTION_SCORE_MAX ? all : SX_MOTION_SCORE_MAX;
		int32_t d;

		if (s < best->score || s < SX_MOTION_SCORE_LEAST ||
		    (s == best->score && (y > best->y || (y == best->y && x > best->x))))
			continue;
		d = sx_motion_disparity_q8(&view->disparity, x, y);
		if (d >= SX_MOTION_LEAST_Q8)
			*best = (struct sx_motion_feature){.x = x, .y = y, .disparity_q8 = d, .score = s};
	}
}

/* Finds the best pixels of a row of cells, x, y, disparity_q8 and score. best: the slots of the row. */
static void motion_corner_row(const struct sx_motion_view *view, const struct sx_motion_cells *cells, int row,
			      struct sx_motion_feature *best)
{
	const struct sx_image *grey = &view->grey;
	const int top = find_larger(row * cells->size, SX_MOTION_MARGIN);
	const int bottom = find_smaller((row + 1) * cells->size, grey->height - SX_MOTION_MARGIN);
	const int right = grey->width - SX_MOTION_MARGIN;

	for (int i = 0; i < cells->columns; i++)
		best[i] = (struct sx_motion_feature){.score = 0};
	for (int y0 = top; y0 < bottom; y0 += CORNERS_ROWS)
		for (int x0 = SX_MOTION_MARGIN; x0 < right; x0 += CORNERS_WIDTH) {
			const int x1 = find_smaller(x0 + CORNERS_WIDTH, right);
			const int y1 = find_smaller(y0 + CORNERS_ROWS, bottom);
			struct corners_sums sums = {.xx = {0}};

			for (int y = y0 - CORNERS_R; y < y0 + CORNERS_R; y++)
				corners_add(&sums, grey, x0 - CORNERS_R, y, x1 - x0 + 2 * CORNERS_R, 1);
			for (int y = y0; y < y1; y++) {
				int32_t score[CORNERS_WIDTH];

				corners_add(&sums, grey, x0 - CORNERS_R, y + CORNERS_R,
					    x1 - x0 + 2 * CORNERS_R, 1);
				corners_score(&sums, x1 - x0, score);
				corners_add(&sums, grey, x0 - CORNERS_R, y - CORNERS_R,
					    x1 - x0 + 2 * CORNERS_R, -1);
				for (int c = x0 / cells->size; c * cells->size < x1; c++) {
					const int from = find_larger(c * cells->size, x0);

					corners_choose(view, &score[from - x0], from,
						       find_smaller((c + 1) * cells->size, x1), y, &best[c]);
				}
			}
		}
}

#endif
