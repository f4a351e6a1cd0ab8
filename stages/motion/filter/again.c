/*
 * Again, see again.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/filter/again.h"

#include <stdlib.h>

#include "stages/motion/guess.h"
#include "stages/motion/refine.h"

static void search_object(const struct sx_motion_frame *now, const struct sx_motion_view *before,
			  const struct sx_motion_feature *f, const struct sx_motion_guess *guess,
			  struct sx_motion_flow *flow)
{
	const struct sx_motion_place p =
		sx_motion_find(&now->view->census, &before->census, f->x, f->y, f->x + guess->dx,
			       f->y + guess->dy, SX_MOTION_AGAIN, guess);

	if (p.cost == SX_MOTION_COST_NONE || 25 * p.second <= 26 * p.cost + 50)
		return;
	flow->x_q6 = 64 * p.x;
	flow->y_q6 = 64 * p.y;
	flow->cost = (uint16_t)p.cost;
	flow->second = (uint16_t)p.second;
	flow->search = SX_MOTION_FOUND;
	sx_motion_refine(now->view, before, f, guess, flow);
}

static void search_walker(const struct sx_motion_pair *pair, const struct sx_motion_frame *now,
			  const struct sx_motion_view *before, const struct sx_motion_feature *f,
			  struct sx_motion_flow *flow)
{
	const double way = SX_MOTION_WALK_M_S * now->seconds / pair->camera.baseline_m;
	const double shifts[5][3] = {
		{0.0, 0.0, 0.0}, {way, 0.0, 0.0}, {-way, 0.0, 0.0}, {0.0, 0.0, way}, {0.0, 0.0, -way}};
	struct sx_motion_guess stands = {0}, guesses[4];
	int count = 0;

	for (int i = 0; i < 5; i++) {
		const struct sx_motion_guess g =
			sx_motion_expect(&pair->camera, &pair->ego.step, f, pair->ego.used.px, shifts[i]);

		if (i == 0)
			stands = g;
		else if (abs(g.dx - stands.dx) > SX_MOTION_WALK_APART_X ||
			 abs(g.dy - stands.dy) > SX_MOTION_WALK_APART_Y)
			guesses[count++] = g;
	}
	if (!count)
		return;
	sx_motion_match(now->view, before, f, guesses, count, flow);
	sx_motion_refine(now->view, before, f, &guesses[flow->guess], flow);
}

int sx_motion_again(const struct sx_motion_objects *os, const struct sx_motion_pair *pair,
		    const struct sx_motion_frame *now, const struct sx_motion_view *before,
		    struct sx_motion_flow *flows)
{
	int found = 0;

	for (int i = 0; i < pair->cells; i++) {
		const struct sx_motion_feature *f = &pair->features[i];
		struct sx_motion_flow flow = {.search = SX_MOTION_UNKNOWN};
		struct sx_motion_guess guess;

		if (!f->score || !(f->kind & SX_MOTION_OBJECT) || flows[i].search == SX_MOTION_FOUND)
			continue;
		if (sx_motion_objects_guess(os, &pair->camera, f, &pair->ego, now->seconds, &guess))
			search_object(now, before, f, &guess, &flow);
		else if (f->disparity_q8 >= SX_MOTION_WALK_Q8)
			search_walker(pair, now, before, f, &flow);
		if (flow.search != SX_MOTION_FOUND)
			continue;
		flows[i] = flow;
		found++;
	}
	return found;
}
