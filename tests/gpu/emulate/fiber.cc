/*
 * Switching stacks in a few nanoseconds: ten registers by hand where we know the machine, ucontext elsewhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/gpu/emulate/fiber.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <sx_emulate.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#define STACK_BYTES ((size_t)256 << 10)
#else
#define STACK_BYTES ((size_t)64 << 10)
#endif
#define GUARD_BYTES ((size_t)16 << 10)

static struct sx_fiber *leaving;

#if defined(__x86_64__)
extern "C" void sx_fiber_swap(void **save, void *load);
__asm__(".text\n"
	".p2align 4\n"
	".globl sx_fiber_swap\n"
	".hidden sx_fiber_swap\n"
	".type sx_fiber_swap,@function\n"
	"sx_fiber_swap:\n"
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
	".size sx_fiber_swap,.-sx_fiber_swap\n");

/* top is 16-byte aligned; an entry sees the stack as after a call. */
static void *first_frame(void *top, void (*entry)(void))
{
	void **sp = (void **)top;

	*--sp = NULL; /* entry's return address: never used */
	*--sp = (void *)entry;
	for (int i = 0; i < 6; i++)
		*--sp = NULL;
	return sp;
}
#elif defined(__aarch64__)
extern "C" void sx_fiber_swap(void **save, void *load);
__asm__(".text\n"
	".p2align 4\n"
	".globl sx_fiber_swap\n"
	".hidden sx_fiber_swap\n"
	".type sx_fiber_swap,%function\n"
	"sx_fiber_swap:\n"
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
	".size sx_fiber_swap,.-sx_fiber_swap\n");

static void *first_frame(void *top, void (*entry)(void))
{
	void **sp = (void **)((char *)top - 160);

	for (int i = 0; i < 20; i++)
		sp[i] = NULL;
	sp[11] = (void *)entry; /* x30 */
	return sp;
}
#else
#include <ucontext.h>

/* sp points to a ucontext; made on the first switch for a fiber that was not. */
static void sx_fiber_swap(void **save, void *load)
{
	if (!*save)
		*save = calloc(1, sizeof(ucontext_t));
	if (!*save)
		abort();
	swapcontext((ucontext_t *)*save, (ucontext_t *)load);
}

static void *first_frame(void *top, void (*entry)(void))
{
	ucontext_t *context = (ucontext_t *)calloc(1, sizeof(*context));

	if (!context)
		abort();
	getcontext(context);
	context->uc_stack.ss_sp = (char *)top - STACK_BYTES;
	context->uc_stack.ss_size = STACK_BYTES;
	makecontext(context, entry, 0);
	return context;
}
#endif

void sx_fiber_init(struct sx_fiber *f, void (*entry)(void))
{
	char *memory = (char *)mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory, GUARD_BYTES, PROT_NONE) < 0) {
		fprintf(stderr, "emulator: no memory for the stack of a thread\n");
		abort();
	}
	*f = {first_frame(memory + GUARD_BYTES + STACK_BYTES, entry), memory + GUARD_BYTES, STACK_BYTES,
	      NULL};
}

static void arrived(struct sx_fiber *self)
{
#ifdef __SANITIZE_ADDRESS__
	const void *stack;
	size_t bytes;

	__sanitizer_finish_switch_fiber(self ? self->fake : NULL, &stack, &bytes);
	if (!leaving->stack) {
		leaving->stack = stack;
		leaving->bytes = bytes;
	}
#else
	(void)self;
#endif
}

void sx_fiber_switch(struct sx_fiber *from, struct sx_fiber *to)
{
	leaving = from;
#ifdef __SANITIZE_ADDRESS__
	__sanitizer_start_switch_fiber(&from->fake, to->stack, to->bytes);
#endif
	sx_fiber_swap(&from->sp, to->sp);
	arrived(from);
}

void sx_fiber_entered(void)
{
	arrived(NULL);
}
