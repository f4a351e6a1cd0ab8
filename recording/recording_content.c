/*
 * Interprets the channels and messages of a recording.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "capture/image/jpeg.h"
#include "ipc/check.h"
#include "ipc/frame.h"
#include "recording/recording_priv.h"

/* Memory of an image in the frame that is being assembled, and its shape. */
struct image_place {
	uint32_t width, height, pitch; /* px, px, bytes */
	size_t bytes;
	uint8_t *at;
};

/* ---- channels ---- */

static enum role role_of(struct sx_span name, const struct sx_span encoding)
{
	static const struct {
		const char *name, *encoding;
		unsigned role;
	} roles[] = {{"stixel", "stixel", ROLE_FRAMES},
		     {"events", "protobuf", ROLE_EVENTS},
		     {"disparity", "protobuf", ROLE_IMAGE + STIXEL_PLANE_DISPARITY},
		     {"left", "protobuf", ROLE_IMAGE + STIXEL_PLANE_LEFT},
		     {"right", "protobuf", ROLE_IMAGE + STIXEL_PLANE_RIGHT},
		     {"left" SX_RECORDED_JPEG, "protobuf", ROLE_JPEG + STIXEL_PLANE_LEFT},
		     {"right" SX_RECORDED_JPEG, "protobuf", ROLE_JPEG + STIXEL_PLANE_RIGHT}};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (sx_span_is(name, roles[i].name) && sx_span_is(encoding, roles[i].encoding))
			return (enum role)roles[i].role;
	return ROLE_NONE;
}

/*
 * Registers a channel of stixeld, which is marked by its metadata. If a tool has merged the frames of several
 * instances into one file, the frames of the first instance are read.
 */
void sx_content_channel(struct sx_recording *r, struct sx_span content)
{
	struct sx_mcap_channel c;
	struct sx_span name;
	enum role role;
	size_t begins;

	if (!sx_mcap_parse_channel(&c, content))
		return;
	r->channels_seen = true;
	name = sx_mcap_value(c.metadata, "stixel");
	role = role_of(name, c.encoding);
	if (role == ROLE_NONE || c.topic.bytes < name.bytes + 3 ||
	    c.topic.bytes - name.bytes >= sizeof(r->topics))
		return;
	begins = c.topic.bytes - name.bytes;
	if (!r->topics[0]) {
		memcpy(r->topics, c.topic.at, begins);
		r->topics[begins] = 0;
		sx_span_copy((struct sx_span){c.topic.at + 1, begins - 2}, r->info.instance,
			     sizeof(r->info.instance));
	}
	if (strlen(r->topics) == begins && memcmp(r->topics, c.topic.at, begins) == 0)
		r->role[c.id] = (uint8_t)role;
}

/* ---- frames ---- */

static int frame_damage(struct sx_recording *r, struct sx_span content, const char *why,
			struct sx_record *record)
{
	*record = (struct sx_record){.kind = SX_RECORD_DAMAGE,
				     .offset = r->state.offset,
				     .bytes = SX_MCAP_HEAD_BYTES + content.bytes,
				     .why = why};
	r->missing = 0;
	r->state.damaged_places++;
	r->state.damaged_bytes += record->bytes;
	return 1;
}

/* Reports a frame as damaged although the reader has passed its message before. */
static int bare_damage(struct sx_recording *r, struct sx_record *record)
{
	const struct sx_span content = {NULL, r->frame_message_bytes};

	sx_must(r->missing, ==, 0);
	frame_damage(r, content, "a frame contradicts itself", record);
	record->offset = r->frame_at;
	return 1;
}

static int give_frame(struct sx_recording *r, struct sx_span content, struct sx_record *record)
{
	const struct stixel_frame_header *h = (const struct stixel_frame_header *)r->frame;
	int e;

	sx_must(h->frame_bytes, <=, r->frame_room);
	e = sx_frame_check(&record->frame, r->frame, h->frame_bytes);
	if (e < 0)
		return frame_damage(r, content,
				    e == -EPROTONOSUPPORT ? "a frame is of another major version"
							  : "a frame contradicts itself",
				    record);
	record->kind = SX_RECORD_FRAME;
	record->time_ns = r->frame_time_ns;
	for (int i = 0; i <= STIXEL_PLANE_RIGHT; i++)
		record->jpeg[i] = (struct sx_span){r->jpeg[i].at, r->jpeg[i].count};
	r->given += h->frame_bytes;
	return 1;
}

/*
 * Returns the frame without its images, which are missing because a tool has removed their channels. The
 * frame is as the publisher sends it when its images do not fit.
 */
static int give_bare(struct sx_recording *r, struct sx_record *record)
{
	const struct stixel_frame_header *h = (const struct stixel_frame_header *)r->frame;
	struct stixel_frame whole;
	size_t room = h->plane_offset;

	sx_must(r->missing, !=, 0);
	*record = (struct sx_record){.offset = r->frame_at};
	r->missing = 0;
	if (sx_frame_check(&whole, r->frame, h->frame_bytes) < 0)
		return bare_damage(r, record);
	sx_must(room, <=, h->frame_bytes);
	free(r->bare);
	r->bare = malloc(room);
	if (!r->bare)
		return -ENOMEM;
	if (sx_frame_shrink(r->bare, room, r->frame) < 0 || sx_frame_check(&record->frame, r->bare, room) < 0)
		return bare_damage(r, record);
	record->kind = SX_RECORD_FRAME;
	record->time_ns = r->frame_time_ns;
	return 1;
}

int sx_content_end(struct sx_recording *r, struct sx_record *record)
{
	return r->missing ? give_bare(r, record) : 0;
}

/*
 * Returns the images that follow the first `bytes` of a frame up to its end, as bits; 0: the frame is
 * inconsistent.
 */
static unsigned images_missing(const struct stixel_frame_header *h, size_t bytes)
{
	const uint32_t kinds[] = {h->plane_kind, h->plane2_kind},
		       offsets[] = {h->plane_offset, h->plane2_offset},
		       lengths[] = {h->plane_bytes, h->plane2_bytes};
	uint64_t at = bytes;
	unsigned missing = 0;

	for (int i = 0; i < 2 && kinds[i]; i++) {
		if (kinds[i] > STIXEL_PLANE_RIGHT || offsets[i] != at || missing >> kinds[i] & 1)
			return 0;
		missing |= 1u << kinds[i];
		at += lengths[i];
	}
	sx_must(missing >> (STIXEL_PLANE_RIGHT + 1), ==, 0);
	return at == h->frame_bytes && at <= STIXEL_FRAME_BYTES_MAX ? missing : 0;
}

static int take_frame(struct sx_recording *r, struct sx_span content, struct sx_span data,
		      struct sx_record *record)
{
	struct stixel_frame_header h;
	size_t room = data.bytes;
	unsigned missing = 0;

	sx_must(r->missing, ==, 0);
	if (data.bytes < STIXEL_HEADER_BYTES_LEAST)
		return frame_damage(r, content, "a frame contradicts itself", record);
	memcpy(&h, data.at, STIXEL_HEADER_BYTES_LEAST);
	if (h.frame_bytes != data.bytes) {
		missing = images_missing(&h, data.bytes);
		if (!missing)
			return frame_damage(r, content, "a frame contradicts itself", record);
		room = h.frame_bytes;
	}
	if (room > r->frame_room) {
		free(r->frame);
		r->frame_room = 0;
		r->frame = malloc(room);
		if (!r->frame)
			return -ENOMEM;
		r->frame_room = room;
	}
	sx_must(data.bytes, <=, r->frame_room);
	memcpy(r->frame, data.at, data.bytes);
	r->frame_time_ns = record->time_ns;
	r->frame_at = r->state.offset;
	r->frame_message_bytes = content.bytes;
	for (int i = 0; i <= STIXEL_PLANE_RIGHT; i++)
		r->jpeg[i].count = 0;
	r->missing = missing;
	return missing ? 0 : give_frame(r, content, record);
}

/*
 * Returns the memory of an image in the frame that is being assembled. All zero: the image does not belong to
 * that frame, because a frame and its images have the same time.
 */
static struct image_place place_of(struct sx_recording *r, unsigned kind, int64_t time_ns)
{
	const struct stixel_frame_header *h = (const struct stixel_frame_header *)r->frame;
	struct image_place place = {0};

	sx_must_be(r->missing == 0 || r->frame);
	if (!(r->missing >> kind & 1) || time_ns != r->frame_time_ns) {
		r->state.images_apart++;
		return place;
	}
	place = h->plane_kind == kind
			? (struct image_place){h->plane_width, h->plane_height, h->plane_pitch,
					       h->plane_bytes, r->frame + h->plane_offset}
			: (struct image_place){h->plane2_width, h->plane2_height, h->plane2_pitch,
					       h->plane2_bytes, r->frame + h->plane2_offset};
	sx_must((size_t)(place.at - r->frame) + place.bytes, <=, r->frame_room);
	return place;
}

static int took_image(struct sx_recording *r, unsigned kind, struct sx_span content, struct sx_record *record)
{
	r->missing &= ~(1u << kind);
	return r->missing ? 0 : give_frame(r, content, record);
}

void sx_recording_on_jpeg(struct sx_recording *r, sx_recording_decode_fn *decode, void *user)
{
	r->decode = decode;
	r->decode_user = user;
}

/* Decodes a JPEG to the place of its image. Returns 0 or a negative error. */
static int decode_jpeg(struct sx_recording *r, struct sx_span jpeg, const struct image_place *place)
{
	const struct sx_image to = {place->at, (int)place->width, (int)place->height, place->pitch,
				    SX_PIXEL_U8};
	struct sx_image_notes notes;
	struct sx_why why;

	memset(place->at, 0, place->bytes); /* the bytes between width and pitch */
	if (r->decode)
		return r->decode(r->decode_user, jpeg.at, jpeg.bytes, place->at, place->width, place->height,
				 place->pitch);
	return sx_jpeg_decode(jpeg.at, jpeg.bytes, &to, &notes, &why);
}

/* Takes a JPEG into the frame. */
static int take_jpeg(struct sx_recording *r, unsigned kind, struct sx_span content, struct sx_span data,
		     struct sx_record *record)
{
	struct image_place place;
	struct sx_span jpeg;
	struct sx_why why;
	int e;

	r->state.jpeg_images++;
	if (!r->decode && sx_jpeg_check(&why) < 0)
		return 0;
	place = place_of(r, kind, record->time_ns);
	if (!place.at)
		return 0;
	if (!place.width || !place.height || place.width > place.pitch ||
	    (uint64_t)place.pitch * place.height != place.bytes || !sx_jpeg_parse(data, &jpeg))
		return frame_damage(r, content, "an image is not the one of its frame", record);
	if (!sx_affords_expansion(r, place.bytes))
		return frame_damage(r, content, "images expand to far more than the file", record);
	r->expanded += place.bytes;
	r->unasked += place.bytes;
	e = decode_jpeg(r, jpeg, &place);
	if (e == -ENOMEM)
		return e;
	if (e < 0)
		return frame_damage(r, content, "an image is a damaged JPEG", record);
	r->jpeg[kind].count = 0;
	sx_bytes_add(&r->jpeg[kind], jpeg.at, jpeg.bytes);
	return r->jpeg[kind].failed ? -ENOMEM : took_image(r, kind, content, record);
}

/* Copies an image to its place in the frame. */
static int take_image(struct sx_recording *r, unsigned kind, struct sx_span content, struct sx_span data,
		      struct sx_record *record)
{
	const struct image_place place = place_of(r, kind, record->time_ns);
	struct stixel_image image;
	size_t bytes;

	if (!place.at)
		return 0;
	if (!sx_image_parse(data, &image, &bytes) || bytes != place.bytes || image.width != place.width ||
	    image.height != place.height || image.pitch != place.pitch)
		return frame_damage(r, content, "an image is not the one of its frame", record);
	if (bytes)
		memcpy(place.at, image.data, bytes);
	return took_image(r, kind, content, record);
}

/* ---- messages ---- */

static int take_event(struct sx_recording *r, struct sx_span content, struct sx_span data,
		      struct sx_record *record)
{
	if (!sx_event_parse(data, &r->event))
		return frame_damage(r, content, "an event contradicts itself", record);
	switch (r->event.kind) {
	case SX_EVENT_PUBLISHER:
		record->kind = SX_RECORD_PUBLISHER;
		record->publisher = &r->event.publisher;
		return 1;
	case SX_EVENT_GAP:
		record->kind = SX_RECORD_GAP;
		record->gap = &r->event.gap;
		return 1;
	case SX_EVENT_END:
		r->state.end_known = true;
		r->state.end = r->event.end;
		return 0;
	default:
		return 0;
	}
}

int sx_content_message(struct sx_recording *r, struct sx_span content, struct sx_record *record)
{
	struct sx_cursor in = {content.at, content.bytes, false};
	const unsigned channel = (unsigned)sx_cursor_number(&in, 2), role = r->role[channel];
	struct sx_span data;

	if (role == ROLE_NONE)
		return 0;
	sx_cursor_number(&in, 4); /* skips the sequence number */
	*record = (struct sx_record){.offset = r->state.offset, .time_ns = (int64_t)sx_cursor_number(&in, 8)};
	sx_cursor_number(&in, 8); /* skips the publish time */
	if (in.failed)
		return frame_damage(r, content, "a message contradicts itself", record);
	data = sx_cursor_take(&in, in.left);
	if (role > ROLE_JPEG)
		return take_jpeg(r, role - ROLE_JPEG, content, data, record);
	if (role > ROLE_IMAGE)
		return take_image(r, role - ROLE_IMAGE, content, data, record);
	if (r->missing) {
		int e = give_bare(r, record);

		return e < 0 ? e : 2;
	}
	return role == ROLE_EVENTS ? take_event(r, content, data, record)
				   : take_frame(r, content, data, record);
}

uint64_t sx_content_expands_to(const struct sx_mcap_chunk *c)
{
	return sx_span_is(c->compression, "zstd") && c->plain_bytes <= CHUNK_MAX &&
			       sx_codec_may_expand(c->records.bytes, c->plain_bytes)
		       ? c->plain_bytes
		       : 0;
}

int sx_content_records(struct sx_recording *r, const struct sx_mcap_chunk *c, struct sx_cursor *records)
{
	const void *content = c->records.at;
	uint64_t bytes = c->records.bytes;
	int e;

	if (c->plain_bytes > CHUNK_MAX)
		return -EBADMSG;
	if (c->compression.bytes) {
		if (!sx_span_is(c->compression, "zstd"))
			return sx_span_is(c->compression, "lz4") ? -ENOPKG : -EBADMSG;
		e = sx_codec_decode(r->codec, &content, bytes, c->plain_bytes);
		if (e < 0)
			return e;
		bytes = c->plain_bytes;
	}
	if (bytes != c->plain_bytes || (c->crc && sx_mcap_crc(0, content, bytes) != c->crc))
		return -EBADMSG;
	*records = (struct sx_cursor){content, bytes, false};
	return 0;
}
