/*
 * Finds the pixels that the speckle filter connects. stages/stereo/speckle.h defines the result. The compiler
 * vectorises it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_SPECKLE_KERNEL_H
#define SX_CPU_KERNELS_SPECKLE_KERNEL_H

#include <stdint.h>

#include "base/image.h"

/* Sets flags[x] = 1 where a and b are valid and differ by at most limit. limit is below the invalid value. */
static void connected_row(const uint16_t *restrict a, const uint16_t *restrict b, int n, int limit,
			  uint8_t *restrict flags)
{
	for (int x = 0; x < n; x++) {
		uint16_t low = a[x] < b[x] ? a[x] : b[x], high = a[x] < b[x] ? b[x] : a[x];

		flags[x] = (uint8_t)((high != SX_DISPARITY_INVALID) & (high - low <= limit));
	}
}

#endif
