/*
 * Road estimation (road.cu), second part: rounds of least squares over the samples on a plane.
 *
 * The steps of a round depend on each other, and no other work hides their latency: sums of a thread, of a
 * warp, of the block, then the plane. Samples and their weights stay in registers. One warp makes the plane.
 * If a step has several divisions, each lane does one.
 * Whether the planes of all rounds are roads is tested once, at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXELS_ROAD_REFINE_CUH
#define SX_GPU_STIXELS_ROAD_REFINE_CUH

#include "gpu/stixels/road_samples.cuh"
#include "stages/road/road_sums.h"

/* Sums in their order in struct sx_road_sums. */
enum { SUM_SAMPLES, SUM_N, SUM_X, SUM_Y, SUM_D, SUM_XX, SUM_XY, SUM_YY, SUM_XD, SUM_YD, SUM_DD, ROAD_SUMS };
static_assert(sizeof(struct sx_road_sums) == ROAD_SUMS * sizeof(int64_t), "all of them");

enum road_state { ROAD_GOES_ON, ROAD_SETTLED, ROAD_NOT_FOUND };

struct road_refined {
	struct road_candidate fixed;			 /* the plane to be refined */
	struct sx_road_plane plane[SX_ROAD_REFINEMENTS]; /* plane after each round */
	int rounds;					 /* number of rounds */
	enum road_state state;				 /* why they ended */
	int64_t sum[ROAD_WARPS][ROAD_SUMS];		 /* sums of each warp */
};

/*
 * The weight of a sample, with a count of 1 in the bits from WEIGHT_BITS on. In sums of a warp weight and
 * count do not overlap.
 */
#define WEIGHT_BITS 20
static_assert(32 * ROAD_OF_LANE * 2597 < 1 << WEIGHT_BITS, "the sum of weights of a warp");
static_assert(32 * ROAD_OF_LANE < 1 << (31 - WEIGHT_BITS), "samples of a warp");

__device__ __forceinline__ void weigh_samples(const struct road_places *at, int32_t weight[ROAD_OF_LANE])
{
#pragma unroll
	for (int k = 0; k < ROAD_OF_LANE; k++) /* no condition, so there are no branches */
		weight[k] = (sx_road_weight(at->d[k]) + (1 << WEIGHT_BITS)) & ~(at->number[k] >> 31);
}

/*
 * Sums of a lane by column, over ROAD_ROWS samples each. x and y count from the centre. Products of two
 * values fit 32 bits.
 */
struct road_lane_sums {
	int32_t weight[2], y[2], d[2];
	int64_t yy, yd, dd;
};

__device__ __forceinline__ struct road_lane_sums sum_lane(const struct sx_road_view *view,
							  const struct road_candidate *f,
							  const struct road_places *at,
							  const int32_t weight[ROAD_OF_LANE])
{
	const int cy = sx_road_centre_y(view);
	const int32_t column[2] = {f->cross * at->x[0], f->cross * at->x[1]};
	struct road_lane_sums s = {};

#pragma unroll
	for (int j = 0; j < ROAD_ROWS; j++) {
		const int32_t row = f->slope * at->y[j] + f->at_origin, y = at->y[j] - cy;
		int32_t w_of_row = 0, d_of_row = 0;

#pragma unroll
		for (int c = 0; c < 2; c++) {
			const int32_t d = at->d[2 * j + c], off = (d << 12) - (row + column[c]);
			const bool on = abs(off) <= sx_road_most_fitted(view, f->tolerance, d);
			const int32_t counted = on ? weight[2 * j + c] : 0;
			const int32_t w = counted & ((1 << WEIGHT_BITS) - 1), wd = w * d;

			s.weight[c] += counted;
			s.y[c] += w * y;
			s.d[c] += wd;
			s.dd += (int64_t)wd * d;
			w_of_row += w;
			d_of_row += wd;
		}
		s.yy += (int64_t)(w_of_row * y) * y;
		s.yd += (int64_t)d_of_row * y;
	}
	return s;
}

/*
 * Sum of a warp, in the lane whose index is that of the sum. It has two halves, which need no carry. |v| <
 * 2^50.
 */
struct road_halves {
	int32_t low, high; /* sum = high * 2^24 + low */
};
__device__ __forceinline__ void sum_warp(int64_t v, int which, struct road_halves *mine)
{
	const uint32_t low = sx_warp_sum((uint32_t)v & 0xffffff);
	const uint32_t high = sx_warp_sum((uint32_t)(int32_t)(v >> 24));

	if ((int)threadIdx.x % 32 == which) {
		mine->low = (int32_t)low;
		mine->high = (int32_t)high;
	}
}

/* Writes the sums of the warp's samples on the plane to sum[ROAD_SUMS]. For a whole warp. */
__device__ __forceinline__ void sum_samples(const struct sx_road_view *view, const struct road_candidate *f,
					    const struct road_places *at, const int32_t weight[ROAD_OF_LANE],
					    int64_t *sum)
{
	const int lane = (int)threadIdx.x % 32, cx = sx_road_centre_x(view);
	const int32_t x[2] = {at->x[0] - cx, at->x[1] - cx}, mask = (1 << WEIGHT_BITS) - 1;
	const struct road_lane_sums s = sum_lane(view, f, at, weight);
	const int32_t wx[2] = {(s.weight[0] & mask) * x[0], (s.weight[1] & mask) * x[1]};
	const uint32_t counted = sx_warp_sum((uint32_t)(s.weight[0] + s.weight[1]));
	struct road_halves mine = {};

	if (lane == SUM_SAMPLES)
		mine.low = (int32_t)(counted >> WEIGHT_BITS);
	if (lane == SUM_N)
		mine.low = (int32_t)counted & mask;
	sum_warp(wx[0] + wx[1], SUM_X, &mine);
	sum_warp(s.y[0] + s.y[1], SUM_Y, &mine);
	sum_warp(s.d[0] + s.d[1], SUM_D, &mine);
	sum_warp((int64_t)wx[0] * x[0] + (int64_t)wx[1] * x[1], SUM_XX, &mine);
	sum_warp((int64_t)s.y[0] * x[0] + (int64_t)s.y[1] * x[1], SUM_XY, &mine);
	sum_warp(s.yy, SUM_YY, &mine);
	sum_warp((int64_t)s.d[0] * x[0] + (int64_t)s.d[1] * x[1], SUM_XD, &mine);
	sum_warp(s.yd, SUM_YD, &mine);
	sum_warp(s.dd, SUM_DD, &mine);
	if (lane < ROAD_SUMS)
		sum[lane] = (int64_t)mine.high * (1 << 24) + mine.low;
}

/* Returns the sums of the block: a lane has sum lane % 16, or 0 from ROAD_SUMS on. For one whole warp. */
__device__ __forceinline__ int64_t sum_block(const struct road_refined *r)
{
	const int lane = (int)threadIdx.x % 32, which = lane % 16, first = lane / 16 * (ROAD_WARPS / 2);
	long long total = 0;

	if (which < ROAD_SUMS) {
#pragma unroll
		for (int w = 0; w < ROAD_WARPS / 2; w++)
			total += r->sum[first + w][which];
	}
	return total + __shfl_xor_sync(SX_WARP_ALL_LANES, total, 16);
}

__device__ __forceinline__ double of_lane(double v, int lane)
{
	return __shfl_sync(SX_WARP_ALL_LANES, v, lane);
}

/*
 * Does the same as sx_road_solve(), from the sums that the lanes have. Divisions run in parallel: all lanes
 * divide by n, then two lanes divide for slope and cross. For one whole warp; all lanes get the result.
 */
__device__ __forceinline__ bool solve(const struct sx_road_view *view, int64_t total, struct sx_road_plane *p)
{
	const int lane = (int)threadIdx.x % 32;
	/* idle lanes divide 1.0, because dividing 0 takes longer */
	const double s = lane % 16 < ROAD_SUMS ? (double)total : 1.0, mean = s / of_lane(s, SUM_N);
	const double mx = of_lane(mean, SUM_X), my = of_lane(mean, SUM_Y), md = of_lane(mean, SUM_D);
	const double x = of_lane(s, SUM_X), y = of_lane(s, SUM_Y), d = of_lane(s, SUM_D);
	const double xx = of_lane(s, SUM_XX) - mx * x, xy = of_lane(s, SUM_XY) - mx * y;
	const double yy = of_lane(s, SUM_YY) - my * y, xd = of_lane(s, SUM_XD) - mx * d;
	const double yd = of_lane(s, SUM_YD) - my * d;
	const double det = xx * yy - xy * xy;
	const bool odd = lane % 2;
	double part;

	if (!(det > 0.0))
		return false;
	part = ((odd ? xd : yd) * (odd ? yy : xx) - (odd ? yd : xd) * xy) / (16.0 * det);
	p->slope = of_lane(part, 0);
	p->cross = of_lane(part, 1);
	p->at_origin = (md / 16.0 - p->slope * (my + (double)sx_road_centre_y(view))) -
		       p->cross * (mx + (double)sx_road_centre_x(view));
	return true;
}

__device__ __forceinline__ struct road_candidate candidate_of_plane(const struct sx_road_view *view,
								    const struct sx_road_plane *p)
{
	const struct sx_road_fixed f = sx_road_fix(view, p);
	const struct road_candidate c = {f.slope, f.cross, f.at_origin, f.tolerance};

	return c;
}

/* Computes the next plane from the sums of a round. all: number of samples. For the first warp. */
__device__ __forceinline__ enum road_state next_plane(const struct sx_road_view *view, struct road_refined *r,
						      int64_t total, int all, int round)
{
	const int64_t on_plane = __shfl_sync(SX_WARP_ALL_LANES, (long long)total, SUM_SAMPLES);
	struct sx_road_plane p;

	if (!sx_road_enough(view, on_plane, all) || !solve(view, total, &p) || !sx_road_limited(view, &p))
		return ROAD_NOT_FOUND;
	if (threadIdx.x == 0) {
		r->plane[round] = p;
		r->fixed = candidate_of_plane(view, &p);
		r->rounds = round + 1;
	}
	return ROAD_GOES_ON;
}

/*
 * Runs rounds from r->fixed on; the last plane is the refined one. Lanes of the first warp get the sums from
 * which it is made, as from sum_block(). If the sums equal the sums of the round before, they yield the same
 * plane and again the same sums, so the rounds have settled. In the first warp, returns true if that plane is
 * a road and all planes before it were. In other warps the result is undefined. For the whole block.
 */
__device__ __forceinline__ bool refine(const struct sx_road_view *view, struct road_refined *r,
				       const struct road_places *at, const int32_t weight[ROAD_OF_LANE],
				       int samples, int64_t *total)
{
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;

	*total = -1;
#pragma unroll 1
	for (int round = 0; round < SX_ROAD_REFINEMENTS; round++) {
		const struct road_candidate f = r->fixed;

		sum_samples(view, &f, at, weight, r->sum[warp]);
		__syncthreads();
		if (warp == 0) {
			const int64_t now = sum_block(r);
			enum road_state state = ROAD_SETTLED;

			if (!__all_sync(SX_WARP_ALL_LANES, now == *total))
				state = next_plane(view, r, now, samples, round);
			*total = now;
			if (lane == 0)
				r->state = state;
		}
		__syncthreads();
		if (r->state != ROAD_GOES_ON)
			break;
	}
	return warp == 0 && r->state != ROAD_NOT_FOUND &&
	       __all_sync(SX_WARP_ALL_LANES, lane >= r->rounds || sx_road_plausible(view, &r->plane[lane]));
}

__device__ __forceinline__ const struct sx_road_plane *refined_plane(const struct road_refined *r)
{
	return &r->plane[r->rounds - 1];
}

#endif
