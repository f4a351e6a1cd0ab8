/*
 * Disparity maps for the pairs of a pipeline, where another process matches (stereo.matcher = external).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_FEEDS_EXTERNAL_H
#define SX_DAEMON_FEEDS_EXTERNAL_H

#include "daemon/feeds/inlet.h"

struct sx_external_maps {
	struct sx_inlet in; /* without a feed: pairs are matched here */
	struct sx_disparity map[SX_CONTEXTS_MAX];
};

/*
 * Takes all memory, count times. Nothing but a zeroed structure where pairs are matched here. Negative errno
 * with a sentence; then finish.
 */
int sx_external_init(struct sx_external_maps *e, const struct sx_settings *settings, const char *shm_dir,
		     const struct sx_source_info *info, int count, struct sx_telemetry *telemetry, char *why,
		     size_t why_bytes);
/* Accepts a zeroed and a half-made one. */
void sx_external_finish(struct sx_external_maps *e);

/*
 * Thread: frame. Gives the pair its map in memory number index. WAIT: it may still come, ask again within a
 * millisecond; DROP: it does not, and the pair goes back: without a map there is no frame.
 */
enum sx_external_ready { SX_EXTERNAL_READY, SX_EXTERNAL_WAIT, SX_EXTERNAL_DROP };
enum sx_external_ready sx_external_ready(struct sx_external_maps *e, int index, struct sx_pair *pair);

#endif
