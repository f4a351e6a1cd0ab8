/*
 * Counts and times of the pipeline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/telemetry/telemetry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

#define RELAXED memory_order_relaxed

_Static_assert(SX_STAGE_COUNT <= STIXEL_STAGES, "a frame header has room for every stage");

int sx_telemetry_create(struct sx_telemetry **ret)
{
	struct sx_telemetry *t = malloc(sizeof(*t));

	if (!t)
		return -ENOMEM;
	/* written instead of calloc(), so that the first frames cause no page faults */
	memset(t, 0, sizeof(*t));
	*ret = t;
	return 0;
}

void sx_telemetry_destroy(struct sx_telemetry *t)
{
	free(t);
}

/* Sets a metric to a sum that is counted elsewhere. */
static void put_count(struct sx_telemetry *t, enum sx_metric metric, uint64_t count)
{
	sx_must(count, >=, atomic_load_explicit(&t->count[metric], RELAXED));
	atomic_store_explicit(&t->count[metric], count, memory_order_release);
}

void sx_telemetry_captured(struct sx_telemetry *t, int64_t now_ns, int64_t skew_ns)
{
	sx_must(now_ns, >=, atomic_load_explicit(&t->last_capture_ns, RELAXED));
	sx_windows_add(&t->skew, now_ns, skew_ns < 0 ? -skew_ns : skew_ns);
	atomic_store_explicit(&t->last_capture_ns, now_ns, RELAXED);
	sx_telemetry_add(t, SX_METRIC_FRAMES_CAPTURED, 1);
}

/* Writes several words as one unit. One thread writes them, and no reader sees a part of them. */
static void guarded_write(_Atomic uint64_t *sequence, _Atomic uint64_t *to, const void *from, size_t words)
{
	uint64_t number = atomic_load_explicit(sequence, RELAXED), word;

	sx_must(number % 2, ==, 0);
	atomic_store_explicit(sequence, number + 1, RELAXED);
	/* release stores instead of a fence: they cost the same here, and ThreadSanitizer understands them */
	for (size_t i = 0; i < words; i++) {
		memcpy(&word, (const char *)from + i * sizeof(word), sizeof(word));
		atomic_store_explicit(&to[i], word, memory_order_release);
	}
	atomic_store_explicit(sequence, number + 2, memory_order_release);
}

/* Reads the words. Returns false if they were being written at each try. */
static bool guarded_read(const _Atomic uint64_t *sequence, const _Atomic uint64_t *from, void *to,
			 size_t words)
{
	uint64_t before, after, word;

	for (int tries = 0; tries < 100; tries++) {
		before = atomic_load_explicit(sequence, memory_order_acquire);
		for (size_t i = 0; i < words; i++) {
			word = atomic_load_explicit(&from[i], memory_order_acquire);
			memcpy((char *)to + i * sizeof(word), &word, sizeof(word));
		}
		after = atomic_load_explicit(sequence, RELAXED);
		if (before == after && before % 2 == 0)
			return true;
	}
	return false;
}

bool sx_telemetry_newest(const struct sx_telemetry *t, struct sx_newest *ret)
{
	struct sx_newest n;

	if (!guarded_read(&t->newest_sequence, t->newest, &n, SX_NEWEST_WORDS))
		return false;
	*ret = n;
	return true;
}

void sx_telemetry_image_stats(struct sx_telemetry *t, const struct sx_image_stats *p)
{
	guarded_write(&t->image_stats_sequence, t->image_stats, p, SX_IMAGE_STATS_WORDS);
}

bool sx_telemetry_newest_image_stats(const struct sx_telemetry *t, struct sx_image_stats *ret)
{
	struct sx_image_stats p;

	if (!guarded_read(&t->image_stats_sequence, t->image_stats, &p, SX_IMAGE_STATS_WORDS) || p.frame == 0)
		return false;
	*ret = p;
	return true;
}

void sx_telemetry_motion(struct sx_telemetry *t, const struct sx_motion_stats *m)
{
	sx_telemetry_add(t, isnan(m->speed_m_s) ? SX_METRIC_MOTION_UNKNOWN : SX_METRIC_MOTION_KNOWN, 1);
	guarded_write(&t->motion_sequence, t->motion, m, SX_MOTION_STATS_WORDS);
}

bool sx_telemetry_newest_motion(const struct sx_telemetry *t, struct sx_motion_stats *ret)
{
	struct sx_motion_stats m;

	if (!guarded_read(&t->motion_sequence, t->motion, &m, SX_MOTION_STATS_WORDS) || m.frame == 0)
		return false;
	*ret = m;
	return true;
}

void sx_telemetry_source(struct sx_telemetry *t, const struct sx_source_counters *c)
{
	uint64_t overload = c->dropped[0][SX_DROP_OVERLOAD];

	sx_must(overload, >=, atomic_load_explicit(&t->dropped[0][SX_DROP_OVERLOAD], RELAXED));
	/*
	 * add captured first and read overload first, so that no reader sees more dropped than captured pairs
	 */
	overload -= atomic_load_explicit(&t->dropped[0][SX_DROP_OVERLOAD], RELAXED);
	sx_telemetry_add(t, SX_METRIC_FRAMES_CAPTURED, overload);
	sx_telemetry_add(t, SX_METRIC_DROPPED_OVERLOAD, overload);
	for (int side = 0; side < 2; side++) {
		atomic_store_explicit(&t->images[side], c->captured[side], RELAXED);
		atomic_store_explicit(&t->gaps[side], c->gaps[side], RELAXED);
		for (int i = 0; i < SX_DROP_COUNT; i++)
			atomic_store_explicit(&t->dropped[side][i], c->dropped[side][i], RELAXED);
		for (int i = 0; i < SX_ODD_JPEG_COUNT; i++)
			atomic_store_explicit(&t->odd_jpeg[side][i], c->odd_jpeg[side][i], RELAXED);
	}
	put_count(t, SX_METRIC_DROPPED_CORRUPT, c->corrupt);
	put_count(t, SX_METRIC_DROPPED_UNPAIRED, c->unpaired);
	atomic_store_explicit(&t->reconnects, c->reconnects, RELAXED);
}

void sx_telemetry_absent(struct sx_telemetry *t, const char *why)
{
	char text[SX_ABSENT_BYTES] = "";

	if (why)
		snprintf(text, sizeof(text), "%s", why);
	guarded_write(&t->absent_sequence, t->absent_why, text, SX_ABSENT_WORDS);
	atomic_store_explicit(&t->absent, why != NULL, memory_order_release);
}

void sx_telemetry_absent_why(const struct sx_telemetry *t, char why[SX_ABSENT_BYTES])
{
	if (!guarded_read(&t->absent_sequence, t->absent_why, why, SX_ABSENT_WORDS))
		*why = 0;
}

void sx_telemetry_writer(struct sx_telemetry *t, const char *name)
{
	char text[SX_WRITER_BYTES] = "";

	if (name)
		snprintf(text, sizeof(text), "%s", name);
	guarded_write(&t->writer_sequence, t->writer, text, SX_WRITER_WORDS);
}

void sx_telemetry_writer_name(const struct sx_telemetry *t, char name[SX_WRITER_BYTES])
{
	if (!guarded_read(&t->writer_sequence, t->writer, name, SX_WRITER_WORDS))
		*name = 0;
}

const char *sx_span_name(enum sx_span span)
{
	static const char *const names[SX_SPAN_COUNT] = {
		[SX_SPAN_ALL] = "capture_to_publish",
		[SX_SPAN_WAITING] = "capture_to_engine",
		[SX_SPAN_ENGINE] = "engine_to_result",
		[SX_SPAN_OUTPUT] = "result_to_publish",
	};

	sx_must_index(span, SX_SPAN_COUNT);
	return names[span];
}

/* Adds a duration. A camera whose clock is ahead causes negative durations, which count as 0. */
static void add_duration(struct sx_duration *d, int64_t now_ns, int64_t ns)
{
	sx_windows_add(&d->windows, now_ns, ns > 0 ? ns : 0);
	atomic_fetch_add_explicit(&d->sum_ns, ns > 0 ? ns : 0, RELAXED);
}

static void add_spans(struct sx_telemetry *t, const struct stixel_frame_header *h, int64_t head_ns)
{
	int64_t captured_ns =
		h->capture_left_ns < h->capture_right_ns ? h->capture_left_ns : h->capture_right_ns;

	sx_must(head_ns, >=, h->published_ns);
	/* A camera with an unknown clock has no known latency. */
	if (h->clock != STIXEL_CLOCK_UNKNOWN) {
		add_duration(&t->spans[SX_SPAN_ALL], head_ns, head_ns - captured_ns);
		add_duration(&t->spans[SX_SPAN_WAITING], head_ns, h->submitted_ns - captured_ns);
	}
	add_duration(&t->spans[SX_SPAN_ENGINE], head_ns, h->published_ns - h->submitted_ns);
	add_duration(&t->spans[SX_SPAN_OUTPUT], head_ns, head_ns - h->published_ns);
}

void sx_telemetry_published(struct sx_telemetry *t, const struct stixel_frame_header *h, int64_t head_ns)
{
	struct sx_newest newest = {
		.frames = h->published,
		.number = h->number,
		.segment_ns = h->stage_ns[SX_STAGE_SEGMENT],
		.stixels = h->stixel_count,
		.pixels = (uint64_t)h->image_width * h->image_height,
		.road_origin = h->road_origin,
		.road_inliers = h->road_inliers,
		.road_age = h->road_age,
		.stamp = h->stamp,
		.slope = h->road_slope,
		.offset = h->road_offset,
		.cross = h->road_cross,
		.axis = h->road_axis,
		.bend = h->road_bend,
		.bend_row = h->road_bend_row,
		.horizon_row = h->horizon_row,
		.pitch_rad = h->pitch_rad,
		.roll_rad = h->roll_rad,
		.height_m = h->height_m,
		.pitch_sigma_rad = h->pitch_sigma_rad,
		.roll_sigma_rad = h->roll_sigma_rad,
		.height_sigma_m = h->height_sigma_m,
	};

	sx_must(h->published, ==, sx_telemetry_count(t, SX_METRIC_FRAMES_PUBLISHED) + 1);
	add_spans(t, h, head_ns);
	for (int i = 0; i < SX_STAGE_COUNT; i++)
		newest.stages_ns += h->stage_ns[i];
	for (int i = 0; i < SX_STAGE_COUNT; i++)
		if (h->stage_ns[i] > 0)
			add_duration(&t->stages[i], head_ns, h->stage_ns[i]);
	sx_rate_add(&t->rate, head_ns);
	guarded_write(&t->newest_sequence, t->newest, &newest, SX_NEWEST_WORDS);
	if (atomic_load_explicit(&t->first_publish_ns, RELAXED) == 0)
		atomic_store_explicit(&t->first_publish_ns, head_ns, RELAXED);
	atomic_store_explicit(&t->last_publish_ns, head_ns, RELAXED);
	sx_telemetry_add(t, SX_METRIC_FRAMES_PUBLISHED, 1);
	if (h->flags & STIXEL_FRAME_BLIND)
		sx_telemetry_add(t, SX_METRIC_FRAMES_BLIND, 1);
}

void sx_telemetry_feed(struct sx_telemetry *t, enum sx_feed_kind kind, const struct sx_feed_counters *c,
		       enum sx_feed_state state, const char *why)
{
	static const struct {
		enum sx_metric received, late, lost, refused, restarts;
	} metrics[SX_FEED_KINDS] = {
		[SX_FEED_SCORES] = {SX_METRIC_SCORES_RECEIVED, SX_METRIC_SCORES_LATE, SX_METRIC_SCORES_LOST,
				    SX_METRIC_SCORES_REFUSED, SX_METRIC_SCORES_RESTARTS},
		[SX_FEED_DISPARITY] = {SX_METRIC_MAPS_RECEIVED, SX_METRIC_MAPS_LATE, SX_METRIC_MAPS_LOST,
				       SX_METRIC_MAPS_REFUSED, SX_METRIC_MAPS_RESTARTS},
	};
	struct sx_telemetry_feed *f = &t->feed[kind];
	char text[SX_FEED_WHY_BYTES] = "", before[SX_FEED_WHY_BYTES];

	sx_must_index(kind, SX_FEED_KINDS);
	put_count(t, metrics[kind].received, f->closed.received + c->received);
	put_count(t, metrics[kind].late, f->closed.late + c->late);
	put_count(t, metrics[kind].lost, sx_feed_sum(f->closed.lost, c->lost));
	put_count(t, metrics[kind].refused, f->closed.refused + c->refused);
	put_count(t, metrics[kind].restarts, f->closed.restarts + c->restarts);
	atomic_store_explicit(&f->state, (int)state, RELAXED);
	snprintf(text, sizeof(text), "%s", why);
	sx_telemetry_feed_why(t, kind, before);
	if (memcmp(text, before, sizeof(text)) != 0)
		guarded_write(&f->why_sequence, f->why, text, SX_FEED_WHY_WORDS);
}

void sx_telemetry_feed_closed(struct sx_telemetry *t, enum sx_feed_kind kind,
			      const struct sx_feed_counters *c)
{
	struct sx_feed_counters *sum = &t->feed[kind].closed;

	sx_must_index(kind, SX_FEED_KINDS);
	sum->received += c->received;
	sum->late += c->late;
	sum->lost = sx_feed_sum(sum->lost, c->lost);
	sum->refused += c->refused;
	sum->restarts += c->restarts;
}

void sx_telemetry_feed_why(const struct sx_telemetry *t, enum sx_feed_kind kind, char why[SX_FEED_WHY_BYTES])
{
	sx_must_index(kind, SX_FEED_KINDS);
	if (!guarded_read(&t->feed[kind].why_sequence, t->feed[kind].why, why, SX_FEED_WHY_WORDS))
		memset(why, 0, SX_FEED_WHY_BYTES);
}

void sx_telemetry_transfers(struct sx_telemetry *t, const struct sx_transfers *transfers)
{
	/*
	 * An engine that computes in host memory counts no transfers. Then every frame counts as one without
	 * a copy.
	 */
	uint64_t frames =
		transfers->frames ? transfers->frames : sx_telemetry_count(t, SX_METRIC_FRAMES_PUBLISHED) + 1;

	put_count(t, SX_METRIC_INPUT_COPIES_IN, transfers->copies_in);
	put_count(t, SX_METRIC_INPUT_COPIES_OUT, transfers->copies_out);
	put_count(t, SX_METRIC_INPUT_STAGED, transfers->staged);
	atomic_store_explicit(&t->copied_bytes, transfers->copied_bytes, RELAXED);
	atomic_store_explicit(&t->copy_frames, frames, RELAXED);
}
