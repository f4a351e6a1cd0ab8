/*
 * Which left and which right image belong together: by the time at which they were taken. Pure: knows no
 * camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_PAIRING_H
#define SX_CAPTURE_V4L2_PAIRING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * More images than this never wait on one side: a camera whose partner is silent must get its buffers back.
 */
#define SX_PAIRING_WAIT 3
#define SX_PAIRING_ROOM 32

struct sx_pairing_image {
	int index;     /* the caller's */
	int64_t ns;    /* one clock for both sides */
	int overtaken; /* by how many images of its side that came later and are older */
};

/* Images of each side that wait, oldest first. Zeroed but for tolerance_ns: empty. */
struct sx_pairing {
	int64_t tolerance_ns; /* the most that the images of a pair may be apart */
	struct {
		struct sx_pairing_image images[SX_PAIRING_ROOM];
		int count;
		int64_t last_ns; /* of the image that came last */
	} side[2];
};

enum sx_pairing_fate {
	SX_PAIRING_UNPAIRED, /* has no partner within the tolerance, and none can come */
	SX_PAIRING_OVERLOAD  /* has one, but a newer pair is there; always both of a pair */
};

/*
 * found: left, right are the newest pair. dropped: images that will never be given out, the caller's again.
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
 * side 0 left, 1 right; ns 0 to 2^62, in any order. One that SX_PAIRING_WAIT later ones are older than has
 * jumped ahead, and its image is given up; until then nothing is too late for it. False: no room, the image
 * was not taken.
 */
bool sx_pairing_add(struct sx_pairing *p, int side, int index, int64_t ns);

/* The caller has lost an image that waits. False: it does not wait. */
bool sx_pairing_forget(struct sx_pairing *p, int side, int index);

/*
 * Takes the newest pair of two images that are nearest to each other and within the tolerance (of two
 * partners that are equally near the older one), and gives up what can no longer become a pair. Every image
 * that was added is in exactly one result, or still waits.
 */
void sx_pairing_take(struct sx_pairing *p, struct sx_pairing_result *ret);

#endif
