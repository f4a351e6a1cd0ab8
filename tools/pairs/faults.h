/*
 * Finds what is wrong with a rig, from the statistics of some of its pairs. Needs no camera and no daemon, so
 * that tests/tools/pairs/test_faults.c can test every case.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PAIRS_FAULTS_H
#define SX_TOOLS_PAIRS_FAULTS_H

#include <stdbool.h>

#include "tools/pairs/pair_stats.h"

#define SX_PAIRS_SPARSE 0.4 /* share of the pixels with a disparity; sound pairs have twice as much */

/* Faults, in the order in which they are reported. */
enum sx_pair_fault {
	SX_PAIR_BLACK,	 /* 98 % of one image or both have grey level 8 or less */
	SX_PAIR_WHITE,	 /* 98 % of one image or both have grey level 250 or more */
	SX_PAIR_COVERED, /* 98 % of one image or both are flat, and the error of the rows is unknown */
	/* one image equals that of the previous pair, but the other does not, in half of the pairs */
	SX_PAIR_FROZEN,
	/* 95 % of the places have one position in both images, which differ by at most 3 grey levels */
	SX_PAIR_SAME,
	SX_PAIR_EXCHANGED, /* 80 % of the places, except far ones, have a disparity below the search range */
	SX_PAIR_LATE,	   /* vertical motion shows 0.5 px or more, or capture times differ by 5 ms or more */
	SX_PAIR_ROW_ERROR, /* the row error is 1 px or more in one twentieth of the places */
	/* sharpness of both images is below SX_FOCUS_LEAST, or that of one is below 3/4 of the other's */
	SX_PAIR_FOCUS,
	SX_PAIR_EXPOSURE, /* mean grey level of one image is below 0.6 of the other's */
	SX_PAIR_THIN,	  /* density is below SX_PAIRS_SPARSE, and no other fault is found */
	SX_PAIR_FAULTS
};

#define SX_FOCUS_LEAST 0.22 /* value of sx_pair_stats.sharp for images blurred with a sigma of 2 px */

struct sx_pair_finding {
	enum sx_pair_fault fault;
	bool useless;	    /* with this fault all other statistics have no meaning */
	char text[256];	    /* a sentence without its full stop */
	const char *advice; /* advice for a user with cameras and a daemon */
};

/*
 * Writes the faults to ret and returns their number. Each fault up to SX_PAIR_EXCHANGED is reported alone. A
 * late image also moves rows, so rows are not judged if motion shows SX_PAIR_LATE. Unknown statistics give no
 * fault.
 */
int sx_pair_faults(const struct sx_pair_stats *f, struct sx_pair_finding ret[SX_PAIR_FAULTS]);

#endif
