/*
 * Slanted stixels of gpu/ against the reference: every list, every total.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stixel.h>
#include <cmocka.h>

#include "base/why.h"
#include "gpu/host/engine.h"
#include "gpu/slanted/slanted_cuda.h"
#include "stages/stixels/cells.h"
#include "stages/stixels/slanted.h"
#include "tests/gpu/on_device.h"
#include "tests/stixel_case.h"

enum { G = STIXEL_GROUND, O = STIXEL_OBJECT, S = STIXEL_SKY };

struct task {
	struct sx_params p;
	struct sx_road road;
	int height, range;
	struct sx_image d, c, scores; /* c and scores have no data if the task has none */
	const char *what;
};

static int rows_of(const struct task *t)
{
	return sx_cell_rows(&t->p.stixels, t->height);
}

static struct sx_cuda_road *road_on_device(struct on_device *x, const struct sx_road *road)
{
	const struct sx_cuda_road r = {.road = *road, .number = 1};

	return sx_cuda_upload(&x->memory, &r, sizeof(r));
}

static void check_column(const struct task *t, int u, const struct sx_segments *want,
			 const struct sx_segments *got)
{
	const struct sx_segment *a = sx_segments_column(want, u), *b = sx_segments_column(got, u);

	for (int i = 0; i < want->count[u] && i < got->count[u]; i++)
		if (memcmp(&a[i], &b[i], sizeof(*a)) != 0)
			fail_msg("%s, %d rows, column %d, segment %d: want rows %d..%d kind %d label %d mean "
				 "%d line %d %d, got %d..%d %d %d %d %d %d",
				 t->what, rows_of(t), u, i, a[i].v_bottom, a[i].v_top, a[i].kind, a[i].label,
				 a[i].mean_q4, a[i].disparity_q7, a[i].slope_q14, b[i].v_bottom, b[i].v_top,
				 b[i].kind, b[i].label, b[i].mean_q4, b[i].disparity_q7, b[i].slope_q14);
	if (want->count[u] != got->count[u] || want->total[u] != got->total[u])
		fail_msg("%s, %d rows, column %d: want %d segments, total %d, got %d, %d", t->what,
			 rows_of(t), u, want->count[u], want->total[u], got->count[u], got->total[u]);
}

static void read_segments(struct on_device *x, const struct sx_segments *dev, const struct sx_segments *to)
{
	const size_t n = (size_t)to->columns;

	on_device_read(x, dev->list, to->list, n * (size_t)to->capacity * sizeof(*to->list));
	on_device_read(x, dev->count, to->count, n * sizeof(*to->count));
	on_device_read(x, dev->total, to->total, n * sizeof(*to->total));
}

/*
 * Runs with scores if the task has them, then without, then with them again, because each run finds the
 * memory of the previous one.
 */
static int check_task_on(const struct task *t, int sms)
{
	const int rows = rows_of(t), columns = t->d.height;
	static const uint8_t some[1];
	const struct sx_cuda_scores there = {.data = some}, none = {0};
	struct sx_image dev_d, dev_c = {0}, dev_scores = {0};
	struct sx_slanted_tables *tables;
	struct sx_slanted *reference;
	struct sx_slanted_cuda *s = NULL;
	struct sx_segments want, got, dev;
	struct sx_cuda_road *road;
	struct on_device x;
	int found = 0;

	on_device_init(&x);
	assert_int_equal(sx_slanted_tables_create(&tables, &t->p, t->height, t->range), 0);
	assert_int_equal(sx_slanted_create(&reference, tables), 0);
	assert_int_equal(sx_segments_init(&want, columns, rows), 0);
	assert_int_equal(sx_segments_init(&got, columns, rows), 0);
	assert_int_equal(sx_slanted_cuda_create(&s, &x.memory, &t->p, t->height, columns, sms), 0);
	dev = got;
	dev.list = sx_cuda_take(&x.memory, (size_t)columns * (size_t)rows * sizeof(*dev.list));
	dev.count = sx_cuda_take(&x.memory, (size_t)columns * sizeof(*dev.count));
	dev.total = sx_cuda_take(&x.memory, (size_t)columns * sizeof(*dev.total));
	road = road_on_device(&x, &t->road);
	dev_d = on_device_copy(&x, &t->d);
	if (t->c.data)
		dev_c = on_device_copy(&x, &t->c);
	if (t->scores.data)
		dev_scores = on_device_copy(&x, &t->scores);
	for (int run = 0; run < (t->scores.data ? 3 : 1); run++) {
		const bool scored = t->scores.data && run != 1;

		sx_slanted_run(reference, &t->road, &t->d, t->c.data ? &t->c : NULL,
			       scored ? &t->scores : NULL, &want);
		ON_DEVICE(sx_slanted_cuda_set_road(
			s, road, sx_cuda_upload(&x.memory, scored ? &there : &none, sizeof(none)), x.stream));
		ON_DEVICE(sx_slanted_cuda_run(s, &dev_d, t->c.data ? &dev_c : NULL,
					      t->scores.data ? &dev_scores : NULL, &dev, x.stream));
		read_segments(&x, &dev, &got);
		for (int u = 0; u < columns; u++) {
			check_column(t, u, &want, &got);
			found += want.count[u];
		}
	}
	sx_slanted_cuda_destroy(s);
	sx_segments_finish(&want);
	sx_segments_finish(&got);
	sx_slanted_destroy(reference);
	sx_slanted_tables_destroy(tables);
	on_device_finish(&x);
	return found;
}

/*
 * Checks a group of warps per column and one warp per column: for a device that is large and for one that is
 * small compared with the number of columns.
 */
static int check_task(const struct task *t)
{
	return check_task_on(t, 0) + check_task_on(t, 100);
}

/* Sets the classes of Cityscapes, with few of each kind, or random kinds. */
static void set_classes(struct sx_params *p, int classes, bool usual, struct check_rng *r)
{
	p->semantics.classes = classes;
	for (int k = 0; k < classes; k++)
		p->semantics.kind[k] = (uint8_t)(!usual		   ? check_below(r, 3)
						 : k < 2 || k == 9 ? G
						 : k == 10	   ? S
								   : O);
}

/*
 * Fills scores: noise, or one class that leads for a stretch of rows (alone, or with noise in the other
 * classes), or one value everywhere.
 */
static void fill_scores(const struct sx_image *scores, int classes, struct check_rng *r)
{
	for (int u = 0; u < scores->height; u++) {
		uint8_t *row = sx_image_row(scores, u);
		const int how = check_below(r, 4);
		int leads = 0;

		for (int v = 0; v < scores->width / classes; v++) {
			if (!check_below(r, 12))
				leads = check_below(r, classes);
			for (int k = 0; k < classes; k++)
				row[v * classes + k] =
					(uint8_t)(how == 0   ? check_below(r, 256)
						  : how == 1 ? (k == leads ? 255 : 0)
						  : how == 2 ? (k == leads ? 180 : check_below(r, 60))
							     : 128);
		}
	}
}

static double between(struct check_rng *r, double lo, double hi)
{
	return lo + (hi - lo) * (check_random(r) / 4294967295.0);
}

static void random_model(struct sx_slanted_params *s, struct check_rng *r)
{
	s->confidence = (enum sx_confidence_weight)check_below(r, 3);
	s->sigma_ground_px = between(r, 0.1, 4);
	s->sigma_object_px = between(r, 0.1, 4);
	s->sigma_sky_px = between(r, 0.1, 4);
	s->offset_px = between(r, s->sigma_ground_px / 16, 8);
	s->slope_px = check_below(r, 3) ? between(r, 0.01, 1) : between(r, 0.001, 16);
	s->above = check_below(r, 101);
	s->cut = check_below(r, 4) ? between(r, 0, 10) : 0;
	s->gravity = check_below(r, 4) ? between(r, 0, 3) : 0;
	s->order = check_below(r, 4) ? between(r, 0, 3) : 0;
	s->gap = check_below(r, 4) ? between(r, 0, 3) : 0;
	s->hole = check_below(r, 4) ? between(r, 0, 2) : 0;
	s->semantic = check_below(r, 4) ? between(r, 0, 2) : 0;
	s->confidence_full = check_below(r, 4) ? between(r, 0.1, 1) : 1;
	s->roughness = check_below(r, 4) ? between(r, 0, 0.1) : check_below(r, 2);
	s->sky_outlier = check_below(r, 4) ? between(r, 0, 20) : 1000;
	s->below = check_below(r, 4) ? between(r, 0, 1) : 1;
}

/* horizon: the first row without ground. */
static int check_case_at(enum stixel_case how, int rows, int horizon, int columns, int classes,
			 struct check_rng *r)
{
	const int cell_height = 1 + check_below(r, 5),
		  height = rows * cell_height + check_below(r, cell_height);
	struct sx_road of_rows = stixel_case_road(rows, horizon, 20 + check_below(r, 60));
	struct task t = {.p = stixel_case_params(rows), .height = height, .range = 128};
	char what[80];
	int found;

	stixel_case_roll(&of_rows, columns, check_below(r, 61) - 30);
	if (check_below(r, 2))
		stixel_case_bend(&of_rows, rows, r);
	/* the first columns are partly out of view, or all columns are seen */
	t.p.stixels.width = check_below(r, 4) == 0 ? STIXEL_CASE_WIDTH
			    : check_below(r, 2)	   ? 1000
						   : 8 + check_below(r, 100);
	t.road = stixel_case_road_of_width(&of_rows, t.p.stixels.width);
	if (check_below(r, 4) == 0)
		t.road.origin = SX_ROAD_FROM_CALIBRATION;
	t.road.slope /= cell_height;
	t.road.offset += t.road.slope * (double)(rows * cell_height - height);
	t.p.stixels.method = SX_STIXEL_SLANTED;
	t.p.stixels.cell_height = cell_height;
	if (check_below(r, 3))
		random_model(&t.p.stixels.slanted, r);
	set_classes(&t.p, classes, classes == 19, r);
	assert_int_equal(sx_image_init(&t.d, SX_PIXEL_U16, rows, columns), 0);
	stixel_case_columns(how, &of_rows, 128, &t.d, r);
	if (check_below(r, 3)) {
		assert_int_equal(sx_image_init(&t.c, SX_PIXEL_U8, rows, columns), 0);
		check_fill(&t.c, check_below(r, 2) ? CHECK_NOISE : CHECK_NEAR_0, r);
	}
	if (classes) {
		assert_int_equal(sx_image_init(&t.scores, SX_PIXEL_U8, rows * classes, columns), 0);
		fill_scores(&t.scores, classes, r);
	}
	snprintf(what, sizeof(what), "%s, %d classes, cells of %d", stixel_case_name(how), classes,
		 cell_height);
	t.what = what;
	found = check_task(&t);
	sx_image_finish(&t.d);
	sx_image_finish(&t.c);
	sx_image_finish(&t.scores);
	return found;
}

static int check_case(enum stixel_case how, int rows, int columns, int classes, struct check_rng *r)
{
	return check_case_at(how, rows, check_below(r, rows + 1), columns, classes, r);
}

static void test_columns(void **state)
{
	static const int heights[] = {1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 97, 110},
			 classes[] = {0, 19, 0, 32, 5, 1};
	struct check_rng r = check_rng_seed(3);
	int n = 0, found = 0;

	for (size_t i = 0; i < sizeof(heights) / sizeof(*heights); i++)
		for (int how = 0; how < CASE_COUNT; how++, n++)
			found += check_case((enum stixel_case)how, heights[i], heights[i] < 50 ? 6 : 3,
					    classes[n % 6], &r);
	assert_in_range(found, 2000, 200000);
}

/*
 * Sky begins at the lowest row or nowhere, and ground is nowhere or everywhere. Also no weight at all, and
 * ties: warps that share a column must choose like a single warp.
 */
static void test_horizons(void **state)
{
	static const int heights[] = {1, 7, 32, 33, 64, 97, 161};
	static const enum stixel_case cases[] = {CASE_FLAT, CASE_INVALID, CASE_COARSE, CASE_SHARP};
	struct check_rng r = check_rng_seed(5);

	for (size_t i = 0; i < sizeof(heights) / sizeof(*heights); i++)
		for (int how = 0; how < 4; how++)
			for (int kind = 0; kind < 4; kind++)
				check_case_at(cases[how], heights[i], kind % 2 ? heights[i] : 0, 2,
					      kind / 2 ? 19 : 0, &r);
}

/* Both forms of the sums: the tallest columns of the narrow form and the shortest of the wide one. */
static void test_tall_columns(void **state)
{
	static const int heights[] = {256, 360, 361, 420}, classes[] = {19, 0, 19, 0};
	struct check_rng r = check_rng_seed(4);

	for (int i = 0; i < 4; i++)
		check_case(i % 2 ? CASE_NOISE : CASE_SCENE, heights[i], 1, classes[i], &r);
	check_case(CASE_COARSE, 256, 2, 0, &r);
	check_case(CASE_COARSE, 360, 2, 19, &r);
}

#ifdef SX_EMULATE
/* The tiles of a column do not fit the shared memory of a block. */
static void test_little_shared_memory(void **state)
{
	struct check_rng r = check_rng_seed(6);

	setenv("SX_EMULATE_DEVICE", "cc=75", 1);
	check_case(CASE_SCENE, 360, 1, 19, &r);
	unsetenv("SX_EMULATE_DEVICE");
}
#endif

/* Checks the largest sums: full weights, disparities and ground at both ends of their range. */
static void check_extreme(int rows, int kind, const struct sx_road *road)
{
	struct task t = {.p = stixel_case_params(rows), .height = rows, .range = 384, .road = *road};

	t.what = "extreme";
	t.p.stereo.disparities = 256;
	t.p.stereo.min_disparity = 128;
	t.p.stixels.method = SX_STIXEL_SLANTED;
	t.p.stixels.cell_height = 1;
	t.p.stixels.slanted.roughness = 0; /* full weight for ground too */
	t.p.stixels.slanted.above = 100;
	t.p.stixels.width = 1000; /* puts all columns in view */
	assert_int_equal(sx_image_init(&t.d, SX_PIXEL_U16, rows, 4), 0);
	for (int v = 0; v < rows; v++) {
		const uint16_t values[] = {SX_SLANTED_MAX_Q4, v % 2 ? 0xfffe : 0,
					   v == kind % rows ? 17 : (uint16_t)SX_DISPARITY_INVALID,
					   (uint16_t)(v * 17)};

		for (int u = 0; u < 4; u++)
			((uint16_t *)sx_image_row(&t.d, u))[v] = values[u];
	}
	check_task(&t);
	sx_image_finish(&t.d);
}

static void test_extremes(void **state)
{
	static const struct sx_road roads[] = {{.slope = 1e6, .offset = -1e6},
					       {.slope = 0, .offset = 1e9},
					       {.slope = 0, .offset = -1e9},
					       {.slope = -3, .offset = 100},
					       {.slope = 1, .offset = -70, .cross = 1e6, .axis = 9},
					       {.slope = 1, .cross = -1e300, .axis = -1e300}};

	for (int i = 0; i < 6; i++)
		check_extreme(i % 2 ? 150 : 360, i * 40, &roads[i]);
#ifndef SX_EMULATE
	check_extreme(2160, 1000, &roads[0]);
	check_extreme(2160, 2159, &roads[1]);
#endif
}

static void test_refuses(void **state)
{
	struct sx_params p = stixel_case_params(100);
	struct sx_slanted_cuda *s = NULL;
	struct on_device x;

	on_device_init(&x);
	p.stixels.method = SX_STIXEL_SLANTED_EXACT;
	assert_int_equal(sx_slanted_cuda_create(&s, &x.memory, &p, 100, 10, 1), -EINVAL);
	p.stixels.method = SX_STIXEL_SLANTED;
	assert_int_equal(sx_slanted_cuda_create(&s, &x.memory, &p, 2161, 10, 1), -EINVAL);
	assert_int_equal(sx_slanted_cuda_create(&s, &x.memory, &p, 0, 10, 1), -EINVAL);
	assert_int_equal(sx_slanted_cuda_create(&s, &x.memory, &p, p.stixels.width - 1, 10, 1), -EINVAL);
	assert_null(s);
	sx_slanted_cuda_destroy(NULL);
	on_device_finish(&x);
}

/* The whole engine refuses it before it allocates anything. */
static void test_exact_is_refused(void **state)
{
	const struct sx_engine_params engine = {.backend = SX_BACKEND_CUDA, .contexts = 1};
	struct sx_context_config c = {
		.width = 64, .height = 48, .pixel = SX_PIXEL_U8, .params = stixel_case_params(48)};
	struct sx_context *x = NULL;
	struct sx_device *d;
	struct sx_why why = {""};

	c.params.stixels.method = SX_STIXEL_SLANTED_EXACT;
	assert_int_equal(sx_backend_cuda.open(&d, &engine, &why), 0);
	assert_int_equal(sx_backend_cuda.context_create(&x, d, &c, &why), -ENOTSUP);
	assert_null(x);
	assert_string_equal(
		why.text,
		"stixels.method = slanted-exact: only engine.backend = cpu or reference computes it");
	sx_backend_cuda.close(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_horizons),
		cmocka_unit_test(test_tall_columns),
#ifdef SX_EMULATE
		cmocka_unit_test(test_little_shared_memory),
#endif
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_exact_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
