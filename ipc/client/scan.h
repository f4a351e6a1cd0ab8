/*
 * What makes a scan, and its usual options.
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
	float *ranges, *begins; /* begins: NULL if it is not asked for */
	double usual_begin;	/* sx_look_usual_begin(); negative: not asked for yet */
	int64_t left;		/* of what it may cost; negative: it is given up */
};

/* Directions in the plane of the road, rad, between two of which something lies. */
struct sx_scan_span {
	double right, left;
};

/* A column while it is walked. */
struct sx_scan_column {
	double right, middle, left;  /* its edges, image columns, px */
	struct sx_scan_span horizon; /* directions in which they see it */
	bool unseen;		     /* from the vehicle on */
	double seen_to;		     /* m, where its ground ended unseen; 0: it did not */
};

/* In the axes of the vehicle, what pixel x, y sees at 1 m along the optical axis. */
struct sx_vector sx_scan_direction(const struct sx_scan *s, double x, double y);
/* How far away along the road the middle of a column sees disparity d at row y; infinite unless d > 0. */
double sx_scan_range(const struct sx_scan *s, const struct sx_scan_column *c, double y, double d);
/* All but its horizon. */
struct sx_scan_column sx_scan_column_of(const struct sx_scan *s, uint32_t u);

bool sx_scan_accepts(const struct stixel_scan_options *o);
struct sx_look_for sx_scan_look_for(const struct stixel_scan_options *o);

#endif
