/*
 * Files with the time stamps of recorded images.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_RECORDED_TIMES_H
#define SX_CAPTURE_RECORDED_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/why.h"

/*
 * Formats, one line for each image. Empty lines and lines that begin with # are skipped. So is a first line
 * with the names of the columns (csv, named).
 * csv: "1403715273262142976,1403715273262142976.png", the time in ns.
 * named: "1520530308199447626 1520530308.199447626 0.5", the name without .png and the time in s.
 * seconds: "1.036224e-01".
 * dates: "2011-09-26 13:02:25.964389445".
 */
enum sx_times_format { SX_TIMES_CSV, SX_TIMES_NAMED, SX_TIMES_SECONDS, SX_TIMES_DATES };

/* name: file name of the image, without a folder; NULL in formats without names. */
struct sx_recorded_time {
	char *name;
	int64_t ns;
};

struct sx_recorded_times {
	struct sx_recorded_time *image;
	size_t count, room;
};

/*
 * Reads a file. Times rise from line to line. The file is not trusted: a name is one that a folder's entry
 * can have, so it has no '/' and is neither . nor .. . Returns 0; -EBADMSG: a line cannot be read, or its
 * time is not later than the time before; -E2BIG: more than SX_FILE_LIST_MAX lines; -ENOENT, -EACCES, ... as
 * open(2); -ENOMEM. why then names file and line. finish accepts a zeroed object.
 */
int sx_recorded_times_read(struct sx_recorded_times *ret, const char *path, enum sx_times_format format,
			   struct sx_why *why);
void sx_recorded_times_finish(struct sx_recorded_times *t);

#endif
