/*
 * FastDT against its definition, line by line in plain integers; the 8-bit code over all inputs; properties
 * of an edge-preserving filter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stages/stereo/fastdt.h"
#include "tests/check.h"

/* ---- the code ---- */

/* Rounds down to a multiple of the step of its range. */
static int quantised(int v)
{
	int step = v < -2048 ? 512 : v < -128 ? 32 : 2;

	return v >= 0 ? 0 : -((-v + step - 1) / step) * step;
}

static void code_of_all_inputs(void **state)
{
	int before = INT16_MIN;

	for (int v = INT16_MIN; v <= INT16_MAX; v++) {
		uint8_t code = sx_fastdt_encode((int16_t)v);
		int back = sx_fastdt_decode(code);

		assert_int_equal(back, quantised(v));
		assert_int_equal(sx_fastdt_encode((int16_t)back), code);
		assert_int_equal((code & 3) == 0, code == 0);
		assert_true(back >= before);
		before = back;
	}
}

static void weights_of_all_differences(void **state)
{
	struct sx_stereo_params p = {.fastdt_sigma_space = 5, .fastdt_sigma_range = 52};
	struct sx_fastdt_weights w;

	sx_fastdt_weights_init(&w, &p);
	for (int i = 0; i < 256; i++) {
		double want = exp(-0.2 - i / 52.0);

		assert_true(fabs(w.real[i] - want) < 1e-7);
		assert_true(fabs(w.fixed[i] - 32768 * want) <= 0.5);
	}
	p.fastdt_sigma_space = 1e9; /* a weight of 1 is not representable */
	sx_fastdt_weights_init(&w, &p);
	assert_int_equal(w.fixed[0], 32767);
}

/* ---- the definition ---- */

struct problem {
	struct check_image grey, right, census[2], got;
	struct sx_cost_input in;
	struct sx_stereo_params p;
	struct sx_fastdt_weights w;
	int width, height;
	int64_t *subtracted, *plane;
};

static int64_t held(const struct problem *q, int64_t v)
{
	if (q->p.fastdt == SX_FASTDT_INT32)
		return v;
	return v < -32768 ? -32768 : v > 32767 ? 32767 : v;
}

/* Applies the recurrence to one line of n pixels, from `first` on, `step` apart. */
static void filter_line(const struct problem *q, int first, int n, int step, bool narrow)
{
	const uint8_t *grey = q->grey.image.data;
	size_t pitch = q->grey.image.pitch;

	for (int i = 1; i < n; i++) {
		int at = first + i * step, before = at - step;
		int a = grey[(size_t)(at / q->width) * pitch + (size_t)(at % q->width)];
		int b = grey[(size_t)(before / q->width) * pitch + (size_t)(before % q->width)];
		/* floor of the quotient, for both signs */
		double product = (double)q->plane[before] * q->w.fixed[abs(a - b)] + 16384;
		int64_t v = q->plane[at] + (int64_t)floor(product / 32768);

		q->plane[at] = narrow ? held(q, v) : v;
	}
}

static void filter_rows(const struct problem *q, bool back, bool narrow)
{
	for (int y = 0; y < q->height; y++)
		filter_line(q, y * q->width + (back ? q->width - 1 : 0), q->width, back ? -1 : 1, narrow);
}

static void filter_columns(const struct problem *q, bool back, bool narrow)
{
	for (int x = 0; x < q->width; x++)
		filter_line(q, x + (back ? (q->height - 1) * q->width : 0), q->height,
			    back ? -q->width : q->width, narrow);
}

static void subtract(struct problem *q, bool lowest)
{
	size_t n = (size_t)(q->width * q->height);

	if (lowest)
		memcpy(q->subtracted, q->plane, n * sizeof(*q->plane));
	for (size_t i = 0; i < n; i++)
		q->plane[i] -= q->subtracted[i];
}

static void run_plane(struct problem *q, bool lowest)
{
	bool coded = q->p.fastdt == SX_FASTDT_INT8;

	filter_rows(q, false, true);
	if (coded)
		subtract(q, lowest);
	filter_rows(q, true, true);
	if (coded)
		for (int i = 0; i < q->width * q->height; i++)
			q->plane[i] = quantised((int)q->plane[i]);
	else
		subtract(q, lowest);
	filter_columns(q, false, true);
	filter_columns(q, true, true);
}

static void fill_plane(const struct problem *q, int64_t value)
{
	for (int i = 0; i < q->width * q->height; i++)
		q->plane[i] = value;
}

static void load_costs(const struct problem *q, int d)
{
	uint8_t *row = malloc((size_t)(q->width * q->p.disparities));

	assert_non_null(row);
	for (int y = 0; y < q->height; y++) {
		sx_cost_row(&q->in, y, &q->p, row);
		for (int x = 0; x < q->width; x++)
			q->plane[y * q->width + x] = row[x * q->p.disparities + d];
	}
	free(row);
}

static void problem_init(struct problem *q, const struct sx_stereo_params *p, int width, int height,
			 enum check_fill fill, uint64_t seed)
{
	struct check_rng r = check_rng_seed(seed);
	size_t bytes = (size_t)(width * height) * sizeof(int64_t);

	*q = (struct problem){.p = *p, .width = width, .height = height};
	sx_stereo_resolve(&q->p);
	sx_fastdt_weights_init(&q->w, &q->p);
	check_image_init(&q->grey, SX_PIXEL_U8, width, height, 5);
	check_image_init(&q->right, SX_PIXEL_U8, width, height, 0);
	check_fill_pair(&q->grey.image, &q->right.image, fill, 4, 7, &r);
	q->in.grey[0] = q->grey.image;
	q->in.grey[1] = q->right.image;
	for (int i = 0; i < 2; i++) {
		check_image_init(&q->census[i], sx_descriptor_pixel(p->cost), width, height, i);
		q->in.descriptor[i] = q->census[i].image;
		sx_describe(&q->in.grey[i], &q->in.descriptor[i], &q->p);
	}
	check_image_init(&q->got, SX_PIXEL_U16, width * p->disparities, height, 9);
	q->subtracted = malloc(bytes);
	q->plane = malloc(bytes);
	assert_true(q->subtracted && q->plane);
	{
		size_t scratch_bytes = (sx_fastdt_scratch_bytes(width, height, &q->p) + 63) & ~(size_t)63;
		void *scratch = aligned_alloc(64, scratch_bytes);

		assert_non_null(scratch);
		memset(scratch, 0xa5, scratch_bytes); /* the scratch content must not matter */
		sx_fastdt(&q->in, &q->got.image, &q->p, scratch);
		free(scratch);
	}
	assert_true(check_guards(&q->got, "fastdt"));
}

static void problem_finish(struct problem *q)
{
	check_image_finish(&q->grey);
	check_image_finish(&q->right);
	check_image_finish(&q->census[0]);
	check_image_finish(&q->census[1]);
	check_image_finish(&q->got);
	free(q->subtracted);
	free(q->plane);
}

static int sum_at(const struct problem *q, int x, int y, int d)
{
	return ((const uint16_t *)sx_image_row(&q->got.image, y))[x * q->p.disparities + d];
}

static void check_definition(const struct sx_stereo_params *p, int width, int height, enum check_fill fill,
			     uint64_t seed)
{
	int n = width * height;
	int64_t *gain = malloc((size_t)n * sizeof(*gain)), *least = malloc((size_t)n * sizeof(*least));
	struct problem q;

	problem_init(&q, p, width, height, fill, seed);
	assert_true(gain && least);
	fill_plane(&q, sx_cost_max(p->cost));
	filter_rows(&q, false, false);
	filter_rows(&q, true, false);
	filter_columns(&q, false, false);
	filter_columns(&q, true, false);
	memcpy(gain, q.plane, (size_t)n * sizeof(*gain));
	load_costs(&q, 0);
	run_plane(&q, true);
	fill_plane(&q, 0);
	run_plane(&q, false);
	memcpy(least, q.plane, (size_t)n * sizeof(*least));
	for (int d = 0; d < p->disparities; d++) {
		load_costs(&q, d);
		run_plane(&q, false);
		for (int i = 0; i < n; i++) {
			/* r is R exactly; the product with it is computed in whole numbers */
			int64_t r = INT64_C(65535) * 65536 / gain[i], s = (q.plane[i] - least[i]) * r / 65536;

			assert_true(q.plane[i] >= least[i]);
			assert_int_equal(sum_at(&q, i % width, i / width, d), s > 65535 ? 65535 : s);
		}
	}
	problem_finish(&q);
	free(gain);
	free(least);
}

static void equals_definition(void **state)
{
	static const int sizes[][2] = {{1, 1}, {1, 12}, {12, 1}, {40, 23}, {33, 50}};
	static const enum sx_cost costs[] = {SX_COST_CSCT, SX_COST_CENSUS, SX_COST_ZNCC};
	uint64_t seed = 0;

	for (enum sx_fastdt v = SX_FASTDT_INT32; v <= SX_FASTDT_INT8; v++)
		for (int s = 0; s < 5; s++)
			for (int fill = 0; fill < CHECK_FILL_COUNT; fill++) {
				struct sx_stereo_params p = {.cost = costs[seed % 3],
							     .paths = 4,
							     .disparities = 32,
							     .min_disparity = (int)(seed % 5) - 2,
							     .out_of_view = (enum sx_out_of_view)(seed % 2),
							     .zncc_window = 3,
							     .fastdt = v};

				if (seed % 7 == 0)
					p.fastdt_sigma_range = 400; /* edges hardly count: large sums */
				check_definition(&p, sizes[s][0], sizes[s][1], fill, ++seed);
			}
}

/* ---- agreement of the variants ---- */

static void variants_agree(void **state)
{
	struct sx_stereo_params p = {
		.cost = SX_COST_CSCT, .paths = 4, .disparities = 32, .fastdt = SX_FASTDT_FLOAT};
	struct problem real, whole, narrow, coded;
	int same = 0, worst = 0;

	problem_init(&real, &p, 70, 45, CHECK_NEAR_0, 3);
	p.fastdt = SX_FASTDT_INT32;
	problem_init(&whole, &p, 70, 45, CHECK_NEAR_0, 3);
	p.fastdt = SX_FASTDT_INT16;
	problem_init(&narrow, &p, 70, 45, CHECK_NEAR_0, 3);
	p.fastdt = SX_FASTDT_INT8;
	problem_init(&coded, &p, 70, 45, CHECK_NEAR_0, 3);
	/* no sum of the 31-bit variant exceeds 16 bits */
	assert_true(check_same("int16 as int32", 3, &whole.got.image, &narrow.got.image, 32));
	for (int y = 0; y < 45; y++) {
		for (int x = 0; x < 70; x++) {
			int best[3] = {0};

			for (int d = 0; d < 32; d++) {
				int off = abs(sum_at(&real, x, y, d) - sum_at(&whole, x, y, d));

				worst = off > worst ? off : worst;
				if (sum_at(&real, x, y, d) < sum_at(&real, x, y, best[0]))
					best[0] = d;
				if (sum_at(&whole, x, y, d) < sum_at(&whole, x, y, best[1]))
					best[1] = d;
				if (sum_at(&coded, x, y, d) < sum_at(&coded, x, y, best[2]))
					best[2] = d;
			}
			same += (best[0] == best[1]) + (best[0] == best[2]);
		}
	}
	/* each step rounds by up to half a unit, in sums of some thousands that are scaled to 65535 here */
	assert_in_range(worst, 1, 300);
	assert_in_range(same, 2 * 70 * 45 * 9 / 10, 2 * 70 * 45);
	problem_finish(&real);
	problem_finish(&whole);
	problem_finish(&narrow);
	problem_finish(&coded);
}

/*
 * If the image is flat everywhere, the costs of both sides are constant too. S is their share of the largest
 * cost.
 */
static void flat_images_keep_their_cost(void **state)
{
	for (enum sx_fastdt v = SX_FASTDT_FLOAT; v <= SX_FASTDT_INT16; v++) {
		struct sx_stereo_params p = {
			.cost = SX_COST_ZNCC, .paths = 4, .disparities = 32, .zncc_window = 3, .fastdt = v};
		struct problem q;

		problem_init(&q, &p, 60, 60, CHECK_FLAT, 1);
		for (int d = 0; d < 32; d++)
			assert_true(abs(sum_at(&q, 30, 30, d) - 32768) < 300); /* 21 of 42 */
		problem_finish(&q);
	}
}

/* An edge of 255 grey levels lets 0.6 % through, so costs beyond it do not matter to S. */
static void edges_separate(void **state)
{
	struct sx_stereo_params p = {.cost = SX_COST_CSCT,
				     .paths = 4,
				     .disparities = 32,
				     .fastdt = SX_FASTDT_FLOAT,
				     .fastdt_sigma_space = 5,
				     .fastdt_sigma_range = 52};
	static uint8_t grey[40][80];
	static uint32_t left[40][80], right[40][80];
	static uint16_t sum[40][80 * 32];
	const struct sx_cost_input in = {.grey = {{grey, 80, 40, 80, SX_PIXEL_U8}},
					 .descriptor = {{left, 80, 40, sizeof(left[0]), SX_PIXEL_U32},
							{right, 80, 40, sizeof(right[0]), SX_PIXEL_U32}}};
	const struct sx_image s = {sum, 80 * 32, 40, sizeof(sum[0]), SX_PIXEL_U16};
	size_t bytes = (sx_fastdt_scratch_bytes(80, 40, &p) + 63) & ~(size_t)63;
	void *scratch = aligned_alloc(64, bytes);

	assert_non_null(scratch);
	for (int y = 0; y < 40; y++)
		for (int x = 0; x < 80; x++) {
			grey[y][x] = x < 40 ? 0 : 255;
			/* against 0: cost 0 on one side, cost 31 on the other */
			left[y][x] = x < 40 ? 0 : 0x7fffffff;
		}
	sx_fastdt(&in, &s, &p, scratch);
	assert_true(sum[20][39 * 32] < 0.02 * 65535);
	assert_true(sum[20][40 * 32] > 0.98 * 65535);
	memset(grey, 7, sizeof(grey)); /* removes the edge: the costs of both sides mix */
	sx_fastdt(&in, &s, &p, scratch);
	assert_true(sum[20][39 * 32] > 0.3 * 65535 && sum[20][40 * 32] < 0.7 * 65535);
	free(scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_of_all_inputs),	       cmocka_unit_test(weights_of_all_differences),
		cmocka_unit_test(equals_definition),	       cmocka_unit_test(variants_agree),
		cmocka_unit_test(flat_images_keep_their_cost), cmocka_unit_test(edges_separate),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
