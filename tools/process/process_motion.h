/*
 * stixel-process: motion of the pairs of a sequence, which the engine measures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PROCESS_PROCESS_MOTION_H
#define SX_TOOLS_PROCESS_PROCESS_MOTION_H

#include "base/why.h"
#include "stages/motion/ego.h"

#define PROCESS_FPS 10 /* frames per second of a sequence, unless --fps says another number */
#define PROCESS_FPS_MOST 150

struct process;

/* Says of a sequence, for its last line. */
struct process_motion {
	int pair;		      /* number of the next pair in the sequence, missing ones included */
	int64_t captured_ns;	      /* time of this pair */
	int steps;		      /* pairs with a step */
	struct sx_motion_range range; /* offset of the disparities; sigma_px 0: not known */
	enum sx_motion_offset offset_verdict; /* verdict of the last pair with a step */
};

/* Goes on to the next pair of the sequence. */
void process_motion_next(struct process *p);
/*
 * Writes what the frame in the context says about motion to NAME.ego.txt and so on, and prints its line. Returns 0,
 * or a negative errno with a sentence in `why`.
 */
int process_motion_pair(struct process *p, const char *name, struct sx_why *why);
/* Prints what the sequence says about the range. */
void process_motion_note(const struct process *p);

#endif
