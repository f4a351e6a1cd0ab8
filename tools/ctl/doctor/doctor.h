/*
 * stixelctl doctor: what its checks share. Each check looks at one thing, changes nothing, and says what it
 * found by doctor_say(); none depends on another one's verdict, but for the configuration, which comes first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_DOCTOR_DOCTOR_H
#define SX_TOOLS_CTL_DOCTOR_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "config/config.h"
#include "tools/common/ask.h"

enum doctor_level { DOCTOR_OK, DOCTOR_WARNING, DOCTOR_PROBLEM };

#define DOCTOR_GROUPS 5
#define DOCTOR_WHY_BYTES 512
#define DOCTOR_PATH_BYTES 512

/* Who is to be allowed something. */
struct doctor_account {
	char name[33]; /* empty: there is no such account */
	uid_t uid;
	gid_t groups[DOCTOR_GROUPS];
	int count;
};

/* What systemctl says of stixeld@NAME.service. Texts are empty where it says nothing. */
struct doctor_unit {
	bool answered; /* there is a systemctl, and a manager that answers it */
	bool loaded;   /* and the unit exists */
	char active[32], sub[32], result[32], enabled[32], status[256];
	char rtprio[32], memlock[32]; /* numbers, or "infinity" */
	bool cameras, gpu;	      /* its device policy lets it have them */
	int restarts, exit_code;
};

struct doctor {
	const char *instance;
	bool named;		      /* by -i: nothing is said of others */
	char file[DOCTOR_PATH_BYTES]; /* of the configuration; empty: none, as the running daemon says */
	bool asked; /* file and overrides are those of the running daemon, which reads them */
	const char *overrides[SX_OVERRIDES_MAX]; /* as of -s; they lie in status */
	int override_count;
	const char *root; /* stands for "/" before /proc, /sys, /dev/shm, /etc: empty, but in tests */
	bool json;
	struct sx_settings settings;
	bool loaded;		       /* settings are those of file; else the defaults */
	struct doctor_account service; /* user of the unit */
	struct doctor_unit unit;
	bool gpu;	       /* the engine that was opened computes on a GPU; */
	char gpu_bus_id[24];   /* its PCI address, empty: none */
	int gpu_sms;	       /* multiprocessors, 0: it does not say */
	int gpu_capability;    /* 87: sm_87; 0: it does not say */
	json_t *status;	       /* status of the running instance; NULL: none runs, or it does not answer; */
	struct sx_reply reply; /* says why; it has no body */
	json_t *checks;
	int warnings, problems;
};

/* Returns "ok", "warning" or "problem". */
const char *doctor_level_name(enum doctor_level level);
/* One finding of a check; advice: what to do about it, NULL when there is nothing to be done. */
void doctor_say(struct doctor *d, enum doctor_level level, const char *check, const char *advice,
		const char *format, ...) __attribute__((format(printf, 5, 6)));

/* root + path; cut when too long, so that it does not exist. */
const char *doctor_path(const struct doctor *d, const char *path, char *to, size_t bytes);
/* First line of a small file below root, without its end; false when it cannot be read. */
bool doctor_line(const struct doctor *d, const char *path, char *to, size_t bytes);
/* Whether the mode of a file lets the account do what wanted says: bits of 04 read, 02 write, 01 pass. */
bool doctor_may(const struct doctor_account *who, const struct stat *st, unsigned wanted);
/* "video", or its number. */
const char *doctor_group(gid_t gid);
/*
 * Whether there is a group of this name, on this system or the one below root; *member: whether the user is
 * one by its list, or by its own group.
 */
bool doctor_find_group(const struct doctor *d, const char *name, const char *user, gid_t *gid, bool *member);
/* Whether this is a Jetson: its GPU has other nodes than a card. */
bool doctor_is_jetson(const struct doctor *d);

/* The status of an instance, to be released; NULL without one. */
json_t *doctor_fetch(const char *instance);
/* Asks the instance for its status; finds nothing by itself. */
void doctor_ask(struct doctor *d);
/* Without -c: file and overrides of the running daemon, if it tells them, else the instance's in /etc. */
void doctor_choose_file(struct doctor *d);

/* The size of image files by their first pair, as a start learns it. False: why says what is wrong. */
bool doctor_files_size(const struct sx_source_params *p, int *width, int *height, char *why,
		       size_t why_bytes);

/* The checks, in the order in which they are made. */
void doctor_configuration(struct doctor *d);
void doctor_service(struct doctor *d); /* unit, and the account it runs as */
void doctor_instance(struct doctor *d);
void doctor_feeds(struct doctor *d); /* class scores and disparity maps of others */
void doctor_cameras(struct doctor *d);
void doctor_pictures(struct doctor *d); /* of the running instance */
void doctor_engine(struct doctor *d);
void doctor_speed(struct doctor *d); /* of a GPU: after doctor_engine() */
void doctor_memory(struct doctor *d);
void doctor_limits(struct doctor *d);
void doctor_clocks(struct doctor *d);
void doctor_power(struct doctor *d);

#endif
