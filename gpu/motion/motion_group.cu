/*
 * Velocities of stixels on the GPU. Must equal sx_motion_group() (stages/motion/group.h) byte for byte.
 *
 * group:  a warp takes a stixel. Lanes look through the cells of its group, in their order, and list the members. A
 *         lane takes every 32nd member; sums go over the warp, and all lanes solve them. The medians are found bit by
 *         bit.
 * finish: one block joins stixels that move alike, drops sets that are too small, and writes what the host reads.
 * Memory: 3 KB of shared memory for a stixel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/motion/motion.cuh"
#include "gpu/stereo/union_find.cuh"

#define WARPS 4
#define BLOCKS_PER_SM 8
#define FINISH_THREADS 1024
#define SHIFT_BITS 16
#define SHIFT_MOST 16384 /* 1024 SX_MOTION_SHIFT_MOST */
#define VELOCITY_WORDS (sizeof(struct sx_motion_velocity) / 4)

/* A group in shared memory. x, z: shifts that its features say alone, plus SHIFT_MOST. */
struct group {
	uint16_t members[SX_MOTION_GROUP_MOST], x[SX_MOTION_GROUP_MOST], z[SX_MOTION_GROUP_MOST];
	uint64_t velocity[VELOCITY_WORDS / 2];
};

/* What all lanes of a warp know of their group. */
struct task {
	const struct motion_work *w;
	const struct motion_frame *f;
	struct group *g;
	struct sx_motion_round round;
	double range;
	int count, lane;
};

/* Lists the members as sx_motion_group_members() does. Returns their number in all lanes. */
static __device__ int gather(const struct motion_work &w, const struct motion_frame &f,
			     const struct stixel *s, struct group *g, int lane)
{
	const struct sx_motion_group_place p = sx_motion_group_place_of(&w.cells, s, w.size.width);
	const int columns = p.right_cell - p.left_cell + 1;
	const int cells = columns * (p.bottom_cell - p.top_cell + 1);
	int count = 0;

	__syncwarp(); /* all lanes have read the members of the stixel before */
	for (int first = 0; first < cells; first += 32) {
		const int i = first + lane;
		const int cell = (p.top_cell + i / columns) * w.cells.columns + p.left_cell + i % columns;
		const bool has =
			i < cells && sx_motion_group_has(&p, &f.at.features[cell], &f.at.flows[cell]);
		const uint32_t lanes = __ballot_sync(SX_WARP_ALL_LANES, has);
		const int at = count + __popc(lanes & ((1u << lane) - 1));

		if (has && at < SX_MOTION_GROUP_MOST)
			g->members[at] = (uint16_t)cell;
		count += __popc(lanes);
	}
	__syncwarp();
	return count < SX_MOTION_GROUP_MOST ? count : SX_MOTION_GROUP_MOST;
}

/* Returns the lower median of n values, in all lanes: bit by bit from the highest on. */
static __device__ int32_t median(const uint16_t *v, int n, int lane)
{
	uint32_t found = 0;
	int k = (n - 1) / 2;

	for (int bit = SHIFT_BITS - 1; bit >= 0; bit--) {
		int below = 0;

		for (int first = 0; first < n; first += 32)
			below += __popc(__ballot_sync(SX_WARP_ALL_LANES,
						      first + lane < n && (uint32_t)v[first + lane] >> bit ==
										  found >> bit));
		if (k >= below) {
			k -= below;
			found |= 1u << bit;
		}
	}
	return (int32_t)found - SHIFT_MOST;
}

/* Sets *at to the medians of what single features say. False: none says anything. */
static __device__ bool begin_group(const struct task &t, struct sx_motion_group_at *at)
{
	int n = 0;

	for (int first = 0; first < t.count; first += 32) {
		int32_t shift[2] = {0, 0};
		bool says = false;
		uint32_t lanes;
		int to;

		if (first + t.lane < t.count) {
			const int cell = t.g->members[first + t.lane];

			says = sx_motion_single(&t.w->size.camera, &t.round, &t.f->at.features[cell],
						&t.f->at.flows[cell], shift);
		}
		lanes = __ballot_sync(SX_WARP_ALL_LANES, says);
		to = n + __popc(lanes & ((1u << t.lane) - 1));
		if (says) {
			t.g->x[to] = (uint16_t)(shift[0] + SHIFT_MOST);
			t.g->z[to] = (uint16_t)(shift[1] + SHIFT_MOST);
		}
		n += __popc(lanes);
	}
	__syncwarp();
	if (!n)
		return false;
	at->x[0] = (double)median(t.g->x, n, t.lane) / 1024.0;
	at->x[1] = (double)median(t.g->z, n, t.lane) / 1024.0;
	at->x[2] = at->x[3] = at->x[4] = 0.0;
	return true;
}

/* Adds up the group's features at a hypothesis, in all lanes. */
static __device__ void add_group(const struct task &t, const struct sx_motion_group_at *at, bool standing,
				 struct sx_motion_group_sums *s)
{
	constexpr unsigned words = sizeof(*s) / sizeof(int64_t);
	const struct sx_motion_round moving = sx_motion_moving(&t.round, at->x[0], at->x[1]);

#pragma unroll
	for (unsigned i = 0; i < words; i++)
		((int64_t *)s)[i] = 0;
	for (int i = t.lane; i < t.count; i += 32) {
		const int cell = t.g->members[i];

		sx_motion_group_add(&t.w->size.camera, &moving, at, standing, &t.f->at.features[cell],
				    &t.f->at.flows[cell], s);
	}
#pragma unroll
	for (unsigned i = 0; i < words; i++)
		((int64_t *)s)[i] = sx_warp_sum64(((int64_t *)s)[i]);
}

/* Improves a hypothesis. *s: sums at the result. */
static __device__ bool settle(const struct task &t, bool standing, int rounds, struct sx_motion_group_at *at,
			      struct sx_motion_group_sums *s)
{
	for (int round = 0; round <= rounds; round++) {
		add_group(t, at, standing, s);
		if (round < rounds && !sx_motion_group_improve(s, t.range, at))
			return false;
	}
	return true;
}

/* Measures a stixel. The result is the same in all lanes. */
static __device__ void measure(const struct task &t, const struct stixel *s, struct sx_motion_velocity *v)
{
	struct sx_motion_group_at moves, stands = {{0.0, 0.0, 0.0, 0.0, 0.0}};
	struct sx_motion_group_sums m, n;

	v->features = (uint32_t)t.count;
	if (t.count < SX_MOTION_GROUP_LEAST || !begin_group(t, &moves) ||
	    !settle(t, false, SX_MOTION_GROUP_ROUNDS, &moves, &m) ||
	    !settle(t, true, SX_MOTION_STANDING_ROUNDS, &stands, &n))
		return;
	sx_motion_group_conclude(&t.w->size.camera, s, t.w->size.width, t.w->state->seconds, &t.w->state->ego,
				 t.range, &moves, &m, &n, v);
}

static __global__ void __launch_bounds__(32 * WARPS)
	measure_groups(const struct motion_work w, const struct motion_frame f)
{
	__shared__ struct group groups[WARPS];
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	const struct motion_state *state = w.state;
	const bool measures = motion_is_next(state, MOTION_GROUP);
	const struct sx_camera *c = &w.size.camera;
	const double least =
		measures ? c->fx * c->baseline_m / sx_motion_farthest_of(c, state->seconds) : 0.0;
	struct group *g = &groups[warp];

	for (uint32_t i = blockIdx.x * WARPS + (uint32_t)warp; i < state->stixels; i += gridDim.x * WARPS) {
		const struct stixel s = w.stixels[i];
		struct sx_motion_velocity v = sx_motion_no_velocity();

		if (measures && sx_motion_group_asks(&s, &state->ego, least)) {
			struct task t;

			t.w = &w;
			t.f = &f;
			t.g = g;
			t.round.step = state->ego.step;
			t.round.rotation = sx_motion_rotation_of(&state->ego.step);
			t.round.offset = state->ego.used.px;
			t.round.scale = 0.0;
			t.range = sx_motion_group_range((double)s.disparity_q7 / 128.0);
			t.lane = lane;
			t.count = gather(w, f, &s, g, lane);
			measure(t, &s, &v);
		}
		__syncwarp();
		if (lane == 0)
			*(struct sx_motion_velocity *)g->velocity = v;
		__syncwarp();
		if (lane < (int)VELOCITY_WORDS) {
			((uint32_t *)&w.velocities[i])[lane] = ((const uint32_t *)g->velocity)[lane];
			((uint32_t *)&f.at.velocities[i])[lane] = ((const uint32_t *)g->velocity)[lane];
		}
		__syncwarp();
	}
}

static_assert(VELOCITY_WORDS <= 32 && sizeof(struct sx_motion_velocity) % 8 == 0, "a word a lane");

/* Drops stixels that move in small sets: sx_motion_group_drop(). All threads of the block. */
static __device__ void drop(const struct motion_work &w, const struct motion_frame &f, uint32_t count)
{
	uint32_t *parent = w.parent, *members = w.parent + w.size.most;
	const struct sx_motion_velocity *v = w.velocities;

	for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
		parent[i] = i;
		members[i] = 0;
	}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
		if (v[i].state != SX_MOTION_STATE_MOVES)
			continue;
		for (uint32_t k = i + 1;
		     k < count && w.stixels[k].column <= w.stixels[i].column + SX_MOTION_APART_COLUMNS; k++)
			if (v[k].state == SX_MOTION_STATE_MOVES &&
			    sx_motion_is_alike(&w.stixels[i], &w.stixels[k], &v[i], &v[k]))
				sx_union_find_join(parent, i, k);
	}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
		if (v[i].state == SX_MOTION_STATE_MOVES)
			atomicAdd(&members[sx_union_find_find(parent, i)], 1u);
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
		if (v[i].state == SX_MOTION_STATE_MOVES &&
		    atomicAdd(&members[sx_union_find_find(parent, i)], 0u) < SX_MOTION_ALIKE_LEAST)
			f.at.velocities[i].state = SX_MOTION_STATE_UNKNOWN;
}

static __global__ void __launch_bounds__(FINISH_THREADS)
	finish(const struct motion_work w, const struct motion_frame f)
{
	struct motion_state *s = w.state;

	if (motion_is_next(s, MOTION_GROUP))
		drop(w, f, s->stixels);
	if (threadIdx.x == 0) {
		if (s->turn.before >= 0 && !s->differs)
			s->ego.verdict = SX_MOTION_STEP_REPEATS;
		sx_motion_learn(&s->learned, &s->ego, s->turn.captured_ns);
		*f.at.done = s->number;
	}
	motion_copy(f.at.ego, &s->ego, sizeof(s->ego));
}

extern "C" cudaError_t sx_motion_cuda_group(const struct motion_work *w, const struct motion_frame *f,
					    cudaStream_t stream)
{
	const unsigned blocks = (w->size.most + WARPS - 1) / WARPS,
		       most = (unsigned)(BLOCKS_PER_SM * w->size.sms);

	SX_LAUNCH(measure_groups, blocks < most ? (blocks ? blocks : 1) : most, 32 * WARPS, 0, stream, *w,
		  *f);
	return SX_LAUNCHED();
}

extern "C" cudaError_t sx_motion_cuda_finish(const struct motion_work *w, const struct motion_frame *f,
					     cudaStream_t stream)
{
	SX_LAUNCH(finish, 1, FINISH_THREADS, 0, stream, *w, *f);
	return SX_LAUNCHED();
}
