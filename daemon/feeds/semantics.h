/*
 * Class scores for the pairs of a pipeline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_FEEDS_SEMANTICS_H
#define SX_DAEMON_FEEDS_SEMANTICS_H

#include "base/why.h"
#include "daemon/feeds/feed_input.h"

struct sx_semantics {
	struct sx_feed_input in; /* input of scores; feed NULL: the settings name no writer of scores */
	struct sx_scores scores[SX_CONTEXTS_MAX];
	bool settled; /* the scores of the current pair are chosen, or it gets none */
	enum sx_feed_match match;
};

/*
 * Allocates all memory, count times. If no source is configured, only zeroes the struct. On an error, returns
 * a negative errno with a sentence; call finish then.
 */
int sx_semantics_init(struct sx_semantics *s, const struct sx_settings *settings, const char *shm_dir,
		      const struct sx_source_info *info, int count, struct sx_telemetry *telemetry,
		      struct sx_why *why);
/* Accepts a zeroed and a partly made struct. */
void sx_semantics_finish(struct sx_semantics *s);

/*
 * Thread: frame. Gives the pair its scores, if there are any, in memory number index. Returns false if the
 * scores may still come; call again within a millisecond. Returns true if the pair may go on. patient: the
 * pair has to wait anyway, so it waits for its own scores, too.
 */
bool sx_semantics_ready(struct sx_semantics *s, int index, struct sx_pair *pair, bool patient);
/*
 * Thread: frame. Ends the wait of a pair. goes: the pair is submitted, and its scores are counted. Else the
 * pair is given up, with or without scores.
 */
void sx_semantics_done(struct sx_semantics *s, const struct sx_pair *pair, bool goes);
/*
 * Thread: frame. Returns the flags for a frame of this pair: STIXEL_FRAME_SCORES, STIXEL_FRAME_SCORES_MISSING
 * or 0.
 */
uint32_t sx_semantics_flags(const struct sx_semantics *s, const struct sx_pair *pair);

#endif
