/*
 * The stixel DP against definitions: tables against their formulas in double, lists against a
 * second DP without prefix sums and against every possible segmentation of short columns, totals
 * against the list itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <stixel.h>
#include <cmocka.h>

#include "stages/stixels/stixel_dp.h"
#include "tests/stixel_case.h"

enum { G = STIXEL_GROUND, O = STIXEL_OBJECT, S = STIXEL_SKY };

/* A column and everything that its cost depends on. */
struct problem {
	const struct sx_dp_tables *t;
	int32_t ground[2160];
	int vhor, h;
	const uint16_t *d;
};

/* One segment as the energy sees it. */
struct piece {
	int vb, vt, c;
};

static int mean(const struct problem *q, int vb, int vt, int shift)
{
	int64_t n = 0, s = 0;

	for (int v = vb; v <= vt; v++)
		if (q->d[v] != SX_DISPARITY_INVALID) {
			n++;
			s += q->d[v];
		}
	/* floor(s / (shift n) + 1/2) */
	return n ? (int)((2 * s + shift * n) / (2 * shift * n)) : 0;
}

static int64_t gauss_or_outlier(int64_t e, int64_t base, int64_t precision, int64_t uniform)
{
	const int64_t g = base + ((precision * e * e) >> 16);

	return g < uniform ? g : uniform;
}

/* Sum of pixel costs of a segment, cell by cell. */
static int64_t data_cost(const struct problem *q, const struct piece *a)
{
	const struct sx_dp_tables *t = q->t;
	int64_t sum = 0;
	int fn = mean(q, a->vb, a->vt, 16);

	fn = fn > t->range - 1 ? t->range - 1 : fn;
	for (int v = a->vb; v <= a->vt; v++) {
		const bool valid = q->d[v] != SX_DISPARITY_INVALID;
		const int d = q->d[v], f = q->ground[v] > 0 ? q->ground[v] : 0;
		const int row = f < 16 * t->range ? f : 16 * t->range;
		int dq = (d + 8) / 16;

		dq = valid ? (dq > t->range - 1 ? t->range - 1 : dq) : t->range;
		if (a->c == O)
			sum += t->object[dq * t->range + fn];
		else if (a->c == G)
			sum += valid ? t->valid_ground + gauss_or_outlier(d - f, t->base_ground[row],
									  t->precision_ground[row],
									  t->uniform_ground)
				     : t->invalid_ground;
		else
			sum += valid ? t->valid_sky + gauss_or_outlier(d, t->base_sky, t->precision_sky,
								       t->uniform_sky)
				     : t->invalid_sky;
	}
	return sum;
}

/*
 * Rows of the table of transitions, as docs/algorithm.md has them; -1: illegal (no prior is negative enough).
 */
#define ILLEGAL INT64_MIN

static int64_t first_cost(const struct problem *q, const struct piece *a)
{
	if (a->c == S || (a->c == G && a->vt >= q->vhor))
		return ILLEGAL;
	if (a->c == G)
		return q->t->first_ground;
	return a->vt < q->vhor ? q->t->first_object_low : q->t->first_object;
}

static int64_t object_prior(const struct problem *q, const struct piece *a, const struct piece *b)
{
	const struct sx_dp_tables *t = q->t;
	const int m = mean(q, a->vb, a->vt, 1), eps = t->epsilon_q4, p = a->vb - 1;
	const int64_t len = t->length[a->vb];

	if (b->c == G) {
		int g = q->ground[p] > 0 ? q->ground[p] : 0;

		g = g < 16 * t->range ? g : 16 * t->range;
		return t->object_next + len +
		       (m > g + eps   ? t->gravity_above[g]
			: m < g - eps ? t->gravity_below[g]
				      : t->gravity_on);
	}
	if (b->c == O) {
		const struct sx_dp_order *o = &t->order[mean(q, b->vb, b->vt, 1)];

		if (m >= o->lo && m <= o->hi)
			return ILLEGAL;
		return (a->vb < q->vhor ? t->object_next : t->ln2) + len +
		       (m > o->hi ? o->cost_hi : o->cost_lo);
	}
	return m > eps ? len + t->object_on_sky : ILLEGAL;
}

/* Prior of a on b. */
static int64_t prior(const struct problem *q, const struct piece *a, const struct piece *b)
{
	const struct sx_dp_tables *t = q->t;
	const int64_t len = t->length[a->vb];

	if (a->c == O)
		return object_prior(q, a, b);
	if (a->c == G)
		return b->c != S && a->vt < q->vhor ? t->ground_next + len : ILLEGAL;
	if (a->vb < q->vhor || b->c == S)
		return ILLEGAL;
	if (b->c == O)
		return mean(q, b->vb, b->vt, 1) >= t->epsilon_q4 ? t->ln2 + len : ILLEGAL;
	return q->ground[a->vb - 1] < 16 ? len : ILLEGAL;
}

/* ---- every segmentation ---- */

struct search {
	const struct problem *q;
	int64_t best;
	bool best_separates; /* no prior of the best one looks at a lower mean */
};

static void all_from(struct search *s, int v, const struct piece *below, int64_t cost, bool separates)
{
	if (v == s->q->h) {
		if (cost < s->best || (cost == s->best && separates)) {
			s->best = cost;
			s->best_separates = separates;
		}
		return;
	}
	for (int vt = v; vt < s->q->h; vt++)
		for (int c = 0; c < 3; c++) {
			const struct piece a = {v, vt, c};
			const int64_t step = below ? prior(s->q, &a, below) : first_cost(s->q, &a);

			if (step != ILLEGAL)
				all_from(s, vt + 1, &a, cost + step + data_cost(s->q, &a),
					 separates && !(below && below->c == O && c != G));
		}
}

/* ---- the recurrence again, without prefix sums, from the pieces above ---- */

struct cell {
	int64_t cost;
	struct piece piece;
	int below;
};

static void relax(struct cell *best, int64_t cost, const struct piece *a, int below)
{
	if (cost < best->cost)
		*best = (struct cell){cost, *a, below};
}

static void solve(const struct problem *q, struct cell (*best)[3])
{
	static const int order[3] = {O, G, S};

	for (int vt = 0; vt < q->h; vt++)
		for (int c = 0; c < 3; c++) {
			best[vt][c].cost = INT64_MAX;
			for (int vb = 0; vb <= vt; vb++) {
				const struct piece a = {vb, vt, c};
				const int64_t data = data_cost(q, &a);
				const int64_t first = vb ? ILLEGAL : first_cost(q, &a);

				if (first != ILLEGAL)
					relax(&best[vt][c], first + data, &a, c);
				for (int k = 0; vb && k < 3; k++) {
					const struct cell *b = &best[vb - 1][order[k]];
					const int64_t step =
						b->cost == INT64_MAX ? ILLEGAL : prior(q, &a, &b->piece);

					if (step != ILLEGAL)
						relax(&best[vt][c], b->cost + step + data, &a, order[k]);
				}
			}
		}
}

/* The list that solve() found, top to bottom, as published: relabelled and merged. */
static int publish(const struct problem *q, struct cell (*best)[3], struct piece *out, int64_t *total)
{
	const struct cell *b = &best[q->h - 1][G];
	struct piece reversed[2160];
	int n = 0, kept = 0;

	if (best[q->h - 1][O].cost < b->cost)
		b = &best[q->h - 1][O];
	if (best[q->h - 1][S].cost < b->cost)
		b = &best[q->h - 1][S];
	*total = b->cost;
	for (;;) {
		reversed[n++] = b->piece;
		if (b->piece.vb == 0)
			break;
		b = &best[b->piece.vb - 1][b->below];
	}
	for (int i = n - 1; i >= 0; i--) {
		struct piece a = reversed[i];
		bool any = false;

		for (int v = a.vb; v <= a.vt; v++)
			any |= q->d[v] != SX_DISPARITY_INVALID;
		if (a.c == O && a.vb >= q->vhor && mean(q, a.vb, a.vt, 1) < 16)
			a.c = S;
		else if (a.c == O && !any)
			a.c = STIXEL_UNKNOWN;
		if (kept && a.c == S && out[kept - 1].c == S)
			out[kept - 1].vt = a.vt;
		else
			out[kept++] = a;
	}
	return kept;
}

/* ---- checks ---- */

static void check_invariants(const struct problem *q, const struct sx_segment *list, int n)
{
	assert_int_equal(list[0].v_bottom, 0);
	assert_int_equal(list[n - 1].v_top, q->h - 1);
	for (int i = 0; i < n; i++) {
		assert_true(list[i].v_bottom <= list[i].v_top);
		if (i)
			assert_int_equal(list[i].v_bottom, list[i - 1].v_top + 1);
		if (list[i].kind == G)
			assert_true(list[i].v_top < q->vhor);
		if (list[i].kind == S) {
			assert_true(list[i].v_bottom >= q->vhor);
			assert_int_equal(list[i].disparity_q7, 0);
			assert_false(i && list[i - 1].kind == S);
		}
		if (list[i].kind == G)
			assert_false(i && list[i - 1].kind == S);
		if (list[i].kind == O)
			assert_int_equal(list[i].disparity_q7,
					 8 * mean(q, list[i].v_bottom, list[i].v_top, 1));
	}
}

struct rig {
	struct sx_dp_tables *t;
	struct sx_dp *dp;
	struct sx_segments out;
	struct sx_image columns;
	struct problem q;
};

static void rig_init(struct rig *r, const struct sx_params *p, int columns, int h, int range)
{
	memset(r, 0, sizeof(*r));
	assert_int_equal(sx_dp_tables_create(&r->t, p, h, range), 0);
	assert_int_equal(sx_dp_create(&r->dp, r->t), 0);
	assert_int_equal(sx_segments_init(&r->out, columns, h), 0);
	assert_int_equal(sx_image_init(&r->columns, SX_PIXEL_U16, h, columns), 0);
	r->q.t = r->t;
	r->q.h = h;
}

static void rig_finish(struct rig *r)
{
	sx_image_finish(&r->columns);
	sx_segments_finish(&r->out);
	sx_dp_destroy(r->dp);
	sx_dp_tables_destroy(r->t);
}

static void run(struct rig *r, const struct sx_road *road)
{
	r->q.vhor = sx_road_ground(road, r->q.h, r->q.ground);
	sx_dp_run(r->dp, road, &r->columns, &r->out);
}

/* Compares column u with the plain recurrence; the total of the best list is its energy. */
static int64_t compare_with_plain(struct rig *r, int u, struct cell (*best)[3])
{
	struct piece want[2160];
	const struct sx_segment *got = sx_segments_column(&r->out, u);
	int64_t total;
	int n;

	r->q.d = sx_image_row(&r->columns, u);
	solve(&r->q, best);
	n = publish(&r->q, best, want, &total);
	assert_int_equal(r->out.total[u], total);
	assert_int_equal(r->out.count[u], n);
	for (int i = 0; i < n; i++) {
		assert_int_equal(got[i].v_bottom, want[i].vb);
		assert_int_equal(got[i].v_top, want[i].vt);
		assert_int_equal(got[i].kind, want[i].c);
	}
	check_invariants(&r->q, got, n);
	return total;
}

/* Walks the choices of the plain recurrence and sums the energy of the pieces from scratch. */
static int64_t energy_of_list(const struct problem *q, struct cell (*best)[3])
{
	const struct cell *b = &best[q->h - 1][G];
	int64_t sum = 0;

	for (int c = 1; c < 3; c++)
		if (best[q->h - 1][c].cost < b->cost)
			b = &best[q->h - 1][c];
	for (;;) {
		const struct cell *below = b->piece.vb ? &best[b->piece.vb - 1][b->below] : NULL;

		sum += data_cost(q, &b->piece) +
		       (below ? prior(q, &b->piece, &below->piece) : first_cost(q, &b->piece));
		if (!below)
			return sum;
		b = below;
	}
}

/*
 * A sequence in which no prior looks at the mean below is found for certain; otherwise the DP remembers one
 * mean per row and class, so it can only come out above. Both happen here, the second rarely.
 */
static void test_every_segmentation(void **state)
{
	struct check_rng rng = check_rng_seed(11);
	int certain = 0, equal = 0, total_runs = 0;
	struct cell best[10][3];

	for (int round = 0; round < 150; round++) {
		const int h = 1 + check_below(&rng, 8), range = 4 + check_below(&rng, 60);
		const int vhor = check_below(&rng, h + 1);
		const struct sx_params p = stixel_case_random_params(h, &rng);
		const struct sx_road road = stixel_case_road(h, vhor, 1 + check_below(&rng, range));
		struct rig r;

		rig_init(&r, &p, CASE_COUNT, h, range);
		for (int u = 0; u < CASE_COUNT; u++)
			stixel_case_column((enum stixel_case)u, &road, range, h, sx_image_row(&r.columns, u),
					   &rng);
		run(&r, &road);
		for (int u = 0; u < CASE_COUNT; u++) {
			const int64_t got = compare_with_plain(&r, u, best);
			struct search s = {&r.q, INT64_MAX, false};

			assert_int_equal(got, energy_of_list(&r.q, best));
			all_from(&s, 0, NULL, 0, true);
			assert_true(got >= s.best);
			if (s.best_separates)
				assert_int_equal(got, s.best);
			certain += s.best_separates;
			equal += got == s.best;
			total_runs++;
		}
		rig_finish(&r);
	}
	print_message("# %d columns: %d certain, %d at the minimum\n", total_runs, certain, equal);
	assert_true(certain > total_runs / 3);
	assert_true(equal > total_runs * 95 / 100);
}

static void test_longer_columns_and_ties(void **state)
{
	static const int heights[] = {16, 31, 48};
	struct check_rng rng = check_rng_seed(5);
	struct cell best[48][3];

	for (int round = 0; round < 18; round++) {
		const int h = heights[round % 3], range = round % 2 ? 64 : 17;
		const int vhor = round < 3 ? 0 : round < 6 ? h : check_below(&rng, h + 1);
		const struct sx_params p =
			round % 4 ? stixel_case_random_params(h, &rng) : stixel_case_params(h);
		const struct sx_road road = stixel_case_road(h, vhor, range * 0.8);
		struct rig r;

		rig_init(&r, &p, CASE_COUNT, h, range);
		for (int u = 0; u < CASE_COUNT; u++)
			stixel_case_column((enum stixel_case)u, &road, range, h, sx_image_row(&r.columns, u),
					   &rng);
		run(&r, &road);
		for (int u = 0; u < CASE_COUNT; u++) {
			const int64_t total = compare_with_plain(&r, u, best);

			assert_int_equal(total, energy_of_list(&r.q, best));
		}
		rig_finish(&r);
	}
}

/* ---- tables ---- */

static void near_q12(int32_t got, double nats)
{
	if (fabs(got - 4096.0 * nats) > 1.01)
		fail_msg("table has %d, the formula says %.3f", got, 4096.0 * nats);
}

static double formula(double d, double f, double sigma, double outlier, double range)
{
	const double mass = 0.5 * (erf((range - f) / (sqrt(2) * sigma)) - erf(-f / (sqrt(2) * sigma)));
	const double gauss = log(mass) + log(sigma * sqrt(2 * acos(-1))) - log(1 - outlier) +
			     (d - f) * (d - f) / (2 * sigma * sigma);

	return fmin(log(range) - log(outlier), gauss);
}

static void test_pixel_costs(void **state)
{
	const struct sx_params p = stixel_case_params(375);
	const struct sx_stixel_params *s = &p.stixels;
	const double fb = 707.09 * 0.54, hc = 1.65, log_valid_g = log(1 - 0.21), log_valid_o = log(1 - 0.33);
	struct sx_dp_tables *t;

	assert_int_equal(sx_dp_tables_create(&t, &p, 375, 128), 0);
	for (int fn = 0; fn < 128; fn += 3)
		for (int dq = 0; dq < 128; dq++) {
			const double noise = fn * fn * s->depth_noise_m / fb;

			near_q12(t->object[dq * 128 + fn],
				 formula(dq, fn, sqrt(1 + noise * noise), 0.15, 128) - log_valid_o);
		}
	near_q12(t->object[128 * 128 + 5], -log(0.33));
	for (int g = 0; g <= 16 * 128; g += 7)
		for (int d = 0; d < 2048; d += 61) {
			const double f = g / 16.0, a = f / hc * 0.05, b = fb / hc * 0.005;
			const double want = formula(d / 16.0, f, sqrt(1.5 * 1.5 + a * a + b * b), 0.15, 128);

			/* the precision has 20 bits: up to 6 px^2 * 256 * 2^-21 * 4096 units */
			assert_true(fabs(sx_dp_ground_cost(t, g, (uint16_t)d) - 4096 * (want - log_valid_g)) <
				    8);
		}
	/* paper parameters: object 1.081, sky -1.566 with sigma 0.1: costs may be negative */
	near_q12(t->base_sky, formula(0, 0, 0.5, 0.4, 128));
	near_q12(sx_dp_ground_cost(t, 50, SX_DISPARITY_INVALID), -log(0.21));
	near_q12(sx_dp_sky_cost(t, SX_DISPARITY_INVALID), -log(0.21));
	assert_int_equal(sx_dp_ground_cost(t, -999, 3), sx_dp_ground_cost(t, 0, 3));
	/* the residual is not clamped where the table index is */
	assert_true(sx_dp_ground_cost(t, 16 * 128 + 400, 2040) > sx_dp_ground_cost(t, 16 * 128, 2040));
	sx_dp_tables_destroy(t);
}

static void test_priors(void **state)
{
	const struct sx_params p = stixel_case_params(100);
	const double fb = 707.09 * 0.54;
	const struct sx_road road = stixel_case_road(100, 60, 40);
	struct sx_dp_tables *t;
	struct sx_dp_frame f;

	assert_int_equal(sx_dp_tables_create(&t, &p, 100, 64), 0);
	assert_int_equal(sx_dp_frame_init(&f, 100), 0);
	sx_dp_frame_set(&f, t, &road);
	assert_int_equal(f.vhor, 60);
	for (int m = 16; m < 1024; m++) {
		const double mp = m / 16.0, r = mp - fb / (fb / mp + 3.0);
		const int q = (int)floor(16 * r + 0.5);

		assert_int_equal(t->order[m].hi, m + q);
		assert_int_equal(t->order[m].lo, m - q);
		assert_true(abs(t->order[m].cost_hi -
				(int)(4096 * (log(fmax(64 - mp - q / 16.0, 1 / 16.0)) - log(0.2)))) <= 2);
		assert_true(abs(t->order[m].cost_lo -
				(int)(4096 * (log(fmax(mp - q / 16.0, 1 / 16.0)) - log(0.8)))) <= 2);
	}
	assert_int_equal(t->order[0].hi, 0);
	near_q12(t->first_ground, log(100) + log(2));
	near_q12(t->first_object, log(100) + log(64));
	near_q12(t->first_object_low, log(100) + log(64) + log(2));
	for (int v = 1; v < 100; v++) {
		const struct sx_dp_row *r = &f.rows[v];
		const double len = log(100 - v), g = f.ground_q4[v - 1] / 16.0;

		assert_true(fabs(r->object_on_object - 4096 * (len + (v < 60 ? -log(0.7) : log(2)))) <= 2);
		assert_int_equal(r->ground < SX_DP_INF, v < 60);
		assert_int_equal(r->sky_on_object < SX_DP_INF, v >= 60);
		assert_int_equal(r->sky_on_ground < SX_DP_INF, v >= 60 && f.ground_q4[v - 1] < 16);
		if (v <= 60) {
			assert_int_equal(r->hi, f.ground_q4[v - 1] + 16);
			assert_true(fabs(r->cost_hi - 4096 * (len - log(0.7) - log(0.1) + log(63 - g))) <= 3);
			assert_true(fabs(r->cost_on - 4096 * (len - log(0.7) - log(0.86) + log(2))) <= 3);
			assert_true(fabs(r->cost_lo - 4096 * (len - log(0.7) - log(0.04) +
							      log(fmax(g - 1, 1 / 16.0)))) <= 3);
		} else {
			assert_int_equal(r->hi, 16);
			assert_true(fabs(r->cost_hi - 4096 * (len + log(63))) <= 2);
			assert_int_equal(r->cost_on, SX_DP_INF);
		}
	}
	sx_dp_frame_finish(&f);
	sx_dp_tables_destroy(t);
}

/* ---- scenes ---- */

static void test_scene_is_found(void **state)
{
	enum { H = 150, RANGE = 64, VHOR = 90 };
	const struct sx_params p = stixel_case_params(H);
	const struct sx_road road = stixel_case_road(H, VHOR, 40);
	const struct sx_segment *s;
	struct rig r;
	uint16_t *d;

	rig_init(&r, &p, 2, H, RANGE);
	d = sx_image_row(&r.columns, 0);
	sx_road_ground(&road, H, r.q.ground);
	for (int v = 0; v < H; v++)
		d[v] = (uint16_t)(v < 40 ? r.q.ground[v] : v < 70 ? 30 * 16 : v < 110 ? 9 * 16 : 0);
	d = sx_image_row(&r.columns, 1); /* a road that runs into the sky: no object between */
	for (int v = 0; v < H; v++)
		d[v] = (uint16_t)(v < VHOR ? r.q.ground[v] : 0);
	run(&r, &road);
	s = sx_segments_column(&r.out, 0);
	assert_int_equal(r.out.count[0], 4);
	assert_int_equal(s[0].kind, G);
	assert_int_equal(s[1].kind, O);
	assert_int_equal(s[2].kind, O);
	assert_int_equal(s[3].kind, S);
	assert_int_equal(s[1].v_bottom, 40);
	assert_int_equal(s[2].v_bottom, 70);
	assert_int_equal(s[3].v_bottom, 110);
	assert_int_equal(s[2].disparity_q7, 9 * 128);
	assert_int_equal(s[0].disparity_q7, 40 * 128);
	assert_true(s[0].slope_q14 < 0);
	assert_true(abs(s[0].slope_q14 + (int)(road.slope * 16384)) <= 1);
	assert_int_equal(r.out.count[1], 2);
	assert_int_equal(sx_segments_column(&r.out, 1)[1].kind, S);
	assert_int_equal(sx_segments_column(&r.out, 1)[1].v_bottom, VHOR);
	rig_finish(&r);
}

/* No data: sky above the horizon, and no claim of an object at infinity below it. */
static void test_nothing_valid(void **state)
{
	const struct sx_params p = stixel_case_params(64);
	const struct sx_road road = stixel_case_road(64, 40, 30);
	const struct sx_segment *s;
	struct rig r;

	rig_init(&r, &p, 1, 64, 64);
	memset(sx_image_row(&r.columns, 0), 0xff, 64 * 2);
	run(&r, &road);
	s = sx_segments_column(&r.out, 0);
	for (int i = 0; i < r.out.count[0]; i++) {
		assert_int_not_equal(s[i].kind, O);
		if (s[i].kind == STIXEL_UNKNOWN)
			assert_int_equal(s[i].disparity_q7, STIXEL_DISPARITY_UNKNOWN);
	}
	rig_finish(&r);
}

/* Sizes and parameters at which a sum would overflow if a bound were wrong (with UBSan), and values clamp. */
static void test_extremes(void **state)
{
	struct check_rng rng = check_rng_seed(3);
	struct sx_params p = stixel_case_params(2160);
	struct sx_road road = stixel_case_road(2160, 1300, 383);
	struct rig r;

	p.stixels.sigma_sky_px = p.stixels.sigma_ground_px = p.stixels.sigma_object_px = 1e-6;
	p.stixels.sigma_height_m = p.stixels.sigma_pitch_rad = p.stixels.depth_noise_m = 0;
	p.stixels.p_outlier = p.stixels.p_outlier_sky = p.stixels.p_order = p.stixels.p_gravity = 1e-300;
	p.stixels.p_invalid = 0;
	rig_init(&r, &p, 1, 2160, 384);
	stixel_case_column(CASE_NOISE, &road, 384, 2160, sx_image_row(&r.columns, 0), &rng);
	((uint16_t *)sx_image_row(&r.columns, 0))[7] = 0xfffe; /* an external map may say anything */
	run(&r, &road);
	assert_true(r.out.total[0] < SX_DP_INF && r.out.total[0] > -SX_DP_INF);
	assert_int_equal(sx_segments_column(&r.out, 0)[r.out.count[0] - 1].v_top, 2159);
	road = (struct sx_road){.slope = 1e30, .offset = -1e20};
	run(&r, &road);
	assert_int_equal(sx_segments_column(&r.out, 0)[0].v_bottom, 0);
	rig_finish(&r);
	assert_int_equal(sx_dp_tables_create(&r.t, &p, 2161, 64), -EINVAL);
	assert_int_equal(sx_dp_tables_create(&r.t, &p, 100, 385), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pixel_costs),	   cmocka_unit_test(test_priors),
		cmocka_unit_test(test_every_segmentation), cmocka_unit_test(test_longer_columns_and_ties),
		cmocka_unit_test(test_scene_is_found),	   cmocka_unit_test(test_nothing_valid),
		cmocka_unit_test(test_extremes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
