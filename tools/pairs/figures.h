/*
 * What some pairs of one rig say about it: figures, without a verdict (faults.h has that).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PAIRS_FIGURES_H
#define SX_TOOLS_PAIRS_FIGURES_H

#include "base/image.h"

/*
 * NAN: not known. Arrays: left, right. dy: rows by which a place of the left image is lower in the right one,
 * px. Coordinates of the rows' model: from the middle of the right image, px; y goes down.
 */
struct sx_pair_figures {
	int pairs, width, height;
	int factor; /* px of a pixel of the views, in which places are looked for (match.h) */
	/* share of the pixels that are measured; and with the images exchanged */
	double density, exchanged;
	/* shares of the samples, and of the areas, as the daemon's monitor counts them */
	double dark[2], saturated[2], flat[2];
	/* share of the pairs with the image of the pair before, of which the other one is new */
	double frozen[2];
	double grey[2];	    /* mean grey level */
	double least, most; /* grey levels between which 99 % of the pixels of both images are */
	/* steepest step from pixel to pixel over the contrast of a window; upper quartile of windows */
	double sharp[2];
	double laplacian[2]; /* mean absolute Laplacian, where sharp is not known */
	double difference;   /* mean |left - right|, grey levels */
	int matches;	     /* places that were found again in the other image */
	double still;	     /* share of these within a quarter of a pixel of where they were */
	double agree;	     /* share of these that the model of the rows explains */
	/* of those, not far away (1 px), the share whose disparity is below all that is looked for */
	double behind;
	double disparity; /* their median, px, with those that are far away */
	/* dy = rows + tan(turn) * x + stretch * y; turn: degrees, clockwise: positive */
	double rows, turn, stretch;
	double off;  /* |dy| by this model, px, of 95 % of the places at most */
	double bent; /* px by which a bent model differs from this one, likewise */
	/*
	 * ms by which the right image is later, by places that move up or down; how far the model with that
	 * time misses, as a share of how far the model without it does; px that it moves the places, median;
	 * how many these are.
	 */
	double late_ms, late_miss, late_px;
	int late_places;
	double skew_ms; /* right capture time less left, median; by those of the cameras */
};

/* Everything NAN or 0. */
void sx_pair_figures_init(struct sx_pair_figures *f);

struct sx_pairs;

/* width, height: of all pairs. disparities, min_disparity: px that are looked for. -EINVAL, -ENOMEM. */
int sx_pairs_create(struct sx_pairs **ret, int width, int height, int min_disparity, int disparities);
void sx_pairs_destroy(struct sx_pairs *p);

/*
 * Adds a pair, U8. later: the left image of later_ms milliseconds after this one, or NULL: what moves is not
 * known. 0, -EINVAL (another size or format), -ENOMEM.
 */
int sx_pairs_add(struct sx_pairs *p, const struct sx_image *left, const struct sx_image *right,
		 const struct sx_image *later, double later_ms);

/*
 * Row errors of the left, middle and right third and of all of an image f->width wide, px, NAN: not known, as
 * rows, turn and off.
 */
void sx_pair_rows_of_thirds(struct sx_pair_figures *f, const double rows[4]);

/* Figures of all pairs that were added; what comes from elsewhere (density, exchanged,
 * laplacian, skew_ms) is left NAN. */
void sx_pairs_figures(const struct sx_pairs *p, struct sx_pair_figures *ret);

#endif
