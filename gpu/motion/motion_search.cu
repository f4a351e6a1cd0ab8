/*
 * Search for features in the frame before, on the GPU: the passes and the search for things that move of
 * stages/motion/pair.h, and the votes of sx_motion_begin() (guess.h). Must equal them byte for byte.
 *
 * search: a warp takes 4 cells. A lane each computes where their features are expected; then all lanes search for one
 *         feature after the other.
 * movers: the same, with a lane for each of the 9 guesses of a feature.
 * votes:  a block tries a step. A lane takes a judge and computes where it is expected. Then 8 lanes search for a
 *         judge together: a column of places each. The least word of sum and step wins, in any order.
 * Memory: descriptors and grey levels of both frames, through the caches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/motion/motion_find.cuh"

#define WARPS 4
#define TOGETHER 4 /* cells of a warp */
#define VOTE_WARPS 8
#define VOTE_X 3 /* reach of a vote, px of half size */
#define VOTE_Y 2
#define VOTE_LANES 8 /* lanes of a judge, at least 2 VOTE_X + 1 */

__device__ __forceinline__ int first_cell()
{
	return ((int)blockIdx.x * WARPS + (int)threadIdx.x / 32) * TOGETHER;
}

/* Adds the cells of the lanes that say so to the list of features that were found. */
__device__ __forceinline__ void append(const struct motion_work &w, bool found, int cell, int lane)
{
	const uint32_t lanes = __ballot_sync(SX_WARP_ALL_LANES, found);
	uint32_t at = 0;

	if (lane == 0 && lanes)
		at = atomicAdd(&w.state->found, (uint32_t)__popc(lanes));
	at = __shfl_sync(SX_WARP_ALL_LANES, at, 0);
	if (found)
		w.list[at + (uint32_t)__popc(lanes & ((1u << lane) - 1))] = (uint32_t)cell;
}

static __global__ void __launch_bounds__(32 * WARPS)
	search(const struct motion_work w, const struct motion_frame f, int pass)
{
	const int lane = (int)threadIdx.x % 32, first = first_cell(), cell = first + lane;
	const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
	const struct motion_state *s = w.state;
	const double stands[3] = {0.0, 0.0, 0.0};
	const struct sx_motion_view *now, *before;
	struct motion_guesses g = {0, {0, 0, 1024, 0, 1024}};
	struct sx_motion_step at;
	bool has = false, found = false;
	double offset;
	uint32_t todo;

	if (!motion_is_next(s, (uint32_t)pass))
		return;
	for (unsigned i = thread; i < SX_MOTION_SUMS_MOST * MOTION_SUM_WORDS; i += threads)
		((int64_t *)w.state->sums)[i] = 0;
	if (first >= w.cells.columns * w.cells.rows)
		return;
	at = motion_step_of(&w.size.camera, s, pass, &offset);
	now = &w.views[s->turn.now];
	before = &w.views[s->turn.before];
	if (lane < TOGETHER && cell < w.cells.columns * w.cells.rows) {
		const struct sx_motion_feature mine = f.at.features[cell];

		has = mine.score > 0;
		if (has)
			g.mine = sx_motion_expect(&w.size.camera, &at, &mine, offset, stands);
		if (has && pass == MOTION_AGAIN) {
			found = f.at.flows[cell].search == SX_MOTION_FOUND;
			has = sx_motion_is_elsewhere(g.mine, sx_motion_expect(&w.size.camera, &s->last, &mine,
									      s->last_offset, stands));
		}
	}
	todo = __ballot_sync(SX_WARP_ALL_LANES, has);
	for (; todo; todo &= todo - 1) {
		const int k = __ffs((int)todo) - 1;
		const struct sx_motion_feature feature = f.at.features[first + k];
		struct sx_motion_guess guess;
		struct sx_motion_flow flow;

		g.mask = 1u << k;
		guess = motion_guess_of(&g, 0);
		motion_match(now, before, &feature, &g, lane, &flow);
		motion_refine(now, before, &feature, &guess, lane, &flow);
		if (lane == k) {
			f.at.flows[cell] = flow;
			found = flow.search == SX_MOTION_FOUND;
		}
	}
	append(w, found, cell, lane);
}

static __global__ void __launch_bounds__(32 * WARPS)
	movers(const struct motion_work w, const struct motion_frame f)
{
	const int lane = (int)threadIdx.x % 32, first = first_cell(), cell = first + lane;
	const struct motion_state *s = w.state;
	const struct sx_motion_view *now, *before;
	uint32_t todo;

	if (!motion_is_next(s, MOTION_GROUP) || first >= w.cells.columns * w.cells.rows)
		return;
	now = &w.views[s->turn.now];
	before = &w.views[s->turn.before];
	todo = __ballot_sync(SX_WARP_ALL_LANES,
			     lane < TOGETHER && cell < w.cells.columns * w.cells.rows &&
				     sx_motion_may_move(&f.at.features[cell], &f.at.flows[cell]));
	for (; todo; todo &= todo - 1) {
		const int k = __ffs((int)todo) - 1;
		const struct sx_motion_feature feature = f.at.features[first + k];
		struct motion_guesses g = {0, {0, 0, 1024, 0, 1024}};
		struct sx_motion_guess guess;
		struct sx_motion_flow flow;

		if (lane < SX_MOTION_MOVERS) {
			double shift[3];

			sx_motion_mover_shift(&s->ego.step, s->seconds / w.size.camera.baseline_m, lane,
					      shift);
			g.mine = sx_motion_expect(&w.size.camera, &s->ego.step, &feature, s->ego.used.px,
						  shift);
		}
		g.mask = 1;
		guess = motion_guess_of(&g, 0);
		g.mask |= __ballot_sync(SX_WARP_ALL_LANES, lane > 0 && lane < SX_MOTION_MOVERS &&
								   sx_motion_is_other(&g.mine, &guess));
		motion_match(now, before, &feature, &g, lane, &flow);
		guess = motion_guess_of(&g, (int)flow.guess);
		motion_refine(now, before, &feature, &guess, lane, &flow);
		if (lane == k)
			f.at.flows[cell] = flow;
	}
}

/* Returns the judge of a block of cells, the first of equal ones, or -1. */
__device__ __forceinline__ int judge_of(const struct motion_work &w, const struct sx_motion_feature *features,
					int block)
{
	const int wide = (w.cells.columns + SX_MOTION_JUDGE_BLOCK - 1) / SX_MOTION_JUDGE_BLOCK;
	const int top = block / wide * SX_MOTION_JUDGE_BLOCK, left = block % wide * SX_MOTION_JUDGE_BLOCK;
	uint32_t score = 0;
	int best = -1;

	for (int i = 0; i < SX_MOTION_JUDGE_BLOCK * SX_MOTION_JUDGE_BLOCK; i++) {
		const int row = top + i / SX_MOTION_JUDGE_BLOCK, column = left + i % SX_MOTION_JUDGE_BLOCK;
		const int cell = row * w.cells.columns + column;

		if (row < w.cells.rows && column < w.cells.columns && features[cell].score > score) {
			score = features[cell].score;
			best = cell;
		}
	}
	return best;
}

/* Returns the sum of the votes of the lanes' judges about a step, in all lanes. judge: cell, or -1. */
static __device__ uint32_t votes_of(const struct sx_image *now, const struct sx_image *before, int judge_x,
				    int judge_y, bool judges, const struct sx_motion_guess &mine, int lane)
{
	uint32_t sum = 0;

	for (int k = 0; k < 32; k += 32 / VOTE_LANES) {
		const int from = k + lane / VOTE_LANES, i = lane % VOTE_LANES - VOTE_X;
		struct motion_block b;
		struct sx_motion_guess guess;
		uint32_t least = SX_MOTION_VOTE_MOST;
		const int x = __shfl_sync(SX_WARP_ALL_LANES, judge_x, from) >> 1;
		const int y = __shfl_sync(SX_WARP_ALL_LANES, judge_y, from) >> 1;
		const bool votes = __shfl_sync(SX_WARP_ALL_LANES, (int)judges, from) != 0;

		guess.dx = __shfl_sync(SX_WARP_ALL_LANES, mine.dx, from);
		guess.dy = __shfl_sync(SX_WARP_ALL_LANES, mine.dy, from);
		guess.across = __shfl_sync(SX_WARP_ALL_LANES, mine.across, from);
		guess.shear = __shfl_sync(SX_WARP_ALL_LANES, mine.shear, from);
		guess.down = __shfl_sync(SX_WARP_ALL_LANES, mine.down, from);
		motion_warp_block(&guess, &b);
		if (votes && i <= VOTE_X && motion_read_block(now, x, y, &b))
			for (int j = -VOTE_Y; j <= VOTE_Y; j++)
				least = min(least, motion_cost(before, &b, x + sx_motion_halved(guess.dx) + i,
							       y + sx_motion_halved(guess.dy) + j));
		for (int n = 1; n < VOTE_LANES; n <<= 1)
			least = min(least, __shfl_xor_sync(SX_WARP_ALL_LANES, least, n));
		sum += votes && lane % VOTE_LANES == 0 ? least : 0;
	}
	return sx_warp_sum(sum);
}

/* Block 0 tries the expected step, block i + 1 step i of the fan. */
static __global__ void __launch_bounds__(32 * VOTE_WARPS)
	votes(const struct motion_work w, const struct motion_frame f)
{
	__shared__ uint32_t sums[VOTE_WARPS];
	const int wide = (w.cells.columns + SX_MOTION_JUDGE_BLOCK - 1) / SX_MOTION_JUDGE_BLOCK;
	const int high = (w.cells.rows + SX_MOTION_JUDGE_BLOCK - 1) / SX_MOTION_JUDGE_BLOCK;
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	struct motion_state *s = w.state;
	const double stands[3] = {0.0, 0.0, 0.0};
	struct sx_image now, before;
	struct sx_motion_step step;
	uint32_t sum = 0;
	int any = 0;

	if (s->next != MOTION_VOTED || !s->differs || (blockIdx.x == 0 && !s->learned.has_step))
		return;
	now = w.views[s->turn.now].half_census;
	before = w.views[s->turn.before].half_census;
	step = blockIdx.x == 0 ? s->learned.step : sx_motion_fan_step(&w.size.camera, (int)blockIdx.x - 1);
	for (int i = 32 * warp; i < wide * high; i += 32 * VOTE_WARPS) {
		const int judge = i + lane < wide * high ? judge_of(w, f.at.features, i + lane) : -1;
		struct sx_motion_guess guess = {0, 0, 1024, 0, 1024};
		int x = 0, y = 0;

		if (judge >= 0) {
			const struct sx_motion_feature mine = f.at.features[judge];

			x = mine.x;
			y = mine.y;
			guess = sx_motion_expect(&w.size.camera, &step, &mine, s->prior.px, stands);
			any = 1;
		}
		sum += votes_of(&now, &before, x, y, judge >= 0, guess, lane);
	}
	if (lane == 0)
		sums[warp] = sum;
	if (!__syncthreads_or(any) || threadIdx.x)
		return;
	sum = 0;
	for (int i = 0; i < VOTE_WARPS; i++)
		sum += sums[i];
	atomicMin(&s->least, (unsigned long long)sum << 32 | blockIdx.x);
	if (blockIdx.x == 1)
		s->judges = 1;
}

static unsigned cell_blocks(const struct motion_work *w)
{
	return (unsigned)(w->cells.columns * w->cells.rows + WARPS * TOGETHER - 1) / (WARPS * TOGETHER);
}

extern "C" cudaError_t sx_motion_cuda_votes(const struct motion_work *w, const struct motion_frame *f,
					    cudaStream_t stream)
{
	SX_LAUNCH(votes, 1 + SX_MOTION_FAN, 32 * VOTE_WARPS, 0, stream, *w, *f);
	return SX_LAUNCHED();
}

extern "C" cudaError_t sx_motion_cuda_search(const struct motion_work *w, const struct motion_frame *f,
					     int pass, cudaStream_t stream)
{
	SX_LAUNCH(search, cell_blocks(w), 32 * WARPS, 0, stream, *w, *f, pass);
	return SX_LAUNCHED();
}

extern "C" cudaError_t sx_motion_cuda_movers(const struct motion_work *w, const struct motion_frame *f,
					     cudaStream_t stream)
{
	SX_LAUNCH(movers, cell_blocks(w), 32 * WARPS, 0, stream, *w, *f);
	return SX_LAUNCHED();
}
