/*
 * Checks a frame from its bytes alone. Every size in it is compared with the given size before it is used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/check.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/contract.h"
#include "ipc/crc32c.h"

/* Columns are counted in 16 bits (struct stixel.column). */
#define COLUMNS_MAX 65536u
/* Largest width and height of an image, px. */
#define SIDE_MAX 65536u

bool sx_lists_agree(const struct stixel_frame_header *h, const uint32_t *offsets, const struct stixel *s)
{
	if (h->columns > COLUMNS_MAX || offsets[0] != 0 || offsets[h->columns] != h->stixel_count)
		return false;
	for (uint32_t u = 0; u < h->columns; u++) {
		if (offsets[u] > offsets[u + 1] || offsets[u + 1] > h->stixel_count)
			return false;
		for (uint32_t i = offsets[u]; i < offsets[u + 1]; i++)
			if (s[i].column != u || s[i].row_top > s[i].row_bottom ||
			    s[i].row_bottom >= h->image_height)
				return false;
	}
	return true;
}

static bool is_covariance(float xx, float xz, float zz)
{
	return isfinite(xx) && isfinite(xz) && isfinite(zz) && xx > 0.0f && zz > 0.0f &&
	       (double)xz * (double)xz < (double)xx * (double)zz;
}

bool sx_object_agrees(const struct stixel_frame_header *h, const struct stixel_object *o)
{
	return isfinite(o->x) && isfinite(o->y) && isfinite(o->z) && o->z > 0.0f && isfinite(o->vx) &&
	       isfinite(o->vz) && is_covariance(o->pxx, o->pxz, o->pzz) &&
	       is_covariance(o->sxx, o->sxz, o->szz) && isfinite(o->width) && o->width >= 0.0f &&
	       isfinite(o->height) && o->height >= 0.0f && isfinite(o->age_s) && o->age_s >= 0.0f &&
	       isfinite(o->unseen_s) && o->unseen_s >= 0.0f && o->left <= o->right &&
	       o->right < h->image_width && o->top <= o->bottom && o->bottom < h->image_height;
}

/* each: size of a record, bytes; newer publishers have larger ones. */
static bool objects_agree(const struct stixel_frame_header *h, const uint8_t *objects, uint32_t count,
			  size_t each, const uint8_t *object_of)
{
	uint32_t last = 0;

	if (count > STIXEL_OBJECTS_MAX)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct stixel_object *o = (const struct stixel_object *)(objects + i * each);

		if (o->id <= last || !sx_object_agrees(h, o))
			return false;
		last = o->id;
	}
	for (uint32_t i = 0; count && i < h->stixel_count; i++)
		if (object_of[i] > count)
			return false;
	return true;
}

bool sx_objects_agree(const struct stixel_frame_header *h, const struct stixel_object *objects,
		      uint32_t count, const uint8_t *object_of)
{
	return (object_of || !count) &&
	       objects_agree(h, (const uint8_t *)objects, count, sizeof(*objects), object_of);
}

uint32_t sx_frame_checksum(const void *frame, const struct stixel_frame_header *h)
{
	const size_t at = offsetof(struct stixel_frame_header, checksum);
	const uint8_t *p = frame;
	size_t end = h->plane_kind ? h->plane_offset : h->frame_bytes;
	uint32_t crc = sx_crc32c(0, p, at);

	sx_must_or(return 0, end, >=, at + 4);
	crc = sx_crc32c(crc, "\0\0\0\0", 4);
	return sx_crc32c(crc, p + at + 4, end - at - 4);
}

/* True if a plane lies inside the frame, after everything before it, or if there is no plane. */
static bool plane_fits(const struct stixel_frame_header *h, const struct stixel_image *image, uint32_t offset,
		       uint32_t bytes, uint64_t before)
{
	uint64_t pixel = image->kind == STIXEL_PLANE_DISPARITY ? 2 : 1;

	if (image->kind == STIXEL_PLANE_NONE)
		return offset == 0 && bytes == 0;
	return offset % 8 == 0 && offset >= before && offset <= h->frame_bytes &&
	       bytes <= h->frame_bytes - offset && (uint64_t)image->pitch * image->height == bytes &&
	       image->width >= 1 && image->width <= SIDE_MAX && image->height >= 1 &&
	       image->height <= SIDE_MAX && image->width * pixel <= image->pitch && image->pitch % pixel == 0;
}

static bool planes_fit(const struct stixel_frame_header *h)
{
	const struct stixel_image first = {h->plane_kind, h->plane_width, h->plane_height, h->plane_pitch,
					   NULL};
	const struct stixel_image second = {h->plane2_kind, h->plane2_width, h->plane2_height,
					    h->plane2_pitch, NULL};

	if (second.kind && (!first.kind || first.kind == second.kind))
		return false;
	return plane_fits(h, &first, h->plane_offset, h->plane_bytes, h->stixels_offset) &&
	       plane_fits(h, &second, h->plane2_offset, h->plane2_bytes,
			  (uint64_t)h->plane_offset + h->plane_bytes);
}

/* True if the records of motion lie behind the stixels, before the planes, or if there are none. */
static bool motion_fits(const struct stixel_frame_header *h, uint64_t stixels_end, uint64_t end)
{
	if (h->header_bytes < offsetof(struct stixel_frame_header, range_applied_px) + sizeof(float) ||
	    h->motion_offset == 0)
		return true;
	return h->motion_offset % 8 == 0 && h->motion_offset >= stixels_end &&
	       h->motion_offset + (uint64_t)h->stixel_count * sizeof(struct stixel_motion) <= end;
}

static bool has_objects(const struct stixel_frame_header *h)
{
	return sx_header_has_objects(h) && h->objects_offset != 0;
}

/* True if two parts of a frame have no byte in common. */
static bool are_apart(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
	return a_bytes == 0 || b_bytes == 0 || a + a_bytes <= b || b + b_bytes <= a;
}

/* True if the objects lie behind the stixels, before the planes, apart from the records of motion; or there are none. */
static bool objects_fit(const struct stixel_frame_header *h, uint64_t stixels_end, uint64_t end)
{
	uint64_t table, of, records;

	if (!has_objects(h)) /* an older header ends before these fields */
		return true;
	table = (uint64_t)h->object_count * h->object_bytes;
	of = h->object_count ? h->stixel_count : 0;
	records = h->motion_offset ? (uint64_t)h->stixel_count * sizeof(struct stixel_motion) : 0;
	if (h->objects_offset % 8 != 0 || h->objects_offset < stixels_end ||
	    h->objects_offset + table > end || h->object_count > STIXEL_OBJECTS_MAX ||
	    h->object_bytes % 8 != 0 || h->object_bytes < sizeof(struct stixel_object) ||
	    !are_apart(h->objects_offset, table, h->motion_offset, records))
		return false;
	if (!h->object_count)
		return h->object_of_offset == 0;
	return h->object_of_offset >= stixels_end && h->object_of_offset + of <= end &&
	       are_apart(h->object_of_offset, of, h->objects_offset, table) &&
	       are_apart(h->object_of_offset, of, h->motion_offset, records);
}

static bool sizes_fit(const struct stixel_frame_header *h, size_t bytes)
{
	uint64_t offsets_end = h->header_bytes + ((uint64_t)h->columns + 1) * sizeof(uint32_t);
	uint64_t stixels_end = h->stixels_offset + (uint64_t)h->stixel_count * sizeof(struct stixel);

	return h->frame_bytes <= bytes && h->frame_bytes % 8 == 0 &&
	       h->header_bytes >= STIXEL_HEADER_BYTES_LEAST && h->header_bytes % 8 == 0 &&
	       h->columns <= COLUMNS_MAX && offsets_end <= h->stixels_offset && h->stixels_offset % 8 == 0 &&
	       planes_fit(h) && stixels_end <= (h->plane_kind ? h->plane_offset : h->frame_bytes) &&
	       motion_fits(h, stixels_end, h->plane_kind ? h->plane_offset : h->frame_bytes) &&
	       objects_fit(h, stixels_end, h->plane_kind ? h->plane_offset : h->frame_bytes);
}

static bool names_end(const struct stixel_frame_header *h)
{
	if (h->stage_count > STIXEL_STAGES)
		return false;
	for (int i = 0; i < STIXEL_STAGES; i++)
		if (h->stage_name[i][STIXEL_STAGE_NAME_BYTES - 1] != 0)
			return false;
	return true;
}

int sx_frame_check(struct stixel_frame *frame, const void *data, size_t bytes)
{
	const struct stixel_frame_header *h = data;
	const uint8_t *base = data;

	if (!data || (uintptr_t)data % 8 != 0)
		return -EINVAL;
	if (bytes < STIXEL_HEADER_BYTES_LEAST || h->magic != STIXEL_FRAME_MAGIC)
		return -EBADMSG;
	if (h->abi_major != STIXEL_ABI_MAJOR)
		return -EPROTONOSUPPORT;
	if (!sizes_fit(h, bytes) || sx_frame_checksum(data, h) != h->checksum || !names_end(h))
		return -EBADMSG;
	memset(frame, 0, sizeof(*frame));
	frame->header = h;
	frame->offsets = (const uint32_t *)(base + h->header_bytes);
	frame->stixels = (const struct stixel *)(base + h->stixels_offset);
	frame->plane = h->plane_kind ? base + h->plane_offset : NULL;
	frame->bytes = data;
	if (!sx_lists_agree(h, frame->offsets, frame->stixels) ||
	    (has_objects(h) && !objects_agree(h, base + h->objects_offset, h->object_count, h->object_bytes,
					      base + h->object_of_offset))) {
		memset(frame, 0, sizeof(*frame));
		return -EBADMSG;
	}
	return 0;
}

static bool is_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

int sx_ring_check(const struct stixel_ring_header *h, uint64_t magic, uint64_t object_bytes)
{
	uint64_t slots_end = h->slots_offset + (uint64_t)h->slot_count * h->slot_stride;

	if (h->magic != magic)
		return -EPROTO;
	if (h->endian != STIXEL_ENDIAN || h->abi_major != STIXEL_ABI_MAJOR)
		return -EPROTONOSUPPORT;
	if (h->header_bytes < sizeof(*h) || h->live_offset < h->header_bytes || h->live_offset % 64 ||
	    h->live_offset + (uint64_t)sizeof(struct stixel_ring_live) > h->slots_offset)
		return -EPROTO;
	if (!is_power_of_two(h->slot_count) || h->slot_count < 2 || h->slots_offset % 64 ||
	    h->slot_stride % 64 || h->slot_header_bytes < sizeof(struct stixel_ring_slot) ||
	    h->slot_header_bytes % 8 || h->frame_capacity > STIXEL_FRAME_BYTES_MAX ||
	    h->frame_capacity < STIXEL_HEADER_BYTES_LEAST ||
	    (uint64_t)h->slot_header_bytes + h->frame_capacity > h->slot_stride)
		return -EPROTO;
	if (slots_end > h->total_bytes || h->total_bytes > object_bytes || h->total_bytes > SIZE_MAX ||
	    !h->epoch)
		return -EPROTO;
	return 0;
}
