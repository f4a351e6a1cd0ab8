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
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stixel.h"
#include "tools/draw/overlay.h"
#include "tools/draw/picture.h"

static const struct sx_overlay_params plain = {
	.column_width = 5,
	.scale = {.range = {25.0, 100.0 / 60.0}, .focal_baseline = 100},
	.horizon_row = NAN}; /* 4 m to 60 m */

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

static void draw(struct scene *s, const struct stixel *stixels, uint32_t count,
		 const struct sx_overlay_params *p)
{
	assert_int_equal(sx_overlay_draw(&s->rgb, stixels, count, p), 0);
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

static bool same(struct sx_rgb a, struct sx_rgb b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

static struct stixel object(int column, int top, int bottom, int disparity_px)
{
	return (struct stixel){.column = (uint16_t)column,
			       .row_top = (uint16_t)top,
			       .row_bottom = (uint16_t)bottom,
			       .disparity_q7 = (uint16_t)(disparity_px * 128),
			       .kind = STIXEL_OBJECT};
}

/* Unseen is grey, dark or the light line of the hatch; the picture was 100. */
static bool is_unseen(struct sx_rgb c)
{
	return abs(c.r - c.b) < 8 && abs(c.r - c.g) < 8 && (c.r < 85 || (c.r > 105 && c.r < 180));
}

static void test_only_inside(void **state)
{
	struct stixel s = object(2, 10, 30, 20);
	struct scene v;

	make(&v, 64, 48);
	draw(&v, &s, 1, &plain);
	for (int y = 0; y < 48; y++)
		for (int x = 0; x < 64; x++) {
			struct sx_rgb c = at(&v, x, y);
			int inside = x >= 10 && x < 15 && y >= 10 && y <= 30;

			assert_int_equal(inside, !is_unseen(c));
		}
	drop(&v);
}

static void test_near_is_yellow_far_is_blue(void **state)
{
	struct stixel s[2] = {object(0, 0, 40, 25), object(2, 0, 40, 2)}; /* 4 m, 50 m */
	struct scene v;

	make(&v, 64, 48);
	draw(&v, s, 2, &plain);
	assert_true(at(&v, 2, 20).r > at(&v, 2, 20).b + 60 && at(&v, 2, 20).g > at(&v, 2, 20).b + 60);
	assert_true(at(&v, 12, 20).b > at(&v, 12, 20).g + 60);
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
	draw(&v, s, 4, &plain);
	for (int i = 0; i < 3; i++)
		for (int k = i + 1; k < 4; k++) {
			struct sx_rgb a = at(&v, i * 5 + 2, 20), b = at(&v, k * 5 + 2, 20);

			assert_memory_not_equal(&a, &b, sizeof(a));
		}
	assert_true(is_unseen(at(&v, 17, 20)) &&
		    is_unseen(at(&v, 30, 20))); /* unknown, and no stixel at all */
	drop(&v);
}

/* A filled object is paler than a measured one, except for its lines. */
/* By class: a named class, one without a name, and stixels without a class, which have the look of their kind. */
static void test_by_class(void **state)
{
	static const char *const names[STIXEL_CLASSES_MAX] = {[0] = "Road", [7] = "", [13] = "car"};
	struct stixel s[4] = {object(0, 10, 30, 20), object(1, 10, 30, 20), object(2, 10, 30, 20),
			      object(3, 10, 30, 20)};
	struct sx_overlay_params p = plain;
	struct sx_legend legend;
	struct scene v;

	p.classes = names;
	s[0].label = 13;
	s[1].label = 7;
	s[2].label = STIXEL_LABEL_NONE;
	s[3].label = 0, s[3].kind = STIXEL_GROUND;
	make(&v, 64, 48);
	draw(&v, s, 4, &p);
	assert_true(same(at(&v, 2, 20), sx_palette_mix((struct sx_rgb){100, 100, 100},
						       (struct sx_rgb){0, 0, 142}, SX_LOOK_OBJECT)));
	assert_true(same(at(&v, 7, 20), sx_palette_mix((struct sx_rgb){100, 100, 100},
						       sx_palette_label(NULL, 7), SX_LOOK_OBJECT)));
	assert_true(same(at(&v, 12, 20), sx_palette_mix((struct sx_rgb){100, 100, 100},
							sx_palette_class(STIXEL_OBJECT), SX_LOOK_OBJECT)));
	assert_true(same(at(&v, 17, 20), sx_palette_mix((struct sx_rgb){100, 100, 100},
							(struct sx_rgb){128, 64, 128}, SX_LOOK_GROUND)));
	drop(&v);
	sx_legend_classes(&legend, names, s, 4);
	assert_int_equal(legend.count, 6);
	assert_string_equal(legend.entry[0].name, "Road");
	assert_string_equal(legend.entry[1].name, "class 7");
	assert_string_equal(legend.entry[2].name, "car");
	assert_string_equal(legend.entry[3].name, "object");
	assert_string_equal(legend.entry[4].name, "filled");
	assert_string_equal(legend.entry[5].name, "not seen");
}

/* All 32 classes have room in the legend of any picture that is wide enough for one, and none is cut off. */
static void test_legend_of_many_classes(void **state)
{
	static struct stixel s[STIXEL_CLASSES_MAX];
	static const char *const names[STIXEL_CLASSES_MAX] = {[STIXEL_CLASSES_MAX - 1] = "train"};
	struct sx_legend legend;
	struct scene v;

	for (int i = 0; i < STIXEL_CLASSES_MAX; i++)
		s[i] = object(i, 0, 10, 20), s[i].label = (uint8_t)i;
	sx_legend_classes(&legend, names, s, STIXEL_CLASSES_MAX);
	for (int width = 120; width < 3000; width += 370) {
		bool last = false;

		make(&v, width, 20 + sx_legend_height(&legend, width));
		sx_legend_draw(&v.rgb, 20, &legend);
		for (int y = 20; y < v.rgb.height; y++)
			for (int x = 0; x < width; x++)
				last |= same(at(&v, x, y), (struct sx_rgb){0, 80, 100});
		assert_true(last && at(&v, width / 2, 19).r == 100);
		drop(&v);
	}
	assert_true(sx_legend_height(&legend, 320) > sx_legend_height(&legend, 1000));
}

static void test_filled(void **state)
{
	struct stixel s[2] = {object(0, 0, 40, 10), object(4, 0, 40, 10)};
	int lines = 0, pale = 0;
	struct scene v;

	s[1].flags = STIXEL_FLAG_FILLED;
	make(&v, 64, 48);
	draw(&v, s, 2, &plain);
	for (int y = 0; y < 40; y++)
		for (int x = 0; x < 5; x++) {
			const struct sx_rgb whole = at(&v, x, y), c = at(&v, 20 + x, y);

			assert_false(is_unseen(c));
			lines += memcmp(&whole, &c, sizeof(c)) == 0;
			pale += 2 * abs(c.g - 100) < abs(whole.g - 100);
		}
	assert_true(lines == 40 * 5 / SX_LOOK_HATCH_PX && pale + lines == 40 * 5);
	drop(&v);
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
		draw(&v, &s, 1, &p);
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
		draw(&v, s, 2, &p);
		assert_true(is_unseen(at(&v, 0, 0)) && is_unseen(at(&v, 63, 47)));
	}
	drop(&v);
}

/* Returns whether there is a dark line: a pixel that is darker than its two neighbours across. */
static bool has_line(const struct scene *v, int x, int y, int dx, int dy)
{
	const int here = at(v, x, y).r, before = at(v, x - dx, y - dy).r, after = at(v, x + dx, y + dy).r;

	return here + 20 < before && here + 20 < after;
}

static void test_edges_where_depth_steps(void **state)
{
	struct sx_overlay_params p = plain;
	/* columns of 8 px: two at 5 m; one at 4.7 m; one at 10 m; one at 5 m with 10 m behind its top */
	const struct stixel s[] = {object(0, 0, 47, 20), object(1, 0, 47, 20), object(2, 0, 47, 21),
				   object(3, 0, 47, 10), object(4, 0, 19, 10), object(4, 20, 47, 20)};
	struct scene v;

	p.column_width = 8;
	make(&v, 64, 48);
	draw(&v, s, 6, &p);
	for (int x = 2; x < 22; x++) /* no stripes between columns of the same depth, nor within the noise */
		assert_false(has_line(&v, x, 30, 1, 0));
	assert_true(at(&v, 23, 30).r + 40 < at(&v, 20, 30).r); /* the right side of the nearer column */
	assert_true(same(at(&v, 24, 30), at(&v, 28, 30)));     /* the farther one has none */
	assert_true(at(&v, 32, 30).r + 40 < at(&v, 36, 30).r);
	assert_true(same(at(&v, 32, 10), at(&v, 36, 10)));     /* 10 m beside 10 m */
	assert_true(at(&v, 36, 20).r + 40 < at(&v, 36, 25).r); /* the top of the nearer one */
	assert_true(same(at(&v, 36, 19), at(&v, 36, 10)));
	assert_true(same(at(&v, 36, 47), at(&v, 36, 40))); /* the end of the picture is no step */
	drop(&v);
}

/* Narrow columns have no lines at their sides (a comb), nor have stixels of a few rows (dashes). */
static void test_no_comb_and_no_dashes(void **state)
{
	const struct stixel comb[] = {object(0, 0, 47, 20), object(1, 0, 47, 10), object(2, 0, 47, 20)};
	const struct stixel dash[] = {object(0, 0, 19, 5), object(0, 20, 23, 2), object(0, 24, 47, 5)};
	struct scene v;

	make(&v, 64, 48);
	draw(&v, comb, 3, &plain);
	for (int x = 0; x < 15; x++)
		assert_true(same(at(&v, x, 20), at(&v, x / 5 * 5 + 2, 20)));
	drop(&v);
	make(&v, 64, 48);
	draw(&v, dash, 3, &plain);
	for (int y = 20; y < 24; y++)
		assert_true(same(at(&v, 2, y), at(&v, 2, 21)));
	for (int y = 1; y < 20; y++) /* a stixel beside a low one has no line */
		assert_true(same(at(&v, 2, y), at(&v, 2, 0)) && same(at(&v, 2, y + 27), at(&v, 2, 47)));
	drop(&v);
}

/*
 * Ground that ends before something farther is the edge of a drop. Ground at the foot of a wall has no edge.
 */
static void test_the_edge_of_a_drop(void **state)
{
	struct stixel foot[] = {object(0, 0, 29, 20), object(0, 30, 47, 29)};
	struct stixel drop_edge[] = {object(0, 0, 29, 10), object(0, 30, 47, 29)};
	struct scene v;

	foot[1].kind = drop_edge[1].kind = STIXEL_GROUND;
	foot[1].slope_q14 = drop_edge[1].slope_q14 = -8192; /* 29 px in the last row, 20.5 in row 30 */
	make(&v, 64, 48);
	draw(&v, foot, 2, &plain);
	assert_true(same(at(&v, 2, 30), at(&v, 2, 40)));
	drop(&v);
	make(&v, 64, 48);
	draw(&v, drop_edge, 2, &plain);
	assert_true(at(&v, 2, 30).g + 30 < at(&v, 2, 40).g);
	drop(&v);
}

/* A leaning object has the colour of its distance in each row. */
static void test_leaning(void **state)
{
	struct stixel s = object(0, 0, 40, 20);
	struct scene v;

	s.slope_q14 = -7168; /* 2.5 px in row 0 */
	make(&v, 64, 48);
	draw(&v, &s, 1, &plain);
	assert_true(at(&v, 2, 40).g > at(&v, 2, 2).g + 60);
	drop(&v);
}

static void test_blind_is_unseen(void **state)
{
	struct sx_overlay_params p = plain;
	const struct stixel s = object(0, 0, 47, 20);
	struct scene v;

	p.blind = true;
	make(&v, 64, 48);
	draw(&v, &s, 1, &p);
	for (int i = 0; i < 48; i++)
		assert_true(is_unseen(at(&v, i, i)));
	drop(&v);
}

static void test_legend_from_small_to_large(void **state)
{
	static const int widths[] = {1, 32, 119, 120, 200, 320, 640, 1242, 4096, 20000};
	struct sx_scale scale = plain.scale;
	struct sx_legend legend;
	struct scene v;
	int before = 0;

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		int height;

		sx_legend_distances(&legend, &scale, i % 3);
		height = sx_legend_height(&legend, widths[i]);
		assert_true(widths[i] < 120 ? height == 0 : height > 20);
		make(&v, widths[i], 20 + height);
		scale.focal_baseline = i % 2 ? 0.0 : 100.0;
		sx_legend_draw(&v.rgb, 20, &legend);
		if (height) /* the picture above stays */
			assert_true(at(&v, widths[i] / 2, 19).r == 100 && at(&v, widths[i] / 2, 20).r != 100);
		drop(&v);
		before = height;
	}
	assert_true(before > sx_legend_height(&legend, 640));
}

/* The legend has each look, and both ends of the scale from near to far. */
static void test_legend_explains(void **state)
{
	bool ground = false, sky = false;
	struct sx_legend legend;
	struct scene v;

	sx_legend_distances(&legend, &plain.scale, true);
	make(&v, 640, 20 + sx_legend_height(&legend, 640));
	sx_legend_draw(&v.rgb, 20, &legend);
	assert_true(same(at(&v, 6, 28), sx_palette_distance_at(1.0)));
	for (int y = 20; y < v.rgb.height; y++)
		for (int x = 0; x < 640; x++) {
			ground |= same(at(&v, x, y), sx_palette_class(STIXEL_GROUND));
			sky |= same(at(&v, x, y), sx_palette_class(STIXEL_SKY));
		}
	assert_true(ground && sky);
	drop(&v);
}

static void test_horizon(void **state)
{
	struct sx_overlay_params p = plain;
	struct scene v;

	make(&v, 64, 48);
	p.horizon_row = 20.4;
	draw(&v, NULL, 0, &p);
	assert_true(at(&v, 0, 20).r > 150);
	assert_true(is_unseen(at(&v, 0, 19)));
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
	draw(&v, NULL, 0, &p);
	assert_true(at(&v, 0, 9).r > 150); /* 24 + 0.5 (2.5 - 32) = 9.25 */
	assert_true(at(&v, 60, 39).r > 150);
	assert_true(is_unseen(at(&v, 0, 24)));
	drop(&v);
	make(&v, 64, 48);
	sx_overlay_frame(&p, &none);
	draw(&v, NULL, 0, &p);
	assert_true(is_unseen(at(&v, 0, 0)));
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
	row[2] = 2 * 16;
	assert_int_equal(sx_overlay_disparity(&v.rgb, &d, &plain.scale), 0);
	assert_int_equal(at(&v, 0, 0).r + at(&v, 0, 0).g + at(&v, 0, 0).b, 0);
	assert_true(at(&v, 1, 0).r > at(&v, 1, 0).b);
	assert_true(at(&v, 2, 0).b > at(&v, 2, 0).g);
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
	assert_int_equal(sx_overlay_disparity(&v.rgb, &v.left, &plain.scale), -EINVAL);
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
		cmocka_unit_test(test_near_is_yellow_far_is_blue),
		cmocka_unit_test(test_classes_differ),
		cmocka_unit_test(test_by_class),
		cmocka_unit_test(test_legend_of_many_classes),
		cmocka_unit_test(test_filled),
		cmocka_unit_test(test_any_record_is_safe),
		cmocka_unit_test(test_any_width_is_safe),
		cmocka_unit_test(test_edges_where_depth_steps),
		cmocka_unit_test(test_no_comb_and_no_dashes),
		cmocka_unit_test(test_the_edge_of_a_drop),
		cmocka_unit_test(test_leaning),
		cmocka_unit_test(test_blind_is_unseen),
		cmocka_unit_test(test_legend_from_small_to_large),
		cmocka_unit_test(test_legend_explains),
		cmocka_unit_test(test_horizon),
		cmocka_unit_test(test_horizon_leans),
		cmocka_unit_test(test_disparity_picture),
		cmocka_unit_test(test_wrong_shapes_are_refused),
		cmocka_unit_test(test_png_refuses_and_reports),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
