/*
 * The file of a recording: one recorder at a time writes it, and keeps what it replaces until it has frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_RECORD_RECORD_FILE_H
#define SX_TOOLS_CTL_RECORD_RECORD_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct record_file {
	const char *name;	  /* in messages */
	int fd;			  /* -1: none */
	int replaced_fd;	  /* the file that is there, locked until its name leads to ours; -1: none */
	bool regular;		  /* no pipe and no device: this recorder alone writes it */
	char path[PATH_MAX];	  /* without links */
	char temporary[PATH_MAX]; /* where the frames are until record_file_place(); else empty */
};

/* operand "-": standard output. 0, or the exit code after a sentence. */
int record_file_open(struct record_file *f, const char *operand, bool force);
/* Whether frames go to a file beside the one that is there. */
bool record_file_beside(const struct record_file *f);
/* Gives the file its name; the one that was there is gone. Negative errno; -EEXIST: another came there. */
int record_file_place(struct record_file *f);
/* Reads the file again: 1 all of these frames and the end are whole, 0 not, or a negative error. */
int record_file_whole(const struct record_file *f, uint64_t frames);
/* Removes what has no name of its own yet. Accepts one that could not be opened. */
void record_file_close(struct record_file *f);

#endif
