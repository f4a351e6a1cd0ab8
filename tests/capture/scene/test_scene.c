/*
 * Tests the synthetic street: the same bytes on every machine, and a truth that matches the pictures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stixel.h>

#include "base/why.h"
#include "capture/scene/scene_world.h"
#include "tests/capture/scene/scene_case.h"
#include "tests/emulated.h"

/*
 * Stored results elsewhere depend on these bytes: change the numbers only with a reason in the commit.
 */
static void test_the_same_bytes_on_every_machine(void **state)
{
	static const struct {
		const char *name;
		unsigned seed;
		uint32_t frame;
		uint64_t images, truth;
	} stored[] = {
		{"street", 1, 0, UINT64_C(0xc31cca8f67d3a3b9), UINT64_C(0xb32fa7505eddfc5e)},
		{"street", 7, 123456, UINT64_C(0x8aad8919a37abe43), UINT64_C(0xf3af172dbcb3a2ea)},
		{"open", 3, 40, UINT64_C(0xf91f81cdceb6e7a8), UINT64_C(0xddb67c7fc61e6792)},
		{"climb", 2, 5, UINT64_C(0x59a12395588fea19), UINT64_C(0xaf4b857740a1b462)},
		{"fall", 4, 77, UINT64_C(0xd0cb4e00094d741e), UINT64_C(0x1037e71d51c394be)},
		{"ramp", 5, 31, UINT64_C(0x9782ec5f33d6603f), UINT64_C(0x5a9a26049eb60b29)},
		{"verge", 6, 12, UINT64_C(0xbbc2e897106bf99f), UINT64_C(0xdc58bb9f8c0f5ae8)},
		{"night", 6, 12, UINT64_C(0xe736afec4e40f368), UINT64_C(0x05743a496eb47e5e)},
		{"rain", 3, 12, UINT64_C(0x28c64ce1e189d069), UINT64_C(0x913310f6f2603809)},
		{"rain", 2, 5, UINT64_C(0x796470eb98905767), UINT64_C(0x26908a19088af575)},
		{"glass", 6, 12, UINT64_C(0xb36b81649ac50e2f), UINT64_C(0x22cede7b95d7f2aa)},
		{"cargo", 7, 9, UINT64_C(0xbbd5bf0365ad0df5), UINT64_C(0x3988d922908e8084)},
		{"room", 8, 15, UINT64_C(0xe000f97c4c8519ac), UINT64_C(0x5258f7c2a6dfbc1f)},
		{"room", 15, 555, UINT64_C(0x1f4e1487e0282439), UINT64_C(0x2144311f5114c9ad)},
	};

	for (size_t i = 0; i < sizeof(stored) / sizeof(stored[0]); i++) {
		struct street s;

		open_street(&s, stored[i].name, stored[i].seed, W, H);
		draw(&s, stored[i].frame);
		print_message("# %s %u %u: 0x%016llx, 0x%016llx\n", stored[i].name, stored[i].seed,
			      (unsigned)stored[i].frame, (unsigned long long)hash_images(&s),
			      (unsigned long long)hash_truth(&s));
		assert_true(hash_images(&s) == stored[i].images);
		assert_true(hash_truth(&s) == stored[i].truth);
		close_street(&s);
	}
}

static void test_a_frame_does_not_depend_on_the_ones_before(void **state)
{
	struct street a, b;

	if (EMULATED(SAME_BYTES))
		return;
	open_street(&a, NULL, 5, W, H);
	open_street(&b, "street", 5, W, H);
	for (uint32_t i = 0; i < 4; i++)
		draw(&a, i);
	draw(&a, 900);
	draw(&b, 900);
	assert_true(hash_images(&a) == hash_images(&b));
	draw(&b, 901);
	assert_false(hash_images(&a) == hash_images(&b));
	close_street(&b);
	open_street(&b, "street", 6, W, H);
	draw(&b, 900);
	assert_false(hash_images(&a) == hash_images(&b));
	close_street(&a);
	close_street(&b);
}

static void test_wrong_parameters(void **state)
{
	struct sx_scene_params p = {"strete", 1, W, H};
	struct sx_scene *s = NULL;
	struct sx_why why;

	assert_int_equal(sx_scene_create(&s, &p, &why), -22);
	assert_string_equal(
		why.text,
		"unknown scene 'strete', allowed street, open, climb, fall, ramp, verge, cargo, room, "
		"traffic, crossing, bend, yard, night, rain, glass");
	p = (struct sx_scene_params){"street", 1, 31, H};
	assert_int_equal(sx_scene_create(&s, &p, &why), -22);
	assert_string_equal(why.text, "scene size 31x180 is outside 32x32 to 4096x2160");
	assert_null(s);
	sx_scene_destroy(NULL);
}

/* Ground lies on the road's line, or on the pavement, one kerb (9 cm) higher. It lies nowhere else. */
static void test_ground_is_a_plane(void **state)
{
	struct street s;
	int road = 0, pavement = 0;

	if (EMULATED(SAME_BYTES))
		return;
	open_street(&s, "street", 2, W, H);
	for (uint32_t frame = 0; frame < 100; frame += 33) {
		const struct sx_scene_truth *t = &s.truth;
		const struct sx_camera *c = &s.truth.camera;
		double raised;

		draw(&s, frame);
		raised = c->height_m / (c->height_m - 0.09);
		assert_true(t->road_slope > 0.9 * c->baseline_m / c->height_m);
		for (int i = 0; i < W * H; i++) {
			double line = t->road_slope * (i / W) + t->road_offset, d = (double)t->disparity[i];

			if (t->kind[i] != STIXEL_GROUND)
				continue;
			if (d > line - 1e-3 && d < line + 1e-3)
				road++;
			else if (d > line * raised - 1e-3 && d < line * raised + 1e-3)
				pavement++;
			else /* the front of the kerb */
			{
				if (!(d > line && d < line * raised))
					print_message("# y %d x %d d %f line %f raised %f\n", i / W, i % W, d,
						      line, line * raised);
				assert_true(d > line && d < line * raised);
			}
		}
	}
	assert_true(road > 20000 && pavement > 2000);
	close_street(&s);
}

/* Predicts right pixels from left pixels: gain and offset by least squares, then the residual. */
struct fit {
	double n, x, y, xx, xy;
};

static double residual(const struct street *s, double shift, double gain, double offset, struct fit *f)
{
	const struct sx_scene_truth *t = &s->truth;
	double sum = 0;
	long n = 0;

	for (int y = 0; y < H; y++) {
		const uint8_t *left = sx_image_row(&s->left, y), *right = sx_image_row(&s->right, y);

		for (int x = 1; x < W - 1; x++) {
			size_t at = (size_t)(y * W + x);
			double d = (double)t->disparity[at] + shift, rx = x - d, a, want;
			int i = (int)rx;

			/* inside one object, away from its edges and from what hides it in the right image */
			if (!t->visible[at - 1] || !t->visible[at] || !t->visible[at + 1] || rx < 1 ||
			    i + 1 >= W || t->object[at - 1] != t->object[at] ||
			    t->object[at + 1] != t->object[at] || t->kind[at] != STIXEL_OBJECT)
				continue;
			a = rx - i;
			want = right[i] * (1 - a) + right[i + 1] * a;
			if (left[x] == 255 || want >= 254) /* saturated in one of the images */
				continue;
			if (f) {
				f->n++;
				f->x += left[x];
				f->y += want;
				f->xx += (double)left[x] * left[x];
				f->xy += left[x] * want;
			}
			sum += want > gain * left[x] + offset ? want - gain * left[x] - offset
							      : gain * left[x] + offset - want;
			n++;
		}
	}
	return sum / (double)(n ? n : 1);
}

/*
 * noise: factor on the noise of the images. share: largest residual, as a share of the residual at an offset
 * of half a pixel.
 */
static void check_surface(const char *name, unsigned seed, float noise, double share)
{
	struct street s;
	struct fit f = {0};
	double gain, offset, exact, off[2];

	open_street(&s, name, seed, W, H);
	put_out_light(&s);
	s.scene->exposure.noise *= noise;
	draw(&s, 10 * seed);
	residual(&s, 0, 1, 0, &f);
	assert_true(f.n > W * H / 8);
	gain = (f.n * f.xy - f.x * f.y) / (f.n * f.xx - f.x * f.x);
	offset = (f.y - gain * f.x) / f.n;
	assert_true(gain > 0.85 && gain < 1.15);
	exact = residual(&s, 0, gain, offset, NULL);
	off[0] = residual(&s, 0.5, gain, offset, NULL);
	off[1] = residual(&s, -0.5, gain, offset, NULL);
	print_message("# %s %u: %.2f, half a pixel beside %.2f, %.2f\n", name, seed, exact, off[0], off[1]);
	/* the residual is the noise of two images, and clearly smaller than at an offset of half a pixel */
	assert_true(exact < 4.5);
	assert_true(exact < share * off[0] && exact < share * off[1]);
	close_street(&s);
}

static void test_disparity_leads_to_the_same_surface(void **state)
{
	static const char *const names[] = {"street", "climb", "fall", "ramp", "verge"};

	if (EMULATED(SAME_BYTES))
		return;
	for (unsigned seed = 1; seed < 10; seed++)
		check_surface(names[seed % 5], seed, 1, 0.8);
	/* the texture of walls is weaker than noise, and little stronger than the rounding of grey levels */
	for (unsigned seed = 1; seed < 25; seed++)
		check_surface("room", seed, 0, 0.92);
}

/*
 * Compares the right picture's own depth with the left one's. A visible point is the nearest object at its
 * right pixel.
 */
static void check_hidden(const char *name)
{
	struct street s;
	long hidden = 0, seen = 0, out = 0;

	open_street(&s, name, 4, W, H);
	draw(&s, 77);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			size_t at = (size_t)(y * W + x);
			double d = (double)s.truth.disparity[at], nearest = 0;

			if (x - d < 0) {
				assert_int_equal(s.truth.visible[at], 0);
				out++;
				continue;
			}
			/* checks all facets, also those that the right picture does not show nearby */
			for (int i = 0; i < s.scene->count; i++) {
				double e = sx_view_probe(&s.scene->view[1], s.scene, i, x - d, y);

				nearest = e > nearest ? e : nearest;
			}
			if (s.truth.visible[at])
				/* hidden by an object thinner than a pixel */
				seen++, hidden += nearest > d * (1 + 1e-5) + 2e-3;
			else
				assert_true(nearest > d);
		}
	assert_true(out > 100 && seen > W * H * 3 / 4);
	assert_true(hidden < seen / 1000);
	close_street(&s);
}

static void test_hidden_pixels_are_hidden(void **state)
{
	if (EMULATED(SAME_BYTES))
		return;
	check_hidden("verge");
	check_hidden("street");
	check_hidden("ramp");
	check_hidden("room");
}

static void check_column(const struct street *s, const struct stixel *list, uint32_t n, int u, int width)
{
	int bottom = s->truth.height - 1;

	assert_true(n > 0);
	for (uint32_t i = 0; i < n; i++) {
		const struct stixel *st = &list[i];

		assert_int_equal(st->column, u);
		assert_int_equal(st->row_bottom, bottom);
		assert_true(st->row_top <= st->row_bottom);
		assert_true(st->kind <= STIXEL_SKY);
		assert_int_equal(st->support, st->row_bottom - st->row_top + 1);
		assert_true(i == 0 || list[i - 1].kind != st->kind || st->kind == STIXEL_OBJECT);
		assert_true(st->kind != STIXEL_OBJECT || st->disparity_q7 >= 128);
		assert_true(st->kind != STIXEL_SKY || st->disparity_q7 == 0);
		bottom = st->row_top - 1;
	}
	assert_int_equal(bottom, -1);
}

static void test_stixels_cover_every_column(void **state)
{
	static const int widths[] = {1, 5, 7, 32};
	struct stixel *list = calloc(W * H, sizeof(*list));
	uint32_t *offsets = calloc(W + 1, sizeof(*offsets));
	struct street s;

	open_street(&s, "street", 9, W, H);
	draw(&s, 5);
	for (size_t k = 0; k < 4; k++) {
		int columns = sx_scene_stixels(&s.truth, widths[k], list, offsets);

		assert_int_equal(columns, W / widths[k]);
		for (int u = 0; u < columns; u++)
			check_column(&s, list + offsets[u], offsets[u + 1] - offsets[u], u, widths[k]);
	}
	/* stixels of one pixel width hold exactly the values of the pixels */
	sx_scene_stixels(&s.truth, 1, list, offsets);
	for (int x = 0; x < W; x++)
		for (uint32_t i = offsets[x]; i < offsets[x + 1]; i++)
			for (int y = list[i].row_top; y <= list[i].row_bottom; y++) {
				size_t at = (size_t)(y * W + x);
				bool far = s.truth.kind[at] == STIXEL_OBJECT && s.truth.disparity[at] < 1;

				assert_int_equal(list[i].kind, far ? STIXEL_SKY : s.truth.kind[at]);
			}
	free(list);
	free(offsets);
	close_street(&s);
}

/* The road in frame n+1 is the road of frame n, moved by the change of pose. */
static void test_the_camera_moves_forward(void **state)
{
	struct street a, b;
	double moved = 0, stayed = 0;
	long n = 0;

	if (EMULATED(SAME_BYTES))
		return;
	open_street(&a, "street", 11, W, H);
	open_street(&b, "street", 11, W, H);
	draw(&a, 50);
	draw(&b, 51);
	assert_true(b.scene->pose.z - a.scene->pose.z > 0.2 && b.scene->pose.z - a.scene->pose.z < 0.45);
	for (int y = H * 6 / 10; y < H; y++)
		for (int x = 0; x < W; x++) {
			const struct sx_camera *c = &a.truth.camera;
			size_t at = (size_t)(y * W + x);
			double z, lateral, d, u, v;
			int i, j, now;

			if (a.truth.kind[at] != STIXEL_GROUND)
				continue;
			d = a.truth.road_slope * y + a.truth.road_offset;
			if ((double)a.truth.disparity[at] > d + 1e-3)
				continue; /* pavement */
			z = c->fx * c->baseline_m / d;
			lateral = (x - c->cx) / c->fx * z - (b.scene->pose.x - a.scene->pose.x);
			z -= b.scene->pose.z -
			     a.scene->pose.z; /* along the optical axis: cos(pitch) is 1 within 1e-5 */
			d = c->fx * c->baseline_m / z;
			u = c->cx + lateral / z * c->fx;
			v = (d - b.truth.road_offset) / b.truth.road_slope;
			i = (int)(u + 0.5);
			j = (int)(v + 0.5);
			if (i < 0 || i >= W || j >= H || b.truth.kind[j * W + i] != STIXEL_GROUND)
				continue;
			now = *((uint8_t *)sx_image_row(&a.left, y) + x);
			moved += abs(now - *((uint8_t *)sx_image_row(&b.left, j) + i));
			stayed += abs(now - *((uint8_t *)sx_image_row(&b.left, y) + x));
			n++;
		}
	assert_true(n > 3000);
	assert_true(moved < 0.75 * stayed);
	close_street(&a);
	close_street(&b);
}

static void test_every_size(void **state)
{
	static const int sizes[][2] = {{32, 32}, {33, 47}, {4096, 32}, {32, 2160}, {641, 239}};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct street s;
		long sum = 0;

		open_street(&s, "street", (unsigned)i, sizes[i][0], sizes[i][1]);
		draw(&s, 3);
		for (int y = 0; y < sizes[i][1]; y++)
			for (int x = 1; x < sizes[i][0]; x++) {
				const uint8_t *p = (uint8_t *)sx_image_row(&s.left, y) + x;

				sum += p[0] != p[-1];
			}
		assert_true(sum > sizes[i][0] * sizes[i][1] / 3); /* a picture, not a uniform area */
		close_street(&s);
	}
}

/* Pictures must have ground, objects, sky, depth and hidden parts to be a test of a matcher. */
static void test_streets_are_streets(void **state)
{
	if (EMULATED(SAME_BYTES))
		return;
	for (unsigned seed = 1; seed <= ENOUGH_OF(6); seed++) {
		long kinds[3] = {0}, hidden = 0, near = 0;
		struct street s;

		open_street(&s, "street", seed, W, H);
		draw(&s, 60 * seed);
		for (int i = 0; i < W * H; i++) {
			kinds[s.truth.kind[i]]++;
			hidden += !s.truth.visible[i];
			near += s.truth.disparity[i] > 10;
		}
		assert_true(kinds[STIXEL_GROUND] > W * H / 8);
		assert_true(kinds[STIXEL_OBJECT] > W * H / 5);
		assert_true(kinds[STIXEL_SKY] > W * H / 60);
		assert_true(hidden > W * H / 100 && hidden < W * H / 5);
		assert_true(near > W * H / 10);
		assert_true(s.scene->count < SX_FACETS_MAX / 2);
		close_street(&s);
	}
}

/* Number of ground pixels on the flat road's line, nearer than a pavement would be, and clearly farther. */
struct ground_count {
	long flat, nearer, farther;
};

static struct ground_count count_ground(const struct sx_scene_truth *t)
{
	struct ground_count n = {0};

	for (int i = 0; i < W * H; i++) {
		double line = t->road_slope * (i / W) + t->road_offset, d = (double)t->disparity[i];

		if (t->kind[i] == STIXEL_GROUND) {
			assert_true(t->ground[i] == t->disparity[i]);
			n.nearer += d > line * 1.06 + 0.5;
			n.farther += line > 1 && d < 0.93 * line;
			n.flat += d > line - 1e-3 && d < line + 1e-3;
		}
		/* visible objects hide the ground, never the reverse */
		assert_true(t->disparity[i] >= t->ground[i]);
	}
	return n;
}

/*
 * Compares the lowest pixels of a car above ground with the ground. Both have the same distance, except for
 * the wheels' height and the bend.
 */
static void check_feet(const struct sx_scene_truth *t)
{
	long feet = 0, apart = 0;

	for (int i = 0; i < W * (H - 1); i++) {
		double d = (double)t->disparity[i], below = (double)t->ground[i + W];

		if (t->label[i] != 13 || t->kind[i + W] != STIXEL_GROUND || d < 3)
			continue;
		feet++;
		apart += below - d > 0.12 * d + 0.8 || d - below > 0.12 * d + 0.8;
	}
	assert_true(feet > 20);
	assert_true(apart <= feet / 10); /* a gap between cars shows ground far behind */
}

static void test_roads_climb_and_fall(void **state)
{
	static const char *const names[] = {"climb", "fall", "ramp"};
	long bent[3] = {0};

	if (EMULATED(SAME_BYTES))
		return;
	for (unsigned i = 0; i < 12; i++) {
		struct ground_count n;
		struct street s;

		open_street(&s, names[i % 3], i, W, H);
		draw(&s, 29 * i);
		n = count_ground(&s.truth);
		assert_true(n.flat > W * H / 20); /* the road is flat at the camera */
		/* a car in front may hide nearly all of the ground */
		assert_true(i % 3 == 1 ? n.nearer == 0 : n.farther == 0);
		bent[i % 3] += i % 3 == 1 ? n.farther : n.nearer;
		check_feet(&s.truth);
		assert_true(s.scene->count < SX_FACETS_MAX / 2);
		close_street(&s);
	}
	print_message("# pixels of bent ground: %ld %ld %ld\n", bent[0], bent[1], bent[2]);
	assert_true(bent[0] > W * H / 20 && bent[1] > W * H / 200 && bent[2] > W * H / 20);
}

/* Classes match kinds: only ground is road or pavement, and only sky is sky. */
static void test_labels_fit_kinds(void **state)
{
	static const char *const names[] = {"street", "open", "ramp", "verge"};

	if (EMULATED(SAME_BYTES))
		return;
	for (unsigned k = 0; k < 4; k++) {
		long labels[19] = {0};
		struct street s;

		open_street(&s, names[k], 3, W, H);
		draw(&s, 8);
		for (int i = 0; i < W * H; i++) {
			uint8_t label = s.truth.label[i];

			assert_true(label < 19);
			labels[label]++;
			assert_int_equal(s.truth.kind[i] == STIXEL_GROUND, label < 2 || label == 9);
			assert_int_equal(s.truth.kind[i] == STIXEL_SKY, label == 10);
		}
		assert_true(labels[0] > 1000 && labels[10] > 100 && labels[13] > 100);
		assert_true(k == 1 ? labels[9] > 1000 : labels[1] > 300 && labels[2] > 1000);
		close_street(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_bytes_on_every_machine),
		cmocka_unit_test(test_a_frame_does_not_depend_on_the_ones_before),
		cmocka_unit_test(test_wrong_parameters),
		cmocka_unit_test(test_ground_is_a_plane),
		cmocka_unit_test(test_disparity_leads_to_the_same_surface),
		cmocka_unit_test(test_hidden_pixels_are_hidden),
		cmocka_unit_test(test_stixels_cover_every_column),
		cmocka_unit_test(test_the_camera_moves_forward),
		cmocka_unit_test(test_every_size),
		cmocka_unit_test(test_streets_are_streets),
		cmocka_unit_test(test_roads_climb_and_fall),
		cmocka_unit_test(test_labels_fit_kinds),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
