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
	int width, height; /* px */
	size_t pitch;
	enum sx_pixel pixel; /* of the pairs that the engine gets */
	/* Bayer patterns: conversion to grey; its data and pitch are unset. SX_RAW_NONE: read in place */
	struct sx_raw raw;
	size_t image_bytes; /* from the first to the last byte of an image */
	unsigned step;	    /* bytes of a word: pitch and offsets are multiples of it */
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
