/*
 * Helpers shared by the tests of stages: a repeatable random source, image fills that provoke mistakes,
 * images between guard bytes, and comparisons that report where the first difference lies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_CHECK_H
#define SX_TESTS_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/image.h"

/* Random source that gives the same numbers on every machine (splitmix64). */
struct check_rng {
	uint64_t state;
};
struct check_rng check_rng_seed(uint64_t seed);
uint32_t check_random(struct check_rng *r);
/* Returns 0 .. n-1, n >= 1. The slight bias does not matter to tests. */
int check_below(struct check_rng *r, int n);

/* Image with its own pitch. The bytes around it and its row padding must stay unchanged. */
struct check_image {
	struct sx_image image;
	uint8_t *memory;
	size_t bytes;
};
/*
 * Allocates the image. `padding`: pixels after each row. The first pixel is aligned to the pixel size only.
 * Aborts without memory.
 */
void check_image_init(struct check_image *c, enum sx_pixel pixel, int width, int height, int padding);
void check_image_finish(struct check_image *c);
/* Returns false, with a line on stderr, if a byte outside the pixels has changed. */
bool check_guards(const struct check_image *c, const char *what);

enum check_fill {
	CHECK_NOISE,	    /* every value, equally likely */
	CHECK_FLAT,	    /* one value in all pixels */
	CHECK_NEAR_0,	    /* values 0..2 */
	CHECK_NEAR_255,	    /* values 253..255 */
	CHECK_STEPS,	    /* vertical bars of random grey, 3 to 17 px wide */
	CHECK_CHECKERBOARD, /* values 0 and 255 */
	CHECK_FILL_COUNT
};
const char *check_fill_name(enum check_fill how);
/* Fills a U8 image. Fills an image of any other format byte by byte. */
void check_fill(const struct sx_image *img, enum check_fill how, struct check_rng *r);
/*
 * Fills a U8 stereo pair. The right image is the left one moved by `shift` px (left x matches right x -
 * shift). The new columns of the right image are noise, and one of its pixels in `noise_every` (0: none).
 */
void check_fill_pair(const struct sx_image *left, const struct sx_image *right, enum check_fill how,
		     int shift, int noise_every, struct check_rng *r);
/*
 * Fills a Y16 image: a texture from column `shift` on, `levels` values from 52 on, a hot patch and a dead
 * pixel.
 */
void check_fill_y16(const struct sx_image *img, int levels, int shift, struct check_rng *r);
/*
 * Fills a U16 Q4 disparity map: patches of similar disparity below `limit` px. `invalid_percent` of the
 * pixels are 0xffff.
 */
void check_fill_disparity(const struct sx_image *img, int limit, int invalid_percent, struct check_rng *r);

/*
 * Returns the number of open file descriptors. The descriptors that this function opens itself add the same
 * number to every result.
 */
int check_descriptors(void);

/* Copies pixels between images of the same format and size, with any pitch. */
void check_copy(const struct sx_image *from, const struct sx_image *to);

/*
 * Returns true if all pixels are equal. Otherwise returns false and prints one line on stderr:
 *   seed 7 / census noise 101x67+27: 61 of 6767 values differ, first at (97,3): want 5, got 6
 * `what`: stage and circumstances. If disparities > 0, rows are volumes [x][d] and the place is (x,y,d).
 */
bool check_same(const char *what, uint64_t seed, const struct sx_image *want, const struct sx_image *got,
		int disparities);

#endif
