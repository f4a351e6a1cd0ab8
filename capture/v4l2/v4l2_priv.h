/*
 * The inside of source "v4l2": one or two cameras, their buffers, and the pairs made of them.
 *
 * An image goes one of two ways. Direct: the driver writes into memory that the engine reads, and a pair
 * lends the buffers until it is released. Copied: the image is copied (mmap) or decoded (MJPG, Bayer, Y12I)
 * into a pair slot, and the buffer goes back at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_V4L2_PRIV_H
#define SX_CAPTURE_V4L2_V4L2_PRIV_H

#include "capture/source_kinds.h"
#include "capture/v4l2/decoders.h"
#include "capture/v4l2/pairing.h"
#include "capture/v4l2/v4l2_controls.h"
#include "capture/v4l2/v4l2_queue.h"

#define SX_V4L2_PAIRS_MAX 16 /* in use or being decoded, at once */
#define SX_V4L2_DAMAGE_BYTES (SX_DECODE_WHY_BYTES + 84)

struct sx_v4l2_camera {
	struct sx_v4l2_device device;
	struct sx_v4l2_exposure exposure;
	struct sx_v4l2_queue queue;
	struct sx_v4l2_filled filled[SX_V4L2_BUFFERS_MAX]; /* of the buffers that are ours */
	bool begun; /* the first image has come: sequence is the number of the last one */
	uint32_t sequence;
	int64_t last_ns; /* when the last image came, or the start */
};

enum sx_v4l2_ticket_state {
	SX_TICKET_FREE,
	SX_TICKET_DECODING,
	SX_TICKET_LENT,	   /* with the pair that was given out */
	SX_TICKET_RETURNED /* the pair was released: the capture thread gives the buffers to the drivers */
};

/*
 * A pair on its way. state is the capture thread's to change, but for the step from LENT to RETURNED: any
 * thread's.
 */
struct sx_v4l2_ticket {
	_Atomic(enum sx_v4l2_ticket_state) state;
	int index[2]; /* buffers of the cameras */
	int64_t ns[2];
	enum stixel_clock clock;
	enum stixel_stamp stamp;
	struct sx_slot *slot; /* copied: this ticket's for good; NULL: direct */
	struct sx_decode_task tasks[2];
};

struct sx_v4l2 {
	struct sx_v4l2_camera cameras[2];
	int count;
	struct sx_dmabuf_maker maker; /* of the buffers of all cameras */
	enum sx_layout layout;
	int width, height; /* of one image of the pair */
	bool direct;
	struct sx_pairing pairing;
	struct sx_slots slots; /* copied */
	struct sx_v4l2_ticket tickets[SX_V4L2_PAIRS_MAX];
	int ticket_count;
	struct sx_decoders *decoders;			    /* NULL: nothing to decode */
	struct sx_v4l2_ticket *decoding[SX_V4L2_PAIRS_MAX]; /* oldest first */
	int decoding_count;
	int task_count; /* of a pair that is decoded: JPEG a camera each, raw pixels a side each */
	int64_t timeout_ns, last_pair_ns;
	char damage[SX_V4L2_DAMAGE_BYTES]; /* the last damaged image since the last pair; empty: none */
	int epoll_fd, timer_fd;
};

/*
 * Fills a zeroed v and s->info; the errors of sx_source_open(). Sets devices and takes memory, but starts
 * nothing.
 */
int sx_v4l2_set_up(struct sx_source *s, struct sx_v4l2 *v, const struct sx_source_params *p, int slots,
		   char *why, size_t why_bytes);

/* v4l2_tune.c */

#define SX_V4L2_EXPOSURE_BYTES 64
/* "exposure 8 ms, gain 4", or what was set of these. */
void sx_v4l2_exposure_text(const struct sx_v4l2_exposure *e, char text[SX_V4L2_EXPOSURE_BYTES]);
/*
 * The same controls for all cameras; -EINVAL as well when they make different exposures of them. undo: NULL,
 * or two of them.
 */
int sx_v4l2_set_controls(struct sx_v4l2 *v, const struct sx_source_params *p, struct sx_v4l2_undo *undo,
			 char *why, size_t why_bytes);
/* As sx_source_tune(). */
int sx_v4l2_tune(struct sx_source *s, const struct sx_source_params *p, char *why, size_t why_bytes);

/* v4l2_drop.c */

void sx_v4l2_count(_Atomic uint64_t *counter, uint64_t n);
bool sx_v4l2_is_damage(enum sx_image_drop d);
/*
 * Counts an image that is dropped, in any case, and gives its buffer back unless *error says that a camera is
 * lost already; if the camera is lost now, *error and why are set.
 */
void sx_v4l2_drop(struct sx_source *s, int side, int index, enum sx_image_drop why_dropped, int *error,
		  char *why, size_t why_bytes);

/* v4l2_pairs.c */

/*
 * One camera: the newest image. Two: the newest pair. 1: found is filled; 0: none; negative: the cameras are
 * lost.
 */
int sx_v4l2_find_pair(struct sx_source *s, struct sx_pairing_image found[2], char *why, size_t why_bytes);
/* These buffers begin their way. 1: *pair is filled; 0: it is being decoded, or there was no room for it. */
int sx_v4l2_begin_pair(struct sx_source *s, const struct sx_pairing_image found[2], struct sx_pair *pair,
		       char *why, size_t why_bytes);
void sx_v4l2_deliver(struct sx_source *s, struct sx_v4l2_ticket *t, struct sx_pair *pair);
/* Buffers of pairs that were released go back to their drivers. */
int sx_v4l2_take_back(struct sx_v4l2 *v, char *why, size_t why_bytes);
/* Any thread. Buffers go back to the driver in the capture thread, when it looks next. */
void sx_v4l2_release(struct sx_source *s, const struct sx_pair *pair);

/* v4l2_decode.c */

/*
 * Hands the images of a pair to the decoders. The ticket is the decoders' from then on.
 */
void sx_v4l2_decode(struct sx_v4l2 *v, struct sx_v4l2_ticket *t);
/*
 * The newest pair that is decoded; older ones are dropped as overload, and broken ones, which v->damage
 * names. 1: *ret is ready; 0: none; negative: the camera is lost.
 */
int sx_v4l2_decoded(struct sx_source *s, struct sx_v4l2_ticket **ret, char *why, size_t why_bytes);

#endif
