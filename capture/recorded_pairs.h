/*
 * Pairs of recorded images by their time stamps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_RECORDED_PAIRS_H
#define SX_CAPTURE_RECORDED_PAIRS_H

#include <stdint.h>

#include "capture/dataset.h"
#include "capture/paths.h"

/* Largest time between the two images of a pair. */
#define SX_RECORDED_APART_NS INT64_C(5000000)

/*
 * Pairs that are being found. ns: capture times of left and right images, ns of the recording's clock,
 * rising; NULL: not known. alone: number of images of each side without a partner. absent: number of lines of
 * each file with time stamps whose image does not exist.
 */
struct sx_found {
	struct sx_paths left, right;
	int64_t *ns[2];
	size_t alone[2], absent[2];
};

/*
 * Pairs the images of a data set with named time stamps: two images are a pair if they are nearest to each
 * other and at most SX_RECORDED_APART_NS apart. An image without a partner, and a line without an image, is
 * only counted: excerpts of data sets have these. Returns 0; -ENOENT: no pair; -EBADMSG: a file with time
 * stamps is damaged or names another folder; -ENOMEM, ... with a sentence.
 */
int sx_recorded_pairs(struct sx_found *f, const char *folder, const struct sx_dataset *d, struct sx_why *why);
/*
 * Sets ns of pairs that were found by their names. The number in the name of an image is the number of its
 * line, from 0. Returns 0; -EBADMSG: no such line, or the name is no number; otherwise as
 * sx_recorded_times_read().
 */
int sx_recorded_pairs_date(struct sx_found *f, const char *folder, const struct sx_dataset *d,
			   struct sx_why *why);
void sx_found_finish(struct sx_found *f);

#endif
