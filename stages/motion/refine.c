/*
 * Refine, see refine.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/refine.h"

#include <stdlib.h>

#include "stages/motion/view.h"

#define R SX_MOTION_LK_RADIUS
#define COUNT ((2 * R + 1) * (2 * R + 1))

/* Grey levels of the window, 1/16, and gradients (twice the derivative, grey levels per px). */
struct window {
	int32_t grey[COUNT], gx[COUNT], gy[COUNT];
	int64_t xx, yy, xy, x, y; /* sums; of products: less the product of the means, times COUNT */
};

static void take_window(struct window *w, const struct sx_image *grey, int x, int y)
{
	int n = 0;

	*w = (struct window){.xx = 0};
	for (int j = y - R; j <= y + R; j++) {
		const uint8_t *above = sx_image_row(grey, j - 1), *row = sx_image_row(grey, j);
		const uint8_t *below = sx_image_row(grey, j + 1);

		for (int i = x - R; i <= x + R; i++, n++) {
			const int32_t gx = row[i + 1] - row[i - 1], gy = below[i] - above[i];

			w->grey[n] = 16 * row[i];
			w->gx[n] = gx;
			w->gy[n] = gy;
			w->xx += gx * gx;
			w->yy += gy * gy;
			w->xy += gx * gy;
			w->x += gx;
			w->y += gy;
		}
	}
	w->xx = w->xx * COUNT - w->x * w->x;
	w->yy = w->yy * COUNT - w->y * w->y;
	w->xy = w->xy * COUNT - w->x * w->y;
}

/*
 * Computes the differences between the window and the image around (x, y), 1/64 px, in 1/16 grey level. guess:
 * the warp.
 */
static void subtract(const struct window *w, const struct sx_image *grey, const struct sx_motion_guess *guess,
		     int32_t x, int32_t y, int32_t difference[COUNT])
{
	int n = 0;

	for (int j = -R; j <= R; j++)
		for (int i = -R; i <= R; i++, n++) {
			const int32_t px = x + ((guess->across * i + guess->shear * j) >> 4);
			const int32_t py = y + ((guess->down * j) >> 4), fx = px & 63, fy = py & 63;
			const uint8_t *row = (const uint8_t *)sx_image_row(grey, py >> 6) + (px >> 6);
			const uint8_t *below = row + grey->pitch;
			const int32_t upper = row[0] * (64 - fx) + row[1] * fx;
			const int32_t lower = below[0] * (64 - fx) + below[1] * fx;

			difference[n] = w->grey[n] - ((upper * (64 - fy) + lower * fy) >> 8);
		}
}

/* Moves (*x, *y), 1/64 px. Returns the mean difference that is left, 1/16 grey level, or -1. */
static int32_t lucas_kanade(const struct window *w, const struct sx_image *grey,
			    const struct sx_motion_guess *guess, int32_t *x, int32_t *y)
{
	const double xx = (double)w->xx, yy = (double)w->yy, xy = (double)w->xy;
	const double det = xx * yy - xy * xy;
	int32_t difference[COUNT];
	int64_t sum = 0, rest = 0;

	if (!(det > 0.0))
		return -1;
	for (int round = 0; round < SX_MOTION_LK_ROUNDS; round++) {
		int64_t bx = 0, by = 0, all = 0;
		int32_t step[2];

		if (!sx_motion_lk_fits(grey->width, grey->height, guess, *x, *y))
			return -1;
		subtract(w, grey, guess, *x, *y, difference);
		for (int n = 0; n < COUNT; n++) {
			bx += (int64_t)w->gx[n] * difference[n];
			by += (int64_t)w->gy[n] * difference[n];
			all += difference[n];
		}
		bx = bx * COUNT - w->x * all;
		by = by * COUNT - w->y * all;
		sx_motion_lk_step(guess, xx, yy, xy, det, bx, by, step);
		*x += step[0];
		*y += step[1];
	}
	if (!sx_motion_lk_fits(grey->width, grey->height, guess, *x, *y))
		return -1;
	subtract(w, grey, guess, *x, *y, difference);
	for (int n = 0; n < COUNT; n++)
		sum += difference[n];
	for (int n = 0; n < COUNT; n++)
		rest += llabs(difference[n] - sum / COUNT);
	return (int32_t)(rest / COUNT);
}

void sx_motion_refine_by(sx_motion_move_fn *move, sx_motion_search_fn *back, const struct sx_motion_view *now,
			 const struct sx_motion_view *before, const struct sx_motion_feature *feature,
			 const struct sx_motion_guess *guess, struct sx_motion_flow *flow)
{
	const int32_t x0 = flow->x_q6, y0 = flow->y_q6;
	/* the warp of the way back; shear has little effect on 3 px */
	const struct sx_motion_guess inverse = {0, 0, 1048576 / guess->across, 0, 1048576 / guess->down};
	struct sx_motion_place place;
	int x, y;

	if (flow->search != SX_MOTION_FOUND)
		return;
	flow->rest_q4 = move(&now->grey, &before->grey, feature, guess, &flow->x_q6, &flow->y_q6);
	if (flow->rest_q4 < 0 || flow->rest_q4 >= SX_MOTION_REST_Q4 ||
	    abs(flow->x_q6 - x0) >= SX_MOTION_LK_FAR_Q6 || abs(flow->y_q6 - y0) >= SX_MOTION_LK_FAR_Q6) {
		flow->search = SX_MOTION_UNREFINED;
		return;
	}
	x = (flow->x_q6 + 32) >> 6;
	y = (flow->y_q6 + 32) >> 6;
	place = back(&before->census, &now->census, x, y, feature->x, feature->y, &inverse);
	if (place.cost == SX_MOTION_COST_NONE || abs(place.x - feature->x) > 1 ||
	    abs(place.y - feature->y) > 1) {
		flow->search = SX_MOTION_NOT_BACK;
		return;
	}
	flow->disparity_q8 = sx_motion_disparity_q8(&before->disparity, x, y);
	if (flow->disparity_q8 < SX_MOTION_LEAST_Q8)
		flow->search = SX_MOTION_NO_DISPARITY;
}

static int32_t move_feature(const struct sx_image *now, const struct sx_image *before,
			    const struct sx_motion_feature *feature, const struct sx_motion_guess *guess,
			    int32_t *x, int32_t *y)
{
	struct window w;

	take_window(&w, now, feature->x, feature->y);
	return lucas_kanade(&w, before, guess, x, y);
}

void sx_motion_refine(const struct sx_motion_view *now, const struct sx_motion_view *before,
		      const struct sx_motion_feature *feature, const struct sx_motion_guess *guess,
		      struct sx_motion_flow *flow)
{
	sx_motion_refine_by(move_feature, sx_motion_find_fine, now, before, feature, guess, flow);
}
