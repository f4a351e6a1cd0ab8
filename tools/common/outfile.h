/*
 * A file that appears complete or not at all: written under a temporary name beside its place, then renamed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_COMMON_OUTFILE_H
#define SX_TOOLS_COMMON_OUTFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct sx_outfile {
	FILE *f;    /* NULL: nothing is open */
	bool fresh; /* there must be no file of that name */
	char path[PATH_MAX], temporary[PATH_MAX];
};

/* Negative errno: -ENAMETOOLONG, or why the temporary file cannot be made. o is then empty. */
int sx_outfile_open(struct sx_outfile *o, const char *path);
/* The same, but nothing is overwritten: -EEXIST, now or by the commit, when the name is taken. */
int sx_outfile_open_new(struct sx_outfile *o, const char *path);
/* Flushes, closes, renames. On failure nothing is left behind. */
int sx_outfile_commit(struct sx_outfile *o);
/* Closes and removes. Accepts a zeroed or finished one. */
void sx_outfile_abort(struct sx_outfile *o);

#endif
