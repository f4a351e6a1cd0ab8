/*
 * Declarations that the checks of stixelctl doctor share. Each check looks at one thing, changes nothing, and
 * reports its findings with doctor_say(). The configuration is checked first. No other check depends on the
 * verdict of another one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_DOCTOR_DOCTOR_H
#define SX_TOOLS_CTL_DOCTOR_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/why.h"
#include "config/config.h"
#include "tools/common/ask.h"

enum doctor_level { DOCTOR_OK, DOCTOR_WARNING, DOCTOR_PROBLEM };

#define DOCTOR_GROUPS 5
#define DOCTOR_PATH_BYTES 512

/* Account whose permissions are checked. */
struct doctor_account {
	char name[33]; /* empty: there is no such account */
	uid_t uid;
	gid_t groups[DOCTOR_GROUPS];
	int count;
};

/* State of stixeld@NAME.service as systemctl reports it. A text is empty if systemctl does not report it. */
struct doctor_unit {
	bool answered; /* systemctl exists and a manager answers it */
	bool loaded;   /* the unit exists */
	char active[32], sub[32], result[32], enabled[32], status[256];
	char rtprio[32], memlock[32]; /* numbers, or "infinity" */
	bool cameras, gpu;	      /* the device policy of the unit allows these devices */
	int restarts, exit_code;
};

struct doctor {
	const char *instance;
	bool named;		      /* -i named the instance: no finding concerns other instances */
	char file[DOCTOR_PATH_BYTES]; /* configuration file; empty: the daemon runs without one */
	bool asked;		      /* the running daemon reads file and overrides */
	const char *overrides[SX_OVERRIDES_MAX]; /* texts of -s, owned by status */
	int override_count;
	const char *root; /* replaces "/" before /proc, /sys, /dev/shm, /etc; empty except in tests */
	bool json;
	struct sx_settings settings;
	bool loaded;		       /* settings come from file; false: they are the defaults */
	struct doctor_account service; /* user that the unit runs as */
	struct doctor_unit unit;
	bool gpu;	       /* the opened engine computes on a GPU */
	char gpu_bus_id[24];   /* PCI address of the GPU; empty: none */
	int gpu_sms;	       /* number of multiprocessors; 0: unknown */
	int gpu_capability;    /* compute capability, 87 for sm_87; 0: unknown */
	json_t *status;	       /* status of the running instance; NULL: none runs, or no answer */
	struct sx_reply reply; /* reason if status is NULL; without a body */
	json_t *checks;
	int warnings, problems;
};

/* Returns "ok", "warning" or "problem". */
const char *doctor_level_name(enum doctor_level level);
/* Reports one finding of a check. advice: what the user can do about it; NULL: nothing to do. */
void doctor_say(struct doctor *d, enum doctor_level level, const char *check, const char *advice,
		const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Joins root and path. A path that is too long is cut, so that it does not exist. */
const char *doctor_path(const struct doctor *d, const char *path, char *to, size_t bytes);
/* Reads the first line of a small file below root, without its line end. False: the file cannot be read. */
bool doctor_line(const struct doctor *d, const char *path, char *to, size_t bytes);
/* Returns true if the mode of a file gives the account the wanted rights: bits 04 read, 02 write, 01 pass. */
bool doctor_may(const struct doctor_account *who, const struct stat *st, unsigned wanted);
/* Returns the name of a group, such as "video", or its number. */
const char *doctor_group(gid_t gid);
/*
 * Looks for a group of this name on this system, or below root if root is set. *member: the group lists the
 * user, or it is the user's own group. False: there is no such group.
 */
bool doctor_find_group(const struct doctor *d, const char *name, const char *user, gid_t *gid, bool *member);
/* Returns true on a Jetson: its GPU has other device nodes than a discrete GPU. */
bool doctor_is_jetson(const struct doctor *d);

/* Fetches the status of an instance. The caller releases it. NULL: no status. */
json_t *doctor_fetch(const char *instance);
/* Asks the instance for its status. Reports no finding. */
void doctor_ask(struct doctor *d);
/*
 * Chooses the configuration file without -c: file and overrides of the running daemon if it reports them,
 * else the instance's file in /etc.
 */
void doctor_choose_file(struct doctor *d);

/* Image files: the size of their first pair, px, and a sentence about their data set, or "". */
struct doctor_files {
	int width, height;
	char note[256];
};

/* Opens image files and reads their first pair, as a daemon does at its start. False: why has the reason. */
bool doctor_files_look(const struct sx_source_params *p, struct doctor_files *ret, struct sx_why *why);

/* Checks, in the order in which they run. */
void doctor_configuration(struct doctor *d);
void doctor_service(struct doctor *d); /* the unit, and the account that it runs as */
void doctor_instance(struct doctor *d);
void doctor_feeds(struct doctor *d); /* class scores, disparity maps and pairs of other processes */
void doctor_cameras(struct doctor *d);
void doctor_pictures(struct doctor *d); /* images of the running instance */
void doctor_motion(struct doctor *d);	/* distances, by the motion of the camera */
void doctor_engine(struct doctor *d);
void doctor_speed(struct doctor *d); /* speed of a GPU; call after doctor_engine() */
void doctor_memory(struct doctor *d);
void doctor_limits(struct doctor *d);
void doctor_clocks(struct doctor *d);
void doctor_power(struct doctor *d);

#endif
