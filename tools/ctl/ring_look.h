/*
 * What a ring says of its publisher, without reading its frames one by one: of replays, which have no status
 * socket, of daemons whose socket cannot be reached, and of what the dead left behind.
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
	struct stixel_frame_header newest; /* magic 0: there is no frame, or it is damaged */
	double fps;			   /* over the frames that lie in the ring; NAN: unknown */
};

/* 0; negative errno as stixel_open(): -ENOENT there is none, -EACCES not allowed to read it. */
int ctl_ring_look(struct ctl_ring *ret, const char *instance);
/* Its publisher runs, or hangs; else it ended or died. */
bool ctl_ring_lives(const struct ctl_ring *r);
bool ctl_ring_replays(const struct ctl_ring *r);
/*
 * The same under the keys that /status has, as far as a ring knows them, with "replay": true or false. NULL:
 * out of memory.
 */
json_t *ctl_ring_status(const struct ctl_ring *r);

#endif
