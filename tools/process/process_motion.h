/*
 * stixel-process: motion of the pairs of a sequence, by cpu/motion; with the reference engine, by stages/motion.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PROCESS_PROCESS_MOTION_H
#define SX_TOOLS_PROCESS_PROCESS_MOTION_H

#include "base/why.h"
#include "cpu/motion/motion.h"
#include "stages/motion/pair.h"

#define PROCESS_FPS 10 /* frames per second of a sequence, unless --fps says another number */
#define PROCESS_FPS_MOST 150
#define PROCESS_SPAN_S 0.1		      /* a pair is measured against the one that is this much older */
#define PROCESS_VIEWS (PROCESS_FPS_MOST / 10) /* pairs back, at most */

struct process;

/* State that is kept from pair to pair: the views of the last ones, the last step, and the offset of disparities. */
struct process_motion {
	struct sx_motion_pair pair; /* zeroed: no pair was seen */
	struct sx_cpu_motion *fast; /* NULL: the reference computes, or no pair was computed */
	struct sx_motion_view views[PROCESS_VIEWS];
	int seen; /* pairs in a row with one size */
	struct sx_motion_step step;
	bool has_step;
	struct sx_motion_range range;
	enum sx_motion_offset offset_verdict; /* verdict of the last pair with a step */
	int steps, offsets;		      /* pairs with a step, and with a measured offset */
};

/*
 * Measures the motion of the pair whose frame is in the context, writes NAME.ego.txt and prints its line. Returns
 * 0, or a negative errno with a sentence in `why`.
 */
int process_motion_pair(struct process *p, const char *name, struct sx_why *why);
/* A pair of the sequence is missing: the next one has no predecessor. */
void process_motion_gap(struct process *p);
/* Prints what the sequence says about the range. */
void process_motion_note(const struct process *p);
void process_motion_close(struct process *p);

#endif
