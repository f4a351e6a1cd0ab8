/*
 * Packs a frame. A packed frame passes stixel_parse(); data that would not pass is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/frame.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "base/contract.h"
#include "ipc/check.h"
#include "ipc/crc32c.h"

static uint64_t round_up(uint64_t n)
{
	return (n + 7) & ~UINT64_C(7);
}

static uint64_t stixels_offset(uint64_t header_bytes, uint32_t columns)
{
	return round_up(header_bytes + ((uint64_t)columns + 1) * sizeof(uint32_t));
}

static uint64_t pixel_bytes(unsigned kind)
{
	return kind == STIXEL_PLANE_DISPARITY ? 2 : 1;
}

static uint64_t row_bytes(unsigned kind, uint32_t width)
{
	return round_up(width * pixel_bytes(kind));
}

size_t sx_frame_image_bytes(unsigned kinds, uint32_t width, uint32_t height)
{
	uint64_t row = 0;

	for (unsigned kind = STIXEL_PLANE_DISPARITY; kind <= STIXEL_PLANE_RIGHT; kind++)
		if (kinds & 1u << kind)
			row += row_bytes(kind, width);
	/* keep sizes that are too large for any frame too large, instead of letting them wrap */
	return height && row > STIXEL_FRAME_BYTES_MAX / height ? STIXEL_FRAME_BYTES_MAX + 1u
							       : (size_t)(row * height);
}

size_t sx_frame_bytes(uint32_t columns, uint32_t stixels, size_t image_bytes)
{
	uint64_t bytes;

	if (image_bytes > STIXEL_FRAME_BYTES_MAX)
		return 0;
	bytes = stixels_offset(sizeof(struct stixel_frame_header), columns) +
		(uint64_t)stixels * sizeof(struct stixel) + round_up(image_bytes);
	return bytes <= STIXEL_FRAME_BYTES_MAX ? (size_t)bytes : 0;
}

/* Returns the size of the table of objects and of the bytes of the stixels. */
static uint64_t objects_bytes(uint32_t objects, uint32_t stixels)
{
	return objects ? objects * sizeof(struct stixel_object) + round_up(stixels) : 0;
}

size_t sx_frame_bytes_most(uint32_t columns, uint32_t stixels, size_t image_bytes)
{
	const uint64_t motion =
		objects_bytes(STIXEL_OBJECTS_MAX, stixels) + (uint64_t)stixels * sizeof(struct stixel_motion);
	const size_t bare = sx_frame_bytes(columns, stixels, image_bytes);

	if (!bare)
		return 0;
	return motion < STIXEL_FRAME_BYTES_MAX - bare ? bare + (size_t)motion : STIXEL_FRAME_BYTES_MAX;
}

/* Returns the size of our header struct in a checked frame of any version. Older publishers have less of it. */
static size_t header_bytes(const struct stixel_frame_header *h)
{
	return h->header_bytes < sizeof(*h) ? h->header_bytes : sizeof(*h);
}

static void forget_objects(struct stixel_frame_header *h)
{
	h->objects_offset = h->object_of_offset = 0;
	h->object_count = h->object_bytes = 0;
	h->motion_reserved = 0;
}

static void load_header(struct stixel_frame_header *h, const void *frame)
{
	memset(h, 0, sizeof(*h));
	memcpy(h, frame, STIXEL_HEADER_BYTES_LEAST);
	memcpy(h, frame, header_bytes(h));
	if (!sx_header_has_objects(h)) /* sx_frame_check() has not looked at what the header has of them */
		forget_objects(h);
}

/*
 * Writes the header with its checksum to the frame. Everything before the planes must already be in the
 * frame.
 */
static void seal(uint8_t *frame, struct stixel_frame_header *h)
{
	sx_must_or(return, h->frame_bytes, >=, header_bytes(h));
	memcpy(frame, h, header_bytes(h));
	h->checksum = sx_frame_checksum(frame, h);
	memcpy(frame, h, header_bytes(h));
}

static bool images_agree(const struct stixel_image *images, int count)
{
	if (count < 0 || count > SX_FRAME_IMAGES || (count == 2 && images[0].kind == images[1].kind))
		return false;
	for (int i = 0; i < count; i++)
		if (images[i].kind == STIXEL_PLANE_NONE || images[i].kind > STIXEL_PLANE_RIGHT ||
		    !images[i].data || !images[i].width || !images[i].height ||
		    images[i].width * pixel_bytes(images[i].kind) > images[i].pitch)
			return false;
	return true;
}

/* Fills the header fields of the images, which follow one another from offset on. */
static void place_images(struct stixel_frame_header *h, const struct stixel_image *images, int count,
			 uint64_t offset)
{
	struct stixel_image is[SX_FRAME_IMAGES] = {0};
	uint64_t bytes[SX_FRAME_IMAGES] = {0}, pitch[SX_FRAME_IMAGES] = {0};

	sx_must_or(return, count, <=, SX_FRAME_IMAGES);
	for (int i = 0; i < count; i++) {
		is[i] = images[i];
		pitch[i] = row_bytes(is[i].kind, is[i].width);
		bytes[i] = pitch[i] * is[i].height;
	}
	h->plane_kind = is[0].kind;
	h->plane_width = is[0].width;
	h->plane_height = is[0].height;
	h->plane_pitch = (uint32_t)pitch[0];
	h->plane_offset = count > 0 ? (uint32_t)offset : 0;
	h->plane_bytes = (uint32_t)bytes[0];
	h->plane2_kind = is[1].kind;
	h->plane2_width = is[1].width;
	h->plane2_height = is[1].height;
	h->plane2_pitch = (uint32_t)pitch[1];
	h->plane2_offset = count > 1 ? (uint32_t)(offset + bytes[0]) : 0;
	h->plane2_bytes = (uint32_t)bytes[1];
}

/* Copies an image. Fills the padding of each row with 0, so that every byte of a frame is defined. */
static uint8_t *copy_image(uint8_t *to, const struct stixel_image *image)
{
	size_t row = image->width * pixel_bytes(image->kind), pitch = round_up(row);

	sx_must_or(return to, image->pitch, >=, row);
	for (uint32_t y = 0; y < image->height; y++, to += pitch) {
		memcpy(to, (const uint8_t *)image->data + (size_t)y * image->pitch, row);
		memset(to + row, 0, pitch - row);
	}
	return to;
}

static void fill_anchor(struct stixel_frame_header *h)
{
	h->anchor_monotonic_ns = sx_now_ns();
	h->anchor_realtime_ns = sx_clock_ns(CLOCK_REALTIME);
	if (!h->published_ns)
		h->published_ns = h->anchor_monotonic_ns;
}

static void forget_motion(struct stixel_frame_header *h)
{
	h->motion_offset = 0;
	forget_objects(h);
}

/*
 * Fills the header fields of objects and records of motion, as many as there is room for behind the stixels. bytes:
 * size of the frame without them. Returns their size.
 */
static size_t place_motion(struct stixel_frame_header *h, const struct sx_frame_motion *m, size_t bytes,
			   size_t room)
{
	const size_t most = room < STIXEL_FRAME_BYTES_MAX ? room : STIXEL_FRAME_BYTES_MAX;
	const size_t records = m->stixels ? h->stixel_count * sizeof(struct stixel_motion) : 0;
	const size_t table = (size_t)objects_bytes(m->object_count, h->stixel_count);
	uint32_t at = h->stixels_offset + h->stixel_count * (uint32_t)sizeof(struct stixel);
	size_t taken = 0;

	sx_must_or(return 0, bytes, <=, most);
	if (m->objects && table <= most - bytes) {
		h->objects_offset = at;
		h->object_count = (uint16_t)m->object_count;
		h->object_bytes = sizeof(struct stixel_object);
		if (m->object_count)
			h->object_of_offset = at + m->object_count * (uint32_t)sizeof(struct stixel_object);
		at += (uint32_t)table;
		taken = table;
	}
	if (records && records <= most - bytes - taken) {
		h->motion_offset = at;
		taken += records;
	}
	return taken;
}

/* Copies objects and records of motion to the places that the header has. */
static void copy_motion(uint8_t *frame, const struct stixel_frame_header *h, const struct sx_frame_motion *m)
{
	if (h->object_count) {
		uint8_t *of = frame + h->object_of_offset;

		memcpy(frame + h->objects_offset, m->objects, h->object_count * sizeof(*m->objects));
		memcpy(of, m->object_of, h->stixel_count);
		memset(of + h->stixel_count, 0, round_up(h->stixel_count) - h->stixel_count);
	}
	if (h->motion_offset)
		memcpy(frame + h->motion_offset, m->stixels, h->stixel_count * sizeof(*m->stixels));
}

int64_t sx_frame_pack(void *out, size_t room, struct stixel_frame_header *h, const uint32_t *offsets,
		      const struct stixel *stixels, const struct sx_frame_motion *motion,
		      const struct stixel_image *images, int image_count)
{
	static const struct sx_frame_motion none = {0};
	const size_t list_bytes = (size_t)h->stixel_count * sizeof(struct stixel);
	const struct sx_frame_motion *m = motion ? motion : &none;
	uint64_t image_bytes = 0;
	size_t bytes, motion_bytes;
	uint8_t *to = out, *at;

	if (!h->number || !h->epoch || h->stage_count > STIXEL_STAGES ||
	    h->road_origin > STIXEL_ROAD_CALIBRATION || !images_agree(images, image_count) ||
	    !sx_lists_agree(h, offsets, stixels) ||
	    (m->objects && !sx_objects_agree(h, m->objects, m->object_count, m->object_of)))
		return -EINVAL;
	for (int i = 0; i < image_count; i++)
		image_bytes += sx_frame_image_bytes(1u << images[i].kind, images[i].width, images[i].height);
	bytes = sx_frame_bytes(h->columns, h->stixel_count, image_bytes);
	if (!bytes || bytes > room)
		return -ENOBUFS;
	h->magic = STIXEL_FRAME_MAGIC;
	h->abi_major = STIXEL_ABI_MAJOR;
	h->abi_minor = STIXEL_ABI_MINOR;
	h->header_bytes = sizeof(*h);
	h->stixels_offset = (uint32_t)stixels_offset(sizeof(*h), h->columns);
	forget_motion(h);
	motion_bytes = place_motion(h, m, bytes, room);
	bytes += motion_bytes;
	h->frame_bytes = (uint32_t)bytes;
	place_images(h, images, image_count, h->stixels_offset + list_bytes + motion_bytes);
	for (int i = 0; i < STIXEL_STAGES; i++)
		h->stage_name[i][STIXEL_STAGE_NAME_BYTES - 1] = 0;
	fill_anchor(h);

	memset(to + h->stixels_offset - 8, 0, 8); /* the gap after an even number of offsets */
	memcpy(to + sizeof(*h), offsets, ((size_t)h->columns + 1) * sizeof(uint32_t));
	if (list_bytes)
		memcpy(to + h->stixels_offset, stixels, list_bytes);
	copy_motion(to, h, m);
	at = to + h->stixels_offset + list_bytes + motion_bytes;
	for (int i = 0; i < image_count; i++)
		at = copy_image(at, &images[i]);
	sx_must_or(return -ENOBUFS, at - to, <=, bytes);
	seal(to, h);
	return (int64_t)bytes;
}

void sx_frame_restamp(void *frame, uint64_t epoch, uint64_t number)
{
	struct stixel_frame_header h;

	sx_must_or(return, number, !=, 0);
	load_header(&h, frame);
	h.epoch = epoch;
	h.number = number;
	seal(frame, &h);
}

static void drop_images(struct stixel_frame_header *h)
{
	sx_must_or(return, h->plane_offset, <=, h->frame_bytes);
	h->frame_bytes = h->plane_offset;
	place_images(h, NULL, 0, 0);
	h->flags |= STIXEL_FRAME_PLANE_LEFT_OUT;
}

int64_t sx_frame_shrink(void *out, size_t room, const void *frame)
{
	struct stixel_frame_header h;
	bool bare;

	load_header(&h, frame);
	if (h.plane_kind)
		drop_images(&h);
	/* in frames of sx_frame_pack() the records of stixels are the last part now, and the objects the part before */
	if (h.frame_bytes > room && h.motion_offset && h.motion_offset >= h.objects_offset &&
	    h.motion_offset >= h.object_of_offset) {
		h.frame_bytes = h.motion_offset;
		h.motion_offset = 0;
	}
	if (h.frame_bytes > room && h.objects_offset) {
		h.frame_bytes = h.objects_offset;
		forget_motion(&h);
	}
	bare = h.frame_bytes > room; /* the flag may be set in a frame that has stixels */
	if (bare) {
		forget_motion(&h);
		h.columns = h.stixel_count = 0;
		h.stixels_offset = (uint32_t)stixels_offset(h.header_bytes, 0);
		h.frame_bytes = h.stixels_offset;
		h.flags |= STIXEL_FRAME_STIXELS_LEFT_OUT;
	}
	if (h.frame_bytes > room)
		return -ENOBUFS;
	/* Without stixels this copies one offset after the header: the first one, which is 0. */
	memcpy(out, frame, h.frame_bytes);
	if (bare)
		memset((uint8_t *)out + h.header_bytes, 0, h.frame_bytes - h.header_bytes);
	seal(out, &h);
	return h.frame_bytes;
}

int64_t sx_frame_keep_images(void *out, size_t room, const struct stixel_frame *frame, unsigned kinds)
{
	const uint32_t there[SX_FRAME_IMAGES] = {frame->header->plane_kind, frame->header->plane2_kind};
	struct stixel_image kept[SX_FRAME_IMAGES];
	struct stixel_frame_header h;
	uint64_t bytes;
	uint8_t *at;
	int n = 0;

	for (int i = 0; i < SX_FRAME_IMAGES; i++)
		if (there[i] && kinds >> (there[i] & 31) & 1 && stixel_image(frame, there[i], &kept[n]))
			n++;
	if (n == 0)
		return sx_frame_shrink(out, room, frame->bytes);
	if (!images_agree(kept, n))
		return -EINVAL;
	load_header(&h, frame->bytes);
	bytes = h.plane_offset;
	for (int i = 0; i < n; i++)
		bytes += sx_frame_image_bytes(1u << kept[i].kind, kept[i].width, kept[i].height);
	if (bytes > room)
		return -ENOBUFS;
	memcpy(out, frame->bytes, h.plane_offset);
	at = (uint8_t *)out + h.plane_offset;
	place_images(&h, kept, n, h.plane_offset);
	h.frame_bytes = (uint32_t)bytes;
	for (int i = 0; i < n; i++)
		at = copy_image(at, &kept[i]);
	seal(out, &h);
	return h.frame_bytes;
}

uint64_t sx_epoch_new(void)
{
	uint64_t epoch = 0;

	while (!epoch)
		if (getrandom(&epoch, sizeof(epoch), GRND_NONBLOCK) != (ssize_t)sizeof(epoch))
			/*
			 * The random pool is not seeded yet (early boot): times give a number that is just as
			 * unique.
			 */
			epoch = (uint64_t)sx_clock_ns(CLOCK_REALTIME) ^ (uint64_t)sx_now_ns() << 20;
	return epoch;
}
