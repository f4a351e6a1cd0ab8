/*
 * Publishes the images of pairs for an external matcher or a segmentation network, before there is a frame
 * (external.pairs). They go to a ring of frames INSTANCE.pairs, without columns and with both images, which
 * libstixel reads like any other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_FEEDS_PAIR_PUBLISHER_H
#define SX_DAEMON_FEEDS_PAIR_PUBLISHER_H

#include "base/log.h"
#include "base/pair.h"
#include "base/why.h"
#include "config/settings.h"
#include "daemon/channels/contexts.h"
#include "ipc/ring.h"

struct sx_pair_publisher {
	struct sx_ring *ring; /* NULL: no pairs are offered, and the fields below are unused */
	struct stixel_frame_header header;
	struct sx_image grey[2]; /* memory for grey images that the pair does not have in this form */
	void *bytes;		 /* a packed frame */
	size_t frame_bytes;
	uint64_t number; /* number of the last frame */
	struct sx_condition failing;
};

bool sx_pair_publisher_wanted(const struct sx_settings *settings);
/*
 * Makes the ring and allocates all memory. header: fields that are equal in all frames. If no pairs are
 * offered, only zeroes the struct. On an error, returns a negative errno with a sentence; call finish then.
 */
int sx_pair_publisher_init(struct sx_pair_publisher *o, const struct sx_settings *settings,
			   const char *instance, const char *shm_dir,
			   const struct stixel_frame_header *header, struct sx_why *why);
/* Accepts a zeroed and a partly made struct. */
void sx_pair_publisher_finish(struct sx_pair_publisher *o);

/* Thread: frame. Publishes grey images of the pair. Rectifies raw images as these contexts do. */
void sx_pair_publisher_publish(struct sx_pair_publisher *o, const struct sx_contexts *contexts,
			       const struct sx_pair *pair);
/* Any thread. Sets the daemon's state, as in its own ring. */
void sx_pair_publisher_set_state(struct sx_pair_publisher *o, enum stixel_state state);
/* Any thread. Beats the heartbeat, as in its own ring. Call it at least once per heartbeat period. */
void sx_pair_publisher_beat(struct sx_pair_publisher *o);

#endif
