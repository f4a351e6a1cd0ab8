/*
 * Protobuf messages beside the frames of a recording: images and calibrations in schemas that viewers know,
 * and events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_RECORDING_MESSAGES_H
#define SX_RECORDING_RECORDING_MESSAGES_H

#include "include/stixel_messages.h"
#include "recording/bytes.h"

enum sx_recording_schema {
	SX_SCHEMA_IMAGE,       /* foxglove.RawImage */
	SX_SCHEMA_JPEG,	       /* foxglove.CompressedImage */
	SX_SCHEMA_CALIBRATION, /* foxglove.CameraCalibration */
	SX_SCHEMA_EVENT,       /* stixel.Event */
	SX_SCHEMA_BYTES,       /* stixel.Bytes: not protobuf; its description is a text */
	SX_SCHEMAS
};

/* End of the topic of an image that was coded as JPEG: "left/compressed". */
#define SX_RECORDED_JPEG "/compressed"

const char *sx_recording_schema_name(enum sx_recording_schema schema);
/* Returns the encoding of the schema and of its messages. */
const char *sx_recording_schema_encoding(enum sx_recording_schema schema);
/* Appends the schema's FileDescriptorSet, or its text. */
void sx_recording_schema_describe(struct sx_bytes *to, enum sx_recording_schema schema);

/* Returns the name of a topic, which follows "/INSTANCE/". */
const char *sx_topic_name(enum stixel_message_kind kind);

/* Converts a time of the frame to CLOCK_REALTIME, by the frame's own anchor. */
int64_t sx_recorded_realtime_ns(const struct stixel_frame_header *h, int64_t monotonic_ns);

/*
 * Appends a RawImage without its pixels. The caller appends pitch * height bytes. camera: name of the
 * coordinate frame.
 */
void sx_image_message(struct sx_bytes *to, const struct stixel_frame_header *h, const char *camera,
		      const struct stixel_image *image);
/*
 * Parses width, height, pitch and data of an image. The data stay in message; *bytes is their length. False:
 * damaged.
 */
bool sx_image_parse(struct sx_span message, struct stixel_image *image, size_t *bytes);
/* Appends a CompressedImage without its JPEG. The caller appends `bytes` of it. */
void sx_jpeg_message(struct sx_bytes *to, const struct stixel_frame_header *h, const char *camera,
		     size_t bytes);
/* Parses the JPEG of an image, which stays in message. False: damaged, or another format. */
bool sx_jpeg_parse(struct sx_span message, struct sx_span *jpeg);

/* Appends the calibration of one camera of the rectified pair. right: P contains the baseline. */
void sx_calibration_message(struct sx_bytes *to, const struct stixel_frame_header *h, const char *camera,
			    bool right);
/*
 * Returns whether both calibrations have to be written with this frame: at the start, when they change, and
 * for each publisher. When the camera model disappears, a K of zeros is written. last: zeros at the start,
 * updated here.
 */
bool sx_calibration_due(struct stixel_frame_header *last, const struct stixel_frame_header *h);

enum sx_event_kind {
	SX_EVENT_NONE, /* an event of a newer version */
	SX_EVENT_PUBLISHER,
	SX_EVENT_GAP,
	SX_EVENT_END
};

struct sx_event {
	enum sx_event_kind kind;
	struct sx_record_publisher {
		uint64_t epoch;
		uint64_t pid;
		char version[32];
		char classes[1024]; /* names of the semantic classes by label, a space between; "": unknown */
	} publisher;
	struct sx_record_gap {
		uint64_t epoch;
		uint64_t number; /* number of the first missing frame; 0: unknown */
		uint64_t lost;	 /* number of missing frames */
		enum sx_gap_reason {
			SX_GAP_UNKNOWN, /* a reason of a newer version */
			/* the recorder was too slow, and the publisher overwrote the frames in the ring */
			SX_GAP_OVERRUN,
			SX_GAP_DAMAGED /* the publisher's frame failed its check */
		} reason;
	} gap;
	struct sx_record_end {
		uint64_t frames;
		uint64_t lost; /* missing frames, sum of all gaps */
		uint64_t publishers;
		uint64_t frame_bytes_max;      /* size of the largest frame */
		uint64_t frame_bytes_max_bare; /* size of the largest frame without images */
		int64_t first_ns, last_ns;     /* published_ns of the first and of the last frame */
		uint64_t planes;	       /* bits 1 << enum stixel_plane: images in the recording */
	} end;
};

void sx_event_message(struct sx_bytes *to, const struct sx_event *event);
/* Parses an event. False: damaged. */
bool sx_event_parse(struct sx_span message, struct sx_event *event);

#endif
