/*
 * Finds the image files that form the pairs of a "files" source.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_FILE_LIST_H
#define SX_CAPTURE_FILE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/why.h"
#include "capture/source.h"

#define SX_FILE_LIST_MAX 1000000

/*
 * Pairs of files: left[i] and right[i], in natural order of left (2 before 10). right is NULL if one file
 * holds both images.
 */
struct sx_file_list {
	char **left, **right;
	size_t count;
};

/*
 * Finds the pairs.
 * layout two:
 *   p->left and p->right: two folders or glob patterns with equally many files, paired in natural order.
 *   p->path with {left|right} (any two words, also with a comma, any number of times): a pattern with * ?
 *     [..] and %d, %06d. Two files are a pair if their wildcards match the same text.
 *   p->path, a folder: the first rule that fits:
 *     1. subfolders image_2/image_3 (KITTI 2015), image_0/image_1, colored_0/colored_1 (2012), image_02/data
 *        and image_03/data, image_00/data and image_01/data (raw), left/right: equal file names;
 *     2. files whose names differ in left/right, Left/Right, LEFT/RIGHT, _L/_R, _l/_r before the ending, or
 *        are im0/im1, im2/im6, view1/view5 (Middlebury);
 *     3. rule 2 in each subfolder.
 * layout side-by-side, top-bottom: p->path is a folder or a pattern.
 *
 * Returns 0; -ENOENT: nothing found; -EINVAL: a file without partner, unequal counts, or parameters that do
 * not fit; -ENOMEM. On failure a message names the file. finish accepts a zeroed list.
 */
int sx_file_list_find(struct sx_file_list *ret, const struct sx_source_params *p, struct sx_why *why);
void sx_file_list_finish(struct sx_file_list *l);
/* Returns the subfolder of the left images that rule 1 finds in a folder, such as "image_2"; NULL: none. */
const char *sx_file_list_subfolder(const char *folder);

#endif
