/*
 * Lists of path names, patterns with a left and a right side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_PATHS_H
#define SX_CAPTURE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

struct sx_paths {
	char **name;
	size_t count, room;
};

/* Adds a copy of "folder/name" (folder may be NULL). -ENOMEM, or -E2BIG beyond a million. */
int sx_paths_add(struct sx_paths *p, const char *folder, const char *name);
void sx_paths_finish(struct sx_paths *p);
/* Natural order: numbers by value, all else by bytes. */
int sx_paths_compare(const char *a, const char *b);
/* By the same order; the list must be sorted. */
bool sx_paths_has(const struct sx_paths *p, const char *name);

/* Names of image files (by their ending), folders, or all else in a folder, sorted, without it. -errno. */
int sx_paths_images(struct sx_paths *ret, const char *folder);
int sx_paths_folders(struct sx_paths *ret, const char *folder);
int sx_paths_others(struct sx_paths *ret, const char *folder);
bool sx_paths_is_folder(const char *path);
/* What the pattern matches, or the images of the folder that it names; full paths, sorted. */
int sx_paths_expand(struct sx_paths *ret, const char *pattern);

/* Whether the pattern has a {left|right} part. */
bool sx_pattern_has_sides(const char *pattern);
/*
 * The glob pattern of one side (0 left, 1 right): {a|b} chosen, %d and %06d made wildcards. -EINVAL,
 * -ENAMETOOLONG.
 */
int sx_pattern_side(const char *pattern, int side, char *ret, size_t bytes);
/* What to has in the place of path's wildcards, for a path that from matches. -EINVAL if it does not. */
int sx_pattern_partner(const char *from, const char *to, const char *path, char *ret, size_t bytes);

#endif
