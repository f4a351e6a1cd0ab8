/*
 * Position to 1/64 px. stages/motion/refine.h defines the result.
 *
 * Work:   the two bytes of each of four neighbours of a sample are copied next to each other first; what follows
 *         are loops that the compiler makes vectors of. Sums of a window are below 2^27. A position that a round
 *         does not change stays, so that the other rounds are left out.
 * Memory: what sx_motion_refine() reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_MOTION_REFINE_KERNEL_H
#define SX_CPU_MOTION_REFINE_KERNEL_H

#include <stdlib.h>
#include <string.h>

#include "cpu/motion/find_kernel.h"
#include "stages/motion/refine.h"
#include "stages/motion/view.h"

#define REFINE_R SX_MOTION_LK_RADIUS
#define REFINE_SIDE (2 * REFINE_R + 1)
#define REFINE_COUNT (REFINE_SIDE * REFINE_SIDE)

/* Grey levels of the window, 1/16, and gradients. along, down: place in the frame before by the warp, 1/64 px. */
struct refine_window {
	int32_t grey[REFINE_COUNT], gx[REFINE_COUNT], gy[REFINE_COUNT];
	int32_t along[REFINE_COUNT], down[REFINE_SIDE];
	int64_t xx, yy, xy, x, y; /* sums; of products: less the product of the means, times REFINE_COUNT */
};

static ALWAYS_INLINE void refine_take(struct refine_window *w, const struct sx_image *grey,
				      const struct sx_motion_guess *guess, int x, int y)
{
	int32_t xx = 0, yy = 0, xy = 0, sum_x = 0, sum_y = 0;

	for (int j = 0; j < REFINE_SIDE; j++) {
		const uint8_t *row = (const uint8_t *)sx_image_row(grey, y + j - REFINE_R) + x - REFINE_R;
		const uint8_t *above = row - grey->pitch, *below = row + grey->pitch;

		for (int i = 0; i < REFINE_SIDE; i++) {
			const int n = j * REFINE_SIDE + i;

			w->grey[n] = 16 * row[i];
			w->gx[n] = row[i + 1] - row[i - 1];
			w->gy[n] = below[i] - above[i];
			w->along[n] = (guess->across * (i - REFINE_R) + guess->shear * (j - REFINE_R)) >> 4;
		}
		w->down[j] = (guess->down * (j - REFINE_R)) >> 4;
	}
	for (int n = 0; n < REFINE_COUNT; n++) {
		xx += w->gx[n] * w->gx[n];
		yy += w->gy[n] * w->gy[n];
		xy += w->gx[n] * w->gy[n];
		sum_x += w->gx[n];
		sum_y += w->gy[n];
	}
	w->x = sum_x;
	w->y = sum_y;
	w->xx = (int64_t)xx * REFINE_COUNT - w->x * w->x;
	w->yy = (int64_t)yy * REFINE_COUNT - w->y * w->y;
	w->xy = (int64_t)xy * REFINE_COUNT - w->x * w->y;
}

/* Computes the differences between the window and the image around (x, y), 1/64 px, in 1/16 grey level. */
static ALWAYS_INLINE void refine_subtract(const struct refine_window *w, const struct sx_image *grey,
					  int32_t x, int32_t y, int32_t difference[REFINE_COUNT])
{
	uint16_t upper[REFINE_COUNT], lower[REFINE_COUNT];
	int32_t fy[REFINE_COUNT];

	for (int j = 0; j < REFINE_SIDE; j++) {
		const int32_t py = y + w->down[j];
		const uint8_t *row = sx_image_row(grey, py >> 6);

		for (int i = 0; i < REFINE_SIDE; i++) {
			const int n = j * REFINE_SIDE + i;
			const uint8_t *p = row + ((x + w->along[n]) >> 6);

			memcpy(&upper[n], p, sizeof(upper[n]));
			memcpy(&lower[n], p + grey->pitch, sizeof(lower[n]));
			fy[n] = py & 63;
		}
	}
	for (int n = 0; n < REFINE_COUNT; n++) {
		const int32_t fx = (x + w->along[n]) & 63;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		const int32_t a = upper[n] >> 8, b = upper[n] & 255, c = lower[n] >> 8, d = lower[n] & 255;
#else
		const int32_t a = upper[n] & 255, b = upper[n] >> 8, c = lower[n] & 255, d = lower[n] >> 8;
#endif
		const int32_t above = 64 * a + (b - a) * fx, below = 64 * c + (d - c) * fx;

		difference[n] = w->grey[n] - ((64 * above + (below - above) * fy[n]) >> 8);
	}
}

/* Returns whether the warped window lies in the image, with a pixel to spare. */
static ALWAYS_INLINE bool refine_fits(const struct sx_image *grey, const struct sx_motion_guess *guess,
				      int32_t x, int32_t y)
{
	const int32_t rx = ((guess->across + abs(guess->shear)) * REFINE_R >> 10) + 1;
	const int32_t ry = (guess->down * REFINE_R >> 10) + 1;

	return (x >> 6) > rx && (y >> 6) > ry && (x >> 6) < grey->width - rx - 2 &&
	       (y >> 6) < grey->height - ry - 2;
}

/* Returns a step in 1/64 px. */
static ALWAYS_INLINE int32_t refine_step(double step)
{
	const double limited = step > 64.0 ? 64.0 : step < -64.0 ? -64.0 : step;

	return (int32_t)(limited + (limited < 0.0 ? -0.5 : 0.5));
}

/* Moves (*x, *y), 1/64 px. Returns the mean difference that is left, 1/16 grey level, or -1. */
static ALWAYS_INLINE int32_t refine_move(const struct refine_window *w, const struct sx_image *grey,
					 const struct sx_motion_guess *guess, int32_t *x, int32_t *y)
{
	const double xx = (double)w->xx, yy = (double)w->yy, xy = (double)w->xy;
	const double det = xx * yy - xy * xy;
	int32_t difference[REFINE_COUNT], sum = 0, rest = 0;
	bool rests = false; /* the position does not change any more, nor do the differences */

	if (!(det > 0.0))
		return -1;
	for (int round = 0; round < SX_MOTION_LK_ROUNDS && !rests; round++) {
		int32_t sum_x = 0, sum_y = 0, all = 0, step_x, step_y;
		int64_t bx, by;
		double mx, my;

		if (!refine_fits(grey, guess, *x, *y))
			return -1;
		refine_subtract(w, grey, *x, *y, difference);
		for (int n = 0; n < REFINE_COUNT; n++) {
			sum_x += w->gx[n] * difference[n];
			sum_y += w->gy[n] * difference[n];
			all += difference[n];
		}
		bx = (int64_t)sum_x * REFINE_COUNT - w->x * all;
		by = (int64_t)sum_y * REFINE_COUNT - w->y * all;
		mx = 8.0 * ((double)bx * yy - (double)by * xy) / det;
		my = 8.0 * ((double)by * xx - (double)bx * xy) / det;
		step_x = refine_step(((double)guess->across * mx + (double)guess->shear * my) / 1024.0);
		step_y = refine_step((double)guess->down * my / 1024.0);
		*x += step_x;
		*y += step_y;
		rests = step_x == 0 && step_y == 0;
	}
	if (!refine_fits(grey, guess, *x, *y))
		return -1;
	if (!rests)
		refine_subtract(w, grey, *x, *y, difference);
	for (int n = 0; n < REFINE_COUNT; n++)
		sum += difference[n];
	sum /= REFINE_COUNT;
	for (int n = 0; n < REFINE_COUNT; n++)
		rest += abs(difference[n] - sum);
	return rest / REFINE_COUNT;
}

static int32_t refine_feature(const struct sx_image *now, const struct sx_image *before,
			      const struct sx_motion_feature *feature, const struct sx_motion_guess *guess,
			      int32_t *x, int32_t *y)
{
	struct refine_window w;

	refine_take(&w, now, guess, feature->x, feature->y);
	return refine_move(&w, before, guess, x, y);
}

/* Computes the same as sx_motion_refine(). */
static void motion_refine(const struct sx_motion_view *now, const struct sx_motion_view *before,
			  const struct sx_motion_feature *feature, const struct sx_motion_guess *guess,
			  struct sx_motion_flow *flow)
{
	sx_motion_refine_by(refine_feature, find_fine, now, before, feature, guess, flow);
}

#endif
