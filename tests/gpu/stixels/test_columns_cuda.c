/*
 * From the disparity map to the record, stage by stage: column reduction, RDP and compaction of the CUDA engine
 * against stages/, byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <stixel.h>

#include "gpu/stages_cuda.h"
#include "stages/stixels/cells.h"
#include "stages/stixels/compact.h"
#include "stages/stixels/rdp.h"
#include "stages/stixels/reduce.h"
#include "tests/gpu/on_device.h"
#include "tests/stixel_case.h"

/* ---- reduction ----------------------------------------------------------------------------------------------- */

static void check_reduce(int w, int h, int width_px, enum sx_reduction how, bool with_confidence,
			 struct check_rng *r)
{
	const int columns = sx_reduce_columns(w, width_px);
	struct sx_image d, c, want, want_c, got, got_c, dev_d, dev_c, dev, dev_conf;
	struct on_device x;
	char what[80];

	on_device_init(&x);
	assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, w, h), 0);
	assert_int_equal(sx_image_init(&c, SX_PIXEL_U8, w, h), 0);
	assert_int_equal(sx_image_init(&want, SX_PIXEL_U16, h, columns), 0);
	assert_int_equal(sx_image_init(&want_c, SX_PIXEL_U8, h, columns), 0);
	assert_int_equal(sx_image_init(&got, SX_PIXEL_U16, h, columns), 0);
	assert_int_equal(sx_image_init(&got_c, SX_PIXEL_U8, h, columns), 0);
	check_fill_disparity(&d, 128, check_below(r, 80), r);
	if (check_below(r, 2))
		check_fill(&d, CHECK_NOISE, r); /* far more than a range */
	check_fill(&c, CHECK_NOISE, r);
	dev_d = on_device_copy(&x, &d);
	dev_c = on_device_copy(&x, &c);
	dev = on_device_image(&x, SX_PIXEL_U16, h, columns);
	dev_conf = on_device_image(&x, SX_PIXEL_U8, h, columns);

	sx_reduce(&d, with_confidence ? &c : NULL, width_px, how, &want, &want_c);
	ON_DEVICE(sx_reduce_cuda_run(&dev_d, with_confidence ? &dev_c : NULL, width_px, how, &dev, &dev_conf,
				     x.stream));
	on_device_fetch(&x, &dev, &got);
	on_device_fetch(&x, &dev_conf, &got_c);
	snprintf(what, sizeof(what), "reduce %dx%d by %d", w, h, width_px);
	assert_true(check_same(what, 0, &want, &got, 0));
	assert_true(check_same(what, 0, &want_c, &got_c, 0));
	sx_image_finish(&d);
	sx_image_finish(&c);
	sx_image_finish(&want);
	sx_image_finish(&want_c);
	sx_image_finish(&got);
	sx_image_finish(&got_c);
	on_device_finish(&x);
}

static void test_reduce(void **state)
{
	static const int sizes[][2] = {{32, 32}, {33, 1}, {65, 31}, {130, 33}, {257, 64}, {321, 97}};
	struct check_rng r = check_rng_seed(1);

	for (int width = 1; width <= 32; width++) {
		const int *size = sizes[width % 6];

		check_reduce(size[0], size[1], width, SX_REDUCTION_MEDIAN, true, &r);
		check_reduce(size[0] + 1, size[1], width, SX_REDUCTION_MEAN, width % 3, &r);
	}
}

/* ---- segments ------------------------------------------------------------------------------------------------ */

static struct sx_cuda_road *road_on_device(struct on_device *x, const struct sx_road *road, int height)
{
	int32_t *ground = calloc((size_t)height, sizeof(*ground));
	struct sx_cuda_road r = {.road = *road, .number = 77};
	struct sx_cuda_road *ret;

	assert_non_null(ground);
	r.vhor = sx_road_ground(road, height, ground);
	r.ground_q4 = sx_cuda_upload(&x->memory, ground, (size_t)height * sizeof(*ground));
	ret = sx_cuda_upload(&x->memory, &r, sizeof(r));
	ON_DEVICE(x->memory.error);
	free(ground);
	return ret;
}

static struct sx_segments segments_on_device(struct on_device *x, const struct sx_segments *like)
{
	const size_t n = (size_t)like->columns;
	struct sx_segments s = *like;

	s.list = sx_cuda_upload(&x->memory, like->list, n * (size_t)like->capacity * sizeof(*s.list));
	s.count = sx_cuda_upload(&x->memory, like->count, n * sizeof(*s.count));
	s.total = sx_cuda_upload(&x->memory, like->total, n * sizeof(*s.total));
	ON_DEVICE(x->memory.error);
	return s;
}

static void check_segment(const char *what, int u, int i, const struct sx_segment *want,
			  const struct sx_segment *got)
{
	if (want->v_bottom != got->v_bottom || want->v_top != got->v_top || want->mean_q4 != got->mean_q4 ||
	    want->disparity_q7 != got->disparity_q7 || want->slope_q14 != got->slope_q14 ||
	    want->kind != got->kind)
		fail_msg("%s: column %d segment %d: want rows %d..%d kind %d mean %d line %d %d, got %d..%d "
			 "kind %d "
			 "mean %d line %d %d",
			 what, u, i, want->v_bottom, want->v_top, want->kind, want->mean_q4,
			 want->disparity_q7, want->slope_q14, got->v_bottom, got->v_top, got->kind,
			 got->mean_q4, got->disparity_q7, got->slope_q14);
}

static void check_segments(const char *what, const struct sx_segments *want, const struct sx_segments *got)
{
	for (int u = 0; u < want->columns; u++) {
		if (want->count[u] != got->count[u] || want->total[u] != got->total[u])
			fail_msg("%s: column %d: want %d segments, total %d, got %d, %d", what, u,
				 want->count[u], want->total[u], got->count[u], got->total[u]);
		for (int i = 0; i < want->count[u]; i++)
			check_segment(what, u, i, sx_segments_column(want, u) + i,
				      sx_segments_column(got, u) + i);
	}
}

/* range: disparities of the parameters. */
static int check_rdp(const char *what, const struct sx_params *p, const struct sx_road *road,
		     const struct sx_image *columns, int range)
{
	const int h = columns->width, n = columns->height;
	struct sx_segments want, got, dev;
	struct sx_rdp_tables *t;
	struct sx_rdp_cuda *s = NULL;
	struct sx_image dev_columns;
	struct on_device x;
	struct sx_rdp *ref;
	int found = 0;

	on_device_init(&x);
	assert_int_equal(sx_rdp_tables_create(&t, p, h, range), 0);
	assert_int_equal(sx_rdp_create(&ref, t), 0);
	assert_int_equal(sx_segments_init(&want, n, h), 0);
	assert_int_equal(sx_segments_init(&got, n, h), 0);
	sx_rdp_run(ref, road, columns, &want);

	assert_int_equal(sx_rdp_cuda_create(&s, &x.memory, p, h, n, 132), 0);
	dev = segments_on_device(&x, &got);
	dev_columns = on_device_copy(&x, columns);
	ON_DEVICE(sx_rdp_cuda_run(s, road_on_device(&x, road, h), &dev_columns, &dev, x.stream));
	on_device_read(&x, dev.list, got.list, (size_t)n * (size_t)h * sizeof(*got.list));
	on_device_read(&x, dev.count, got.count, (size_t)n * sizeof(*got.count));
	on_device_read(&x, dev.total, got.total, (size_t)n * sizeof(*got.total));
	check_segments(what, &want, &got);
	for (int u = 0; u < n; u++)
		found += want.count[u];

	sx_rdp_cuda_destroy(s);
	sx_segments_finish(&want);
	sx_segments_finish(&got);
	sx_rdp_destroy(ref);
	sx_rdp_tables_destroy(t);
	on_device_finish(&x);
	return found;
}

static void check_rdp_case(enum stixel_case how, int h, int columns, struct check_rng *r)
{
	static const int ranges[] = {32, 64, 96, 128, 256};
	const int range = ranges[check_below(r, 5)];
	struct sx_params p = check_below(r, 3) ? stixel_case_params(h) : stixel_case_random_params(h, r);
	const struct sx_road road =
		stixel_case_road(h, check_below(r, h + 1), range / 3 + check_below(r, range / 2));
	struct sx_image image;
	char what[80];

	p.stixels.method = SX_STIXEL_RDP;
	p.stereo.disparities = range;
	p.stereo.min_disparity = 0;
	if (!check_below(r, 4))
		p.stixels.rdp_epsilon_px = check_below(r, 3) * 0.25;
	assert_int_equal(sx_image_init(&image, SX_PIXEL_U16, h, columns), 0);
	stixel_case_columns(how, &road, range, &image, r);
	snprintf(what, sizeof(what), "rdp %s %d rows range %d", stixel_case_name(how), h, range);
	check_rdp(what, &p, &road, &image, range);
	sx_image_finish(&image);
}

static void test_rdp(void **state)
{
	static const int heights[] = {1,  2,  3,  4,  5,  7,  8,  9,  15,  31,	32,  33,  34,  35, 36,
				      47, 63, 64, 65, 66, 67, 68, 95, 127, 128, 129, 255, 375, 440};
	struct check_rng r = check_rng_seed(2);

	for (size_t i = 0; i < sizeof(heights) / sizeof(*heights); i++)
		for (int how = 0; how < CASE_COUNT; how++)
			check_rdp_case((enum stixel_case)how, heights[i], heights[i] < 100 ? 7 : 3, &r);
}

/* The largest numbers, the deepest tree, more segments than shared memory holds. */
static void test_rdp_extremes(void **state)
{
	enum { H = 2160 };
	struct sx_params p = stixel_case_params(H);
	struct sx_road road = stixel_case_road(H, 1000, 383);
	struct check_rng r = check_rng_seed(3);
	struct sx_image image;

	p.stixels.method = SX_STIXEL_RDP;
	p.stereo.disparities = 256;
	p.stereo.min_disparity = 128;
	p.stixels.rdp_epsilon_px = 0;
	assert_int_equal(sx_image_init(&image, SX_PIXEL_U16, H, 6), 0);
	for (int u = 0; u < 6; u++) {
		uint16_t *d = sx_image_row(&image, u);

		for (int v = 0; v < H; v++) {
			const int values[] = {v % 2 ? 16 * 384 - 1 : 0,
					      v * v / 760,
					      v == H - 1 ? 0xfffe : 0,
					      check_below(&r, 16 * 384),
					      v % 100 ? v / 2 : (int)SX_DISPARITY_INVALID,
					      v < 700 ? (int)SX_DISPARITY_INVALID : v / 50 * 50};

			d[v] = (uint16_t)values[u];
		}
	}
	assert_in_range(check_rdp("extremes", &p, &road, &image, 384), 3000, 6 * H);
	road.slope = 1e300;
	check_rdp("steepest road", &p, &road, &image, 384);
	p.stixels.rdp_epsilon_px = 256;
	p.stixels.rdp_ground_px = 256;
	road = stixel_case_road(H, 2000, 300);
	check_rdp("widest tolerances", &p, &road, &image, 384);
	sx_image_finish(&image);
}

static void test_rdp_refuses(void **state)
{
	struct sx_params p = stixel_case_params(100);
	struct sx_rdp_cuda *s = NULL;
	struct on_device x;

	on_device_init(&x);
	assert_int_equal(sx_rdp_cuda_create(&s, &x.memory, &p, 2161, 10, 132), -EINVAL);
	assert_int_equal(sx_rdp_cuda_create(&s, &x.memory, &p, 0, 10, 132), -EINVAL);
	assert_null(s);
	sx_rdp_cuda_destroy(NULL);
	on_device_finish(&x);
}

/* ---- record -------------------------------------------------------------------------------------------------- */

static void random_segments(struct sx_segments *s, int longest, struct check_rng *r)
{
	for (int u = 0; u < s->columns; u++) {
		s->count[u] = 0;
		for (int v = 0; v < s->capacity;) {
			const int rows = 1 + check_below(r, 1 + check_below(r, longest));
			const int top = v + rows < s->capacity ? v + rows - 1 : s->capacity - 1;

			sx_segments_column(s, u)[s->count[u]++] = (struct sx_segment){
				.v_bottom = (uint16_t)v,
				.v_top = (uint16_t)top,
				.mean_q4 = (uint16_t)check_random(r),
				.disparity_q7 = (uint16_t)check_random(r),
				.slope_q14 = (int16_t)check_random(r),
				.kind = (uint8_t)check_below(r, 4),
			};
			v = top + 1;
		}
	}
}

/* What a run writes, in pinned memory. */
struct record {
	struct sx_cuda_output *out, *dev_out;
	uint32_t *offsets, *dev_offsets;
	struct stixel *stixels, *dev_stixels;
};

static struct record record_take(struct on_device *x, int columns, size_t capacity)
{
	struct record r;
	void *device;

	r.out = sx_cuda_take_pinned(&x->memory, sizeof(*r.out), &device);
	r.dev_out = device;
	r.offsets = sx_cuda_take_pinned(&x->memory, (size_t)(columns + 1) * sizeof(*r.offsets), &device);
	r.dev_offsets = device;
	r.stixels = sx_cuda_take_pinned(&x->memory, (capacity + 1) * sizeof(*r.stixels), &device);
	r.dev_stixels = device;
	ON_DEVICE(x->memory.error);
	memset(r.stixels, 0x5a, (capacity + 1) * sizeof(*r.stixels));
	return r;
}

static void check_record(const struct record *got, uint32_t n, const uint32_t *offsets,
			 const struct stixel *stixels, int columns, size_t capacity,
			 const struct sx_road *road)
{
	assert_int_equal(got->out->count, n);
	assert_int_equal(got->out->number, 77);
	assert_true(got->out->road.slope == road->slope && got->out->road.offset == road->offset &&
		    got->out->road.horizon_row == road->horizon_row && got->out->road.age == road->age &&
		    got->out->road.origin == road->origin && got->out->road.inliers == road->inliers &&
		    got->out->road.pitch_rad == road->pitch_rad && got->out->road.height_m == road->height_m);
	assert_memory_equal(got->offsets, offsets, (size_t)(columns + 1) * sizeof(*offsets));
	for (uint32_t i = 0; i < n; i++)
		if (memcmp(&got->stixels[i], &stixels[i], sizeof(*stixels)))
			fail_msg("stixel %u of %u, %d columns, differs", i, n, columns);
	for (size_t i = n; i <= capacity; i++)
		assert_int_equal(got->stixels[i].column, 0x5a5a);
}

/* h: cells of a column. */
static void check_compact(const struct sx_params *p, int h, int columns, int longest, bool with_confidence,
			  struct check_rng *r)
{
	const size_t capacity = sx_compact_capacity(columns, h, p->stixels.max_per_column);
	const int cell_height = sx_cell_height(&p->stixels), image_height = (h + 1) * cell_height - 1;
	struct sx_road road = stixel_case_road(h, h / 2, 30);
	uint32_t *offsets = calloc((size_t)columns + 1, sizeof(*offsets));
	struct stixel *stixels = calloc(capacity, sizeof(*stixels));
	struct sx_image image, confidence, dev_image, dev_confidence;
	struct sx_compact_cuda *s = NULL;
	struct sx_segments segments, dev;
	struct on_device x;
	struct record got;
	uint32_t n;

	assert_true(offsets && stixels);
	on_device_init(&x);
	road.origin = (enum sx_road_origin)check_below(r, 4);
	assert_int_equal(sx_segments_init(&segments, columns, h), 0);
	assert_int_equal(sx_image_init(&image, SX_PIXEL_U16, h, columns), 0);
	assert_int_equal(sx_image_init(&confidence, SX_PIXEL_U8, h, columns), 0);
	segments.cell_height = cell_height;
	segments.image_height = image_height;
	random_segments(&segments, longest, r);
	stixel_case_columns(CASE_NOISE, &road, 64, &image, r);
	check_fill(&confidence, check_below(r, 2) ? CHECK_NOISE : CHECK_NEAR_255, r);
	n = sx_compact(&segments, &image, with_confidence ? &confidence : NULL, &road, p, offsets, stixels);

	dev = segments_on_device(&x, &segments);
	dev_image = on_device_copy(&x, &image);
	dev_confidence = on_device_copy(&x, &confidence);
	got = record_take(&x, columns, capacity);
	assert_int_equal(sx_compact_cuda_create(&s, &x.memory, p, image_height, columns), 0);
	for (int run = 0; run < 2; run++) {
		ON_DEVICE(sx_compact_cuda_run(s, &dev, &dev_image, with_confidence ? &dev_confidence : NULL,
					      road_on_device(&x, &road, h), got.dev_out, got.dev_offsets,
					      got.dev_stixels, x.stream));
		ON_DEVICE(cudaStreamSynchronize(x.stream));
		check_record(&got, n, offsets, stixels, columns, capacity, &road);
	}
	sx_compact_cuda_destroy(s);
	sx_segments_finish(&segments);
	sx_image_finish(&image);
	sx_image_finish(&confidence);
	free(offsets);
	free(stixels);
	on_device_finish(&x);
}

static void test_compact(void **state)
{
	static const int heights[] = {1, 7, 8, 9, 31, 32, 33, 63, 100, 255, 256, 257, 300};
	static const enum sx_stixel_method methods[] = {SX_STIXEL_DP, SX_STIXEL_SLANTED, SX_STIXEL_RDP};
	struct check_rng r = check_rng_seed(4);

	for (size_t i = 0; i < sizeof(heights) / sizeof(*heights); i++) {
		struct sx_params p = stixel_case_params(heights[i]);

		p.stixels.method = methods[i % 3];
		p.stixels.cell_height = 1 + (int)i % 6;
		p.road.mode = i % 2 ? SX_ROAD_VDISPARITY : SX_ROAD_CALIBRATED;
		p.stixels.max_per_column = i % 4 ? 128 : 1 + check_below(&r, 9);
		check_compact(&p, heights[i], 1 + check_below(&r, 40), 1 + (int)i * 4, i % 3 != 1, &r);
	}
}

static void test_compact_extremes(void **state)
{
	struct check_rng r = check_rng_seed(5);
	struct sx_params p = stixel_case_params(2160);

	p.stixels.max_per_column = 2160;
	check_compact(&p, 2160, 5, 1, true, &r);
	check_compact(&p, 2160, 2, 4000, true, &r);
	p.stixels.max_per_column = 3;
	check_compact(&p, 16, 4096, 6, true, &r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reduce),	     cmocka_unit_test(test_rdp),
		cmocka_unit_test(test_rdp_extremes), cmocka_unit_test(test_rdp_refuses),
		cmocka_unit_test(test_compact),	     cmocka_unit_test(test_compact_extremes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
