/*
 * Sends the frames of a recording as the messages of a stream, so that the page plays them as it plays live
 * frames. A JPEG is sent as it was recorded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tools/common/args.h"
#include "tools/web/recordings/recordings.h"

enum { FILMS = 8, MS_MOST = INT32_MAX };

struct web_film {
	struct web_client *client;
	struct sx_recording *recording;
	struct sx_scale scale;
	int64_t from_ns, to_ns; /* published_ns of the frames to send: from from_ns on, before to_ns */
};

/* Open recordings. Each may take the memory of a chunk. */
static atomic_int films;

int web_film_leave_jpeg(void *user, const void *jpeg, uint64_t bytes, uint8_t *pixels, uint32_t width,
			uint32_t height, uint32_t pitch)
{
	return 0;
}

static int next_frame(struct sx_recording *recording, struct sx_record *record)
{
	int e;

	do
		e = sx_recording_next(recording, record);
	while (e == -EINTR || (e > 0 && record->kind != SX_RECORD_FRAME));
	return e;
}

int web_film_measure(struct sx_recording *recording, bool read, struct web_film_length *ret)
{
	const struct sx_recording_state *state = sx_recording_state(recording);
	struct sx_record record;
	int e = 0;

	if (state->end_known) {
		*ret = (struct web_film_length){state->end.frames, state->end.first_ns, state->end.last_ns,
						true};
		return state->end.frames > 0;
	}
	*ret = (struct web_film_length){0};
	sx_recording_on_jpeg(recording, web_film_leave_jpeg, NULL);
	while (read && (e = next_frame(recording, &record)) > 0) {
		ret->last_ns = record.frame.header->published_ns;
		if (ret->frames++ == 0)
			ret->first_ns = ret->last_ns;
	}
	ret->whole = state->ended;
	return e < 0 ? e : ret->frames > 0;
}

/* Puts the recorded JPEG of the left image into the packet. */
static void give_jpeg(struct web_packet *p, struct sx_span jpeg)
{
	struct web_image *image = &p->image[WEB_LEFT];

	image->tried = 1;
	image->coded = malloc(jpeg.bytes);
	if (!image->coded)
		return;
	memcpy(image->coded, jpeg.at, jpeg.bytes);
	image->coded_bytes = jpeg.bytes;
}

bool web_film_next(struct web_film *film, struct web_client *c)
{
	struct web_packet *p = NULL;
	struct sx_record record;
	struct sx_span jpeg;
	int64_t at_ns;

	film->client = c;
	while (!p) {
		if (next_frame(film->recording, &record) <= 0)
			return false;
		at_ns = record.frame.header->published_ns;
		if (at_ns >= film->to_ns)
			return false;
		if (at_ns < film->from_ns)
			continue;
		jpeg = record.jpeg[STIXEL_PLANE_LEFT];
		sx_scale_frame(&film->scale, record.frame.header, record.frame.stixels);
		p = web_packet_create(&record.frame,
				      jpeg.bytes ? c->viewer.wants & ~(1u << WEB_LEFT) : c->viewer.wants,
				      &film->scale);
		if (!p)
			return false;
		if (jpeg.bytes)
			give_jpeg(p, jpeg);
	}
	p->captured_ns = sx_now_ns(); /* the clock of the recording may be that of another computer */
	web_stream_put(c, p);
	return true;
}

void web_film_destroy(struct web_film *film)
{
	if (!film)
		return;
	sx_recording_close(film->recording);
	free(film);
	atomic_fetch_sub(&films, 1);
}

/* Ends reading when the browser has left. */
static int unless_left(void *user, int fd)
{
	const struct web_film *film = user;
	struct pollfd p = {.fd = film->client ? film->client->fd : -1, .events = POLLRDHUP};

	return poll(&p, 1, 0) > 0 ? -ECANCELED : 0;
}

/* Reads ?from=MS or ?to=MS. Returns as web_stream_fps(). */
static bool parse_ms(struct MHD_Connection *m, const char *key, int *to, enum MHD_Result *done)
{
	const char *text = MHD_lookup_connection_value(m, MHD_GET_ARGUMENT_KIND, key);

	if (!text || sx_parse_int(text, 0, MS_MOST, to))
		return true;
	*done = web_refuse(m, MHD_HTTP_BAD_REQUEST, "%s needs milliseconds, 0 to %d, not '%.40s'", key,
			   MS_MOST, text);
	return false;
}

/* Goes to the first frame that is wanted. Returns 0 or a negative errno. */
static int go_to(struct web_film *film, int from_ms, int to_ms)
{
	const struct sx_recording_state *state = sx_recording_state(film->recording);
	struct sx_record record;
	int64_t first_ns = state->end.first_ns;
	int e = 1;

	if (!state->end_known) {
		e = next_frame(film->recording, &record);
		if (e > 0) {
			first_ns = record.frame.header->published_ns;
			e = sx_recording_rewind(film->recording);
		}
	}
	film->from_ns = sx_recorded_ns_add(first_ns, from_ms * INT64_C(1000000));
	film->to_ns = to_ms == MS_MOST ? INT64_MAX : sx_recorded_ns_add(first_ns, to_ms * INT64_C(1000000));
	if (e >= 0 && from_ms > 0)
		e = sx_recording_seek(film->recording, 0, film->from_ns);
	return e == -ESPIPE || e > 0 ? 0 : e;
}

static struct web_film *create(void)
{
	struct web_film *film = calloc(1, sizeof(*film));

	if (film && atomic_fetch_add(&films, 1) < FILMS)
		return film;
	if (film)
		atomic_fetch_sub(&films, 1);
	free(film);
	return NULL;
}

enum MHD_Result web_film_page(struct web_server *s, struct MHD_Connection *c, const char *name, bool head)
{
	int from_ms = 0, to_ms = MS_MOST, fd, e;
	struct web_viewer wish = {0};
	enum MHD_Result done = MHD_NO;
	struct web_film *film;
	struct sx_why why;
	uint64_t bytes;

	if (!web_stream_wish(c, &wish, &done) || !parse_ms(c, "from", &from_ms, &done) ||
	    !parse_ms(c, "to", &to_ms, &done))
		return done;
	fd = web_recording_open_fd(s->recordings, name, &bytes);
	if (fd < 0)
		return web_refuse(c, MHD_HTTP_NOT_FOUND, "there is no such recording");
	film = create();
	if (!film) {
		close(fd);
		return web_refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE, "too many recordings are being played");
	}
	e = sx_recording_open_fd(&film->recording, fd, name, &why);
	if (e < 0) {
		web_film_destroy(film);
		return web_refuse(c, WEB_WRONG_CONTENT, "%s", why.text);
	}
	if (!(wish.wants >> WEB_PLANES_AT)) /* no pixels are wanted */
		sx_recording_on_jpeg(film->recording, web_film_leave_jpeg, NULL);
	sx_recording_on_wait(film->recording, unless_left, film);
	e = go_to(film, from_ms, to_ms);
	if (e < 0 || head) {
		web_film_destroy(film);
		return e < 0 ? web_refuse(c, WEB_WRONG_CONTENT, "%s: %s", name, sx_recording_strerror(e))
			     : web_reply(c, MHD_HTTP_OK, WEB_MESSAGE_TYPE, "", 0);
	}
	return web_stream_film(s, c, film, &wish);
}
