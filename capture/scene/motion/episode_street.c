/*
 * Episodes on streets: traffic, crossings, bends. Vehicles drive on the right.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/contract.h"
#include "capture/scene/motion/episode.h"
#include "capture/scene/motion/turn.h"

#define FAR 640.0 /* end of a straight street, m */
#define TRIES 4	  /* for each thing that does not find room */

enum dice { D_WAY = 900, D_SELF, D_LEAD, D_ONCOMING, D_SIDE, D_CYCLIST, D_WALKER, D_ACROSS, D_STANDING };

static double pick(const struct sx_episode *e, enum dice what, int64_t i, double lo, double hi)
{
	return sx_pick(e->seed, (uint64_t)what, i, lo, hi);
}

static uint64_t seed_of(const struct sx_episode *e, enum dice what, int64_t i)
{
	return sx_mix(e->seed, (uint64_t)what, (uint64_t)i);
}

static enum sx_mover_class vehicle_of(uint64_t seed)
{
	return seed % 6 == 0 ? SX_MOVER_VAN : SX_MOVER_CAR;
}

/* Makes a route of bends to both sides in turn. The course stays within 60 degrees of z, so that the street never meets itself. */
static void plan_bends(struct sx_episode *e, double speed, double length)
{
	const double rate = pick(e, D_WAY, 1, 16, 25) * SX_DEGREE; /* largest rate of turning, rad/s */
	double course = 0, side = pick(e, D_WAY, 2, 0, 1) < 0.5 ? -1 : 1;

	/* begin behind the camera */
	sx_path_begin(&e->route, 0, -40, 0);
	sx_path_add(&e->route, 40 + pick(e, D_WAY, 3, 4, 12), 0);
	for (int i = 0; e->route.length < length && e->route.count < SX_PATH_PIECES - 1; i++) {
		const double to = side * pick(e, D_WAY, 10 + i, 25, 60) * SX_DEGREE, turn = to - course;

		sx_path_add(&e->route, 1.5 * (turn < 0 ? -turn : turn) * speed / rate, turn);
		sx_path_add(&e->route, pick(e, D_WAY, 30 + i, 3, 14), 0);
		course = to;
		side = -side;
	}
}

static void plan_straight(struct sx_episode *e)
{
	const bool crossing = e->kind == SX_EPISODE_CROSSING;
	double z = pick(e, D_WAY, 40, 38, crossing ? 100 : 70);

	sx_path_begin(&e->route, 0, -40, 0);
	sx_path_add(&e->route, FAR + 40, 0);
	for (int i = 0; z < FAR && e->side_streets < SX_SITES_MAX; i++) {
		e->side_street[e->side_streets++] = z;
		z += pick(e, D_WAY, 41 + i, 62, crossing ? 120 : 105);
	}
	z = pick(e, D_WAY, 60, 15, 26);
	for (int i = 0; crossing && i < 30 && e->walks < SX_SITES_MAX; i++) {
		bool free = true;

		for (int k = 0; k < e->side_streets; k++)
			free &= z < e->side_street[k] - 13 || z > e->side_street[k] + 13;
		if (free)
			e->walk[e->walks++] = z;
		z += free ? pick(e, D_WAY, 61 + i, 17, 30) : 6;
	}
}

/* Sets a mover's path to the street, from a place on it: z on a straight street, m of the route otherwise. */
static void follow_street(const struct sx_episode *e, struct sx_mover *m, double aside, bool backwards)
{
	m->path = e->route;
	m->aside = aside;
	m->backwards = backwards;
}

/* Converts z to the way along a route. Routes begin at z = -40. */
static double way_of(double z)
{
	return z + 40;
}

/* Appends what a driver does: drives, brakes, sometimes stops, goes on. sign: -1 for movers that go backwards. */
static void drive(const struct sx_episode *e, struct sx_plan *p, enum dice what, int64_t i, double speed,
		  double sign)
{
	const bool stops = pick(e, what, 900 + i, 0, 1) < 0.3;

	for (int k = 0; k < 3; k++) {
		const double slow = stops && k == 1 ? 0 : speed * pick(e, what, 1000 + 10 * i + k, 0.35, 0.8);

		sx_plan_add(p, pick(e, what, 2000 + 10 * i + k, 1.5, 4), 0);
		sx_plan_change(p, sign * slow, pick(e, what, 3000 + 10 * i + k, 1.5, 3.5));
		sx_plan_add(p, pick(e, what, 4000 + 10 * i + k, 0.8, 2.5), 0);
		sx_plan_change(p, sign * speed, pick(e, what, 5000 + 10 * i + k, 1, 2));
	}
}

/* Copies a plan that begins `lag` seconds later, from another way. */
static struct sx_plan delayed(const struct sx_plan *p, double way, double lag)
{
	struct sx_plan r;

	sx_plan_begin(&r, way, p->phase[0].speed);
	sx_plan_add(&r, lag, 0);
	for (int i = 0; i < p->count && i < SX_PLAN_PHASES - 1; i++) {
		const double seconds = p->phase[i + 1].from - p->phase[i].from;

		if (p->phase[i].gain == 0)
			sx_plan_add(&r, seconds, 0);
		else
			sx_plan_change(&r, p->phase[i + 1].speed,
				       p->phase[i].gain < 0 ? -p->phase[i].gain : p->phase[i].gain);
	}
	return r;
}

/* Lets a car turn off: brakes before the corner at `from` m of its path, and speeds up after it. */
static void drive_corner(struct sx_plan *p, double from, double length, double slow, double speed)
{
	const double gain = 2.5, now = p->phase[p->count].speed, way = p->phase[p->count].way;
	const double braking = (now * now - slow * slow) / (2 * gain);

	if (now > slow) {
		if (from - way > braking)
			sx_plan_add(p, (from - way - braking) / now, 0);
		sx_plan_change(p, slow, gain);
	}
	sx_plan_add(p, length / slow, 0);
	sx_plan_change(p, speed, 1.6);
}

/*
 * Makes the path of a car that turns at a crossing at z. x, course: its lane and course before; right: turns to
 * the right, else to the left. before: m of the path before the corner, or more.
 */
static void path_corner(struct sx_mover *m, double z, double course, bool right, double before, double *from,
			double *length)
{
	const struct sx_turn t = sx_turn_of(course);
	const double reach = right ? 8 : 11, out = right ? SX_STREET_LANE : -SX_STREET_LANE;
	/* axes of the car, with the crossing's middle at 0: the car is at `lane` to the right, and turns at `start` */
	const double lane = SX_STREET_LANE, start = -out - reach - before;

	*from = before;
	*length = sx_path_corner(reach);
	sx_path_begin(&m->path, lane * t.cosine + start * t.sine, z - lane * t.sine + start * t.cosine,
		      course);
	sx_path_add(&m->path, before, 0);
	sx_path_add(&m->path, *length, right ? SX_PI / 2 : -SX_PI / 2);
}

/* Returns the first side street that is at least this far, -1: none. */
static int side_street_after(const struct sx_episode *e, double z)
{
	for (int i = 0; i < e->side_streets; i++)
		if (e->side_street[i] >= z)
			return i;
	return -1;
}

/* Adds the car ahead, and the camera, which follows this car or drives alone. */
static void add_lead(struct sx_episode *e, double speed)
{
	const double lag = pick(e, D_LEAD, 2, 0.8, 1.3);
	/* if the car ahead stops, the camera comes nearer by speed * lag */
	const double z = pick(e, D_LEAD, 1, 8, 18) + speed * lag;
	const int street = side_street_after(e, z + 70 + 4 * speed);
	struct sx_mover lead, *self = &e->mover[0];
	const bool there = pick(e, D_LEAD, 3, 0, 1) < 0.9;

	sx_mover_init(&lead, vehicle_of(seed_of(e, D_LEAD, 4)), seed_of(e, D_LEAD, 4));
	if (street >= 0 && e->kind == SX_EPISODE_TRAFFIC && pick(e, D_LEAD, 5, 0, 1) < 0.35) {
		const double end = e->side_street[street];
		double from, length;

		path_corner(&lead, end, 0, true, end - SX_STREET_LANE - 8 - z, &from, &length);
		sx_plan_begin(&lead.plan, 0, speed);
		drive_corner(&lead.plan, from, length, pick(e, D_LEAD, 6, 3.2, 4.2), speed);
	} else {
		follow_street(e, &lead, SX_STREET_LANE, false);
		sx_plan_begin(&lead.plan, way_of(z), speed);
		drive(e, &lead.plan, D_LEAD, 7, speed, 1);
	}
	follow_street(e, self, SX_STREET_LANE, false);
	self->plan = delayed(&lead.plan, way_of(0), lag);
	sx_episode_add(e, self); /* mover 0 is already in its place */
	if (there)
		sx_episode_add(e, &lead);
}

/* Adds the camera, which drives alone and stops before places where people cross. */
static void add_self_that_stops(struct sx_episode *e, double speed)
{
	struct sx_mover *self = &e->mover[0];
	const double gain = pick(e, D_SELF, 5, 1.6, 2.6), braking = speed * speed / (2 * gain);
	double way = 0;

	follow_street(e, self, SX_STREET_LANE, false);
	sx_plan_begin(&self->plan, way_of(0), speed);
	for (int i = 0, stops = 0; i < e->walks && stops < 3; i++) {
		const double before = e->walk[i] - 6 - way - braking;

		if (before < 0 || pick(e, D_SELF, 20 + i, 0, 1) < 0.3)
			continue;
		sx_plan_add(&self->plan, before / speed, 0);
		sx_plan_change(&self->plan, 0, gain);
		sx_plan_add(&self->plan, pick(e, D_SELF, 40 + i, 2.2, 4), 0);
		sx_plan_change(&self->plan, speed, 1.4);
		way = self->plan.phase[self->plan.count].way - way_of(0);
		stops++;
	}
	sx_episode_add(e, self);
}

static void add_self(struct sx_episode *e)
{
	const double speed = e->kind == SX_EPISODE_TRAFFIC    ? pick(e, D_SELF, 1, 8, 14)
			     : e->kind == SX_EPISODE_CROSSING ? pick(e, D_SELF, 1, 4, 7.5)
							      : pick(e, D_SELF, 1, 6, 9.5);
	struct sx_mover *self = &e->mover[0];

	sx_mover_init(self, SX_MOVER_CAR, seed_of(e, D_SELF, 0));
	self->before = 1.4;
	if (e->kind == SX_EPISODE_BEND) {
		plan_bends(e, speed, 40 + SX_EPISODE_S * speed + 150);
		e->shake = pick(e, D_SELF, 3, 0.8, 2);
		add_lead(e, speed);
		return;
	}
	plan_straight(e);
	e->shake = pick(e, D_SELF, 3, 0.3, 1);
	if (e->kind == SX_EPISODE_TRAFFIC)
		add_lead(e, speed);
	else
		add_self_that_stops(e, speed);
}

static void add_oncoming(struct sx_episode *e, int count)
{
	for (int i = 0; i < count; i++) {
		const double z = pick(e, D_ONCOMING, 10 * i, 25, e->kind == SX_EPISODE_BEND ? 260 : 480),
			     speed = pick(e, D_ONCOMING, 10 * i + 1, 6, 13);
		const int street = side_street_after(e, pick(e, D_ONCOMING, 10 * i + 2, 20, 240));
		struct sx_mover m;

		sx_mover_init(&m, vehicle_of(seed_of(e, D_ONCOMING, i)), seed_of(e, D_ONCOMING, i));
		if (street >= 0 && i % 3 == 0 && z > e->side_street[street] + 30) {
			const bool right = pick(e, D_ONCOMING, 10 * i + 3, 0, 1) < 0.5;
			double from, length;

			path_corner(&m, e->side_street[street], SX_PI, right, z - e->side_street[street] - 14,
				    &from, &length);
			sx_plan_begin(&m.plan, 0, speed);
			drive_corner(&m.plan, from, length, pick(e, D_ONCOMING, 10 * i + 4, 3.5, 5), speed);
		} else {
			follow_street(e, &m, -SX_STREET_LANE, true);
			sx_plan_begin(&m.plan, way_of(z), -speed);
			if (i % 2)
				drive(e, &m.plan, D_ONCOMING, 10 * i, speed, -1);
		}
		sx_episode_add(e, &m);
	}
}

/* Adds cars in side streets. Some wait first; then they turn into the street or cross it. */
static void add_side_traffic(struct sx_episode *e, int count)
{
	for (int i = 0; i < count * TRIES; i++) {
		const int street = i % (e->side_streets < 3 ? e->side_streets : 3);
		const bool from_right = pick(e, D_SIDE, 10 * i, 0, 1) < 0.5;
		const double course = from_right ? -SX_PI / 2 : SX_PI / 2,
			     wait = pick(e, D_SIDE, 10 * i + 1, 0, 14),
			     speed = pick(e, D_SIDE, 10 * i + 2, 5, 10);
		const bool waits = pick(e, D_SIDE, 10 * i + 3, 0, 1) < 0.6;
		struct sx_mover m;
		double from = 14, length = 0;

		sx_mover_init(&m, vehicle_of(seed_of(e, D_SIDE, i)), seed_of(e, D_SIDE, i));
		if (pick(e, D_SIDE, 10 * i + 4, 0, 1) < 0.4) {
			const double z =
				e->side_street[street] + (from_right ? SX_STREET_LANE : -SX_STREET_LANE);

			sx_path_begin(&m.path, from_right ? 150 : -150, z, course);
			sx_path_add(&m.path, 300, 0);
			sx_plan_begin(&m.plan, waits ? 150 - SX_STREET_HALF - 4 : 150 - wait * speed,
				      waits ? 0 : speed);
		} else {
			path_corner(&m, e->side_street[street], course,
				    pick(e, D_SIDE, 10 * i + 5, 0, 1) < 0.7, 40, &from, &length);
			sx_plan_begin(&m.plan, waits ? 38 : 30 - wait * speed, waits ? 0 : speed);
		}
		if (waits) {
			sx_plan_add(&m.plan, 1 + wait, 0);
			sx_plan_change(&m.plan, speed > 6 ? 6 : speed, 1.6);
		} else if (length > 0) {
			drive_corner(&m.plan, from, length, 3.8, speed);
		}
		if (sx_episode_add(e, &m))
			i += TRIES - i % TRIES - 1;
	}
}

static void add_cyclists(struct sx_episode *e, int count)
{
	for (int i = 0; i < count; i++) {
		const bool oncoming = pick(e, D_CYCLIST, 10 * i, 0, 1) < 0.4;
		const double z = pick(e, D_CYCLIST, 10 * i + 1, 5, oncoming ? 200 : 110),
			     speed = pick(e, D_CYCLIST, 10 * i + 2, 3, 6.5), sign = oncoming ? -1 : 1;
		struct sx_mover m;

		sx_mover_init(&m, SX_MOVER_CYCLIST, seed_of(e, D_CYCLIST, i));
		follow_street(e, &m, sign * SX_STREET_CYCLE, oncoming);
		sx_plan_begin(&m.plan, way_of(z), sign * speed);
		if (i % 3 == 1) {
			sx_plan_add(&m.plan, pick(e, D_CYCLIST, 10 * i + 3, 1, 9), 0);
			sx_plan_change(&m.plan, 0, 1.8);
			sx_plan_add(&m.plan, pick(e, D_CYCLIST, 10 * i + 4, 1.5, 4), 0);
			sx_plan_change(&m.plan, sign * speed, 1.2);
		}
		sx_episode_add(e, &m);
	}
}

/* Adds people on the pavements, who walk along the street and sometimes stand. */
static void add_walkers(struct sx_episode *e, int count, double far)
{
	for (int i = 0; i < count; i++) {
		const double side = pick(e, D_WALKER, 10 * i, 0, 1) < 0.5 ? -1 : 1,
			     sign = pick(e, D_WALKER, 10 * i + 1, 0, 1) < 0.5 ? -1 : 1,
			     speed = pick(e, D_WALKER, 10 * i + 2, 0.8, 1.8);
		struct sx_mover m;

		sx_mover_init(&m, SX_MOVER_PERSON, seed_of(e, D_WALKER, i));
		follow_street(e, &m, side * pick(e, D_WALKER, 10 * i + 3, 8.2, 9.4), sign < 0);
		sx_plan_begin(&m.plan, way_of(pick(e, D_WALKER, 10 * i + 4, 3, far)), sign * speed);
		if (i % 4 == 0) {
			sx_plan_add(&m.plan, pick(e, D_WALKER, 10 * i + 5, 0.5, 10), 0);
			sx_plan_change(&m.plan, 0, 2);
			sx_plan_add(&m.plan, pick(e, D_WALKER, 10 * i + 6, 1.5, 5), 0);
			sx_plan_change(&m.plan, sign * speed, 2);
		}
		if (i % 7 == 3) { /* stands all the time */
			sx_plan_begin(&m.plan, m.plan.phase[0].way, 0);
		}
		sx_episode_add(e, &m);
	}
}

/*
 * Adds a person, or sometimes a cyclist, who crosses the street at z at about the time `when`. The person waits at
 * the kerb, may stop in the middle of the street, and goes on along the other pavement.
 */
static bool add_across(struct sx_episode *e, double z, double when, int64_t i)
{
	const bool cyclist = pick(e, D_ACROSS, 20 * i, 0, 1) < 0.2,
		   from_right = pick(e, D_ACROSS, 20 * i + 1, 0, 1) < 0.6;
	const double speed =
		cyclist ? pick(e, D_ACROSS, 20 * i + 2, 2.2, 4) : pick(e, D_ACROSS, 20 * i + 2, 0.9, 2.3);
	const double sign = from_right ? -1 : 1, out = pick(e, D_ACROSS, 20 * i + 3, 0, 1) < 0.5 ? -1 : 1;
	const double lane = pick(e, D_ACROSS, 20 * i + 4, 8.0, 8.6),
		     early = when + pick(e, D_ACROSS, 20 * i + 5, -6, 5), start = early > 0 ? early : 0;
	const double round = 1.6;
	struct sx_mover m;

	sx_mover_init(&m, cyclist ? SX_MOVER_CYCLIST : SX_MOVER_PERSON, seed_of(e, D_ACROSS, i));
	sx_path_begin(&m.path, -sign * lane, z + pick(e, D_ACROSS, 20 * i + 6, 0, 2.2), sign * SX_PI / 2);
	sx_path_add(&m.path, 2 * lane - round, 0);
	sx_path_add(&m.path, sx_path_corner(round), sign * out * SX_PI / 2);
	if (pick(e, D_ACROSS, 20 * i + 7, 0, 1) < 0.4) { /* comes walking */
		sx_plan_begin(&m.plan, -speed * start, speed);
		if (start * speed > 1.6) /* a person does not come through a house */
			sx_plan_begin(&m.plan, 0, 0), sx_plan_add(&m.plan, start, 0);
	} else {
		sx_plan_begin(&m.plan, 0.6, 0);
		sx_plan_add(&m.plan, start, 0);
	}
	sx_plan_change(&m.plan, speed, 1.6);
	if (pick(e, D_ACROSS, 20 * i + 8, 0, 1) < 0.4) { /* stops on the way */
		sx_plan_add(&m.plan, pick(e, D_ACROSS, 20 * i + 9, 3, 9) / speed, 0);
		sx_plan_change(&m.plan, 0, 2.2);
		sx_plan_add(&m.plan, pick(e, D_ACROSS, 20 * i + 10, 0.8, 2.5), 0);
		sx_plan_change(&m.plan, speed, 1.8);
	}
	return sx_episode_add(e, &m);
}

/* Returns the time at which the camera comes to z, s, or the end of the episode if it does not. */
static double time_at(const struct sx_episode *e, double z)
{
	int i = 0;

	while (i < SX_EPISODE_SAMPLES - 1 && (double)e->track[0].z[i] < z)
		i++;
	return 0.1 * i;
}

static void add_people_across(struct sx_episode *e)
{
	for (int site = 0; site < e->walks && site < 7; site++)
		for (int i = 0, found = 0; i < 6 * TRIES && found < 5; i++)
			found += add_across(e, e->walk[site], time_at(e, e->walk[site] - 12), 100 * site + i);
}

void sx_episode_street(struct sx_episode *e)
{
	add_self(e);
	switch (e->kind) {
	case SX_EPISODE_TRAFFIC:
		add_side_traffic(e, 4);
		add_oncoming(e, 16);
		add_cyclists(e, 8);
		add_walkers(e, 26, 250);
		break;
	case SX_EPISODE_CROSSING:
		add_people_across(e);
		add_side_traffic(e, 4);
		add_oncoming(e, 12);
		add_cyclists(e, 4);
		add_walkers(e, 16, 140);
		break;
	default:
		add_oncoming(e, 9);
		add_cyclists(e, 8);
		add_walkers(e, 24, 220);
	}
}
