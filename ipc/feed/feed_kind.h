/*
 * What a feed reads: class scores, or disparity maps. What they have in common is the ring and the first
 * fields of their headers; the rest is told apart here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_FEED_FEED_KIND_H
#define SX_IPC_FEED_FEED_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/stixel.h"
#include "include/stixel_disparity.h"
#include "ipc/feed/feed.h"

/* The fields that both headers begin with. */
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
	const char *prefix; /* of the ring's name */
	uint64_t magic;	    /* of the ring */
	const char *many;   /* "nobody writes MANY", "no ring of MANY" */
	const char *one;    /* "ONE 7 contradict themselves" */
};
const struct sx_feed_words *sx_feed_words(enum sx_feed_kind kind);

/* True when a header, of which bytes lie in its slot, is as its layout has it. */
bool sx_feed_agrees(enum sx_feed_kind kind, const union sx_feed_header *h, uint64_t bytes);
/* True when it is of the image that p is of; else a sentence. */
bool sx_feed_fits(const struct sx_feed_params *p, const union sx_feed_header *h, char *why, size_t why_bytes);
/* Bytes from data_offset on; *h agrees. */
size_t sx_feed_data_bytes(enum sx_feed_kind kind, const union sx_feed_header *h);

#endif
