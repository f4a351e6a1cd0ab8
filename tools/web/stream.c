/*
 * Serves endless answers, always with the newest frame. This file has /api/NAME/stream: messages of a header
 * and a payload.
 *
 * Each viewer has its own thread (the server's mode). It sleeps here until there is something newer than the
 * last message, and sends it completely before it looks again. So a slow viewer skips frames and holds only
 * one. Nothing accumulates in this process, and little in the kernel (SO_SNDBUF, TCP_NOTSENT_LOWAT).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "ipc/text.h"
#include "tools/common/args.h"
#include "tools/web/stream.h"

/* FIRST_QUALITY: JPEG quality of a viewer's first image, so that it comes soon also over a slow network. */
enum {
	FIRST_QUALITY = 40,
	FPS_MOST = 1000,
	BLOCK_BYTES = 32 * 1024,
	SEND_BYTES = 128 * 1024,
	UNSENT_BYTES = 32 * 1024
};

/* Longest time that a viewer's first frame waits for its image. */
#define HOLD_NS (SX_NS_PER_S / 5)

void web_client_add(struct web_client *c, const void *data, size_t bytes)
{
	if (bytes)
		c->part[c->parts++] = (struct web_part){data, bytes};
}

uint32_t web_client_age_us(const struct web_client *c)
{
	int64_t age = (sx_now_ns() - c->packet->captured_ns) / 1000;

	return age < 0 ? 0 : age > UINT32_MAX ? UINT32_MAX : (uint32_t)age;
}

static void add_message(struct web_client *c, struct web_message *header, uint32_t kind, const void *data,
			size_t bytes)
{
	*header = (struct web_message){.magic = WEB_MESSAGE_MAGIC, .kind = kind, .bytes = (uint32_t)bytes};
	if (c->packet) {
		header->number = c->packet->number;
		header->age_us = web_client_age_us(c);
	}
	web_client_add(c, header, sizeof(*header));
	web_client_add(c, data, bytes);
}

/* Counts the frames that were due while the previous frame was still being sent. */
static void count_skipped(struct web_client *c, int64_t now_ns)
{
	uint64_t passed = c->packet->epoch == c->epoch ? c->packet->number - c->number - 1 : 0;
	int64_t late_ns = now_ns - c->due_ns, interval_ns = c->viewer.interval_ns;

	if (c->number == 0 || c->due_ns == 0 || late_ns <= 0)
		return;
	if (interval_ns > 0 && passed > (uint64_t)(late_ns / interval_ns))
		passed = (uint64_t)(late_ns / interval_ns);
	c->skipped += (uint32_t)passed;
	atomic_fetch_add(&c->server->counts.frames_skipped, passed);
}

struct sx_scale web_client_scale(const struct web_client *c, const struct web_packet *p)
{
	struct sx_scale scale = p->scale;

	sx_scale_give(&scale, c->viewer.near_m, c->viewer.far_m);
	return scale;
}

const void *web_client_code(struct web_client *c, enum web_picture which, size_t *bytes)
{
	const bool scene = !(c->viewer.near_m > 0.0) && !(c->viewer.far_m > 0.0);
	const bool first = which == WEB_LEFT && !c->film && !c->pictured && c->packet->image[which].pixels;
	const int quality = first && c->server->quality > FIRST_QUALITY ? FIRST_QUALITY : c->server->quality;
	struct sx_scale scale;

	c->pictured |= first;
	if (!first && (scene || which == WEB_LEFT))
		return web_packet_code(c->packet, which, quality, bytes);
	scale = web_client_scale(c, c->packet);
	free(c->own);
	c->own = web_packet_code_scaled(c->packet, which, quality, &scale, bytes);
	return c->own;
}

/* Writes the scale as JSON into c->text. Returns its bytes. */
static size_t write_scale(struct web_client *c)
{
	const struct sx_scale scale = web_client_scale(c, c->packet);
	struct sx_scale_tick ticks[SX_SCALE_TICKS];
	const int count = sx_scale_ticks(&scale, ticks);
	struct sx_text t;

	sx_text_init(&t, c->text, sizeof(c->text));
	sx_json_open(&t, NULL, '{');
	sx_json_real(&t, "near", sx_scale_near(&scale));
	sx_json_real(&t, "far", sx_scale_far(&scale));
	sx_json_text(&t, "unit", sx_scale_unit(&scale));
	sx_json_real(&t, "near_px", scale.range.near_px);
	sx_json_real(&t, "far_px", scale.range.far_px);
	sx_json_open(&t, "ticks", '[');
	for (int i = 0; i < count; i++) {
		sx_json_open(&t, NULL, '{');
		sx_json_real(&t, "place", ticks[i].place);
		sx_json_text(&t, "text", ticks[i].text);
		sx_json_close(&t, '}');
	}
	sx_json_close(&t, ']');
	sx_json_close(&t, '}');
	return t.used;
}

/*
 * Adds the messages of a frame. Images, free space and scale come first, so that all parts are there when the
 * frame's message arrives.
 */
static bool messages_frame(struct web_client *c)
{
	static const uint32_t kinds[WEB_PICTURES] = {
		[WEB_LEFT] = WEB_MESSAGE_LEFT, [WEB_DISPARITY] = WEB_MESSAGE_DISPARITY};
	struct web_packet *p = c->packet;

	for (int i = 0; i < WEB_PICTURES; i++) {
		size_t bytes = 0;
		const void *data = NULL;

		if (c->viewer.wants & 1u << i)
			data = web_client_code(c, (enum web_picture)i, &bytes);
		if (data)
			add_message(c, &c->header[i], kinds[i], data, bytes);
	}
	if (c->viewer.wants & WEB_WANTS_FREE && p->space)
		add_message(c, &c->header[WEB_PICTURES + 1], WEB_MESSAGE_FREE, p->space, p->space_bytes);
	if (c->viewer.wants & WEB_WANTS_SCALE)
		add_message(c, &c->header[WEB_PICTURES + 2], WEB_MESSAGE_SCALE, c->text, write_scale(c));
	if (c->viewer.wants >> WEB_PLANES_AT && p->whole)
		add_message(c, &c->header[WEB_PICTURES], WEB_MESSAGE_FRAME, p->whole, p->whole_bytes);
	else
		add_message(c, &c->header[WEB_PICTURES], WEB_MESSAGE_FRAME, p->record, p->record_bytes);
	c->header[WEB_PICTURES].skipped = c->skipped;
	return true;
}

void web_stream_put(struct web_client *c, struct web_packet *p)
{
	c->packet = p;
	messages_frame(c);
	atomic_fetch_add(&c->server->counts.frames_sent, 1);
}

static bool messages_notice(struct web_client *c, const struct web_notice *n)
{
	struct sx_text t;

	sx_text_init(&t, c->text, sizeof(c->text));
	sx_json_open(&t, NULL, '{');
	sx_json_text(&t, "publisher", n->version ? stixel_publisher_name(n->publisher) : "unknown");
	sx_json_text(&t, "state", n->version ? stixel_state_name(n->state) : "unknown");
	sx_json_text(&t, "version", n->version_text);
	sx_json_text(&t, "error", n->error ? n->error_text : NULL);
	sx_json_whole(&t, "head", n->head);
	sx_json_count(&t, "heartbeat_ms",
		      n->heartbeat_age_ns == INT64_MAX ? -1 : n->heartbeat_age_ns / 1000000);
	sx_json_whole(&t, "skipped", c->skipped);
	sx_json_close(&t, '}');
	add_message(c, &c->header[0], WEB_MESSAGE_NOTICE, c->text, t.used);
	return true;
}

static const struct web_stream_kind messages = {WEB_MESSAGE_TYPE, messages_frame, messages_notice};

static bool begin_frame(struct web_client *c, struct web_packet *p, int64_t now_ns)
{
	int64_t interval_ns = c->viewer.interval_ns;
	bool sent;

	c->packet = p;
	count_skipped(c, now_ns);
	sent = c->kind->frame(c);
	c->epoch = p->epoch;
	c->number = p->number;
	if (!sent) {
		web_packet_unref(p);
		c->packet = NULL;
		return false;
	}
	c->sent_ns = now_ns;
	c->due_ns = (c->due_ns + interval_ns > now_ns ? c->due_ns : now_ns) + interval_ns;
	atomic_fetch_add(&c->server->counts.frames_sent, 1);
	return true;
}

static bool begin_notice(struct web_client *c, const struct web_notice *n, int64_t now_ns)
{
	c->notice_version = n->version;
	c->notice_ns = now_ns + WEB_NOTICE_NS;
	return c->kind->notice(c, n);
}

/* Sleeps until there may be something to send. False: the connection is closing. */
static bool sleep_until(struct web_client *c, int64_t until_ns)
{
	struct pollfd p[2] = {{.fd = c->viewer.event_fd, .events = POLLIN},
			      {.fd = c->fd, .events = POLLRDHUP}};
	int64_t left_ns = until_ns - sx_now_ns();
	struct timespec t = {.tv_sec = left_ns / SX_NS_PER_S, .tv_nsec = left_ns % SX_NS_PER_S};
	uint64_t rings;

	if (left_ns <= 0)
		return true;
	if (ppoll(p, 2, &t, NULL) > 0 && p[1].revents)
		return false;
	if (p[0].revents && read(c->viewer.event_fd, &rings, sizeof(rings)) < 0)
		return errno == EAGAIN || errno == EINTR;
	return true;
}

/*
 * Returns true for a frame that comes before the image that the viewer wants. The daemon adds images from the
 * frame after the request on. Without this, a viewer would load two frames for its first picture.
 */
static bool is_early(const struct web_client *c, const struct web_packet *p, int64_t now_ns)
{
	const unsigned wanted = c->viewer.wants & (1u << WEB_LEFT | 1u << WEB_DISPARITY);

	if (c->kind != &messages || c->sent_ns || !wanted || now_ns >= c->since_ns + HOLD_NS)
		return false;
	return !p->image[WEB_LEFT].pixels && !p->image[WEB_DISPARITY].pixels;
}

/* Prepares the newest frame or notice. Sleeps until there is one. False: the stream ends. */
static bool next_message(struct web_client *c)
{
	web_packet_unref(c->packet);
	c->packet = NULL;
	c->parts = c->at = c->offset = 0;
	if (c->film)
		return web_film_next(c->film, c);
	while (!web_feed_over(&c->viewer)) {
		int64_t now_ns = sx_now_ns(), until_ns;
		struct web_packet *p = NULL;
		struct web_notice n;
		bool early;

		web_feed_notice(&c->viewer, &n);
		if ((n.version != c->notice_version || now_ns >= c->notice_ns) && begin_notice(c, &n, now_ns))
			return true;
		if (now_ns >= c->due_ns)
			p = web_feed_newest(&c->viewer, c->epoch, c->number);
		early = p && is_early(c, p, now_ns);
		if (p && !early && begin_frame(c, p, now_ns))
			return true;
		until_ns = c->due_ns > now_ns && c->due_ns < c->notice_ns ? c->due_ns : c->notice_ns;
		if (early) {
			web_packet_unref(p);
			until_ns = c->since_ns + HOLD_NS < until_ns ? c->since_ns + HOLD_NS : until_ns;
		}
		if (!sleep_until(c, until_ns))
			return false;
	}
	return false;
}

/* Fills at most room bytes of the answer. Thread: the connection's. */
static ssize_t produce(void *user, uint64_t position, char *to, size_t room)
{
	struct web_client *c = user;
	const struct web_part *part;
	size_t bytes;

	if (c->at == c->parts && !next_message(c))
		return MHD_CONTENT_READER_END_OF_STREAM;
	part = &c->part[c->at];
	bytes = part->bytes - c->offset < room ? part->bytes - c->offset : room;
	memcpy(to, (const char *)part->data + c->offset, bytes);
	c->offset += bytes;
	if (c->offset == part->bytes) {
		c->at++;
		c->offset = 0;
	}
	atomic_fetch_add(&c->server->counts.bytes_sent, bytes);
	return (ssize_t)bytes;
}

static void client_free(void *user)
{
	struct web_client *c = user;

	if (c->film)
		web_film_destroy(c->film);
	else
		web_feed_leave(c->server->feeds, &c->viewer);
	web_packet_unref(c->packet);
	web_packet_unref(c->mjpeg.packet);
	free(c->mjpeg.stale);
	free(c->own);
	free(c);
}

bool web_stream_fps(struct MHD_Connection *m, struct web_viewer *wish, enum MHD_Result *done)
{
	const char *text = MHD_lookup_connection_value(m, MHD_GET_ARGUMENT_KIND, "fps");
	int fps = 0;

	if (text && !sx_parse_int(text, 1, FPS_MOST, &fps)) {
		*done = web_refuse(m, MHD_HTTP_BAD_REQUEST, "fps needs a number, 1 to %d, not '%.40s'",
				   FPS_MOST, text);
		return false;
	}
	wish->interval_ns = fps ? SX_NS_PER_S / fps : 0;
	return true;
}

/* Reads one end of the scale. */
static bool parse_end(struct MHD_Connection *m, const char *key, double *to, enum MHD_Result *done)
{
	const char *text = MHD_lookup_connection_value(m, MHD_GET_ARGUMENT_KIND, key);

	if (!text || sx_parse_real(text, SX_SCALE_LEAST_M, SX_SCALE_MOST_M, to))
		return true;
	*done = web_refuse(m, MHD_HTTP_BAD_REQUEST, "%s needs metres, %g to %g, not '%.40s'", key,
			   SX_SCALE_LEAST_M, SX_SCALE_MOST_M, text);
	return false;
}

bool web_stream_ends(struct MHD_Connection *m, struct web_viewer *wish, enum MHD_Result *done)
{
	if (!parse_end(m, "near", &wish->near_m, done) || !parse_end(m, "far", &wish->far_m, done))
		return false;
	if (!sx_scale_wrong(wish->near_m, wish->far_m))
		return true;
	*done = web_refuse(m, MHD_HTTP_BAD_REQUEST, "far must be farther than near");
	return false;
}

/* Reads ?images=... Returns as web_stream_fps(). */
static bool parse_images(struct MHD_Connection *m, struct web_viewer *wish, enum MHD_Result *done)
{
	const char *images = MHD_lookup_connection_value(m, MHD_GET_ARGUMENT_KIND, "images");
	unsigned kinds = 0;

	/* the page does not use the right image */
	if (images && (!sx_parse_images(images, &kinds) || kinds & 1u << STIXEL_PLANE_RIGHT)) {
		*done = web_refuse(
			m, MHD_HTTP_BAD_REQUEST,
			"images needs left, disparity, both with a comma between them, or none; not '%.40s'",
			images);
		return false;
	}
	wish->wants |= (kinds & 1u << STIXEL_PLANE_LEFT ? 1u << WEB_LEFT : 0) |
		       (kinds & 1u << STIXEL_PLANE_DISPARITY ? 1u << WEB_DISPARITY : 0);
	return true;
}

/* Reads ?planes=... Returns as web_stream_fps(). */
static bool parse_planes(struct MHD_Connection *m, struct web_viewer *wish, enum MHD_Result *done)
{
	const char *planes = MHD_lookup_connection_value(m, MHD_GET_ARGUMENT_KIND, "planes");
	unsigned kinds = 0;

	if (planes && !sx_parse_images(planes, &kinds)) {
		*done = web_refuse(
			m, MHD_HTTP_BAD_REQUEST,
			"planes needs left, right, disparity with commas between them, or none; not "
			"'%.40s'",
			planes);
		return false;
	}
	wish->wants |= kinds << WEB_PLANES_AT;
	return true;
}

/* Reads ?free=... or ?scale=..., which adds a want. Returns as web_stream_fps(). */
static bool parse_yes(struct MHD_Connection *m, const char *key, unsigned want, struct web_viewer *wish,
		      enum MHD_Result *done)
{
	const char *word = MHD_lookup_connection_value(m, MHD_GET_ARGUMENT_KIND, key);

	if (word && strcmp(word, "yes") != 0 && strcmp(word, "no") != 0) {
		*done = web_refuse(m, MHD_HTTP_BAD_REQUEST, "%s needs yes or no, not '%.40s'", key, word);
		return false;
	}
	wish->wants |= word && word[0] == 'y' ? want : 0;
	return true;
}

/* Keeps the kernel's send queue short, because queued frames are old when they arrive. */
static void keep_short(int fd)
{
	int bytes = SEND_BYTES, unsent = UNSENT_BYTES, on = 1;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static enum MHD_Result join_failed(struct web_server *s, struct MHD_Connection *m, int r)
{
	atomic_fetch_add(&s->counts.refused, 1);
	return web_refuse(m, MHD_HTTP_SERVICE_UNAVAILABLE, "%s",
			  r == -EBUSY ? "too many viewers: close another window" : strerror(-r));
}

/* Returns a viewer that reads nothing yet. NULL: out of memory. */
static struct web_client *client_create(struct web_server *s, struct MHD_Connection *m,
					const struct web_stream_kind *kind, const struct web_viewer *wish)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(m, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct web_client *c = info ? calloc(1, sizeof(*c)) : NULL;

	if (!c)
		return NULL;
	c->kind = kind;
	c->server = s;
	c->viewer = *wish;
	c->fd = info->connect_fd;
	return c;
}

/* Begins the answer of a viewer that has something to read. */
static enum MHD_Result client_serve(struct web_client *c, struct MHD_Connection *m)
{
	struct web_server *s = c->server;
	struct MHD_Response *response;
	enum MHD_Result done;

	keep_short(c->fd);
	c->since_ns = sx_now_ns();
	c->notice_ns = c->since_ns + WEB_NOTICE_NS;
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, produce, c, client_free);
	if (!response) {
		client_free(c);
		return MHD_NO;
	}
	web_add_headers(response, c->kind->type);
	atomic_fetch_add(&s->counts.streams, 1);
	done = MHD_queue_response(m, MHD_HTTP_OK, response);
	MHD_destroy_response(response); /* the response frees the client when the connection ends */
	return done;
}

enum MHD_Result web_stream_begin(struct web_server *s, struct MHD_Connection *m, const char *instance,
				 const struct web_stream_kind *kind, const struct web_viewer *wish)
{
	struct web_client *c = client_create(s, m, kind, wish);
	int r = c ? web_feed_join(s->feeds, &c->viewer, instance) : -ENOMEM;

	if (r == 0)
		return client_serve(c, m);
	free(c);
	return join_failed(s, m, r);
}

enum MHD_Result web_stream_film(struct web_server *s, struct MHD_Connection *m, struct web_film *film,
				const struct web_viewer *wish)
{
	struct web_client *c = client_create(s, m, &messages, wish);

	if (!c) {
		web_film_destroy(film);
		return join_failed(s, m, -ENOMEM);
	}
	c->film = film;
	return client_serve(c, m);
}

bool web_stream_wish(struct MHD_Connection *m, struct web_viewer *wish, enum MHD_Result *done)
{
	return parse_images(m, wish, done) && parse_planes(m, wish, done) &&
	       parse_yes(m, "free", WEB_WANTS_FREE, wish, done) &&
	       parse_yes(m, "scale", WEB_WANTS_SCALE, wish, done) && web_stream_ends(m, wish, done);
}

enum MHD_Result web_stream_page(struct web_server *s, struct MHD_Connection *m, const char *instance,
				bool head)
{
	struct web_viewer wish = {0};
	enum MHD_Result done = MHD_NO;

	if (!web_stream_fps(m, &wish, &done) || !web_stream_wish(m, &wish, &done))
		return done;
	if (head)
		return web_reply(m, MHD_HTTP_OK, messages.type, "", 0);
	return web_stream_begin(s, m, instance, &messages, &wish);
}
