/*
 * What is wrong with a rig, by the figures of some of its pairs. Knows no camera and no daemon, so that
 * tests/tools/pairs/test_faults.c can try every case.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PAIRS_FAULTS_H
#define SX_TOOLS_PAIRS_FAULTS_H

#include <stdbool.h>

#include "tools/pairs/figures.h"

#define SX_PAIRS_SPARSE 0.4 /* of the pixels; sound pairs have a disparity for twice as many */

/* In the order in which they are said. */
enum sx_pair_fault {
	SX_PAIR_BLACK,	 /* 98 % of one image or both are up to grey level 8 */
	SX_PAIR_WHITE,	 /* 98 % of one image or both are from grey level 250 on */
	SX_PAIR_COVERED, /* 98 % of one image or both are flat, and nothing tells of the rows */
	SX_PAIR_FROZEN,	 /* of half of the pairs one image is that of the pair before, and the other is not */
	SX_PAIR_SAME,	 /* 95 % of the places lie still, and images differ by 3 grey levels at most */
	SX_PAIR_EXCHANGED, /* 80 % of the places, but for those far away, have too low a disparity */
	SX_PAIR_LATE, /* motion up and down says so, by 0.5 px and more; or capture times, by 5 ms and more */
	SX_PAIR_ROWS, /* out of line by 1 px, in one twentieth of the places */
	SX_PAIR_FOCUS,	  /* both below SX_FOCUS_LEAST, or one below 3/4 of the other */
	SX_PAIR_EXPOSURE, /* mean grey level of one below 0.6 of the other's */
	SX_PAIR_THIN,	  /* SX_PAIRS_SPARSE, and nothing else is found */
	SX_PAIR_FAULTS
};

#define SX_FOCUS_LEAST 0.22 /* sharp, of images blurred by a sigma of 2 px */

struct sx_pair_finding {
	enum sx_pair_fault fault;
	bool useless;	    /* nothing that is measured means anything */
	char text[256];	    /* one sentence without its end */
	const char *advice; /* for who has cameras and a daemon */
};

/*
 * Those up to SX_PAIR_EXCHANGED stand alone. A late image moves rows too: with SX_PAIR_LATE by motion rows
 * are not judged. What is not known is not found. Returns how many are.
 */
int sx_pair_faults(const struct sx_pair_figures *f, struct sx_pair_finding ret[SX_PAIR_FAULTS]);

#endif
