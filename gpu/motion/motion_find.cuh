/*
 * Search for one feature by a warp: sx_motion_match() and sx_motion_refine(). Every lane has the same arguments and
 * gets the same result.
 *
 * Work: lanes try places of the block that is searched, and the least word of cost and place wins. In refinement each
 *       lane has up to three pixels of the window, and sums go over the warp.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_MOTION_MOTION_FIND_CUH
#define SX_GPU_MOTION_MOTION_FIND_CUH

#include "gpu/motion/motion.cuh"
#include "stages/motion/refine.h"
#include "stages/motion/view.h"

#define FIND_APART 2 /* px: nearer places are no rivals */
#define FIND_NONE 0xffffffffu
#define LK_SIDE (2 * SX_MOTION_LK_RADIUS + 1)
#define LK_COUNT (LK_SIDE * LK_SIDE)
#define LK_LANE ((LK_COUNT + 31) / 32)

/* Guesses of a feature: those of the lanes in the mask, in their order. */
struct motion_guesses {
	uint32_t mask;
	struct sx_motion_guess mine;
};

__device__ __forceinline__ struct sx_motion_guess motion_guess_of(const struct motion_guesses *g, int n)
{
	const int lane = motion_nth_bit(g->mask, n);
	struct sx_motion_guess r;

	r.dx = __shfl_sync(SX_WARP_ALL_LANES, g->mine.dx, lane);
	r.dy = __shfl_sync(SX_WARP_ALL_LANES, g->mine.dy, lane);
	r.across = __shfl_sync(SX_WARP_ALL_LANES, g->mine.across, lane);
	r.shear = __shfl_sync(SX_WARP_ALL_LANES, g->mine.shear, lane);
	r.down = __shfl_sync(SX_WARP_ALL_LANES, g->mine.down, lane);
	return r;
}

__device__ __forceinline__ bool motion_is_inside(const struct sx_image *image, int x, int y, int rx, int ry)
{
	return x >= rx + SX_MOTION_CENSUS_RADIUS && y >= ry + SX_MOTION_CENSUS_RADIUS &&
	       x < image->width - rx - SX_MOTION_CENSUS_RADIUS &&
	       y < image->height - ry - SX_MOTION_CENSUS_RADIUS;
}

/* A block of descriptors, and where the samples of a block lie that is compared with it. */
struct motion_block {
	uint32_t from[SX_MOTION_SAMPLES];
	int x[SX_MOTION_SAMPLES], y[3]; /* beside the middle, px */
	int rx, ry;			/* reach of the samples */
};

__device__ __forceinline__ int motion_far(int v, int most)
{
	const int far = v < 0 ? -v : v;

	return far > most ? far : most;
}

__device__ __forceinline__ void motion_warp_block(const struct sx_motion_guess *warp, struct motion_block *b)
{
	b->rx = b->ry = 0;
#pragma unroll
	for (int j = 0; j < 3; j++) {
		b->y[j] = (warp->down * SX_MOTION_STRIDE * (j - 1) + 512) >> 10;
		b->ry = motion_far(b->y[j], b->ry);
#pragma unroll
		for (int i = 0; i < 3; i++) {
			b->x[3 * j + i] = (warp->across * SX_MOTION_STRIDE * (i - 1) +
					   warp->shear * SX_MOTION_STRIDE * (j - 1) + 512) >>
					  10;
			b->rx = motion_far(b->x[3 * j + i], b->rx);
		}
	}
}

/* Reads the block around (x, y). False: it is not inside. */
__device__ __forceinline__ bool motion_read_block(const struct sx_image *from, int x, int y,
						  struct motion_block *b)
{
	if (!motion_is_inside(from, x, y, SX_MOTION_STRIDE, SX_MOTION_STRIDE))
		return false;
#pragma unroll
	for (int j = 0; j < 3; j++)
#pragma unroll
		for (int i = 0; i < 3; i++)
			b->from[3 * j + i] = motion_row<const uint32_t>(
				from, y + SX_MOTION_STRIDE * (j - 1))[x + SX_MOTION_STRIDE * (i - 1)];
	return true;
}

/* Returns the cost of a place, or SX_MOTION_COST_NONE. */
__device__ __forceinline__ uint32_t motion_cost(const struct sx_image *to, const struct motion_block *b,
						int x, int y)
{
	uint32_t cost = 0;

	if (!motion_is_inside(to, x, y, b->rx, b->ry))
		return SX_MOTION_COST_NONE;
#pragma unroll
	for (int j = 0; j < 3; j++) {
		const uint32_t *row = motion_row<const uint32_t>(to, y + b->y[j]) + x;

#pragma unroll
		for (int i = 0; i < 3; i++)
			cost += (uint32_t)__popc(b->from[3 * j + i] ^ row[b->x[3 * j + i]]);
	}
	return cost;
}

/* Computes sx_motion_find() with a reach of RX by RY. */
template <int RX, int RY>
__device__ __forceinline__ struct sx_motion_place motion_find(const struct sx_image *from,
							      const struct sx_image *to, int x, int y, int gx,
							      int gy, const struct sx_motion_guess *warp,
							      int lane)
{
	constexpr int side = 2 * RX + 1, places = side * (2 * RY + 1), mine = (places + 31) / 32;
	struct sx_motion_place best = {gx, gy, SX_MOTION_COST_NONE, SX_MOTION_COST_NONE};
	uint32_t cost[mine], least = FIND_NONE, second = SX_MOTION_COST_NONE;
	struct motion_block b;
	int at;

	motion_warp_block(warp, &b);
	if (!motion_read_block(from, x, y, &b))
		return best;
#pragma unroll
	for (int n = 0; n < mine; n++) {
		const int place = lane + 32 * n;

		cost[n] = place < places ? motion_cost(to, &b, gx + place % side - RX, gy + place / side - RY)
					 : SX_MOTION_COST_NONE;
		if (cost[n] != SX_MOTION_COST_NONE)
			least = min(least, cost[n] << 16 | (uint32_t)place);
	}
	least = sx_warp_min(least);
	if (least == FIND_NONE)
		return best;
	at = (int)(least & 0xffff);
	best.x = gx + at % side - RX;
	best.y = gy + at / side - RY;
	best.cost = least >> 16;
#pragma unroll
	for (int n = 0; n < mine; n++) {
		const int place = lane + 32 * n, dx = place % side - at % side, dy = place / side - at / side;

		if (dx > FIND_APART || dx < -FIND_APART || dy > FIND_APART || dy < -FIND_APART)
			second = min(second, cost[n]);
	}
	best.second = sx_warp_min(second);
	return best;
}

/* Computes sx_motion_match(). */
__device__ __forceinline__ void motion_match(const struct sx_motion_view *now,
					     const struct sx_motion_view *before,
					     const struct sx_motion_feature *f,
					     const struct motion_guesses *g, int lane,
					     struct sx_motion_flow *flow)
{
	const int count = __popc(g->mask), hx = f->x >> 1, hy = f->y >> 1;
	const struct sx_motion_guess first = motion_guess_of(g, 0);
	struct sx_motion_place coarse = {0, 0, SX_MOTION_COST_NONE, SX_MOTION_COST_NONE}, fine;
	struct sx_motion_guess warp = first;
	uint32_t first_cost = 0;
	int taken = 0;

	flow->x_q6 = flow->y_q6 = flow->disparity_q8 = flow->rest_q4 = 0;
	flow->cost = flow->second = 0;
	flow->guess = 0;
	flow->search = SX_MOTION_UNKNOWN;
	for (int i = 0; i < count && (i == 0 || first_cost > SX_MOTION_FAIR); i++) {
		const struct sx_motion_guess guess = motion_guess_of(g, i);
		const struct sx_motion_place p = motion_find<8, 5>(
			&now->half_census, &before->half_census, hx, hy, hx + sx_motion_halved(guess.dx),
			hy + sx_motion_halved(guess.dy), &guess, lane);

		if (i == 0)
			first_cost = p.cost;
		if (i == 0 || p.cost + SX_MOTION_BETTER < coarse.cost) {
			coarse = p;
			warp = guess;
			taken = i;
		}
	}
	if ((f->kind & SX_MOTION_OBJECT) && coarse.cost > SX_MOTION_POOR) {
		taken = 0;
		warp = first;
		coarse = motion_find<22, 5>(&now->half_census, &before->half_census, hx, hy,
					    hx + sx_motion_halved(first.dx), hy + sx_motion_halved(first.dy),
					    &first, lane);
	}
	if (coarse.cost == SX_MOTION_COST_NONE)
		return;
	flow->cost = (uint16_t)coarse.cost;
	flow->second = (uint16_t)coarse.second;
	fine = motion_find<3, 3>(&now->census, &before->census, f->x, f->y, f->x + 2 * (coarse.x - hx),
				 f->y + 2 * (coarse.y - hy), &warp, lane);
	if (fine.cost == SX_MOTION_COST_NONE)
		return;
	flow->guess = (uint32_t)taken;
	flow->x_q6 = 64 * fine.x;
	flow->y_q6 = 64 * fine.y;
	flow->search = sx_motion_is_clear(coarse.cost, coarse.second) ? SX_MOTION_FOUND : SX_MOTION_AMBIGUOUS;
}

__device__ __forceinline__ int32_t motion_sum(int32_t v)
{
	return (int32_t)sx_warp_sum((uint32_t)v);
}

/* Pixels of a lane in the window: grey levels, 1/16, and gradients. */
struct motion_window {
	int32_t grey[LK_LANE], gx[LK_LANE], gy[LK_LANE];
};

__device__ __forceinline__ void motion_take_window(const struct sx_image *grey, int x, int y, int lane,
						   struct motion_window *w)
{
#pragma unroll
	for (int k = 0; k < LK_LANE; k++) {
		const int n = lane + 32 * k;
		const uint8_t *p = motion_row<const uint8_t>(grey, y + n / LK_SIDE - SX_MOTION_LK_RADIUS) +
				   x + n % LK_SIDE - SX_MOTION_LK_RADIUS;

		w->grey[k] = w->gx[k] = w->gy[k] = 0;
		if (n >= LK_COUNT)
			continue;
		w->grey[k] = 16 * p[0];
		w->gx[k] = p[1] - p[-1];
		w->gy[k] = p[grey->pitch] - p[-(ptrdiff_t)grey->pitch];
	}
}

__device__ __forceinline__ void motion_subtract(const struct motion_window *w, const struct sx_image *grey,
						const struct sx_motion_guess *guess, int32_t x, int32_t y,
						int lane, int32_t difference[LK_LANE])
{
#pragma unroll
	for (int k = 0; k < LK_LANE; k++) {
		const int n = lane + 32 * k, i = n % LK_SIDE - SX_MOTION_LK_RADIUS,
			  j = n / LK_SIDE - SX_MOTION_LK_RADIUS;
		const int32_t px = x + ((guess->across * i + guess->shear * j) >> 4);
		const int32_t py = y + ((guess->down * j) >> 4), fx = px & 63, fy = py & 63;

		difference[k] = 0;
		if (n < LK_COUNT) {
			const uint8_t *row = motion_row<const uint8_t>(grey, py >> 6) + (px >> 6);
			const uint8_t *below = row + grey->pitch;
			const int32_t upper = row[0] * (64 - fx) + row[1] * fx;
			const int32_t lower = below[0] * (64 - fx) + below[1] * fx;

			difference[k] = w->grey[k] - ((upper * (64 - fy) + lower * fy) >> 8);
		}
	}
}

/* Computes step 1 of sx_motion_refine(): moves (*x, *y). Sums fit 32 bits: 81 products below 2^20. */
__device__ __forceinline__ int32_t motion_move(const struct sx_image *now, const struct sx_image *before,
					       const struct sx_motion_feature *f,
					       const struct sx_motion_guess *guess, int lane, int32_t *x,
					       int32_t *y)
{
	int32_t difference[LK_LANE], sums[5] = {0, 0, 0, 0, 0}, sum = 0, rest = 0;
	struct motion_window w;
	bool rests = false; /* the position does not change any more, nor do the differences */
	double xx, yy, xy, det;

	motion_take_window(now, f->x, f->y, lane, &w);
#pragma unroll
	for (int k = 0; k < LK_LANE; k++) {
		sums[0] += w.gx[k] * w.gx[k];
		sums[1] += w.gy[k] * w.gy[k];
		sums[2] += w.gx[k] * w.gy[k];
		sums[3] += w.gx[k];
		sums[4] += w.gy[k];
	}
#pragma unroll
	for (int i = 0; i < 5; i++)
		sums[i] = motion_sum(sums[i]);
	xx = (double)((int64_t)sums[0] * LK_COUNT - (int64_t)sums[3] * sums[3]);
	yy = (double)((int64_t)sums[1] * LK_COUNT - (int64_t)sums[4] * sums[4]);
	xy = (double)((int64_t)sums[2] * LK_COUNT - (int64_t)sums[3] * sums[4]);
	det = xx * yy - xy * xy;
	if (!(det > 0.0))
		return -1;
	for (int round = 0; round < SX_MOTION_LK_ROUNDS && !rests; round++) {
		int32_t bx = 0, by = 0, all = 0, step[2];

		if (!sx_motion_lk_fits(before->width, before->height, guess, *x, *y))
			return -1;
		motion_subtract(&w, before, guess, *x, *y, lane, difference);
#pragma unroll
		for (int k = 0; k < LK_LANE; k++) {
			bx += w.gx[k] * difference[k];
			by += w.gy[k] * difference[k];
			all += difference[k];
		}
		bx = motion_sum(bx);
		by = motion_sum(by);
		all = motion_sum(all);
		sx_motion_lk_step(guess, xx, yy, xy, det, (int64_t)bx * LK_COUNT - (int64_t)sums[3] * all,
				  (int64_t)by * LK_COUNT - (int64_t)sums[4] * all, step);
		*x += step[0];
		*y += step[1];
		rests = step[0] == 0 && step[1] == 0;
	}
	if (!sx_motion_lk_fits(before->width, before->height, guess, *x, *y))
		return -1;
	if (!rests)
		motion_subtract(&w, before, guess, *x, *y, lane, difference);
#pragma unroll
	for (int k = 0; k < LK_LANE; k++)
		sum += difference[k];
	sum = motion_sum(sum) / LK_COUNT;
#pragma unroll
	for (int k = 0; k < LK_LANE; k++)
		if (lane + 32 * k < LK_COUNT)
			rest += sx_motion_distance(difference[k], sum);
	return motion_sum(rest) / LK_COUNT;
}

/* Computes sx_motion_refine(). */
__device__ __forceinline__ void motion_refine(const struct sx_motion_view *now,
					      const struct sx_motion_view *before,
					      const struct sx_motion_feature *f,
					      const struct sx_motion_guess *guess, int lane,
					      struct sx_motion_flow *flow)
{
	const int32_t x0 = flow->x_q6, y0 = flow->y_q6;
	const struct sx_motion_guess inverse = {0, 0, 1048576 / guess->across, 0, 1048576 / guess->down};
	struct sx_motion_place place;
	int x, y;

	if (flow->search != SX_MOTION_FOUND)
		return;
	flow->rest_q4 = motion_move(&now->grey, &before->grey, f, guess, lane, &flow->x_q6, &flow->y_q6);
	if (flow->rest_q4 < 0 || flow->rest_q4 >= SX_MOTION_REST_Q4 ||
	    sx_motion_distance(flow->x_q6, x0) >= SX_MOTION_LK_FAR_Q6 ||
	    sx_motion_distance(flow->y_q6, y0) >= SX_MOTION_LK_FAR_Q6) {
		flow->search = SX_MOTION_UNREFINED;
		return;
	}
	x = (flow->x_q6 + 32) >> 6;
	y = (flow->y_q6 + 32) >> 6;
	place = motion_find<3, 3>(&before->census, &now->census, x, y, f->x, f->y, &inverse, lane);
	if (place.cost == SX_MOTION_COST_NONE || sx_motion_distance(place.x, f->x) > 1 ||
	    sx_motion_distance(place.y, f->y) > 1) {
		flow->search = SX_MOTION_NOT_BACK;
		return;
	}
	flow->disparity_q8 = sx_motion_disparity_q8(&before->disparity, x, y);
	if (flow->disparity_q8 < SX_MOTION_LEAST_Q8)
		flow->search = SX_MOTION_NO_DISPARITY;
}

#endif
