/*
 * Serves /api/NAME/stream.mjpg: each new picture of the drawn frame replaces the previous one
 * (multipart/x-mixed-replace). Viewers are img elements, VLC, OBS and other programs for network cameras.
 *
 * Such a viewer does not receive the publisher's state and would show its last picture for ever. So an old
 * picture is sent again in grey.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "tools/draw/jpeg.h"
#include "tools/web/draw.h"
#include "tools/web/stream.h"

#define BOUNDARY "stixel-picture"
/* age of a stale picture, the same limit as on the page */
#define STALE_NS (SX_NS_PER_S * 3 / 2)
/* interval of sending a stale picture again; sending also shows whether the viewer is gone */
#define REPEAT_NS (2 * SX_NS_PER_S)
/* time for the publisher to start images after the first viewer came */
#define IMAGE_NS SX_NS_PER_S

static void mjpeg_add(struct web_client *c, const void *data, size_t bytes)
{
	const int n = snprintf(c->text, sizeof(c->text),
			       "--" BOUNDARY "\r\nContent-Type: image/jpeg\r\nContent-Length: %zu\r\n"
			       "X-Stixel-Frame: %" PRIu64 "\r\nX-Stixel-Age-Us: %" PRIu32 "\r\n\r\n",
			       bytes, c->packet->number, web_client_age_us(c));

	web_client_add(c, c->text, (size_t)n);
	web_client_add(c, data, bytes);
	web_client_add(c, "\r\n", 2);
}

static bool mjpeg_frame(struct web_client *c)
{
	const void *data;
	size_t bytes;

	if (!c->packet->image[WEB_LEFT].pixels && sx_now_ns() < c->since_ns + IMAGE_NS)
		return false;
	data = web_client_code(c, WEB_DRAWN, &bytes);
	if (!data)
		return false;
	mjpeg_add(c, data, bytes);
	web_packet_unref(c->mjpeg.packet);
	c->mjpeg.packet = web_packet_ref(c->packet);
	free(c->mjpeg.stale);
	c->mjpeg.stale = NULL;
	c->mjpeg.repeat_ns = 0;
	return true;
}

static void draw_stale(struct web_client *c)
{
	const struct sx_scale scale = web_client_scale(c, c->mjpeg.packet);
	struct sx_image rgb = {0};

	if (web_packet_draw(c->mjpeg.packet, &scale, &rgb) == 0) {
		web_draw_stale(&rgb);
		c->mjpeg.stale = sx_jpeg_code(&rgb, c->server->quality, true, &c->mjpeg.stale_bytes);
	}
	sx_image_finish(&rgb);
}

static bool mjpeg_notice(struct web_client *c, const struct web_notice *n)
{
	const int64_t now_ns = sx_now_ns();

	if (!c->mjpeg.packet || now_ns < c->mjpeg.repeat_ns ||
	    now_ns < c->mjpeg.packet->captured_ns + STALE_NS ||
	    now_ns < c->sent_ns + c->viewer.interval_ns + STALE_NS)
		return false;
	if (!c->mjpeg.stale)
		draw_stale(c);
	if (!c->mjpeg.stale)
		return false;
	c->mjpeg.repeat_ns = now_ns + REPEAT_NS;
	c->packet = web_packet_ref(c->mjpeg.packet);
	mjpeg_add(c, c->mjpeg.stale, c->mjpeg.stale_bytes);
	return true;
}

static const struct web_stream_kind mjpeg = {"multipart/x-mixed-replace; boundary=" BOUNDARY, mjpeg_frame,
					     mjpeg_notice};

enum MHD_Result web_mjpeg_page(struct web_server *s, struct MHD_Connection *m, const char *instance,
			       bool head)
{
	struct web_viewer wish = {.wants = 1u << WEB_DRAWN};
	struct stixel_reader *reader = NULL;
	enum MHD_Result done = MHD_NO;
	int r;

	if (!web_stream_fps(m, &wish, &done) || !web_stream_ends(m, &wish, &done))
		return done;
	/* report errors now: this viewer cannot receive them later */
	r = stixel_open(&reader, instance, 0);
	stixel_close(reader);
	if (r < 0)
		return web_refuse_reader(m, instance, r);
	return head ? web_reply(m, MHD_HTTP_OK, mjpeg.type, "", 0)
		    : web_stream_begin(s, m, instance, &mjpeg, &wish);
}
