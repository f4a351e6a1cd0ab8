/*
 * One CUDA thread: a separate stack that another thread of control can leave and enter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_EMULATE_FIBER_H
#define SX_TESTS_GPU_EMULATE_FIBER_H

#include <stddef.h>

/*
 * stack, bytes: stack of a created fiber. The caller's own stack is found when it is first left. fake:
 * AddressSanitizer's fake stack.
 */
struct sx_fiber {
	void *sp;
	const void *stack;
	size_t bytes;
	void *fake;
};

/*
 * Initialises a fiber. entry must not return. Aborts without memory. The stack has a guard page and stays
 * until the process ends.
 */
void sx_fiber_init(struct sx_fiber *f, void (*entry)(void));
/* Continues in `to`. Returns when another fiber switches back to `from`. */
void sx_fiber_switch(struct sx_fiber *from, struct sx_fiber *to);
/* Must be the first call of every entry function. */
void sx_fiber_entered(void);

#endif
