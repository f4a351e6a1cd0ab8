/*
 * Plan of a frame, and its view, on the GPU. Must equal sx_motion_view_fill() and sx_motion_view_repeats()
 * (stages/motion/view.h) byte for byte.
 *
 * plan:   one block begins the frame; the others copy stixels, which lie in the host's memory, because later kernels
 *         read them many times.
 * view:   a block takes 64x32 px with a border of 4 px. Threads copy pixels, make descriptors, and compare the grey
 *         levels with those before. The half image of the block has a border of 2 px, for descriptors of its own.
 * Memory: grey levels, disparities, and grey levels before once; every image of the view is written once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/motion/motion.cuh"
#include "stages/motion/view.h"

#define PLAN_THREADS 256
#define PLAN_BLOCKS 32
#define TILE_X 64
#define TILE_Y 32
#define BORDER (2 * SX_MOTION_CENSUS_RADIUS)
#define WIDE (TILE_X + 2 * BORDER)
#define HIGH (TILE_Y + 2 * BORDER)
#define HALF_WIDE (WIDE / 2)
#define HALF_HIGH (HIGH / 2)
#define VIEW_THREADS 256

static __device__ void begin_frame(const struct motion_work &w, const struct motion_frame &f)
{
	struct motion_state *s = w.state;
	const struct sx_motion_step stands = sx_motion_no_step();
	const struct sx_motion_turn turn = *f.at.turn;
	const bool first = turn.before < 0;

	s->turn = turn;
	s->number = *f.at.number;
	s->prior = sx_motion_range_next(&s->learned.range);
	s->seconds = (double)turn.span_ns / 1e9;
	s->stixels = *f.at.count < w.size.most ? *f.at.count : w.size.most;
	if (turn.restarts)
		s->learned.has_step = 0;
	s->differs = 0;
	s->next = first ? MOTION_NOTHING : s->learned.has_step ? MOTION_EXPECTED : MOTION_VOTED;
	s->least = ~0ull;
	s->judges = 0;
	s->found = 0;
	s->done = 0;
	s->ego = sx_motion_no_ego(first ? SX_MOTION_STEP_FIRST : SX_MOTION_STEP_FEW, &stands, &s->prior);
}

static __global__ void __launch_bounds__(PLAN_THREADS)
	plan(const struct motion_work w, const struct motion_frame f)
{
	const unsigned threads = (gridDim.x - 1) * blockDim.x;
	const unsigned count = *f.at.count < w.size.most ? *f.at.count : w.size.most;

	if (blockIdx.x == 0) {
		if (threadIdx.x == 0)
			begin_frame(w, f);
		return;
	}
	for (unsigned i = (blockIdx.x - 1) * blockDim.x + threadIdx.x; i < count; i += threads)
		((uint4 *)w.stixels)[i] = ((const uint4 *)f.at.stixels)[i];
	for (unsigned i = (blockIdx.x - 1) * blockDim.x + threadIdx.x; i <= (unsigned)w.size.columns;
	     i += threads)
		w.offsets[i] = f.at.offsets[i];
}

static_assert(sizeof(struct stixel) == sizeof(uint4), "copied as one word");

/* Returns the descriptor of a pixel of an image in shared memory. */
template <int width> __device__ __forceinline__ uint32_t describe(const uint8_t *centre)
{
	uint32_t bits = 0;

#pragma unroll
	for (int dy = -SX_MOTION_CENSUS_RADIUS; dy <= SX_MOTION_CENSUS_RADIUS; dy++)
#pragma unroll
		for (int dx = -SX_MOTION_CENSUS_RADIUS; dx <= SX_MOTION_CENSUS_RADIUS; dx++)
			if (dx || dy)
				bits = bits << 1 | (centre[dy * width + dx] > *centre);
	return bits;
}

__device__ __forceinline__ bool has_window(const struct sx_image *image, int x, int y)
{
	return x >= SX_MOTION_CENSUS_RADIUS && y >= SX_MOTION_CENSUS_RADIUS &&
	       x < image->width - SX_MOTION_CENSUS_RADIUS && y < image->height - SX_MOTION_CENSUS_RADIUS;
}

static __global__ void __launch_bounds__(VIEW_THREADS)
	view(const struct motion_work w, const struct motion_frame f)
{
	__shared__ uint8_t grey[HIGH][WIDE], half[HALF_HIGH][HALF_WIDE];
	const struct sx_motion_turn *turn = &w.state->turn;
	const struct sx_motion_view v = w.views[turn->now];
	const struct sx_motion_view *before = turn->before < 0 ? NULL : &w.views[turn->before];
	const int left = (int)blockIdx.x * TILE_X, top = (int)blockIdx.y * TILE_Y;
	const int width = v.grey.width, height = v.grey.height;
	int differs = 0;

	/* beyond a border the nearest pixel counts, as sx_pyramid_halve() does */
	for (int i = (int)threadIdx.x; i < HIGH * WIDE; i += VIEW_THREADS) {
		const int x = sx_motion_clamp(left - BORDER + i % WIDE, 0, width - 1);
		const int y = sx_motion_clamp(top - BORDER + i / WIDE, 0, height - 1);

		grey[i / WIDE][i % WIDE] = motion_row<const uint8_t>(&f.left, y)[x];
	}
	__syncthreads();
	for (int i = (int)threadIdx.x; i < HALF_HIGH * HALF_WIDE; i += VIEW_THREADS) {
		const uint8_t *a = &grey[i / HALF_WIDE * 2][i % HALF_WIDE * 2], *b = a + WIDE;

		half[i / HALF_WIDE][i % HALF_WIDE] = (uint8_t)((a[0] + a[1] + b[0] + b[1] + 2) / 4);
	}
	__syncthreads();
	for (int i = (int)threadIdx.x; i < TILE_X * TILE_Y; i += VIEW_THREADS) {
		const int x = left + i % TILE_X, y = top + i / TILE_X;
		const uint8_t *p = &grey[i / TILE_X + BORDER][i % TILE_X + BORDER];

		if (x >= width || y >= height)
			continue;
		motion_row<uint8_t>(&v.grey, y)[x] = *p;
		motion_row<uint32_t>(&v.census, y)[x] = has_window(&v.grey, x, y) ? describe<WIDE>(p) : 0;
		motion_row<uint16_t>(&v.disparity, y)[x] = motion_row<const uint16_t>(&f.disparity, y)[x];
		if (before)
			differs |= motion_row<const uint8_t>(&before->grey, y)[x] != *p;
	}
	for (int i = (int)threadIdx.x; i < TILE_X * TILE_Y / 4; i += VIEW_THREADS) {
		const int u = i % (TILE_X / 2), k = i / (TILE_X / 2), x = left / 2 + u, y = top / 2 + k;
		const uint8_t *p = &half[k + SX_MOTION_CENSUS_RADIUS][u + SX_MOTION_CENSUS_RADIUS];

		if (x >= v.half.width || y >= v.half.height)
			continue;
		motion_row<uint8_t>(&v.half, y)[x] = *p;
		motion_row<uint32_t>(&v.half_census, y)[x] =
			has_window(&v.half, x, y) ? describe<HALF_WIDE>(p) : 0;
	}
	if (__syncthreads_or(differs) && threadIdx.x == 0)
		atomicOr(&w.state->differs, 1u);
}

extern "C" cudaError_t sx_motion_cuda_plan(const struct motion_work *w, const struct motion_frame *f,
					   cudaStream_t stream)
{
	SX_LAUNCH(plan, 1 + PLAN_BLOCKS, PLAN_THREADS, 0, stream, *w, *f);
	return SX_LAUNCHED();
}

extern "C" cudaError_t sx_motion_cuda_fill_view(const struct motion_work *w, const struct motion_frame *f,
						cudaStream_t stream)
{
	const dim3 grid((unsigned)(w->size.image_width + TILE_X - 1) / TILE_X,
			(unsigned)(w->size.image_height + TILE_Y - 1) / TILE_Y);

	SX_LAUNCH(view, grid, VIEW_THREADS, 0, stream, *w, *f);
	return SX_LAUNCHED();
}
