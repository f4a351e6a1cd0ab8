/*
 * Coroutine stacks for tests: one thread switches between several stacks in a few nanoseconds, without a
 * system call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_STACK_SWITCH_H
#define SX_TESTS_STACK_SWITCH_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Prepares a stack on which run() starts at the first switch. run() must not return. Returns the value to
 * pass to stack_switch(). The caller owns the stack.
 */
void *stack_first(void *stack, size_t bytes, void (*run)(void));
/*
 * Saves the current stack in *left and continues on `other`. Returns when another stack switches to the value
 * in *left.
 */
void stack_switch(void **left, void *other);

#ifdef __cplusplus
}
#endif

#endif
