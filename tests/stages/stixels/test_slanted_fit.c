/*
 * Arithmetic of slanted stixels: closed-form energies against residuals summed in double, ranges of the sums
 * at the largest sizes, the conversion to float, and tables against their formulas.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <stixel.h>
#include <cmocka.h>

#include "stages/stixels/slanted.h"
#include "tests/emulated.h"
#include "tests/stixel_case.h"

enum { G = STIXEL_GROUND, O = STIXEL_OBJECT, S = STIXEL_SKY };

/* Rows of a column. v counts from its foot, and the origin is at row o. */
struct column {
	int n, o;
	int32_t w[2160], as_ground[2160], d[2160], g[2160];
};

static void sum_up(const struct column *c, struct sx_slanted_sums *s, int64_t *dd)
{
	*s = (struct sx_slanted_sums){0};
	*dd = 0;
	for (int v = 0; v < c->n; v++) {
		sx_slanted_add(s, c->w[v], c->as_ground[v], v - c->o, c->d[v] - c->g[v],
			       c->d[v] - c->d[c->o]);
		*dd += sx_slanted_sky_part(c->w[v], c->d[v], INT64_MAX);
	}
}

static void find_origin(struct column *c)
{
	c->o = c->n - 1;
	while (c->o > 0 && c->w[c->o] == 0)
		c->o--;
	if (c->w[c->o] == 0)
		c->o = c->n - 1;
}

/* Returns the sum of squared residuals of the line a + b (v - o) above the expected ground, in units. */
static double residual(const struct column *c, double a, double b)
{
	double sum = 0;

	for (int v = 0; v < c->n; v++) {
		const double r = c->d[v] - c->g[v] - a - b * (v - c->o);

		sum += c->as_ground[v] * r * r;
	}
	return sum;
}

/* Returns data and prior cost of the best plane, by normal equations about the weighted centre, in double. */
static double best_plane(const struct column *c, const struct sx_slanted_model *m, double *a, double *b)
{
	const double la = (double)m->lambda_offset, lb = (double)m->lambda_slope;
	double n = la, x = 0, y = 0, xx = lb, xy = 0, foot;

	for (int v = 0; v < c->n; v++) {
		n += c->as_ground[v];
		x += (double)c->as_ground[v] * v;
		y += (double)c->as_ground[v] * (c->d[v] - c->g[v]);
	}
	for (int v = 0; v < c->n; v++) {
		xx += c->as_ground[v] * (v - x / n) * (v - x / n);
		xy += c->as_ground[v] * (v - x / n) * (c->d[v] - c->g[v] - y / n);
	}
	/* the foot counts as a measurement of 0 in row 0 */
	xx += la * (x / n) * (x / n);
	xy += la * (x / n) * (y / n);
	*b = xy / xx;
	foot = y / n - *b * x / n;
	*a = foot + *b * c->o;
	return residual(c, *a, *b) + la * foot * foot + lb * *b * *b;
}

static void check_near(const char *what, double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%s: %.9g, want %.9g +- %.3g", what, got, want, tolerance);
}

/*
 * Checks the guaranteed precision of the fit: 1e-3 of the energy, and 5e-6 of the cost of the column as the
 * expected ground (a float has 24 bits and holds the sums). Differences below 1e-3 nats decide nothing.
 */
static void check_column(const struct column *c, const struct sx_slanted_model *m)
{
	const double kg = (double)m->k_ground, ko = (double)m->k_object;
	struct sx_slanted_plane p;
	struct sx_slanted_sums s;
	int64_t dd;
	double a, b, want, mean = 0, n = 0, rest = 0, sky = 0;

	sum_up(c, &s, &dd);
	p = sx_slanted_ground(m, &s, m->lambda_offset, m->lambda_slope, -c->o);
	want = kg * best_plane(c, m, &a, &b);
	check_near("ground", (double)p.fit, want, 1e-3 * want + 1e-3 + 5e-6 * kg * residual(c, 0, 0));
	check_near("ground prior",
		   (double)sx_slanted_ground_prior(m, &p, m->lambda_offset, m->lambda_slope, -c->o),
		   kg * ((double)m->lambda_offset * (a - b * c->o) * (a - b * c->o) +
			 (double)m->lambda_slope * b * b),
		   1e-2 * want + 1e-3 + 5e-6 * kg * residual(c, 0, 0));
	for (int v = 0; v < c->n; v++) {
		n += c->w[v];
		mean += (double)c->w[v] * c->d[v];
		sky += (double)c->w[v] * c->d[v] * c->d[v];
	}
	mean = n > 0 ? mean / n : 0;
	for (int v = 0; v < c->n; v++)
		rest += c->w[v] * (c->d[v] - mean) * (c->d[v] - mean);
	p = sx_slanted_object(m, &s, c->d[c->o]);
	check_near("object", (double)p.fit, ko * rest, 1e-3 * ko * rest + 1e-3);
	check_near("mean", (double)p.a, mean, 1e-3);
	check_near("sky", (double)sx_slanted_sky(m, dd), (double)m->k_sky * sky,
		   1e-6 * (double)m->k_sky * sky);
}

static int clamp(int x)
{
	return x < 0 ? 0 : x > SX_SLANTED_MAX_Q4 ? SX_SLANTED_MAX_Q4 : x;
}

static void random_column(struct column *c, int how, struct check_rng *r)
{
	const int slope = 4 + check_below(r, 40), foot = check_below(r, 4000);
	const int tilt = check_below(r, 21) - 10, plain = check_below(r, 6144), holes = check_below(r, 4);

	c->n = how == 0 ? 1 + check_below(r, 4) : how == 1 ? 2160 : 1 + check_below(r, 300);
	for (int v = 0; v < c->n; v++) {
		int expect = foot - slope * v;

		c->g[v] = expect < -6144 ? -6144 : expect;
		c->d[v] = clamp((how % 2 ? expect + tilt * v / 4 : plain) + check_below(r, 33) - 16);
		if (how == 4)
			c->d[v] = check_below(r, 6144);
		c->w[v] = check_below(r, holes + 1) ? 0 : 1 + check_below(r, 255);
		if (how == 5 && v < c->n - 20)
			c->w[v] = 0; /* data only far from the foot */
	}
	find_origin(c);
	if (c->w[c->o] == 0)
		c->w[c->o] = 1;
	for (int v = 0; v < c->n; v++)
		c->as_ground[v] = sx_slanted_ground_weight(c->w[v], 1 + check_below(r, 32768));
}

static void test_closed_form(void **state)
{
	struct check_rng r = check_rng_seed(31);
	struct column *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	for (int i = 0; i < ENOUGH_OF(3000); i++) {
		struct sx_params p = stixel_case_params(400);
		struct sx_slanted_tables *t;

		p.stixels.method = SX_STIXEL_SLANTED;
		if (i % 3 == 2) {
			p.stixels.slanted.offset_px = 0.1 + check_below(&r, 100) / 10.0;
			p.stixels.slanted.slope_px = 0.01 + check_below(&r, 100) / 300.0;
			p.stixels.slanted.sigma_ground_px = 0.3 + check_below(&r, 30) / 10.0;
		}
		assert_int_equal(sx_slanted_tables_create(&t, &p, 400, 128), 0);
		random_column(c, i % 6, &r);
		check_column(c, &t->model);
		sx_slanted_tables_destroy(t);
	}
	free(c);
}

/* The prior decides alone if nothing is measured, and completely if it is strong. */
static void test_prior_planes(void **state)
{
	struct sx_params p = stixel_case_params(400);
	struct sx_slanted_sums none = {0}, s = {0};
	struct sx_slanted_tables *t;
	struct sx_slanted_plane q;

	p.stixels.method = SX_STIXEL_SLANTED;
	assert_int_equal(sx_slanted_tables_create(&t, &p, 400, 128), 0);
	for (int y = -2160; y <= 2160; y += 40) {
		q = sx_slanted_ground(&t->model, &none, t->model.lambda_offset, t->model.lambda_slope, y);
		assert_true(q.a == 0 && q.b == 0 && q.fit == 0);
	}
	q = sx_slanted_object(&t->model, &none, 77);
	assert_true(q.a == 0 && q.fit == 0);
	sx_slanted_tables_destroy(t);
	p.stixels.slanted.sigma_ground_px = 0.016;
	p.stixels.slanted.offset_px = 0.001;
	p.stixels.slanted.slope_px = 1e-7;
	assert_int_equal(sx_slanted_tables_create(&t, &p, 400, 128), 0);
	for (int y = 0; y > -50; y--)
		sx_slanted_add(&s, 200, 200, y, 160, 0);
	q = sx_slanted_ground(&t->model, &s, t->model.lambda_offset, t->model.lambda_slope, -49);
	assert_true(fabsf(q.a) < 32 && fabsf(q.b) < 0.01f);
	sx_slanted_tables_destroy(t);
}

static bool fits(int64_t x)
{
	return x < (int64_t)1 << 47 && x > -((int64_t)1 << 47);
}

/*
 * The largest possible column: 2160 rows of the largest weight. Compares the sums with double, which holds
 * them exactly up to 2^53.
 */
static void test_ranges(void **state)
{
	struct column *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	for (int how = 0; how < 8; how++) {
		double x = 0, xx = 0, e = 0, xe = 0, ee = 0, cc = 0;
		struct sx_slanted_sums s;
		int64_t dd;

		c->n = 2160;
		c->o = how & 4 ? 2159 : 0;
		for (int v = 0; v < c->n; v++) {
			c->w[v] = c->as_ground[v] = 255;
			c->d[v] = how & 1 ? SX_SLANTED_MAX_Q4 : 0;
			c->g[v] = how & 2 ? SX_SLANTED_GROUND_MAX_Q4 : -SX_SLANTED_GROUND_MAX_Q4;
		}
		c->d[c->o] = how & 1 ? 0 : SX_SLANTED_MAX_Q4;
		sum_up(c, &s, &dd);
		for (int v = 0; v < c->n; v++) {
			const double y = v - c->o, f = c->d[v] - c->g[v], k = c->d[v] - c->d[c->o];

			x += 255 * y;
			xx += 255 * y * y;
			e += 255 * f;
			xe += 255 * y * f;
			ee += 255 * f * f;
			cc += 255 * k * k;
		}
		assert_true(s.w == 255 * 2160 && s.n == s.w && s.x == x && abs(s.x) < 1 << 30);
		assert_true((double)s.xx == xx && (double)s.e == e && (double)s.xe == xe &&
			    (double)s.ee == ee && (double)s.cc == cc);
		assert_true(fits(s.xx) && fits(s.e) && fits(s.xe) && fits(s.ee) && fits(s.c) && fits(s.cc) &&
			    fits(dd));
	}
	free(c);
}

static void test_float_of_sums(void **state)
{
	struct check_rng r = check_rng_seed(33);

	for (int i = 0; i < 200000; i++) {
		const int bits = 1 + check_below(&r, 47);
		int64_t x = (int64_t)(((uint64_t)check_random(&r) << 32 | check_random(&r)) &
				      (((uint64_t)1 << bits) - 1));

		if (i % 5 == 0)
			x = ((int64_t)1 << (bits - 1)) + check_below(&r, 5) - 2;
		if (i % 2)
			x = -x;
		assert_true(sx_slanted_float(x) == (float)x);
	}
}

static void test_tables(void **state)
{
	struct sx_params p = stixel_case_params(400);
	struct sx_slanted_tables *t;
	static const double sigma[3] = {1, 1, 2}, outlier[3] = {0.15, 0.15, 0.4};

	p.stixels.method = SX_STIXEL_SLANTED_EXACT;
	p.stixels.width = 8;
	p.semantics.classes = 3;
	for (int i = 0; i < 6; i++) {
		const enum sx_confidence_weight how = (enum sx_confidence_weight)(i / 2);

		p.stixels.slanted.confidence = how;
		p.stixels.slanted.confidence_full = i % 2 ? 1 : 0.2; /* 51 of 255 */
		assert_int_equal(sx_slanted_tables_create(&t, &p, 375, 128), 0);
		assert_true(t->rows == 46 && t->cell_height == 8 && t->exact && t->classes == 3);
		for (int c = 0; c < 256; c++) {
			const int w = i % 2 ? c : c < 51 ? 5 * c : 255;

			assert_int_equal(t->weight[c], how == SX_WEIGHT_SQUARED	 ? (2 * w * w + 255) / 510
						       : how == SX_WEIGHT_LINEAR ? w
										 : 255);
		}
		sx_slanted_tables_destroy(t);
	}
	assert_int_equal(sx_slanted_tables_create(&t, &p, 375, 128), 0);
	for (int k = G; k <= S; k++)
		for (int c = 0; c < 256; c++) {
			const double nats = log(255 / (c ? c : 0.5)), w = p.stixels.slanted.semantic;
			const double want = k != S ? 2.5 + w * nats : fmin(3 * nats, 2.5 + w * log(510));

			check_near("score", t->score[k][c] * t->model.semantic, want, t->model.semantic);
		}
	assert_true(t->score[G][0] == t->score[S][0] && t->score[S][255] == 0);
	assert_true(t->score[O][0] * 2160 < 1 << 24);
	for (int k = G; k <= S; k++)
		for (int i = 0; i < SX_SLANTED_OUTLIERS; i++) {
			/* the mixture of the paper, minus its value for a residual of 0 */
			const double u = outlier[k] / 128,
				     g = (1 - outlier[k]) / (sigma[k] * sqrt(3.14159265358979));
			const double r2 = i == SX_SLANTED_OUTLIERS - 1 ? 1e9 : i / 128.0;

			check_near("outlier", t->outlier[k][i] / 1024.0, -log(u + g * exp(-r2)) + log(u + g),
				   0.0006);
		}
	sx_slanted_tables_destroy(t);
	assert_int_equal(sx_slanted_tables_create(&t, &p, 2161, 128), -EINVAL);
	assert_int_equal(sx_slanted_tables_create(&t, &p, 7, 128), -EINVAL);
	assert_int_equal(sx_slanted_tables_create(&t, &p, 375, SX_RANGE_MAX + 1), -EINVAL);
	sx_slanted_tables_destroy(NULL);
	sx_slanted_destroy(NULL);
}

/* Checks the place of a column. If the road has roll, the horizon lies elsewhere in each column. */
static void check_place(const struct sx_slanted_frame *f, const struct sx_slanted_tables *t,
			const struct sx_road *road, int u, int cell)
{
	const struct sx_slanted_place at = sx_slanted_place_of(f, t, u);
	const struct sx_road seen = stixel_case_road_in(road, u);
	const double shift = 16 * (seen.offset - road->offset);

	check_near("shift", at.shift, shift, 0.5 + 1e-9);
	/* the row's ground and the shift are both rounded; half a Q4 corresponds to 1 / (32 slope) rows */
	check_near("horizon", (at.vhor - 0.5) * cell, 403 - 0.5 + seen.offset / seen.slope,
		   cell + 1 / (16 * seen.slope));
	assert_true(at.top >= at.vhor && (at.top - at.vhor) * cell < 61 + cell);
}

/* Expected ground in the middle of each cell. Rows below the top of the image may belong to no cell. */
static void test_frame(void **state)
{
	struct sx_params p = stixel_case_params(403);
	struct sx_road road = stixel_case_road(403, 200, 50);
	struct sx_slanted_place at;
	struct sx_slanted_frame f;
	struct sx_slanted_tables *t;
	struct sx_slanted_row row[403];

	p.stixels.method = SX_STIXEL_SLANTED;
	stixel_case_roll(&road, 40, -6);
	for (int cell = 1; cell <= 32; cell++) {
		p.stixels.cell_height = cell;
		assert_int_equal(sx_slanted_tables_create(&t, &p, 403, 128), 0);
		f.row = row;
		sx_slanted_frame_set(&f, t, &road);
		assert_int_equal(t->rows, 403 / cell);
		for (int v = 0; v < t->rows; v++) {
			double mean = 0;

			for (int y = 403 - (v + 1) * cell; y < 403 - v * cell; y++)
				mean += 16 * (road.slope * y + road.offset) / cell;
			check_near("ground", row[v].ground_q4, mean, 0.5 + 1e-9);
		}
		check_near("slope", (double)f.slope, -16 * road.slope * cell, 1e-4);
		for (int u = 0; u < 40; u++)
			check_place(&f, t, &road, u, cell);
		sx_slanted_frame_set(&f, t, &(struct sx_road){0});
		at = sx_slanted_place_of(&f, t, 7);
		assert_true(at.vhor == 0 && at.top == 0 && at.shift == 0);
		sx_slanted_tables_destroy(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closed_form), cmocka_unit_test(test_prior_planes),
		cmocka_unit_test(test_ranges),	    cmocka_unit_test(test_float_of_sums),
		cmocka_unit_test(test_tables),	    cmocka_unit_test(test_frame),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
