/*
 * Tests overlay drawing: which pixels are coloured, which stay unchanged, and that no record can draw outside
 * the image.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "stixel.h"
#include "tools/draw/overlay.h"
#include "tools/draw/picture.h"

static const struct sx_overlay_params plain = {
	.column_width = 5, .disparities = 64, .focal_baseline = 100, .horizon_row = NAN};

struct scene {
	struct sx_image left, rgb;
};

static void make(struct scene *s, int width, int height)
{
	assert_int_equal(sx_image_init(&s->left, SX_PIXEL_U8, width, height), 0);
	assert_int_equal(sx_image_init(&s->rgb, SX_PIXEL_RGB24, width, height), 0);
	for (int y = 0; y < height; y++)
		memset(sx_image_row(&s->left, y), 100, (size_t)width);
	assert_int_equal(sx_overlay_background(&s->rgb, &s->left), 0);
}

static void drop(struct scene *s)
{
	sx_image_finish(&s->left);
	sx_image_finish(&s->rgb);
}

static struct sx_rgb at(const struct scene *s, int x, int y)
{
	return ((struct sx_rgb *)sx_image_row(&s->rgb, y))[x];
}

static struct stixel object(int column, int top, int bottom, int disparity_px)
{
	return (struct stixel){.column = (uint16_t)column,
			       .row_top = (uint16_t)top,
			       .row_bottom = (uint16_t)bottom,
			       .disparity_q7 = (uint16_t)(disparity_px * 128),
			       .kind = STIXEL_OBJECT};
}

static void test_only_inside(void **state)
{
	struct stixel s = object(2, 10, 30, 20);
	struct scene v;

	make(&v, 64, 48);
	sx_overlay_draw(&v.rgb, &s, 1, &plain);
	for (int y = 0; y < 48; y++)
		for (int x = 0; x < 64; x++) {
			struct sx_rgb c = at(&v, x, y);
			int inside = x >= 10 && x < 15 && y >= 10 && y <= 30;

			assert_int_equal(inside, !(c.r == 100 && c.g == 100 && c.b == 100));
		}
	drop(&v);
}

static void test_near_is_red_far_is_blue(void **state)
{
	struct stixel s[2] = {object(0, 0, 40, 25), object(2, 0, 40, 2)}; /* 4 m, 50 m */
	struct scene v;

	make(&v, 64, 48);
	sx_overlay_draw(&v.rgb, s, 2, &plain);
	assert_true(at(&v, 2, 20).r > at(&v, 2, 20).b + 60);
	assert_true(at(&v, 12, 20).b > at(&v, 12, 20).r + 60);
	drop(&v);
}

static void test_classes_differ(void **state)
{
	struct stixel s[4] = {object(0, 0, 40, 10), object(1, 0, 40, 10), object(2, 0, 40, 10),
			      object(3, 0, 40, 10)};
	struct scene v;

	for (int i = 0; i < 4; i++)
		s[i].kind = (uint8_t)i;
	make(&v, 64, 48);
	sx_overlay_draw(&v.rgb, s, 4, &plain);
	for (int i = 0; i < 3; i++)
		for (int k = i + 1; k < 4; k++) {
			struct sx_rgb a = at(&v, i * 5 + 2, 20), b = at(&v, k * 5 + 2, 20);

			assert_memory_not_equal(&a, &b, sizeof(a));
		}
	assert_int_equal(at(&v, 17, 20).r, 100); /* an unknown stixel stays unpainted */
	drop(&v);
}

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

static double difference(struct sx_rgb a, struct sx_rgb b, const double m[3][3])
{
	double seen[3], one[3], two[3], sum = 0.0;

	see(seen, a, m);
	to_lab(one, seen);
	see(seen, b, m);
	to_lab(two, seen);
	for (int i = 0; i < 3; i++)
		sum += (one[i] - two[i]) * (one[i] - two[i]);
	return sqrt(sum);
}

static void test_everybody_can_tell_classes(void **state)
{
	static const double eyes[4][3][3] = {
		{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		{{0.152, 1.053, -0.205}, {0.115, 0.786, 0.099}, {-0.004, -0.048, 1.052}},
		{{0.367, 0.861, -0.228}, {0.280, 0.673, 0.047}, {-0.012, 0.043, 0.969}},
		{{1.256, -0.077, -0.179}, {-0.078, 0.931, 0.148}, {0.005, 0.691, 0.304}},
	};

	for (int eye = 0; eye < 4; eye++)
		for (unsigned a = 0; a < 4; a++)
			for (unsigned b = a + 1; b < 4; b++)
				assert_true(difference(sx_palette_class(a), sx_palette_class(b), eyes[eye]) >
					    20.0);
	assert_true(difference((struct sx_rgb){200, 60, 60}, (struct sx_rgb){130, 110, 40}, eyes[2]) < 20.0);
}

static void test_any_record_is_safe(void **state)
{
	struct sx_overlay_params p = plain;
	struct scene v;
	uint32_t lot = 12345;

	make(&v, 37, 41);
	p.horizon_row = 1e300;
	for (int i = 0; i < 2000; i++) {
		struct stixel s;
		uint8_t *bytes = (uint8_t *)&s;

		for (size_t k = 0; k < sizeof(s); k++) {
			lot = lot * 1664525u + 1013904223u;
			bytes[k] = (uint8_t)(lot >> 24);
		}
		s.column %= 64;
		p.column_width = 1 + (int)(lot >> 16) % 32;
		sx_overlay_draw(&v.rgb, &s, 1, &p);
	}
	drop(&v);
}

/* Column plus width exceeds an int. UBSan would end the test if the code added them carelessly. */
static void test_any_width_is_safe(void **state)
{
	const int widths[] = {INT32_MAX, INT32_MIN, -1, 0, 65536};
	const struct stixel s[2] = {object(65535, 0, 40, 25), object(1, 0, 40, 2)};
	struct sx_overlay_params p = plain;
	struct scene v;

	make(&v, 64, 48);
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		p.column_width = widths[i];
		sx_overlay_draw(&v.rgb, s, 2, &p);
		assert_int_equal(at(&v, 0, 0).r, 100);
		assert_int_equal(at(&v, 63, 47).r, 100);
	}
	drop(&v);
}

static void test_legend_from_small_to_large(void **state)
{
	static const int sizes[][2] = {{1, 1}, {32, 32}, {320, 200}, {1242, 375}, {1700, 130}, {4096, 300}};
	struct sx_overlay_params p = plain;
	struct scene v;

	p.legend = true;
	for (int metres = 0; metres < 2; metres++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			p.focal_baseline = metres ? 390.0 : 0.0;
			make(&v, sizes[i][0], sizes[i][1]);
			sx_overlay_draw(&v.rgb, NULL, 0, &p);
			drop(&v);
		}
	make(&v, 1242, 375);
	sx_overlay_draw(&v.rgb, NULL, 0, &p);
	assert_int_not_equal(at(&v, 1242 - 40, 375 - 20).r, 100);
	assert_int_equal(at(&v, 10, 10).r, 100);
	drop(&v);
}

static void test_horizon(void **state)
{
	struct sx_overlay_params p = plain;
	struct scene v;

	make(&v, 64, 48);
	p.horizon_row = 20.4;
	sx_overlay_draw(&v.rgb, NULL, 0, &p);
	assert_true(at(&v, 0, 20).r > 150);
	assert_int_equal(at(&v, 0, 19).r, 100);
	drop(&v);
}

static void test_horizon_leans(void **state)
{
	const struct stixel_frame_header h = {.header_bytes = sizeof(h),
					      .road_origin = STIXEL_ROAD_MEASURED,
					      .road_slope = 0.5,
					      .road_cross = -0.25,
					      .road_axis = 32,
					      .horizon_row = 24.0};
	const struct stixel_frame_header none = {.header_bytes = sizeof(h)};
	struct sx_overlay_params p = plain;
	struct scene v;

	make(&v, 64, 48);
	sx_overlay_frame(&p, &h);
	sx_overlay_draw(&v.rgb, NULL, 0, &p);
	assert_true(at(&v, 0, 9).r > 150); /* 24 + 0.5 (2.5 - 32) = 9.25 */
	assert_true(at(&v, 60, 39).r > 150);
	assert_int_equal(at(&v, 0, 24).r, 100);
	drop(&v);
	make(&v, 64, 48);
	sx_overlay_frame(&p, &none);
	sx_overlay_draw(&v.rgb, NULL, 0, &p);
	assert_int_equal(at(&v, 0, 0).r, 100);
	drop(&v);
}

static void test_disparity_picture(void **state)
{
	struct scene v;
	struct sx_image d;
	uint16_t *row;

	make(&v, 32, 2);
	assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, 32, 2), 0);
	row = sx_image_row(&d, 0);
	row[0] = SX_DISPARITY_INVALID;
	row[1] = 60 * 16;
	row[2] = 8 * 16;
	assert_int_equal(sx_overlay_disparity(&v.rgb, &d, &plain), 0);
	assert_int_equal(at(&v, 0, 0).r + at(&v, 0, 0).g + at(&v, 0, 0).b, 0);
	assert_true(at(&v, 1, 0).r > at(&v, 1, 0).b);
	assert_true(at(&v, 2, 0).b > at(&v, 2, 0).r);
	sx_image_finish(&d);
	drop(&v);
}

static void test_wrong_shapes_are_refused(void **state)
{
	struct scene v, other;

	make(&v, 32, 32);
	make(&other, 33, 32);
	assert_int_equal(sx_overlay_background(&v.rgb, &other.left), -EINVAL);
	assert_int_equal(sx_overlay_background(&v.left, NULL), -EINVAL);
	assert_int_equal(sx_overlay_disparity(&v.rgb, &v.left, &plain), -EINVAL);
	drop(&other);
	drop(&v);
}

static void test_png_refuses_and_reports(void **state)
{
	struct sx_image census, grey;
	FILE *f = fopen("/dev/full", "w");

	assert_non_null(f);
	assert_int_equal(sx_image_init(&census, SX_PIXEL_U32, 64, 64), 0);
	assert_int_equal(sx_image_init(&grey, SX_PIXEL_U8, 64, 64), 0);
	assert_int_equal(sx_picture_write(f, &census), -EINVAL);
	assert_int_equal(sx_picture_write(f, &grey), -ENOSPC);
	fclose(f);
	sx_image_finish(&census);
	sx_image_finish(&grey);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_inside),
		cmocka_unit_test(test_near_is_red_far_is_blue),
		cmocka_unit_test(test_classes_differ),
		cmocka_unit_test(test_everybody_can_tell_classes),
		cmocka_unit_test(test_any_record_is_safe),
		cmocka_unit_test(test_any_width_is_safe),
		cmocka_unit_test(test_legend_from_small_to_large),
		cmocka_unit_test(test_horizon),
		cmocka_unit_test(test_horizon_leans),
		cmocka_unit_test(test_disparity_picture),
		cmocka_unit_test(test_wrong_shapes_are_refused),
		cmocka_unit_test(test_png_refuses_and_reports),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
