/*
 * Feeds: an instance that somebody looks at is read by one thread, for all its viewers;
 * others are not read at all.
 *
 * The thread asks the daemon for the images that the viewers want together, and for none as soon as the last
 * has gone. Viewers take the newest frame when they are ready for one; nothing is queued.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_FEED_H
#define SX_TOOLS_WEB_FEED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/web/ask.h"
#include "tools/web/packet.h"

#define WEB_FEEDS 16   /* instances that are looked at, at once */
#define WEB_VIEWERS 48 /* all together */
#define WEB_READER_WHY_BYTES 200

/* Says why libstixel does not read the ring of an instance; empty where error is 0. */
void web_reader_why(const char *instance, int error, char why[WEB_READER_WHY_BYTES]);

struct web_feed;
struct web_feeds;

/* What is known of the publisher; version grows with every change. */
struct web_notice {
	uint64_t version;
	int error; /* of libstixel, 0 or negative errno */
	char error_text[WEB_READER_WHY_BYTES];
	uint32_t publisher, state;
	uint64_t epoch, head;
	int64_t heartbeat_age_ns;
	char version_text[32]; /* of the publisher */
};

/*
 * One who looks. wants: as of web_packet_create(); interval_ns: between frames, 0 every one.
 * Set before joining.
 */
struct web_viewer {
	struct web_feed *feed;
	struct web_viewer *next;
	int event_fd; /* readable when there is a newer frame or notice: read it, then look */
	unsigned wants;
	int64_t interval_ns;
};

struct web_feeds *web_feeds_create(void);
/* Viewers are gone by then. Waits for the threads. Accepts NULL. */
void web_feeds_destroy(struct web_feeds *f);
/* Every viewer wakes up and web_feed_over() is true from now on. */
void web_feeds_stop(struct web_feeds *f);

/* -EBUSY: too many viewers or instances; -ENOMEM, -EMFILE, -EAGAIN: no thread. */
int web_feed_join(struct web_feeds *f, struct web_viewer *v, const char *instance);
void web_feed_leave(struct web_feeds *f, struct web_viewer *v);

/* The newest frame for this viewer, to be unref'ed, if it is another than (epoch, number); else NULL. */
struct web_packet *web_feed_newest(struct web_viewer *v, uint64_t epoch, uint64_t number);
void web_feed_notice(struct web_viewer *v, struct web_notice *ret);
bool web_feed_over(struct web_viewer *v);
unsigned web_feeds_viewers(struct web_feeds *f);

#endif
