/*
 * Reader's side of class scores, and of disparity maps: finds those of a picture by its capture time, and
 * copies them once. Where the following says scores, maps are meant too.
 *
 * The writer is another process, perhaps a less careful one. Its ring is therefore never mapped: a writer
 * that cuts its object short would kill whoever looks at the map with SIGBUS. pread() from shared memory is a
 * copy as well, straight into the memory of the pair, and can only fall short. Nothing here waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_FEED_FEED_H
#define SX_IPC_FEED_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/disparity.h"
#include "base/scores.h"
#include "ipc/feed_state.h"

#define SX_FEED_WHY_BYTES 384

enum sx_feed_kind { SX_FEED_SCORES, SX_FEED_DISPARITY, SX_FEED_KINDS };

struct sx_feed_params {
	enum sx_feed_kind kind;
	const char *name;    /* of the ring; lives as long as the feed */
	const char *shm_dir; /* the only place; NULL: those of ipc/feed/place.h, in that order */
	unsigned writers;    /* group of those who may write; 0: SX_WRITERS_GROUP, if there is one */
	int image_width, image_height;
	int classes, scale;   /* of scores; scale: the finest that is taken */
	int64_t tolerance_ns; /* scores captured so close to a picture are of it */
	int64_t max_age_ns;   /* scores of a picture so much older may stand in */
	int64_t period_ns;    /* between pictures; 0: unknown */
};

/* Since create. */
struct sx_feed_counters {
	uint64_t received; /* scores that were found complete and fit */
	uint64_t late;	   /* of these: came after the frame of their picture had been done without */
	uint64_t lost;	   /* overwritten before they were looked at, or while they were copied */
	uint64_t refused;  /* damaged, or not of these classes and images */
	uint64_t restarts; /* writers after the first one */
};

/* Of what was lost, a <= INT64_MAX: a writer may say any number, and the sum is to be told by an int64_t. */
static inline uint64_t sx_feed_sum(uint64_t a, uint64_t b)
{
	return b > INT64_MAX - a ? INT64_MAX : a + b;
}

struct sx_feed;

/* There need be no writer yet, nor ever. -EINVAL, -ENAMETOOLONG, -ENOMEM. */
int sx_feed_create(struct sx_feed **ret, const struct sx_feed_params *p);
void sx_feed_destroy(struct sx_feed *f);
/* Bytes that a copy takes at most. */
size_t sx_feed_bytes(const struct sx_feed_params *p);

/* Looks for a writer, and at what came since the last look. Some microseconds. */
void sx_feed_look(struct sx_feed *f, int64_t now_ns);

enum sx_feed_match { SX_FEED_NONE, SX_FEED_SAME, SX_FEED_OLDER };
/*
 * Copies the scores of the picture captured at captured_ns, as of the last look, to to (sx_feed_bytes() of
 * room) and fills *scores: those nearest in time within the tolerance, of equally near ones the newer; else,
 * with older, the newest that are not older than allowed.
 */
enum sx_feed_match sx_feed_take(struct sx_feed *f, int64_t captured_ns, bool older, void *to,
				struct sx_scores *scores);
/* The same of a feed of disparity maps. */
enum sx_feed_match sx_feed_take_disparity(struct sx_feed *f, int64_t captured_ns, void *to,
					  struct sx_disparity *disparity);
/*
 * Its own scores may still come: the writer is at work, or has just begun, and has not gone on to a later
 * picture.
 */
bool sx_feed_expects(const struct sx_feed *f, int64_t captured_ns, int64_t now_ns);
/*
 * What is near may be a neighbour's: those taken last had the very time of their picture, and there are none
 * yet that have this one's. Who waits anyway should not take what is near. False of a writer whose times are
 * never the same: else every picture would wait in vain.
 */
bool sx_feed_awaits_same(const struct sx_feed *f, int64_t captured_ns);
/* The picture is done without its own scores: those that come now are late. */
void sx_feed_missed(struct sx_feed *f, int64_t captured_ns);

enum sx_feed_state sx_feed_state(const struct sx_feed *f, int64_t now_ns);
/* One sentence while it is absent or refused; else empty. */
const char *sx_feed_why(const struct sx_feed *f);
void sx_feed_counters(const struct sx_feed *f, struct sx_feed_counters *ret);

#endif
