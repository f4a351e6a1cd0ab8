/*
 * Writes a file that appears complete or not at all: it is written under a temporary name in the same folder,
 * then renamed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_COMMON_OUTFILE_H
#define SX_TOOLS_COMMON_OUTFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct sx_outfile {
	FILE *f;    /* NULL: no file is open */
	bool fresh; /* refuse to overwrite a file of that name */
	char path[PATH_MAX], temporary[PATH_MAX];
};

/*
 * Opens the temporary file. Returns 0 or a negative errno: -ENAMETOOLONG, or why the temporary file cannot be
 * created. o is then empty.
 */
int sx_outfile_open(struct sx_outfile *o, const char *path);
/*
 * Opens the temporary file of a new file, so that nothing is overwritten. If the name is taken, this call or
 * the commit returns -EEXIST. Otherwise works as sx_outfile_open().
 */
int sx_outfile_open_new(struct sx_outfile *o, const char *path);
/* Flushes, closes and renames the file. On failure no file is left behind. */
int sx_outfile_commit(struct sx_outfile *o);
/* Closes and removes the temporary file. Accepts a zeroed or finished struct. */
void sx_outfile_abort(struct sx_outfile *o);

#endif
