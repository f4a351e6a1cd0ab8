/*
 * Fits a linear model to measurements of which some are wrong.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PAIRS_FIT_H
#define SX_TOOLS_PAIRS_FIT_H

#include <stdbool.h>

#define SX_FIT_TERMS 6

/* A measurement: value = sum of c[i] * term[i]. */
struct sx_fit_point {
	double term[SX_FIT_TERMS], value;
};

struct sx_fit {
	double c[SX_FIT_TERMS];
	int inliers;
};

/*
 * Fits by RANSAC, then by least squares over the inliers, three times. A point is an inlier if its residual
 * is at most `tolerance`. leading: every sample contains one of the first `leading` points; 0: all points are
 * treated alike. Samples follow a fixed sequence, so the same points always give the same fit. Returns false
 * if there are fewer than 2 * terms inliers, or if the terms are not independent.
 */
bool sx_fit(struct sx_fit *ret, const struct sx_fit_point *p, int n, int terms, int leading,
	    double tolerance);

/* Returns the residual of a point. */
double sx_fit_residual(const struct sx_fit *f, const struct sx_fit_point *p, int terms);

#endif
