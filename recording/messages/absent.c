/*
 * libstixel-recording built without protobuf: it makes no messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "include/stixel_messages.h"

int stixel_messages_create(struct stixel_messages **ret, const char *instance)
{
	return ret && instance ? -ENOTSUP : -EINVAL;
}

void stixel_messages_destroy(struct stixel_messages *messages)
{
}

int stixel_messages_topic(struct stixel_messages *messages, unsigned kind, struct stixel_message_topic *topic,
			  size_t bytes)
{
	return -EINVAL;
}

int stixel_messages_frame(struct stixel_messages *messages, const struct stixel_frame *frame)
{
	return -EINVAL;
}

int stixel_messages_scale(struct stixel_messages *messages, double near_m, double far_m)
{
	return -EINVAL;
}

int stixel_messages_colours(struct stixel_messages *messages, const double *distances_m, uint64_t count,
			    uint8_t *rgb)
{
	return -EINVAL;
}

int stixel_messages_make(struct stixel_messages *messages, unsigned kind, struct stixel_message *message,
			 size_t bytes)
{
	return -EINVAL;
}

int stixel_messages_event(struct stixel_messages *messages, const struct stixel_record *record,
			  size_t record_bytes, struct stixel_message *message, size_t bytes)
{
	return -EINVAL;
}
