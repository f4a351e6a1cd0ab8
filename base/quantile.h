/*
 * Quantiles of a few numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_QUANTILE_H
#define SX_BASE_QUANTILE_H

#include <stddef.h>

/*
 * Sorts value[n], n >= 1, none of them NAN, and returns the one that a share (0..1) of them is not above:
 * value[floor(share * (n - 1))]. 0.5: their median, of two in the middle the lower.
 */
double sx_quantile(double *value, size_t n, double share);

#endif
