/*
 * Slanted stixels on the GPU: the recurrence of a column by one warp. A lane is a top row. Start rows are
 * processed upwards, the same for all lanes, and leave the lanes' sums one by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_SLANTED_SLANTED_STEP_CUH
#define SX_GPU_SLANTED_SLANTED_STEP_CUH

#include "gpu/slanted/slanted_column.cuh"

/* Types of the sums. holes: of struct slanted_lane. */
template <enum slanted_mode MODE> struct slanted_sums_of {
	typedef struct slanted_sums_wide type;
	typedef float holes;
};
template <> struct slanted_sums_of<SLANTED_SMALL_SUMS> {
	typedef struct slanted_sums_small type;
	typedef float holes;
};

/* Scores of a lane up to its top row: in registers if there are few. */
template <enum slanted_classes CLASSES> struct slanted_own {
	const float *sums;
};
template <> struct slanted_own<SLANTED_FEW> {
	float object[SLANTED_FEW_OBJECTS], ground[SLANTED_FEW_GROUNDS], sky;
};

/*
 * Best results of a lane so far. from: start row. object, a, b: planes of the best object and of the best
 * ground.
 */
struct slanted_best {
	float cost[3], object, a, b;
	int from[3];
};

template <enum slanted_mode MODE, enum slanted_classes CLASSES>
struct slanted_lane {
	typename slanted_sums_of<MODE>::type sums; struct slanted_own<CLASSES> own; struct slanted_best best;
	int top; /* row */
	/* number of rows up to it without a weight; not updated if ground is illegal */
	typename slanted_sums_of<MODE>::holes holes;
};

/* ---- class scores -------------------------------------------------------------------------------------- */

SLANTED_INLINE void slanted_own_load(struct slanted_own<SLANTED_NONE> *, const float *)
{
}

SLANTED_INLINE void slanted_own_load(struct slanted_own<SLANTED_MANY> *own, const float *sums)
{
	own->sums = sums;
}

SLANTED_INLINE void slanted_own_load(struct slanted_own<SLANTED_FEW> *own, const float *sums)
{
#pragma unroll
	for (int k = 0; k < SLANTED_FEW_OBJECTS; k++)
		own->object[k] = sums[k];
#pragma unroll
	for (int k = 0; k < SLANTED_FEW_GROUNDS; k++)
		own->ground[k] = sums[SLANTED_FEW_OBJECTS + k];
	own->sky = sums[SLANTED_FEW_OBJECTS + SLANTED_FEW_GROUNDS];
}

SLANTED_INLINE float slanted_least4(const float *mine, const float4 &row)
{
	return fminf(fminf(mine[0] - row.x, mine[1] - row.y), fminf(mine[2] - row.z, mine[3] - row.w));
}

/* Returns the least sum of a kind's classes over the rows from the start row on. sums: of the start row. */
template <enum stixel_kind KIND>
SLANTED_INLINE float slanted_least(const struct slanted_own<SLANTED_FEW> &own, const struct slanted_slots &,
				   const float4 *sums)
{
	float least;

	if (KIND == STIXEL_SKY)
		return own.sky - sums[(SLANTED_FEW_OBJECTS + SLANTED_FEW_GROUNDS) / 4].x;
	if (KIND == STIXEL_GROUND)
		return slanted_least4(own.ground, sums[SLANTED_FEW_OBJECTS / 4]);
	least = slanted_least4(own.object, sums[0]);
#pragma unroll
	for (int k = 1; k < SLANTED_FEW_OBJECTS / 4; k++)
		least = fminf(least, slanted_least4(own.object + 4 * k, sums[k]));
	return least;
}

template <enum stixel_kind KIND>
SLANTED_INLINE float slanted_least(const struct slanted_own<SLANTED_MANY> &own, const struct slanted_slots &s,
				   const float4 *sums)
{
	float least = SX_SLANTED_ILLEGAL;

	for (int k = s.first[KIND]; k < s.first[KIND] + s.count[KIND]; k += 4) {
		const float4 own4 = *(const float4 *)(own.sums + k);
		const float mine[4] = {own4.x, own4.y, own4.z, own4.w};

		least = fminf(least, slanted_least4(mine, sums[k / 4]));
	}
	return least;
}

template <enum stixel_kind KIND>
SLANTED_INLINE float slanted_least(const struct slanted_own<SLANTED_NONE> &, const struct slanted_slots &,
				   const float4 *)
{
	return 0.0f;
}

/* Returns the words of a row, 4 slots each. */
template <enum slanted_classes CLASSES> SLANTED_INLINE int slanted_words(const struct slanted_slots &s)
{
	return CLASSES == SLANTED_FEW ? SLANTED_FEW_SLOTS / 4 : s.all / 4;
}

/* ---- one start row ------------------------------------------------------------------------------------- */

/* Properties of a start row. They are compile-time constants wherever slanted_step() is compiled for them. */
struct slanted_place {
	bool ground, sky; /* kinds that may be legal; for objects the row decides */
	bool first;	  /* the start row is row 0 */
	bool diagonal;	  /* the start row is in the block of the top rows, so lanes below it have finished */
	bool scored;	  /* there are class scores */
};

template <enum stixel_kind KIND, enum slanted_mode MODE, enum slanted_classes CLASSES>
SLANTED_INLINE float slanted_cost(const struct slanted_arguments &a,
				  const struct slanted_lane<MODE, CLASSES> &l, const float4 *sums,
				  bool scored, float fit, float below)
{
	if (!scored)
		return fit + below;
	return (fit + slanted_least<KIND>(l.own, a.slots, sums) * a.m.semantic) + below;
}

/*
 * Processes start row v, which is row r of the tile, in all lanes. Only a strictly lower cost replaces the
 * best, so the longest stixel wins ties.
 */
template <enum slanted_mode MODE, enum slanted_classes CLASSES>
SLANTED_INLINE void slanted_step(const struct slanted_arguments &a, const struct slanted_column &c,
				 struct slanted_lane<MODE, CLASSES> *l, int v, int r,
				 const struct slanted_place &place)
{
	const struct sx_slanted_model &m = a.m;
	const struct slanted_row row = c.tile->row[r];
	const float4 *sums = c.tile_sums + r * slanted_words<CLASSES>(a.slots);
	const bool alive = !place.diagonal || v <= l->top;
	struct slanted_best *best = &l->best;
	struct slanted_base base;

	if (place.first)
		base = slanted_base();
	else
		base = c.tile->base[r];
	if (place.ground) {
		struct sx_slanted_plane p = slanted_ground(m, l->sums, row.lambda_offset, c.lambda_slope);
		const float foot = row.ground + (p.a + p.b * slanted_y(l->sums));
		float cost, below = m.cut;

		if (!place.first)
			below = slanted_under_ground(m, base, foot);
		p.fit = p.fit + l->holes * m.hole;
		cost = slanted_cost<STIXEL_GROUND>(a, *l, sums, place.scored, p.fit, below);
		if (cost < best->cost[STIXEL_GROUND] && alive) {
			best->cost[STIXEL_GROUND] = cost;
			best->from[STIXEL_GROUND] = v;
			best->a = p.a;
			best->b = p.b;
		}
	}
	{
		const struct sx_slanted_plane p = slanted_object(m, l->sums);
		float cost, below = m.cut_first_object;

		if (!place.first)
			below = slanted_under_object(m, base, p.a, row.gravity, place.sky);
		cost = slanted_cost<STIXEL_OBJECT>(a, *l, sums, place.scored, p.fit, below);
		if (cost < best->cost[STIXEL_OBJECT] && alive && l->top < row.object_below) {
			best->cost[STIXEL_OBJECT] = cost;
			best->from[STIXEL_OBJECT] = v;
			best->object = p.a;
		}
	}
	if (place.sky) {
		const float fit = slanted_sky(m, l->sums);
		const float cost = slanted_cost<STIXEL_SKY>(a, *l, sums, place.scored, fit, base.sky);

		if (cost < best->cost[STIXEL_SKY] && alive) {
			best->cost[STIXEL_SKY] = cost;
			best->from[STIXEL_SKY] = v;
		}
	}
	if (place.ground)
		l->holes -= row.hole;
	slanted_drop(&l->sums, row, base, place.ground, place.sky);
}

/* ---- blocks -------------------------------------------------------------------------------------------- */

/* Returns the values of a finished lane that the rows above need. */
SLANTED_INLINE struct sx_slanted_below slanted_below_of(const struct slanted_column &c,
							const struct slanted_best &best, int top)
{
	const float2 above = c.tile->above[c.lane];
	struct sx_slanted_below b;

	b.cost[STIXEL_GROUND] = top < c.place->top ? best.cost[STIXEL_GROUND] : SX_SLANTED_ILLEGAL;
	b.cost[STIXEL_OBJECT] = best.cost[STIXEL_OBJECT];
	b.cost[STIXEL_SKY] = best.cost[STIXEL_SKY];
	b.object = best.object;
	b.ground_next = above.x + (best.a + best.b * above.y);
	return b;
}

/* Passes the costs of the finished row to the next row of the block. For the whole warp. */
SLANTED_INLINE void slanted_hand_over(const struct slanted_arguments &a, const struct slanted_column &c,
				      const struct slanted_best &best, int top, int r)
{
	if (c.lane == r && r + 1 < SLANTED_ROWS)
		slanted_set_base(a.m, slanted_below_of(c, best, top), &c.tile->base[r + 1]);
	__syncwarp();
}

/*
 * Processes rows begin .. end - 1 of the tile that begins in row `first`; all have the same place. Rows of
 * the block pass their costs on.
 */
template <enum slanted_mode MODE, enum slanted_classes CLASSES>
SLANTED_INLINE void slanted_rows(const struct slanted_arguments &a, const struct slanted_column &c,
				 struct slanted_lane<MODE, CLASSES> *l, int first, int begin, int end,
				 const struct slanted_place &place)
{
#pragma unroll 1
	for (int r = begin; r < end; r++) {
		slanted_step(a, c, l, first + r, r, place);
		if (place.diagonal)
			slanted_hand_over(a, c, l->best, l->top, r);
	}
}

/* Returns the first of rows begin .. end - 1 in which sky may begin. first: first row of the tile. */
SLANTED_INLINE int slanted_low_rows(const struct slanted_column &c, int first, int begin, int end)
{
	const int low = slanted_sky_from(c) - first;

	return low < begin ? begin : low < end ? low : end;
}

/* Processes rows begin .. end - 1 of a tile below the block of top rows. ground: ground may be legal. */
template <enum slanted_mode MODE, enum slanted_classes CLASSES>
SLANTED_INLINE void slanted_square(const struct slanted_arguments &a, const struct slanted_column &c,
				   struct slanted_lane<MODE, CLASSES> *l, int first, int begin, int end,
				   bool ground, bool scored)
{
	const int low = slanted_low_rows(c, first, begin, end);
	struct slanted_place p = {ground, false, true, false, scored};

	if (first + begin == 0)
		slanted_step(a, c, l, 0, 0, p);
	p.first = false;
	slanted_rows(a, c, l, first, first + begin == 0 ? 1 : begin, low, p);
	p.sky = true;
	slanted_rows(a, c, l, first, low, end, p);
}

/* Processes the block's own tile, of `rows` rows. Each row passes its costs to the next. */
template <enum slanted_mode MODE, enum slanted_classes CLASSES>
SLANTED_INLINE void slanted_triangle(const struct slanted_arguments &a, const struct slanted_column &c,
				     struct slanted_lane<MODE, CLASSES> *l, int block, int rows, bool ground,
				     bool scored)
{
	const int low = slanted_low_rows(c, block, 0, rows);
	struct slanted_place p = {ground, false, true, true, scored};

	if (block == 0)
		slanted_rows(a, c, l, 0, 0, 1, p);
	p.first = false;
	slanted_rows(a, c, l, block, block == 0, low, p);
	p.sky = true;
	slanted_rows(a, c, l, block, low, rows, p);
}

/*
 * Processes the block of top rows from `block` on: first the tiles below it, each a square of start and top
 * rows, then its own tile, a triangle. Either part has four loops, for ground (argument) and sky legal or
 * not.
 */
template <enum slanted_mode MODE, enum slanted_classes CLASSES>
SLANTED_INLINE void slanted_block(const struct slanted_arguments &a, const struct slanted_column &c,
				  struct slanted_lane<MODE, CLASSES> *l, int block, bool ground, bool scored)
{
	const int rows = a.rows - block < SLANTED_ROWS ? a.rows - block : SLANTED_ROWS;

	for (int first = 0; first < block; first += SLANTED_ROWS) {
		slanted_load_tile(a, c, first, block, scored);
		slanted_square(a, c, l, first, 0, SLANTED_ROWS, ground, scored);
	}
	slanted_load_tile(a, c, block, block, scored);
	slanted_triangle(a, c, l, block, rows, ground, scored);
}

/* Initialises a lane before the first start row. */
template <enum slanted_mode MODE, enum slanted_classes CLASSES>
SLANTED_INLINE void slanted_begin(const struct slanted_arguments &a, const struct slanted_column &c,
				  int block, const struct slanted_tops &tops, bool ground,
				  struct slanted_lane<MODE, CLASSES> *l)
{
	l->top = block + c.lane;
	l->holes = (float)tops.holes;
	slanted_set(&l->sums, tops.totals, tops.origin, tops.d0);
	slanted_own_load(&l->own, slanted_scores_of(a, c, l->top < a.rows ? l->top + 1 : a.rows));
	for (int k = 0; k < 3; k++) {
		l->best.cost[k] = SX_SLANTED_ILLEGAL;
		l->best.from[k] = 0;
	}
	l->best.object = l->best.a = l->best.b = 0.0f;
	/* less than any cost, so no ground wins in a lane that may have none */
	if (ground && l->top >= c.place->top)
		l->best.cost[STIXEL_GROUND] = -SX_SLANTED_ILLEGAL;
}

/* Stores the outcome of a finished row. */
SLANTED_INLINE void slanted_set_final(const struct slanted_column &c, const struct slanted_best &best,
				      int top, struct slanted_final *f)
{
	f->below = slanted_below_of(c, best, top);
	for (int k = 0; k < 3; k++)
		f->from[k] = (uint16_t)best.from[k];
	f->from[3] = 0;
	f->foot = 0.0f;
}

/* Runs the recurrence of the whole column: computes the outcome of every row. */
template <enum slanted_mode MODE, enum slanted_classes CLASSES>
SLANTED_INLINE void slanted_recurrence(const struct slanted_arguments &a, const struct slanted_column &c,
				       bool scored)
{
	if (c.lane == 0) {
		c.tile->carry = slanted_carry();
		c.tile->carry.origin = -1;
	}
	__syncwarp();
	if (scored)
		slanted_sum_scores(a, c);
	for (int block = 0; block < a.rows; block += SLANTED_ROWS) {
		const struct slanted_tops tops = slanted_open_block(a, c, block, scored);
		const bool ground = block < c.place->top; /* ground may be legal in some lane */

		struct slanted_lane<MODE, CLASSES> l;

		slanted_begin(a, c, block, tops, ground, &l);
		if (ground)
			slanted_block(a, c, &l, block, true, scored);
		else
			slanted_block(a, c, &l, block, false, scored);
		if (l.top < a.rows) {
			struct slanted_final f;

			slanted_set_final(c, l.best, l.top, &f);
			*slanted_final_of(a, c, l.top) = f;
		}
		__syncwarp();
	}
}

#endif
