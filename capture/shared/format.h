/*
 * Format of the pairs of another process: what a writer declares in its hello (include/stixel_pairs.h),
 * checked and translated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SHARED_FORMAT_H
#define SX_CAPTURE_SHARED_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/camera.h"
#include "base/image.h"
#include "base/rig.h"
#include "base/why.h"
#include "capture/v4l2/raw.h"
#include "stixel_pairs.h"

struct sx_shared_format {
	int width, height;   /* size of one image, px */
	size_t pitch;	     /* distance between two rows, bytes */
	enum sx_pixel pixel; /* pixels of the pairs that the engine gets */
	/* conversion of Bayer patterns to grey; data and pitch are unset. SX_RAW_NONE: no conversion */
	struct sx_raw raw;
	size_t image_bytes; /* length of an image from its first to its last byte, bytes */
	unsigned step;	    /* size of a word, bytes: pitch and offsets are multiples of it */
	enum stixel_clock clock;
	enum stixel_stamp stamp;
	double fps;
	bool simulated; /* STIXEL_PAIRS_SIMULATED */
	bool has_camera, has_rig;
	struct sx_camera camera; /* height, pitch and roll are 0 */
	struct sx_rig rig;
	const char *pixel_name; /* "GREY8", "RGGB16", ... */
};

/* Checks a hello's format and fills *ret. Returns 0, or -EINVAL with a sentence about the first error. */
int sx_shared_format(struct sx_shared_format *ret, const struct stixel_pairs_format *f, struct sx_why *why);

#endif
