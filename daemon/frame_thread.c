/*
 * The frame thread: submits pairs to the contexts, collects the results and publishes them. It is the only
 * writer of the ring. Contexts are used and collected in turn, so frames leave in the order in which pairs
 * came.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/log.h"
#include "base/wake.h"
#include "daemon/motion/motion_fields.h"
#include "daemon/motion/object_table.h"
#include "daemon/motion/range_apply.h"
#include "daemon/pipeline.h"
#include "ipc/frame.h"
#include "stages/road/road_ground.h"

#define LOOK_MS 1	      /* interval between checks for the map or scores of a waiting pair */
#define TIMER_SLACK_NS 1000UL /* the default of the system, 50000, is too coarse for sleep_ns() */

static struct sx_frame_in_flight *oldest_in_flight(struct sx_pipeline *p)
{
	sx_must(p->submitted - p->collected, <=, (uint64_t)p->context_count);
	return p->collected < p->submitted ? &p->in_flight[p->collected % (uint64_t)p->context_count] : NULL;
}

/*
 * Returns the last measured road, as submit() needs it: with its age up to the frame before the next one.
 * Returns NULL if there is none, or if it was measured with another camera.
 */
static const struct sx_road *previous_road(struct sx_pipeline *p, struct sx_road *road)
{
	if (!p->road_frame || p->road_calibration != p->contexts->plan.calibration)
		return NULL;
	sx_must(p->road_frame, <=, p->submitted);
	*road = p->road;
	road->age = (uint32_t)(p->submitted - p->road_frame);
	return road;
}

/*
 * Keeps the road of frame number (from 1) if it was measured in that frame, by contexts of this calibration.
 * A road from images that show nothing is not kept.
 */
static void keep_road(struct sx_pipeline *p, const struct sx_road *road, uint64_t number,
		      unsigned calibration)
{
	if (road->origin != SX_ROAD_MEASURED || (p->header.flags & STIXEL_FRAME_BLIND))
		return;
	sx_must(number, >, p->road_frame);
	p->road = *road;
	p->road_frame = number;
	p->road_calibration = calibration;
}

/*
 * Returns the images to publish with this frame, as bits. These are all configured images, or only the images
 * that a client of frames.sock requests.
 */
static unsigned images_now(const struct sx_pipeline *p)
{
	sx_must(p->images, <, 2u << STIXEL_PLANE_RIGHT);
	if (p->c.settings->output.planes_when == SX_PLANES_ALWAYS)
		return p->images;
	return p->stream ? p->images & sx_stream_images(p->stream) : 0;
}

/*
 * Fills images with views of the engine's memory, which sx_frame_pack() copies. Returns the number of images
 * or an error.
 */
static int peek_images(struct sx_pipeline *p, const struct sx_context *context,
		       struct stixel_image images[SX_FRAME_IMAGES])
{
	static const struct {
		unsigned kind;
		enum sx_tap tap;
	} taps[] = {{STIXEL_PLANE_LEFT, SX_TAP_LEFT},
		    {STIXEL_PLANE_RIGHT, SX_TAP_RIGHT},
		    {STIXEL_PLANE_DISPARITY, SX_TAP_DISPARITY}};
	const bool always = p->c.settings->output.planes_when == SX_PLANES_ALWAYS;
	unsigned wanted = images_now(p), shown = 0;
	struct sx_image view;
	int n = 0, r;

	for (size_t i = 0; i < sizeof(taps) / sizeof(taps[0]) && n < SX_FRAME_IMAGES; i++) {
		if (!(wanted & 1u << taps[i].kind))
			continue;
		r = p->c.engine->backend->peek(context, taps[i].tap, &view);
		if (r == -ENOENT && !always)
			continue; /* this engine does not keep such an image, and the status reports that */
		if (r < 0)
			return r;
		if ((uint32_t)view.width != p->header.image_width ||
		    (uint32_t)view.height != p->header.image_height)
			return -ERANGE;
		images[n++] = (struct stixel_image){taps[i].kind, (uint32_t)view.width, (uint32_t)view.height,
						    (uint32_t)view.pitch, view.data};
		shown |= 1u << taps[i].kind;
	}
	sx_must(shown & ~p->images, ==, 0);
	atomic_store_explicit(&p->published_images, shown, memory_order_relaxed);
	return n;
}

static void fill_sigmas(struct stixel_frame_header *h, const struct sx_road *road)
{
	h->pitch_sigma_rad = sx_road_sigma_at(road->pitch_sigma_rad, SX_ROAD_WALK_RAD, road->age);
	h->roll_sigma_rad = sx_road_sigma_at(road->roll_sigma_rad, SX_ROAD_WALK_RAD, road->age);
	h->height_sigma_m =
		sx_road_sigma_at(road->height_sigma_m, SX_ROAD_WALK_HEIGHT * road->height_m, road->age);
}

/* Computes the image statistics, and writes them to the status and, in short, to the header. */
static void fill_image_stats(struct sx_pipeline *p, const struct sx_frame_in_flight *f,
			     const struct sx_result *result)
{
	struct stixel_frame_header *h = &p->header;
	const double pixels = (double)h->image_width * h->image_height;
	const struct sx_image_rules rules = sx_image_rules(&f->contexts->plan.config.params, p->info.live);
	const struct sx_image_stats before = p->image_stats;
	const bool anew = f->contexts->first == h->number; /* new contexts may rectify in another way */

	sx_must(result->diagnostics.measured, <=, h->image_width * h->image_height);
	sx_image_stats_of(&p->image_stats, &result->diagnostics, h->number, h->image_width * h->image_height,
			  result->columns, anew ? NULL : &before, &rules);
	if (f->contexts->plan.config.pixel == SX_PIXEL_Y16) {
		p->image_stats.raw_min = result->stretch.min;
		p->image_stats.raw_max = result->stretch.max;
	}
	sx_telemetry_image_stats(p->c.telemetry, &p->image_stats);
	if (sx_images_are_blind(&p->image_stats, &rules))
		h->flags |= STIXEL_FRAME_BLIND;
	h->measured = (uint16_t)(65535 * (double)result->diagnostics.measured / pixels + 0.5);
	h->row_error_q4 = isnan(p->image_stats.row_error[SX_ROW_ERROR_ALL])
				  ? STIXEL_ROW_ERROR_UNKNOWN
				  : (int16_t)(16 * p->image_stats.row_error[SX_ROW_ERROR_ALL]);
}

/*
 * Returns STIXEL_FRAME_CAMERA_CHANGED for a while after a change of the camera. Distances jump at the change.
 * A reader cannot see the reason, and values that it has learnt may be wrong for a while.
 */
static uint32_t camera_flag(struct sx_pipeline *p, const struct sx_contexts *contexts)
{
	const int64_t now = sx_now_ns();

	sx_must(contexts->plan.camera, >=, p->camera_mark.changes);
	if (contexts->plan.camera > p->camera_mark.changes)
		p->camera_mark.changed_ns = now;
	p->camera_mark.changes = contexts->plan.camera;
	return p->camera_mark.changed_ns && now - p->camera_mark.changed_ns < SX_CAMERA_CHANGED_NS
		       ? STIXEL_FRAME_CAMERA_CHANGED
		       : 0;
}

static void fill_road(struct stixel_frame_header *h, const struct sx_road *road)
{
	h->road_origin = (uint8_t)road->origin;
	h->road_inliers = road->inliers;
	h->road_age = road->age;
	h->road_slope = road->slope;
	h->road_offset = road->offset;
	h->road_cross = road->cross;
	h->road_axis = road->axis;
	h->road_bend = road->bend;
	h->road_bend_row = road->bend_row;
	h->horizon_row = road->horizon_row;
	h->pitch_rad = road->pitch_rad;
	h->roll_rad = road->roll_rad;
	h->height_m = road->height_m;
	fill_sigmas(h, road);
}

static void fill_header(struct sx_pipeline *p, const struct sx_frame_in_flight *f,
			const struct sx_result *result, const struct sx_road *road)
{
	const struct sx_telemetry *t = p->c.telemetry;
	struct stixel_frame_header *h = &p->header;

	/*
	 * Read dropped before captured. The capture thread counts captured first. So no frame reports more
	 * dropped than captured pairs.
	 */
	h->dropped_overload = sx_telemetry_count(t, SX_METRIC_DROPPED_OVERLOAD);
	h->number = p->collected + 1;
	sx_contexts_fill(f->contexts, h);
	h->capture_left_ns = f->queued->pair.left_ns;
	h->capture_right_ns = f->queued->pair.right_ns;
	h->clock = (uint8_t)f->queued->pair.clock;
	h->stamp = (uint8_t)f->queued->pair.stamp;
	h->submitted_ns = f->submitted_ns;
	h->flags |= camera_flag(p, f->contexts);
	h->flags |= p->flags | sx_semantics_flags(&p->feeds.semantics, &f->queued->pair);
	h->scores_ns = f->queued->pair.scores ? f->queued->pair.scores->captured_ns : 0;
	h->columns = result->columns;
	h->stixel_count = result->count;
	fill_road(h, road);
	fill_image_stats(p, f, result);
	sx_motion_fill_header(h, result->ego, result->motion_span_ns,
			      f->contexts->corrected ? p->range_px : 0.0);
	if (f->contexts->plan.config.params.motion.range == SX_RANGE_OFFSET_OFF)
		h->range_offset_px = h->range_offset_sigma_px = 0;
	for (int i = 0; i < SX_STAGE_COUNT; i++)
		h->stage_ns[i] = result->stage_ns[i];
	h->captured = sx_telemetry_count(t, SX_METRIC_FRAMES_CAPTURED);
	h->published = sx_telemetry_count(t, SX_METRIC_FRAMES_PUBLISHED) + 1;
	h->dropped_unpaired = sx_telemetry_count(t, SX_METRIC_DROPPED_UNPAIRED);
	h->dropped_corrupt = sx_telemetry_count(t, SX_METRIC_DROPPED_CORRUPT);
	h->published_ns = sx_now_ns();
	sx_must(h->published_ns, >=, h->submitted_ns);
}

/*
 * Checks the unit of the baseline. Copies a disparity map from the engine only if there is no road, whether
 * output.planes contains it or not.
 */
static void look_at_unit(struct sx_pipeline *p, struct sx_frame_in_flight *f, const struct sx_road *road)
{
	struct sx_road_unit *u = &f->contexts->unit;
	struct sx_image map;

	if (p->header.flags & STIXEL_FRAME_BLIND)
		return;
	if (sx_road_unit_see(u, road) && p->c.engine->backend->peek(f->context, SX_TAP_DISPARITY, &map) == 0)
		sx_road_unit_try(u, &map);
	atomic_store_explicit(&p->c.telemetry->baseline_millionths, (unsigned)(1e6 * u->ratio),
			      memory_order_relaxed);
}

/* Returns what to add to the identities of a chain, so that no object gets the identity of another one. */
static uint32_t base_id(const struct sx_pipeline *p, struct sx_shared_chain *chain)
{
	if (!chain->is_published)
		chain->base_id = p->last_id;
	chain->is_published = true;
	return chain->base_id;
}

/*
 * Returns the objects and the records of motion of a frame. stixels: those of the published frame. With
 * motion.range_offset = apply their disparities differ from the engine's by the offset.
 */
static struct sx_frame_motion motion_of(struct sx_pipeline *p, const struct sx_frame_in_flight *f,
					const struct sx_result *result, const struct stixel *stixels)
{
	struct sx_contexts *s = f->contexts;
	struct sx_frame_motion m = {0};

	if (result->velocities && s->records) {
		sx_motion_records(result->velocities, result->count, s->records);
		m.stixels = s->records;
	}
	if (result->objects && s->objects) {
		const struct sx_object_source source = {
			.objects = result->objects,
			.object_of = result->object_of,
			.stixels = stixels,
			.header = &p->header,
			.camera = &s->plan.config.params.camera,
			.base_id = base_id(p, s->chain),
			.offset_px = result->ego->used.px - (double)p->header.range_applied_px,
		};

		sx_object_table_fill(s->objects, &source);
		m.objects = s->objects->objects;
		m.object_count = s->objects->count;
		if (m.object_count && m.objects[m.object_count - 1].id > p->last_id)
			p->last_id = m.objects[m.object_count - 1].id;
		m.object_of = s->objects->object_of;
	}
	return m;
}

/* Hands the motion of the camera to the status. */
static void tell_motion(struct sx_pipeline *p, const struct sx_frame_in_flight *f,
			const struct sx_result *result)
{
	struct sx_motion_stats m;

	if (!result->ego)
		return;
	sx_motion_stats_of(&m, result->ego, result->motion_span_ns, p->header.number,
			   &f->contexts->plan.config.params.camera);
	if (f->contexts->plan.config.params.motion.range == SX_RANGE_OFFSET_OFF)
		m.offset_px = m.sigma_px = (double)NAN;
	m.applied_px = p->header.range_applied_px;
	sx_telemetry_motion(p->c.telemetry, &m);
}

/* Returns the stixels to publish, and changes the road, if the offset of the range is applied. */
static const struct stixel *correct_range(struct sx_pipeline *p, const struct sx_frame_in_flight *f,
					  const struct sx_result *result, struct sx_road *road)
{
	struct sx_contexts *s = f->contexts;

	if (!s->corrected)
		return result->stixels;
	if (!sx_has_same_range(&p->range_config, &s->plan.config)) {
		p->range_px = 0.0;
		/* copies the padding too, which memcmp() compares */
		memcpy(&p->range_config, &s->plan.config, sizeof(p->range_config));
	}
	p->range_px = sx_range_follow(p->range_px, &result->ego->range);
	sx_range_apply(result->stixels, result->count, p->range_px, s->corrected);
	sx_range_apply_road(&s->plan.config.params.camera, p->range_px, road);
	return s->corrected;
}

/* Publishes the frame of f. *of_engine is set if an error is the engine's fault. */
static int publish_frame(struct sx_pipeline *p, struct sx_frame_in_flight *f, bool *of_engine)
{
	const struct sx_result *result = p->c.engine->backend->result(f->context);
	struct stixel_image images[SX_FRAME_IMAGES];
	struct sx_frame_motion motion;
	const struct stixel *stixels;
	struct sx_transfers transfers;
	struct sx_road road; /* the road that the frame states */
	int64_t bytes, head_ns;
	int count = peek_images(p, f->context, images), r;

	*of_engine = count < 0;
	if (count < 0)
		return count;
	road = result->road;
	stixels = correct_range(p, f, result, &road);
	fill_header(p, f, result, &road);
	keep_road(p, &result->road, p->header.number, f->contexts->plan.calibration);
	motion = motion_of(p, f, result, stixels);
	bytes = sx_frame_pack(p->bytes, p->frame_bytes, &p->header, result->offsets, stixels, &motion, images,
			      count);
	if (bytes < 0)
		return (int)bytes;
	sx_must(bytes, <=, p->frame_bytes);
	r = p->ring ? sx_ring_publish(p->ring, p->bytes, (size_t)bytes) : 0;
	if (r < 0)
		return r;
	head_ns = sx_now_ns();
	sx_engine_transfers(p->c.engine, &transfers);
	sx_telemetry_transfers(p->c.telemetry, &transfers);
	tell_motion(p, f, result);
	sx_telemetry_published(p->c.telemetry, &p->header, head_ns);
	/* only after the frame was counted, because waking many readers may take this processor */
	if (p->ring)
		sx_ring_pass_wake(p->ring);
	if (p->stream)
		sx_stream_publish(p->stream, p->bytes);
	look_at_unit(p, f, &result->road); /* after the frame has been published */
	return 0;
}

static void fail_pipeline(struct sx_pipeline *p, const char *what, const char *reason)
{
	char why[SX_WHY_BYTES];

	snprintf(why, sizeof(why), "frame %llu: %s: %s", (unsigned long long)p->collected + 1, what, reason);
	sx_pipeline_end(p, SX_END_ENGINE, why);
}

/* Publishes every finished frame, oldest first. Returns false if the pipeline has failed. */
static bool collect_frames(struct sx_pipeline *p)
{
	bool of_engine;
	struct sx_frame_in_flight *f;
	int r;

	while ((f = oldest_in_flight(p))) {
		r = p->c.engine->backend->wait(f->context, 0);
		if (r == 0)
			return true;
		if (r < 0) {
			fail_pipeline(p, "the engine failed", sx_engine_failure(p->c.engine, r));
			return false;
		}
		r = publish_frame(p, f, &of_engine);
		if (r < 0) {
			fail_pipeline(p, of_engine ? "the engine gives no image" : "cannot be published",
				      of_engine ? sx_engine_failure(p->c.engine, r) : strerror(-r));
			return false;
		}
		sx_must_be(f->queued);
		sx_mailbox_release(f->queued);
		f->queued = NULL;
		p->collected++;
		f = oldest_in_flight(p);
		atomic_store_explicit(&p->c.telemetry->in_flight_since_ns, f ? f->submitted_ns : 0,
				      memory_order_relaxed);
		if (p->collected == 1)
			/* main then sets the state to running before its next tick */
			sx_wake(p->c.main_fd);
	}
	return true;
}

/*
 * Switches to new contexts if main has handed some over. Called between two frames. The previous contexts
 * return to main after their last frame. A pair that waits for its map keeps the old contexts, because the
 * images offered for it were rectified by them.
 */
static void change_contexts(struct sx_pipeline *p)
{
	struct sx_contexts *next =
		p->leaving || p->waits ? NULL : sx_control_channel_take_contexts(&p->channel);

	if (next) {
		sx_must(next->count, ==, p->context_count);
		next->first = p->submitted + 1;
		p->leaving = p->contexts;
		p->last_of_leaving = p->submitted;
		p->contexts = next;
	}
	if (!p->leaving || p->collected < p->last_of_leaving)
		return;
	sx_must_be(p->leaving != p->contexts);
	sx_control_channel_retire(&p->channel, p->leaving);
	p->leaving = NULL;
	sx_wake(p->c.main_fd);
}

static bool has_all(const struct sx_pipeline *p)
{
	sx_must_be(p->c.frames == 0 || p->submitted <= p->c.frames);
	return p->c.frames > 0 && p->submitted >= p->c.frames;
}

/*
 * Gives a pair its map and scores. Looks for both on each call, because a map that waited for the scores, or
 * scores that waited for the map, could be overwritten meanwhile. Returns 0, and p->waits says what the pair
 * still waits for. Returns -ENODATA if the pair has no map and was released.
 */
static int feed_pair(struct sx_pipeline *p, int index, struct sx_frame_in_flight *f)
{
	struct sx_feeds *feeds = &p->feeds;
	struct sx_pair *pair = &f->queued->pair;
	enum sx_external_ready map = SX_EXTERNAL_READY;
	bool has_scores;

	sx_must_index(index, p->context_count);
	if (p->waits != SX_WAITS_FOR_SCORES)
		map = sx_external_ready(&feeds->external, index, pair);
	if (map == SX_EXTERNAL_DROP) {
		p->waits = SX_WAITS_NOT;
		sx_semantics_done(&feeds->semantics, pair, false);
		sx_mailbox_release(f->queued);
		f->queued = NULL;
		return -ENODATA;
	}
	has_scores = sx_semantics_ready(&feeds->semantics, index, pair, map == SX_EXTERNAL_WAIT);
	p->waits = map == SX_EXTERNAL_WAIT ? SX_WAITS_FOR_MAP
		   : has_scores		   ? SX_WAITS_NOT
					   : SX_WAITS_FOR_SCORES;
	if (!p->waits)
		sx_semantics_done(&feeds->semantics, pair, true);
	return 0;
}

/*
 * Submits the next pair. Returns 1 if a pair was submitted, or given up for want of a map. Returns 0 if no
 * pair waits, no context is free, or no more frames are wanted. Negative: failed.
 */
static int submit_pair(struct sx_pipeline *p)
{
	int index = (int)(p->submitted % (uint64_t)p->context_count);
	struct sx_frame_in_flight *f = &p->in_flight[index];
	struct sx_road road;
	int r;

	if (p->submitted - p->collected == (uint64_t)p->context_count || has_all(p) ||
	    atomic_load_explicit(&p->stop, memory_order_relaxed))
		return 0;
	if (!p->waits) {
		sx_must_be(!f->queued);
		f->queued = sx_mailbox_take(&p->mailbox);
		if (f->queued)
			sx_pair_publisher_publish(&p->feeds.pair_publisher, p->contexts, &f->queued->pair);
	}
	if (!f->queued)
		return 0;
	if (feed_pair(p, index, f) < 0)
		return 1;
	if (p->waits)
		return 0;
	f->contexts = p->contexts;
	f->context = p->contexts->context[index];
	f->submitted_ns = sx_now_ns();
	if (p->submitted == p->collected) /* before submit(), in which the reference engine computes */
		atomic_store_explicit(&p->c.telemetry->in_flight_since_ns, f->submitted_ns,
				      memory_order_relaxed);
	r = p->c.engine->backend->submit(f->context, &f->queued->pair, previous_road(p, &road),
					 sx_mailbox_images_read, f->queued);
	if (r < 0) {
		fail_pipeline(p, "the engine refused the pair", sx_engine_failure(p->c.engine, r));
		return r;
	}
	sx_must(f->contexts->count, ==, p->context_count);
	p->submitted++;
	if (has_all(p))
		atomic_store_explicit(&p->full, true, memory_order_relaxed);
	return 1;
}

static bool is_finished(struct sx_pipeline *p)
{
	/*
	 * Read source_ended before the waiting place, so that a pair that was put before the source ended is
	 * seen.
	 */
	bool ended = atomic_load_explicit(&p->source_ended, memory_order_acquire);

	if (p->collected < p->submitted)
		return false;
	sx_must_be(p->waits || !p->in_flight[p->submitted % (uint64_t)p->context_count].queued);
	if (atomic_load_explicit(&p->stop, memory_order_relaxed))
		return true;
	if (has_all(p)) {
		sx_pipeline_end(p, SX_END_FRAMES, "");
		return true;
	}
	if (!ended || p->waits || sx_mailbox_waits(&p->mailbox))
		return false;
	sx_pipeline_end(p, SX_END_SOURCE, "");
	return true;
}

/*
 * Returns how long to sleep, ns. -1: until something happens. 0: do not sleep, because a frame is nearly
 * done.
 */
static int64_t sleep_ns(const struct sx_pipeline *p, const struct sx_frame_in_flight *f)
{
	const struct sx_backend *backend = p->c.engine->backend;
	/*
	 * Writers of scores and maps signal by futex, which poll() cannot wait for; while a pair waits for
	 * them, poll every 1 ms.
	 */
	const int64_t most_ns = p->waits ? LOOK_MS * INT64_C(1000000) : -1;
	int64_t from_ns, until_ns, now_ns;

	if (!f || !backend->nearly_done || !backend->nearly_done(f->context, &from_ns, &until_ns))
		return most_ns;
	now_ns = sx_now_ns();
	if (now_ns >= until_ns)
		return most_ns;
	sx_must(from_ns, <=, until_ns);
	if (now_ns >= from_ns)
		return 0;
	return most_ns >= 0 && most_ns < from_ns - now_ns ? most_ns : from_ns - now_ns;
}

static void wait_for_work(struct sx_pipeline *p)
{
	struct sx_frame_in_flight *f = oldest_in_flight(p);
	const int64_t ns = sleep_ns(p, f);
	const struct timespec timeout = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
	struct pollfd fds[2] = {
		{.fd = p->mailbox.frame_fd, .events = POLLIN},
		{.fd = f ? p->c.engine->backend->event_fd(f->context) : -1, .events = POLLIN},
	};

	sx_must(ns, >=, -1);
	if (ppoll(fds, 2, ns < 0 ? NULL : &timeout, NULL) > 0 && fds[0].revents)
		sx_wake_clear(p->mailbox.frame_fd);
}

void *sx_frame_thread(void *pipeline)
{
	struct sx_pipeline *p = pipeline;
	int r = 0;

	sx_must(p->submitted, ==, 0);
	sx_log_join(p->c.log);
	sx_log_realtime_begin();
	/* if this call fails, a frame may be late by the default slack */
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0UL, 0UL, 0UL);
	while (r >= 0) {
		/* collect before submit: a finished frame must not wait for the computation of the next */
		if (!collect_frames(p) || is_finished(p))
			break;
		change_contexts(p);
		r = submit_pair(p);
		if (r == 0)
			wait_for_work(p);
	}
	sx_log_realtime_end();
	sx_wake(p->c.main_fd);
	return NULL;
}
