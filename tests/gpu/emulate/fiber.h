/*
 * One CUDA thread: a stack of its own that another thread of control can leave and enter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_EMULATE_FIBER_H
#define SX_TESTS_GPU_EMULATE_FIBER_H

#include <stddef.h>

/*
 * stack, bytes: of a fiber that was made; the caller's own are learnt when it is first left.
 * fake: AddressSanitizer's.
 */
struct sx_fiber {
	void *sp;
	const void *stack;
	size_t bytes;
	void *fake;
};

/* entry never returns. Aborts without memory. The stack has a guard page and stays until the process ends. */
void sx_fiber_init(struct sx_fiber *f, void (*entry)(void));
/* Goes on in to; returns when somebody goes on in from. */
void sx_fiber_switch(struct sx_fiber *from, struct sx_fiber *to);
/* First call of every entry. */
void sx_fiber_entered(void);

#endif
