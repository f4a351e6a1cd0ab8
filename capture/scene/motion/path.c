/*
 * Ways over the ground.
 *
 * The course in a piece is a cubic of the way: a smooth step. The place is its integral, by Gauss's rule on
 * equal parts of the piece. With five nodes in a part, and turns of up to 120 degrees, the error is below
 * 1e-9 m. The truth has no such error, because the camera and things are drawn at these places.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/motion/path.h"

#include "base/contract.h"
#include "capture/scene/motion/turn.h"

#define PARTS 3

/* Nodes and weights of Gauss's rule with five nodes on 0..1. */
static const double nodes[5] = {0.046910077030668, 0.230765344947158, 0.5, 0.769234655052842,
				0.953089922969332};
static const double weights[5] = {0.118463442528095, 0.239314335249683, 0.284444444444444, 0.239314335249683,
				  0.118463442528095};

static double smooth_step(double u)
{
	return u * u * (3 - 2 * u);
}

/* Returns the place at `way` in a piece, 0 <= way <= its length. */
static struct sx_place place_in(const struct sx_path_piece *p, double way)
{
	const double share = p->length > 0 ? way / p->length : 0, part = way / PARTS;
	struct sx_place r = {p->x, p->z, p->course + p->turn * smooth_step(share), 0};
	struct sx_turn t;

	if (p->turn == 0) {
		t = sx_turn_of(p->course);
		r.x += way * t.sine;
		r.z += way * t.cosine;
		return r;
	}
	sx_must_be(p->length > 0);
	for (int i = 0; i < PARTS; i++)
		for (int k = 0; k < 5; k++) {
			const double u = (i + nodes[k]) * part / p->length;

			t = sx_turn_of(p->course + p->turn * smooth_step(u));
			r.x += weights[k] * part * t.sine;
			r.z += weights[k] * part * t.cosine;
		}
	r.curve = p->turn * 6 * share * (1 - share) / p->length;
	return r;
}

void sx_path_begin(struct sx_path *p, double x, double z, double course)
{
	*p = (struct sx_path){.piece = {{.x = x, .z = z, .course = course}}};
}

void sx_path_add(struct sx_path *p, double length, double turn)
{
	struct sx_path_piece *piece = &p->piece[p->count];
	struct sx_place end;

	sx_must_be(length > 0);
	if (p->count == SX_PATH_PIECES)
		return;
	piece->length = length;
	piece->turn = turn;
	end = place_in(piece, length);
	p->length += length;
	piece[1] = (struct sx_path_piece){.from = p->length, .x = end.x, .z = end.z, .course = end.course};
	p->count++;
}

struct sx_place sx_path_at(const struct sx_path *p, double way, double aside)
{
	const struct sx_path_piece *piece = p->piece;
	struct sx_path_piece straight;
	struct sx_place r;
	struct sx_turn t;

	while (piece < p->piece + p->count && way > piece[1].from)
		piece++;
	if (way < 0 || piece == p->piece + p->count) {
		straight = *piece;
		straight.turn = 0;
		piece = &straight;
	}
	r = place_in(piece, way - piece->from);
	t = sx_turn_of(r.course);
	r.x += aside * t.cosine;
	r.z -= aside * t.sine;
	return r;
}

double sx_path_corner(double reach)
{
	const struct sx_path_piece unit = {.length = 1, .turn = SX_PI / 2};

	return reach / place_in(&unit, 1).x;
}
