/*
 * Mask of the confidence. stages/stereo/confidence.h defines the result. The compiler vectorises it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_CONFIDENCE_KERNEL_H
#define SX_CPU_KERNELS_CONFIDENCE_KERNEL_H

#include <stdint.h>

#include "base/image.h"

static void confidence_rows(const struct sx_image *disparity, const struct sx_image *confidence, int y0,
			    int y1)
{
	for (int y = y0; y < y1; y++) {
		const uint16_t *restrict d = sx_image_row(disparity, y);
		uint8_t *restrict c = sx_image_row(confidence, y);

		for (int x = 0; x < disparity->width; x++)
			c[x] &= (uint8_t) - (d[x] != SX_DISPARITY_INVALID);
	}
}

#endif
