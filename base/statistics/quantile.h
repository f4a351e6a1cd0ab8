/*
 * Quantiles of a few numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_STATISTICS_QUANTILE_H
#define SX_BASE_STATISTICS_QUANTILE_H

#include <stddef.h>

/*
 * Returns a quantile of value[n], n >= 1, without NAN. share is 0..1. The result is value[floor(share * (n -
 * 1))] of the sorted values. 0.5 gives the median, of two in the middle the lower one. The function reorders
 * the values: afterwards the result is at that index, no value before it is greater, and no value behind it
 * is less.
 */
double sx_quantile(double *value, size_t n, double share);

#endif
