/*
 * Makes the messages that viewers draw, from frames. "stixelctl export" writes these messages, and
 * stixel-bridge sends them to Foxglove (docs/use/recording.md). The functions are in
 * libstixel-recording.so.1.
 *
 *	stixel_messages_create(&messages, "front");
 *	...
 *	stixel_messages_frame(messages, frame);
 *	if (stixel_messages_make(messages, STIXEL_MESSAGE_SCENE, &message, sizeof(message)) == 1)
 *		send(message.head, message.head_bytes, message.data, message.data_bytes);
 *
 * One thread at a time uses a struct stixel_messages. Different ones are independent. An object keeps its
 * memory from frame to frame. A fault of the library itself is an error of the object that met it
 * (-ENOTRECOVERABLE) and never ends the process.
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

/* Kinds of messages. The topic of each kind is "/INSTANCE/" and its name here in small letters. */
enum stixel_message_kind {
	STIXEL_MESSAGE_FRAME = 0,	      /* stixel.Frame: a frame without its images */
	STIXEL_MESSAGE_SCENE = 1,	      /* foxglove.SceneUpdate */
	STIXEL_MESSAGE_POINTS = 2,	      /* foxglove.PointCloud */
	STIXEL_MESSAGE_TRANSFORM = 3,	      /* foxglove.FrameTransform: the camera over the road */
	STIXEL_MESSAGE_CALIBRATION = 4,	      /* foxglove.CameraCalibration of the left camera */
	STIXEL_MESSAGE_CALIBRATION_RIGHT = 5, /* foxglove.CameraCalibration of the right camera */
	STIXEL_MESSAGE_LEFT = 6,	      /* foxglove.RawImage */
	STIXEL_MESSAGE_RIGHT = 7,	      /* foxglove.RawImage */
	STIXEL_MESSAGE_DISPARITY = 8,	      /* foxglove.RawImage */
	STIXEL_MESSAGE_EVENTS = 9,	      /* stixel.Event: stixel_messages_event() */
	STIXEL_MESSAGE_STIXEL = 10,	      /* bytes of the frame before its images, unchanged */
	STIXEL_MESSAGE_SCAN = 11	      /* since 1.7: foxglove.LaserScan, with the usual options */
};

/* Description of a kind of message, which a viewer gets once. Later versions may add fields at the end. */
struct stixel_message_topic {
	const char *name;   /* part of the topic after "/INSTANCE/" */
	const char *schema; /* name of the schema */
	/* Encoding of messages and schema: "protobuf", or "stixel" for the bytes of frames. */
	const char *encoding;
	const void *descriptor; /* the schema: a FileDescriptorSet, or a text for "stixel" */
	uint64_t descriptor_bytes;
};

/* A message: head, followed by data. Later versions may add fields at the end. */
struct stixel_message {
	const void *head; /* memory of the struct stixel_messages, or of the frame */
	uint64_t head_bytes;
	/* Pixels in the frame: the end of an image's message. NULL for other messages. */
	const void *data;
	uint64_t data_bytes;
};

struct stixel_messages;

/*
 * Creates the object. instance: the names of coordinate frames begin with it, "INSTANCE/camera" and
 * "INSTANCE/road". 0; -EINVAL; -ENOMEM; -ENOTSUP: this library was built without protobuf.
 */
STIXEL_API int stixel_messages_create(struct stixel_messages **messages, const char *instance);
/* Accepts NULL. */
STIXEL_API void stixel_messages_destroy(struct stixel_messages *messages);
/*
 * Describes a kind of message. bytes: sizeof(*topic). The descriptor is valid until the next call with this
 * object. 0; -EINVAL: there is no such kind; -ENOMEM.
 */
STIXEL_API int stixel_messages_topic(struct stixel_messages *messages, unsigned kind,
				     struct stixel_message_topic *topic, size_t bytes);
/*
 * Takes the frame of the next messages. It must have been checked by stixel_parse(), and its bytes must stay
 * valid until the next frame. 1: its calibration is the first one or differs from that of the frame before,
 * so that the caller must send both calibrations. 0: its calibration is the same. -EINVAL.
 */
STIXEL_API int stixel_messages_frame(struct stixel_messages *messages, const struct stixel_frame *frame);
/*
 * Gives the ends of the colour scale of distances, m; 0: an end follows the scene, as at first: 2 % and 98 %
 * of the distances of objects by area, rounded, with hysteresis. 0; -EINVAL: an end is
 * neither 0 nor within 1 cm and 10 km, or far_m is not farther than near_m.
 */
STIXEL_API int stixel_messages_scale(struct stixel_messages *messages, double near_m, double far_m);
/*
 * (since 1.7) Gives the names of the semantic classes in the order of their labels, with a space between them;
 * NULL: not known, as at first. Each stixel.Frame has them from then on. 0; -EINVAL: 1024 bytes or more.
 */
STIXEL_API int stixel_messages_classes(struct stixel_messages *messages, const char *classes);
/*
 * Computes the colours of distances by the scale of the frame: count times three bytes red, green, blue.
 * These are the colours of scene and points, and of the pictures of all programs of stixeld. 0; -EINVAL:
 * there is no frame, or it has no camera model.
 */
STIXEL_API int stixel_messages_colours(struct stixel_messages *messages, const double *distances_m,
				       uint64_t count, uint8_t *rgb);
/*
 * Makes a message of the frame. bytes: sizeof(*message). 1: made. The message is valid until the next call
 * with this object, and only as long as the frame. 0: the frame has no such message, because it has no camera
 * model (scene, points, transform, scan) or no such image. -EINVAL: there is no frame, or frames have no such
 * message; -ENOMEM.
 */
STIXEL_API int stixel_messages_make(struct stixel_messages *messages, unsigned kind,
				    struct stixel_message *message, size_t bytes);
/*
 * Makes the event of a record: STIXEL_RECORD_PUBLISHER (epoch, pid, version, classes) or STIXEL_RECORD_GAP (epoch,
 * number, lost, reason). record_bytes, bytes: sizeof(*record), sizeof(*message). 1: made, valid until the
 * next call with this object; -EINVAL: a record of another kind; -ENOMEM.
 */
STIXEL_API int stixel_messages_event(struct stixel_messages *messages, const struct stixel_record *record,
				     size_t record_bytes, struct stixel_message *message, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
