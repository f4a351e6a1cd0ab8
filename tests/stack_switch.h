/*
 * Stacks that one thread of the system goes on with in turn, in a few nanoseconds and without a system call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_STACK_SWITCH_H
#define SX_TESTS_STACK_SWITCH_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a stack goes on that begins with run(), which does not return. The stack is the caller's. */
void *stack_first(void *stack, size_t bytes, void (*run)(void));
/* Leaves this stack and goes on with another; returns when somebody switches to what *left then says. */
void stack_switch(void **left, void *other);

#ifdef __cplusplus
}
#endif

#endif
