/*
 * Functions shared by the tests of raw pixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/capture/v4l2/raw_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

void raw_case_init(struct raw_case *c, int width, int height, int bits, uint64_t seed)
{
	struct check_rng r = check_rng_seed(seed);
	const size_t n = (size_t)width * (size_t)height;

	*c = (struct raw_case){width, height, bits, malloc(n * sizeof(uint16_t))};
	if (!c->samples)
		abort();
	for (size_t i = 0; i < n; i++) {
		uint32_t any = check_random(&r);

		/* every eighth sample or so is the lowest or highest value of the range */
		any = any >> 29 ? any : any & 1 ? 0 : UINT32_MAX;
		c->samples[i] = (uint16_t)(any & ((1u << bits) - 1));
	}
}

void raw_case_finish(struct raw_case *c)
{
	free(c->samples);
	*c = (struct raw_case){0};
}

static unsigned sample(const struct raw_case *c, int x, int y)
{
	return c->samples[(size_t)y * (size_t)c->width + (size_t)x];
}

void raw_case_pack(const struct raw_case *c, enum sx_raw_packing packing, uint8_t *to, size_t pitch)
{
	for (int y = 0; y < c->height; y++, to += pitch)
		for (int x = 0; x < c->width; x++) {
			unsigned s = sample(c, x, y);
			uint8_t *four = to + x / 4 * 5;

			if (packing == SX_RAW_8) {
				to[x] = (uint8_t)s;
			} else if (packing == SX_RAW_16) {
				to[2 * x] = (uint8_t)s;
				to[2 * x + 1] = (uint8_t)(s >> 8);
			} else {
				four[x % 4] = (uint8_t)(s >> 2);
				four[4] = (uint8_t)((x % 4 ? four[4] : 0) | (s & 3) << (2 * (x % 4)));
			}
		}
}

void raw_case_y8i(const struct raw_case *first, const struct raw_case *second, uint8_t *to, size_t pitch)
{
	for (int y = 0; y < first->height; y++, to += pitch)
		for (int x = 0; x < first->width; x++) {
			to[2 * x] = (uint8_t)sample(first, x, y);
			to[2 * x + 1] = (uint8_t)sample(second, x, y);
		}
}

/* first[7:0]; second[3:0] first[11:8]; second[11:4] */
void raw_case_y12i(const struct raw_case *first, const struct raw_case *second, uint8_t *to, size_t pitch)
{
	for (int y = 0; y < first->height; y++, to += pitch)
		for (int x = 0; x < first->width; x++) {
			unsigned a = sample(first, x, y), b = sample(second, x, y);

			to[3 * x] = (uint8_t)a;
			to[3 * x + 1] = (uint8_t)((b & 15) << 4 | a >> 8);
			to[3 * x + 2] = (uint8_t)(b >> 4);
		}
}

/*
 * Returns the interpolated colour, times 4. It comes from the pixel itself, or from the cross, or from the
 * corners.
 */
static unsigned four_times(const struct raw_case *c, const char *order, char colour, int x, int y)
{
	static const int at[3][4][2] = {{{0, 0}, {0, 0}, {0, 0}, {0, 0}},
					{{-1, 0}, {1, 0}, {0, -1}, {0, 1}},
					{{-1, -1}, {1, -1}, {-1, 1}, {1, 1}}};

	for (int far = 0; far < 3; far++) {
		unsigned sum = 0, n = 0;

		for (int i = 0; i < 4; i++) {
			int u = x + at[far][i][0], v = y + at[far][i][1];

			/* the image is mirrored at its borders */
			u = u < 0 ? 1 : u == c->width ? c->width - 2 : u;
			v = v < 0 ? 1 : v == c->height ? c->height - 2 : v;
			if (order[2 * (v % 2) + u % 2] != colour)
				continue;
			sum += sample(c, u, v);
			n++;
		}
		if (n)
			return 4 / n * sum; /* n is 2 or 4 */
	}
	abort(); /* every block of 2x2 contains each colour */
}

unsigned raw_case_grey(const struct raw_case *c, const char *order, int x, int y)
{
	if (!order)
		return sample(c, x, y);
	return (77 * four_times(c, order, 'R', x, y) + 150 * four_times(c, order, 'G', x, y) +
		29 * four_times(c, order, 'B', x, y) + 512) /
	       1024;
}

bool raw_case_shows(const struct sx_image *img, const struct raw_case *c, const char *order)
{
	if (img->width != c->width || img->height != c->height)
		return false;
	for (int y = 0; y < c->height; y++)
		for (int x = 0; x < c->width; x++) {
			const uint8_t *row = sx_image_row(img, y);
			unsigned want = raw_case_grey(c, order, x, y);
			unsigned got = img->pixel == SX_PIXEL_U8 ? row[x] : row[2 * x] | row[2 * x + 1] << 8;

			if (want == got)
				continue;
			fprintf(stderr, "# %s %dx%d: want %u at (%d,%d), got %u\n", order ? order : "grey",
				c->width, c->height, want, x, y, got);
			return false;
		}
	return true;
}
