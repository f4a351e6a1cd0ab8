/*
 * Makes pairs of the images of both sides, and gives them to the daemon.
 *
 * Any thread: a lock protects everything, and no function waits for the daemon.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GSTREAMER_FEED_H
#define SX_GSTREAMER_FEED_H

#include "gstreamer/arena.h"
#include "gstreamer/format.h"
#include "include/stixel_pairs.h"

enum sx_feed_side { SX_LEFT, SX_RIGHT, SX_SIDES };

/* Most pairs that the daemon uses at once; further pairs are dropped, so that elements upstream never wait. */
#define SX_FEED_AWAY_MAX 5
/* Most images of a side that wait for their partner. */
#define SX_FEED_WAITING_MAX 3

/* An image in an arena. */
struct sx_feed_image {
	GstBuffer *buffer;  /* holds the slot */
	StixelArena *arena; /* arena of the image; the buffer holds a reference */
	guint64 offset;	    /* offset of the first pixel in the arena, bytes */
	gint64 time_ns;	    /* running time, by which images become pairs */
	gint64 captured_ns; /* CLOCK_MONOTONIC */
	gboolean copied;    /* the image was written to other memory and copied into the arena */
	struct sx_format format;
};

struct sx_feed_settings {
	gchar *instance; /* name, or path of a pairs.sock if it has a slash */
	gdouble fx, fy, cx, cy, baseline_m;
	gboolean simulated;
};

struct sx_feed_counters {
	guint64 unpaired[SX_SIDES];	    /* images without a partner */
	guint64 copied[SX_SIDES];	    /* images of pairs that were copied into the arena */
	guint64 no_slot[SX_SIDES];	    /* images that found no slot for their copy */
	guint64 different;		    /* pairs of images of different formats */
	guint64 busy;			    /* pairs that found SX_FEED_AWAY_MAX pairs with the daemon */
	struct stixel_pairs_counters pairs; /* sums over all writers so far */
};

/* A message for the application. The receiver frees text. */
enum sx_feed_news_kind { SX_NEWS_NONE, SX_NEWS_INFO, SX_NEWS_WARNING, SX_NEWS_ERROR };
struct sx_feed_news {
	enum sx_feed_news_kind kind;
	gchar *text;
};

struct sx_feed;

struct sx_feed *sx_feed_new(void);
void sx_feed_free(struct sx_feed *feed);
/*
 * Takes an image, whose buffer it owns from now on, and looks for its partner: the image of the other side that is
 * nearest in time, if it is at most half a period of the faster side away. An error in *news means that the images
 * never will be pairs.
 */
void sx_feed_take(struct sx_feed *feed, enum sx_feed_side side, const struct sx_feed_image *image,
		  struct sx_feed_news *news);
/* Counts an image that found no slot. */
void sx_feed_no_slot(struct sx_feed *feed, enum sx_feed_side side);
/* Drops the images of a side that wait. */
void sx_feed_flush(struct sx_feed *feed, enum sx_feed_side side);
/* Ends the connection to the daemon, after sx_feed_flush(): the side gets another arena, or stops. */
void sx_feed_close(struct sx_feed *feed, enum sx_feed_side side);
void sx_feed_count(struct sx_feed *feed, struct sx_feed_counters *counters);
/* Copies the settings. They count from the next connection on. */
void sx_feed_set(struct sx_feed *feed, const struct sx_feed_settings *settings);

#endif
