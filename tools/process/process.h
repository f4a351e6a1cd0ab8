/*
 * stixel-process: types and functions that its source files share. The input of a pair is two file names, its
 * output is files and one line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PROCESS_PROCESS_H
#define SX_TOOLS_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/why.h"
#include "capture/slots.h"
#include "config/classes.h"
#include "config/config.h"
#include "engines/select.h"
#include "tools/common/settings_args.h"
#include "tools/process/process_motion.h"

#define SX_PROGRAM "stixel-process"

/* Values of an option that is given once for each pair, or not at all. */
struct process_files {
	const char **name;
	int count;
};

struct process_job {
	const char *left, *right; /* paths of the image files */
	const char *name;	  /* name of the results, without folder and suffix */
	const char *scores;	  /* path of a file with class scores; NULL: none */
	const char *map;	  /* path of a disparity map that replaces matching; NULL: none */
};

/*
 * The engine, and its context for pairs of the last size and format. The pairs are copied into the slots; an
 * engine that reads pairs in place has this memory pinned. Equal pairs in a row share one context; another
 * size needs a new one.
 */
struct process {
	struct sx_settings_args args;
	const struct sx_settings *settings;
	const char *folder;		   /* folder of the results */
	double near_m, far_m;		   /* --near, --far; 0: from the scene */
	bool colour, filled;		   /* also NAME.disparity-colour.png, NAME.disparity-filled.png */
	bool by_class;			   /* colours of classes in NAME.overlay.png, instead of distances */
	bool moves;			   /* --motion: the pairs are a sequence */
	bool filters;			   /* --motion-filter: and velocities are filtered over it */
	int fps;			   /* --fps */
	struct process_files scores, maps; /* --semantics, --disparity */
	struct sx_semantic_params classes; /* classes of the scores; empty without --semantics */
	struct sx_class_names names;	   /* their names, and pointers to them */
	const char *name[SX_CLASSES_MAX];
	struct sx_engine engine;
	struct sx_context *context;
	struct sx_chain *chain;		 /* memory of motion, with --motion */
	struct sx_context_config config; /* configuration of `context` */
	struct sx_slots slots;		 /* a single slot */
	struct process_motion motion;	 /* used with --motion */
	bool warned;			 /* the warning about an EXIF orientation tag was printed */
	int done;			 /* number of pairs computed and written */
	int sparse;			 /* number of those pairs with a density below SX_PAIRS_SPARSE */
	/* name of the first sparse pair, its density in %, and the probable reason */
	const char *sparse_name;
	double sparse_density;
	char sparse_why[512];
};

/* Opens the engine. Returns 0, or an exit code after printing a sentence on stderr. */
int process_open(struct process *p, const struct sx_settings *settings);
/* Accepts a zeroed or half-initialized struct. */
void process_close(struct process *p);

/*
 * Processes one pair, from files to files, and prints its line. Returns 0, or an exit code after printing a
 * sentence on stderr: EX_DATAERR for a fault of this pair's images, EX_CANTCREAT for a result that cannot be
 * written. Other codes end the run. No result is left half written.
 */
int process_pair(struct process *p, const struct process_job *job);

/*
 * Counts a pair with few disparities. Its frame is in the context, which may be overwritten. Only the first
 * such pair is analysed.
 */
void process_sparse_look(struct process *p, const char *name, double percent);
/* Prints a sentence on stderr about pairs with few disparities, if there were any. */
void process_sparse_note(const struct process *p);

/* Writes the results of the frame in the context. Returns 0, or a negative errno with a sentence in `why`. */
int process_write(const struct process *p, const char *name, struct sx_why *why);

#endif
