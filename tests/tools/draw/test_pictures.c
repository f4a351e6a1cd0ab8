/*
 * Tests a known frame, drawn from above and as characters: the content of each place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "recording/messages/palette.h"
#include "stixel.h"
#include "tools/ctl/top/scene.h"
#include "tools/draw/bird.h"

enum { COLUMNS = 30, WIDTH = 300, HEIGHT = 120 };

/*
 * The camera is 1 m above a flat road with fx 300 px and a baseline of 0.4 m, so the disparity is 120 / m.
 * The image's last row shows the road 3.8 m away. Left third: a wall at 10 m. Middle third: road to the
 * horizon, with a drop at 8 m in columns 12 and 13, and a table with its edge at 6 m in columns 17 and 18.
 * Right third: a wall at 20 m, two stray columns at 2 m, then a column whose ground ends at 10 m. The last
 * column is unknown. Column 0 shows no ground nearer than 5 m.
 */
static struct stixel stixels[4 * COLUMNS];
static uint32_t offsets[COLUMNS + 1];
static struct stixel_frame_header header;

static void add(uint32_t column, int top, int bottom, int kind, double metres)
{
	stixels[header.stixel_count++] = (struct stixel){
		.column = (uint16_t)column,
		.row_top = (uint16_t)top,
		.row_bottom = (uint16_t)bottom,
		.disparity_q7 =
			metres > 0.0 ? (uint16_t)lrint(128.0 * 120.0 / metres) : STIXEL_DISPARITY_UNKNOWN,
		.kind = (uint8_t)kind,
	};
}

/* A scale whose ends do not follow the scene. */
static struct sx_scale scale;

static struct stixel_frame make(void)
{
	header = (struct stixel_frame_header){
		.image_width = WIDTH,
		.image_height = HEIGHT,
		.columns = COLUMNS,
		.column_width = 10,
		.disparities = 64,
		.fx = 300,
		.fy = 300,
		.cx = 150,
		.cy = 40,
		.baseline_m = 0.4,
		.height_m = 1.0,
		.pitch_rad = 0.0,
		.road_slope = 0.4, /* row 40 is the horizon; 40 + 300 / metres is the ground */
		.road_offset = -16,
		.road_origin = STIXEL_ROAD_MEASURED,
	};
	for (uint32_t u = 0; u < COLUMNS; u++) {
		offsets[u] = header.stixel_count;
		if (u == COLUMNS - 1)
			continue;
		if (u == COLUMNS - 2) {
			add(u, 70, HEIGHT - 1, STIXEL_GROUND, 0);
		} else if (u == 25 || u == 26) {
			add(u, 0, HEIGHT - 1, STIXEL_OBJECT, 2);
		} else if (u == 0) {
			add(u, 100, HEIGHT - 1, STIXEL_UNKNOWN, 0);
			add(u, 70, 99, STIXEL_GROUND, 0);
			add(u, 0, 69, STIXEL_OBJECT, 10);
		} else if (u < 10 || u >= 20) {
			add(u, u < 10 ? 70 : 55, HEIGHT - 1, STIXEL_GROUND, 0);
			add(u, 0, u < 10 ? 69 : 54, STIXEL_OBJECT, u < 10 ? 10 : 20);
		} else if (u == 12 || u == 13) { /* the lower floor, and a wall on it */
			add(u, 78, HEIGHT - 1, STIXEL_GROUND, 0);
			add(u, 62, 77, STIXEL_OBJECT, 14);
			add(u, 0, 61, STIXEL_OBJECT, 25);
		} else if (u == 17 || u == 18) { /* the wall under the table, and the table's top */
			add(u, 52, HEIGHT - 1, STIXEL_GROUND, 0);
			add(u, 46, 51, STIXEL_OBJECT, 25);
			add(u, 42, 45, STIXEL_OBJECT, 6);
			add(u, 0, 41, STIXEL_OBJECT, 25);
		} else {
			add(u, 40, HEIGHT - 1, STIXEL_GROUND, 0);
			add(u, 0, 39, STIXEL_SKY, 0);
		}
	}
	offsets[COLUMNS] = header.stixel_count;
	scale = (struct sx_scale){.given_near_m = 4.0, .given_far_m = SX_BIRD_FAR_M};
	sx_scale_frame(&scale, &header, stixels);
	return (struct stixel_frame){.header = &header, .offsets = offsets, .stixels = stixels};
}

static void test_free_thirds(void **state)
{
	struct stixel_frame f = make();
	double metres[SX_FREE_PARTS];

	assert_true(sx_scene_free(&f, metres));
	assert_float_equal(metres[0], 10.0, 0.01);
	/*
	 * Columns: drop, drop, table, table. Two strays do not count, and the table is in the vehicle's way.
	 */
	assert_float_equal(metres[1], 120.0 / (0.4 * 78 - 16), 0.01);
	assert_float_equal(metres[2], 20.0, 0.01);
	/* a third of which more than half is unknown is neither free nor blocked */
	for (uint32_t u = 10; u < 16; u++)
		stixels[offsets[u]].kind = STIXEL_UNKNOWN;
	assert_true(sx_scene_free(&f, metres));
	assert_true(isnan(metres[1]));
	assert_float_equal(metres[0], 10.0, 0.01);
	/* blind pictures make all of it unknown */
	header.flags = STIXEL_FRAME_BLIND;
	assert_true(sx_scene_free(&f, metres));
	assert_true(isnan(metres[0]) && isnan(metres[2]));
	header.fx = 0;
	assert_false(sx_scene_free(&f, metres));
}

/* Returns the pixel of a place on the ground. */
static struct sx_rgb at(struct sx_image *rgb, double across_m, double ahead_m)
{
	double px = rgb->height / SX_BIRD_FAR_M;
	struct sx_rgb *row = sx_image_row(rgb, (int)(rgb->height - ahead_m * px));

	return row[(int)(rgb->width / 2.0 + across_m * px)];
}

static bool same(struct sx_rgb a, struct sx_rgb b)
{
	return a.r == b.r && a.g == b.g && a.b == b.b;
}

static void test_bird(void **state)
{
	struct stixel_frame f = make();
	struct sx_rgb road, behind, outside;
	struct sx_image rgb = {0};

	assert_int_equal(sx_image_init(&rgb, SX_PIXEL_RGB24, sx_bird_width(600), 600), 0);
	assert_int_equal(rgb.width, 400);
	assert_int_equal(sx_bird_draw(&rgb, &f, &scale, NULL), 0);
	road = at(&rgb, 0, 5.5);
	behind = at(&rgb, -8, 25);
	outside = at(&rgb, -18, 5);
	assert_false(same(road, behind) || same(road, outside) || same(behind, outside));
	assert_true(same(at(&rgb, 0, 55), road)); /* the middle is free */
	assert_true(same(at(&rgb, -3, 9), road)); /* left is free up to the wall */
	assert_true(at(&rgb, -3, 10.5).r > road.r + 40 ||
		    at(&rgb, -3, 10.5).g > road.g + 40); /* the wall is drawn */
	assert_true(same(at(&rgb, -3, 13), behind));	 /* the wall hides the ground behind it */
	assert_true(same(at(&rgb, 4, 18), road));
	assert_true(same(at(&rgb, 8.55, 18), outside)); /* the unknown column is not free */
	/* the ground before the first visible ground is not free, either: */
	assert_true(same(at(&rgb, -2.42, 4.8), outside));
	assert_true(same(at(&rgb, -4.11, 8.5), road));
	assert_true(same(at(&rgb, 0, 3.5), outside)); /* the common blind zone */
	assert_true(same(at(&rgb, -1, 3), outside));
	assert_true(same(at(&rgb, 4.35, 9.5), road));
	assert_true(same(at(&rgb, 4.9, 10.9), outside)); /* the end of the ground is not an object */
	/* a table is an object, although the wall behind it begins lower */
	assert_true(same(at(&rgb, 0.55, 5.5), road));
	assert_false(same(at(&rgb, 0.6, 6.4), road) || same(at(&rgb, 0.6, 6.4), outside));
	assert_true(same(at(&rgb, 1.4, 15), behind));
	sx_image_finish(&rgb);
}

/* The ground ends. The gap and the lower floor are not free, and the edge is drawn. */
static void test_bird_drop(void **state)
{
	struct stixel_frame f = make();
	struct sx_rgb outside, wall;
	struct sx_image rgb = {0};
	unsigned light = 0, dark = 0;

	assert_int_equal(sx_image_init(&rgb, SX_PIXEL_RGB24, sx_bird_width(600), 600), 0);
	assert_int_equal(sx_bird_draw(&rgb, &f, &scale, NULL), 0);
	outside = at(&rgb, -18, 5);
	for (double m = 8.0; m < 8.8; m += 0.1) {
		light += at(&rgb, -0.65, m).r == 255;
		dark += same(at(&rgb, -0.65, m), outside);
	}
	assert_true(light >= 2 && dark >= 2); /* stripes */
	assert_true(same(at(&rgb, -0.9, 12), outside));
	assert_true(same(at(&rgb, -1.1, 14.5), outside)); /* the lower floor is not a wall */
	wall = at(&rgb, -2, 25.5);
	assert_true(wall.b > outside.b + 40 || wall.g > outside.g + 40);
	sx_image_finish(&rgb);
}

/* Cameras are covered. Nothing is free, whatever the stixels are. */
static void test_bird_blind(void **state)
{
	struct stixel_frame f = make();
	struct sx_image rgb = {0};
	struct sx_rgb road;

	assert_int_equal(sx_image_init(&rgb, SX_PIXEL_RGB24, sx_bird_width(600), 600), 0);
	assert_int_equal(sx_bird_draw(&rgb, &f, &scale, NULL), 0);
	road = at(&rgb, 0, 5.5);
	header.flags = STIXEL_FRAME_BLIND;
	assert_int_equal(sx_bird_draw(&rgb, &f, &scale, NULL), 0);
	for (double m = 0.2; m < 59; m += 0.1)
		for (double x = -15; x < 15; x += 0.5)
			assert_false(same(at(&rgb, x, m), road));
	header.fx = 0;
	assert_int_equal(sx_bird_draw(&rgb, &f, &scale, NULL), -EINVAL);
	sx_image_finish(&rgb);
}

static void test_scene(void **state)
{
	struct stixel_frame f = make();
	struct sx_canvas c = {.utf8 = true, .colours = true};
	int w, h;

	assert_int_equal(sx_canvas_resize(&c, 40, 10), 0);
	sx_scene_size(&f, 40, 10, &w, &h);
	assert_int_equal(w, 40);
	assert_int_equal(h, 8); /* 300:120 with cells twice as high as wide */
	sx_scene_draw(&c, &f, &scale, 0, 0, w, h);
	assert_int_equal(c.cells[15].fg, SX_C_SKY);
	assert_int_equal(c.cells[7 * 40 + 15].bg, SX_C_GROUND);
	assert_in_range(c.cells[5].fg, SX_C_DEPTH + 8,
			SX_C_DEPTH + 12); /* 10 m: two thirds of the way from 60 to 4 */
	assert_in_range(c.cells[30].fg, SX_C_DEPTH + 4, SX_C_DEPTH + 8);     /* 20 m */
	assert_int_equal(c.cells[34].fg, SX_C_DEPTH + SX_CANVAS_DEPTHS - 1); /* 2 m */
	assert_int_equal(c.cells[39].bg,
			 SX_C_UNKNOWN); /* unseen has a character, so it looks like no distance */
	assert_int_equal(c.cells[39].c, '/');
	c.colours = c.utf8 = false;
	sx_scene_draw(&c, &f, &scale, 0, 0, w, h);
	assert_int_equal(c.cells[34].c, '@');
	assert_int_equal(c.cells[7 * 40 + 15].c, '.');
	assert_int_equal(c.cells[15].c, ' ');
	assert_int_equal(c.cells[39].c, '/');
	sx_scene_size(&f, 7, 2, &w, &h);
	assert_int_equal(w + h, 0);
	sx_canvas_finish(&c);
}

static void row_text(const struct sx_canvas *c, int y, char *text)
{
	for (int x = 0; x < c->width; x++)
		text[x] = c->cells[y * c->width + x].c < 128 ? (char)c->cells[y * c->width + x].c : 'U';
	text[c->width] = 0;
}

/* Text from the daemon comes from files and devices. None of it may reach the terminal as a command. */
static void test_text_is_harmless(void **state)
{
	struct sx_canvas c = {.utf8 = true};
	char text[64];

	assert_int_equal(sx_canvas_resize(&c, 12, 2), 0);
	assert_int_equal(sx_canvas_text(&c, 0, 0, 12, SX_C_PLAIN, "a\033[2J\x9b\xc2\x9b%c\xe4", 7), 9);
	row_text(&c, 0, text);
	assert_string_equal(text, "a?[2J????   ");
	assert_int_equal(sx_canvas_text(&c, 0, 1, 12, SX_C_PLAIN, "\xc3\xa4\xe2\x80\xa6x"), 3);
	row_text(&c, 1, text);
	assert_string_equal(text, c.cells[12].c == 0xe4 ? "UUx         " : "??x         ");
	sx_canvas_clear(&c);
	assert_int_equal(sx_canvas_text(&c, 2, 0, 6, SX_C_PLAIN, "too long"), 6);
	sx_canvas_text(&c, 10, 5, 99, SX_C_PLAIN, "below");
	sx_canvas_text(&c, -3, 1, 99, SX_C_PLAIN, "left and beyond the right");
	row_text(&c, 0, text);
	assert_string_equal(text, "  tooU      ");
	sx_canvas_finish(&c);
}

static void test_bars(void **state)
{
	const double values[4] = {0, 5, NAN, 10};
	struct sx_canvas c = {0};
	char text[64];

	assert_int_equal(sx_canvas_resize(&c, 12, 2), 0);
	sx_canvas_bar(&c, 1, 0, 10, 0.3, 0.6, 0.95);
	row_text(&c, 0, text);
	assert_string_equal(text, " ===---   | ");
	sx_canvas_bar(&c, 0, 1, 4, 9.0, 9.0, 9.0);
	sx_canvas_spark(&c, 6, 1, 5, values, 4, 10.0);
	row_text(&c, 1, text);
	assert_string_equal(text, "====   _= @ ");
	sx_canvas_finish(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_free_thirds), cmocka_unit_test(test_bird),
		cmocka_unit_test(test_bird_drop),   cmocka_unit_test(test_bird_blind),
		cmocka_unit_test(test_scene),	    cmocka_unit_test(test_text_is_harmless),
		cmocka_unit_test(test_bars),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
