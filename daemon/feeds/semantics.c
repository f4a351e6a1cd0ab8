/*
 * Class scores for pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/feeds/semantics.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/contract.h"
#include "stixel.h"

int sx_semantics_init(struct sx_semantics *s, const struct sx_settings *settings, const char *shm_dir,
		      const struct sx_source_info *info, int count, struct sx_telemetry *telemetry,
		      struct sx_why *why)
{
	struct sx_feed_params params = {
		.kind = SX_FEED_SCORES,
		.name = settings->semantics.source,
		.shm_dir = shm_dir,
		.classes = settings->params.semantics.classes,
		.scale = settings->semantics.scale,
		.max_age_ns = (int64_t)(settings->semantics.max_age_ms * 1e6),
	};
	int r;

	*s = (struct sx_semantics){0};
	if (!params.name)
		return 0;
	sx_feed_input_fit_source(&params, settings, info);
	r = sx_feed_input_init(&s->in, &params, settings->semantics.wait_ms, count, telemetry, why);
	if (r == -EINVAL) /* only the size can be wrong: the configuration has checked the rest */
		sx_why_set(why,
			   "scores of %d classes for images of %dx%d are too large at semantics.scale = %d",
			   params.classes, params.image_width, params.image_height, params.scale);
	return r;
}

void sx_semantics_finish(struct sx_semantics *s)
{
	sx_feed_input_finish(&s->in);
}

bool sx_semantics_ready(struct sx_semantics *s, int index, struct sx_pair *pair, bool patient)
{
	bool waits;

	if (s->settled)
		return true;
	pair->scores = NULL;
	if (!s->in.feed)
		return true;
	sx_must_index(index, s->in.count);
	waits = sx_feed_input_look(&s->in, pair, sx_now_ns());
	if (waits && sx_feed_awaits_same(s->in.feed, pair->left_ns))
		return false;
	waits = waits || patient;
	s->match =
		sx_feed_take(s->in.feed, pair->left_ns, !waits, s->in.block[index].memory, &s->scores[index]);
	s->settled = s->match != SX_FEED_NONE || !waits;
	if (s->match != SX_FEED_NONE)
		pair->scores = &s->scores[index];
	return s->settled;
}

void sx_semantics_done(struct sx_semantics *s, const struct sx_pair *pair, bool goes)
{
	static const enum sx_metric frames[] = {
		[SX_FEED_NONE] = SX_METRIC_SCORES_MISSING,
		[SX_FEED_SAME] = SX_METRIC_SCORES_MATCHED,
		[SX_FEED_OLDER] = SX_METRIC_SCORES_OLDER,
	};

	if (!s->in.feed)
		return;
	sx_must_be(s->settled || !goes);
	s->settled = false;
	if (!goes) {
		sx_feed_input_forget(&s->in);
		return;
	}
	sx_must_index(s->match, sizeof(frames) / sizeof(frames[0]));
	sx_telemetry_add(s->in.telemetry, frames[s->match], 1);
	sx_feed_input_settle(&s->in, pair, s->match, sx_now_ns());
}

uint32_t sx_semantics_flags(const struct sx_semantics *s, const struct sx_pair *pair)
{
	if (!s->in.feed)
		return 0;
	return pair->scores ? STIXEL_FRAME_SCORES : STIXEL_FRAME_SCORES_MISSING;
}
