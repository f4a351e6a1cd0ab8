/*
 * What the pipeline counts and measures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/telemetry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RELAXED memory_order_relaxed

_Static_assert(SX_STAGE_COUNT <= STIXEL_STAGES, "a frame header has room for every stage");

int sx_telemetry_create(struct sx_telemetry **ret)
{
	struct sx_telemetry *t = malloc(sizeof(*t));

	if (!t)
		return -ENOMEM;
	/* written, not calloc()ed: the first frames must not pay for page faults */
	memset(t, 0, sizeof(*t));
	*ret = t;
	return 0;
}

void sx_telemetry_destroy(struct sx_telemetry *t)
{
	free(t);
}

void sx_telemetry_captured(struct sx_telemetry *t, int64_t now_ns, int64_t skew_ns)
{
	sx_windows_add(&t->skew, now_ns, skew_ns < 0 ? -skew_ns : skew_ns);
	atomic_store_explicit(&t->last_capture_ns, now_ns, RELAXED);
	atomic_fetch_add_explicit(&t->captured, 1, RELAXED);
}

static void store_newest(struct sx_telemetry *t, const struct sx_newest *n)
{
	uint64_t words[SX_NEWEST_WORDS], sequence = atomic_load_explicit(&t->newest_sequence, RELAXED);

	memcpy(words, n, sizeof(words));
	atomic_store_explicit(&t->newest_sequence, sequence + 1, RELAXED);
	/* release stores instead of a fence: as cheap here, and ThreadSanitizer understands them */
	for (size_t i = 0; i < SX_NEWEST_WORDS; i++)
		atomic_store_explicit(&t->newest[i], words[i], memory_order_release);
	atomic_store_explicit(&t->newest_sequence, sequence + 2, memory_order_release);
}

bool sx_telemetry_newest(const struct sx_telemetry *t, struct sx_newest *ret)
{
	uint64_t words[SX_NEWEST_WORDS], before, after;

	for (int tries = 0; tries < 100; tries++) {
		before = atomic_load_explicit(&t->newest_sequence, memory_order_acquire);
		for (size_t i = 0; i < SX_NEWEST_WORDS; i++)
			words[i] = atomic_load_explicit(&t->newest[i], memory_order_acquire);
		after = atomic_load_explicit(&t->newest_sequence, RELAXED);
		if (before == after && before % 2 == 0) {
			memcpy(ret, words, sizeof(*ret));
			return true;
		}
	}
	return false;
}

void sx_telemetry_published(struct sx_telemetry *t, const struct stixel_frame_header *h)
{
	int64_t captured_ns =
		h->capture_left_ns < h->capture_right_ns ? h->capture_left_ns : h->capture_right_ns;
	int64_t latency_ns = h->published_ns - captured_ns;
	const struct sx_newest newest = {
		.frames = h->published,
		.stixels = h->stixel_count,
		.pixels = (uint64_t)h->image_width * h->image_height,
		.road_origin = h->road_origin,
		.road_inliers = h->road_inliers,
		.road_age = h->road_age,
		.slope = h->road_slope,
		.offset = h->road_offset,
		.horizon_row = h->horizon_row,
		.pitch_rad = h->pitch_rad,
		.height_m = h->height_m,
	};

	/* A camera with an unknown clock has no latency that could be told. */
	if (h->clock != STIXEL_CLOCK_UNKNOWN) {
		sx_windows_add(&t->capture_to_publish, h->published_ns, latency_ns);
		atomic_fetch_add_explicit(&t->capture_to_publish_sum_ns, latency_ns, RELAXED);
	}
	for (int i = 0; i < SX_STAGE_COUNT; i++) {
		if (h->stage_ns[i] <= 0)
			continue;
		sx_windows_add(&t->stages[i], h->published_ns, h->stage_ns[i]);
		atomic_fetch_add_explicit(&t->stage_sum_ns[i], h->stage_ns[i], RELAXED);
	}
	store_newest(t, &newest);
	atomic_store_explicit(&t->last_publish_ns, h->published_ns, RELAXED);
	atomic_fetch_add_explicit(&t->published, 1, memory_order_release);
}

void sx_telemetry_transfers(struct sx_telemetry *t, const struct sx_transfers *transfers)
{
	/* engines that compute in host memory count nothing: every frame came without a copy */
	uint64_t frames =
		transfers->frames ? transfers->frames : atomic_load_explicit(&t->published, RELAXED) + 1;

	atomic_store_explicit(&t->copies_in, transfers->copies_in, RELAXED);
	atomic_store_explicit(&t->copied_bytes, transfers->copied_bytes, RELAXED);
	atomic_store_explicit(&t->staged, transfers->staged, RELAXED);
	atomic_store_explicit(&t->copies_out, transfers->copies_out, RELAXED);
	atomic_store_explicit(&t->copy_frames, frames, RELAXED);
}
