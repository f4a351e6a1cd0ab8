/*
 * Walks a column of stixels from bottom to top.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/client/look.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/contract.h"

/*
 * An object that seems to reach this far below the road still stands on it. Windows of the matching cost and
 * cells of stixels spread an object over LOOK_SPREAD_ROWS rows of the ground before it. An error of the road
 * shifts the object by a share of its distance.
 */
#define LOOK_SPREAD_ROWS 8.0
#define LOOK_SPREAD_SHARE 0.25

/*
 * If the ground reaches an object whose foot appears this far below the road, the foot is more exact than the
 * disparity. Behind the edge of a drop the lower floor has about the disparity of the object behind it, and
 * both are published as one object.
 */
#define LOOK_FOOT_ROWS 4.0
#define LOOK_FOOT_SHARE 0.1

/* A lower floor lies at most this many camera heights below the road. A deeper object is a wrong match. */
#define LOOK_DROP_HEIGHTS 9.0
#define LOOK_DROP_DISPARITY 1.0 /* px; a smaller disparity is no measurement of a floor */

/*
 * The road of a frame has no steps, so a kerb that is low for the height of the camera is published as
 * ground: as two stixels, of which the upper one begins with more disparity than the lower one ends with.
 * Windows of the matching cost show only a share of a step up. A smaller difference is noise, and so is any
 * difference of a stixel with less support.
 */
#define LOOK_STEP_SHARE 0.8
#define LOOK_STEP_DISPARITY 0.5 /* px */
#define LOOK_STEP_SUPPORT 3

#define LOOK_LABELS 32 /* number of labels that ground_labels can name */

/*
 * Number of rows at the top of the image that may belong to no stixel. It is less than the height of the
 * highest cell.
 */
#define LOOK_TOP_ROWS 32

bool sx_look_has_road(const struct sx_geometry *g)
{
	return g->road && g->ground.slope > 0.0 && g->ground.slope < HUGE_VAL && g->header->height_m > 0.0;
}

static double look_ground(const struct sx_look *l, double row)
{
	return stixel_ground_disparity(l->g->header, l->x, row);
}

enum sx_look_foot sx_look_foot_of(const struct sx_geometry *g, double x, double bottom, double d)
{
	const double ground = stixel_ground_disparity(g->header, x, bottom), under = ground - d;

	sx_must_or(return SX_LOOK_NOWHERE, g->road, ==, true);
	if (!(under > LOOK_SPREAD_ROWS * g->ground.slope && under > LOOK_SPREAD_SHARE * d))
		return SX_LOOK_ON_ROAD;
	return d >= LOOK_DROP_DISPARITY && under <= LOOK_DROP_HEIGHTS * d ? SX_LOOK_BELOW : SX_LOOK_NOWHERE;
}

/*
 * Rows of both height limits of an obstacle, for an object at disparity d > 0 px in the middle of a column.
 */
struct look_band {
	double lowest, highest;
};

static struct look_band look_band(const struct sx_look *l, double d)
{
	const struct sx_upright at = sx_geometry_upright(l->g, l->x, d);

	return (struct look_band){at.foot_row - l->want->height_min / at.m_per_row,
				  at.foot_row - l->want->height_max / at.m_per_row};
}

/* Returns the disparity of the column's nearest filled object within the height limits, px; 0: none. */
static double look_filled(const struct sx_look *l)
{
	double nearest = 0.0;

	for (uint32_t i = 0; i < l->count; i++) {
		const struct stixel *s = &l->list[i];
		const double d = stixel_disparity_px(s);
		struct look_band band;

		if (s->kind != STIXEL_OBJECT || !stixel_is_filled(s) || !(d > nearest) ||
		    sx_look_foot_of(l->g, l->x, s->row_bottom, d) != SX_LOOK_ON_ROAD)
			continue;
		band = look_band(l, d);
		if (s->row_top - 0.5 < band.lowest && s->row_bottom + 0.5 > band.highest)
			nearest = d;
	}
	return nearest;
}

struct sx_look sx_look_at(const struct sx_geometry *g, const struct sx_look_for *want,
			  const struct stixel_frame *frame, uint32_t column)
{
	const struct stixel_frame_header *h = frame->header;
	struct sx_look l = {.g = g, .want = want, .waiting = SX_LOOK_NONE};

	sx_must_or(return l, column, <, h->columns);
	l.list = stixel_column(frame, column, &l.count);
	l.first = frame->offsets[column];
	l.x = sx_geometry_middle(g, column);
	l.row = (int64_t)h->image_height - 1;
	l.blind = h->flags & STIXEL_FRAME_BLIND;
	l.until_row = h->image_height - 0.5;
	l.until_disparity = look_ground(&l, l.until_row);
	l.filled = want->filled == STIXEL_SCAN_AS_UNSEEN ? look_filled(&l) : 0.0;
	return l;
}

/* Begins the column: ground that counts was first seen here. */
static void look_from(struct sx_look *l, double row, double disparity)
{
	sx_must_or(return, l->begins, ==, false);
	l->begins = true;
	l->from_row = row;
	l->from_disparity = disparity;
}

/*
 * Extends the ground: the vehicle can drive from from_row to until_row, on ground or over objects that count
 * as free.
 */
static void look_drive(struct sx_look *l, double from_row, double from, double until_row, double until)
{
	sx_must_or(return, l->row, >=, -1);
	if (l->ended || l->blind)
		return;
	if (!l->grounded && from > 0.0) {
		l->grounded = true;
		l->late = l->waits;
		l->waits = false;
		l->first_disparity = from;
		if (l->want->ground_labels == 0)
			look_from(l, from_row, from);
	}
	l->until_row = until_row;
	/* NAN in a forged frame: the ground ends here */
	l->until_disparity = isnan(until) ? HUGE_VAL : until;
}

/* Returns the lowest row of the image. */
static double look_foot(const struct sx_look *l)
{
	return l->g->header->image_height - 1.0;
}

/*
 * Returns the end of the ground before row bottom. If the stixels of a frame are out of order, that row may lie
 * below the ground's end.
 */
static struct sx_look_thing look_end_of(const struct sx_look *l, enum sx_look_what what, double bottom,
					uint32_t stixel)
{
	const double ground = look_ground(l, bottom + 0.5);
	struct sx_look_thing end = {what, stixel, l->until_row, l->until_disparity, !l->grounded, false};

	sx_must_or(return end, what, !=, SX_LOOK_OBSTACLE);
	if (ground > l->until_disparity) {
		end.row = bottom + 0.5;
		end.disparity = ground;
	}
	if (end.disparity < l->filled)
		end.what = SX_LOOK_UNSEEN; /* the end is behind a filled object */
	return end;
}

/* Ends the ground before row bottom. */
static bool look_end(struct sx_look *l, struct sx_look_thing *thing, enum sx_look_what what, double bottom,
		     uint32_t stixel)
{
	if (l->ended || l->blocked)
		return false;
	if (l->waits) /* the ground ends at the unmeasured foot: report the stixel of that foot */
		stixel = l->waiting;
	l->ended = true;
	l->waits = false;
	*thing = look_end_of(l, what, bottom, stixel);
	return true;
}

/*
 * Treats row bottom and the rows above it as not measured: as an obstacle, free or unseen, as want->unknown
 * says.
 */
static bool look_unknown(struct sx_look *l, struct sx_look_thing *thing, double bottom, uint32_t stixel)
{
	const double ground = look_ground(l, bottom + 0.5);

	sx_must_or(return false, stixel, >=, l->first);
	if (!(ground > 0.0) || l->ended || l->blocked)
		return false;
	if (l->want->unknown == STIXEL_SCAN_AS_OBSTACLE && !(ground < l->filled)) {
		l->blocked = true;
		*thing = (struct sx_look_thing){SX_LOOK_OBSTACLE, stixel, bottom + 0.5, ground, false, false};
		return true;
	}
	if (l->want->unknown == STIXEL_SCAN_AS_FREE) {
		look_drive(l, bottom + 0.5, ground, bottom + 0.5, ground);
		return false;
	}
	if (l->grounded)
		return look_end(l, thing, SX_LOOK_UNSEEN, bottom, stixel);
	if (!l->waits)
		l->waiting = stixel;
	l->waits = true;
	return false;
}

/*
 * Moves the place of an object to where its lower edge sees the road, if the ground reaches it and that place
 * is clearly nearer than its disparity.
 */
static void look_stand(const struct sx_look *l, double bottom, double *row, double *d)
{
	const double ground = look_ground(l, bottom), under = ground - *d;

	sx_must_or(return, *row, <=, bottom);
	if (l->grounded && !l->ended && under > LOOK_FOOT_ROWS * l->g->ground.slope &&
	    under > LOOK_FOOT_SHARE * *d) {
		*row = bottom;
		*d = ground;
	}
}

/* Reports an object as an obstacle or as unseen, as `as` says. It begins at row with disparity d. */
static bool look_take(struct sx_look *l, struct sx_look_thing *thing, uint32_t as, double row, double d,
		      uint32_t stixel)
{
	sx_must_or(return false, as, <=, STIXEL_SCAN_AS_UNSEEN);
	if (as == STIXEL_SCAN_AS_UNSEEN && (l->ended || l->blocked))
		return false;
	*thing = (struct sx_look_thing){SX_LOOK_OBSTACLE, stixel, row, d, false, false};
	if (as == STIXEL_SCAN_AS_OBSTACLE) {
		l->blocked = true;
	} else {
		l->ended = true;
		thing->what = SX_LOOK_UNSEEN;
	}
	return true;
}

/* Ends the column at an object that lies below the road, without ground before it. */
static bool look_lower_floor(struct sx_look *l, struct sx_look_thing *thing, const struct stixel *object,
			     uint32_t stixel)
{
	sx_must_or(return false, l->grounded, ==, false);
	if (!look_end(l, thing, SX_LOOK_UNSEEN, object->row_bottom, stixel))
		return false;
	thing->below = !stixel_is_filled(object) && l->want->drop != STIXEL_SCAN_AS_FREE;
	return true;
}

/*
 * Reports an object. Its position is its lowest row within the height limits, or its lowest row if none is
 * within them. So objects at one distance have the same row in all columns, and a camera with roll sees no
 * gaps between them. An object whose foot is nearer than its disparity (look_stand) has the position of its
 * foot.
 */
static bool look_object(struct sx_look *l, struct sx_look_thing *thing, const struct stixel *object,
			uint32_t stixel)
{
	double d = stixel_disparity_px(object), row;
	const double top = object->row_top - 0.5;
	const enum sx_look_foot foot = sx_look_foot_of(l->g, l->x, object->row_bottom, d);
	const double bottom = object->row_bottom + 0.5;
	uint32_t as = STIXEL_SCAN_AS_UNSEEN;
	struct look_band band;

	if (foot == SX_LOOK_NOWHERE)
		return look_end(l, thing, SX_LOOK_UNSEEN, object->row_bottom, stixel);
	if (foot == SX_LOOK_BELOW && !l->grounded)
		return look_lower_floor(l, thing, object, stixel);
	if (foot == SX_LOOK_BELOW && l->want->drop != STIXEL_SCAN_AS_FREE)
		return look_end(l, thing, SX_LOOK_DROP, object->row_bottom, stixel);
	if (!(d > 0.0))
		return false;
	band = look_band(l, d);
	if (top >= band.lowest && l->want->below == STIXEL_SCAN_AS_FREE) {
		look_drive(l, bottom, d, top, d);
		return false;
	}
	if (top >= band.lowest)
		return look_take(l, thing, l->want->below, bottom, d, stixel);
	if (bottom <= band.highest)
		return l->want->above != STIXEL_SCAN_AS_FREE &&
		       look_take(l, thing, l->want->above, bottom, d, stixel);
	if (d < l->filled)
		return false;
	if (l->filled > 0.0 && stixel_is_filled(object))
		l->ended = false; /* the object is nearer than the end of the ground returned before */
	else
		as = STIXEL_SCAN_AS_OBSTACLE;
	row = bottom > band.lowest ? band.lowest : bottom;
	if (foot == SX_LOOK_ON_ROAD)
		look_stand(l, bottom, &row, &d);
	return look_take(l, thing, as, row, d, stixel);
}

/* Ends the ground at sky that begins well below the horizon, because such sky is no measurement. */
static bool look_sky(struct sx_look *l, struct sx_look_thing *thing, const struct stixel *sky,
		     uint32_t stixel)
{
	return sx_look_foot_of(l->g, l->x, sky->row_bottom, 0.0) == SX_LOOK_NOWHERE &&
	       look_end(l, thing, SX_LOOK_UNSEEN, sky->row_bottom, stixel);
}

/*
 * Returns the height by which ground steps up (down: less than 0) from the ground that ends at the row below
 * it, m. 0: no step that hinders the vehicle.
 */
static double look_step(const struct sx_look *l, const struct stixel *ground)
{
	const double d = stixel_disparity_px(ground), step = d - l->surface;
	double height;

	if (!(l->surface > 0.0) || !(d > 0.0) || l->surface_row != ground->row_bottom ||
	    ground->support < LOOK_STEP_SUPPORT || !(fabs(step) > LOOK_STEP_DISPARITY))
		return 0.0;
	height = l->g->header->height_m * step / d;
	return height > LOOK_STEP_SHARE * l->want->height_min || -height > l->want->height_min ? height : 0.0;
}

/* Keeps where the surface of a stixel of ground ends. */
static void look_keep_surface(struct sx_look *l, const struct stixel *ground)
{
	const double rows = ground->row_bottom - ground->row_top + 1.0;

	sx_must_or(return, ground->kind, ==, STIXEL_GROUND);
	l->surface = 0.0;
	if (ground->support >= LOOK_STEP_SUPPORT)
		l->surface = stixel_disparity_px(ground) + rows * ground->slope_q14 / 16384.0;
	l->surface_row = ground->row_top - 1;
}

/*
 * Judges a stixel of ground by its label, before the walk passes it. Returns whether *thing is the end of the
 * ground that counts. The walk itself goes on as if all ground counted, so that it finds the same drops and
 * obstacles.
 */
static bool look_label(struct sx_look *l, struct sx_look_thing *thing, const struct stixel *ground,
		       uint32_t stixel)
{
	const uint32_t labels = l->want->ground_labels;
	const double bottom = ground->row_bottom + 0.5, disparity = look_ground(l, bottom);
	const bool known = ground->label < LOOK_LABELS, foot_seen = !(l->late || l->waits || l->vague);

	sx_must_or(return false, ground->kind, ==, STIXEL_GROUND);
	if (labels == 0 || l->classed || l->ended || !(disparity > 0.0))
		return false;
	if (known && (labels >> ground->label & 1u)) {
		if (!l->begins) /* the column begins behind a low object that the vehicle drives over */
			look_from(l, bottom,
				  l->grounded && l->first_disparity < disparity ? l->first_disparity
										: disparity);
		l->late |= l->vague;
		return false;
	}
	if (!known && !l->begins) {
		if (foot_seen)
			l->waiting = stixel;
		l->vague = true;
		return false;
	}
	l->classed = true;
	if (l->blocked || (!l->begins && !foot_seen))
		return false;
	*thing = look_end_of(l, known ? SX_LOOK_OTHER : SX_LOOK_CLASSLESS, ground->row_bottom, stixel);
	thing->at_foot = !l->begins;
	return true;
}

/*
 * Treats a stixel of ground: a step up is an obstacle, and a step down ends the ground. A label that does not
 * count ends the ground that counts.
 */
static bool look_ground_stixel(struct sx_look *l, struct sx_look_thing *thing, const struct stixel *ground,
			       uint32_t stixel)
{
	const double bottom = ground->row_bottom + 0.5, before = l->surface, step = look_step(l, ground);
	bool other;

	look_keep_surface(l, ground);
	if (step > 0.0 && !l->blocked && !l->ended && !(before < l->filled))
		return look_take(l, thing, STIXEL_SCAN_AS_OBSTACLE, bottom, before, stixel);
	if (step < 0.0 && l->grounded && l->want->drop != STIXEL_SCAN_AS_FREE)
		return look_end(l, thing, SX_LOOK_DROP, ground->row_bottom, stixel);
	other = look_label(l, thing, ground, stixel);
	look_drive(l, bottom, look_ground(l, bottom), ground->row_top, look_ground(l, ground->row_top));
	return other;
}

static bool look_stixel(struct sx_look *l, struct sx_look_thing *thing, const struct stixel *one,
			uint32_t stixel)
{
	sx_must_or(return false, stixel - l->first, <, l->count);
	switch (one->kind) {
	case STIXEL_GROUND:
		return look_ground_stixel(l, thing, one, stixel);
	case STIXEL_SKY:
		return look_sky(l, thing, one, stixel);
	case STIXEL_OBJECT:
		if (one->disparity_q7 != STIXEL_DISPARITY_UNKNOWN)
			return look_object(l, thing, one, stixel);
		break;
	default: /* STIXEL_UNKNOWN, or a kind of a newer publisher */
		break;
	}
	return look_unknown(l, thing, one->row_bottom, stixel);
}

/* Handles rows without a stixel: below the next stixel, or above the last one (STIXEL_FLAG_CUT). */
static bool look_gap(struct sx_look *l, struct sx_look_thing *thing, int64_t until)
{
	const int64_t bottom = l->row;

	sx_must_or(return false, until, <, bottom);
	l->row = until;
	return look_unknown(l, thing, (double)bottom, SX_LOOK_NONE);
}

/* Handles the rows above the last stixel. */
static bool look_top(struct sx_look *l, struct sx_look_thing *thing)
{
	sx_must_or(return false, l->next, ==, l->count);
	if (l->row >= LOOK_TOP_ROWS && look_gap(l, thing, -1))
		return true;
	if (l->waits && look_end(l, thing, SX_LOOK_UNSEEN, look_foot(l), SX_LOOK_NONE))
		return true;
	if (!l->grounded || l->blocked || l->ended || l->edged || l->until_row >= LOOK_TOP_ROWS ||
	    !(look_ground(l, -0.5) > 0.0))
		return false;
	l->edged = true;
	*thing = (struct sx_look_thing){.what = SX_LOOK_EDGE,
					.stixel = SX_LOOK_NONE,
					.row = l->until_row,
					.disparity = l->until_disparity};
	return true;
}

/* Returns the unseen foot first and holds the obstacle above it for the next call. */
static void look_hold(struct sx_look *l, struct sx_look_thing *thing)
{
	sx_must_or(return, l->waits, ==, true);
	l->held = *thing;
	l->holds = true;
	l->blocked = false;
	look_end(l, thing, SX_LOOK_UNSEEN, look_foot(l), SX_LOOK_NONE);
	l->blocked = true;
}

bool sx_look_next(struct sx_look *l, struct sx_look_thing *thing)
{
	bool found = l->blind && look_end(l, thing, SX_LOOK_UNSEEN, look_foot(l), SX_LOOK_NONE);

	if (l->holds) {
		l->holds = false;
		*thing = l->held;
		return true;
	}
	while (!found && l->next < l->count) {
		const struct stixel *one = &l->list[l->next];

		if (one->row_bottom < l->row) {
			found = look_gap(l, thing, one->row_bottom);
			continue;
		}
		l->row = one->row_top - 1;
		found = look_stixel(l, thing, one, l->first + l->next++);
	}
	if (found && thing->what == SX_LOOK_OBSTACLE && l->waits)
		look_hold(l, thing);
	return found || look_top(l, thing);
}

/* ---- median over the columns ---- */

/*
 * Returns the distance of a column's first ground, m, as the bits of a float. Non-negative floats sort like
 * their bits. False: the column has no ground.
 */
static bool look_begin(const struct sx_geometry *g, const struct sx_look_for *want,
		       const struct stixel_frame *frame, uint32_t column, uint32_t *bits)
{
	struct sx_look l = sx_look_at(g, want, frame, column);
	struct sx_look_thing first;
	double depth;
	float m;

	sx_must_or(return false, column, <, frame->header->columns);
	sx_look_next(&l, &first);
	depth = l.grounded ? g->focal_baseline / l.first_disparity : HUGE_VAL;
	if (!(depth >= 0.0 && depth <= (double)FLT_MAX))
		return false;
	m = (float)depth;
	memcpy(bits, &m, sizeof(m));
	return true;
}

/* Finds the median byte by byte, the highest byte first. So it needs no memory for a list. */
double sx_look_usual_begin(const struct sx_geometry *g, const struct sx_look_for *want,
			   const struct stixel_frame *frame)
{
	uint32_t known = 0, rank = 0; /* known: the higher bytes; rank: among the values with these bytes */
	float median;

	for (int shift = 24; shift >= 0; shift -= 8) {
		uint32_t counts[256] = {0}, all = 0, bits, digit = 0;

		for (uint32_t u = 0; u < frame->header->columns; u++) {
			if (!look_begin(g, want, frame, u, &bits) || (uint64_t)bits >> (shift + 8) != known)
				continue;
			counts[bits >> shift & 255]++;
			all++;
		}
		if (all == 0)
			return 0.0;
		if (shift == 24)
			rank = (all - 1) / 2;
		sx_must_or(return 0.0, rank, <, all);
		while (rank >= counts[digit])
			rank -= counts[digit++];
		known = known << 8 | digit;
	}
	memcpy(&median, &known, sizeof(median));
	return (double)median;
}
