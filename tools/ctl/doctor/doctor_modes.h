/*
 * Finds the camera modes that fulfil the configuration, for stixelctl doctor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_DOCTOR_DOCTOR_MODES_H
#define SX_TOOLS_CTL_DOCTOR_DOCTOR_MODES_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/v4l2/v4l2_probe.h"

/* Mode that the configuration requests from a camera. */
struct doctor_wish {
	const char *format; /* NULL: any */
	int width, height;  /* size of the whole picture of one camera, px; 0: any */
	double fps;	    /* 0: any */
	bool interleaved;   /* both images interleaved pixel by pixel, which needs other formats */
};

struct doctor_offer {
	const struct sx_v4l2_mode *modes;
	int count;
};

/*
 * Finds the first mode of a that b offers too and that fulfils the wish. b NULL: a alone. If the wish has no
 * size, takes the largest size of the first common format. *ret has the lower rate of both, and a single
 * size.
 */
bool doctor_mode(const struct doctor_offer *a, const struct doctor_offer *b, const struct doctor_wish *wish,
		 struct sx_v4l2_mode *ret);
/* Finds the fastest mode of the wished size and format, at any rate. Otherwise works as doctor_mode(). */
bool doctor_fastest(const struct doctor_offer *a, const struct doctor_offer *b,
		    const struct doctor_wish *wish, struct sx_v4l2_mode *ret);
/* Writes the wish as "1280x720 at 30 fps as YUYV", with the wished parts only, or "anything". */
const char *doctor_wish_text(const struct doctor_wish *wish, char *to, size_t bytes);
/*
 * Writes "GREY, YUYV in 4 sizes up to 1280x720": formats, the number of sizes of the first format, its
 * largest size.
 */
const char *doctor_formats_text(const struct doctor_offer *offer, char *to, size_t bytes);
/* Writes "YUYV 640x480 at 30, 320x240 at 60; MJPG ...". A long text is cut with "...". */
const char *doctor_offer_text(const struct doctor_offer *offer, char *to, size_t bytes);

#endif
