/*
 * The stixel DP on the GPU. Must equal sx_dp_run() (stages/stixel_dp.h), list by list, total by total.
 *
 * Work:    a block of W warps per column, rows in blocks of 32, lane = top row. Ground and sky are running
 *          minima. Objects: start rows of earlier blocks that can still matter (dp_survivors) are listed and shared
 *          out to the warps; the triangle of the block is one warp's, while the others sum up the next block.
 * Memory:  the object table's prefix sums of this block in shared memory, [fn][33], only for means that the column
 *          can have; those of earlier rows in global scratch, row by row, read a line or two at a time.
 * Ranges:  costs as stages/stixel_dp.h; DP_ILLEGAL. Means by float where exact, else by division.
 * Shapes:  any height to 2160, any range to 384.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/stages_cuda.h"
#include "gpu/stixel_dp_list.cuh"

/* What the kernel is given: the same for every frame. */
struct dp_arguments {
	struct dp_tables t;
	struct dp_layout l;
	const struct sx_cuda_road *road;
	const uint16_t *columns;
	size_t pitch; /* bytes */
	int count;
	struct sx_segment *list;
	uint16_t *list_count;
	int32_t *total;
	uint8_t *scratch;
};

DP_INLINE void dp_lay_out(struct dp_column *c, const struct dp_arguments &a, unsigned char *shared)
{
	const struct dp_layout &l = a.l;
	uint8_t *scratch = a.scratch + (size_t)blockIdx.x * l.scratch;

	c->h = a.t.h;
	c->blocks = (a.t.h + DP_ROWS - 1) / DP_ROWS;
	c->vhor = a.road->vhor;
	c->ground_q4 = a.road->ground_q4;
	c->lane = (int)threadIdx.x & 31;
	c->warp = (int)threadIdx.x >> 5;
	c->pitch = l.pitch;
	c->slab = (int32_t *)(shared + l.slab);
	c->fn_sum = (int32_t *)(shared + l.fn_sum);
	c->mean_sum = (int32_t *)(shared + l.mean_sum);
	c->n4 = (int32_t *)(shared + l.n4);
	c->reciprocal = (const float *)(shared + l.reciprocal);
	c->step = (struct dp_step *)(shared + l.step);
	c->pair = (int2 *)(shared + l.pair);
	c->pair_base = (int32_t *)(shared + l.pair_base);
	c->part = (int2 *)(shared + l.part);
	c->tile = (int32_t *)(shared + l.tile);
	c->mask = (uint32_t *)(shared + l.mask);
	c->list = (uint16_t *)(shared + l.list);
	c->misc = (int32_t *)(shared + l.misc);
	c->order = l.order < 0 ? a.t.order : (const struct dp_order *)(shared + l.order);
	c->rows = (int32_t *)(scratch + l.rows);
	c->start = (struct dp_start *)(scratch + l.start);
	c->cheap = (int32_t *)(scratch + l.cheap);
	c->excess = (int32_t *)(scratch + l.excess);
	c->table_row = (int32_t *)(scratch + l.table_row);
	c->from = (uint16_t *)(scratch + l.from);
	c->cost_o = (int32_t *)(scratch + l.cost_o);
	c->cost_x = (int32_t *)(scratch + l.cost_x);
	c->prefix = (int32_t *)(scratch + l.prefix);
}

/* Once per block: tables that all columns share, and the start row that means none. */
template <int W, bool FLOATS> DP_INLINE void dp_begin(const struct dp_column &c, const struct dp_arguments &a)
{
	const int thread = (int)threadIdx.x;

	for (int i = thread; FLOATS && i <= c.h; i += 32 * W)
		((float *)c.reciprocal)[i] = a.t.reciprocal[i];
	if (a.l.order >= 0)
		for (int i = thread; i < 16 * a.t.range; i += 32 * W)
			((struct dp_order *)c.order)[i] = a.t.order[i];
	if (thread == 0) {
		struct dp_start none = {0, 0, 0,	 DP_ILLEGAL, INT32_MAX, INT32_MIN,
					0, 0, INT32_MAX, INT32_MIN,  0,		0};

		c.start[DP_ROWS * c.blocks] = none;
	}
}

/* Rows of the object table and which means the column can have; zeroes what sums begin with. */
template <int W>
DP_INLINE void dp_open_column(struct dp_column *c, const struct dp_tables &t, const uint16_t *column)
{
	int least = t.range, most = -1;

	__syncthreads();
	if (threadIdx.x == 0) {
		c->misc[0] = c->fn_sum[0] = c->mean_sum[0] = c->n4[0] = c->cheap[0] = 0;
		c->misc[1] = t.range;
		c->misc[2] = -1;
	}
	__syncthreads();
	for (int v = (int)threadIdx.x; v < DP_ROWS * c->blocks; v += 32 * W) {
		const int cell = v < c->h ? column[v] : SX_DISPARITY_INVALID;

		c->table_row[v] = (v < c->h ? dp_table_row(t, (uint16_t)cell) : t.range + 1) * (t.range + 1);
		if (cell != SX_DISPARITY_INVALID) {
			const int px = (dp_min(cell, 16 * t.range - 1) + 8) >> 4;

			least = dp_min(least, px);
			most = dp_max(most, px);
		}
	}
	least = dp_warp_min(least);
	most = dp_warp_max(most);
	if (c->lane == 0) {
		atomicMin(&c->misc[1], least);
		atomicMax(&c->misc[2], most);
	}
	__syncthreads();
	least = c->misc[1];
	most = c->misc[2];
	c->least = most < 0 ? 0 : least;
	c->span = most < 0 ? 1 : most - least + 1;
	__syncthreads();
}

/* The cheapest objects of the block's tops that start in earlier blocks, one for each warp, in c.part. */
template <int W, bool FLOATS>
DP_INLINE void dp_earlier(const struct dp_tables &t, const struct dp_column &c, const struct dp_top &top,
			  const struct dp_carry &carry, int block)
{
	int32_t slack;
	int count;

	if (c.warp == 0) {
		__syncwarp();
		slack = dp_slack<FLOATS>(t, c, top, carry, block);
		if (c.lane == 0)
			c.misc[3] = slack;
	}
	__syncthreads();
	slack = c.misc[3];
	for (int i = c.warp; i < block; i += W) {
		const uint32_t mask = dp_survivors(c, i, slack);

		if (c.lane == 0)
			c.mask[i] = mask;
	}
	__syncthreads();
	count = dp_make_list<W>(c, block);
	__syncthreads();
	c.part[c.warp * 32 + c.lane] = dp_best_of_list<W, FLOATS>(c, top, count);
}

/* The best of the warps' and of the object from row 0. Ties: the lower start row. */
template <int W, bool FLOATS>
DP_INLINE void dp_merge(const struct dp_column &c, const struct dp_top &top, struct dp_lane *l, int mean,
			int block)
{
	if (block > 0) {
		for (int w = 0; w < W; w++) {
			const int2 x = c.part[w * 32 + c.lane];

			if (x.x < l->cost || (x.x == l->cost && x.y < l->from)) {
				l->cost = x.x;
				l->from = x.y;
			}
		}
		if (l->from > 0)
			mean = dp_mean_from<FLOATS>(c, top, l->from).mean - dp_bias<FLOATS>::mean;
	}
	l->lower = dp_lower_of(c.order, mean);
	l->alone = dp_lower_of(c.order, c.pair[c.lane * (DP_ROWS + 1)].x);
	l->is_pending = false;
	l->base = DP_ILLEGAL;
}

/* Warp 0: the block's costs, once everything from earlier blocks is in c.part. first: the object from row 0. */
template <int W, bool FLOATS>
DP_INLINE void dp_solve_block(const struct dp_tables &t, const struct dp_column &c, const struct dp_top &top,
			      struct dp_carry *carry, int32_t first, int mean, int block)
{
	struct dp_carry before = *carry;
	struct dp_lane l;
	int last;

	l.cost = first;
	l.from = 0;
	dp_merge<W, FLOATS>(c, top, &l, mean, block);
	if (block == 0) {
		carry->run = c.vhor > 0 ? t.first_ground : DP_ILLEGAL;
		carry->base = c.vhor > 0 ? c.step[0].after + carry->run : DP_ILLEGAL;
		l.base = carry->base;
	}
	dp_triangle(c, l, *carry, block);
	dp_close_block<FLOATS>(c, l, before, block);
	last = dp_min(DP_ROWS, c.h - DP_ROWS * block) - 1;
	carry->object = __shfl_sync(DP_ALL, l.cost, last);
	carry->lower.limits = __shfl_sync(DP_ALL, l.lower.limits, last);
	carry->lower.costs = __shfl_sync(DP_ALL, l.lower.costs, last);
}

template <int W, bool FLOATS>
DP_INLINE void dp_recurrence(const struct dp_tables &t, const struct dp_column &c, const uint16_t *column)
{
	struct dp_carry carry = {0, DP_ILLEGAL, DP_ILLEGAL, {0, 0}};

	dp_prepare_slab(t, c, 0, (int)threadIdx.x, 32 * W);
	if (c.warp == W - 1)
		dp_prepare_rows<FLOATS>(t, c, column, 0);
	for (int j = 0; j < c.blocks; j++) {
		struct dp_top top;
		int32_t first;
		int mean;

		__syncthreads();
		top = dp_top_of<FLOATS>(c, j);
		for (int k = c.warp; k < DP_ROWS; k += W)
			dp_prepare_pairs<FLOATS>(c, top, j, k);
		if (j > 0)
			dp_earlier<W, FLOATS>(t, c, top, carry, j);
		first = dp_first_object<FLOATS>(t, c, top, DP_ROWS * j + c.lane, &mean);
		__syncthreads();
		if (c.warp == 0)
			dp_solve_block<W, FLOATS>(t, c, top, &carry, first, mean, j);
		if (j + 1 < c.blocks && (W == 1 || c.warp > 0)) {
			if (W == 1)
				__syncwarp();
			dp_prepare_slab(t, c, j + 1, (int)threadIdx.x - (W > 1 ? 32 : 0),
					32 * (W > 1 ? W - 1 : 1));
			if (c.warp == W - 1)
				dp_prepare_rows<FLOATS>(t, c, column, j + 1);
		}
	}
}

template <int W, bool FLOATS> __global__ void __launch_bounds__(32 * W) dp_columns(struct dp_arguments a)
{
	SX_DYNAMIC_SHARED(unsigned char, shared);
	struct dp_column c;

	dp_lay_out(&c, a, shared);
	dp_begin<W, FLOATS>(c, a);
	for (int u = (int)blockIdx.x; u < a.count; u += (int)gridDim.x) {
		const uint16_t *column = (const uint16_t *)((const char *)a.columns + (size_t)u * a.pitch);

		dp_open_column<W>(&c, a.t, column);
		dp_recurrence<W, FLOATS>(a.t, c, column);
		if (c.warp == 0) {
			int2 *way = (int2 *)c.rows;
			const double slope = rint(-16384.0 * a.road->road.slope);
			const int q14 = (int)(slope > INT16_MAX	  ? INT16_MAX
					      : slope < INT16_MIN ? INT16_MIN
								  : slope);
			int32_t total;
			int n;

			__syncwarp();
			n = dp_back_track<FLOATS>(a.t, c, &total, way);
			n = dp_write_list(c, way, n, q14, a.list + (size_t)u * (size_t)c.h);
			if (c.lane == 0) {
				a.list_count[u] = (uint16_t)n;
				a.total[u] = total;
			}
		}
	}
}

/* ---- host ---- */

struct sx_dp_cuda {
	struct dp_tables t;
	struct dp_layout l;
	uint8_t *scratch;
	int warps, grid;
	bool floats;
};

static int take(int *at, size_t bytes)
{
	const int r = *at;

	*at += (int)((bytes + 15) & ~(size_t)15);
	return r;
}

static size_t take_scratch(size_t *at, size_t bytes)
{
	const size_t r = *at;

	*at += (bytes + 127) & ~(size_t)127;
	return r;
}

/* order_shared: the order table too. */
static struct dp_layout lay_out(int h, int range, int warps, bool floats, bool order_shared)
{
	const size_t blocks = (size_t)(h + DP_ROWS - 1) / DP_ROWS, rows = blocks * DP_ROWS,
		     word = sizeof(int32_t);
	struct dp_layout l;
	int at = 0;

	memset(&l, 0, sizeof(l));
	l.pitch = range + 1;
	l.slab = take(&at, (size_t)(range + 1) * (DP_ROWS + 1) * word);
	l.fn_sum = take(&at, (rows + 1) * word);
	l.mean_sum = take(&at, (rows + 1) * word);
	l.n4 = take(&at, (rows + 1) * word);
	l.reciprocal = take(&at, floats ? ((size_t)h + 1) * word : 0);
	l.step = take(&at, 2 * DP_ROWS * sizeof(struct dp_step));
	l.pair = take(&at, DP_ROWS * DP_ROWS * sizeof(int2));
	l.pair_base = take(&at, DP_ROWS * DP_ROWS * word);
	l.part = take(&at, (size_t)warps * 32 * sizeof(int2));
	l.tile = take(&at, blocks * word);
	l.mask = take(&at, blocks * word);
	l.list = take(&at, (rows + 4) * sizeof(uint16_t));
	l.misc = take(&at, 4 * word);
	l.order = order_shared ? take(&at, 16 * (size_t)range * sizeof(struct dp_order)) : -1;
	l.shared = at;
	l.rows = take_scratch(&l.scratch, (rows + 1) * (size_t)l.pitch * word);
	l.start = take_scratch(&l.scratch, (rows + 1) * sizeof(struct dp_start));
	l.cheap = take_scratch(&l.scratch, (rows + 1) * word);
	l.excess = take_scratch(&l.scratch, rows * word);
	l.table_row = take_scratch(&l.scratch, rows * word);
	l.from = take_scratch(&l.scratch, rows * sizeof(uint16_t));
	l.cost_o = take_scratch(&l.scratch, rows * word);
	l.cost_x = take_scratch(&l.scratch, rows * word);
	l.prefix = take_scratch(&l.scratch, (rows + 1) * word);
	return l;
}

/* 1 / (16 n), rounded up. */
static void fill_reciprocals(float *r, int h)
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
 * Whether dp_mean_of() may compute in float. Sums up to 16 D h + h / 2 in halves must be exact; and with a reciprocal
 * that is too large by the factor 1 + e, a mean below an integer k <= 16 D, so by at least 1 / 2n, must not reach it.
 */
static bool fits_float(const float *r, int h, int range)
{
	if ((int64_t)h * (32 * range + 1) >= 1 << 24)
		return false;
	for (int n = 1; n <= h; n++)
		if (((double)r[n] * 16.0 * n - 1.0) * 16.0 * range * 2.0 * n >= 0.99)
			return false;
	return true;
}

static void upload_objects(struct dp_tables *d, struct sx_cuda_memory *m, const struct sx_dp_tables *t)
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

/* Costs of one kind span ln(16 D) nats and a little, which is below 16 bits in Q12; limits are below 32 D. */
static void upload_order(struct dp_tables *d, struct sx_cuda_memory *m, const struct sx_dp_tables *t)
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

static void upload_tables(struct dp_tables *d, struct sx_cuda_memory *m, const struct sx_dp_tables *t)
{
	const size_t by_ground = (16 * (size_t)t->range + 1) * sizeof(int32_t);

	d->h = t->height;
	d->range = t->range;
	d->epsilon_q4 = t->epsilon_q4;
	upload_objects(d, m, t);
	upload_order(d, m, t);
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

static dp_kernel *kernel_of(int warps, bool floats)
{
	switch (warps) {
	case 1:
		return floats ? dp_columns<1, true> : dp_columns<1, false>;
	case 2:
		return floats ? dp_columns<2, true> : dp_columns<2, false>;
	case 4:
		return floats ? dp_columns<4, true> : dp_columns<4, false>;
	default:
		return floats ? dp_columns<8, true> : dp_columns<8, false>;
	}
}

/* Blocks that run at once. */
static int resident(const struct sx_dp_cuda *s, struct sx_cuda_memory *m, int sms)
{
	const void *kernel = (const void *)kernel_of(s->warps, s->floats);
	int per_sm = 0;

	if (m->error == cudaSuccess)
		m->error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
						s->l.shared);
	if (m->error == cudaSuccess)
		m->error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, 32 * s->warps,
									 (size_t)s->l.shared);
	return (per_sm > 0 ? per_sm : 1) * sms;
}

static void configure(struct sx_dp_cuda *s, struct sx_cuda_memory *m, int columns, int sms, int warps,
		      bool order_shared)
{
	s->warps = warps;
	s->l = lay_out(s->t.h, s->t.range, warps, s->floats, order_shared);
	s->grid = resident(s, m, sms);
	s->grid = s->grid < columns ? s->grid : columns;
}

int sx_dp_cuda_create(struct sx_dp_cuda **ret, struct sx_cuda_memory *m, const struct sx_params *p,
		      int height, int columns, int sms)
{
	const int range = sx_disparity_range(&p->stereo);
	struct sx_dp_tables *t = NULL;
	struct sx_dp_cuda *s;
	float *reciprocal;
	int warps, r = sx_dp_tables_create(&t, p, height, range);

	if (r < 0)
		return r;
	s = (struct sx_dp_cuda *)calloc(1, sizeof(*s));
	reciprocal = (float *)calloc((size_t)height + 1, sizeof(*reciprocal));
	if (!s || !reciprocal) {
		r = -ENOMEM;
		goto fail;
	}
	fill_reciprocals(reciprocal, height);
	upload_tables(&s->t, m, t);
	s->t.reciprocal =
		(const float *)sx_cuda_upload(m, reciprocal, ((size_t)height + 1) * sizeof(*reciprocal));
	s->floats = fits_float(reciprocal, height, range);
	warps = columns <= 2 * sms ? 8 : 4;
	configure(s, m, columns, sms, warps, warps == 8 && 16 * range * sizeof(struct dp_order) <= 16384);
	s->scratch = (uint8_t *)sx_cuda_take(m, (size_t)s->grid * s->l.scratch);
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
	dp_kernel *kernel = kernel_of(s->warps, s->floats);

	memset(&a, 0, sizeof(a));
	a.t = s->t;
	a.l = s->l;
	a.road = road;
	a.columns = (const uint16_t *)columns->data;
	a.pitch = columns->pitch;
	a.count = columns->height;
	a.list = out->list;
	a.list_count = out->count;
	a.total = out->total;
	a.scratch = s->scratch;
	SX_LAUNCH((kernel), (unsigned)s->grid, 32 * (unsigned)s->warps, (size_t)s->l.shared, stream, a);
	return SX_LAUNCHED();
}
