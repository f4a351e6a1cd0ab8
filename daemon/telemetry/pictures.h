/*
 * What the pictures say of the cameras: figures of a frame, and whether something is wrong with them. Knows
 * no clock and no thread, so that tests/daemon/test_pictures.c can try every case.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_TELEMETRY_PICTURES_H
#define SX_DAEMON_TELEMETRY_PICTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "stages/monitor/row_error.h"
#include "stages/params/params.h"

/* Of one frame; NAN: not known. Left, right where there are two; row errors by enum sx_row_part. */
struct sx_pictures {
	uint64_t frame;	 /* number */
	double density;	 /* share of the pixels that were measured */
	double infinity; /* of these, with a disparity below 1 px */
	double blind;	 /* share of the stixel columns without any measurement */
	double row_error[SX_ROWS_PARTS], row_spread[SX_ROWS_PARTS]; /* px */
	double dark[2], saturated[2];				    /* share of the samples */
	double flat[2];						    /* share of the areas */
	double sharpness[2];					    /* mean absolute Laplacian, grey levels */
	double raw_min, raw_max; /* raw values that became grey level 0 and 255, of Y16 */
	double empty[2];	 /* flat, where next to nothing is measured either; else 0 */
	double frozen[2]; /* 1: it is the image of the frame before again, which it should not be; else 0 */
	double twice;	  /* 1: one image is there twice, to the bit; else 0 */
	uint64_t checksum[2];
};

/* What a frame is judged by. */
struct sx_pictures_rules {
	bool live;	/* cameras: no two images of theirs are alike, as noise is in them */
	bool matched;	/* the engine has matched the pair; else another process gives the map */
	double noticed; /* density with which something is seen; more than 1: density says nothing of it */
};
struct sx_pictures_rules sx_pictures_rules(const struct sx_params *p, bool live);

/* pixels: of the disparity map. columns: of stixels. before: of the frame before; NULL: there is none. */
void sx_pictures_of(struct sx_pictures *ret, const struct sx_monitor *m, uint64_t frame, uint32_t pixels,
		    uint32_t columns, const struct sx_pictures *before,
		    const struct sx_pictures_rules *rules);

/*
 * Whether a frame shows nothing of what is there (STIXEL_FRAME_BLIND), by itself: there is no time to wait
 * for another one, and the next that shows something is good at once.
 * One image or both are black, white or flat, by 98 %, and next to nothing is measured; or one is black or
 * white, and the other far from it. One image is that of the frame before, and the other is not; with
 * cameras, either is. Both are the same, to the bit, or by what is measured.
 */
bool sx_pictures_are_blind(const struct sx_pictures *p, const struct sx_pictures_rules *rules);

#define SX_PICTURES_SAMPLES 20 /* five seconds of ticks */
#define SX_PICTURES_WHY_BYTES 160

/*
 * What is wrong, by medians of samples, so that single frames do not count:
 * black, white: of one image or both 98 % of the samples are dark or saturated, over 8 samples; until it is
 *   90 %.
 * empty: 98 % of the areas are flat and next to nothing is measured, over 8; until 90 %.
 * frozen: more than half of 8.
 * same: 98 % of the measured pixels are at infinity and no row error, over 8: one image twice; until 90 %. Or
 *   more than half of 8 to the bit.
 * rows: the row error of the whole or of a third, over 20 samples of which 8 knew it, is above 1 px;
 *   until 0.7.
 * density: over 8, below half of what it usually is (its mean of about a minute, known from 40 samples on,
 *   ten times as slow while this is wrong); until 60 %.
 * The first of these is the sentence. Thread: main. Zeroed: nothing known yet.
 */
enum sx_picture_fault {
	SX_PICTURE_BLACK,
	SX_PICTURE_WHITE,
	SX_PICTURE_EMPTY,
	SX_PICTURE_FROZEN,
	SX_PICTURE_FAULTS
};
struct sx_pictures_watch {
	struct sx_pictures sample[SX_PICTURES_SAMPLES];
	uint64_t taken; /* samples in all: with 32 bits it would all begin anew after 34 years */
	double usual;	/* density */
	bool wrong[SX_PICTURE_FAULTS][2], same, rows, density;
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
	double density, infinity, row_error, dark, saturated, flat;
};

void sx_pictures_limits(struct sx_pictures_limits *ret, const struct sx_pictures_watch *w);

#endif
