/*
 * Where another process gives something for the pairs of a pipeline, class scores or disparity maps: its
 * feed, memory for those of every frame in flight, and how long a pair waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_FEEDS_INLET_H
#define SX_DAEMON_FEEDS_INLET_H

#include "base/log.h"
#include "base/pair.h"
#include "capture/source.h"
#include "config/settings.h"
#include "daemon/exchange/handover.h"
#include "daemon/telemetry/telemetry.h"
#include "ipc/feed/feed.h"

struct sx_inlet {
	struct sx_feed *feed; /* NULL: nothing is to come; then nothing below is used */
	struct sx_telemetry *telemetry;
	enum sx_feed_kind kind;
	struct sx_block block[SX_CONTEXTS_MAX]; /* whole pages: an engine can pin them */
	int count;
	int64_t wait_ns;
	int64_t until_ns; /* the pair at hand waits until then; 0: none waits */
	struct sx_condition missing;
};

/*
 * Size of the image that they are of, as it is published; and its period. Things belong to the image that is
 * so close to theirs: half a period; without a known rate 0.
 */
void sx_inlet_fit_source(struct sx_feed_params *p, const struct sx_settings *settings,
			 const struct sx_source_info *info);
/*
 * Takes all memory, count times. Negative errno as sx_feed_create(), or -ENOMEM, with a sentence (but for
 * -EINVAL: sizes, of which the caller knows more); then finish, which accepts a zeroed one, too.
 */
int sx_inlet_init(struct sx_inlet *in, const struct sx_feed_params *p, double wait_ms, int count,
		  struct sx_telemetry *telemetry, char *why, size_t why_bytes);
void sx_inlet_finish(struct sx_inlet *in);

/*
 * Thread: frame. For each pair: look, then take of the feed, then wait (look returned true, and nothing was
 * there: ask again within a millisecond), or settle.
 * look: also says whether it is worth waiting: the time is not up, and the writer is there and has not left
 * this image out.
 * settle: with what the pair goes, or that it is given up without. The log says when they begin to be
 * missing, why, and when they are back.
 */
bool sx_inlet_look(struct sx_inlet *in, const struct sx_pair *pair, int64_t now_ns);
void sx_inlet_settle(struct sx_inlet *in, const struct sx_pair *pair, enum sx_feed_match match,
		     int64_t now_ns);
/* The pair at hand is given up for another reason: the next one waits anew. */
void sx_inlet_forget(struct sx_inlet *in);

#endif
