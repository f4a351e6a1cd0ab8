/*
 * Road estimation (road.cu), first: samples of the map, and what candidates are worth by them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXELS_ROAD_SAMPLES_CUH
#define SX_GPU_STIXELS_ROAD_SAMPLES_CUH

#include <stdlib.h>

#include "base/image.h"
#include "gpu/cuda.cuh"
#include "gpu/warp.cuh"
#include "stages/road/road_plane.h"

#define ROAD_THREADS 512
#define ROAD_WARPS (ROAD_THREADS / 32)
#define ROAD_ROWS (SX_ROAD_GRID / ROAD_WARPS) /* of the grid, that a warp looks at, */
#define ROAD_OF_LANE (2 * ROAD_ROWS)	      /* and places of a lane: two in each row */
#define ROAD_JUDGING (SX_ROAD_SAMPLES / SX_ROAD_STRIDE)

static_assert(SX_ROAD_GRID == 64 && SX_ROAD_GRID % ROAD_WARPS == 0, "two places of a row a lane");
static_assert(ROAD_JUDGING == 2 * ROAD_THREADS, "a thread judges by two samples");

struct road_sample {
	uint32_t y_x; /* y << 16 | x */
	int32_t d;    /* Q4 */
};

/* The places that a thread looks at: k in row y[k / 2] and column x[k % 2]. */
struct road_places {
	int32_t x[2], y[ROAD_ROWS];
	int32_t d[ROAD_OF_LANE];      /* Q4 */
	int32_t number[ROAD_OF_LANE]; /* of the sample, rows downwards, columns to the right; -1: none */
};

/* Whole block. */
__device__ __forceinline__ void look_at_map(const struct sx_road_view *view, const uint8_t *map, size_t pitch,
					    struct road_places *at)
{
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;

	at->x[0] = sx_road_grid_x(view, lane);
	at->x[1] = sx_road_grid_x(view, lane + 32);
#pragma unroll
	for (int j = 0; j < ROAD_ROWS; j++) {
		const uint16_t *row;

		at->y[j] = sx_road_grid_y(view, warp * ROAD_ROWS + j);
		row = (const uint16_t *)(map + (size_t)at->y[j] * pitch);
		at->d[2 * j] = row[at->x[0]];
		at->d[2 * j + 1] = row[at->x[1]];
	}
}

/*
 * What a sample in this column has at least, Q4: a whole number is at least a product when it is at least
 * that rounded up. See sx_road_inside(). More than any disparity: there is none.
 */
__device__ __forceinline__ int32_t least_in_column(const struct sx_road_view *view, int32_t x)
{
	const double beside = (double)x - view->camera.cx;
	const double least = ceil((beside < 0.0 ? -beside : beside) * view->per_px);
	const int32_t least_q4 = least < 65536.0 ? (int32_t)least : 65536;

	return least_q4 > view->least_q4 ? least_q4 : view->least_q4;
}

/* Those in the corridor. count: [ROAD_WARPS], shared. Returns how many. Whole block. */
__device__ __forceinline__ int number_samples(const struct sx_road_view *view, struct road_places *at,
					      uint32_t *count)
{
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	const int32_t least[2] = {least_in_column(view, at->x[0]), least_in_column(view, at->x[1])};
	uint32_t inside[ROAD_OF_LANE], of_warp = 0, before;

#pragma unroll
	for (int k = 0; k < ROAD_OF_LANE; k++) {
		const bool in = at->d[k] != SX_DISPARITY_INVALID && at->d[k] >= least[k % 2];

		inside[k] = __ballot_sync(SX_WARP_ALL_LANES, in);
		of_warp += (uint32_t)__popc(inside[k]);
	}
	if (lane == 0)
		count[warp] = of_warp;
	__syncthreads();
	of_warp = lane < ROAD_WARPS ? count[lane] : 0;
	before = sx_warp_sum(lane < warp ? of_warp : 0);
#pragma unroll
	for (int k = 0; k < ROAD_OF_LANE; k++) {
		const int number = (int)before + __popc(inside[k] & ((1u << lane) - 1));

		at->number[k] = inside[k] >> lane & 1 ? number : -1;
		before += (uint32_t)__popc(inside[k]);
	}
	return (int)sx_warp_sum(of_warp);
}

__device__ __forceinline__ struct road_sample sample_at(const struct road_places *at, int k)
{
	struct road_sample s;

	s.y_x = (uint32_t)at->y[k / 2] << 16 | (uint32_t)at->x[k % 2];
	s.d = at->d[k];
	return s;
}

/* ---- what candidates are worth ------------------------------------------------------------------------- */

/* sx_road_side() of a disparity that is off by so much, where most is allowed, without a branch. */
__device__ __forceinline__ int32_t road_side_of(int32_t off, int32_t most)
{
	return 1 + ((most - abs(off)) >> 31) + ((off + 2 * most) >> 31);
}

/* So far off, where there is no sample, that it is neither on a plane nor below it. */
#define ROAD_FAR_OFF (1 << 30)

/* A plane without a bend, as struct sx_road_fixed, and what it is judged by. */
struct __align__(16) road_candidate
{
	int32_t slope, cross, at_origin, tolerance;
};
struct road_near {
	int32_t x, y, d, d_q16;
};

__device__ __forceinline__ struct road_near near_of(const struct road_sample *s, bool there)
{
	struct road_near n = {0, 0, 0, ROAD_FAR_OFF};

	if (there) {
		n.x = (int32_t)(s->y_x & 0xffff);
		n.y = (int32_t)(s->y_x >> 16);
		n.d = s->d;
		n.d_q16 = s->d << 12;
	}
	return n;
}

__device__ __forceinline__ int32_t candidate_side(const struct sx_road_view *view,
						  const struct road_candidate *c, const struct road_near *s)
{
	const int32_t off = s->d_q16 - ((c->slope * s->y + c->cross * s->x) + c->at_origin);

	return road_side_of(off, sx_road_most(view, c->tolerance, s->d));
}

/* A bend of the plane that was found, and what it is judged by: all that is the same for every bend. */
struct __align__(8) road_bent
{
	int32_t bend, row;
};
struct __align__(16) road_far
{
	int32_t y, off, most; /* off: without a bend, Q16 */
	int32_t unused;
};

__device__ __forceinline__ struct road_far far_of(const struct sx_road_view *view,
						  const struct road_candidate *f, const struct road_sample *s,
						  bool there)
{
	struct road_far r = {0, ROAD_FAR_OFF, view->least_tolerance, 0};

	if (there) {
		r.y = (int32_t)(s->y_x >> 16);
		r.off = (s->d << 12) -
			((f->slope * r.y + f->cross * (int32_t)(s->y_x & 0xffff)) + f->at_origin);
		r.most = sx_road_most(view, f->tolerance, s->d);
	}
	return r;
}

__device__ __forceinline__ int32_t candidate_side(const struct sx_road_view *, const struct road_bent *c,
						  const struct road_far *s)
{
	const int32_t above = c->row - s->y > 0 ? c->row - s->y : 0;

	return road_side_of(s->off - c->bend * above, s->most);
}

#define ROAD_AT_ONCE 4 /* candidates that a warp judges; after the last there are zeroes up to so many */

/* Adds to each candidate's score what the warp's samples say, of which a lane has so many. Whole warp. */
template <int samples, typename Candidate, typename Sample>
__device__ __forceinline__ void judge_by(const struct sx_road_view *view, const Sample *sample,
					 const Candidate *candidate, int count, int32_t *score)
{
	const int lane = (int)threadIdx.x % 32;

#pragma unroll 1
	for (int first = 0; first < count; first += 32) {
		const int end = count - first < 32 ? count - first : 32;
		uint32_t mine = 0;

#pragma unroll 1
		for (int i = 0; i < end; i += ROAD_AT_ONCE) {
			uint32_t sum[ROAD_AT_ONCE] = {};

#pragma unroll
			for (int n = 0; n < ROAD_AT_ONCE; n++) {
				const Candidate c = candidate[first + i + n];

#pragma unroll
				for (int k = 0; k < samples; k++)
					sum[n] += (uint32_t)candidate_side(view, &c, &sample[k]);
			}
#pragma unroll
			for (int n = 0; n < ROAD_AT_ONCE; n++) {
				sum[n] = sx_warp_sum(sum[n]);
				mine = lane == i + n ? sum[n] : mine;
			}
		}
		if (lane < end)
			atomicAdd(&score[first + lane], (int32_t)mine);
	}
}

/*
 * score[count] of the candidates, 0 before: every warp judges all of them by the samples of its lanes, which
 * are in registers. Thread t has those with number t and t + ROAD_THREADS, of so many. Whole block, between
 * two barriers.
 */
template <typename Candidate, typename Sample>
__device__ __forceinline__ void judge(const struct sx_road_view *view, const Sample sample[2], int samples,
				      const Candidate *candidate, int count, int32_t *score)
{
	if (samples > ROAD_THREADS)
		judge_by<2>(view, sample, candidate, count, score);
	else if ((int)threadIdx.x / 32 * 32 < samples)
		judge_by<1>(view, sample, candidate, count, score);
}

/*
 * The greater the better, the first on ties: score plus SCORE_BIAS, and 65535 less the candidate's number.
 * 0: none.
 */
#define SCORE_BIAS 2048
__device__ __forceinline__ uint32_t key_of(int32_t score, int candidate)
{
	return (uint32_t)(score + SCORE_BIAS) << 16 | (uint32_t)(65535 - candidate);
}
__device__ __forceinline__ int candidate_of(uint32_t key)
{
	return 65535 - (int)(key & 0xffff);
}
__device__ __forceinline__ int32_t score_in(uint32_t key)
{
	return key ? (int32_t)(key >> 16) - SCORE_BIAS : INT32_MIN;
}

/* Key of the best of count candidates (planes or bends) by their scores over all samples. Whole warp. */
template <bool planes>
__device__ __forceinline__ uint32_t best_key(const struct sx_road_view *view, const int32_t *score,
					     const uint16_t *number, int count, int samples)
{
	uint32_t best = 0;

#pragma unroll 1
	for (int i = (int)threadIdx.x % 32; i < count; i += 32) {
		const int32_t worth = planes ? sx_road_worth(view, number[i], score[i], samples) : score[i];
		const uint32_t key = key_of(worth, number[i]);

		best = key > best ? key : best;
	}
	return sx_warp_max(best);
}

#endif
