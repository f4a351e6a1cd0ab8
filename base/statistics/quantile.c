/*
 * Quantiles by selection instead of sorting (Hoare 1961). On average, each pass halves the remaining values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/statistics/quantile.h"

static void swap(double *a, double *b)
{
	const double t = *a;

	*a = *b;
	*b = t;
}

double sx_quantile(double *value, size_t n, double share)
{
	const ptrdiff_t at = (ptrdiff_t)(share * (double)(n - 1));
	ptrdiff_t low = 0, high = (ptrdiff_t)n - 1;

	while (low < high) {
		const double pivot = value[low + (high - low) / 2];
		ptrdiff_t up = low, down = high;

		while (up <= down) {
			while (value[up] < pivot)
				up++;
			while (value[down] > pivot)
				down--;
			if (up <= down)
				swap(&value[up++], &value[down--]);
		}
		/* the values between down and up equal the pivot and are in place */
		if (at > down && at < up)
			break;
		if (at <= down)
			high = down;
		else
			low = up;
	}
	return value[at];
}
