/*
 * Zero-mean normalised cross-correlation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/zncc.h"

#include <math.h>

static int clamp(int v, int most)
{
	return v < 0 ? 0 : v > most ? most : v;
}

static const uint8_t *grey_row(const struct sx_image *img, int y)
{
	return sx_image_row(img, clamp(y, img->height - 1));
}

static uint64_t window_at(const struct sx_image *grey, int x, int y, int window)
{
	uint32_t n = (uint32_t)(window * window), s1 = 0, s2 = 0, v;
	int r = window / 2;

	for (int j = -r; j <= r; j++) {
		const uint8_t *row = grey_row(grey, y + j);

		for (int i = -r; i <= r; i++) {
			uint32_t g = row[clamp(x + i, grey->width - 1)];

			s1 += g;
			s2 += g * g;
		}
	}
	v = n * s2 - s1 * s1; /* both below 3.3e9 with windows of 15 */
	return sx_zncc_word(s1, v ? 1.0f / sqrtf((float)v) : 0.0f);
}

void sx_zncc_windows(const struct sx_image *grey, const struct sx_image *words, int window)
{
	for (int y = 0; y < grey->height; y++) {
		uint64_t *row = sx_image_row(words, y);

		for (int x = 0; x < grey->width; x++)
			row[x] = window_at(grey, x, y, window);
	}
}

static uint32_t product(const struct sx_image grey[2], int x, int partner, int y, int window)
{
	int r = window / 2, most = grey[0].width - 1;
	uint32_t sum = 0;

	for (int j = -r; j <= r; j++) {
		const uint8_t *left = grey_row(&grey[0], y + j), *right = grey_row(&grey[1], y + j);

		for (int i = -r; i <= r; i++)
			sum += (uint32_t)left[clamp(x + i, most)] * right[clamp(partner + i, most)];
	}
	return sum;
}

float sx_zncc(const struct sx_image grey[2], const struct sx_image words[2], int x, int partner, int y,
	      int window)
{
	const uint64_t a = ((const uint64_t *)sx_image_row(&words[0], y))[x];
	const uint64_t b = ((const uint64_t *)sx_image_row(&words[1], y))[partner];
	uint32_t n = (uint32_t)(window * window);
	/* Either product can exceed 31 bits. The difference cannot, so it is exact modulo 2^32. */
	int32_t covariance =
		(int32_t)(n * product(grey, x, partner, y, window) - sx_zncc_sum(a) * sx_zncc_sum(b));

	return (float)covariance * sx_zncc_inverse(a) * sx_zncc_inverse(b);
}

uint8_t sx_zncc_cost(float z)
{
	int cost = SX_ZNCC_SCALE - (int)lrintf(z * SX_ZNCC_SCALE);

	return (uint8_t)clamp(cost, 2 * SX_ZNCC_SCALE);
}
