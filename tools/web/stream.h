/*
 * Endless answers: a viewer and the data written for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_STREAM_H
#define SX_TOOLS_WEB_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/web/server.h"
#include "tools/web/wire.h"

#define WEB_NOTICE_NS (SX_NS_PER_S / 2)

struct web_client;
struct web_film;

/* Kind of a stream. Both functions add parts to the client. The data must live until it is sent. */
struct web_stream_kind {
	const char *type; /* Content-Type */
	/* Writes c->packet, which is newer than the last frame sent. False: the frame is skipped. */
	bool (*frame)(struct web_client *c);
	/*
	 * Writes a notice: the publisher's state has changed, or half a second has passed. False: nothing to
	 * write.
	 */
	bool (*notice)(struct web_client *c, const struct web_notice *n);
};

struct web_part {
	const void *data;
	size_t bytes;
};

struct web_client {
	const struct web_stream_kind *kind;
	struct web_server *server;
	struct web_viewer viewer;
	struct web_film *film; /* recording that is sent; NULL: the instance of the viewer */
	int fd;		       /* socket of the connection, to see it close */
	int64_t since_ns;      /* start of the connection */
	struct web_packet *packet;
	uint64_t epoch, number; /* last frame taken */
	int64_t sent_ns;	/* time of the last frame sent; 0: none yet */
	int64_t due_ns;		/* earliest time of the next frame */
	int64_t notice_ns;	/* time of the next notice */
	uint64_t notice_version;
	uint32_t skipped;
	struct web_message header[WEB_PICTURES + 3];
	char text[2048];
	bool pictured; /* the first left image was coded */
	void *own;     /* picture coded for this viewer alone; NULL: none */
	struct {
		struct web_packet *packet; /* last packet, for when no newer one comes */
		unsigned char *stale;	   /* the last packet drawn as stale, JPEG; NULL: not yet drawn */
		size_t stale_bytes;
		int64_t repeat_ns; /* time of the next repetition */
	} mjpeg;
	/* parts being sent */
	struct web_part part[2 * (WEB_PICTURES + 3)];
	size_t parts, at, offset;
};

/* Adds bytes, which must live until they are sent. */
void web_client_add(struct web_client *c, const void *data, size_t bytes);
/*
 * Returns a picture of c->packet with the viewer's scale, which lives until the next message. bytes 0: there
 * is none.
 */
const void *web_client_code(struct web_client *c, enum web_picture which, size_t *bytes);
/* Returns the colours of distances that this viewer sees. */
struct sx_scale web_client_scale(const struct web_client *c, const struct web_packet *p);
/* Returns the age of c->packet, us, at most UINT32_MAX. */
uint32_t web_client_age_us(const struct web_client *c);

/* Begins the answer. wish: what the viewer wants. */
enum MHD_Result web_stream_begin(struct web_server *s, struct MHD_Connection *m, const char *instance,
				 const struct web_stream_kind *kind, const struct web_viewer *wish);
/* The same for the frames of a recording. Takes the film over, even on failure. */
enum MHD_Result web_stream_film(struct web_server *s, struct MHD_Connection *m, struct web_film *film,
				const struct web_viewer *wish);
/* Writes the messages of a frame. Takes over this use of the packet. */
void web_stream_put(struct web_client *c, struct web_packet *p);
/*
 * Reads which parts of a frame a viewer wants, and the ends of the scale. False: a value is wrong, and the
 * error was queued (*done).
 */
bool web_stream_wish(struct MHD_Connection *m, struct web_viewer *wish, enum MHD_Result *done);
/* Reads ?fps=N. False: the value is wrong, and the error was queued (*done). */
bool web_stream_fps(struct MHD_Connection *m, struct web_viewer *wish, enum MHD_Result *done);
/* Reads ?near=M&far=M in the same way. */
bool web_stream_ends(struct MHD_Connection *m, struct web_viewer *wish, enum MHD_Result *done);

/* ---- recordings/film.c ---- */

/* Writes the next frame of a recording. False: there is no more. */
bool web_film_next(struct web_film *film, struct web_client *c);
void web_film_destroy(struct web_film *film); /* accepts NULL */

#endif
