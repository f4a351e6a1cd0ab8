/*
 * Confidence of the finished disparity map.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/confidence.h"

void sx_confidence(const struct sx_image *disparity, const struct sx_image *confidence)
{
	for (int y = 0; y < disparity->height; y++) {
		const uint16_t *d = sx_image_row(disparity, y);
		uint8_t *c = sx_image_row(confidence, y);

		for (int x = 0; x < disparity->width; x++)
			if (d[x] == SX_DISPARITY_INVALID)
				c[x] = 0;
	}
}
