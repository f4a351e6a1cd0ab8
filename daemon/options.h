/*
 * The command line of stixeld.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_OPTIONS_H
#define SX_DAEMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

/* Exit codes: sysexits.h where it has one. */
#define SX_EXIT_USAGE 64  /* wrong command line */
#define SX_EXIT_DATA 65	  /* input data cannot be read */
#define SX_EXIT_GPU 69	  /* a GPU was asked for and there is none */
#define SX_EXIT_FAILED 70 /* the engine failed, something inside, or memory and descriptors are short */
#define SX_EXIT_CREATE 73 /* shared memory, a socket or the lock cannot be made */
#define SX_EXIT_CONFIG 78 /* the configuration is wrong */

struct sx_options {
	const char *file;     /* -c; NULL: the default place, if something is there */
	const char *instance; /* "default" unless told */
	uint64_t frames;      /* 0: no end */
	bool check, print;    /* --check-config, --print-config */
	bool all;	      /* --all: printed with every constant of the models */
	const char *overrides[SX_OVERRIDES_MAX];
	int override_count;
};

/*
 * -1: go on; else the exit code: help and version were printed (0) or the sentence about what is wrong was
 * printed to stderr (SX_EXIT_USAGE). Text points into argv.
 */
int sx_options_parse(struct sx_options *o, int argc, char **argv);

#endif
