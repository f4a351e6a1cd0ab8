/*
 * Column segmentation by RDP on the GPU. Must equal sx_rdp_run() byte for byte. Cells, road and cuts are in
 * rdp_cut.cuh; labels and lists are in this file.
 *
 * Work:    a warp takes one column, from cells to published segments.
 *          Cut: depth first. The whole warp searches pieces longer than RDP_SMALL. Shorter pieces are put
 *          aside; then each is cut to the end by one lane, 32 pieces at a time, without communication between
 *          lanes. Most of the tree's nodes are in these pieces. The next piece above is found in the bits of
 *          the cuts made so far, so there is no stack.
 *          Label: sums up to any row are one of 32 running sums (one per block of cells) plus less than one
 *          block of cells. So a lane judges a segment of any length in the time of one block. Neighbours
 *          merge in groups: all lanes test at once how far a group reaches.
 * Memory:  the column is read once, segments are written once. Shared: 4 bytes per cell, 4 bytes per row of
 *          the ground, 0.9 KB per warp. Columns with more than RDP_WORK segments keep them in their output
 *          list until they are published.
 * Ranges:  cells are floats. Invalid cells are NaN, which loses every comparison. |distance| * run < 16 * 384
 *          * 2160 < 2^24, so all products and sums of the search are exact, fused or not. Sums over a block
 *          (at most 69 cells) are exact too. Sums of x^2 are modulo 2^32; the sum of one segment fits.
 * Shapes:  heights 1..2160. A block has an odd number of cells, so that 32 lanes read 32 banks.
 * Speed:   see tests/lab/lab-performance.md, CUDA: RDP.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include <stixel.h>

extern "C" {
#include "stages/stixels/rdp.h" /* must be the first include: it makes its functions extern "C" */
}
#include "gpu/stages_cuda.h"

#include "gpu/stixels/rdp_cut.cuh"
#include "stages/stixels/rdp_label.h"

/* ---- sums ---------------------------------------------------------------------------------------------- */

/* Sums over the valid cells from row 0 on. x is the row. */
struct sums {
	uint32_t n, x, xx, d, ground, distance;
	unsigned long long xd;
};

/* Returns the sums over the first `count` cells of block b. GROUND: includes the sums of the ground. */
template <bool GROUND>
__device__ __forceinline__ struct sums sum_block(const struct sx_rdp_cuda *s, const struct rdp_column *c,
						 int b, int count)
{
	const int first = b * s->block;
	const float *cell = c->cell + first, *ground = c->ground + first;
	float n = 0, x = 0, xx = 0, d = 0, xd = 0, g = 0, distance = 0, row = 0;
	struct sums r = {};

#pragma unroll 2
	for (int i = 0; i < count; i++, row += 1) {
		const float v = cell[i];

		if (!rdp_is_valid(v))
			continue;
		n += 1;
		x += row;
		xx = fmaf(row, row, xx);
		d += v;
		xd = fmaf(row, v, xd);
		if (GROUND) {
			const float at = fmaxf(ground[i] + c->shift, 0.0f);

			g += at;
			distance += fabsf(v - at);
		}
	}
	r.n = (uint32_t)n;
	r.d = (uint32_t)d;
	r.ground = (uint32_t)g;
	r.distance = (uint32_t)distance;
	/* convert rows of the block to rows of the column */
	r.x = (uint32_t)x + (uint32_t)first * r.n;
	r.xx = (uint32_t)xx + 2 * (uint32_t)first * (uint32_t)x + (uint32_t)(first * first) * r.n;
	r.xd = (uint32_t)xd + (unsigned long long)(uint32_t)first * r.d;
	return r;
}

#define SX_RDP_EACH_SUM(f) f(n) f(x) f(xx) f(d) f(xd) f(ground) f(distance)

/* Returns the sums over all cells of the blocks before the lane's block. */
__device__ __forceinline__ struct sums sum_before(const struct sx_rdp_cuda *s, const struct rdp_column *c)
{
	const struct sums own = sum_block<true>(s, c, c->lane, s->block);
	struct sums r;

#define PREFIX(f) r.f = sx_warp_prefix(own.f, c->lane) - own.f;
	SX_RDP_EACH_SUM(PREFIX)
#undef PREFIX
	return r;
}

/* Returns the sums over rows 0 .. v; each lane has its own v. before: result of sum_before(). */
template <bool GROUND>
__device__ __forceinline__ struct sums sum_up_to(const struct sx_rdp_cuda *s, const struct rdp_column *c,
						 const struct sums *before, int v)
{
	const int b = (int)((uint32_t)v * s->inverse_block >> 20);
	struct sums r = sum_block<GROUND>(s, c, b, v - b * s->block + 1);

	r.n += __shfl_sync(RDP_ALL, before->n, b);
	r.x += __shfl_sync(RDP_ALL, before->x, b);
	r.xx += __shfl_sync(RDP_ALL, before->xx, b);
	r.d += __shfl_sync(RDP_ALL, before->d, b);
	r.xd += __shfl_sync(RDP_ALL, before->xd, b);
	if (GROUND) {
		r.ground += __shfl_sync(RDP_ALL, before->ground, b);
		r.distance += __shfl_sync(RDP_ALL, before->distance, b);
	}
	return r;
}

/*
 * Turns sums up to a lane's row into sums between the previous lane's row and the lane's row. *carry: sum up
 * to the last row of the previous call.
 */
__device__ __forceinline__ struct sums between(struct sums up_to, struct sums *carry, int lane)
{
	struct sums r;

#define STEP(f)                                                         \
	{                                                               \
		const auto below = __shfl_up_sync(RDP_ALL, up_to.f, 1); \
		r.f = up_to.f - (lane ? below : carry->f);              \
		carry->f = __shfl_sync(RDP_ALL, up_to.f, 31);           \
	}
	SX_RDP_EACH_SUM(STEP)
#undef STEP
	return r;
}

/* Returns the sums with x counted from row `first`. */
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

/*
 * A segment before it is published: three words of column.work. Its first row follows the top of the segment
 * below.
 */
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

__device__ __forceinline__ int count_cuts(const struct sx_rdp_cuda *s, const struct rdp_column *c)
{
	uint32_t n = 0;

	for (int w = c->lane; w <= (s->height - 1) / 32; w += 32)
		n += (uint32_t)__popc(c->cut[w]);
	return (int)sx_warp_sum(n);
}

/* Writes the tops of the segments into their entries. */
__device__ __forceinline__ void list_cuts(const struct sx_rdp_cuda *s, const struct rdp_column *c)
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
		base += __shfl_sync(RDP_ALL, last, 31);
	}
	__syncwarp();
}

__device__ __forceinline__ int kind_of(const struct sx_rdp_cuda *s, const struct rdp_column *c,
				       const struct sums *a, int first, int last, uint32_t mean,
				       int32_t ground_slope)
{
	struct sx_rdp_sums r;

	if (a->n == 0 || last < c->unseen)
		return STIXEL_UNKNOWN;
	if (last >= c->vhor && mean < (uint32_t)s->sky_q4)
		return STIXEL_SKY;
	if (last >= c->vhor + 2)
		return STIXEL_OBJECT;
	r = from_row(a, first);
	return sx_rdp_on_ground(&r, last - first + 1, s->ground_q4, ground_slope) ? STIXEL_GROUND
										  : STIXEL_OBJECT;
}

/* Completes entries that have only tops. */
__device__ __forceinline__ void judge(const struct sx_rdp_cuda *s, const struct rdp_column *c,
				      const struct sums *before, int n, int32_t ground_slope)
{
	struct sums carry = {};
	int top_below = -1;

	for (int i = c->lane; i - c->lane < n; i += 32) {
		struct entry e;

		e.top = i < n ? (int)c->work[3 * i] : s->height - 1;
		int below = __shfl_up_sync(RDP_ALL, e.top, 1);
		const struct sums a = between(sum_up_to<true>(s, c, before, e.top), &carry, c->lane);

		below = c->lane ? below : top_below;
		top_below = __shfl_sync(RDP_ALL, e.top, 31);
		e.n = a.n;
		e.d = a.d;
		e.mean = sx_rdp_mean_q4(a.n, a.d);
		e.kind = kind_of(s, c, &a, below + 1, e.top, e.mean, ground_slope);
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

/* Returns a mask of the bits above i. */
__device__ __forceinline__ uint32_t bits_above(int i)
{
	return i < 31 ? 0xfffffffeu << i : 0;
}

/*
 * 32 entries, one per lane.
 * up_to_n, up_to_d: sums of the entries up to the lane. valid: lanes that have an entry.
 * reach(): returns the first lane from `next` on that does not join the group of that kind, or the number of
 *   entries if all join. n, d: sums of the group before lane `next`.
 */
struct batch {
	struct entry e;
	uint32_t up_to_n, up_to_d, valid;
};

__device__ __forceinline__ int reach(const struct sx_rdp_cuda *s, const struct batch *b, int lane, int next,
				     int kind, uint32_t n, uint32_t d)
{
	const uint32_t start_n = next ? __shfl_sync(RDP_ALL, b->up_to_n, next - 1) : 0;
	const uint32_t start_d = next ? __shfl_sync(RDP_ALL, b->up_to_d, next - 1) : 0;
	const bool asked = lane >= next && b->valid >> lane & 1;
	bool joins = true;
	uint32_t stop;

	if (asked) {
		const uint32_t group_n = n + b->up_to_n - b->e.n - start_n;
		const uint32_t group_d = d + b->up_to_d - b->e.d - start_d;

		joins = one_thing(s, kind, sx_rdp_mean_q4(group_n, group_d), &b->e);
	}
	stop = __ballot_sync(RDP_ALL, !joins);
	return stop ? __ffs((int)stop) - 1 : __popc(b->valid);
}

/* Returns the lanes that start a new group, from lane `from` on. Lane `from` itself starts one. */
__device__ __forceinline__ uint32_t group_starts(const struct sx_rdp_cuda *s, const struct batch *b, int lane,
						 int from)
{
	const int kind = __shfl_up_sync(RDP_ALL, b->e.kind, 1);
	const uint32_t mean = __shfl_up_sync(RDP_ALL, b->e.mean, 1);
	const bool joins = lane > from && b->valid >> lane & 1 && one_thing(s, kind, mean, &b->e);
	const uint32_t joining =
		__ballot_sync(RDP_ALL, joins); /* compares with the entry below as if that were a group */
	uint32_t starts = b->valid & (0xffffffffu << from), next = joining;

	while (next) {
		const int second = __ffs((int)next) - 1, first = second - 1;
		const int end =
			reach(s, b, lane, second, __shfl_sync(RDP_ALL, b->e.kind, first),
			      __shfl_sync(RDP_ALL, b->e.n, first), __shfl_sync(RDP_ALL, b->e.d, first));

		/* lanes second .. end-1 have joined; lane end starts a group */
		starts &= ~(bits_above(first) & ~(end < 32 ? 0xffffffffu << end : 0));
		next = end < 32 ? joining & bits_above(end) : 0;
	}
	return starts;
}

/* Returns the entry into which a lane's group, up to the next start, merges. */
__device__ __forceinline__ struct entry group_of(const struct batch *b, int lane, uint32_t starts)
{
	const uint32_t above = starts & bits_above(lane);
	const int end = above ? __ffs((int)above) - 2 : __popc(b->valid) - 1;
	struct entry e = b->e;

	e.top = __shfl_sync(RDP_ALL, e.top, end);
	e.n += __shfl_sync(RDP_ALL, b->up_to_n, end) - b->up_to_n;
	e.d += __shfl_sync(RDP_ALL, b->up_to_d, end) - b->up_to_d;
	if (end > lane)
		e.mean = sx_rdp_mean_q4(e.n, e.d);
	return e;
}

__device__ __forceinline__ struct entry entry_of_lane(const struct entry *e, int lane)
{
	struct entry r;

	r.top = __shfl_sync(RDP_ALL, e->top, lane);
	r.kind = __shfl_sync(RDP_ALL, e->kind, lane);
	r.n = __shfl_sync(RDP_ALL, e->n, lane);
	r.d = __shfl_sync(RDP_ALL, e->d, lane);
	r.mean = __shfl_sync(RDP_ALL, e->mean, lane);
	return r;
}

/*
 * Merges neighbours bottom-up, in place; returns the number of segments left. RELABEL: first, ground above an
 * object that is farther away becomes an object. No two such segments are neighbours, because neighbours have
 * merged.
 */
template <bool RELABEL>
__device__ __forceinline__ int merge(const struct sx_rdp_cuda *s, const struct rdp_column *c, int n)
{
	struct entry open = {},
		     /*
		      * open: the group that may go on, unless kept < 0; below: the last entry before the
		      * group, unchanged
		      */
		below = {};
	int kept = -1;

	for (int i = c->lane; i - c->lane < n; i += 32) {
		struct batch b;
		uint32_t starts;
		int from = 0;

		b.e = load_entry(c->work, i < n ? i : n - 1);
		__syncwarp(); /* lanes without an entry have read the last entry, which a store replaces */
		if (i >= n)
			b.e.n = b.e.d = 0;
		b.valid = __ballot_sync(RDP_ALL, i < n);
		if (RELABEL) {
			const struct entry was = b.e;
			const int kind = __shfl_up_sync(RDP_ALL, was.kind, 1);
			const uint32_t mean = __shfl_up_sync(RDP_ALL, was.mean, 1);
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
				open.top = __shfl_sync(RDP_ALL, b.e.top, from - 1);
				open.n += __shfl_sync(RDP_ALL, b.up_to_n, from - 1);
				open.d += __shfl_sync(RDP_ALL, b.up_to_d, from - 1);
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

/*
 * Publishes the segments. list: output of the column, as words of struct sx_segment; may be the memory of the
 * entries.
 */
__device__ __forceinline__ void publish(const struct sx_rdp_cuda *s, const struct rdp_column *c,
					const struct sums *before, int n, uint32_t *list)
{
	struct sums carry = {};
	int top_below = -1;

	for (int i = c->lane; i - c->lane < n; i += 32) {
		struct entry e = load_entry(c->work, i < n ? i : n - 1);
		const struct sums a = between(sum_up_to<false>(s, c, before, e.top), &carry, c->lane);
		int below = __shfl_up_sync(RDP_ALL, e.top, 1);
		struct sx_rdp_sums r;
		struct sx_segment g;

		below = c->lane ? below : top_below;
		top_below = __shfl_sync(RDP_ALL, e.top, 31);
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

/* ---- kernel -------------------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(32 * RDP_WARPS_MAX)
	segment(const struct sx_rdp_cuda s, const struct sx_cuda_road *road, const uint8_t *cells,
		size_t pitch, const struct sx_segments out)
{
	SX_DYNAMIC_SHARED(uint32_t, shared);
	const int warp = (int)threadIdx.x / 32, u = (int)blockIdx.x * s.warps + warp;
	float *ground = (float *)shared;
	struct rdp_column c;

	c.lane = (int)threadIdx.x % 32;
	c.ground = ground;
	c.cell = ground + 32 * s.block + warp * s.warp_words;
	c.work = (uint32_t *)c.cell + 32 * s.block;
	c.node = c.work;
	c.cut = c.work + 3 * RDP_WORK;
	for (int v = (int)threadIdx.x; v < 32 * s.block; v += 32 * s.warps) {
		ground[v] = v < s.height ? (float)road->ground_q4[v] : 0.0f;
	}
	__syncthreads();
	if (u >= s.columns)
		return;

	rdp_see_road(&s, &c, &road->road, u);
	rdp_load_cells(&s, (const uint4 *)(cells + (size_t)u * pitch), &c);
	float *bottom_cell = c.cell, *top_cell = c.cell + s.height - 1;
	const bool bottom_valid = rdp_is_valid(*bottom_cell), top_valid = rdp_is_valid(*top_cell);
	const float bottom = rdp_first_valid(&c, s.height), top = rdp_last_valid(&c, s.height);

	/* the ends of the column bound pieces even if they are invalid */
	__syncwarp();
	if (c.lane == 0) {
		*bottom_cell = bottom;
		*top_cell = top;
	}
	__syncwarp();
	rdp_cut_column(&s, &c);
	rdp_join_unseen(&c);
	if (c.lane == 0) {
		*bottom_cell = bottom_valid ? bottom : rdp_invalid_cell();
		*top_cell = top_valid ? *top_cell : rdp_invalid_cell();
	}
	__syncwarp();

	uint32_t *list = (uint32_t *)(out.list + (size_t)u * (size_t)out.capacity);
	int n = count_cuts(&s, &c);

	if (n > RDP_WORK)
		c.work = list;
	list_cuts(&s, &c);
	const struct sums before = sum_before(&s, &c);

	judge(&s, &c, &before, n, sx_rdp_slope_of_road(road->road.slope));
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
	s->width = t->width;
	s->block = ((height + 31) / 32) | 1;
	s->inverse_block = ((1u << 20) + (uint32_t)s->block - 1) / (uint32_t)s->block;
	s->warp_words = (32 * s->block + 3 * RDP_WORK + (height + 31) / 32 + 3) / 4 * 4;
	for (s->warps = RDP_WARPS_MAX;
	     s->warps > 1 && 4 * (32 * s->block + s->warps * s->warp_words) > RDP_SHARED_MAX;)
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
