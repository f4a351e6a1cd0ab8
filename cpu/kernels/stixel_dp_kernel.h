/*
 * One column of the stixel DP on vectors of 32 bits.
 *
 * Work:    rows bottom to top. Ground and sky are running minima, O(h): their data cost separates into a term
 *          of v_top and a term of v_bottom. Objects need pairs of rows; lanes are start rows. The prior of a
 *          start row consists of 2 x 2 thresholds on the new mean and five costs, which are computed when the
 *          row below is done.
 * Pruning: start rows come in chunks of 8. bound[k] + cheapest[v_top + 1] is a lower bound of every object
 *          that starts in chunk k. It is made of the cheapest prior, the cheapest fn per cell from the start
 *          to the chunk's end, the cheapest single fn from there to the row where the bound was last renewed,
 *          and the cheapest fn per cell since. A chunk is searched only if its bound is not above the cost of
 *          a real candidate: the last best one, extended.
 * Means:   floor(2 s / n) by one float division is exact in the ranges of vi_divide(), and is corrected
 *          beyond them. mean_q4 = (t + 1) >> 1 and fn = (t + 16) >> 5 follow from it without another
 *          division.
 * Ranges:  as in stages/stixels/stixel_dp.h. ILLEGAL + data < 2^31, and above any legal cost.
 * Ties:    chunks are visited from high to low and <= replaces, so of equal costs the lowest start row wins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_STIXEL_DP_KERNEL_H
#define SX_CPU_KERNELS_STIXEL_DP_KERNEL_H

#include <stdbool.h>

#include <stixel.h>

#include "cpu/stixel_dp.h"
#include "cpu/vec/vec_inline.h"

#define DP_INLINE static ALWAYS_INLINE
#define ILLEGAL SX_DP_ILLEGAL
#define NEVER INT32_MAX /* bound of a chunk that has no candidate yet */
#define RENEW 8		/* rows after which a bound is recomputed */

enum { G = STIXEL_GROUND, O = STIXEL_OBJECT, S = STIXEL_SKY };

struct dp {
	const struct sx_dp_cpu_tables *c;
	const struct sx_dp_tables *t;
	const struct sx_dp_place *place;
	struct sx_dp_work *w;
	int h;
	int fn_least,
		fn_most; /* means that this column can have; the object table has columns only for these */
	int pitch;	 /* pitch of the object table: number of these means, rounded up to a multiple of 8 */
	bool small;
};

/* ---- prefix sums ---- */

DP_INLINE int32_t ground_cost(const struct dp *x, const struct sx_dp_cpu_place *place, int v, int d)
{
	const int g = place->p.ground_q4[v];
	const int64_t above = d - (g > 0 ? g : 0), e = above > 0 ? above : 0;
	const int64_t gauss = place->base[v] + ((place->precision[v] * (e * e)) >> 16);

	return (gauss < x->t->uniform_ground ? (int32_t)gauss : x->t->uniform_ground) + x->t->valid_ground;
}

/* Returns the rounded disparity of a cell: its row of the object table. */
DP_INLINE int rounded(const struct dp *x, uint16_t cell)
{
	const int dq = ((int)cell + 8) >> 4;

	return cell == SX_DISPARITY_INVALID ? x->t->range : dq < x->t->range ? dq : x->t->range - 1;
}

/* Computes all prefix sums except the object table's. */
DP_INLINE void prefix_sums(struct dp *x, const struct sx_dp_cpu_place *place, const uint16_t *column)
{
	struct sx_dp_work *w = x->w;
	const int max = 16 * x->t->range - 1, vhor = place->p.vhor;
	int least = x->t->range - 1, most = 0;

	for (int v = 0; v < x->h; v++) {
		const bool valid = column[v] != SX_DISPARITY_INVALID;
		const int d = column[v] < max ? column[v] : max, dq = rounded(x, column[v]);

		w->cheapest[v + 1] = w->cheapest[v] + x->c->object_min[dq];
		w->ground[v + 1] = w->ground[v];
		w->sky[v + 1] = w->sky[v];
		if (v >= vhor)
			w->sky[v + 1] += x->c->sky[valid ? d : max + 1];
		else
			w->ground[v + 1] += valid ? ground_cost(x, place, v, d) : x->t->invalid_ground;
		w->sum2[v + 1] = w->sum2[v] + (valid ? 2 * d : 0);
		w->valid[v + 1] = w->valid[v] + valid;
		w->support[v + 1] = (uint16_t)w->valid[v + 1];
		least = dq < least ? dq : least;
		most = valid && dq > most ? dq : most;
	}
	/* if no cell is valid, any mean will do, because its cells all cost the same */
	x->fn_most = most > least ? most : least;
	x->fn_least = least;
	x->pitch = (x->fn_most - least + 8) & ~7;
}

/* Computes row v + 1 of the object table from row v. The tables of pixel costs have 8 spare entries. */
DP_INLINE void add_object_row(const struct dp *x, uint16_t cell, int v)
{
	const int32_t *from = x->w->object + (size_t)v * (size_t)x->pitch;
	const int32_t *add = x->c->object + (size_t)rounded(x, cell) * (size_t)x->c->pitch + x->fn_least;
	int32_t *to = x->w->object + (size_t)(v + 1) * (size_t)x->pitch;

	for (int i = 0; i < x->pitch; i += VI_LANES)
		vi_store(to + i, vi_add(vi_load(from + i), vi_load(add + i)));
}

/* ---- one pair ---- */

/* Returns floor(2 s / n) over rows v_bottom .. v_top; 0 without a valid cell. */
DP_INLINE int twice_mean(const struct sx_dp_work *w, int v_bottom, int v_top)
{
	const int n = w->valid[v_top + 1] - w->valid[v_bottom];

	return n ? (w->sum2[v_top + 1] - w->sum2[v_bottom]) / n : 0;
}

/* Returns a + more if the condition holds, else a. */
DP_INLINE int32_t add_if(bool condition, int32_t a, int32_t more)
{
	return (int32_t)((uint32_t)a + (condition ? (uint32_t)more : 0));
}

/* Return the prior of an object with mean m, on the object and on the ground or sky below its start row. */
DP_INLINE int32_t prior_on_object(const int32_t *r, int m)
{
	return add_if(m < r[SX_DP_ORDER_LO], add_if(m > r[SX_DP_ORDER_HI], ILLEGAL, r[SX_DP_ORDER_MORE_HI]),
		      r[SX_DP_ORDER_MORE_LO]);
}

DP_INLINE int32_t prior_on_base(const int32_t *r, int m)
{
	return add_if(m < r[SX_DP_BASE_LO],
		      add_if(m > r[SX_DP_BASE_HI], r[SX_DP_BASE_ON], r[SX_DP_BASE_MORE_HI]),
		      r[SX_DP_BASE_MORE_LO]);
}

DP_INLINE int32_t least_of(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

DP_INLINE void get_record(const struct sx_dp_work *w, int v, int32_t *record)
{
	for (int i = 0; i < SX_DP_RECORDS; i++)
		record[i] = w->record[i][v];
}

DP_INLINE int clamp_fn(const struct dp *x, int fn)
{
	return (fn > x->fn_most ? x->fn_most : fn < x->fn_least ? x->fn_least : fn) - x->fn_least;
}

DP_INLINE int32_t candidate(const struct dp *x, int v_bottom, int v_top)
{
	const int t = twice_mean(x->w, v_bottom, v_top), m = (t + 1) >> 1, fn = clamp_fn(x, (t + 16) >> 5);
	int32_t r[SX_DP_RECORDS];

	get_record(x->w, v_bottom, r);
	return least_of(prior_on_object(r, m), prior_on_base(r, m)) +
	       x->w->object[(size_t)(v_top + 1) * (size_t)x->pitch + (size_t)fn] -
	       x->w->object[(size_t)v_bottom * (size_t)x->pitch + (size_t)fn];
}

/* ---- VI_LANES pairs: start rows v.., all ending at one row ---- */

/* Values of row v_top for all its pairs. */
struct top {
	vi sum2, valid;
	const int32_t *object; /* row v_top + 1 of the object table */
	vi fn_least, fn_most;
	vi rows; /* lane i: start of row i of the object table */
};

DP_INLINE vi exact_quotient(vi s, vi n, bool small)
{
	const vi one = vi_set1(1);
	vi q = vi_divide(s, n), rest;

	if (small)
		return q;
	rest = vi_sub(s, vi_mul(q, n));
	q = vi_add(q, vi_shift_right(rest, 31));
	return vi_sub(q, vi_and(one, vi_sub(vi_greater(rest, vi_sub(n, one)), vi_set1(0))));
}

DP_INLINE vi load_record(const struct sx_dp_work *w, enum sx_dp_record r, int v)
{
	return vi_load(w->record[r] + v);
}

DP_INLINE vi best_prior(const struct sx_dp_work *w, int v, vi m)
{
	const vi above_o = vi_greater(m, load_record(w, SX_DP_ORDER_HI, v));
	const vi below_o = vi_greater(load_record(w, SX_DP_ORDER_LO, v), m);
	const vi above_b = vi_greater(m, load_record(w, SX_DP_BASE_HI, v));
	const vi below_b = vi_greater(load_record(w, SX_DP_BASE_LO, v), m);
	const vi on_object = vi_add(vi_and(above_o, load_record(w, SX_DP_ORDER_MORE_HI, v)),
				    vi_and(below_o, load_record(w, SX_DP_ORDER_MORE_LO, v)));
	const vi on_base = vi_add(vi_and(above_b, load_record(w, SX_DP_BASE_MORE_HI, v)),
				  vi_and(below_b, load_record(w, SX_DP_BASE_MORE_LO, v)));

	return vi_min(vi_add(on_object, vi_set1(ILLEGAL)), vi_add(on_base, load_record(w, SX_DP_BASE_ON, v)));
}

DP_INLINE vi candidates(const struct dp *x, const struct top *top, int v)
{
	const struct sx_dp_work *w = x->w;
	const vi n = vi_max(vi_sub(top->valid, vi_load(w->valid + v)), vi_set1(1));
	const vi t = exact_quotient(vi_sub(top->sum2, vi_load(w->sum2 + v)), n, x->small);
	const vi m = vi_shift_right(vi_add(t, vi_set1(1)), 1);
	/*
	 * the clamp also handles start rows above v_top, whose sums are negative and whose records are
	 * illegal
	 */
	const vi fn =
		vi_sub(vi_max(vi_min(vi_shift_right(vi_add(t, vi_set1(16)), 5), top->fn_most), top->fn_least),
		       top->fn_least);
	const vi upper = vi_gather(top->object, fn);
	const vi lower = vi_gather(w->object + (size_t)v * (size_t)x->pitch, vi_add(fn, top->rows));

	return vi_add(best_prior(w, v, m), vi_sub(upper, lower));
}

/* The cheapest cost so far in each lane, and its start row. */
struct lanes {
	vi cost, start;
};

DP_INLINE void look_at_chunk(const struct dp *x, const struct top *top, int chunk, struct lanes *best)
{
	for (int i = SX_DP_CHUNK - VI_LANES; i >= 0; i -= VI_LANES) {
		const int v = chunk * SX_DP_CHUNK + i;
		const vi c = candidates(x, top, v);
		const vi worse = vi_greater(c, best->cost);

		best->cost = vi_min(c, best->cost);
		best->start = vi_where(worse, best->start, vi_add(vi_count(), vi_set1(v)));
	}
}

/* ---- bounds ---- */

/* Returns the cheapest single fn over the rows from the last row of the chunk to v_top. */
DP_INLINE int32_t cheapest_fn(const struct dp *x, int chunk, int v_top)
{
	const int32_t *upper = x->w->object + (size_t)(v_top + 1) * (size_t)x->pitch;
	const int32_t *lower = x->w->object + (size_t)((chunk + 1) * SX_DP_CHUNK - 1) * (size_t)x->pitch;
	vi least = vi_set1(INT32_MAX);

	for (int i = 0; i < x->pitch; i += VI_LANES)
		least = vi_min(least, vi_sub(vi_load(upper + i), vi_load(lower + i)));
	return vi_least(least);
}

/*
 * Renews a bound. prior: cheapest prior of a start row of the chunk, minus the cheapest cells below that row.
 */
DP_INLINE void renew_bound(const struct dp *x, int chunk, int v_top, int32_t prior)
{
	struct sx_dp_work *w = x->w;

	w->bound[chunk] = prior + w->cheapest[(chunk + 1) * SX_DP_CHUNK - 1] + cheapest_fn(x, chunk, v_top) -
			  w->cheapest[v_top + 1];
	w->fresh[chunk] = v_top;
}

/* Returns the chunks, of a word of 32, that may hold an object at or below the limit. */
DP_INLINE unsigned worth_a_look(const struct sx_dp_work *w, int word, int chunks, int32_t limit)
{
	unsigned bits = 0;

	for (int i = 0; i < 32 && word * 32 + i < chunks; i += VI_LANES)
		bits |= (~vi_bits(vi_greater(vi_load(w->bound + word * 32 + i), vi_set1(limit))) &
			 ((1u << VI_LANES) - 1))
			<< i;
	return bits;
}

/* ---- rows ---- */

/*
 * Finds the cheapest object that ends at v_top and starts below it. Little of it depends on the row before:
 * the limit is that row's guess, extended, and the start row v_top itself is not searched here.
 */
DP_INLINE struct lanes best_from_below(const struct dp *x, int v_top, int guess)
{
	struct sx_dp_work *w = x->w;
	const int chunk = v_top / SX_DP_CHUNK;
	const struct top top = {vi_set1(w->sum2[v_top + 1]),
				vi_set1(w->valid[v_top + 1]),
				w->object + (size_t)(v_top + 1) * (size_t)x->pitch,
				vi_set1(x->fn_least),
				vi_set1(x->fn_most),
				vi_mul(vi_count(), vi_set1(x->pitch))};
	const int32_t limit = candidate(x, guess, v_top) - w->cheapest[v_top + 1];
	struct lanes best = {vi_set1(INT32_MAX), vi_set1(0)};

	look_at_chunk(x, &top, chunk, &best);
	for (int word = (chunk - 1) / 32; word >= 0; word--) {
		unsigned bits = worth_a_look(w, word, chunk, limit);

		while (bits) {
			const int bit = 31 - __builtin_clz(bits), k = word * 32 + bit;

			bits &= ~(1u << bit);
			if (v_top - w->fresh[k] >= RENEW) {
				renew_bound(x, k, v_top, w->prior[k]);
				if (w->bound[k] > limit)
					continue;
			}
			look_at_chunk(x, &top, k, &best);
		}
	}
	return best;
}

/*
 * Stores the winner of the row: the lanes' winner (if equal, the lowest start row), or the object of one row.
 */
DP_INLINE void close_object(const struct dp *x, int v_top, const struct lanes *best, int32_t alone)
{
	const int32_t least = vi_least(best->cost);

	if (alone < least) {
		x->w->cost[O][v_top] = alone;
		x->w->from[O][v_top] = (uint16_t)v_top;
		return;
	}
	x->w->cost[O][v_top] = least;
	x->w->from[O][v_top] = (uint16_t)vi_least(
		vi_where(vi_greater(best->cost, vi_set1(least)), vi_set1(INT32_MAX), best->start));
}

/*
 * The cheapest ground or sky segment that can end at a row: its cost minus the prefix sum of the rows below
 * it.
 */
struct running {
	int32_t cost;
	uint16_t from;
	uint8_t below;
};

DP_INLINE void offer(struct running *r, int64_t cost, int v, uint8_t below)
{
	if (cost < r->cost)
		*r = (struct running){(int32_t)cost, (uint16_t)v, below};
}

DP_INLINE void close_row(const struct dp *x, uint8_t c, int v_top, const struct running *r,
			 const int32_t *prefix)
{
	struct sx_dp_work *w = x->w;

	w->cost[c][v_top] = r->cost < SX_DP_INF ? r->cost + prefix[v_top + 1] : SX_DP_INF;
	w->from[c][v_top] = r->from;
	w->below[c][v_top] = r->below;
}

DP_INLINE void set_record(struct sx_dp_work *w, int v, const int32_t *record)
{
	for (int i = 0; i < SX_DP_RECORDS; i++)
		w->record[i][v] = record[i];
}

DP_INLINE int32_t sum_or_illegal(int32_t cost, int32_t prior)
{
	return cost < SX_DP_INF && prior < SX_DP_INF ? cost + prior : ILLEGAL;
}

/* Returns the cost of the object of one row, from a record that may not be in memory yet. */
DP_INLINE int32_t one_row(const struct dp *x, const int32_t *r, uint16_t cell)
{
	const int max = 16 * x->t->range - 1, dq = rounded(x, cell);
	const int m = cell == SX_DISPARITY_INVALID ? 0 : cell < max ? cell : max;
	const int fn = dq < x->t->range ? dq : 0;

	return least_of(prior_on_object(r, m), prior_on_base(r, m)) +
	       x->c->object[(size_t)dq * (size_t)x->c->pitch + (size_t)fn];
}

/*
 * Opens row v >= 1: computes the values of all segments that start there. Row v - 1 must be done. cell: cell
 * of row v. *alone: cost of the object of this one row. Returns the cheapest object prior.
 */
DP_INLINE int32_t open_row(const struct dp *x, int v, uint16_t cell, struct running *ground,
			   struct running *sky, int32_t *alone)
{
	const struct sx_dp_work *w = x->w;
	const struct sx_dp_row *r = &x->place->rows[v];
	const int p = v - 1;
	const int mp = (twice_mean(w, w->from[O][p], p) + 1) >> 1;
	const struct sx_dp_order *o = &x->t->order[mp];
	const int32_t on_object = w->cost[O][p] + r->object_on_object, on_ground = w->cost[G][p];
	const int32_t base = p < x->place->vhor ? on_ground : w->cost[S][p];
	const int32_t hi = sum_or_illegal(base, r->cost_hi), on = sum_or_illegal(base, r->cost_on);
	const int32_t lo = sum_or_illegal(base, r->cost_lo);
	const int32_t least =
		least_of(on_object + least_of(o->cost_hi, o->cost_lo), least_of(on, least_of(hi, lo)));
	const int32_t record[SX_DP_RECORDS] = {
		o->hi,
		o->lo,
		on_object + o->cost_hi - ILLEGAL,
		on_object + o->cost_lo - ILLEGAL,
		r->hi,
		r->lo,
		hi - on,
		lo - on,
		on,
	};

	set_record(x->w, v, record);
	*alone = one_row(x, record, cell);
	if (r->ground < SX_DP_INF) {
		offer(ground, (int64_t)w->cost[O][p] + r->ground - w->ground[v], v, O);
		if (on_ground < SX_DP_INF)
			offer(ground, (int64_t)on_ground + r->ground - w->ground[v], v, G);
	}
	if (r->sky_on_object < SX_DP_INF && mp >= x->t->epsilon_q4)
		offer(sky, (int64_t)w->cost[O][p] + r->sky_on_object - w->sky[v], v, O);
	if (r->sky_on_ground < SX_DP_INF && on_ground < SX_DP_INF)
		offer(sky, (int64_t)on_ground + r->sky_on_ground - w->sky[v], v, G);
	return least;
}

/* Opens row 0. An object there has nothing below it: one cost for every mean. */
DP_INLINE void open_first(const struct dp *x, int32_t cost)
{
	const int32_t record[SX_DP_RECORDS] = {INT32_MAX, INT32_MIN, 0, 0, INT32_MAX, INT32_MIN, 0, 0, cost};

	set_record(x->w, 0, record);
}

DP_INLINE void forget_column(const struct dp *x)
{
	static const int32_t nothing[SX_DP_RECORDS] = {INT32_MAX, INT32_MIN, 0, 0,	INT32_MAX,
						       INT32_MIN, 0,	     0, ILLEGAL};

	for (int i = 0; i < SX_DP_RECORDS; i++)
		for (int v = 0; v < x->h + SX_DP_CHUNK; v++)
			x->w->record[i][v] = nothing[i];
	for (int k = 0; k < x->h / SX_DP_CHUNK + 1 + VI_LANES; k++)
		x->w->bound[k] = NEVER;
}

/*
 * Runs the recurrence. The record of a row is stored after the row was searched, because a vector load of
 * values that single stores have just written would wait for them.
 */
DP_INLINE void recurrence(const struct dp *x, const uint16_t *column)
{
	struct sx_dp_work *w = x->w;
	const int vhor = x->place->vhor;
	struct running ground = {x->t->first_ground, 0, G}, sky = {SX_DP_INF, 0, O};
	/* first objects that end above the horizon are cheaper, so the bound uses their cost */
	int32_t prior = x->t->first_object;
	int guess = 0;

	open_first(x, vhor > 0 ? x->t->first_object_low : x->t->first_object);
	add_object_row(x, column[0], 0);
	for (int v = 0; v < x->h; v++) {
		int32_t alone = INT32_MAX;
		struct lanes best;

		if (v + 1 < x->h)
			add_object_row(x, column[v + 1], v + 1);
		if (v == vhor)
			open_first(x, x->t->first_object);
		best = best_from_below(x, v, guess);
		if (v) {
			const int32_t least =
				open_row(x, v, column[v], &ground, &sky, &alone) - w->cheapest[v];

			guess = w->from[O][v - 1];
			prior = v % SX_DP_CHUNK == 0 || least < prior ? least : prior;
		}
		close_object(x, v, &best, alone);
		if (v < vhor)
			close_row(x, G, v, &ground, w->ground);
		else
			w->cost[G][v] = SX_DP_INF;
		close_row(x, S, v, &sky, w->sky);
		if (v % SX_DP_CHUNK == SX_DP_CHUNK - 1) {
			w->prior[v / SX_DP_CHUNK] = prior;
			renew_bound(x, v / SX_DP_CHUNK, v, prior);
		}
	}
}

/* ---- the list ---- */

DP_INLINE uint8_t below_object(const struct dp *x, int v_bottom, int v_top)
{
	const int m = (twice_mean(x->w, v_bottom, v_top) + 1) >> 1;
	int32_t r[SX_DP_RECORDS];

	get_record(x->w, v_bottom, r);
	if (prior_on_base(r, m) < prior_on_object(r, m))
		return v_bottom - 1 < x->place->vhor ? G : S;
	return O;
}

DP_INLINE int back_track(const struct dp *x, struct sx_segment *list, int32_t *total)
{
	const struct sx_dp_work *w = x->w;
	int v = x->h - 1, n = 0;
	uint8_t c = G;

	for (uint8_t k = O; k <= S; k++)
		if (w->cost[k][v] < w->cost[c][v])
			c = k;
	*total = w->cost[c][v];
	while (v >= 0) {
		const int from = w->from[c][v];

		list[n++] = (struct sx_segment){
			.v_bottom = (uint16_t)from,
			.v_top = (uint16_t)v,
			.mean_q4 = (uint16_t)(c == O ? (twice_mean(w, from, v) + 1) >> 1 : 0),
			.kind = c,
		};
		c = from == 0 ? c : c == O ? below_object(x, from, v) : w->below[c][v];
		v = from - 1;
	}
	for (int i = 0; i < n / 2; i++) {
		const struct sx_segment s = list[i];

		list[i] = list[n - 1 - i];
		list[n - 1 - i] = s;
	}
	return n;
}

DP_INLINE int solve(struct dp *x, const struct sx_dp_cpu_place *place, int u, const uint16_t *column,
		    struct sx_segment *list, int32_t *total)
{
	prefix_sums(x, place, column);
	forget_column(x);
	recurrence(x, column);
	return sx_dp_finish_list(x->place, x->t, u, x->w->support, list, back_track(x, list, total));
}

static int dp_column(const struct sx_dp_cpu_tables *t, const struct sx_dp_cpu_place *p, struct sx_dp_work *w,
		     int u, const uint16_t *column, struct sx_segment *list, int32_t *total)
{
	struct dp x = {.c = t, .t = t->t, .place = &p->p, .w = w, .h = t->t->height, .small = t->small};

	if (!x.small)
		return solve(&x, p, u, column, list, total);
	x.small = true; /* makes it a compile-time constant from here on */
	return solve(&x, p, u, column, list, total);
}

#endif
