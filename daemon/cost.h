/*
 * What other settings would cost, before they are taken. Time: a segmentation may need a thousand times the
 * time of another, and a frame that takes longer than the watchdog waits ends the daemon. Memory: old and
 * new contexts are there at once, and the kernel ends who takes more than there is.
 *
 * All that settings can change by so much is the segmentation. Its work is counted by method and size, and
 * what this machine takes for it is measured on the frames that run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_COST_H
#define SX_DAEMON_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stages/engine.h"

struct sx_frame_cost_case {
	const struct sx_stixel_params *stixels;
	int width, height; /* of the images that are matched */
	bool plain;	   /* engine reference: none of its methods is made fast */
};

/* Thread: main. Zeroed: nothing was measured yet. */
struct sx_frame_cost {
	double rate; /* measured time of the segmentation by that of the table; 0: not measured */
	enum sx_stixel_method method; /* of the frames that it was measured on */
	double segment_ns, rest_ns;   /* of such a frame: its segmentation, and all other stages */
};

/* Takes the times of one frame, of these settings: its segmentation, and all stages. 0 says nothing. */
void sx_frame_cost_see(struct sx_frame_cost *cost, const struct sx_frame_cost_case *c, int64_t segment_ns,
		       int64_t frame_ns);
/*
 * Predicts a frame's time, ns, from above rather than from below: by a factor of 4 at most where the method
 * is another one than was measured. Before anything was measured: of one core of a desktop.
 */
double sx_frame_cost_frame_ns(const struct sx_frame_cost *cost, const struct sx_frame_cost_case *c);
/*
 * Tells whether frames would come too late for a limit (the watchdog's, ns). True, with the sentence in
 * why: a frame would take more than a quarter of it, and longer than it does now. now: the settings that
 * run, NULL: none yet.
 */
bool sx_frame_cost_is_too_much(const struct sx_frame_cost *cost, const struct sx_frame_cost_case *now,
			       const struct sx_frame_cost_case *next, int64_t limit_ns, char *why,
			       size_t why_bytes);

/*
 * Predicts the host memory, bytes, that contexts for next would take, from above, where held bytes are
 * those of as many (count) for now. 0: held is 0.
 */
size_t sx_frame_cost_memory(size_t held, int count, const struct sx_context_config *now,
			    const struct sx_context_config *next);

#endif
