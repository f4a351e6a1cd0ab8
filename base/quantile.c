/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantile.h"

#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double sx_quantile(double *value, size_t n, double share)
{
	qsort(value, n, sizeof(*value), by_number);
	return value[(size_t)(share * (double)(n - 1))];
}
