/*
 * stixel-process: class scores of one image from a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PROCESS_PROCESS_SCORES_H
#define SX_TOOLS_PROCESS_PROCESS_SCORES_H

#include <stddef.h>

#include "base/scores.h"

/* Whole pages: what is read can be pinned. */
struct process_scores {
	struct sx_scores scores;
	void *memory;
};

/*
 * Reads scores of an image of this size, told apart by their content:
 * a NumPy file (.npy) of uint8, classes x rows x columns, in C order;
 * a PNG of class numbers, grey or indexed, 255 unknown: 255 in the plane of a pixel's class.
 * Rows and columns are the image's divided by a scale from 1 to 32, rounded up; where several fit, by the
 * least of them. 0, or negative errno and a sentence that begins with the path: -EBADMSG it does not fit,
 * or is broken; -ENOMEM, ...
 */
int process_scores_read(struct process_scores *ret, const char *path, int classes, int image_width,
			int image_height, char *why, size_t why_bytes);
/* Accepts a zeroed one. */
void process_scores_finish(struct process_scores *s);

#endif
