/*
 * Stacks of fibers, and the notifications that AddressSanitizer needs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/gpu/emulate/fiber.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <sx_emulate.h>

#include "tests/stack_switch.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#define STACK_BYTES ((size_t)256 << 10)
#else
#define STACK_BYTES ((size_t)64 << 10)
#endif
#define GUARD_BYTES ((size_t)16 << 10)

static struct sx_fiber *leaving;

void sx_fiber_init(struct sx_fiber *f, void (*entry)(void))
{
	char *memory = (char *)mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory, GUARD_BYTES, PROT_NONE) < 0) {
		fprintf(stderr, "emulator: no memory for the stack of a thread\n");
		abort();
	}
	*f = {stack_first(memory + GUARD_BYTES, STACK_BYTES, entry), memory + GUARD_BYTES, STACK_BYTES, NULL};
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
	stack_switch(&from->sp, to->sp);
	arrived(from);
}

void sx_fiber_entered(void)
{
	arrived(NULL);
}
