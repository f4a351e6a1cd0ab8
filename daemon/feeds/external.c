/*
 * Disparity maps for pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/feeds/external.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/contract.h"

int sx_external_init(struct sx_external_maps *e, const struct sx_settings *settings, const char *shm_dir,
		     const struct sx_source_info *info, int count, struct sx_telemetry *telemetry,
		     struct sx_why *why)
{
	struct sx_feed_params params = {
		.kind = SX_FEED_DISPARITY,
		.name = settings->external.source,
		.shm_dir = shm_dir,
	};
	int r;

	*e = (struct sx_external_maps){0};
	if (settings->params.stereo.matcher != SX_MATCH_EXTERNAL)
		return 0;
	sx_feed_input_fit_source(&params, settings, info);
	if (settings->external.pairs) /* the writer has the exact times, from the offered pairs */
		params.tolerance_ns = 0;
	r = sx_feed_input_init(&e->in, &params, settings->external.wait_ms, count, telemetry, why);
	if (r == -EINVAL) /* only the size can be wrong: the configuration has checked the name */
		sx_why_set(why, "disparity maps of %dx%d are too large", params.image_width,
			   params.image_height);
	return r;
}

void sx_external_finish(struct sx_external_maps *e)
{
	sx_feed_input_finish(&e->in);
}

enum sx_external_ready sx_external_ready(struct sx_external_maps *e, int index, struct sx_pair *pair)
{
	enum sx_feed_match match;
	int64_t now_ns;
	bool waits;

	pair->disparity = NULL;
	if (!e->in.feed)
		return SX_EXTERNAL_READY;
	sx_must_index(index, e->in.count);
	now_ns = sx_now_ns();
	waits = sx_feed_input_look(&e->in, pair, now_ns);
	if (waits && sx_feed_awaits_same(e->in.feed, pair->left_ns))
		return SX_EXTERNAL_WAIT;
	match = sx_feed_take_disparity(e->in.feed, pair->left_ns, e->in.block[index].memory, &e->map[index]);
	if (match == SX_FEED_NONE && waits)
		return SX_EXTERNAL_WAIT;
	if (match == SX_FEED_NONE)
		sx_telemetry_add(e->in.telemetry, SX_METRIC_DROPPED_NO_MAP, 1);
	else
		pair->disparity = &e->map[index];
	sx_feed_input_settle(&e->in, pair, match, now_ns);
	return match == SX_FEED_NONE ? SX_EXTERNAL_DROP : SX_EXTERNAL_READY;
}
