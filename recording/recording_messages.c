/*
 * Protobuf messages beside the frames of a recording.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/recording_messages.h"

#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "recording/protobuf.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum image_field {
	IMAGE_TIME = 1,
	IMAGE_WIDTH,
	IMAGE_HEIGHT,
	IMAGE_ENCODING,
	IMAGE_STEP,
	IMAGE_DATA,
	IMAGE_CAMERA
};
static const struct sx_pb_row image_rows[] = {
	{"timestamp", IMAGE_TIME, SX_PB_MESSAGE, false},   {"frame_id", IMAGE_CAMERA, SX_PB_STRING, false},
	{"width", IMAGE_WIDTH, SX_PB_FIXED32, false},	   {"height", IMAGE_HEIGHT, SX_PB_FIXED32, false},
	{"encoding", IMAGE_ENCODING, SX_PB_STRING, false}, {"step", IMAGE_STEP, SX_PB_FIXED32, false},
	{"data", IMAGE_DATA, SX_PB_BYTES, false}};

enum jpeg_field { JPEG_TIME = 1, JPEG_DATA, JPEG_FORMAT, JPEG_CAMERA };
static const struct sx_pb_row jpeg_rows[] = {{"timestamp", JPEG_TIME, SX_PB_MESSAGE, false},
					     {"frame_id", JPEG_CAMERA, SX_PB_STRING, false},
					     {"data", JPEG_DATA, SX_PB_BYTES, false},
					     {"format", JPEG_FORMAT, SX_PB_STRING, false}};

enum camera_field {
	CAMERA_TIME = 1,
	CAMERA_WIDTH,
	CAMERA_HEIGHT,
	CAMERA_MODEL,
	CAMERA_D,
	CAMERA_K,
	CAMERA_R,
	CAMERA_P,
	CAMERA_ID
};
static const struct sx_pb_row camera_rows[] = {{"timestamp", CAMERA_TIME, SX_PB_MESSAGE, false},
					       {"frame_id", CAMERA_ID, SX_PB_STRING, false},
					       {"width", CAMERA_WIDTH, SX_PB_FIXED32, false},
					       {"height", CAMERA_HEIGHT, SX_PB_FIXED32, false},
					       {"distortion_model", CAMERA_MODEL, SX_PB_STRING, false},
					       {"D", CAMERA_D, SX_PB_DOUBLE, true},
					       {"K", CAMERA_K, SX_PB_DOUBLE, true},
					       {"R", CAMERA_R, SX_PB_DOUBLE, true},
					       {"P", CAMERA_P, SX_PB_DOUBLE, true}};

enum event_field {
	EVENT_KIND = 1,
	EVENT_EPOCH,
	EVENT_PID,
	EVENT_VERSION,
	EVENT_NUMBER,
	EVENT_LOST,
	EVENT_REASON,
	EVENT_FRAMES,
	EVENT_PUBLISHERS,
	EVENT_BYTES_MAX,
	EVENT_BYTES_MAX_BARE,
	EVENT_FIRST,
	EVENT_LAST,
	EVENT_PLANES,
	EVENT_CLASSES
};
static const struct sx_pb_row event_rows[] = {
	{"kind", EVENT_KIND, SX_PB_STRING, false},
	{"epoch", EVENT_EPOCH, SX_PB_FIXED64, false},
	{"pid", EVENT_PID, SX_PB_UINT64, false},
	{"version", EVENT_VERSION, SX_PB_STRING, false},
	{"number", EVENT_NUMBER, SX_PB_UINT64, false},
	{"lost", EVENT_LOST, SX_PB_UINT64, false},
	{"reason", EVENT_REASON, SX_PB_STRING, false},
	{"frames", EVENT_FRAMES, SX_PB_UINT64, false},
	{"publishers", EVENT_PUBLISHERS, SX_PB_UINT64, false},
	{"frame_bytes_max", EVENT_BYTES_MAX, SX_PB_UINT64, false},
	{"frame_bytes_max_bare", EVENT_BYTES_MAX_BARE, SX_PB_UINT64, false},
	{"first_ns", EVENT_FIRST, SX_PB_INT64, false},
	{"last_ns", EVENT_LAST, SX_PB_INT64, false},
	{"planes", EVENT_PLANES, SX_PB_UINT64, false},
	{"classes", EVENT_CLASSES, SX_PB_STRING, false}};

static const char *const event_words[] = {[SX_EVENT_NONE] = "",
					  [SX_EVENT_PUBLISHER] = "publisher",
					  [SX_EVENT_GAP] = "gap",
					  [SX_EVENT_END] = "end"};
static const char *const reason_words[] = {
	[SX_GAP_UNKNOWN] = "", [SX_GAP_OVERRUN] = "overrun", [SX_GAP_DAMAGED] = "damaged"};

static const struct {
	const char *package, *name, *whole;
	const struct sx_pb_row *rows;
	size_t count;
} schemas[SX_SCHEMAS] = {
	[SX_SCHEMA_IMAGE] = {"foxglove", "RawImage", "foxglove.RawImage", image_rows, COUNT(image_rows)},
	[SX_SCHEMA_JPEG] = {"foxglove", "CompressedImage", "foxglove.CompressedImage", jpeg_rows,
			    COUNT(jpeg_rows)},
	[SX_SCHEMA_CALIBRATION] = {"foxglove", "CameraCalibration", "foxglove.CameraCalibration", camera_rows,
				   COUNT(camera_rows)},
	[SX_SCHEMA_EVENT] = {"stixel", "Event", "stixel.Event", event_rows, COUNT(event_rows)},
	[SX_SCHEMA_BYTES] = {"stixel", "Bytes", "stixel.Bytes", NULL, 0},
};

static const char *const topics[] = {
	[STIXEL_MESSAGE_FRAME] = "frame",
	[STIXEL_MESSAGE_SCENE] = "scene",
	[STIXEL_MESSAGE_POINTS] = "points",
	[STIXEL_MESSAGE_TRANSFORM] = "transform",
	[STIXEL_MESSAGE_CALIBRATION] = "calibration",
	[STIXEL_MESSAGE_CALIBRATION_RIGHT] = "calibration_right",
	[STIXEL_MESSAGE_LEFT] = "left",
	[STIXEL_MESSAGE_RIGHT] = "right",
	[STIXEL_MESSAGE_DISPARITY] = "disparity",
	[STIXEL_MESSAGE_EVENTS] = "events",
	[STIXEL_MESSAGE_STIXEL] = "stixel",
	[STIXEL_MESSAGE_SCAN] = "scan",
};

const char *sx_topic_name(enum stixel_message_kind kind)
{
	sx_must_index(kind, COUNT(topics));
	return topics[kind];
}

const char *sx_recording_schema_name(enum sx_recording_schema schema)
{
	sx_must_index(schema, SX_SCHEMAS);
	return schemas[schema].whole;
}

const char *sx_recording_schema_encoding(enum sx_recording_schema schema)
{
	return schema == SX_SCHEMA_BYTES ? "stixel" : "protobuf";
}

void sx_recording_schema_describe(struct sx_bytes *to, enum sx_recording_schema schema)
{
	static const char layout[] =
		"struct stixel_frame_header, offsets, stixels as in stixel.h; images lie in channels beside";

	sx_must_index(schema, SX_SCHEMAS);
	if (schema == SX_SCHEMA_BYTES) {
		sx_bytes_add(to, layout, sizeof(layout) - 1);
		return;
	}
	sx_pb_describe(to, schemas[schema].package, schemas[schema].name, schemas[schema].rows,
		       schemas[schema].count);
}

/* Wraps around on overflow, because times in a file may have any value. */
int64_t sx_recorded_realtime_ns(const struct stixel_frame_header *h, int64_t monotonic_ns)
{
	return (int64_t)((uint64_t)h->anchor_realtime_ns + (uint64_t)monotonic_ns -
			 (uint64_t)h->anchor_monotonic_ns);
}

/* ---- images and calibrations ---- */

static void add_stamp(struct sx_bytes *to, unsigned field, const struct stixel_frame_header *h)
{
	int64_t ns = sx_recorded_realtime_ns(h, h->capture_left_ns), seconds = ns / SX_NS_PER_S;
	size_t began;

	ns %= SX_NS_PER_S;
	if (ns < 0) {
		ns += SX_NS_PER_S;
		seconds--;
	}
	sx_pb_bytes_head(to, field, 0); /* the length byte is set below; the length is at most 17 */
	began = to->count;
	sx_pb_varint(to, 1, (uint64_t)seconds);
	sx_pb_varint(to, 2, (uint64_t)ns);
	if (!to->failed) {
		sx_must(to->count - began, <, 128);
		to->at[began - 1] = (uint8_t)(to->count - began);
	}
}

void sx_image_message(struct sx_bytes *to, const struct stixel_frame_header *h, const char *camera,
		      const struct stixel_image *image)
{
	sx_must_index(image->kind, STIXEL_PLANE_RIGHT + 1);
	add_stamp(to, IMAGE_TIME, h);
	sx_pb_text(to, IMAGE_CAMERA, camera);
	sx_pb_fixed32(to, IMAGE_WIDTH, image->width);
	sx_pb_fixed32(to, IMAGE_HEIGHT, image->height);
	sx_pb_text(to, IMAGE_ENCODING, image->kind == STIXEL_PLANE_DISPARITY ? "16UC1" : "mono8");
	sx_pb_fixed32(to, IMAGE_STEP, image->pitch);
	sx_pb_bytes_head(to, IMAGE_DATA, (size_t)image->pitch * image->height);
}

bool sx_image_parse(struct sx_span message, struct stixel_image *image, size_t *bytes)
{
	struct sx_cursor in = {message.at, message.bytes, false};
	struct sx_pb_field f;

	memset(image, 0, sizeof(*image));
	*bytes = 0;
	while (sx_pb_next(&in, &f)) {
		if (f.number == IMAGE_WIDTH)
			image->width = (uint32_t)f.value;
		else if (f.number == IMAGE_HEIGHT)
			image->height = (uint32_t)f.value;
		else if (f.number == IMAGE_STEP)
			image->pitch = (uint32_t)f.value;
		else if (f.number == IMAGE_DATA)
			image->data = f.bytes.at, *bytes = f.bytes.bytes;
	}
	return !in.failed;
}

void sx_jpeg_message(struct sx_bytes *to, const struct stixel_frame_header *h, const char *camera,
		     size_t bytes)
{
	add_stamp(to, JPEG_TIME, h);
	sx_pb_text(to, JPEG_CAMERA, camera);
	sx_pb_text(to, JPEG_FORMAT, "jpeg");
	sx_pb_bytes_head(to, JPEG_DATA, bytes);
}

bool sx_jpeg_parse(struct sx_span message, struct sx_span *jpeg)
{
	struct sx_cursor in = {message.at, message.bytes, false};
	bool good = false;
	struct sx_pb_field f;

	*jpeg = (struct sx_span){NULL, 0};
	while (sx_pb_next(&in, &f)) {
		if (f.number == JPEG_DATA)
			*jpeg = f.bytes;
		else if (f.number == JPEG_FORMAT)
			good = sx_span_is(f.bytes, "jpeg");
	}
	return !in.failed && good && jpeg->bytes > 0;
}

void sx_calibration_message(struct sx_bytes *to, const struct stixel_frame_header *h, const char *camera,
			    bool right)
{
	const double d[5] = {0}, r[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
	const double k[9] = {h->fx, 0, h->cx, 0, h->fy, h->cy, 0, 0, 1};
	const double p[12] = {h->fx, 0, h->cx, right ? -h->fx * h->baseline_m : 0, 0, h->fy, h->cy, 0, 0,
			      0,     1, 0};

	add_stamp(to, CAMERA_TIME, h);
	sx_pb_text(to, CAMERA_ID, camera);
	sx_pb_fixed32(to, CAMERA_WIDTH, h->image_width);
	sx_pb_fixed32(to, CAMERA_HEIGHT, h->image_height);
	sx_pb_text(to, CAMERA_MODEL, "plumb_bob"); /* images are rectified, so D is all zero */
	sx_pb_doubles(to, CAMERA_D, d, 5);
	sx_pb_doubles(to, CAMERA_K, k, 9);
	sx_pb_doubles(to, CAMERA_R, r, 9);
	sx_pb_doubles(to, CAMERA_P, p, 12);
}

static bool calibration_same(const struct stixel_frame_header *a, const struct stixel_frame_header *b)
{
	return a->fx == b->fx && a->fy == b->fy && a->cx == b->cx && a->cy == b->cy &&
	       a->baseline_m == b->baseline_m && a->image_width == b->image_width &&
	       a->image_height == b->image_height && a->epoch == b->epoch;
}

bool sx_calibration_due(struct stixel_frame_header *last, const struct stixel_frame_header *h)
{
	if (last->fx > 0.0 ? calibration_same(h, last) : h->fx <= 0.0)
		return false;
	memcpy(last, h, STIXEL_HEADER_BYTES_LEAST); /* an older header has no more bytes */
	return true;
}

/* ---- events ---- */

void sx_event_message(struct sx_bytes *to, const struct sx_event *e)
{
	sx_must_index(e->kind, COUNT(event_words));
	sx_pb_text(to, EVENT_KIND, event_words[e->kind]);
	if (e->kind == SX_EVENT_PUBLISHER) {
		sx_pb_fixed64(to, EVENT_EPOCH, e->publisher.epoch);
		if (e->publisher.pid) /* otherwise it is not known yet */
			sx_pb_varint(to, EVENT_PID, e->publisher.pid);
		if (e->publisher.version[0])
			sx_pb_text(to, EVENT_VERSION, e->publisher.version);
		if (e->publisher.classes[0])
			sx_pb_text(to, EVENT_CLASSES, e->publisher.classes);
	} else if (e->kind == SX_EVENT_GAP) {
		sx_pb_fixed64(to, EVENT_EPOCH, e->gap.epoch);
		sx_pb_varint(to, EVENT_NUMBER, e->gap.number);
		sx_pb_varint(to, EVENT_LOST, e->gap.lost);
		sx_pb_text(to, EVENT_REASON, reason_words[e->gap.reason]);
	} else if (e->kind == SX_EVENT_END) {
		sx_pb_varint(to, EVENT_FRAMES, e->end.frames);
		sx_pb_varint(to, EVENT_LOST, e->end.lost);
		sx_pb_varint(to, EVENT_PUBLISHERS, e->end.publishers);
		sx_pb_varint(to, EVENT_BYTES_MAX, e->end.frame_bytes_max);
		sx_pb_varint(to, EVENT_BYTES_MAX_BARE, e->end.frame_bytes_max_bare);
		sx_pb_varint(to, EVENT_FIRST, (uint64_t)e->end.first_ns);
		sx_pb_varint(to, EVENT_LAST, (uint64_t)e->end.last_ns);
		sx_pb_varint(to, EVENT_PLANES, e->end.planes);
	}
}

static size_t word_of(struct sx_span s, const char *const *words, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (sx_span_is(s, words[i]))
			return i;
	return 0;
}

static void take_field(struct sx_event *e, const struct sx_pb_field *f)
{
	switch (f->number) {
	case EVENT_KIND:
		e->kind = (enum sx_event_kind)word_of(f->bytes, event_words, COUNT(event_words));
		break;
	case EVENT_EPOCH:
		e->publisher.epoch = e->gap.epoch = f->value;
		break;
	case EVENT_PID:
		e->publisher.pid = f->value;
		break;
	case EVENT_VERSION:
		sx_span_copy(f->bytes, e->publisher.version, sizeof(e->publisher.version));
		break;
	case EVENT_CLASSES:
		sx_span_copy(f->bytes, e->publisher.classes, sizeof(e->publisher.classes));
		break;
	case EVENT_NUMBER:
		e->gap.number = f->value;
		break;
	case EVENT_LOST:
		e->gap.lost = e->end.lost = f->value;
		break;
	case EVENT_REASON:
		e->gap.reason = (enum sx_gap_reason)word_of(f->bytes, reason_words, COUNT(reason_words));
		break;
	case EVENT_FRAMES:
		e->end.frames = f->value;
		break;
	case EVENT_PUBLISHERS:
		e->end.publishers = f->value;
		break;
	case EVENT_BYTES_MAX:
		e->end.frame_bytes_max = f->value;
		break;
	case EVENT_BYTES_MAX_BARE:
		e->end.frame_bytes_max_bare = f->value;
		break;
	case EVENT_FIRST:
		e->end.first_ns = (int64_t)f->value;
		break;
	case EVENT_LAST:
		e->end.last_ns = (int64_t)f->value;
		break;
	case EVENT_PLANES:
		e->end.planes = f->value;
		break;
	default: /* a field of a newer version */
		break;
	}
}

bool sx_event_parse(struct sx_span message, struct sx_event *e)
{
	struct sx_cursor in = {message.at, message.bytes, false};
	struct sx_pb_field f;

	memset(e, 0, sizeof(*e));
	while (sx_pb_next(&in, &f))
		take_field(e, &f);
	return !in.failed;
}
