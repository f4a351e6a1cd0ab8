/*
 * The images of pairs, offered to the process that matches before there is a frame (external.pairs): a ring
 * of frames INSTANCE.pairs, without columns and with both images, as libstixel reads any other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_FEEDS_OFFER_H
#define SX_DAEMON_FEEDS_OFFER_H

#include "base/log.h"
#include "base/pair.h"
#include "config/settings.h"
#include "daemon/exchange/contexts.h"
#include "ipc/ring.h"

struct sx_offer {
	struct sx_ring *ring; /* NULL: nothing is offered; then nothing below is used */
	struct stixel_frame_header header;
	struct sx_image grey[2]; /* what images become, where they do not lie so in the pair */
	void *bytes;		 /* a packed frame */
	size_t frame_bytes;
	uint64_t number; /* of the last one */
	struct sx_condition failing;
};

bool sx_offer_wanted(const struct sx_settings *settings);
/*
 * Makes the ring, and takes all memory. header: what all frames have. Nothing but a zeroed structure where
 * nothing is to be offered.
 * Negative errno with a sentence; then finish.
 */
int sx_offer_init(struct sx_offer *o, const struct sx_settings *settings, const char *instance,
		  const char *shm_dir, const struct stixel_frame_header *header, char *why, size_t why_bytes);
/* Accepts a zeroed and a half-made one. */
void sx_offer_finish(struct sx_offer *o);

/* Thread: frame. Grey images of the pair, rectified as those contexts do it if it is raw, into the ring. */
void sx_offer_pair(struct sx_offer *o, const struct sx_contexts *contexts, const struct sx_pair *pair);
/* Any thread. What the daemon says of itself, as in its own ring. */
void sx_offer_set_state(struct sx_offer *o, enum stixel_state state);
/* Any thread. At least once per heartbeat period, likewise. */
void sx_offer_beat(struct sx_offer *o);

#endif
