/*
 * Ego-motion on the GPU. Must equal sx_motion_ego() (stages/motion/ego.h) byte for byte.
 *
 * Work:   a launch for each round, since a round needs the sums of all features. Each block first makes the round
 *         before from its sums, with one thread, and all blocks get the same result. Then threads take features, and
 *         their terms, which are integers, are added up by warp, block and device, in any order.
 *         The last launch concludes with one block, and says what comes next in the frame.
 * Memory: features, flows, and a list of those that were found, once for each round.
 * Speed:  about 600 operations in double for each feature and round.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/motion/motion.cuh"

#define WARPS 4
#define CONCLUDE_THREADS 64

/* Begins the search in launch 0, else makes the next round. *more: sums are wanted at e->at. */
static __device__ void make_round(const struct motion_work &w, int pass, int launch,
				  struct sx_motion_ego_search *e, int *more)
{
	const struct motion_state *s = w.state;

	if (launch == 0) {
		double offset;
		const struct sx_motion_step start = motion_step_of(&w.size.camera, s, pass, &offset);

		sx_motion_ego_begin(e, &start, &s->prior);
		*more = 1;
	} else {
		*more = sx_motion_ego_next(&w.size.camera, &s->sums[launch - 1], e);
	}
}

static __global__ void __launch_bounds__(32 * WARPS)
	ego(const struct motion_work w, const struct motion_frame f, int pass, int launch)
{
	__shared__ struct sx_motion_ego_search search;
	__shared__ int64_t warp_sums[WARPS][MOTION_SUM_WORDS];
	__shared__ int more;
	struct motion_state *s = w.state;
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	const int done = *(volatile int32_t *)&s->done;
	struct sx_motion_sums sums;
	uint32_t found;

	/* block 0 of this launch may write `done`, but not a lower number */
	if (!motion_is_next(s, (uint32_t)pass) || (done && done < launch))
		return;
	found = s->found;
	if (blockIdx.x > 0 && blockIdx.x * blockDim.x >= found)
		return;
	if (launch > 0)
		motion_copy(&search, &s->search[(launch - 1) % 2], sizeof(search));
	if (threadIdx.x == 0)
		make_round(w, pass, launch, &search, &more);
	__syncthreads();
	if (blockIdx.x == 0) {
		motion_copy(&s->search[launch % 2], &search, sizeof(search));
		if (threadIdx.x == 0 && !more)
			s->done = launch;
	}
	if (!more)
		return;
#pragma unroll
	for (unsigned i = 0; i < MOTION_SUM_WORDS; i++)
		((int64_t *)&sums)[i] = 0;
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < found; i += gridDim.x * blockDim.x) {
		const uint32_t cell = w.list[i];
		const struct sx_motion_feature feature = f.at.features[cell];
		const struct sx_motion_flow flow = f.at.flows[cell];

		sx_motion_add(&w.size.camera, &search.at, &feature, &flow, &sums);
	}
#pragma unroll
	for (unsigned i = 0; i < MOTION_SUM_WORDS; i++) {
		const int64_t sum = sx_warp_sum64(((const int64_t *)&sums)[i]);

		if (lane == 0)
			warp_sums[warp][i] = sum;
	}
	__syncthreads();
	if (threadIdx.x < MOTION_SUM_WORDS) {
		int64_t sum = 0;

		for (int i = 0; i < WARPS; i++)
			sum += warp_sums[i][threadIdx.x];
		atomicAdd((unsigned long long *)&s->sums[launch] + threadIdx.x, (unsigned long long)sum);
	}
}

static_assert(sizeof(struct sx_motion_sums) % sizeof(int64_t) == 0 && MOTION_SUM_WORDS <= 32 * WARPS,
	      "a thread for each sum");

/* Says what comes after a pass. */
static __device__ void choose_next(struct motion_state *s, const struct sx_motion_ego_search *e, int pass)
{
	const bool ok = s->ego.verdict == SX_MOTION_STEP_FOUND;

	s->last = e->start;
	s->last_offset = s->prior.px;
	s->found = 0;
	s->done = 0;
	if (pass == MOTION_EXPECTED)
		s->next = sx_motion_is_good(&s->ego) ? MOTION_AGAIN : MOTION_VOTED;
	else
		s->next = !ok ? MOTION_NOTHING : pass == MOTION_VOTED ? MOTION_AGAIN : MOTION_GROUP;
}

static __global__ void __launch_bounds__(CONCLUDE_THREADS) conclude(const struct motion_work w, int pass)
{
	__shared__ struct sx_motion_ego_search search;
	__shared__ struct sx_motion_spread spread;
	__shared__ const struct sx_motion_sums *sums;
	struct motion_state *s = w.state;
	const int thread = (int)threadIdx.x;

	if (!motion_is_next(s, (uint32_t)pass))
		return;
	/* the sums of the round before the last launch that ran */
	motion_copy(&search, &s->search[(s->done ? s->done : SX_MOTION_SUMS_MOST - 1) % 2], sizeof(search));
	if (thread == 0) {
		sums = &s->sums[(s->done ? s->done : SX_MOTION_SUMS_MOST) - 1];
		if (!s->done)
			sx_motion_ego_next(&w.size.camera, sums, &search);
		sx_motion_ego_verdict(sums, &search, &spread);
	}
	__syncthreads();
	if (search.ego.verdict == SX_MOTION_STEP_FOUND) {
		if (thread < 7)
			sx_motion_spread_column(sums, thread, &spread);
		__syncthreads();
		if (thread < 6)
			sx_motion_spread_row(&w.size.camera, &search.ego, thread, &spread);
		__syncthreads();
		if (thread < 36)
			search.ego.covariance[thread] =
				sx_motion_spread_at(&w.size.camera, &spread, thread / 6, thread % 6);
	}
	__syncthreads();
	if (thread == 0) {
		sx_motion_ego_conclude(&w.size.camera, &search);
		s->ego = search.ego;
		choose_next(s, &search, pass);
	}
}

extern "C" cudaError_t sx_motion_cuda_ego(const struct motion_work *w, const struct motion_frame *f, int pass,
					  cudaStream_t stream)
{
	const int cells = w->cells.columns * w->cells.rows, most = (cells + 32 * WARPS - 1) / (32 * WARPS);
	const unsigned blocks = (unsigned)(most < 2 * w->size.sms ? most : 2 * w->size.sms);

	for (int launch = 0; launch < SX_MOTION_SUMS_MOST; launch++)
		SX_LAUNCH(ego, blocks ? blocks : 1, 32 * WARPS, 0, stream, *w, *f, pass, launch);
	SX_LAUNCH(conclude, 1, CONCLUDE_THREADS, 0, stream, *w, pass);
	return SX_LAUNCHED();
}
