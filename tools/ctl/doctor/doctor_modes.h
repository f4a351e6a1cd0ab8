/*
 * stixelctl doctor: which of the modes that cameras offer would do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_DOCTOR_DOCTOR_MODES_H
#define SX_TOOLS_CTL_DOCTOR_DOCTOR_MODES_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/v4l2/v4l2_probe.h"

/* What the configuration asks of a camera. */
struct doctor_wish {
	const char *format; /* NULL: any */
	int width, height;  /* of the whole picture of one camera; 0: any */
	double fps;	    /* 0: any */
	bool interleaved;   /* both images pixel by pixel: other formats than without */
};

struct doctor_offer {
	const struct sx_v4l2_mode *modes;
	int count;
};

/*
 * The first mode of a that a and b (NULL: a alone) both offer and that fulfils the wish; without a size
 * in the wish the largest of the first format that they share. The rate of *ret is the lower one of
 * both, its size a single one.
 */
bool doctor_mode(const struct doctor_offer *a, const struct doctor_offer *b, const struct doctor_wish *wish,
		 struct sx_v4l2_mode *ret);
/* The same whatever the rate that is wished: the fastest of the modes of that size and format. */
bool doctor_fastest(const struct doctor_offer *a, const struct doctor_offer *b,
		    const struct doctor_wish *wish, struct sx_v4l2_mode *ret);
/* "1280x720 at 30 fps as YUYV", with what is wished alone; "anything". */
const char *doctor_wish_text(const struct doctor_wish *wish, char *to, size_t bytes);
/* "GREY, YUYV in 4 sizes up to 1280x720": formats, sizes of the first, the largest. */
const char *doctor_formats_text(const struct doctor_offer *offer, char *to, size_t bytes);
/* "YUYV 640x480 at 30, 320x240 at 60; MJPG ...", cut with "..." when it is too long. */
const char *doctor_offer_text(const struct doctor_offer *offer, char *to, size_t bytes);

#endif
