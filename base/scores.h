/*
 * Class scores of a left image: what a segmentation network of another process says about it.
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
 * data: probabilities in 1/255, [class][row][column], rows pitch bytes apart and planes plane_bytes.
 * Image pixel (x, y) has the scores of (x / scale, y / scale): width = ceil(image width / scale), height
 * likewise; scale 1..32. Scores of one pixel need not add up to 255. captured_ns: capture time of the
 * left image, CLOCK_MONOTONIC.
 * Memory: the owner's, until the pair that carries it is released.
 */
struct sx_scores {
	const uint8_t *data;
	size_t pitch, plane_bytes;
	int classes, width, height, scale;
	int64_t captured_ns;
};

#endif
