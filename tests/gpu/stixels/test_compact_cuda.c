/*
 * Record of a frame from the CUDA engine against that of stages/, byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <stixel.h>
#include <cmocka.h>

#include "gpu/stages_cuda.h"
#include "stages/stixels/cells.h"
#include "stages/stixels/compact.h"
#include "tests/gpu/stixels/segments_case.h"
#include "tests/stixel_case.h"

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

/* Output of a run, in pinned memory. */
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
	assert_int_equal(got->out->number, SEGMENTS_CASE_NUMBER);
	assert_true(got->out->road.slope == road->slope && got->out->road.offset == road->offset &&
		    got->out->road.horizon_row == road->horizon_row && got->out->road.age == road->age &&
		    got->out->road.origin == road->origin && got->out->road.inliers == road->inliers &&
		    got->out->road.pitch_rad == road->pitch_rad &&
		    got->out->road.height_m == road->height_m && got->out->road.roll_rad == road->roll_rad &&
		    got->out->road.cross == road->cross && got->out->road.axis == road->axis);
	assert_memory_equal(got->offsets, offsets, (size_t)(columns + 1) * sizeof(*offsets));
	for (uint32_t i = 0; i < n; i++)
		if (memcmp(&got->stixels[i], &stixels[i], sizeof(*stixels)))
			fail_msg("stixel %u of %u, %d columns, differs", i, n, columns);
	for (size_t i = n; i <= capacity; i++)
		assert_int_equal(got->stixels[i].column, 0x5a5a);
}

/* h: number of cells of a column. */
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

	dev = segments_case_upload(&x, &segments);
	dev_image = on_device_copy(&x, &image);
	dev_confidence = on_device_copy(&x, &confidence);
	got = record_take(&x, columns, capacity);
	assert_int_equal(sx_compact_cuda_create(&s, &x.memory, p, image_height, columns), 0);
	for (int run = 0; run < 2; run++) {
		ON_DEVICE(sx_compact_cuda_run(s, &dev, &dev_image, with_confidence ? &dev_confidence : NULL,
					      segments_case_road(&x, &road, h), got.dev_out, got.dev_offsets,
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
		p.road.mode = i % 2 ? SX_ROAD_PLANE : SX_ROAD_CALIBRATED;
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
		cmocka_unit_test(test_compact),
		cmocka_unit_test(test_compact_extremes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
