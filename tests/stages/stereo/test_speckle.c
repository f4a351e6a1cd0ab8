/*
 * Speckle filter against a flood fill.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "stages/stereo/speckle.h"
#include "tests/stages/stereo/map_case.h"

#define NONE SX_DISPARITY_INVALID

/*
 * Returns the size of the component of (x, y), by flood fill with an explicit stack. The caller clears
 * `seen`.
 */
static int flood(const struct sx_image *img, int x, int y, int range, uint8_t *seen, int *stack)
{
	static const int step[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
	int n = 0, size = 0;

	stack[n++] = y * img->width + x;
	seen[stack[0]] = 1;
	while (n) {
		int i = stack[--n], px = i % img->width, py = i / img->width;

		size++;
		for (int k = 0; k < 4; k++) {
			int qx = px + step[k][0], qy = py + step[k][1];

			if (qx < 0 || qy < 0 || qx >= img->width || qy >= img->height ||
			    seen[qy * img->width + qx] || at(img, qx, qy) == NONE ||
			    abs(at(img, qx, qy) - at(img, px, py)) > 16 * range)
				continue;
			seen[qy * img->width + qx] = 1;
			stack[n++] = qy * img->width + qx;
		}
	}
	return size;
}

static void define_speckle(const struct sx_image *in, const struct sx_image *want, int size, int range)
{
	size_t n = (size_t)in->width * (size_t)in->height;
	uint8_t *seen = malloc(n);
	int *stack = malloc(n * sizeof(*stack));

	assert_true(seen && stack);
	for (int y = 0; y < in->height; y++) {
		for (int x = 0; x < in->width; x++) {
			uint16_t v = at(in, x, y);

			for (size_t i = 0; i < n; i++)
				seen[i] = 0;
			if (v != NONE && flood(in, x, y, range, seen, stack) <= size)
				v = NONE;
			put(want, x, y, v);
		}
	}
	free(seen);
	free(stack);
}

static void check_speckle(const struct check_image *in, int size, int range, uint64_t seed)
{
	int w = in->image.width, h = in->image.height;
	struct sx_filter_params f = {.speckle_size = size, .speckle_range = range};
	struct check_image want, got;
	uint32_t *scratch = malloc(sx_speckle_scratch_bytes(w, h));
	char what[64];

	assert_non_null(scratch);
	for (size_t i = 0; i < sx_speckle_scratch_bytes(w, h) / sizeof(*scratch); i++)
		scratch[i] = (uint32_t)(i * 2654435761u); /* scratch content must not matter */
	snprintf(what, sizeof(what), "speckle size %d range %d", size, range);
	check_image_init(&want, SX_PIXEL_U16, w, h, 0);
	check_image_init(&got, SX_PIXEL_U16, w, h, 5);
	check_copy(&in->image, &got.image);
	define_speckle(&in->image, &want.image, size, range);
	sx_speckle(&got.image, &f, scratch);
	assert_true(check_same(what, seed, &want.image, &got.image, 0));
	assert_true(check_guards(&got, what));
	check_image_finish(&want);
	check_image_finish(&got);
	free(scratch);
}

static void speckle_floods(void **state)
{
	static const int sizes[] = {0, 1, 2, 5, 20, 100, 10000}, ranges[] = {0, 1, 4};

	for (uint64_t seed = 0; seed < SHAPES * 7; seed++) {
		const int *s = shapes[seed % SHAPES];
		struct check_rng r = check_rng_seed(seed);
		struct check_image in;

		check_image_init(&in, SX_PIXEL_U16, s[0], s[1] > 12 ? 12 : s[1], s[2]);
		check_fill_disparity(&in.image, 20, (int)(seed * 7 % 101), &r);
		check_speckle(&in, sizes[seed / SHAPES], ranges[seed % 3], seed);
		check_image_finish(&in);
	}
}

/* Fills one path that winds through the whole image, and a comb whose teeth meet only in the last row. */
static void speckle_winds(void **state)
{
	struct check_image in;
	enum { W = 31, H = 13, SNAKE = 7 * W + 6 };

	check_image_init(&in, SX_PIXEL_U16, W, H, 0);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			put(&in.image, x, y, y % 2 == 0 || x == (y % 4 == 1 ? W - 1 : 0) ? 160 : NONE);
	check_speckle(&in, SNAKE - 1, 1, 1);
	check_speckle(&in, SNAKE, 1, 2);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			put(&in.image, x, y, y == H - 1 || x % 2 == 0 ? (uint16_t)(160 + y) : NONE);
	check_speckle(&in, 100, 1, 3);
	check_speckle(&in, 16 * (H - 1) + W - 1, 1, 4);
	check_speckle(&in, 16 * (H - 1) + W, 1, 5);
	check_image_finish(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(speckle_floods),
		cmocka_unit_test(speckle_winds),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
