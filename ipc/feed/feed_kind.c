/*
 * Differences between class scores and disparity maps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/feed/feed_kind.h"

#include <assert.h>

#include "base/contract.h"
#include "base/why.h"
#include "ipc/feed/disparity.h"
#include "ipc/feed/scores.h"

static_assert(STIXEL_DISPARITY_SLOTS_MAX == STIXEL_SCORES_SLOTS_MAX, "feed.c keeps so many entries");
#define SAME(field)                                                                    \
	static_assert(offsetof(struct sx_feed_common, field) ==                        \
				      offsetof(struct stixel_scores_header, field) &&  \
			      offsetof(struct sx_feed_common, field) ==                \
				      offsetof(struct stixel_disparity_header, field), \
		      #field)
SAME(abi_major);
SAME(header_bytes);
SAME(data_offset);
SAME(frame_bytes);
SAME(epoch);
SAME(number);
SAME(capture_ns);
SAME(committed_ns);
SAME(frame_number);

const struct sx_feed_words *sx_feed_words(enum sx_feed_kind kind)
{
	static const struct sx_feed_words words[SX_FEED_KINDS] = {
		[SX_FEED_SCORES] = {SX_SCORES_PREFIX, STIXEL_SCORES_RING_MAGIC, "scores", "scores"},
		[SX_FEED_DISPARITY] = {SX_DISPARITY_PREFIX, STIXEL_DISPARITY_RING_MAGIC, "disparity maps",
				       "fields of map"},
	};

	sx_must_index(kind, SX_FEED_KINDS);
	return &words[kind];
}

bool sx_feed_agrees(enum sx_feed_kind kind, const union sx_feed_header *h, uint64_t bytes)
{
	sx_must_index(kind, SX_FEED_KINDS);
	return kind == SX_FEED_SCORES ? sx_scores_agree(&h->scores, bytes)
				      : sx_disparity_agree(&h->disparity, bytes);
}

static bool scores_fit(const struct sx_feed_params *p, const struct stixel_scores_header *h,
		       struct sx_why *why)
{
	sx_must(p->classes, >, 0);
	if (h->classes == (uint32_t)p->classes && h->image_width == (uint32_t)p->image_width &&
	    h->image_height == (uint32_t)p->image_height && h->scale >= (uint32_t)p->scale)
		return true;
	sx_why_set(why,
		   "scores of %u classes for images of %ux%u at scale %u: expected are %d classes, "
		   "%dx%d, scale %d or coarser",
		   h->classes, h->image_width, h->image_height, h->scale, p->classes, p->image_width,
		   p->image_height, p->scale);
	return false;
}

bool sx_feed_fits(const struct sx_feed_params *p, const union sx_feed_header *h, struct sx_why *why)
{
	const struct stixel_disparity_header *d = &h->disparity;

	sx_must(p->image_width, >, 0);
	if (p->kind == SX_FEED_SCORES)
		return scores_fit(p, &h->scores, why);
	if (d->width == (uint32_t)p->image_width && d->height == (uint32_t)p->image_height)
		return true;
	sx_why_set(why, "disparity maps of %ux%u pixels: expected are %dx%d, as the left image has", d->width,
		   d->height, p->image_width, p->image_height);
	return false;
}

size_t sx_feed_data_bytes(enum sx_feed_kind kind, const union sx_feed_header *h)
{
	const struct stixel_disparity_header *d = &h->disparity;

	sx_must_index(kind, SX_FEED_KINDS);
	if (kind == SX_FEED_SCORES)
		return (size_t)(h->scores.classes * h->scores.plane_bytes);
	return ((size_t)d->pitch + d->confidence_pitch) * d->height;
}

size_t sx_feed_bytes(const struct sx_feed_params *p)
{
	const uint32_t width = (uint32_t)p->image_width, height = (uint32_t)p->image_height;
	union sx_feed_header h;
	const bool fits = p->kind == SX_FEED_SCORES ? sx_scores_layout(&h.scores, (uint32_t)p->classes, width,
								       height, (uint32_t)p->scale)
						    : sx_disparity_layout(&h.disparity, width, height, true);

	return fits ? sx_feed_data_bytes(p->kind, &h) : 0;
}
