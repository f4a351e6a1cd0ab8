/*
 * Functions of the reference, see by.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/by.h"

#include "stages/motion/view.h"

static void reference_view(void *arg, struct sx_motion_view *view, const struct sx_image *grey,
			   const struct sx_image *disparity)
{
	(void)arg;
	sx_motion_view_fill(view, grey, disparity);
}

static void reference_pair(void *arg, struct sx_motion_pair *pair, const struct sx_motion_frame *now,
			   const struct sx_motion_view *before, const struct sx_motion_step *expected,
			   const struct sx_motion_range *prior)
{
	(void)arg;
	sx_motion_pair(pair, now, before, expected, prior);
}

static struct sx_motion_place find_again(const struct sx_image *from, const struct sx_image *to, int x, int y,
					 int gx, int gy, const struct sx_motion_guess *warp)
{
	return sx_motion_find(from, to, x, y, gx, gy, SX_MOTION_AGAIN, warp);
}

static const struct sx_motion_finders reference_find = {sx_motion_match, sx_motion_refine, find_again};

static void reference_group(void *arg, const struct sx_motion_pair *pair, const struct sx_motion_frame *now,
			    const struct sx_motion_flow *flows, uint32_t *work,
			    struct sx_motion_velocity *velocities)
{
	const struct sx_motion_cells cells = sx_motion_cells(pair->width, pair->height);

	(void)arg;
	sx_motion_group(&pair->camera, &cells, pair->features, flows, now->stixels, now->stixel_count,
			now->stixel_width, now->seconds, &pair->ego, work, velocities);
}

static void reference_each(void *arg, int count, sx_motion_task *task, void *context)
{
	(void)arg;
	for (int i = 0; i < count; i++)
		task(context, i);
}

const struct sx_motion_by sx_motion_by_reference = {
	NULL, reference_view, reference_pair, &reference_find, reference_group, reference_each};
