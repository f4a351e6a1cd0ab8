/*
 * Creating, starting, stopping and destroying the pipeline. A running pipeline: capture_thread.c,
 * frame_thread.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/pipeline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/contract.h"
#include "config/config.h"
#include "ipc/frame.h"
#include "stages/stixels/reduce.h"

#define HEARTBEAT_PERIOD_MS 1000 /* main beats twice in each period */

struct sx_contexts_plan sx_pipeline_plan(const struct sx_pipeline *p, const struct sx_settings *s)
{
	struct sx_contexts_plan plan = {
		.config = sx_settings_context(s, &p->info),
		.count = s->engine.contexts,
		.offered = sx_pair_publisher_wanted(s),
		.calibration = p->newest ? p->newest->plan.calibration : 0,
		.camera = p->newest ? p->newest->plan.camera : 0,
	};

	plan.rectified = plan.config.rectify;
	plan.config.time_stages = true; /* always, because each frame carries the times of its stages */
	return plan;
}

static int create_contexts(struct sx_pipeline *p, struct sx_why *why)
{
	const struct sx_contexts_plan plan = sx_pipeline_plan(p, p->c.settings);
	int r = sx_contexts_create(&p->contexts, p->c.engine->backend, p->c.engine->device, &plan, NULL, why);

	if (r < 0)
		return r;
	sx_must(p->contexts->count, ==, plan.count);
	p->newest = p->contexts;
	p->context_count = p->contexts->count;
	return 0;
}

static void fill_constants(struct sx_pipeline *p)
{
	const struct sx_context_config config = sx_settings_context(p->c.settings, &p->info);
	const struct sx_params *params = &config.params;
	struct stixel_frame_header *h = &p->header;

	sx_must(p->epoch, !=, 0);
	p->flags = params->stereo.matcher == SX_MATCH_EXTERNAL ? STIXEL_FRAME_EXTERNAL : 0;
	*h = (struct stixel_frame_header){
		.epoch = p->epoch,
		.image_width = (uint32_t)config.width,
		.image_height = (uint32_t)config.height,
		.disparities = (uint32_t)params->stereo.disparities,
		.min_disparity = params->stereo.min_disparity,
		.stage_count = SX_STAGE_COUNT,
	};
	for (int i = 0; i < SX_STAGE_COUNT; i++)
		snprintf(h->stage_name[i], sizeof(h->stage_name[i]), "%s",
			 sx_stage_name((enum sx_stage)i, &p->c.settings->params.stereo));
}

static size_t images_bytes(const struct sx_pipeline *p)
{
	return sx_frame_image_bytes(p->images, p->header.image_width, p->header.image_height);
}

size_t sx_pipeline_frame_bytes(const struct sx_pipeline *p, const struct sx_stixel_params *s)
{
	const uint32_t rows = p->header.image_height, most = (uint32_t)s->max_per_column;
	const uint32_t columns = (uint32_t)sx_reduce_columns((int)p->header.image_width, s->width);
	const uint32_t per_column = most < rows ? most : rows;

	sx_must(rows, >, 0);
	/* The ring has room for motion even while motion.mode is off, because the key changes live. */
	return sx_frame_bytes_most(columns, columns * per_column, images_bytes(p));
}

struct sx_frame_cost_case sx_pipeline_cost_case(const struct sx_pipeline *p, const struct sx_settings *s)
{
	return (struct sx_frame_cost_case){
		.stixels = &s->params.stixels,
		.width = (int)p->header.image_width,
		.height = (int)p->header.image_height,
		.plain = p->c.engine->backend == &sx_backend_reference,
	};
}

/* Allocates memory for the largest frame and touches every page. */
static int create_frame(struct sx_pipeline *p)
{
	size_t start;

	fill_constants(p);
	p->images = sx_settings_images(p->c.settings->output.planes);
	p->frame_bytes = sx_pipeline_frame_bytes(p, &p->c.settings->params.stixels);
	start = sx_pipeline_frame_bytes(p, &p->c.start);
	if (p->frame_bytes == 0 || start == 0)
		return -EOVERFLOW;
	/* A reload restores the settings of the start. */
	p->frame_bytes = start > p->frame_bytes ? start : p->frame_bytes;
	p->bytes = aligned_alloc(64, (p->frame_bytes + 63) & ~(size_t)63);
	if (!p->bytes)
		return -ENOMEM;
	memset(p->bytes, 0, p->frame_bytes);
	return 0;
}

static int create_ring(struct sx_pipeline *p, struct sx_why *why)
{
	const struct sx_ring_params params = {
		.instance = p->c.instance,
		.shm_dir = p->c.shm_dir,
		.stream_path = p->c.settings->output.stream ? p->c.stream_path : NULL,
		.epoch = p->epoch,
		.frame_bytes = p->frame_bytes,
		.slots = p->c.settings->output.slots,
		.heartbeat_period_ms = HEARTBEAT_PERIOD_MS,
		.group = (gid_t)-1,
		.exclusive = true,
	};

	sx_must_be(!p->ring);
	return p->c.settings->output.ring ? sx_ring_create(&p->ring, &params, why) : 0;
}

static int create_stream(struct sx_pipeline *p, struct sx_why *why)
{
	const struct sx_stream_params params = {
		.path = p->c.stream_path,
		/* a copy: the stream closes it, and the next pipeline needs the socket of systemd again */
		.listen_fd = p->c.stream_fd < 0 ? -1 : fcntl(p->c.stream_fd, F_DUPFD_CLOEXEC, 3),
		.epoch = p->epoch,
		/* the stream carries no images; they stay in the ring */
		.frame_bytes = p->frame_bytes - images_bytes(p),
		.heartbeat_period_ms = HEARTBEAT_PERIOD_MS,
		.group = (gid_t)-1,
	};

	sx_must(p->frame_bytes, >, images_bytes(p));
	return p->c.settings->output.stream ? sx_stream_create(&p->stream, &params, why) : 0;
}

static void keep_info(struct sx_pipeline *p, const struct sx_source_info *info)
{
	p->info = *info;
	p->info.writer = NULL;
	if (info->camera) {
		p->source_camera = *info->camera;
		p->info.camera = &p->source_camera;
	}
	if (info->rig) {
		memcpy(&p->source_rig, info->rig, sizeof(p->source_rig)); /* copies padding, for memcmp() */
		p->info.rig = &p->source_rig;
	}
}

int sx_pipeline_create(struct sx_pipeline **ret, const struct sx_pipeline_config *c, struct sx_source *source,
		       const struct sx_source_info *info, struct sx_why *why)
{
	struct sx_pipeline *p = calloc(1, sizeof(*p));
	int r;

	sx_must_be(!source || sx_pipeline_fits(sx_source_info(source), info));
	sx_why_set(why, "not enough memory for the pipeline");
	if (!p)
		return -ENOMEM;
	p->c = *c;
	keep_info(p, info);
	p->epoch = sx_epoch_new();
	sx_camera_controls_set(&p->opens, &c->settings->source);
	p->opens.params.socket = c->pairs;
	/*
	 * Without a source, absent keeps its value until the camera gives a pair, because the source may be a
	 * camera that is back with another size.
	 */
	if (!source)
		atomic_store(&c->telemetry->absent, true);
	sx_telemetry_writer(c->telemetry, info->writer);
	atomic_store(&c->telemetry->memory, NULL);
	atomic_store(&c->telemetry->format, NULL);
	atomic_store(&c->telemetry->source_mhz, (int64_t)(1e3 * info->fps + 0.5));
	r = sx_mailbox_init(&p->mailbox);
	if (r < 0) {
		sx_why_set(why, "cannot create an eventfd: %s", strerror(-r));
		goto fail;
	}
	p->mailbox.paced = info->paced;
	r = create_frame(p);
	if (r < 0)
		goto fail;
	r = create_contexts(p, why);
	if (r < 0)
		goto fail;
	r = sx_semantics_init(&p->feeds.semantics, c->settings, c->shm_dir, info, p->context_count,
			      c->telemetry, why);
	if (r < 0)
		goto fail;
	r = sx_external_init(&p->feeds.external, c->settings, c->shm_dir, info, p->context_count,
			     c->telemetry, why);
	if (r < 0)
		goto fail;
	p->source = source;
	sx_pipeline_pin(p);
	*ret = p;
	return 0;
fail:
	sx_pipeline_destroy(p, NULL);
	return r;
}

int sx_pipeline_open_output(struct sx_pipeline *p, struct sx_why *why)
{
	int r = create_stream(p, why);

	if (r == 0)
		r = create_ring(p, why);
	if (r == 0)
		r = sx_pair_publisher_init(&p->feeds.pair_publisher, p->c.settings, p->c.instance,
					   p->c.shm_dir, &p->header, why);
	return r;
}

/*
 * Starts a thread, which inherits the signal mask of main: all blocked. Stacks are bounded, so that
 * mlockall() stays cheap.
 */
static int start_thread(pthread_t *thread, const char *name, void *(*run)(void *), struct sx_pipeline *p)
{
	int error = pthread_create(thread, NULL, run, p);

	if (!error)
		pthread_setname_np(*thread, name);
	return -error;
}

int sx_pipeline_start(struct sx_pipeline *p, struct sx_why *why)
{
	int64_t now = sx_now_ns();
	int r;

	sx_must_be(!p->frame_running && !p->capture_running);
	atomic_store(&p->c.telemetry->last_capture_ns, now);
	atomic_store(&p->c.telemetry->in_flight_since_ns, 0);
	r = sx_waker_start(&p->waker, p->ring, p->feeds.pair_publisher.ring);
	if (r == 0) {
		r = start_thread(&p->frame, "frame", sx_frame_thread, p);
		p->frame_running = r == 0;
	}
	if (r == 0) {
		r = start_thread(&p->capture, "capture", sx_capture_thread, p);
		p->capture_running = r == 0;
	}
	if (r == 0)
		return 0;
	sx_why_set(why, "no thread: %s", strerror(-r));
	sx_pipeline_stop(p);
	sx_pipeline_join(p, -1);
	return r;
}

static bool join_until(pthread_t thread, bool *running, const struct timespec *until)
{
	if (*running && (until ? pthread_timedjoin_np(thread, NULL, until) : pthread_join(thread, NULL)) == 0)
		*running = false;
	return !*running;
}

bool sx_pipeline_join(struct sx_pipeline *p, int timeout_ms)
{
	struct timespec until;

	sx_must(timeout_ms, >=, -1);
	clock_gettime(CLOCK_REALTIME, &until); /* pthread_timedjoin_np() takes no other clock */
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (until.tv_nsec >= SX_NS_PER_S) {
		until.tv_sec++;
		until.tv_nsec -= SX_NS_PER_S;
	}
	return join_until(p->capture, &p->capture_running, timeout_ms < 0 ? NULL : &until) &&
	       join_until(p->frame, &p->frame_running, timeout_ms < 0 ? NULL : &until);
}

/*
 * Releases and counts a pair of a pipeline that ends. No newer pair replaced it, so the engine is not to
 * blame.
 */
static void drop_pair(struct sx_pipeline *p, struct sx_queued_pair *queued)
{
	sx_telemetry_add(p->c.telemetry, SX_METRIC_DROPPED_TEARDOWN, 1);
	sx_mailbox_release(queued);
}

static void drop_pairs(struct sx_pipeline *p)
{
	struct sx_queued_pair *waiting = sx_mailbox_take(&p->mailbox);

	sx_must(p->submitted - p->collected, <=, (uint64_t)p->context_count);
	for (int i = 0; i < p->context_count; i++)
		if (p->in_flight[i].queued)
			drop_pair(p, p->in_flight[i].queued);
	if (waiting)
		drop_pair(p, waiting);
}

void sx_pipeline_destroy(struct sx_pipeline *p, struct sx_source **source)
{
	if (!p)
		return;
	sx_waker_stop(&p->waker);
	sx_must_be(!p->frame_running && !p->capture_running);
	sx_ring_destroy(p->ring);
	sx_stream_destroy(p->stream);
	/* contexts first: a context that still computes reads the images of its pair */
	sx_contexts_destroy(p->contexts);
	sx_contexts_destroy(p->leaving);
	sx_control_channel_finish(&p->channel);
	drop_pairs(p);
	sx_mailbox_finish(&p->mailbox);
	sx_pipeline_unpin(p);
	if (source)
		*source = p->source;
	else
		sx_source_close(p->source);
	sx_semantics_finish(&p->feeds.semantics);
	sx_pair_publisher_finish(&p->feeds.pair_publisher);
	sx_external_finish(&p->feeds.external);
	free(p->bytes);
	free(p);
}
