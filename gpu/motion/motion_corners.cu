/*
 * Corners on the GPU. Must equal sx_motion_corners() (stages/motion/corners.h) with the owners of
 * sx_motion_owners() byte for byte. It also clears the flows.
 *
 * Work:   a block takes 4 cells of a row, in pieces of 32x8 px. Threads multiply the gradients of the piece, add up 5
 *         rows of the products, then 5 columns of these sums, and score a pixel each. The best pixel of a cell is the
 *         largest word of score and place. A stixel is looked for only where a feature is.
 * Memory: grey levels and disparities once, with their borders.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/motion/motion.cuh"
#include "stages/motion/view.h"

#define THREADS 256
#define CELLS 4 /* cells of a block: their pieces are 32 px wide, as cells are 8, 16, ... px */
#define WINDOW 2
#define PIECE_X 32
#define PIECE_Y 8
#define WIDE (PIECE_X + 2 * WINDOW)
#define HIGH (PIECE_Y + 2 * WINDOW)

/* Products of gradients, and sums of them. */
struct products {
	int32_t xx, yy, xy;
};

static __device__ void score_piece(const struct sx_motion_view *v, int left, int top, int first_x,
				   int first_y, int size, struct products (*at)[WIDE],
				   struct products (*sums)[WIDE], unsigned long long *best)
{
	const int width = v->grey.width, height = v->grey.height;
	const int x = left + (int)threadIdx.x % PIECE_X, y = top + (int)threadIdx.x / PIECE_X;

	for (int i = (int)threadIdx.x; i < HIGH * WIDE; i += THREADS) {
		const int px = left - WINDOW + i % WIDE, py = top - WINDOW + i / WIDE;
		struct products p = {0, 0, 0};

		if (px >= 1 && py >= 1 && px < width - 1 && py < height - 1) {
			const uint8_t *row = motion_row<const uint8_t>(&v->grey, py) + px;
			const int gx = row[1] - row[-1];
			const int gy = row[v->grey.pitch] - row[-(ptrdiff_t)v->grey.pitch];

			p.xx = gx * gx;
			p.yy = gy * gy;
			p.xy = gx * gy;
		}
		at[i / WIDE][i % WIDE] = p;
	}
	__syncthreads();
	for (int i = (int)threadIdx.x; i < PIECE_Y * WIDE; i += THREADS) {
		struct products p = {0, 0, 0};

		for (int j = 0; j <= 2 * WINDOW; j++) {
			p.xx += at[i / WIDE + j][i % WIDE].xx;
			p.yy += at[i / WIDE + j][i % WIDE].yy;
			p.xy += at[i / WIDE + j][i % WIDE].xy;
		}
		sums[i / WIDE][i % WIDE] = p;
	}
	__syncthreads();
	if (x >= SX_MOTION_MARGIN && y >= SX_MOTION_MARGIN && x < width - SX_MOTION_MARGIN &&
	    y < height - SX_MOTION_MARGIN && y < first_y + size) {
		struct products p = {0, 0, 0};
		uint32_t score;

		for (int i = 0; i <= 2 * WINDOW; i++) {
			p.xx += sums[threadIdx.x / PIECE_X][threadIdx.x % PIECE_X + i].xx;
			p.yy += sums[threadIdx.x / PIECE_X][threadIdx.x % PIECE_X + i].yy;
			p.xy += sums[threadIdx.x / PIECE_X][threadIdx.x % PIECE_X + i].xy;
		}
		score = sx_motion_score_of(p.xx, p.yy, p.xy);
		if (score >= SX_MOTION_SCORE_LEAST &&
		    sx_motion_disparity_q8(&v->disparity, x, y) >= SX_MOTION_LEAST_Q8) {
			/* of equal scores the uppermost, then the leftmost is the largest word */
			const uint32_t place = (uint32_t)(y - first_y) << 16 | (uint32_t)(x - first_x);

			atomicMax(&best[(x - first_x) / size], (unsigned long long)score << 32 | (~place));
		}
	}
	__syncthreads();
}

/* Returns the last object stixel that covers a pixel, or SX_MOTION_NO_OWNER. */
static __device__ uint32_t owner_of(const struct motion_work &w, int x, int y)
{
	const int column = x / w.size.width;

	if (column >= w.size.columns)
		return SX_MOTION_NO_OWNER;
	for (uint32_t i = w.offsets[column + 1]; i > w.offsets[column]; i--) {
		const struct stixel *s = &w.stixels[i - 1];

		if (s->kind == STIXEL_OBJECT && s->disparity_q7 != STIXEL_DISPARITY_UNKNOWN &&
		    y >= s->row_top && y <= s->row_bottom)
			return i - 1;
	}
	return SX_MOTION_NO_OWNER;
}

static __global__ void __launch_bounds__(THREADS)
	corners(const struct motion_work w, const struct motion_frame f)
{
	__shared__ struct products at[HIGH][WIDE], sums[PIECE_Y][WIDE];
	__shared__ unsigned long long best[CELLS];
	const struct sx_motion_view v = w.views[w.state->turn.now];
	const int size = w.cells.size, first = (int)blockIdx.x * CELLS;
	const int left = first * size, top = (int)blockIdx.y * size;

	if (threadIdx.x < CELLS)
		best[threadIdx.x] = 0;
	__syncthreads();
	for (int y = top; y < top + size; y += PIECE_Y)
		for (int x = left; x < left + CELLS * size; x += PIECE_X)
			score_piece(&v, x, y, left, top, size, at, sums, best);
	if (threadIdx.x < CELLS && first + (int)threadIdx.x < w.cells.columns) {
		const int cell = (int)blockIdx.y * w.cells.columns + first + (int)threadIdx.x;
		const uint32_t place = ~(uint32_t)best[threadIdx.x];
		struct sx_motion_feature found = {0, 0, 0, 0, 0, 0, 0};
		struct sx_motion_flow flow = {0, 0, 0, 0, 0, 0, 0, SX_MOTION_UNKNOWN};

		found.score = (uint32_t)(best[threadIdx.x] >> 32);
		if (found.score) {
			const struct sx_road *road = &f.at.road->road;

			found.x = left + (int)(place & 0xffff);
			found.y = top + (int)(place >> 16);
			found.disparity_q8 = sx_motion_disparity_q8(&v.disparity, found.x, found.y);
			sx_motion_set_kind(owner_of(w, found.x, found.y), road,
					   sx_motion_road_near_q4(road, &w.size.camera), &found);
		}
		f.at.features[cell] = found;
		f.at.flows[cell] = flow;
	}
}

extern "C" cudaError_t sx_motion_cuda_corners(const struct motion_work *w, const struct motion_frame *f,
					      cudaStream_t stream)
{
	const dim3 grid((unsigned)(w->cells.columns + CELLS - 1) / CELLS, (unsigned)w->cells.rows);

	SX_LAUNCH(corners, grid, THREADS, 0, stream, *w, *f);
	return SX_LAUNCHED();
}
