/*
 * Pairs left and right images by the times at which they were taken. Independent of any camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_PAIRING_H
#define SX_CAPTURE_V4L2_PAIRING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Largest number of images that wait on one side. If the partner of a camera is silent, the camera must get
 * its buffers back.
 */
#define SX_PAIRING_WAIT 3
#define SX_PAIRING_ROOM 32

struct sx_pairing_image {
	int index;     /* chosen by the caller */
	int64_t ns;    /* time of the image; the same clock for both sides */
	int overtaken; /* number of later images of its side that have an older time */
};

/* Waiting images of each side, oldest first. Empty if everything but tolerance_ns is zero. */
struct sx_pairing {
	int64_t tolerance_ns; /* largest time between the images of a pair */
	struct {
		struct sx_pairing_image images[SX_PAIRING_ROOM];
		int count;
		int64_t last_ns; /* time of the image added last */
	} side[2];
};

enum sx_pairing_fate {
	SX_PAIRING_UNPAIRED, /* no partner within the tolerance, and none can come */
	SX_PAIRING_OVERLOAD  /* has a partner, but a newer pair exists; reported for both images */
};

/*
 * Result of a call. found: pair[0] and pair[1] are the newest pair. dropped: images that will never be given
 * out; the caller owns them again.
 */
struct sx_pairing_result {
	bool found;
	struct sx_pairing_image pair[2];
	int dropped_count;
	struct {
		int side, index;
		enum sx_pairing_fate fate;
	} dropped[2 * SX_PAIRING_ROOM];
};

/*
 * Adds an image. side: 0 left, 1 right. ns: 0 to 2^62, in any order. If SX_PAIRING_WAIT later images are
 * older than an image, its time has jumped ahead and the image is given up. Until then no image counts as too
 * late. False: no room; the image was not added.
 */
bool sx_pairing_add(struct sx_pairing *p, int side, int index, int64_t ns);

/* Removes a waiting image that the caller has lost. False: the image does not wait. */
bool sx_pairing_forget(struct sx_pairing *p, int side, int index);

/*
 * Takes the newest pair of images that are nearest to each other and within the tolerance. Of two equally
 * near partners the older one is taken. Gives up images that can no longer become a pair. Every added image
 * is in exactly one result, or still waits.
 */
void sx_pairing_take(struct sx_pairing *p, struct sx_pairing_result *ret);

#endif
