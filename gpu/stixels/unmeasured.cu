/*
 * Removes unmeasured areas from the stixels, on the GPU. Must equal sx_unmeasured_part()
 * (stages/stixels/unmeasured_part.h) byte for byte.
 *
 * Work:   a warp takes a column. A lane takes a segment, and each lane takes every 32nd row: it finds the row's
 *         segment, reads what the row shows, and ballots make words of 32 rows. Then each lane goes through the runs
 *         of its segment. Sums over the lanes give the places of the parts.
 * Memory: cells and tiles of both images once, those of AT_ONCE rows of a lane at once, because each read has a
 *         latency; 24 bytes of shared memory per 32 rows.
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
#define AT_ONCE 4 /* words of rows */

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
	int foot;	  /* see sx_unmeasured_foot() */
	int parts;	  /* runs of the segment; 0: this lane has no segment */
	bool whole;	  /* unknown as a whole */
	bool first, last; /* the first run, the last run is unknown */
	int first_top;	  /* top of the first run */
};

/* The rows of a column, in shared memory. starts: a bit per row in which a segment begins. */
struct column_rows {
	struct sx_unmeasured_word *word;
	uint32_t *starts;
};

/* Returns the segment of lane `from`, without its class. Each lane may ask for another one. */
__device__ static struct sx_segment segment_of(const struct sx_segment *mine, int from)
{
	const uint32_t place = (uint32_t)mine->v_bottom | (uint32_t)mine->disparity_q7 << 16;
	const uint32_t line = (uint32_t)(uint16_t)mine->slope_q14 | (uint32_t)mine->kind << 16;
	const uint32_t its_place = __shfl_sync(SX_WARP_ALL_LANES, place, from);
	const uint32_t its_line = __shfl_sync(SX_WARP_ALL_LANES, line, from);
	struct sx_segment s = {};

	s.v_bottom = (uint16_t)(its_place & 0xffff);
	s.disparity_q7 = (uint16_t)(its_place >> 16);
	s.slope_q14 = (int16_t)(its_line & 0xffff);
	s.kind = (uint8_t)(its_line >> 16);
	return s;
}

/* Marks the rows in which the segments begin, one segment per lane. */
__device__ static void mark_starts(const struct column_rows &r, int words, const struct sx_segment *mine,
				   bool has, int lane)
{
	for (int w = lane; w < words; w += 32)
		r.starts[w] = 0;
	__syncwarp();
	if (has)
		atomicOr(&r.starts[mine->v_bottom / 32], 1u << mine->v_bottom % 32);
	__syncwarp();
}

/* Finds the states of all rows of a column, as sx_unmeasured_fill() does. */
__device__ static void fill_rows(const struct sx_unmeasured_column *c, const struct column_rows &r, int rows,
				 const struct sx_segment *mine, int lane)
{
	const int words = (rows + 31) / 32;
	int before = -1; /* segments that begin below these rows, less one */

	for (int first = 0; first < words; first += AT_ONCE) {
		struct sx_segment s[AT_ONCE];
		struct sx_unmeasured_view view[AT_ONCE];
		int32_t q7[AT_ONCE];

#pragma unroll
		for (int i = 0; i < AT_ONCE; i++) {
			const uint32_t starts = first + i < words ? r.starts[first + i] : 0;
			const int v = min(32 * (first + i) + lane, rows - 1);

			s[i] = segment_of(mine, before + __popc((int)(starts & ((2u << lane) - 1))));
			before += __popc((int)starts);
			q7[i] = sx_segment_q7(&s[i], v, c->cell_height);
			view[i] = sx_unmeasured_look(c, q7[i], v);
		}
#pragma unroll
		for (int i = 0; i < AT_ONCE; i++) {
			const int v = 32 * (first + i) + lane;
			const bool inside = v < rows;
			const int state =
				inside ? sx_unmeasured_state(c, &s[i], v, q7[i], &view[i]) : (int)SX_ROW_HOLE;
			struct sx_unmeasured_word word;

			word.measured = __ballot_sync(SX_WARP_ALL_LANES, state == SX_ROW_MEASURED);
			word.flat = __ballot_sync(SX_WARP_ALL_LANES, state >= SX_ROW_FLAT);
			word.dark = __ballot_sync(SX_WARP_ALL_LANES, state == SX_ROW_DARK);
			word.drop = __ballot_sync(SX_WARP_ALL_LANES, state == SX_ROW_DROP);
			word.beyond = __ballot_sync(SX_WARP_ALL_LANES, inside && q7[i] < c->reach_q7);
			if (lane == 0 && first + i < words)
				r.word[first + i] = word;
		}
	}
	__syncwarp();
}

/* Returns the reach of the frame in all lanes, as sx_reach_of() does. */
__device__ static int32_t reach_of(const struct unmeasured_work &w, int lane)
{
	uint32_t cells[SX_REACH_BINS / 32];
	int bin = SX_REACH_BINS;

	static_assert(SX_REACH_BINS % 32 == 0, "a lane has whole bins");
#pragma unroll
	for (int i = 0; i < SX_REACH_BINS / 32; i++)
		cells[i] = w.reach[32 * i + lane];
#pragma unroll
	for (int i = SX_REACH_BINS / 32 - 1; i >= 0; i--) {
		const uint32_t seen = __ballot_sync(
			SX_WARP_ALL_LANES, sx_reach_is_seen(cells[i], w.columns, w.first.cell_height));

		bin = seen ? 32 * i + __ffs((int)seen) - 1 : bin;
	}
	return sx_reach_q7(bin);
}

/* Counts the runs of a segment. */
__device__ static void count_runs(const struct sx_unmeasured_column *c, const struct sx_unmeasured_word *rows,
				  struct lane_segment *l)
{
	l->parts = 0;
	for (int v = l->s.v_bottom; v <= (int)l->s.v_top; l->parts++) {
		const struct sx_unmeasured_run r = sx_unmeasured_next(c, rows, &l->s, l->foot, v);

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
__device__ static void write_runs(const struct sx_unmeasured_column *c, const struct sx_unmeasured_word *rows,
				  const struct lane_segment *l, bool merged, struct sx_segment *to)
{
	int k = merged ? -1 : 0;

	for (int v = l->s.v_bottom; v <= (int)l->s.v_top; k++) {
		struct sx_unmeasured_run r = {v, l->first_top, l->first && l->s.kind != STIXEL_UNKNOWN};

		if (v > (int)l->s.v_bottom)
			r = sx_unmeasured_next(c, rows, &l->s, l->foot, v);
		if (k >= 0)
			to[k] = sx_unmeasured_segment(&l->s, &r, c->cell_height);
		v = r.last + 1;
	}
}

/*
 * Runs sx_unmeasured_part() in all lanes, for up to 32 segments. Returns the new number of segments in all
 * lanes.
 */
__device__ static int part_list(const struct sx_unmeasured_column *c, const struct column_rows &r, int rows,
				struct sx_segment *list, int n, int lane)
{
	struct lane_segment l = {};
	bool few, merged;
	int before;
	uint32_t stopped, unknown_last;

	if (lane < n)
		l.s = list[lane];
	mark_starts(r, (rows + 31) / 32, &l.s, lane < n, lane);
	fill_rows(c, r, rows, &l.s, lane);
	few = lane < n && sx_unmeasured_asks(&l.s) && sx_unmeasured_few(r.word, &l.s);
	/* segments at the foot: below the first one of which more was measured */
	stopped = __ballot_sync(SX_WARP_ALL_LANES, lane < n && !few) & ((2u << lane) - 1);
	l.whole = few && (l.s.kind == STIXEL_GROUND || !stopped);
	if (lane < n && !l.whole) {
		l.foot = sx_unmeasured_foot(c, r.word, &l.s);
		count_runs(c, r.word, &l);
		l.first |= l.s.kind == STIXEL_UNKNOWN;
		l.last |= l.s.kind == STIXEL_UNKNOWN;
	} else if (lane < n) {
		l.parts = 1;
		l.first = l.last = true;
		l.first_top = l.s.v_top;
	}
	unknown_last = __ballot_sync(SX_WARP_ALL_LANES, l.last);
	merged = lane > 0 && l.first && unknown_last >> (lane - 1) & 1;
	before = sx_warp_prefix(l.parts - merged, lane) - (l.parts - merged);
	__syncwarp(); /* wait until all lanes have read the list */
	if (lane < n)
		write_runs(c, r.word, &l, merged, list + before);
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
	const struct column_rows r = {(struct sx_unmeasured_word *)shared + warp * words,
				      (uint32_t *)((struct sx_unmeasured_word *)shared + WARPS * words) +
					      warp * words};
	int n;

	if (u >= w.columns)
		return;
	c.cells = (const uint16_t *)((const uint8_t *)c.cells + (size_t)u * w.cells_pitch);
	c.x += u * w.width;
	n = w.count[u];
	c.reach_q7 = reach_of(w, lane);
	if (n <= 32) {
		n = part_list(&c, r, w.rows, list, n, lane);
	} else if (lane == 0) {
		sx_unmeasured_fill(&c, list, n, r.word);
		n = sx_unmeasured_part(&c, r.word, list, n);
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
		  (size_t)WARPS * (size_t)((w.rows + 31) / 32) *
			  (sizeof(struct sx_unmeasured_word) + sizeof(uint32_t)),
		  stream, w);
	return SX_LAUNCHED();
}
