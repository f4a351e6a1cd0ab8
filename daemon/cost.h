/*
 * Prediction of what other settings would cost, before they are applied. Time: one segmentation may need a
 * thousand times the time of another, and if a frame takes longer than the watchdog's limit, the watchdog
 * ends the daemon. Memory: old and new contexts exist at the same time, and the kernel kills a process that
 * takes more memory than there is.
 *
 * Only the segmentation can change by such factors. Its work is counted by method and size, and the time that
 * this machine takes for the work is measured on the current frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_COST_H
#define SX_DAEMON_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "stages/engine.h"

struct sx_frame_cost_case {
	const struct sx_stixel_params *stixels;
	int width, height; /* size of the matched images, px */
	bool plain;	   /* engine reference, which has no fast methods */
};

/* Thread: main. Zeroed: no measurement yet. */
struct sx_frame_cost {
	double rate; /* measured time of the segmentation divided by the time in the table; 0: not measured */
	enum sx_stixel_method method; /* method of the measured frames */
	double segment_ns, rest_ns;   /* times of a measured frame: segmentation, and all other stages */
};

/* Takes the times of one frame with these settings: segmentation, and all stages. Ignores times of 0. */
void sx_frame_cost_see(struct sx_frame_cost *cost, const struct sx_frame_cost_case *c, int64_t segment_ns,
		       int64_t frame_ns);
/*
 * Predicts the time of a frame, ns. The prediction is rather too high than too low: by at most a factor of 4
 * if the method differs from the measured one. Without a measurement it assumes one core of a desktop.
 */
double sx_frame_cost_frame_ns(const struct sx_frame_cost *cost, const struct sx_frame_cost_case *c);
/*
 * Tells whether frames would be too slow for a limit (the watchdog's, ns). Returns true, with a sentence in
 * why, if a frame would take more than a quarter of the limit and longer than now. now: current settings,
 * NULL: none yet.
 */
bool sx_frame_cost_is_too_much(const struct sx_frame_cost *cost, const struct sx_frame_cost_case *now,
			       const struct sx_frame_cost_case *next, int64_t limit_ns, struct sx_why *why);

/*
 * Predicts an upper bound of the host memory, bytes, of contexts for next. held: bytes of the current
 * contexts, of which there are count, with configuration now. Returns 0 if held is 0.
 */
size_t sx_frame_cost_memory(size_t held, int count, const struct sx_context_config *now,
			    const struct sx_context_config *next);
/*
 * Predicts how long making count contexts takes, ns, mostly to get and clear their memory. The prediction is
 * rather too high than too low.
 */
int64_t sx_frame_cost_making_ns(const struct sx_context_config *c, int count);
/*
 * Returns true, with a sentence in why, if count contexts of engine cpu would need more than the free memory.
 * Call it before they are created. room: free bytes; what: the memory that they are part of
 * (sx_memory_room()).
 */
bool sx_frame_cost_is_too_large(const struct sx_context_config *c, int count, int64_t room, const char *what,
				struct sx_why *why);

#endif
