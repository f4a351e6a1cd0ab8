/*
 * Functions shared by all kinds of sources.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/source.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/contract.h"
#include "capture/source_kinds.h"

const struct sx_source_info *sx_source_info(const struct sx_source *s)
{
	return &s->info;
}

bool sx_source_block(const struct sx_source *s, int index, struct sx_block *ret)
{
	return s->ops->block(s, index, ret);
}

void sx_source_counters(const struct sx_source *s, struct sx_source_counters *ret)
{
	for (int side = 0; side < 2; side++) {
		ret->captured[side] = atomic_load_explicit(&s->captured[side], memory_order_relaxed);
		ret->gaps[side] = atomic_load_explicit(&s->gaps[side], memory_order_relaxed);
		for (int i = 0; i < SX_DROP_COUNT; i++)
			ret->dropped[side][i] =
				atomic_load_explicit(&s->dropped[side][i], memory_order_relaxed);
	}
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < SX_ODD_JPEG_COUNT; i++)
			ret->odd_jpeg[side][i] =
				atomic_load_explicit(&s->odd_jpeg[side][i], memory_order_relaxed);
	ret->corrupt = atomic_load_explicit(&s->corrupt, memory_order_relaxed);
	ret->unpaired = atomic_load_explicit(&s->unpaired, memory_order_relaxed);
	ret->reconnects = atomic_load_explicit(&s->reconnects, memory_order_relaxed);
}

const char *sx_image_drop_name(enum sx_image_drop drop)
{
	static const char *const names[] = {"error_flag", "short", "broken", "unpaired", "overload", "first"};

	sx_must_index(drop, SX_DROP_COUNT);
	return names[drop];
}

bool sx_source_warning(struct sx_source *s, char *text, size_t bytes)
{
	if (!*s->warning)
		return false;
	snprintf(text, bytes, "%s", s->warning);
	*s->warning = 0;
	return true;
}

void sx_source_notes(struct sx_source *s, int side, const char *what, const struct sx_image_notes *notes)
{
	sx_must_index(side, 2);
	for (int i = 0; i < SX_ODD_JPEG_COUNT; i++)
		if (notes->odd_jpeg & 1u << i)
			atomic_fetch_add_explicit(&s->odd_jpeg[side][i], 1, memory_order_relaxed);
	if (!s->warned)
		s->warned = sx_orientation_text(what, notes->orientation, s->warning, sizeof(s->warning));
}

int sx_source_fd(const struct sx_source *s)
{
	return s->ops->fd(s);
}

int sx_source_next(struct sx_source *s, struct sx_pair *pair, struct sx_why *why)
{
	return s->ops->next(s, pair, why);
}

int sx_source_change_controls(struct sx_source *s, const struct sx_source_params *p, struct sx_why *why)
{
	return s->ops->change_controls ? s->ops->change_controls(s, p, why) : 0;
}

void sx_source_refuse(struct sx_source *s, const char *sentence)
{
	if (s && s->ops->refuse)
		s->ops->refuse(s, sentence);
}

void sx_source_release(struct sx_source *s, const struct sx_pair *pair)
{
	s->ops->release(s, pair);
}

int sx_source_check_size(const char *what, int width, int height, struct sx_why *why)
{
	if (width >= SX_WIDTH_MIN && width <= SX_WIDTH_MAX && height >= SX_HEIGHT_MIN &&
	    height <= SX_HEIGHT_MAX)
		return 0;
	return sx_why_fail(-EINVAL, why, "%s: %dx%d is outside %dx%d to %dx%d", what, width, height,
			   SX_WIDTH_MIN, SX_HEIGHT_MIN, SX_WIDTH_MAX, SX_HEIGHT_MAX);
}

bool sx_source_is_due(struct sx_source *s, struct sx_slots *slots, int reserved)
{
	const uint64_t before = slots->missed;
	const bool due = sx_slots_is_due(slots, reserved);
	const uint64_t missed = slots->missed - before;

	sx_must_be(!due || missed == 0);
	for (int side = 0; side < 2; side++) {
		atomic_fetch_add_explicit(&s->captured[side], missed, memory_order_relaxed);
		atomic_fetch_add_explicit(&s->dropped[side][SX_DROP_OVERLOAD], missed, memory_order_relaxed);
	}
	return due;
}

struct sx_slot *sx_source_slot(struct sx_source *s, struct sx_slots *slots)
{
	return sx_source_is_due(s, slots, 0) ? sx_slots_reserve(slots) : NULL;
}

void sx_source_deliver(struct sx_source *s, struct sx_slot *slot, struct sx_pair *pair)
{
	int64_t now = sx_now_ns();

	sx_must_be(atomic_load_explicit(&slot->busy, memory_order_relaxed));
	sx_must(slot->left.width, ==, s->info.width);
	*pair = (struct sx_pair){
		.left = slot->left,
		.right = slot->right,
		.number = ++s->number,
		.left_ns = now,
		.right_ns = now,
		.clock = STIXEL_CLOCK_MONOTONIC,
		.stamp = STIXEL_STAMP_SOFTWARE,
		.slot = slot,
	};
	for (int side = 0; side < 2; side++)
		atomic_fetch_add_explicit(&s->captured[side], 1, memory_order_relaxed);
}
