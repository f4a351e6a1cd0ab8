/*
 * Finds the image files that form the pairs of a "files" source.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_FILE_LIST_H
#define SX_CAPTURE_FILE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "capture/source.h"

#define SX_FILE_LIST_MAX 1000000

#define SX_FILE_LIST_TEXT_BYTES 200

/*
 * Pairs of files: left[i] and right[i], in natural order of left (2 before 10), or by time. right is NULL if
 * one file holds both images.
 * ns: capture times of the left and the right images, ns of the recording's clock, rising, at most
 * SX_FILE_LIST_GAP_S apart; NULL: not known, not asked for, or one pair only.
 * text: sentence about the data set, for the log: "EuRoC: 3682 pairs at 20 pairs/s"; empty: no data set.
 */
struct sx_file_list {
	char **left, **right;
	int64_t *ns[2];
	size_t count;
	char text[SX_FILE_LIST_TEXT_BYTES];
};
#define SX_FILE_LIST_GAP_S 60

/*
 * Finds the pairs.
 * layout two:
 *   p->left and p->right: two folders or glob patterns with equally many files, paired in natural order.
 *   p->path with {left|right} (any two words, also with a comma, any number of times): a pattern with * ?
 *     [..] and %d, %06d. Two files are a pair if their wildcards match the same text.
 *   p->path, a folder: the first rule that fits:
 *     1. a layout of dataset.h: EuRoC and TUM-VI, by time stamps; KITTI and left/right, by equal names;
 *        a scene of Middlebury;
 *     2. files whose names differ in left/right, Left/Right, LEFT/RIGHT, _L/_R, _l/_r before the ending, or
 *        are im0/im1, im2/im6, view1/view5 (Middlebury);
 *     3. rule 2 in each subfolder.
 * layout side-by-side, top-bottom: p->path is a folder or a pattern.
 *
 * Returns 0; -ENOENT: nothing found; -EINVAL: a file without partner, unequal counts, or parameters that do
 * not fit; -EBADMSG: a file with time stamps is damaged; -ENOMEM. On failure a message names the file. finish
 * accepts a zeroed list.
 */
int sx_file_list_find(struct sx_file_list *ret, const struct sx_source_params *p, struct sx_why *why);
void sx_file_list_finish(struct sx_file_list *l);
/* Returns the mean number of pairs per second by their capture times; 0: no times. */
double sx_file_list_rate(const struct sx_file_list *l);

#endif
