/*
 * Image diagnostics: the CUDA engine against stages/, byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/diagnostics/diagnostics_cuda.h"
#include "tests/diagnostics_case.h"
#include "tests/gpu/on_device.h"

/* State that stays from frame to frame. */
struct on_device_pair {
	struct on_device x;
	uint32_t *words;
	struct sx_diagnostics *out;
	uint32_t flat; /* number of flat areas in all pairs */
};

/* Checks one pair. Returns how many positions voted. */
static int check_pair(struct on_device_pair *d, int width, int height, enum check_fill how,
		      struct check_rng *r)
{
	struct sx_image pair[2], checked, finished, columns;
	const struct sx_diagnostics_input in = {pair, &checked, &finished, &columns};
	struct sx_diagnostics want, got;
	struct diagnostics_case c;
	struct on_device x;
	int votes = 0;

	on_device_init(&x);
	diagnostics_case_init(&c, width, height, check_below(r, 4));
	diagnostics_case_fill(&c, how, r);
	pair[0] = on_device_copy(&x, &c.pair[0]);
	pair[1] = on_device_copy(&x, &c.pair[1]);
	checked = on_device_copy(&x, &c.checked.image);
	finished = on_device_copy(&x, &c.finished.image);
	columns = on_device_copy(&x, &c.columns.image);
	sx_diagnostics(&c.in, &want);
	ON_DEVICE(sx_diagnostics_cuda_votes(d->words, &in, d->out, x.stream));
	ON_DEVICE(sx_diagnostics_cuda_counts(d->words, &in, d->out, x.stream));
	on_device_read(&x, d->out, &got, sizeof(got));
	for (size_t i = 0; i < offsetof(struct sx_diagnostics, vote) / sizeof(uint32_t); i++)
		if (((const uint32_t *)&want)[i] != ((const uint32_t *)&got)[i])
			fail_msg("%dx%d %s: word %zu is %u, not %u", width, height, check_fill_name(how), i,
				 ((const uint32_t *)&got)[i], ((const uint32_t *)&want)[i]);
	assert_memory_equal(want.vote, got.vote, sizeof(want.vote));
	for (int j = 0; j < SX_DIAGNOSTICS_ROWS; j++)
		for (int i = 0; i < SX_DIAGNOSTICS_COLUMNS; i++)
			votes += want.vote[j][i] != SX_DIAGNOSTICS_NO_VOTE;
	d->flat += want.image[0].flat;
	assert_true(diagnostics_case_finish(&c));
	on_device_finish(&x);
	return votes;
}

/* Checks pairs one after the other with the same device words: each run must leave zeros. */
static void test_pairs(void **state)
{
	static const int sizes[][2] = {{32, 32},  {33, 47},  {97, 35},	 {48, 131},
				       {128, 64}, {210, 33}, {257, 120}, {256, 41}};
	struct check_rng r = check_rng_seed(7);
	struct on_device_pair d = {0};
	int votes = 0;

	on_device_init(&d.x);
	d.words = sx_diagnostics_cuda_take(&d.x.memory);
	d.out = sx_cuda_take(&d.x.memory, sizeof(*d.out));
	for (int i = 0; i < 48; i++)
		votes += check_pair(&d, sizes[i % 8][0], sizes[i % 8][1],
				    i < 16 ? CHECK_NOISE : (enum check_fill)(i % CHECK_FILL_COUNT), &r);
	assert_true(votes > 500);
	assert_true(d.flat > 50);
	on_device_finish(&d.x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
