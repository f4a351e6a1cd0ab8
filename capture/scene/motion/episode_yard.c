/*
 * Episodes of a small robot in a yard between people, another robot, and things that stand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/contract.h"
#include "capture/scene/motion/episode.h"
#include "capture/scene/motion/turn.h"

#define PERSONS 12

enum dice { D_SELF = 1000, D_PERSON, D_ROBOT };

static double pick(const struct sx_episode *e, enum dice what, int64_t i, double lo, double hi)
{
	return sx_pick(e->seed, (uint64_t)what, i, lo, hi);
}

/* Plans a winding path, number `attempt`. Returns how far aside it leads, m. */
static double plan_path(const struct sx_episode *e, struct sx_path *p, double speed, int attempt)
{
	const double rate = pick(e, D_SELF, 2, 15, 28) * SX_DEGREE; /* largest rate of turning, rad/s */
	double course = 0, side = pick(e, D_SELF, 3, 0, 1) < 0.5 ? -1 : 1, most = 0;

	sx_path_begin(p, 0, 0, 0);
	sx_path_add(p, pick(e, D_SELF, 5, 0.5, 2), 0);
	for (int i = 0; p->count < SX_PATH_PIECES - 1; i++) {
		const double to = side * pick(e, D_SELF, 100 * attempt + 10 + i, 12, 40) * SX_DEGREE,
			     turn = to - course, x = p->piece[p->count].x;

		most = x > most ? x : -x > most ? -x : most;
		sx_path_add(p, 1.5 * (turn < 0 ? -turn : turn) * speed / rate, turn);
		sx_path_add(p, pick(e, D_SELF, 100 * attempt + 30 + i, 0.3, 2), 0);
		course = to;
		side = -side;
	}
	return most;
}

static void add_self(struct sx_episode *e)
{
	struct sx_mover *self = &e->mover[0];
	const double speed = pick(e, D_SELF, 1, 0.5, 1.1);

	sx_mover_init(self, SX_MOVER_ROBOT, sx_mix(e->seed, D_SELF, 0));
	self->before = 0.1;
	e->shake = pick(e, D_SELF, 4, 0.4, 1.6);
	for (int i = 1; plan_path(e, &self->path, speed, i) > 3 && i < 40; i++)
		;
	sx_plan_begin(&self->plan, 0, speed);
	for (int i = 0; i < 3; i++) {
		sx_plan_add(&self->plan, pick(e, D_SELF, 50 + i, 3, 6), 0);
		sx_plan_change(&self->plan, i == 1 ? 0 : 0.4 * speed, 0.6);
		sx_plan_add(&self->plan, pick(e, D_SELF, 60 + i, 0.5, 2), 0);
		sx_plan_change(&self->plan, speed, 0.5);
	}
	sx_path_begin(&e->route, 0, 0, 0);
	sx_path_add(&e->route, speed * SX_EPISODE_S + 12, 0);
	sx_episode_add(e, self);
}

static bool is_within(const struct sx_episode *e, double x, double z)
{
	return x > 0.9 - SX_YARD_HALF && x < SX_YARD_HALF - 0.9 && z > -3 && z < e->route.length - 0.9;
}

/* Returns true if a mover stays between the walls. */
static bool stays(const struct sx_episode *e, const struct sx_mover *m)
{
	for (int i = 0; i <= 4 * (int)SX_EPISODE_S; i++) {
		const struct sx_moved at = sx_mover_at(m, 0.25 * i);

		if (!is_within(e, at.x, at.z))
			return false;
	}
	return true;
}

/* Appends a straight way and a turn that lead to a place between the walls, if some tries find one. */
static void walk_on(const struct sx_episode *e, struct sx_path *p, enum dice what, int i)
{
	for (int k = 0; k < 8; k++) {
		const double turn = pick(e, what, 2000 + 100 * i + k, -2.4, 2.4);
		struct sx_path longer = *p;
		struct sx_place end;

		sx_path_add(&longer, 0.3 + 0.8 * (turn < 0 ? -turn : turn), turn);
		sx_path_add(&longer, pick(e, what, 2050 + 100 * i + k, 1.5, 6), 0);
		end = sx_path_at(&longer, longer.length, 0);
		if (!is_within(e, end.x, end.z))
			continue;
		*p = longer;
		return;
	}
}

/* Adds something that goes about, with stops, or that stands all the time. */
static bool add_walker(struct sx_episode *e, enum sx_mover_class kind, enum dice what, int i, bool stands)
{
	const double speed =
		kind == SX_MOVER_ROBOT ? pick(e, what, 20 * i, 0.5, 1.2) : pick(e, what, 20 * i, 0.7, 1.7);
	const double z = pick(e, what, 20 * i + 1, 1.6, e->route.length - 1),
		     x = pick(e, what, 20 * i + 2, 1 - SX_YARD_HALF, SX_YARD_HALF - 1);
	struct sx_mover m;

	sx_mover_init(&m, kind, sx_mix(e->seed, (uint64_t)what, (uint64_t)i));
	sx_path_begin(&m.path, x, z, pick(e, what, 20 * i + 3, -SX_PI, SX_PI));
	for (int k = 0; k < 7; k++)
		walk_on(e, &m.path, what, 10 * i + k);
	sx_plan_begin(&m.plan, 0, stands ? 0 : speed);
	for (int k = 0; !stands && k < 2 + i % 2; k++) {
		sx_plan_add(&m.plan, pick(e, what, 20 * i + 5 + k, 2, 7), 0);
		sx_plan_change(&m.plan, 0, 1.5);
		sx_plan_add(&m.plan, pick(e, what, 20 * i + 10 + k, 1, 3), 0);
		sx_plan_change(&m.plan, speed, 1.5);
	}
	return stays(e, &m) && sx_episode_add(e, &m);
}

void sx_episode_yard(struct sx_episode *e)
{
	add_self(e);
	for (int i = 0, found = 0; i < 40 && found < 2; i++)
		found += add_walker(e, SX_MOVER_ROBOT, D_ROBOT, i, false);
	for (int i = 0, found = 0; i < 240 && found < PERSONS; i++)
		found += add_walker(e, SX_MOVER_PERSON, D_PERSON, i, found % 5 == 4);
}
