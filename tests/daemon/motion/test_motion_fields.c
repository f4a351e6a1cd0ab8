/*
 * What frames say about motion: every byte of a sigma, velocities as readers get them, the header, the offset that is
 * applied.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/motion/motion_fields.h"
#include "daemon/motion/range_apply.h"
#include "stages/motion/step.h"
#include "tests/check.h"

/* The byte is the least whose value is not below the sigma: at most a sixteenth above it. */
static void sigmas(void **state)
{
	for (int code = 1; code < 256; code++) {
		const double sigma = stixel_sigma_m_s((uint8_t)code);

		assert_true(sigma > stixel_sigma_m_s((uint8_t)(code - 1)));
		assert_int_equal(sx_motion_sigma_code(sigma), code);
		assert_int_equal(sx_motion_sigma_code(sigma * (1 + 1e-12)), code < 255 ? code + 1 : 0);
		if (code > 1)
			assert_true(sigma <= stixel_sigma_m_s((uint8_t)(code - 1)) * 17 / 16 + 1e-12);
	}
	assert_int_equal(sx_motion_sigma_code(0), 1);
	assert_int_equal(sx_motion_sigma_code((double)NAN), 0);
	assert_int_equal(sx_motion_sigma_code((double)INFINITY), 0);
}

/* Returns a record as a reader sees it. */
static struct stixel_velocity read_back(const struct sx_motion_velocity *v, bool *measured)
{
	struct stixel_motion record;
	struct stixel_velocity got;
	struct {
		struct stixel_frame_header header;
		struct stixel_motion motion;
	} bytes = {.header = {.header_bytes = sizeof(bytes.header),
			      .stixel_count = 1,
			      .motion_offset = sizeof(bytes.header)}};
	const struct stixel_frame frame = {.header = &bytes.header, .bytes = &bytes};

	sx_motion_records(v, 1, &record);
	bytes.motion = record;
	*measured = stixel_velocity(&frame, 0, &got);
	return got;
}

static void velocities(void **state)
{
	struct check_rng r = check_rng_seed(3);
	struct sx_motion_velocity v = {.state = SX_MOTION_STATE_STANDS};
	struct stixel_velocity got = read_back(&v, &(bool){false});
	bool measured;

	assert_true(got.state == STIXEL_MOTION_STANDS && got.sxx == 0);
	for (int i = 0; i < 2000; i++) {
		const double sx = 0.01 * (1 + check_below(&r, 300)), sz = 0.01 * (1 + check_below(&r, 900));
		const double c = 0.01 * (check_below(&r, 201) - 100);

		v = (struct sx_motion_velocity){.state = SX_MOTION_STATE_MOVES,
						.measured = 1,
						.vx = 0.001 * (check_below(&r, 60001) - 30000),
						.vz = 0.001 * (check_below(&r, 60001) - 30000),
						.sxx = sx * sx,
						.sxz = c * sx * sz,
						.szz = sz * sz};
		got = read_back(&v, &measured);
		assert_true(measured && got.state == STIXEL_MOTION_MOVES);
		assert_true(fabs(got.vx - v.vx) < 0.00501 && fabs(got.vz - v.vz) < 0.00501);
		/* never surer than it is */
		assert_true(got.sxx >= v.sxx * 0.999999 && got.sxx < v.sxx * 1.2 + 3e-4);
		assert_true(got.szz >= v.szz * 0.999999 && got.szz < v.szz * 1.2 + 3e-4);
		assert_true(fabs(got.sxz - v.sxz) <= sqrt(got.sxx * got.szz) / 127);
	}
	v.vx = 1e9;
	v.vz = -1e9;
	got = read_back(&v, &measured);
	assert_true(measured && got.vx == 327.67 && got.vz == -327.68);
	v.szz = 1e9; /* more than a byte says: not measured */
	got = read_back(&v, &measured);
	assert_true(!measured && got.vx == 0 && got.state == STIXEL_MOTION_MOVES);
}

static void headers(void **state)
{
	const double turn[3] = {0, 2 * tan(0.05), 0}, way[3] = {0, 0, 0};
	struct sx_motion_ego ego = {.verdict = SX_MOTION_STEP_FOUND,
				    .step = sx_motion_no_step(),
				    .way_m = {0.25, 0, 1.5},
				    .way_sigma_m = {0.01, 0.02, 0.03},
				    .turn_sigma_rad = {0.001, 0.002, 0.003},
				    .range = {0.5, 0.1},
				    .found = 30,
				    .inliers = 20};
	struct stixel_frame_header h;
	struct stixel_ego got;

	memset(&h, 0xa5, sizeof(h));
	h.header_bytes = sizeof(h);
	sx_motion_change(&ego.step, turn, way);
	sx_motion_fill_header(&h, &ego, 100000000, 0.125);
	assert_int_equal(stixel_ego_of(&h, &got), 1);
	assert_true(got.seconds == 0.1 && got.way_m[2] == 1.5 && fabs(got.turn_rad[1] - 0.1) < 1e-7);
	assert_true(got.way_sigma_m[2] == (double)0.03f && got.turn_sigma_rad[0] == (double)0.001f);
	assert_true(h.range_offset_px == 0.375f && h.range_applied_px == 0.125f);
	assert_true(h.motion_features == 30 && h.motion_inliers == 20);
	assert_int_equal(h.motion_offset, 0);
	ego.verdict = SX_MOTION_STEP_FEW;
	ego.range.sigma_px = 1; /* the offset is not known */
	sx_motion_fill_header(&h, &ego, 100000000, 0);
	assert_int_equal(stixel_ego_of(&h, &got), 0);
	assert_true(h.motion_span_ns == 100000000 && h.range_offset_px == 0 && h.range_offset_sigma_px == 0);
	sx_motion_fill_header(&h, NULL, 0, 0);
	assert_int_equal(h.motion_span_ns, 0);
	assert_int_equal(h.motion_features, 0);
}

/* An offset is followed in small steps, and only while it is sure. */
static void ranges(void **state)
{
	const struct sx_motion_range sure = {0.5, 0.1}, vague = {0.5, 0.2}, none = {0, 1}, large = {5, 0.1};
	double px = 0;

	for (int i = 1; i <= 24; i++) {
		px = sx_range_follow(px, &sure);
		assert_true(fabs(px - 0.02 * i) < 1e-12);
	}
	for (int i = 0; i < 3; i++)
		px = sx_range_follow(px, &sure);
	assert_true(fabs(px - 0.5) < 1e-12);
	assert_true(sx_range_follow(px, &vague) == px && sx_range_follow(px, &none) == px);
	assert_true(sx_range_follow(px, &large) == px);
	assert_true(fabs(sx_range_follow(px, &(struct sx_motion_range){-1, 0.1}) - 0.48) < 1e-12);
}

static void ranges_are_applied(void **state)
{
	static const struct {
		uint16_t disparity_q7;
		uint8_t kind;
		uint16_t more, less; /* the disparity after 0.5 px is added; after 1 px is taken off */
	} cases[] = {
		{1280, STIXEL_OBJECT, 1344, 1152},
		{640, STIXEL_GROUND, 704, 512},
		{0, STIXEL_SKY, 0, 0},
		{0, STIXEL_OBJECT, 64, 0},
		{STIXEL_DISPARITY_UNKNOWN, STIXEL_OBJECT, STIXEL_DISPARITY_UNKNOWN, STIXEL_DISPARITY_UNKNOWN},
		{STIXEL_DISPARITY_UNKNOWN - 1, STIXEL_OBJECT, STIXEL_DISPARITY_UNKNOWN - 1, 65406},
	};
	const struct sx_camera camera = {.fx = 700, .fy = 700, .cx = 600, .cy = 180, .baseline_m = 0.5};
	struct sx_road road = {.slope = 0.25, .offset = -45, .origin = SX_ROAD_MEASURED}, other;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct stixel from = {.disparity_q7 = cases[i].disparity_q7,
					    .kind = cases[i].kind,
					    .slope_q14 = -7,
					    .support = 9};
		struct stixel to, want = from;

		sx_range_apply(&from, 1, 0.5, &to);
		want.disparity_q7 = cases[i].more;
		assert_memory_equal(&to, &want, sizeof(to));
		sx_range_apply(&from, 1, -1, &to);
		assert_int_equal(to.disparity_q7, cases[i].less);
	}
	sx_road_describe(&camera, &road);
	assert_true(road.horizon_row == 180 && road.pitch_rad == 0);
	other = road;
	sx_range_apply_road(&camera, 0.5, &other);
	assert_true(other.horizon_row == 178 && other.pitch_rad > 0.002 && other.slope == road.slope);
	other = road;
	other.origin = SX_ROAD_FROM_CALIBRATION;
	sx_range_apply_road(&camera, 0.5, &other);
	assert_true(other.horizon_row == 180);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(sigmas), cmocka_unit_test(velocities),
					   cmocka_unit_test(headers), cmocka_unit_test(ranges),
					   cmocka_unit_test(ranges_are_applied)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
