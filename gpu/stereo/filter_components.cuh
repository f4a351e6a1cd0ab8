/*
 * Speckles of the filters' strips: connected components by union-find over runs of a row. They are found
 * first inside a strip, in shared memory, then across its borders to both neighbours, in a union-find in
 * device memory (gpu/stereo/union_find.cuh). One file includes this header.
 *
 * Ranges:  ROWS * width <= 8192; sizes inside a strip have 16 bits, two in a word that is added to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_FILTER_COMPONENTS_CUH
#define SX_GPU_STEREO_FILTER_COMPONENTS_CUH

#include "gpu/cuda.cuh"
#include "gpu/stereo/median.cuh"
#include "gpu/stereo/union_find.cuh"
#include "stages/stereo/flat.h"
#include "stages/stereo/left_right.h"

#define ALL_LANES 0xffffffffu
#define INVALID ((int)SX_DISPARITY_INVALID)

/*
 * Words of the strip's union-find. For the first pixel of a run: its parent. For the other pixels: TAIL | the
 * first pixel.
 */
#define NO_RUN UINT32_MAX
#define TAIL 0x80000000u

/* Arguments of a launch of the filters. */
struct filter_work {
	struct sx_median_map left, right;		    /* dst: NULL without median */
	uint8_t *checked, *final_map, *confidence, *labels; /* confidence: NULL if smooth.cu handles it */
	size_t checked_pitch, final_pitch, confidence_pitch, labels_pitch;
	const uint8_t *flat[2]; /* tiles of both images; NULL: none */
	size_t flat_pitch[2];
	struct sx_union_find union_find;
	uint32_t *arrived; /* one per border between strips: number of its two blocks that have arrived */
	uint32_t size_limit;
	int width, height, stride, connected; /* stride: pixels of a row in shared memory, a multiple of 8 */
	int tolerance, keep, min_disparity, end; /* end: columns from there on are not measured */
	enum sx_median_border border;
};

/* ---- components of a strip ---- */

/* Returns true if a and b are connected. Has no branches, because whole warps call it. */
__device__ __forceinline__ bool are_connected(const struct filter_work *w, int a, int b)
{
	return (a != INVALID) & (b != INVALID) & (abs(a - b) <= w->connected);
}

/*
 * A tile: 32 columns of the strip's rows, one column per lane. Runs end at its sides, so one warp can find
 * and join them.
 */
struct filter_tile {
	int x, lane;
	bool inside;
};

__device__ __forceinline__ bool tile_at(struct filter_tile *t, const struct filter_work *w, int i)
{
	t->lane = (int)threadIdx.x % 32;
	t->x = 32 * i + t->lane;
	t->inside = t->x < w->width;
	return 32 * i < w->width;
}

/*
 * Loops over the tiles; the warps take them in turn. Lanes that diverged are synchronised before the next
 * tile.
 */
#define FOR_TILES(t, w) \
	for (int i_ = (int)threadIdx.x / 32; __syncwarp(), tile_at(&(t), w, i_); i_ += (int)blockDim.x / 32)

/* Returns the lane of the run's first pixel. starts: lanes where runs start, as bits. */
__device__ __forceinline__ uint32_t first_of(uint32_t starts, int lane)
{
	return (uint32_t)(31 - __clz((int)(starts & ((2u << lane) - 1))));
}

/*
 * Returns, as bits, the lanes whose run must be joined with the run above. If several neighbours touch
 * between the same two runs, one of them is enough.
 */
__device__ __forceinline__ uint32_t joints(uint32_t touching, uint32_t connected, uint32_t connected_above)
{
	return touching & ~(touching << 1 & connected & connected_above);
}

/* Finds the runs and joins them inside tiles. */
template <int ROWS>
__device__ static void join_tiles(const struct filter_work *w, int y, const uint16_t *map, uint32_t *parent)
{
	struct filter_tile t;

	FOR_TILES(t, w)
	{
		uint32_t starts[ROWS], connected[ROWS], join[ROWS];
		int above = INVALID;

#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			const uint32_t at = (uint32_t)(r * w->stride + t.x);
			const int v = t.inside && y + r < w->height ? map[at] : INVALID,
				  left = __shfl_up_sync(ALL_LANES, v, 1);
			const bool beside = (t.lane != 0) & are_connected(w, v, left);

			connected[r] = __ballot_sync(ALL_LANES, beside);
			starts[r] = __ballot_sync(ALL_LANES, (v != INVALID) & !beside);
			join[r] = __ballot_sync(ALL_LANES, are_connected(w, v, above));
			if (r)
				join[r] = joints(join[r], connected[r], connected[r - 1]);
			if (t.x < w->stride)
				parent[at] =
					v == INVALID ? NO_RUN
					: beside
						? TAIL | (at - (uint32_t)t.lane + first_of(starts[r], t.lane))
						: at;
			above = v;
		}
		__syncwarp();
#pragma unroll
		for (int r = 1; r < ROWS; r++) {
			const uint32_t at = (uint32_t)(r * w->stride + t.x - t.lane);

			if (join[r] >> t.lane & 1)
				sx_union_find_join(parent, at + first_of(starts[r], t.lane),
						   at - (uint32_t)w->stride +
							   first_of(starts[r - 1], t.lane));
		}
	}
}

__device__ __forceinline__ uint32_t run_of(uint32_t *parent, uint32_t at)
{
	const uint32_t p = sx_union_find_word(parent, at);

	return p & TAIL ? p & ~TAIL : at;
}

/* Joins the runs on both sides of the borders between tiles. */
template <int ROWS>
__device__ static void join_sides(const struct filter_work *w, int y, const uint16_t *map, uint32_t *parent)
{
	const int sides = (w->width - 1) / 32;

	for (int i = (int)threadIdx.x; i < ROWS * sides; i += (int)blockDim.x) {
		const int r = i % ROWS, x = 32 * (i / ROWS + 1);
		const uint32_t at = (uint32_t)(r * w->stride + x);

		if (y + r < w->height && are_connected(w, map[at], map[at - 1]))
			sx_union_find_join(parent, at, run_of(parent, at - 1));
	}
}

/*
 * Sums the lengths of runs at their roots. Afterwards every first pixel has its root as parent. sizes: 16
 * bits per place.
 */
template <int ROWS>
__device__ static void count_runs(const struct filter_work *w, uint32_t *parent, uint32_t *sizes)
{
	struct filter_tile t;

	FOR_TILES(t, w)
	{
		uint32_t word[ROWS], tails[ROWS];

#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			word[r] = t.inside ? sx_union_find_word(parent, (uint32_t)(r * w->stride + t.x))
					   : NO_RUN;
			tails[r] = __ballot_sync(ALL_LANES, (word[r] != NO_RUN) & (word[r] >= TAIL));
		}
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			const uint32_t at = (uint32_t)(r * w->stride + t.x);
			const uint32_t behind = ~tails[r] & ~((2u << t.lane) - 1);

			if (!(word[r] & TAIL)) {
				const uint32_t root = sx_union_find_find(parent, at);
				const uint32_t length =
					(uint32_t)((behind ? __ffs((int)behind) - 1 : 32) - t.lane);

				atomicMin(&parent[at], root);
				atomicAdd(&sizes[root / 2], length << (16 * (root % 2)));
			}
		}
	}
}

/*
 * Writes the labels. 0: nothing to decide. Else 1 + place of the component's root, a node of the union-find.
 */
template <int ROWS>
__device__ static void label_strip(const struct filter_work *w, int y, const uint32_t *parent,
				   const uint16_t *sizes)
{
	const uint32_t base = blockIdx.x * (uint32_t)(ROWS * w->stride);
	struct filter_tile t;

	FOR_TILES(t, w)
	{
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			const uint32_t at = (uint32_t)(r * w->stride + t.x);
			const uint32_t word = t.inside ? parent[at] : NO_RUN;
			uint32_t label = 0;

			if (word != NO_RUN) {
				const uint32_t root = word & TAIL ? parent[word & ~TAIL] : word;

				label = sizes[root] <= w->size_limit ? root + 1 : 0;
			}
			if (label == at + 1) {
				w->union_find.parent[base + at] = base + at;
				w->union_find.size[base + at] = sizes[at];
			}
			if (t.inside && y + r < w->height)
				*reinterpret_cast<uint16_t *>(w->labels + (size_t)(y + r) * w->labels_pitch +
							      2 * t.x) = (uint16_t)label;
		}
	}
}

/* ---- across strips ---- */

__device__ __forceinline__ int load_u16(const uint8_t *data, size_t pitch, int x, int y)
{
	return __ldcg(reinterpret_cast<const uint16_t *>(data + (size_t)y * pitch) + x);
}

__device__ __forceinline__ uint32_t node_of(uint32_t base, int label)
{
	return label ? base + (uint32_t)label - 1 : SX_UNION_FIND_KEPT;
}

/* Joins row y, the first row of strip, with the row above. */
template <int ROWS> __device__ static void join_border(const struct filter_work *w, int strip)
{
	const uint32_t places = (uint32_t)(ROWS * w->stride), base = (uint32_t)strip * places;
	const int y = strip * ROWS;
	struct filter_tile t;

	FOR_TILES(t, w)
	{
		const int v = t.inside ? load_u16(w->checked, w->checked_pitch, t.x, y) : INVALID,
			  above = t.inside ? load_u16(w->checked, w->checked_pitch, t.x, y - 1) : INVALID,
			  left = __shfl_up_sync(ALL_LANES, v, 1),
			  above_left = __shfl_up_sync(ALL_LANES, above, 1);
		/* the first lane has no left neighbour here, so it may join once more than necessary */
		const uint32_t beside = __ballot_sync(ALL_LANES, (t.lane != 0) & are_connected(w, v, left)),
			       beside_above = __ballot_sync(
				       ALL_LANES, (t.lane != 0) & are_connected(w, above, above_left)),
			       touching = __ballot_sync(ALL_LANES, are_connected(w, v, above));

		if (joints(touching, beside, beside_above) >> t.lane & 1) {
			const int label = load_u16(w->labels, w->labels_pitch, t.x, y),
				  label_above = load_u16(w->labels, w->labels_pitch, t.x, y - 1);

			if (label || label_above)
				sx_union_find_unite(&w->union_find, node_of(base, label),
						    node_of(base - places, label_above));
		}
	}
}

/*
 * Joins the components across the borders of this strip. First makes all results of this block visible. At
 * each border the block that arrives second does the join. second[2]: in shared memory.
 */
template <int ROWS> __device__ static void join_neighbours(const struct filter_work *w, uint32_t *second)
{
	int strip = (int)blockIdx.x, strips = (int)gridDim.x;

	__threadfence();
	__syncthreads();
	if (threadIdx.x < 2) {
		int border = strip + (int)threadIdx.x; /* border above this strip, border below it */
		bool last = border > 0 && border < strips && atomicAdd(&w->arrived[border], 1u) == 1;

		if (last)
			w->arrived[border] = 0; /* reset for the next frame */
		second[threadIdx.x] = last;
		__threadfence();
	}
	__syncthreads();
	for (int i = 0; i < 2; i++)
		if (second[i])
			join_border<ROWS>(w, strip + i);
}

#endif
