/*
 * What the pictures say of the cameras: figures of a frame, and whether something is wrong with them. Knows
 * no clock and no thread, so that tests/daemon/test_pictures.c can try every case.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_PICTURES_H
#define SX_DAEMON_PICTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "stages/stereo/row_error.h"

/* Of one frame; NAN: not known. Left, right where there are two; row errors by enum sx_row_part. */
struct sx_pictures {
	uint64_t frame;	 /* number */
	double density;	 /* share of the pixels that were measured */
	double infinity; /* of these, with a disparity below 1 px */
	double blind;	 /* share of the stixel columns without any measurement */
	double row_error[SX_ROWS_PARTS], row_spread[SX_ROWS_PARTS]; /* px */
	double dark[2], saturated[2];				    /* share of the samples */
	double sharpness[2];					    /* mean absolute Laplacian, grey levels */
};

/* pixels: of the disparity map. columns: of stixels. */
void sx_pictures_of(struct sx_pictures *ret, const struct sx_monitor *m, uint64_t frame, uint32_t pixels,
		    uint32_t columns);

#define SX_PICTURES_SAMPLES 20 /* five seconds of ticks */
#define SX_PICTURES_WHY_BYTES 160

/*
 * What is wrong, by medians of samples, so that single frames do not count:
 * black: of one image or both 98 % of the samples are dark, over 8 samples; until it is 90 %.
 * same: 98 % of the measured pixels are at infinity and no row error, over 8: one image twice; until 90 %.
 * rows: the row error of the whole or of a third, over 20 samples of which 8 knew it, is above 1 px;
 *   until 0.7.
 * density: over 8, below half of what it usually is (its mean of about a minute, known from 40 samples on,
 *   ten times as slow while this is wrong); until 60 %.
 * The first of these is the sentence. Thread: main. Zeroed: nothing known yet.
 */
struct sx_pictures_watch {
	struct sx_pictures sample[SX_PICTURES_SAMPLES];
	uint64_t taken; /* samples in all: with 32 bits it would all begin anew after 34 years */
	double usual;	/* density */
	bool black[2], same, rows, density;
	char why[SX_PICTURES_WHY_BYTES]; /* empty: nothing is wrong */
};

/* Rows lie elsewhere from now on; all else stays known. */
void sx_pictures_forget_rows(struct sx_pictures_watch *w);

/* Once a tick: newest frame, taken as a sample if it is another one than the last. */
void sx_pictures_watch(struct sx_pictures_watch *w, const struct sx_pictures *newest);

/*
 * What the medians are held against now: where the sentence begins, and as long as it is said, where it ends.
 * Density is wrong below it, NAN while the usual one is not known; the others are above it, row errors by
 * their size.
 */
struct sx_pictures_limits {
	double density, infinity, row_error, dark;
};

void sx_pictures_limits(struct sx_pictures_limits *ret, const struct sx_pictures_watch *w);

#endif
