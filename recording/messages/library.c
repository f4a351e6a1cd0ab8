/*
 * libstixel-recording: the public functions that make messages for viewers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording/library.h"
#include "recording/messages/messages.h"
#include "recording/messages/scale.h"

_Static_assert(sizeof(struct sx_rgb) == 3, "callers give three bytes for each colour");

struct stixel_messages {
	struct sx_messages *m;
	bool broken, has_frame;
};

/* Arguments and result of a call, apart from the object. */
struct call {
	union {
		const char *instance;
		const struct stixel_frame *frame;
		const struct sx_event *event;
		unsigned kind;
	} in;
	union {
		struct stixel_message message;
		struct stixel_message_topic topic;
	} out;
};

/* Copies a result to a caller whose structure may be older or newer. */
static void copy_out(void *to, size_t bytes, const void *from, size_t from_bytes)
{
	memset(to, 0, bytes);
	memcpy(to, from, bytes < from_bytes ? bytes : from_bytes);
}

static int create(void *object, void *arg)
{
	return sx_messages_create(&((struct stixel_messages *)object)->m, ((struct call *)arg)->in.instance);
}

int stixel_messages_create(struct stixel_messages **ret, const char *instance)
{
	struct call call = {.in.instance = instance};
	struct stixel_messages *messages;
	int e;

	if (!ret || !instance)
		return -EINVAL;
	messages = calloc(1, sizeof(*messages));
	if (!messages)
		return -ENOMEM;
	e = sx_library_guard(&messages->broken, create, messages, &call);
	if (e < 0)
		free(messages);
	else
		*ret = messages;
	return e;
}

void stixel_messages_destroy(struct stixel_messages *messages)
{
	if (!messages)
		return;
	sx_messages_destroy(messages->m);
	free(messages);
}

static int describe(void *object, void *arg)
{
	struct call *call = arg;

	return sx_messages_topic(((struct stixel_messages *)object)->m,
				 (enum stixel_message_kind)call->in.kind, &call->out.topic);
}

int stixel_messages_topic(struct stixel_messages *messages, unsigned kind, struct stixel_message_topic *topic,
			  size_t bytes)
{
	struct call call = {.in.kind = kind};
	int e;

	if (!messages || !topic || kind >= SX_MESSAGE_KINDS)
		return -EINVAL;
	e = sx_library_guard(&messages->broken, describe, messages, &call);
	if (e == 0)
		copy_out(topic, bytes, &call.out.topic, sizeof(call.out.topic));
	return e;
}

static int take_frame(void *object, void *arg)
{
	return sx_messages_frame(((struct stixel_messages *)object)->m, ((struct call *)arg)->in.frame);
}

int stixel_messages_frame(struct stixel_messages *messages, const struct stixel_frame *frame)
{
	struct call call = {.in.frame = frame};

	if (!messages || !frame || !frame->header)
		return -EINVAL;
	messages->has_frame = true;
	return sx_library_guard(&messages->broken, take_frame, messages, &call);
}

static int make(void *object, void *arg)
{
	struct call *call = arg;

	return sx_messages_make(((struct stixel_messages *)object)->m,
				(enum stixel_message_kind)call->in.kind, &call->out.message);
}

/* Calls work, which makes a message, and copies the message to the caller. */
static int make_for(struct stixel_messages *messages, int (*work)(void *, void *), struct call *call,
		    struct stixel_message *message, size_t bytes)
{
	int e = sx_library_guard(&messages->broken, work, messages, call);

	if (e == 1)
		copy_out(message, bytes, &call->out.message, sizeof(call->out.message));
	return e;
}

int stixel_messages_scale(struct stixel_messages *messages, double near_m, double far_m)
{
	const bool near_good = near_m == 0.0 || (near_m >= SX_SCALE_LEAST_M && near_m <= SX_SCALE_MOST_M);
	const bool far_good = far_m == 0.0 || (far_m >= SX_SCALE_LEAST_M && far_m <= SX_SCALE_MOST_M);

	if (!messages || !near_good || !far_good || sx_scale_wrong(near_m, far_m))
		return -EINVAL;
	sx_messages_scale(messages->m, near_m, far_m);
	return 0;
}

int stixel_messages_classes(struct stixel_messages *messages, const char *classes)
{
	const char *names = classes ? classes : "";

	if (!messages || strlen(names) >= SX_MESSAGES_CLASSES)
		return -EINVAL;
	sx_messages_classes(messages->m, names);
	return 0;
}

int stixel_messages_colours(struct stixel_messages *messages, const double *distances_m, uint64_t count,
			    uint8_t *rgb)
{
	if (!messages || !messages->has_frame || (count && (!distances_m || !rgb)))
		return -EINVAL;
	return sx_messages_colours(messages->m, distances_m, count, (struct sx_rgb *)(void *)rgb) ? 0
												  : -EINVAL;
}

int stixel_messages_make(struct stixel_messages *messages, unsigned kind, struct stixel_message *message,
			 size_t bytes)
{
	struct call call = {.in.kind = kind};

	if (!messages || !message || !messages->has_frame || kind >= SX_MESSAGE_KINDS ||
	    kind == STIXEL_MESSAGE_EVENTS)
		return -EINVAL;
	return make_for(messages, make, &call, message, bytes);
}

static int make_event(void *object, void *arg)
{
	struct call *call = arg;

	return sx_messages_event(((struct stixel_messages *)object)->m, call->in.event, &call->out.message);
}

static bool event_of(struct sx_event *event, const struct stixel_record *record)
{
	static const enum sx_gap_reason reasons[] = {[STIXEL_GAP_UNKNOWN] = SX_GAP_UNKNOWN,
						     [STIXEL_GAP_OVERRUN] = SX_GAP_OVERRUN,
						     [STIXEL_GAP_DAMAGED] = SX_GAP_DAMAGED};

	if (record->kind == STIXEL_RECORD_PUBLISHER) {
		event->kind = SX_EVENT_PUBLISHER;
		event->publisher.epoch = record->epoch;
		event->publisher.pid = record->pid;
		memcpy(event->publisher.version, record->version, sizeof(record->version));
		event->publisher.version[sizeof(record->version) - 1] = 0;
		if (record->classes)
			snprintf(event->publisher.classes, sizeof(event->publisher.classes), "%s",
				 record->classes);
		return true;
	}
	if (record->kind != STIXEL_RECORD_GAP || record->reason >= sizeof(reasons) / sizeof(reasons[0]))
		return false;
	event->kind = SX_EVENT_GAP;
	event->gap.epoch = record->epoch;
	event->gap.number = record->number;
	event->gap.lost = record->lost;
	event->gap.reason = reasons[record->reason];
	return true;
}

int stixel_messages_event(struct stixel_messages *messages, const struct stixel_record *record,
			  size_t record_bytes, struct stixel_message *message, size_t bytes)
{
	struct stixel_record mine = {0};
	struct sx_event event = {0};
	struct call call = {.in.event = &event};

	if (!messages || !record || !message)
		return -EINVAL;
	memcpy(&mine, record, record_bytes < sizeof(mine) ? record_bytes : sizeof(mine));
	if (!event_of(&event, &mine))
		return -EINVAL;
	return make_for(messages, make_event, &call, message, bytes);
}
