/*
 * Statistics of some pairs of one rig, without a verdict (see faults.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PAIRS_PAIR_STATS_H
#define SX_TOOLS_PAIRS_PAIR_STATS_H

#include "base/image.h"

/*
 * Statistics. NAN: unknown. Arrays: left, right. dy: how many px lower a place of the left image is in the
 * right one. Coordinates of the rows' model are px from the middle of the right image; y points down.
 */
struct sx_pair_stats {
	int pairs, width, height;
	int factor; /* px of an image for one px of the views in which places are searched for (match.h) */
	/* share of the pixels with a disparity, and the same with the images exchanged */
	double density, exchanged;
	/* shares of the samples, and of the areas for `flat`, as the image diagnostics count them */
	double dark[2], saturated[2], flat[2];
	/* share of the pairs whose image equals the previous one while the other image is new */
	double frozen[2];
	double grey[2];	    /* mean grey level */
	double least, most; /* grey levels between which 99 % of the pixels of both images lie */
	/* steepest step between pixels divided by the contrast of a window; upper quartile of windows */
	double sharp[2];
	double laplacian[2]; /* mean absolute Laplacian, if `sharp` is unknown */
	double difference;   /* mean |left - right|, grey levels */
	int matches;	     /* number of places found in the other image */
	/* share of the matches whose positions in both images differ by less than a quarter of a pixel */
	double still;
	double agree; /* share of the matches that fit the model of the rows: the explained places */
	/* share of the explained places, without far ones (1 px), whose disparity is below the range */
	double behind;
	double disparity; /* median disparity of the explained places including far ones, px */
	/* dy = rows + tan(turn) * x + stretch * y; turn: degrees, clockwise: positive */
	double rows, turn, stretch;
	double off;  /* 95th percentile of |dy| by this model over the explained places, px */
	double bent; /* 95th percentile of the difference between a bent model and this one, px */
	/*
	 * late_ms: how much later the right image is, ms, from places that move up or down. late_miss: error
	 * of the model with this time divided by that of the model without. late_px: median shift of the
	 * places by this time, px. late_places: their number.
	 */
	double late_ms, late_miss, late_px;
	int late_places;
	double skew_ms; /* right capture time minus left, ms, median; from the cameras' capture times */
};

/* Sets every statistic to NAN or 0. */
void sx_pair_stats_init(struct sx_pair_stats *f);

struct sx_pairs;

/*
 * Creates an empty set of pairs. width, height: px, of all pairs. min_disparity, disparities: search range,
 * px. Returns 0, -EINVAL or -ENOMEM.
 */
int sx_pairs_create(struct sx_pairs **ret, int width, int height, int min_disparity, int disparities);
void sx_pairs_destroy(struct sx_pairs *p);

/*
 * Adds a pair of U8 images. later: left image taken later_ms milliseconds after this one; NULL: motion is
 * unknown. Returns 0, -EINVAL (another size or format) or -ENOMEM.
 */
int sx_pairs_add(struct sx_pairs *p, const struct sx_image *left, const struct sx_image *right,
		 const struct sx_image *later, double later_ms);

/*
 * Sets `rows`, `turn` and `off` from row errors of an image f->width wide. rows: errors of the left, middle
 * and right third and of the whole image, px. NAN: unknown.
 */
void sx_pair_rows_of_thirds(struct sx_pair_stats *f, const double rows[4]);

/*
 * Computes the statistics of all added pairs. Leaves statistics from other sources NAN: density, exchanged,
 * laplacian, skew_ms.
 */
void sx_pairs_stats(const struct sx_pairs *p, struct sx_pair_stats *ret);

#endif
