/*
 * A frame as messages: protobuf, by the schemas in tools/ctl/export/proto/.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_EXPORT_EXPORT_MESSAGES_H
#define SX_TOOLS_CTL_EXPORT_EXPORT_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/recording_messages.h"

enum sx_message {
	SX_MESSAGE_FRAME,     /* stixel.Frame */
	SX_MESSAGE_SCENE,     /* foxglove.SceneUpdate */
	SX_MESSAGE_POINTS,    /* foxglove.PointCloud */
	SX_MESSAGE_TRANSFORM, /* foxglove.FrameTransform */
	SX_MESSAGES
};

struct sx_message_kind {
	const char *topic; /* behind "/INSTANCE/" */
	const char *schema;
	const void *descriptors; /* FileDescriptorSet */
	size_t bytes;
};
struct sx_message_kind sx_message_kind(enum sx_message which);

struct sx_messages;
/* Names of coordinate frames begin with the instance's. -ENOMEM. */
int sx_messages_create(struct sx_messages **ret, const char *instance);
void sx_messages_destroy(struct sx_messages *m); /* accepts NULL */
/* This frame is what messages are made of, until the next. -ENOMEM. */
int sx_messages_frame(struct sx_messages *m, const struct stixel_frame *frame);
/*
 * The bytes of a message, in memory of m until the next call; 0: this frame has none (no camera model).
 * -ENOMEM.
 */
int64_t sx_messages_pack(struct sx_messages *m, enum sx_message which, const void **bytes);

#endif
