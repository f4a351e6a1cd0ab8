/*
 * A scan in progress, and its default options.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_CLIENT_SCAN_H
#define SX_IPC_CLIENT_SCAN_H

#include "include/stixel_convert.h"
#include "ipc/client/geometry.h"
#include "ipc/client/look.h"

struct sx_scan {
	struct sx_geometry g;
	struct stixel_scan_options o;
	struct sx_look_for want;
	float *ranges;
	float *begins, *speeds; /* NULL if not requested */
	const struct stixel_frame *frame;
	bool speed_known;	   /* the obstacle that is being added has a velocity */
	struct sx_vector velocity; /* over the ground, in the axes of the vehicle, m/s */
	double usual_begin;	   /* sx_look_usual_begin(); negative: not computed yet */
	int64_t left;		   /* remaining work budget, in angles; negative: the scan was given up */
};

/* Range of directions in the road plane, rad, from its right to its left edge. */
struct sx_scan_span {
	double right, left;
};

/* State of one column during the scan. */
struct sx_scan_column {
	double right, middle, left;  /* image columns of its edges and middle, px */
	struct sx_scan_span horizon; /* range of directions of its edges at the horizon */
	bool unseen;		     /* the column is unseen from the vehicle on */
	/* range at which its ground ended unseen, or at which it sees a lower floor first, m; 0: neither */
	double seen_to;
};

/* Returns the point that pixel x, y sees at 1 m along the optical axis, in the axes of the vehicle. */
struct sx_vector sx_scan_direction(const struct sx_scan *s, double x, double y);
/*
 * Returns the range along the road at which the middle of a column sees disparity d at row y, m; infinite
 * unless d > 0.
 */
double sx_scan_range(const struct sx_scan *s, const struct sx_scan_column *c, double y, double d);
/* Returns column u with its edges and its middle. The other fields are 0. */
struct sx_scan_column sx_scan_column_of(const struct sx_scan *s, uint32_t u);

bool sx_scan_accepts(const struct stixel_scan_options *o);
struct sx_look_for sx_scan_look_for(const struct stixel_scan_options *o);

#endif
