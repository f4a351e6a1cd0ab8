/*
 * Finds data races. If two threads access the same byte with plain accesses, one of which is a store, one
 * access must happen before the other. The clocks of threads travel with the views of messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/model/model.h"

extern char __data_start[], _end[];

struct cell {
	uint32_t execution;
	uint32_t written, read[MODEL_THREADS]; /* clocks of the accesses; 0: no access */
	int writer;
};

/*
 * Returns the shadow of a byte: first of allocated memory, then of static variables. NULL: other threads
 * cannot reach the byte.
 */
static struct cell *races_cell(uintptr_t address)
{
	const uintptr_t arena = (uintptr_t)system_arena(), globals = (uintptr_t)__data_start;
	const size_t count = ARENA_BYTES + (size_t)(_end - __data_start);
	size_t at;

	if (address - arena < ARENA_BYTES)
		at = address - arena;
	else if (address - globals < (uintptr_t)_end - globals)
		at = ARENA_BYTES + (address - globals);
	else
		return NULL;
	if (!model->cells) {
		model->cells = mmap(NULL, count * sizeof(struct cell), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (model->cells == MAP_FAILED)
			abort();
	}
	return (struct cell *)model->cells + at;
}

static bool races_ordered(const struct thread *t, int other, uint32_t clock)
{
	return &model->thread[other] == t || clock <= t->now.clock[other];
}

void races_access(uintptr_t address, size_t bytes, bool write, uintptr_t pc)
{
	const struct thread *t = explore_self();
	const uint32_t now = t->now.clock[model->self];

	for (size_t i = 0; i < bytes; i++) {
		struct cell *c = races_cell(address + i);

		if (!c)
			return;
		if (c->execution != model->execution)
			*c = (struct cell){.execution = model->execution};
		if (c->written && !races_ordered(t, c->writer, c->written))
			explore_fail("data race: a %s after a store of thread %d, pc %#lx",
				     write ? "store" : "load", c->writer, (unsigned long)pc);
		for (int k = 0; write && k < model->threads; k++)
			if (c->read[k] && !races_ordered(t, k, c->read[k]))
				explore_fail("data race: a store after a load of thread %d, pc %#lx", k,
					     (unsigned long)pc);
		if (write) {
			c->written = now;
			c->writer = model->self;
		} else {
			c->read[model->self] = now;
		}
	}
}
