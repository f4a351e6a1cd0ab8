/*
 * Pair slots of the sources that make or read their images, and the pace at which they are given out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SLOTS_H
#define SX_CAPTURE_SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/image.h"
#include "capture/source.h"

#define SX_SLOTS_MAX 64
#define SX_FPS_MAX 1000.0

/*
 * block: the memory of the pair, whole pages: an engine can pin it, and bring both images in one copy. whole:
 * the images in it, left before right; left and right: its halves (side-by-side, top-bottom), or the two
 * images.
 */
struct sx_slot {
	struct sx_block block;
	struct sx_image whole[2];
	struct sx_image left, right;
	atomic_bool
		busy; /* taken and not released; of no meaning to source v4l2, whose tickets own the slots */
};

/*
 * fd polls readable when a slot may be taken: with a pace a timer of that rate; without one a semaphore that
 * counts the free slots, so that a taker with every slot in use sleeps instead of spinning.
 */
struct sx_slots {
	struct sx_slot *slot;
	int count;
	int fd;
	bool paced;
	uint64_t missed; /* pairs that fell due and found no free slot; the capture thread's */
};

/*
 * Takes all memory, and has no pace yet. width, height: of one image of the pair. Returns 0 or negative errno
 * (with a sentence); sx_slots_finish() accepts a zeroed and a half-made one, but not one that was never
 * initialised.
 */
int sx_slots_init(struct sx_slots *s, int count, enum sx_layout layout, int width, int height,
		  enum sx_pixel pixel, char *why, size_t why_bytes);
/* Once, before the first is taken: fps slots a second fall due; 0: whenever one is free. Errors likewise. */
int sx_slots_pace(struct sx_slots *s, double fps, char *why, size_t why_bytes);
void sx_slots_finish(struct sx_slots *s);

/*
 * The image of one side (0 left, 1 right) in one that holds both; width, height: of one side. Interleaved
 * bytes are an image of YUYV pixels, of which those of one side are the luminance; the second side's begins a
 * byte later, and so the byte behind the whole image belongs to it and has to be readable.
 */
struct sx_image sx_layout_half(const struct sx_image *whole, enum sx_layout layout, int width, int height,
			       int side);

/* As sx_source_block(): one for each slot. */
bool sx_slots_block(const struct sx_slots *s, int index, struct sx_block *ret);

/*
 * Thread: capture. A free slot if one is due, else NULL. With a pace what fell due since it was asked last
 * and finds no free slot is lost, as in a camera, and counted as missed.
 */
struct sx_slot *sx_slots_take(struct sx_slots *s);

/* Any thread. */
void sx_slots_release(struct sx_slots *s, struct sx_slot *slot);

#endif
