/*
 * A disparity map that another process has measured. An engine takes it instead of matching a pair.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_DISPARITY_H
#define SX_BASE_DISPARITY_H

#include <stddef.h>
#include <stdint.h>

/*
 * data: disparities of the rectified left image, one value per pixel in 1/256 px, 0 invalid, as in KITTI's
 * files. pitch: bytes from one row to the next, an even number. confidence: one value 0..255 per pixel, rows
 * confidence_pitch bytes apart; NULL: not known. captured_ns: capture time of the left image,
 * CLOCK_MONOTONIC.
 * The owner keeps the memory valid until the pair that carries the map is released.
 */
struct sx_disparity {
	const uint16_t *data;
	const uint8_t *confidence;
	size_t pitch, confidence_pitch;
	int width, height;
	int64_t captured_ns;
};

#endif
