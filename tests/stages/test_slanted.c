/*
 * Slanted stixels against definitions: totals against a second DP in double that fits every stixel anew, against every
 * segmentation of short columns; roads that climb and fall with known truth; class scores; trouble.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <stixel.h>

#include "stages/slanted.h"
#include "tests/stixel_case.h"

enum { G = STIXEL_GROUND, O = STIXEL_OBJECT, S = STIXEL_SKY };
enum { ROWS = 64, CLASSES = 4 };

/* One column and what is made of it. */
struct rig {
	struct sx_params p;
	struct sx_road road;
	struct sx_slanted_tables *t;
	struct sx_slanted *s;
	struct sx_segments out;
	int rows;
	uint16_t d[ROWS];
	uint8_t c[ROWS], scores[ROWS * CLASSES];
	bool confident, scored;
	/* the DP in double */
	struct sx_slanted_frame f;
	int32_t ground[ROWS];
};

static struct sx_params rig_params(int rows)
{
	struct sx_params p = stixel_case_params(rows);
	static const uint8_t kinds[CLASSES] = {G, O, O, S};

	p.stixels.method = SX_STIXEL_SLANTED;
	p.stixels.cell_height = 1;
	p.stixels.slanted.slope_px = 1;
	p.semantics.classes = CLASSES;
	memcpy(p.semantics.kind, kinds, sizeof(kinds));
	return p;
}

static void rig_init(struct rig *g, const struct sx_params *p, int rows, const struct sx_road *road)
{
	*g = (struct rig){.p = *p, .rows = rows, .road = *road};
	assert_int_equal(sx_slanted_tables_create(&g->t, p, rows, 128), 0);
	assert_int_equal(sx_slanted_create(&g->s, g->t), 0);
	assert_int_equal(sx_segments_init(&g->out, 1, rows), 0);
	g->f.ground_q4 = g->ground;
	sx_slanted_frame_set(&g->f, g->t, road);
}

static void rig_finish(struct rig *g)
{
	sx_slanted_destroy(g->s);
	sx_slanted_tables_destroy(g->t);
	sx_segments_finish(&g->out);
}

/* Lists cover the column without gaps whatever it holds. */
static const struct sx_segment *rig_run(struct rig *g)
{
	const size_t n = (size_t)g->rows;
	const struct sx_image columns = {g->d, g->rows, 1, 2 * n, SX_PIXEL_U16};
	const struct sx_image c = {g->c, g->rows, 1, n, SX_PIXEL_U8};
	const struct sx_image scores = {g->scores, CLASSES * g->rows, 1, CLASSES * n, SX_PIXEL_U8};
	const struct sx_segment *list = g->out.list;
	int v = 0;

	sx_slanted_run(g->s, &g->road, &columns, g->confident ? &c : NULL, g->scored ? &scores : NULL,
		       &g->out);
	for (int i = 0; i < g->out.count[0]; i++) {
		assert_int_equal(list[i].v_bottom, v);
		assert_true(list[i].v_top >= v && list[i].kind <= STIXEL_UNKNOWN);
		assert_true(list[i].label == STIXEL_LABEL_NONE ||
			    g->p.semantics.kind[list[i].label] == list[i].kind ||
			    list[i].kind == STIXEL_UNKNOWN);
		v = list[i].v_top + 1;
	}
	assert_int_equal(v, g->rows);
	assert_true(g->out.total[0] >= 0);
	return list;
}

/* ---- definitions in double ---- */

struct piece {
	int vb, vt, c;
};

struct line {
	double a, b,
		fit; /* at row v: a + b (v - vb), above the expected ground of that row, or a alone; px / 16 */
};

static double weight(const struct rig *g, int v)
{
	return g->d[v] == SX_DISPARITY_INVALID ? 0 : g->confident ? g->t->weight[g->c[v]] : 255;
}

static double cell_cost(const struct rig *g, int c, int v, double residual)
{
	const struct sx_slanted_params *s = &g->p.stixels.slanted;
	const double sigma = c == G ? s->sigma_ground_px : c == O ? s->sigma_object_px : s->sigma_sky_px;
	const double r2 = weight(g, v) / 255 * residual * residual / 256 / (sigma * sigma);
	const double p = c == S ? g->p.stixels.p_outlier_sky : g->p.stixels.p_outlier;
	const double u = p / 128, q = (1 - p) / (sigma * sqrt(3.14159265358979));

	return g->t->exact ? log(u + q) - log(u + q * exp(-r2)) : r2;
}

static struct line fit(const struct rig *g, const struct piece *a)
{
	const struct sx_slanted_params *s = &g->p.stixels.slanted;
	const double ratio = s->sigma_ground_px / s->offset_px, steep = s->sigma_ground_px / s->slope_px;
	const double la = 255 * ratio * ratio, lb = 255 * steep * steep;
	double n = 0, x = 0, xx = 0, y = 0, xy = 0;
	struct line l = {0, 0, 0};

	for (int v = a->vb; v <= a->vt; v++) {
		const double w = weight(g, v), t = v - a->vb, d = w > 0 ? g->d[v] : 0;
		const double e = a->c == G ? d - g->ground[v] : d;

		n += w;
		x += w * t;
		xx += w * t * t;
		y += w * e;
		xy += w * e * t;
	}
	if (a->c == G) {
		const double det = (n + la) * (xx + lb) - x * x;

		l.a = (y * (xx + lb) - x * xy) / det;
		l.b = ((n + la) * xy - x * y) / det;
		l.fit = (la * l.a * l.a + lb * l.b * l.b) / 255 / 256 / pow(s->sigma_ground_px, 2);
	} else if (a->c == O && n > 0) {
		l.a = y / n;
	}
	for (int v = a->vb; v <= a->vt; v++)
		if (weight(g, v) > 0)
			l.fit +=
				cell_cost(g, a->c, v,
					  l.a + l.b * (v - a->vb) + (a->c == G ? g->ground[v] : 0) - g->d[v]);
	return l;
}

static double score(const struct rig *g, const struct piece *a)
{
	double best = INFINITY;

	if (!g->scored)
		return 0;
	for (int k = 0; k < CLASSES; k++) {
		double sum = 0;

		for (int v = a->vb; v <= a->vt; v++)
			sum += g->t->score[g->scores[v * CLASSES + k]] / 256.0;
		if (g->p.semantics.kind[k] == a->c && sum < best)
			best = sum;
	}
	return g->p.stixels.slanted.semantic * best;
}

static bool legal(const struct rig *g, const struct piece *a)
{
	return a->c == O || (a->c == G ? a->vt < g->f.top : a->vb > 0 && a->vb >= g->f.vhor);
}

/* Of a on b whose line is lb; the boundary is at a's lowest row. */
static double prior(const struct rig *g, const struct piece *a, const struct line *la, const struct piece *b,
		    const struct line *lb)
{
	const struct sx_slanted_params *s = &g->p.stixels.slanted;
	const double below = b->c == G ? g->ground[a->vb] + lb->a + lb->b * (a->vb - b->vb) : lb->a;
	const double above = a->c == G ? g->ground[a->vb] + la->a : la->a, off = above - below;

	switch (3 * a->c + b->c) {
	case 3 * O + G:
		return fabs(off) > 1 ? s->gravity * (1 + fabs(off) / 16) : 0;
	case 3 * O + O:
		return off > 1 ? s->order * (1 + off / 16) : 0;
	case 3 * O + S:
	case 3 * S + O:
		return 0;
	case 3 * G + O:
		return off <= 1 ? 0 : INFINITY;
	case 3 * G + G:
		return fabs(off) > 1 ? s->gap : 0;
	case 3 * S + G:
		return below < 16 ? 0 : INFINITY;
	default:
		return INFINITY;
	}
}

static double first(const struct rig *g, const struct piece *a)
{
	return g->p.stixels.slanted.cut + (a->c == O ? log(2) : 0);
}

/* Every prefix that ends with a class keeps its cheapest last stixel: as documented, not the best of all columns. */
static double second_dp(const struct rig *g)
{
	static const int order[3] = {O, G, S};
	double cost[ROWS][3];
	struct piece last[ROWS][3];
	struct line line[ROWS][3];

	for (int vt = 0; vt < g->rows; vt++)
		for (int c = G; c <= S; c++) {
			cost[vt][c] = INFINITY;
			for (int vb = 0; vb <= vt; vb++) {
				const struct piece a = {vb, vt, c};
				const struct line l = fit(g, &a);
				double below = vb ? INFINITY : first(g, &a);

				for (int k = 0; vb && k < 3; k++) {
					const int b = order[k];
					const double x = cost[vb - 1][b];

					if (x < INFINITY)
						below = fmin(below, x + g->p.stixels.slanted.cut +
									    prior(g, &a, &l, &last[vb - 1][b],
										  &line[vb - 1][b]));
				}
				if (legal(g, &a) && l.fit + score(g, &a) + below < cost[vt][c]) {
					cost[vt][c] = l.fit + score(g, &a) + below;
					last[vt][c] = a;
					line[vt][c] = l;
				}
			}
		}
	return fmin(fmin(cost[g->rows - 1][G], cost[g->rows - 1][O]), cost[g->rows - 1][S]);
}

/* Every segmentation: bits cut, base 3 digits are kinds. */
static double every_segmentation(const struct rig *g, int from, const struct piece *b, const struct line *lb)
{
	double best = INFINITY;

	if (from == g->rows)
		return 0;
	for (int vt = from; vt < g->rows; vt++)
		for (int c = G; c <= S; c++) {
			const struct piece a = {from, vt, c};
			const struct line l = fit(g, &a);
			double cost = l.fit + score(g, &a);

			if (!legal(g, &a))
				continue;
			cost += b ? g->p.stixels.slanted.cut + prior(g, &a, &l, b, lb) : first(g, &a);
			if (cost < best)
				best = fmin(best, cost + every_segmentation(g, vt + 1, &a, &l));
		}
	return best;
}

/* ---- columns ---- */

static void random_rig_column(struct rig *g, int i, struct check_rng *r)
{
	stixel_case_column((enum stixel_case)(i % CASE_COUNT), &g->road, 128, g->rows, g->d, r);
	g->confident = i % 3 != 0;
	g->scored = i % 4 == 3;
	for (int v = 0; v < g->rows; v++)
		g->c[v] = (uint8_t)(check_below(r, 5) ? 100 + check_below(r, 156) : check_below(r, 256));
	for (int k = 0; k < g->rows * CLASSES; k++)
		g->scores[k] = (uint8_t)(i % 8 == 3 ? check_below(r, 256) : 255 * check_below(r, 2));
}

static double total(const struct rig *g)
{
	return g->out.total[0] / 4096.0;
}

static struct sx_params random_params(int rows, int i, struct check_rng *r)
{
	struct sx_params p = rig_params(rows);
	struct sx_slanted_params *s = &p.stixels.slanted;

	p.stixels.method = i % 5 == 4 ? SX_STIXEL_SLANTED_EXACT : SX_STIXEL_SLANTED;
	s->confidence = (enum sx_confidence_weight)(i % 3);
	if (i % 2) {
		s->sigma_ground_px = 0.5 + check_below(r, 20) / 10.0;
		s->sigma_object_px = 0.5 + check_below(r, 20) / 10.0;
		s->slope_px = 0.2 + check_below(r, 20) / 10.0;
		s->cut = check_below(r, 12);
		s->gravity = check_below(r, 4);
		s->order = check_below(r, 4);
		s->gap = check_below(r, 4);
	}
	return p;
}

/*
 * Totals are rounded to 24 bits many times over. Where two choices cost the same, rounding may remember the other one,
 * and what stands on it then costs something else: rare enough to be counted.
 */
static void test_against_double(void **state)
{
	struct check_rng r = check_rng_seed(41);
	int n = 0, other = 0;

	for (int i = 0; i < 700; i++) {
		const int rows = 1 + check_below(&r, i % 7 ? 24 : ROWS);
		const struct sx_road road = stixel_case_road(rows, check_below(&r, rows + 1), 40);
		const struct sx_params p = random_params(rows, i, &r);
		struct rig g;
		double want;

		rig_init(&g, &p, rows, &road);
		random_rig_column(&g, i, &r);
		rig_run(&g);
		want = second_dp(&g);
		n++;
		if (!(fabs(total(&g) - want) <= 0.01 + 1e-4 * want + (g.t->exact ? 0.005 * rows : 0)))
			other++;
		rig_finish(&g);
	}
	if (other > n / 100)
		fail_msg("%d of %d columns cost something else", other, n);
}

/* Without priors between stixels what is remembered of a prefix cannot matter, and the DP is the best of all. */
static void test_every_segmentation(void **state)
{
	struct check_rng r = check_rng_seed(42);

	for (int i = 0; i < 400; i++) {
		const int rows = 1 + i % 7;
		const struct sx_road road = stixel_case_road(rows, i % 2 ? 0 : check_below(&r, rows + 1), 8);
		struct sx_params p = random_params(rows, i, &r);
		struct rig g;
		double best;

		p.stixels.slanted.gravity = p.stixels.slanted.order = p.stixels.slanted.gap = 0;
		rig_init(&g, &p, rows, &road);
		random_rig_column(&g, i, &r);
		rig_run(&g);
		best = every_segmentation(&g, 0, NULL, NULL);
		if (total(&g) < best - 0.04 - 1e-4 * best ||
		    (g.f.top == 0 && total(&g) > best + 0.04 + 1e-4 * best))
			fail_msg("column %d: %f, best of all %f", i, total(&g), best);
		rig_finish(&g);
	}
}

/* ---- scenes: flat up to row 16, then as steep as climb says, then an upright object, then nothing ---- */

static void scene(struct rig *g, double climb, struct check_rng *r)
{
	double last = 0;

	for (int v = 0; v < g->rows; v++) {
		const double flat = g->ground[v] / 16.0;

		if (v < 34)
			last = flat + (v > 16 ? climb * (v - 16) : 0);
		g->d[v] = v < 50 ? (uint16_t)(16 * last + check_below(r, 9) - 4) : SX_DISPARITY_INVALID;
	}
}

static void check_scene(double climb, struct check_rng *r)
{
	const struct sx_params p = rig_params(ROWS);
	const struct sx_road road = stixel_case_road(ROWS, 40, 50);
	const struct sx_segment *list, *g0, *g1, *o;
	struct rig g;
	int n;

	rig_init(&g, &p, ROWS, &road);
	scene(&g, climb, r);
	list = rig_run(&g);
	n = g.out.count[0];
	g0 = &list[0];
	g1 = climb == 0 ? g0 : &list[1];
	o = &g1[1];
	assert_true(n >= (climb == 0 ? 2 : 3) && o < list + n);
	assert_int_equal(g0->kind, G);
	assert_int_equal(g1->kind, G);
	assert_int_equal(o->kind, O);
	/* a cut may be a row or two off where the planes have not parted yet */
	if (climb != 0)
		assert_in_range(g1->v_bottom, 14, 20);
	assert_in_range(o->v_bottom, 32, 36);
	assert_in_range(abs(g0->disparity_q7 - 8 * g.ground[0]), 0, 64);
	assert_in_range(abs(g1->slope_q14 - (int)(16384 * (climb - road.slope))), 0, 16384 / 10);
	assert_in_range(abs(o->mean_q4 - g.d[45]), 0, 8);
	assert_in_range(abs(o->disparity_q7 - 8 * o->mean_q4), 0, 4);
	assert_int_equal(o->slope_q14, 0);
	rig_finish(&g);
}

static void test_roads(void **state)
{
	struct check_rng r = check_rng_seed(43);

	for (int i = 0; i < 20; i++) {
		check_scene(0, &r);
		check_scene(0.8, &r); /* climbs: the road stays near for longer */
		check_scene(-0.3, &r);
	}
}

/* The published value of a plane is that of the lowest image row of its lowest cell. */
static void test_cells_of_a_plane(void **state)
{
	for (int cell = 1; cell <= 16; cell++) {
		struct sx_params p = rig_params(ROWS * 16);
		const struct sx_road road = stixel_case_road(ROWS * 16, ROWS * 16, 100);
		const struct sx_segment *list;
		struct rig g;
		int rows;

		p.stixels.cell_height = cell * 4 > 32 ? 32 : cell * 4;
		rows = ROWS * 16 / p.stixels.cell_height;
		if (rows > ROWS)
			continue;
		g = (struct rig){.p = p, .rows = rows, .road = road};
		assert_int_equal(sx_slanted_tables_create(&g.t, &p, ROWS * 16, 128), 0);
		assert_int_equal(sx_slanted_create(&g.s, g.t), 0);
		assert_int_equal(sx_segments_init(&g.out, 1, rows), 0);
		g.f.ground_q4 = g.ground;
		sx_slanted_frame_set(&g.f, g.t, &road);
		for (int v = 0; v < rows; v++)
			g.d[v] = (uint16_t)(g.ground[v] > 0 ? g.ground[v] : 0);
		list = rig_run(&g);
		assert_int_equal(list[0].kind, G);
		assert_in_range(abs(list[0].disparity_q7 - 128 * 100), 0, 12);
		assert_in_range(abs(list[0].slope_q14 + (int)(16384 * road.slope)), 0, 24);
		rig_finish(&g);
	}
}

/* ---- class scores ---- */

/* The same disparities, sky or a far wall: what the scores say. Class 1 and 2 tie: the first. */
static void test_scores_decide(void **state)
{
	const struct sx_params p = rig_params(ROWS);
	const struct sx_road road = stixel_case_road(ROWS, 20, 30);
	struct rig g;

	rig_init(&g, &p, ROWS, &road);
	g.scored = true;
	for (int sky = 0; sky < 2; sky++) {
		const struct sx_segment *list, *last;

		for (int v = 0; v < ROWS; v++) {
			g.d[v] = v < 20 ? (uint16_t)g.ground[v] : 12;
			memset(g.scores + v * CLASSES, 2, CLASSES);
			if (v < 20)
				g.scores[v * CLASSES] = 240;
			else if (sky)
				g.scores[v * CLASSES + 3] = 240;
			else
				g.scores[v * CLASSES + 1] = g.scores[v * CLASSES + 2] = 120;
		}
		list = rig_run(&g);
		last = &list[g.out.count[0] - 1];
		assert_int_equal(g.out.count[0], 2);
		assert_int_equal(list[0].kind, G);
		assert_int_equal(list[0].label, 0);
		assert_in_range(last->v_bottom, sky ? 20 : 19,
				20); /* a wall stands on the ground of row 19 */
		assert_int_equal(last->kind, sky ? S : O);
		assert_int_equal(last->label, sky ? 3 : 1);
	}
	/* one object by disparity, two by class */
	for (int v = 0; v < ROWS; v++) {
		g.d[v] = v < 20 ? (uint16_t)g.ground[v] : 480;
		memset(g.scores + v * CLASSES, 1, CLASSES);
		g.scores[v * CLASSES + (v < 20 ? 0 : v < 45 ? 2 : 1)] = 250;
	}
	rig_run(&g);
	assert_int_equal(g.out.count[0], 3);
	assert_int_equal(g.out.list[1].label, 2);
	assert_int_equal(g.out.list[2].label, 1);
	assert_int_equal(g.out.list[2].v_bottom, 45);
	/* nothing valid: the scores alone; objects then have no disparity */
	memset(g.d, 0xff, sizeof(g.d));
	rig_run(&g);
	assert_int_equal(g.out.list[g.out.count[0] - 1].kind, STIXEL_UNKNOWN);
	assert_int_equal(g.out.list[g.out.count[0] - 1].label, 1);
	g.scored = false;
	rig_run(&g);
	assert_int_equal(g.out.list[0].label, STIXEL_LABEL_NONE);
	rig_finish(&g);
}

/* A kind that no class has is as one that is never seen: possible, and never cheap. */
static void test_kind_without_class(void **state)
{
	struct sx_params p = rig_params(ROWS);
	const struct sx_road road = stixel_case_road(ROWS, 20, 30);
	struct check_rng r = check_rng_seed(44);
	struct rig g;

	memset(p.semantics.kind, G, sizeof(p.semantics.kind));
	rig_init(&g, &p, ROWS, &road);
	for (int i = 0; i < 100; i++) {
		random_rig_column(&g, i, &r);
		g.scored = true;
		rig_run(&g);
		for (int k = 0; k < g.out.count[0]; k++)
			assert_int_equal(g.out.list[k].label != STIXEL_LABEL_NONE, g.out.list[k].kind == G);
	}
	rig_finish(&g);
}

/* ---- trouble ---- */

static void test_trouble(void **state)
{
	struct check_rng r = check_rng_seed(45);

	for (int i = 0; i < 1200; i++) {
		const int rows = i % 6 == 0 ? 1 : 1 + check_below(&r, ROWS);
		const struct sx_road road = stixel_case_road(rows, check_below(&r, rows + 1), 1 + i % 120);
		struct sx_params p = random_params(rows, i, &r);
		const int how = i / 6 % 6;
		struct rig g;

		p.stixels.slanted.sigma_sky_px = i % 11 ? 2 : 0.01;
		rig_init(&g, &p, rows, i % 13 ? &road : &(struct sx_road){0});
		random_rig_column(&g, i, &r);
		g.scored = how > 3;
		for (int v = 0; v < rows; v++) {
			if (how == 0) /* no confidence at all; of equal weight all the same */
				g.c[v] = 0, g.confident = true;
			if (how == 1) /* one valid cell */
				g.d[v] = v == rows / 2 ? (uint16_t)check_below(&r, 6144)
						       : SX_DISPARITY_INVALID;
			if (how == 2) /* outliers only, and more than a disparity may be */
				g.d[v] = (uint16_t)check_below(&r, 65536);
		}
		if (how == 4)
			memset(g.scores, 255, sizeof(g.scores));
		if (how == 5)
			memset(g.scores, 0, sizeof(g.scores));
		rig_run(&g);
		if (how == 0 && p.stixels.slanted.confidence != SX_WEIGHT_EQUAL)
			for (int k = 0; k < g.out.count[0]; k++)
				assert_true(g.out.list[k].kind != O);
		rig_finish(&g);
	}
}

/* Outliers cost the exact model less, and where there are none both say the same. */
static void test_models(void **state)
{
	const struct sx_road road = stixel_case_road(ROWS, 0, 40);

	for (int i = 0; i < 60; i++) {
		struct sx_params p = rig_params(ROWS);
		struct rig g[2];

		p.stixels.slanted.order = 0;
		p.stixels.slanted.cut = 20; /* dearer than an outlier and what it does to the mean */
		for (int exact = 0; exact < 2; exact++) {
			struct check_rng same = check_rng_seed(100 + (uint64_t)i);

			p.stixels.method = exact ? SX_STIXEL_SLANTED_EXACT : SX_STIXEL_SLANTED;
			rig_init(&g[exact], &p, ROWS, &road);
			for (int v = 0; v < ROWS; v++)
				g[exact].d[v] = (uint16_t)(200 + check_below(&same, 7) +
							   (i % 2 && v == 31 ? 300 : 0));
			rig_run(&g[exact]);
		}
		/* the table's steps: 1/128 of a squared residual, half of it for each cell */
		assert_true(total(&g[1]) <= total(&g[0]) + ROWS / 256.0);
		if (i % 2) {
			assert_true(total(&g[1]) < 0.9 * total(&g[0]));
			assert_int_equal(g[1].out.count[0], 1);
		} else {
			assert_true(fabs(total(&g[1]) - total(&g[0])) < 0.1 * total(&g[0]));
			assert_memory_equal(g[0].out.list, g[1].out.list, sizeof(*g[0].out.list));
		}
		rig_finish(&g[0]);
		rig_finish(&g[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_double), cmocka_unit_test(test_every_segmentation),
		cmocka_unit_test(test_roads),	       cmocka_unit_test(test_cells_of_a_plane),
		cmocka_unit_test(test_scores_decide),  cmocka_unit_test(test_kind_without_class),
		cmocka_unit_test(test_trouble),	       cmocka_unit_test(test_models),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
