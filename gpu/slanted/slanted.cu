/*
 * Slanted stixels on the GPU. Lists and totals must equal the results of sx_slanted_run()
 * (stages/stixels/slanted.h).
 *
 * Work:    a warp takes one column, 32 top rows at a time, one per lane. Start rows are processed upwards,
 *          the same for all lanes, and leave the lanes' sums one by one. In the block where a row is both
 *          start and top, its lane passes its cost to the next row through shared memory. There is no barrier
 *          between warps. Then the warp follows the choices down. If there are too few columns to keep
 *          schedulers busy, five warps share each column (gpu/slanted/slanted_group.cuh).
 * Memory:  start rows in tiles of 32 in shared memory: 80 bytes per row, and 4 bytes per slot of classes. The
 *          outcome of each row (32 bytes) and sums of class scores are in global scratch, and are read again
 *          for every 32 top rows above.
 * Ranges:  as in stages/stixels/slanted_fit.h. Up to SLANTED_SMALL rows of cells, sums fit 32 bits or less
 *          (gpu/slanted/slanted_fit.cuh).
 * Shapes:  1 to 2160 rows, any number of columns; up to 32 classes. The fast case is up to 16 classes of
 *          objects, 4 of ground and one of sky.
 * Speed:   tests/lab/lab-performance.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "stages/stixels/slanted.h" /* must be the first include: it makes its functions extern "C" */
}
#include "stages/stixels/cells.h"

#include "gpu/slanted/slanted_group_list.cuh"
#include "gpu/slanted/slanted_group_step.cuh"
#include "gpu/slanted/slanted_list.cuh"
#include "gpu/slanted/slanted_step.cuh"

#define ROAD_THREADS 256
/* most columns per multiprocessor for warp groups; more columns keep it busy with one warp each */
#define SLANTED_GROUP_COLUMNS 4

/* Sets the road by rows of cells, as sx_slanted_frame_set() does. For one block. */
static __global__ void __launch_bounds__(ROAD_THREADS)
	slanted_set_road(const struct sx_cuda_road *from, const struct sx_cuda_scores *scores,
			 const struct slanted_arguments a, int height, struct slanted_road *to,
			 struct sx_slanted_row *row)
{
	const double limit = SX_SLANTED_GROUND_MAX_Q4;
	const struct sx_road road = from->road;
	__shared__ int knee;

	if (threadIdx.x == 0)
		knee = a.rows;
	__syncthreads();
	for (int v = (int)threadIdx.x; v < a.rows; v += ROAD_THREADS) {
		const double y = (height - 1 - v * a.cell_height) - 0.5 * (a.cell_height - 1);
		const double g = sx_road_row_q4(&road, y);

		if (y < road.bend_row)
			atomicMin(&knee, v);
		row[v] = sx_slanted_row_of(&a.m, (int32_t)rint(g > limit ? limit : g < -limit ? -limit : g));
	}
	__syncthreads();
	if (threadIdx.x > 0)
		return;
	to->cross = road.cross;
	to->axis = road.axis;
	to->slope = (float)(-16.0 * road.slope * a.cell_height);
	to->bent = (float)(-16.0 * (road.slope - road.bend) * a.cell_height);
	to->knee = knee;
	to->lambda_slope = road.bend != 0.0 ? a.m.lambda_bent : a.m.lambda_slope;
	to->least = road.origin == SX_ROAD_MEASURED || road.origin == SX_ROAD_PREVIOUS ? a.least : 0.0f;
	to->scored = scores && scores->data;
}

/* Returns the size of the look-up tables, rounded up to whole words of uint4. */
static __host__ __device__ size_t slanted_lookup_bytes(void)
{
	return (sizeof(struct slanted_lookup) + 15) / 16 * 16;
}

static __host__ __device__ size_t slanted_warp_bytes(int slots)
{
	return sizeof(struct slanted_tile) + sizeof(struct slanted_column_place) +
	       (size_t)SLANTED_ROWS * (size_t)slots * sizeof(float);
}

template <enum slanted_mode MODE, enum slanted_classes CLASSES>
SLANTED_INLINE void slanted_run_column(const struct slanted_arguments &a, const struct slanted_column &c,
				       bool scored)
{
	struct sx_segment *list = a.list + (size_t)c.u * (size_t)a.rows;
	int32_t total;
	int n;

	slanted_recurrence<MODE, CLASSES>(a, c, scored);
	n = slanted_back_track(a, c, scored, &total, list);
	slanted_rise(a, c, n, list + (a.rows - n));
	n = slanted_join_sky(c, scored, a.rows, n, list);
	if (c.lane == 0) {
		a.list_count[c.u] = (uint16_t)n;
		a.total[c.u] = total;
	}
}

/* Blocks per multiprocessor: as many as registers allow without spilling. */
#define SLANTED_BLOCKS(mode, classes) \
	((mode) == SLANTED_WIDE_SUMS ? 3 : (classes) == SLANTED_NONE ? 6 : (classes) == SLANTED_FEW ? 5 : 4)

template <enum slanted_mode MODE, enum slanted_classes CLASSES>
static __global__ void __launch_bounds__(32 * SLANTED_WARPS, SLANTED_BLOCKS(MODE, CLASSES))
	slanted_columns(const struct slanted_arguments a)
{
	SX_DYNAMIC_SHARED(unsigned char, shared);
	const int warp = (int)threadIdx.x / 32, u = (int)blockIdx.x * SLANTED_WARPS + warp;
	const size_t tables = slanted_lookup_bytes();
	unsigned char *mine = shared + tables + (size_t)warp * slanted_warp_bytes(a.slots.all);
	struct slanted_column c;

	for (size_t i = threadIdx.x; i < tables / 16; i += 32 * SLANTED_WARPS)
		((uint4 *)shared)[i] = ((const uint4 *)a.lookup)[i];
	__syncthreads();
	if (u >= a.count)
		return;
	c.lookup = (const struct slanted_lookup *)shared;
	c.tile = (struct slanted_tile *)mine;
	c.place = (struct slanted_column_place *)(c.tile + 1);
	c.tile_sums = (float4 *)(c.place + 1);
	c.u = u;
	c.lane = (int)threadIdx.x & 31;
	c.lambda_slope = a.road->lambda_slope;
	slanted_set_place(a, c);
	if (CLASSES != SLANTED_NONE && a.road->scored)
		slanted_run_column<MODE, CLASSES>(a, c, true);
	else
		slanted_run_column<MODE, SLANTED_NONE>(a, c, false);
}

template <enum slanted_classes CLASSES>
SLANTED_INLINE void slanted_group_column(const struct slanted_arguments &a, const struct slanted_column &c,
					 const struct slanted_group &t, bool scored)
{
	slanted_group_prepare<CLASSES>(a, c, t, scored);
	slanted_group_recurrence<CLASSES>(a, c, t, scored);
	slanted_group_list(a, slanted_at_tile<CLASSES>(a, c, t, 0), t, scored);
}

/* Blocks per multiprocessor: 21 warps may have 96 registers each, 16 may have 128. */
#define SLANTED_GROUPS(classes) (((classes) == SLANTED_NONE ? 21 : 16) / SLANTED_GROUP)

/* Processes one column per block. */
template <enum slanted_classes CLASSES>
static __global__ void __launch_bounds__(32 * SLANTED_GROUP, SLANTED_GROUPS(CLASSES))
	slanted_group_columns(const struct slanted_arguments a)
{
	SX_DYNAMIC_SHARED(unsigned char, shared);
	const size_t tables = slanted_lookup_bytes();
	const struct slanted_group t = slanted_group_in(shared + tables, a.rows, (int)threadIdx.x / 32);
	struct slanted_column c;

	for (size_t i = threadIdx.x; i < tables / 16; i += 32 * SLANTED_GROUP)
		((uint4 *)shared)[i] = ((const uint4 *)a.lookup)[i];
	c.lookup = (const struct slanted_lookup *)shared;
	c.place = &t.meeting->place;
	c.tile = t.tile;
	c.tile_sums = t.sums;
	c.u = (int)blockIdx.x;
	c.lane = (int)threadIdx.x & 31;
	c.lambda_slope = a.road->lambda_slope;
	if (t.warp == 0)
		slanted_set_place(a, c);
	__syncthreads();
	if (CLASSES != SLANTED_NONE && a.road->scored)
		slanted_group_column<CLASSES>(a, c, t, true);
	else
		slanted_group_column<SLANTED_NONE>(a, c, t, false);
}

/* ---- host ---------------------------------------------------------------------------------------------- */

struct sx_slanted_cuda {
	struct slanted_arguments a; /* the same for every run */
	enum slanted_mode mode;
	enum slanted_classes classes;
	bool group; /* true: one block per column */
	int height;
	struct slanted_road *road;
	struct sx_slanted_row *row;
	size_t shared;
};

typedef void slanted_kernel(const struct slanted_arguments a);

static slanted_kernel *slanted_kernel_of(const struct sx_slanted_cuda *s)
{
	if (s->group)
		return s->classes == SLANTED_NONE ? slanted_group_columns<SLANTED_NONE>
						  : slanted_group_columns<SLANTED_FEW>;
	if (s->mode == SLANTED_WIDE_SUMS)
		return s->classes == SLANTED_NONE ? slanted_columns<SLANTED_WIDE_SUMS, SLANTED_NONE>
						  : slanted_columns<SLANTED_WIDE_SUMS, SLANTED_MANY>;
	return s->classes == SLANTED_NONE  ? slanted_columns<SLANTED_SMALL_SUMS, SLANTED_NONE>
	       : s->classes == SLANTED_FEW ? slanted_columns<SLANTED_SMALL_SUMS, SLANTED_FEW>
					   : slanted_columns<SLANTED_SMALL_SUMS, SLANTED_MANY>;
}

static int slanted_count_of(const struct sx_slanted_tables *t, int kind)
{
	int n = 0;

	for (int k = 0; k < t->classes; k++)
		n += t->kind[k] == kind;
	return n;
}

static void slanted_lay_out_slots(struct slanted_slots *s, const struct sx_slanted_tables *t, bool few)
{
	static const int order[3] = {STIXEL_OBJECT, STIXEL_GROUND, STIXEL_SKY};
	static const int least[3] = {SLANTED_FEW_OBJECTS, SLANTED_FEW_GROUNDS, 1};
	int at = 0;

	for (int i = 0; i < 3; i++) {
		const int kind = order[i], found = slanted_count_of(t, kind);
		const int n = few && found < least[i] ? least[i] : found > 0 ? found : 1;
		int to = s->first[kind] = at;

		s->count[kind] = (n + 3) / 4 * 4;
		at += s->count[kind];
		for (int k = 0; k < t->classes; k++)
			if (t->kind[k] == kind)
				s->class_of[to++] = (uint8_t)k;
		if (found == 0)
			s->class_of[to++] = SLANTED_NO_CLASS;
		for (; to < at; to++)
			s->class_of[to] = s->class_of[s->first[kind]];
	}
	s->all = at;
}

static bool slanted_are_few(const struct sx_slanted_tables *t)
{
	return slanted_count_of(t, STIXEL_OBJECT) <= SLANTED_FEW_OBJECTS &&
	       slanted_count_of(t, STIXEL_GROUND) <= SLANTED_FEW_GROUNDS &&
	       slanted_count_of(t, STIXEL_SKY) <= 1;
}

static void slanted_upload(struct sx_slanted_cuda *s, struct sx_cuda_memory *m,
			   const struct sx_slanted_tables *t)
{
	struct slanted_lookup *l = (struct slanted_lookup *)calloc(1, sizeof(*l) + 16);

	if (!l) {
		m->error = m->error ? m->error : cudaErrorMemoryAllocation;
		return;
	}
	memcpy(l->score, t->score, sizeof(l->score));
	memcpy(l->weight, t->weight, sizeof(l->weight));
	if (s->classes != SLANTED_NONE)
		slanted_lay_out_slots(&l->slots, t, s->classes == SLANTED_FEW);
	s->a.slots = l->slots;
	/* whole words are read */
	s->a.lookup = (const struct slanted_lookup *)sx_cuda_upload(m, l, sizeof(*l) + 16);
	free(l);
}

static void slanted_take_memory(struct sx_slanted_cuda *s, struct sx_cuda_memory *m)
{
	const size_t rows = (size_t)s->a.rows, columns = (size_t)s->a.count, slots = (size_t)s->a.slots.all;

	s->road = (struct slanted_road *)sx_cuda_take(m, sizeof(*s->road));
	s->row = (struct sx_slanted_row *)sx_cuda_take(m, rows * sizeof(*s->row));
	s->a.road = s->road;
	s->a.row = s->row;
	s->a.final = (struct slanted_final *)sx_cuda_take_scratch(m, columns * rows *
									     sizeof(struct slanted_final));
	if (slots > 0)
		s->a.sums =
			(float *)sx_cuda_take_scratch(m, columns * (rows + 1) * slots * sizeof(*s->a.sums));
}

static void slanted_choose_kernel(struct sx_slanted_cuda *s, struct sx_cuda_memory *m, int sms)
{
	const size_t tables = slanted_lookup_bytes();
	const size_t group = tables + slanted_group_bytes(s->a.rows, s->a.slots.all);

	s->group = s->mode == SLANTED_SMALL_SUMS && s->classes != SLANTED_MANY &&
		   s->a.count <= SLANTED_GROUP_COLUMNS * sms && group <= sx_cuda_shared_max(m);
	s->shared = s->group ? group : tables + SLANTED_WARPS * slanted_warp_bytes(s->a.slots.all);
	if (m->error == cudaSuccess)
		m->error = cudaFuncSetAttribute((const void *)slanted_kernel_of(s),
						cudaFuncAttributeMaxDynamicSharedMemorySize, (int)s->shared);
}

int sx_slanted_cuda_create(struct sx_slanted_cuda **ret, struct sx_cuda_memory *m, const struct sx_params *p,
			   int height, int columns, int sms)
{
	struct sx_slanted_tables *t = NULL;
	struct sx_slanted_cuda *s;
	int r;

	if (p->stixels.method != SX_STIXEL_SLANTED)
		return -EINVAL;
	r = sx_slanted_tables_create(&t, p, height, sx_disparity_range(&p->stereo));
	if (r < 0)
		return r;
	s = (struct sx_slanted_cuda *)calloc(1, sizeof(*s));
	if (!s) {
		sx_slanted_tables_destroy(t);
		return -ENOMEM;
	}
	s->mode = t->rows > SLANTED_SMALL ? SLANTED_WIDE_SUMS : SLANTED_SMALL_SUMS;
	s->classes = t->classes == 0					   ? SLANTED_NONE
		     : s->mode == SLANTED_SMALL_SUMS && slanted_are_few(t) ? SLANTED_FEW
									   : SLANTED_MANY;
	s->height = height;
	s->a.sky_most = (int32_t)t->sky_most;
	s->a.m = t->model;
	s->a.rows = t->rows;
	s->a.count = columns;
	s->a.cell_height = t->cell_height;
	s->a.width = t->width;
	s->a.above = t->above;
	s->a.least = t->least;
	s->a.classes = t->classes;
	slanted_upload(s, m, t);
	slanted_take_memory(s, m);
	slanted_choose_kernel(s, m, sms);
	sx_slanted_tables_destroy(t);
	if (m->error != cudaSuccess) {
		free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void sx_slanted_cuda_destroy(struct sx_slanted_cuda *s)
{
	free(s);
}

cudaError_t sx_slanted_cuda_set_road(const struct sx_slanted_cuda *s, const struct sx_cuda_road *road,
				     const struct sx_cuda_scores *in, cudaStream_t stream)
{
	SX_LAUNCH(slanted_set_road, 1, ROAD_THREADS, 0, stream, road, s->classes == SLANTED_NONE ? NULL : in,
		  s->a, s->height, s->road, s->row);
	return SX_LAUNCHED();
}

cudaError_t sx_slanted_cuda_run(const struct sx_slanted_cuda *s, const struct sx_image *columns,
				const struct sx_image *confidence, const struct sx_image *scores,
				const struct sx_segments *out, cudaStream_t stream)
{
	const unsigned each = s->group ? 1 : SLANTED_WARPS; /* columns per block */
	const unsigned grid = ((unsigned)s->a.count + each - 1) / each;
	slanted_kernel *const kernel = slanted_kernel_of(s);
	struct slanted_arguments a = s->a;

	a.columns = (const uint8_t *)columns->data;
	a.columns_pitch = columns->pitch;
	if (confidence && confidence->data) {
		a.confidence = (const uint8_t *)confidence->data;
		a.confidence_pitch = confidence->pitch;
	}
	if (scores && scores->data) {
		a.scores = (const uint8_t *)scores->data;
		a.scores_pitch = scores->pitch;
	}
	a.list = out->list;
	a.list_count = out->count;
	a.total = out->total;
	SX_LAUNCH((kernel), grid, 32 * (s->group ? SLANTED_GROUP : SLANTED_WARPS), s->shared, stream, a);
	return SX_LAUNCHED();
}
