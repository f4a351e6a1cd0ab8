/*
 * Makes messages that viewers draw from frames: those that "stixelctl export" writes and that stixel-bridge sends
 * to Foxglove (docs/recording.md). In libstixel-recording.so.1.
 *
 *	stixel_messages_create(&messages, "front");
 *	...
 *	stixel_messages_frame(messages, frame);
 *	if (stixel_messages_make(messages, STIXEL_MESSAGE_SCENE, &message, sizeof(message)) == 1)
 *		send(message.head, message.head_bytes, message.data, message.data_bytes);
 *
 * One thread at a time uses a struct stixel_messages; different ones are independent. Memory is kept from frame
 * to frame. A fault of the library itself is an error of the object that met it (-ENOTRECOVERABLE), never the end
 * of the process.
 *
 * Errors: negative errno values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STIXEL_MESSAGES_H
#define STIXEL_MESSAGES_H

#include "stixel_recording.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of messages. Each has a topic below "/INSTANCE/": its name here, in small letters. */
enum stixel_message_kind {
	STIXEL_MESSAGE_FRAME = 0,	      /* stixel.Frame: all of a frame but its images */
	STIXEL_MESSAGE_SCENE = 1,	      /* foxglove.SceneUpdate */
	STIXEL_MESSAGE_POINTS = 2,	      /* foxglove.PointCloud */
	STIXEL_MESSAGE_TRANSFORM = 3,	      /* foxglove.FrameTransform: the camera over the road */
	STIXEL_MESSAGE_CALIBRATION = 4,	      /* foxglove.CameraCalibration of the left camera */
	STIXEL_MESSAGE_CALIBRATION_RIGHT = 5, /* the same of the right camera */
	STIXEL_MESSAGE_LEFT = 6,	      /* foxglove.RawImage */
	STIXEL_MESSAGE_RIGHT = 7,	      /* foxglove.RawImage */
	STIXEL_MESSAGE_DISPARITY = 8,	      /* foxglove.RawImage */
	STIXEL_MESSAGE_EVENTS = 9,	      /* stixel.Event: stixel_messages_event() */
	STIXEL_MESSAGE_STIXEL = 10	      /* the frame's own bytes before its images */
};

/* What a viewer learns once of a kind of message. Fields may be added at the end. */
struct stixel_message_topic {
	const char *name;   /* behind "/INSTANCE/" */
	const char *schema; /* name of the schema */
	const char *
		encoding; /* of the messages and of the schema: "protobuf", or "stixel" for the bytes of frames */
	const void *descriptor; /* the schema: a FileDescriptorSet, or a text for "stixel" */
	uint64_t descriptor_bytes;
};

/* A message: head, and data behind it. Fields may be added at the end. */
struct stixel_message {
	const void *head; /* in memory of the struct stixel_messages, or in the frame */
	uint64_t head_bytes;
	const void *data; /* pixels in the frame, the end of an image's message; else NULL */
	uint64_t data_bytes;
};

struct stixel_messages;

/*
 * instance: names of coordinate frames begin with it, "INSTANCE/camera" and "INSTANCE/road". 0; -EINVAL; -ENOMEM;
 * -ENOTSUP: this library was built without protobuf.
 */
STIXEL_API int stixel_messages_create(struct stixel_messages **messages, const char *instance);
/* Accepts NULL. */
STIXEL_API void stixel_messages_destroy(struct stixel_messages *messages);
/*
 * Describes a kind of message. bytes: sizeof(*topic). The descriptor is valid until the next call with this object.
 * 0; -EINVAL: there is no such kind; -ENOMEM.
 */
STIXEL_API int stixel_messages_topic(struct stixel_messages *messages, unsigned kind,
				     struct stixel_message_topic *topic, size_t bytes);
/*
 * Takes a frame, checked as stixel_parse() does, of which messages are made until the next one: its bytes must stay
 * that long. 1: its calibration differs from that of the frame before, or is the first one, so that both
 * calibrations have to be sent. 0: it is the same. -EINVAL.
 */
STIXEL_API int stixel_messages_frame(struct stixel_messages *messages, const struct stixel_frame *frame);
/*
 * Makes a message of the frame. bytes: sizeof(*message). 1: made, valid until the next call with this object and
 * while the frame is. 0: the frame has none: no camera model (scene, points, transform), or no such image.
 * -EINVAL: no frame was given, or no kind that is made of frames; -ENOMEM.
 */
STIXEL_API int stixel_messages_make(struct stixel_messages *messages, unsigned kind,
				    struct stixel_message *message, size_t bytes);
/*
 * Makes the event of a record: STIXEL_RECORD_PUBLISHER (epoch, pid, version) or STIXEL_RECORD_GAP (epoch, number,
 * lost, reason). record_bytes, bytes: sizeof of both. 1: made, valid until the next call with this object; -EINVAL:
 * a record of another kind; -ENOMEM.
 */
STIXEL_API int stixel_messages_event(struct stixel_messages *messages, const struct stixel_record *record,
				     size_t record_bytes, struct stixel_message *message, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
