/*
 * What tests of stages share: a repeatable random source, image fills that provoke mistakes, images between
 * guard bytes, and comparisons whose failure says where to look.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_CHECK_H
#define SX_TESTS_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/image.h"

/* Repeatable on every machine (splitmix64). */
struct check_rng {
	uint64_t state;
};
struct check_rng check_rng_seed(uint64_t seed);
uint32_t check_random(struct check_rng *r);
/* 0 .. n-1, n >= 1; the slight bias does not matter to tests. */
int check_below(struct check_rng *r, int n);

/* An image of its own pitch whose surroundings and row padding must stay as they are. */
struct check_image {
	struct sx_image image;
	uint8_t *memory;
	size_t bytes;
};
/* padding: pixels after each row. The first pixel is aligned to its own size only. Aborts without memory. */
void check_image_init(struct check_image *c, enum sx_pixel pixel, int width, int height, int padding);
void check_image_finish(struct check_image *c);
/* False, and a line on stderr, when a byte outside the pixels has changed. */
bool check_guards(const struct check_image *c, const char *what);

enum check_fill {
	CHECK_NOISE,	    /* every value alike */
	CHECK_FLAT,	    /* one value */
	CHECK_NEAR_0,	    /* 0..2 */
	CHECK_NEAR_255,	    /* 253..255 */
	CHECK_STEPS,	    /* vertical bars of random grey, 3 to 17 px wide */
	CHECK_CHECKERBOARD, /* 0 and 255 */
	CHECK_FILL_COUNT
};
const char *check_fill_name(enum check_fill how);
/* U8 images, or any other format byte by byte. */
void check_fill(const struct sx_image *img, enum check_fill how, struct check_rng *r);
/*
 * U8 stereo pair: the right image is the left one moved by shift px (left x matches right x - shift), its new
 * columns and one pixel in noise_every (0: none) are noise.
 */
void check_fill_pair(const struct sx_image *left, const struct sx_image *right, enum check_fill how,
		     int shift, int noise_every, struct check_rng *r);
/* Y16: a texture from column `shift` on, `levels` values from 52 on, a hot patch and a dead pixel. */
void check_fill_y16(const struct sx_image *img, int levels, int shift, struct check_rng *r);
/* U16 Q4 map: patches of similar disparity below limit px, invalid_percent of the pixels are 0xffff. */
void check_fill_disparity(const struct sx_image *img, int limit, int invalid_percent, struct check_rng *r);

/* Descriptors that are open now; those of looking count alike each time. */
int check_descriptors(void);

/* Copies pixels; same format and size, any pitch. */
void check_copy(const struct sx_image *from, const struct sx_image *to);

/*
 * True when all pixels are equal. Otherwise false and one line on stderr:
 *   seed 7 / census noise 101x67+27: 61 of 6767 values differ, first at (97,3): want 5, got 6
 * what: stage and circumstances. disparities > 0: rows are volumes [x][d] and the place is (x,y,d).
 */
bool check_same(const char *what, uint64_t seed, const struct sx_image *want, const struct sx_image *got,
		int disparities);

#endif
