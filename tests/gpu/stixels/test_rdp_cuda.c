/*
 * RDP of the CUDA engine against stages/: every list, every total.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "gpu/stages_cuda.h"
#include "stages/stixels/rdp.h"
#include "tests/gpu/stixels/segments_case.h"
#include "tests/stixel_case.h"

static void check_segment(const char *what, int u, int i, const struct sx_segment *want,
			  const struct sx_segment *got)
{
	if (want->v_bottom != got->v_bottom || want->v_top != got->v_top || want->mean_q4 != got->mean_q4 ||
	    want->disparity_q7 != got->disparity_q7 || want->slope_q14 != got->slope_q14 ||
	    want->kind != got->kind)
		fail_msg("%s: column %d segment %d: want rows %d..%d kind %d mean %d line %d %d, got %d..%d "
			 "kind %d mean %d line %d %d",
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

/* range: number of disparities in the parameters. */
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
	sx_rdp_run(ref, road, columns, 0, &want);

	assert_int_equal(sx_rdp_cuda_create(&s, &x.memory, p, h, n, 132), 0);
	dev = segments_case_upload(&x, &got);
	dev_columns = on_device_copy(&x, columns);
	ON_DEVICE(sx_rdp_cuda_run(s, segments_case_road(&x, road, h), &dev_columns, &dev, x.stream));
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
	struct sx_road road =
		stixel_case_road(h, check_below(r, h + 1), range / 3 + check_below(r, range / 2));
	struct sx_image image;
	char what[80];

	stixel_case_place(&p, &road, columns, r);
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

/* The largest numbers, the deepest tree, and more segments than shared memory holds. */
static void test_rdp_extremes(void **state)
{
	enum { H = 2160 };
	struct sx_params p = stixel_case_params(H);
	struct sx_road road = stixel_case_road(H, 1000, 10);
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
	p.stixels.width = 32; /* every column sees the whole far road */
	assert_in_range(check_rdp("extremes", &p, &road, &image, 384), 3000, 6 * H);
	road = stixel_case_road(H, 1000, 383);
	check_rdp("nearest road", &p, &road, &image, 384);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rdp),
		cmocka_unit_test(test_rdp_extremes),
		cmocka_unit_test(test_rdp_refuses),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
