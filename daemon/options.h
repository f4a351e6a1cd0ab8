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
#include "config/preset.h"

/* Exit codes, from sysexits.h if it has one. */
#define SX_EXIT_USAGE 64  /* wrong command line */
#define SX_EXIT_DATA 65	  /* input data cannot be read */
#define SX_EXIT_GPU 69	  /* a GPU was requested and there is none */
#define SX_EXIT_FAILED 70 /* the engine failed, an internal error, or memory or descriptors are short */
#define SX_EXIT_CREATE 73 /* shared memory, a socket or the lock cannot be created */
#define SX_EXIT_CONFIG 78 /* the configuration is wrong */

#define SX_INSTANCES_MAX 16	  /* instances in one process */
#define SX_INSTANCE_NAME_BYTES 80 /* a name taken from a file; sx_instance_check() refuses more than 64 */

/* Options of one instance. */
struct sx_options {
	const char *file;     /* -c; NULL: the default file, if it exists */
	const char *instance; /* name of the instance, "default" unless the command line has one */
	uint64_t frames;      /* number of frames, 0: no end */
	bool check, print;    /* --check-config, --print-config */
	bool all;	      /* --all: print every constant of the models, too */
	const char *overrides[SX_OVERRIDES_MAX];
	int override_count;
};

struct sx_command_line {
	struct sx_options instance[SX_INSTANCES_MAX];
	int count; /* number of instances, 1 or more */

	/* the words of the command line; all instances have the options of common, except for file and name */
	struct sx_options common;
	const char *files[SX_INSTANCES_MAX], *names[SX_INSTANCES_MAX];
	int file_count, name_count;
	char preset[SX_PRESET_OVERRIDE_BYTES]; /* override of --preset; overrides point to it */
	char name_of_file[SX_INSTANCES_MAX][SX_INSTANCE_NAME_BYTES];
};

/*
 * Parses the command line. Several -i or -c give several instances. Returns -1 to continue, else the exit
 * code: 0 after help or version, SX_EXIT_USAGE after an error, SX_EXIT_CONFIG if two instances have one name;
 * errors were printed to stderr. Texts point into argv and *l.
 */
int sx_options_parse(struct sx_command_line *l, int argc, char **argv);

#endif
