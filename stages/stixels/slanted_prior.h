/*
 * Slanted stixels: cost of one stixel on another, for stages/, cpu/ and gpu/, like
 * stages/stixels/slanted_fit.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_SLANTED_PRIOR_H
#define SX_STAGES_STIXELS_SLANTED_PRIOR_H

#include <stixel.h>

#include "stages/stixels/slanted_fit.h"

/*
 * The cheapest columns up to a row p that end with each kind there. cost is SX_SLANTED_ILLEGAL if there is
 * none.
 */
struct sx_slanted_below {
	float cost[3];	   /* indexed by enum stixel_kind */
	float object;	   /* disparity of the last object, 1/16 px */
	float ground_next; /* disparity of the last ground, continued to row p + 1 */
};

/* The cheapest of these columns to stand on. from: object before ground before sky on ties. */
struct sx_slanted_step {
	float cost;
	uint8_t from;
};

SX_SLANTED void sx_slanted_consider(struct sx_slanted_step *s, const struct sx_slanted_below *b, uint8_t kind,
				    float prior)
{
	const float cost = b->cost[kind] + prior;

	if (cost < s->cost) {
		s->cost = cost;
		s->from = kind;
	}
}

/*
 * Returns the cheapest step to a new object. a: disparity of the new object; gravity: of its lowest row. If
 * the difference is at most 1/16 px, the object stands on the ground, or is as far away as the object below.
 */
SX_SLANTED struct sx_slanted_step sx_slanted_on_object(const struct sx_slanted_model *m,
						       const struct sx_slanted_below *b, float a,
						       float gravity)
{
	struct sx_slanted_step s = {SX_SLANTED_ILLEGAL, STIXEL_OBJECT};
	const float nearer = a - b->object, off = a - b->ground_next, far = off < 0.0f ? -off : off;

	sx_slanted_consider(&s, b, STIXEL_OBJECT, nearer > 1.0f ? m->cut_order + m->order * nearer : m->cut);
	sx_slanted_consider(&s, b, STIXEL_GROUND, far > 1.0f ? m->cut + gravity * (16.0f + far) : m->cut);
	sx_slanted_consider(&s, b, STIXEL_SKY, m->cut);
	return s;
}

/*
 * Returns the cheapest step to new ground. a: disparity of the new ground in its lowest row. Ground begins
 * neither nearer than the object below nor on sky.
 */
SX_SLANTED struct sx_slanted_step sx_slanted_on_ground(const struct sx_slanted_model *m,
						       const struct sx_slanted_below *b, float a)
{
	struct sx_slanted_step s = {SX_SLANTED_ILLEGAL, STIXEL_OBJECT};
	const float step = a - b->ground_next, gap = step < 0.0f ? -step : step;

	if (a - b->object <= 1.0f)
		sx_slanted_consider(&s, b, STIXEL_OBJECT, m->cut);
	sx_slanted_consider(&s, b, STIXEL_GROUND, gap > 1.0f ? m->cut_gap : m->cut);
	return s;
}

/*
 * Returns the cheapest step to sky. Sky is on ground only if this ground has less than 1 px, and never on
 * sky.
 */
SX_SLANTED struct sx_slanted_step sx_slanted_on_sky(const struct sx_slanted_model *m,
						    const struct sx_slanted_below *b)
{
	struct sx_slanted_step s = {SX_SLANTED_ILLEGAL, STIXEL_OBJECT};

	sx_slanted_consider(&s, b, STIXEL_OBJECT, m->cut);
	if (b->ground_next < 16.0f)
		sx_slanted_consider(&s, b, STIXEL_GROUND, m->cut);
	return s;
}

/* Returns the energy of a candidate: data, class scores (sum in units of m->semantic), and the columns below. */
SX_SLANTED float sx_slanted_energy(const struct sx_slanted_model *m, float fit, int32_t scores, float below)
{
	return (fit + (float)scores * m->semantic) + below;
}

#endif
