/*
 * Handles the file of a recording. One recorder at a time writes it. A replaced file stays until the new one
 * has frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_RECORD_RECORD_FILE_H
#define SX_TOOLS_CTL_RECORD_RECORD_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct record_file {
	const char *name;	  /* name for messages */
	int fd;			  /* -1: none */
	int replaced_fd;	  /* existing file, locked until its name leads to the new file; -1: none */
	bool regular;		  /* neither a pipe nor a device: only this recorder writes it */
	char path[PATH_MAX];	  /* path with all links resolved */
	char temporary[PATH_MAX]; /* file that takes the frames until record_file_place(); else empty */
};

/*
 * Opens the file of the operand; "-" is standard output. Returns 0, or prints an error and returns the exit
 * code.
 */
int record_file_open(struct record_file *f, const char *operand, bool force);
/* Returns true if the frames go to a temporary file beside the existing one. */
bool record_file_beside(const struct record_file *f);
/*
 * Gives the temporary file its final name, which removes the existing file. Returns 0 or a negative errno;
 * -EEXIST: another file has taken this name.
 */
int record_file_place(struct record_file *f);
/* Reads the file again. Returns 1 if all frames and the end are intact, 0 if not, or a negative error. */
int record_file_whole(const struct record_file *f, uint64_t frames);
/* Removes a file that has no final name yet. Accepts a record_file that could not be opened. */
void record_file_close(struct record_file *f);

#endif
