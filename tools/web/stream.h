/*
 * Answers without end: a viewer, and what is written for it.
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

/* How frames are written. Both add parts to the client, which live until they are sent. */
struct web_stream_kind {
	const char *type; /* Content-Type */
	/* c->packet, which is newer than what was sent last. False: it is passed over. */
	bool (*frame)(struct web_client *c);
	/* What is known of the publisher changed, or half a second passed. False: nothing to say. */
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
	int fd;		  /* of the connection, to see it close */
	int64_t since_ns; /* it came */
	struct web_packet *packet;
	uint64_t epoch, number; /* taken last */
	int64_t sent_ns;	/* when that was; 0: none yet */
	int64_t due_ns;		/* no frame before */
	int64_t notice_ns;	/* when the next notice is due */
	uint64_t notice_version;
	uint32_t skipped;
	struct web_message header[WEB_PICTURES + 2];
	char text[512];
	struct {
		struct web_packet *packet; /* the last one, for when no other comes */
		unsigned char *stale;	   /* drawn as such, JPEG; NULL: not yet */
		size_t stale_bytes;
		int64_t repeat_ns; /* when it is due again */
	} mjpeg;
	/* what is being sent */
	struct web_part part[2 * (WEB_PICTURES + 2)];
	size_t parts, at, offset;
};

/* Bytes that live until they are sent. */
void web_client_add(struct web_client *c, const void *data, size_t bytes);
/* Age of c->packet, at most UINT32_MAX. */
uint32_t web_client_age_us(const struct web_client *c);

/* Begins the answer; wish: what the viewer wants. */
enum MHD_Result web_stream_begin(struct web_server *s, struct MHD_Connection *m, const char *instance,
				 const struct web_stream_kind *kind, const struct web_viewer *wish);
/* ?fps=N. False: it is wrong, and the answer was queued (*done). */
bool web_stream_fps(struct MHD_Connection *m, struct web_viewer *wish, enum MHD_Result *done);

#endif
