/*
 * Explores all choices depth first: which thread goes on, which message a load returns, at which position a
 * store is in the modification order. Each execution runs the threads from the start, as coroutines, along
 * the path of choices.
 *
 * Another thread may go on only at loads, read-modify-writes, seq_cst operations and system calls. Other
 * stores and fences are done at once. Later loads can still return the values before them, so no outcome
 * requires that they are done later. For two independent operations one order is enough. A thread whose
 * operation has been explored sleeps until a message comes that the operation could not read before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/model/model.h"

#define STACK_BYTES (256u << 10)

extern char __data_start[], _end[];

struct model *model;

static struct {
	void *stack[MODEL_THREADS];
	unsigned char *globals, *arena; /* saved after setup */
	size_t globals_bytes, arena_bytes;
	unsigned char tls_first[TLS_BYTES], tls_setup[TLS_BYTES];
} * explore;

struct thread *explore_self(void)
{
	return &model->thread[model->self];
}

bool explore_running(void)
{
	if (!model || !model->running)
		return false;
	memory_plain_flush(explore_self());
	return true;
}

void explore_trace(const char *format, ...)
{
	va_list args;

	if (!model->tracing)
		return;
	va_start(args, format);
	printf("  thread %d: ", model->self);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

/* ---- choices ---- */

unsigned explore_choose(unsigned count)
{
	struct choice *c = &model->path[model->depth];

	if (count < 2)
		return 0;
	if (model->depth == sizeof(model->path) / sizeof(model->path[0]))
		explore_fail("the path of choices has no end");
	if (model->depth == model->length) {
		*c = (struct choice){0, (uint16_t)count};
		model->length++;
	} else if (c->count != count) {
		explore_fail("not the same again: %u choices instead of %u", count, c->count);
	}
	model->depth++;
	return c->taken;
}

/* Moves to the next leaf. False: there is none. */
static bool explore_next(void)
{
	while (model->length) {
		struct choice *c = &model->path[model->length - 1];

		if (c->taken + 1u < c->count) {
			c->taken++;
			return true;
		}
		model->length--;
	}
	return false;
}

/* ---- threads ---- */

static void explore_tls(struct thread *t, bool in)
{
	void *data;
	size_t bytes;

	if (!system_tls(&data, &bytes))
		return;
	if (in)
		memcpy(data, t->tls, bytes);
	else
		memcpy(t->tls, data, bytes);
}

static _Noreturn void explore_end(enum ending ending)
{
	model->ending = ending;
	model->running = false;
	setcontext(&model->back);
	abort();
}

void explore_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(model->what, sizeof(model->what), format, args);
	va_end(args);
	if (!model->running) {
		model->ending = ENDING_BAD;
		setcontext(&model->back);
	}
	explore_end(ENDING_BAD);
}

void explore_prune(void)
{
	explore_end(ENDING_PRUNED);
}

void model_never_waits(void)
{
	explore_self()->never_waits = true;
}

void model_outcome(unsigned outcome)
{
	model->outcomes |= 1u << outcome;
}

void model_check(bool good, const char *what)
{
	if (!good)
		explore_fail("%s", what);
}

/* Replaces base/contract.c: a broken contract of the code under test is a violation, too. */
_Noreturn void __wrap_sx_contract_broken(const char *file, int line, const char *what, long long a,
					 long long b);
_Noreturn void __wrap_sx_contract_broken_state(const char *file, int line, const char *what);

_Noreturn void __wrap_sx_contract_broken(const char *file, int line, const char *what, long long a,
					 long long b)
{
	explore_fail("%s:%d: contract broken: %s, with %lld and %lld", file, line, what, a, b);
}

_Noreturn void __wrap_sx_contract_broken_state(const char *file, int line, const char *what)
{
	explore_fail("%s:%d: contract broken: %s", file, line, what);
}

/* Switches from the running thread to another. Returns when the running thread is chosen again. */
static void explore_switch(int to)
{
	struct thread *from = explore_self();

	if (to == model->self)
		return;
	explore_tls(from, false);
	model->self = to;
	explore_tls(explore_self(), true);
	swapcontext(&from->context, &explore_self()->context);
}

static bool explore_sleeps(const struct thread *t)
{
	return t->asleep && !(t->at && memory_has(t, t->at, t->mark));
}

/*
 * Lists the threads that may go on. *enabled: true if a thread can go on, even if its operation has been
 * explored already. *alive: true if a thread has not ended, even if it is blocked.
 */
static int explore_candidates(int candidate[MODEL_THREADS], bool *enabled, bool *alive)
{
	int count = 0;

	for (int i = 0; i < model->threads; i++) {
		const struct thread *t = &model->thread[i];

		if (t->pending == PENDING_DONE)
			continue;
		*alive = true;
		if (t->ready && !t->ready(t))
			continue;
		*enabled = true;
		if (!explore_sleeps(t))
			candidate[count++] = i;
	}
	return count;
}

/* Chooses the next thread. Each thread is at an operation, blocked, or done. */
static void explore_schedule(void)
{
	int candidate[MODEL_THREADS], count, chosen;
	bool enabled = false, alive = false;
	struct thread *t;

	for (int i = 0; i < model->threads; i++)
		if (model->thread[i].pending == PENDING_START) {
			explore_switch(i);
			return;
		}
	count = explore_candidates(candidate, &enabled, &alive);
	if (!alive)
		explore_end(ENDING_GOOD);
	if (!enabled)
		explore_fail("all threads that are left wait, and nobody will wake them");
	if (!count)
		explore_end(ENDING_PRUNED);
	chosen = (int)explore_choose((unsigned)count);
	for (int j = 0; j < chosen; j++) {
		model->thread[candidate[j]].asleep = true;
		model->thread[candidate[j]].mark = model->messages;
	}
	t = &model->thread[candidate[chosen]];
	t->from = t->asleep && t->pending != PENDING_SYSTEM ? t->mark : 0;
	t->asleep = false;
	explore_switch(candidate[chosen]);
}

/* Wakes threads whose explored operation may depend on the operation that `me` does now. */
static void explore_rouse(const struct thread *me)
{
	for (int i = 0; i < model->threads; i++) {
		struct thread *t = &model->thread[i];

		if (t != me && ((me->objects & t->objects) ||
				(me->total && t->total && (!me->at || !t->at || me->at == t->at))))
			t->asleep = false;
	}
}

static void explore_stand(enum pending pending, struct location *at, bool total, uint32_t objects,
			  bool (*ready)(const struct thread *t))
{
	struct thread *t = explore_self();

	t->pending = pending;
	t->at = at;
	t->total = total;
	t->objects = objects;
	t->ready = ready;
	t->asleep = false;
	t->mark = t->from = 0;
	model->operations++;
	if (++t->operations > OPERATIONS_MOST)
		explore_fail("thread %d does not end", model->self);
	explore_schedule();
	explore_rouse(t);
}

void explore_wait(enum pending pending, struct location *at, bool total)
{
	explore_stand(pending, at, total, 0, NULL);
}

void explore_wait_system(uint32_t objects, struct location *at, bool (*ready)(const struct thread *t))
{
	if (ready && explore_self()->never_waits)
		explore_fail("thread %d waits, and must not", model->self);
	explore_stand(PENDING_SYSTEM, at, false, objects, ready);
}

static void explore_thread(void)
{
	struct thread *t = explore_self();

	/* keeps the scheduler from starting the thread again before its first operation */
	t->pending = PENDING_SYSTEM;
	model->scenario->thread[model->self]();
	memory_plain_flush(t);
	t->pending = PENDING_DONE;
	t->ready = NULL;
	explore_schedule();
	abort();
}

/* ---- executions ---- */

static void explore_restore(void)
{
	void *data;
	size_t bytes;

	memcpy(__data_start, explore->globals, explore->globals_bytes);
	memcpy(system_arena(), explore->arena, explore->arena_bytes);
	if (system_tls(&data, &bytes))
		memcpy(data, explore->tls_setup, bytes);
	model->execution++;
	memory_reset();
	memset(model->mutex, 0, sizeof(model->mutex));
	system_reset();
	model->depth = 0;
	model->ending = ENDING_NONE;
}

static void explore_threads(void)
{
	model->threads = 0;
	for (int i = 0; i < MODEL_THREADS && model->scenario->thread[i]; i++) {
		struct thread *t = &model->thread[i];

		memset(&t->now, 0, offsetof(struct view, seen));
		memset(&t->acquired, 0, offsetof(struct view, seen));
		t->now.clock[i] = 1;
		t->released = 0;
		t->pending = PENDING_START;
		t->at = NULL;
		t->total = t->asleep = t->woken = t->never_waits = false;
		t->objects = 0;
		t->ready = NULL;
		t->plain = t->waits = t->operations = 0;
		t->allocated = 0;
		t->clock_calls = 0;
		t->waits_at = 0;
		memcpy(t->tls, i ? explore->tls_first : explore->tls_setup, sizeof(t->tls));
		getcontext(&t->context);
		t->context.uc_stack.ss_sp = explore->stack[i];
		t->context.uc_stack.ss_size = STACK_BYTES;
		t->context.uc_link = NULL;
		makecontext(&t->context, explore_thread, 0);
		model->threads++;
	}
}

/*
 * Runs an execution: along the path as far as it goes, then with first choices. Then runs end, which sees the
 * stores of all threads.
 */
static void explore_once(void)
{
	void *data;
	size_t bytes;

	explore_restore();
	explore_threads();
	model->self = 0;
	getcontext(&model->back);
	if (model->ending == ENDING_NONE) {
		model->running = true;
		if (system_tls(&data, &bytes))
			memcpy(data, model->thread[0].tls, bytes);
		setcontext(&model->thread[0].context);
	}
	if (model->ending == ENDING_GOOD && model->scenario->end)
		model->scenario->end();
}

unsigned model_count(unsigned usual, unsigned deep)
{
	return model->deep ? deep : usual;
}

void model_other_thread(void)
{
	void *data;
	size_t bytes;

	if (system_tls(&data, &bytes))
		memcpy(data, explore->tls_first, bytes);
}

void explore_setup(const struct model_scenario *s)
{
	const size_t globals = (size_t)(_end - __data_start);
	void *data = NULL;
	size_t bytes = 0;

	if (!explore) {
		explore = calloc(1, sizeof(*explore));
		for (int i = 0; i < MODEL_THREADS; i++)
			explore->stack[i] = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
						 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	system_tls(&data, &bytes);
	memcpy(explore->tls_first, data, bytes);
	model->scenario = s;
	s->setup();
	memcpy(explore->tls_setup, data, bytes);
	system_snapshot();
	explore->globals_bytes = globals;
	explore->arena_bytes = system_arena_used();
	explore->globals = mmap(NULL, globals, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	explore->arena =
		mmap(NULL, explore->arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(explore->globals, __data_start, globals);
	memcpy(explore->arena, system_arena(), explore->arena_bytes);
}

void explore_teardown(void)
{
	explore_restore();
	if (model->scenario->teardown)
		model->scenario->teardown();
}

bool explore_run(void)
{
again:
	model->outcomes = 0;
	model->executions = model->pruned = model->operations = 0;
	model->length = 0;
	model->restart = false;
	do {
		explore_once();
		model->executions += model->ending != ENDING_PRUNED;
		model->pruned += model->ending == ENDING_PRUNED;
		if (model->ending == ENDING_BAD)
			return false;
		if (model->restart)
			goto again;
	} while (explore_next());
	return true;
}

/* Repeats the last execution with a trace. */
bool explore_replay(void)
{
	model->tracing = true;
	explore_once();
	model->tracing = false;
	return model->ending == ENDING_BAD;
}
