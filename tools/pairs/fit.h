/*
 * A linear model through measurements of which some are wrong.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PAIRS_FIT_H
#define SX_TOOLS_PAIRS_FIT_H

#include <stdbool.h>

#define SX_FIT_TERMS 6

/* value = sum of c[i] * term[i] */
struct sx_fit_point {
	double term[SX_FIT_TERMS], value;
};

struct sx_fit {
	double c[SX_FIT_TERMS];
	int inliers;
};

/*
 * RANSAC, then least squares over the inliers, three times. Points whose residual is at most tolerance are
 * inliers. leading: every sample has one of the first so many points; 0: all are alike. Samples are
 * drawn from a fixed sequence, so that the same points always give the same fit. False: fewer than
 * 2 * terms inliers, or terms that do not tell each other apart.
 */
bool sx_fit(struct sx_fit *ret, const struct sx_fit_point *p, int n, int terms, int leading,
	    double tolerance);

/* What the fit leaves of a point. */
double sx_fit_residual(const struct sx_fit *f, const struct sx_fit_point *p, int terms);

#endif
