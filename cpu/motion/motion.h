/*
 * Motion between two frames in the cpu engine: the stages of stages/motion with kernels of an instruction set,
 * spread over worker threads. The results are those of stages/motion/pair.h, byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_MOTION_MOTION_H
#define SX_CPU_MOTION_MOTION_H

#include "stages/motion/by.h"

struct sx_kernels;
struct sx_pool;
struct sx_cpu_motion;

/* Creates the twin, which computes on the workers of a pool. Returns 0 or -ENOMEM. destroy accepts NULL. */
int sx_cpu_motion_create(struct sx_cpu_motion **ret, const struct sx_kernels *kernels, struct sx_pool *pool);
void sx_cpu_motion_destroy(struct sx_cpu_motion *m);
size_t sx_cpu_motion_bytes(const struct sx_cpu_motion *m);

/*
 * Functions for a chain of motion (stages/motion/filter/chain.h). Thread: a running job of the pool.
 */
struct sx_motion_by sx_cpu_motion_by(struct sx_cpu_motion *m);

#endif
