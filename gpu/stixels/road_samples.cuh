/*
 * Road estimation (road.cu), first part: samples of the map, and the scores of candidates by these samples.
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
#define ROAD_ROWS (SX_ROAD_GRID / ROAD_WARPS) /* rows of the grid that a warp reads */
#define ROAD_OF_LANE (2 * ROAD_ROWS)	      /* places of a lane: two in each of these rows */
#define ROAD_JUDGING (SX_ROAD_SAMPLES / SX_ROAD_STRIDE)

static_assert(SX_ROAD_GRID == 64 && SX_ROAD_GRID % ROAD_WARPS == 0, "two places of a row a lane");
static_assert(ROAD_JUDGING == 2 * ROAD_THREADS, "a thread judges by two samples");

struct road_sample {
	uint32_t y_x; /* y << 16 | x */
	int32_t d;    /* disparity, Q4 */
};

/* Places that a thread reads: place k is in row y[k / 2] and column x[k % 2]. */
struct road_places {
	int32_t x[2], y[ROAD_ROWS];
	int32_t d[ROAD_OF_LANE]; /* disparities, Q4 */
	/* numbers of the samples, rows downwards, columns to the right; -1: no sample */
	int32_t number[ROAD_OF_LANE];
};

/* Reads the map at the places. For the whole block. */
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
 * Returns the least disparity of a sample in this column, Q4, see sx_road_inside(). It is a product rounded
 * up: an integer is at least the product if it is at least the rounded one. If the result is above any
 * disparity, the column has no samples.
 */
__device__ __forceinline__ int32_t least_in_column(const struct sx_road_view *view, int32_t x)
{
	const double beside = (double)x - view->camera.cx;
	const double least = ceil((beside < 0.0 ? -beside : beside) * view->per_px);
	const int32_t least_q4 = least < 65536.0 ? (int32_t)least : 65536;

	return least_q4 > view->least_q4 ? least_q4 : view->least_q4;
}

/*
 * Numbers the samples in the corridor and returns how many there are. count: [ROAD_WARPS], in shared memory.
 * For the whole block.
 */
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

/* ---- scores of candidates ----------------------------------------------------------------------------- */

/* Returns sx_road_side() of a disparity that is off by `off`, where `most` is allowed, without a branch. */
__device__ __forceinline__ int32_t road_side_of(int32_t off, int32_t most)
{
	return 1 + ((most - abs(off)) >> 31) + ((off + 2 * most) >> 31);
}

/* Distance for a place without a sample: it counts neither as on a plane nor as below it. */
#define ROAD_FAR_OFF (1 << 30)

/* A plane without a bend, as struct sx_road_fixed, and its tolerance. */
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

/*
 * A bend of the plane that was found. struct road_far: data by which bends are judged, the same for every
 * bend.
 */
struct __align__(16) road_bent
{
	int32_t bend, row, step; /* bend, bend_row and bend_step of struct sx_road_fixed */
	int32_t unused;
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
	const int32_t above = c->row - s->y;

	return road_side_of(s->off - (above > 0 ? c->bend * above + c->step : 0), s->most);
}

/* candidates that a warp judges at a time; zeroes follow the last candidate up to a multiple of this */
#define ROAD_AT_ONCE 4

/*
 * Adds the score by the warp's samples to each candidate's score. samples: samples per lane. For a whole
 * warp.
 */
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
 * Computes score[count] of the candidates, which must be 0 before. Every warp judges all candidates by the
 * samples of its lanes, which are in registers. Thread t has samples t and t + ROAD_THREADS of `samples`. For
 * the whole block, between two barriers.
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
 * Key of a candidate: score plus SCORE_BIAS, and 65535 minus the candidate's number. The greatest key is the
 * best; of equal scores the first candidate wins. 0: no candidate.
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

/*
 * Returns the key of the best of count candidates (planes or bends), by their scores over all samples. For a
 * whole warp.
 */
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
