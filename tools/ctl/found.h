/*
 * Lists the instances of this machine for every kind of publisher: daemons, replays, and rings whose writer
 * is gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_FOUND_H
#define SX_TOOLS_CTL_FOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/common/ring_layout.h"

#define CTL_FOUND_NAME_BYTES 65

enum ctl_found_kind { CTL_FOUND_DAEMON, CTL_FOUND_REPLAY, CTL_FOUND_LEFTOVER };

struct ctl_found {
	char name[CTL_FOUND_NAME_BYTES];
	enum ctl_found_kind kind;
	bool running; /* false: the ring was left over, or this user may not access the instance */
	/* state of the status, or "stalled", "ended", "died", "no access", "no answer", "unreadable" */
	char state[24];
	char version[32];		   /* empty: unknown */
	double fps;			   /* NAN: unknown */
	int64_t pid;			   /* 0: unknown */
	char layout[SX_RING_LAYOUT_BYTES]; /* sx_ring_other_layout() if "unreadable"; else empty */
	char file[4096]; /* configuration file that the daemon was started with; empty: unknown, or none */
};

/*
 * Finds all instances, ordered by name. *ret is malloc'ed. Returns their number; 0 also without memory. Asks
 * each daemon for its status, which is quick unless a daemon hangs.
 */
size_t ctl_find(struct ctl_found **ret);
/* Writes the names of the running instances as "front, rear", or "none". A long list is cut with "...". */
void ctl_found_names(const struct ctl_found *all, size_t count, char *to, size_t bytes);
const char *ctl_found_kind_name(enum ctl_found_kind kind);

#endif
