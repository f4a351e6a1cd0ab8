/*
 * Cuts ground at borders of its classes, on the GPU. Must equal sx_class_cut_column()
 * (stages/stixels/class_cut.h) byte for byte.
 *
 * Work:   a warp takes a column, and a lane a class of ground. The warp walks up each segment of ground; the
 *         lanes find the cheapest class of each row. One lane goes back and writes the list.
 * Memory: scores of the ground's cells once; 8 bytes of shared memory per cell, and the table of energies.
 * Ranges: a sum and its class are one key of 32 bits: sums stay below 2^20.
 * Shapes: up to SX_CLASS_CUT_ROWS cells per column, up to 32 classes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/class_cut.h"

#include "gpu/cuda.cuh"
#include "gpu/stixels/class_cut_cuda.h"
#include "gpu/warp.cuh"

#define WARPS 2
#define ENERGIES 256
#define CLASS_BITS 5

struct class_cut_work {
	struct sx_class_cut table;
	const struct sx_cuda_scores *in;
	const uint16_t *cells;
	const uint8_t *scores;
	size_t cells_pitch, scores_pitch; /* bytes */
	struct sx_segment *list;
	uint16_t *count;
	int columns, rows;
};

static_assert(SX_CLASSES_MAX == 1 << CLASS_BITS && SX_CLASSES_MAX <= 32, "a lane has one class");

/*
 * Finds the cheapest sequence of classes up to each row of a segment of ground, as walk() in
 * stages/stixels/class_cut.c does. score: of the lane's class in row 0. Returns the class of the end in all lanes.
 */
__device__ static int walk(const struct sx_class_cut &t, const uint16_t *energy, const uint16_t *cells,
			   const uint8_t *score, const struct sx_segment &s, struct sx_class_cut_row *row,
			   int lane)
{
	const struct sx_class_cut_rows rows = sx_class_cut_rows_of(&s, cells);
	const bool live = lane < t.ground;
	uint32_t sum = 0, best = 0;
	uint8_t next = live ? score[s.v_bottom * t.classes] : 0;

	for (int v = s.v_bottom; v <= (int)s.v_top; v++) {
		const uint32_t change = (best >> CLASS_BITS) + (uint32_t)t.cost;
		const bool changes = live && change < sum && v >= rows.first && v <= rows.last;
		const uint32_t anew = __ballot_sync(SX_WARP_ALL_LANES, changes);
		const uint16_t now = energy[next];

		if (live && v < (int)s.v_top)
			next = score[(v + 1) * t.classes]; /* loads while the lanes compare */
		if (lane == 0) {
			row[v].anew = anew;
			row[v].best = (uint8_t)(best & (SX_CLASSES_MAX - 1));
		}
		sum = (changes ? change : sum) + now;
		best = sx_warp_min(live ? sum << CLASS_BITS | (uint32_t)lane : 0xffffffffu);
	}
	return (int)(best & (SX_CLASSES_MAX - 1));
}

static __global__ void __launch_bounds__(32 * WARPS) cut(const struct class_cut_work w)
{
	SX_DYNAMIC_SHARED(struct sx_class_cut_row, shared);
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	const int u = (int)blockIdx.x * WARPS + warp;
	struct sx_class_cut_row *row = shared + warp * w.rows;
	uint16_t *energy = (uint16_t *)(shared + WARPS * w.rows);
	const uint16_t *cells = (const uint16_t *)((const uint8_t *)w.cells + (size_t)u * w.cells_pitch);
	struct sx_segment *list = w.list + (size_t)u * (size_t)w.rows;
	int n, parts = 0;

	if (!w.in->data)
		return;
	for (int c = (int)threadIdx.x; c < ENERGIES; c += 32 * WARPS)
		energy[c] = w.table.energy[c];
	__syncthreads();
	if (u >= w.columns)
		return;
	n = w.count[u];
	for (int i = 0; i < n; i++) {
		const struct sx_segment s = list[i];

		if (s.kind == STIXEL_GROUND) {
			const uint8_t *score = w.scores + (size_t)u * w.scores_pitch +
					       w.table.class_of[lane < w.table.ground ? lane : 0];
			const int last = walk(w.table, energy, cells, score, s, row, lane);

			if (lane == 0)
				parts += sx_class_cut_back(&s, last, row);
		} else {
			parts++;
		}
	}
	__syncwarp(); /* wait until all lanes have read the list */
	if (lane > 0 || parts > w.table.most)
		return;
	sx_class_cut_spread(&w.table, row, list, n, parts);
	w.count[u] = (uint16_t)parts;
}

extern "C" cudaError_t sx_class_cut_cuda_run(const struct sx_class_cut *t, const struct sx_cuda_scores *in,
					     const struct sx_image *columns, const struct sx_image *scores,
					     const struct sx_segments *segments, cudaStream_t stream)
{
	struct class_cut_work w = {};

	if (t->ground == 0)
		return cudaSuccess;
	w.table = *t;
	w.in = in;
	w.cells = (const uint16_t *)columns->data;
	w.cells_pitch = columns->pitch;
	w.scores = (const uint8_t *)scores->data;
	w.scores_pitch = scores->pitch;
	w.list = segments->list;
	w.count = segments->count;
	w.columns = segments->columns;
	w.rows = segments->capacity;
	SX_LAUNCH(cut, (unsigned)(w.columns + WARPS - 1) / WARPS, 32 * WARPS,
		  (size_t)WARPS * (size_t)w.rows * sizeof(struct sx_class_cut_row) +
			  ENERGIES * sizeof(uint16_t),
		  stream, w);
	return SX_LAUNCHED();
}
