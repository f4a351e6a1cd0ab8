/*
 * Class scores for pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/semantics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "config/config.h"
#include "stixel.h"

/*
 * Scores belong to the image that is less than half a period away; without a known rate, only to that of the
 * same time.
 */
static int64_t tolerance_ns(const struct sx_settings *settings, const struct sx_source_info *info)
{
	double fps = info->fps > 0 ? info->fps : settings->source.fps;

	return info->paced && fps > 0 ? (int64_t)(0.5e9 / fps) : 0;
}

static int scores_take_memory(struct sx_block *block, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	block->bytes = (bytes + page - 1) / page * page;
	block->memory = aligned_alloc(page, block->bytes);
	if (!block->memory)
		return -ENOMEM;
	memset(block->memory, 0, block->bytes);
	return 0;
}

int sx_semantics_init(struct sx_semantics *s, const struct sx_settings *settings, const char *shm_dir,
		      const struct sx_source_info *info, int count, struct sx_telemetry *telemetry, char *why,
		      size_t why_bytes)
{
	const struct sx_rig *rig = sx_settings_rig(settings, info);
	const struct sx_feed_params params = {
		.name = settings->semantics.source,
		.shm_dir = shm_dir,
		.classes = settings->params.semantics.classes,
		.image_width = rig ? rig->width : info->width, /* of the published image */
		.image_height = rig ? rig->height : info->height,
		.scale = settings->semantics.scale,
		.tolerance_ns = tolerance_ns(settings, info),
		.max_age_ns = (int64_t)(settings->semantics.max_age_ms * 1e6),
	};
	int r;

	*s = (struct sx_semantics){.telemetry = telemetry};
	if (!params.name)
		return 0;
	s->wait_ns = (int64_t)(settings->semantics.wait_ms * 1e6);
	r = sx_feed_create(&s->feed, &params);
	for (; r == 0 && s->count < count; s->count++)
		r = scores_take_memory(&s->block[s->count], sx_feed_bytes(&params));
	if (r == -EINVAL) /* the rest of what it refuses, the configuration has refused before */
		snprintf(why, why_bytes,
			 "scores of %d classes for images of %dx%d are too large at semantics.scale = %d",
			 params.classes, params.image_width, params.image_height, params.scale);
	else if (r < 0)
		snprintf(why, why_bytes, "no room for class scores: %s", strerror(-r));
	return r;
}

void sx_semantics_finish(struct sx_semantics *s)
{
	sx_feed_destroy(s->feed);
	for (int i = 0; i < SX_CONTEXTS_MAX; i++)
		free(s->block[i].memory);
	*s = (struct sx_semantics){0};
}

/* Logs when scores begin to be missing, why, and when they are back; counts in telemetry. */
static void scores_tell(struct sx_semantics *s, enum sx_feed_match match, int64_t now_ns)
{
	enum sx_feed_state state = sx_feed_state(s->feed, now_ns);
	const char *why = sx_feed_why(s->feed);
	struct sx_feed_counters counters;

	if (match == SX_FEED_NONE)
		sx_condition_hit(&s->missing, now_ns, SX_LOG_DAEMON, SX_LOG_WARNING,
				 "frame without class scores: %s",
				 *why			    ? why
				 : state == SX_FEED_READING ? "those of its picture did not come in time"
							    : "the writer is silent");
	else
		sx_condition_clear(&s->missing, now_ns, SX_LOG_DAEMON, "class scores are available again");
	sx_feed_counters(s->feed, &counters);
	sx_telemetry_scores(s->telemetry, match, &counters, state, why);
}

static void settle(struct sx_semantics *s, int index, struct sx_pair *pair, enum sx_feed_match match,
		   int64_t now_ns)
{
	s->until_ns = 0;
	pair->scores = match == SX_FEED_NONE ? NULL : &s->scores[index];
	if (match != SX_FEED_SAME)
		sx_feed_missed(s->feed, pair->left_ns);
	scores_tell(s, match, now_ns);
}

bool sx_semantics_ready(struct sx_semantics *s, int index, struct sx_pair *pair)
{
	int64_t now_ns;
	enum sx_feed_match match;
	bool waits;

	pair->scores = NULL;
	if (!s->feed)
		return true;
	now_ns = sx_now_ns();
	sx_feed_look(s->feed, now_ns);
	if (!s->until_ns)
		s->until_ns = now_ns + s->wait_ns;
	/* no waiting for a writer that is away, or that has left this image out */
	waits = now_ns < s->until_ns && sx_feed_expects(s->feed, pair->left_ns, now_ns);
	match = sx_feed_take(s->feed, pair->left_ns, !waits, s->block[index].memory, &s->scores[index]);
	if (match == SX_FEED_NONE && waits)
		return false;
	settle(s, index, pair, match, now_ns);
	return true;
}

uint32_t sx_semantics_flags(const struct sx_semantics *s, const struct sx_pair *pair)
{
	if (!s->feed)
		return 0;
	return pair->scores ? STIXEL_FRAME_SCORES : STIXEL_FRAME_SCORES_MISSING;
}
