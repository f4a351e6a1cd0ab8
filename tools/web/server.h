/*
 * stixel-web's HTTP server: what its parts share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_SERVER_H
#define SX_TOOLS_WEB_SERVER_H

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/http/patience.h"
#include "tools/web/address.h"
#include "tools/web/ask.h"
#include "tools/web/feed.h"
#include "tools/web/login.h"

#define WEB_CONNECTION_BYTES 49152u /* of each: its request, and a part of its answer */
#define WEB_PATIENCE_S 10	    /* for a whole request, and for a viewer that takes nothing */

/* What stixel-web counts of itself. */
struct web_counts {
	atomic_ullong requests, refused, logins_refused, connections_refused, streams, frames_sent,
		frames_skipped, bytes_sent;
};

struct web_server {
	struct web_names only; /* instances that may be looked at; empty: all */
	struct web_hosts hosts;
	int quality;		   /* of JPEG */
	bool tune;		   /* settings may be changed */
	bool tls;		   /* web_certificate_load() has one */
	struct web_logins *logins; /* NULL: no password is asked for */
	struct web_asks asks;
	struct web_feeds *feeds;
	struct web_counts counts;
	struct sx_patience patience; /* who dribbles is cut off */
	struct web_share share;	     /* who comes with too many is refused */
	struct MHD_Daemon *http[WEB_ADDRESSES];
	int64_t started_ns;
};

/*
 * Serves on these listening sockets, which it takes over, also on failure. Call with all signals blocked.
 * -EAGAIN with a sentence: no thread.
 */
int web_server_start(struct web_server *s, const int *fds, size_t count, char *why, size_t why_bytes);
/* Ends all connections, waits for their threads. */
void web_server_stop(struct web_server *s);
/* Once a second: cuts off who dribbles, also over a handshake. */
void web_server_tick(struct web_server *s);

/* ---- answers ---- */

/* The request that this thread answers lacks the password that it needs. Each connection has a thread. */
extern _Thread_local bool web_stranger;

/* Queues a body, copied, with the headers that every answer has. */
enum MHD_Result web_reply(struct MHD_Connection *c, unsigned status, const char *type, const char *body,
			  size_t bytes);
/* A body that is kept by how; tag: its ETag, and who has it already gets 304. */
enum MHD_Result web_reply_tagged(struct MHD_Connection *c, const char *type, const char *tag,
				 const void *body, size_t bytes, enum MHD_ResponseMemoryMode how);
/* A sentence as text/plain. */
enum MHD_Result web_refuse(struct MHD_Connection *c, unsigned status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Refuses with the reason of a reply that has no page: 404, 502 or 504. */
enum MHD_Result web_refuse_ask(struct MHD_Connection *c, const struct sx_reply *reply);
/* A reader that cannot be opened or read. */
enum MHD_Result web_refuse_reader(struct MHD_Connection *c, const char *instance, int error);
/* Adds those headers. */
void web_add_headers(struct MHD_Response *r, const char *type);

/* ---- pages ---- */

struct web_asset {
	const char *path, *type, *tag; /* tag: an ETag */
	const unsigned char *data;
	size_t bytes;
};
extern const struct web_asset web_assets[]; /* made at build time; ends with a NULL path */

/* CLOCK_MONOTONIC, by which frames are stamped. */
enum MHD_Result web_clock_page(struct MHD_Connection *c);
enum MHD_Result web_instances_page(struct web_server *s, struct MHD_Connection *c);
enum MHD_Result web_status_page(struct web_server *s, struct MHD_Connection *c, const char *instance);
enum MHD_Result web_settings_page(struct web_server *s, struct MHD_Connection *c, const char *instance);
enum MHD_Result web_metrics_page(struct web_server *s, struct MHD_Connection *c, const char *instance);
/* The long answer: messages, docs/web.md. */
enum MHD_Result web_stream_page(struct web_server *s, struct MHD_Connection *c, const char *instance,
				bool head);
/* The same for those who only want to see it: drawn, as multipart/x-mixed-replace. */
enum MHD_Result web_mjpeg_page(struct web_server *s, struct MHD_Connection *c, const char *instance,
			       bool head);

/* ---- orders: settings that the page changes ---- */

#define WEB_ORDER_BYTES (16u << 10) /* longest body, as at the daemon */

struct web_order;

/* Where POST is for: /api/NAME/settings. */
bool web_order_is_for(const char *url);
/* A POST to there, of which the headers are known. NULL: out of memory. */
struct web_order *web_order_create(struct web_server *s, struct MHD_Connection *c);
/* A part of its body. */
void web_order_add(struct web_order *o, const char *upload, size_t bytes);
/* It is here whole: the daemon's answer, or why it is not handed on. Waits for the daemon. */
enum MHD_Result web_order_give(struct web_server *s, struct MHD_Connection *c, struct web_order *o,
			       const char *instance);
/* Accepts NULL. */
void web_order_destroy(struct web_order *o);

/* One frame, drawn: JPEG. */
enum MHD_Result web_snapshot_page(struct web_server *s, struct MHD_Connection *c, const char *instance);

#endif
