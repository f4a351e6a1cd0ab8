/*
 * Class scores of a left image, from a segmentation network in another process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_SCORES_H
#define SX_BASE_SCORES_H

#include <stddef.h>
#include <stdint.h>

#define SX_CLASSES_MAX 32
#define SX_SCORES_SCALE_MAX 32

/*
 * data: probabilities in 1/255, [class][row][column]. pitch: bytes from one row to the next. plane_bytes:
 * bytes from one plane to the next. Image pixel (x, y) has the scores of (x / scale, y / scale). width =
 * ceil(image width / scale), height = ceil(image height / scale); scale 1..32. The scores of one pixel need
 * not add up to 255. captured_ns: capture time of the left image, CLOCK_MONOTONIC.
 * The owner keeps the memory valid until the pair that carries the scores is released.
 */
struct sx_scores {
	const uint8_t *data;
	size_t pitch, plane_bytes;
	int classes, width, height, scale;
	int64_t captured_ns;
};

#endif
