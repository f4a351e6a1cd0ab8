/*
 * Image health: statistics of each frame's images, and faults of the cameras that they show. The code knows
 * no clock and no thread, so that tests/daemon/test_image_stats.c can try every case.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_TELEMETRY_IMAGE_STATS_H
#define SX_DAEMON_TELEMETRY_IMAGE_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "stages/diagnostics/row_error.h"
#include "stages/params/params.h"

/*
 * Statistics of one frame; NAN: unknown. Arrays of two: left image, right image. Row errors are indexed by
 * enum sx_row_part.
 */
struct sx_image_stats {
	uint64_t frame;	 /* frame number */
	double density;	 /* share of pixels with a measured disparity */
	double infinity; /* share of the measured pixels with a disparity below 1 px */
	double blind;	 /* share of stixel columns without any measurement */
	double row_error[SX_ROW_ERROR_PARTS], row_spread[SX_ROW_ERROR_PARTS]; /* px */
	double dark[2], saturated[2];					      /* share of sampled pixels */
	double flat[2];							      /* share of areas */
	double sharpness[2];	 /* mean absolute Laplacian, grey levels */
	double raw_min, raw_max; /* raw values that map to grey levels 0 and 255, Y16 only */
	double empty[2];	 /* the same as flat if next to nothing is measured; else 0 */
	double frozen[2]; /* 1: the image repeats the previous frame's image, which is a fault; else 0 */
	double twice;	  /* 1: both images are bitwise equal; else 0 */
	uint64_t checksum[2];
};

/* Rules by which a frame is judged. */
struct sx_image_rules {
	bool live;	/* cameras: noise makes every two images differ */
	bool matched;	/* the engine matches the pair; else another process gives the map */
	double noticed; /* density from which the images show something; more than 1: density cannot tell */
};
struct sx_image_rules sx_image_rules(const struct sx_params *p, bool live);

/*
 * Computes the statistics of a frame. pixels: size of the disparity map. columns: number of stixel columns.
 * before: statistics of the previous frame; NULL: none.
 */
void sx_image_stats_of(struct sx_image_stats *ret, const struct sx_diagnostics *m, uint64_t frame,
		       uint32_t pixels, uint32_t columns, const struct sx_image_stats *before,
		       const struct sx_image_rules *rules);

/*
 * Returns true if a frame shows nothing of the scene (STIXEL_FRAME_BLIND). It judges each frame alone: there
 * is no time to wait for another frame, and the next frame that shows something is good at once.
 * A frame is blind if one of these holds:
 * - One image or both are 98 % black, white or flat, and next to nothing is measured.
 * - One image is black or white, and the other is far from it.
 * - One image repeats the previous frame, and the other does not. With cameras: one image or both repeat it.
 * - Both images are the same, bitwise or by their disparities.
 */
bool sx_images_are_blind(const struct sx_image_stats *p, const struct sx_image_rules *rules);

#define SX_IMAGE_WATCH_SAMPLES 20 /* five seconds of ticks */
#define SX_IMAGE_WATCH_WHY_BYTES 160

/*
 * Faults of the images, by medians over sampled frames, so that single frames do not count. By priority:
 * black, white: 98 % of the sampled pixels of one image or both are dark or saturated, over 8 frames;
 *   until 90 %.
 * empty: 98 % of the areas are flat and next to nothing is measured, over 8 frames; until 90 %.
 * frozen: more than half of 8 frames are frozen.
 * same: one image twice. 98 % of the measured pixels are at infinity and there is no row error, over 8
 *   frames; until 90 %. Or more than half of 8 frames have bitwise equal images.
 * row_error: the row error of the whole image or of a third is above 1 px, over 20 frames of which 8 know it;
 *   until 0.7 px.
 * density: below half of the usual density over 8 frames; until 60 %. The usual density is the mean of about
 *   a minute. It is known from 40 frames on, and changes ten times as slowly during this fault.
 * The first fault that holds becomes the sentence. Thread: main. Zeroed: no sample yet.
 */
enum sx_image_fault {
	SX_IMAGE_FAULT_BLACK,
	SX_IMAGE_FAULT_WHITE,
	SX_IMAGE_FAULT_EMPTY,
	SX_IMAGE_FAULT_FROZEN,
	SX_IMAGE_FAULTS
};
struct sx_image_watch {
	struct sx_image_stats sample[SX_IMAGE_WATCH_SAMPLES];
	uint64_t taken; /* number of samples; 32 bits would overflow after 34 years */
	double usual;	/* usual density */
	bool wrong[SX_IMAGE_FAULTS][2], same, row_error, density;
	char why[SX_IMAGE_WATCH_WHY_BYTES]; /* empty: no fault */
};

/* Discards the row errors, because the rows lie elsewhere from now on. Keeps all else. */
void sx_image_watch_forget_row_error(struct sx_image_watch *w);

/* Takes the newest frame as a sample, if it is new, and judges. Called once a tick. */
void sx_image_watch(struct sx_image_watch *w, const struct sx_image_stats *newest);

/*
 * Current limits of the medians. A fault begins at its limit; while it lasts, the limit is where it ends.
 * density is a lower limit, NAN while the usual density is unknown. The others are upper limits; row_error
 * limits the absolute value.
 */
struct sx_image_limits {
	double density, infinity, row_error, dark, saturated, flat;
};

void sx_image_limits(struct sx_image_limits *ret, const struct sx_image_watch *w);

#endif
