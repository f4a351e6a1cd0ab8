/*
 * Ego-motion, see ego.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/ego_rounds.h"

/* Sums of sx_motion_ego(). */
struct all {
	const struct sx_camera *camera;
	const struct sx_motion_feature *features;
	const struct sx_motion_flow *flows;
	int count;
};

static void add_all(void *arg, const struct sx_motion_round *r, struct sx_motion_sums *s)
{
	const struct all *all = arg;

	*s = (struct sx_motion_sums){.found = 0};
	for (int i = 0; i < all->count; i++)
		if (all->features[i].score && all->flows[i].search == SX_MOTION_FOUND)
			sx_motion_add(all->camera, r, &all->features[i], &all->flows[i], s);
}

static void conclude(const struct sx_camera *c, const struct sx_motion_sums *s,
		     struct sx_motion_ego_search *e)
{
	struct sx_motion_spread spread;

	sx_motion_ego_verdict(s, e, &spread);
	if (e->ego.verdict == SX_MOTION_STEP_FOUND) {
		for (int i = 0; i < 7; i++)
			sx_motion_spread_column(s, i, &spread);
		for (int i = 0; i < 6; i++)
			sx_motion_spread_row(c, &e->ego, i, &spread);
		for (int i = 0; i < 36; i++)
			e->ego.covariance[i] = sx_motion_spread_at(c, &spread, i / 6, i % 6);
	}
	sx_motion_ego_conclude(c, e);
}

void sx_motion_ego(const struct sx_camera *camera, const struct sx_motion_feature *features,
		   const struct sx_motion_flow *flows, int count, const struct sx_motion_step *start,
		   const struct sx_motion_range *prior, struct sx_motion_ego *ret)
{
	struct all all = {camera, features, flows, count};

	sx_motion_ego_by(camera, add_all, &all, start, prior, ret);
}

void sx_motion_ego_by(const struct sx_camera *camera, sx_motion_add_fn *add, void *arg,
		      const struct sx_motion_step *start, const struct sx_motion_range *prior,
		      struct sx_motion_ego *ret)
{
	struct sx_motion_ego_search e;
	struct sx_motion_sums s;

	sx_motion_ego_begin(&e, start, prior);
	do
		add(arg, &e.at, &s);
	while (sx_motion_ego_next(camera, &s, &e));
	conclude(camera, &s, &e);
	*ret = e.ego;
}
