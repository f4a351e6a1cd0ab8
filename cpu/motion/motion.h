/*
 * Motion between two frames in the cpu engine: the stages of stages/motion with kernels of an instruction set,
 * spread over worker threads. The results are those of stages/motion/pair.h, byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_MOTION_MOTION_H
#define SX_CPU_MOTION_MOTION_H

#include "stages/motion/pair.h"

struct sx_kernels;
struct sx_cpu_motion;

/*
 * Creates the twin with its worker threads, 1..SX_POOL_THREADS_MAX. Returns 0, -EINVAL, -ENOMEM or -EAGAIN. destroy
 * accepts NULL. Thread: one at a time.
 */
int sx_cpu_motion_create(struct sx_cpu_motion **ret, const struct sx_kernels *kernels, int threads);
void sx_cpu_motion_destroy(struct sx_cpu_motion *m);

/*
 * Makes a view, as sx_motion_view_init() does. view: zeroed, or a view that is no longer needed; its memory is used
 * again if the sizes are equal. Returns 0, -EINVAL or -ENOMEM; then the view is as before, or zeroed.
 */
int sx_cpu_motion_view(struct sx_cpu_motion *m, struct sx_motion_view *view, const struct sx_image *grey,
		       const struct sx_image *disparity);

/* Computes the same as sx_motion_pair(). Allocates nothing. */
void sx_cpu_motion_pair(struct sx_cpu_motion *m, struct sx_motion_pair *pair,
			const struct sx_motion_frame *now, const struct sx_motion_view *before,
			const struct sx_motion_step *expected, const struct sx_motion_range *prior);

#endif
