/*
 * Column segmentation by RDP on the GPU. Must equal sx_rdp_run() byte for byte.
 *
 * Work:    a warp takes one column, from cells to published segments.
 *          Cut: depth first. Pieces longer than SMALL are searched by the whole warp. Shorter ones are put by
 *          and then cut to the end by one lane each, 32 at a time, without a word between lanes: most of the
 *          tree's nodes are in there. What lies above is found in the bits of the cuts made so far, so there
 *          is no stack.
 *          Label: sums up to any row come from 32 running sums (one per block of cells) and less than one
 *          block of cells, so that a lane judges a segment of any length in the time of a block. Neighbours
 *          merge in groups: all lanes try at once how far a group reaches.
 * Memory:  the column is read once, segments are written once. Shared: 4 bytes per cell, 4 per row of the
 *          ground, 0.9 KB per warp. Columns of more than WORK segments keep them in their output list
 *          meanwhile.
 * Ranges:  cells are floats, invalid ones NaN, which loses every comparison. |distance| * run < 16 * 384 *
 *          2160 < 2^24, so all products and sums of the search are exact, fused or not; so are sums over a
 *          block (at most 69 cells). Sums of x^2 are modulo 2^32: those of one segment fit.
 * Shapes:  heights 1..2160. A block has an odd number of cells, so that 32 lanes read 32 banks.
 * Speed:   see docs/lab-performance.md, CUDA: RDP.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include <stixel.h>

extern "C" {
#include "stages/stixels/rdp.h" /* first: its functions are C's */
}
#include "gpu/stages_cuda.h"

#include "gpu/cuda.cuh"
#include "gpu/warp.cuh"
#include "stages/stixels/rdp_label.h"

#define SMALL 32 /* rows between the ends of a small piece; its cuts are bits 1 .. 31 */
#define WORK 64	 /* segments of a column that shared memory holds */
#define WARPS_MAX 4
#define SHARED_MAX (48 * 1024)
#define INVALID 0xffffu
#define ALL SX_WARP_ALL_LANES

struct sx_rdp_cuda {
	int height, columns, warps;
	int block;		/* cells of a block: odd */
	uint32_t inverse_block; /* v / block = v * inverse_block >> 20 */
	int warp_words;		/* shared memory of a warp */
	float epsilon_q4, max_q4;
	int sky_q4, ground_q4;
	const uint16_t *span_q4; /* see struct sx_rdp_tables */
};

/* What a warp works on. */
struct column {
	float *cell;	/* [32 block] */
	uint32_t *cut;	/* bits of rows */
	uint32_t *node; /* [32] small pieces put by: first | last << 16; the memory of work, used before it */
	uint32_t *work; /* see struct entry */
	const float *ground; /* [32 block]: max(ground, 0), Q4 */
	int lane;
};

/* ---- cells --------------------------------------------------------------------------------------------- */

__device__ __forceinline__ float invalid_cell(void)
{
	return __int_as_float(0x7fffffff);
}

__device__ __forceinline__ bool is_valid(float cell)
{
	return cell == cell;
}

__device__ __forceinline__ float cell_of(uint32_t d, bool inside, float max_q4)
{
	const float x = (float)d;

	return !inside || d == INVALID ? invalid_cell() : x < max_q4 ? x : max_q4;
}

__device__ __forceinline__ void load_cells(const struct sx_rdp_cuda *s, const uint4 *row,
					   const struct column *c)
{
	for (int v = 8 * c->lane; v < 32 * s->block; v += 256) {
		const uint4 d = v < s->height ? row[v / 8] : make_uint4(0, 0, 0, 0);
		float4 *to = (float4 *)(c->cell + v);
		const int n = s->height - v;

		to[0] = make_float4(
			cell_of(d.x & 0xffff, 0 < n, s->max_q4), cell_of(d.x >> 16, 1 < n, s->max_q4),
			cell_of(d.y & 0xffff, 2 < n, s->max_q4), cell_of(d.y >> 16, 3 < n, s->max_q4));
		to[1] = make_float4(
			cell_of(d.z & 0xffff, 4 < n, s->max_q4), cell_of(d.z >> 16, 5 < n, s->max_q4),
			cell_of(d.w & 0xffff, 6 < n, s->max_q4), cell_of(d.w >> 16, 7 < n, s->max_q4));
	}
	__syncwarp();
}

/* Value of the first valid cell, or of the last; 0 without any. */
__device__ __forceinline__ float first_valid(const struct column *c, int height)
{
	for (int v = 0; v < height; v += 32) {
		const uint32_t m = __ballot_sync(ALL, is_valid(c->cell[v + c->lane]));

		if (m)
			return c->cell[v + __ffs((int)m) - 1];
	}
	return 0;
}

__device__ __forceinline__ float last_valid(const struct column *c, int height)
{
	for (int v = (height - 1) / 32 * 32; v >= 0; v -= 32) {
		const uint32_t m = __ballot_sync(ALL, is_valid(c->cell[v + c->lane]));

		if (m)
			return c->cell[v + 31 - __clz((int)m)];
	}
	return 0;
}

/* ---- cut ----------------------------------------------------------------------------------------------- */

/*
 * The cell between first and last to cut at, 0 if there is none. With run = last - first, the distance times
 * run of cell i is |d_first * run + rise * (i - first) - d_i * run|.
 */
__device__ __forceinline__ int farthest(const struct sx_rdp_cuda *s, const struct column *c, int first,
					int last)
{
	const float df = c->cell[first], rise = c->cell[last] - df, run = (float)(last - first);
	float line = fmaf(rise, (float)(c->lane + 1), df * run), best = s->epsilon_q4 * run;
	uint32_t at = 0, top;

#pragma unroll 4
	for (int i = first + 1 + c->lane; i < last; i += 32) {
		const float off = fabsf(fmaf(-c->cell[i], run, line));

		line += 32 * rise;
		if (off > best) {
			best = off;
			at = (uint32_t)i;
		}
	}
	/* positive floats compare like integers */
	top = sx_warp_max(at ? __float_as_uint(best) : 0);
	if (!top)
		return 0;
	return (int)sx_warp_min(at && __float_as_uint(best) == top ? at : UINT32_MAX);
}

/* All cuts between the ends of a small piece, as bits relative to its first row. One lane. */
__device__ __forceinline__ uint32_t cut_small(float epsilon_q4, const float *cell, int end)
{
	float da = cell[0], db = cell[end];
	uint32_t cuts = 0;
	int a = 0, b = end;

	while (a < end) {
		const float rise = db - da, run = (float)(b - a);
		float line = fmaf(da, run, rise), best = epsilon_q4 * run;
		int at = 0;

		for (int i = a + 1; i < b; i++) {
			const float off = fabsf(fmaf(-cell[i], run, line));

			line += rise;
			if (off > best) {
				best = off;
				at = i;
			}
		}
		if (at) {
			cuts |= 1u << at;
			b = at;
		} else {
			/* on to the next piece: up to the lowest cut above */
			const uint32_t above = b < end ? cuts & (0xfffffffeu << b) : 0;

			a = b;
			da = db;
			b = above ? __ffs((int)above) - 1 : end;
		}
		db = cell[b];
	}
	return cuts;
}

__device__ __forceinline__ void cut_small_pieces(const struct sx_rdp_cuda *s, const struct column *c, int n)
{
	__syncwarp();
	if (c->lane < n) {
		const uint32_t node = c->node[c->lane];
		const int first = (int)(node & 0xffff), last = (int)(node >> 16);
		const uint32_t cuts = cut_small(s->epsilon_q4, c->cell + first, last - first);
		const uint32_t low = cuts << first % 32, high = first % 32 ? cuts >> (32 - first % 32) : 0;

		if (low)
			atomicOr(&c->cut[first / 32], low);
		if (high)
			atomicOr(&c->cut[first / 32 + 1], high);
	}
	__syncwarp();
}

/* The lowest cut above row v; the top row is one. */
__device__ __forceinline__ int next_cut(const struct column *c, int v)
{
	int w = v / 32;
	uint32_t bits = c->cut[w] & (0xfffffffeu << v % 32);

	while (!bits)
		bits = c->cut[++w];
	return 32 * w + __ffs((int)bits) - 1;
}

/* Leaves the bits of all cuts; row 0 is none unless it is the only one. */
__device__ __forceinline__ void cut_column(const struct sx_rdp_cuda *s, const struct column *c)
{
	const int top = s->height - 1;
	int first = 0, last = top, small = 0;

	for (int w = c->lane; w <= top / 32; w += 32)
		c->cut[w] = w == top / 32 ? 1u << top % 32 : 0;
	__syncwarp();
	while (first < top) {
		int at = 0;

		if (last - first > SMALL) {
			at = farthest(s, c, first, last);
		} else if (last - first > 1) {
			if (c->lane == 0)
				c->node[small] = (uint32_t)first | (uint32_t)last << 16;
			if (++small == 32) {
				cut_small_pieces(s, c, small);
				small = 0;
			}
		}
		if (at) {
			if (c->lane == 0)
				c->cut[at / 32] |= 1u << at % 32;
			__syncwarp();
			last = at;
		} else {
			first = last;
			if (first < top)
				last = next_cut(c, first);
		}
	}
	cut_small_pieces(s, c, small);
}

/* ---- sums ---------------------------------------------------------------------------------------------- */

/* Sums over the valid cells from row 0 on; x is the row. */
struct sums {
	uint32_t n, x, xx, d, ground, distance;
	unsigned long long xd;
};

/* Over the first `count` cells of block b. GROUND: those of the ground too. */
template <bool GROUND>
__device__ __forceinline__ struct sums sum_block(const struct sx_rdp_cuda *s, const struct column *c, int b,
						 int count)
{
	const int first = b * s->block;
	const float *cell = c->cell + first, *ground = c->ground + first;
	float n = 0, x = 0, xx = 0, d = 0, xd = 0, g = 0, distance = 0, row = 0;
	struct sums r = {};

#pragma unroll 2
	for (int i = 0; i < count; i++, row += 1) {
		const float v = cell[i];

		if (!is_valid(v))
			continue;
		n += 1;
		x += row;
		xx = fmaf(row, row, xx);
		d += v;
		xd = fmaf(row, v, xd);
		if (GROUND) {
			g += ground[i];
			distance += fabsf(v - ground[i]);
		}
	}
	r.n = (uint32_t)n;
	r.d = (uint32_t)d;
	r.ground = (uint32_t)g;
	r.distance = (uint32_t)distance;
	/* from rows of the block to rows of the column */
	r.x = (uint32_t)x + (uint32_t)first * r.n;
	r.xx = (uint32_t)xx + 2 * (uint32_t)first * (uint32_t)x + (uint32_t)(first * first) * r.n;
	r.xd = (uint32_t)xd + (unsigned long long)(uint32_t)first * r.d;
	return r;
}

#define SX_RDP_EACH_SUM(f) f(n) f(x) f(xx) f(d) f(xd) f(ground) f(distance)

/* Over all cells of the blocks before the lane's. */
__device__ __forceinline__ struct sums sum_before(const struct sx_rdp_cuda *s, const struct column *c)
{
	const struct sums own = sum_block<true>(s, c, c->lane, s->block);
	struct sums r;

#define PREFIX(f) r.f = sx_warp_prefix(own.f, c->lane) - own.f;
	SX_RDP_EACH_SUM(PREFIX)
#undef PREFIX
	return r;
}

/* Rows 0 .. v, another v in each lane. before: what sum_before() gave. */
template <bool GROUND>
__device__ __forceinline__ struct sums sum_up_to(const struct sx_rdp_cuda *s, const struct column *c,
						 const struct sums *before, int v)
{
	const int b = (int)((uint32_t)v * s->inverse_block >> 20);
	struct sums r = sum_block<GROUND>(s, c, b, v - b * s->block + 1);

	r.n += __shfl_sync(ALL, before->n, b);
	r.x += __shfl_sync(ALL, before->x, b);
	r.xx += __shfl_sync(ALL, before->xx, b);
	r.d += __shfl_sync(ALL, before->d, b);
	r.xd += __shfl_sync(ALL, before->xd, b);
	if (GROUND) {
		r.ground += __shfl_sync(ALL, before->ground, b);
		r.distance += __shfl_sync(ALL, before->distance, b);
	}
	return r;
}

/*
 * Turns sums up to a lane's row into those between the row of the lane before and it; *carry: of the lanes
 * before.
 */
__device__ __forceinline__ struct sums between(struct sums up_to, struct sums *carry, int lane)
{
	struct sums r;

#define STEP(f)                                                     \
	{                                                           \
		const auto below = __shfl_up_sync(ALL, up_to.f, 1); \
		r.f = up_to.f - (lane ? below : carry->f);          \
		carry->f = __shfl_sync(ALL, up_to.f, 31);           \
	}
	SX_RDP_EACH_SUM(STEP)
#undef STEP
	return r;
}

/* x counted from row `first`. */
__device__ __forceinline__ struct sx_rdp_sums from_row(const struct sums *a, int first)
{
	struct sx_rdp_sums r;
	const uint32_t f = (uint32_t)first;

	r.n = a->n;
	r.x = a->x - f * a->n;
	r.xx = a->xx - 2 * f * a->x + f * f * a->n;
	r.d = a->d;
	r.xd = (int64_t)(a->xd - (unsigned long long)f * a->d);
	r.ground = a->ground;
	r.distance = a->distance;
	return r;
}

/* ---- segments ------------------------------------------------------------------------------------------ */

/* A segment before it is published: three words of column.work. Its first row is that after the one below. */
struct entry {
	int top, kind;
	uint32_t n, d, mean;
};

__device__ __forceinline__ struct entry load_entry(const uint32_t *work, int i)
{
	const uint32_t w0 = work[3 * i], w1 = work[3 * i + 1];
	struct entry e;

	e.top = (int)(w0 & 0xffff);
	e.kind = (int)(w0 >> 16);
	e.n = w1 & 0xffff;
	e.mean = w1 >> 16;
	e.d = work[3 * i + 2];
	return e;
}

__device__ __forceinline__ void store_entry(uint32_t *work, int i, const struct entry *e)
{
	work[3 * i] = (uint32_t)e->top | (uint32_t)e->kind << 16;
	work[3 * i + 1] = e->n | e->mean << 16;
	work[3 * i + 2] = e->d;
}

__device__ __forceinline__ int count_cuts(const struct sx_rdp_cuda *s, const struct column *c)
{
	uint32_t n = 0;

	for (int w = c->lane; w <= (s->height - 1) / 32; w += 32)
		n += (uint32_t)__popc(c->cut[w]);
	return (int)sx_warp_sum(n);
}

/* Writes the tops of the segments into their entries. */
__device__ __forceinline__ void list_cuts(const struct sx_rdp_cuda *s, const struct column *c)
{
	const int words = (s->height - 1) / 32 + 1;
	int base = 0;

	for (int first = 0; first < words; first += 32) {
		const int w = first + c->lane;
		uint32_t bits = w < words ? c->cut[w] : 0;
		const int n = __popc(bits), last = sx_warp_prefix(n, c->lane);
		int i = base + last - n;

		for (; bits; bits &= bits - 1)
			c->work[3 * i++] = (uint32_t)(32 * w + __ffs((int)bits) - 1);
		base += __shfl_sync(ALL, last, 31);
	}
	__syncwarp();
}

__device__ __forceinline__ int kind_of(const struct sx_rdp_cuda *s, const struct sums *a, int first, int last,
				       uint32_t mean, int vhor, int32_t ground_slope)
{
	struct sx_rdp_sums r;

	if (a->n == 0)
		return STIXEL_UNKNOWN;
	if (last >= vhor && mean < (uint32_t)s->sky_q4)
		return STIXEL_SKY;
	if (last >= vhor + 2)
		return STIXEL_OBJECT;
	r = from_row(a, first);
	return sx_rdp_on_ground(&r, last - first + 1, s->ground_q4, ground_slope) ? STIXEL_GROUND
										  : STIXEL_OBJECT;
}

/* From tops alone to whole entries. */
__device__ __forceinline__ void judge(const struct sx_rdp_cuda *s, const struct column *c,
				      const struct sums *before, int n, int vhor, int32_t ground_slope)
{
	struct sums carry = {};
	int top_below = -1;

	for (int i = c->lane; i - c->lane < n; i += 32) {
		struct entry e;

		e.top = i < n ? (int)c->work[3 * i] : s->height - 1;
		int below = __shfl_up_sync(ALL, e.top, 1);
		const struct sums a = between(sum_up_to<true>(s, c, before, e.top), &carry, c->lane);

		below = c->lane ? below : top_below;
		top_below = __shfl_sync(ALL, e.top, 31);
		e.n = a.n;
		e.d = a.d;
		e.mean = sx_rdp_mean_q4(a.n, a.d);
		e.kind = kind_of(s, &a, below + 1, e.top, e.mean, vhor, ground_slope);
		if (i < n)
			store_entry(c->work, i, &e);
	}
	__syncwarp();
}

__device__ __forceinline__ bool one_thing(const struct sx_rdp_cuda *s, int lower_kind, uint32_t lower_mean,
					  const struct entry *upper)
{
	const int off = (int)upper->mean - (int)lower_mean;

	if (lower_kind != upper->kind)
		return false;
	return lower_kind != STIXEL_OBJECT || (off < 0 ? -off : off) <= s->span_q4[lower_mean];
}

/* Bits above i. */
__device__ __forceinline__ uint32_t bits_above(int i)
{
	return i < 31 ? 0xfffffffeu << i : 0;
}

/*
 * 32 entries at a time, one per lane. up_to_n, up_to_d: their sums up to the lane. valid: lanes that have
 * one.
 * reach(): the first lane from `next` on that does not join the group of that kind, whose sums before lane
 *   next are n and d; the number of entries if all join.
 */
struct batch {
	struct entry e;
	uint32_t up_to_n, up_to_d, valid;
};

__device__ __forceinline__ int reach(const struct sx_rdp_cuda *s, const struct batch *b, int lane, int next,
				     int kind, uint32_t n, uint32_t d)
{
	const uint32_t start_n = next ? __shfl_sync(ALL, b->up_to_n, next - 1) : 0;
	const uint32_t start_d = next ? __shfl_sync(ALL, b->up_to_d, next - 1) : 0;
	const bool asked = lane >= next && b->valid >> lane & 1;
	bool joins = true;
	uint32_t stop;

	if (asked) {
		const uint32_t group_n = n + b->up_to_n - b->e.n - start_n;
		const uint32_t group_d = d + b->up_to_d - b->e.d - start_d;

		joins = one_thing(s, kind, sx_rdp_mean_q4(group_n, group_d), &b->e);
	}
	stop = __ballot_sync(ALL, !joins);
	return stop ? __ffs((int)stop) - 1 : __popc(b->valid);
}

/* Lanes that start a group of their own, from lane `from` on, which does. */
__device__ __forceinline__ uint32_t group_starts(const struct sx_rdp_cuda *s, const struct batch *b, int lane,
						 int from)
{
	const int kind = __shfl_up_sync(ALL, b->e.kind, 1);
	const uint32_t mean = __shfl_up_sync(ALL, b->e.mean, 1);
	const bool joins = lane > from && b->valid >> lane & 1 && one_thing(s, kind, mean, &b->e);
	const uint32_t joining = __ballot_sync(ALL, joins); /* the one below, were that a group by itself */
	uint32_t starts = b->valid & (0xffffffffu << from), next = joining;

	while (next) {
		const int second = __ffs((int)next) - 1, first = second - 1;
		const int end = reach(s, b, lane, second, __shfl_sync(ALL, b->e.kind, first),
				      __shfl_sync(ALL, b->e.n, first), __shfl_sync(ALL, b->e.d, first));

		/* lanes second .. end-1 have joined, end starts */
		starts &= ~(bits_above(first) & ~(end < 32 ? 0xffffffffu << end : 0));
		next = end < 32 ? joining & bits_above(end) : 0;
	}
	return starts;
}

/* What lies between two starts becomes one entry. */
__device__ __forceinline__ struct entry group_of(const struct batch *b, int lane, uint32_t starts)
{
	const uint32_t above = starts & bits_above(lane);
	const int end = above ? __ffs((int)above) - 2 : __popc(b->valid) - 1;
	struct entry e = b->e;

	e.top = __shfl_sync(ALL, e.top, end);
	e.n += __shfl_sync(ALL, b->up_to_n, end) - b->up_to_n;
	e.d += __shfl_sync(ALL, b->up_to_d, end) - b->up_to_d;
	if (end > lane)
		e.mean = sx_rdp_mean_q4(e.n, e.d);
	return e;
}

__device__ __forceinline__ struct entry entry_of_lane(const struct entry *e, int lane)
{
	struct entry r;

	r.top = __shfl_sync(ALL, e->top, lane);
	r.kind = __shfl_sync(ALL, e->kind, lane);
	r.n = __shfl_sync(ALL, e->n, lane);
	r.d = __shfl_sync(ALL, e->d, lane);
	r.mean = __shfl_sync(ALL, e->mean, lane);
	return r;
}

/*
 * Merges neighbours bottom-up, in place; returns how many remain. RELABEL: before that, ground above an
 * object that is farther away becomes an object; no two of these are neighbours, since they have merged.
 */
template <bool RELABEL>
__device__ __forceinline__ int merge(const struct sx_rdp_cuda *s, const struct column *c, int n)
{
	struct entry open = {},
		     below = {}; /* the group that may go on, unless kept < 0; the last entry as it was */
	int kept = -1;

	for (int i = c->lane; i - c->lane < n; i += 32) {
		struct batch b;
		uint32_t starts;
		int from = 0;

		b.e = load_entry(c->work, i < n ? i : n - 1);
		if (i >= n)
			b.e.n = b.e.d = 0;
		b.valid = __ballot_sync(ALL, i < n);
		if (RELABEL) {
			const struct entry was = b.e;
			const int kind = __shfl_up_sync(ALL, was.kind, 1);
			const uint32_t mean = __shfl_up_sync(ALL, was.mean, 1);
			const bool object =
				c->lane ? kind == STIXEL_OBJECT : i && below.kind == STIXEL_OBJECT;

			if (was.kind == STIXEL_GROUND && object && (c->lane ? mean : below.mean) < was.mean)
				b.e.kind = STIXEL_OBJECT;
			below = entry_of_lane(&was, 31);
		}
		b.up_to_n = sx_warp_prefix(b.e.n, c->lane);
		b.up_to_d = sx_warp_prefix(b.e.d, c->lane);
		if (kept >= 0) {
			from = reach(s, &b, c->lane, 0, open.kind, open.n, open.d);
			if (from) {
				open.top = __shfl_sync(ALL, b.e.top, from - 1);
				open.n += __shfl_sync(ALL, b.up_to_n, from - 1);
				open.d += __shfl_sync(ALL, b.up_to_d, from - 1);
				open.mean = sx_rdp_mean_q4(open.n, open.d);
			}
			if (from == __popc(b.valid))
				continue;
			if (c->lane == 0)
				store_entry(c->work, kept, &open);
		}
		kept++;
		starts = group_starts(s, &b, c->lane, from);
		const struct entry e = group_of(&b, c->lane, starts);
		const int last = 31 - __clz((int)starts);

		if (starts >> c->lane & 1 && c->lane != last)
			store_entry(c->work, kept + __popc(starts & ~bits_above(c->lane)) - 1, &e);
		kept += __popc(starts) - 1;
		open = entry_of_lane(&e, last);
	}
	if (c->lane == 0)
		store_entry(c->work, kept, &open);
	__syncwarp();
	return kept + 1;
}

/* list: the column's output, as words of struct sx_segment; may be the memory of the entries. */
__device__ __forceinline__ void publish(const struct sx_rdp_cuda *s, const struct column *c,
					const struct sums *before, int n, uint32_t *list)
{
	struct sums carry = {};
	int top_below = -1;

	for (int i = c->lane; i - c->lane < n; i += 32) {
		struct entry e = load_entry(c->work, i < n ? i : n - 1);
		const struct sums a = between(sum_up_to<false>(s, c, before, e.top), &carry, c->lane);
		int below = __shfl_up_sync(ALL, e.top, 1);
		struct sx_rdp_sums r;
		struct sx_segment g;

		below = c->lane ? below : top_below;
		top_below = __shfl_sync(ALL, e.top, 31);
		r = from_row(&a, below + 1);
		g.kind = (uint8_t)(i < n ? e.kind : STIXEL_UNKNOWN);
		g.mean_q4 = (uint16_t)e.mean;
		sx_rdp_publish(&r, &g);
		__syncwarp();
		if (i < n) {
			list[3 * i] = (uint32_t)(below + 1) | (uint32_t)e.top << 16;
			list[3 * i + 1] = g.mean_q4 | (uint32_t)g.disparity_q7 << 16;
			list[3 * i + 2] = (uint16_t)g.slope_q14 | (uint32_t)g.kind << 16;
		}
		__syncwarp();
	}
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(32 * WARPS_MAX)
	segment(const struct sx_rdp_cuda s, const struct sx_cuda_road *road, const uint8_t *cells,
		size_t pitch, const struct sx_segments out)
{
	SX_DYNAMIC_SHARED(uint32_t, shared);
	const int warp = (int)threadIdx.x / 32, u = (int)blockIdx.x * s.warps + warp;
	float *ground = (float *)shared;
	struct column c;

	c.lane = (int)threadIdx.x % 32;
	c.ground = ground;
	c.cell = ground + 32 * s.block + warp * s.warp_words;
	c.work = (uint32_t *)c.cell + 32 * s.block;
	c.node = c.work;
	c.cut = c.work + 3 * WORK;
	for (int v = (int)threadIdx.x; v < 32 * s.block; v += 32 * s.warps) {
		const int32_t g = v < s.height ? road->ground_q4[v] : 0;

		ground[v] = g > 0 ? (float)g : 0;
	}
	__syncthreads();
	if (u >= s.columns)
		return;

	load_cells(&s, (const uint4 *)(cells + (size_t)u * pitch), &c);
	float *bottom_cell = c.cell, *top_cell = c.cell + s.height - 1;
	const bool bottom_valid = is_valid(*bottom_cell), top_valid = is_valid(*top_cell);
	const float bottom = first_valid(&c, s.height), top = last_valid(&c, s.height);

	/* the ends of the column are ends of pieces even if they are invalid */
	__syncwarp();
	if (c.lane == 0) {
		*bottom_cell = bottom;
		*top_cell = top;
	}
	__syncwarp();
	cut_column(&s, &c);
	if (c.lane == 0) {
		*bottom_cell = bottom_valid ? bottom : invalid_cell();
		*top_cell = top_valid ? *top_cell : invalid_cell();
	}
	__syncwarp();

	uint32_t *list = (uint32_t *)(out.list + (size_t)u * (size_t)out.capacity);
	int n = count_cuts(&s, &c);

	if (n > WORK)
		c.work = list;
	list_cuts(&s, &c);
	const struct sums before = sum_before(&s, &c);

	judge(&s, &c, &before, n, road->vhor, sx_rdp_slope_of_road(road->road.slope));
	n = merge<false>(&s, &c, n);
	n = merge<true>(&s, &c, n);
	publish(&s, &c, &before, n, list);
	if (c.lane == 0) {
		out.count[u] = (uint16_t)n;
		out.total[u] = 0;
	}
}

extern "C" int sx_rdp_cuda_create(struct sx_rdp_cuda **ret, struct sx_cuda_memory *m,
				  const struct sx_params *p, int height, int columns, int)
{
	const int range = sx_disparity_range(&p->stereo);
	struct sx_rdp_tables *t = NULL;
	struct sx_rdp_cuda *s;
	const int r = sx_rdp_tables_create(&t, p, height, range);

	if (r < 0)
		return r;
	s = (struct sx_rdp_cuda *)calloc(1, sizeof(*s));
	if (!s) {
		sx_rdp_tables_destroy(t);
		return -ENOMEM;
	}
	s->height = height;
	s->columns = columns;
	s->block = ((height + 31) / 32) | 1;
	s->inverse_block = ((1u << 20) + (uint32_t)s->block - 1) / (uint32_t)s->block;
	s->warp_words = (32 * s->block + 3 * WORK + (height + 31) / 32 + 3) / 4 * 4;
	for (s->warps = WARPS_MAX;
	     s->warps > 1 && 4 * (32 * s->block + s->warps * s->warp_words) > SHARED_MAX;)
		s->warps--;
	s->epsilon_q4 = (float)t->epsilon_q4;
	s->max_q4 = (float)(16 * range - 1);
	s->sky_q4 = t->sky_q4;
	s->ground_q4 = t->ground_q4;
	s->span_q4 =
		(const uint16_t *)sx_cuda_upload(m, t->span_q4, 16 * (size_t)range * sizeof(*t->span_q4));
	sx_rdp_tables_destroy(t);
	if (!s->span_q4) {
		sx_rdp_cuda_destroy(s);
		return 0;
	}
	*ret = s;
	return 0;
}

extern "C" void sx_rdp_cuda_destroy(struct sx_rdp_cuda *s)
{
	free(s);
}

extern "C" cudaError_t sx_rdp_cuda_run(const struct sx_rdp_cuda *s, const struct sx_cuda_road *road,
				       const struct sx_image *columns, const struct sx_segments *out,
				       cudaStream_t stream)
{
	SX_LAUNCH(segment, (unsigned)((s->columns + s->warps - 1) / s->warps), 32 * (unsigned)s->warps,
		  4 * (size_t)(32 * s->block + s->warps * s->warp_words), stream, *s, road,
		  (const uint8_t *)columns->data, columns->pitch, *out);
	return SX_LAUNCHED();
}
