/*
 * Pair slots of sources that generate or read their images, and the pace at which the slots are given out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SLOTS_H
#define SX_CAPTURE_SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/image.h"
#include "base/why.h"
#include "capture/source.h"

#define SX_SLOTS_MAX 64
#define SX_FPS_MAX 1000.0

/*
 * Memory of one pair. block: whole pages, so that an engine can pin them and copy both images at once. whole:
 * the images in the block, left before right. left and right: the two halves (side-by-side, top-bottom) or
 * the two images.
 */
struct sx_slot {
	struct sx_block block;
	struct sx_image whole[2];
	struct sx_image left, right;
	/* taken and not released; source v4l2 does not use it, because its leases own the slots */
	atomic_bool busy;
};

/*
 * The slots of a source. fd is readable when a slot may be taken. With a pace, fd is a timer of that rate.
 * Without a pace, fd is a semaphore that counts the free slots, so that the caller sleeps instead of spinning
 * while every slot is in use.
 */
struct sx_slots {
	struct sx_slot *slot;
	int count;
	int fd;
	bool paced;
	uint64_t missed; /* pairs that fell due without a free slot; for the capture thread only */
	/*
	 * Number of slots for pairs that are filled before they are due. The caller may hold the other slots.
	 * The owner sets it before the pace.
	 */
	int spare;
};

/*
 * Allocates all memory. The slots have no pace yet. width, height: size of one image of the pair, px. Returns
 * 0 or a negative errno with a message. sx_slots_finish() accepts a zeroed and a partly initialised object,
 * but not uninitialised memory.
 */
int sx_slots_init(struct sx_slots *s, int count, enum sx_layout layout, int width, int height,
		  enum sx_pixel pixel, struct sx_why *why);
/*
 * Sets the pace. Call it once, before the first slot is taken. fps: slots that fall due per second; 0: a slot
 * is due when it is free. Returns as sx_slots_init().
 */
int sx_slots_pace(struct sx_slots *s, double fps, struct sx_why *why);
/*
 * Sets a pace without a rate: a slot is due when the caller says so. The first one is due at once. Call it
 * instead of sx_slots_pace(). Returns as sx_slots_init().
 */
int sx_slots_pace_by_hand(struct sx_slots *s, struct sx_why *why);
/* Thread: capture. Sets when the next slot is due, ns of CLOCK_MONOTONIC, after sx_slots_pace_by_hand(). */
void sx_slots_due(struct sx_slots *s, int64_t ns);
void sx_slots_finish(struct sx_slots *s);

/*
 * Returns the image of one side (0 left, 1 right) in an image that holds both. width, height: size of one
 * side, px. Interleaved images are treated as YUYV pixels whose luminance is one side. The image of the
 * second side begins one byte later; so the byte after the whole image belongs to it and must be readable.
 */
struct sx_image sx_layout_half(const struct sx_image *whole, enum sx_layout layout, int width, int height,
			       int side);

/* Returns the memory block of each slot, like sx_source_block(). */
bool sx_slots_block(const struct sx_slots *s, int index, struct sx_block *ret);

/*
 * Thread: capture. Returns a free slot if one is due, otherwise NULL. With a pace, pairs that fell due since
 * the last call without a free slot are lost, as with a camera, and counted as missed.
 */
struct sx_slot *sx_slots_take(struct sx_slots *s);

/*
 * Thread: capture. sx_slots_take() in two steps. is_due: returns true if a slot is due and the caller does not
 * hold as many as it may; reserved: slots that were reserved and not given out. reserve: takes a free slot, due
 * or not; NULL: none. unreserve: gives back a slot that was not given out.
 */
bool sx_slots_is_due(struct sx_slots *s, int reserved);
struct sx_slot *sx_slots_reserve(struct sx_slots *s);
void sx_slots_unreserve(struct sx_slots *s, struct sx_slot *slot);

/* Releases a slot. Any thread. */
void sx_slots_release(struct sx_slots *s, struct sx_slot *slot);

#endif
