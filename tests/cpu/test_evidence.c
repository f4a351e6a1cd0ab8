/*
 * Kernels of evidence against the reference, byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cpu/kernel_sets.h"
#include "cpu/sky.h"
#include "stages/stixels/evidence.h"
#include "tests/evidence_case.h"

static const char *const simds[] = {"plain", "avx2"};

/* Runs the kernels in steps of `part` columns, like the tasks of the engine. */
static void check_kernels(const struct evidence_case *t, const struct sx_segment_kernels *k, int part)
{
	const int rows = t->columns.width, n = t->columns.height, words = sx_sky_words(n);
	uint8_t *bright = malloc((size_t)rows * (size_t)n);
	uint32_t *blank = malloc((size_t)(rows * words) * sizeof(*blank));
	uint32_t *sky = malloc((size_t)(rows * words) * sizeof(*sky));
	struct check_image d, c;

	assert_non_null(bright);
	assert_non_null(blank);
	assert_non_null(sky);
	check_image_init(&d, SX_PIXEL_U16, rows, n, 3);
	check_image_init(&c, SX_PIXEL_U8, rows, n, 5);
	for (int v = 0; v < rows; v++) {
		k->bright_cells(&t->left, &t->p.stixels, v, n, bright + (size_t)v * (size_t)n);
		sx_sky_pack(bright + (size_t)v * (size_t)n, n, blank + v * words);
	}
	sx_sky_spread(blank, rows, words, sky);
	for (int u = 0; u < n; u += part) {
		const int end = u + part < n ? u + part : n;

		k->weigh_columns(&t->columns, &t->confidence, &t->p.stixels, bright, u, end, &d.image,
				 &c.image);
		sx_sky_weigh(sky, words, &t->p, &t->road, t->left.height, u, end, &d.image, &c.image);
	}
	assert_true(check_same(t->what, 0, &t->want, &d.image, 0));
	assert_true(check_same(t->what, 0, &t->want_c, &c.image, 0));
	assert_true(check_guards(&d, "cells") && check_guards(&c, "confidence"));
	check_image_finish(&d);
	check_image_finish(&c);
	free(bright);
	free(blank);
	free(sky);
}

static int count_of(const struct sx_image *img, int value)
{
	int n = 0;

	for (int u = 0; u < img->height; u++)
		for (int v = 0; v < img->width; v++)
			n += ((const uint8_t *)sx_image_row(img, u))[v] == value;
	return n;
}

static void test_cases(void **state)
{
	struct check_rng r = check_rng_seed(71);
	int sky = 0, filled = 0;

	for (int i = 0; i < EVIDENCE_CASES; i++) {
		struct evidence_case t;

		evidence_case_init(&t, i, &r);
		for (size_t s = 0; s < sizeof(simds) / sizeof(*simds); s++) {
			const struct sx_kernels *k = sx_kernels_choose(simds[s]);

			if (k)
				check_kernels(&t, k->segment, 1 + check_below(&r, 40));
		}
		sky += count_of(&t.want_c, SX_SKY_CONFIDENCE) - count_of(&t.confidence, SX_SKY_CONFIDENCE);
		filled +=
			count_of(&t.want_c, SX_FILL_CONFIDENCE) - count_of(&t.confidence, SX_FILL_CONFIDENCE);
		evidence_case_finish(&t);
	}
	/* proves that the cases contain sky and filled cells */
	assert_in_range(sky, 5000, 1000000);
	assert_in_range(filled, 5000, 1000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
