/*
 * Slanted stixels on the GPU: the state of a warp for its column, and the loading of rows, 32 at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_SLANTED_SLANTED_COLUMN_CUH
#define SX_GPU_SLANTED_SLANTED_COLUMN_CUH

#include "base/image.h"
#include "stages/road/road_ground.h"
#include "stages/stixels/slanted_list.h"

#include "gpu/slanted/slanted_cuda.h"
#include "gpu/slanted/slanted_fit.cuh"
#include "gpu/warp.cuh"

#define SLANTED_WARPS 4 /* warps of a block; each takes one column */
#define SLANTED_ROWS 32
#define SLANTED_ALL SX_WARP_ALL_LANES

/*
 * Classes in slots, as the kernels use them: first the classes of objects, then of ground, then of sky. Each
 * kind is filled up to a multiple of 4 by repeating its first class. A kind without classes has one that
 * never occurs. FEW: few enough that a thread has its row's sums in registers.
 */
enum slanted_classes { SLANTED_NONE, SLANTED_FEW, SLANTED_MANY };
#define SLANTED_FEW_OBJECTS 16
#define SLANTED_FEW_GROUNDS 4
#define SLANTED_FEW_SLOTS (SLANTED_FEW_OBJECTS + SLANTED_FEW_GROUNDS + 4)
#define SLANTED_SLOTS_MAX (SX_CLASSES_MAX + 3 * 4)
#define SLANTED_NO_CLASS 255

enum slanted_mode { SLANTED_SMALL_SUMS, SLANTED_WIDE_SUMS, SLANTED_NO_SUMS };

/*
 * Slots of the classes. first: first slot of each kind, by enum stixel_kind. count: number of classes.
 * class_of: SLANTED_NO_CLASS: never occurs.
 */
struct slanted_slots {
	int all, first[3], count[3];
	uint8_t class_of[SLANTED_SLOTS_MAX];
};

/*
 * Look-up tables, for indices that are not constants. weight: by confidence. score: by kind and probability,
 * as in struct sx_slanted_tables.
 */
struct slanted_lookup {
	struct slanted_slots slots;
	uint16_t score[3][256];
	uint8_t weight[256];
};

/* The road of a frame. least: as in struct sx_slanted_frame. scored: the pair has scores. */
struct slanted_road {
	double cross, axis;			/* the same as in struct sx_road */
	float slope, bent, least, lambda_slope; /* the same as in struct sx_slanted_frame */
	int knee, scored;
};

/* Outcome of a row: costs of the cheapest columns up to it, and start rows of their last stixels, by kind. */
struct __align__(16) slanted_final
{
	struct sx_slanted_below below;
	uint16_t from[4]; /* the last entry is unused */
	float foot;	  /* only with a warp group: value of the ground's line in the row where it begins */
};

/* Arguments, the same for every frame. */
struct slanted_arguments {
	struct sx_slanted_model m;
	struct slanted_slots slots;
	int rows, count; /* cells of a column; columns */
	int cell_height, classes;
	int width;   /* width of a column, px */
	int above;   /* rows above the horizon that may be ground */
	float least; /* least expected ground, for a road that was measured */
	const struct slanted_lookup *lookup;
	const struct slanted_road *road;
	const struct sx_slanted_row *row;
	int32_t sky_most;			      /* sx_slanted_sky_part(), with scores */
	const uint8_t *columns, *confidence, *scores; /* confidence: NULL, or the same layout as columns */
	size_t columns_pitch, confidence_pitch, scores_pitch;
	struct sx_segment *list;
	uint16_t *list_count;
	int32_t *total;
	struct slanted_final *final; /* [count][rows] */
	float *sums;		     /* [count][rows + 1][slots]: sums of scores below a row */
};

/* Sums over the rows of all blocks so far. origin: -1: no row with a weight yet. */
struct slanted_carry {
	struct slanted_totals totals;
	int origin, holes;
};

/* Shared memory of a warp. The place of its column and the sums of slots follow it. */
struct __align__(16) slanted_tile
{
	struct slanted_row row[SLANTED_ROWS];
	struct slanted_base base[SLANTED_ROWS];
	struct slanted_carry carry;
	/* values of the row above each top: expected ground, and distance from the top's origin */
	float2 above[SLANTED_ROWS];
};

/* The road in a column, in shared memory, as struct sx_slanted_place. */
struct __align__(16) slanted_column_place
{
	int32_t shift;
	int vhor, top, unseen;
	float least; /* least expected ground of the road */
};

/*
 * A column. Addresses of its data are computed from u each time, because storing them would take registers
 * from the steps.
 */
struct slanted_column {
	const struct slanted_lookup *lookup;
	struct slanted_column_place *place;
	struct slanted_tile *tile;
	float4 *tile_sums; /* [SLANTED_ROWS][slots / 4] */
	int u, lane;
	float lambda_slope; /* lambda_slope of the frame */
};

SLANTED_INLINE struct slanted_final *slanted_final_of(const struct slanted_arguments &a,
						      const struct slanted_column &c, int v)
{
	return a.final + ((size_t)c.u * (size_t)a.rows + (size_t)v);
}

/* Returns the sums of scores over the rows below v. */
SLANTED_INLINE float *slanted_scores_of(const struct slanted_arguments &a, const struct slanted_column &c,
					int v)
{
	return a.sums + ((size_t)c.u * (size_t)(a.rows + 1) + (size_t)v) * (size_t)a.slots.all;
}

/* Returns the expected ground of row v in this column. */
SLANTED_INLINE int32_t slanted_ground_of(const struct slanted_arguments &a, const struct slanted_column &c,
					 int v)
{
	return sx_slanted_expected(a.row[v].ground_q4, c.place->shift);
}

/* Returns the first row in which sky may begin. */
SLANTED_INLINE int slanted_sky_from(const struct slanted_column &c)
{
	return c.place->vhor > 1 ? c.place->vhor : 1;
}

/*
 * Returns the number of lowest rows, without a gap, whose expected ground is more than limit. For a whole
 * warp.
 */
SLANTED_INLINE int slanted_rows_above(const struct slanted_arguments &a, int lane, int32_t shift,
				      int32_t limit)
{
	unsigned ground = SLANTED_ALL;
	int n = 0;

	for (int first = 0; first < a.rows && ground == SLANTED_ALL; first += SLANTED_ROWS) {
		const int v = first + lane;

		ground = __ballot_sync(SLANTED_ALL,
				       v < a.rows && sx_slanted_expected(a.row[v].ground_q4, shift) > limit);
		n += __popc(ground & ~(ground + 1));
	}
	return n;
}

/* Sets the road in this column, as sx_slanted_place_of() does. For a whole warp. */
SLANTED_INLINE void slanted_set_place(const struct slanted_arguments &a, const struct slanted_column &c)
{
	const int32_t shift = sx_road_shift_q4(a.road->cross, a.road->axis, c.u, a.width);
	const int vhor = slanted_rows_above(a, c.lane, shift, 0);
	const int unseen = slanted_rows_above(a, c.lane, shift, sx_road_in_view_q4(c.u, a.width));

	if (c.lane == 0) {
		c.place->shift = shift;
		c.place->vhor = vhor;
		c.place->top = vhor == 0 ? 0 : vhor + a.above < a.rows ? vhor + a.above : a.rows;
		c.place->unseen = unseen;
		c.place->least = a.road->least;
	}
	__syncwarp();
}

struct slanted_cell {
	int32_t w, g, d;
	struct sx_slanted_row road; /* the row, with the ground of this column */
};

/* Returns the cell of row v, v >= 0. Above the column the cell is empty. */
SLANTED_INLINE struct slanted_cell slanted_cell_at(const struct slanted_arguments &a,
						   const struct slanted_column &c, int v)
{
	struct slanted_cell r = slanted_cell();

	if (v < a.rows) {
		const int d = ((const uint16_t *)(a.columns + (size_t)c.u * a.columns_pitch))[v];

		r.road = a.row[v];
		r.road.ground_q4 = sx_slanted_expected(r.road.ground_q4, c.place->shift);
		if (d != SX_DISPARITY_INVALID && v >= c.place->unseen)
			r.w = a.confidence ? c.lookup->weight[a.confidence[(size_t)c.u * a.confidence_pitch +
									   (size_t)v]]
					   : 255;
		r.w = sx_slanted_weight(c.place->least, r.w, d, r.road.ground_q4);
		if (r.w > 0)
			r.d = d > SX_SLANTED_MAX_Q4 ? SX_SLANTED_MAX_Q4 : d;
		r.g = sx_slanted_ground_weight(r.w, r.road.share);
	}
	return r;
}

/* Returns the table of energies of a slot's class. */
SLANTED_INLINE const uint16_t *slanted_score_table(const struct slanted_lookup *l, int slot)
{
	return l->score[slot < l->slots.first[STIXEL_GROUND] ? STIXEL_OBJECT
			: slot < l->slots.first[STIXEL_SKY]  ? STIXEL_GROUND
							     : STIXEL_SKY];
}

/* Sums the class scores over the rows below each row. A lane takes a slot and goes from row to row. */
SLANTED_INLINE void slanted_sum_scores(const struct slanted_arguments &a, const struct slanted_column &c)
{
	const uint8_t *scores = a.scores + (size_t)c.u * a.scores_pitch;

	for (int slot = c.lane; slot < a.slots.all; slot += SLANTED_ROWS) {
		const int k = c.lookup->slots.class_of[slot];
		const uint16_t *score = slanted_score_table(c.lookup, slot);
		float *to = slanted_scores_of(a, c, 0) + slot, sum = 0.0f;

		*to = 0.0f;
#pragma unroll 8
		for (int v = 0; v < a.rows; v++) {
			to += a.slots.all;
			sum += (float)score[k == SLANTED_NO_CLASS ? 0 : scores[v * a.classes + k]];
			*to = sum;
		}
	}
	__syncwarp();
}

/* Returns the upper limit of the outliers of sky. */
SLANTED_INLINE int64_t slanted_sky_most(const struct slanted_arguments &a, bool scored)
{
	return scored ? (int64_t)a.sky_most : INT64_MAX;
}

/*
 * Loads rows first .. first + 31 as start rows into the tile, with the costs of the segments below them. Rows
 * from `finished` on have no outcome yet.
 */
SLANTED_INLINE void slanted_load_rows(const struct slanted_arguments &a, const struct slanted_column &c,
				      int first, int finished, bool scored)
{
	const int v = first + c.lane;
	const struct slanted_cell cell = slanted_cell_at(a, c, v);
	const int64_t most = slanted_sky_most(a, scored);
	const bool outlier = sx_slanted_sky_part(cell.w, cell.d, most) == most;
	struct slanted_row row;

	row.w = (float)cell.w;
	row.minus_w = -cell.w;
	row.d = cell.d;
	row.minus_g = -cell.g;
	row.g = (float)cell.g;
	row.e = cell.d - cell.road.ground_q4;
	row.lambda_offset = cell.road.lambda_offset;
	row.gravity = cell.road.gravity;
	row.ground = (float)cell.road.ground_q4;
	row.hole = cell.w == 0;
	row.minus_ge = -cell.g * row.e;
	row.object_below = v < c.place->unseen ? c.place->unseen : a.rows;
	__syncwarp();
	c.tile->row[c.lane] = row;
	c.tile->base[c.lane].minus_sky = outlier ? -(int32_t)most : -cell.w * cell.d;
	c.tile->base[c.lane].sky_d = outlier ? 1 : cell.d;
	if (v > 0 && v <= finished)
		slanted_set_base(a.m, slanted_final_of(a, c, v - 1)->below, &c.tile->base[c.lane]);
}

/* Loads the same rows with their scores. */
SLANTED_INLINE void slanted_load_tile(const struct slanted_arguments &a, const struct slanted_column &c,
				      int first, int finished, bool scored)
{
	slanted_load_rows(a, c, first, finished, scored);
	if (scored) {
		const int words = a.slots.all / 4;
		const int rows = a.rows - first < SLANTED_ROWS ? a.rows - first : SLANTED_ROWS;
		const float4 *from = (const float4 *)slanted_scores_of(a, c, first);

#pragma unroll 2 /* saves registers */
		for (int i = c.lane; i < rows * words; i += SLANTED_ROWS)
			c.tile_sums[i] = from[i];
	}
	__syncwarp();
}

/* Values of the lanes' top rows before the first start row. */
struct slanted_tops {
	struct slanted_totals totals; /* over rows 0 .. top */
	int origin, holes;
	int32_t d0; /* disparity at the origin */
};

SLANTED_INLINE int64_t slanted_scan(int64_t carry, int64_t x, int lane)
{
	return carry + sx_warp_prefix((long long)x, lane);
}

SLANTED_INLINE int slanted_scan_max(int carry, int x, int lane)
{
	for (int i = 1; i < 32; i <<= 1) {
		const int below = __shfl_up_sync(SLANTED_ALL, x, (unsigned)i);

		x = lane >= i && below > x ? below : x;
	}
	return carry > x ? carry : x;
}

/*
 * Computes the sums up to each top row of a block. carry: sums of the blocks before; origin: as in struct
 * slanted_carry.
 */
SLANTED_INLINE struct slanted_tops slanted_scan_block(const struct slanted_arguments &a,
						      const struct slanted_column &c, int block, bool scored,
						      const struct slanted_carry &carry)
{
	const int v = block + c.lane;
	const struct slanted_cell cell = slanted_cell_at(a, c, v);
	const int32_t e = cell.d - cell.road.ground_q4;
	const int64_t gv = (int64_t)cell.g * v, ge = (int64_t)cell.g * e, wd = (int64_t)cell.w * cell.d;
	const int64_t sky = sx_slanted_sky_part(cell.w, cell.d, slanted_sky_most(a, scored));
	const struct slanted_totals *t = &carry.totals;
	struct slanted_tops r;

	r.totals.n = slanted_scan(t->n, cell.g, c.lane);
	r.totals.x = slanted_scan(t->x, gv, c.lane);
	r.totals.xx = slanted_scan(t->xx, gv * v, c.lane);
	r.totals.e = slanted_scan(t->e, ge, c.lane);
	r.totals.xe = slanted_scan(t->xe, ge * v, c.lane);
	r.totals.ee = slanted_scan(t->ee, ge * e, c.lane);
	r.totals.w = slanted_scan(t->w, cell.w, c.lane);
	r.totals.d = slanted_scan(t->d, wd, c.lane);
	r.totals.dd = slanted_scan(t->dd, wd * cell.d, c.lane);
	r.totals.sky = slanted_scan(t->sky, v >= slanted_sky_from(c) ? sky : 0, c.lane);
	r.holes = carry.holes + (int)sx_warp_prefix((uint32_t)(cell.w == 0), c.lane);
	r.origin = slanted_scan_max(carry.origin, cell.w > 0 ? v : -1, c.lane);
	return r;
}

SLANTED_INLINE struct slanted_carry slanted_carry_of(const struct slanted_tops &tops)
{
	struct slanted_carry r;

	r.totals = tops.totals;
	r.origin = tops.origin;
	r.holes = tops.holes;
	return r;
}

/* Sets the origin. A top row without a weight below it counts from itself. */
SLANTED_INLINE void slanted_set_origin(const struct slanted_arguments &a, const struct slanted_column &c,
				       int v, struct slanted_tops *tops)
{
	const int origin = tops->origin;

	tops->origin = origin < 0 ? v : origin;
	tops->d0 = origin < 0 ? 0 : slanted_cell_at(a, c, origin).d;
}

SLANTED_INLINE void slanted_set_above(const struct slanted_arguments &a, const struct slanted_column &c,
				      int v, int origin)
{
	c.tile->above[c.lane] = make_float2(v + 1 < a.rows ? (float)slanted_ground_of(a, c, v + 1) : 0.0f,
					    (float)(v + 1 - origin));
}

SLANTED_INLINE struct slanted_tops slanted_open_block(const struct slanted_arguments &a,
						      const struct slanted_column &c, int block, bool scored)
{
	struct slanted_tops r = slanted_scan_block(a, c, block, scored, c.tile->carry);

	__syncwarp();
	if (c.lane == SLANTED_ROWS - 1)
		c.tile->carry = slanted_carry_of(r);
	__syncwarp();
	slanted_set_origin(a, c, block + c.lane, &r);
	slanted_set_above(a, c, block + c.lane, r.origin);
	return r;
}

#endif
