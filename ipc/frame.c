/*
 * Puts a frame together. What is packed here passes stixel_parse(), or is refused.
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
#include "ipc/check.h"
#include "ipc/crc32c.h"

static uint64_t round_up(uint64_t n)
{
	return (n + 7) & ~UINT64_C(7);
}

static uint64_t stixels_offset(uint32_t columns)
{
	return round_up(sizeof(struct stixel_frame_header) + ((uint64_t)columns + 1) * sizeof(uint32_t));
}

size_t sx_frame_bytes(uint32_t columns, uint32_t stixels, size_t plane_bytes)
{
	uint64_t bytes;

	if (plane_bytes > STIXEL_FRAME_BYTES_MAX)
		return 0;
	bytes = stixels_offset(columns) + (uint64_t)stixels * sizeof(struct stixel) + round_up(plane_bytes);
	return bytes <= STIXEL_FRAME_BYTES_MAX ? (size_t)bytes : 0;
}

/* Writes the header to the frame, sum included; everything before the plane lies there already. */
static void seal(uint8_t *frame, struct stixel_frame_header *h)
{
	memcpy(frame, h, sizeof(*h));
	h->checksum = sx_frame_checksum(frame, h);
	memcpy(frame, h, sizeof(*h));
}

static bool plane_agrees(const struct stixel_frame_header *h, const void *plane)
{
	uint64_t pixel = h->plane_kind == STIXEL_PLANE_DISPARITY ? 2 : 1;

	if (!plane || h->plane_kind == STIXEL_PLANE_NONE)
		return !plane && h->plane_kind == STIXEL_PLANE_NONE;
	return h->plane_kind <= STIXEL_PLANE_LEFT && h->plane_width && h->plane_height &&
	       h->plane_width * pixel <= h->plane_pitch && h->plane_pitch % pixel == 0;
}

static void fill_anchor(struct stixel_frame_header *h)
{
	h->anchor_monotonic_ns = sx_now_ns();
	h->anchor_realtime_ns = sx_clock_ns(CLOCK_REALTIME);
	if (!h->published_ns)
		h->published_ns = h->anchor_monotonic_ns;
}

int64_t sx_frame_pack(void *out, size_t room, struct stixel_frame_header *h, const uint32_t *offsets,
		      const struct stixel *stixels, const void *plane)
{
	uint64_t plane_bytes = plane ? (uint64_t)h->plane_pitch * h->plane_height : 0;
	size_t bytes = sx_frame_bytes(h->columns, h->stixel_count, plane_bytes);
	size_t list_bytes = (size_t)h->stixel_count * sizeof(struct stixel);
	uint8_t *to = out;

	if (!h->number || !h->epoch || h->stage_count > STIXEL_STAGES ||
	    h->road_origin > STIXEL_ROAD_CALIBRATION || !plane_agrees(h, plane) ||
	    !sx_lists_agree(h, offsets, stixels))
		return -EINVAL;
	if (!bytes || bytes > room)
		return -ENOBUFS;
	h->magic = STIXEL_FRAME_MAGIC;
	h->abi_major = STIXEL_ABI_MAJOR;
	h->abi_minor = STIXEL_ABI_MINOR;
	h->header_bytes = sizeof(*h);
	h->frame_bytes = (uint32_t)bytes;
	h->stixels_offset = (uint32_t)stixels_offset(h->columns);
	h->plane_offset = plane ? (uint32_t)(h->stixels_offset + list_bytes) : 0;
	h->plane_bytes = (uint32_t)plane_bytes;
	if (!plane)
		h->plane_width = h->plane_height = h->plane_pitch = 0;
	for (int i = 0; i < STIXEL_STAGES; i++)
		h->stage_name[i][STIXEL_STAGE_NAME_BYTES - 1] = 0;
	fill_anchor(h);

	memset(to + h->stixels_offset - 8, 0, 8); /* the gap behind an even number of offsets */
	memcpy(to + sizeof(*h), offsets, ((size_t)h->columns + 1) * sizeof(uint32_t));
	if (list_bytes)
		memcpy(to + h->stixels_offset, stixels, list_bytes);
	if (plane) {
		memset(to + bytes - 8, 0, 8);
		memcpy(to + h->plane_offset, plane, plane_bytes);
	}
	seal(to, h);
	return (int64_t)bytes;
}

void sx_frame_restamp(void *frame, uint64_t epoch, uint64_t number)
{
	struct stixel_frame_header h;

	memcpy(&h, frame, sizeof(h));
	h.epoch = epoch;
	h.number = number;
	seal(frame, &h);
}

static void drop_plane(struct stixel_frame_header *h)
{
	h->frame_bytes = h->plane_offset;
	h->plane_kind = STIXEL_PLANE_NONE;
	h->plane_width = h->plane_height = h->plane_pitch = h->plane_offset = h->plane_bytes = 0;
	h->flags |= STIXEL_FRAME_PLANE_LEFT_OUT;
}

int64_t sx_frame_shrink(void *out, size_t room, const void *frame)
{
	struct stixel_frame_header h;

	memcpy(&h, frame, sizeof(h));
	if (h.plane_kind)
		drop_plane(&h);
	if (h.frame_bytes > room) {
		h.columns = h.stixel_count = 0;
		h.stixels_offset = (uint32_t)stixels_offset(0);
		h.frame_bytes = h.stixels_offset;
		h.flags |= STIXEL_FRAME_STIXELS_LEFT_OUT;
	}
	if (h.frame_bytes > room)
		return -ENOBUFS;
	/* Without stixels what is copied behind the header is one offset: the first, and that is 0. */
	memcpy(out, frame, h.frame_bytes);
	if (h.flags & STIXEL_FRAME_STIXELS_LEFT_OUT)
		memset((uint8_t *)out + sizeof(h), 0, h.frame_bytes - sizeof(h));
	seal(out, &h);
	return h.frame_bytes;
}

uint64_t sx_epoch_new(void)
{
	uint64_t epoch = 0;

	while (!epoch)
		if (getrandom(&epoch, sizeof(epoch), GRND_NONBLOCK) != (ssize_t)sizeof(epoch))
			/* Before the pool is seeded (early boot): time is as good a name for a life. */
			epoch = (uint64_t)sx_clock_ns(CLOCK_REALTIME) ^ (uint64_t)sx_now_ns() << 20;
	return epoch;
}
