/*
 * Coroutines: stacks that one thread goes on with in turn, without a system call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_SIMULATE_COROUTINE_H
#define SX_TESTS_SIMULATE_COROUTINE_H

#include <stddef.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

/* Where one goes on: what the registers are lies on its stack. */
struct sim_coroutine {
#if defined(__x86_64__) || defined(__aarch64__)
	void *top;
#else
	ucontext_t context;
#endif
};

/* One that begins with `run`, which does not return. The stack is the caller's. */
void sim_coroutine_init(struct sim_coroutine *c, void *stack, size_t bytes, void (*run)(void));
/* Leaves `from`, and goes on with `to`; returns when somebody goes on with `from`. */
void sim_coroutine_switch(struct sim_coroutine *from, const struct sim_coroutine *to);

#endif
