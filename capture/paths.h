/*
 * Lists of path names, and patterns with a left and a right side.
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

/* Adds a copy of "folder/name" (folder may be NULL). Returns -ENOMEM, or -E2BIG above a million names. */
int sx_paths_add(struct sx_paths *p, const char *folder, const char *name);
void sx_paths_finish(struct sx_paths *p);
/* Compares in natural order: numbers by value, other characters by their bytes. */
int sx_paths_compare(const char *a, const char *b);
/* Finds a name in a list that is sorted in natural order. */
bool sx_paths_has(const struct sx_paths *p, const char *name);

/*
 * List the image files of a folder (by their ending), its subfolders, or its other files. The names are
 * sorted and do not include the folder. Return a negative errno on failure.
 */
int sx_paths_images(struct sx_paths *ret, const char *folder);
int sx_paths_folders(struct sx_paths *ret, const char *folder);
int sx_paths_others(struct sx_paths *ret, const char *folder);
bool sx_paths_is_folder(const char *path);
/* Lists the files that a pattern matches, or the images of the folder that it names. Full paths, sorted. */
int sx_paths_expand(struct sx_paths *ret, const char *pattern);

/* Returns true if the pattern has a {left|right} part. */
bool sx_pattern_has_sides(const char *pattern);
/*
 * Makes the glob pattern of one side (0 left, 1 right): chooses from {a|b} and replaces %d and %06d by
 * wildcards. Returns -EINVAL or -ENAMETOOLONG on failure.
 */
int sx_pattern_side(const char *pattern, int side, char *ret, size_t bytes);
/*
 * Fills the wildcards of pattern `to` with the text that pattern `from` matches in path. Returns -EINVAL if
 * `from` does not match path.
 */
int sx_pattern_partner(const char *from, const char *to, const char *path, char *ret, size_t bytes);

#endif
