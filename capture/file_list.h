/*
 * Which image files make the pairs of a "files" source.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_FILE_LIST_H
#define SX_CAPTURE_FILE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/source.h"

#define SX_FILE_LIST_MAX 1000000

/* left[i] and right[i] are a pair, in natural order of left (2 before 10). right is NULL where one file holds
 * both images. */
struct sx_file_list {
	char **left, **right;
	size_t count;
};

/*
 * layout two:
 *   p->left and p->right: two folders or glob patterns; equally many files, paired in natural order.
 *   p->path with {left|right} (any two words, also with a comma; as often as wanted): a pattern with * ? [..]
 *     and %d, %06d. Partners are equal in all that the wildcards stand for.
 *   p->path, a folder: first that fits of
 *     1. subfolders image_2/image_3 (KITTI 2015), image_0/image_1, colored_0/colored_1 (2012),
 *        image_02/data and image_03/data, image_00/data and image_01/data (raw), left/right: equal file
 *        names;
 *     2. files whose names differ in left/right, Left/Right, LEFT/RIGHT, _L/_R, _l/_r before the ending, or
 *        are im0/im1, im2/im6, view1/view5 (Middlebury);
 *     3. the same rules as 2. in each subfolder.
 * layout side-by-side, top-bottom: p->path is a folder or a pattern.
 *
 * Returns 0; -ENOENT nothing found; -EINVAL a file without partner, unequal counts, or parameters that do not
 * fit; -ENOMEM; with a sentence that names the file. finish accepts a zeroed list.
 */
int sx_file_list_find(struct sx_file_list *ret, const struct sx_source_params *p, char *why,
		      size_t why_bytes);
void sx_file_list_finish(struct sx_file_list *l);
/* The left image's subfolder that rule 1 takes of a folder, "image_2" for example; NULL: none. */
const char *sx_file_list_subfolder(const char *folder);

#endif
