/*
 * Slanted stixels: conversion of chosen stixels to published ones, for stages/, cpu/ and gpu/, like
 * stages/stixels/slanted_fit.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_SLANTED_LIST_H
#define SX_STAGES_STIXELS_SLANTED_LIST_H

#include <math.h>
#include <stdbool.h>

#include <stixel.h>

#include "stages/stixels/segment.h"
#include "stages/stixels/slanted_prior.h"

/* A chosen stixel. */
struct sx_slanted_choice {
	uint16_t v_bottom, v_top;
	uint8_t kind, label;
	bool valid;		       /* has a cell of weight > 0 */
	int origin;		       /* row from which the plane counts */
	struct sx_slanted_plane plane; /* objects: a; ground: a, b */
};

/*
 * Further input of the conversion. scored: the pair has scores. ground_q4: expected ground at v_bottom. The
 * other values are from struct sx_slanted_frame.
 */
struct sx_slanted_geometry {
	int cell_height;
	bool scored;
	float slope;
	int32_t ground_q4;
};

SX_SLANTED float sx_slanted_clamp(float x, float lo, float hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

/*
 * Computes the line of a ground stixel. Converts 1/16 px per cell to 1/16384 px per row. The plane has its
 * value in the centre of a cell, the record in the lowest row of the cell.
 */
SX_SLANTED void sx_slanted_ground_line(const struct sx_slanted_geometry *g, const struct sx_slanted_choice *c,
				       struct sx_segment *s)
{
	const float rows = (float)g->cell_height, slope = g->slope + c->plane.b;
	const float foot = c->plane.a + c->plane.b * (float)(c->v_bottom - c->origin);
	const float bottom = ((float)g->ground_q4 + foot) - slope * ((rows - 1.0f) / (2.0f * rows));

	s->slope_q14 = (int16_t)rintf(sx_slanted_clamp(slope * (1024.0f / rows), -32768.0f, 32767.0f));
	s->disparity_q7 = (uint16_t)rintf(sx_slanted_clamp(8.0f * bottom, 0.0f, 65534.0f));
}

/*
 * Converts a choice to a segment. Without scores an object with a disparity below 1 px that begins where the
 * ground has less than 1 px, too, becomes sky. An object without weight is unknown.
 */
SX_SLANTED struct sx_segment sx_slanted_segment(const struct sx_slanted_geometry *g,
						const struct sx_slanted_choice *c)
{
	struct sx_segment s;

	s.v_bottom = c->v_bottom;
	s.v_top = c->v_top;
	s.mean_q4 = s.disparity_q7 = 0;
	s.slope_q14 = 0;
	s.kind = c->kind;
	s.label = c->label;
	if (c->kind == STIXEL_GROUND) {
		sx_slanted_ground_line(g, c, &s);
	} else if (c->kind == STIXEL_OBJECT && !g->scored && c->plane.a < 16.0f && g->ground_q4 < 16) {
		s.kind = STIXEL_SKY;
	} else if (c->kind == STIXEL_OBJECT && !c->valid) {
		s.kind = STIXEL_UNKNOWN;
		s.disparity_q7 = STIXEL_DISPARITY_UNKNOWN;
	} else if (c->kind == STIXEL_OBJECT) {
		s.mean_q4 = (uint16_t)rintf(sx_slanted_clamp(c->plane.a, 0.0f, SX_SLANTED_MAX_Q4));
		s.disparity_q7 = (uint16_t)rintf(sx_slanted_clamp(8.0f * c->plane.a, 0.0f, 65534.0f));
	}
	return s;
}

/*
 * Cuts the rows below `unseen` (struct sx_slanted_place) from a choice. These rows are published as one
 * unknown stixel, because an area that the right camera does not see must not count as free. False: nothing
 * is left of this choice; else it begins above these rows. No measured object is cut: unseen cells have no
 * weight, and an object lies wholly below or wholly above the limit.
 */
SX_SLANTED bool sx_slanted_cut_unseen(struct sx_slanted_choice *c, int unseen)
{
	if ((int)c->v_top < unseen)
		return false;
	if ((int)c->v_bottom < unseen)
		c->v_bottom = (uint16_t)unseen;
	return true;
}

/*
 * Returns the largest number of rows that an object loses to the ground below it: a quarter of the object's
 * rows.
 */
SX_SLANTED int sx_slanted_feet(const struct sx_slanted_model *m, const struct sx_segment *object)
{
	const int quarter = (object->v_top - object->v_bottom + 1) / 4;

	return m->feet < quarter ? m->feet : quarter;
}

/*
 * Returns true if the lowest cell of an object is really ground before it. An upright object stands where the
 * ground below it has the object's disparity. The search also gives the object cells below that row: ground
 * before it, over which the matcher has smeared the object, and the cell in which it stands. Two conditions
 * must hold: the road in the cell below the object, road_q4, and the line of the ground stixel are both
 * nearer than the object. On a road that climbs or falls the first may be wrong, on a piece of ground that
 * rises to the object the second.
 */
SX_SLANTED bool sx_slanted_is_before(const struct sx_segment *ground, const struct sx_segment *object,
				     int cell_height, int32_t road_q4)
{
	const int32_t halves = 2 * (object->v_bottom - 1 - ground->v_bottom) * cell_height + cell_height - 1;

	return road_q4 > (int32_t)object->mean_q4 &&
	       ground->disparity_q7 * 256 + ground->slope_q14 * halves > object->mean_q4 * 2048;
}

/* Converts the energy of a column to the unit of struct sx_segments. */
SX_SLANTED int32_t sx_slanted_total(float cost)
{
	const float q12 = cost * 4096.0f;

	return q12 < 2147483520.0f ? (int32_t)q12 : INT32_MAX;
}

#endif
