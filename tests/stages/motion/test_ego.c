/*
 * Ego-motion of drawn correspondences: features in space, a known step and offset, noise and wrong matches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stages/motion/corners.h"
#include "stages/motion/ego.h"
#include "tests/check.h"
#include "tests/emulated.h"

enum { COUNT = 1600 };

static const struct sx_camera camera = {.fx = 700, .fy = 690, .cx = 610, .cy = 180, .baseline_m = 0.54};

struct drawn {
	struct sx_motion_feature features[COUNT];
	struct sx_motion_flow flows[COUNT];
	struct sx_motion_step step; /* the truth */
	double offset;
};

static double uniform(struct check_rng *r)
{
	return (check_random(r) + 0.5) / 4294967296.0;
}

/* Standard normal, by the sum of twelve. */
static double normal(struct check_rng *r)
{
	double sum = -6.0;

	for (int i = 0; i < 12; i++)
		sum += uniform(r);
	return sum;
}

/*
 * Draws features. noise: of positions and disparities, in standard deviations. wrong: percent of the flows that
 * go anywhere. road: percent of the features that lie on the near road.
 */
static void draw(struct drawn *d, const double turn[3], const double way[3], double offset, double noise,
		 int wrong, int road, uint64_t seed)
{
	struct check_rng r = check_rng_seed(seed);
	struct sx_motion_rotation m;

	d->step = sx_motion_no_step();
	sx_motion_change(&d->step, turn, way);
	d->offset = offset;
	m = sx_motion_rotation_of(&d->step);
	for (int i = 0; i < COUNT;) {
		const bool near = check_below(&r, 100) < road;
		/* m, in the camera; then baselines */
		const double z = near ? 6.0 + 12.0 * uniform(&r) : 8.0 + 60.0 * uniform(&r);
		const double y = near ? 1.65 : -6.0 + 7.5 * uniform(&r);
		const double x = near ? 10.0 * uniform(&r) - 5.0 : (uniform(&r) - 0.5) * 1.6 * z;
		const double u = rint(camera.cx + camera.fx * x / z), v = rint(camera.cy + camera.fy * y / z);
		const double disparity = camera.fx * camera.baseline_m / z;
		struct sx_motion_picture p;

		if (u < 8 || v < 8 || u > 1230 || v > 366 || disparity - offset < 2.0)
			continue;
		if (!sx_motion_picture_of(
			    &camera,
			    sx_motion_moved(&m, d->step.t, sx_motion_point_of(&camera, u, v, disparity)), &p))
			continue;
		d->features[i] = (struct sx_motion_feature){
			.x = (int32_t)u,
			.y = (int32_t)v,
			.disparity_q8 =
				(int32_t)lrint(256 * (disparity - offset + 0.25 * noise * normal(&r))),
			.score = 1000,
			.owner = SX_MOTION_NO_OWNER,
			.kind = near ? SX_MOTION_ROAD : 0,
		};
		d->flows[i] = (struct sx_motion_flow){
			.x_q6 = (int32_t)lrint(64 * (p.u + 0.2 * noise * normal(&r))),
			.y_q6 = (int32_t)lrint(64 * (p.v + 0.2 * noise * normal(&r))),
			.disparity_q8 = (int32_t)lrint(256 * (p.d - offset + 0.25 * noise * normal(&r))),
			.search = SX_MOTION_FOUND,
		};
		if (check_below(&r, 100) < wrong) {
			d->flows[i].x_q6 += 64 * (check_below(&r, 61) - 30);
			d->flows[i].y_q6 += 64 * (check_below(&r, 21) - 10);
		}
		i++;
	}
}

static struct sx_motion_ego solve(const struct drawn *d, const struct sx_motion_range *prior)
{
	const struct sx_motion_step start = sx_motion_no_step();
	struct sx_motion_ego e;

	sx_motion_ego(&camera, d->features, d->flows, COUNT, &start, prior, &e);
	return e;
}

/* Errors of a step in standard deviations: turn, way. */
static void errors_of(const struct sx_motion_ego *e, const struct drawn *d, double ret[6])
{
	for (int i = 0; i < 3; i++) {
		/* small turns: twice the difference of the quaternions */
		ret[i] = 2.0 * (e->step.q[i + 1] - d->step.q[i + 1]) / e->turn_sigma_rad[i];
		ret[i + 3] = (e->way_m[i] - d->step.t[i] * camera.baseline_m) / e->way_sigma_m[i];
	}
}

static void step_and_offset_come_back(void **state)
{
	static struct drawn d;
	const struct sx_motion_range prior = SX_MOTION_RANGE_FIRST;
	const double offsets[] = {0.0, 0.5, 1.0, 2.0};
	double squares[6] = {0};
	int runs = 0;

	(void)state;
	for (uint64_t seed = 0; seed < ENOUGH_OF(100); seed++) {
		struct check_rng r = check_rng_seed(seed + 1000);
		const double turn[3] = {0.004 * normal(&r), 0.012 * normal(&r), 0.002 * normal(&r)};
		const double way[3] = {0.02 * normal(&r), 0.02 * normal(&r), 1.0 + 1.5 * uniform(&r)};
		const double offset = offsets[seed % 4];
		struct sx_motion_ego e;
		double errors[6];

		draw(&d, turn, way, offset, 1.0, 20, 25, seed);
		e = solve(&d, &prior);
		assert_int_equal(e.verdict, SX_MOTION_STEP_FOUND);
		assert_int_equal(e.offset_verdict, SX_MOTION_OFFSET_FOUND);
		errors_of(&e, &d, errors);
		for (int i = 0; i < 6; i++) {
			if (!(fabs(errors[i]) < 3.0))
				fail_msg("seed %llu: value %d is off by %.2f sigma", (unsigned long long)seed,
					 i, errors[i]);
			squares[i] += errors[i] * errors[i];
		}
		if (!(fabs(e.measured.px - offset) < 0.15))
			fail_msg("seed %llu: offset %.3f, true %.3f", (unsigned long long)seed, e.measured.px,
				 offset);
		assert_true(e.fit > 0.7 && e.fit < 1.4);
		runs++;
	}
	/*
	 * The noise of these features is independent, but real errors are alike in neighbours
	 * (SX_MOTION_ALIKE): the deviations are some times too large here, and never too small
	 */
	for (int i = 0; i < 6; i++)
		assert_true(squares[i] / runs < 1.0 && squares[i] / runs > 0.2 / SX_MOTION_ALIKE);
}

static void exact_features_give_the_exact_step(void **state)
{
	static struct drawn d;
	const struct sx_motion_range prior = SX_MOTION_RANGE_FIRST;
	const double turn[3] = {0.01, -0.04, 0.005}, way[3] = {0.1, -0.05, 2.2};
	struct sx_motion_ego e;

	(void)state;
	draw(&d, turn, way, 0.0, 0.0, 0, 25, 5);
	e = solve(&d, &prior);
	assert_int_equal(e.verdict, SX_MOTION_STEP_FOUND);
	for (int i = 0; i < 3; i++) {
		assert_true(fabs(e.step.t[i] - d.step.t[i]) < 5e-4);
		assert_true(fabs(e.step.q[i + 1] - d.step.q[i + 1]) < 5e-6);
	}
	assert_true(fabs(e.range.px) < 0.01);
}

/* Sums are integers, so that the order of the features does not matter, nor empty slots between them. */
static void order_does_not_matter(void **state)
{
	static struct drawn d, other;
	static struct sx_motion_feature features[2 * COUNT];
	static struct sx_motion_flow flows[2 * COUNT];
	const struct sx_motion_step start = sx_motion_no_step();
	const struct sx_motion_range prior = SX_MOTION_RANGE_FIRST;
	const double turn[3] = {0.003, 0.02, -0.001}, way[3] = {0.0, 0.02, 1.7};
	struct sx_motion_ego a, b;

	(void)state;
	draw(&d, turn, way, 0.7, 1.0, 20, 25, 9);
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	sx_motion_ego(&camera, d.features, d.flows, COUNT, &start, &prior, &a);
	for (uint64_t seed = 0; seed < 4; seed++) {
		struct check_rng r = check_rng_seed(seed);

		other = d;
		for (int i = COUNT - 1; i > 0; i--) {
			const int k = check_below(&r, i + 1);
			const struct sx_motion_feature f = other.features[i];
			const struct sx_motion_flow flow = other.flows[i];

			other.features[i] = other.features[k];
			other.features[k] = f;
			other.flows[i] = other.flows[k];
			other.flows[k] = flow;
		}
		memset(features, 0, sizeof(features));
		memset(flows, 0, sizeof(flows));
		for (int i = 0; i < COUNT; i++) {
			features[2 * i + seed % 2] = other.features[i];
			flows[2 * i + seed % 2] = other.flows[i];
		}
		sx_motion_ego(&camera, features, flows, 2 * COUNT, &start, &prior, &b);
		assert_memory_equal(&a, &b, sizeof(a));
	}
}

static void doubtful_steps_are_refused(void **state)
{
	static struct drawn d, other;
	const struct sx_motion_range prior = {0.3, 0.2};
	const double turn[3] = {0, 0.01, 0}, way[3] = {0, 0, 1.5}, still[3] = {0, 0, 0};
	struct sx_motion_ego e;

	(void)state;
	/* too few */
	draw(&d, turn, way, 0.0, 1.0, 20, 25, 3);
	for (int i = 50; i < COUNT; i++)
		d.flows[i].search = SX_MOTION_AMBIGUOUS;
	e = solve(&d, &prior);
	assert_int_equal(e.verdict, SX_MOTION_STEP_FEW);
	assert_int_equal(e.found, 50);
	assert_true(e.range.px == prior.px && e.range.sigma_px == prior.sigma_px);
	/* nearly all are wrong */
	draw(&d, turn, way, 0.0, 1.0, 93, 25, 3);
	assert_int_not_equal(solve(&d, &prior).verdict, SX_MOTION_STEP_FOUND);
	/* a truck ahead fills the picture and moves as we do; the road does not */
	draw(&d, still, still, 0.0, 1.0, 0, 0, 4);
	draw(&other, turn, way, 0.0, 1.0, 0, 100, 5);
	memcpy(&d.features[1400], other.features, 200 * sizeof(other.features[0]));
	memcpy(&d.flows[1400], other.flows, 200 * sizeof(other.flows[0]));
	e = solve(&d, &prior);
	assert_int_equal(e.verdict, SX_MOTION_STEP_ROAD);
	assert_int_equal(e.road_found, 200);
}

static void doubtful_offsets_are_refused(void **state)
{
	static struct drawn d;
	const struct sx_motion_range prior = {0.3, 0.2};
	const double none[3] = {0, 0, 0}, turn[3] = {0, 0.005, 0}, way[3] = {0, 0, 1.5};
	struct sx_motion_ego e;

	(void)state;
	/* no near road */
	draw(&d, turn, way, 0.3, 1.0, 10, 3, 6);
	e = solve(&d, &prior);
	assert_int_equal(e.verdict, SX_MOTION_STEP_FOUND);
	assert_int_equal(e.offset_verdict, SX_MOTION_OFFSET_FEW_ROAD);
	assert_true(e.range.px == prior.px && e.range.sigma_px == prior.sigma_px);
	/* the camera stands, or turns on the spot: disparities say nothing of their offset */
	draw(&d, none, none, 0.3, 1.0, 10, 25, 7);
	e = solve(&d, &prior);
	assert_int_equal(e.offset_verdict, SX_MOTION_OFFSET_VAGUE);
	assert_true(e.range.px == prior.px && e.range.sigma_px == prior.sigma_px);
	draw(&d, turn, none, 0.3, 1.0, 10, 25, 8);
	assert_int_equal(solve(&d, &prior).offset_verdict, SX_MOTION_OFFSET_VAGUE);
}

/* What is known becomes surer from frame to frame, up to what older frames lose. */
static void offset_becomes_sure(void **state)
{
	static struct drawn d;
	struct sx_motion_range range = SX_MOTION_RANGE_FIRST;
	const double turn[3] = {0, 0, 0}, way[3] = {0, 0, 1.5};
	double last = range.sigma_px;

	(void)state;
	for (uint64_t frame = 0; frame < 12; frame++) {
		const struct sx_motion_range prior = sx_motion_range_next(&range);
		struct sx_motion_ego e;

		assert_true(prior.px == range.px && prior.sigma_px > range.sigma_px);
		draw(&d, turn, way, 0.8, 1.0, 20, 25, 50 + frame);
		e = solve(&d, &prior);
		assert_int_equal(e.offset_verdict, SX_MOTION_OFFSET_FOUND);
		range = e.range;
		assert_true(range.sigma_px < last);
		last = range.sigma_px;
	}
	assert_true(fabs(range.px - 0.8) < 0.07);
	assert_true(range.sigma_px > 0.04 && range.sigma_px < 0.1);
}

static void matrix_is_solved(void **state)
{
	struct check_rng r = check_rng_seed(77);

	(void)state;
	for (int n = 1; n <= 7; n++)
		for (int run = 0; run < 20; run++) {
			double l[7][7] = {{0}}, full[7][7], a[28], x[7], b[7];
			int at = 0;

			for (int i = 0; i < n; i++)
				for (int k = 0; k <= i; k++)
					l[i][k] = i == k ? 1.0 + uniform(&r) : normal(&r);
			for (int i = 0; i < n; i++)
				for (int k = 0; k < n; k++) {
					full[i][k] = 0;
					for (int m = 0; m < n; m++)
						full[i][k] += l[i][m] * l[k][m];
				}
			for (int i = 0; i < n; i++) {
				x[i] = normal(&r);
				for (int k = 0; k <= i; k++)
					a[at++] = full[i][k];
			}
			for (int i = 0; i < n; i++) {
				b[i] = 0;
				for (int k = 0; k < n; k++)
					b[i] += full[i][k] * x[k];
			}
			assert_true(sx_motion_factor(a, n));
			sx_motion_solve(a, n, b);
			for (int i = 0; i < n; i++)
				assert_true(fabs(b[i] - x[i]) < 1e-6);
		}
	assert_false(sx_motion_factor((double[]){1, 1, 1}, 2));
	assert_false(sx_motion_factor((double[]){0}, 1));
}

/* The derivatives of the geometry agree with differences of it. */
static void derivatives_agree(void **state)
{
	struct check_rng r = check_rng_seed(5);

	(void)state;
	for (int run = 0; run < 100; run++) {
		const struct sx_motion_point p = {4 * normal(&r), 2 * normal(&r), 8 + 30 * uniform(&r)};
		struct sx_motion_picture at = {0}, moved = {0};
		double by[9];

		assert_true(sx_motion_picture_of(&camera, p, &at));
		sx_motion_derive(&camera, p, at.d, by);
		for (int axis = 0; axis < 3; axis++) {
			const double h = 1e-5;
			const struct sx_motion_point q = {p.x + (axis == 0) * h, p.y + (axis == 1) * h,
							  p.z + (axis == 2) * h};

			assert_true(sx_motion_picture_of(&camera, q, &moved));
			assert_true(fabs((moved.u - at.u) / h - by[axis]) < 0.01);
			assert_true(fabs((moved.v - at.v) / h - by[3 + axis]) < 0.01);
			assert_true(fabs((moved.d - at.d) / h - by[6 + axis]) < 0.01);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(step_and_offset_come_back),
		cmocka_unit_test(exact_features_give_the_exact_step),
		cmocka_unit_test(order_does_not_matter),
		cmocka_unit_test(doubtful_steps_are_refused),
		cmocka_unit_test(doubtful_offsets_are_refused),
		cmocka_unit_test(offset_becomes_sure),
		cmocka_unit_test(matrix_is_solved),
		cmocka_unit_test(derivatives_agree),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
