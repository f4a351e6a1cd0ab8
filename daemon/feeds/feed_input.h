/*
 * Input of class scores or disparity maps from another process, for the pairs of a pipeline: the feed, memory
 * for each frame in flight, and the time that a pair waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_FEEDS_FEED_INPUT_H
#define SX_DAEMON_FEEDS_FEED_INPUT_H

#include "base/log.h"
#include "base/pair.h"
#include "base/why.h"
#include "capture/source.h"
#include "config/settings.h"
#include "daemon/channels/mailbox.h"
#include "daemon/telemetry/telemetry.h"
#include "ipc/feed/feed.h"

struct sx_feed_input {
	struct sx_feed *feed; /* NULL: no input is configured, and the fields below are unused */
	struct sx_telemetry *telemetry;
	enum sx_feed_kind kind;
	struct sx_block block[SX_CONTEXTS_MAX]; /* whole pages, which an engine can pin */
	int count;
	int64_t wait_ns;
	int64_t until_ns; /* end of the current pair's wait; 0: no pair waits */
	struct sx_condition missing;
};

/*
 * Sets the size of the published image and its period. A map or scores belong to an image if their capture
 * times differ by at most half a period, or by 0 if the rate is unknown.
 */
void sx_feed_input_fit_source(struct sx_feed_params *p, const struct sx_settings *settings,
			      const struct sx_source_info *info);
/*
 * Allocates all memory, count times. Errors with a sentence as sx_feed_create(), or -ENOMEM. -EINVAL has no
 * sentence, because the caller knows more about the sizes. Call finish after an error; it also accepts a
 * zeroed struct.
 */
int sx_feed_input_init(struct sx_feed_input *in, const struct sx_feed_params *p, double wait_ms, int count,
		       struct sx_telemetry *telemetry, struct sx_why *why);
void sx_feed_input_finish(struct sx_feed_input *in);

/*
 * Thread: frame. For each pair, call look, then take the scores or the map from the feed. If there are
 * none and look returned true, wait and call again within a millisecond. Else call settle.
 * look: returns true if it is worth waiting: the time is not up, and the writer exists and has not skipped
 * this image.
 * settle: tells what the pair gets, or that it is given up. Logs when scores or maps begin to be missing,
 * why, and when they are back.
 */
bool sx_feed_input_look(struct sx_feed_input *in, const struct sx_pair *pair, int64_t now_ns);
void sx_feed_input_settle(struct sx_feed_input *in, const struct sx_pair *pair, enum sx_feed_match match,
			  int64_t now_ns);
/* Gives up the current pair for another reason. The next pair gets its full time to wait. */
void sx_feed_input_forget(struct sx_feed_input *in);

#endif
