/*
 * stixel-process: reads class scores of one image from a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PROCESS_PROCESS_SCORES_H
#define SX_TOOLS_PROCESS_PROCESS_SCORES_H

#include <stddef.h>

#include "base/scores.h"
#include "base/why.h"

/* Scores in whole pages of memory, so that an engine can pin them. */
struct process_scores {
	struct sx_scores scores;
	void *memory;
};

/*
 * Reads scores of an image of this size. The format is recognized by content:
 *   a NumPy file (.npy) of uint8, classes x rows x columns, in C order;
 *   a PNG of class numbers, grey or indexed, 255 unknown: 255 in the plane of a pixel's class.
 * Rows and columns are the image's divided by a scale from 1 to 32, rounded up. If several scales fit, the
 * least is used. Returns 0, or a negative errno and a sentence that begins with the path: -EBADMSG if the
 * file does not fit or is broken, -ENOMEM, ...
 */
int process_scores_read(struct process_scores *ret, const char *path, int classes, int image_width,
			int image_height, struct sx_why *why);
/* Accepts zeroed scores. */
void process_scores_finish(struct process_scores *s);

#endif
