/*
 * Slanted stixels on the GPU: the recurrence of a column by a group of warps. All warps synchronise twice per
 * block; in between, no warp reads what another writes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_SLANTED_SLANTED_GROUP_STEP_CUH
#define SX_GPU_SLANTED_SLANTED_GROUP_STEP_CUH

#include "gpu/slanted/slanted_group.cuh"

/* ---- fits: the leader's replacement for sums ----------------------------------------------------------- */

/* Returns the place of a fit. Rows r and SLANTED_ROWS - r together fill whole rows. */
SLANTED_INLINE int slanted_fit_at(int r, int lane)
{
	return lane + (r < SLANTED_ROWS / 2 ? r * SLANTED_ROWS
					    : SLANTED_ROWS * SLANTED_ROWS - r * (SLANTED_ROWS + 1));
}

/* Replaces the sums in a lane of the leader. The values are in the fits. y: as slanted_y(). r: row. */
struct slanted_no_sums {
	const struct slanted_fits *fits;
	float y;
	int r, lane;
};

struct slanted_no_holes {
};

SLANTED_INLINE void operator-=(struct slanted_no_holes &, float)
{
}

SLANTED_INLINE float operator*(const struct slanted_no_holes &, float)
{
	return 0.0f;
}

template <> struct slanted_sums_of<SLANTED_NO_SUMS> {
	typedef struct slanted_no_sums type;
	typedef struct slanted_no_holes holes;
};

SLANTED_INLINE float slanted_y(const struct slanted_no_sums &s)
{
	return s.y;
}

SLANTED_INLINE struct sx_slanted_plane slanted_ground(const struct sx_slanted_model &,
						      const struct slanted_no_sums &s, float, float)
{
	const int at = slanted_fit_at(s.r, s.lane);
	struct sx_slanted_plane p;

	p.a = s.fits->ground_a[at];
	p.b = s.fits->ground_b[at];
	p.fit = s.fits->ground[at];
	return p;
}

SLANTED_INLINE struct sx_slanted_plane slanted_object(const struct sx_slanted_model &,
						      const struct slanted_no_sums &s)
{
	const int at = slanted_fit_at(s.r, s.lane);
	struct sx_slanted_plane p;

	p.a = s.fits->object_a[at];
	p.b = 0.0f;
	p.fit = s.fits->object[at];
	return p;
}

SLANTED_INLINE float slanted_sky(const struct sx_slanted_model &, const struct slanted_no_sums &s)
{
	return s.fits->sky[slanted_fit_at(s.r, s.lane)];
}

SLANTED_INLINE void slanted_drop(struct slanted_no_sums *s, const struct slanted_row &,
				 const struct slanted_base &, bool, bool)
{
	s->y += 1.0f;
	s->r++;
}

/* ---- shares -------------------------------------------------------------------------------------------- */

/* State of a warp for a block of top rows. at: next start row. */
template <enum slanted_classes CLASSES> struct slanted_share {
	struct slanted_lane<SLANTED_SMALL_SUMS, CLASSES> l;
	int block, at;
	bool ground; /* ground may be legal in some lane */
};

template <enum slanted_classes CLASSES>
SLANTED_INLINE void slanted_group_open(const struct slanted_arguments &a, const struct slanted_column &c,
				       const struct slanted_group &t, int tile, bool leads, bool scored,
				       struct slanted_share<CLASSES> *s)
{
	const struct slanted_column at = slanted_at_tile<CLASSES>(a, c, t, tile);
	struct slanted_tops tops;

	s->block = tile * SLANTED_ROWS;
	s->at = 0;
	s->ground = s->block < at.place->top;
	tops = slanted_scan_block(a, at, s->block, scored, t.mark[tile * SLANTED_WORKERS]);
	slanted_set_origin(a, at, s->block + c.lane, &tops);
	if (leads)
		slanted_set_above(a, at, s->block + c.lane, tops.origin);
	slanted_begin(a, at, s->block, tops, s->ground, &s->l);
}

/* Advances the sums until they begin at start row `begin`. */
template <enum slanted_classes CLASSES>
SLANTED_INLINE void slanted_group_go(const struct slanted_group &t, struct slanted_share<CLASSES> *s,
				     int begin)
{
	const struct slanted_carry *from = t.mark + s->at / SLANTED_MARK, *to = t.mark + begin / SLANTED_MARK;
	struct slanted_totals gone = to->totals;

	slanted_add(&gone, from->totals, -1);
	slanted_skip(&s->l.sums, gone, s->at, begin - s->at);
	s->l.holes -= (float)(to->holes - from->holes);
	s->at = begin;
}

/* Processes start rows begin .. end - 1 of finished tiles. */
template <enum slanted_classes CLASSES>
SLANTED_INLINE void slanted_group_rows(const struct slanted_arguments &a, const struct slanted_column &c,
				       const struct slanted_group &t, struct slanted_share<CLASSES> *s,
				       int begin, int end, bool scored)
{
	slanted_group_go(t, s, begin);
	s->at = end;
	for (int v = begin; v < end;) {
		const int tile = v / SLANTED_ROWS, first = tile * SLANTED_ROWS;
		const int most = end - first < SLANTED_ROWS ? end - first : SLANTED_ROWS;
		const struct slanted_column at = slanted_at_tile<CLASSES>(a, c, t, tile);

		if (s->ground)
			slanted_square(a, at, &s->l, first, v - first, most, true, scored);
		else
			slanted_square(a, at, &s->l, first, v - first, most, false, scored);
		v = first + most;
	}
}

/* Fits rows begin .. end - 1 of the block's own tile, for the leader. */
template <enum slanted_classes CLASSES>
SLANTED_INLINE void slanted_fit_rows(const struct slanted_arguments &a, const struct slanted_column &c,
				     struct slanted_lane<SLANTED_SMALL_SUMS, CLASSES> *l, int begin, int end,
				     const struct slanted_place &place, struct slanted_fits *fits)
{
#pragma unroll 1
	for (int r = begin; r < end; r++) {
		const struct slanted_row row = c.tile->row[r];
		const float4 *sums = c.tile_sums + r * slanted_words<CLASSES>(a.slots);
		const int at = slanted_fit_at(r, c.lane);
		const bool alive = r <= c.lane;

		if (place.ground) {
			const struct sx_slanted_plane p =
				slanted_ground(a.m, l->sums, row.lambda_offset, c.lambda_slope);
			const float fit = slanted_cost<STIXEL_GROUND>(a, *l, sums, place.scored,
								      p.fit + l->holes * a.m.hole, 0.0f);

			if (alive) {
				fits->ground_a[at] = p.a;
				fits->ground_b[at] = p.b;
				fits->ground[at] = fit;
			}
			l->holes -= row.hole;
		}
		{
			const struct sx_slanted_plane p = slanted_object(a.m, l->sums);
			const float fit = slanted_cost<STIXEL_OBJECT>(a, *l, sums, place.scored, p.fit, 0.0f);

			if (alive) {
				fits->object_a[at] = p.a;
				fits->object[at] = fit;
			}
		}
		if (place.sky) {
			const float fit = slanted_cost<STIXEL_SKY>(a, *l, sums, place.scored,
								   slanted_sky(a.m, l->sums), 0.0f);

			if (alive)
				fits->sky[at] = fit;
		}
		slanted_drop(&l->sums, row, c.tile->base[r], place.ground, place.sky);
	}
}

/* Fits one worker's rows of that tile. */
template <enum slanted_classes CLASSES>
SLANTED_INLINE void slanted_group_fit(const struct slanted_arguments &a, const struct slanted_column &c,
				      const struct slanted_group &t, struct slanted_share<CLASSES> *s,
				      int worker, bool scored)
{
	const int tile = s->block / SLANTED_ROWS, begin = worker * SLANTED_MARK, end = begin + SLANTED_MARK;
	const struct slanted_column at = slanted_at_tile<CLASSES>(a, c, t, tile);
	const int low = slanted_low_rows(at, s->block, begin, end);
	struct slanted_fits *fits = &t.meeting->blocks.fits[tile % 2];
	struct slanted_place p = {true, false, false, true, scored};

	slanted_group_go(t, s, s->block + begin);
	s->at = s->block + end;
	if (s->ground) {
		slanted_fit_rows(a, at, &s->l, begin, low, p, fits);
		p.sky = true;
		slanted_fit_rows(a, at, &s->l, low, end, p, fits);
	} else {
		p.ground = p.sky = false;
		slanted_fit_rows(a, at, &s->l, begin, low, p, fits);
		p.sky = true;
		slanted_fit_rows(a, at, &s->l, low, end, p, fits);
	}
}

/*
 * Merges the best results of two warps for the same top row. If costs are equal, the longest stixel wins, as
 * in slanted_step().
 */
SLANTED_INLINE void slanted_merge(struct slanted_best *best, const struct slanted_best &other)
{
	bool better[3];

#pragma unroll
	for (int k = 0; k < 3; k++) {
		better[k] = other.cost[k] < best->cost[k] ||
			    (other.cost[k] == best->cost[k] && other.from[k] < best->from[k]);
		best->cost[k] = better[k] ? other.cost[k] : best->cost[k];
		best->from[k] = better[k] ? other.from[k] : best->from[k];
	}
	best->object = better[STIXEL_OBJECT] ? other.object : best->object;
	best->a = better[STIXEL_GROUND] ? other.a : best->a;
	best->b = better[STIXEL_GROUND] ? other.b : best->b;
}

/* Returns the value of a top row's ground in the row where it begins, as slanted_step() had it. */
SLANTED_INLINE float slanted_foot(const struct slanted_column &c, const struct slanted_group &t,
				  const struct slanted_best &best, int top)
{
	const int from = best.from[STIXEL_GROUND];
	const float y = c.tile->above[c.lane].y - (float)(top + 1 - from);

	return t.tile[from / SLANTED_ROWS].row[from % SLANTED_ROWS].ground + (best.a + best.b * y);
}

template <enum slanted_classes CLASSES>
SLANTED_INLINE void slanted_group_lead(const struct slanted_arguments &a, const struct slanted_column &c,
				       const struct slanted_group &t, struct slanted_share<CLASSES> *s)
{
	const int tile = s->block / SLANTED_ROWS;
	const struct slanted_column at = slanted_at_tile<CLASSES>(a, c, t, tile);
	const int rows = a.rows - s->block < SLANTED_ROWS ? a.rows - s->block : SLANTED_ROWS;
	struct slanted_lane<SLANTED_NO_SUMS, SLANTED_NONE> l;
	struct slanted_final f;

	l.sums.fits = &t.meeting->blocks.fits[tile % 2];
	l.sums.y = slanted_y(s->l.sums) + (float)(s->block - s->at);
	l.sums.r = 0;
	l.sums.lane = c.lane;
	l.best = s->l.best;
	l.top = s->l.top;

	for (int i = 0; i < SLANTED_WORKERS - 1 && tile > 0; i++)
		slanted_merge(&l.best, t.meeting->blocks.best[i][c.lane]);
	if (s->ground)
		slanted_triangle(a, at, &l, s->block, rows, true, false);
	else
		slanted_triangle(a, at, &l, s->block, rows, false, false);
	slanted_set_final(at, l.best, l.top, &f);
	if (s->ground)
		f.foot = slanted_foot(at, t, l.best, l.top);
	if (l.top < a.rows)
		*slanted_final_of(a, c, l.top) = f;
	if (c.lane == SLANTED_ROWS - 1 && tile + 1 < t.tiles)
		slanted_set_base(a.m, f.below, &t.tile[tile + 1].base[0]);
}

/*
 * Runs the recurrence. Blocks follow one another, and each has two halves. First its workers share the tile
 * below it. Then one of them leads it, while the others and the previous leader open the next block. role: 0:
 * leads the block before `next`. SLANTED_WORKERS: led the block before that. Higher roles take lower start
 * rows.
 */
template <enum slanted_classes CLASSES>
SLANTED_INLINE void slanted_group_recurrence(const struct slanted_arguments &a,
					     const struct slanted_column &c, const struct slanted_group &t,
					     bool scored)
{
	struct slanted_share<CLASSES> s;
	int role = t.warp;

	for (int next = 0; next <= t.tiles; next++) {
		for (int half = 0; half < 2; half++) {
			const bool opens = half == (role < SLANTED_WORKERS) && role > 0 && next < t.tiles;
			const bool shares = half == 0 && role < SLANTED_WORKERS && next > 1;
			const int worker = SLANTED_WORKERS - role - shares;
			int begin = (next - 2) * SLANTED_ROWS + worker * SLANTED_MARK;
			int end = shares ? begin + SLANTED_MARK : begin;

			if (opens) {
				slanted_group_open(a, c, t, next, role == 1, scored, &s);
				begin = (next - 1) * worker * SLANTED_MARK;
				end = begin + (next - 1) * SLANTED_MARK;
			}
			if (begin < end)
				slanted_group_rows(a, c, t, &s, begin, end, scored);
			if (opens && s.block + worker * SLANTED_MARK < a.rows)
				slanted_group_fit(a, c, t, &s, worker, scored);
			if (shares && role > 0)
				t.meeting->blocks.best[role - 1][c.lane] = s.l.best;
			if (half == 1 && role == 0 && next > 0)
				slanted_group_lead(a, c, t, &s);
			__syncthreads();
		}
		role = role == 0 ? SLANTED_WORKERS : role - 1;
	}
}

#endif
