/*
 * Compares quantiles with sorted values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/statistics/quantile.h"

#define MOST 300

/* xorshift64 (Marsaglia 2003) */
static uint64_t random_u64(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Tests n values, of which `kinds` differ. */
static void judge(size_t n, unsigned kinds, double share)
{
	const size_t at = (size_t)(share * (double)(n - 1));
	double value[MOST], sorted[MOST];

	for (size_t i = 0; i < n; i++)
		value[i] = sorted[i] = (double)(random_u64() % kinds) - kinds / 2;
	qsort(sorted, n, sizeof(sorted[0]), by_value);
	assert_true(sx_quantile(value, n, share) == sorted[at]);
	assert_true(value[at] == sorted[at]);
	for (size_t i = 0; i < n; i++)
		assert_true(i < at ? value[i] <= value[at] : value[i] >= value[at]);
	qsort(value, n, sizeof(value[0]), by_value);
	assert_memory_equal(value, sorted, n * sizeof(value[0]));
}

static void quantiles_are_those_of_sorted_values(void **state)
{
	static const unsigned kinds[] = {1, 2, 5, 1000000};
	static const double shares[] = {0, 0.05, 0.5, 0.95, 1};

	for (size_t n = 1; n <= MOST; n += n < 20 ? 1 : 7)
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			for (size_t s = 0; s < sizeof(shares) / sizeof(shares[0]); s++)
				judge(n, kinds[k], shares[s]);
}

static void sorted_and_reversed_values(void **state)
{
	double up[MOST], down[MOST];

	for (int i = 0; i < MOST; i++) {
		up[i] = i;
		down[i] = MOST - 1 - i;
	}
	assert_true(sx_quantile(up, MOST, 0.5) == 149);
	assert_true(sx_quantile(down, MOST, 0.5) == 149);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_those_of_sorted_values),
		cmocka_unit_test(sorted_and_reversed_values),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
