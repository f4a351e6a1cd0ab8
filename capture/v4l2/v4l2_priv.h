/*
 * Internals of source "v4l2": one or two cameras, their buffers, and their pairs.
 *
 * An image takes one of two ways. Direct: the driver writes into memory that the engine reads, and a pair
 * holds the buffers until it is released. Copied: the image is copied (mmap) or decoded (MJPG, Bayer, Y12I)
 * into a pair slot, and the buffer goes back to the driver at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_V4L2_PRIV_H
#define SX_CAPTURE_V4L2_V4L2_PRIV_H

#include "base/why.h"
#include "capture/decoders.h"
#include "capture/source_kinds.h"
#include "capture/v4l2/pairing.h"
#include "capture/v4l2/raw.h"
#include "capture/v4l2/v4l2_controls.h"
#include "capture/v4l2/v4l2_queue.h"

#define SX_V4L2_PAIRS_MAX 16 /* pairs in use or being decoded at the same time */

struct sx_v4l2_camera {
	struct sx_v4l2_device device;
	struct sx_v4l2_exposure exposure;
	struct sx_v4l2_queue queue;
	/* results of the buffers that the driver has returned */
	struct sx_v4l2_filled filled[SX_V4L2_BUFFERS_MAX];
	bool begun; /* the first image has come, and sequence is the number of the last image */
	uint32_t sequence;
	int64_t last_ns; /* time of the last image, or of the start */
};

enum sx_v4l2_lease_state {
	SX_LEASE_FREE,
	SX_LEASE_DECODING,
	SX_LEASE_LENT /* the lease's pair was given out, and the caller has not released it */
};

/* An image for the decoders: JPEG data, or raw pixels. raw.packing SX_RAW_NONE: JPEG. */
struct sx_v4l2_input {
	const uint8_t *data;
	size_t bytes;
	struct sx_raw raw;
};

/* A lease: the buffers or the slot of a pair that is being decoded or was given out. Thread: capture. */
struct sx_v4l2_lease {
	enum sx_v4l2_lease_state state;
	int index[2]; /* indices of the cameras' buffers */
	int64_t ns[2];
	enum stixel_clock clock;
	enum stixel_stamp stamp;
	struct sx_slot *slot; /* copied pairs: slot that this lease owns; NULL: the pair is direct */
	struct sx_v4l2_input inputs[2];
	struct sx_decode_task tasks[2];
};

struct sx_v4l2 {
	struct sx_v4l2_camera cameras[2];
	int count;
	struct sx_dmabuf_maker maker; /* provides the buffers of all cameras */
	enum sx_layout layout;
	int width, height; /* size of one image of the pair, px */
	bool direct;
	struct sx_pairing pairing;
	struct sx_slots slots; /* for copied images */
	struct sx_v4l2_lease leases[SX_V4L2_PAIRS_MAX];
	int lease_count;
	struct sx_decoders *decoders;			   /* NULL: nothing to decode */
	struct sx_v4l2_lease *decoding[SX_V4L2_PAIRS_MAX]; /* leases being decoded, oldest first */
	int decoding_count;
	int task_count; /* tasks per decoded pair: JPEG one per camera, raw pixels one per side */
	int64_t timeout_ns, last_pair_ns;
	struct sx_why damage; /* last damaged image since the last pair; empty: none */
	int lost; /* negative errno: a camera is lost, lost_why says how, and no buffer goes back */
	struct sx_why lost_why;
	int epoll_fd, timer_fd;
};

/*
 * Fills a zeroed v and s->info. Sets up the devices and allocates memory, but starts nothing. Returns errors
 * as sx_source_open().
 */
int sx_v4l2_set_up(struct sx_source *s, struct sx_v4l2 *v, const struct sx_source_params *p, int slots,
		   struct sx_why *why);

/* Functions of v4l2_camera_controls.c. */

#define SX_V4L2_EXPOSURE_BYTES 64
/* Writes "exposure 8 ms, gain 4", or the part of it that was set. */
void sx_v4l2_exposure_text(const struct sx_v4l2_exposure *e, char text[SX_V4L2_EXPOSURE_BYTES]);
/*
 * Sets the same controls for all cameras. Also returns -EINVAL if the cameras end up with different
 * exposures. undo: NULL, or an array of two.
 */
int sx_v4l2_set_controls(struct sx_v4l2 *v, const struct sx_source_params *p, struct sx_v4l2_undo *undo,
			 struct sx_why *why);
/* Changes the controls of open cameras; see sx_source_change_controls(). */
int sx_v4l2_change_controls(struct sx_source *s, const struct sx_source_params *p, struct sx_why *why);

/* Functions of v4l2_drop.c. */

void sx_v4l2_count(_Atomic uint64_t *counter, uint64_t n);
bool sx_v4l2_is_damage(enum sx_image_drop d);
/*
 * Counts a dropped image, and returns its buffer to the driver unless *error says that a camera is already
 * lost. If the camera is lost now, sets *error and why.
 */
void sx_v4l2_drop(struct sx_source *s, int side, int index, enum sx_image_drop why_dropped, int *error,
		  struct sx_why *why);

/* Functions of v4l2_pairs.c. */

/*
 * Finds the newest image of one camera, or the newest pair of two. Returns 1: found is filled; 0: none;
 * negative: the cameras are lost.
 */
int sx_v4l2_find_pair(struct sx_source *s, struct sx_pairing_image found[2], struct sx_why *why);
/*
 * Starts a pair with these buffers. Returns 1: *pair is filled; 0: the pair is being decoded, or there was no
 * room for it.
 */
int sx_v4l2_begin_pair(struct sx_source *s, const struct sx_pairing_image found[2], struct sx_pair *pair,
		       struct sx_why *why);
void sx_v4l2_deliver(struct sx_source *s, struct sx_v4l2_lease *t, struct sx_pair *pair);
/*
 * Releases a pair: returns its buffers to the drivers. If a camera is lost, sets v->lost, which the next
 * sx_source_next() reports.
 */
void sx_v4l2_release(struct sx_source *s, const struct sx_pair *pair);

/* Functions of v4l2_decode.c. */

/* Passes the images of a pair to the decoders, which own the lease from then on. */
void sx_v4l2_decode(struct sx_v4l2 *v, struct sx_v4l2_lease *t);
/*
 * Finds the newest decoded pair. Drops older ones as overload, and broken ones, which v->damage names.
 * Returns 1: *ret is ready; 0: none; negative: the camera is lost.
 */
int sx_v4l2_decoded(struct sx_source *s, struct sx_v4l2_lease **ret, struct sx_why *why);

#endif
