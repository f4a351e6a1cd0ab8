/*
 * A disparity map that another process has measured: what an engine takes instead of matching a pair.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_DISPARITY_H
#define SX_BASE_DISPARITY_H

#include <stddef.h>
#include <stdint.h>

/*
 * data: of the rectified left image, one value a pixel in 1/256 px, 0 invalid, as KITTI writes them; rows
 * pitch bytes apart, an even number. confidence: 0..255 a pixel, rows confidence_pitch bytes apart; NULL: not
 * known. captured_ns: capture time of the left image, CLOCK_MONOTONIC.
 * Memory: the owner's, until the pair that carries it is released.
 */
struct sx_disparity {
	const uint16_t *data;
	const uint8_t *confidence;
	size_t pitch, confidence_pitch;
	int width, height;
	int64_t captured_ns;
};

#endif
