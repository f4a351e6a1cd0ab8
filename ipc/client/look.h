/*
 * What a column of stixels says: where its ground was first seen, what stands on it, and where it ends. The
 * one rule of "not seen is never free", for free space, scans and points; docs/convert.md has it in words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_CLIENT_LOOK_H
#define SX_IPC_CLIENT_LOOK_H

#include <stdbool.h>

#include "include/stixel_convert.h"
#include "ipc/client/geometry.h"

#define SX_LOOK_NONE UINT32_MAX

/* What counts: heights over the road, m; enum stixel_scan_as of what is not an obstacle. */
struct sx_look_for {
	double height_min, height_max;
	uint32_t above, below, drop, unknown;
};

/* Whether heights over the road can be told. */
bool sx_look_has_road(const struct sx_geometry *g);

/* How an object lies in the road. */
enum sx_look_foot {
	SX_LOOK_ON_ROAD, /* it stands on it or hangs over it; or its foot is hidden */
	SX_LOOK_BELOW,	/* it was measured, and reaches below the road: a lower floor, or what stands on it */
	SX_LOOK_NOWHERE /* nothing can be there: it is no measurement of anything */
};
/* Of an object of disparity d, 0 or more, whose lowest row in image column x is bottom. There is a road. */
enum sx_look_foot sx_look_foot_of(const struct sx_geometry *g, double x, double bottom, double d);

enum sx_look_what {
	SX_LOOK_OBSTACLE, /* stands there */
	SX_LOOK_UNSEEN,	  /* nothing is known from there on */
	SX_LOOK_DROP,	  /* the same, as the ground ends */
	SX_LOOK_EDGE	  /* the image ends, on the ground */
};

/* One thing of a column. */
struct sx_look_thing {
	enum sx_look_what what;
	uint32_t stixel;  /* its number in the frame, SX_LOOK_NONE: none */
	double row;	  /* image row, px: where it begins */
	double disparity; /* px, there; 0 or less: infinitely far */
	bool at_foot;	  /* there is no ground before it: UNSEEN begins below the vehicle */
};

/* A column that is looked at from bottom to top. */
struct sx_look {
	const struct sx_geometry *g;
	const struct sx_look_for *want;
	const struct stixel *list;
	uint32_t count, next, first; /* of list; first: its number in the frame */
	double x;		     /* middle of the column, image column, px */
	int64_t row;		     /* the next one: what is below was looked at */
	bool grounded;		     /* ground was seen, or what counts as such */
	bool blocked;		     /* by an obstacle */
	bool ended;		     /* UNSEEN or DROP was given out */
	bool waits; /* the foot is unknown: it is seen from where ground follows, if it does */
	bool blind, edged;
	uint32_t waiting; /* the stixel that it is, SX_LOOK_NONE: rows without one */
	bool holds;	  /* the obstacle that comes after it */
	struct sx_look_thing held;
	double from_row, from_disparity;   /* where the ground was first seen */
	double until_row, until_disparity; /* where it ended so far */
};

/* The frame's camera and road are those of g, and there is a road. */
struct sx_look sx_look_at(const struct sx_geometry *g, const struct sx_look_for *want,
			  const struct stixel_frame *frame, uint32_t column);
/* The next thing of the column, false: there is none, and the fields above are final. */
bool sx_look_next(struct sx_look *l, struct sx_look_thing *thing);

/*
 * From how far ahead on most columns see their ground, m along the optical axis: the median of where those
 * have it first whose ground begins before anything else (of two in the middle the nearer one). 0: none has.
 * Looks at each column four times, up to the first thing in it.
 */
double sx_look_usual_begin(const struct sx_geometry *g, const struct sx_look_for *want,
			   const struct stixel_frame *frame);

#endif
