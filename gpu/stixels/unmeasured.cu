/*
 * Removes unmeasured areas from the stixels, on the GPU. Must equal sx_unmeasured_part()
 * (stages/stixels/unmeasured_part.h) byte for byte.
 *
 * Work:   a warp takes a column. First it reads the column's cells and the left image's tiles, all rows at
 *         once, and sets one bit per measured row. Then a lane takes a segment. Lanes go through the rows of
 *         ground again, and clear the bits of rows that are no evidence of ground. If a segment may end in
 *         its middle, lanes go through its rows and read the right image's tiles. Sums over the lanes give
 *         the places of the parts.
 * Memory: cells and left tiles once, for ground twice; right tiles for ground, and where else they may matter; a
 *         byte and a bit of shared memory per cell.
 * Shapes: up to 2160 cells per column. One lane processes a whole list of more than 32 segments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/unmeasured_part.h"

#include <stddef.h>

#include "gpu/cuda.cuh"
#include "gpu/stixels/unmeasured_cuda.h"
#include "gpu/warp.cuh"
#include "stages/stixels/cells.h"
#include "stages/stixels/reach.h"

#define WARPS 4
struct unmeasured_work {
	struct sx_unmeasured_column first; /* first column */
	const uint32_t *reach;		   /* counts, SX_REACH_BINS */
	size_t cells_pitch;
	struct sx_segment *list;
	uint16_t *count;
	int columns, rows, width; /* columns, rows: of cells; width: of a column, px */
};

/* A segment in its lane, and how it is split. */
struct lane_segment {
	struct sx_segment s;
	int parts;	  /* runs of the segment; 0: this lane has no segment */
	bool whole;	  /* unknown as a whole */
	bool first, last; /* the first run, the last run is unknown */
	int first_top;	  /* top of the first run */
};

__device__ static int bits_set(const uint32_t *bits, int first, int last)
{
	int n = 0;

	for (int w = first / 32; w <= last / 32; w++)
		n += __popc(bits[w] & (w == first / 32 ? 0xffffffffu << first % 32 : 0xffffffffu) &
			    (w == last / 32 ? 0xffffffffu >> (31 - last % 32) : 0xffffffffu));
	return n;
}

/* Returns the segment of lane `from`, without its class, in all lanes. */
__device__ static struct sx_segment segment_of(const struct lane_segment *l, int from)
{
	struct sx_segment s = {};

	s.v_bottom = (uint16_t)__shfl_sync(SX_WARP_ALL_LANES, (int)l->s.v_bottom, from);
	s.v_top = (uint16_t)__shfl_sync(SX_WARP_ALL_LANES, (int)l->s.v_top, from);
	s.disparity_q7 = (uint16_t)__shfl_sync(SX_WARP_ALL_LANES, (int)l->s.disparity_q7, from);
	s.slope_q14 = (int16_t)__shfl_sync(SX_WARP_ALL_LANES, (int)l->s.slope_q14, from);
	s.kind = (uint8_t)__shfl_sync(SX_WARP_ALL_LANES, (int)l->s.kind, from);
	return s;
}

/* Finds the state of each row of ground by its line. All lanes process each segment of ground. */
__device__ static void look_ground(const struct sx_unmeasured_column *c, const struct lane_segment *l,
				   bool is_ground, uint8_t *row, uint32_t *measured, int lane)
{
	for (uint32_t left = __ballot_sync(SX_WARP_ALL_LANES, is_ground); left; left &= left - 1) {
		const struct sx_segment s = segment_of(l, __ffs((int)left) - 1);

		for (int w = s.v_bottom / 32; w <= (int)s.v_top / 32; w++) {
			const int v = 32 * w + lane;
			const bool inside = v >= (int)s.v_bottom && v <= (int)s.v_top;
			uint32_t none;

			if (inside)
				row[v] = sx_unmeasured_left_of(c, &s, v);
			none = __ballot_sync(SX_WARP_ALL_LANES, inside && row[v] != SX_ROW_MEASURED);
			if (lane == 0)
				measured[w] &= ~none;
		}
	}
	__syncwarp();
}

/*
 * Reads the right image's tiles for the holes of segments that may end in their middle. All lanes process
 * each of these segments.
 */
__device__ static void look_right(const struct sx_unmeasured_column *c, const struct lane_segment *l,
				  bool may_end, uint8_t *row, int lane)
{
	for (uint32_t left = __ballot_sync(SX_WARP_ALL_LANES, may_end); left; left &= left - 1) {
		const struct sx_segment s = segment_of(l, __ffs((int)left) - 1);

		for (int v = (int)s.v_bottom + lane; v <= (int)s.v_top; v += 32)
			if (row[v] == SX_ROW_HOLE)
				row[v] = sx_unmeasured_right(c, &s, v);
	}
	__syncwarp();
}

/* Returns the reach of the frame in all lanes, as sx_reach_of() does. */
__device__ static int32_t reach_of(const struct unmeasured_work &w, int lane)
{
	for (int i = 0; i < SX_REACH_BINS; i += 32) {
		const uint32_t seen = __ballot_sync(
			SX_WARP_ALL_LANES,
			i + lane < SX_REACH_BINS &&
				sx_reach_is_seen(w.reach[i + lane], w.columns, w.first.cell_height));

		if (seen)
			return sx_reach_q7(i + __ffs((int)seen) - 1);
	}
	return sx_reach_q7(SX_REACH_BINS);
}

/* Counts the runs of a segment that may end in its middle. */
__device__ static void count_runs(const struct sx_unmeasured_column *c, const uint8_t *row,
				  struct lane_segment *l)
{
	l->parts = 0;
	for (int v = l->s.v_bottom; v <= (int)l->s.v_top; l->parts++) {
		const struct sx_unmeasured_run r = sx_unmeasured_next(c, row, &l->s, v);

		if (l->parts == 0) {
			l->first = r.unknown;
			l->first_top = r.last;
		}
		l->last = r.unknown;
		v = r.last + 1;
	}
}

/*
 * Writes the runs of a segment from entry `to` on, except a first run that is merged into the entry before.
 */
__device__ static void write_runs(const struct sx_unmeasured_column *c, const uint8_t *row,
				  const struct lane_segment *l, bool merged, struct sx_segment *to)
{
	int k = merged ? -1 : 0;

	for (int v = l->s.v_bottom; v <= (int)l->s.v_top; k++) {
		struct sx_unmeasured_run r = {v, (int)l->s.v_top, l->whole};

		if (l->parts > 1 || (l->first && !l->whole))
			r = sx_unmeasured_next(c, row, &l->s, v);
		if (k >= 0)
			to[k] = sx_unmeasured_segment(&l->s, &r, c->cell_height);
		v = r.last + 1;
	}
}

/*
 * Runs sx_unmeasured_part() in all lanes, for up to 32 segments. Returns the new number of segments in all
 * lanes.
 */
__device__ static int part_list(const struct sx_unmeasured_column *c, uint8_t *row, uint32_t *measured,
				struct sx_segment *list, int n, int lane)
{
	struct lane_segment l = {};
	bool asks, ground, may_end, few, merged;
	int rows = 0, seen = 0, before;
	struct sx_unmeasured_stretch most;
	uint32_t stopped, unknown_last;

	if (lane < n) {
		l.s = list[lane];
		l.parts = 1;
		l.first_top = l.s.v_top;
		rows = (int)l.s.v_top - (int)l.s.v_bottom + 1;
	}
	asks = lane < n && sx_unmeasured_asks(&l.s);
	ground = asks && l.s.kind == STIXEL_GROUND;
	look_ground(c, &l, ground, row, measured, lane);
	seen = asks ? bits_set(measured, l.s.v_bottom, l.s.v_top) : 0;
	few = asks && SX_UNMEASURED_CELLS * seen < rows;
	/* segments at the foot: below the first one of which more was measured */
	stopped = __ballot_sync(SX_WARP_ALL_LANES, lane < n && !few) & ((2u << lane) - 1);
	l.whole = few && (ground || !stopped);
	most.cells = most.flat = most.dark = most.beyond = rows - seen;
	most.drop = c->drops ? rows - seen : 0;
	may_end = asks && !l.whole &&
		  (sx_unmeasured_ends(c, &l.s, &most) || sx_unmeasured_foot(c, row, &l.s) > 0);
	look_right(c, &l, may_end, row, lane);
	l.first = l.last = l.whole || (lane < n && l.s.kind == STIXEL_UNKNOWN);
	if (may_end)
		count_runs(c, row, &l);
	unknown_last = __ballot_sync(SX_WARP_ALL_LANES, l.last);
	merged = lane > 0 && l.first && unknown_last >> (lane - 1) & 1;
	before = sx_warp_prefix(l.parts - merged, lane) - (l.parts - merged);
	__syncwarp(); /* wait until all lanes have read the list */
	if (lane < n)
		write_runs(c, row, &l, merged, list + before);
	__syncwarp();
	if (merged) { /* the highest of all segments that are merged into an entry gives its top */
		uint32_t *word = (uint32_t *)(list + before - 1);

		atomicMax(word, (uint32_t)l.first_top << 16 | (*word & 0xffff));
	}
	return __shfl_sync(SX_WARP_ALL_LANES, before + l.parts - merged, 31);
}

static __global__ void __launch_bounds__(32 * WARPS) part(const struct unmeasured_work w)
{
	SX_DYNAMIC_SHARED(uint32_t, shared);
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, words = (w.rows + 31) / 32;
	const int u = (int)blockIdx.x * WARPS + warp;
	struct sx_unmeasured_column c = w.first;
	struct sx_segment *list = w.list + (size_t)u * (size_t)w.rows;
	uint32_t *measured = shared + warp * words;
	uint8_t *row = (uint8_t *)(shared + WARPS * words) + warp * w.rows;
	int n;

	if (u >= w.columns)
		return;
	c.cells = (const uint16_t *)((const uint8_t *)c.cells + (size_t)u * w.cells_pitch);
	c.x += u * w.width;
	c.reach_q7 = reach_of(w, lane);
	n = w.count[u];
	for (int v = 0; v < w.rows; v += 32) {
		const uint8_t at =
			v + lane < w.rows ? sx_unmeasured_left(&c, v + lane) : (uint8_t)SX_ROW_HOLE;
		const uint32_t bits = __ballot_sync(SX_WARP_ALL_LANES, at == SX_ROW_MEASURED);

		if (v + lane < w.rows)
			row[v + lane] = at;
		if (lane == 0)
			measured[v / 32] = bits;
	}
	__syncwarp();
	if (n <= 32) {
		n = part_list(&c, row, measured, list, n, lane);
	} else if (lane == 0) {
		sx_unmeasured_look(&c, list, n, row);
		n = sx_unmeasured_part(&c, row, list, n);
	}
	if (lane == 0)
		w.count[u] = (uint16_t)n;
}

static_assert(sizeof(struct sx_segment) == 12 && offsetof(struct sx_segment, v_top) == 2,
	      "its first word is both rows");

extern "C" cudaError_t sx_unmeasured_cuda_run(const struct sx_unmeasured_column *first, const uint32_t *reach,
					      const struct sx_image *columns,
					      const struct sx_segments *segments,
					      const struct sx_stixel_params *p, cudaStream_t stream)
{
	struct unmeasured_work w = {};

	w.first = *first;
	w.reach = reach;
	w.cells_pitch = columns->pitch;
	w.list = segments->list;
	w.count = segments->count;
	w.columns = columns->height;
	w.rows = columns->width;
	w.width = p->width;
	SX_LAUNCH(part, (unsigned)(w.columns + WARPS - 1) / WARPS, 32 * WARPS,
		  WARPS * ((size_t)((w.rows + 31) / 32) * sizeof(uint32_t) + (size_t)w.rows), stream, w);
	return SX_LAUNCHED();
}
