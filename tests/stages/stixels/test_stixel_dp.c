/*
 * The stixel DP against definitions: lists against a second DP without prefix sums and against every possible
 * segmentation of short columns, totals against the list itself.
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

/* A column and all inputs of its cost. */
struct problem {
	const struct sx_dp_tables *t;
	int32_t axis[2160], ground[2160]; /* ground of the road: at its axis, in the column */
	int vhor, unseen, h;
	const uint16_t *d;
};

/* One segment as used by the energy. */
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

/* Returns the sum of pixel costs of a segment, cell by cell. */
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
			sum += valid ? t->valid_ground +
					       gauss_or_outlier(d > f ? d - f : 0, t->base_ground[row],
								t->precision_ground[row], t->uniform_ground)
				     : t->invalid_ground;
		else
			sum += valid ? t->valid_sky + gauss_or_outlier(d, t->base_sky, t->precision_sky,
								       t->uniform_sky)
				     : t->invalid_sky;
	}
	return sum;
}

/* Rows of the table of transitions in docs/develop/algorithm.md. -1: illegal (no prior is negative enough). */
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

/* Returns the prior of a on b. */
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
	bool best_separates; /* no prior of the best segmentation uses the mean below */
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

/* Publishes the list that solve() found, from top to bottom: relabelled and merged. */
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
	if (q->unseen > 0)
		out[kept++] = (struct piece){0, q->unseen - 1, STIXEL_UNKNOWN};
	for (int i = n - 1; i >= 0; i--) {
		struct piece a = reversed[i];
		const int m = mean(q, a.vb, a.vt, 1); /* including the mean of the cut-off part */
		bool any = false;

		if (a.vt < q->unseen)
			continue;
		a.vb = a.vb < q->unseen ? q->unseen : a.vb;
		for (int v = a.vb; v <= a.vt; v++)
			any |= q->d[v] != SX_DISPARITY_INVALID;
		if (a.c == O && a.vb >= q->vhor && m < 16)
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
		/* a segment that reached into the unseen rows keeps the mean of all its cells */
		if (list[i].kind == O && (q->unseen == 0 || list[i].v_bottom > q->unseen))
			assert_int_equal(list[i].disparity_q7,
					 8 * mean(q, list[i].v_bottom, list[i].v_top, 1));
	}
}

struct rig {
	struct sx_dp_tables *t;
	struct sx_dp *dp;
	struct sx_segments out;
	struct sx_image columns;
	struct sx_road road;
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
	r->road = *road;
	sx_road_ground(road, r->q.h, r->q.axis);
	sx_dp_run(r->dp, road, &r->columns, &r->out);
}

/* Enters column u of width px: its ground, and the part of the ground that is in view. */
static void enter_column(struct rig *r, int u)
{
	const int width = r->t->width;
	const double more = r->road.cross * (u * width + 0.5 * (width - 1) - r->road.axis);
	const int in_view = 16 * (u * width + width / 2 - 4);
	struct problem *q = &r->q;

	q->d = sx_image_row(&r->columns, u);
	q->vhor = q->unseen = 0;
	for (int v = 0; v < q->h; v++) {
		q->ground[v] = q->axis[v] + (int32_t)rint(16.0 * more);
		if (q->vhor == v && q->ground[v] > 0)
			q->vhor++;
		/* columns with less than 4 px in view see nothing */
		if (q->unseen == v && (in_view < 16 * 4 || q->ground[v] > in_view))
			q->unseen++;
	}
}

/* Compares column u with the plain recurrence. The total of the best list must be its energy. */
static int64_t compare_with_plain(struct rig *r, int u, struct cell (*best)[3])
{
	struct piece want[2160];
	const struct sx_segment *got = sx_segments_column(&r->out, u);
	int64_t total;
	int n;

	enter_column(r, u);
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
 * If no prior of the best sequence uses the mean below, the DP is certain to find it. Otherwise the DP can
 * only give a larger total, because it remembers one mean per row and class. Both cases occur here, the
 * second one rarely.
 */
static void test_every_segmentation(void **state)
{
	struct check_rng rng = check_rng_seed(11);
	int certain = 0, equal = 0, total_runs = 0;
	struct cell best[10][3];

	for (int round = 0; round < 150; round++) {
		const int h = 1 + check_below(&rng, 8), range = 4 + check_below(&rng, 60);
		const int vhor = check_below(&rng, h + 1);
		struct sx_params p = stixel_case_random_params(h, &rng);
		struct sx_road road = stixel_case_road(h, vhor, 1 + check_below(&rng, range));
		struct rig r;

		stixel_case_place(&p, &road, CASE_COUNT, &rng);
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
		struct sx_params p = round % 4 ? stixel_case_random_params(h, &rng) : stixel_case_params(h);
		struct sx_road road = stixel_case_road(h, vhor, range * 0.8);
		struct rig r;

		stixel_case_place(&p, &road, CASE_COUNT, &rng);
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

/* ---- scenes ---- */

static void test_scene_is_found(void **state)
{
	enum { H = 150, RANGE = 64, VHOR = 90 };
	struct sx_params p = stixel_case_params(H);
	const struct sx_road road = stixel_case_road(H, VHOR, 40);
	const struct sx_segment *s;
	int32_t ground[H];
	struct rig r;
	uint16_t *d;

	p.stixels.width = 32; /* columns 2 and 3 see the whole road */
	rig_init(&r, &p, 4, H, RANGE);
	d = sx_image_row(&r.columns, 2);
	sx_road_ground(&road, H, ground);
	for (int v = 0; v < H; v++)
		d[v] = (uint16_t)(v < 40 ? ground[v] : v < 70 ? 30 * 16 : v < 110 ? 9 * 16 : 0);
	d = sx_image_row(&r.columns, 3); /* a road that runs into the sky, without an object between */
	for (int v = 0; v < H; v++)
		d[v] = (uint16_t)(v < VHOR ? ground[v] : 0);
	run(&r, &road);
	s = sx_segments_column(&r.out, 2);
	assert_int_equal(r.out.count[2], 4);
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
	assert_int_equal(r.out.count[3], 2);
	assert_int_equal(sx_segments_column(&r.out, 3)[1].kind, S);
	assert_int_equal(sx_segments_column(&r.out, 3)[1].v_bottom, VHOR);
	rig_finish(&r);
}

/* Each column has its own ground. A line in v alone would turn one side into objects. */
static void test_leaning_road(void **state)
{
	enum { H = 150, COLUMNS = 40 };
	const struct sx_params p = stixel_case_params(H);
	struct sx_road road = stixel_case_road(H, 90, 30);
	struct rig r;

	stixel_case_roll(&road, COLUMNS, 24);
	rig_init(&r, &p, COLUMNS, H, 64);
	for (int u = 0; u < COLUMNS; u++) {
		const struct sx_road here = stixel_case_road_in(&road, u);
		int32_t ground[H];

		sx_road_ground(&here, H, ground);
		for (int v = 0; v < H; v++)
			((uint16_t *)sx_image_row(&r.columns, u))[v] =
				(uint16_t)(ground[v] > 0 ? ground[v] : 0);
	}
	run(&r, &road);
	for (int u = 12; u < COLUMNS; u++) {
		const struct sx_segment *s = sx_segments_column(&r.out, u);

		enter_column(&r, u);
		assert_int_equal(r.q.unseen, 0);
		assert_int_equal(r.out.count[u], 2);
		assert_int_equal(s[0].kind, G);
		assert_int_equal(s[0].disparity_q7, 8 * r.q.ground[0]);
		assert_int_equal(s[1].kind, S);
		assert_int_equal(s[1].v_bottom, r.q.vhor);
	}
	rig_finish(&r);
}

/*
 * At the left border, rows whose ground has no partner are unknown, and the objects found there begin above
 * them. Columns that see less than 4 px are all unknown.
 */
static void test_unseen_rows(void **state)
{
	enum { H = 100, VHOR = 60, COLUMNS = 8 };
	const struct sx_params p = stixel_case_params(H);
	const struct sx_road road = stixel_case_road(H, VHOR, 30); /* half a px per row */
	struct rig r;

	rig_init(&r, &p, COLUMNS, H, 64);
	for (int u = 0; u < COLUMNS; u++)
		for (int v = 0; v < H; v++) /* an object over the whole column */
			((uint16_t *)sx_image_row(&r.columns, u))[v] = 20 * 16;
	run(&r, &road);
	for (int u = 0; u < COLUMNS; u++) {
		const struct sx_segment *s = sx_segments_column(&r.out, u);
		int unseen;

		enter_column(&r, u);
		/* row v has (59.5 - v) / 59.5 of 30 px; the column sees 5 u - 2 px */
		unseen = (int)ceil(59.5 * (1 - (5 * u - 2) / 30.0));
		unseen = u < 2 ? H : unseen < 0 ? 0 : unseen;
		assert_int_equal(r.q.unseen, unseen);
		assert_int_equal(r.out.count[u], u < 2 || u == 7 ? 1 : 2);
		if (u == 7)
			continue;
		assert_int_equal(s[0].kind, STIXEL_UNKNOWN);
		assert_int_equal(s[0].disparity_q7, STIXEL_DISPARITY_UNKNOWN);
		assert_int_equal(s[0].v_top, unseen - 1);
		if (u < 2)
			continue;
		assert_int_equal(s[1].kind, O);
		assert_int_equal(s[1].v_bottom, unseen);
		assert_int_equal(s[1].disparity_q7, 20 * 128);
	}
	rig_finish(&r);
}

/* Sky lies above the horizon if there is no data. Below the horizon there is no object at infinity. */
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

/*
 * Sizes and parameters at which a sum would overflow if a bound were wrong (with UBSan), and at which values
 * clamp.
 */
static void test_extremes(void **state)
{
	struct check_rng rng = check_rng_seed(3);
	struct sx_params p = stixel_case_params(2160);
	struct sx_road road = stixel_case_road(2160, 1300, SX_RANGE_MAX - 1);
	struct rig r;

	p.stixels.sigma_sky_px = p.stixels.sigma_ground_px = p.stixels.sigma_object_px = 1e-6;
	p.stixels.sigma_height_m = p.stixels.sigma_pitch_rad = p.stixels.depth_noise_m = 0;
	p.stixels.p_outlier = p.stixels.p_outlier_sky = p.stixels.p_order = p.stixels.p_gravity = 1e-300;
	p.stixels.p_invalid = 0;
	rig_init(&r, &p, 1, 2160, SX_RANGE_MAX);
	stixel_case_column(CASE_NOISE, &road, SX_RANGE_MAX, 2160, sx_image_row(&r.columns, 0), &rng);
	((uint16_t *)sx_image_row(&r.columns, 0))[7] = 0xfffe; /* an external map may hold any value */
	run(&r, &road);
	assert_true(r.out.total[0] < SX_DP_INF && r.out.total[0] > -SX_DP_INF);
	assert_int_equal(sx_segments_column(&r.out, 0)[r.out.count[0] - 1].v_top, 2159);
	road = (struct sx_road){.slope = 1e30, .offset = -1e20};
	run(&r, &road);
	assert_int_equal(sx_segments_column(&r.out, 0)[0].v_bottom, 0);
	rig_finish(&r);
	assert_int_equal(sx_dp_tables_create(&r.t, &p, 2161, 64), -EINVAL);
	assert_int_equal(sx_dp_tables_create(&r.t, &p, 100, SX_RANGE_MAX + 1), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_segmentation), cmocka_unit_test(test_longer_columns_and_ties),
		cmocka_unit_test(test_scene_is_found),	   cmocka_unit_test(test_leaning_road),
		cmocka_unit_test(test_unseen_rows),	   cmocka_unit_test(test_nothing_valid),
		cmocka_unit_test(test_extremes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
