/*
 * Feeds: one thread reads an instance for all its viewers. Instances without viewers are not read.
 *
 * The thread requests from the daemon all images that its viewers want. After the last viewer has left, it
 * requests none. Each viewer takes the newest frame when it is ready; frames are not queued.
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

#define WEB_FEEDS 16   /* instances with viewers at the same time */
#define WEB_VIEWERS 48 /* viewers of all instances together */
#define WEB_READER_WHY_BYTES 200

/* Writes why libstixel does not read the ring of an instance; empty if error is 0. */
void web_reader_why(const char *instance, int error, char why[WEB_READER_WHY_BYTES]);

struct web_feed;
struct web_feeds;

/* State of the publisher. version grows with every change. */
struct web_notice {
	uint64_t version;
	int error; /* error of libstixel: 0 or a negative errno */
	char error_text[WEB_READER_WHY_BYTES];
	uint32_t publisher, state;
	uint64_t epoch, head;
	int64_t heartbeat_age_ns;
	char version_text[32]; /* version of the publisher */
};

/*
 * Viewer of an instance. wants: as for web_packet_create(). interval_ns: time between two frames, 0: every
 * frame. Set both before joining.
 */
struct web_viewer {
	struct web_feed *feed;
	struct web_viewer *next;
	int event_fd; /* readable if there is a newer frame or notice; read it first, then fetch both */
	unsigned wants;
	int64_t interval_ns;
	double near_m, far_m; /* given ends of the scale; 0: from the scene */
};

struct web_feeds *web_feeds_create(void);
/* Waits for the threads and frees f. All viewers must have left. Accepts NULL. */
void web_feeds_destroy(struct web_feeds *f);
/* Wakes every viewer. From now on web_feed_over() is true. */
void web_feeds_stop(struct web_feeds *f);

/*
 * Adds a viewer to the feed of an instance. Returns 0; -EBUSY: too many viewers or instances; -ENOMEM,
 * -EMFILE, -EAGAIN: no thread.
 */
int web_feed_join(struct web_feeds *f, struct web_viewer *v, const char *instance);
void web_feed_leave(struct web_feeds *f, struct web_viewer *v);

/*
 * Returns the newest frame for this viewer, to be unref'ed. NULL: there is no frame other than (epoch,
 * number).
 */
struct web_packet *web_feed_newest(struct web_viewer *v, uint64_t epoch, uint64_t number);
void web_feed_notice(struct web_viewer *v, struct web_notice *ret);
bool web_feed_over(struct web_viewer *v);
unsigned web_feeds_viewers(struct web_feeds *f);

#endif
