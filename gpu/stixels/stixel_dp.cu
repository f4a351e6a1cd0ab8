/*
 * The stixel DP on the GPU. Lists and totals must equal the results of sx_dp_run()
 * (stages/stixels/stixel_dp.h).
 *
 * A block of 4 or 8 warps takes one column. It processes the rows in blocks of 32; a lane is a top row of the
 * block:
 *
 *	 start rows 0 ..           31 | 32 ..            63 | 64 ..            95
 *	+-----------------------------+---------------------+---------------------+ top rows
 *	| earlier blocks: those that can still matter       | the triangle, one   | 64 = lane 0
 *	| (dp_survivors), listed, in groups of 4 to warps   | start row a step,   |  ..
 *	| (dp_best_of_list), each lane all of its warp's    | warp 0 alone        | 95 = lane 31
 *	+---------------------------------------------------+---------------------+
 *	 warps 1 .. meanwhile: sums, priors, pairs of rows 96 .. 127 (stixel_dp_prepare.cuh)
 *
 *	a pair of the triangle:      mean (sixteenths of a px, 16 bits) | start row << 16; data cost
 *	a row's choice (from):       start row of its object | that of ground or sky << 16,
 *	                             highest bit: on ground
 *	limits of an object's mean:  hi | lo << 16, highest bit: sky may lie on it
 *
 * The files, in the order of the work: stixel_dp_column.cuh, _prepare, _earlier, _triangle, _list.
 *
 * Work:    ground and sky are running minima; only objects need pairs of rows. A counter hands out the
 *          columns.
 * Memory:  the object table's prefix sums of the current block are in shared memory, [fn][33], only for means
 *          that the column can have. Those of earlier rows are in global scratch: every 8th row, or every 2nd
 *          or 4th or every row, if the memory budget allows. So up to 7 cells are added up again. Tables that
 *          grow with the height are in shared memory if all columns then fit side by side, else in global
 *          scratch. If the range or the height is too large for both, all tables are in global scratch
 *          (dp_place).
 * Ranges:  costs as in stages/stixels/stixel_dp.h; DP_ILLEGAL. Means are computed in float if that is exact,
 *          else by division.
 * Shapes:  any height to 2160, any range to 384.
 * Speed:   tests/lab/lab-performance.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/stages_cuda.h"
#include "gpu/stixels/stixel_dp_column.cuh"
#include "gpu/stixels/stixel_dp_earlier.cuh"
#include "gpu/stixels/stixel_dp_list.cuh"
#include "gpu/stixels/stixel_dp_prepare.cuh"
#include "gpu/stixels/stixel_dp_triangle.cuh"
#include "stages/road/road_ground.h"

/* Arguments of the kernel, the same for every frame. */
struct dp_arguments {
	struct dp_tables tables;
	struct dp_layout layout;
	const struct sx_cuda_road *road;
	const uint16_t *columns;
	size_t pitch; /* bytes */
	int count;
	struct sx_segment *list;
	uint16_t *list_count;
	int32_t *total;
	uint8_t *scratch;
	unsigned *next; /* columns that blocks have taken beyond their first; 0 again after every launch */
};

template <enum dp_place PLACE>
DP_INLINE void dp_lay_out(struct dp_column *c, const struct dp_arguments &a, unsigned char *shared)
{
	const struct dp_layout &l = a.layout;
	uint8_t *scratch = a.scratch + (size_t)blockIdx.x * l.scratch,
		*tables = PLACE == DP_NEAR || PLACE == DP_DIVIDED ? shared : scratch;

	c->height = a.tables.height;
	c->blocks = (a.tables.height + DP_ROWS - 1) / DP_ROWS;
	c->axis_q4 = a.road->ground_q4;
	c->lane = (int)threadIdx.x & 31;
	c->warp = (int)threadIdx.x >> 5;
	c->fixed = (struct dp_fixed *)shared;
	c->slab = (int32_t *)((PLACE == DP_LARGE ? scratch : shared) + l.slab);
	c->sum = (int2 *)(tables + l.sum);
	c->reciprocal = PLACE == DP_NEAR ? (const float *)(tables + l.reciprocal) : a.tables.reciprocal;
	c->excess = (int32_t *)(tables + l.excess);
	c->reach = (int32_t *)(tables + l.reach);
	c->from = (uint32_t *)(tables + l.from);
	c->order = a.tables.order;
	c->order_gap = a.tables.order_lo - a.tables.order_hi;
	c->rows = (int32_t *)(scratch + l.rows);
	c->anchor = (int4 *)(scratch + l.anchor);
	c->start = (struct dp_start *)(scratch + l.start);
	c->cheap = (int32_t *)(scratch + l.cheap);
	c->table_row = (int32_t *)(scratch + l.table_row);
}

/* Sets up, once per block, the tables that all columns share, and row 0 as an illegal start row. */
template <int W, enum dp_place PLACE>
DP_INLINE void dp_begin(const struct dp_column &c, const struct dp_arguments &a)
{
	const int thread = (int)threadIdx.x;

	for (int i = thread; PLACE == DP_NEAR && i <= c.height; i += 32 * W)
		((float *)c.reciprocal)[i] = a.tables.reciprocal[i];
	if (thread == 0) {
		struct dp_start none;

		/* limits that no mean passes: none is above hi, none below lo */
		none.object_limits = 0xffffu;
		none.object_above = none.object_below = DP_ILLEGAL;
		none.base_hi = INT32_MAX;
		none.base_lo = INT32_MIN;
		none.base_above = none.base_on = none.base_below = DP_ILLEGAL;
		c.start[0] = none;
	}
}

/* Returns how many prefix-sum rows fit in memory, as a shift: every row, or every 2nd, 4th or 8th. */
DP_INLINE int dp_shift(const struct dp_arguments &a, const struct dp_column &c)
{
	const int most = (int)((a.layout.scratch - a.layout.rows) / sizeof(int32_t)) / c.span,
		  rows = DP_ROWS * c.blocks;
	int shift = 0;

	while (1 << shift < DP_STRIDE && rows >> shift > most)
		shift++;
	return shift;
}

/*
 * Opens column u: reads its road, the rows of the object table and the means that the column can have, and
 * zeroes the first sums. Ends with a barrier.
 */
template <int W>
DP_INLINE void dp_open_column(struct dp_column *c, const struct dp_arguments &a, const uint16_t *column,
			      int u)
{
	const struct dp_tables &t = a.tables;
	const int32_t in_view = sx_road_in_view_q4(u, t.width);
	int least = t.range, most = -1, vhor = c->height, unseen = c->height;

	if (threadIdx.x == 0) {
		c->fixed->prefix = c->cheap[0] = 0;
		c->sum[0] = make_int2(0, DP_NO_CELLS);
		c->fixed->least = t.range;
		c->fixed->most = -1;
		c->fixed->vhor = c->fixed->unseen = c->height;
	}
	c->shift_q4 = sx_road_shift_q4(a.road->road.cross, a.road->road.axis, u, t.width);
	__syncthreads();
	for (int v = (int)threadIdx.x; v < DP_ROWS * c->blocks; v += 32 * W) {
		const int cell = v < c->height ? column[v] : SX_DISPARITY_INVALID;

		c->table_row[v] =
			(v < c->height ? dp_table_row(t, (uint16_t)cell) : t.range + 1) * (t.range + 1);
		if (cell != SX_DISPARITY_INVALID) {
			const int px = (dp_min(cell, 16 * t.range - 1) + 8) >> 4;

			least = dp_min(least, px);
			most = dp_max(most, px);
		}
		if (v < c->height && dp_ground(*c, v) <= 0)
			vhor = dp_min(vhor, v);
		if (v < c->height && dp_ground(*c, v) <= in_view)
			unseen = dp_min(unseen, v);
	}
	least = dp_warp_min(least);
	most = dp_warp_max(most);
	vhor = dp_warp_min(vhor);
	unseen = dp_warp_min(unseen);
	if (c->lane == 0) {
		atomicMin(&c->fixed->least, least);
		atomicMax(&c->fixed->most, most);
		atomicMin(&c->fixed->vhor, vhor);
		atomicMin(&c->fixed->unseen, unseen);
	}
	__syncthreads();
	least = c->fixed->least;
	most = c->fixed->most;
	c->vhor = c->fixed->vhor;
	c->least = most < 0 ? 0 : least;
	c->span = most < 0 ? 1 : most - least + 1;
	c->object = t.object + c->least;
	c->shift = dp_shift(a, *c);
}

/* State that warp 0 keeps between the steps of a block. */
struct dp_state {
	struct dp_lane lane;
	struct dp_carry carry, before; /* before: carry of the row below the block */
	int32_t first;
	int first_mean;
};

/*
 * Finds the cheapest objects that end at the block's top rows and start in earlier blocks: one per warp, in
 * c.best_of_warp.
 */
template <int W, bool FLOATS>
DP_INLINE void dp_earlier(const struct dp_tables &t, const struct dp_column &c, struct dp_state *s, int block)
{
	const struct dp_top top = dp_top_of(c, block);
	int32_t slack;
	int count;
	int2 best;

	if (c.warp == 0) {
		s->first = dp_first_object<FLOATS>(t, c, top, DP_ROWS * block + c.lane, &s->first_mean);
		slack = dp_slack<FLOATS>(c, top, s->carry, s->first, block);
		if (c.lane == 0)
			c.fixed->slack = slack;
	}
	__syncthreads();
	count = dp_survivors<W>(c, block, c.fixed->slack);
	switch (c.shift) {
	case 0:
		best = dp_best_of_list<W, FLOATS, 0>(c, top, block, count);
		break;
	case 1:
		best = dp_best_of_list<W, FLOATS, 1>(c, top, block, count);
		break;
	case 2:
		best = dp_best_of_list<W, FLOATS, 3>(c, top, block, count);
		break;
	default:
		best = dp_best_of_list<W, FLOATS, DP_STRIDE - 1>(c, top, block, count);
	}
	dp_candidates_of(c, block)->best_of_warp[c.warp * 32 + c.lane] = best;
	__syncthreads();
}

/* Returns the mean of rows k .. top of the block. */
DP_INLINE int dp_pair_mean(const struct dp_column &c, int block, int k, int top)
{
	const int at = k < DP_ROWS / 2 ? k * DP_ROWS + top : (DP_ROWS - k) * DP_ROWS + top - k;

	return c.fixed->pairs[block & 1].pair[at].x & 0xffff;
}

/*
 * Returns the best of the warps' objects and the object from row 0. Of equal costs, the lower start row wins.
 */
template <int W, bool FLOATS, int AHEAD>
DP_INLINE void dp_merge(const struct dp_column &c, struct dp_state *s, int block)
{
	struct dp_lane *l = &s->lane;
	int mean = s->first_mean, from = 0;

	l->cost = s->first;
	if (block > 0) {
		for (int w = 0; w < W; w++) {
			const int2 x = dp_candidates_of(c, block)->best_of_warp[w * 32 + c.lane];

			if (x.x < l->cost || (x.x == l->cost && x.y < from)) {
				l->cost = x.x;
				from = x.y;
			}
		}
		if (from > 0)
			mean = dp_mean_of<FLOATS>(c, c.sum[DP_ROWS * block + c.lane + 1], c.sum[from]).mean -
			       dp_bias<FLOATS>::mean;
	}
	l->from_mean = mean | from << 16;
	l->lower = l->early = l->next = dp_lower_of(c.order, mean);
	l->alone = dp_lower_of(c.order, dp_pair_mean(c, block, c.lane, c.lane));
	if (AHEAD == 2)
		l->two = dp_lower_of(c.order, dp_pair_mean(c, block, dp_max(c.lane - 1, 0), c.lane));
	l->base = DP_ILLEGAL;
	s->before = s->carry;
}

/* Warp 0 solves one half of the block's rows. The objects of all earlier blocks must be in c.best_of_warp. */
template <int W, bool FLOATS, int AHEAD>
DP_INLINE void dp_solve(const struct dp_tables &t, const struct dp_column &c, struct dp_state *s, int block,
			int half)
{
	struct dp_carry *carry = &s->carry;
	int last;

	DP_OPAQUE_INT(block); /* opaque, else the compiler lets all warps compute what only warp 0 needs */
	if (half == 0) {
		dp_merge<W, FLOATS, AHEAD>(c, s, block);
		if (block == 0) {
			carry->run = c.vhor > 0 ? t.first_ground : DP_ILLEGAL;
			carry->base = c.vhor > 0 ? c.fixed->step[0].after + carry->run : DP_ILLEGAL;
			s->lane.base = carry->base;
		}
		dp_triangle<false, AHEAD>(c, s->lane, *carry, block);
		return;
	}
	dp_triangle<true, AHEAD>(c, s->lane, *carry, block);
	last = dp_min(DP_ROWS, c.height - DP_ROWS * block) - 1;
	carry->run_from = __shfl_sync(DP_ALL, dp_close_block<FLOATS>(c, s->lane, s->before, block), last);
	carry->object = __shfl_sync(DP_ALL, s->lane.cost, last);
	carry->lower = dp_lower_of(c.order, __shfl_sync(DP_ALL, s->lane.from_mean, last) & 0xffff);
}

/* Prepares one half of a block, in all warps from `first` on. */
template <int W, bool FLOATS>
DP_INLINE void dp_prepare(const struct dp_tables &t, const struct dp_column &c, const uint16_t *column,
			  int block, int half, int first)
{
	const int warp = c.warp - first, warps = W - first;

	DP_OPAQUE_INT(block);
	if (half == 0) {
		const int thread = 32 * warp + c.lane, threads = 32 * warps;

		if (c.shift == 0)
			dp_prepare_slab<W, 0>(c, block, thread, threads);
		else if (c.shift == 1)
			dp_prepare_slab<W, 1>(c, block, thread, threads);
		else if (c.shift == 2)
			dp_prepare_slab<W, 2>(c, block, thread, threads);
		else
			dp_prepare_slab<W, 3>(c, block, thread, threads);
		if (c.warp == W - 1)
			dp_prepare_rows<FLOATS>(t, c, column, block);
		return;
	}
	for (int line = warp; line < DP_LINES; line += warps)
		dp_prepare_pairs<FLOATS>(c, block, line);
	for (int i = warp; i < block; i += warps)
		dp_prepare_reach<W>(c, i);
}

/*
 * Runs the recurrence. Warp 0 solves the rows of a block one by one, in halves, while the other warps prepare
 * the next block.
 */
template <int W, bool FLOATS, int AHEAD>
DP_INLINE struct dp_carry dp_recurrence(const struct dp_tables &t, const struct dp_column &c,
					const uint16_t *column)
{
	struct dp_state s = dp_state();

	s.carry.object = s.carry.base = s.carry.run = DP_ILLEGAL;
	for (int j = -1; j < c.blocks; j++) {
		if (j > 0)
			dp_earlier<W, FLOATS>(t, c, &s, j);
		for (int half = 0; half < 2; half++) {
			if (j >= 0 && c.warp == 0)
				dp_solve<W, FLOATS, AHEAD>(t, c, &s, j, half);
			else if (j + 1 < c.blocks)
				dp_prepare<W, FLOATS>(t, c, column, j + 1, half, j >= 0);
			if (j < 0 && half == 1) /* the slab has block 0 only now */
				s.first =
					dp_first_object<FLOATS>(t, c, dp_top_of(c, 0), c.lane, &s.first_mean);
			__syncthreads();
		}
	}
	return s.carry;
}

/* Writes the column's list, in warp 0. */
template <bool FLOATS>
DP_INLINE void dp_finish_column(const struct dp_arguments &a, const struct dp_column &c,
				const struct dp_carry &top, int u)
{
	int2 *way = (int2 *)c.anchor;
	const double slope = rint(-16384.0 * a.road->road.slope);
	const int q14 = (int)(slope > INT16_MAX ? INT16_MAX : slope < INT16_MIN ? INT16_MIN : slope);
	int32_t total;
	int n = dp_back_track<FLOATS>(c, top, &total, way);

	n = dp_write_list(c, way, n, q14, a.list + (size_t)u * (size_t)c.height);
	if (c.lane == 0) {
		a.list_count[u] = (uint16_t)n;
		a.total[u] = total;
	}
}

/*
 * Blocks of four warps per multiprocessor. If shared memory has room for seven or five, registers should
 * suffice too. Before sm_80 shared memory has no room for five.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define DP_BLOCKS_NEAR 4
#else
#define DP_BLOCKS_NEAR 5
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200
#define DP_BLOCKS_FAR 7
#else
#define DP_BLOCKS_FAR DP_BLOCKS_NEAR
#endif
#define DP_BLOCKS(warps, place) \
	((warps) == DP_WARPS_MAX ? 2 : (place) == DP_FAR ? DP_BLOCKS_FAR : DP_BLOCKS_NEAR)

template <int W, enum dp_place PLACE>
__global__ void __launch_bounds__(32 * W, DP_BLOCKS(W, PLACE)) dp_columns(struct dp_arguments a)
{
	/* DP_FAR: needs fewer registers, and other warps run during loads */
	const int AHEAD = PLACE == DP_FAR ? 1 : 2;
	const bool FLOATS = PLACE == DP_NEAR || PLACE == DP_FAR;
	SX_DYNAMIC_SHARED(unsigned char, shared);
	struct dp_column c;

	dp_lay_out<PLACE>(&c, a, shared);
	dp_begin<W, PLACE>(c, a);
	for (int u = (int)blockIdx.x; u < a.count; u = c.fixed->column) {
		const uint16_t *column = (const uint16_t *)((const char *)a.columns + (size_t)u * a.pitch);
		struct dp_carry top;

		dp_open_column<W>(&c, a, column, u);
		top = dp_recurrence<W, FLOATS, AHEAD>(a.tables, c, column);
		if (c.warp == 0)
			dp_finish_column<FLOATS>(a, c, top, u);
		/* together, blocks call it a.count times, so the counter wraps to 0 */
		if (threadIdx.x == 0)
			c.fixed->column = (int)(gridDim.x + atomicInc(a.next, (unsigned)a.count - 1));
		__syncthreads();
	}
}

/* ---- host ---- */

struct sx_dp_cuda {
	struct dp_tables tables;
	struct dp_layout layout;
	uint8_t *scratch;
	unsigned *next;
	int warps, grid;
	enum dp_place place;
};

static int dp_take_shared(int *at, size_t bytes)
{
	const int r = *at;

	*at += (int)((bytes + 15) & ~(size_t)15);
	return r;
}

static size_t dp_take_scratch(size_t *at, size_t bytes)
{
	const size_t r = *at;

	*at += (bytes + 127) & ~(size_t)127;
	return r;
}

/* Places the tables that are in shared memory. Tables in scratch follow one another from offset 0. */
static void dp_place_shared(struct sx_dp_cuda *s)
{
	const size_t h = (size_t)s->tables.height, blocks = (h + DP_ROWS - 1) / DP_ROWS,
		     rows = blocks * DP_ROWS, word = sizeof(int32_t);
	struct dp_layout *l = &s->layout;
	int shared = 0, *at;

	memset(l, 0, sizeof(*l));
	dp_take_shared(&shared, sizeof(struct dp_fixed));
	at = s->place == DP_LARGE ? &l->tables : &shared;
	l->slab = dp_take_shared(at, ((size_t)s->tables.range + 1) * (DP_ROWS + 1) * word);
	at = s->place == DP_NEAR || s->place == DP_DIVIDED ? &shared : &l->tables;
	l->sum = dp_take_shared(at, (rows + 1) * sizeof(int2));
	l->reciprocal = dp_take_shared(at, s->place == DP_NEAR ? (h + 1) * word : 0);
	l->excess = dp_take_shared(at, rows * word);
	l->reach = dp_take_shared(at, blocks * 4 * word);
	l->from = dp_take_shared(at, rows * word);
	l->shared = shared;
}

/*
 * Places the tables in scratch. bytes: memory that a block may have. The rest, after the other tables, goes
 * to rows, see dp_shift().
 */
static void dp_place_scratch(struct dp_layout *l, int h, int range, size_t bytes)
{
	const size_t blocks = (size_t)(h + DP_ROWS - 1) / DP_ROWS, rows = blocks * DP_ROWS,
		     word = sizeof(int32_t), columns = (size_t)range + 1, all = rows * columns * word;
	size_t others;

	l->scratch = 0;
	dp_take_scratch(&l->scratch, (size_t)l->tables);
	l->anchor = dp_take_scratch(&l->scratch, blocks * columns * sizeof(int4));
	l->start = dp_take_scratch(&l->scratch, rows * sizeof(struct dp_start));
	l->cheap = dp_take_scratch(&l->scratch, (rows + 1) * word);
	l->table_row = dp_take_scratch(&l->scratch, rows * word);
	others = l->scratch;
	l->rows = dp_take_scratch(&l->scratch, bytes <= others	      ? 0
					       : bytes - others < all ? bytes - others
								      : all);
}

/* Fills in 1 / (16 n), rounded up. */
static void dp_fill_reciprocals(float *r, int h)
{
	r[0] = 0.0f;
	for (int n = 1; n <= h; n++) {
		const double x = 1.0 / (16.0 * n);

		r[n] = (float)x;
		if ((double)r[n] < x)
			r[n] = nextafterf(r[n], 1.0f);
	}
}

/*
 * Returns true if dp_mean_of() may compute in float. Sums up to 16 D h + h / 2, counted in halves, must be
 * exact. A reciprocal is too large by a factor 1 + e. With it, a mean below an integer k <= 16 D, which is at
 * least 1 / 2n below, must not reach k.
 */
static bool dp_fits_float(const float *r, int h, int range)
{
	if ((int64_t)h * (32 * range + 1) >= 1 << 24)
		return false;
	for (int n = 1; n <= h; n++)
		if (((double)r[n] * 16.0 * n - 1.0) * 16.0 * range * 2.0 * n >= 0.99)
			return false;
	return true;
}

static void dp_upload_objects(struct dp_tables *d, struct sx_cuda_memory *m, const struct sx_dp_tables *t)
{
	const size_t n = (size_t)t->range;
	int32_t *object = (int32_t *)calloc((n + 2) * (n + 1) + n + 1, sizeof(*object));
	int32_t *least = object + (n + 2) * (n + 1);

	if (!object) {
		m->error = m->error ? m->error : cudaErrorMemoryAllocation;
		return;
	}
	for (size_t i = 0; i <= n; i++) {
		least[i] = INT32_MAX;
		for (size_t fn = 0; fn <= n; fn++) {
			const int32_t x = t->object[i * n + (fn < n ? fn : n - 1)];

			object[i * (n + 1) + fn] = x;
			least[i] = x < least[i] ? x : least[i];
		}
	}
	d->object = (const int32_t *)sx_cuda_upload(m, object, (n + 2) * (n + 1) * sizeof(*object));
	d->object_min = (const int32_t *)sx_cuda_upload(m, least, (n + 1) * sizeof(*least));
	free(object);
}

/*
 * Uploads the order of the costs. Costs of one kind span slightly more than ln(16 D) nats, which is below 16
 * bits in Q12. Limits are below 32 D.
 */
static void dp_upload_order(struct dp_tables *d, struct sx_cuda_memory *m, const struct sx_dp_tables *t)
{
	const int n = 16 * t->range;
	struct dp_order *order = (struct dp_order *)calloc((size_t)n, sizeof(*order));

	if (!order) {
		m->error = m->error ? m->error : cudaErrorMemoryAllocation;
		return;
	}
	d->order_hi = d->order_lo = INT32_MAX;
	for (int i = 0; i < n; i++) {
		d->order_hi = t->order[i].cost_hi < d->order_hi ? t->order[i].cost_hi : d->order_hi;
		d->order_lo = t->order[i].cost_lo < d->order_lo ? t->order[i].cost_lo : d->order_lo;
	}
	for (int i = 0; i < n; i++) {
		order[i].hi = (uint16_t)t->order[i].hi;
		order[i].lo = (uint16_t)((uint32_t)t->order[i].lo | (i >= t->epsilon_q4 ? DP_UNDER_SKY : 0));
		order[i].cost_hi = (uint16_t)(t->order[i].cost_hi - d->order_hi);
		order[i].cost_lo = (uint16_t)(t->order[i].cost_lo - d->order_lo);
	}
	d->order = (const struct dp_order *)sx_cuda_upload(m, order, (size_t)n * sizeof(*order));
	free(order);
}

static void dp_upload_tables(struct dp_tables *d, struct sx_cuda_memory *m, const struct sx_dp_tables *t)
{
	const size_t by_ground = (16 * (size_t)t->range + 1) * sizeof(int32_t);

	d->height = t->height;
	d->range = t->range;
	d->epsilon_q4 = t->epsilon_q4;
	d->width = t->width;
	dp_upload_objects(d, m, t);
	dp_upload_order(d, m, t);
	d->base_ground = (const int32_t *)sx_cuda_upload(m, t->base_ground, by_ground);
	d->precision_ground = (const int32_t *)sx_cuda_upload(m, t->precision_ground, by_ground);
	d->gravity_above = (const int32_t *)sx_cuda_upload(m, t->gravity_above, by_ground);
	d->gravity_below = (const int32_t *)sx_cuda_upload(m, t->gravity_below, by_ground);
	d->length = (const int32_t *)sx_cuda_upload(m, t->length, (size_t)t->height * sizeof(int32_t));
	d->base_sky = t->base_sky;
	d->precision_sky = t->precision_sky;
	d->uniform_ground = t->uniform_ground;
	d->uniform_sky = t->uniform_sky;
	d->valid_ground = t->valid_ground;
	d->valid_sky = t->valid_sky;
	d->invalid_ground = t->invalid_ground;
	d->invalid_sky = t->invalid_sky;
	d->gravity_on = t->gravity_on;
	d->object_on_sky = t->object_on_sky;
	d->ground_next = t->ground_next;
	d->object_next = t->object_next;
	d->ln2 = t->ln2;
	d->first_ground = t->first_ground;
	d->first_object = t->first_object;
	d->first_object_low = t->first_object_low;
}

typedef void dp_kernel(struct dp_arguments a);

static dp_kernel *dp_kernel_of(const struct sx_dp_cuda *s)
{
	if (s->place == DP_LARGE)
		return dp_columns<8, DP_LARGE>;
	if (s->place == DP_DIVIDED)
		return dp_columns<8, DP_DIVIDED>;
	if (s->place == DP_FAR)
		return dp_columns<4, DP_FAR>;
	return s->warps == 8 ? dp_columns<8, DP_NEAR> : dp_columns<4, DP_NEAR>;
}

/* Returns the number of blocks that run at once. */
static int dp_resident(const struct sx_dp_cuda *s, struct sx_cuda_memory *m, int sms)
{
	const void *kernel = (const void *)dp_kernel_of(s);
	int per_sm = 0;

	if (m->error == cudaSuccess)
		m->error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
						s->layout.shared);
	if (m->error == cudaSuccess)
		m->error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, 32 * s->warps,
									 (size_t)s->layout.shared);
	return (per_sm > 0 ? per_sm : 1) * sms;
}

/* Returns the budget of scratch, bytes. The scratch is larger only if the least that is needed is larger. */
static size_t dp_budget(int h, int columns)
{
	const size_t share = (size_t)256 * (size_t)h * (size_t)columns, most = (size_t)28 << 20;

	return share < most ? share : most;
}

static void dp_configure(struct sx_dp_cuda *s, struct sx_cuda_memory *m, int columns, int sms, bool floats)
{
	const int most = (int)sx_cuda_shared_max(m);

	s->warps = columns <= 2 * sms || !floats ? 8 : 4;
	s->place = floats ? DP_NEAR : DP_DIVIDED;
	dp_place_shared(s);
	if (s->warps == 4 && (s->layout.shared > most || columns > dp_resident(s, m, sms))) {
		s->place = DP_FAR;
		dp_place_shared(s);
	}
	if (s->layout.shared > most) {
		s->place = DP_LARGE;
		s->warps = 8;
		dp_place_shared(s);
	}
	s->grid = dp_resident(s, m, sms);
	s->grid = s->grid < columns ? s->grid : columns;
	dp_place_scratch(&s->layout, s->tables.height, s->tables.range,
			 dp_budget(s->tables.height, columns) / (size_t)s->grid);
}

int sx_dp_cuda_create(struct sx_dp_cuda **ret, struct sx_cuda_memory *m, const struct sx_params *p,
		      int height, int columns, int sms)
{
	const int range = sx_disparity_range(&p->stereo);
	struct sx_dp_tables *t = NULL;
	struct sx_dp_cuda *s;
	float *reciprocal;
	int r = sx_dp_tables_create(&t, p, height, range);

	if (r < 0)
		return r;
	s = (struct sx_dp_cuda *)calloc(1, sizeof(*s));
	reciprocal = (float *)calloc((size_t)height + 1, sizeof(*reciprocal));
	if (!s || !reciprocal) {
		r = -ENOMEM;
		goto fail;
	}
	dp_fill_reciprocals(reciprocal, height);
	dp_upload_tables(&s->tables, m, t);
	s->tables.reciprocal =
		(const float *)sx_cuda_upload(m, reciprocal, ((size_t)height + 1) * sizeof(*reciprocal));
	dp_configure(s, m, columns, sms, dp_fits_float(reciprocal, height, range));
	s->scratch = (uint8_t *)sx_cuda_take_scratch(m, (size_t)s->grid * s->layout.scratch);
	s->next = (unsigned *)sx_cuda_take(m, sizeof(*s->next));
	if (m->error != cudaSuccess) {
		r = -ENOMEM;
		goto fail;
	}
	sx_dp_tables_destroy(t);
	free(reciprocal);
	*ret = s;
	return 0;
fail:
	sx_dp_tables_destroy(t);
	free(reciprocal);
	free(s);
	return r;
}

void sx_dp_cuda_destroy(struct sx_dp_cuda *s)
{
	free(s);
}

cudaError_t sx_dp_cuda_run(const struct sx_dp_cuda *s, const struct sx_cuda_road *road,
			   const struct sx_image *columns, const struct sx_segments *out, cudaStream_t stream)
{
	struct dp_arguments a;
	dp_kernel *kernel = dp_kernel_of(s);

	memset(&a, 0, sizeof(a));
	a.tables = s->tables;
	a.layout = s->layout;
	a.road = road;
	a.columns = (const uint16_t *)columns->data;
	a.pitch = columns->pitch;
	a.count = columns->height;
	a.list = out->list;
	a.list_count = out->count;
	a.total = out->total;
	a.scratch = s->scratch;
	a.next = s->next;
	SX_LAUNCH((kernel), (unsigned)s->grid, 32 * (unsigned)s->warps, (size_t)s->layout.shared, stream, a);
	return SX_LAUNCHED();
}
