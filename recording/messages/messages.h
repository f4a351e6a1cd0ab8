/*
 * Makes protobuf messages of a frame for viewers, by the schemas in recording/messages/proto/ and those of
 * recording/recording_messages.h.
 *
 * include/stixel_messages.h has the contracts. These functions break off if they detect an internal error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_MESSAGES_MESSAGES_H
#define SX_RECORDING_MESSAGES_MESSAGES_H

#include <stdbool.h>

#include "include/stixel_messages.h"
#include "recording/messages/palette.h"
#include "recording/recording_messages.h"

enum { SX_MESSAGE_KINDS = STIXEL_MESSAGE_SCAN + 1 };

struct sx_messages;
/* -ENOMEM. */
int sx_messages_create(struct sx_messages **ret, const char *instance);
void sx_messages_destroy(struct sx_messages *m); /* accepts NULL */
/* See stixel_messages_topic(); kind is below SX_MESSAGE_KINDS. 0; -ENOMEM. */
int sx_messages_topic(struct sx_messages *m, enum stixel_message_kind kind,
		      struct stixel_message_topic *topic);
/* See stixel_messages_frame(). 1; 0. */
/* See stixel_messages_classes(). names: less than SX_MESSAGES_CLASSES bytes. */
#define SX_MESSAGES_CLASSES 1024
void sx_messages_classes(struct sx_messages *m, const char *names);
int sx_messages_frame(struct sx_messages *m, const struct stixel_frame *frame);
/* See stixel_messages_scale() and stixel_messages_colours(). False: the frame has no camera model. */
void sx_messages_scale(struct sx_messages *m, double near_m, double far_m);
bool sx_messages_colours(const struct sx_messages *m, const double *distances_m, uint64_t count,
			 struct sx_rgb *to);
/*
 * See stixel_messages_make(); kind is below SX_MESSAGE_KINDS, and a frame must have been set. 1; 0; -ENOMEM.
 */
int sx_messages_make(struct sx_messages *m, enum stixel_message_kind kind, struct stixel_message *to);
/* Makes the message of an event. 1; -ENOMEM. */
int sx_messages_event(struct sx_messages *m, const struct sx_event *event, struct stixel_message *to);

#endif
