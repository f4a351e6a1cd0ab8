/*
 * Evidence of gpu/ against the reference, byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gpu/stixels/reduce_cells_cuda.h"
#include "gpu/stixels/sky_cuda.h"
#include "stages/stixels/reach.h"
#include "tests/evidence_case.h"
#include "tests/gpu/stixels/segments_case.h"

/* Compares the counts of the reach. Returns the number of cells that they count. */
static uint32_t check_reach(struct on_device *x, const struct evidence_case *t, const uint32_t *device)
{
	uint32_t want[SX_REACH_BINS] = {0}, got[SX_REACH_BINS], sum = 0;

	sx_reach_count(&t->columns, 0, t->columns.height, &t->road, t->left.height, &t->p.stixels, want);
	on_device_read(x, device, got, sizeof(got));
	for (int i = 0; i < SX_REACH_BINS; i++) {
		if (got[i] != want[i])
			fail_msg("%s: bin %d has %u cells, not %u", t->what, i, got[i], want[i]);
		sum += want[i];
	}
	return sum;
}

/* Returns the number of cells that measure far ground. */
static uint32_t check_case(const struct evidence_case *t)
{
	uint32_t counted;
	struct sx_image left, columns, confidence, cells, cells_confidence;
	struct sx_sky_cuda sky;
	struct sx_cuda_road *road;
	struct on_device x;

	on_device_init(&x);
	sx_sky_cuda_take(&sky, &x.memory, t->columns.height, t->columns.width);
	road = segments_case_road(&x, &t->road, t->left.height);
	left = on_device_copy(&x, &t->left);
	columns = on_device_copy(&x, &t->columns);
	confidence = on_device_copy(&x, &t->confidence);
	cells = on_device_image(&x, SX_PIXEL_U16, t->columns.width, t->columns.height);
	cells_confidence = on_device_image(&x, SX_PIXEL_U8, t->columns.width, t->columns.height);
	ON_DEVICE(sx_evidence_cuda_run(&left, &columns, &confidence, &t->p.stixels, &cells, &cells_confidence,
				       x.stream));
	ON_DEVICE(sx_sky_cuda_find(&sky, &left, &t->p.stixels, x.stream));
	ON_DEVICE(sx_sky_cuda_weigh(&sky, road, &t->p, &columns, &cells, &cells_confidence, x.stream));
	on_device_compare(&x, t->what, 0, &t->want, &cells, 0);
	on_device_compare(&x, t->what, 1, &t->want_c, &cells_confidence, 0);
	counted = check_reach(&x, t, sky.reach);
	on_device_finish(&x);
	return counted;
}

static void test_cases(void **state)
{
	struct check_rng r = check_rng_seed(72);
	uint32_t counted = 0;

	for (int i = 0; i < EVIDENCE_CASES; i++) {
		struct evidence_case t;

		evidence_case_init(&t, i, &r);
		counted += check_case(&t);
		evidence_case_finish(&t);
	}
	assert_true(counted > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
