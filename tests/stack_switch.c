/*
 * Coroutine stacks: assembly on known machines, ucontext elsewhere. The assembly pushes the callee-saved
 * registers on the old stack and then switches to the other stack.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/stack_switch.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) || defined(__aarch64__)

/* Layout of a new stack: WORDS words at its end, all 0 except the address at which it continues. */
#ifdef __x86_64__
enum {
	WORDS = 8,
	RUN = 6
}; /* six registers, run, and the return address of run: run() sees a stack as after a call */
#else
enum { WORDS = 20, RUN = 11 }; /* twenty registers; x30 is the address at which the stack continues */
#endif

void *stack_first(void *stack, size_t bytes, void (*run)(void))
{
	uint64_t *top = (uint64_t *)((uintptr_t)((char *)stack + bytes) & ~(uintptr_t)15) - WORDS;

	memset(top, 0, WORDS * sizeof(*top));
	top[RUN] = (uint64_t)(uintptr_t)run;
	return top;
}

#endif

#if defined(__x86_64__)

__asm__(".text\n"
	".p2align 4\n"
	".globl stack_switch\n"
	".hidden stack_switch\n"
	".type stack_switch, @function\n"
	"stack_switch:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size stack_switch, . - stack_switch\n");

#elif defined(__aarch64__)

__asm__(".text\n"
	".p2align 4\n"
	".globl stack_switch\n"
	".hidden stack_switch\n"
	".type stack_switch, %function\n"
	"stack_switch:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp]\n"
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
	"	mov sp, x1\n"
	"	ldp x19, x20, [sp]\n"
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
	".size stack_switch, . - stack_switch\n");

#else

#include <ucontext.h>

/*
 * A context lies on its own stack: at the end of a new stack, at the switch point of a stack that was left.
 */
void *stack_first(void *stack, size_t bytes, void (*run)(void))
{
	const uintptr_t end = (uintptr_t)stack + bytes - sizeof(ucontext_t);
	ucontext_t *context = (ucontext_t *)(end & ~(uintptr_t)63);

	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = (size_t)((char *)context - (char *)stack);
	context->uc_link = NULL;
	makecontext(context, run, 0);
	return context;
}

void stack_switch(void **left, void *other)
{
	ucontext_t here;

	*left = &here;
	swapcontext(&here, other);
}

#endif
