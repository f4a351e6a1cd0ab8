/*
 * Reads the state of a publisher from its ring without reading frame by frame. Serves replays, which have no
 * status socket, daemons whose socket cannot be reached, and rings whose publisher has died.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_RING_LOOK_H
#define SX_TOOLS_CTL_RING_LOOK_H

#include <jansson.h>
#include <stdbool.h>

#include "stixel.h"

struct ctl_ring {
	struct stixel_status status;
	struct stixel_ring_header header;
	/* header of the newest frame; magic 0: there is no frame, or it is damaged */
	struct stixel_frame_header newest;
	double fps; /* frames per second, from the frames in the ring; NAN: unknown */
};

/*
 * Reads the ring of an instance. Returns 0, or a negative errno as stixel_open(): -ENOENT if there is no
 * ring, -EACCES if this user may not read it.
 */
int ctl_ring_look(struct ctl_ring *ret, const char *instance);
/* Returns true if the publisher runs or hangs, false if it ended or died. */
bool ctl_ring_lives(const struct ctl_ring *r);
bool ctl_ring_replays(const struct ctl_ring *r);
/*
 * Returns the ring's values under the keys of /status, as far as a ring has them, with "replay": true or
 * false. NULL: out of memory.
 */
json_t *ctl_ring_status(const struct ctl_ring *r);

#endif
