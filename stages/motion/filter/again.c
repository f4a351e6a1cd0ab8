/*
 * Again, see again.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/filter/again.h"

#include <stdlib.h>

#include "stages/motion/guess.h"

static void search_object(const struct sx_motion_finders *find, const struct sx_motion_frame *now,
			  const struct sx_motion_view *before, const struct sx_motion_feature *f,
			  const struct sx_motion_guess *guess, struct sx_motion_flow *flow)
{
	const struct sx_motion_place p = find->again(&now->view->census, &before->census, f->x, f->y,
						     f->x + guess->dx, f->y + guess->dy, guess);

	if (p.cost == SX_MOTION_COST_NONE || !sx_motion_is_clear(p.cost, p.second))
		return;
	flow->x_q6 = 64 * p.x;
	flow->y_q6 = 64 * p.y;
	flow->cost = (uint16_t)p.cost;
	flow->second = (uint16_t)p.second;
	flow->search = SX_MOTION_FOUND;
	find->refine(now->view, before, f, guess, flow);
}

static void search_walker(const struct sx_motion_finders *find, const struct sx_motion_pair *pair,
			  const struct sx_motion_frame *now, const struct sx_motion_view *before,
			  const struct sx_motion_feature *f, struct sx_motion_flow *flow)
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
	find->match(now->view, before, f, guesses, count, flow);
	find->refine(now->view, before, f, &guesses[flow->guess], flow);
}

/* The arguments of sx_motion_again(), and the cells. */
struct again {
	const struct sx_motion_finders *find;
	const struct sx_motion_objects *os;
	const struct sx_motion_pair *pair;
	const struct sx_motion_frame *now;
	const struct sx_motion_view *before;
	struct sx_motion_flow *flows;
	struct sx_motion_cells cells;
};

/* Searches the features of a row of cells. */
static void search_row(void *context, int row)
{
	const struct again *a = context;
	const struct sx_motion_pair *pair = a->pair;

	for (int i = row * a->cells.columns; i < (row + 1) * a->cells.columns; i++) {
		const struct sx_motion_feature *f = &pair->features[i];
		struct sx_motion_flow flow = {.search = SX_MOTION_UNKNOWN};
		struct sx_motion_guess guess;

		if (!f->score || !(f->kind & SX_MOTION_OBJECT) || a->flows[i].search == SX_MOTION_FOUND)
			continue;
		if (sx_motion_objects_guess(a->os, &pair->camera, f, &pair->ego, a->now->seconds, &guess))
			search_object(a->find, a->now, a->before, f, &guess, &flow);
		else if (f->disparity_q8 >= SX_MOTION_WALK_Q8)
			search_walker(a->find, pair, a->now, a->before, f, &flow);
		if (flow.search == SX_MOTION_FOUND)
			a->flows[i] = flow;
	}
}

static int count_found(const struct sx_motion_flow *flows, int cells)
{
	int found = 0;

	for (int i = 0; i < cells; i++)
		found += flows[i].search == SX_MOTION_FOUND;
	return found;
}

int sx_motion_again(const struct sx_motion_objects *os, const struct sx_motion_by *by,
		    const struct sx_motion_pair *pair, const struct sx_motion_frame *now,
		    const struct sx_motion_view *before, struct sx_motion_flow *flows)
{
	struct again a = {by->find, os, pair, now, before, flows, sx_motion_cells(pair->width, pair->height)};
	const int found = count_found(flows, pair->cells);

	by->each(by->arg, a.cells.rows, search_row, &a);
	return count_found(flows, pair->cells) - found;
}
