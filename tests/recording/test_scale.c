/*
 * Tests the colours of distances: their order, that nobody mixes them up with ground and sky, the ends of the
 * scale, and that they keep still in a video.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "recording/messages/scale.h"

enum { FB = 100 }; /* px m */

/*
 * Computes the linear light of a colour as a colour-blind viewer sees it (Machado et al. 2009, severity 1).
 */
static void see(double seen[3], struct sx_rgb c, const double m[3][3])
{
	const double in[3] = {pow(c.r / 255.0, 2.2), pow(c.g / 255.0, 2.2), pow(c.b / 255.0, 2.2)};

	for (int i = 0; i < 3; i++)
		seen[i] = fmax(0.0, m[i][0] * in[0] + m[i][1] * in[1] + m[i][2] * in[2]);
}

static void to_lab(double lab[3], const double rgb[3])
{
	double x = cbrt((0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.95047);
	double y = cbrt(0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]);
	double z = cbrt((0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.08883);

	lab[0] = 116.0 * y - 16.0;
	lab[1] = 500.0 * (x - y);
	lab[2] = 200.0 * (y - z);
}

/* Normal sight, and people without the cones for long, medium and short waves. */
enum { EYES = 4 };
static const double eyes[EYES][3][3] = {
	{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	{{0.152, 1.053, -0.205}, {0.115, 0.786, 0.099}, {-0.004, -0.048, 1.052}},
	{{0.367, 0.861, -0.228}, {0.280, 0.673, 0.047}, {-0.012, 0.043, 0.969}},
	{{1.256, -0.077, -0.179}, {-0.078, 0.931, 0.148}, {0.005, 0.691, 0.304}},
};

static double difference(struct sx_rgb a, struct sx_rgb b, int eye)
{
	double seen[3], one[3], two[3], sum = 0.0;

	see(seen, a, eyes[eye]);
	to_lab(one, seen);
	see(seen, b, eyes[eye]);
	to_lab(two, seen);
	for (int i = 0; i < 3; i++)
		sum += (one[i] - two[i]) * (one[i] - two[i]);
	return sqrt(sum);
}

static double lightness(struct sx_rgb c, int eye)
{
	double seen[3], lab[3];

	see(seen, c, eyes[eye]);
	to_lab(lab, seen);
	return lab[0];
}

static void test_every_eye_sees_the_order(void **state)
{
	for (int eye = 0; eye < EYES; eye++)
		for (int i = 0; i < 20; i++) {
			const struct sx_rgb far = sx_palette_distance_at(i / 20.0);
			const struct sx_rgb near = sx_palette_distance_at((i + 1) / 20.0);

			assert_true(lightness(near, eye) > lightness(far, eye) + 0.25);
			assert_true(difference(near, far, eye) > 1.5);
		}
	/* perceptually uniform: no step is three times as large as another */
	for (int i = 0; i < 20; i++)
		for (int k = 0; k < 20; k++)
			assert_true(difference(sx_palette_distance_at(i / 20.0),
					       sx_palette_distance_at((i + 1) / 20.0), 0) <
				    3.0 * difference(sx_palette_distance_at(k / 20.0),
						     sx_palette_distance_at((k + 1) / 20.0), 0));
}

static void test_every_eye_can_tell_the_rest(void **state)
{
	for (int eye = 0; eye < EYES; eye++) {
		for (unsigned a = STIXEL_GROUND; a <= STIXEL_UNKNOWN; a++)
			for (unsigned b = a + 1; b <= STIXEL_UNKNOWN; b++)
				assert_true(difference(sx_palette_class(a), sx_palette_class(b), eye) > 20.0);
		for (int i = 0; i <= 100; i++) {
			const struct sx_rgb c = sx_palette_distance_at(i / 100.0);

			assert_true(difference(sx_palette_class(STIXEL_GROUND), c, eye) > 20.0);
			assert_true(difference(sx_palette_class(STIXEL_SKY), c, eye) > 20.0);
		}
	}
	/* the test can fail: a red-green pair */
	assert_true(difference((struct sx_rgb){200, 60, 60}, (struct sx_rgb){130, 110, 40}, 2) < 20.0);
}

static void test_places_are_clamped(void **state)
{
	const struct sx_palette_range r = {64, 4}, none = {0, 0};

	assert_float_equal(sx_palette_place(&r, 16), 0.5, 1e-9);
	assert_float_equal(sx_palette_place(&r, 1000), 1.0, 0);
	assert_float_equal(sx_palette_place(&r, 0), 0.0, 0);
	assert_float_equal(sx_palette_place(&r, (double)NAN), 0.0, 0);
	assert_true(sx_palette_place(&none, 5) >= 0.0 && sx_palette_place(&none, 5) <= 1.0);
	assert_int_equal(sx_palette_distance_at(7).r, sx_palette_distance_at(1).r);
	assert_int_equal(sx_palette_distance_at((double)NAN).b, sx_palette_distance_at(0).b);
}

static struct stixel object(double metres, int rows)
{
	return (struct stixel){.row_top = 10,
			       .row_bottom = (uint16_t)(9 + rows),
			       .disparity_q7 = (uint16_t)(FB / metres * 128.0 + 0.5),
			       .kind = STIXEL_OBJECT};
}

static void assert_ends(const struct sx_scale *s, double near, double far)
{
	assert_float_equal(sx_scale_near(s), near, 1e-6);
	assert_float_equal(sx_scale_far(s), far, 1e-6);
}

static void test_ends_of_a_scene(void **state)
{
	const struct stixel room[] = {
		object(0.9, 1), /* less than 2 % of the area */
		object(1.7, 40),
		object(2.5, 100),
		object(3.3, 60),
		object(30.0, 3), /* less than 2 % */
		{.kind = STIXEL_GROUND, .row_bottom = 400, .disparity_q7 = 99 * 128},
		{.kind = STIXEL_OBJECT, .row_bottom = 400, .disparity_q7 = STIXEL_DISPARITY_UNKNOWN},
	};
	struct sx_scale s = {0};

	sx_scale_follow(&s, room, 7, 128, FB);
	assert_ends(&s, 1.5, 4.0);
	assert_string_equal(sx_scale_unit(&s), "m");
	/* a single wall: the ends keep a distance */
	s = (struct sx_scale){0};
	sx_scale_follow(&s, &room[2], 1, 128, FB);
	assert_ends(&s, 1.5, 4.0);
	/* the far end is cut where disparity is 4 px */
	s = (struct sx_scale){0};
	sx_scale_follow(&s, (struct stixel[]){object(2.1, 50), object(900.0, 50)}, 2, 128, FB);
	assert_ends(&s, 2.0, 30.0);
	/* a scene without objects: the search range gives the ends */
	s = (struct sx_scale){0};
	sx_scale_follow(&s, NULL, 0, 64, FB);
	assert_ends(&s, 1.5, 40.0);
}

static void test_without_a_camera(void **state)
{
	struct sx_scale s = {0};

	sx_scale_follow(&s, (struct stixel[]){object(10, 50), object(2, 50)}, 2, 128, 0.0);
	assert_string_equal(sx_scale_unit(&s), "px");
	assert_ends(&s, 60.0, 10.0);
	/* the smallest disparity is cut */
	s = (struct sx_scale){0};
	sx_scale_follow(&s, (struct stixel[]){object(900, 50), object(2, 50)}, 2, 128, 0.0);
	assert_ends(&s, 60.0, 4.0);
	/* given metres have no meaning */
	sx_scale_give(&s, 1.0, 5.0);
	assert_ends(&s, 60.0, 4.0);
}

/* Shows the same wall n times. */
static void show(struct sx_scale *s, double near, double far, int n)
{
	const struct stixel walls[] = {object(near, 50), object(far, 50)};

	for (int i = 0; i < n; i++)
		sx_scale_follow(s, walls, 2, 128, FB);
}

static void test_ends_keep_still(void **state)
{
	struct sx_scale s = {0};

	show(&s, 2.1, 9.0, 1);
	assert_ends(&s, 2.0, 10.0);
	/* up to a tenth beyond an end, and a step within, for ever */
	show(&s, 1.85, 10.8, 2 * SX_SCALE_PATIENCE);
	show(&s, 3.1, 7.9, 2 * SX_SCALE_PATIENCE);
	assert_ends(&s, 2.0, 10.0);
	/* farther: at once, with a step to spare */
	show(&s, 1.75, 9.0, 1);
	assert_ends(&s, 1.0, 10.0);
	show(&s, 1.75, 11.3, 1);
	assert_ends(&s, 1.0, 20.0);
	/* two steps unused: after a while, and only if nothing came in between */
	show(&s, 3.1, 11.0, SX_SCALE_PATIENCE - 1);
	show(&s, 1.6, 11.0, 1);
	show(&s, 3.1, 11.0, SX_SCALE_PATIENCE - 1);
	assert_ends(&s, 1.0, 20.0);
	show(&s, 3.1, 11.0, 1);
	assert_ends(&s, 3.0, 20.0);
	show(&s, 3.1, 7.0, SX_SCALE_PATIENCE);
	assert_ends(&s, 3.0, 8.0);
	/* frames without objects leave the ends */
	for (int i = 0; i < 2 * SX_SCALE_PATIENCE; i++)
		sx_scale_follow(&s, NULL, 0, 128, FB);
	assert_ends(&s, 3.0, 8.0);
	/* another camera: a new scale */
	sx_scale_follow(&s, (struct stixel[]){object(12, 50)}, 1, 128, 2 * FB);
	assert_ends(&s, 15.0, 40.0);
}

static void test_a_blind_frame_changes_nothing(void **state)
{
	const struct stixel near = object(0.85, 100);
	struct stixel_frame_header h = {.stixel_count = 1,
					.disparities = 128,
					.fx = 200,
					.baseline_m = 0.5,
					.flags = STIXEL_FRAME_BLIND};
	struct sx_scale s = {0};

	show(&s, 2.1, 9.0, 1);
	sx_scale_frame(&s, &h, &near);
	assert_ends(&s, 2.0, 10.0);
	h.flags = 0;
	sx_scale_frame(&s, &h, &near);
	assert_ends(&s, 0.6, 10.0);
}

static void test_given_ends(void **state)
{
	struct sx_scale s = {.given_near_m = 0.7};

	show(&s, 2.1, 9.0, 1);
	assert_ends(&s, 0.7, 10.0);
	sx_scale_give(&s, 0.0, 3.3);
	assert_ends(&s, 1.65, 3.3);   /* the ends keep a factor of two */
	sx_scale_give(&s, 20.0, 0.0); /* an end beyond the scene: the other end moves away */
	assert_ends(&s, 20.0, 40.0);
	sx_scale_give(&s, 1.0, 5.0);
	show(&s, 9.0, 21.0, 2 * SX_SCALE_PATIENCE);
	assert_ends(&s, 1.0, 5.0);
	sx_scale_give(&s, 0.0, 0.0); /* the scene was followed meanwhile */
	assert_ends(&s, 8.0, 40.0);
	assert_null(sx_scale_wrong(0.0, 5.0));
	assert_null(sx_scale_wrong(1.0, 5.0));
	assert_non_null(sx_scale_wrong(5.0, 5.0));
	assert_non_null(sx_scale_wrong(5.0, 1.0));
}

static void test_ticks(void **state)
{
	struct sx_scale_tick t[SX_SCALE_TICKS];
	struct sx_scale s = {0};
	int n;

	show(&s, 2.1, 9.0, 1);
	n = sx_scale_ticks(&s, t);
	assert_int_equal(n, 7); /* 2, 3, 4, 5, 6, 8, 10 */
	assert_string_equal(t[0].text, "2");
	assert_string_equal(t[1].text, "3");
	assert_string_equal(t[6].text, "10");
	assert_float_equal(t[0].place, 1.0, 0);
	assert_float_equal(t[1].place, 1.0 - log(1.5) / log(5.0), 1e-9);
	assert_float_equal(t[6].place, 0.0, 0);
	sx_scale_give(&s, 0.37, 0.9);
	n = sx_scale_ticks(&s, t);
	assert_int_equal(n, 6); /* 0.37, 0.4, 0.5, 0.6, 0.8, 0.9 */
	assert_string_equal(t[0].text, "0.37");
	assert_string_equal(t[5].text, "0.9");
	sx_scale_give(&s, 0.01, 10000.0);
	assert_in_range(sx_scale_ticks(&s, t), 2, SX_SCALE_TICKS);
	s = (struct sx_scale){0};
	sx_scale_follow(&s, (struct stixel[]){object(10, 50), object(2, 50)}, 2, 128, 0.0);
	n = sx_scale_ticks(&s, t);
	assert_string_equal(t[0].text, "60");
	assert_string_equal(t[1].text, "50");
	assert_string_equal(t[n - 1].text, "10");
}

static void test_any_record_is_safe(void **state)
{
	static const double fbs[] = {0.0, 1e-300, 100.0, 1e300, -5.0};
	struct sx_scale_tick t[SX_SCALE_TICKS];
	struct sx_scale s = {0};
	struct stixel lot[64];
	uint32_t seed = 12345;

	for (int i = 0; i < 500; i++) {
		uint8_t *bytes = (uint8_t *)lot;
		const double fb = i % 6 < 5 ? fbs[i % 6] : (double)NAN;

		for (size_t k = 0; k < sizeof(lot); k++) {
			seed = seed * 1664525u + 1013904223u;
			bytes[k] = (uint8_t)(seed >> 24);
		}
		for (int k = 0; k < 64; k += 2)
			lot[k].kind = STIXEL_OBJECT;
		sx_scale_follow(&s, lot, 64, (int)seed, fb);
		assert_true(s.range.near_px > s.range.far_px && s.range.far_px > 0.0);
		assert_in_range(sx_scale_ticks(&s, t), 2, SX_SCALE_TICKS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_eye_sees_the_order),
		cmocka_unit_test(test_every_eye_can_tell_the_rest),
		cmocka_unit_test(test_places_are_clamped),
		cmocka_unit_test(test_ends_of_a_scene),
		cmocka_unit_test(test_without_a_camera),
		cmocka_unit_test(test_ends_keep_still),
		cmocka_unit_test(test_a_blind_frame_changes_nothing),
		cmocka_unit_test(test_given_ends),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_any_record_is_safe),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
