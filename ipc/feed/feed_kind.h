/*
 * The two kinds of feeds: class scores and disparity maps. Both have the ring and the first header fields in
 * common; this code has the differences.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_FEED_FEED_KIND_H
#define SX_IPC_FEED_FEED_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "include/stixel.h"
#include "include/stixel_disparity.h"
#include "ipc/feed/feed.h"

/* The fields at the start of both headers. */
struct sx_feed_common {
	uint32_t magic;
	uint16_t abi_major, abi_minor;
	uint32_t header_bytes, data_offset;
	uint64_t frame_bytes;
	uint64_t epoch, number;
	int64_t capture_ns, committed_ns;
	uint64_t frame_epoch, frame_number;
};

union sx_feed_header {
	struct sx_feed_common common;
	struct stixel_scores_header scores;
	struct stixel_disparity_header disparity;
};

struct sx_feed_words {
	const char *prefix; /* prefix of the ring's name */
	uint64_t magic;	    /* magic number of the ring */
	const char *many;   /* word MANY of messages: "nobody writes MANY", "no ring of MANY" */
	const char *one;    /* word ONE of messages: "ONE 7 contradict themselves" */
};
const struct sx_feed_words *sx_feed_words(enum sx_feed_kind kind);

/* True if the header and its `bytes` in the slot match the layout of this kind. */
bool sx_feed_agrees(enum sx_feed_kind kind, const union sx_feed_header *h, uint64_t bytes);
/*
 * True if the scores or map fit the image size of p, and scores also its classes and scale. Else writes a
 * message to why.
 */
bool sx_feed_fits(const struct sx_feed_params *p, const union sx_feed_header *h, struct sx_why *why);
/* Returns the number of bytes from data_offset on. *h must have passed sx_feed_agrees(). */
size_t sx_feed_data_bytes(enum sx_feed_kind kind, const union sx_feed_header *h);

#endif
