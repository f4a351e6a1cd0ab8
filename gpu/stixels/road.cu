/*
 * Road estimation on the GPU. Must equal sx_road_find() and sx_road_ground() byte for byte, but for the four
 * fields that sx_road_describe() fills in on the host.
 *
 * Work:    three launches, each of which ends where the best of a search is to be known. find_plane, one
 *          block: its warps look at the grid's places and keep those in the corridor, in their order; a
 *          thread makes the plane of a candidate; a warp judges one candidate after the other; then rounds of
 *          least squares over all samples. judge_bends, a few blocks that share the candidates: samples of
 *          what lies far ahead, in each block all of them, and bends of the plane as candidates. finish_road:
 *          the same with those of the second round; the block that is done last makes the road and the ground
 *          of all rows.
 * Memory:  4096 disparities at most are read, once in each block; samples and candidates lie in shared
 *          memory, 41 KiB. What a launch leaves for the next is struct road_search.
 * Ranges:  sums of a refinement are 64 bits, all else of a sample 32; doubles as in
 *          stages/road/road_plane.h. A score is 1024 at most and fits a key with its candidate.
 * Shapes:  every size.
 * Speed:   see docs/lab-performance.md, CUDA: road.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include "gpu/stages_cuda.h"

#include "gpu/cuda.cuh"
#include "gpu/warp.cuh"
#include "stages/road/road_finder.h"

#define ROAD_THREADS 512
#define ROAD_WARPS (ROAD_THREADS / 32)
#define ROAD_OF_WARP (SX_ROAD_SAMPLES / ROAD_WARPS) /* places that a warp looks at, */
#define ROAD_OF_LANE (ROAD_OF_WARP / 32)	    /* and a lane */
#define ROAD_BLOCKS 8				    /* that share the bends of a round */
#define ROAD_SHARE (SX_ROAD_BENDS / ROAD_BLOCKS)    /* bends of a block: a warp makes them */
#define ROAD_SUMS (sizeof(struct sx_road_sums) / sizeof(int64_t))

/* Of one frame, in device memory. */
struct road_search {
	uint32_t key[SX_ROAD_BEND_ROUNDS][ROAD_BLOCKS]; /* the best bend of a block: see key_of() */
	struct sx_road_plane plane;			/* refined, */
	struct sx_road_fixed fixed;			/* in integers, */
	struct sx_road_sums sums;			/* and of the samples that it is made of */
	int found;					/* there is one */
	int samples;					/* far ahead, */
	int32_t score;	      /* and what the plane is worth there, without a bend */
	unsigned blocks_done; /* of finish_road; 0 between frames */
};

struct sx_road_finder_cuda {
	struct road_search *search;
	struct sx_road_view view;
	struct sx_road calibrated;
	int max_age;
	int looks; /* sx_road_looks() */
};

extern "C" void sx_road_cuda_destroy(struct sx_road_finder_cuda *s)
{
	free(s);
}

extern "C" int sx_road_cuda_create(struct sx_road_finder_cuda **ret, struct sx_cuda_memory *m,
				   const struct sx_road_finder *f, int)
{
	struct sx_road_finder_cuda *s = (struct sx_road_finder_cuda *)calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->search = (struct road_search *)sx_cuda_take(m, sizeof(*s->search));
	s->view = f->view;
	s->calibrated = f->calibrated;
	s->max_age = f->params.max_age;
	s->looks = sx_road_looks(f);
	*ret = s;
	return 0;
}

struct road_sample {
	uint32_t y_x; /* y << 16 | x */
	int32_t d;    /* Q4 */
};

struct road_shared {
	struct road_sample sample[SX_ROAD_SAMPLES];
	struct sx_road_fixed candidate[SX_ROAD_CANDIDATES];
	struct sx_road_sums sum[ROAD_WARPS];
	struct sx_road_plane plane; /* what is refined, */
	struct sx_road_fixed fixed; /* and in integers */
	struct sx_road road;
	uint32_t count[ROAD_WARPS]; /* samples of a warp */
	uint32_t key[ROAD_WARPS];
	uint32_t possible[SX_ROAD_CANDIDATES / 32]; /* a bit each: a road that the camera can have */
	struct sx_road_view far;		    /* where a bend shows */
	int solved, is_last;
};

/* ---- samples ------------------------------------------------------------------------------------------- */

/* Those in the corridor, rows downwards, columns to the right. Returns how many. Whole block. */
__device__ __forceinline__ int take_samples(const struct sx_road_view *view, struct road_shared *sh,
					    const uint8_t *map, size_t pitch)
{
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	uint32_t before = 0, all = 0, inside[ROAD_OF_LANE];
	uint16_t d[ROAD_OF_LANE];

#pragma unroll
	for (int k = 0; k < ROAD_OF_LANE; k++) {
		const int i = warp * ROAD_OF_WARP + 32 * k + lane;
		const int y = sx_road_grid_y(view, i / SX_ROAD_GRID);

		d[k] = ((const uint16_t *)(map + (size_t)y * pitch))[sx_road_grid_x(view, i % SX_ROAD_GRID)];
	}
#pragma unroll
	for (int k = 0; k < ROAD_OF_LANE; k++) {
		const int i = warp * ROAD_OF_WARP + 32 * k + lane;
		const int x = sx_road_grid_x(view, i % SX_ROAD_GRID);

		inside[k] = __ballot_sync(SX_WARP_ALL_LANES, sx_road_inside(view, x, d[k]));
		all += (uint32_t)__popc(inside[k]);
	}
	if (lane == 0)
		sh->count[warp] = all;
	__syncthreads();
	all = 0;
	for (int w = 0; w < ROAD_WARPS; w++) {
		before += w < warp ? sh->count[w] : 0;
		all += sh->count[w];
	}
#pragma unroll
	for (int k = 0; k < ROAD_OF_LANE; k++) {
		const int i = warp * ROAD_OF_WARP + 32 * k + lane;
		struct road_sample s;

		if (inside[k] >> lane & 1) {
			s.y_x = (uint32_t)sx_road_grid_y(view, i / SX_ROAD_GRID) << 16 |
				(uint32_t)sx_road_grid_x(view, i % SX_ROAD_GRID);
			s.d = d[k];
			sh->sample[before + (uint32_t)__popc(inside[k] & ((1u << lane) - 1))] = s;
		}
		before += (uint32_t)__popc(inside[k]);
	}
	__syncthreads();
	return (int)all;
}

__device__ __forceinline__ int32_t side_of(const struct sx_road_fixed *f, const struct road_sample *s)
{
	return sx_road_side(f, (int32_t)(s->y_x & 0xffff), (int32_t)(s->y_x >> 16), s->d);
}

/* ---- candidates ---------------------------------------------------------------------------------------- */

/* The plane of a candidate. False: it is no road. One thread. */
__device__ __forceinline__ bool candidate_plane(const struct sx_road_view *view, const struct road_shared *sh,
						int samples, int candidate, struct sx_road_plane *p)
{
	int32_t x[3], y[3], d[3];

	if (samples < SX_ROAD_LEAST)
		return false;
#pragma unroll
	for (int k = 0; k < 3; k++) {
		const struct road_sample s = sh->sample[sx_road_draw(candidate, k, samples)];

		x[k] = (int32_t)(s.y_x & 0xffff);
		y[k] = (int32_t)(s.y_x >> 16);
		d[k] = s.d;
	}
	return sx_road_through(x, y, d, p) && sx_road_plausible(view, p);
}

/* What a plane is worth. Whole warp, all lanes get it. */
__device__ __forceinline__ int32_t score_of(const struct road_shared *sh, int samples,
					    const struct sx_road_fixed *f)
{
	int32_t score = 0;

#pragma unroll 4
	for (int i = SX_ROAD_STRIDE * ((int)threadIdx.x % 32); i < samples; i += 32 * SX_ROAD_STRIDE)
		score += side_of(f, &sh->sample[i]);
	return (int32_t)sx_warp_sum((uint32_t)score);
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

/*
 * Of count candidates, in sh->candidate where sh->possible, the best. first: the number of the first one. All
 * threads get it. Whole block.
 */
__device__ __forceinline__ uint32_t judge(struct road_shared *sh, int samples, int count, int first)
{
	const int warp = (int)threadIdx.x / 32;
	uint32_t best = 0;

	__syncthreads();
	for (int i = warp; i < count; i += ROAD_WARPS) {
		struct sx_road_fixed f;
		uint32_t key;

		if (!(sh->possible[i / 32] >> i % 32 & 1))
			continue;
		f = sh->candidate[i];
		key = key_of(score_of(sh, samples, &f), first + i);
		best = key > best ? key : best;
	}
	if (threadIdx.x % 32 == 0)
		sh->key[warp] = best;
	__syncthreads();
	for (int w = 0; w < ROAD_WARPS; w++)
		best = sh->key[w] > best ? sh->key[w] : best;
	return best;
}

/* The best plane in sh->plane and sh->fixed. False, in all threads: none is worth anything. Whole block. */
__device__ __forceinline__ bool best_plane(const struct sx_road_view *view, struct road_shared *sh,
					   int samples)
{
	const int mine = (int)threadIdx.x;
	struct sx_road_plane plane = {};
	uint32_t best;

	if (mine < SX_ROAD_CANDIDATES) {
		const bool possible = candidate_plane(view, sh, samples, mine, &plane);
		const uint32_t bits = __ballot_sync(SX_WARP_ALL_LANES, possible);

		if (possible)
			sh->candidate[mine] = sx_road_fix(view, &plane);
		if (mine % 32 == 0)
			sh->possible[mine / 32] = bits;
	}
	best = judge(sh, samples, SX_ROAD_CANDIDATES, 0);
	if (score_in(best) > 0 && mine == candidate_of(best)) {
		sh->plane = plane;
		sh->fixed = sh->candidate[mine];
	}
	__syncthreads();
	return score_in(best) > 0;
}

/* ---- refinement ---------------------------------------------------------------------------------------- */

/* The block's sums over the samples on sh->fixed, in sh->sum[0]. Whole block; warp 0 may read them then. */
__device__ __forceinline__ void sum_samples(const struct sx_road_view *view, struct road_shared *sh,
					    int samples)
{
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	const int cx = sx_road_centre_x(view), cy = sx_road_centre_y(view);
	const struct sx_road_fixed f = sh->fixed;
	struct sx_road_sums s = {};

	for (int i = (int)threadIdx.x; i < samples; i += ROAD_THREADS) {
		const struct road_sample p = sh->sample[i];

		if (side_of(&f, &p) > 0)
			sx_road_add(&s, (int32_t)(p.y_x & 0xffff) - cx, (int32_t)(p.y_x >> 16) - cy, p.d);
	}
	s.samples = sx_warp_sum64(s.samples);
	s.n = sx_warp_sum64(s.n);
	s.x = sx_warp_sum64(s.x);
	s.y = sx_warp_sum64(s.y);
	s.d = sx_warp_sum64(s.d);
	s.xx = sx_warp_sum64(s.xx);
	s.xy = sx_warp_sum64(s.xy);
	s.yy = sx_warp_sum64(s.yy);
	s.xd = sx_warp_sum64(s.xd);
	s.yd = sx_warp_sum64(s.yd);
	s.dd = sx_warp_sum64(s.dd);
	if (lane == 0)
		sh->sum[warp] = s;
	__syncthreads();
	if (warp == 0) {
		int64_t total = 0;

		if (lane < (int)ROAD_SUMS) {
			for (int w = 0; w < ROAD_WARPS; w++)
				total += ((const int64_t *)&sh->sum[w])[lane];
			((int64_t *)&sh->sum[0])[lane] = total;
		}
		__syncwarp();
	}
}

/* One round of least squares. In all threads whether that is a road still. Whole block. */
__device__ __forceinline__ bool refine(const struct sx_road_view *view, struct road_shared *sh, int samples)
{
	sum_samples(view, sh, samples);
	if (threadIdx.x == 0) {
		const struct sx_road_sums s = sh->sum[0];
		struct sx_road_plane p = sh->plane;

		sh->solved = sx_road_enough(s.samples, samples) && sx_road_solve(view, &s, &p) &&
			     sx_road_plausible(view, &p);
		if (sh->solved) {
			sh->plane = p;
			sh->fixed = sx_road_fix(view, &p);
		}
	}
	__syncthreads();
	return sh->solved;
}

/* One block. */
static __global__ void __launch_bounds__(ROAD_THREADS, 1)
	find_plane(const struct sx_road_finder_cuda s, const uint8_t *map, size_t map_pitch)
{
	__shared__ struct road_shared sh;
	const int samples = take_samples(&s.view, &sh, map, map_pitch);
	bool found = best_plane(&s.view, &sh, samples);

#pragma unroll 1
	for (int i = 0; i < SX_ROAD_REFINEMENTS && found; i++)
		found = refine(&s.view, &sh, samples);
	if (threadIdx.x == 0) {
		s.search->found = found;
		if (found) {
			s.search->plane = sh.plane;
			s.search->fixed = sh.fixed;
			s.search->sums = sh.sum[0];
		}
	}
}

/* ---- bend ---------------------------------------------------------------------------------------------- */

/* Of all blocks, of an earlier launch; before: the best of the round before that. */
__device__ __forceinline__ struct sx_road_knee best_knee(const uint32_t *key, int round,
							 const struct sx_road_knee *before, int32_t *score)
{
	uint32_t best = 0;

#pragma unroll
	for (int i = 0; i < ROAD_BLOCKS; i++)
		best = key[i] > best ? key[i] : best;
	*score = score_in(best);
	return sx_road_knee_of(round, before, best ? candidate_of(best) : 0);
}

/* What the plane is worth far ahead without a bend. One warp of one block. */
__device__ __forceinline__ void judge_plane(const struct sx_road_finder_cuda *s, const struct road_shared *sh,
					    int samples)
{
	const struct sx_road_fixed f = sh->fixed;
	const int32_t score = score_of(sh, samples, &f);

	if (threadIdx.x % 32 == 0) {
		s->search->samples = samples;
		s->search->score = score;
	}
}

/* This block's bends of a round; before: the best of the round before. Whole block. */
__device__ __forceinline__ void judge_share(const struct sx_road_finder_cuda *s, struct road_shared *sh,
					    const uint8_t *map, size_t pitch, int round,
					    const struct sx_road_knee *before)
{
	const int first = (int)blockIdx.x * ROAD_SHARE, mine = (int)threadIdx.x;
	uint32_t best;
	int samples;

	if (mine == 0) {
		sh->plane = s->search->plane;
		sh->fixed = s->search->fixed;
		sh->far = sx_road_far(&s->view, &sh->plane);
	}
	__syncthreads();
	samples = take_samples(&sh->far, sh, map, pitch);
	if (mine < ROAD_SHARE) {
		const struct sx_road_knee knee = sx_road_knee_of(round, before, first + mine);
		double bend, row;
		const bool possible = sx_road_bend(&s->view, &sh->plane, &knee, &bend, &row);

		if (possible) {
			struct sx_road_fixed f = sh->fixed;

			f.bend = (int32_t)rint(bend * 65536.0);
			f.bend_row = (int32_t)row;
			sh->candidate[mine] = f;
		}
		sh->possible[0] = __ballot_sync(SX_WARP_ALL_LANES, possible);
	}
	best = judge(sh, samples, ROAD_SHARE, first);
	if (mine == 0)
		s->search->key[round][blockIdx.x] = best;
	if (round == 0 && blockIdx.x == 0 && mine / 32 == ROAD_WARPS - 1)
		judge_plane(s, sh, samples);
}

static __global__ void __launch_bounds__(ROAD_THREADS, 1)
	judge_bends(const struct sx_road_finder_cuda s, const uint8_t *map, size_t map_pitch)
{
	__shared__ struct road_shared sh;
	const struct sx_road_knee none = {};

	if (s.search->found)
		judge_share(&s, &sh, map, map_pitch, 0, &none);
}

/* ---- what comes of it ---------------------------------------------------------------------------------- */

/* Whole block. */
__device__ __forceinline__ void write_ground(const struct sx_road *road, int height, int32_t *axis_q4)
{
	for (int v = (int)threadIdx.x; v < height; v += ROAD_THREADS)
		axis_q4[v] = sx_road_row_ground_q4(road, height - 1 - v);
}

/* What happens when no plane was found. One thread. */
__device__ __forceinline__ void fall_back(const struct sx_road_finder_cuda *s, const struct sx_cuda_input *in,
					  struct sx_road *road)
{
	if (s->looks && in->has_previous && sx_road_lasts(&in->previous, s->max_age)) {
		*road = in->previous;
		road->origin = SX_ROAD_PREVIOUS;
		road->age++;
		return;
	}
	*road = s->calibrated;
}

/* What was found. One thread. */
__device__ __forceinline__ void describe(const struct sx_road_finder_cuda *s, struct sx_road *road)
{
	const struct road_search *found = s->search;
	const struct sx_road_plane plane = found->plane;
	const struct sx_road_knee none = {};
	struct sx_road_knee knee = none;
	int32_t score = 0;

	road->slope = plane.slope;
	road->offset = plane.at_origin + plane.cross * s->view.camera.cx;
	road->cross = plane.cross;
	road->axis = s->view.camera.cx;
	road->inliers = (uint32_t)found->sums.samples;
	road->origin = SX_ROAD_MEASURED;
	sx_road_sigmas(&s->view, &found->sums, &plane, road);
#pragma unroll 1
	for (int round = 0; round < SX_ROAD_BEND_ROUNDS; round++)
		knee = best_knee(found->key[round], round, &knee, &score);
	if (sx_road_bends(score, found->score, found->samples))
		sx_road_bend(&s->view, &plane, &knee, &road->bend, &road->bend_row);
}

/* True in the block that is the last to come here: it sees what the others wrote. Whole block. */
__device__ __forceinline__ bool is_last_block(struct road_shared *sh, unsigned *done)
{
	if (threadIdx.x == 0) {
		__threadfence();
		sh->is_last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
		__threadfence();
	}
	__syncthreads();
	return sh->is_last;
}

/* One block where no road is looked for. */
static __global__ void __launch_bounds__(ROAD_THREADS, 1)
	finish_road(const struct sx_road_finder_cuda s, const uint8_t *map, size_t map_pitch,
		    const struct sx_cuda_input *in, struct sx_cuda_road *road)
{
	__shared__ struct road_shared sh;
	__shared__ struct sx_cuda_input input;
	const unsigned words = sizeof(*in) / 4;
	/* of the host's memory: comes while samples are looked at */
	const uint32_t word = threadIdx.x < words ? ((const uint32_t *)in)[threadIdx.x] : 0;
	const bool found = s.looks && s.search->found;

	if (found) {
		const struct sx_road_knee none = {};
		int32_t score;
		const struct sx_road_knee before = best_knee(s.search->key[0], 0, &none, &score);

		judge_share(&s, &sh, map, map_pitch, 1, &before);
	}
	if (threadIdx.x < words)
		((uint32_t *)&input)[threadIdx.x] = word;
	if (!is_last_block(&sh, &s.search->blocks_done))
		return;
	if (threadIdx.x == 0) {
		struct sx_road r = {};

		if (found)
			describe(&s, &r);
		else
			fall_back(&s, &input, &r);
		sh.road = r;
		road->road = r;
		road->number = input.number;
	}
	__syncthreads();
	write_ground(&sh.road, s.view.height, road->ground_q4);
}

extern "C" cudaError_t sx_road_cuda_run(const struct sx_road_finder_cuda *s, const struct sx_image *disparity,
					const struct sx_cuda_input *in, struct sx_cuda_road *road,
					cudaStream_t stream)
{
	const uint8_t *map = (const uint8_t *)disparity->data;
	const unsigned blocks = s->looks ? ROAD_BLOCKS : 1;

	static_assert(sizeof(*in) / 4 <= ROAD_THREADS, "a word a thread");
	static_assert(SX_ROAD_CANDIDATES <= ROAD_THREADS && SX_ROAD_CANDIDATES % 32 == 0, "a thread each");
	static_assert(ROAD_SHARE == 32, "a lane each");
	static_assert(SX_ROAD_BEND_ROUNDS == 2, "a launch each");

	if (s->looks) {
		SX_LAUNCH(find_plane, 1, ROAD_THREADS, 0, stream, *s, map, disparity->pitch);
		SX_LAUNCH(judge_bends, blocks, ROAD_THREADS, 0, stream, *s, map, disparity->pitch);
	}
	SX_LAUNCH(finish_road, blocks, ROAD_THREADS, 0, stream, *s, map, disparity->pitch, in, road);
	return SX_LAUNCHED();
}
