/*
 * Maps and remapping against their definition, pixel by pixel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "stages/rectify/rectify.h"
#include "stages/rectify/rig.h"
#include "tests/check.h"
#include "tests/emulated.h"
#include "tests/stages/rectify/rig_case.h"

#define LENSES 3

static const int no_radius[2] = {0, 0};

static struct sx_rectify_map map_of(const struct sx_rig *rig, int side, const int radius[2])
{
	struct sx_rectify_map map = {0};

	assert_int_equal(sx_rectify_map_init(&map, rig, side, radius), 0);
	return map;
}

static uint32_t place_at(const struct sx_rectify_map *map, int x, int y)
{
	return map->place[y * map->stride + x];
}

static bool is_outside(const struct sx_rectify_map *map, int x, int y)
{
	return place_at(map, x, y) == SX_RECTIFY_OUTSIDE;
}

/* Returns true if every pixel of the window can be matched. */
static bool can_match(const struct sx_rectify_map *map, int x, int y, const int radius[2])
{
	int left = x > radius[0] ? x - radius[0] : 0, top = y > radius[1] ? y - radius[1] : 0;

	for (int v = top; v <= y + radius[1] && v < map->height; v++)
		for (int u = left; u <= x + radius[0] && u < map->width; u++)
			if (is_outside(map, u, v))
				return false;
	return true;
}

/* Numbers of rows of each kind, to prove that the test covered all kinds. */
struct rows {
	int none, single, whole, several, equal;
};

static void check_views(const struct sx_rectify_map *map, const int radius[2], struct rows *rows)
{
	for (int y = 0; y < map->height; y++) {
		int first = 0, end = 0, runs = 0, equal = 0, x = 0;

		while (x < map->width) {
			int begin = x;

			while (x < map->width && can_match(map, x, y, radius))
				x++;
			runs += x > begin;
			equal += x > begin && x - begin == end - first;
			if (x - begin > end - first) {
				first = begin;
				end = x;
				equal = 0;
			}
			if (x == begin)
				x++;
		}
		if (map->view[y].first != first || map->view[y].end != end) {
			fprintf(stderr, "row %d, radius %d, %d: want %d to %d, got %d to %d\n", y, radius[0],
				radius[1], first, end, map->view[y].first, map->view[y].end);
			fail();
		}
		rows->none += end == first;
		rows->single += end - first == 1;
		rows->whole += end - first == map->width;
		rows->several += runs > 1;
		rows->equal += equal > 0;
	}
}

/* Rounds sx_rig_project(). Subtracts 1/256 px at the upper end. */
static bool expected(double p, int n, int *at)
{
	*at = (int)floor(p * 256 + 0.5);
	if (!(p > -1 && p < n) || *at < 0 || *at > 256 * (n - 1))
		return false;
	if (*at == 256 * (n - 1))
		(*at)--;
	return true;
}

static void check_entry(const struct sx_rectify_map *map, const struct sx_rig *rig, int side, int x, int y)
{
	uint32_t place = place_at(map, x, y), part = map->part[y * map->stride + x];
	double u, v;
	int a, b;

	if (x >= map->width || !sx_rig_project(rig, side, x, y, &u, &v) || !expected(u, rig->raw_width, &a) ||
	    !expected(v, rig->raw_height, &b)) {
		assert_int_equal(place, SX_RECTIFY_OUTSIDE);
		assert_int_equal(part, 0);
		return;
	}
	assert_int_equal(256 * (place & 0xffff) + (part & 255), a);
	assert_int_equal(256 * (place >> 16) + (part >> 8), b);
	/* all four pixels lie in the raw image */
	assert_true((int)(place & 0xffff) + 1 < rig->raw_width && (int)(place >> 16) + 1 < rig->raw_height);
}

static void maps_are_rounded_positions(void **state)
{
	struct check_rng r = check_rng_seed(1);

	for (int lens = 0; lens < LENSES; lens++) {
		struct sx_rig rig = rig_case_of((enum sx_lens)lens, &r);

		rig.width = 127; /* a coarse view of the whole raw image and its surroundings */
		rig.height = 90;
		rig.fx = rig.fy = 70;
		rig.cx = 63;
		rig.cy = 44;
		for (int side = 0; side < 2; side++) {
			struct sx_rectify_map map = map_of(&rig, side, no_radius);

			assert_int_equal(map.stride, 128);
			for (int i = 0; i < map.stride * map.height; i++)
				check_entry(&map, &rig, side, i % map.stride, i / map.stride);
			sx_rectify_map_finish(&map);
		}
	}
}

/* A polynomial that turns back outside the raw image shows no point twice. Every position has an inverse. */
static void nothing_is_shown_twice(void **state)
{
	struct sx_rig rig = rig_case_identity(640, 480);
	int inside = 0;
	struct sx_rectify_map map;

	rig.raw[0] = (struct sx_raw_camera){480, 480, 319.5, 239.5, SX_LENS_PLUMB_BOB, {-0.2}};
	rig.fx = rig.fy = 80; /* the edge is at tangent 4, and the model returns to 0 at tangent 2.2 */
	map = map_of(&rig, 0, no_radius);
	for (int i = 0; i < 640 * 480; i++) {
		uint32_t place = place_at(&map, i % 640, i / 640);
		double u, v;

		if (place == SX_RECTIFY_OUTSIDE)
			continue;
		inside++;
		assert_true(sx_rig_unproject(&rig, 0, place & 0xffff, place >> 16, &u, &v));
		assert_true(hypot(u - i % 640, v - i / 640) < 1);
	}
	assert_true(inside > 10000);
	sx_rectify_map_finish(&map);
}

static void identity_is_the_raw_image(void **state)
{
	const int w = 67, h = 41, radius[2] = {5, 4};
	struct sx_rig rig = rig_case_identity(w, h);
	struct sx_rectify_map map = map_of(&rig, 1, radius);
	struct check_image in, out;
	struct check_rng r = check_rng_seed(1);

	check_image_init(&in, SX_PIXEL_U8, w, h, 3);
	check_image_init(&out, SX_PIXEL_U8, w, h, 9);
	check_fill(&in.image, CHECK_NOISE, &r);
	sx_rectify(&in.image, &out.image, &map, (struct sx_stretch){0, 0});
	for (int y = 0; y < h - 1; y++)
		assert_memory_equal(sx_image_row(&in.image, y), sx_image_row(&out.image, y), w - 1);
	for (int y = 0; y < h - 1; y++) {
		const uint8_t *row = sx_image_row(&in.image, y);

		assert_int_equal(((uint8_t *)sx_image_row(&out.image, y))[w - 1],
				 (row[w - 2] + 255 * row[w - 1] + 128) >> 8);
	}
	for (int x = 0; x < w - 1; x++)
		assert_int_equal(((uint8_t *)sx_image_row(&out.image, h - 1))[x],
				 (((uint8_t *)sx_image_row(&in.image, h - 2))[x] +
				  255 * ((uint8_t *)sx_image_row(&in.image, h - 1))[x] + 128) >>
					 8);
	for (int y = 0; y < h; y++) {
		assert_int_equal(map.view[y].first, 0);
		assert_int_equal(map.view[y].end, w);
	}
	assert_true(check_guards(&in, "rectify input") && check_guards(&out, "rectify"));
	check_image_finish(&in);
	check_image_finish(&out);
	sx_rectify_map_finish(&map);
}

static void views_are_the_longest_runs(void **state)
{
	static const int radii[][2] = {{0, 0}, {1, 0}, {0, 1}, {3, 2}, {7, 7}, {40, 3}, {500, 90}};
	struct rows rows = {0};
	struct check_rng r = check_rng_seed(9);

	for (int i = 0; i < 16; i++) {
		struct sx_rig rig = rig_case_of((enum sx_lens)(i % LENSES), &r);

		rig.width = 33 + check_below(&r, 90);
		rig.height = 32 + check_below(&r, 50);
		rig.fx = rig.fy = rig_case_between(&r, 0.3, 1.2) * rig.width;
		rig.cx = rig.width / 2.;
		rig.cy = rig.height / 2.;
		if (i % 4 == 3) /* a diamond, one of whose tips is a single pixel */
			rig_case_turn(rig.rotation[0], 0, 0, 45);
		for (size_t k = 0; k < sizeof(radii) / sizeof(radii[0]); k++) {
			struct sx_rectify_map map = map_of(&rig, 0, radii[k]);

			check_views(&map, radii[k], &rows);
			sx_rectify_map_finish(&map);
		}
	}
	assert_true(rows.none > 0 && rows.single > 0 && rows.whole > 0 && rows.several > 0);
}

/* Two horns of equal width stick out above the middle of a barrel's upper edge. The left horn is the view. */
static void of_equal_runs_the_first_is_the_view(void **state)
{
	struct sx_rig rig = rig_case_identity(641, 481);
	struct rows rows = {0};
	struct sx_rectify_map map;

	rig.raw[0] = (struct sx_raw_camera){500, 500, 320, 240, SX_LENS_PLUMB_BOB, {-0.2}};
	rig.width = 161;
	rig.height = 121;
	rig.fx = rig.fy = 80;
	rig.cx = 80;
	rig.cy = 60;
	map = map_of(&rig, 0, no_radius);
	check_views(&map, no_radius, &rows);
	assert_true(rows.several > 4 && rows.equal > 4);
	sx_rectify_map_finish(&map);
}

static void a_camera_that_looks_away_shows_nothing(void **state)
{
	const int radius[2] = {4, 3};

	for (int turn = 90; turn <= 270; turn += 90) {
		struct sx_rig rig = rig_case_identity(64, 48);
		struct sx_rectify_map map;
		struct check_image in, out;
		struct check_rng r = check_rng_seed(1);
		struct rows rows = {0};

		rig_case_turn(rig.rotation[0], 0, turn, 0);
		map = map_of(&rig, 0, radius);
		for (int i = 0; i < map.stride * map.height; i++)
			assert_true(map.place[i] == SX_RECTIFY_OUTSIDE && map.part[i] == 0);
		check_views(&map, radius, &rows);
		assert_int_equal(rows.none, 48);
		check_image_init(&in, SX_PIXEL_U8, 64, 48, 0);
		check_image_init(&out, SX_PIXEL_U8, 64, 48, 0);
		check_fill(&in.image, CHECK_NOISE, &r);
		check_fill(&out.image, CHECK_NOISE, &r);
		sx_rectify(&in.image, &out.image, &map, (struct sx_stretch){0, 0});
		for (int i = 0; i < 64 * 48; i++)
			assert_int_equal(((uint8_t *)out.image.data)[i], 0);
		check_image_finish(&in);
		check_image_finish(&out);
		sx_rectify_map_finish(&map);
	}
}

/* Interpolates in the grey image of the full raw image, in whole numbers of 1/65536. */
static int between(const struct sx_image *grey, uint32_t place, uint32_t part)
{
	const uint8_t *upper = (uint8_t *)sx_image_row(grey, (int)(place >> 16)) + (place & 0xffff);
	const uint8_t *lower = upper + grey->pitch;
	int a = part & 255, b = (int)(part >> 8);
	int sum =
		(256 - b) * ((256 - a) * upper[0] + a * upper[1]) + b * ((256 - a) * lower[0] + a * lower[1]);

	return (int)floor(sum / 65536. + 0.5);
}

/*
 * Checks one format. The raw image ends in memory with its last pixel, so that a sanitizer sees a read beyond
 * it.
 */
static void check_format(enum sx_pixel pixel, const struct sx_rig *rig, size_t padding, struct check_rng *r)
{
	const size_t row = (size_t)rig->raw_width * sx_pixel_bytes(pixel);
	struct sx_image raw = {NULL, rig->raw_width, rig->raw_height, row + padding, pixel};
	size_t bytes = raw.pitch * (size_t)(raw.height - 1) + row;
	struct sx_rectify_map map = map_of(rig, 0, no_radius);
	struct sx_stretch stretch;
	struct check_image grey, out;

	raw.data = malloc(bytes);
	assert_non_null(raw.data);
	for (size_t i = 0; i < bytes; i++)
		((uint8_t *)raw.data)[i] = (uint8_t)check_random(r);
	check_image_init(&grey, SX_PIXEL_U8, raw.width, raw.height, 0);
	check_image_init(&out, SX_PIXEL_U8, map.width, map.height, 7);
	stretch = sx_ingest_stretch(&raw, &raw);
	if (pixel == SX_PIXEL_Y16 && padding)
		stretch = (struct sx_stretch){0, UINT16_MAX}; /* wider than this image needs */
	sx_ingest(&raw, &grey.image, stretch);
	sx_rectify(&raw, &out.image, &map, stretch);
	for (int i = 0; i < map.width * map.height; i++) {
		int x = i % map.width, y = i / map.width, got = ((uint8_t *)sx_image_row(&out.image, y))[x];

		if (is_outside(&map, x, y))
			assert_int_equal(got, 0);
		else
			assert_int_equal(got, between(&grey.image, place_at(&map, x, y),
						      map.part[y * map.stride + x]));
	}
	assert_true(check_guards(&out, sx_pixel_name(pixel)));
	free(raw.data);
	check_image_finish(&grey);
	check_image_finish(&out);
	sx_rectify_map_finish(&map);
}

static void each_format_is_read(void **state)
{
	static const enum sx_pixel formats[] = {SX_PIXEL_U8,   SX_PIXEL_Y16,  SX_PIXEL_YUYV,
						SX_PIXEL_UYVY, SX_PIXEL_NV12, SX_PIXEL_RGB24};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct check_rng r = check_rng_seed(i);

		for (int lens = 0; lens < LENSES; lens++) {
			struct sx_rig rig = rig_case_of((enum sx_lens)lens, &r);

			if (IS_SLOW && lens != (int)i % LENSES)
				continue;
			rig.fx = rig.fy = 400; /* the view contains all four borders */
			check_format(formats[i], &rig, 0, &r);
			check_format(formats[i], &rig, 37, &r);
			rig = rig_case_identity(64, 48);
			check_format(formats[i], &rig, 1, &r);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_are_rounded_positions),
		cmocka_unit_test(nothing_is_shown_twice),
		cmocka_unit_test(identity_is_the_raw_image),
		cmocka_unit_test(views_are_the_longest_runs),
		cmocka_unit_test(of_equal_runs_the_first_is_the_view),
		cmocka_unit_test(a_camera_that_looks_away_shows_nothing),
		cmocka_unit_test(each_format_is_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
