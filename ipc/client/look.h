/*
 * Evaluates a column of stixels: where its ground is first seen, which objects are on it, and where it ends.
 * Free space, scans and points all use this one implementation of the rule "not seen is never free";
 * docs/use/convert.md explains the rule.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_CLIENT_LOOK_H
#define SX_IPC_CLIENT_LOOK_H

#include <stdbool.h>

#include "include/stixel_convert.h"
#include "ipc/client/geometry.h"

#define SX_LOOK_NONE UINT32_MAX

/* Height limits of an obstacle over the road, m, and an enum stixel_scan_as for each other kind of thing. */
struct sx_look_for {
	double height_min, height_max;
	uint32_t above, below, drop, unknown, filled;
	uint32_t ground_labels; /* bits of the labels of ground that counts; 0: all ground */
};

/* True if the frame has a road over which heights can be computed. */
bool sx_look_has_road(const struct sx_geometry *g);

/* Position of an object's foot relative to the road. */
enum sx_look_foot {
	SX_LOOK_ON_ROAD, /* on the road or above it, or its foot is hidden */
	SX_LOOK_BELOW,	 /* measured, and reaches below the road: a lower floor, or an object on one */
	SX_LOOK_NOWHERE	 /* impossible position: no measurement of anything */
};
/*
 * Classifies an object of disparity d >= 0 px whose lowest row in image column x is bottom. The frame must
 * have a road.
 */
enum sx_look_foot sx_look_foot_of(const struct sx_geometry *g, double x, double bottom, double d);

enum sx_look_what {
	SX_LOOK_OBSTACLE, /* an obstacle is here */
	SX_LOOK_UNSEEN,	  /* nothing is known from here on */
	SX_LOOK_DROP,	  /* nothing is known from here on, because the ground ends */
	/* the ground continues, but with none of the labels that count, or without a known class */
	SX_LOOK_OTHER,
	SX_LOOK_CLASSLESS,
	SX_LOOK_EDGE /* the image ends, on the ground */
};

/* One finding in a column. */
struct sx_look_thing {
	enum sx_look_what what;
	uint32_t stixel;  /* stixel index in the frame; SX_LOOK_NONE: none */
	double row;	  /* image row where it begins, px */
	double disparity; /* disparity at that row, px; 0 or less: infinitely far */
	bool at_foot;	  /* no ground that counts before it: UNSEEN and OTHER begin below the vehicle */
	bool below;	  /* at_foot, and what is seen there was measured below the road */
};

/* State of a walk through one column, from bottom to top. */
struct sx_look {
	const struct sx_geometry *g;
	const struct sx_look_for *want;
	const struct stixel *list;
	uint32_t count, next, first; /* count and next index of list; first: index of list[0] in the frame */
	double x;		     /* middle of the column, image column, px */
	int64_t row;		     /* next row to visit; the walk has passed all rows below it */
	bool grounded;		     /* ground, or something that the vehicle drives over, was seen */
	bool begins;		     /* the same, with ground_labels: ground with one of them was seen */
	bool classed;		     /* ground that does not count was met: none counts behind it */
	bool blocked;		     /* an obstacle was found */
	bool ended;		     /* UNSEEN or DROP was returned */
	/*
	 * the foot of the column was not measured: the column counts as seen from its first ground above that
	 * foot, if any
	 */
	bool waits;
	bool vague; /* the class of the first ground is not known; false without ground_labels */
	bool late; /* the foot below the first ground that counts was not measured, or its class is not known */
	bool blind, edged;
	/* index of the stixel at that foot; SX_LOOK_NONE: rows without a stixel */
	uint32_t waiting;
	/* held is valid: an obstacle that sx_look_next() returns after the unmeasured foot */
	bool holds;
	/*
	 * disparity of the nearest filled object that counts as unseen, px; nothing behind is reported; 0:
	 * none
	 */
	double filled;
	struct sx_look_thing held;
	/* surface of the last stixel of ground, continued to row surface_row above it, px; 0: not known */
	double surface;
	int64_t surface_row;
	double first_disparity;		   /* disparity where ground of any class was first seen, px */
	double from_row, from_disparity;   /* row and disparity, px, where the column begins */
	double until_row, until_disparity; /* row and disparity, px, where the ground ended so far */
};

/*
 * Starts a walk through a column. g must hold the frame's camera and road, and there must be a road.
 */
struct sx_look sx_look_at(const struct sx_geometry *g, const struct sx_look_for *want,
			  const struct stixel_frame *frame, uint32_t column);
/* Sets *thing to the next finding of the column. False: there is none, and the fields of *l are final. */
bool sx_look_next(struct sx_look *l, struct sx_look_thing *thing);

/*
 * Returns the distance from which most columns see their ground, m along the optical axis; 0: no column has
 * ground. The distance is the median over the columns whose ground begins before anything else, of two middle
 * values the nearer one. Walks each column four times, up to its first finding.
 */
double sx_look_usual_begin(const struct sx_geometry *g, const struct sx_look_for *want,
			   const struct stixel_frame *frame);

#endif
