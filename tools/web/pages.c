/*
 * Serves the short answers: list of instances, status, snapshot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "config/preset.h"
#include "ipc/text.h"
#include "stixel.h"
#include "tools/draw/jpeg.h"
#include "tools/web/draw.h"
#include "tools/web/recordings/recordings.h"
#include "tools/web/server.h"
#include "tools/web/stream.h"

enum { LIST_BYTES = 16 * 1024, SNAPSHOT_MS = 3000, SNAPSHOT_STEP_MS = 250, LINGER_FRAMES = 12 };

static const char json_type[] = "application/json; charset=utf-8";

/* Adds one instance with the values of its ring. Does not ask the daemon. */
static void add_instance(struct web_server *server, struct sx_text *t, const char *name)
{
	struct stixel_status s = {0};
	struct stixel_reader *reader = NULL;
	char why[WEB_READER_WHY_BYTES];
	int r = stixel_open(&reader, name, STIXEL_OPEN_LEFTOVER); /* a publisher that died is shown as such */

	if (r == 0)
		r = stixel_status(reader, &s, sizeof(s));
	sx_json_open(t, NULL, '{');
	sx_json_text(t, "name", name);
	if (r == 0) {
		sx_json_text(t, "publisher", stixel_publisher_name(s.publisher));
		sx_json_text(t, "state", stixel_state_name(s.state));
		sx_json_text(t, "version", s.version);
		sx_json_whole(t, "pid", s.pid);
	} else {
		sx_json_text(t, "publisher", stixel_publisher_name(STIXEL_PUBLISHER_ABSENT));
		web_reader_why(name, r, why);
		sx_json_text(t, "error", why);
	}
	if (server->recordings)
		web_recorder_tell(server->recordings, name, t);
	sx_json_close(t, '}');
	stixel_close(reader);
}

enum MHD_Result web_instances_page(struct web_server *s, struct MHD_Connection *c)
{
	char *data = malloc(LIST_BYTES);
	size_t foreign, beyond;
	struct web_names names;
	enum MHD_Result done;
	struct sx_text t;

	if (!data)
		return web_refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
	/* a requested instance is listed even if it does not exist at present */
	web_ask_instances(&names, &s->only);
	foreign = names.foreign;
	beyond = names.beyond;
	if (s->only.count)
		names = s->only;
	sx_text_init(&t, data, LIST_BYTES);
	sx_json_open(&t, NULL, '{');
	sx_json_text(&t, "version", SX_VERSION);
	sx_json_bool(&t, "tune", s->tune);
	sx_json_bool(&t, "recordings", s->recordings != NULL);
	sx_json_open(&t, "left_out", '{');
	sx_json_whole(&t, "foreign", foreign);
	sx_json_whole(&t, "beyond", beyond);
	sx_json_close(&t, '}');
	sx_json_open(&t, "instances", '[');
	for (size_t i = 0; i < names.count; i++)
		add_instance(s, &t, names.name[i]);
	sx_json_close(&t, ']');
	sx_json_close(&t, '}');
	sx_text_add(&t, "\n");
	done = web_reply(c, MHD_HTTP_OK, json_type, t.data, t.used);
	free(data);
	return done;
}

enum MHD_Result web_clock_page(struct MHD_Connection *c)
{
	char text[64];
	const int n = snprintf(text, sizeof(text), "{\"monotonic_ns\": %" PRId64 "}\n", sx_now_ns());

	return web_reply(c, MHD_HTTP_OK, json_type, text, (size_t)n);
}

enum MHD_Result web_presets_page(struct MHD_Connection *c)
{
	enum MHD_Result done;
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&text, &bytes);

	if (f)
		sx_presets_json(f);
	/* if memory is short, an error is sent instead of a part of the presets */
	if (f && fclose(f) == 0)
		done = web_reply(c, MHD_HTTP_OK, json_type, text, bytes);
	else
		done = web_refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
	free(text);
	return done;
}

enum MHD_Result web_refuse_ask(struct MHD_Connection *c, const struct sx_reply *reply)
{
	return web_refuse(c,
			  reply->code == -ENOENT      ? MHD_HTTP_NOT_FOUND
			  : reply->code == -ETIMEDOUT ? MHD_HTTP_GATEWAY_TIMEOUT
						      : MHD_HTTP_BAD_GATEWAY,
			  "%s", reply->why);
}

enum MHD_Result web_refuse_reader(struct MHD_Connection *c, const char *instance, int error)
{
	char why[WEB_READER_WHY_BYTES];

	if (error == -ENOENT || error == -EPIPE)
		return web_refuse(c, MHD_HTTP_NOT_FOUND, "no stixeld runs as instance '%s'", instance);
	web_reader_why(instance, error, why);
	return web_refuse(c, MHD_HTTP_BAD_GATEWAY, "instance '%s': %s", instance, why);
}

/*
 * Sends the settings with an ETag. They are long and rarely change, so a client that has them does not
 * receive them again.
 */
static enum MHD_Result reply_settings(struct MHD_Connection *c, const char *body)
{
	const size_t bytes = strlen(body);
	uint64_t hash = 14695981039346656037u;
	char tag[24];

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (uint8_t)body[i]) * 1099511628211u;
	snprintf(tag, sizeof(tag), "\"%016" PRIx64 "\"", hash);
	return web_reply_tagged(c, json_type, tag, body, bytes, MHD_RESPMEM_MUST_COPY);
}

/* Sends the daemon's own answer. */
static enum MHD_Result pass_on(struct web_server *s, struct MHD_Connection *c, const char *instance,
			       enum web_page page)
{
	enum MHD_Result done;
	struct sx_reply reply;
	const int code = web_ask(&s->asks, instance, page, &reply);

	if (code < 0)
		return web_refuse_ask(c, &reply);
	if (code == 200 && page == WEB_PAGE_SETTINGS)
		done = reply_settings(c, reply.body);
	else
		done = web_reply(c, (unsigned)code, code == 200 ? json_type : "text/plain; charset=utf-8",
				 reply.body, strlen(reply.body));
	sx_reply_finish(&reply);
	return done;
}

enum MHD_Result web_status_page(struct web_server *s, struct MHD_Connection *c, const char *instance)
{
	return pass_on(s, c, instance, WEB_PAGE_STATUS);
}

enum MHD_Result web_settings_page(struct web_server *s, struct MHD_Connection *c, const char *instance)
{
	return pass_on(s, c, instance, WEB_PAGE_SETTINGS);
}

/* ---- the snapshot ---- */

/*
 * Takes the newest frame, with its left image if the image comes in time. Returns 1, 0 for no frame, or a
 * negative errno.
 */
static int take_frame(struct stixel_reader *reader, const struct stixel_frame **frame)
{
	int64_t end_ns = sx_now_ns() + SNAPSHOT_MS * INT64_C(1000000);
	struct stixel_image left;
	int got = 0, r;

	stixel_want_images(reader, 1u << STIXEL_PLANE_LEFT);
	for (int tries = 0; tries < LINGER_FRAMES && sx_now_ns() < end_ns; tries += got) {
		r = stixel_wait(reader, SNAPSHOT_STEP_MS);
		/* the previous frame is invalid after this call, even after an error */
		if (r > 0)
			got = r = stixel_latest(reader, frame);
		if (r < 0 && r != -EINTR && r != -EBADMSG)
			return r;
		got = got > 0;
		if (r > 0 && stixel_image(*frame, STIXEL_PLANE_LEFT, &left) == 1)
			break;
	}
	return got;
}

static enum MHD_Result send_drawn(struct web_server *s, struct MHD_Connection *c,
				  const struct stixel_frame *frame, const struct web_viewer *wish)
{
	struct sx_scale scale = {.given_near_m = wish->near_m, .given_far_m = wish->far_m};
	struct stixel_image plane = {0};
	struct sx_image rgb = {0}, left = {0};
	const bool has_left = stixel_image(frame, STIXEL_PLANE_LEFT, &plane) == 1;
	unsigned char *data = NULL;
	enum MHD_Result done;
	size_t bytes = 0;

	if (has_left)
		left = (struct sx_image){.data = (void *)(uintptr_t)plane.data,
					 .width = (int)plane.width,
					 .height = (int)plane.height,
					 .pitch = plane.pitch,
					 .pixel = SX_PIXEL_U8};
	sx_scale_frame(&scale, frame->header, frame->stixels);
	if (web_draw(&rgb, frame->header, frame->stixels, has_left ? &left : NULL, &scale) == 0)
		data = sx_jpeg_code(&rgb, s->quality, true, &bytes);
	if (data)
		done = web_reply(c, MHD_HTTP_OK, "image/jpeg", (const char *)data, bytes);
	else
		done = web_refuse(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "the frame cannot be drawn");
	free(data);
	sx_image_finish(&rgb);
	return done;
}

enum MHD_Result web_snapshot_page(struct web_server *s, struct MHD_Connection *c, const char *instance)
{
	const struct stixel_frame *frame = NULL;
	struct stixel_reader *reader = NULL;
	struct web_viewer wish = {0};
	enum MHD_Result done = MHD_NO;
	int r;

	if (!web_stream_ends(c, &wish, &done))
		return done;
	r = stixel_open(&reader, instance, 0);
	if (r == 0)
		r = take_frame(reader, &frame);
	if (r > 0)
		done = send_drawn(s, c, frame, &wish);
	else if (r < 0)
		done = web_refuse_reader(c, instance, r);
	else
		done = web_refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE,
				  "instance '%s' published no frame within %d s", instance,
				  SNAPSHOT_MS / 1000);
	stixel_close(reader);
	return done;
}
