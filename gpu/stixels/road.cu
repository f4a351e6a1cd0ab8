/*
 * Road estimation on the GPU. Must equal sx_road_find() and sx_road_ground() byte for byte, except for the
 * four fields that sx_road_describe() fills in on the host.
 *
 * Work:    three launches. Each ends where the best result of a search must be known.
 *          find_plane, one block: its warps read the grid's places and keep those in the corridor, in order.
 *          One thread makes the plane of each candidate. Each warp judges all possible candidates by its own
 *          samples. Then follow rounds of least squares (road_refine.cuh).
 *          judge_bends, a few blocks that share the candidates: every block takes all samples far ahead, and
 *          its candidates are bends of the plane. One more block describes the plane at the same time.
 *          finish_road: judges the bends of the second round by the samples that judge_bends stored. The last
 *          block to finish makes the road and the ground of all rows.
 * Memory:  at most 4096 disparities are read, once in each block of the first two launches. Samples and
 *          candidates are in shared memory, 41 KiB. struct road_search passes results from launch to launch.
 * Ranges:  sums of a refinement have 64 bits, all other values of a sample 32 bits. Doubles as in
 *          stages/road/road_plane.h. A score is at most 1024 and fits into a key with its candidate.
 * Shapes:  every size.
 * Speed:   see tests/lab/lab-performance.md, CUDA: road.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include "gpu/stages_cuda.h"

#include "gpu/block.cuh"
#include "gpu/cuda.cuh"
#include "gpu/stixels/road_refine.cuh"
#include "gpu/stixels/road_samples.cuh"
#include "gpu/warp.cuh"
#include "stages/road/road_finder.h"

#define ROAD_BLOCKS 8				 /* blocks that share the bends of a round */
#define ROAD_SHARE (SX_ROAD_BENDS / ROAD_BLOCKS) /* bends of a block: one warp makes them */
#define ROAD_WORDS (sizeof(struct sx_road) / 4)

/* The best bend of a block. */
struct road_best_bend {
	uint32_t key; /* see key_of() */
	struct sx_road_bent bent;
};

/* The plane whose bends are judged. */
enum road_found { ROAD_NONE, ROAD_MEASURED, ROAD_EXPECTED };

/* State of the search of one frame, in device memory. */
struct road_search {
	struct road_far judging[ROAD_JUDGING];	 /* samples by which bends are judged */
	struct sx_road_plane plane;		 /* the refined plane */
	struct road_candidate fixed;		 /* the plane in integers */
	struct sx_road_sums sums;		 /* sums of the samples from which the plane is made */
	int seen;				 /* number of samples among which the plane was searched */
	int first_row, end_row;			 /* rows that are searched for bends */
	int found;				 /* enum road_found */
	int samples;				 /* number of samples far ahead */
	int32_t score;				 /* score of the plane on these samples, without a bend */
	uint32_t key[ROAD_BLOCKS];		 /* best bend of each block in the first round */
	struct road_best_bend best[ROAD_BLOCKS]; /* best bend of each block in the second round */
	struct sx_road road;			 /* the road found, without the bend */
	unsigned blocks_done;			 /* blocks of finish_road that are done; 0 between frames */
};

struct sx_road_finder_cuda {
	struct road_search *search;
	struct sx_road_view view;
	struct sx_road_view far; /* view where a bend shows, without the rows */
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
	const struct sx_road_plane any = {1.0, 0.0, 0.0};
	struct sx_road_finder_cuda *s = (struct sx_road_finder_cuda *)calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->search = (struct road_search *)sx_cuda_take(m, sizeof(*s->search));
	s->view = f->view;
	s->far = sx_road_far(&f->view, &any);
	s->calibrated = f->calibrated;
	s->max_age = f->params.max_age;
	s->looks = sx_road_looks(f);
	*ret = s;
	return 0;
}

/* ---- plane --------------------------------------------------------------------------------------------- */

struct plane_shared {
	struct road_sample sample[SX_ROAD_SAMPLES];
	struct road_candidate candidate[SX_ROAD_CANDIDATES]; /* the possible candidates, in any order */
	int32_t score[SX_ROAD_CANDIDATES];
	uint16_t number[SX_ROAD_CANDIDATES];
	int possible; /* number of possible candidates */
	uint32_t count[ROAD_WARPS];
	struct road_refined refined;
};

/* Makes the plane of a candidate. Returns false if it is no road. For one thread. */
__device__ __forceinline__ bool candidate_plane(const struct sx_road_view *view,
						const struct plane_shared *sh, int samples, int candidate,
						struct sx_road_plane *p)
{
	int32_t x[3], y[3], d[3];

	if (samples < SX_ROAD_LEAST)
		return false;
	if (sx_road_is_expected(view, candidate)) {
		*p = view->expected;
		return sx_road_plausible(view, p);
	}
#pragma unroll
	for (int k = 0; k < 3; k++) {
		const struct road_sample s = sh->sample[sx_road_draw(candidate, k, samples)];

		x[k] = (int32_t)(s.y_x & 0xffff);
		y[k] = (int32_t)(s.y_x >> 16);
		d[k] = s.d;
	}
	return sx_road_through(x, y, d, p) && sx_road_plausible(view, p);
}

/* Lists the thread's candidate if it is possible. sh->possible must be 0 at first. For a whole warp. */
__device__ __forceinline__ void list_candidate(const struct sx_road_view *view, struct plane_shared *sh,
					       int samples, int candidate)
{
	const int lane = (int)threadIdx.x % 32;
	struct sx_road_plane p;
	const bool possible = candidate_plane(view, sh, samples, candidate, &p);
	const uint32_t bits = __ballot_sync(SX_WARP_ALL_LANES, possible);
	int place = lane == 0 ? atomicAdd(&sh->possible, __popc(bits)) : 0;

	place = __shfl_sync(SX_WARP_ALL_LANES, place, 0) + __popc(bits & ((1u << lane) - 1));
	if (possible) {
		sh->candidate[place] = candidate_of_plane(view, &p);
		sh->number[place] = (uint16_t)candidate;
	}
}

/*
 * Finds the best plane and writes it to sh->refined. Returns false in all threads if no plane has a score.
 * weight: weights of the thread's samples, computed while half of the warps make candidates. For the whole
 * block.
 */
__device__ __forceinline__ bool best_plane(const struct sx_road_view *view, struct plane_shared *sh,
					   const struct road_places *at, int samples,
					   int32_t weight[ROAD_OF_LANE])
{
	const int mine = (int)threadIdx.x, judging = (samples + SX_ROAD_STRIDE - 1) / SX_ROAD_STRIDE;
	struct road_near by[2];
	uint32_t best;

	if (mine < SX_ROAD_CANDIDATES)
		list_candidate(view, sh, samples, mine);
	weigh_samples(at, weight);
#pragma unroll
	for (int k = 0; k < 2; k++) {
		const int i = mine + k * ROAD_THREADS;

		by[k] = near_of(&sh->sample[SX_ROAD_STRIDE * i], i < judging);
	}
	__syncthreads();
	judge(view, by, judging, sh->candidate, sh->possible, sh->score);
	__syncthreads();
	best = best_key<true>(view, sh->score, sh->number, sh->possible, samples);
	if (score_in(best) > 0 && mine < sh->possible && sh->number[mine] == candidate_of(best))
		sh->refined.fixed = sh->candidate[mine];
	__syncthreads();
	return score_in(best) > 0;
}

/*
 * Stores what refine() computed, for the later launches. total: as refine() returns it. For the whole block.
 */
__device__ __forceinline__ void leave_plane(const struct sx_road_finder_cuda *s,
					    const struct plane_shared *sh, bool found, int samples,
					    int64_t total)
{
	const int mine = (int)threadIdx.x;

	if (mine < ROAD_SUMS)
		((int64_t *)&s->search->sums)[mine] = total;
	if (mine == 0) {
		s->search->found = found ? ROAD_MEASURED : ROAD_NONE;
		s->search->seen = samples;
	}
	if (sh->refined.state == ROAD_NOT_FOUND)
		return;
	if (mine == 0) {
		s->search->plane = *refined_plane(&sh->refined);
		s->search->fixed = sh->refined.fixed;
	}
	if (mine == 32) { /* meanwhile the first warp tests for roads */
		const struct sx_road_view far = sx_road_far(&s->view, refined_plane(&sh->refined));

		s->search->first_row = far.first_row;
		s->search->end_row = far.end_row;
	}
}

/*
 * If no plane was found: stores the expected plane of a low camera, as leave_plane() does. For one thread, after
 * leave_plane().
 */
__device__ __forceinline__ void leave_expected(const struct sx_road_finder_cuda *s)
{
	const struct sx_road_plane *expected = &s->view.expected;
	const struct sx_road_view far = sx_road_far(&s->view, expected);
	const bool based = s->view.favour > 0 && sx_road_plausible(&s->view, expected);

	s->search->found = based ? ROAD_EXPECTED : ROAD_NONE;
	if (!based)
		return;
	s->search->plane = *expected;
	s->search->fixed = candidate_of_plane(&s->view, expected);
	s->search->first_row = far.first_row;
	s->search->end_row = far.end_row;
}

/* Finds the plane. For one block. */
static __global__ void __launch_bounds__(ROAD_THREADS, 1)
	find_plane(const struct sx_road_finder_cuda s, const uint8_t *map, size_t map_pitch)
{
	__shared__ struct plane_shared sh;
	const struct road_candidate none = {0, 0, 0, 0};
	int32_t weight[ROAD_OF_LANE];
	struct road_places at;
	int64_t total = 0;
	int samples;
	bool found;

	look_at_map(&s.view, map, map_pitch, &at);
	if (threadIdx.x < SX_ROAD_CANDIDATES) {
		sh.score[threadIdx.x] = 0;
		sh.candidate[threadIdx.x] = none;
	}
	if (threadIdx.x == 0)
		sh.possible = 0;
	samples = number_samples(&s.view, &at, sh.count);
#pragma unroll
	for (int k = 0; k < ROAD_OF_LANE; k++)
		if (at.number[k] >= 0)
			sh.sample[at.number[k]] = sample_at(&at, k);
	__syncthreads();
	if (!best_plane(&s.view, &sh, &at, samples, weight)) {
		if (threadIdx.x == 0)
			leave_expected(&s);
		return;
	}
	found = refine(&s.view, &sh.refined, &at, weight, samples, &total);
	leave_plane(&s, &sh, found, samples, total);
	__syncthreads();
	if (threadIdx.x == 0 && !found)
		leave_expected(&s);
}

/* ---- bend ---------------------------------------------------------------------------------------------- */

struct bend_shared {
	struct road_sample sample[ROAD_JUDGING];
	struct road_bent candidate[ROAD_SHARE + ROAD_AT_ONCE]; /* the possible candidates, in order; zeroes */
	int32_t score[ROAD_SHARE + 1];			       /* the last one is the plane's */
	uint16_t number[ROAD_SHARE];
	int possible;
	uint32_t count[ROAD_WARPS];
	struct sx_road road;
	int is_last;
};

/* Returns the best bend of all blocks in the first round. */
__device__ __forceinline__ struct sx_road_knee best_knee(const struct sx_road_view *view, const uint32_t *key)
{
	const struct sx_road_knee none = {};
	uint32_t best = 0;

#pragma unroll
	for (int i = 0; i < ROAD_BLOCKS; i++)
		best = key[i] > best ? key[i] : best;
	return sx_road_knee_of(view, 0, &none, best ? candidate_of(best) : 0);
}

/* Lists this block's bends of a round. before: best bend of the previous round. For one warp. */
__device__ __forceinline__ void list_bends(const struct sx_road_finder_cuda *s, struct bend_shared *sh,
					   int round, const struct sx_road_knee *before,
					   struct road_best_bend *mine)
{
	const int lane = (int)threadIdx.x % 32, number = (int)blockIdx.x * ROAD_SHARE + lane;
	const struct sx_road_plane plane = s->search->plane;
	const struct sx_road_knee knee = sx_road_knee_of(&s->view, round, before, number);
	const bool possible = sx_road_bend(&s->view, &plane, &knee, &mine->bent);
	const uint32_t bits = __ballot_sync(SX_WARP_ALL_LANES, possible);
	const int place = __popc(bits & ((1u << lane) - 1));
	const struct road_bent none = {0, 0, 0, 0};

	sh->candidate[lane] = none;
	if (lane < ROAD_AT_ONCE)
		sh->candidate[ROAD_SHARE + lane] = none;
	if (lane == 0)
		sh->possible = __popc(bits);
	__syncwarp();
	if (possible) {
		sh->candidate[place].bend = (int32_t)rint(mine->bent.slope * 65536.0);
		sh->candidate[place].row = (int32_t)mine->bent.row;
		sh->candidate[place].step = (int32_t)rint(mine->bent.step * 65536.0);
		sh->number[place] = (uint16_t)number;
	}
}

/* Fills in all of the road except its bend. For one thread. */
__device__ __forceinline__ void describe_plane(const struct sx_road_finder_cuda *s)
{
	const struct sx_road_plane plane = s->search->plane;
	const struct sx_road_sums sums = s->search->sums;
	struct sx_road road = {};

	if (s->search->found == ROAD_EXPECTED) {
		s->search->road = s->calibrated;
		return;
	}
	road.slope = plane.slope;
	road.offset = plane.at_origin + plane.cross * s->view.camera.cx;
	road.cross = plane.cross;
	road.axis = s->view.camera.cx;
	road.inliers = (uint32_t)sums.samples;
	road.origin = SX_ROAD_MEASURED;
	sx_road_sigmas(&s->view, &sums, s->search->seen, &plane, &road);
	s->search->road = road;
}

/*
 * Takes the samples by which bends are judged: into sh->sample, and into by[] for the thread. The first block
 * also stores them for the next launch.
 */
__device__ __forceinline__ int take_far_samples(const struct sx_road_finder_cuda *s, struct bend_shared *sh,
						const struct road_places *at, int samples,
						struct road_far by[2])
{
	const struct road_candidate c = s->search->fixed;
	const int judging = (samples + SX_ROAD_STRIDE - 1) / SX_ROAD_STRIDE;

#pragma unroll
	for (int k = 0; k < ROAD_OF_LANE; k++)
		if (at->number[k] >= 0 && at->number[k] % SX_ROAD_STRIDE == 0)
			sh->sample[at->number[k] / SX_ROAD_STRIDE] = sample_at(at, k);
	__syncthreads();
#pragma unroll
	for (int k = 0; k < 2; k++) {
		const int i = (int)threadIdx.x + k * ROAD_THREADS;

		by[k] = far_of(&s->far, &c, &sh->sample[i], i < judging);
		if (blockIdx.x == 0)
			s->search->judging[i] = by[k];
	}
	return judging;
}

/* Judges the first round of bends. One more block describes the plane. */
static __global__ void __launch_bounds__(ROAD_THREADS, 1)
	judge_bends(const struct sx_road_finder_cuda s, const uint8_t *map, size_t map_pitch)
{
	__shared__ struct bend_shared sh;
	const struct sx_road_knee none = {};
	const int is_first = blockIdx.x == 0;
	struct sx_road_view far = s.far;
	struct road_best_bend unused;
	struct road_places at;
	struct road_far by[2];
	int samples, judging;

	if (!s.search->found)
		return;
	if (blockIdx.x == ROAD_BLOCKS) {
		if (threadIdx.x == 0)
			describe_plane(&s);
		return;
	}
	far.first_row = s.search->first_row;
	far.end_row = s.search->end_row;
	look_at_map(&far, map, map_pitch, &at);
	if (threadIdx.x <= ROAD_SHARE)
		sh.score[threadIdx.x] = 0;
	if (threadIdx.x / 32 == 0)
		list_bends(&s, &sh, 0, &none, &unused);
	samples = number_samples(&far, &at, sh.count);
	judging = take_far_samples(&s, &sh, &at, samples, by);
	judge(&s.view, by, judging, sh.candidate, sh.possible + is_first, sh.score);
	__syncthreads();
	if (threadIdx.x / 32 == 0) {
		const uint32_t best = best_key<false>(&s.view, sh.score, sh.number, sh.possible, 0);

		if (threadIdx.x == 0)
			s.search->key[blockIdx.x] = best;
	}
	if (is_first && threadIdx.x == 32) {
		s.search->samples = samples;
		s.search->score = sh.score[sh.possible];
	}
}

/* ---- result -------------------------------------------------------------------------------------------- */

/* Writes the ground of all rows. For the whole block. */
__device__ __forceinline__ void write_ground(const struct sx_road *road, int height, int32_t *axis_q4)
{
	for (int v = (int)threadIdx.x; v < height; v += ROAD_THREADS)
		axis_q4[v] = sx_road_row_ground_q4(road, height - 1 - v);
}

/* Returns true if the previous road replaces one that was not found. */
__device__ __forceinline__ bool lasts(const struct sx_road_finder_cuda *s, const struct sx_cuda_input *in)
{
	return s->looks && in->has_previous && sx_road_lasts(&in->previous, s->max_age);
}

/* Makes the road if no plane was found. For one thread. */
__device__ __forceinline__ void fall_back(const struct sx_road_finder_cuda *s, const struct sx_cuda_input *in,
					  struct sx_road *road)
{
	if (lasts(s, in)) {
		*road = in->previous;
		road->origin = SX_ROAD_PREVIOUS;
		road->age++;
		return;
	}
	*road = s->calibrated;
}

/* Judges this block's bends of the second round. For the whole block. */
__device__ __forceinline__ void judge_again(const struct sx_road_finder_cuda *s, struct bend_shared *sh)
{
	const int mine = (int)threadIdx.x;
	const int judging = (s->search->samples + SX_ROAD_STRIDE - 1) / SX_ROAD_STRIDE;
	const struct road_far by[2] = {s->search->judging[mine], s->search->judging[mine + ROAD_THREADS]};
	struct road_best_bend bend = {};

	if (mine <= ROAD_SHARE)
		sh->score[mine] = 0;
	if (mine / 32 == 0) {
		const struct sx_road_knee before = best_knee(&s->view, s->search->key);

		list_bends(s, sh, 1, &before, &bend);
	}
	__syncthreads();
	judge(&s->view, by, judging, sh->candidate, sh->possible, sh->score);
	__syncthreads();
	if (mine / 32 == 0) {
		bend.key = best_key<false>(&s->view, sh->score, sh->number, sh->possible, 0);
		if (bend.key ? (int)blockIdx.x * ROAD_SHARE + mine == candidate_of(bend.key) : mine == 0)
			s->search->best[blockIdx.x] = bend;
	}
}

/* Writes the road that was found. word: the lane's word of it, without the bend. For the first warp. */
__device__ __forceinline__ void describe(const struct sx_road_finder_cuda *s, struct sx_road *road,
					 uint32_t word)
{
	const int lane = (int)threadIdx.x;
	struct road_best_bend bend = {};
	uint32_t best, step;
	bool is_step;

	static_assert(SX_ROAD_BEND_STEPS % ROAD_SHARE == 0, "a block has bends or steps");
	static_assert(ROAD_WORDS <= 32, "a word a lane");
	if (lane < (int)ROAD_WORDS)
		((uint32_t *)road)[lane] = word;
	if (lane < ROAD_BLOCKS)
		bend = s->search->best[lane];
	is_step = sx_road_is_step(&s->view, 1, lane * ROAD_SHARE);
	best = sx_warp_max(is_step ? 0 : bend.key);
	step = sx_warp_max(is_step ? bend.key : 0);
	__syncwarp();
	if (best && bend.key == best &&
	    sx_road_bends(&s->view, score_in(best), s->search->score, score_in(step), s->search->samples)) {
		road->bend = bend.bent.slope;
		road->bend_row = bend.bent.row;
	}
	__syncwarp();
}

/* Finishes the road. Runs as one block if no road is searched. */
static __global__ void __launch_bounds__(ROAD_THREADS, 1)
	finish_road(const struct sx_road_finder_cuda s, const struct sx_cuda_input *in,
		    struct sx_cuda_road *road)
{
	__shared__ struct bend_shared sh;
	__shared__ struct sx_cuda_input input;
	const unsigned mine = threadIdx.x, words = sizeof(*in) / 4;
	/* a read of host memory, which arrives while bends are judged */
	const uint32_t word = mine < words ? ((const uint32_t *)in)[mine] : 0;
	const int found = s.looks ? s.search->found : ROAD_NONE;
	const uint32_t found_word =
		found && mine < ROAD_WORDS ? ((const uint32_t *)&s.search->road)[mine] : 0;
	bool described;

	if (found)
		judge_again(&s, &sh);
	if (mine < words)
		((uint32_t *)&input)[mine] = word;
	if (!sx_is_last_block(&sh.is_last, &s.search->blocks_done))
		return;
	described = found == ROAD_MEASURED || (found == ROAD_EXPECTED && !lasts(&s, &input));
	if (described && mine < 32)
		describe(&s, &sh.road, found_word);
	if (!described && mine == 0)
		fall_back(&s, &input, &sh.road);
	__syncthreads();
	if (mine == 0) {
		road->road = sh.road;
		road->number = input.number;
	}
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
		SX_LAUNCH(judge_bends, blocks + 1, ROAD_THREADS, 0, stream, *s, map, disparity->pitch);
	}
	SX_LAUNCH(finish_road, blocks, ROAD_THREADS, 0, stream, *s, in, road);
	return SX_LAUNCHED();
}
