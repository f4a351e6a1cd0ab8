/*
 * A frame in the CPU engine: data that its stages share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_ENGINE_FRAME_PRIV_H
#define SX_CPU_ENGINE_FRAME_PRIV_H

#include "base/clock.h"
#include "cpu/engine/engine_priv.h"

#define SX_FRAME_ROWS 8 /* rows per task, in stages that are quick per row */

struct sx_frame {
	struct sx_context *x;
	struct sx_matcher_frame match;
	struct sx_stretch stretch;
	enum sx_shear shear;
	bool first;
	uint8_t flags;
	int32_t reach_q7; /* reach of the frame (stages/stixels/reach.h) */
	int64_t since;
	int round; /* round of the search for a bend of the road; -1: search for its plane */
};

static inline int sx_frame_tasks_of(int n, int per_task)
{
	return (n + per_task - 1) / per_task;
}

static inline int sx_frame_end_of(int begin, int per_task, int n)
{
	return begin + per_task < n ? begin + per_task : n;
}

static inline struct sx_image sx_frame_rows_of(const struct sx_image *img, int y0, int y1)
{
	struct sx_image part = *img;

	part.data = sx_image_row(img, y0);
	part.height = y1 - y0;
	return part;
}

static inline void sx_frame_book(struct sx_frame *f, enum sx_stage stage)
{
	int64_t now = sx_now_ns();

	f->x->result.stage_ns[stage] = now - f->since;
	f->since = now;
}

/* Runs the stages from the pair to the best disparity of each pixel. */
void sx_frame_match(struct sx_frame *f);

#endif
