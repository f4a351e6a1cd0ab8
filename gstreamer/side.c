/*
 * One side of stixelsink. It offers slots of its arena to the elements upstream. An image that was written
 * elsewhere is copied in this side's thread.
 *
 * GstBaseSink waits until an image is due. That is at once for a camera, whose images are never early, and it paces
 * files. The latency of the pipeline is not added: it would only delay the images of cameras.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gstreamer/side.h"

#include "gstreamer/stixelsink.h"

/* Most images that a side holds: images with the daemon, images that wait for a partner, and a new image. */
#define KEPT (SX_FEED_AWAY_MAX + SX_FEED_WAITING_MAX + 1)
#define LENT (KEPT + 3) /* slots for elements upstream: also three images that they are writing */
#define ARENA_MOST (G_GUINT64_CONSTANT(512) << 20) /* half of what the daemon accepts from a writer */

struct _StixelSide {
	GstBaseSink parent;
	struct sx_feed *feed;
	enum sx_feed_side side;
	StixelArena *arena; /* NULL: no caps yet */
	struct sx_format format;
};

G_STATIC_ASSERT(LENT + KEPT <= 64);

G_DEFINE_TYPE(StixelSide, sx_side, GST_TYPE_BASE_SINK)

/* ---- caps and memory ---- */

static void side_forget(StixelSide *s)
{
	sx_feed_close(s->feed, s->side);
	GST_OBJECT_LOCK(s);
	gst_clear_object(&s->arena);
	GST_OBJECT_UNLOCK(s);
}

/* Returns the number of slots for elements upstream. Large images get fewer, or none and are copied. */
static guint side_lent(gsize image_bytes)
{
	const guint64 most = ARENA_MOST / (image_bytes + 4096);

	return most < KEPT + KEPT ? 0 : (guint)MIN(most - KEPT, LENT);
}

static gboolean side_set_caps(GstBaseSink *sink, GstCaps *caps)
{
	StixelSide *s = SX_SIDE(sink);
	struct sx_format format;
	StixelArena *arena = NULL;
	int r;

	if (!sx_format_from_caps(&format, caps))
		return FALSE;
	r = sx_arena_new(&arena, format.bytes, side_lent(format.bytes), KEPT);
	if (r < 0) {
		GST_ELEMENT_ERROR(s, RESOURCE, NO_SPACE_LEFT,
				  ("no shared memory for images of %ux%u %s: %s", format.width, format.height,
				   format.name, g_strerror(-r)),
				  (NULL));
		return FALSE;
	}
	side_forget(s);
	GST_OBJECT_LOCK(s);
	s->arena = arena;
	s->format = format;
	GST_OBJECT_UNLOCK(s);
	return TRUE;
}

/* Returns a pool whose buffers are slots of the arena, or NULL. */
static GstBufferPool *side_pool(const struct sx_format *format, GstCaps *caps, StixelArena *arena)
{
	GstBufferPool *pool = format->is_raw ? gst_video_buffer_pool_new() : gst_buffer_pool_new();
	GstStructure *config = gst_buffer_pool_get_config(pool);

	gst_buffer_pool_config_set_params(config, caps, (guint)format->bytes, KEPT, 0);
	gst_buffer_pool_config_set_allocator(config, GST_ALLOCATOR(arena), NULL);
	if (!gst_buffer_pool_set_config(pool, config))
		gst_clear_object(&pool);
	return pool;
}

static gboolean side_propose_allocation(GstBaseSink *sink, GstQuery *query)
{
	StixelSide *s = SX_SIDE(sink);
	struct sx_format format;
	StixelArena *arena = NULL;
	GstBufferPool *pool = NULL;
	GstCaps *caps;
	gboolean need_pool;

	gst_query_parse_allocation(query, &caps, &need_pool);
	if (!caps || !sx_format_from_caps(&format, caps))
		return FALSE;
	GST_OBJECT_LOCK(s);
	/* caps that do not count yet: the images are copied until the next query */
	if (s->arena && sx_format_equal(&format, &s->format) && side_lent(format.bytes))
		arena = gst_object_ref(s->arena);
	GST_OBJECT_UNLOCK(s);
	if (arena) {
		gst_query_add_allocation_param(query, GST_ALLOCATOR(arena), NULL);
		if (need_pool)
			pool = side_pool(&format, caps, arena);
		gst_query_add_allocation_pool(query, pool, (guint)format.bytes, KEPT, 0);
		gst_clear_object(&pool);
		gst_object_unref(arena);
	}
	if (format.is_raw)
		gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
	return TRUE;
}

/* ---- images ---- */

/* Returns what must be added to times of the pipeline's clock to get CLOCK_MONOTONIC. */
static gint64 side_clock_offset(GstClock *clock)
{
	GstClockTime internal, external, numerator, denominator;
	GstClockType type;

	/* the usual clock: exact */
	if (G_OBJECT_TYPE(clock) == GST_TYPE_SYSTEM_CLOCK) {
		g_object_get(clock, "clock-type", &type, NULL);
		gst_clock_get_calibration(clock, &internal, &external, &numerator, &denominator);
		if (type == GST_CLOCK_TYPE_MONOTONIC && internal == external && numerator == denominator)
			return 0;
	}
	return g_get_monotonic_time() * 1000 - (gint64)gst_clock_get_time(clock);
}

/* Sets the times of an image. If the buffer or the pipeline has no time, uses the time of arrival. */
static void side_stamp(StixelSide *s, GstBuffer *buffer, struct sx_feed_image *image)
{
	GstBaseSink *sink = GST_BASE_SINK(s);
	GstClock *clock = gst_element_get_clock(GST_ELEMENT(s));
	const gint64 base = (gint64)gst_element_get_base_time(GST_ELEMENT(s));
	const GstClockTime running =
		gst_segment_to_running_time(&sink->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
	const gint64 offset = clock ? side_clock_offset(clock) : 0;

	if (clock && GST_CLOCK_TIME_IS_VALID(running)) {
		image->time_ns = (gint64)running;
		image->captured_ns = base + image->time_ns + offset;
	} else {
		image->captured_ns = g_get_monotonic_time() * 1000;
		image->time_ns = image->captured_ns - base - offset;
	}
	gst_clear_object(&clock);
}

/* Sets image->buffer to a buffer in the arena: the one that came, or a copy. FALSE: no slot or a bad buffer. */
static gboolean side_place(StixelSide *s, GstBuffer *buffer, struct sx_feed_image *image)
{
	GstMemory *copy;

	if (gst_buffer_n_memory(buffer) == 1 && sx_format_fits(&image->format, buffer) &&
	    sx_arena_has(image->arena, gst_buffer_peek_memory(buffer, 0), &image->offset)) {
		image->buffer = gst_buffer_ref(buffer);
		return TRUE;
	}
	copy = sx_arena_copy(image->arena);
	if (!copy)
		return FALSE;
	if (!sx_format_copy(&image->format, buffer, copy)) {
		gst_memory_unref(copy);
		return FALSE;
	}
	sx_arena_has(image->arena, copy, &image->offset);
	image->copied = TRUE;
	image->buffer = gst_buffer_new();
	gst_buffer_append_memory(image->buffer, copy);
	return TRUE;
}

/* Posts news in the name of stixelsink. */
static void side_post(StixelSide *s, struct sx_feed_news *news)
{
	GstObject *sink = gst_object_get_parent(GST_OBJECT(s));

	switch (news->kind) {
	case SX_NEWS_NONE:
		break;
	case SX_NEWS_INFO: /* gst-launch-1.0 prints the second text */
		GST_ELEMENT_INFO(sink, RESOURCE, WRITE, ("%s", news->text), ("%s", news->text));
		break;
	case SX_NEWS_WARNING:
		GST_ELEMENT_WARNING(sink, RESOURCE, NOT_FOUND, ("%s", news->text), (NULL));
		break;
	case SX_NEWS_ERROR:
		GST_ELEMENT_ERROR(sink, STREAM, FORMAT, ("%s", news->text), (NULL));
	}
	gst_clear_object(&sink);
	g_free(news->text);
}

static GstFlowReturn side_render(GstBaseSink *sink, GstBuffer *buffer)
{
	StixelSide *s = SX_SIDE(sink);
	struct sx_feed_image image = {.arena = s->arena, .format = s->format};
	struct sx_feed_news news = {0};

	if (!image.arena)
		return GST_FLOW_NOT_NEGOTIATED;
	side_stamp(s, buffer, &image);
	if (!side_place(s, buffer, &image)) {
		sx_feed_no_slot(s->feed, s->side);
		return GST_FLOW_OK;
	}
	sx_feed_take(s->feed, s->side, &image, &news);
	side_post(s, &news);
	return news.kind == SX_NEWS_ERROR ? GST_FLOW_ERROR : GST_FLOW_OK;
}

/* ---- life ---- */

static gboolean side_event(GstBaseSink *sink, GstEvent *event)
{
	StixelSide *s = SX_SIDE(sink);

	if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
		sx_feed_flush(s->feed, s->side);
	return GST_BASE_SINK_CLASS(sx_side_parent_class)->event(sink, event);
}

/* Takes the latency of the pipeline away again, which GstBaseSink adds to the time of each image. */
static gboolean side_send_event(GstElement *element, GstEvent *event)
{
	GstClockTime latency;

	if (GST_EVENT_TYPE(event) == GST_EVENT_LATENCY) {
		gst_event_parse_latency(event, &latency);
		gst_base_sink_set_ts_offset(GST_BASE_SINK(element), -(GstClockTimeDiff)latency);
	}
	return GST_ELEMENT_CLASS(sx_side_parent_class)->send_event(element, event);
}

static gboolean side_stop(GstBaseSink *sink)
{
	side_forget(SX_SIDE(sink));
	return TRUE;
}

static void side_finalize(GObject *object)
{
	gst_clear_object(&SX_SIDE(object)->arena);
	G_OBJECT_CLASS(sx_side_parent_class)->finalize(object);
}

static void sx_side_class_init(StixelSideClass *class)
{
	static GstStaticPadTemplate sink = GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
								   GST_STATIC_CAPS(SX_FORMAT_CAPS));
	GstBaseSinkClass *base = GST_BASE_SINK_CLASS(class);

	G_OBJECT_CLASS(class)->finalize = side_finalize;
	GST_ELEMENT_CLASS(class)->send_event = side_send_event;
	base->set_caps = side_set_caps;
	base->propose_allocation = side_propose_allocation;
	base->event = side_event;
	base->stop = side_stop;
	base->render = side_render;
	gst_element_class_add_static_pad_template(GST_ELEMENT_CLASS(class), &sink);
	gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(class), "Side of stixelsink", "Sink/Video",
					      "One camera of stixelsink", SX_AUTHOR);
}

static void sx_side_init(StixelSide *s)
{
	/* the last image would keep a slot */
	gst_base_sink_set_last_sample_enabled(GST_BASE_SINK(s), FALSE);
	gst_base_sink_set_processing_deadline(GST_BASE_SINK(s), 0);
}

GstElement *sx_side_new(const char *name, enum sx_feed_side side, struct sx_feed *feed)
{
	StixelSide *s = g_object_new(sx_side_get_type(), "name", name, NULL);

	s->side = side;
	s->feed = feed;
	return GST_ELEMENT(s);
}
