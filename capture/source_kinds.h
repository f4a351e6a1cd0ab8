/*
 * Parts shared by all kinds of sources: the object behind struct sx_source, and the table of functions of a
 * kind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SOURCE_PRIV_H
#define SX_CAPTURE_SOURCE_PRIV_H

#include <stdatomic.h>

#include "base/why.h"
#include "capture/slots.h"
#include "capture/source.h"

#define SX_WIDTH_MIN 32
#define SX_WIDTH_MAX 4096
#define SX_HEIGHT_MIN 32
#define SX_HEIGHT_MAX 2160

/*
 * Functions of a kind, with the contracts of source.h. open fills info and everything in own. On failure the
 * dispatcher calls close, which accepts a half-opened source.
 */
struct sx_source_ops {
	int (*open)(struct sx_source *s, const struct sx_source_params *p, int slots, struct sx_why *why);
	void (*close)(struct sx_source *s);
	bool (*block)(const struct sx_source *s, int index, struct sx_block *ret);
	int (*fd)(const struct sx_source *s);
	int (*next)(struct sx_source *s, struct sx_pair *pair, struct sx_why *why);
	void (*release)(struct sx_source *s, const struct sx_pair *pair);
	/* NULL: the source has no controls */
	int (*change_controls)(struct sx_source *s, const struct sx_source_params *p, struct sx_why *why);
	/* NULL: no other process writes the pairs, so no process needs the sentence */
	void (*refuse)(struct sx_source *s, const char *sentence);
};

/* A source. own: data of the kind. The capture thread writes the counters; any thread may read them. */
struct sx_source {
	const struct sx_source_ops *ops;
	struct sx_source_info info;
	void *own;
	uint64_t number;
	_Atomic uint64_t captured[2], corrupt, unpaired, reconnects;
	_Atomic uint64_t gaps[2], dropped[2][SX_DROP_COUNT], odd_jpeg[2][SX_ODD_JPEG_COUNT];
	char warning[256]; /* warning not given out yet, written by the capture thread; empty: none */
	bool warned;	   /* a warning was written before */
};

extern const struct sx_source_ops sx_files_ops, sx_synthetic_ops, sx_v4l2_ops, sx_shared_ops;

/*
 * Checks the size of one image of a pair. Returns 0, or -EINVAL with a message if it is outside 32x32 ..
 * 4096x2160 px. what: name for the message.
 */
int sx_source_check_size(const char *what, int width, int height, struct sx_why *why);

/*
 * Thread: capture. sx_slots_is_due() and sx_slots_take() for the next pair, which count missed pairs as
 * overload.
 */
bool sx_source_is_due(struct sx_source *s, struct sx_slots *slots, int reserved);
struct sx_slot *sx_source_slot(struct sx_source *s, struct sx_slots *slots);

/* Thread: capture. Counts and stores the notes about a good image. what: name of its file or device. */
void sx_source_notes(struct sx_source *s, int side, const char *what, const struct sx_image_notes *notes);

/* Fills *pair from a filled slot (views, number, software time stamps), and counts it. */
void sx_source_deliver(struct sx_source *s, struct sx_slot *slot, struct sx_pair *pair);

#endif
