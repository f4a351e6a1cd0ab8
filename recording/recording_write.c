/*
 * Writes a recording.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/recording_write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"

#define TEXT_OF(n) TEXT_OF_IT(n)
#define TEXT_OF_IT(n) #n

static const enum stixel_message_kind image_topics[SX_RECORDING_KINDS] = {
	[STIXEL_PLANE_DISPARITY] = STIXEL_MESSAGE_DISPARITY,
	[STIXEL_PLANE_LEFT] = STIXEL_MESSAGE_LEFT,
	[STIXEL_PLANE_RIGHT] = STIXEL_MESSAGE_RIGHT};

/* Adds the channel /INSTANCE/topic. Readers find it by its metadata. */
static int add_channel(struct sx_recording_writer *w, int schema, const char *topic, const char *encoding)
{
	const struct sx_mcap_pair pairs[] = {{"stixel", topic},
					     {"abi", TEXT_OF(STIXEL_ABI_MAJOR) "." TEXT_OF(STIXEL_ABI_MINOR)},
					     {NULL, NULL}};
	char whole[STIXEL_INSTANCE_BYTES + 32];

	sx_must(schema, >, 0);
	snprintf(whole, sizeof(whole), "/%s/%s", w->instance, topic);
	return sx_mcap_channel(w->mcap, schema, whole, encoding, pairs);
}

/* Adds the channel of a topic, and its schema. Leaves *id if the channel already exists. */
static int need_channel(struct sx_recording_writer *w, int *id, enum sx_recording_schema schema,
			const char *topic)
{
	const char *encoding = sx_recording_schema_encoding(schema);
	struct sx_bytes b = {0};

	sx_must_index(schema, sizeof(w->schema) / sizeof(w->schema[0]));
	if (*id > 0)
		return 0;
	if (!w->schema[schema]) {
		sx_recording_schema_describe(&b, schema);
		if (!b.failed)
			w->schema[schema] = sx_mcap_schema(w->mcap, sx_recording_schema_name(schema),
							   encoding, b.at, b.count);
		sx_bytes_free(&b);
	}
	if (w->schema[schema] > 0)
		*id = add_channel(w, w->schema[schema], topic, encoding);
	else
		*id = w->schema[schema] ? w->schema[schema] : -ENOMEM;
	return *id < 0 ? *id : 0;
}

static int put(struct sx_recording_writer *w, int channel, const struct sx_mcap_part *parts, int count)
{
	sx_must_be(w->error || channel > 0);
	if (w->error == 0 && !w->began_ns)
		w->began_ns = sx_now_ns();
	if (w->error == 0)
		w->error = sx_mcap_message(w->mcap, channel, w->time_ns, parts, count);
	return w->error;
}

/* Puts w->message, followed by data. */
static int put_message(struct sx_recording_writer *w, int channel, const void *data, size_t bytes)
{
	const struct sx_mcap_part parts[] = {{w->message.at, w->message.count}, {data, bytes}};
	int r = w->message.failed ? w->error = -ENOMEM : put(w, channel, parts, 2);

	sx_must_be(data || bytes == 0);
	w->message.count = 0;
	return r;
}

static int put_event(struct sx_recording_writer *w, const struct sx_event *event)
{
	sx_must(w->message.count, ==, 0);
	sx_event_message(&w->message, event);
	return put_message(w, w->event_channel, NULL, 0);
}

int sx_recording_begin(struct sx_recording_writer *w, sx_mcap_sink_fn *sink, void *user,
		       const struct sx_recording_params *params)
{
	char monotonic[24], realtime[24];
	const struct sx_mcap_pair pairs[] = {{"instance", params->instance},
					     {"recorder", SX_VERSION},
					     {"anchor_monotonic_ns", monotonic},
					     {"anchor_realtime_ns", realtime},
					     {NULL, NULL}};
	int r;

	*w = (struct sx_recording_writer){.period_ns = params->period_ns, .jpeg = params->jpeg, .user = user};
	snprintf(monotonic, sizeof(monotonic), "%" PRId64, sx_now_ns());
	snprintf(realtime, sizeof(realtime), "%" PRId64, sx_clock_ns(CLOCK_REALTIME));
	snprintf(w->instance, sizeof(w->instance), "%s", params->instance);
	snprintf(w->camera, sizeof(w->camera), "%s/camera", w->instance);
	r = sx_mcap_create(&w->mcap, sink, user, params->chunk_bytes, params->compress);
	if (r == 0)
		r = sx_mcap_metadata(w->mcap, "stixel.recording", pairs);
	if (r == 0)
		r = need_channel(w, &w->frame_channel, SX_SCHEMA_BYTES, sx_topic_name(STIXEL_MESSAGE_STIXEL));
	if (r == 0)
		r = need_channel(w, &w->event_channel, SX_SCHEMA_EVENT, sx_topic_name(STIXEL_MESSAGE_EVENTS));
	return w->error = r;
}

static void count_frame(struct sx_recording_writer *w, const struct stixel_frame_header *h)
{
	struct sx_record_end *end = &w->end;
	uint64_t bare = h->plane_kind ? h->plane_offset : h->frame_bytes;

	sx_must(w->error, ==, 0);
	if (end->frames++ == 0)
		end->first_ns = h->published_ns;
	end->last_ns = h->published_ns;
	if (h->frame_bytes > end->frame_bytes_max)
		end->frame_bytes_max = h->frame_bytes;
	if (bare > end->frame_bytes_max_bare)
		end->frame_bytes_max_bare = bare;
	if (h->plane_kind)
		end->planes |= UINT64_C(1) << (h->plane_kind & 63);
	if (h->plane2_kind)
		end->planes |= UINT64_C(1) << (h->plane2_kind & 63);
}

/*
 * Returns the number of images if they can be written to separate channels and put together again. They must
 * be of known kinds and fill the frame from the first image to its end. Otherwise returns 0.
 */
static int images_apart(const struct stixel_frame *frame, struct stixel_image images[2])
{
	const struct stixel_frame_header *h = frame->header;
	const uint32_t kinds[] = {h->plane_kind, h->plane2_kind}, bytes[] = {h->plane_bytes, h->plane2_bytes},
		       offsets[] = {h->plane_offset, h->plane2_offset};
	uint64_t at = h->plane_offset;
	int n;

	for (n = 0; n < 2 && kinds[n]; n++) {
		if (kinds[n] >= SX_RECORDING_KINDS || offsets[n] != at ||
		    !stixel_image(frame, kinds[n], &images[n]) ||
		    (uint64_t)images[n].pitch * images[n].height != bytes[n])
			return 0;
		at += bytes[n];
	}
	return at == h->frame_bytes ? n : 0;
}

/* Writes a JPEG to the topic of its image with "/compressed" appended. */
static int put_jpeg(struct sx_recording_writer *w, const struct stixel_frame_header *h, unsigned kind,
		    const unsigned char *data, size_t bytes)
{
	int *channel = &w->jpeg_channel[kind];
	char topic[32];
	int r;

	snprintf(topic, sizeof(topic), "%s" SX_RECORDED_JPEG, sx_topic_name(image_topics[kind]));
	r = need_channel(w, channel, SX_SCHEMA_JPEG, topic);
	if (r < 0)
		return w->error = r;
	sx_jpeg_message(&w->message, h, w->camera, bytes);
	return put_message(w, *channel, data, bytes);
}

static int put_pixels(struct sx_recording_writer *w, const struct stixel_frame_header *h,
		      const struct stixel_image *image)
{
	int *channel = &w->image_channel[image->kind];
	int r = need_channel(w, channel, SX_SCHEMA_IMAGE, sx_topic_name(image_topics[image->kind]));

	if (r < 0)
		return w->error = r;
	sx_image_message(&w->message, h, w->camera, image);
	return put_message(w, *channel, image->data, (size_t)image->pitch * image->height);
}

/* Puts an image: its JPEG if there is one, else its pixels. */
static int put_image(struct sx_recording_writer *w, const struct stixel_frame_header *h,
		     const struct stixel_image *image)
{
	/* the pixels are not changed, but views of images have no const */
	const struct sx_image view = {.data = (void *)(uintptr_t)image->data,
				      .width = (int)image->width,
				      .height = (int)image->height,
				      .pitch = image->pitch,
				      .pixel = SX_PIXEL_U8};
	unsigned char *data = NULL;
	size_t bytes;
	int r = 0;

	sx_must_index(image->kind, SX_RECORDING_KINDS);
	if (w->jpeg && image->kind != STIXEL_PLANE_DISPARITY)
		r = w->jpeg(w->user, image->kind, &view, &data, &bytes);
	if (r < 0)
		return w->error = r;
	r = r ? put_jpeg(w, h, image->kind, data, bytes) : put_pixels(w, h, image);
	free(data);
	return r;
}

static int put_calibrations(struct sx_recording_writer *w, const struct stixel_frame_header *h)
{
	static const enum stixel_message_kind topics[] = {STIXEL_MESSAGE_CALIBRATION,
							  STIXEL_MESSAGE_CALIBRATION_RIGHT};
	int r = w->error;

	if (!sx_calibration_due(&w->calibration, h))
		return r;
	for (int i = 0; i < 2 && r == 0; i++) {
		r = need_channel(w, &w->calibration_channel[i], SX_SCHEMA_CALIBRATION,
				 sx_topic_name(topics[i]));
		if (r < 0)
			return w->error = r;
		sx_calibration_message(&w->message, h, w->camera, i == 1);
		r = put_message(w, w->calibration_channel[i], NULL, 0);
	}
	return r;
}

int sx_recording_frame(struct sx_recording_writer *w, const struct stixel_frame *frame)
{
	const struct stixel_frame_header *h = frame->header;
	struct stixel_image images[2];
	struct sx_mcap_part bytes = {frame->bytes, h->frame_bytes};
	int count = images_apart(frame, images);

	if (w->error)
		return w->error;
	if (!sx_mcap_fits(w->mcap, h->frame_bytes) && sx_recording_flush(w) < 0)
		return w->error;
	w->time_ns = (uint64_t)sx_recorded_realtime_ns(h, h->published_ns);
	put_calibrations(w, h);
	if (count)
		bytes.bytes = h->plane_offset;
	put(w, w->frame_channel, &bytes, 1);
	for (int i = 0; i < count && w->error == 0; i++)
		put_image(w, h, &images[i]);
	if (w->error == 0)
		count_frame(w, h);
	return sx_recording_tick(w);
}

int sx_recording_message(struct sx_recording_writer *w, int channel, const void *data, size_t bytes)
{
	const struct sx_mcap_part part = {data, bytes};

	return put(w, channel, &part, 1);
}

int sx_recording_publisher(struct sx_recording_writer *w, const struct sx_record_publisher *p,
			   const char *config, int64_t time_ns)
{
	const struct sx_event event = {.kind = SX_EVENT_PUBLISHER, .publisher = *p};
	char epoch[17], pid[24];
	const struct sx_mcap_pair pairs[] = {{"epoch", epoch},
					     {"pid", pid},
					     {"version", event.publisher.version},
					     {config ? "config" : NULL, config},
					     {NULL, NULL}};

	snprintf(epoch, sizeof(epoch), "%016" PRIx64, p->epoch);
	snprintf(pid, sizeof(pid), "%" PRIu64, p->pid);
	sx_must(w->message.count, ==, 0);
	w->end.publishers++;
	w->time_ns = (uint64_t)time_ns;
	if (w->error == 0)
		w->error = sx_mcap_metadata(w->mcap, "stixel.publisher", pairs);
	return put_event(w, &event);
}

int sx_recording_gap(struct sx_recording_writer *w, const struct sx_record_gap *gap, int64_t time_ns)
{
	const struct sx_event event = {.kind = SX_EVENT_GAP, .gap = *gap};

	w->end.lost += gap->lost;
	if (time_ns)
		w->time_ns = (uint64_t)time_ns;
	return put_event(w, &event);
}

int sx_recording_flush(struct sx_recording_writer *w)
{
	w->began_ns = 0;
	if (w->error == 0)
		w->error = sx_mcap_flush(w->mcap);
	return w->error;
}

int sx_recording_tick(struct sx_recording_writer *w)
{
	return w->began_ns && sx_now_ns() - w->began_ns >= w->period_ns ? sx_recording_flush(w) : w->error;
}

int sx_recording_end(struct sx_recording_writer *w)
{
	const struct sx_event event = {.kind = SX_EVENT_END, .end = w->end};

	sx_recording_flush(w); /* gives the end a separate chunk, where readers find it at once */
	put_event(w, &event);
	if (w->error == 0)
		w->error = sx_mcap_finish(w->mcap);
	return w->error;
}

void sx_recording_finish(struct sx_recording_writer *w)
{
	sx_mcap_destroy(w->mcap);
	sx_bytes_free(&w->message);
	w->mcap = NULL;
}
