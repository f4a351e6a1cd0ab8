/*
 * Quantiles of a few numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_QUANTILE_H
#define SX_BASE_QUANTILE_H

#include <stddef.h>

/*
 * Of value[n], n >= 1, none of them NAN: the one that a share (0..1) of them is not above, which is
 * value[floor(share * (n - 1))] once they are sorted. 0.5: their median, of two in the middle the lower. They
 * are reordered: it is at that place afterwards, none before it is greater, none behind it less.
 */
double sx_quantile(double *value, size_t n, double share);

#endif
