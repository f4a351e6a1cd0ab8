/*
 * Declarations that the parts of stixel-web's HTTP server share.
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

#include "base/why.h"
#include "ipc/http/limiter.h"
#include "tools/web/address.h"
#include "tools/web/ask.h"
#include "tools/web/feed.h"
#include "tools/web/login.h"

#define WEB_CONNECTION_BYTES 49152u /* memory of each connection, for its request and a part of its answer */
#define WEB_CLIENT_TIMEOUT_S \
	10 /* limit, s: for sending a whole request, and for a viewer that does not read */

/* Counters of stixel-web. */
struct web_counts {
	atomic_ullong requests, refused, logins_refused, connections_refused, streams, frames_sent,
		frames_skipped, bytes_sent;
};

struct web_recordings;

struct web_server {
	struct web_names only; /* instances that may be viewed; empty: all */
	struct web_hosts hosts;
	int quality;			   /* JPEG quality */
	bool tune;			   /* clients may change settings */
	bool tls;			   /* web_certificate_load() has loaded a certificate */
	struct web_logins *logins;	   /* NULL: no password is required */
	struct web_recordings *recordings; /* NULL: there is no folder of recordings */
	struct web_asks asks;
	struct web_feeds *feeds;
	struct web_counts counts;
	struct sx_limiter limiter; /* closes connections that send a request too slowly */
	struct web_share share;	   /* refuses clients with too many connections */
	struct MHD_Daemon *http[WEB_ADDRESSES];
	int64_t started_ns;
};

/*
 * Starts serving on these listening sockets and takes them over, even on failure. Call with all signals
 * blocked. Returns 0, or -EAGAIN with a sentence in why: no thread.
 */
int web_server_start(struct web_server *s, const int *fds, size_t count, struct sx_why *why);
/* Ends all connections and waits for their threads. */
void web_server_stop(struct web_server *s);
/* Closes connections that send a request or a handshake too slowly. Call once per second. */
void web_server_tick(struct web_server *s);

/* ---- answers ---- */

/* True if the request of this thread lacks the required password. Each connection has a thread. */
extern _Thread_local bool web_stranger;

/* Sends a copy of body with the headers of every answer. */
enum MHD_Result web_reply(struct MHD_Connection *c, unsigned status, const char *type, const char *body,
			  size_t bytes);
/* Sends a body, kept as how says. tag: its ETag; a client that has this version gets 304. */
enum MHD_Result web_reply_tagged(struct MHD_Connection *c, const char *type, const char *tag,
				 const void *body, size_t bytes, enum MHD_ResponseMemoryMode how);
/* Sends an error with a sentence as text/plain. */
enum MHD_Result web_refuse(struct MHD_Connection *c, unsigned status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Sends an error with the reason of a reply without a page: 404, 502 or 504. */
enum MHD_Result web_refuse_ask(struct MHD_Connection *c, const struct sx_reply *reply);
/* Sends an error for a reader that cannot be opened or read. */
enum MHD_Result web_refuse_reader(struct MHD_Connection *c, const char *instance, int error);
/* Adds the headers of every answer. */
void web_add_headers(struct MHD_Response *r, const char *type);

/* ---- pages ---- */

struct web_asset {
	const char *path, *type, *tag; /* tag: an ETag */
	const unsigned char *data;
	size_t bytes;
	const char *packed_tag; /* ETag of the same content, compressed with gzip */
	const unsigned char *packed;
	size_t packed_bytes;
};
extern const struct web_asset web_assets[]; /* generated at build time; ends with a NULL path */

/* Sends a file of the page, compressed if the client accepts gzip. */
enum MHD_Result web_asset_page(struct MHD_Connection *c, const struct web_asset *a);
/* Sends the present time of CLOCK_MONOTONIC, the clock of frame timestamps. */
enum MHD_Result web_clock_page(struct MHD_Connection *c);
/* Sends the presets of this machine, as sx_presets_json() prints them. */
enum MHD_Result web_presets_page(struct MHD_Connection *c);
enum MHD_Result web_instances_page(struct web_server *s, struct MHD_Connection *c);
enum MHD_Result web_status_page(struct web_server *s, struct MHD_Connection *c, const char *instance);
enum MHD_Result web_settings_page(struct web_server *s, struct MHD_Connection *c, const char *instance);
enum MHD_Result web_metrics_page(struct web_server *s, struct MHD_Connection *c, const char *instance);
/* Sends the endless answer of messages, see docs/use/web.md. */
enum MHD_Result web_stream_page(struct web_server *s, struct MHD_Connection *c, const char *instance,
				bool head);
/* Sends frames as drawn pictures (multipart/x-mixed-replace), for viewers that only show pictures. */
enum MHD_Result web_mjpeg_page(struct web_server *s, struct MHD_Connection *c, const char *instance,
			       bool head);

/* ---- settings requests: POST, which changes settings of an instance or makes and deletes recordings ---- */

#define WEB_SETTINGS_BYTES (16u << 10) /* longest body, the same as the daemon's */

struct web_settings_request;

/*
 * Returns true for a target of POST: /api/NAME/settings, /api/NAME/record and /api/recordings/FILE.mcap.
 */
bool web_settings_request_is_for(const char *url);
/* Begins a settings request: the headers of its POST have arrived. NULL: out of memory. */
struct web_settings_request *web_settings_request_create(struct web_server *s, struct MHD_Connection *c);
/* Adds a part of the body. */
void web_settings_request_add(struct web_settings_request *o, const char *upload, size_t bytes);
/*
 * Returns the body, a string, if the client may change something here. NULL: a refusal was queued (*done).
 */
const char *web_settings_request_text(struct web_server *s, struct MHD_Connection *c,
				      struct web_settings_request *o, enum MHD_Result *done);
/*
 * Ends a settings request: its body is complete. Sends the client the daemon's answer, or the reason why the
 * request was not passed on. Waits for the daemon.
 */
enum MHD_Result web_settings_request_give(struct web_server *s, struct MHD_Connection *c,
					  struct web_settings_request *o, const char *instance);
/* Accepts NULL. */
void web_settings_request_destroy(struct web_settings_request *o);

/* Sends one frame, drawn, as JPEG. */
enum MHD_Result web_snapshot_page(struct web_server *s, struct MHD_Connection *c, const char *instance);

#endif
