/*
 * Disparity maps from another process, for the pairs of a pipeline (stereo.matcher = external).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_FEEDS_EXTERNAL_H
#define SX_DAEMON_FEEDS_EXTERNAL_H

#include "base/why.h"
#include "daemon/feeds/feed_input.h"

struct sx_external_maps {
	struct sx_feed_input in; /* input of maps; feed NULL: the daemon matches the pairs itself */
	struct sx_disparity map[SX_CONTEXTS_MAX];
};

/*
 * Allocates all memory, count times. If the daemon matches the pairs, only zeroes the struct. On an error,
 * returns a negative errno with a sentence; call finish then.
 */
int sx_external_init(struct sx_external_maps *e, const struct sx_settings *settings, const char *shm_dir,
		     const struct sx_source_info *info, int count, struct sx_telemetry *telemetry,
		     struct sx_why *why);
/* Accepts a zeroed and a partly made struct. */
void sx_external_finish(struct sx_external_maps *e);

/*
 * Thread: frame. Gives the pair its map, in memory number index. WAIT: the map may still come; call again
 * within a millisecond. DROP: the map does not come, and the pair is released, because without a map there is
 * no frame.
 */
enum sx_external_ready { SX_EXTERNAL_READY, SX_EXTERNAL_WAIT, SX_EXTERNAL_DROP };
enum sx_external_ready sx_external_ready(struct sx_external_maps *e, int index, struct sx_pair *pair);

#endif
