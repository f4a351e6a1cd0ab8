/*
 * Chain of motion: what is remembered from frame to frame. Each frame is measured against the one about 0.1 s
 * before, at any frame rate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_CHAIN_H
#define SX_STAGES_MOTION_CHAIN_H

#include "stages/motion/pair.h"

#define SX_MOTION_CHAIN_VIEWS 4			  /* views of three frames before, and of this one */
#define SX_MOTION_SPAN_NS INT64_C(100000000)	  /* wanted age of the frame before */
#define SX_MOTION_SPAN_LEAST_NS INT64_C(60000000) /* a younger frame says too little about velocities */
#define SX_MOTION_SPAN_MOST_NS INT64_C(350000000) /* in an older frame too much has moved */
/* Least distance of frames that are kept. With it some frame before has the least age, at any frame rate. */
#define SX_MOTION_KEEP_NS (SX_MOTION_SPAN_LEAST_NS / 2)
#define SX_MOTION_COUNT_NS \
	(SX_MOTION_SPAN_NS / 10 * 9) /* least distance of frames that count for the range */

struct sx_motion_chain {
	struct sx_camera camera;
	int width, height;
	uint32_t most; /* stixels of a frame, at most */
	struct sx_motion_view views[SX_MOTION_CHAIN_VIEWS];
	int64_t captured_ns[SX_MOTION_CHAIN_VIEWS];
	int place[SX_MOTION_CHAIN_VIEWS]; /* places in views; the first `kept` of them: newest first */
	int kept;
	struct sx_motion_step step; /* of the frame before; valid with has_step */
	bool has_step;
	struct sx_motion_range range; /* what is known of the offset */
	int64_t range_ns;	      /* time of the last frame that counted for it */
};

/* What a frame gives to its motion. captured_ns: time of its left image. */
struct sx_motion_input {
	const struct sx_image *left, *disparity; /* U8, U16 Q4 */
	const struct stixel *stixels;
	uint32_t stixel_count;
	int stixel_width;
	const struct sx_road *road;
	int64_t captured_ns;
};

/* The functions that compute. Reference: sx_motion_view_fill() and sx_motion_pair(). */
struct sx_motion_by {
	void *arg;
	void (*view)(void *arg, struct sx_motion_view *view, const struct sx_image *grey,
		     const struct sx_image *disparity);
	void (*pair)(void *arg, struct sx_motion_pair *pair, const struct sx_motion_frame *now,
		     const struct sx_motion_view *before, const struct sx_motion_step *expected,
		     const struct sx_motion_range *prior);
};
extern const struct sx_motion_by sx_motion_by_reference;

/*
 * Takes all memory. most: see sx_motion_pair_init(). -EINVAL, -ENOMEM. finish accepts a zeroed struct. Returns the
 * memory by sx_motion_chain_bytes().
 */
int sx_motion_chain_init(struct sx_motion_chain *ret, const struct sx_camera *camera, int width, int height,
			 uint32_t most);
void sx_motion_chain_finish(struct sx_motion_chain *c);
size_t sx_motion_chain_bytes(const struct sx_motion_chain *c);

/*
 * Measures the motion of the next frame. pair: of the same camera and size; receives the results. The results are a
 * function of the frames since the chain began. A frame that is not newer than the one before begins anew, but for
 * what is known of the range. Thread: one at a time, in the order of the frames. Allocates nothing.
 *
 * At most one frame in 0.1 s counts for the range, so that a higher frame rate does not make it look surer: such
 * frames show the same road with the same errors.
 */
void sx_motion_chain_run(struct sx_motion_chain *c, const struct sx_motion_by *by,
			 const struct sx_motion_input *in, struct sx_motion_pair *pair);

#endif
