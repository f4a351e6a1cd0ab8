/*
 * stixel-process: velocities of stixels filtered over the pairs of a sequence, and the objects that move. The engine
 * measures each pair; stages/motion/filter/filter.h has the memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PROCESS_PROCESS_FILTER_H
#define SX_TOOLS_PROCESS_PROCESS_FILTER_H

#include <stdio.h>

#include "base/why.h"
#include "stages/motion/filter/filter.h"

#define PROCESS_FILTER_VIEWS 12 /* views that a pair may be measured against, and its own */
#define PROCESS_AHEAD_S 0.5	/* the file of objects says where they will be then */

struct process;

/* Zeroed: no pair was seen. */
struct process_filter {
	struct sx_motion_filter filter;
	struct sx_motion_pair pair; /* what the engine found in this pair */
	struct sx_motion_view views[PROCESS_FILTER_VIEWS];
	int64_t captured_ns[PROCESS_FILTER_VIEWS];
	int kept; /* views that were kept so far; the newest ones are there */
	bool seen;
	int64_t last_ns; /* time of the pair before */
};

/* Takes the pair whose frame is in the context. Returns 0, or a negative errno with a sentence in `why`. */
int process_filter_next(struct process *p, const char *name, struct sx_why *why);
void process_filter_close(struct process_filter *f);
/* Returns the object of stixel i if it is shown, else 0. */
uint32_t process_filter_object(const struct process_filter *f, uint32_t i);
/* Writes a line for each object that is shown, with its place in PROCESS_AHEAD_S. */
void process_filter_write(const struct process_filter *filter, FILE *f);

#endif
