/*
 * Runs the blocks of a kernel. Every thread is a fiber. Lanes meet in warp functions and barriers. One warp
 * runs until all its lanes wait, then the next one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <vector>

#include <sx_emulate.h>

#include "tests/gpu/emulate/fiber.h"
#include "tests/gpu/emulate/order.h"

#define THREADS_MAX 1024
#define WARPS_MAX (THREADS_MAX / 32)
#define GARBAGE 0xcd

extern "C" {
extern char __start_sx_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_sx_shared[] __attribute__((weak, visibility("hidden")));
}

enum state { READY, AT_MEETING, AT_BARRIER, DONE };

struct thread {
	struct sx_fiber fiber;
	enum state state;
	uint3 index;
	unsigned warp, lane, position; /* position: turn of the lane in its warp */
	struct sx_site site;
	enum sx_lanes_op op;
	unsigned mask, arg;
	uint64_t value;
};

/* Lanes that wait for the other lanes of one mask. */
struct meeting {
	unsigned mask, arrived;
};

struct warp {
	unsigned ready; /* bits by position */
	unsigned alive;
	unsigned meetings;
	struct meeting meeting[32];
	struct thread *at[32]; /* threads by position */
};

static struct {
	struct sx_fiber scheduler;
	struct thread threads[THREADS_MAX];
	struct warp warps[WARPS_MAX];
	unsigned made, count, alive, at_barrier;
	enum sx_block_op barrier_op;
	int predicates, barrier_result;
	const struct sx_emulate_kernel *kernel;
	struct thread *self;
} b;

/* On the heap, so that a sanitizer detects accesses beyond its ends. */
static void *dynamic_shared;

uint3 sx_emulate_thread, sx_emulate_block;
dim3 sx_emulate_block_dim, sx_emulate_grid_dim;

void *sx_emulate_dynamic_shared()
{
	return dynamic_shared;
}

unsigned sx_emulate_lane()
{
	return b.self->lane;
}

static struct thread *lane_of(unsigned warp, unsigned lane)
{
	return &b.threads[32 * warp + lane];
}

static void print_wait(const struct thread *t)
{
	static const char *const states[] = {"runs", "waits", "waits", "has returned"};

	fprintf(stderr, "  warp %u lane %2u, thread (%u,%u,%u): %s", t->warp, t->lane, t->index.x, t->index.y,
		t->index.z, states[t->state]);
	if (t->state == AT_MEETING)
		fprintf(stderr, " in %s(0x%08x)", t->site.name, t->mask);
	if (t->state == AT_BARRIER)
		fprintf(stderr, " in %s", t->site.name);
	if (t->state == AT_MEETING || t->state == AT_BARRIER)
		fprintf(stderr, " at %s:%d", t->site.file, t->site.line);
	fputc('\n', stderr);
}

static void fault_of_block(const char *what)
{
	fprintf(stderr, "emulator: %s\n  in %s, block (%u,%u,%u) of %ux%ux%u threads\n", what, b.kernel->name,
		sx_emulate_block.x, sx_emulate_block.y, sx_emulate_block.z, sx_emulate_block_dim.x,
		sx_emulate_block_dim.y, sx_emulate_block_dim.z);
}

static bool same_wait(const struct thread *a, const struct thread *c)
{
	return a->state == c->state && a->warp == c->warp && a->mask == c->mask &&
	       a->site.line == c->site.line;
}

/*
 * Stops with a report of every lane of a small block. In a large block, reports only the first lane of each
 * row of lanes that wait at the same place.
 */
[[noreturn]] static void fault_of_all(const char *what)
{
	unsigned printed = 0;

	fault_of_block(what);
	for (unsigned i = 0; i < b.count && printed < 128; i++) {
		if (i % 32 && b.count > 64 && same_wait(&b.threads[i - 1], &b.threads[i]))
			continue;
		print_wait(&b.threads[i]);
		printed++;
	}
	abort();
}

void sx_emulate_fault(const char *what)
{
	fault_of_block(what);
	if (b.self)
		print_wait(b.self);
	abort();
}

static void resume(struct sx_fiber *from, struct thread *to)
{
	b.self = to;
	sx_emulate_thread = to->index;
	sx_fiber_switch(from, &to->fiber);
}

/* Leaves the running thread and continues with the next ready lane of its warp, or with the scheduler. */
static void leave(struct thread *self)
{
	struct warp *w = &b.warps[self->warp];

	if (w->ready) {
		struct thread *next = w->at[__builtin_ctz(w->ready)];

		if (next != self) {
			w->ready &= w->ready - 1;
			resume(&self->fiber, next);
		} else {
			w->ready &= w->ready - 1;
		}
		return;
	}
	sx_fiber_switch(&self->fiber, &b.scheduler);
}

static void wake(struct thread *t)
{
	t->state = READY;
	b.warps[t->warp].ready |= 1u << t->position;
}

static uint64_t combine(enum sx_lanes_op op, uint64_t a, uint64_t c)
{
	switch (op) {
	case SX_LANES_ADD:
		return a + c;
	case SX_LANES_MIN:
		return (int64_t)a < (int64_t)c ? a : c;
	case SX_LANES_MAX:
		return (int64_t)a > (int64_t)c ? a : c;
	case SX_LANES_ALL:
	case SX_LANES_AND:
		return a & c;
	case SX_LANES_ANY:
	case SX_LANES_OR:
		return a | c;
	default:
		return a ^ c;
	}
}

static void meet_each(unsigned warp, unsigned lanes, enum sx_lanes_op op)
{
	uint64_t before[32];

	for (unsigned m = lanes; m; m &= m - 1)
		before[__builtin_ctz(m)] = lane_of(warp, (unsigned)__builtin_ctz(m))->value;
	for (unsigned m = lanes; m; m &= m - 1) {
		struct thread *t = lane_of(warp, (unsigned)__builtin_ctz(m));

		if (op == SX_LANES_SHUFFLE) {
			if (t->arg > 31 || !(lanes >> t->arg & 1)) {
				b.self = t;
				sx_emulate_fault("a shuffle reads a lane that does not take part");
			}
			t->value = before[t->arg];
		} else {
			unsigned equal = 0;

			for (unsigned n = lanes; n; n &= n - 1)
				if (before[__builtin_ctz(n)] == before[t->lane])
					equal |= n & -n;
			t->value = equal;
		}
	}
}

static void meet_all(unsigned warp, unsigned lanes, enum sx_lanes_op op)
{
	const struct thread *first = lane_of(warp, (unsigned)__builtin_ctz(lanes));
	uint64_t result = first->value;

	if (op == SX_LANES_BALLOT) {
		result = 0;
		for (unsigned m = lanes; m; m &= m - 1)
			result |= lane_of(warp, (unsigned)__builtin_ctz(m))->value ? m & -m : 0;
	} else {
		for (unsigned m = lanes & (lanes - 1); m; m &= m - 1)
			result = combine(op, result, lane_of(warp, (unsigned)__builtin_ctz(m))->value);
	}
	for (unsigned m = lanes; m; m &= m - 1)
		lane_of(warp, (unsigned)__builtin_ctz(m))->value = result;
}

/*
 * Ends meeting m if all living lanes of its mask have arrived: stores the results and makes the lanes ready.
 * Returns false if lanes are missing.
 */
static bool meet(unsigned warp, struct meeting *m)
{
	struct warp *w = &b.warps[warp];
	const unsigned lanes = m->arrived;
	const enum sx_lanes_op op = lane_of(warp, (unsigned)__builtin_ctz(lanes))->op;

	if (lanes != (m->mask & w->alive))
		return false;
	*m = w->meeting[--w->meetings];
	if (op == SX_LANES_SHUFFLE || op == SX_LANES_MATCH)
		meet_each(warp, lanes, op);
	else if (op != SX_LANES_SYNC)
		meet_all(warp, lanes, op);
	for (unsigned left = lanes; left; left &= left - 1)
		wake(lane_of(warp, (unsigned)__builtin_ctz(left)));
	return true;
}

static struct meeting *meeting_of(struct warp *w, unsigned mask)
{
	unsigned i = 0;

	while (i < w->meetings && w->meeting[i].mask != mask)
		i++;
	if (i == w->meetings)
		w->meeting[w->meetings++] = {mask, 0};
	return &w->meeting[i];
}

uint64_t sx_emulate_warp(enum sx_lanes_op op, unsigned mask, uint64_t value, unsigned arg,
			 struct sx_site site)
{
	struct thread *t = b.self;
	struct meeting *m;

	t->site = site;
	t->op = op;
	t->mask = mask;
	t->value = value;
	t->arg = arg;
	t->state = AT_MEETING;
	if (!(mask >> t->lane & 1))
		sx_emulate_fault("the mask does not name the lane that calls");
	m = meeting_of(&b.warps[t->warp], mask);
	if (m->arrived && lane_of(t->warp, (unsigned)__builtin_ctz(m->arrived))->op != op)
		fault_of_all("lanes of one mask are in different warp functions");
	m->arrived |= 1u << t->lane;
	meet(t->warp, m);
	leave(t);
	return t->value;
}

/* Returns the smallest mask that a device guarantees. */
unsigned sx_emulate_active()
{
	return 1u << b.self->lane;
}

static void open_barrier(void)
{
	switch (b.barrier_op) {
	case SX_BLOCK_AND:
		b.barrier_result = b.predicates == (int)b.at_barrier;
		break;
	case SX_BLOCK_OR:
		b.barrier_result = b.predicates > 0;
		break;
	default:
		b.barrier_result = b.predicates;
	}
	b.at_barrier = 0;
	b.predicates = 0;
	for (unsigned i = 0; i < b.count; i++)
		if (b.threads[i].state == AT_BARRIER)
			wake(&b.threads[i]);
}

int sx_emulate_barrier(enum sx_block_op op, int predicate, struct sx_site site)
{
	static struct sx_site first;
	struct thread *t = b.self;

	t->site = site;
	t->state = AT_BARRIER;
	if (!b.at_barrier) {
		first = site;
		b.barrier_op = op;
	} else if (first.line != site.line || strcmp(first.file, site.file) != 0) {
		fault_of_all("threads of one block wait in different calls of __syncthreads");
	}
	b.at_barrier++;
	b.predicates += predicate != 0;
	leave(t);
	return b.barrier_result;
}

/* Ends a thread. The other lanes of its warp no longer wait for it. */
static void leave_for_ever(struct thread *t)
{
	struct warp *w = &b.warps[t->warp];

	t->state = DONE;
	b.alive--;
	w->alive &= ~(1u << t->lane);
	for (unsigned i = 0; i < w->meetings;)
		i += !meet(t->warp, &w->meeting[i]);
	leave(t);
}

/* Runs one thread after the other on one fiber. */
static void serve(void)
{
	sx_fiber_entered();
	for (;;) {
		struct thread *t = b.self;

		b.kernel->thread();
		leave_for_ever(t);
	}
}

static void start_threads(struct sx_order *order)
{
	const dim3 size = b.kernel->block;
	unsigned turn[32];

	b.count = b.alive = size.x * size.y * size.z;
	b.at_barrier = 0;
	b.predicates = 0;
	memset(b.warps, 0, sizeof(b.warps));
	sx_order_shuffle(order, turn, 32);
	while (b.made < b.count)
		sx_fiber_init(&b.threads[b.made++].fiber, serve);
	for (unsigned i = 0; i < b.count; i++) {
		struct thread *t = &b.threads[i];
		struct warp *w = &b.warps[i / 32];

		t->index = {i % size.x, i / size.x % size.y, i / (size.x * size.y)};
		t->warp = i / 32;
		t->lane = i % 32;
		t->position = turn[t->lane];
		w->at[t->position] = t;
		w->alive |= 1u << t->lane;
		wake(t);
	}
}

static void run_block(struct sx_order *order)
{
	unsigned turn[WARPS_MAX], warps;

	start_threads(order);
	warps = (b.count + 31) / 32;
	sx_order_shuffle(order, turn, warps);
	for (;;) {
		for (unsigned i = 0; i < warps; i++) {
			struct warp *w = &b.warps[turn[i]];

			while (w->ready) {
				struct thread *t = w->at[__builtin_ctz(w->ready)];

				w->ready &= w->ready - 1;
				resume(&b.scheduler, t);
			}
		}
		if (!b.alive)
			return;
		if (b.at_barrier != b.alive)
			fault_of_all("deadlock: threads wait for others that will never come");
		open_barrier();
	}
}

/*
 * Fills shared memory with garbage for blocks 0, 1, 2, 4, 8 ... Other blocks find the values of the previous
 * block. This is cheap and enough.
 */
static void spoil_shared(uint64_t nth)
{
	if (nth & (nth - 1))
		return;
	if (__start_sx_shared)
		memset(__start_sx_shared, GARBAGE, (size_t)(__stop_sx_shared - __start_sx_shared));
	if (b.kernel->shared)
		memset(dynamic_shared, GARBAGE, b.kernel->shared);
}

void sx_emulate_run(const struct sx_emulate_kernel &k)
{
	const uint64_t blocks = (uint64_t)k.grid.x * k.grid.y * k.grid.z;
	struct sx_order order = sx_order_begin();

	b.kernel = &k;
	b.self = NULL;
	sx_emulate_block_dim = k.block;
	sx_emulate_grid_dim = k.grid;
	dynamic_shared = k.shared ? aligned_alloc(128, (k.shared + 127) & ~(size_t)127) : NULL;
	for (uint64_t n = 0; n < blocks; n++) {
		const uint64_t i = sx_order_block(&order, n, blocks);

		sx_emulate_block = {(unsigned)(i % k.grid.x), (unsigned)(i / k.grid.x % k.grid.y),
				    (unsigned)(i / ((uint64_t)k.grid.x * k.grid.y))};
		spoil_shared(n);
		run_block(&order);
	}
	free(dynamic_shared);
	dynamic_shared = NULL;
}
