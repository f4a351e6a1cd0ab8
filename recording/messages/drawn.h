/*
 * Adds to a recording the messages that viewers draw: one for each frame and each kind that was chosen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_MESSAGES_DRAWN_H
#define SX_RECORDING_MESSAGES_DRAWN_H

#include "recording/messages/messages.h"
#include "recording/recording_write.h"

/*
 * Channels of the messages that viewers draw. All zero: no message is written, and sx_drawn_finish() may be
 * called.
 */
struct sx_drawn {
	struct sx_messages *messages;
	int channel[SX_MESSAGE_KINDS]; /* id of a channel; 0: none */
};

/*
 * Adds a channel to the writer's file for each kind in kinds (bits 1u << enum stixel_message_kind), even if
 * no message of this kind comes. kinds: frame, scene, points, transform and scan; the writer makes the
 * others. near_m, far_m: ends of the scale of colours, m; 0: the scene decides. Returns 0 or a negative
 * error.
 */
int sx_drawn_begin(struct sx_drawn *d, struct sx_recording_writer *w, unsigned kinds, double near_m,
		   double far_m);
/* Writes the messages of a frame that the writer has just written. Returns 0 or a negative error. */
/* Gives the names of the classes of the following frames: stixel_messages_classes(). */
void sx_drawn_classes(struct sx_drawn *d, const char *names);
int sx_drawn_frame(struct sx_drawn *d, struct sx_recording_writer *w, const struct stixel_frame *frame);
void sx_drawn_finish(struct sx_drawn *d);

#endif
