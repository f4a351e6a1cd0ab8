/*
 * A second implementation of the check of a ring's header, rule by rule as in include/stixel.h. If this check
 * and ipc/check.c disagree, one of them is wrong.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "include/stixel.h"
#include "ipc/check.h"
#include "tests/fuzz/fuzz.h"

/* A part of an object: its offset, its size, and its alignment in bytes. */
struct part {
	uint64_t at, bytes, alignment;
};

static bool lies_within(const struct part *p, uint64_t begin, uint64_t end)
{
	return p->at % p->alignment == 0 && p->at >= begin && p->at <= end && p->bytes <= end - p->at;
}

/* True if each frame is in its own slot, after the slot's header. */
static bool slots_are_sound(const struct stixel_ring_header *h)
{
	const struct part frame = {h->slot_header_bytes, h->frame_capacity, 8};
	uint64_t counts = 0;

	for (int bit = 1; bit < 32; bit++)
		counts += h->slot_count == UINT32_C(1) << bit;
	return counts == 1 && lies_within(&frame, sizeof(struct stixel_ring_slot), h->slot_stride) &&
	       h->slot_stride % 64 == 0 && h->frame_capacity >= STIXEL_HEADER_BYTES_LEAST &&
	       h->frame_capacity <= STIXEL_FRAME_BYTES_MAX;
}

static bool is_sound(const struct stixel_ring_header *h, uint64_t object_bytes)
{
	const struct part live = {h->live_offset, sizeof(struct stixel_ring_live), 64};
	const struct part slots = {h->slots_offset, (uint64_t)h->slot_stride * h->slot_count, 64};

	return h->header_bytes >= sizeof(*h) && h->epoch != 0 && h->total_bytes <= object_bytes &&
	       slots_are_sound(h) && lies_within(&live, h->header_bytes, h->slots_offset) &&
	       lies_within(&slots, 0, h->total_bytes);
}

int __real_sx_ring_check(const struct stixel_ring_header *h, uint64_t magic, uint64_t object_bytes);
int __wrap_sx_ring_check(const struct stixel_ring_header *h, uint64_t magic, uint64_t object_bytes);
int __wrap_sx_ring_check(const struct stixel_ring_header *h, uint64_t magic, uint64_t object_bytes)
{
	const int r = __real_sx_ring_check(h, magic, object_bytes);
	const bool ours = h->magic == magic && h->endian == STIXEL_ENDIAN && h->abi_major == STIXEL_ABI_MAJOR;

	if ((r == 0) != (ours && is_sound(h, object_bytes)))
		fuzz_fail("a header of a ring: %d, and by its rules it is %s", r, r ? "sound" : "not sound");
	return r;
}
