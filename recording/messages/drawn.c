/*
 * Adds to a recording the messages that viewers draw.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/messages/drawn.h"

#include <stdio.h>

/* Adds the channel of a kind, and its schema. Returns its id or a negative error. */
static int add_channel(struct sx_drawn *d, struct sx_recording_writer *w, enum stixel_message_kind kind)
{
	struct stixel_message_topic of;
	char topic[STIXEL_INSTANCE_BYTES + 32];
	int id = sx_messages_topic(d->messages, kind, &of);

	if (id == 0)
		id = sx_mcap_schema(w->mcap, of.schema, of.encoding, of.descriptor, of.descriptor_bytes);
	if (id < 0)
		return id;
	snprintf(topic, sizeof(topic), "/%s/%s", w->instance, of.name);
	return sx_mcap_channel(w->mcap, id, topic, of.encoding, NULL);
}

int sx_drawn_begin(struct sx_drawn *d, struct sx_recording_writer *w, unsigned kinds, double near_m,
		   double far_m)
{
	int r = sx_messages_create(&d->messages, w->instance);

	if (r == 0)
		sx_messages_scale(d->messages, near_m, far_m);
	for (int i = 0; r >= 0 && i < SX_MESSAGE_KINDS; i++)
		if (kinds >> i & 1)
			r = d->channel[i] = add_channel(d, w, (enum stixel_message_kind)i);
	return r < 0 ? r : 0;
}

void sx_drawn_classes(struct sx_drawn *d, const char *names)
{
	if (d->messages)
		sx_messages_classes(d->messages, names);
}

int sx_drawn_frame(struct sx_drawn *d, struct sx_recording_writer *w, const struct stixel_frame *frame)
{
	struct stixel_message message;
	int r = 0;

	if (!d->messages)
		return 0;
	sx_messages_frame(d->messages, frame); /* the writer has checked the calibrations */
	for (int i = 0; r >= 0 && i < SX_MESSAGE_KINDS; i++) {
		if (d->channel[i] <= 0)
			continue;
		r = sx_messages_make(d->messages, (enum stixel_message_kind)i, &message);
		if (r == 1)
			r = sx_recording_message(w, d->channel[i], message.head, message.head_bytes);
	}
	return r < 0 ? r : 0;
}

void sx_drawn_finish(struct sx_drawn *d)
{
	sx_messages_destroy(d->messages);
	d->messages = NULL;
}
