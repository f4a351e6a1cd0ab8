/*
 * Tests the synthetic street through raw cameras. Rectified, it must equal the street that ideal cameras see.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/source.h"
#include "stages/rectify/rectify.h"
#include "stages/rectify/rig.h"
#include "tests/capture/scene/scene_case.h"
#include "tests/emulated.h"

#define WIDE 640
#define HIGH 240
#define DEGREE (3.14159265358979323846 / 180)

static const char *const lenses[] = {"plain", "wide", "fisheye"};
#define LENSES 3

static struct sx_rig rig_of(const char *name, int width, int height)
{
	const struct sx_scene_params p = {NULL, 1, width, height, name};
	struct sx_rig rig;
	struct sx_why why;

	assert_int_equal(sx_scene_rig(&p, &rig, &why), 0);
	return rig;
}

/* Returns the hash of the first three pairs of a source. */
static uint64_t hash_source(const struct sx_source_params *p)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	struct sx_source *s;
	struct sx_pair pair;
	struct sx_why why;

	assert_int_equal(sx_source_open(&s, p, 1, &why), 0);
	for (int i = 0; i < 3; i++) {
		struct street images = {0};

		assert_int_equal(sx_source_next(s, &pair, &why), 1);
		images.left = pair.left;
		images.right = pair.right;
		h = (h ^ hash_images(&images)) * UINT64_C(0x100000001b3);
		sx_source_release(s, &pair);
	}
	sx_source_close(s);
	return h;
}

/*
 * The hash of ideal lenses is from before other lenses existed. The hash of raw lenses shows later changes.
 */
static void test_the_same_bytes_of_a_source(void **state)
{
	static const struct {
		struct sx_source_params p;
		uint64_t hash;
	} stored[] = {
		{{.seed = 1, .lenses = "ideal"}, UINT64_C(0xaf697042d7e89390)},
		{{.seed = 9, .width = 640, .height = 480, .lenses = ""}, UINT64_C(0x42ee408e29f94595)},
		{{.seed = 2, .width = 320, .height = 200, .scene = "verge"}, UINT64_C(0x13972db33dd13071)},
		{{.seed = 3, .width = 97, .height = 61, .scene = "ramp"}, UINT64_C(0xc5258a6ba34651d8)},
		{{.seed = 1, .width = 320, .height = 200, .lenses = "plain"}, UINT64_C(0x5329deaad8507e8d)},
		{{.seed = 2, .width = 320, .height = 200, .lenses = "wide", .scene = "climb"},
		 UINT64_C(0x6b2eb0fe02198aea)},
		{{.seed = 3, .width = 320, .height = 200, .lenses = "fisheye", .scene = "verge"},
		 UINT64_C(0x0cd1f7dd7b5c45bf)},
	};
	int wrong = 0;

	for (size_t i = 0; i < sizeof(stored) / sizeof(stored[0]); i++) {
		struct sx_source_params p = stored[i].p;
		uint64_t hash;

		p.kind = SX_SOURCE_SYNTHETIC;
		hash = hash_source(&p);
		print_message("# %s %s: 0x%016llx\n", p.scene ? p.scene : "street", p.lenses ? p.lenses : "-",
			      (unsigned long long)hash);
		wrong += hash != stored[i].hash;
	}
	assert_int_equal(wrong, 0);
}

static void test_a_source_tells_its_rig(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_SYNTHETIC, .width = 96, .height = 64, .seed = 1};
	struct sx_camera c;
	struct sx_source *s;
	struct sx_why why;

	assert_int_equal(sx_source_open(&s, &p, 1, &why), 0);
	assert_null(sx_source_info(s)->rig);
	sx_source_close(s);
	p.lenses = "wide";
	assert_int_equal(sx_source_open(&s, &p, 1, &why), 0);
	sx_scene_camera(&(struct sx_scene_params){.width = 96, .height = 64}, &c);
	assert_int_equal(sx_source_info(s)->rig->raw[1].lens, SX_LENS_RATIONAL);
	assert_true(sx_source_info(s)->rig->fx == c.fx && sx_source_info(s)->rig->cy == c.cy);
	assert_true(sx_source_info(s)->rig->baseline_m == c.baseline_m);
	assert_true(sx_source_info(s)->camera->fx == c.fx);
	assert_int_equal(sx_source_info(s)->rig->raw_width, sx_source_info(s)->width);
	sx_source_close(s);
	/* the rectified size differs from the raw size */
	p.rectified_width = 64;
	p.rectified_height = 48;
	assert_int_equal(sx_source_open(&s, &p, 1, &why), 0);
	sx_scene_camera(&(struct sx_scene_params){.width = 64, .height = 48}, &c);
	assert_true(sx_source_info(s)->width == 96 && sx_source_info(s)->rig->raw_width == 96);
	assert_true(sx_source_info(s)->height == 64 && sx_source_info(s)->rig->raw_height == 64);
	assert_true(sx_source_info(s)->rig->width == 64 && sx_source_info(s)->rig->height == 48);
	assert_true(sx_source_info(s)->rig->fx == c.fx && sx_source_info(s)->camera->fx == c.fx);
	sx_source_close(s);
	p.lenses = "goggles";
	assert_int_equal(sx_source_open(&s, &p, 1, &why), -22);
	assert_string_equal(why.text, "unknown lenses 'goggles', allowed ideal, plain, wide, fisheye");
}

/* Returns the angle between the middles of the left and the right edge of the raw image, degrees. */
static double angle_across(const struct sx_rig *rig, int side)
{
	double u[2], v[2], ray[2][3], dot = 0, length[2] = {0};

	for (int end = 0; end < 2; end++) {
		assert_true(sx_rig_unproject(rig, side, end * (rig->raw_width - 1), rig->raw[side].cy,
					     &u[end], &v[end]));
		ray[end][0] = (u[end] - rig->cx) / rig->fx;
		ray[end][1] = (v[end] - rig->cy) / rig->fy;
		ray[end][2] = 1;
	}
	for (int k = 0; k < 3; k++) {
		dot += ray[0][k] * ray[1][k];
		length[0] += ray[0][k] * ray[0][k];
		length[1] += ray[1][k] * ray[1][k];
	}
	return acos(dot / sqrt(length[0] * length[1])) / DEGREE;
}

/* Returns the angle between the two cameras in degrees, from the trace of R1 R2^T. */
static double angle_between(const struct sx_rig *rig)
{
	double trace = 0;

	for (int i = 0; i < 9; i++)
		trace += rig->rotation[0][i] * rig->rotation[1][i];
	return acos(0.5 * (trace - 1)) / DEGREE;
}

static void check_rig(const char *name, int width, int height)
{
	static const int radius[2] = {0, 0};
	struct sx_rig rig = rig_of(name, width, height);
	struct sx_why why = {""};
	int outside = 0;

	if (sx_rig_check(&rig, &why) < 0)
		print_message("# %s %dx%d: %s\n", name, width, height, why.text);
	assert_string_equal(why.text, "");
	assert_false(sx_rig_is_rectified(&rig));
	assert_true(rig.raw[1].fx < 0.99 * rig.raw[0].fx && rig.raw[1].fx > 0.98 * rig.raw[0].fx);
	assert_true(angle_between(&rig) > 1.5 && angle_between(&rig) < 2);
	for (int side = 0; side < 2; side++) {
		struct sx_rectify_map map;

		assert_int_equal(sx_rectify_map_init(&map, &rig, side, radius), 0);
		for (int y = 0; y < height; y++)
			for (int x = 0; x < width; x++)
				outside += map.place[(size_t)y * (size_t)map.stride + (size_t)x] ==
					   SX_RECTIFY_OUTSIDE;
		sx_rectify_map_finish(&map);
	}
	assert_int_equal(outside, 0);
}

static void test_rigs_show_all_of_the_rectified_image(void **state)
{
	static const int sizes[][2] = {{1242, 375}, {640, 480}, {480, 640}, {32, 32}, {333, 40}};
	struct sx_rig rig = rig_of(NULL, 640, 480);

	if (EMULATED("tests/stages/rectify has what rectification computes there"))
		return;
	assert_true(sx_rig_is_rectified(&rig));
	for (int i = 0; i < LENSES; i++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
			check_rig(lenses[i], sizes[k][0], sizes[k][1]);
	for (int side = 0; side < 2; side++) {
		rig = rig_of("fisheye", 1242, 375);
		print_message("# fisheye, side %d: %.1f degrees across\n", side, angle_across(&rig, side));
		assert_true(angle_across(&rig, side) > 120);
	}
}

/* A street as raw cameras see it, the same rectified, and as ideal cameras see it. Without noise. */
struct seen {
	const char *lens;
	struct street ideal;
	struct sx_image raw[2], rectified[2];
};

/* Rectifies the raw images as images of `rig`. */
static void rectify(struct seen *s, const struct sx_rig *rig)
{
	static const int radius[2] = {0, 0};

	for (int side = 0; side < 2; side++) {
		struct sx_rectify_map map;

		assert_int_equal(sx_rectify_map_init(&map, rig, side, radius), 0);
		sx_rectify(&s->raw[side], &s->rectified[side], &map, (struct sx_stretch){0});
		sx_rectify_map_finish(&map);
	}
}

static void see(struct seen *s, const char *lens, const char *name, unsigned seed)
{
	struct sx_scene_params p = {name, seed, WIDE, HIGH, lens};
	struct sx_scene *scene;
	struct sx_rig rig;
	struct sx_why why;

	s->lens = lens;
	open_street(&s->ideal, name, seed, WIDE, HIGH);
	s->ideal.scene->exposure.noise = 0;
	draw(&s->ideal, 3);
	assert_int_equal(sx_scene_create(&scene, &p, &why), 0);
	scene->exposure.noise = 0;
	for (int side = 0; side < 2; side++) {
		assert_int_equal(sx_image_init(&s->raw[side], SX_PIXEL_U8, WIDE, HIGH), 0);
		assert_int_equal(sx_image_init(&s->rectified[side], SX_PIXEL_U8, WIDE, HIGH), 0);
	}
	sx_scene_render(scene, 3, &s->raw[0], &s->raw[1]);
	sx_scene_destroy(scene);
	rig = rig_of(lens, WIDE, HIGH);
	rectify(s, &rig);
}

static void close_seen(struct seen *s)
{
	close_street(&s->ideal);
	for (int side = 0; side < 2; side++) {
		sx_image_finish(&s->raw[side]);
		sx_image_finish(&s->rectified[side]);
	}
}

static int grey(const struct sx_image *img, int x, int y)
{
	return ((const uint8_t *)sx_image_row(img, y))[x];
}

struct difference {
	double mean, psnr;
};

static const struct sx_image *ideal_image(const struct seen *s, int side)
{
	return side ? &s->ideal.right : &s->ideal.left;
}

/* Returns the difference of the rectified left and right images from the ideal images. */
static struct difference difference_of(const struct seen *s)
{
	double sum = 0, squares = 0, n = 2.0 * WIDE * HIGH;
	struct difference d;

	for (int side = 0; side < 2; side++)
		for (int i = 0; i < WIDE * HIGH; i++) {
			int e = grey(&s->rectified[side], i % WIDE, i / WIDE) -
				grey(ideal_image(s, side), i % WIDE, i / WIDE);

			sum += abs(e);
			squares += e * e;
		}
	d = (struct difference){sum / n, 10 * log10(255.0 * 255.0 * n / squares)};
	print_message("# mean difference %.2f, PSNR %.1f dB\n", d.mean, d.psnr);
	return d;
}

/* Rotates r about axis x (0), y (1) or z (2). */
static void turn(double r[9], int axis, double degrees)
{
	int a = (axis + 1) % 3, b = (axis + 2) % 3;
	double s = sin(degrees * DEGREE), c = cos(degrees * DEGREE);

	for (int k = 0; k < 3; k++) {
		double p = r[3 * a + k], q = r[3 * b + k];

		r[3 * a + k] = c * p - s * q;
		r[3 * b + k] = s * p + c * q;
	}
}

/* Small errors that a calibration can have. */
#define FAULTS 7

static struct sx_rig wrong_rig(const char *lens, int fault)
{
	struct sx_rig rig = rig_of(lens, WIDE, HIGH);

	for (int side = 0; side < 2; side++) {
		struct sx_raw_camera *c = &rig.raw[side];

		if (fault < 3)
			turn(rig.rotation[side], fault, 0.2);
		c->fx *= fault == 3 ? 1.005 : 1;
		c->fy *= fault == 4 ? 1.01 : 1;
		c->cx += fault == 5 ? 1 : 0;
		c->distortion[0] += fault == 6 ? 0.01 : 0;
	}
	return rig;
}

/*
 * Interpolation alone differs by 1.9 to 3.6 grey levels for all lenses and scenes. Any error of the rig adds
 * to this. The bytes are the same on every machine (see above). Where drawing is slow, the test therefore
 * takes each lens, each scene and each fault once.
 */
static void test_rectified_it_is_the_ideal_picture(void **state)
{
	static const char *const scenes[] = {"street", "open", "verge"};

	if (EMULATED("tests/stages/rectify has what rectification computes there"))
		return;
	for (int i = 0; i < LENSES; i++)
		for (unsigned k = 0; k < 3; k++) {
			struct difference d;
			struct seen s;

			if (IS_SLOW && k != (unsigned)i)
				continue;
			print_message("# %s %s\n", lenses[i], scenes[k]);
			see(&s, lenses[i], scenes[k], 1 + k);
			d = difference_of(&s);
			assert_true(d.mean < 3.8 && d.psnr > 29);
			for (int fault = 0; fault < FAULTS; fault++) {
				struct sx_rig rig = wrong_rig(lenses[i], fault);

				if (IS_SLOW ? fault % LENSES != i : k > 0)
					continue;
				rectify(&s, &rig);
				assert_true(difference_of(&s).mean > 1.2 * d.mean);
			}
			close_seen(&s);
		}
}

#define BLOCK_WIDE 40
#define BLOCK_HIGH 24
#define UNKNOWNS 4

/* Returns true if the surface at the left pixel continues around it and the right camera sees it too. */
static bool is_smooth(const struct sx_scene_truth *t, int x, int y)
{
	size_t at = (size_t)y * (size_t)t->width + (size_t)x;
	double d = (double)t->disparity[at];

	if (d <= 0 || x - d < 2)
		return false;
	for (int j = -2; j <= 2; j++)
		for (int i = -2; i <= 2; i++) {
			size_t near = at + (size_t)(j * t->width + i);

			if (!t->visible[near] || fabs((double)t->disparity[near] - d) > 1)
				return false;
		}
	return true;
}

/* Solves the normal equations in place by elimination. Returns false if they are not positive definite. */
static bool solve(double a[UNKNOWNS][UNKNOWNS + 1])
{
	for (int i = 0; i < UNKNOWNS; i++) {
		if (a[i][i] < 1e-3)
			return false;
		for (int k = UNKNOWNS; k >= i; k--)
			a[i][k] /= a[i][i];
		for (int j = 0; j < UNKNOWNS; j++)
			for (int k = UNKNOWNS; j != i && k >= i; k--)
				a[j][k] -= a[j][i] * a[i][k];
	}
	return true;
}

/*
 * Two pictures of the same objects. A pixel (x, y) of `one` matches x - disparity of `other`, or x if truth
 * is NULL.
 */
struct two {
	const struct sx_image *one, *other;
	const struct sx_scene_truth *truth;
};

/* Adds a pixel to the normal equations: other = gain * one + offset - dx * d one/dx - dy * d one/dy. */
static bool add_pixel(const struct two *t, int x, int y, double a[UNKNOWNS][UNKNOWNS + 1])
{
	double at = x, part, row[UNKNOWNS + 1];

	if (t->truth && !is_smooth(t->truth, x, y))
		return false;
	if (t->truth)
		at -= (double)t->truth->disparity[y * WIDE + x];
	part = at - (int)at;
	row[0] = -0.5 * (grey(t->one, x, y + 1) - grey(t->one, x, y - 1));
	row[1] = -0.5 * (grey(t->one, x + 1, y) - grey(t->one, x - 1, y));
	row[2] = grey(t->one, x, y);
	row[3] = 1;
	row[4] = (1 - part) * grey(t->other, (int)at, y) + part * grey(t->other, (int)at + 1, y);
	for (int i = 0; i < UNKNOWNS; i++)
		for (int k = 0; k <= UNKNOWNS; k++)
			a[i][k] += row[i] * row[k];
	return true;
}

/*
 * Computes how far a block of `one` lies lower [0] and further right [1] in `other`, px. Returns false if the
 * block shows too little: most of it must be usable, with a contrast of 4 grey levels per px (rms) in both
 * directions.
 */
static bool apart_in_block(const struct two *t, int x0, int y0, double ret[2])
{
	double a[UNKNOWNS][UNKNOWNS + 1] = {{0}};
	int n = 0;

	for (int y = y0; y < y0 + BLOCK_HIGH; y++)
		for (int x = x0; x < x0 + BLOCK_WIDE; x++)
			n += add_pixel(t, x, y, a);
	if (n < BLOCK_WIDE * BLOCK_HIGH / 2 || a[0][0] < 16.0 * n || a[1][1] < 16.0 * n || !solve(a))
		return false;
	ret[0] = a[0][UNKNOWNS];
	ret[1] = a[1][UNKNOWNS];
	return true;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * Offset down [0] and to the right [1], px: the median of the blocks, and the magnitude that 9 of 10 blocks
 * keep.
 */
struct apart {
	int blocks;
	double median[2], most[2];
};

static struct apart apart_of(const char *what, const struct two *t)
{
	static double all[2][(WIDE / BLOCK_WIDE) * (HIGH / BLOCK_HIGH)];
	struct apart r = {0};

	for (int y = 2; y + BLOCK_HIGH + 2 <= HIGH; y += BLOCK_HIGH)
		for (int x = 2; x + BLOCK_WIDE + 2 <= WIDE; x += BLOCK_WIDE) {
			double one[2];

			if (!apart_in_block(t, x, y, one))
				continue;
			all[0][r.blocks] = one[0];
			all[1][r.blocks++] = one[1];
		}
	assert_true(r.blocks >= 20);
	for (int axis = 0; axis < 2; axis++) {
		qsort(all[axis], (size_t)r.blocks, sizeof(all[axis][0]), compare);
		r.median[axis] = all[axis][r.blocks / 2];
		for (int i = 0; i < r.blocks; i++)
			all[axis][i] = fabs(all[axis][i]);
		qsort(all[axis], (size_t)r.blocks, sizeof(all[axis][0]), compare);
		r.most[axis] = all[axis][r.blocks * 9 / 10];
	}
	print_message("# %s: %d blocks apart by %.3f px down, %.3f aside; 9 of 10 within %.3f, %.3f\n", what,
		      r.blocks, r.median[0], r.median[1], r.most[0], r.most[1]);
	return r;
}

/* Compares each rectified image with the ideal image of its side. */
static void check_places(const struct seen *s)
{
	for (int side = 0; side < 2; side++) {
		struct two t = {.one = ideal_image(s, side), .other = &s->rectified[side]};
		struct apart r = apart_of(side ? "right" : "left", &t);

		for (int axis = 0; axis < 2; axis++)
			assert_true(fabs(r.median[axis]) < 0.03 && r.most[axis] < 0.15);
	}
}

/* Compares the left with the right image. Stereo needs the same point in the same row of both. */
static struct apart rows_of(const struct seen *s, const struct sx_image *left, const struct sx_image *right)
{
	struct two t = {.one = left, .other = right, .truth = &s->ideal.truth};

	return apart_of("pair", &t);
}

/* Compares with an ideal pair. Offsets of its blocks show the limit of the measurement. */
static void check_rows(const struct seen *s)
{
	struct apart ideal = rows_of(s, &s->ideal.left, &s->ideal.right),
		     r = rows_of(s, &s->rectified[0], &s->rectified[1]);

	assert_true(fabs(r.median[0]) < 0.03 && fabs(r.median[1]) < 0.05);
	assert_true(r.most[0] < ideal.most[0] + 0.08 && r.most[0] < 0.15);
}

static void test_things_are_where_truth_says(void **state)
{
	if (EMULATED(SAME_BYTES))
		return;
	for (int i = 0; i < LENSES; i++)
		for (unsigned seed = 1; seed < (IS_SLOW ? 2 : 3); seed++) {
			struct sx_rig rig = rig_of(lenses[i], WIDE, HIGH);
			struct seen s;

			print_message("# %s %u\n", lenses[i], seed);
			see(&s, lenses[i], "street", seed);
			check_places(&s);
			check_rows(&s);
			turn(rig.rotation[1], 0, 0.1); /* 0.65 px */
			rectify(&s, &rig);
			assert_true(fabs(rows_of(&s, &s.rectified[0], &s.rectified[1]).median[0]) > 0.4);
			close_seen(&s);
		}
}

/* Returns the mean difference between pictures around the middle, of which b is shifted to the right by dx. */
static double difference(const struct sx_image *a, const struct sx_image *b, int dx)
{
	double sum = 0;
	int n = 0;

	for (int y = a->height / 2 - 30; y < a->height / 2 + 30; y++)
		for (int x = a->width / 2 - 60; x < a->width / 2 + 60; x++, n++)
			sum += fabs((double)((uint8_t *)sx_image_row(a, y))[x] -
				    ((uint8_t *)sx_image_row(b, y))[x + dx]);
	return sum / n;
}

/* Draws the right picture of a street without noise, and with this error of the right camera. */
static void draw_right(const struct sx_scene_error *e, struct sx_image *left, struct sx_image *right)
{
	const struct sx_scene_params p = {.seed = 3, .width = WIDE, .height = HIGH, .right = *e};
	struct sx_scene *s;
	struct sx_rig rig;
	struct sx_why why;

	assert_int_equal(sx_scene_create(&s, &p, &why), 0);
	assert_int_equal(sx_scene_rig(&p, &rig, &why), 0);
	assert_true(sx_rig_is_rectified(&rig)); /* it has no part of the error */
	assert_int_equal(sx_image_init(left, SX_PIXEL_U8, WIDE, HIGH), 0);
	assert_int_equal(sx_image_init(right, SX_PIXEL_U8, WIDE, HIGH), 0);
	s->exposure.noise = 0;
	sx_scene_render(s, 9, left, right);
	sx_scene_destroy(s);
}

static void test_a_right_camera_against_its_calibration(void **state)
{
	const double fx = 721.5 / 1242 * WIDE, fy = fx;
	const struct sx_scene_error errors[] = {
		{0},
		{.shift_px = 3},
		{.yaw_deg = -atan(3 / fx) /
			    (3.14159265358979323846 / 180)}, /* to the left: shows things 3 px right */
		{.pitch_deg = atan(3 / fy) / (3.14159265358979323846 / 180)},
		{.shift_px = 0.5},
	};
	struct sx_image left[5], right[5];
	double down = 0;

	if (EMULATED(SAME_BYTES))
		return;
	for (int i = 0; i < 5; i++)
		draw_right(&errors[i], &left[i], &right[i]);
	for (int i = 1; i < 5; i++)
		assert_true(difference(&left[0], &left[i], 0) < 0.6);
	assert_true(difference(&right[0], &right[1], 3) < 0.6 && difference(&right[0], &right[1], 0) > 3);
	assert_true(difference(&right[0], &right[2], 3) < 1 && difference(&right[0], &right[2], 0) > 3);
	/* half a pixel is as far from no shift as from one of a pixel */
	assert_true(difference(&right[0], &right[4], 0) > 0.5 && difference(&right[0], &right[4], 1) > 0.5);
	for (int y = HIGH / 2 - 30; y < HIGH / 2 + 30; y++)
		for (int x = WIDE / 2 - 60; x < WIDE / 2 + 60; x++)
			down += fabs((double)((uint8_t *)sx_image_row(&right[0], y))[x] -
				     ((uint8_t *)sx_image_row(&right[3], y + 3))[x]);
	assert_true(down / 7200 < 1);
	for (int i = 0; i < 5; i++) {
		sx_image_finish(&left[i]);
		sx_image_finish(&right[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_bytes_of_a_source),
		cmocka_unit_test(test_a_source_tells_its_rig),
		cmocka_unit_test(test_rigs_show_all_of_the_rectified_image),
		cmocka_unit_test(test_rectified_it_is_the_ideal_picture),
		cmocka_unit_test(test_things_are_where_truth_says),
		cmocka_unit_test(test_a_right_camera_against_its_calibration),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
