/*
 * Chain of motion: what is remembered from frame to frame. Each frame is measured against the one about 0.1 s
 * before, at any frame rate; then the filter, if there is one, takes what was measured.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_FILTER_CHAIN_H
#define SX_STAGES_MOTION_FILTER_CHAIN_H

#include "stages/motion/filter/filter.h"

#define SX_MOTION_CHAIN_VIEWS 4			  /* views of three frames before, and of this one */
#define SX_MOTION_SPAN_NS INT64_C(100000000)	  /* wanted age of the frame before */
#define SX_MOTION_SPAN_LEAST_NS INT64_C(60000000) /* a younger frame says too little about velocities */
#define SX_MOTION_SPAN_MOST_NS INT64_C(350000000) /* too much has moved since an older frame */
/* Least distance of frames that are kept. With it some frame before has the least age, at any frame rate. */
#define SX_MOTION_KEEP_NS (SX_MOTION_SPAN_LEAST_NS / 2)
#define SX_MOTION_COUNT_NS \
	(SX_MOTION_SPAN_NS / 10 * 9) /* least distance of frames that count for the range */

/* Which of the views are kept, and their times: what of a chain depends on times alone. */
struct sx_motion_ring {
	int64_t captured_ns[SX_MOTION_CHAIN_VIEWS];
	int place[SX_MOTION_CHAIN_VIEWS]; /* places in views; the first `kept` of them: newest first */
	int kept;
};

/* The part of a frame's measurement that the ring says. */
struct sx_motion_turn {
	int now;		      /* place of this frame's view */
	int before;		      /* place of the view that it is measured against; -1: there is none */
	bool restarts;		      /* the time did not grow: the chain begins anew */
	int64_t captured_ns, span_ns; /* time of this frame, and since the frame before; 0: there is none */
};

/* What is learned from frame to frame. */
struct sx_motion_learned {
	struct sx_motion_step step;   /* step of the frame before; valid with has_step */
	struct sx_motion_range range; /* offset of the disparities and its sigma, so far */
	int64_t range_ns;	      /* time of the last frame that counted for it; INT64_MIN: none */
	int64_t has_step;
};

struct sx_motion_chain {
	struct sx_motion_view views[SX_MOTION_CHAIN_VIEWS];
	struct sx_motion_ring ring;
	struct sx_motion_learned learned;
	bool filters;
	struct sx_motion_filter filter; /* memory of the filter, with filters */
	bool filter_runs;		/* the filter has had a frame since the chain started again */
	int64_t last_ns;		/* and the time of the last frame that it took */
};

/* Results of a frame. Each context has its own, which the next frame of another context does not change. */
struct sx_motion_found {
	/* velocities: of this pair alone; with a filter: filtered */
	struct sx_motion_pair pair;
	/* Count 0 without a filter. A frame that the filter did not take has the objects before, unseen and unknown. */
	struct sx_motion_objects objects;
	uint32_t *object_of; /* identity of the object of each stixel, if it is shown, else 0 */
};

void sx_motion_ring_init(struct sx_motion_ring *ring);
/* Says what the next frame is measured against, and keeps its view if no other is nearly as new. */
struct sx_motion_turn sx_motion_ring_next(struct sx_motion_ring *ring, int64_t captured_ns);

SX_MOTION_INLINE struct sx_motion_learned sx_motion_nothing_learned(void)
{
	struct sx_motion_learned l;

	l.step = sx_motion_no_step();
	l.has_step = 0;
	l.range.px = 0.0; /* SX_MOTION_RANGE_FIRST */
	l.range.sigma_px = 1.0;
	l.range_ns = INT64_MIN;
	return l;
}

/* Takes over what a frame says about the step and the range. */
SX_MOTION_INLINE void sx_motion_learn(struct sx_motion_learned *l, const struct sx_motion_ego *ego,
				      int64_t now_ns)
{
	l->has_step = ego->verdict == SX_MOTION_STEP_FOUND;
	l->step = ego->step;
	if (!l->has_step || ego->offset_verdict != SX_MOTION_OFFSET_FOUND)
		return;
	if (l->range_ns != INT64_MIN && now_ns >= l->range_ns && now_ns - l->range_ns < SX_MOTION_COUNT_NS)
		return;
	l->range = ego->range;
	l->range_ns = now_ns;
}

/* Takes all memory: see sx_motion_pair_init(). finish accepts a zeroed struct. */
int sx_motion_found_init(struct sx_motion_found *ret, const struct sx_camera *camera, int width, int height,
			 uint32_t most);
void sx_motion_found_finish(struct sx_motion_found *found);
size_t sx_motion_found_bytes(const struct sx_motion_found *found);

/* Input from a frame. captured_ns: time of its left image. */
struct sx_motion_input {
	const struct sx_image *left, *disparity; /* U8, U16 Q4 */
	const struct stixel *stixels;
	uint32_t stixel_count;
	int stixel_width;
	const struct sx_road *road;
	int64_t captured_ns;
};

/*
 * Takes all memory. most: see sx_motion_pair_init(). filters: velocities are filtered. -EINVAL, -ENOMEM. finish accepts
 * a zeroed struct.
 */
int sx_motion_chain_init(struct sx_motion_chain *ret, const struct sx_camera *camera, int width, int height,
			 uint32_t most, bool filters);
void sx_motion_chain_finish(struct sx_motion_chain *c);
size_t sx_motion_chain_bytes(const struct sx_motion_chain *c);

/*
 * Measures the motion of the next frame. found: of the same camera and size; receives the results. They are a
 * function of the frames since the chain began. A frame that is not newer than the frame before starts again, but for
 * what is known of the range, and identities go on counting. Thread: one at a time, in the order of the frames.
 * Allocates nothing.
 *
 * At most one frame in 0.1 s counts for the range, so that a higher frame rate does not make it look surer: such
 * frames show the same road with the same errors.
 */
void sx_motion_chain_run(struct sx_motion_chain *c, const struct sx_motion_by *by,
			 const struct sx_motion_input *in, struct sx_motion_found *found);

#endif
