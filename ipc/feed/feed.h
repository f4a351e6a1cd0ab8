/*
 * Reader's side of class scores and of disparity maps: finds the scores or map of an image by its capture
 * time, and copies them once. Where this header says scores, it means maps, too.
 *
 * The writer is another process, perhaps with less careful code. The daemon never maps its ring: if a writer
 * cut its object short, access to the map would kill the daemon with SIGBUS. pread() from shared memory
 * copies straight into the memory of the pair, and can at worst return less data. No function here waits.
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
	const char *name; /* name of the ring; must live as long as the feed */
	const char
		*shm_dir; /* the only folder to search; NULL: the folders of ipc/feed/feed_dirs.h, in order */
	unsigned writers; /* group of permitted writers; 0: SX_WRITERS_GROUP, if it exists */
	int image_width, image_height;
	int classes, scale;   /* number of classes; scale: the finest accepted (both for scores only) */
	int64_t tolerance_ns; /* largest difference of capture times at which scores belong to an image */
	int64_t max_age_ns;   /* greatest age of an older image whose scores may be used instead */
	int64_t period_ns;    /* time between images; 0: unknown */
};

/* Counters since sx_feed_create(). */
struct sx_feed_counters {
	uint64_t received; /* scores found complete, of the right format */
	uint64_t late;	   /* received scores that came after their frame was finished without them */
	uint64_t lost;	   /* scores overwritten before they were read, or during the copy */
	uint64_t refused;  /* scores that are damaged, or have other classes or another image size */
	uint64_t restarts; /* number of writers after the first one */
};

/*
 * Adds to a count of lost scores and limits the sum to INT64_MAX; a <= INT64_MAX. A writer may give any
 * number, and the status reports the sum as int64_t.
 */
static inline uint64_t sx_feed_sum(uint64_t a, uint64_t b)
{
	return b > INT64_MAX - a ? INT64_MAX : a + b;
}

struct sx_feed;

/* Creates a feed. The writer may start later, or never. Returns 0, -EINVAL, -ENAMETOOLONG or -ENOMEM. */
int sx_feed_create(struct sx_feed **ret, const struct sx_feed_params *p);
void sx_feed_destroy(struct sx_feed *f);
/* Returns the largest size of a copy, bytes. */
size_t sx_feed_bytes(const struct sx_feed_params *p);

/* Looks for a writer, and reads the headers of new scores since the last call. Takes some microseconds. */
void sx_feed_look(struct sx_feed *f, int64_t now_ns);

enum sx_feed_match { SX_FEED_NONE, SX_FEED_SAME, SX_FEED_OLDER };
/*
 * Copies the scores of the image captured at captured_ns to `to` (sx_feed_bytes() large) and fills *scores.
 * Knows the scores up to the last sx_feed_look(). Chooses the scores nearest in time within the tolerance; of
 * two equally near ones, the newer. If there are none and older is set, chooses the newest scores that are
 * at most max_age_ns older than the image, and not later.
 */
enum sx_feed_match sx_feed_take(struct sx_feed *f, int64_t captured_ns, bool older, void *to,
				struct sx_scores *scores);
/* Same for a feed of disparity maps. */
enum sx_feed_match sx_feed_take_disparity(struct sx_feed *f, int64_t captured_ns, void *to,
					  struct sx_disparity *disparity);
/*
 * True if the image's own scores may still come: the writer is active or has just started, and has not yet
 * delivered scores of a later image.
 */
bool sx_feed_expects(const struct sx_feed *f, int64_t captured_ns, int64_t now_ns);
/*
 * True if scores near in time may belong to a neighbouring image: the scores taken last had exactly the time
 * of their image, and no scores with exactly captured_ns are there yet. Then a caller that waits anyway
 * should not take near scores. False for a writer whose times never match exactly, because every image would
 * wait in vain.
 */
bool sx_feed_awaits_same(const struct sx_feed *f, int64_t captured_ns);
/* Notes that the image was finished without its own scores. Scores of it that come later count as late. */
void sx_feed_missed(struct sx_feed *f, int64_t captured_ns);

enum sx_feed_state sx_feed_state(const struct sx_feed *f, int64_t now_ns);
/* Returns the reason, one sentence, while the state is absent or refused, else an empty string. */
const char *sx_feed_why(const struct sx_feed *f);
void sx_feed_counters(const struct sx_feed *f, struct sx_feed_counters *ret);

#endif
