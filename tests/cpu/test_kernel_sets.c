/*
 * Selection of kernels: by name, by machine, by the number of disparities.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/kernel_sets.h"

static const char *const names[] = {"plain", "sse4", "avx2", "avx512", "neon"};
#define NAMES (sizeof(names) / sizeof(names[0]))

static void test_names(void **state)
{
	for (size_t i = 0; i < NAMES; i++) {
		const struct sx_kernels *k = sx_kernels_choose(names[i]);

		if (!k)
			continue;
		assert_string_equal(k->name, names[i]);
		assert_true(k->machine_runs());
		assert_non_null(k->search);
		assert_non_null(k->segment);
	}
	assert_non_null(sx_kernels_choose("plain"));
	assert_null(sx_kernels_choose("avx"));
	assert_null(sx_kernels_choose("best"));
	assert_null(sx_kernels_choose(""));
}

static void test_widest(void **state)
{
	const struct sx_kernels *widest = sx_kernels_choose(NULL);

	for (size_t i = 0; i < NAMES; i++) {
		const struct sx_kernels *k = sx_kernels_choose(names[i]);

		if (k)
			assert_true(k->matcher->bytes <= widest->matcher->bytes);
	}
}

static void test_segmenter_is_of_the_set(void **state)
{
	const struct sx_kernels *avx2 = sx_kernels_choose("avx2"), *avx512 = sx_kernels_choose("avx512");
	const struct sx_kernels *plain = sx_kernels_choose("plain"), *sse4 = sx_kernels_choose("sse4");

	if (sse4)
		assert_ptr_not_equal(sse4->segment, plain->segment);
	if (avx2)
		assert_ptr_not_equal(avx2->segment, plain->segment);
	if (avx512)
		assert_ptr_not_equal(avx512->segment, avx2->segment);
}

/* The number of disparities must be a multiple of the vectors. Otherwise the next narrower set is used. */
static void test_disparities(void **state)
{
	for (size_t i = 0; i < NAMES; i++) {
		const struct sx_kernels *k = sx_kernels_choose(names[i]);

		for (int d = 32; k && d <= SX_MATCHER_DISPARITIES_MAX; d += 32) {
			const struct sx_kernels *got = sx_kernels_for(k, d);

			assert_int_equal(d % got->matcher->bytes, 0);
			assert_true(got->machine_runs());
			if (d % k->matcher->bytes == 0)
				assert_ptr_equal(got, k);
			else
				assert_true(got->matcher->bytes < k->matcher->bytes);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_widest),
		cmocka_unit_test(test_segmenter_is_of_the_set),
		cmocka_unit_test(test_disparities),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
