/*
 * Coroutines: what a call keeps goes on the stack, and the stack is another one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/simulate/coroutine.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)

__asm__(".text\n"
	".globl sim_coroutine_switch\n"
	".type sim_coroutine_switch, @function\n"
	"sim_coroutine_switch:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq (%rsi), %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size sim_coroutine_switch, . - sim_coroutine_switch\n");

void sim_coroutine_init(struct sim_coroutine *c, void *stack, size_t bytes, void (*run)(void))
{
	uint64_t *top = (uint64_t *)((uintptr_t)((char *)stack + bytes) & ~(uintptr_t)15);

	/* six registers, where it begins, and where that would return to */
	top -= 8;
	memset(top, 0, 8 * sizeof(*top));
	top[6] = (uint64_t)(uintptr_t)run;
	c->top = top;
}

#elif defined(__aarch64__)

__asm__(".text\n"
	".globl sim_coroutine_switch\n"
	".type sim_coroutine_switch, %function\n"
	"sim_coroutine_switch:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp, #0]\n"
	"	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n"
	"	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n"
	"	str x9, [x0]\n"
	"	ldr x9, [x1]\n"
	"	mov sp, x9\n"
	"	ldp x19, x20, [sp, #0]\n"
	"	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n"
	"	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n"
	"	ret\n"
	".size sim_coroutine_switch, . - sim_coroutine_switch\n");

void sim_coroutine_init(struct sim_coroutine *c, void *stack, size_t bytes, void (*run)(void))
{
	uint64_t *top = (uint64_t *)((uintptr_t)((char *)stack + bytes) & ~(uintptr_t)15);

	/* twenty registers, of which x30 is where it begins */
	top -= 20;
	memset(top, 0, 20 * sizeof(*top));
	top[11] = (uint64_t)(uintptr_t)run;
	c->top = top;
}

#else

void sim_coroutine_init(struct sim_coroutine *c, void *stack, size_t bytes, void (*run)(void))
{
	getcontext(&c->context);
	c->context.uc_stack.ss_sp = stack;
	c->context.uc_stack.ss_size = bytes;
	c->context.uc_link = NULL;
	makecontext(&c->context, run, 0);
}

void sim_coroutine_switch(struct sim_coroutine *from, const struct sim_coroutine *to)
{
	swapcontext(&from->context, &to->context);
}

#endif
