/*
 * stixel-process: its parts. A pair goes in as two file names and comes out as files and one line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PROCESS_PROCESS_H
#define SX_TOOLS_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/slots.h"
#include "config/config.h"
#include "engines/select.h"
#include "tools/common/settings_args.h"

#define SX_PROGRAM "stixel-process"

/* Of an option that is given once for each pair, or not at all. */
struct process_files {
	const char **name;
	int count;
};

struct process_job {
	const char *left, *right; /* image files */
	const char *name;	  /* of the results, without folder and suffix */
	const char *scores;	  /* file of class scores; NULL: none */
	const char *map;	  /* file of a disparity map, which is not computed then; NULL: none */
};

/*
 * The engine, and its context for pairs of the size and format that came last, with the memory that they are
 * put into: an engine that reads pairs where they lie has it pinned. A run of equal pairs makes one context;
 * another size makes another.
 */
struct process {
	struct sx_settings_args args;
	const struct sx_settings *settings;
	const char *folder;		   /* where results go */
	bool colour, filled;		   /* also NAME.disparity-colour.png, NAME.disparity-filled.png */
	struct process_files scores, maps; /* --semantics, --disparity */
	struct sx_semantic_params classes; /* what they are of; none without --semantics */
	struct sx_engine engine;
	struct sx_context *context;
	struct sx_context_config config; /* of context */
	struct sx_slots slots;		 /* one */
	bool warned;			 /* of an EXIF orientation tag */
	int done;			 /* pairs computed and written */
	int sparse;			 /* of these, those below SX_PAIRS_SPARSE */
	const char *sparse_name;	 /* the first of them, its density in %, and why that may be */
	double sparse_density;
	char sparse_why[512];
};

/* 0, or an exit code after a sentence on stderr. */
int process_open(struct process *p, const struct sx_settings *settings);
/* Accepts a zeroed or half-made one. */
void process_close(struct process *p);

/*
 * One pair, from files to files; prints its line. 0, or an exit code after a sentence on stderr:
 * EX_DATAERR for this pair's images; EX_CANTCREAT for a result that cannot be written; others end the
 * run. No result is left half written.
 */
int process_pair(struct process *p, const struct process_job *job);

/*
 * Counts a pair with few disparities, whose frame the context holds and no longer needs to: the first one is
 * looked at.
 */
void process_sparse_look(struct process *p, const char *name, double percent);
/* A sentence on stderr about such pairs, if there were any. */
void process_sparse_note(const struct process *p);

/* Writes the results of the frame that the context holds. 0, or negative errno and a sentence in why. */
int process_write(const struct process *p, const char *name, char *why, size_t why_bytes);

#endif
