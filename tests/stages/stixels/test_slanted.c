/*
 * Slanted stixels against definitions: totals against a second DP in double that fits every stixel from
 * scratch, and against every segmentation of short columns; difficult input; the two models.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/emulated.h"
#include "tests/stages/stixels/slanted_rig.h"

/* ---- definitions in double ---- */

struct piece {
	int vb, vt, c;
};

struct line {
	/* fit at row v, px / 16: a + b (v - vb), above the expected ground of that row, or a alone */
	double a, b, fit;
};

/* Returns the weight of row v: 0 if the row is out of view or behind a measured road. */
static double weight(const struct rig *g, int v)
{
	const double least = g->road.origin == SX_ROAD_MEASURED ? 1 - g->p.stixels.slanted.below : 0;

	if (g->d[v] == SX_DISPARITY_INVALID || v < g->at.unseen)
		return 0;
	if (g->d[v] + 16 < (double)(float)least * g->ground[v])
		return 0;
	return g->confident ? g->t->weight[g->c[v]] : 255;
}

/*
 * Returns the share of the weight that is left for ground. The noise of ground grows with the expected
 * disparity g: from sigma^2 to sigma^2 + (roughness g)^2.
 */
static double share(const struct rig *g, int v)
{
	const struct sx_slanted_params *s = &g->p.stixels.slanted;
	const double rough = g->row[v].ground_q4 > 0 ? s->roughness * g->row[v].ground_q4 / 16.0 : 0;

	return s->sigma_ground_px * s->sigma_ground_px /
	       (s->sigma_ground_px * s->sigma_ground_px + rough * rough);
}

/* Returns the weight in class c. Weights are whole numbers, at least 1. */
static double weight_as(const struct rig *g, int c, int v)
{
	const double w = weight(g, v), part = floor(w * floor(32768 * share(g, v) + 0.5) / 32768 + 0.5);

	return c != G ? w : w > 0 && part < 1 ? 1 : part;
}

static double cell_cost(const struct rig *g, int c, int v, double residual)
{
	const struct sx_slanted_params *s = &g->p.stixels.slanted;
	const double sigma = c == G ? s->sigma_ground_px : c == O ? s->sigma_object_px : s->sigma_sky_px;
	const double r2 = weight_as(g, c, v) / 255 * residual * residual / 256 / (sigma * sigma);
	const double p = c == S ? g->p.stixels.p_outlier_sky : g->p.stixels.p_outlier;
	const double u = p / 128, q = (1 - p) / (sigma * sqrt(3.14159265358979));

	if (g->t->exact)
		return log(u + q) - log(u + q * exp(-r2));
	return c == S && g->scored && r2 > s->sky_outlier ? s->sky_outlier : r2;
}

static struct line fit(const struct rig *g, const struct piece *a)
{
	const struct sx_slanted_params *s = &g->p.stixels.slanted;
	const double slope_px = g->road.bend != 0 ? s->bent_px : s->slope_px;
	const double ratio = s->sigma_ground_px / s->offset_px, steep = s->sigma_ground_px / slope_px;
	const double la = 255 * ratio * ratio * share(g, a->vb), lb = 255 * steep * steep;
	double n = 0, x = 0, xx = 0, y = 0, xy = 0;
	struct line l = {0, 0, 0};

	for (int v = a->vb; v <= a->vt; v++) {
		const double w = weight_as(g, a->c, v), t = v - a->vb, d = w > 0 ? g->d[v] : 0;
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
		if (weight(g, v) == 0)
			l.fit += a->c == G ? s->hole : 0;
		else
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
			sum += g->t->score[a->c][g->scores[v * CLASSES + k]];
		if (g->p.semantics.kind[k] == a->c && sum < best)
			best = sum;
	}
	return g->t->model.semantic * best;
}

static bool legal(const struct rig *g, const struct piece *a)
{
	if (a->c == O)
		return a->vb >= g->at.unseen || a->vt < g->at.unseen;
	return a->c == G ? a->vt < g->at.top : a->vb > 0 && a->vb >= g->at.vhor;
}

/* Returns the prior of stixel a on stixel b with line lb. The boundary is at a's lowest row. */
static double prior(const struct rig *g, const struct piece *a, const struct line *la, const struct piece *b,
		    const struct line *lb)
{
	const struct sx_slanted_params *s = &g->p.stixels.slanted;
	const double below = b->c == G ? g->ground[a->vb] + lb->a + lb->b * (a->vb - b->vb) : lb->a;
	const double above = a->c == G ? g->ground[a->vb] + la->a : la->a, off = above - below;

	switch (3 * a->c + b->c) {
	case 3 * O + G:
		return fabs(off) > 1 ? s->gravity * share(g, a->vb) * (1 + fabs(off) / 16) : 0;
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
	return g->p.stixels.slanted.cut * (a->c == O ? 2 : 1);
}

/*
 * Runs the second DP. Every prefix that ends with a class keeps only its cheapest last stixel, as documented,
 * so the result may not be the best of all segmentations.
 */
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

/* Tries every segmentation: bits are cuts, base 3 digits are kinds. */
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

/* ---- tests ---- */

/* Returns a road whose axis lies beside the column: up to 10 px more or less ground. */
static struct sx_road random_road(int rows, int vhor, double bottom_px, struct check_rng *r)
{
	struct sx_road road = stixel_case_road(rows, vhor, bottom_px);

	road.cross = (check_below(r, 21) - 10) / 100.0;
	road.axis = 450 + check_below(r, 100);
	if (check_below(r, 2))
		stixel_case_bend(&road, rows, r);
	if (check_below(r, 3) == 0)
		road.origin = SX_ROAD_FROM_CALIBRATION;
	return road;
}

static struct sx_params random_params(int rows, int i, struct check_rng *r)
{
	struct sx_params p = rig_params(rows);
	struct sx_slanted_params *s = &p.stixels.slanted;

	p.stixels.method = i % 5 == 4 ? SX_STIXEL_SLANTED_EXACT : SX_STIXEL_SLANTED;
	s->confidence = (enum sx_confidence_weight)(i % 3);
	if (i % 3 == 1) /* the lower rows are out of view */
		p.stixels.width = 8 + check_below(r, 80);
	if (i % 2) {
		s->sigma_ground_px = 0.5 + check_below(r, 20) / 10.0;
		s->sigma_object_px = 0.5 + check_below(r, 20) / 10.0;
		s->slope_px = 0.2 + check_below(r, 20) / 10.0;
		s->bent_px = 0.2 + check_below(r, 20) / 10.0;
		s->cut = check_below(r, 12);
		s->gravity = check_below(r, 4);
		s->order = check_below(r, 4);
		s->gap = check_below(r, 4);
		s->confidence_full = 0.2 + check_below(r, 9) / 10.0;
		s->roughness = check_below(r, 11) / 100.0;
		s->hole = check_below(r, 5) / 4.0;
		s->below = check_below(r, 21) / 20.0;
		s->sky_outlier = check_below(r, 12);
	}
	return p;
}

/*
 * Totals are rounded to 24 bits many times. If two choices cost the same, rounding may keep the other one,
 * and then the stixels above it cost something else. This is rare enough to be counted.
 */
static void test_against_double(void **state)
{
	struct check_rng r = check_rng_seed(41);
	int n = 0, other = 0;

	for (int i = 0; i < ENOUGH_OF(700); i++) {
		const int rows = 1 + check_below(&r, i % 7 ? 24 : ROWS);
		const struct sx_road road = random_road(rows, check_below(&r, rows + 1), 40, &r);
		const struct sx_params p = random_params(rows, i, &r);
		struct rig g;
		double want;

		rig_init(&g, &p, rows, &road);
		rig_random_column(&g, i, &r);
		rig_run(&g);
		want = second_dp(&g);
		n++;
		if (!(fabs(rig_total(&g) - want) <= 0.01 + 1e-4 * want + (g.t->exact ? 0.005 * rows : 0)))
			other++;
		rig_finish(&g);
	}
	if (other > n / 100)
		fail_msg("%d of %d columns cost something else", other, n);
}

/*
 * Without priors between stixels, the remembered state of a prefix cannot matter, and the DP finds the best
 * of all segmentations.
 */
static void test_every_segmentation(void **state)
{
	struct check_rng r = check_rng_seed(42);

	for (int i = 0; i < ENOUGH_OF(400); i++) {
		const int rows = 1 + i % 7;
		const struct sx_road road = random_road(rows, i % 2 ? 0 : check_below(&r, rows + 1), 8, &r);
		struct sx_params p = random_params(rows, i, &r);
		struct rig g;
		double best;

		p.stixels.slanted.gravity = p.stixels.slanted.order = p.stixels.slanted.gap = 0;
		rig_init(&g, &p, rows, &road);
		rig_random_column(&g, i, &r);
		rig_run(&g);
		best = every_segmentation(&g, 0, NULL, NULL);
		if (rig_total(&g) < best - 0.04 - 1e-4 * best ||
		    (g.at.top == 0 && rig_total(&g) > best + 0.04 + 1e-4 * best))
			fail_msg("column %d: %f, best of all %f", i, rig_total(&g), best);
		rig_finish(&g);
	}
}

static void test_trouble(void **state)
{
	struct check_rng r = check_rng_seed(45);

	for (int i = 0; i < ENOUGH_OF(1200); i++) {
		const int rows = i % 6 == 0 ? 1 : 1 + check_below(&r, ROWS);
		const struct sx_road road = random_road(rows, check_below(&r, rows + 1), 1 + i % 120, &r);
		struct sx_params p = random_params(rows, i, &r);
		const int how = i / 6 % 6;
		struct rig g;

		p.stixels.slanted.sigma_sky_px = i % 11 ? 2 : 0.01;
		rig_init(&g, &p, rows, i % 13 ? &road : &(struct sx_road){0});
		rig_random_column(&g, i, &r);
		g.scored = how > 3;
		for (int v = 0; v < rows; v++) {
			if (how == 0) /* zero confidence everywhere: all cells still get the same weight */
				g.c[v] = 0, g.confident = true;
			if (how == 1) /* one valid cell */
				g.d[v] = v == rows / 2 ? (uint16_t)check_below(&r, 6144)
						       : SX_DISPARITY_INVALID;
			if (how == 2) /* outliers only, including values above the largest disparity */
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

/* Outliers cost less in the exact model. Without outliers both models give the same result. */
static void test_models(void **state)
{
	const struct sx_road road = stixel_case_road(ROWS, 0, 40);

	for (int i = 0; i < 60; i++) {
		struct sx_params p = rig_params(ROWS);
		struct rig g[2];

		p.stixels.slanted.order = 0;
		p.stixels.slanted.cut = 20; /* more expensive than an outlier and its effect on the mean */
		for (int exact = 0; exact < 2; exact++) {
			struct check_rng same = check_rng_seed(100 + (uint64_t)i);

			p.stixels.method = exact ? SX_STIXEL_SLANTED_EXACT : SX_STIXEL_SLANTED;
			rig_init(&g[exact], &p, ROWS, &road);
			for (int v = 0; v < ROWS; v++)
				g[exact].d[v] = (uint16_t)(200 + check_below(&same, 7) +
							   (i % 2 && v == 31 ? 300 : 0));
			rig_run(&g[exact]);
		}
		/* steps of the table: 1/128 of a squared residual, half of that for each cell */
		assert_true(rig_total(&g[1]) <= rig_total(&g[0]) + ROWS / 256.0);
		if (i % 2) {
			assert_true(rig_total(&g[1]) < 0.9 * rig_total(&g[0]));
			assert_int_equal(g[1].out.count[0], 1);
		} else {
			assert_true(fabs(rig_total(&g[1]) - rig_total(&g[0])) < 0.1 * rig_total(&g[0]));
			assert_memory_equal(g[0].out.list, g[1].out.list, sizeof(*g[0].out.list));
		}
		rig_finish(&g[0]);
		rig_finish(&g[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_double),
		cmocka_unit_test(test_every_segmentation),
		cmocka_unit_test(test_trouble),
		cmocka_unit_test(test_models),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
