/*
 * Class scores for the pairs of a pipeline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_FEEDS_SEMANTICS_H
#define SX_DAEMON_FEEDS_SEMANTICS_H

#include "daemon/feeds/inlet.h"

struct sx_semantics {
	struct sx_inlet in; /* without a feed: no source of scores is configured */
	struct sx_scores scores[SX_CONTEXTS_MAX];
	bool settled; /* the pair at hand has what it gets */
	enum sx_feed_match match;
};

/*
 * Takes all memory, count times. Nothing but a zeroed structure when no source is configured. Negative errno
 * with a sentence; then finish.
 */
int sx_semantics_init(struct sx_semantics *s, const struct sx_settings *settings, const char *shm_dir,
		      const struct sx_source_info *info, int count, struct sx_telemetry *telemetry, char *why,
		      size_t why_bytes);
/* Accepts a zeroed and a half-made one. */
void sx_semantics_finish(struct sx_semantics *s);

/*
 * Thread: frame. Gives the pair its scores, if there are any, in memory number index. False: they may still
 * come, ask again within a millisecond; true: the pair may go. patient: it cannot go yet anyway, so that it
 * takes its own scores and does not do without them.
 */
bool sx_semantics_ready(struct sx_semantics *s, int index, struct sx_pair *pair, bool patient);
/* Thread: frame. The pair goes, and what it has is counted; or it is given up, ready or not. */
void sx_semantics_done(struct sx_semantics *s, const struct sx_pair *pair, bool goes);
/* Thread: frame. STIXEL_FRAME_SCORES and so on for a frame of this pair. */
uint32_t sx_semantics_flags(const struct sx_semantics *s, const struct sx_pair *pair);

#endif
