/*
 * Input from other processes for pairs: takes, waits, reports.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/feeds/feed_input.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "config/config.h"

#define PERIOD_MOST_NS 3600e9

void sx_feed_input_fit_source(struct sx_feed_params *p, const struct sx_settings *settings,
			      const struct sx_source_info *info)
{
	const double fps = info->fps > 0 ? info->fps : settings->source.fps;
	const struct sx_rig *rig = sx_settings_rig(settings, info);

	p->period_ns = info->paced && fps > 0 ? (int64_t)fmin(1e9 / fps, PERIOD_MOST_NS) : 0;
	p->tolerance_ns = p->period_ns / 2;
	p->image_width = rig ? rig->width : info->width;
	p->image_height = rig ? rig->height : info->height;
	sx_must(p->image_width, >, 0);
}

static int feed_input_take_memory(struct sx_block *block, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	sx_must(bytes, >, 0);
	block->bytes = (bytes + page - 1) / page * page;
	block->memory = aligned_alloc(page, block->bytes);
	if (!block->memory)
		return -ENOMEM;
	memset(block->memory, 0, block->bytes);
	return 0;
}

static const char *things(enum sx_feed_kind kind)
{
	return kind == SX_FEED_SCORES ? "class scores" : "disparity maps";
}

int sx_feed_input_init(struct sx_feed_input *in, const struct sx_feed_params *p, double wait_ms, int count,
		       struct sx_telemetry *telemetry, struct sx_why *why)
{
	int r;

	sx_must_index(count - 1, SX_CONTEXTS_MAX);
	*in = (struct sx_feed_input){.telemetry = telemetry, .kind = p->kind};
	in->wait_ns = (int64_t)(wait_ms * 1e6);
	r = sx_feed_create(&in->feed, p);
	for (; r == 0 && in->count < count; in->count++)
		r = feed_input_take_memory(&in->block[in->count], sx_feed_bytes(p));
	if (r == -ENAMETOOLONG)
		sx_why_set(why, "the path of the ring of %s '%s' is too long", things(p->kind), p->name);
	else if (r < 0)
		sx_why_set(why, "no room for %s: %s", things(p->kind), strerror(-r));
	return r;
}

void sx_feed_input_finish(struct sx_feed_input *in)
{
	struct sx_feed_counters counters;

	sx_must(in->count, <=, SX_CONTEXTS_MAX);
	if (in->feed) {
		sx_feed_counters(in->feed, &counters);
		sx_telemetry_feed_closed(in->telemetry, in->kind, &counters);
	}
	sx_feed_destroy(in->feed);
	for (int i = 0; i < SX_CONTEXTS_MAX; i++)
		free(in->block[i].memory);
	*in = (struct sx_feed_input){0};
}

bool sx_feed_input_look(struct sx_feed_input *in, const struct sx_pair *pair, int64_t now_ns)
{
	sx_feed_look(in->feed, now_ns);
	if (!in->until_ns)
		in->until_ns = now_ns + in->wait_ns;
	sx_must(in->until_ns, <=, now_ns + in->wait_ns);
	return now_ns < in->until_ns && sx_feed_expects(in->feed, pair->left_ns, now_ns);
}

void sx_feed_input_forget(struct sx_feed_input *in)
{
	in->until_ns = 0;
}

void sx_feed_input_settle(struct sx_feed_input *in, const struct sx_pair *pair, enum sx_feed_match match,
			  int64_t now_ns)
{
	const bool scores = in->kind == SX_FEED_SCORES;
	enum sx_feed_state state = sx_feed_state(in->feed, now_ns);
	const char *why = sx_feed_why(in->feed),
		   *reason = *why			? why
			     : state == SX_FEED_READING ? "those of its picture did not come in time"
							: "the writer is silent";
	struct sx_feed_counters counters;

	sx_must_be(scores || match != SX_FEED_OLDER);
	in->until_ns = 0;
	if (match != SX_FEED_SAME)
		sx_feed_missed(in->feed, pair->left_ns);
	if (match == SX_FEED_NONE)
		sx_condition_hit(&in->missing, now_ns, SX_LOG_DAEMON, SX_LOG_WARNING, "%s: %s",
				 scores ? "frame without class scores"
					: "pair given up without its disparity map",
				 reason);
	else
		sx_condition_clear(&in->missing, now_ns, SX_LOG_DAEMON, "%s are available again",
				   things(in->kind));
	sx_feed_counters(in->feed, &counters);
	/* A pair without its map gives no frame, so status and state also report the reason. */
	sx_telemetry_feed(in->telemetry, in->kind, &counters, state,
			  match == SX_FEED_NONE && !scores ? reason : why);
}
