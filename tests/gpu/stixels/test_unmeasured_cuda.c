/*
 * Splitting of stixels at unmeasured cells: the CUDA engine against stages/, byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "gpu/stixels/unmeasured_cuda.h"
#include "stages/stixels/reach.h"
#include "tests/gpu/stixels/segments_case.h"
#include "tests/unmeasured_case.h"

static void check_lists(const struct sx_segments *want, const struct sx_segments *got, uint64_t seed)
{
	for (int u = 0; u < want->columns; u++) {
		if (got->count[u] != want->count[u] ||
		    memcmp(sx_segments_column(got, u), sx_segments_column(want, u),
			   want->count[u] * sizeof(*want->list)))
			fail_msg("column %d of %d differs, seed %llu", u, want->columns,
				 (unsigned long long)seed);
	}
}

static void check_parted(int rows, int columns, int cell_height, int width, uint64_t seed)
{
	const struct sx_stixel_params p = {
		.method = SX_STIXEL_SLANTED, .width = width, .cell_height = cell_height};
	const int image_width = columns * width + 40, image_height = rows * cell_height + (cell_height > 1);
	struct check_rng r = check_rng_seed(seed);
	struct sx_road road = unmeasured_case_road(image_height, &r);
	const struct sx_image road_bytes = {&road, sizeof(road), 1, sizeof(road), SX_PIXEL_U8};
	struct sx_image cells, flat[2], dev_cells, dev_flat[2];
	struct sx_segments want, got, dev;
	struct sx_unmeasured_column c = {.height = image_height, .cell_height = cell_height};
	uint32_t count[SX_REACH_BINS], *dev_count;
	struct on_device x;

	on_device_init(&x);
	assert_int_equal(sx_segments_init(&want, columns, rows), 0);
	assert_int_equal(sx_segments_init(&got, columns, rows), 0);
	assert_int_equal(sx_image_init(&cells, SX_PIXEL_U16, rows, columns), 0);
	unmeasured_case_cells(&cells, &r);
	for (int side = 0; side < 2; side++) {
		assert_int_equal(sx_image_init(&flat[side], SX_PIXEL_U8, SX_FLAT_TILES(image_width),
					       SX_FLAT_TILES(image_height)),
				 0);
		unmeasured_case_tiles(&flat[side], &r);
		dev_flat[side] = on_device_copy(&x, &flat[side]);
	}
	for (int u = 0; u < columns; u++)
		want.count[u] = (uint16_t)unmeasured_case_list(sx_segments_column(&want, u), rows, &r);
	/* bins that are seen, above some that are not */
	for (int i = 0, first = check_below(&r, SX_REACH_BINS + 1); i < SX_REACH_BINS; i++)
		count[i] = (uint32_t)(i < first ? columns / (SX_REACH_SHARE * cell_height) : columns);
	dev_count = sx_cuda_take_scratch(&x.memory, sizeof(count));
	on_device_write(&x, count, dev_count, sizeof(count));
	dev = segments_case_upload(&x, &want);
	dev_cells = on_device_copy(&x, &cells);

	c.road = on_device_copy(&x, &road_bytes).data;
	c.x = width / 2;
	c.drops = check_below(&r, 2);
	c.cells = dev_cells.data;
	for (int side = 0; side < 2; side++) {
		c.flat[side] = dev_flat[side].data;
		c.flat_pitch[side] = dev_flat[side].pitch;
	}
	ON_DEVICE(sx_unmeasured_cuda_run(&c, dev_count, &dev_cells, &dev, &p, x.stream));
	ON_DEVICE(cudaStreamSynchronize(x.stream));
	on_device_read(&x, dev.list, got.list, (size_t)columns * (size_t)rows * sizeof(*got.list));
	on_device_read(&x, dev.count, got.count, (size_t)columns * sizeof(*got.count));
	c.reach_q7 = sx_reach_of(count, columns, &p);
	c.road = &road;
	for (int u = 0; u < columns; u++) {
		for (int side = 0; side < 2; side++) {
			c.flat[side] = flat[side].data;
			c.flat_pitch[side] = flat[side].pitch;
		}
		c.cells = sx_image_row(&cells, u);
		c.x = u * width + width / 2;
		want.count[u] =
			(uint16_t)sx_unmeasured_column(&c, sx_segments_column(&want, u), want.count[u]);
	}
	check_lists(&want, &got, seed);
	sx_segments_finish(&want);
	sx_segments_finish(&got);
	sx_image_finish(&cells);
	for (int side = 0; side < 2; side++)
		sx_image_finish(&flat[side]);
	on_device_finish(&x);
}

static void test_unmeasured(void **state)
{
	for (uint64_t seed = 0; seed < 12; seed++)
		check_parted(8 + (int)seed * 17, 1 + (int)seed * 7, 1 + (int)seed % 5, 1 + (int)seed % 6,
			     seed);
	check_parted(2160, 3, 1, 5, 100);
	check_parted(28, 3000, 1, 1, 101); /* too short for 32 rows: flat ones, or beyond the reach */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unmeasured),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
