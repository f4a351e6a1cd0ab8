/*
 * Episodes: which movers have room beside each other.
 *
 * Movers are compared as rows of discs. A car has three of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/motion/episode.h"

#include "base/contract.h"
#include "capture/scene/motion/turn.h"

#define MARGIN_VEHICLE 0.5 /* least distance of two things, m, if one of them is fast */
#define MARGIN_PERSON 0.2

static void follow(const struct sx_mover *m, struct sx_track *ret)
{
	for (int i = 0; i < SX_EPISODE_SAMPLES; i++) {
		const struct sx_moved at = sx_mover_at(m, 0.1 * i);
		const struct sx_turn t = sx_turn_of(at.course);

		ret->x[i] = (float)at.x;
		ret->z[i] = (float)at.z;
		ret->sine[i] = (float)t.sine;
		ret->cosine[i] = (float)t.cosine;
	}
}

/* Discs that cover a mover: how many, their radius, and the place of the first one and its distance to the next. */
struct discs {
	int count;
	double radius, first, apart;
};

static struct discs discs_of(const struct sx_mover *m)
{
	const double half = 0.5 * m->width;
	struct discs d = {.count = (int)(m->length / m->width + 0.999)};
	const double share = 0.5 * m->length / d.count;

	d.radius = share > half ? 1.12 * share : 1.12 * half;
	d.apart = m->length / d.count;
	d.first = m->before - m->length + 0.5 * d.apart;
	return d;
}

static double square(double x)
{
	return x * x;
}

static bool is_vehicle(const struct sx_mover *m)
{
	return m->kind == SX_MOVER_CAR || m->kind == SX_MOVER_VAN;
}

/* Returns true if two movers keep their distance at sample i. */
static bool is_apart(const struct sx_track *a, const struct discs *da, const struct sx_track *b,
		     const struct discs *db, int i, double least)
{
	const double dx = (double)(a->x[i] - b->x[i]), dz = (double)(a->z[i] - b->z[i]);

	if (square(dx) + square(dz) > square(least + 12))
		return true;
	for (int k = 0; k < da->count; k++)
		for (int j = 0; j < db->count; j++) {
			const double at = da->first + k * da->apart, bt = db->first + j * db->apart;
			const double x = dx + at * (double)a->sine[i] - bt * (double)b->sine[i],
				     z = dz + at * (double)a->cosine[i] - bt * (double)b->cosine[i];

			if (square(x) + square(z) < square(least))
				return false;
		}
	return true;
}

static bool keeps_clear(const struct sx_episode *e, const struct sx_mover *m, const struct sx_track *track,
			int other)
{
	const struct sx_mover *o = &e->mover[other];
	const struct discs mine = discs_of(m), its = discs_of(o);
	const double least =
		mine.radius + its.radius + (is_vehicle(m) || is_vehicle(o) ? MARGIN_VEHICLE : MARGIN_PERSON);

	for (int i = 0; i < SX_EPISODE_SAMPLES; i++)
		if (!is_apart(track, &mine, &e->track[other], &its, i, least))
			return false;
	return true;
}

bool sx_episode_add(struct sx_episode *e, const struct sx_mover *m)
{
	struct sx_track *track = &e->track[e->count];

	if (e->count == SX_MOVERS_MAX - 1) /* the last place is for tries */
		return false;
	follow(m, track);
	for (int i = 0; i < e->count; i++)
		if (!keeps_clear(e, m, track, i))
			return false;
	e->mover[e->count++] = *m;
	return true;
}

bool sx_episode_is_free(const struct sx_episode *e, double x, double z, double radius)
{
	for (int k = 0; k < e->count; k++) {
		const struct discs d = discs_of(&e->mover[k]);
		const struct sx_track *t = &e->track[k];

		for (int i = 0; i < SX_EPISODE_SAMPLES; i++)
			for (int j = 0; j < d.count; j++) {
				const double at = d.first + j * d.apart;

				if (square((double)t->x[i] + at * (double)t->sine[i] - x) +
					    square((double)t->z[i] + at * (double)t->cosine[i] - z) <
				    square(radius + d.radius))
					return false;
			}
	}
	return true;
}

void sx_episode_init(struct sx_episode *e, enum sx_episode_kind kind, uint64_t seed, int64_t number)
{
	sx_must(kind, !=, SX_EPISODE_NONE);
	e->kind = kind;
	e->number = number;
	e->seed = sx_mix(seed, 0x657069736f6465, (uint64_t)number);
	e->count = 0;
	e->side_streets = 0;
	e->walks = 0;
	e->shake = 1;
	if (kind == SX_EPISODE_YARD)
		sx_episode_yard(e);
	else
		sx_episode_street(e);
}
